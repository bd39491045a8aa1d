/* The exchange of a step: buckets are summed as soon as the calls that compute them are done, while the device goes on
 * with the rest of the backward pass. */
#include "base/clock.h"
#include "base/number/fp16.h"
#include "base/number/types.h"
#include "runtime/program/program_segments.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/ranks/trainer_ranks.h"

#include <string.h>

/* ---- into a bucket and out of it ---- */

static void pack_bucket(const mw__trainer_ranks *r, const mw__bucket *bucket, unsigned char *to)
{
    for (size_t i = bucket->first; i < bucket->first + bucket->count; i++) {
        memcpy(to, r->exchanged.entries[i].data, r->exchanged.entries[i].size);
        to += r->exchanged.entries[i].size;
    }
}

/* The sum of states becomes their mean. */
static void take_mean(const mw__bucket *bucket, unsigned char *data, int ranks)
{
    const float share = 1.0f / (float)ranks;
    for (size_t i = 0; i < bucket->elements; i++) {
        if (bucket->dtype == MW_F32)
            ((float *)data)[i] *= share;
        else
            ((uint16_t *)data)[i] = mw__fp16_from_float(mw__fp16_to_float(((uint16_t *)data)[i]) * share);
    }
}

/* Whether each rank keeps the sums of its share. */
static bool is_shared_out(const mw_trainer *t, const mw__bucket *bucket)
{
    return t->ranks->shards != NULL && !bucket->states && t->numbers.clip_norm == 0.0;
}

/* Where in a bucket this rank's part of an entry lies. */
static unsigned char *own_part(const mw_trainer *t, size_t exchanged, unsigned char *bucket)
{
    const mw__owned part = mw__trainer_part(t, exchanged, mw__communicator_rank(t->ranks->communicator));
    const size_t size = (size_t)mw_dtype_bits(t->ranks->exchanged.entries[exchanged].dtype) / 8;
    return bucket + (t->ranks->shards->of[exchanged].offset + part.first) * size;
}

static void unpack_shares(const mw_trainer *t, const mw__bucket *bucket, unsigned char *from)
{
    for (size_t i = bucket->first; i < bucket->first + bucket->count; i++) {
        const mw__device_buffer share = mw__trainer_share(t, i);
        memcpy(share.data, own_part(t, i, from), share.size);
    }
}

static void pack_parameters(const mw_trainer *t, const mw__bucket *bucket, unsigned char *to)
{
    for (size_t i = bucket->first; i < bucket->first + bucket->count; i++) {
        const size_t own = t->ranks->shards->of[i].own;
        const mw__state_entry *entry = own > 0 ? &t->ranks->shards->parts.entries[own - 1] : NULL;
        if (entry != NULL)
            memcpy(own_part(t, i, to), entry->data, entry->size);
    }
}

static void unpack(const mw_trainer *t, const mw__bucket *bucket, unsigned char *from)
{
    const mw__trainer_ranks *r = t->ranks;
    if (is_shared_out(t, bucket)) {
        unpack_shares(t, bucket, from);
        return;
    }
    if (bucket->states)
        take_mean(bucket, from, mw__communicator_size(r->communicator));
    for (size_t i = bucket->first; i < bucket->first + bucket->count; i++) {
        memcpy(r->exchanged.entries[i].data, from, r->exchanged.entries[i].size);
        from += r->exchanged.entries[i].size;
    }
}

/* ---- when a bucket is there ---- */

static bool writes(const mw__program_segments *s, size_t call, size_t place)
{
    const mw__segment_call *c = &s->cut.calls[call];
    const mw__segment *segment = &s->cut.segments[c->segment];
    for (size_t i = segment->input_count; i < segment->input_count + segment->output_count; i++)
        if (c->places[i] == place)
            return true;
    return false;
}

