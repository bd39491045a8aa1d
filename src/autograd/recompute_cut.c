/* A sweep over the operations that the loss needs keeps the set of values that are handed on. Its size and the xor of
 * its ids are enough: where the size is 1, the xor is the one value. */
#include "autograd/recompute_cut.h"

#include <string.h>

typedef struct cutter {
    mw__arena *arena;
    const mw__block *body;
    const mw_tensor *loss;
    bool *needed, *moving; /* by value: the loss needs it; it is computed from what is fed or resident */
    size_t *last;          /* by value: position of the last operation that uses it */
    size_t at;             /* of the operation that is looked at */
    size_t *ending;        /* by position: how many values end with it, .. */
    uint32_t *ended;       /* .. and the xor of their ids */
} cutter;

/* ---- which values are handed on, and how far ---- */

static void need(void *user, const mw_tensor *value)
{
    cutter *c = user;
    if (!c->needed[value->id]) {
        c->needed[value->id] = true;
        c->last[value->id] = c->at;
    }
}

static bool is_needed(const cutter *c, const mw__op *op)
{
    bool needed = false;
    for (size_t r = 0; r < op->result_count; r++)
        needed = needed || c->needed[op->results[r]->id];
    return needed;
}

/* From the end, so that the first use that is met is the last. */
static void find_needed(cutter *c)
{
    c->at = c->body->op_count;
    need(c, c->loss);
    while (c->at-- > 0)
        if (is_needed(c, c->body->ops[c->at]))
            mw__visit_reads(c->body->ops[c->at], need, c);
}

static void move(void *user, const mw_tensor *value)
{
    const cutter *c = user;
    const mw__op *op = c->body->ops[c->at];
    if (!c->moving[value->id] && value->role == MW__VALUE)
        return;
    for (size_t r = 0; r < op->result_count; r++)
        c->moving[op->results[r]->id] = true;
}

static bool is_handed_on(const cutter *c, const mw_tensor *value)
{
    return c->needed[value->id] && c->moving[value->id] && value->op != NULL;
}

static void find_moving(cutter *c)
{
    for (c->at = 0; c->at < c->body->op_count; c->at++) {
        const mw__op *op = c->body->ops[c->at];
        mw__visit_reads(op, move, c);
        for (size_t r = 0; r < op->result_count; r++) {
            const mw_tensor *value = op->results[r];
            if (!is_handed_on(c, value))
                continue;
            c->ending[c->last[value->id]]++;
            c->ended[c->last[value->id]] ^= value->id;
        }
    }
}

/* ---- the cuts ---- */

typedef struct end {
    const mw_tensor *value;
    uint64_t bytes; /* of all that is handed on before it, itself included */
} end;

static uint64_t bytes_of(const mw_tensor *value)
{
    size_t bytes = 0;
    return mw__type_bytes(value->type, &bytes) ? bytes : 0;
}

static bool can_end(const mw_tensor *value)
{
    const mw_dtype dtype = mw_tensor_dtype(value);
    return (dtype == MW_F32 || dtype == MW_F16) && !value->stop_gradient && !mw__recompute_keeps(value->op);
}

/* Every value that is at some place all that is handed on; returns how many. */
static size_t find_ends(const cutter *c, end *ends)
{
    size_t count = 0, alive = 0;
    uint32_t ids = 0;
    uint64_t bytes = 0;
    for (size_t at = 0; at < c->body->op_count; at++) {
        const mw__op *op = c->body->ops[at];
        alive -= c->ending[at];
        ids ^= c->ended[at];
        for (size_t r = 0; r < op->result_count; r++) {
            if (!is_handed_on(c, op->results[r]))
                continue;
            alive++;
            ids ^= op->results[r]->id;
            bytes += bytes_of(op->results[r]);
        }
        const mw_tensor *only = alive == 1 ? c->loss->graph->values[ids] : NULL;
        if (only != NULL && only != c->loss && can_end(only) && (count == 0 || ends[count - 1].value != only))
            ends[count++] = (end){only, bytes};
    }
    return count;
}

/* Of all ends those that come nearest behind the borders between equal pieces. */
static size_t choose_ends(const end *ends, size_t count, size_t pieces, const mw_tensor **out)
{
    size_t chosen = 0, border = 1;
    const uint64_t total = count > 0 ? ends[count - 1].bytes : 0;
    for (size_t i = 0; i < count && border < pieces; i++) {
        if (ends[i].bytes * pieces < border * total)
            continue;
        out[chosen++] = ends[i].value;
        while (border < pieces && ends[i].bytes * pieces >= border * total)
            border++;
    }
    return chosen;
}

mw_status mw__recompute_cut(mw__arena *arena, const mw_tensor *loss, size_t pieces, const mw_tensor *const **out,
                            size_t *out_count, mw_error *err)
{
    const mw__block *body = mw__graph_main(loss->graph)->body;
    const size_t values = loss->graph->value_count, positions = body->op_count + 1;
    cutter c = {.arena = arena, .body = body, .loss = loss};
    c.needed = mw__arena_alloc(arena, values, sizeof *c.needed, err);
    c.moving = mw__arena_alloc(arena, values, sizeof *c.moving, err);
    c.last = mw__arena_alloc(arena, values, sizeof *c.last, err);
    c.ending = mw__arena_alloc(arena, positions, sizeof *c.ending, err);
    c.ended = mw__arena_alloc(arena, positions, sizeof *c.ended, err);
    end *ends = mw__arena_alloc(arena, positions, sizeof *ends, err);
    const mw_tensor **chosen = mw__arena_alloc(arena, positions, sizeof *chosen, err);
    if (c.needed == NULL || c.moving == NULL || c.last == NULL || c.ending == NULL || c.ended == NULL || ends == NULL ||
        chosen == NULL)
        return MW_ERROR_MEMORY;
    find_needed(&c);
    find_moving(&c);
    *out_count = choose_ends(ends, find_ends(&c, ends), pieces, chosen);
    *out = chosen;
    return MW_OK;
}
