/* What is asked of operands before fixed-point sums are taken (gemm_fixed.h): how large rows and columns are, and the
 * marks and limits of a panel of A. */
#include "engine/kernels/gemm/gemm_fixed.h"
#include "engine/kernels/math/math_scalar.h"

#include <string.h>

#define PART  256 /* elements that are added in fp32 */
#define LANES 16

typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef uint32_t words __attribute__((vector_size(LANES * sizeof(uint32_t))));

/* Of `count` numbers the sum of the squares, the bits of the largest, and every bit that one of them has. */
typedef struct measures {
    double square;
    uint32_t most, any;
} measures;

/* Up to PART numbers. */
MW__INLINE void measure_part(const float *x, int64_t count, measures *m)
{
    floats square = {0};
    words most = {0}, any = {0};
    for (int64_t i = 0; i < count; i += LANES) {
        words bits = {0};
        memcpy(&bits, x + i, (size_t)(count - i < LANES ? count - i : LANES) * sizeof *x);
        const words size = bits & 0x7fffffffu, larger = (words)(size > most);
        square += (floats)bits * (floats)bits;
        most = (size & larger) | (most & ~larger);
        any |= bits;
    }
    for (int l = 0; l < LANES; l++) {
        m->square += (double)square[l];
        m->most = most[l] > m->most ? most[l] : m->most;
        m->any |= any[l];
    }
}

MW__INLINE void measure_row_body(const float *x, int64_t count, measures *m)
{
    int64_t at = 0;
    for (; at + PART <= count; at += PART)
        measure_part(x + at, PART, m);
    measure_part(x + at, count - at, m);
}
MW__BASE_AVX2_AVX512(measure_row, (const float *x, int64_t count, measures *m), (x, count, m))

/* `count` <= MW__FIXED_COLUMNS lanes side by side, for some k. */
typedef struct lanes_measures {
    float square[MW__FIXED_COLUMNS];
    uint32_t most[MW__FIXED_COLUMNS], any[MW__FIXED_COLUMNS];
} lanes_measures;

MW__INLINE void measure_lanes_body(const float *x, int64_t count, int64_t k, int64_t step, lanes_measures *m)
{
    for (int64_t p = 0; p < k; p++)
        MW__VECTORIZE for (int64_t l = 0; l < count; l++)
        {
            const float v = x[p * step + l];
            const uint32_t bits = mw__bits_of(v), size = bits & 0x7fffffffu;
            m->square[l] += v * v;
            m->most[l] = size > m->most[l] ? size : m->most[l];
            m->any[l] |= bits;
        }
}
MW__BASE_AVX2_AVX512(measure_lanes, (const float *x, int64_t count, int64_t k, int64_t step, lanes_measures *m),
                     (x, count, k, step, m))

/* fp16 numbers have zeros in the last 13 bits of fp32; subnormal ones too. */
static mw__fixed_extent extent_of(double square, uint32_t most, uint32_t any)
{
    const bool plain = most < 0x7f800000u && (any & 0x1fffu) == 0;
    return (mw__fixed_extent){.square = (float)(square * (1.0 + 0x1p-10)), .most = mw__float_of(most), .plain = plain};
}

static mw__fixed_extent side_by_side_extent(mw__level level, const float *from, int64_t count, int64_t k, int64_t step)
{
    double square[MW__FIXED_COLUMNS] = {0}, largest = 0.0;
    uint32_t most = 0, any = 0;
    for (int64_t p = 0; p < k; p += PART) {
        lanes_measures m = {0};
        MW__DISPATCH_BEST(measure_lanes, level)(from + p * step, count, k - p < PART ? k - p : PART, step, &m);
        for (int64_t l = 0; l < count; l++) {
            square[l] += (double)m.square[l];
            most = m.most[l] > most ? m.most[l] : most;
            any |= m.any[l];
        }
    }
    for (int64_t l = 0; l < count; l++)
        largest = square[l] > largest ? square[l] : largest;
    return extent_of(largest, most, any);
}

mw__fixed_extent mw__fixed_extent_of(mw__level level, const float *from, int64_t count, int64_t k, int64_t step,
                                     bool side_by_side)
{
    if (side_by_side)
        return side_by_side_extent(level, from, count, k, step);
    measures all = {0};
    for (int64_t l = 0; l < count; l++) {
        measures m = {.most = all.most, .any = all.any};
        MW__DISPATCH_BEST(measure_row, level)(from + l * step, k, &m);
        all.square = m.square > all.square ? m.square : all.square;
        all.most = m.most, all.any = m.any;
    }
    return extent_of(all.square, all.most, all.any);
}

/* ---- panels ---- */

/* What of B is dropped beside a: exponents that sum to -17 and less, of which subnormal numbers have -14. */
MW__INLINE float limit_of(uint32_t a)
{
    const uint32_t exponent = a & 0x7f800000u, least = 113u << 23, all = 125u << 23;
    const uint32_t counted = exponent < least ? least : exponent;
    return mw__float_of(counted >= all ? 0u : (238u << 23) - counted);
}

MW__INLINE void mark_body(float *a, float *limits, int64_t count)
{
    if (limits != NULL)
        MW__VECTORIZE for (int64_t i = 0; i < count; i++) limits[i] = limit_of(mw__bits_of(a[i]));
    /* but of 0, which would become subnormal: multiplying that takes a hundred times as long */
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) a[i] = mw__float_of(mw__bits_of(a[i]) | (a[i] != 0.0f));
}
MW__BASE_AVX2_AVX512(mark, (float *a, float *limits, int64_t count), (a, limits, count))

void mw__fixed_mark(mw__level level, float *a, float *limits, int64_t count)
{
    MW__DISPATCH_BEST(mark, level)(a, limits, count);
}
