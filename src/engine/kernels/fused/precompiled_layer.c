/* Precompiled kernels of the layers and their gradients, from precompiled.def by tools/precompiled.py. Do not edit.
 * A file that is kept rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is
 * fresh. */
/* clang-format off */
#include "engine/kernels/fused/precompiled.h"

#define bias_gelu_tanh_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; float *const y0 = out[0]; \
    float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v2[8][lanes]; \
        EIGHT { EACH(lanes) { v2[n][l] = mw__scalar_add(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v2) float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_gelu_tanh(v2[n][l], pq[1][0], pq[1][1]); } } after(1, EVEN, v3) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v2[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v3[n][l]; } } \
    }
MW__INLINE void bias_gelu_tanh_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = AFTER(0, EVEN, mw__scalar_add(v0, v1));
        const float v3 = AFTER(1, EVEN, mw__scalar_gelu_tanh(v2, pq[1][0], pq[1][1])); y0[i] = v2; y1[i] = v3;
    }
}
FORMS(bias_gelu_tanh)

#define gelu_tanh_backward_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_clip(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EXACT, v6) float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_square(v6[n][l], pq[1][0], pq[1][1]); } } after(1, EVEN, v7) \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(v7[n][l], s1); } } after(2, AWAY, v8) \
        float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_add(v8[n][l], s2); } } after(3, EVEN, v9) \
        float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(v6[n][l], v9[n][l]); } } \
        after(4, AWAY, v10) float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_sigmoid(v10[n][l], pq[5][0], pq[5][1]); } } after(5, EVEN, v11) \
        float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_mul(v7[n][l], s3); } } after(6, AWAY, v12) \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_add(v12[n][l], s2); } } after(7, EVEN, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(v6[n][l], v13[n][l]); } } \
        after(8, AWAY, v14) float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_sub(s4, v11[n][l]); } } \
        after(9, EVEN, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_mul(v14[n][l], v11[n][l]); } } after(10, AWAY, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(v16[n][l], v15[n][l]); } } \
        after(11, AWAY, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_add(v11[n][l], v17[n][l]); } } after(12, EVEN, v18) \
        float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_mul(x5[i + n * (lanes) + l], v18[n][l]); } } \
        after(13, AWAY, v19) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v19[n][l]; } } \
    }
MW__INLINE void gelu_tanh_backward_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2]; const float v3 = *(const float *)value[3];
    const float v4 = *(const float *)value[4]; const float *const x5 = value[5]; float *const y0 = out[0];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v5 = x5[i];
        const float v6 = AFTER(0, EXACT, mw__scalar_clip(v0, pq[0][0], pq[0][1]));
        const float v7 = AFTER(1, EVEN, mw__scalar_square(v6, pq[1][0], pq[1][1]));
        const float v8 = AFTER(2, AWAY, mw__scalar_mul(v7, v1));
        const float v9 = AFTER(3, EVEN, mw__scalar_add(v8, v2));
        const float v10 = AFTER(4, AWAY, mw__scalar_mul(v6, v9));
        const float v11 = AFTER(5, EVEN, mw__scalar_sigmoid(v10, pq[5][0], pq[5][1]));
        const float v12 = AFTER(6, AWAY, mw__scalar_mul(v7, v3));
        const float v13 = AFTER(7, EVEN, mw__scalar_add(v12, v2));
        const float v14 = AFTER(8, AWAY, mw__scalar_mul(v6, v13));
        const float v15 = AFTER(9, EVEN, mw__scalar_sub(v4, v11));
        const float v16 = AFTER(10, AWAY, mw__scalar_mul(v14, v11));
        const float v17 = AFTER(11, AWAY, mw__scalar_mul(v16, v15));
        const float v18 = AFTER(12, EVEN, mw__scalar_add(v11, v17));
        const float v19 = AFTER(13, AWAY, mw__scalar_mul(v5, v18)); y0[i] = v19;
    }
}
FORMS(gelu_tanh_backward)

#define bias_gelu_exact_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; float *const y0 = out[0]; \
    float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v2[8][lanes]; \
        EIGHT { EACH(lanes) { v2[n][l] = mw__scalar_add(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v2) float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_gelu_exact(v2[n][l], pq[1][0], pq[1][1]); } } after(1, EVEN, v3) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v2[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v3[n][l]; } } \
    }
