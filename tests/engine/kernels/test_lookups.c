/* Rows of tables as programs for chips take and add to them, by products with matrices of zeros and ones: no zero is
 * multiplied, and the bytes are those of the products (MW_ENGINE_FUSE=0) and of plain loops here. */
#include "base/number/fp16.h"
#include "engine/program_case.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 520 }; /* indices */

/* ---- gather, and its gradient ---- */

typedef struct lookup {
    int64_t indices, rows, width;
    size_t takes, adds; /* steps of the plan: one for each block of the table; 0 where a product stays */
} lookup;

/* Numbers that fp16 counts to and others, cut before a whole digit; more rows than a tensor has on a chip; more indices
 * than a product sums at once; one index, one column. */
static const lookup lookups[] = {{5, 300, 7, 1, 1},      {300, 300, 9, 1, 1}, {300, 2500, 33, 1, 1},
                                 {520, 2560, 600, 1, 1}, {1, 2500, 40, 1, 1}, {40, 17000, 3, 2, 2},
                                 {20, 2500, 1, 1, 0}};

static mw_graph *build(const lookup *c)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *table = mw_input(graph, "table", MW_F32, MW_SHAPE(c->rows, c->width)), *dtable = NULL;
    mw_tensor *index = mw_input(graph, "index", MW_I32, MW_SHAPE(c->indices));
    mw_tensor *y = mw_gather(table, index, 0);
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, MW_SHAPE(c->indices, c->width));
    mw_vjp(&y, &dy, 1, &table, 1, &dtable, &err);
    CHECK_OK(err);
    mw_output(y, "y");
    mw_output(dtable, "dtable");
    return graph;
}

/* The first and the last, and many more than once. */
static void draw_indices(const lookup *c, int32_t *out)
{
    for (int64_t i = 0; i < c->indices; i++)
        out[i] = (int32_t)((i * i * 7 + i * 131) % c->rows);
    out[0] = (int32_t)c->rows - 1;
    out[c->indices / 2] = 0;
}

static program_outputs compute(mw_program *program, const lookup *c, const program_numbers *numbers, mw_error *err)
{
    static const char *const outputs[] = {"y", "dtable"};
    int32_t index[MOST];
    draw_indices(c, index);
    program_feed(program, "table", numbers, 1, err);
    program_feed(program, "dy", numbers, 2, err);
    mw_program_write(program, "index", MW_I32, index, (size_t)c->indices, err);
    mw_program_run(program, err);
    return program_outputs_read(program, outputs, 2, err);
}

static void compare(mw_program *fused, mw_program *plain, const lookup *c, const program_numbers *numbers,
                    const char *what)
{
    mw_error err = {0};
    program_outputs a = compute(fused, c, numbers, &err), b = compute(plain, c, numbers, &err);
    if (CHECK_OK(err))
        program_outputs_compare(&a, &b, 2, what);
    program_outputs_deinit(&a);
    program_outputs_deinit(&b);
}

static void check_lookup(const lookup *c, int threads)
{
    static const program_numbers few = {.seed = 5, .steps = 8.0f}, any = {.seed = 6};
    mw_error err = {0};
    char what[96];
    snprintf(what, sizeof what, "%d of %d x %d, %d threads", (int)c->indices, (int)c->rows, (int)c->width, threads);
    mw_graph *graph = build(c);
    mw_program *fused = engine_compile(graph, MW_DEVICE_ANE, threads, &err);
    mw_program *plain = program_compile_plain(graph, MW_DEVICE_ANE, threads, &err);
    if (CHECK_OK(err)) {
        compare(fused, plain, c, &few, what);
        compare(fused, plain, c, &any, what);
    }
    mw_program_destroy(fused);
    mw_program_destroy(plain);
    mw_graph_destroy(graph);
}

static void check_lookups(int threads)
{
    for (size_t i = 0; i < sizeof lookups / sizeof *lookups; i++)
        check_lookup(&lookups[i], threads);
}

static void test_rows_that_are_taken_by_index_have_the_bits_of_products(void)
{
    for (int threads = 1; threads <= 3; threads++)
        check_lookups(threads);
}

