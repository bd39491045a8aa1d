/* Pooling with a plane of x in each lane of the vectors: windows of any shape, stride and padding cost their elements
 * and nothing more, and each lane computes in the order of the plain loops. Planes are brought side by side, and the
 * results back, by transposing; large planes in bands whose elements fit a cache. */
#ifndef MW__ENGINE_KERNELS_POOL_KERNEL_POOL_LANES_H
#define MW__ENGINE_KERNELS_POOL_KERNEL_POOL_LANES_H

#include "engine/kernels/transpose.h"
#include "graph/geometry/window.h"

#define MW__POOL_LANES 16

/* Positions of the three spatial axes; missing axes stand in front, with an extent of 1. */
typedef struct mw__pool_range {
    int64_t begin[MW__WINDOW_AXES], end[MW__WINDOW_AXES];
} mw__pool_range;

/* What is known of one axis before it runs. */
typedef struct mw__pool_axis {
    const int32_t *begin, *end; /* of each window: its elements of x */
    const double *counted;      /* of each window: what an average counts of it */
    const int32_t *last, *held; /* of each element of x: the last window that holds it, and how many do */
} mw__pool_axis;

typedef struct mw__pool_lanes {
    mw__window axis[MW__WINDOW_AXES];
    mw__pool_axis table[MW__WINDOW_AXES];
    int64_t in, out; /* elements of a plane */
    int64_t planes;
    int64_t chunk[MW__WINDOW_AXES]; /* of a band: windows, or elements of x where these are computed */
    size_t x_most, y_most;          /* vectors of a band */
    bool squares, root;             /* of sums: of squares, of which the root is taken */
    bool relu;                      /* see kernel_pool_two.c */
    bool adds_zero;                 /* a sum of shares is never -0 */
    mw__transpose *transpose;
    const struct mw__pool_lanes_code *code;
} mw__pool_lanes;

/* x and y: the elements of the ranges, a vector of lanes each. Lanes beyond `used` need not be computed. */
typedef void mw__pool_lanes_windows(const mw__pool_lanes *s, const mw__pool_range *x_range,
                                    const mw__pool_range *y_range, int64_t used, const float *x, float *y);
/* hits: of each window which element of it equals y first; -1 if none does. dy is 0 then where relu stops it. */
typedef void mw__pool_lanes_hits(const mw__pool_lanes *s, const mw__pool_range *x_range, const mw__pool_range *y_range,
                                 int64_t used, const float *x, const float *y, int32_t *hits, float *dy);
/* dx: each element's shares of dy by the hits, or of the means dy; hits is NULL then. */
typedef void mw__pool_lanes_shares(const mw__pool_lanes *s, const mw__pool_range *x_range,
                                   const mw__pool_range *y_range, int64_t used, const int32_t *hits, const float *dy,
                                   float *dx);

/* Of one instruction set. */
typedef struct mw__pool_lanes_code {
    mw__pool_lanes_windows *maxima, *sums;
    mw__pool_lanes_hits *hits;
    mw__pool_lanes_shares *shares, *means;
} mw__pool_lanes_code;

const mw__pool_lanes_code *mw__pool_lanes_choose(mw__level level);

/* Fills all but the last group of members but transpose and code, from axis and planes. `back`: elements of x are
 * computed from windows. False after a failed allocation. */
bool mw__pool_lanes_prepare(mw__planner *planner, mw__pool_lanes *s, bool exclude, bool back);
/* The elements of x that the windows hold; the windows that hold the elements. */
mw__pool_range mw__pool_elements(const mw__pool_lanes *s, const mw__pool_range *windows);
mw__pool_range mw__pool_windows(const mw__pool_lanes *s, const mw__pool_range *elements);
/* Planes that stay together where the step is divided. */
int64_t mw__pool_grain(const mw__planner *planner, int64_t planes);
int64_t mw__pool_range_count(const mw__pool_range *range);
/* Goes to the next band of an axis-wise extent; false behind the last. Begin with end = {0}. */
bool mw__pool_next_band(const mw__pool_lanes *s, bool back, mw__pool_range *band);

/* `used` planes from `plane` on, side by side and back; `back` planes are those of y. */
void mw__pool_gather(const mw__pool_lanes *s, const float *planes, bool of_y, const mw__pool_range *range, int64_t used,
                     float *lanes);
void mw__pool_scatter(const mw__pool_lanes *s, const float *lanes, bool of_y, const mw__pool_range *range, int64_t used,
                      float *planes);

#endif
