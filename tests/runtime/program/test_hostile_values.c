/* Values that no operation can make sense of, run on the engine: indices far outside, NaN among what is sorted, empty
 * axes. Nothing outside a tensor is read or written (ASan), and what is promised for such values holds. */
#include "support/check.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { MANY = 200000 };

static mw_program *compile(mw_graph *graph, int threads)
{
    mw_error err = {0};
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_CPU;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = threads;
    mw_program *program = mw_program_create(graph, &options, &err);
    CHECK_OK(err);
    return program;
}

/* Indices from INT32_MIN to INT32_MAX, few of them inside. */
static int32_t *wild_indices(void)
{
    int32_t *indices = malloc(MANY * sizeof *indices);
    uint32_t state = 1;
    for (int i = 0; indices != NULL && i < MANY; i++) {
        state = state * 1664525U + 1013904223U;
        indices[i] = i % 5 == 0 ? (int32_t)(state >> 16) % 7 : (int32_t)state;
    }
    return indices;
}

static void test_indices_outside_give_zeros_or_nothing(void)
{
    for (int threads = 1; threads <= 3; threads += 2) {
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_error err = {0};
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(5)), *i = mw_input(graph, "i", MW_I32, MW_SHAPE(MANY));
        mw_tensor *ones = mw_fill(graph, MW_F32, MW_SHAPE(MANY), 1.0);
        mw_tensor *pairs = mw_reshape(i, MW_SHAPE(MANY, 1));
        mw_output(mw_gather(x, i, 0), "gathered");
        mw_output(mw_gather_nd(x, pairs, 0), "gathered_nd");
        mw_output(mw_gather_along_axis(x, i, 0), "gathered_along");
        mw_output(mw_scatter(x, i, ones, 0, MW_SCATTER_ADD), "scattered");
        mw_output(mw_scatter_nd(x, pairs, ones, MW_SCATTER_ADD), "scattered_nd");
        mw_output(mw_scatter_along_axis(x, i, ones, 0, MW_SCATTER_ADD), "scattered_along");
        mw_program *program = compile(graph, threads);
        int32_t *indices = wild_indices();
        static const float data[5] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F};
        REQUIRE(program != NULL && indices != NULL);
        mw_program_write(program, "x", MW_F32, data, 5, &err);
        mw_program_write(program, "i", MW_I32, indices, MANY, &err);
        CHECK_INT(mw_program_run(program, &err), MW_OK);
        double sums[5] = {1.0, 2.0, 3.0, 4.0, 5.0};
        for (int k = 0; k < MANY; k++)
            if (indices[k] >= 0 && indices[k] < 5)
                sums[indices[k]] += 1.0;
        static const char *const gathers[] = {"gathered", "gathered_nd", "gathered_along"};
        static const char *const scatters[] = {"scattered", "scattered_nd", "scattered_along"};
        for (int form = 0; form < 3; form++) {
            const float *taken = mw_program_view(program, gathers[form], &err);
            int wrong = 0;
            for (int k = 0; k < MANY; k++)
                wrong += taken[k] != (indices[k] >= 0 && indices[k] < 5 ? data[indices[k]] : 0.0F);
            CHECK_INT(wrong, 0);
            const float *y = mw_program_view(program, scatters[form], &err);
            for (int k = 0; k < 5; k++)
                CHECK_NEAR((double)y[k], sums[k], 0.0);
        }
        CHECK_OK(err);
        free(indices);
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

static void test_nan_sorts_as_the_largest(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(6)), *values = NULL, *indices = NULL;
    mw_output(mw_argsort(x, 0, true), "up");
    mw_output(mw_argsort(x, 0, false), "down");
    mw_topk(x, 6, 0, false, &values, &indices);
    mw_output(values, "values");
    mw_program *program = compile(graph, 2);
    REQUIRE(program != NULL);
    static const float data[6] = {NAN, 1.0F, -INFINITY, NAN, INFINITY, -0.0F};
    mw_program_write(program, "x", MW_F32, data, 6, &err);
    CHECK_INT(mw_program_run(program, &err), MW_OK);
    static const int32_t up[6] = {2, 5, 1, 4, 0, 3}, down[6] = {0, 3, 4, 1, 5, 2};
    CHECK(memcmp(mw_program_view(program, "up", &err), up, sizeof up) == 0);
    CHECK(memcmp(mw_program_view(program, "down", &err), down, sizeof down) == 0);
    const float *sorted = mw_program_view(program, "values", &err);
    CHECK(isnan(sorted[0]) && isnan(sorted[1]) && isinf(sorted[2]) && sorted[5] < 0.0F);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_k_outside_is_refused(void)
{
    static const int64_t wrong[] = {0, -2, 7, INT32_MAX, INT64_MAX}; /* -1 means all */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_error err = {0};
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(6)), *values = x;
        CHECK(mw_topk(x, wrong[i], 0, false, &values, NULL) != MW_OK);
        CHECK(values == NULL);
        mw_graph_check(graph, &err);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "topk");
        mw_graph_destroy(graph);
    }
}

static void test_empty_axes_run(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3, 0)), *k = mw_input(graph, "k", MW_I32, MW_SHAPE(0));
    mw_output(mw_cumsum(x, 1, true, true), "sums");
    mw_output(mw_argsort(x, 1, true), "order");
    mw_output(mw_reduce_sum(x, MW_AXES(1), false), "sum");
    mw_output(mw_gather(x, k, 1), "taken");
    mw_output(mw_scatter(mw_fill(graph, MW_F32, MW_SHAPE(4), 2.0), k, mw_fill(graph, MW_F32, MW_SHAPE(0), 1.0), 0,
                         MW_SCATTER_ADD),
              "kept");
    mw_program *program = compile(graph, 2);
    REQUIRE(program != NULL);
    CHECK_INT(mw_program_run(program, &err), MW_OK);
    const float *sum = mw_program_view(program, "sum", &err), *kept = mw_program_view(program, "kept", &err);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR((double)sum[i], 0.0, 0.0);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR((double)kept[i], 2.0, 0.0);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_dropout_and_batch_norm_refuse_numbers_without_meaning(void)
{
    static const float wrong[] = {1.0F, -0.1F, 2.0F, INFINITY, NAN};
    for (size_t i = 0; i < 2 * (sizeof wrong / sizeof *wrong); i++) {
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_error err = {0};
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
        const float p = wrong[i / 2];
        CHECK((i % 2 == 0 ? mw_dropout(x, p, "drop") : mw_batch_norm_layer(x, 0.1F, i == 1 ? -1.0F : -p * p, "norm")) ==
              NULL);
        mw_graph_check(graph, &err);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT,
                    i % 2 == 0 ? "dropout \"drop\": p is " : "batch_norm \"norm\": epsilon is ");
        mw_graph_destroy(graph);
    }
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    CHECK(mw_batch_norm_layer(mw_input(graph, "x", MW_F32, MW_SHAPE(1, 3)), 0.1F, 1e-5F, "norm") == NULL);
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "one element per channel, and a variance needs two");
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_indices_outside_give_zeros_or_nothing);
    RUN(test_nan_sorts_as_the_largest);
    RUN(test_k_outside_is_refused);
    RUN(test_empty_axes_run);
    RUN(test_dropout_and_batch_norm_refuse_numbers_without_meaning);
    return check_finish();
}
