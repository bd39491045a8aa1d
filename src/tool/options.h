/* Options of commands: a table of rows for each command. Parsing, ranges, help, the man page, the completions and the
 * sweep of tests/tool/test_options.c all come from the rows. A value outside its row's range, or an option without
 * effect, ends the command with code 2. */
#ifndef MW__TOOL_OPTIONS_H
#define MW__TOOL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum tool_option_kind {
    TOOL_END = 0, /* behind the last row */
    TOOL_TABLE,   /* the rows of another table */
    TOOL_FLAG,    /* bool */
    TOOL_INTEGER, /* long long, in low .. high */
    TOOL_NUMBER,  /* double, in low .. high */
    TOOL_TEXT,    /* const char *, not empty */
    TOOL_WORDS,   /* const char *, which may be empty */
    TOOL_LIST     /* const char **, ended by NULL: the option may be given several times */
} tool_option_kind;

typedef struct tool_option {
    const char *name;
    char letter;
    tool_option_kind kind;
    void *value; /* as the kind says; of TOOL_TABLE the first row */
    const char *text;
    const char *argument; /* for people: "FILE" */
    double low, high;
    const char *choices; /* of a text: "fp16, int8, palette"; NULL = any */
    const char *needs;   /* without effect unless this is given: "chip", "weights=palette", "data|own-data" */
} tool_option;

#define TOOL_OPTIONS(table)                                                                                            \
    {                                                                                                                  \
        .kind = TOOL_TABLE, .value = (void *)(uintptr_t)(table)                                                        \
    }
#define TOOL_OPTIONS_END                                                                                               \
    {                                                                                                                  \
        .kind = TOOL_END                                                                                               \
    }

/* Calls `visit` for each row, those of included tables too. */
void tool_each_option(const tool_option *options, void (*visit)(void *user, const tool_option *option), void *user);
/* "1 .. 1000000", or "" for an option without a range. */
const char *tool_option_range(char *out, size_t size, const tool_option *option);

/* Whether a text is one of "a, b, c". */
bool tool_is_listed(const char *choices, const char *text);

/** Reads the words of a command: options into the variables of their rows, the others into *out_arguments, ended
 *  by NULL.
 *  return  TOOL_DONE, or TOOL_USAGE after a complaint; `*out_usage` is true if the usage line helps */
int tool_options_parse(const tool_option *options, int argc, const char **argv, const char ***out_arguments,
                       bool *out_usage);
void tool_options_free(void);
/* Whether this command has an option, and whether it was given. */
bool tool_has_option(const char *name);
bool tool_given(const char *name);
/* Calls `visit` for each text that an option of this command was given. */
void tool_each_given_text(void (*visit)(void *user, const char *text), void *user);
/* Complains about the first of these options that was given: `why` it has no effect. NULL ends the names.
 *  return  true if there is one */
bool tool_refuse_options(const char *why, const char *const *names);
#define TOOL_REFUSE(why, ...) tool_refuse_options((why), (const char *const[]){__VA_ARGS__, NULL})

#endif
