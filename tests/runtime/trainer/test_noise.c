/* Noise: its distributions, and that simple statistics see no pattern across elements, steps, layers and seeds, in fp32
 * and fp16. Bounds are five standard deviations of independent fair draws, unless a line says otherwise; everything is
 * drawn from fixed seeds. */
#include "base/number/fp16.h"
#include "graph/ir/ir.h"
#include "support/check.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { ROWS = 64, COLUMNS = 96, COUNT = ROWS * COLUMNS, STEPS = 48, ALL = STEPS * COUNT };

typedef enum distribution { NORMAL, UNIFORM, BERNOULLI } distribution;

/* A program that draws once a run. */
typedef struct source {
    distribution kind;
    float a, b;
    const char *name;
    mw_shape shape;
    mw_device device;
    uint64_t seed;
} source;

#define MATRIX                                                                                                         \
    {                                                                                                                  \
        .rank = 2, .dim = { ROWS, COLUMNS }                                                                            \
    }
static const source normal = {NORMAL, 0.0f, 1.0f, "n", MATRIX, MW_DEVICE_CPU, 1};
static const source uniform = {UNIFORM, 0.0f, 1.0f, "u", MATRIX, MW_DEVICE_CPU, 1};
static const source bernoulli = {BERNOULLI, 0.3f, 0.0f, "b", MATRIX, MW_DEVICE_CPU, 1};
static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

static mw_tensor *make(mw_graph *graph, const source *s)
{
    if (s->kind == NORMAL)
        return mw_noise_normal(graph, MW_F32, s->shape, s->a, s->b, s->name);
    if (s->kind == UNIFORM)
        return mw_noise_uniform(graph, MW_F32, s->shape, s->a, s->b, s->name);
    return mw_noise_bernoulli(graph, MW_F32, s->shape, s->a, s->name);
}

static mw_program *compile(const source *s, mw_error *err)
{
    char state[64];
    snprintf(state, sizeof state, "%s.generator", s->name);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(make(graph, s), "y");
    const mw_tensor *generator = mw_graph_find(graph, state);
    mw_output(generator != NULL ? generator->next : NULL, "next");
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = s->device;
    options.seed = s->seed;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    if (program != NULL)
        mw_program_alias(program, "next", state, err);
    return program;
}

/* `steps` times the elements of the shape. */
static float *draw_steps(const source *s, int steps)
{
    mw_error err = {0};
    const size_t count = (size_t)mw_shape_count(s->shape);
    float *values = calloc((size_t)steps * count, sizeof *values);
    mw_program *program = compile(s, &err);
    for (int step = 0; step < steps && err.status == MW_OK; step++) {
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, values + (size_t)step * count, count, &err);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    return values;
}

static float *draw(const source *s) { return draw_steps(s, STEPS); }

/* ---- distributions ---- */

static double power_mean(const float *values, size_t count, double center, int power)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += pow((double)values[i] - center, power);
    return sum / (double)count;
}

/* E x^k = (k - 1)!! for even k; the variance of x^k is E x^2k - (E x^k)^2. */
static void test_normal_has_the_moments_of_the_normal_distribution(void)
{
    const double moments[] = {1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395};
    for (int d = 0; d < 2; d++) {
        source s = normal;
        s.device = devices[d];
        float *values = draw(&s);
        for (int k = 1; k <= 6; k++) {
            const double bound = 5 * sqrt((moments[2 * k] - moments[k] * moments[k]) / ALL);
            CHECK_NEAR(power_mean(values, ALL, 0.0, k), moments[k], bound);
        }
        free(values);
    }
}

/* As many beyond each bound as there should be, and none beyond the last. */
static void test_normal_has_tails_to_almost_five(void)
{
    const double bounds[] = {2, 3, 3.5, 4};
    for (int d = 0; d < 2; d++) {
        source s = normal;
        s.device = devices[d];
        enum { MORE = 8 };
        float *values = draw_steps(&s, MORE * STEPS);
        double largest = 0;
        for (int k = 0; k < 4; k++) {
            double beyond = 0;
            for (int i = 0; i < MORE * ALL; i++) {
                beyond += fabs((double)values[i]) > bounds[k];
                largest = fmax(largest, fabs((double)values[i]));
            }
            const double expected = MORE * ALL * erfc(bounds[k] / sqrt(2));
            CHECK_NEAR(beyond, expected, 5 * sqrt(expected));
        }
        CHECK(largest > 4.4 && largest <= 4.98);
        free(values);
    }
}

