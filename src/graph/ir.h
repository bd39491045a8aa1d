/* The one intermediate representation: MIL in memory. Everything is append-only and lives in the arena of its graph;
 * a rewrite is a copy with substitution (graph/clone.h). */
#ifndef MW__GRAPH_IR_H
#define MW__GRAPH_IR_H

#include "base/alloc.h"
#include "base/live.h"
#include "base/map.h"

#include <millwright/autograd.h>
#include <millwright/graph.h>
#include <stdatomic.h>

/* ---- types ---- */

typedef enum mw__type_kind {
    MW__TENSOR, /* dtype, shape; rank 0 is a scalar, dtype MW_STRING is MIL's string */
    MW__STATE,  /* element[0] */
    MW__LIST,   /* element[0], length (MW_DIM_UNKNOWN = ?) */
    MW__TUPLE,  /* element[0..count) */
    MW__DICT    /* element[0] = key, element[1] = value */
} mw__type_kind;

typedef struct mw__type {
    mw__type_kind kind;
    mw_dtype dtype;
    mw_shape shape;
    int64_t length;
    size_t count;
    const struct mw__type *const *element;
} mw__type;

/* ---- constant values ---- */

/* A literal. A tensor literal holds its elements packed, row-major, little-endian in `data` (sub-byte types LSB first);
 * a string tensor holds `strings`; tuple, list and dict literals hold members (a dict: key, value, key, value ...). */
typedef struct mw__payload {
    const mw__type *type;
    const void *data;           /* NULL for a blob that is not loaded yet, and for strings and members */
    size_t size;                /* bytes at data */
    bool splat;                 /* data holds one element that stands for all */
    const char *const *strings; /* MW_STRING: one per element, NUL-terminated */
    const struct mw__payload *const *members;
    size_t member_count;
    const char *blob_path; /* spelled BLOBFILE(path = .., offset = ..), or NULL; a blob is written as a blob */
    uint64_t blob_offset;
    bool in_blob; /* to be written to the weight file */
} mw__payload;

typedef struct mw__attribute {
    const char *name;
    const mw__payload *value;
} mw__attribute;

/* ---- values and operations ---- */

/* MW__RESIDENT: a state of the user's, which stays on the device and is not trained. */
typedef enum mw__role { MW__VALUE, MW__INPUT, MW__PARAMETER, MW__RESIDENT } mw__role;

typedef struct mw__op mw__op;
typedef struct mw__block mw__block;
typedef struct mw__function mw__function;

/* What is done with an index of an input that lies outside. */
typedef enum mw__index_use {
    MW__INDEX_UNUSED = 0,
    MW__INDEX_IGNORES, /* every use leaves out index_ignored */
    MW__INDEX_STRICT,  /* some use makes nothing of it */
} mw__index_use;

/* What an input or result of a program holds of a longer one, which the user sees as a whole (mil/split.h). */
typedef struct mw__part {
    const char *whole; /* the user's name */
    mw_dtype dtype;    /* as the user sees it */
    mw_shape shape;
    int digit;     /* of its integers, 0 high, 1 low (graph/idioms/digits.h); -1 = the value itself */
    int axis;      /* that is cut, 0 if none is */
    int64_t begin; /* where the part starts on that axis; its extent is that of the tensor */
} mw__part;

struct mw_tensor {
    mw_graph *graph;
    uint32_t id; /* dense in the graph: index of every side table */
    mw__role role;
    const mw__type *type;
    const char *name;           /* the user's name or the name in the text; NULL = numbered when printed */
    const char *hint;           /* stem of an automatic name, e.g. "axis"; never NULL */
    mw__op *op;                 /* the producer; NULL for inputs of functions and blocks and for inline literals */
    uint32_t result;            /* index in op->results */
    const mw__payload *payload; /* not NULL: a constant */
    const mw_init *init;        /* MW__PARAMETER, MW__RESIDENT */
    mw_tensor *next;            /* MW__RESIDENT: its value after a training step, or NULL */
    const struct mw__composite *composite; /* a record over this value, or NULL */
    bool is_output;                        /* of its block */
    bool stop_gradient;
    bool asking;         /* the rule of its custom VJP is running */
    int64_t index_limit; /* an input whose values index something: valid are 0 .. index_limit - 1; 0 = no rule */
    int64_t index_ignored;
    mw__index_use index_use;
    const mw__part *part; /* of an input or result: it is one of several; NULL = whole */
};

