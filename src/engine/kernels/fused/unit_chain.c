/* Several steps as one, which runs them block of units by block of units. The steps are those that would stand one
 * after the other, and so are their bits. What nobody else touches exists for the units of a block alone, in scratch.
 */
#include "engine/kernels/fused/fused.h"

#include "base/memory/checked.h"
#include "engine/core/partition.h"

#include <string.h>

#define CACHE_BYTES (256 * 1024) /* that the units of a block touch: half of the smallest second-level cache in use */

typedef struct stage {
    mw__step *step;
    int64_t units;            /* of the step, for each of the chain */
    const uint16_t *in, *out; /* by operand of the step: of the chain's reads, writes and pieces */
} stage;

/* A tensor of which a block has a piece in scratch. */
typedef struct piece {
    uint32_t buffer;
    size_t part, offset; /* bytes: of a unit; where in scratch */
    size_t first, last;  /* stages that touch it */
    size_t slot;
} piece;

typedef struct chain_block {
    size_t stage_count, read_count, write_count, piece_count;
    int64_t units; /* of a block */
    const piece *pieces;
    stage stages[];
} chain_block;

/* Of the first byte of the whole buffer. That of a piece lies before it, outside of any object. */
static void *address_of(const mw__kernel_call *call, uint16_t at, int64_t begin)
{
    const chain_block *chain = call->block;
    if (at < chain->read_count)
        return (void *)(uintptr_t)call->in[at];
    at = (uint16_t)(at - chain->read_count);
    if (at < chain->write_count)
        return call->out[at];
    const piece *p = &chain->pieces[at - chain->write_count];
    return (void *)((uintptr_t)call->scratch + p->offset - (uintptr_t)begin * p->part);
}

static void run_stage(const mw__kernel_call *call, const stage *s, int64_t begin, int64_t end)
{
    const void *in[MW__CHAIN_OPERANDS];
    void *out[MW__CHAIN_OPERANDS];
    for (size_t i = 0; i < s->step->read_count; i++)
        in[i] = address_of(call, s->in[i], begin);
    for (size_t i = 0; i < s->step->write_count; i++)
        out[i] = address_of(call, s->out[i], begin);
    const mw__kernel_call inner = {.block = s->step->block,
                                   .in = in,
                                   .out = out,
                                   .scratch = call->scratch,
                                   .begin = begin * s->units,
                                   .end = end * s->units};
    s->step->run(&inner);
}

static void chain_run(const mw__kernel_call *call)
{
    const chain_block *chain = call->block;
    for (int64_t begin = call->begin; begin < call->end; begin += chain->units) {
        const int64_t end = call->end - begin < chain->units ? call->end : begin + chain->units;
        for (size_t i = 0; i < chain->stage_count; i++)
            run_stage(call, &chain->stages[i], begin, end);
    }
}

size_t mw__unit_chain_stages(const mw__step *step)
{
    return step->run == chain_run ? ((const chain_block *)step->block)->stage_count : 0;
}

mw__step *mw__unit_chain_stage(const mw__step *step, size_t at)
{
    return ((const chain_block *)step->block)->stages[at].step;
}

/* ---- building ---- */

typedef struct builder {
    const mw__unit_chain *parts;
    mw__step *chain;
    piece *pieces;
    size_t piece_count, slot_count;
    size_t *slots; /* bytes of a unit, by slot */
} builder;

static bool is_inner(const builder *b, uint32_t buffer) { return b->parts->inner != NULL && b->parts->inner[buffer]; }

static size_t find_operand(const mw__step_operand *operands, size_t count, uint32_t buffer)
{
    size_t i = 0;
    while (i < count && operands[i].buffer != buffer)
        i++;
    return i;
}

