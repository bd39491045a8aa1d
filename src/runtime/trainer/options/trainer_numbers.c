/* The numbers of a trainer: what its device can hold, and what follows from the types of the parameters. */
#include "runtime/trainer/options/trainer_numbers.h"

#include "base/number/fp16.h"
#include "runtime/trainer/options/trainer_options.h"

#include <math.h>

bool mw__trainer_number_is_lost(double value, mw_dtype dtype)
{
    if (value == 0.0 || !isfinite(value))
        return false;
    const double stored =
        dtype == MW_F16 ? (double)mw__fp16_to_float(mw__fp16_from_double(value)) : (double)(float)value;
    return stored == 0.0 || !isfinite(stored);
}

size_t mw__trainer_scalar_sets(const mw_trainer *trainer) { return 2 * (trainer->optimizer.group_count + 1); }

double mw__trainer_average_rate(const mw_trainer *trainer, int64_t step)
{
    const double least = 1.0 - trainer->numbers.average_decay;
    const int64_t counted = step - trainer->numbers.average_from + 1;
    if (trainer->numbers.average_from == 0)
        return least;
    return counted <= 1 ? 1.0 : fmax(least, 1.0 / (double)counted);
}

double mw__trainer_scalar_value(const mw_trainer *trainer, const mw__trainer_scalar *scalar, float learning_rate,
                                int64_t step)
{
    if (scalar->group == trainer->optimizer.group_count)
        return mw__trainer_average_rate(trainer, step);
    const mw__trainer_group *group = &trainer->optimizer.groups[scalar->group];
    const bool half = mw__trainer_stored(trainer, scalar->declared) == MW_F16;
    return mw__optimizer_scalar_value(&group->optimizer, half, scalar->index, trainer->numbers.loss_scale,
                                      (double)learning_rate * group->rate_factor, step);
}

mw_status mw__trainer_check_scalars(const mw_trainer *trainer, float learning_rate, int64_t step, mw_error *err)
{
    for (size_t i = 0; i < trainer->optimizer.scalar_count; i++) {
        const mw__trainer_scalar *scalar = &trainer->optimizer.scalars[i];
        const double value = mw__trainer_scalar_value(trainer, scalar, learning_rate, step);
        if (mw__trainer_number_is_lost(value, scalar->dtype) || !isfinite(value))
            return mw__fail(err, MW_ERROR_NUMERIC,
                            "%s is %g at step %lld (learning rate %g), which %s cannot hold: it becomes 0 or infinite",
                            scalar->name, value, (long long)step, (double)learning_rate, mw_dtype_name(scalar->dtype));
    }
    return MW_OK;
}

/* Small gradients vanish in fp16, and their squares, which Adam needs, sooner: on MNIST Adam lost half a point without.
 * A larger scale gains nothing there and lets gradients above 65504 / scale overflow. */
#define HALF_LOSS_SCALE 256.0
/* Products in fixed point lose gradients below 2^-17: under M6's profile the autoencoder of examples ends at a loss of
 * 0.0283 with 256 and of 0.0203 with this. */
#define FIXED_LOSS_SCALE 2048.0

static mw_status check_constants(const mw_trainer *t, const mw__optimizer *optimizer, mw_dtype dtype, mw_error *err)
{
    mw__optimizer_constant constants[MW__OPTIMIZER_NUMBERS];
    const size_t count = mw__optimizer_constants(optimizer, t->numbers.loss_scale, constants);
    for (size_t i = 0; i < count; i++) {
        if (mw__trainer_number_is_lost(constants[i].value, dtype))
            return mw__fail(err, MW_ERROR_NUMERIC,
                            "optimizer: %s is %g, which %s cannot hold: it becomes 0 or infinite", constants[i].name,
                            constants[i].value, mw_dtype_name(dtype));
    }
    return MW_OK;
}

mw_dtype mw__trainer_stored(const mw_trainer *trainer, mw_dtype declared)
{
    return trainer->target.device->half_ports && declared == MW_F32 ? MW_F16 : declared;
}

static bool is_half(const mw_trainer *t, const mw_tensor *value)
{
    return value->type->kind == MW__TENSOR && mw__trainer_stored(t, value->type->dtype) == MW_F16;
}

/* True if anything is computed in fp16, whatever the parameters are stored in. */
static bool computes_half(const mw_trainer *t)
{
    const mw__block *body = mw__graph_main(t->model.graph)->body;
    for (size_t i = 0; i < body->op_count; i++) {
        for (size_t k = 0; k < body->ops[i]->result_count; k++)
            if (is_half(t, body->ops[i]->results[k]))
                return true;
    }
    return false;
}

static bool has_half(const mw_trainer *t)
{
    const mw__block *body = mw__graph_main(t->model.graph)->body;
    for (size_t i = 0; i < body->input_count; i++) {
        if (mw__is_resident(body->inputs[i]) && is_half(t, body->inputs[i]))
            return true;
    }
    return false;
}

static double usual_scale(const mw_trainer *t, bool half)
{
    const bool fixed =
        t->target.device->half_ports && (t->target.arithmetic & MW__ARITHMETIC(product_fixed_point)) != 0;
    if (!half && !computes_half(t))
        return 1.0;
    return fixed ? FIXED_LOSS_SCALE : HALF_LOSS_SCALE;
}

mw_status mw__trainer_resolve_numbers(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    const bool half = has_half(t);
    const double usual = usual_scale(t, half);
    t->numbers.loss_scale =
        o->precision.loss_scale != 0.0f && !o->precision.dynamic ? (double)o->precision.loss_scale : usual;
    if (o->precision.dynamic) {
        t->numbers.first_scale = o->precision.loss_scale != 0.0f ? (double)o->precision.loss_scale : MW__LOSS_SCALE_MAX;
        t->numbers.scale_interval = o->precision.interval != 0 ? o->precision.interval : MW__LOSS_SCALE_INTERVAL;
    }
    t->record.warnings = mw__arena_alloc(&t->arena, t->optimizer.group_count, sizeof *t->record.warnings, err);
    if (t->record.warnings == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < t->optimizer.group_count; i++) {
        mw__optimizer_set_epsilon(&t->optimizer.groups[i].optimizer, half, t->numbers.loss_scale);
        if (half && !t->compile.strict && !t->optimizer.groups[i].frozen)
            MW_TRY(mw__trainer_keep_epsilon(t, &t->optimizer.groups[i].optimizer, err));
        if (!t->optimizer.groups[i].frozen)
            MW_TRY(check_constants(t, &t->optimizer.groups[i].optimizer, half ? MW_F16 : MW_F32, err));
    }
    mw__trainer_set_limits(t);
    return MW_OK;
}
