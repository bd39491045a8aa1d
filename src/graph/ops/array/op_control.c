/* Branches and loops: shape rules and constructors of ops/control.def. Lists and states are op_control_list.c. */
#include <millwright/ops/control.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <string.h>

/* ---- shape rules ---- */

/* A result of that type. */
static void give_type(mw__infer *infer, size_t index, const mw__type *type)
{
    if (type->kind != MW__TENSOR) {
        infer->type[index] = type;
        return;
    }
    infer->dtype[index] = type->dtype;
    infer->shape[index] = type->shape;
}

static mw_status check_blocks(const mw__infer *infer, const char *first, const char *second)
{
    if (infer->op->block_count == 2)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_FORMAT, "has %zu blocks; it needs two, %s and %s", infer->op->block_count,
                         first, second);
}

static bool is_flag(const mw__type *type)
{
    return type->kind == MW__TENSOR && type->dtype == MW_BOOL &&
           (mw_shape_count(type->shape) == 1 || mw_shape_count(type->shape) < 0);
}

static mw_status check_flag(const mw__infer *infer, const char *what, const mw_tensor *value)
{
    return is_flag(value->type) ? MW_OK : mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must be one bool", what);
}

/* What both branches may give: extents in which they differ are not known. */
static mw_status join_types(mw__infer *infer, size_t index, const mw__type *a, const mw__type *b)
{
    if (mw__types_fit(a, b)) {
        mw_graph *graph = infer->op->block->function->graph;
        const mw__type *type = mw__type_merge(graph, a, b, infer->err);
        if (type == NULL)
            return MW_ERROR_MEMORY;
        give_type(infer, index, type);
        return MW_OK;
    }
    if (a->kind != MW__TENSOR || b->kind != MW__TENSOR || a->dtype != b->dtype || a->shape.rank != b->shape.rank)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "its branches give result %zu values of different types", index);
    infer->dtype[index] = a->dtype;
    infer->shape[index] = a->shape;
    for (int d = 0; d < a->shape.rank; d++)
        if (a->shape.dim[d] != b->shape.dim[d])
            infer->shape[index].dim[d] = MW_DIM_UNKNOWN;
    return MW_OK;
}

mw_status mw__shape_cond(mw__infer *infer)
{
    MW_TRY(check_blocks(infer, "what is done if pred is true", "what is done else"));
    MW_TRY(check_flag(infer, "pred", mw__arg(infer->op, "pred")));
    const mw__block *yes = infer->op->blocks[0], *no = infer->op->blocks[1];
    if (yes->input_count > 0 || no->input_count > 0)
        return mw__rule_fail(infer, MW_ERROR_FORMAT, "its blocks have no inputs; they see the values around them");
    if (yes->output_count != no->output_count)
        return mw__rule_fail(infer, MW_ERROR_FORMAT, "its branches give %zu and %zu values", yes->output_count,
                             no->output_count);
    if (yes->output_count > MW__HANDED_MAX)
        return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "has more than %d results", MW__HANDED_MAX);
    MW_TRY(mw__rule_results(infer, yes->output_count));
    for (size_t i = 0; i < yes->output_count; i++)
        MW_TRY(join_types(infer, i, yes->outputs[i]->type, no->outputs[i]->type));
    return MW_OK;
}

static mw_status check_loop_values(const mw__infer *infer, const char *what, mw_tensor *const *values, size_t count,
                                   mw_tensor *const *wanted, size_t wanted_count)
{
    if (count != wanted_count)
        return mw__rule_fail(infer, MW_ERROR_FORMAT, "%s %zu values for %zu loop_vars", what, count, wanted_count);
    for (size_t i = 0; i < count; i++)
        if (!mw__types_fit(values[i]->type, wanted[i]->type))
            return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s another type than loop_vars[%zu] has", what, i);
    return MW_OK;
}

mw_status mw__shape_while_loop(mw__infer *infer)
{
    const mw__operand *vars;
    mw_tensor *initial[MW__HANDED_MAX];
    const size_t count = mw__arg_values(infer->op, "loop_vars", &vars);
    MW_TRY(check_blocks(infer, "a condition", "a body"));
    if (count > MW__HANDED_MAX)
        return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "has %zu loop_vars, at most %d are allowed", count,
                             MW__HANDED_MAX);
    for (size_t i = 0; i < count; i++)
        initial[i] = vars[i].value;
    const mw__block *condition = infer->op->blocks[0], *body = infer->op->blocks[1];
    MW_TRY(check_loop_values(infer, "its condition takes", condition->inputs, condition->input_count, initial, count));
    MW_TRY(check_loop_values(infer, "its body takes", body->inputs, body->input_count, initial, count));
    MW_TRY(check_loop_values(infer, "its body gives", body->outputs, body->output_count, body->inputs, count));
    if (condition->output_count != 1)
        return mw__rule_fail(infer, MW_ERROR_FORMAT, "its condition gives %zu values, not one bool",
                             condition->output_count);
    MW_TRY(check_flag(infer, "its condition", condition->outputs[0]));
    MW_TRY(mw__rule_results(infer, count));
    for (size_t i = 0; i < count; i++)
        give_type(infer, i, body->inputs[i]->type);
    return MW_OK;
}

