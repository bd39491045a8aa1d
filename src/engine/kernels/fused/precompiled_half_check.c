/* Precompiled kernels of checked updates in fp16, from precompiled.def by tools/precompiled.py. Do not edit.
 * A file that is kept rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is
 * fresh. */
/* clang-format off */
#include "engine/kernels/fused/precompiled.h"

#define adam_fp16_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; const float s10 = *x10; const float *const x11 = value[11]; \
    const float s11 = *x11; const float *const x12 = value[12]; float *const y0 = out[0]; float *const y1 = out[1]; \
    float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_add(v13[n][l], v14[n][l]); } } \
        after(2, EVEN, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s4); } } after(3, AWAY, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_abs(v16[n][l], pq[4][0], pq[4][1]); } } \
        after(4, EXACT, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_maximum(x5[i + n * (lanes) + l], s6); } } after(5, EXACT, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = quotient(v17[n][l], v18[n][l]); } } \
        after(6, EVEN, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_clip(v19[n][l], pq[7][0], pq[7][1]); } } after(7, EXACT, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_square(v20[n][l], pq[8][0], pq[8][1]); } } \
        after(8, EVEN, v21) float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_add(v21[n][l], s7); } } \
        after(9, EVEN, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_sqrt(v22[n][l], pq[10][0], pq[10][1]); } } after(10, EVEN, v23) \
        float v24[8][lanes]; EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_add(v23[n][l], s8); } } \
        after(11, EVEN, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_sub(v21[n][l], s9); } } after(12, EVEN, v25) \
        float v26[8][lanes]; EIGHT { EACH(lanes) { v26[n][l] = quotient(v25[n][l], v24[n][l]); } } \
        after(13, EVEN, v26) float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_mul(x5[i + n * (lanes) + l], v26[n][l]); } } \
        after(14, AWAY, v27) float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = mw__scalar_add(x5[i + n * (lanes) + l], v27[n][l]); } } \
        after(15, EVEN, v28) float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = mw__scalar_clip(v28[n][l], pq[16][0], pq[16][1]); } } after(16, EXACT, v29) \
        float v30[8][lanes]; EIGHT { EACH(lanes) { v30[n][l] = mw__scalar_maximum(v29[n][l], v17[n][l]); } } \
        after(17, EXACT, v30) float v31[8][lanes]; \
        EIGHT { EACH(lanes) { v31[n][l] = mw__scalar_add(v30[n][l], s10); } } after(18, EVEN, v31) \
        float v32[8][lanes]; EIGHT { EACH(lanes) { v32[n][l] = quotient(v15[n][l], v31[n][l]); } } \
        after(19, EVEN, v32) float v33[8][lanes]; \
        EIGHT { EACH(lanes) { v33[n][l] = mw__scalar_mul(v32[n][l], s11); } } after(20, AWAY, v33) \
        float v34[8][lanes]; \
        EIGHT { EACH(lanes) { v34[n][l] = mw__scalar_sub(x12[i + n * (lanes) + l], v33[n][l]); } } \
        after(21, EVEN, v34) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v15[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v30[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v34[n][l]; } } \
    }
MW__INLINE void adam_fp16_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float v10 = *(const float *)value[10];
    const float v11 = *(const float *)value[11]; const float *const x12 = value[12]; float *const y0 = out[0];
    float *const y1 = out[1]; float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v5 = x5[i]; const float v12 = x12[i];
        const float v13 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v14 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v15 = AFTER(2, EVEN, mw__scalar_add(v13, v14));
        const float v16 = AFTER(3, AWAY, mw__scalar_mul(v2, v4));
        const float v17 = AFTER(4, EXACT, mw__scalar_abs(v16, pq[4][0], pq[4][1]));
        const float v18 = AFTER(5, EXACT, mw__scalar_maximum(v5, v6));
        const float v19 = AFTER(6, EVEN, QUOTIENT(v17, v18));
        const float v20 = AFTER(7, EXACT, mw__scalar_clip(v19, pq[7][0], pq[7][1]));
        const float v21 = AFTER(8, EVEN, mw__scalar_square(v20, pq[8][0], pq[8][1]));
        const float v22 = AFTER(9, EVEN, mw__scalar_add(v21, v7));
        const float v23 = AFTER(10, EVEN, mw__scalar_sqrt(v22, pq[10][0], pq[10][1]));
        const float v24 = AFTER(11, EVEN, mw__scalar_add(v23, v8));
        const float v25 = AFTER(12, EVEN, mw__scalar_sub(v21, v9));
        const float v26 = AFTER(13, EVEN, QUOTIENT(v25, v24));
        const float v27 = AFTER(14, AWAY, mw__scalar_mul(v5, v26));
        const float v28 = AFTER(15, EVEN, mw__scalar_add(v5, v27));
        const float v29 = AFTER(16, EXACT, mw__scalar_clip(v28, pq[16][0], pq[16][1]));
        const float v30 = AFTER(17, EXACT, mw__scalar_maximum(v29, v17));
        const float v31 = AFTER(18, EVEN, mw__scalar_add(v30, v10));
        const float v32 = AFTER(19, EVEN, QUOTIENT(v15, v31));
        const float v33 = AFTER(20, AWAY, mw__scalar_mul(v32, v11));
        const float v34 = AFTER(21, EVEN, mw__scalar_sub(v12, v33)); y0[i] = v15; y1[i] = v30; y2[i] = v34;
    }
}
FORMS(adam_fp16_check)

