/* Shapes and element types. */
#include "base/number/types.h"
#include "support/check.h"

#include <millwright/types.h>

static void test_count_multiplies_extents(void)
{
    CHECK_INT(mw_shape_count(mw_shape_scalar()), 1);
    CHECK_INT(mw_shape_count(MW_SHAPE(128, 784)), 128 * 784);
    CHECK_INT(mw_shape_count(MW_SHAPE(3, 0, 5)), 0);
}

static void test_count_refuses_unknown_and_overflow(void)
{
    CHECK_INT(mw_shape_count(MW_SHAPE(3, MW_DIM_UNKNOWN)), -1);
    CHECK_INT(mw_shape_count(MW_SHAPE(0, MW_DIM_UNKNOWN)), -1);
    CHECK_INT(mw_shape_count(MW_SHAPE(INT64_MAX, 2)), -1);
    CHECK_INT(mw_shape_count(MW_SHAPE(INT64_MAX, 1)), INT64_MAX);
    CHECK_INT(mw_shape_count((mw_shape){.rank = 9}), -1);
    CHECK_INT(mw_shape_count((mw_shape){.rank = -1}), -1);
}

static void test_equal_ignores_what_is_beyond_the_rank(void)
{
    mw_shape a = MW_SHAPE(2, 3), b = MW_SHAPE(2, 3);
    b.dim[2] = 7;
    CHECK(mw_shape_equal(a, b));
    b.rank = 3;
    CHECK(!mw_shape_equal(a, b));
    CHECK(!mw_shape_equal(a, MW_SHAPE(3, 2)));
}

static void test_every_dtype_has_name_and_width(void)
{
    for (int a = 0; a < MW_DTYPE_COUNT; a++) {
        REQUIRE(mw_dtype_name((mw_dtype)a) != NULL);
        for (int b = 0; b < a; b++)
            CHECK(strcmp(mw_dtype_name((mw_dtype)a), mw_dtype_name((mw_dtype)b)) != 0);
        CHECK(mw_dtype_bits((mw_dtype)a) > 0 || a == MW_STRING || a == MW_DTYPE_NONE);
    }
    CHECK_STR(mw_dtype_name(MW_F16), "fp16");
    CHECK_INT(mw_dtype_bits(MW_U3), 3);
    CHECK_INT(mw_dtype_bits(MW_BOOL), 8);
    CHECK_STR(mw_dtype_name(MW_DTYPE_COUNT), "?");
    CHECK_STR(mw_dtype_name((mw_dtype)-1), "?");
    CHECK_INT(mw_dtype_bits((mw_dtype)99), 0);
}

static void test_types_are_found_by_their_names_alone(void)
{
    for (int i = MW_DTYPE_NONE + 1; i < MW_DTYPE_COUNT; i++) {
        const char *name = mw_dtype_name((mw_dtype)i);
        CHECK_INT(mw__number_dtype_named(name, strlen(name)), i);
        CHECK(mw__number_dtype_named(name, strlen(name) - 1) != (mw_dtype)i);
    }
    CHECK_INT(mw__number_dtype_named("fp16 and more", 4), MW_F16);
    CHECK_INT(mw__number_dtype_named("", 0), MW_DTYPE_NONE);
    CHECK_INT(mw__number_dtype_named("none", 4), MW_DTYPE_NONE);
    CHECK_INT(mw__number_dtype_named("fp16x", 5), MW_DTYPE_NONE);
    CHECK_INT(mw__number_dtype_named("fp8e4m3fn_and_longer", 20), MW_DTYPE_NONE);
}

int main(void)
{
    RUN(test_types_are_found_by_their_names_alone);
    RUN(test_count_multiplies_extents);
    RUN(test_count_refuses_unknown_and_overflow);
    RUN(test_equal_ignores_what_is_beyond_the_rank);
    RUN(test_every_dtype_has_name_and_width);
    return check_finish();
}
