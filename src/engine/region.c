/* Runs element-wise regions and builds them from steps; which steps belong together is decided in fuse.c. */
#include "engine/region.h"

#include "engine/round.h"
#include "engine/within.h"

#include <stdio.h>
#include <string.h>

typedef enum form {
    SPREAD, /* a tile is filled run by run */
    SCALAR, /* filled once for all tiles */
    WIDEN,  /* fp16 of the result's count */
    DIRECT  /* the memory itself is the tile */
} form;

typedef struct operand {
    form form;
    bool one; /* of a scalar, no instruction needs more than the first element of its tile */
    mw_dtype dtype;
    size_t size; /* of an element */
    int64_t inner, period;
} operand;

typedef enum work {
    UNARY,
    BINARY,
    COMPARE,
    SELECT,
    CHOOSE /* a select whose condition is one truth */
} work;

typedef struct instruction {
    const char *name;
    work work;
    mw__loop1 *unary;
    mw__loop2 *binary;
    mw__compare_loop *compare;
    mw__select_loop *select;
    bool round; /* to fp16 */
    uint16_t out, in[MW__ELEMENT_ARMS];
    int16_t write; /* computed in the memory of this output; -1 = in a register */
} instruction;

typedef struct store {
    uint16_t value;
    mw_dtype dtype;
    size_t size; /* of an element */
    bool direct;
} store;

typedef struct looked_at {
    uint16_t value;
    uint16_t write; /* where what is seen goes */
    float limit;
    mw__within_loop *loop;
} looked_at;

struct mw__region {
    int64_t elements, count;
    size_t operand_count, code_count, store_count, watch_count, value_count;
    operand operands[MW__STEP_READS];
    instruction code[MW__REGION_CODE];
    store stores[MW__STEP_WRITES];
    looked_at watches[MW__STEP_WRITES];
    float pq[MW__REGION_CODE][2];
    uint32_t place[MW__STEP_READS + MW__REGION_CODE]; /* by value: where its tile begins in scratch */
    mw__hot_loop *hot;                                /* NULL: instruction by instruction */
    mw__loop1 *round;                                 /* to fp16 */
};

#define VALUES (MW__STEP_READS + MW__REGION_CODE)
/* Not a power of two: tiles at one distance modulo 4096 make loads wait for stores to other tiles. */
#define TILE_BYTES (MW__TILE * sizeof(float) + 320)

/* ---- running ---- */

static void splat(float *tile, float value, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        tile[i] = value;
}

/* Fills a tile with one number; whole vectors, as a tile has room for them. */
static void fill(float *restrict tile, float value, int64_t count)
{
    for (int64_t i = 0; i < count; i += 16)
        for (int lane = 0; lane < 16; lane++)
            tile[i + lane] = value;
}

/* A scalar operand's tile, for all tiles of the region. */
static void fill_scalar(const operand *o, const void *data, int64_t count, float *tile)
{
    float one;
    if (o->dtype == MW_BOOL)
        memset(tile, *(const uint8_t *)data, o->one ? 1 : (size_t)count);
    else
        fill(tile, *mw__tile_load(data, o->dtype, 0, 1, &one), o->one ? 1 : count);
}

/* `count` elements from `index` on, or that one element `count` times. */
static void put_run(const operand *o, const void *data, int64_t index, int64_t count, float *tile, int64_t to)
{
    if (o->dtype == MW_BOOL && o->inner == 1) {
        memcpy((uint8_t *)tile + to, (const uint8_t *)data + index, (size_t)count);
    } else if (o->dtype == MW_BOOL) {
        memset((uint8_t *)tile + to, ((const uint8_t *)data)[index], (size_t)count);
    } else if (o->inner == 1) {
        const float *from = mw__tile_load(data, o->dtype, index, count, tile + to);
        if (from != tile + to)
            memcpy(tile + to, from, (size_t)count * sizeof *tile);
    } else {
        float one;
        splat(tile + to, *mw__tile_load(data, o->dtype, index, 1, &one), count);
    }
}

/* Elements [at, at + count) of an operand that repeats, run by run. */
static void spread(const operand *o, const void *data, int64_t at, int64_t count, float *tile)
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

static const void *load(const operand *o, const void *data, int64_t at, int64_t count, float *tile)
{
    if (o->form == DIRECT)
        return (const char *)data + (size_t)at * o->size;
    if (o->form == WIDEN)
        return mw__tile_load(data, o->dtype, at, count, tile);
    if (o->form == SPREAD)
        spread(o, data, at, count, tile);
    return tile;
}

