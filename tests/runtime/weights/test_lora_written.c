/* Adapters on networks that the library wrote itself, in each format: all dense layers take one, whatever operations
 * the format makes of them; merged into the source they compute what the trainer predicts. */
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

enum { B = 4, IN = 6, HIDDEN = 5, OUT = 3, STEPS = 3, LAYERS = 2 };

static float xs[B * IN];
static const int32_t labels[B] = {0, 2, 1, 2};
static const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = xs, .count = B * IN},
                                {.name = "y", .dtype = MW_I32, .data = labels, .count = B}};
static const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = B};

/* A trainer on the logits, a result of `graph`. */
static mw_trainer *train(mw_graph *graph, mw_tensor *logits, mw_error *err)
{
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(B));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_sgd(0.5f));
    options.prediction = logits;
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    mw_trainer *trainer = mw_trainer_create(&options, err);
    for (int i = 0; i < STEPS; i++)
        mw_trainer_step(trainer, &batch, NULL, err);
    return trainer;
}

static void write_network(const char *path, mw_error *err)
{
    for (int i = 0; i < B * IN; i++)
        xs[i] = (float)sin(1.3 * i);
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(B, IN));
    mw_tensor *logits = mw_dense(mw_relu(mw_dense(x, HIDDEN, "fc1")), OUT, "fc2");
    mw_trainer *trainer = train(graph, mw_name(logits, "logits"), err);
    mw_write_options options = mw_write_defaults();
    options.keep_batch = true;
    mw_trainer_export(trainer, NULL, path, &options, err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void count_adapted(void *user, const mw_tune_choice *choice)
{
    *(int *)user += choice->outcome == MW_TUNE_ADAPTED;
}

static void check_merged(mw_trainer *trainer, const mw_graph *source, const char *path, mw_error *err)
{
    float wanted[B * OUT], found[B * OUT];
    mw_trainer_predict(trainer, &batch, MW_F32, wanted, B * OUT, err);
    mw_trainer_export(trainer, source, path, NULL, err);
    mw_model_options options = mw_model_defaults();
    options.batch = B;
    mw_model *model = mw_model_open(path, &options, err);
    const mw_result result = {"logits", MW_F32, found, B * OUT};
    mw_model_predict(model, &batch, &result, 1, err);
    mw_model_destroy(model);
    CHECK_OK(*err);
    for (int i = 0; i < B * OUT && err->status == MW_OK; i++)
        CHECK_NEAR(found[i], wanted[i], 1e-5 * fmax(1.0, fabs((double)wanted[i])));
}

static void check_format(const char *path, const char *merged)
{
    static const char *const patterns[] = {"fc?*weight*"};
    mw_error err = {0};
    float before[LAYERS][HIDDEN * 2];
    int adapted = 0;
    write_network(path, &err);
    mw_model_options reading = mw_model_defaults();
    reading.read_only = true;
    if (strstr(err.message, "built without protobuf-c") != NULL)
        SKIP("built without protobuf-c");
    mw_model *model = mw_model_open(path, &reading, &err);
    CHECK_OK(err);
    REQUIRE(model != NULL);
    const mw_graph *source = mw_model_get_info(model).graph;
    const mw_input_shape shape = {"x", MW_SHAPE(B, IN)};
    mw_lora_options options = mw_lora_defaults(patterns, 1);
    options.rank = 2;
    options.shapes = &shape;
    options.shape_count = 1;
    options.report = count_adapted;
    options.report_user = &adapted;
    mw_graph *graph = mw_graph_lora(source, &options, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", path, err.message);
    CHECK_INT(adapted, LAYERS);
    mw_trainer *trainer = graph != NULL ? train(graph, mw_graph_output_at(graph, 0), &err) : NULL;
    if (trainer != NULL) {
        mw_trainer_read(trainer, "fc1.lora_B.weight", MW_F32, before[0], HIDDEN * 2, &err);
        CHECK_OK(err);
        double moved = 0.0;
        for (int i = 0; i < HIDDEN * 2; i++)
            moved += fabs((double)before[0][i]);
        CHECK(moved > 1e-4); /* B starts at 0 */
        check_merged(trainer, source, merged, &err);
    }
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_model_destroy(model);
}

static void test_dense_layers_of_onnx_take_adapters(void) { check_format("net.onnx", "merged.onnx"); }
static void test_dense_layers_of_packages_take_adapters(void) { check_format("Net.mlpackage", "Merged.mlpackage"); }
static void test_dense_layers_of_mil_take_adapters(void) { check_format("net", "merged"); }

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_dense_layers_of_onnx_take_adapters);
    RUN(test_dense_layers_of_packages_take_adapters);
    RUN(test_dense_layers_of_mil_take_adapters);
    folder_leave(folder);
    return check_finish();
}
