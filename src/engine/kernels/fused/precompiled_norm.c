/* Precompiled kernels of normalisation and its gradients, from precompiled.def by tools/precompiled.py. Do not edit.
 * A file that is kept rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is
 * fresh. */
/* clang-format off */
#include "engine/kernels/fused/precompiled.h"

#define batch_norm_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v5[8][lanes]; \
        EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v5) float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(v5[n][l], x2[i + n * (lanes) + l]); } } after(1, AWAY, v6) \
        float v7[8][lanes]; EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(v6[n][l], x3[i + n * (lanes) + l]); } } \
        after(2, AWAY, v7) float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_add(v7[n][l], x4[i + n * (lanes) + l]); } } after(3, EVEN, v8) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v8[n][l]; } } \
    }
MW__INLINE void batch_norm_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float *const x4 = value[4]; float *const y0 = out[0];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = x4[i]; const float v5 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v6 = AFTER(1, AWAY, mw__scalar_mul(v5, v2));
        const float v7 = AFTER(2, AWAY, mw__scalar_mul(v6, v3));
        const float v8 = AFTER(3, EVEN, mw__scalar_add(v7, v4)); y0[i] = v8;
    }
}
FORMS(batch_norm)

#define batch_norm_relu_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v5[8][lanes]; \
        EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v5) float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(v5[n][l], x2[i + n * (lanes) + l]); } } after(1, AWAY, v6) \
        float v7[8][lanes]; EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(v6[n][l], x3[i + n * (lanes) + l]); } } \
        after(2, AWAY, v7) float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_add(v7[n][l], x4[i + n * (lanes) + l]); } } after(3, EVEN, v8) \
        float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_relu(v8[n][l], pq[4][0], pq[4][1]); } } \
        after(4, EXACT, v9) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v9[n][l]; } } \
    }
MW__INLINE void batch_norm_relu_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float *const x4 = value[4]; float *const y0 = out[0];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = x4[i]; const float v5 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v6 = AFTER(1, AWAY, mw__scalar_mul(v5, v2));
        const float v7 = AFTER(2, AWAY, mw__scalar_mul(v6, v3));
        const float v8 = AFTER(3, EVEN, mw__scalar_add(v7, v4));
        const float v9 = AFTER(4, EXACT, mw__scalar_relu(v8, pq[4][0], pq[4][1])); y0[i] = v9;
    }
}
FORMS(batch_norm_relu)

#define batch_norm_relu6_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v5[8][lanes]; \
        EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v5) float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(v5[n][l], x2[i + n * (lanes) + l]); } } after(1, AWAY, v6) \
        float v7[8][lanes]; EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(v6[n][l], x3[i + n * (lanes) + l]); } } \
        after(2, AWAY, v7) float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_add(v7[n][l], x4[i + n * (lanes) + l]); } } after(3, EVEN, v8) \
        float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_relu6(v8[n][l], pq[4][0], pq[4][1]); } } \
        after(4, EVEN, v9) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v9[n][l]; } } \
    }
MW__INLINE void batch_norm_relu6_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float *const x4 = value[4]; float *const y0 = out[0];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = x4[i]; const float v5 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v6 = AFTER(1, AWAY, mw__scalar_mul(v5, v2));
        const float v7 = AFTER(2, AWAY, mw__scalar_mul(v6, v3));
        const float v8 = AFTER(3, EVEN, mw__scalar_add(v7, v4));
        const float v9 = AFTER(4, EVEN, mw__scalar_relu6(v8, pq[4][0], pq[4][1])); y0[i] = v9;
    }
}
FORMS(batch_norm_relu6)

#define batch_norm_residual_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float *const x5 = value[5]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v6) float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(v6[n][l], x2[i + n * (lanes) + l]); } } after(1, AWAY, v7) \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(v7[n][l], x3[i + n * (lanes) + l]); } } \
        after(2, AWAY, v8) float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_add(v8[n][l], x4[i + n * (lanes) + l]); } } after(3, EVEN, v9) \
        float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_add(v9[n][l], x5[i + n * (lanes) + l]); } } \
        after(4, EVEN, v10) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v10[n][l]; } } \
    }
