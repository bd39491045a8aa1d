/* Results as a chip gives them (mw__round in core/step.h): what is done to one number. */
#ifndef MW__ENGINE_KERNELS_ROUND_CHIP_H
#define MW__ENGINE_KERNELS_ROUND_CHIP_H

#include "engine/kernels/math/math.h"
#include "engine/kernels/math/math_scalar.h"

/* The bit behind the last of fp32 decides what would be a tie, and only that. */
MW__INLINE float mw__beyond_tie(float v)
{
    const uint32_t bits = mw__bits_of(v);
    return mw__float_of(bits | ((bits & 0x7fffffffu) < 0x7f800000u));
}

MW__INLINE float mw__round_chip_of(float v, unsigned how)
{
    if ((how & MW__ROUND_NUMBER) != 0)
        v = v != v ? 0.0f : v;
    if ((how & MW__ROUND_HALF) != 0)
        v = mw__round_to_half((how & MW__ROUND_AWAY) != 0 ? mw__beyond_tie(v) : v);
    const float a = fabsf(v);
    if ((how & MW__ROUND_FLUSH) != 0)
        v = a < 0x1p-14f ? 0.0f : v;
    if ((how & MW__ROUND_CEILING) != 0) /* what would round to 32768 without HALF, too */
        v = a >= 32760.0f ? copysignf(INFINITY, v) : v;
    if ((how & MW__ROUND_SLICE) != 0)
        v = a > 4094.0f ? copysignf(INFINITY, v) : v;
    return v;
}

/* how > MW__ROUND_HALF */
mw__loop1 *mw__round_chip_loop(mw__level level, unsigned how);

#endif
