/* Numbers as text, against the C library in the C locale (which rounds correctly) and against exact half-way points. */
#include "base/number/fp16.h"
#include "base/number/number.h"
#include "base/number/random.h"
#include "support/check.h"

#include <locale.h>
#include <stdlib.h>

static bool read(const char *text, mw__number_format format, double *out)
{
    return mw__number_read(text, strlen(text), format, out);
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static void check_against_library(const char *text)
{
    double value = 0;
    if (CHECK(read(text, MW__NUMBER_F64, &value)))
        check_note(same_bits(value, strtod(text, NULL)), __FILE__, __LINE__, "double of %.80s is %a, not %a", text,
                   value, strtod(text, NULL));
    if (CHECK(read(text, MW__NUMBER_F32, &value)))
        check_note(same_bits(value, (double)strtof(text, NULL)), __FILE__, __LINE__, "float of %.80s is %a, not %a",
                   text, value, (double)strtof(text, NULL));
}

/* [-]ddd.ddd[e+-xx] with `digits` random digits */
static void random_decimal(mw__random *random, char *out, int digits, int exponent_range)
{
    char *at = out;
    if (mw__random_below(random, 2) == 1)
        *at++ = '-';
    const int point = (int)mw__random_below(random, (uint64_t)digits + 1);
    for (int i = 0; i < digits; i++) {
        if (i == point)
            *at++ = '.';
        *at++ = (char)('0' + mw__random_below(random, 10));
    }
    const int exponent = (int)mw__random_below(random, 2 * (uint64_t)exponent_range + 1) - exponent_range;
    snprintf(at, 32, "e%d", exponent);
}

static void test_random_decimals_agree_with_the_c_library(void)
{
    mw__random random = {.seed = 1};
    static char text[2100];
    for (int i = 0; i < 60000; i++) {
        random_decimal(&random, text, 1 + i % 22, i % 3 == 0 ? 30 : 340);
        check_against_library(text);
    }
    for (int i = 0; i < 1500; i++) {
        random_decimal(&random, text, 1 + (int)mw__random_below(&random, 2000), 400);
        check_against_library(text);
    }
}

static void test_random_floats_print_and_read_back(void)
{
    mw__random random = {.seed = 2};
    for (int i = 0; i < 60000; i++) {
        const uint32_t word = mw__random_u32(&random);
        float value;
        memcpy(&value, &word, sizeof value);
        if (isnan(value))
            continue;
        char text[MW__NUMBER_MAX];
        const size_t length = mw__number_print_float(text, value);
        CHECK_INT(strlen(text), length);
        CHECK(strtof(text, NULL) == value);
        char shorter[64]; /* no correctly rounded text of one digit less reads back */
        int digits = 0;
        for (const char *at = text; *at != '\0' && *at != 'e'; at++)
            digits += *at >= '0' && *at <= '9';
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2 > 0 ? digits - 2 : 0, (double)value);
        const bool plain = strchr(text, 'e') == NULL; /* its zeros are not all significant */
        CHECK(plain || digits == 1 || strtof(shorter, NULL) != value);
    }
}

/* Fifteen digits whose nearest double is a half-way point of float although they are not: rounding that double again
 * would go to even, wherever the digits lie. About one text in ten is such a trap. */
static void test_short_decimals_beside_half_way_points_of_float_round_once(void)
{
    mw__random random = {.seed = 5};
    for (int i = 0; i < 20000; i++) {
        const double low = ldexp((double)(0x800000 + mw__random_below(&random, 0x800000)), (int)(i % 60) - 40);
        char text[64];
        snprintf(text, sizeof text, "%.14e", (low + (double)nextafterf((float)low, INFINITY)) / 2);
        check_against_library(text);
    }
}

