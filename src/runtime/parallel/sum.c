/* Sums over ranks, in their order. Blocks stay in the first cache while all parts are added. */
#include "base/number/fp16.h"
#include "runtime/parallel/communicator.h"

enum { BLOCK = 2048 };

static void add_f32(float *out, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] += x[i];
}

static void sum_f32(float *out, const void *const *parts, size_t part_count, size_t first, size_t count)
{
    float sum[BLOCK];
    for (size_t i = 0; i < count; i++)
        sum[i] = ((const float *)parts[0])[first + i];
    for (size_t p = 1; p < part_count; p++)
        add_f32(sum, (const float *)parts[p] + first, count);
    for (size_t i = 0; i < count; i++)
        out[first + i] = sum[i];
}

static void sum_f64(double *out, const void *const *parts, size_t part_count, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        double sum = ((const double *)parts[0])[i];
        for (size_t p = 1; p < part_count; p++)
            sum += ((const double *)parts[p])[i];
        out[i] = sum;
    }
}

/* The sum of two halves is exact in fp32 but for its rounding, which fp32's does not change: 24 bits are 2 * 11 + 2. */
static void sum_f16(uint16_t *out, const void *const *parts, size_t part_count, size_t first, size_t count)
{
    float sum[BLOCK], x[BLOCK];
    uint16_t rounded[BLOCK];
    mw__fp16_to_float_n(sum, (const uint16_t *)parts[0] + first, count);
    for (size_t p = 1; p < part_count; p++) {
        mw__fp16_to_float_n(x, (const uint16_t *)parts[p] + first, count);
        add_f32(sum, x, count);
        mw__fp16_from_float_n(rounded, sum, count);
        mw__fp16_to_float_n(sum, rounded, count);
    }
    mw__fp16_from_float_n(out + first, sum, count);
}

void mw__sum_in_order(mw_dtype dtype, void *out, const void *const *parts, size_t part_count, size_t count)
{
    for (size_t first = 0; first < count; first += BLOCK) {
        const size_t length = count - first < BLOCK ? count - first : BLOCK;
        if (dtype == MW_F32)
            sum_f32(out, parts, part_count, first, length);
        else if (dtype == MW_F64)
            sum_f64(out, parts, part_count, first, length);
        else
            sum_f16(out, parts, part_count, first, length);
    }
}

/* ---- narrower on the way ---- */

void mw__widen(mw_dtype narrow, float *out, const uint16_t *x, size_t count)
{
    if (narrow == MW_F16)
        mw__fp16_to_float_n(out, x, count);
    else
        mw__bf16_to_float_n(out, x, count);
}

void mw__sum_narrow(mw_dtype narrow, float *out, const void *const *parts, size_t part_count, size_t count)
{
    float x[BLOCK];
    for (size_t first = 0; first < count; first += BLOCK) {
        const size_t length = count - first < BLOCK ? count - first : BLOCK;
        mw__widen(narrow, out + first, (const uint16_t *)parts[0] + first, length);
        for (size_t p = 1; p < part_count; p++) {
            mw__widen(narrow, x, (const uint16_t *)parts[p] + first, length);
            add_f32(out + first, x, length);
        }
    }
}

static void narrow_block(mw_dtype narrow, uint16_t *out, const float *x, float *carried, size_t count)
{
    float wanted[BLOCK], got[BLOCK];
    for (size_t i = 0; i < count; i++)
        wanted[i] = x[i] + carried[i];
    if (narrow == MW_F16)
        mw__fp16_from_float_n(out, wanted, count);
    else
        mw__bf16_from_float_n(out, wanted, count);
    mw__widen(narrow, got, out, count);
    for (size_t i = 0; i < count; i++)
        carried[i] = wanted[i] - got[i];
}

void mw__sum_narrow_and_carry(mw_dtype narrow, uint16_t *out, const float *x, float *carried, size_t count)
{
    for (size_t first = 0; first < count; first += BLOCK) {
        const size_t length = count - first < BLOCK ? count - first : BLOCK;
        narrow_block(narrow, out + first, x + first, carried + first, length);
    }
}
