/* Quantization: shape rules and constructors of ops/quantize.def. What constexpr operations hold is in compressed.h. */
#include <millwright/ops/quantize.h>

#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "graph/constants/compressed.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>
#include <string.h>

/* ---- what the rules share ---- */

enum {
    BITS_8 = 1 << MW_I8 | 1 << MW_U8,
    BITS_4 = 1 << MW_I4 | 1 << MW_U4,
    FLOATS = 1 << MW_F16 | 1 << MW_F32,
    CODES = 1 << MW_U1 | 1 << MW_U2 | 1 << MW_U3 | 1 << MW_U4 | 1 << MW_U6 | 1 << MW_U8
};

/* An argument, if present, of one of the types of `set`, all of its extents known. */
static mw_status check_type(const mw__infer *infer, const char *arg, unsigned set, const char *names)
{
    char text[200];
    const mw_tensor *value = mw__arg(infer->op, arg);
    if (value == NULL)
        return MW_OK;
    const mw_dtype dtype = mw_tensor_dtype(value);
    if ((set >> (unsigned)dtype & 1u) == 0)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s is %s, not %s", arg, mw_dtype_name(dtype), names);
    if (mw__row_arg(infer->op->row, arg)->kind == MW__CONST && mw_shape_count(mw_tensor_shape(value)) < 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must have a known size, not %s", arg,
                             mw__shape_print(mw_tensor_shape(value), text, sizeof text));
    return MW_OK;
}

static mw_status check_vector(const mw__infer *infer, const char *arg)
{
    char text[200];
    const mw_shape shape = mw__rule_shape(infer, arg);
    if (shape.rank == 1)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must be a vector, not %s", arg,
                         mw__shape_print(shape, text, sizeof text));
}

/* A scalar, or a vector along `axis` of `x`. */
static mw_status check_along(const mw__infer *infer, const char *arg, const char *x, int axis)
{
    char text[200];
    const mw_shape shape = mw__rule_shape(infer, arg), data = mw__rule_shape(infer, x);
    if (!mw__arg_present(infer->op, arg) || shape.rank == 0)
        return MW_OK;
    if (shape.rank == 1 && mw__dim_fits(shape.dim[0], data.dim[axis]))
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_SHAPE,
                         "%s must be a scalar or have the %" PRId64 " elements of axis %d, not %s", arg, data.dim[axis],
                         axis, mw__shape_print(shape, text, sizeof text));
}

/* The extents of `parts` divide those of `data`. */
static mw_status check_blocks(const mw__infer *infer, const char *parts, const char *data)
{
    const mw_shape part = mw__rule_shape(infer, parts), whole = mw__rule_shape(infer, data);
    for (int axis = 0; axis < whole.rank; axis++)
        if (part.dim[axis] < 1 || whole.dim[axis] % part.dim[axis] != 0)
            return mw__rule_fail(infer, MW_ERROR_SHAPE,
                                 "%s has %" PRId64 " blocks on axis %d, which do not divide the extent %" PRId64
                                 " of %s",
                                 parts, part.dim[axis], axis, whole.dim[axis], data);
    return MW_OK;
}

/* ---- quantize and dequantize ---- */

static mw_status check_scales(const mw__infer *infer)
{
    const int rank = mw__rule_shape(infer, "input").rank;
    int axis = 0;
    if (mw__arg_present(infer->op, "axis"))
        MW_TRY(mw__rule_axis(infer, "axis", rank, &axis));
    else if (mw__rule_shape(infer, "scale").rank > 0 || mw__rule_shape(infer, "zero_point").rank > 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "a vector of scales or zero points needs axis");
    MW_TRY(check_along(infer, "scale", "input", axis));
    return check_along(infer, "zero_point", "input", axis);
}

static mw_status check_zero_point(const mw__infer *infer, mw_dtype dtype)
{
    const mw_tensor *zero_point = mw__arg(infer->op, "zero_point");
    if (zero_point == NULL || mw_tensor_dtype(zero_point) == dtype)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_DTYPE, "zero_point is %s, not %s as the quantized values",
                         mw_dtype_name(mw_tensor_dtype(zero_point)), mw_dtype_name(dtype));
}

mw_status mw__shape_quantize(mw__infer *infer)
{
    const char *name = mw__arg_string(infer->op, "output_dtype");
    const mw_dtype dtype = name == NULL                 ? MW_DTYPE_NONE
                           : strcmp(name, "int8") == 0  ? MW_I8
                           : strcmp(name, "uint8") == 0 ? MW_U8
                                                        : MW_DTYPE_NONE;
    if (dtype == MW_DTYPE_NONE)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "output_dtype \"%s\" is neither int8 nor uint8",
                             name != NULL ? name : "");
    MW_TRY(check_zero_point(infer, dtype));
    MW_TRY(check_scales(infer));
    return mw__rule_result(infer, dtype, mw__rule_shape(infer, "input"));
}

