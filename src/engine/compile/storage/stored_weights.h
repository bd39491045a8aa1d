/* Constants that are stored compressed, or in fp16, as the kernels want them. */
#ifndef MW__ENGINE_COMPILE_STORAGE_STORED_WEIGHTS_H
#define MW__ENGINE_COMPILE_STORAGE_STORED_WEIGHTS_H

#include "engine/core/config.h"
#include "graph/ir/ir.h"

/* Gives the results of every constexpr operation their dense literals; but if its weights would take more
 * than the configuration allows, those that only products and gathers read stay as they are stored: they get
 * mw_tensor.packed, and a literal without data. The function has been verified, and is
 * not copied afterwards but by fp16_storage.c. */
mw_status mw__prepare_weights(const mw__function *function, mw__arena *arena, const mw__config *config, mw_error *err);

#endif
