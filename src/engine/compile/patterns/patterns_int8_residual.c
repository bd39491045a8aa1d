/* A convolution of codes whose own codes nothing but a sum of codes takes. */
#include "engine/compile/patterns/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/int8/int8.h"

/* The convolution that makes operand k of a sum, if nothing else needs it; else NULL. */
static const mw__pattern *conv_of(const mw__finder *f, const mw__int8_sum_match *sum, int k)
{
    const mw_tensor *codes = sum->x[k], *numbers = mw__arg(sum->base.op, k == 0 ? "x" : "y");
    const mw__pattern *pattern = mw__pattern_of(f, codes);
    if (!mw__pattern_is(pattern, MW__RULE_int8_requantize) || f->uses[codes->id] != 1 || f->uses[numbers->id] != 1)
        return NULL;
    const mw__int8_product_match *m = pattern->match;
    return mw__op_is(m->op, "conv") && mw__int8_conv_is_whole(m->op) ? pattern : NULL;
}

static mw_status put_residual(mw__finder *f, size_t at, const mw__pattern *conv, int own, mw_error *err)
{
    const mw__int8_sum_match *sum = f->patterns[at]->match;
    mw__int8_product_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    mw__pattern *pattern = match != NULL ? mw__pattern_put(f, at, match, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *match = *(const mw__int8_product_match *)conv->match;
    match->sum = sum, match->own = own;
    pattern->reads[0] = match->x, pattern->reads[1] = sum->x[1 - own];
    for (size_t i = 0; i < conv->op_count; i++)
        MW_TRY(mw__pattern_add_op(f, pattern, conv->ops[i], err));
    return mw__pattern_put_made(f, f->maker[match->result->id] - 1, sum->base.result, err);
}

/* The convolution is planned where the sum is, and nowhere else. */
mw_status mw__match_int8_residual(mw__finder *f, size_t at, mw_error *err)
{
    const mw__int8_product_match *m = f->patterns[at]->match;
    if (!mw__op_is(m->op, "add"))
        return MW_OK;
    const mw__int8_sum_match *sum = f->patterns[at]->match;
    for (int own = 1; own >= 0; own--) {
        const mw__pattern *conv = conv_of(f, sum, own);
        if (conv != NULL)
            return put_residual(f, at, conv, own, err);
    }
    return MW_OK;
}