MW__INLINE void batch_norm_residual_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float *const x5 = value[5];
    float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = x4[i]; const float v5 = x5[i]; const float v6 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v7 = AFTER(1, AWAY, mw__scalar_mul(v6, v2));
        const float v8 = AFTER(2, AWAY, mw__scalar_mul(v7, v3));
        const float v9 = AFTER(3, EVEN, mw__scalar_add(v8, v4));
        const float v10 = AFTER(4, EVEN, mw__scalar_add(v9, v5)); y0[i] = v10;
    }
}
FORMS(batch_norm_residual)

#define batch_norm_residual_relu_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float *const x5 = value[5]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v6) float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(v6[n][l], x2[i + n * (lanes) + l]); } } after(1, AWAY, v7) \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(v7[n][l], x3[i + n * (lanes) + l]); } } \
        after(2, AWAY, v8) float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_add(v8[n][l], x4[i + n * (lanes) + l]); } } after(3, EVEN, v9) \
        float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_add(v9[n][l], x5[i + n * (lanes) + l]); } } \
        after(4, EVEN, v10) float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_relu(v10[n][l], pq[5][0], pq[5][1]); } } after(5, EXACT, v11) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v11[n][l]; } } \
    }
MW__INLINE void batch_norm_residual_relu_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float *const x5 = value[5];
    float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = x4[i]; const float v5 = x5[i]; const float v6 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v7 = AFTER(1, AWAY, mw__scalar_mul(v6, v2));
        const float v8 = AFTER(2, AWAY, mw__scalar_mul(v7, v3));
        const float v9 = AFTER(3, EVEN, mw__scalar_add(v8, v4));
        const float v10 = AFTER(4, EVEN, mw__scalar_add(v9, v5));
        const float v11 = AFTER(5, EXACT, mw__scalar_relu(v10, pq[5][0], pq[5][1])); y0[i] = v11;
    }
}
FORMS(batch_norm_residual_relu)

#define batch_norm_terms_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v4) float v5[8][lanes]; \
        EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_mul(v4[n][l], x2[i + n * (lanes) + l]); } } after(1, AWAY, v5) \
        float v6[8][lanes]; EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(x3[i + n * (lanes) + l], v5[n][l]); } } \
        after(2, AWAY, v6) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v6[n][l]; } } \
    }
MW__INLINE void batch_norm_terms_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v5 = AFTER(1, AWAY, mw__scalar_mul(v4, v2));
        const float v6 = AFTER(2, AWAY, mw__scalar_mul(v3, v5)); y0[i] = v6;
    }
}
FORMS(batch_norm_terms)

#define batch_norm_terms_relu_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float *const x5 = value[5]; const float *const x6 = value[6]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        uint32_t v7[8][lanes]; EIGHT { EACH(lanes) { v7[n][l] = MASK(x0[i + n * (lanes) + l] > s1); } } \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = chosen(v7[n][l], x2[i + n * (lanes) + l], s3); } } \
        float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_sub(x4[i + n * (lanes) + l], x5[i + n * (lanes) + l]); } } \
        after(2, EVEN, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(v9[n][l], x6[i + n * (lanes) + l]); } } after(3, AWAY, v10) \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_mul(v8[n][l], v10[n][l]); } } \
        after(4, AWAY, v11) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v8[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v11[n][l]; } } \
    }
MW__INLINE void batch_norm_terms_relu_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4]; const float *const x5 = value[5];
    const float *const x6 = value[6]; float *const y0 = out[0]; float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i]; const float v5 = x5[i];
        const float v6 = x6[i]; const uint8_t v7 = v0 > v1; const float v8 = v7 != 0 ? v2 : v3;
        const float v9 = AFTER(2, EVEN, mw__scalar_sub(v4, v5));
        const float v10 = AFTER(3, AWAY, mw__scalar_mul(v9, v6));
        const float v11 = AFTER(4, AWAY, mw__scalar_mul(v8, v10)); y0[i] = v8; y1[i] = v11;
    }
}
FORMS(batch_norm_terms_relu)

