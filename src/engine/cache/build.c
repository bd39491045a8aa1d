/* The one file that is compiled anew when any source changes. */
#include "engine/cache/key.h"

#include <mw_engine_build.h> /* made by cmake/engine_build.cmake */

const char *mw__cache_engine_build(void) { return "millwright-" MW_ENGINE_BUILD; }
