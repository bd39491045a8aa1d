/* That all ranks train the same: what they were made from is compared before the first step, their parameters and
 * states whenever they may differ. */
#include "base/number/hash.h"
#include "base/text/log.h"
#include "graph/random/generator.h"
#include "runtime/program/program_object.h"
#include "runtime/trainer/ranks/trainer_ranks.h"
#include "runtime/trainer/step/trainer_step.h"

#include <stdio.h>
#include <string.h>

/* ---- what trainers were made from ---- */

typedef struct identity {
    char version[16];
    uint64_t model;  /* the text of the step, with its shapes */
    uint64_t update; /* of the update: optimizer, loss scale, clipping, averages, who has which part */
    int64_t batch, accumulate;
    float learning_rate;
} identity;

static uint64_t hash_text(const char *text) { return mw__hash64(text, strlen(text), 0); }

/* Between build info and body; the names of files are those of the weights. */
static uint64_t hash_program(const mw_program *program)
{
    const char *text = mw_program_get_info(program).mil;
    const char *body = text != NULL ? strstr(text, "func ") : NULL;
    return body != NULL ? hash_text(body) : 0;
}

/* Each rank that has parts has a program of its own: what it was made from counts. */
static uint64_t hash_update(const mw_trainer *t)
{
    const mw__trainer_ranks *r = t->ranks;
    if (r->shards != NULL)
        return mw__hash64(&r->bucket_bytes, sizeof r->bucket_bytes, hash_text(t->record.description));
    return r->update.pass.program != NULL ? hash_program(r->update.pass.program) : (uint64_t)r->local_steps;
}

static const char *find_difference(const identity *a, const identity *b)
{
    return memcmp(a->version, b->version, sizeof a->version) != 0 ? "another version of the library"
           : a->batch != b->batch                                 ? "another batch size"
           : a->accumulate != b->accumulate                       ? "another number of batches to accumulate"
           : a->model != b->model                                 ? "another model or loss"
           : a->learning_rate != b->learning_rate                 ? "another learning rate"
           : a->update != b->update ? "another optimizer, loss scale, clipping, average, groups or shard_states"
                                    : NULL;
}

mw_status mw__trainer_compare_ranks(mw_trainer *t, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    const int ranks = mw__communicator_size(r->communicator);
    identity own = {.batch = t->progress.batch,
                    .accumulate = t->numbers.accumulate,
                    .learning_rate = t->numbers.learning_rate},
             *all;
    snprintf(own.version, sizeof own.version, "%s", mw_version());
    own.model = hash_program(t->step.program);
    own.update = hash_update(t);
    all = mw__alloc(t->allocator, (size_t)ranks, sizeof *all, err);
    if (all == NULL)
        return mw__communicator_end(r->communicator, MW_ERROR_MEMORY, err);
    mw_status status = mw__ranks_gather(r->communicator, &own, sizeof own, all, err);
    for (int i = 1; status == MW_OK && i < ranks; i++) {
        const char *what = find_difference(&all[0], &all[i]);
        r->agreed = what != NULL; /* all find the same */
        if (what != NULL)
            status = mw__fail(err, MW_ERROR_ARGUMENT, "trainer: rank %d has %s than rank 0", i, what);
    }
    mw__free(t->allocator, all);
    return status == MW_OK ? mw__trainer_equalize(t, err) : status;
}

/* ---- generators ---- */

static void skip_entry(const mw__state_entry *entry, uint64_t steps)
{
    const size_t count = (size_t)mw_shape_count(entry->shape), size = (size_t)mw_dtype_bits(entry->dtype) / 8;
    for (size_t i = 0; i + MW__GENERATOR_STATE <= count; i += MW__GENERATOR_STATE) {
        double state[MW__GENERATOR_STATE];
        char *data = (char *)entry->data + i * size;
        for (size_t k = 0; k < MW__GENERATOR_STATE; k++)
            state[k] = (double)mw__trainer_scalar_read(data + k * size, entry->dtype);
        mw__generator_skip(state, steps);
        for (size_t k = 0; k < MW__GENERATOR_STATE; k++)
            mw__trainer_scalar_write(data + k * size, entry->dtype, (float)state[k]);
    }
}

void mw__trainer_skip_generators(mw_trainer *t, uint64_t steps)
{
    for (size_t i = 0; i < t->ranks->generator_count; i++)
        skip_entry(&t->owner.state.entries[t->ranks->generators[i]], steps);
}

/* ---- parameters and states ---- */

static bool is_generator(const mw__trainer_ranks *r, size_t entry)
{
    for (size_t i = 0; i < r->generator_count; i++)
        if (r->generators[i] == entry)
            return true;
    return false;
}

static uint64_t hash_state(const mw_trainer *t)
{
    uint64_t hash = (uint64_t)t->progress.steps * 1024 + (uint64_t)t->progress.accumulated;
    for (size_t i = 0; i < t->owner.state.count; i++)
        if (!is_generator(t->ranks, i) && !t->owner.state.entries[i].is_part)
            hash = mw__hash64(t->owner.state.entries[i].data, t->owner.state.entries[i].size, hash);
    return hash;
}

