/* Builds element-wise fusion groups from steps; which steps belong together is decided in fuse.c, running them is in
 * fused_run.c. */
#include "engine/kernels/fused/fused_code.h"

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/math/math_chip.h"
#include "engine/kernels/math/round.h"

#include <string.h>

/* ---- what a step computes ---- */

/* The operand as (inner, period); false for another form of broadcast. */
static bool operand_form(mw_shape shape, mw_shape operand, int64_t *out_inner, int64_t *out_period)
{
    *out_inner = 1, *out_period = mw_shape_count(shape);
    if (mw_shape_equal(shape, operand)) /* most are */
        return true;
    const mw__nd_iter iter = mw__nd_iter_broadcast(shape, &operand, 1);
    int last = iter.rank - 1;
    *out_inner = 1;
    if (iter.stride[0][last] == 0)
        *out_inner = iter.extent[last--];
    *out_period = last >= 0 ? iter.extent[last] : 1;
    return last <= 0 || (last == 1 && iter.stride[0][0] == 0);
}

void mw__step_element(mw__planner *planner, mw__step *step, const mw__element *element, const mw_tensor *result,
                      const mw_tensor *const *operands, int count)
{
    mw__element *copy = mw__plan_block(planner, sizeof *copy);
    if (copy == NULL)
        return;
    *copy = *element;
    copy->name = copy->name != NULL ? copy->name : step->report.label;
    const mw_shape shape = mw__shape_of(result);
    copy->dtype = mw__dtype_of(result);
    copy->round = mw__plan_rounds(planner, result);
    copy->count = mw_shape_count(shape);
    copy->split = mw__units_of(planner, shape);
    copy->operand_count = count;
    for (int i = 0; i < count; i++) {
        mw__element_operand *operand = &copy->operand[i];
        operand->buffer = mw__plan_buffer(planner, operands[i]);
        operand->dtype = mw__dtype_of(operands[i]);
        operand->fed = mw__plan_fed(planner, operand->dtype);
        if ((operand->dtype != MW_F32 && operand->dtype != MW_F16 && operand->dtype != MW_BOOL) ||
            !operand_form(shape, mw__shape_of(operands[i]), &operand->inner, &operand->period))
            return;
    }
    if (copy->dtype == MW_F32 || copy->dtype == MW_F16 || copy->dtype == MW_BOOL)
        step->fusion.kind = MW__STEP_ELEMENT, step->fusion.as.element = copy, step->span = 1;
}

/* ---- building ---- */

typedef struct builder {
    mw__fused *fused;
    mw__step *step;
    const mw__fused_parts *parts;
    const bool *stored;
    mw__level level;
    uint32_t made[MW__FUSED_CODE]; /* by instruction: the buffer that it computes */
    double additions, bytes;
} builder;

static bool is_tile(const mw__element_operand *operand, int64_t count)
{
    return operand->inner == 1 && operand->period == count;
}

static mw__fused_form form_of(const mw__element_operand *operand, int64_t count)
{
    if (is_tile(operand, count))
        return operand->dtype == MW_F16 ? MW__WIDEN : MW__DIRECT;
    return operand->period == 1 ? MW__SCALAR : MW__SPREAD;
}

/* How the units of a view touch a tensor of the group's count. */
static mw__step_operand view_access(uint32_t buffer, const mw__fused_view *view, size_t size)
{
    return (mw__step_operand){.buffer = buffer,
                              .access = view->planes > 1 ? MW__WHOLE : MW__ROWS,
                              .unit = (size_t)view->run * size,
                              .in_place = true,
                              .planes = view->planes > 1 ? view->planes : 0};
}

/* A number for each unit, as many elements long as a unit's run. */
static bool is_own(const mw__element_operand *operand, const mw__fused_view *view)
{
    return view->run > 1 && operand->inner == view->run && operand->period == view->units;
}

static mw__step_operand access_in_view(const mw__element_operand *operand, const mw__fused_view *view, int64_t count)
{
    const size_t size = mw__dtype_size(operand->dtype);
    if (is_tile(operand, count))
        return view_access(operand->buffer, view, size);
    const bool own = operand->inner == view->run && operand->period == view->units;
    return (mw__step_operand){.buffer = operand->buffer, .access = own ? MW__ROWS : MW__WHOLE, .unit = own ? size : 0};
}

