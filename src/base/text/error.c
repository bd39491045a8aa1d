/* Filling and naming errors. Everything is shown (base/text/printable.h) and cut to fit. */
#include "base/text/error.h"

#include "base/text/log.h"
#include "base/text/printable.h"

#include <stdarg.h>

mw_status mw__fail_at(mw_error *err, mw_status status, const char *file, int line, const char *format, ...)
{
    if (err == NULL || err->status != MW_OK)
        return status;
    *err = (mw_error){.status = status, .file = file, .line = line};
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return status;
}

bool mw__skipped(const mw_error *err, const char *call)
{
    const char *why = err->message[0] != '\0' ? err->message : mw_status_name(err->status);
    mw__log(MW_LOG_DEBUG, "%s is skipped, as an earlier call failed: %s", call, why);
    return true;
}

void mw_error_clear(mw_error *err)
{
    if (err != NULL)
        *err = (mw_error){0};
}

void mw__error_subject(mw_error *err, const char *operation, const char *tensor)
{
    if (!mw__failed(err))
        return;
    if (operation != NULL)
        mw__printable(err->operation, sizeof err->operation, operation);
    if (tensor != NULL)
        mw__printable(err->tensor, sizeof err->tensor, tensor);
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
    case MW_ERROR_COMMUNICATION:
        return "communication error";
    }
    return "unknown status";
}

const char *mw_version(void) { return "0.1.0"; }