#define batch_norm_terms_relu6_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float s2 = *x2; const float *const x3 = value[3]; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float *const x7 = value[7]; const float *const x8 = value[8]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        uint32_t v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = MASK(x0[i + n * (lanes) + l] > s1); } } \
        uint32_t v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = MASK(x0[i + n * (lanes) + l] < s2); } } \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = chosen(v10[n][l], x3[i + n * (lanes) + l], s4); } } \
        float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = chosen(v9[n][l], v11[n][l], s5); } } \
        float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_sub(x6[i + n * (lanes) + l], x7[i + n * (lanes) + l]); } } \
        after(4, EVEN, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(v13[n][l], x8[i + n * (lanes) + l]); } } after(5, AWAY, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_mul(v12[n][l], v14[n][l]); } } \
        after(6, AWAY, v15) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v12[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v15[n][l]; } } \
    }
MW__INLINE void batch_norm_terms_relu6_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2]; const float *const x3 = value[3];
    const float v4 = *(const float *)value[4]; const float v5 = *(const float *)value[5];
    const float *const x6 = value[6]; const float *const x7 = value[7]; const float *const x8 = value[8];
    float *const y0 = out[0]; float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v3 = x3[i]; const float v6 = x6[i]; const float v7 = x7[i];
        const float v8 = x8[i]; const uint8_t v9 = v0 > v1; const uint8_t v10 = v0 < v2;
        const float v11 = v10 != 0 ? v3 : v4; const float v12 = v9 != 0 ? v11 : v5;
        const float v13 = AFTER(4, EVEN, mw__scalar_sub(v6, v7));
        const float v14 = AFTER(5, AWAY, mw__scalar_mul(v13, v8));
        const float v15 = AFTER(6, AWAY, mw__scalar_mul(v12, v14)); y0[i] = v12; y1[i] = v15;
    }
}
FORMS(batch_norm_terms_relu6)

#define batch_norm_dx_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float *const x5 = value[5]; \
    const float *const x6 = value[6]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v7) float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(v7[n][l], x2[i + n * (lanes) + l]); } } after(1, AWAY, v8) \
        float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_sub(x3[i + n * (lanes) + l], x4[i + n * (lanes) + l]); } } \
        after(2, EVEN, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(v8[n][l], x5[i + n * (lanes) + l]); } } after(3, AWAY, v10) \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_sub(v9[n][l], v10[n][l]); } } \
        after(4, EVEN, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_mul(v11[n][l], x6[i + n * (lanes) + l]); } } after(5, AWAY, v12) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v12[n][l]; } } \
    }
MW__INLINE void batch_norm_dx_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float *const x5 = value[5];
    const float *const x6 = value[6]; float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = x4[i]; const float v5 = x5[i]; const float v6 = x6[i];
        const float v7 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v8 = AFTER(1, AWAY, mw__scalar_mul(v7, v2));
        const float v9 = AFTER(2, EVEN, mw__scalar_sub(v3, v4));
        const float v10 = AFTER(3, AWAY, mw__scalar_mul(v8, v5));
        const float v11 = AFTER(4, EVEN, mw__scalar_sub(v9, v10));
        const float v12 = AFTER(5, AWAY, mw__scalar_mul(v11, v6)); y0[i] = v12;
    }
}
FORMS(batch_norm_dx)

#define batch_norm_dx_relu_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float s4 = *x4; \
    const float *const x5 = value[5]; const float *const x6 = value[6]; const float s6 = *x6; \
    const float *const x7 = value[7]; const float *const x8 = value[8]; const float *const x9 = value[9]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v10) float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_mul(v10[n][l], x2[i + n * (lanes) + l]); } } after(1, AWAY, v11) \
        uint32_t v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = MASK(x3[i + n * (lanes) + l] > s4); } } \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = chosen(v12[n][l], x5[i + n * (lanes) + l], s6); } } \
        float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_sub(v13[n][l], x7[i + n * (lanes) + l]); } } after(4, EVEN, v14) \
        float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_mul(v11[n][l], x8[i + n * (lanes) + l]); } } after(5, AWAY, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_sub(v14[n][l], v15[n][l]); } } \
        after(6, EVEN, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(v16[n][l], x9[i + n * (lanes) + l]); } } after(7, AWAY, v17) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v17[n][l]; } } \
    }