/* How the fusion group's units touch an operand. */
static mw__step_operand access_of(const mw__element_operand *operand, const mw__element *element)
{
    const size_t size = mw__dtype_size(operand->dtype);
    mw__step_operand read = {.buffer = operand->buffer, .access = MW__WHOLE};
    if (is_tile(operand, element->count)) {
        read.access = MW__ROWS;
        read.unit = (size_t)element->split.elements * size;
        read.in_place = true;
    } else if (operand->inner == element->split.elements && operand->period == element->split.units) {
        read.access = MW__ROWS;
        read.unit = size;
    }
    return read;
}

static bool has_operand(const mw__step_operand *operands, size_t count, uint32_t buffer)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || operands[i].buffer == buffer;
    return found;
}

/* Read in its memory, which the chain's steps before have not been at. */
static bool is_cold(const builder *b, const mw__element_operand *operand)
{
    bool cold = form_of(operand, b->fused->count) == MW__DIRECT;
    for (size_t s = 0; s < b->parts->before_count; s++)
        cold = cold && !has_operand(b->parts->before[s]->reads, b->parts->before[s]->read_count, operand->buffer) &&
               !has_operand(b->parts->before[s]->writes, b->parts->before[s]->write_count, operand->buffer);
    return cold;
}

/* The value of an operand: an instruction's result, or an operand, which is added when first met. */
static uint16_t value_of(builder *b, const mw__element_operand *operand, const mw__element *element)
{
    mw__fused *r = b->fused; /* element: NULL with a view */
    for (size_t i = 0; i < r->code_count; i++)
        if (b->made[i] == operand->buffer)
            return (uint16_t)(MW__STEP_READS + i);
    for (size_t i = 0; i < r->operand_count; i++)
        if (b->step->reads[i].buffer == operand->buffer && r->operands[i].inner == operand->inner &&
            r->operands[i].period == operand->period)
            return (uint16_t)i;
    r->operands[r->operand_count] = (mw__fused_operand){.form = form_of(operand, r->count),
                                                        .dtype = operand->dtype,
                                                        .fed = operand->fed,
                                                        .size = mw__dtype_size(operand->dtype),
                                                        .own = is_own(operand, &r->view),
                                                        .cold = is_cold(b, operand),
                                                        .inner = operand->inner,
                                                        .period = operand->period};
    b->step->reads[b->step->read_count++] =
        r->view.units > 0 ? access_in_view(operand, &r->view, r->count) : access_of(operand, element);
    b->bytes += (double)operand->period * (double)mw__dtype_size(operand->dtype);
    return (uint16_t)r->operand_count++;
}

static void add_instruction(builder *b, const mw__step *step)
{
    const mw__element *element = mw__step_as_element(step);
    const uint32_t buffer = step->writes[0].buffer;
    mw__fused *r = b->fused;
    r->pq[r->code_count][0] = element->p, r->pq[r->code_count][1] = element->q;
    r->pq[r->code_count][2] = (element->round & MW__ROUND_HALF) != 0;
    mw__fused_code code = {.name = element->name,
                           .unary = element->unary,
                           .binary = element->binary,
                           .compare = element->compare,
                           .select = element->select,
                           .how = element->round,
                           .round = mw__round_loop(b->level, element->round),
                           .special = element->special,
                           .exact = mw__kernel_row_of(step->op->row->id)->rounding == MW__ROUNDING_EXACT,
                           .write = -1};
    for (int i = 0; i < MW__ELEMENT_OPERANDS; i++) /* operands that there are not repeat the first */
        code.in[i] = i < element->operand_count ? value_of(b, &element->operand[i], element) : code.in[0];
    code.out = (uint16_t)(MW__STEP_READS + r->code_count);
    b->made[r->code_count] = buffer;
    b->additions += element->additions;
    if (b->stored[buffer]) {
        const size_t size = mw__dtype_size(element->dtype);
        r->stores[r->store_count++] = (mw__fused_store){.value = code.out, .dtype = element->dtype, .size = size};
        b->step->writes[b->step->write_count++] =
            r->view.units > 0 ? view_access(buffer, &r->view, size)
                              : (mw__step_operand){.buffer = buffer,
                                                   .access = MW__ROWS,
                                                   .unit = (size_t)element->split.elements * size};
        b->bytes += (double)element->count * (double)size;
    }
    r->code[r->code_count++] = code;
}

