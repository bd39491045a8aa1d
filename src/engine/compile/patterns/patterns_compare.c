/* Compares values of a function with what a builder writes into a scratch graph: equal operations, types and constants,
 * down to placeholders. */
#include "engine/compile/patterns/patterns.h"

#include <millwright/millwright.h>
#include <string.h>

#define DEPTH 512 /* operations in a row, at most */

bool mw__pattern_compare_types(const mw_tensor *a, const mw_tensor *b)
{
    return a->type->kind == MW__TENSOR && mw__type_equal(a->type, b->type);
}

static bool same_constant(const mw__payload *a, const mw__payload *b)
{
    if (a->data == NULL || b->data == NULL)
        return a->strings != NULL && b->strings != NULL && mw__payload_count(a) == 1 && mw__payload_count(b) == 1 &&
               strcmp(a->strings[0], b->strings[0]) == 0;
    return a->splat == b->splat && a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static bool matches(mw__pattern_compare *c, const mw_tensor *pattern, const mw_tensor *value, int depth);

static bool same_operands(mw__pattern_compare *c, const mw__op *pattern, const mw__op *op, int depth)
{
    if (pattern->row == NULL || pattern->row != op->row || pattern->slot_count != op->slot_count ||
        pattern->block_count + op->block_count > 0)
        return false;
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw__slot *a = &pattern->slots[i], *b = &op->slots[i];
        if (a->count != b->count)
            return false;
        for (size_t j = 0; j < a->count; j++)
            if (a->operands[j].value == NULL || b->operands[j].value == NULL ||
                !matches(c, a->operands[j].value, b->operands[j].value, depth))
                return false;
    }
    return true;
}

/* The number of the placeholder that it is; MW__COMPARE_INPUTS if it is none. */
static int find_input(const mw__pattern_compare *c, const mw_tensor *pattern)
{
    int i = 0;
    while (i < MW__COMPARE_INPUTS && c->input[i] != pattern)
        i++;
    return i;
}

static bool matches(mw__pattern_compare *c, const mw_tensor *pattern, const mw_tensor *value, int depth)
{
    const mw_tensor **known = &c->match[pattern->id];
    if (*known != NULL)
        return *known == value;
    if (!mw__pattern_compare_types(pattern, value) || depth > DEPTH)
        return false;
    const int input = find_input(c, pattern);
    if (input < MW__COMPARE_INPUTS) {
        if (c->wanted[input] != NULL && c->wanted[input] != value)
            return false;
    } else if (pattern->payload != NULL || value->payload != NULL) {
        return pattern->payload != NULL && value->payload != NULL && same_constant(pattern->payload, value->payload);
    } else if (pattern->op == NULL || value->op == NULL || pattern->result != value->result ||
               !same_operands(c, pattern->op, value->op, depth + 1)) {
        return false;
    }
    *known = value;
    return true;
}

/* ---- the scratch graph ---- */

mw_status mw__pattern_compare_begin(mw__pattern_compare *compare, const mw__function *function, mw_error *err)
{
    *compare = (mw__pattern_compare){0};
    mw_graph_options options = mw_graph_defaults();
    options.allocator = function->graph->allocator;
    options.opset = function->opset;
    compare->scratch = mw__graph_make(&options, NULL);
    return compare->scratch != NULL ? MW_OK : mw__fail(err, MW_ERROR_MEMORY, "out of memory");
}

mw_tensor *mw__pattern_compare_input(mw__pattern_compare *compare, int index, const char *name, const mw_tensor *like)
{
    return compare->input[index] = mw_input(compare->scratch, name, like->type->dtype, like->type->shape);
}

/* What a builder refuses has no pattern; what memory did not suffice for may have one. */
mw_status mw__pattern_compare_written(mw__pattern_compare *compare, const mw_tensor *root, mw_error *err)
{
    const mw_graph *scratch = compare->scratch;
    if (scratch->error.status == MW_ERROR_MEMORY)
        MW_TRY(mw_graph_check(compare->scratch, err));
    if (root == NULL)
        return MW_OK;
    compare->root = root;
    compare->match = mw__alloc(scratch->allocator, scratch->value_count, sizeof *compare->match, err);
    return compare->match != NULL ? MW_OK : MW_ERROR_MEMORY;
}

bool mw__pattern_compare_values(mw__pattern_compare *compare, const mw_tensor *root, const mw_tensor *value)
{
    memset(compare->match, 0, compare->scratch->value_count * sizeof *compare->match);
    return matches(compare, root, value, 0);
}

const mw_tensor *mw__pattern_compare_found(const mw__pattern_compare *compare, int index)
{
    return compare->match[compare->input[index]->id];
}

void mw__pattern_compare_end(mw__pattern_compare *compare)
{
    if (compare->scratch != NULL)
        mw__free(compare->scratch->allocator, compare->match);
    mw__graph_free(compare->scratch);
}

/* ---- what was compared ---- */

static bool lists(const mw__pattern *pattern, const mw__op *op)
{
    for (size_t i = 0; i < pattern->op_count; i++)
        if (pattern->ops[i] == op)
            return true;
    return false;
}

mw_status mw__pattern_compare_list_ops(const mw__pattern_compare *compare, mw__finder *finder, mw__pattern *pattern,
                                       mw_error *err)
{
    const size_t values = compare->scratch->value_count;
    const mw__op **ops = mw__arena_alloc(finder->arena, pattern->op_count + values, sizeof *ops, err);
    if (ops == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < pattern->op_count; i++)
        ops[i] = pattern->ops[i];
    pattern->ops = ops;
    for (size_t id = 0; id < values; id++) {
        const mw_tensor *model = compare->scratch->values[id], *found = compare->match[id];
        if (found != NULL && model->op != NULL && model->payload == NULL && !lists(pattern, found->op))
            ops[pattern->op_count++] = found->op;
    }
    return MW_OK;
}