#define adamw_fp16_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; const float s10 = *x10; const float *const x11 = value[11]; \
    const float s11 = *x11; const float *const x12 = value[12]; const float *const x13 = value[13]; \
    const float s13 = *x13; float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v14) float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_add(v14[n][l], v15[n][l]); } } \
        after(2, EVEN, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s4); } } after(3, AWAY, v17) \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_abs(v17[n][l], pq[4][0], pq[4][1]); } } \
        after(4, EXACT, v18) float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_maximum(x5[i + n * (lanes) + l], s6); } } after(5, EXACT, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = quotient(v18[n][l], v19[n][l]); } } \
        after(6, EVEN, v20) float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_clip(v20[n][l], pq[7][0], pq[7][1]); } } after(7, EXACT, v21) \
        float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_square(v21[n][l], pq[8][0], pq[8][1]); } } \
        after(8, EVEN, v22) float v23[8][lanes]; EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_add(v22[n][l], s7); } } \
        after(9, EVEN, v23) float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_sqrt(v23[n][l], pq[10][0], pq[10][1]); } } after(10, EVEN, v24) \
        float v25[8][lanes]; EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_add(v24[n][l], s8); } } \
        after(11, EVEN, v25) float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_sub(v22[n][l], s9); } } after(12, EVEN, v26) \
        float v27[8][lanes]; EIGHT { EACH(lanes) { v27[n][l] = quotient(v26[n][l], v25[n][l]); } } \
        after(13, EVEN, v27) float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = mw__scalar_mul(x5[i + n * (lanes) + l], v27[n][l]); } } \
        after(14, AWAY, v28) float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = mw__scalar_add(x5[i + n * (lanes) + l], v28[n][l]); } } \
        after(15, EVEN, v29) float v30[8][lanes]; \
        EIGHT { EACH(lanes) { v30[n][l] = mw__scalar_clip(v29[n][l], pq[16][0], pq[16][1]); } } after(16, EXACT, v30) \
        float v31[8][lanes]; EIGHT { EACH(lanes) { v31[n][l] = mw__scalar_maximum(v30[n][l], v18[n][l]); } } \
        after(17, EXACT, v31) float v32[8][lanes]; \
        EIGHT { EACH(lanes) { v32[n][l] = mw__scalar_add(v31[n][l], s10); } } after(18, EVEN, v32) \
        float v33[8][lanes]; EIGHT { EACH(lanes) { v33[n][l] = quotient(v16[n][l], v32[n][l]); } } \
        after(19, EVEN, v33) float v34[8][lanes]; \
        EIGHT { EACH(lanes) { v34[n][l] = mw__scalar_mul(v33[n][l], s11); } } after(20, AWAY, v34) \
        float v35[8][lanes]; EIGHT { EACH(lanes) { v35[n][l] = mw__scalar_mul(x12[i + n * (lanes) + l], s13); } } \
        after(21, AWAY, v35) float v36[8][lanes]; \
        EIGHT { EACH(lanes) { v36[n][l] = mw__scalar_add(v34[n][l], v35[n][l]); } } after(22, EVEN, v36) \
        float v37[8][lanes]; \
        EIGHT { EACH(lanes) { v37[n][l] = mw__scalar_sub(x12[i + n * (lanes) + l], v36[n][l]); } } \
        after(23, EVEN, v37) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v16[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v31[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v37[n][l]; } } \
    }
