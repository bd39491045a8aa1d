/* Our declarations of Apple's e5rt symbols (Espresso.framework), as far as Millwright uses or offers them. There is no
 * public header; these are facts gathered from public projects and messages (see docs/status.md), with a mark:
 *   A  two independent projects or Apple's own text      B  one project that calls it
 *   C  argument count and widths from disassembly        D  a guess
 *   M  Millwright's own, absent from Espresso
 *
 * Conventions: creating and allocating functions take the out pointer first; retain, get and compile take it last;
 * release takes the address of the handle and clears it. The result is a status, 0 = success; Espresso returns 32 bits,
 * so compare (int32_t)code. Status codes: 1 invalid argument, 2 invalid operation, 3 allocation failure, 4 out of
 * bounds, 5 invalid type parameter, 6 invalid data type.
 *
 * On every system Millwright's engine defines these functions; on macOS the same names are also found in Espresso by
 * dlsym. docs/e5rt.md says for each what the engine does, be it only to answer that it is not available there. */
#ifndef E5RT_E5RT_H
#define E5RT_E5RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(E5RT_EXPORT)
#define E5RT_API __attribute__((visibility("default")))
#else
#define E5RT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t e5rt_error_code;
typedef unsigned char e5rt_bool; /* a byte: 0 is no, anything else yes */

enum {
    E5RT_OK = 0,
    E5RT_INVALID_ARGUMENT = 1,
    E5RT_INVALID_OPERATION = 2,
    E5RT_ALLOCATION_FAILURE = 3,
    E5RT_OUT_OF_BOUNDS = 4,
    E5RT_INVALID_TYPE = 5,
    E5RT_INVALID_DATA_TYPE = 6,
    E5RT_MW_TIMED_OUT = 1000 /* Millwright's own: the time of a wait or a submission was over */
};

/* Compute device mask. */
enum { E5RT_CPU = 1, E5RT_GPU = 2, E5RT_ANE = 4 };

/* ---- compiler configuration ---- */
/* Texts that getters of options hand out live as long as the options, also when they are replaced; "" if nothing was
 * set. docs/e5rt.md says which options have an effect here; all others are kept and given back. */
E5RT_API e5rt_error_code e5rt_e5_compiler_config_options_create(void **out);      /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_config_options_release(void **options); /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_config_options_set_cache_bundle_location(void *options,
                                                                                   const char *path); /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_config_options_get_cache_bundle_location(void *options,
                                                                                   const char **out); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_config_options_set_bundle_cache_apfs_purgeable(void *options,
                                                                                         e5rt_bool value); /* B */
E5RT_API e5rt_error_code e5rt_e5_compiler_config_options_get_bundle_cache_apfs_purgeable(void *options,
                                                                                         e5rt_bool *out); /* C */
/* A variable of the engine (docs/environment.md), "MW_ENGINE_FUSE" to "0", for the compilers that are created with
 * these options; what the environment sets goes before. A name or a value that is none is refused; "" changes nothing.
 */
E5RT_API e5rt_error_code e5rt_mw_e5_compiler_config_options_set_variable(void *options, const char *name,
                                                                         const char *value); /* M */

/* ---- compiler options ---- */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_create(void **out);                                          /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_release(void **options);                                     /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_compute_device_types_mask(void *options, uint64_t mask); /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_compute_device_types_mask(void *options, uint64_t *out); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_force_recompilation(void *options, e5rt_bool value);     /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_force_recompilation(void *options, e5rt_bool *out);      /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_force_fetch_from_cache(void *options, e5rt_bool value);  /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_force_fetch_from_cache(void *options, e5rt_bool *out);   /* C */
/* graph, coarse or shortest_path, in any spelling; others are refused by name. It has no effect: nothing is cut. */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_segmenter(void *options, const char *name); /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_segmenter(void *options, const char **out); /* C */
/* Only these functions of a program are compiled, in the order of its text; 0 names: all. A copy is kept. Compile
 * refuses a name that the program has not. */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_mil_entry_points(void *options, const char *const *names,
                                                                       uint64_t count); /* A */
/* TargetArchitecture=NAME ("h13"): with mask 4 the limits of that chip hold. Blanks, commas or semicolons between
 * several, of which the last holds. No other key is known, and each is refused by name. */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_custom_ane_compiler_options(void *options,
                                                                                  const char *text); /* B */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_custom_ane_compiler_options(void *options,
                                                                                  const char **out); /* C */
