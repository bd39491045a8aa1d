/* Proves by interval arithmetic that no value a fusion group looks at is beyond its limit, so that a check before an
 * update mostly costs one look at what it reads: the least and the largest of each operand bound every value behind it.
 * Where that proves nothing, as where a mean is divided by a root near 0, the values themselves are computed.
 *
 * What is computed differs from an interval's ends by rounding, which RELATIVE and the least number of the type make
 * room for: fp16 rounds by 2^-11 at most, ties to even or away. */
#include "engine/kernels/fused/fused_code.h"

#include "base/number/bits.h"
#include "base/number/fp16.h"
#include "engine/kernels/math/round.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define RELATIVE   0x1p-9
#define HALF_MOST  65504.0
#define HALF_LEAST 0x1p-24

typedef mw__interval interval;

/* ---- what operations make of intervals: false where the result may be no number ---- */

static bool is_finite(interval x) { return x.low >= -DBL_MAX && x.high <= DBL_MAX; }

static interval hull(double a, double b, double c, double d)
{
    return (interval){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d))};
}

static bool of_add(interval x, interval y, const float *pq, interval *out)
{
    (void)pq;
    *out = (interval){x.low + y.low, x.high + y.high};
    return is_finite(x) && is_finite(y);
}

static bool of_sub(interval x, interval y, const float *pq, interval *out)
{
    return of_add(x, (interval){-y.high, -y.low}, pq, out);
}

static bool of_mul(interval x, interval y, const float *pq, interval *out)
{
    (void)pq;
    *out = hull(x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high);
    return is_finite(x) && is_finite(y);
}

static bool of_real_div(interval x, interval y, const float *pq, interval *out)
{
    (void)pq;
    if (!is_finite(x) || !is_finite(y) || !(y.low > 0.0 || y.high < 0.0))
        return false;
    *out = hull(x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high);
    return true;
}

static bool of_maximum(interval x, interval y, const float *pq, interval *out)
{
    (void)pq;
    *out = (interval){fmax(x.low, y.low), fmax(x.high, y.high)};
    return true;
}

static bool of_abs(interval x, interval y, const float *pq, interval *out)
{
    (void)y, (void)pq;
    *out = (interval){fmax(0.0, fmax(x.low, -x.high)), fmax(-x.low, x.high)};
    return true;
}

static bool of_square(interval x, interval y, const float *pq, interval *out)
{
    (void)of_abs(x, y, pq, &x);
    *out = (interval){x.low * x.low, x.high * x.high};
    return is_finite(x);
}

static bool of_sqrt(interval x, interval y, const float *pq, interval *out)
{
    (void)y, (void)pq;
    *out = (interval){sqrt(fmax(x.low, 0.0)), sqrt(fmax(x.high, 0.0))};
    return is_finite(x) && x.low >= 0.0;
}

static bool of_clip(interval x, interval y, const float *pq, interval *out)
{
    const double low = (double)pq[0], high = (double)pq[1];
    (void)y;
    *out = (interval){fmin(fmax(x.low, low), high), fmin(fmax(x.high, low), high)};
    return true;
}

static bool of_sign(interval x, interval y, const float *pq, interval *out)
{
    (void)x, (void)y, (void)pq;
    *out = (interval){-1.0, 1.0};
    return true;
}

static const struct {
    const char *name; /* of the operation */
    mw__interval_rule *bound;
} bounds[] = {{"add", of_add},         {"sub", of_sub},  {"mul", of_mul},       {"real_div", of_real_div},
              {"maximum", of_maximum}, {"abs", of_abs},  {"square", of_square}, {"sqrt", of_sqrt},
              {"clip", of_clip},       {"sign", of_sign}};

static mw__interval_rule *bound_of(const mw__fused_code *code)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (bounds[i].name[0] == code->name[0] && strcmp(bounds[i].name, code->name) == 0)
            return (code->how & (MW__ROUND_CEILING | MW__ROUND_SLICE)) == 0 ? bounds[i].bound : NULL;
    return NULL;
}

/* What rounding makes of it. */
static interval rounded(const mw__fused_code *code, interval v)
{
    const bool half = (code->how & MW__ROUND_HALF) != 0;
    const double most = half ? HALF_MOST : (double)FLT_MAX;
    const double least = (code->how & MW__ROUND_FLUSH) != 0 ? 0x1p-14 : half ? HALF_LEAST : (double)FLT_MIN;
    if (!code->exact)
        v = (interval){v.low - fabs(v.low) * RELATIVE - least, v.high + fabs(v.high) * RELATIVE + least};
    return (interval){v.low < -most ? -INFINITY : v.low, v.high > most ? INFINITY : v.high};
}