/* Exact text of a double, and of that plus or minus less than anything that a double could tell. */
static void test_half_way_points_of_fp16_round_once(void)
{
    for (int i = 0; i < 0x7c00; i++) {
        const double low = (double)mw__fp16_to_float((uint16_t)i);
        const double high = i == 0x7bff ? 65536.0 : (double)mw__fp16_to_float((uint16_t)(i + 1));
        const double half_way = (low + high) / 2;
        const double over = high == 65536.0 ? INFINITY : high;
        char text[128];
        double value;
        const int length = snprintf(text, sizeof text, "%.40f", half_way); /* exact: at most 25 places */
        REQUIRE(read(text, MW__NUMBER_F16, &value));
        CHECK(value == (i & 1 ? over : low));
        snprintf(text + length, sizeof text - (size_t)length, "00000000000000000001");
        REQUIRE(read(text, MW__NUMBER_F16, &value));
        CHECK(value == over);
        snprintf(text, sizeof text, "%.60f", nextafter(half_way, 0));
        REQUIRE(read(text, MW__NUMBER_F16, &value));
        CHECK(value == low);
        snprintf(text, sizeof text, "-%a", nextafter(half_way, 1e9));
        REQUIRE(read(text, MW__NUMBER_F16, &value));
        CHECK(value == -over);
    }
}

/* The case that a detour through float or double gets wrong. */
static void test_double_rounding_traps(void)
{
    static const struct {
        mw__number_format format;
        const char *text;
        double expected;
    } traps[] = {
        {MW__NUMBER_F16, "1.00048828125", 1.0},                        /* half way, to even */
        {MW__NUMBER_F16, "1.0004882812500000001", 0x1.004p+0},         /* just above; as a double, half way */
        {MW__NUMBER_F16, "1.00048828124999999999999", 1.0},            /* just below */
        {MW__NUMBER_F16, "1.00146484375", 0x1.008p+0},                 /* half way, to even is up */
        {MW__NUMBER_F16, "1.0014648437499999999999", 0x1.004p+0},      /* just below */
        {MW__NUMBER_F16, "0x1.0020000000000000000001p+0", 0x1.004p+0}, /* more digits than a double holds */
        {MW__NUMBER_F16, "0x1.002p+0", 1.0},
        {MW__NUMBER_F16, "2.98023223876953125e-8", 0.0}, /* half of the smallest subnormal */
        {MW__NUMBER_F16, "2.980232238769531250000000001e-8", 0x1p-24},
        {MW__NUMBER_F16, "65519.99999999999999999", 65504.0},
        {MW__NUMBER_F16, "65520", INFINITY},
        {MW__NUMBER_BF16, "1.00390625", 1.0},
        {MW__NUMBER_BF16, "1.0039062500000000000001", 0x1.02p+0},
        {MW__NUMBER_BF16, "3.3961775292304957e38", INFINITY},
        {MW__NUMBER_BF16, "3.39e38", 0x1.fep+127},
        {MW__NUMBER_F32, "1.000000059604644775390625", 1.0},
        {MW__NUMBER_F32, "1.00000005960464477539062500001", 0x1.000002p+0},
        {MW__NUMBER_F32, "0x1.00000100000000000000000001p0", 0x1.000002p+0},
        {MW__NUMBER_F32, "7.006492321624085e-46", 0.0},
        {MW__NUMBER_F64, "9007199254740993", 9007199254740992.0},
        {MW__NUMBER_F64, "9007199254740993.00000000000000000000000001", 9007199254740994.0},
        {MW__NUMBER_F64, "0x1.00000000000008p+0", 1.0},
        {MW__NUMBER_F64, "0x1.000000000000080000000000000000000001p+0", 0x1.0000000000001p+0},
        {MW__NUMBER_F64, "0x0.0000000000001p-1022", 0x1p-1074},
        {MW__NUMBER_F64, "0x1p-1075", 0.0},
        {MW__NUMBER_F64, "0x1.0000000000000001p-1075", 0x1p-1074},
    };
    for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++) {
        double value = -1;
        CHECK(read(traps[i].text, traps[i].format, &value));
        check_note(same_bits(value, traps[i].expected), __FILE__, __LINE__, "%s is %a, not %a", traps[i].text, value,
                   traps[i].expected);
    }
}

/* The half-way points between neighboring doubles have up to 768 digits: printed by a wider type where there is one.
 */
