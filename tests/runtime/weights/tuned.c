/* The program of tuned.h. */
#include "tuned.h"

#include "base/number/fp16.h"
#include "runtime/files.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct builder {
    mw_graph *graph;
    mw_dtype dtype;
    uint32_t state;
} builder;

static float next_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)*state / 2147483648.0f;
}

/* A constant in fp32, around `middle`. */
static mw_tensor *constant(builder *b, const char *name, mw_shape shape, float middle, float spread)
{
    float values[512];
    const int64_t count = mw_shape_count(shape);
    for (int64_t i = 0; i < count; i++)
        values[i] = middle + spread * next_number(&b->state);
    if (b->dtype == MW_F32)
        return mw_name(mw_constant(b->graph, MW_F32, shape, values), name);
    uint16_t halves[512];
    for (int64_t i = 0; i < count; i++)
        halves[i] = mw__fp16_from_float(values[i]);
    return mw_name(mw_constant(b->graph, MW_F16, shape, halves), name);
}

static mw_tensor *head(builder *b, mw_tensor *h)
{
    mw_tensor *w = constant(b, "fc1_weight", MW_SHAPE(5, 48), 0.0f, 0.3f);
    h = mw_linear(h, w, constant(b, "fc1_bias", MW_SHAPE(5), 0.0f, 0.1f));
    mw_tensor *gamma = constant(b, "ln_gamma", MW_SHAPE(5), 1.0f, 0.2f);
    h = mw_layer_norm(h, MW_AXES(1), gamma, constant(b, "ln_beta", MW_SHAPE(5), 0.0f, 0.1f), 1e-3f);
    h = mw_matmul(h, constant(b, "proj", MW_SHAPE(5, 3), 0.0f, 0.8f), MW_TRANSPOSE_NONE);
    return mw_add(h, constant(b, "proj_bias", MW_SHAPE(3), 0.0f, 0.1f));
}

mw_graph *tuned_build(mw_dtype dtype, mw_opset opset, const mw_allocator *allocator, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    options.opset = opset;
    builder b = {.graph = mw_graph_create(&options, NULL), .dtype = dtype, .state = 99};
    mw_tensor *x = mw_input(b.graph, "x", MW_F32, MW_SHAPE(TUNED_N, 2, 6, 6));
    mw_tensor *h = dtype == MW_F32 ? x : mw_cast(x, dtype);
    mw_tensor *w = constant(&b, "conv_weight", MW_SHAPE(3, 2, 3, 3), 0.0f, 0.4f);
    h = mw_conv(h, w, constant(&b, "conv_bias", MW_SHAPE(3), 0.0f, 0.1f), NULL);
    mw_tensor *mean = constant(&b, "bn_mean", MW_SHAPE(3), 0.0f, 0.1f);
    mw_tensor *variance = constant(&b, "bn_variance", MW_SHAPE(3), 1.0f, 0.2f);
    mw_tensor *gamma = constant(&b, "bn_gamma", MW_SHAPE(3), 1.0f, 0.2f);
    h = mw_relu(mw_batch_norm(h, mean, variance, gamma, constant(&b, "bn_beta", MW_SHAPE(3), 0.0f, 0.1f), 1e-3f));
    h = head(&b, mw_reshape(h, MW_SHAPE(TUNED_N, 48)));
    mw_output(dtype == MW_F32 ? h : mw_cast(h, MW_F32), "logits");
    if (b.graph != NULL && mw_graph_check(b.graph, err) == MW_OK)
        return b.graph;
    mw_graph_destroy(b.graph);
    if (err->status == MW_OK)
        err->status = MW_ERROR_MEMORY;
    return NULL;
}

mw_graph *tuned_read(mw_dtype dtype, const char *folder, mw_error *err)
{
    mw_graph *built = tuned_build(dtype, MW_IOS18, NULL, err);
    char path[500];
    snprintf(path, sizeof path, "%s/model.mil", scratch(folder));
    mw_graph_write(built, scratch(folder), NULL, err);
    mw_graph_destroy(built);
    return mw_graph_open_mil(path, NULL, err);
}

void tuned_fill(tuned_data *out)
{
    uint32_t state = 5;
    for (int i = 0; i < TUNED_N * TUNED_X; i++)
        out->x[i] = next_number(&state);
    for (int i = 0; i < TUNED_N; i++)
        out->labels[i] = i % TUNED_C;
    out->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = out->x, .count = TUNED_N * TUNED_X, .scale = 1.0f};
    out->feeds[1] = (mw_feed){.name = "labels", .dtype = MW_I32, .data = out->labels, .count = TUNED_N, .scale = 1.0f};
    out->batch = (mw_batch){.feeds = out->feeds, .feed_count = 2, .examples = TUNED_N};
}

