/* Adapters in PEFT's form: adapter_model.safetensors and adapter_config.json in one folder. */
#ifndef MW__RUNTIME_WEIGHTS_ADAPTER_H
#define MW__RUNTIME_WEIGHTS_ADAPTER_H

#include "graph/transform/tune/trainable.h"
#include "runtime/weights/weights.h"

#define MW__ADAPTER_NOTE "mw.lora_alpha" /* in the metadata of the tensors */

/* Of the first adapter of a graph. */
typedef struct mw__adapter_numbers {
    int64_t rank; /* 0 = there is none */
    double alpha;
} mw__adapter_numbers;

/* Takes the numbers of a parameter that is the first "A" of a graph of mw_graph_lora; of another one nothing. */
mw_status mw__adapter_scale(const mw_graph *graph, const char *name, mw_shape shape, mw__adapter_numbers *out,
                            mw_error *err);

typedef struct mw__adapters {
    mw__weight_slots slots; /* a slot that has a name in the file has there the one that PEFT gives it */
    mw__adapter_numbers numbers;
    mw__arena arena; /* names and paths */
    char *tensors_path, *config_path;
} mw__adapters;

/* Names what is part of the files: slots whose in_file is not NULL.
 *  errors  MW_ERROR_ARGUMENT if there is no adapter; then, too, deinit is called */
mw_status mw__adapters_init(mw__adapters *a, const mw__weight_slots *slots, mw__adapter_numbers numbers,
                            const char *folder, mw_error *err);
void mw__adapters_deinit(mw__adapters *a);
/* Whether weights of that path are an adapter. */
bool mw__is_adapter_folder(const char *path);
/* Refuses options that change something: an adapter's tensors are found by the names that PEFT gives them. */
mw_status mw__adapters_check_options(const mw_weights_options *options, const char *folder, mw_error *err);
/* Before the tensors are read: the configuration fits, and names that differ in dots are those of the file. */
mw_status mw__adapters_check(mw__adapters *a, mw_error *err);
mw_status mw__adapters_write_config(const mw__adapters *a, mw_error *err);

#endif