/* One member of an argument: a value, or a nested tuple. */
typedef struct mw__operand {
    mw_tensor *value;
    const struct mw__operand *members; /* nested tuple; value is NULL */
    size_t member_count;
    bool inlined; /* spelled as a typed literal in the argument */
} mw__operand;

typedef struct mw__slot {
    const char *name;
    mw__operand *operands; /* NULL when the argument is absent */
    size_t count;
    bool tuple; /* spelled with parentheses */
} mw__slot;

struct mw__op {
    const struct mw__row *row; /* NULL: an operation that the table does not know */
    const char *kind;          /* MIL name */
    mw__block *block;          /* where it stands */
    const char *name;          /* the `name` attribute; NULL = see name_absent */
    bool name_absent;          /* parsed without a name attribute; else NULL means the name of the first result */
    mw__slot *slots;           /* one per row argument, in table order; without a row, in text order */
    size_t slot_count;
    mw__attribute *attributes; /* besides name, and besides val of a const */
    size_t attribute_count;
    mw_tensor **results;
    size_t result_count;
    mw__block **blocks;
    size_t block_count;
    uint32_t line, column; /* where it was read; 0 = built */
    const mw__op *forward; /* of this graph, whose gradient it belongs to; NULL = none, and lost in a clone */
};

struct mw__block {
    mw__function *function;
    mw__op *owner; /* NULL for the body of a function */
    mw_tensor **inputs;
    size_t input_count, input_capacity;
    mw__op **ops;
    size_t op_count, op_capacity;
    mw_tensor **outputs;
    size_t output_count, output_capacity;
};

struct mw__function {
    mw_graph *graph;
    const char *name;
    mw_opset opset;
    mw__attribute *attributes;
    size_t attribute_count;
    mw__block *body;
    uint32_t line, column;
};

/* How literals are spelled, newer and older, by Apple's compiler. */
typedef enum mw__style { MW__STYLE_NEW, MW__STYLE_OLD } mw__style;

/* In which of two forms the idioms write themselves (graph/idioms/): compact for the engine, or with nothing in it that
 * a chip refuses. Autograd asks the graph; trainers set it for their device. */
typedef enum mw__form { MW__FORM_COMPACT, MW__FORM_CHIP } mw__form;

struct mw_graph {
    const mw_allocator *allocator;
    mw__arena arena;
    mw__arena tensors;     /* these alone, as they are looked at when the graph is gone (graph.c) */
    atomic_int references; /* the owner's, and one of each call that is at work on it (mw__graph_hold) */
    bool published;        /* the user has it: it is among the live objects */
    bool exposed;          /* a rule of the user's has seen it */
    atomic_bool dead;      /* the user destroyed it */
    mw_error error;        /* the first error of a constructor */
    int version_major, version_minor;
    mw__style style;
    bool final_newline;        /* the text that was read ended in one; Apple's printer writes none */
    mw__attribute *attributes; /* buildInfo */
    size_t attribute_count;
    mw__function **functions;
    size_t function_count, function_capacity;
    mw__map function_names; /* name -> mw__function, once there are many */
    mw__function *current;  /* where constructors append */
    mw__block *block;       /* in that function */
    mw_tensor **values;     /* by id */
    size_t value_count, value_capacity;
    mw__map names;     /* user names of inputs, parameters and results of main -> mw_tensor */
    mw__map constants; /* shared constants of the current block, by type and bytes */
    mw__form form;
    const char *scope; /* subject of messages while a composite is built, e.g. "fc1"; NULL */
};

/* ---- the table ---- */

typedef enum mw__arg_kind {
    MW__CONST,   /* must be known when compiled */
    MW__RUNTIME, /* may be computed */
    MW__VALUES   /* a tuple of run-time values */
} mw__arg_kind;

/* T_x: all such arguments of an operation share one element type, drawn from the class x. U_x: the same, and before
 * ios17 it is that of T; from then on it may be another (graph/mixed.c). */
typedef enum mw__arg_type {
    MW__T_FLOAT,  /* fp16 fp32 */
    MW__T_NUMBER, /* fp16 fp32 int32 */
    MW__T_REAL,   /* fp16 fp32 int8 int16 int32 uint8 uint16 */
    MW__T_ANY,    /* any */
    MW__U_FLOAT,  /* fp16 fp32 */
    MW__U_NUMBER, /* fp16 fp32 int32 */
    MW__FLOAT,    /* fp16 fp32, independent of T */
    MW__I32,
    MW__INT,   /* int8 int16 int32 uint8 uint16 uint32; computed ones are int32 before ios17 */
    MW__INDEX, /* the same, but int16 and uint16 from ios16 on: indices of the gathers */
    MW__BOOL,
    MW__STRING,
    MW__ANY
} mw__arg_type;