mw_trainer *tuned_trainer(mw_graph *graph, mw_device device, float rate, mw_error *err)
{
    mw_tensor *logits = mw_graph_output_at(graph, 0);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(TUNED_N));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, labels), mw_sgd(rate));
    options.prediction = logits;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    options.compile.seed = 3;
    return mw_trainer_create(&options, err);
}

bool tuned_run(const mw_graph *graph, mw_device device, float out[TUNED_LOGITS], mw_error *err)
{
    tuned_data data;
    mw_compile_options options = mw_compile_defaults();
    options.device = device;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1;
    tuned_fill(&data);
    mw_program *program = mw_program_create(graph, &options, err);
    mw_program_write(program, "x", MW_F32, data.x, TUNED_N * TUNED_X, err);
    mw_program_run(program, err);
    mw_program_read(program, "logits", MW_F32, out, TUNED_LOGITS, err);
    mw_program_destroy(program);
    return CHECK_OK(*err);
}

float tuned_steps(mw_trainer *trainer, int steps, mw_error *err)
{
    tuned_data data;
    float loss = 0.0f;
    tuned_fill(&data);
    for (int i = 0; i < steps; i++)
        mw_trainer_step(trainer, &data.batch, &loss, err);
    return loss;
}

double tuned_distance(const float *a, const float *b, size_t count)
{
    double most = 0.0, largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        largest = fmax(largest, fabs((double)b[i]));
    }
    return most / largest;
}

/* ---- the program of the corpus ---- */

const mw_input_shape tuned_mnist_batch = {"Input3", {.rank = 4, .dim = {TUNED_BATCH, 1, 28, 28}}};

static mw_trainer *mnist_trainer(mw_graph *graph, mw_error *err)
{
    mw_tensor *logits = mw_graph_output_at(graph, 0), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(TUNED_BATCH));
    CHECK_INT(mw_tensor_shape(logits).dim[0], TUNED_BATCH);
    mw_trainer_options training = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(1e-2f));
    training.prediction = logits;
    training.compile.provider = MW_PROVIDER_ENGINE;
    return mw_trainer_create(&training, err);
}

static void check_written(const char *folder, const float *x, const float *expected, mw_error *err)
{
    char path[512];
    float actual[10];
    snprintf(path, sizeof path, "%s/model.mil", folder);
    mw_graph *tuned = mw_graph_open_mil(path, NULL, err);
    mw_program *program = mw_program_create(tuned, NULL, err);
    for (int i = 0; i < TUNED_BATCH; i++) {
        mw_program_write(program, "Input3", MW_F32, x + (size_t)i * TUNED_PIXELS, TUNED_PIXELS, err);
        mw_program_run(program, err);
        mw_program_read(program, "Plus214_Output_0", MW_F32, actual, 10, err);
        CHECK_NEAR(tuned_distance(actual, expected + (size_t)i * 10, 10), 0.0, 1e-5); /* products of 1 row and of 8 */
    }
    mw_program_destroy(program);
    mw_graph_destroy(tuned);
}

void tuned_check_mnist(const mw_graph *source, mw_graph *graph, const char *folder, mw_error *err)
{
    static float x[TUNED_BATCH * TUNED_PIXELS];
    int32_t labels[TUNED_BATCH];
    uint32_t state = 1;
    for (int i = 0; i < TUNED_BATCH * TUNED_PIXELS; i++)
        x[i] = (float)((state = state * 1664525u + 1013904223u) >> 24) / 255.0f;
    for (int i = 0; i < TUNED_BATCH; i++)
        labels[i] = i;
    const mw_feed feeds[] = {
        {.name = "Input3", .dtype = MW_F32, .data = x, .count = TUNED_BATCH * TUNED_PIXELS, .scale = 1.0f},
        {.name = "y", .dtype = MW_I32, .data = labels, .count = TUNED_BATCH, .scale = 1.0f}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = TUNED_BATCH};
    mw_trainer *trainer = mnist_trainer(graph, err);
    float first = 0.0f, loss = 0.0f, expected[TUNED_BATCH * 10];
    mw_trainer_step(trainer, &batch, &first, err);
    for (int i = 0; i < 30; i++)
        mw_trainer_step(trainer, &batch, &loss, err);
    CHECK(loss < 0.7f * first);
    mw_trainer_predict(trainer, &batch, MW_F32, expected, TUNED_BATCH * 10, err);
    mw_trainer_export(trainer, source, folder, NULL, err);
    check_written(folder, x, expected, err);
    mw_trainer_destroy(trainer);
}
