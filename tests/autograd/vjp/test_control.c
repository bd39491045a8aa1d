/* Gradients through loops, branches, lists and states that were flattened: against central differences of the program
 * as it stands, which the reference evaluator runs; and that a side that is not taken, or a trip that is not made, has
 * no say, not even by a NaN. */
#include "support/check.h"
#include "support/op_count.h"
#include "support/oracles/oracle.h"

#include <millwright/millwright.h>

#define HEAD "program(1.3){func main<ios18>("

enum { ELEMENTS = 3 };

/* ---- a program of x and w [3], p (bool), n (int32) with result z [3] ---- */

typedef struct point {
    double x[ELEMENTS], w[ELEMENTS], p, n;
} point;

static mw_graph *parse(const char *text)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    mw_graph_verify(graph, &err);
    CHECK_OK(err);
    return graph;
}

static void feed(oracle *o, const mw_graph *graph, const point *at)
{
    const double *const values[] = {at->x, at->w, &at->p, &at->n};
    static const char *const names[] = {"x", "w", "p", "n"};
    for (int i = 0; i < 4; i++)
        if (mw_graph_find(graph, names[i]) != NULL)
            oracle_set(o, mw_graph_find(graph, names[i]), values[i]);
}

/* Elements of a value of the graph. */
static bool values_at(const mw_graph *graph, const mw_tensor *value, const point *at, double out[ELEMENTS])
{
    oracle o;
    oracle_init(&o, graph);
    feed(&o, graph, at);
    const bool good = value != NULL && check_note(oracle_run(&o), __FILE__, __LINE__, "oracle: %s", o.missing);
    for (int i = 0; good && i < ELEMENTS; i++)
        out[i] = oracle_get(&o, value)[i];
    oracle_deinit(&o);
    return good;
}

/* d(sum z) / d(element of x or w), by differences of the program with its loops. */
static double slope_of(const mw_graph *graph, const point *at, bool of_w, int element)
{
    const double step = 1e-5;
    double sums[2] = {0};
    for (int side = 0; side < 2; side++) {
        point moved = *at;
        double z[ELEMENTS] = {0};
        (of_w ? moved.w : moved.x)[element] += side == 0 ? step : -step;
        values_at(graph, mw_graph_find(graph, "z"), &moved, z);
        for (int i = 0; i < ELEMENTS; i++)
            sums[side] += z[i];
    }
    return (sums[0] - sums[1]) / (2 * step);
}

/* The flat program has the values of the program and its gradients are those of differences. */
static void check_gradients(const char *text, const point *at)
{
    mw_error err = {0};
    mw_graph *graph = parse(text), *flat = graph != NULL ? mw_graph_flatten(graph, &err) : NULL;
    CHECK_OK(err);
    REQUIRE(flat != NULL);
    CHECK_INT(op_count(flat->functions[0]->body, "while_loop") + op_count(flat->functions[0]->body, "cond"), 0);
    mw_tensor *x[2] = {mw_graph_find(flat, "x"), mw_graph_find(flat, "w")}, *dx[2] = {NULL, NULL};
    mw_grad(mw_reduce_sum(mw_graph_find(flat, "z"), MW_ALL_AXES, false), x, 2, dx, &err);
    CHECK_OK(err);
    double z[ELEMENTS] = {0}, flat_z[ELEMENTS] = {0}, slopes[2][ELEMENTS] = {{0}};
    values_at(graph, mw_graph_find(graph, "z"), at, z);
    if (values_at(flat, mw_graph_find(flat, "z"), at, flat_z) && values_at(flat, dx[0], at, slopes[0]) &&
        values_at(flat, dx[1], at, slopes[1]))
        for (int i = 0; i < ELEMENTS; i++) {
            CHECK_NEAR(flat_z[i], z[i], 1e-12);
            CHECK_NEAR(slopes[0][i], slope_of(graph, at, false, i), 1e-6);
            CHECK_NEAR(slopes[1][i], slope_of(graph, at, true, i), 1e-6);
        }
    mw_graph_destroy(flat);
    mw_graph_destroy(graph);
}

