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

MW__INLINE void rmsprop_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3];
    const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5];
    const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7];
    const float *const x8 = value[8];
    const uint8_t v9 = *(const uint8_t *)value[9];
    float *const y0 = out[0];
    float *const y1 = out[1];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v8 = x8[i];
        const float v10 = mw__scalar_abs(v0, pq[0][0], pq[0][1]);
        const float v11 = mw__scalar_maximum(v1, v10);
        const uint8_t v12 = v11 > v2;
        const float v13 = v12 != 0 ? v11 : v3;
        const float v14 = mw__scalar_real_div(v1, v13);
        const float v15 = mw__scalar_real_div(v10, v13);
        const float v16 = mw__scalar_square(v14, pq[6][0], pq[6][1]);
        const float v17 = mw__scalar_square(v15, pq[7][0], pq[7][1]);
        const float v18 = mw__scalar_mul(v17, v4);
        const float v19 = mw__scalar_mul(v16, v5);
        const float v20 = mw__scalar_add(v19, v18);
        const float v21 = mw__scalar_sqrt(v20, pq[11][0], pq[11][1]);
        const float v22 = mw__scalar_mul(v13, v21);
        const float v23 = mw__scalar_add(v22, v6);
        const float v24 = mw__scalar_real_div(v0, v23);
        const float v25 = mw__scalar_mul(v24, v7);
        const float v26 = mw__scalar_sub(v8, v25);
        const float v27 = v9 != 0 ? v26 : v8;
        const float v28 = v9 != 0 ? v22 : v1;
        y0[i] = v27;
        y1[i] = v28;
    }
}
MW__EACH_WIDTH(rmsprop, PARAMETERS, (value, out, pq, count))

MW__INLINE void rmsprop_momentum_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3];
    const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5];
    const float v6 = *(const float *)value[6];
    const float *const x7 = value[7];
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
        const float v1 = x1[i];
        const float v7 = x7[i];
        const float v10 = x10[i];
        const float v12 = mw__scalar_abs(v0, pq[0][0], pq[0][1]);
        const float v13 = mw__scalar_maximum(v1, v12);
        const uint8_t v14 = v13 > v2;
        const float v15 = v14 != 0 ? v13 : v3;
        const float v16 = mw__scalar_real_div(v1, v15);
        const float v17 = mw__scalar_real_div(v12, v15);
        const float v18 = mw__scalar_square(v16, pq[6][0], pq[6][1]);
        const float v19 = mw__scalar_square(v17, pq[7][0], pq[7][1]);
        const float v20 = mw__scalar_mul(v19, v4);
        const float v21 = mw__scalar_mul(v18, v5);
        const float v22 = mw__scalar_add(v21, v20);
        const float v23 = mw__scalar_sqrt(v22, pq[11][0], pq[11][1]);
        const float v24 = mw__scalar_mul(v15, v23);
        const float v25 = mw__scalar_add(v24, v6);
        const float v26 = mw__scalar_real_div(v0, v25);
        const float v27 = mw__scalar_mul(v7, v8);
        const float v28 = mw__scalar_add(v27, v26);
        const float v29 = mw__scalar_mul(v28, v9);
        const float v30 = mw__scalar_sub(v10, v29);
        const float v31 = v11 != 0 ? v30 : v10;
        const float v32 = v11 != 0 ? v28 : v7;
        const float v33 = v11 != 0 ? v24 : v1;
        y0[i] = v31;
        y1[i] = v32;
        y2[i] = v33;
    }
}
MW__EACH_WIDTH(rmsprop_momentum, PARAMETERS, (value, out, pq, count))

MW__INLINE void rmsprop_centered_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float v2 = *(const float *)value[2];
    const float *const x3 = value[3];
    const float v4 = *(const float *)value[4];
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
        const float v1 = x1[i];
        const float v3 = x3[i];
        const float v10 = x10[i];
        const float v12 = mw__scalar_sub(v0, v1);
        const float v13 = mw__scalar_mul(v12, v2);
        const float v14 = mw__scalar_add(v1, v13);
        const float v15 = mw__scalar_abs(v12, pq[3][0], pq[3][1]);
        const float v16 = mw__scalar_maximum(v3, v15);
        const uint8_t v17 = v16 > v4;
        const float v18 = v17 != 0 ? v16 : v5;
        const float v19 = mw__scalar_real_div(v3, v18);
        const float v20 = mw__scalar_real_div(v15, v18);
        const float v21 = mw__scalar_square(v19, pq[9][0], pq[9][1]);
        const float v22 = mw__scalar_square(v20, pq[10][0], pq[10][1]);
        const float v23 = mw__scalar_mul(v22, v6);
        const float v24 = mw__scalar_mul(v21, v7);
        const float v25 = mw__scalar_add(v24, v23);
        const float v26 = mw__scalar_sqrt(v25, pq[14][0], pq[14][1]);
        const float v27 = mw__scalar_mul(v18, v26);
        const float v28 = mw__scalar_add(v27, v8);
        const float v29 = mw__scalar_real_div(v0, v28);
        const float v30 = mw__scalar_mul(v29, v9);
        const float v31 = mw__scalar_sub(v10, v30);
        const float v32 = v11 != 0 ? v31 : v10;
        const float v33 = v11 != 0 ? v14 : v1;
        const float v34 = v11 != 0 ? v27 : v3;
        y0[i] = v32;
        y1[i] = v33;
        y2[i] = v34;
    }
}
MW__EACH_WIDTH(rmsprop_centered, PARAMETERS, (value, out, pq, count))

