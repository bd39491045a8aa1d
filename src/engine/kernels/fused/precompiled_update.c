/* Precompiled kernels of the optimizers, from precompiled.def by tools/precompiled.py. Do not edit.
 * A file that is kept rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is
 * fresh. */
/* clang-format off */
#include "engine/kernels/fused/precompiled.h"

#define adam_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; const uint8_t *const x11 = value[11]; const uint8_t s11 = *x11; \
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
        float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_sub(x10[i + n * (lanes) + l], v23[n][l]); } } \
        after(12, EVEN, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = chosen(MASK(s11 != 0), v24[n][l], x10[i + n * (lanes) + l]); } } \
        float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = chosen(MASK(s11 != 0), v14[n][l], x0[i + n * (lanes) + l]); } } \
        float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = chosen(MASK(s11 != 0), v18[n][l], x4[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v25[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v26[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v27[n][l]; } } \
    }
MW__INLINE void adam_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10];
    const uint8_t v11 = *(const uint8_t *)value[11]; float *const y0 = out[0]; float *const y1 = out[1];
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
        const float v24 = AFTER(12, EVEN, mw__scalar_sub(v10, v23)); const float v25 = v11 != 0 ? v24 : v10;
        const float v26 = v11 != 0 ? v14 : v0; const float v27 = v11 != 0 ? v18 : v4; y0[i] = v25; y1[i] = v26;
        y2[i] = v27;
    }
}
FORMS(adam)

#define adamw_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; const float *const x11 = value[11]; const float s11 = *x11; \
    const uint8_t *const x12 = value[12]; const uint8_t s12 = *x12; float *const y0 = out[0]; \
    float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_add(v13[n][l], v14[n][l]); } } \
        after(2, EVEN, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_mul(x4[i + n * (lanes) + l], s5); } } after(3, AWAY, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s6); } } \
        after(4, AWAY, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_square(v17[n][l], pq[5][0], pq[5][1]); } } after(5, EVEN, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_add(v16[n][l], v18[n][l]); } } \
        after(6, EVEN, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_sqrt(v19[n][l], pq[7][0], pq[7][1]); } } after(7, EVEN, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_mul(v20[n][l], s7); } } after(8, AWAY, v21) \
        float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_add(v21[n][l], s8); } } after(9, EVEN, v22) \
        float v23[8][lanes]; EIGHT { EACH(lanes) { v23[n][l] = quotient(v15[n][l], v22[n][l]); } } \
        after(10, EVEN, v23) float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_mul(v23[n][l], s9); } } after(11, AWAY, v24) \
        float v25[8][lanes]; EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_mul(x10[i + n * (lanes) + l], s11); } } \
        after(12, AWAY, v25) float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_add(v24[n][l], v25[n][l]); } } after(13, EVEN, v26) \
        float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_sub(x10[i + n * (lanes) + l], v26[n][l]); } } \
        after(14, EVEN, v27) float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = chosen(MASK(s12 != 0), v27[n][l], x10[i + n * (lanes) + l]); } } \
        float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = chosen(MASK(s12 != 0), v15[n][l], x0[i + n * (lanes) + l]); } } \
        float v30[8][lanes]; \
        EIGHT { EACH(lanes) { v30[n][l] = chosen(MASK(s12 != 0), v19[n][l], x4[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v28[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v29[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v30[n][l]; } } \
    }
MW__INLINE void adamw_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10];
    const float v11 = *(const float *)value[11]; const uint8_t v12 = *(const uint8_t *)value[12];
    float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i]; const float v10 = x10[i];
        const float v13 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v14 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v15 = AFTER(2, EVEN, mw__scalar_add(v13, v14));
        const float v16 = AFTER(3, AWAY, mw__scalar_mul(v4, v5));
        const float v17 = AFTER(4, AWAY, mw__scalar_mul(v2, v6));
        const float v18 = AFTER(5, EVEN, mw__scalar_square(v17, pq[5][0], pq[5][1]));
        const float v19 = AFTER(6, EVEN, mw__scalar_add(v16, v18));
        const float v20 = AFTER(7, EVEN, mw__scalar_sqrt(v19, pq[7][0], pq[7][1]));
        const float v21 = AFTER(8, AWAY, mw__scalar_mul(v20, v7));
        const float v22 = AFTER(9, EVEN, mw__scalar_add(v21, v8));
        const float v23 = AFTER(10, EVEN, QUOTIENT(v15, v22));
        const float v24 = AFTER(11, AWAY, mw__scalar_mul(v23, v9));
        const float v25 = AFTER(12, AWAY, mw__scalar_mul(v10, v11));
        const float v26 = AFTER(13, EVEN, mw__scalar_add(v24, v25));
        const float v27 = AFTER(14, EVEN, mw__scalar_sub(v10, v26)); const float v28 = v12 != 0 ? v27 : v10;
        const float v29 = v12 != 0 ? v15 : v0; const float v30 = v12 != 0 ? v19 : v4; y0[i] = v28; y1[i] = v29;
        y2[i] = v30;
    }
}
FORMS(adamw)

