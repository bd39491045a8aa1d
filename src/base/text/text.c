/* The growing byte string. An append that fails leaves the text as it was and makes all later ones do nothing. */
#include "base/text/text.h"

#include "base/memory/checked.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mw__text_init(mw__text *text, const mw_allocator *allocator)
{
    *text = (mw__text){.allocator = mw__allocator_or_default(allocator)};
}

void mw__text_deinit(mw__text *text)
{
    mw__free(text->allocator, text->data);
    *text = (mw__text){.allocator = text->allocator};
}

/* Room for `size` more bytes and the NUL. */
static bool reserve(mw__text *text, size_t size)
{
    size_t wanted;
    if (!text->failed && text->limit > 0 && (text->size > text->limit || size > text->limit - text->size))
        text->failed = text->beyond = true;
    if (text->failed || !mw__add_size(text->size, size, &wanted) || !mw__add_size(wanted, 1, &wanted) ||
        mw__grow(text->allocator, &text->data, &text->capacity, wanted, 1, NULL) != MW_OK) {
        text->failed = true;
        return false;
    }
    return true;
}

void mw__text_append(mw__text *text, const char *data, size_t size)
{
    const bool fits = !text->failed && text->limit == 0 && size < text->capacity - text->size;
    if (!fits && !reserve(text, size))
        return;
    if (size > 0)
        memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void mw__text_puts(mw__text *text, const char *string) { mw__text_append(text, string, strlen(string)); }

void mw__text_printf(mw__text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    char small[64]; /* most of what is printed fits, and is then formatted once */
    const int length = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->failed = true;
    } else if ((size_t)length < sizeof small) {
        mw__text_append(text, small, (size_t)length);
    } else if (reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->size, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
}

mw_status mw__text_check(const mw__text *text, mw_error *err)
{
    if (!text->failed)
        return MW_OK;
    if (text->beyond)
        return mw__fail(err, MW_ERROR_FORMAT, "a text is longer than the %zu bytes that it may have", text->limit);
    return mw__fail(err, MW_ERROR_MEMORY, "out of memory: a text of more than %zu bytes", text->size);
}

char *mw__text_take(mw__text *text, mw_error *err)
{
    if (mw__text_check(text, err) == MW_OK)
        return text->data;
    mw__text_deinit(text);
    return NULL;
}
