/* classify: shape rule and constructor of ops/control.def, its labels and what is computed for it. */
#include "graph/ir/classify.h"

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <millwright/ops/control.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>
#include <string.h>

enum { LABEL, PROBABILITIES, RESULTS };

/* ---- labels ---- */

/* The element type of a list of strings or of int64; NULL if it is another type. */
static const mw__type *label_type(const mw__type *list)
{
    const mw__type *element = list->kind == MW__LIST && list->count == 1 ? list->element[0] : NULL;
    return element != NULL && (mw__type_is_scalar(element, MW_STRING) || mw__type_is_scalar(element, MW_I64)) ? element
                                                                                                              : NULL;
}

bool mw__is_label_list(const mw__op *op)
{
    return op->row != NULL && op->row->id == MW__OP_const && op->result_count == 1 &&
           label_type(op->results[0]->type) != NULL;
}

const mw__op *mw__classify_of(const mw_tensor *value)
{
    const mw__op *op = value != NULL ? value->op : NULL;
    return op != NULL && op->row != NULL && op->row->id == MW__OP_classify ? op : NULL;
}

size_t mw__classify_count(const mw__op *op) { return mw__arg(op, "classes")->payload->member_count; }

const char *mw__classify_label(const mw__op *op, size_t index, int64_t *out_number)
{
    const mw__payload *label = mw__arg(op, "classes")->payload->members[index];
    *out_number = label->strings == NULL ? mw__payload_int(label, 0) : 0;
    return label->strings != NULL ? label->strings[0] : NULL;
}

/* ---- where labels may go ---- */

static bool is_misused(const mw__operand *operands, size_t count, bool labels)
{
    for (size_t i = 0; operands != NULL && i < count; i++) {
        const mw_tensor *value = operands[i].value;
        if (value == NULL ? is_misused(operands[i].members, operands[i].member_count, labels)
                          : mw__classify_of(value) != NULL ||
                                (!labels && value->payload != NULL && label_type(value->type) != NULL))
            return true;
    }
    return false;
}

bool mw__classify_is_misused(const mw__op *op)
{
    const bool labels = op->row != NULL && op->row->id == MW__OP_classify;
    for (size_t i = 0; i < op->slot_count; i++)
        if (is_misused(op->slots[i].operands, op->slots[i].count, labels))
            return true;
    for (size_t b = 0; b < op->block_count; b++)
        for (size_t i = 0; i < op->blocks[b]->output_count; i++)
            if (mw__classify_of(op->blocks[b]->outputs[i]) != NULL)
                return true;
    return false;
}

/* ---- shape rule ---- */

static mw_status read_labels(const mw__infer *infer, const mw__payload **out, const mw__type **out_type)
{
    const mw_tensor *classes = mw__arg(infer->op, "classes");
    *out = classes->payload;
    *out_type = label_type(classes->type);
    if (*out_type == NULL)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "classes must be a list of strings or of int64");
    if (*out == NULL || (*out)->members == NULL || (*out)->member_count == 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "classes has no labels");
    for (size_t i = 0; i < (*out)->member_count; i++)
        if ((*out)->members[i]->strings == NULL && (*out)->members[i]->data == NULL)
            return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "the value of classes[%zu] is not loaded", i);
    return MW_OK;
}

/* What a text declares the probabilities to be; coremltools, defs/iOS15/classify.py: double. */
static mw_dtype declared_dtype(const mw__op *op)
{
    const mw__type *type = op->result_count == RESULTS ? op->results[PROBABILITIES]->type : NULL;
    if (type != NULL && type->kind == MW__DICT && type->count == 2)
        for (mw_dtype dtype = MW_F16; dtype <= MW_F64; dtype = (mw_dtype)(dtype + 1))
            if (mw__type_is_scalar(type->element[1], dtype))
                return dtype;
    return MW_F64;
}

