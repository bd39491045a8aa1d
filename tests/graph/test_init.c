/* Initializers: bounds and moments against the textbook formulas, determinism, streams by name. */
#include "graph_check.h"

#include "base/number/fp16.h"
#include "base/number/hash.h"
#include "base/number/random.h"
#include "graph/random/init.h"

#include <math.h>
#include <stdlib.h>

#define S       MW_SHAPE
#define ROWS    64
#define COLUMNS 400
#define COUNT   (ROWS * COLUMNS)

static float drawn[COUNT], again[COUNT];

typedef struct moments {
    double mean, stddev, low, high;
} moments;

static mw_status fill_with(const mw_init *init, mw_shape shape, mw_dtype dtype, const char *name, uint64_t seed,
                           void *out, mw_error *err)
{
    const mw__init own = mw__init_of(init);
    const mw__init_source source = {.name = name, .seed = seed, .threads = 1};
    return mw__init_fill(&own, shape, dtype, &source, out, err);
}

static moments measure(mw_init init, mw_shape shape)
{
    const int64_t count = mw_shape_count(shape);
    mw_error err = {0};
    fill_with(&init, shape, MW_F32, "w", 7, drawn, &err);
    CHECK_OK(err);
    moments m = {.low = INFINITY, .high = -INFINITY};
    double square = 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = (double)drawn[i];
        m.mean += value / (double)count;
        square += value * value / (double)count;
        m.low = fmin(m.low, value);
        m.high = fmax(m.high, value);
    }
    m.stddev = sqrt(square - m.mean * m.mean);
    return m;
}

/* Of a uniform in +-bound: extremes near the bound, mean 0, standard deviation bound / sqrt(3). The tolerances are
 * five standard errors of 25600 draws. */
static void check_uniform(mw_init init, double bound)
{
    const moments m = measure(init, S(ROWS, COLUMNS));
    CHECK(m.low >= -bound && m.high <= bound);
    CHECK(m.low < -0.99 * bound && m.high > 0.99 * bound);
    CHECK_NEAR(m.mean, 0, 5 * bound / sqrt(3.0 * COUNT));
    CHECK_NEAR(m.stddev, bound / sqrt(3), 0.02 * bound);
}

static void check_normal(mw_init init, double mean, double stddev)
{
    const moments m = measure(init, S(ROWS, COLUMNS));
    CHECK_NEAR(m.mean, mean, 5 * stddev / sqrt((double)COUNT));
    CHECK_NEAR(m.stddev, stddev, 5 * stddev / sqrt(2.0 * COUNT));
    CHECK(m.high > mean + 3 * stddev && m.low < mean - 3 * stddev); /* it has tails */
}

static void test_kinds_have_their_moments(void)
{
    check_uniform(mw_init_uniform(-0.5f, 0.5f), 0.5);
    check_uniform(mw_init_kaiming_uniform(), 1 / sqrt(COLUMNS));
    check_uniform(mw_init_xavier_uniform(), sqrt(6.0 / (ROWS + COLUMNS)));
    check_normal(mw_init_normal(2, 3), 2, 3);
    check_normal(mw_init_kaiming_normal(), 0, sqrt(2.0 / COLUMNS));
    check_normal(mw_init_xavier_normal(), 0, sqrt(2.0 / (ROWS + COLUMNS)));
}

static void test_fans_of_a_kernel_count_its_window(void)
{
    const moments m = measure(mw_init_kaiming_uniform(), S(32, 16, 5, 5)); /* fan_in = 16 * 25 */
    CHECK_NEAR(m.high, 1 / sqrt(400), 0.001);
    const moments v = measure(mw_init_kaiming_uniform(), S(2500)); /* rank 1: fan_in = count */
    CHECK_NEAR(v.high, 1 / sqrt(2500), 0.0005);
}

static void test_constants_and_data(void)
{
    const moments z = measure(mw_init_zeros(), S(10)), c = measure(mw_init_constant(1.5f), S(10));
    CHECK(z.low == 0 && z.high == 0 && c.low == 1.5 && c.high == 1.5);
    const float data[] = {1, 2, 3};
    const moments d = measure(mw_init_data(data), S(3));
    CHECK(d.low == 1 && d.high == 3 && drawn[1] == 2);
}

static void fill(float *out, const char *name, uint64_t seed, mw_shape shape)
{
    const mw_init init = mw_init_normal(0, 1);
    CHECK_INT(fill_with(&init, shape, MW_F32, name, seed, out, NULL), MW_OK);
}

