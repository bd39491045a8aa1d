/* Images sampled anew: Resize where ONNX stands at the same positions, computed without rounding; else rows and columns
 * that are gathered (nearest), or products with matrices of weights (linear). */
#include "format/onnx/write/write_args.h"
#include "graph/geometry/resample.h"

enum { MATRIX_MAX = 1 << 22 };

/* ---- one operator ---- */

/* A whole factor, by which every position is exact; 0 if there is none. */
static int64_t factor_of(const mw__op *op, const mw__resample *axis, const char *argument)
{
    if (axis->in >= 0 && axis->out >= 0)
        return axis->out % axis->in == 0 ? axis->out / axis->in : 0;
    const double factor = mw__arg_exists(op, argument) ? mw__arg_number(op, argument) : 0;
    return factor >= 1 && factor <= 1024 && factor == (double)(int64_t)factor ? (int64_t)factor : 0;
}

/* ONNX's word for where elements stand; NULL if it has none, for one of the axes. */
static const char *place_of(const mw__resample axes[2], const int64_t factors[2])
{
    const bool whole_factors = factors[0] > 0 && factors[1] > 0;
    const bool one = axes[0].out == 1 || axes[1].out == 1; /* of which ALIGN_CORNERS takes the middle */
    const mw_sampling_mode sampling = axes[0].sampling;
    if (axes[0].nearest) /* (i + 1/2) / k has the same whole part */
        return whole_factors && (sampling == MW_SAMPLING_DEFAULT || sampling == MW_SAMPLING_UNALIGN_CORNERS)
                   ? "asymmetric"
                   : NULL;
    switch (sampling) {
    case MW_SAMPLING_DEFAULT:
        return "asymmetric";
    case MW_SAMPLING_STRICT_ALIGN_CORNERS:
        return "align_corners";
    case MW_SAMPLING_ALIGN_CORNERS:
        return one ? NULL : "align_corners";
    case MW_SAMPLING_UNALIGN_CORNERS:
        return "half_pixel";
    default:
        return NULL;
    }
}

static const char *scales_of(mw__onnx_writer *w, int rank, const int64_t factors[2])
{
    float scales[MW_RANK_MAX];
    for (int i = 0; i < rank; i++)
        scales[i] = i < rank - 2 ? 1.0F : (float)factors[i - rank + 2];
    return mw__onnx_tensor(w, MW_F32, (mw_shape){1, {rank}}, scales);
}

static void put_resize(mw__onnx_writer *w, const mw__op *op, const mw__resample axes[2], const int64_t factors[2],
                       const char *place)
{
    const int rank = result_shape(op).rank;
    const mw_shape shape = result_shape(op);
    const bool scaled = factors[0] > 0 && factors[1] > 0;
    const char *const in[] = {arg(w, op, "x"), "", scaled ? scales_of(w, rank, factors) : "",
                              scaled ? NULL : mw__onnx_longs(w, shape.dim, (size_t)rank)};
    pb_node *node = mw__onnx_node_of(w, "Resize", result(w, op), in, 4);
    mw__onnx_put_text(w, node, "mode", axes[0].nearest ? "nearest" : "linear");
    mw__onnx_put_text(w, node, "coordinate_transformation_mode", place);
    if (axes[0].nearest)
        mw__onnx_put_text(w, node, "nearest_mode", "floor");
}

/* ---- axis by axis ---- */

static const char *gather_axis(mw__onnx_writer *w, const mw__op *op, const char *out, const char *x,
                               const mw__resample *axis, int at)
{
    int64_t *places = mw__onnx_table(w, op, axis->out, sizeof *places);
    for (int64_t i = 0; places != NULL && i < axis->out; i++)
        places[i] = mw__resample_tap(axis, i).low;
    const char *const in[] = {x, places != NULL ? mw__onnx_longs(w, places, (size_t)axis->out) : NULL};
    pb_node *node = mw__onnx_node_of(w, "Gather", out, in, 2);
    mw__onnx_put_int(w, node, "axis", at);
    return mw__onnx_name(node);
}

/* [out, in], or turned round. */
static const char *matrix_of(mw__onnx_writer *w, const mw__op *op, const mw__resample *axis, bool turned)
{
    float *weights = mw__onnx_table(w, op, axis->in * axis->out, sizeof *weights);
    if (weights == NULL)
        return NULL;
    for (int64_t i = 0; i < axis->out; i++) {
        const mw__tap tap = mw__resample_tap(axis, i);
        weights[turned ? tap.low * axis->out + i : i * axis->in + tap.low] += (float)(1 - tap.weight);
        weights[turned ? tap.high * axis->out + i : i * axis->in + tap.high] += (float)tap.weight;
    }
    const mw_shape shape = {2, {turned ? axis->in : axis->out, turned ? axis->out : axis->in}};
    return mw__onnx_tensor(w, MW_F32, shape, weights);
}

static const char *weigh_axis(mw__onnx_writer *w, const mw__op *op, const mw__resample *axis, bool turned)
{
    const char *matrix = matrix_of(w, op, axis, turned);
    return dtype_of(op) == MW_F32 ? matrix : mw__onnx_cast_to(w, NULL, matrix, dtype_of(op));
}

static void put_axes(mw__onnx_writer *w, const mw__op *op, const mw__resample axes[2])
{
    const int rank = result_shape(op).rank;
    const char *x = arg(w, op, "x");
    if (axes[0].nearest) {
        x = rank > 1 && axes[0].in != axes[0].out ? gather_axis(w, op, NULL, x, &axes[0], rank - 2) : x;
        gather_axis(w, op, result(w, op), x, &axes[1], rank - 1);
        return;
    }
    if (rank > 1 && axes[0].in != axes[0].out)
        x = mw__onnx_make(w, "MatMul", NULL, weigh_axis(w, op, &axes[0], false), x);
    mw__onnx_make(w, "MatMul", result(w, op), x, weigh_axis(w, op, &axes[1], true));
}

static bool is_small(const mw__resample *axis)
{
    return axis->in >= 1 && axis->out >= 1 && axis->in <= MATRIX_MAX / axis->out;
}

void mw__onnx_write_resize(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__resample axes[2];
    (void)operation;
    if (mw__resample_plan(op, mw__arg_shape(op, "x"), axes, w->err) != MW_OK)
        return;
    const int64_t factors[] = {factor_of(op, &axes[0], "scale_factor_height"),
                               factor_of(op, &axes[1], "scale_factor_width")};
    const char *place = place_of(axes, factors);
    const bool sized = (factors[0] > 0 && factors[1] > 0) || mw_shape_count(result_shape(op)) >= 0;
    if (dtype_of(op) == MW_I32 && !axes[0].nearest)
        mw__onnx_cannot(w, op, "of integers it is not written yet");
    else if (place != NULL && sized && result_shape(op).rank > 1)
        put_resize(w, op, axes, factors, place);
    else if (is_small(&axes[0]) && is_small(&axes[1]))
        put_axes(w, op, axes);
    else
        mw__onnx_cannot(w, op, "its extents are not known, or too large for matrices of weights");
}
