/* Two passes of weighted sums: along the rows, then along the columns. Weights are rounded to 22 bits of fraction, so
 * that sums of bytes are exact and the same on every machine. */
#include "data/image/resize.h"

#include <math.h>
#include <string.h>

enum { FRACTION = 22, HALF = 1 << (FRACTION - 1) };

/* Which pixels of one axis make pixel i of the result, and how much of each. */
typedef struct axis {
    int64_t count;    /* pixels of the result */
    int64_t most;     /* weights of one */
    int64_t *first;   /* [count] the first pixel that counts */
    int64_t *lengths; /* [count] */
    int32_t *weights; /* [count, most] */
} axis;

/* ---- weights ---- */

static void deinit_axis(axis *a, const mw_allocator *allocator)
{
    mw__free(allocator, a->first);
    mw__free(allocator, a->lengths);
    mw__free(allocator, a->weights);
}

static double triangle(double x) { return fabs(x) < 1.0 ? 1.0 - fabs(x) : 0.0; }

/* Pixel i covers from + i * scale .. from + (i + 1) * scale of `extent` pixels. */
static void weigh_pixel(axis *a, int64_t i, double from, double scale, int64_t extent)
{
    const double reach = scale > 1.0 ? scale : 1.0, center = from + ((double)i + 0.5) * scale;
    const double low = center - reach + 0.5, high = center + reach + 0.5;
    const int64_t first = low > 0.0 ? (int64_t)low : 0, end = high < (double)extent ? (int64_t)high : extent;
    int32_t *weights = a->weights + i * a->most;
    double sum = 0.0;
    a->first[i] = first;
    a->lengths[i] = end - first;
    for (int64_t k = first; k < end; k++)
        sum += triangle(((double)k - center + 0.5) / reach);
    for (int64_t k = first; k < end && sum > 0.0; k++)
        weights[k - first] =
            (int32_t)(triangle(((double)k - center + 0.5) / reach) / sum * (double)(1 << FRACTION) + 0.5);
}

static mw_status init_axis(axis *a, const mw_allocator *allocator, double from, double to, int64_t extent,
                           int64_t count, mw_error *err)
{
    const double scale = (to - from) / (double)count;
    *a = (axis){.count = count, .most = 2 * (int64_t)ceil(scale > 1.0 ? scale : 1.0) + 1};
    a->first = mw__alloc(allocator, (size_t)count, sizeof *a->first, err);
    a->lengths = mw__alloc(allocator, (size_t)count, sizeof *a->lengths, err);
    a->weights = mw__alloc(allocator, (size_t)(count * a->most), sizeof *a->weights, err);
    if (a->first == NULL || a->lengths == NULL || a->weights == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++)
        weigh_pixel(a, i, from, scale, extent);
    return MW_OK;
}

/* ---- sums ---- */

/* Weights are not negative and sum to 1 but for their rounding. */
static uint8_t round_sum(int32_t sum) { return (uint8_t)(sum >> FRACTION > 255 ? 255 : sum >> FRACTION); }

/* One row for its new width; `channels` is a constant where this is called. */
static inline void shrink_row(const axis *a, const uint8_t *in, uint8_t *out, int channels)
{
    for (int64_t i = 0; i < a->count; i++, out += channels) {
        const uint8_t *pixel = in + a->first[i] * channels;
        const int32_t *weights = a->weights + i * a->most;
        int32_t sums[4] = {HALF, HALF, HALF, HALF};
        for (int64_t k = 0; k < a->lengths[i]; k++, pixel += channels)
            for (int c = 0; c < channels; c++)
                sums[c] += pixel[c] * weights[k];
        for (int c = 0; c < channels; c++)
            out[c] = round_sum(sums[c]);
    }
}

static void make_columns(const axis *a, const uint8_t *in, uint8_t *out, int channels)
{
    if (channels == 1)
        shrink_row(a, in, out, 1);
    else if (channels == 3)
        shrink_row(a, in, out, 3);
    else
        shrink_row(a, in, out, channels);
}

