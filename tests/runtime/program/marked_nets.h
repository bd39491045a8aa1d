/* Networks whose parts can be marked to be computed again (mw_recompute), of everything that a copy writes otherwise
 * than the graph does: loops, branches, lists, evaluation forms, constants that become parameters, adapters. */
#ifndef TESTS_RUNTIME_PROGRAM_MARKED_NETS_H
#define TESTS_RUNTIME_PROGRAM_MARKED_NETS_H

#include <millwright/millwright.h>

enum { MARKED_ROWS = 6, MARKED_WIDTH = 4, MARKED_OUT = 2 };

/* Where segments are. */
typedef enum marking {
    MARK_NONE,
    MARK_WHOLE,  /* one, from the first layer to the last */
    MARK_PARTS,  /* one for each of the two parts of the network */
    MARK_LEAVES, /* the same, all the way back to the leaves */
    MARK_INSIDE, /* in the blocks of loops and branches, else as MARK_PARTS */
    MARKINGS
} marking;

/* How weights train. */
typedef enum tuning { TUNE_NONE, TUNE_CONSTANTS, TUNE_LORA, TUNE_LORA_CONSTANTS } tuning;

typedef struct marked_net {
    const char *name;
    mw_tensor *(*part)(mw_graph *graph, mw_tensor *h, int index, marking how); /* [MARKED_ROWS, MARKED_WIDTH] */
    tuning tuned;
    bool draws; /* random numbers, also in evaluation */
} marked_net;

extern const marked_net marked_nets[]; /* ends with one without a name */

/* y, or its segment if `how` asks for one here. */
mw_tensor *marked_inside(mw_tensor *y, mw_tensor *start, marking how);

/* The graph of a network, its input "x", its result "z" [MARKED_ROWS, MARKED_OUT] and its loss, with targets "t". What
 * is tuned is a copy of the graph that it was built in; both are the caller's (`source` NULL: there is one). */
typedef struct marked_graph {
    mw_graph *source, *graph;
    mw_tensor *z, *loss;
} marked_graph;
marked_graph marked_build(const marked_net *net, marking how, mw_error *err);
void marked_destroy(marked_graph *graph);

/* The batch of step i. */
typedef struct marked_batch {
    float x[MARKED_ROWS * MARKED_WIDTH], t[MARKED_ROWS * MARKED_OUT];
    mw_feed feeds[2];
    mw_batch batch;
} marked_batch;
void marked_fill(marked_batch *out, int step);

#endif