static void test_uniform_has_the_moments_of_the_uniform_distribution(void)
{
    for (int d = 0; d < 2; d++) {
        source s = uniform;
        s.device = devices[d];
        float *values = draw(&s);
        for (int k = 1; k <= 6; k++) {
            const double variance = 1.0 / (2 * k + 1) - 1.0 / ((k + 1) * (k + 1));
            CHECK_NEAR(power_mean(values, ALL, 0.0, k), 1.0 / (k + 1), 5 * sqrt(variance / ALL));
        }
        free(values);
    }
}

/* In 0 .. 1: the place in the distribution. */
static double place(distribution kind, float value)
{
    return kind == NORMAL ? erfc(-(double)value / sqrt(2)) / 2 : (double)value;
}

enum { BINS = 240 };

static double chi_square(const double *seen, int bins, double expected)
{
    double chi = 0;
    for (int i = 0; i < bins; i++)
        chi += (seen[i] - expected) * (seen[i] - expected) / expected;
    return chi;
}

static void test_numbers_fill_equal_bins_equally(void)
{
    const source kinds[] = {normal, uniform};
    for (int k = 0; k < 2; k++) {
        double seen[BINS] = {0};
        float *values = draw(&kinds[k]);
        for (int i = 0; i < ALL; i++) {
            const int bin = (int)(place(kinds[k].kind, values[i]) * BINS);
            seen[bin < BINS ? bin : BINS - 1]++;
        }
        CHECK_NEAR(chi_square(seen, BINS, (double)ALL / BINS), BINS - 1, 5 * sqrt(2.0 * (BINS - 1)));
        free(values);
    }
}

/* Bins of a width of many fp16 numbers: at the edges, roundings move some. */
static void test_numbers_of_fp16_fill_bins_equally(void)
{
    enum { WIDE = 16 };
    const source kinds[] = {normal, uniform};
    for (int k = 0; k < 2; k++) {
        double seen[WIDE] = {0};
        source s = kinds[k];
        s.device = MW_DEVICE_ANE;
        float *values = draw(&s);
        for (int i = 0; i < ALL; i++) {
            const int bin = (int)(place(s.kind, values[i]) * WIDE);
            seen[bin < WIDE ? bin : WIDE - 1]++;
        }
        CHECK_NEAR(chi_square(seen, WIDE, (double)ALL / WIDE), WIDE - 1, 5 * sqrt(2.0 * (WIDE - 1)));
        free(values);
    }
}

/* 256 equal squares of two neighbors. */
static void check_pairs(const source *s, const float *values, int lag)
{
    double seen[256] = {0};
    double pairs = 0;
    for (int i = 0; i + lag < ALL; i++) {
        if (i / lag % 2 == 1)
            continue; /* each number once */
        seen[16 * (int)(place(s->kind, values[i]) * 16) + (int)(place(s->kind, values[i + lag]) * 16)]++;
        pairs++;
    }
    CHECK_NEAR(chi_square(seen, 256, pairs / 256), 255, 5 * sqrt(2.0 * 255));
}

static void test_pairs_fill_squares_equally(void)
{
    const source kinds[] = {normal, uniform};
    const int lags[] = {1, COLUMNS, COLUMNS + 1, COUNT, 7 * COUNT};
    for (int k = 0; k < 2; k++) {
        float *values = draw(&kinds[k]);
        for (int i = 0; i < 5; i++)
            check_pairs(&kinds[k], values, lags[i]);
        free(values);
    }
}

/* ---- correlation, as the number of its standard deviations ---- */

static double correlation(const float *a, const float *b, size_t count, int power)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < count; i++) {
        ma += pow((double)a[i], power) / (double)count;
        mb += pow((double)b[i], power) / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        const double x = pow((double)a[i], power) - ma, y = pow((double)b[i], power) - mb;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    return ab / sqrt(aa * bb) * sqrt((double)count);
}