MW__INLINE void batch_norm_dx_relu_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float v4 = *(const float *)value[4]; const float *const x5 = value[5];
    const float v6 = *(const float *)value[6]; const float *const x7 = value[7]; const float *const x8 = value[8];
    const float *const x9 = value[9]; float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v5 = x5[i]; const float v7 = x7[i]; const float v8 = x8[i]; const float v9 = x9[i];
        const float v10 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v11 = AFTER(1, AWAY, mw__scalar_mul(v10, v2)); const uint8_t v12 = v3 > v4;
        const float v13 = v12 != 0 ? v5 : v6; const float v14 = AFTER(4, EVEN, mw__scalar_sub(v13, v7));
        const float v15 = AFTER(5, AWAY, mw__scalar_mul(v11, v8));
        const float v16 = AFTER(6, EVEN, mw__scalar_sub(v14, v15));
        const float v17 = AFTER(7, AWAY, mw__scalar_mul(v16, v9)); y0[i] = v17;
    }
}
FORMS(batch_norm_dx_relu)

#define batch_norm_dx_relu6_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float s4 = *x4; \
    const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    const float *const x7 = value[7]; const float s7 = *x7; const float *const x8 = value[8]; const float s8 = *x8; \
    const float *const x9 = value[9]; const float *const x10 = value[10]; const float *const x11 = value[11]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(v12[n][l], x2[i + n * (lanes) + l]); } } after(1, AWAY, v13) \
        uint32_t v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = MASK(x3[i + n * (lanes) + l] > s4); } } \
        uint32_t v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = MASK(x3[i + n * (lanes) + l] < s5); } } \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = chosen(v15[n][l], x6[i + n * (lanes) + l], s7); } } \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = chosen(v14[n][l], v16[n][l], s8); } } \
        float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_sub(v17[n][l], x9[i + n * (lanes) + l]); } } after(6, EVEN, v18) \
        float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_mul(v13[n][l], x10[i + n * (lanes) + l]); } } \
        after(7, AWAY, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_sub(v18[n][l], v19[n][l]); } } after(8, EVEN, v20) \
        float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_mul(v20[n][l], x11[i + n * (lanes) + l]); } } \
        after(9, AWAY, v21) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v21[n][l]; } } \
    }
MW__INLINE void batch_norm_dx_relu6_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float *const x6 = value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float *const x9 = value[9]; const float *const x10 = value[10]; const float *const x11 = value[11];
    float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v6 = x6[i]; const float v9 = x9[i]; const float v10 = x10[i]; const float v11 = x11[i];
        const float v12 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v13 = AFTER(1, AWAY, mw__scalar_mul(v12, v2)); const uint8_t v14 = v3 > v4;
        const uint8_t v15 = v3 < v5; const float v16 = v15 != 0 ? v6 : v7; const float v17 = v14 != 0 ? v16 : v8;
        const float v18 = AFTER(6, EVEN, mw__scalar_sub(v17, v9));
        const float v19 = AFTER(7, AWAY, mw__scalar_mul(v13, v10));
        const float v20 = AFTER(8, EVEN, mw__scalar_sub(v18, v19));
        const float v21 = AFTER(9, AWAY, mw__scalar_mul(v20, v11)); y0[i] = v21;
    }
}
FORMS(batch_norm_dx_relu6)

