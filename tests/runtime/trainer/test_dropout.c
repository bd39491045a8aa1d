/* The mask of dropout: the rate, no correlation that simple statistics see, the same numbers in fp32 and fp16. Bounds
 * are five standard deviations of independent fair draws; everything is drawn from fixed seeds. */
#include "graph/ir/ir.h"
#include "support/check.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { ROWS = 64, COLUMNS = 96, COUNT = ROWS * COLUMNS, STEPS = 48 };

/* A program that makes one mask a run, from ones. */
typedef struct source {
    float p;
    const char *name;
    mw_shape shape;
    mw_device device;
    uint64_t seed;
} source;

static mw_program *compile(const source *s, mw_error *err)
{
    char state[64];
    snprintf(state, sizeof state, "%s.generator", s->name);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, s->shape);
    mw_output(mw_dropout(x, s->p, s->name), "y");
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

/* STEPS masks of COUNT elements, 1 = kept. */
static unsigned char *draw(const source *s, mw_error *err)
{
    unsigned char *masks = calloc(STEPS, COUNT);
    float *values = malloc(COUNT * sizeof *values);
    mw_program *program = compile(s, err);
    for (int i = 0; i < COUNT; i++)
        values[i] = 1.0f;
    mw_program_write(program, "x", MW_F32, values, COUNT, err);
    for (int step = 0; step < STEPS && err->status == MW_OK; step++) {
        mw_program_run(program, err);
        mw_program_read(program, "y", MW_F32, values, COUNT, err);
        for (int i = 0; i < COUNT; i++)
            masks[step * COUNT + i] = values[i] != 0.0f;
    }
    mw_program_destroy(program);
    free(values);
    return masks;
}

static source standard(void)
{
    return (source){.p = 0.5f, .name = "drop", .shape = MW_SHAPE(ROWS, COLUMNS), .device = MW_DEVICE_CPU, .seed = 1};
}

static double mean_of(const unsigned char *bits, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += bits[i];
    return sum / (double)count;
}

static void test_the_rate_and_its_spread_are_those_of_fair_draws(void)
{
    const float rates[] = {0.1f, 0.25f, 0.5f, 0.9f};
    for (int k = 0; k < 4; k++) {
        mw_error err = {0};
        source s = standard();
        s.p = rates[k];
        unsigned char *masks = draw(&s, &err);
        CHECK_OK(err);
        const double keep = 1.0 - round((double)rates[k] * 961) / 961, one = sqrt(keep * (1 - keep) / COUNT);
        CHECK_NEAR(mean_of(masks, (size_t)COUNT * STEPS), keep, 5 * one / sqrt(STEPS));
        double spread = 0;
        for (int step = 0; step < STEPS; step++)
            spread += pow((mean_of(masks + step * COUNT, COUNT) - keep) / one, 2) / STEPS;
        CHECK_NEAR(spread, 1.0, 5 * sqrt(2.0 / STEPS)); /* the masks of single steps vary as much as they should */
        free(masks);
    }
}

/* Correlation of a and b where both are, as the number of its standard deviations. */
static double correlation(const unsigned char *a, const unsigned char *b, size_t count)
{
    double sum = 0;
    const double mean_a = mean_of(a, count), mean_b = mean_of(b, count);
    for (size_t i = 0; i < count; i++)
        sum += ((double)a[i] - mean_a) * ((double)b[i] - mean_b);
    const double variance = mean_a * (1 - mean_a) * mean_b * (1 - mean_b);
    return sum / sqrt(variance * (double)count);
}

static void test_neighbors_and_steps_are_uncorrelated(void)
{
    /* along the row, the column, both diagonals, far ones; the next steps */
    const int lags[] = {1, 2, 31, COLUMNS, COLUMNS + 1, COLUMNS - 1, 31 * COLUMNS, COUNT, 2 * COUNT, 30 * COUNT};
    mw_error err = {0};
    const source s = standard();
    unsigned char *masks = draw(&s, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < sizeof lags / sizeof *lags; i++)
        CHECK_NEAR(correlation(masks, masks + lags[i], (size_t)(STEPS * COUNT - lags[i])), 0.0, 5.0);
    free(masks);
}

