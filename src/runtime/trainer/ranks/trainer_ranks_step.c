/* A step of several ranks: each runs its batch, all learn how it went, the gradients are summed, all update alike. */
#include "base/number/types.h"
#include "runtime/trainer/build/trainer_alias.h"
#include "runtime/trainer/ranks/trainer_ranks.h"
#include "runtime/trainer/step/trainer_step.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the records ---- */

static mw_status feed(mw_trainer *t, const mw_batch *batch, mw_error *err)
{
    MW_TRY(mw__trainer_check_batch(t, batch, err));
    return mw__feeder_feed(&t->step.feeder, batch, t->progress.steps + 1, &t->progress.counters.feed_bytes, err);
}

/* A rank whose batch is no good takes part in the exchange all the same, as the others have begun it. */
static mw_status run_and_exchange(mw_trainer *t, const mw_batch *batch, mw_error *own, mw_error *err)
{
    mw__dispatch *dispatch = t->step.program->dispatch;
    const bool updates = t->progress.accumulated + 1 == t->numbers.accumulate, watched = t->ranks->watched;
    mw_status status = feed(t, batch, own);
    if (status == MW_OK)
        status = watched ? mw__dispatch_submit(dispatch, own) : mw__program_run(t->step.program, own);
    const mw_status exchanged = mw__trainer_exchange(t, updates, status == MW_OK, err);
    if (status == MW_OK && watched)
        mw__dispatch_wait(dispatch, own);
    return exchanged;
}

static void take_results(mw_trainer *t, mw__step_record *record)
{
    record->ok = mw__trainer_read_scalar(t->step.program, t->step.ok_port);
    record->loss = mw__trainer_read_scalar(t->step.program, t->step.loss_port);
    t->progress.counters.result_bytes +=
        2 * (size_t)(mw_dtype_bits(t->step.program->ports[t->step.loss_port].dtype) / 8);
}

mw_status mw__trainer_gather_records(mw_trainer *t, const mw_error *own, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    mw__step_record record = {
        .vote = r->vote, .unequal = t->progress.unequal, .learning_rate = t->numbers.learning_rate};
    record.status = (int32_t)own->status;
    snprintf(record.text, sizeof record.text, "%.*s", (int)sizeof record.text - 1, own->message);
    if (record.status == MW_OK && t->strategy->sums_gradients)
        take_results(t, &record);
    r->vote = 0;
    MW_TRY(mw__ranks_gather(r->communicator, &record, sizeof record, r->records, err));
    r->votes = 0;
    for (int i = 0; i < mw__communicator_size(r->communicator); i++)
        r->votes |= r->records[i].vote;
    return MW_OK;
}

/* Runs the batch of this rank, and gathers what became of those of all. */
static mw_status run_batch(mw_trainer *t, const mw_batch *batch, mw_error *own, mw_error *err)
{
    MW_TRY(run_and_exchange(t, batch, own, err));
    return mw__trainer_gather_records(t, own, err);
}

bool mw__trainer_any_unequal(const mw__trainer_ranks *r)
{
    for (int i = 0; i < mw__communicator_size(r->communicator); i++)
        if (r->records[i].unequal)
            return true;
    return false;
}

/* The schedule of a user's own loop may have gone apart. */
static mw_status check_rates(mw__trainer_ranks *r, mw_error *err)
{
    for (int i = 1; i < mw__communicator_size(r->communicator); i++) {
        if (r->records[i].learning_rate == r->records[0].learning_rate)
            continue;
        r->agreed = true;
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_step: rank %d has the learning rate %g and rank 0 has %g; it must be the same", i,
                        (double)r->records[i].learning_rate, (double)r->records[0].learning_rate);
    }
    return MW_OK;
}

/* The mean of the losses, added in the order of the ranks. */
static float mean_loss(const mw__trainer_ranks *r)
{
    const int ranks = mw__communicator_size(r->communicator);
    double sum = 0.0;
    for (int i = 0; i < ranks; i++)
        sum += (double)r->records[i].loss;
    return (float)(sum / ranks);
}

/* The first rank whose batch could not be fed or run, else the first whose flag is 0; -1 if all are good. */
static int find_bad(const mw__trainer_ranks *r)
{
    int bad = -1;
    for (int i = mw__communicator_size(r->communicator); i-- > 0;)
        if (r->records[i].status != MW_OK)
            bad = i;
    for (int i = 0; bad < 0 && i < mw__communicator_size(r->communicator); i++)
        if (r->records[i].ok != 1.0f)
            return i;
    return bad;
}

/* ---- refusal ---- */

