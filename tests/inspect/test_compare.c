/* Comparing a program on two devices: the numbers of a difference, what each side is fed, and that the operation to
 * blame is named. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/on_engine.h"

#include "runtime/compare/compare.h"

#include <math.h>
#include <millwright/inspect.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- numbers ---- */

static void test_equal_tensors_do_not_differ(void)
{
    const double a[] = {1.0, -2.0, (double)NAN, (double)INFINITY, 0.0};
    const mw_difference d = mw__difference(a, a, 5, false, 0.0, 0.0);
    CHECK(d.compared && d.count == 5 && d.beyond == 0 && d.not_finite == 0);
    CHECK(d.max_absolute == 0.0 && d.mean_absolute == 0.0 && d.max_relative == 0.0);
}

static void test_a_difference_has_its_worst_element(void)
{
    const double a[] = {1.0, 4.0, -2.0, 0.0}, b[] = {1.5, 4.0, -3.0, 0.25};
    const mw_difference d = mw__difference(a, b, 4, false, 0.125, 0.25);
    CHECK_NEAR(d.tolerance, 0.25 + 0.125 * 4.0, 0);
    CHECK_NEAR(d.max_absolute, 1.0, 0);
    CHECK_NEAR(d.mean_absolute, 1.75 / 4.0, 0);
    CHECK_NEAR(d.max_relative, 1.0, 0); /* 0 and 0.25 */
    CHECK_INT(d.worst, 2);
    CHECK(d.a == -2.0 && d.b == -3.0);
    CHECK_INT(d.beyond, 1);
    CHECK_INT(mw__difference(a, b, 4, false, 0.0, 0.5).beyond, 1); /* 0.5 itself is within */
    CHECK_INT(mw__difference(a, b, 4, true, 1.0, 1.0).beyond, 3);
}

static void test_what_is_not_finite_comes_first(void)
{
    const double a[] = {1.0, (double)INFINITY, (double)NAN, 5.0, (double)INFINITY};
    const double b[] = {9.0, (double)-INFINITY, 2.0, (double)NAN, (double)INFINITY};
    const mw_difference d = mw__difference(a, b, 5, false, 10.0, 10.0);
    CHECK_INT(d.not_finite, 3);
    CHECK_INT(d.beyond, 3);
    CHECK_INT(d.overflowed, 0);
    CHECK_INT(d.worst, 1);
    CHECK_NEAR(d.max_absolute, 8.0, 0); /* of those where both are finite */
    CHECK_NEAR(d.mean_absolute, 8.0, 0);
    const double large[] = {70000.0, 70000.0, 60000.0, -1e9},
                 cut[] = {(double)INFINITY, (double)-INFINITY, (double)INFINITY, (double)-INFINITY};
    CHECK_INT(mw__difference(large, cut, 4, false, 1.0, 1.0).overflowed, 2);
    CHECK_INT(mw__difference(cut, large, 4, false, 1.0, 1.0).overflowed, 2);
    const mw_difference none = mw__difference(a, b, 0, false, 1.0, 1.0);
    CHECK(none.compared && none.count == 0 && none.mean_absolute == 0.0);
}

/* ---- programs ---- */

static mw_compare_options options_of(mw_device a, mw_device b)
{
    mw_compare_options options = mw_compare_defaults();
    options.reference = engine_options(a, 1);
    options.device = engine_options(b, 1);
    return options;
}

static mw_graph *make_net(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(4, 6));
    mw_tensor *h = mw_name(mw_tanh(mw_dense(x, 8, "fc1")), "hidden");
    mw_output(mw_softmax(mw_dense(h, 3, "fc2"), 1), "y");
    return g;
}

static const mw_compared *find(const mw_comparison *c, const char *tensor)
{
    for (size_t i = 0; mw_comparison_at(c, i) != NULL; i++)
        if (strcmp(mw_comparison_at(c, i)->tensor, tensor) == 0)
            return mw_comparison_at(c, i);
    return NULL;
}

