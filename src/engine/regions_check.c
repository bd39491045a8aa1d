/* The hot regions of checked updates: written by tools/regions.py from regions.def; do not edit.
 * A file that is kept rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is
 * fresh. */
/* clang-format off */
#include "engine/regions_hot.h"

#define adam_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v11[2][lanes]; EACH(lanes) { v11[0][l] = mw__scalar_mul(x0[i + l], s1); } \
        EACH(lanes) { v11[1][l] = mw__scalar_mul(x0[i + (lanes) + l], s1); } round(v11[0]); round(v11[1]); \
        float v12[2][lanes]; EACH(lanes) { v12[0][l] = mw__scalar_mul(x2[i + l], s3); } \
        EACH(lanes) { v12[1][l] = mw__scalar_mul(x2[i + (lanes) + l], s3); } round(v12[0]); round(v12[1]); \
        float v13[2][lanes]; EACH(lanes) { v13[0][l] = mw__scalar_add(v11[0][l], v12[0][l]); } \
        EACH(lanes) { v13[1][l] = mw__scalar_add(v11[1][l], v12[1][l]); } round(v13[0]); round(v13[1]); \
        float v14[2][lanes]; EACH(lanes) { v14[0][l] = mw__scalar_mul(x4[i + l], s5); } \
        EACH(lanes) { v14[1][l] = mw__scalar_mul(x4[i + (lanes) + l], s5); } round(v14[0]); round(v14[1]); \
        float v15[2][lanes]; EACH(lanes) { v15[0][l] = mw__scalar_mul(x2[i + l], s6); } \
        EACH(lanes) { v15[1][l] = mw__scalar_mul(x2[i + (lanes) + l], s6); } round(v15[0]); round(v15[1]); \
        float v16[2][lanes]; EACH(lanes) { v16[0][l] = mw__scalar_square(v15[0][l], pq[5][0], pq[5][1]); } \
        EACH(lanes) { v16[1][l] = mw__scalar_square(v15[1][l], pq[5][0], pq[5][1]); } round(v16[0]); round(v16[1]); \
        float v17[2][lanes]; EACH(lanes) { v17[0][l] = mw__scalar_add(v14[0][l], v16[0][l]); } \
        EACH(lanes) { v17[1][l] = mw__scalar_add(v14[1][l], v16[1][l]); } round(v17[0]); round(v17[1]); \
        float v18[2][lanes]; EACH(lanes) { v18[0][l] = mw__scalar_sqrt(v17[0][l], pq[7][0], pq[7][1]); } \
        EACH(lanes) { v18[1][l] = mw__scalar_sqrt(v17[1][l], pq[7][0], pq[7][1]); } round(v18[0]); round(v18[1]); \
        float v19[2][lanes]; EACH(lanes) { v19[0][l] = mw__scalar_mul(v18[0][l], s7); } \
        EACH(lanes) { v19[1][l] = mw__scalar_mul(v18[1][l], s7); } round(v19[0]); round(v19[1]); float v20[2][lanes]; \
        EACH(lanes) { v20[0][l] = mw__scalar_add(v19[0][l], s8); } \
        EACH(lanes) { v20[1][l] = mw__scalar_add(v19[1][l], s8); } round(v20[0]); round(v20[1]); float v21[2][lanes]; \
        EACH(lanes) { v21[0][l] = mw__scalar_real_div(v13[0][l], v20[0][l]); } \
        EACH(lanes) { v21[1][l] = mw__scalar_real_div(v13[1][l], v20[1][l]); } round(v21[0]); round(v21[1]); \
        float v22[2][lanes]; EACH(lanes) { v22[0][l] = mw__scalar_mul(v21[0][l], s9); } \
        EACH(lanes) { v22[1][l] = mw__scalar_mul(v21[1][l], s9); } round(v22[0]); round(v22[1]); float v23[2][lanes]; \
        EACH(lanes) { v23[0][l] = mw__scalar_sub(x10[i + l], v22[0][l]); } \
        EACH(lanes) { v23[1][l] = mw__scalar_sub(x10[i + (lanes) + l], v22[1][l]); } round(v23[0]); round(v23[1]); \
        EACH(lanes) { y0[i + l] = v13[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v13[1][l]; } \
        EACH(lanes) { y1[i + l] = v17[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v17[1][l]; } \
        EACH(lanes) { y2[i + l] = v23[0][l]; } EACH(lanes) { y2[i + (lanes) + l] = v23[1][l]; } \
    }
MW__INLINE void adam_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10]; float *const y0 = out[0];
    float *const y1 = out[1]; float *const y2 = out[2];
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i]; const float v10 = x10[i];
        const float v11 = ROUND(mw__scalar_mul(v0, v1)); const float v12 = ROUND(mw__scalar_mul(v2, v3));
        const float v13 = ROUND(mw__scalar_add(v11, v12)); const float v14 = ROUND(mw__scalar_mul(v4, v5));
        const float v15 = ROUND(mw__scalar_mul(v2, v6));
        const float v16 = ROUND(mw__scalar_square(v15, pq[5][0], pq[5][1]));
        const float v17 = ROUND(mw__scalar_add(v14, v16));
        const float v18 = ROUND(mw__scalar_sqrt(v17, pq[7][0], pq[7][1]));
        const float v19 = ROUND(mw__scalar_mul(v18, v7)); const float v20 = ROUND(mw__scalar_add(v19, v8));
        const float v21 = ROUND(mw__scalar_real_div(v13, v20)); const float v22 = ROUND(mw__scalar_mul(v21, v9));
        const float v23 = ROUND(mw__scalar_sub(v10, v22)); y0[i] = v13; y1[i] = v17; y2[i] = v23;
    }
}
FORMS(adam_check)

