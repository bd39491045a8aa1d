/* Reports of ranges: numbers by hand, by a plain count in double, of a graph in fp16, and of a trainer's step. */
#include "runtime/small.h"
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/inspect.h>
#include <string.h>

static const mw_range *find(const mw_ranges *ranges, const char *tensor)
{
    for (size_t i = 0; mw_ranges_at(ranges, i) != NULL; i++)
        if (strcmp(mw_ranges_at(ranges, i)->tensor, tensor) == 0)
            return mw_ranges_at(ranges, i);
    return NULL;
}

static mw_ranges *measure(const mw_graph *graph, const float *x, size_t count, mw_error *err)
{
    mw_range_options options = mw_range_defaults();
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = count};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = (int64_t)count};
    options.batch = &batch;
    return mw_ranges_create(graph, &options, err);
}

/* x, x * 2^10, x * 2^-10, a constant, an integer; of fp32, or of fp16, in which it could not be computed. */
static mw_graph *make_graph(mw_dtype dtype)
{
    const float wide[3] = {-70000, 1, 0x1p-26F};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(5));
    mw_tensor *h = dtype == MW_F16 ? mw_cast(x, MW_F16) : x;
    mw_tensor *large = mw_name(mw_mul_scalar(h, 1024.0), "large");
    mw_tensor *small = mw_name(mw_mul_scalar(h, 0x1p-10), "small");
    mw_output(mw_name(mw_cast(large, MW_I32), "whole"), "whole");
    mw_output(small, "small");
    mw_output(mw_add_scalar(mw_name(mw_constant(g, MW_F32, MW_SHAPE(3), wide), "wide"), 0.0), "shifted");
    return g;
}

static void check_graph(mw_dtype dtype)
{
    mw_error err = {0};
    const float x[5] = {64, -63.96875F, 0x1p-5F, -0x1p-15F, 0};
    mw_graph *g = make_graph(dtype);
    mw_ranges *ranges = measure(g, x, 5, &err);
    CHECK_OK(err);
    CHECK(!mw_ranges_get_info(ranges).fits && find(ranges, "whole") == NULL);
    const mw_range *large = find(ranges, "large"), *small = find(ranges, "small"), *wide = find(ranges, "wide");
    const mw_range *fed = find(ranges, "x");
    REQUIRE(large != NULL && small != NULL && wide != NULL && fed != NULL);
    CHECK(large->dtype == dtype && large->shape.rank == 1 && large->parameter == NULL);
    CHECK_STR(large->operation, "mul");
    CHECK(large->largest == 65536 && large->smallest == -65504 && large->max_absolute == 65536);
    CHECK(large->count == 5 && large->overflowed == 1 && large->subnormal == 0 && large->not_finite == 0);
    CHECK_NEAR(large->headroom, log2(65504.0 / 65536.0), 1e-12);
    CHECK(small->lost == 1 && small->subnormal == 2 && small->min_absolute == 0x1p-25 && small->overflowed == 0);
    CHECK(wide->overflowed == 1 && wide->lost == 1 && wide->subnormal == 1 && wide->smallest == -70000);
    CHECK_STR(wide->operation, "const");
    CHECK_STR(fed->operation, "input");
    CHECK(fed->subnormal == 1 && fed->lost == 0 && fed->min_absolute == 0x1p-15);
    CHECK(mw_ranges_worst_at(ranges, 0)->overflowed == 1 && mw_ranges_worst_at(ranges, 0)->lost == 1);
    CHECK(mw_ranges_worst_at(ranges, mw_ranges_get_info(ranges).count) == NULL && mw_ranges_at(ranges, 1000) == NULL);
    mw_ranges_destroy(ranges);
    mw_graph_destroy(g);
}

static void test_every_value_is_counted_as_by_hand(void) { check_graph(MW_F32); }

static void test_a_graph_of_fp16_is_measured_in_fp32(void) { check_graph(MW_F16); }

/* ---- an oracle ---- */

static void test_counts_are_those_of_a_plain_loop(void)
{
    enum { N = 1000 };
    static float x[N];
    size_t beyond = 0, subnormal = 0, lost = 0;
    double most = 0;
    mw_error err = {0};
    for (int i = 0; i < N; i++) {
        x[i] = (i % 2 == 0 ? 1.0F : -1.0F) * ldexpf(1.0F + (float)(i % 7) / 8.0F, i % 50 - 30);
        const double size = fabs((double)x[i]);
        beyond += size > 65504;
        subnormal += size < 6.103515625e-05;
        lost += size <= 2.98023223876953125e-08;
        most = size > most ? size : most;
    }
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_output(mw_abs(mw_input(g, "x", MW_F32, MW_SHAPE(N))), "y");
    mw_ranges *ranges = measure(g, x, N, &err);
    CHECK_OK(err);
    const mw_range *y = find(ranges, "y");
    REQUIRE(y != NULL && beyond > 0 && lost > 0 && subnormal > lost);
    CHECK(y->overflowed == beyond && y->subnormal == subnormal && y->lost == lost && y->max_absolute == most);
    mw_ranges_destroy(ranges);
    mw_graph_destroy(g);
}

