/* Random numbers: their distributions by simple statistics, and what a seed fixes. Bounds are five standard deviations.
 */
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { COUNT = 40000, CLASSES = 4 };

typedef mw_tensor *builder(mw_graph *graph, int32_t seed);

static mw_tensor *normal(mw_graph *graph, int32_t seed)
{
    return mw_random_normal(graph, MW_F32, MW_SHAPE(COUNT), 0.0f, 1.0f, seed);
}

static mw_tensor *uniform(mw_graph *graph, int32_t seed)
{
    return mw_random_uniform(graph, MW_F32, MW_SHAPE(COUNT), 0.0f, 1.0f, seed);
}

static mw_tensor *bernoulli(mw_graph *graph, int32_t seed)
{
    return mw_random_bernoulli(graph, MW_F32, MW_SHAPE(COUNT), 0.3f, seed);
}

static mw_tensor *categorical(mw_graph *graph, int32_t seed)
{
    const float p[CLASSES] = {1, 2, 0, 5};
    mw_tensor *x = mw_constant(graph, MW_F32, MW_SHAPE(CLASSES), p);
    return mw_random_categorical(x, MW_CATEGORICAL_PROBS, COUNT, seed);
}

static mw_program *compile(builder *build, int32_t seed, int threads, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1)); /* a program needs an input */
    mw_output(mw_add(build(graph, seed), x), "y");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, err);
    mw_graph_destroy(graph);
    return program;
}

static float *run(mw_program *program, mw_error *err)
{
    float *values = calloc(COUNT, sizeof *values);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, values, COUNT, err);
    return values;
}