#define sgd_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const uint8_t *const x3 = value[3]; const uint8_t s3 = *x3; \
    float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v4[8][lanes]; EIGHT { EACH(lanes) { v4[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v4) float v5[8][lanes]; \
        EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_sub(x2[i + n * (lanes) + l], v4[n][l]); } } after(1, EVEN, v5) \
        float v6[8][lanes]; \
        EIGHT { EACH(lanes) { v6[n][l] = chosen(MASK(s3 != 0), v5[n][l], x2[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v6[n][l]; } } \
    }
MW__INLINE void sgd_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const uint8_t v3 = *(const uint8_t *)value[3]; float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v5 = AFTER(1, EVEN, mw__scalar_sub(v2, v4)); const float v6 = v3 != 0 ? v5 : v2; y0[i] = v6;
    }
}
FORMS(sgd)

#define sgd_scaled_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float s2 = *x2; const float *const x3 = value[3]; \
    const uint8_t *const x4 = value[4]; const uint8_t s4 = *x4; float *const y0 = out[0]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v5[8][lanes]; EIGHT { EACH(lanes) { v5[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v5) float v6[8][lanes]; EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(v5[n][l], s2); } } \
        after(1, AWAY, v6) float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_sub(x3[i + n * (lanes) + l], v6[n][l]); } } after(2, EVEN, v7) \
        float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = chosen(MASK(s4 != 0), v7[n][l], x3[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v8[n][l]; } } \
    }
MW__INLINE void sgd_scaled_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1];
    const float v2 = *(const float *)value[2]; const float *const x3 = value[3];
    const uint8_t v4 = *(const uint8_t *)value[4]; float *const y0 = out[0]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v3 = x3[i]; const float v5 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v6 = AFTER(1, AWAY, mw__scalar_mul(v5, v2));
        const float v7 = AFTER(2, EVEN, mw__scalar_sub(v3, v6)); const float v8 = v4 != 0 ? v7 : v3; y0[i] = v8;
    }
}
FORMS(sgd_scaled)

#define momentum_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const uint8_t *const x5 = value[5]; const uint8_t s5 = *x5; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v6[8][lanes]; EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v6) float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_add(v6[n][l], x2[i + n * (lanes) + l]); } } after(1, EVEN, v7) \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(v7[n][l], s3); } } after(2, AWAY, v8) \
        float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_sub(x4[i + n * (lanes) + l], v8[n][l]); } } \
        after(3, EVEN, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = chosen(MASK(s5 != 0), v9[n][l], x4[i + n * (lanes) + l]); } } \
        float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = chosen(MASK(s5 != 0), v7[n][l], x0[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v10[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v11[n][l]; } } \
    }
MW__INLINE void momentum_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4];
    const uint8_t v5 = *(const uint8_t *)value[5]; float *const y0 = out[0]; float *const y1 = out[1];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i];
        const float v6 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v7 = AFTER(1, EVEN, mw__scalar_add(v6, v2));
        const float v8 = AFTER(2, AWAY, mw__scalar_mul(v7, v3));
        const float v9 = AFTER(3, EVEN, mw__scalar_sub(v4, v8)); const float v10 = v5 != 0 ? v9 : v4;
        const float v11 = v5 != 0 ? v7 : v0; y0[i] = v10; y1[i] = v11;
    }
}
FORMS(momentum)

#define momentum_scaled_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    const uint8_t *const x6 = value[6]; const uint8_t s6 = *x6; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v7[8][lanes]; EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v7) float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v8) \
        float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_add(v8[n][l], v7[n][l]); } } \
        after(2, EVEN, v9) float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(v9[n][l], s4); } } \
        after(3, AWAY, v10) float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_sub(x5[i + n * (lanes) + l], v10[n][l]); } } after(4, EVEN, v11) \
        float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = chosen(MASK(s6 != 0), v11[n][l], x5[i + n * (lanes) + l]); } } \
        float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = chosen(MASK(s6 != 0), v9[n][l], x2[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v12[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v13[n][l]; } } \
    }
MW__INLINE void momentum_scaled_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; const uint8_t v6 = *(const uint8_t *)value[6]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v5 = x5[i];
        const float v7 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v8 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v9 = AFTER(2, EVEN, mw__scalar_add(v8, v7));
        const float v10 = AFTER(3, AWAY, mw__scalar_mul(v9, v4));
        const float v11 = AFTER(4, EVEN, mw__scalar_sub(v5, v10)); const float v12 = v6 != 0 ? v11 : v5;
        const float v13 = v6 != 0 ? v9 : v2; y0[i] = v12; y1[i] = v13;
    }
}
FORMS(momentum_scaled)

