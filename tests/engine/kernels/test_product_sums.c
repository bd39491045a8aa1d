/* Sums of matrix products that are added while their tiles are in registers: the bytes of products that are computed
 * and then added (MW_ENGINE_FUSE=0), in fp32 and as each chip rounds them, and the numbers of plain loops here. */
#include "engine/kernels/gemm/blas.h"
#include "engine/program_case.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sum_case {
    int products;
    int64_t m, n, k;
    mw_transposes transposes;
    bool before;          /* the sum begins with another value */
    bool turned;          /* every second product is the left operand of its addition */
    size_t sums, matmuls; /* steps of the plan */
    int watched;          /* the sum of so many products is an output, too, with which the next begins; 0: none is */
} sum_case;

/* Up to seven products a step, less than three of what is left over as they are written; extents that no tile divides;
 * as many rows as the partitions need, and one less; the deepest product, and one that is too deep, or is but a column
 * times a row. */
static const sum_case cases[] = {
    {3, 32, 16, 8, MW_TRANSPOSE_NONE, false, false, 1, 0, 0},
    {2, 32, 16, 8, MW_TRANSPOSE_NONE, false, false, 0, 2, 0},
    {7, 48, 33, 5, MW_TRANSPOSE_X, false, true, 1, 0, 0},
    {8, 48, 33, 5, MW_TRANSPOSE_X, false, false, 1, 1, 0},
    {10, 33, 300, 32, MW_TRANSPOSE_X, false, true, 2, 0, 0},
    {23, 40, 520, 7, MW_TRANSPOSE_NONE, false, true, 3, 2, 0},
    {3, 64, 64, 64, MW_TRANSPOSE_Y, true, false, 1, 0, 0},
    {2, 64, 64, 64, MW_TRANSPOSE_Y, true, false, 0, 2, 0},
    {9, 100, 257, 3, MW_TRANSPOSE_X | MW_TRANSPOSE_Y, true, true, 1, 2, 0},
    {4, 31, 16, 8, MW_TRANSPOSE_NONE, false, false, 0, 4, 0},
    {3, 96, 2, 256, MW_TRANSPOSE_NONE, false, false, 1, 0, 0},
    {3, 96, 2, 257, MW_TRANSPOSE_NONE, false, false, 0, 3, 0},
    {3, 96, 20, 1, MW_TRANSPOSE_NONE, false, false, 0, 3, 0},
    {3, 96, 1, 20, MW_TRANSPOSE_NONE, false, false, 0, 3, 0},
    {3, 1100, 1030, 40, MW_TRANSPOSE_X, true, false, 1, 0, 0},
    {8, 40, 50, 9, MW_TRANSPOSE_NONE, false, false, 2, 0, 4},
};

static mw_shape shape_x(const sum_case *c)
{
    return (c->transposes & MW_TRANSPOSE_X) != 0 ? MW_SHAPE(c->k, c->m) : MW_SHAPE(c->m, c->k);
}

static mw_shape shape_y(const sum_case *c)
{
    return (c->transposes & MW_TRANSPOSE_Y) != 0 ? MW_SHAPE(c->n, c->k) : MW_SHAPE(c->k, c->n);
}

static void name_of(char out[16], char operand, int product) { snprintf(out, 16, "%c%d", operand, product); }

static mw_tensor *operand(mw_graph *graph, char which, int product, mw_shape shape)
{
    char name[16];
    name_of(name, which, product);
    return mw_input(graph, name, MW_F32, shape);
}

/* A sum is between others' results: a port of fp16 is none that is held in fp32. */
static mw_graph *build(const sum_case *c)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *sum = c->before ? mw_neg(mw_input(graph, "before", MW_F32, MW_SHAPE(c->m, c->n))) : NULL;
    for (int i = 0; i < c->products; i++) {
        mw_tensor *term =
            mw_matmul(operand(graph, 'x', i, shape_x(c)), operand(graph, 'y', i, shape_y(c)), c->transposes);
        const bool left = c->turned && i % 2 == 1;
        sum = sum == NULL ? term : left ? mw_add(term, sum) : mw_add(sum, term);
        if (i + 1 == c->watched)
            mw_output(mw_neg(sum), "half");
    }
    mw_output(mw_neg(sum), "sum");
    return graph;
}

static program_outputs compute(mw_program *program, const sum_case *c, const program_numbers *numbers, mw_error *err)
{
    static const char *const outputs[] = {"sum", "half"};
    for (int i = 0; i < c->products; i++) {
        char x[16], y[16];
        name_of(x, 'x', i), name_of(y, 'y', i);
        program_feed(program, x, numbers, 2 * (uint64_t)i, err);
        program_feed(program, y, numbers, 2 * (uint64_t)i + 1, err);
    }
    if (c->before)
        program_feed(program, "before", numbers, 1000, err);
    mw_program_run(program, err);
    return program_outputs_read(program, outputs, c->watched > 0 ? 2 : 1, err);
}

/* ---- against plain loops ---- */

