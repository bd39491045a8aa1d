/* One step: feed, run, read the loss. Nothing here allocates or looks up a name that did not change. */
#include "runtime/trainer/step/trainer_step.h"

#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include "base/text/log.h"
#include "base/text/printable.h"
#include "runtime/trainer/build/trainer_alias.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/step/trainer_compare.h"
#include "runtime/trainer/step/trainer_nan_origin.h"
#include "runtime/trainer/watch/trainer_watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

float mw__trainer_scalar_read(const void *data, mw_dtype dtype)
{
    return dtype == MW_F16 ? mw__fp16_to_float(*(const uint16_t *)data) : *(const float *)data;
}

void mw__trainer_scalar_write(void *data, mw_dtype dtype, float value)
{
    if (dtype == MW_F16)
        *(uint16_t *)data = mw__fp16_from_float(value);
    else
        *(float *)data = value;
}

float mw__trainer_read_scalar(const mw_program *program, size_t port)
{
    return mw__trainer_scalar_read(mw__program_data(program, port), program->ports[port].dtype);
}

mw_status mw__trainer_write_scalar(mw_trainer *t, const mw__trainer_scalar *scalar, void *data, int64_t step,
                                   mw_error *err)
{
    const double value = mw__trainer_scalar_value(t, scalar, t->numbers.learning_rate, step);
    if (!isfinite(value) ||
        mw__trainer_number_is_lost(value, scalar->dtype)) /* a bias correction that drifted out of range */
        return mw__trainer_check_scalars(t, t->numbers.learning_rate, step, err);
    if (scalar->dtype == MW_F16)
        *(uint16_t *)data = mw__fp16_from_double(value);
    else
        *(float *)data = (float)value;
    t->progress.counters.feed_bytes += scalar->dtype == MW_F16 ? 2 : 4;
    return MW_OK;
}

mw_status mw__trainer_write_scalars(mw_trainer *t, int64_t step, mw_error *err)
{
    for (size_t i = 0; i < t->optimizer.scalar_count; i++)
        MW_TRY(mw__trainer_write_scalar(t, &t->optimizer.scalars[i], t->optimizer.scalars[i].data, step, err));
    return MW_OK;
}

/* " (examples 17, 4, 230, ...)": shuffled ones are no range. */
static void list_examples(const mw_batch *batch, char *out, size_t size)
{
    enum { SHOWN = 6 };
    size_t used = 0;
    out[0] = '\0';
    for (int64_t i = 0; batch->ids != NULL && i < batch->examples && i < SHOWN; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, i == 0 ? " (examples " : ", ", batch->ids[i]);
    if (used > 0)
        snprintf(out + used, size - used, "%s)", batch->examples > SHOWN ? ", ..." : "");
}

/* What is wrong if the loss is finite and no operation can be named. */
static const char *name_cause(const mw_trainer *t)
{
    if (t->numbers.loss_scale == 1.0)
        return "a gradient, a new weight or a new state is not finite, or so large that the update would not be";
    return "a gradient in the loss scale, a new weight or a new state is not finite; a smaller loss_scale may do";
}

/* "the loss is nan: the first result ...", "a gradient ...: the first result ..." */
static void describe_cause(const mw_trainer *t, float loss, const char *first, char *out, size_t size)
{
    char scale[48] = "";
    if (t->numbers.loss_scale != 1.0)
        mw__printable_printf(scale, sizeof scale, " (loss scale %g)", t->numbers.loss_scale);
    if (!isfinite(loss))
        mw__printable_printf(out, size, ": the loss is %g%s%s", (double)loss, first[0] != '\0' ? ": " : "", first);
    else
        snprintf(out, size, "%s: %s", scale, first[0] != '\0' ? first : name_cause(t));
}

static mw_status refuse_step(mw_trainer *t, const mw__trainer_pass *pass, const mw_batch *batch, float loss,
                             mw_error *err)
{
    char ids[160], cause[400];
    mw__nan_origin first;
    list_examples(batch, ids, sizeof ids);
    mw__trainer_find_nan_origin(t, pass, &first);
    describe_cause(t, loss, first.text, cause, sizeof cause);
    mw__fail(err, MW_ERROR_NUMERIC, "step %" PRId64 " is refused%s; parameters and state are as before%s",
             t->progress.steps + 1, cause, ids);
    mw__error_subject(err, first.operation, first.tensor);
    return MW_ERROR_NUMERIC;
}

