/* Convolutions with a computed kernel that is dilated. The text may not say so; it spreads the kernel with zeros
 * (graph/patterns/conv.h). Here the zeros are left out again, forward and in both gradients: what they would add is 0,
 * so that no bit of a finite sum changes. */
#include "engine/compile/patterns/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/pattern_plans.h"

#include <string.h>

enum { WEIGHT = MW__COMPARE_Y };

/* ---- the kernel ---- */

/* The value that is spread along some spatial axes and cut after its last element; the steps are put into `dilation`.
 * NULL if `wide` is nothing like that. */
static const mw_tensor *below_zeros(const mw_tensor *wide, int axes, int64_t *dilation)
{
    mw__conv spread = {.axes = axes, .stride = {1, 1, 1}};
    const mw_tensor *value = mw__pattern_below(wide, "slice_by_size");
    for (int i = 0; value != NULL && i < axes; i++)
        value = mw__pattern_below_spread(value, &spread);
    memcpy(dilation, spread.stride, sizeof spread.stride);
    return value;
}

/* Whether it is what the builder makes of it. */
static mw_status compare_wide(mw__finder *f, const mw_tensor *wide, const mw_tensor *weight, const int64_t *dilation,
                              bool *out_same, mw_error *err)
{
    mw__pattern_compare c;
    mw_status status = mw__pattern_compare_begin(&c, f->function, err);
    if (status == MW_OK) {
        mw_tensor *input = mw__pattern_compare_input(&c, WEIGHT, "weight", weight);
        c.wanted[WEIGHT] = weight;
        status = mw__pattern_compare_written(&c, mw__conv_dilate_weight(input, dilation), err);
    }
    *out_same = status == MW_OK && c.root != NULL && mw__pattern_compare_values(&c, c.root, wide);
    mw__pattern_compare_end(&c);
    return status;
}

/* The elements of `wide` that are not zeros between others; *out is NULL if there are none such. `conv`, of the wide
 * kernel, is then that of these. */
static mw_status find_weight(mw__finder *f, const mw_tensor *wide, mw__conv *conv, const mw_tensor **out, mw_error *err)
{
    int64_t dilation[MW__CONV_AXES];
    bool same = false;
    const mw_tensor *weight = below_zeros(wide, conv->axes, dilation);
    *out = NULL;
    if (weight == NULL || weight->type->kind != MW__TENSOR || mw__shape_of(weight).rank != conv->axes + 2)
        return MW_OK;
    MW_TRY(compare_wide(f, wide, weight, dilation, &same, err));
    for (int i = 0; same && i < conv->axes; i++)
        conv->kernel[i] = mw__shape_of(weight).dim[i + 2], conv->dilation[i] = dilation[i];
    *out = same ? weight : NULL;
    return MW_OK;
}

/* ---- y ---- */

static const char no_kernel[] = "the kernel has no such convolution";

mw_status mw__match_conv_dilated(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *op = f->body->ops[at];
    const mw_tensor *wide = mw__arg(op, "weight");
    mw__conv_dilated_match match = {
        .x = mw__arg(op, "x"), .weight = wide, .bias = mw__arg(op, "bias"), .y = op->results[0]};
    if (!mw__conv_read(op, &match.conv))
        return mw__pattern_decline(f, f->row->declined);
    const bool suits = mw__conv_dilated_suits(&match); /* kernels that suit add in one order; others do not */
    MW_TRY(find_weight(f, wide, &match.conv, &match.weight, err));
    if (match.weight == NULL)
        return mw__pattern_decline(f, f->row->declined);
    if (!suits || !mw__conv_dilated_suits(&match))
        return mw__pattern_decline(f, no_kernel);
    mw__conv_dilated_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, at, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = match;
    pattern->reads[0] = match.x, pattern->reads[1] = match.weight, pattern->reads[2] = match.bias;
    return mw__pattern_add_op(f, pattern, op, err);
}

/* ---- dx ---- */

mw_status mw__match_conv_dilated_dx(mw__finder *f, size_t at, mw_error *err)
{
    mw__conv_dx_match match = *(const mw__conv_dx_match *)f->patterns[at]->match;
    MW_TRY(find_weight(f, match.weight, &match.conv, &match.weight, err));
    if (match.weight == NULL)
        return mw__pattern_decline(f, f->row->declined);
    if (!mw__conv_dx_suits(&match))
        return mw__pattern_decline(f, no_kernel);
    mw__conv_dx_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, at, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = match;
    pattern->reads[0] = match.dy, pattern->reads[1] = match.weight;
    return MW_OK;
}

/* ---- dweight ---- */

/* Whether no element before the first is left out. */
static bool begins_at_0(const mw__op *slice)
{
    int64_t begin[MW_RANK_MAX];
    size_t count = 0;
    bool all = mw__arg_ints(slice, "begin", begin, MW_RANK_MAX, &count);
    for (size_t i = 0; i < count; i++)
        all = all && begin[i] == 0;
    return all;
}

