/* Products with a matrix that has a one at most in each row (compile/patterns_lookup.c): a row of the table for each of
 * its rows, or, if it is transposed, sums of rows of the other factor, in the order of the product and in its blocks. A
 * row that is not there is zeros, and what is taken is added to 0, which makes -0 of the table 0. */
#include "engine/core/kernel.h"
#include "engine/kernels/gemm/gemm_blocked.h"
#include "engine/kernels/math/math_chip.h"
#include "engine/kernels/pattern_plans.h"

#include "base/number/fp16.h"

#include <string.h>

enum { LOW, HIGH, TABLE }; /* what is read */

typedef struct lookup_block {
    int64_t rows, columns; /* of the matrix */
    int64_t highs, lows;   /* truths for each row; a column is high * lows + low */
    int64_t width;         /* of the table */
    mw_dtype dtype;        /* likewise */
    mw__loop1 *fed;        /* of what is widened; NULL: as it is */
} lookup_block;

/* The place of the only true one of `count`; -1 if there is none. */
static int64_t find_true(const void *truths, int64_t row, int64_t count)
{
    const char *from = (const char *)truths + row * count, *found = memchr(from, 1, (size_t)count);
    return found != NULL ? found - from : -1;
}

/* The column of the one; -1 if the row has none. */
static int64_t column_of(const lookup_block *s, const mw__kernel_call *call, int64_t row)
{
    const int64_t low = find_true(call->in[LOW], row, s->lows);
    const int64_t high = s->highs > 1 ? find_true(call->in[HIGH], row, s->highs) : 0;
    const int64_t column = high * s->lows + low;
    return low >= 0 && high >= 0 && column < s->columns ? column : -1;
}

static void add_numbers(float *sum, const float *x, int64_t count)
{
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) sum[i] += x[i];
}

/* sum += row `row` of the table */
static void add_row(const lookup_block *s, const void *table, int64_t row, float *sum)
{
    if (s->dtype == MW_F32) {
        add_numbers(sum, (const float *)table + row * s->width, s->width);
        return;
    }
    float tile[MW__TILE];
    for (int64_t at = 0, count; at < s->width; at += count) {
        count = s->width - at < MW__TILE ? s->width - at : MW__TILE;
        add_numbers(sum + at, mw__tile_read(table, s->dtype, s->fed, row * s->width + at, count, tile), count);
    }
}

/* A unit is a row of the matrix. */
static void take_run(const mw__kernel_call *call)
{
    const lookup_block *s = call->block;
    for (int64_t row = call->begin; row < call->end; row++) {
        float *out = (float *)call->out[0] + row * s->width;
        const int64_t column = column_of(s, call, row);
        memset(out, 0, (size_t)s->width * sizeof *out);
        if (column >= 0)
            add_row(s, call->in[TABLE], column, out);
    }
}

/* Of `count` rows from `first` on, those that name the column `column[at]`: a sum, added to that row of the result. The
 * others are left for later calls. */
static void add_block(const lookup_block *s, const mw__kernel_call *call, int64_t first, int64_t *column, int64_t at,
                      int64_t count, float *sum)
{
    const int64_t wanted = column[at];
    memset(sum, 0, (size_t)s->width * sizeof *sum);
    for (int64_t i = at; i < count; i++)
        if (column[i] == wanted) {
            add_row(s, call->in[TABLE], first + i, sum);
            column[i] = -1;
        }
    add_numbers((float *)call->out[0] + wanted * s->width, sum, s->width);
}

