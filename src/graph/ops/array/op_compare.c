/* Comparisons, logic and selection: shape rules and constructors of ops/compare.def. */
#include <millwright/ops/compare.h>

#include "graph/ir/rule.h"

/* ---- shape rules ---- */

mw_status mw__shape_compare(mw__infer *infer)
{
    MW_TRY(mw__shape_broadcast(infer));
    infer->dtype[0] = MW_BOOL;
    return MW_OK;
}

mw_status mw__shape_select(mw__infer *infer)
{
    static const char *const args[] = {"cond", "a", "b"};
    mw_shape shape;
    MW_TRY(mw__rule_broadcast(infer, args, 3, &shape));
    return mw__rule_result(infer, mw__rule_dtype(infer, "a"), shape);
}

/* ---- constructors ---- */

mw_tensor *mw_equal(mw_tensor *x, mw_tensor *y) { return mw__build_pair("equal", x, y); }
mw_tensor *mw_not_equal(mw_tensor *x, mw_tensor *y) { return mw__build_pair("not_equal", x, y); }
mw_tensor *mw_less(mw_tensor *x, mw_tensor *y) { return mw__build_pair("less", x, y); }
mw_tensor *mw_less_equal(mw_tensor *x, mw_tensor *y) { return mw__build_pair("less_equal", x, y); }
mw_tensor *mw_greater(mw_tensor *x, mw_tensor *y) { return mw__build_pair("greater", x, y); }
mw_tensor *mw_greater_equal(mw_tensor *x, mw_tensor *y) { return mw__build_pair("greater_equal", x, y); }

mw_tensor *mw_logical_and(mw_tensor *x, mw_tensor *y) { return mw__build_pair("logical_and", x, y); }
mw_tensor *mw_logical_or(mw_tensor *x, mw_tensor *y) { return mw__build_pair("logical_or", x, y); }
mw_tensor *mw_logical_xor(mw_tensor *x, mw_tensor *y) { return mw__build_pair("logical_xor", x, y); }

mw_tensor *mw_logical_not(mw_tensor *x) { return mw__unary("logical_not", x); }

mw_tensor *mw_select(mw_tensor *cond, mw_tensor *a, mw_tensor *b)
{
    mw__build build = mw__build_begin("select", cond);
    mw__build_set(&build, "cond", cond);
    mw__build_set(&build, "a", a);
    mw__build_set(&build, "b", b);
    return mw__build_end(&build);
}