/* The rank that is to blame says why by itself; the others name it. */
static mw_status refuse_rank_batch(mw_trainer *t, const mw_batch *batch, int bad, const mw_error *own, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    const mw__step_record *record = &r->records[bad];
    const bool mine = bad == mw__communicator_rank(r->communicator);
    const mw_status status = record->status != MW_OK ? (mw_status)record->status : MW_ERROR_NUMERIC;
    r->agreed = true;
    if (mine && record->status != MW_OK) {
        t->progress.counters.refused_steps += status == MW_ERROR_NUMERIC;
        if (err != NULL)
            *err = *own;
        return status;
    }
    if (mine)
        return mw__trainer_commit(t, &t->step, batch, &(mw__step_result){record->loss, record->ok}, NULL, err);
    t->progress.counters.refused_steps += status == MW_ERROR_NUMERIC;
    if (record->status != MW_OK)
        return mw__fail(err, status, "step %" PRId64 " is refused, as rank %d could not take its batch: %.300s",
                        t->progress.steps + 1, bad, record->text);
    return mw__fail(err, status,
                    "step %" PRId64
                    " is refused, as it is on rank %d, whose loss is %g: a gradient, a loss or a state of "
                    "its batch is not finite, which it names; parameters and state are as before",
                    t->progress.steps + 1, bad, (double)record->loss);
}

/* ---- behind the exchange ---- */

mw_status mw__trainer_run_apply(mw_trainer *t, mw__trainer_apply *apply, float loss, bool agreed, float *out_ok,
                                mw_error *err)
{
    mw__trainer_pass *pass = &apply->pass;
    if (apply->loss != NULL)
        mw__trainer_scalar_write(apply->loss, apply->dtype, loss);
    if (apply->agreed != NULL)
        mw__trainer_scalar_write(apply->agreed, apply->dtype, agreed ? 1.0f : 0.0f);
    MW_TRY(pass->shadow != NULL ? mw__trainer_run_twice(t, pass, err) : mw__program_run(pass->program, err));
    *out_ok = mw__trainer_read_scalar(pass->program, pass->ok_port);
    return MW_OK;
}

static mw_status run_update(mw_trainer *t, bool updates, float loss, bool agreed, float *out_ok, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    if (!updates)
        return mw__trainer_run_apply(t, &r->keep, loss, agreed, out_ok, err);
    if (r->shards != NULL)
        return mw__trainer_update_parts(t, loss, agreed, out_ok, err);
    MW_TRY(mw__trainer_write_scalars(t, t->progress.steps + 1, err));
    return mw__trainer_run_apply(t, &r->update, loss, agreed, out_ok, err);
}

/* What only one rank can meet here, as no memory, ends all. */
static mw_status apply(mw_trainer *t, bool updates, float loss, bool agreed, float *out_ok, mw_error *err)
{
    return mw__communicator_end(t->ranks->communicator, run_update(t, updates, loss, agreed, out_ok, err), err);
}

static mw_status run_step(mw_trainer *t, const mw_batch *batch, float *out_loss, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    const bool updates = t->progress.accumulated + 1 == t->numbers.accumulate;
    mw_error own = {0};
    MW_TRY(run_batch(t, batch, &own, err));
    if (mw__trainer_any_unequal(r)) { /* then the batch was run on other parameters than it should */
        MW_TRY(mw__trainer_equalize(t, err));
        own = (mw_error){0};
        MW_TRY(run_batch(t, batch, &own, err));
    }
    MW_TRY(check_rates(r, err));
    const int bad = find_bad(r);
    if (bad >= 0 && (t->numbers.scale_interval == 0 || r->records[bad].status != MW_OK)) {
        mw__trainer_drop_carried(r);
        return refuse_rank_batch(t, batch, bad, &own, err);
    }
    mw__step_result result = {mean_loss(r), 0.0f};
    MW_TRY(apply(t, updates, result.loss, bad < 0, &result.ok, err));
    if (bad >= 0 || result.ok != 1.0f)
        mw__trainer_drop_carried(r);
    else
        mw__trainer_skip_generators(t, (uint64_t)mw__communicator_size(r->communicator) - 1);
    r->agreed = result.ok != 1.0f;
    MW_TRY(mw__trainer_commit_ranks(t, updates, batch, &result, out_loss, err));
    const bool due = updates && result.ok == 1.0f && r->verify_steps > 0 && t->progress.steps % r->verify_steps == 0;
    return due ? mw__trainer_verify(t, err) : MW_OK;
}

static mw_status step_together(mw_trainer *t, const mw_batch *batch, float *out_loss, mw_error *err)
{
    mw_error local = {0};
    MW_TRY(mw__communicator_check(t->ranks->communicator, "mw_trainer_step", err));
    t->ranks->agreed = false;
    const mw_status status = run_step(t, batch, out_loss, &local);
    if (status != MW_OK && err != NULL)
        *err = local;
    return status;
}

/* ---- the strategy ---- */

static const mw__state_entry *find_exchanged(const mw_trainer *t, const char *name, size_t length)
{
    return mw__state_find_n(&t->ranks->exchanged, name, length);
}

const mw__trainer_strategy mw__trainer_data_parallel = {.name = "data-parallel",
                                                        .sums_gradients = true,
                                                        .end_step = mw__trainer_add_exchange_outputs,
                                                        .plan = mw__trainer_build_exchanged,
                                                        .resolve = mw__trainer_list_generators,
                                                        .finish = mw__trainer_make_applies,
                                                        .own_part = mw__trainer_own_part,
                                                        .find_exchanged = find_exchanged,
                                                        .wants_overlap = mw__trainer_wants_overlap,
                                                        .step = step_together,
                                                        .leave = mw__trainer_leave_ranks};