#define nesterov_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const uint8_t *const x5 = value[5]; const uint8_t s5 = *x5; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v6[8][lanes]; EIGHT { EACH(lanes) { v6[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v6) float v7[8][lanes]; \
        EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_add(v6[n][l], x2[i + n * (lanes) + l]); } } after(1, EVEN, v7) \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(v7[n][l], s1); } } after(2, AWAY, v8) \
        float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_add(x2[i + n * (lanes) + l], v8[n][l]); } } \
        after(3, EVEN, v9) float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(v9[n][l], s3); } } \
        after(4, AWAY, v10) float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_sub(x4[i + n * (lanes) + l], v10[n][l]); } } after(5, EVEN, v11) \
        float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = chosen(MASK(s5 != 0), v11[n][l], x4[i + n * (lanes) + l]); } } \
        float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = chosen(MASK(s5 != 0), v7[n][l], x0[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v12[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v13[n][l]; } } \
    }
MW__INLINE void nesterov_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4];
    const uint8_t v5 = *(const uint8_t *)value[5]; float *const y0 = out[0]; float *const y1 = out[1];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v4 = x4[i];
        const float v6 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v7 = AFTER(1, EVEN, mw__scalar_add(v6, v2));
        const float v8 = AFTER(2, AWAY, mw__scalar_mul(v7, v1));
        const float v9 = AFTER(3, EVEN, mw__scalar_add(v2, v8));
        const float v10 = AFTER(4, AWAY, mw__scalar_mul(v9, v3));
        const float v11 = AFTER(5, EVEN, mw__scalar_sub(v4, v10)); const float v12 = v5 != 0 ? v11 : v4;
        const float v13 = v5 != 0 ? v7 : v0; y0[i] = v12; y1[i] = v13;
    }
}
FORMS(nesterov)

#define nesterov_scaled_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    const uint8_t *const x6 = value[6]; const uint8_t s6 = *x6; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v7[8][lanes]; EIGHT { EACH(lanes) { v7[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v7) float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v8) \
        float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_add(v8[n][l], v7[n][l]); } } \
        after(2, EVEN, v9) float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(v9[n][l], s3); } } \
        after(3, AWAY, v10) float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_add(v7[n][l], v10[n][l]); } } after(4, EVEN, v11) \
        float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_mul(v11[n][l], s4); } } after(5, AWAY, v12) \
        float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_sub(x5[i + n * (lanes) + l], v12[n][l]); } } after(6, EVEN, v13) \
        float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = chosen(MASK(s6 != 0), v13[n][l], x5[i + n * (lanes) + l]); } } \
        float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = chosen(MASK(s6 != 0), v9[n][l], x2[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v14[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v15[n][l]; } } \
    }
MW__INLINE void nesterov_scaled_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; const uint8_t v6 = *(const uint8_t *)value[6]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v5 = x5[i];
        const float v7 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v8 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v9 = AFTER(2, EVEN, mw__scalar_add(v8, v7));
        const float v10 = AFTER(3, AWAY, mw__scalar_mul(v9, v3));
        const float v11 = AFTER(4, EVEN, mw__scalar_add(v7, v10));
        const float v12 = AFTER(5, AWAY, mw__scalar_mul(v11, v4));
        const float v13 = AFTER(6, EVEN, mw__scalar_sub(v5, v12)); const float v14 = v6 != 0 ? v13 : v5;
        const float v15 = v6 != 0 ? v9 : v2; y0[i] = v14; y1[i] = v15;
    }
}
FORMS(nesterov_scaled)

#define rmsprop_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; const float *const x8 = value[8]; \
    const uint8_t *const x9 = value[9]; const uint8_t s9 = *x9; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_abs(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EXACT, v10) float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_maximum(x1[i + n * (lanes) + l], v10[n][l]); } } \
        after(1, EXACT, v11) uint32_t v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = MASK(v11[n][l] > s2); } } \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = chosen(v12[n][l], v11[n][l], s3); } } \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = quotient(x1[i + n * (lanes) + l], v13[n][l]); } } \
        after(4, EVEN, v14) float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = quotient(v10[n][l], v13[n][l]); } } after(5, EVEN, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_square(v14[n][l], pq[6][0], pq[6][1]); } } \
        after(6, EVEN, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_square(v15[n][l], pq[7][0], pq[7][1]); } } after(7, EVEN, v17) \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_mul(v17[n][l], s4); } } after(8, AWAY, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_mul(v16[n][l], s5); } } after(9, AWAY, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_add(v19[n][l], v18[n][l]); } } \
        after(10, EVEN, v20) float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_sqrt(v20[n][l], pq[11][0], pq[11][1]); } } after(11, EVEN, v21) \
        float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_mul(v13[n][l], v21[n][l]); } } \
        after(12, AWAY, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_add(v22[n][l], s6); } } after(13, EVEN, v23) \
        float v24[8][lanes]; EIGHT { EACH(lanes) { v24[n][l] = quotient(x0[i + n * (lanes) + l], v23[n][l]); } } \
        after(14, EVEN, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_mul(v24[n][l], s7); } } after(15, AWAY, v25) \
        float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_sub(x8[i + n * (lanes) + l], v25[n][l]); } } \
        after(16, EVEN, v26) float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = chosen(MASK(s9 != 0), v26[n][l], x8[i + n * (lanes) + l]); } } \
        float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = chosen(MASK(s9 != 0), v22[n][l], x1[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v27[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v28[n][l]; } } \
    }
