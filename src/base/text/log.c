/* The log hook. It is process-wide, which is why this file holds one of the library's two mutable globals. */
#include "base/text/log.h"

#include "base/memory/guard.h"
#include "base/text/printable.h"

#include <stdarg.h>

static struct {
    mw_log_function *function;
    void *user;
} hook;

void mw_log_set(mw_log_function *function, void *user)
{
    hook.function = function;
    hook.user = user;
}

void mw__log(mw_log_level level, const char *format, ...)
{
    if (hook.function == NULL)
        return;
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const mw__callback outer = mw__callback_begin("log hook", MW__LENT_NEVER);
    hook.function(hook.user, level, line);
    mw__callback_end(outer);
}
