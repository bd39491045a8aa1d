/* Models for inference: any number of examples, several threads, states, shapes, files; against the same network in
 * double, and against mw_program_run of the same program. */
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { D = 5, H = 7, C = 3, MOST = 40 };

/* ---- a network and its oracle ---- */

typedef struct network {
    float w1[H * D], b1[H], w2[C * H], b2[C];
} network;

static float number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

static void fill(float *out, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        out[i] = number(&seed);
}

static network make_network(void)
{
    network n;
    fill(n.w1, H * D, 1);
    fill(n.b1, H, 2);
    fill(n.w2, C * H, 3);
    fill(n.b2, C, 4);
    return n;
}

static mw_tensor *layer(mw_tensor *x, const float *w, const float *b, int64_t out, int64_t in)
{
    mw_graph *g = mw_tensor_graph(x);
    return mw_linear(x, mw_constant(g, MW_F32, MW_SHAPE(out, in), w), mw_constant(g, MW_F32, MW_SHAPE(out), b));
}

/* x [batch, D] -> "scores" [batch, C], and "classes" [C], which depends on no input. */
static mw_graph *make_graph(const network *n, int64_t batch, const mw_allocator *allocator)
{
    static const float ids[C] = {10, 20, 30};
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    mw_graph *g = mw_graph_create(&options, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(batch, D));
    mw_tensor *h = mw_tanh(layer(x, n->w1, n->b1, H, D));
    mw_tensor *cut = mw_reshape(mw_reshape(h, MW_SHAPE(batch, 1, H)), MW_SHAPE(batch, H));
    mw_output(layer(cut, n->w2, n->b2, C, H), "scores");
    mw_output(mw_identity(mw_constant(g, MW_F32, MW_SHAPE(C), ids)), "classes");
    return g;
}

static double score(const network *n, const float *x, int c)
{
    double sum = (double)n->b2[c];
    for (int h = 0; h < H; h++) {
        double z = (double)n->b1[h];
        for (int d = 0; d < D; d++)
            z += (double)n->w1[h * D + d] * (double)x[d];
        sum += (double)n->w2[c * H + h] * tanh(z);
    }
    return sum;
}

static mw_status predict(mw_predictor *predictor, const float *x, int64_t examples, float *scores, mw_error *err)
{
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = (size_t)examples * D};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = examples};
    const mw_result result = {"scores", MW_F32, scores, (size_t)examples * C};
    return mw_predictor_predict(predictor, &batch, &result, 1, err);
}

static void check_scores(const network *n, const float *x, int64_t examples, const float *scores, double tolerance,
                         int line)
{
    for (int64_t i = 0; i < examples * C; i++) {
        const double truth = score(n, x + i / C * D, (int)(i % C));
        if (!(fabs((double)scores[i] - truth) <= tolerance)) {
            check_note(false, __FILE__, line, "of %d examples score %d is %g, not %g", (int)examples, (int)i,
                       (double)scores[i], truth);
            return;
        }
    }
}

static mw_model *make_model(int64_t own, int64_t batch, mw_device device, mw_error *err)
{
    const network n = make_network();
    const mw_compile_options compile = engine_options(device, 1);
    mw_model_options options = mw_model_defaults();
    options.compile = &compile;
    options.batch = batch;
    mw_graph *graph = make_graph(&n, own, NULL);
    mw_model *model = mw_model_create(graph, &options, err);
    mw_graph_destroy(graph);
    return model;
}

/* ---- any number of examples ---- */

