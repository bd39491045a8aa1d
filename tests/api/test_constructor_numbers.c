/* Numbers of constructors: those that are out of range or not finite are refused where they make no sense. */
#include "support/check.h"

#include <millwright/learn.h>
#include <millwright/millwright.h>

#define REFUSES(call)                                                                                                  \
    do {                                                                                                               \
        mw_graph *g = mw_graph_create(NULL, NULL);                                                                     \
        mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, 3, 4, 4));                                                 \
        mw_tensor *v = mw_parameter(g, "v", MW_F32, MW_SHAPE(3), mw_init_zeros());                                     \
        mw_tensor *l = mw_input(g, "l", MW_I32, MW_SHAPE(2, 3, 4)), *s = mw_input(g, "s", MW_F32, MW_SHAPE(2, 3, 4));  \
        mw_tensor *r = mw_input(g, "r", MW_F32, MW_SHAPE(2, 3));                                                       \
        (void)l, (void)s, (void)r, (void)(call);                                                                       \
        mw_error why = {0};                                                                                            \
        check_note(x != NULL && v != NULL && mw_graph_check(g, &why) == MW_ERROR_ARGUMENT, __FILE__, __LINE__,         \
                   "accepted with %g: %s", (double)bad, #call);                                                        \
        mw_graph_destroy(g);                                                                                           \
    } while (0)

static void test_norms_refuse_an_epsilon_that_is_negative_or_not_finite(void)
{
    static const float all[] = {-1e-5f, -INFINITY, (float)NAN, INFINITY};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const float bad = all[i];
        REFUSES(mw_layer_norm(x, MW_AXES(1), NULL, NULL, bad));
        REFUSES(mw_layer_norm(x, MW_AXES(1), v, NULL, bad));
        REFUSES(mw_instance_norm(x, NULL, NULL, bad));
        REFUSES(mw_group_norm(x, 1, NULL, NULL, bad));
        REFUSES(mw_rms_norm(x, MW_AXES(1), NULL, bad));
        REFUSES(mw_l2_norm(x, bad));
        REFUSES(mw_batch_norm(x, v, v, NULL, NULL, bad));
        REFUSES(mw_batch_norm_layer(x, 0.1f, bad, "bn"));
        REFUSES(mw_layer_norm_layer(x, 1, bad, "ln"));
        REFUSES(mw_rms_norm_layer(x, 1, bad, "rms"));
        REFUSES(mw_group_norm_layer(x, 1, bad, "gn"));
        REFUSES(mw_instance_norm_layer(x, bad, "in"));
        REFUSES(mw_rsqrt(x, bad));
        REFUSES(mw_inverse(x, bad));
        REFUSES(mw_log(x, bad));
        REFUSES(mw_batch_norm_layer(x, bad, 1e-5f, "bn"));
        REFUSES(mw_dropout(x, bad, "drop"));
        REFUSES(mw_random_normal(g, MW_F32, MW_SHAPE(2), 0.0f, bad, 0));
        REFUSES(mw_random_bernoulli(g, MW_F32, MW_SHAPE(2), bad, 0));
        REFUSES(mw_noise_normal(g, MW_F32, MW_SHAPE(2), 0.0f, bad, "n"));
        REFUSES(mw_noise_bernoulli(g, MW_F32, MW_SHAPE(2), bad, "n"));
        REFUSES(mw_huber(x, x, bad));
        REFUSES(mw_smooth_l1(x, x, bad));
        REFUSES(mw_focal(x, l, bad));
        REFUSES(mw_binary_focal(x, x, 0.25f, bad));
        REFUSES(mw_binary_focal(x, x, bad - 1.0f, 2.0f));
        REFUSES(mw_dice(x, x, MW_AXES(1), bad));
        REFUSES(mw_pinball(x, x, bad));
        REFUSES(mw_normalize(x, 1, bad));
        REFUSES(mw_cosine_embedding(x, x, s, bad - 1.0f));
        REFUSES(mw_triplet(x, x, x, bad));
        REFUSES(mw_info_nce(r, r, bad));
        REFUSES(mw_nt_xent(r, r, bad));
        REFUSES(mw_upsample_bilinear(x, bad, 2.0f, false));
        REFUSES(mw_upsample_nearest_neighbor(x, bad, 2.0f));
        REFUSES(mw_parameter(g, "p", MW_F32, MW_SHAPE(2), mw_init_normal(0.0f, bad)));
    }
}

static void test_factors_that_are_not_finite_are_refused(void)
{
    static const float all[] = {(float)NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const float bad = all[i];
        REFUSES(mw_leaky_relu(x, bad));
        REFUSES(mw_elu(x, bad));
        REFUSES(mw_clamped_relu(x, bad, 6.0f));
        REFUSES(mw_scaled_tanh(x, bad, 1.0f));
        REFUSES(mw_scaled_tanh(x, 1.0f, bad));
        REFUSES(mw_sigmoid_hard(x, bad, 0.5f));
        REFUSES(mw_sigmoid_hard(x, 0.2f, bad));
        REFUSES(mw_linear_activation(x, bad, 0.0f));
        REFUSES(mw_linear_activation(x, 1.0f, bad));
        REFUSES(mw_local_response_norm(x, 3, bad, 0.75f, 1.0f));
        REFUSES(mw_local_response_norm(x, 3, 1e-4f, bad, 1.0f));
        REFUSES(mw_local_response_norm(x, 3, 1e-4f, 0.75f, bad));
        REFUSES(mw_random_normal(g, MW_F32, MW_SHAPE(2), bad, 1.0f, 0));
        REFUSES(mw_random_uniform(g, MW_F32, MW_SHAPE(2), 0.0f, bad, 0));
        REFUSES(mw_noise_uniform(g, MW_F32, MW_SHAPE(2), 0.0f, bad, "n"));
        REFUSES(mw_noise_normal(g, MW_F32, MW_SHAPE(2), bad, 1.0f, "n"));
    }
    const float bad = (float)NAN;
    REFUSES(mw_clip(x, bad, 1.0f));
    REFUSES(mw_clip(x, 0.0f, bad));
    REFUSES(mw_clamped_relu(x, 0.1f, bad));
    REFUSES(mw_threshold(x, bad));
    REFUSES(mw_thresholded_relu(x, bad));
}

static void test_bounds_may_be_infinite(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2));
    CHECK(mw_clip(x, -INFINITY, INFINITY) != NULL);
    CHECK(mw_clamped_relu(x, 0.1f, INFINITY) != NULL);
    CHECK(mw_threshold(x, -INFINITY) != NULL);
    CHECK(mw_thresholded_relu(x, -INFINITY) != NULL);
    CHECK_INT(mw_graph_check(graph, NULL), MW_OK);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_norms_refuse_an_epsilon_that_is_negative_or_not_finite);
    RUN(test_factors_that_are_not_finite_are_refused);
    RUN(test_bounds_may_be_infinite);
    return check_finish();
}
