/* Products whose second operand is a large fp16 port: it is widened in parts where the product has few rows, and the
 * bytes are those of a product with fp32 that was widened before. */
#include "engine/program_case.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct product {
    int64_t m, k, n;
    bool transpose;
} product;

/* One row and several; more and fewer columns and rows than a block or strip has; more rows than it is done for. */
static const product products[] = {{1, 301, 700, false},  {1, 301, 700, true},   {1, 70, 9001, false},
                                   {3, 1100, 77, true},   {3, 1100, 77, false},  {19, 515, 1500, false},
                                   {64, 300, 2100, true}, {33, 256, 300, false}, {65, 300, 300, false}};

/* The product itself, `reads` times, and with a weight that is computed: multiplied by one. */
static mw_program *compile(const product *p, int reads, int threads, mw_error *err)
{
    const uint16_t number = 0x3c00;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(p->m, p->k));
    mw_tensor *w = mw_input(graph, "w", MW_F16, p->transpose ? MW_SHAPE(p->n, p->k) : MW_SHAPE(p->k, p->n));
    mw_tensor *same = mw_mul(w, mw_constant(graph, MW_F16, (mw_shape){0}, &number));
    const int transpose = p->transpose ? MW_TRANSPOSE_Y : MW_TRANSPOSE_NONE;
    mw_output(mw_matmul(x, w, transpose), "parts");
    for (int i = 1; i < reads; i++)
        mw_output(mw_matmul(mw_neg(x), w, transpose), i == 1 ? "second" : "third");
    mw_output(mw_matmul(x, same, transpose), "whole");
    mw_program *program = engine_compile(graph, MW_DEVICE_ANE, threads, err);
    mw_graph_destroy(graph);
    return program;
}

static void check_product(const product *p, int reads, int threads, bool nan)
{
    static const char *const parts[] = {"parts"}, *const whole[] = {"whole"};
    const program_numbers numbers = {.seed = 7, .nan = nan};
    mw_error err = {0};
    char what[96];
    mw_program *program = compile(p, reads, threads, &err);
    program_feed(program, "x", &(program_numbers){.seed = 7}, 1, &err);
    program_feed(program, "w", &numbers, 2, &err);
    mw_program_run(program, &err);
    program_outputs a = program_outputs_read(program, parts, 1, &err);
    program_outputs b = program_outputs_read(program, whole, 1, &err);
    snprintf(what, sizeof what, "%d x %d x %d%s, %d threads", (int)p->m, (int)p->k, (int)p->n,
             p->transpose ? " transposed" : "", threads);
    if (CHECK_OK(err))
        program_outputs_compare(&a, &b, 1, what);
    program_outputs_deinit(&a);
    program_outputs_deinit(&b);
    mw_program_destroy(program);
}

static void check_products(bool nan)
{
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        for (int threads = 1; threads <= 3; threads++)
            check_product(&products[i], 1, threads, nan);
}

static void test_weights_widened_in_parts_change_no_bit(void) { check_products(false); }

static void test_weights_of_several_products_are_widened_once(void)
{
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        check_product(&products[i], 3, 2, false);
}

static void test_a_nan_of_a_port_is_infinity_in_parts_too(void) { check_products(true); }

static void test_narrower_vectors_agree_too(void)
{
    static const char *const widths[] = {"0", "256"};
    for (int i = 0; i < 2; i++) {
        setting_begin("MW_ENGINE_WIDE", widths[i]);
        check_products(false);
        setting_end("MW_ENGINE_WIDE");
    }
}

int main(void)
{
    RUN(test_weights_widened_in_parts_change_no_bit);
    RUN(test_weights_of_several_products_are_widened_once);
    RUN(test_a_nan_of_a_port_is_infinity_in_parts_too);
    RUN(test_narrower_vectors_agree_too);
    return check_finish();
}
