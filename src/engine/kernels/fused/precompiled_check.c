/* Precompiled kernels of checked updates, from precompiled.def by tools/precompiled.py. Do not edit.
 * A file that is kept rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is
 * fresh. */
/* clang-format off */
#include "engine/kernels/fused/precompiled.h"

#define adam_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v12) \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_add(v11[n][l], v12[n][l]); } } \
        after(2, EVEN, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(x4[i + n * (lanes) + l], s5); } } after(3, AWAY, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s6); } } \
        after(4, AWAY, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_square(v15[n][l], pq[5][0], pq[5][1]); } } after(5, EVEN, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_add(v14[n][l], v16[n][l]); } } \
        after(6, EVEN, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_sqrt(v17[n][l], pq[7][0], pq[7][1]); } } after(7, EVEN, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_mul(v18[n][l], s7); } } after(8, AWAY, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_add(v19[n][l], s8); } } after(9, EVEN, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = quotient(v13[n][l], v20[n][l]); } } \
        after(10, EVEN, v21) float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_mul(v21[n][l], s9); } } after(11, AWAY, v22) \
        float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_sub(x10[i + n * (lanes) + l], v22[n][l]); } } \
        after(12, EVEN, v23) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v13[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v17[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v23[n][l]; } } \
    }
MW__INLINE void adam_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10]; float *const y0 = out[0];
    float *const y1 = out[1]; float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i]; const float v10 = x10[i];
        const float v11 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v12 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v13 = AFTER(2, EVEN, mw__scalar_add(v11, v12));
        const float v14 = AFTER(3, AWAY, mw__scalar_mul(v4, v5));
        const float v15 = AFTER(4, AWAY, mw__scalar_mul(v2, v6));
        const float v16 = AFTER(5, EVEN, mw__scalar_square(v15, pq[5][0], pq[5][1]));
        const float v17 = AFTER(6, EVEN, mw__scalar_add(v14, v16));
        const float v18 = AFTER(7, EVEN, mw__scalar_sqrt(v17, pq[7][0], pq[7][1]));
        const float v19 = AFTER(8, AWAY, mw__scalar_mul(v18, v7));
        const float v20 = AFTER(9, EVEN, mw__scalar_add(v19, v8));
        const float v21 = AFTER(10, EVEN, QUOTIENT(v13, v20));
        const float v22 = AFTER(11, AWAY, mw__scalar_mul(v21, v9));
        const float v23 = AFTER(12, EVEN, mw__scalar_sub(v10, v22)); y0[i] = v13; y1[i] = v17; y2[i] = v23;
    }
}
FORMS(adam_check)

#define adamw_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; const float *const x11 = value[11]; const float s11 = *x11; \
    float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_add(v12[n][l], v13[n][l]); } } \
        after(2, EVEN, v14) float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_mul(x4[i + n * (lanes) + l], s5); } } after(3, AWAY, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s6); } } \
        after(4, AWAY, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_square(v16[n][l], pq[5][0], pq[5][1]); } } after(5, EVEN, v17) \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_add(v15[n][l], v17[n][l]); } } \
        after(6, EVEN, v18) float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_sqrt(v18[n][l], pq[7][0], pq[7][1]); } } after(7, EVEN, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_mul(v19[n][l], s7); } } after(8, AWAY, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_add(v20[n][l], s8); } } after(9, EVEN, v21) \
        float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = quotient(v14[n][l], v21[n][l]); } } \
        after(10, EVEN, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_mul(v22[n][l], s9); } } after(11, AWAY, v23) \
        float v24[8][lanes]; EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_mul(x10[i + n * (lanes) + l], s11); } } \
        after(12, AWAY, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_add(v23[n][l], v24[n][l]); } } after(13, EVEN, v25) \
        float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_sub(x10[i + n * (lanes) + l], v25[n][l]); } } \
        after(14, EVEN, v26) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v14[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v18[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v26[n][l]; } } \
    }