/* A unit is a column of the matrix, a row of the result. */
static void put_run(const mw__kernel_call *call)
{
    const lookup_block *s = call->block;
    int64_t column[MW__GEMM_DEPTH];
    memset((float *)call->out[0] + call->begin * s->width, 0,
           (size_t)((call->end - call->begin) * s->width) * sizeof(float));
    for (int64_t first = 0; first < s->rows; first += MW__GEMM_DEPTH) {
        const int64_t count = s->rows - first < MW__GEMM_DEPTH ? s->rows - first : MW__GEMM_DEPTH;
        for (int64_t i = 0; i < count; i++) {
            const int64_t found = column_of(s, call, first + i);
            column[i] = found >= call->begin && found < call->end ? found : -1;
        }
        for (int64_t i = 0; i < count; i++)
            if (column[i] >= 0)
                add_block(s, call, first, column, i, count, call->scratch);
    }
}

/* ---- planning ---- */

/* The fp16 that the table is widened from; NULL if it is not. */
static const mw_tensor *half_of(const mw_tensor *table)
{
    const mw_tensor *x = table->op != NULL && strcmp(table->op->kind, "cast") == 0 ? mw__arg(table->op, "x") : NULL;
    return x != NULL && mw__dtype_of(x) == MW_F16 && !mw__is_packed(x) ? x : NULL;
}

static int64_t width_of(const mw_tensor *table) { return mw__shape_of(table).dim[mw__shape_of(table).rank - 1]; }

/* What is one column is summed in lanes, a BLAS has an order of its own. Of what is taken there is but one number to
 * sum. */
bool mw__lookup_suits(const mw__lookup_match *match, const mw__config *config)
{
    const int64_t columns =
        mw__count_of(match->low) / match->rows * (match->high != NULL ? mw__count_of(match->high) / match->rows : 1);
    const int64_t width = width_of(match->table);
    if (mw__dtype_of(match->table) != MW_F32 || mw__dtype_of(match->result) != MW_F32 || mw__is_packed(match->table) ||
        mw__config_sums(config) != MW__SUMS_FREE)
        return false;
    return !match->adds ||
           (columns > 1 && width > 1 && mw__gemm_choose(config, columns, width, match->rows).sgemm == NULL);
}

static void read_truths(mw__planner *planner, mw__step *step, const mw_tensor *truths, int64_t each, bool by_rows)
{
    mw__step_read(planner, step, mw__plan_buffer(planner, truths), by_rows ? MW__ROWS : MW__WHOLE,
                  by_rows ? (size_t)each : 0, false);
}

mw_status mw__plan_lookup(mw__planner *planner, const mw__lookup_match *match, mw_error *err)
{
    lookup_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(match->result) == 0)
        return mw__plan_check(planner, err);
    const mw_tensor *half = half_of(match->table), *from = half != NULL ? half : match->table;
    const mw_shape result = mw__shape_of(match->result);
    *s = (lookup_block){.rows = match->rows, .width = width_of(match->table), .dtype = mw__dtype_of(from)};
    s->lows = mw__count_of(match->low) / s->rows;
    s->highs = match->high != NULL ? mw__count_of(match->high) / s->rows : 1;
    s->columns = match->adds ? result.dim[result.rank - 2] : mw__count_of(from) / s->width;
    s->fed = half != NULL ? mw__plan_fed(planner, MW_F16) : NULL;
    const size_t bytes = (size_t)s->width * sizeof(float);
    const int64_t units = match->adds ? s->columns : s->rows;
    const double moved = (double)(s->rows + units) * (double)bytes + (double)(s->rows * (s->highs + s->lows));
    mw__step *step = mw__plan_step(planner, match->adds ? put_run : take_run, match->adds ? "lookup.add" : "lookup",
                                   units, mw__cost(moved, (double)(s->rows * s->width)));
    step->block = s;
    step->scratch = match->adds ? bytes : 0;
    read_truths(planner, step, match->low, s->lows, !match->adds);
    read_truths(planner, step, match->high != NULL ? match->high : match->low, s->highs > 1 ? s->highs : s->lows,
                !match->adds);
    mw__step_read(planner, step, mw__plan_buffer(planner, from), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->result), MW__ROWS, bytes);
    return mw__plan_check(planner, err);
}