/* No result uses up more of its tolerance than the ones that the comparison names. */
static void check_largest(const mw_comparison *c)
{
    const mw_comparison_info info = mw_comparison_get_info(c);
    REQUIRE(info.largest_accumulated != NULL);
    const mw_difference *most = &info.largest_accumulated->accumulated;
    CHECK(most->compared && most->max_absolute > 0.0);
    for (size_t k = 0; k < info.count; k++) {
        const mw_difference *d = &mw_comparison_at(c, k)->accumulated, *l = &mw_comparison_at(c, k)->local;
        CHECK(!d->compared || d->max_absolute * most->tolerance <= most->max_absolute * d->tolerance);
        CHECK(!l->compared || l->max_absolute * info.largest_local->local.tolerance <=
                                  info.largest_local->local.max_absolute * l->tolerance);
    }
}

static void test_one_device_agrees_with_itself(void)
{
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        mw_graph *g = make_net();
        const mw_compare_options options = options_of(devices[i], devices[i]);
        mw_comparison *c = mw_comparison_create(g, &options, &err);
        CHECK_OK(err);
        const mw_comparison_info info = mw_comparison_get_info(c);
        CHECK(info.passes && info.count >= 4 && info.first_local == NULL && info.first_accumulated == NULL);
        CHECK(info.changed[0] == info.changed[1] && (devices[i] != MW_DEVICE_CPU || info.changed[0] == 0));
        for (size_t k = 0; mw_comparison_at(c, k) != NULL; k++) {
            const mw_compared *item = mw_comparison_at(c, k);
            CHECK(item->local.compared && item->accumulated.compared && item->skipped == NULL);
            CHECK(item->local.max_absolute == 0.0 && item->accumulated.max_absolute == 0.0);
        }
        CHECK(mw_comparison_at(c, info.count - 1) != NULL && mw_comparison_at(c, info.count) == NULL);
        CHECK(mw_comparison_at(NULL, 0) == NULL);
        mw_comparison_destroy(c);
        mw_graph_destroy(g);
    }
}

/* The model of the ANE keeps a chain in a wider type until its end, unless its values are outputs. */
static void test_outputs_that_change_with_inner_values_are_counted(void)
{
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F16, MW_SHAPE(16, 64));
    mw_output(mw_mul(mw_add(mw_mul(x, x), x), mw_exp(mw_mul(x, x))), "y");
    mw_output(mw_relu(x), "unchanged");
    const mw_compare_options options = options_of(MW_DEVICE_CPU, MW_DEVICE_ANE);
    mw_comparison *c = mw_comparison_create(g, &options, &err);
    CHECK_OK(err);
    const mw_comparison_info info = mw_comparison_get_info(c);
    CHECK_INT(info.changed[0], 0);
    CHECK_INT(info.changed[1], 1);
    mw_comparison_destroy(c);
    mw_graph_destroy(g);
}

static void test_half_precision_differs_within_the_tolerance(void)
{
    mw_error err = {0};
    mw_graph *g = make_net();
    mw_comparison *c = mw_comparison_create(g, &(mw_compare_options){0}, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_compare_defaults");
    CHECK(c == NULL);
    mw_error_clear(&err);
    const mw_compare_options options = options_of(MW_DEVICE_CPU, MW_DEVICE_ANE);
    c = mw_comparison_create(g, &options, &err);
    CHECK_OK(err);
    CHECK(mw_comparison_get_info(c).passes && mw_comparison_get_info(c).first_local == NULL);
    check_largest(c);
    const mw_compared *hidden = find(c, "hidden"), *y = find(c, "y");
    REQUIRE(hidden != NULL && y != NULL);
    CHECK_STR(hidden->operation, "tanh");
    CHECK(hidden->dtype == MW_F32 && hidden->shape.rank == 2 && hidden->shape.dim[1] == 8);
    CHECK(hidden->local.max_absolute > 0.0 && hidden->local.max_absolute < 0x1p-9);
    CHECK(y->accumulated.max_absolute > 0.0 && y->accumulated.count == 12);
    CHECK_CONTAINS(mw_comparison_get_info(c).where[0], "CPU");
    CHECK_CONTAINS(mw_comparison_get_info(c).where[1], "ANE");
    mw_comparison_destroy(c);
    mw_graph_destroy(g);
}

/* x * 300 * 300 is beyond fp16: that product is to blame, what comes after it is not. */
static mw_graph *make_overflow(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(8));
    mw_tensor *large = mw_name(mw_mul_scalar(x, 300.0), "large");
    mw_tensor *larger = mw_name(mw_mul_scalar(large, 300.0), "larger");
    mw_output(mw_name(mw_add_scalar(larger, 1.0), "sum"), "y");
    return g;
}