MW__INLINE void adamw_fp16_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float v10 = *(const float *)value[10];
    const float v11 = *(const float *)value[11]; const float *const x12 = value[12];
    const float v13 = *(const float *)value[13]; float *const y0 = out[0]; float *const y1 = out[1];
    float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v5 = x5[i]; const float v12 = x12[i];
        const float v14 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v15 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v16 = AFTER(2, EVEN, mw__scalar_add(v14, v15));
        const float v17 = AFTER(3, AWAY, mw__scalar_mul(v2, v4));
        const float v18 = AFTER(4, EXACT, mw__scalar_abs(v17, pq[4][0], pq[4][1]));
        const float v19 = AFTER(5, EXACT, mw__scalar_maximum(v5, v6));
        const float v20 = AFTER(6, EVEN, QUOTIENT(v18, v19));
        const float v21 = AFTER(7, EXACT, mw__scalar_clip(v20, pq[7][0], pq[7][1]));
        const float v22 = AFTER(8, EVEN, mw__scalar_square(v21, pq[8][0], pq[8][1]));
        const float v23 = AFTER(9, EVEN, mw__scalar_add(v22, v7));
        const float v24 = AFTER(10, EVEN, mw__scalar_sqrt(v23, pq[10][0], pq[10][1]));
        const float v25 = AFTER(11, EVEN, mw__scalar_add(v24, v8));
        const float v26 = AFTER(12, EVEN, mw__scalar_sub(v22, v9));
        const float v27 = AFTER(13, EVEN, QUOTIENT(v26, v25));
        const float v28 = AFTER(14, AWAY, mw__scalar_mul(v5, v27));
        const float v29 = AFTER(15, EVEN, mw__scalar_add(v5, v28));
        const float v30 = AFTER(16, EXACT, mw__scalar_clip(v29, pq[16][0], pq[16][1]));
        const float v31 = AFTER(17, EXACT, mw__scalar_maximum(v30, v18));
        const float v32 = AFTER(18, EVEN, mw__scalar_add(v31, v10));
        const float v33 = AFTER(19, EVEN, QUOTIENT(v16, v32));
        const float v34 = AFTER(20, AWAY, mw__scalar_mul(v33, v11));
        const float v35 = AFTER(21, AWAY, mw__scalar_mul(v12, v13));
        const float v36 = AFTER(22, EVEN, mw__scalar_add(v34, v35));
        const float v37 = AFTER(23, EVEN, mw__scalar_sub(v12, v36)); y0[i] = v16; y1[i] = v31; y2[i] = v37;
    }
}
FORMS(adamw_fp16_check)

#define rmsprop_fp16_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v10) float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_abs(v10[n][l], pq[1][0], pq[1][1]); } } after(1, EXACT, v11) \
        float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_maximum(x2[i + n * (lanes) + l], s3); } } \
        after(2, EXACT, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = quotient(v11[n][l], v12[n][l]); } } after(3, EVEN, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_clip(v13[n][l], pq[4][0], pq[4][1]); } } \
        after(4, EXACT, v14) float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_square(v14[n][l], pq[5][0], pq[5][1]); } } after(5, EVEN, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_add(v15[n][l], s4); } } after(6, EVEN, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_sqrt(v16[n][l], pq[7][0], pq[7][1]); } } \
        after(7, EVEN, v17) float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_add(v17[n][l], s5); } } \
        after(8, EVEN, v18) float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_sub(v15[n][l], s6); } } \
        after(9, EVEN, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = quotient(v19[n][l], v18[n][l]); } } after(10, EVEN, v20) \
        float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], v20[n][l]); } } \
        after(11, AWAY, v21) float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_add(x2[i + n * (lanes) + l], v21[n][l]); } } \
        after(12, EVEN, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_clip(v22[n][l], pq[13][0], pq[13][1]); } } after(13, EXACT, v23) \
        float v24[8][lanes]; EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_maximum(v23[n][l], v11[n][l]); } } \
        after(14, EXACT, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_add(v24[n][l], s7); } } after(15, EVEN, v25) \
        float v26[8][lanes]; EIGHT { EACH(lanes) { v26[n][l] = quotient(x0[i + n * (lanes) + l], v25[n][l]); } } \
        after(16, EVEN, v26) float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_mul(v26[n][l], s8); } } after(17, AWAY, v27) \
        float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = mw__scalar_sub(x9[i + n * (lanes) + l], v27[n][l]); } } \
        after(18, EVEN, v28) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v24[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v28[n][l]; } } \
    }
