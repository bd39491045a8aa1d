/* Compressed constants: what is stored is what the report says, in every operator set, and a program with them runs as
 * one with the numbers that they stand for. */
#include "base/number/fp16.h"
#include "graph/constants/compressed.h"
#include "graph/transform/tune/palette.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/on_engine.h"

#include <millwright/mil.h>
#include <millwright/weights.h>
#include <stdlib.h>

enum { ROWS = 6, COLUMNS = 10, COUNT = ROWS * COLUMNS };

static float weight[COUNT];

static void fill_weight(void)
{
    uint32_t state = 7;
    for (int i = 0; i < COUNT; i++) {
        state = state * 1664525u + 1013904223u;
        weight[i] = (float)(int32_t)state / 2147483648.0f * (float)(1 + i / COLUMNS); /* rows of other sizes */
    }
}

/* y = x w^T with a constant w of that type. */
static mw_graph *build(mw_opset opset, mw_dtype dtype)
{
    uint16_t halves[COUNT];
    mw_graph_options options = mw_graph_defaults();
    options.opset = opset;
    mw_graph *graph = mw_graph_create(&options, NULL);
    fill_weight();
    mw__fp16_from_float_n(halves, weight, COUNT);
    mw_tensor *x = mw_input(graph, "x", dtype, MW_SHAPE(1, COLUMNS));
    const void *data = dtype == MW_F16 ? (const void *)halves : weight;
    mw_tensor *w = mw_name(mw_constant(graph, dtype, MW_SHAPE(ROWS, COLUMNS), data), "w");
    mw_output(mw_matmul(x, w, MW_TRANSPOSE_Y), "y");
    if (dtype == MW_F16)
        mw__fp16_to_float_n(weight, halves, COUNT);
    return graph;
}

static mw_compress_choice last;
static char last_name[64];
static int reports;

static void keep_report(void *user, const mw_compress_choice *report)
{
    (void)user;
    last = *report;
    snprintf(last_name, sizeof last_name, "%s", report->name);
    reports++;
}

static mw_compress_options options_of(mw_weight_form form, int bits)
{
    mw_compress_options options = mw_compress_defaults(form);
    options.bits = bits;
    options.least_elements = COUNT;
    options.report = keep_report;
    reports = 0;
    return options;
}

/* The numbers that stand where "w" stood. */
static void stored_numbers(const mw_graph *graph, float *out)
{
    mw_error err = {0};
    const mw_tensor *w = mw_graph_find(graph, "w");
    REQUIRE(w != NULL);
    const mw__payload *payload = mw__constant_payload(w, &err);
    REQUIRE(payload != NULL);
    for (size_t i = 0; i < COUNT; i++)
        out[i] = (float)mw__payload_float(payload, i);
}

static void run(const mw_graph *graph, float *out)
{
    mw_error err = {0};
    float x[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        x[i] = (float)(i - 4) / 8;
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    mw_program_write(program, "x", MW_F32, x, COLUMNS, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, out, ROWS, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
}

/* Against the numbers that were given, in double; and the program against the products of what is stored. */
static void check_compressed(const mw_graph *small, mw_dtype dtype, double bound)
{
    float stored[COUNT] = {0}, y[ROWS];
    double largest = 0, error = 0, whole = 0;
    stored_numbers(small, stored);
    for (int i = 0; i < COUNT; i++) {
        const double difference = (double)stored[i] - (double)weight[i];
        largest = fabs(difference) > largest ? fabs(difference) : largest;
        error += difference * difference;
        whole += (double)weight[i] * (double)weight[i];
    }
    CHECK_NEAR(last.largest_error, largest, 1e-12);
    CHECK_NEAR(last.relative_error, sqrt(error / whole), 1e-9);
    check_note(largest <= bound, __FILE__, __LINE__, "an error of %g, beyond %g", largest, bound);
    run(small, y);
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int i = 0; i < COLUMNS; i++)
            sum += (double)stored[r * COLUMNS + i] * (i - 4) / 8;
        CHECK_NEAR(y[r], sum, dtype == MW_F16 ? 2e-2 : 1e-5);
    }
}

/* Text and back: the program is written in its own operator set, and prints the same again. */
static void check_text(const mw_graph *small, const char *operation)
{
    mw_error err = {0};
    char *text = mw_graph_print_mil(small, NULL, &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, operation);
    mw_graph *again = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    CHECK(mw_graph_verify(again, &err) == MW_OK);
    char *printed = mw_graph_print_mil(again, NULL, &err);
    CHECK_OK(err);
    CHECK_STR(printed, text);
    mw_string_free(printed);
    mw_string_free(text);
    mw_graph_destroy(again);
}

static void check_form(mw_opset opset, mw_dtype dtype, mw_weight_form form, int bits, const char *operation,
                       double bound)
{
    mw_error err = {0};
    const mw_compress_options options = options_of(form, bits);
    mw_graph *graph = build(opset, dtype);
    mw_graph *small = mw_graph_compress(graph, &options, &err);
    CHECK_OK(err);
    if (CHECK(small != NULL)) {
        CHECK_INT(reports, 1);
        CHECK_STR(last_name, "w");
        CHECK(last.reason == NULL && last.dtype == dtype);
        CHECK_INT(last.size_before, COUNT * (dtype == MW_F16 ? 2 : 4));
        check_compressed(small, dtype, bound);
        check_text(small, operation);
    }
    mw_graph_destroy(small);
    mw_graph_destroy(graph);
}