static void compute(const instruction *i, const float pq[2], mw__loop1 *round, void *out, const void *const *value,
                    int64_t count)
{
    const void *x = value[i->in[0]], *y = value[i->in[1]], *z = value[i->in[2]];
    switch (i->work) {
    case UNARY:
        i->unary(out, x, count, pq[0], pq[1]);
        break;
    case BINARY:
        i->binary(out, x, y, count);
        break;
    case COMPARE:
        i->compare(out, x, 1, y, 1, count);
        break;
    case SELECT:
        i->select(out, x, y, z, count);
        break;
    case CHOOSE: /* out may lie over one of the two */
        memmove(out, *(const uint8_t *)x != 0 ? y : z, (size_t)count * sizeof(float));
    }
    if (i->round)
        round(out, out, count, 0, 0);
}

static void *output_at(const mw__kernel_call *call, const store *s, size_t index, int64_t at)
{
    return (char *)call->out[index] + (size_t)at * s->size;
}

static void *tile_at(const mw__kernel_call *call, uint32_t place) { return (char *)call->scratch + place; }

/* A bit for each watch whose value has an element beyond its limit. */
static unsigned look(const mw__region *region, const void *const *value, int64_t count)
{
    unsigned beyond = 0;
    for (size_t i = 0; i < region->watch_count; i++)
        beyond |= region->watches[i].loop(value[i], count, region->watches[i].limit) ? 0u : 1u << i;
    return beyond;
}

/* -1 if the value is not stored. */
static int store_of(const mw__region *region, uint16_t value)
{
    for (size_t i = 0; i < region->store_count; i++)
        if (region->stores[i].value == value)
            return (int)i;
    return -1;
}

/* What is stored as fp16 waits in a tile, as does what is only looked at. */
static unsigned run_hot(const mw__kernel_call *call, const void *const *value, int64_t at, int64_t count)
{
    const mw__region *region = call->block;
    void *out[MW__STEP_WRITES];
    const void *watched[MW__STEP_WRITES];
    for (size_t i = 0; i < region->store_count; i++)
        out[i] = region->stores[i].dtype == MW_F16 ? tile_at(call, region->place[region->stores[i].value])
                                                   : output_at(call, &region->stores[i], i, at);
    for (size_t i = 0, next = region->store_count; i < region->watch_count; i++) {
        const int stored = store_of(region, region->watches[i].value);
        if (stored < 0)
            out[next++] = tile_at(call, region->place[region->watches[i].value]);
        watched[i] = stored < 0 ? out[next - 1] : out[stored];
    }
    region->hot(value, out, region->pq, count);
    for (size_t i = 0; i < region->store_count; i++)
        if (region->stores[i].dtype == MW_F16)
            mw__tile_store(call->out[i], MW_F16, at, count, out[i]);
    return look(region, watched, count);
}

static unsigned look_at_values(const mw__region *region, const void *const *value, int64_t count)
{
    const void *watched[MW__STEP_WRITES];
    for (size_t i = 0; i < region->watch_count; i++)
        watched[i] = value[region->watches[i].value];
    return look(region, watched, count);
}

/* What its watches have seen. */
static unsigned run_tile(const mw__kernel_call *call, int64_t at, int64_t count)
{
    const mw__region *region = call->block;
    const void *value[VALUES];
    for (size_t i = 0; i < region->operand_count; i++)
        value[i] = load(&region->operands[i], call->in[i], at, count, tile_at(call, region->place[i]));
    if (region->hot != NULL)
        return run_hot(call, value, at, count);
    for (size_t i = 0; i < region->code_count; i++) {
        const instruction *code = &region->code[i];
        void *out = code->write >= 0 ? output_at(call, &region->stores[code->write], (size_t)code->write, at)
                                     : tile_at(call, region->place[code->out]);
        compute(code, region->pq[i], region->round, out, value, count);
        value[code->out] = out;
    }
    for (size_t i = 0; i < region->store_count; i++) {
        const store *s = &region->stores[i];
        if (!s->direct && s->dtype == MW_BOOL)
            memcpy(output_at(call, s, i, at), value[s->value], (size_t)count);
        else if (!s->direct)
            mw__tile_store(call->out[i], s->dtype, at, count, value[s->value]);
    }
    return region->watch_count > 0 ? look_at_values(region, value, count) : 0;
}

