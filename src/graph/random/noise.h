/* Noise that a trainer can go on with: the operations that draw it from a generator in the state set, and the way
 * between these and MIL's random_*. */
#ifndef MW__GRAPH_RANDOM_NOISE_H
#define MW__GRAPH_RANDOM_NOISE_H

#include "graph/transform/clone/clone.h"

/* ---- op_random_noise.c ---- */

/* Numbers of `noise` with the generator "name.generator"; the value carries the record. */
mw_tensor *mw__noise_draw(mw_graph *graph, const char *operation, mw_dtype dtype, mw_shape shape, mw__noise noise,
                          const char *name);
/* What random_categorical draws from x, from uniform numbers. a: the mw_categorical_mode, b: how many of each row. */
mw_tensor *mw__noise_draw_classes(mw_tensor *x, mw__noise noise, const char *name);

/* ---- noise.c ---- */

/* What names were given in a clone. */
typedef struct mw__noise_names {
    size_t count;  /* of values without a name */
    mw__map trips; /* name -> how often it was given */
    size_t tried;  /* names that were looked for */
} mw__noise_names;

void mw__noise_names_init(mw__noise_names *names, const mw_allocator *allocator);
void mw__noise_names_deinit(mw__noise_names *names);

/* A rule of the clone: random_* without a fixed seed becomes noise, named after its value. */
bool mw__noise_rule(mw__noise_names *names, mw__clone *clone, const mw__op *op);

/* True for a random_* without a fixed seed. */
bool mw__is_unfixed_random(const mw__op *op);

/* The other way: the operation of MIL, in the target of the clone. NULL leaves an error on that. */
mw_tensor *mw__noise_restore(mw__clone *clone, const mw_tensor *source);

static inline bool mw__is_noise(const mw_tensor *value)
{
    return value->composite != NULL && value->composite->noise.kind != MW__NOISE_NONE;
}

#endif
