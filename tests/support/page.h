/* Documents that a test writes: a text that grows, and the file that has to hold it. */
#ifndef TESTS_SUPPORT_PAGE_H
#define TESTS_SUPPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct page {
    char *text; /* NULL after a failed allocation */
    size_t used, limit;
} page;

/* Empty, for texts of fewer than `limit` bytes. */
page page_make(size_t limit);
void page_put(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_free(page *p);

/* All of a file as text, to be freed; NULL if it is not there. */
char *page_read(const char *path);
/* Notes it if the file does not hold the text. MW_UPDATE_GOLDENS=1 writes the file instead. */
void page_check(const char *path, const char *text);
/* The same of what stands between the lines "<!-- begin NAME -->" and "<!-- end NAME -->" of the file. */
void page_check_section(const char *path, const char *name, const char *text);
bool page_updates(void);

#endif