#define adamw_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; const float *const x11 = value[11]; const float s11 = *x11; \
    float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v12[2][lanes]; EACH(lanes) { v12[0][l] = mw__scalar_mul(x0[i + l], s1); } \
        EACH(lanes) { v12[1][l] = mw__scalar_mul(x0[i + (lanes) + l], s1); } round(v12[0]); round(v12[1]); \
        float v13[2][lanes]; EACH(lanes) { v13[0][l] = mw__scalar_mul(x2[i + l], s3); } \
        EACH(lanes) { v13[1][l] = mw__scalar_mul(x2[i + (lanes) + l], s3); } round(v13[0]); round(v13[1]); \
        float v14[2][lanes]; EACH(lanes) { v14[0][l] = mw__scalar_add(v12[0][l], v13[0][l]); } \
        EACH(lanes) { v14[1][l] = mw__scalar_add(v12[1][l], v13[1][l]); } round(v14[0]); round(v14[1]); \
        float v15[2][lanes]; EACH(lanes) { v15[0][l] = mw__scalar_mul(x4[i + l], s5); } \
        EACH(lanes) { v15[1][l] = mw__scalar_mul(x4[i + (lanes) + l], s5); } round(v15[0]); round(v15[1]); \
        float v16[2][lanes]; EACH(lanes) { v16[0][l] = mw__scalar_mul(x2[i + l], s6); } \
        EACH(lanes) { v16[1][l] = mw__scalar_mul(x2[i + (lanes) + l], s6); } round(v16[0]); round(v16[1]); \
        float v17[2][lanes]; EACH(lanes) { v17[0][l] = mw__scalar_square(v16[0][l], pq[5][0], pq[5][1]); } \
        EACH(lanes) { v17[1][l] = mw__scalar_square(v16[1][l], pq[5][0], pq[5][1]); } round(v17[0]); round(v17[1]); \
        float v18[2][lanes]; EACH(lanes) { v18[0][l] = mw__scalar_add(v15[0][l], v17[0][l]); } \
        EACH(lanes) { v18[1][l] = mw__scalar_add(v15[1][l], v17[1][l]); } round(v18[0]); round(v18[1]); \
        float v19[2][lanes]; EACH(lanes) { v19[0][l] = mw__scalar_sqrt(v18[0][l], pq[7][0], pq[7][1]); } \
        EACH(lanes) { v19[1][l] = mw__scalar_sqrt(v18[1][l], pq[7][0], pq[7][1]); } round(v19[0]); round(v19[1]); \
        float v20[2][lanes]; EACH(lanes) { v20[0][l] = mw__scalar_mul(v19[0][l], s7); } \
        EACH(lanes) { v20[1][l] = mw__scalar_mul(v19[1][l], s7); } round(v20[0]); round(v20[1]); float v21[2][lanes]; \
        EACH(lanes) { v21[0][l] = mw__scalar_add(v20[0][l], s8); } \
        EACH(lanes) { v21[1][l] = mw__scalar_add(v20[1][l], s8); } round(v21[0]); round(v21[1]); float v22[2][lanes]; \
        EACH(lanes) { v22[0][l] = mw__scalar_real_div(v14[0][l], v21[0][l]); } \
        EACH(lanes) { v22[1][l] = mw__scalar_real_div(v14[1][l], v21[1][l]); } round(v22[0]); round(v22[1]); \
        float v23[2][lanes]; EACH(lanes) { v23[0][l] = mw__scalar_mul(v22[0][l], s9); } \
        EACH(lanes) { v23[1][l] = mw__scalar_mul(v22[1][l], s9); } round(v23[0]); round(v23[1]); float v24[2][lanes]; \
        EACH(lanes) { v24[0][l] = mw__scalar_mul(x10[i + l], s11); } \
        EACH(lanes) { v24[1][l] = mw__scalar_mul(x10[i + (lanes) + l], s11); } round(v24[0]); round(v24[1]); \
        float v25[2][lanes]; EACH(lanes) { v25[0][l] = mw__scalar_add(v23[0][l], v24[0][l]); } \
        EACH(lanes) { v25[1][l] = mw__scalar_add(v23[1][l], v24[1][l]); } round(v25[0]); round(v25[1]); \
        float v26[2][lanes]; EACH(lanes) { v26[0][l] = mw__scalar_sub(x10[i + l], v25[0][l]); } \
        EACH(lanes) { v26[1][l] = mw__scalar_sub(x10[i + (lanes) + l], v25[1][l]); } round(v26[0]); round(v26[1]); \
        EACH(lanes) { y0[i + l] = v14[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v14[1][l]; } \
        EACH(lanes) { y1[i + l] = v18[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v18[1][l]; } \
        EACH(lanes) { y2[i + l] = v26[0][l]; } EACH(lanes) { y2[i + (lanes) + l] = v26[1][l]; } \
    }
MW__INLINE void adamw_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10];
    const float v11 = *(const float *)value[11]; float *const y0 = out[0]; float *const y1 = out[1];
    float *const y2 = out[2];
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i]; const float v10 = x10[i];
        const float v12 = ROUND(mw__scalar_mul(v0, v1)); const float v13 = ROUND(mw__scalar_mul(v2, v3));
        const float v14 = ROUND(mw__scalar_add(v12, v13)); const float v15 = ROUND(mw__scalar_mul(v4, v5));
        const float v16 = ROUND(mw__scalar_mul(v2, v6));
        const float v17 = ROUND(mw__scalar_square(v16, pq[5][0], pq[5][1]));
        const float v18 = ROUND(mw__scalar_add(v15, v17));
        const float v19 = ROUND(mw__scalar_sqrt(v18, pq[7][0], pq[7][1]));
        const float v20 = ROUND(mw__scalar_mul(v19, v7)); const float v21 = ROUND(mw__scalar_add(v20, v8));
        const float v22 = ROUND(mw__scalar_real_div(v14, v21)); const float v23 = ROUND(mw__scalar_mul(v22, v9));
        const float v24 = ROUND(mw__scalar_mul(v10, v11)); const float v25 = ROUND(mw__scalar_add(v23, v24));
        const float v26 = ROUND(mw__scalar_sub(v10, v25)); y0[i] = v14; y1[i] = v18; y2[i] = v26;
    }
}
FORMS(adamw_check)

#define sgd_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v3[2][lanes]; EACH(lanes) { v3[0][l] = mw__scalar_mul(x0[i + l], s1); } \
        EACH(lanes) { v3[1][l] = mw__scalar_mul(x0[i + (lanes) + l], s1); } round(v3[0]); round(v3[1]); \
        float v4[2][lanes]; EACH(lanes) { v4[0][l] = mw__scalar_sub(x2[i + l], v3[0][l]); } \
        EACH(lanes) { v4[1][l] = mw__scalar_sub(x2[i + (lanes) + l], v3[1][l]); } round(v4[0]); round(v4[1]); \
        EACH(lanes) { y0[i + l] = v4[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v4[1][l]; } \
    }
MW__INLINE void sgd_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    float *const y0 = out[0]; (void)pq;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v3 = ROUND(mw__scalar_mul(v0, v1));
        const float v4 = ROUND(mw__scalar_sub(v2, v3)); y0[i] = v4;
    }
}
FORMS(sgd_check)

#define sgd_scaled_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float s2 = *x2; const float *const x3 = value[3]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v4[2][lanes]; EACH(lanes) { v4[0][l] = mw__scalar_mul(x0[i + l], s1); } \
        EACH(lanes) { v4[1][l] = mw__scalar_mul(x0[i + (lanes) + l], s1); } round(v4[0]); round(v4[1]); \
        float v5[2][lanes]; EACH(lanes) { v5[0][l] = mw__scalar_mul(v4[0][l], s2); } \
        EACH(lanes) { v5[1][l] = mw__scalar_mul(v4[1][l], s2); } round(v5[0]); round(v5[1]); float v6[2][lanes]; \
        EACH(lanes) { v6[0][l] = mw__scalar_sub(x3[i + l], v5[0][l]); } \
        EACH(lanes) { v6[1][l] = mw__scalar_sub(x3[i + (lanes) + l], v5[1][l]); } round(v6[0]); round(v6[1]); \
        EACH(lanes) { y0[i + l] = v6[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v6[1][l]; } \
    }
MW__INLINE void sgd_scaled_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2]; const float *const x3 = value[3]; float *const y0 = out[0]; (void)pq;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v3 = x3[i]; const float v4 = ROUND(mw__scalar_mul(v0, v1));
        const float v5 = ROUND(mw__scalar_mul(v4, v2)); const float v6 = ROUND(mw__scalar_sub(v3, v5)); y0[i] = v6;
    }
}
FORMS(sgd_scaled_check)

#define momentum_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v5[2][lanes]; EACH(lanes) { v5[0][l] = mw__scalar_mul(x0[i + l], s1); } \
        EACH(lanes) { v5[1][l] = mw__scalar_mul(x0[i + (lanes) + l], s1); } round(v5[0]); round(v5[1]); \
        float v6[2][lanes]; EACH(lanes) { v6[0][l] = mw__scalar_add(v5[0][l], x2[i + l]); } \
        EACH(lanes) { v6[1][l] = mw__scalar_add(v5[1][l], x2[i + (lanes) + l]); } round(v6[0]); round(v6[1]); \
        float v7[2][lanes]; EACH(lanes) { v7[0][l] = mw__scalar_mul(v6[0][l], s3); } \
        EACH(lanes) { v7[1][l] = mw__scalar_mul(v6[1][l], s3); } round(v7[0]); round(v7[1]); float v8[2][lanes]; \
        EACH(lanes) { v8[0][l] = mw__scalar_sub(x4[i + l], v7[0][l]); } \
        EACH(lanes) { v8[1][l] = mw__scalar_sub(x4[i + (lanes) + l], v7[1][l]); } round(v8[0]); round(v8[1]); \
        EACH(lanes) { y0[i + l] = v6[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v6[1][l]; } \
        EACH(lanes) { y1[i + l] = v8[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v8[1][l]; } \
    }
MW__INLINE void momentum_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i];
        const float v5 = ROUND(mw__scalar_mul(v0, v1)); const float v6 = ROUND(mw__scalar_add(v5, v2));
        const float v7 = ROUND(mw__scalar_mul(v6, v3)); const float v8 = ROUND(mw__scalar_sub(v4, v7)); y0[i] = v6;
        y1[i] = v8;
    }
}
FORMS(momentum_check)

