/* Filling and naming errors. Everything is truncated to fit, at a character boundary, and never formatted twice. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A cut may have split the last UTF-8 character: drops its lead byte and what followed it. */
static void drop_split_character(char *text)
{
    size_t length = strlen(text);
    size_t tail = 0; /* continuation bytes at the end */
    while (tail < 3 && tail < length && ((unsigned char)text[length - 1 - tail] & 0xc0) == 0x80)
        tail++;
    if (tail == length)
        return;
    unsigned char lead = (unsigned char)text[length - 1 - tail];
    size_t wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    if (tail < wanted)
        text[length - 1 - tail] = '\0';
}

static void copy_text(char *out, size_t capacity, const char *text)
{
    size_t length = strlen(text);
    const bool cut = length >= capacity;
    if (cut)
        length = capacity - 1;
    memmove(out, text, length);
    out[length] = '\0';
    if (cut)
        drop_split_character(out);
}

mw_status mw__fail_at(mw_error *err, mw_status status, const char *file, int line, const char *format, ...)
{
    if (err == NULL || err->status != MW_OK)
        return status;
    *err = (mw_error){.status = status, .file = file, .line = line};
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    if (length < 0)
        copy_text(err->message, sizeof err->message, mw_status_name(status));
    else if ((size_t)length >= sizeof err->message)
        drop_split_character(err->message);
    return status;
}

void mw__error_subject(mw_error *err, const char *operation, const char *tensor)
{
    if (!mw__failed(err))
        return;
    if (operation != NULL)
        copy_text(err->operation, sizeof err->operation, operation);
    if (tensor != NULL)
        copy_text(err->tensor, sizeof err->tensor, tensor);
}

void mw__error_position(mw_error *err, int line, int column)
{
    if (!mw__failed(err))
        return;
    err->text_line = line;
    err->text_column = column;
}

const char *mw_status_name(mw_status status)
{
    switch (status) {
    case MW_OK:
        return "no error";
    case MW_ERROR_ARGUMENT:
        return "argument error";
    case MW_ERROR_SHAPE:
        return "shape error";
    case MW_ERROR_DTYPE:
        return "element type error";
    case MW_ERROR_MEMORY:
        return "out of memory";
    case MW_ERROR_FILE:
        return "file error";
    case MW_ERROR_FORMAT:
        return "format error";
    case MW_ERROR_UNSUPPORTED:
        return "unsupported";
    case MW_ERROR_NUMERIC:
        return "numeric error";
    case MW_ERROR_STATE:
        return "state error";
    case MW_ERROR_DEVICE:
        return "device error";
    case MW_ERROR_STOPPED:
        return "stopped";
    }
    return "unknown status";
}

const char *mw_version(void) { return "0.1.0"; }