static void region_run(const mw__kernel_call *call)
{
    const mw__region *region = call->block;
    int64_t begin, end;
    mw__split_range(call, region->elements, region->count, &begin, &end);
    const int64_t filled = end - begin < MW__TILE ? end - begin : MW__TILE;
    for (size_t i = 0; i < region->operand_count; i++)
        if (region->operands[i].form == SCALAR)
            fill_scalar(&region->operands[i], call->in[i], filled, tile_at(call, region->place[i]));
    unsigned beyond = 0;
    for (int64_t at = begin; at < end; at += MW__TILE)
        beyond |= run_tile(call, at, end - at < MW__TILE ? end - at : MW__TILE);
    for (size_t i = 0; i < region->watch_count; i++)
        mw__watch_write(call->out[region->watches[i].write], call->begin, call->end, (beyond >> i & 1u) != 0);
}

static uint16_t chosen_by(const mw__kernel_call *call, const store *s)
{
    const mw__region *region = call->block;
    const instruction *code = &region->code[s->value - MW__STEP_READS];
    return code->in[*(const uint8_t *)call->in[code->in[0]] != 0 ? 1 : 2];
}

/* One output lies over what is chosen for another: a swap, say. */
static bool crosses(const mw__kernel_call *call)
{
    const mw__region *region = call->block;
    bool found = false;
    for (size_t i = 0; i < region->store_count; i++)
        for (size_t k = 0; k < region->store_count; k++)
            found = found || (i != k && call->out[i] == call->in[chosen_by(call, &region->stores[k])]);
    return found;
}

static void gate_one(const mw__kernel_call *call, size_t index, int64_t begin, int64_t end)
{
    const mw__region *region = call->block;
    const store *s = &region->stores[index];
    const uint16_t chosen = chosen_by(call, s);
    if (call->in[chosen] == call->out[index] && region->operands[chosen].dtype == s->dtype)
        return;
    for (int64_t at = begin; at < end; at += MW__TILE) {
        const int64_t count = end - at < MW__TILE ? end - at : MW__TILE;
        const void *value = load(&region->operands[chosen], call->in[chosen], at, count, call->scratch);
        mw__tile_store(call->out[index], s->dtype, at, count, value);
    }
}

/* Nothing but choices between two tensors by one truth, as when a step's new values wait for its flag: only what is
 * chosen is read, and nothing is done where it is in its place already. */
static void gate_run(const mw__kernel_call *call)
{
    const mw__region *region = call->block;
    int64_t begin, end;
    mw__split_range(call, region->elements, region->count, &begin, &end);
    if (crosses(call)) {
        region_run(call);
        return;
    }
    for (size_t i = 0; i < region->store_count; i++)
        gate_one(call, i, begin, end);
}

/* ---- what a step computes ---- */

/* The operand as (inner, period); false for another form of broadcast. */
static bool arm_form(mw_shape shape, mw_shape arm, int64_t *out_inner, int64_t *out_period)
{
    const mw__walk walk = mw__walk_broadcast(shape, &arm, 1);
    int last = walk.rank - 1;
    *out_inner = 1;
    if (walk.stride[0][last] == 0)
        *out_inner = walk.extent[last--];
    *out_period = last >= 0 ? walk.extent[last] : 1;
    return last <= 0 || (last == 1 && walk.stride[0][0] == 0);
}

void mw__step_element(mw__planner *planner, mw__step *step, const mw__element *element, const mw_tensor *result,
                      const mw_tensor *const *operands, int count)
{
    mw__element *copy = mw__plan_block(planner, sizeof *copy);
    if (copy == NULL)
        return;
    *copy = *element;
    copy->name = copy->name != NULL ? copy->name : step->label;
    const mw_shape shape = mw__shape_of(result);
    copy->dtype = mw__dtype_of(result);
    copy->round = mw__plan_rounds(planner, result);
    copy->count = mw_shape_count(shape);
    copy->split = mw__split_shape(planner, shape);
    copy->arm_count = count;
    for (int i = 0; i < count; i++) {
        mw__arm *arm = &copy->arm[i];
        arm->buffer = mw__plan_buffer(planner, operands[i]);
        arm->dtype = mw__dtype_of(operands[i]);
        if ((arm->dtype != MW_F32 && arm->dtype != MW_F16 && arm->dtype != MW_BOOL) ||
            !arm_form(shape, mw__shape_of(operands[i]), &arm->inner, &arm->period))
            return;
    }
    if (copy->dtype == MW_F32 || copy->dtype == MW_F16 || copy->dtype == MW_BOOL)
        step->element = copy;
}

