/* Images sampled at places: what an operation of ops/sample.def says, read once for the shape rule, the kernel and the
 * gradient. The result is [count, channels, height, width]; its image m is sampled from image mw__sample_image of x at
 * the places of mw__sample_plane, which are those of the coordinates, of a matrix or of a box.
 *
 *     mw__sample sample;
 *     MW_TRY(mw__sample_read(op, &sample, err));
 */
#ifndef MW__GRAPH_GEOMETRY_SAMPLING_H
#define MW__GRAPH_GEOMETRY_SAMPLING_H

#include "graph/ir/op_table.h"
#include <millwright/ops/sample.h>

typedef enum mw__sample_kind { MW__SAMPLE_AT, MW__SAMPLE_AFFINE, MW__SAMPLE_BOXES } mw__sample_kind;

/* Axis 0 is the height, axis 1 the width. */
typedef struct mw__sample_axis {
    int64_t in, out;     /* MW_DIM_UNKNOWN while a shape is */
    double scale, shift; /* of coordinates: at * scale + shift is in pixels, 0 in the center of the first */
    double factor;       /* of boxes: an edge times this is in pixels */
} mw__sample_axis;

typedef struct mw__sample {
    mw__sample_kind kind;
    const char *places; /* the argument that says where: "coordinates", "transform_matrix", "boxes", "roi" */
    const char *index;  /* the argument that says which image, or NULL: "box_indices", or "roi", of which it is the
                           first of five numbers */
    mw__sample_axis axis[2];
    int64_t images, channels; /* of x */
    int64_t planes, count;    /* sets of places; images of the result */
    bool each;                /* boxes: each cuts all images, [planes, images, channels, ..] */
    bool nearest;
    mw_border border;
    double value; /* outside, if the border is constant, and of boxes */
    mw_coordinates coordinates;
    bool align;
    /* boxes */
    mw_sampling_mode grid;
    bool centered, width_first; /* center and size instead of edges; columns before rows */
    bool whole_if_inverted;     /* a box that ends before it starts is the whole image */
    int box_numbers;            /* 4, or 5 with the index in front */
} mw__sample;

mw_status mw__sample_read(const mw__op *op, mw__sample *out, mw_error *err);

/* The image of x, unless an index says which, and the set of places of image m of the result. */
static inline int64_t mw__sample_image(const mw__sample *sample, int64_t m) { return m % sample->images; }
static inline int64_t mw__sample_plane(const mw__sample *sample, int64_t m)
{
    return m / (sample->count / sample->planes);
}

/* The coordinate of element i of the result along an axis, which a matrix maps. */
double mw__sample_coordinate(const mw__sample *sample, int axis, int64_t i);

/* Where element i of a crop lies along an axis, of a box of four numbers as the operation has them. */
double mw__sample_in_box(const mw__sample *sample, const double box[4], int axis, int64_t i);

/* Its parts: start + fraction * length(span) + shift, of a box that spans so many pixels from the center of its first
 * to the center of its last. */
double mw__sample_fraction(const mw__sample *sample, int axis, int64_t i);
typedef enum mw__sample_length {
    MW__LENGTH_SPAN,    /* span */
    MW__LENGTH_EXTENT,  /* span + 1 */
    MW__LENGTH_POSITIVE /* max(1, span) */
} mw__sample_length;
mw__sample_length mw__sample_length_of(const mw__sample *sample);
double mw__sample_box_shift(const mw__sample *sample);

/* How far beyond the center of the last pixel a place of a crop is still inside: what rounding makes of an edge. */
#define MW__SAMPLE_SLACK (1.0 / 4096.0)

/* MIL's names; NULL for a value outside the enumeration. */
const char *mw__border_name(mw_border border);
const char *mw__coordinates_name(mw_coordinates coordinates);
const char *mw__box_name(mw_box box);
const char *mw__nearest_name(bool nearest);

#endif
