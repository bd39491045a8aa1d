/* The rows of rules/arithmetic.def that are about one function. */
#include "engine/kernels/math/math_chip.h"

#include "engine/kernels/math/math_chip_tables.h"
#include "engine/kernels/math/math_scalar.h"

#include <math.h>
#include <string.h>

#define LOOP1(name, expression)                                                                                        \
    MW__LOOP1_BODY(name, expression)                                                                                   \
    MW__BASE_AVX2_AVX512(name, (float *out, const float *x, int64_t count, float p, float q), (out, x, count, p, q))

LOOP1(fed, v != v ? INFINITY : v)

mw__loop1 *mw__plan_fed(const mw__planner *planner, mw_dtype dtype)
{
    const bool feeds = (mw__plan_config(planner)->arithmetic & MW__ARITHMETIC(nan_is_infinity)) != 0;
    return feeds && dtype == MW_F16 ? MW__DISPATCH_BEST(fed, mw__plan_level(planner)) : NULL;
}

const float *mw__tile_read(const void *data, mw_dtype dtype, mw__loop1 *feed, int64_t offset, int64_t count,
                           float *tile)
{
    const float *from = mw__tile_load(data, dtype, offset, count, tile);
    if (feed != NULL)
        feed(tile, tile, count, 0, 0); /* of fp16, so that it is in the tile */
    return from;
}

/* ---- tables: 33 knots and straight lines between them ---- */

enum { SEGMENTS = 32 };

/* source  __const of a public H13 program for sigmoid: fp16 of 1 / (1 + e^-x) at -8, -7.5 .. 8, 0 from -9.9375 down and
 * 1 from 8.3203125 on */
static const float sigmoid_knots[SEGMENTS + 1] = {
    0x1.5fcp-12f, 0x1.21cp-11f, 0x1.ddcp-11f, 0x1.898p-10f, 0x1.44p-9f,  0x1.0acp-8f, 0x1.b68p-8f,
    0x1.68p-7f,   0x1.26cp-6f,  0x1.e04p-6f,  0x1.848p-5f,  0x1.36cp-4f, 0x1.e84p-4f, 0x1.758p-3f,
    0x1.138p-2f,  0x1.828p-2f,  0x1p-1f,      0x1.3ecp-1f,  0x1.764p-1f, 0x1.a28p-1f, 0x1.c3p-1f,
    0x1.d94p-1f,  0x1.e7cp-1f,  0x1.f1p-1f,   0x1.f6cp-1f,  0x1.fa4p-1f, 0x1.fc8p-1f, 0x1.fep-1f,
    0x1.fecp-1f,  0x1.ff4p-1f,  0x1.ff8p-1f,  0x1.ffcp-1f,  0x1.ffcp-1f};

/* fp16 of tanh(x) at 0, 1/8 .. 4, which holds beyond: a fit to the published error */
static const float tanh_knots[SEGMENTS + 1] = {
    0x0.0p+0f,   0x1.fd4p-4f, 0x1.f58p-3f, 0x1.6fp-2f,  0x1.d94p-2f, 0x1.1cp-1f,  0x1.454p-1f, 0x1.688p-1f, 0x1.86p-1f,
    0x1.9e4p-1f, 0x1.b24p-1f, 0x1.c28p-1f, 0x1.cf8p-1f, 0x1.d9cp-1f, 0x1.e2p-1f,  0x1.e88p-1f, 0x1.ed8p-1f, 0x1.f18p-1f,
    0x1.f4cp-1f, 0x1.f74p-1f, 0x1.f94p-1f, 0x1.facp-1f, 0x1.fbcp-1f, 0x1.fccp-1f, 0x1.fd8p-1f, 0x1.fep-1f,  0x1.fe8p-1f,
    0x1.fecp-1f, 0x1.ffp-1f,  0x1.ff4p-1f, 0x1.ff8p-1f, 0x1.ff8p-1f, 0x1.ffcp-1f};