/* Eight neighbors as a byte: 256 equally likely ones. */
static void check_bytes(const unsigned char *masks, int stride)
{
    double seen[256] = {0}, chi = 0;
    const int groups = STEPS * COUNT / (8 * stride) * stride;
    for (int g = 0; g < groups; g++) {
        const unsigned char *first = masks + g / stride * 8 * stride + g % stride;
        int byte = 0;
        for (int bit = 0; bit < 8; bit++)
            byte = byte << 1 | first[bit * stride];
        seen[byte]++;
    }
    const double expected = (double)groups / 256;
    for (int i = 0; i < 256; i++)
        chi += (seen[i] - expected) * (seen[i] - expected) / expected;
    CHECK_NEAR(chi, 255.0, 5 * sqrt(2 * 255.0));
}

static void test_bytes_of_neighbors_are_equally_likely(void)
{
    mw_error err = {0};
    const source s = standard();
    unsigned char *masks = draw(&s, &err);
    CHECK_OK(err);
    check_bytes(masks, 1);       /* along rows */
    check_bytes(masks, COLUMNS); /* along columns */
    check_bytes(masks, COUNT);   /* along steps */
    free(masks);
}

/* 2016 pairs of rows: the closest of fair ones differ in 96 / 2 - 4.5 * sqrt(96) / 2 elements or so. */
static void test_no_two_rows_are_alike(void)
{
    mw_error err = {0};
    const source s = standard();
    unsigned char *masks = draw(&s, &err);
    CHECK_OK(err);
    int closest = COLUMNS;
    for (int a = 0; a < ROWS; a++) {
        for (int b = 0; b < a; b++) {
            int differ = 0;
            for (int j = 0; j < COLUMNS; j++)
                differ += masks[a * COLUMNS + j] != masks[b * COLUMNS + j];
            closest = differ < closest ? differ : closest;
        }
    }
    CHECK(closest > 20);
    free(masks);
}

static void test_seeds_and_layers_are_uncorrelated(void)
{
    mw_error err = {0};
    source s = standard();
    unsigned char *one = draw(&s, &err), *again = draw(&s, &err);
    s.seed = 2;
    unsigned char *seed = draw(&s, &err);
    s.seed = 1;
    s.name = "drop2";
    unsigned char *layer = draw(&s, &err);
    CHECK_OK(err);
    CHECK(memcmp(one, again, (size_t)STEPS * COUNT) == 0);
    CHECK_NEAR(correlation(one, seed, (size_t)STEPS * COUNT), 0.0, 5.0);
    CHECK_NEAR(correlation(one, layer, (size_t)STEPS * COUNT), 0.0, 5.0);
    free(one);
    free(again);
    free(seed);
    free(layer);
}

static void test_fp16_and_fp32_give_the_same_masks(void)
{
    const mw_shape shapes[] = {MW_SHAPE(ROWS, COLUMNS), MW_SHAPE(COUNT), MW_SHAPE(4, 16, 8, 12)};
    for (int k = 0; k < 3; k++) {
        mw_error err = {0};
        source s = standard();
        s.shape = shapes[k];
        s.p = 0.2f;
        unsigned char *wide = draw(&s, &err);
        s.device = MW_DEVICE_ANE;
        unsigned char *half = draw(&s, &err);
        CHECK_OK(err);
        CHECK(memcmp(wide, half, (size_t)STEPS * COUNT) == 0);
        free(wide);
        free(half);
    }
}

/* What divides by 31 in fp16, for every number that comes up: with the half, a quotient that is rounded to fp16 before
 * the floor gives the same whole number. */
