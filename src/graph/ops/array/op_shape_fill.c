/* Generated tensors, fill and range_1d: shape rules and constructors. */
#include <millwright/ops/shape.h>

#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- fill ---- */

mw_status mw__shape_fill(mw__infer *infer)
{
    mw_shape shape = {.rank = 0};
    size_t rank;
    bool known;
    MW_TRY(mw__rule_ints(infer, "shape", shape.dim, MW_RANK_MAX, &rank, &known));
    shape.rank = (int)rank;
    for (int i = 0; i < shape.rank; i++) {
        if (!known)
            shape.dim[i] = MW_DIM_UNKNOWN;
        else if (shape.dim[i] < 0)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "shape[%d] is %" PRId64, i, shape.dim[i]);
    }
    const bool given = mw__arg_present(infer->op, "value");
    if (given && mw_shape_count(mw__rule_shape(infer, "value")) != 1)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "value must be a scalar");
    return mw__rule_result(infer, given ? mw__rule_dtype(infer, "value") : MW_F32, shape);
}

mw_tensor *mw_fill(mw_graph *graph, mw_dtype dtype, mw_shape shape, double value)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin_graph("fill", graph);
    mw__build_shape(&build, "shape", shape);
    mw__build_scalar(&build, "value", dtype, value);
    return mw__build_end(&build);
}

/* ---- range_1d ---- */

mw_status mw__shape_range_1d(mw__infer *infer)
{
    static const char *const args[] = {"start", "end", "step"};
    double number[3];
    bool known = true;
    for (size_t i = 0; i < 3; i++) {
        if (mw_shape_count(mw__rule_shape(infer, args[i])) != 1)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must be a scalar", args[i]);
        known = mw__arg_float(infer->op, args[i], &number[i]) && known;
    }
    if (!known)
        return mw__rule_result(infer, mw__rule_dtype(infer, "start"), MW_SHAPE(MW_DIM_UNKNOWN));
    if (number[2] == 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "step is 0");
    const double count = ceil((number[1] - number[0]) / number[2]);
    if (!(count <= INT32_MAX))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "from %g to %g by %g has too many elements", number[0],
                             number[1], number[2]);
    return mw__rule_result(infer, mw__rule_dtype(infer, "start"), MW_SHAPE(count > 0 ? (int64_t)count : 0));
}

mw_tensor *mw_range_1d(mw_graph *graph, mw_dtype dtype, double start, double end, double step)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin_graph("range_1d", graph);
    mw__build_scalar(&build, "start", dtype, start);
    mw__build_scalar(&build, "end", dtype, end);
    mw__build_scalar(&build, "step", dtype, step);
    return mw__build_end(&build);
}
