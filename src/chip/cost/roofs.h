/* What Core ML's planner estimates of an operation on each of its backends: what it orders backends by, not a time. */
#ifndef MW__CHIP_COST_ROOFS_H
#define MW__CHIP_COST_ROOFS_H

#include "graph/ir/ir.h"

#include <millwright/chip_cost.h>

/* The backends whose estimates are published. */
typedef enum mw__roof_backend { MW__ROOF_ANE, MW__ROOF_BNNS, MW__ROOF_CLASSIC_CPU, MW__ROOF_BACKENDS } mw__roof_backend;

typedef struct mw__roof {
    double gflops; /* 10^9 floating-point operations in a second */
    double gib;    /* 2^30 bytes in a second */
} mw__roof;

typedef struct mw__roof_platform {
    const char *name; /* "H16G" */
    mw__roof roofs[MW__ROOF_BACKENDS];
    double conv_gflops;   /* on the ANE, of the one leaf of its trees that is known; 0 = none is */
    const char *borrowed; /* the platform whose roofs these are; NULL = its own were published */
} mw__roof_platform;

/* "H16G", in any case; NULL if nothing is known of it. */
const mw__roof_platform *mw__roof_platform_named(const char *name);
/* The platform of a chip's Mac; of a chip without one the nearest. Never NULL for a chip that exists. */
const mw__roof_platform *mw__roof_platform_of(mw_chip chip);

/* The larger of flops / peak and bytes / bandwidth, with the planner's own count of both, or what its tree says. All 0
 * of a constant. */
mw_chip_cost mw__roof_estimate(const mw__roof_platform *platform, mw__roof_backend backend, const mw__op *op);
/* The same by other roofs, for a backend that the planner's published estimates do not have. */
mw_chip_cost mw__roof_cost(const mw_chip_rates *rates, const mw__op *op);

/* Roofs as rates: 10^9 bytes in a second, and no floor. */
mw_chip_rates mw__roof_rates(const mw__roof_platform *platform, mw__roof_backend backend);

#endif
