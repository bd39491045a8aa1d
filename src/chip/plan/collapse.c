/* Before layers are made: constants, copies, chains of transposes, and what goes into an operand. */
#include "chip/plan/plan.h"

#include "graph/ir/uses.h"

#include <string.h>

typedef struct collapse {
    mw__chip_planner *p;
    const mw__use *const *uses;
    const mw_tensor **from; /* by operation, of layouts: what the chain of them that it ends begins with */
    mw_axes *perm;          /* of such a chain of transposes; count 0 = not only of them */
    bool *is_view;          /* of such a chain that only renames axes */
} collapse;

static const mw_tensor *result_of(const mw__op *op) { return op->results[0]; }

static bool read_once(const mw__chip_planner *p, const mw_tensor *value)
{
    return p->uses[value->id] == 1 && !value->is_output;
}

static void eliminate(mw__chip_planner *p, size_t at, mw__chip_plan_rule_id rule, const char *reason)
{
    mw__chip_plan_note(p, at, MW_CHIP_SLOT_ELIMINATED, MW_CHIP_NONE, rule, "%s", reason);
}

/* ---- constants ---- */

static void see_computed(void *user, const mw_tensor *value)
{
    (void)value;
    *(bool *)user = true;
}

static bool reads_computed(const mw__chip_planner *p, size_t at)
{
    bool found = false;
    mw__chip_plan_each_input(p, at, see_computed, &found);
    return found;
}

static bool is_weight_use(const mw__use *use)
{
    const char *name = use->op->slots[use->slot].name;
    return use->op->row != NULL &&
           (strcmp(name, "weight") == 0 || (strcmp(name, "y") == 0 && use->op->row->id == MW__OP_matmul));
}

static bool feeds_weights(const collapse *c, const mw_tensor *value)
{
    bool all = c->uses[value->id] != NULL;
    for (const mw__use *use = c->uses[value->id]; use != NULL; use = use->next)
        all = all && is_weight_use(use);
    return all;
}

static void fold_compressed(collapse *c, size_t at)
{
    const mw__op *op = c->p->body->ops[at];
    if (!feeds_weights(c, result_of(op)))
        eliminate(c->p, at, MW__PLAN_constant_folding, "a constant that is no weights of a product");
    else if (strstr(op->kind, "lut") != NULL)
        eliminate(c->p, at, MW__PLAN_kernel_lut, "kernel_palettized_LUT of what reads it");
    else
        eliminate(c->p, at, MW__PLAN_kernel_scale, "kernel_scale of what reads it");
}

/* True if it was one. */
static bool fold_constant(collapse *c, size_t at)
{
    const mw__op *op = c->p->body->ops[at];
    if (op->row->id == MW__OP_const) {
        eliminate(c->p, at, MW__PLAN_constant, "of the layers that read it");
        return true;
    }
    if (mw__op_has(op, MW__TRAIT_LOWERED) || mw__op_has(op, MW__TRAIT_RANDOM) || reads_computed(c->p, at))
        return false;
    if (mw__op_has(op, MW__TRAIT_CONSTEXPR) || op->row->id == MW__OP_dequantize)
        fold_compressed(c, at);
    else
        eliminate(c->p, at, MW__PLAN_constant_folding, "all of its operands are constant");
    for (size_t r = 0; r < op->result_count; r++)
        c->p->is_constant[op->results[r]->id] = true;
    return true;
}

/* ---- copies ---- */

static bool is_layout(const mw__op *op) { return mw__op_has(op, MW__TRAIT_VIEW) || op->row->id == MW__OP_transpose; }

static bool read_perm(const mw__op *op, mw_axes *out)
{
    int64_t perm[MW_RANK_MAX];
    size_t count = 0;
    const int rank = mw_tensor_shape(result_of(op)).rank;
    if (op->row->id != MW__OP_transpose || !mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count))
        return false;
    out->count = (int)count;
    for (size_t i = 0; i < count; i++)
        out->axis[i] = (int)(perm[i] < 0 ? perm[i] + rank : perm[i]);
    return true;
}

static bool is_identity(const mw_axes *perm)
{
    bool same = true;
    for (int i = 0; i < perm->count; i++)
        same = same && perm->axis[i] == i;
    return same;
}