/* The last call that writes a part of the entry. */
static size_t last_call(const mw_program *program, const mw__state_entry *entry)
{
    const mw__program_segments *s = program->segments;
    size_t last = 0, length = strlen(entry->name);
    for (size_t port = program->input_count; port < program->port_count; port++) {
        const char *name = program->ports[port].name;
        if (strncmp(name, entry->name, length) != 0 || strcmp(name + length, MW__NEXT) != 0)
            continue;
        const mw__port_place *place = &program->places[port];
        for (size_t call = 0; call < s->cut.call_count; call++)
            for (size_t k = 0; k < place->count; k++)
                if (writes(s, call, place->first + k))
                    last = call;
    }
    return last;
}

void mw__trainer_time_buckets(mw_trainer *t)
{
    mw__trainer_ranks *r = t->ranks;
    const mw_program *program = t->step.program;
    r->watched = program->segments != NULL && !program->staged && mw__dispatch_is_watched(program->dispatch);
    for (size_t i = 0; i < r->bucket_count && r->watched; i++)
        for (size_t k = 0; k < r->buckets[i].count; k++) {
            const size_t call = last_call(program, &r->exchanged.entries[r->buckets[i].first + k]);
            r->buckets[i].call = call > r->buckets[i].call ? call : r->buckets[i].call;
        }
}

/* ---- the exchange ---- */

/* What carries the bucket. */
static mw__rank_sum *lane_of(mw__trainer_ranks *r, size_t bucket)
{
    mw__rank_sum *lane = &r->lanes[mw__bucket_lane_kind(&r->buckets[bucket])][bucket % MW__LANES];
    lane->carried = r->buckets[bucket].carried;
    lane->carried_sums = r->buckets[bucket].carried_sums;
    return lane;
}

/* After a refused step: what was carried may not be finite. */
void mw__trainer_drop_carried(mw__trainer_ranks *r)
{
    for (size_t i = 0; i < r->bucket_count; i++) {
        const mw__bucket *bucket = &r->buckets[i];
        if (bucket->carried == NULL)
            continue;
        memset(bucket->carried, 0, bucket->elements * sizeof(float));
        memset(bucket->carried_sums, 0, mw__reduction_share(r->communicator, bucket->elements) * sizeof(float));
    }
}

typedef struct exchange {
    mw_trainer *trainer;
    bool updates; /* gradients go, too */
    bool runs;    /* the device is at work, or has been, on this step */
    size_t next;  /* bucket that is to be begun */
    struct {
        bool active;
        size_t bucket;
    } lanes[MW__LANES];
    unsigned idle; /* looks since something happened */
} exchange;

static bool is_wanted(const exchange *x, const mw__bucket *bucket) { return x->updates || bucket->states; }

/* Whether the calls it waits for are done, and whether these are all there are. */
static mw_status look(const exchange *x, const mw__bucket *bucket, bool *out_ready, bool *out_all, mw_error *err)
{
    const mw__trainer_ranks *r = x->trainer->ranks;
    *out_ready = *out_all = true;
    if (!r->watched || !x->runs)
        return MW_OK;
    const mw_program *program = x->trainer->step.program;
    MW_TRY(mw__dispatch_call_is_done(program->dispatch, bucket->call, out_ready, err));
    return mw__dispatch_call_is_done(program->dispatch, program->segments->cut.call_count - 1, out_all, err);
}

static mw_status begin_exchange(exchange *x, bool early, mw_error *err)
{
    mw_trainer *t = x->trainer;
    const size_t index = x->next++;
    const mw__bucket *bucket = &t->ranks->buckets[index];
    mw__rank_sum *lane = lane_of(t->ranks, index);
    const uint64_t bytes = bucket->elements * (bucket->dtype == MW_F16 ? 2 : 4);
    t->progress.counters.exchanged_bytes += bytes;
    t->progress.counters.early_bytes += early ? bytes : 0;
    pack_bucket(t->ranks, bucket, lane->data);
    x->lanes[index % MW__LANES].active = true;
    x->lanes[index % MW__LANES].bucket = index;
    x->idle = 0;
    lane->keeps_share = is_shared_out(t, bucket);
    return mw__reduction_begin(lane, bucket->elements, err);
}

