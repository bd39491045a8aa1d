/* The choice of a BLAS. It is made once per process, so this one has no BLAS at all. */
#include "engine/kernels/gemm/gemm.h"
#include "engine/run.h"
#include "support/check.h"

static void test_none_means_built_in(void)
{
    CHECK(mw__blas_find() == NULL);
    CHECK_STR(mw__blas_name(), "built-in");
    CHECK(!mw__blas_splits());
    const mw__config config = config_here();
    CHECK(mw__gemm_choose(&config, 512, 512, 512).sgemm == NULL);
}

static void test_the_choice_is_made_once(void)
{
    mw_error err = {0};
    mw__blas_choose("/no/such/library.so", &err);
    CHECK_OK(err);
    CHECK(mw__blas_find() == NULL);
}

int main(void)
{
    mw__blas_choose("none", NULL);
    RUN(test_none_means_built_in);
    RUN(test_the_choice_is_made_once);
    return check_finish();
}
