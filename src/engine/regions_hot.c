/* The hot regions as straight-line code: written by tools/regions.py from regions.def; do not edit. A file that is kept
 * rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is fresh. */
/* clang-format off */
#include "engine/math_scalar.h"
#include "engine/region.h"

#include <string.h>

#define PARAMETERS (const void *const *value, void *const *out, const float (*pq)[2], int64_t count)

MW__INLINE void adam_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float *const x2 = value[2];
    const float v3 = *(const float *)value[3];
    const float *const x4 = value[4];
    const float v5 = *(const float *)value[5];
    const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7];
    const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9];
    const float *const x10 = value[10];
    const uint8_t v11 = *(const uint8_t *)value[11];
    float *const y0 = out[0];
    float *const y1 = out[1];
    float *const y2 = out[2];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v2 = x2[i];
        const float v4 = x4[i];
        const float v10 = x10[i];
        const float v12 = mw__scalar_mul(v0, v1);
        const float v13 = mw__scalar_mul(v2, v3);
        const float v14 = mw__scalar_add(v12, v13);
        const float v15 = mw__scalar_mul(v4, v5);
        const float v16 = mw__scalar_mul(v2, v6);
        const float v17 = mw__scalar_square(v16, pq[5][0], pq[5][1]);
        const float v18 = mw__scalar_add(v15, v17);
        const float v19 = mw__scalar_sqrt(v18, pq[7][0], pq[7][1]);
        const float v20 = mw__scalar_mul(v19, v7);
        const float v21 = mw__scalar_add(v20, v8);
        const float v22 = mw__scalar_real_div(v14, v21);
        const float v23 = mw__scalar_mul(v22, v9);
        const float v24 = mw__scalar_sub(v10, v23);
        const float v25 = v11 != 0 ? v24 : v10;
        const float v26 = v11 != 0 ? v14 : v0;
        const float v27 = v11 != 0 ? v18 : v4;
        y0[i] = v25;
        y1[i] = v26;
        y2[i] = v27;
    }
}
MW__EACH_WIDTH(adam, PARAMETERS, (value, out, pq, count))

MW__INLINE void bias_gelu_tanh_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    float *const y0 = out[0];
    float *const y1 = out[1];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = mw__scalar_add(v0, v1);
        const float v3 = mw__scalar_gelu_tanh(v2, pq[1][0], pq[1][1]);
        y0[i] = v2;
        y1[i] = v3;
    }
}
MW__EACH_WIDTH(bias_gelu_tanh, PARAMETERS, (value, out, pq, count))

MW__INLINE void gelu_tanh_backward_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3];
    const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5];
    const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7];
    const float *const x8 = value[8];
    float *const y0 = out[0];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v8 = x8[i];
        const float v9 = mw__scalar_square(v0, pq[0][0], pq[0][1]);
        const float v10 = mw__scalar_mul(v9, v1);
        const float v11 = mw__scalar_add(v10, v2);
        const float v12 = mw__scalar_mul(v0, v11);
        const float v13 = mw__scalar_tanh(v12, pq[4][0], pq[4][1]);
        const float v14 = mw__scalar_mul(v9, v3);
        const float v15 = mw__scalar_add(v14, v4);
        const float v16 = mw__scalar_square(v13, pq[7][0], pq[7][1]);
        const float v17 = mw__scalar_sub(v5, v16);
        const float v18 = mw__scalar_mul(v0, v17);
        const float v19 = mw__scalar_mul(v18, v15);
        const float v20 = mw__scalar_mul(v13, v6);
        const float v21 = mw__scalar_add(v20, v7);
        const float v22 = mw__scalar_add(v21, v19);
        const float v23 = mw__scalar_mul(v8, v22);
        y0[i] = v23;
    }
}
MW__EACH_WIDTH(gelu_tanh_backward, PARAMETERS, (value, out, pq, count))