#define momentum_scaled_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v6[2][lanes]; EACH(lanes) { v6[0][l] = mw__scalar_mul(x0[i + l], s1); } \
        EACH(lanes) { v6[1][l] = mw__scalar_mul(x0[i + (lanes) + l], s1); } round(v6[0]); round(v6[1]); \
        float v7[2][lanes]; EACH(lanes) { v7[0][l] = mw__scalar_mul(x2[i + l], s3); } \
        EACH(lanes) { v7[1][l] = mw__scalar_mul(x2[i + (lanes) + l], s3); } round(v7[0]); round(v7[1]); \
        float v8[2][lanes]; EACH(lanes) { v8[0][l] = mw__scalar_add(v7[0][l], v6[0][l]); } \
        EACH(lanes) { v8[1][l] = mw__scalar_add(v7[1][l], v6[1][l]); } round(v8[0]); round(v8[1]); \
        float v9[2][lanes]; EACH(lanes) { v9[0][l] = mw__scalar_mul(v8[0][l], s4); } \
        EACH(lanes) { v9[1][l] = mw__scalar_mul(v8[1][l], s4); } round(v9[0]); round(v9[1]); float v10[2][lanes]; \
        EACH(lanes) { v10[0][l] = mw__scalar_sub(x5[i + l], v9[0][l]); } \
        EACH(lanes) { v10[1][l] = mw__scalar_sub(x5[i + (lanes) + l], v9[1][l]); } round(v10[0]); round(v10[1]); \
        EACH(lanes) { y0[i + l] = v8[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v8[1][l]; } \
        EACH(lanes) { y1[i + l] = v10[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v10[1][l]; } \
    }
MW__INLINE void momentum_scaled_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; float *const y0 = out[0]; float *const y1 = out[1]; (void)pq;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v5 = x5[i];
        const float v6 = ROUND(mw__scalar_mul(v0, v1)); const float v7 = ROUND(mw__scalar_mul(v2, v3));
        const float v8 = ROUND(mw__scalar_add(v7, v6)); const float v9 = ROUND(mw__scalar_mul(v8, v4));
        const float v10 = ROUND(mw__scalar_sub(v5, v9)); y0[i] = v8; y1[i] = v10;
    }
}
FORMS(momentum_scaled_check)

#define nesterov_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v5[2][lanes]; EACH(lanes) { v5[0][l] = mw__scalar_mul(x0[i + l], s1); } \
        EACH(lanes) { v5[1][l] = mw__scalar_mul(x0[i + (lanes) + l], s1); } round(v5[0]); round(v5[1]); \
        float v6[2][lanes]; EACH(lanes) { v6[0][l] = mw__scalar_add(v5[0][l], x2[i + l]); } \
        EACH(lanes) { v6[1][l] = mw__scalar_add(v5[1][l], x2[i + (lanes) + l]); } round(v6[0]); round(v6[1]); \
        float v7[2][lanes]; EACH(lanes) { v7[0][l] = mw__scalar_mul(v6[0][l], s1); } \
        EACH(lanes) { v7[1][l] = mw__scalar_mul(v6[1][l], s1); } round(v7[0]); round(v7[1]); float v8[2][lanes]; \
        EACH(lanes) { v8[0][l] = mw__scalar_add(x2[i + l], v7[0][l]); } \
        EACH(lanes) { v8[1][l] = mw__scalar_add(x2[i + (lanes) + l], v7[1][l]); } round(v8[0]); round(v8[1]); \
        float v9[2][lanes]; EACH(lanes) { v9[0][l] = mw__scalar_mul(v8[0][l], s3); } \
        EACH(lanes) { v9[1][l] = mw__scalar_mul(v8[1][l], s3); } round(v9[0]); round(v9[1]); float v10[2][lanes]; \
        EACH(lanes) { v10[0][l] = mw__scalar_sub(x4[i + l], v9[0][l]); } \
        EACH(lanes) { v10[1][l] = mw__scalar_sub(x4[i + (lanes) + l], v9[1][l]); } round(v10[0]); round(v10[1]); \
        EACH(lanes) { y0[i + l] = v6[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v6[1][l]; } \
        EACH(lanes) { y1[i + l] = v10[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v10[1][l]; } \
    }
MW__INLINE void nesterov_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i];
        const float v5 = ROUND(mw__scalar_mul(v0, v1)); const float v6 = ROUND(mw__scalar_add(v5, v2));
        const float v7 = ROUND(mw__scalar_mul(v6, v1)); const float v8 = ROUND(mw__scalar_add(v2, v7));
        const float v9 = ROUND(mw__scalar_mul(v8, v3)); const float v10 = ROUND(mw__scalar_sub(v4, v9)); y0[i] = v6;
        y1[i] = v10;
    }
}
FORMS(nesterov_check)

#define nesterov_scaled_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v6[2][lanes]; EACH(lanes) { v6[0][l] = mw__scalar_mul(x0[i + l], s1); } \
        EACH(lanes) { v6[1][l] = mw__scalar_mul(x0[i + (lanes) + l], s1); } round(v6[0]); round(v6[1]); \
        float v7[2][lanes]; EACH(lanes) { v7[0][l] = mw__scalar_mul(x2[i + l], s3); } \
        EACH(lanes) { v7[1][l] = mw__scalar_mul(x2[i + (lanes) + l], s3); } round(v7[0]); round(v7[1]); \
        float v8[2][lanes]; EACH(lanes) { v8[0][l] = mw__scalar_add(v7[0][l], v6[0][l]); } \
        EACH(lanes) { v8[1][l] = mw__scalar_add(v7[1][l], v6[1][l]); } round(v8[0]); round(v8[1]); \
        float v9[2][lanes]; EACH(lanes) { v9[0][l] = mw__scalar_mul(v8[0][l], s3); } \
        EACH(lanes) { v9[1][l] = mw__scalar_mul(v8[1][l], s3); } round(v9[0]); round(v9[1]); float v10[2][lanes]; \
        EACH(lanes) { v10[0][l] = mw__scalar_add(v6[0][l], v9[0][l]); } \
        EACH(lanes) { v10[1][l] = mw__scalar_add(v6[1][l], v9[1][l]); } round(v10[0]); round(v10[1]); \
        float v11[2][lanes]; EACH(lanes) { v11[0][l] = mw__scalar_mul(v10[0][l], s4); } \
        EACH(lanes) { v11[1][l] = mw__scalar_mul(v10[1][l], s4); } round(v11[0]); round(v11[1]); float v12[2][lanes]; \
        EACH(lanes) { v12[0][l] = mw__scalar_sub(x5[i + l], v11[0][l]); } \
        EACH(lanes) { v12[1][l] = mw__scalar_sub(x5[i + (lanes) + l], v11[1][l]); } round(v12[0]); round(v12[1]); \
        EACH(lanes) { y0[i + l] = v8[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v8[1][l]; } \
        EACH(lanes) { y1[i + l] = v12[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v12[1][l]; } \
    }
MW__INLINE void nesterov_scaled_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; float *const y0 = out[0]; float *const y1 = out[1]; (void)pq;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v5 = x5[i];
        const float v6 = ROUND(mw__scalar_mul(v0, v1)); const float v7 = ROUND(mw__scalar_mul(v2, v3));
        const float v8 = ROUND(mw__scalar_add(v7, v6)); const float v9 = ROUND(mw__scalar_mul(v8, v3));
        const float v10 = ROUND(mw__scalar_add(v6, v9)); const float v11 = ROUND(mw__scalar_mul(v10, v4));
        const float v12 = ROUND(mw__scalar_sub(v5, v11)); y0[i] = v8; y1[i] = v12;
    }
}
FORMS(nesterov_scaled_check)

