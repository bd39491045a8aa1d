/* One program, many shapes: what each choice computes, what stays from one to the next, which plans are kept, and what
 * is refused. */
#include "runtime/program/flexible.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/on_engine.h"

#include <millwright/inspect.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define S    MW_SHAPE
#define Q    MW_DIM_UNKNOWN
#define HEAD "program(1.3){func main<ios17>("
#define DICT "dict<string, tensor<int32, [?]>>"
#define RANGE(defaults, ranges)                                                                                        \
    ")[FlexibleShapeInformation = tuple<tuple<string, " DICT ">, tuple<string, dict<string, list<tensor<int32, [2]>, " \
    "?>>>>(((\"DefaultShapes\", {" defaults "}), (\"RangeDims\", {" ranges "})))]{"

/* y = x * w + 1, row by row. */
static const char scaled[] = HEAD "tensor<fp32, [?, 2]> x, tensor<fp32, [2]> w" RANGE(
    "{\"x\", [3, 2]}", "{\"x\", [[0, 5], [2, 2]]}") "fp32 one = const()[val = fp32(1)];"
                                                    "tensor<fp32, [?, 2]> m = mul(x = x, y = w);"
                                                    "tensor<fp32, [?, 2]> y = add(x = m, y = one);} -> (y);}";

/* Nothing is said about x and y, which belong together. */
static const char joined[] = HEAD "tensor<fp32, [?, 2]> x, tensor<fp32, [?, 2]> y){"
                                  "tensor<fp32, [?, 2]> z = sub(x = x, y = y);} -> (z);}";

static mw_graph *parse(const char *text, const mw_allocator *allocator, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    return mw_graph_parse_mil(text, strlen(text), NULL, &options, err);
}

static mw_program *compile_with(const char *text, const mw_compile_options *options, mw_error *err)
{
    mw_graph *graph = parse(text, NULL, err);
    mw_program *program = mw_program_create(graph, options, err);
    mw_graph_destroy(graph);
    return program;
}

static mw_program *compile(const char *text, mw_error *err)
{
    const mw_compile_options options = engine_options(MW_DEVICE_CPU, 1);
    return compile_with(text, &options, err);
}

static mw_status set_shape(mw_program *program, const char *input, mw_shape shape, mw_error *err)
{
    return mw_program_set_shapes(program, &(mw_input_shape){input, shape}, 1, err);
}

static void check_port(const mw_program *program, const char *name, mw_shape wanted, int line)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++)
        if (strcmp(port.name, name) == 0) {
            check_note(mw_shape_equal(port.shape, wanted), __FILE__, line, "port %s has rank %d and extent %lld", name,
                       port.shape.rank, (long long)port.shape.dim[0]);
            return;
        }
    check_note(false, __FILE__, line, "no port %s", name);
}
#define CHECK_PORT(program, name, ...) check_port((program), (name), (__VA_ARGS__), __LINE__)

/* y = x * w + 1 for `rows` rows of x = 0, 1, 2, .. */
static void check_scaled(mw_program *program, int rows, const float w[2], int line)
{
    float x[20] = {0}, y[20] = {0};
    mw_error err = {0};
    for (int i = 0; i < 2 * rows; i++)
        x[i] = (float)i - 3.5f;
    mw_program_write(program, "x", MW_F32, x, 2 * (size_t)rows, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, 2 * (size_t)rows, &err);
    check_note(err.status == MW_OK, __FILE__, line, "%s", err.message);
    for (int i = 0; i < 2 * rows && err.status == MW_OK; i++)
        check_near((double)y[i], (double)x[i] * (double)w[i % 2] + 1, 1e-6, __FILE__, line, "y");
}

/* ---- shapes ---- */

static void test_each_admitted_shape_runs(void)
{
    static const float w[2] = {2, -3};
    mw_error err = {0};
    mw_program *p = compile(scaled, &err);
    CHECK_OK(err);
    CHECK_PORT(p, "x", S(3, 2));
    CHECK_PORT(p, "y", S(3, 2));
    CHECK_INT(mw_program_write(p, "w", MW_F32, w, 2, &err), MW_OK);
    check_scaled(p, 3, w, __LINE__); /* the default */
    for (int rows = 0; rows <= 5; rows++) {
        CHECK_INT(set_shape(p, "x", S(rows, 2), &err), MW_OK);
        CHECK_OK(err);
        CHECK_PORT(p, "x", S(rows, 2));
        CHECK_PORT(p, "y", S(rows, 2));
        check_scaled(p, rows, w, __LINE__); /* and w holds what it held */
    }
    mw_program_destroy(p);
}

