/* What the files of the program millwright share. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include "bench.h"

#include <millwright/millwright.h>

/* compiled.c: what the command line says about device and threads. */
mw_compile_options bench_compiling(const bench_options *o);
mw_trainer *bench_train(const bench_options *o, mw_tensor *loss, mw_optimizer optimizer, mw_error *err);
mw_feed bench_feed(const char *name, mw_dtype dtype, const void *data, size_t count);
/* `count` numbers in [0, 1), always the same; the caller frees them. */
float *bench_uniforms(size_t count);

/* feeds.c: numbers for the inputs of a network, always the same; integers are below `below`. */
enum { BENCH_FEEDS_MAX = 2 };
typedef struct bench_feeds {
    mw_feed feed[BENCH_FEEDS_MAX];
    size_t count;
} bench_feeds;
bench_feeds bench_draw(const mw_graph *graph, int32_t below);
void bench_free(bench_feeds *drawn);

/* --plan and --trace: before the runs, and after them. */
void bench_watch(const bench_options *o, mw_program *program, mw_error *err);
void bench_show(const bench_options *o, mw_program *program, mw_error *err);

/* large.c: W7 to W12. */
void bench_large(const bench_options *o, mw_error *err);
/* decode.c: W13. */
void bench_decode(const bench_options *o, mw_error *err);
/* compiled.c: operations a second of one product of square matrices, the roof of what is made of products. */
double bench_product_rate(const bench_options *o, mw_error *err);
/* scaling.c: the median of the steps of a quarter of a second; one if the program is tried out. 0 on failure. */
double bench_step_seconds(const bench_options *o, mw_trainer *trainer, const mw_batch *batch, mw_error *err);
/* growth.c: transformers, LSTMs and convolutional networks by batch, length, layers and threads. */
void bench_growth(const bench_options *o, mw_error *err);
/* scaling.c: a step by width and batch, compiling by depth. */
void bench_scaling(const bench_options *o, mw_error *err);
/* cache.c: compiling with a cache and without. */
void bench_cache(const bench_options *o, mw_error *err);

#endif
