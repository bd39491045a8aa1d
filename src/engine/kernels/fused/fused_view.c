/* Runs fusion groups that have a view: units are those of the middle axis of [planes, units, run], and values may be
 * summed. Bits are those of the reductions one by one (kernel_reduce.c): over at most 512 elements of a run in 16
 * interleaved partial sums, which are added in double in index order; columns over 64 rows in fp32, which the step that
 * follows adds in double. */
#include "engine/kernels/fused/fused_code.h"
#include "engine/kernels/math/round.h"
#include "engine/kernels/reduce/kernel_reduce.h"
#include "engine/kernels/reduce/simd_reduce.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

_Static_assert(MW__VIEW_UNITS % MW__REDUCE_ROWS == 0, "a lane begins with a partial sum");

bool mw__sums_columns(const mw__sum *sum, const mw__fused_view *view)
{
    return view->planes == 1 && sum->run == 1 && sum->planes == view->units && sum->results == view->run;
}

/* ---- sums of a tile ---- */

/* Each run's sum to the total of its unit; totals[0] is that of the unit that stands first. */
#define ADD_RUNS(sum_of)                                                                                               \
    const int64_t run = fused->view.run;                                                                               \
    (void)at;                                                                                                          \
    if (count <= run) { /* a piece of one run */                                                                       \
        totals[0] += (double)sum_of(x, count);                                                                         \
        return;                                                                                                        \
    }                                                                                                                  \
    for (int64_t i = 0; i < count; i += run, totals++)                                                                 \
        *totals += (double)sum_of(x + i, run);

MW__INLINE void add_runs_body(const mw__fused *fused, const float *x, int64_t at, int64_t count, double *totals){
    ADD_RUNS(mw__lanes_sum)} MW__BASE_AVX2(add_runs,
                                           (const mw__fused *fused, const float *x, int64_t at, int64_t count,
                                            double *totals),
                                           (fused, x, at, count, totals))

#if defined(__x86_64__)
    typedef float sixteen __attribute__((vector_size(4 * MW__PARTIALS), aligned(4), may_alias));

/* mw__lanes_sum in one vector: others make none of 16 lanes. -0 beside the last elements changes no sum. */
MW__TARGET_AVX512 MW__INLINE float sum_sixteen(const float *x, int64_t count)
{
    sixteen all = {0};
    mw__lanes_f32 quad[MW__QUADS];
    int64_t i = 0;
    for (; i + MW__PARTIALS <= count; i += MW__PARTIALS)
        all += *(const sixteen *)(x + i);
    if (i < count) {
        const __mmask16 there = (__mmask16)((1u << (count - i)) - 1u);
        all += (sixteen)_mm512_mask_loadu_ps(_mm512_set1_ps(-0.0f), there, x + i);
    }
    memcpy(quad, &all, sizeof quad);
    const mw__lanes_f32 four = (quad[0] + quad[2]) + (quad[1] + quad[3]);
    return (four[0] + four[2]) + (four[1] + four[3]);
}

MW__TARGET_AVX512 static void add_runs_avx512(const mw__fused *fused, const float *x, int64_t at, int64_t count,
                                              double *totals)
{
    ADD_RUNS(sum_sixteen)
}
#endif

/* Each row to the partial sums of its 64. */
MW__INLINE void add_rows_body(const mw__fused *fused, const float *x, int64_t at, int64_t count, float *partials)
{
    const int64_t width = fused->view.run;
    int64_t row = at / width, column = at % width;
    for (int64_t i = 0, n; i < count; i += n, row++, column = 0) {
        n = width - column < count - i ? width - column : count - i;
        float *part = partials + row / MW__REDUCE_ROWS * width + column;
        if (row % MW__REDUCE_ROWS == 0)
            MW__VECTORIZE for (int64_t j = 0; j < n; j++) part[j] = 0.0f + x[i + j];
        else
            MW__VECTORIZE for (int64_t j = 0; j < n; j++) part[j] += x[i + j];
    }
}
MW__BASE_AVX2_AVX512(add_rows, (const mw__fused *fused, const float *x, int64_t at, int64_t count, float *partials),
                     (fused, x, at, count, partials))

