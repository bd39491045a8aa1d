/* A graph as messages of ONNX. Each operation of MIL has a row in exports.def; its writer appends nodes. Failures stick
 * to the writer, so that no call here needs a check: names that could not be made are NULL. */
#ifndef MW__FORMAT_ONNX_WRITE_WRITE_H
#define MW__FORMAT_ONNX_WRITE_WRITE_H

#include "graph/ir/ir.h"

#include <millwright/onnx.h>
#include <onnx/onnx.pb-c.h>

typedef Mw__Onnx__Node pb_node;
typedef Mw__Onnx__Tensor pb_onnx_tensor;

/* Messages that grow. */
typedef struct mw__onnx_list {
    void **items;
    size_t count, capacity;
} mw__onnx_list;

typedef struct mw__onnx_writer {
    mw__arena arena;
    const mw_graph *graph;
    const mw_write_options *options;
    mw_error *err;
    const char **names; /* by id; of a constant only once it is written */
    bool *needed;       /* by id */
    bool *baked;        /* by id: a parameter that is an initializer by now */
    const char *prefix; /* that no value of the graph has */
    size_t made;        /* names with that prefix */
    mw__map taken;      /* names of the graph that are used */
    mw__onnx_list nodes, initializers;
    uint64_t bytes;          /* of the initializers */
    size_t tables, repeated; /* bytes: of tables; of constants of equal elements */
    size_t problems;
    char first[3][240];
} mw__onnx_writer;

typedef void mw__onnx_export(mw__onnx_writer *w, const mw__op *op, const char *operation);

typedef struct mw__onnx_export_row {
    const char *name; /* of MIL's operation */
    mw__onnx_export *write;
    const char *operation; /* of ONNX; or the reason why there is none, and `write` is NULL */
} mw__onnx_export_row;

extern const mw__onnx_export_row mw__onnx_exports[];
extern const size_t mw__onnx_export_count;
const mw__onnx_export_row *mw__onnx_export_find(const char *name);

#define MW_EXPORT(name, function, operation) mw__onnx_export mw__onnx_write_##function;
#define MW_NO_EXPORT(name, reason)
#include "format/onnx/exports.def"
#undef MW_EXPORT
#undef MW_NO_EXPORT

/* ---- write_file.c ---- */

/* Writes the file whole or not at all. */
mw_status mw__onnx_write_file(const mw_allocator *allocator, const Mw__Onnx__Model *model, const char *path,
                              mw_error *err);

/* ---- write_graph.c ---- */

/* Fills the graph of a model; problems are counted in the writer. */
mw_status mw__onnx_write_graph(mw__onnx_writer *w, const mw__function *function, Mw__Onnx__Graph *out);

/* Appends the operations of a block. */
mw_status mw__onnx_write_ops(mw__onnx_writer *w, const mw__block *body);
/* The nodes of the writer become those of a graph. */
mw_status mw__onnx_fill_nodes(mw__onnx_writer *w, Mw__Onnx__Graph *out);

/* Notes that the operation cannot be written. */
void mw__onnx_cannot(mw__onnx_writer *w, const mw__op *op, const char *reason);

/* ---- write_port.c ---- */

/* An input or output of a graph; NULL on failure, also for a type that ONNX lacks. */
Mw__Onnx__ValueInfo *mw__onnx_port(mw__onnx_writer *w, const mw__type *type, const char *name);
/* Those of a model. Before its nodes: inputs, with casts, and the declarations of outputs; behind them: their casts. */
mw_status mw__onnx_write_inputs(mw__onnx_writer *w, const mw__block *body, Mw__Onnx__Graph *out);
mw_status mw__onnx_declare_outputs(mw__onnx_writer *w, const mw__block *body, Mw__Onnx__Graph *out);
void mw__onnx_write_outputs(mw__onnx_writer *w, const mw__block *body, const Mw__Onnx__Graph *out);

/* ---- write_node.c ---- */

/* Zeroed memory of the messages; a copy in it. */
void *mw__onnx_alloc(mw__onnx_writer *w, size_t count, size_t size);
/* The same for a table that stands for a few numbers of the operation: all of them take 64 MiB at most, else the
 * operation cannot be written. NULL then. */