static void test_the_reduction_has_room_for_an_inexact_division(void)
{
    for (int x = -900; x <= 900; x++) {
        const double quotient = (x + 15.5) / 31, slack = fabs(quotient) * 0x1p-11;
        CHECK(floor(quotient - slack) == floor(quotient + slack));
        const int rest = x - 31 * (int)floor(quotient);
        CHECK(rest >= -15 && rest <= 15);
    }
}

/* The order of the transition is 31^8 - 1: what comes after that many steps is the start, and not after a prime part of
 * them. Read from the program, as powers of the map of one step. */
enum { N = 8, P = 31 };
typedef struct matrix {
    int at[N][N];
} matrix;

static matrix multiply(const matrix *a, const matrix *b)
{
    matrix out;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int k = 0; k < N; k++)
                sum += a->at[i][k] * b->at[k][j];
            out.at[i][j] = sum % P;
        }
    }
    return out;
}

static bool power_is_one(matrix base, uint64_t exponent)
{
    matrix out = {{{0}}};
    for (int i = 0; i < N; i++)
        out.at[i][i] = 1;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1)
            out = multiply(&out, &base);
        base = multiply(&base, &base);
    }
    for (int i = 0; i < N * N; i++) {
        if (out.at[i / N][i % N] != (i / N == i % N))
            return false;
    }
    return true;
}

static void test_the_generator_has_full_period(void)
{
    mw_error err = {0};
    const source s = standard();
    mw_program *program = compile(&s, &err);
    matrix step = {{{0}}};
    for (int i = 0; i < N; i++) {
        float state[2 * N] = {0};
        state[i] = 1.0f;
        mw_program_write(program, "drop.generator", MW_F32, state, (size_t)2 * N, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "drop.generator", MW_F32, state, (size_t)2 * N, &err);
        for (int j = 0; j < N; j++)
            step.at[i][j] = ((int)state[j] + P) % P;
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    const uint64_t period = UINT64_C(852891037440), primes[] = {2, 3, 5, 13, 37, 409, 1129};
    CHECK(power_is_one(step, period));
    for (int i = 0; i < 7; i++)
        CHECK(!power_is_one(step, period / primes[i]));
}

/* y of ones is mask / (1 - p), and that is dx for dy of ones. */
static void test_the_gradient_is_the_scaled_mask(void)
{
    mw_error err = {0};
    float x[COUNT], y[COUNT], dx[COUNT];
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *input = mw_input(graph, "x", MW_F32, MW_SHAPE(ROWS, COLUMNS)), *gradient = NULL;
    mw_tensor *output = mw_dropout(input, 0.25f, "drop");
    mw_grad(mw_reduce_sum(output, MW_ALL_AXES, false), &input, 1, &gradient, &err);
    mw_output(output, "y");
    mw_output(gradient, "dx");
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    for (int i = 0; i < COUNT; i++)
        x[i] = 1.0f;
    mw_program_write(program, "x", MW_F32, x, COUNT, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, COUNT, &err);
    mw_program_read(program, "dx", MW_F32, dx, COUNT, &err);
    CHECK_OK(err);
    CHECK(memcmp(y, dx, sizeof y) == 0);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != 0.0f && y[i] != (float)(961.0 / (961 - 240));
    CHECK_INT(wrong, 0);
    mw_program_destroy(program);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_the_rate_and_its_spread_are_those_of_fair_draws);
    RUN(test_neighbors_and_steps_are_uncorrelated);
    RUN(test_bytes_of_neighbors_are_equally_likely);
    RUN(test_no_two_rows_are_alike);
    RUN(test_seeds_and_layers_are_uncorrelated);
    RUN(test_fp16_and_fp32_give_the_same_masks);
    RUN(test_the_reduction_has_room_for_an_inexact_division);
    RUN(test_the_generator_has_full_period);
    RUN(test_the_gradient_is_the_scaled_mask);
    return check_finish();
}
