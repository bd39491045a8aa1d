/* Every operation that the engine plans has an MW_KERNEL line. */
#include "engine/kernels/kernel_table.h"
#include "graph/ir/count.h"
#include "support/check.h"

#include <stdio.h>

static const char *const names[MW__OP_COUNT] = {
#define MW_OP(id, name, since, shape, vjp, kernel) [MW__OP_##id] = #id,
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

static void test_every_operation_has_a_row(void)
{
    for (int id = 0; id < MW__OP_COUNT; id++) {
        const bool listed = names[id] == NULL || mw__kernel_row_of((mw__op_id)id)->listed;
        if (!listed)
            printf("%s: no MW_KERNEL line in src/graph/ops\n", names[id]);
        CHECK(listed);
    }
}

/* What a row says must not contradict itself: elements that are moved as they are stay fp16 numbers and cost nothing.
 */
static void test_rows_agree_with_themselves(void)
{
    for (int id = 0; id < MW__OP_COUNT; id++) {
        const mw__kernel_row *row = mw__kernel_row_of((mw__op_id)id);
        const mw__count_row *count = mw__op_count_row_of((mw__op_id)id);
        if (row->storage == MW__STORAGE_EITHER || count->rule == MW__COUNT_MOVES)
            CHECK(row->rounding == MW__ROUNDING_EXACT);
        CHECK((count->rule == MW__COUNT_EACH || count->rule == MW__COUNT_COMPARES) == (count->flops > 0.0));
    }
}

int main(void)
{
    RUN(test_every_operation_has_a_row);
    RUN(test_rows_agree_with_themselves);
    return check_finish();
}
