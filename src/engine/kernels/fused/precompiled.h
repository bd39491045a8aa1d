/* What precompiled_code.def makes code with, whatever the instruction set. For the files precompiled_<it>.c only. */
#ifndef MW__ENGINE_KERNELS_FUSED_PRECOMPILED_H
#define MW__ENGINE_KERNELS_FUSED_PRECOMPILED_H

#include "engine/kernels/fused/fused.h"
#include "engine/kernels/math/round_vector.h"

#define PARAMETERS (const void *const *value, void *const *out, const float(*pq)[3], int64_t count)

#define JOIN3(a, b, c)    a##_##b##_##c
#define JOINED(a, b, c)   JOIN3(a, b, c)
#define NAMED(name, what) JOINED(name, what, ISA)

/* How a chip rounds the result of an operation: not at all if it is a fp16 number already, ties to even, of products
 * away from zero. */
enum {
    EXACT,
    EVEN,
    AWAY,
    TIES_OF_EXACT = EXACT,
    TIES_OF_SCALARS = EXACT,
    TIES_OF_ROUNDS = EVEN,
    TIES_OF_OF_BOOL = EVEN,
#define MW_OP(id, name, since, shape, vjp, kernel)
#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function)
#define MW_KERNEL(id, storage, rounding, rule, flops) TIES_##id = TIES_OF_##rounding,
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
#define ROUNDING_OF(ties) (MW__ROUND_HALF | MW__ROUND_NUMBER | ((ties) == AWAY ? MW__ROUND_AWAY : 0))

/* What is done to a value after it is computed; `rounds` as the third number of its instruction has it. */
MW__INLINE float after(mw__form form, float rounds, int ties, float v)
{
    if (form == MW__FORM_PLAIN)
        return v;
    const float rounded = mw__round_chip_of(v, ROUNDING_OF(ties)); /* in any case, so that the choice is no branch */
    return rounds != 0.0f ? rounded : mw__round_chip_of(v, MW__ROUND_NUMBER);
}

#define OUTS_1           float *const y0 = out[0];
#define OUTS_2           OUTS_1 float *const y1 = out[1];
#define OUTS_3           OUTS_2 float *const y2 = out[2];
#define OPERATOR_less    <
#define OPERATOR_greater >
#define QUOTIENT(a, b)   (form == MW__FORM_CHIP ? mw__scalar_chip_real_div(a, b) : mw__scalar_real_div(a, b))

#define MASK(truth) (0u - (uint32_t)(truth))
/* Both are read in any case, so that the choice is no branch. */
MW__INLINE float chosen(uint32_t mask, float a, float b)
{
    return mw__float_of((mw__bits_of(a) & mask) | (mw__bits_of(b) & ~mask));
}

#endif
