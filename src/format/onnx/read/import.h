/* Reading a model inside the room: what the functions of operators see. import.c walks the graph, node.c is what they
 * ask and answer by, the op_<family>.c files are the operators, table.c the table of them. */
#ifndef MW__FORMAT_ONNX_READ_IMPORT_H
#define MW__FORMAT_ONNX_READ_IMPORT_H

#include "base/memory/map.h"
#include "format/formats.h"
#include "format/onnx/read/literal.h"

#include <millwright/onnx.h>

/* ---- values ---- */

/* A value of the model: elements that are known, a tensor of the graph, or both. A literal becomes a constant when a
 * tensor is asked for. */
typedef struct mw__onnx_value {
    const char *name;
    int type; /* element type, see literal.h; 0 = nobody knows, as the node behind it is not supported */
    mw_shape shape;
    const mw__onnx_literal *literal;
    mw_tensor *tensor;
    bool weight;                    /* an initializer, or what a Constant gives: its constant has its name */
    bool local;                     /* a weight of a body or function: others may have its name too */
    const Mw__Onnx__Tensor *source; /* of a weight, which is one constant however often it is read; or NULL */
    bool absent;                    /* an input of a function that the call leaves out */
    const Mw__Onnx__Tensor *unread; /* of a kind that is not supported: an error once it is used */
    const char *unread_why;         /* NULL = what mw__onnx_literal_read says */
} mw__onnx_value;

/* Names that a graph sees, from the inner to the outer. */
typedef struct mw__onnx_scope {
    mw__map values; /* name -> mw__onnx_value */
    const struct mw__onnx_scope *outer;
} mw__onnx_scope;

/* ---- the model ---- */

/* A call of a function of the model whose nodes are read. */
typedef struct mw__onnx_frame {
    const Mw__Onnx__Function *function;
    const Mw__Onnx__Node *call;
    const struct mw__onnx_frame *outer; /* in which the call stands */
} mw__onnx_frame;

typedef struct mw__onnx_import {
    const mw_onnx_options *options;
    const Mw__Onnx__Model *model;
    const struct mw__onnx_store *store; /* of large weights, or NULL */
    struct mw__onnx_open *open;         /* extents that the options do not say (open.h) */
    mw__onnx_source source;
    mw__arena arena;
    mw_graph *graph;
    mw__onnx_scope *scope;
    mw__onnx_scope whole; /* of the model's graph */
    mw__map weights;      /* tensors of the file -> their constants */
    mw__map results;      /* names of the model's outputs */
    size_t renamed;       /* weights whose name was another's */
    int64_t opset;
    mw__map functions;             /* of the model, by domain, name and overload */
    mw__map orders;                /* of nodes that were read before (order.c) */
    const mw__onnx_frame *frame;   /* NULL = outside of them */
    int calls;                     /* of functions in functions */
    int depth;                     /* of graphs in nodes */
    int blocks;                    /* of the graph that is built, around what is read */
    size_t steps;                  /* nodes so far, those of bodies that are read again too */
    size_t room;                   /* bytes that may still be made beyond what the file holds once */
    size_t evaluations;            /* values that were computed */
    mw__onnx_evaluator *evaluator; /* computes them; NULL = nobody */
    size_t problems;               /* nodes that are not supported */
    char problem[400];             /* the first ones */
    mw_error *err;
} mw__onnx_import;

enum {
    MW__ONNX_OPSET_MIN = 1,
    MW__ONNX_OPSET_MAX = 24,
    MW__ONNX_DEPTH_MAX = 16,
    MW__ONNX_CALLS_MAX = 32,
    MW__ONNX_STEPS_MAX = 1 << 17,
    MW__ONNX_BUDGET = 4,              /* bytes of room for each byte of an initializer */
    MW__ONNX_BUDGET_LEAST = 64 << 20, /* bytes of room for any file */
    MW__ONNX_KNOWN_MAX = 4096         /* elements of a literal that is computed here */
};

/* Puts the initializers of a graph into the scope. */
mw_status mw__onnx_import_initializers(mw__onnx_import *import, const Mw__Onnx__Graph *graph);
/* Reads the nodes of a graph or function in a scope that has its inputs and initializers: in their order, or where one
 * takes what a later one gives in one that suits them. */
