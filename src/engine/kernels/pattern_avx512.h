/* Whether the AVX-512 kernels of patterns take these operations; asked by pattern_avx512.c of processors that have it.
 */
#ifndef MW__ENGINE_KERNELS_PATTERN_AVX512_H
#define MW__ENGINE_KERNELS_PATTERN_AVX512_H

#include "engine/kernels/pattern_plans.h"

bool mw__conv_max_pool_avx512(const mw__conv_max_pool_match *match, const mw__config *config, int partitions);
bool mw__conv_dweight_argmax_avx512(const mw__op *conv, const mw__op *pool);
bool mw__conv_by_argmax_avx512(const mw__op *conv, const mw__op *pool);
bool mw__conv_columns_argmax_avx512(const mw__conv_columns_dweight_match *match, const mw__op *pool,
                                    const mw__config *config, int partitions);
bool mw__conv_columns_by_argmax_avx512(const mw__conv_columns_match *match, const mw__op *pool,
                                       const mw__config *config, int partitions);

#endif
