/* Random digits as operations, for dropout and noise: a generator that fp16 holds exactly, so that a device without
 * random numbers and integers can run it, and whose state is in the checkpoint (generator.c). */
#ifndef MW__GRAPH_RANDOM_GENERATOR_H
#define MW__GRAPH_RANDOM_GENERATOR_H

#include "base/number/random.h"
#include "graph/ir/ir.h"

/* A digit is an integer of [-15, 15]. */
enum { MW__DIGIT_BASE = 31, MW__DIGIT_MAX = 15 };

typedef struct mw__generator {
    mw_graph *graph;
    mw_dtype dtype;
    mw_tensor *state;  /* [digits, 8] */
    mw__random random; /* for the constants: a stream by name */
} mw__generator;

/* A generator with the state "name.generator", which each training step advances once mw__generator_advance is called.
 * False leaves an error on the graph; `operation` is its subject. */
bool mw__generator_begin(mw__generator *g, mw_graph *graph, mw_dtype dtype, const char *operation, const char *name,
                         int digits);
void mw__generator_advance(mw__generator *g);
/* One digit for each element of a matrix: [rows, columns]. To be asked for in order, each once. */
mw_tensor *mw__generator_digit(mw__generator *g, int digit, int64_t rows, int64_t columns);
/* The numbers of one digit's state, and such a state so many steps on. */
enum { MW__GENERATOR_STATE = 8 };
void mw__generator_skip(double state[MW__GENERATOR_STATE], uint64_t steps);
/* x mod 31 in [-15, 15], for integers up to 900 in magnitude. */
mw_tensor *mw__generator_reduce(const mw__generator *g, mw_tensor *x);

/* True for the state of a generator: no weight, though evaluation may read it. */
bool mw__is_generator(const mw_tensor *state);

#endif
