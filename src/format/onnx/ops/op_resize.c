/* Resizing and sampling. What MIL has an operation for is that operation; else an axis is a gather (nearest) or a
 * product with a matrix of weights (linear, cubic), n elements to m. */
#include "base/number/integer.h"
#include "format/onnx/read/import.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/gather.h>
#include <millwright/ops/image.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/sample.h>
#include <millwright/ops/shape.h>

#include <math.h>
#include <string.h>

typedef enum place { HALF_PIXEL, PYTORCH_HALF_PIXEL, ALIGN_CORNERS, ASYMMETRIC, TF_HALF_PIXEL } place;
typedef enum rounding { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL } rounding;
typedef enum kernel { NEAREST, LINEAR, CUBIC } kernel;

typedef struct resize {
    kernel kernel;
    place place;
    rounding rounding;
    double cubic; /* the coefficient a */
    bool exclude_outside;
    mw_shape from, to;
    double scale[MW_RANK_MAX];
} resize;

enum { MATRIX_MAX = 1 << 22 };

/* ---- what is asked for ---- */

static mw_status find_word(mw__onnx_node *node, const char *name, const char *const *words, int count, int *out)
{
    if (mw__onnx_attribute(node, name) == NULL)
        return MW_OK;
    for (int i = 0; i < count; i++)
        if (mw__onnx_is(node, name, words[i])) {
            *out = i;
            return MW_OK;
        }
    return mw__onnx_refuse(node, "its %s is not supported", name);
}