MW__INLINE void rmsprop_fp16_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float *const x9 = value[9]; float *const y0 = out[0]; float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v9 = x9[i];
        const float v10 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v11 = AFTER(1, EXACT, mw__scalar_abs(v10, pq[1][0], pq[1][1]));
        const float v12 = AFTER(2, EXACT, mw__scalar_maximum(v2, v3));
        const float v13 = AFTER(3, EVEN, QUOTIENT(v11, v12));
        const float v14 = AFTER(4, EXACT, mw__scalar_clip(v13, pq[4][0], pq[4][1]));
        const float v15 = AFTER(5, EVEN, mw__scalar_square(v14, pq[5][0], pq[5][1]));
        const float v16 = AFTER(6, EVEN, mw__scalar_add(v15, v4));
        const float v17 = AFTER(7, EVEN, mw__scalar_sqrt(v16, pq[7][0], pq[7][1]));
        const float v18 = AFTER(8, EVEN, mw__scalar_add(v17, v5));
        const float v19 = AFTER(9, EVEN, mw__scalar_sub(v15, v6));
        const float v20 = AFTER(10, EVEN, QUOTIENT(v19, v18));
        const float v21 = AFTER(11, AWAY, mw__scalar_mul(v2, v20));
        const float v22 = AFTER(12, EVEN, mw__scalar_add(v2, v21));
        const float v23 = AFTER(13, EXACT, mw__scalar_clip(v22, pq[13][0], pq[13][1]));
        const float v24 = AFTER(14, EXACT, mw__scalar_maximum(v23, v11));
        const float v25 = AFTER(15, EVEN, mw__scalar_add(v24, v7));
        const float v26 = AFTER(16, EVEN, QUOTIENT(v0, v25));
        const float v27 = AFTER(17, AWAY, mw__scalar_mul(v26, v8));
        const float v28 = AFTER(18, EVEN, mw__scalar_sub(v9, v27)); y0[i] = v24; y1[i] = v28;
    }
}
FORMS(rmsprop_fp16_check)

#define rmsprop_momentum_fp16_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; const float s10 = *x10; const float *const x11 = value[11]; \
    float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_abs(v12[n][l], pq[1][0], pq[1][1]); } } after(1, EXACT, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_maximum(x2[i + n * (lanes) + l], s3); } } \
        after(2, EXACT, v14) float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = quotient(v13[n][l], v14[n][l]); } } after(3, EVEN, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_clip(v15[n][l], pq[4][0], pq[4][1]); } } \
        after(4, EXACT, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_square(v16[n][l], pq[5][0], pq[5][1]); } } after(5, EVEN, v17) \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_add(v17[n][l], s4); } } after(6, EVEN, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_sqrt(v18[n][l], pq[7][0], pq[7][1]); } } \
        after(7, EVEN, v19) float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_add(v19[n][l], s5); } } \
        after(8, EVEN, v20) float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_sub(v17[n][l], s6); } } \
        after(9, EVEN, v21) float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = quotient(v21[n][l], v20[n][l]); } } after(10, EVEN, v22) \
        float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], v22[n][l]); } } \
        after(11, AWAY, v23) float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_add(x2[i + n * (lanes) + l], v23[n][l]); } } \
        after(12, EVEN, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_clip(v24[n][l], pq[13][0], pq[13][1]); } } after(13, EXACT, v25) \
        float v26[8][lanes]; EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_maximum(v25[n][l], v13[n][l]); } } \
        after(14, EXACT, v26) float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_add(v26[n][l], s7); } } after(15, EVEN, v27) \
        float v28[8][lanes]; EIGHT { EACH(lanes) { v28[n][l] = quotient(x0[i + n * (lanes) + l], v27[n][l]); } } \
        after(16, EVEN, v28) float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = mw__scalar_mul(x8[i + n * (lanes) + l], s9); } } after(17, AWAY, v29) \
        float v30[8][lanes]; EIGHT { EACH(lanes) { v30[n][l] = mw__scalar_add(v29[n][l], v28[n][l]); } } \
        after(18, EVEN, v30) float v31[8][lanes]; \
        EIGHT { EACH(lanes) { v31[n][l] = mw__scalar_mul(v30[n][l], s10); } } after(19, AWAY, v31) \
        float v32[8][lanes]; \
        EIGHT { EACH(lanes) { v32[n][l] = mw__scalar_sub(x11[i + n * (lanes) + l], v31[n][l]); } } \
        after(20, EVEN, v32) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v26[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v30[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v32[n][l]; } } \
    }