static void test_half_way_points_of_double_round_once(void)
{
    if (sizeof(long double) == sizeof(double))
        SKIP("long double is no wider than double here");
    mw__random random = {.seed = 3};
    for (int i = 0; i < 2000; i++) {
        uint64_t bits = ((uint64_t)mw__random_u32(&random) << 32 | mw__random_u32(&random)) & 0x7fffffffffffffff;
        if (i % 2 == 0)
            bits &= 0x001fffffffffffff; /* subnormals and the smallest normals */
        double low;
        memcpy(&low, &bits, sizeof low);
        const double high = nextafter(low, INFINITY);
        if (!isfinite(low) || !isfinite(high))
            continue;
        static char text[1300];
        double value;
        const long double half_way = (long double)low / 2 + (long double)high / 2;
        snprintf(text, sizeof text, "%.1100Le", half_way); /* all digits, and zeros */
        CHECK(read(text, MW__NUMBER_F64, &value) && value == (bits & 1 ? high : low));
        strchr(text, 'e')[-1] = '1';
        CHECK(read(text, MW__NUMBER_F64, &value) && value == high);
        snprintf(text, sizeof text, "%.1100Le", nextafterl(half_way, 0));
        CHECK(read(text, MW__NUMBER_F64, &value) && value == low);
    }
}

static void test_hostile_lengths_and_exponents_are_bounded(void)
{
    enum { LENGTH = 1000000 };
    static char text[LENGTH + 32];
    double value = -1;
    CHECK(read("1e999999999999999999999999", MW__NUMBER_F64, &value) && value == INFINITY);
    CHECK(read("-1e-999999999999999999999999", MW__NUMBER_F64, &value) && same_bits(value, -0.0));
    CHECK(read("0e999999999", MW__NUMBER_F64, &value) && same_bits(value, 0.0));
    CHECK(read("0x0p99999999999", MW__NUMBER_F64, &value) && same_bits(value, 0.0));
    CHECK(read("0x1p99999999999", MW__NUMBER_F64, &value) && value == INFINITY);
    CHECK(read("0x1p-99999999999", MW__NUMBER_F64, &value) && value == 0.0);
    memset(text, '9', LENGTH);
    snprintf(text + LENGTH, 32, "e-%d", LENGTH);
    CHECK(read(text, MW__NUMBER_F64, &value) && value == 1.0);
    memset(text, '0', LENGTH);
    text[1] = '.';
    snprintf(text + LENGTH, 32, "25e%d", LENGTH - 2);
    CHECK(read(text, MW__NUMBER_F64, &value) && value == 0.25);
    memset(text, 'f', LENGTH);
    memcpy(text, "0x", 2);
    snprintf(text + LENGTH, 32, "p-%d", 4 * (LENGTH - 2));
    CHECK(read(text, MW__NUMBER_F64, &value) && value == 1.0);
    memset(text, '0', LENGTH);
    memcpy(text, "0x.", 3);
    snprintf(text + LENGTH, 32, "8p%d", 4 * (LENGTH - 3));
    CHECK(read(text, MW__NUMBER_F64, &value) && value == 0.5);
}

static void test_what_is_not_a_number_is_refused(void)
{
    static const char *const bad[] = {
        "",      "-",  ".",   "-.", "e5", "1e",  "1e+",      "1.2.3", "1x",  "0x",     "0x.",       "0xp3",  "0x1p",
        "0x1p+", "+1", "--1", " 1", "1 ", "1,5", "infinity", "INF",   "NaN", "nan(0)", "0x1.8p1.0", "1e5e5", "1f",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value;
        check_note(!read(bad[i], MW__NUMBER_F64, &value), __FILE__, __LINE__, "\"%s\" was taken for a number", bad[i]);
    }
    double value;
    CHECK(!mw__number_read("1\0", 2, MW__NUMBER_F64, &value));
}

