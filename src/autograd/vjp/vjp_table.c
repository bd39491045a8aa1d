/* The VJP column of the operation table. NONE is the word for operations without a gradient: integer or boolean
 * results, or no float operand. A missing rule is a link error that names it. */
#include "autograd/vjp/rules.h"

#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function)
#define MW_KERNEL(id, storage, rounding, rule, flops)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)

#define mw__vjp_NONE                               mw__vjp_never_defined
#define MW_OP(id, name, since, shape, vjp, kernel) mw__vjp_rule mw__vjp_##vjp;
#include "graph/ops/all.def"
#undef MW_OP
#undef mw__vjp_NONE

#define mw__vjp_NONE                               NULL
#define MW_OP(id, name, since, shape, vjp, kernel) [MW__OP_##id] = mw__vjp_##vjp,
static mw__vjp_rule *const rules[MW__OP_COUNT] = {
#include "graph/ops/all.def"
};

mw__vjp_rule *mw__vjp_find(mw__op_id id) { return rules[id]; }

bool mw__vjp_is_zero(mw__op_id id) { return rules[id] == mw__vjp_zero; }

mw__vjp_rule *mw__vjp_of_composite(const mw__composite *composite)
{
    if (composite->spread) /* elsewhere its operations are looked for as they are (engine/compile/patterns) */
        return composite->inputs[0]->graph->lowering == MW__LOWERING_DECOMPOSED ? mw__vjp_conv_spread : NULL;
    return composite->transposed != NULL ? mw__vjp_conv_transposed : composite->vjp;
}
