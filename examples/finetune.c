/* Tunes a model.mil that exists on Fashion-MNIST: by default the one that mnist_cnn --model writes, its last two
 * layers. Prints the accuracy before and after, and writes the tuned model beside the old one. With --lora the weights
 * of all layers but the last get adapters of rank 8 instead. */
#include "options.h"

enum { SHOWN = 12 };

/* What there is to be tuned. */
static void list_weights(const mw_graph *source, mw_error *err)
{
    mw_weight weights[SHOWN];
    size_t count = 0;
    mw_graph_weights(source, weights, SHOWN, &count, err);
    for (size_t i = 0; i < count && i < SHOWN; i++)
        printf("  %-24s %8zu bytes  %s of %s%s%s\n", weights[i].name, weights[i].size, weights[i].argument,
               weights[i].operation, weights[i].obstacle != NULL ? ": " : "",
               weights[i].obstacle != NULL ? weights[i].obstacle : "");
}

static mw_graph *make_tunable(const mw_graph *source, bool lora, int64_t batch, mw_error *err)
{
    static const char *const all[] = {"conv*weight*", "fc1*weight*"}, *const head[] = {"fc2*"}, *const last[] = {"fc*"};
    mw_tensor *x = mw_graph_input_at(source, 0);
    mw_input_shape shape = {.input = mw_tensor_name(x), .shape = mw_tensor_shape(x)};
    shape.shape.dim[0] = batch;
    if (lora) {
        mw_lora_options options = mw_lora_defaults(all, 2);
        options.full_patterns = head;
        options.full_count = 1;
        options.shapes = &shape;
        options.shape_count = 1;
        return mw_graph_lora(source, &options, err);
    }
    mw_tune_options options = mw_tune_defaults(last, 1);
    options.shapes = &shape;
    options.shape_count = 1;
    return mw_graph_trainable(source, &options, err);
}

/* A trainer of the program's first result against labels "y". */
static mw_trainer *make_trainer(mw_graph *graph, const example_options *o, mw_error *err)
{
    mw_tensor *logits = mw_graph_output_at(graph, 0);
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o->batch));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(o->learning_rate));
    options.metric = mw_accuracy(logits, y);
    options.prediction = logits;
    options.compile.device = o->device;
    options.compile.seed = o->seed;
    return mw_trainer_create(&options, err);
}

static void show_accuracy(const char *when, mw_trainer *trainer, const mw_dataset *test, mw_error *err)
{
    mw_evaluation found;
    if (mw_trainer_evaluate(trainer, test, NULL, &found, err) == MW_OK)
        printf("%s: test accuracy %.2f %%\n", when, 100.0 * found.metrics[0].value);
}

/* Takes --lora out of the arguments. */
static bool take_lora(int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--lora") == 0) {
            memmove(&argv[i], &argv[i + 1], (size_t)(*argc - i) * sizeof *argv);
            --*argc;
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    example_options o = {.data = "/usr/share/datasets/fashion-mnist", .epochs = 3, .batch = 128, .seed = 1};
    char path[1024], tuned[1024];
    o.model = "build/mnist_cnn";
    o.learning_rate = 2e-3f;
    o.schedule = mw_schedule_cosine(0.0);
    const bool lora = take_lora(&argc, argv);
    options_parse(&o, argc, argv);
    snprintf(path, sizeof path, "%s/model.mil", o.model);
    snprintf(tuned, sizeof tuned, "%s-tuned", o.model);

    mw_error err = {0};
    mw_dataset *train = mw_dataset_open_idx(o.data, "train", &err);
    mw_dataset *test = mw_dataset_open_idx(o.data, "t10k", &err);
    mw_graph *source = mw_graph_open_mil(path, NULL, &err);
    list_weights(source, &err);
    mw_graph *graph = make_tunable(source, lora, o.batch, &err);
    mw_trainer *trainer = make_trainer(graph, &o, &err);
    show_accuracy("before", trainer, test, &err);
    options_fit(&o, trainer, train, test, &err);
    show_accuracy("after", trainer, test, &err);
    if (lora)
        mw_trainer_save_lora(trainer, tuned, &err);
    if (mw_trainer_export(trainer, source, tuned, NULL, &err) == MW_OK)
        printf("written to %s\n", tuned);

    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
    return options_exit_code(&err);
}
