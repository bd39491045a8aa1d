/* adapter_config.json of PEFT: what of it an adapter's numbers depend on. */
#ifndef MW__RUNTIME_WEIGHTS_ADAPTER_CONFIG_H
#define MW__RUNTIME_WEIGHTS_ADAPTER_CONFIG_H

#include "base/memory/alloc.h"

typedef struct mw__adapter_config {
    mw__arena arena;
    double rank;          /* r */
    double alpha;         /* lora_alpha */
    const char **modules; /* [module_count], modules_to_save */
    size_t module_count, module_capacity;
} mw__adapter_config;

/* Reads the file. A key that is not known, or a value that asks for what is not implemented, is refused by name unless
 * it is neutral: null, false, {} or []. Deinit `out` in any case.
 * MW_ERROR_FORMAT: no strict JSON, or no r and lora_alpha; MW_ERROR_UNSUPPORTED: another kind of adapter. */
mw_status mw__adapter_config_read(const mw_allocator *allocator, const char *path, mw__adapter_config *out,
                                  mw_error *err);
void mw__adapter_config_deinit(mw__adapter_config *config);

#endif
