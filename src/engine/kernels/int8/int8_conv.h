/* Convolution of codes, of one to three axes, any stride, dilation, border and groups. x is laid out in planes of
 * quads: four channels of a pixel, or, of few channels, four pixels that one row of the kernel takes. Where windows
 * move by more than one element, there is a plane for each remainder, so that in all of them neighbors in a row are
 * neighbors in the result: the numbers that an element of the kernel takes of all pixels are one run, which begins at
 * an offset.
 *
 * The same plane of all images lies side by side, so that a tile takes pixels of several. What lies between the rows of
 * a result, as they are shorter than those of its planes, fills lanes as well; where rows are so short that it costs
 * more than copying, a tile's own lanes are copied side by side first.
 *
 * Codes that lie in quads are planes themselves if each result takes one element; else planes are copied from them. */
#ifndef MW__ENGINE_KERNELS_INT8_INT8_CONV_H
#define MW__ENGINE_KERNELS_INT8_INT8_CONV_H

#include "base/number/integer.h"
#include "engine/kernels/int8/int8.h"

#define MW__INT8_AXES MW__CONV_AXES

/* Byte j of quad i of a row stands at x[channel + j across][.., begin + i stride + j along]. */
typedef struct mw__int8_plane {
    int64_t channel, count; /* of channels that are there */
    int64_t begin[MW__INT8_AXES];
} mw__int8_plane;

struct mw__int8_pixels;

typedef struct mw__int8_conv {
    const mw__int8_code *code;
    mw__int8_finish_rows *finish_lines;    /* of y: rows, or quads of them */
    mw__int8_finish_joined *finish_joined; /* or NULL */
    const mw__int8_sum *sum;               /* what results are an operand of; NULL: they are y */
    int own;                               /* which */
    float least;                           /* mw__int8_joined */
    mw__int8_finish finish;
    void (*lay_plane)(const struct mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *x, uint32_t *out);
    void (*copy)(const struct mw__int8_conv *b, const struct mw__int8_pixels *t, const uint8_t *planes,
                 uint32_t *lanes); /* of a tile */
    bool x_quads, y_quads;
    int64_t images, groups, channels, outputs; /* channels, outputs: of a group */
    int64_t in[MW__INT8_AXES], out[MW__INT8_AXES], stride[MW__INT8_AXES], extent[MW__INT8_AXES]; /* of a plane */
    int64_t across, along; /* from a byte of a quad to the next: a channel, or pixels; the other is 0 */
    int64_t plane_count, plane_quads, depth; /* of a group; depth: of a sum, in quads */
    int64_t together;                        /* images of a tile: all, or of several groups one */
    int64_t pixels, tiles, tiles_of_unit, blocks, chunk, chunks;
    const mw__int8_plane *planes; // [plane_count]
    const int32_t *offset;        // [depth]
    const int32_t *dense;         // [depth] of what has been copied; NULL: tiles are of planes as they lie
    const int32_t *panels;        // [groups, blocks, panel]
    const int32_t *ones;          // panel of ones where there are numbers; NULL: no weight has a zero point
    const int32_t *start;         // [groups, blocks, rows of a panel]: what sums begin with
    const int32_t *zeros;         // [groups outputs]
    const float *scale, *shift;
    size_t out_size;
    int block_rows;        /* of a panel */
    uint32_t flip, border; /* a quad of them */
} mw__int8_conv;

static inline int64_t mw__int8_conv_x_size(const mw__int8_conv *b)
{
    return b->channels * b->in[0] * b->in[1] * b->in[2];
}
static inline int64_t mw__int8_conv_y_size(const mw__int8_conv *b) { return b->out[0] * b->out[1] * b->out[2]; }
/* Outputs of a line of y, and bytes between lines. */
static inline int64_t mw__int8_conv_line_rows(const mw__int8_conv *b) { return b->y_quads ? 4 : 1; }
static inline size_t mw__int8_conv_line_step(const mw__int8_conv *b)
{
    return (size_t)(mw__int8_conv_y_size(b) * (b->y_quads ? 4 * b->images : 1)) * b->out_size;
}
/* Of one output of a group. */
static inline int64_t mw__int8_conv_panel_size(const mw__int8_conv *b)
{
    return mw__int8_panel_count(b->code, b->depth, b->block_rows);
}
/* Of a group; a tile may read beyond the last. */
static inline int64_t mw__int8_conv_group_quads(const mw__int8_conv *b) { return b->plane_count * b->plane_quads; }

/* ---- int8_conv_planes.c ---- */

/* Of one plane of the group of channels at x, or of the quads at x. */
void (*mw__int8_conv_lay_of(mw__level level, bool quads))(const mw__int8_conv *, const mw__int8_plane *,
                                                          const uint8_t *, uint32_t *);
/* A unit is an image's plane. */
void mw__int8_conv_run_planes(const mw__kernel_call *call);

/* ---- int8_conv_tiles.c ---- */

/* How pixels become tiles; whether those that are copied take less. */
void mw__int8_conv_cut(mw__int8_conv *b, bool *out_dense);
/* What a unit is: so many tiles, and a chunk of the blocks. After the cut. */
void mw__int8_conv_split(mw__int8_conv *b, int partitions);
void (*mw__int8_conv_copy_of(mw__level level))(const mw__int8_conv *, const struct mw__int8_pixels *, const uint8_t *,
                                               uint32_t *);
/* Scratch of the tiles of a unit, in bytes. */
size_t mw__int8_conv_tile_bytes(const mw__int8_conv *b);
/* Of planes that a step before has laid out: a unit is some tiles and a chunk of their blocks. */
void mw__int8_conv_run_tiles(const mw__kernel_call *call);
/* A unit is a group of an image, whose planes exist for it alone. */
void mw__int8_conv_run_groups(const mw__kernel_call *call);

#endif
