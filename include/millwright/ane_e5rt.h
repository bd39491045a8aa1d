/* The C ABI of the dispatch layer: compile a model.mil once, run it many times, on e5rt.
 *
 *     ane_e5rt_program_t *program = ane_e5rt_program_compile("m/model.mil", "m", 4, in, in_size, 1, out, out_size, 1);
 *     ane_e5rt_program_set_input_fp16(program, "x", x, 64);
 *     ane_e5rt_program_execute(program);
 *     ane_e5rt_program_get_output_fp16(program, "y", y, 64);
 *     ane_e5rt_program_release(program);
 *
 * Names and signatures are those of the dispatch library that ANEForge's documents describe, so that its callers run on
 * this one; size checks, ane_e5rt_last_error and ane_e5rt_set_quiet are ours. Functions return 0 for success and -1 for
 * failure, and print the reason of a failure as one line on standard error, where those callers look for it:
 * "ane_e5rt_program_execute: the program is NULL". ane_e5rt_set_quiet or the environment variable MW_ANE_E5RT_QUIET
 * switches that off.
 *
 * Threads: calls on one program come one at a time, from any thread; different programs may be used at the same time.
 * ane_e5rt_last_error is that of the calling thread. */
#ifndef MILLWRIGHT_ANE_E5RT_H
#define MILLWRIGHT_ANE_E5RT_H

#include <millwright/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ane_e5rt_program ane_e5rt_program_t;

/** Compiles function "main" of a MIL file and binds a zeroed buffer to each port.
 *  mil_path      the text; BLOBFILE paths are relative to its folder
 *  cache_dir     where the library may cache; NULL = its own place, on the engine nowhere. The engine takes from there
 *                what was compiled before (docs/cache.md); Espresso compiles anew
 *  device_mask   1 CPU, 2 GPU, 4 ANE
 *  *_names       port names, which are MIL value names; `*_sizes` in bytes; less than the port has is refused
 *  return        NULL on failure; ane_e5rt_last_error tells why */
MW_API ane_e5rt_program_t *ane_e5rt_program_compile(const char *mil_path, const char *cache_dir, uint64_t device_mask,
                                                    const char *const *input_names, const size_t *input_sizes,
                                                    size_t n_inputs, const char *const *output_names,
                                                    const size_t *output_sizes, size_t n_outputs);

/** Copies `n_elems` 16-bit elements into an input of operation 0; fails if they exceed its size. */
MW_API int ane_e5rt_program_set_input_fp16(ane_e5rt_program_t *program, const char *port, const uint16_t *data,
                                           size_t n_elems);

/** Runs all operations once, in the order of their indices, and waits. The first call encodes them, after which
 *  bindings are frozen until ane_e5rt_program_add_op. */
MW_API int ane_e5rt_program_execute(ane_e5rt_program_t *program);

/** Copies `n_elems` 16-bit elements out of an output of operation 0. If the port has fewer, copies those, leaves the
 *  rest of `dest` alone and succeeds. */
MW_API int ane_e5rt_program_get_output_fp16(ane_e5rt_program_t *program, const char *port, uint16_t *dest,
                                            size_t n_elems);

/** Frees the program. NULL is fine. */
MW_API void ane_e5rt_program_release(ane_e5rt_program_t *program);

/** The buffer behind a port of operation 0, for use without copies; valid until release (or until a share_buffer
 *  replaces it). */
MW_API int ane_e5rt_program_input_buffer(ane_e5rt_program_t *program, const char *port, void **out_data,
                                         size_t *out_size);
MW_API int ane_e5rt_program_output_buffer(ane_e5rt_program_t *program, const char *port, void **out_data,
                                          size_t *out_size);

/* ---- several operations, run in one go ---- */

/** Compiles another MIL file, with the cache folder (its folder "op1", "op2", ..) and the mask of the program, as its
 *  last operation with one input and one output. Thaws the bindings of all operations; buffers keep their contents.
 *  return  its index, from 1; -1 on failure, after which the program is as before */
MW_API int ane_e5rt_program_add_op(ane_e5rt_program_t *program, const char *mil_path, const char *input_name,
                                   size_t input_size, const char *output_name, size_t output_size);

/** How many operations there are; 0 if the program is NULL. */
MW_API size_t ane_e5rt_program_get_op_count(ane_e5rt_program_t *program);

/** As those without "_op", for the ports of any operation. */
MW_API int ane_e5rt_program_set_input_fp16_op(ane_e5rt_program_t *program, size_t op_idx, const char *port,
                                              const uint16_t *data, size_t n);
MW_API int ane_e5rt_program_get_output_fp16_op(ane_e5rt_program_t *program, size_t op_idx, const char *port,
                                               uint16_t *dest, size_t n);