static size_t count_equal(size_t count)
{
    size_t equal = 0;
    for (size_t i = 0; i < count; i++)
        equal += drawn[i] == again[i];
    return equal;
}

static void test_name_and_seed_decide(void)
{
    fill(drawn, "fc1.weight", 1, S(100));
    fill(again, "fc1.weight", 1, S(10, 10));
    CHECK_INT(count_equal(100), 100);
    fill(again, "fc2.weight", 1, S(100));
    CHECK(count_equal(100) < 3);
    fill(again, "fc1.weight", 2, S(100));
    CHECK(count_equal(100) < 3);
}

static void test_half_is_the_rounded_draw(void)
{
    uint16_t half[100];
    const mw_init init = mw_init_kaiming_uniform();
    fill_with(&init, S(10, 10), MW_F32, "w", 3, drawn, NULL);
    CHECK_INT(fill_with(&init, S(10, 10), MW_F16, "w", 3, half, NULL), MW_OK);
    for (int i = 0; i < 100; i++)
        CHECK_INT(half[i], mw__fp16_from_float(drawn[i]));
}

/* As the header says what the i-th number is: drawn one by one, in one thread. */
static float expected_number(bool normal, mw__random *random)
{
    return normal ? 0.25f + 2.0f * mw__random_normal(random) : -1.5f + (0.5f - -1.5f) * mw__random_uniform(random);
}

static bool are_expected(bool normal, mw_dtype dtype, int threads, int64_t count, void *numbers)
{
    const mw_init init = normal ? mw_init_normal(0.25f, 2.0f) : mw_init_uniform(-1.5f, 0.5f);
    const mw__init own = mw__init_of(&init);
    const mw__init_source source = {.name = "w", .seed = 9, .threads = threads};
    mw__random random = {.seed = 9, .stream = mw__hash64("w", 1, 0)};
    mw_error err = {0};
    mw__init_fill(&own, S(count), dtype, &source, numbers, &err);
    CHECK_OK(err);
    bool same = true;
    for (int64_t i = 0; i < count; i++) {
        const float want = expected_number(normal, &random);
        same = same && (dtype == MW_F32 ? ((float *)numbers)[i] == want
                                        : ((uint16_t *)numbers)[i] == mw__fp16_from_float(want));
    }
    return same;
}

/* 65536 numbers are drawn by one thread, 1024 at once. */
static void test_threads_draw_the_numbers_of_one(void)
{
    static const int64_t counts[] = {1, 1023, 1025, 65536, 65537, 3 * 65536 + 1025};
    float *numbers = malloc(sizeof *numbers * (3 * 65536 + 1025));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int threads = 0; threads < 4; threads++)
            for (int way = 0; way < 4; way++)
                CHECK(are_expected(way & 1, way & 2 ? MW_F16 : MW_F32, threads, counts[i], numbers));
    free(numbers);
}

static void refuse(mw_init init, mw_dtype dtype, mw_shape shape, mw_status status, const char *part)
{
    mw_error err = {0};
    fill_with(&init, shape, dtype, "w", 0, drawn, &err);
    CHECK_ERROR(err, status, part);
}

static void test_bad_initializers_are_refused(void)
{
    refuse((mw_init){{0}}, MW_F32, S(1), MW_ERROR_ARGUMENT, "not made by an mw_init function");
    refuse((mw_init){{99}}, MW_F32, S(1), MW_ERROR_ARGUMENT, "not made by");
    refuse(mw_init_uniform(1, 0), MW_F32, S(1), MW_ERROR_ARGUMENT, "uniform from 1 to 0 is empty");
    refuse(mw_init_normal(0, -1), MW_F32, S(1), MW_ERROR_ARGUMENT, "deviation -1 is negative");
    refuse(mw_init_constant(NAN), MW_F32, S(1), MW_ERROR_ARGUMENT, "not finite");
    refuse(mw_init_data(NULL), MW_F32, S(1), MW_ERROR_ARGUMENT, "data of the initializer is NULL");
    refuse(mw_init_zeros(), MW_I32, S(1), MW_ERROR_DTYPE, "int32 cannot be drawn");
    refuse(mw_init_zeros(), MW_F32, S(-1), MW_ERROR_SHAPE, "every extent must be known");
}

int main(void)
{
    RUN(test_kinds_have_their_moments);
    RUN(test_fans_of_a_kernel_count_its_window);
    RUN(test_constants_and_data);
    RUN(test_name_and_seed_decide);
    RUN(test_half_is_the_rounded_draw);
    RUN(test_threads_draw_the_numbers_of_one);
    RUN(test_bad_initializers_are_refused);
    return check_finish();
}
