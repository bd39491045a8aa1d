/* A text of bounded size that is written piece by piece into the caller's array: what does not fit is left out, and the
 * text is NUL-terminated at any time. Compiling writes thousands of them, which printf is slow for. */
#ifndef MW__BASE_TEXT_STRING_BUILDER_H
#define MW__BASE_TEXT_STRING_BUILDER_H

#include "base/number/number.h"

#include <stdbool.h>
#include <string.h>

typedef struct mw__string_builder {
    char *out;
    size_t size, used; /* used < size */
    bool full;         /* something was left out */
} mw__string_builder;

/* `size` is at least 1. */
static inline mw__string_builder mw__string_builder_begin(char *out, size_t size)
{
    out[0] = '\0';
    return (mw__string_builder){.out = out, .size = size};
}

static inline void mw__string_builder_add(mw__string_builder *builder, const char *text, size_t length)
{
    const size_t room = builder->size - builder->used - 1, taken = length < room ? length : room;
    memcpy(builder->out + builder->used, text, taken);
    builder->used += taken;
    builder->out[builder->used] = '\0';
    builder->full = builder->full || taken < length;
}

static inline void mw__string_builder_puts(mw__string_builder *builder, const char *text)
{
    mw__string_builder_add(builder, text, strlen(text));
}

static inline void mw__string_builder_number(mw__string_builder *builder, int64_t value)
{
    char digits[MW__NUMBER_MAX];
    mw__string_builder_add(builder, digits, mw__number_print_i64(digits, value));
}

#endif