MW__INLINE void adamw_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10];
    const float v11 = *(const float *)value[11]; float *const y0 = out[0]; float *const y1 = out[1];
    float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i]; const float v10 = x10[i];
        const float v12 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v13 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v14 = AFTER(2, EVEN, mw__scalar_add(v12, v13));
        const float v15 = AFTER(3, AWAY, mw__scalar_mul(v4, v5));
        const float v16 = AFTER(4, AWAY, mw__scalar_mul(v2, v6));
        const float v17 = AFTER(5, EVEN, mw__scalar_square(v16, pq[5][0], pq[5][1]));
        const float v18 = AFTER(6, EVEN, mw__scalar_add(v15, v17));
        const float v19 = AFTER(7, EVEN, mw__scalar_sqrt(v18, pq[7][0], pq[7][1]));
        const float v20 = AFTER(8, AWAY, mw__scalar_mul(v19, v7));
        const float v21 = AFTER(9, EVEN, mw__scalar_add(v20, v8));
        const float v22 = AFTER(10, EVEN, QUOTIENT(v14, v21));
        const float v23 = AFTER(11, AWAY, mw__scalar_mul(v22, v9));
        const float v24 = AFTER(12, AWAY, mw__scalar_mul(v10, v11));
        const float v25 = AFTER(13, EVEN, mw__scalar_add(v23, v24));
        const float v26 = AFTER(14, EVEN, mw__scalar_sub(v10, v25)); y0[i] = v14; y1[i] = v18; y2[i] = v26;
    }
}
FORMS(adamw_check)

#define sgd_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v3[8][lanes]; EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v3) float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_sub(x2[i + n * (lanes) + l], v3[n][l]); } } after(1, EVEN, v4) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v4[n][l]; } } \
    }
MW__INLINE void sgd_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v3 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v4 = AFTER(1, EVEN, mw__scalar_sub(v2, v3)); y0[i] = v4;
    }
}
FORMS(sgd_check)

#define sgd_scaled_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float s2 = *x2; const float *const x3 = value[3]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v4[8][lanes]; EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v4) float v5[8][lanes]; EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_mul(v4[n][l], s2); } } \
        after(1, AWAY, v5) float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_sub(x3[i + n * (lanes) + l], v5[n][l]); } } after(2, EVEN, v6) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v6[n][l]; } } \
    }
MW__INLINE void sgd_scaled_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2]; const float *const x3 = value[3]; float *const y0 = out[0];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v3 = x3[i]; const float v4 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v5 = AFTER(1, AWAY, mw__scalar_mul(v4, v2));
        const float v6 = AFTER(2, EVEN, mw__scalar_sub(v3, v5)); y0[i] = v6;
    }
}
FORMS(sgd_scaled_check)

#define momentum_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v5[8][lanes]; EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v5) float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_add(v5[n][l], x2[i + n * (lanes) + l]); } } after(1, EVEN, v6) \
        float v7[8][lanes]; EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(v6[n][l], s3); } } after(2, AWAY, v7) \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_sub(x4[i + n * (lanes) + l], v7[n][l]); } } \
        after(3, EVEN, v8) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v6[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v8[n][l]; } } \
    }
MW__INLINE void momentum_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i];
        const float v5 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v6 = AFTER(1, EVEN, mw__scalar_add(v5, v2));
        const float v7 = AFTER(2, AWAY, mw__scalar_mul(v6, v3));
        const float v8 = AFTER(3, EVEN, mw__scalar_sub(v4, v7)); y0[i] = v6; y1[i] = v8;
    }
}
FORMS(momentum_check)

#define momentum_scaled_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v6[8][lanes]; EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v6) float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v7) \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_add(v7[n][l], v6[n][l]); } } \
        after(2, EVEN, v8) float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_mul(v8[n][l], s4); } } \
        after(3, AWAY, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_sub(x5[i + n * (lanes) + l], v9[n][l]); } } after(4, EVEN, v10) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v8[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v10[n][l]; } } \
    }
MW__INLINE void momentum_scaled_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; float *const y0 = out[0]; float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v5 = x5[i];
        const float v6 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v7 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v8 = AFTER(2, EVEN, mw__scalar_add(v7, v6));
        const float v9 = AFTER(3, AWAY, mw__scalar_mul(v8, v4));
        const float v10 = AFTER(4, EVEN, mw__scalar_sub(v5, v9)); y0[i] = v8; y1[i] = v10;
    }
}
FORMS(momentum_scaled_check)

