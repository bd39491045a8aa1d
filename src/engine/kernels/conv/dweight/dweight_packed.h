/* The gradient of a convolution by its weight as sums of packed panels, for any number of channels, positions and axes.
 * Lanes are input channels: a chunk of positions of x is transposed, with its border, into frames [rows, columns,
 * lanes], so that under every tap the vectors of a position lie at a fixed distance; dy is transposed into panels
 * [positions, rows] of output channels:
 *
 *     sum[tap][o][c ..] += dy[position][o] frame[at[position] + offset of tap][c ..]
 *
 * A chunk is of images: the planes of all examples, one after the other. With three axes each plane of the kernel has
 * frames of its own, of the planes of x that it meets, and leaves out images for which that lies in the border.
 *
 * Where lanes would be idle, as there are few input channels, they are columns, an input channel and a tap each: what
 * is summed is the same as for a kernel of one element and so many input channels, whose frames are gathered.
 *
 * A unit takes a range of panels of input channels of a group over a share of the chunks. Sums of a unit run over its
 * positions in order; where chunks are shared, those of the shares are added in order afterwards. Scratch of a
 * partition: the sums of a unit, a chunk of dy and one frame.
 *
 * In the form for chips the sums of each example are a product, whose order they have, and are rounded; a product with
 * ones adds them. No bit of either changes. */
#ifndef MW__ENGINE_KERNELS_CONV_DWEIGHT_DWEIGHT_PACKED_H
#define MW__ENGINE_KERNELS_CONV_DWEIGHT_DWEIGHT_PACKED_H

#include "base/number/integer.h"
#include "engine/kernels/conv/dweight/kernel_conv_dweight.h"
#include "engine/kernels/conv/kernel_conv_packed.h"
#include "engine/kernels/conv/kernel_conv_places.h"
#include "engine/kernels/reduce/plane_sums.h"

#define MW__DWEIGHT_POSITIONS 512 /* of a chunk, about */

typedef struct mw__packed_dweight {
    mw__conv_window window;
    mw__conv_window gathered;                  /* taps > 0: lanes are its columns, and `window` has one tap */
    int64_t examples, groups, inputs, outputs; /* channels of a group; inputs: columns where those are lanes */
    int64_t planes, area;                      /* planes of an example of dy, and positions of one */
    const mw__packed_code *code;
    int64_t lanes, rows;                 /* of a panel of inputs, of outputs */
    int64_t output_panels, input_panels; /* of a group */
    mw__conv_chunk cut;                  /* the size of a chunk */
    int64_t down, across, chunks;        /* chunks of an image, and in all */
    const mw__conv_places *places;       /* [1 + taps of a plane], of kernel_conv_places.h */
    bool borders;                        /* some are fewer than all */
    int64_t share, ranges;               /* panels of inputs of a unit, and how many units they make */
    mw__dweight_parts parts;
    mw__plane_sums *plane;
    mw__conv_finite *finite;
    mw__loop1 *round, *round_all; /* in the form for chips: of the sums of an example, of all; NULL: none */
    mw__loop2 *add;               /* of the sums of an example */
} mw__packed_dweight;

static inline int64_t mw__dweight_positions(const mw__packed_dweight *s)
{
    return s->cut.each * s->cut.height * s->cut.width;
}
static inline int64_t mw__dweight_frame_floats(const mw__packed_dweight *s)
{
    return s->cut.each * s->cut.rows * s->cut.columns * s->lanes;
}
static inline int64_t mw__dweight_tile_floats(const mw__packed_dweight *s) { return s->rows * s->lanes; }
static inline int64_t mw__dweight_sums_floats(const mw__packed_dweight *s)
{
    return s->share * s->output_panels * s->window.taps * mw__dweight_tile_floats(s);
}
static inline int64_t mw__dweight_dy_floats(const mw__packed_dweight *s)
{
    return s->output_panels * mw__dweight_positions(s) * s->rows;
}
static inline bool mw__dweight_lanes_are_columns(const mw__packed_dweight *s) { return s->gathered.taps > 0; }
static inline int64_t mw__dweight_taps_of_plane(const mw__packed_dweight *s)
{
    return s->window.kernel[1] * s->window.kernel[2];
}

