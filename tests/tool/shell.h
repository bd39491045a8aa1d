/* mw as a shell runs it: with arguments, its output in files, or a pipe that nobody reads. */
#ifndef TESTS_TOOL_SHELL_H
#define TESTS_TOOL_SHELL_H

#include <stdbool.h>
#include <stddef.h>

/* What a run gave. */
typedef struct shell_result {
    int code;         /* 128 + signal if one ended it */
    char *out, *errs; /* what it wrote, with NUL behind; freed by shell_free */
    size_t out_size;
} shell_result;

/* Runs mw with these words; NULL ends them. */
shell_result shell_mw(const char *const *words);
#define MW(...) shell_mw((const char *const[]){__VA_ARGS__, NULL})
void shell_free(shell_result *result);

/* Runs it with standard output in a pipe whose reader has left; only the code and the errors. */
shell_result shell_mw_unread(const char *const *words);

/* Runs it and sends it a signal as soon as the file is there, or after ten seconds. */
shell_result shell_mw_signal(const char *const *words, int signal, const char *file);

/* Runs it on a terminal of so many columns; `out` has all that it shows. */
shell_result shell_mw_terminal(const char *const *words, int columns);

/* Runs it and checks code and that the outputs contain the parts (NULL = anything). */
void shell_check(const char *const *words, int code, const char *out_part, const char *errs_part, const char *file,
                 int line);
#define CHECK_MW(code, out_part, errs_part, ...)                                                                       \
    shell_check((const char *const[]){__VA_ARGS__, NULL}, (code), (out_part), (errs_part), __FILE__, __LINE__)

/* Whether a text is one JSON value, by a reader that is not the tool's; the value of a top-level key in `out`. */
bool shell_is_json(const char *text);

#endif
