/* Ranks that share out the states of the optimizer: each has the sums of one share of every bucket of gradients, the
 * parts of the parameters that lie there, and their states. Before anything is written all ranks say whether their part
 * is good; then each updates its own and sends it to all. */
#include "base/number/types.h"
#include "runtime/trainer/build/trainer_alias.h"
#include "runtime/trainer/build/trainer_check.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/ranks/trainer_ranks.h"
#include "runtime/trainer/step/trainer_step.h"

#include <stdio.h>
#include <string.h>

/* ---- who has what ---- */

size_t mw__trainer_gradient_of(const mw_trainer *t, const char *name, size_t length)
{
    char gradient[MW_NAME_MAX + sizeof MW__GRADIENT];
    const mw__state_set *exchanged = &t->ranks->exchanged;
    snprintf(gradient, sizeof gradient, "%.*s%s", (int)length, name, MW__GRADIENT);
    const mw__state_entry *entry = mw__state_find(exchanged, gradient);
    return entry != NULL ? (size_t)(entry - exchanged->entries) : exchanged->count;
}

mw__owned mw__trainer_part(const mw_trainer *t, size_t exchanged, int rank)
{
    const mw__trainer_ranks *r = t->ranks;
    const mw__shard *shard = &r->shards->of[exchanged];
    const int ranks = mw__communicator_size(r->communicator);
    const size_t count = (size_t)mw_shape_count(r->exchanged.entries[exchanged].shape);
    if (count == 0) /* it is in no bucket */
        return (mw__owned){0};
    const size_t elements = r->buckets[shard->bucket].elements, end = shard->offset + count;
    size_t first = mw__reduction_first(elements, ranks, rank), last = mw__reduction_first(elements, ranks, rank + 1);
    first = first > shard->offset ? first : shard->offset;
    last = last < end ? last : end;
    return first < last ? (mw__owned){first - shard->offset, last - first} : (mw__owned){0};
}

static mw__owned own_part(const mw_trainer *t, size_t exchanged)
{
    return mw__trainer_part(t, exchanged, mw__communicator_rank(t->ranks->communicator));
}

bool mw__trainer_own_part(const mw_trainer *t, const char *parameter, mw__owned *out)
{
    if (t->ranks->shards == NULL)
        return false;
    *out = own_part(t, mw__trainer_gradient_of(t, parameter, strlen(parameter)));
    return true;
}

/* ---- making ---- */

static mw_status add_part(mw_trainer *t, const char *name, mw_dtype dtype, size_t count, size_t *out, mw_error *err)
{
    mw__state_set *parts = &t->ranks->shards->parts;
    MW_TRY(mw__state_add(parts, name, dtype, MW_SHAPE((int64_t)count), false, err));
    *out = parts->count;
    return MW_OK;
}

/* "fc1.weight"; the sums if all ranks have those of all for their norm; the average is looked at before it is written
 * where nothing else proves it good. */