mw_status mw__onnx_import_nodes(mw__onnx_import *import, Mw__Onnx__Node *const *nodes, size_t count);
/* import.c: one node. */
mw_status mw__onnx_import_node(mw__onnx_import *import, const Mw__Onnx__Node *proto);
/* function.c: notes the functions of the model. */
mw_status mw__onnx_note_functions(mw__onnx_import *import, const Mw__Onnx__Model *model);
/* The function that a node calls, or NULL. */
const Mw__Onnx__Function *mw__onnx_find_function(const mw__onnx_import *import, const Mw__Onnx__Node *proto);
/* True outside of bodies and functions, where what has a name is one thing. */
bool mw__onnx_is_whole_graph(const mw__onnx_import *import);
/* The elements of a tensor of the model, as the store has them or read; its element type is that of the tensor. */
const mw__onnx_literal *mw__onnx_literal_of(mw__onnx_import *import, const Mw__Onnx__Tensor *tensor);
/* The error of a value that is not supported; MW_OK for the others. */
mw_status mw__onnx_check_read(const mw__onnx_import *import, const mw__onnx_value *value);
/* The body of an If or Loop: its inputs are `inputs`, and *out_outputs receives its n_output values. */
mw_status mw__onnx_import_body(mw__onnx_import *import, const Mw__Onnx__Graph *graph,
                               const mw__onnx_value *const *inputs, size_t input_count,
                               const mw__onnx_value **out_outputs);
/* Takes `count` elements of `size` bytes from the room, for what a short file could ask for again and again: bodies
 * that are read several times, weights that are put together anew, tables that are computed. MW_ERROR_UNSUPPORTED if
 * they are not there. */
mw_status mw__onnx_charge(mw__onnx_import *import, uint64_t count, size_t size);
/* MW_ERROR_UNSUPPORTED, with the first ones, if any node was not supported. */
mw_status mw__onnx_check_problems(const mw__onnx_import *import);
/* Makes `value` visible under its name; the value is copied. MW_ERROR_FORMAT if the scope has the name. */
mw_status mw__onnx_define(mw__onnx_import *import, const mw__onnx_value *value);
/* NULL if no scope has the name. */
mw__onnx_value *mw__onnx_find(const mw__onnx_import *import, const char *name);
/* The tensor of a value, made of its literal if there is none yet: a weight as a constant of the whole graph, with its
 * name, wherever it is used. NULL with an error in import->err or on the graph. */
mw_tensor *mw__onnx_emit(mw__onnx_import *import, mw__onnx_value *value);
/* Before the copy of a value gets another name: a weight of floats becomes the constant that it is. */
mw_status mw__onnx_resolve_weight(mw__onnx_import *import, mw__onnx_value *value);
/* Elements that are known, from the literal or, at most 64, as they follow from shapes; NULL if they are not. */
const mw__onnx_literal *mw__onnx_known(mw__onnx_import *import, mw__onnx_value *value);
/* The same for what cannot be done without: at most MW__ONNX_KNOWN_MAX elements that operations make of constants are
 * computed too. NULL if they are not known, or with an error in import->err. */
const mw__onnx_literal *mw__onnx_computed(mw__onnx_import *import, mw__onnx_value *value);

/* ---- nodes ---- */

typedef struct mw__onnx_row mw__onnx_row;

typedef struct mw__onnx_node {
    mw__onnx_import *import;
    mw_graph *graph;
    const Mw__Onnx__Node *proto;
    const mw__onnx_row *row;
    int64_t opset;
    size_t in_count, out_count; /* without those at the end that are left out */
    mw__onnx_value **in;        /* NULL = left out */
    mw__onnx_value *out;        /* set by the operator; name is "" where nobody wants it */
    char reason[200];           /* why it is not supported; "" = it is */
} mw__onnx_node;

/* An operator: sets the results of the node, or refuses it. */
typedef mw_status mw__onnx_operator(mw__onnx_node *node);

struct mw__onnx_row {
    const char *name;
    int since, until;       /* operator sets, both inclusive */
    const char *attributes; /* that it knows, separated by spaces */
    size_t inputs;          /* that it must have */
    mw__onnx_operator *read;
};

#define MW_ONNX(name, since, until, inputs, function, attributes) mw__onnx_operator mw__onnx_##function;
#include "format/onnx/read/operators.def"
#undef MW_ONNX

extern const mw__onnx_row mw__onnx_rows[];
extern const size_t mw__onnx_row_count;
/* NULL if the operator set has no such operator that is read; *out_other then receives a row of another operator set,
 * or NULL. */
const mw__onnx_row *mw__onnx_row_find(const char *name, int64_t opset, const mw__onnx_row **out_other);