MW__INLINE void rmsprop_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float *const x8 = value[8];
    const uint8_t v9 = *(const uint8_t *)value[9]; float *const y0 = out[0]; float *const y1 = out[1];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v8 = x8[i];
        const float v10 = AFTER(0, EXACT, mw__scalar_abs(v0, pq[0][0], pq[0][1]));
        const float v11 = AFTER(1, EXACT, mw__scalar_maximum(v1, v10)); const uint8_t v12 = v11 > v2;
        const float v13 = v12 != 0 ? v11 : v3; const float v14 = AFTER(4, EVEN, QUOTIENT(v1, v13));
        const float v15 = AFTER(5, EVEN, QUOTIENT(v10, v13));
        const float v16 = AFTER(6, EVEN, mw__scalar_square(v14, pq[6][0], pq[6][1]));
        const float v17 = AFTER(7, EVEN, mw__scalar_square(v15, pq[7][0], pq[7][1]));
        const float v18 = AFTER(8, AWAY, mw__scalar_mul(v17, v4));
        const float v19 = AFTER(9, AWAY, mw__scalar_mul(v16, v5));
        const float v20 = AFTER(10, EVEN, mw__scalar_add(v19, v18));
        const float v21 = AFTER(11, EVEN, mw__scalar_sqrt(v20, pq[11][0], pq[11][1]));
        const float v22 = AFTER(12, AWAY, mw__scalar_mul(v13, v21));
        const float v23 = AFTER(13, EVEN, mw__scalar_add(v22, v6));
        const float v24 = AFTER(14, EVEN, QUOTIENT(v0, v23));
        const float v25 = AFTER(15, AWAY, mw__scalar_mul(v24, v7));
        const float v26 = AFTER(16, EVEN, mw__scalar_sub(v8, v25)); const float v27 = v9 != 0 ? v26 : v8;
        const float v28 = v9 != 0 ? v22 : v1; y0[i] = v27; y1[i] = v28;
    }
}
FORMS(rmsprop)

#define rmsprop_momentum_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    const float s6 = *x6; const float *const x7 = value[7]; const float *const x8 = value[8]; const float s8 = *x8; \
    const float *const x9 = value[9]; const float s9 = *x9; const float *const x10 = value[10]; \
    const uint8_t *const x11 = value[11]; const uint8_t s11 = *x11; float *const y0 = out[0]; \
    float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_abs(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EXACT, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_maximum(x1[i + n * (lanes) + l], v12[n][l]); } } \
        after(1, EXACT, v13) uint32_t v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = MASK(v13[n][l] > s2); } } \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = chosen(v14[n][l], v13[n][l], s3); } } \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = quotient(x1[i + n * (lanes) + l], v15[n][l]); } } \
        after(4, EVEN, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = quotient(v12[n][l], v15[n][l]); } } after(5, EVEN, v17) \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_square(v16[n][l], pq[6][0], pq[6][1]); } } \
        after(6, EVEN, v18) float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_square(v17[n][l], pq[7][0], pq[7][1]); } } after(7, EVEN, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_mul(v19[n][l], s4); } } after(8, AWAY, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_mul(v18[n][l], s5); } } after(9, AWAY, v21) \
        float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_add(v21[n][l], v20[n][l]); } } \
        after(10, EVEN, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_sqrt(v22[n][l], pq[11][0], pq[11][1]); } } after(11, EVEN, v23) \
        float v24[8][lanes]; EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_mul(v15[n][l], v23[n][l]); } } \
        after(12, AWAY, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_add(v24[n][l], s6); } } after(13, EVEN, v25) \
        float v26[8][lanes]; EIGHT { EACH(lanes) { v26[n][l] = quotient(x0[i + n * (lanes) + l], v25[n][l]); } } \
        after(14, EVEN, v26) float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_mul(x7[i + n * (lanes) + l], s8); } } after(15, AWAY, v27) \
        float v28[8][lanes]; EIGHT { EACH(lanes) { v28[n][l] = mw__scalar_add(v27[n][l], v26[n][l]); } } \
        after(16, EVEN, v28) float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = mw__scalar_mul(v28[n][l], s9); } } after(17, AWAY, v29) \
        float v30[8][lanes]; \
        EIGHT { EACH(lanes) { v30[n][l] = mw__scalar_sub(x10[i + n * (lanes) + l], v29[n][l]); } } \
        after(18, EVEN, v30) float v31[8][lanes]; \
        EIGHT { EACH(lanes) { v31[n][l] = chosen(MASK(s11 != 0), v30[n][l], x10[i + n * (lanes) + l]); } } \
        float v32[8][lanes]; \
        EIGHT { EACH(lanes) { v32[n][l] = chosen(MASK(s11 != 0), v28[n][l], x7[i + n * (lanes) + l]); } } \
        float v33[8][lanes]; \
        EIGHT { EACH(lanes) { v33[n][l] = chosen(MASK(s11 != 0), v24[n][l], x1[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v31[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v32[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v33[n][l]; } } \
    }
MW__INLINE void rmsprop_momentum_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float *const x7 = value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10];
    const uint8_t v11 = *(const uint8_t *)value[11]; float *const y0 = out[0]; float *const y1 = out[1];
    float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v7 = x7[i]; const float v10 = x10[i];
        const float v12 = AFTER(0, EXACT, mw__scalar_abs(v0, pq[0][0], pq[0][1]));
        const float v13 = AFTER(1, EXACT, mw__scalar_maximum(v1, v12)); const uint8_t v14 = v13 > v2;
        const float v15 = v14 != 0 ? v13 : v3; const float v16 = AFTER(4, EVEN, QUOTIENT(v1, v15));
        const float v17 = AFTER(5, EVEN, QUOTIENT(v12, v15));
        const float v18 = AFTER(6, EVEN, mw__scalar_square(v16, pq[6][0], pq[6][1]));
        const float v19 = AFTER(7, EVEN, mw__scalar_square(v17, pq[7][0], pq[7][1]));
        const float v20 = AFTER(8, AWAY, mw__scalar_mul(v19, v4));
        const float v21 = AFTER(9, AWAY, mw__scalar_mul(v18, v5));
        const float v22 = AFTER(10, EVEN, mw__scalar_add(v21, v20));
        const float v23 = AFTER(11, EVEN, mw__scalar_sqrt(v22, pq[11][0], pq[11][1]));
        const float v24 = AFTER(12, AWAY, mw__scalar_mul(v15, v23));
        const float v25 = AFTER(13, EVEN, mw__scalar_add(v24, v6));
        const float v26 = AFTER(14, EVEN, QUOTIENT(v0, v25));
        const float v27 = AFTER(15, AWAY, mw__scalar_mul(v7, v8));
        const float v28 = AFTER(16, EVEN, mw__scalar_add(v27, v26));
        const float v29 = AFTER(17, AWAY, mw__scalar_mul(v28, v9));
        const float v30 = AFTER(18, EVEN, mw__scalar_sub(v10, v29)); const float v31 = v11 != 0 ? v30 : v10;
        const float v32 = v11 != 0 ? v28 : v7; const float v33 = v11 != 0 ? v24 : v1; y0[i] = v31; y1[i] = v32;
        y2[i] = v33;
    }
}
FORMS(rmsprop_momentum)