static mw_status give_dictionary(mw__infer *infer, const mw__type *label)
{
    mw_graph *graph = infer->op->block->function->graph;
    const mw__type *value = mw__type_tensor(graph, declared_dtype(infer->op), mw_shape_scalar(), infer->err);
    infer->type[PROBABILITIES] = mw__type_dict(graph, label, value, infer->err);
    return infer->type[PROBABILITIES] != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__shape_classify(mw__infer *infer)
{
    const mw__payload *labels;
    const mw__type *type;
    char text[200];
    const mw_shape shape = mw__rule_shape(infer, "probabilities");
    const int64_t count = mw_shape_count(shape);
    MW_TRY(read_labels(infer, &labels, &type));
    if (infer->op->block->owner != NULL)
        return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "stands in a block; its results are those of the program");
    if (count >= 0 && (uint64_t)count != labels->member_count)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "classes has %zu labels for the %" PRId64 " elements of %s",
                             labels->member_count, count, mw__arg_print(infer->op, "probabilities", text, sizeof text));
    MW_TRY(mw__rule_results(infer, RESULTS));
    infer->dtype[LABEL] = type->dtype;
    infer->shape[LABEL] = mw_shape_scalar();
    return give_dictionary(infer, type);
}

/* ---- what is computed ---- */

mw_dtype mw__classify_dtype(const mw_tensor *result) { return result->result == LABEL ? MW_I32 : MW_F32; }

mw_shape mw__classify_shape(const mw_tensor *result)
{
    return result->result == LABEL ? mw_shape_scalar() : MW_SHAPE((int64_t)mw__classify_count(result->op));
}

void mw__classify_emit(mw_graph *graph, const mw__op *op, mw_tensor *probabilities, mw_tensor *out[2])
{
    const mw_shape shape = MW_SHAPE((int64_t)mw__classify_count(op));
    const bool flat = mw_shape_equal(mw_tensor_shape(probabilities), shape);
    out[PROBABILITIES] = flat ? mw_identity(probabilities) : mw_reshape(probabilities, shape);
    out[LABEL] = mw_reduce_argmax(flat ? probabilities : out[PROBABILITIES], 0, false);
    if (out[LABEL] == NULL && graph->error.status == MW_OK)
        mw__graph_fail(graph, MW_ERROR_STATE, "classify: its probabilities are not there");
}

/* ---- constructor ---- */

static const mw__payload *make_label(mw_graph *graph, const mw_classes *classes, size_t index)
{
    if (classes->names == NULL)
        return mw__payload_create(graph, MW_I64, mw_shape_scalar(), &classes->numbers[index], &graph->error);
    if (classes->names[index] != NULL)
        return mw__payload_create_string(graph, classes->names[index], &graph->error);
    mw__graph_fail(graph, MW_ERROR_ARGUMENT, "classify: name %zu of the classes is NULL", index);
    return NULL;
}

static const mw__payload *make_labels(mw_graph *graph, const mw_classes *classes)
{
    mw_error *err = &graph->error;
    mw__payload *list = mw__arena_alloc(&graph->arena, 1, sizeof *list, err);
    const mw__payload **members = mw__arena_alloc(&graph->arena, classes->count, sizeof *members, err);
    if (list == NULL || members == NULL)
        return NULL;
    for (size_t i = 0; i < classes->count; i++) {
        members[i] = make_label(graph, classes, i);
        if (members[i] == NULL)
            return NULL;
    }
    const mw__type *type = mw__type_list(graph, members[0]->type, (int64_t)classes->count, err);
    *list = (mw__payload){.type = type, .members = members, .member_count = classes->count};
    return type != NULL ? list : NULL;
}

mw_status mw_classify(mw_tensor *probabilities, const mw_classes *classes, mw_tensor **out_label,
                      mw_tensor **out_probabilities)
{
    MW__FLOAT_SCOPE;
    mw_tensor *results[RESULTS] = {NULL, NULL};
    if (out_label != NULL)
        *out_label = NULL;
    if (out_probabilities != NULL)
        *out_probabilities = NULL;
    if (probabilities == NULL || out_label == NULL || out_probabilities == NULL)
        return MW_ERROR_ARGUMENT;
    mw__build build = mw__build_begin("classify", probabilities);
    if (!build.failed &&
        (classes == NULL || classes->count == 0 || (classes->names == NULL) == (classes->numbers == NULL)))
        build.failed = mw__graph_fail(build.graph, MW_ERROR_ARGUMENT,
                                      "classify: classes must be one or more names, or as many numbers") == NULL;
    mw__build_set(&build, "probabilities", probabilities);
    const mw__payload *labels = build.failed ? NULL : make_labels(build.graph, classes);
    mw__build_set(&build, "classes",
                  labels != NULL ? mw__payload_emit(build.graph, labels, "classes", &build.graph->error) : NULL);
    const mw_status status = mw__build_end_many(&build, results, RESULTS, NULL);
    *out_label = results[LABEL];
    *out_probabilities = results[PROBABILITIES];
    return status;
}
