/* Models that PyTorch 1.13 exported (tests/data/onnx/models.py) against what PyTorch computed. */
#include "onnx_recorded.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <stdlib.h>

static void check_model(const onnx_recorded *r)
{
    mw_error err = {0};
    float *values = onnx_recorded_values(r), *y = NULL;
    mw_graph *graph = onnx_recorded_graph(r, &err);
    if (CHECK(values != NULL) && graph != NULL) {
        y = onnx_recorded_run(r, graph, values, &err);
        onnx_recorded_compare(r, y, values + mw_shape_count(r->x), r->tolerance, "from PyTorch");
    }
    CHECK_OK(err);
    mw_graph_destroy(graph);
    free(values);
    free(y);
}

static void test_exported_models_compute_what_pytorch_does(void)
{
    const onnx_recorded models[] = {
        {"mlp", MW_SHAPE(3, 12), MW_SHAPE(3, 5), 1e-6, false, NULL},
        {"cnn", MW_SHAPE(2, 1, 14, 14), MW_SHAPE(2, 5), 1e-5, false, NULL},
        {"mobile", MW_SHAPE(2, 3, 12, 12), MW_SHAPE(2, 5), 1e-5, false, NULL},
        {"recurrent", MW_SHAPE(2, 7, 6), MW_SHAPE(2, 7, 3), 1e-5, false, NULL},
        {"attention", MW_SHAPE(2, 6), MW_SHAPE(2, 6, 8), 1e-5, true, NULL},
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check_model(&models[i]);
}

/* Weights keep their names, dots included, and can be trained and adapted. */
static void test_weights_of_an_exported_model_can_be_trained(void)
{
    const onnx_recorded mlp = {"mlp", MW_SHAPE(3, 12), MW_SHAPE(3, 5), 0, false, NULL};
    const char *const head[] = {"fc2.*"}, *const products[] = {"*.weight"};
    mw_error err = {0};
    mw_graph *graph = onnx_recorded_graph(&mlp, &err);
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
    mw_trainer_export(trainer, source, "tuned", NULL, &err);
    mw_graph *tuned = mw_graph_open_mil("tuned/model.mil", NULL, &err);
    CHECK(tuned != NULL && mw_graph_verify(tuned, &err) == MW_OK);
    CHECK_OK(err);
    CHECK(loss < 0.5f * first);
    mw_graph_destroy(tuned);
    mw_trainer_destroy(trainer);
}

static void test_an_exported_model_is_fine_tuned(void)
{
    const onnx_recorded mobile = {"mobile", MW_SHAPE(2, 3, 12, 12), MW_SHAPE(2, 5), 0, false, NULL};
    const char *const head[] = {"head.*"}, *const products[] = {"blocks.*.expand.weight", "head.weight"};
    mw_error err = {0};
    char folder[512];
    float *x = onnx_recorded_values(&mobile);
    mw_graph *source = onnx_recorded_graph(&mobile, &err);
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
    const onnx_recorded attention = {"attention", MW_SHAPE(2, 6), MW_SHAPE(2, 6, 8), 0, true, NULL};
    mw_error err = {0};
    mw_graph *graph = onnx_recorded_graph(&attention, &err);
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
