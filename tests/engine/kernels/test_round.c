/* Rounding fp32 to fp16 in place: at every level, to the bit what a conversion there and back gives. */
#include "base/number/bits.h"
#include "base/number/fp16.h"
#include "engine/kernels/math/round.h"
#include "engine/kernels/math/round_chip.h"
#include "engine/run.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

enum { AROUND = 5, HARD = 65536 * AROUND, SWEEP = 1 << 22 };

/* Every half with its neighbors in fp32, and half way to the next half with its neighbors: ties, 65520 and infinity,
 * subnormals, 0, NaN. */
static float hard(int i)
{
    const uint32_t half = mw__bits_of(mw__fp16_to_float((uint16_t)(i / AROUND)));
    switch (i % AROUND) {
    case 0:
        return mw__float_of(half);
    case 1:
        return mw__float_of(half + 1);
    case 2: /* also of subnormals, whose step is wider */
        return (float)(((double)mw__fp16_to_float((uint16_t)(i / AROUND)) +
                        (double)mw__fp16_to_float((uint16_t)(i / AROUND + 1))) /
                       2.0);
    case 3:
        return mw__float_of(half + 0x1000);
    default:
        return mw__float_of(half + 0x1001);
    }
}

static void check_numbers(const float *x, int64_t count, const char *what)
{
    float *wanted = malloc((size_t)count * sizeof *wanted), *got = malloc((size_t)count * sizeof *got);
    REQUIRE(wanted != NULL && got != NULL);
    for (int64_t i = 0; i < count; i++)
        wanted[i] = mw__fp16_to_float(mw__fp16_from_float(x[i]));
    for (int level = MW__LEVEL_REF; level <= (int)level_here(); level++) {
        memcpy(got, x, (size_t)count * sizeof *got);
        mw__round_loop((mw__level)level, MW__ROUND_HALF)(got, got, count, 0.0f, 0.0f);
        for (int64_t i = 0; i < count; i++)
            if (mw__bits_of(got[i]) != mw__bits_of(wanted[i])) {
                check_note(false, __FILE__, __LINE__, "%s, level %d: %08x gives %08x, not %08x", what, level,
                           mw__bits_of(x[i]), mw__bits_of(got[i]), mw__bits_of(wanted[i]));
                break;
            }
    }
    free(wanted);
    free(got);
}

/* What a chip does besides: every sum of it at every level as one number at a time. */
static void check_chip(const float *x, int64_t count)
{
    float *got = malloc((size_t)count * sizeof *got);
    REQUIRE(got != NULL);
    for (unsigned how = MW__ROUND_NUMBER; how <= (MW__ROUND_SLICE | MW__ROUND_NUMBER); how++)
        for (int level = MW__LEVEL_BASE; level <= (int)level_here(); level++) {
            if (how == (MW__ROUND_SLICE | MW__ROUND_HALF)) /* a slice is not rounded */
                continue;
            int64_t wrong = 0;
            mw__round_loop((mw__level)level, how)(got, x, count, 0.0f, 0.0f);
            for (int64_t i = 0; i < count; i++)
                wrong += mw__bits_of(got[i]) != mw__bits_of(mw__round_chip_of(x[i], how));
            check_note(wrong == 0, __FILE__, __LINE__, "rounding %u, level %d: %d of %d differ", how, level, (int)wrong,
                       (int)count);
        }
    free(got);
}

static void test_hard_cases(void)
{
    static float x[HARD];
    for (int i = 0; i < HARD; i++)
        x[i] = hard(i);
    check_chip(x, HARD);
    check_chip(x + 3, 21);
    check_numbers(x, HARD, "hard cases");
    check_numbers(x + 3, HARD - 10, "hard cases, another alignment");
}

/* Of all patterns of bits, one in a thousand. */
static void test_a_sweep_of_all_numbers(void)
{
    float *x = malloc(SWEEP * sizeof *x);
    REQUIRE(x != NULL);
    for (uint32_t i = 0; i < SWEEP; i++)
        x[i] = mw__float_of(i * 1021u);
    check_numbers(x, SWEEP, "sweep");
    free(x);
}

int main(void)
{
    RUN(test_hard_cases);
    RUN(test_a_sweep_of_all_numbers);
    return check_finish();
}