typedef struct mw__arg_row {
    const char *name;
    mw__arg_kind kind;
    mw__arg_type type;
    const char *fallback; /* MIL's default as a literal, MW__REQUIRED, or MW__OPTIONAL */
} mw__arg_row;

#define MW__REQUIRED ((const char *)0)
#define MW__OPTIONAL ""

/* Every row has an id; MW__OP_softmax indexes the table of each room. */
typedef enum mw__op_id {
#define MW_OP(id, name, since, shape, vjp, kernel) MW__OP_##id,
#define MW_EXPAND(id, function)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_EXPAND
#undef MW_ARG
#undef MW_END
    MW__OP_COUNT
} mw__op_id;

/* What a shape rule sees: the operation with its slots filled. It writes the result types. */
typedef struct mw__infer {
    const mw__op *op;
    bool expands;        /* a constant argument may be computed if the row has an expansion */
    size_t result_count; /* in: 1; a rule with several results sets it */
    mw_dtype dtype[64];
    mw_shape shape[64];
    mw_error *err;
} mw__infer;
#define MW__RESULT_MAX 64

typedef mw_status mw__shape_rule(mw__infer *infer);
/* Emits the same value from operations that accept run-time tensors where this one wants constants. */
typedef mw_tensor *mw__expand_rule(mw_graph *graph, const mw_argument *arguments, size_t count);

typedef struct mw__row {
    mw__op_id id;
    const char *name;
    mw_opset since;
    mw__shape_rule *shape;
    mw__expand_rule *expand; /* or NULL */
    const mw__arg_row *args;
    size_t arg_count;
} mw__row;

/* All rows, by id. */
extern const mw__row mw__rows[MW__OP_COUNT];

/* The newest row of that name not above `opset`; NULL if there is none. *out_newer (may be NULL) receives a row of the
 * name in a later opset, for messages. */
const mw__row *mw__row_find(const char *name, mw_opset opset, const mw__row **out_newer);
/* The classes of arguments that share one element type: T, and U, which may differ from it. */
bool mw__arg_type_is_t(mw__arg_type type);
bool mw__arg_type_is_u(mw__arg_type type);

/* ---- reading an operation ----
 * Rules ask by MIL's argument name and never see whether it is a const statement, an inline literal, an attribute, or
 * left out: defaults of the table are applied. (Names, not indices: an argument's index differs between the opset
 * versions of one operation.) A name that the row lacks is a defect of ours and asserted. */

/* The value of a one-value argument, NULL if absent. */
mw_tensor *mw__arg(const mw__op *op, const char *name);
/* The values of a tuple argument (also of a single one); returns the count. */
size_t mw__arg_values(const mw__op *op, const char *name, const mw__operand **out);
bool mw__arg_present(const mw__op *op, const char *name);
/* Constant arguments, defaults applied. False: absent without default, or not a constant that is loaded.  */
bool mw__arg_int(const mw__op *op, const char *name, int64_t *out);
bool mw__arg_ints(const mw__op *op, const char *name, int64_t *out, size_t capacity, size_t *out_count);
bool mw__arg_float(const mw__op *op, const char *name, double *out);
bool mw__arg_bool(const mw__op *op, const char *name, bool *out);
bool mw__arg_bools(const mw__op *op, const char *name, bool *out, size_t capacity, size_t *out_count);
const char *mw__arg_string(const mw__op *op, const char *name);

/* Known when compiled: a const, a literal, or the result of a constexpr operation. */
bool mw__is_constant(const mw_tensor *value);

/* Element `index` of a constant. */
double mw__payload_float(const mw__payload *payload, size_t index);
int64_t mw__payload_int(const mw__payload *payload, size_t index);
size_t mw__payload_count(const mw__payload *payload);

/* ---- making things ---- */

/* As mw_graph_create, for graphs that the user does not get, and those that are published when they are finished; both
 * are freed with mw__graph_free as long as the library has them. */
mw_graph *mw__graph_make(const mw_graph_options *options, mw_error *err);
/* Returns the graph for the user to own; NULL, with the graph freed, if there is no memory. NULL is fine. */
mw_graph *mw__graph_publish(mw_graph *graph, mw_error *err);
void mw__graph_free(mw_graph *graph);
/* Around a call with callbacks in it, which may destroy the graph: it lives until the call has dropped it, and then the
 * call returns MW_ERROR_STATE in place of `status`. */
