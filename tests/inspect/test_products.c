/* Counts of fixed-point products: by hand, by integers, against the engine's model of the chip, and of a step. */
#include "runtime/small.h"
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/inspect.h>
#include <string.h>

static mw_ranges *measure(const mw_graph *graph, const char *profile, const mw_feed *feeds, size_t count, mw_error *err)
{
    mw_range_options options = mw_range_defaults();
    const mw_batch batch = {.feeds = feeds, .feed_count = count, .examples = 1};
    options.compile.profile = profile;
    options.batch = &batch;
    return mw_ranges_create(graph, &options, err);
}

/* ---- sums by hand ---- */

enum { ROOM = 8 };

/* x [1, k] times y [k, 1] */
static mw_range_product count_sum(const char *profile, int64_t k, const float *x, const float *y)
{
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *a = mw_input(g, "x", MW_F32, MW_SHAPE(1, k)), *b = mw_input(g, "y", MW_F32, MW_SHAPE(k, 1));
    mw_output(mw_matmul(a, b, MW_TRANSPOSE_NONE), "sum");
    const mw_feed feeds[2] = {{.name = "x", .dtype = MW_F32, .data = x, .count = (size_t)k},
                              {.name = "y", .dtype = MW_F32, .data = y, .count = (size_t)k}};
    mw_ranges *ranges = measure(g, profile, feeds, 2, &err);
    CHECK_OK(err);
    const mw_range_product *found = mw_ranges_product_at(ranges, 0);
    mw_range_product product = {0};
    if (found != NULL) {
        CHECK_STR(found->range->operation, "matmul");
        CHECK_STR(found->operands[0], "x");
        CHECK_STR(found->operands[1], "y");
        CHECK(found->overflowed == 0 || !mw_ranges_get_info(ranges).fits);
        product = *found;
    }
    CHECK(found != NULL && mw_ranges_product_at(ranges, 1) == NULL);
    product.range = NULL;
    product.operands[0] = product.operands[1] = NULL;
    mw_ranges_destroy(ranges);
    mw_graph_destroy(g);
    return product;
}

static mw_range_product count_ones(int64_t k, const float *x)
{
    const float ones[ROOM] = {1, 1, 1, 1, 1, 1, 1, 1};
    return count_sum("h16", k, x, ones);
}

static void test_a_small_product_vanishes(void)
{
    const float x[2] = {0x1p-9F, 0}, y[2] = {0x1p-9F, 3};
    const mw_range_product p = count_sum("h16", 2, x, y);
    CHECK(p.results == 1 && p.all_results == 1 && p.products == 1 && p.vanished == 1 && p.dropped == 0);
    CHECK(p.nonzero == 1 && p.zeroed == 1 && p.below_half == 1 && p.below_unit == 1 && p.peak == 0);
    CHECK(p.error == 1.0 && p.overflowed == 0 && !p.is_gradient && !p.is_stuck);
    CHECK(p.wanted == 1 && p.scale == 1); /* 2^-18 is one bit short of 2^-17 */
}

/* 2^-17 is a tie and goes away from 0. */
static void test_half_a_unit_is_kept(void)
{
    const float x[2] = {0x1p-9F, 0x1p-10F}, y[2] = {0x1p-8F, 0x1p-7F};
    const mw_range_product p = count_sum("h16", 2, x, y);
    CHECK(p.products == 2 && p.vanished == 0 && p.zeroed == 0 && p.below_unit == 0 && p.below_half == 0);
    CHECK(p.peak == 0x1p-15 / 32768 && p.error == 1.0 && p.scale == 1 && p.wanted == 1);
}

/* Small products that add up: 4 times 2^-18 is a whole unit. */
static void test_what_vanishes_may_add_up(void)
{
    const float x[4] = {0x1p-18F, 0x1p-18F, 0x1p-18F, 0x1p-18F};
    const mw_range_product p = count_ones(4, x);
    CHECK(p.vanished == 4 && p.zeroed == 1 && p.below_unit == 0);
}

static void test_sums_that_cancel_are_zero_in_both(void)
{
    const float x[2] = {0x1p-20F, -0x1p-20F};
    const mw_range_product p = count_ones(2, x);
    CHECK(p.vanished == 2 && p.nonzero == 0 && p.zeroed == 0);
}

