/* A program with a new head and adapters, trained and written as one whole model: what is read back has no adapter, and
 * computes what the trainer predicts. */
#include "runtime/files.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4, IN = 6, HIDDEN = 5, OLD = 3, NEW = 2 };

static float x[N * IN];
static const int32_t y[N] = {0, 1, 1, 0};

static mw_tensor *constant(mw_graph *graph, const char *name, mw_shape shape)
{
    static float values[HIDDEN * IN];
    for (int i = 0; i < HIDDEN * IN; i++)
        values[i] = (float)(i * 5 % 13 - 6) / 8;
    return mw_name(mw_constant(graph, MW_F32, shape, values), name);
}

/* x -> "fc1" -> relu -> "fc2" [3], with parameters, or with constants as a program that was read has them. */
static mw_graph *make_source(bool constants)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *in = mw_input(graph, "x", MW_F32, MW_SHAPE(N, IN));
    if (!constants) {
        mw_output(mw_dense(mw_relu(mw_dense(in, HIDDEN, "fc1")), OLD, "fc2"), "features");
        return graph;
    }
    mw_tensor *hidden = mw_linear(in, constant(graph, "fc1_weight", MW_SHAPE(HIDDEN, IN)),
                                  constant(graph, "fc1_bias", MW_SHAPE(HIDDEN)));
    mw_output(mw_linear(mw_relu(hidden), constant(graph, "fc2_weight", MW_SHAPE(OLD, HIDDEN)), NULL), "features");
    return graph;
}

static mw_graph *adapt(const mw_graph *source, bool constants, mw_error *err)
{
    static const char *const dotted[] = {"fc1.weight", "fc2.weight"}, *const text[] = {"fc1_weight", "fc2_weight"};
    mw_lora_options options = mw_lora_defaults(constants ? text : dotted, 2);
    options.rank = 2;
    return mw_graph_lora(source, &options, err);
}

static mw_graph *trainable(const mw_graph *source, mw_error *err)
{
    static const char *const all[] = {"*"};
    const mw_tune_options options = mw_tune_defaults(all, 1);
    return mw_graph_trainable(source, &options, err);
}

static mw_trainer *train(mw_graph *graph, int steps, mw_error *err)
{
    mw_tensor *head = mw_dense(mw_graph_output_at(graph, 0), NEW, "head");
    mw_tensor *labels = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(head, labels), mw_adam(0.05f));
    options.prediction = head;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = N * IN},
                             {.name = "y", .dtype = MW_I32, .data = y, .count = N}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = N};
    for (int i = 0; i < steps && trainer != NULL; i++)
        mw_trainer_step(trainer, &batch, NULL, err);
    return trainer;
}

static void predict(mw_trainer *trainer, float *out, mw_error *err)
{
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = N * IN};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = N};
    mw_trainer_predict(trainer, &batch, MW_F32, out, N * NEW, err);
}

