/* The objects behind handles of options. Members are named as the keys of symbols.def; texts and lists are in the
 * arena, also those that were replaced, as getters hand them out for as long as the options live. */
#ifndef MW__ENGINE_SURFACE_OPTIONS_H
#define MW__ENGINE_SURFACE_OPTIONS_H

#include "engine/surface/surface.h"

/* First member of all of them. */
typedef struct mw__options {
    mw__object object;
    mw__arena arena;
} mw__options;

typedef struct mw__config_options {
    mw__options options;
    mw__config set; /* variables of the engine */
    const char *cache_bundle_location;
    bool bundle_cache_apfs_purgeable;
} mw__config_options;

typedef struct mw__compiler_options {
    mw__options options;
    uint64_t compute_device_types_mask; /* checked by compile */
    uint64_t threads;
    bool owned; /* the folder is the caller's alone */
    const char *segmenter, *custom_ane_compiler_options;
    const mw__chip_row *chip;  /* that the latter name; NULL = none */
    const char **entry_points; /* all functions if there is none */
    size_t entry_point_count;
    struct mw__pass_listener *listener; /* of the passes; NULL = none */
    const char **mutable_paths;         /* weight files whose constants are exchanged */
    size_t mutable_path_count;
    uint32_t preferred_cpu_backend;
    const uint32_t *preferred_cpu_backends;
    size_t preferred_cpu_backend_count;
    bool force_recompilation, force_fetch_from_cache;
    bool create_protected_assets; /* never set: that is refused */
    bool enable_mpsgraph_package, enable_profiling, enable_reshape_with_minimal_allocations;
    bool experimental_disable_compile_time_mpsgraph_type_inference, experimental_disable_data_dependent_shape;
    bool experimental_enable_default_function_for_range_dim, experimental_force_classic_cpu_backend;
    bool experimental_match_e5_minimal_cpu_patterns, experimental_match_e5_minimal_cpu_patterns_for_states;
    bool force_bnns_graph, force_classic_aot_old_hw;
} mw__compiler_options;

/* Who hears of the passes of a compilation. */
typedef struct mw__pass_listener {
    e5rt_mw_pass_report *report;
    void *user;
    const char *why; /* or NULL */
    bool texts;
} mw__pass_listener;

/* Hands a pass on to the listener that is `user` (mw__pass_report). In surface_report.c. */
void mw__surface_report_pass(void *user, const mw_pass *pass);

typedef struct mw__compiler_object {
    mw__object object;
    mw__config config;
    char *cache_bundle_location; /* NULL = none */
} mw__compiler_object;

typedef struct mw__operation_options {
    mw__options options;
    mw__function_object *function;
    struct mw__weights *weights; /* NULL = those of the function */
    const char *operation_name;  /* NULL = the function's */
    bool allocate_intermediate_buffers, lazy_prepare_op_for_encode;
    uint64_t iosurface_memory_pool_id;
    bool experimental_enable_mpsgraph_parallel_encode, experimental_disable_compile_time_mpsgraph_type_inference;
    bool experimental_enable_gpu_quant_ops, experimental_enable_mps_reduced_precision;
    uint64_t experimental_mpsgraph_maximum_number_of_encoding_threads;
} mw__operation_options;

typedef struct mw__operation_config {
    mw__options options;
    bool prewire_model_memory;
} mw__operation_config;

typedef struct mw__stream_config {
    mw__options options;
    bool enable_concurrent_sync_execution, enable_low_latency_async_events, skip_io_fences;
} mw__stream_config;

#endif
