/* Shape rules of ops/compare.def: comparisons, logic and select. */
#include "shape_words.h"

static void test_compare_and_select(void)
{
    GIVES(MW_BOOL, S(2, 3), mw_less(F(2, 3), F(3)));
    GIVES(MW_BOOL, S(2), mw_equal(N(2), N(1)));
    GIVES(MW_BOOL, S(2), mw_not_equal(N(2), N(1)));
    GIVES(MW_BOOL, S(2), mw_less_equal(H(2), H(1)));
    GIVES(MW_BOOL, S(2), mw_greater(H(2), H(1)));
    GIVES(MW_BOOL, S(2), mw_greater_equal(H(2), H(1)));
    GIVES(MW_F32, S(4, 2, 3), mw_select(B(2, 1), F(4, 1, 3), SCALAR));
    GIVES(MW_BOOL, S(2), mw_select(B(2), B(2), B(2)));
    REFUSES(MW_ERROR_DTYPE, "cond is fp32, not bool", mw_select(F(2), F(2), F(2)));
    REFUSES(MW_ERROR_DTYPE, "a is fp32 but b is fp16", mw_select(B(2), F(2), H(2)));
    REFUSES(MW_ERROR_SHAPE, "select: shapes do not broadcast: cond \"m\" [2], a \"p\" [3] and b \"q\" [3]",
            mw_select(mw_input(g, "m", MW_BOOL, S(2)), mw_input(g, "p", MW_F32, S(3)), mw_input(g, "q", MW_F32, S(3))));
}

static void test_logic(void)
{
    GIVES(MW_BOOL, S(2), mw_logical_not(B(2)));
    REFUSES(MW_ERROR_DTYPE, "logical_not: x is fp32, not bool", mw_logical_not(F(2)));
    GIVES(MW_BOOL, S(2, 3), mw_logical_and(B(2, 1), B(3)));
    GIVES(MW_BOOL, S(-1), mw_logical_or(B(-1), B(1)));
    GIVES(MW_BOOL, S(2), mw_logical_xor(B(2), B(2)));
    REFUSES(MW_ERROR_DTYPE, "logical_and: x is fp32, not bool", mw_logical_and(F(2), B(2)));
    REFUSES(MW_ERROR_DTYPE, "logical_or: y is int32, not bool", mw_logical_or(B(2), N(2)));
    REFUSES(MW_ERROR_SHAPE, "logical_xor: shapes do not broadcast", mw_logical_xor(B(2), B(3)));
}

int main(void)
{
    RUN(test_compare_and_select);
    RUN(test_logic);
    return check_finish();
}