/* What is written takes one example; here it is given all at once. */
static void run_graph(const mw_graph *written, float *out, mw_error *err)
{
    const mw_tensor *input = mw_graph_input_at(written, 0);
    CHECK_INT(input != NULL ? mw_tensor_shape(input).dim[0] : 0, 1);
    mw_graph *graph = input != NULL ? mw_graph_rebatch(written, N, err) : NULL;
    if (graph == NULL)
        return;
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_CPU;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_program_write(program, "x", MW_F32, x, N * IN, err);
    mw_program_run(program, err);
    mw_program_read(program, mw_tensor_name(mw_graph_output_at(graph, 0)), MW_F32, out, N * NEW, err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* Runs what was written. */
static void run_written(const char *path, float *out, mw_error *err)
{
    mw_graph *graph = mw_graph_open_mil(path, NULL, err);
    run_graph(graph, out, err);
    mw_graph_destroy(graph);
}

/* The package computes the same bits as the folder, and without adapters the bits of the trainer. */
static void check_package(mw_trainer *trainer, const float *want)
{
    mw_error err = {0};
    float got[N * NEW] = {0};
    if (mw_trainer_export(trainer, NULL, scratch("whole.mlpackage"), NULL, &err) == MW_ERROR_UNSUPPORTED) {
        CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "without protobuf-c");
        return;
    }
    mw_coreml *model = mw_coreml_open(scratch("whole.mlpackage"), NULL, &err);
    run_graph(mw_coreml_graph(model, &err), got, &err);
    CHECK_OK(err);
    CHECK(memcmp(got, want, sizeof got) == 0);
    mw_coreml_destroy(model);
    mw_write_options unset = {0};
    CHECK_INT(mw_trainer_export(trainer, NULL, scratch("whole.mlpackage"), &unset, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK_INT(mw_trainer_export(trainer, NULL, NULL, NULL, &err), MW_ERROR_ARGUMENT);
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void check_text(const char *path)
{
    size_t size;
    unsigned char *bytes = get_file(path, &size);
    REQUIRE(bytes != NULL);
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    memcpy(text, bytes, size);
    text[size] = '\0';
    CHECK(strstr(text, "lora") == NULL);
    CHECK_INT(count_of(text, "matmul(") + count_of(text, "linear("), 3); /* two layers and the head */
    free(text);
    free(bytes);
}

static void check_whole(bool constants, bool adapters)
{
    mw_error err = {0};
    float want[N * NEW], start[N * NEW], got[N * NEW];
    mw_graph *source = make_source(constants);
    mw_graph *graph = adapters ? adapt(source, constants, &err) : trainable(source, &err);
    mw_trainer *trainer = train(graph, 0, &err);
    CHECK_OK(err);
    predict(trainer, start, &err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    graph = adapters ? adapt(source, constants, &err) : trainable(source, &err);
    trainer = train(graph, 20, &err);
    predict(trainer, want, &err);
    CHECK_OK(err);
    double moved = 0;
    for (int i = 0; i < N * NEW; i++)
        moved += (double)((want[i] - start[i]) * (want[i] - start[i]));
    CHECK(moved > 1e-2); /* else nothing was trained */
    CHECK_INT(mw_trainer_export(trainer, source, scratch("none"), NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "With NULL for the program");
    err = (mw_error){0};
    remove_model("whole");
    mw_trainer_export(trainer, NULL, scratch("whole"), NULL, &err);
    run_written(scratch("whole/model.mil"), got, &err);
    CHECK_OK(err);
    for (int i = 0; i < N * NEW; i++)
        CHECK_NEAR(got[i], want[i], 2e-6 * (1.0 + (want[i] < 0 ? -want[i] : want[i])));
    check_text(scratch("whole/model.mil"));
    check_package(trainer, adapters ? got : want);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_a_new_head_over_adapters_is_one_model(void)
{
    check_whole(false, true);
    check_whole(true, true);
}

static void test_a_new_head_over_trained_weights_is_one_model(void)
{
    check_whole(false, false);
    check_whole(true, false);
}

static void test_a_whole_model_wants_a_prediction(void)
{
    mw_error err = {0};
    mw_graph *graph = make_source(false);
    mw_tensor *labels = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    const mw_trainer_options options =
        mw_trainer_defaults(mw_cross_entropy(mw_graph_output_at(graph, 0), labels), mw_sgd(0.1f));
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    CHECK_OK(err);
    mw_trainer_export(trainer, NULL, scratch("none"), NULL, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no prediction");
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

int main(void)
{
    for (int i = 0; i < N * IN; i++)
        x[i] = (float)(i * 7 % 23 - 11) / 8;
    RUN(test_a_new_head_over_adapters_is_one_model);
    RUN(test_a_new_head_over_trained_weights_is_one_model);
    RUN(test_a_whole_model_wants_a_prediction);
    return check_finish();
}
