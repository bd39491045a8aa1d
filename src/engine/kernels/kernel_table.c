/* The kernel column of the operation table and its MW_KERNEL lines, by id. A missing plan function is a link
 * error that names it. */
#include "engine/kernels/kernel_table.h"
#include "engine/core/kernel.h"
#include "engine/kernels/gemm/kernel_matmul.h"

static mw__kernel_plan *const plans[MW__OP_COUNT] = {
#define MW_OP(id, name, since, shape, vjp, kernel) [MW__OP_##id] = mw__kernel_##kernel,
#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function)
#define MW_KERNEL(id, storage, rounding, rule, flops)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_TRAITS
#undef MW_EXPAND
#undef MW_KERNEL
#undef MW_ARG
#undef MW_END
};

static const mw__kernel_row rows[MW__OP_COUNT] = {
#define MW_OP(id, name, since, shape, vjp, kernel)
#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#define MW_KERNEL(id, storage_, rounding_, rule, flops)                                                                \
    [MW__OP_##id] = {.storage = MW__STORAGE_##storage_, .rounding = MW__ROUNDING_##rounding_, .listed = true},
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_TRAITS
#undef MW_EXPAND
#undef MW_ARG
#undef MW_END
#undef MW_KERNEL
};

const mw__kernel_row *mw__kernel_row_of(mw__op_id id) { return &rows[id]; }

mw__kernel_plan *mw__kernel_find(mw__op_id id) { return plans[id]; }

mw_status mw__kernel_constant(mw__planner *planner, const mw__op *op, mw_error *err)
{
    char subject[128];
    (void)planner;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: a constant is not executed",
                    mw__op_subject(op, subject, sizeof subject));
}

bool mw__kernel_takes_packed(const mw__op *op)
{
    const char *packed = mw__row_packed(op->row);
    if (op->row->id == MW__OP_linear || op->row->id == MW__OP_matmul)
        return mw__product_takes_packed(op);
    return packed != NULL && mw__is_packed(mw__arg(op, packed));
}
