/* The kernel column of the operation table: id -> plan function. A missing function is a link error that names it. */
#include "engine/kernels/kernel_table.h"
#include "engine/core/kernel.h"

static mw__kernel_plan *const kernels[MW__OP_COUNT] = {
#define MW_OP(id, name, since, shape, vjp, kernel) [MW__OP_##id] = mw__kernel_##kernel,
#define MW_EXPAND(id, function)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_EXPAND
#undef MW_ARG
#undef MW_END
};

mw__kernel_plan *mw__kernel_find(mw__op_id id) { return kernels[id]; }

mw_status mw__kernel_constant(mw__planner *planner, const mw__op *op, mw_error *err)
{
    char subject[128];
    (void)planner;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: a constant is not executed",
                    mw__op_subject(op, subject, sizeof subject));
}