MW__INLINE void adagrad_body PARAMETERS
{
    const float *const x0 = value[0];
    const float *const x1 = value[1];
    const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3];
    const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5];
    const float *const x6 = value[6];
    const uint8_t v7 = *(const uint8_t *)value[7];
    float *const y0 = out[0];
    float *const y1 = out[1];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v1 = x1[i];
        const float v6 = x6[i];
        const float v8 = mw__scalar_abs(v0, pq[0][0], pq[0][1]);
        const float v9 = mw__scalar_maximum(v1, v8);
        const uint8_t v10 = v9 > v2;
        const float v11 = v10 != 0 ? v9 : v3;
        const float v12 = mw__scalar_real_div(v1, v11);
        const float v13 = mw__scalar_real_div(v8, v11);
        const float v14 = mw__scalar_square(v12, pq[6][0], pq[6][1]);
        const float v15 = mw__scalar_square(v13, pq[7][0], pq[7][1]);
        const float v16 = mw__scalar_add(v14, v15);
        const float v17 = mw__scalar_sqrt(v16, pq[9][0], pq[9][1]);
        const float v18 = mw__scalar_mul(v11, v17);
        const float v19 = mw__scalar_add(v18, v4);
        const float v20 = mw__scalar_real_div(v0, v19);
        const float v21 = mw__scalar_mul(v20, v5);
        const float v22 = mw__scalar_sub(v6, v21);
        const float v23 = v7 != 0 ? v22 : v6;
        const float v24 = v7 != 0 ? v18 : v1;
        y0[i] = v23;
        y1[i] = v24;
    }
}
MW__EACH_WIDTH(adagrad, PARAMETERS, (value, out, pq, count))

MW__INLINE void lion_body PARAMETERS
{
    const float *const x0 = value[0];
    const float v1 = *(const float *)value[1];
    const float *const x2 = value[2];
    const float v3 = *(const float *)value[3];
    const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5];
    const float v6 = *(const float *)value[6];
    const float *const x7 = value[7];
    const float v8 = *(const float *)value[8];
    const uint8_t v9 = *(const uint8_t *)value[9];
    float *const y0 = out[0];
    float *const y1 = out[1];
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const float v0 = x0[i];
        const float v2 = x2[i];
        const float v7 = x7[i];
        const float v10 = mw__scalar_mul(v0, v1);
        const float v11 = mw__scalar_mul(v2, v3);
        const float v12 = mw__scalar_add(v10, v11);
        const float v13 = mw__scalar_mul(v0, v4);
        const float v14 = mw__scalar_mul(v2, v5);
        const float v15 = mw__scalar_add(v13, v14);
        const float v16 = mw__scalar_sign(v12, pq[6][0], pq[6][1]);
        const float v17 = mw__scalar_mul(v16, v6);
        const float v18 = mw__scalar_mul(v7, v8);
        const float v19 = mw__scalar_add(v17, v18);
        const float v20 = mw__scalar_sub(v7, v19);
        const float v21 = v9 != 0 ? v20 : v7;
        const float v22 = v9 != 0 ? v15 : v0;
        y0[i] = v21;
        y1[i] = v22;
    }
}
MW__EACH_WIDTH(lion, PARAMETERS, (value, out, pq, count))

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
    {"rmsprop", "TTSSSSSSTb abs(0) maximum(1,10) greater(11,2) select(12,11,3) real_div(1,13) real_div(10,13) square(14) square(15) mul(17,4) mul(16,5) add(19,18) sqrt(20) mul(13,21) add(22,6) real_div(0,23) mul(24,7) sub(8,25) select(9,26,8) select(9,22,1) store 27,28", MW__WIDTHS(rmsprop)},
    {"rmsprop_momentum", "TTSSSSSTSSTb abs(0) maximum(1,12) greater(13,2) select(14,13,3) real_div(1,15) real_div(12,15) square(16) square(17) mul(19,4) mul(18,5) add(21,20) sqrt(22) mul(15,23) add(24,6) real_div(0,25) mul(7,8) add(27,26) mul(28,9) sub(10,29) select(11,30,10) select(11,28,7) select(11,24,1) store 31,32,33", MW__WIDTHS(rmsprop_momentum)},
    {"rmsprop_centered", "TTSTSSSSSSTb sub(0,1) mul(12,2) add(1,13) abs(12) maximum(3,15) greater(16,4) select(17,16,5) real_div(3,18) real_div(15,18) square(19) square(20) mul(22,6) mul(21,7) add(24,23) sqrt(25) mul(18,26) add(27,8) real_div(0,28) mul(29,9) sub(10,30) select(11,31,10) select(11,14,1) select(11,27,3) store 32,33,34", MW__WIDTHS(rmsprop_centered)},
    {"adagrad", "TTSSSSTb abs(0) maximum(1,8) greater(9,2) select(10,9,3) real_div(1,11) real_div(8,11) square(12) square(13) add(14,15) sqrt(16) mul(11,17) add(18,4) real_div(0,19) mul(20,5) sub(6,21) select(7,22,6) select(7,18,1) store 23,24", MW__WIDTHS(adagrad)},
    {"lion", "TSTSSSSTSb mul(0,1) mul(2,3) add(10,11) mul(0,4) mul(2,5) add(13,14) sign(12) mul(16,6) mul(7,8) add(17,18) sub(7,19) select(9,20,7) select(9,15,0) store 21,22", MW__WIDTHS(lion)},
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
