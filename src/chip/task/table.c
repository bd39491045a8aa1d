/* Reading tables of activations, and their value at a number. */
#include "chip/task/table.h"

#include "base/number/fp16.h"

#include <math.h>

enum { SEGMENTS = MW__TABLE_KNOTS - 1, TAILS = 37, STEP_MAX = 64, POWER_MAX = 1024 /* more than fp32 has */ };

/* What of x the knots are over. */
struct mw__chip_table_mode {
    unsigned mode;
    float (*value)(const mw__chip_table *table, float x);
    const char *name;
};

/* The line through the knots at `place` steps from the first; the outermost knots beyond them, whatever a file says. */
static float between(const mw__chip_table *t, float place)
{
    place = place > 0.0f ? fminf(place, SEGMENTS) : 0.0f;
    const int segment = place < SEGMENTS ? (int)place : SEGMENTS - 1;
    return t->knots[segment] + (place - (float)segment) * (t->knots[segment + 1] - t->knots[segment]);
}

/* Over [-16 steps, 16 steps], with lines outside. */
static float over_both_sides(const mw__chip_table *t, float x)
{
    const float end = SEGMENTS / 2 * t->step;
    if (x < -end)
        return t->slope[0] * x + t->above[0];
    if (x > end)
        return t->slope[1] * x + t->above[1];
    return between(t, (x + end) / t->step);
}

/* Over |x| in [0, 32 steps]; odd. */
static float over_positive(const mw__chip_table *t, float x)
{
    const float a = fabsf(x), end = SEGMENTS * t->step;
    const float y = a > end ? t->slope[1] * a + t->above[1] : between(t, a / t->step);
    return copysignf(y, x);
}

/* 2^f of the fraction f of x log2 e, then the exponent. */
static float over_fraction(const mw__chip_table *t, float x)
{
    const float scaled = fmaxf(-POWER_MAX, fminf(x * 0x1.715476p+0f, POWER_MAX)), whole = floorf(scaled);
    return ldexpf(between(t, (scaled - whole) / t->step), (int)whole);
}

/* 1 / m of the mantissa m in [0.5, 1]; odd. */
static float over_mantissa_inverse(const mw__chip_table *t, float x)
{
    int power = 0;
    const float mantissa = frexpf(fabsf(x), &power);
    return copysignf(ldexpf(between(t, (mantissa - 0.5f) / t->step), -power), x);
}

/* log2 of the mantissa m in [0.5, 1], and the exponent. */
static float over_mantissa_log(const mw__chip_table *t, float x)
{
    int power = 0;
    const float mantissa = frexpf(x, &power);
    return between(t, (mantissa - 0.5f) / t->step) + (float)power;
}

/* x = m 4^k with m in [0.5, 2); the root is that of m times 2^(k sign). */
static float over_mantissa_root(const mw__chip_table *t, float x, int sign)
{
    int power = 0;
    float mantissa = frexpf(x, &power);
    if (power % 2 != 0) {
        mantissa *= 2.0f;
        power--;
    }
    return ldexpf(between(t, mantissa / t->step), sign * power / 2);
}

static float over_root(const mw__chip_table *t, float x) { return over_mantissa_root(t, x, 1); }
static float over_inverse_root(const mw__chip_table *t, float x) { return over_mantissa_root(t, x, -1); }

static const mw__chip_table_mode modes[] = {
    {0x01, over_both_sides, "sigmoid, silu, gelu, leaky relu, max and min with a number"},
    {0x60, over_positive, "tanh"},
    {0x0a, over_fraction, "exp"},
    {0x67, over_mantissa_inverse, "reciprocal"},
    {0xc9, over_mantissa_log, "log2"},
    {0xc5, over_root, "sqrt"},
    {0xc6, over_inverse_root, "rsqrt"},
};

enum { MODES = sizeof modes / sizeof *modes };

const char *mw__chip_table_mode_name(size_t index, unsigned *out_mode)
{
    if (index >= MODES)
        return NULL;
    *out_mode = modes[index].mode;
    return modes[index].name;
}

static const mw__chip_table_mode *find_mode(unsigned mode)
{
    for (size_t i = 0; i < MODES; i++)
        if (modes[i].mode == mode)
            return &modes[i];
    return NULL;
}

static unsigned word_of(const uint8_t *data, int index) { return data[2 * index] | (unsigned)data[2 * index + 1] << 8; }

static float number_of(const uint8_t *data, int index) { return mw__fp16_to_float((uint16_t)word_of(data, index)); }

mw_status mw__chip_table_read(const uint8_t *data, size_t size, mw__chip_table *out, mw_error *err)
{
    if (size < 2 * (size_t)MW__TABLE_NUMBERS)
        return mw__fail(err, MW_ERROR_FORMAT, "table of an activation: %zu bytes, and it takes %d", size,
                        2 * MW__TABLE_NUMBERS);
    const unsigned step = word_of(data, MW__TABLE_STEP), mode = word_of(data, MW__TABLE_MODE);
    mw__chip_table t = {.mode = find_mode(mode), .step = ldexpf(1.0f, -(int)(step <= STEP_MAX ? step : STEP_MAX))};
    if (t.mode == NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "table of an activation: mode 0x%x, which nobody has explained",
                        mode);
    if (step > STEP_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "table of an activation: knots 2^-%u apart; %d is the largest that is known", step, STEP_MAX);
    t.low = number_of(data, 0);
    t.high = number_of(data, 1);
    t.at_low = number_of(data, 2);
    t.at_high = number_of(data, 3);
    for (int i = 0; i < MW__TABLE_KNOTS; i++)
        t.knots[i] = number_of(data, 4 + i);
    for (int i = 0; i < 2; i++) {
        t.slope[i] = number_of(data, TAILS + 2 * i);
        t.above[i] = number_of(data, TAILS + 1 + 2 * i);
    }
    *out = t;
    return MW_OK;
}

float mw__chip_table_at(const mw__chip_table *t, float x)
{
    if (x != x)
        return x;
    if (x <= t->low)
        return t->at_low;
    if (x >= t->high)
        return t->at_high;
    return t->mode->value(t, x);
}

const uint16_t *mw__chip_table_sigmoid(void)
{
    static const uint16_t numbers[MW__TABLE_NUMBERS] = {
        0xc8f8, 0x4829, 0x0000, 0x3c00, 0x0d7f, 0x1087, 0x1377, 0x1626, 0x1910, 0x1c2b, 0x1eda,
        0x21a0, 0x249b, 0x2781, 0x2a12, 0x2cdb, 0x2fa1, 0x31d6, 0x344e, 0x360a, 0x3800, 0x38fb,
        0x39d9, 0x3a8a, 0x3b0c, 0x3b65, 0x3b9f, 0x3bc4, 0x3bdb, 0x3be9, 0x3bf2, 0x3bf8, 0x3bfb,
        0x3bfd, 0x3bfe, 0x3bff, 0x3bff, 0x09ac, 0x170c, 0x163e, 0x3be6, 1,      1};
    return numbers;
}