/** The same as ane_e5rt_program_execute. */
MW_API int ane_e5rt_program_execute_multi(ane_e5rt_program_t *program);

/** Binds the buffer of an output port also to an input port: of the same operation, whose state it then keeps, or of
 *  another one. Before the first execute, or after add_op, only. What the input held is lost: seed it afterwards. The
 *  input's size is then the larger of the two. Element types are not compared. Fails if the memory of the output, its
 *  size rounded up to 64 bytes, does not cover the input.
 *  src_op_idx, dst_op_idx  operation indices in order of ane_e5rt_program_add_op; 0 is the compiled one */
MW_API int ane_e5rt_program_share_buffer(ane_e5rt_program_t *program, size_t src_op_idx, const char *src_out_port,
                                         size_t dst_op_idx, const char *dst_in_port);

/** Puts a port into memory that processes share (memfd_create, shm_open), of at least the port's size, so that a worker
 *  that has compiled the program is fed by others and answers them without a copy. On the engine; a Mac has IOSurfaces
 *  for that. When it may be called, and what becomes of the data: as share_buffer. The descriptor is duplicated, and
 *  the memory must keep its size as long as the program lives. To one memory bind one port, and share that. */
MW_API int ane_e5rt_program_bind_input_memory(ane_e5rt_program_t *program, size_t op_idx, const char *port, int fd);
MW_API int ane_e5rt_program_bind_output_memory(ane_e5rt_program_t *program, size_t op_idx, const char *port, int fd);

/** Lets an operation wait for the completion event of one before it. Every operation has an event of its own;
 *  `event_name` is used only if it could not be made before, and may be NULL. When it may be called: as share_buffer.
 *  Operations on one stream run in order anyway. */
MW_API int ane_e5rt_program_chain_ops(ane_e5rt_program_t *program, size_t src_op_idx, size_t dst_op_idx,
                                      const char *event_name);

/** The value that the completion event of an operation was last signaled with; it counts asynchronous runs and not
 *  those of execute. *out is 0 on failure. */
MW_API int ane_e5rt_program_get_chain_event_last_signaled(ane_e5rt_program_t *program, size_t op_idx, uint64_t *out);

/* ---- runs that are not waited for ---- */

/** Submits all operations and returns at once. Until they are waited for their buffers belong to the device: do not
 *  read or write ports. More may be submitted meanwhile; they run one after the other. Events are signaled: that of
 *  each operation counts the runs. */
MW_API int ane_e5rt_program_execute_async(ane_e5rt_program_t *program);

/** Waits for all that was submitted. ane_e5rt_program_release does, too.
 *  return  0; -1 if the last run did not end well, -2 if nothing was submitted since the last wait */
MW_API int ane_e5rt_program_wait_for_completion(ane_e5rt_program_t *program);

/** The last signaled value of the event of the last operation: before the last submission, and now. Either may be
 *  NULL; 0 on failure. */
MW_API int ane_e5rt_program_get_final_event_signaled(ane_e5rt_program_t *program, uint64_t *before, uint64_t *after);

/** rc: 0, or elsewhere than on a Mac what the e5rt library says of the submission. */
typedef void (*ane_e5rt_completion_cb_t)(void *ctx, int rc);

/** A block of Apple's C for e5rt_execution_stream_submit_async, which calls cb(ctx, rc) when the submission has ended.
 *  return  freed with ane_e5rt_free_completion_block, at any time after it was submitted; NULL if cb is NULL */
MW_API void *ane_e5rt_make_completion_block(ane_e5rt_completion_cb_t cb, void *ctx);
/** NULL is fine. */
MW_API void ane_e5rt_free_completion_block(void *block);

/* ---- checks and messages ---- */

/** Compiles without making a program.
 *  custom_opts  passed to set_custom_ane_compiler_options, e.g. "TargetArchitecture=h13"; NULL = none. With mask 4
 *               the engine holds the program, as it stands, to the limits of that architecture ("h11" to "h18",
 *               "h13g" and the like; docs/chip_legality.md), and refuses a name that is none; other keys it ignores
 *  return       0 if it compiles, -1 on a general failure, -2 if the option symbol is absent, else the e5rt code */
MW_API int ane_e5rt_compile_check(const char *mil_path, const char *cache_dir, uint64_t device_mask,
                                  const char *custom_opts);

/** Why the calling thread's last ane_e5rt call failed, "" if it did not; valid until its next ane_e5rt call. */
MW_API const char *ane_e5rt_last_error(void);

/** Switches the lines on standard error off (1) or on again (0), for the whole process; at first they are on, unless
 *  the environment has MW_ANE_E5RT_QUIET, not empty and not 0. May be called from any thread. */
MW_API void ane_e5rt_set_quiet(int on);

#ifdef __cplusplus
}
#endif
#endif
