/* Reading what is watched: of the step that ran last. */
#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include "graph/values/convert.h"
#include "runtime/trainer/watch/trainer_watched.h"

#include <math.h>

/* Whose program has the values. */
static const mw_trainer *latest_of(const mw_trainer *t) { return t->variants.latest != NULL ? t->variants.latest : t; }

/* Of a dispatch with several steps the last. */
static const void *data_of(const mw_trainer *t, const mw__watched_tensor *watched, mw_dtype *out_dtype)
{
    const mw_program *program = watched->behind ? t->watched.update_pass->program : t->step.program;
    *out_dtype = program->ports[watched->port].dtype;
    return t->progress.last_in_slot ? mw__trainer_slot_data(t, t->many.count - 1, watched->port)
                                    : mw__program_data(program, watched->port);
}

/* Gradients are in the loss scale. */
static double unit_of(const mw_trainer *t, const mw__watched_tensor *watched)
{
    return watched->of == MW_WATCH_GRADIENT ? 1.0 / t->numbers.loss_scale : 1.0;
}

static double number_at(const void *data, mw_dtype dtype, size_t i)
{
    return dtype == MW_F16 ? (double)mw__fp16_to_float(((const uint16_t *)data)[i]) : (double)((const float *)data)[i];
}

static void take_statistics(const mw_trainer *t, const mw__watched_tensor *watched, mw_watched *out)
{
    mw_dtype dtype;
    const void *data = data_of(t, watched, &dtype);
    double numbers[MW__WATCHED_NUMBERS];
    const double unit = unit_of(t, watched);
    for (size_t i = 0; i < MW__WATCHED_NUMBERS; i++)
        numbers[i] = number_at(data, dtype, i);
    out->min = unit * numbers[MW__WATCHED_MIN];
    out->max = unit * numbers[MW__WATCHED_MAX];
    out->mean = unit * numbers[MW__WATCHED_MEAN];
    out->deviation = unit * numbers[MW__WATCHED_DEVIATION];
    out->norm = unit * numbers[MW__WATCHED_NORM];
    out->zeros = numbers[MW__WATCHED_ZEROS];
    out->non_finite = numbers[MW__WATCHED_NON_FINITE];
}

static void take_norm(const mw_trainer *t, const mw__watched_tensor *watched, mw_watched *out)
{
    mw_dtype dtype;
    const void *data = data_of(t, watched, &dtype);
    out->norm = unit_of(t, watched) * number_at(data, dtype, watched->offset);
}

bool mw_trainer_watch_at(const mw_trainer *trainer, size_t index, mw_watched *out_watched)
{
    MW__FLOAT_SCOPE;
    if (!mw__live_has(trainer, MW__LIVE_TRAINER) || out_watched == NULL || index >= trainer->watched.count)
        return false;
    trainer = latest_of(trainer);
    const mw__watched_tensor *watched = &trainer->watched.tensors[index];
    *out_watched = (mw_watched){.name = watched->name,
                                .of = watched->of,
                                .kind = watched->kind,
                                .parameter = watched->parameter,
                                .elements = watched->elements,
                                .step = trainer->progress.last_step};
    if (trainer->progress.last_step == 0)
        return true;
    if (watched->kind == MW_WATCH_STATISTICS)
        take_statistics(trainer, watched, out_watched);
    if (watched->kind == MW_WATCH_NORM)
        take_norm(trainer, watched, out_watched);
    return true;
}

static mw_status read_values(const mw_trainer *t, size_t index, mw_dtype to, void *out, size_t count, mw_error *err)
{
    if (t == NULL || out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_watch_values: the %s is NULL",
                        t == NULL ? "trainer" : "memory for the values");
    if (index >= t->watched.count || t->watched.tensors[index].kind != MW_WATCH_VALUES)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_watch_values: %zu is not watched by its values", index);
    const mw__watched_tensor *watched = &t->watched.tensors[index];
    if ((int64_t)count != watched->elements)
        return mw__fail(err, MW_ERROR_SHAPE, "mw_trainer_watch_values: \"%.100s\" has %lld elements, not %zu",
                        watched->name, (long long)watched->elements, count);
    if (t->progress.last_step == 0)
        return mw__fail(err, MW_ERROR_STATE, "mw_trainer_watch_values: no step has run");
    mw_dtype dtype;
    const void *data = data_of(t, watched, &dtype);
    const mw__values values = {.data = data, .dtype = dtype, .count = count, .scale = (float)unit_of(t, watched)};
    return mw__convert_of(watched->name, out, to, &values, err); /* a power of two: rounded once */
}

mw_status mw_trainer_watch_values(mw_trainer *trainer, size_t index, mw_dtype dtype, void *out_data, size_t count,
                                  mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, read_values(trainer, index, dtype, out_data, count, err), err);
}

double mw__trainer_gradient_norm(const mw_trainer *trainer)
{
    MW__FLOAT_SCOPE;
    double sum = 0.0;
    bool found = false;
    mw_watched watched;
    for (size_t i = 0; mw_trainer_watch_at(trainer, i, &watched); i++) {
        if (watched.of != MW_WATCH_GRADIENT || watched.kind != MW_WATCH_NORM || watched.step == 0)
            continue;
        sum += watched.norm * watched.norm;
        found = true;
    }
    return found ? sqrt(sum) : (double)NAN;
}
