/* One task from its registers to memory: what both engines share. Tiles are cut out of windows with all bounds checked
 * before anything is read, and a result is written when all of it is computed. */
#include "chip/task/run.h"

#include "base/number/fp16.h"
#include "chip/task/expect.h"

#include <inttypes.h>
#include <math.h>

/* ---- numbers ---- */

float mw__chip_load(const mw__chip_job *job, const mw__chip_tile *tile, const uint8_t *at)
{
    float x = mw__fp16_to_float((uint16_t)(at[0] | at[1] << 8));
    if (x != x && (job->machine->arithmetic & MW__ARITHMETIC(nan_is_infinity)) != 0)
        x = INFINITY;
    return tile->relu && x < 0.0f ? 0.0f : x;
}

/* To fp16, halves away from zero: fp32 has 13 bits more, so that a tie is seen in them. */
static uint16_t round_away(float value)
{
    const uint16_t even = mw__fp16_from_float(value), next = (uint16_t)(even + 1);
    const double here = (double)mw__fp16_to_float(even), beyond = (double)mw__fp16_to_float(next);
    if (fabs((double)value) > fabs(here) && (double)value * 2.0 == here + beyond)
        return next;
    return even;
}

uint16_t mw__chip_round(float value, mw__chip_result kind, mw__arithmetic on)
{
    const bool products = kind == MW__RESULT_PRODUCTS || kind == MW__RESULT_SINGLE_PRODUCT;
    if (value != value && (on & MW__ARITHMETIC(no_nan)) != 0)
        value = 0.0f;
    const bool away = (kind == MW__RESULT_MUL && (on & MW__ARITHMETIC(mul_ties_away)) != 0) ||
                      (products && (on & MW__ARITHMETIC(product_fixed_point)) != 0);
    const uint16_t half = away ? round_away(value) : mw__fp16_from_float(value);
    const float a = fabsf(mw__fp16_to_float(half));
    if (products && (on & MW__ARITHMETIC(product_denormals)) != 0 && a < 0x1p-14f)
        return 0;
    if (kind == MW__RESULT_PRODUCTS && (on & MW__ARITHMETIC(product_ceiling)) != 0 && a >= 32768.0f && a == a)
        return (uint16_t)((half & 0x8000) | 0x7c00);
    return half;
}

/* ---- limits ---- */

mw_status mw__chip_spend(mw__chip_machine *machine, uint64_t count, mw_error *err)
{
    if (count > machine->limits.work - machine->work)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "tasks of more than %" PRIu64 " multiplications and elements; the limit is work_limit of the "
                        "options",
                        machine->limits.work);
    machine->work += count;
    return MW_OK;
}

/* ---- windows ---- */

mw_status mw__chip_find_memory(const mw__chip_machine *machine, unsigned base, uint64_t offset, bool write,
                               uint8_t **out, size_t *out_size, mw_error *err)
{
    uint64_t address;
    if (base >= MW__BASE_REGISTERS || __builtin_add_overflow(machine->bases[base], offset, &address))
        return mw__fail(err, MW_ERROR_FORMAT, "base register %u with offset 0x%" PRIx64 ": no address", base, offset);
    for (size_t i = 0; i < machine->window_count; i++) {
        const mw__chip_window *w = &machine->windows[i];
        if (address < w->address || address - w->address >= w->size)
            continue;
        if (write && !w->writable)
            return mw__fail(err, MW_ERROR_FORMAT, "0x%" PRIx64 " is written to, and \"%s\" there is read only", address,
                            w->name);
        *out = w->data + (address - w->address);
        *out_size = w->size - (size_t)(address - w->address);
        return MW_OK;
    }
    return mw__fail(err, MW_ERROR_FORMAT, "base register %u with offset 0x%" PRIx64 ": nothing is at 0x%" PRIx64, base,
                    offset, address);
}

/* ---- tiles ---- */

typedef struct tile_words {
    const char *name;
    mw__register_id offset, row, plane, group;
    mw__field_id base, enable;
    bool write;
} tile_words;

#define TILE(which, writes)                                                                                            \
    {                                                                                                                  \
        .name = #which, .offset = MW__REGISTER_##which##_offset, .row = MW__REGISTER_##which##_row,                    \
        .plane = MW__REGISTER_##which##_plane, .group = MW__REGISTER_##which##_group,                                  \
        .base = MW__FIELD_##which##_base, .enable = MW__FIELD_##which##_enable, .write = writes                        \
    }

static const tile_words source_words[2] = {TILE(source1, false), TILE(source2, false)};
static const tile_words target_words = TILE(target, true);

static int64_t elements_of(const mw__chip_tile *t) { return t->groups * t->channels * t->height * t->width; }

/* Bytes from the first element to the end of the last; extents have 13, 17, 15 and 15 bits, strides 32. */
static uint64_t span_of(const mw__chip_tile *t)
{
    return (uint64_t)((t->groups - 1) * t->group + (t->channels - 1) * t->plane + (t->height - 1) * t->row +
                      t->width * 2);
}

