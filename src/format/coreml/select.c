/* Values that are chosen by a condition. coremltools and Core ML give select the shape that its two values have
 * together (coremltools, ops/defs/iOS15/control_flow.py), so that scalars under the condition of a tensor contradict
 * the declared result. One of them gets the shape of the result first, by arithmetic that changes no bit. */
#include "format/coreml/encode.h"
#include "graph/transform/clone/clone.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <string.h>

static mw_shape together(mw_shape a, mw_shape b)
{
    const mw_shape wide = a.rank >= b.rank ? a : b, other = a.rank >= b.rank ? b : a;
    mw_shape out = wide;
    for (int i = 0; i < other.rank; i++) {
        int64_t *extent = &out.dim[wide.rank - other.rank + i];
        *extent = *extent == 1 ? other.dim[i] : *extent;
    }
    return out;
}

static bool is_simple(const mw_tensor *value)
{
    const mw_dtype dtype = value != NULL && value->type->kind == MW__TENSOR ? value->type->dtype : MW_DTYPE_NONE;
    return dtype == MW_F32 || dtype == MW_F16 || dtype == MW_I32 || dtype == MW_BOOL;
}

/* Which value of a select has the shape of the result only with the condition; NULL for a select that is as it should
 * be. */
static const char *short_value(const mw__op *op)
{
    if (op->row == NULL || strcmp(op->row->name, "select") != 0)
        return NULL;
    const mw_tensor *cond = mw__arg(op, "cond"), *a = mw__arg(op, "a"), *b = mw__arg(op, "b");
    if (!is_simple(a) || !is_simple(b) || cond == NULL || op->results[0]->type->kind != MW__TENSOR)
        return NULL;
    const mw_shape wanted = mw_tensor_shape(op->results[0]);
    if (mw_shape_equal(together(mw_tensor_shape(a), mw_tensor_shape(b)), wanted))
        return NULL;
    return mw_shape_equal(together(mw_tensor_shape(cond), mw_tensor_shape(a)), wanted) ? "a" : "b";
}

/* -0 + x is x; of integers 0 + x, of truth values true and x. */
static mw_tensor *widen_condition(mw_tensor *cond, mw_tensor *value)
{
    const mw_dtype dtype = mw_tensor_dtype(value);
    if (dtype == MW_BOOL)
        return mw_logical_and(mw_logical_or(cond, mw_logical_not(cond)), value);
    mw_tensor *number = mw_cast(cond, dtype);
    mw_tensor *nothing = mw_mul(number, mw_scalar(mw_tensor_graph(cond), dtype, -0.0));
    return mw_add(nothing, value);
}

static mw_tensor *swap_value(void *user, mw__clone *clone, const mw__op *op, size_t slot, const mw__operand *operand)
{
    (void)user;
    if (strcmp(op->slots[slot].name, short_value(op)) != 0)
        return NULL;
    mw_tensor *value = mw__clone_operand(clone, operand->value, operand->value->type->dtype);
    return widen_condition(mw__clone_get(clone, mw__arg(op, "cond")), value);
}

static bool copy_op(void *user, mw__clone *clone, const mw__op *op)
{
    if (short_value(op) == NULL)
        return mw__clone_as_declared(user, clone, op);
    mw__clone_op_with(clone, op, swap_value, user);
    return true;
}

static bool has_short_value(const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        if (short_value(block->ops[i]) != NULL)
            return true;
        for (size_t k = 0; k < block->ops[i]->block_count; k++)
            if (has_short_value(block->ops[i]->blocks[k]))
                return true;
    }
    return false;
}

mw_status mw__coreml_widen_selects(const mw_graph *graph, mw_graph **out, mw_error *err)
{
    const mw__function *main = mw__graph_main(graph);
    const mw__clone_options options = {.rule = copy_op, .keep_outputs = true};
    *out = NULL;
    if (main == NULL || graph->function_count != 1 || !has_short_value(main->body))
        return MW_OK;
    mw_graph *copy = mw__clone_graph(graph->allocator, graph, &options, NULL, err);
    if (copy == NULL)
        return err->status;
    copy->style = graph->style;
    const mw_status status = mw_graph_check(copy, err);
    if (status == MW_OK)
        *out = copy;
    else
        mw__graph_free(copy);
    return status;
}
