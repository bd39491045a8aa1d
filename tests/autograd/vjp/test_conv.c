/* Gradients of convolution where no other test looks: constant weights as variables, and a failed allocation anywhere
 * in either form. */
#include "support/check.h"
#include "support/failing.h"
#include "support/oracles/oracle.h"

#include <millwright/millwright.h>

#include <string.h>

#define MAX_REQUESTS 20000

/* Layers of both operations with everything that the forms have to write. */
static mw_status build(const mw_allocator *allocator, mw__lowering lowering, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    mw_graph *graph = mw_graph_create(&options, NULL);
    if (graph == NULL)
        return MW_ERROR_MEMORY;
    graph->lowering = lowering;
    mw_conv_options numbers = mw_conv_defaults();
    numbers.stride[0] = numbers.dilation[1] = numbers.groups = 2;
    numbers.pad_type = MW_PAD_CUSTOM;
    numbers.pad[0] = numbers.pad[3] = 1;
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 4, 5, 6));
    mw_tensor *h = mw_conv_layer(x, 6, MW_SHAPE(2, 3), "a", &numbers);
    h = mw_conv_transpose_layer(h, 4, MW_SHAPE(3, 2), "b", &numbers);
    mw_tensor *wanted[2] = {mw_graph_find(graph, "a.weight"), mw_graph_find(graph, "b.bias")}, *dx[2] = {0};
    mw_tensor *loss = mw_reduce_sum(h, MW_ALL_AXES, false);
    mw_status status = mw_graph_check(graph, err);
    if (status == MW_OK)
        status = mw_grad(loss, wanted, 2, dx, err);
    mw_graph_destroy(graph);
    return status;
}

static void check_faults(mw__lowering lowering)
{
    long n = 0;
    for (; n < MAX_REQUESTS; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        const mw_status status = build(&allocator, lowering, &err);
        CHECK_INT(failing.live, 0);
        CHECK_INT(status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        if (!failing.failed)
            break;
    }
    CHECK(n > 10 && n < MAX_REQUESTS);
}

static void test_the_compact_form_survives_every_failed_allocation(void) { check_faults(MW__LOWERING_NATIVE); }
static void test_the_decomposed_form_survives_every_failed_allocation(void) { check_faults(MW__LOWERING_DECOMPOSED); }

enum { WEIGHTS = 2 * 3 * 2 * 2, ELEMENTS = 2 * 2 * 3 * 3 };

/* Sum of squares of a conv_transpose, and its gradient with respect to the weight. */
static void transpose_gradient(mw_tensor *x, mw_tensor *weight, mw_tensor **out_dweight, mw_error *err)
{
    mw_conv_options options = mw_conv_defaults();
    options.stride[0] = 2;
    options.pad_type = MW_PAD_SAME;
    mw_tensor *y = mw_conv_transpose(x, weight, NULL, &options);
    mw_grad(mw_reduce_sum(mw_square(y), MW_ALL_AXES, false), &weight, 1, out_dweight, err);
}

static void test_a_constant_weight_has_the_gradient_of_a_computed_one(void)
{
    float numbers[WEIGHTS];
    double weights[WEIGHTS], elements[ELEMENTS];
    for (int i = 0; i < WEIGHTS; i++)
        weights[i] = (double)(numbers[i] = (float)(i * 7 % 11 - 5) / 8.0f);
    for (int i = 0; i < ELEMENTS; i++)
        elements[i] = (double)(i * 5 % 13 - 6) / 4.0;
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const mw_shape shape = MW_SHAPE(2, 3, 2, 2);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 2, 3, 3));
    mw_tensor *constant = mw_constant(graph, MW_F32, shape, numbers);
    mw_tensor *computed = mw_input(graph, "weight", MW_F32, shape), *a = NULL, *b = NULL;
    transpose_gradient(x, constant, &a, &err);
    transpose_gradient(x, computed, &b, &err);
    CHECK_OK(err);
    oracle o;
    oracle_init(&o, graph);
    oracle_set(&o, x, elements);
    oracle_set(&o, computed, weights);
    if (err.status == MW_OK && CHECK(oracle_run(&o)))
        for (int i = 0; i < WEIGHTS; i++)
            CHECK_NEAR(oracle_get(&o, a)[i], oracle_get(&o, b)[i], 1e-12);
    oracle_deinit(&o);
    mw_graph_destroy(graph);
}

