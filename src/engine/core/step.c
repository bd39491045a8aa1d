/* The calls by which kernels plan: buffers, steps, views. */
#include "engine/core/step.h"

#include "base/memory/checked.h"
#include "base/text/string_builder.h"
#include "engine/core/planner.h"

#include <string.h>

enum { FEW_READS = 4, FEW_WRITES = 1 };

/* ---- buffers ---- */

uint32_t mw__planner_add_buffer(mw__planner *planner, mw__buffer buffer)
{
    if (planner->buffer_count >= MW__NO_BUFFER ||
        mw__grow(planner->arena->allocator, &planner->buffers, &planner->buffer_capacity, planner->buffer_count + 1,
                 sizeof *planner->buffers, &planner->error) != MW_OK) {
        mw__fail(&planner->error, MW_ERROR_MEMORY, "too many buffers");
        return 0; /* there is always a first one */
    }
    planner->buffers[planner->buffer_count] = buffer;
    return (uint32_t)planner->buffer_count++;
}

bool mw__planner_size(mw__planner *planner, const mw_tensor *value, size_t *out)
{
    if (value->type->kind == MW__TENSOR && mw__type_bytes(value->type, out))
        return true;
    mw__fail(&planner->error, MW_ERROR_UNSUPPORTED,
             "\"%s\" has no fixed size: the engine runs tensors of known shape; give `?` extents a number first",
             value->name != NULL ? value->name : value->hint);
    *out = 0;
    return false;
}

static const void *expand_splat(mw__planner *planner, const mw__payload *payload, size_t size)
{
    char *data = mw__arena_alloc(planner->arena, size, 1, &planner->error);
    for (size_t at = 0; data != NULL && payload->size > 0 && at + payload->size <= size; at += payload->size)
        memcpy(data + at, payload->data, payload->size);
    return data;
}

static uint32_t add_constant(mw__planner *planner, const mw_tensor *value, size_t size)
{
    const mw__payload *payload = value->payload;
    const int bits = mw_dtype_bits(value->type->dtype);
    if (payload->data == NULL || (payload->splat && bits % 8 != 0)) {
        mw__fail(&planner->error, MW_ERROR_UNSUPPORTED, "constant \"%s\" has no data that a kernel could read",
                 value->name != NULL ? value->name : value->hint);
        return 0;
    }
    const void *data = payload->splat ? expand_splat(planner, payload, size) : payload->data;
    return mw__planner_add_buffer(
        planner, (mw__buffer){.kind = MW__BUFFER_CONSTANT, .size = size, .data = data, .value = value});
}

uint32_t mw__plan_buffer(mw__planner *planner, const mw_tensor *value)
{
    if (value == NULL) {
        mw__fail(&planner->error, MW_ERROR_ARGUMENT, "a kernel asked for the buffer of an absent argument");
        return 0;
    }
    uint32_t *slot = &planner->buffer_of[value->id];
    size_t size;
    if (*slot != MW__NO_BUFFER || !mw__planner_size(planner, value, &size))
        return *slot != MW__NO_BUFFER ? *slot : 0;
    if (mw__is_packed(value))
        *slot = mw__plan_unpack(planner, value, size);
    else if (value->payload != NULL)
        *slot = add_constant(planner, value, size);
    else
        *slot = mw__planner_add_buffer(planner, (mw__buffer){.kind = MW__BUFFER_LOCAL, .size = size, .value = value});
    return *slot;
}

uint32_t mw__plan_constant(mw__planner *planner, const void *data, size_t size)
{
    void *copy = mw__arena_alloc(planner->arena, size, 1, &planner->error);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    return mw__planner_add_buffer(planner, (mw__buffer){.kind = MW__BUFFER_CONSTANT, .size = size, .data = copy});
}

uint32_t mw__plan_temporary(mw__planner *planner, size_t size)
{
    return mw__planner_add_buffer(planner, (mw__buffer){.kind = MW__BUFFER_LOCAL, .size = size});
}

/* ---- steps ---- */

/* "first, second" in the arena; either may be NULL. */
static const char *join_notes(mw__planner *planner, const char *first, const char *separator, const char *second)
{
    if (second == NULL)
        return first;
    const size_t size = (first != NULL ? strlen(first) + strlen(separator) : 0) + strlen(second) + 1;
    char *text = mw__arena_alloc(planner->arena, size, 1, &planner->error);
    if (text == NULL)
        return NULL;
    mw__string_builder builder = mw__string_builder_begin(text, size);
    mw__string_builder_puts(&builder, first != NULL ? first : "");
    mw__string_builder_puts(&builder, first != NULL ? separator : "");
    mw__string_builder_puts(&builder, second);
    return text;
}

void mw__plan_note(mw__planner *planner, const char *implementation, const char *declined)
{
    planner->implementation = planner->implementation != NULL
                                  ? join_notes(planner, planner->implementation, ", ", implementation)
                                  : implementation;
    planner->declined = join_notes(planner, planner->declined, "; ", declined);
}

