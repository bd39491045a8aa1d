/* What the engine knows of each operation: its plan function, from the kernel column of its row in graph/ops, and the
 * columns of the MW_KERNEL line there (what is counted: graph/ir/count.h). A fact of an operation that more than one
 * file needs is such a column. */
#ifndef MW__ENGINE_KERNELS_KERNEL_TABLE_H
#define MW__ENGINE_KERNELS_KERNEL_TABLE_H

#include "engine/core/step.h"

/* How a kernel wants operands and results that are declared fp16 (compile/fp16_storage.h). */
typedef enum mw__storage {
    MW__STORAGE_HALVES,   /* as fp16 in memory, and rounds by itself */
    MW__STORAGE_FLOATS,   /* as fp32 */
    MW__STORAGE_CONVERTS, /* reads both; writes fp32, or fp16 where the result is a port */
    MW__STORAGE_EITHER    /* moves elements as they are, whichever they are */
} mw__storage;

/* Whether a result has to be rounded to fp16, or is a fp16 number because the operands are. */
typedef enum mw__rounding_rule {
    MW__ROUNDING_ROUNDS,
    MW__ROUNDING_EXACT,
    MW__ROUNDING_OF_BOOL, /* exact if x is bool */
    MW__ROUNDING_SCALARS  /* exact if its constants are fp16 numbers: straight-line code need not round it, plans do */
} mw__rounding_rule;

typedef struct mw__kernel_row {
    mw__storage storage;
    mw__rounding_rule rounding;
    bool listed; /* has an MW_KERNEL line; tests/engine/kernels/test_kernel_table.c names those that are not */
} mw__kernel_row;

/* The row of an operation. */
const mw__kernel_row *mw__kernel_row_of(mw__op_id id);
/* True if its kernel expands a weight that stays as it is stored in parts, of this operation. */
bool mw__kernel_takes_packed(const mw__op *op);
/* The plan function of an operation. */
mw__kernel_plan *mw__kernel_find(mw__op_id id);

#endif
