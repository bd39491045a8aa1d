/* Integers: limits, rounding up, their bits, and those of files. */
#include "base/number/bits.h"
#include "base/number/bytes.h"
#include "base/number/integer.h"
#include "support/check.h"

static void test_limits_hold_on_both_sides(void)
{
    CHECK_INT(mw__i64_min(-1, 2), -1);
    CHECK_INT(mw__i64_max(-1, 2), 2);
    CHECK_INT(mw__i64_clamp(-5, 0, 7), 0);
    CHECK_INT(mw__i64_clamp(5, 0, 7), 5);
    CHECK_INT(mw__i64_clamp(9, 0, 7), 7);
}

static void test_rounding_up_keeps_multiples(void)
{
    CHECK_INT(mw__i64_divide_up(0, 16), 0);
    CHECK_INT(mw__i64_divide_up(16, 16), 1);
    CHECK_INT(mw__i64_divide_up(17, 16), 2);
    CHECK_INT(mw__i64_round_up(32, 16), 32);
    CHECK_INT(mw__i64_round_up(33, 16), 48);
    CHECK_INT(mw__u64_round_up(1, 0x4000), 0x4000);
    CHECK_INT(mw__size_round_up(65, 64), 128);
}

static void test_bits_are_counted_and_signs_extended(void)
{
    CHECK_INT(mw__bit_length(0), 0);
    CHECK_INT(mw__bit_length(1), 1);
    CHECK_INT(mw__bit_length(255), 8);
    CHECK_INT(mw__bit_length(UINT64_MAX), 64);
    CHECK_INT(mw__bits_sign_extend(7, 4), 7);
    CHECK_INT(mw__bits_sign_extend(8, 4), -8);
    CHECK_INT(mw__bits_sign_extend(0xff, 8), -1);
    CHECK_INT(mw__bits_sign_extend(UINT64_MAX, 64), -1);
}

static void test_the_lowest_byte_of_a_file_comes_first(void)
{
    static const unsigned char bytes[] = {0xff, 0x01, 0x82, 0x03, 0x84, 0x05, 0x86, 0x07, 0x88};
    CHECK_INT(mw__bytes_u16(bytes + 1), 0x8201);
    CHECK_INT(mw__bytes_u32(bytes + 1), 0x84038201);
    CHECK(mw__bytes_u64(bytes + 1) == UINT64_C(0x8807860584038201));
}

int main(void)
{
    RUN(test_limits_hold_on_both_sides);
    RUN(test_rounding_up_keeps_multiples);
    RUN(test_bits_are_counted_and_signs_extended);
    RUN(test_the_lowest_byte_of_a_file_comes_first);
    return check_finish();
}
