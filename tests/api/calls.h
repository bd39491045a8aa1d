/* Every function of the public headers, as a row that can be called with any choice of its parameters' values. The rows
 * are written by make_calls.py; what they take is in calls_world.c. */
#ifndef TESTS_API_CALLS_H
#define TESTS_API_CALLS_H

#include "tiny.h"

#include <millwright/chip_all.h>
#include <millwright/communicator.h>
#include <millwright/data.h>
#include <millwright/inspect.h>
#include <millwright/learn.h>
#include <millwright/millwright.h>
#include <millwright/text.h>
#include <millwright/view.h>

enum { CALLS_PARAMETERS = 12 };

/* Values of one parameter: how many, and which of them are special; -1 = none is. */
typedef struct calls_parameter {
    int count, null, destroyed, largest;
    bool is_array; /* room for a fixed number of elements: no call may say that there are more */
    bool is_error;
    bool ends_at_fork; /* a child can only destroy what stands first */
} calls_parameter;

typedef struct calls_row {
    const char *name;
    void (*call)(const int *value); /* an index for each parameter */
    int parameter_count;
    calls_parameter parameters[CALLS_PARAMETERS];
} calls_row;

extern const calls_row calls_rows[];
extern const size_t calls_row_count;

/* Objects that functions take: one of each kind, under the name of its type. */
typedef struct calls_world {
    mw_graph *mw_graph;
    mw_tensor *x, *w, *labels, *image;
    mw_layer *mw_layer;
    mw_program *mw_program;
    mw_trainer *mw_trainer;
    mw_dataset *mw_dataset;
    mw_loader *mw_loader;
    mw_plan *mw_plan;
    mw_model *mw_model;
    mw_predictor *mw_predictor;
    mw_tensors *mw_tensors;
    mw_coreml *mw_coreml;
    mw_tokenizer *mw_tokenizer;
    mw_scores *mw_scores;
    mw_token_stream *mw_token_stream;
    mw_text_model *mw_text_model;
    mw_text_data *mw_text_data;
    mw_table_encoder *mw_table_encoder;
    mw_comparison *mw_comparison;
    mw_ranges *mw_ranges;
    mw_summary *mw_summary;
    mw_metrics *mw_metrics;
    mw_communicator *mw_communicator;
    mw_chip_report *mw_chip_report;
    mw_chip_plan *mw_chip_plan;
    mw_chip_placement *mw_chip_placement;
    mw_hwx *mw_hwx;
    mw_e5 *mw_e5;
    tiny_batch tiny;
    const mw_batch *mw_batch;
    const mw_column *mw_column;
} calls_world;

extern calls_world now;  /* usable */
extern calls_world gone; /* the same, destroyed */
extern mw_error failure; /* of the call; clear before it */

/* Zeroed memory for arrays and results. */
void *memory(int unused);

/* Makes both worlds, in the current folder. False if something of `now` could not be made. */
bool calls_make(void);
/* After each call: a graph that it poisoned or destroyed is made anew. */
void calls_mend_graphs(void);
/* After a call that may have destroyed something else. False as for calls_make. */
bool calls_make_again(void);
void calls_destroy(void);

#endif