#define rmsprop_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; const float *const x8 = value[8]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v9[2][lanes]; EACH(lanes) { v9[0][l] = mw__scalar_abs(x0[i + l], pq[0][0], pq[0][1]); } \
        EACH(lanes) { v9[1][l] = mw__scalar_abs(x0[i + (lanes) + l], pq[0][0], pq[0][1]); } float v10[2][lanes]; \
        EACH(lanes) { v10[0][l] = mw__scalar_maximum(x1[i + l], v9[0][l]); } \
        EACH(lanes) { v10[1][l] = mw__scalar_maximum(x1[i + (lanes) + l], v9[1][l]); } uint8_t v11[2][lanes]; \
        EACH(lanes) { v11[0][l] = v10[0][l] > s2; } EACH(lanes) { v11[1][l] = v10[1][l] > s2; } float v12[2][lanes]; \
        EACH(lanes) { v12[0][l] = v11[0][l] != 0 ? v10[0][l] : s3; } \
        EACH(lanes) { v12[1][l] = v11[1][l] != 0 ? v10[1][l] : s3; } float v13[2][lanes]; \
        EACH(lanes) { v13[0][l] = mw__scalar_real_div(x1[i + l], v12[0][l]); } \
        EACH(lanes) { v13[1][l] = mw__scalar_real_div(x1[i + (lanes) + l], v12[1][l]); } round(v13[0]); \
        round(v13[1]); float v14[2][lanes]; EACH(lanes) { v14[0][l] = mw__scalar_real_div(v9[0][l], v12[0][l]); } \
        EACH(lanes) { v14[1][l] = mw__scalar_real_div(v9[1][l], v12[1][l]); } round(v14[0]); round(v14[1]); \
        float v15[2][lanes]; EACH(lanes) { v15[0][l] = mw__scalar_square(v13[0][l], pq[6][0], pq[6][1]); } \
        EACH(lanes) { v15[1][l] = mw__scalar_square(v13[1][l], pq[6][0], pq[6][1]); } round(v15[0]); round(v15[1]); \
        float v16[2][lanes]; EACH(lanes) { v16[0][l] = mw__scalar_square(v14[0][l], pq[7][0], pq[7][1]); } \
        EACH(lanes) { v16[1][l] = mw__scalar_square(v14[1][l], pq[7][0], pq[7][1]); } round(v16[0]); round(v16[1]); \
        float v17[2][lanes]; EACH(lanes) { v17[0][l] = mw__scalar_mul(v16[0][l], s4); } \
        EACH(lanes) { v17[1][l] = mw__scalar_mul(v16[1][l], s4); } round(v17[0]); round(v17[1]); float v18[2][lanes]; \
        EACH(lanes) { v18[0][l] = mw__scalar_mul(v15[0][l], s5); } \
        EACH(lanes) { v18[1][l] = mw__scalar_mul(v15[1][l], s5); } round(v18[0]); round(v18[1]); float v19[2][lanes]; \
        EACH(lanes) { v19[0][l] = mw__scalar_add(v18[0][l], v17[0][l]); } \
        EACH(lanes) { v19[1][l] = mw__scalar_add(v18[1][l], v17[1][l]); } round(v19[0]); round(v19[1]); \
        float v20[2][lanes]; EACH(lanes) { v20[0][l] = mw__scalar_sqrt(v19[0][l], pq[11][0], pq[11][1]); } \
        EACH(lanes) { v20[1][l] = mw__scalar_sqrt(v19[1][l], pq[11][0], pq[11][1]); } round(v20[0]); round(v20[1]); \
        float v21[2][lanes]; EACH(lanes) { v21[0][l] = mw__scalar_mul(v12[0][l], v20[0][l]); } \
        EACH(lanes) { v21[1][l] = mw__scalar_mul(v12[1][l], v20[1][l]); } round(v21[0]); round(v21[1]); \
        float v22[2][lanes]; EACH(lanes) { v22[0][l] = mw__scalar_add(v21[0][l], s6); } \
        EACH(lanes) { v22[1][l] = mw__scalar_add(v21[1][l], s6); } round(v22[0]); round(v22[1]); float v23[2][lanes]; \
        EACH(lanes) { v23[0][l] = mw__scalar_real_div(x0[i + l], v22[0][l]); } \
        EACH(lanes) { v23[1][l] = mw__scalar_real_div(x0[i + (lanes) + l], v22[1][l]); } round(v23[0]); \
        round(v23[1]); float v24[2][lanes]; EACH(lanes) { v24[0][l] = mw__scalar_mul(v23[0][l], s7); } \
        EACH(lanes) { v24[1][l] = mw__scalar_mul(v23[1][l], s7); } round(v24[0]); round(v24[1]); float v25[2][lanes]; \
        EACH(lanes) { v25[0][l] = mw__scalar_sub(x8[i + l], v24[0][l]); } \
        EACH(lanes) { v25[1][l] = mw__scalar_sub(x8[i + (lanes) + l], v24[1][l]); } round(v25[0]); round(v25[1]); \
        EACH(lanes) { y0[i + l] = v21[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v21[1][l]; } \
        EACH(lanes) { y1[i + l] = v25[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v25[1][l]; } \
    }
MW__INLINE void rmsprop_check_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float *const x8 = value[8]; float *const y0 = out[0];
    float *const y1 = out[1];
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v8 = x8[i];
        const float v9 = mw__scalar_abs(v0, pq[0][0], pq[0][1]); const float v10 = mw__scalar_maximum(v1, v9);
        const uint8_t v11 = v10 > v2; const float v12 = v11 != 0 ? v10 : v3;
        const float v13 = ROUND(mw__scalar_real_div(v1, v12)); const float v14 = ROUND(mw__scalar_real_div(v9, v12));
        const float v15 = ROUND(mw__scalar_square(v13, pq[6][0], pq[6][1]));
        const float v16 = ROUND(mw__scalar_square(v14, pq[7][0], pq[7][1]));
        const float v17 = ROUND(mw__scalar_mul(v16, v4)); const float v18 = ROUND(mw__scalar_mul(v15, v5));
        const float v19 = ROUND(mw__scalar_add(v18, v17));
        const float v20 = ROUND(mw__scalar_sqrt(v19, pq[11][0], pq[11][1]));
        const float v21 = ROUND(mw__scalar_mul(v12, v20)); const float v22 = ROUND(mw__scalar_add(v21, v6));
        const float v23 = ROUND(mw__scalar_real_div(v0, v22)); const float v24 = ROUND(mw__scalar_mul(v23, v7));
        const float v25 = ROUND(mw__scalar_sub(v8, v24)); y0[i] = v21; y1[i] = v25;
    }
}
FORMS(rmsprop_check)

