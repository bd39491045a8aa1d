/* One program with `?` of the same for three shapes: what is computed from extents, and what is refused. */
#include "graph/graph_check.h"

#include "graph/transform/extents/generalize.h"
#include "graph/transform/extents/generalize_parts.h"
#include "support/failing.h"

#include <stdio.h>

typedef mw_tensor *builder(mw_tensor *x, int64_t n, int64_t t);

static const int64_t extents[MW__WITNESSES][2] = {{4, 6}, {6, 10}, {10, 14}};

static mw_graph *build(builder *body, int64_t n, int64_t t, const mw_allocator *allocator)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    mw_graph *graph = mw_graph_create(&options, NULL);
    mw_output(body(mw_input(graph, "x", MW_F32, MW_SHAPE(n, t, 3)), n, t), "y");
    return graph;
}

static mw_graph *generalize_with(builder *body, const mw_allocator *allocator, mw_error *err)
{
    mw_graph *witness[MW__WITNESSES] = {NULL}, *made = NULL;
    bool all = true;
    for (int k = 0; k < MW__WITNESSES; k++) {
        witness[k] = build(body, extents[k][0], extents[k][1], allocator);
        all = all && witness[k] != NULL && mw_graph_check(witness[k], err) == MW_OK;
    }
    if (all)
        made = mw__generalize(witness, err);
    else if (err->status == MW_OK)
        err->status = MW_ERROR_MEMORY; /* of a graph that there is not */
    for (int k = 0; k < MW__WITNESSES; k++)
        mw_graph_destroy(witness[k]);
    return mw__graph_publish(made, err);
}

/* For other extents than those of the three, it has the shape that the builder gives. */
static void check(builder *body, const char *part)
{
    mw_error err = {0};
    const mw_input_shape five = {"x", MW_SHAPE(5, 9, 3)};
    mw_graph *open = generalize_with(body, NULL, &err);
    CHECK_OK(err);
    char *text = mw_graph_print_mil(open, NULL, &err);
    CHECK(text != NULL && strstr(text, part) != NULL && strstr(text, "tensor<fp32, [?, ?, 3]> x") != NULL);
    mw_graph *closed = mw_graph_specialize(open, &five, 1, &err), *built = build(body, 5, 9, NULL);
    CHECK_OK(err);
    CHECK(mw_shape_equal(mw_tensor_shape(mw_graph_find(closed, "y")), mw_tensor_shape(mw_graph_find(built, "y"))));
    mw_graph_destroy(mw_graph_specialize(open, NULL, 0, &err)); /* the default */
    CHECK_OK(err);
    mw_string_free(text);
    mw_graph_destroy(built);
    mw_graph_destroy(closed);
    mw_graph_destroy(open);
}

static mw_tensor *one_open(mw_tensor *x, int64_t n, int64_t t)
{
    (void)t;
    mw_tensor *mean = mw_reduce_mean(x, MW_AXES(1), false);
    return mw_reshape(mean, MW_SHAPE(n, 1, 3));
}

static mw_tensor *two_open(mw_tensor *x, int64_t n, int64_t t) { return mw_reshape(x, MW_SHAPE(3, t, n)); }

static mw_tensor *joined(mw_tensor *x, int64_t n, int64_t t)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *rows = mw_fill(graph, MW_F32, MW_SHAPE(n * t, 3), 2);
    return mw_mul(mw_reshape(x, MW_SHAPE(n * t, 3)), rows);
}

static mw_tensor *last(mw_tensor *x, int64_t n, int64_t t)
{
    (void)n;
    return mw_gather(x, mw_scalar(mw_tensor_graph(x), MW_I32, (double)(t - 1)), 1);
}

static mw_tensor *constant_of_zeros(mw_tensor *x, int64_t n, int64_t t)
{
    static const float zeros[14 * 14 * 3];
    return mw_add(x, mw_constant(mw_tensor_graph(x), MW_F32, MW_SHAPE(n, t, 3), zeros));
}