static void test_the_operation_to_blame_is_named(void)
{
    mw_error err = {0};
    mw_graph *g = make_overflow();
    mw_compare_options options = options_of(MW_DEVICE_CPU, MW_DEVICE_ANE);
    const float x[8] = {1, 0.5F, 0.25F, 1, 1, 0, 1, 1};
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = 8};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 8};
    options.batch = &batch;
    mw_comparison *c = mw_comparison_create(g, &options, &err);
    CHECK_OK(err);
    CHECK(!mw_comparison_get_info(c).passes);
    const mw_compared *first = mw_comparison_get_info(c).first_local;
    REQUIRE(first != NULL);
    CHECK_STR(first->tensor, "larger");
    CHECK_STR(first->operation, "mul");
    CHECK(first == mw_comparison_get_info(c).first_accumulated);
    CHECK_NEAR(first->local.a, 90000.0, 0);
    CHECK_INT(first->local.worst, 0);
    CHECK_INT(first->local.not_finite, 5);
    CHECK(find(c, "large")->local.beyond == 0);
    char *text = mw_comparison_print(c, &err);
    CHECK_CONTAINS(text, "first beyond the tolerance on equal inputs: mul \"larger\"");
    CHECK_CONTAINS(text, "5 not finite, worst [0]: 90000 and inf");
    mw_string_free(text);
    mw_comparison_destroy(c);
    mw_graph_destroy(g);
}

/* What overflows and is limited at once is meant: Adam with a clipped quotient does it. */
static void test_an_overflow_that_is_limited_is_no_difference(void)
{
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(8));
    mw_tensor *larger = mw_name(mw_mul_scalar(mw_exp(mw_square(x)), 90000.0), "larger");
    mw_output(mw_clip(larger, -1.0, 1.0), "y");
    const mw_compare_options options = options_of(MW_DEVICE_CPU, MW_DEVICE_ANE);
    mw_comparison *c = mw_comparison_create(g, &options, &err);
    CHECK_OK(err);
    CHECK(mw_comparison_get_info(c).passes && mw_comparison_get_info(c).first_accumulated == NULL);
    CHECK_INT(find(c, "larger")->local.overflowed, 8);
    char *text = mw_comparison_print(c, &err);
    CHECK_CONTAINS(text, "8 beyond the range of fp16, which comes to nothing");
    mw_string_free(text);
    mw_comparison_destroy(c);
    mw_graph_destroy(g);
}

