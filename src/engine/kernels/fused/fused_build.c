/* Builds element-wise regions from steps; which steps belong together is decided in fuse.c, running them is in
 * region_run.c. */
#include "engine/kernels/fused/fused_code.h"

#include "engine/kernels/round.h"

#include <stdio.h>
#include <string.h>

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

static mw__region_form form_of(const mw__arm *arm, int64_t count)
{
    if (is_tile(arm, count))
        return arm->dtype == MW_F16 ? MW__WIDEN : MW__DIRECT;
    return arm->period == 1 ? MW__SCALAR : MW__SPREAD;
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
    r->operands[r->operand_count] = (mw__region_operand){.form = form_of(arm, element->count),
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
    mw__region_code code = {.name = element->name,
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
        r->stores[r->store_count++] = (mw__region_store){.value = code.out, .dtype = element->dtype, .size = size};
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
            if (r->code[i].in[k] < r->operand_count && r->operands[r->code[i].in[k]].form == MW__DIRECT)
                last_load = i;
    for (size_t s = 0; s < r->store_count; s++) {
        const size_t i = r->stores[s].value - MW__STEP_READS;
        if (i >= last_load && r->stores[s].dtype != MW_F16) {
            r->stores[s].direct = true;
            r->code[i].write = (int16_t)s;
        }
    }
}

static mw__region_work work_of(const mw__region *r, const mw__region_code *code)
{
    if (code->select == NULL)
        return code->unary != NULL ? MW__UNARY : code->binary != NULL ? MW__BINARY : MW__COMPARE;
    return code->in[0] < r->operand_count && r->operands[code->in[0]].form == MW__SCALAR ? MW__CHOOSE : MW__SELECT;
}

/* Straight-line code and conditions look at the first element of a scalar's tile only. */
static void choose_work(mw__region *r)
{
    for (size_t i = 0; i < r->operand_count; i++)
        r->operands[i].one = r->operands[i].form == MW__SCALAR;
    for (size_t i = 0; i < r->code_count; i++) {
        r->code[i].work = work_of(r, &r->code[i]);
        for (int k = r->code[i].work == MW__CHOOSE ? 1 : 0; k < MW__ELEMENT_ARMS; k++)
            if (r->code[i].in[k] < r->operand_count)
                r->operands[r->code[i].in[k]].one = r->hot != NULL && r->operands[r->code[i].in[k]].form == MW__SCALAR;
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

/* Tiles of scratch: one for each operand that is not read in its memory, one for each value while it lives.
 */
static size_t place_values(mw__region *r)
{
    size_t tiles = 0, until[MW__REGION_VALUES] = {0}; /* by tile: the instruction after which it is free */
    for (size_t i = 0; i < r->operand_count; i++)
        if (r->operands[i].form != MW__DIRECT) {
            until[tiles] = SIZE_MAX;
            r->place[i] = (uint32_t)(tiles++ * MW__TILE_BYTES);
        }
    for (size_t i = 0; i < r->code_count; i++) {
        size_t tile = 0;
        if (r->code[i].write >= 0 && !is_watched(r, r->code[i].out))
            continue;
        while (tile < tiles && until[tile] >= i)
            tile++;
        tiles = tile == tiles ? tiles + 1 : tiles;
        until[tile] = last_use(r, r->code[i].out);
        r->place[r->code[i].out] = (uint32_t)(tile * MW__TILE_BYTES);
    }
    return tiles;
}

static int value_number(const mw__region *r, uint16_t value)
{
    return value < MW__STEP_READS ? value : (int)(value - MW__STEP_READS + r->operand_count);
}

static char letter(const mw__region_operand *o)
{
    if (o->dtype == MW_BOOL)
        return o->form == MW__SCALAR ? 'b' : 'B';
    return o->form == MW__SCALAR ? 'S' : 'T';
}

/* Values that are fp16 numbers if the operands are. */
static bool is_exact(const mw__region_code *code)
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
        const mw__region_code *code = &region->code[i];
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
        if (mw__region_store_of(region, region->watches[i].value) < 0)
            used += (size_t)snprintf(out + used, size - used, written++ == 0 ? " store %d" : ",%d",
                                     value_number(region, region->watches[i].value));
    if (used >= size)
        out[0] = '\0';
}

static void add_watch(builder *b, const mw__step *watch)
{
    mw__region *r = b->region;
    mw__region_look *w = &r->watches[r->watch_count++];
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
        const mw__region_code *code = &r->code[i];
        if (code->work != MW__CHOOSE || code->round || mw__region_store_of(r, code->out) < 0)
            return false;
        for (int k = 1; k < MW__ELEMENT_ARMS; k++)
            if (code->in[k] >= r->operand_count || r->operands[code->in[k]].form == MW__SCALAR ||
                r->operands[code->in[k]].form == MW__SPREAD)
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
    *step = (mw__step){.op = steps[count - 1]->op, .label = "region", .run = mw__region_run, .block = region};
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
    step->run = is_gate(region) ? mw__gate_run : mw__region_run;
    step->label = is_gate(region) ? "gate" : step->label;
    step->scratch = place_values(region) * MW__TILE_BYTES;
    step->cost = mw__cost(b.bytes, b.flops * (double)region->count) + 10.0 * (double)count;
    return step;
}
