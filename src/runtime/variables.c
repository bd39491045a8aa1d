/* What the environment sets for this room. */
#include "runtime/variables.h"

#include "base/environment.h"

#include <stddef.h>
#include <string.h>

const char *mw__variable_e5rt_library(void) { return mw__environment("MW_E5RT_LIBRARY"); }

const char *mw__variable_passes_off(void) { return mw__environment("MW_PASSES_OFF"); }

const char *mw__variable_profile(void) { return mw__environment("MW_ENGINE_PROFILE"); }

static bool is_on(const char *name)
{
    const char *value = mw__environment(name);
    return value != NULL && strcmp(value, "0") != 0;
}

bool mw__variable_silent(void) { return is_on("MW_ANE_E5RT_QUIET"); }

/* The name that callers of the dispatch library know. */
bool mw__variable_profiling(void) { return is_on("ANEFORGE_PROFILE"); }

bool mw__variable_has_cursor(void)
{
    const char *kind = mw__environment("TERM");
    return kind != NULL && strcmp(kind, "dumb") != 0;
}