MW__INLINE void bias_gelu_exact_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = AFTER(0, EVEN, mw__scalar_add(v0, v1));
        const float v3 = AFTER(1, EVEN, mw__scalar_gelu_exact(v2, pq[1][0], pq[1][1])); y0[i] = v2; y1[i] = v3;
    }
}
FORMS(bias_gelu_exact)

#define bias_silu_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; float *const y0 = out[0]; \
    float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v2[8][lanes]; \
        EIGHT { EACH(lanes) { v2[n][l] = mw__scalar_add(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v2) float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_silu(v2[n][l], pq[1][0], pq[1][1]); } } after(1, EVEN, v3) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v2[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v3[n][l]; } } \
    }
MW__INLINE void bias_silu_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = AFTER(0, EVEN, mw__scalar_add(v0, v1));
        const float v3 = AFTER(1, EVEN, mw__scalar_silu(v2, pq[1][0], pq[1][1])); y0[i] = v2; y1[i] = v3;
    }
}
FORMS(bias_silu)

#define bias_relu_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v2[8][lanes]; \
        EIGHT { EACH(lanes) { v2[n][l] = mw__scalar_add(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v2) float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_relu(v2[n][l], pq[1][0], pq[1][1]); } } after(1, EXACT, v3) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v3[n][l]; } } \
    }
MW__INLINE void bias_relu_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; float *const y0 = out[0];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = AFTER(0, EVEN, mw__scalar_add(v0, v1));
        const float v3 = AFTER(1, EXACT, mw__scalar_relu(v2, pq[1][0], pq[1][1])); y0[i] = v3;
    }
}
FORMS(bias_relu)

#define gelu_exact_backward_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_square(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EVEN, v7) float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(v7[n][l], s1); } } \
        after(1, AWAY, v8) float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_exp(v8[n][l], pq[2][0], pq[2][1]); } } after(2, EVEN, v9) \
        float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(v9[n][l], s2); } } after(3, AWAY, v10) \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s3); } } \
        after(4, AWAY, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_erf(v11[n][l], pq[5][0], pq[5][1]); } } after(5, EVEN, v12) \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_add(v12[n][l], s4); } } after(6, EVEN, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(v13[n][l], s5); } } after(7, AWAY, v14) \
        float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], v10[n][l]); } } after(8, AWAY, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_add(v14[n][l], v15[n][l]); } } \
        after(9, EVEN, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(x6[i + n * (lanes) + l], v16[n][l]); } } \
        after(10, AWAY, v17) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v17[n][l]; } } \
    }
MW__INLINE void gelu_exact_backward_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2]; const float v3 = *(const float *)value[3];
    const float v4 = *(const float *)value[4]; const float v5 = *(const float *)value[5];
    const float *const x6 = value[6]; float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v6 = x6[i];
        const float v7 = AFTER(0, EVEN, mw__scalar_square(v0, pq[0][0], pq[0][1]));
        const float v8 = AFTER(1, AWAY, mw__scalar_mul(v7, v1));
        const float v9 = AFTER(2, EVEN, mw__scalar_exp(v8, pq[2][0], pq[2][1]));
        const float v10 = AFTER(3, AWAY, mw__scalar_mul(v9, v2));
        const float v11 = AFTER(4, AWAY, mw__scalar_mul(v0, v3));
        const float v12 = AFTER(5, EVEN, mw__scalar_erf(v11, pq[5][0], pq[5][1]));
        const float v13 = AFTER(6, EVEN, mw__scalar_add(v12, v4));
        const float v14 = AFTER(7, AWAY, mw__scalar_mul(v13, v5));
        const float v15 = AFTER(8, AWAY, mw__scalar_mul(v0, v10));
        const float v16 = AFTER(9, EVEN, mw__scalar_add(v14, v15));
        const float v17 = AFTER(10, AWAY, mw__scalar_mul(v6, v16)); y0[i] = v17;
    }
}
FORMS(gelu_exact_backward)

#define silu_backward_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_sigmoid(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EVEN, v4) float v5[8][lanes]; EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_sub(s1, v4[n][l]); } } \
        after(1, EVEN, v5) float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], v5[n][l]); } } after(2, AWAY, v6) \
        float v7[8][lanes]; EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_add(v4[n][l], v6[n][l]); } } \
        after(3, EVEN, v7) float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(x3[i + n * (lanes) + l], v7[n][l]); } } after(4, AWAY, v8) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v8[n][l]; } } \
    }
