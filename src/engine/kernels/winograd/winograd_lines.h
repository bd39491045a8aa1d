/* Winograd's way along lines: kernels of any height and width. A line's taps are cut into groups of 3 or 4, of which
 * each with 4 results is a polynomial product of 6 or 7 points:
 *
 *     y[4 t ..] = A' sum over rows of the kernel, groups g and channels of (G w[g]) (B' x[4 (t + g) ..])
 *
 * As groups of 4 lie as far apart as tiles, the values of x are made once for all groups, and group g reads those of
 * the tile g further on. For 17 taps that is 35 products for 4 results in the place of 68, for 3 taps 6 in the place
 * of 12. The gradient by the weight is the same with other roles: dy is the kernel, 4 wide, and a group of taps the
 * result.
 *
 * With a dilation of d the line is d lines without one, whose tiles stand side by side: tile t of line p has the number
 * t d + p, and group g is g d tiles further on. With a stride of s x is s such lines, and the taps of each are groups
 * of their own: a piece q is group q / s of line q % s, which begins with tap (q / s 4 s) + q % s; all pieces of a tile
 * of y lie side by side. In the gradient by x it is y that is s lines, each with the taps of a remainder by s. Where x
 * and y are lines alone, examples are rows of one example.
 *
 * Vectors hold channels; a block is rows of y by a strip of tiles. V [points, lines of x, tiles, channels] is made of
 * the lines that its rows meet, M [points, rows, tiles, outputs] of that. Sums run over rows of the kernel, pieces and
 * channels in order: bits depend on the instructions alone. */
#ifndef MW__ENGINE_KERNELS_WINOGRAD_WINOGRAD_LINES_H
#define MW__ENGINE_KERNELS_WINOGRAD_WINOGRAD_LINES_H

#include "engine/kernels/gemm/gemm_blocked.h"
#include "engine/kernels/winograd/winograd.h"

typedef struct mw__winograd_lines {
    int64_t examples, inputs, outputs;
    int64_t rows_in, in, rows_out, out;  /* rows of x and y, and how long they are */
    int64_t x_example, x_channel, x_row; /* floats between them */
    int64_t y_example, y_channel, y_row;
    int64_t kernel[2], dilation[2], stride; /* stride: along the line */
    int64_t before, step, spread; /* row y meets row (y step + k dilation - before) / spread, if that is whole */
    int64_t origin, shift;        /* where the first tile begins, before the first element of x, of y */
    int64_t x_lines, y_lines;     /* that take turns in x, in y */
    int64_t groups, pieces;       /* of taps: of one such line, of all that a result takes */
    bool turned;                  /* the weight is [inputs, outputs, taps] and is read from its last tap on */
    const mw__winograd_code *code;
    const mw__winograd_line_form *form;
    const mw__packed_code *turn; /* transposes */
    const mw__gemm_set *set;     /* multiplies */
    int64_t columns, panels;     /* outputs of a panel of the weight's values, and how many */
    int64_t lanes;               /* inputs rounded up to vectors */
    int64_t weight_point;        /* floats between points of the weight's values */
} mw__winograd_lines;

/* Lines of y whose taps are others than those of the first. */
static inline int64_t mw__winograd_line_kinds(const mw__winograd_lines *w) { return w->turned ? w->stride : 1; }

/* Tiles that follow each other in both V and M, of a strip; what is between them there, in tiles, is 1 or the lines. */
static inline int64_t mw__winograd_line_run(const mw__winograd_lines *w, int64_t strip)
{
    return w->x_lines == w->y_lines ? strip * w->x_lines : strip;
}
static inline int64_t mw__winograd_line_x_step(const mw__winograd_lines *w)
{
    return w->x_lines == w->y_lines ? 1 : w->x_lines;
}
static inline int64_t mw__winograd_line_y_step(const mw__winograd_lines *w)
{
    return w->x_lines == w->y_lines ? 1 : w->y_lines;
}

/* The first piece of a kind that has taps, and tap j of a piece; -1: there is none. */
int64_t mw__winograd_line_first(const mw__winograd_lines *w, int64_t kind);
int64_t mw__winograd_line_tap(const mw__winograd_lines *w, int64_t kind, int64_t piece, int64_t j);

/* How y is cut into blocks. */
typedef struct mw__winograd_line_cut {
    int64_t strip, across; /* tiles of a strip along each of the lines; strips of a row */
    int64_t rows, down;    /* of a block; blocks of an example */
    int64_t lines;         /* of x that a block meets, at most */
} mw__winograd_line_cut;

typedef struct mw__winograd_line_block {
    int64_t example, row, rows, first, strip; /* first: the strip's first tile */
} mw__winograd_line_block;

/* Of a request that is taken (winograd_lines_choice.c). */
void mw__winograd_lines_init(mw__winograd_lines *w, const mw__planner *planner, const mw__packed_request *request);
/* Blocks of about so many tiles. */
mw__winograd_line_cut mw__winograd_lines_cut(const mw__winograd_lines *w, int64_t tiles);
int64_t mw__winograd_lines_blocks(const mw__winograd_lines *w, const mw__winograd_line_cut *cut);
mw__winograd_line_block mw__winograd_lines_block(const mw__winograd_lines *w, const mw__winograd_line_cut *cut,
                                                 int64_t at);
/* Tiles of a line of V, and of a row of y. */
int64_t mw__winograd_line_pitch(const mw__winograd_lines *w, int64_t strip);
int64_t mw__winograd_line_tiles(const mw__winograd_lines *w, int64_t strip);
/* Positions of a frame of x. */
int64_t mw__winograd_line_positions(const mw__winograd_lines *w, int64_t strip);

/* The lines of x that a block meets: sources [lines], the rows of x, and slots [rows of the block, rows of the kernel],
 * which of them a row meets, or -1. How many. */
int64_t mw__winograd_lines_list(const mw__winograd_lines *w, const mw__winograd_line_block *b, int32_t *slots,
                                int32_t *sources);

/* Values of `channels` of a line, `channel` floats apart: out [points, tiles, lanes]. */
typedef struct mw__winograd_line_read {
    mw__winograd_values_of_line *values;
    int64_t channels, channel;
    int64_t from, extent, positions; /* of the frame's first position, of the line, of the frame */
    int64_t lines, count;
} mw__winograd_line_read;
/* Of x, for a block: its strip, and what the groups of taps reach beyond it. */
mw__winograd_line_read mw__winograd_line_x(const mw__winograd_lines *w, const mw__winograd_line_block *b,
                                           int64_t channels);
void mw__winograd_line_take(const mw__winograd_lines *w, const mw__winograd_line_read *of, const float *line,
                            float *frame, float *out, int64_t point, int64_t tile);

/* The values of a weight, [kinds, panels, points, rows of the kernel, pieces, lanes, columns] floats, by a step of its
 * own. */
uint32_t mw__winograd_lines_plan_weight(mw__planner *planner, const mw__winograd_lines *w,
                                        const mw__packed_request *request);

#endif
