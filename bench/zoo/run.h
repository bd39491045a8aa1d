/* How the program runs the networks of zoo.h: what its files share. */
#ifndef BENCH_ZOO_RUN_H
#define BENCH_ZOO_RUN_H

#include "workloads.h"
#include "zoo.h"

typedef struct zoo_options {
    bench_options bench; /* `workload` is the name of the network */
    bool infer;          /* the result of a model that was written and read back, in the place of training */
    const char *model;   /* what `infer` writes: "mlpackage" or "onnx" */
    const char *onnx;    /* NULL, or the file that the inference form is written to; nothing is run then */
    const char *mil;     /* NULL, or the file for the text of the program that runs: shapes of what --plan shows */
} zoo_options;

/* ---- feeds.c ---- */

typedef struct zoo_feeds {
    mw_feed feed[ZOO_INPUTS_MAX];
    size_t count;
} zoo_feeds;

/* The form of a network, its graph made and its result declared; the graph is the caller's. */
zoo_form zoo_make(const zoo_options *o, const zoo_net *net, mw_tensor **out_result, mw_error *err);
/* Numbers for every input, always the same; the names are those of the form. */
zoo_feeds zoo_draw(const zoo_form *form);
void zoo_free(zoo_feeds *feeds);
/* Prints how many parameters the graph has, and elements all inputs: the peer has to have as many. */
void zoo_emit_size(const zoo_options *o, const zoo_form *form, mw_error *err);

/* ---- steps.c ---- */

/* Runs a trainer's steps, or a program if that is NULL, and prints times, memory and roofs.
 * products  operations in products and convolutions of a run */
void zoo_steps(const zoo_options *o, mw_trainer *trainer, mw_program *program, const zoo_feeds *feeds, double products,
               mw_error *err);
void zoo_train(const zoo_options *o, const zoo_net *net, mw_error *err);

/* ---- infer.c ---- */

void zoo_infer(const zoo_options *o, const zoo_net *net, mw_error *err);
/* Writes the inference form as ONNX, and what its inputs are into the file `path`.inputs: "name below extents". */
void zoo_export(const zoo_options *o, const zoo_net *net, mw_error *err);

/* ---- roof.c ---- */

/* Operations of the products and convolutions of a graph. */
double zoo_products(const mw_graph *graph, mw_error *err);
/* Prints how far `seconds` for a run are from what the machine's product and its memory allow each step. */
void zoo_roof(const zoo_options *o, mw_program *program, double products, double seconds, mw_error *err);

#endif