MW__INLINE void silu_backward_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = AFTER(0, EVEN, mw__scalar_sigmoid(v0, pq[0][0], pq[0][1]));
        const float v5 = AFTER(1, EVEN, mw__scalar_sub(v1, v4));
        const float v6 = AFTER(2, AWAY, mw__scalar_mul(v2, v5));
        const float v7 = AFTER(3, EVEN, mw__scalar_add(v4, v6));
        const float v8 = AFTER(4, AWAY, mw__scalar_mul(v3, v7)); y0[i] = v8;
    }
}
FORMS(silu_backward)

#define relu_backward_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        uint32_t v4[8][lanes]; EIGHT { EACH(lanes) { v4[n][l] = MASK(x0[i + n * (lanes) + l] > s1); } } \
        float v5[8][lanes]; EIGHT { EACH(lanes) { v5[n][l] = chosen(v4[n][l], x2[i + n * (lanes) + l], s3); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v5[n][l]; } } \
    }
MW__INLINE void relu_backward_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const uint8_t v4 = v0 > v1;
        const float v5 = v4 != 0 ? v2 : v3; y0[i] = v5;
    }
}
FORMS(relu_backward)

#define affine_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, AWAY, v3) float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_add(v3[n][l], x2[i + n * (lanes) + l]); } } after(1, EVEN, v4) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v4[n][l]; } } \
    }
MW__INLINE void affine_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i];
        const float v3 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v4 = AFTER(1, EVEN, mw__scalar_add(v3, v2)); y0[i] = v4;
    }
}
FORMS(affine)

#define centred_square_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v2[8][lanes]; \
        EIGHT { EACH(lanes) { v2[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v2) float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_square(v2[n][l], pq[1][0], pq[1][1]); } } after(1, EVEN, v3) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v3[n][l]; } } \
    }
MW__INLINE void centred_square_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; float *const y0 = out[0];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v3 = AFTER(1, EVEN, mw__scalar_square(v2, pq[1][0], pq[1][1])); y0[i] = v3;
    }
}
FORMS(centred_square)

#define normalise_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v3) float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], x2[i + n * (lanes) + l]); } } \
        after(1, AWAY, v4) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v3[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v4[n][l]; } } \
    }
MW__INLINE void normalise_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    float *const y0 = out[0]; float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i];
        const float v3 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v4 = AFTER(1, AWAY, mw__scalar_mul(v0, v2)); y0[i] = v3; y1[i] = v4;
    }
}
FORMS(normalise)

#define two_products_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, AWAY, v3) float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], x2[i + n * (lanes) + l]); } } \
        after(1, AWAY, v4) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v3[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v4[n][l]; } } \
    }
MW__INLINE void two_products_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    float *const y0 = out[0]; float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i];
        const float v3 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v4 = AFTER(1, AWAY, mw__scalar_mul(v0, v2)); y0[i] = v3; y1[i] = v4;
    }
}
FORMS(two_products)

#define layer_norm_backward_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, AWAY, v4) float v5[8][lanes]; \
        EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_sub(x2[i + n * (lanes) + l], v4[n][l]); } } after(1, EVEN, v5) \
        float v6[8][lanes]; EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(x3[i + n * (lanes) + l], v5[n][l]); } } \
        after(2, AWAY, v6) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v6[n][l]; } } \
    }
MW__INLINE void layer_norm_backward_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v5 = AFTER(1, EVEN, mw__scalar_sub(v2, v4));
        const float v6 = AFTER(2, AWAY, mw__scalar_mul(v3, v5)); y0[i] = v6;
    }
}
FORMS(layer_norm_backward)

#define layer_norm_backward_add_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float *const x3 = value[3]; const float *const x4 = value[4]; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v5[8][lanes]; \
        EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, AWAY, v5) float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_sub(x2[i + n * (lanes) + l], v5[n][l]); } } after(1, EVEN, v6) \
        float v7[8][lanes]; EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(x3[i + n * (lanes) + l], v6[n][l]); } } \
        after(2, AWAY, v7) float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_add(x4[i + n * (lanes) + l], v7[n][l]); } } after(3, EVEN, v8) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v8[n][l]; } } \
    }
