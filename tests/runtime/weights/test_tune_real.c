/* Real programs, fine-tuned as their users would: the last layers, or adapters beside them; then written back as
 * programs of their own that compute what the trainer predicts. 50 steps in the nightly run, a few otherwise. */
#include "runtime/files.h"
#include "runtime/program/corpus.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tune_case {
    const char *path;         /* below MW_SHARED_DATA */
    bool weights;             /* they are there */
    const char *pattern;      /* of the weights that are trained */
    const char *lora_pattern; /* of those that are adapted */
    size_t output;            /* that is learned */
    double tolerance;         /* of the written program, beside the largest element */
} tune_case;

/* fp16 has 11 bits; what is expanded is rounded in between. */
static const tune_case cases[] = {
    {"mil/basic-pitch__nmp-from-protobuf/model.mil", false, "conv_1_*", "conv_1_weight_0", 2, 1e-4},
    {"mlpackage/silero-vad-unified-v6.0.0.mlmodelc/model.mil", true, "decoder_final_conv_*",
     "decoder_final_conv_weight*", 0, 4e-3},
};

enum { NIGHTLY_STEPS = 50, STEPS = 4, INPUTS = 8 };

static int steps(void) { return getenv("MW_NIGHTLY") != NULL ? NIGHTLY_STEPS : STEPS; }

static mw_graph *read_source(const tune_case *c, mw_error *err)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", MW_SHARED_DATA, c->path);
    if (c->weights)
        return mw_graph_open_mil(path, NULL, err);
    mw_graph *graph = corpus_read(path);
    if (graph != NULL)
        corpus_fill_weights(graph, (size_t)64 << 20);
    return graph;
}

/* ---- one batch: noise, and a constant to be predicted ---- */

typedef struct data {
    float *values[INPUTS];
    mw_feed feeds[INPUTS];
    mw_batch batch;
} data;

static void add_feed(data *d, const char *name, size_t count, float fixed)
{
    uint32_t state = 11;
    const size_t at = d->batch.feed_count++;
    d->values[at] = malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++)
        d->values[at][i] = fixed > 0.0F ? fixed : corpus_number(&state);
    d->feeds[at] = (mw_feed){.name = name, .dtype = MW_F32, .data = d->values[at], .count = count, .scale = 1.0F};
    d->batch.feeds = d->feeds;
    d->batch.examples = 1;
}

static void free_data(data *d)
{
    for (size_t i = 0; i < d->batch.feed_count; i++)
        free(d->values[i]);
}

static mw_trainer *make_trainer(mw_graph *graph, size_t output, data *d, mw_error *err)
{
    mw_tensor *y = mw_graph_output_at(graph, output), *input;
    mw_tensor *target = mw_input(graph, "target", mw_tensor_dtype(y), mw_tensor_shape(y));
    for (size_t i = 0; (input = mw_graph_input_at(graph, i)) != NULL && input != target; i++)
        add_feed(d, mw_tensor_name(input), (size_t)mw_shape_count(mw_tensor_shape(input)), 0.0F);
    add_feed(d, "target", (size_t)mw_shape_count(mw_tensor_shape(y)), 0.75F);
    mw_trainer_options options = mw_trainer_defaults(mw_mse(y, target), mw_adam(1e-2F));
    options.prediction = y;
    options.compile = engine_options(MW_DEVICE_CPU, 0);
    return mw_trainer_create(&options, err);
}

static void train(mw_trainer *trainer, const data *d, const char *who, mw_error *err)
{
    float first = 0.0F, last = 0.0F;
    for (int i = 0; i < steps(); i++)
        mw_trainer_step(trainer, &d->batch, i == 0 ? &first : &last, err);
    printf("       %s: loss %g, after %d steps %g\n", who, (double)first, steps(), (double)last);
    CHECK(last < (steps() == NIGHTLY_STEPS ? 0.7F : 0.99F) * first);
}

/* ---- written back ---- */

static double apart(const float *a, const float *b, size_t count)
{
    double most = 0.0, largest = 1e-30;
    for (size_t i = 0; i < count; i++) {
        const double difference = fabs((double)a[i] - (double)b[i]);
        most = difference > most || isnan(difference) ? difference : most;
        largest = fmax(largest, fabs((double)b[i]));
    }
    return most / largest;
}

static void run_written(const data *d, const char *output, float *y, size_t count, mw_error *err)
{
    char path[600];
    snprintf(path, sizeof path, "%s/model.mil", scratch("tuned"));
    mw_graph *tuned = mw_graph_open_mil(path, NULL, err);
    mw_program *program = tuned != NULL ? engine_compile(tuned, MW_DEVICE_CPU, 0, err) : NULL;
    for (size_t i = 0; i + 1 < d->batch.feed_count; i++) /* the target is the trainer's */
        mw_program_write(program, d->feeds[i].name, MW_F32, d->values[i], d->feeds[i].count, err);
    mw_program_run(program, err);
    mw_program_read(program, output, MW_F32, y, count, err);
    mw_program_destroy(program);
    mw_graph_destroy(tuned);
}

static void check_written(mw_trainer *trainer, const mw_graph *source, const data *d, const tune_case *c, mw_error *err)
{
    const mw_tensor *y = mw_graph_output_at(source, c->output);
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(y));
    float *predicted = calloc(count + 1, sizeof *predicted), *written = calloc(count + 1, sizeof *written);
    remove_model("tuned");
    mw_trainer_export(trainer, source, scratch("tuned"), NULL, err);
    mw_trainer_predict(trainer, &d->batch, MW_F32, predicted, count, err);
    run_written(d, mw_tensor_name(y), written, count, err);
    if (CHECK_OK(*err))
        CHECK_NEAR(apart(written, predicted, count), 0.0, c->tolerance);
    free(predicted);
    free(written);
}

static mw_graph *tunable(const tune_case *c, const mw_graph *source, bool lora, mw_error *err)
{
    mw_tune_options tune = mw_tune_defaults(&c->pattern, 1);
    mw_lora_options adapters = mw_lora_defaults(&c->lora_pattern, 1);
    tune.skip_fixed = adapters.skip_fixed = true;
    tune.dtype = adapters.dtype = MW_F32;
    return lora ? mw_graph_lora(source, &adapters, err) : mw_graph_trainable(source, &tune, err);
}

static void check_case(const tune_case *c, bool lora)
{
    mw_error err = {0};
    data d = {0};
    mw_graph *source = read_source(c, &err);
    if (source == NULL)
        SKIP("%s is not there", c->path);
    mw_graph *graph = tunable(c, source, lora, &err);
    mw_trainer *trainer = graph != NULL ? make_trainer(graph, c->output, &d, &err) : NULL;
    if (CHECK_OK(err) && trainer != NULL) {
        train(trainer, &d, c->path, &err);
        check_written(trainer, source, &d, c, &err);
    }
    free_data(&d);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_last_layers_are_tuned_and_written_back(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i], false);
}

static void test_adapters_are_tuned_and_written_back(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i], true);
}

int main(void)
{
    RUN(test_last_layers_are_tuned_and_written_back);
    RUN(test_adapters_are_tuned_and_written_back);
    return check_finish();
}