static void check_numbers(int64_t own, int64_t batch, int64_t expected, mw_device device, double tolerance)
{
    static const int64_t counts[] = {1, 2, 3, 4, 7, 8, 9, 16, 33, MOST};
    const network n = make_network();
    float x[MOST * D], scores[MOST * C];
    mw_error err = {0};
    mw_model *model = make_model(own, batch, device, &err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    fill(x, MOST * D, 9);
    CHECK_INT(mw_model_get_info(model).batch, expected);
    for (size_t i = 0; i < sizeof counts / sizeof *counts && err.status == MW_OK; i++) {
        memset(scores, 0xff, sizeof scores);
        predict(predictor, x, counts[i], scores, &err);
        check_scores(&n, x, counts[i], scores, tolerance, __LINE__);
        for (size_t k = (size_t)counts[i] * C; k < MOST * C; k++)
            CHECK(isnan(scores[k])); /* nothing is written behind them */
    }
    CHECK_OK(err);
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
}

static void test_any_number_of_examples(void)
{
    check_numbers(1, 0, 1, MW_DEVICE_CPU, 1e-5);
    check_numbers(16, 0, 1, MW_DEVICE_CPU, 1e-5);
    check_numbers(16, 8, 8, MW_DEVICE_CPU, 1e-5);
    check_numbers(1, 33, 33, MW_DEVICE_CPU, 1e-5);
    check_numbers(4, 4, 4, MW_DEVICE_CPU, 1e-5);
}

/* Sums of up to 7 products of about 1, and tanh, rounded to fp16. */
static void test_on_the_model_of_the_ane(void) { check_numbers(16, 8, 8, MW_DEVICE_ANE, 1e-2); }

static void test_results_are_those_that_are_listed(void)
{
    mw_error err = {0};
    mw_model *model = make_model(16, 4, MW_DEVICE_CPU, &err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    float x[6 * D], classes[C] = {0};
    double scores[6 * C] = {0};
    fill(x, 6 * D, 9);
    const mw_feed feeds[] = {{.name = "other", .dtype = MW_F32, .data = x, .count = 1},
                             {.name = "x", .dtype = MW_F32, .data = x, .count = 6 * D, .scale = 0.5f}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = 6};
    const mw_result results[] = {{"classes", MW_F32, classes, C}, {"scores", MW_F64, scores, 6 * C}};
    mw_predictor_predict(predictor, &batch, results, 2, &err);
    CHECK_OK(err);
    CHECK(classes[0] == 10.0f && classes[2] == 30.0f);
    for (int i = 0; i < 6 * D; i++)
        x[i] *= 0.5f;
    const network n = make_network();
    for (int i = 0; i < 6 * C; i++)
        CHECK_NEAR(scores[i], score(&n, x + i / C * D, i % C), 1e-5);
    mw_predictor_predict(predictor, &batch, NULL, 0, &err);
    CHECK_OK(err);
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
}

static void test_ports_are_those_of_a_run(void)
{
    mw_error err = {0};
    mw_model *model = make_model(16, 4, MW_DEVICE_CPU, &err);
    mw_port port;
    CHECK_INT(mw_model_get_info(model).port_count, 3);
    CHECK(mw_model_port_at(model, 0, &port) && strcmp(port.name, "x") == 0 && !port.is_output);
    CHECK_INT(port.shape.dim[0], 4);
    CHECK(mw_model_port_at(model, 1, &port) && strcmp(port.name, "scores") == 0 && port.is_output);
    CHECK(!mw_model_port_at(model, 3, &port) && !mw_model_port_at(NULL, 0, &port));
    CHECK_INT(mw_tensor_shape(mw_graph_find(mw_model_get_info(model).graph, "x")).dim[0], 16);
    CHECK(mw_model_get_info(model).description == NULL && mw_model_get_info(NULL).batch == 0 &&
          mw_model_get_info(NULL).graph == NULL);
    mw_model_destroy(model);
}

/* ---- several threads ---- */

enum { THREADS = 4, ROUNDS = 50 };

typedef struct worker {
    mw_model *model;
    pthread_t thread;
    const float *x;
    const float *truth; /* bits of one thread alone */
    mw_status status;
    bool same;
} worker;

static void *work(void *user)
{
    worker *w = user;
    mw_error err = {0};
    float scores[MOST * C];
    mw_predictor *predictor = mw_predictor_create(w->model, &err);
    w->same = true;
    for (int i = 0; i < ROUNDS && err.status == MW_OK; i++) {
        memset(scores, 0, sizeof scores);
        predict(predictor, w->x, MOST, scores, &err);
        w->same = w->same && memcmp(scores, w->truth, sizeof scores) == 0;
    }
    mw_predictor_destroy(predictor);
    w->status = err.status;
    return NULL;
}

static void check_threads(int64_t batch, mw_device device)
{
    mw_error err = {0};
    mw_model *model = make_model(16, batch, device, &err);
    float x[THREADS][MOST * D], truth[THREADS][MOST * C];
    mw_predictor *predictor = mw_predictor_create(model, &err);
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        fill(x[i], MOST * D, 100 + (uint32_t)i);
        predict(predictor, x[i], MOST, truth[i], &err);
        workers[i] = (worker){.model = model, .x = x[i], .truth = truth[i]};
    }
    mw_predictor_destroy(predictor);
    CHECK_OK(err);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].status == MW_OK && workers[i].same);
    }
    mw_model_destroy(model);
}