static mw_status add_parts(mw__trainer_build *b, const mw_tensor *parameter, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const char *name = mw_tensor_name(parameter);
    const size_t exchanged = mw__trainer_gradient_of(t, name, strlen(name));
    mw__shard *shard = &t->ranks->shards->of[exchanged];
    const size_t count = own_part(t, exchanged).count;
    const mw_dtype dtype = t->ranks->exchanged.entries[exchanged].dtype;
    if (count == 0)
        return MW_OK;
    const char *share = mw__trainer_join(b, name, MW__SHARE, "", err);
    const char *average = mw__trainer_join(b, name, MW__AVERAGE, "", err);
    if (share == NULL || average == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(add_part(t, name, dtype, count, &shard->own, err));
    if (t->numbers.clip_norm != 0.0)
        MW_TRY(add_part(t, share, dtype, count, &shard->share, err));
    if (t->numbers.average_decay == 0.0 || mw__trainer_limits(t, parameter)->gradient > 0.0)
        return MW_OK;
    return add_part(t, average, dtype, count, &shard->average, err);
}

static void place_gradients(mw_trainer *t)
{
    const mw__trainer_ranks *r = t->ranks;
    for (size_t i = 0; i < r->bucket_count; i++) {
        size_t offset = 0;
        for (size_t k = r->buckets[i].first; k < r->buckets[i].first + r->buckets[i].count; k++) {
            r->shards->of[k].bucket = i;
            r->shards->of[k].offset = offset;
            offset += (size_t)mw_shape_count(r->exchanged.entries[k].shape);
        }
    }
}

mw_status mw__trainer_plan_shards(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    mw__trainer_ranks *r = t->ranks;
    r->shards->of = mw__arena_alloc(&t->arena, r->exchanged.count + 1, sizeof *r->shards->of, err);
    if (r->shards->of == NULL)
        return MW_ERROR_MEMORY;
    place_gradients(t);
    for (size_t i = 0; i < b->count; i++)
        MW_TRY(add_parts(b, b->parameters[i], err));
    return MW_OK;
}

/* Of a parameter, or of its average. */
static void find_gradient(mw_trainer *t, size_t entry)
{
    const char *name = t->owner.state.entries[entry].name, *suffix = strrchr(name, '#');
    const bool averages = suffix != NULL && strcmp(suffix, MW__AVERAGE) == 0;
    const size_t exchanged = mw__trainer_gradient_of(t, name, averages ? (size_t)(suffix - name) : strlen(name));
    if (exchanged == t->ranks->exchanged.count)
        return;
    if (averages)
        t->ranks->shards->of[exchanged].averaged = entry;
    else
        t->ranks->shards->of[exchanged].parameter = entry;
}

mw_status mw__trainer_resolve_shards(mw_trainer *t, mw_error *err)
{
    const mw__trainer_ranks *r = t->ranks;
    mw__trainer_shards *s = r->shards;
    const size_t ranks = (size_t)mw__communicator_size(r->communicator);
    s->flags = mw__arena_alloc(&t->arena, ranks, sizeof *s->flags, err);
    s->wholes = mw__arena_alloc(&t->arena, t->owner.state.count, sizeof *s->wholes, err);
    s->marks = mw__arena_alloc(&t->arena, t->owner.state.count, 1, err);
    if (s->flags == NULL || s->wholes == NULL || s->marks == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < t->owner.state.count; i++)
        find_gradient(t, i);
    return MW_OK;
}

void mw__trainer_drop_shards(mw_trainer *t)
{
    mw__trainer_shards *s = t->ranks->shards;
    if (s == NULL)
        return;
    mw__trainer_drop_wholes(t);
    mw__program_destroy(s->finite_check.pass.program);
    mw__program_destroy(s->average.pass.shadow);
    mw__program_destroy(s->average.pass.program);
    mw__state_deinit(&s->parts);
}

mw__device_buffer mw__trainer_share(const mw_trainer *t, size_t exchanged)
{
    const mw__trainer_ranks *r = t->ranks;
    const size_t share = r->shards->of[exchanged].share;
    const mw__state_entry *entry = share > 0 ? &r->shards->parts.entries[share - 1] : &r->exchanged.entries[exchanged];
    return (mw__device_buffer){.object = entry->buffer,
                               .data = entry->data,
                               .size = own_part(t, exchanged).count * mw__number_dtype_size(entry->dtype)};
}

static bool find_share(const mw_trainer *t, const char *port, mw__device_buffer *out)
{
    const char *suffix = strrchr(port, '#');
    if (suffix == NULL || strcmp(suffix, MW__SHARE) != 0)
        return false;
    const size_t exchanged = mw__trainer_gradient_of(t, port, (size_t)(suffix - port));
    if (exchanged == t->ranks->exchanged.count)
        return false;
    *out = mw__trainer_share(t, exchanged);
    return true;
}

bool mw__trainer_bind_parts(void *user, const mw_port *port, mw__device_buffer *out)
{
    const mw_trainer *t = user;
    const size_t length = strlen(port->name), suffix = port->is_output ? strlen(MW__NEXT) : 0;
    const mw__state_entry *entry = NULL;
    if (length >= suffix && strcmp(port->name + length - suffix, suffix > 0 ? MW__NEXT : "") == 0)
        entry = mw__state_find_n(&t->ranks->shards->parts, port->name, length - suffix);
    if (entry == NULL)
        return find_share(t, port->name, out) || mw__trainer_bind(user, port, out);
    *out = (mw__device_buffer){.object = entry->buffer, .data = entry->data, .size = entry->size};
    return true;
}

/* ---- the update ---- */

/* This rank's part of a tensor, into an entry of the parts from 1; 0 = there is none. */
static void take_shard(const mw_trainer *t, size_t exchanged, size_t to, const mw__state_entry *from)
{
    if (to == 0)
        return;
    const mw__state_entry *entry = &t->ranks->shards->parts.entries[to - 1];
    const size_t first = own_part(t, exchanged).first * mw__number_dtype_size(entry->dtype);
    memcpy(entry->data, (const char *)from->data + first, entry->size);
}

/* What the update reads. Of the sums this rank has its parts, unless they were sent to all for their norm. */
static void take_parts(mw_trainer *t)
{
    const mw__trainer_ranks *r = t->ranks;
    for (size_t i = 0; i < r->exchanged.count; i++) {
        const mw__shard *shard = &r->shards->of[i];
        take_shard(t, i, shard->own, &t->owner.state.entries[shard->parameter]);
        take_shard(t, i, shard->average, &t->owner.state.entries[shard->averaged]);
        if (t->numbers.clip_norm != 0.0)
            take_shard(t, i, shard->share, &r->exchanged.entries[i]);
    }
}

/* Whether the parts of all ranks are good. */
static mw_status check_shards_finite(mw_trainer *t, float loss, bool *out_good, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    mw__trainer_shards *s = r->shards;
    float own = 0.0f;
    MW_TRY(mw__trainer_run_apply(t, &s->finite_check, loss, true, &own, err));
    MW_TRY(mw__ranks_gather(r->communicator, &own, sizeof own, s->flags, err));
    *out_good = true;
    for (int i = 0; i < mw__communicator_size(r->communicator); i++)
        *out_good = *out_good && s->flags[i] == 1.0f;
    if (r->update.norm != NULL)
        mw__trainer_scalar_write(r->update.norm, r->update.dtype,
                                 mw__trainer_scalar_read(s->finite_check.norm, s->finite_check.dtype));
    return MW_OK;
}

/* Averages follow what came of the parameters of all. */
static mw_status update_averages(mw_trainer *t, mw_error *err)
{
    mw__trainer_pass *pass = &t->ranks->shards->average.pass;
    if (pass->program == NULL)
        return MW_OK;
    return pass->shadow != NULL ? mw__trainer_run_twice(t, pass, err) : mw__program_run(pass->program, err);
}

mw_status mw__trainer_update_parts(mw_trainer *t, float loss, bool agreed, float *out_ok, mw_error *err)
{
    bool good = agreed;
    take_parts(t);
    MW_TRY(mw__trainer_write_scalars(t, t->progress.steps + 1, err));
    if (agreed)
        MW_TRY(check_shards_finite(t, loss, &good, err));
    MW_TRY(mw__trainer_run_apply(t, &t->ranks->update, loss, good, out_ok, err));
    if (!good)
        return MW_OK;
    t->health = MW__TRAINER_TORN;
    MW_TRY(mw__trainer_exchange_parts(t, err));
    MW_TRY(update_averages(t, err));
    t->health = MW__TRAINER_SOUND;
    return MW_OK;
}