/* An output may lie over an operand that is read by tiles, so it is written when no more of those are read. */
static void choose_direct_stores(mw__fused *r)
{
    size_t last_load = 0;
    for (size_t i = 0; i < r->code_count; i++)
        for (int k = 0; k < MW__ELEMENT_OPERANDS; k++)
            if (r->code[i].in[k] < r->operand_count && r->operands[r->code[i].in[k]].form == MW__DIRECT)
                last_load = i;
    for (size_t s = 0; s < r->store_count; s++) {
        const size_t i = r->stores[s].value - MW__STEP_READS;
        const mw__fused_segment *segment = mw__fused_segment_of(r, i);
        const size_t done = segment->loop != NULL ? segment->first + segment->count - 1u : i;
        if (done >= last_load && r->stores[s].dtype != MW_F16) {
            r->stores[s].direct = true;
            r->code[i].write = (int16_t)s;
        }
    }
}

static mw__fused_work work_of(const mw__fused *r, const mw__fused_code *code)
{
    if (code->select == NULL)
        return code->unary != NULL ? MW__UNARY : code->binary != NULL ? MW__BINARY : MW__COMPARE;
    return code->in[0] < r->operand_count && r->operands[code->in[0]].form == MW__SCALAR ? MW__CHOOSE : MW__SELECT;
}

/* Straight-line code and conditions look at the first element of a scalar's tile only. */
static void choose_work(mw__fused *r)
{
    for (size_t i = 0; i < r->operand_count; i++)
        r->operands[i].one = r->operands[i].form == MW__SCALAR;
    for (size_t i = 0; i < r->code_count; i++) {
        r->code[i].work = work_of(r, &r->code[i]);
        const bool straight = mw__fused_segment_of(r, i)->loop != NULL;
        for (int k = r->code[i].work == MW__CHOOSE ? 1 : 0; k < MW__ELEMENT_OPERANDS && !straight; k++)
            if (r->code[i].in[k] < r->operand_count)
                r->operands[r->code[i].in[k]].one = false;
    }
}

/* Which operands need no tile: those read in their memory, and numbers of which the first element is enough. */
static void choose_tiles(mw__fused *r)
{
    for (size_t i = 0; i < r->operand_count; i++) {
        mw__fused_operand *o = &r->operands[i];
        const bool number = o->one && !o->own && (o->dtype == MW_BOOL || (o->dtype == MW_F32 && o->fed == NULL));
        o->there = o->form == MW__DIRECT || number;
        o->step = o->form == MW__DIRECT ? o->size : 0;
    }
}

/* Straight-line code is all of it, and nothing waits in a tile. */
static bool is_whole(const mw__fused *r)
{
    bool whole = r->segment_count == 1 && r->segments[0].loop != NULL && r->watch_count == 0 && r->view.units == 0;
    for (size_t i = 0; i < r->operand_count; i++)
        whole = whole && r->operands[i].there;
    for (size_t i = 0; i < r->store_count; i++)
        whole = whole && r->stores[i].direct;
    return whole && r->segments[0].out_count == r->store_count;
}

static size_t last_use(const mw__fused *r, uint16_t value)
{
    size_t last = 0;
    for (size_t i = 0; i < r->code_count; i++)
        for (int k = 0; k < MW__ELEMENT_OPERANDS; k++)
            if (r->code[i].in[k] == value)
                last = i;
    for (size_t s = 0; s < r->store_count; s++)
        if (r->stores[s].value == value && !r->stores[s].direct)
            last = r->code_count;
    return mw__fused_is_watched(r, value) ? r->code_count : last;
}

/* Tiles of scratch: one for each operand that is not read in its memory, one for each value while it lives.
 */