static bool is_copy(const mw__chip_planner *p, const mw__op *op)
{
    mw_axes perm;
    const mw_tensor *x = is_layout(op) || op->row->id == MW__OP_cast ? mw__chip_plan_operand(p, op, "x") : NULL;
    if (x == NULL || !mw_shape_equal(mw_tensor_shape(x), mw_tensor_shape(result_of(op))))
        return false;
    if (op->row->id == MW__OP_cast)
        return mw_tensor_dtype(x) == mw_tensor_dtype(result_of(op));
    return op->row->id != MW__OP_transpose || (read_perm(op, &perm) && is_identity(&perm));
}

/* Readers of the result take x; one reader of x is gone. */
static void pass_through(mw__chip_planner *p, const mw__op *op, const mw_tensor *x)
{
    mw__chip_plan_set_alias(p, result_of(op), x);
    p->uses[x->id]--;
}

/* ---- chains of transposes and reshapes ---- */

static mw_axes compose(const mw_axes *first, const mw_axes *then)
{
    mw_axes both = {.count = then->count};
    for (int i = 0; i < then->count; i++)
        both.axis[i] = first->axis[then->axis[i]];
    return both;
}

static bool undoes(const collapse *c, size_t first, size_t then)
{
    const mw_tensor *end = result_of(c->p->body->ops[then]);
    if (c->perm[first].count > 0 && c->perm[then].count > 0) {
        const mw_axes both = compose(&c->perm[first], &c->perm[then]);
        return is_identity(&both);
    }
    return c->is_view[first] && c->is_view[then] &&
           mw_shape_equal(mw_tensor_shape(c->from[first]), mw_tensor_shape(end));
}

static void cancel(collapse *c, size_t first, size_t then)
{
    mw__chip_planner *p = c->p;
    const mw_tensor *between = result_of(p->body->ops[first]);
    const bool alone = read_once(p, between);
    mw__chip_plan_set_alias(p, result_of(p->body->ops[then]), c->from[first]);
    eliminate(p, then, MW__PLAN_transpose_pair, "it undoes what is before it");
    p->uses[between->id]--;
    if (!alone)
        return;
    p->uses[c->from[first]->id]--;
    eliminate(p, first, MW__PLAN_transpose_pair, "what is behind it undoes it");
}

static void merge(collapse *c, size_t first, size_t then)
{
    mw__chip_planner *p = c->p;
    const bool both = c->perm[first].count > 0 && c->perm[then].count > 0;
    p->alias[result_of(p->body->ops[first])->id] = c->from[first]; /* read once there, and once here */
    c->from[then] = c->from[first];
    c->perm[then] = both ? compose(&c->perm[first], &c->perm[then]) : (mw_axes){0};
    c->is_view[then] = c->is_view[first] && c->is_view[then];
    eliminate(p, first, MW__PLAN_collapse_transpose, "one with what is behind it");
}

static void collapse_layout(collapse *c, size_t at)
{
    mw__chip_planner *p = c->p;
    const mw__op *op = p->body->ops[at];
    const mw_tensor *x = mw__chip_plan_operand(p, op, "x");
    if (x == NULL || !is_layout(op))
        return;
    c->from[at] = x;
    c->is_view[at] = op->row->id != MW__OP_transpose;
    if (!read_perm(op, &c->perm[at]))
        c->perm[at] = (mw_axes){0};
    const size_t first = p->made_by[x->id];
    if (first == MW_CHIP_NONE || c->from[first] == NULL)
        return;
    if (undoes(c, first, at) && !result_of(op)->is_output)
        cancel(c, first, at);
    else if (read_once(p, x))
        merge(c, first, at);
}

/* ---- into operands ---- */

static bool swaps_last(const mw_axes *perm)
{
    const int n = perm->count;
    bool same = n >= 2 && perm->axis[n - 1] == n - 2 && perm->axis[n - 2] == n - 1;
    for (int i = 0; i + 2 < n; i++)
        same = same && perm->axis[i] == i;
    return same;
}

typedef bool use_rule(const mw__chip_planner *p, const mw__use *use);

static bool every_use(const collapse *c, const mw_tensor *value, use_rule *rule)
{
    bool all = c->uses[value->id] != NULL && !value->is_output;
    for (const mw__use *use = c->uses[value->id]; use != NULL; use = use->next)
        all = all && use->op->row != NULL && use->op->block == c->p->body && rule(c->p, use);
    return all;
}

