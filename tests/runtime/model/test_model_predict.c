/* Predicting with a model in one call: the bits of a predictor, states from their first values, several threads, and
 * what is refused. */
#include "support/check.h"
#include "support/failing.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <pthread.h>

enum { D = 5, C = 3, MOST = 20, THREADS = 4, ROUNDS = 12 };

static void fill(float *out, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        out[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
}

static mw_graph *make_graph(int64_t batch, const mw_allocator *allocator)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    mw_graph *graph = mw_graph_create(&options, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(batch, D));
    mw_output(mw_dense(mw_tanh(mw_dense(x, 9, "fc1")), C, "fc2"), "scores");
    return graph;
}

static mw_model *make_model(int64_t batch, mw_device device, bool read_only, mw_error *err)
{
    const mw_compile_options compile = engine_options(device, 1);
    mw_model_options options = mw_model_defaults();
    options.compile = &compile;
    options.batch = batch;
    options.read_only = read_only;
    mw_graph *graph = make_graph(4, NULL);
    mw_model *model = mw_model_create(graph, &options, err);
    mw_graph_destroy(graph);
    return model;
}

typedef struct call {
    mw_feed feed;
    mw_batch batch;
    mw_result result;
} call;

static const call *make_call(call *c, const float *x, int64_t examples, float *scores)
{
    c->feed = (mw_feed){.name = "x", .dtype = MW_F32, .data = x, .count = (size_t)examples * D};
    c->batch = (mw_batch){.feeds = &c->feed, .feed_count = 1, .examples = examples};
    c->result = (mw_result){"scores", MW_F32, scores, (size_t)examples * C};
    return c;
}

static mw_status predict(mw_model *model, const float *x, int64_t examples, float *scores, mw_error *err)
{
    call c;
    make_call(&c, x, examples, scores);
    return mw_model_predict(model, &c.batch, &c.result, 1, err);
}

static mw_status predict_by_predictor(mw_model *model, const float *x, int64_t examples, float *scores, mw_error *err)
{
    call c;
    make_call(&c, x, examples, scores);
    mw_predictor *predictor = mw_predictor_create(model, err);
    const mw_status status = mw_predictor_predict(predictor, &c.batch, &c.result, 1, err);
    mw_predictor_destroy(predictor);
    return status;
}

/* ---- the bits of a predictor ---- */

static void check_bits(int64_t batch, mw_device device)
{
    static const int64_t counts[] = {1, 2, 7, 8, 9, MOST};
    mw_error err = {0};
    mw_model *model = make_model(batch, device, false, &err);
    float x[MOST * D], wanted[MOST * C], got[MOST * C];
    fill(x, MOST * D, 3);
    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        const int64_t examples = counts[i / 2];
        memset(wanted, 0, sizeof wanted);
        memset(got, 0xff, sizeof got);
        predict_by_predictor(model, x, examples, wanted, &err);
        CHECK_INT(predict(model, x, examples, got, &err), MW_OK);
        CHECK(memcmp(got, wanted, (size_t)examples * C * sizeof *got) == 0);
        for (size_t k = (size_t)examples * C; k < MOST * C; k++)
            CHECK(isnan(got[k])); /* nothing is written behind them */
    }
    CHECK_OK(err);
    mw_model_destroy(model);
}

static void test_the_bits_are_those_of_a_predictor(void)
{
    check_bits(0, MW_DEVICE_CPU);
    check_bits(8, MW_DEVICE_CPU);
    check_bits(8, MW_DEVICE_ANE);
}

/* ---- states ---- */

/* y = x + s, s = y: running sums of each of two numbers. */
static const char sums[] = "program(1.3){func main<ios18>(tensor<fp16, [1, 2]> x, state<tensor<fp16, [1, 2]>> s){"
                           "tensor<fp16, [1, 2]> before = read_state(input = s);"
                           "tensor<fp16, [1, 2]> y = add(x = x, y = before);"
                           "write_state(data = y, input = s);} -> (y);}";

static void test_states_start_at_their_first_values_in_each_call(void)
{
    mw_error err = {0};
    const mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    mw_model_options options = mw_model_defaults();
    options.compile = &compile;
    mw_graph *graph = mw_graph_parse_mil(sums, strlen(sums), NULL, NULL, &err);
    mw_model *model = mw_model_create(graph, &options, &err);
    const float x[] = {1, 2, 3, 4, 5, 6};
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = 6};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 3};
    for (int i = 0; i < 3; i++) {
        float y[6] = {0};
        const mw_result result = {"y", MW_F32, y, 6};
        CHECK_INT(mw_model_predict(model, &batch, &result, 1, &err), MW_OK);
        CHECK(y[0] == 1 && y[1] == 2 && y[2] == 4 && y[3] == 6 && y[4] == 9 && y[5] == 12);
    }
    CHECK_OK(err);
    mw_model_destroy(model);
    mw_graph_destroy(graph);
}

/* ---- threads ---- */

typedef struct worker {
    pthread_t thread;
    mw_model *model;
    float x[MOST * D], truth[MOST * C];
    int64_t examples;
    mw_status status;
    bool same;
} worker;

static void *work(void *user)
{
    worker *w = user;
    mw_error err = {0};
    float scores[MOST * C];
    w->same = true;
    for (int i = 0; i < ROUNDS && err.status == MW_OK; i++) {
        memset(scores, 0, sizeof scores);
        predict(w->model, w->x, w->examples, scores, &err);
        w->same = w->same && memcmp(scores, w->truth, (size_t)w->examples * C * sizeof *scores) == 0;
    }
    w->status = err.status;
    return NULL;
}