void mw__graph_hold(const mw_graph *graph);
mw_status mw__graph_drop(const mw_graph *graph, const char *call, mw_status status, mw_error *err);

const mw__type *mw__type_tensor(mw_graph *graph, mw_dtype dtype, mw_shape shape, mw_error *err);
bool mw__type_equal(const mw__type *a, const mw__type *b);
/* True if a value declared `declared` may hold what a rule computed: equal but for `?` in either. */
bool mw__type_fits(const mw__type *declared, mw_dtype dtype, mw_shape shape);
/* bytes = ceil(count * bits / 8) with overflow check; false for unknown extents or types without size. */
bool mw__type_bytes(const mw__type *type, size_t *out);

mw__function *mw__function_create(mw_graph *graph, const char *name, mw_opset opset, mw_error *err);
mw__block *mw__block_create(mw__function *function, mw__op *owner, mw_error *err);
mw_tensor *mw__value_create(mw_graph *graph, const mw__type *type, const char *hint, mw_error *err);
mw_status mw__block_add_input(mw__block *block, mw_tensor *value, mw_error *err);
mw_status mw__block_add_op(mw__block *block, mw__op *op, mw_error *err);
mw_status mw__block_add_output(mw__block *block, mw_tensor *value, mw_error *err);
mw__function *mw__function_find(const mw_graph *graph, const char *name);

/* A const statement in the graph's current block (shared with an equal earlier one when small), for constructors. */
mw_tensor *mw__constant(mw_graph *graph, mw_dtype dtype, mw_shape shape, const void *data, const char *hint);
/* The same of one number; `what` is its hint, and the subject of what is said if it does not fit. */
mw_tensor *mw__scalar(mw_graph *graph, mw_dtype dtype, double value, const char *what);

/* Checks one operation against its row: arguments, types, constants, then the shape rule; writes the inferred types. */
mw_status mw__op_infer(const mw__op *op, mw__infer *infer);
/* The same for a parsed operation: also compares with the declared result types. Text position in the error. What the
 * row can expand may have computed values where it wants constants, as it is expanded when the program is copied. */
mw_status mw__op_verify(const mw__op *op, mw_error *err);

/* Element types that differ between T and U, as MIL's ios17 allows: such an operation is computed in one float type,
 * and its result brought into the type that it should have. */
bool mw__op_is_mixed(const mw__op *op);
/* Rewrites those of a function so, in place; its values stay what they are. */
mw_status mw__function_unmix(mw__function *function, mw_error *err);

/* "matmul \"fc1\""; without a name "matmul", or "matmul #3" while it is built, the third of its block: the subject of a
 * message. The places in a copy of a graph are not those of the graph, so that what is compiled has none. */
const char *mw__op_subject(const mw__op *op, char *buffer, size_t size);
/* "\"fc1\"", "the result of matmul #3", "a constant fp32 [3]": a tensor in a message, which never is "". */
enum { MW__TENSOR_TEXT = 128 };
const char *mw__tensor_print(const mw_tensor *x, char *buffer, size_t size);
/* "[128, 784]". */
const char *mw__shape_print(mw_shape shape, char *buffer, size_t size);
/* How many elements the axes [from, to) span; the extents are known. */
int64_t mw__shape_span(mw_shape shape, int from, int to);

/* ---- building operations: what typed constructors are made of ----
 *
 *     mw_tensor *mw_softmax(mw_tensor *x, int axis)
 *     {
 *         mw__build build = mw__build_begin("softmax", x);
 *         mw__build_set(&build, "x", x);
 *         mw__build_int(&build, "axis", axis);
 *         return mw__build_end(&build);
 *     }
 *
 * A NULL tensor given to begin or set makes end return NULL without touching the graph's error. */
typedef struct mw__build {
    const char *operation;
    mw_graph *graph;
    const mw__row *row;
    mw__op *op;
    bool failed;
} mw__build;

mw__build mw__build_begin(const char *operation, const mw_tensor *any);
mw__build mw__build_begin_graph(const char *operation, mw_graph *graph);
void mw__build_set(mw__build *build, const char *arg, mw_tensor *value);
void mw__build_set_many(mw__build *build, const char *arg, mw_tensor *const *values, size_t count);
void mw__build_int(mw__build *build, const char *arg, int64_t value);
void mw__build_ints(mw__build *build, const char *arg, const int64_t *values, size_t count);
void mw__build_bool(mw__build *build, const char *arg, bool value);
void mw__build_bools(mw__build *build, const char *arg, const bool *values, size_t count);
void mw__build_scalar(mw__build *build, const char *arg, mw_dtype dtype, double value);
/* A scalar in the element type of the operation's T arguments (set those first). */
void mw__build_float(mw__build *build, const char *arg, double value);
void mw__build_string(mw__build *build, const char *arg, const char *value);
mw_tensor *mw__build_end(mw__build *build);
/* For several results. */
mw_status mw__build_end_many(mw__build *build, mw_tensor **out_results, size_t capacity, size_t *out_count);

