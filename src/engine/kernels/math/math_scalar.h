/* What element-wise functions compute of one element: inline, so that the loops of math.c and math_pair.c and the
 * fusion groups of precompiled.def are made of the same expressions. Elementary functions are written without
 * branches, so that loops over them vectorize; their coefficients are minimax fits (Remez in 60 digits or more) to the
 * functions named beside them. NaN stays NaN. */
#ifndef MW__ENGINE_KERNELS_MATH_SCALAR_H
#define MW__ENGINE_KERNELS_MATH_SCALAR_H

#include "base/number/bits.h"
#include "engine/core/kernel.h"

#include <float.h>
#include <math.h>

/* ln 2 in two parts; the first has few bits, so that its product with an exponent is exact. */
#define LN2_HIGH 0.693359375f
#define LN2_LOW  -2.12194440e-4f

/* e^x = 2^exponent (1 + p). */
typedef struct mw__powers {
    float p;
    int32_t exponent; /* garbage for NaN, whose p is NaN */
} mw__powers;

/* e^x = 2^n e^r, |r| <= ln(2)/2, n x's nearest multiple of ln 2. */
MW__INLINE mw__powers mw__powers_of(float x)
{
    const float rounder = 12582912.0f; /* 1.5 * 2^23: adding it leaves an integer in the low bits */
    const float shifted = x * 1.44269504f + rounder;
    const float n = shifted - rounder;
    const float r = (x - n * LN2_HIGH) - n * LN2_LOW;
    const float q =
        5.000000068e-01f +
        r * (1.666666587e-01f +
             r * (4.166629457e-02f +
                  r * (8.333497283e-03f + r * (1.394468833e-03f + r * 1.979029347e-04f)))); /* (e^r-1-r)/r^2 */
    return (mw__powers){r + r * r * q, (int32_t)(mw__bits_of(shifted) - 0x4b400000u)};
}

/* x 2^exponent, |exponent| <= 160: in two factors, so that overflow gives inf and subnormal results are rounded. */
MW__INLINE float mw__scale(float x, int32_t exponent)
{
    const int32_t half = exponent >> 1;
    return x * mw__float_of((uint32_t)(half + 127) << 23) * mw__float_of((uint32_t)(exponent - half + 127) << 23);
}

MW__INLINE float mw__exp_of(float x)
{
    float v = x < -104.0f ? -104.0f : x;
    v = v > 89.0f ? 89.0f : v;
    const mw__powers e = mw__powers_of(v);
    return mw__scale(1.0f + e.p, e.exponent);
}

/* The same bits of an x that is below 40, as those up to 0 are: the first product is exact, and the second rounds what
 * is subnormal. */
MW__INLINE float mw__exp_below(float x)
{
    const mw__powers e = mw__powers_of(x < -104.0f ? -104.0f : x);
    return (1.0f + e.p) * mw__float_of((uint32_t)(e.exponent + 191) << 23) * 0x1p-64f;
}

/* ln(2^e m) = e ln 2 + ln(1 + f), f = m - 1, m in [sqrt(1/2), sqrt(2)), of 2^added x, which is normal and above 0. */
MW__INLINE float mw__log_normal(float x, float added)
{
    const uint32_t bits = mw__bits_of(x), root = 0x3f3504f3u;
    const int32_t exponent = (int32_t)(bits - root) >> 23;
    const float m = mw__float_of(bits - ((uint32_t)exponent << 23)), f = m - 1.0f;
    const float e = (float)exponent - added;
    float p = 6.915456884e-02f; /* (ln(1+f) - f + f^2/2) / f^3 */
    p = p * f - 1.178985767e-01f;
    p = p * f + 1.187296079e-01f;
    p = p * f - 1.238434083e-01f;
    p = p * f + 1.421866028e-01f;
    p = p * f - 1.666925127e-01f;
    p = p * f + 2.000222645e-01f;
    p = p * f - 2.499998659e-01f;
    p = p * f + 3.333331044e-01f;
    const float square = f * f;
    return (f + ((square * f * p + e * LN2_LOW) - 0.5f * square)) + e * LN2_HIGH;
}

MW__INLINE float mw__log_of(float x)
{
    const bool tiny = x < FLT_MIN; /* 2^23: subnormals become normal */
    const float result = mw__log_normal(tiny ? x * 8388608.0f : x, tiny ? 23.0f : 0.0f);
    const float special = x < 0.0f ? NAN : x == 0.0f ? -INFINITY : x; /* inf and NaN stay */
    return ((x > 0.0f) & (x <= FLT_MAX)) ? result : special;
}

