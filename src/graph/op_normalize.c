/* Normalisation along axes: shape rules and constructors of ops/normalize.def. */
#include <millwright/op_normalize.h>

#include "graph/rule.h"

mw_status mw__shape_softmax(mw__infer *infer)
{
    const mw_shape shape = mw__rule_shape(infer, "x");
    int64_t value;
    int axis;
    MW_TRY(mw__rule_int(infer, "axis", &value));
    MW_TRY(mw__rule_axis(infer, "axis", value, shape.rank, &axis));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw_softmax(mw_tensor *x, int axis)
{
    mw__build build = mw__build_begin("softmax", x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "axis", axis);
    return mw__build_end(&build);
}