MW__INLINE void layer_norm_backward_add_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    const float *const x3 = value[3]; const float *const x4 = value[4]; float *const y0 = out[0];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i]; const float v3 = x3[i];
        const float v4 = x4[i]; const float v5 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v6 = AFTER(1, EVEN, mw__scalar_sub(v2, v5));
        const float v7 = AFTER(2, AWAY, mw__scalar_mul(v3, v6));
        const float v8 = AFTER(3, EVEN, mw__scalar_add(v4, v7)); y0[i] = v8;
    }
}
FORMS(layer_norm_backward_add)

#define softmax_backward_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v3) float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], v3[n][l]); } } after(1, AWAY, v4) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v4[n][l]; } } \
    }
MW__INLINE void softmax_backward_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i];
        const float v3 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v4 = AFTER(1, AWAY, mw__scalar_mul(v2, v3)); y0[i] = v4;
    }
}
FORMS(softmax_backward)

#define bias_residual_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v3[8][lanes]; \
        EIGHT { EACH(lanes) { v3[n][l] = mw__scalar_add(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v3) float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_add(x2[i + n * (lanes) + l], v3[n][l]); } } after(1, EVEN, v4) \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v4[n][l]; } } \
    }
MW__INLINE void bias_residual_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2];
    float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v2 = x2[i];
        const float v3 = AFTER(0, EVEN, mw__scalar_add(v0, v1));
        const float v4 = AFTER(1, EVEN, mw__scalar_add(v2, v3)); y0[i] = v4;
    }
}
FORMS(bias_residual)

#define not_finite_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v4[8][lanes]; \
        EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_abs(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EXACT, v4) uint32_t v5[8][lanes]; EIGHT { EACH(lanes) { v5[n][l] = MASK(v4[n][l] <= s1); } } \
        float v6[8][lanes]; EIGHT { EACH(lanes) { v6[n][l] = chosen(v5[n][l], s2, s3); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v6[n][l]; } } \
    }
MW__INLINE void not_finite_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2]; const float v3 = *(const float *)value[3]; float *const y0 = out[0];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v4 = AFTER(0, EXACT, mw__scalar_abs(v0, pq[0][0], pq[0][1]));
        const uint8_t v5 = v4 <= v1; const float v6 = v5 != 0 ? v2 : v3; y0[i] = v6;
    }
}
FORMS(not_finite)