/* ---- building ---- */

typedef struct builder {
    mw__region *region;
    mw__step *step;
    const bool *stored;
    uint32_t made[MW__REGION_CODE]; /* by instruction: the buffer that it computes */
    double flops, bytes;
} builder;

static bool is_tile(const mw__arm *arm, int64_t count) { return arm->inner == 1 && arm->period == count; }

static form form_of(const mw__arm *arm, int64_t count)
{
    if (is_tile(arm, count))
        return arm->dtype == MW_F16 ? WIDEN : DIRECT;
    return arm->period == 1 ? SCALAR : SPREAD;
}

/* How the region's units touch an operand. */
static mw__step_operand access_of(const mw__arm *arm, const mw__element *element)
{
    const size_t size = mw__dtype_size(arm->dtype);
    mw__step_operand read = {.buffer = arm->buffer, .access = MW__WHOLE};
    if (is_tile(arm, element->count)) {
        read.access = MW__ROWS;
        read.unit = (size_t)element->split.elements * size;
        read.in_place = true;
    } else if (arm->inner == element->split.elements && arm->period == element->split.units) {
        read.access = MW__ROWS;
        read.unit = size;
    }
    return read;
}

/* The value of an arm: an instruction's result, or an operand, which is added when first met. */
static uint16_t value_of(builder *b, const mw__arm *arm, const mw__element *element)
{
    mw__region *r = b->region;
    for (size_t i = 0; i < r->code_count; i++)
        if (b->made[i] == arm->buffer)
            return (uint16_t)(MW__STEP_READS + i);
    for (size_t i = 0; i < r->operand_count; i++)
        if (b->step->reads[i].buffer == arm->buffer && r->operands[i].inner == arm->inner &&
            r->operands[i].period == arm->period)
            return (uint16_t)i;
    r->operands[r->operand_count] = (operand){.form = form_of(arm, element->count),
                                              .dtype = arm->dtype,
                                              .size = mw__dtype_size(arm->dtype),
                                              .inner = arm->inner,
                                              .period = arm->period};
    b->step->reads[b->step->read_count++] = access_of(arm, element);
    b->bytes += (double)arm->period * (double)mw__dtype_size(arm->dtype);
    return (uint16_t)r->operand_count++;
}

static void add_instruction(builder *b, const mw__element *element, uint32_t buffer)
{
    mw__region *r = b->region;
    r->pq[r->code_count][0] = element->p, r->pq[r->code_count][1] = element->q;
    instruction code = {.name = element->name,
                        .unary = element->unary,
                        .binary = element->binary,
                        .compare = element->compare,
                        .select = element->select,
                        .round = element->round,
                        .write = -1};
    for (int i = 0; i < MW__ELEMENT_ARMS; i++) /* arms that there are not repeat the first */
        code.in[i] = i < element->arm_count ? value_of(b, &element->arm[i], element) : code.in[0];
    code.out = (uint16_t)(MW__STEP_READS + r->code_count);
    b->made[r->code_count] = buffer;
    b->flops += element->flops;
    if (b->stored[buffer]) {
        const size_t size = mw__dtype_size(element->dtype);
        r->stores[r->store_count++] = (store){.value = code.out, .dtype = element->dtype, .size = size};
        b->step->writes[b->step->write_count++] =
            (mw__step_operand){.buffer = buffer, .access = MW__ROWS, .unit = (size_t)element->split.elements * size};
        b->bytes += (double)element->count * (double)size;
    }
    r->code[r->code_count++] = code;
}

/* An output may lie over an operand that is read by tiles, so it is written when no more of those are read. */
static void choose_direct_stores(mw__region *r)
{
    size_t last_load = 0;
    for (size_t i = 0; i < r->code_count; i++)
        for (int k = 0; k < MW__ELEMENT_ARMS; k++)
            if (r->code[i].in[k] < r->operand_count && r->operands[r->code[i].in[k]].form == DIRECT)
                last_load = i;
    for (size_t s = 0; s < r->store_count; s++) {
        const size_t i = r->stores[s].value - MW__STEP_READS;
        if (i >= last_load && r->stores[s].dtype != MW_F16) {
            r->stores[s].direct = true;
            r->code[i].write = (int16_t)s;
        }
    }
}

