/* Reductions that came after the first ones, positions of extrema and cumsum: results and what the rules refuse. */
#include "shape_words.h"

typedef mw_tensor *reduce_call(mw_tensor *x, mw_axes axes, bool keep_dims);

static void test_every_reduction_has_the_same_shapes(void)
{
    static reduce_call *const calls[] = {mw_reduce_prod, mw_reduce_sum_square, mw_reduce_l1_norm, mw_reduce_l2_norm,
                                         mw_reduce_log_sum};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        GIVES(MW_F32, S(2), calls[i](F(2, 3), MW_AXES(-1), false));
        GIVES(MW_F16, S(2, 1, 4), calls[i](H(2, 3, 4), MW_AXES(1), true));
        GIVES(MW_F32, mw_shape_scalar(), calls[i](F(2, -1), MW_ALL_AXES, false));
        GIVES(MW_F32, S(-1), calls[i](F(-1, 3), MW_AXES(1), false));
        REFUSES(MW_ERROR_ARGUMENT, "axes 2 is outside [-2, 2)", calls[i](F(2, 3), MW_AXES(2), false));
        REFUSES(MW_ERROR_ARGUMENT, "axes names axis 0 twice", calls[i](F(2, 3), MW_AXES(0, -2), false));
        REFUSES(MW_ERROR_DTYPE, "x is bool", calls[i](B(2), MW_ALL_AXES, false));
    }
}

static void test_every_reduction_takes_integers(void)
{
    GIVES(MW_I32, S(2), mw_reduce_prod(N(2, 3), MW_AXES(1), false));
    GIVES(MW_I32, S(2), mw_reduce_sum_square(N(2, 3), MW_AXES(1), false));
    GIVES(MW_I32, S(2), mw_reduce_l1_norm(N(2, 3), MW_AXES(1), false));
    GIVES(MW_I32, S(2), mw_reduce_l2_norm(N(2, 3), MW_AXES(1), false));
    GIVES(MW_I32, S(2), mw_reduce_log_sum(N(2, 3), MW_AXES(1), false));
    GIVES(MW_I32, S(2), mw_reduce_log_sum_exp(N(2, 3), MW_AXES(1), false));
}

static void test_only_sums_and_products_of_nothing_are_defined(void)
{
    GIVES(MW_F32, S(2), mw_reduce_prod(F(2, 0), MW_AXES(1), false));
    GIVES(MW_F32, S(2), mw_reduce_l2_norm(F(2, 0), MW_AXES(1), false));
    REFUSES(MW_ERROR_SHAPE, "axis 1 has extent 0, only sums and products of nothing are defined",
            mw_reduce_log_sum(F(2, 0), MW_AXES(1), false));
}

static void test_positions_of_extrema(void)
{
    GIVES(MW_I32, S(2), mw_reduce_argmax(F(2, 3), -1, false));
    GIVES(MW_I32, S(2, 1, 4), mw_reduce_argmin(N(2, 3, 4), 1, true));
    GIVES(MW_I32, S(-1), mw_reduce_argmax(F(-1, -1), 0, false));
    GIVES_IN(MW_IOS15, MW_I32, S(3), mw_reduce_argmin(H(2, 3), 0, false));
    GIVES(MW_U16, S(2), op(g, "reduce_argmax", "x", F(2, 65536), "output_dtype", mw_text(g, "uint16"), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "reduce_argmax: axis 2 is outside [-2, 2)", mw_reduce_argmax(F(2, 3), 2, false));
    REFUSES(MW_ERROR_ARGUMENT, "axis -1 is outside [0, 0)", mw_reduce_argmin(SCALAR, -1, false));
    REFUSES(MW_ERROR_SHAPE, "axis 1 has extent 0, it has no extremum", mw_reduce_argmin(F(2, 0), 1, false));
    REFUSES(MW_ERROR_DTYPE, "x is bool", mw_reduce_argmax(B(2), 0, false));
    REFUSES(MW_ERROR_SHAPE, "axis 1 has extent 65537, positions in uint16 end at 65536",
            op(g, "reduce_argmax", "x", F(2, 65537), "output_dtype", mw_text(g, "uint16"), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "output_dtype \"int8\" is not int32 or uint16",
            op(g, "reduce_argmin", "x", F(2), "output_dtype", mw_text(g, "int8"), NULL));
    REFUSES_IN(MW_IOS16, MW_ERROR_ARGUMENT, "output_dtype",
               op(g, "reduce_argmin", "x", F(2), "output_dtype", mw_text(g, "int32"), NULL));
}

static void test_cumsum_keeps_the_shape(void)
{
    GIVES(MW_F32, S(2, -1), mw_cumsum(F(2, -1), 1, false, true));
    GIVES(MW_I32, S(2, 3), mw_cumsum(N(2, 3), -2, true, false));
    GIVES(MW_F16, S(2, 0), op(g, "cumsum", "x", H(2, 0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "cumsum: axis 2 is outside [-2, 2)", mw_cumsum(F(2, 3), 2, false, false));
    REFUSES(MW_ERROR_ARGUMENT, "axis -3 is outside [-2, 2)", mw_cumsum(F(2, 3), -3, false, false));
    REFUSES(MW_ERROR_ARGUMENT, "axis 0 is outside [0, 0)", mw_cumsum(SCALAR, 0, false, false));
    REFUSES(MW_ERROR_DTYPE, "x is bool", mw_cumsum(B(2), 0, false, false));
}

/* MIL counts from the end for -1 only. */
static void test_cumsum_writes_other_axes_from_the_front(void)
{
    mw_graph *g = make_graph(MW_IOS18, NULL);
    int64_t axis = 9;
    CHECK(mw__arg_int(mw_cumsum(F(2, 3, 4), -3, false, false)->op, "axis", &axis) && axis == 0);
    CHECK(mw__arg_int(mw_cumsum(F(2, 3, 4), -1, false, false)->op, "axis", &axis) && axis == -1);
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_every_reduction_has_the_same_shapes);
    RUN(test_every_reduction_takes_integers);
    RUN(test_only_sums_and_products_of_nothing_are_defined);
    RUN(test_positions_of_extrema);
    RUN(test_cumsum_keeps_the_shape);
    RUN(test_cumsum_writes_other_axes_from_the_front);
    return check_finish();
}
