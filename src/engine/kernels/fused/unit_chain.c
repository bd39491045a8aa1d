/* Several steps over the same units as one, which runs them block of units by block of units. The steps are those that
 * would stand one after the other, and so are their bits. */
#include "engine/kernels/fused/fused.h"

#include <string.h>

#define CACHE_BYTES (256 * 1024) /* that the units of a block touch: half of the smallest second-level cache in use */

typedef struct stage {
    const mw__step *step;
    const uint16_t *in, *out; /* by operand of the step: of the chain's; in: beyond its reads come its writes */
} stage;

typedef struct chain_block {
    size_t stage_count, read_count;
    int64_t units; /* of a block */
    stage stages[];
} chain_block;

static void run_stage(const mw__kernel_call *call, const stage *s, int64_t begin, int64_t end)
{
    const chain_block *chain = call->block;
    const void *in[MW__STEP_READS];
    void *out[MW__STEP_WRITES + MW__FUSED_SUMS];
    for (size_t i = 0; i < s->step->read_count; i++)
        in[i] = s->in[i] < chain->read_count ? call->in[s->in[i]] : call->out[s->in[i] - chain->read_count];
    for (size_t i = 0; i < s->step->write_count; i++)
        out[i] = call->out[s->out[i]];
    const mw__kernel_call inner = {
        .block = s->step->block, .in = in, .out = out, .scratch = call->scratch, .begin = begin, .end = end};
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

/* ---- building ---- */

static size_t find(const mw__step_operand *operands, size_t count, uint32_t buffer)
{
    size_t i = 0;
    while (i < count && operands[i].buffer != buffer)
        i++;
    return i;
}

/* The chain's operand of that buffer, which is added where it has none; one that two steps touch in different ways is
 * touched as a whole. */
static size_t add(mw__step_operand *operands, size_t *count, const mw__step_operand *operand)
{
    const size_t at = find(operands, *count, operand->buffer);
    if (at == *count)
        operands[(*count)++] = *operand;
    else if (operands[at].access != operand->access || operands[at].unit != operand->unit)
        operands[at] = (mw__step_operand){.buffer = operand->buffer, .access = MW__WHOLE};
    return at;
}

static void collect(mw__step *chain, mw__step *const *steps, size_t count)
{
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < steps[s]->write_count; i++)
            add(chain->writes, &chain->write_count, &steps[s]->writes[i]);
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < steps[s]->read_count; i++)
            if (find(chain->writes, chain->write_count, steps[s]->reads[i].buffer) == chain->write_count)
                add(chain->reads, &chain->read_count, &steps[s]->reads[i]);
}

static bool reads(const mw__step *step, uint32_t buffer)
{
    return find(step->reads, step->read_count, buffer) < step->read_count;
}

/* An output may lie over what a step reads only if no step after it does, and none before it writes by such units. */
static void settle_places(mw__step *chain, mw__step *const *steps, size_t count)
{
    for (size_t i = 0; i < chain->read_count; i++) {
        mw__step_operand *read = &chain->reads[i];
        size_t last = 0;
        for (size_t s = 0; s < count; s++)
            last = reads(steps[s], read->buffer) ? s : last;
        for (size_t s = 0; s < last; s++)
            for (size_t k = 0; k < steps[s]->write_count; k++)
                read->in_place = read->in_place && steps[s]->writes[k].unit != read->unit;
        for (size_t k = 0; k < steps[last]->read_count; k++)
            read->in_place =
                read->in_place && (steps[last]->reads[k].buffer != read->buffer || steps[last]->reads[k].in_place);
    }
}

static bool fill_stage(mw__arena *arena, const mw__step *chain, const mw__step *step, stage *out, mw_error *err)
{
    uint16_t *in = mw__arena_alloc(arena, step->read_count + step->write_count, sizeof *in, err);
    if (in == NULL)
        return false;
    *out = (stage){.step = step, .in = in, .out = in + step->read_count};
    for (size_t i = 0; i < step->read_count; i++) {
        const size_t at = find(chain->reads, chain->read_count, step->reads[i].buffer);
        const size_t written = find(chain->writes, chain->write_count, step->reads[i].buffer);
        in[i] = (uint16_t)(at < chain->read_count ? at : chain->read_count + written);
    }
    for (size_t i = 0; i < step->write_count; i++)
        in[step->read_count + i] = (uint16_t)find(chain->writes, chain->write_count, step->writes[i].buffer);
    return true;
}

static bool list_ops(mw__arena *arena, mw__step *chain, mw__step *const *steps, size_t count, mw_error *err)
{
    size_t ops = 0;
    for (size_t s = 0; s < count; s++)
        ops += steps[s]->op_count > 0 ? steps[s]->op_count : 1;
    const mw__op **list = mw__arena_alloc(arena, ops, sizeof *list, err);
    if (list == NULL)
        return false;
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < steps[s]->op_count || i == 0; i++) {
            const mw__op *op = steps[s]->op_count > 0 ? steps[s]->ops[i] : steps[s]->op;
            bool there = false; /* what is computed twice */
            for (size_t k = 0; k < chain->op_count; k++)
                there = there || list[k] == op;
            if (!there)
                list[chain->op_count++] = op;
        }
    chain->ops = list;
    return true;
}

/* Units of a block. */
static int64_t block_units(const mw__step *chain, const mw__buffer *buffers)
{
    double bytes = 0.0;
    for (size_t i = 0; i < chain->read_count; i++)
        bytes += (double)buffers[chain->reads[i].buffer].size;
    for (size_t i = 0; i < chain->write_count; i++)
        bytes += (double)buffers[chain->writes[i].buffer].size;
    const double fit = (double)CACHE_BYTES * (double)chain->units / bytes;
    return fit > (double)chain->units ? chain->units : fit > 1.0 ? (int64_t)fit : 1;
}

mw__step *mw__unit_chain_step(mw__arena *arena, mw__step *const *steps, size_t count, const mw__buffer *buffers,
                              mw_error *err)
{
    size_t read_room = 0, write_room = 0;
    for (size_t s = 0; s < count; s++)
        read_room += steps[s]->read_count, write_room += steps[s]->write_count;
    mw__step *chain = mw__step_create(arena, read_room, write_room, err);
    chain_block *block = mw__arena_alloc(arena, 1, sizeof *block + count * sizeof(stage), err);
    if (chain == NULL || block == NULL || !list_ops(arena, chain, steps, count, err))
        return NULL;
    chain->op = steps[count - 1]->op;
    chain->label = "fused.chain";
    chain->implementation = steps[count - 1]->implementation;
    chain->run = chain_run;
    chain->block = block;
    chain->units = steps[0]->units;
    collect(chain, steps, count);
    settle_places(chain, steps, count);
    *block = (chain_block){.stage_count = count, .read_count = chain->read_count, .units = block_units(chain, buffers)};
    for (size_t s = 0; s < count; s++) {
        chain->grain = steps[s]->grain > chain->grain ? steps[s]->grain : chain->grain;
        chain->scratch = steps[s]->scratch > chain->scratch ? steps[s]->scratch : chain->scratch;
        chain->cost += steps[s]->cost;
        chain->flops = MW__FLOPS_UNKNOWN;
        if (!fill_stage(arena, chain, steps[s], &block->stages[s], err))
            return NULL;
    }
    return chain;
}
