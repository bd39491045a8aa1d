/* The settings of setting.h. */
#include "support/setting.h"

#include <stdlib.h>

void setting_begin(const char *name, const char *value) { setenv(name, value, 1); }

void setting_end(const char *name) { unsetenv(name); }

uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *given = getenv(variable);
    return given != NULL ? strtoull(given, NULL, 10) : otherwise;
}
