/* Networks for steps in segments, with their batches. */
#ifndef TESTS_RUNTIME_TRAINER_SEGMENT_NETS_H
#define TESTS_RUNTIME_TRAINER_SEGMENT_NETS_H

#include <millwright/millwright.h>

typedef struct segment_net {
    const char *name;
    mw_tensor *(*build)(mw_graph *graph, int depth); /* the loss */
    int depth;
} segment_net;

/* Of every kind of layer, those of the examples among them; ends with one without a name. */
extern const segment_net segment_nets[];

/* A pre-norm transformer as GPT-2: learned positions, gelu, dropout, the table of letters also as the last layer. */
mw_tensor *segment_transformer(mw_graph *graph, int depth);

enum { SEGMENT_FEEDS = 8 };
typedef struct segment_batch {
    mw_feed feeds[SEGMENT_FEEDS];
    mw_batch batch;
} segment_batch;

/* Feeds for every input of the graph, from `seed`: numbers around 0, or indices below the input's limit. */
void segment_fill(segment_batch *out, const mw_graph *graph, unsigned seed);
void segment_free(segment_batch *batch);

#endif
