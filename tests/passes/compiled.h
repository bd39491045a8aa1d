/* A graph that is compiled with a word about its passes, and the same numbers for two programs. */
#ifndef TESTS_PASSES_COMPILED_H
#define TESTS_PASSES_COMPILED_H

#include "support/passes/rewrite_cases.h"
#include "support/passes/seen_passes.h"

/* On the engine with two threads, each pass with its text; "ieee" on the model of the ANE, so that only rounding lies
 * between it and the CPU. `seen` is filled; freed with seen_deinit, also after a failure. NULL with err set. */
mw_program *compiled_for(const mw_graph *graph, mw_device device, mw_chip chip, const char *off, seen_passes *seen,
                         mw_error *err);

/* How near the results must be. */
typedef struct compiled_bound {
    double unit;  /* the spacing of numbers, relative */
    double units; /* 0 = they are the same, once rounded to fp16 where `half` */
    bool half;
} compiled_bound;

/* Feeds both as the case says, with one seed, runs them and compares y; what differs is noted. */
void compiled_compare(const rewrite_case *c, const char *what, mw_program *source, mw_program *made,
                      const compiled_bound *bound);

#endif
