/* The reverse driver: what flows, what stops, what is refused, and what the graph looks like after a refusal. */
#include "support/check.h"
#include "support/oracles/oracle.h"

#include <millwright/millwright.h>

static mw_tensor *input(mw_graph *graph, const char *name) { return mw_input(graph, name, MW_F32, MW_SHAPE(3)); }

/* The elements of `value` for the given a (and b = a + 1). */
static void evaluate(mw_graph *graph, const mw_tensor *value, const double *a, double *out)
{
    oracle o;
    oracle_init(&o, graph);
    double b[3] = {a[0] + 1.0, a[1] + 1.0, a[2] + 1.0};
    mw_tensor *ta = mw_graph_find(graph, "a"), *tb = mw_graph_find(graph, "b");
    if (ta != NULL)
        oracle_set(&o, ta, a);
    if (tb != NULL)
        oracle_set(&o, tb, b);
    if (CHECK(oracle_run(&o)))
        for (int64_t i = 0; i < oracle_count(value); i++)
            out[i] = oracle_get(&o, value)[i];
    oracle_deinit(&o);
}

static const double at[3] = {0.5, -1.0, 2.0};

static mw_tensor *sum(mw_tensor *x) { return mw_reduce_sum(x, MW_ALL_AXES, false); }

static void test_a_value_used_twice_adds_its_cotangents(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *da = NULL;
    mw_error err = {0};
    mw_grad(sum(mw_add(mw_square(a), a)), &a, 1, &da, &err);
    CHECK_OK(err);
    double got[3];
    evaluate(graph, da, at, got);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(got[i], 2.0 * at[i] + 1.0, 1e-12);
    mw_graph_destroy(graph);
}

static void test_stop_gradient_makes_a_constant(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *da = NULL;
    mw_error err = {0};
    mw_grad(sum(mw_mul(mw_stop_gradient(mw_square(a)), a)), &a, 1, &da, &err);
    CHECK_OK(err);
    double got[3];
    evaluate(graph, da, at, got);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(got[i], at[i] * at[i], 1e-12);
    mw_graph_destroy(graph);
}

static void test_stops_of_backward_hold_for_that_call_only(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *inner = mw_square(a), *root = sum(mw_mul(inner, a)), *stopped = NULL,
              *whole = NULL;
    mw_error err = {0};
    mw_backward(&(mw_pullback){.roots = &root, .root_count = 1, .stops = &inner, .stop_count = 1}, &a, 1, &stopped,
                &err);
    mw_backward(&(mw_pullback){.roots = &root, .root_count = 1}, &a, 1, &whole, &err);
    CHECK_OK(err);
    double got[3];
    evaluate(graph, stopped, at, got);
    CHECK_NEAR(got[2], 4.0, 1e-12);
    evaluate(graph, whole, at, got);
    CHECK_NEAR(got[2], 12.0, 1e-12);
    mw_graph_destroy(graph);
}

static void test_several_roots_with_seeds_add_up(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *b = input(graph, "b"), *da = NULL;
    mw_tensor *roots[2] = {mw_mul(a, b), sum(a)}, *seeds[2] = {b, NULL};
    mw_error err = {0};
    mw_backward(&(mw_pullback){.roots = roots, .seeds = seeds, .root_count = 2}, &a, 1, &da, &err);
    CHECK_OK(err);
    double got[3];
    evaluate(graph, da, at, got);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(got[i], (at[i] + 1.0) * (at[i] + 1.0) + 1.0, 1e-12);
    mw_graph_destroy(graph);
}

static void test_gradient_with_respect_to_an_intermediate_value(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *x[2] = {mw_square(a), a}, *dx[2];
    mw_error err = {0};
    mw_grad(sum(mw_mul(x[0], x[0])), x, 2, dx, &err);
    CHECK_OK(err);
    double got[3];
    evaluate(graph, dx[0], at, got);
    CHECK_NEAR(got[2], 8.0, 1e-12);
    evaluate(graph, dx[1], at, got);
    CHECK_NEAR(got[2], 32.0, 1e-12);
    mw_graph_destroy(graph);
}

static void test_an_unreached_variable_gets_zeros(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *b = input(graph, "b"), *db = NULL;
    mw_error err = {0};
    mw_grad(sum(a), &b, 1, &db, &err);
    CHECK_OK(err);
    double got[3] = {1, 1, 1};
    evaluate(graph, db, at, got);
    CHECK_NEAR(got[0] + got[1] + got[2], 0.0, 0.0);
    mw_graph_destroy(graph);
}

static void test_third_derivative_of_a_cube(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *d[4] = {mw_mul(a, mw_square(a))};
    mw_error err = {0};
    for (int i = 0; i < 3; i++)
        mw_grad(sum(d[i]), &a, 1, &d[i + 1], &err);
    CHECK_OK(err);
    double got[3];
    evaluate(graph, d[3], at, got);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(got[i], 6.0, 1e-12);
    mw_graph_destroy(graph);
}

/* ---- refusals ---- */

static void test_a_loss_that_is_no_scalar_is_refused_with_its_shape(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *da = a;
    mw_error err = {0};
    CHECK_INT(mw_grad(mw_name(mw_square(a), "z"), &a, 1, &da, &err), MW_ERROR_SHAPE);
    CHECK_ERROR(err, MW_ERROR_SHAPE,
                "mw_grad: the loss, \"z\", has shape [3], not a scalar; reduce it (mw_reduce_mean)");
    CHECK_CONTAINS(err.message, "mw_reduce_mean");
    CHECK(da == NULL);
    mw_graph_destroy(graph);
}