static void test_a_sum_overflows_on_its_way(void)
{
    const float x[5] = {16384, 16384, -16384, -16384, 1};
    mw_range_product p = count_ones(5, x);
    CHECK(p.overflowed == 1 && p.overflowed_on_way == 1 && p.peak == 1.0 && p.vanished == 0);
    CHECK(p.room == -2 && p.scale == -2 && p.scaled == 0 && !p.is_stuck);
    const float ends[3] = {16384, 8192, 16384};
    p = count_ones(3, ends);
    CHECK(p.overflowed == 1 && p.overflowed_on_way == 0 && p.peak == 1.25);
    const float near[2] = {16384, 16376};
    p = count_ones(2, near);
    CHECK(p.overflowed == 0 && p.peak == 32760.0 / 32768 && p.room == -1 && p.scale == 0);
}

/* The order of channels decides. */
static void test_another_order_does_not_overflow(void)
{
    const float x[5] = {16384, -16384, 16384, -16384, 1};
    const mw_range_product p = count_ones(5, x);
    CHECK(p.overflowed == 0 && p.peak == 0.5);
}

/* Exponents -8 and -9 sum to -17: M6 drops 1.98 * 2^-17 .. 2^-16, M4 rounds it. */
static void test_m6_drops_by_exponents(void)
{
    const float x[1] = {1.5F * 0x1p-8F}, y[1] = {1.5F * 0x1p-9F};
    const mw_range_product m4 = count_sum("h16", 1, x, y), m6 = count_sum("h18g", 1, x, y);
    CHECK(m4.vanished == 0 && m4.dropped == 0 && m4.zeroed == 0);
    CHECK(m6.vanished == 1 && m6.dropped == 1 && m6.zeroed == 1 && m6.below_unit == 0 && m6.wanted == 1);
}

/* fp16 has no 2^-30 and no 70000: what is multiplied is 0, and 65536 as inf is a number there. */
static void test_operands_are_those_of_fp16(void)
{
    const float small[1] = {0x1p-30F}, large[1] = {70000}, one[1] = {1}, eighth[1] = {0.125F};
    CHECK(count_sum("h16", 1, small, one).products == 0);
    CHECK(count_sum("h16", 1, large, eighth).peak == 0.25);
}

/* Both at once: what would lift the small ones overflows. */
static void test_no_scale_helps_both_ends(void)
{
    const float x[4] = {30000, -30000, 0x1p-18F, 0x1p-18F};
    mw_range_product p = count_ones(4, x);
    CHECK(p.vanished == 2 && p.is_stuck && p.scale == 0);
    const float over[5] = {30000, 30000, 0x1p-18F, 0x1p-18F, 0x1p-18F};
    p = count_ones(5, over);
    CHECK(p.overflowed == 1 && p.is_stuck && p.scale == 0);
}

/* ---- the engine ---- */

static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const int exponent = (int)(*state >> 40 & 31) - 22;
    const double number = ldexp(1.0 + (double)(*state >> 48 & 1023) / 1024.0, exponent);
    return (*state >> 60 & 1) != 0 ? -number : number;
}

static void fill(float *x, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)random_number(&seed);
}

typedef struct tally {
    size_t results, zeros, infinite;
} tally;

/* What the model of the chip makes of the same graph. */
static tally run_on_chip(const mw_graph *graph, const char *profile, const mw_feed *feeds, size_t count)
{
    static float y[8192];
    mw_error err = {0};
    tally t = {0};
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = MW_DEVICE_ANE;
    options.profile = profile;
    mw_program *program = mw_program_create(graph, &options, &err);
    for (size_t i = 0; i < count; i++)
        mw_program_write(program, feeds[i].name, MW_F32, feeds[i].data, feeds[i].count, &err);
    mw_program_run(program, &err);
    t.results = (size_t)mw_shape_count(mw_tensor_shape(mw_graph_output_at(graph, 0)));
    CHECK(t.results <= 8192);
    mw_program_read(program, "y", MW_F32, y, t.results, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < t.results; i++) {
        t.zeros += y[i] == 0.0F;
        t.infinite += isinf(y[i]) != 0;
    }
    mw_program_destroy(program);
    return t;
}

