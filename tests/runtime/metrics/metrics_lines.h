/* Lines of metrics files as tests read them: by looking for a key, which is enough for names without escapes. */
#ifndef TESTS_RUNTIME_METRICS_METRICS_LINES_H
#define TESTS_RUNTIME_METRICS_METRICS_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum { LINE_BYTES = 4096 };

typedef struct lines {
    size_t count;
    char (*text)[LINE_BYTES]; /* without line ends */
} lines;

/* All lines; a last one without its end fails the test. */
lines lines_read(const char *path);
void lines_free(lines *all);
/* Those of one kind ("step"): their number, and the one at `index`, or NULL. */
size_t lines_count(const lines *all, const char *kind);
const char *lines_at(const lines *all, const char *kind, size_t index);

bool line_has(const char *line, const char *key);
/* NaN if it is not there, or is null. */
double line_number(const char *line, const char *key);
bool line_says(const char *line, const char *key, const char *text);

#endif