MW__INLINE void adamw_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float *const x2 = value[2];
    const float v3 = *(const float *)value[3];
    const float *const x4 = value[4];
    const float v5 = *(const float *)value[5];
    const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7];
    const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9];
    const float *const x10 = value[10];
    const float v11 = *(const float *)value[11];
    const uint8_t v12 = *(const uint8_t *)value[12];
    float *const y0 = out[0];
    float *const y1 = out[1];
    float *const y2 = out[2];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v2 = x2[i];
        const float v4 = x4[i];
        const float v10 = x10[i];
        const float v13 = mw__scalar_mul(v0, v1);
        const float v14 = mw__scalar_mul(v2, v3);
        const float v15 = mw__scalar_add(v13, v14);
        const float v16 = mw__scalar_mul(v4, v5);
        const float v17 = mw__scalar_mul(v2, v6);
        const float v18 = mw__scalar_square(v17, pq[5][0], pq[5][1]);
        const float v19 = mw__scalar_add(v16, v18);
        const float v20 = mw__scalar_sqrt(v19, pq[7][0], pq[7][1]);
        const float v21 = mw__scalar_mul(v20, v7);
        const float v22 = mw__scalar_add(v21, v8);
        const float v23 = mw__scalar_real_div(v15, v22);
        const float v24 = mw__scalar_mul(v23, v9);
        const float v25 = mw__scalar_mul(v10, v11);
        const float v26 = mw__scalar_add(v24, v25);
        const float v27 = mw__scalar_sub(v10, v26);
        const float v28 = v12 != 0 ? v27 : v10;
        const float v29 = v12 != 0 ? v15 : v0;
        const float v30 = v12 != 0 ? v19 : v4;
        y0[i] = v28;
        y1[i] = v29;
        y2[i] = v30;
    }
}
MW__EACH_WIDTH(adamw, PARAMETERS, (value, out, pq, count))

MW__INLINE void sgd_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float *const x2 = value[2];
    const uint8_t v3 = *(const uint8_t *)value[3];
    float *const y0 = out[0];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v2 = x2[i];
        const float v4 = mw__scalar_mul(v0, v1);
        const float v5 = mw__scalar_sub(v2, v4);
        const float v6 = v3 != 0 ? v5 : v2;
        y0[i] = v6;
    }
}
MW__EACH_WIDTH(sgd, PARAMETERS, (value, out, pq, count))

MW__INLINE void sgd_scaled_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2];
    const float *const x3 = value[3];
    const uint8_t v4 = *(const uint8_t *)value[4];
    float *const y0 = out[0];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v3 = x3[i];
        const float v5 = mw__scalar_mul(v0, v1);
        const float v6 = mw__scalar_mul(v5, v2);
        const float v7 = mw__scalar_sub(v3, v6);
        const float v8 = v4 != 0 ? v7 : v3;
        y0[i] = v8;
    }
}
MW__EACH_WIDTH(sgd_scaled, PARAMETERS, (value, out, pq, count))

MW__INLINE void momentum_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float *const x2 = value[2];
    const float v3 = *(const float *)value[3];
    const float *const x4 = value[4];
    const uint8_t v5 = *(const uint8_t *)value[5];
    float *const y0 = out[0];
    float *const y1 = out[1];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v2 = x2[i];
        const float v4 = x4[i];
        const float v6 = mw__scalar_mul(v0, v1);
        const float v7 = mw__scalar_add(v6, v2);
        const float v8 = mw__scalar_mul(v7, v3);
        const float v9 = mw__scalar_sub(v4, v8);
        const float v10 = v5 != 0 ? v9 : v4;
        const float v11 = v5 != 0 ? v7 : v0;
        y0[i] = v10;
        y1[i] = v11;
    }
}
MW__EACH_WIDTH(momentum, PARAMETERS, (value, out, pq, count))

MW__INLINE void momentum_scaled_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float *const x2 = value[2];
    const float v3 = *(const float *)value[3];
    const float v4 = *(const float *)value[4];
    const float *const x5 = value[5];
    const uint8_t v6 = *(const uint8_t *)value[6];
    float *const y0 = out[0];
    float *const y1 = out[1];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v2 = x2[i];
        const float v5 = x5[i];
        const float v7 = mw__scalar_mul(v0, v1);
        const float v8 = mw__scalar_mul(v2, v3);
        const float v9 = mw__scalar_add(v8, v7);
        const float v10 = mw__scalar_mul(v9, v4);
        const float v11 = mw__scalar_sub(v5, v10);
        const float v12 = v6 != 0 ? v11 : v5;
        const float v13 = v6 != 0 ? v9 : v2;
        y0[i] = v12;
        y1[i] = v13;
    }
}
MW__EACH_WIDTH(momentum_scaled, PARAMETERS, (value, out, pq, count))

MW__INLINE void nesterov_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float *const x2 = value[2];
    const float v3 = *(const float *)value[3];
    const float *const x4 = value[4];
    const uint8_t v5 = *(const uint8_t *)value[5];
    float *const y0 = out[0];
    float *const y1 = out[1];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v2 = x2[i];
        const float v4 = x4[i];
        const float v6 = mw__scalar_mul(v0, v1);
        const float v7 = mw__scalar_add(v6, v2);
        const float v8 = mw__scalar_mul(v7, v1);
        const float v9 = mw__scalar_add(v2, v8);
        const float v10 = mw__scalar_mul(v9, v3);
        const float v11 = mw__scalar_sub(v4, v10);
        const float v12 = v5 != 0 ? v11 : v4;
        const float v13 = v5 != 0 ? v7 : v0;
        y0[i] = v12;
        y1[i] = v13;
    }
}
MW__EACH_WIDTH(nesterov, PARAMETERS, (value, out, pq, count))

