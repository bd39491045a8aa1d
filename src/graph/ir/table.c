/* The operation table: the rows of ops/<family>.def as constant data, and finding one. No rules. */
#include "base/number/hash.h"
#include "graph/ir/rule.h"

#include <pthread.h>
#include <string.h>

/* clang-format off: the last element is a sentinel, so that a row without arguments is an array too. */
#define MW_OP(id, name, since, shape, vjp, kernel) static const mw__arg_row args_##id[] = {
#define MW_ARG(id, arg, kind, type, fallback)      {#arg, MW__##kind, MW__##type, fallback},
#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function)
#define MW_KERNEL(id, storage, rounding, rule, flops)
#define MW_END(id)                                                                                                     \
    {                                                                                                                  \
        NULL, MW__CONST, MW__ANY, MW__REQUIRED                                                                         \
    }                                                                                                                  \
    }                                                                                                                  \
    ;
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_ARG
#undef MW_TRAITS
#undef MW_EXPAND
#undef MW_KERNEL
#undef MW_END

#define MW_OP(stem, mil_name, opset, shape_rule, vjp, kernel_)                                                         \
    [MW__OP_##stem] = {.id = MW__OP_##stem,                                                                            \
                       .name = mil_name,                                                                               \
                       .since = opset,                                                                                 \
                       .shape = mw__shape_##shape_rule,                                                                \
                       .kernel = #kernel_,                                                                             \
                       .args = args_##stem,                                                                            \
                       .arg_count = sizeof args_##stem / sizeof args_##stem[0] - 1,
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_TRAITS(id, traits_)  .traits = (traits_),
#define MW_EXPAND(id, function) .expand = mw__expand_##function,
#define MW_KERNEL(id, storage, rounding, rule, flops)
#define MW_END(id)                                                                                                     \
    }                                                                                                                  \
    ,
const mw__row mw__rows[MW__OP_COUNT] = {
#include "graph/ops/all.def"
};
#undef MW_OP
#undef MW_ARG
#undef MW_TRAITS
#undef MW_EXPAND
#undef MW_KERNEL
#undef MW_END
/* clang-format on */

const char *mw__row_packed(const mw__row *row)
{
    return row->traits & MW__TRAIT_PACKED_WEIGHT ? "weight"
           : row->traits & MW__TRAIT_PACKED_X    ? "x"
           : row->traits & MW__TRAIT_PACKED_Y    ? "y"
                                                 : NULL;
}

/* Rows by the hash of their names: a chain begins at `first`, goes on at `next`, and ends with MW__OP_COUNT. Whatever
 * is built or read asks, so the table is not searched from its top. Written once, then only read. */
enum { CHAINS = 256 };
static pthread_once_t indexed = PTHREAD_ONCE_INIT;
static uint16_t first[CHAINS], next[MW__OP_COUNT];

static size_t chain_of(const char *name) { return mw__hash64(name, strlen(name), 0) % CHAINS; }

static void index_rows(void)
{
    for (size_t i = 0; i < CHAINS; i++)
        first[i] = MW__OP_COUNT;
    for (size_t i = MW__OP_COUNT; i-- > 0;) {
        const size_t chain = chain_of(mw__rows[i].name);
        next[i] = first[chain];
        first[chain] = (uint16_t)i;
    }
}

const mw__row *mw__row_find(const char *name, mw_opset opset, const mw__row **out_newer)
{
    const mw__row *found = NULL;
    const mw__row *newer = NULL;
    pthread_once(&indexed, index_rows);
    for (size_t i = first[chain_of(name)]; i < MW__OP_COUNT; i = next[i]) {
        const mw__row *row = &mw__rows[i];
        if (strcmp(row->name, name) != 0)
            continue;
        if (row->since > opset)
            newer = newer == NULL || row->since < newer->since ? row : newer;
        else if (found == NULL || row->since > found->since)
            found = row;
    }
    if (out_newer != NULL)
        *out_newer = newer;
    return found;
}

const mw__arg_row *mw__row_arg(const mw__row *row, const char *name)
{
    for (size_t i = 0; i < row->arg_count; i++) {
        if (row->args[i].name[0] == name[0] && strcmp(row->args[i].name, name) == 0)
            return &row->args[i];
    }
    return NULL;
}

bool mw__arg_type_is_t(mw__arg_type type)
{
    return type == MW__T_FLOAT || type == MW__T_NUMBER || type == MW__T_REAL || type == MW__T_ANY;
}

bool mw__arg_type_is_u(mw__arg_type type) { return type == MW__U_FLOAT || type == MW__U_NUMBER; }

bool mw__arg_type_holds(mw__arg_type type, mw_dtype dtype)
{
    switch (type) {
    case MW__T_FLOAT:
    case MW__U_FLOAT:
    case MW__FLOAT:
        return dtype == MW_F16 || dtype == MW_F32;
    case MW__F32:
        return dtype == MW_F32;
    case MW__T_NUMBER:
    case MW__U_NUMBER:
        return dtype == MW_F16 || dtype == MW_F32 || dtype == MW_I32;
    case MW__I32:
        return dtype == MW_I32;
    case MW__T_REAL:
        return dtype == MW_F16 || dtype == MW_F32 || dtype == MW_I8 || dtype == MW_I16 || dtype == MW_I32 ||
               dtype == MW_U8 || dtype == MW_U16;
    case MW__INT:
    case MW__INDEX:
        return dtype == MW_I8 || dtype == MW_I16 || dtype == MW_I32 || dtype == MW_U8 || dtype == MW_U16 ||
               dtype == MW_U32;
    case MW__BOOL:
        return dtype == MW_BOOL;
    case MW__STRING:
        return dtype == MW_STRING;
    case MW__T_ANY:
    case MW__ANY:
    case MW__FACTOR: /* the shape rule says which, with the operation's own words */
        return dtype != MW_DTYPE_NONE;
    case MW__A_LIST:
    case MW__A_STATE:
        return dtype == MW_DTYPE_NONE;
    case MW__A_VALUE:
        return true;
    }
    return false;
}
