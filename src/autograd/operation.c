/* The operation table and its VJP column, for those who look. */
#include "autograd/vjp/rules.h"
#include "graph/ir/op_table.h"

#include <millwright/ops/operation.h>

bool mw_operation_at(size_t index, mw_operation *out)
{
    const mw__row *row = index < MW__OP_COUNT ? &mw__rows[index] : NULL;
    if (out != NULL)
        *out = (mw_operation){0};
    if (row == NULL || out == NULL)
        return false;
    mw__vjp_rule *rule = mw__vjp_find(row->id);
    *out = (mw_operation){
        .name = row->name,
        .since = row->since,
        .gradient = rule == NULL           ? MW_GRADIENT_NONE
                    : rule == mw__vjp_zero ? MW_GRADIENT_ZERO
                                           : MW_GRADIENT_RULE,
        .argument_count = row->arg_count,
    };
    return true;
}

bool mw_operation_argument_at(size_t index, size_t argument, mw_operation_argument *out)
{
    const bool there = index < MW__OP_COUNT && argument < mw__rows[index].arg_count;
    if (out != NULL)
        *out = (mw_operation_argument){0};
    if (!there || out == NULL)
        return false;
    const mw__arg_row *row = &mw__rows[index].args[argument];
    *out = (mw_operation_argument){row->name, row->kind == MW__CONST, row->kind == MW__VALUES,
                                   row->fallback != MW__REQUIRED};
    return true;
}