MW__INLINE void rmsprop_momentum_fp16_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float *const x8 = value[8];
    const float v9 = *(const float *)value[9]; const float v10 = *(const float *)value[10];
    const float *const x11 = value[11]; float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v8 = x8[i]; const float v11 = x11[i];
        const float v12 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v13 = AFTER(1, EXACT, mw__scalar_abs(v12, pq[1][0], pq[1][1]));
        const float v14 = AFTER(2, EXACT, mw__scalar_maximum(v2, v3));
        const float v15 = AFTER(3, EVEN, QUOTIENT(v13, v14));
        const float v16 = AFTER(4, EXACT, mw__scalar_clip(v15, pq[4][0], pq[4][1]));
        const float v17 = AFTER(5, EVEN, mw__scalar_square(v16, pq[5][0], pq[5][1]));
        const float v18 = AFTER(6, EVEN, mw__scalar_add(v17, v4));
        const float v19 = AFTER(7, EVEN, mw__scalar_sqrt(v18, pq[7][0], pq[7][1]));
        const float v20 = AFTER(8, EVEN, mw__scalar_add(v19, v5));
        const float v21 = AFTER(9, EVEN, mw__scalar_sub(v17, v6));
        const float v22 = AFTER(10, EVEN, QUOTIENT(v21, v20));
        const float v23 = AFTER(11, AWAY, mw__scalar_mul(v2, v22));
        const float v24 = AFTER(12, EVEN, mw__scalar_add(v2, v23));
        const float v25 = AFTER(13, EXACT, mw__scalar_clip(v24, pq[13][0], pq[13][1]));
        const float v26 = AFTER(14, EXACT, mw__scalar_maximum(v25, v13));
        const float v27 = AFTER(15, EVEN, mw__scalar_add(v26, v7));
        const float v28 = AFTER(16, EVEN, QUOTIENT(v0, v27));
        const float v29 = AFTER(17, AWAY, mw__scalar_mul(v8, v9));
        const float v30 = AFTER(18, EVEN, mw__scalar_add(v29, v28));
        const float v31 = AFTER(19, AWAY, mw__scalar_mul(v30, v10));
        const float v32 = AFTER(20, EVEN, mw__scalar_sub(v11, v31)); y0[i] = v26; y1[i] = v30; y2[i] = v32;
    }
}
FORMS(rmsprop_momentum_fp16_check)

#define rmsprop_centered_fp16_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; const float s6 = *x6; \
    const float *const x7 = value[7]; const float s7 = *x7; const float *const x8 = value[8]; const float s8 = *x8; \
    const float *const x9 = value[9]; const float s9 = *x9; const float *const x10 = value[10]; \
    const float s10 = *x10; const float *const x11 = value[11]; float *const y0 = out[0]; float *const y1 = out[1]; \
    float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_clip(v12[n][l], pq[1][0], pq[1][1]); } } after(1, EXACT, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(v13[n][l], s2); } } after(2, AWAY, v14) \
        float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_add(x1[i + n * (lanes) + l], v14[n][l]); } } after(3, EVEN, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_mul(v13[n][l], s3); } } after(4, AWAY, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_abs(v16[n][l], pq[5][0], pq[5][1]); } } \
        after(5, EXACT, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_maximum(x4[i + n * (lanes) + l], s5); } } after(6, EXACT, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = quotient(v17[n][l], v18[n][l]); } } \
        after(7, EVEN, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_clip(v19[n][l], pq[8][0], pq[8][1]); } } after(8, EXACT, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_square(v20[n][l], pq[9][0], pq[9][1]); } } \
        after(9, EVEN, v21) float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_add(v21[n][l], s6); } } \
        after(10, EVEN, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_sqrt(v22[n][l], pq[11][0], pq[11][1]); } } after(11, EVEN, v23) \
        float v24[8][lanes]; EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_add(v23[n][l], s7); } } \
        after(12, EVEN, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_sub(v21[n][l], s8); } } after(13, EVEN, v25) \
        float v26[8][lanes]; EIGHT { EACH(lanes) { v26[n][l] = quotient(v25[n][l], v24[n][l]); } } \
        after(14, EVEN, v26) float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_mul(x4[i + n * (lanes) + l], v26[n][l]); } } \
        after(15, AWAY, v27) float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = mw__scalar_add(x4[i + n * (lanes) + l], v27[n][l]); } } \
        after(16, EVEN, v28) float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = mw__scalar_clip(v28[n][l], pq[17][0], pq[17][1]); } } after(17, EXACT, v29) \
        float v30[8][lanes]; EIGHT { EACH(lanes) { v30[n][l] = mw__scalar_maximum(v29[n][l], v17[n][l]); } } \
        after(18, EXACT, v30) float v31[8][lanes]; \
        EIGHT { EACH(lanes) { v31[n][l] = mw__scalar_add(v30[n][l], s9); } } after(19, EVEN, v31) \
        float v32[8][lanes]; EIGHT { EACH(lanes) { v32[n][l] = quotient(x0[i + n * (lanes) + l], v31[n][l]); } } \
        after(20, EVEN, v32) float v33[8][lanes]; \
        EIGHT { EACH(lanes) { v33[n][l] = mw__scalar_mul(v32[n][l], s10); } } after(21, AWAY, v33) \
        float v34[8][lanes]; \
        EIGHT { EACH(lanes) { v34[n][l] = mw__scalar_sub(x11[i + n * (lanes) + l], v33[n][l]); } } \
        after(22, EVEN, v34) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v15[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v30[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v34[n][l]; } } \
    }