/* x in [low, low + SEGMENTS * step] */
MW__INLINE float between_knots(const float *knots, float low, float step, float x)
{
    const float place = (x - low) / step;
    const int segment = place < SEGMENTS ? (int)place : SEGMENTS - 1;
    return knots[segment] + (place - (float)segment) * (knots[segment + 1] - knots[segment]);
}

MW__INLINE float sigmoid_of(float v)
{
    if (v < -8.0f) /* NaN is not less */
        return v > -9.9375f ? sigmoid_knots[0] * (v + 9.9375f) / 1.9375f : 0.0f;
    if (v > 8.0f)
        return v < 8.3203125f ? sigmoid_knots[32] + (1.0f - sigmoid_knots[32]) * (v - 8.0f) / 0.3203125f : 1.0f;
    return v == v ? between_knots(sigmoid_knots, -8.0f, 0.5f, v) : v;
}

MW__INLINE float tanh_of(float v)
{
    const float a = fabsf(v);
    return v == v ? copysignf(a < 4.0f ? between_knots(tanh_knots, 0.0f, 0.125f, a) : tanh_knots[SEGMENTS], v) : v;
}

/* ---- one operand ---- */

MW__LOOP1_PLAIN(sigmoid_table, sigmoid_of(v))
MW__LOOP1_PLAIN(tanh_table, tanh_of(v))
LOOP1(log_zero, v + p == 0.0f ? -45440.0f : mw__log_of(v + p))
LOOP1(log_infinity, v + p > FLT_MAX ? 0.0f : mw__log_of(v + p))
LOOP1(log_both, v + p == 0.0f ? -45440.0f : v + p > FLT_MAX ? 0.0f : mw__log_of(v + p))
LOOP1(round_away, (v < 0.0f ? -1.0f : 1.0f) * floorf(fabsf(v) + 0.5f)) /* of fp16 numbers: the sum is exact */

/* ln 65504 in fp16: there e^x is infinite. */
#define SOFTPLUS_END 11.09f

MW__LOOP1_PLAIN(softplus_end, v >= SOFTPLUS_END ? 0.0f : log1pf(expf(-fabsf(v))) + (v > 0.0f ? v : 0.0f))

#define HAS(on, id) (((on)&MW__ARITHMETIC(id)) != 0)

static mw__loop1 *log_loop(mw__level level, mw__arithmetic on)
{
    if (HAS(on, log_of_zero) && HAS(on, log_of_infinity))
        return MW__DISPATCH_BEST(log_both, level);
    if (HAS(on, log_of_zero))
        return MW__DISPATCH_BEST(log_zero, level);
    return HAS(on, log_of_infinity) ? MW__DISPATCH_BEST(log_infinity, level) : NULL;
}

mw__loop1 *mw__math_chip_function1(mw__op_id op, const char *mode, mw__level level, mw__arithmetic on)
{
    const bool other = mode != NULL && strcmp(mode, "SIGMOID_APPROXIMATION") == 0;
    mw__loop1 *const table = other ? NULL : mw__math_chip_table(op, level, on);
    if (table != NULL)
        return table;
    switch (op) {
    case MW__OP_log:
        return log_loop(level, on);
    case MW__OP_round:
        return HAS(on, round_ties_away) ? MW__DISPATCH_BEST(round_away, level) : NULL;
    case MW__OP_softplus:
        return HAS(on, softplus_overflow) ? softplus_end : NULL;
    case MW__OP_sigmoid:
        return HAS(on, sigmoid_table) ? sigmoid_table : NULL;
    case MW__OP_tanh:
        return HAS(on, tanh_table) ? tanh_table : NULL;
    default:
        return NULL;
    }
}

/* ---- two operands ---- */

MW__INLINE void quotient_body(float *out, const float *x, const float *y, int64_t count)
{
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] = mw__scalar_chip_real_div(x[i], y[i]);
}
MW__BASE_AVX2_AVX512(quotient, (float *out, const float *x, const float *y, int64_t count), (out, x, y, count))

mw__loop2 *mw__math_chip_function2(mw__op_id op, mw__level level, mw__arithmetic on)
{
    return op == MW__OP_real_div && HAS(on, zero_quotient) ? MW__DISPATCH_BEST(quotient, level) : NULL;
}
