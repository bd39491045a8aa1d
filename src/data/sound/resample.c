/* Each sample of the result is a weighted sum. Its place between two samples of the source is one of `up` fractions,
 * for which the weights are made once, unless that is more than fits into 4 MiB. */
#include "data/sound/resample.h"

#include <math.h>

enum { ZEROS = 64, ROWS_MAX = 1 << 20 };
#define ROLLOFF 0.95
#define BETA    10.0

int64_t mw__sound_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

mw__resampler mw__resampler_make(int64_t rate_from, int64_t rate_to)
{
    const int64_t common = mw__sound_common_divisor(rate_from, rate_to);
    mw__resampler r = {.up = rate_to / common, .down = rate_from / common};
    if (r.up == r.down)
        return r;
    const double lower = fmin(1.0, (double)rate_to / (double)rate_from);
    r.cutoff = ROLLOFF * lower;
    r.half = ZEROS / lower;
    r.reach = (int64_t)ceil(r.half);
    return r;
}

int64_t mw__resampler_length(const mw__resampler *r, int64_t count) { return (count * r->up + r->down - 1) / r->down; }

void mw__resampler_range(const mw__resampler *r, int64_t from, int64_t to, int64_t *out_first, int64_t *out_end)
{
    *out_first = from * r->down / r->up - r->reach;
    *out_end = (to - 1) * r->down / r->up + r->reach + 1;
}

/* ---- weights ---- */

/* The modified Bessel function of the first kind, order 0, by its series. */
static double bessel(double x)
{
    double sum = 1.0, term = 1.0;
    for (int i = 1; i < 60 && term > sum * 1e-17; i++) {
        term *= x * x / (4.0 * i * i);
        sum += term;
    }
    return sum;
}

static double weight_at(const mw__resampler *r, double t)
{
    const double pi = 3.14159265358979323846, u = t / r->half, angle = pi * r->cutoff * t;
    if (fabs(u) >= 1.0)
        return 0.0;
    const double sinc = fabs(angle) < 1e-9 ? 1.0 : sin(angle) / angle;
    return r->cutoff * sinc * bessel(BETA * sqrt(1.0 - u * u)) / bessel(BETA);
}

/* Of samples base - reach .. base + reach, for a sample of the result at base + phase / up. */
static void fill_row(const mw__resampler *r, int64_t phase, float *row)
{
    const double fraction = (double)phase / (double)r->up;
    for (int64_t j = 0; j <= 2 * r->reach; j++)
        row[j] = (float)weight_at(r, fraction + (double)(r->reach - j));
}

/* ---- sums ---- */

/* In four parts, which a processor adds at the same time. */
static double weighted_sum(const float *in, const float *weights, int64_t count)
{
    double sums[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++)
            sums[k] += (double)in[i + k] * (double)weights[i + k];
    for (; i < count; i++)
        sums[0] += (double)in[i] * (double)weights[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static float sum_around(const mw__resampler *r, const float *in, int64_t first, int64_t end, int64_t base,
                        const float *row)
{
    const int64_t low = base - r->reach, high = base + r->reach + 1;
    const int64_t from = low > first ? low : first, to = high < end ? high : end;
    return from < to ? (float)weighted_sum(in + (from - first), row + (from - low), to - from) : 0.0f;
}

static void copy_samples(const float *in, int64_t first, int64_t end, int64_t from, int64_t to, float *out)
{
    for (int64_t n = from; n < to; n++)
        out[n - from] = n >= first && n < end ? in[n - first] : 0.0f;
}

mw_status mw__resampler_run(const mw__resampler *r, const mw_allocator *allocator, const float *in, int64_t first,
                            int64_t end, int64_t from, int64_t to, float *out, mw_error *err)
{
    const int64_t row = 2 * r->reach + 1;
    const bool all = r->up <= ROWS_MAX / row;
    if (r->reach == 0) {
        copy_samples(in, first, end, from, to, out);
        return MW_OK;
    }
    float *rows = mw__alloc(allocator, (size_t)(all ? r->up * row : row), sizeof *rows, err);
    if (rows == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t phase = 0; all && phase < r->up; phase++)
        fill_row(r, phase, rows + phase * row);
    for (int64_t n = from; n < to; n++) {
        const int64_t at = n * r->down, phase = at % r->up;
        if (!all)
            fill_row(r, phase, rows);
        out[n - from] = sum_around(r, in, first, end, at / r->up, all ? rows + phase * row : rows);
    }
    mw__free(allocator, rows);
    return MW_OK;
}
