/* The order of steps when outputs share the memory of inputs: a step behaves as if all inputs were read before any
 * output was written. Builds the dependence graph (data, and reads of an input before writes of its alias), keeps the
 * order of the text where it can, and gives an output a temporary and a final copy where reads and writes form a cycle
 * (a -> b, b -> a). Knows nothing of partitions and addresses. */
#include "engine/core/partition.h"
#include "engine/run/layout.h"

#include <assert.h>
#include <string.h>

#define NONE UINT32_MAX

typedef struct edge {
    uint32_t to, next;
} edge;

typedef struct order {
    mw__layout *layout;
    uint32_t *first_edge; /* by step */
    edge *edges;
    size_t edge_count, edge_capacity;
    uint32_t *position; /* by step: place in the order found so far */
    uint32_t *sequence; /* by place: step */
    uint8_t *mark;      /* by step: READS, WRITES, SEEN */
    uint32_t *stack;
    uint32_t *waiting; /* by step: predecessors not placed yet */
    size_t capacity;   /* steps that the tables hold */
} order;

enum { READS = 1, WRITES = 2, SEEN = 4 };

static mw_status add_edge(order *o, uint32_t from, uint32_t to, mw_error *err)
{
    if (from == to)
        return MW_OK;
    MW_TRY(
        mw__grow(o->layout->arena->allocator, &o->edges, &o->edge_capacity, o->edge_count + 1, sizeof *o->edges, err));
    o->edges[o->edge_count] = (edge){.to = to, .next = o->first_edge[from]};
    o->first_edge[from] = (uint32_t)o->edge_count++;
    return MW_OK;
}

/* ---- data dependences, in the order of the text ---- */

typedef struct readers {
    uint32_t *last_write;  /* by buffer: step */
    uint32_t *first_read;  /* by buffer: link; reads since the last write */
    uint32_t *step, *next; /* by link */
    uint32_t count;
} readers;

static mw_status add_write_edges(order *o, readers *r, uint32_t s, uint32_t buffer, mw_error *err)
{
    if (r->last_write[buffer] != NONE)
        MW_TRY(add_edge(o, r->last_write[buffer], s, err));
    for (uint32_t link = r->first_read[buffer]; link != NONE; link = r->next[link])
        MW_TRY(add_edge(o, r->step[link], s, err));
    r->last_write[buffer] = s;
    r->first_read[buffer] = NONE;
    return MW_OK;
}

static mw_status add_step_edges(order *o, readers *r, uint32_t s, mw_error *err)
{
    const mw__step *step = o->layout->steps[s];
    for (size_t i = 0; i < step->read_count; i++) {
        const uint32_t buffer = step->reads[i].buffer;
        if (r->last_write[buffer] != NONE)
            MW_TRY(add_edge(o, r->last_write[buffer], s, err));
        r->step[r->count] = s;
        r->next[r->count] = r->first_read[buffer];
        r->first_read[buffer] = r->count++;
    }
    for (size_t i = 0; i < step->write_count; i++)
        MW_TRY(add_write_edges(o, r, s, step->writes[i].buffer, err));
    return MW_OK;
}

static mw_status add_data_edges(order *o, mw_error *err)
{
    const mw__layout *layout = o->layout;
    const size_t buffers = layout->buffer_count;
    size_t links = 0;
    for (size_t s = 0; s < layout->step_count; s++)
        links += layout->steps[s]->read_count;
    readers r = {.last_write = mw__arena_alloc(layout->arena, buffers, sizeof(uint32_t), err),
                 .first_read = mw__arena_alloc(layout->arena, buffers, sizeof(uint32_t), err),
                 .step = mw__arena_alloc(layout->arena, links, sizeof(uint32_t), err),
                 .next = mw__arena_alloc(layout->arena, links, sizeof(uint32_t), err)};
    if (r.last_write == NULL || r.first_read == NULL || r.step == NULL || r.next == NULL)
        return MW_ERROR_MEMORY;
    memset(r.last_write, 0xff, buffers * sizeof(uint32_t));
    memset(r.first_read, 0xff, buffers * sizeof(uint32_t));
    for (uint32_t s = 0; s < layout->step_count; s++)
        MW_TRY(add_step_edges(o, &r, s, err));
    return MW_OK;
}

/* ---- aliases ---- */

static bool reads_buffer(const mw__step *step, uint32_t buffer)
{
    for (size_t i = 0; i < step->read_count; i++)
        if (step->reads[i].buffer == buffer)
            return true;
    return false;
}

static bool writes_buffer(const mw__step *step, uint32_t buffer)
{
    for (size_t i = 0; i < step->write_count; i++)
        if (step->writes[i].buffer == buffer)
            return true;
    return false;
}

