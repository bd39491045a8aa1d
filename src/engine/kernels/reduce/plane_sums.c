#include "engine/kernels/reduce/plane_sums.h"

#include "engine/kernels/reduce/simd_reduce.h"

MW__INLINE void plane_sums_body(const float *x, int64_t count, int64_t area, float *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] += mw__lanes_sum(x + i * area, area);
}
MW__BASE_AVX2(plane_sums, (const float *x, int64_t count, int64_t area, float *out), (x, count, area, out))

mw__plane_sums *mw__plane_sums_of(mw__level level) { return MW__DISPATCH(plane_sums, level); }
