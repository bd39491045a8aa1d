/* Programs that were read, in the form in which they are compiled: no state is a port of its own type, and where the
 * device runs neither branches nor lists there are none. */
#ifndef MW__RUNTIME_PROGRAM_LOWERED_H
#define MW__RUNTIME_PROGRAM_LOWERED_H

#include "base/visible.h"
#include "runtime/program/program_object.h"

/* True if an input of the function is a state. */
bool mw__has_state(const mw__function *function);

/* mw__program_create of that form: a state is an input port that starts at zero, and what the program writes to it goes
 * into the same memory. */
mw_program *mw__lowered_create(const mw__program_request *request, mw_error *err);
/* The same of main of a graph, with parameters that hold their first values. */
MW__SIBLING mw_program *mw__program_compile_graph(const mw_graph *graph, const mw_compile_options *options,
                                                  const mw__target *target, mw_error *err);

#endif
