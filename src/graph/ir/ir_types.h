/* The structures of the intermediate representation: types, literals, values, operations, blocks, functions, graphs. */
#ifndef MW__GRAPH_IR_IR_TYPES_H
#define MW__GRAPH_IR_IR_TYPES_H

#include "base/memory/alloc.h"
#include "base/memory/live.h"
#include "base/memory/map.h"
#include "base/visible.h"
#include "graph/random/init.h"

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

typedef struct mw__shared_payload mw__shared_payload; /* graph/constants/shared_payload.h */
typedef struct mw__compressed mw__compressed;         /* graph/constants/compressed.h */

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
    bool in_blob;               /* to be written to the weight file */
    mw__shared_payload *shared; /* where data lies, if graphs may share it; NULL = in the arena */
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

/* What of a training step an operation belongs to; all of any other graph is forward. */
typedef enum mw__step_stage {
    MW__STEP_FORWARD = 0,
    MW__STEP_BACKWARD,
    MW__STEP_GATE, /* what is made of all gradients: clipping, and the flag that gates the update */
    MW__STEP_UPDATE
} mw__step_stage;

/* What is done with an index of an input that lies outside. */
typedef enum mw__index_use {
    MW__INDEX_UNUSED = 0,
    MW__INDEX_IGNORES, /* every use leaves out index_ignored */
    MW__INDEX_STRICT,  /* some use makes nothing of it */
} mw__index_use;

/* What an input or result of a program holds of a longer one, which the user sees as a whole (mil/legalize/split.h). */
typedef struct mw__part {
    const char *whole; /* the user's name */
    mw_dtype dtype;    /* as the user sees it */
    mw_shape shape;
    int digit;     /* of its integers, 0 high, 1 low (graph/patterns/digits.h); -1 = the value itself */
    int axis;      /* that is cut, 0 if none is */
    int64_t begin; /* where the part starts on that axis; its extent is that of the tensor */
} mw__part;

/* What the file that a port was read from says of it, and MIL has no place for. */
typedef struct mw__port_note {
    mw_dtype dtype;                   /* of its elements in the file; MW_DTYPE_NONE = that of the port */
    const char *extents[MW_RANK_MAX]; /* names of its extents; NULL = none */
} mw__port_note;

