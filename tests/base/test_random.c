/* Philox against the published known answers, and what is drawn from it. */
#include "base/number/random.h"

#include "base/number/normal.h"
#include "support/check.h"

/* Known-answer vectors published with the Random123 library (kat_vectors, philox4x32 with 10 rounds). */
static const struct {
    uint32_t counter[4], key[2], out[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void test_philox_gives_the_known_answers(void)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t out[4];
        mw__philox(out, known[i].counter, known[i].key);
        CHECK(memcmp(out, known[i].out, sizeof out) == 0);
    }
}

static void test_words_follow_the_counter(void)
{
    mw__random random = {.seed = 0x299f31d0a4093822, .stream = 0x0370734413198a2e, .position = 0};
    random.position = 0x05a308d3243f6a88 << 2; /* the top two bits of a block number do not fit a position */
    const uint32_t counter[4] = {0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344};
    uint32_t expected[4];
    mw__philox(expected, counter, known[2].key);
    for (int i = 0; i < 4; i++)
        CHECK(mw__random_u32(&random) == expected[i]);
    CHECK(random.position == (0x05a308d3243f6a88u << 2) + 4);
}

static void test_position_resumes_a_sequence(void)
{
    mw__random whole = {.seed = 7, .stream = 1};
    uint32_t words[100];
    for (int i = 0; i < 100; i++)
        words[i] = mw__random_u32(&whole);
    mw__random resumed = {.seed = 7, .stream = 1, .position = 41};
    for (int i = 41; i < 100; i++)
        CHECK(mw__random_u32(&resumed) == words[i]);
    mw__random other = {.seed = 7, .stream = 2};
    int equal = 0;
    for (int i = 0; i < 100; i++)
        equal += mw__random_u32(&other) == words[i];
    CHECK(equal < 3);
}

/* From every place in a block, across 2^32 blocks, and for counts around those that are drawn together. */
static void check_many_uniforms(mw__random_width width)
{
    static float many[300];
    for (uint64_t position = 0; position < 6; position++)
        for (size_t count = 0; count < 300; count += 7) {
            mw__random one = {.seed = 5, .stream = 77, .position = ((uint64_t)1 << 34) - 100 + position};
            mw__random bulk = one;
            bool same = true;
            mw__random_uniforms(&bulk, width, many, count);
            for (size_t i = 0; i < count; i++)
                same = same && many[i] == mw__random_uniform(&one);
            CHECK(same);
            CHECK_INT(bulk.position, one.position);
        }
}

static void test_many_uniforms_are_those_drawn_one_by_one(void)
{
    for (mw__random_width width = MW__RANDOM_PLAIN; width <= mw__random_widest(); width++)
        check_many_uniforms(width);
}

static void check_many_normals(mw__random_width width)
{
    float many[300];
    for (uint64_t position = 0; position < 6; position++)
        for (size_t count = 0; count < 300; count += 7) {
            mw__random one = {.seed = 5, .stream = 77, .position = ((uint64_t)1 << 34) - 100 + position};
            mw__random bulk = one;
            bool same = true;
            mw__random_normals(&bulk, width, many, count);
            for (size_t i = 0; i < count; i++)
                same = same && many[i] == mw__random_normal(&one);
            CHECK(same);
            CHECK_INT(bulk.position, one.position);
        }
}

static void test_many_normals_are_those_drawn_one_by_one(void)
{
    for (mw__random_width width = MW__RANDOM_PLAIN; width <= mw__random_widest(); width++)
        check_many_normals(width);
}

/* The cosine by the C library of the angle from the nearest quarter turn, which a word holds exactly. */
static double expected_normal(uint32_t first, uint32_t second)
{
    const double radius = sqrt(-2.0 * log(((double)first + 1.0) * 0x1p-32));
    const int64_t quarter = ((int64_t)second + (1 << 29)) >> 30, rest = (int64_t)second - (quarter << 30);
    const double angle = 6.283185307179586 * ((double)rest * 0x1p-32);
    const double parts[] = {cos(angle), -sin(angle), -cos(angle), sin(angle)};
    return radius * parts[quarter % 4];
}