MW__INLINE void rmsprop_centered_fp16_check_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float v10 = *(const float *)value[10];
    const float *const x11 = value[11]; float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v4 = x4[i]; const float v11 = x11[i];
        const float v12 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v13 = AFTER(1, EXACT, mw__scalar_clip(v12, pq[1][0], pq[1][1]));
        const float v14 = AFTER(2, AWAY, mw__scalar_mul(v13, v2));
        const float v15 = AFTER(3, EVEN, mw__scalar_add(v1, v14));
        const float v16 = AFTER(4, AWAY, mw__scalar_mul(v13, v3));
        const float v17 = AFTER(5, EXACT, mw__scalar_abs(v16, pq[5][0], pq[5][1]));
        const float v18 = AFTER(6, EXACT, mw__scalar_maximum(v4, v5));
        const float v19 = AFTER(7, EVEN, QUOTIENT(v17, v18));
        const float v20 = AFTER(8, EXACT, mw__scalar_clip(v19, pq[8][0], pq[8][1]));
        const float v21 = AFTER(9, EVEN, mw__scalar_square(v20, pq[9][0], pq[9][1]));
        const float v22 = AFTER(10, EVEN, mw__scalar_add(v21, v6));
        const float v23 = AFTER(11, EVEN, mw__scalar_sqrt(v22, pq[11][0], pq[11][1]));
        const float v24 = AFTER(12, EVEN, mw__scalar_add(v23, v7));
        const float v25 = AFTER(13, EVEN, mw__scalar_sub(v21, v8));
        const float v26 = AFTER(14, EVEN, QUOTIENT(v25, v24));
        const float v27 = AFTER(15, AWAY, mw__scalar_mul(v4, v26));
        const float v28 = AFTER(16, EVEN, mw__scalar_add(v4, v27));
        const float v29 = AFTER(17, EXACT, mw__scalar_clip(v28, pq[17][0], pq[17][1]));
        const float v30 = AFTER(18, EXACT, mw__scalar_maximum(v29, v17));
        const float v31 = AFTER(19, EVEN, mw__scalar_add(v30, v9));
        const float v32 = AFTER(20, EVEN, QUOTIENT(v0, v31));
        const float v33 = AFTER(21, AWAY, mw__scalar_mul(v32, v10));
        const float v34 = AFTER(22, EVEN, mw__scalar_sub(v11, v33)); y0[i] = v15; y1[i] = v30; y2[i] = v34;
    }
}
FORMS(rmsprop_centered_fp16_check)

#define adagrad_fp16_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    const float s6 = *x6; const float *const x7 = value[7]; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v8[8][lanes]; \
        EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_abs(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EXACT, v8) float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_maximum(x1[i + n * (lanes) + l], s2); } } after(1, EXACT, v9) \
        float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = quotient(v8[n][l], v9[n][l]); } } after(2, EVEN, v10) \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_clip(v10[n][l], pq[3][0], pq[3][1]); } } \
        after(3, EXACT, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_square(v11[n][l], pq[4][0], pq[4][1]); } } after(4, EVEN, v12) \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_add(v12[n][l], s3); } } after(5, EVEN, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_sqrt(v13[n][l], pq[6][0], pq[6][1]); } } \
        after(6, EVEN, v14) float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_add(v14[n][l], s3); } } \
        after(7, EVEN, v15) float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_sub(v12[n][l], s4); } } \
        after(8, EVEN, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = quotient(v16[n][l], v15[n][l]); } } after(9, EVEN, v17) \
        float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_mul(x1[i + n * (lanes) + l], v17[n][l]); } } \
        after(10, AWAY, v18) float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_add(x1[i + n * (lanes) + l], v18[n][l]); } } \
        after(11, EVEN, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_clip(v19[n][l], pq[12][0], pq[12][1]); } } after(12, EXACT, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_maximum(v20[n][l], v8[n][l]); } } \
        after(13, EXACT, v21) float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_add(v21[n][l], s5); } } after(14, EVEN, v22) \
        float v23[8][lanes]; EIGHT { EACH(lanes) { v23[n][l] = quotient(x0[i + n * (lanes) + l], v22[n][l]); } } \
        after(15, EVEN, v23) float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_mul(v23[n][l], s6); } } after(16, AWAY, v24) \
        float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_sub(x7[i + n * (lanes) + l], v24[n][l]); } } \
        after(17, EVEN, v25) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v21[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v25[n][l]; } } \
    }
