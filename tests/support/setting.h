/* What a test changes or is given from outside: settings of the engine (MW_ENGINE_* of docs/environment.md), and
 * numbers of a test run. */
#ifndef TESTS_SUPPORT_SETTING_H
#define TESTS_SUPPORT_SETTING_H

#include <stdint.h>

/* What is compiled from here on finds the setting at that value, until its end or that of the process. The public
 * interface has no other way than the environment; what tests/engine compiles itself has run_set (engine/run.h).
 *
 *     setting_begin("MW_ENGINE_FUSE", "0");
 *     float *plain = compute(..);
 *     setting_end("MW_ENGINE_FUSE"); */
void setting_begin(const char *name, const char *value);
void setting_end(const char *name); /* the default again */

/* The number in the environment variable, or `otherwise`. */
uint64_t number_from(const char *variable, uint64_t otherwise);

#endif