static void test_a_refused_shape_changes_nothing(void)
{
    static const float w[2] = {2, -3};
    mw_error err = {0};
    float y[8];
    mw_program *p = compile(scaled, &err);
    mw_program_write(p, "w", MW_F32, w, 2, &err);
    set_shape(p, "x", S(4, 2), &err);
    check_scaled(p, 4, w, __LINE__);
    const mw_shape bad[] = {S(6, 2), S(4, 3), S(4), S(Q, 2), S(-7, 2)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(set_shape(p, "x", bad[i], &err), MW_ERROR_SHAPE);
        mw_error_clear(&err);
    }
    CHECK_INT(set_shape(p, "x", S(6, 2), &err), MW_ERROR_SHAPE);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "input \"x\" cannot be [6, 2]; it admits axis 0: 0 to 5, axis 1: 2");
    mw_error_clear(&err);
    CHECK_INT(set_shape(p, "q", S(4, 2), &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    CHECK_INT(set_shape(p, "y", S(4, 2), &err), MW_ERROR_ARGUMENT); /* a result */
    mw_error_clear(&err);
    CHECK_INT(set_shape(p, "w", S(3), &err), MW_ERROR_SHAPE);
    mw_error_clear(&err);
    CHECK_PORT(p, "x", S(4, 2));
    CHECK_INT(mw_program_read(p, "y", MW_F32, y, 8, &err), MW_OK);
    CHECK_NEAR(y[0], -3.5 * 2 + 1, 1e-6);
    CHECK_INT(set_shape(p, "w", S(2), &err), MW_OK); /* which it has */
    mw_program_destroy(p);
}

static void test_inputs_without_information_are_chosen_one_by_one(void)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {6, 5, 4, 3, 2, 0};
    float z[6];
    mw_error err = {0};
    mw_program *p = compile(joined, &err);
    CHECK_OK(err);
    CHECK_PORT(p, "x", S(Q, 2));
    CHECK_PORT(p, "z", S(Q, 2));
    CHECK_STR(mw_program_mil(p), "");
    CHECK_CONTAINS(mw_program_where(p), "engine");
    CHECK_INT(mw_program_run(p, &err), MW_ERROR_STATE);
    CHECK_ERROR(err, MW_ERROR_STATE, "input \"x\" is [?, 2]: choose its shape with mw_program_set_shapes");
    mw_error_clear(&err);
    CHECK_INT(set_shape(p, "x", S(3, 2), &err), MW_OK);
    CHECK_INT(mw_program_write(p, "x", MW_F32, x, 6, &err), MW_ERROR_STATE);
    CHECK_ERROR(err, MW_ERROR_STATE, "input \"y\" is [?, 2]");
    mw_error_clear(&err);
    CHECK_INT(set_shape(p, "y", S(3, 2), &err), MW_OK);
    CHECK_PORT(p, "z", S(3, 2));
    mw_program_write(p, "x", MW_F32, x, 6, &err);
    mw_program_write(p, "y", MW_F32, y, 6, &err);
    mw_program_run(p, &err);
    mw_program_read(p, "z", MW_F32, z, 6, &err);
    CHECK_OK(err);
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(z[i], x[i] - y[i], 0);
    mw_program_destroy(p);
}