/* Lines of columns before they are transposed. */
static inline int64_t mw__dweight_line_floats(const mw__packed_dweight *s)
{
    return mw__dweight_lanes_are_columns(s) ? s->code->width * s->cut.height * s->cut.width : 0;
}

/* All but the sums. */
static inline int64_t mw__dweight_chunk_floats(const mw__packed_dweight *s)
{
    return mw__i64_round_up(mw__dweight_dy_floats(s), 16) + mw__i64_round_up(mw__dweight_frame_floats(s), 16) +
           mw__i64_round_up(mw__dweight_line_floats(s), 16);
}

/* ---- dweight_packed_read.c: a chunk of positions ---- */

typedef struct mw__dweight_chunk {
    int64_t image, images;              /* planes of examples */
    int64_t row, rows, column, columns; /* of y */
} mw__dweight_chunk;
mw__dweight_chunk mw__dweight_chunk_of(const mw__packed_dweight *s, int64_t index);

/* Images of a chunk that meet x under a plane of the kernel, and follow each other. */
typedef struct mw__dweight_images {
    int16_t begin, end;
} mw__dweight_images;

typedef struct mw__dweight_unit {
    int64_t part, group, panel, panels; /* panels of inputs */
} mw__dweight_unit;

/* What a panel of inputs of a unit meets in a chunk under one plane of the kernel. */
typedef struct mw__dweight_panel {
    float *dy, *frame;
    int64_t panel, plane;
    mw__dweight_images *images;
    int64_t runs; /* of images */
    bool fewer;
    mw__packed_sums *run;
} mw__dweight_panel;

/* The plane of x that image m meets under a plane of the kernel; -1 in the border. */
int64_t mw__dweight_plane_under(const mw__packed_dweight *s, int64_t m, int64_t kernel);
/* dy of a group to panels [output panels, positions, rows]; lines that end early end in zeros. Whether taps need fewer
 * than all places: not those of a dy that is not finite. */
bool mw__dweight_pack_finite(const mw__packed_dweight *s, const mw__kernel_call *call, const mw__dweight_unit *u,
                             const mw__dweight_chunk *c, float *packed);
/* x of a panel of inputs under a plane of the kernel to its frame, with the images that meet it. */
void mw__dweight_pack_x(const mw__packed_dweight *s, const mw__kernel_call *call, const mw__dweight_unit *u,
                        const mw__dweight_chunk *c, mw__dweight_panel *p);

/* ---- dweight_packed.c: a unit ---- */

mw__dweight_unit mw__dweight_unit_of(const mw__packed_dweight *s, int64_t index);
/* The memory of a chunk behind the sums of a unit. */
mw__dweight_panel mw__dweight_begin_chunk(const mw__packed_dweight *s, mw__dweight_images *images, float *sums);
/* Sums of a tile: [panels, output panels, taps, rows, lanes]. */
int64_t mw__dweight_tile_at(const mw__packed_dweight *s, const mw__dweight_panel *p, int64_t o, int64_t tap);
/* Where a tap begins in the frame. */
const float *mw__dweight_frame_under(const mw__packed_dweight *s, const mw__dweight_panel *p, int64_t tap);
/* The sums to their places in dweight [groups outputs, inputs, taps]. */
void mw__dweight_put_sums(const mw__packed_dweight *s, const mw__dweight_unit *u, const float *sums, float *out);

/* ---- dweight_packed_plan.c ---- */

void mw__dweight_read(const mw__conv_dweight_match *match, mw__level level, mw__packed_dweight *s);
void mw__dweight_fill(mw__planner *planner, const mw__conv_dweight_match *match, mw__packed_dweight *s);
/* Positions of a line in a chunk, at most. */
int64_t mw__dweight_line_most(const mw__conv_window *w);
/* Whether lanes that are columns take fewer vectors, which pay for gathering them. */
void mw__dweight_choose_lanes(mw__packed_dweight *s);

#endif