#define nesterov_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v5[8][lanes]; EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v5) float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_add(v5[n][l], x2[i + n * (lanes) + l]); } } after(1, EVEN, v6) \
        float v7[8][lanes]; EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(v6[n][l], s1); } } after(2, AWAY, v7) \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_add(x2[i + n * (lanes) + l], v7[n][l]); } } \
        after(3, EVEN, v8) float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_mul(v8[n][l], s3); } } \
        after(4, AWAY, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_sub(x4[i + n * (lanes) + l], v9[n][l]); } } after(5, EVEN, v10) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v6[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v10[n][l]; } } \
    }
MW__INLINE void nesterov_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i];
        const float v5 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v6 = AFTER(1, EVEN, mw__scalar_add(v5, v2));
        const float v7 = AFTER(2, AWAY, mw__scalar_mul(v6, v1));
        const float v8 = AFTER(3, EVEN, mw__scalar_add(v2, v7));
        const float v9 = AFTER(4, AWAY, mw__scalar_mul(v8, v3));
        const float v10 = AFTER(5, EVEN, mw__scalar_sub(v4, v9)); y0[i] = v6; y1[i] = v10;
    }
}
FORMS(nesterov_check)

#define nesterov_scaled_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v6[8][lanes]; EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v6) float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v7) \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_add(v7[n][l], v6[n][l]); } } \
        after(2, EVEN, v8) float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_mul(v8[n][l], s3); } } \
        after(3, AWAY, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_add(v6[n][l], v9[n][l]); } } after(4, EVEN, v10) \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_mul(v10[n][l], s4); } } after(5, AWAY, v11) \
        float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_sub(x5[i + n * (lanes) + l], v11[n][l]); } } after(6, EVEN, v12) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v8[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v12[n][l]; } } \
    }
MW__INLINE void nesterov_scaled_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; float *const y0 = out[0]; float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v5 = x5[i];
        const float v6 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v7 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v8 = AFTER(2, EVEN, mw__scalar_add(v7, v6));
        const float v9 = AFTER(3, AWAY, mw__scalar_mul(v8, v3));
        const float v10 = AFTER(4, EVEN, mw__scalar_add(v6, v9));
        const float v11 = AFTER(5, AWAY, mw__scalar_mul(v10, v4));
        const float v12 = AFTER(6, EVEN, mw__scalar_sub(v5, v11)); y0[i] = v8; y1[i] = v12;
    }
}
FORMS(nesterov_scaled_check)

#define rmsprop_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; const float *const x8 = value[8]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_abs(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EXACT, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_maximum(x1[i + n * (lanes) + l], v9[n][l]); } } \
        after(1, EXACT, v10) uint32_t v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = MASK(v10[n][l] > s2); } } \
        float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = chosen(v11[n][l], v10[n][l], s3); } } \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = quotient(x1[i + n * (lanes) + l], v12[n][l]); } } \
        after(4, EVEN, v13) float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = quotient(v9[n][l], v12[n][l]); } } \
        after(5, EVEN, v14) float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_square(v13[n][l], pq[6][0], pq[6][1]); } } after(6, EVEN, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_square(v14[n][l], pq[7][0], pq[7][1]); } } \
        after(7, EVEN, v16) float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(v16[n][l], s4); } } \
        after(8, AWAY, v17) float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_mul(v15[n][l], s5); } } \
        after(9, AWAY, v18) float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_add(v18[n][l], v17[n][l]); } } after(10, EVEN, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_sqrt(v19[n][l], pq[11][0], pq[11][1]); } } \
        after(11, EVEN, v20) float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_mul(v12[n][l], v20[n][l]); } } after(12, AWAY, v21) \
        float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_add(v21[n][l], s6); } } \
        after(13, EVEN, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = quotient(x0[i + n * (lanes) + l], v22[n][l]); } } after(14, EVEN, v23) \
        float v24[8][lanes]; EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_mul(v23[n][l], s7); } } \
        after(15, AWAY, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_sub(x8[i + n * (lanes) + l], v24[n][l]); } } \
        after(16, EVEN, v25) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v21[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v25[n][l]; } } \
    }
