/* Recompute segments: the same derivatives as without, of every order, in copies too; and what is refused. That memory
 * falls and bits stay is tests/engine/compile/test_recompute.c. */
#include "support/check.h"
#include "support/failing.h"
#include "support/op_count.h"
#include "support/oracles/oracle.h"

#include <millwright/millwright.h>

enum { N = 4 };

typedef struct net {
    mw_graph *graph;
    mw_tensor *x, *w, *v, *loss;
} net;

static mw_tensor *sum(mw_tensor *x) { return mw_reduce_sum(x, MW_ALL_AXES, false); }

/* Tied weights: the segments read w, and their inputs depend on it too. The middle one holds a composite and a stop. */
static void make_net(net *n, bool cut, const mw_allocator *allocator)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    *n = (net){.graph = mw_graph_create(&options, NULL)};
    n->x = mw_input(n->graph, "x", MW_F32, MW_SHAPE(N, N));
    n->v = mw_input(n->graph, "v", MW_F32, MW_SHAPE(N, N));
    n->w = mw_parameter(n->graph, "w", MW_F32, MW_SHAPE(N, N), mw_init_uniform(-1.0F, 1.0F));
    mw_tensor *h = mw_tanh(mw_matmul(n->x, n->w, MW_TRANSPOSE_NONE)), *start = h;
    h = mw_add(mw_exp(mw_matmul(h, n->w, MW_TRANSPOSE_Y)), mw_stop_gradient(mw_square(h)));
    h = mw_mul(h, mw_mse(h, n->x));
    h = cut ? mw_recompute(h, &start, 1) : h;
    start = h;
    h = mw_sigmoid(mw_matmul(h, n->w, MW_TRANSPOSE_NONE));
    h = cut ? mw_recompute(h, &start, 1) : h;
    n->loss = sum(mw_square(h));
}

static void feed(const net *n, oracle *o)
{
    double values[3][N * N];
    for (int i = 0; i < N * N; i++) {
        values[0][i] = (i * 7 % 16) / 8.0 - 1.0;
        values[1][i] = (i * 5 % 16) / 8.0 - 0.9;
        values[2][i] = (i * 3 % 16) / 16.0 - 0.4;
    }
    oracle_init(o, n->graph);
    oracle_set(o, n->x, values[0]);
    oracle_set(o, n->v, values[1]);
    oracle_set(o, n->w, values[2]);
}

static void test_derivatives_of_every_order_are_the_same(void)
{
    net n[2];
    oracle o[2];
    mw_tensor *out[2][4];
    mw_error err = {0};
    for (int k = 0; k < 2; k++) {
        make_net(&n[k], k == 1, NULL);
        mw_tensor *x[2] = {n[k].w, n[k].x}, *v[2] = {n[k].v, n[k].v}, **d = out[k], *both[2];
        mw_grad(n[k].loss, x, 2, d, &err);
        mw_hvp(n[k].loss, x, v, 2, both, &err);
        d[2] = both[0];
        mw_jvp(&n[k].loss, 1, x, v, 2, &d[3], &err);
        CHECK_OK(err);
        feed(&n[k], &o[k]);
        CHECK(oracle_run(&o[k]));
    }
    for (int d = 0; err.status == MW_OK && d < 4; d++)
        for (int64_t i = 0; i < oracle_count(out[0][d]); i++) {
            const double expected = oracle_get(&o[0], out[0][d])[i];
            CHECK_NEAR(oracle_get(&o[1], out[1][d])[i], expected, 1e-12 * (1.0 + fabs(expected)));
        }
    for (int k = 0; k < 2; k++) {
        oracle_deinit(&o[k]);
        mw_graph_destroy(n[k].graph);
    }
}