struct mw_tensor {
    mw_graph *graph;
    uint32_t id; /* dense in the graph: index of every side table */
    mw__role role;
    const mw__type *type;
    const char *name;             /* the user's name or the name in the text; NULL = numbered when printed */
    const char *hint;             /* stem of an automatic name, e.g. "axis"; never NULL */
    mw__op *op;                   /* the producer; NULL for inputs of functions and blocks and for inline literals */
    uint32_t result;              /* index in op->results */
    const mw__payload *payload;   /* not NULL: a constant */
    const mw__payload *expanded;  /* what a constexpr operation makes, once asked for (constants/compressed.h) */
    const mw__compressed *packed; /* in the engine: how a constant is stored whose payload has no data */
    const mw__init *init;         /* MW__PARAMETER, MW__RESIDENT */
    mw_tensor *next;              /* MW__RESIDENT: its value after a training step, or NULL */
    const struct mw__composite *composite; /* a record over this value, or NULL */
    bool is_output;                        /* of its block */
    bool stop_gradient;
    bool asking;         /* the rule of its custom VJP is running */
    int64_t index_limit; /* an input whose values index something: valid are 0 .. index_limit - 1; 0 = no rule */
    int64_t index_ignored;
    mw__index_use index_use;
    const mw__part *part;      /* of an input or result: it is one of several; NULL = whole */
    const mw__port_note *note; /* of an input or result; NULL = none */
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
    bool tuple;     /* spelled with parentheses */
    bool attribute; /* spelled among the attributes, as a literal: constexpr operations of ios16 */
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
    mw__step_stage stage;
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

/* In which of two forms the patterns write themselves (graph/patterns/): native for the engine, or with nothing in it
 * that a chip refuses. Autograd asks the graph; trainers set it for their device. */
typedef enum mw__lowering { MW__LOWERING_NATIVE, MW__LOWERING_DECOMPOSED } mw__lowering;

#define MW__TYPES_RECENT 32

struct mw_graph {
    const mw_allocator *allocator;
    mw__arena arena;
    mw__shared_payload **shared_payloads; /* bytes of large constants */
    size_t shared_count, shared_capacity;
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
    const struct mw_text_pair *pairs; /* what a file of another format says of the model (build_info.h) */
    size_t pair_count;
    mw__function **functions;
    size_t function_count, function_capacity;
    mw__map function_names;                   /* name -> mw__function, once there are many */
    mw__function *current;                    /* where constructors append */
    mw__block *block;                         /* in that function */
    const mw__type *recent[MW__TYPES_RECENT]; /* tensor types that were made last: values of one type share it */
    mw_tensor **values;                       /* by id */
    size_t value_count, value_capacity;
    mw__map names;     /* user names of inputs, parameters and results of main -> mw_tensor */
    mw__map constants; /* shared constants of the current block, by type and bytes */
    mw__lowering lowering;
    mw__step_stage stage;   /* of operations that are made; a clone sets it to that of what it copies */
    struct mw_layer *layer; /* that is being applied (graph/ir/layer.h), or NULL */
    const char *scope;      /* subject of messages while a composite is built, e.g. "fc1"; NULL */
};

/* True for what stays on the device between runs: parameters and states. */
static inline bool mw__is_resident(const mw_tensor *value)
{
    return value->role == MW__PARAMETER || value->role == MW__RESIDENT;
}

/* ---- composites ----
 * A record over a value: it was built from operations, but has a gradient of its own and a form for evaluation. It
 * survives clone and is lost in text. */
typedef struct mw__vjp mw__vjp; /* autograd/vjp/vjp.h */

/* What random numbers a value is made of (graph/random/noise.h). */
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
    void (*vjp)(mw__vjp *vjp);         /* reads inputs by index; or NULL = differentiate the operations */
    bool recomputes;                   /* a segment: inputs are only where it starts, and some may be missing in a copy,
                                        * which may read other leaves (autograd/recompute.c) */
    const struct mw__conv *transposed; /* the value is a convolution's transpose (patterns/conv.h) of inputs 0, y, and
                                        * 1, the weight, and has that one's gradient; or NULL */
    bool spread;                       /* the value is input 0, the kernel of a convolution, spread with zeros
                                        * (patterns/conv.h): what a program for chips leaves out, gradients too */
    mw_custom_vjp_rule *rule;          /* the user's, which `vjp` calls with `user` (mw_custom_vjp); or NULL */
    void *user;
    mw_tensor *examples;   /* [batch]: the values whose mean this scalar is, or NULL */
    mw_tensor *weights;    /* [batch]: then the scalar is sum(examples) / sum(weights); NULL = a plain mean */
    mw_tensor *evaluation; /* its form: what stands for the value when the model is evaluated, or NULL. An earlier
                            * result of an operation that nothing else uses */
    mw_tensor *running[2]; /* the running mean and variance of a batch norm, or NULL */
    mw__noise noise;       /* what is written to files instead of the operations, or NONE */
} mw__composite;

/* ---- asking types and literals ---- */

MW__SIBLING bool mw__type_equal(const mw__type *a, const mw__type *b);
/* True if a value declared `declared` may hold what a rule computed: equal but for `?` in either. */
bool mw__type_fits(const mw__type *declared, mw_dtype dtype, mw_shape shape);
/* The same of two types of any kind. */
bool mw__types_fit(const mw__type *a, const mw__type *b);
/* bytes = ceil(count * bits / 8) with overflow check; false for unknown extents or types without size. */
bool mw__type_bytes(const mw__type *type, size_t *out);

/* How many elements the axes [from, to) span; the extents are known. */
int64_t mw__shape_span(mw_shape shape, int from, int to);
/* The shape to which both broadcast; false if they do not fit. */
MW__SIBLING bool mw__broadcast_shapes(mw_shape a, mw_shape b, mw_shape *out);

/* Element `index` of a constant. */
MW__SIBLING double mw__payload_float(const mw__payload *payload, size_t index);
MW__SIBLING int64_t mw__payload_int(const mw__payload *payload, size_t index);
MW__SIBLING size_t mw__payload_count(const mw__payload *payload);

#endif