#define batch_norm_dx_relu_again_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float *const x5 = value[5]; const float *const x6 = value[6]; \
    const float *const x7 = value[7]; const float *const x8 = value[8]; const float *const x9 = value[9]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        uint32_t v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = MASK(x0[i + n * (lanes) + l] > s1); } } \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = chosen(v10[n][l], x2[i + n * (lanes) + l], s3); } } \
        float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_sub(x4[i + n * (lanes) + l], x5[i + n * (lanes) + l]); } } \
        after(2, EVEN, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(v12[n][l], x6[i + n * (lanes) + l]); } } after(3, AWAY, v13) \
        float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_sub(v11[n][l], x7[i + n * (lanes) + l]); } } after(4, EVEN, v14) \
        float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_mul(v13[n][l], x8[i + n * (lanes) + l]); } } after(5, AWAY, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_sub(v14[n][l], v15[n][l]); } } \
        after(6, EVEN, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(v16[n][l], x9[i + n * (lanes) + l]); } } after(7, AWAY, v17) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v17[n][l]; } } \
    }
MW__INLINE void batch_norm_dx_relu_again_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4]; const float *const x5 = value[5];
    const float *const x6 = value[6]; const float *const x7 = value[7]; const float *const x8 = value[8];
    const float *const x9 = value[9]; float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i]; const float v5 = x5[i];
        const float v6 = x6[i]; const float v7 = x7[i]; const float v8 = x8[i]; const float v9 = x9[i];
        const uint8_t v10 = v0 > v1; const float v11 = v10 != 0 ? v2 : v3;
        const float v12 = AFTER(2, EVEN, mw__scalar_sub(v4, v5));
        const float v13 = AFTER(3, AWAY, mw__scalar_mul(v12, v6));
        const float v14 = AFTER(4, EVEN, mw__scalar_sub(v11, v7));
        const float v15 = AFTER(5, AWAY, mw__scalar_mul(v13, v8));
        const float v16 = AFTER(6, EVEN, mw__scalar_sub(v14, v15));
        const float v17 = AFTER(7, AWAY, mw__scalar_mul(v16, v9)); y0[i] = v17;
    }
}
FORMS(batch_norm_dx_relu_again)

#define batch_norm_dx_relu6_again_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float s2 = *x2; const float *const x3 = value[3]; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float *const x7 = value[7]; const float *const x8 = value[8]; \
    const float *const x9 = value[9]; const float *const x10 = value[10]; const float *const x11 = value[11]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        uint32_t v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = MASK(x0[i + n * (lanes) + l] > s1); } } \
        uint32_t v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = MASK(x0[i + n * (lanes) + l] < s2); } } \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = chosen(v13[n][l], x3[i + n * (lanes) + l], s4); } } \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = chosen(v12[n][l], v14[n][l], s5); } } \
        float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_sub(x6[i + n * (lanes) + l], x7[i + n * (lanes) + l]); } } \
        after(4, EVEN, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(v16[n][l], x8[i + n * (lanes) + l]); } } after(5, AWAY, v17) \
        float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_sub(v15[n][l], x9[i + n * (lanes) + l]); } } after(6, EVEN, v18) \
        float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_mul(v17[n][l], x10[i + n * (lanes) + l]); } } \
        after(7, AWAY, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_sub(v18[n][l], v19[n][l]); } } after(8, EVEN, v20) \
        float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_mul(v20[n][l], x11[i + n * (lanes) + l]); } } \
        after(9, AWAY, v21) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v21[n][l]; } } \
    }
MW__INLINE void batch_norm_dx_relu6_again_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2]; const float *const x3 = value[3];
    const float v4 = *(const float *)value[4]; const float v5 = *(const float *)value[5];
    const float *const x6 = value[6]; const float *const x7 = value[7]; const float *const x8 = value[8];
    const float *const x9 = value[9]; const float *const x10 = value[10]; const float *const x11 = value[11];
    float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v3 = x3[i]; const float v6 = x6[i]; const float v7 = x7[i];
        const float v8 = x8[i]; const float v9 = x9[i]; const float v10 = x10[i]; const float v11 = x11[i];
        const uint8_t v12 = v0 > v1; const uint8_t v13 = v0 < v2; const float v14 = v13 != 0 ? v3 : v4;
        const float v15 = v12 != 0 ? v14 : v5; const float v16 = AFTER(4, EVEN, mw__scalar_sub(v6, v7));
        const float v17 = AFTER(5, AWAY, mw__scalar_mul(v16, v8));
        const float v18 = AFTER(6, EVEN, mw__scalar_sub(v15, v9));
        const float v19 = AFTER(7, AWAY, mw__scalar_mul(v17, v10));
        const float v20 = AFTER(8, EVEN, mw__scalar_sub(v18, v19));
        const float v21 = AFTER(9, AWAY, mw__scalar_mul(v20, v11)); y0[i] = v21;
    }
}
FORMS(batch_norm_dx_relu6_again)