static mw_status send_state(mw_trainer *t, bool generators, mw_error *err)
{
    for (size_t i = 0; i < t->owner.state.count; i++)
        if (is_generator(t->ranks, i) == generators && !t->owner.state.entries[i].is_part)
            MW_TRY(mw__ranks_broadcast(t->ranks->communicator, 0, t->owner.state.entries[i].data,
                                       t->owner.state.entries[i].size, err));
    return MW_OK;
}

mw_status mw__trainer_send_generators(mw_trainer *t, mw_error *err)
{
    MW_TRY(send_state(t, true, err));
    mw__trainer_skip_generators(t, (uint64_t)mw__communicator_rank(t->ranks->communicator));
    return MW_OK;
}

typedef struct standing {
    uint64_t hash;
    int64_t steps;
    int32_t accumulated;
    float learning_rate;
} standing;

static mw_status gather_standings(mw_trainer *t, standing *all, bool *out_equal, mw_error *err)
{
    standing own;
    memset(&own, 0, sizeof own); /* all bytes are compared */
    own.hash = hash_state(t);
    own.steps = t->progress.steps;
    own.accumulated = t->progress.accumulated;
    own.learning_rate = t->numbers.learning_rate;
    MW_TRY(mw__ranks_gather(t->ranks->communicator, &own, sizeof own, all, err));
    *out_equal = true;
    for (int i = 1; i < mw__communicator_size(t->ranks->communicator); i++)
        *out_equal = *out_equal && memcmp(&all[0], &all[i], sizeof own) == 0;
    return MW_OK;
}

static mw_status equalize(mw_trainer *t, standing *all, mw_error *err)
{
    bool equal;
    MW_TRY(gather_standings(t, all, &equal, err));
    if (!equal) {
        mw__log(MW_LOG_INFO, "trainer: the ranks begin with the parameters and states of rank 0");
        MW_TRY(send_state(t, false, err));
        t->numbers.learning_rate = all[0].learning_rate;
        t->progress.steps = all[0].steps;
        t->progress.accumulated = all[0].accumulated;
    }
    MW_TRY(mw__trainer_spread_wholes(t, err));
    MW_TRY(mw__trainer_send_generators(t, err));
    mw__trainer_set_anchors(t);
    t->progress.unequal = false;
    return MW_OK;
}

mw_status mw__trainer_equalize(mw_trainer *t, mw_error *err)
{
    standing *all = mw__alloc(t->allocator, (size_t)mw__communicator_size(t->ranks->communicator), sizeof *all, err);
    if (all == NULL)
        return mw__communicator_end(t->ranks->communicator, MW_ERROR_MEMORY, err);
    const mw_status status = equalize(t, all, err);
    mw__free(t->allocator, all);
    return status;
}

static mw_status verify(mw_trainer *t, standing *all, mw_error *err)
{
    bool equal;
    MW_TRY(gather_standings(t, all, &equal, err));
    for (int i = 1; !equal && i < mw__communicator_size(t->ranks->communicator); i++)
        if (memcmp(&all[0], &all[i], sizeof all[0]) != 0)
            return mw__fail(
                err, MW_ERROR_COMMUNICATION,
                "rank %d has gone apart: after step %lld its parameters or states have other bits than those "
                "of rank 0; is it another processor, another build, or bad memory?",
                i, (long long)t->progress.steps);
    return MW_OK;
}

mw_status mw__trainer_verify(mw_trainer *t, mw_error *err)
{
    mw_communicator *c = t->ranks->communicator;
    standing *all = mw__alloc(t->allocator, (size_t)mw__communicator_size(c), sizeof *all, err);
    const mw_status status = all != NULL ? verify(t, all, err) : MW_ERROR_MEMORY;
    mw__free(t->allocator, all);
    return mw__communicator_end(c, status, err);
}

/* ---- what rank 0 does for all ---- */

typedef struct outcome {
    int32_t status;
    char message[sizeof((mw_error *)NULL)->message];
} outcome;

mw_status mw__trainer_share_status(mw_trainer *t, mw_status status, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    outcome o = {.status = (int32_t)status};
    if (status != MW_OK)
        snprintf(o.message, sizeof o.message, "%s", err != NULL ? err->message : mw_status_name(status));
    mw_error failed = {0};
    if (mw__ranks_broadcast(r->communicator, 0, &o, sizeof o, &failed) != MW_OK)
        return mw__failed(err) ? err->status : mw__fail(err, failed.status, "%s", failed.message);
    r->agreed = o.status != MW_OK;
    if (o.status == MW_OK || mw__failed(err))
        return (mw_status)o.status;
    return mw__fail(err, (mw_status)o.status, "rank 0: %.490s", o.message);
}