MW__INLINE void nesterov_scaled_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float *const x2 = value[2];
    const float v3 = *(const float *)value[3];
    const float v4 = *(const float *)value[4];
    const float *const x5 = value[5];
    const uint8_t v6 = *(const uint8_t *)value[6];
    float *const y0 = out[0];
    float *const y1 = out[1];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v2 = x2[i];
        const float v5 = x5[i];
        const float v7 = mw__scalar_mul(v0, v1);
        const float v8 = mw__scalar_mul(v2, v3);
        const float v9 = mw__scalar_add(v8, v7);
        const float v10 = mw__scalar_mul(v9, v3);
        const float v11 = mw__scalar_add(v7, v10);
        const float v12 = mw__scalar_mul(v11, v4);
        const float v13 = mw__scalar_sub(v5, v12);
        const float v14 = v6 != 0 ? v13 : v5;
        const float v15 = v6 != 0 ? v9 : v2;
        y0[i] = v14;
        y1[i] = v15;
    }
}
MW__EACH_WIDTH(nesterov_scaled, PARAMETERS, (value, out, pq, count))

MW__INLINE void bias_gelu_exact_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    float *const y0 = out[0];
    float *const y1 = out[1];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = mw__scalar_add(v0, v1);
        const float v3 = mw__scalar_gelu_exact(v2, pq[1][0], pq[1][1]);
        y0[i] = v2;
        y1[i] = v3;
    }
}
MW__EACH_WIDTH(bias_gelu_exact, PARAMETERS, (value, out, pq, count))

MW__INLINE void bias_silu_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    float *const y0 = out[0];
    float *const y1 = out[1];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = mw__scalar_add(v0, v1);
        const float v3 = mw__scalar_silu(v2, pq[1][0], pq[1][1]);
        y0[i] = v2;
        y1[i] = v3;
    }
}
MW__EACH_WIDTH(bias_silu, PARAMETERS, (value, out, pq, count))

MW__INLINE void bias_relu_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    float *const y0 = out[0];
    float *const y1 = out[1];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = mw__scalar_add(v0, v1);
        const float v3 = mw__scalar_relu(v2, pq[1][0], pq[1][1]);
        y0[i] = v2;
        y1[i] = v3;
    }
}
MW__EACH_WIDTH(bias_relu, PARAMETERS, (value, out, pq, count))

MW__INLINE void gelu_exact_backward_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3];
    const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5];
    const float *const x6 = value[6];
    float *const y0 = out[0];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v6 = x6[i];
        const float v7 = mw__scalar_square(v0, pq[0][0], pq[0][1]);
        const float v8 = mw__scalar_mul(v7, v1);
        const float v9 = mw__scalar_exp(v8, pq[2][0], pq[2][1]);
        const float v10 = mw__scalar_mul(v9, v2);
        const float v11 = mw__scalar_mul(v0, v3);
        const float v12 = mw__scalar_erf(v11, pq[5][0], pq[5][1]);
        const float v13 = mw__scalar_add(v12, v4);
        const float v14 = mw__scalar_mul(v13, v5);
        const float v15 = mw__scalar_mul(v0, v10);
        const float v16 = mw__scalar_add(v14, v15);
        const float v17 = mw__scalar_mul(v6, v16);
        y0[i] = v17;
    }
}
MW__EACH_WIDTH(gelu_exact_backward, PARAMETERS, (value, out, pq, count))

MW__INLINE void silu_backward_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float *const x2 = value[2];
    const float *const x3 = value[3];
    float *const y0 = out[0];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v2 = x2[i];
        const float v3 = x3[i];
        const float v4 = mw__scalar_sigmoid(v0, pq[0][0], pq[0][1]);
        const float v5 = mw__scalar_sub(v1, v4);
        const float v6 = mw__scalar_mul(v2, v5);
        const float v7 = mw__scalar_add(v4, v6);
        const float v8 = mw__scalar_mul(v3, v7);
        y0[i] = v8;
    }
}
MW__EACH_WIDTH(silu_backward, PARAMETERS, (value, out, pq, count))

