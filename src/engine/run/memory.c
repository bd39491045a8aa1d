/* Places the local buffers of an operation in one block. A buffer lives from the phase that first writes it to the
 * phase that last uses it; a result takes over the memory of an operand that is read in place for the last time,
 * or of a buffer that ended earlier in the same phase. */
#include "base/memory/checked.h"
#include "engine/core/partition.h"
#include "engine/run/layout.h"

#include <stdlib.h>
#include <string.h>

/* By buffer; of a group that shares memory in place, the first member's entry counts. */
typedef struct life {
    uint32_t first_step, last_step; /* positions; first > last: never used */
    uint32_t begin, end;            /* time, inclusive */
    size_t size, offset;
    uint32_t buffer;
} life;

/* Of what ended in a phase the newest are remembered; what is smaller than ENDED_LEAST bytes is not. */
enum { ENDED_MAX = 32, ENDED_LEAST = 4096 };

typedef struct placer {
    mw__layout *layout;
    life *lives;
    const life **placed; /* by offset */
    size_t placed_count;
    uint32_t ended[ENDED_MAX]; /* groups whose last use was in the phase at work, newest last, from any place */
    size_t ended_count;
} placer;

/* One partition has one long phase: there the steps themselves are the clock. */
static uint32_t time_of(const mw__layout *layout, size_t position)
{
    return layout->partitions == 1 ? (uint32_t)position : layout->phase[position];
}

static void extend(const mw__layout *layout, life *live, size_t position)
{
    const uint32_t time = time_of(layout, position);
    if (live->first_step > live->last_step) {
        live->first_step = (uint32_t)position;
        live->begin = time;
    }
    live->last_step = (uint32_t)position;
    live->end = time;
}

static void find_lives(const placer *p)
{
    const mw__layout *layout = p->layout;
    for (uint32_t b = 0; b < layout->buffer_count; b++)
        p->lives[b] = (life){.first_step = 1, .size = layout->buffers[b].size, .buffer = b};
    for (size_t s = 0; s < layout->step_count; s++) {
        const mw__step *step = layout->steps[s];
        for (size_t i = 0; i < step->read_count; i++)
            extend(layout, &p->lives[step->reads[i].buffer], s);
        for (size_t i = 0; i < step->write_count; i++)
            extend(layout, &p->lives[step->writes[i].buffer], s);
    }
}

/* ---- in place ---- */

static bool uses_memory(const mw__layout *layout, const mw__step_operand *operands, size_t count, uint32_t memory)
{
    for (size_t i = 0; i < count; i++)
        if (layout->memory[operands[i].buffer] == memory)
            return true;
    return false;
}

/* Every read of the group's memory by the step goes with the write, unit by unit, and the write covers it all. */
static bool reads_in_place(const mw__layout *layout, const mw__step *step, uint32_t memory,
                           const mw__step_operand *write)
{
    size_t covered;
    const size_t planes = write->planes > 0 ? (size_t)write->planes : 1;
    if (!mw__mul_size(write->unit, (size_t)step->units, &covered) || !mw__mul_size(covered, planes, &covered) ||
        covered < layout->buffers[write->buffer].size)
        return false;
    for (size_t i = 0; i < step->read_count; i++)
        if (layout->memory[step->reads[i].buffer] == memory && !mw__step_operand_goes_with(&step->reads[i], write))
            return false;
    return mw__step_operand_has_units(write) && !uses_memory(layout, step->writes, step->write_count, memory);
}

static bool all_apart(const mw__layout *layout, const mw__step *other, const mw__step_operand *operands, size_t count,
                      uint32_t memory, const mw__step *step, const mw__step_operand *operand)
{
    for (size_t i = 0; i < count; i++)
        if (layout->memory[operands[i].buffer] == memory &&
            !mw__partitions_disjoint(layout->partitions, other, &operands[i], step, operand))
            return false;
    return true;
}

/* No partition that is ahead in the step's phase meets one that is behind: what the phase did before with the old
 * memory, and what it does later with the new buffer, keeps to the partitions of this write. Nothing uses the old
 * memory before its group's first step. A iter that would be longer than ND_MAX gives up: the buffer gets memory of its
 * own, and a program of very many steps is still placed in linear time. */
enum { ND_MAX = 256 };

static bool phase_allows(const mw__layout *layout, size_t position, const life *group, const mw__step_operand *write)
{
    const mw__step *step = layout->steps[position];
    const uint32_t phase = layout->phase[position], memory = group->buffer;
    if (layout->partitions == 1) /* nobody is ahead */
        return true;
    for (size_t s = position; s-- > group->first_step && layout->phase[s] == phase;) {
        if (position - s > ND_MAX)
            return false;
        const mw__step *other = layout->steps[s];
        if (!all_apart(layout, other, other->reads, other->read_count, memory, step, write) ||
            !all_apart(layout, other, other->writes, other->write_count, memory, step, write))
            return false;
    }
    return true;
}