static work work_of(const mw__region *r, const instruction *code)
{
    if (code->select == NULL)
        return code->unary != NULL ? UNARY : code->binary != NULL ? BINARY : COMPARE;
    return code->in[0] < r->operand_count && r->operands[code->in[0]].form == SCALAR ? CHOOSE : SELECT;
}

/* Straight-line code and conditions look at the first element of a scalar's tile only. */
static void choose_work(mw__region *r)
{
    for (size_t i = 0; i < r->operand_count; i++)
        r->operands[i].one = r->operands[i].form == SCALAR;
    for (size_t i = 0; i < r->code_count; i++) {
        r->code[i].work = work_of(r, &r->code[i]);
        for (int k = r->code[i].work == CHOOSE ? 1 : 0; k < MW__ELEMENT_ARMS; k++)
            if (r->code[i].in[k] < r->operand_count)
                r->operands[r->code[i].in[k]].one = r->hot != NULL && r->operands[r->code[i].in[k]].form == SCALAR;
    }
}

static bool is_watched(const mw__region *r, uint16_t value)
{
    bool watched = false;
    for (size_t w = 0; w < r->watch_count; w++)
        watched = watched || r->watches[w].value == value;
    return watched;
}

static size_t last_use(const mw__region *r, uint16_t value)
{
    size_t last = 0;
    for (size_t i = 0; i < r->code_count; i++)
        for (int k = 0; k < MW__ELEMENT_ARMS; k++)
            if (r->code[i].in[k] == value)
                last = i;
    for (size_t s = 0; s < r->store_count; s++)
        if (r->stores[s].value == value && !r->stores[s].direct)
            last = r->code_count;
    return is_watched(r, value) ? r->code_count : last;
}

/* Tiles of scratch: one for each operand that is not read in its memory, one for each value while it lives. */
static size_t place_values(mw__region *r)
{
    size_t tiles = 0, until[VALUES] = {0}; /* by tile: the instruction after which it is free */
    for (size_t i = 0; i < r->operand_count; i++)
        if (r->operands[i].form != DIRECT) {
            until[tiles] = SIZE_MAX;
            r->place[i] = (uint32_t)(tiles++ * TILE_BYTES);
        }
    for (size_t i = 0; i < r->code_count; i++) {
        size_t tile = 0;
        if (r->code[i].write >= 0 && !is_watched(r, r->code[i].out))
            continue;
        while (tile < tiles && until[tile] >= i)
            tile++;
        tiles = tile == tiles ? tiles + 1 : tiles;
        until[tile] = last_use(r, r->code[i].out);
        r->place[r->code[i].out] = (uint32_t)(tile * TILE_BYTES);
    }
    return tiles;
}

static int value_number(const mw__region *r, uint16_t value)
{
    return value < MW__STEP_READS ? value : (int)(value - MW__STEP_READS + r->operand_count);
}

static char letter(const operand *o)
{
    if (o->dtype == MW_BOOL)
        return o->form == SCALAR ? 'b' : 'B';
    return o->form == SCALAR ? 'S' : 'T';
}

/* Values that are fp16 numbers if the operands are. */
static bool is_exact(const instruction *code)
{
    static const char *const names[] = {"maximum", "minimum", "abs", "sign", "relu", "floor", "ceil", "round"};
    bool exact = code->select != NULL || code->compare != NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        exact = exact || strcmp(code->name, names[i]) == 0;
    return exact;
}

/* False if some values are rounded to fp16 and others need it but are not. */
static bool rounds_alike(const mw__region *r, bool *out_half)
{
    bool exact = false;
    *out_half = false;
    for (size_t i = 0; i < r->code_count; i++) {
        *out_half = *out_half || r->code[i].round;
        exact = exact || (!r->code[i].round && !is_exact(&r->code[i]));
    }
    return !(exact && *out_half);
}