/* ---- lists ---- */

/* A recurrence over the elements of x: h = tanh(h w + x[i]), kept in a list, gathered backwards. */
static const char recurrence[] = HEAD
    "tensor<fp32, [3]> x, tensor<fp32, [3]> w){"
    "int32 zero = const()[val = int32(0)]; int32 one = const()[val = int32(1)]; int32 three = const()[val = int32(3)];"
    "tensor<int32, [3]> order = const()[val = tensor<int32, [3]>([0, 1, 2])];"
    "tensor<int32, [3]> back = const()[val = tensor<int32, [3]>([2, 1, 0])];"
    "tensor<int32, [1]> last = const()[val = tensor<int32, [1]>([-1])];"
    "fp32 start = const()[val = fp32(0x1p-2)];"
    "list<tensor<fp32, []>, ?> e = make_list(elem_shape = (), init_length = three, dynamic_length = bool(true));"
    "list<tensor<fp32, []>, ?> in = list_scatter(indices = order, ls = e, value = x);"
    "list<tensor<fp32, []>, ?> weights = list_scatter(indices = order, ls = e, value = w);"
    "list<tensor<fp32, []>, ?> f = make_list(elem_shape = (), init_length = one, dynamic_length = bool(true));"
    "int32 m, list<tensor<fp32, []>, ?> out, fp32 end = while_loop(loop_vars = (zero, f, start))"
    " (int32 i, list<tensor<fp32, []>, ?> l, fp32 h) { int32 k = list_length(ls = in);"
    "   bool c = less(x = i, y = k); } -> (c)"
    " (int32 i, list<tensor<fp32, []>, ?> l, fp32 h) {"
    "   fp32 v = list_read(index = i, ls = in); fp32 u = list_read(index = i, ls = weights);"
    "   fp32 a = mul(x = h, y = u); fp32 b = add(x = a, y = v); fp32 t = tanh(x = b);"
    "   list<tensor<fp32, []>, ?> l1 = list_write(index = i, ls = l, value = t);"
    "   int32 j = add(x = i, y = one); } -> (j, l1, t);"
    "tensor<fp32, [3]> g = list_gather(indices = back, ls = out);"
    "tensor<fp32, [3]> z = mul(x = g, y = end)[name = string(\"z\")];} -> (z);}";

static void test_a_recurrence_over_lists(void)
{
    check_gradients(recurrence, &(point){.x = {0.3, -0.7, 1.1}, .w = {0.5, -1.5, 0.8}});
}

/* An index that is computed: read n, write at n. */
static const char computed_index[] =
    HEAD "tensor<fp32, [3]> x, tensor<fp32, [3]> w, int32 n){"
         "tensor<int32, [2]> both = const()[val = tensor<int32, [2]>([0, 1])];"
         "tensor<fp32, [2, 3]> v = stack(axis = int32(0), values = (x, w));"
         "list<tensor<fp32, [3]>, 2> e = make_list(elem_shape = (int32(3)), init_length = int32(2), dynamic_length = "
         "bool(false)); list<tensor<fp32, [3]>, 2> f = list_scatter(indices = both, ls = e, value = v);"
         "tensor<fp32, [3]> a = list_read(index = n, ls = f); tensor<fp32, [3]> b = mul(x = a, y = x);"
         "list<tensor<fp32, [3]>, 2> g = list_write(index = n, ls = f, value = b);"
         "tensor<fp32, [2, 3]> all = list_gather(indices = both, ls = g);"
         "tensor<fp32, [2, 3]> s = mul(x = all, y = all);"
         "tensor<fp32, [3]> z = reduce_sum(axes = tensor<int32, [1]>([0]), keep_dims = bool(false), x = s)"
         "[name = string(\"z\")];} -> (z);}";

static void test_an_index_that_is_computed(void)
{
    for (int n = 0; n < 2; n++)
        check_gradients(computed_index, &(point){.x = {0.3, -0.7, 1.1}, .w = {0.5, -1.5, 0.8}, .n = n});
}