MW__INLINE void rmsprop_check_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float *const x8 = value[8]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v8 = x8[i];
        const float v9 = AFTER(0, EXACT, mw__scalar_abs(v0, pq[0][0], pq[0][1]));
        const float v10 = AFTER(1, EXACT, mw__scalar_maximum(v1, v9)); const uint8_t v11 = v10 > v2;
        const float v12 = v11 != 0 ? v10 : v3; const float v13 = AFTER(4, EVEN, QUOTIENT(v1, v12));
        const float v14 = AFTER(5, EVEN, QUOTIENT(v9, v12));
        const float v15 = AFTER(6, EVEN, mw__scalar_square(v13, pq[6][0], pq[6][1]));
        const float v16 = AFTER(7, EVEN, mw__scalar_square(v14, pq[7][0], pq[7][1]));
        const float v17 = AFTER(8, AWAY, mw__scalar_mul(v16, v4));
        const float v18 = AFTER(9, AWAY, mw__scalar_mul(v15, v5));
        const float v19 = AFTER(10, EVEN, mw__scalar_add(v18, v17));
        const float v20 = AFTER(11, EVEN, mw__scalar_sqrt(v19, pq[11][0], pq[11][1]));
        const float v21 = AFTER(12, AWAY, mw__scalar_mul(v12, v20));
        const float v22 = AFTER(13, EVEN, mw__scalar_add(v21, v6));
        const float v23 = AFTER(14, EVEN, QUOTIENT(v0, v22));
        const float v24 = AFTER(15, AWAY, mw__scalar_mul(v23, v7));
        const float v25 = AFTER(16, EVEN, mw__scalar_sub(v8, v24)); y0[i] = v21; y1[i] = v25;
    }
}
FORMS(rmsprop_check)

#define rmsprop_momentum_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    const float s6 = *x6; const float *const x7 = value[7]; const float *const x8 = value[8]; const float s8 = *x8; \
    const float *const x9 = value[9]; const float s9 = *x9; const float *const x10 = value[10]; \
    float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_abs(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EXACT, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_maximum(x1[i + n * (lanes) + l], v11[n][l]); } } \
        after(1, EXACT, v12) uint32_t v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = MASK(v12[n][l] > s2); } } \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = chosen(v13[n][l], v12[n][l], s3); } } \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = quotient(x1[i + n * (lanes) + l], v14[n][l]); } } \
        after(4, EVEN, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = quotient(v11[n][l], v14[n][l]); } } after(5, EVEN, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_square(v15[n][l], pq[6][0], pq[6][1]); } } \
        after(6, EVEN, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_square(v16[n][l], pq[7][0], pq[7][1]); } } after(7, EVEN, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_mul(v18[n][l], s4); } } after(8, AWAY, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_mul(v17[n][l], s5); } } after(9, AWAY, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_add(v20[n][l], v19[n][l]); } } \
        after(10, EVEN, v21) float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_sqrt(v21[n][l], pq[11][0], pq[11][1]); } } after(11, EVEN, v22) \
        float v23[8][lanes]; EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_mul(v14[n][l], v22[n][l]); } } \
        after(12, AWAY, v23) float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_add(v23[n][l], s6); } } after(13, EVEN, v24) \
        float v25[8][lanes]; EIGHT { EACH(lanes) { v25[n][l] = quotient(x0[i + n * (lanes) + l], v24[n][l]); } } \
        after(14, EVEN, v25) float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_mul(x7[i + n * (lanes) + l], s8); } } after(15, AWAY, v26) \
        float v27[8][lanes]; EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_add(v26[n][l], v25[n][l]); } } \
        after(16, EVEN, v27) float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = mw__scalar_mul(v27[n][l], s9); } } after(17, AWAY, v28) \
        float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = mw__scalar_sub(x10[i + n * (lanes) + l], v28[n][l]); } } \
        after(18, EVEN, v29) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v23[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v27[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v29[n][l]; } } \
    }