#define rmsprop_centered_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float *const x4 = value[4]; const float s4 = *x4; \
    const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; const float s6 = *x6; \
    const float *const x7 = value[7]; const float s7 = *x7; const float *const x8 = value[8]; const float s8 = *x8; \
    const float *const x9 = value[9]; const float s9 = *x9; const float *const x10 = value[10]; \
    const uint8_t *const x11 = value[11]; const uint8_t s11 = *x11; float *const y0 = out[0]; \
    float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v12) float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(v12[n][l], s2); } } \
        after(1, AWAY, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_add(x1[i + n * (lanes) + l], v13[n][l]); } } after(2, EVEN, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_abs(v12[n][l], pq[3][0], pq[3][1]); } } \
        after(3, EXACT, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_maximum(x3[i + n * (lanes) + l], v15[n][l]); } } \
        after(4, EXACT, v16) uint32_t v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = MASK(v16[n][l] > s4); } } \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = chosen(v17[n][l], v16[n][l], s5); } } \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = quotient(x3[i + n * (lanes) + l], v18[n][l]); } } \
        after(7, EVEN, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = quotient(v15[n][l], v18[n][l]); } } after(8, EVEN, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_square(v19[n][l], pq[9][0], pq[9][1]); } } \
        after(9, EVEN, v21) float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_square(v20[n][l], pq[10][0], pq[10][1]); } } \
        after(10, EVEN, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_mul(v22[n][l], s6); } } after(11, AWAY, v23) \
        float v24[8][lanes]; EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_mul(v21[n][l], s7); } } \
        after(12, AWAY, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_add(v24[n][l], v23[n][l]); } } after(13, EVEN, v25) \
        float v26[8][lanes]; EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_sqrt(v25[n][l], pq[14][0], pq[14][1]); } } \
        after(14, EVEN, v26) float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_mul(v18[n][l], v26[n][l]); } } after(15, AWAY, v27) \
        float v28[8][lanes]; EIGHT { EACH(lanes) { v28[n][l] = mw__scalar_add(v27[n][l], s8); } } \
        after(16, EVEN, v28) float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = quotient(x0[i + n * (lanes) + l], v28[n][l]); } } after(17, EVEN, v29) \
        float v30[8][lanes]; EIGHT { EACH(lanes) { v30[n][l] = mw__scalar_mul(v29[n][l], s9); } } \
        after(18, AWAY, v30) float v31[8][lanes]; \
        EIGHT { EACH(lanes) { v31[n][l] = mw__scalar_sub(x10[i + n * (lanes) + l], v30[n][l]); } } \
        after(19, EVEN, v31) float v32[8][lanes]; \
        EIGHT { EACH(lanes) { v32[n][l] = chosen(MASK(s11 != 0), v31[n][l], x10[i + n * (lanes) + l]); } } \
        float v33[8][lanes]; \
        EIGHT { EACH(lanes) { v33[n][l] = chosen(MASK(s11 != 0), v14[n][l], x1[i + n * (lanes) + l]); } } \
        float v34[8][lanes]; \
        EIGHT { EACH(lanes) { v34[n][l] = chosen(MASK(s11 != 0), v27[n][l], x3[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v32[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v33[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v34[n][l]; } } \
    }
MW__INLINE void rmsprop_centered_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float *const x3 = value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float *const x10 = value[10];
    const uint8_t v11 = *(const uint8_t *)value[11]; float *const y0 = out[0]; float *const y1 = out[1];
    float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v3 = x3[i]; const float v10 = x10[i];
        const float v12 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v13 = AFTER(1, AWAY, mw__scalar_mul(v12, v2));
        const float v14 = AFTER(2, EVEN, mw__scalar_add(v1, v13));
        const float v15 = AFTER(3, EXACT, mw__scalar_abs(v12, pq[3][0], pq[3][1]));
        const float v16 = AFTER(4, EXACT, mw__scalar_maximum(v3, v15)); const uint8_t v17 = v16 > v4;
        const float v18 = v17 != 0 ? v16 : v5; const float v19 = AFTER(7, EVEN, QUOTIENT(v3, v18));
        const float v20 = AFTER(8, EVEN, QUOTIENT(v15, v18));
        const float v21 = AFTER(9, EVEN, mw__scalar_square(v19, pq[9][0], pq[9][1]));
        const float v22 = AFTER(10, EVEN, mw__scalar_square(v20, pq[10][0], pq[10][1]));
        const float v23 = AFTER(11, AWAY, mw__scalar_mul(v22, v6));
        const float v24 = AFTER(12, AWAY, mw__scalar_mul(v21, v7));
        const float v25 = AFTER(13, EVEN, mw__scalar_add(v24, v23));
        const float v26 = AFTER(14, EVEN, mw__scalar_sqrt(v25, pq[14][0], pq[14][1]));
        const float v27 = AFTER(15, AWAY, mw__scalar_mul(v18, v26));
        const float v28 = AFTER(16, EVEN, mw__scalar_add(v27, v8));
        const float v29 = AFTER(17, EVEN, QUOTIENT(v0, v28));
        const float v30 = AFTER(18, AWAY, mw__scalar_mul(v29, v9));
        const float v31 = AFTER(19, EVEN, mw__scalar_sub(v10, v30)); const float v32 = v11 != 0 ? v31 : v10;
        const float v33 = v11 != 0 ? v14 : v1; const float v34 = v11 != 0 ? v27 : v3; y0[i] = v32; y1[i] = v33;
        y2[i] = v34;
    }
}
FORMS(rmsprop_centered)

#define adagrad_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    const uint8_t *const x7 = value[7]; const uint8_t s7 = *x7; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_abs(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EXACT, v8) float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_maximum(x1[i + n * (lanes) + l], v8[n][l]); } } \
        after(1, EXACT, v9) uint32_t v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = MASK(v9[n][l] > s2); } } \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = chosen(v10[n][l], v9[n][l], s3); } } \
        float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = quotient(x1[i + n * (lanes) + l], v11[n][l]); } } \
        after(4, EVEN, v12) float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = quotient(v8[n][l], v11[n][l]); } } \
        after(5, EVEN, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_square(v12[n][l], pq[6][0], pq[6][1]); } } after(6, EVEN, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_square(v13[n][l], pq[7][0], pq[7][1]); } } \
        after(7, EVEN, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_add(v14[n][l], v15[n][l]); } } after(8, EVEN, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_sqrt(v16[n][l], pq[9][0], pq[9][1]); } } \
        after(9, EVEN, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_mul(v11[n][l], v17[n][l]); } } after(10, AWAY, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_add(v18[n][l], s4); } } \
        after(11, EVEN, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = quotient(x0[i + n * (lanes) + l], v19[n][l]); } } after(12, EVEN, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_mul(v20[n][l], s5); } } \
        after(13, AWAY, v21) float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_sub(x6[i + n * (lanes) + l], v21[n][l]); } } \
        after(14, EVEN, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = chosen(MASK(s7 != 0), v22[n][l], x6[i + n * (lanes) + l]); } } \
        float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = chosen(MASK(s7 != 0), v18[n][l], x1[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v23[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v24[n][l]; } } \
    }
