/* The straight-line code that there is for a level. */
#include "engine/kernels/fused/fused.h"

const mw__precompiled *mw__precompiled_of(mw__level level)
{
#if defined(__x86_64__)
#if MW_HAVE_AVX512
    if (level == MW__LEVEL_AVX512)
        return mw__precompiled_of_avx512;
#endif
    return level >= MW__LEVEL_AVX2 ? mw__precompiled_of_avx2 : NULL;
#else
    return level == MW__LEVEL_REF ? NULL : mw__precompiled_of_base;
#endif
}
