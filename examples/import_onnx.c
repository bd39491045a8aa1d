/* A model of ONNX on pictures of digits: reads --model (a network with random hidden weights is written there if there
 * is none), shows what is in it, trains its last layer, writes the tuned model beside it as ONNX and as a Core ML
 * package, and predicts with both of them. */
#include "options.h"

#include <math.h>
#include <unistd.h>

enum { PIXELS = 784, HIDDEN = 512, CLASSES = 10, SHOWN = 16, ASKED = 100 };

static mw_tensor *layer(mw_tensor *x, int64_t inputs, int64_t outputs, float bound, const char *name)
{
    static uint32_t state = 1;
    static float values[PIXELS * HIDDEN];
    for (int64_t i = 0; i < inputs * outputs; i++)
        values[i] = bound * ((float)((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f);
    mw_tensor *weight = mw_constant(mw_tensor_graph(x), MW_F32, MW_SHAPE(outputs, inputs), values);
    return mw_linear(x, mw_name(weight, name), NULL);
}

static void write_network(const char *path, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *hidden =
        mw_relu(layer(mw_input(graph, "x", MW_F32, MW_SHAPE(1, PIXELS)), PIXELS, HIDDEN, 0.1f, "fc1.weight"));
    mw_output(layer(hidden, HIDDEN, CLASSES, 0.0f, "fc2.weight"), "scores");
    mw_write_options options = mw_write_defaults();
    options.any_batch = true;
    mw_graph_write(graph, path, &options, err);
    mw_graph_destroy(graph);
}

/* Shows the largest weights; returns the one with a row for each class. */
static const char *look(const mw_graph *source, int64_t classes, mw_error *err)
{
    mw_weight weights[SHOWN];
    size_t count = 0;
    const char *last = NULL;
    mw_graph_weights(source, weights, SHOWN, &count, err);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        printf("  %-24s %9zu bytes, %s of %s\n", weights[i].name, weights[i].size, weights[i].argument,
               weights[i].operation);
        if (weights[i].obstacle == NULL && weights[i].shape.rank == 2 && weights[i].shape.dim[0] == classes)
            last = weights[i].name;
    }
    return last;
}

static mw_graph *make_tunable(const mw_graph *source, const char *last, int64_t batch, mw_error *err)
{
    const mw_tensor *x = mw_graph_input_at(source, 0);
    mw_input_shape shape = {.input = mw_tensor_name(x), .shape = mw_tensor_shape(x)};
    mw_tune_options options = mw_tune_defaults(&last, last != NULL);
    shape.shape.dim[0] = batch; /* whatever the file says: one, or any number */
    options.shapes = &shape;
    options.shape_count = 1;
    return mw_graph_trainable(source, &options, err);
}

static mw_trainer *make_trainer(mw_graph *graph, const example_options *o, mw_error *err)
{
    mw_tensor *logits = mw_graph_output_at(graph, 0), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o->batch));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(o->learning_rate));
    options.metric = mw_accuracy(logits, y);
    options.prediction = logits;
    options.compile.device = o->device;
    return mw_trainer_create(&options, err);
}

/* The first pictures, as the model in that file sees them; with `copy` it is written there, too, in that format. */
static void ask(const char *path, const char *copy, const mw_dataset *test, float *scores, mw_error *err)
{
    const mw_column *x = test != NULL ? mw_dataset_column_at(test, 0) : NULL;
    mw_model *model = mw_model_open(path, NULL, err);
    const mw_graph *graph = mw_model_get_info(model).graph;
    mw_tensor *in = mw_graph_input_at(graph, 0), *out = mw_graph_output_at(graph, 0);
    if (err->status == MW_OK && in != NULL && out != NULL) {
        const mw_feed feed = {mw_tensor_name(in), x->dtype, x->data, (size_t)ASKED * PIXELS, x->scale, x->offset};
        const mw_result result = {mw_tensor_name(out), MW_F32, scores, (size_t)ASKED * CLASSES};
        mw_model_predict(model, &(mw_batch){.feeds = &feed, .feed_count = 1, .examples = ASKED}, &result, 1, err);
        if (copy != NULL && mw_model_write(model, copy, NULL, err) == MW_OK)
            printf("written to %s\n", copy);
    }
    mw_model_destroy(model);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "data/mnist", .epochs = 3, .batch = 100, .seed = 1, .model = "build/digits.onnx"};
    static float scores[3][ASKED * CLASSES], largest;
    char paths[3][1024];
    mw_error err = {0};
    o.learning_rate = 3e-3f;
    options_parse(&o, argc, argv);
    for (int i = 0; i < 3; i++)
        snprintf(paths[i], sizeof paths[i], "%.*s-tuned%s", (int)(strlen(o.model) - strlen(".onnx")), o.model,
                 (const char *[]){"", ".onnx", ".mlpackage"}[i]);
    if (access(o.model, F_OK) != 0)
        write_network(o.model, &err);
    mw_dataset *train = mw_dataset_open_idx(o.data, "train", &err), *test = mw_dataset_open_idx(o.data, "t10k", &err);
    mw_graph *source = mw_graph_open_onnx(o.model, NULL, &err);
    mw_graph *graph = make_tunable(source, look(source, CLASSES, &err), o.batch, &err);
    mw_trainer *trainer = make_trainer(graph, &o, &err);
    options_fit(&o, trainer, train, test, &err);
    options_report(trainer, test, "test accuracy", &err);
    mw_trainer_export(trainer, source, paths[0], NULL, &err);
    for (int i = 0; i < 3; i++) { /* the model makes the ONNX file, that the package */
        ask(paths[i], i < 2 ? paths[i + 1] : NULL, test, scores[i], &err);
        for (int k = 0; k < ASKED * CLASSES; k++)
            largest = fmaxf(largest, fabsf(scores[i][k] - scores[0][k]));
    }
    if (err.status == MW_OK)
        printf("largest difference %g\n", (double)largest);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
    return options_exit_code(&err);
}