/* ---- the least and the largest of a tile ---- */

/* Bits of fp16 and of fp32 as whole numbers in the order of what they mean; a NaN is beyond the infinities. */
MW__INLINE void half_range_body(const void *data, int64_t count, double *out)
{
    const int16_t *x = data;
    int16_t low = INT16_MAX, high = INT16_MIN;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const int16_t key = (int16_t)(x[i] ^ ((x[i] >> 15) & INT16_MAX));
        low = key < low ? key : low, high = key > high ? key : high;
    }
    out[0] = (double)mw__fp16_to_float((uint16_t)(low ^ ((low >> 15) & INT16_MAX)));
    out[1] = (double)mw__fp16_to_float((uint16_t)(high ^ ((high >> 15) & INT16_MAX)));
}

MW__INLINE void single_range_body(const void *data, int64_t count, double *out)
{
    const int32_t *x = data;
    int32_t low = INT32_MAX, high = INT32_MIN;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const int32_t key = x[i] ^ ((x[i] >> 31) & INT32_MAX);
        low = key < low ? key : low, high = key > high ? key : high;
    }
    out[0] = (double)mw__float_of((uint32_t)(low ^ ((low >> 31) & INT32_MAX)));
    out[1] = (double)mw__float_of((uint32_t)(high ^ ((high >> 31) & INT32_MAX)));
}

MW__BASE_AVX2_AVX512(half_range, (const void *data, int64_t count, double *out), (data, count, out))
MW__BASE_AVX2_AVX512(single_range, (const void *data, int64_t count, double *out), (data, count, out))

/* ---- the proof ---- */

static bool has_range(const mw__fused_operand *o)
{
    return (o->dtype == MW_F16 || o->dtype == MW_F32) && o->form != MW__SPREAD;
}

void mw__fused_choose_proof(mw__fused *fused, mw__level level)
{
    bool proves = fused->store_count == 0 && fused->sum_count == 0 && fused->watch_count > 0 && level != MW__LEVEL_REF;
    for (size_t i = 0; i < fused->operand_count; i++)
        proves = proves && has_range(&fused->operands[i]);
    for (size_t i = 0; i < fused->code_count; i++) {
        fused->code[i].bound = bound_of(&fused->code[i]);
        proves = proves && fused->code[i].bound != NULL;
    }
    fused->half_range = proves ? MW__DISPATCH_BEST(half_range, level) : NULL;
    fused->single_range = proves ? MW__DISPATCH_BEST(single_range, level) : NULL;
}

/* False if there is a NaN. */
static bool range_of(const mw__fused *fused, size_t index, const void *data, int64_t at, int64_t count, interval *out)
{
    const mw__fused_operand *o = &fused->operands[index];
    const int64_t first = o->form == MW__SCALAR ? 0 : at;
    double range[2];
    (o->dtype == MW_F16 ? fused->half_range : fused->single_range)((const char *)data + (size_t)first * o->size,
                                                                   o->form == MW__SCALAR ? 1 : count, range);
    *out = (interval){range[0], range[1]};
    return range[0] <= range[1];
}

bool mw__fused_proves(const mw__kernel_call *call, int64_t at, int64_t count)
{
    const mw__fused *fused = call->block;
    interval value[MW__FUSED_VALUES];
    bool proved = fused->half_range != NULL;
    for (size_t i = 0; i < fused->operand_count && proved; i++)
        proved = range_of(fused, i, call->in[i], at, count, &value[i]);
    for (size_t i = 0; i < fused->code_count && proved; i++) {
        const mw__fused_code *code = &fused->code[i];
        proved = code->bound(value[code->in[0]], value[code->in[1]], fused->pq[i], &value[code->out]);
        value[code->out] = proved ? rounded(code, value[code->out]) : value[code->out];
    }
    for (size_t i = 0; i < fused->watch_count && proved; i++) {
        const interval *v = &value[fused->watches[i].value];
        proved = fmax(-v->low, v->high) <= (double)fused->watches[i].limit;
    }
    return proved;
}
