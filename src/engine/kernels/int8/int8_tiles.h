/* The codes that stand in files of their own. */
#ifndef MW__ENGINE_KERNELS_INT8_INT8_TILES_H
#define MW__ENGINE_KERNELS_INT8_INT8_TILES_H

#include "engine/kernels/int8/int8.h"

#include <string.h>

#if MW_HAVE_AVX512
extern const mw__int8_code mw__int8_avx512, mw__int8_avx512_dots;
mw__int8_finish_rows mw__int8_rows_avx512;
mw__int8_finish_quads mw__int8_quads_avx512;
mw__int8_finish_joined mw__int8_joined_avx512;
mw__int8_finish_lanes mw__int8_lanes_avx512;
#endif

#endif