static size_t place_values(mw__fused *r)
{
    size_t tiles = 0, until[MW__FUSED_VALUES] = {0}; /* by tile: the instruction after which it is free */
    for (size_t i = 0; i < r->operand_count; i++)
        if (!r->operands[i].there) {
            until[tiles] = SIZE_MAX;
            r->place[i] = (uint32_t)(tiles++ * MW__TILE_BYTES);
        }
    for (size_t i = 0; i < r->code_count; i++) {
        size_t tile = 0;
        const mw__fused_segment *segment = mw__fused_segment_of(r, i);
        const size_t begin = segment->loop != NULL ? segment->first : i; /* of what runs with it */
        if (r->code[i].write >= 0 || !mw__fused_is_made(segment, r->code[i].out))
            continue;
        while (tile < tiles && until[tile] >= begin)
            tile++;
        tiles = tile == tiles ? tiles + 1 : tiles;
        until[tile] = last_use(r, r->code[i].out);
        r->place[r->code[i].out] = (uint32_t)(tile * MW__TILE_BYTES);
    }
    return tiles;
}

static void add_watch(builder *b, const mw__step *watch)
{
    mw__fused *r = b->fused;
    mw__fused_look *w = &r->watches[r->watch_count++];
    w->limit = mw__step_as_check(watch)->limit, w->loop = mw__step_as_check(watch)->loop;
    for (size_t i = 0; i < r->code_count; i++)
        if (b->made[i] == watch->reads[0].buffer)
            w->value = r->code[i].out;
    w->write = (uint16_t)b->step->write_count;
    b->step->writes[b->step->write_count++] = watch->writes[0];
}

static void add_sum(builder *b, const mw__step *step, uint32_t partials)
{
    const mw__sum *sum = mw__step_as_sum(step);
    mw__fused *r = b->fused;
    const mw__element_operand x = {.buffer = step->reads[0].buffer, .dtype = MW_F32, .inner = 1, .period = r->count};
    const bool columns = mw__sums_columns(sum, &r->view);
    r->sums[r->sum_count++] = (mw__fused_sum){.value = value_of(b, &x, NULL),
                                              .write = (uint16_t)b->step->write_count,
                                              .columns = columns,
                                              .mean = sum->mean,
                                              .round = mw__round_loop(b->level, sum->round)};
    b->step->writes[b->step->write_count++] =
        columns ? (mw__step_operand){.buffer = partials, .access = MW__WHOLE}
                : (mw__step_operand){.buffer = step->writes[0].buffer, .access = MW__ROWS, .unit = sizeof(float)};
    b->step->grain = columns ? MW__VIEW_UNITS : b->step->grain;
    b->additions += 1.0;
}

static const mw__op **list_ops(mw__arena *arena, const mw__fused_parts *parts, mw_error *err)
{
    const mw__op **ops = mw__arena_alloc(arena, parts->count + parts->sum_count, sizeof *ops, err);
    for (size_t i = 0; ops != NULL && i < parts->count; i++)
        ops[i] = parts->steps[i]->op;
    for (size_t i = 0; ops != NULL && i < parts->sum_count; i++)
        ops[parts->count + i] = parts->sums[i]->op;
    return ops;
}

/* Each instruction is a choice between operands, and is stored. */
static bool is_gate(const mw__fused *r)
{
    for (size_t i = 0; i < r->code_count; i++) {
        const mw__fused_code *code = &r->code[i];
        if (code->work != MW__CHOOSE || code->round != NULL || mw__fused_store_of(r, code->out) < 0)
            return false;
        for (int k = 1; k < MW__ELEMENT_OPERANDS; k++)
            if (code->in[k] >= r->operand_count || r->operands[code->in[k]].form == MW__SCALAR ||
                r->operands[code->in[k]].form == MW__SPREAD)
                return false;
    }
    return r->watch_count == 0 && r->view.units == 0 && r->store_count == r->code_count;
}