void mw__fused_choose_sums(mw__fused *fused, mw__level level)
{
    fused->add_runs = MW__DISPATCH_BEST(add_runs, level);
    fused->add_rows = MW__DISPATCH_BEST(add_rows, level);
}

void mw__fused_add(const mw__kernel_call *call, const void *const *value, bool operands, int64_t at, int64_t count,
                   mw__fused_totals *totals)
{
    const mw__fused *fused = call->block;
    const int64_t unit = at / fused->view.run % fused->view.units;
    for (size_t i = 0; i < fused->sum_count; i++) {
        const mw__fused_sum *sum = &fused->sums[i];
        if ((sum->value < MW__STEP_READS) != operands)
            continue;
        if (sum->columns)
            fused->add_rows(fused, value[sum->value], at, count, call->out[sum->write]);
        else
            fused->add_runs(fused, value[sum->value], at, count, &totals->sum[i][unit - totals->first]);
    }
}

/* ---- units ---- */

static void finish_sums(const mw__kernel_call *call, const mw__fused_totals *totals, int64_t units)
{
    const mw__fused *fused = call->block;
    const double reduced = (double)(fused->view.planes * fused->view.run);
    for (size_t i = 0; i < fused->sum_count; i++) {
        const mw__fused_sum *sum = &fused->sums[i];
        if (sum->columns)
            continue;
        float *out = (float *)call->out[sum->write] + totals->first;
        for (int64_t unit = 0; unit < units; unit++)
            out[unit] = (float)(sum->mean ? totals->sum[i][unit] / reduced : totals->sum[i][unit]);
        if (sum->round != NULL)
            sum->round(out, out, units, 0, 0);
    }
}

/* Elements of a tile: whole runs, or 512 of a longer one, the last of which is shorter. */
static int64_t tile_at(const mw__fused *fused, int64_t at, int64_t end)
{
    const int64_t run = fused->view.run, left = end - at;
    int64_t most = run > MW__TILE ? run - at % run : MW__TILE / run * run;
    most = most < MW__TILE ? most : MW__TILE;
    return most < left ? most : left;
}

#define AHEAD 2048 /* floats */

/* The tile that follows some planes later lies in another page, of which some processors fetch nothing by themselves.
 */
static void prefetch(const mw__kernel_call *call, int64_t at, int64_t count)
{
    const mw__fused *fused = call->block;
    for (size_t i = 0; i < fused->operand_count; i++)
        for (int64_t k = 0; fused->operands[i].cold && k < count; k += 16)
            mw__kernel_prefetch(call->in[i], (at + k) * (int64_t)fused->operands[i].size);
    for (size_t i = 0; i < fused->store_count; i++)
        for (int64_t k = 0; k < count; k += 16)
            mw__kernel_prefetch(call->out[i], (at + k) * (int64_t)fused->stores[i].size);
}

/* The planes of some units. Behind the last plane the same units of the first would follow: the next units lie there.
 */
static void run_planes(const mw__kernel_call *call, mw__fused_totals *totals, int64_t begin, int64_t end)
{
    const mw__fused *fused = call->block;
    const mw__fused_view *view = &fused->view;
    const int64_t plane_size = view->units * view->run, own = (end - begin) * view->run;
    const int64_t all = view->planes * plane_size, back = all - own;
    const int64_t ahead = own < AHEAD ? (AHEAD + own - 1) / own * plane_size : plane_size;
    for (int64_t plane = 0; plane < view->planes; plane++) {
        const int64_t last = (plane * view->units + end) * view->run;
        for (int64_t at = (plane * view->units + begin) * view->run, count; at < last; at += count) {
            const int64_t next = at + ahead < all ? at + ahead : at + ahead - back;
            count = tile_at(fused, at, last);
            if (next > at && next + count <= all)
                prefetch(call, next, count);
            mw__fused_tile(call, at, count, totals);
        }
    }
}

