/* Shape rules of the gathers, the scatters, non_zero and the embedding layer: what they give and what they refuse. */
#include "shape_words.h"

#define ADD MW_SCATTER_ADD

static void test_gather_along_axis(void)
{
    GIVES(MW_F32, S(2, 7, 3), mw_gather_along_axis(F(2, 5, 3), N(2, 7, 3), 1));
    GIVES(MW_BOOL, S(4), mw_gather_along_axis(B(5), N(4), -1));
    GIVES_IN(MW_IOS15, MW_I32, S(1, 3), mw_gather_along_axis(N(5, 3), N(1, 3), 0));
    GIVES(MW_F32, S(2, -1), mw_gather_along_axis(F(2, 5), N(-1, -1), 1));
    REFUSES(MW_ERROR_ARGUMENT, "gather_along_axis: axis 2 is outside [-2, 2)",
            mw_gather_along_axis(F(2, 5), N(2, 5), 2));
    REFUSES(MW_ERROR_SHAPE, "[2] must have one rank", mw_gather_along_axis(F(2, 5), N(2), 1));
    REFUSES(MW_ERROR_SHAPE, "equal extents but at axis 1", mw_gather_along_axis(F(2, 5), N(3, 5), 1));
    REFUSES(MW_ERROR_DTYPE, "indices is fp32", mw_gather_along_axis(F(5), F(5), 0));
    REFUSES(MW_ERROR_ARGUMENT, "axis 0 is outside", mw_gather_along_axis(SCALAR, SCALARI, 0));
}

static void test_gather_nd(void)
{
    GIVES(MW_F32, S(6, 5), mw_gather_nd(F(3, 4, 5), N(6, 2), 0));
    GIVES(MW_F32, mw_shape_scalar(), mw_gather_nd(F(3, 4), N(2), 0));
    GIVES(MW_F16, S(3, 6, 2), mw_gather_nd(H(3, 4, 5, 2), N(3, 6, 2), 1));
    GIVES(MW_F32, S(-1, 5), mw_gather_nd(F(3, -1, 5), N(-1, 2), 0));
    GIVES_IN(MW_IOS15, MW_F32, S(6), mw_gather_nd(F(3, 4), N(6, 2), 0));
    REFUSES(MW_ERROR_SHAPE, "[6, 3] must be known and in [1, 2]: coordinates of x", mw_gather_nd(F(3, 4), N(6, 3), 0));
    REFUSES(MW_ERROR_SHAPE, "must be known and in [1, 2]", mw_gather_nd(F(3, 4), N(6, 0), 0));
    REFUSES(MW_ERROR_SHAPE, "must be known", mw_gather_nd(F(3, 4), N(6, -1), 0));
    REFUSES(MW_ERROR_SHAPE, "[] must have rank 1 or more: its last axis holds coordinates",
            mw_gather_nd(F(3, 4), SCALARI, 0));
    REFUSES(MW_ERROR_SHAPE, "must have rank 2 or more", mw_gather_nd(F(3, 4), N(3), 1));
    REFUSES(MW_ERROR_SHAPE, "batch axis 0 differs: x has 3, indices 2", mw_gather_nd(F(3, 4), N(2, 1), 1));
    REFUSES(MW_ERROR_ARGUMENT, "batch_dims 3 must be at least 0, at most the rank of x, 2",
            mw_gather_nd(F(3, 4), N(3, 4, 1, 1), 3));
    REFUSES(MW_ERROR_ARGUMENT, "batch_dims -1 must be", mw_gather_nd(F(3, 4), N(3, 1), -1));
    REFUSES(MW_ERROR_SHAPE, "must be known and in [1, 0]", mw_gather_nd(F(3, 4), N(3, 4, 1), 2));
    REFUSES(MW_ERROR_SHAPE, "exceed rank 8", mw_gather_nd(F(2, 1, 1, 1, 1), N(1, 1, 1, 1, 1, 1), 0));
    REFUSES_IN(MW_IOS15, MW_ERROR_UNSUPPORTED, "batch_dims 1 needs ios16", mw_gather_nd(F(3, 4), N(3, 1), 1));
}

