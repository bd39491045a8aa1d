/* What the environment sets for this room. */
#include "runtime/variables.h"

#include "base/environment.h"

#include <stddef.h>
#include <string.h>

const char *mw__variable_e5rt_library(void) { return mw__environment("MW_E5RT_LIBRARY"); }

const char *mw__variable_kept_rewrites(void) { return mw__environment("MW_MIL_KEEP"); }

bool mw__variable_quiet(void)
{
    const char *value = mw__environment("MW_ANE_E5RT_QUIET");
    return value != NULL && strcmp(value, "0") != 0;
}

bool mw__variable_has_cursor(void)
{
    const char *kind = mw__environment("TERM");
    return kind != NULL && strcmp(kind, "dumb") != 0;
}