static float *draw(builder *build, int32_t seed, int threads)
{
    mw_error err = {0};
    mw_program *program = compile(build, seed, threads, &err);
    float *values = run(program, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    return values;
}

static void check_moments(const float *values, double mean, double variance, double fourth)
{
    double sum = 0, squares = 0, serial = 0;
    for (int i = 0; i < COUNT; i++) {
        const double x = (double)values[i] - mean;
        sum += x / COUNT;
        squares += x * x / COUNT;
        serial += i > 0 ? x * ((double)values[i - 1] - mean) / COUNT : 0;
    }
    CHECK_NEAR(sum, 0.0, 5 * sqrt(variance / COUNT));
    CHECK_NEAR(squares, variance, 5 * sqrt((fourth - variance * variance) / COUNT));
    CHECK_NEAR(serial, 0.0, 5 * variance / sqrt(COUNT));
}

static void check_chi(const double *seen, const double *p, int bins)
{
    double chi = 0;
    for (int i = 0; i < bins; i++)
        chi += p[i] > 0 ? pow(seen[i] - COUNT * p[i], 2) / (COUNT * p[i]) : 0;
    CHECK_NEAR(chi, bins - 1.0, 5 * sqrt(2.0 * bins));
}

static void test_normal_numbers(void)
{
    double seen[16] = {0}, p[16];
    float *values = draw(normal, 1, 2);
    check_moments(values, 0.0, 1.0, 3.0);
    for (int i = 0; i < COUNT; i++) /* by the distribution function: 16 equally likely parts */
        seen[(int)(8 * erfc(-(double)values[i] / sqrt(2.0))) & 15]++;
    for (int i = 0; i < 16; i++)
        p[i] = 1.0 / 16;
    check_chi(seen, p, 16);
    free(values);
}

static void test_uniform_numbers(void)
{
    double seen[64] = {0}, p[64];
    float *values = draw(uniform, 1, 2);
    check_moments(values, 0.5, 1.0 / 12, 1.0 / 80);
    for (int i = 0; i < COUNT; i++) {
        CHECK(values[i] >= 0.0f && values[i] < 1.0f);
        seen[(int)(values[i] * 64)]++;
    }
    for (int i = 0; i < 64; i++)
        p[i] = 1.0 / 64;
    check_chi(seen, p, 64);
    free(values);
}

static void test_bernoulli_numbers(void)
{
    float *values = draw(bernoulli, 1, 2);
    check_moments(values, 0.3, 0.21, 0.21 * (1 - 3 * 0.21));
    free(values);
}

static void test_classes_come_with_their_probabilities(void)
{
    double seen[CLASSES] = {0};
    const double p[CLASSES] = {0.125, 0.25, 0, 0.625};
    float *values = draw(categorical, 1, 2);
    for (int i = 0; i < COUNT; i++)
        seen[(int)values[i] & 3]++;
    CHECK(seen[2] == 0.0);
    check_chi(seen, p, CLASSES);
    free(values);
}

static builder *const builders[] = {normal, uniform, bernoulli, categorical};

static bool same(const float *a, const float *b) { return memcmp(a, b, COUNT * sizeof *a) == 0; }

static void test_a_seed_fixes_the_numbers_for_any_number_of_threads(void)
{
    for (int k = 0; k < 4; k++) {
        mw_error err = {0};
        mw_program *program = compile(builders[k], 9, 3, &err);
        float *first = run(program, &err), *second = run(program, &err);
        float *one = draw(builders[k], 9, 1), *other = draw(builders[k], 10, 1);
        CHECK_OK(err);
        CHECK(same(first, second) && same(first, one) && !same(first, other));
        mw_program_destroy(program);
        free(first);
        free(second);
        free(one);
        free(other);
    }
}

/* Seed -1: the next run has other numbers; a program compiled again starts over, whatever its threads. */
static void test_without_a_seed_every_run_has_numbers_of_its_own(void)
{
    for (int k = 0; k < 4; k++) {
        mw_error err = {0};
        mw_program *program = compile(builders[k], -1, 3, &err), *again = compile(builders[k], -1, 1, &err);
        float *first = run(program, &err), *second = run(program, &err);
        float *first_again = run(again, &err), *second_again = run(again, &err);
        CHECK_OK(err);
        CHECK(!same(first, second) && same(first, first_again) && same(second, second_again));
        mw_program_destroy(program);
        mw_program_destroy(again);
        free(first);
        free(second);
        free(first_again);
        free(second_again);
    }
}

static mw_tensor *difference(mw_graph *graph, int32_t seed)
{
    mw_tensor *a = uniform(graph, seed);
    return mw_sub(a, uniform(graph, seed));
}

static void test_two_operations_differ_without_a_seed_and_agree_with_one(void)
{
    float *fresh = draw(difference, -1, 2), *fixed = draw(difference, 4, 2);
    int differ = 0, agree = 0;
    for (int i = 0; i < COUNT; i++) {
        differ += fresh[i] != 0.0f;
        agree += fixed[i] == 0.0f;
    }
    CHECK(differ > COUNT - 10);
    CHECK_INT(agree, COUNT);
    free(fresh);
    free(fixed);
}

/* In fp16 an eighth of the interval's last step rounds up. */
static void test_high_is_never_drawn(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1));
    mw_output(mw_add(mw_random_uniform(graph, MW_F16, MW_SHAPE(COUNT), -1.0f, 0.0f, 5), x), "y");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 0, &err);
    mw_graph_destroy(graph);
    float *values = run(program, &err);
    CHECK_OK(err);
    int outside = 0;
    for (int i = 0; i < COUNT; i++)
        outside += !(values[i] >= -1.0f && values[i] < 0.0f);
    CHECK_INT(outside, 0);
    mw_program_destroy(program);
    free(values);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_normal_numbers);
    RUN(test_uniform_numbers);
    RUN(test_bernoulli_numbers);
    RUN(test_classes_come_with_their_probabilities);
    RUN(test_a_seed_fixes_the_numbers_for_any_number_of_threads);
    RUN(test_without_a_seed_every_run_has_numbers_of_its_own);
    RUN(test_two_operations_differ_without_a_seed_and_agree_with_one);
    RUN(test_high_is_never_drawn);
    return check_finish();
}
