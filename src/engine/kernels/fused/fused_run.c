/* Runs element-wise fusion groups: tile by tile, instruction by instruction or by straight-line code. */
#include "engine/kernels/fused/fused_code.h"
#include "engine/kernels/math/math_chip.h"

#include <string.h>

/* Fills a tile, or what is left of it, with one number; whole vectors, as there is room for one behind a tile. */
static void fill_tile(float *restrict tile, float value, int64_t count)
{
    for (int64_t i = 0; i < count; i += 16)
        for (int lane = 0; lane < 16; lane++)
            tile[i + lane] = value;
}

/* A scalar operand's tile, for all tiles of the fusion group. */
static void fill_scalar(const mw__fused_operand *o, const void *data, int64_t count, float *tile)
{
    float one;
    if (o->dtype == MW_BOOL)
        memset(tile, *(const uint8_t *)data, o->one ? 1 : (size_t)count);
    else
        fill_tile(tile, *mw__tile_read(data, o->dtype, o->fed, 0, 1, &one), o->one ? 1 : count);
}

/* `count` elements from `index` on, or that one element `count` times. */
static void put_run(const mw__fused_operand *o, const void *data, int64_t index, int64_t count, float *tile, int64_t to)
{
    if (o->dtype == MW_BOOL && o->inner == 1) {
        memcpy((uint8_t *)tile + to, (const uint8_t *)data + index, (size_t)count);
    } else if (o->dtype == MW_BOOL) {
        memset((uint8_t *)tile + to, ((const uint8_t *)data)[index], (size_t)count);
    } else if (o->inner == 1) {
        const float *from = mw__tile_read(data, o->dtype, o->fed, index, count, tile + to);
        if (from != tile + to)
            memcpy(tile + to, from, (size_t)count * sizeof *tile);
    } else {
        float one;
        fill_tile(tile + to, *mw__tile_read(data, o->dtype, o->fed, index, 1, &one), count);
    }
}

/* Elements [at, at + count) of an operand that repeats, run by run. */
static void spread_operand(const mw__fused_operand *o, const void *data, int64_t at, int64_t count, float *tile)
{
    const bool row = o->inner == 1;
    int64_t index = 0, left = row ? o->period : o->inner;
    if (at > 0) {
        index = at / o->inner % o->period;
        left = row ? o->period - index : o->inner - at % o->inner;
    }
    for (int64_t i = 0, run; i < count; i += run) {
        run = left < count - i ? left : count - i;
        put_run(o, data, index, run, tile, i);
        index = row || index + 1 == o->period ? 0 : index + 1;
        left = row ? o->period : o->inner;
    }
}

static const void *load_operand(const mw__fused_operand *o, const void *data, int64_t at, int64_t count, float *tile)
{
    if (o->there)
        return (const char *)data + (size_t)at * o->step;
    if (o->form == MW__WIDEN)
        return mw__tile_read(data, o->dtype, o->fed, at, count, tile);
    if (o->form == MW__SPREAD)
        spread_operand(o, data, at, count, tile);
    return tile;
}

static void compute(const mw__fused_code *i, const float pq[2], void *out, const void *const *value, int64_t count)
{
    const void *x = value[i->in[0]], *y = value[i->in[1]], *z = value[i->in[2]];
    switch (i->work) {
    case MW__UNARY:
        i->unary(out, x, count, pq[0], pq[1]);
        break;
    case MW__BINARY:
        i->binary(out, x, y, count);
        break;
    case MW__COMPARE:
        i->compare(out, x, 1, y, 1, count);
        break;
    case MW__SELECT:
        i->select(out, x, y, z, count);
        break;
    case MW__CHOOSE: /* out may lie over one of the two */
        memmove(out, *(const uint8_t *)x != 0 ? y : z, (size_t)count * sizeof(float));
    }
    if (i->round != NULL)
        i->round(out, out, count, 0, 0);
}

static void *output_at(const mw__kernel_call *call, const mw__fused_store *s, size_t index, int64_t at)
{
    return (char *)call->out[index] + (size_t)at * s->size;
}

static void *tile_at(const mw__kernel_call *call, uint32_t place) { return (char *)call->scratch + place; }

/* A bit for each watch whose value has an element beyond its limit. */
static unsigned look(const mw__fused *fused, const void *const *value, int64_t count)
{
    unsigned beyond = 0;
    for (size_t i = 0; i < fused->watch_count; i++)
        beyond |= fused->watches[i].loop(value[i], count, fused->watches[i].limit) ? 0u : 1u << i;
    return beyond;
}

/* Where an instruction's result goes. */
static void *place_of(const mw__kernel_call *call, const mw__fused_code *code, int64_t at)
{
    const mw__fused *fused = call->block;
    return code->write >= 0 ? output_at(call, &fused->stores[code->write], (size_t)code->write, at)
                            : tile_at(call, fused->place[code->out]);
}

