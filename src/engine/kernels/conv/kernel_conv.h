/* What the kernels of conv and conv_transpose share: extents of three spatial axes, leading ones 1. */
#ifndef MW__ENGINE_KERNELS_CONV_KERNEL_CONV_H
#define MW__ENGINE_KERNELS_CONV_KERNEL_CONV_H

#include "engine/kernels/gemm/gemm.h"
#include "graph/patterns/conv.h"

typedef struct mw__conv_window {
    int64_t kernel[3], stride[3], dilation[3], before[3];
    int64_t in[3], out[3]; /* y[p] takes x[p stride + k dilation - before]; conv_transpose: x is the result */
    int64_t taps;          /* elements of the kernel */
    int64_t area_in, area_out;
} mw__conv_window;

mw__conv_window mw__conv_window_of(const mw__conv *conv);
/* False, with err set, if the extents are not known. */
mw_status mw__conv_window_read(const mw__op *op, mw__conv_window *out, int64_t *out_groups, mw_error *err);

/* Nothing happens along the first axis: no kernel, no extent, and no border in whose zeros a position could stand. */
static inline bool mw__conv_is_plane(const mw__conv_window *w)
{
    return w->kernel[0] == 1 && w->in[0] == 1 && w->out[0] == 1 && w->before[0] == 0;
}

/* The element of the kernel as offsets from p stride. */
void mw__conv_tap(const mw__conv_window *window, int64_t tap, int64_t out_offset[3]);

/* A row of positions of y: along its last axis from position `at`, at most `limit`. */
typedef struct mw__conv_run {
    int64_t count;    /* positions */
    int64_t position; /* the first one's index on the last axis */
    int64_t row;      /* offset of the row of x under the tap, or -1 in the border */
} mw__conv_run;

mw__conv_run mw__conv_row(const mw__conv_window *window, const int64_t offset[3], int64_t at, int64_t limit);

/* Positions [*out_begin, *out_end) of a run that lie on elements of the row, whose extent is in[2]. */
void mw__conv_inside(const mw__conv_window *window, const mw__conv_run *run, int64_t offset, int64_t *out_begin,
                     int64_t *out_end);

/* An operand in fp32: its buffer, or that of a widened copy. */
uint32_t mw__conv_operand(mw__planner *planner, const mw_tensor *value);

/* Of a transpose, whose `in` is the result and `out` is x: the element of x that a tap carries to a place of the
 * result; -1 if there is none. */
int64_t mw__conv_transpose_source(const mw__conv_window *window, int64_t tap, int64_t at);
mw_status mw__plan_conv_transpose_gathered(mw__planner *planner, const mw__op *op, mw_error *err);

#endif
