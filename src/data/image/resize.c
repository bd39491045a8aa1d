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

/* Row i of the result from rows of `in`, all `bytes` wide; sums [bytes]. */
static void make_row(const axis *a, int64_t i, const uint8_t *in, size_t bytes, int32_t *sums, uint8_t *out)
{
    for (size_t x = 0; x < bytes; x++)
        sums[x] = HALF;
    for (int64_t k = 0; k < a->lengths[i]; k++) {
        const int32_t weight = a->weights[i * a->most + k];
        const uint8_t *row = in + (size_t)(a->first[i] + k) * bytes;
        for (size_t x = 0; x < bytes; x++)
            sums[x] += row[x] * weight;
    }
    for (size_t x = 0; x < bytes; x++)
        out[x] = round_sum(sums[x]);
}

/* Both passes; `rows` has the rows of `in` from the first that counts, in their new width. */
static void run_passes(const axis *x, axis *y, const mw__image_view *in, const mw__image_view *out, uint8_t *rows,
                       int32_t *sums)
{
    const int64_t first = y->first[0], end = y->first[y->count - 1] + y->lengths[y->count - 1];
    const size_t bytes = (size_t)(out->width * out->channels);
    for (int64_t i = first; i < end; i++)
        make_columns(x, in->pixels + (size_t)i * in->stride, rows + (size_t)(i - first) * bytes, in->channels);
    for (int64_t i = 0; i < y->count; i++) {
        y->first[i] -= first;
        make_row(y, i, rows, bytes, sums, out->pixels + (size_t)i * out->stride);
    }
}

mw_status mw__image_resize(const mw_allocator *allocator, const mw__image_view *in, const mw__image_box *box,
                           const mw__image_view *out, mw_error *err)
{
    axis x = {0}, y = {0};
    uint8_t *rows = NULL;
    int32_t *sums = NULL;
    const size_t bytes = (size_t)(out->width * out->channels);
    mw_status status = init_axis(&x, allocator, box->left, box->right, in->width, out->width, err);
    if (status == MW_OK)
        status = init_axis(&y, allocator, box->top, box->bottom, in->height, out->height, err);
    if (status == MW_OK) {
        const int64_t touched = y.first[y.count - 1] + y.lengths[y.count - 1] - y.first[0];
        rows = mw__alloc(allocator, (size_t)touched, bytes, err);
        sums = mw__alloc(allocator, bytes, sizeof *sums, err);
        status = rows != NULL && sums != NULL ? MW_OK : MW_ERROR_MEMORY;
    }
    if (status == MW_OK)
        run_passes(&x, &y, in, out, rows, sums);
    mw__free(allocator, rows);
    mw__free(allocator, sums);
    deinit_axis(&x, allocator);
    deinit_axis(&y, allocator);
    return status;
}
