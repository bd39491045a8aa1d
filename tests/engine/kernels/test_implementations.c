/* The rows of implementation.h: the first that takes an operation is taken, the others before it say why they do not,
 * and the plain reference, last, takes everything. */
#include "engine/core/kernel.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/implementation.h"
#include "engine/run.h"
#include "support/check.h"

#include <millwright/graph.h>
#include <millwright/ops/conv.h>
#include <string.h>

/* A conv of 3 x 3 over x, as an operation. */
static const mw__op *conv_of(mw_graph *graph, mw_shape x, int64_t outputs)
{
    mw_tensor *weight = mw_input(graph, "weight", MW_F32, MW_SHAPE(outputs, x.dim[1], 3, 3));
    const mw_tensor *y = mw_conv(mw_input(graph, "x", MW_F32, x), weight, NULL, NULL);
    return y != NULL ? y->op : NULL;
}

static void check_rows(mw_shape x, int64_t outputs)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const mw__op *op = conv_of(graph, x, outputs);
    REQUIRE(op != NULL);
    const mw__config config = config_here();
    const mw__implementations list = mw__conv_implementations();
    const mw__implementation *taken = mw__implementation_choose(list, &config, op);
    CHECK(mw__implementation_declines(taken, &config, op) == NULL);
    for (const mw__implementation *row = list.rows; row < taken; row++)
        CHECK(mw__implementation_declines(row, &config, op) != NULL && row->level <= MW__LEVEL_AVX512);
    CHECK(config.level == MW__LEVEL_REF || taken->level > MW__LEVEL_REF);
    mw_graph_destroy(graph);
}

static void test_what_declines_says_why(void)
{
    check_rows(MW_SHAPE(2, 16, 12, 12), 32);
    check_rows(MW_SHAPE(2, 3, 5, 5), 2);
    check_rows(MW_SHAPE(1, 1, 3, 3), 1);
}

static void test_the_reference_is_last_and_takes_everything(void)
{
    const mw__implementations list = mw__conv_implementations();
    const mw__implementation *last = &list.rows[list.count - 1];
    CHECK(strcmp(last->name, "ref") == 0 && last->level == MW__LEVEL_REF && last->declines == NULL);
    for (size_t i = 0; i < list.count; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(list.rows[i].name, list.rows[j].name) != 0);
}

static void test_a_product_says_what_it_is_by(void)
{
    const mw__config config = config_here();
    const mw__gemm_code small = mw__gemm_choose(&config, 2, 2, 2), large = mw__gemm_choose(&config, 512, 512, 512);
    CHECK(small.kernel == NULL && small.sgemm == NULL);
    CHECK_STR(small.name, config.level == MW__LEVEL_REF ? "ref" : "small");
    CHECK((large.kernel != NULL) == (strcmp(large.name, "avx512") == 0));
    CHECK((large.sgemm != NULL) == (strcmp(large.name, "BLAS") == 0));
}

/* With AVX2 a BLAS is not asked for a few rows times a weight that is transposed. */
static void test_few_rows_are_not_for_a_blas(void)
{
    static const struct {
        int64_t m, n, k;
        bool transpose_b, across;
    } rows[] = {{4, 3072, 768, true, true},   {64, 768, 3072, true, true},   {4, 3072, 768, false, false},
                {65, 3072, 768, true, false}, {64, 64, 768, true, false},    {32, 64, 16, true, false},
                {4, 8, 768, true, false},     {64, 4096, 65536, true, false}};
    mw__config config = config_here();
    if (config.level < MW__LEVEL_AVX2 || mw__blas_is_named()) {
        check_skip("the processor has no AVX2, or a BLAS is named");
        return;
    }
    config.level = MW__LEVEL_AVX2;
    config.avx512f = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const mw__gemm_request request = {
            .config = &config, .m = rows[i].m, .n = rows[i].n, .k = rows[i].k, .transpose_b = rows[i].transpose_b};
        const char *name = mw__implementation_choose(mw__gemm_implementations(), &config, &request)->name;
        check_note((strcmp(name, "across") == 0) == rows[i].across, __FILE__, __LINE__, "row %zu: %s", i, name);
    }
}

/* The step of a program of one operation. */
static void check_noted(const char *variable, const char *value, const char *implementation, const char *declined)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *weight = mw_input(graph, "weight", MW_F32, MW_SHAPE(4, 3, 3, 3));
    mw_output(mw_conv(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3, 5, 5)), weight, NULL, NULL), "y");
    run_set(variable, value);
    mw__library *library = run_library_of(graph, 1, &err);
    run_set(variable, NULL);
    CHECK_OK(err);
    REQUIRE(library != NULL);
    const mw__plan *plan = &library->programs[0].plan;
    const mw__step *step = plan->steps[plan->step_count - 1];
    CHECK_STR(step->report.implementation, implementation);
    CHECK_CONTAINS(step->report.declined != NULL ? step->report.declined : "", declined);
    mw__object_release(library);
    mw_graph_destroy(graph);
}

static void test_narrow_vectors_hold_for_products_too(void)
{
    mw_error err = {0};
    mw__config config;
    mw__config_init(&config);
    CHECK(mw__config_set(&config, "MW_ENGINE_WIDE", "256", &err) == MW_OK && config.level <= MW__LEVEL_AVX2);
    CHECK(mw__gemm_choose(&config, 512, 512, 512).kernel == NULL);
    CHECK(mw__gemm_choose(&config, 1, 512, 512).dots == NULL);
}

static void test_a_plan_says_what_was_taken_and_what_declined(void)
{
    check_noted("MW_ENGINE_REF", "1", "ref, ref", "direct: the reference is asked for; packed: the reference is");
    check_noted("MW_ENGINE_WIDE", "0", "direct", "");
}

int main(void)
{
    RUN(test_what_declines_says_why);
    RUN(test_the_reference_is_last_and_takes_everything);
    RUN(test_a_product_says_what_it_is_by);
    RUN(test_narrow_vectors_hold_for_products_too);
    RUN(test_few_rows_are_not_for_a_blas);
    RUN(test_a_plan_says_what_was_taken_and_what_declined);
    return check_finish();
}
