/* The scatters: updates combined into chosen elements of data. Partitions own parts of the result and each reads all
 * indices, so that updates of one place are taken in index order whatever the number of partitions; an index outside is
 * left out. F16 accumulates in fp32 and is rounded once. */
#include "engine/kernels/gather/kernel_indices.h"

#include "base/number/fp16.h"

#include <math.h>
#include <string.h>

typedef enum scatter_mode { UPDATE, ADD, SUB, MUL, DIV, MAX, MIN } scatter_mode;

typedef struct scatter_block {
    mw__indexed indexed;
    scatter_mode mode;
    mw_dtype dtype;
} scatter_block;

/* ---- combining ---- */

static float combine_f32(scatter_mode mode, float a, float b)
{
    switch (mode) {
    case UPDATE:
        return b;
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case DIV:
        return a / b;
    case MAX:
        return a > b || isnan(a) ? a : b;
    default:
        return a < b || isnan(a) ? a : b;
    }
}

/* Sums and products wrap around; x / 0 is 0, INT_MIN / -1 is INT_MIN, as in real_div. */
static int32_t combine_i32(scatter_mode mode, int32_t a, int32_t b)
{
    switch (mode) {
    case UPDATE:
        return b;
    case ADD:
        return (int32_t)((uint32_t)a + (uint32_t)b);
    case SUB:
        return (int32_t)((uint32_t)a - (uint32_t)b);
    case MUL:
        return (int32_t)((uint32_t)a * (uint32_t)b);
    case DIV:
        return b == 0 ? 0 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
    case MAX:
        return a > b ? a : b;
    default:
        return a < b ? a : b;
    }
}

/* ---- the kernel ---- */

/* `count` updates from `from` on into the elements at `to`; `sums` is fp32, or int32 for such data. */
static void combine(const scatter_block *s, void *sums, int64_t to, const void *updates, int64_t from, int64_t count)
{
    if (s->dtype == MW_I32) {
        int32_t *into = (int32_t *)sums + to;
        for (int64_t i = 0; i < count; i++)
            into[i] = combine_i32(s->mode, into[i], ((const int32_t *)updates)[from + i]);
        return;
    }
    float tile[MW__TILE], *into = (float *)sums + to;
    for (int64_t done = 0; done < count; done += MW__TILE) {
        const int64_t run = count - done < MW__TILE ? count - done : MW__TILE;
        const float *update = mw__tile_load(updates, s->dtype, from + done, run, tile);
        for (int64_t i = 0; i < run; i++)
            into[done + i] = combine_f32(s->mode, into[done + i], update[i]);
    }
}

/* Single elements of fp32 are added without a call for each. */
static void add_elements(float *sums, const float *updates, const int64_t *place, int64_t count, int64_t from,
                         int64_t to)
{
    for (int64_t i = 0; i < count; i++)
        if (place[i] >= 0 && place[i] >= from && place[i] < to)
            sums[place[i]] += updates[i];
}

/* All updates of one plane that fall into rows [begin, end), which count through all planes. */
static void scatter_plane(const mw__kernel_call *call, void *sums, int64_t plane, mw__places *places)
{
    const scatter_block *s = call->block;
    const mw__indexed *p = &s->indexed;
    const int64_t across = p->each ? p->inner : 1, taken = p->each ? 1 : p->inner, units = p->count * across;
    const int64_t base = plane * p->rows, from = (call->begin - base) * across, to = (call->end - base) * across;
    for (int64_t first = 0, run; first < units; first += run) {
        run = units - first < MW__PLACES_MAX ? units - first : MW__PLACES_MAX;
        mw__indexed_find(p, call->in[1], plane, first, run, places);
        const int64_t update = (plane * units + first) * taken;
        if (taken == 1 && s->mode == ADD && s->dtype == MW_F32)
            add_elements((float *)sums + base * p->inner, (const float *)call->in[2] + update, places->place, run, from,
                         to);
        else
            for (int64_t i = 0; i < run; i++)
                if (places->place[i] >= 0 && places->place[i] >= from && places->place[i] < to)
                    combine(s, sums, base * p->inner + places->place[i] * taken, call->in[2], update + i * taken,
                            taken);
    }
}

/* Sums of single elements, with rows that are known: those of one batch of indices. */
static void add_to_rows(const int32_t *rows, const float *update, int64_t count, int64_t begin, int64_t end,
                        float *sums)
{
    for (int64_t i = 0; i < count; i++)
        if (rows[i] >= begin && rows[i] < end)
            sums[rows[i]] += update[i];
}

/* The same as scatter_run for these: the rows are found once for all planes of a batch. */
static void scatter_elements(const mw__kernel_call *call)
{
    const scatter_block *s = call->block;
    const mw__indexed *p = &s->indexed;
    int32_t *const rows = call->scratch;
    float *const sums = call->out[0];
    int64_t batch = -1;
    if (call->out[0] != call->in[0])
        memcpy(sums + call->begin, (const float *)call->in[0] + call->begin,
               (size_t)(call->end - call->begin) * sizeof *sums);
    for (int64_t plane = call->begin / p->rows; plane <= (call->end - 1) / p->rows; plane++) {
        const int64_t first = plane * p->rows, last = call->end - first;
        if (plane / p->outer != batch)
            for (int64_t i = 0; i < p->count; i++)
                rows[i] = (int32_t)mw__indexed_row(p, call->in[1], plane, i, 0);
        batch = plane / p->outer;
        add_to_rows(rows, (const float *)call->in[2] + plane * p->count, p->count,
                    call->begin > first ? call->begin - first : 0, last < p->rows ? last : p->rows, sums + first);
    }
}