MW__INLINE void relu_backward_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float *const x2 = value[2];
    const float v3 = *(const float *)value[3];
    float *const y0 = out[0];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v2 = x2[i];
        const uint8_t v4 = v0 > v1;
        const float v5 = v4 != 0 ? v2 : v3;
        y0[i] = v5;
    }
}
MW__EACH_WIDTH(relu_backward, PARAMETERS, (value, out, pq, count))

MW__INLINE void affine_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float *const x2 = value[2];
    float *const y0 = out[0];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = x2[i];
        const float v3 = mw__scalar_mul(v0, v1);
        const float v4 = mw__scalar_add(v3, v2);
        y0[i] = v4;
    }
}
MW__EACH_WIDTH(affine, PARAMETERS, (value, out, pq, count))

MW__INLINE void centred_square_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    float *const y0 = out[0];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = mw__scalar_sub(v0, v1);
        const float v3 = mw__scalar_square(v2, pq[1][0], pq[1][1]);
        y0[i] = v3;
    }
}
MW__EACH_WIDTH(centred_square, PARAMETERS, (value, out, pq, count))

MW__INLINE void normalise_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float *const x2 = value[2];
    float *const y0 = out[0];
    float *const y1 = out[1];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = x2[i];
        const float v3 = mw__scalar_sub(v0, v1);
        const float v4 = mw__scalar_mul(v0, v2);
        y0[i] = v3;
        y1[i] = v4;
    }
}
MW__EACH_WIDTH(normalise, PARAMETERS, (value, out, pq, count))

MW__INLINE void two_products_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float *const x2 = value[2];
    float *const y0 = out[0];
    float *const y1 = out[1];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = x2[i];
        const float v3 = mw__scalar_mul(v0, v1);
        const float v4 = mw__scalar_mul(v0, v2);
        y0[i] = v3;
        y1[i] = v4;
    }
}
MW__EACH_WIDTH(two_products, PARAMETERS, (value, out, pq, count))

MW__INLINE void layer_norm_backward_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float *const x2 = value[2];
    const float *const x3 = value[3];
    float *const y0 = out[0];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = x2[i];
        const float v3 = x3[i];
        const float v4 = mw__scalar_mul(v0, v1);
        const float v5 = mw__scalar_sub(v2, v4);
        const float v6 = mw__scalar_mul(v3, v5);
        y0[i] = v6;
    }
}
MW__EACH_WIDTH(layer_norm_backward, PARAMETERS, (value, out, pq, count))

MW__INLINE void layer_norm_backward_add_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float *const x2 = value[2];
    const float *const x3 = value[3];
    const float *const x4 = value[4];
    float *const y0 = out[0];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = x2[i];
        const float v3 = x3[i];
        const float v4 = x4[i];
        const float v5 = mw__scalar_mul(v0, v1);
        const float v6 = mw__scalar_sub(v2, v5);
        const float v7 = mw__scalar_mul(v3, v6);
        const float v8 = mw__scalar_add(v4, v7);
        y0[i] = v8;
    }
}
MW__EACH_WIDTH(layer_norm_backward_add, PARAMETERS, (value, out, pq, count))

MW__INLINE void softmax_backward_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float *const x2 = value[2];
    float *const y0 = out[0];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = x2[i];
        const float v3 = mw__scalar_sub(v0, v1);
        const float v4 = mw__scalar_mul(v2, v3);
        y0[i] = v4;
    }
}
MW__EACH_WIDTH(softmax_backward, PARAMETERS, (value, out, pq, count))

MW__INLINE void bias_residual_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float *const x2 = value[2];
    float *const y0 = out[0];
    (void)pq;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v2 = x2[i];
        const float v3 = mw__scalar_add(v0, v1);
        const float v4 = mw__scalar_add(v2, v3);
        y0[i] = v4;
    }
}
MW__EACH_WIDTH(bias_residual, PARAMETERS, (value, out, pq, count))

MW__INLINE void not_finite_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3];
    float *const y0 = out[0];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v4 = mw__scalar_abs(v0, pq[0][0], pq[0][1]);
        const uint8_t v5 = v4 <= v1;
        const float v6 = v5 != 0 ? v2 : v3;
        y0[i] = v6;
    }
}
MW__EACH_WIDTH(not_finite, PARAMETERS, (value, out, pq, count))

