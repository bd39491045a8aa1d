/* Which fusion patterns are found in small graphs, why the others are not, and that all give the bits of the operations
 * one by one (MW_ENGINE_FUSE=0), on numbers whose sums are exact in any order. */
#include "base/memory/alloc.h"
#include "engine/compile/patterns/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/gemm/blas.h"
#include "engine/run.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pattern_case {
    mw_tensor *(*build)(mw_graph *graph);
    const char *pattern;  /* the row */
    const char *declined; /* why; NULL = it is found */
    const char *off, *at; /* the setting that turns it off, and its value there; NULL = none */
    bool avx512;          /* only with that */
} pattern_case;

/* ---- graphs ---- */

static mw_tensor *image(mw_graph *graph) { return mw_input(graph, "x", MW_F32, MW_SHAPE(2, 16, 8, 8)); }

static mw_tensor *pool(mw_tensor *x)
{
    mw_pool_options two = mw_pool_defaults(MW_SHAPE(2, 2));
    two.stride[0] = two.stride[1] = 2;
    return mw_max_pool(x, &two);
}

static mw_tensor *convolve(mw_graph *graph, mw_tensor *x)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    return mw_conv(x, mw_input(graph, "w", MW_F32, MW_SHAPE(16, 16, 3, 3)), NULL, &same);
}

static mw_tensor *gradient(mw_graph *graph, mw_tensor *y, mw_tensor *by)
{
    mw_error err = {0};
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, mw_tensor_shape(y)), *result = NULL;
    mw_output(y, "y");
    mw_vjp(&y, &dy, 1, &by, 1, &result, &err);
    CHECK_OK(err);
    return result;
}

static mw_tensor *build_pool(mw_graph *graph) { return pool(image(graph)); }
static mw_tensor *build_relu_pool(mw_graph *graph) { return pool(mw_relu(image(graph))); }
static mw_tensor *build_conv(mw_graph *graph) { return convolve(graph, image(graph)); }
static mw_tensor *build_conv_pool(mw_graph *graph) { return pool(build_conv(graph)); }
static mw_tensor *build_conv_relu_pool(mw_graph *graph) { return pool(mw_relu(build_conv(graph))); }

static mw_tensor *build_watched_conv_pool(mw_graph *graph)
{
    mw_tensor *conv = build_conv(graph);
    mw_output(mw_exp(conv), "e");
    return pool(conv);
}

static mw_tensor *build_pool_gradient(mw_graph *graph)
{
    mw_tensor *x = image(graph);
    return gradient(graph, pool(x), x);
}

static mw_tensor *build_relu_pool_gradient(mw_graph *graph)
{
    mw_tensor *x = image(graph);
    return gradient(graph, pool(mw_relu(x)), x);
}

static mw_tensor *build_dweight(mw_graph *graph)
{
    mw_tensor *conv = build_conv(graph);
    return gradient(graph, conv, mw__arg(conv->op, "weight"));
}

static mw_tensor *build_dx(mw_graph *graph)
{
    mw_tensor *conv = build_conv(graph);
    return gradient(graph, conv, mw__arg(conv->op, "x"));
}

/* The forms for chips. */
static mw_tensor *build_columns_dx(mw_graph *graph)
{
    graph->lowering = MW__LOWERING_DECOMPOSED;
    return build_dx(graph);
}

static mw_tensor *build_columns_dweight(mw_graph *graph)
{
    graph->lowering = MW__LOWERING_DECOMPOSED;
    return build_dweight(graph);
}

static mw_tensor *build_pointwise_dweight(mw_graph *graph)
{
    graph->lowering = MW__LOWERING_DECOMPOSED;
    mw_tensor *weight = mw_input(graph, "w", MW_F32, MW_SHAPE(16, 16, 1, 1));
    return gradient(graph, mw_conv(image(graph), weight, NULL, NULL), weight);
}

static mw_tensor *build_product(mw_graph *graph)
{
    return mw_matmul(image(graph), mw_input(graph, "w", MW_F32, MW_SHAPE(8, 8)), 0);
}

static mw_tensor *build_sum(mw_graph *graph)
{
    return mw_add(image(graph), mw_input(graph, "b", MW_F32, MW_SHAPE(1, 16, 1, 1)));
}

/* What a program for a chip has for gather (`transpose` 0) or its gradient. */
static mw_tensor *look_up(mw_graph *graph, int64_t width, int transpose)
{
    mw_tensor *index = mw_input(graph, "index", MW_F32, MW_SHAPE(6, 1));
    mw_tensor *hit = mw_equal(index, mw_range_1d(graph, MW_F32, -1.0, 8.0, 1.0));
    mw_tensor *hot = mw_select(hit, mw_scalar(graph, MW_F32, 1.0), mw_scalar(graph, MW_F32, 0.0));
    return mw_matmul(hot, mw_input(graph, "table", MW_F32, MW_SHAPE(transpose != 0 ? 6 : 9, width)), transpose);
}