/* x and w of random numbers of all sizes: as many results are infinite, and 0, as on the chip. */
static void check_graph(mw_graph *g, const char *name, mw_shape x_shape, mw_shape w_shape)
{
    static float x[8192], w[8192];
    static const char *const profiles[] = {"h16", "h18g"};
    const size_t counts[2] = {(size_t)mw_shape_count(x_shape), (size_t)mw_shape_count(w_shape)};
    REQUIRE(counts[0] <= 8192 && counts[1] <= 8192);
    fill(x, counts[0], 1);
    fill(w, counts[1], 2);
    const mw_feed feeds[2] = {{.name = "x", .dtype = MW_F32, .data = x, .count = counts[0]},
                              {.name = "w", .dtype = MW_F32, .data = w, .count = counts[1]}};
    const size_t fed = mw_graph_input_at(g, 1) != NULL ? 2 : 1;
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        mw_ranges *ranges = measure(g, profiles[i], feeds, fed, &err);
        CHECK_OK(err);
        const mw_range_product *p = mw_ranges_product_at(ranges, 0);
        const tally t = run_on_chip(g, profiles[i], feeds, fed);
        check_note(p != NULL, __FILE__, __LINE__, "%s: nothing was counted", name);
        if (p != NULL)
            check_note(p->all_results == t.results && p->results == t.results && p->overflowed == t.infinite &&
                           p->results - p->nonzero + p->zeroed == t.zeros,
                       __FILE__, __LINE__, "%s on %s: %zu of %zu results, %zu infinite, %zu 0; on the chip %zu and %zu",
                       name, profiles[i], p->results, p->all_results, p->overflowed,
                       p->results - p->nonzero + p->zeroed, t.infinite, t.zeros);
        mw_ranges_destroy(ranges);
    }
    mw_graph_destroy(g);
}

static void check_matmul(mw_shape x_shape, mw_shape w_shape, mw_transposes transposes, const char *name)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, x_shape), *w = mw_input(g, "w", MW_F32, w_shape);
    mw_output(mw_matmul(x, w, transposes), "y");
    check_graph(g, name, x_shape, w_shape);
}

static void test_matrix_products_are_those_of_the_chip(void)
{
    check_matmul(MW_SHAPE(17, 23), MW_SHAPE(23, 19), MW_TRANSPOSE_NONE, "matmul");
    check_matmul(MW_SHAPE(23, 17), MW_SHAPE(19, 23), MW_TRANSPOSE_X | MW_TRANSPOSE_Y, "transposed");
    check_matmul(MW_SHAPE(3, 1, 7, 11), MW_SHAPE(2, 11, 5), MW_TRANSPOSE_NONE, "broadcast");
    check_matmul(MW_SHAPE(23), MW_SHAPE(2, 23, 19), MW_TRANSPOSE_NONE, "vector times matrices");
    check_matmul(MW_SHAPE(2, 17, 23), MW_SHAPE(23), MW_TRANSPOSE_NONE, "matrices times vector");
}

static void test_einsum_is_that_of_the_chip(void)
{
    const mw_shape x_shape = MW_SHAPE(2, 5, 3, 7), w_shape = MW_SHAPE(2, 7, 1, 11);
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, x_shape), *w = mw_input(g, "w", MW_F32, w_shape);
    mw_output(mw_einsum(x, w, "nchw,nwhu->nchu"), "y");
    check_graph(g, "einsum", x_shape, w_shape);
}

static mw_tensor *drawn_constant(mw_graph *g, mw_shape shape, uint64_t seed)
{
    static float numbers[8192];
    CHECK(mw_shape_count(shape) <= 8192);
    fill(numbers, (size_t)mw_shape_count(shape), seed);
    return mw_constant(g, MW_F32, shape, numbers);
}

static void test_a_linear_layer_begins_with_its_bias(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, 9, 13));
    mw_output(mw_linear(x, drawn_constant(g, MW_SHAPE(21, 13), 5), drawn_constant(g, MW_SHAPE(21), 6)), "y");
    check_graph(g, "linear", MW_SHAPE(2, 9, 13), MW_SHAPE(1));
}

static void check_conv(bool transposed, const mw_conv_options *options, mw_shape x_shape, mw_shape w_shape,
                       const char *name)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, x_shape), *w = drawn_constant(g, w_shape, 7);
    mw_tensor *bias = drawn_constant(g, MW_SHAPE(transposed ? w_shape.dim[1] * options->groups : w_shape.dim[0]), 8);
    mw_output(transposed ? mw_conv_transpose(x, w, bias, options) : mw_conv(x, w, bias, options), "y");
    check_graph(g, name, x_shape, MW_SHAPE(1));
}