static void test_neighbors_and_steps_are_uncorrelated(void)
{
    /* along the row, the column, both diagonals, far ones; the next steps */
    const int lags[] = {1, 2, 31, COLUMNS, COLUMNS + 1, COLUMNS - 1, 31 * COLUMNS, COUNT, 2 * COUNT, 30 * COUNT};
    const source kinds[] = {normal, uniform, bernoulli};
    for (int k = 0; k < 3; k++) {
        float *values = draw(&kinds[k]);
        for (size_t i = 0; i < sizeof lags / sizeof *lags; i++) {
            const size_t count = (size_t)(ALL - lags[i]);
            CHECK_NEAR(correlation(values, values + lags[i], count, 1), 0.0, 5.0);
            CHECK_NEAR(correlation(values, values + lags[i], count, 2), 0.0, 5.0); /* of their sizes */
        }
        free(values);
    }
}

static void test_seeds_and_names_are_uncorrelated(void)
{
    source s = normal;
    float *one = draw(&s), *again = draw(&s);
    s.seed = 2;
    float *seed = draw(&s);
    s.seed = 1;
    s.name = "n2";
    float *name = draw(&s);
    CHECK(memcmp(one, again, ALL * sizeof *one) == 0);
    CHECK_NEAR(correlation(one, seed, ALL, 1), 0.0, 5.0);
    CHECK_NEAR(correlation(one, name, ALL, 1), 0.0, 5.0);
    CHECK_NEAR(correlation(one, name, ALL, 2), 0.0, 5.0);
    free(one);
    free(again);
    free(seed);
    free(name);
}

/* Rows whose keys collide in one plane must not look alike: some 500,000 pairs of 1,024 rows, in each of 16 steps. The
 * largest of 8 million correlations of 64 fair normal pairs is about 0.58; alike would be 1. */
static void test_no_two_of_many_rows_are_alike(void)
{
    enum { MANY = 1024, WIDTH = 64, RUNS = 16 };
    source s = normal;
    s.shape = MW_SHAPE(MANY, WIDTH);
    float *values = draw_steps(&s, RUNS);
    double most = 0;
    for (int row = 0; row < RUNS * MANY; row++) {
        float *x = values + row * WIDTH;
        double sum = 0;
        for (int i = 0; i < WIDTH; i++)
            sum += (double)x[i] * (double)x[i];
        for (int i = 0; i < WIDTH; i++)
            x[i] = (float)((double)x[i] / sqrt(sum));
    }
    for (int a = 0; a < RUNS * MANY; a++) {
        for (int b = a / MANY * MANY; b < a; b++) {
            float sum = 0;
            for (int i = 0; i < WIDTH; i++)
                sum += values[a * WIDTH + i] * values[b * WIDTH + i];
            most = fmax(most, fabs((double)sum));
        }
    }
    CHECK(most > 0.5 && most < 0.75);
    free(values);
}

/* ---- values ---- */

/* Each is one of the 961^2 that are promised, and fp16 has the same ones, rounded. */
static void test_uniform_has_the_values_that_are_promised(void)
{
    source s = uniform;
    float *wide = draw(&s);
    s.device = MW_DEVICE_ANE;
    float *half = draw(&s);
    double off = 0, apart = 0;
    for (int i = 0; i < ALL; i++) {
        const double k = (double)wide[i] * 923521 - 0.5;
        off = fmax(off, fabs(k - round(k)));
        CHECK(wide[i] > 0.0f && wide[i] < 1.0f && half[i] >= 0.0f && half[i] < 1.0f);
        const double distance = fabs((double)half[i] - (double)wide[i]);
        apart = fmax(apart, fmin(distance, 1.0 - distance)); /* what rounds to 1 is 0 */
    }
    CHECK(off < 0.2);       /* u has 24 bits, and 923521 u some 20 before the point; three roundings and 1 / 961 */
    CHECK(apart < 0x1p-10); /* two roundings of 2^-12, and that of the factor 1 / 961 */
    free(wide);
    free(half);
}

