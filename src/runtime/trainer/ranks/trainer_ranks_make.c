/* Making what a trainer of several ranks has besides: the buffers that are exchanged, the programs behind the exchange,
 * the buckets that are summed. */
#include "base/number/types.h"
#include "graph/ir/ir.h"
#include "graph/random/generator.h"
#include "runtime/data/data.h"
#include "runtime/trainer/build/trainer_alias.h"
#include "runtime/trainer/build/trainer_programs.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/ranks/trainer_ranks.h"

#include <string.h>

/* Large enough that a message's latency does not count (4 MB take 32 ms at 1 Gbit/s, 0.3 ms at 100), small enough that
 * summing one and sending the next go on at the same time. */
#define BUCKET_BYTES ((uint64_t)1 << 22)

enum { VERIFY_STEPS = 100 };

const mw__trainer_ranks *mw__trainer_ranks_of(const mw_trainer *t) { return t != NULL ? t->ranks : NULL; }

int mw__trainer_rank_count(const mw_trainer *t)
{
    return t->ranks != NULL ? mw__communicator_size(t->ranks->communicator) : 1;
}

void mw__trainer_share_batches(const mw_trainer *t, mw_loader_options *options)
{
    if (t->ranks == NULL || mw__dataset_is_part(options->dataset))
        return;
    options->rank = mw__communicator_rank(t->ranks->communicator);
    options->ranks = mw__communicator_size(t->ranks->communicator);
}

/* ---- joining ---- */

static mw_status check_options(const mw_trainer_options *o, mw_error *err)
{
    const char *field = o->dispatch_steps > 1      ? "dispatch_steps, as ranks exchange their gradients in each step"
                        : o->watch.compare != NULL ? "watch.compare: compare a step of one rank"
                        : o->memory.limit != 0     ? "memory.limit: mark what is to be computed again with mw_recompute"
                                                   : NULL;
    if (field == NULL)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "trainer: a communicator of several ranks goes without %s", field);
}

static mw_status share_states(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    if (!o->ranks.shard_states)
        return MW_OK;
    const mw__optimizer optimizer = mw__optimizer_of(&o->optimizer);
    if (mw__optimizer_needs_whole(&optimizer))
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "trainer: ranks.shard_states is for optimizers that change each element by itself; %s gets "
                        "parameters as a whole",
                        optimizer.kind == MW__CUSTOM ? "one of your own" : mw_optimizer_name(&o->optimizer));
    mw__trainer_shards *s = mw__arena_alloc(&t->arena, 1, sizeof *s, err);
    if (s == NULL)
        return MW_ERROR_MEMORY;
    mw__state_init(&s->parts, t->allocator, &t->target.symbols);
    t->ranks->shards = s;
    return MW_OK;
}

mw_status mw__trainer_join_ranks(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    if (o->ranks.communicator == NULL)
        return MW_OK;
    MW_TRY(mw__communicator_check(o->ranks.communicator, "trainer", err));
    if (mw__communicator_size(o->ranks.communicator) == 1)
        return MW_OK;
    MW_TRY(check_options(o, err));
    mw__trainer_ranks *r = mw__arena_alloc(&t->arena, 1, sizeof *r, err);
    if (r == NULL)
        return MW_ERROR_MEMORY;
    r->communicator = o->ranks.communicator;
    r->verify_steps = o->ranks.verify_steps == 0 ? VERIFY_STEPS : o->ranks.verify_steps < 0 ? 0 : o->ranks.verify_steps;
    r->local_steps = o->ranks.local_steps > 1 ? o->ranks.local_steps : 1;
    r->outer_rate = o->ranks.outer_learning_rate > 0.0f ? (double)o->ranks.outer_learning_rate : 1.0;
    r->outer_momentum = (double)o->ranks.outer_momentum;
    r->sent = o->ranks.wire == MW_WIRE_BF16 ? MW_BF16 : o->ranks.wire == MW_WIRE_FP16 ? MW_F16 : MW_F32;
    r->bucket_bytes = o->ranks.bucket_bytes > 0 ? o->ranks.bucket_bytes : BUCKET_BYTES;
    r->records =
        mw__arena_alloc(&t->arena, (size_t)mw__communicator_size(o->ranks.communicator), sizeof *r->records, err);
    mw__state_init(&r->exchanged, t->allocator, &t->target.symbols);
    t->ranks = r;
    const bool is_local = r->local_steps > 1;
    t->strategy = is_local ? &mw__trainer_local_steps : &mw__trainer_data_parallel;
    t->numbers.gradient_ranks = is_local ? 1 : mw__communicator_size(o->ranks.communicator);
    t->watched.update_pass = is_local ? &t->step : &r->update.pass;
    return r->records != NULL ? share_states(t, o, err) : MW_ERROR_MEMORY;
}

