/* Loops and branches of programs that were read, as straight-line operations: values and gradients against closed
 * forms, and what is refused by name. */
#include "support/check.h"
#include "support/failing.h"
#include "support/op_count.h"
#include "support/oracles/oracle.h"

#include <millwright/millwright.h>

#define HEAD "program(1.3){func main<ios18>("

/* i from 0 while i < 5: x = x * w */
static const char power[] =
    HEAD "tensor<fp32, [2]> x, tensor<fp32, [2]> w){"
         "int32 zero = const()[name = string(\"zero\"), val = int32(0)];"
         "tensor<fp32, [2]> y, int32 n = while_loop(loop_vars = (x, zero))[name = string(\"loop\")]"
         " (tensor<fp32, [2]> v, int32 i)"
         " { int32 five = const()[name = string(\"five\"), val = int32(5)];"
         "   bool c = less(x = i, y = five)[name = string(\"c\")]; } -> (c)"
         " (tensor<fp32, [2]> v, int32 i)"
         " { int32 one = const()[name = string(\"one\"), val = int32(1)];"
         "   tensor<fp32, [2]> m = mul(x = v, y = w)[name = string(\"m\")];"
         "   int32 j = add(x = i, y = one)[name = string(\"j\")]; } -> (m, j);"
         "tensor<fp32, [2]> z = identity(x = y)[name = string(\"z\")];"
         "} -> (z);}";

static const double at_x[2] = {1.5, -0.5}, at_w[2] = {2.0, 0.75};

