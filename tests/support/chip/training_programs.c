#include "training_programs.h"

#include <stdio.h>
#include <string.h>

training_captured training_last;
static const char *training_model; /* where the untrained model of the next example is written; NULL = nowhere */

#define KEPT "captured" /* where the program for every chip is left */

static void adjust(mw_compile_options *options, int chip)
{
    options->provider = MW_PROVIDER_ENGINE;
    options->device = MW_DEVICE_ANE;
    options->chip = (mw_chip)chip;
    options->threads = 1;
    options->keep_folder = chip == MW_CHIP_AUTO ? KEPT : NULL;
}

/* With its weights. */
static void take_graph(bool compiled, mw_error *err)
{
    mw_graph_destroy(training_last.graph);
    training_last.graph = compiled ? mw_graph_open_mil(KEPT "/model.mil", NULL, err) : NULL;
}

static void take_result(int index, bool compiles, const mw_error *why)
{
    training_last.compiles[index] = compiles;
    snprintf(training_last.why[index], sizeof training_last.why[index], "%.400s", compiles ? "" : why->message);
}

static void stop(mw_error *err)
{
    err->status = MW_ERROR_STOPPED;
    snprintf(err->message, sizeof err->message, "captured");
}

mw_trainer *training_capture(const mw_trainer_options *options, mw_error *err)
{
    mw_trainer_options copy = *options;
    for (int i = -1; i < 5 && err->status == MW_OK; i++) {
        mw_error why = {0};
        adjust(&copy.compile, i < 0 ? MW_CHIP_AUTO : MW_CHIP_H13 + i);
        mw_trainer *trainer = mw_trainer_create(&copy, &why);
        if (i < 0)
            take_graph(trainer != NULL, err);
        if (i < 0 && trainer != NULL && training_model != NULL)
            mw_trainer_export(trainer, NULL, training_model, NULL, err);
        if (i >= 0)
            take_result(i, trainer != NULL, &why);
        mw_trainer_destroy(trainer);
    }
    stop(err);
    return NULL;
}

mw_program *training_capture_program(const mw_graph *graph, const mw_compile_options *options, mw_error *err)
{
    mw_compile_options copy = *options;
    for (int i = -1; i < 5 && err->status == MW_OK; i++) {
        mw_error why = {0};
        adjust(&copy, i < 0 ? MW_CHIP_AUTO : MW_CHIP_H13 + i);
        mw_program *program = mw_program_create(graph, &copy, &why);
        if (i < 0)
            take_graph(program != NULL, err);
        else
            take_result(i, program != NULL, &why);
        mw_program_destroy(program);
    }
    stop(err);
    return NULL;
}

const training_example training_examples[] = {
    {.name = "mnist_mlp", .run = example_mnist_mlp, .data = MW_DATA_DIR "/mnist"},
    {.name = "mnist_cnn", .run = example_mnist_cnn, .data = MW_DATA_DIR "/mnist", .makes_model = true},
    {.name = "finetune", .run = example_finetune, .data = MW_DATA_DIR "/mnist", .tunes_model = true},
    {.name = "fashion_cnn", .run = example_fashion_cnn, .data = MW_DATA_DIR "/mnist"}, /* the same shapes */
    {.name = "autoencoder", .run = example_autoencoder, .data = MW_DATA_DIR "/mnist"},
    {.name = "custom_loop", .run = example_custom_loop, .data = MW_DATA_DIR "/mnist"},
    {.name = "hvp", .run = example_hvp, .data = MW_DATA_DIR "/mnist"},
    {.name = "char_transformer", .run = example_char_transformer},
    {.name = "lstm_sequence", .run = example_lstm_sequence},
};
const size_t training_example_count = sizeof training_examples / sizeof *training_examples;

void training_run(const training_example *e)
{
    char name[64], path[512], data[] = "--data", model[] = "--model", folder[] = "model";
    char *arguments[6] = {name};
    int count = 1;
    snprintf(name, sizeof name, "%s", e->name);
    snprintf(path, sizeof path, "%s", e->data != NULL ? e->data : "");
    if (e->data != NULL) {
        arguments[count++] = data;
        arguments[count++] = path;
    }
    if (e->tunes_model) {
        arguments[count++] = model;
        arguments[count++] = folder;
    }
    mw_graph_destroy(training_last.graph);
    training_last = (training_captured){0};
    training_model = e->makes_model ? folder : NULL;
    e->run(count, arguments);
}