/* ---- what is not finite, and what is nothing ---- */

static void test_what_is_not_finite_is_counted_apart(void)
{
    mw_error err = {0};
    const float x[4] = {100, 1, 4, 2};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_output(mw_name(mw_exp(mw_input(g, "x", MW_F32, MW_SHAPE(4))), "large"), "y");
    mw_ranges *ranges = measure(g, x, 4, &err);
    CHECK_OK(err);
    const mw_range *worst = mw_ranges_worst_at(ranges, 0);
    REQUIRE(worst != NULL);
    CHECK_STR(worst->operation, "exp");
    CHECK(worst->not_finite == 1 && worst->overflowed == 0 && !mw_ranges_get_info(ranges).fits);
    mw_ranges_destroy(ranges);
    const float bad[4] = {0, (float)NAN, 1, 2};
    CHECK(measure(g, bad, 4, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "x");
    mw_graph_destroy(g);
}

static void test_zeros_have_all_the_room(void)
{
    mw_error err = {0};
    const float x[2] = {0, 0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(g, "x", MW_F32, MW_SHAPE(2))), "y");
    mw_ranges *ranges = measure(g, x, 2, &err);
    CHECK_OK(err);
    const mw_range *y = find(ranges, "y");
    REQUIRE(y != NULL);
    CHECK(isinf(y->headroom) && y->min_absolute == 0 && y->max_absolute == 0 && y->subnormal == 0 && y->lost == 0);
    CHECK(mw_ranges_get_info(ranges).fits);
    mw_ranges_destroy(ranges);
    mw_graph_destroy(g);
}

static void test_bad_options_are_refused(void)
{
    mw_error err = {0};
    mw_graph *g = make_graph(MW_F32);
    mw_range_options options = mw_range_defaults();
    options.compile.device = MW_DEVICE_ANE;
    CHECK(mw_ranges_create(g, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "measured in fp32");
    mw_error_clear(&err);
    options = mw_range_defaults();
    options.batch_path = "no such";
    CHECK(mw_ranges_create(g, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "no such");
    mw_graph_destroy(g);
}

/* ---- text ---- */

static void test_lines_are_short_whatever_names_are(void)
{
    mw_error err = {0};
    char name[201];
    memset(name, 'n', 200);
    name[200] = '\0';
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(4));
    mw_output(mw_name(mw_mul_scalar(x, -1e30), name), "y");
    mw_output(mw_mul_scalar(x, -1e-30), "z");
    mw_ranges *ranges = measure(g, (const float[]){1, 2, 3, 4}, 4, &err);
    char *text = mw_ranges_print(ranges, &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1)
        CHECK(strcspn(at, "\n") <= 120);
    CHECK_CONTAINS(text, "loss scale");
    CHECK_CONTAINS(text, "mw check");
    mw_string_free(text);
    mw_ranges_destroy(ranges);
    mw_graph_destroy(g);
}

/* ---- a step ---- */

static void test_a_step_is_measured_and_not_run(void)
{
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        small_batch batch;
        const small_data data = small_make_data();
        mw_trainer *t = small_trainer(devices[i], mw_adam(0.01F), 256.0F, &err);
        const small_snapshot before = small_take(t);
        small_fill_batch(&batch, &data, 0);
        mw_ranges *ranges = mw_ranges_create_trainer(t, &batch.batch, &err);
        CHECK_OK(err);
        CHECK(mw_ranges_get_info(ranges).count > 30 && mw_ranges_at(ranges, 0) != NULL);
        const small_snapshot after = small_take(t);
        small_check_same(&before, &after);
        CHECK_INT(mw_trainer_steps(t), 0);
        float loss = 0;
        CHECK_INT(mw_trainer_step(t, &batch.batch, &loss, &err), MW_OK);
        mw_ranges_destroy(ranges);
        mw_trainer_destroy(t);
    }
}

/* ---- all operations ---- */

/* Every operation of fp16 can be run in fp32. */
static void test_every_operation_can_be_measured(void)
{
    const op_case *c;
    size_t measured = 0;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++) {
        mw_error err = {0};
        op_instance instance;
        if (!op_instance_init(&instance, c, MW_F16, 3))
            continue;
        mw_output(instance.y, "y");
        mw_ranges *ranges = mw_ranges_create(instance.graph, NULL, &err);
        check_note(ranges != NULL, __FILE__, __LINE__, "%s %s: %s", c->name, c->detail, err.message);
        measured += ranges != NULL;
        mw_ranges_destroy(ranges);
        op_instance_deinit(&instance);
    }
    CHECK(measured > 100);
}

int main(void)
{
    RUN(test_every_value_is_counted_as_by_hand);
    RUN(test_a_graph_of_fp16_is_measured_in_fp32);
    RUN(test_counts_are_those_of_a_plain_loop);
    RUN(test_what_is_not_finite_is_counted_apart);
    RUN(test_zeros_have_all_the_room);
    RUN(test_bad_options_are_refused);
    RUN(test_lines_are_short_whatever_names_are);
    RUN(test_a_step_is_measured_and_not_run);
    RUN(test_every_operation_can_be_measured);
    return check_finish();
}