/* x as `shape`, in which 0 is an extent where MIL's reshape would copy one: of an x without elements the first 0 is
 * what is left for -1, and each other one is cut from an extent of 1. */
mw_tensor *mw__reshape_to(mw_tensor *x, mw_shape shape);

/* The parameter "layer.part" in the dtype of x, for layers. `operation` is the subject of the message for a name that
 * is too long. */
mw_tensor *mw__layer_parameter(mw_tensor *x, const char *operation, const char *layer, const char *part, mw_shape shape,
                               mw_init init);
/* The same for a state. */
mw_tensor *mw__layer_state(mw_tensor *x, const char *operation, const char *layer, const char *part, mw_shape shape,
                           mw_init init);

/* If `indices` is an input, or one in another shape or order, its values must lie in 0 .. limit - 1 (the smallest limit
 * counts) or be `ignored`; NULL = nothing is ignored. */
void mw__limit_indices(mw_tensor *indices, int64_t limit, const int64_t *ignored);

/* A copy in the graph's arena; NULL for NULL, or with an error on the graph. */
const mw__part *mw__part_copy(mw_graph *graph, const mw__part *part);

/* True for what stays on the device between runs: parameters and states. */
static inline bool mw__is_resident(const mw_tensor *value)
{
    return value->role == MW__PARAMETER || value->role == MW__RESIDENT;
}

/* Notes an error on the graph (the first stays) and returns NULL. */
/* Keeps the error of a graph for mw__fail_null, if it has one. */
void mw__graph_note(const mw_graph *graph);

/* A NULL where a tensor is needed: raises the error of the constructor of this thread that last failed, since the NULL
 * came from it, else MW_ERROR_ARGUMENT with this message. */
mw_status mw__fail_null(mw_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A tensor of another graph was given to an operation on `graph`: an error of both. NULL. */
mw_tensor *mw__graph_mixed(const mw_tensor *x, mw_graph *graph, const char *operation, const char *argument);

mw_tensor *mw__graph_fail(mw_graph *graph, mw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- composites ----
 * A record over a value: it was built from operations, but has a gradient of its own and a twin for evaluation. It
 * survives clone and is lost in text. */
typedef struct mw__vjp mw__vjp; /* autograd/vjp.h */

/* What random numbers a value is made of (graph/noise.h). */
typedef enum mw__noise_kind {
    MW__NOISE_NONE = 0,
    MW__NOISE_NORMAL,     /* a = mean, b = stddev */
    MW__NOISE_UNIFORM,    /* a = low, b = high */
    MW__NOISE_BERNOULLI,  /* a = prob */
    MW__NOISE_CATEGORICAL /* a = mode, b = size; input 0 is x */
} mw__noise_kind;
typedef struct mw__noise {
    mw__noise_kind kind;
    double a, b;
} mw__noise;

typedef struct mw__composite {
    const char *name; /* "cross_entropy" */
    mw_tensor **inputs;
    size_t input_count;
    void (*vjp)(mw__vjp *vjp); /* reads inputs by index; or NULL = differentiate the operations */
    mw_custom_vjp_rule *rule;  /* the user's, which `vjp` calls with `user` (mw_custom_vjp); or NULL */
    void *user;
    mw_tensor *examples;   /* [batch]: the values whose mean this scalar is, or NULL */
    mw_tensor *weights;    /* [batch]: then the scalar is sum(examples) / sum(weights); NULL = a plain mean */
    mw_tensor *evaluation; /* the twin: what stands for the value when the model is evaluated, or NULL. An earlier
                            * result of an operation that nothing else uses */
    mw_tensor *running[2]; /* the running mean and variance of a batch norm, or NULL */
    mw__noise noise;       /* what is written to files instead of the operations, or NONE */
} mw__composite;

/* Attaches a record; copies `composite` and its inputs. Returns value, NULL on failure. */
mw_tensor *mw__composite_attach(mw_tensor *value, const mw__composite *composite);

#endif