static void test_uniform_stays_below_high(void)
{
    const float bounds[][2] = {{-1.0f, 1.0f}, {1000.0f, 1000.5f}, {-3e-5f, -2e-5f}, {2048.0f, 2056.0f}};
    for (int d = 0; d < 2; d++) {
        for (int k = 0; k < 4; k++) {
            source s = uniform;
            s.a = bounds[k][0];
            s.b = bounds[k][1];
            s.device = devices[d];
            s.shape = MW_SHAPE(200, 200);
            float *values = draw_steps(&s, 1);
            const float low = d == 1 ? mw__fp16_to_float(mw__fp16_from_float(s.a)) : s.a,
                        high = d == 1 ? mw__fp16_to_float(mw__fp16_from_float(s.b)) : s.b;
            int outside = 0;
            for (int i = 0; i < 40000; i++)
                outside += !(values[i] >= low && values[i] < high);
            CHECK_INT(outside, 0);
            free(values);
        }
    }
}

static void test_fp16_and_fp32_draw_the_same_normal_numbers(void)
{
    source s = normal;
    float *wide = draw(&s);
    s.device = MW_DEVICE_ANE;
    float *half = draw(&s);
    double apart = 0;
    for (int i = 0; i < ALL; i++)
        apart = fmax(apart, fabs((double)half[i] - (double)wide[i]) / fmax(fabs((double)wide[i]), 0.8));
    CHECK(apart < 5e-3); /* what the header says */
    free(wide);
    free(half);
}