const mw__precompiled mw__precompiled_layer[] = {
    {"bias_gelu_tanh", "TT add(0,1) gelu_tanh(2) store 2,3", {MW__BASE_AVX2_AVX512_LIST(bias_gelu_tanh), MW__BASE_AVX2_AVX512_LIST(bias_gelu_tanh_half), MW__BASE_AVX2_AVX512_LIST(bias_gelu_tanh_chip)}},
    {"gelu_tanh_backward", "TSSSST clip(0) square(6) mul(7,1) add(8,2) mul(6,9) sigmoid(10) mul(7,3) add(12,2) mul(6,13) sub(4,11) mul(14,11) mul(16,15) add(11,17) mul(5,18) store 19", {MW__BASE_AVX2_AVX512_LIST(gelu_tanh_backward), MW__BASE_AVX2_AVX512_LIST(gelu_tanh_backward_half), MW__BASE_AVX2_AVX512_LIST(gelu_tanh_backward_chip)}},
    {"bias_gelu_exact", "TT add(0,1) gelu_exact(2) store 2,3", {MW__BASE_AVX2_AVX512_LIST(bias_gelu_exact), MW__BASE_AVX2_AVX512_LIST(bias_gelu_exact_half), MW__BASE_AVX2_AVX512_LIST(bias_gelu_exact_chip)}},
    {"bias_silu", "TT add(0,1) silu(2) store 2,3", {MW__BASE_AVX2_AVX512_LIST(bias_silu), MW__BASE_AVX2_AVX512_LIST(bias_silu_half), MW__BASE_AVX2_AVX512_LIST(bias_silu_chip)}},
    {"bias_relu", "TT add(0,1) relu(2) store 3", {MW__BASE_AVX2_AVX512_LIST(bias_relu), MW__BASE_AVX2_AVX512_LIST(bias_relu_half), MW__BASE_AVX2_AVX512_LIST(bias_relu_chip)}},
    {"gelu_exact_backward", "TSSSSST square(0) mul(7,1) exp(8) mul(9,2) mul(0,3) erf(11) add(12,4) mul(13,5) mul(0,10) add(14,15) mul(6,16) store 17", {MW__BASE_AVX2_AVX512_LIST(gelu_exact_backward), MW__BASE_AVX2_AVX512_LIST(gelu_exact_backward_half), MW__BASE_AVX2_AVX512_LIST(gelu_exact_backward_chip)}},
    {"silu_backward", "TSTT sigmoid(0) sub(1,4) mul(2,5) add(4,6) mul(3,7) store 8", {MW__BASE_AVX2_AVX512_LIST(silu_backward), MW__BASE_AVX2_AVX512_LIST(silu_backward_half), MW__BASE_AVX2_AVX512_LIST(silu_backward_chip)}},
    {"relu_backward", "TSTS greater(0,1) select(4,2,3) store 5", {MW__BASE_AVX2_AVX512_LIST(relu_backward), MW__BASE_AVX2_AVX512_LIST(relu_backward_half), MW__BASE_AVX2_AVX512_LIST(relu_backward_chip)}},
    {"affine", "TTT mul(0,1) add(3,2) store 4", {MW__BASE_AVX2_AVX512_LIST(affine), MW__BASE_AVX2_AVX512_LIST(affine_half), MW__BASE_AVX2_AVX512_LIST(affine_chip)}},
    {"centred_square", "TT sub(0,1) square(2) store 3", {MW__BASE_AVX2_AVX512_LIST(centred_square), MW__BASE_AVX2_AVX512_LIST(centred_square_half), MW__BASE_AVX2_AVX512_LIST(centred_square_chip)}},
    {"normalise", "TTT sub(0,1) mul(0,2) store 3,4", {MW__BASE_AVX2_AVX512_LIST(normalise), MW__BASE_AVX2_AVX512_LIST(normalise_half), MW__BASE_AVX2_AVX512_LIST(normalise_chip)}},
    {"two_products", "TTT mul(0,1) mul(0,2) store 3,4", {MW__BASE_AVX2_AVX512_LIST(two_products), MW__BASE_AVX2_AVX512_LIST(two_products_half), MW__BASE_AVX2_AVX512_LIST(two_products_chip)}},
    {"layer_norm_backward", "TTTT mul(0,1) sub(2,4) mul(3,5) store 6", {MW__BASE_AVX2_AVX512_LIST(layer_norm_backward), MW__BASE_AVX2_AVX512_LIST(layer_norm_backward_half), MW__BASE_AVX2_AVX512_LIST(layer_norm_backward_chip)}},
    {"layer_norm_backward_add", "TTTTT mul(0,1) sub(2,5) mul(3,6) add(4,7) store 8", {MW__BASE_AVX2_AVX512_LIST(layer_norm_backward_add), MW__BASE_AVX2_AVX512_LIST(layer_norm_backward_add_half), MW__BASE_AVX2_AVX512_LIST(layer_norm_backward_add_chip)}},
    {"softmax_backward", "TTT sub(0,1) mul(2,3) store 4", {MW__BASE_AVX2_AVX512_LIST(softmax_backward), MW__BASE_AVX2_AVX512_LIST(softmax_backward_half), MW__BASE_AVX2_AVX512_LIST(softmax_backward_chip)}},
    {"bias_residual", "TTT add(0,1) add(2,3) store 4", {MW__BASE_AVX2_AVX512_LIST(bias_residual), MW__BASE_AVX2_AVX512_LIST(bias_residual_half), MW__BASE_AVX2_AVX512_LIST(bias_residual_chip)}},
    {"not_finite", "TSSS abs(0) less_equal(4,1) select(5,2,3) store 6", {MW__BASE_AVX2_AVX512_LIST(not_finite), MW__BASE_AVX2_AVX512_LIST(not_finite_half), MW__BASE_AVX2_AVX512_LIST(not_finite_chip)}},
};

const size_t mw__precompiled_layer_count = sizeof mw__precompiled_layer / sizeof *mw__precompiled_layer;
/* clang-format on */