/* Fills in where a tile of given extents lies. */
static mw_status place_tile(const mw__chip_job *job, const tile_words *words, mw__chip_tile *tile, mw_error *err)
{
    const mw__task *task = job->task;
    size_t room;
    if (mw__task_field(task, words->enable) == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "%s has no base register", words->name);
    tile->row = mw__task_get(task, words->row);
    tile->plane = mw__task_get(task, words->plane);
    tile->group = mw__task_get(task, words->group);
    MW_TRY(mw__chip_find_memory(job->machine, mw__task_field(task, words->base), mw__task_get(task, words->offset),
                                words->write, &tile->data, &room, err));
    if (span_of(tile) > room)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "%s: a tile of %" PRId64 " x %" PRId64 " x %" PRId64 " with rows of %" PRId64
                        " and planes of %" PRId64 " bytes ends %" PRIu64 " bytes from its start, and its window %zu",
                        words->name, tile->channels, tile->height, tile->width, tile->row, tile->plane, span_of(tile),
                        room);
    return MW_OK;
}

static mw__chip_tile extents(const mw__task *task, mw__field_id c, mw__field_id h, mw__field_id w)
{
    const uint32_t groups = mw__task_field(task, MW__FIELD_groups);
    const bool unicast = mw__task_field(task, MW__FIELD_unicast) != 0;
    return (mw__chip_tile){.groups = groups == 0 || unicast ? 1 : groups,
                           .channels = mw__task_field(task, c),
                           .height = mw__task_field(task, h),
                           .width = mw__task_field(task, w)};
}

static mw_status cut_tiles(mw__chip_job *job, bool two, mw_error *err)
{
    const mw__task *task = job->task;
    const mw__chip_tile in = extents(task, MW__FIELD_in_c, MW__FIELD_in_h, MW__FIELD_in_w);
    job->out = extents(task, MW__FIELD_out_c, MW__FIELD_out_h, MW__FIELD_out_w);
    if (elements_of(&in) == 0 || elements_of(&job->out) == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "an extent is 0");
    for (int i = 0; i < 1 + two; i++) {
        job->in[i] = in;
        MW_TRY(place_tile(job, &source_words[i], &job->in[i], err));
    }
    job->in[0].relu = mw__task_field(task, MW__FIELD_relu1) != 0;
    job->in[1].relu = mw__task_field(task, MW__FIELD_relu2) != 0;
    return place_tile(job, &target_words, &job->out, err);
}

/* ---- the result ---- */

/* Elements of a tile that do not lie in one another take two bytes each: so what is allocated is no more than a window,
 * whatever the extents. */
static mw_status make_result(mw__chip_job *job, mw_error *err)
{
    const mw__chip_tile *t = &job->out;
    const int64_t count = elements_of(t);
    if ((uint64_t)count > span_of(t) / 2)
        return mw__fail(err, MW_ERROR_FORMAT, "target: %" PRId64 " elements in %" PRIu64 " bytes lie in one another",
                        count, span_of(t));
    job->result = mw__alloc(job->machine->allocator, (size_t)count, sizeof *job->result, err);
    return job->result != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static void write_row(uint8_t *out, const uint16_t *values, int64_t count)
{
    for (int64_t x = 0; x < count; x++) {
        out[2 * x] = (uint8_t)values[x];
        out[2 * x + 1] = (uint8_t)(values[x] >> 8);
    }
}

static void write_result(const mw__chip_job *job)
{
    const mw__chip_tile *t = &job->out;
    const uint16_t *from = job->result;
    for (int64_t g = 0; g < t->groups; g++)
        for (int64_t c = 0; c < t->channels; c++)
            for (int64_t y = 0; y < t->height; y++, from += t->width)
                write_row(t->data + g * t->group + c * t->plane + y * t->row, from, t->width);
}

/* ---- tasks ---- */

static mw_status compute(mw__chip_job *job, bool neural, mw_error *err)
{
    MW_TRY(make_result(job, err));
    const mw_status status = neural ? mw__chip_run_neural(job, err) : mw__chip_run_planar(job, err);
    if (status == MW_OK)
        write_result(job);
    mw__free(job->machine->allocator, job->result);
    return status;
}

static mw_status run_task(mw__chip_machine *machine, const mw__task *task, mw_error *err)
{
    const bool neural = mw__task_field(task, MW__FIELD_engines) != 0;
    mw__chip_job job = {.machine = machine, .task = task};
    MW_TRY(mw__chip_expect_task(task, neural, err));
    MW_TRY(cut_tiles(&job, !neural, err));
    return compute(&job, neural, err);
}

/* A message says which task it is about. */
mw_status mw__task_run_one(mw__chip_machine *machine, const mw__task *task, mw_error *err)
{
    mw_error inner = {0};
    const mw_status status = run_task(machine, task, &inner);
    if (status == MW_OK)
        return MW_OK;
    return mw__fail(err, status, "task %u at %zu: %s", (unsigned)mw__task_field(task, MW__FIELD_task_id), task->offset,
                    inner.message);
}

mw_status mw__task_run_chain(mw__chip_machine *machine, const mw__task_chain *chain, mw_error *err)
{
    for (size_t i = 0; i < chain->count; i++)
        MW_TRY(mw__task_run_one(machine, &chain->tasks[i], err));
    return MW_OK;
}
