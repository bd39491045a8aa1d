/* What the convolutions by winograd.h share: numbers, the weight's values, frames. */
#ifndef MW__ENGINE_KERNELS_WINOGRAD_WINOGRAD_PLAN_H
#define MW__ENGINE_KERNELS_WINOGRAD_WINOGRAD_PLAN_H

#include "engine/kernels/gemm/gemm_blocked.h"
#include "engine/kernels/winograd/winograd.h"

/* A convolution whose x and y are planes. */
typedef struct mw__winograd_shape {
    int64_t examples, inputs, outputs;
    int64_t in[2], out[2], before[2];
} mw__winograd_shape;

/* With its code. */
typedef struct mw__winograd {
    mw__winograd_shape shape;
    const mw__winograd_code *code;
    const mw__winograd_form *form;
    const mw__packed_code *turn; /* transposes */
    const mw__gemm_set *set;     /* multiplies */
    int64_t pairs;               /* of points */
    int64_t columns, panels;     /* outputs of a panel of the weight's values, and how many */
    int64_t weight_point;        /* floats between pairs of points of it */
} mw__winograd;

/* Of tiles, of a request that is taken (winograd_choice.c). */
int64_t mw__winograd_side(const mw__packed_request *request);
/* Whether the values of the weight are made once. */
bool mw__winograd_weight_is_constant(const mw__packed_request *request);
/* The request of a gradient by the weight: without a weight, and dy is the result. */
mw__packed_request mw__winograd_dweight_request(const mw__conv_dweight_match *match);

void mw__winograd_init(mw__winograd *w, const mw__planner *planner, const mw__packed_request *request);
/* The values of a weight, [panels, points^2, inputs, columns] floats, by a step of its own. */
uint32_t mw__winograd_plan_weight(mw__planner *planner, const mw__winograd *w, const mw__packed_request *request);

/* A row of tiles, or a part of one. */
typedef struct mw__winograd_strip {
    int64_t example, row, column; /* of y, of its first tile */
    int64_t tiles;
} mw__winograd_strip;

/* How tiles are cut into strips. */
typedef struct mw__winograd_cut {
    int64_t side;
    int64_t tiles, strip; /* of a row; of a strip, at most */
    int64_t across, down; /* strips of a row, rows */
} mw__winograd_cut;

mw__winograd_cut mw__winograd_cut_of(const int64_t out[2], int64_t side, int64_t most);
/* Strips are numbered over all examples. */
mw__winograd_strip mw__winograd_strip_of(const mw__winograd_cut *cut, int64_t at);

/* Planes [channels, extent[0], extent[1]] of which tiles are taken from row from[0] and column from[1] on; `rows` of
 * them make a row of tiles, and `columns` a strip. What is beyond the planes is 0. */
typedef struct mw__winograd_planes {
    const float *planes;
    int64_t channels, extent[2], from[2], rows, columns;
    mw__winograd_values *values;
} mw__winograd_planes;

/* The values of a strip: out [points^2, tiles, channels rounded up to vectors]. frame: [rows, columns, width] */
void mw__winograd_take(const mw__winograd *w, const mw__winograd_planes *of, int64_t tiles, float *frame, float *out,
                       int64_t point, int64_t tile);

#endif