static void test_names_and_signs_are_read(void)
{
    double value;
    CHECK(read("inf", MW__NUMBER_F16, &value) && value == INFINITY);
    CHECK(read("-inf", MW__NUMBER_F16, &value) && value == -INFINITY);
    CHECK(read("nan", MW__NUMBER_F16, &value) && isnan(value));
    CHECK(read("-0", MW__NUMBER_F16, &value) && same_bits(value, -0.0));
    CHECK(read("-0x0p+0", MW__NUMBER_F64, &value) && same_bits(value, -0.0));
    CHECK(read(".5", MW__NUMBER_F16, &value) && value == 0.5);
    CHECK(read("5.", MW__NUMBER_F16, &value) && value == 5.0);
    CHECK(read("1E+2", MW__NUMBER_F16, &value) && value == 100.0);
    CHECK(mw__number_read("125", 2, MW__NUMBER_F64, &value) && value == 12.0);
}

static void check_hex(double value, const char *expected)
{
    char text[MW__NUMBER_MAX];
    CHECK_INT(mw__number_print_hex(text, value), strlen(expected));
    CHECK_STR(text, expected);
}

static void test_hex_is_printed_in_its_shortest_form(void)
{
    check_hex(1.0, "0x1p+0");
    check_hex(-0.1875, "-0x1.8p-3");
    check_hex(0.0, "0x0p+0");
    check_hex(-0.0, "-0x0p+0");
    check_hex(INFINITY, "inf");
    check_hex(-INFINITY, "-inf");
    check_hex(NAN, "nan");
    check_hex(0x1p-149, "0x1p-149");
    check_hex(0x1p-1074, "0x1p-1074");
    check_hex(0x1.8p-1073, "0x1.8p-1073");
    check_hex(-0x1.fffffffffffffp+1023, "-0x1.fffffffffffffp+1023");
    check_hex(0x1.0000000000001p-1022, "0x1.0000000000001p-1022");
}

static void test_random_hex_reads_back_everywhere(void)
{
    mw__random random = {.seed = 4};
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = (uint64_t)mw__random_u32(&random) << 32 | mw__random_u32(&random);
        if (i % 4 == 0)
            bits &= 0x800fffffffffffff;
        if (i % 3 == 0)
            bits &= ~(uint64_t)0 << mw__random_below(&random, 53);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (isnan(value))
            continue;
        char text[MW__NUMBER_MAX];
        mw__number_print_hex(text, value);
        CHECK(same_bits(strtod(text, NULL), value));
        CHECK(read(text, MW__NUMBER_F64, &back) && same_bits(back, value));
        CHECK(read(text, MW__NUMBER_F16, &back) &&
              same_bits(back, (double)mw__fp16_to_float(mw__fp16_from_double(value))));
        CHECK(read(text, MW__NUMBER_BF16, &back) &&
              same_bits(back, (double)mw__bf16_to_float(mw__bf16_from_double(value))));
    }
}

static void check_float(float value, const char *expected)
{
    char text[MW__NUMBER_MAX];
    CHECK_INT(mw__number_print_float(text, value), strlen(expected));
    CHECK_STR(text, expected);
}

static void test_floats_are_printed_for_people(void)
{
    check_float(0.001f, "0.001");
    check_float(1e-8f, "1e-08");
    check_float(3.0f, "3");
    check_float(-0.1f, "-0.1");
    check_float(0.0f, "0");
    check_float(-0.0f, "-0");
    check_float(1e30f, "1e+30");
    check_float(100.0f, "100");
    check_float(1234.5f, "1234.5");
    check_float(16777216.0f, "16777216");
    check_float(0.0001f, "0.0001");
    check_float(-1.17549435e-38f, "-1.1754944e-38");
    check_float(1e-45f, "1e-45");
    check_float(3.4028235e38f, "3.4028235e+38");
    check_float(INFINITY, "inf");
    check_float(-INFINITY, "-inf");
    check_float(NAN, "nan");
}