/* Near 0 an odd polynomial, else 1 - erfc = 1 - e^-q. */
MW__INLINE float mw__erf_of(float x)
{
    const float a = fabsf(x), t = x * x, u = a > 4.0f ? 4.0f : a; /* erf(4) rounds to 1 */
    float p = 8.362310425e-05f;                                   /* erf(x)/x - 1 in x^2, |x| < 0.927 */
    p = p * t - 8.141481215e-04f;
    p = p * t + 5.200990070e-03f;
    p = p * t - 2.685941353e-02f;
    p = p * t + 1.128369650e-01f;
    p = p * t - 3.761263386e-01f;
    p = p * t + 1.28379167e-01f;
    float q = 2.116214870e-05f; /* -ln(1 - erf(u)), 0.92 <= u <= 4 */
    q = q * u - 4.352217062e-04f;
    q = q * u + 4.174656755e-03f;
    q = q * u - 2.512866087e-02f;
    q = q * u + 1.082940028e-01f;
    q = q * u + 6.333346021e-01f;
    q = q * u + 1.129520848e+00f;
    q = q * u - 1.758797487e-04f;
    const float far = 1.0f - mw__exp_below(-q);
    return copysignf(a < 0.924f ? a + a * p : far, x);
}

/* Near 0 an odd polynomial, else 1 - 2 / (e^2x + 1). */
MW__INLINE float mw__tanh_of(float x)
{
    const float a = fabsf(x), t = x * x, u = a > 10.0f ? 10.0f : a; /* tanh(10) rounds to 1 */
    float p = -5.660786657e-03f;                                    /* (tanh(x) - x) / x^3 in x^2, |x| < 0.632 */
    p = p * t + 2.060200506e-02f;
    p = p * t - 5.372922896e-02f;
    p = p * t + 1.333132894e-01f;
    p = p * t - 3.333327831e-01f;
    const float far = 1.0f - 2.0f / (mw__exp_of(2.0f * u) + 1.0f);
    return copysignf(a < 0.625f ? a + a * t * p : far, x);
}