/* With wide tolerances everything passes but what is not finite. */
static void test_tolerances_are_those_of_the_options(void)
{
    mw_error err = {0};
    mw_graph *g = make_net();
    mw_compare_options options = options_of(MW_DEVICE_CPU, MW_DEVICE_ANE);
    options.relative = options.absolute = 0.0;
    mw_comparison *c = mw_comparison_create(g, &options, &err);
    CHECK_OK(err);
    CHECK(!mw_comparison_get_info(c).passes);
    mw_comparison_destroy(c);
    options.relative = -1.0;
    CHECK(mw_comparison_create(g, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "tolerances");
    mw_error_clear(&err);
    options.relative = (double)NAN;
    CHECK(mw_comparison_create(g, &options, &err) == NULL);
    mw_graph_destroy(g);
}

static void test_accumulated_only_compiles_no_operation_alone(void)
{
    mw_error err = {0};
    mw_graph *g = make_overflow();
    mw_compare_options options = options_of(MW_DEVICE_CPU, MW_DEVICE_ANE);
    options.accumulated_only = true;
    mw_comparison *c = mw_comparison_create(g, &options, &err);
    CHECK_OK(err);
    CHECK(!mw_comparison_get_info(c).passes && mw_comparison_get_info(c).first_local == NULL);
    for (size_t i = 0; mw_comparison_at(c, i) != NULL; i++) {
        CHECK(!mw_comparison_at(c, i)->local.compared && mw_comparison_at(c, i)->skipped != NULL);
        CHECK(mw_comparison_at(c, i)->accumulated.compared);
    }
    mw_comparison_destroy(c);
    mw_graph_destroy(g);
}

/* ---- feeds ---- */

/* Bit by bit; the bytes between the first member and the second have no value. */
static bool same_difference(const mw_difference *a, const mw_difference *b)
{
    return a->compared == b->compared && memcmp(&a->count, &b->count, sizeof *a - offsetof(mw_difference, count)) == 0;
}

static bool same_numbers(const mw_comparison *a, const mw_comparison *b)
{
    bool same = mw_comparison_get_info(a).count == mw_comparison_get_info(b).count;
    for (size_t i = 0; same && mw_comparison_at(a, i) != NULL; i++)
        same = same_difference(&mw_comparison_at(a, i)->accumulated, &mw_comparison_at(b, i)->accumulated);
    return same;
}

static void test_a_saved_batch_gives_the_same_comparison(void)
{
    mw_error err = {0};
    mw_graph *g = make_net();
    mw_compare_options options = options_of(MW_DEVICE_CPU, MW_DEVICE_ANE);
    options.seed = 7;
    mw_comparison *drawn = mw_comparison_create(g, &options, &err);
    CHECK_INT(mw_comparison_save_batch(drawn, scratch("batch.safetensors"), &err), MW_OK);
    options.seed = 8;
    mw_comparison *other = mw_comparison_create(g, &options, &err);
    options.batch_path = scratch("batch.safetensors");
    mw_comparison *read = mw_comparison_create(g, &options, &err);
    CHECK_OK(err);
    CHECK(same_numbers(drawn, read) && !same_numbers(drawn, other));
    options.batch_path = scratch("none.safetensors");
    CHECK(mw_comparison_create(g, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "none.safetensors");
    mw_comparison_destroy(drawn);
    mw_comparison_destroy(other);
    mw_comparison_destroy(read);
    mw_graph_destroy(g);
}

static void test_bad_batches_are_refused(void)
{
    mw_error err = {0};
    mw_graph *g = make_net();
    mw_compare_options options = options_of(MW_DEVICE_CPU, MW_DEVICE_CPU);
    const mw_batch empty = {.examples = 4};
    options.batch = &empty;
    CHECK(mw_comparison_create(g, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "\"x\"");
    mw_error_clear(&err);
    CHECK(mw_comparison_create(NULL, NULL, &err) == NULL);
    mw_error_clear(&err);
    mw_graph *none = mw_graph_create(NULL, NULL);
    CHECK(mw_comparison_create(none, NULL, &err) == NULL);
    mw_graph_destroy(none);
    mw_graph_destroy(g);
}

static void test_weights_are_those_of_a_program(void)
{
    mw_error err = {0};
    mw_graph *g = make_net();
    mw_program *trained = engine_compile(g, MW_DEVICE_CPU, 1, &err);
    float weight[3 * 8];
    for (int i = 0; i < 24; i++)
        weight[i] = 1000.0F + (float)i;
    mw_program_write(trained, "fc2.weight", MW_F32, weight, 24, &err);
    mw_compare_options options = options_of(MW_DEVICE_CPU, MW_DEVICE_ANE);
    options.reference.share.program = trained;
    mw_comparison *c = mw_comparison_create(g, &options, &err);
    CHECK_OK(err);
    bool seen = false;
    for (size_t i = 0; mw_comparison_at(c, i) != NULL; i++) {
        const mw_compared *item = mw_comparison_at(c, i);
        if (item->parameter != NULL && strcmp(item->parameter, "fc2.weight") == 0)
            seen = seen || fabs(item->accumulated.a) > 100.0;
    }
    CHECK(seen);
    float after[24];
    mw_program_read(trained, "fc2.weight", MW_F32, after, 24, &err);
    CHECK(memcmp(weight, after, sizeof weight) == 0);
    mw_comparison_destroy(c);
    mw_program_destroy(trained);
    mw_graph_destroy(g);
}

/* ---- all operations ---- */

static size_t compared, alone;

/* Every operation that there is can be shown, and run alone, and agrees with itself. */
static void check_case(const op_case *c)
{
    mw_error err = {0};
    op_instance instance;
    if (!op_instance_init(&instance, c, MW_F32, 3))
        return;
    mw_output(instance.y, "y");
    mw_compare_options options = options_of(MW_DEVICE_CPU, MW_DEVICE_CPU);
    mw_comparison *comparison = mw_comparison_create(instance.graph, &options, &err);
    check_note(comparison != NULL || err.status == MW_ERROR_UNSUPPORTED, __FILE__, __LINE__, "%s %s: %s", c->name,
               c->detail, err.message);
    check_note(comparison == NULL || mw_comparison_get_info(comparison).passes, __FILE__, __LINE__,
               "%s %s differs from itself", c->name, c->detail);
    for (size_t i = 0; mw_comparison_at(comparison, i) != NULL; i++) {
        const mw_compared *item = mw_comparison_at(comparison, i);
        compared++;
        alone += item->local.compared;
        if (!item->local.compared && getenv("MW_NIGHTLY") != NULL)
            printf("%s %s: %s \"%s\" not alone: %s\n", c->name, c->detail, item->operation, item->tensor,
                   item->skipped);
        check_note(item->accumulated.compared, __FILE__, __LINE__, "%s %s: %s is not compared", c->name, c->detail,
                   item->tensor);
    }
    mw_comparison_destroy(comparison);
    op_instance_deinit(&instance);
}

static void test_every_operation_can_be_compared(void)
{
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        check_case(c);
    CHECK(compared > 300);
    CHECK(alone * 100 > compared * 90);
    printf("%zu results compared, %zu alone\n", compared, alone);
}

/* In fp16 the cast is nothing, so that both outputs are one value. */
static void test_a_value_and_its_cast_are_both_shown(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    mw_output(mw_cast(mw_relu(mw_cast(x, MW_F16)), MW_F32), "y");
    mw_comparison *comparison = mw_comparison_create(graph, NULL, &err);
    CHECK_OK(err);
    CHECK(mw_comparison_get_info(comparison).passes);
    CHECK_INT(mw_comparison_get_info(comparison).count, 3);
    mw_comparison_destroy(comparison);
    mw_graph_destroy(graph);
}

static mw_tensor *below_four(void *user, mw_tensor *const *vars, size_t count)
{
    (void)count;
    return mw_less(vars[0], mw_scalar(user, MW_I32, 4));
}

static void double_once(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out_vars)
{
    (void)count;
    out_vars[0] = mw_add(vars[0], mw_scalar(user, MW_I32, 1));
    out_vars[1] = mw_name(mw_add(vars[1], vars[1]), "inside");
}

/* What a loop gives becomes a value of its inside when it is unrolled; the ports keep the names of the program. */
static void test_results_of_a_loop_keep_their_names(void)
{
    const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    mw_error err = {0};
    float y = 0, z = 0;
    const float one = 1;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1)), *vars[2];
    mw_while_loop((mw_tensor *[]){mw_scalar(graph, MW_I32, 0), x}, 2, below_four, double_once, graph, vars);
    mw_output(vars[1], "y");
    mw_output(vars[1], "z");
    for (int d = 0; d < 2; d++) {
        mw_program *program = engine_compile(graph, devices[d], 1, &err);
        mw_program_write(program, "x", MW_F32, &one, 1, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, &y, 1, &err);
        mw_program_read(program, "z", MW_F32, &z, 1, &err);
        CHECK_OK(err);
        CHECK_NEAR(y, 16, 0);
        CHECK_NEAR(z, 16, 0);
        mw_program_destroy(program);
    }
    mw_comparison *comparison = mw_comparison_create(graph, NULL, &err);
    CHECK_OK(err);
    mw_comparison_destroy(comparison);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_equal_tensors_do_not_differ);
    RUN(test_a_difference_has_its_worst_element);
    RUN(test_what_is_not_finite_comes_first);
    RUN(test_one_device_agrees_with_itself);
    RUN(test_outputs_that_change_with_inner_values_are_counted);
    RUN(test_half_precision_differs_within_the_tolerance);
    RUN(test_the_operation_to_blame_is_named);
    RUN(test_an_overflow_that_is_limited_is_no_difference);
    RUN(test_tolerances_are_those_of_the_options);
    RUN(test_accumulated_only_compiles_no_operation_alone);
    RUN(test_a_saved_batch_gives_the_same_comparison);
    RUN(test_bad_batches_are_refused);
    RUN(test_weights_are_those_of_a_program);
    RUN(test_every_operation_can_be_compared);
    RUN(test_a_value_and_its_cast_are_both_shown);
    RUN(test_results_of_a_loop_keep_their_names);
    return check_finish();
}