static void test_shapes_that_belong_together_are_set_together(void)
{
    mw_error err = {0};
    mw_program *p = compile(joined, &err);
    const mw_input_shape three[] = {{"x", S(3, 2)}, {"y", S(3, 2)}}, four[] = {{"x", S(4, 2)}, {"y", S(4, 2)}},
                         twice[] = {{"x", S(4, 2)}, {"x", S(4, 2)}};
    CHECK_INT(mw_program_set_shapes(p, three, 2, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(set_shape(p, "x", S(4, 2), &err), MW_ERROR_SHAPE);
    CHECK_CONTAINS(err.message, "do not broadcast");
    CHECK_CONTAINS(err.message, "shapes that belong together are set in one call");
    mw_error_clear(&err);
    CHECK_PORT(p, "x", S(3, 2));
    CHECK_INT(mw_program_run(p, &err), MW_OK);
    CHECK_INT(mw_program_set_shapes(p, four, 2, &err), MW_OK);
    CHECK_PORT(p, "z", S(4, 2));
    CHECK_INT(mw_program_set_shapes(p, twice, 2, &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    CHECK_INT(mw_program_set_shapes(p, NULL, 0, &err), MW_OK); /* nothing new */
    CHECK_PORT(p, "z", S(4, 2));
    mw_program_destroy(p);
}

static void test_an_input_that_keeps_its_shape_keeps_its_values(void)
{
    static const char text[] = HEAD "tensor<fp32, [?]> x, tensor<fp32, [?]> y){"
                                    "bool no = const()[val = bool(false)];"
                                    "int32 zero = const()[val = int32(0)];"
                                    "tensor<fp32, [?]> z = concat(axis = zero, interleave = no, values = (x, y));} -> "
                                    "(z);}";
    static const float x[2] = {1, 2}, y[3] = {3, 4, 5};
    float z[6];
    mw_error err = {0};
    mw_program *p = compile(text, &err);
    const mw_input_shape first[] = {{"x", S(2)}, {"y", S(3)}};
    CHECK_INT(mw_program_set_shapes(p, first, 2, &err), MW_OK);
    mw_program_write(p, "x", MW_F32, x, 2, &err);
    mw_program_write(p, "y", MW_F32, y, 3, &err);
    CHECK_INT(set_shape(p, "y", S(4), &err), MW_OK);
    mw_program_run(p, &err);
    mw_program_read(p, "z", MW_F32, z, 6, &err);
    CHECK_OK(err);
    const float wanted[6] = {1, 2, 0, 0, 0, 0}, again[5] = {1, 2, 0, 0, 0};
    CHECK(memcmp(z, wanted, sizeof wanted) == 0);
    CHECK_INT(set_shape(p, "y", S(3), &err), MW_OK); /* a kept plan, whose y held something */
    mw_program_run(p, &err);
    mw_program_read(p, "z", MW_F32, z, 5, &err);
    CHECK(memcmp(z, again, sizeof again) == 0);
    mw_program_destroy(p);
}

static void test_listed_shapes_run_and_others_are_refused(void)
{
    static const char text[] =
        HEAD "tensor<fp32, [?]> x)[FlexibleShapeInformation = tuple<tuple<string, " DICT
             ">, tuple<string, dict<string, " DICT ">>>(((\"DefaultShapes\", {{\"x\", [2]}}), (\"EnumeratedShapes\", "
             "{{\"543d0f94\", {{\"x\", [2]}}}, {\"697b758f\", {{\"x\", [5]}}}})))]{"
             "tensor<fp32, [?]> y = relu(x = x);} -> (y);}";
    static const float x[5] = {-1, 2, -3, 4, -5};
    float y[5];
    mw_error err = {0};
    mw_program *p = compile(text, &err);
    CHECK_OK(err);
    CHECK_PORT(p, "y", S(2));
    CHECK_INT(set_shape(p, "x", S(5), &err), MW_OK);
    mw_program_write(p, "x", MW_F32, x, 5, &err);
    mw_program_run(p, &err);
    mw_program_read(p, "y", MW_F32, y, 5, &err);
    CHECK_OK(err);
    CHECK_NEAR(y[3], 4, 0);
    CHECK_INT(set_shape(p, "x", S(3), &err), MW_ERROR_SHAPE);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "input \"x\" cannot be [3]; it admits [2], [5]");
    mw_program_destroy(p);
}

static void test_a_program_of_one_shape_has_it(void)
{
    mw_error err = {0};
    mw_program *p = compile(HEAD "tensor<fp32, [2]> x){tensor<fp32, [2]> y = relu(x = x);} -> (y);}", &err);
    CHECK_OK(err);
    CHECK_INT(set_shape(p, "x", S(2), &err), MW_OK);
    CHECK_INT(set_shape(p, "x", S(3), &err), MW_ERROR_SHAPE);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "input \"x\" cannot be [3]; it admits [2]");
    mw_error_clear(&err);
    CHECK_INT(set_shape(p, "y", S(2), &err), MW_ERROR_ARGUMENT);
    mw_program_destroy(p);
}

/* ---- what stays ---- */

static mw_graph *stateful_graph(mw_error *err)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(Q, 2));
    mw_tensor *w = mw_parameter(g, "w", MW_F32, S(2), mw_init_constant(3));
    mw_tensor *s = mw_input(g, "sum", MW_F32, S(2));
    mw_output(mw_mul(x, w), "y");
    mw_output(mw_add(s, mw_reduce_sum(x, MW_AXES(0), false)), "next");
    mw_graph_check(g, err);
    return g;
}

