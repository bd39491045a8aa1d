/* Graphs and tensors: what a program is made of before it is compiled.
 *
 *     mw_graph *graph = mw_graph_create(NULL, &err);
 *     mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(128, 784));
 *     mw_tensor *w = mw_parameter(graph, "fc.weight", MW_F32, MW_SHAPE(10, 784), mw_init_kaiming_uniform());
 *     mw_tensor *y = mw_relu(mw_matmul(x, w, MW_TRANSPOSE_Y));
 *     mw_output(y, "y");
 *     if (mw_graph_check(graph, &err) != MW_OK) ...
 *
 * A graph is a MIL program in memory. Constructors only append; nothing is computed. They take tensors of one graph and
 * return a new tensor that lives as long as the graph. The first error sticks to the graph: every later constructor
 * returns NULL, and `mw_graph_check`, compile and trainer creation report it, so that no constructor needs a check. A
 * call that is given the NULL of a failed constructor, where a tensor is needed, reports that constructor's error too.
 * Tensors of two graphs in one call are an error of both. In messages a tensor without a name is called by what made
 * it: "the result of matmul #2" is that of the second matmul.
 *
 * Threads: calls on one graph and its tensors come one at a time, from any thread; different graphs may be used at the
 * same time. */
#ifndef MILLWRIGHT_GRAPH_H
#define MILLWRIGHT_GRAPH_H

#include <millwright/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_graph mw_graph;
typedef struct mw_tensor mw_tensor;

/** Version of MIL's operator set, by the system that brought it. */
typedef enum mw_opset { MW_IOS15 = 15, MW_IOS16 = 16, MW_IOS17 = 17, MW_IOS18 = 18, MW_IOS26 = 26 } mw_opset;

/** What a new graph is made with; fill it with mw_graph_defaults. */
typedef struct mw_graph_options {
    size_t struct_size;            /* set by mw_graph_defaults */
    const mw_allocator *allocator; /* NULL = the C library's heap; must outlive the graph */
    mw_opset opset;                /* default MW_IOS18 */
} mw_graph_options;

/** Returns the default options. */
MW_API mw_graph_options mw_graph_defaults(void);

/** Returns an empty graph with one function, "main".
 *  options  NULL = mw_graph_defaults()
 *  return   owned by the caller; NULL with err set on failure
 *  errors   MW_ERROR_MEMORY; MW_ERROR_ARGUMENT for options that were not made by mw_graph_defaults, or with an unknown
 *           opset */
MW_API mw_graph *mw_graph_create(const mw_graph_options *options, mw_error *err);

/** Frees the graph and all its tensors. NULL is fine. Inside a callback of a call on the graph (the rule of a custom
 *  VJP, the report of a tuning, the log hook), the graph is freed when that call ends, and that call returns
 *  MW_ERROR_STATE.
 *
 *  Use after destroy: the library detects it for some time, if the graph is on the C library's heap. A small rest of
 *  the graph stays readable until later destroyed graphs have left 1 MiB of such rests (some 6,000 tensors). Until
 *  then, a constructor returns NULL, and sets MW_ERROR_STATE on the graphs of its other operands; a call with an
 *  error reports MW_ERROR_STATE; a query answers as for NULL. After that, or with another allocator, such a use is
 *  undefined. Destroying a graph twice does nothing (mw_trainer_destroy says for how long). */
MW_API void mw_graph_destroy(mw_graph *graph);

/** Reports the first error of any constructor, MW_OK if there was none. */
MW_API mw_status mw_graph_check(const mw_graph *graph, mw_error *err);

/* ---- names ---- */

/** Names are kept in files (checkpoints, weights), shown in messages and made into identifiers of MIL. Every call that
 *  takes one refuses, with MW_ERROR_ARGUMENT, what could not be saved: a name is 1 to MW_NAME_MAX bytes of valid UTF-8
 *  without control characters (U+0000 to U+001F, U+007F), and not "__metadata__", which safetensors files keep for
 *  themselves. What the library appends to a name (the part of a layer, the state of an optimizer) counts. */
#define MW_NAME_MAX 1000

/* ---- leaves ---- */

/** A tensor that the host feeds at each run.
 *  name    unique in the graph; also the name of the port
 *  shape   MW_DIM_UNKNOWN extents (`?` in the text) get a number before the program runs: see function.h
 *  errors  MW_ERROR_ARGUMENT for a name that is repeated or no name, MW_ERROR_SHAPE for a bad extent */