static void test_an_integer_variable_is_refused(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(3)), *a = input(graph, "a"), *d = NULL;
    mw_error err = {0};
    CHECK_INT(mw_grad(sum(a), &labels, 1, &d, &err), MW_ERROR_DTYPE);
    CHECK_CONTAINS(err.message, "\"labels\", has type int32");
    mw_graph_destroy(graph);
}

/* The gradient of x repeated, seeded with a cotangent of unknown extent. */
static mw_status repeat_backward(mw_graph *graph, mw_shape reps, mw_shape y_shape, mw_tensor **out_dx, mw_error *err)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(-1, 5, 3));
    mw_tensor *y = mw_tile(x, reps), *dy = mw_input(graph, "dy", MW_F32, y_shape);
    return mw_backward(&(mw_pullback){.roots = &y, .seeds = &dy, .root_count = 1}, &x, 1, out_dx, err);
}

static void test_repeats_of_an_unknown_extent_are_refused(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL), *other = mw_graph_create(NULL, NULL);
    mw_tensor *dx = NULL;
    mw_error err = {0};
    CHECK_INT(repeat_backward(graph, MW_SHAPE(1, 1, 2), MW_SHAPE(-1, 5, 6), &dx, &err), MW_OK);
    CHECK(dx != NULL && mw_shape_equal(mw_tensor_shape(dx), MW_SHAPE(-1, 5, 3)));
    CHECK_INT(repeat_backward(other, MW_SHAPE(2, 1, 1), MW_SHAPE(-1, 5, 3), &dx, &err), MW_ERROR_UNSUPPORTED);
    CHECK_CONTAINS(err.message, "tile: the gradient needs the extent of axis 0");
    CHECK(dx == NULL);
    mw_graph_destroy(other);
    mw_graph_destroy(graph);
}

static void test_variables_of_another_graph_and_null_are_refused(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL), *other = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *foreign = input(other, "a"), *none = NULL, *d = NULL;
    mw_error err = {0};
    CHECK_INT(mw_grad(sum(a), &foreign, 1, &d, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "another graph");
    err = (mw_error){0};
    CHECK_INT(mw_grad(sum(a), &none, 1, &d, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK_INT(mw_grad(NULL, &a, 1, &d, &err), MW_ERROR_ARGUMENT);
    mw_graph_destroy(other);
    mw_graph_destroy(graph);
}

/* A program that was read may hold operations that the table does not know. */
static void test_a_path_without_a_gradient_is_refused_before_anything_is_emitted(void)
{
    static const char text[] = "program(1.3)\n[buildInfo = dict<string, string>({})]\n{\n"
                               "func main<ios18>(tensor<fp32, [3]> a) {\n"
                               "tensor<fp32, [3]> t = wobble(x = a)[name = string(\"t\")];\n"
                               "tensor<fp32, [3]> s = square(x = t)[name = string(\"s\")];\n} -> (s);\n}\n";
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, sizeof text - 1, NULL, NULL, &err);
    CHECK_OK(err);
    REQUIRE(graph != NULL);
    mw_tensor *a = mw_graph_find(graph, "a"), *loss = sum(mw_graph_find(graph, "s")), *da = NULL;
    size_t before = graph->current->body->op_count;
    CHECK_INT(mw_grad(loss, &a, 1, &da, &err), MW_ERROR_UNSUPPORTED);
    CHECK_CONTAINS(err.message, "wobble");
    CHECK_STR(err.operation, "wobble");
    CHECK_INT(graph->current->body->op_count, before);
    CHECK_INT(mw_graph_check(graph, NULL), MW_OK);
    mw_graph_destroy(graph);
}

static void test_a_seed_of_another_shape_is_refused(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *seed = mw_input(graph, "seed", MW_F32, MW_SHAPE(2)), *root = mw_square(a), *da;
    mw_error err = {0};
    CHECK_INT(mw_backward(&(mw_pullback){.roots = &root, .seeds = &seed, .root_count = 1}, &a, 1, &da, &err),
              MW_ERROR_SHAPE);
    CHECK_CONTAINS(err.message, "[2]");
    CHECK(da == NULL);
    mw_graph_destroy(graph);
}

static void test_comparisons_carry_no_gradient_and_do_not_stop_the_rest(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = input(graph, "a"), *b = input(graph, "b"), *da = NULL;
    mw_error err = {0};
    mw_grad(sum(mw_select(mw_greater(a, mw_scalar(graph, MW_F32, 0.0)), mw_square(a), b)), &a, 1, &da, &err);
    CHECK_OK(err);
    double got[3];
    evaluate(graph, da, at, got);
    CHECK_NEAR(got[0], 1.0, 1e-12);
    CHECK_NEAR(got[1], 0.0, 0.0);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_a_value_used_twice_adds_its_cotangents);
    RUN(test_stop_gradient_makes_a_constant);
    RUN(test_stops_of_backward_hold_for_that_call_only);
    RUN(test_several_roots_with_seeds_add_up);
    RUN(test_gradient_with_respect_to_an_intermediate_value);
    RUN(test_an_unreached_variable_gets_zeros);
    RUN(test_third_derivative_of_a_cube);
    RUN(test_a_loss_that_is_no_scalar_is_refused_with_its_shape);
    RUN(test_an_integer_variable_is_refused);
    RUN(test_repeats_of_an_unknown_extent_are_refused);
    RUN(test_variables_of_another_graph_and_null_are_refused);
    RUN(test_a_path_without_a_gradient_is_refused_before_anything_is_emitted);
    RUN(test_a_seed_of_another_shape_is_refused);
    RUN(test_comparisons_carry_no_gradient_and_do_not_stop_the_rest);
    return check_finish();
}