MW__INLINE void adagrad_fp16_check_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float *const x7 = value[7]; float *const y0 = out[0]; float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v7 = x7[i];
        const float v8 = AFTER(0, EXACT, mw__scalar_abs(v0, pq[0][0], pq[0][1]));
        const float v9 = AFTER(1, EXACT, mw__scalar_maximum(v1, v2));
        const float v10 = AFTER(2, EVEN, QUOTIENT(v8, v9));
        const float v11 = AFTER(3, EXACT, mw__scalar_clip(v10, pq[3][0], pq[3][1]));
        const float v12 = AFTER(4, EVEN, mw__scalar_square(v11, pq[4][0], pq[4][1]));
        const float v13 = AFTER(5, EVEN, mw__scalar_add(v12, v3));
        const float v14 = AFTER(6, EVEN, mw__scalar_sqrt(v13, pq[6][0], pq[6][1]));
        const float v15 = AFTER(7, EVEN, mw__scalar_add(v14, v3));
        const float v16 = AFTER(8, EVEN, mw__scalar_sub(v12, v4));
        const float v17 = AFTER(9, EVEN, QUOTIENT(v16, v15));
        const float v18 = AFTER(10, AWAY, mw__scalar_mul(v1, v17));
        const float v19 = AFTER(11, EVEN, mw__scalar_add(v1, v18));
        const float v20 = AFTER(12, EXACT, mw__scalar_clip(v19, pq[12][0], pq[12][1]));
        const float v21 = AFTER(13, EXACT, mw__scalar_maximum(v20, v8));
        const float v22 = AFTER(14, EVEN, mw__scalar_add(v21, v5));
        const float v23 = AFTER(15, EVEN, QUOTIENT(v0, v22));
        const float v24 = AFTER(16, AWAY, mw__scalar_mul(v23, v6));
        const float v25 = AFTER(17, EVEN, mw__scalar_sub(v7, v24)); y0[i] = v21; y1[i] = v25;
    }
}
FORMS(adagrad_fp16_check)

#define lion_fp16_check_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float *const x7 = value[7]; const float s7 = *x7; \
    float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v8[8][lanes]; EIGHT { EACH(lanes) { v8[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v8) float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v9) \
        float v10[8][lanes]; EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_add(v8[n][l], v9[n][l]); } } \
        after(2, EVEN, v10) float v11[8][lanes]; \
        EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_sub(x2[i + n * (lanes) + l], x0[i + n * (lanes) + l]); } } \
        after(3, EVEN, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_clip(v11[n][l], pq[4][0], pq[4][1]); } } after(4, EXACT, v12) \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(v12[n][l], s4); } } after(5, AWAY, v13) \
        float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_add(x0[i + n * (lanes) + l], v13[n][l]); } } after(6, EVEN, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_sign(v10[n][l], pq[7][0], pq[7][1]); } } \
        after(7, EXACT, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_mul(v15[n][l], s5); } } after(8, AWAY, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(x6[i + n * (lanes) + l], s7); } } after(9, AWAY, v17) \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_add(v16[n][l], v17[n][l]); } } \
        after(10, EVEN, v18) float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_sub(x6[i + n * (lanes) + l], v18[n][l]); } } \
        after(11, EVEN, v19) EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v14[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v19[n][l]; } } \
    }
MW__INLINE void lion_fp16_check_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float *const x6 = value[6];
    const float v7 = *(const float *)value[7]; float *const y0 = out[0]; float *const y1 = out[1];
    (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v6 = x6[i];
        const float v8 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v9 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v10 = AFTER(2, EVEN, mw__scalar_add(v8, v9));
        const float v11 = AFTER(3, EVEN, mw__scalar_sub(v2, v0));
        const float v12 = AFTER(4, EXACT, mw__scalar_clip(v11, pq[4][0], pq[4][1]));
        const float v13 = AFTER(5, AWAY, mw__scalar_mul(v12, v4));
        const float v14 = AFTER(6, EVEN, mw__scalar_add(v0, v13));
        const float v15 = AFTER(7, EXACT, mw__scalar_sign(v10, pq[7][0], pq[7][1]));
        const float v16 = AFTER(8, AWAY, mw__scalar_mul(v15, v5));
        const float v17 = AFTER(9, AWAY, mw__scalar_mul(v6, v7));
        const float v18 = AFTER(10, EVEN, mw__scalar_add(v16, v17));
        const float v19 = AFTER(11, EVEN, mw__scalar_sub(v6, v18)); y0[i] = v14; y1[i] = v19;
    }
}
FORMS(lion_fp16_check)

