/* The rules of rules/arithmetic.def that are about results, applied to a function. */
#include "engine/compile/storage/chip_rounding.h"
#include "engine/compile/passes.h"

#include "rules/slots.h"

#include <string.h>

/* ---- what becomes of a result by its operation ---- */

static bool is_half(const mw_tensor *value)
{
    return value != NULL && value->type->kind == MW__TENSOR && value->type->dtype == MW_F16;
}

static bool has(mw__arithmetic on, mw__arithmetic what) { return (on & what) != 0; }

/* By MIL's name, which versions of an operation share. */
static bool is_named(const mw__op *op, const char *name) { return strcmp(op->row->name, name) == 0; }

bool mw__storage_is_product(const mw__op *op)
{
    static const char *const names[] = {"matmul", "linear", "einsum", "conv", "conv_transpose", "conv_quantized"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found = found || is_named(op, names[i]);
    return found;
}

/* One tap of one channel multiplies and adds nothing. */
static bool adds_products(const mw__op *op)
{
    if (!is_named(op, "conv"))
        return true;
    const mw_shape weight = mw_tensor_shape(mw__arg(op, "weight"));
    int64_t taps = 1;
    for (int i = 1; i < weight.rank; i++)
        taps *= weight.dim[i];
    return taps != 1;
}

static unsigned of_product(const mw__op *op, mw__arithmetic on)
{
    unsigned how = has(on, MW__ARITHMETIC(product_fixed_point)) ? MW__ROUND_AWAY : 0;
    if (has(on, MW__ARITHMETIC(product_ceiling)) && adds_products(op))
        how |= MW__ROUND_CEILING;
    return how | (has(on, MW__ARITHMETIC(product_denormals)) ? MW__ROUND_FLUSH : 0);
}

/* The first element along the last axis is not the first of x. */
static bool begins_behind(const mw__op *op)
{
    int64_t begin[MW_RANK_MAX];
    bool masked[MW_RANK_MAX] = {false};
    size_t count = 0, masks = 0;
    if (!mw__arg_ints(op, "begin", begin, MW_RANK_MAX, &count) || count == 0)
        return mw_tensor_shape(mw__arg(op, "x")).rank > 0;
    if (is_named(op, "slice_by_index"))
        mw__arg_bools(op, "begin_mask", masked, MW_RANK_MAX, &masks);
    return begin[count - 1] != 0 && !masked[count - 1];
}

static bool is_slice(const mw__op *op) { return is_named(op, "slice_by_index") || is_named(op, "slice_by_size"); }

/* What is done to a result, beside rounding. */
static unsigned of_operation(const mw__op *op, mw__arithmetic on, bool rounded)
{
    unsigned how = rounded && has(on, MW__ARITHMETIC(no_nan)) ? MW__ROUND_NUMBER : 0;
    if (is_slice(op) && has(on, MW__ARITHMETIC(slice_clamp)) && begins_behind(op))
        how |= MW__ROUND_SLICE;
    if (!rounded)
        return how;
    if (mw__storage_is_product(op))
        how |= of_product(op, on);
    const bool adds = is_named(op, "add") || is_named(op, "sub");
    const mw__arithmetic ties = is_named(op, "mul")          ? MW__ARITHMETIC(mul_ties_away)
                                : is_named(op, "reduce_sum") ? MW__ARITHMETIC(sum_ties_away)
                                : adds                       ? MW__ARITHMETIC(add_ties_away)
                                                             : 0;
    return how | (has(on, ties) || has(on, mw__arithmetic_knots(op->row->name)) ? MW__ROUND_AWAY : 0);
}

/* ---- which results stay as they are: the slots of a layer of the hardware ---- */

typedef struct pass {
    mw__arithmetic on;
    uint8_t *how, *slot;
    uint8_t *passed; /* what was taken from `how` */
    uint32_t *uses;
} pass;

/* An output is needed besides. */
static void count_uses(const mw__block *body, uint32_t *uses)
{
    mw__count_operands(body, uses);
    for (size_t i = 0; i < body->output_count; i++)
        uses[body->outputs[i]->id] += 2;
}

/* Absorbs the operation into the layer of its live operand, which is then not rounded, or begins a layer. */
static void place(const pass *p, const mw__op *op)
{
    const mw_tensor *live;
    const mw__slot_kind wanted = mw__slot_behind(op, &live);
    if (op->result_count != 1 || wanted == MW__SLOT_NONE || !is_half(live)) {
        for (size_t r = 0; r < op->result_count; r++)
            p->slot[op->results[r]->id] = MW__SLOT_OPERATION;
        return;
    }
    const mw__slot_kind before = live->op != NULL ? (mw__slot_kind)p->slot[live->id] : MW__SLOT_NONE;
    const mw__slot_kind taken = mw__slot_taken(wanted, before);
    const bool absorbed = live->op != NULL && p->uses[live->id] == 1 && taken > before;
    p->slot[op->results[0]->id] = (uint8_t)(absorbed ? taken : wanted);
    if (!absorbed)
        return;
    const unsigned left = MW__ROUND_HALF | MW__ROUND_AWAY;
    p->passed[live->id] = (uint8_t)(p->how[live->id] & left);
    p->how[live->id] &= (uint8_t)~left;
    p->how[op->results[0]->id] |= MW__ROUND_HALF; /* also of what is exact if its operand is rounded */
}

/* Rounding before is rounding after. */
static bool commutes(const mw__op *op)
{
    static const mw__op_id kinds[] = {MW__OP_relu,      MW__OP_abs,         MW__OP_reshape,
                                      MW__OP_transpose, MW__OP_expand_dims, MW__OP_squeeze};
    bool found = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        found = found || op->row->id == kinds[i];
    return found;
}

/* What ends a layer and commutes with rounding leaves it to what it follows, which may do it in its own loop. */
static void round_early(const pass *p, const mw__op *op)
{
    const mw_tensor *x = op->row != NULL && commutes(op) ? mw__arg(op, "x") : NULL;
    if (x == NULL || !is_half(op->results[0]) || (p->how[op->results[0]->id] & MW__ROUND_HALF) == 0)
        return;
    p->how[op->results[0]->id] = 0;
    p->how[x->id] |= p->passed[x->id];
}

static void run_rounding(const pass *p, const mw__function *function)
{
    const mw__block *body = function->body;
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        for (size_t r = 0; op->row != NULL && r < op->result_count; r++) {
            uint8_t *how = &p->how[op->results[r]->id];
            if (is_half(op->results[r]))
                *how = (uint8_t)(*how | of_operation(op, p->on, *how != 0));
        }
        if (op->row != NULL && has(p->on, MW__ARITHMETIC(wide_chains)))
            place(p, op);
    }
    for (size_t i = body->op_count; i-- > 0;)
        round_early(p, body->ops[i]);
}

mw_status mw__storage_chip_rounding(const mw__function *function, mw__arithmetic on, uint8_t *inout, mw_error *err)
{
    const mw_allocator *heap = function->graph->allocator;
    const size_t count = function->graph->value_count;
    const pass p = {.on = on,
                    .how = inout,
                    .slot = mw__alloc(heap, count, sizeof *p.slot, err),
                    .passed = mw__alloc(heap, count, sizeof *p.passed, err),
                    .uses = mw__alloc(heap, count, sizeof *p.uses, err)};
    const bool made = p.slot != NULL && p.passed != NULL && p.uses != NULL;
    if (made) {
        count_uses(function->body, p.uses);
        run_rounding(&p, function);
    }
    mw__free(heap, p.slot);
    mw__free(heap, p.passed);
    mw__free(heap, p.uses);
    return made ? MW_OK : MW_ERROR_MEMORY;
}
