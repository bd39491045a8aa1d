/* Targets of values: learned as (value - mean) / deviation, so that prices learn as well as shares. Of a table the
 * encoder has scaled them; of other data the graph does, by the training part. */
#include "tool/train/training.h"

#include <math.h>
#include <stdlib.h>

/* Numbers of an example whose means are told apart; more of them are left as they are. */
enum { COLUMNS_MAX = 4096 };

static bool has_encoded_target(const training *t)
{
    return t->data.encoder != NULL && mw_table_encoder_target(t->data.encoder).kind == MW_TARGET_VALUE;
}

bool training_scales_target(const training *t) { return has_encoded_target(t) || t->target != NULL; }

double training_largest_target(const training *t)
{
    double largest = 0;
    if (has_encoded_target(t)) {
        const mw_encoded_target target = mw_table_encoder_target(t->data.encoder);
        const double end = fabs(target.mean) + 3 * target.deviation;
        return target.logarithm ? exp(target.mean + 3 * target.deviation) : end;
    }
    for (size_t i = 0; t->target != NULL && i < t->target_count; i++)
        largest = fmax(largest, fabs((double)t->target[i]) + 3 * (double)t->target[t->target_count + i]);
    return largest;
}

/* ---- of other data ---- */

static bool take_moments(training *t)
{
    data_moments moments = {0};
    if (!data_moments_take(&moments, t->data.plain, "y", t->err))
        return false;
    t->target_count = moments.count;
    t->target = calloc(2 * moments.count + 1, sizeof *t->target);
    for (size_t i = 0; t->target != NULL && i < moments.count; i++) {
        t->target[i] = (float)data_moments_mean(&moments, i);
        t->target[moments.count + i] = 1 / data_moments_factor(&moments, i);
    }
    data_moments_free(&moments);
    return t->target != NULL || training_fail(t, MW_ERROR_MEMORY, "there is no memory");
}

bool training_fit_target(training *t)
{
    const bool has_values = t->loss_kind == RECIPE_MSE || t->loss_kind == RECIPE_L1 || t->loss_kind == RECIPE_HUBER ||
                            t->loss_kind == RECIPE_QUANTILE;
    if (!has_values || t->data.encoder != NULL || t->model_path != NULL || t->data.y->shape.rank > 1 ||
        mw_shape_count(t->data.y->shape) > COLUMNS_MAX)
        return true;
    const config_node *settings = field_object(&t->c, t->c.root, "data");
    const int scale = field_choice(&t->c, settings, "data.target_scale", MW_TARGET_STANDARD);
    if (scale == MW_TARGET_LOGARITHM)
        config_fail(&t->c, config_get(settings, "target_scale"), "a logarithm is taken of the target of a table alone");
    return t->err->status == MW_OK && (scale == MW_TARGET_AS_IT_IS || take_moments(t));
}

/* [1, count] for values of [batch, count]. */
static mw_tensor *constant_row(const training *t, size_t first)
{
    return mw_constant(t->graph, MW_F32, MW_SHAPE(1, (int64_t)t->target_count), t->target + first);
}

static mw_tensor *as_rows(const training *t, mw_tensor *values)
{
    if (mw_tensor_dtype(values) == MW_F16)
        values = mw_cast(values, MW_F32);
    return mw_reshape(values, MW_SHAPE(t->batch, (int64_t)t->target_count));
}

static bool has_targets(const training *t, const mw_tensor *values)
{
    return t->target != NULL && values != NULL &&
           mw_shape_count(mw_tensor_shape(values)) == t->batch * (int64_t)t->target_count;
}

/* ---- there and back ---- */

/* The loss says what does not fit. */
mw_tensor *training_in_unit(const training *t, mw_tensor *values)
{
    if (has_encoded_target(t))
        return mw_table_encoder_unscale(t->data.encoder, values);
    if (!has_targets(t, values))
        return values;
    mw_tensor *rows = mw_add(mw_mul(as_rows(t, values), constant_row(t, t->target_count)), constant_row(t, 0));
    return mw_reshape(rows, mw_tensor_shape(values));
}

/* Of several targets, one beside the other along the last axis. */
static mw_tensor *scale_several(const training *t, mw_tensor *out)
{
    float numbers[2][COLUMNS_MAX];
    mw_encoded_target target;
    size_t count = 0;
    for (; count < COLUMNS_MAX && mw_table_encoder_target_at(t->data.encoder, count, &target); count++) {
        numbers[0][count] = (float)target.mean;
        numbers[1][count] = (float)(1 / target.deviation);
    }
    const mw_shape shape = mw_tensor_shape(out), row = MW_SHAPE(1, (int64_t)count);
    mw_tensor *rows = mw_reshape(out, MW_SHAPE(mw_shape_count(shape) / (int64_t)count, (int64_t)count));
    rows = mw_mul(mw_sub(rows, mw_constant(t->graph, MW_F32, row, numbers[0])),
                  mw_constant(t->graph, MW_F32, row, numbers[1]));
    return mw_reshape(rows, shape);
}

mw_tensor *training_scale_again(const training *t, mw_tensor *out)
{
    mw_encoded_target target, second;
    mw_table_encoder_target_at(t->data.encoder, 0, &target);
    if (mw_tensor_dtype(out) == MW_F16)
        out = mw_cast(out, MW_F32);
    if (target.logarithm)
        out = mw_log(mw_maximum(out, mw_scalar(t->graph, MW_F32, 1e-30)), 0.0f);
    if (mw_table_encoder_target_at(t->data.encoder, 1, &second))
        return scale_several(t, out);
    return mw_mul_scalar(mw_add_scalar(out, -target.mean), 1 / target.deviation);
}

mw_tensor *training_scaled_target(const training *t)
{
    if (!has_targets(t, t->y))
        return t->y;
    mw_tensor *rows = mw_real_div(mw_sub(as_rows(t, t->y), constant_row(t, 0)), constant_row(t, t->target_count));
    return mw_reshape(rows, mw_tensor_shape(t->y));
}

mw_tensor *training_target_in_unit(const training *t)
{
    return has_encoded_target(t) ? mw_table_encoder_unscale(t->data.encoder, t->y) : t->y;
}
