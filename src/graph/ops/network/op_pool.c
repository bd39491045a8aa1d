/* Pooling windows: shape rules and constructors of ops/pool.def. Extents: graph/geometry/window.h. */
#include <millwright/ops/pool.h>

#include "base/number/float_mode.h"
#include "graph/geometry/window.h"
#include "graph/ir/rule.h"

/* ---- shape rules ---- */

static mw_status read_kernel(const mw__infer *infer, int axes, int64_t *out)
{
    size_t count;
    bool known;
    MW_TRY(mw__rule_ints(infer, "kernel_sizes", out, MW__WINDOW_AXES, &count, &known));
    return count == (size_t)axes ? MW_OK
                                 : mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                                                 "kernel_sizes has %zu elements, x has %d spatial axes", count, axes);
}

mw_status mw__shape_pool(mw__infer *infer)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    mw__window windows[MW__WINDOW_AXES];
    int64_t kernel[MW__WINDOW_AXES];
    if (shape.rank < 3 || shape.rank > 2 + MW__WINDOW_AXES)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "x must be [N, C, 1 to %d spatial axes], not of rank %d",
                             MW__WINDOW_AXES, shape.rank);
    MW_TRY(read_kernel(infer, shape.rank - 2, kernel));
    MW_TRY(mw__op_windows(infer->op, shape, kernel, windows, infer->err));
    for (int i = 2; i < shape.rank; i++)
        shape.dim[i] = windows[i - 2].out;
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_status mw__shape_l2_pool(mw__infer *infer)
{
    if (mw__rule_shape(infer, "x").rank == 5)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "x has three spatial axes, MIL allows one or two");
    return mw__shape_pool(infer);
}

/* ---- constructors ---- */

mw_pool_options mw_pool_defaults(mw_shape kernel)
{
    return (mw_pool_options){
        .struct_size = sizeof(mw_pool_options), .kernel = kernel, .stride = {1, 1, 1}, .pad_type = MW_PAD_VALID};
}

static mw_tensor *pool(const char *operation, mw_tensor *x, const mw_pool_options *options)
{
    if (x == NULL)
        return NULL;
    if (options == NULL || options->struct_size != sizeof *options)
        return mw__build_refuse(x, operation, "options are not made by mw_pool_defaults");
    if (mw__pad_type_name(options->pad_type) == NULL)
        return mw__build_refuse(x, operation, "pad_type is no mw_pad_type");
    const int axes = options->kernel.rank;
    if (axes < 1 || axes > MW__WINDOW_AXES)
        return mw__build_refuse(x, operation, "the kernel must have one to three extents");
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    mw__build_ints(&build, "kernel_sizes", options->kernel.dim, (size_t)axes);
    mw__build_ints(&build, "strides", options->stride, (size_t)axes);
    mw__build_string(&build, "pad_type", mw__pad_type_name(options->pad_type));
    mw__build_ints(&build, "pad", options->pad, 2 * (size_t)axes);
    mw__build_bool(&build, "ceil_mode", options->ceil_mode);
    if (build.row != NULL && mw__row_arg(build.row, "exclude_padding_from_average") != NULL)
        mw__build_bool(&build, "exclude_padding_from_average", options->exclude_padding);
    return mw__build_end(&build);
}

mw_tensor *mw_max_pool(mw_tensor *x, const mw_pool_options *options) { return pool("max_pool", x, options); }

mw_tensor *mw_avg_pool(mw_tensor *x, const mw_pool_options *options)
{
    MW__FLOAT_SCOPE;
    return pool("avg_pool", x, options);
}

mw_tensor *mw_l2_pool(mw_tensor *x, const mw_pool_options *options)
{
    MW__FLOAT_SCOPE;
    return pool("l2_pool", x, options);
}