#define rmsprop_momentum_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    const float s6 = *x6; const float *const x7 = value[7]; const float *const x8 = value[8]; const float s8 = *x8; \
    const float *const x9 = value[9]; const float s9 = *x9; const float *const x10 = value[10]; \
    float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v11[2][lanes]; EACH(lanes) { v11[0][l] = mw__scalar_abs(x0[i + l], pq[0][0], pq[0][1]); } \
        EACH(lanes) { v11[1][l] = mw__scalar_abs(x0[i + (lanes) + l], pq[0][0], pq[0][1]); } float v12[2][lanes]; \
        EACH(lanes) { v12[0][l] = mw__scalar_maximum(x1[i + l], v11[0][l]); } \
        EACH(lanes) { v12[1][l] = mw__scalar_maximum(x1[i + (lanes) + l], v11[1][l]); } uint8_t v13[2][lanes]; \
        EACH(lanes) { v13[0][l] = v12[0][l] > s2; } EACH(lanes) { v13[1][l] = v12[1][l] > s2; } float v14[2][lanes]; \
        EACH(lanes) { v14[0][l] = v13[0][l] != 0 ? v12[0][l] : s3; } \
        EACH(lanes) { v14[1][l] = v13[1][l] != 0 ? v12[1][l] : s3; } float v15[2][lanes]; \
        EACH(lanes) { v15[0][l] = mw__scalar_real_div(x1[i + l], v14[0][l]); } \
        EACH(lanes) { v15[1][l] = mw__scalar_real_div(x1[i + (lanes) + l], v14[1][l]); } round(v15[0]); \
        round(v15[1]); float v16[2][lanes]; EACH(lanes) { v16[0][l] = mw__scalar_real_div(v11[0][l], v14[0][l]); } \
        EACH(lanes) { v16[1][l] = mw__scalar_real_div(v11[1][l], v14[1][l]); } round(v16[0]); round(v16[1]); \
        float v17[2][lanes]; EACH(lanes) { v17[0][l] = mw__scalar_square(v15[0][l], pq[6][0], pq[6][1]); } \
        EACH(lanes) { v17[1][l] = mw__scalar_square(v15[1][l], pq[6][0], pq[6][1]); } round(v17[0]); round(v17[1]); \
        float v18[2][lanes]; EACH(lanes) { v18[0][l] = mw__scalar_square(v16[0][l], pq[7][0], pq[7][1]); } \
        EACH(lanes) { v18[1][l] = mw__scalar_square(v16[1][l], pq[7][0], pq[7][1]); } round(v18[0]); round(v18[1]); \
        float v19[2][lanes]; EACH(lanes) { v19[0][l] = mw__scalar_mul(v18[0][l], s4); } \
        EACH(lanes) { v19[1][l] = mw__scalar_mul(v18[1][l], s4); } round(v19[0]); round(v19[1]); float v20[2][lanes]; \
        EACH(lanes) { v20[0][l] = mw__scalar_mul(v17[0][l], s5); } \
        EACH(lanes) { v20[1][l] = mw__scalar_mul(v17[1][l], s5); } round(v20[0]); round(v20[1]); float v21[2][lanes]; \
        EACH(lanes) { v21[0][l] = mw__scalar_add(v20[0][l], v19[0][l]); } \
        EACH(lanes) { v21[1][l] = mw__scalar_add(v20[1][l], v19[1][l]); } round(v21[0]); round(v21[1]); \
        float v22[2][lanes]; EACH(lanes) { v22[0][l] = mw__scalar_sqrt(v21[0][l], pq[11][0], pq[11][1]); } \
        EACH(lanes) { v22[1][l] = mw__scalar_sqrt(v21[1][l], pq[11][0], pq[11][1]); } round(v22[0]); round(v22[1]); \
        float v23[2][lanes]; EACH(lanes) { v23[0][l] = mw__scalar_mul(v14[0][l], v22[0][l]); } \
        EACH(lanes) { v23[1][l] = mw__scalar_mul(v14[1][l], v22[1][l]); } round(v23[0]); round(v23[1]); \
        float v24[2][lanes]; EACH(lanes) { v24[0][l] = mw__scalar_add(v23[0][l], s6); } \
        EACH(lanes) { v24[1][l] = mw__scalar_add(v23[1][l], s6); } round(v24[0]); round(v24[1]); float v25[2][lanes]; \
        EACH(lanes) { v25[0][l] = mw__scalar_real_div(x0[i + l], v24[0][l]); } \
        EACH(lanes) { v25[1][l] = mw__scalar_real_div(x0[i + (lanes) + l], v24[1][l]); } round(v25[0]); \
        round(v25[1]); float v26[2][lanes]; EACH(lanes) { v26[0][l] = mw__scalar_mul(x7[i + l], s8); } \
        EACH(lanes) { v26[1][l] = mw__scalar_mul(x7[i + (lanes) + l], s8); } round(v26[0]); round(v26[1]); \
        float v27[2][lanes]; EACH(lanes) { v27[0][l] = mw__scalar_add(v26[0][l], v25[0][l]); } \
        EACH(lanes) { v27[1][l] = mw__scalar_add(v26[1][l], v25[1][l]); } round(v27[0]); round(v27[1]); \
        float v28[2][lanes]; EACH(lanes) { v28[0][l] = mw__scalar_mul(v27[0][l], s9); } \
        EACH(lanes) { v28[1][l] = mw__scalar_mul(v27[1][l], s9); } round(v28[0]); round(v28[1]); float v29[2][lanes]; \
        EACH(lanes) { v29[0][l] = mw__scalar_sub(x10[i + l], v28[0][l]); } \
        EACH(lanes) { v29[1][l] = mw__scalar_sub(x10[i + (lanes) + l], v28[1][l]); } round(v29[0]); round(v29[1]); \
        EACH(lanes) { y0[i + l] = v23[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v23[1][l]; } \
        EACH(lanes) { y1[i + l] = v27[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v27[1][l]; } \
        EACH(lanes) { y2[i + l] = v29[0][l]; } EACH(lanes) { y2[i + (lanes) + l] = v29[1][l]; } \
    }
MW__INLINE void rmsprop_momentum_check_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float *const x7 = value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10]; float *const y0 = out[0];
    float *const y1 = out[1]; float *const y2 = out[2];
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v7 = x7[i]; const float v10 = x10[i];
        const float v11 = mw__scalar_abs(v0, pq[0][0], pq[0][1]); const float v12 = mw__scalar_maximum(v1, v11);
        const uint8_t v13 = v12 > v2; const float v14 = v13 != 0 ? v12 : v3;
        const float v15 = ROUND(mw__scalar_real_div(v1, v14));
        const float v16 = ROUND(mw__scalar_real_div(v11, v14));
        const float v17 = ROUND(mw__scalar_square(v15, pq[6][0], pq[6][1]));
        const float v18 = ROUND(mw__scalar_square(v16, pq[7][0], pq[7][1]));
        const float v19 = ROUND(mw__scalar_mul(v18, v4)); const float v20 = ROUND(mw__scalar_mul(v17, v5));
        const float v21 = ROUND(mw__scalar_add(v20, v19));
        const float v22 = ROUND(mw__scalar_sqrt(v21, pq[11][0], pq[11][1]));
        const float v23 = ROUND(mw__scalar_mul(v14, v22)); const float v24 = ROUND(mw__scalar_add(v23, v6));
        const float v25 = ROUND(mw__scalar_real_div(v0, v24)); const float v26 = ROUND(mw__scalar_mul(v7, v8));
        const float v27 = ROUND(mw__scalar_add(v26, v25)); const float v28 = ROUND(mw__scalar_mul(v27, v9));
        const float v29 = ROUND(mw__scalar_sub(v10, v28)); y0[i] = v23; y1[i] = v27; y2[i] = v29;
    }
}
FORMS(rmsprop_momentum_check)

