/* Calls of e5rt that have to fail. */
#ifndef TESTS_ENGINE_REFUSED_H
#define TESTS_ENGINE_REFUSED_H

#include "support/check.h"

#include <e5rt/e5rt.h>

/* The call answers with the code, and the message has the part. */
#define REFUSED(call, wanted, part) check_refused((call), (wanted), (part), __FILE__, __LINE__)

static inline void check_refused(e5rt_error_code code, e5rt_error_code wanted, const char *part, const char *file,
                                 int line)
{
    check_note(code == wanted, file, line, "code %lld, not %lld (%s)", (long long)code, (long long)wanted,
               e5rt_get_last_error_message());
    check_note(strstr(e5rt_get_last_error_message(), part) != NULL, file, line, "message \"%s\" without \"%s\"",
               e5rt_get_last_error_message(), part);
}

#endif