/* Enough to come down from the largest scale to 1 and to see that it does not help. */
#define SKIPPED_MAX 32

/* A dynamic loss scale has been halved by the program; the next batch takes the place of this one. */
static mw_status skip_step(mw_trainer *t, const mw__trainer_pass *pass, const mw_batch *batch, float loss,
                           mw_error *err)
{
    char ids[160];
    mw__nan_origin first;
    t->progress.counters.refused_steps++;
    if (++t->progress.skipped < SKIPPED_MAX)
        return MW_OK;
    list_examples(batch, ids, sizeof ids);
    mw__trainer_find_nan_origin(t, pass, &first);
    return mw__fail(err, MW_ERROR_NUMERIC,
                    "step %" PRId64 ": %d batches in a row were skipped, and the loss scale is down to 1; the loss of "
                    "the last was %g: %s; parameters are as before%s",
                    t->progress.steps + 1, t->progress.skipped, (double)loss,
                    first.text[0] != '\0' ? first.text : "the training has diverged, or the data is bad", ids);
}

/* What is watched is that of this step. */
static void note_step(mw_trainer *t, bool updates)
{
    if (updates)
        t->progress.last_step = t->progress.steps + 1;
}

static void count_step(mw_trainer *t, bool updated)
{
    t->progress.accumulated = updated ? 0 : t->progress.accumulated + 1;
    t->progress.skipped = 0;
    t->progress.steps += updated;
    t->progress.counters.steps += updated;
}

/* Said once; the step is counted, as its numbers are finite. */
static void watch_loss(mw_trainer *t, bool updated, float loss)
{
    const double mean = t->progress.divergence.mean;
    if (!t->progress.divergence.warned && mw__divergence_is_seen(&t->progress.divergence, (double)loss))
        mw__log(MW_LOG_WARNING,
                "step %" PRId64
                ": the loss is %g, more than %g times its running mean of %g: the training diverges; try "
                "a smaller learning rate than %g",
                t->progress.steps + !updated, (double)loss, MW__LOSS_GROWTH, mean, (double)t->numbers.learning_rate);
}

mw_status mw__trainer_commit(mw_trainer *t, const mw__trainer_pass *pass, const mw_batch *batch,
                             const mw__step_result *result, float *out_loss, mw_error *err)
{
    const bool good = result->ok == 1.0f;
    note_step(t, pass == &t->step);
    t->progress.counters.result_bytes += pass->program->ports[pass->loss_port].dtype == MW_F16 ? 4 : 8;
    if (!good && t->numbers.scale_interval == 0) {
        t->progress.counters.refused_steps++;
        return refuse_step(t, pass, batch, result->loss, err);
    }
    if (out_loss != NULL)
        *out_loss = result->loss;
    if (!good)
        return skip_step(t, pass, batch, result->loss, err);
    count_step(t, pass == &t->step);
    watch_loss(t, pass == &t->step, result->loss);
    return MW_OK;
}

mw_status mw__trainer_commit_ranks(mw_trainer *t, bool updates, const mw_batch *batch, const mw__step_result *result,
                                   float *out_loss, mw_error *err)
{
    const bool good = result->ok == 1.0f;
    note_step(t, updates);
    if (!good && t->numbers.scale_interval == 0) {
        t->progress.counters.refused_steps++;
        return mw__fail(err, MW_ERROR_NUMERIC,
                        "step %" PRId64
                        " is refused: the batches of all ranks are good, but their mean gradient or what "
                        "the update makes of it is not finite; parameters and state are as before",
                        t->progress.steps + 1);
    }
    if (out_loss != NULL)
        *out_loss = result->loss;
    if (!good)
        return skip_step(t, &t->step, batch, result->loss, err);
    count_step(t, updates);
    watch_loss(t, updates, result->loss);
    return MW_OK;
}

/* A batch that is not finite is a refused step too. */
mw_status mw__trainer_feed(mw_trainer *t, mw__feeder *feeder, const mw_batch *batch, int64_t step, mw_error *err)
{
    const mw_status status = mw__feeder_feed(feeder, batch, step, &t->progress.counters.feed_bytes, err);
    t->progress.counters.refused_steps += status == MW_ERROR_NUMERIC;
    return status;
}