/* Of a product that stays one: a convolution has no attribute for it. */
static bool is_product_use(const mw__chip_planner *p, const mw__use *use)
{
    const char *name = use->op->slots[use->slot].name;
    return use->op->row->id == MW__OP_matmul && (strcmp(name, "x") == 0 || strcmp(name, "y") == 0) &&
           !mw__chip_plan_is_convolution(p, use->op);
}

static bool is_conv_use(const mw__chip_planner *p, const mw__use *use)
{
    (void)p;
    return mw__op_is(use->op, "conv") && strcmp(use->op->slots[use->slot].name, "x") == 0;
}

static bool pads_zeros_of_space(const mw__op *op)
{
    int64_t pad[2 * MW_RANK_MAX];
    size_t count = 0;
    double value = 0;
    const char *mode = mw__arg_string(op, "mode");
    const int rank = mw_tensor_shape(result_of(op)).rank;
    mw__arg_float(op, "constant_val", &value);
    if (mode == NULL || strcmp(mode, "constant") != 0 || value != 0 || rank < 3 ||
        !mw__arg_ints(op, "pad", pad, sizeof pad / sizeof *pad, &count))
        return false;
    bool space = true; /* the numbers are of the last axes; batch and channels are the first two */
    for (size_t i = 0; i < count / 2; i++)
        space = space && ((int)i + rank - (int)(count / 2) >= 2 || (pad[2 * i] == 0 && pad[2 * i + 1] == 0));
    return space;
}

static void fold_into_operand(collapse *c, size_t at)
{
    mw__chip_planner *p = c->p;
    mw_axes perm;
    const mw__op *op = p->body->ops[at];
    const mw_tensor *x = mw__chip_plan_operand(p, op, "x");
    if (x == NULL || p->plan->ops[at].rule != NULL)
        return;
    if (read_perm(op, &perm) && swaps_last(&perm) && every_use(c, result_of(op), is_product_use)) {
        mw__chip_plan_note(p, at, MW_CHIP_SLOT_OPERAND, MW_CHIP_NONE, MW__PLAN_transpose_into_matmul,
                           "an attribute of what reads it");
        pass_through(p, op, x);
    } else if (op->row->id == MW__OP_pad && pads_zeros_of_space(op) && every_use(c, result_of(op), is_conv_use)) {
        mw__chip_plan_note(p, at, MW_CHIP_SLOT_OPERAND, MW_CHIP_NONE, MW__PLAN_pad_into_convolution,
                           "the padding of what reads it");
        pass_through(p, op, x);
    }
}

/* ---- quantization ---- */

static bool same_constant(const mw__op *a, const mw__op *b, const char *name)
{
    const mw_tensor *x = mw__legality_argument(a, name), *y = mw__legality_argument(b, name);
    if (x == NULL || y == NULL)
        return x == y;
    if (x->payload == NULL || y->payload == NULL || !mw__type_equal(x->payload->type, y->payload->type))
        return false;
    const mw__payload *p = x->payload, *q = y->payload;
    return p == q || (p->data != NULL && q->data != NULL && p->size == q->size && p->splat == q->splat &&
                      memcmp(p->data, q->data, p->size) == 0);
}

static bool same_numbers(const mw__op *a, const mw__op *b)
{
    int64_t first = 0, second = 0;
    const bool axes = mw__arg_int(a, "axis", &first) == mw__arg_int(b, "axis", &second) && first == second;
    return axes && same_constant(a, b, "scale") && same_constant(a, b, "zero_point");
}

static void collapse_quantize(collapse *c, size_t at)
{
    mw__chip_planner *p = c->p;
    const mw__op *op = p->body->ops[at];
    const mw_tensor *x = op->row->id == MW__OP_dequantize ? mw__chip_plan_operand(p, op, "input") : NULL;
    const mw__op *before = x != NULL ? mw__chip_plan_maker(p, x) : NULL;
    if (before == NULL || before->row == NULL || before->row->id != MW__OP_quantize || !read_once(p, x) ||
        result_of(op)->is_output || !same_numbers(before, op))
        return;
    const mw_tensor *origin = mw__chip_plan_operand(p, before, "input");
    if (origin == NULL)
        return;
    mw__chip_plan_set_alias(p, result_of(op), origin);
    p->uses[origin->id]--;
    p->uses[x->id]--;
    eliminate(p, at, MW__PLAN_quantize_pair, "the same numbers as the quantize before it");
    eliminate(p, p->made_by[x->id], MW__PLAN_quantize_pair, "the dequantize behind it has its numbers");
}