static void test_the_operations_stand_twice_and_only_in_the_gradient(void)
{
    net n;
    mw_error err = {0};
    mw_tensor *dw = NULL;
    make_net(&n, true, NULL);
    CHECK_INT(op_count(n.graph->functions[0]->body, "exp"), 1);
    mw_grad(n.loss, &n.w, 1, &dw, &err);
    CHECK_OK(err);
    CHECK_INT(op_count(n.graph->functions[0]->body, "exp"), 2);
    CHECK_INT(op_count(n.graph->functions[0]->body, "sigmoid"), 2 + 3); /* in slopes: one of its own, two of tanh */
    CHECK_INT(op_count(n.graph->functions[0]->body, "tanh"), 1);
    char *text = mw_graph_print_mil(n.graph, NULL, &err);
    mw_graph *again = text != NULL ? mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err) : NULL;
    CHECK_INT(mw_graph_verify(again, &err), MW_OK);
    CHECK_OK(err);
    mw_graph_destroy(again);
    mw_string_free(text);
    mw_graph_destroy(n.graph);
}

/* The mark goes along into the copies that a trainer makes. */
static void test_a_trainer_recomputes(void)
{
    float after[2][N * N], x_at[N * N];
    for (int i = 0; i < N * N; i++)
        x_at[i] = (float)(i * 7 % 16) / 8.0F - 1.0F;
    for (int k = 0; k < 2; k++) {
        net n;
        mw_error err = {0};
        make_net(&n, k == 1, NULL);
        mw_trainer_options options = mw_trainer_defaults(n.loss, mw_sgd(0.01F));
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        mw_graph_destroy(n.graph);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        const mw_feed feeds = {.name = "x", .dtype = MW_F32, .data = x_at, .count = N * N, .scale = 1.0F};
        const mw_batch batch = {.feeds = &feeds, .feed_count = 1, .examples = N};
        float loss;
        for (int step = 0; step < 10; step++)
            mw_trainer_step(trainer, &batch, &loss, &err);
        mw_trainer_read(trainer, "w", MW_F32, after[k], N * N, &err);
        CHECK_OK(err);
        mw_trainer_destroy(trainer);
    }
    for (int i = 0; i < N * N; i++) /* w's three cotangents are added in another order: one rounding each a step */
        CHECK_NEAR(after[1][i], after[0][i], 1e-5);
}

/* The gradient by w of sum(f(h)) with h = tanh(w), and h among the inputs `times` times. */
static double slope_of_start(size_t times)
{
    mw_error err = {0};
    oracle o;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(1), mw_init_zeros()), *h = mw_tanh(w), *dw = NULL;
    mw_tensor *const starts[3] = {h, h, h};
    mw_tensor *y = mw_recompute(mw_exp(mw_square(h)), starts, times);
    mw_grad(sum(y), &w, 1, &dw, &err);
    CHECK_OK(err);
    oracle_init(&o, graph);
    oracle_set(&o, w, &(double){0.7});
    const double slope = CHECK(oracle_run(&o)) ? oracle_get(&o, dw)[0] : NAN;
    oracle_deinit(&o);
    mw_graph_destroy(graph);
    return slope;
}

static void test_an_input_that_is_given_twice_counts_once(void)
{
    const double t = tanh(0.7), slope = exp(t * t) * 2 * t * (1 - t * t);
    for (size_t times = 0; times < 4; times++)
        CHECK_NEAR(slope_of_start(times), slope, 1e-12);
}

/* ---- what only a copy has ---- */

static mw_tensor *two_trips(void *user, mw_tensor *const *vars, size_t count)
{
    (void)count;
    return mw_less(vars[0], mw_scalar(user, MW_I32, 2));
}

/* Both variables are one value before the first trip. */
static void trip(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    mw_tensor *w = mw_graph_find(user, "w");
    (void)count;
    out[0] = mw_add(vars[0], mw_scalar(user, MW_I32, 1));
    out[1] = mw_recompute(mw_mul(mw_tanh(mw_mul(vars[1], w)), vars[2]), vars + 1, 2);
    out[2] = mw_add(vars[2], vars[1]);
}

