/* The tables of what was measured on M4 and M6: tab-separated lines of ../shared/data/ane-numerics, the first of which
 * names the columns. Tests read them there and never copy them. */
#ifndef TESTS_SUPPORT_CHIP_VECTOR_TABLE_H
#define TESTS_SUPPORT_CHIP_VECTOR_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum { VECTOR_LINE = 1024, VECTOR_FIELDS = 12 };

typedef struct vector_table {
    FILE *file;
    char line[VECTOR_LINE];
    char *field[VECTOR_FIELDS]; /* those that a line lacks are empty */
} vector_table;

/* Closed with fclose(t->file). False if the file is not there. */
bool vector_table_open(vector_table *t, const char *name);
/* The next line in its fields; false after the last. */
bool vector_table_next(vector_table *t);

#endif