static void test_narrower_vectors_agree_too(void)
{
    static const char *const widths[] = {"0", "256"};
    for (int i = 0; i < 2; i++) {
        setting_begin("MW_ENGINE_WIDE", widths[i]);
        check_lookups(2);
        setting_end("MW_ENGINE_WIDE");
    }
}

static void test_no_zero_is_multiplied(void)
{
    for (size_t i = 0; i < sizeof lookups / sizeof *lookups; i++) {
        mw_error err = {0};
        mw_graph *graph = build(&lookups[i]);
        mw_program *program = engine_compile(graph, MW_DEVICE_ANE, 2, &err);
        const run_label labels[] = {
            {"lookup", lookups[i].takes}, {"lookup.add", lookups[i].adds}, {"matmul", lookups[i].adds > 0 ? 0 : 1}};
        char what[32];
        snprintf(what, sizeof what, "row %d", (int)i);
        if (CHECK_OK(err))
            run_check_labels(what, mw_program_get_info(program).mil, labels, level_here() == MW__LEVEL_AVX512 ? 3 : 1);
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

/* ---- against loops ---- */

/* Sums of few multiples of an eighth, which fp16 holds. */
static void check_loops(const lookup *c, const program_outputs *out, const program_numbers *numbers)
{
    int32_t index[MOST];
    float *table = program_draw(numbers, MW_SHAPE(c->rows, c->width), 1);
    float *dy = program_draw(numbers, MW_SHAPE(c->indices, c->width), 2);
    double *sum = calloc((size_t)(c->rows * c->width), sizeof *sum);
    int wrong = 0;
    REQUIRE(table != NULL && dy != NULL && sum != NULL);
    const uint16_t *y = (const uint16_t *)(const void *)out->of[0].data;
    const uint16_t *dtable = (const uint16_t *)(const void *)out->of[1].data;
    draw_indices(c, index);
    for (int64_t i = 0; i < c->indices; i++)
        for (int64_t j = 0; j < c->width; j++) {
            wrong += mw__fp16_to_float(y[i * c->width + j]) != table[index[i] * c->width + j];
            sum[index[i] * c->width + j] += (double)dy[i * c->width + j];
        }
    for (int64_t i = 0; i < c->rows * c->width; i++)
        wrong += (double)mw__fp16_to_float(dtable[i]) != sum[i];
    check_note(wrong == 0, __FILE__, __LINE__, "%d of %d: %d elements are wrong", (int)c->indices, (int)c->rows, wrong);
    free(table);
    free(dy);
    free(sum);
}

static void test_rows_are_those_of_loops(void)
{
    static const program_numbers few = {.seed = 9, .steps = 8.0f};
    for (size_t i = 0; i < sizeof lookups / sizeof *lookups; i++) {
        mw_error err = {0};
        mw_graph *graph = build(&lookups[i]);
        mw_program *program = engine_compile(graph, MW_DEVICE_ANE, 2, &err);
        program_outputs out = compute(program, &lookups[i], &few, &err);
        if (CHECK_OK(err) && CHECK(out.of[0].dtype == MW_F16 && out.of[1].dtype == MW_F16))
            check_loops(&lookups[i], &out, &few);
        program_outputs_deinit(&out);
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

/* ---- what is almost a lookup ---- */

enum { ROWS = 12, COLUMNS = 20, WIDTH = 9 };

typedef struct almost {
    const char *what;
    mw_dtype dtype;          /* of the numbers */
    double first, step;      /* of the columns' */
    mw_shape number, column; /* that are compared */
    double one, zero;        /* what is chosen */
    int transpose;           /* of the product */
    bool found;
} almost;

static const almost almosts[] = {
    {"a lookup", MW_F32, 0, 1, {2, {ROWS, 1}}, {1, {COLUMNS}}, 1, 0, MW_TRANSPOSE_NONE, true},
    {"an addition", MW_I32, 0, 1, {2, {ROWS, 1}}, {1, {COLUMNS}}, 1, 0, MW_TRANSPOSE_X, true},
    {"columns that begin behind 0", MW_F32, 5, 1, {2, {ROWS, 1}}, {1, {COLUMNS}}, 1, 0, MW_TRANSPOSE_NONE, true},
    {"twos", MW_F32, 0, 1, {2, {ROWS, 1}}, {1, {COLUMNS}}, 2, 0, MW_TRANSPOSE_NONE, false},
    {"ones around", MW_F32, 0, 1, {2, {ROWS, 1}}, {1, {COLUMNS}}, 1, 1, MW_TRANSPOSE_NONE, false},
    {"steps of a half", MW_F32, 0, 0.5, {2, {ROWS, 1}}, {1, {COLUMNS}}, 1, 0, MW_TRANSPOSE_NONE, false},
    {"numbers beyond those of fp16", MW_F32, 4000, 1, {2, {ROWS, 1}}, {1, {COLUMNS}}, 1, 0, MW_TRANSPOSE_NONE, false},
    {"a number for each element", MW_F32, 0, 1, {2, {ROWS, COLUMNS}}, {1, {COLUMNS}}, 1, 0, MW_TRANSPOSE_NONE, false},
    {"a number for each column", MW_F32, 0, 1, {1, {COLUMNS}}, {2, {ROWS, 1}}, 1, 0, MW_TRANSPOSE_NONE, false},
    {"a table that is transposed", MW_F32, 0, 1, {2, {ROWS, 1}}, {1, {COLUMNS}}, 1, 0, MW_TRANSPOSE_Y, false},
};

static mw_graph *build_almost(const almost *c)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *number = mw_input(graph, "number", c->dtype, c->number);
    const int64_t count = mw_shape_count(c->column);
    mw_tensor *column =
        mw_reshape(mw_range_1d(graph, c->dtype, c->first, c->first + c->step * (double)count, c->step), c->column);
    mw_tensor *hot =
        mw_select(mw_equal(number, column), mw_scalar(graph, MW_F32, c->one), mw_scalar(graph, MW_F32, c->zero));
    const mw_shape table = c->transpose == MW_TRANSPOSE_X   ? MW_SHAPE(ROWS, WIDTH)
                           : c->transpose == MW_TRANSPOSE_Y ? MW_SHAPE(WIDTH, COLUMNS)
                                                            : MW_SHAPE(COLUMNS, WIDTH);
    mw_output(mw_matmul(hot, mw_input(graph, "table", MW_F32, table), c->transpose), "y");
    return graph;
}

static program_outputs compute_almost(mw_program *program, const almost *c, mw_error *err)
{
    static const char *const outputs[] = {"y"};
    static const program_numbers any = {.seed = 3};
    float number[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        number[i] = (float)(i * 5 % 23) + (float)c->first;
    mw_program_write(program, "number", MW_F32, number, (size_t)mw_shape_count(c->number), err);
    program_feed(program, "table", &any, 1, err);
    mw_program_run(program, err);
    return program_outputs_read(program, outputs, 1, err);
}

static void check_almost(const almost *c)
{
    mw_error err = {0};
    mw_graph *graph = build_almost(c);
    mw_program *fused = engine_compile(graph, MW_DEVICE_CPU, 2, &err);
    mw_program *plain = program_compile_plain(graph, MW_DEVICE_CPU, 2, &err);
    const run_label labels[] = {{"matmul", c->found ? 0 : 1}};
    if (CHECK_OK(err)) {
        program_outputs a = compute_almost(fused, c, &err), b = compute_almost(plain, c, &err);
        if (CHECK_OK(err))
            program_outputs_compare(&a, &b, 1, c->what);
        program_outputs_deinit(&a);
        program_outputs_deinit(&b);
        run_check_labels(c->what, mw_program_get_info(fused).mil, labels, 1);
    }
    mw_program_destroy(fused);
    mw_program_destroy(plain);
    mw_graph_destroy(graph);
}

static void test_what_is_almost_a_lookup_is_multiplied(void)
{
    for (size_t i = 0; i < sizeof almosts / sizeof *almosts; i++)
        check_almost(&almosts[i]);
}

int main(void)
{
    RUN(test_rows_that_are_taken_by_index_have_the_bits_of_products);
    RUN(test_narrower_vectors_agree_too);
    RUN(test_no_zero_is_multiplied);
    RUN(test_rows_are_those_of_loops);
    RUN(test_what_is_almost_a_lookup_is_multiplied);
    return check_finish();
}