static void test_two_variables_of_a_loop_that_start_as_one_value(void)
{
    const double x = 0.6, w = 1.3;
    mw_error err = {0};
    oracle o;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_parameter(graph, "w", MW_F32, MW_SHAPE(1), mw_init_zeros());
    mw_tensor *start = mw_input(graph, "x", MW_F32, MW_SHAPE(1)), *results[3];
    mw_tensor *vars[3] = {mw_scalar(graph, MW_I32, 0), start, start};
    mw_while_loop(vars, 3, two_trips, trip, graph, results);
    mw_output(results[1], "y");
    mw_graph *flat = mw_graph_flatten(graph, &err);
    mw_tensor *d[2], *leaves[2] = {mw_graph_find(flat, "x"), mw_graph_find(flat, "w")};
    mw_grad(sum(mw_graph_find(flat, "y")), leaves, 2, d, &err);
    CHECK_OK(err);
    oracle_init(&o, flat);
    oracle_set(&o, leaves[0], &x);
    oracle_set(&o, leaves[1], &w);
    const double a = tanh(x * w) * x, da_dx = tanh(x * w) + x * w * (1 - pow(tanh(x * w), 2));
    const double da_dw = x * x * (1 - pow(tanh(x * w), 2)), t = tanh(a * w), s = 1 - t * t;
    if (err.status == MW_OK && CHECK(oracle_run(&o))) { /* y = tanh(a w) 2 x */
        CHECK_NEAR(oracle_get(&o, d[0])[0], s * w * da_dx * 2 * x + 2 * t, 1e-12);
        CHECK_NEAR(oracle_get(&o, d[1])[0], s * (a + w * da_dw) * 2 * x, 1e-12);
    }
    oracle_deinit(&o);
    mw_graph_destroy(flat);
    mw_graph_destroy(graph);
}

static void test_bad_segments_are_refused(void)
{
    mw_error err = {0};
    for (int i = 0; i < 3; i++) {
        mw_graph *graph = mw_graph_create(NULL, NULL), *other = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2)), *foreign = mw_input(other, "x", MW_F32, MW_SHAPE(2));
        mw_tensor *none = NULL, *y = mw_name(mw_relu(x), "y");
        CHECK(mw_recompute(y, i == 0 ? &none : i == 1 ? &foreign : &y, 1) == NULL);
        static const char *const parts[] = {"recompute: input 0 is NULL",
                                            "mw_recompute: input 0, \"x\", belongs to another graph",
                                            "no operation between the inputs and \"y\""};
        err = (mw_error){0};
        mw_graph_check(graph, &err);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, parts[i]);
        mw_graph_destroy(other);
        mw_graph_destroy(graph);
    }
}

static void test_every_failed_allocation_is_an_error_without_a_leak(void)
{
    bool refused = true;
    for (long n = 0; n < 10000 && refused; n++) {
        failing_allocator failing = {.fail_at = -1};
        mw_allocator allocator = failing_allocator_of(&failing);
        net made;
        mw_error err = {0};
        mw_tensor *dw = NULL;
        make_net(&made, true, &allocator);
        failing.fail_at = failing.requests + n;
        refused = mw_grad(made.loss, &made.w, 1, &dw, &err) != MW_OK;
        check_note(err.status == (refused ? MW_ERROR_MEMORY : MW_OK), __FILE__, __LINE__, "request %ld: %s", n,
                   err.message);
        CHECK((dw == NULL) == refused);
        mw_graph_destroy(made.graph);
        CHECK_INT(failing.live, 0);
    }
    CHECK(!refused);
}

int main(void)
{
    RUN(test_derivatives_of_every_order_are_the_same);
    RUN(test_the_operations_stand_twice_and_only_in_the_gradient);
    RUN(test_a_trainer_recomputes);
    RUN(test_an_input_that_is_given_twice_counts_once);
    RUN(test_two_variables_of_a_loop_that_start_as_one_value);
    RUN(test_bad_segments_are_refused);
    RUN(test_every_failed_allocation_is_an_error_without_a_leak);
    return check_finish();
}