/* Of short runs as many units as a tile has room for: what they have of their own fills it once for all planes. */
static void run_units(const mw__kernel_call *call, mw__fused_totals *totals, int64_t end)
{
    const mw__fused *fused = call->block;
    const int64_t run = fused->view.run, together = run > 0 && run < MW__TILE ? MW__TILE / run : 1;
    for (int64_t unit = totals->first, last; unit < end; unit = last) {
        last = unit + together < end ? unit + together : end;
        run_planes(call, totals, unit, last);
    }
}

void mw__fused_run_view(const mw__kernel_call *call)
{
    const mw__fused *fused = call->block;
    mw__fused_totals totals;
    const int64_t all = (call->end - call->begin) * fused->view.run;
    mw__fused_fill_scalars(call, all < MW__TILE ? all : MW__TILE);
    for (int64_t first = call->begin; first < call->end; first += MW__VIEW_UNITS) {
        const int64_t units = call->end - first < MW__VIEW_UNITS ? call->end - first : MW__VIEW_UNITS;
        totals.first = first, totals.filled = -1, totals.spread = 0;
        for (size_t i = 0; i < fused->sum_count; i++)
            memset(totals.sum[i], 0, (size_t)units * sizeof *totals.sum[i]);
        run_units(call, &totals, first + units);
        finish_sums(call, &totals, units);
    }
}

/* ---- the sums of columns ---- */

typedef struct column_block {
    int64_t rows, columns, chunks;
    bool mean;
    mw__loop1 *round;
} column_block;

enum { COLUMNS = 64 }; /* of a unit */

static void column_run(const mw__kernel_call *call)
{
    const column_block *s = call->block;
    int64_t at, end;
    mw__units_range(call, COLUMNS, s->columns, &at, &end);
    for (int64_t width; at < end; at += width) {
        double total[COLUMNS] = {0};
        float *out = (float *)call->out[0] + at;
        const float *part = (const float *)call->in[0] + at;
        width = end - at < COLUMNS ? end - at : COLUMNS;
        for (int64_t chunk = 0; chunk < s->chunks; chunk++, part += s->columns)
            MW__VECTORIZE for (int64_t j = 0; j < width; j++) total[j] += (double)part[j];
        for (int64_t j = 0; j < width; j++)
            out[j] = (float)(s->mean ? total[j] / (double)s->rows : total[j]);
        if (s->round != NULL)
            s->round(out, out, width, 0, 0);
    }
}

static int64_t chunks_of(const mw__sum *sum) { return (sum->planes - 1) / MW__REDUCE_ROWS + 1; }

size_t mw__column_partials(const mw__sum *sum) { return (size_t)chunks_of(sum) * (size_t)sum->results * sizeof(float); }

mw__step *mw__column_sums_step(mw__arena *arena, const mw__step *sum, uint32_t partials, mw__level level, mw_error *err)
{
    const mw__sum *columns = mw__step_as_sum(sum);
    column_block *block = mw__arena_alloc(arena, 1, sizeof *block, err);
    mw__step *step = mw__step_create(arena, 1, 1, err);
    if (block == NULL || step == NULL)
        return NULL;
    *block = (column_block){.rows = columns->planes,
                            .columns = columns->results,
                            .chunks = chunks_of(columns),
                            .mean = columns->mean,
                            .round = mw__round_loop(level, columns->round)};
    step->op = sum->op;
    step->report.label = "column_sums";
    step->run = column_run;
    step->block = block;
    step->report.helper = true;
    step->units = (block->columns - 1) / COLUMNS + 1;
    step->cost = mw__cost(4.0 * (double)(block->chunks * block->columns), (double)(block->chunks * block->columns));
    step->reads[step->read_count++] = (mw__step_operand){.buffer = partials, .access = MW__WHOLE};
    step->writes[step->write_count++] =
        (mw__step_operand){.buffer = sum->writes[0].buffer, .access = MW__ROWS, .unit = COLUMNS * sizeof(float)};
    return step;
}