static void run_straight(const mw__kernel_call *call, const mw__fused_segment *segment, bool within, const void **value,
                         int64_t at, int64_t count)
{
    const mw__fused *fused = call->block;
    const void *in[MW__STEP_READS];
    void *out[MW__STEP_WRITES];
    for (size_t i = 0; i < segment->in_count; i++)
        in[i] = value[segment->in[i]];
    for (size_t i = 0; i < segment->out_count; i++)
        out[i] = place_of(call, &fused->code[segment->out[i] - MW__STEP_READS], at);
    (within ? segment->within : segment->loop)(in, out, mw__fused_pq(fused) + segment->first, count);
    for (size_t i = 0; i < segment->out_count; i++)
        value[segment->out[i]] = out[i];
}

/* within: the tile is of one unit. Sets value[] of what is made. */
static void run_code(const mw__kernel_call *call, bool within, const void **value, int64_t at, int64_t count)
{
    const mw__fused *fused = call->block;
    for (size_t s = 0; s < fused->segment_count; s++) {
        const mw__fused_segment *segment = &fused->segments[s];
        if (segment->loop != NULL) {
            run_straight(call, segment, within, value, at, count);
            continue;
        }
        for (size_t i = segment->first; i < (size_t)segment->first + segment->count; i++) {
            const mw__fused_code *code = &fused->code[i];
            void *out = place_of(call, code, at);
            compute(code, fused->pq[i], out, value, count);
            value[code->out] = out;
        }
    }
}

static unsigned look_at_values(const mw__fused *fused, const void *const *value, int64_t count)
{
    const void *watched[MW__STEP_WRITES];
    for (size_t i = 0; i < fused->watch_count; i++)
        watched[i] = value[fused->watches[i].value];
    return look(fused, watched, count);
}

/* Of a tile of several units, which stay for the same of the next plane; false if there is none. */
static bool spread_own(const mw__kernel_call *call, int64_t at, int64_t count, mw__fused_totals *totals)
{
    const mw__fused *fused = call->block;
    const mw__fused_view *view = &fused->view;
    const int64_t unit = at / view->run % view->units;
    const bool whole = view->planes > 1 && at % view->run == 0 && count % view->run == 0;
    const bool filled = whole && unit == totals->filled && count == totals->spread;
    for (size_t i = 0; whole && !filled && i < fused->operand_count; i++)
        if (fused->operands[i].own)
            spread_operand(&fused->operands[i], call->in[i], at, count, tile_at(call, fused->place[i]));
    totals->filled = whole ? unit : -1, totals->spread = whole ? count : 0;
    return whole;
}

/* Of a tile within a unit, the numbers of that unit, which stay for its next tile; false if it goes beyond. */
static bool fill_own(const mw__kernel_call *call, int64_t at, int64_t count, mw__fused_totals *totals)
{
    const mw__fused *fused = call->block;
    const mw__fused_view *view = &fused->view;
    const int64_t unit = at / view->run % view->units;
    float one;
    if (at % view->run + count > view->run)
        return spread_own(call, at, count, totals);
    totals->filled = totals->spread == 0 ? totals->filled : -1;
    for (size_t i = 0; i < fused->operand_count && unit != totals->filled; i++) {
        const mw__fused_operand *o = &fused->operands[i];
        if (o->own && o->dtype == MW_BOOL)
            memset(tile_at(call, fused->place[i]), ((const uint8_t *)call->in[i])[unit], MW__TILE);
        else if (o->own)
            fill_tile(tile_at(call, fused->place[i]), *mw__tile_read(call->in[i], o->dtype, o->fed, unit, 1, &one),
                      MW__TILE);
    }
    totals->filled = unit, totals->spread = 0;
    return true;
}

unsigned mw__fused_tile(const mw__kernel_call *call, int64_t at, int64_t count, mw__fused_totals *totals)
{
    const mw__fused *fused = call->block;
    const void *value[MW__FUSED_VALUES];
    value[0] = NULL;
    const bool filled = totals != NULL && fill_own(call, at, count, totals);
    for (size_t i = 0; i < fused->operand_count; i++)
        value[i] = filled && fused->operands[i].own
                       ? tile_at(call, fused->place[i])
                       : load_operand(&fused->operands[i], call->in[i], at, count, tile_at(call, fused->place[i]));
    if (totals != NULL) /* before an output lies over them */
        mw__fused_add(call, value, true, at, count, totals);
    run_code(call, filled && totals->spread == 0, value, at, count);
    if (totals != NULL)
        mw__fused_add(call, value, false, at, count, totals);
    for (size_t i = 0; i < fused->store_count; i++) {
        const mw__fused_store *s = &fused->stores[i];
        if (s->direct)
            continue;
        if (s->dtype == MW_BOOL)
            memcpy(output_at(call, s, i, at), value[s->value], (size_t)count);
        else
            mw__tile_store(call->out[i], s->dtype, at, count, value[s->value]);
    }
    return fused->watch_count > 0 ? look_at_values(fused, value, count) : 0;
}