void mw__planner_add_step(mw__planner *planner, mw__step *step)
{
    if (step == NULL || mw__grow(planner->arena->allocator, &planner->steps, &planner->step_capacity,
                                 planner->step_count + 1, sizeof(mw__step *), &planner->error) != MW_OK)
        return;
    planner->steps[planner->step_count++] = step;
}

void mw__planner_add_copy(mw__planner *planner, uint32_t from, uint32_t to)
{
    mw__step *step = mw__copy_step(planner->arena, from, to, planner->buffers[to].size, NULL, NULL, &planner->error);
    if (step != NULL) {
        step->op = planner->op;
        planner->buffers[to].maker = step;
    }
    mw__planner_add_step(planner, step);
}

void mw__plan_view(mw__planner *planner, const mw_tensor *result, const mw_tensor *source)
{
    const uint32_t from = mw__plan_buffer(planner, source);
    const uint32_t own = planner->buffer_of[result->id];
    if (own != MW__NO_BUFFER)
        mw__planner_add_copy(planner, from, own); /* an output has memory of its own; see elide_copies */
    else
        planner->buffer_of[result->id] = from;
}

static bool is_same_iter(const mw__nd_iter *a, const mw__nd_iter *b)
{
    const size_t loops = (size_t)a->rank * sizeof *a->extent;
    bool same = a->rank == b->rank && a->operands == b->operands && memcmp(a->extent, b->extent, loops) == 0;
    for (int i = 0; same && i < a->operands; i++)
        same = memcmp(a->stride[i], b->stride[i], loops) == 0;
    return same;
}

const mw__nd_iter *mw__plan_broadcast(mw__planner *planner, mw_shape shape, const mw_shape *operands, int count)
{
    const mw__nd_iter iter = mw__nd_iter_broadcast(shape, operands, count);
    const size_t place = (size_t)(iter.extent[iter.rank - 1] + 5 * iter.stride[count - 1][iter.rank - 1] + count);
    const mw__nd_iter **recent = &planner->iters[place % MW__PLANNER_ITERS];
    if (*recent != NULL && is_same_iter(*recent, &iter))
        return *recent;
    mw__nd_iter *copy = mw__plan_block(planner, sizeof *copy);
    if (copy == NULL)
        return NULL;
    *copy = iter;
    return *recent = copy;
}

void *mw__plan_block(mw__planner *planner, size_t size)
{
    return mw__arena_alloc(planner->arena, 1, size, &planner->error);
}

mw__step *mw__step_create(mw__arena *arena, size_t reads, size_t writes, mw_error *err)
{
    mw__step *step = mw__arena_alloc(arena, 1, sizeof *step, err);
    mw__step_operand *operands = mw__arena_alloc(arena, reads + writes, sizeof *operands, err);
    if (step == NULL || operands == NULL)
        return NULL;
    *step = (mw__step){
        .grain = 1, .capacity.reads = reads, .capacity.writes = writes, .reads = operands, .writes = operands + reads};
    return step;
}

mw__step *mw__step_copy(mw__arena *arena, const mw__step *step, mw_error *err)
{
    mw__step *copy = mw__step_create(arena, step->read_count, step->write_count, err);
    if (copy == NULL)
        return NULL;
    mw__step_operand *const reads = copy->reads, *const writes = copy->writes;
    *copy = *step;
    copy->reads = reads;
    copy->writes = writes;
    copy->capacity.reads = step->read_count;
    copy->capacity.writes = step->write_count;
    for (size_t i = 0; i < step->read_count; i++)
        reads[i] = step->reads[i];
    for (size_t i = 0; i < step->write_count; i++)
        writes[i] = step->writes[i];
    return copy;
}

/* What is filled after a failed allocation. */
static mw__step *dummy_step(mw__planner *planner)
{
    planner->dummy = (mw__step){.capacity.reads = MW__STEP_READS,
                                .capacity.writes = MW__STEP_WRITES,
                                .reads = planner->dummy_operands,
                                .writes = planner->dummy_operands + MW__STEP_READS};
    return &planner->dummy;
}

mw__step *mw__plan_step_of(mw__planner *planner, mw__kernel *run, const char *label, int64_t units, double cost,
                           size_t reads, size_t writes)
{
    mw__step *step = mw__step_create(planner->arena, reads, writes, &planner->error);
    mw__step *filled = step != NULL ? step : dummy_step(planner);
    filled->op = planner->op;
    filled->report.label = label;
    filled->report.implementation = planner->implementation;
    filled->report.declined = planner->declined;
    filled->run = run;
    filled->units = units < 0 ? 0 : units;
    filled->grain = 1;
    filled->cost = cost;
    mw__planner_add_step(planner, step);
    return filled;
}

