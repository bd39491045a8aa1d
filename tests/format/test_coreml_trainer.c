/* What a trainer has learned as a package: the prediction of a network that was built, read again, gives the bits that
 * the trainer gives; layers on top of adapters are in it; a refused write leaves the old package. */
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>

enum { BATCH = 4, D = 6, C = 3, STEPS = 5 };

typedef struct data {
    float x[BATCH * D];
    int32_t y[BATCH];
    mw_feed feeds[2];
    mw_batch batch;
} data;

static void fill(data *d)
{
    uint32_t state = 5;
    for (int i = 0; i < BATCH * D; i++) {
        state = state * 1664525u + 1013904223u;
        d->x[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
    }
    for (int i = 0; i < BATCH; i++)
        d->y[i] = i % C;
    d->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = d->x, .count = BATCH * D};
    d->feeds[1] = (mw_feed){.name = "y", .dtype = MW_I32, .data = d->y, .count = BATCH};
    d->batch = (mw_batch){.feeds = d->feeds, .feed_count = 2, .examples = BATCH};
}

static mw_graph *build(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(BATCH, D));
    mw_name(mw_dropout(mw_tanh(mw_dense(x, 8, "fc1")), 0.5f, "drop"), "hidden");
    return graph;
}

/* A trainer of a class for each example, with what `graph` calls "hidden" below its last layer. */
static mw_trainer *train(mw_graph *graph, const data *d, mw_error *err)
{
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(BATCH));
    mw_tensor *scores = mw_name(mw_dense(mw_graph_find(graph, "hidden"), C, "fc2"), "scores");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(scores, y), mw_adam(1e-2f));
    options.prediction = scores;
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    mw_trainer *trainer = mw_trainer_create(&options, err);
    for (int i = 0; i < STEPS; i++)
        mw_trainer_step(trainer, &d->batch, NULL, err);
    return trainer;
}

static void read_again(const char *path, int64_t batch, const data *d, float *scores, mw_error *err)
{
    const mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    mw_model_options options = mw_model_defaults();
    options.compile = &compile;
    options.batch = batch;
    mw_model *model = mw_model_open(path, &options, err);
    mw_predictor *predictor = mw_predictor_create(model, err);
    const mw_result result = {"scores", MW_F32, scores, BATCH * C};
    mw_predictor_predict(predictor, &d->batch, &result, 1, err);
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
}

static void test_the_prediction_is_a_package(void)
{
    char folder[512];
    data d;
    float predicted[BATCH * C] = {0}, read[BATCH * C] = {0}, one[BATCH * C] = {0};
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    fill(&d);
    mw_graph *graph = build();
    mw_trainer *trainer = train(graph, &d, &err);
    mw_description said = mw_description_defaults();
    mw_write_options options = mw_write_defaults();
    said.author = "Nobody";
    options.description = &said;
    mw_trainer_predict(trainer, &d.batch, MW_F32, predicted, BATCH * C, &err);
    mw_trainer_export(trainer, NULL, "net.mlpackage", &options, &err);
    read_again("net.mlpackage", BATCH, &d, read, &err);
    read_again("net.mlpackage", 1, &d, one, &err);
    CHECK_OK(err);
    CHECK(memcmp(predicted, read, sizeof read) == 0);
    for (int i = 0; i < BATCH * C; i++)
        CHECK_NEAR(one[i], predicted[i], 1e-5); /* sums of 8 products, cut otherwise */
    options.struct_size = 1;
    CHECK_INT(mw_trainer_export(trainer, NULL, "net.mlpackage", &options, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK_INT(mw_trainer_export(trainer, NULL, NULL, NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "mw_trainer_export: no path");
    err = (mw_error){0};
    read_again("net.mlpackage", BATCH, &d, one, &err);
    CHECK(err.status == MW_OK && memcmp(one, read, sizeof read) == 0);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    folder_leave(folder);
}

/* Adapters are merged, so that the numbers are those within the rounding of one sum. */
static void test_a_new_head_over_adapters(void)
{
    static const char *const patterns[] = {"fc1.weight"};
    char folder[512];
    data d;
    float predicted[BATCH * C] = {0}, read[BATCH * C] = {0};
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    fill(&d);
    mw_graph *graph = build();
    mw_output(mw_graph_find(graph, "hidden"), "hidden");
    const mw_lora_options lora = mw_lora_defaults(patterns, 1);
    mw_graph *adapted = mw_graph_lora(graph, &lora, &err);
    mw_trainer *trainer = train(adapted, &d, &err);
    mw_trainer_predict(trainer, &d.batch, MW_F32, predicted, BATCH * C, &err);
    mw_trainer_export(trainer, NULL, "net.mlpackage", NULL, &err);
    read_again("net.mlpackage", BATCH, &d, read, &err);
    CHECK_OK(err);
    for (int i = 0; i < BATCH * C; i++)
        CHECK_NEAR(read[i], predicted[i], 1e-5);
    mw_coreml *package = mw_coreml_open("net.mlpackage", NULL, &err);
    char *text = mw_graph_print_mil(mw_coreml_graph(package, &err), NULL, &err);
    CHECK(text != NULL && strstr(text, "lora") == NULL);
    mw_string_free(text);
    mw_coreml_destroy(package);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(adapted);
    mw_graph_destroy(graph);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_the_prediction_is_a_package);
    RUN(test_a_new_head_over_adapters);
    return check_finish();
}