static void test_threads_may_call_it_at_once(void)
{
    static worker workers[THREADS];
    mw_error err = {0};
    mw_model *model = make_model(8, MW_DEVICE_CPU, false, &err);
    for (int i = 0; i < THREADS; i++) {
        workers[i].model = model;
        workers[i].examples = MOST - 4 + i; /* 17 of runs of 8 leave one, which has a plan of its own */
        fill(workers[i].x, MOST * D, 100 + (uint32_t)i);
        predict_by_predictor(model, workers[i].x, workers[i].examples, workers[i].truth, &err);
    }
    CHECK_OK(err);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].status == MW_OK && workers[i].same);
    }
    mw_model_destroy(model);
}

/* ---- what is refused ---- */

#define REFUSED(wanted, part, ...)                                                                                     \
    do {                                                                                                               \
        mw_error_clear(&err);                                                                                          \
        CHECK_INT((__VA_ARGS__), (wanted));                                                                            \
        CHECK_ERROR(err, (wanted), (part));                                                                            \
    } while (0)

static void test_a_bad_call_is_refused_by_its_name(void)
{
    mw_error err = {0};
    float x[3 * D], scores[3 * C];
    call c;
    fill(x, 3 * D, 5);
    make_call(&c, x, 3, scores);
    mw_model *model = make_model(2, MW_DEVICE_CPU, false, &err);
    REFUSED(MW_ERROR_ARGUMENT, "mw_model_predict: the batch is NULL",
            mw_model_predict(model, NULL, &c.result, 1, &err));
    REFUSED(MW_ERROR_ARGUMENT, "mw_model_predict: the results", mw_model_predict(model, &c.batch, NULL, 1, &err));
    c.result.count--;
    REFUSED(MW_ERROR_SHAPE, "has 9 elements, not 8", mw_model_predict(model, &c.batch, &c.result, 1, &err));
    c.result = (mw_result){"score", MW_F32, scores, 3 * C};
    REFUSED(MW_ERROR_ARGUMENT, "no result \"score\"", mw_model_predict(model, &c.batch, &c.result, 1, &err));
    c.result = (mw_result){"scores", MW_STRING, scores, 3 * C};
    REFUSED(MW_ERROR_DTYPE, "mw_model_predict: result", mw_model_predict(model, &c.batch, &c.result, 1, &err));
    c.result.dtype = MW_F32;
    c.batch.examples = 0;
    REFUSED(MW_ERROR_ARGUMENT, "no example", mw_model_predict(model, &c.batch, &c.result, 1, &err));
    c.batch.examples = 3;
    CHECK_INT(mw_model_predict(model, &c.batch, NULL, 0, NULL), MW_OK); /* nothing is asked for, nobody asks why */
    CHECK_INT(mw_model_predict(model, NULL, NULL, 0, NULL), MW_ERROR_ARGUMENT);
    mw_error earlier = {.status = MW_ERROR_FILE};
    memset(scores, 0, sizeof scores);
    CHECK_INT(mw_model_predict(model, &c.batch, &c.result, 1, &earlier), MW_ERROR_FILE);
    for (int i = 0; i < 3 * C; i++)
        CHECK(scores[i] == 0.0f);
    mw_model_destroy(model);
}

static void test_models_that_cannot_run_are_refused(void)
{
    mw_error err = {0};
    float x[D], scores[C];
    fill(x, D, 5);
    mw_model *model = make_model(0, MW_DEVICE_CPU, true, &err);
    CHECK_OK(err);
    REFUSED(MW_ERROR_STATE, "mw_model_predict: the model was only read", predict(model, x, 1, scores, &err));
    mw_model_destroy(model);
    REFUSED(MW_ERROR_STATE, "mw_model_predict", predict(model, x, 1, scores, &err)); /* it is gone */
    CHECK_CONTAINS(err.message, "destroyed");
    REFUSED(MW_ERROR_STATE, "mw_model_predict", predict(NULL, x, 1, scores, &err));
}

static void test_a_result_has_its_old_name_in_predictors(void)
{
    mw_error err = {0};
    mw_model *model = make_model(0, MW_DEVICE_CPU, false, &err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    REFUSED(MW_ERROR_ARGUMENT, "mw_predictor_predict: the batch", mw_predictor_predict(predictor, NULL, NULL, 0, &err));
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
}

static void test_every_allocation_may_fail(void)
{
    float x[3 * D], wanted[3 * C], scores[3 * C];
    fill(x, 3 * D, 1);
    for (long at = -1; at < 20000; at++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_graph *graph = make_graph(4, NULL);
        mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
        compile.allocator = &allocator;
        mw_model_options options = mw_model_defaults();
        options.compile = &compile;
        options.batch = 2;
        mw_model *model = mw_model_create(graph, &options, &err);
        mw_graph_destroy(graph);
        const long live = failing.live;
        failing.fail_at = at < 0 ? -1 : failing.requests + at;
        const mw_status status = predict(model, x, 3, at < 0 ? wanted : scores, &err);
        CHECK_INT(status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        CHECK_INT(failing.live, live); /* of the call nothing is left */
        const bool done = at >= 0 && !failing.failed;
        CHECK(!done || memcmp(scores, wanted, sizeof scores) == 0);
        mw_model_destroy(model);
        CHECK_INT(failing.live, 0);
        if (done || check_global.failures_here > 5)
            return;
    }
    CHECK(false);
}

int main(void)
{
    RUN(test_the_bits_are_those_of_a_predictor);
    RUN(test_states_start_at_their_first_values_in_each_call);
    RUN(test_threads_may_call_it_at_once);
    RUN(test_a_bad_call_is_refused_by_its_name);
    RUN(test_models_that_cannot_run_are_refused);
    RUN(test_a_result_has_its_old_name_in_predictors);
    RUN(test_every_allocation_may_fail);
    return check_finish();
}