void mw__region_signature(const mw__region *region, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    if (size < MW__STEP_READS + 1)
        return;
    for (size_t i = 0; i < region->operand_count; i++)
        out[used++] = letter(&region->operands[i]);
    for (size_t i = 0; i < region->code_count && used < size; i++) {
        const instruction *code = &region->code[i];
        const int arms = code->unary != NULL ? 1 : code->select != NULL ? 3 : 2;
        used += (size_t)snprintf(out + used, size - used, " %s(", code->name);
        for (int k = 0; k < arms && used < size; k++)
            used += (size_t)snprintf(out + used, size - used, "%d%c", value_number(region, code->in[k]),
                                     k + 1 < arms ? ',' : ')');
    }
    for (size_t i = 0; i < region->store_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, i == 0 ? " store %d" : ",%d",
                                 value_number(region, region->stores[i].value));
    for (size_t i = 0, written = region->store_count; i < region->watch_count && used < size; i++)
        if (store_of(region, region->watches[i].value) < 0)
            used += (size_t)snprintf(out + used, size - used, written++ == 0 ? " store %d" : ",%d",
                                     value_number(region, region->watches[i].value));
    if (used >= size)
        out[0] = '\0';
}

static void add_watch(builder *b, const mw__step *watch)
{
    mw__region *r = b->region;
    looked_at *w = &r->watches[r->watch_count++];
    w->limit = watch->watch->limit, w->loop = watch->watch->loop;
    for (size_t i = 0; i < r->code_count; i++)
        if (b->made[i] == watch->reads[0].buffer)
            w->value = r->code[i].out;
    w->write = (uint16_t)b->step->write_count;
    b->step->writes[b->step->write_count++] = watch->writes[0];
}

/* Straight-line code where there is some; the reference never has any. */
static void choose_hot(mw__region *region, mw__step *step)
{
    char signature[MW__SIGNATURE_MAX];
    const mw__level level = mw__loop_level();
    mw__region_signature(region, signature, sizeof signature);
    const mw__hot_region *hot = signature[0] != '\0' ? mw__hot_find(signature) : NULL;
    bool half;
    if (hot == NULL || level == MW__LEVEL_REF || !rounds_alike(region, &half))
        return;
    region->hot = hot->at[half][level - MW__LEVEL_BASE];
    step->label = hot->name;
}

static const mw__op **list_ops(mw__arena *arena, const mw__region_parts *parts, mw_error *err)
{
    const mw__op **ops = mw__arena_alloc(arena, parts->count, sizeof *ops, err);
    for (size_t i = 0; ops != NULL && i < parts->count; i++)
        ops[i] = parts->steps[i]->op;
    return ops;
}

/* Each instruction is a choice between operands, and is stored. */
static bool is_gate(const mw__region *r)
{
    for (size_t i = 0; i < r->code_count; i++) {
        const instruction *code = &r->code[i];
        if (code->work != CHOOSE || code->round || store_of(r, code->out) < 0)
            return false;
        for (int k = 1; k < MW__ELEMENT_ARMS; k++)
            if (code->in[k] >= r->operand_count || r->operands[code->in[k]].form == SCALAR ||
                r->operands[code->in[k]].form == SPREAD)
                return false;
    }
    return r->watch_count == 0 && r->hot == NULL && r->store_count == r->code_count;
}

mw__step *mw__region_step(mw__arena *arena, const mw__region_parts *parts, mw_error *err)
{
    mw__step *const *steps = parts->steps;
    const size_t count = parts->count;
    mw__region *region = mw__arena_alloc(arena, 1, sizeof *region, err);
    mw__step *step = mw__arena_alloc(arena, 1, sizeof *step, err);
    const mw__op **ops = list_ops(arena, parts, err);
    if (region == NULL || step == NULL || ops == NULL)
        return NULL;
    const mw__element *first = steps[0]->element;
    region->elements = first->split.elements;
    region->count = first->count;
    region->round = mw__round_loop(mw__loop_level());
    *step = (mw__step){.op = steps[count - 1]->op, .label = "region", .run = region_run, .block = region};
    step->units = first->split.units;
    step->grain = 1;
    step->ops = ops;
    step->op_count = count;
    builder b = {.region = region, .step = step, .stored = parts->stored};
    for (size_t i = 0; i < count; i++)
        add_instruction(&b, steps[i]->element, steps[i]->writes[0].buffer);
    for (size_t i = 0; i < parts->watch_count; i++)
        add_watch(&b, parts->watches[i]);
    choose_hot(region, step);
    choose_work(region);
    choose_direct_stores(region);
    step->run = is_gate(region) ? gate_run : region_run;
    step->label = is_gate(region) ? "gate" : step->label;
    step->scratch = place_values(region) * TILE_BYTES;
    step->cost = mw__cost(b.bytes, b.flops * (double)region->count) + 10.0 * (double)count;
    return step;
}