/* The quantile of a number's pair of level and rest, from u of a uniform with the same generator. */
static double quantile(double p)
{
    double low = -6, high = 6;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The same name and seed give both the same pairs. Above the center the fraction counts towards it, below from it. */
static void test_normal_is_the_quantile_of_its_pair(void)
{
    source n = normal, u = uniform;
    u.name = n.name;
    float *numbers = draw_steps(&n, 1), *places = draw_steps(&u, 1);
    double off = 0;
    for (int i = 0; i < COUNT; i++) {
        const double k = round((double)places[i] * 923521 - 0.5), level = floor(k / 961) - 480,
                     rest = k - floor(k / 961) * 961 - 480;
        const double tail = ((480 - fabs(level)) + 0.5 - rest / 961) / 961;
        off = fmax(off, fabs((double)numbers[i] - (level >= 0 ? -1 : 1) * quantile(tail)));
    }
    CHECK(off < 2e-5);
    free(numbers);
    free(places);
}

static void test_bernoulli_keeps_its_rate_and_is_the_same_in_fp16(void)
{
    const float rates[] = {0.0f, 1e-5f, 0.001f, 0.3f, 0.5f, 0.999f, 1.0f};
    for (int k = 0; k < 7; k++) {
        source s = bernoulli;
        s.a = rates[k];
        float *wide = draw(&s);
        s.device = MW_DEVICE_ANE;
        float *half = draw(&s);
        const double p = round((double)rates[k] * 923521) / 923521;
        CHECK_NEAR(power_mean(wide, ALL, 0.0, 1), p, 5 * sqrt(p * (1 - p) / ALL));
        CHECK(memcmp(wide, half, ALL * sizeof *wide) == 0);
        free(wide);
        free(half);
    }
}

static void test_mean_and_stddev_are_applied(void)
{
    for (int d = 0; d < 2; d++) {
        source s = normal;
        s.a = -3.0f;
        s.b = 0.01f;
        s.device = devices[d];
        float *values = draw(&s);
        /* numbers near 3 are rounded to multiples of 2^-9 in fp16 */
        const double spread = 1e-4 + (d == 1 ? 0x1p-18 / 12 : 0.0);
        CHECK_NEAR(power_mean(values, ALL, 0.0, 1), -3.0, 5 * 0.01 / sqrt(ALL) + (d == 1 ? 5e-5 : 0.0));
        CHECK_NEAR(power_mean(values, ALL, -3.0, 2), spread, 5 * 1e-4 * sqrt(2.0 / ALL) + (d == 1 ? 1e-6 : 0.0));
        free(values);
    }
}

/* Counts that are prime, ranks, a single element: each has numbers of its own. */
static void test_shapes_of_all_kinds_are_filled(void)
{
    const mw_shape shapes[] = {MW_SHAPE(1),          MW_SHAPE(10007), mw_shape_scalar(), MW_SHAPE(2, 5003),
                               MW_SHAPE(3, 1, 7, 5), MW_SHAPE(40009), MW_SHAPE(61, 499)};
    for (int d = 0; d < 2; d++) {
        for (int k = 0; k < 7; k++) {
            source s = normal;
            s.shape = shapes[k];
            s.device = devices[d];
            if (s.shape.dim[0] > 16384 && d == 1)
                continue; /* longer than an axis there */
            const size_t count = (size_t)mw_shape_count(s.shape);
            enum { RUNS = 200 };
            float *values = draw_steps(&s, RUNS);
            CHECK_NEAR(power_mean(values, count * RUNS, 0.0, 1), 0.0, 5 / sqrt((double)count * RUNS));
            CHECK_NEAR(power_mean(values, count * RUNS, 0.0, 2), 1.0, 5 * sqrt(2.0 / ((double)count * RUNS)));
            free(values);
        }
    }
}

/* ---- gradients ---- */

static mw_program *compile_graph(mw_graph *graph, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

/* y = m + s z: dm = 1, ds = z. In a segment that is computed again, z is the same z. */
static void test_gradients_flow_around_the_noise_also_when_recomputed(void)
{
    for (int again = 0; again < 2; again++) {
        mw_error err = {0};
        float y[8], z[8], ds[8], dm[8];
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *m = mw_input(graph, "m", MW_F32, MW_SHAPE(8)), *s = mw_input(graph, "s", MW_F32, MW_SHAPE(8));
        mw_tensor *noise = mw_noise_normal(graph, MW_F32, MW_SHAPE(8), 0.0f, 1.0f, "z"), *dx[2] = {NULL};
        mw_tensor *sum = mw_add(mw_mul(noise, s), m);
        if (again == 1) {
            mw_tensor *const inputs[] = {m, s};
            sum = mw_recompute(sum, inputs, 2);
        }
        mw_tensor *const x[] = {m, s};
        mw_grad(mw_reduce_sum(sum, MW_ALL_AXES, false), x, 2, dx, &err);
        mw_output(sum, "y");
        mw_output(noise, "z");
        mw_output(dx[0], "dm");
        mw_output(dx[1], "ds");
        mw_program *program = compile_graph(graph, &err);
        const float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        mw_program_write(program, "m", MW_F32, ones, 8, &err);
        mw_program_write(program, "s", MW_F32, ones, 8, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, 8, &err);
        mw_program_read(program, "z", MW_F32, z, 8, &err);
        mw_program_read(program, "dm", MW_F32, dm, 8, &err);
        mw_program_read(program, "ds", MW_F32, ds, 8, &err);
        CHECK_OK(err);
        for (int i = 0; i < 8; i++) {
            CHECK_NEAR(y[i], z[i] + 1.0f, 0.0);
            CHECK_NEAR(ds[i], z[i], 0.0);
            CHECK_NEAR(dm[i], 1.0, 0.0);
        }
        mw_program_destroy(program);
    }
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_normal_has_the_moments_of_the_normal_distribution);
    RUN(test_normal_has_tails_to_almost_five);
    RUN(test_uniform_has_the_moments_of_the_uniform_distribution);
    RUN(test_numbers_fill_equal_bins_equally);
    RUN(test_numbers_of_fp16_fill_bins_equally);
    RUN(test_pairs_fill_squares_equally);
    RUN(test_neighbors_and_steps_are_uncorrelated);
    RUN(test_seeds_and_names_are_uncorrelated);
    RUN(test_no_two_of_many_rows_are_alike);
    RUN(test_uniform_has_the_values_that_are_promised);
    RUN(test_uniform_stays_below_high);
    RUN(test_fp16_and_fp32_draw_the_same_normal_numbers);
    RUN(test_normal_is_the_quantile_of_its_pair);
    RUN(test_bernoulli_keeps_its_rate_and_is_the_same_in_fp16);
    RUN(test_mean_and_stddev_are_applied);
    RUN(test_shapes_of_all_kinds_are_filled);
    RUN(test_gradients_flow_around_the_noise_also_when_recomputed);
    return check_finish();
}