static void test_random_doubles_print_and_read_back(void)
{
    mw__random random = {.seed = 6};
    for (int i = 0; i < 20000; i++) {
        const uint64_t word = (uint64_t)mw__random_u32(&random) << 32 | mw__random_u32(&random);
        double value;
        char text[MW__NUMBER_MAX], least[64];
        memcpy(&value, &word, sizeof value);
        if (isnan(value))
            continue;
        value = i % 3 == 0 ? ldexp(floor(ldexp(frexp(value, &(int){0}), 20)), -10) : value; /* short ones, too */
        const size_t length = mw__number_print_double(text, value);
        CHECK_INT(strlen(text), length);
        CHECK(same_bits(strtod(text, NULL), value));
        int digits = 1; /* as few as the C library needs */
        for (; digits < 17; digits++) {
            snprintf(least, sizeof least, "%.*e", digits - 1, value);
            if (strtod(least, NULL) == value)
                break;
        }
        int printed = 0;
        for (const char *at = text; *at != '\0' && *at != 'e'; at++)
            printed += *at >= '0' && *at <= '9';
        CHECK(strchr(text, 'e') == NULL || printed == digits);
    }
}

static void test_the_locale_changes_nothing(void)
{
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
    bool set = false;
    for (size_t i = 0; !set && i < sizeof commas / sizeof commas[0]; i++)
        set = setlocale(LC_NUMERIC, commas[i]) != NULL;
    if (!set)
        SKIP("no locale with a decimal comma is installed");
    CHECK_STR(localeconv()->decimal_point, ",");
    test_hex_is_printed_in_its_shortest_form();
    test_floats_are_printed_for_people();
    test_double_rounding_traps();
    test_what_is_not_a_number_is_refused();
    setlocale(LC_NUMERIC, "C");
}

static void test_integers_are_bounded(void)
{
    int64_t value = 0;
    uint64_t natural = 0;
    CHECK(mw__number_read_i64("9223372036854775807", 19, &value) && value == INT64_MAX);
    CHECK(mw__number_read_i64("-9223372036854775808", 20, &value) && value == INT64_MIN);
    CHECK(mw__number_read_i64("-0", 2, &value) && value == 0);
    CHECK(mw__number_read_i64("0007", 4, &value) && value == 7);
    CHECK(!mw__number_read_i64("9223372036854775808", 19, &value));
    CHECK(!mw__number_read_i64("-9223372036854775809", 20, &value));
    CHECK(!mw__number_read_i64("", 0, &value));
    CHECK(!mw__number_read_i64("-", 1, &value));
    CHECK(!mw__number_read_i64("1a", 2, &value));
    CHECK(!mw__number_read_i64("+1", 2, &value));
    CHECK(mw__number_read_u64("18446744073709551615", 20, &natural) && natural == UINT64_MAX);
    CHECK(!mw__number_read_u64("18446744073709551616", 20, &natural));
    CHECK(!mw__number_read_u64("-1", 2, &natural));
}

static void test_whole_numbers_are_printed_as_the_c_library_does(void)
{
    static const int64_t values[] = {0, 1, -1, 9, 10, -10, 1234567890, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    char text[MW__NUMBER_MAX], wanted[MW__NUMBER_MAX];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const int length = snprintf(wanted, sizeof wanted, "%lld", (long long)values[i]);
        CHECK_INT(mw__number_print_i64(text, values[i]), length);
        CHECK_STR(text, wanted);
    }
}

int main(void)
{
    RUN(test_whole_numbers_are_printed_as_the_c_library_does);
    RUN(test_random_decimals_agree_with_the_c_library);
    RUN(test_random_floats_print_and_read_back);
    RUN(test_short_decimals_beside_half_way_points_of_float_round_once);
    RUN(test_half_way_points_of_fp16_round_once);
    RUN(test_double_rounding_traps);
    RUN(test_half_way_points_of_double_round_once);
    RUN(test_hostile_lengths_and_exponents_are_bounded);
    RUN(test_what_is_not_a_number_is_refused);
    RUN(test_names_and_signs_are_read);
    RUN(test_hex_is_printed_in_its_shortest_form);
    RUN(test_random_hex_reads_back_everywhere);
    RUN(test_floats_are_printed_for_people);
    RUN(test_random_doubles_print_and_read_back);
    RUN(test_the_locale_changes_nothing);
    RUN(test_integers_are_bounded);
    return check_finish();
}