MW__INLINE void rmsprop_momentum_check_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float *const x7 = value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10]; float *const y0 = out[0];
    float *const y1 = out[1]; float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v7 = x7[i]; const float v10 = x10[i];
        const float v11 = AFTER(0, EXACT, mw__scalar_abs(v0, pq[0][0], pq[0][1]));
        const float v12 = AFTER(1, EXACT, mw__scalar_maximum(v1, v11)); const uint8_t v13 = v12 > v2;
        const float v14 = v13 != 0 ? v12 : v3; const float v15 = AFTER(4, EVEN, QUOTIENT(v1, v14));
        const float v16 = AFTER(5, EVEN, QUOTIENT(v11, v14));
        const float v17 = AFTER(6, EVEN, mw__scalar_square(v15, pq[6][0], pq[6][1]));
        const float v18 = AFTER(7, EVEN, mw__scalar_square(v16, pq[7][0], pq[7][1]));
        const float v19 = AFTER(8, AWAY, mw__scalar_mul(v18, v4));
        const float v20 = AFTER(9, AWAY, mw__scalar_mul(v17, v5));
        const float v21 = AFTER(10, EVEN, mw__scalar_add(v20, v19));
        const float v22 = AFTER(11, EVEN, mw__scalar_sqrt(v21, pq[11][0], pq[11][1]));
        const float v23 = AFTER(12, AWAY, mw__scalar_mul(v14, v22));
        const float v24 = AFTER(13, EVEN, mw__scalar_add(v23, v6));
        const float v25 = AFTER(14, EVEN, QUOTIENT(v0, v24));
        const float v26 = AFTER(15, AWAY, mw__scalar_mul(v7, v8));
        const float v27 = AFTER(16, EVEN, mw__scalar_add(v26, v25));
        const float v28 = AFTER(17, AWAY, mw__scalar_mul(v27, v9));
        const float v29 = AFTER(18, EVEN, mw__scalar_sub(v10, v28)); y0[i] = v23; y1[i] = v27; y2[i] = v29;
    }
}
FORMS(rmsprop_momentum_check)

#define rmsprop_centered_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float *const x4 = value[4]; const float s4 = *x4; \
    const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; const float s6 = *x6; \
    const float *const x7 = value[7]; const float s7 = *x7; const float *const x8 = value[8]; const float s8 = *x8; \
    const float *const x9 = value[9]; const float s9 = *x9; const float *const x10 = value[10]; \
    float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v11) float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_mul(v11[n][l], s2); } } \
        after(1, AWAY, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_add(x1[i + n * (lanes) + l], v12[n][l]); } } after(2, EVEN, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_abs(v11[n][l], pq[3][0], pq[3][1]); } } \
        after(3, EXACT, v14) float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_maximum(x3[i + n * (lanes) + l], v14[n][l]); } } \
        after(4, EXACT, v15) uint32_t v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = MASK(v15[n][l] > s4); } } \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = chosen(v16[n][l], v15[n][l], s5); } } \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = quotient(x3[i + n * (lanes) + l], v17[n][l]); } } \
        after(7, EVEN, v18) float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = quotient(v14[n][l], v17[n][l]); } } after(8, EVEN, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_square(v18[n][l], pq[9][0], pq[9][1]); } } \
        after(9, EVEN, v20) float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_square(v19[n][l], pq[10][0], pq[10][1]); } } \
        after(10, EVEN, v21) float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_mul(v21[n][l], s6); } } after(11, AWAY, v22) \
        float v23[8][lanes]; EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_mul(v20[n][l], s7); } } \
        after(12, AWAY, v23) float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_add(v23[n][l], v22[n][l]); } } after(13, EVEN, v24) \
        float v25[8][lanes]; EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_sqrt(v24[n][l], pq[14][0], pq[14][1]); } } \
        after(14, EVEN, v25) float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_mul(v17[n][l], v25[n][l]); } } after(15, AWAY, v26) \
        float v27[8][lanes]; EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_add(v26[n][l], s8); } } \
        after(16, EVEN, v27) float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = quotient(x0[i + n * (lanes) + l], v27[n][l]); } } after(17, EVEN, v28) \
        float v29[8][lanes]; EIGHT { EACH(lanes) { v29[n][l] = mw__scalar_mul(v28[n][l], s9); } } \
        after(18, AWAY, v29) float v30[8][lanes]; \
        EIGHT { EACH(lanes) { v30[n][l] = mw__scalar_sub(x10[i + n * (lanes) + l], v29[n][l]); } } \
        after(19, EVEN, v30) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v13[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v26[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v30[n][l]; } } \
    }