/* Units and count, of the view or of the first step. */
static void set_extents(mw__fused *fused, mw__step *step, const mw__fused_parts *parts)
{
    const mw__fused_view *view = &parts->view;
    fused->view = *view;
    if (view->units > 0) {
        fused->count = view->planes * view->units * view->run;
        step->units = view->units;
        return;
    }
    const mw__element *first = mw__step_as_element(parts->steps[0]);
    fused->elements = first->split.elements;
    fused->count = first->count;
    step->units = first->split.units;
}

static mw__kernel *kernel_of(const mw__fused *fused)
{
    if (is_gate(fused))
        return mw__gate_run;
    if (is_whole(fused))
        return mw__fused_run_whole;
    return fused->view.units > 0 ? mw__fused_run_view : mw__fused_run;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* What the parts read at most. There are many groups, most are short, and each has room for its own. */
static size_t reads_of(const mw__fused_parts *parts)
{
    return smaller(MW__ELEMENT_OPERANDS * parts->count + parts->sum_count, MW__STEP_READS);
}

static size_t writes_of(const mw__fused_parts *parts)
{
    return smaller(parts->count, MW__STEP_WRITES) + parts->watch_count + parts->sum_count;
}

static mw__fused *make_fused(mw__arena *arena, const mw__fused_parts *parts, mw_error *err)
{
    mw__fused *fused = mw__arena_alloc(arena, 1, sizeof *fused, err);
    if (fused == NULL)
        return NULL;
    fused->operands = mw__arena_alloc(arena, reads_of(parts), sizeof *fused->operands, err);
    fused->code = mw__arena_alloc(arena, parts->count, sizeof *fused->code, err);
    fused->stores = mw__arena_alloc(arena, parts->count, sizeof *fused->stores, err);
    fused->watches = mw__arena_alloc(arena, parts->watch_count, sizeof *fused->watches, err);
    fused->sums = mw__arena_alloc(arena, parts->sum_count, sizeof *fused->sums, err);
    fused->pq = mw__arena_alloc(arena, parts->count, sizeof *fused->pq, err);
    fused->place = mw__arena_alloc(arena, MW__STEP_READS + parts->count, sizeof *fused->place, err);
    const bool made = fused->operands != NULL && fused->code != NULL && fused->stores != NULL &&
                      fused->watches != NULL && fused->sums != NULL && fused->pq != NULL && fused->place != NULL;
    return made ? fused : NULL;
}

mw__step *mw__fused_step(mw__arena *arena, const mw__fused_parts *parts, mw_error *err)
{
    mw__fused *fused = make_fused(arena, parts, err);
    mw__step *step = mw__step_create(arena, reads_of(parts), writes_of(parts), err);
    const mw__op **ops = list_ops(arena, parts, err);
    if (fused == NULL || step == NULL || ops == NULL)
        return NULL;
    set_extents(fused, step, parts);
    step->op = parts->count > 0 ? parts->steps[parts->count - 1]->op : parts->sums[0]->op;
    step->report.implementation = mw__level_name(parts->level);
    step->block = fused;
    step->group.ops = ops;
    step->group.count = parts->count + parts->sum_count;
    step->span = parts->watch_count == 0;
    builder b = {.fused = fused, .step = step, .parts = parts, .stored = parts->stored, .level = parts->level};
    for (size_t i = 0; i < parts->count; i++)
        add_instruction(&b, parts->steps[i]);
    for (size_t i = 0; i < parts->watch_count; i++)
        add_watch(&b, parts->watches[i]);
    for (size_t i = 0; i < parts->sum_count; i++)
        add_sum(&b, parts->sums[i], parts->partials[i]);
    mw__fused_choose_sums(fused, parts->level);
    if (mw__fused_find_segments(arena, fused, parts->level, err) != MW_OK)
        return NULL;
    mw__fused_choose_proof(fused, parts->level);
    choose_work(fused);
    choose_tiles(fused);
    choose_direct_stores(fused);
    step->run = kernel_of(fused);
    step->report.label = is_gate(fused) ? "gate" : fused->whole != NULL ? fused->whole : "fused";
    step->scratch = place_values(fused) * MW__TILE_BYTES;
    step->cost = mw__cost(b.bytes, b.additions * (double)fused->count) + 10.0 * (double)step->group.count;
    return step;
}