static void add_ones(mw_program *p, int rows, mw_error *err)
{
    static const float ones[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    set_shape(p, "x", S(rows, 2), err);
    mw_program_write(p, "x", MW_F32, ones, 2 * (size_t)rows, err);
    mw_program_run(p, err);
}

static void test_parameters_and_shared_ports_stay_over_shapes(void)
{
    mw_error err = {0};
    float y[10], sum[2];
    mw_graph *g = stateful_graph(&err);
    CHECK_OK(err);
    const mw_compile_options options = engine_options(MW_DEVICE_CPU, 1);
    mw_program *p = mw_program_create(g, &options, &err);
    mw_graph_destroy(g);
    CHECK_INT(mw_program_alias(p, "next", "sum", &err), MW_OK);
    CHECK_OK(err);
    add_ones(p, 2, &err);
    mw_program_read(p, "y", MW_F32, y, 4, &err);
    CHECK_NEAR(y[3], 3, 0); /* the initial value */
    CHECK_INT(mw_program_write(p, "w", MW_F32, (const float[]){5, 7}, 2, &err), MW_OK);
    add_ones(p, 5, &err);
    mw_program_read(p, "y", MW_F32, y, 10, &err);
    CHECK_NEAR(y[9], 7, 0);
    add_ones(p, 2, &err);
    mw_program_read(p, "sum", MW_F32, sum, 2, &err);
    CHECK_NEAR(sum[0], 9, 0);
    CHECK_OK(err);
    CHECK_INT(mw_program_alias(p, "next", "sum", &err), MW_ERROR_STATE);
    mw_program_destroy(p);
}

static void test_ports_that_differ_are_not_shared(void)
{
    mw_error err = {0};
    mw_graph *g = stateful_graph(&err);
    const mw_compile_options options = engine_options(MW_DEVICE_CPU, 1);
    mw_program *p = mw_program_create(g, &options, &err);
    mw_graph_destroy(g);
    CHECK_INT(set_shape(p, "x", S(2, 2), &err), MW_OK);
    CHECK_INT(set_shape(p, "x", S(1, 2), &err), MW_OK);
    CHECK_INT(mw_program_alias(p, "y", "sum", &err), MW_ERROR_SHAPE); /* fits the second plan alone */
    mw_error_clear(&err);
    CHECK_INT(mw_program_alias(p, "sum", "next", &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    CHECK_INT(mw_program_run(p, &err), MW_OK);
    CHECK_OK(err);
    mw_program_destroy(p);
}

/* The state counts what x has been, over all shapes. */
static void test_states_stay_over_shapes(void)
{
    static const char text[] =
        "program(1.3){func main<ios18>(tensor<fp32, [?]> x, state<tensor<fp32, [1]>> total){"
        "tensor<int32, [1]> axes = const()[val = tensor<int32, [1]>([0])]; bool yes = const()[val = bool(true)];"
        "tensor<fp32, [1]> sum = reduce_sum(axes = axes, keep_dims = yes, x = x);"
        "tensor<fp32, [1]> before = read_state(input = total);"
        "tensor<fp32, [1]> after = add(x = before, y = sum);"
        "write_state(data = after, input = total);"
        "tensor<fp32, [?]> y = add(x = x, y = after);} -> (y);}";
    static const float x[3] = {1, 2, 4};
    float y[3];
    mw_error err = {0};
    mw_program *p = compile(text, &err);
    CHECK_OK(err);
    double total = 0;
    for (int n = 3; n >= 1; n--) {
        set_shape(p, "x", S(n), &err);
        mw_program_write(p, "x", MW_F32, x, (size_t)n, &err);
        mw_program_run(p, &err);
        mw_program_read(p, "y", MW_F32, y, (size_t)n, &err);
        CHECK_OK(err);
        for (int i = 0; i < n; i++)
            total += (double)x[i];
        CHECK_NEAR(y[n - 1], x[n - 1] + total, 0);
    }
    set_shape(p, "x", S(3), &err); /* the plan that saw the state first */
    mw_program_run(p, &err);
    mw_program_read(p, "y", MW_F32, y, 3, &err);
    CHECK_NEAR(y[0], total, 0);
    CHECK_PORT(p, "total", S(1));
    mw_program_destroy(p);
}

/* Six times x + x in a loop, for each count of rows. */
static void test_loops_run_with_each_shape(void)
{
    static const char text[] = HEAD
        "tensor<fp32, [?, 2]> x){int32 zero = const()[val = int32(0)];"
        "tensor<fp32, [?, 2]> y, int32 n = while_loop(loop_vars = (x, zero))"
        "(tensor<fp32, [?, 2]> v, int32 i){int32 six = const()[val = int32(6)]; bool c = less(x = i, y = six);} -> "
        "(c)"
        "(tensor<fp32, [?, 2]> v, int32 i){int32 one = const()[val = int32(1)];"
        "tensor<fp32, [?, 2]> w = add(x = v, y = v); int32 j = add(x = i, y = one);} -> (w, j);} -> (y);}";
    float x[10], y[10];
    mw_error err = {0};
    mw_program *p = compile(text, &err);
    CHECK_OK(err);
    for (int rows = 1; rows <= 5; rows++) {
        set_shape(p, "x", S(rows, 2), &err);
        for (int i = 0; i < 2 * rows; i++)
            x[i] = (float)(i - 3);
        mw_program_write(p, "x", MW_F32, x, 2 * (size_t)rows, &err);
        mw_program_run(p, &err);
        mw_program_read(p, "y", MW_F32, y, 2 * (size_t)rows, &err);
        CHECK_OK(err);
        for (int i = 0; i < 2 * rows; i++)
            CHECK_NEAR(y[i], 64 * (i - 3), 0);
    }
    mw_program_destroy(p);
}

/* ---- plans ---- */

static void test_plans_are_kept_and_the_oldest_goes(void)
{
    static const float w[2] = {1, 1};
    mw_error err = {0};
    mw_compile_options options = engine_options(MW_DEVICE_CPU, 1);
    options.max_plans = 2;
    mw_program *p = compile_with(scaled, &options, &err);
    CHECK_OK(err);
    const mw__flexible *f = p->flexible;
    mw_program_write(p, "w", MW_F32, w, 2, &err);
    CHECK_INT(f->made, 1); /* 3 rows */
    set_shape(p, "x", S(1, 2), &err);
    set_shape(p, "x", S(3, 2), &err);
    CHECK_INT(f->made, 2);
    set_shape(p, "x", S(2, 2), &err); /* 1 row goes */
    CHECK_INT(f->made, 3);
    CHECK_INT(f->plan_count, 2);
    set_shape(p, "x", S(3, 2), &err);
    CHECK_INT(f->made, 3);
    check_scaled(p, 3, w, __LINE__);
    set_shape(p, "x", S(1, 2), &err);
    CHECK_INT(f->made, 4);
    check_scaled(p, 1, w, __LINE__);
    CHECK_OK(err);
    mw_program_destroy(p);
}

static void test_eight_plans_are_kept_by_default(void)
{
    mw_error err = {0};
    mw_program *p = compile(joined, &err);
    for (int i = 1; i <= 11; i++) {
        const mw_input_shape shapes[] = {{"x", S(i, 2)}, {"y", S(i, 2)}};
        CHECK_INT(mw_program_set_shapes(p, shapes, 2, &err), MW_OK);
    }
    CHECK_INT(p->flexible->plan_count, 8);
    CHECK_INT(mw_program_run(p, &err), MW_OK);
    mw_program_destroy(p);
}

static void test_a_plan_can_be_looked_at(void)
{
    mw_error err = {0};
    char folder[] = "/tmp/mw-flexible-XXXXXX", path[64];
    REQUIRE(mkdtemp(folder) != NULL);
    mw_compile_options options = engine_options(MW_DEVICE_CPU, 1);
    options.keep_folder = folder;
    mw_program *p = compile_with(scaled, &options, &err);
    set_shape(p, "x", S(4, 2), &err);
    CHECK_OK(err);
    CHECK_CONTAINS(mw_program_mil(p), "tensor<fp32, [4, 2]> x");
    CHECK(strstr(mw_program_mil(p), "Flexible") == NULL);
    mw_plan *plan = mw_plan_create(p, &err);
    CHECK(mw_plan_get_totals(plan).step_count > 0);
    mw_plan_destroy(plan);
    CHECK_INT(mw_program_warning_count(p), 0);
    for (int i = 1; i <= 2; i++) {
        struct stat what;
        snprintf(path, sizeof path, "%s/plan-%d/model.mil", folder, i);
        CHECK(stat(path, &what) == 0);
        unlink(path);
        snprintf(path, sizeof path, "%s/plan-%d", folder, i);
        rmdir(path);
    }
    mw_program_destroy(p);
    CHECK(rmdir(folder) == 0);
}

/* ---- values that decide ---- */

/* n times x, and the first m of x. */
static const char tiled[] = HEAD "tensor<fp32, [3]> x, tensor<int32, [1]> n, tensor<int32, [1]> m){"
                                 "tensor<int32, [1]> zero = const()[val = tensor<int32, [1]>([0])];"
                                 "tensor<fp32, [?]> y = tile(reps = n, x = x);"
                                 "tensor<fp32, [?]> z = slice_by_size(begin = zero, size = m, x = x);} -> (y, z);}";

static mw_status write_int(mw_program *p, const char *name, int32_t value, mw_error *err)
{
    return mw_program_write(p, name, MW_I32, &value, 1, err);
}

static void test_values_decide_extents(void)
{
    static const float x[3] = {1, 2, 3};
    float y[12], z[3];
    mw_error err = {0};
    mw_program *p = compile(tiled, &err);
    CHECK_OK(err);
    CHECK_PORT(p, "y", S(Q));
    CHECK_INT(mw_program_write(p, "x", MW_F32, x, 3, &err), MW_ERROR_STATE);
    CHECK_ERROR(err, MW_ERROR_STATE, "input \"n\" decides the shapes of results: write it first");
    mw_error_clear(&err);
    write_int(p, "n", 2, &err);
    write_int(p, "m", 1, &err);
    CHECK_INT(mw_program_write(p, "x", MW_F32, x, 3, &err), MW_OK);
    CHECK_OK(err);
    for (int n = 1; n <= 4; n++) {
        write_int(p, "n", n, &err);
        write_int(p, "m", n % 4, &err);
        CHECK_INT(mw_program_run(p, &err), MW_OK);
        CHECK_OK(err);
        CHECK_PORT(p, "y", S(3 * n));
        CHECK_PORT(p, "z", S(n % 4));
        mw_program_read(p, "y", MW_F32, y, 3 * (size_t)n, &err);
        mw_program_read(p, "z", MW_F32, z, (size_t)n % 4, &err);
        CHECK_NEAR(y[3 * n - 1], 3, 0);
        if (n % 4 > 0)
            CHECK_NEAR(z[n % 4 - 1], n, 0);
        CHECK_OK(err);
    }
    const size_t made = p->flexible->made;
    *(int32_t *)mw_program_view(p, "n", &err) = 3;
    write_int(p, "m", 3, &err);
    CHECK_INT(mw_program_run(p, &err), MW_OK);
    CHECK_PORT(p, "y", S(9));
    CHECK_INT(p->flexible->made, made); /* that pair was there */
    mw_program_destroy(p);
}

static void test_a_value_that_cannot_be_is_refused_at_the_run(void)
{
    mw_error err = {0};
    int32_t held;
    mw_program *p = compile(tiled, &err);
    write_int(p, "n", 0, &err);
    write_int(p, "m", 1, &err);
    CHECK_INT(mw_program_run(p, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "reps[0] 0 must be positive");
    mw_error_clear(&err);
    write_int(p, "n", 1, &err);
    write_int(p, "m", 4, &err);
    CHECK_INT(mw_program_run(p, &err), MW_ERROR_SHAPE);
    mw_error_clear(&err);
    CHECK_INT(mw_program_write(p, "n", MW_F32, &(float){1.5f}, 1, &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    CHECK_INT(mw_program_write(p, "n", MW_I32, &(int32_t[]){1, 2}, 2, &err), MW_ERROR_SHAPE);
    mw_error_clear(&err);
    write_int(p, "m", 1, &err);
    write_int(p, "n", 2, &err);
    CHECK_INT(mw_program_run(p, &err), MW_OK);
    CHECK_INT(mw_program_read(p, "n", MW_I32, &held, 1, &err), MW_OK);
    CHECK_INT(held, 2);
    CHECK_INT(mw_program_alias(p, "y", "n", &err), MW_ERROR_STATE);
    mw_program_destroy(p);
}

/* Statements whose result r, of rank 1, has the extent that the two numbers of n make it. x is 1, 2, 3, 4. */
static const struct {
    const char *statement;
    int32_t n[2];
    int64_t extent;
    float last;
} decided[] = {
    {"tensor<fp32, [?]> r = tile(reps = n1, x = x);", {3, 0}, 12, 4},
    {"tensor<fp32, [?]> r = slice_by_size(begin = n1, size = n2, x = x);", {1, 2}, 2, 3},
    {"tensor<fp32, [?]> r = slice_by_index(begin = n1, end = n2, x = x);", {1, 4}, 3, 4},
    {"tensor<fp32, [?]> r = slice_by_index(begin = n1, end = n2, x = x);", {-2, -1}, 1, 3},
    {"tensor<fp32, [?, ?]> q = reshape(shape = n, x = x); tensor<int32, [2]> s = shape(x = q);"
     "string f = const()[val = string(\"fp32\")]; tensor<fp32, [2]> r = cast(dtype = f, x = s);",
     {1, 4},
     2,
     4},
    {"tensor<fp32, [?]> r = fill(shape = n1, value = nine);", {5, 0}, 5, 9},
    {"string mode = const()[val = string(\"constant\")];"
     "tensor<fp32, [?]> r = pad(constant_val = nine, mode = mode, pad = n, x = x);",
     {1, 2},
     7,
     9},
    {"int32 end = squeeze(axes = first, x = n2); int32 start = squeeze(axes = first, x = n1);"
     "int32 step = const()[val = int32(2)]; tensor<int32, [?]> i = range_1d(end = end, start = start, step = step);"
     "string f = const()[val = string(\"fp32\")]; tensor<fp32, [?]> r = cast(dtype = f, x = i);",
     {3, 9},
     3,
     7},
    {"int32 size = squeeze(axes = first, x = n1); tensor<int32, [1]> two = const()[val = tensor<int32, [1]>([2])];"
     "int32 axis = const()[val = int32(1)];"
     "tensor<fp32, [1, ?]> o = one_hot(axis = axis, indices = two, off_value = nine, on_value = one, "
     "one_hot_vector_size = size); tensor<fp32, [?]> r = squeeze(axes = first, x = o);",
     {3, 0},
     3,
     1},
};

static void test_inputs_decide_for_every_operation(void)
{
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++) {
        char text[2048];
        mw_error err = {0};
        float r[12] = {0};
        snprintf(text, sizeof text,
                 HEAD "tensor<fp32, [4]> x, tensor<int32, [2]> n){int32 zero = const()[val = int32(0)];"
                      "tensor<int32, [1]> first = const()[val = tensor<int32, [1]>([0])];"
                      "int32 parts = const()[val = int32(2)]; fp32 nine = const()[val = fp32(9)];"
                      "fp32 one = const()[val = fp32(1)];"
                      "tensor<int32, [1]> n1, tensor<int32, [1]> n2 = split(axis = zero, num_splits = parts, x = n);"
                      "%s} -> (r);}",
                 decided[i].statement);
        mw_program *p = compile(text, &err);
        mw_program_write(p, "n", MW_I32, decided[i].n, 2, &err);
        mw_program_write(p, "x", MW_F32, (const float[]){1, 2, 3, 4}, 4, &err);
        mw_program_run(p, &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", decided[i].statement, err.message);
        CHECK_PORT(p, "r", S(decided[i].extent));
        mw_program_read(p, "r", MW_F32, r, (size_t)decided[i].extent, &err);
        CHECK_NEAR(r[decided[i].extent - 1], decided[i].last, 0);
        mw_program_destroy(p);
    }
}

/* An argument that must be a constant is one in each plan. */
static void test_the_k_of_topk_may_be_an_input(void)
{
    static const char text[] =
        HEAD "tensor<fp32, [5]> x, int32 k){int32 axis = const()[val = int32(0)];"
             "bool no = const()[val = bool(false)]; bool yes = const()[val = bool(true)];"
             "string i32 = const()[val = string(\"int32\")];"
             "tensor<fp32, [?]> y, tensor<int32, [?]> i = topk(ascending = no, axis = axis, k = k, "
             "output_indices_dtype = i32, return_indices = yes, sort = yes, x = x);} -> (y, i);}";
    static const float x[5] = {3, 1, 5, 4, 2};
    float y[5];
    mw_error err = {0};
    mw_program *p = compile(text, &err);
    CHECK_OK(err);
    for (int k = 1; k <= 5; k += 2) {
        write_int(p, "k", k, &err);
        mw_program_write(p, "x", MW_F32, x, 5, &err);
        CHECK_INT(mw_program_run(p, &err), MW_OK);
        CHECK_PORT(p, "i", S(k));
        mw_program_read(p, "y", MW_F32, y, (size_t)k, &err);
        CHECK_NEAR(y[k - 1], 6 - k, 0);
        CHECK_OK(err);
    }
    write_int(p, "k", 6, &err);
    CHECK(mw_program_run(p, &err) != MW_OK);
    mw_program_destroy(p);
}

static void test_extents_that_are_computed_from_data_are_refused_by_name(void)
{
    mw_error err = {0};
    CHECK(compile(HEAD "tensor<fp32, [4]> x){tensor<int32, [?, 1]> y = non_zero(x = x);} -> (y);}", &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "non_zero \"y\": its result [?, 1] has extents that are not known");
}

/* Shapes of shapes, of inputs that are known: an ordinary program. */
static void test_extents_that_follow_from_constants_make_an_ordinary_program(void)
{
    mw_error err = {0};
    float y[12];
    mw_program *p = compile(HEAD "tensor<fp32, [2, 6]> x){"
                                 "tensor<int32, [2]> s = shape(x = x);"
                                 "tensor<int32, [2]> two = const()[val = tensor<int32, [2]>([2, 2])];"
                                 "tensor<int32, [2]> h = floor_div(x = s, y = two);"
                                 "int32 four = const()[val = int32(4)]; int32 zero = const()[val = int32(0)];"
                                 "bool no = const()[val = bool(false)];"
                                 "tensor<int32, [3]> w = concat(axis = zero, interleave = no, values = (h, four4));"
                                 "tensor<fp32, [?, ?, ?]> r = reshape(shape = w, x = x);"
                                 "tensor<fp32, [?, ?, ?]> y = relu(x = r);} -> (y);}",
                            &err);
    CHECK(p == NULL); /* four4 is not there */
    mw_error_clear(&err);
    p = compile(HEAD "tensor<fp32, [2, 6]> x){"
                     "tensor<int32, [2]> s = shape(x = x);"
                     "tensor<int32, [2]> two = const()[val = tensor<int32, [2]>([2, 2])];"
                     "tensor<int32, [2]> h = floor_div(x = s, y = two);"
                     "tensor<int32, [1]> four = const()[val = tensor<int32, [1]>([4])];"
                     "int32 zero = const()[val = int32(0)]; bool no = const()[val = bool(false)];"
                     "tensor<int32, [3]> w = concat(axis = zero, interleave = no, values = (h, four));"
                     "tensor<fp32, [?, ?, ?]> r = reshape(shape = w, x = x);"
                     "tensor<fp32, [?, ?, ?]> y = relu(x = r);} -> (y);}",
                &err);
    CHECK_OK(err);
    REQUIRE(p != NULL);
    CHECK(p->flexible == NULL);
    CHECK_PORT(p, "y", S(1, 3, 4));
    CHECK_INT(mw_program_run(p, &err), MW_OK);
    CHECK_INT(mw_program_read(p, "y", MW_F32, y, 12, &err), MW_OK);
    mw_program_destroy(p);
}

/* ---- functions and devices ---- */

static void test_a_function_is_chosen(void)
{
    static const char text[] =
        "program(1.3){func main<ios17>(tensor<fp32, [2]> x){tensor<fp32, [2]> y = relu(x = x);} -> (y);"
        "func double<ios18>(tensor<fp32, [2]> x){fp32 two = const()[val = fp32(2)];"
        "tensor<fp32, [2]> y = mul(x = x, y = two);} -> (y);"
        "func any<ios18>(tensor<fp32, [?]> x){tensor<fp32, [?]> y = square(x = x);} -> (y);}";
    static const struct {
        const char *name;
        float at;
    } rows[] = {{NULL, 0}, {"main", 0}, {"double", -6}, {"any", 9}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_error err = {0};
        float y[2] = {0};
        mw_compile_options options = engine_options(MW_DEVICE_CPU, 1);
        options.function = rows[i].name;
        mw_program *p = compile_with(text, &options, &err);
        set_shape(p, "x", S(2), &err);
        mw_program_write(p, "x", MW_F32, (const float[]){1, -3}, 2, &err);
        mw_program_run(p, &err);
        mw_program_read(p, "y", MW_F32, y, 2, &err);
        CHECK_OK(err);
        CHECK_NEAR(y[1], rows[i].at, 0);
        mw_program_destroy(p);
    }
    mw_error err = {0};
    mw_compile_options options = engine_options(MW_DEVICE_CPU, 1);
    options.function = "half";
    CHECK(compile_with(text, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "there is no function \"half\"; the program has main, double, any");
}

static void test_the_model_of_the_ane_takes_shapes_too(void)
{
    static const float w[2] = {2, 0.5f};
    mw_error err = {0};
    const mw_compile_options options = engine_options(MW_DEVICE_ANE, 1);
    mw_program *p = compile_with(scaled, &options, &err);
    mw_port port;
    CHECK_OK(err);
    mw_program_write(p, "w", MW_F32, w, 2, &err);
    for (int rows = 5; rows >= 1; rows--) {
        CHECK_INT(set_shape(p, "x", S(rows, 2), &err), MW_OK);
        check_scaled(p, rows, w, __LINE__);
    }
    CHECK(mw_program_port_at(p, 0, &port) && port.dtype == MW_F16);
    CHECK_INT(mw_program_write(p, "w", MW_F32, (const float[]){1, 70000}, 2, &err), MW_ERROR_NUMERIC);
    mw_program_destroy(p);
}

/* ---- faults ---- */

static mw_status go_through(const mw_allocator *allocator, mw_error *err)
{
    static const float w[2] = {1, 1};
    mw_graph *graph = parse(scaled, NULL, err);
    mw_compile_options options = engine_options(MW_DEVICE_CPU, 1);
    options.allocator = allocator;
    options.max_plans = 1;
    mw_program *p = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    mw_program_write(p, "w", MW_F32, w, 2, err);
    for (int rows = 1; rows <= 2 && p != NULL; rows++)
        if (set_shape(p, "x", S(rows, 2), err) == MW_OK)
            mw_program_run(p, err);
    const mw_status status = err->status;
    mw_error_clear(err);
    if (p != NULL && status != MW_OK) /* it has the plan that it had */
        CHECK_INT(mw_program_run(p, err), MW_OK);
    mw_program_destroy(p);
    return status;
}

static void test_every_failing_allocation_is_survived(void)
{
    for (long n = 0;; n++) {
        mw_error err = {0};
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        const mw_status status = go_through(&allocator, &err);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            break;
        if (!CHECK(status == MW_ERROR_MEMORY || status == MW_OK))
            break;
    }
}

static void test_huge_shapes_are_refused(void)
{
    mw_error err = {0};
    mw_program *p = compile(joined, &err);
    const int64_t extents[] = {INT64_MAX, INT64_MAX / 2, (int64_t)1 << 61, (int64_t)1 << 59};
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        const mw_input_shape shapes[] = {{"x", S(extents[i], 2)}, {"y", S(extents[i], 2)}};
        CHECK(mw_program_set_shapes(p, shapes, 2, &err) != MW_OK);
        mw_error_clear(&err);
    }
    CHECK_PORT(p, "x", S(Q, 2));
    CHECK_INT(mw_program_run(p, &err), MW_ERROR_STATE);
    mw_program_destroy(p);
}

int main(void)
{
    RUN(test_each_admitted_shape_runs);
    RUN(test_a_refused_shape_changes_nothing);
    RUN(test_inputs_without_information_are_chosen_one_by_one);
    RUN(test_shapes_that_belong_together_are_set_together);
    RUN(test_an_input_that_keeps_its_shape_keeps_its_values);
    RUN(test_listed_shapes_run_and_others_are_refused);
    RUN(test_a_program_of_one_shape_has_it);
    RUN(test_parameters_and_shared_ports_stay_over_shapes);
    RUN(test_ports_that_differ_are_not_shared);
    RUN(test_states_stay_over_shapes);
    RUN(test_loops_run_with_each_shape);
    RUN(test_plans_are_kept_and_the_oldest_goes);
    RUN(test_eight_plans_are_kept_by_default);
    RUN(test_a_plan_can_be_looked_at);
    RUN(test_values_decide_extents);
    RUN(test_a_value_that_cannot_be_is_refused_at_the_run);
    RUN(test_inputs_decide_for_every_operation);
    RUN(test_the_k_of_topk_may_be_an_input);
    RUN(test_extents_that_are_computed_from_data_are_refused_by_name);
    RUN(test_extents_that_follow_from_constants_make_an_ordinary_program);
    RUN(test_a_function_is_chosen);
    RUN(test_the_model_of_the_ane_takes_shapes_too);
    RUN(test_every_failing_allocation_is_survived);
    RUN(test_huge_shapes_are_refused);
    return check_finish();
}
