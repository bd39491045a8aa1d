/* The hot regions as straight-line code: written by tools/regions.py from regions.def; do not edit. A file that is kept
 * rather than made by the build, as a cross-build has no tool to make it with; lint and a test see that it is fresh. */
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

static const mw__hot_region rows[] = {
    {"adam", "TSTSTSSSSSTb mul(0,1) mul(2,3) add(12,13) mul(4,5) mul(2,6) square(16) add(15,17) sqrt(18) mul(19,7) add(20,8) real_div(14,21) mul(22,9) sub(10,23) select(11,24,10) select(11,14,0) select(11,18,4) store 25,26,27", MW__WIDTHS(adam)},
    {"bias_gelu_tanh", "TT add(0,1) gelu_tanh(2) store 2,3", MW__WIDTHS(bias_gelu_tanh)},
    {"gelu_tanh_backward", "TSSSSSSST square(0) mul(9,1) add(10,2) mul(0,11) tanh(12) mul(9,3) add(14,4) square(13) sub(5,16) mul(0,17) mul(18,15) mul(13,6) add(20,7) add(21,19) mul(8,22) store 23", MW__WIDTHS(gelu_tanh_backward)},
};

const mw__hot_region *mw__hot_find(const char *signature)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].signature, signature) == 0)
            return &rows[i];
    return NULL;
}
/* clang-format on */