#define batch_norm_terms_sum_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; float *const y0 = out[0]; \
    float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v5[8][lanes]; \
        EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_add(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v5) float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_sub(x2[i + n * (lanes) + l], x3[i + n * (lanes) + l]); } } \
        after(1, EVEN, v6) float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(v6[n][l], x4[i + n * (lanes) + l]); } } after(2, AWAY, v7) \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(v5[n][l], v7[n][l]); } } \
        after(3, AWAY, v8) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v5[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v8[n][l]; } } \
    }
MW__INLINE void batch_norm_terms_sum_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float *const x4 = value[4]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = x4[i]; const float v5 = AFTER(0, EVEN, mw__scalar_add(v0, v1));
        const float v6 = AFTER(1, EVEN, mw__scalar_sub(v2, v3));
        const float v7 = AFTER(2, AWAY, mw__scalar_mul(v6, v4));
        const float v8 = AFTER(3, AWAY, mw__scalar_mul(v5, v7)); y0[i] = v5; y1[i] = v8;
    }
}
FORMS(batch_norm_terms_sum)

#define batch_norm_terms_sum_relu_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; const float s4 = *x4; \
    const float *const x5 = value[5]; const float *const x6 = value[6]; const float *const x7 = value[7]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_add(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v8) uint32_t v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = MASK(x2[i + n * (lanes) + l] > s3); } } float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = chosen(v9[n][l], v8[n][l], s4); } } float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_sub(x5[i + n * (lanes) + l], x6[i + n * (lanes) + l]); } } \
        after(3, EVEN, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_mul(v11[n][l], x7[i + n * (lanes) + l]); } } after(4, AWAY, v12) \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(v10[n][l], v12[n][l]); } } \
        after(5, AWAY, v13) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v10[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v13[n][l]; } } \
    }
MW__INLINE void batch_norm_terms_sum_relu_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; const float *const x6 = value[6]; const float *const x7 = value[7];
    float *const y0 = out[0]; float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v5 = x5[i];
        const float v6 = x6[i]; const float v7 = x7[i]; const float v8 = AFTER(0, EVEN, mw__scalar_add(v0, v1));
        const uint8_t v9 = v2 > v3; const float v10 = v9 != 0 ? v8 : v4;
        const float v11 = AFTER(3, EVEN, mw__scalar_sub(v5, v6));
        const float v12 = AFTER(4, AWAY, mw__scalar_mul(v11, v7));
        const float v13 = AFTER(5, AWAY, mw__scalar_mul(v10, v12)); y0[i] = v10; y1[i] = v13;
    }
}
FORMS(batch_norm_terms_sum_relu)

#define batch_norm_dx_sum_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float *const x5 = value[5]; \
    const float *const x6 = value[6]; const float *const x7 = value[7]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_add(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v8) float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_sub(x2[i + n * (lanes) + l], x3[i + n * (lanes) + l]); } } \
        after(1, EVEN, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(v9[n][l], x4[i + n * (lanes) + l]); } } after(2, AWAY, v10) \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_sub(v8[n][l], x5[i + n * (lanes) + l]); } } \
        after(3, EVEN, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_mul(v10[n][l], x6[i + n * (lanes) + l]); } } after(4, AWAY, v12) \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_sub(v11[n][l], v12[n][l]); } } \
        after(5, EVEN, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(v13[n][l], x7[i + n * (lanes) + l]); } } after(6, AWAY, v14) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v14[n][l]; } } \
    }
