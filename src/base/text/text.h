/* A growing byte string, for text that is printed. Errors stick: check `failed` once, at the end. */
#ifndef MW__BASE_TEXT_TEXT_H
#define MW__BASE_TEXT_TEXT_H

#include "base/memory/alloc.h"
#include "base/visible.h"

typedef struct mw__text {
    const mw_allocator *allocator;
    char *data; /* NUL-terminated when not NULL */
    size_t size;
    size_t capacity;
    size_t limit; /* of size, past which an append fails; 0 = none */
    bool failed;
    bool beyond; /* for that reason */
} mw__text;

MW__SIBLING void mw__text_init(mw__text *text, const mw_allocator *allocator);
MW__SIBLING void mw__text_deinit(mw__text *text);
MW__SIBLING void mw__text_append(mw__text *text, const char *data, size_t size);
MW__SIBLING void mw__text_puts(mw__text *text, const char *string);
MW__SIBLING void mw__text_printf(mw__text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Integers and short strings only: floating point goes through base/number/number.h, which ignores the locale. */

/* MW_ERROR_MEMORY if an append failed, MW_ERROR_FORMAT if it would have passed the limit. */
MW__SIBLING mw_status mw__text_check(const mw__text *text, mw_error *err);

/* What was written, for the caller to free with the allocator of the text; NULL, with the text freed, if an append
 * failed. */
MW__SIBLING char *mw__text_take(mw__text *text, mw_error *err);

#endif
