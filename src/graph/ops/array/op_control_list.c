/* Lists and states: shape rules and constructors of ops/control.def. */
#include <millwright/ops/control.h>

#include "base/number/float_mode.h"
#include "base/number/types.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <string.h>

/* ---- types ---- */

static mw_status make_type(mw__infer *infer, mw_dtype dtype, mw_shape element, int64_t length)
{
    mw_graph *graph = infer->op->block->function->graph;
    const mw__type *tensor = mw__type_tensor(graph, dtype, element, infer->err);
    const mw__type *list = mw__type_list(graph, tensor, length, infer->err);
    if (list == NULL)
        return mw__failed(infer->err) ? infer->err->status : MW_ERROR_MEMORY;
    infer->result_count = 1;
    infer->type[0] = list;
    return MW_OK;
}

/* The tensor type of the elements of a list, or of a state. */
static mw_status element_of(const mw__infer *infer, const char *arg, const mw__type **out)
{
    const mw__type *type = mw__arg(infer->op, arg)->type;
    *out = type->count == 1 ? type->element[0] : NULL;
    if (*out != NULL && (*out)->kind == MW__TENSOR)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "%s does not hold tensors", arg);
}

/* ---- shape rules: lists ---- */

/* A string stands for an extent that is not known yet. */
static mw_status add_extent(const mw__infer *infer, const mw_tensor *value, mw_shape *shape)
{
    const mw__payload *payload = value->payload;
    if (payload == NULL || payload->type->kind != MW__TENSOR)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "elem_shape must be constants");
    const bool text = payload->type->dtype == MW_STRING;
    if (!text && !mw__arg_type_holds(MW__INT, payload->type->dtype))
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "elem_shape holds %s, not integers or strings",
                             mw_dtype_name(payload->type->dtype));
    if (!text && payload->data == NULL)
        return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "the value of elem_shape is not loaded");
    const size_t count = mw__payload_count(payload);
    for (size_t i = 0; i < count; i++) {
        const int64_t extent = text ? MW_DIM_UNKNOWN : mw__payload_int(payload, i);
        if (shape->rank == MW_RANK_MAX - 1)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "elem_shape has more than %d extents", MW_RANK_MAX - 1);
        if (!text && extent < 0)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "elem_shape holds %" PRId64, extent);
        shape->dim[shape->rank++] = extent;
    }
    return MW_OK;
}

static mw_dtype dtype_named(const char *name)
{
    return name != NULL ? mw__number_dtype_named(name, strlen(name)) : MW_DTYPE_NONE;
}

mw_status mw__shape_make_list(mw__infer *infer)
{
    const mw__operand *extents;
    const size_t count = mw__arg_values(infer->op, "elem_shape", &extents);
    const char *name = mw__arg_string(infer->op, "dtype");
    const mw_dtype dtype = dtype_named(name);
    bool dynamic;
    int64_t length = MW_DIM_UNKNOWN;
    mw_shape element = {.rank = 0};
    if (dtype == MW_DTYPE_NONE || dtype == MW_STRING)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "dtype \"%.40s\" is no element type", name != NULL ? name : "");
    MW_TRY(mw__rule_bool(infer, "dynamic_length", &dynamic));
    for (size_t i = 0; i < count; i++)
        MW_TRY(add_extent(infer, extents[i].value, &element));
    if (mw__arg_present(infer->op, "init_length") && mw_shape_count(mw__rule_shape(infer, "init_length")) != 1)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "init_length must be one integer");
    if (mw__arg_int(infer->op, "init_length", &length) && length < 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "init_length is %" PRId64 "; 0 or more is wanted", length);
    return make_type(infer, dtype, element, length);
}

/* One index, which a constant must have from 0 on. */
static mw_status check_index(const mw__infer *infer)
{
    int64_t index = 0;
    if (mw_shape_count(mw__rule_shape(infer, "index")) != 1)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "index must be one integer");
    if (mw__arg_int(infer->op, "index", &index) && index < 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "index %" PRId64 " is outside of the list", index);
    return MW_OK;
}

/* A vector of indices; *out_count is how many, or MW_DIM_UNKNOWN. */
static mw_status check_indices(const mw__infer *infer, int64_t *out_count)
{
    const mw_shape shape = mw__rule_shape(infer, "indices");
    if (shape.rank != 1)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "indices must be a vector, not of rank %d", shape.rank);
    *out_count = shape.dim[0];
    const mw__payload *payload = mw__arg_payload(infer->op, "indices");
    for (size_t i = 0; payload != NULL && payload->data != NULL && i < mw__payload_count(payload); i++)
        if (mw__payload_int(payload, i) < 0)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "indices[%zu] is %" PRId64 ", outside of the list", i,
                                 mw__payload_int(payload, i));
    return MW_OK;
}

/* [count, element] */
static mw_status rows_of(const mw__infer *infer, const mw__type *element, int64_t count, mw_shape *out)
{
    *out = (mw_shape){.rank = 1, .dim = {count}};
    if (element->shape.rank >= MW_RANK_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "its elements have rank %d, at most %d is allowed",
                             element->shape.rank, MW_RANK_MAX - 1);
    for (int d = 0; d < element->shape.rank; d++)
        out->dim[out->rank++] = element->shape.dim[d];
    return MW_OK;
}

static mw_status check_holds(const mw__infer *infer, const mw__type *element, const char *arg, mw_shape wanted)
{
    char given[200], held[200];
    const mw_tensor *value = mw__arg(infer->op, arg);
    if (mw__type_fits(value->type, element->dtype, wanted))
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s is %s %s where %s %s is wanted", arg,
                         mw_dtype_name(mw_tensor_dtype(value)),
                         mw__shape_print(mw_tensor_shape(value), given, sizeof given), mw_dtype_name(element->dtype),
                         mw__shape_print(wanted, held, sizeof held));
}

