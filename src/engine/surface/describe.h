/* A command list as data that outlives it: what surface_plan.c hands out. */
#ifndef MW__ENGINE_SURFACE_DESCRIBE_H
#define MW__ENGINE_SURFACE_DESCRIBE_H

#include "engine/surface/surface.h" /* e5rt.h as it is declared there */

/* Fills *out, all of it in `arena` but for names and labels, which belong to the program's library. */
mw_status mw__surface_describe_plan(const mw__program *program, const mw__command_list *commands, mw__arena *arena,
                                    e5rt_mw_plan *out, mw_error *err);

#endif