void mw__trainer_leave_ranks(mw_trainer *t)
{
    mw__trainer_ranks *r = t->ranks;
    mw__trainer_apply *const applies[] = {&r->update, &r->keep};
    for (size_t i = 0; i < 2; i++) {
        mw__program_destroy(applies[i]->pass.shadow);
        mw__program_destroy(applies[i]->pass.program);
    }
    for (size_t i = 0; i < MW__LANE_KINDS * MW__LANES; i++)
        mw__reduction_deinit(&r->lanes[i / MW__LANES][i % MW__LANES]);
    mw__trainer_drop_shards(t);
    mw__state_deinit(&r->exchanged);
}

/* ---- what is exchanged ---- */

static mw_status add_exchanged(mw__trainer_build *b, const mw_tensor *like, const char *suffix, mw_error *err)
{
    const char *name = mw__trainer_join(b, mw_tensor_name(like), suffix, "", err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    const mw_dtype dtype = mw__trainer_stored(b->trainer, mw_tensor_dtype(like));
    return mw__state_add(&b->trainer->ranks->exchanged, name, dtype, mw_tensor_shape(like), false, err);
}

/* States that draw advance on each rank as all ranks draw. */
mw_status mw__trainer_list_generators(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const mw__block *body = mw__graph_main(t->model.graph)->body;
    t->ranks->generators = mw__arena_alloc(&t->arena, body->input_count + 1, sizeof(size_t), err);
    if (t->ranks->generators == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->input_count; i++) {
        const mw__state_entry *entry = mw__is_generator(body->inputs[i]) && body->inputs[i]->next != NULL
                                           ? mw__state_find(&t->owner.state, body->inputs[i]->name)
                                           : NULL;
        if (entry != NULL)
            t->ranks->generators[t->ranks->generator_count++] = (size_t)(entry - t->owner.state.entries);
    }
    return MW_OK;
}

/* ---- buckets ---- */

static bool is_candidate(const mw__state_entry *entry)
{
    const char *suffix = strrchr(entry->name, '#');
    return suffix != NULL && strcmp(suffix, MW__CANDIDATE) == 0;
}

bool mw__trainer_draws(const mw_trainer *t, const char *state)
{
    const mw__trainer_ranks *r = t->ranks;
    for (size_t i = 0; i < r->generator_count; i++)
        if (strcmp(t->owner.state.entries[r->generators[i]].name, state) == 0)
            return true;
    return false;
}

/* Of generators, and of integers, each rank keeps what it has. The first entries are the candidates of states. */
static bool is_summed(const mw__trainer_build *b, size_t index)
{
    const mw__state_entry *entry = &b->trainer->ranks->exchanged.entries[index];
    if (entry->size == 0 || (index < b->state_count && mw__is_generator(b->states[index])))
        return false;
    return entry->dtype == MW_F32 || entry->dtype == MW_F16;
}

static bool joins(const mw__trainer_ranks *r, const mw__bucket *bucket, const mw__state_entry *entry, size_t index)
{
    const size_t size = (size_t)mw_dtype_bits(entry->dtype) / 8;
    return bucket->count > 0 && bucket->first + bucket->count == index && bucket->dtype == entry->dtype &&
           bucket->states == is_candidate(entry) && bucket->elements * size + entry->size <= r->bucket_bytes;
}

mw__lane_kind mw__bucket_lane_kind(const mw__bucket *bucket)
{
    if (bucket->carried != NULL)
        return MW__LANE_NARROW;
    return bucket->dtype == MW_F16 ? MW__LANE_F16 : MW__LANE_F32;
}

/* Elements of the largest bucket that takes this lane. Parameters that are shared out go as they are. */
static size_t largest(const mw__trainer_ranks *r, mw__lane_kind kind, size_t lane)
{
    size_t most = 0;
    for (size_t i = lane; i < r->bucket_count; i += MW__LANES) {
        const mw__lane_kind own = mw__bucket_lane_kind(&r->buckets[i]);
        const bool takes = own == kind || (r->shards != NULL && own == MW__LANE_NARROW && kind == MW__LANE_F32);
        if (takes && r->buckets[i].elements > most)
            most = r->buckets[i].elements;
    }
    return most;
}

static mw_status carry(mw_trainer *t, mw__bucket *bucket, mw_error *err)
{
    const size_t share = mw__reduction_share(t->ranks->communicator, bucket->elements);
    bucket->carried = mw__arena_alloc(&t->arena, bucket->elements, sizeof *bucket->carried, err);
    bucket->carried_sums = mw__arena_alloc(&t->arena, share, sizeof *bucket->carried_sums, err);
    return bucket->carried != NULL && bucket->carried_sums != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* Sums of gradients may be sent narrower, means of states never. */
static mw_status make_carried(mw_trainer *t, mw_error *err)
{
    const mw__trainer_ranks *r = t->ranks;
    for (size_t i = 0; i < r->bucket_count && r->sent != MW_F32; i++)
        if (!r->buckets[i].states && r->buckets[i].dtype == MW_F32)
            MW_TRY(carry(t, &r->buckets[i], err));
    return MW_OK;
}

static mw_status make_lanes(mw_trainer *t, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    const mw_dtype own[MW__LANE_KINDS] = {MW_F32, MW_F16, MW_F32}, sent[MW__LANE_KINDS] = {MW_F32, MW_F16, r->sent};
    MW_TRY(make_carried(t, err));
    for (size_t i = 0; i < MW__LANE_KINDS * MW__LANES; i++) {
        const size_t kind = i / MW__LANES, lane = i % MW__LANES, most = largest(r, (mw__lane_kind)kind, lane);
        if (most > 0)
            MW_TRY(mw__reduction_init(&r->lanes[kind][lane], r->communicator, own[kind], sent[kind], most, err));
    }
    return MW_OK;
}

static mw_status make_buckets(mw__trainer_build *b, mw_error *err)
{
    mw__trainer_ranks *r = b->trainer->ranks;
    r->buckets = mw__arena_alloc(&b->trainer->arena, r->exchanged.count + 1, sizeof *r->buckets, err);
    if (r->buckets == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < r->exchanged.count; i++) {
        const mw__state_entry *entry = &r->exchanged.entries[i];
        if (!is_summed(b, i))
            continue;
        if (r->bucket_count == 0 || !joins(r, &r->buckets[r->bucket_count - 1], entry, i))
            r->buckets[r->bucket_count++] =
                (mw__bucket){.first = i, .dtype = entry->dtype, .states = is_candidate(entry)};
        mw__bucket *bucket = &r->buckets[r->bucket_count - 1];
        bucket->count++;
        bucket->elements += (size_t)mw_shape_count(entry->shape);
    }
    return make_lanes(b->trainer, err);
}

mw_status mw__trainer_build_exchanged(mw__trainer_build *b, mw_error *err)
{
    for (size_t i = 0; i < b->state_count; i++)
        MW_TRY(add_exchanged(b, b->states[i], MW__CANDIDATE, err));
    for (size_t i = b->count; i-- > 0;) /* as the backward pass computes them */
        MW_TRY(add_exchanged(b, b->parameters[i], MW__GRADIENT, err));
    MW_TRY(make_buckets(b, err));
    return b->trainer->ranks->shards != NULL ? mw__trainer_plan_shards(b, err) : MW_OK;
}

/* More than one bucket: the first can go while the rest is computed. */
bool mw__trainer_wants_overlap(const mw_trainer *t)
{
    size_t bytes = 0;
    for (size_t i = 0; i < t->ranks->exchanged.count; i++)
        bytes += t->ranks->exchanged.entries[i].size;
    return bytes > t->ranks->bucket_bytes;
}

/* ---- programs ---- */

static void *find_port(const mw_program *program, const char *name, mw_dtype *out_dtype)
{
    const size_t port = mw__program_find(program, name);
    if (port == program->port_count)
        return NULL;
    *out_dtype = program->ports[port].dtype;
    return mw__program_data(program, port);
}

/* Scalars are inputs of the update. */
static mw_status resolve_scalars(mw__trainer_build *b, mw__trainer_apply *apply, mw_error *err)
{
    const mw_program *program = apply->pass.program;
    apply->loss = find_port(program, "step#loss", &apply->dtype);
    apply->agreed = find_port(program, "step#agreed", &apply->dtype);
    apply->norm = find_port(program, "step#norm", &apply->dtype);
    apply->pass.ok_port = mw__program_find(program, b->ok_output->name);
    if ((apply->loss == NULL && b->kind != MW__PASS_PARTS_UPDATE) ||
        (apply->agreed == NULL && b->kind != MW__PASS_PARTS_CHECK) ||
        (apply->norm == NULL && b->kind == MW__PASS_PARTS_CHECK && b->norm != NULL) ||
        apply->pass.ok_port == program->port_count)
        return mw__fail(err, MW_ERROR_STATE, "the program of the update lost a port");
    return b->kind == MW__PASS_SUM ? MW_OK : mw__trainer_resolve_scalars(b, program, err);
}

/* The finite check writes nothing that it reads. */
static mw_status compile_pass(mw__trainer_build *b, mw__trainer_pass *pass, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const bool in_parts = mw__trainer_pass_has_parts(b->kind);
    pass->program =
        mw__trainer_compile(t, b->graph, in_parts ? mw__trainer_bind_parts : mw__trainer_bind, NULL, NULL, err);
    if (pass->program == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    return b->kind == MW__PASS_PARTS_CHECK ? MW_OK : mw__trainer_make_shadow(t, pass, b->graph, err);
}

static mw_status build_apply(mw__trainer_build *b, const mw__trainer_build *from, mw__trainer_apply *apply,
                             mw_error *err)
{
    mw_trainer *t = b->trainer;
    MW_TRY(mw__trainer_build_apply(b, from, err));
    if (b->kind != MW__PASS_SUM)
        MW_TRY(mw__trainer_check_scalars(t, t->numbers.learning_rate, 1, err));
    MW_TRY(compile_pass(b, &apply->pass, err));
    return b->kind == MW__PASS_AVERAGES ? mw__trainer_resolve_scalars(b, apply->pass.program, err)
                                        : resolve_scalars(b, apply, err);
}

/* kind: which it is */
static mw_status make_apply(const mw__trainer_build *from, const mw__trainer_build *kind, mw__trainer_apply *apply,
                            mw_error *err)
{
    mw__trainer_build b = *kind;
    b.trainer = from->trainer;
    b.first_scalar = from->trainer->optimizer.scalar_count;
    const mw_status status = build_apply(&b, from, apply, err);
    mw__graph_free(b.graph);
    mw__arena_deinit(&b.arena);
    return status;
}

static mw_status make_updates(const mw__trainer_build *from, mw_error *err)
{
    mw__trainer_ranks *r = from->trainer->ranks;
    if (r->shards == NULL)
        return make_apply(from, &(mw__trainer_build){.trainer = NULL}, &r->update, err);
    MW_TRY(mw__trainer_resolve_shards(from->trainer, err));
    MW_TRY(make_apply(from, &(mw__trainer_build){.kind = MW__PASS_PARTS_CHECK}, &r->shards->finite_check, err));
    if (from->trainer->numbers.average_decay != 0.0)
        MW_TRY(make_apply(from, &(mw__trainer_build){.kind = MW__PASS_AVERAGES}, &r->shards->average, err));
    return make_apply(from, &(mw__trainer_build){.kind = MW__PASS_PARTS_UPDATE}, &r->update, err);
}

mw_status mw__trainer_make_applies(mw__trainer_build *from, mw_error *err)
{
    mw_trainer *t = from->trainer;
    MW_TRY(make_updates(from, err));
    if (t->numbers.accumulate > 1)
        MW_TRY(make_apply(from, &(mw__trainer_build){.kind = MW__PASS_SUM}, &t->ranks->keep, err));
    mw__trainer_time_buckets(t);
    return MW_OK;
}
