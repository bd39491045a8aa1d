/* From package to package: reads the Core ML package --model (if there is none, a small network is written first), says
 * what it has, trains its largest weight --epochs steps, writes the tuned package, reads it again and compares. */
#include "options.h"

#include <math.h>
#include <unistd.h>

enum { SHOWN = 8, INPUTS = 8 };

static mw_trainer *make_trainer(mw_tensor *y, const example_options *o, mw_error *err)
{
    mw_tensor *target = mw_input(mw_tensor_graph(y), "target", mw_tensor_dtype(y), mw_tensor_shape(y));
    mw_trainer_options options = mw_trainer_defaults(mw_mse(y, target), mw_adam(o->learning_rate));
    options.prediction = y;
    options.compile.device = o->device;
    return mw_trainer_create(&options, err);
}

/* A network for pictures of digits, not trained. */
static void write_network(const example_options *o, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, 784));
    mw_tensor *y = mw_dense(mw_relu(mw_dense(x, 64, "fc1")), 10, "fc2");
    mw_trainer *trainer = make_trainer(y, o, err);
    mw_trainer_export(trainer, NULL, o->model, NULL, err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

/* What the package says, and its largest weights; returns the name of the largest that can be trained. */
static const char *look(const mw_coreml *model, mw_error *err)
{
    mw_weight weights[SHOWN];
    size_t count = 0;
    const char *best = NULL;
    char *said = mw_description_print(mw_coreml_get_info(model).description, err);
    mw_graph_weights(mw_coreml_graph(model, err), weights, SHOWN, &count, err);
    printf("%s", said != NULL ? said : "");
    mw_string_free(said);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const char *obstacle = weights[i].obstacle != NULL ? weights[i].obstacle : weights[i].reason;
        printf("  %-32s %9zu bytes  %s\n", weights[i].name, weights[i].size, obstacle != NULL ? obstacle : "");
        best = best == NULL && obstacle == NULL ? weights[i].name : best;
    }
    return best;
}

/* Every input of the graph with numbers of its own; the last is the target. */
static void fill(mw_graph *graph, float seed, mw_feed *feeds, mw_batch *batch)
{
    const mw_tensor *input;
    *batch = (mw_batch){.feeds = feeds, .examples = 1};
    for (size_t i = 0; i < INPUTS && (input = mw_graph_input_at(graph, i)) != NULL; i++) {
        const size_t n = (size_t)mw_shape_count(mw_tensor_shape(input));
        float *values = malloc((n + 1) * sizeof *values);
        for (size_t k = 0; values != NULL && k < n; k++)
            values[k] = strcmp(mw_tensor_name(input), "target") == 0 ? 0.75f : sinf(seed + (float)k);
        feeds[i] = (mw_feed){.name = mw_tensor_name(input), .dtype = MW_F32, .data = values, .count = n, .scale = 1};
        batch->feed_count++;
    }
}

static void compare(const mw_graph *graph, mw_trainer *trainer, mw_batch batch, const example_options *o, mw_error *err)
{
    mw_tensor *y = mw_graph_output_at(graph, 0);
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(y));
    float *want = calloc(count + 1, sizeof *want), *got = calloc(count + 1, sizeof *got), largest = 0;
    mw_compile_options how = mw_compile_defaults();
    how.device = o->device;
    mw_program *program = mw_program_create(graph, &how, err);
    batch.feed_count--; /* without the target */
    for (size_t i = 0; i < batch.feed_count; i++)
        mw_program_write(program, batch.feeds[i].name, MW_F32, batch.feeds[i].data, batch.feeds[i].count, err);
    mw_program_run(program, err);
    mw_program_read(program, mw_tensor_name(y), MW_F32, got, count, err);
    mw_trainer_predict(trainer, &batch, MW_F32, want, count, err);
    for (size_t i = 0; err->status == MW_OK && i < count; i++)
        largest = fmaxf(largest, fabsf(want[i] - got[i]));
    if (err->status == MW_OK)
        printf("largest difference %g\n", (double)largest);
    free(want);
    free(got);
    mw_program_destroy(program);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "nothing", .epochs = 20, .batch = 1, .seed = 1, .model = "build/digits.mlpackage"};
    char tuned[1024];
    float loss = 0;
    mw_error err = {0};
    mw_feed feeds[INPUTS];
    mw_batch batch;
    o.learning_rate = 1e-3f;
    options_parse(&o, argc, argv);
    snprintf(tuned, sizeof tuned, "%.*s-tuned.mlpackage", (int)(strlen(o.model) - strlen(".mlpackage")), o.model);
    if (access(o.model, F_OK) != 0)
        write_network(&o, &err);
    mw_coreml *model = mw_coreml_open(o.model, NULL, &err);
    const char *pattern = look(model, &err);
    const mw_tune_options options = mw_tune_defaults(&pattern, pattern != NULL);
    mw_graph *graph = mw_graph_trainable(mw_coreml_graph(model, &err), &options, &err);
    mw_trainer *trainer = make_trainer(mw_graph_output_at(graph, 0), &o, &err);
    fill(graph, (float)o.seed, feeds, &batch);
    for (int64_t i = 0; i < o.epochs && err.status == MW_OK; i++)
        if (mw_trainer_step(trainer, &batch, &loss, &err) == MW_OK && (i == 0 || i + 1 == o.epochs))
            printf("step %lld: loss %g\n", (long long)i + 1, (double)loss);
    mw_trainer_export(trainer, NULL, tuned, NULL, &err);
    mw_coreml *again = mw_coreml_open(tuned, NULL, &err);
    compare(mw_coreml_graph(again, &err), trainer, batch, &o, &err);
    for (size_t i = 0; i < batch.feed_count; i++)
        free((void *)batch.feeds[i].data);
    mw_coreml_destroy(again);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_coreml_destroy(model);
    return options_exit_code(&err);
}