#define rmsprop_centered_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float *const x4 = value[4]; const float s4 = *x4; \
    const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; const float s6 = *x6; \
    const float *const x7 = value[7]; const float s7 = *x7; const float *const x8 = value[8]; const float s8 = *x8; \
    const float *const x9 = value[9]; const float s9 = *x9; const float *const x10 = value[10]; \
    float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v11[2][lanes]; EACH(lanes) { v11[0][l] = mw__scalar_sub(x0[i + l], x1[i + l]); } \
        EACH(lanes) { v11[1][l] = mw__scalar_sub(x0[i + (lanes) + l], x1[i + (lanes) + l]); } round(v11[0]); \
        round(v11[1]); float v12[2][lanes]; EACH(lanes) { v12[0][l] = mw__scalar_mul(v11[0][l], s2); } \
        EACH(lanes) { v12[1][l] = mw__scalar_mul(v11[1][l], s2); } round(v12[0]); round(v12[1]); float v13[2][lanes]; \
        EACH(lanes) { v13[0][l] = mw__scalar_add(x1[i + l], v12[0][l]); } \
        EACH(lanes) { v13[1][l] = mw__scalar_add(x1[i + (lanes) + l], v12[1][l]); } round(v13[0]); round(v13[1]); \
        float v14[2][lanes]; EACH(lanes) { v14[0][l] = mw__scalar_abs(v11[0][l], pq[3][0], pq[3][1]); } \
        EACH(lanes) { v14[1][l] = mw__scalar_abs(v11[1][l], pq[3][0], pq[3][1]); } float v15[2][lanes]; \
        EACH(lanes) { v15[0][l] = mw__scalar_maximum(x3[i + l], v14[0][l]); } \
        EACH(lanes) { v15[1][l] = mw__scalar_maximum(x3[i + (lanes) + l], v14[1][l]); } uint8_t v16[2][lanes]; \
        EACH(lanes) { v16[0][l] = v15[0][l] > s4; } EACH(lanes) { v16[1][l] = v15[1][l] > s4; } float v17[2][lanes]; \
        EACH(lanes) { v17[0][l] = v16[0][l] != 0 ? v15[0][l] : s5; } \
        EACH(lanes) { v17[1][l] = v16[1][l] != 0 ? v15[1][l] : s5; } float v18[2][lanes]; \
        EACH(lanes) { v18[0][l] = mw__scalar_real_div(x3[i + l], v17[0][l]); } \
        EACH(lanes) { v18[1][l] = mw__scalar_real_div(x3[i + (lanes) + l], v17[1][l]); } round(v18[0]); \
        round(v18[1]); float v19[2][lanes]; EACH(lanes) { v19[0][l] = mw__scalar_real_div(v14[0][l], v17[0][l]); } \
        EACH(lanes) { v19[1][l] = mw__scalar_real_div(v14[1][l], v17[1][l]); } round(v19[0]); round(v19[1]); \
        float v20[2][lanes]; EACH(lanes) { v20[0][l] = mw__scalar_square(v18[0][l], pq[9][0], pq[9][1]); } \
        EACH(lanes) { v20[1][l] = mw__scalar_square(v18[1][l], pq[9][0], pq[9][1]); } round(v20[0]); round(v20[1]); \
        float v21[2][lanes]; EACH(lanes) { v21[0][l] = mw__scalar_square(v19[0][l], pq[10][0], pq[10][1]); } \
        EACH(lanes) { v21[1][l] = mw__scalar_square(v19[1][l], pq[10][0], pq[10][1]); } round(v21[0]); round(v21[1]); \
        float v22[2][lanes]; EACH(lanes) { v22[0][l] = mw__scalar_mul(v21[0][l], s6); } \
        EACH(lanes) { v22[1][l] = mw__scalar_mul(v21[1][l], s6); } round(v22[0]); round(v22[1]); float v23[2][lanes]; \
        EACH(lanes) { v23[0][l] = mw__scalar_mul(v20[0][l], s7); } \
        EACH(lanes) { v23[1][l] = mw__scalar_mul(v20[1][l], s7); } round(v23[0]); round(v23[1]); float v24[2][lanes]; \
        EACH(lanes) { v24[0][l] = mw__scalar_add(v23[0][l], v22[0][l]); } \
        EACH(lanes) { v24[1][l] = mw__scalar_add(v23[1][l], v22[1][l]); } round(v24[0]); round(v24[1]); \
        float v25[2][lanes]; EACH(lanes) { v25[0][l] = mw__scalar_sqrt(v24[0][l], pq[14][0], pq[14][1]); } \
        EACH(lanes) { v25[1][l] = mw__scalar_sqrt(v24[1][l], pq[14][0], pq[14][1]); } round(v25[0]); round(v25[1]); \
        float v26[2][lanes]; EACH(lanes) { v26[0][l] = mw__scalar_mul(v17[0][l], v25[0][l]); } \
        EACH(lanes) { v26[1][l] = mw__scalar_mul(v17[1][l], v25[1][l]); } round(v26[0]); round(v26[1]); \
        float v27[2][lanes]; EACH(lanes) { v27[0][l] = mw__scalar_add(v26[0][l], s8); } \
        EACH(lanes) { v27[1][l] = mw__scalar_add(v26[1][l], s8); } round(v27[0]); round(v27[1]); float v28[2][lanes]; \
        EACH(lanes) { v28[0][l] = mw__scalar_real_div(x0[i + l], v27[0][l]); } \
        EACH(lanes) { v28[1][l] = mw__scalar_real_div(x0[i + (lanes) + l], v27[1][l]); } round(v28[0]); \
        round(v28[1]); float v29[2][lanes]; EACH(lanes) { v29[0][l] = mw__scalar_mul(v28[0][l], s9); } \
        EACH(lanes) { v29[1][l] = mw__scalar_mul(v28[1][l], s9); } round(v29[0]); round(v29[1]); float v30[2][lanes]; \
        EACH(lanes) { v30[0][l] = mw__scalar_sub(x10[i + l], v29[0][l]); } \
        EACH(lanes) { v30[1][l] = mw__scalar_sub(x10[i + (lanes) + l], v29[1][l]); } round(v30[0]); round(v30[1]); \
        EACH(lanes) { y0[i + l] = v13[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v13[1][l]; } \
        EACH(lanes) { y1[i + l] = v26[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v26[1][l]; } \
        EACH(lanes) { y2[i + l] = v30[0][l]; } EACH(lanes) { y2[i + (lanes) + l] = v30[1][l]; } \
    }
MW__INLINE void rmsprop_centered_check_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float *const x3 = value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10]; float *const y0 = out[0];
    float *const y1 = out[1]; float *const y2 = out[2];
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v3 = x3[i]; const float v10 = x10[i];
        const float v11 = ROUND(mw__scalar_sub(v0, v1)); const float v12 = ROUND(mw__scalar_mul(v11, v2));
        const float v13 = ROUND(mw__scalar_add(v1, v12)); const float v14 = mw__scalar_abs(v11, pq[3][0], pq[3][1]);
        const float v15 = mw__scalar_maximum(v3, v14); const uint8_t v16 = v15 > v4;
        const float v17 = v16 != 0 ? v15 : v5; const float v18 = ROUND(mw__scalar_real_div(v3, v17));
        const float v19 = ROUND(mw__scalar_real_div(v14, v17));
        const float v20 = ROUND(mw__scalar_square(v18, pq[9][0], pq[9][1]));
        const float v21 = ROUND(mw__scalar_square(v19, pq[10][0], pq[10][1]));
        const float v22 = ROUND(mw__scalar_mul(v21, v6)); const float v23 = ROUND(mw__scalar_mul(v20, v7));
        const float v24 = ROUND(mw__scalar_add(v23, v22));
        const float v25 = ROUND(mw__scalar_sqrt(v24, pq[14][0], pq[14][1]));
        const float v26 = ROUND(mw__scalar_mul(v17, v25)); const float v27 = ROUND(mw__scalar_add(v26, v8));
        const float v28 = ROUND(mw__scalar_real_div(v0, v27)); const float v29 = ROUND(mw__scalar_mul(v28, v9));
        const float v30 = ROUND(mw__scalar_sub(v10, v29)); y0[i] = v13; y1[i] = v26; y2[i] = v30;
    }
}
FORMS(rmsprop_centered_check)

