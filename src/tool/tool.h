/* mw: what its parts share. A command is a row of the table in table.c; its options are a table of rows
 * (options.h). */
#ifndef MW__TOOL_TOOL_H
#define MW__TOOL_TOOL_H

#include "base/text/json_write.h"
#include "tool/options.h"

#include <millwright/millwright.h>
#include <stdio.h>

/* How a command ends; docs/tool.md and the man page list them. */
typedef enum tool_exit {
    TOOL_DONE = 0,
    TOOL_FAILED = 1,   /* one sentence on standard error */
    TOOL_USAGE = 2,    /* a wrong option or argument */
    TOOL_DIFFERS = 3,  /* it was done, and the answer is no: differs, refused, not passed */
    TOOL_CLOSED = 141, /* nobody reads standard output any more; what was asked for besides is done */
    TOOL_INTERRUPTED = 130
} tool_exit;

/* What a command is called with. */
typedef struct tool_call {
    const char **arguments; /* without options; NULL behind the last */
    int count;
    mw__json_writer *json; /* its answer as JSON, an object that is open; NULL: text */
    bool quiet;            /* no progress */
    mw_error *err;
    const char *command; /* all that was typed */
} tool_call;

typedef int tool_run(const tool_call *call);

typedef struct tool_command {
    const char *name;
    const char *arguments; /* for people: "FILE", "IN OUT" */
    int least, most;       /* how many; most -1 = any number */
    const char *summary;   /* one line, without a period */
    const char *text;      /* paragraphs, separated by an empty line */
    const tool_option *options;
    tool_run *run;
} tool_command;

/* ---- table.c ---- */

extern const tool_command tool_commands[];
extern const size_t tool_command_count;
/* NULL if there is none. */
const tool_command *tool_find(const char *name);

/* ---- check_place.c ---- */

/* Sets err if no file can be made there. Whoever works long for a file asks this first. */
void tool_check_place(const char *path, mw_error *err);
/* Whether both are there, and are one file by whatever names. */
bool tool_is_same_file(const char *path, const char *other);

/* ---- out.c ---- */

/* Text to standard output. What cannot be written is noted, for tool_out_close. */
void tool_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tool_puts(const char *text);
/* A string of a file or a model, with nothing in it that could steer a terminal. */
void tool_show(const char *text);
/* One sentence on standard error. */
void tool_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The last one; NULL if there was none. */
const char *tool_last_complaint(void);
/* Whether `stream` is a terminal; and one whose lines can be written anew (TERM is set, and not "dumb"). */
bool tool_is_terminal(FILE *stream);
bool tool_is_live(FILE *stream);
typedef enum tool_style { TOOL_PLAIN, TOOL_STRONG, TOOL_GOOD, TOOL_BAD, TOOL_FAINT } tool_style;
/* What begins a style on a live terminal, TOOL_PLAIN what ends it; "" elsewhere, and if NO_COLOR is not empty. */
const char *tool_style_of(FILE *stream, tool_style style);
/* Columns of the terminal, 80 where there is none. */
int tool_columns(void);
/* Flushes; `code`, or TOOL_CLOSED, or TOOL_FAILED with a sentence, if not all of the output could be written. */
int tool_out_close(int code);
/* Bytes for people: "1.5 MB". */
const char *tool_bytes(char *out, size_t size, double bytes);
/* A count for people: "1.25 M". */
const char *tool_count(char *out, size_t size, double count);
/* Nanoseconds for people: "1.25 ms". */
const char *tool_time(char *out, size_t size, double ns);
/* "[1, 3, ?]". */
const char *tool_shape(char *out, size_t size, mw_shape shape);
/* Rate and time left on a terminal, nothing elsewhere; `done` of `all`, which ends it. */
void tool_progress(const tool_call *call, const char *what, int64_t done, int64_t all);

/* ---- waiting.c: a line on a terminal while something takes more than a second, nothing elsewhere ---- */

/* Begins to wait for a file (or a folder) that is read; its size, and where the system tells it what was read so far,
 * give rate and time left. */
void tool_waiting_read(const tool_call *call, const char *path);
/* Begins to wait for a compilation: its passes are counted, unless the options have a report already, or a cache, which
 * a report would go past. What is read meanwhile stays the line until the first pass. */
void tool_waiting_compile(const tool_call *call, mw_compile_options *options);
/* Ends it, and removes the line. Fine if nothing is waited for. */
void tool_waiting_end(void);

/* ---- help.c ---- */

/* The options of every command, behind its own. */
extern const tool_option tool_common_options[];
void tool_print_help(const tool_command *command);
void tool_print_commands(FILE *out);

/* ---- pass_list.c ---- */

/* Passes of a compilation, as far as none is left out. */
int tool_pass_count(void);

/* ---- topics.c ---- */

/* The help of a command or a topic; TOOL_USAGE after a complaint if there is none. */
int tool_print_help_of(const char *name);
/* The topics, a line each; the name of one, NULL behind the last. */
void tool_print_topics(FILE *out);
const char *tool_topic_at(size_t index);
/* The layers of mw train, and their options. */
void tool_print_layers(void);
/* Every option of every command, and every field of a recipe, with what it may be. */
void tool_print_options(void);
void tool_print_fields(void);

/* ---- values of options, in parse.c; each says on standard error what is wrong, and how it should be ---- */

bool tool_parse_device(const char *text, mw_device *out);
bool tool_parse_chip(const char *text, mw_chip *out);
bool tool_parse_dtype(const char *text, mw_dtype *out);
/* "name=rest": copies the name and points at the rest. */
bool tool_parse_pair(const char *option, const char *text, char *name, size_t size, const char **rest);
/* "1,3,224,224" or "1x3x224x224". */
bool tool_parse_shape(const char *text, mw_shape *out);
/* Whether a path is that of a table: .csv, .tsv, .jsonl, .ndjson. */
bool tool_is_table(const char *path);

/* ---- JSON ---- */

void tool_json_shape(mw__json_writer *json, const char *key, mw_shape shape); /* null for an extent that is not known */
/* The error as members of an open object. */
void tool_json_error(mw__json_writer *json, const mw_error *err);

#endif
