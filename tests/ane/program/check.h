/* Running all items in processes of their own, and the report. */
#ifndef TESTS_ANE_CHECK_H
#define TESTS_ANE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ane_request {
    const char *program; /* this one, which is started again for the items */
    const char *report;  /* path of the report */
    const char *only;    /* a section; NULL = all */
    int seconds;         /* after which an item hangs */
} ane_request;

/* What an item's process does: runs the items of a section from one on, and says so line by line. */
int ane_child(const char *section, size_t first);

/* Tries everything and writes the report; 0 if it could be written. */
int ane_check(const ane_request *request);

#endif