/* ---- branches ---- */

/* log of x where p, else a quotient by x: of negative or zero x one side is NaN or infinite. */
static const char risky[] =
    HEAD "tensor<fp32, [3]> x, tensor<fp32, [3]> w, bool p){"
         "tensor<fp32, [3]> r = cond(pred = p)"
         " { tensor<fp32, [3]> a = log(x = x, epsilon = fp32(0)); tensor<fp32, [3]> b = mul(x = a, y = w); } -> (b)"
         " { tensor<fp32, [3]> c = mul(x = x, y = x); tensor<fp32, [3]> d = add(x = c, y = w); } -> (d);"
         "tensor<fp32, [3]> z = identity(x = r)[name = string(\"z\")];} -> (z);}";

static void test_a_side_that_is_not_taken_has_no_say(void)
{
    check_gradients(risky, &(point){.x = {0.3, 0.7, 1.1}, .w = {0.5, -1.5, 0.8}, .p = 1});
    check_gradients(risky, &(point){.x = {0.3, 0.7, 1.1}, .w = {0.5, -1.5, 0.8}, .p = 0});
    check_gradients(risky, &(point){.x = {-0.3, 0.0, -1.1}, .w = {0.5, -1.5, 0.8}, .p = 0}); /* log is NaN, -inf */
    check_gradients(risky, &(point){.x = {1e200, 2e200, 2}, .w = {1, 2, 3}, .p = 1}); /* its square is infinite */
}

/* The same on the engine in fp32, where a NaN would be one. */
static void test_the_engine_agrees_that_it_has_none(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(risky), *flat = mw_graph_flatten(graph, &err);
    REQUIRE(flat != NULL);
    mw_tensor *x[2] = {mw_graph_find(flat, "x"), mw_graph_find(flat, "w")}, *dx[2];
    mw_grad(mw_reduce_sum(mw_graph_find(flat, "z"), MW_ALL_AXES, false), x, 2, dx, &err);
    mw_output(dx[0], "dx");
    mw_output(dx[1], "dw");
    mw_program *program = mw_program_create(flat, NULL, &err);
    const float at_x[] = {-2.0F, 0.0F, 3.0F}, at_w[] = {1.0F, 2.0F, 3.0F};
    const bool no = false;
    float found[ELEMENTS];
    mw_program_write(program, "x", MW_F32, at_x, 3, &err);
    mw_program_write(program, "w", MW_F32, at_w, 3, &err);
    mw_program_write(program, "p", MW_BOOL, &no, 1, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "dx", MW_F32, found, 3, &err);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(found[i], 2.0F * at_x[i], 0.0);
    mw_program_read(program, "dw", MW_F32, found, 3, &err);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(found[i], 1.0, 0.0);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(flat);
    mw_graph_destroy(graph);
}

/* ---- loops that are bounded ---- */

/* n trips, 6 at most: v = sqrt(v - 0.1 i) w + x, which is NaN soon. */
static const char bounded[] = HEAD
    "tensor<fp32, [3]> x, tensor<fp32, [3]> w, int32 n){"
    "int32 zero = const()[val = int32(0)]; int32 one = const()[val = int32(1)]; int32 six = const()[val = int32(6)];"
    "fp32 part = const()[val = fp32(0x1p-3)];"
    "int32 m, tensor<fp32, [3]> y = while_loop(loop_vars = (zero, x))"
    " (int32 i, tensor<fp32, [3]> v) { bool a = less(x = i, y = six); bool b = less(x = i, y = n);"
    "   bool c = logical_and(x = a, y = b); } -> (c)"
    " (int32 i, tensor<fp32, [3]> v) { fp32 f = cast(x = i, dtype = string(\"fp32\"));"
    "   fp32 d = mul(x = f, y = part); tensor<fp32, [3]> e = sub(x = v, y = d);"
    "   tensor<fp32, [3]> s = sqrt(x = e); tensor<fp32, [3]> t = mul(x = s, y = w);"
    "   int32 j = add(x = i, y = one); } -> (j, t);"
    "fp32 count = cast(x = m, dtype = string(\"fp32\"));"
    "tensor<fp32, [3]> z = mul(x = y, y = count)[name = string(\"z\")];} -> (z);}";

