/* The reference evaluator: ops/sample.def. An element is a sum over whole pixels, those outside included, each with a
 * tent around it; what a pixel outside is follows from its number. (The kernel moves the place instead.) */
#include "support/oracles/oracle.h"

#include <math.h>
#include <string.h>

typedef struct image {
    const double *data;
    int64_t height, width;
    const char *border;
    double value;
} image;

/* The pixel that stands for pixel i, which may be outside; -1 = the constant. */
static int64_t inside(const char *border, int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i;
    if (strcmp(border, "constant") == 0)
        return -1;
    if (strcmp(border, "border") == 0)
        return i < 0 ? 0 : n - 1;
    const bool edges = strcmp(border, "symmetric") == 0; /* 2 1 0 0 1 2 2 1 0, or 2 1 0 1 2 1 0 */
    const int64_t period = edges ? 2 * n : n > 1 ? 2 * (n - 1) : 1;
    const int64_t turn = (i % period + period) % period;
    return turn < n ? turn : edges ? period - 1 - turn : period - turn;
}

static double pixel(const image *m, int64_t i, int64_t j)
{
    const int64_t row = inside(m->border, i, m->height), column = inside(m->border, j, m->width);
    return row < 0 || column < 0 ? m->value : m->data[row * m->width + column];
}

static double linear(const image *m, double row, double column)
{
    const int64_t top = (int64_t)floor(row), left = (int64_t)floor(column);
    double sum = 0.0;
    for (int64_t i = top - 1; i <= top + 2; i++)
        for (int64_t j = left - 1; j <= left + 2; j++)
            sum += fmax(0.0, 1.0 - fabs(row - (double)i)) * fmax(0.0, 1.0 - fabs(column - (double)j)) * pixel(m, i, j);
    return sum;
}

static double nearest(const image *m, double row, double column)
{
    return pixel(m, (int64_t)rint(row), (int64_t)rint(column));
}

/* ---- coordinates ---- */

static double to_pixel(const mw__op *op, double at, int64_t n)
{
    const char *mode = mw__arg_string(op, "coordinates_mode");
    if (strcmp(mode, "unnormalized") == 0)
        return at;
    const double part = strcmp(mode, "normalized_minus_one_to_one") == 0 ? (at + 1.0) / 2.0 : at;
    return oracle_flag(op, "align_corners", 0) ? part * (double)(n - 1) : part * (double)n - 0.5;
}

static double from_pixel(const mw__op *op, int64_t i, int64_t n)
{
    const char *mode = mw__arg_string(op, "coordinates_mode");
    if (strcmp(mode, "unnormalized") == 0)
        return (double)i;
    const bool align = oracle_flag(op, "align_corners", 0);
    const double part = align ? (n > 1 ? (double)i / (double)(n - 1) : 0.0) : ((double)i + 0.5) / (double)n;
    return strcmp(mode, "normalized_minus_one_to_one") == 0 ? part * 2.0 - 1.0 : part;
}

static bool sample(oracle *o, const mw__op *op)
{
    const mw_shape in = oracle_shape(op, "x"), out = op->results[0]->type->shape;
    const bool affine = strcmp(op->kind, "affine") == 0;
    const double *places = oracle_arg(o, op, affine ? "transform_matrix" : "coordinates");
    const bool shared = affine && oracle_shape(op, "transform_matrix").dim[0] == 1;
    for (int64_t e = 0; e < mw_shape_count(out); e++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(out, e, at);
        const double *p = places + 2 * ((at[0] * out.dim[2] + at[2]) * out.dim[3] + at[3]);
        double column, row;
        if (affine) {
            const double *m = places + (shared ? 0 : 6 * at[0]);
            const double s = from_pixel(op, at[3], out.dim[3]), t = from_pixel(op, at[2], out.dim[2]);
            column = m[0] * s + m[1] * t + m[2], row = m[3] * s + m[4] * t + m[5];
        } else {
            column = p[0], row = p[1];
        }
        const image m = {.data = oracle_arg(o, op, "x") + (at[0] * in.dim[1] + at[1]) * in.dim[2] * in.dim[3],
                         .height = in.dim[2],
                         .width = in.dim[3],
                         .border = mw__arg_string(op, "padding_mode"),
                         .value = oracle_number(op, "padding_value")};
        const bool near = strcmp(mw__arg_string(op, "sampling_mode"), "nearest") == 0;
        row = to_pixel(op, row, in.dim[2]), column = to_pixel(op, column, in.dim[3]);
        o->data[op->results[0]->id][e] = near ? nearest(&m, row, column) : linear(&m, row, column);
    }
    return true;
}

/* ---- boxes ---- */

/* Element i of `out` between two edges, by the formulas of resize_bilinear's documentation for a box of
 * end - start + 1 pixels. */
