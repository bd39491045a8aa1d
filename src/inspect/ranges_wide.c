/* A copy in fp32 of what is fp16, so that nothing overflows or is lost before it has been counted. */
#include "graph/constants/compressed.h"
#include "graph/ir/ir.h"
#include "inspect/ranges.h"

#include <millwright/op_elementwise.h>
#include <millwright/op_shape.h>
#include <string.h>

mw_dtype mw__ranges_wide(void *user, const mw_tensor *value)
{
    const mw_dtype dtype = mw_tensor_dtype(value);
    (void)user;
    return dtype == MW_F16 ? MW_F32 : dtype;
}

/* A rounding to fp16 is left out. */
static void widen_cast(mw__clone *clone, const mw__op *op)
{
    mw_tensor *x = mw__clone_operand(clone, mw__arg(op, "x"), MW_F32);
    mw__clone_set(clone, op->results[0], mw_tensor_dtype(x) == MW_F32 ? mw_identity(x) : mw_cast(x, MW_F32));
}

/* What is stored in less than its own type becomes a constant of fp32. */
static bool widen_constant(mw__clone *clone, const mw__op *op)
{
    mw_graph *to = clone->to;
    const mw__payload *made = mw__constant_payload(op->results[0], &to->error);
    if (made == NULL)
        return to->error.status != MW_OK;
    const size_t count = mw__payload_count(made);
    float *numbers = mw__arena_alloc(&to->arena, count, sizeof *numbers, &to->error);
    for (size_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] = (float)mw__payload_float(made, i);
    if (numbers != NULL)
        mw__clone_set(clone, op->results[0], mw_constant(to, MW_F32, mw_tensor_shape(op->results[0]), numbers));
    return true;
}

bool mw__ranges_widen(void *user, mw__clone *clone, const mw__op *op)
{
    (void)user;
    if (op->result_count != 1 || op->results[0]->payload != NULL)
        return false;
    const mw_dtype dtype = mw_tensor_dtype(op->results[0]);
    if (mw__op_is_constexpr(op))
        return (dtype == MW_F16 || dtype == MW_F32) && widen_constant(clone, op);
    if (dtype != MW_F16 || strcmp(op->kind, "cast") != 0)
        return false;
    widen_cast(clone, op);
    return true;
}