MW__INLINE void adagrad_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float *const x6 = value[6];
    const uint8_t v7 = *(const uint8_t *)value[7]; float *const y0 = out[0]; float *const y1 = out[1];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v6 = x6[i];
        const float v8 = AFTER(0, EXACT, mw__scalar_abs(v0, pq[0][0], pq[0][1]));
        const float v9 = AFTER(1, EXACT, mw__scalar_maximum(v1, v8)); const uint8_t v10 = v9 > v2;
        const float v11 = v10 != 0 ? v9 : v3; const float v12 = AFTER(4, EVEN, QUOTIENT(v1, v11));
        const float v13 = AFTER(5, EVEN, QUOTIENT(v8, v11));
        const float v14 = AFTER(6, EVEN, mw__scalar_square(v12, pq[6][0], pq[6][1]));
        const float v15 = AFTER(7, EVEN, mw__scalar_square(v13, pq[7][0], pq[7][1]));
        const float v16 = AFTER(8, EVEN, mw__scalar_add(v14, v15));
        const float v17 = AFTER(9, EVEN, mw__scalar_sqrt(v16, pq[9][0], pq[9][1]));
        const float v18 = AFTER(10, AWAY, mw__scalar_mul(v11, v17));
        const float v19 = AFTER(11, EVEN, mw__scalar_add(v18, v4));
        const float v20 = AFTER(12, EVEN, QUOTIENT(v0, v19));
        const float v21 = AFTER(13, AWAY, mw__scalar_mul(v20, v5));
        const float v22 = AFTER(14, EVEN, mw__scalar_sub(v6, v21)); const float v23 = v7 != 0 ? v22 : v6;
        const float v24 = v7 != 0 ? v18 : v1; y0[i] = v23; y1[i] = v24;
    }
}
FORMS(adagrad)