static void join_group(const placer *p, uint32_t group, uint32_t buffer)
{
    life *into = &p->lives[group];
    const life *from = &p->lives[buffer];
    into->last_step = from->last_step;
    into->end = from->end;
    p->layout->memory[buffer] = group;
}

static bool may_join(const placer *p, size_t position, uint32_t group, const mw__step_operand *write)
{
    const mw__layout *layout = p->layout;
    return layout->buffers[group].kind == MW__BUFFER_LOCAL && p->lives[group].size == p->lives[write->buffer].size &&
           reads_in_place(layout, layout->steps[position], group, write) &&
           phase_allows(layout, position, &p->lives[group], write);
}

static bool try_in_place(const placer *p, size_t position, const mw__step_operand *write)
{
    const mw__step *step = p->layout->steps[position];
    for (size_t i = 0; i < step->read_count; i++) {
        const uint32_t group = p->layout->memory[step->reads[i].buffer];
        if (p->lives[group].last_step == position && may_join(p, position, group, write)) {
            join_group(p, group, write->buffer);
            return true;
        }
    }
    return false;
}

/* ---- in the place of what ended in the same phase ----
 * Partitions are at different steps of a phase, so that there what ended does not make room for what begins, unless
 * each of them keeps to its own bytes. In a chain of row by row operations that is all of them. */

static bool try_behind(const placer *p, size_t position, const mw__step_operand *write)
{
    for (size_t i = p->ended_count; i-- > 0;) {
        const uint32_t group = p->ended[i];
        if (p->lives[group].last_step < position && may_join(p, position, group, write)) {
            join_group(p, group, write->buffer);
            return true;
        }
    }
    return false;
}

static void remember_ended(placer *p, size_t position, const mw__step_operand *operand)
{
    const uint32_t group = p->layout->memory[operand->buffer];
    if (p->lives[group].last_step != position || p->lives[group].size < ENDED_LEAST ||
        p->layout->buffers[group].kind != MW__BUFFER_LOCAL)
        return;
    if (p->ended_count == ENDED_MAX)
        memmove(p->ended, p->ended + 1, --p->ended_count * sizeof *p->ended);
    p->ended[p->ended_count++] = group;
}

static void share_memory(placer *p, size_t position)
{
    const mw__layout *layout = p->layout;
    const mw__step *step = layout->steps[position];
    if (position > 0 && layout->phase[position] != layout->phase[position - 1])
        p->ended_count = 0;
    for (size_t i = 0; i < step->write_count; i++) {
        const mw__step_operand *write = &step->writes[i];
        const uint32_t buffer = write->buffer;
        if (layout->buffers[buffer].kind == MW__BUFFER_LOCAL && layout->memory[buffer] == buffer &&
            p->lives[buffer].first_step == position && !uses_memory(layout, step->reads, step->read_count, buffer) &&
            !try_in_place(p, position, write))
            try_behind(p, position, write);
    }
    if (layout->partitions == 1) /* there time is fine enough */
        return;
    for (size_t i = 0; i < step->read_count; i++)
        remember_ended(p, position, &step->reads[i]);
}

/* ---- offsets ---- */

static int larger_first(const void *left, const void *right)
{
    const life *a = *(const life *const *)left, *b = *(const life *const *)right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->buffer < b->buffer ? -1 : 1;
}

static bool overlap(const life *a, const life *b) { return a->begin <= b->end && b->begin <= a->end; }

/* The smallest gap between buffers that live at the same time. */
static size_t best_gap(const placer *p, const life *live)
{
    size_t best = SIZE_MAX, best_size = SIZE_MAX, free_from = 0;
    for (size_t i = 0; i < p->placed_count; i++) {
        const life *other = p->placed[i];
        if (!overlap(live, other))
            continue;
        if (other->offset > free_from && other->offset - free_from >= live->size &&
            other->offset - free_from < best_size) {
            best = free_from;
            best_size = other->offset - free_from;
        }
        if (other->offset + other->size > free_from)
            free_from = other->offset + other->size;
    }
    return best != SIZE_MAX ? best : free_from;
}

static mw_status take_offset(placer *p, life *live, size_t offset, mw_error *err)
{
    size_t end;
    live->offset = offset;
    if (!mw__add_size(offset, live->size, &end) || end > PTRDIFF_MAX)
        return mw__fail(err, MW_ERROR_MEMORY, "the intermediates of the function exceed the address space");
    if (end > p->layout->size)
        p->layout->size = end;
    return MW_OK;
}

static mw_status place_one(placer *p, life *live, mw_error *err)
{
    MW_TRY(take_offset(p, live, best_gap(p, live), err));
    size_t at = p->placed_count++;
    for (; at > 0 && p->placed[at - 1]->offset > live->offset; at--)
        p->placed[at] = p->placed[at - 1];
    p->placed[at] = live;
    return MW_OK;
}

/* ---- offsets of very many buffers ---- */

/* The largest first takes a look at all others for each buffer; beyond this count that is too long, and buffers are
 * placed as they come, in gaps that others have left. */
enum { SORTED_BY_SIZE = 4096, GAPS_SEEN = 512 };