/* ---- rows of the result in the making ---- */

/* A row of the picture counts for a few rows of the result: no other is held. Both ends of what counts for a row grow
 * from row to row, so that rows are finished in their order. */
typedef struct rows_begun {
    const axis *y;
    size_t bytes;     /* of a row of the result */
    int64_t held;     /* the most rows that are begun at the same time */
    int64_t finished; /* rows of the result */
    uint8_t *row;     /* [bytes] a row of the picture in its new width */
    int32_t *sums;    /* [held, bytes]; row i is number i % held */
} rows_begun;

static int64_t end_of(const axis *a, int64_t i) { return a->first[i] + a->lengths[i]; }

static int64_t count_begun(const axis *y)
{
    int64_t most = 1, next = 0;
    for (int64_t i = 0; i < y->count; i++) {
        while (next < y->count && y->first[next] < end_of(y, i))
            next++;
        most = next - i > most ? next - i : most;
    }
    return most;
}

static mw_status init_rows(rows_begun *rows, const mw_allocator *allocator, const axis *y, size_t bytes, mw_error *err)
{
    *rows = (rows_begun){.y = y, .bytes = bytes, .held = count_begun(y)};
    rows->row = mw__alloc(allocator, bytes, 1, err);
    rows->sums = mw__alloc(allocator, (size_t)rows->held * bytes, sizeof *rows->sums, err);
    return rows->row != NULL && rows->sums != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static void deinit_rows(rows_begun *rows, const mw_allocator *allocator)
{
    mw__free(allocator, rows->row);
    mw__free(allocator, rows->sums);
}

static void add_row(const rows_begun *rows, int32_t *sums, int32_t weight, bool is_first)
{
    for (size_t x = 0; is_first && x < rows->bytes; x++)
        sums[x] = HALF;
    for (size_t x = 0; x < rows->bytes; x++)
        sums[x] += rows->row[x] * weight;
}

/* Adds row `at` of the picture, which lies in rows->row, to all that it counts for. */
static void spread_row(rows_begun *rows, int64_t at, const mw__image_view *out)
{
    const axis *y = rows->y;
    for (int64_t i = rows->finished; i < y->count && y->first[i] <= at; i++) {
        int32_t *sums = rows->sums + (size_t)(i % rows->held) * rows->bytes;
        add_row(rows, sums, y->weights[i * y->most + at - y->first[i]], at == y->first[i]);
        if (at + 1 < end_of(y, i))
            continue;
        uint8_t *to = out->pixels + (size_t)i * out->stride;
        for (size_t x = 0; x < rows->bytes; x++)
            to[x] = round_sum(sums[x]);
        rows->finished = i + 1;
    }
}

static void run_passes(const axis *x, rows_begun *rows, const mw__image_view *in, const mw__image_view *out)
{
    const axis *y = rows->y;
    for (int64_t at = y->first[0]; at < end_of(y, y->count - 1); at++) {
        make_columns(x, in->pixels + (size_t)at * in->stride, rows->row, in->channels);
        spread_row(rows, at, out);
    }
}

mw_status mw__image_resize(const mw_allocator *allocator, const mw__image_view *in, const mw__image_box *box,
                           const mw__image_view *out, mw_error *err)
{
    axis x = {0}, y = {0};
    rows_begun rows = {0};
    mw_status status = init_axis(&x, allocator, box->left, box->right, in->width, out->width, err);
    if (status == MW_OK)
        status = init_axis(&y, allocator, box->top, box->bottom, in->height, out->height, err);
    if (status == MW_OK)
        status = init_rows(&rows, allocator, &y, (size_t)(out->width * out->channels), err);
    if (status == MW_OK)
        run_passes(&x, &rows, in, out);
    deinit_rows(&rows, allocator);
    deinit_axis(&x, allocator);
    deinit_axis(&y, allocator);
    return status;
}