static mw_tensor *build_lookup(mw_graph *graph) { return look_up(graph, 5, MW_TRANSPOSE_NONE); }
static mw_tensor *build_lookup_gradient(mw_graph *graph) { return look_up(graph, 5, MW_TRANSPOSE_X); }
static mw_tensor *build_narrow_gradient(mw_graph *graph) { return look_up(graph, 1, MW_TRANSPOSE_X); }

/* The sum of so many products; `watched`: each is an output, too. */
static mw_tensor *sum_products(mw_graph *graph, int count, int64_t depth, bool watched)
{
    mw_tensor *sum = NULL;
    for (int i = 0; i < count; i++) {
        char x[16], y[16], product[16];
        snprintf(x, sizeof x, "x%d", i), snprintf(y, sizeof y, "y%d", i), snprintf(product, sizeof product, "p%d", i);
        mw_tensor *term = mw_matmul(mw_input(graph, x, MW_F32, MW_SHAPE(32, depth)),
                                    mw_input(graph, y, MW_F32, MW_SHAPE(depth, 24)), MW_TRANSPOSE_NONE);
        if (watched)
            mw_output(term, product);
        sum = sum == NULL ? term : mw_add(sum, term);
    }
    return sum;
}

static mw_tensor *build_three_products(mw_graph *graph) { return sum_products(graph, 3, 8, false); }
static mw_tensor *build_two_products(mw_graph *graph) { return sum_products(graph, 2, 8, false); }
static mw_tensor *build_watched_products(mw_graph *graph) { return sum_products(graph, 3, 8, true); }
static mw_tensor *build_deep_products(mw_graph *graph) { return sum_products(graph, 3, 257, false); }

/* ---- cases ---- */

static const char no_gradient[] = "no later operation has the structure of its gradient";

static const char few_products[] = "not three products that nothing else needs";

static const pattern_case cases[] = {
    {.build = build_product, .pattern = "conv.columns", .declined = "it is no product of columns"},
    {.build = build_sum,
     .pattern = "conv.columns.bias",
     .declined = "x is no product of columns, or something else needs it"},
    {.build = build_columns_dx, .pattern = "conv.columns.dx"},
    {.build = build_columns_dweight, .pattern = "conv.columns.dweight"},
    {.build = build_product,
     .pattern = "conv.columns.dweight",
     .declined = "it is no sum over examples of products with their columns"},
    {.build = build_pointwise_dweight, .pattern = "conv.pointwise.dweight"},
    {.build = build_product,
     .pattern = "conv.pointwise.dweight",
     .declined = "it is no sum over examples of products with their planes"},
    {.build = build_relu_pool, .pattern = "relu.max_pool"},
    {.build = build_relu_pool,
     .pattern = "relu.max_pool",
     .declined = "MW_ENGINE_FUSE=0",
     .off = "MW_ENGINE_FUSE",
     .at = "0"},
    {.build = build_relu_pool,
     .pattern = "relu.max_pool",
     .declined = "MW_ENGINE_REF=1",
     .off = "MW_ENGINE_REF",
     .at = "1"},
    {.build = build_pool, .pattern = "relu.max_pool", .declined = "it takes no relu"},
    {.build = build_pool, .pattern = "max_pool.gradient", .declined = no_gradient},
    {.build = build_pool_gradient, .pattern = "max_pool.gradient"},
    {.build = build_pool_gradient, .pattern = "relu.max_pool.gradient", .declined = "it takes no relu"},
    {.build = build_relu_pool_gradient, .pattern = "relu.max_pool.gradient"},
    {.build = build_relu_pool_gradient,
     .pattern = "relu.max_pool.unpool",
     .declined = "its pooling is not joined with a convolution"},
    {.build = build_lookup, .pattern = "lookup"},
    {.build = build_lookup_gradient, .pattern = "lookup"},
    {.build = build_narrow_gradient,
     .pattern = "lookup",
     .declined = "the kernel has no such types, or sums another way"},
    {.build = build_product, .pattern = "lookup", .declined = "x is no matrix with a one in each row"},
    {.build = build_three_products, .pattern = "matmul.sum"},
    {.build = build_two_products, .pattern = "matmul.sum", .declined = few_products},
    {.build = build_watched_products, .pattern = "matmul.sum", .declined = few_products},
    {.build = build_deep_products, .pattern = "matmul.sum", .declined = few_products},
    {.build = build_conv, .pattern = "conv.dweight", .declined = no_gradient},
    {.build = build_dweight, .pattern = "conv.dweight"},
    {.build = build_dx, .pattern = "conv.dx"},
    {.build = build_conv, .pattern = "conv.dx", .declined = "it is not written as a gradient"},
    {.build = build_dweight,
     .pattern = "conv.dweight.argmax",
     .declined = "dy is no gradient of a joined pooling",
     .avx512 = true},
    {.build = build_conv,
     .pattern = "conv.by_argmax",
     .declined = "x is no gradient of a joined pooling",
     .avx512 = true},
    {.build = build_pool, .pattern = "conv.max_pool", .declined = "it pools no conv", .avx512 = true},
    {.build = build_conv_pool, .pattern = "conv.max_pool", .avx512 = true},
    {.build = build_conv_relu_pool, .pattern = "conv.relu.max_pool", .avx512 = true},
    {.build = build_watched_conv_pool,
     .pattern = "conv.max_pool",
     .declined = "the result of the convolution is needed elsewhere",
     .avx512 = true},
};

