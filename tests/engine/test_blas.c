/* The choice of a BLAS by environment. It is made once per process, so this one has no BLAS at all. */
#include "engine/kernels/gemm.h"
#include "support/check.h"

#include <stdlib.h>

static void test_none_means_built_in(void)
{
    CHECK(mw__blas_find() == NULL);
    CHECK_STR(mw__blas_name(), "built-in");
    CHECK(!mw__blas_splits());
    CHECK(mw__gemm_choose(512, 512, 512).sgemm == NULL);
}

static void test_the_choice_is_made_once(void)
{
    unsetenv("MW_BLAS");
    CHECK(mw__blas_find() == NULL);
}

int main(void)
{
    setenv("MW_BLAS", "none", 1);
    RUN(test_none_means_built_in);
    RUN(test_the_choice_is_made_once);
    return check_finish();
}
