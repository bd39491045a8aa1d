/* The environment variables that this room reads, all of them (docs/environment.md). */
#ifndef MW__RUNTIME_VARIABLES_H
#define MW__RUNTIME_VARIABLES_H

#include <stdbool.h>

/* MW_E5RT_LIBRARY: the library in place of the usual e5rt; NULL = not set. Valid until the environment is changed. */
const char *mw__variable_e5rt_library(void);
/* MW_PASSES_OFF: passes and rules that are left out, with commas between them; NULL = none. */
const char *mw__variable_passes_off(void);
/* MW_ENGINE_PROFILE: the arithmetic that the engine models, whatever the options say; NULL = not set. */
const char *mw__variable_profile(void);
/* MW_ANE_E5RT_QUIET: failed ane_e5rt_* calls print nothing. */
bool mw__variable_silent(void);
/* ANEFORGE_PROFILE: programs of the ane_e5rt_* calls are compiled with profiling. */
bool mw__variable_profiling(void);
/* TERM: the terminal moves its cursor. */
bool mw__variable_has_cursor(void);

#endif
