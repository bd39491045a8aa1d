/* Models that PyTorch 1.13 exported (tests/data/onnx/models.py) against what PyTorch computed. */
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <stdlib.h>

typedef struct recorded {
    const char *name;
    mw_shape x, y;
    double tolerance; /* sums in another order */
    bool integers;    /* x is of indices */
} recorded;

static float *read_floats(const char *name, size_t count)
{
    char path[512];
    snprintf(path, sizeof path, MW_TESTS_DIR "/data/onnx/%s.f32", name);
    float *values = calloc(count, sizeof *values);
    FILE *file = fopen(path, "rb");
    const size_t got = file != NULL ? fread(values, sizeof *values, count, file) : 0;
    if (file != NULL)
        fclose(file);
    if (got == count)
        return values;
    free(values);
    return NULL;
}

static mw_graph *read_model(const recorded *r, mw_error *err)
{
    char path[512];
    const mw_onnx_extent extents[] = {{"batch", r->x.dim[0]}, {"time", r->x.dim[1]}};
    mw_onnx_options options = mw_onnx_defaults();
    options.extents = extents;
    options.extent_count = 2;
    snprintf(path, sizeof path, MW_TESTS_DIR "/data/onnx/%s.onnx", r->name);
    return mw_onnx_read(path, &options, err);
}

static void feed(mw_program *program, const recorded *r, const float *x, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(r->x);
    int64_t *whole = calloc(count, sizeof *whole);
    for (size_t i = 0; i < count; i++)
        whole[i] = (int64_t)x[i];
    mw_program_write(program, "x", r->integers ? MW_I64 : MW_F32, r->integers ? (const void *)whole : x, count, err);
    free(whole);
}

static void compare(const recorded *r, const float *actual, const float *expected)
{
    double worst = 0;
    for (int64_t i = 0; i < mw_shape_count(r->y); i++)
        worst = fmax(worst, fabs((double)actual[i] - (double)expected[i]) / (1 + fabs((double)expected[i])));
    check_note(worst <= r->tolerance, __FILE__, __LINE__, "%s is off by %g, more than %g", r->name, worst,
               r->tolerance);
}

static void check_model(const recorded *r)
{
    mw_error err = {0};
    const size_t inputs = (size_t)mw_shape_count(r->x), outputs = (size_t)mw_shape_count(r->y);
    float *values = read_floats(r->name, inputs + outputs), *y = calloc(outputs, sizeof *y);
    mw_graph *graph = values != NULL ? read_model(r, &err) : NULL;
    mw_program *program = graph != NULL ? engine_compile(graph, MW_DEVICE_CPU, 1, &err) : NULL;
    CHECK(values != NULL);
    if (program != NULL) {
        feed(program, r, values, &err);
        mw_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, outputs, &err);
        compare(r, y, values + inputs);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    free(values);
    free(y);
}

static bool reads_onnx(void)
{
    mw_error err = {0};
    mw_graph_destroy(mw_onnx_read(MW_TESTS_DIR "/data/onnx/mlp.onnx", NULL, &err));
    return strstr(err.message, "built without") == NULL;
}

static void test_exported_models_compute_what_pytorch_does(void)
{
    const recorded models[] = {
        {"mlp", MW_SHAPE(3, 12), MW_SHAPE(3, 5), 1e-6, false},
        {"cnn", MW_SHAPE(2, 1, 14, 14), MW_SHAPE(2, 5), 1e-5, false},
        {"mobile", MW_SHAPE(2, 3, 12, 12), MW_SHAPE(2, 5), 1e-5, false},
        {"recurrent", MW_SHAPE(2, 7, 6), MW_SHAPE(2, 7, 3), 1e-5, false},
        {"attention", MW_SHAPE(2, 6), MW_SHAPE(2, 6, 8), 1e-5, true},
    };
    if (!reads_onnx())
        SKIP("built without protobuf-c");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check_model(&models[i]);
}