#define lion_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; \
    const float *const x8 = value[8]; const float s8 = *x8; const uint8_t *const x9 = value[9]; \
    const uint8_t s9 = *x9; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v10) float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v11) \
        float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_add(v10[n][l], v11[n][l]); } } \
        after(2, EVEN, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s4); } } after(3, AWAY, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s5); } } \
        after(4, AWAY, v14) float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_add(v13[n][l], v14[n][l]); } } after(5, EVEN, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_sign(v12[n][l], pq[6][0], pq[6][1]); } } \
        after(6, EXACT, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(v16[n][l], s6); } } after(7, AWAY, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_mul(x7[i + n * (lanes) + l], s8); } } after(8, AWAY, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_add(v17[n][l], v18[n][l]); } } \
        after(9, EVEN, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_sub(x7[i + n * (lanes) + l], v19[n][l]); } } \
        after(10, EVEN, v20) float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = chosen(MASK(s9 != 0), v20[n][l], x7[i + n * (lanes) + l]); } } \
        float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = chosen(MASK(s9 != 0), v15[n][l], x0[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v21[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v22[n][l]; } } \
    }
MW__INLINE void lion_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float *const x7 = value[7]; const float v8 = *(const float *)value[8];
    const uint8_t v9 = *(const uint8_t *)value[9]; float *const y0 = out[0]; float *const y1 = out[1];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v7 = x7[i];
        const float v10 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v11 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v12 = AFTER(2, EVEN, mw__scalar_add(v10, v11));
        const float v13 = AFTER(3, AWAY, mw__scalar_mul(v0, v4));
        const float v14 = AFTER(4, AWAY, mw__scalar_mul(v2, v5));
        const float v15 = AFTER(5, EVEN, mw__scalar_add(v13, v14));
        const float v16 = AFTER(6, EXACT, mw__scalar_sign(v12, pq[6][0], pq[6][1]));
        const float v17 = AFTER(7, AWAY, mw__scalar_mul(v16, v6));
        const float v18 = AFTER(8, AWAY, mw__scalar_mul(v7, v8));
        const float v19 = AFTER(9, EVEN, mw__scalar_add(v17, v18));
        const float v20 = AFTER(10, EVEN, mw__scalar_sub(v7, v19)); const float v21 = v9 != 0 ? v20 : v7;
        const float v22 = v9 != 0 ? v15 : v0; y0[i] = v21; y1[i] = v22;
    }
}
FORMS(lion)

