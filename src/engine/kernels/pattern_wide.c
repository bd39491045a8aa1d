/* Patterns whose kernels are there with AVX-512 alone; their rows have its level, so the processor has it. Where the
 * files are not built, such a pattern is never recognized, and its plan is refused. */
#include "engine/core/kernel.h"
#include "engine/kernels/conv/dweight/kernel_conv_dweight.h"

#if MW_HAVE_AVX512
#include "engine/kernels/pattern_avx512.h"

bool mw__conv_max_pool_suits(const mw__conv_max_pool_match *match, const mw__config *config, int partitions)
{
    return mw__conv_max_pool_avx512(match, config, partitions);
}

bool mw__conv_dweight_argmax_suits(const mw__op *conv, const mw__op *pool)
{
    return mw__conv_dweight_argmax_avx512(conv, pool);
}

bool mw__conv_by_argmax_suits(const mw__op *conv, const mw__op *pool) { return mw__conv_by_argmax_avx512(conv, pool); }

bool mw__conv_columns_argmax_suits(const mw__conv_columns_dweight_match *match, const mw__op *pool,
                                   const mw__config *config, int partitions)
{
    return mw__conv_columns_argmax_avx512(match, pool, config, partitions);
}

bool mw__conv_columns_by_argmax_suits(const mw__conv_columns_match *match, const mw__op *pool, const mw__config *config,
                                      int partitions)
{
    return mw__conv_columns_by_argmax_avx512(match, pool, config, partitions);
}

#else

#define ABSENT(name)                                                                                                   \
    bool name(const mw__op *conv, const mw__op *pool)                                                                  \
    {                                                                                                                  \
        (void)conv, (void)pool;                                                                                        \
        return false;                                                                                                  \
    }
ABSENT(mw__conv_dweight_argmax_suits)
ABSENT(mw__conv_by_argmax_suits)

bool mw__conv_max_pool_suits(const mw__conv_max_pool_match *match, const mw__config *config, int partitions)
{
    (void)match, (void)config, (void)partitions;
    return false;
}

bool mw__conv_columns_argmax_suits(const mw__conv_columns_dweight_match *match, const mw__op *pool,
                                   const mw__config *config, int partitions)
{
    (void)match, (void)pool, (void)config, (void)partitions;
    return false;
}

bool mw__conv_columns_by_argmax_suits(const mw__conv_columns_match *match, const mw__op *pool, const mw__config *config,
                                      int partitions)
{
    (void)match, (void)pool, (void)config, (void)partitions;
    return false;
}

#define REFUSED(pattern)                                                                                               \
    mw_status mw__plan_##pattern(mw__planner *planner, const mw__##pattern##_match *match, mw_error *err)              \
    {                                                                                                                  \
        (void)planner, (void)match;                                                                                    \
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "this build has no AVX-512 kernels");                               \
    }
REFUSED(conv_max_pool)
REFUSED(conv_dweight_argmax)
REFUSED(conv_by_argmax)
REFUSED(unpool)
REFUSED(conv_columns_argmax)

#endif