MW__INLINE void batch_norm_dx_sum_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float *const x5 = value[5];
    const float *const x6 = value[6]; const float *const x7 = value[7]; float *const y0 = out[0];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = x4[i]; const float v5 = x5[i]; const float v6 = x6[i]; const float v7 = x7[i];
        const float v8 = AFTER(0, EVEN, mw__scalar_add(v0, v1));
        const float v9 = AFTER(1, EVEN, mw__scalar_sub(v2, v3));
        const float v10 = AFTER(2, AWAY, mw__scalar_mul(v9, v4));
        const float v11 = AFTER(3, EVEN, mw__scalar_sub(v8, v5));
        const float v12 = AFTER(4, AWAY, mw__scalar_mul(v10, v6));
        const float v13 = AFTER(5, EVEN, mw__scalar_sub(v11, v12));
        const float v14 = AFTER(6, AWAY, mw__scalar_mul(v13, v7)); y0[i] = v14;
    }
}
FORMS(batch_norm_dx_sum)

#define layer_norm_terms_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, AWAY, v3) float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_mul(v3[n][l], x2[i + n * (lanes) + l]); } } after(1, AWAY, v4) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v4[n][l]; } } \
    }
MW__INLINE void layer_norm_terms_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i];
        const float v3 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v4 = AFTER(1, AWAY, mw__scalar_mul(v3, v2)); y0[i] = v4;
    }
}
FORMS(layer_norm_terms)

#define layer_norm_dx_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float *const x5 = value[5]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, AWAY, v6) float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_sub(v6[n][l], x2[i + n * (lanes) + l]); } } after(1, EVEN, v7) \
        float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(x3[i + n * (lanes) + l], x4[i + n * (lanes) + l]); } } \
        after(2, AWAY, v8) float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_sub(v7[n][l], v8[n][l]); } } after(3, EVEN, v9) \
        float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(x5[i + n * (lanes) + l], v9[n][l]); } } \
        after(4, AWAY, v10) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v10[n][l]; } } \
    }
MW__INLINE void layer_norm_dx_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float *const x4 = value[4]; const float *const x5 = value[5];
    float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = x4[i]; const float v5 = x5[i]; const float v6 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v7 = AFTER(1, EVEN, mw__scalar_sub(v6, v2));
        const float v8 = AFTER(2, AWAY, mw__scalar_mul(v3, v4));
        const float v9 = AFTER(3, EVEN, mw__scalar_sub(v7, v8));
        const float v10 = AFTER(4, AWAY, mw__scalar_mul(v5, v9)); y0[i] = v10;
    }
}
FORMS(layer_norm_dx)

