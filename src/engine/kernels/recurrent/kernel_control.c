/* ops/control.def: nothing of it is a step of its own. Lists and states are tensors before a function is planned
 * (graph/transform/lower.h), branches and loops run plans of their blocks (compile/plan_nested.c). */
#include "engine/core/kernel.h"

mw_status mw__kernel_lowered(mw__planner *planner, const mw__op *op, mw_error *err)
{
    char subject[128];
    (void)planner;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: needs two blocks, or to be lowered first",
                    mw__op_subject(op, subject, sizeof subject));
}