static void test_convolutions_are_those_of_the_chip(void)
{
    mw_conv_options options = mw_conv_defaults();
    check_conv(false, &options, MW_SHAPE(2, 5, 7, 9), MW_SHAPE(6, 5, 3, 2), "conv");
    options.groups = 2;
    options.stride[0] = 2;
    options.dilation[1] = 2;
    options.pad_type = MW_PAD_CUSTOM;
    options.pad[0] = options.pad[1] = 1;
    options.pad[3] = 2;
    check_conv(false, &options, MW_SHAPE(2, 6, 7, 9), MW_SHAPE(8, 3, 3, 2), "conv of groups");
    options.dilation[1] = 1;
    check_conv(true, &options, MW_SHAPE(2, 6, 5, 7), MW_SHAPE(6, 4, 3, 2), "conv_transpose");
}

/* ---- attention ---- */

/* Two keys that are alike: weights of 1/2; the scores are 2^-18 each, which vanish. */
static void test_attention_counts_twice(void)
{
    mw_error err = {0};
    const float q[2] = {0x1p-9F, 0}, k[4] = {0x1p-9F, 0, 0x1p-9F, 0}, v[2] = {4, 0x1p-17F};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *query = mw_input(g, "q", MW_F32, MW_SHAPE(1, 1, 2)), *key = mw_input(g, "k", MW_F32, MW_SHAPE(1, 2, 2));
    mw_tensor *value = mw_input(g, "v", MW_F32, MW_SHAPE(1, 2, 1));
    mw_output(mw_scaled_dot_product_attention(query, key, value, NULL), "y");
    const mw_feed feeds[3] = {{.name = "q", .dtype = MW_F32, .data = q, .count = 2},
                              {.name = "k", .dtype = MW_F32, .data = k, .count = 4},
                              {.name = "v", .dtype = MW_F32, .data = v, .count = 2}};
    mw_ranges *ranges = measure(g, "h16", feeds, 3, &err);
    CHECK_OK(err);
    const mw_range_product *scores = mw_ranges_product_at(ranges, 0), *values = mw_ranges_product_at(ranges, 1);
    REQUIRE(scores != NULL && values != NULL);
    CHECK_STR(scores->part, "scores");
    CHECK(scores->results == 2 && scores->products == 2 && scores->vanished == 2 && scores->zeroed == 2);
    CHECK_STR(values->part, "values");
    CHECK(values->results == 1 && values->products == 2 && values->vanished == 1 && values->operands[0] == NULL);
    CHECK(values->peak == 2.0 / 32768);
    mw_ranges_destroy(ranges);
    mw_graph_destroy(g);
}

/* ---- all cases of operations ---- */

static bool has_products(const char *name)
{
    static const char *const names[] = {"matmul", "linear",         "einsum",
                                        "conv",   "conv_transpose", "scaled_dot_product_attention"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found = found || strcmp(names[i], name) == 0;
    return found;
}

static void test_every_case_of_an_operation_is_counted(void)
{
    const op_case *c;
    size_t counted = 0;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++) {
        mw_error err = {0};
        op_instance instance;
        if (!has_products(c->name) || !op_instance_init(&instance, c, MW_F16, 3))
            continue;
        mw_output(instance.y, "y");
        mw_range_options options = mw_range_defaults();
        options.compile.profile = "h18g";
        mw_ranges *ranges = mw_ranges_create(instance.graph, &options, &err);
        const mw_range_product *p = mw_ranges_product_at(ranges, 0);
        const bool is_float = mw_tensor_dtype(instance.y) != MW_I32; /* integers lose nothing */
        const bool good = !is_float
                              ? ranges != NULL && p == NULL
                              : p != NULL && p->results == p->all_results && isfinite(p->error) && isfinite(p->peak);
        check_note(good, __FILE__, __LINE__, "%s %s: %s", c->name, c->detail, err.message);
        counted += good;
        mw_ranges_destroy(ranges);
        op_instance_deinit(&instance);
    }
    CHECK(counted > 20);
}

/* ---- samples ---- */