MW__INLINE void rmsprop_centered_check_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float *const x3 = value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10]; float *const y0 = out[0];
    float *const y1 = out[1]; float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v3 = x3[i]; const float v10 = x10[i];
        const float v11 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v12 = AFTER(1, AWAY, mw__scalar_mul(v11, v2));
        const float v13 = AFTER(2, EVEN, mw__scalar_add(v1, v12));
        const float v14 = AFTER(3, EXACT, mw__scalar_abs(v11, pq[3][0], pq[3][1]));
        const float v15 = AFTER(4, EXACT, mw__scalar_maximum(v3, v14)); const uint8_t v16 = v15 > v4;
        const float v17 = v16 != 0 ? v15 : v5; const float v18 = AFTER(7, EVEN, QUOTIENT(v3, v17));
        const float v19 = AFTER(8, EVEN, QUOTIENT(v14, v17));
        const float v20 = AFTER(9, EVEN, mw__scalar_square(v18, pq[9][0], pq[9][1]));
        const float v21 = AFTER(10, EVEN, mw__scalar_square(v19, pq[10][0], pq[10][1]));
        const float v22 = AFTER(11, AWAY, mw__scalar_mul(v21, v6));
        const float v23 = AFTER(12, AWAY, mw__scalar_mul(v20, v7));
        const float v24 = AFTER(13, EVEN, mw__scalar_add(v23, v22));
        const float v25 = AFTER(14, EVEN, mw__scalar_sqrt(v24, pq[14][0], pq[14][1]));
        const float v26 = AFTER(15, AWAY, mw__scalar_mul(v17, v25));
        const float v27 = AFTER(16, EVEN, mw__scalar_add(v26, v8));
        const float v28 = AFTER(17, EVEN, QUOTIENT(v0, v27));
        const float v29 = AFTER(18, AWAY, mw__scalar_mul(v28, v9));
        const float v30 = AFTER(19, EVEN, mw__scalar_sub(v10, v29)); y0[i] = v13; y1[i] = v26; y2[i] = v30;
    }
}
FORMS(rmsprop_centered_check)

#define adagrad_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_abs(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EXACT, v7) float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_maximum(x1[i + n * (lanes) + l], v7[n][l]); } } \
        after(1, EXACT, v8) uint32_t v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = MASK(v8[n][l] > s2); } } \
        float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = chosen(v9[n][l], v8[n][l], s3); } } \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = quotient(x1[i + n * (lanes) + l], v10[n][l]); } } \
        after(4, EVEN, v11) float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = quotient(v7[n][l], v10[n][l]); } } \
        after(5, EVEN, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_square(v11[n][l], pq[6][0], pq[6][1]); } } after(6, EVEN, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_square(v12[n][l], pq[7][0], pq[7][1]); } } \
        after(7, EVEN, v14) float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_add(v13[n][l], v14[n][l]); } } after(8, EVEN, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_sqrt(v15[n][l], pq[9][0], pq[9][1]); } } \
        after(9, EVEN, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(v10[n][l], v16[n][l]); } } after(10, AWAY, v17) \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_add(v17[n][l], s4); } } \
        after(11, EVEN, v18) float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = quotient(x0[i + n * (lanes) + l], v18[n][l]); } } after(12, EVEN, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_mul(v19[n][l], s5); } } \
        after(13, AWAY, v20) float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_sub(x6[i + n * (lanes) + l], v20[n][l]); } } \
        after(14, EVEN, v21) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v17[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v21[n][l]; } } \
    }
MW__INLINE void adagrad_check_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float *const x6 = value[6]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v6 = x6[i];
        const float v7 = AFTER(0, EXACT, mw__scalar_abs(v0, pq[0][0], pq[0][1]));
        const float v8 = AFTER(1, EXACT, mw__scalar_maximum(v1, v7)); const uint8_t v9 = v8 > v2;
        const float v10 = v9 != 0 ? v8 : v3; const float v11 = AFTER(4, EVEN, QUOTIENT(v1, v10));
        const float v12 = AFTER(5, EVEN, QUOTIENT(v7, v10));
        const float v13 = AFTER(6, EVEN, mw__scalar_square(v11, pq[6][0], pq[6][1]));
        const float v14 = AFTER(7, EVEN, mw__scalar_square(v12, pq[7][0], pq[7][1]));
        const float v15 = AFTER(8, EVEN, mw__scalar_add(v13, v14));
        const float v16 = AFTER(9, EVEN, mw__scalar_sqrt(v15, pq[9][0], pq[9][1]));
        const float v17 = AFTER(10, AWAY, mw__scalar_mul(v10, v16));
        const float v18 = AFTER(11, EVEN, mw__scalar_add(v17, v4));
        const float v19 = AFTER(12, EVEN, QUOTIENT(v0, v18));
        const float v20 = AFTER(13, AWAY, mw__scalar_mul(v19, v5));
        const float v21 = AFTER(14, EVEN, mw__scalar_sub(v6, v20)); y0[i] = v17; y1[i] = v21;
    }
}
FORMS(adagrad_check)