/* Multiplications of the convolutions among the operations [from, ..) of the graph. */
static int64_t products(const mw_graph *graph, size_t from)
{
    int64_t all = 0;
    for (size_t i = from; i < graph->block->op_count; i++) {
        const mw__op *op = graph->block->ops[i];
        if (strcmp(op->kind, "conv") != 0)
            continue;
        const mw_shape weight = mw_tensor_shape(mw__arg(op, "weight"));
        all += mw_shape_count(mw_tensor_shape(op->results[0])) * (mw_shape_count(weight) / weight.dim[0]);
    }
    return all;
}

/* As many as the map has, not those of the x that the forward pass spreads. Of a dilated kernel dy is spread. */
static void test_a_trained_transpose_has_gradients_without_spreading_x(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_conv_options options = mw_conv_defaults();
    options.stride[0] = options.stride[1] = 2;
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3, 8, 8)), *dx = NULL, *dweight = NULL;
    mw_tensor *y = mw_conv_transpose_layer(x, 5, MW_SHAPE(2, 2), "up", &options);
    mw_tensor *weight = mw_graph_find(graph, "up.weight"), *sum = mw_reduce_sum(y, MW_ALL_AXES, false);
    const int64_t map = (int64_t)2 * 8 * 8 * 3 * 5 * 2 * 2;
    const size_t forward = graph->block->op_count;
    mw_grad(sum, &x, 1, &dx, &err);
    CHECK_INT(products(graph, forward), map);
    const size_t by_x = graph->block->op_count;
    mw_grad(sum, &weight, 1, &dweight, &err);
    CHECK_OK(err);
    CHECK(products(graph, by_x) <= 4 * map);
    for (size_t i = by_x; i < graph->block->op_count; i++)
        CHECK(strcmp(graph->block->ops[i]->kind, "reverse") != 0);
    mw_graph_destroy(graph);
}

/* Before ios17 a bias that is computed is added beside the operation: its gradient is that of the addition. */
static void test_an_added_bias_has_its_gradient(void)
{
    mw_error err = {0};
    mw_graph_options options = mw_graph_defaults();
    options.opset = MW_IOS15;
    mw_graph *graph = mw_graph_create(&options, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 1, 3));
    mw_tensor *y = mw_conv_layer(x, 2, MW_SHAPE(2), "c", NULL), *bias = mw_graph_find(graph, "c.bias"), *db = NULL;
    mw_grad(mw_reduce_sum(y, MW_ALL_AXES, false), &bias, 1, &db, &err);
    CHECK_OK(err);
    oracle o;
    oracle_init(&o, graph);
    oracle_set(&o, x, (const double[]){1, 2, 3, 4, 5, 6});
    oracle_set(&o, mw_graph_find(graph, "c.weight"), (const double[]){1, 2, 3, 4});
    oracle_set(&o, bias, (const double[]){0, 0});
    if (err.status == MW_OK && CHECK(oracle_run(&o))) {
        CHECK_NEAR(oracle_get(&o, db)[0], 4.0, 1e-12);
        CHECK_NEAR(oracle_get(&o, db)[1], 4.0, 1e-12);
        CHECK_NEAR(oracle_get(&o, y)[1], 8.0, 1e-12); /* 2 x 1 + 3 x 2 */
    }
    oracle_deinit(&o);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_the_compact_form_survives_every_failed_allocation);
    RUN(test_the_decomposed_form_survives_every_failed_allocation);
    RUN(test_a_constant_weight_has_the_gradient_of_a_computed_one);
    RUN(test_a_trained_transpose_has_gradients_without_spreading_x);
    RUN(test_an_added_bias_has_its_gradient);
    return check_finish();
}