/* e^-|x| never overflows. */
MW__INLINE float mw__sigmoid_of(float x)
{
    const float e = mw__exp_below(-fabsf(x));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* v rounded to fp16: adding 2^13 times its power of two leaves 11 bits, or a multiple of 2^-24 below 2^-14; 2^16 times
 * 2^112 overflows, and no fp16 number does. The sign is that of v also for 0 and NaN, whose payload is cut. */
MW__INLINE float mw__round_to_half(float v)
{
    const uint32_t bits = mw__bits_of(v);
    int32_t power = (int32_t)(bits & 0x7f800000u);
    power = power < 0x38800000 ? 0x38800000 : power;
    power = power > 0x47800000 ? 0x47800000 : power;
    const float much = mw__float_of((uint32_t)power + (13u << 23)), a = mw__float_of(bits & 0x7fffffffu);
    const float rounded = (((a + much) - much) * 0x1p112f) * 0x1p-112f;
    return mw__float_of((mw__bits_of(rounded) & 0x7fffe000u) | (bits & 0x80000000u));
}

#define MW__SQRT_8_OVER_PI 1.59576912160573071f
#define MW__SQRT_HALF      0.707106781186547524f

/* 2^x = 2^n 2^r, n the nearest integer: as mw__exp_of. */
MW__INLINE float mw__exp2_of(float x)
{
    const float rounder = 12582912.0f;
    float v = x < -151.0f ? -151.0f : x;
    v = v > 129.0f ? 129.0f : v;
    const float shifted = v + rounder, r = v - (shifted - rounder);
    float p = 1.559467572e-04f; /* (2^r - 1) / r */
    p = p * r + 1.340664386e-03f;
    p = p * r + 9.617692980e-03f;
    p = p * r + 5.550310551e-02f;
    p = p * r + 2.402265278e-01f;
    p = p * r + 6.931472150e-01f;
    return mw__scale(1.0f + r * p, (int32_t)(mw__bits_of(shifted) - 0x4b400000u));
}

/* e^x - 1 for x <= 0: 2^n (e^r - 1) + (2^n - 1). */
MW__INLINE float mw__expm1_of(float x)
{
    const mw__powers e = mw__powers_of(x < -20.0f ? -20.0f : x);
    const float power = mw__float_of((uint32_t)(e.exponent + 127) << 23);
    return power * e.p + (power - 1.0f);
}

/* log(1 + u) for 0 <= u <= 1: what rounding 1 + u loses is put back, and so is NaN. */
MW__INLINE float mw__log1p_of(float u)
{
    const float sum = 1.0f + u;
    return mw__log_normal(sum, 0.0f) + (u - (sum - 1.0f)) / sum;
}

MW__INLINE float mw__softplus_of(float x) { return mw__log1p_of(mw__exp_below(-fabsf(x))) + (x > 0.0f ? x : 0.0f); }

/* e^|x| / 2, which overflows later than e^|x|. */
MW__INLINE float mw__exp_halved(float x)
{
    const float a = fabsf(x);
    const mw__powers e = mw__powers_of(a > 90.0f ? 90.0f : a);
    return mw__scale(1.0f + e.p, e.exponent - 1);
}

/* Below 1 an odd polynomial. */
MW__INLINE float mw__sinh_of(float x)
{
    const float a = fabsf(x), t = x * x, half = mw__exp_halved(x);
    float p = 2.816951224e-06f; /* (sinh(x) - x) / x^3 in x^2 */
    p = p * t + 1.983615978e-04f;
    p = p * t + 8.333350058e-03f;
    p = p * t + 1.666666650e-01f;
    return copysignf(a < 1.0f ? a + a * t * p : half - 0.25f / half, x);
}

MW__INLINE float mw__cosh_of(float x)
{
    const float half = mw__exp_halved(x);
    return half + 0.25f / half;
}

/* Below 1/2 an odd polynomial, else log((1 + |x|) / (1 - |x|)) / 2. */
MW__INLINE float mw__atanh_of(float x)
{
    const float a = fabsf(x), t = x * x;
    float p = 1.766911791e-01f; /* (atanh(x) - x) / x^3 in x^2 */
    p = p * t + 5.135825125e-02f;
    p = p * t + 1.182372949e-01f;
    p = p * t + 1.422276221e-01f;
    p = p * t + 2.000251827e-01f;
    p = p * t + 3.333330007e-01f;
    return copysignf(a < 0.5f ? a + a * t * p : 0.5f * mw__log_of((1.0f + a) / (1.0f - a)), x);
}

/* pi/2 = MW__HALF_PI + MW__HALF_PI_LOW */
#define MW__HALF_PI     1.57079637e+00f
#define MW__HALF_PI_LOW -4.37113883e-08f

/* By the angle of 0, pi/4 or pi/2 that is next: atan(x) = base + atan(z), |z| <= tan(pi/8). */
MW__INLINE float mw__atan_of(float x)
{
    const float a = fabsf(x);
    const bool near = a<0.414213562f, far = a> 2.41421356f;
    const float above = near ? a : far ? -1.0f : a - 1.0f, below = near ? 1.0f : far ? a : a + 1.0f;
    const float base = near ? 0.0f : far ? MW__HALF_PI : 0.5f * MW__HALF_PI;
    const float low = near ? 0.0f : far ? MW__HALF_PI_LOW : 0.5f * MW__HALF_PI_LOW;
    const float z = above / below, t = z * z;
    float p = 8.053621276e-02f; /* (atan(z) - z) / z^3 in z^2 */
    p = p * t - 1.387764955e-01f;
    p = p * t + 1.997770755e-01f;
    p = p * t - 3.333294908e-01f;
    return copysignf(base + (z + (z * t * p + low)), x);
}

/* asin of sqrt(t), 0 <= t <= 1/4, less sqrt(t), in units of it. */
MW__INLINE float mw__asin_beyond(float t)
{
    float p = 4.216630820e-02f; /* (asin(x) - x) / x^3 in x^2 */
    p = p * t + 2.417951482e-02f;
    p = p * t + 4.547037592e-02f;
    p = p * t + 7.495297644e-02f;
    return t * (p * t + 1.666675248e-01f);
}

/* Above 1/2 by the half angle: asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)). */
MW__INLINE float mw__asin_of(float x)
{
    const float a = fabsf(x);
    const float t = a < 0.5f ? x * x : 0.5f * (1.0f - a), root = a < 0.5f ? a : sqrtf(t);
    const float angle = root * mw__asin_beyond(t);
    return copysignf(a < 0.5f ? a + angle : MW__HALF_PI - (2.0f * (root + angle) - MW__HALF_PI_LOW), x);
}

MW__INLINE float mw__acos_of(float x)
{
    const float a = fabsf(x);
    const float t = a < 0.5f ? x * x : 0.5f * (1.0f - a), root = a < 0.5f ? x : sqrtf(t);
    const float angle = root * mw__asin_beyond(t);
    const float far = 2.0f * (root + angle);
    const float turned = x < 0.0f ? 2.0f * MW__HALF_PI - (far - 2.0f * MW__HALF_PI_LOW) : far;
    return a < 0.5f ? MW__HALF_PI - (root + (angle - MW__HALF_PI_LOW)) : turned;
}

/* ---- by operation; p and q are its scalar arguments ---- */

#define MW__SCALAR1(name, expression)                                                                                  \
    MW__INLINE float mw__scalar_##name(float v, float p, float q)                                                      \
    {                                                                                                                  \
        (void)p, (void)q;                                                                                              \
        return (expression);                                                                                           \
    }
#define MW__SCALAR2(name, expression)                                                                                  \
    MW__INLINE float mw__scalar_##name(float a, float b) { return (expression); }

MW__SCALAR1(abs, fabsf(v))
MW__SCALAR1(sign, v != v ? v : (float)((v > 0.0f) - (v < 0.0f)))
MW__SCALAR1(square, v *v)
MW__SCALAR1(sqrt, sqrtf(v))
MW__SCALAR1(rsqrt, 1.0f / sqrtf(v + p))
MW__SCALAR1(inverse, 1.0f / (v + p))
MW__SCALAR1(relu, ((v > 0.0f) | (v != v)) ? v : 0.0f)
MW__SCALAR1(relu6, (v < 0.0f ? 0.0f : v) > 6.0f ? 6.0f : (v < 0.0f ? 0.0f : v))
MW__SCALAR1(clip, (v < p ? p : v) > q ? q : (v < p ? p : v))
MW__SCALAR1(exp, mw__exp_of(v))
MW__SCALAR1(log, mw__log_of(v + p))
MW__SCALAR1(erf, mw__erf_of(v))
MW__SCALAR1(tanh, mw__tanh_of(v))
MW__SCALAR1(sigmoid, mw__sigmoid_of(v))
MW__SCALAR1(silu, v *mw__sigmoid_of(v))
MW__SCALAR1(gelu_exact, 0.5f * v * (1.0f + mw__erf_of(v * MW__SQRT_HALF)))
/* (1 + tanh u) / 2 = sigmoid(2 u), which loses nothing for negative u. */
MW__SCALAR1(gelu_tanh, v *mw__sigmoid_of(MW__SQRT_8_OVER_PI *(v + 0.044715f * v * v * v)))
MW__SCALAR1(gelu_sigmoid, v *mw__sigmoid_of(1.702f * v))
MW__SCALAR1(exp2, mw__exp2_of(v))
MW__SCALAR1(sinh, mw__sinh_of(v))
MW__SCALAR1(cosh, mw__cosh_of(v))
MW__SCALAR1(atanh, mw__atanh_of(v))
MW__SCALAR1(atan, mw__atan_of(v))
MW__SCALAR1(asin, mw__asin_of(v))
MW__SCALAR1(acos, mw__acos_of(v))
MW__SCALAR1(elu, ((v > 0.0f) | (v != v)) ? v : p *mw__expm1_of(v))
MW__SCALAR1(softplus, mw__softplus_of(v))
MW__SCALAR1(softplus_parametric, p *mw__softplus_of(q *v))
MW__SCALAR1(scaled_tanh, p *mw__tanh_of(q *v))

MW__SCALAR2(add, a + b)
MW__SCALAR2(sub, a - b)
MW__SCALAR2(mul, a *b)
MW__SCALAR2(real_div, a / b)
MW__SCALAR2(chip_real_div, b == 0.0f ? 0.0f : a / b) /* rules/arithmetic.def: zero_quotient */
MW__SCALAR2(maximum, ((a > b) | (a != a)) ? a : b)   /* NaN propagates */
MW__SCALAR2(minimum, ((a < b) | (a != a)) ? a : b)

#endif
