/* Summaries from inside: the object, and what pictures and reports need of it. */
#ifndef MW__VIEW_SUMMARY_H
#define MW__VIEW_SUMMARY_H

#include "base/text/text.h"
#include "view/layers.h"

#include <millwright/summary.h>

struct mw_summary {
    const mw_allocator *allocator;
    mw__arena arena; /* all below */
    mw_summary_layer *layers;
    size_t count;
    mw_summary_totals totals;
};

/* As mw_summary_create; `grouped` = false: each operation is a layer. */
mw_summary *mw__summary_create(const mw_graph *graph, bool grouped, mw_error *err);

/* ---- summary_detail.c ---- */

/* By its name: the mean or variance of a batch norm. */
bool mw__is_statistic(const char *name);
/* The operation that a group is known by. */
const mw__op *mw__view_layer_main(const mw__view *view, const uint32_t *members, size_t count);
/* What weights say: the parts that make a batch norm or a recurrent layer, and how the largest is stored. */
typedef struct mw__view_layer_weights {
    bool running;  /* statistics of a batch norm */
    int64_t gates; /* rows of weight_hh for one of its columns: 4 lstm, 3 gru, 1 rnn; 0 = there is none */
    int64_t hidden, inputs;
    int directions, layers;
    const mw_tensor *largest;
} mw__view_layer_weights;
void mw__view_layer_weigh(mw__view_layer_weights *weights, const mw_tensor *weight);
const char *mw__view_layer_kind_name(const mw__view *view, uint32_t root, const mw__op *main,
                                     const mw__view_layer_weights *weights);
/* Appends what there is to say of a layer of that kind. */
void mw__view_layer_detail(mw__text *out, const char *kind, const mw__op *main, const mw__view_layer_weights *weights);

/* ---- summary_print.c ---- */

/* "[128, 784]", with ? for open extents; "1.5 M"; "4.2 MB"; "12,345". */
void mw__put_shape(mw__text *out, mw_shape shape);
void mw__put_count(mw__text *out, double count);
void mw__put_bytes(mw__text *out, uint64_t bytes);
void mw__put_digits(mw__text *out, uint64_t number);
/* With "+" if some of it has no number, "-" if nothing has. */
void mw__put_flops(mw__text *out, double flops, size_t unknown);

#endif