mw_status mw__shape_dequantize(mw__infer *infer)
{
    MW_TRY(check_type(infer, "input", BITS_8, "int8 or uint8"));
    MW_TRY(check_zero_point(infer, mw__rule_dtype(infer, "input")));
    MW_TRY(check_scales(infer));
    return mw__rule_result(infer, mw__rule_dtype(infer, "scale"), mw__rule_shape(infer, "input"));
}

/* ---- constexpr: numbers of few bits ---- */

mw_status mw__shape_affine_dequantize(mw__infer *infer)
{
    int axis = 0;
    MW_TRY(check_type(infer, "quantized_data", BITS_8, "int8 or uint8"));
    MW_TRY(check_type(infer, "scale", FLOATS, "fp16 or fp32"));
    MW_TRY(check_type(infer, "zero_point", BITS_8 | FLOATS, "int8, uint8 or a float type"));
    const mw_shape shape = mw__rule_shape(infer, "quantized_data");
    MW_TRY(mw__rule_axis(infer, "axis", shape.rank, &axis));
    MW_TRY(check_along(infer, "scale", "quantized_data", axis));
    MW_TRY(check_along(infer, "zero_point", "quantized_data", axis));
    return mw__rule_result(infer, mw__rule_dtype(infer, "scale"), shape);
}

mw_status mw__shape_constexpr_cast(mw__infer *infer)
{
    const char *name = mw__arg_string(infer->op, "output_dtype");
    MW_TRY(check_type(infer, "source_val", 1u << MW_F16, "fp16"));
    if (name == NULL || strcmp(name, "fp32") != 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "output_dtype \"%s\" is not fp32", name != NULL ? name : "");
    return mw__rule_result(infer, MW_F32, mw__rule_shape(infer, "source_val"));
}

/* `data` is the tensor of the dense shape, `numbers` that of the quantized type. */
static mw_status check_shift_scale(const mw__infer *infer, const char *data, const char *numbers)
{
    char first[200], second[200];
    const char *const kinds = "int4, uint4, int8, uint8, fp16 or fp32";
    MW_TRY(check_type(infer, numbers, BITS_8 | BITS_4 | FLOATS, kinds));
    MW_TRY(check_type(infer, "scale", FLOATS, "fp16 or fp32"));
    MW_TRY(check_type(infer, "offset", BITS_8 | BITS_4 | FLOATS, kinds));
    const mw_shape shape = mw__rule_shape(infer, data), scale = mw__rule_shape(infer, "scale");
    if (shape.rank < 1 || scale.rank != shape.rank)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "scale %s must have the rank of %s %s, at least 1",
                             mw__shape_print(scale, first, sizeof first), data,
                             mw__shape_print(shape, second, sizeof second));
    MW_TRY(check_blocks(infer, "scale", data));
    if (!mw__arg_present(infer->op, "offset"))
        return MW_OK;
    const mw_dtype offset = mw__rule_dtype(infer, "offset"), dtype = mw__rule_dtype(infer, numbers);
    if (!mw_shape_equal(mw__rule_shape(infer, "offset"), scale))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "offset %s must have the shape of scale %s",
                             mw__shape_print(mw__rule_shape(infer, "offset"), first, sizeof first),
                             mw__shape_print(scale, second, sizeof second));
    if (offset != MW_F16 && offset != MW_F32 && offset != dtype)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "offset is %s, neither %s as %s nor a float type",
                             mw_dtype_name(offset), mw_dtype_name(dtype), numbers);
    return MW_OK;
}

mw_status mw__shape_shift_scale(mw__infer *infer)
{
    MW_TRY(check_type(infer, "data", ~0u, ""));
    MW_TRY(check_shift_scale(infer, "data", "data"));
    return mw__rule_result(infer, mw__rule_dtype(infer, "scale"), mw__rule_shape(infer, "data"));
}

/* ---- constexpr: tables ---- */

/* `shape` of the ios16 forms. */
static mw_status read_shape(const mw__infer *infer, mw_shape *out, int64_t *out_count)
{
    size_t count;
    bool known;
    *out = (mw_shape){0};
    MW_TRY(mw__rule_ints(infer, "shape", out->dim, MW_RANK_MAX, &count, &known));
    out->rank = (int)count;
    if (count == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "shape has no extents");
    for (int i = 0; i < out->rank; i++)
        if (out->dim[i] < 0)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "extent %" PRId64 " of shape is negative", out->dim[i]);
    *out_count = mw_shape_count(*out);
    return *out_count >= 0 ? MW_OK : mw__rule_fail(infer, MW_ERROR_SHAPE, "shape has more than 2^63 elements");
}