static double between(const char *mode, double start, double end, int64_t i, int64_t out)
{
    const double n = end - start + 1.0, m = (double)out, at = (double)i;
    if (strcmp(mode, "STRICT_ALIGN_CORNERS") == 0)
        return out == 1 ? start : start + at * (n - 1.0) / (m - 1.0);
    if (strcmp(mode, "ALIGN_CORNERS") == 0)
        return out == 1 ? start + (n - 1.0) / 2.0 : start + at * (n - 1.0) / (m - 1.0);
    if (strcmp(mode, "UNALIGN_CORNERS") == 0)
        return start + at * n / m + 0.5 * n / m - 0.5;
    if (strcmp(mode, "OFFSET_CORNERS") == 0)
        return start + (0.5 + at) * fmax(1.0, n - 1.0) / m;
    return out == 1 ? start : start + at * (n - n / m) / (m - 1.0);
}

/* Where element i lies along the height or width; `box` has four numbers. */
static double in_box(const mw__op *op, const double *box, bool wide, int64_t n, int64_t i, int64_t out)
{
    const char *mode = mw__arg_string(op, "box_coordinate_mode");
    const size_t length = strlen(mode);
    const bool width_first = length > 11 && strcmp(mode + length - 11, "WIDTH_FIRST") == 0;
    const double a = box[wide != width_first], b = box[2 + (wide != width_first)];
    const bool center = strncmp(mode, "CENTER", 6) == 0;
    const double scale =
        oracle_number(op, "spatial_scale") * (oracle_flag(op, "normalized_coordinates", 0) ? (double)(n - 1) : 1.0);
    const double start = center ? a - b / 2.0 : a, end = center ? a + b / 2.0 : b;
    const bool inverted = !center && end < start && oracle_flag(op, "normalized_coordinates", 0) &&
                          strcmp(mw__arg_string(op, "sampling_mode"), "UNALIGN_CORNERS") == 0;
    if (inverted) /* the whole image */
        return between("UNALIGN_CORNERS", 0.0, (double)(n - 1), i, out);
    return between(mw__arg_string(op, "sampling_mode"), start * scale, end * scale, i, out);
}

/* The image that box r is of; result image `which` of its box. */
static int64_t image_of(const oracle *o, const mw__op *op, int64_t r, int64_t which)
{
    if (strcmp(op->row->args[1].name, "box_indices") == 0)
        return mw__arg_present(op, "box_indices") ? (int64_t)oracle_arg(o, op, "box_indices")[r] : r;
    if (oracle_shape(op, "roi").dim[2] != 5)
        return which;
    const double index = oracle_arg(o, op, "roi")[5 * r];
    return index >= 0.0 && index < (double)oracle_shape(op, "x").dim[0] ? (int64_t)index : -1;
}

static bool crop_resize(oracle *o, const mw__op *op)
{
    const mw_shape in = oracle_shape(op, "x"), out = op->results[0]->type->shape;
    const bool boxes = strcmp(op->row->args[1].name, "box_indices") == 0;
    const int64_t numbers = boxes ? 4 : oracle_shape(op, "roi").dim[2];
    const int64_t height = out.dim[out.rank - 2], width = out.dim[out.rank - 1], each = boxes ? 1 : out.dim[1];
    const double value = op->row->id == MW__OP_crop_resize ? 0.0 : oracle_number(op, "pad_value");
    for (int64_t e = 0; e < mw_shape_count(out); e++) {
        const int64_t j = e % width, i = e / width % height, c = e / width / height % in.dim[1];
        const int64_t which = e / width / height / in.dim[1] % each, r = e / width / height / in.dim[1] / each;
        const double *box = oracle_arg(o, op, boxes ? "boxes" : "roi") + r * numbers + (numbers - 4);
        double row = in_box(op, box, false, in.dim[2], i, height), column = in_box(op, box, true, in.dim[3], j, width);
        const int64_t of = image_of(o, op, r, which);
        const double slack = 1.0 / 4096.0, bottom = (double)(in.dim[2] - 1), right = (double)(in.dim[3] - 1);
        const bool known = of >= 0 && of < in.dim[0] && row >= -slack && column >= -slack && row <= bottom + slack &&
                           column <= right + slack;
        const image m = {.data = known ? oracle_arg(o, op, "x") + (of * in.dim[1] + c) * in.dim[2] * in.dim[3] : NULL,
                         .height = in.dim[2],
                         .width = in.dim[3],
                         .border = "border"};
        row = fmin(fmax(row, 0.0), bottom), column = fmin(fmax(column, 0.0), right);
        o->data[op->results[0]->id][e] = known ? linear(&m, row, column) : value;
    }
    return true;
}

bool oracle_of_sample(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"resample", sample}, {"affine", sample}, {"crop_resize", crop_resize}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}