/* Marks the steps that read an input of the aliases or write their output; false if one does both and may not. */
static bool mark_steps(order *o, const mw__alias *aliases, size_t count)
{
    const mw__layout *layout = o->layout;
    bool good = true;
    for (size_t s = 0; s < layout->step_count; s++) {
        const mw__step *step = layout->steps[s];
        const bool writes = writes_buffer(step, aliases->output);
        o->mark[s] = writes ? WRITES : 0;
        for (size_t i = 0; i < count; i++)
            if (reads_buffer(step, aliases[i].input)) {
                o->mark[s] |= READS;
                good = good && (!writes || mw__step_in_place(step, aliases[i].input, aliases[i].output));
            }
    }
    return good;
}

/* True if every marked reader already stands before every marked writer. */
static bool in_order(const order *o)
{
    uint32_t last_read = 0, first_write = NONE;
    uint32_t reads = 0;
    for (uint32_t s = 0; s < o->layout->step_count; s++) {
        if (o->mark[s] & READS) {
            last_read = o->position[s] > last_read ? o->position[s] : last_read;
            reads++;
        }
        if (o->mark[s] & WRITES && o->position[s] < first_write)
            first_write = o->position[s];
    }
    return reads == 0 || last_read <= first_write; /* equal: one step does both, in place */
}

/* True if a marked reader depends on a marked writer. */
static bool read_after_write(order *o)
{
    size_t depth = 0;
    for (uint32_t s = 0; s < o->layout->step_count; s++)
        if (o->mark[s] & WRITES)
            o->stack[depth++] = s;
    while (depth > 0) {
        const uint32_t s = o->stack[--depth];
        for (uint32_t e = o->first_edge[s]; e != NONE; e = o->edges[e].next) {
            const uint32_t to = o->edges[e].to;
            if (o->mark[to] & READS)
                return true;
            if (o->mark[to] & (SEEN | WRITES))
                continue; /* a writer is a start of its own */
            o->mark[to] |= SEEN;
            o->stack[depth++] = to;
        }
    }
    return false;
}

static mw_status add_alias_edges(order *o, mw_error *err)
{
    for (uint32_t r = 0; r < o->layout->step_count; r++)
        for (uint32_t w = 0; (o->mark[r] & READS) && w < o->layout->step_count; w++)
            if (o->mark[w] & WRITES)
                MW_TRY(add_edge(o, r, w, err));
    return MW_OK;
}

/* ---- a stable topological order: of the steps that are ready, the first in the text ---- */

static void heap_push(uint32_t *heap, size_t count, uint32_t s)
{
    size_t at = count;
    for (; at > 0 && heap[(at - 1) / 2] > s; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = s;
}

static uint32_t heap_pop(uint32_t *heap, size_t count)
{
    const uint32_t top = heap[0], last = heap[count - 1];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count - 1; at = child) {
        child += child + 1 < count - 1 && heap[child + 1] < heap[child];
        if (heap[child] >= last)
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return top;
}

static void sort_steps(order *o)
{
    const uint32_t count = (uint32_t)o->layout->step_count;
    memset(o->waiting, 0, count * sizeof *o->waiting);
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t e = o->first_edge[s]; e != NONE; e = o->edges[e].next)
            o->waiting[o->edges[e].to]++;
    size_t ready = 0;
    for (uint32_t s = 0; s < count; s++)
        if (o->waiting[s] == 0)
            heap_push(o->stack, ready++, s);
    uint32_t placed = 0;
    while (ready > 0) {
        const uint32_t s = heap_pop(o->stack, ready--);
        o->sequence[placed] = s;
        o->position[s] = placed++;
        for (uint32_t e = o->first_edge[s]; e != NONE; e = o->edges[e].next)
            if (--o->waiting[o->edges[e].to] == 0)
                heap_push(o->stack, ready++, o->edges[e].to);
    }
    assert(placed == count); /* edges that would make a cycle are never added */
}

/* ---- temporaries ---- */

static const mw__step_operand *find_write(const mw__layout *layout, uint32_t buffer, const mw__step **out_step)
{
    for (size_t s = 0; s < layout->step_count; s++)
        for (size_t i = 0; i < layout->steps[s]->write_count; i++)
            if (layout->steps[s]->writes[i].buffer == buffer) {
                *out_step = layout->steps[s];
                return &layout->steps[s]->writes[i];
            }
    return NULL;
}