const mw__precompiled mw__precompiled_update[] = {
    {"adam", "TSTSTSSSSSTb mul(0,1) mul(2,3) add(12,13) mul(4,5) mul(2,6) square(16) add(15,17) sqrt(18) mul(19,7) add(20,8) real_div(14,21) mul(22,9) sub(10,23) select(11,24,10) select(11,14,0) select(11,18,4) store 25,26,27", {MW__BASE_AVX2_AVX512_LIST(adam), MW__BASE_AVX2_AVX512_LIST(adam_half), MW__BASE_AVX2_AVX512_LIST(adam_chip)}},
    {"adamw", "TSTSTSSSSSTSb mul(0,1) mul(2,3) add(13,14) mul(4,5) mul(2,6) square(17) add(16,18) sqrt(19) mul(20,7) add(21,8) real_div(15,22) mul(23,9) mul(10,11) add(24,25) sub(10,26) select(12,27,10) select(12,15,0) select(12,19,4) store 28,29,30", {MW__BASE_AVX2_AVX512_LIST(adamw), MW__BASE_AVX2_AVX512_LIST(adamw_half), MW__BASE_AVX2_AVX512_LIST(adamw_chip)}},
    {"sgd", "TSTb mul(0,1) sub(2,4) select(3,5,2) store 6", {MW__BASE_AVX2_AVX512_LIST(sgd), MW__BASE_AVX2_AVX512_LIST(sgd_half), MW__BASE_AVX2_AVX512_LIST(sgd_chip)}},
    {"sgd_scaled", "TSSTb mul(0,1) mul(5,2) sub(3,6) select(4,7,3) store 8", {MW__BASE_AVX2_AVX512_LIST(sgd_scaled), MW__BASE_AVX2_AVX512_LIST(sgd_scaled_half), MW__BASE_AVX2_AVX512_LIST(sgd_scaled_chip)}},
    {"momentum", "TSTSTb mul(0,1) add(6,2) mul(7,3) sub(4,8) select(5,9,4) select(5,7,0) store 10,11", {MW__BASE_AVX2_AVX512_LIST(momentum), MW__BASE_AVX2_AVX512_LIST(momentum_half), MW__BASE_AVX2_AVX512_LIST(momentum_chip)}},
    {"momentum_scaled", "TSTSSTb mul(0,1) mul(2,3) add(8,7) mul(9,4) sub(5,10) select(6,11,5) select(6,9,2) store 12,13", {MW__BASE_AVX2_AVX512_LIST(momentum_scaled), MW__BASE_AVX2_AVX512_LIST(momentum_scaled_half), MW__BASE_AVX2_AVX512_LIST(momentum_scaled_chip)}},
    {"nesterov", "TSTSTb mul(0,1) add(6,2) mul(7,1) add(2,8) mul(9,3) sub(4,10) select(5,11,4) select(5,7,0) store 12,13", {MW__BASE_AVX2_AVX512_LIST(nesterov), MW__BASE_AVX2_AVX512_LIST(nesterov_half), MW__BASE_AVX2_AVX512_LIST(nesterov_chip)}},
    {"nesterov_scaled", "TSTSSTb mul(0,1) mul(2,3) add(8,7) mul(9,3) add(7,10) mul(11,4) sub(5,12) select(6,13,5) select(6,9,2) store 14,15", {MW__BASE_AVX2_AVX512_LIST(nesterov_scaled), MW__BASE_AVX2_AVX512_LIST(nesterov_scaled_half), MW__BASE_AVX2_AVX512_LIST(nesterov_scaled_chip)}},
    {"rmsprop", "TTSSSSSSTb abs(0) maximum(1,10) greater(11,2) select(12,11,3) real_div(1,13) real_div(10,13) square(14) square(15) mul(17,4) mul(16,5) add(19,18) sqrt(20) mul(13,21) add(22,6) real_div(0,23) mul(24,7) sub(8,25) select(9,26,8) select(9,22,1) store 27,28", {MW__BASE_AVX2_AVX512_LIST(rmsprop), MW__BASE_AVX2_AVX512_LIST(rmsprop_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_chip)}},
    {"rmsprop_momentum", "TTSSSSSTSSTb abs(0) maximum(1,12) greater(13,2) select(14,13,3) real_div(1,15) real_div(12,15) square(16) square(17) mul(19,4) mul(18,5) add(21,20) sqrt(22) mul(15,23) add(24,6) real_div(0,25) mul(7,8) add(27,26) mul(28,9) sub(10,29) select(11,30,10) select(11,28,7) select(11,24,1) store 31,32,33", {MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum), MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_chip)}},
    {"rmsprop_centered", "TTSTSSSSSSTb sub(0,1) mul(12,2) add(1,13) abs(12) maximum(3,15) greater(16,4) select(17,16,5) real_div(3,18) real_div(15,18) square(19) square(20) mul(22,6) mul(21,7) add(24,23) sqrt(25) mul(18,26) add(27,8) real_div(0,28) mul(29,9) sub(10,30) select(11,31,10) select(11,14,1) select(11,27,3) store 32,33,34", {MW__BASE_AVX2_AVX512_LIST(rmsprop_centered), MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_chip)}},
    {"adagrad", "TTSSSSTb abs(0) maximum(1,8) greater(9,2) select(10,9,3) real_div(1,11) real_div(8,11) square(12) square(13) add(14,15) sqrt(16) mul(11,17) add(18,4) real_div(0,19) mul(20,5) sub(6,21) select(7,22,6) select(7,18,1) store 23,24", {MW__BASE_AVX2_AVX512_LIST(adagrad), MW__BASE_AVX2_AVX512_LIST(adagrad_half), MW__BASE_AVX2_AVX512_LIST(adagrad_chip)}},
    {"lion", "TSTSSSSTSb mul(0,1) mul(2,3) add(10,11) mul(0,4) mul(2,5) add(13,14) sign(12) mul(16,6) mul(7,8) add(17,18) sub(7,19) select(9,20,7) select(9,15,0) store 21,22", {MW__BASE_AVX2_AVX512_LIST(lion), MW__BASE_AVX2_AVX512_LIST(lion_half), MW__BASE_AVX2_AVX512_LIST(lion_chip)}},
};

const size_t mw__precompiled_update_count = sizeof mw__precompiled_update / sizeof *mw__precompiled_update;
/* clang-format on */
