#include "engine/compile/fuse/cost.h"

/* Bytes that take time. */
static double counted(const mw__fuse_weights *weights, double bytes) { return bytes >= weights->least ? bytes : 0.0; }

bool mw__fuse_pays(const mw__fuse_weights *weights, const mw__fuse_terms *terms)
{
    const double moved = counted(weights, terms->saved) - counted(weights, terms->spent) - weights->held * terms->held;
    const double computed = terms->spared - terms->again;
    return !terms->idle && moved + computed + terms->fewer > 0.0;
}
