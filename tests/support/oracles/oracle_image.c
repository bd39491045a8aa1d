/* The reference evaluator: ops/image.def. Grids are kept as fractions, so that the nearest element is exact. */
#include "support/oracles/oracle.h"

#include <math.h>
#include <string.h>

/* Position (up / down) of element i, by the formulas of coremltools' documentation. */
typedef struct fraction {
    int64_t up, down;
} fraction;

static fraction grid(const char *mode, int64_t i, int64_t in, int64_t out)
{
    const bool strict = strcmp(mode, "STRICT_ALIGN_CORNERS") == 0;
    if (strict || strcmp(mode, "ALIGN_CORNERS") == 0) {
        if (out == 1)
            return strict ? (fraction){0, 1} : (fraction){in - 1, 2};
        return (fraction){i * (in - 1), out - 1};
    }
    if (strcmp(mode, "UNALIGN_CORNERS") == 0)
        return (fraction){(2 * i + 1) * in - out, 2 * out};
    if (strcmp(mode, "OFFSET_CORNERS") == 0)
        return (fraction){(2 * i + 1) * (in > 1 ? in - 1 : 1), 2 * out};
    return (fraction){i * in, out};
}

static int64_t floor_of(fraction f) { return f.up >= 0 ? f.up / f.down : -((-f.up + f.down - 1) / f.down); }

static const char *mode_of(const mw__op *op)
{
    if (strncmp(op->kind, "resize", 6) == 0)
        return strcmp(op->kind, "resize_nearest_neighbor") == 0 ? "DEFAULT" : mw__arg_string(op, "sampling_mode");
    const bool align = oracle_flag(op, "align_corners", 0);
    bool half = !align;
    for (size_t i = 0; i < op->row->arg_count; i++)
        if (strcmp(op->row->args[i].name, "half_pixel_centers") == 0 && mw__arg_present(op, "half_pixel_centers"))
            half = oracle_flag(op, "half_pixel_centers", 0);
    return align ? "STRICT_ALIGN_CORNERS" : half ? "UNALIGN_CORNERS" : "DEFAULT";
}

/* The weight of element k of x in element i of the result, along axis 0 (height) or 1 (width). */
static double weight(const mw__op *op, int axis, int64_t i, int64_t k, int64_t in, int64_t out)
{
    if (strcmp(op->kind, "upsample_nearest_neighbor") == 0)
        return k == i * in / out;
    if (strcmp(op->kind, "resize") == 0 && axis == 0 && oracle_int(op, "resized_dims") == 1)
        return k == i;
    const char *mode = mode_of(op);
    fraction at = grid(mode, i, in, out);
    if (strcmp(op->kind, "resize_nearest_neighbor") == 0 ||
        (strcmp(op->kind, "resize") == 0 &&
         strcmp(mw__arg_string(op, "interpolation_mode"), "NEAREST_NEIGHBOR") == 0)) {
        if (strcmp(mode, "DEFAULT") != 0)
            at = (fraction){2 * at.up + at.down, 2 * at.down};
        else if (strcmp(op->kind, "resize") == 0)
            at = (fraction){(2 * i + 1) * in, 2 * out}; /* the element whose cell holds the center */
        const int64_t nearest = floor_of(at);
        return k == (nearest < 0 ? 0 : nearest > in - 1 ? in - 1 : nearest);
    }
    const double position = fmin(fmax((double)at.up / (double)at.down, 0.0), (double)(in - 1));
    return fmax(0.0, 1.0 - fabs(position - (double)k)); /* a tent around each element */
}

static bool resample(oracle *o, const mw__op *op)
{
    const double *x = oracle_arg(o, op, "x");
    mw_shape in = oracle_shape(op, "x"), out = op->results[0]->type->shape;
    const int64_t width = in.dim[in.rank - 1], height = in.rank > 1 ? in.dim[in.rank - 2] : 1;
    const int64_t columns = out.dim[out.rank - 1], lines = out.rank > 1 ? out.dim[out.rank - 2] : 1;
    for (int64_t e = 0; e < mw_shape_count(out); e++) {
        const int64_t image = e / columns / lines, i = e / columns % lines, j = e % columns;
        double sum = 0.0;
        for (int64_t h = 0; h < height; h++)
            for (int64_t w = 0; w < width; w++)
                sum += weight(op, 0, i, h, height, lines) * weight(op, 1, j, w, width, columns) *
                       x[(image * height + h) * width + w];
        o->data[op->results[0]->id][e] = sum;
    }
    return true;
}

static bool crop(oracle *o, const mw__op *op)
{
    int64_t rows[2 * MW_RANK_MAX], columns[2 * MW_RANK_MAX];
    oracle_ints(op, "crop_height", rows);
    oracle_ints(op, "crop_width", columns);
    mw_shape out = op->results[0]->type->shape;
    for (int64_t e = 0; e < mw_shape_count(out); e++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(out, e, at);
        at[2] += rows[0], at[3] += columns[0];
        o->data[op->results[0]->id][e] = oracle_arg(o, op, "x")[oracle_ravel(oracle_shape(op, "x"), at)];
    }
    return true;
}

bool oracle_of_image(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"upsample_nearest_neighbor", resample},
                                      {"upsample_bilinear", resample},
                                      {"resize_nearest_neighbor", resample},
                                      {"resize_bilinear", resample},
                                      {"resize", resample},
                                      {"crop", crop}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}