static void test_threads_on_one_model(void)
{
    check_threads(8, MW_DEVICE_CPU);
    check_threads(3, MW_DEVICE_ANE);
}

static void test_a_predictor_outlives_its_model(void)
{
    mw_error err = {0};
    const network n = make_network();
    float x[2 * D], scores[2 * C];
    fill(x, 2 * D, 5);
    mw_model *model = make_model(16, 0, MW_DEVICE_CPU, &err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    mw_model_destroy(model);
    predict(predictor, x, 2, scores, &err);
    CHECK_OK(err);
    check_scores(&n, x, 2, scores, 1e-5, __LINE__);
    CHECK(mw_predictor_create(model, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_STATE, "destroyed");
    err = (mw_error){0};
    mw_predictor_destroy(predictor);
    CHECK(predict(predictor, x, 2, scores, &err) == MW_ERROR_STATE);
}

/* ---- states ---- */

#define HEAD18 "program(1.3){func main<ios18>("

/* y = x + s, s = y: running sums of each of two numbers. */
static const char sums[] = HEAD18 "tensor<fp16, [1, 2]> x, state<tensor<fp16, [1, 2]>> s){"
                                  "tensor<fp16, [1, 2]> before = read_state(input = s);"
                                  "tensor<fp16, [1, 2]> y = add(x = x, y = before);"
                                  "write_state(data = y, input = s);} -> (y);}";

static mw_model *parse_model(const char *text, const mw_model_options *given, mw_error *err)
{
    const mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    mw_model_options options = given != NULL ? *given : mw_model_defaults();
    options.compile = &compile;
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    mw_model *model = mw_model_create(graph, &options, err);
    mw_graph_destroy(graph);
    return model;
}

static void step_sums(mw_predictor *predictor, const float *x, int64_t steps, float *y, mw_error *err)
{
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = (size_t)steps * 2};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = steps};
    const mw_result result = {"y", MW_F32, y, (size_t)steps * 2};
    mw_predictor_predict(predictor, &batch, &result, 1, err);
}

static void test_states_belong_to_the_predictor(void)
{
    mw_error err = {0};
    const float x[] = {1, 2, 3, 4, 5, 6}, seven[] = {7, 7};
    float y[6] = {0}, s[2] = {0};
    mw_model *model = parse_model(sums, NULL, &err);
    mw_predictor *a = mw_predictor_create(model, &err), *b = mw_predictor_create(model, &err);
    step_sums(a, x, 3, y, &err); /* steps, one after the other */
    CHECK(y[0] == 1 && y[1] == 2 && y[2] == 4 && y[3] == 6 && y[4] == 9 && y[5] == 12);
    step_sums(b, x, 1, y, &err);
    CHECK(y[0] == 1 && y[1] == 2);
    mw_predictor_read(a, "s", MW_F32, s, 2, &err);
    CHECK(s[0] == 9 && s[1] == 12);
    mw_predictor_write(b, "s", MW_F32, seven, 2, &err);
    step_sums(b, x, 1, y, &err);
    CHECK(y[0] == 8 && y[1] == 9);
    mw_predictor_reset(a, &err);
    step_sums(a, x, 1, y, &err);
    CHECK(y[0] == 1 && y[1] == 2);
    CHECK_OK(err);
    CHECK(mw_predictor_read(a, "t", MW_F32, s, 2, &err) == MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no state \"t\"");
    mw_predictor_destroy(b);
    mw_predictor_destroy(a);
    mw_model_destroy(model);
}

/* ---- shapes ---- */

#define DICT "dict<string, tensor<int32, [?]>>"
#define RANGE                                                                                                          \
    ")[FlexibleShapeInformation = tuple<tuple<string, " DICT ">, tuple<string, dict<string, list<tensor<int32, [2]>, " \
    "?>>>>(((\"DefaultShapes\", {{\"x\", [1, 3]}}), (\"RangeDims\", {{\"x\", [[1, 1], [1, 9]]}})))]{"
static const char sum_of_any[] = "program(1.3){func main<ios17>(tensor<fp32, [1, ?]> x" RANGE
                                 "tensor<fp32, [1, 1]> y = reduce_sum(axes = tensor<int32, [1]>([1]), keep_dims = "
                                 "bool(true), x = x);} -> (y);}";