static void test_a_loop_that_a_bound_ends(void)
{
    for (int n = 0; n < 3; n++) /* the trips behind take roots of negative numbers */
        check_gradients(bounded, &(point){.x = {0.9, 0.4, 1.7}, .w = {0.9, 0.6, 1.4}, .n = n});
}

static void test_what_has_no_bound_is_refused_by_name(void)
{
    static const char text[] =
        HEAD "tensor<fp32, [3]> x, int32 n){ int32 zero = const()[val = int32(0)];"
             "int32 m, tensor<fp32, [3]> y = while_loop(loop_vars = (zero, x))[name = string(\"open\")]"
             " (int32 i, tensor<fp32, [3]> v) { bool c = less(x = i, y = n); } -> (c)"
             " (int32 i, tensor<fp32, [3]> v) { int32 j = add(x = i, y = int32(1)); } -> (j, v);} -> (y);}";
    mw_error err = {0};
    mw_graph *graph = parse(text);
    CHECK(mw_graph_flatten(graph, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "its trip count is not known when compiled");
    mw_graph_destroy(graph);
}

/* ---- states ---- */

#define STATE "program(1.3){func main<ios18>(state<tensor<fp32, [3]>> k, "

/* Read, written and read twice: k = x + k, then k = k w; z = what was read of both. */
static const char chain[] =
    STATE "tensor<fp32, [3]> x, tensor<fp32, [3]> w){"
          "tensor<fp32, [3]> before = read_state(input = k)[name = string(\"before\")];"
          "tensor<fp32, [3]> a = add(x = before, y = x); write_state(data = a, input = k);"
          "tensor<fp32, [3]> b = read_state(input = k); tensor<fp32, [3]> c = mul(x = b, y = w);"
          "write_state(data = c, input = k); tensor<fp32, [3]> d = read_state(input = k);"
          "tensor<fp32, [3]> e = mul(x = d, y = b);"
          "tensor<fp32, [3]> z = add(x = e, y = before)[name = string(\"z\")];} -> (z);}";

/* Written on one side of a branch, and as often as a computed n says. */
static const char chosen[] =
    STATE "tensor<fp32, [3]> x, tensor<fp32, [3]> w, bool p){"
          "write_state(data = w, input = k);"
          "tensor<fp32, [3]> r = cond(pred = p)"
          " { tensor<fp32, [3]> o = read_state(input = k); tensor<fp32, [3]> a = mul(x = x, y = o);"
          "   write_state(data = a, input = k); tensor<fp32, [3]> l = log(x = x, epsilon = fp32(0)); } -> (l)"
          " { tensor<fp32, [3]> b = mul(x = x, y = w); } -> (b);"
          "tensor<fp32, [3]> v = read_state(input = k);"
          "tensor<fp32, [3]> z = mul(x = v, y = r)[name = string(\"z\")];} -> (z);}";
static const char repeated[] =
    STATE "tensor<fp32, [3]> x, tensor<fp32, [3]> w, int32 n){ int32 zero = const()[val = int32(0)];"
          "write_state(data = x, input = k);"
          "int32 m = while_loop(loop_vars = (zero))"
          " (int32 i) { bool less_n = less(x = i, y = n); bool bounded = less(x = i, y = int32(4));"
          "   bool c = logical_and(x = bounded, y = less_n); } -> (c)"
          " (int32 i) { tensor<fp32, [3]> o = read_state(input = k); tensor<fp32, [3]> u = mul(x = o, y = w);"
          "   tensor<fp32, [3]> t = tanh(x = u); write_state(data = t, input = k);"
          "   int32 j = add(x = i, y = int32(1)); } -> (j);"
          "tensor<fp32, [3]> v = read_state(input = k);"
          "tensor<fp32, [3]> z = mul(x = v, y = x)[name = string(\"z\")];} -> (z);}";

static void test_gradients_go_through_what_is_written_to_a_state(void)
{
    check_gradients(chain, &(point){.x = {0.3, -0.7, 1.1}, .w = {0.5, -1.5, 0.8}});
    check_gradients(chosen, &(point){.x = {0.3, 0.7, 1.1}, .w = {0.5, -1.5, 0.8}, .p = 1});
    check_gradients(chosen, &(point){.x = {-0.3, 0.0, 1.1}, .w = {0.5, -1.5, 0.8}, .p = 0});
    for (int n = 0; n <= 3; n++)
        check_gradients(repeated, &(point){.x = {0.3, -0.7, 1.1}, .w = {0.5, -1.5, 0.8}, .n = n});
}

/* d(sum z) / d(element of k) of chain: z = (x + k)^2 w + k. */
static void check_start(const float k[3], const float x[3], const float w[3], const float z[3], const float dk[3])
{
    for (int i = 0; i < 3; i++) {
        const double sum = (double)x[i] + (double)k[i], weight = (double)w[i];
        CHECK_NEAR((double)z[i], sum * sum * weight + (double)k[i], 1e-5);
        CHECK_NEAR((double)dk[i], 2 * sum * weight + 1, 1e-5);
    }
}

/* The state moves from run to run as in the program, and what it starts with has a gradient like an input. */
static void test_a_flat_program_keeps_its_states(void)
{
    const float x[3] = {0.3f, -0.7f, 1.1f}, w[3] = {0.5f, -1.5f, 0.8f};
    mw_error err = {0};
    mw_graph *graph = parse(chain), *flat = mw_graph_flatten(graph, &err);
    mw_tensor *start = mw_graph_find(flat, "k_start"), *dk = NULL;
    CHECK_OK(err);
    REQUIRE(flat != NULL && start != NULL);
    CHECK_INT(op_count(flat->functions[0]->body, "read_state"), 1);
    CHECK_INT(op_count(flat->functions[0]->body, "write_state"), 1);
    mw_grad(mw_reduce_sum(mw_graph_find(flat, "z"), MW_ALL_AXES, false), &start, 1, &dk, &err);
    mw_output(dk, "dk");
    mw_program *programs[2] = {mw_program_create(graph, NULL, &err), mw_program_create(flat, NULL, &err)};
    CHECK_OK(err);
    for (int run = 0; run < 3; run++) {
        float before[3] = {0}, k[2][3] = {{0}}, z[2][3] = {{0}}, gradient[3] = {0};
        mw_program_read(programs[1], "k", MW_F32, before, 3, &err);
        for (int i = 0; i < 2; i++) {
            mw_program_write(programs[i], "x", MW_F32, x, 3, &err);
            mw_program_write(programs[i], "w", MW_F32, w, 3, &err);
            mw_program_run(programs[i], &err);
            mw_program_read(programs[i], "z", MW_F32, z[i], 3, &err);
            mw_program_read(programs[i], "k", MW_F32, k[i], 3, &err);
        }
        mw_program_read(programs[1], "dk", MW_F32, gradient, 3, &err);
        CHECK_OK(err);
        check_start(before, x, w, z[1], gradient);
        CHECK(memcmp(k[0], k[1], sizeof k[0]) == 0 && memcmp(z[0], z[1], sizeof z[0]) == 0);
        CHECK(run == 0 || before[0] != 0);
    }
    mw_program_destroy(programs[0]);
    mw_program_destroy(programs[1]);
    mw_graph_destroy(flat);
    mw_graph_destroy(graph);
}

/* A state that is read only is not written; a name that is taken stays with whom it belongs to. */
static void test_a_state_that_is_only_read(void)
{
    static const char text[] =
        STATE "tensor<fp32, [3]> x){ tensor<fp32, [3]> k_start = relu(x = x)[name = string(\"k_start\")];"
              "tensor<fp32, [3]> v = read_state(input = k);"
              "tensor<fp32, [3]> z = add(x = v, y = k_start)[name = string(\"z\")];} -> (z);}";
    mw_error err = {0};
    mw_graph *graph = parse(text), *flat = mw_graph_flatten(graph, &err);
    CHECK_OK(err);
    REQUIRE(flat != NULL);
    CHECK_INT(op_count(flat->functions[0]->body, "read_state"), 1);
    CHECK_INT(op_count(flat->functions[0]->body, "write_state"), 0);
    mw_graph_verify(flat, &err);
    mw_program *program = mw_program_create(flat, NULL, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(flat);
    mw_graph_destroy(graph);
}

/* One code for 2^40 weights: no memory is asked for them. */
static void test_a_short_text_makes_no_huge_weight(void)
{
    static const char text[] =
        HEAD "tensor<fp32, [1, 1048576, 1]> x){ tensor<fp32, [1, 1048576, 1]> z = conv_quantized(quant_bias = "
             "tensor<fp32, [1]>([0]), quant_scale = tensor<fp32, [1]>([1]), quantization_type = string(\"linear\"), "
             "weight = tensor<uint8, [1048576, 1048576, 1]>(3), x = x)[name = string(\"z\")];} -> (z);}";
    mw_error err = {0};
    mw_graph *graph = parse(text);
    CHECK(mw_graph_flatten(graph, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "conv_quantized: one number stands for all 1099511627776 of weight");
    mw_graph_destroy(graph);
}

static void test_what_else_takes_a_state_is_refused(void)
{
    static const char text[] =
        STATE "tensor<fp32, [3]> x){ tensor<fp32, [3]> z = coreml_update_state(state = k, value = x)"
              "[name = string(\"z\")];} -> (z);}";
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    CHECK_OK(err);
    CHECK(mw_graph_flatten(graph, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED,
                "coreml_update_state \"z\": takes a state, but is neither read_state nor write_state");
    mw_graph_destroy(graph);
}

/* ---- gradients without flattening ---- */

static void check_no_gradient(const char *text, const char *part)
{
    mw_error err = {0};
    mw_graph *graph = parse(text);
    mw_tensor *x = mw_graph_find(graph, "x"), *dx = NULL;
    mw_grad(mw_reduce_sum(mw_graph_find(graph, "z"), MW_ALL_AXES, false), &x, 1, &dx, &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, part);
    mw_graph_destroy(graph);
}

/* What a block uses from outside, what a list holds and what a state was given are ways of a gradient, too. */
static void test_no_gradient_is_lost_silently(void)
{
    check_no_gradient(risky, "cond \"r\" has no gradient; mw_graph_flatten");
    check_no_gradient(computed_index, "has no gradient; mw_graph_flatten");
    check_no_gradient("program(1.3){func main<ios18>(state<tensor<fp32, [3]>> k, tensor<fp32, [3]> x){"
                      "write_state(data = x, input = k); tensor<fp32, [3]> v = read_state(input = k);"
                      "tensor<fp32, [3]> z = mul(x = v, y = v)[name = string(\"z\")];} -> (z);}",
                      "read_state \"v\" has no gradient");
}

int main(void)
{
    RUN(test_a_recurrence_over_lists);
    RUN(test_an_index_that_is_computed);
    RUN(test_a_side_that_is_not_taken_has_no_say);
    RUN(test_the_engine_agrees_that_it_has_none);
    RUN(test_a_loop_that_a_bound_ends);
    RUN(test_what_has_no_bound_is_refused_by_name);
    RUN(test_gradients_go_through_what_is_written_to_a_state);
    RUN(test_a_flat_program_keeps_its_states);
    RUN(test_a_state_that_is_only_read);
    RUN(test_what_else_takes_a_state_is_refused);
    RUN(test_a_short_text_makes_no_huge_weight);
    RUN(test_no_gradient_is_lost_silently);
    return check_finish();
}