/* ---- constructors ---- */

/* A block that `fill` appends to, with inputs of the types of `vars`. */
typedef struct maker {
    mw__build *build;
    mw__block *outer;
    mw__block *blocks[2];
    size_t count;
    mw_tensor *inputs[MW__HANDED_MAX], *outputs[MW__HANDED_MAX];
} maker;

static bool begin_block(maker *m, mw_tensor *const *vars, size_t count)
{
    mw_graph *graph = m->build->graph;
    if (m->build->failed)
        return false;
    mw__block *block = mw__block_create(graph->current, m->build->op, &graph->error);
    m->build->failed = block == NULL;
    for (size_t i = 0; i < count && !m->build->failed; i++) {
        m->inputs[i] = mw__value_create(graph, vars[i]->type, "var", &graph->error);
        m->build->failed = m->inputs[i] == NULL || mw__block_add_input(block, m->inputs[i], &graph->error) != MW_OK;
    }
    if (m->build->failed)
        return false;
    m->outer = graph->block;
    m->blocks[m->count++] = block;
    graph->block = block;
    memset(m->outputs, 0, sizeof m->outputs);
    return true;
}

static void end_block(maker *m, size_t count)
{
    mw_graph *graph = m->build->graph;
    graph->block = m->outer;
    for (size_t i = 0; i < count && !m->build->failed; i++) {
        if (m->outputs[i] == NULL)
            mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: its function gave no value %zu", m->build->operation, i);
        else if (m->outputs[i]->graph != graph)
            mw__graph_mixed(m->outputs[i], graph, m->build->operation, "result");
        else
            mw__block_add_output(m->blocks[m->count - 1], m->outputs[i], &graph->error);
        m->build->failed = graph->error.status != MW_OK;
    }
}

static mw_status finish_control(maker *m, mw_tensor **out, size_t count)
{
    mw__build *build = m->build;
    if (!build->failed) {
        build->op->blocks = mw__arena_alloc(&build->graph->arena, 2, sizeof(mw__block *), &build->graph->error);
        build->failed = build->op->blocks == NULL;
    }
    if (!build->failed) {
        memcpy(build->op->blocks, m->blocks, sizeof m->blocks);
        build->op->block_count = m->count;
    }
    return mw__build_end_many(build, out, count, NULL);
}

static mw_status refuse_count(mw_graph *graph, const char *operation, size_t count)
{
    mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: %zu values; 1 to %d are allowed", operation, count, MW__HANDED_MAX);
    return MW_ERROR_ARGUMENT;
}

mw_status mw_while_loop(mw_tensor *const *vars, size_t count, mw_loop_condition *condition, mw_loop_body *body,
                        void *user, mw_tensor **out_vars)
{
    MW__FLOAT_SCOPE;
    for (size_t i = 0; out_vars != NULL && i < count; i++)
        out_vars[i] = NULL;
    if (vars == NULL || out_vars == NULL || count == 0 || vars[0] == NULL)
        return MW_ERROR_ARGUMENT;
    if (count > MW__HANDED_MAX)
        return refuse_count(vars[0]->graph, "while_loop", count);
    mw__build build = mw__build_begin("while_loop", vars[0]);
    maker m = {.build = &build};
    if (!build.failed && (condition == NULL || body == NULL))
        build.failed = mw__graph_fail(build.graph, MW_ERROR_ARGUMENT, "while_loop: a function is NULL") == NULL;
    mw__build_set_many(&build, "loop_vars", vars, count);
    if (begin_block(&m, vars, count)) {
        m.outputs[0] = condition(user, m.inputs, count);
        end_block(&m, 1);
    }
    if (begin_block(&m, vars, count)) {
        body(user, m.inputs, count, m.outputs);
        end_block(&m, count);
    }
    return finish_control(&m, out_vars, count);
}

mw_status mw_cond(mw_tensor *pred, mw_branch *yes, mw_branch *no, void *user, mw_tensor **out_results, size_t count)
{
    MW__FLOAT_SCOPE;
    for (size_t i = 0; out_results != NULL && i < count; i++)
        out_results[i] = NULL;
    if (pred == NULL || out_results == NULL)
        return MW_ERROR_ARGUMENT;
    if (count == 0 || count > MW__HANDED_MAX)
        return refuse_count(pred->graph, "cond", count);
    mw__build build = mw__build_begin("cond", pred);
    maker m = {.build = &build};
    if (!build.failed && (yes == NULL || no == NULL))
        build.failed = mw__graph_fail(build.graph, MW_ERROR_ARGUMENT, "cond: a function is NULL") == NULL;
    mw__build_set(&build, "pred", pred);
    mw_branch *const branches[2] = {yes, no};
    for (int i = 0; i < 2; i++) {
        if (!begin_block(&m, NULL, 0))
            break;
        branches[i](user, m.outputs, count);
        end_block(&m, count);
    }
    return finish_control(&m, out_results, count);
}