/* 2^26 products: some results are counted, and of all columns; a third of the columns vanishes. */
static void test_large_operations_are_sampled(void)
{
    enum { N = 512, K = 256 };
    static float x[N * K], w[K * N];
    mw_error err = {0};
    for (int i = 0; i < N * K; i++) {
        x[i] = 1;
        w[i] = i % N % 3 == 0 ? 0x1p-20F : 1;
    }
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *a = mw_input(g, "x", MW_F32, MW_SHAPE(N, K)), *b = mw_input(g, "w", MW_F32, MW_SHAPE(K, N));
    mw_output(mw_matmul(a, b, MW_TRANSPOSE_NONE), "y");
    const mw_feed feeds[2] = {{.name = "x", .dtype = MW_F32, .data = x, .count = N * K},
                              {.name = "w", .dtype = MW_F32, .data = w, .count = K * N}};
    mw_ranges *ranges = measure(g, "h16", feeds, 2, &err);
    CHECK_OK(err);
    const mw_range_product *p = mw_ranges_product_at(ranges, 0);
    REQUIRE(p != NULL);
    CHECK(p->all_results == N * N && p->results == 8192 && p->products == 8192 * K && p->nonzero == 8192);
    CHECK_NEAR((double)p->zeroed / 8192, 1.0 / 3, 0.01);
    CHECK(p->vanished == p->zeroed * K && p->below_half == 0 && p->peak == K / 32768.0);
    char *text = mw_ranges_print(ranges, &err);
    CHECK_CONTAINS(text, "sampled");
    CHECK_CONTAINS(text, "8192 of 262144 results");
    mw_string_free(text);
    mw_ranges_destroy(ranges);
    mw_graph_destroy(g);
}

/* ---- profiles ---- */

static void test_other_profiles_have_no_counts(void)
{
    mw_error err = {0};
    const float x[4] = {1, 2, 3, 4};
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = 4};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *in = mw_input(g, "x", MW_F32, MW_SHAPE(2, 2));
    mw_output(mw_matmul(in, in, MW_TRANSPOSE_NONE), "y");
    mw_ranges *ranges = measure(g, "h17", &feed, 1, &err);
    mw_ranges_info info = mw_ranges_get_info(ranges);
    CHECK_STR(info.profile, "h17");
    CHECK(!info.fixed_point && info.product_count == 0 && mw_ranges_product_at(ranges, 0) == NULL);
    char *text = mw_ranges_print(ranges, &err);
    CHECK_CONTAINS(text, "the profile h17 adds products without fixed point");
    mw_string_free(text);
    mw_ranges_destroy(ranges);
    ranges = measure(g, NULL, &feed, 1, &err);
    info = mw_ranges_get_info(ranges);
    CHECK(info.profile == NULL && !info.fixed_point && info.product_count == 0);
    mw_ranges_destroy(ranges);
    CHECK_OK(err);
    CHECK(measure(g, "h99", &feed, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "h99");
    mw_graph_destroy(g);
}

static void test_lines_of_products_are_short(void)
{
    mw_error err = {0};
    char name[201];
    memset(name, 'n', 200);
    name[200] = '\0';
    const float x[5] = {16384, 16384, -16384, -16384, 1};
    const mw_feed feed = {.name = name, .dtype = MW_F32, .data = x, .count = 5};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *in = mw_input(g, name, MW_F32, MW_SHAPE(1, 1, 1, 1, 5));
    mw_tensor *ones = mw_fill(g, MW_F32, MW_SHAPE(5, 1), 1.0F);
    mw_output(mw_matmul(in, ones, MW_TRANSPOSE_NONE), "y");
    mw_output(mw_matmul(mw_mul_scalar(in, 1e-8), ones, MW_TRANSPOSE_NONE), "z");
    mw_ranges *ranges = measure(g, "h16", &feed, 1, &err);
    char *text = mw_ranges_print(ranges, &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1)
        CHECK(strcspn(at, "\n") <= 120);
    CHECK_CONTAINS(text, "cure: ");
    mw_string_free(text);
    mw_ranges_destroy(ranges);
    mw_graph_destroy(g);
}

/* Whatever allocation fails: nothing leaks, and the report is there or the error is of memory. */
static void test_a_failing_allocation_leaves_nothing(void)
{
    const float x[3] = {1, 0x1p-10F, 3}, ones[3] = {1, 1, 1};
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = 3};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 1};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *in = mw_input(g, "x", MW_F32, MW_SHAPE(1, 3));
    mw_output(mw_linear(mw_tanh(in), mw_constant(g, MW_F32, MW_SHAPE(1, 3), ones), NULL), "y");
    mw_range_options options = mw_range_defaults();
    options.batch = &batch;
    options.compile.profile = "h18g";
    bool done = false;
    for (long n = 0; !done && n < 5000; n++) {
        mw_error err = {0};
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        options.allocator = options.compile.allocator = &allocator;
        mw_ranges *ranges = mw_ranges_create(g, &options, &err);
        CHECK(ranges != NULL ? mw_ranges_product_at(ranges, 0) != NULL : err.status == MW_ERROR_MEMORY);
        done = ranges != NULL && !failing.failed;
        mw_ranges_destroy(ranges);
        CHECK_INT(failing.live, 0);
    }
    CHECK(done);
    mw_graph_destroy(g);
}

