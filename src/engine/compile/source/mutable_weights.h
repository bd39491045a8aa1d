/* Weights that a client exchanges: constants of the weight files that it named for a compilation. They become inputs
 * without a port, the last of their function, so that nothing is folded or packed by their values. */
#ifndef MW__ENGINE_COMPILE_SOURCE_MUTABLE_WEIGHTS_H
#define MW__ENGINE_COMPILE_SOURCE_MUTABLE_WEIGHTS_H

#include "engine/compile/compiled.h"

/* Opens the constants of a verified graph whose BLOBFILE has one of the paths; *out has them for each function, with
 * the values that they had, in the arena.
 *  errors  MW_ERROR_ARGUMENT for a path that no constant has; MW_ERROR_UNSUPPORTED, with operation and line, for one
 *          that is no statement of its own, or where only a constant can stand; MW_ERROR_MEMORY */
mw_status mw__open_mutable_weights(mw_graph *graph, const char *const *paths, size_t path_count, mw__arena *arena,
                                   mw__open_weights **out, mw_error *err);

#endif