static void test_scatter(void)
{
    GIVES(MW_F32, S(2, 5, 3), mw_scatter(F(2, 5, 3), N(7), F(2, 7, 3), 1, ADD));
    GIVES(MW_I32, S(5), mw_scatter(N(5), N(7), N(7), -1, MW_SCATTER_UPDATE));
    GIVES(MW_F16, S(5, 2), op(g, "scatter", "data", H(5, 2), "indices", N(3), "updates", H(3, 2), NULL));
    GIVES(MW_F32, S(5, -1), mw_scatter(F(5, -1), N(-1), F(4, 3), 0, ADD));
    GIVES_IN(MW_IOS15, MW_F32, S(5), mw_scatter(F(5), N(2), F(2), 0, MW_SCATTER_MAX));
    REFUSES(MW_ERROR_SHAPE, "[3, 2] must have rank 1; flatten it with reshape, or use scatter_nd",
            mw_scatter(F(5), N(3, 2), F(3, 2), 0, ADD));
    REFUSES(MW_ERROR_SHAPE, "[2, 5] must have the shape [2, 3] of what the indices choose",
            mw_scatter(F(2, 5), N(3), F(2, 5), 1, ADD));
    REFUSES(MW_ERROR_SHAPE, "[3] must have the shape [2, 3]", mw_scatter(F(2, 5), N(3), F(3), 1, ADD));
    REFUSES(MW_ERROR_ARGUMENT, "axis 1 is outside [-1, 1)", mw_scatter(F(5), N(2), F(2), 1, ADD));
    REFUSES(MW_ERROR_ARGUMENT, "axis 0 is outside", mw_scatter(SCALAR, N(2), F(2), 0, ADD));
    REFUSES(MW_ERROR_DTYPE, "data is fp32 but updates is fp16", mw_scatter(F(5), N(2), H(2), 0, ADD));
    REFUSES(MW_ERROR_DTYPE, "data is bool", mw_scatter(B(5), N(2), B(2), 0, ADD));
    REFUSES(MW_ERROR_DTYPE, "indices is fp32", mw_scatter(F(5), F(2), F(2), 0, ADD));
    REFUSES(MW_ERROR_ARGUMENT, "scatter: mode 7 is no mw_scatter_mode",
            mw_scatter(F(5), N(2), F(2), 0, (mw_scatter_mode)7));
    REFUSES(MW_ERROR_ARGUMENT, "mode \"mean\" is none of update, add, sub, mul, div, max, min",
            op(g, "scatter", "data", F(5), "indices", N(2), "updates", F(2), "mode", mw_text(g, "mean"), NULL));
}

static void test_scatter_along_axis(void)
{
    GIVES(MW_F32, S(2, 5), mw_scatter_along_axis(F(2, 5), N(2, 7), F(2, 7), 1, ADD));
    GIVES(MW_F32, S(2, 5), mw_scatter_along_axis(F(2, 5), N(3, 5), F(3, 5), 0, MW_SCATTER_MUL));
    REFUSES(MW_ERROR_SHAPE, "[3, 7] must have one rank, and equal extents but at axis 1",
            mw_scatter_along_axis(F(2, 5), N(3, 7), F(3, 7), 1, ADD));
    REFUSES(MW_ERROR_SHAPE, "[2, 6] must have the shape [2, 7]",
            mw_scatter_along_axis(F(2, 5), N(2, 7), F(2, 6), 1, ADD));
    REFUSES(MW_ERROR_ARGUMENT, "axis -3 is outside", mw_scatter_along_axis(F(2, 5), N(2, 7), F(2, 7), -3, ADD));
    REFUSES(MW_ERROR_ARGUMENT, "mode -1 is no", mw_scatter_along_axis(F(5), N(5), F(5), 0, (mw_scatter_mode)-1));
}

static void test_scatter_nd(void)
{
    GIVES(MW_F32, S(3, 4, 5), mw_scatter_nd(F(3, 4, 5), N(6, 2), F(6, 5), ADD));
    GIVES(MW_F32, S(3, 4), mw_scatter_nd(F(3, 4), N(2), SCALAR, ADD));
    GIVES(MW_F32, S(3, 4), mw_scatter_nd(F(3, 4), N(2, 6, 1), F(2, 6, 4), ADD));
    REFUSES(MW_ERROR_SHAPE, "[6, 3] must be known and in [1, 2]: coordinates of data",
            mw_scatter_nd(F(3, 4), N(6, 3), F(6), ADD));
    REFUSES(MW_ERROR_SHAPE, "[6, 4] must have the shape [6, 5]", mw_scatter_nd(F(3, 4, 5), N(6, 2), F(6, 4), ADD));
    REFUSES(MW_ERROR_ARGUMENT, "has no argument \"axis\"",
            op(g, "scatter_nd", "data", F(3), "indices", N(2, 1), "updates", F(2), "axis", one(g, 0), NULL));
}

static mw_tensor *validated(mw_graph *g, const char *operation, mw_tensor *indices)
{
    return op(g, operation, "data", F(3, 4), "indices", indices, "updates", F(2), "validate_indices",
              mw_scalar(g, MW_BOOL, 1), NULL);
}

static mw_tensor *pairs(mw_graph *g, int32_t a, int32_t b)
{
    const int32_t values[4] = {0, 0, a, b};
    return mw_constant(g, MW_I32, S(2, 2), values);
}

