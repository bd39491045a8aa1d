/* The training programs of examples/: each file example_<name>.c is the example, with its calls of mw_trainer_create
 * and mw_program_create led here. */
#ifndef TESTS_SUPPORT_CHIP_TRAINING_PROGRAMS_H
#define TESTS_SUPPORT_CHIP_TRAINING_PROGRAMS_H

#include <millwright/millwright.h>

typedef int training_main(int argc, char **argv);

typedef struct training_example {
    const char *name;
    training_main *run;
    const char *data; /* NULL = its own */
    bool makes_model, tunes_model;
} training_example;

extern const training_example training_examples[];
extern const size_t training_example_count;

/* Runs one up to its first step in the current folder, where fine-tuning finds the model of mnist_cnn. What it asked
 * for is training_last then. */
void training_run(const training_example *example);
training_main example_autoencoder, example_char_transformer, example_custom_loop, example_fashion_cnn, example_finetune,
    example_hvp, example_lstm_sequence, example_mnist_cnn, example_mnist_mlp;

/* What the example asked for: its program for every chip as a graph, and whether it compiles for h13 to h17. */
typedef struct training_captured {
    mw_graph *graph;
    bool compiles[5];
    char why[5][500];
} training_captured;

extern training_captured training_last;

/* Both capture, and fail, so that the example ends. */
mw_trainer *training_capture(const mw_trainer_options *options, mw_error *err);
mw_program *training_capture_program(const mw_graph *graph, const mw_compile_options *options, mw_error *err);

#endif