/* A vector of ceil(count bits / 8) bytes. */
static mw_status check_packed(const mw__infer *infer, const char *arg, int64_t count, int bits)
{
    MW_TRY(check_type(infer, arg, 1u << MW_U8, "uint8"));
    MW_TRY(check_vector(infer, arg));
    const int64_t found = mw__rule_shape(infer, arg).dim[0];
    const int64_t wanted = count / 8 * bits + (count % 8 * bits + 7) / 8;
    if (found != wanted)
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "%s has %" PRId64 " bytes; %" PRId64 " elements of %d bit%s take %" PRId64, arg, found,
                             count, bits, bits == 1 ? "" : "s", wanted);
    return MW_OK;
}

mw_status mw__shape_packed_lut(mw__infer *infer)
{
    mw_shape shape = {0};
    int64_t count = 0;
    int bits = 1;
    MW_TRY(read_shape(infer, &shape, &count));
    MW_TRY(check_type(infer, "lut", BITS_8 | FLOATS, "int8, uint8, fp16 or fp32"));
    MW_TRY(check_vector(infer, "lut"));
    const int64_t entries = mw__rule_shape(infer, "lut").dim[0];
    while (bits < 8 && (int64_t)1 << bits < entries)
        bits++;
    if ((int64_t)1 << bits != entries || bits == 3 || bits == 5 || bits == 7)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "lut has %" PRId64 " entries, not 2, 4, 16, 64 or 256", entries);
    MW_TRY(check_packed(infer, "indices", count, bits));
    return mw__rule_result(infer, mw__rule_dtype(infer, "lut"), shape);
}

/* `indices` has the shape of the codes, `codes` their type. *out_shape: of the dense constant. */
static mw_status check_lut(const mw__infer *infer, const char *indices, const char *codes, mw_shape *out_shape,
                           int64_t *out_vector)
{
    char first[200], second[200];
    int axis = 0;
    MW_TRY(check_type(infer, codes, CODES, "uint1, uint2, uint3, uint4, uint6 or uint8"));
    MW_TRY(check_type(infer, "lut", BITS_8 | FLOATS, "int8, uint8, fp16 or fp32"));
    const mw_shape shape = mw__rule_shape(infer, indices), lut = mw__rule_shape(infer, "lut");
    const int bits = mw_dtype_bits(mw__rule_dtype(infer, codes));
    if (shape.rank < 1 || lut.rank != shape.rank + 2)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "lut %s must have 2 axes more than %s %s",
                             mw__shape_print(lut, first, sizeof first), indices,
                             mw__shape_print(shape, second, sizeof second));
    MW_TRY(check_blocks(infer, "lut", indices));
    if (lut.dim[shape.rank] != (int64_t)1 << bits)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "lut has %" PRId64 " entries, indices of %d bits need %d",
                             lut.dim[shape.rank], bits, 1 << bits);
    *out_vector = lut.dim[shape.rank + 1];
    if (mw__arg_present(infer->op, "vector_axis"))
        MW_TRY(mw__rule_axis(infer, "vector_axis", shape.rank, &axis));
    else if (*out_vector > 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "vectors of %" PRId64 " elements need vector_axis", *out_vector);
    *out_shape = shape;
    if (*out_vector < 1 || !mw__mul_i64(shape.dim[axis], *out_vector, &out_shape->dim[axis]))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "vectors of %" PRId64 " elements", *out_vector);
    return MW_OK;
}

mw_status mw__shape_lut_to_dense(mw__infer *infer)
{
    mw_shape shape = {0};
    int64_t vector = 1;
    MW_TRY(check_lut(infer, "indices", "indices", &shape, &vector));
    return mw__rule_result(infer, mw__rule_dtype(infer, "lut"), shape);
}

/* ---- constexpr: sparse ---- */

/* Set bits among the first `count`; -1 if the mask is not at hand. */
static int64_t count_set(const mw__infer *infer, const char *arg, int64_t count)
{
    const mw_tensor *value = mw__arg(infer->op, arg);
    const mw__payload *mask = value->payload;
    if (mask == NULL || mask->data == NULL)
        return -1;
    const unsigned char *bytes = mask->data;
    if (mask->splat) {
        const bool all = mw_tensor_dtype(value) == MW_U1 ? (bytes[0] & 1) != 0 : bytes[0] == 255;
        return all ? count : bytes[0] == 0 ? 0 : -1;
    }
    int64_t set = 0;
    for (int64_t i = 0; i < count / 8; i++)
        set += __builtin_popcount(bytes[i]);
    for (int64_t i = count / 8 * 8; i < count; i++)
        set += bytes[i / 8] >> (i % 8) & 1;
    return set;
}