/* Refused unless 0, as nothing is encrypted here. */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_create_protected_assets(void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_create_protected_assets(void *options, e5rt_bool *out);  /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_enable_mpsgraph_package(void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_enable_mpsgraph_package(void *options, e5rt_bool *out);  /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_enable_profiling(void *options, e5rt_bool value);        /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_enable_profiling(void *options, e5rt_bool *out);         /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_enable_reshape_with_minimal_allocations(void *options,
                                                                                              e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_enable_reshape_with_minimal_allocations(void *options,
                                                                                              e5rt_bool *out); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_experimental_disable_compile_time_mpsgraph_type_inference(
    void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_experimental_disable_compile_time_mpsgraph_type_inference(
    void *options, e5rt_bool *out); /* C */
E5RT_API e5rt_error_code
e5rt_e5_compiler_options_set_experimental_disable_data_dependent_shape(void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_experimental_disable_data_dependent_shape(void *options,
                                                                                                e5rt_bool *out); /* C */
E5RT_API e5rt_error_code
e5rt_e5_compiler_options_set_experimental_enable_default_function_for_range_dim(void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code
e5rt_e5_compiler_options_get_experimental_enable_default_function_for_range_dim(void *options, e5rt_bool *out); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_experimental_force_classic_cpu_backend(void *options,
                                                                                             e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_experimental_force_classic_cpu_backend(void *options,
                                                                                             e5rt_bool *out); /* C */
E5RT_API e5rt_error_code
e5rt_e5_compiler_options_set_experimental_match_e5_minimal_cpu_patterns(void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code
e5rt_e5_compiler_options_get_experimental_match_e5_minimal_cpu_patterns(void *options, e5rt_bool *out); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_experimental_match_e5_minimal_cpu_patterns_for_states(
    void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_experimental_match_e5_minimal_cpu_patterns_for_states(
    void *options, e5rt_bool *out);                                                                             /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_force_bnns_graph(void *options, e5rt_bool value);         /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_force_bnns_graph(void *options, e5rt_bool *out);          /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_force_classic_aot_old_hw(void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_force_classic_aot_old_hw(void *options, e5rt_bool *out);  /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_preferred_cpu_backend(void *options, uint32_t value);     /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_preferred_cpu_backend(void *options, uint32_t *out);      /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_set_preferred_cpu_backends(void *options, const uint32_t *values,
                                                                             uint64_t count); /* C */
/* The first `count` values that were set; a larger count is out of bounds. */
E5RT_API e5rt_error_code e5rt_e5_compiler_options_get_preferred_cpu_backends(void *options, uint32_t *out_values,
                                                                             uint64_t count); /* C */
/* Threads that a program is compiled for; 0 = one per processor. */
E5RT_API e5rt_error_code e5rt_mw_e5_compiler_options_set_threads(void *options, uint64_t threads); /* M */
/* Not 0: the folder of what is compiled is the caller's alone, and no file in it changes or gets shorter as long as the
 * library lives, though it may be removed: weights are mapped and not read. */
E5RT_API e5rt_error_code e5rt_mw_e5_compiler_options_set_private(void *options, e5rt_bool value); /* M */
/* What a pass of the compiler did; all of it is valid during the call alone (millwright/passes.h has the words). */
typedef struct e5rt_mw_pass_rule {
    const char *name;
    uint64_t hits, refusals;
} e5rt_mw_pass_rule;

typedef struct e5rt_mw_pass_note {
    const char *rule, *operation, *refused;
} e5rt_mw_pass_note;

typedef struct e5rt_mw_pass {
    const char *name, *stage, *sentence, *function;
    double seconds;
    uint64_t before, after;
    e5rt_bool changed;
    const e5rt_mw_pass_rule *rules;
    uint64_t rule_count;
    const e5rt_mw_pass_note *notes;
    uint64_t note_count;
    const char *text, *broken; /* or NULL */
} e5rt_mw_pass;

typedef void e5rt_mw_pass_report(void *user, const e5rt_mw_pass *pass);

/* `report` is called for each pass of a compilation, on its thread; NULL = none. What is fetched from a cache has none.
 *  why    the operation that notes are made of, "*" = all; NULL = none
 *  texts  not 0: steps are listed after each pass over them */
E5RT_API e5rt_error_code e5rt_mw_e5_compiler_options_set_pass_report(void *options, e5rt_mw_pass_report *report,
                                                                     void *user, const char *why,
                                                                     e5rt_bool texts); /* M */
/* Weight files, as the text spells them ("@model_path/weights/adapter.bin"), whose constants are exchanged when an
 * operation is made; compile refuses a path that it does not have, and such a constant where only a constant can be. */
E5RT_API e5rt_error_code e5rt_mw_e5_compiler_options_set_mutable_weight_paths(void *options, const char *const *paths,
                                                                              uint64_t count); /* M */

/* ---- compiler ---- */
E5RT_API e5rt_error_code e5rt_e5_compiler_create(void **out);                           /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_create_with_config(void **out, void *config); /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_release(void **compiler);                     /* A */
/* path: a model.mil, or the folder that holds one. */
E5RT_API e5rt_error_code e5rt_e5_compiler_compile(void *compiler, const char *path, void *options,
                                                  void **out_library); /* A */
E5RT_API e5rt_error_code e5rt_e5_compiler_compile_from_ir_program(void *compiler, void *program, void *options,
                                                                  void **out_library); /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_is_new_compile_required(void *compiler, const char *path, void *options,
                                                                  e5rt_bool *out);                             /* C */
E5RT_API e5rt_error_code e5rt_e5_compiler_purge_e5_bundles_for_input_model(void **compiler, const char *path); /* C */

/* ---- libraries ---- */
E5RT_API e5rt_error_code e5rt_program_library_create(void **out, const char *path);            /* A */
E5RT_API e5rt_error_code e5rt_program_library_release(void **library);                         /* A */
E5RT_API e5rt_error_code e5rt_program_library_get_num_functions(void *library, uint64_t *out); /* B */
E5RT_API e5rt_error_code e5rt_program_library_get_function_names(void *library, uint64_t count,
                                                                 const char **out_names); /* B */
E5RT_API e5rt_error_code e5rt_program_library_retain_program_function(void *library, const char *name,
                                                                      void **out);                 /* A */
E5RT_API e5rt_error_code e5rt_program_library_get_e5_bundle_path(void *library, const char **out); /* C */
E5RT_API e5rt_error_code e5rt_program_library_get_build_info(void *library, void **out);           /* C */
E5RT_API e5rt_error_code e5rt_program_library_get_function_metadata(void *library, const char *name,
                                                                    void **out);                     /* C */
E5RT_API e5rt_error_code e5rt_program_library_get_segmentation_analytics(void *library, void **out); /* C */

/* What the three above give here: a `const e5rt_mw_dictionary *` of texts, twice, and a `const e5rt_mw_analytics *`. It
 * lives as long as the library. What Espresso gives has no public form. */
typedef struct e5rt_mw_dictionary {
    const char *const *keys, *const *values;
    uint64_t count;
} e5rt_mw_dictionary;

/* Where an operation was placed. The names of the members are those of Apple's keys. */
typedef struct e5rt_mw_placement {
    const char *op_path;             /* "main/3/0/1": function, place in its block, block, place there .. */
    const char *op_type, *op_name;   /* its MIL name, the name of its first result */
    const char *selected_backend;    /* "ane" or "bnns"; of a segmenter of several devices also "mps_graph" */
    const char *backend_support;     /* that could take it, with blanks: "ane bnns" */
    const char *validation_messages; /* what the rules of the chip say of it, in lines; "" = nothing */
    double estimated_runtime; /* s; an estimate from bytes and operations at nominal rates; 0 = it takes no step */
} e5rt_mw_placement;

typedef struct e5rt_mw_analytics {
    const char *selected_backend;
    const char
        *fallback; /* why the ANE did not take the program, where the mask let the CPU do it; "" = it was not so */
    const e5rt_mw_placement *placements; /* operations but constants, in the order of the text */
    uint64_t placement_count;
} e5rt_mw_analytics;

/* "ane" or "bnns", and as `fallback` above. Both live as long as the library. */
E5RT_API e5rt_error_code e5rt_mw_program_library_get_placement(void *library, const char **out_backend,
                                                               const char **out_fallback); /* M */

/* ---- functions ---- */
E5RT_API e5rt_error_code e5rt_program_function_release(void **function); /* A */
/* Always an invalid operation, as on macOS 26: an operation is made from the function without it. */
E5RT_API e5rt_error_code e5rt_program_function_load_for_execution(void *function);         /* A */
E5RT_API e5rt_error_code e5rt_program_function_get_name(void *function, const char **out); /* B */
/* As the ports of an operation: a state is an input, an output and, in one, an inout. */
E5RT_API e5rt_error_code e5rt_program_function_get_num_extern_inputs(void *function, uint64_t *out);  /* C */
E5RT_API e5rt_error_code e5rt_program_function_get_num_extern_outputs(void *function, uint64_t *out); /* C */
E5RT_API e5rt_error_code e5rt_program_function_get_num_extern_inouts(void *function, uint64_t *out);  /* C */
E5RT_API e5rt_error_code e5rt_program_function_get_extern_input_names(void *function, uint64_t count,
                                                                      const char **out_names); /* C */
E5RT_API e5rt_error_code e5rt_program_function_get_extern_output_names(void *function, uint64_t count,
                                                                       const char **out_names); /* C */
E5RT_API e5rt_error_code e5rt_program_function_get_extern_inout_names(void *function, uint64_t count,
                                                                      const char **out_names); /* C */
E5RT_API e5rt_error_code e5rt_program_function_retain_extern_input_io_port(void *function, const char *name,
                                                                           void **out); /* C */
E5RT_API e5rt_error_code e5rt_program_function_retain_extern_output_io_port(void *function, const char *name,
                                                                            void **out); /* C */
E5RT_API e5rt_error_code e5rt_program_function_retain_input_tensor_desc(void *function, const char *name,
                                                                        void **out); /* C */
E5RT_API e5rt_error_code e5rt_program_function_retain_output_tensor_desc(void *function, const char *name,
                                                                         void **out); /* C */
E5RT_API e5rt_error_code e5rt_program_function_retain_inout_tensor_desc(void *function, const char *name,
                                                                        void **out); /* C */
E5RT_API e5rt_error_code e5rt_program_function_retain_input_surface_desc(void *function, const char *name,
                                                                         void **out); /* C */
E5RT_API e5rt_error_code e5rt_program_function_retain_output_surface_desc(void *function, const char *name,
                                                                          void **out); /* C */
E5RT_API e5rt_error_code e5rt_program_function_retain_inout_surface_desc(void *function, const char *name,
                                                                         void **out); /* C */
/* "CPU, fp32, 2 threads, OpenBLAS": how a function was compiled; lives as long as the function. */
E5RT_API e5rt_error_code e5rt_mw_program_function_get_summary(void *function, const char **out); /* M */

/* ---- options of an operation ---- */
E5RT_API e5rt_error_code e5rt_precompiled_compute_op_create_options_create(void **out, const char *path,
                                                                           const char *function); /* C */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_create_with_program_function(void **out, void *function); /* A */
E5RT_API e5rt_error_code e5rt_precompiled_compute_op_create_options_release(void **options);         /* A */
E5RT_API e5rt_error_code e5rt_precompiled_compute_op_create_options_set_operation_name(void *options,
                                                                                       const char *name); /* A */
E5RT_API e5rt_error_code e5rt_precompiled_compute_op_create_options_get_operation_name(void *options,
                                                                                       const char **out); /* C */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_set_allocate_intermediate_buffers(void *options, e5rt_bool value); /* A */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_get_allocate_intermediate_buffers(void *options, e5rt_bool *out); /* C */
E5RT_API e5rt_error_code e5rt_precompiled_compute_op_create_options_set_experimental_enable_mpsgraph_parallel_encode(
    void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_precompiled_compute_op_create_options_get_experimental_enable_mpsgraph_parallel_encode(
    void *options, e5rt_bool *out); /* C */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_set_iosurface_memory_pool_id(void *options, uint64_t value); /* C */
E5RT_API e5rt_error_code e5rt_precompiled_compute_op_create_options_get_iosurface_memory_pool_id(void *options,
                                                                                                 uint64_t *out); /* C */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_set_lazy_prepare_op_for_encode(void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_get_lazy_prepare_op_for_encode(void *options, e5rt_bool *out); /* C */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_set_override_compute_gpu_device(void *options, void *device); /* C */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_retain_override_compute_gpu_device(void *options, void **out); /* C */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_set_custom_ane_memory_provider(void *options, void *provider); /* C */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_set_experimental_disable_compile_time_mpsgraph_type_inference(
    void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_precompiled_compute_op_create_options_set_experimental_enable_gpu_quant_ops(
    void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code e5rt_precompiled_compute_op_create_options_set_experimental_enable_mps_reduced_precision(
    void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code
e5rt_precompiled_compute_op_create_options_set_experimental_mpsgraph_maximum_number_of_encoding_threads(
    void *options, uint64_t value); /* C */

/* Gives the operations that are made with these options other weights than the program's, without a compile, and all of
 * them one copy: the constants of weight file paths[i] of the text
 * (e5rt_mw_e5_compiler_options_set_mutable_weight_paths) are read from files[i], from entries at the same offsets. What
 * is not named has the program's own values. Nothing changes on failure. Espresso has set_mutable_mil_weight_paths for
 * it, whose parameters are not known. */
E5RT_API e5rt_error_code e5rt_mw_precompiled_compute_op_create_options_set_mutable_weights(void *options,
                                                                                           const char *const *paths,
                                                                                           const char *const *files,
                                                                                           uint64_t count); /* M */

/* ---- operations ---- */
E5RT_API e5rt_error_code
e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options(void **out, void *options); /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_create_precompiled_compute_operation(
    void **out, const char *path, const char *function, const char *name, void *unknown, e5rt_bool flag); /* C */
E5RT_API e5rt_error_code
e5rt_execution_stream_operation_create_resource_sharing_precompiled_compute_operations_with_multiple_options(
    void **out, void *options, uint64_t count);                                     /* C */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_release(void **operation); /* A */
/* Only for an operation that was encoded, and after the stream was reset. */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_prepare_op_for_encode(void *operation); /* A */
/* A state of the program is an input, an output and, in one, an inout port; its name stands in all three lists. */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_get_num_inputs(void *operation, uint64_t *out);  /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_get_num_outputs(void *operation, uint64_t *out); /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_get_num_inouts(void *operation, uint64_t *out);  /* A */
/* The first `count` names, in the order of the program; a larger count is out of bounds. They live as long as the
 * operation. */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_get_input_names(void *operation, uint64_t count,
                                                                         const char **out_names); /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_get_output_names(void *operation, uint64_t count,
                                                                          const char **out_names); /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_get_inout_names(void *operation, uint64_t count,
                                                                         const char **out_names);       /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_get_opname(void *operation, const char **out); /* C */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_retain_input_port(void *operation, const char *name,
                                                                           void **out_port); /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_retain_output_port(void *operation, const char *name,
                                                                            void **out_port); /* A */
/* What is bound here is where the state is read and where its next value goes. */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_retain_inout_port(void *operation, const char *name,
                                                                           void **out_port); /* A */
/* Frozen once the operation is encoded; what was bound before is replaced. */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_bind_completion_event(void *operation, void *event); /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_bind_dependent_events(void *operation, void **events,
                                                                               uint64_t count); /* A */
/* Further handles, which the caller releases; refused if no completion event is bound. */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_retain_completion_event(void *operation, void **out); /* C */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_get_dependent_event_count(void *operation,
                                                                                   uint64_t *out); /* C */
/* out_events: room for as many as the count says. */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_retain_dependent_events(void *operation,
                                                                                 void **out_events); /* C */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_reshape_operation(void *operation, void *a, void *b,
                                                                           void *c); /* C */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_serialize_inference_frame_data(void *operation, const char *a,
                                                                                        const char *b,
                                                                                        e5rt_bool c); /* C */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_serialize_inference_frame_data_per_segment(
    void *operation, const char *a, const char *b, e5rt_bool c); /* C */
/* From the next run on, keeps the times of the newest `runs` runs of an encoded operation; 0 = off. What was kept is
 * dropped. */
E5RT_API e5rt_error_code e5rt_mw_execution_stream_operation_set_profiling(void *operation, uint64_t runs); /* M */

/* ---- configuration of an operation ---- */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_config_options_create(void **out);      /* C */
E5RT_API e5rt_error_code e5rt_execution_stream_operation_config_options_release(void **options); /* C */
E5RT_API e5rt_error_code
e5rt_execution_stream_operation_config_options_set_prewire_model_memory(void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code
e5rt_execution_stream_operation_config_options_get_prewire_model_memory(void *options, e5rt_bool *out); /* C */

/* ---- ports ---- */
/* Refused once the operation is encoded. */
E5RT_API e5rt_error_code e5rt_io_port_bind_buffer_object(void *port, void *buffer);   /* A */
E5RT_API e5rt_error_code e5rt_io_port_bind_surface_object(void *port, void *surface); /* A */
E5RT_API e5rt_error_code e5rt_io_port_bind_memory_object(void *port, void *memory);   /* C */
E5RT_API e5rt_error_code e5rt_io_port_release(void **port);                           /* A */
E5RT_API e5rt_error_code e5rt_io_port_is_tensor(void *port, e5rt_bool *out);          /* A */
E5RT_API e5rt_error_code e5rt_io_port_is_surface(void *port, e5rt_bool *out);         /* A */
E5RT_API e5rt_error_code e5rt_io_port_is_dynamic(void *port, e5rt_bool *out);         /* C */
E5RT_API e5rt_error_code e5rt_io_port_has_known_shape(void *port, e5rt_bool *out);    /* C */
E5RT_API e5rt_error_code e5rt_io_port_retain_tensor_desc(void *port, void **out);     /* A */
E5RT_API e5rt_error_code e5rt_io_port_retain_surface_desc(void *port, void **out);    /* A */
/* What is bound to the port; an invalid operation if nothing is. */
E5RT_API e5rt_error_code e5rt_io_port_retain_buffer_object(void *port, void **out);  /* A */
E5RT_API e5rt_error_code e5rt_io_port_retain_memory_object(void *port, void **out);  /* C */
E5RT_API e5rt_error_code e5rt_io_port_retain_surface_object(void *port, void **out); /* C */
/* The numbers live for ever. */
E5RT_API e5rt_error_code e5rt_io_port_get_supported_buffer_types(void *port, uint64_t *out_count,
                                                                 const uint32_t **out_types); /* C */

/* ---- buffers ---- */
/* type 0, 1 or 2; type 0 has a plain data pointer. */
E5RT_API e5rt_error_code e5rt_buffer_object_alloc(void **out, uint64_t size, uint32_t type);                 /* A */
E5RT_API e5rt_error_code e5rt_buffer_object_release(void **buffer);                                          /* A */
E5RT_API e5rt_error_code e5rt_buffer_object_get_data_ptr(void *buffer, void **out);                          /* A */
E5RT_API e5rt_error_code e5rt_buffer_object_get_size(void *buffer, uint64_t *out);                           /* A */
E5RT_API e5rt_error_code e5rt_buffer_object_get_type(void *buffer, uint32_t *out);                           /* B */
E5RT_API e5rt_error_code e5rt_buffer_object_create_from_iosurface(void **out, void *surface);                /* A */
E5RT_API e5rt_error_code e5rt_buffer_object_create_from_data_pointer(void **out, void *data, uint64_t size); /* B */
E5RT_API e5rt_error_code e5rt_buffer_object_create_from_mtlbuffer(void **out, void *buffer);                 /* B */
/* `size` bytes of the parent from `offset` on, out of bounds if it has not that many. It keeps the memory, so the
 * parent may be released before. Espresso's order of the two numbers is inferred. */
E5RT_API e5rt_error_code e5rt_buffer_object_create_as_alias(void **out, void *parent, uint64_t offset,
                                                            uint64_t size);          /* C */
E5RT_API e5rt_error_code e5rt_buffer_object_get_iosurface(void *buffer, void **out); /* A */
E5RT_API e5rt_error_code e5rt_buffer_object_get_mtlbuffer(void *buffer, void **out); /* B */

/* The first `size` bytes of shared memory (memfd_create, shm_open; a file that may be mapped and written): what
 * IOSurfaces are for on a Mac. `fd` is duplicated. The memory has to stay that long. Two buffers of one memory have two
 * addresses, so the engine does not see that they are one: to ports that share, bind one buffer or parts of one. */
E5RT_API e5rt_error_code e5rt_mw_buffer_object_create_from_shared_memory(void **out, int fd, uint64_t size); /* M */
/* The descriptor, which the buffer closes; an invalid operation if it was not made so. */
E5RT_API e5rt_error_code e5rt_mw_buffer_object_get_shared_memory(void *buffer, int *out); /* M */

/* ---- memory objects ---- */
/* As buffers, of which they are another name; the handles of the two are not exchangeable. */
E5RT_API e5rt_error_code e5rt_memory_object_create(void **out, uint64_t size, uint32_t type); /* C */
E5RT_API e5rt_error_code e5rt_memory_object_create_as_alias(void **out, void *parent, uint64_t offset,
                                                            uint64_t size);                   /* C */
E5RT_API e5rt_error_code e5rt_memory_object_create_from_iosurface(void **out, void *surface); /* C */
E5RT_API e5rt_error_code e5rt_memory_object_get_data_ptr(void *memory, void **out);           /* C */
E5RT_API e5rt_error_code e5rt_memory_object_get_iosurface(void *memory, void **out);          /* C */
E5RT_API e5rt_error_code e5rt_memory_object_get_size(void *memory, uint64_t *out);            /* C */
E5RT_API e5rt_error_code e5rt_memory_object_release(void **memory);                           /* C */

/* ---- descriptions of tensors ---- */
E5RT_API e5rt_error_code e5rt_tensor_desc_create(void **out, const uint64_t *shape, uint64_t rank, void *dtype); /* C */
/* Strides in elements, none negative; 0 repeats. */
E5RT_API e5rt_error_code e5rt_tensor_desc_create_with_strides(void **out, const uint64_t *shape, const int64_t *strides,
                                                              uint64_t rank, void *dtype); /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_create_with_alignments(void **out, const uint64_t *shape,
                                                                 const uint64_t *alignments, uint64_t rank,
                                                                 void *dtype);              /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_create_from_operand_desc(void **out, void *desc); /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_create_memory_object(void *desc, uint32_t type, uint64_t alignment,
                                                               void **out); /* C */
/* The part of a dimension from range[0] to before range[1], in the memory of the whole; what Espresso takes the two
 * numbers for is inferred. */
E5RT_API e5rt_error_code e5rt_tensor_desc_create_slice(void *desc, uint64_t dimension, const uint64_t *range,
                                                       void **out); /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_release(void **desc);     /* A */
/* A buffer of that size; alignment: a power of two. */
E5RT_API e5rt_error_code e5rt_tensor_desc_alloc_buffer_object(void *desc, uint32_t type, uint64_t alignment,
                                                              void **out); /* A */
/* The numbers live as long as the description. Strides are in elements, row-major. */
E5RT_API e5rt_error_code e5rt_tensor_desc_get_shape(void *desc, uint64_t *out_rank, const uint64_t **out_shape); /* A */
E5RT_API e5rt_error_code e5rt_tensor_desc_get_strides(void *desc, uint64_t *out_rank,
                                                      const int64_t **out_strides); /* A */
E5RT_API e5rt_error_code e5rt_tensor_desc_get_rank(void *desc, uint64_t *out);      /* C */
/* Bytes from the start of the memory to behind the last element; 0 without elements. */
E5RT_API e5rt_error_code e5rt_tensor_desc_get_size(void *desc, uint64_t *out);         /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_get_num_elements(void *desc, uint64_t *out); /* C */
/* Of the element with that index, from the start of the memory. */
E5RT_API e5rt_error_code e5rt_tensor_desc_get_byte_offset(void *desc, const uint64_t *index, uint64_t rank,
                                                          uint64_t *out);                                      /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_get_dimension_length(void *desc, uint64_t dimension, uint64_t *out); /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_get_dimension_stride(void *desc, uint64_t dimension, int64_t *out);  /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_has_known_shape(void *desc, e5rt_bool *out);                         /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_retain_dtype(void *desc, void **out);                                /* A */

/* ---- element types ---- */
/* Element types of the engine's descriptions: the codes of the descriptors that the ane-guide, table 23.12, found. */
typedef enum e5rt_mw_component {
    E5RT_MW_UINT8 = 1,
    E5RT_MW_INT8 = 2,
    E5RT_MW_FLOAT16 = 3,
    E5RT_MW_FLOAT32 = 4,
    E5RT_MW_INT16 = 5,
    E5RT_MW_UINT16 = 6,
    E5RT_MW_INT32 = 7,
    E5RT_MW_UINT32 = 8,
    E5RT_MW_INT64 = 9,
    E5RT_MW_UINT64 = 10,
    E5RT_MW_BOOL = 256,   /* not in that table: a byte */
    E5RT_MW_FLOAT64 = 257 /* nor this */
} e5rt_mw_component;
/* component: the code of an element type, here one of E5RT_MW_COMPONENT; pack: 1. Espresso's codes are not published.
 */
E5RT_API e5rt_error_code e5rt_tensor_desc_dtype_create(void **out, uint32_t component, uint32_t pack); /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_dtype_release(void **dtype);                                 /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_dtype_are_equal(void *a, void *b, e5rt_bool *out);           /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_dtype_get_component_dtype(void *dtype, uint32_t *out);       /* A */
E5RT_API e5rt_error_code e5rt_tensor_desc_dtype_get_element_size(void *dtype, uint64_t *out);          /* A */
E5RT_API e5rt_error_code e5rt_tensor_desc_dtype_get_component_size(void *dtype, uint64_t *out);        /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_dtype_get_component_pack(void *dtype, uint32_t *out);        /* C */
E5RT_API e5rt_error_code e5rt_tensor_desc_dtype_get_num_components(void *dtype, unsigned char *out);   /* C */
/* 1 if dtype_create makes it, else 0. */
E5RT_API e5rt_error_code e5rt_tensor_desc_dtype_validate_spec(uint32_t component, uint32_t pack,
                                                              unsigned char *out); /* C */

/* ---- tensors in memory ---- */

/* ---- descriptions of operands ---- */
/* An operand is described by another handle of a tensor's description. */
E5RT_API e5rt_error_code e5rt_operand_desc_is_surface_desc(void *desc, e5rt_bool *out);      /* C */
E5RT_API e5rt_error_code e5rt_operand_desc_is_tensor_desc(void *desc, e5rt_bool *out);       /* C */
E5RT_API e5rt_error_code e5rt_operand_desc_release(void **desc);                             /* C */
E5RT_API e5rt_error_code e5rt_operand_desc_retain_from_surface_desc(void **out, void *desc); /* C */
E5RT_API e5rt_error_code e5rt_operand_desc_retain_from_tensor_desc(void **out, void *desc);  /* C */

/* ---- surfaces ---- */
E5RT_API e5rt_error_code e5rt_surface_desc_create(void **out, uint32_t format, uint64_t width, uint64_t height); /* C */
E5RT_API e5rt_error_code e5rt_surface_desc_create_from_operand_desc(void **out, void *desc);                     /* C */
E5RT_API e5rt_error_code e5rt_surface_desc_get_width(void *desc, uint64_t *out);                                 /* A */
E5RT_API e5rt_error_code e5rt_surface_desc_get_height(void *desc, uint64_t *out);                                /* A */
E5RT_API e5rt_error_code e5rt_surface_desc_release(void **desc);                                                 /* C */
E5RT_API e5rt_error_code e5rt_surface_format_to_cvpb_4cc(uint32_t format, uint32_t *out);                        /* C */
E5RT_API e5rt_error_code e5rt_cvpb_4cc_to_surface_format(uint32_t code, uint32_t *out);                          /* C */
E5RT_API e5rt_error_code e5rt_surface_object_alloc(void **out, void *desc, uint32_t type);                       /* C */
E5RT_API e5rt_error_code e5rt_surface_object_create_from_iosurface(void **out, void *surface);                   /* A */
E5RT_API e5rt_error_code e5rt_create_surface_object_from_iosurface(void **out, void *surface);                   /* C */
E5RT_API e5rt_error_code e5rt_surface_object_get_iosurface(void *surface, void **out);                           /* C */
E5RT_API e5rt_error_code e5rt_surface_object_release(void **surface);                                            /* A */

/* ---- streams and events ---- */
/* A stream runs its operations in the order in which they were encoded. execute_sync does so on the caller's thread,
 * whatever events are bound, and signals none. A submission is one such run by the request queue of the process, whose
 * thread the first one starts. There events count: they are 64-bit values that only grow.
 *
 *   - A submission takes the values of its events when it is made, operation by operation. Of a dependent event that is
 *     the active future value. To the completion event it gives one: the active future value, if that was set and is
 *     above all that are given or signaled, else the next, which then is the active future value.
 *   - An operation starts when those before it in the stream are done and each dependent event was signaled the value
 *     taken, or a greater one. When it is done, its completion event is signaled the value given.
 *   - So what waits for work that is submitted later, or for the host, sets the active future value first. What nobody
 *     ever signals is waited for without end; a timeout ends that.
 *   - What is given up (a timeout, the release of its stream, a dependent event of which the value was given up)
 *     signals nothing, and who waits for its value is told.
 *
 * Of several streams whose next operation may start, the one with the smaller priority goes first, then the greater
 * quality of service, then the older submission; on the queue one operation runs at a time. At most 127 submissions of
 * a stream are in flight, and the next waits for room. Buffers belong to the queue until their submission has ended.
 *
 * A completion is called once, on the thread of the queue, with its submission no longer in flight and its events
 * signaled: it may submit, encode, reset and release, and must not wait for work of the queue, which is refused there.
 * A failed submit calls none, nor does the end of the process.
 *
 * With MW_ENGINE_STREAMS=unsound, operations for the ANE show what ANEForge's authors saw on Macs: while a stream is in
 * flight, submissions of others run but signal nothing and call no completion, unless their stream has low-latency
 * events (enable_low_latency_async_events); a timeout alone ends the wait. */
E5RT_API e5rt_error_code e5rt_execution_stream_create(void **out); /* A */
/* Waits until what is in flight has ended and its completions were called. What waits for an event is given up as soon
 * as nothing in flight can signal it. In a completion it returns at once, and the rest is given up afterwards. */
E5RT_API e5rt_error_code e5rt_execution_stream_release(void **stream); /* A */
/* Refused on a fresh stream, and while work is in flight. Takes all operations off it. */
E5RT_API e5rt_error_code e5rt_execution_stream_reset(void *stream); /* A */
/* Freezes what is bound to the operation. Refused while work of the stream is in flight. */
E5RT_API e5rt_error_code e5rt_execution_stream_encode_operation(void *stream, void *operation); /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_encode_workload(void *stream, void *workload);   /* C */
/* Runs the encoded operations in order and returns when they are done; what the stream has in flight runs before. */
E5RT_API e5rt_error_code e5rt_execution_stream_execute_sync(void *stream);                  /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_step_execute_sync(void *stream, void *step); /* C */
/* block: void (^)(uint64_t stream, uint64_t request, int status) or one with fewer arguments; a copy of it is called
 * and released. NULL, at which Espresso crashes, is refused. */
E5RT_API e5rt_error_code e5rt_execution_stream_submit_async(void *stream, const void *block); /* A */
/* What has not started `timeout` ns after the call, above 0, is given up, with status E5RT_MW_TIMED_OUT; an operation
 * that runs is not stopped. UINT64_MAX: no timeout. */
E5RT_API e5rt_error_code e5rt_execution_stream_submit_async_with_timeout(void *stream, const void *block,
                                                                         uint64_t timeout); /* C */
/* Without a completion: events tell, or the last completed request. */
E5RT_API e5rt_error_code e5rt_execution_stream_async_submit(void *stream); /* C */
/* The same for plain C; in `done`, e5rt_get_last_error_message tells why the status is not 0. */
E5RT_API e5rt_error_code e5rt_mw_execution_stream_submit_async(void *stream,
                                                               void (*done)(void *user, e5rt_error_code status),
                                                               void *user); /* M */
E5RT_API e5rt_error_code e5rt_mw_execution_stream_submit_async_with_timeout(
    void *stream, void (*done)(void *user, e5rt_error_code status), void *user, uint64_t timeout); /* M */
/* Any number; Apple's classes are 9, 17, 21 (here the default), 25 and 33, a greater one first. */
E5RT_API e5rt_error_code e5rt_execution_stream_set_quality_of_service(void *stream, uint32_t quality); /* A */
/* Any number; Core ML uses 2 .. 7, a smaller one first; here the default is 5. */
E5RT_API e5rt_error_code e5rt_execution_stream_set_ane_execution_priority(void *stream, uint32_t priority); /* A */
E5RT_API e5rt_error_code e5rt_execution_stream_prewire_in_use_allocations(void *stream);                    /* C */
/* Refused while work is in flight. */
E5RT_API e5rt_error_code e5rt_execution_stream_set_config_options(void *stream, void *options); /* B */
E5RT_API e5rt_error_code e5rt_execution_stream_reset_config_options(void *stream);              /* C */
/* Above 0, and of this stream alone. */
E5RT_API e5rt_error_code e5rt_execution_stream_get_stream_id(void *stream, uint64_t *out); /* B */
/* Requests are numbered over all streams, from 1; 0 = the stream has submitted nothing, or nothing has ended. */
E5RT_API e5rt_error_code
e5rt_execution_stream_get_internal_async_compute_request_id_for_last_submit(void *stream, uint64_t *out);     /* C */
E5RT_API e5rt_error_code e5rt_mw_execution_stream_get_last_completed_request_id(void *stream, uint64_t *out); /* M */
/* Submissions of the process: made, ended well, given up. */
E5RT_API e5rt_error_code e5rt_mw_async_get_counts(uint64_t *out_submitted, uint64_t *out_completed,
                                                  uint64_t *out_given_up); /* M */

/* value: the first last signaled value. */
E5RT_API e5rt_error_code e5rt_async_event_create(void **out, const char *name, uint32_t value); /* A */
E5RT_API e5rt_error_code e5rt_async_event_create_from_iosurface_shared_event(void **out, const char *name,
                                                                             void *event); /* C */
/* What is bound stays bound. */
E5RT_API e5rt_error_code e5rt_async_event_release(void **event);                   /* A */
E5RT_API e5rt_error_code e5rt_async_event_get_name(void *event, const char **out); /* B: lives as long as the event */
E5RT_API e5rt_error_code e5rt_async_event_get_iosurface_shared_event(void *event, void **out);   /* C */
E5RT_API e5rt_error_code e5rt_async_event_async_notify(void **event, void *a, void *b, void *c); /* D */
/* A smaller value than the last is refused, as are values above 2^63 - 1, here and below. */
E5RT_API e5rt_error_code e5rt_async_event_signal(void *event, uint64_t value);                 /* A */
E5RT_API e5rt_error_code e5rt_async_event_get_last_signaled_value(void *event, uint64_t *out); /* A */
/* A smaller value than the one it has is refused. */
E5RT_API e5rt_error_code e5rt_async_event_set_active_future_value(void *event, uint64_t value); /* A */
E5RT_API e5rt_error_code e5rt_async_event_get_active_future_value(void *event, uint64_t *out);  /* B */
/* Returns when the work that was submitted to complete the event has; at once if none is in flight. Refused if it was
 * given up. One argument, as ANEForge calls it. */
E5RT_API e5rt_error_code e5rt_async_event_sync_wait(void *event); /* B */
/* The same for a value, whoever signals it, and for `timeout` ns: 0 only looks, UINT64_MAX has no end. */
E5RT_API e5rt_error_code e5rt_mw_async_event_wait(void *event, uint64_t value, uint64_t timeout); /* M */

/* ---- configuration of a stream ---- */
E5RT_API e5rt_error_code e5rt_execution_stream_config_options_create(void **out);      /* B */
E5RT_API e5rt_error_code e5rt_execution_stream_config_options_release(void **options); /* B */
E5RT_API e5rt_error_code
e5rt_execution_stream_config_options_set_enable_concurrent_sync_execution(void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code
e5rt_execution_stream_config_options_get_enable_concurrent_sync_execution(void *options, e5rt_bool *out); /* C */
E5RT_API e5rt_error_code
e5rt_execution_stream_config_options_set_enable_low_latency_async_events(void *options, e5rt_bool value); /* C */
E5RT_API e5rt_error_code
e5rt_execution_stream_config_options_get_enable_low_latency_async_events(void *options, e5rt_bool *out); /* C */
E5RT_API e5rt_error_code e5rt_execution_stream_config_options_set_skip_io_fences(void *options,
                                                                                 e5rt_bool value);               /* C */
E5RT_API e5rt_error_code e5rt_execution_stream_config_options_get_skip_io_fences(void *options, e5rt_bool *out); /* C */

/* ---- devices ---- */
E5RT_API e5rt_error_code e5rt_ane_memory_provider_create(void *a, void *b);                        /* D */
E5RT_API e5rt_error_code e5rt_ane_memory_provider_release(void **provider);                        /* C */
E5RT_API e5rt_error_code e5rt_compute_gpu_device_get_mtl_device(void *device, void **out);         /* C */
E5RT_API e5rt_error_code e5rt_compute_gpu_device_release(void **device);                           /* C */
E5RT_API e5rt_error_code e5rt_compute_gpu_device_retain_all(void **out, uint64_t *out_count);      /* C */
E5RT_API e5rt_error_code e5rt_compute_gpu_device_retain_from_mtl_device(void **out, void *device); /* C */

/* ---- messages, memory, threads ---- */
/* Text of the calling thread's last failure; valid until its next e5rt call. */
E5RT_API const char *e5rt_get_last_error_message(void); /* A */
/* Process-wide: what the engine allocates with from now on; NULL = the C library's heap. For tests and embedders,
 * before the first other call. `resize` as in millwright/status.h. */
E5RT_API e5rt_error_code e5rt_mw_set_allocator(void *(*resize)(void *user, void *pointer, size_t size),
                                               void *user); /* M */

/* Process-wide: who starts and joins the engine's threads, "mw team N" and "mw queue"; both NULL = the system. What
 * they must do, and what this call does, is said of mw_thread_hooks in millwright/status.h. A process of which the
 * engine knows nothing else yet may still fork. */
E5RT_API e5rt_error_code e5rt_mw_set_thread_hooks(bool (*start)(void *user, const char *name,
                                                                void *(*run)(void *argument), void *argument,
                                                                void **out_thread),
                                                  void (*join)(void *user, void *thread), void *user); /* M */

/* ---- plans ---- */
/* How an encoded operation runs, as data. Everything lives as long as the plan; indices count from 0. */
enum { E5RT_MW_PLAN_VERSION = 2 };

typedef enum e5rt_mw_buffer_kind {
    E5RT_MW_BUFFER_INPUT = 0,
    E5RT_MW_BUFFER_OUTPUT = 1,
    E5RT_MW_BUFFER_CONSTANT = 2,
    E5RT_MW_BUFFER_INTERMEDIATE = 3
} e5rt_mw_buffer_kind;

typedef struct e5rt_mw_buffer {
    const char *name; /* of the MIL value; "" = a temporary */
    e5rt_mw_buffer_kind kind;
    uint64_t size, offset;          /* bytes; the offset is that in the memory of the intermediates */
    uint64_t memory;                /* buffers of one number share their memory */
    uint64_t first_step, last_step; /* that touch it; first > last: none does */
    uint64_t first_phase, last_phase;
} e5rt_mw_buffer;

typedef struct e5rt_mw_access {
    uint64_t buffer, size; /* size: bytes touched */
} e5rt_mw_access;

typedef struct e5rt_mw_mil_operation {
    const char *kind, *name; /* of the operation and of its first result */
} e5rt_mw_mil_operation;

typedef struct e5rt_mw_step {
    const char *label;          /* of the kernel */
    const char *implementation; /* which of its ways, "avx512"; "" = it has one */
    const char *declined;       /* why those before it were not taken, "avx512: few outputs; .."; "" = none was */
    uint64_t phase, partitions;
    uint64_t units; /* independent parts, which the partitions share */
    const e5rt_mw_mil_operation *operations;
    const e5rt_mw_access *reads, *writes;
    uint64_t operation_count, read_count, write_count;
    uint64_t bytes_read, bytes_written;
    double flops; /* negative: unknown */
} e5rt_mw_step;

/* A partition's share of a step. */
typedef struct e5rt_mw_task {
    uint64_t step, partition;
} e5rt_mw_task;

typedef struct e5rt_mw_span {
    uint64_t begin, end; /* ns on a clock that never goes back */
} e5rt_mw_span;

typedef struct e5rt_mw_run {
    uint64_t number; /* from 0 since profiling was switched on */
    e5rt_mw_span span;
    uint64_t threads; /* partition l ran on thread l % threads */
    const e5rt_mw_span *tasks;
} e5rt_mw_run;

typedef struct e5rt_mw_plan {
    uint64_t version;
    const char *summary;
    uint64_t partitions, phase_count;
    uint64_t team;                 /* 0: too little work to wake other threads; one runs all partitions */
    const e5rt_mw_buffer *buffers; /* ports, and what a step touches */
    const e5rt_mw_step *steps;     /* in the order in which they run */
    const e5rt_mw_task *tasks;     /* in the order of phases, partitions, steps */
    const e5rt_mw_run *runs;       /* that the profile kept, oldest first */
    uint64_t buffer_count, step_count, task_count, run_count;
    uint64_t runs_profiled;                   /* kept or not */
    uint64_t intermediate_size, scratch_size; /* bytes: the peak of intermediates, and what kernels work in */
} e5rt_mw_plan;

/* The plan of an encoded operation and a copy of what its profile holds now; lives on without the operation. */
E5RT_API e5rt_error_code e5rt_mw_plan_create(void **out, void *operation);            /* M */
E5RT_API e5rt_error_code e5rt_mw_plan_release(void **plan);                           /* M */
E5RT_API e5rt_error_code e5rt_mw_plan_get_data(void *plan, const e5rt_mw_plan **out); /* M */

#ifdef __cplusplus
}
#endif
#endif