/* The dequantize behind which a value stands, where only one operation reads it. */
static const mw__op *single_dequantize(const mw__chip_planner *p, const mw_tensor *value)
{
    value = value != NULL && !mw__chip_plan_is_constant(p, value) ? mw__chip_plan_resolve(p, value) : NULL;
    const mw__op *op = value != NULL ? mw__chip_plan_maker(p, value) : NULL;
    const bool is_one = op != NULL && op->row != NULL && op->row->id == MW__OP_dequantize && read_once(p, value) &&
                        p->plan->ops[p->made_by[value->id]].rule == NULL &&
                        mw__chip_plan_operand(p, op, "input") != NULL;
    return is_one ? op : NULL;
}

static bool dequantizes_alike(const mw__chip_planner *p, const mw__operand *values, size_t count)
{
    const mw__op *first = count > 1 ? single_dequantize(p, values[0].value) : NULL;
    bool alike = first != NULL;
    for (size_t i = 1; alike && i < count; i++) {
        const mw__op *other = single_dequantize(p, values[i].value);
        alike = other != NULL && same_numbers(first, other);
    }
    int64_t axis = 0; /* numbers of each channel are not alike behind another one */
    return alike && mw_shape_count(mw_tensor_shape(mw__arg(first, "scale"))) == 1 && !mw__arg_int(first, "axis", &axis);
}

static void collapse_concat(collapse *c, size_t at)
{
    mw__chip_planner *p = c->p;
    const mw__operand *values;
    const mw__op *op = p->body->ops[at];
    const size_t count = op->row->id == MW__OP_concat ? mw__arg_values(op, "values", &values) : 0;
    if (count == 0 || !dequantizes_alike(p, values, count))
        return;
    for (size_t i = 0; i < count; i++) {
        const mw__op *one = single_dequantize(p, values[i].value);
        const size_t where = p->made_by[result_of(one)->id];
        pass_through(p, one, mw__chip_plan_operand(p, one, "input"));
        if (i == 0)
            mw__chip_plan_note(p, where, MW_CHIP_SLOT_GAIN, MW_CHIP_NONE, MW__PLAN_dequantize_across_concat,
                               "one for all parts");
        else
            eliminate(p, where, MW__PLAN_dequantize_across_concat, "that of the first part stands behind the concat");
    }
}

/* ---- all of it ---- */

static void collapse_op(collapse *c, size_t at)
{
    mw__chip_planner *p = c->p;
    const mw__op *op = p->body->ops[at];
    if (p->is_unsound[at] || fold_constant(c, at))
        return;
    if (is_copy(p, op) && !result_of(op)->is_output) {
        eliminate(p, at, MW__PLAN_copy_elimination, "the same as its operand");
        pass_through(p, op, mw__chip_plan_operand(p, op, "x"));
        return;
    }
    fold_into_operand(c, at);
    if (p->plan->ops[at].rule == NULL)
        collapse_layout(c, at);
    collapse_quantize(c, at);
    collapse_concat(c, at);
}

static void count_use(void *user, const mw_tensor *value) { ((mw__chip_planner *)user)->uses[value->id]++; }

static void count_uses(mw__chip_planner *p)
{
    for (size_t i = 0; i < p->body->op_count; i++)
        mw__chip_plan_each_input(p, i, count_use, p);
    for (size_t i = 0; i < p->body->output_count; i++)
        p->uses[p->body->outputs[i]->id]++;
}

mw_status mw__chip_plan_collapse(mw__chip_planner *p)
{
    const size_t ops = p->body->op_count;
    collapse c = {.p = p,
                  .uses = mw__uses_make(&p->scratch, p->main, p->err),
                  .from = mw__arena_alloc(&p->scratch, ops, sizeof *c.from, p->err),
                  .perm = mw__arena_alloc(&p->scratch, ops, sizeof *c.perm, p->err),
                  .is_view = mw__arena_alloc(&p->scratch, ops, sizeof *c.is_view, p->err)};
    if (c.uses == NULL || c.from == NULL || c.perm == NULL || c.is_view == NULL)
        return MW_ERROR_MEMORY;
    count_uses(p);
    for (size_t i = 0; i < ops && !mw__failed(p->err); i++)
        collapse_op(&c, i);
    return p->err->status;
}