static mw_status check_values(const mw__infer *infer, const char *mask, const char *values, int64_t count)
{
    MW_TRY(check_vector(infer, values));
    const int64_t found = mw__rule_shape(infer, values).dim[0], set = count_set(infer, mask, count);
    if (set >= 0 && set != found)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s has %" PRId64 " elements for %" PRId64 " set bits of %s",
                             values, found, set, mask);
    return MW_OK;
}

static mw_status check_mask(const mw__infer *infer, const char *mask, const char *values)
{
    MW_TRY(check_type(infer, mask, 1u << MW_U1, "uint1"));
    return check_values(infer, mask, values, mw_shape_count(mw__rule_shape(infer, mask)));
}

mw_status mw__shape_packed_sparse(mw__infer *infer)
{
    mw_shape shape = {0};
    int64_t count = 0;
    MW_TRY(read_shape(infer, &shape, &count));
    MW_TRY(check_type(infer, "nonzero_data", BITS_8 | FLOATS, "int8, uint8, fp16 or fp32"));
    MW_TRY(check_packed(infer, "mask", count, 1));
    MW_TRY(check_values(infer, "mask", "nonzero_data", count));
    return mw__rule_result(infer, mw__rule_dtype(infer, "nonzero_data"), shape);
}

mw_status mw__shape_sparse_to_dense(mw__infer *infer)
{
    MW_TRY(check_type(infer, "nonzero_data", BITS_8 | BITS_4 | FLOATS, "int4, uint4, int8, uint8, fp16 or fp32"));
    MW_TRY(check_mask(infer, "mask", "nonzero_data"));
    return mw__rule_result(infer, mw__rule_dtype(infer, "nonzero_data"), mw__rule_shape(infer, "mask"));
}

/* A mask and the values where it is set. */
static mw_status pair_result(mw__infer *infer, mw_shape mask, mw_dtype dtype, int64_t count)
{
    infer->result_count = 2;
    infer->dtype[0] = MW_U1;
    infer->shape[0] = mask;
    infer->dtype[1] = dtype;
    infer->shape[1] = MW_SHAPE(count);
    return MW_OK;
}

mw_status mw__shape_lut_to_sparse(mw__infer *infer)
{
    mw_shape shape = {0};
    int64_t vector = 1, count;
    MW_TRY(check_mask(infer, "indices_mask", "indices_nonzero_data"));
    MW_TRY(check_lut(infer, "indices_mask", "indices_nonzero_data", &shape, &vector));
    if (!mw__mul_i64(mw__rule_shape(infer, "indices_nonzero_data").dim[0], vector, &count))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "vectors of %" PRId64 " elements", vector);
    return pair_result(infer, shape, mw__rule_dtype(infer, "lut"), count);
}

mw_status mw__shape_sparse_shift_scale(mw__infer *infer)
{
    MW_TRY(check_mask(infer, "data_mask", "nonzero_data"));
    MW_TRY(check_shift_scale(infer, "data_mask", "nonzero_data"));
    return pair_result(infer, mw__rule_shape(infer, "data_mask"), mw__rule_dtype(infer, "scale"),
                       mw__rule_shape(infer, "nonzero_data").dim[0]);
}

/* ---- forms that take computed scales ---- */

/* A scalar or a vector along `axis` of x, of which it is a factor or a summand. */
static mw_tensor *laid_along(mw_tensor *numbers, const mw_tensor *x, int axis)
{
    const mw_shape shape = mw_tensor_shape(x);
    mw_shape laid = {.rank = shape.rank};
    if (numbers == NULL || mw_tensor_shape(numbers).rank == 0)
        return numbers;
    for (int i = 0; i < shape.rank; i++)
        laid.dim[i] = i == axis ? mw_tensor_shape(numbers).dim[0] : 1;
    return mw__reshape_to(numbers, laid);
}

typedef struct scaling {
    mw_tensor *input, *scale,
        *zero_point; /* the last two laid along the axis; zero_point in the type of scale or NULL */
} scaling;