void mw__fused_fill_scalars(const mw__kernel_call *call, int64_t count)
{
    const mw__fused *fused = call->block;
    for (size_t i = 0; i < fused->operand_count; i++)
        if (fused->operands[i].form == MW__SCALAR && !fused->operands[i].there)
            fill_scalar(&fused->operands[i], call->in[i], count, tile_at(call, fused->place[i]));
}

/* What the watches have seen of elements [begin, end). */
static unsigned run_tiles(const mw__kernel_call *call, int64_t begin, int64_t end)
{
    unsigned beyond = 0;
    for (int64_t at = begin; at < end; at += MW__TILE)
        beyond |= mw__fused_tile(call, at, end - at < MW__TILE ? end - at : MW__TILE, NULL);
    return beyond;
}

#define PROVED 2048 /* elements at a time */

static unsigned look_or_prove(const mw__kernel_call *call, int64_t begin, int64_t end)
{
    unsigned beyond = 0;
    for (int64_t at = begin; at < end; at += PROVED) {
        const int64_t count = end - at < PROVED ? end - at : PROVED;
        if (!mw__fused_proves(call, at, count))
            beyond |= run_tiles(call, at, at + count);
    }
    return beyond;
}

void mw__fused_run(const mw__kernel_call *call)
{
    const mw__fused *fused = call->block;
    int64_t begin, end;
    mw__units_range(call, fused->elements, fused->count, &begin, &end);
    mw__fused_fill_scalars(call, end - begin < MW__TILE ? end - begin : MW__TILE);
    const unsigned beyond = fused->half_range != NULL ? look_or_prove(call, begin, end) : run_tiles(call, begin, end);
    for (size_t i = 0; i < fused->watch_count; i++)
        mw__finite_check_write(call->out[fused->watches[i].write], call->begin, call->end, (beyond >> i & 1u) != 0);
}

void mw__fused_run_whole(const mw__kernel_call *call)
{
    const mw__fused *fused = call->block;
    const mw__fused_segment *segment = fused->segments;
    const void *in[MW__STEP_READS];
    void *out[MW__STEP_WRITES];
    int64_t begin, end;
    mw__units_range(call, fused->elements, fused->count, &begin, &end);
    for (int64_t at = begin; at < end; at += MW__TILE) {
        for (size_t i = 0; i < segment->in_count; i++)
            in[i] = (const char *)call->in[segment->in[i]] + (size_t)at * fused->operands[segment->in[i]].step;
        for (size_t i = 0; i < segment->out_count; i++)
            out[i] = place_of(call, &fused->code[segment->out[i] - MW__STEP_READS], at);
        segment->loop(in, out, mw__fused_pq(fused), end - at < MW__TILE ? end - at : MW__TILE);
    }
}

static uint16_t chosen_by(const mw__kernel_call *call, const mw__fused_store *s)
{
    const mw__fused *fused = call->block;
    const mw__fused_code *code = &fused->code[s->value - MW__STEP_READS];
    return code->in[*(const uint8_t *)call->in[code->in[0]] != 0 ? 1 : 2];
}

/* One output lies over what is chosen for another: a swap, say. */
static bool crosses(const mw__kernel_call *call)
{
    const mw__fused *fused = call->block;
    bool found = false;
    for (size_t i = 0; i < fused->store_count; i++)
        for (size_t k = 0; k < fused->store_count; k++)
            found = found || (i != k && call->out[i] == call->in[chosen_by(call, &fused->stores[k])]);
    return found;
}

static void gate_one(const mw__kernel_call *call, size_t index, int64_t begin, int64_t end)
{
    const mw__fused *fused = call->block;
    const mw__fused_store *s = &fused->stores[index];
    const uint16_t chosen = chosen_by(call, s);
    if (call->in[chosen] == call->out[index] && fused->operands[chosen].dtype == s->dtype)
        return;
    for (int64_t at = begin; at < end; at += MW__TILE) {
        const int64_t count = end - at < MW__TILE ? end - at : MW__TILE;
        const void *value = load_operand(&fused->operands[chosen], call->in[chosen], at, count, call->scratch);
        mw__tile_store(call->out[index], s->dtype, at, count, value);
    }
}

/* Nothing but choices between two tensors by one truth, as when a step's new values wait for its flag: only what is
 * chosen is read, and nothing is done where it is in its place already. */
void mw__gate_run(const mw__kernel_call *call)
{
    const mw__fused *fused = call->block;
    int64_t begin, end;
    mw__units_range(call, fused->elements, fused->count, &begin, &end);
    if (crosses(call)) {
        mw__fused_run(call);
        return;
    }
    for (size_t i = 0; i < fused->store_count; i++)
        gate_one(call, i, begin, end);
}
