/* Between the backward pass and the update: loss scale and clipping. */
#include "base/number/fp16.h"
#include "runtime/trainer/build/trainer_build.h"
#include "runtime/trainer/build/trainer_check.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"

#include <float.h>
#include <math.h>
#include <millwright/millwright.h>

/* A scalar in the type of another tensor. */
static mw_tensor *in_type_of(mw_tensor *scalar, const mw_tensor *x)
{
    const mw_dtype dtype = mw_tensor_dtype(x);
    return mw_tensor_dtype(scalar) == dtype ? scalar : mw_cast(scalar, dtype);
}

/* ---- loss scale ---- */

mw_tensor *mw__trainer_start(mw__trainer_build *b)
{
    const mw_trainer *t = b->trainer;
    const int64_t batches = (int64_t)t->numbers.accumulate * t->numbers.gradient_ranks;
    const double share = 1.0 / (double)batches;
    if (t->numbers.scale_interval == 0)
        return mw__trainer_number(b, t->numbers.loss_scale * share);
    mw__trainer_need_scale(b);
    return batches > 1 ? mw_mul_scalar(b->scale, share) : b->scale;
}

void mw__trainer_need_scale(mw__trainer_build *b)
{
    const mw_dtype dtype = mw_tensor_dtype(b->loss);
    if (b->trainer->numbers.scale_interval == 0 || b->scale != NULL)
        return;
    b->scale = mw_input(b->graph, MW__SCALE, dtype, mw_shape_scalar());
    b->good_steps = mw_input(b->graph, MW__GOOD_STEPS, dtype, mw_shape_scalar());
}

void mw__trainer_rescale(mw__trainer_build *b)
{
    if (b->scale == NULL)
        return;
    mw_tensor *wanted = mw__trainer_number(b, b->trainer->numbers.loss_scale);
    mw_tensor *ratio = mw_real_div(wanted, b->scale); /* of powers of two: exact */
    for (size_t i = 0; i < b->count; i++) {
        mw_tensor *factor = in_type_of(ratio, b->gradients[i]);
        b->gradients[i] = mw_mul(b->gradients[i], factor);
        if (b->probes != NULL)
            b->probes[i] = mw_mul(b->probes[i], factor);
    }
}

/* After a step that is not ok half the scale, after `interval` good ones twice. */
mw_status mw__trainer_build_scale(mw__trainer_build *b, mw_error *err)
{
    if (b->scale == NULL)
        return MW_OK;
    mw_tensor *half = mw_mul_scalar(b->scale, 0.5);
    mw_tensor *less = mw_maximum(half, mw__trainer_number(b, 1.0));
    mw_tensor *twice = mw_mul_scalar(mw_minimum(b->scale, mw__trainer_number(b, MW__LOSS_SCALE_MAX / 2.0)), 2.0);
    mw_tensor *good = mw_add_scalar(b->good_steps, b->kind == MW__PASS_SUM ? 0.0 : 1.0);
    mw_tensor *full = mw_greater_equal(good, mw__trainer_number(b, (double)b->trainer->numbers.scale_interval));
    mw_tensor *more = mw_select(full, twice, b->scale);
    mw_tensor *counted = mw_select(full, mw__trainer_number(b, 0.0), good);
    MW_TRY(mw__trainer_next_always(b, b->scale, mw_select(b->ok, more, less), err));
    return mw__trainer_next_always(b, b->good_steps, mw_select(b->ok, counted, mw__trainer_number(b, 0.0)), err);
}

/* ---- clipping ---- */

/* sqrt of the sum of squares over all gradients, in their scale: a norm of norms, as squares overflow fp16. */
mw_status mw__trainer_build_norm(mw__trainer_build *b, mw_error *err)
{
    mw_tensor **norms = mw__arena_alloc(&b->arena, b->count, sizeof *norms, err);
    if (norms == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < b->count; i++) {
        mw_tensor *norm = mw_reduce_l2_norm(b->gradients[i], MW_ALL_AXES, false);
        norms[i] = mw_expand_dims(in_type_of(norm, b->loss), MW_AXES(0));
    }
    mw_tensor *all = b->count > 1 ? mw_concat(norms, b->count, 0) : norms[0];
    b->norm = mw_reduce_l2_norm(all, MW_ALL_AXES, false);
    return mw_graph_check(b->graph, err);
}

/* A limit in the scale of the gradients; one that becomes 0 would stop the training without a word. */
static mw_status scale_limit(const mw__trainer_build *b, const char *field, double limit, const mw_tensor *like,
                             double *out, mw_error *err)
{
    const mw_dtype dtype = mw__trainer_stored(b->trainer, mw_tensor_dtype(like));
    *out = limit * b->trainer->numbers.loss_scale;
    if (!mw__trainer_number_is_lost(*out, dtype))
        return MW_OK;
    return mw__fail(err, MW_ERROR_NUMERIC,
                    "trainer: %s is %g, in the loss scale %g, which %s cannot hold: it becomes 0 or infinite", field,
                    limit, *out, mw_dtype_name(dtype));
}

static mw_status clip_values(mw__trainer_build *b, mw_error *err)
{
    for (size_t i = 0; i < b->count; i++) {
        double limit;
        MW_TRY(scale_limit(b, "clipping.value", b->trainer->numbers.clip_value, b->gradients[i], &limit, err));
        b->gradients[i] = mw_clip(b->gradients[i], (float)-limit, (float)limit);
    }
    return MW_OK;
}

/* gradient * limit / max(norm, limit) */
static mw_status clip_to_norm(mw__trainer_build *b, mw_tensor *norm, mw_error *err)
{
    double scaled;
    MW_TRY(scale_limit(b, "clipping.norm", b->trainer->numbers.clip_norm, norm, &scaled, err));
    mw_tensor *limit = mw__trainer_number(b, scaled);
    mw_tensor *factor = mw_real_div(limit, mw_maximum(norm, limit));
    for (size_t i = 0; i < b->count; i++) {
        mw_tensor *own = in_type_of(factor, b->gradients[i]);
        b->gradients[i] = mw_mul(b->gradients[i], own);
    }
    return MW_OK;
}

mw_status mw__trainer_clip(mw__trainer_build *b, mw_error *err)
{
    const mw_trainer *t = b->trainer;
    if (t->numbers.clip_norm != 0.0 && b->kind != MW__PASS_SUM) {
        if (b->norm == NULL)
            MW_TRY(mw__trainer_build_norm(b, err));
        MW_TRY(clip_to_norm(b, b->norm, err));
    }
    if (t->numbers.clip_value != 0.0 && b->kind != MW__PASS_SUM)
        MW_TRY(clip_values(b, err));
    return mw_graph_check(b->graph, err);
}