/* Of several attempts, one that found it counts before those that declined. */
static void check_notes(void *user, const mw_pass *pass)
{
    const pattern_case *c = user;
    const char *outcome = "never applied";
    for (size_t i = 0; i < pass->note_count && strcmp(outcome, "found") != 0; i++)
        if (strcmp(pass->notes[i].rule, c->pattern) == 0)
            outcome = pass->notes[i].refused != NULL ? pass->notes[i].refused : "found";
    const char *wanted = c->declined != NULL ? c->declined : "found";
    check_note(strcmp(outcome, wanted) == 0, __FILE__, __LINE__, "%s: \"%s\", not \"%s\"", c->pattern, outcome, wanted);
}

static void explain(const pattern_case *c, const mw__library *library)
{
    mw_error err = {0};
    mw__arena arena;
    mw__arena_init(&arena, NULL);
    mw__pass_log log;
    mw__pass_run run;
    mw__config config;
    mw__pass_log_init(&log, mw__allocator_default());
    log.report = check_notes;
    log.user = (void *)(uintptr_t)c;
    log.why = "*";
    run_config(&config, &err);
    CHECK_OK(err);
    const mw__plan_request request = {
        .function = library->graph->functions[0], .arena = &arena, .config = &config, .partitions = 1, .log = &log};
    mw__pass_begin(&run, &log, MW__RULE_patterns, NULL, 0);
    CHECK(mw__patterns_find(&request, &err) != NULL);
    CHECK_OK(err);
    mw__pass_end(&run, &(mw__pass_result){0});
    mw__pass_log_deinit(&log);
    mw__arena_deinit(&arena);
}

/* ---- bits ---- */

enum { ELEMENTS = 16384 }; /* of all outputs, at most */

static void bind_input(run_program *r, const mw_tensor *value)
{
    const size_t count = (size_t)mw_shape_count(value->type->shape);
    float *data = run_bind(r, false, value->name, count * sizeof *data);
    for (size_t i = 0; data != NULL && i < count; i++)
        data[i] = (float)((i * 37 + count) % 17) / 8.0f - 1.0f;
}

static bool compute(const char *text, const mw__block *body, float *out)
{
    run_program r;
    if (!run_open(&r, text, E5RT_CPU, 2))
        return false;
    for (size_t i = 0; i < body->input_count; i++)
        bind_input(&r, body->inputs[i]);
    for (size_t i = 0; i < body->output_count; i++) {
        const size_t count = (size_t)mw_shape_count(body->outputs[i]->type->shape);
        run_bind_data(&r, true, body->outputs[i]->name, out, count * sizeof *out);
        out += count;
    }
    const bool done = run_encode(&r) && run_execute(&r);
    run_close(&r);
    return done;
}

static void check_bits(const pattern_case *c, const char *text, const mw__block *body)
{
    float *fused = calloc(ELEMENTS, sizeof *fused), *plain = calloc(ELEMENTS, sizeof *plain);
    REQUIRE(fused != NULL && plain != NULL);
    bool done = compute(text, body, fused);
    run_set("MW_ENGINE_FUSE", "0");
    done = done && compute(text, body, plain);
    run_set("MW_ENGINE_FUSE", NULL);
    check_note(done && memcmp(fused, plain, ELEMENTS * sizeof *fused) == 0, __FILE__, __LINE__, "%s: other bits",
               c->pattern);
    free(fused);
    free(plain);
}

static void check_case(const pattern_case *c)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(c->build(graph), "result");
    char *text = mw_graph_print_mil(graph, NULL, &err);
    CHECK_OK(err);
    if (c->off != NULL)
        run_set(c->off, c->at);
    mw__library *library = text != NULL ? run_library(text, 1, &err) : NULL;
    CHECK_OK(err);
    if (library != NULL)
        explain(c, library);
    if (c->off != NULL)
        run_set(c->off, NULL);
    if (library != NULL && c->off == NULL)
        check_bits(c, text, library->graph->functions[0]->body);
    if (library != NULL)
        mw__object_release(library);
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_patterns_are_found_or_declined_with_a_reason(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!cases[i].avx512 || level_here() == MW__LEVEL_AVX512)
            check_case(&cases[i]);
}

/* Without AVX-512 a BLAS would be taken, which has no kernels of ours and adds in an order of its own. */
int main(void)
{
    mw__blas_choose("none", NULL);
    RUN(test_patterns_are_found_or_declined_with_a_reason);
    return check_finish();
}