#define adagrad_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v7[2][lanes]; EACH(lanes) { v7[0][l] = mw__scalar_abs(x0[i + l], pq[0][0], pq[0][1]); } \
        EACH(lanes) { v7[1][l] = mw__scalar_abs(x0[i + (lanes) + l], pq[0][0], pq[0][1]); } float v8[2][lanes]; \
        EACH(lanes) { v8[0][l] = mw__scalar_maximum(x1[i + l], v7[0][l]); } \
        EACH(lanes) { v8[1][l] = mw__scalar_maximum(x1[i + (lanes) + l], v7[1][l]); } uint8_t v9[2][lanes]; \
        EACH(lanes) { v9[0][l] = v8[0][l] > s2; } EACH(lanes) { v9[1][l] = v8[1][l] > s2; } float v10[2][lanes]; \
        EACH(lanes) { v10[0][l] = v9[0][l] != 0 ? v8[0][l] : s3; } \
        EACH(lanes) { v10[1][l] = v9[1][l] != 0 ? v8[1][l] : s3; } float v11[2][lanes]; \
        EACH(lanes) { v11[0][l] = mw__scalar_real_div(x1[i + l], v10[0][l]); } \
        EACH(lanes) { v11[1][l] = mw__scalar_real_div(x1[i + (lanes) + l], v10[1][l]); } round(v11[0]); \
        round(v11[1]); float v12[2][lanes]; EACH(lanes) { v12[0][l] = mw__scalar_real_div(v7[0][l], v10[0][l]); } \
        EACH(lanes) { v12[1][l] = mw__scalar_real_div(v7[1][l], v10[1][l]); } round(v12[0]); round(v12[1]); \
        float v13[2][lanes]; EACH(lanes) { v13[0][l] = mw__scalar_square(v11[0][l], pq[6][0], pq[6][1]); } \
        EACH(lanes) { v13[1][l] = mw__scalar_square(v11[1][l], pq[6][0], pq[6][1]); } round(v13[0]); round(v13[1]); \
        float v14[2][lanes]; EACH(lanes) { v14[0][l] = mw__scalar_square(v12[0][l], pq[7][0], pq[7][1]); } \
        EACH(lanes) { v14[1][l] = mw__scalar_square(v12[1][l], pq[7][0], pq[7][1]); } round(v14[0]); round(v14[1]); \
        float v15[2][lanes]; EACH(lanes) { v15[0][l] = mw__scalar_add(v13[0][l], v14[0][l]); } \
        EACH(lanes) { v15[1][l] = mw__scalar_add(v13[1][l], v14[1][l]); } round(v15[0]); round(v15[1]); \
        float v16[2][lanes]; EACH(lanes) { v16[0][l] = mw__scalar_sqrt(v15[0][l], pq[9][0], pq[9][1]); } \
        EACH(lanes) { v16[1][l] = mw__scalar_sqrt(v15[1][l], pq[9][0], pq[9][1]); } round(v16[0]); round(v16[1]); \
        float v17[2][lanes]; EACH(lanes) { v17[0][l] = mw__scalar_mul(v10[0][l], v16[0][l]); } \
        EACH(lanes) { v17[1][l] = mw__scalar_mul(v10[1][l], v16[1][l]); } round(v17[0]); round(v17[1]); \
        float v18[2][lanes]; EACH(lanes) { v18[0][l] = mw__scalar_add(v17[0][l], s4); } \
        EACH(lanes) { v18[1][l] = mw__scalar_add(v17[1][l], s4); } round(v18[0]); round(v18[1]); float v19[2][lanes]; \
        EACH(lanes) { v19[0][l] = mw__scalar_real_div(x0[i + l], v18[0][l]); } \
        EACH(lanes) { v19[1][l] = mw__scalar_real_div(x0[i + (lanes) + l], v18[1][l]); } round(v19[0]); \
        round(v19[1]); float v20[2][lanes]; EACH(lanes) { v20[0][l] = mw__scalar_mul(v19[0][l], s5); } \
        EACH(lanes) { v20[1][l] = mw__scalar_mul(v19[1][l], s5); } round(v20[0]); round(v20[1]); float v21[2][lanes]; \
        EACH(lanes) { v21[0][l] = mw__scalar_sub(x6[i + l], v20[0][l]); } \
        EACH(lanes) { v21[1][l] = mw__scalar_sub(x6[i + (lanes) + l], v20[1][l]); } round(v21[0]); round(v21[1]); \
        EACH(lanes) { y0[i + l] = v17[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v17[1][l]; } \
        EACH(lanes) { y1[i + l] = v21[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v21[1][l]; } \
    }
MW__INLINE void adagrad_check_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float *const x6 = value[6]; float *const y0 = out[0];
    float *const y1 = out[1];
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v6 = x6[i];
        const float v7 = mw__scalar_abs(v0, pq[0][0], pq[0][1]); const float v8 = mw__scalar_maximum(v1, v7);
        const uint8_t v9 = v8 > v2; const float v10 = v9 != 0 ? v8 : v3;
        const float v11 = ROUND(mw__scalar_real_div(v1, v10)); const float v12 = ROUND(mw__scalar_real_div(v7, v10));
        const float v13 = ROUND(mw__scalar_square(v11, pq[6][0], pq[6][1]));
        const float v14 = ROUND(mw__scalar_square(v12, pq[7][0], pq[7][1]));
        const float v15 = ROUND(mw__scalar_add(v13, v14));
        const float v16 = ROUND(mw__scalar_sqrt(v15, pq[9][0], pq[9][1]));
        const float v17 = ROUND(mw__scalar_mul(v10, v16)); const float v18 = ROUND(mw__scalar_add(v17, v4));
        const float v19 = ROUND(mw__scalar_real_div(v0, v18)); const float v20 = ROUND(mw__scalar_mul(v19, v5));
        const float v21 = ROUND(mw__scalar_sub(v6, v20)); y0[i] = v17; y1[i] = v21;
    }
}
FORMS(adagrad_check)

