/* Shape rule of einsum; matmul and linear are in test_shapes.c. */
#include "shape_words.h"

#define FOUR  "nchw,nwhu->nchu"
#define THREE "chw,whr->chr"

static void test_einsum_shapes(void)
{
    GIVES(MW_F32, S(2, 3, 4, 6), mw_einsum(F(2, 3, 4, 5), F(2, 5, 4, 6), FOUR));
    GIVES(MW_F16, S(3, 4, 6), mw_einsum(H(3, 4, 5), H(5, 4, 6), THREE));
    GIVES(MW_I32, S(2, 3, 4, 6), mw_einsum(N(1, 3, 4, 5), N(2, 5, 1, 6), "abcd,adcz->abcz"));
    GIVES(MW_F32, S(3, 4, 6), mw_einsum(F(3, 1, 5), F(5, 4, 6), " i j k , k j l -> i j l "));
    GIVES(MW_F32, S(-1, 3, 4, 6), mw_einsum(F(-1, 3, 4, -1), F(-1, 5, 4, 6), FOUR));
    GIVES(MW_F32, S(0, 3, 4, 6), mw_einsum(F(0, 3, 4, 5), F(0, 5, 4, 6), FOUR));
}

static void test_einsum_refuses_other_equations(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "einsum: equation \"ij,jk->ik\" is neither", mw_einsum(F(2, 3), F(3, 4), "ij,jk->ik"));
    REFUSES(MW_ERROR_ARGUMENT, "\"nchw,nwhu->ncuh\" is neither",
            mw_einsum(F(1, 1, 1, 1), F(1, 1, 1, 1), "nchw,nwhu->ncuh"));
    REFUSES(MW_ERROR_ARGUMENT, "\"chw,whc->chc\" is neither", mw_einsum(F(1, 1, 1), F(1, 1, 1), "chw,whc->chc"));
    REFUSES(MW_ERROR_ARGUMENT, "\"chw,whr->ch\" is neither", mw_einsum(F(1, 1, 1), F(1, 1, 1), "chw,whr->ch"));
    REFUSES(MW_ERROR_ARGUMENT, "\"chw,whr->chrr\" is neither", mw_einsum(F(1, 1, 1), F(1, 1, 1), "chw,whr->chrr"));
    REFUSES(MW_ERROR_ARGUMENT, "\"c1w,w1r->c1r\" is neither", mw_einsum(F(1, 1, 1), F(1, 1, 1), "c1w,w1r->c1r"));
    REFUSES(MW_ERROR_ARGUMENT, "\"\" is neither", mw_einsum(F(1, 1, 1), F(1, 1, 1), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "\"\xc3\xa4hw,whr->chr\" is neither",
            mw_einsum(F(1, 1, 1), F(1, 1, 1), "\xc3\xa4hw,whr->chr"));
}

static void test_einsum_refuses_operands(void)
{
    REFUSES(MW_ERROR_SHAPE, "ranks differ from those: [3, 4, 5] and [5, 4, 6] of equation \"" FOUR "\"",
            mw_einsum(F(3, 4, 5), F(5, 4, 6), FOUR));
    REFUSES(MW_ERROR_SHAPE, "the contracted extents differ", mw_einsum(F(3, 4, 5), F(6, 4, 6), THREE));
    REFUSES(MW_ERROR_SHAPE, "shared extents do not broadcast", mw_einsum(F(3, 4, 5), F(5, 3, 6), THREE));
    REFUSES(MW_ERROR_SHAPE, "shared extents do not broadcast", mw_einsum(F(3, 3, 4, 5), F(2, 5, 4, 6), FOUR));
    REFUSES(MW_ERROR_DTYPE, "values[0] is fp32 but values[1] is fp16", mw_einsum(F(3, 4, 5), H(5, 4, 6), THREE));
    REFUSES(MW_ERROR_DTYPE, "values is bool", mw_einsum(B(3, 4, 5), B(5, 4, 6), THREE));
    REFUSES(MW_ERROR_ARGUMENT, "has 1 values, the equation wants 2",
            op(g, "einsum", "values", F(3, 4, 5), "equation", mw_text(g, THREE), NULL));
}

int main(void)
{
    RUN(test_einsum_shapes);
    RUN(test_einsum_refuses_other_equations);
    RUN(test_einsum_refuses_operands);
    return check_finish();
}
