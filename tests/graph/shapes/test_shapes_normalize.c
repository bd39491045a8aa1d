/* Shape rules of ops/normalize.def and of the layers: what they give, unknown extents, refusals with their messages. */
#include "shape_words.h"

static mw_tensor *vector(mw_graph *g, int64_t count)
{
    return mw_constant(g, MW_F32, MW_SHAPE(count), (const float[16]){0});
}

#define V(count) vector(g, count)

static void test_batch_norm(void)
{
    GIVES(MW_F32, S(2, 3, 4, 4), mw_batch_norm(F(2, 3, 4, 4), V(3), V(3), V(3), V(3), 1e-5f));
    GIVES(MW_F16, S(2, 3, 4), mw_batch_norm(H(2, 3, 4), V(3), V(3), NULL, NULL, 1e-5f));
    GIVES(MW_F32, S(-1, -1, 4), mw_batch_norm(F(-1, -1, 4), V(3), V(3), NULL, NULL, 1e-5f));
    GIVES(MW_F32, S(0, 3, 4), mw_batch_norm(F(0, 3, 4), V(3), V(3), NULL, NULL, 1e-5f));
    GIVES(MW_F32, S(2, 3, 4), mw_batch_norm(F(2, 3, 4), F(3), F(3), F(3), V(3), 1e-5f));
    GIVES(MW_F32, S(-1, 3, 4), mw_batch_norm(F(-1, 3, 4), F(3), F(3), F(3), V(3), 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "batch_norm: x \"h\" [2, 3] has rank 2, 3 to 5 are allowed: [N, C, ..]; use reshape",
            mw_batch_norm(mw_input(g, "h", MW_F32, S(2, 3)), V(3), V(3), NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "rank 6", mw_batch_norm(F(1, 3, 1, 1, 1, 1), V(3), V(3), NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "variance [4] does not fit x \"h\" [2, 3, 5]: [3] is wanted",
            op(g, "batch_norm", "x", mw_input(g, "h", MW_F32, S(2, 3, 5)), "mean", V(3), "variance", V(4), NULL));
    REFUSES(MW_ERROR_SHAPE, "batch_norm: gamma [2] does not fit x: [3] is wanted",
            mw_batch_norm(F(2, 3, 4), F(3), F(3), F(2), V(3), 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "x has rank 2", mw_batch_norm(F(2, 3), F(3), F(3), NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_DTYPE, "x is int32", mw_batch_norm(N(2, 3, 4), V(3), V(3), NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_ARGUMENT, "argument mean is missing",
            op(g, "batch_norm", "x", F(2, 3, 4), "variance", V(3), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "argument variance is missing",
            op(g, "batch_norm", "x", F(2, 3, 4), "mean", F(3), NULL));
}

static void test_instance_norm(void)
{
    GIVES(MW_F32, S(2, 3, 4, 4), mw_instance_norm(F(2, 3, 4, 4), V(3), V(3), 1e-5f));
    GIVES(MW_F16, S(2, 3, -1), mw_instance_norm(H(2, 3, -1), NULL, NULL, 1e-5f));
    GIVES(MW_F32, S(2, 3, 4), mw_instance_norm(F(2, 3, 4), F(3), F(3), 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "instance_norm: x \"h\" [1, 3, 2, 2, 2] has rank 5, 3 to 4 are allowed",
            mw_instance_norm(mw_name(mw_relu(F(1, 3, 2, 2, 2)), "h"), NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "beta [2] does not fit", mw_instance_norm(F(2, 3, 4), V(3), V(2), 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "instance_norm: beta [2] does not fit x: [3] is wanted",
            mw_instance_norm(F(2, 3, 4), V(3), F(2), 1e-5f));
}

static void test_layer_norm(void)
{
    GIVES(MW_F32, S(2, 3), mw_layer_norm(F(2, 3), MW_AXES(-1), V(3), V(3), 1e-5f));
    GIVES(MW_F32, S(2, -1), mw_layer_norm(F(2, -1), MW_AXES(1), V(3), NULL, 1e-5f));
    GIVES(MW_F16, S(2, 3), mw_layer_norm(H(2, 3), MW_ALL_AXES, NULL, NULL, 1e-5f));
    GIVES(MW_F32, mw_shape_scalar(), mw_layer_norm(SCALAR, MW_ALL_AXES, NULL, NULL, 1e-5f));
    GIVES(MW_F32, S(2, 3, 4), mw_layer_norm(F(2, 3, 4), MW_AXES(2, 0), F(2, 4), F(2, 4), 1e-5f));
    GIVES(MW_F32, S(-1, 3, 4), mw_layer_norm(F(-1, 3, 4), MW_AXES(1), F(3), NULL, 1e-5f));
    REFUSES(MW_ERROR_ARGUMENT, "layer_norm: axes 2 is outside [-2, 2)",
            mw_layer_norm(F(2, 3), MW_AXES(2), NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_ARGUMENT, "axes names axis 1 twice", mw_layer_norm(F(2, 3), MW_AXES(1, -1), NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "gamma [4] does not fit x \"h\" [2, 3]: [3] is wanted",
            op(g, "layer_norm", "x", mw_input(g, "h", MW_F32, S(2, 3)), "axes", INTS(1), "gamma", V(4), NULL));
    REFUSES(MW_ERROR_SHAPE, "layer_norm: gamma [3] does not fit x: [2, 3] is wanted",
            mw_layer_norm(F(2, 3), MW_ALL_AXES, F(3), NULL, 1e-5f));
    REFUSES(MW_ERROR_ARGUMENT, "axes is empty; leave it out",
            op(g, "layer_norm", "x", F(2, 3), "axes", mw_constant(g, MW_I32, S(0), NULL), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "epsilon must be one constant number",
            op(g, "layer_norm", "x", F(2, 3), "epsilon", V(2), NULL));
    REFUSES(MW_ERROR_DTYPE, "x is int32", mw_layer_norm(N(2, 3), MW_ALL_AXES, NULL, NULL, 1e-5f));
}

static void test_l2_norm(void)
{
    GIVES(MW_F32, S(5, -1, 3, 4), mw_l2_norm(F(5, -1, 3, 4), 1e-6f));
    REFUSES(MW_ERROR_SHAPE, "l2_norm: x \"h\" [3, 4] has rank 2, at least 3 is wanted; add axes with expand_dims",
            mw_l2_norm(mw_name(mw_relu(F(3, 4)), "h"), 1e-6f));
    REFUSES(MW_ERROR_DTYPE, "x is int32", mw_l2_norm(N(2, 3, 4), 1e-6f));
}

static void test_local_response_norm(void)
{
    GIVES(MW_F32, S(2, 3, 4), mw_local_response_norm(F(2, 3, 4), 5, 1e-4f, 0.75f, 1.0f));
    GIVES(MW_F16, S(2, -1, 4, 4), mw_local_response_norm(H(2, -1, 4, 4), 1, 1e-4f, 0.75f, 1.0f));
    REFUSES(MW_ERROR_ARGUMENT, "local_response_norm: size 0 must be at least 1",
            mw_local_response_norm(F(2, 3, 4), 0, 1e-4f, 0.75f, 1.0f));
    REFUSES(MW_ERROR_SHAPE, "has rank 2, at least 3", mw_local_response_norm(F(2, 3), 3, 1e-4f, 0.75f, 1.0f));
    REFUSES(MW_ERROR_ARGUMENT, "argument size is missing", op(g, "local_response_norm", "x", F(2, 3, 4), NULL));
}

static void test_group_norm(void)
{
    GIVES(MW_F32, S(2, 6, 4), mw_group_norm(F(2, 6, 4), 3, F(6), F(6), 1e-5f));
    GIVES(MW_F16, S(2, 6, 4, 5), mw_group_norm(H(2, 6, 4, 5), 1, NULL, NULL, 1e-5f));
    GIVES(MW_F32, S(0, 6, 4), mw_group_norm(F(0, 6, 4), 2, F(6), NULL, 1e-5f));
    REFUSES(MW_ERROR_ARGUMENT, "group_norm: the 6 channels of x [2, 6, 4] are no multiple of 4 groups",
            mw_group_norm(F(2, 6, 4), 4, NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_ARGUMENT, "0 groups", mw_group_norm(F(2, 6, 4), 0, NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "every extent of x [2, 6, ?] must be known",
            mw_group_norm(F(2, 6, -1), 2, NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "x [2, 6] has rank 2", mw_group_norm(F(2, 6), 2, NULL, NULL, 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "gamma [3] must be [6]", mw_group_norm(F(2, 6, 4), 2, F(3), NULL, 1e-5f));
}

static void test_rms_norm(void)
{
    GIVES(MW_F32, S(2, 3), mw_rms_norm(F(2, 3), MW_AXES(-1), F(3), 1e-5f));
    GIVES(MW_F16, S(2, 3), mw_rms_norm(H(2, 3), MW_ALL_AXES, NULL, 1e-3f));
    GIVES(MW_F32, S(2, 3, 4), mw_rms_norm(F(2, 3, 4), MW_AXES(0, 2), F(2, 4), 1e-5f));
    REFUSES(MW_ERROR_SHAPE, "rms_norm: weight [2] does not fit x: [3] is wanted",
            mw_rms_norm(F(2, 3), MW_AXES(-1), F(2), 1e-5f));
    REFUSES(MW_ERROR_ARGUMENT, "axes 5 is outside [-2, 2)", mw_rms_norm(F(2, 3), MW_AXES(5), NULL, 1e-5f));
}

/* The parameters that a layer made, in PyTorch's words, with PyTorch's first values. */
static void check_parameters(mw_graph *g, const char *weight, const char *bias, mw_shape shape)
{
    const mw_tensor *w = mw_graph_find(g, weight), *b = mw_graph_find(g, bias);
    const mw_init one = mw_init_constant(1.0f), zero = mw_init_zeros();
    const mw__init ones = mw__init_of(&one), zeros = mw__init_of(&zero);
    REQUIRE(w != NULL && w->init != NULL);
    CHECK_TYPE(w, MW_F32, shape);
    CHECK(w->init->kind == ones.kind && w->init->a == ones.a);
    if (b != NULL) {
        CHECK_TYPE(b, MW_F32, shape);
        CHECK(b->init->kind == zeros.kind && b->init->a == zeros.a);
    }
}

static void test_layers_make_the_parameters_of_torch(void)
{
    mw_graph *g = make_graph(MW_IOS18, NULL);
    CHECK_TYPE(mw_layer_norm_layer(F(2, 3, 4), 2, 1e-5f, "ln"), MW_F32, S(2, 3, 4));
    check_parameters(g, "ln.weight", "ln.bias", S(3, 4));
    CHECK_TYPE(mw_rms_norm_layer(F(2, 3, 4), 1, 1e-5f, "rms"), MW_F32, S(2, 3, 4));
    check_parameters(g, "rms.weight", "rms.bias", S(4));
    CHECK(mw_graph_find(g, "rms.bias") == NULL && mw_graph_find(g, "ln.bias") != NULL);
    CHECK_TYPE(mw_group_norm_layer(F(2, 6, 4), 2, 1e-5f, "gn"), MW_F32, S(2, 6, 4));
    check_parameters(g, "gn.weight", "gn.bias", S(6));
    CHECK_TYPE(mw_instance_norm_layer(F(2, 6, 4), 1e-5f, "in"), MW_F32, S(2, 6, 4));
    check_parameters(g, "in.weight", "in.bias", S(6));
    mw_graph_destroy(g);
}

static void test_layers_refuse(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "layer_norm: 3 axes of rank 2; 1 to 2", mw_layer_norm_layer(F(2, 3), 3, 1e-5f, "ln"));
    REFUSES(MW_ERROR_ARGUMENT, "rms_norm: 0 axes of rank 2", mw_rms_norm_layer(F(2, 3), 0, 1e-5f, "rms"));
    REFUSES(MW_ERROR_ARGUMENT, "layer_norm: the name is empty", mw_layer_norm_layer(F(2, 3), 1, 1e-5f, ""));
    REFUSES(MW_ERROR_ARGUMENT, "rms_norm: the name is empty", mw_rms_norm_layer(F(2, 3), 1, 1e-5f, NULL));
    REFUSES(MW_ERROR_SHAPE, "instance_norm: x has rank 2", mw_instance_norm_layer(F(2, 3), 1e-5f, "in"));
    REFUSES(MW_ERROR_ARGUMENT, "no multiple of 4 groups", mw_group_norm_layer(F(2, 6, 3), 4, 1e-5f, "gn"));
    REFUSES(MW_ERROR_SHAPE, "parameter \"ln.weight\": every extent must be known",
            mw_layer_norm_layer(F(2, -1), 1, 1e-5f, "ln"));
    CHECK(mw_layer_norm_layer(NULL, 1, 1e-5f, "a") == NULL && mw_rms_norm_layer(NULL, 1, 1e-5f, "a") == NULL);
    CHECK(mw_group_norm(NULL, 1, NULL, NULL, 1e-5f) == NULL && mw_rms_norm(NULL, MW_ALL_AXES, NULL, 1e-5f) == NULL);
    CHECK(mw_group_norm_layer(NULL, 1, 1e-5f, "a") == NULL && mw_instance_norm_layer(NULL, 1e-5f, "a") == NULL);
}

int main(void)
{
    RUN(test_batch_norm);
    RUN(test_instance_norm);
    RUN(test_layer_norm);
    RUN(test_l2_norm);
    RUN(test_local_response_norm);
    RUN(test_group_norm);
    RUN(test_rms_norm);
    RUN(test_layers_make_the_parameters_of_torch);
    RUN(test_layers_refuse);
    return check_finish();
}