const mw__precompiled mw__precompiled_norm[] = {
    {"batch_norm", "TTTTT sub(0,1) mul(5,2) mul(6,3) add(7,4) store 8", {MW__BASE_AVX2_AVX512_LIST(batch_norm), MW__BASE_AVX2_AVX512_LIST(batch_norm_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_chip)}},
    {"batch_norm_relu", "TTTTT sub(0,1) mul(5,2) mul(6,3) add(7,4) relu(8) store 9", {MW__BASE_AVX2_AVX512_LIST(batch_norm_relu), MW__BASE_AVX2_AVX512_LIST(batch_norm_relu_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_relu_chip)}},
    {"batch_norm_relu6", "TTTTT sub(0,1) mul(5,2) mul(6,3) add(7,4) relu6(8) store 9", {MW__BASE_AVX2_AVX512_LIST(batch_norm_relu6), MW__BASE_AVX2_AVX512_LIST(batch_norm_relu6_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_relu6_chip)}},
    {"batch_norm_residual", "TTTTTT sub(0,1) mul(6,2) mul(7,3) add(8,4) add(9,5) store 10", {MW__BASE_AVX2_AVX512_LIST(batch_norm_residual), MW__BASE_AVX2_AVX512_LIST(batch_norm_residual_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_residual_chip)}},
    {"batch_norm_residual_relu", "TTTTTT sub(0,1) mul(6,2) mul(7,3) add(8,4) add(9,5) relu(10) store 11", {MW__BASE_AVX2_AVX512_LIST(batch_norm_residual_relu), MW__BASE_AVX2_AVX512_LIST(batch_norm_residual_relu_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_residual_relu_chip)}},
    {"batch_norm_terms", "TTTT sub(0,1) mul(4,2) mul(3,5) store 6", {MW__BASE_AVX2_AVX512_LIST(batch_norm_terms), MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_chip)}},
    {"batch_norm_terms_relu", "TSTSTTT greater(0,1) select(7,2,3) sub(4,5) mul(9,6) mul(8,10) store 8,11", {MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_relu), MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_relu_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_relu_chip)}},
    {"batch_norm_terms_relu6", "TSSTSSTTT greater(0,1) less(0,2) select(10,3,4) select(9,11,5) sub(6,7) mul(13,8) mul(12,14) store 12,15", {MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_relu6), MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_relu6_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_relu6_chip)}},
    {"batch_norm_dx", "TTTTTTT sub(0,1) mul(7,2) sub(3,4) mul(8,5) sub(9,10) mul(11,6) store 12", {MW__BASE_AVX2_AVX512_LIST(batch_norm_dx), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_chip)}},
    {"batch_norm_dx_relu", "TTTTSTSTTT sub(0,1) mul(10,2) greater(3,4) select(12,5,6) sub(13,7) mul(11,8) sub(14,15) mul(16,9) store 17", {MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu_chip)}},
    {"batch_norm_dx_relu6", "TTTTSSTSSTTT sub(0,1) mul(12,2) greater(3,4) less(3,5) select(15,6,7) select(14,16,8) sub(17,9) mul(13,10) sub(18,19) mul(20,11) store 21", {MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu6), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu6_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu6_chip)}},
    {"batch_norm_dx_relu_again", "TSTSTTTTTT greater(0,1) select(10,2,3) sub(4,5) mul(12,6) sub(11,7) mul(13,8) sub(14,15) mul(16,9) store 17", {MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu_again), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu_again_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu_again_chip)}},
    {"batch_norm_dx_relu6_again", "TSSTSSTTTTTT greater(0,1) less(0,2) select(13,3,4) select(12,14,5) sub(6,7) mul(16,8) sub(15,9) mul(17,10) sub(18,19) mul(20,11) store 21", {MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu6_again), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu6_again_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_relu6_again_chip)}},
    {"batch_norm_terms_sum", "TTTTT add(0,1) sub(2,3) mul(6,4) mul(5,7) store 5,8", {MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_sum), MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_sum_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_sum_chip)}},
    {"batch_norm_terms_sum_relu", "TTTSSTTT add(0,1) greater(2,3) select(9,8,4) sub(5,6) mul(11,7) mul(10,12) store 10,13", {MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_sum_relu), MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_sum_relu_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_terms_sum_relu_chip)}},
    {"batch_norm_dx_sum", "TTTTTTTT add(0,1) sub(2,3) mul(9,4) sub(8,5) mul(10,6) sub(11,12) mul(13,7) store 14", {MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_sum), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_sum_half), MW__BASE_AVX2_AVX512_LIST(batch_norm_dx_sum_chip)}},
    {"layer_norm_terms", "TTT mul(0,1) mul(3,2) store 4", {MW__BASE_AVX2_AVX512_LIST(layer_norm_terms), MW__BASE_AVX2_AVX512_LIST(layer_norm_terms_half), MW__BASE_AVX2_AVX512_LIST(layer_norm_terms_chip)}},
    {"layer_norm_dx", "TTTTTT mul(0,1) sub(6,2) mul(3,4) sub(7,8) mul(5,9) store 10", {MW__BASE_AVX2_AVX512_LIST(layer_norm_dx), MW__BASE_AVX2_AVX512_LIST(layer_norm_dx_half), MW__BASE_AVX2_AVX512_LIST(layer_norm_dx_chip)}},
};

const size_t mw__precompiled_norm_count = sizeof mw__precompiled_norm / sizeof *mw__precompiled_norm;
/* clang-format on */