void *mw__onnx_table(mw__onnx_writer *w, const mw__op *op, int64_t count, size_t size);
char *mw__onnx_text(mw__onnx_writer *w, const char *text);
/* A name that nothing has. */
const char *mw__onnx_fresh(mw__onnx_writer *w);
/* The number of an element type in files; 0 for none. */
int mw__onnx_type_of(mw_dtype dtype);

/* The elements that a constant is written with. */
const mw__payload *mw__onnx_payload(mw__onnx_writer *w, const mw_tensor *value);
/* The name of a value; a constant is written when it is first asked for. */
const char *mw__onnx_name_of(mw__onnx_writer *w, mw_tensor *value);
const char *mw__onnx_operand(mw__onnx_writer *w, const mw__op *op, const char *argument); /* NULL if absent */
const char *mw__onnx_result(const mw__onnx_writer *w, const mw__op *op, size_t index);

/* The weight of a conv without the zeros of a dilation, and the dilation of each spatial axis: MIL says one of
 * constants alone, ONNX of any weight. NULL if there are none. */
const mw_tensor *mw__onnx_undilated(const mw__op *op, int64_t *dilation);

/* New initializers: of a copy of the elements; a scalar; a vector of int64. */
const char *mw__onnx_tensor(mw__onnx_writer *w, mw_dtype dtype, mw_shape shape, const void *data);
const char *mw__onnx_number(mw__onnx_writer *w, mw_dtype dtype, double value);
const char *mw__onnx_longs(mw__onnx_writer *w, const int64_t *values, size_t count);
const char *mw__onnx_initializer(mw__onnx_writer *w, const char *name, const mw__payload *payload);

/* A node with one result, `out` or a fresh name if that is NULL. Inputs end at the first NULL. */
pb_node *mw__onnx_node_of(mw__onnx_writer *w, const char *operation, const char *out, const char *const *in,
                          size_t count);
const char *mw__onnx_make(mw__onnx_writer *w, const char *operation, const char *out, const char *a, const char *b);
void mw__onnx_put_result(mw__onnx_writer *w, pb_node *node, const char *name);
/* The name of the first result; NULL for NULL. */
const char *mw__onnx_name(const pb_node *node);

void mw__onnx_put_int(mw__onnx_writer *w, pb_node *node, const char *name, int64_t value);
void mw__onnx_put_float(mw__onnx_writer *w, pb_node *node, const char *name, double value);
void mw__onnx_put_ints(mw__onnx_writer *w, pb_node *node, const char *name, const int64_t *values, size_t count);
void mw__onnx_put_text(mw__onnx_writer *w, pb_node *node, const char *name, const char *text);
void mw__onnx_put_floats(mw__onnx_writer *w, pb_node *node, const char *name, const double *values, size_t count);
void mw__onnx_put_texts(mw__onnx_writer *w, pb_node *node, const char *name, const char *const *texts, size_t count);
void mw__onnx_put_graph(mw__onnx_writer *w, pb_node *node, const char *name, Mw__Onnx__Graph *graph);

/* ---- write_mixed.c ---- */

/* True if the operands have several element types where ONNX wants one. */
bool mw__onnx_is_mixed(const mw__op *op);
void mw__onnx_write_mixed(mw__onnx_writer *w, const mw__op *op, const mw__onnx_export_row *row);

/* ---- common nodes ---- */

const char *mw__onnx_cast_to(mw__onnx_writer *w, const char *out, const char *x, mw_dtype dtype);
/* Reshape to a shape of at most one unknown extent; more are a problem of the operation. */
const char *mw__onnx_reshape_to(mw__onnx_writer *w, const mw__op *op, const char *out, const char *x, mw_shape shape);
const char *mw__onnx_transpose_to(mw__onnx_writer *w, const char *out, const char *x, const int64_t *perm, int rank);
const char *mw__onnx_swap_axes(mw__onnx_writer *w, const char *out, const char *x, int rank, int a, int b);

/* x[begin : end : step] of the first `count` axes, in Python's words. */
typedef struct mw__onnx_slices {
    int64_t begin[2 * MW_RANK_MAX], end[2 * MW_RANK_MAX], step[2 * MW_RANK_MAX];
    size_t count;
} mw__onnx_slices;
/* The result of slice_by_index or slice_by_size where begin is computed (write_part.c). */
void mw__onnx_take_part(mw__onnx_writer *w, const mw__op *op);
const char *mw__onnx_slice_to(mw__onnx_writer *w, const char *out, const char *x, const mw__onnx_slices *s);

#endif