/* Weights keep their names, dots included, and can be trained and adapted. */
static void test_weights_of_an_exported_model_can_be_trained(void)
{
    const recorded mlp = {"mlp", MW_SHAPE(3, 12), MW_SHAPE(3, 5), 0, false};
    const char *const head[] = {"fc2.*"}, *const products[] = {"*.weight"};
    mw_error err = {0};
    if (!reads_onnx())
        SKIP("built without protobuf-c");
    mw_graph *graph = read_model(&mlp, &err);
    REQUIRE(graph != NULL);
    mw_tune_options tune = mw_tune_defaults(head, 1);
    mw_graph *tuned = mw_graph_trainable(graph, &tune, &err);
    CHECK(tuned != NULL && mw_graph_find(tuned, "fc2.weight") != NULL && mw_graph_find(tuned, "fc2.bias") != NULL);
    mw_lora_options lora = mw_lora_defaults(products, 1);
    mw_graph *adapted = mw_graph_lora(graph, &lora, &err);
    CHECK(adapted != NULL && mw_graph_find(adapted, "fc1.lora_A.weight") != NULL);
    CHECK_OK(err);
    mw_graph_destroy(adapted);
    mw_graph_destroy(tuned);
    mw_graph_destroy(graph);
}

/* 50 steps on the recorded images of the mobile net: the loss falls, and what was trained is written and read again. */
static void check_training(const mw_graph *source, mw_graph *graph, const float *x)
{
    static const int32_t labels[] = {3, 1};
    mw_error err = {0};
    float first = 0, loss = 0;
    mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = 864, .scale = 1.0f},
                       {.name = "labels", .dtype = MW_I32, .data = labels, .count = 2, .scale = 1.0f}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = 2};
    REQUIRE(graph != NULL);
    mw_tensor *logits = mw_graph_output_at(graph, 0);
    mw_tensor *loss_tensor = mw_cross_entropy(logits, mw_input(graph, "labels", MW_I32, MW_SHAPE(2)));
    mw_trainer *trainer = engine_trainer(loss_tensor, mw_adam(0.02f), MW_DEVICE_CPU, 1, &err);
    mw_trainer_step(trainer, &batch, &first, &err);
    for (int i = 1; i < 50; i++)
        mw_trainer_step(trainer, &batch, &loss, &err);
    mw_trainer_write_tuned(trainer, source, "tuned", &err);
    mw_graph *tuned = mw_graph_read_mil("tuned/model.mil", NULL, &err);
    CHECK(tuned != NULL && mw_graph_verify(tuned, &err) == MW_OK);
    CHECK_OK(err);
    CHECK(loss < 0.5f * first);
    mw_graph_destroy(tuned);
    mw_trainer_destroy(trainer);
}

static void test_an_exported_model_is_fine_tuned(void)
{
    const recorded mobile = {"mobile", MW_SHAPE(2, 3, 12, 12), MW_SHAPE(2, 5), 0, false};
    const char *const head[] = {"head.*"}, *const products[] = {"blocks.*.expand.weight", "head.weight"};
    mw_error err = {0};
    char folder[512];
    if (!reads_onnx())
        SKIP("built without protobuf-c");
    float *x = read_floats("mobile", 864);
    mw_graph *source = read_model(&mobile, &err);
    REQUIRE(x != NULL && source != NULL && folder_enter(folder));
    const mw_tune_options tune = mw_tune_defaults(head, 1);
    mw_graph *graph = mw_graph_trainable(source, &tune, &err);
    check_training(source, graph, x);
    mw_graph_destroy(graph);
    const mw_lora_options lora = mw_lora_defaults(products, 2);
    graph = mw_graph_lora(source, &lora, &err);
    CHECK_OK(err);
    check_training(source, graph, x);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
    folder_leave(folder);
    free(x);
}

/* The shapes that a transformer computes in its graph are carried out while it is read. */
static void test_computed_shapes_leave_no_operation(void)
{
    const recorded attention = {"attention", MW_SHAPE(2, 6), MW_SHAPE(2, 6, 8), 0, true};
    mw_error err = {0};
    if (!reads_onnx())
        SKIP("built without protobuf-c");
    mw_graph *graph = read_model(&attention, &err);
    REQUIRE(graph != NULL);
    char *text = mw_graph_print_mil(graph, NULL, &err);
    REQUIRE(text != NULL);
    static const char *const words[] = {" shape(", " concat(", "int32 [2] real_div", " expand_dims("};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        check_note(strstr(text, words[i]) == NULL, __FILE__, __LINE__, "%s is in the program", words[i]);
    mw_string_free(text);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_exported_models_compute_what_pytorch_does);
    RUN(test_weights_of_an_exported_model_can_be_trained);
    RUN(test_an_exported_model_is_fine_tuned);
    RUN(test_computed_shapes_leave_no_operation);
    return check_finish();
}