static mw_tensor *positions(mw_tensor *x, int64_t n, int64_t t)
{
    int32_t list[16];
    (void)n;
    for (int i = 0; i < 16; i++)
        list[i] = 2 * i + 1;
    mw_tensor *at = mw_cast(mw_constant(mw_tensor_graph(x), MW_I32, MW_SHAPE(t), list), MW_F32);
    return mw_mul(x, mw_expand_dims(at, MW_AXES(1)));
}

static mw_tensor *divided(mw_tensor *x, int64_t n, int64_t t) { return mw_mul_scalar(x, (double)(2 * n + 0 * t)); }

static void test_what_follows_from_extents_is_computed(void)
{
    check(one_open, "[-1, 1, 3]");
    check(two_open, "= concat(");
    check(joined, "= fill(");
    check(last, "= add(");
    check(constant_of_zeros, "= fill(");
    check(positions, "= range_1d(");
    check(divided, "= cast(");
}

static mw_tensor *squared(mw_tensor *x, int64_t n, int64_t t)
{
    (void)t;
    return mw_mul_scalar(x, (double)(n * n * n));
}

static mw_tensor *unrolled(mw_tensor *x, int64_t n, int64_t t)
{
    (void)t;
    for (int64_t i = 0; i < n; i++)
        x = mw_relu(x);
    return x;
}

static mw_tensor *other(mw_tensor *x, int64_t n, int64_t t)
{
    (void)t;
    return n == 6 ? mw_relu(x) : mw_tanh(x);
}

static mw_tensor *swapped(mw_tensor *x, int64_t n, int64_t t)
{
    (void)t;
    mw_tensor *y = mw_relu(x);
    return n == 6 ? mw_sub(x, y) : mw_sub(y, x);
}

static mw_tensor *sized(mw_tensor *x, int64_t n, int64_t t)
{
    (void)n;
    return mw_sliding_windows(x, 1, t / 2, 1); /* which MIL wants as a constant */
}

static void refuse(builder *body, const char *part)
{
    mw_error err = {0};
    mw_graph *made = generalize_with(body, NULL, &err);
    CHECK(made == NULL);
    CHECK_ERROR(err, err.status == MW_ERROR_ARGUMENT ? MW_ERROR_ARGUMENT : MW_ERROR_UNSUPPORTED, part);
    mw_graph_destroy(made);
}

static void test_what_does_not_follow_is_refused_by_name(void)
{
    refuse(squared, "mul");
    refuse(unrolled, "the number of operations depends on it");
    refuse(other, "is there for some extents only");
    refuse(swapped, "is given other values");
    refuse(sized, "sliding_windows");
}

static void test_every_allocation_may_fail(void)
{
    builder *const bodies[] = {joined, positions};
    for (size_t i = 0; i < 2; i++) {
        bool done = false;
        for (long n = 0; !done && n < 100000; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            mw_graph *made = generalize_with(bodies[i], &allocator, &err);
            done = !failing.failed;
            CHECK(done == (made != NULL));
            CHECK(done == (err.status == MW_OK));
            mw_graph_destroy(made);
            CHECK_INT(failing.live, 0);
        }
        CHECK(done);
    }
}

static void test_texts_are_the_same_if_all_of_them_are(void)
{
    const char *const first[] = {"a", "b"}, *const same[] = {"a", "b"}, *const other[] = {"a", "c"};
    const mw__type two = {.kind = MW__TENSOR, .dtype = MW_STRING, .shape = MW_SHAPE(2)},
                   none = {.kind = MW__TENSOR, .dtype = MW_STRING, .shape = MW_SHAPE(0)};
    const mw__payload a = {.type = &two, .strings = first}, b = {.type = &two, .strings = same},
                      c = {.type = &two, .strings = other}, d = {.type = &none, .strings = first},
                      e = {.type = &none, .strings = other + 1};
    CHECK(mw__generalize_match_payloads_equal(&a, &b));
    CHECK(!mw__generalize_match_payloads_equal(&a, &c));
    CHECK(mw__generalize_match_payloads_equal(&d, &e)); /* nothing is read of them */
}

int main(void)
{
    RUN(test_texts_are_the_same_if_all_of_them_are);
    RUN(test_what_follows_from_extents_is_computed);
    RUN(test_what_does_not_follow_is_refused_by_name);
    RUN(test_every_allocation_may_fail);
    return check_finish();
}