static void add_loops(const sum_case *c, const program_numbers *numbers, int product, double *sum)
{
    float *x = program_draw(numbers, shape_x(c), 2 * (uint64_t)product);
    float *y = program_draw(numbers, shape_y(c), 2 * (uint64_t)product + 1);
    REQUIRE(x != NULL && y != NULL);
    const bool tx = (c->transposes & MW_TRANSPOSE_X) != 0, ty = (c->transposes & MW_TRANSPOSE_Y) != 0;
    for (int64_t i = 0; i < c->m; i++)
        for (int64_t j = 0; j < c->n; j++)
            for (int64_t p = 0; p < c->k; p++)
                sum[i * c->n + j] +=
                    (double)x[tx ? p * c->m + i : i * c->k + p] * (double)y[ty ? j * c->k + p : p * c->n + j];
    free(x);
    free(y);
}

/* Each of the roundings changes a sum of numbers below 1 by half an ulp of as many at most. */
static void check_loops(const sum_case *c, const program_numbers *numbers, const program_outputs *out, const char *what)
{
    const float *got = (const float *)(const void *)out->of[0].data;
    float *before = program_draw(numbers, MW_SHAPE(c->m, c->n), 1000);
    double *sum = calloc((size_t)(c->m * c->n), sizeof *sum), worst = 0.0;
    REQUIRE(before != NULL && sum != NULL && got != NULL);
    for (int64_t i = 0; c->before && i < c->m * c->n; i++)
        sum[i] = -(double)before[i];
    for (int i = 0; i < c->products; i++)
        add_loops(c, numbers, i, sum);
    for (int64_t i = 0; i < c->m * c->n; i++)
        worst = fmax(worst, fabs((double)got[i] + sum[i]));
    const double terms = (double)(c->products * c->k + 1);
    check_note(worst <= terms * terms * 0x1p-25, __FILE__, __LINE__, "%s: off by %g", what, worst);
    free(before);
    free(sum);
}

/* ---- cases ---- */

/* profile: of the ANE model, which rounds products and sums; NULL = in fp32 */
static void check_case(const sum_case *c, const char *profile, int threads)
{
    static const program_numbers numbers = {.seed = 11}, nan = {.seed = 12, .nan = true};
    mw_error err = {0};
    char what[96];
    snprintf(what, sizeof what, "%d products of %d x %d x %d, %d threads, %s", c->products, (int)c->m, (int)c->n,
             (int)c->k, threads, profile != NULL ? profile : "fp32");
    setting_begin("MW_ENGINE_PROFILE", profile != NULL ? profile : "ieee");
    const mw_device device = profile != NULL ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    mw_graph *graph = build(c);
    mw_program *fused = engine_compile(graph, device, threads, &err);
    mw_program *plain = program_compile_plain(graph, device, threads, &err);
    for (int i = 0; i < 2 && CHECK_OK(err); i++) {
        const program_numbers *drawn = i == 0 ? &numbers : &nan;
        program_outputs a = compute(fused, c, drawn, &err), b = compute(plain, c, drawn, &err);
        program_outputs_compare(&a, &b, a.count, what);
        if (i == 0 && profile == NULL)
            check_loops(c, drawn, &a, what);
        program_outputs_deinit(&a);
        program_outputs_deinit(&b);
    }
    mw_program_destroy(fused);
    mw_program_destroy(plain);
    mw_graph_destroy(graph);
    setting_end("MW_ENGINE_PROFILE");
}

static void check_cases(int threads)
{
    static const char *const profiles[] = {NULL, "ieee", "h13", "h14", "h16", "h17"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof profiles / sizeof *profiles; k++)
            check_case(&cases[i], profiles[k], threads);
}

static void test_sums_have_the_bits_of_products_that_are_added(void)
{
    for (int threads = 1; threads <= 3; threads++)
        check_cases(threads);
}

static void test_narrower_vectors_agree_too(void)
{
    static const char *const widths[] = {"0", "256"};
    for (int i = 0; i < 2; i++) {
        setting_begin("MW_ENGINE_WIDE", widths[i]);
        check_cases(2);
        setting_end("MW_ENGINE_WIDE");
    }
}

static void check_labels(mw_device device)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        mw_graph *graph = build(&cases[i]);
        mw_program *program = engine_compile(graph, device, 2, &err);
        const run_label labels[] = {{"matmul.sum", cases[i].sums}, {"matmul", cases[i].matmuls}};
        char what[32];
        snprintf(what, sizeof what, "row %d", (int)i);
        if (CHECK_OK(err))
            run_check_labels(what, mw_program_get_info(program).mil, labels, 2);
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

static void test_products_are_not_written(void) { check_labels(MW_DEVICE_CPU); }

static void test_products_are_not_written_in_fp16(void) { check_labels(MW_DEVICE_ANE); }

/* A BLAS would multiply without AVX-512, and adds in an order of its own. */
int main(void)
{
    mw__blas_choose("none", NULL);
    RUN(test_sums_have_the_bits_of_products_that_are_added);
    RUN(test_narrower_vectors_agree_too);
    RUN(test_products_are_not_written);
    RUN(test_products_are_not_written_in_fp16);
    return check_finish();
}