const mw__precompiled mw__precompiled_half_check[] = {
    {"adam_fp16_check", "TSTSSTSSSSSST mul(0,1) mul(2,3) add(13,14) mul(2,4) abs(16) maximum(5,6) real_div(17,18) clip(19) square(20) add(21,7) sqrt(22) add(23,8) sub(21,9) real_div(25,24) mul(5,26) add(5,27) clip(28) maximum(29,17) add(30,10) real_div(15,31) mul(32,11) sub(12,33) store 15,30,34", {MW__BASE_AVX2_AVX512_LIST(adam_fp16_check), MW__BASE_AVX2_AVX512_LIST(adam_fp16_check_half), MW__BASE_AVX2_AVX512_LIST(adam_fp16_check_chip)}},
    {"adamw_fp16_check", "TSTSSTSSSSSSTS mul(0,1) mul(2,3) add(14,15) mul(2,4) abs(17) maximum(5,6) real_div(18,19) clip(20) square(21) add(22,7) sqrt(23) add(24,8) sub(22,9) real_div(26,25) mul(5,27) add(5,28) clip(29) maximum(30,18) add(31,10) real_div(16,32) mul(33,11) mul(12,13) add(34,35) sub(12,36) store 16,31,37", {MW__BASE_AVX2_AVX512_LIST(adamw_fp16_check), MW__BASE_AVX2_AVX512_LIST(adamw_fp16_check_half), MW__BASE_AVX2_AVX512_LIST(adamw_fp16_check_chip)}},
    {"rmsprop_fp16_check", "TSTSSSSSST mul(0,1) abs(10) maximum(2,3) real_div(11,12) clip(13) square(14) add(15,4) sqrt(16) add(17,5) sub(15,6) real_div(19,18) mul(2,20) add(2,21) clip(22) maximum(23,11) add(24,7) real_div(0,25) mul(26,8) sub(9,27) store 24,28", {MW__BASE_AVX2_AVX512_LIST(rmsprop_fp16_check), MW__BASE_AVX2_AVX512_LIST(rmsprop_fp16_check_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_fp16_check_chip)}},
    {"rmsprop_momentum_fp16_check", "TSTSSSSSTSST mul(0,1) abs(12) maximum(2,3) real_div(13,14) clip(15) square(16) add(17,4) sqrt(18) add(19,5) sub(17,6) real_div(21,20) mul(2,22) add(2,23) clip(24) maximum(25,13) add(26,7) real_div(0,27) mul(8,9) add(29,28) mul(30,10) sub(11,31) store 26,30,32", {MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_fp16_check), MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_fp16_check_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_fp16_check_chip)}},
    {"rmsprop_centered_fp16_check", "TTSSTSSSSSST sub(0,1) clip(12) mul(13,2) add(1,14) mul(13,3) abs(16) maximum(4,5) real_div(17,18) clip(19) square(20) add(21,6) sqrt(22) add(23,7) sub(21,8) real_div(25,24) mul(4,26) add(4,27) clip(28) maximum(29,17) add(30,9) real_div(0,31) mul(32,10) sub(11,33) store 15,30,34", {MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_fp16_check), MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_fp16_check_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_fp16_check_chip)}},
    {"adagrad_fp16_check", "TTSSSSST abs(0) maximum(1,2) real_div(8,9) clip(10) square(11) add(12,3) sqrt(13) add(14,3) sub(12,4) real_div(16,15) mul(1,17) add(1,18) clip(19) maximum(20,8) add(21,5) real_div(0,22) mul(23,6) sub(7,24) store 21,25", {MW__BASE_AVX2_AVX512_LIST(adagrad_fp16_check), MW__BASE_AVX2_AVX512_LIST(adagrad_fp16_check_half), MW__BASE_AVX2_AVX512_LIST(adagrad_fp16_check_chip)}},
    {"lion_fp16_check", "TSTSSSTS mul(0,1) mul(2,3) add(8,9) sub(2,0) clip(11) mul(12,4) add(0,13) sign(10) mul(15,5) mul(6,7) add(16,17) sub(6,18) store 14,19", {MW__BASE_AVX2_AVX512_LIST(lion_fp16_check), MW__BASE_AVX2_AVX512_LIST(lion_fp16_check_half), MW__BASE_AVX2_AVX512_LIST(lion_fp16_check_chip)}},
};

const size_t mw__precompiled_half_check_count = sizeof mw__precompiled_half_check / sizeof *mw__precompiled_half_check;
/* clang-format on */