/* Buckets are begun in their order, which is the same on all ranks. */
static mw_status begin_next(exchange *x, mw_error *err)
{
    const mw__trainer_ranks *r = x->trainer->ranks;
    bool ready, all;
    while (x->next < r->bucket_count && !is_wanted(x, &r->buckets[x->next]))
        x->next++;
    if (x->next == r->bucket_count || x->lanes[x->next % MW__LANES].active)
        return MW_OK;
    MW_TRY(look(x, &r->buckets[x->next], &ready, &all, err));
    return ready ? begin_exchange(x, !all, err) : MW_OK;
}

static mw_status advance(exchange *x, size_t lane, mw_error *err)
{
    mw__trainer_ranks *r = x->trainer->ranks;
    const size_t bucket = x->lanes[lane].bucket;
    mw__rank_sum *reduction = lane_of(r, bucket);
    bool done = false;
    MW_TRY(mw__reduction_advance(reduction, &done, err));
    if (!done)
        return MW_OK;
    unpack(x->trainer, &r->buckets[bucket], reduction->data);
    x->lanes[lane].active = false;
    x->idle = 0;
    return MW_OK;
}

static bool is_busy(const exchange *x)
{
    bool busy = x->next < x->trainer->ranks->bucket_count;
    for (size_t lane = 0; lane < MW__LANES; lane++)
        busy = busy || x->lanes[lane].active;
    return busy;
}

static mw_status run_exchange(exchange *x, mw_error *err)
{
    while (is_busy(x)) {
        MW_TRY(begin_next(x, err));
        for (size_t lane = 0; lane < MW__LANES; lane++)
            if (x->lanes[lane].active)
                MW_TRY(advance(x, lane, err));
        mw__communicator_pause(x->idle++);
    }
    return MW_OK;
}

mw_status mw__trainer_exchange(mw_trainer *t, bool updates, bool runs, mw_error *err)
{
    exchange x = {.trainer = t, .updates = updates, .runs = runs};
    const double begun_at = mw__clock_seconds();
    const mw_status status = run_exchange(&x, err);
    if (!t->ranks->watched)
        t->ranks->communicator->counters.seconds_waited += mw__clock_seconds() - begun_at;
    return mw__communicator_end(t->ranks->communicator, status, err);
}

/* ---- parameters ---- */

static void unpack_parameters(mw_trainer *t, const mw__bucket *bucket, const unsigned char *from)
{
    for (size_t i = bucket->first; i < bucket->first + bucket->count; i++) {
        const mw__state_entry *entry = &t->owner.state.entries[t->ranks->shards->of[i].parameter];
        memcpy(entry->data, from, entry->size);
        from += entry->size;
    }
}

/* In the lane of values that go as they are. */
static mw_status exchange_parameters(mw_trainer *t, size_t index, mw_error *err)
{
    const mw__bucket *bucket = &t->ranks->buckets[index];
    mw__rank_sum *reduction =
        &t->ranks->lanes[bucket->dtype == MW_F16 ? MW__LANE_F16 : MW__LANE_F32][index % MW__LANES];
    bool done = false;
    pack_parameters(t, bucket, reduction->data);
    MW_TRY(mw__reduction_begin_gather(reduction, bucket->elements, err));
    for (unsigned looks = 0; !done; looks++) {
        MW_TRY(mw__reduction_advance(reduction, &done, err));
        if (!done)
            mw__communicator_pause(looks);
    }
    unpack_parameters(t, bucket, reduction->data);
    return MW_OK;
}

mw_status mw__trainer_exchange_parts(mw_trainer *t, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    const double begun_at = mw__clock_seconds();
    mw_status status = MW_OK;
    for (size_t i = 0; status == MW_OK && i < r->bucket_count; i++)
        if (!r->buckets[i].states)
            status = exchange_parameters(t, i, err);
    r->communicator->counters.seconds_waited += mw__clock_seconds() - begun_at;
    return mw__communicator_end(r->communicator, status, err);
}