static void test_int8_is_within_half_a_step_of_each_row(void)
{
    for (int opset = MW_IOS16; opset <= MW_IOS18; opset++)
        for (int half = 0; half < 2; half++)
            check_form((mw_opset)opset, half ? MW_F16 : MW_F32, MW_WEIGHTS_I8, 4,
                       opset < MW_IOS18 ? "constexpr_affine_dequantize" : "constexpr_blockwise_shift_scale",
                       6.0 / 254 * (half ? 1.2 : 1.0001));
    CHECK_INT(last.size_after, COUNT + 2 * ROWS);
}

static void test_palettes_of_every_width(void)
{
    static const int widths[] = {1, 2, 4, 6, 8};
    static const double bounds[] = {6, 3, 1, 0.25, 0.02};
    for (int opset = MW_IOS16; opset <= MW_IOS18; opset++)
        for (int i = 0; i < 5; i++)
            check_form((mw_opset)opset, i % 2 ? MW_F16 : MW_F32, MW_WEIGHTS_PALETTE, widths[i],
                       "constexpr_lut_to_dense", bounds[i]);
}

static void test_fp16_is_rounded_once(void)
{
    check_form(MW_IOS16, MW_F32, MW_WEIGHTS_F16, 4, "constexpr_cast", 6.0 / 2048);
    CHECK_INT(last.size_after, 2 * COUNT);
    check_form(MW_IOS18, MW_F32, MW_WEIGHTS_F16, 4, "constexpr_cast", 6.0 / 2048);
}

static void test_what_cannot_be_compressed_stays_and_says_why(void)
{
    mw_error err = {0};
    mw_compress_options options = options_of(MW_WEIGHTS_F16, 4);
    mw_graph *graph = build(MW_IOS18, MW_F16);
    mw_graph *same = mw_graph_compress(graph, &options, &err);
    CHECK_STR(last.reason, "it is fp16");
    CHECK_INT(last.size_after, last.size_before);
    mw_graph_destroy(same);
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, NULL);
    float huge[2] = {1e30f, 1};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2));
    mw_output(mw_add(x, mw_constant(graph, MW_F32, MW_SHAPE(2), huge)), "y");
    options.least_elements = 2;
    same = mw_graph_compress(graph, &options, &err);
    CHECK_STR(last.reason, "fp16 does not hold an element");
    mw_graph_destroy(same);
    options.form = MW_WEIGHTS_I8;
    options.least_elements = 3;
    reports = 0;
    same = mw_graph_compress(graph, &options, &err);
    CHECK_INT(reports, 0);
    CHECK_OK(err);
    mw_graph_destroy(same);
    mw_graph_destroy(graph);
}

static void test_wrong_options_are_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = build(MW_IOS15, MW_F32);
    mw_compress_options options = options_of(MW_WEIGHTS_I8, 4);
    CHECK(mw_graph_compress(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "ios16");
    err = (mw_error){0};
    options = options_of(MW_WEIGHTS_PALETTE, 3);
    CHECK(mw_graph_compress(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "not 3");
    err = (mw_error){0};
    options = options_of((mw_weight_form)9, 4);
    CHECK(mw_graph_compress(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no form of weights");
    err = (mw_error){0};
    CHECK(mw_graph_compress(NULL, &options, &err) == NULL);
    err = (mw_error){0};
    CHECK(mw_graph_compress(graph, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_compress_defaults");
    mw_graph_destroy(graph);
}

static void test_a_palette_of_few_numbers_is_exact(void)
{
    static const float values[] = {3, -1, 3, 0.5f, -1, 0.5f, 3, 7, -1};
    float table[4];
    unsigned char index[9];
    CHECK(mw__palette_make(mw__allocator_default(), values, 9, table, 4, index, NULL) == MW_OK);
    for (int i = 0; i < 9; i++)
        CHECK(table[index[i]] == values[i]);
    const float one[] = {2, 2, 2};
    CHECK(mw__palette_make(mw__allocator_default(), one, 3, table, 4, index, NULL) == MW_OK);
    CHECK(table[index[0]] == 2 && table[index[2]] == 2);
}

static void test_every_allocation_may_fail(void)
{
    bool good = false;
    for (long n = 0; !good; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_graph *graph = mw_graph_create(&options, NULL);
        float data[32];
        for (int i = 0; i < 32; i++)
            data[i] = (float)i;
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 16));
        mw_output(mw_add(x, mw_constant(graph, MW_F32, MW_SHAPE(2, 16), data)), "y");
        mw_compress_options how = options_of(n % 2 ? MW_WEIGHTS_I8 : MW_WEIGHTS_PALETTE, 4);
        how.least_elements = 8;
        mw_error err = {0};
        failing.fail_at = failing.requests + n / 2;
        mw_graph *small = mw_graph_compress(graph, &how, &err);
        good = small != NULL && n % 2 == 1;
        check_note(small != NULL ? !failing.failed : err.status == MW_ERROR_MEMORY, __FILE__, __LINE__,
                   "allocation %ld: %d %s", n, (int)err.status, err.message);
        mw_graph_destroy(small);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
        REQUIRE(n < 5000);
    }
}

int main(void)
{
    RUN(test_int8_is_within_half_a_step_of_each_row);
    RUN(test_palettes_of_every_width);
    RUN(test_fp16_is_rounded_once);
    RUN(test_what_cannot_be_compressed_stays_and_says_why);
    RUN(test_wrong_options_are_refused);
    RUN(test_a_palette_of_few_numbers_is_exact);
    RUN(test_every_allocation_may_fail);
    return check_finish();
}
