/* Shape rules of the random numbers: what they give and what they refuse. */
#include "shape_words.h"

static mw_tensor *normal(mw_graph *g, mw_shape shape, float mean, float stddev, int32_t seed)
{
    return mw_random_normal(g, MW_F32, shape, mean, stddev, seed);
}

static void test_random_normal(void)
{
    GIVES(MW_F32, S(2, 3), normal(g, S(2, 3), 0, 1, -1));
    GIVES(MW_F16, S(4), mw_random_normal(g, MW_F16, S(4), 0, 1, 7));
    GIVES(MW_F32, S(-1, -1), op(g, "random_normal", "shape", N(2), NULL));
    REFUSES(MW_ERROR_SHAPE, "random_normal: shape[1] is 0; 1 or more is wanted", normal(g, S(2, 0), 0, 1, 1));
    REFUSES(MW_ERROR_SHAPE, "shape[0] is -", normal(g, S(-1), 0, 1, 1));
    REFUSES(MW_ERROR_ARGUMENT, "stddev is -1; it must be finite and >= 0", normal(g, S(2), 0, -1, 1));
    REFUSES(MW_ERROR_ARGUMENT, "stddev is inf", normal(g, S(2), 0, INFINITY, 1));
    REFUSES(MW_ERROR_ARGUMENT, "mean is nan", normal(g, S(2), NAN, 1, 1));
    REFUSES(MW_ERROR_ARGUMENT, "seed -2 must be 0 or more, or -1", normal(g, S(2), 0, 1, -2));
    REFUSES(MW_ERROR_DTYPE, "int32", mw_random_normal(g, MW_I32, S(2), 0, 1, 1));
}

static void test_random_uniform(void)
{
    GIVES(MW_F32, S(2, 3), mw_random_uniform(g, MW_F32, S(2, 3), -1, 1, 0));
    GIVES(MW_F32, S(-1), op(g, "random_uniform", "shape", N(1), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "[1, 0.5) is empty or not finite: low must be below high",
            mw_random_uniform(g, MW_F32, S(2), 1, 0.5f, 0));
    GIVES(MW_F32, S(2), mw_random_uniform(g, MW_F32, S(2), 1, 1, 0));
    REFUSES(MW_ERROR_ARGUMENT, "[2, 1) is empty", mw_random_uniform(g, MW_F32, S(2), 2, 1, 0));
    REFUSES(MW_ERROR_ARGUMENT, "[0, inf) is empty or not finite", mw_random_uniform(g, MW_F32, S(2), 0, INFINITY, 0));
    REFUSES(MW_ERROR_ARGUMENT, "[nan, 1)", mw_random_uniform(g, MW_F32, S(2), NAN, 1, 0));
    REFUSES(MW_ERROR_SHAPE, "shape[0] is 0", mw_random_uniform(g, MW_F32, S(0), 0, 1, 0));
}

static void test_random_bernoulli(void)
{
    GIVES(MW_F16, S(2, 3), mw_random_bernoulli(g, MW_F16, S(2, 3), 0.5f, 0));
    GIVES(MW_F32, S(5), mw_random_bernoulli(g, MW_F32, S(5), 1, -1));
    REFUSES(MW_ERROR_ARGUMENT, "prob is 1.5; it must be in [0, 1]", mw_random_bernoulli(g, MW_F32, S(2), 1.5f, 0));
    REFUSES(MW_ERROR_ARGUMENT, "prob is -0.5", mw_random_bernoulli(g, MW_F32, S(2), -0.5f, 0));
    REFUSES(MW_ERROR_ARGUMENT, "prob is nan", mw_random_bernoulli(g, MW_F32, S(2), NAN, 0));
    REFUSES(MW_ERROR_SHAPE, "shape[0] is 0", mw_random_bernoulli(g, MW_F32, S(0), 0.5f, 0));
}

static void test_random_categorical(void)
{
    GIVES(MW_F32, S(2, 3, 5), mw_random_categorical(F(2, 3, 9), MW_CATEGORICAL_LOGITS, 5, 0));
    GIVES(MW_F16, S(1), mw_random_categorical(H(9), MW_CATEGORICAL_PROBS, 1, -1));
    GIVES(MW_F32, S(-1, 1), op(g, "random_categorical", "x", F(-1, 4), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "size is 0; 1 or more", mw_random_categorical(F(2, 3), MW_CATEGORICAL_PROBS, 0, 0));
    REFUSES(MW_ERROR_ARGUMENT, "seed -7", mw_random_categorical(F(2, 3), MW_CATEGORICAL_PROBS, 1, -7));
    REFUSES(MW_ERROR_ARGUMENT, "is none of logits, probs", mw_random_categorical(F(2), (mw_categorical_mode)9, 1, 0));
    REFUSES(MW_ERROR_SHAPE, "must have rank 1 or more", mw_random_categorical(SCALAR, MW_CATEGORICAL_PROBS, 1, 0));
    REFUSES(MW_ERROR_SHAPE, "has no class to draw", mw_random_categorical(F(2, 0), MW_CATEGORICAL_PROBS, 1, 0));
    REFUSES(MW_ERROR_DTYPE, "x is int32", mw_random_categorical(N(2, 3), MW_CATEGORICAL_PROBS, 1, 0));
}

static void test_noise(void)
{
    GIVES(MW_F32, S(2, 3), mw_noise_normal(g, MW_F32, S(2, 3), 0, 1, "n"));
    GIVES(MW_F16, S(5), mw_noise_uniform(g, MW_F16, S(5), -1, 1, "n"));
    GIVES(MW_F32, S(10007, 1), mw_noise_bernoulli(g, MW_F32, S(10007, 1), 0.5f, "n"));
    REFUSES(MW_ERROR_ARGUMENT, "noise_normal: the name is empty", mw_noise_normal(g, MW_F32, S(2), 0, 1, ""));
    REFUSES(MW_ERROR_ARGUMENT, "stddev -1; both must be finite", mw_noise_normal(g, MW_F32, S(2), 0, -1, "n"));
    REFUSES(MW_ERROR_ARGUMENT, "mean nan", mw_noise_normal(g, MW_F32, S(2), NAN, 1, "n"));
    REFUSES(MW_ERROR_ARGUMENT, "noise_uniform \"n\": [1, 1) is empty", mw_noise_uniform(g, MW_F32, S(2), 1, 1, "n"));
    REFUSES(MW_ERROR_ARGUMENT, "not finite", mw_noise_uniform(g, MW_F32, S(2), -3e38f, 3e38f, "n"));
    REFUSES(MW_ERROR_ARGUMENT, "prob is 1.5", mw_noise_bernoulli(g, MW_F32, S(2), 1.5f, "n"));
    REFUSES(MW_ERROR_SHAPE, "shape [2, 0]; every extent must be known", mw_noise_normal(g, MW_F32, S(2, 0), 0, 1, "n"));
    REFUSES(MW_ERROR_SHAPE, "every extent must be known", mw_noise_normal(g, MW_F32, S(-1), 0, 1, "n"));
    REFUSES(MW_ERROR_DTYPE, "int32", mw_noise_normal(g, MW_I32, S(2), 0, 1, "n"));
    REFUSES(MW_ERROR_ARGUMENT, "the name \"n.generator\" is taken",
            (mw_noise_normal(g, MW_F32, S(2), 0, 1, "n"), mw_noise_uniform(g, MW_F32, S(2), 0, 1, "n")));
}

int main(void)
{
    RUN(test_noise);
    RUN(test_random_normal);
    RUN(test_random_uniform);
    RUN(test_random_bernoulli);
    RUN(test_random_categorical);
    return check_finish();
}