static float sum_with(mw_predictor *predictor, int64_t examples, int64_t length, float *out, mw_error *err)
{
    const float x[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = (size_t)(examples * length)};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = examples};
    const mw_result result = {"y", MW_F32, out, (size_t)examples};
    mw_predictor_predict(predictor, &batch, &result, 1, err);
    return out[0];
}

static void test_shapes_are_chosen(void)
{
    mw_error err = {0};
    float y[4];
    mw_model *model = parse_model(sum_of_any, NULL, &err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    CHECK(sum_with(predictor, 1, 3, y, &err) == 7.0f);
    for (int64_t length = 1; length < 10 && err.status == MW_OK; length++) {
        mw_predictor_set_shapes(predictor, &(mw_input_shape){"x", MW_SHAPE(1, length)}, 1, &err);
        CHECK(sum_with(predictor, 1, length, y, &err) == (float)((1 << length) - 1));
    }
    mw_predictor_set_shapes(predictor, &(mw_input_shape){"x", MW_SHAPE(1, 2)}, 1, &err);
    sum_with(predictor, 3, 2, y, &err); /* a batch that the file does not have */
    CHECK(y[0] == 3.0f && y[1] == 12.0f && y[2] == 48.0f);
    CHECK_OK(err);
    mw_predictor_set_shapes(predictor, &(mw_input_shape){"x", MW_SHAPE(1, 10)}, 1, &err);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "[1, 10]");
    err = (mw_error){0};
    mw_predictor_set_shapes(predictor, &(mw_input_shape){"z", MW_SHAPE(1, 2)}, 1, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no input \"z\"");
    err = (mw_error){0};
    CHECK(sum_with(predictor, 1, 2, y, &err) == 3.0f); /* those that it had */
    CHECK_OK(err);
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
}

/* ---- what brings examples together ---- */

static const char centered[] =
    "program(1.3){func main<ios17>(tensor<fp32, [4, 2]> x){"
    "tensor<fp32, [1, 2]> m = reduce_mean(axes = tensor<int32, [1]>([0]), keep_dims = bool(true), x = x);"
    "tensor<fp32, [4, 2]> y = sub(x = x, y = m);} -> (y);}";

static void test_a_program_that_keeps_its_batch(void)
{
    mw_error err = {0};
    mw_model_options options = mw_model_defaults();
    mw_model *model = parse_model(centered, NULL, &err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    float y[8] = {0};
    CHECK_INT(mw_model_get_info(model).batch, 4);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = 8};
    mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 4};
    const mw_result result = {"y", MW_F32, y, 8};
    mw_predictor_predict(predictor, &batch, &result, 1, &err);
    CHECK(y[0] == -3.0f && y[7] == 3.0f);
    CHECK_OK(err);
    batch.examples = 3;
    CHECK(mw_predictor_predict(predictor, &batch, &result, 1, &err) == MW_ERROR_UNSUPPORTED);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "together");
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
    err = (mw_error){0};
    options.batch = 2;
    CHECK(parse_model(centered, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "reduce_mean");
}

/* ---- errors ---- */

#define REFUSED(status, part, call)                                                                                    \
    do {                                                                                                               \
        err = (mw_error){0};                                                                                           \
        CHECK_INT((call), (status));                                                                                   \
        CHECK_ERROR(err, (status), (part));                                                                            \
    } while (0)

