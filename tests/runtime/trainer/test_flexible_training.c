/* Training programs whose inputs have `?` extents: with their default shapes, or one that is asked for. */
#include "support/check.h"
#include "support/on_engine.h"

#define S MW_SHAPE

/* y = x w: [?, 3] times [3, 2], where the rows come back through shape arithmetic. */
#define BODY                                                                                                           \
    "tensor<fp32, [3, 2]> w = const()[name = string(\"w\"), val = tensor<fp32, [3, 2]>([1, 2, 3, 4, 5, 6])];"          \
    "bool no = const()[val = bool(false)]; int32 zero = const()[val = int32(0)]; int32 two = const()[val = int32(2)];" \
    "tensor<fp32, [?, 2]> m = matmul(transpose_x = no, transpose_y = no, x = x, y = w);"                               \
    "tensor<int32, [2]> s = shape(x = x); int32 n = gather(axis = zero, indices = zero, x = s);"                       \
    "int32 all = mul(x = n, y = two);"                                                                                 \
    "tensor<int32, [1]> flat = expand_dims(axes = zero, x = all);"                                                     \
    "tensor<fp32, [?]> y = reshape(shape = flat, x = m);} -> (y);}"
static const char by_default[] =
    "program(1.3){func main<ios17>(tensor<fp32, [?, 3]> x)[FlexibleShapeInformation = tuple<tuple<string, dict<string, "
    "tensor<int32, [?]>>>, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>(((\"DefaultShapes\", {{\"x\", [2, "
    "3]}}), (\"RangeDims\", {{\"x\", [[1, 9], [3, 3]]}})))]{" BODY;
static const char by_nobody[] = "program(1.3){func main<ios17>(tensor<fp32, [?, 3]> x){" BODY;

static mw_graph *trainable(const char *text, const mw_input_shape *shape, mw_error *err)
{
    static const char *const patterns[] = {"w"};
    mw_graph *source = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    mw_tune_options options = mw_tune_defaults(patterns, 1);
    options.shapes = shape;
    options.shape_count = shape != NULL;
    mw_graph *graph = mw_graph_trainable(source, &options, err);
    mw_graph_destroy(source);
    return graph;
}

/* loss = sum(y^2) with rows of ones: dw = 2 x' (x w), each row of it 2 n (w0 + w1 + w2). */
static void check_step(const char *text, const mw_input_shape *shape, int rows)
{
    static const float ones[27] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    mw_error err = {0};
    float loss = 0, w[6] = {0};
    mw_graph *graph = trainable(text, shape, &err);
    CHECK_OK(err);
    mw_tensor *y = mw_graph_find(graph, "y");
    mw_tensor *sum = mw_reduce_sum(mw_square(y), MW_ALL_AXES, false);
    mw_trainer *t = engine_trainer(sum, mw_sgd(0.001f), MW_DEVICE_CPU, 1, &err);
    CHECK_OK(err);
    const mw_feed feed = {.name = "x", .data = ones, .dtype = MW_F32, .count = 3 * (size_t)rows};
    mw_trainer_step(t, &(mw_batch){.feeds = &feed, .feed_count = 1}, &loss, &err);
    mw_trainer_read(t, "w", MW_F32, w, 6, &err);
    CHECK_OK(err);
    CHECK_NEAR(loss, rows * (9.0 * 9 + 12 * 12), 1e-3);
    CHECK_NEAR(w[0], 1 - 0.001 * 2 * rows * 9, 1e-5);
    CHECK_NEAR(w[5], 6 - 0.001 * 2 * rows * 12, 1e-5);
    mw_trainer_destroy(t);
    mw_graph_destroy(graph);
}

static void test_a_step_has_the_default_shape(void) { check_step(by_default, NULL, 2); }

static void test_a_step_has_the_shape_of_its_graph(void)
{
    const mw_input_shape five = {"x", S(5, 3)};
    check_step(by_default, &five, 5);
    check_step(by_nobody, &five, 5);
}

static void test_a_shape_that_nobody_gives_is_asked_for(void)
{
    mw_error err = {0};
    mw_graph *graph = trainable(by_nobody, NULL, &err);
    CHECK_OK(err);
    mw_tensor *sum = mw_reduce_sum(mw_square(mw_graph_find(graph, "y")), MW_ALL_AXES, false);
    CHECK(engine_trainer(sum, mw_sgd(0.001f), MW_DEVICE_CPU, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE,
                "trainer: input \"x\" is [?, 3] and has no default shape: make the graph of the loss one of known "
                "shapes, with mw_graph_specialize");
    mw_graph_destroy(graph);
}

static void test_values_that_decide_are_refused(void)
{
    static const char text[] =
        "program(1.3){func main<ios17>(tensor<fp32, [3]> x, tensor<int32, [1]> n){"
        "tensor<fp32, [3]> w = const()[name = string(\"w\"), val = tensor<fp32, [3]>([1, 2, 3])];"
        "tensor<fp32, [3]> m = mul(x = x, y = w);"
        "tensor<fp32, [?]> y = tile(reps = n, x = m);} -> (y);}";
    mw_error err = {0};
    mw_graph *graph = trainable(text, NULL, &err);
    CHECK_OK(err);
    mw_tensor *sum = mw_reduce_sum(mw_graph_find(graph, "y"), MW_ALL_AXES, false);
    CHECK(engine_trainer(sum, mw_sgd(0.001f), MW_DEVICE_CPU, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "the values of input \"n\" decide extents");
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_a_step_has_the_default_shape);
    RUN(test_a_step_has_the_shape_of_its_graph);
    RUN(test_a_shape_that_nobody_gives_is_asked_for);
    RUN(test_values_that_decide_are_refused);
    return check_finish();
}