static const mw__hot_region rows[] = {
    {"adam", "TSTSTSSSSSTb mul(0,1) mul(2,3) add(12,13) mul(4,5) mul(2,6) square(16) add(15,17) sqrt(18) mul(19,7) add(20,8) real_div(14,21) mul(22,9) sub(10,23) select(11,24,10) select(11,14,0) select(11,18,4) store 25,26,27", MW__WIDTHS(adam)},
    {"bias_gelu_tanh", "TT add(0,1) gelu_tanh(2) store 2,3", MW__WIDTHS(bias_gelu_tanh)},
    {"gelu_tanh_backward", "TSSSSSSST square(0) mul(9,1) add(10,2) mul(0,11) tanh(12) mul(9,3) add(14,4) square(13) sub(5,16) mul(0,17) mul(18,15) mul(13,6) add(20,7) add(21,19) mul(8,22) store 23", MW__WIDTHS(gelu_tanh_backward)},
    {"adamw", "TSTSTSSSSSTSb mul(0,1) mul(2,3) add(13,14) mul(4,5) mul(2,6) square(17) add(16,18) sqrt(19) mul(20,7) add(21,8) real_div(15,22) mul(23,9) mul(10,11) add(24,25) sub(10,26) select(12,27,10) select(12,15,0) select(12,19,4) store 28,29,30", MW__WIDTHS(adamw)},
    {"sgd", "TSTb mul(0,1) sub(2,4) select(3,5,2) store 6", MW__WIDTHS(sgd)},
    {"sgd_scaled", "TSSTb mul(0,1) mul(5,2) sub(3,6) select(4,7,3) store 8", MW__WIDTHS(sgd_scaled)},
    {"momentum", "TSTSTb mul(0,1) add(6,2) mul(7,3) sub(4,8) select(5,9,4) select(5,7,0) store 10,11", MW__WIDTHS(momentum)},
    {"momentum_scaled", "TSTSSTb mul(0,1) mul(2,3) add(8,7) mul(9,4) sub(5,10) select(6,11,5) select(6,9,2) store 12,13", MW__WIDTHS(momentum_scaled)},
    {"nesterov", "TSTSTb mul(0,1) add(6,2) mul(7,1) add(2,8) mul(9,3) sub(4,10) select(5,11,4) select(5,7,0) store 12,13", MW__WIDTHS(nesterov)},
    {"nesterov_scaled", "TSTSSTb mul(0,1) mul(2,3) add(8,7) mul(9,3) add(7,10) mul(11,4) sub(5,12) select(6,13,5) select(6,9,2) store 14,15", MW__WIDTHS(nesterov_scaled)},
    {"bias_gelu_exact", "TT add(0,1) gelu_exact(2) store 2,3", MW__WIDTHS(bias_gelu_exact)},
    {"bias_silu", "TT add(0,1) silu(2) store 2,3", MW__WIDTHS(bias_silu)},
    {"bias_relu", "TT add(0,1) relu(2) store 2,3", MW__WIDTHS(bias_relu)},
    {"gelu_exact_backward", "TSSSSST square(0) mul(7,1) exp(8) mul(9,2) mul(0,3) erf(11) add(12,4) mul(13,5) mul(0,10) add(14,15) mul(6,16) store 17", MW__WIDTHS(gelu_exact_backward)},
    {"silu_backward", "TSTT sigmoid(0) sub(1,4) mul(2,5) add(4,6) mul(3,7) store 8", MW__WIDTHS(silu_backward)},
    {"relu_backward", "TSTS greater(0,1) select(4,2,3) store 5", MW__WIDTHS(relu_backward)},
    {"affine", "TTT mul(0,1) add(3,2) store 4", MW__WIDTHS(affine)},
    {"centred_square", "TT sub(0,1) square(2) store 3", MW__WIDTHS(centred_square)},
    {"normalise", "TTT sub(0,1) mul(0,2) store 3,4", MW__WIDTHS(normalise)},
    {"two_products", "TTT mul(0,1) mul(0,2) store 3,4", MW__WIDTHS(two_products)},
    {"layer_norm_backward", "TTTT mul(0,1) sub(2,4) mul(3,5) store 6", MW__WIDTHS(layer_norm_backward)},
    {"layer_norm_backward_add", "TTTTT mul(0,1) sub(2,5) mul(3,6) add(4,7) store 8", MW__WIDTHS(layer_norm_backward_add)},
    {"softmax_backward", "TTT sub(0,1) mul(2,3) store 4", MW__WIDTHS(softmax_backward)},
    {"bias_residual", "TTT add(0,1) add(2,3) store 4", MW__WIDTHS(bias_residual)},
    {"not_finite", "TSSS abs(0) less_equal(4,1) select(5,2,3) store 6", MW__WIDTHS(not_finite)},
};

const mw__hot_region *mw__hot_find(const char *signature)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].signature, signature) == 0)
            return &rows[i];
    return NULL;
}
/* clang-format on */
