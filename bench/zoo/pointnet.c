/* PointNet (Qi, Su, Mo and Guibas 2016), the classifier with both transforms. */
#include "zoo.h"

static mw_tensor *conv_norm(mw_tensor *x, int64_t channels, const char *part, int number)
{
    x = zoo_conv(x, channels, (zoo_window){.kernel = 1}, "%sconv%d", part, number);
    return mw_relu(zoo_batch_norm(x, "%sbn%d", part, number));
}

static mw_tensor *dense_norm(mw_tensor *x, int64_t units, const char *part, int number, int norm)
{
    return mw_relu(zoo_batch_norm(zoo_dense(x, units, "%sfc%d", part, number), "%sbn%d", part, norm));
}

/* A K x K matrix for each cloud x [N, K, P], near the identity. */
static mw_tensor *transform_of(mw_tensor *x, int64_t width, const char *part)
{
    const int64_t k = zoo_extent(x, 1), n = zoo_extent(x, 0);
    mw_tensor *h = conv_norm(conv_norm(conv_norm(x, width, part, 1), 2 * width, part, 2), 16 * width, part, 3);
    h = mw_reduce_max(h, MW_AXES(2), false);
    h = dense_norm(dense_norm(h, 8 * width, part, 1, 4), 4 * width, part, 2, 5);
    float identity[64 * 64] = {0};
    for (int64_t i = 0; i < k; i++)
        identity[i * k + i] = 1.0f;
    h = mw_reshape(zoo_dense(h, k * k, "%sfc3", part), MW_SHAPE(n, k, k));
    return mw_add(h, mw_constant(mw_tensor_graph(x), MW_F32, MW_SHAPE(1, k, k), identity));
}

/* x^T A, per point. */
static mw_tensor *apply_transform(mw_tensor *x, mw_tensor *a) { return mw_matmul(a, x, MW_TRANSPOSE_X); }

/* The mean over the clouds of |A A^T - I|. */
static mw_tensor *from_orthogonal(mw_tensor *a)
{
    const int64_t k = zoo_extent(a, 1);
    float identity[64 * 64] = {0};
    for (int64_t i = 0; i < k; i++)
        identity[i * k + i] = 1.0f;
    mw_tensor *unit = mw_constant(mw_tensor_graph(a), MW_F32, MW_SHAPE(1, k, k), identity);
    mw_tensor *d = mw_sub(mw_matmul(a, a, MW_TRANSPOSE_Y), unit);
    return mw_reduce_mean(mw_sqrt(mw_reduce_sum(mw_square(d), MW_AXES(1, 2), false)), MW_ALL_AXES, false);
}

mw_tensor *zoo_pointnet(zoo_form *form)
{
    const int64_t points = form->tiny ? 16 : 1024, width = form->tiny ? 4 : 64;
    mw_tensor *h = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, points));
    h = apply_transform(h, transform_of(h, width, "input_transform."));
    h = conv_norm(conv_norm(h, width, "", 1), width, "", 2);
    mw_tensor *matrix = transform_of(h, width, "feature_transform.");
    h = apply_transform(h, matrix);
    h = conv_norm(conv_norm(conv_norm(h, width, "", 3), 2 * width, "", 4), 16 * width, "", 5);
    h = mw_reduce_max(h, MW_AXES(2), false);
    h = dense_norm(dense_norm(h, 8 * width, "", 1, 6), 4 * width, "", 2, 7);
    h = zoo_by_classes(form, mw_dense(h, form->tiny ? 10 : 40, "fc3"));
    return form->training ? mw_add(h, mw_mul_scalar(from_orthogonal(matrix), 0.001)) : h;
}