static bool adds_elements(const scatter_block *s)
{
    const mw__indexed *p = &s->indexed;
    return s->mode == ADD && s->dtype == MW_F32 && p->inner == 1 && !p->each && p->rows <= INT32_MAX;
}

/* A unit is one row of the result. */
static void scatter_run(const mw__kernel_call *call)
{
    const scatter_block *s = call->block;
    const int64_t from = call->begin * s->indexed.inner, count = (call->end - call->begin) * s->indexed.inner;
    const bool half = s->dtype == MW_F16;
    void *sums = half ? call->out[1] : call->out[0];
    if (half)
        mw__fp16_to_float_n((float *)sums + from, (const uint16_t *)call->in[0] + from, (size_t)count);
    else if (sums != call->in[0])
        memcpy((float *)sums + from, (const float *)call->in[0] + from, (size_t)count * sizeof(float));
    mw__places places;
    places.count = 0;
    for (int64_t plane = call->begin / s->indexed.rows; plane <= (call->end - 1) / s->indexed.rows; plane++)
        scatter_plane(call, sums, plane, &places);
    if (half)
        mw__fp16_from_float_n((uint16_t *)call->out[0] + from, (const float *)sums + from, (size_t)count);
}

/* What only moves elements, of any type: in place it touches the updated rows alone. */
static void update_run(const mw__kernel_call *call)
{
    const scatter_block *s = call->block;
    const mw__indexed *p = &s->indexed;
    const size_t size = mw__dtype_size(s->dtype), row = (size_t)p->inner * size;
    const int64_t across = p->each ? p->inner : 1;
    const size_t taken = p->each ? size : row;
    char *out = call->out[0];
    if (call->out[0] != call->in[0])
        memcpy(out + (size_t)call->begin * row, (const char *)call->in[0] + (size_t)call->begin * row,
               (size_t)(call->end - call->begin) * row);
    for (int64_t plane = call->begin / p->rows; plane <= (call->end - 1) / p->rows; plane++)
        for (int64_t index = 0; index < p->count; index++)
            for (int64_t k = 0; k < across; k++) {
                const int64_t to = mw__indexed_row(p, call->in[1], plane, index, k), at = plane * p->rows + to;
                if (to >= 0 && at >= call->begin && at < call->end)
                    memcpy(out + (size_t)at * row + (size_t)k * size,
                           (const char *)call->in[2] + ((size_t)(plane * p->count + index) * row + (size_t)k * size),
                           taken);
            }
}

/* ---- planning ---- */

static mw_status read_mode(const mw__op *op, scatter_mode *out, mw_error *err)
{
    static const char *const names[] = {"update", "add", "sub", "mul", "div", "max", "min"};
    const char *mode = mw__arg_string(op, "mode");
    char subject[128];
    for (size_t i = 0; mode != NULL && i < sizeof names / sizeof *names; i++) {
        if (strcmp(mode, names[i]) == 0) {
            *out = (scatter_mode)i;
            return MW_OK;
        }
    }
    return mw__fail(err, MW_ERROR_ARGUMENT, "%s: mode \"%s\" is unknown", mw__op_subject(op, subject, sizeof subject),
                    mode != NULL ? mode : "");
}

mw_status mw__kernel_scatter(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *data = mw__arg(op, "data"), *updates = mw__arg(op, "updates"), *result = op->results[0];
    MW_TRY(mw__kernel_check_number(op, mw__dtype_of(data), err));
    scatter_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    s->dtype = mw__dtype_of(data);
    MW_TRY(read_mode(op, &s->mode, err));
    MW_TRY(mw__indexed_read(op, "data", &s->indexed, err));
    if (mw__count_of(result) == 0)
        return MW_OK;
    mw__plan_note(planner, s->mode == UPDATE ? "moves" : adds_elements(s) ? "elements" : "sums", NULL);
    const int64_t rows = s->indexed.planes * s->indexed.rows;
    const size_t row = (size_t)s->indexed.inner * mw__dtype_size(s->dtype);
    const double bytes = (double)mw__count_of(result) * 8.0 + (double)mw__count_of(updates) * 12.0;
    mw__step *step =
        mw__plan_step(planner, scatter_run, op->row->name, rows, mw__cost(bytes, (double)mw__count_of(updates) * 4.0));
    const bool sums = s->mode != UPDATE && s->dtype == MW_F16;
    step->block = s;
    step->run = s->mode == UPDATE ? update_run : adds_elements(s) ? scatter_elements : scatter_run;
    step->scratch = step->run == scatter_elements ? (size_t)s->indexed.count * sizeof(int32_t) : 0;
    mw__step_read(planner, step, mw__plan_buffer(planner, data), MW__ROWS, row, !sums);
    mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "indices")), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, updates), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, row);
    if (sums)
        mw__step_write(planner, step, mw__plan_temporary(planner, (size_t)mw__count_of(result) * sizeof(float)),
                       MW__ROWS, (size_t)s->indexed.inner * sizeof(float));
    return mw__plan_check(planner, err);
}