#define lion_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; \
    const float *const x8 = value[8]; const float s8 = *x8; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v10) \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_add(v9[n][l], v10[n][l]); } } \
        after(2, EVEN, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s4); } } after(3, AWAY, v12) \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s5); } } \
        after(4, AWAY, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_add(v12[n][l], v13[n][l]); } } after(5, EVEN, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_sign(v11[n][l], pq[6][0], pq[6][1]); } } \
        after(6, EXACT, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_mul(v15[n][l], s6); } } after(7, AWAY, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(x7[i + n * (lanes) + l], s8); } } after(8, AWAY, v17) \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_add(v16[n][l], v17[n][l]); } } \
        after(9, EVEN, v18) float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_sub(x7[i + n * (lanes) + l], v18[n][l]); } } \
        after(10, EVEN, v19) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v14[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v19[n][l]; } } \
    }
MW__INLINE void lion_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float *const x7 = value[7]; const float v8 = *(const float *)value[8]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v7 = x7[i];
        const float v9 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v10 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v11 = AFTER(2, EVEN, mw__scalar_add(v9, v10));
        const float v12 = AFTER(3, AWAY, mw__scalar_mul(v0, v4));
        const float v13 = AFTER(4, AWAY, mw__scalar_mul(v2, v5));
        const float v14 = AFTER(5, EVEN, mw__scalar_add(v12, v13));
        const float v15 = AFTER(6, EXACT, mw__scalar_sign(v11, pq[6][0], pq[6][1]));
        const float v16 = AFTER(7, AWAY, mw__scalar_mul(v15, v6));
        const float v17 = AFTER(8, AWAY, mw__scalar_mul(v7, v8));
        const float v18 = AFTER(9, EVEN, mw__scalar_add(v16, v17));
        const float v19 = AFTER(10, EVEN, mw__scalar_sub(v7, v18)); y0[i] = v14; y1[i] = v19;
    }
}
FORMS(lion_check)

