/* Half precision: the portable form against the definition, the bulk forms against the portable one, bit for bit. */
#include "base/number/fp16.h"
#include "support/check.h"

#include <stdlib.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The value of a finite half by the definition of the format. */
static double value_of(uint16_t half)
{
    const int exponent = half >> 10 & 31;
    const double magnitude = exponent == 0 ? ldexp(half & 1023, -24) : ldexp(1024 + (half & 1023), exponent - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

/* The nearest half by search in the ordered list of values; 65536 stands for infinity. */
static uint16_t nearest_half(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double magnitude = fabs(value);
    uint16_t low = 0, high = 0x7c00; /* value_of(0x7c00) is 65536 by the same formula */
    if (magnitude >= 65536)
        return sign | 0x7c00;
    while (high - low > 1) {
        const uint16_t middle = (uint16_t)((low + high) / 2);
        if (value_of(middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    const double below = magnitude - value_of(low), above = value_of(high) - magnitude;
    const bool up = above < below || (above == below && (low & 1) != 0);
    return sign | (up ? high : low);
}

static void test_to_float_is_exact_for_every_half(void)
{
    static uint16_t halves[65536];
    static float portable[65536], bulk[65536];
    for (int i = 0; i < 65536; i++)
        halves[i] = (uint16_t)i;
    mw__fp16_to_float_n_ref(portable, halves, 65536);
    mw__fp16_to_float_n(bulk, halves, 65536);
    CHECK(memcmp(portable, bulk, sizeof bulk) == 0);
    for (int i = 0; i < 65536; i++) {
        if ((i & 0x7c00) != 0x7c00)
            CHECK(bits_of(portable[i]) == bits_of((float)value_of((uint16_t)i)));
        else if ((i & 0x3ff) == 0)
            CHECK(portable[i] == (i & 0x8000 ? -INFINITY : INFINITY));
        else
            CHECK(isnan(portable[i]) && mw__fp16_from_float(portable[i]) == (i | 0x200));
    }
}

static void test_every_half_survives_the_round_trip(void)
{
    for (int i = 0; i < 65536; i++) {
        const float value = mw__fp16_to_float((uint16_t)i);
        const int expected = isnan(value) ? i | 0x200 : i;
        CHECK_INT(mw__fp16_from_float(value), expected);
        CHECK_INT(mw__fp16_from_double((double)value), expected);
    }
}

/* Around each value and each half-way point: the float itself and its neighbors. */
static void test_from_float_rounds_to_nearest_even_at_every_boundary(void)
{
    for (int i = 0; i < 0x7c00; i++) {
        const double value = value_of((uint16_t)i);
        const double points[2] = {value, (value + value_of((uint16_t)(i + 1))) / 2};
        for (int k = 0; k < 2; k++) {
            const uint32_t bits = bits_of((float)points[k]);
            for (uint32_t near = bits < 2 ? 0 : bits - 2; near <= bits + 2; near++) {
                CHECK_INT(mw__fp16_from_float(float_of(near)), nearest_half((double)float_of(near)));
                CHECK_INT(mw__fp16_from_float(-float_of(near)), nearest_half(-(double)float_of(near)));
            }
        }
    }
}

static void test_from_double_rounds_once(void)
{
    for (int i = 0; i < 0x7c00; i++) {
        const double half_way = (value_of((uint16_t)i) + value_of((uint16_t)(i + 1))) / 2;
        /* The two lie closer to the half-way point than a float can tell. */
        CHECK_INT(mw__fp16_from_double(nextafter(half_way, 1e9)), i + 1);
        CHECK_INT(mw__fp16_from_double(nextafter(half_way, 0)), i);
        CHECK_INT(mw__fp16_from_double(half_way), i + (i & 1));
        CHECK_INT(mw__fp16_from_double(-nextafter(half_way, 1e9)), (i + 1) | 0x8000);
    }
    CHECK_INT(mw__fp16_from_double(1e300), 0x7c00);
    CHECK_INT(mw__fp16_from_double(-INFINITY), 0xfc00);
    CHECK_INT(mw__fp16_from_double(-1e-300), 0x8000);
    CHECK_INT(mw__fp16_from_double(0x1p-1074), 0);
    CHECK_INT(mw__fp16_from_double(NAN) & 0x7e00, 0x7e00);
}

/* Converts a run of float bit patterns both ways and compares. */
enum { RUN_LENGTH = 4096 };

static bool run_agrees(uint32_t first, uint32_t stride)
{
    static float in[RUN_LENGTH];
    static uint16_t bulk[RUN_LENGTH], portable[RUN_LENGTH];
    for (uint32_t i = 0; i < RUN_LENGTH; i++)
        in[i] = float_of(first + i * stride);
    mw__fp16_from_float_n(bulk, in, RUN_LENGTH);
    mw__fp16_from_float_n_ref(portable, in, RUN_LENGTH);
    return memcmp(bulk, portable, sizeof bulk) == 0;
}

static void test_bulk_from_float_has_the_bits_of_the_portable_form(void)
{
    const uint32_t stride = 509; /* prime: all low bits occur */
    for (uint64_t first = 0; first <= UINT32_MAX; first += (uint64_t)stride * RUN_LENGTH)
        REQUIRE(run_agrees((uint32_t)first, stride));
    /* all floats around the edges: zero, half of the smallest subnormal, the smallest, the smallest normal, the
     * largest, the overflow threshold, infinity, quiet and signaling NaN */
    const uint32_t edges[] = {0x00000000, 0x33000000, 0x33800000, 0x38800000, 0x477fe000,
                              0x477ff000, 0x7f800000, 0x7fc00000, 0x7fa00000};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        CHECK(run_agrees(edges[i] - RUN_LENGTH / 2, 1));
        CHECK(run_agrees((edges[i] | 0x80000000) - RUN_LENGTH / 2, 1));
    }
}

static void test_bulk_from_float_is_exhaustively_portable(void)
{
    if (getenv("MW_NIGHTLY") == NULL)
        SKIP("set MW_NIGHTLY to compare all 2^32 floats");
    for (uint64_t first = 0; first <= UINT32_MAX; first += RUN_LENGTH)
        REQUIRE(run_agrees((uint32_t)first, 1));
}

static void test_bulk_converts_every_count_and_nothing_beyond(void)
{
    for (size_t count = 0; count < 40; count++) {
        float in[40], back[41];
        uint16_t out[41];
        for (size_t i = 0; i < 40; i++)
            in[i] = (float)i * 0.37f - 5.0f;
        out[count] = 0xabcd;
        back[count] = 42.0f;
        mw__fp16_from_float_n(out, in, count);
        mw__fp16_to_float_n(back, out, count);
        for (size_t i = 0; i < count; i++) {
            CHECK_INT(out[i], nearest_half((double)in[i]));
            CHECK(back[i] == (float)value_of(out[i]));
        }
        CHECK_INT(out[count], 0xabcd);
        CHECK(back[count] == 42.0f);
    }
}

/* bfloat16 is the upper half of a float: its neighbors are floats with a zero lower half. */
static void test_bf16_rounds_once(void)
{
    for (uint32_t i = 0; i < 0x7f80; i++) {
        const double low = (double)float_of(i << 16);
        const double high = i == 0x7f7f ? 0x1p128 : (double)float_of((i + 1) << 16);
        const double half_way = (low + high) / 2;
        CHECK_INT(mw__bf16_from_double(low), i);
        CHECK_INT(mw__bf16_from_double(-half_way), (i + (i & 1)) | 0x8000);
        CHECK_INT(mw__bf16_from_double(nextafter(half_way, INFINITY)), i + 1);
        CHECK_INT(mw__bf16_from_double(nextafter(half_way, 0)), i);
        CHECK(bits_of(mw__bf16_to_float((uint16_t)i)) == i << 16);
    }
    CHECK_INT(mw__bf16_from_double(-INFINITY), 0xff80);
    CHECK(isnan(mw__bf16_to_float(mw__bf16_from_double(NAN))));
}

int main(void)
{
    RUN(test_to_float_is_exact_for_every_half);
    RUN(test_every_half_survives_the_round_trip);
    RUN(test_from_float_rounds_to_nearest_even_at_every_boundary);
    RUN(test_from_double_rounds_once);
    RUN(test_bulk_from_float_has_the_bits_of_the_portable_form);
    RUN(test_bulk_from_float_is_exhaustively_portable);
    RUN(test_bulk_converts_every_count_and_nothing_beyond);
    RUN(test_bf16_rounds_once);
    return check_finish();
}