static void test_a_bad_call_is_refused(void)
{
    mw_error err = {0};
    float x[4 * D], scores[4 * C];
    fill(x, 4 * D, 5);
    mw_model *model = make_model(16, 2, MW_DEVICE_CPU, &err);
    mw_predictor *p = mw_predictor_create(model, &err);
    mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = 3 * D};
    mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 3};
    mw_result result = {"scores", MW_F32, scores, 3 * C};
    REFUSED(MW_ERROR_ARGUMENT, "batch is NULL", mw_predictor_predict(p, NULL, &result, 1, &err));
    REFUSED(MW_ERROR_STATE, "never was one", mw_predictor_predict(NULL, &batch, &result, 1, &err));
    REFUSED(MW_ERROR_ARGUMENT, "results are NULL", mw_predictor_predict(p, &batch, NULL, 1, &err));
    result.count = 3 * C - 1;
    REFUSED(MW_ERROR_SHAPE, "has 9 elements, not 8", mw_predictor_predict(p, &batch, &result, 1, &err));
    result = (mw_result){"score", MW_F32, scores, 3 * C};
    REFUSED(MW_ERROR_ARGUMENT, "no result \"score\"", mw_predictor_predict(p, &batch, &result, 1, &err));
    result = (mw_result){"scores", MW_F32, NULL, 3 * C};
    REFUSED(MW_ERROR_ARGUMENT, "NULL", mw_predictor_predict(p, &batch, &result, 1, &err));
    result = (mw_result){"scores", MW_STRING, scores, 3 * C};
    REFUSED(MW_ERROR_DTYPE, "scores", mw_predictor_predict(p, &batch, &result, 1, &err));
    result = (mw_result){"scores", MW_F32, scores, 3 * C};
    batch.examples = 0;
    REFUSED(MW_ERROR_ARGUMENT, "no example", mw_predictor_predict(p, &batch, &result, 1, &err));
    batch.examples = 3;
    feed.count = 3 * D + 1;
    REFUSED(MW_ERROR_SHAPE, "3 examples have 15", mw_predictor_predict(p, &batch, &result, 1, &err));
    feed.count = 3 * D;
    feed.name = "y";
    REFUSED(MW_ERROR_ARGUMENT, "no feed \"x\"", mw_predictor_predict(p, &batch, &result, 1, &err));
    feed.name = "x";
    x[2 * D + 1] = NAN;
    REFUSED(MW_ERROR_NUMERIC, "element 11", mw_predictor_predict(p, &batch, &result, 1, &err));
    x[2 * D + 1] = 0.0f;
    err = (mw_error){0};
    mw_predictor_predict(p, &batch, &result, 1, &err);
    CHECK_OK(err);
    mw_predictor_destroy(p);
    mw_model_destroy(model);
}

static void test_bad_options_are_refused(void)
{
    const network n = make_network();
    mw_graph *graph = make_graph(&n, 4, NULL);
    mw_error err = {0};
    mw_model_options options = {0};
    mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    REFUSED(MW_ERROR_ARGUMENT, "mw_model_defaults",
            mw_model_create(graph, &options, &err) == NULL ? (int)err.status : 0);
    options = mw_model_defaults();
    options.batch = -1;
    REFUSED(MW_ERROR_ARGUMENT, "batch", mw_model_create(graph, &options, &err) == NULL ? (int)err.status : 0);
    options = mw_model_defaults();
    options.max_plans = 1025;
    REFUSED(MW_ERROR_ARGUMENT, "max_plans", mw_model_create(graph, &options, &err) == NULL ? (int)err.status : 0);
    options = mw_model_defaults();
    compile.keep_folder = "kept";
    options.compile = &compile;
    REFUSED(MW_ERROR_ARGUMENT, "keep_folder", mw_model_create(graph, &options, &err) == NULL ? (int)err.status : 0);
    REFUSED(MW_ERROR_ARGUMENT, "NULL", mw_model_create(NULL, NULL, &err) == NULL ? (int)err.status : 0);
    REFUSED(MW_ERROR_ARGUMENT, "NULL", mw_model_open(NULL, NULL, &err) == NULL ? (int)err.status : 0);
    REFUSED(MW_ERROR_FORMAT, ".onnx", mw_model_open("nothing.here", NULL, &err) == NULL ? (int)err.status : 0);
    REFUSED(MW_ERROR_FORMAT, "Manifest.json", mw_model_open(".", NULL, &err) == NULL ? (int)err.status : 0);
    err = (mw_error){0};
    CHECK(mw_model_open("gone.onnx", NULL, &err) == NULL);
    if (strstr(err.message, "built without protobuf-c") == NULL)
        CHECK_ERROR(err, MW_ERROR_FILE, "gone.onnx");
    mw_graph_destroy(graph);
}

/* ---- files ---- */