/* The list, whose elements are as what is written to it, the last axes of `arg`. */
static mw_status give_list(mw__infer *infer, const mw__type *element, const char *arg)
{
    const mw_shape written = mw__rule_shape(infer, arg);
    mw_shape shape = element->shape;
    for (int d = 0; d < shape.rank; d++)
        if (shape.dim[d] == MW_DIM_UNKNOWN)
            shape.dim[d] = written.dim[written.rank - shape.rank + d];
    const mw__type *list = mw__arg(infer->op, "ls")->type;
    if (!mw_shape_equal(shape, element->shape))
        return make_type(infer, element->dtype, shape, list->length);
    infer->result_count = 1;
    infer->type[0] = list;
    return MW_OK;
}

mw_status mw__shape_list_write(mw__infer *infer)
{
    const mw__type *element;
    MW_TRY(element_of(infer, "ls", &element));
    MW_TRY(check_index(infer));
    MW_TRY(check_holds(infer, element, "value", element->shape));
    return give_list(infer, element, "value");
}

mw_status mw__shape_list_read(mw__infer *infer)
{
    const mw__type *element;
    MW_TRY(element_of(infer, "ls", &element));
    MW_TRY(check_index(infer));
    return mw__rule_result(infer, element->dtype, element->shape);
}

mw_status mw__shape_list_gather(mw__infer *infer)
{
    const mw__type *element;
    int64_t count = 0;
    mw_shape shape;
    MW_TRY(element_of(infer, "ls", &element));
    MW_TRY(check_indices(infer, &count));
    MW_TRY(rows_of(infer, element, count, &shape));
    return mw__rule_result(infer, element->dtype, shape);
}

mw_status mw__shape_list_scatter(mw__infer *infer)
{
    const mw__type *element;
    int64_t count = 0;
    mw_shape shape;
    MW_TRY(element_of(infer, "ls", &element));
    MW_TRY(check_indices(infer, &count));
    MW_TRY(rows_of(infer, element, count, &shape));
    MW_TRY(check_holds(infer, element, "value", shape));
    return give_list(infer, element, "value");
}

mw_status mw__shape_list_length(mw__infer *infer) { return mw__rule_result(infer, MW_I32, mw_shape_scalar()); }

/* ---- shape rules: states ---- */

mw_status mw__shape_read_state(mw__infer *infer)
{
    const mw__type *element;
    MW_TRY(element_of(infer, "input", &element));
    return mw__rule_result(infer, element->dtype, element->shape);
}

mw_status mw__shape_write_state(mw__infer *infer)
{
    const mw__type *element;
    MW_TRY(element_of(infer, "input", &element));
    MW_TRY(check_holds(infer, element, "data", element->shape));
    return mw__rule_results(infer, 0);
}

/* ---- constructors ---- */

/* elem_shape is a tuple of integers in MIL, also of one. */
static void set_element(mw__build *build, mw_shape shape)
{
    mw_tensor *extents[MW_RANK_MAX];
    if (build->failed || shape.rank == 0)
        return;
    if (shape.rank < 0 || shape.rank >= MW_RANK_MAX) {
        mw__graph_fail(build->graph, MW_ERROR_SHAPE, "make_list: rank %d of an element is outside 0 to %d", shape.rank,
                       MW_RANK_MAX - 1);
        build->failed = true;
        return;
    }
    for (int d = 0; d < shape.rank; d++) {
        if (shape.dim[d] < 0 || shape.dim[d] > INT32_MAX) {
            mw__graph_fail(build->graph, MW_ERROR_SHAPE, "make_list: extent %" PRId64 " of an element", shape.dim[d]);
            build->failed = true;
            return;
        }
        extents[d] = mw__scalar(build->graph, MW_I32, (double)shape.dim[d], "elem_shape");
    }
    mw__build_set_many(build, "elem_shape", extents, (size_t)shape.rank);
}

mw_tensor *mw_make_list(mw_graph *graph, mw_dtype dtype, mw_shape element, int64_t length, bool dynamic)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin_graph("make_list", graph);
    mw__build_string(&build, "dtype", mw_dtype_name(dtype));
    mw__build_bool(&build, "dynamic_length", dynamic);
    set_element(&build, element);
    mw__build_int(&build, "init_length", length);
    return mw__build_end(&build);
}

/* operation(<at> = index, ls = list), and value = value if it puts one; NULL operands are refused as everywhere. */
static mw_tensor *list_op(const char *operation, mw_tensor *list, const char *at, mw_tensor *index, mw_tensor *value,
                          bool puts)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin(operation, list);
    mw__build_set(&build, at, index);
    mw__build_set(&build, "ls", list);
    if (puts)
        mw__build_set(&build, "value", value);
    return mw__build_end(&build);
}

mw_tensor *mw_list_write(mw_tensor *list, mw_tensor *index, mw_tensor *value)
{
    return list_op("list_write", list, "index", index, value, true);
}

mw_tensor *mw_list_read(mw_tensor *list, mw_tensor *index)
{
    return list_op("list_read", list, "index", index, NULL, false);
}

mw_tensor *mw_list_gather(mw_tensor *list, mw_tensor *indices)
{
    return list_op("list_gather", list, "indices", indices, NULL, false);
}

mw_tensor *mw_list_scatter(mw_tensor *list, mw_tensor *indices, mw_tensor *value)
{
    return list_op("list_scatter", list, "indices", indices, value, true);
}

mw_tensor *mw_list_length(mw_tensor *list)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("list_length", list);
    mw__build_set(&build, "ls", list);
    return mw__build_end(&build);
}