static void test_constant_indices_by_opset(void)
{
    GIVES_IN(MW_IOS16, MW_F32, S(2), mw_gather_along_axis(F(3), INTS(-3, 2), 0));
    REFUSES_IN(MW_IOS16, MW_ERROR_ARGUMENT, "index 3 is outside [-3, 3)", mw_gather_along_axis(F(3), INTS(3), 0));
    GIVES_IN(MW_IOS17, MW_F32, S(1), mw_gather_along_axis(F(3), INTS(-1), 0));
    REFUSES_IN(MW_IOS15, MW_ERROR_ARGUMENT, "index -4 is outside [-3, 3)",
               mw_scatter(F(3), INTS(0, -4), F(2), 0, MW_SCATTER_ADD));
    GIVES_IN(MW_IOS15, MW_F32, S(2), mw_gather_nd(F(3, 4), pairs(g, -3, 3), 0));
    REFUSES_IN(MW_IOS15, MW_ERROR_ARGUMENT, "index 4 is outside [-4, 4)", mw_gather_nd(F(3, 4), pairs(g, 2, 4), 0));
    GIVES(MW_F32, S(3, 4), validated(g, "scatter_nd", pairs(g, 2, 3)));
    REFUSES(MW_ERROR_ARGUMENT, "index 3 is outside [0, 3)", validated(g, "scatter_nd", pairs(g, 3, 0)));
    REFUSES_IN(MW_IOS16, MW_ERROR_ARGUMENT, "has no argument \"validate_indices\"",
               validated(g, "scatter_nd", pairs(g, 0, 0)));
}

static void test_non_zero(void)
{
    GIVES(MW_I32, S(-1, 2), mw_non_zero(F(3, 4)));
    GIVES(MW_I32, S(2, 1), mw_non_zero(INTS(0, 5, 0, -1)));
    GIVES(MW_I32, S(0, 1), mw_non_zero(INTS(0, 0)));
    GIVES(MW_I32, S(-1, 1), mw_non_zero(B(-1)));
    REFUSES(MW_ERROR_SHAPE, "non_zero: x is a scalar", mw_non_zero(SCALAR));
}

static void test_non_zero_of_a_computed_tensor_does_not_compile(void)
{
    mw_graph *g = make_graph(MW_IOS18, NULL);
    mw_error err = {0};
    mw_output(mw_reduce_sum(mw_non_zero(F(3, 4)), MW_ALL_AXES, false), "y");
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    CHECK(mw_program_create(g, &options, &err) == NULL);
    CHECK_CONTAINS(err.message, "non_zero: its result [?, 2] has extents that are not known before the program runs");
    mw_graph_destroy(g);
}

static void test_embedding(void)
{
    GIVES(MW_F32, S(2, 7, 16), mw_embedding(N(2, 7), 10, 16, "tokens"));
    GIVES(MW_F32, S(16), mw_embedding(SCALARI, 10, 16, "tokens"));
    GIVES(MW_F32, S(-1, 16), mw_embedding(N(-1), 10, 16, "tokens"));
    REFUSES(MW_ERROR_ARGUMENT, "embedding \"t\": count 0 and dim 16 must be positive", mw_embedding(N(2), 0, 16, "t"));
    REFUSES(MW_ERROR_ARGUMENT, "must be positive", mw_embedding(N(2), 4, -1, "t"));
    REFUSES(MW_ERROR_DTYPE, "embedding \"t\": indices are fp32, not integers", mw_embedding(F(2), 4, 4, "t"));
    REFUSES(MW_ERROR_ARGUMENT, "embedding: the name is empty", mw_embedding(N(2), 4, 4, ""));
}

static void test_embedding_has_a_table_and_limits_its_input(void)
{
    mw_graph *g = make_graph(MW_IOS18, NULL);
    mw_tensor *tokens = mw_input(g, "tokens", MW_I32, S(5));
    REQUIRE(mw_embedding(tokens, 10, 4, "wide") != NULL && mw_embedding(tokens, 8, 4, "narrow") != NULL);
    REQUIRE(mw_embedding(tokens, 9, 4, "middle") != NULL);
    CHECK_TYPE(mw_graph_find(g, "narrow.weight"), MW_F32, S(8, 4));
    CHECK_INT(tokens->index_limit, 8); /* the smallest table counts */
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_gather_along_axis);
    RUN(test_gather_nd);
    RUN(test_scatter);
    RUN(test_scatter_along_axis);
    RUN(test_scatter_nd);
    RUN(test_constant_indices_by_opset);
    RUN(test_non_zero);
    RUN(test_non_zero_of_a_computed_tensor_does_not_compile);
    RUN(test_embedding);
    RUN(test_embedding_has_a_table_and_limits_its_input);
    return check_finish();
}
