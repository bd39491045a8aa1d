/* Which codes lie in quads of channels (engine/kernels/int8/int8.h): those that a convolution, a sum or a pooling of
 * codes makes, and that nothing but such operations reads. A convolution takes and makes either. What goes element by
 * element takes quads if all that it reads lies so, and may put its result back into rows. */
#include "engine/compile/patterns/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/int8/int8.h"

/* Of one pattern. */
typedef struct roles {
    const mw_tensor *reads[2];    /* codes dequantized that it may take in quads; or NULL */
    const mw_tensor *elements[2]; /* those of them that it takes element by element; or NULL */
    const mw_tensor *makes;       /* codes that it may give in quads; or NULL */
} roles;

/* The codes that a value is the numbers of; NULL: of none. */
static const mw_tensor *codes_below(const mw_tensor *numbers)
{
    return numbers != NULL && mw__pattern_is_named(numbers->op, "dequantize") ? mw__arg(numbers->op, "input") : NULL;
}

static bool has_quads(const mw_tensor *codes)
{
    const mw_shape shape = mw__shape_of(codes);
    return codes->type->dtype != MW_F32 && shape.rank >= 3 && shape.dim[1] % 4 == 0;
}

static roles roles_of_conv(const mw__int8_product_match *m)
{
    const mw_tensor *x = mw__arg(m->op, "x");
    if (!mw__int8_conv_is_whole(m->op))
        return (roles){0};
    if (m->sum == NULL)
        return (roles){.reads = {x}, .makes = m->result};
    const mw_tensor *other = mw__arg(m->sum->base.op, m->own == 0 ? "y" : "x");
    return (roles){.reads = {x, other}, .elements = {other}, .makes = m->sum->base.result};
}

static roles roles_of(const mw__pattern *pattern)
{
    if (mw__pattern_is(pattern, MW__RULE_int8_mean))
        return (roles){.reads = {mw__arg(((const mw__int8_product_match *)pattern->match)->op, "x")}};
    if (!mw__pattern_is(pattern, MW__RULE_int8_requantize) && !mw__pattern_is(pattern, MW__RULE_int8_product) &&
        !mw__pattern_is(pattern, MW__RULE_int8_residual))
        return (roles){0};
    const mw__int8_product_match *m = pattern->match;
    const mw_tensor *x = mw__arg(m->op, "x"), *y = mw__op_is(m->op, "add") ? mw__arg(m->op, "y") : NULL;
    if (mw__op_is(m->op, "conv"))
        return roles_of_conv(m);
    if (!mw__op_is(m->op, "add") && !mw__op_is(m->op, "max_pool"))
        return (roles){0};
    return (roles){.reads = {x, y}, .elements = {x, y}, .makes = m->result};
}

/* claimed: by value that is dequantized, as how many operands a pattern takes its codes instead. */
static void count_roles(mw__finder *f, uint32_t *claimed)
{
    for (size_t i = 0; i < f->body->op_count; i++) {
        const roles r = roles_of(f->patterns[i]);
        for (int k = 0; k < 2; k++)
            if (r.reads[k] != NULL)
                claimed[r.reads[k]->id]++;
        if (r.makes != NULL)
            f->quads[r.makes->id] = has_quads(r.makes);
    }
}

/* Codes that are read in another way are as they are. */
static void keep_others(mw__finder *f, const uint32_t *claimed, uint32_t *taken)
{
    for (size_t i = 0; i < f->body->op_count; i++) {
        const mw__op *op = f->body->ops[i];
        const mw_tensor *codes = op->result_count == 1 ? codes_below(op->results[0]) : NULL;
        if (codes != NULL && f->uses[op->results[0]->id] == claimed[op->results[0]->id])
            taken[codes->id]++;
    }
    for (size_t i = 0; i < f->function->graph->value_count; i++)
        f->quads[i] = f->quads[i] && taken[i] == f->uses[i];
}

/* Whether nothing had to change: if one operand lies in rows, all do, and the result. */
static bool tie(mw__finder *f, const roles *r)
{
    const mw_tensor *of[3] = {codes_below(r->elements[0]), codes_below(r->elements[1]), r->makes};
    bool rows = false, changed = false;
    for (int k = 0; k < 2; k++)
        rows = rows || (of[k] != NULL && !f->quads[of[k]->id]);
    for (int k = 0; k < 3 && rows; k++)
        if (of[k] != NULL)
            changed = changed || f->quads[of[k]->id], f->quads[of[k]->id] = false;
    return !changed;
}

static bool tie_all(mw__finder *f)
{
    bool done = true;
    for (size_t i = 0; i < f->body->op_count; i++) {
        const roles r = roles_of(f->patterns[i]);
        done = (r.elements[0] == NULL || tie(f, &r)) && done;
    }
    return done;
}

mw_status mw__patterns_lay_quads(mw__finder *f, mw_error *err)
{
    const size_t values = f->function->graph->value_count;
    if (f->quads == NULL)
        return MW_OK;
    uint32_t *counts = mw__arena_alloc(f->arena, 2 * values, sizeof *counts, err);
    if (counts == NULL)
        return MW_ERROR_MEMORY;
    count_roles(f, counts);
    keep_others(f, counts, counts + values);
    while (!tie_all(f)) {
    }
    return MW_OK;
}