const mw__precompiled mw__precompiled_check[] = {
    {"adam_check", "TSTSTSSSSST mul(0,1) mul(2,3) add(11,12) mul(4,5) mul(2,6) square(15) add(14,16) sqrt(17) mul(18,7) add(19,8) real_div(13,20) mul(21,9) sub(10,22) store 13,17,23", {MW__BASE_AVX2_AVX512_LIST(adam_check), MW__BASE_AVX2_AVX512_LIST(adam_check_half), MW__BASE_AVX2_AVX512_LIST(adam_check_chip)}},
    {"adamw_check", "TSTSTSSSSSTS mul(0,1) mul(2,3) add(12,13) mul(4,5) mul(2,6) square(16) add(15,17) sqrt(18) mul(19,7) add(20,8) real_div(14,21) mul(22,9) mul(10,11) add(23,24) sub(10,25) store 14,18,26", {MW__BASE_AVX2_AVX512_LIST(adamw_check), MW__BASE_AVX2_AVX512_LIST(adamw_check_half), MW__BASE_AVX2_AVX512_LIST(adamw_check_chip)}},
    {"sgd_check", "TST mul(0,1) sub(2,3) store 4", {MW__BASE_AVX2_AVX512_LIST(sgd_check), MW__BASE_AVX2_AVX512_LIST(sgd_check_half), MW__BASE_AVX2_AVX512_LIST(sgd_check_chip)}},
    {"sgd_scaled_check", "TSST mul(0,1) mul(4,2) sub(3,5) store 6", {MW__BASE_AVX2_AVX512_LIST(sgd_scaled_check), MW__BASE_AVX2_AVX512_LIST(sgd_scaled_check_half), MW__BASE_AVX2_AVX512_LIST(sgd_scaled_check_chip)}},
    {"momentum_check", "TSTST mul(0,1) add(5,2) mul(6,3) sub(4,7) store 6,8", {MW__BASE_AVX2_AVX512_LIST(momentum_check), MW__BASE_AVX2_AVX512_LIST(momentum_check_half), MW__BASE_AVX2_AVX512_LIST(momentum_check_chip)}},
    {"momentum_scaled_check", "TSTSST mul(0,1) mul(2,3) add(7,6) mul(8,4) sub(5,9) store 8,10", {MW__BASE_AVX2_AVX512_LIST(momentum_scaled_check), MW__BASE_AVX2_AVX512_LIST(momentum_scaled_check_half), MW__BASE_AVX2_AVX512_LIST(momentum_scaled_check_chip)}},
    {"nesterov_check", "TSTST mul(0,1) add(5,2) mul(6,1) add(2,7) mul(8,3) sub(4,9) store 6,10", {MW__BASE_AVX2_AVX512_LIST(nesterov_check), MW__BASE_AVX2_AVX512_LIST(nesterov_check_half), MW__BASE_AVX2_AVX512_LIST(nesterov_check_chip)}},
    {"nesterov_scaled_check", "TSTSST mul(0,1) mul(2,3) add(7,6) mul(8,3) add(6,9) mul(10,4) sub(5,11) store 8,12", {MW__BASE_AVX2_AVX512_LIST(nesterov_scaled_check), MW__BASE_AVX2_AVX512_LIST(nesterov_scaled_check_half), MW__BASE_AVX2_AVX512_LIST(nesterov_scaled_check_chip)}},
    {"rmsprop_check", "TTSSSSSST abs(0) maximum(1,9) greater(10,2) select(11,10,3) real_div(1,12) real_div(9,12) square(13) square(14) mul(16,4) mul(15,5) add(18,17) sqrt(19) mul(12,20) add(21,6) real_div(0,22) mul(23,7) sub(8,24) store 21,25", {MW__BASE_AVX2_AVX512_LIST(rmsprop_check), MW__BASE_AVX2_AVX512_LIST(rmsprop_check_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_check_chip)}},
    {"rmsprop_momentum_check", "TTSSSSSTSST abs(0) maximum(1,11) greater(12,2) select(13,12,3) real_div(1,14) real_div(11,14) square(15) square(16) mul(18,4) mul(17,5) add(20,19) sqrt(21) mul(14,22) add(23,6) real_div(0,24) mul(7,8) add(26,25) mul(27,9) sub(10,28) store 23,27,29", {MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_check), MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_check_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_check_chip)}},
    {"rmsprop_centered_check", "TTSTSSSSSST sub(0,1) mul(11,2) add(1,12) abs(11) maximum(3,14) greater(15,4) select(16,15,5) real_div(3,17) real_div(14,17) square(18) square(19) mul(21,6) mul(20,7) add(23,22) sqrt(24) mul(17,25) add(26,8) real_div(0,27) mul(28,9) sub(10,29) store 13,26,30", {MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_check), MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_check_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_check_chip)}},
    {"adagrad_check", "TTSSSST abs(0) maximum(1,7) greater(8,2) select(9,8,3) real_div(1,10) real_div(7,10) square(11) square(12) add(13,14) sqrt(15) mul(10,16) add(17,4) real_div(0,18) mul(19,5) sub(6,20) store 17,21", {MW__BASE_AVX2_AVX512_LIST(adagrad_check), MW__BASE_AVX2_AVX512_LIST(adagrad_check_half), MW__BASE_AVX2_AVX512_LIST(adagrad_check_chip)}},
    {"lion_check", "TSTSSSSTS mul(0,1) mul(2,3) add(9,10) mul(0,4) mul(2,5) add(12,13) sign(11) mul(15,6) mul(7,8) add(16,17) sub(7,18) store 14,19", {MW__BASE_AVX2_AVX512_LIST(lion_check), MW__BASE_AVX2_AVX512_LIST(lion_check_half), MW__BASE_AVX2_AVX512_LIST(lion_check_chip)}},
};

const size_t mw__precompiled_check_count = sizeof mw__precompiled_check / sizeof *mw__precompiled_check;
/* clang-format on */