static mw_graph *parse(const char *text, mw_error *err)
{
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

static mw_graph *flatten(const char *text, mw_error *err)
{
    mw_graph *graph = parse(text, err);
    mw_graph *flat = graph != NULL ? mw_graph_flatten(graph, err) : NULL;
    mw_graph_destroy(graph);
    return flat;
}

static void feed(oracle *o, const mw_graph *graph, const char *name, const double *data)
{
    const mw_tensor *input = mw_graph_find(graph, name);
    if (input != NULL)
        oracle_set(o, input, data);
}

/* Checks two elements of `value`. */
static void check_value(const mw_graph *graph, const mw_tensor *value, double pred, double first, double second)
{
    oracle o;
    oracle_init(&o, graph);
    feed(&o, graph, "x", at_x);
    feed(&o, graph, "w", at_w);
    feed(&o, graph, "p", &pred);
    if (CHECK(value != NULL) && CHECK(oracle_run(&o))) {
        CHECK_NEAR(oracle_get(&o, value)[0], first, 1e-12);
        CHECK_NEAR(oracle_get(&o, value)[1], second, 1e-12);
    }
    oracle_deinit(&o);
}

static mw_tensor *sum(mw_tensor *x) { return mw_reduce_sum(x, MW_ALL_AXES, false); }

static void test_a_loop_is_unrolled_and_differentiated(void)
{
    mw_error err = {0};
    mw_graph *flat = flatten(power, &err);
    CHECK_OK(err);
    REQUIRE(flat != NULL);
    CHECK_INT(op_count(flat->functions[0]->body, "while_loop"), 0);
    CHECK_INT(op_count(flat->functions[0]->body, "mul"), 5);
    mw_tensor *z = mw_graph_find(flat, "z"), *x[2] = {mw_graph_find(flat, "x"), mw_graph_find(flat, "w")}, *dx[2];
    mw_grad(sum(z), x, 2, dx, &err);
    CHECK_OK(err);
    check_value(flat, z, 0, at_x[0] * pow(at_w[0], 5), at_x[1] * pow(at_w[1], 5));
    check_value(flat, dx[0], 0, pow(at_w[0], 5), pow(at_w[1], 5));
    check_value(flat, dx[1], 0, 5 * at_x[0] * pow(at_w[0], 4), 5 * at_x[1] * pow(at_w[1], 4));
    mw_graph_destroy(flat);
}

static void test_the_flat_program_prints_and_reads_back(void)
{
    mw_error err = {0};
    mw_graph *flat = flatten(power, &err);
    char *text = flat != NULL ? mw_graph_print_mil(flat, NULL, &err) : NULL;
    mw_graph *again = text != NULL ? parse(text, &err) : NULL;
    CHECK_INT(mw_graph_verify(again, &err), MW_OK);
    CHECK_OK(err);
    mw_graph_destroy(again);
    mw_string_free(text);
    mw_graph_destroy(flat);
}

static void test_a_gradient_points_to_flatten(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(power, &err);
    mw_tensor *x = mw_graph_find(graph, "x"), *dx;
    mw_grad(sum(mw_graph_find(graph, "z")), &x, 1, &dx, &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "while_loop \"y\" has no gradient; mw_graph_flatten");
    mw_graph_destroy(graph);
}

/* The program is flattened by itself: loss = sum of w' z with a parameter w' that is added to it. */
static void test_a_trainer_flattens(void)
{
    static const float x_at[2] = {1.5F, -0.5F}, w_at[2] = {2.0F, 0.75F};
    mw_error err = {0};
    mw_graph *graph = parse(power, &err);
    REQUIRE(graph != NULL);
    mw_tensor *scale = mw_parameter(graph, "scale", MW_F32, MW_SHAPE(2), mw_init_zeros());
    mw_trainer_options options = mw_trainer_defaults(sum(mw_mul(scale, mw_graph_find(graph, "z"))), mw_sgd(1.0F));
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(graph);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const mw_feed feeds[2] = {{.name = "x", .dtype = MW_F32, .data = x_at, .count = 2, .scale = 1.0F},
                              {.name = "w", .dtype = MW_F32, .data = w_at, .count = 2, .scale = 1.0F}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = 2};
    float loss = 0.0F, after[2] = {0};
    mw_trainer_step(trainer, &batch, &loss, &err);
    mw_trainer_read(trainer, "scale", MW_F32, after, 2, &err);
    CHECK_OK(err);
    CHECK_NEAR(after[0], -1.5 * 32.0, 0.0);
    mw_trainer_destroy(trainer);
}

/* ---- branches ---- */

/* In a branch a loop of two trips that swaps its variables: (x, w) -> (w, x) -> (x + 0, w). */
static const char branches[] = HEAD
    "tensor<fp32, [2]> x, tensor<fp32, [2]> w, bool p){"
    "tensor<fp32, [2]> r = cond(pred = p)[name = string(\"r\")]"
    " { tensor<fp32, [2]> a = mul(x = x, y = w)[name = string(\"a\")]; } -> (a)"
    " { int32 six = const()[name = string(\"six\"), val = int32(6)];"
    "   tensor<fp32, [2]> s, tensor<fp32, [2]> t, int32 k = while_loop(loop_vars = (x, w, six))[name = string(\"l\")]"
    "   (tensor<fp32, [2]> s0, tensor<fp32, [2]> t0, int32 k0)"
    "   { int32 three = const()[name = string(\"three\"), val = int32(3)];"
    "     bool go = greater_equal(x = k0, y = three)[name = string(\"go\")]; } -> (go)"
    "   (tensor<fp32, [2]> s1, tensor<fp32, [2]> t1, int32 k1)"
    "   { int32 two = const()[name = string(\"two\"), val = int32(2)];"
    "     tensor<fp32, [2]> d = sub(x = s1, y = t1)[name = string(\"d\")];"
    "     int32 k2 = sub(x = k1, y = two)[name = string(\"k2\")]; } -> (t1, d, k2);"
    "   tensor<fp32, [2]> b = square(x = s)[name = string(\"b\")]; } -> (b);"
    "tensor<fp32, [2]> z = identity(x = r)[name = string(\"z\")];"
    "} -> (z);}";

/* k = 6, 4, then 2 ends it: (x, w) -> (w, x - w) -> (x - w, ..), so b = (x - w)^2. */
static void test_a_loop_in_a_branch(void)
{
    mw_error err = {0};
    mw_graph *flat = flatten(branches, &err);
    CHECK_OK(err);
    REQUIRE(flat != NULL);
    CHECK_INT(op_count(flat->functions[0]->body, "cond"), 0);
    CHECK_INT(op_count(flat->functions[0]->body, "select"), 5); /* the result, x and w in each branch */
    mw_tensor *z = mw_graph_find(flat, "z"), *x = mw_graph_find(flat, "x"), *dx;
    mw_grad(sum(z), &x, 1, &dx, &err);
    CHECK_OK(err);
    const double d0 = at_x[0] - at_w[0], d1 = at_x[1] - at_w[1];
    check_value(flat, z, 1, at_x[0] * at_w[0], at_x[1] * at_w[1]);
    check_value(flat, dx, 1, at_w[0], at_w[1]);
    check_value(flat, z, 0, d0 * d0, d1 * d1);
    check_value(flat, dx, 0, 2 * d0, 2 * d1);
    mw_graph_destroy(flat);
}

/* A branch in a loop whose predicate is known in each trip: only the branches that are taken are copied. */
static void test_a_branch_that_a_loop_variable_decides(void)
{
    static const char text[] =
        HEAD "tensor<fp32, [2]> x, tensor<fp32, [2]> w){"
             "tensor<fp32, [2]> y, int32 n = while_loop(loop_vars = (x, int32(0)))[name = string(\"loop\")]"
             " (tensor<fp32, [2]> v, int32 i) { bool c = less(x = i, y = int32(3))[name = string(\"c\")]; } -> (c)"
             " (tensor<fp32, [2]> v, int32 i)"
             " { bool first = equal(x = i, y = int32(0))[name = string(\"first\")];"
             "   tensor<fp32, [2]> m = cond(pred = first)[name = string(\"m\")]"
             "   { tensor<fp32, [2]> a = mul(x = v, y = w)[name = string(\"a\")]; } -> (a)"
             "   { tensor<fp32, [2]> b = add(x = v, y = w)[name = string(\"b\")]; } -> (b);"
             "   int32 j = add(x = i, y = int32(1))[name = string(\"j\")]; } -> (m, j);"
             "tensor<fp32, [2]> z = identity(x = y)[name = string(\"z\")];} -> (z);}";
    mw_error err = {0};
    mw_graph *flat = flatten(text, &err);
    CHECK_OK(err);
    REQUIRE(flat != NULL);
    CHECK_INT(op_count(flat->functions[0]->body, "select"), 0);
    CHECK_INT(op_count(flat->functions[0]->body, "mul"), 1);
    check_value(flat, mw_graph_find(flat, "z"), 0, at_x[0] * at_w[0] + 2 * at_w[0], at_x[1] * at_w[1] + 2 * at_w[1]);
    mw_graph_destroy(flat);
}

/* ---- refusals ---- */

static void check_refused(const char *text, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph *flat = flatten(text, &err);
    CHECK(flat == NULL);
    CHECK_ERROR(err, status, part);
    mw_graph_destroy(flat);
}

static const char counted[] =
    HEAD "tensor<fp32, [2]> x, int32 n){"
         "tensor<fp32, [2]> y, int32 k = while_loop(loop_vars = (x, int32(0)))[name = string(\"loop\")]"
         " (tensor<fp32, [2]> v, int32 i) { bool c = less(x = i, y = %s)[name = string(\"c\")]; } -> (c)"
         " (tensor<fp32, [2]> v, int32 i)"
         " { tensor<fp32, [2]> m = relu(x = v)[name = string(\"m\")];"
         "   int32 j = add(x = i, y = %s)[name = string(\"j\")]; } -> (m, j);} -> (y);}";

static void test_unknown_and_endless_loops_are_refused(void)
{
    char text[1024];
    snprintf(text, sizeof text, counted, "n", "int32(1)");
    check_refused(text, MW_ERROR_UNSUPPORTED, "while_loop \"y\": its trip count is not known when compiled");
    snprintf(text, sizeof text, counted, "int32(3)", "n");
    check_refused(text, MW_ERROR_UNSUPPORTED, "while_loop \"y\": its trip count is not known when compiled");
    snprintf(text, sizeof text, counted, "int32(3)", "int32(0)");
    check_refused(text, MW_ERROR_UNSUPPORTED, "while_loop \"y\": does not end within");
    snprintf(text, sizeof text, counted, "int32(3)", "int32(-2000000000)");
    check_refused(text, MW_ERROR_UNSUPPORTED, "while_loop \"y\": its trip count is not known"); /* int32 overflows */
}

static void test_branches_of_two_types_are_refused(void)
{
    check_refused(HEAD
                  "tensor<fp32, [2]> x, bool p){"
                  "tensor<fp32, [2]> r = cond(pred = p)[name = string(\"r\")]"
                  " { tensor<fp32, [2]> a = relu(x = x)[name = string(\"a\")]; } -> (a)"
                  " { tensor<fp32, [1]> b = reduce_sum(x = x, axes = tensor<int32, [1]>([0]), keep_dims = bool(true))"
                  "[name = string(\"b\")]; } -> (b);} -> (r);}",
                  MW_ERROR_UNSUPPORTED, "cond \"r\": its branches give values of different types");
}

static void test_a_graph_without_blocks_is_copied(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    mw_graph *flat = mw_graph_flatten(graph, &err);
    CHECK_OK(err);
    CHECK(mw_graph_find(flat, "y") != NULL);
    CHECK(mw_graph_flatten(NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    mw_graph_destroy(flat);
    mw_graph_destroy(graph);
}

static void test_every_failed_allocation_is_an_error_without_a_leak(void)
{
    bool refused = true;
    for (long n = 0; n < 10000 && refused; n++) {
        failing_allocator failing = {.fail_at = -1};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_graph *graph = mw_graph_parse_mil(branches, strlen(branches), NULL, &options, &err);
        failing.fail_at = failing.requests + n;
        mw_graph *flat = mw_graph_flatten(graph, &err);
        refused = flat == NULL;
        check_note(err.status == (refused ? MW_ERROR_MEMORY : MW_OK), __FILE__, __LINE__, "request %ld: %s", n,
                   err.message);
        mw_graph_destroy(flat);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
    }
    CHECK(!refused);
}

int main(void)
{
    RUN(test_a_loop_is_unrolled_and_differentiated);
    RUN(test_the_flat_program_prints_and_reads_back);
    RUN(test_a_gradient_points_to_flatten);
    RUN(test_a_trainer_flattens);
    RUN(test_a_loop_in_a_branch);
    RUN(test_a_branch_that_a_loop_variable_decides);
    RUN(test_unknown_and_endless_loops_are_refused);
    RUN(test_branches_of_two_types_are_refused);
    RUN(test_a_graph_without_blocks_is_copied);
    RUN(test_every_failed_allocation_is_an_error_without_a_leak);
    return check_finish();
}