typedef struct gap {
    size_t offset, size;
} gap;

typedef struct gaps {
    gap *list; /* by offset; no two touch */
    size_t count;
} gaps;

static int earlier_first(const void *left, const void *right)
{
    const life *a = *(const life *const *)left, *b = *(const life *const *)right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return larger_first(left, right);
}

static int ended_first(const void *left, const void *right)
{
    const life *a = *(const life *const *)left, *b = *(const life *const *)right;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->buffer < b->buffer ? -1 : 1;
}

static void remove_gap(gaps *g, size_t at)
{
    g->count--;
    memmove(g->list + at, g->list + at + 1, (g->count - at) * sizeof(gap));
}

static void give_back(gaps *g, gap freed)
{
    size_t low = 0, high = g->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (g->list[middle].offset < freed.offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < g->count && freed.offset + freed.size == g->list[low].offset) {
        freed.size += g->list[low].size;
        remove_gap(g, low);
    }
    if (low > 0 && g->list[low - 1].offset + g->list[low - 1].size == freed.offset) {
        g->list[low - 1].size += freed.size;
        return;
    }
    memmove(g->list + low + 1, g->list + low, (g->count - low) * sizeof(gap));
    g->list[low] = freed;
    g->count++;
}

/* The smallest of the gaps that are looked at, else the end, which the last gap may touch. */
static size_t take_gap(gaps *g, size_t size, size_t end)
{
    size_t best = SIZE_MAX;
    for (size_t i = g->count > GAPS_SEEN ? g->count - GAPS_SEEN : 0; i < g->count; i++)
        if (g->list[i].size >= size && (best == SIZE_MAX || g->list[i].size < g->list[best].size))
            best = i;
    if (best == SIZE_MAX) {
        const bool touches = g->count > 0 && g->list[g->count - 1].offset + g->list[g->count - 1].size == end;
        g->count -= touches;
        return touches ? g->list[g->count].offset : end;
    }
    const size_t offset = g->list[best].offset;
    g->list[best].offset += size;
    g->list[best].size -= size;
    if (g->list[best].size == 0)
        remove_gap(g, best);
    return offset;
}

static mw_status place_in_time(placer *p, life **wanted, size_t count, mw_error *err)
{
    life **ending = mw__arena_alloc(p->layout->arena, count, sizeof(life *), err);
    gaps g = {.list = mw__arena_alloc(p->layout->arena, count + 1, sizeof(gap), err)};
    if (ending == NULL || g.list == NULL)
        return MW_ERROR_MEMORY;
    memcpy(ending, wanted, count * sizeof(life *));
    qsort(wanted, count, sizeof(life *), earlier_first);
    qsort(ending, count, sizeof(life *), ended_first);
    for (size_t i = 0, ended = 0; i < count; i++) {
        for (; ending[ended]->end < wanted[i]->begin; ended++)
            if (ending[ended]->size > 0)
                give_back(&g, (gap){.offset = ending[ended]->offset, .size = ending[ended]->size});
        MW_TRY(take_offset(p, wanted[i], take_gap(&g, wanted[i]->size, p->layout->size), err));
    }
    return MW_OK;
}

static mw_status place_all(placer *p, life **wanted, mw_error *err)
{
    const mw__layout *layout = p->layout;
    size_t count = 0;
    for (uint32_t b = 0; b < layout->buffer_count; b++) {
        life *live = &p->lives[b];
        if (layout->buffers[b].kind != MW__BUFFER_LOCAL || layout->memory[b] != b || live->first_step > live->last_step)
            continue;
        if (!mw__round_up_size(live->size, 64, &live->size))
            return mw__fail(err, MW_ERROR_MEMORY, "an intermediate exceeds the address space");
        wanted[count++] = live;
    }
    if (count > SORTED_BY_SIZE)
        return place_in_time(p, wanted, count, err);
    if (count > 0)
        qsort(wanted, count, sizeof(life *), larger_first);
    for (size_t i = 0; i < count; i++)
        MW_TRY(place_one(p, wanted[i], err));
    return MW_OK;
}

mw_status mw__layout_place_buffers(mw__layout *layout, mw_error *err)
{
    const size_t count = layout->buffer_count;
    placer p = {.layout = layout,
                .lives = mw__arena_alloc(layout->arena, count, sizeof(life), err),
                .placed = mw__arena_alloc(layout->arena, count, sizeof(life *), err)};
    life **wanted = mw__arena_alloc(layout->arena, count, sizeof(life *), err);
    layout->offset = mw__arena_alloc(layout->keep, count, sizeof *layout->offset, err);
    if (p.lives == NULL || p.placed == NULL || wanted == NULL || layout->offset == NULL)
        return MW_ERROR_MEMORY;
    find_lives(&p);
    for (size_t s = 0; s < layout->step_count; s++)
        share_memory(&p, s);
    MW_TRY(place_all(&p, wanted, err));
    for (uint32_t b = 0; b < count; b++)
        layout->offset[b] = p.lives[layout->memory[b]].offset;
    return MW_OK;
}