static void check_file(const char *path)
{
    mw_error err = {0};
    const network n = make_network();
    float x[9 * D], before[9 * C], after[9 * C];
    fill(x, 9 * D, 77);
    mw_model *model = make_model(16, 4, MW_DEVICE_CPU, &err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    predict(predictor, x, 9, before, &err);
    mw_model_write(model, path, NULL, &err);
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
    const mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    mw_model_options options = mw_model_defaults();
    options.compile = &compile;
    options.batch = 4;
    model = mw_model_open(path, &options, &err);
    predictor = mw_predictor_create(model, &err);
    predict(predictor, x, 9, after, &err);
    CHECK_OK(err);
    check_scores(&n, x, 9, after, 1e-5, __LINE__);
    CHECK(memcmp(before, after, sizeof before) == 0);
    CHECK_INT(mw_tensor_shape(mw_graph_find(mw_model_get_info(model).graph, "x")).dim[0], 16);
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
}

static void test_files(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    check_file("model");
    mw_error err = {0};
    mw_model *model = mw_model_open("model/model.mil", NULL, &err);
    CHECK_OK(err);
    mw_model_destroy(model);
    model = make_model(16, 4, MW_DEVICE_CPU, &err);
    const bool without = mw_model_write(model, "a.mlpackage", NULL, &err) == MW_ERROR_UNSUPPORTED;
    mw_model_destroy(model);
    if (!without)
        check_file("b.mlpackage");
    if (!without)
        check_file("c.onnx");
    folder_leave(folder);
    if (without)
        SKIP("built without protobuf-c: neither packages nor ONNX");
}

/* A graph with parameters and running statistics: what is read back predicts what the model does, by itself. */
static void test_parameters_are_written_with_their_values(void)
{
    static const char *const paths[] = {"built_mil", "built.mlpackage", "built.onnx"};
    char folder[512];
    REQUIRE(folder_enter(folder));
    mw_error err = {0};
    mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    compile.seed = 77;
    mw_model_options options = mw_model_defaults();
    options.compile = &compile;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, D));
    mw_output(mw_dense(mw_relu(mw_batch_norm_layer(mw_dense(x, 8, "fc1"), 0.1f, 1e-5f, "bn")), C, "fc2"), "scores");
    mw_graph *evaluation = mw_graph_evaluation(graph, &err);
    mw_model *model = mw_model_create(evaluation, &options, &err);
    REQUIRE(CHECK_OK(err) && model != NULL);
    float in[3 * D], want[3 * C], got[3 * C];
    fill(in, 3 * D, 1);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    predict(predictor, in, 3, want, &err);
    mw_predictor_destroy(predictor);
    compile.seed = 1; /* nothing is drawn any more */
    for (int i = 0; i < 3; i++) {
        if (mw_model_write(model, paths[i], NULL, &err) == MW_ERROR_UNSUPPORTED && i > 0) {
            err = (mw_error){0}; /* built without protobuf-c */
            continue;
        }
        mw_model *back = mw_model_open(paths[i], &options, &err);
        REQUIRE(CHECK_OK(err) && back != NULL);
        CHECK_INT(mw_model_get_info(back).port_count, 2);
        predictor = mw_predictor_create(back, &err);
        predict(predictor, in, 3, got, &err);
        CHECK_OK(err);
        for (int k = 0; k < 3 * C; k++) /* constants are summed in another order */
            CHECK_NEAR((double)got[k], (double)want[k], 1e-5);
        mw_predictor_destroy(predictor);
        mw_model_destroy(back);
    }
    mw_model_destroy(model);
    mw_graph_destroy(evaluation);
    mw_graph_destroy(graph);
    folder_leave(folder);
}

/* ---- memory ---- */

static void test_every_allocation_may_fail(void)
{
    const network n = make_network();
    for (long at = 0; at < 20000; at++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        float x[3 * D], scores[3 * C];
        fill(x, 3 * D, 1);
        mw_graph *graph = make_graph(&n, 4, NULL);
        mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
        compile.allocator = &allocator;
        mw_model_options options = mw_model_defaults();
        options.compile = &compile;
        options.batch = 2;
        failing.fail_at = at;
        mw_model *model = mw_model_create(graph, &options, &err);
        mw_predictor *predictor = mw_predictor_create(model, &err);
        if (predictor != NULL)
            predict(predictor, x, 3, scores, &err);
        CHECK_INT(err.status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        mw_predictor_destroy(predictor);
        mw_model_destroy(model);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
        if (!failing.failed || check_global.failures_here > 5)
            return;
    }
    CHECK(false);
}

int main(void)
{
    RUN(test_any_number_of_examples);
    RUN(test_on_the_model_of_the_ane);
    RUN(test_results_are_those_that_are_listed);
    RUN(test_ports_are_those_of_a_run);
    RUN(test_threads_on_one_model);
    RUN(test_a_predictor_outlives_its_model);
    RUN(test_states_belong_to_the_predictor);
    RUN(test_shapes_are_chosen);
    RUN(test_a_program_that_keeps_its_batch);
    RUN(test_a_bad_call_is_refused);
    RUN(test_bad_options_are_refused);
    RUN(test_files);
    RUN(test_parameters_are_written_with_their_values);
    RUN(test_every_allocation_may_fail);
    return check_finish();
}
