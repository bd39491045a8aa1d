/* Finds a precompiled kernel: straight-line code for a signature. */
#include "engine/kernels/fused/fused.h"

#include <string.h>

static const mw__precompiled *precompiled_of(mw__level level)
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

const mw__precompiled *mw__precompiled_find(const char *signature, mw__level level)
{
    const mw__precompiled *row = precompiled_of(level);
    while (row != NULL && row->name != NULL && strcmp(row->signature, signature) != 0)
        row++;
    return row != NULL && row->name != NULL ? row : NULL;
}