static void test_normals_are_those_of_box_and_muller(void)
{
    static const uint32_t edges[] = {0,          1,          0x1fffffff, 0x20000000, 0x3fffffff, 0x40000000,
                                     0x40000001, 0x5fffffff, 0x60000000, 0x7fffffff, 0x80000000, 0xbfffffff,
                                     0xc0000000, 0xc0000001, 0xdfffffff, 0xe0000000, 0xfffffffe, 0xffffffff};
    enum { EDGES = sizeof edges / sizeof *edges, DRAWS = 200000 };
    mw__random random = {.seed = 21};
    double worst = 0.0;
    for (int i = 0; i < EDGES * EDGES + DRAWS; i++) {
        const bool drawn = i >= EDGES * EDGES;
        const uint32_t first = drawn ? mw__random_u32(&random) : edges[i / EDGES];
        const uint32_t second = drawn ? mw__random_u32(&random) : edges[i % EDGES];
        const double want = expected_normal(first, second), got = mw__normal_of(first, second);
        worst = fmax(worst, fabs(got - want) / fmax(fabs(want), 1e-300));
    }
    CHECK(worst < 4e-15); /* some roundings of fp64, 1.1e-16, of either side */
}

static void test_below_is_uniform(void)
{
    enum { BOUND = 7, DRAWS = 70000 };
    mw__random random = {.seed = 3};
    int seen[BOUND] = {0};
    for (int i = 0; i < DRAWS; i++) {
        const uint64_t drawn = mw__random_below(&random, BOUND);
        REQUIRE(drawn < BOUND);
        seen[drawn]++;
    }
    double chi_square = 0;
    for (int i = 0; i < BOUND; i++)
        chi_square += pow(seen[i] - DRAWS / BOUND, 2) / (DRAWS / BOUND);
    CHECK(chi_square < 22.5); /* 6 degrees of freedom, p = 0.001 */
    CHECK(mw__random_below(&random, 1) == 0);
    /* A quarter of all 64-bit words is refused; without that, the lowest third would be drawn half of the time. */
    const uint64_t bound = (uint64_t)3 << 62;
    int low = 0;
    for (int i = 0; i < 3000; i++) {
        const uint64_t drawn = mw__random_below(&random, bound);
        REQUIRE(drawn < bound);
        low += drawn < bound / 3;
    }
    CHECK_NEAR(low, 1000, 105); /* four standard deviations */
}

static void test_uniform_and_normal_have_their_moments(void)
{
    enum { DRAWS = 200000 };
    mw__random random = {.seed = 11};
    double sum = 0, square = 0, normal_sum = 0, normal_square = 0, normal_fourth = 0;
    for (int i = 0; i < DRAWS; i++) {
        const double u = (double)mw__random_uniform(&random);
        REQUIRE(u >= 0.0 && u < 1.0);
        sum += u;
        square += u * u;
        const double z = (double)mw__random_normal(&random);
        REQUIRE(isfinite(z));
        normal_sum += z;
        normal_square += z * z;
        normal_fourth += z * z * z * z;
    }
    /* tolerances of four standard errors */
    CHECK_NEAR(sum / DRAWS, 0.5, 0.0026);
    CHECK_NEAR(square / DRAWS, 1.0 / 3, 0.0027);
    CHECK_NEAR(normal_sum / DRAWS, 0, 0.009);
    CHECK_NEAR(normal_square / DRAWS, 1, 0.013);
    CHECK_NEAR(normal_fourth / DRAWS, 3, 0.09);
}

static void test_shuffle_permutes_evenly(void)
{
    int first[5] = {0};
    for (int trial = 0; trial < 5000; trial++) {
        mw__random random = {.seed = 5, .stream = (uint64_t)trial};
        uint32_t items[5] = {0, 1, 2, 3, 4};
        mw__random_shuffle(&random, items, 5);
        unsigned set = 0;
        for (int i = 0; i < 5; i++)
            set |= 1u << items[i];
        REQUIRE(set == 31);
        first[items[0]]++;
    }
    for (int i = 0; i < 5; i++)
        CHECK_NEAR(first[i], 1000, 115);
    mw__random random = {.seed = 5};
    mw__random_shuffle(&random, NULL, 0);
    CHECK_INT(random.position, 0);
}

int main(void)
{
    RUN(test_philox_gives_the_known_answers);
    RUN(test_words_follow_the_counter);
    RUN(test_position_resumes_a_sequence);
    RUN(test_many_uniforms_are_those_drawn_one_by_one);
    RUN(test_many_normals_are_those_drawn_one_by_one);
    RUN(test_normals_are_those_of_box_and_muller);
    RUN(test_below_is_uniform);
    RUN(test_uniform_and_normal_have_their_moments);
    RUN(test_shuffle_permutes_evenly);
    return check_finish();
}