/* What the value is every `step`-th element of along one axis, from the first on; NULL if it is not that. */
static const mw_tensor *below_taken(const mw_tensor *value, int axis, int64_t *step)
{
    const mw_tensor *taken = mw__pattern_below(value, "reshape"), *apart = mw__pattern_below(taken, "slice_by_size");
    const mw_tensor *wide = mw__pattern_below(apart, "reshape");
    const mw_shape narrow = mw__shape_of(value);
    if (wide == NULL || mw__shape_of(wide).rank != narrow.rank || !begins_at_0(taken->op))
        return NULL;
    const int64_t extent = narrow.dim[axis], all = mw__shape_of(wide).dim[axis], each = extent > 0 ? all / extent : 0;
    mw_shape shape = narrow, parts = mw__shape_of(apart);
    shape.dim[axis] = all;
    const int64_t span = mw__shape_span(narrow, 1, axis), rest = mw__shape_span(narrow, axis + 1, narrow.rank);
    if (each * extent != all || !mw_shape_equal(shape, mw__shape_of(wide)) ||
        !mw_shape_equal(parts, MW_SHAPE(narrow.dim[0], span, extent, each, rest)) ||
        !mw_shape_equal(mw__shape_of(taken), MW_SHAPE(narrow.dim[0], span, extent, 1, rest)))
        return NULL;
    *step = each;
    return wide;
}

/* What lies before elements that are added after its last ones, and are never taken. */
static const mw_tensor *below_end(const mw_tensor *value)
{
    int64_t pad[2 * MW_RANK_MAX];
    size_t count = 0;
    const mw_tensor *inner = mw__pattern_below(value, "pad");
    if (inner == NULL || !mw__arg_ints(value->op, "pad", pad, 2 * MW_RANK_MAX, &count))
        return NULL;
    for (size_t i = 0; i < count; i += 2)
        if (pad[i] != 0)
            return NULL;
    return inner;
}

/* The gradient by the wide kernel, of whose elements `value` is those of the narrow one; the numbers are put into
 * `conv`. NULL if it is none. */
static const mw_tensor *below_gradient(const mw_tensor *value, mw__conv *conv)
{
    const mw_tensor *at = value;
    for (int i = 0; i < conv->axes; i++) {
        conv->dilation[i] = 1, conv->kernel[i] = mw__shape_of(value).dim[i + 2];
        const mw_tensor *wide = below_taken(at, i + 2, &conv->dilation[i]);
        at = wide != NULL ? wide : at;
    }
    const mw_tensor *inner = at != value ? below_end(at) : NULL;
    for (int i = 0; inner != NULL && i < conv->axes; i++)
        if (mw__shape_of(inner).dim[i + 2] != mw__conv_cover(conv, i))
            return NULL;
    return inner;
}

/* The operation at which a pattern makes that gradient; op_count if none does. */
static size_t find_gradient(const mw__finder *f, const mw_tensor *gradient)
{
    size_t i = 0;
    while (i < f->body->op_count && f->body->ops[i] != gradient->op)
        i++;
    const mw__pattern *pattern = i < f->body->op_count ? f->patterns[i] : NULL;
    return mw__pattern_is(pattern, MW__RULE_conv_dweight) || mw__pattern_is(pattern, MW__RULE_conv_dweight_alone)
               ? i
               : f->body->op_count;
}

/* It is planned where the wide gradient would be. */
static mw_status put_dweight(mw__finder *f, size_t at, size_t wide, const mw__conv_dweight_match *match, mw_error *err)
{
    mw__conv_dweight_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, wide, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = *match;
    pattern->reads[0] = match->x, pattern->reads[1] = match->dy;
    return mw__pattern_put_made(f, at, f->body->ops[wide]->results[0], err);
}

mw_status mw__match_conv_dilated_dweight(mw__finder *f, size_t at, mw_error *err)
{
    const mw_tensor *value = f->body->ops[at]->results[0];
    mw__conv numbers = {.axes = mw__shape_of(value).rank - 2};
    const mw_tensor *gradient =
        numbers.axes > 0 && numbers.axes <= MW__CONV_AXES ? below_gradient(value, &numbers) : NULL;
    const size_t wide = gradient != NULL ? find_gradient(f, gradient) : f->body->op_count;
    if (wide == f->body->op_count)
        return mw__pattern_decline(f, f->row->declined);
    mw__conv_dweight_match match = *(const mw__conv_dweight_match *)f->patterns[wide]->match;
    memcpy(match.numbers.kernel, numbers.kernel, sizeof numbers.kernel);
    memcpy(match.numbers.dilation, numbers.dilation, sizeof numbers.dilation);
    match.conv = NULL, match.dweight = value;
    if (!mw__conv_dweight_suits(&match, value))
        return mw__pattern_decline(f, no_kernel);
    return put_dweight(f, at, wide, &match, err);
}
