/* What decides whether steps share a loop: a sum of what that saves and what it costs. Every way of joining work asks
 * it, with the terms that it knows, and with the numbers of its row in src/passes/pipeline.def. */
#ifndef MW__ENGINE_COMPILE_FUSE_COST_H
#define MW__ENGINE_COMPILE_FUSE_COST_H

#include <stdbool.h>

/* The numbers of a way. */
typedef struct mw__fuse_weights {
    double least; /* bytes: a smaller tensor stays in a cache, or is little memory: moving it again costs nothing */
    double held;  /* how many bytes have to be saved for each that is kept for longer */
} mw__fuse_weights;

/* What is known of one join; terms that are left out are 0. */
typedef struct mw__fuse_terms {
    double saved;  /* bytes of a tensor that is moved, or kept in memory, once less */
    double spent;  /* bytes of a tensor that is moved once more, or gains nothing and takes room */
    double held;   /* bytes that are kept for longer in the place of what is saved */
    double spared; /* additions in whose time the tensor between the steps would be stored and loaded */
    double again;  /* additions that are made once more, or in shorter runs */
    double fewer;  /* steps, or tensors in memory, that there are fewer: it decides where all else is equal */
    bool idle;     /* some threads would have much less to do than others: nothing is worth that */
} mw__fuse_terms;

/* Additions in whose time a step more begins: a loop over blocks, a stage of a chain. Fewer elements than that lie in
 * the nearest cache, and are stored and loaded sooner. */
#define MW__FUSE_BEGINS 1024.0

/* True if it gains something. */
bool mw__fuse_pays(const mw__fuse_weights *weights, const mw__fuse_terms *terms);

#endif