MW_API mw_tensor *mw_input(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape);

/** How a parameter starts: a value that the mw_init_* functions make. Its content is the library's own, and a struct of
 *  zeros is refused. fan_in and fan_out follow PyTorch: for a weight [out, in, k..] fan_in = in * k..,
 *  fan_out = out * k..; for rank below 2 both are the element count. */
typedef struct mw_init {
    uint64_t hidden[3];
} mw_init;

/** All elements 0. */
MW_API mw_init mw_init_zeros(void);
/** All elements `value`. */
MW_API mw_init mw_init_constant(float value);
/** Uniform in [low, high). */
MW_API mw_init mw_init_uniform(float low, float high);
/** Normal, of that mean and standard deviation. */
MW_API mw_init mw_init_normal(float mean, float stddev);
/** Uniform in +-1/sqrt(fan_in): PyTorch's default for Linear and Conv (He et al. 2015 with a = sqrt(5)). */
MW_API mw_init mw_init_kaiming_uniform(void);
/** Normal with stddev sqrt(2 / fan_in) (He et al. 2015, for relu). */
MW_API mw_init mw_init_kaiming_normal(void);
/** Uniform in +-sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010). */
MW_API mw_init mw_init_xavier_uniform(void);
/** Normal with stddev sqrt(2 / (fan_in + fan_out)). */
MW_API mw_init mw_init_xavier_normal(void);
/** A copy of the dense row-major values at `data`, in the dtype of the parameter; copied by mw_parameter. */
MW_API mw_init mw_init_data(const void *data);

/** A tensor that training changes. It becomes an input whose buffer stays on the device.
 *  name    PyTorch's state-dict name, e.g. "fc1.weight"; unique in the graph
 *  dtype   MW_F32 or MW_F16
 *  init    drawn when a trainer or program is created, from Philox 4x32-10 with that object's seed and a stream per
 *          name, so that adding a parameter does not change the others */
MW_API mw_tensor *mw_parameter(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape, mw_init init);

/** A tensor that stays on the device like a parameter but is not trained: PyTorch's buffer, e.g. the running mean of a
 *  batch norm. Without mw_state_assign it is a constant that the host may write (mw_trainer_write).
 *  name    as in checkpoints, e.g. "bn1.running_mean"; unique in the graph
 *  dtype   MW_F32 or MW_F16
 *  init    as mw_parameter
 *  errors  as mw_parameter */
MW_API mw_tensor *mw_state(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape, mw_init init);

/** Says which value a state has after each training step; at most once per state. A trainer carries it out in its step
 *  if loss, metric or prediction needs the state (also if only their evaluation does); a refused step leaves the state
 *  as it was; evaluation never changes it. mw_program_create does not carry it out: the state is an input port that
 *  holds its first value; make `value` an output and join the two with mw_program_alias.
 *  value   dtype and shape of the state; no gradient flows through it into later steps
 *  return  the state
 *  errors  MW_ERROR_ARGUMENT if it is no state, of another graph or assigned before; MW_ERROR_DTYPE; MW_ERROR_SHAPE */
MW_API mw_tensor *mw_state_assign(mw_tensor *state, mw_tensor *value);

/** A constant; `data` is dense and row-major in `dtype` and is copied. */
MW_API mw_tensor *mw_constant(mw_graph *graph, mw_dtype dtype, mw_shape shape, const void *data);

/** A rank-0 constant, `value` rounded once to `dtype` (F16, F32, I32 or BOOL). */
MW_API mw_tensor *mw_scalar(mw_graph *graph, mw_dtype dtype, double value);

/* ---- naming and results ---- */

/** Names a tensor for messages, text and ports; returns it. */
MW_API mw_tensor *mw_name(mw_tensor *x, const char *name);

/** Makes x a result of the function under `name` (unique among inputs and results); returns the tensor that is the
 *  result: x itself, or an identity of it when x is an input, a constant, or a result already. */
MW_API mw_tensor *mw_output(mw_tensor *x, const char *name);

/** Returns x as a leaf for differentiation: same value, no gradient flows through it. */
MW_API mw_tensor *mw_stop_gradient(mw_tensor *x);

/** Returns a new graph with the outputs of `graph` as they are computed after training: batch norm with its running
 *  statistics, dropout as the identity, noise as MIL's random_* without a seed. What only training needs is left out,
 *  and no state is assigned. To be compiled with mw_program_create or written with mw_graph_write.
 *  return  owned by the caller, by the same allocator; NULL with err set on failure
 *  errors  the graph's own first error; MW_ERROR_ARGUMENT if it has no output */