mw__step *mw__plan_step(mw__planner *planner, mw__kernel *run, const char *label, int64_t units, double cost)
{
    return mw__plan_step_of(planner, run, label, units, cost, FEW_READS, FEW_WRITES);
}

/* Most steps have few operands, and there are many steps: the others get their room when they need it. */
static bool make_room(mw__planner *planner, mw__step_operand **operands, size_t *room, size_t count, size_t most)
{
    if (count < *room)
        return true;
    mw__step_operand *larger =
        *room < most ? mw__arena_alloc(planner->arena, most, sizeof *larger, &planner->error) : NULL;
    if (larger == NULL)
        return false;
    memcpy(larger, *operands, count * sizeof *larger);
    *operands = larger;
    *room = most;
    return true;
}

void mw__step_read(mw__planner *planner, mw__step *step, uint32_t buffer, mw__access access, size_t unit, bool in_place)
{
    if (!make_room(planner, &step->reads, &step->capacity.reads, step->read_count, MW__STEP_READS)) {
        mw__fail(&planner->error, MW_ERROR_UNSUPPORTED, "a step reads more than %zu buffers", step->capacity.reads);
        return;
    }
    step->reads[step->read_count++] =
        (mw__step_operand){.buffer = buffer, .access = access, .unit = unit, .in_place = in_place};
}

void mw__step_read_parts(mw__planner *planner, mw__step *step, uint32_t buffer, int64_t parts)
{
    const size_t at = step->read_count;
    mw__step_read(planner, step, buffer, MW__WHOLE, 0, false);
    if (step->read_count > at)
        step->reads[at].parts = parts;
}

void mw__step_write(mw__planner *planner, mw__step *step, uint32_t buffer, mw__access access, size_t unit)
{
    if (!make_room(planner, &step->writes, &step->capacity.writes, step->write_count, MW__STEP_WRITES)) {
        mw__fail(&planner->error, MW_ERROR_UNSUPPORTED, "a step writes more than %zu buffers", step->capacity.writes);
        return;
    }
    const mw__buffer_kind kind = planner->buffers[buffer].kind;
    if (kind == MW__BUFFER_INPUT || kind == MW__BUFFER_CONSTANT)
        mw__fail(&planner->error, MW_ERROR_UNSUPPORTED, "a step writes an input or a constant");
    step->writes[step->write_count++] = (mw__step_operand){.buffer = buffer, .access = access, .unit = unit};
    planner->buffers[buffer].maker = step;
}

unsigned mw__plan_rounds(const mw__planner *planner, const mw_tensor *result)
{
    const mw__rounding *rounding = &planner->rounding;
    if (rounding->wanted == NULL)
        return result->type->dtype == MW_F16 ? MW__ROUND_HALF : 0;
    return result->id < rounding->count ? rounding->wanted[result->id] : 0;
}

bool mw__plan_is_operand(const mw__planner *planner, const mw_tensor *result)
{
    const mw__rounding *rounding = &planner->rounding;
    return rounding->operand != NULL && result->id < rounding->count && rounding->operand[result->id];
}

const mw__codes *mw__plan_codes(const mw__planner *planner, const mw_tensor *result)
{
    const mw__rounding *rounding = &planner->rounding;
    return rounding->codes != NULL && result->id < rounding->count ? rounding->codes[result->id] : NULL;
}

bool mw__plan_is_half(const mw__planner *planner, const mw_tensor *result)
{
    const mw__rounding *rounding = &planner->rounding;
    return result->type->dtype == MW_F16 || (result->id < rounding->count && rounding->half[result->id]);
}

bool mw__plan_makes_half(const mw__planner *planner)
{
    for (size_t i = 0; planner->op != NULL && i < planner->op->result_count; i++)
        if (mw__plan_is_half(planner, planner->op->results[i]))
            return true;
    return false;
}

uint32_t mw__plan_origin(const mw__planner *planner, const mw_tensor *result)
{
    return planner->rounding.origin != NULL ? planner->rounding.origin[result->id] : result->id;
}

uint32_t mw__plan_reads(const mw__planner *planner, const mw_tensor *value) { return planner->reads[value->id]; }

uint32_t *mw__plan_turned(mw__planner *planner, const mw_tensor *value) { return &planner->turned[value->id]; }

const mw__config *mw__plan_config(const mw__planner *planner) { return planner->config; }

mw__level mw__plan_level(const mw__planner *planner) { return planner->config->level; }

int mw__plan_partitions(const mw__planner *planner) { return planner->partitions; }

mw_status mw__plan_check(const mw__planner *planner, mw_error *err)
{
    if (planner->error.status == MW_OK)
        return MW_OK;
    if (err != NULL && err->status == MW_OK)
        *err = planner->error;
    return planner->error.status;
}

bool mw__plan_is_element(const mw__planner *planner, uint32_t buffer)
{
    const mw__step *maker = planner->buffers[buffer].maker;
    return maker != NULL && maker->fusion.kind == MW__STEP_ELEMENT;
}
