/* How many programs for the ANE the process has loaded. */
#ifndef MW__ENGINE_SURFACE_LOADED_H
#define MW__ENGINE_SURFACE_LOADED_H

#include "engine/compile/compiled.h"

/* Of operations, or of programs, as the program says. */
#define MW__LOADED_MAX 128

/* For an operation of the program that is being made; refused if it would be one too many. */
mw_status mw__loaded_add(const mw__program *program, const char *name, mw_error *err);
/* For each operation that was added. */
void mw__loaded_remove(const mw__program *program);

#endif
