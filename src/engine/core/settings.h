/* What the environment says to the engine. docs/environment.md has the values; one that is not among them is refused by
 * each compile. They are read anew by each compile, but for MW_BLAS, which is read once (engine/kernels/blas.h). */
#ifndef MW__ENGINE_CORE_SETTINGS_H
#define MW__ENGINE_CORE_SETTINGS_H

#include <millwright/status.h>
#include <stdbool.h>
#include <stdint.h>

/* MW_ERROR_ARGUMENT with name and value of the first variable that is malformed. */
mw_status mw__settings_check(mw_error *err);

/* MW_ENGINE_LANES; 0 if it is not set. */
uint64_t mw__settings_lanes(void);
/* MW_ENGINE_WAKE in ns, or `otherwise`. */
double mw__settings_wake(double otherwise);
/* MW_ENGINE_REF=1. */
bool mw__settings_ref(void);
/* MW_ENGINE_WIDE: 0, 256 or 512, which is also the default. */
int mw__settings_wide(void);
/* False with MW_ENGINE_FUSE=0. */
bool mw__settings_fuse(void);

#endif
