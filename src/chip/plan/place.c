/* Offsets: the largest first, each at the lowest place that is free for as long as it lives. What is written over
 * another value shares its place. */
#include "chip/plan/place.h"
#include "base/number/integer.h"

#include <stdlib.h>

typedef struct block {
    size_t root; /* value */
    size_t first, last;
    int64_t extent, offset;
} block;

typedef struct placing {
    const mw__chip_planner *p;
    block *blocks;
    size_t count;
    size_t *placed; /* blocks by offset */
    size_t placed_count;
} placing;

static size_t root_of(const mw__chip_planner *p, size_t value)
{
    while (p->values[value].public.over != MW_CHIP_NONE)
        value = p->values[value].public.over;
    return value;
}

static int by_extent(const void *a, const void *b)
{
    const block *x = a, *y = b;
    if (x->extent != y->extent)
        return x->extent > y->extent ? -1 : 1;
    return (x->root > y->root) - (x->root < y->root);
}

/* Blocks of the values of one memory, of one partition if it is on chip. A root's block comes before it is joined, as
 * values stand in the order of their layers. */
static void gather_blocks(placing *g, const size_t *values, size_t count, size_t *block_of)
{
    const mw__chip_planner *p = g->p;
    g->count = g->placed_count = 0;
    for (size_t i = 0; i < count; i++) {
        const mw_chip_value *value = &p->values[values[i]].public;
        const size_t root = root_of(p, values[i]);
        if (root == values[i]) {
            block_of[root] = g->count;
            g->blocks[g->count++] =
                (block){.root = root, .first = value->first, .last = value->last, .extent = value->extent};
            continue;
        }
        block *b = &g->blocks[block_of[root]];
        b->last = value->last > b->last ? value->last : b->last;
    }
    if (g->count > 0)
        qsort(g->blocks, g->count, sizeof *g->blocks, by_extent);
}

static int64_t find_offset(const placing *g, const block *b)
{
    int64_t offset = 0;
    for (size_t i = 0; i < g->placed_count; i++) {
        const block *other = &g->blocks[g->placed[i]];
        if (other->last < b->first || b->last < other->first)
            continue;
        if (other->offset - offset >= b->extent)
            break;
        const int64_t end = mw__i64_round_up(other->offset + other->extent, g->p->options->alignment);
        offset = end > offset ? end : offset;
    }
    return offset;
}

static void insert(placing *g, size_t index)
{
    size_t at = g->placed_count++;
    for (; at > 0 && g->blocks[g->placed[at - 1]].offset > g->blocks[index].offset; at--)
        g->placed[at] = g->placed[at - 1];
    g->placed[at] = index;
}

/* The end of what was placed; what does not fit below `limit` has the offset -1. */
static int64_t place_blocks(placing *g, int64_t limit)
{
    int64_t peak = 0;
    for (size_t i = 0; i < g->count; i++) {
        block *b = &g->blocks[i];
        b->offset = find_offset(g, b);
        if (b->offset > limit - b->extent) {
            b->offset = -1;
            continue;
        }
        insert(g, i);
        peak = b->offset + b->extent > peak ? b->offset + b->extent : peak;
    }
    return peak;
}

/* Values take the offset of their root's block, which `block_of` finds after sorting. */
static void write_offsets(placing *g, const size_t *values, size_t count, size_t *block_of)
{
    for (size_t i = 0; i < g->count; i++)
        block_of[g->blocks[i].root] = i;
    for (size_t i = 0; i < count; i++)
        g->p->values[values[i]].public.offset = g->blocks[block_of[root_of(g->p, values[i])]].offset;
}

/* ---- what found no room ---- */

static void spill(const mw__chip_planner *p, const size_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mw_chip_value *value = &p->values[values[i]].public;
        if (value->offset >= 0)
            continue;
        value->allocation = MW_CHIP_ALLOCATION_STREAMED;
        value->memory = MW_CHIP_MEMORY_DRAM;
        value->extent = value->bytes;
        value->reason = "no room on chip is left for it";
    }
    for (size_t i = 0; i < count; i++) {
        mw_chip_value *value = &p->values[values[i]].public;
        if (value->memory == MW_CHIP_MEMORY_DRAM)
            value->over = MW_CHIP_NONE;
    }
}

/* ---- all of it ---- */

static size_t list(const mw__chip_planner *p, mw_chip_memory memory, const mw_chip_partition *partition, size_t *out)
{
    size_t count = 0;
    const size_t from = partition != NULL ? partition->first_layer : 0;
    const size_t to = partition != NULL ? from + partition->layer_count : p->layer_count;
    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < p->layers[i].public.output_count; k++) {
            const size_t value = p->layers[i].public.outputs[k];
            if (p->values[value].public.memory == memory)
                out[count++] = value;
        }
    return count;
}

mw_status mw__chip_plan_place(mw__chip_planner *p)
{
    placing g = {.p = p,
                 .blocks = mw__arena_alloc(&p->scratch, p->value_count, sizeof *g.blocks, p->err),
                 .placed = mw__arena_alloc(&p->scratch, p->value_count, sizeof *g.placed, p->err)};
    size_t *values = mw__arena_alloc(&p->scratch, p->value_count, sizeof *values, p->err);
    size_t *block_of = mw__arena_alloc(&p->scratch, p->value_count, sizeof *block_of, p->err);
    if (g.blocks == NULL || g.placed == NULL || values == NULL || block_of == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < p->plan->partition_count; i++) {
        const size_t count = list(p, MW_CHIP_MEMORY_ON_CHIP, &p->plan->partitions[i], values);
        gather_blocks(&g, values, count, block_of);
        const int64_t peak = place_blocks(&g, p->chip->working_set);
        write_offsets(&g, values, count, block_of);
        spill(p, values, count);
        p->plan->totals.on_chip_peak = peak > p->plan->totals.on_chip_peak ? peak : p->plan->totals.on_chip_peak;
    }
    const size_t count = list(p, MW_CHIP_MEMORY_DRAM, NULL, values);
    gather_blocks(&g, values, count, block_of);
    p->plan->totals.dram_bytes = place_blocks(&g, INT64_MAX);
    write_offsets(&g, values, count, block_of);
    return MW_OK;
}