static mw_status read_modes(mw__onnx_node *node, resize *r)
{
    static const char *const kernels[] = {"nearest", "linear", "cubic", "bilinear"};
    static const char *const places[] = {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                         "tf_half_pixel_for_nn"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    const bool old = node->opset < 11; /* and Upsample: positions i / scale, of which the whole part */
    int at_kernel = NEAREST, at_place = old ? ASYMMETRIC : HALF_PIXEL, at_rounding = old ? FLOOR : PREFER_FLOOR;
    MW_TRY(find_word(node, "mode", kernels, 4, &at_kernel));
    MW_TRY(find_word(node, "coordinate_transformation_mode", places, 5, &at_place));
    MW_TRY(find_word(node, "nearest_mode", roundings, 4, &at_rounding));
    r->kernel = at_kernel == 3 ? LINEAR : (kernel)at_kernel;
    r->place = (place)at_place;
    r->rounding = (rounding)at_rounding;
    r->cubic = mw__onnx_float(node, "cubic_coeff_a", -0.75);
    r->exclude_outside = mw__onnx_int(node, "exclude_outside", 0) != 0;
    if (mw__onnx_int(node, "antialias", 0) != 0 || mw__onnx_attribute(node, "axes") != NULL ||
        (mw__onnx_attribute(node, "keep_aspect_ratio_policy") != NULL &&
         !mw__onnx_is(node, "keep_aspect_ratio_policy", "stretch")))
        return mw__onnx_refuse(node, "antialias, axes and keep_aspect_ratio_policy are not supported");
    return MW_OK;
}

static mw_status read_scales(mw__onnx_node *node, size_t index, resize *r)
{
    size_t count;
    MW_TRY(mw__onnx_known_floats(node, index, r->scale, MW_RANK_MAX, &count));
    if (count != (size_t)r->from.rank)
        return mw__onnx_refuse(node, "%zu scales for rank %d", count, r->from.rank);
    for (int i = 0; i < r->from.rank; i++) {
        const double extent = floor((double)r->from.dim[i] * r->scale[i]);
        if (!(r->scale[i] > 0 && extent >= 1 && extent <= INT32_MAX))
            return mw__onnx_refuse(node, "a scale of %g", r->scale[i]);
        r->to.dim[i] = (int64_t)extent;
    }
    return MW_OK;
}

static mw_status read_sizes(mw__onnx_node *node, resize *r)
{
    size_t count;
    MW_TRY(mw__onnx_known_ints(node, 3, r->to.dim, MW_RANK_MAX, &count));
    if (count != (size_t)r->from.rank)
        return mw__onnx_refuse(node, "%zu sizes for rank %d", count, r->from.rank);
    for (int i = 0; i < r->from.rank; i++) {
        if (r->to.dim[i] < 1 || r->to.dim[i] > INT32_MAX || r->from.dim[i] < 1)
            return mw__onnx_refuse(node, "a size of %lld", (long long)r->to.dim[i]);
        r->scale[i] = (double)r->to.dim[i] / (double)r->from.dim[i];
    }
    return MW_OK;
}

/* Upsample of opset 7 and 8 has its scales in an attribute. */
static mw_status read_attribute_scales(mw__onnx_node *node, resize *r)
{
    const Mw__Onnx__Attribute *scales = mw__onnx_attribute(node, "scales");
    if (scales == NULL || scales->n_floats != (size_t)r->from.rank)
        return mw__onnx_refuse(node, "it has no scale for each axis");
    for (int i = 0; i < r->from.rank; i++) {
        r->scale[i] = (double)scales->floats[i];
        r->to.dim[i] = (int64_t)floor((double)r->from.dim[i] * r->scale[i]);
        if (!(r->scale[i] >= 1 && r->scale[i] < 65536))
            return mw__onnx_refuse(node, "a scale of %g", r->scale[i]);
    }
    return MW_OK;
}

static mw_status read_resize(mw__onnx_node *node, resize *r)
{
    r->from = r->to = mw__onnx_shape(node, 0);
    MW_TRY(read_modes(node, r));
    if (node->opset < 9)
        return read_attribute_scales(node, r);
    const size_t scales = strcmp(node->proto->op_type, "Upsample") == 0 || node->opset < 11 ? 1 : 2;
    const bool sizes = scales == 2 && mw__onnx_has(node, 3) && mw_shape_count(mw__onnx_shape(node, 3)) > 0;
    if (!sizes && !mw__onnx_has(node, scales))
        return mw__onnx_refuse(node, "it has neither scales nor sizes");
    return sizes ? read_sizes(node, r) : read_scales(node, scales, r);
}

/* ---- one axis ---- */

/* Where element i of the result stands among those of x. */
static double position(const resize *r, int axis, int64_t i)
{
    const double n = (double)r->from.dim[axis], whole = (double)r->to.dim[axis], at = (double)i;
    const double scale = r->scale[axis], cut = n * scale; /* ONNX's reference takes the extent before it is cut down */
    const double m = fabs(cut - whole) < 1e-6 * whole ? whole : cut;
    switch (r->place) {
    case ALIGN_CORNERS:
        return m > 1 ? at * (n - 1) / (m - 1) : 0;
    case ASYMMETRIC:
        return at / scale;
    case TF_HALF_PIXEL:
        return (at + 0.5) / scale;
    case PYTORCH_HALF_PIXEL:
        return m > 1 ? (at + 0.5) / scale - 0.5 : 0;
    default:
        return (at + 0.5) / scale - 0.5;
    }
}

static int64_t nearest(const resize *r, int axis, int64_t i)
{
    const double at = position(r, axis, i);
    const double rounded = r->rounding == PREFER_FLOOR  ? ceil(at - 0.5)
                           : r->rounding == PREFER_CEIL ? floor(at + 0.5)
                           : r->rounding == FLOOR       ? floor(at)
                                                        : ceil(at);
    return mw__i64_clamp((int64_t)rounded, 0, r->from.dim[axis] - 1);
}

/* Keys 1981, of the distance d. */
static double cubic_weight(double a, double d)
{
    d = fabs(d);
    if (d <= 1)
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Column i of the matrix [n, m]. */
static void weigh_column(const resize *r, int axis, int64_t i, float *matrix)
{
    const int64_t n = r->from.dim[axis], m = r->to.dim[axis];
    const double at = position(r, axis, i), low = floor(at);
    const int reach = r->kernel == CUBIC ? 2 : 1;
    double weights[4], total = 0;
    for (int k = 0; k < 2 * reach; k++) {
        const double d = at - (low + (double)(k + 1 - reach));
        const int64_t from = (int64_t)low + k + 1 - reach;
        weights[k] = r->kernel == CUBIC ? cubic_weight(r->cubic, d) : 1 - fabs(d);
        if (r->exclude_outside && (from < 0 || from >= n))
            weights[k] = 0;
        total += weights[k];
    }
    for (int k = 0; k < 2 * reach; k++) {
        const int64_t from = mw__i64_clamp((int64_t)low + k + 1 - reach, 0, n - 1);
        matrix[from * m + i] += (float)(weights[k] / (r->exclude_outside ? total : 1));
    }
}

static mw_tensor *make_matrix(mw__onnx_node *node, const resize *r, int axis, mw_dtype dtype)
{
    const int64_t n = r->from.dim[axis], m = r->to.dim[axis];
    const mw_allocator *allocator = node->import->arena.allocator;
    if (mw__onnx_charge(node->import, (uint64_t)(n * m), 2 * sizeof(float)) != MW_OK)
        return NULL;
    float *matrix = mw__alloc(allocator, (size_t)(n * m), sizeof *matrix, node->import->err); /* [n, m] */
    if (matrix == NULL)
        return NULL;
    for (int64_t i = 0; i < m; i++)
        weigh_column(r, axis, i, matrix);
    mw_tensor *made = mw_constant(node->graph, MW_F32, MW_SHAPE(n, m), matrix);
    mw__free(allocator, matrix);
    return mw__onnx_to(made, dtype);
}

/* The axis becomes the last one and comes back. */
static mw_tensor *weigh_axis(mw__onnx_node *node, const resize *r, mw_tensor *x, int axis)
{
    const int rank = r->from.rank;
    mw_axes perm = {.count = rank};
    for (int i = 0; i < rank; i++)
        perm.axis[i] = i == axis ? rank - 1 : i == rank - 1 ? axis : i;
    mw_tensor *matrix = make_matrix(node, r, axis, mw_tensor_dtype(x));
    if (axis == rank - 1)
        return mw_matmul(x, matrix, MW_TRANSPOSE_NONE);
    return mw_transpose(mw_matmul(mw_transpose(x, perm), matrix, MW_TRANSPOSE_NONE), perm);
}

static mw_tensor *pick_axis(mw__onnx_node *node, const resize *r, mw_tensor *x, int axis)
{
    const int64_t m = r->to.dim[axis];
    const mw_allocator *allocator = node->import->arena.allocator;
    if (mw__onnx_charge(node->import, (uint64_t)m, 2 * sizeof(int32_t)) != MW_OK)
        return NULL;
    int32_t *indices = mw__alloc(allocator, (size_t)m, sizeof *indices, node->import->err);
    if (indices == NULL)
        return NULL;
    for (int64_t i = 0; i < m; i++)
        indices[i] = (int32_t)nearest(r, axis, i);
    mw_tensor *made = mw_constant(node->graph, MW_I32, MW_SHAPE(m), indices);
    mw__free(allocator, indices);
    return mw_gather(x, made, axis);
}

/* ---- operators ---- */

/* Only the last two of four axes, by the ratio of the extents. */
static bool is_image(const resize *r)
{
    bool image = r->from.rank == 4 && r->from.dim[0] == r->to.dim[0] && r->from.dim[1] == r->to.dim[1];
    for (int i = 2; image && i < 4; i++)
        image = r->scale[i] * (double)r->from.dim[i] == (double)r->to.dim[i];
    return image;
}

/* One operation of MIL, NULL if there is none that says the same. */
static mw_tensor *by_operation(const resize *r, mw_tensor *x)
{
    if (!is_image(r))
        return NULL;
    const int64_t height = r->to.dim[2], width = r->to.dim[3];
    const bool whole =
        fmod((double)height, (double)r->from.dim[2]) == 0 && fmod((double)width, (double)r->from.dim[3]) == 0;
    if (r->kernel == NEAREST && r->place == ASYMMETRIC && r->rounding == FLOOR && whole)
        return mw_upsample_nearest_neighbor(x, (float)r->scale[2], (float)r->scale[3]);
    if (r->kernel != LINEAR)
        return NULL;
    if (r->place == HALF_PIXEL || (r->place == PYTORCH_HALF_PIXEL && height > 1 && width > 1))
        return mw_resize_bilinear(x, height, width, MW_SAMPLING_UNALIGN_CORNERS);
    return r->place == ALIGN_CORNERS ? mw_resize_bilinear(x, height, width, MW_SAMPLING_STRICT_ALIGN_CORNERS) : NULL;
}

static mw_status check_sizes(mw__onnx_node *node, const resize *r)
{
    if (mw_shape_count(r->to) < 0)
        return mw__onnx_refuse(node, "its result is too large");
    for (int i = 0; i < r->from.rank; i++)
        if (r->kernel != NEAREST && r->from.dim[i] != r->to.dim[i] && r->to.dim[i] > MATRIX_MAX / r->from.dim[i])
            return mw__onnx_refuse(node, "%lld elements of %lld are too many", (long long)r->to.dim[i],
                                   (long long)r->from.dim[i]);
    return MW_OK;
}

mw_status mw__onnx_resize(mw__onnx_node *node)
{
    resize r = {0};
    const int type = mw__onnx_type(node, 0);
    MW_TRY(read_resize(node, &r));
    MW_TRY(check_sizes(node, &r));
    mw_tensor *x = mw__onnx_in(node, 0);
    if (r.kernel != NEAREST && !mw__onnx_is_float(type))
        return mw__onnx_refuse(node, "it is supported of floating-point numbers only");
    mw_tensor *made = mw__onnx_is_float(type) ? by_operation(&r, x) : NULL;
    if (made != NULL)
        return mw__onnx_set(node, 0, type, made);
    for (int i = 0; x != NULL && i < r.from.rank; i++)
        if (r.from.dim[i] != r.to.dim[i] || r.scale[i] != 1)
            x = r.kernel == NEAREST ? pick_axis(node, &r, x, i) : weigh_axis(node, &r, x, i);
    return mw__onnx_set(node, 0, type, x);
}

mw_status mw__onnx_grid_sample(mw__onnx_node *node)
{
    mw_resample_options options = mw_resample_defaults();
    options.align_corners = mw__onnx_int(node, "align_corners", 0) != 0;
    if (mw__onnx_shape(node, 0).rank != 4 || mw__onnx_is(node, "mode", "bicubic") || mw__onnx_is(node, "mode", "cubic"))
        return mw__onnx_refuse(node, "linear and nearest modes of images are supported");
    if (mw__onnx_is(node, "mode", "nearest"))
        options.interpolation = MW_INTERPOLATION_NEAREST;
    if (mw__onnx_is(node, "padding_mode", "border"))
        options.border = MW_BORDER_NEAREST;
    if (mw__onnx_is(node, "padding_mode", "reflection"))
        options.border = options.align_corners ? MW_BORDER_REFLECT : MW_BORDER_SYMMETRIC;
    mw_tensor *x = mw__onnx_in(node, 0), *grid = mw__onnx_in(node, 1);
    mw_tensor *made = mw_resample(x, grid, &options);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), made);
}
