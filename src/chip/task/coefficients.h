/* How the coefficients of a convolution lie in memory: in a tile for each neural engine, interleaved by the lanes of
 * ConvCfg. Reading (the interpreter, weights back as matrices) and writing (the encoder) ask the same rules.
 *
 * Output channels are taken in chunks of engines * lanes. In a chunk channel o goes to engine o / lanes, lane o %
 * lanes, and the chunk's plane in a tile is a row of biases, if there are any, then a row for each coefficient, of
 * `lanes` numbers each. Where fewer channels are left than a chunk takes, the lanes are halved until they fit, down to
 * one. Planes follow one another; tiles, and with groups planes too, end at 64 bytes. Where each output channel has
 * inputs of its own (unicast) channel o is number o / engines of tile o % engines, and its bias and coefficients lie in
 * a row.
 *
 * Zero-skipping planes (1 x 1, at most 8 lanes): biases; bytes of the rest (16 bits); for each row a zero byte, a byte
 * with a bit for each lane that is not zero, and those numbers.
 *
 * source  files of tinygrad (one lane); joshuaswarren/mil-hwx-compiler, research/h13-td-fields.md and
 *         mint_conv_probes.py, whose recorded SHA-256 of sections Apple wrote the tests hold this to */
#ifndef MW__CHIP_TASK_COEFFICIENTS_H
#define MW__CHIP_TASK_COEFFICIENTS_H

#include "base/text/error.h"

#include <stddef.h>
#include <stdint.h>

enum { MW__TILES = 16, MW__TILE_ALIGNMENT = 64, MW__LANES_MAX = 32, MW__SPARSE_LANES_MAX = 8 };

typedef struct mw__coefficient_layout {
    int64_t outputs;  /* channels, of one group */
    int64_t groups;   /* 1 but of grouped convolutions */
    int64_t rows;     /* coefficients of one output: inputs * height * width */
    unsigned engines; /* 1, 2, 4, 8 or 16 */
    unsigned lanes;   /* 1 to 32 */
    bool bias;
    bool unicast;
    bool sparse;
} mw__coefficient_layout;

/* Where the numbers of one output channel are: bias and coefficients in that order, `step` numbers apart. */
typedef struct mw__coefficient_place {
    unsigned tile;
    int64_t first; /* in numbers from the start of the tile */
    int64_t step;
} mw__coefficient_place;

/* Of channel `output` of group `group`; not of sparse layouts. */
mw__coefficient_place mw__coefficient_find(const mw__coefficient_layout *layout, int64_t group, int64_t output);

/* Bytes of a tile with all that lies in it, a multiple of 64; 0 for a tile that has nothing. Not of sparse layouts. */
int64_t mw__coefficient_tile_bytes(const mw__coefficient_layout *layout, unsigned tile);

/* Engines for so many output channels; lanes that Apple's compiler takes for a convolution with `rows` coefficients a
 * channel over pixels of at most `side` a side.
 * source  mil-hwx-compiler; files of tinygrad */
unsigned mw__coefficient_engines(int64_t outputs);
unsigned mw__coefficient_lanes(int64_t outputs, int64_t rows, int64_t side);

/* Bytes of one tile. */
typedef struct mw__coefficient_tile {
    const uint8_t *data;
    size_t size;
} mw__coefficient_tile;

/* The numbers of one output channel as fp16: bias first, if there is one.
 *  tiles  of MW__TILES
 *  out    [bias + rows]
 * errors  MW_ERROR_FORMAT for a tile that ends before them */
mw_status mw__coefficient_read(const mw__coefficient_layout *layout, const mw__coefficient_tile *tiles, int64_t group,
                               int64_t output, uint16_t *out, mw_error *err);

#endif