#define lion_check_STRIPS(lanes, round) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; \
    const float *const x8 = value[8]; const float s8 = *x8; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 2 * (lanes)) { \
        float v9[2][lanes]; EACH(lanes) { v9[0][l] = mw__scalar_mul(x0[i + l], s1); } \
        EACH(lanes) { v9[1][l] = mw__scalar_mul(x0[i + (lanes) + l], s1); } round(v9[0]); round(v9[1]); \
        float v10[2][lanes]; EACH(lanes) { v10[0][l] = mw__scalar_mul(x2[i + l], s3); } \
        EACH(lanes) { v10[1][l] = mw__scalar_mul(x2[i + (lanes) + l], s3); } round(v10[0]); round(v10[1]); \
        float v11[2][lanes]; EACH(lanes) { v11[0][l] = mw__scalar_add(v9[0][l], v10[0][l]); } \
        EACH(lanes) { v11[1][l] = mw__scalar_add(v9[1][l], v10[1][l]); } round(v11[0]); round(v11[1]); \
        float v12[2][lanes]; EACH(lanes) { v12[0][l] = mw__scalar_mul(x0[i + l], s4); } \
        EACH(lanes) { v12[1][l] = mw__scalar_mul(x0[i + (lanes) + l], s4); } round(v12[0]); round(v12[1]); \
        float v13[2][lanes]; EACH(lanes) { v13[0][l] = mw__scalar_mul(x2[i + l], s5); } \
        EACH(lanes) { v13[1][l] = mw__scalar_mul(x2[i + (lanes) + l], s5); } round(v13[0]); round(v13[1]); \
        float v14[2][lanes]; EACH(lanes) { v14[0][l] = mw__scalar_add(v12[0][l], v13[0][l]); } \
        EACH(lanes) { v14[1][l] = mw__scalar_add(v12[1][l], v13[1][l]); } round(v14[0]); round(v14[1]); \
        float v15[2][lanes]; EACH(lanes) { v15[0][l] = mw__scalar_sign(v11[0][l], pq[6][0], pq[6][1]); } \
        EACH(lanes) { v15[1][l] = mw__scalar_sign(v11[1][l], pq[6][0], pq[6][1]); } float v16[2][lanes]; \
        EACH(lanes) { v16[0][l] = mw__scalar_mul(v15[0][l], s6); } \
        EACH(lanes) { v16[1][l] = mw__scalar_mul(v15[1][l], s6); } round(v16[0]); round(v16[1]); float v17[2][lanes]; \
        EACH(lanes) { v17[0][l] = mw__scalar_mul(x7[i + l], s8); } \
        EACH(lanes) { v17[1][l] = mw__scalar_mul(x7[i + (lanes) + l], s8); } round(v17[0]); round(v17[1]); \
        float v18[2][lanes]; EACH(lanes) { v18[0][l] = mw__scalar_add(v16[0][l], v17[0][l]); } \
        EACH(lanes) { v18[1][l] = mw__scalar_add(v16[1][l], v17[1][l]); } round(v18[0]); round(v18[1]); \
        float v19[2][lanes]; EACH(lanes) { v19[0][l] = mw__scalar_sub(x7[i + l], v18[0][l]); } \
        EACH(lanes) { v19[1][l] = mw__scalar_sub(x7[i + (lanes) + l], v18[1][l]); } round(v19[0]); round(v19[1]); \
        EACH(lanes) { y0[i + l] = v14[0][l]; } EACH(lanes) { y0[i + (lanes) + l] = v14[1][l]; } \
        EACH(lanes) { y1[i + l] = v19[0][l]; } EACH(lanes) { y1[i + (lanes) + l] = v19[1][l]; } \
    }
MW__INLINE void lion_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float *const x7 = value[7]; const float v8 = *(const float *)value[8]; float *const y0 = out[0];
    float *const y1 = out[1];
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v7 = x7[i];
        const float v9 = ROUND(mw__scalar_mul(v0, v1)); const float v10 = ROUND(mw__scalar_mul(v2, v3));
        const float v11 = ROUND(mw__scalar_add(v9, v10)); const float v12 = ROUND(mw__scalar_mul(v0, v4));
        const float v13 = ROUND(mw__scalar_mul(v2, v5)); const float v14 = ROUND(mw__scalar_add(v12, v13));
        const float v15 = mw__scalar_sign(v11, pq[6][0], pq[6][1]); const float v16 = ROUND(mw__scalar_mul(v15, v6));
        const float v17 = ROUND(mw__scalar_mul(v7, v8)); const float v18 = ROUND(mw__scalar_add(v16, v17));
        const float v19 = ROUND(mw__scalar_sub(v7, v18)); y0[i] = v14; y1[i] = v19;
    }
}
FORMS(lion_check)

const mw__hot_region mw__hot_check[] = {
    {"adam_check", "TSTSTSSSSST mul(0,1) mul(2,3) add(11,12) mul(4,5) mul(2,6) square(15) add(14,16) sqrt(17) mul(18,7) add(19,8) real_div(13,20) mul(21,9) sub(10,22) store 13,17,23", {MW__WIDTHS(adam_check), MW__WIDTHS(adam_check_half)}},
    {"adamw_check", "TSTSTSSSSSTS mul(0,1) mul(2,3) add(12,13) mul(4,5) mul(2,6) square(16) add(15,17) sqrt(18) mul(19,7) add(20,8) real_div(14,21) mul(22,9) mul(10,11) add(23,24) sub(10,25) store 14,18,26", {MW__WIDTHS(adamw_check), MW__WIDTHS(adamw_check_half)}},
    {"sgd_check", "TST mul(0,1) sub(2,3) store 4", {MW__WIDTHS(sgd_check), MW__WIDTHS(sgd_check_half)}},
    {"sgd_scaled_check", "TSST mul(0,1) mul(4,2) sub(3,5) store 6", {MW__WIDTHS(sgd_scaled_check), MW__WIDTHS(sgd_scaled_check_half)}},
    {"momentum_check", "TSTST mul(0,1) add(5,2) mul(6,3) sub(4,7) store 6,8", {MW__WIDTHS(momentum_check), MW__WIDTHS(momentum_check_half)}},
    {"momentum_scaled_check", "TSTSST mul(0,1) mul(2,3) add(7,6) mul(8,4) sub(5,9) store 8,10", {MW__WIDTHS(momentum_scaled_check), MW__WIDTHS(momentum_scaled_check_half)}},
    {"nesterov_check", "TSTST mul(0,1) add(5,2) mul(6,1) add(2,7) mul(8,3) sub(4,9) store 6,10", {MW__WIDTHS(nesterov_check), MW__WIDTHS(nesterov_check_half)}},
    {"nesterov_scaled_check", "TSTSST mul(0,1) mul(2,3) add(7,6) mul(8,3) add(6,9) mul(10,4) sub(5,11) store 8,12", {MW__WIDTHS(nesterov_scaled_check), MW__WIDTHS(nesterov_scaled_check_half)}},
    {"rmsprop_check", "TTSSSSSST abs(0) maximum(1,9) greater(10,2) select(11,10,3) real_div(1,12) real_div(9,12) square(13) square(14) mul(16,4) mul(15,5) add(18,17) sqrt(19) mul(12,20) add(21,6) real_div(0,22) mul(23,7) sub(8,24) store 21,25", {MW__WIDTHS(rmsprop_check), MW__WIDTHS(rmsprop_check_half)}},
    {"rmsprop_momentum_check", "TTSSSSSTSST abs(0) maximum(1,11) greater(12,2) select(13,12,3) real_div(1,14) real_div(11,14) square(15) square(16) mul(18,4) mul(17,5) add(20,19) sqrt(21) mul(14,22) add(23,6) real_div(0,24) mul(7,8) add(26,25) mul(27,9) sub(10,28) store 23,27,29", {MW__WIDTHS(rmsprop_momentum_check), MW__WIDTHS(rmsprop_momentum_check_half)}},
    {"rmsprop_centered_check", "TTSTSSSSSST sub(0,1) mul(11,2) add(1,12) abs(11) maximum(3,14) greater(15,4) select(16,15,5) real_div(3,17) real_div(14,17) square(18) square(19) mul(21,6) mul(20,7) add(23,22) sqrt(24) mul(17,25) add(26,8) real_div(0,27) mul(28,9) sub(10,29) store 13,26,30", {MW__WIDTHS(rmsprop_centered_check), MW__WIDTHS(rmsprop_centered_check_half)}},
    {"adagrad_check", "TTSSSST abs(0) maximum(1,7) greater(8,2) select(9,8,3) real_div(1,10) real_div(7,10) square(11) square(12) add(13,14) sqrt(15) mul(10,16) add(17,4) real_div(0,18) mul(19,5) sub(6,20) store 17,21", {MW__WIDTHS(adagrad_check), MW__WIDTHS(adagrad_check_half)}},
    {"lion_check", "TSTSSSSTS mul(0,1) mul(2,3) add(9,10) mul(0,4) mul(2,5) add(12,13) sign(11) mul(15,6) mul(7,8) add(16,17) sub(7,18) store 14,19", {MW__WIDTHS(lion_check), MW__WIDTHS(lion_check_half)}},
};

const size_t mw__hot_check_count = sizeof mw__hot_check / sizeof *mw__hot_check;
/* clang-format on */