/* ---- a step ---- */

/* What the next step of the small net loses in a loss scale. */
typedef struct step_found {
    mw_ranges_info info;
    size_t gradients, vanished, products, zeroed, overflowed;
} step_found;

static step_found look_at_step(mw_device device, const char *profile, float loss_scale)
{
    mw_error err = {0};
    step_found found = {0};
    small_batch batch;
    const small_data data = small_make_data();
    const small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.01F));
    options.precision.loss_scale = loss_scale;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.profile = profile;
    mw_trainer *t = mw_trainer_create(&options, &err);
    mw_graph_destroy(net.graph);
    small_fill_batch(&batch, &data, 0);
    mw_ranges *ranges = mw_ranges_create_trainer(t, &batch.batch, &err);
    CHECK_OK(err);
    found.info = mw_ranges_get_info(ranges);
    found.info.profile = NULL;
    const mw_range_product *p;
    for (size_t i = 0; (p = mw_ranges_product_at(ranges, i)) != NULL; i++) {
        found.gradients += p->is_gradient;
        found.vanished += p->is_gradient ? p->vanished : 0;
        found.products += p->is_gradient ? p->products : 0;
        found.zeroed += p->is_gradient ? p->zeroed : 0;
        found.overflowed += p->overflowed;
        CHECK(p->scale == 0 || !p->is_gradient || p->scaled == -1);
    }
    mw_ranges_destroy(ranges);
    mw_trainer_destroy(t);
    return found;
}

static void test_a_loss_scale_brings_gradients_above_the_grid(void)
{
    const step_found low = look_at_step(MW_DEVICE_ANE, "h16", 0x1p-10F);
    CHECK(low.info.fixed_point && low.gradients >= 3 && low.info.product_count > low.gradients);
    CHECK(low.vanished > low.products / 4 && low.zeroed > 0 && low.info.loss_scale > 4 && low.overflowed == 0);
    const step_found high = look_at_step(MW_DEVICE_ANE, "h16", ldexpf(0x1p-10F, low.info.loss_scale));
    CHECK(high.info.loss_scale == 0 && high.vanished < high.products / 20 && high.overflowed == 0);
    CHECK(high.gradients == low.gradients && high.zeroed < low.zeroed);
}

static void test_a_loss_scale_that_overflows_goes_down(void)
{
    const step_found much = look_at_step(MW_DEVICE_ANE, "h16", 0x1p22F);
    CHECK(much.overflowed > 0 && much.info.loss_scale < 0 && !much.info.fits);
    const step_found less = look_at_step(MW_DEVICE_ANE, "h16", ldexpf(0x1p22F, much.info.loss_scale));
    CHECK(less.overflowed == 0);
}

static void test_only_a_trainer_of_the_chip_has_counts(void)
{
    const step_found cpu = look_at_step(MW_DEVICE_CPU, NULL, 1.0F), m5 = look_at_step(MW_DEVICE_ANE, "h17", 256.0F);
    CHECK(!cpu.info.fixed_point && cpu.info.product_count == 0);
    CHECK(!m5.info.fixed_point && m5.info.product_count == 0 && m5.info.loss_scale == 0);
}

int main(void)
{
    RUN(test_a_small_product_vanishes);
    RUN(test_half_a_unit_is_kept);
    RUN(test_what_vanishes_may_add_up);
    RUN(test_sums_that_cancel_are_zero_in_both);
    RUN(test_a_sum_overflows_on_its_way);
    RUN(test_another_order_does_not_overflow);
    RUN(test_m6_drops_by_exponents);
    RUN(test_operands_are_those_of_fp16);
    RUN(test_no_scale_helps_both_ends);
    RUN(test_matrix_products_are_those_of_the_chip);
    RUN(test_einsum_is_that_of_the_chip);
    RUN(test_a_linear_layer_begins_with_its_bias);
    RUN(test_convolutions_are_those_of_the_chip);
    RUN(test_attention_counts_twice);
    RUN(test_every_case_of_an_operation_is_counted);
    RUN(test_large_operations_are_sampled);
    RUN(test_other_profiles_have_no_counts);
    RUN(test_lines_of_products_are_short);
    RUN(test_a_failing_allocation_leaves_nothing);
    RUN(test_a_loss_scale_brings_gradients_above_the_grid);
    RUN(test_a_loss_scale_that_overflows_goes_down);
    RUN(test_only_a_trainer_of_the_chip_has_counts);
    return check_finish();
}