/* Says why the node is not supported; returns MW_ERROR_UNSUPPORTED. */
mw_status mw__onnx_refuse(mw__onnx_node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- what a node has ---- */

bool mw__onnx_has(const mw__onnx_node *node, size_t index);
/* Of an input that is there. */
int mw__onnx_type(const mw__onnx_node *node, size_t index);
mw_shape mw__onnx_shape(const mw__onnx_node *node, size_t index);
mw_tensor *mw__onnx_in(mw__onnx_node *node, size_t index); /* NULL for one that is left out, and on failure */

/* Kinds of attributes, by their numbers in files. */
enum { MW__ONNX_KIND_FLOAT = 1, MW__ONNX_KIND_INT = 2, MW__ONNX_KIND_STRING = 3, MW__ONNX_KIND_INTS = 7 };

/* Attributes; one of another kind than asked for gives the node a reason to be refused. */
int64_t mw__onnx_int(mw__onnx_node *node, const char *name, int64_t fallback);
/* The number of an element type; -1 where it is none. */
int mw__onnx_type_attribute(mw__onnx_node *node, const char *name, int fallback);
double mw__onnx_float(mw__onnx_node *node, const char *name, double fallback);
const Mw__Onnx__Attribute *mw__onnx_attribute(const mw__onnx_node *node, const char *name);
/* True if the attribute is there and has that text. */
bool mw__onnx_is(mw__onnx_node *node, const char *name, const char *text);
/* A list of integers; *out_count 0 if it is absent. Refuses more than `capacity`. */
mw_status mw__onnx_ints(mw__onnx_node *node, const char *name, int64_t *out, size_t capacity, size_t *out_count);

/* The elements of an input that must be known; refuses the node if they are not, or more than `capacity`. */
mw_status mw__onnx_known_ints(mw__onnx_node *node, size_t index, int64_t *out, size_t capacity, size_t *out_count);
mw_status mw__onnx_known_floats(mw__onnx_node *node, size_t index, double *out, size_t capacity, size_t *out_count);
/* From the input from opset `since` on, before from the attribute; *out_count 0 if there is none. */
mw_status mw__onnx_ints_or_input(mw__onnx_node *node, int64_t since, const char *name, size_t index, int64_t *out,
                                 size_t capacity, size_t *out_count);

/* An axis counted from the front; refuses one outside [0, rank). */
mw_status mw__onnx_axis(mw__onnx_node *node, int64_t axis, int rank, int *out);

/* ---- what it gives ---- */

/* Result `index` is x, of that element type; passes on the error of a NULL. A result that nobody wants is dropped. */
mw_status mw__onnx_set(mw__onnx_node *node, size_t index, int type, mw_tensor *x);
/* The first result is x, of the element type of the first input. */
mw_status mw__onnx_give(mw__onnx_node *node, mw_tensor *x);
/* Elements that are known: integers (bool: 0 or 1). */
mw_status mw__onnx_set_ints(mw__onnx_node *node, size_t index, int type, mw_shape shape, const int64_t *values);
/* Result `index` is the value of an input. */
mw_status mw__onnx_set_same(mw__onnx_node *node, size_t index, size_t input);

/* ---- shared by operators ---- */

/* x as fp32, int32 .. `type` says; only between what types of files are in a graph. */
mw_tensor *mw__onnx_to(mw_tensor *x, mw_dtype dtype);
/* An int32 x as an integer type of 8 or 16 bits would hold it, wrapped around; x itself for the wider ones. */
mw_tensor *mw__onnx_wrap(mw_tensor *x, int type);
/* Indices of an axis of `extent` elements, none of them negative. */
mw_tensor *mw__onnx_indices(mw__onnx_node *node, size_t index, int64_t extent);
/* x with axes of extent 1 in front, up to `rank`. */
mw_tensor *mw__onnx_pad_rank(mw_tensor *x, int rank);
/* node_name.c: the operation that takes a weight, of those that the node made behind the first `from` of the block,
 * gets its name. */
void mw__onnx_name_layer(mw__onnx_node *node, size_t from);
/* Carries the call of a function out. */
mw_status mw__onnx_call(mw__onnx_node *node, const Mw__Onnx__Function *function);

/* A constant of `dtype`. */
mw_tensor *mw__onnx_constant_ints(mw_graph *graph, mw_shape shape, const int64_t *values);
mw_tensor *mw__onnx_constant_floats(mw_graph *graph, mw_dtype dtype, mw_shape shape, const double *values);
/* x broadcast to a shape that it broadcasts to. */
mw_tensor *mw__onnx_expand(mw_tensor *x, mw_shape shape);

/* note.c: keeps what MIL has no place for of a port: `type` is the number of its element type. */
mw_status mw__onnx_note_port(mw__onnx_import *import, const Mw__Onnx__ValueInfo *info, int type, mw_tensor *tensor);
/* Keeps metadata_props with the graph. */
mw_status mw__onnx_note_model(mw_graph *graph, const Mw__Onnx__Model *model, mw_error *err);

#endif