/* How the chain's units touch what the step's touch so. */
static mw__step_operand of_chain(const builder *b, const mw__step *step, const mw__step_operand *operand)
{
    const int64_t units = b->parts->units;
    mw__step_operand seen = *operand;
    if (mw__step_operand_has_units(operand))
        seen.unit = operand->unit * (size_t)(step->units / units);
    else if (operand->parts > 0 && operand->parts % units == 0)
        seen = (mw__step_operand){.buffer = operand->buffer,
                                  .access = MW__ROWS,
                                  .unit = b->parts->buffers[operand->buffer].size / (size_t)units};
    return seen;
}

/* Adds an operand of that buffer where there is none; one that two steps touch in different ways is touched as a
 * whole. */
static void add_operand(const builder *b, mw__step_operand *operands, size_t *count, const mw__step *step,
                        const mw__step_operand *operand)
{
    if (is_inner(b, operand->buffer))
        return;
    const mw__step_operand seen = of_chain(b, step, operand);
    const size_t at = find_operand(operands, *count, operand->buffer);
    if (at == *count)
        operands[(*count)++] = seen;
    else if (operands[at].access != seen.access || operands[at].unit != seen.unit || operands[at].parts != seen.parts ||
             operands[at].planes != seen.planes)
        operands[at] = (mw__step_operand){.buffer = operand->buffer, .access = MW__WHOLE};
}

static void collect(const builder *b)
{
    mw__step *chain = b->chain;
    for (size_t s = 0; s < b->parts->count; s++)
        for (size_t i = 0; i < b->parts->steps[s]->write_count; i++)
            add_operand(b, chain->writes, &chain->write_count, b->parts->steps[s], &b->parts->steps[s]->writes[i]);
    for (size_t s = 0; s < b->parts->count; s++)
        for (size_t i = 0; i < b->parts->steps[s]->read_count; i++)
            if (find_operand(chain->writes, chain->write_count, b->parts->steps[s]->reads[i].buffer) ==
                chain->write_count)
                add_operand(b, chain->reads, &chain->read_count, b->parts->steps[s], &b->parts->steps[s]->reads[i]);
}

static bool reads(const mw__step *step, uint32_t buffer)
{
    return find_operand(step->reads, step->read_count, buffer) < step->read_count;
}

/* The step writes what others may see by such units. */
static bool writes_so(const builder *b, const mw__step *step, const mw__step_operand *read)
{
    for (size_t i = 0; i < step->write_count; i++) {
        const mw__step_operand seen = of_chain(b, step, &step->writes[i]);
        if (!is_inner(b, seen.buffer) && seen.unit == read->unit && seen.planes == read->planes)
            return true;
    }
    return false;
}

/* An output may lie over what a step reads only if no step after it does, and none before it writes by such units. */
static void settle_places(const builder *b)
{
    for (size_t i = 0; i < b->chain->read_count; i++) {
        mw__step_operand *read = &b->chain->reads[i];
        size_t last = 0;
        for (size_t s = 0; s < b->parts->count; s++)
            last = reads(b->parts->steps[s], read->buffer) ? s : last;
        const mw__step *reader = b->parts->steps[last];
        read->in_place = mw__step_operand_has_units(read);
        for (size_t s = 0; s < last; s++)
            read->in_place = read->in_place && !writes_so(b, b->parts->steps[s], read);
        for (size_t k = 0; k < reader->read_count && writes_so(b, reader, read); k++)
            read->in_place = read->in_place && (reader->reads[k].buffer != read->buffer || reader->reads[k].in_place);
    }
}

/* ---- pieces ---- */

static void touch(builder *b, uint32_t buffer, size_t at)
{
    if (!is_inner(b, buffer))
        return;
    size_t i = 0;
    while (i < b->piece_count && b->pieces[i].buffer != buffer)
        i++;
    if (i == b->piece_count)
        b->pieces[b->piece_count++] =
            (piece){.buffer = buffer, .part = b->parts->buffers[buffer].size / (size_t)b->parts->units, .first = at};
    b->pieces[i].last = at;
}