static bool read_scaling(const mw_argument *arguments, size_t count, scaling *out)
{
    const mw_tensor *axis_value = mw__argument_find(arguments, count, "axis");
    mw_tensor *zero_point = mw__argument_find(arguments, count, "zero_point");
    out->input = mw__argument_find(arguments, count, "input");
    out->scale = mw__argument_find(arguments, count, "scale");
    if (out->input == NULL || out->scale == NULL)
        return false;
    const int rank = mw_tensor_shape(out->input).rank;
    int64_t axis = axis_value != NULL && axis_value->payload != NULL && axis_value->payload->data != NULL
                       ? mw__payload_int(axis_value->payload, 0)
                       : 0;
    axis += axis < 0 ? rank : 0;
    const mw_dtype dtype = mw_tensor_dtype(out->scale);
    out->scale = laid_along(out->scale, out->input, (int)axis);
    out->zero_point = zero_point != NULL ? laid_along(mw_cast(zero_point, dtype), out->input, (int)axis) : NULL;
    return out->scale != NULL && (zero_point == NULL || out->zero_point != NULL);
}

mw_tensor *mw__expand_quantize(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    scaling s;
    const mw_tensor *name = mw__argument_find(arguments, count, "output_dtype");
    (void)graph;
    (void)out_more;
    if (name == NULL || name->payload == NULL || name->payload->strings == NULL || !read_scaling(arguments, count, &s))
        return NULL;
    const bool is_signed = strcmp(name->payload->strings[0], "int8") == 0;
    mw_tensor *y = mw_round(mw_real_div(s.input, s.scale));
    if (s.zero_point != NULL)
        y = mw_add(y, s.zero_point);
    y = mw_clip(y, is_signed ? -128.0f : 0.0f, is_signed ? 127.0f : 255.0f);
    return mw_cast(y, is_signed ? MW_I8 : MW_U8);
}

mw_tensor *mw__expand_dequantize(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    scaling s;
    (void)graph;
    (void)out_more;
    if (!read_scaling(arguments, count, &s))
        return NULL;
    mw_tensor *x = mw_cast(s.input, mw_tensor_dtype(s.scale));
    return mw_mul(s.zero_point != NULL ? mw_sub(x, s.zero_point) : x, s.scale);
}

/* ---- constructors ---- */

/* Computed scales get the expansion. */
static mw_tensor *end_scaled(mw__build *build, const mw_tensor *scale, int axis)
{
    mw_tensor *y;
    if (scale != NULL && mw_tensor_shape(scale).rank > 0)
        mw__build_int(build, "axis", axis);
    if (!build->failed && mw__build_wants_expansion(build))
        return mw__build_expand(build, &y, 1) == MW_OK ? y : NULL;
    return mw__build_end(build);
}

mw_tensor *mw_quantize(mw_tensor *x, mw_tensor *scale, mw_tensor *zero_point, int axis, mw_dtype dtype)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("quantize", x);
    mw__build_set(&build, "input", x);
    mw__build_set(&build, "scale", scale);
    mw__build_set_given(&build, "zero_point", zero_point);
    mw__build_string(&build, "output_dtype", mw_dtype_name(dtype));
    return end_scaled(&build, scale, axis);
}

mw_tensor *mw_dequantize(mw_tensor *x, mw_tensor *scale, mw_tensor *zero_point, int axis)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("dequantize", x);
    mw__build_set(&build, "input", x);
    mw__build_set(&build, "scale", scale);
    mw__build_set_given(&build, "zero_point", zero_point);
    return end_scaled(&build, scale, axis);
}

mw_tensor *mw_constexpr_blockwise_shift_scale(mw_tensor *data, mw_tensor *scale, mw_tensor *offset)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("constexpr_blockwise_shift_scale", data);
    mw__build_set(&build, "data", data);
    mw__build_set(&build, "scale", scale);
    mw__build_set_given(&build, "offset", offset);
    return mw__build_end(&build);
}

mw_tensor *mw_constexpr_lut_to_dense(mw_tensor *indices, mw_tensor *lut, int vector_axis)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("constexpr_lut_to_dense", indices);
    const mw_shape shape = mw_tensor_shape(lut);
    mw__build_set(&build, "indices", indices);
    mw__build_set(&build, "lut", lut);
    if (shape.rank > 0 && shape.dim[shape.rank - 1] > 1)
        mw__build_int(&build, "vector_axis", vector_axis);
    return mw__build_end(&build);
}

mw_tensor *mw_constexpr_sparse_to_dense(mw_tensor *nonzero_data, mw_tensor *mask)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("constexpr_sparse_to_dense", nonzero_data);
    mw__build_set(&build, "nonzero_data", nonzero_data);
    mw__build_set(&build, "mask", mask);
    return mw__build_end(&build);
}