static mw_status run_step(mw_trainer *t, const mw_batch *batch, float *out_loss, mw_error *err)
{
    const bool updates = t->progress.accumulated + 1 == t->numbers.accumulate;
    mw__trainer_pass *pass = updates ? &t->step : &t->accumulation;
    MW_TRY(mw__trainer_feed(t, &pass->feeder, batch, t->progress.steps + 1, err));
    if (updates)
        MW_TRY(mw__trainer_write_scalars(t, t->progress.steps + 1, err));
    if (mw__trainer_compares(t) && updates)
        MW_TRY(mw__trainer_compare(t, err));
    MW_TRY(pass->shadow != NULL ? mw__trainer_run_twice(t, pass, err) : mw__program_run(pass->program, err));
    t->progress.last_in_slot = t->progress.last_in_slot && !updates;
    const mw__step_result result = {mw__trainer_read_scalar(pass->program, pass->loss_port),
                                    mw__trainer_read_scalar(pass->program, pass->ok_port)};
    return mw__trainer_commit(t, pass, batch, &result, out_loss, err);
}

mw_status mw__trainer_check_batch(const mw_trainer *trainer, const mw_batch *batch, mw_error *err)
{
    if (trainer == NULL || batch == NULL || (batch->feeds == NULL && batch->feed_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_step: the %s NULL",
                        trainer == NULL ? "trainer is"
                        : batch == NULL ? "batch is"
                                        : "feeds of the batch are");
    MW_TRY(mw__trainer_check_alive(trainer, err));
    if (batch->examples < 0 || (trainer->progress.batch > 0 && batch->examples > trainer->progress.batch))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_step: the batch says %" PRId64 " examples of %" PRId64,
                        batch->examples, trainer->progress.batch);
    return MW_OK;
}

mw_trainer *mw__trainer_variant_for(mw_trainer *trainer, const mw_batch *batch)
{
    if (trainer->variants.count == 0 || mw__feeder_fits(&trainer->step.feeder, batch))
        return trainer;
    for (size_t i = 0; i < trainer->variants.count; i++)
        if (mw__feeder_fits(&trainer->variants.items[i]->step.feeder, batch))
            return trainer->variants.items[i];
    return trainer;
}

/* Where the training stands goes with the step, and comes back; with it, whose program has what is watched. */
static mw_status run_variant(mw_trainer *trainer, mw_trainer *variant, const mw_batch *batch, float *out_loss,
                             mw_error *err)
{
    const int64_t before = trainer->progress.last_step;
    variant->numbers.learning_rate = trainer->numbers.learning_rate;
    variant->progress = trainer->progress;
    variant->progress.last_step = 0;
    const mw_status status = run_step(variant, batch, out_loss, err);
    trainer->progress = variant->progress;
    trainer->health = variant->health;
    if (trainer->progress.last_step != 0)
        trainer->variants.latest = variant;
    else
        trainer->progress.last_step = before; /* nothing ran, or it updates nothing */
    return status;
}

mw_status mw__trainer_step_alone(mw_trainer *trainer, const mw_batch *batch, float *out_loss, mw_error *err)
{
    MW_TRY(mw__trainer_check_batch(trainer, batch, err));
    return trainer->variants.count == 0
               ? run_step(trainer, batch, out_loss, err)
               : run_variant(trainer, mw__trainer_variant_for(trainer, batch), batch, out_loss, err);
}

const mw__trainer_strategy mw__trainer_alone = {.name = "alone", .step = mw__trainer_step_alone};

static mw_status step(mw_trainer *trainer, const mw_batch *batch, float *out_loss, mw_error *err)
{
    return trainer != NULL ? trainer->strategy->step(trainer, batch, out_loss, err)
                           : mw__trainer_step_alone(NULL, batch, out_loss, err); /* has the message for it */
}

mw_status mw_trainer_step(mw_trainer *trainer, const mw_batch *batch, float *out_loss, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (out_loss != NULL)
        *out_loss = 0.0f;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_NEVER, err));
    return mw__trainer_leave(&entry, step(trainer, batch, out_loss, err), err);
}