/* The step may write the one piece over the other, which nobody reads any more. */
static bool may_replace(const builder *b, const piece *old, const piece *new)
{
    return old->first < old->last && old->last == new->first &&
           old->part == new->part &&mw__step_in_place(b->parts->steps[new->first], old->buffer, new->buffer);
}

/* Whether the slot is free for the piece at `at`. */
static bool is_free(const builder *b, size_t slot, size_t at)
{
    bool replaced = false;
    for (size_t i = 0; i < at; i++) {
        const piece *other = &b->pieces[i];
        if (other->slot != slot || other->last < b->pieces[at].first)
            continue;
        if (replaced || !may_replace(b, other, &b->pieces[at]))
            return false;
        replaced = true;
    }
    return true;
}

/* Pieces share a slot if they do not live at once. */
static void take_slots(builder *b)
{
    for (size_t i = 0; i < b->piece_count; i++) {
        piece *p = &b->pieces[i];
        while (p->slot < b->slot_count && !is_free(b, p->slot, i))
            p->slot++;
        if (p->slot == b->slot_count)
            b->slots[b->slot_count++] = 0;
        b->slots[p->slot] = p->part > b->slots[p->slot] ? p->part : b->slots[p->slot];
    }
}

static bool place_pieces(mw__arena *arena, builder *b, mw_error *err)
{
    size_t touches = 0;
    for (size_t s = 0; s < b->parts->count; s++)
        touches += b->parts->steps[s]->read_count + b->parts->steps[s]->write_count;
    b->pieces = mw__arena_alloc(arena, touches, sizeof *b->pieces, err);
    b->slots = mw__arena_alloc(arena, touches, sizeof *b->slots, err);
    if (b->pieces == NULL || b->slots == NULL)
        return false;
    for (size_t s = 0; s < b->parts->count; s++) {
        for (size_t i = 0; i < b->parts->steps[s]->write_count; i++)
            touch(b, b->parts->steps[s]->writes[i].buffer, s);
        for (size_t i = 0; i < b->parts->steps[s]->read_count; i++)
            touch(b, b->parts->steps[s]->reads[i].buffer, s);
    }
    take_slots(b);
    return true;
}

/* Units of a block. */
static int64_t block_units(const builder *b)
{
    const mw__step *chain = b->chain;
    double bytes = 0.0;
    for (size_t i = 0; i < chain->read_count; i++)
        bytes += (double)b->parts->buffers[chain->reads[i].buffer].size;
    for (size_t i = 0; i < chain->write_count; i++)
        bytes += (double)b->parts->buffers[chain->writes[i].buffer].size;
    for (size_t i = 0; i < b->slot_count; i++)
        bytes += (double)b->slots[i] * (double)chain->units;
    const double fit = (double)CACHE_BYTES * (double)chain->units / bytes;
    return fit > (double)chain->units ? chain->units : fit > 1.0 ? (int64_t)fit : 1;
}

/* Gives every slot its place behind the scratch of the stages. */
static bool add_slots(builder *b, int64_t block, mw_error *err)
{
    bool fits = mw__round_up_size(b->chain->scratch, 64, &b->chain->scratch);
    for (size_t slot = 0; fits && slot < b->slot_count; slot++) {
        size_t bytes;
        for (size_t i = 0; i < b->piece_count; i++)
            if (b->pieces[i].slot == slot)
                b->pieces[i].offset = b->chain->scratch;
        fits = mw__mul_size(b->slots[slot], (size_t)block, &bytes) && mw__round_up_size(bytes, 64, &bytes) &&
               mw__add_size(b->chain->scratch, bytes, &b->chain->scratch);
    }
    return fits || mw__fail(err, MW_ERROR_MEMORY, "scratch memory exceeds the address space") == MW_OK;
}

/* ---- stages ---- */