MW_API mw_graph *mw_graph_evaluation(const mw_graph *graph, mw_error *err);

/* ---- any operation by name ---- */

/** One named argument of mw_op: `count` tensors (1 unless the argument is a tuple). */
typedef struct mw_argument {
    const char *name;
    mw_tensor *const *values;
    size_t count;
} mw_argument;

/** Appends any operation that the table knows, with its arguments by MIL's names; missing optional ones get MIL's
 *  defaults. Constant arguments are tensors made by mw_scalar or mw_constant (strings: mw_text).
 *  out_results  receives `result_count` tensors (what the operation has; fewer is an error)
 *  errors       also stick to the graph */
MW_API mw_status mw_op(mw_graph *graph, const char *operation, const mw_argument *arguments, size_t count,
                       mw_tensor **out_results, size_t result_count, mw_error *err);

/** A string constant, for mw_op. */
MW_API mw_tensor *mw_text(mw_graph *graph, const char *text);

/* ---- loops and branches ----
 * Those of ops/control.h, and of programs that were read. */

/** Returns a copy of "main" without blocks and lists, as gradients need it:
 *    - while_loop: unrolled, if its condition depends only on constants and on int32 loop variables that start at
 *      constants. The condition may also be the logical_and of such a condition, which must end the loop within 1024
 *      trips, and any other one. Then the copy makes all these trips, and a select after each trip decides whether the
 *      trip counts. Integer scalar arithmetic, comparisons, logic, select and the length of a list are evaluated for
 *      this.
 *    - cond: if the predicate is then known, the cond becomes that branch. Any other cond becomes both branches and a
 *      select for each result.
 *    - A branch that is not taken, or a trip that does not count, never changes a gradient, not even by a NaN: a select
 *      stands before each floating-point value that enters it from outside. A state that is assigned there (a running
 *      statistic) keeps its value, except for generators. After a loop, the state is that of the last trip that counts.
 *    - list: becomes one value for each element. If an index is computed, a read becomes a gather over all elements,
 *      and a write a select for each element; such a list has at most 256 elements.
 *    - classify: becomes the index of the largest probability, and the probabilities in the order of the classes. Its
 *      gradient is that of an identity.
 *    - state<..>: read once, before everything else, and written once, after everything else. A read in between gives
 *      the value at that point, and gradients flow through what was written before. The start value of state "k" is the
 *      tensor "k_start", if that name is free. It depends on nothing, and mw_grad accepts it like an input.
 *  mw_trainer_create flattens by itself. It keeps the states of a program that was read beside its parameters, and
 *  starts them at zeros. mw_grad appends to the graph, so it refuses blocks and lists.
 *  return  owned by the caller; names stay, where they still stand for one value
 *  errors  MW_ERROR_UNSUPPORTED naming the operation: a trip count without a bound, more than 16384 trips in all or
 *          131072 operations, branches of different types, an operation with blocks that is neither, one that takes a
 *          state but is neither read_state nor write_state, labels of classes that others than classify use */
MW_API mw_graph *mw_graph_flatten(const mw_graph *graph, mw_error *err);

/* ---- queries ---- */

/** A shape that is asked for an input. */
typedef struct mw_input_shape {
    const char *input;
    mw_shape shape; /* of the input's rank */
} mw_input_shape;

/** Element type of x; MW_DTYPE_NONE for NULL or a value that is not a tensor. */
MW_API mw_dtype mw_tensor_dtype(const mw_tensor *x);
/** Shape of x; rank 0 for NULL. */
MW_API mw_shape mw_tensor_shape(const mw_tensor *x);
/** Name of x or "" if it has none; lives as long as the graph. */
MW_API const char *mw_tensor_name(const mw_tensor *x);
/** Finds an input, parameter, result or named tensor of "main"; NULL if there is none. */
MW_API mw_tensor *mw_graph_find(const mw_graph *graph, const char *name);
/** The graph of x; NULL for NULL. */
MW_API mw_graph *mw_tensor_graph(const mw_tensor *x);

/** Returns the graph as text for people: one line an operation, with shapes and parameter counts.
 *  return  freed with mw_string_free; NULL with err set on failure */
MW_API char *mw_graph_print(const mw_graph *graph, mw_error *err);

/** Frees a string that this library returned. NULL is fine. */
MW_API void mw_string_free(char *string);

#ifdef __cplusplus
}
#endif
#endif