/* The plan's steps are shared by all operations of the function: a step is copied before it is changed. */
static mw_status rename_buffer(mw__layout *layout, uint32_t from, uint32_t to, mw_error *err)
{
    for (size_t s = 0; s < layout->step_count; s++) {
        const mw__step *step = layout->steps[s];
        if (!reads_buffer(step, from) && !writes_buffer(step, from))
            continue;
        mw__step *copy = mw__step_copy(layout->keep, step, err);
        if (copy == NULL)
            return MW_ERROR_MEMORY;
        for (size_t i = 0; i < copy->read_count; i++)
            if (copy->reads[i].buffer == from)
                copy->reads[i].buffer = to;
        for (size_t i = 0; i < copy->write_count; i++)
            if (copy->writes[i].buffer == from)
                copy->writes[i].buffer = to;
        layout->steps[s] = copy;
    }
    return MW_OK;
}

/* The output is computed in memory of its own and copied when everything else is done. Steps that used the output use
 * the temporary, so that nothing depends on the copy. */
static mw_status use_temporary(order *o, uint32_t output, mw_error *err)
{
    mw__layout *layout = o->layout;
    const uint32_t temporary = (uint32_t)layout->buffer_count;
    const uint32_t copy = (uint32_t)layout->step_count;
    assert(layout->step_count < o->capacity);
    const mw__step *writer = NULL;
    const mw__step_operand *write = find_write(layout, output, &writer);
    mw__step *step = mw__copy_step(layout->keep, temporary, output, layout->buffers[output].size, writer, write, err);
    if (step == NULL)
        return MW_ERROR_MEMORY;
    layout->buffers[temporary] = (mw__buffer){.kind = MW__BUFFER_LOCAL, .size = layout->buffers[output].size};
    layout->buffer_count++;
    MW_TRY(rename_buffer(layout, output, temporary, err));
    layout->steps[layout->step_count++] = step;
    o->first_edge[copy] = NONE;
    for (uint32_t s = 0; s < copy; s++)
        if (o->mark[s] & (READS | WRITES))
            MW_TRY(add_edge(o, s, copy, err));
    o->position[copy] = o->sequence[copy] = copy;
    return MW_OK;
}

static mw_status order_alias(order *o, const mw__alias *aliases, size_t count, mw_error *err)
{
    if (!mark_steps(o, aliases, count))
        return use_temporary(o, aliases->output, err);
    const bool ordered = in_order(o);
    if (!ordered && read_after_write(o))
        return use_temporary(o, aliases->output, err);
    MW_TRY(add_alias_edges(o, err));
    if (!ordered)
        sort_steps(o);
    return MW_OK;
}

static mw_status order_aliases(order *o, mw_error *err)
{
    const mw__layout *layout = o->layout;
    for (size_t first = 0, next; first < layout->alias_count; first = next) {
        for (next = first + 1;
             next < layout->alias_count && layout->aliases[next].output == layout->aliases[first].output; next++) {
        }
        MW_TRY(order_alias(o, layout->aliases + first, next - first, err));
    }
    return MW_OK;
}

static mw_status apply_order(const order *o, mw_error *err)
{
    mw__layout *layout = o->layout;
    const mw__step **sorted = mw__arena_alloc(layout->keep, layout->step_count, sizeof *sorted, err);
    if (sorted == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < layout->step_count; i++)
        sorted[i] = layout->steps[o->sequence[i]];
    layout->steps = sorted;
    return MW_OK;
}

mw_status mw__order_steps(mw__layout *layout, mw_error *err)
{
    if (layout->alias_count == 0)
        return MW_OK;
    const size_t capacity = layout->step_count + layout->alias_count;
    order o = {.layout = layout,
               .capacity = capacity,
               .first_edge = mw__arena_alloc(layout->arena, capacity, sizeof(uint32_t), err),
               .position = mw__arena_alloc(layout->arena, capacity, sizeof(uint32_t), err),
               .sequence = mw__arena_alloc(layout->arena, capacity, sizeof(uint32_t), err),
               .mark = mw__arena_alloc(layout->arena, capacity, 1, err),
               .stack = mw__arena_alloc(layout->arena, capacity, sizeof(uint32_t), err),
               .waiting = mw__arena_alloc(layout->arena, capacity, sizeof(uint32_t), err)};
    if (o.first_edge == NULL || o.position == NULL || o.sequence == NULL || o.mark == NULL || o.stack == NULL ||
        o.waiting == NULL)
        return MW_ERROR_MEMORY;
    memset(o.first_edge, 0xff, capacity * sizeof(uint32_t));
    for (uint32_t s = 0; s < capacity; s++)
        o.position[s] = o.sequence[s] = s;
    mw_status status = add_data_edges(&o, err);
    if (status == MW_OK)
        status = order_aliases(&o, err);
    if (status == MW_OK)
        status = apply_order(&o, err);
    mw__free(layout->arena->allocator, o.edges);
    return status;
}