static uint16_t place_of(const builder *b, uint32_t buffer)
{
    const mw__step *chain = b->chain;
    size_t at = find_operand(chain->reads, chain->read_count, buffer);
    if (at < chain->read_count)
        return (uint16_t)at;
    at = find_operand(chain->writes, chain->write_count, buffer);
    if (at < chain->write_count)
        return (uint16_t)(chain->read_count + at);
    for (at = 0; b->pieces[at].buffer != buffer;)
        at++;
    return (uint16_t)(chain->read_count + chain->write_count + at);
}

static bool fill_stage(mw__arena *arena, const builder *b, mw__step *step, stage *out, mw_error *err)
{
    uint16_t *in = mw__arena_alloc(arena, step->read_count + step->write_count, sizeof *in, err);
    if (in == NULL)
        return false;
    *out = (stage){.step = step, .units = step->units / b->parts->units, .in = in, .out = in + step->read_count};
    for (size_t i = 0; i < step->read_count; i++)
        in[i] = place_of(b, step->reads[i].buffer);
    for (size_t i = 0; i < step->write_count; i++)
        in[step->read_count + i] = place_of(b, step->writes[i].buffer);
    return true;
}

static bool list_ops(mw__arena *arena, mw__step *chain, mw__step *const *steps, size_t count, mw_error *err)
{
    size_t ops = 0;
    for (size_t s = 0; s < count; s++)
        ops += steps[s]->group.count > 0 ? steps[s]->group.count : 1;
    const mw__op **list = mw__arena_alloc(arena, ops, sizeof *list, err);
    if (list == NULL)
        return false;
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < steps[s]->group.count || i == 0; i++) {
            const mw__op *op = steps[s]->group.count > 0 ? steps[s]->group.ops[i] : steps[s]->op;
            bool there = false; /* what is computed twice */
            for (size_t k = 0; k < chain->group.count; k++)
                there = there || list[k] == op;
            if (!there)
                list[chain->group.count++] = op;
        }
    chain->group.ops = list;
    return true;
}

static void sum_up(const builder *b)
{
    mw__step *chain = b->chain;
    const mw__step *last = b->parts->steps[b->parts->count - 1];
    chain->op = last->op;
    chain->report.label = "fused.chain";
    chain->report.implementation = last->report.implementation;
    chain->run = chain_run;
    chain->units = b->parts->units;
    chain->span = 1;
    chain->report.flops = MW__FLOPS_UNKNOWN;
    for (size_t s = 0; s < b->parts->count; s++) {
        const mw__step *step = b->parts->steps[s];
        if (step->units == chain->units && step->grain > chain->grain)
            chain->grain = step->grain;
        chain->scratch = step->scratch > chain->scratch ? step->scratch : chain->scratch;
        chain->cost += step->cost;
    }
}

mw__step *mw__unit_chain_step(mw__arena *arena, const mw__unit_chain *parts, mw_error *err)
{
    size_t read_room = 0, write_room = 0;
    for (size_t s = 0; s < parts->count; s++)
        read_room += parts->steps[s]->read_count, write_room += parts->steps[s]->write_count;
    builder b = {.parts = parts, .chain = mw__step_create(arena, read_room, write_room, err)};
    chain_block *block = mw__arena_alloc(arena, 1, sizeof *block + parts->count * sizeof(stage), err);
    if (b.chain == NULL || block == NULL || !list_ops(arena, b.chain, parts->steps, parts->count, err))
        return NULL;
    sum_up(&b);
    collect(&b);
    settle_places(&b);
    if (!place_pieces(arena, &b, err))
        return NULL;
    *block = (chain_block){.stage_count = parts->count,
                           .read_count = b.chain->read_count,
                           .write_count = b.chain->write_count,
                           .piece_count = b.piece_count,
                           .units = block_units(&b),
                           .pieces = b.pieces};
    b.chain->block = block;
    if (!add_slots(&b, block->units, err))
        return NULL;
    for (size_t s = 0; s < parts->count; s++)
        if (!fill_stage(arena, &b, parts->steps[s], &block->stages[s], err))
            return NULL;
    return b.chain;
}
