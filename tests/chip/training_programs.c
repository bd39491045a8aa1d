#include "training_programs.h"

#include <stdio.h>
#include <string.h>

training_captured training_last;
const char *training_model;

static void adjust(mw_compile_options *options, int chip)
{
    options->provider = MW_PROVIDER_ENGINE;
    options->device = MW_DEVICE_ANE;
    options->chip = (mw_chip)chip;
    options->threads = 1;
}

static void take_graph(const char *text, mw_error *err)
{
    mw_graph_destroy(training_last.graph);
    training_last.graph = text != NULL ? mw_graph_parse_mil(text, strlen(text), NULL, NULL, err) : NULL;
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
            take_graph(trainer != NULL ? mw_program_mil(mw_trainer_program(trainer)) : NULL, err);
        if (i < 0 && trainer != NULL && training_model != NULL)
            mw_trainer_write_mil(trainer, training_model, err);
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
        mw_program *program = mw_compile(graph, &copy, &why);
        if (i < 0)
            take_graph(program != NULL ? mw_program_mil(program) : NULL, err);
        else
            take_result(i, program != NULL, &why);
        mw_program_destroy(program);
    }
    stop(err);
    return NULL;
}
