/* Precompiled kernels of the optimizers in fp16, from precompiled.def by tools/precompiled.py. Do not edit.
 * A file that is kept rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is
 * fresh. */
/* clang-format off */
#include "engine/kernels/fused/precompiled.h"

#define adam_fp16_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; const float s10 = *x10; const float *const x11 = value[11]; \
    const float s11 = *x11; const float *const x12 = value[12]; const uint8_t *const x13 = value[13]; \
    const uint8_t s13 = *x13; float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
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
        float v35[8][lanes]; \
        EIGHT { EACH(lanes) { v35[n][l] = mw__scalar_sub(x12[i + n * (lanes) + l], v34[n][l]); } } \
        after(21, EVEN, v35) float v36[8][lanes]; \
        EIGHT { EACH(lanes) { v36[n][l] = chosen(MASK(s13 != 0), v35[n][l], x12[i + n * (lanes) + l]); } } \
        float v37[8][lanes]; \
        EIGHT { EACH(lanes) { v37[n][l] = chosen(MASK(s13 != 0), v16[n][l], x0[i + n * (lanes) + l]); } } \
        float v38[8][lanes]; \
        EIGHT { EACH(lanes) { v38[n][l] = chosen(MASK(s13 != 0), v31[n][l], x5[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v36[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v37[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v38[n][l]; } } \
    }
MW__INLINE void adam_fp16_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float v10 = *(const float *)value[10];
    const float v11 = *(const float *)value[11]; const float *const x12 = value[12];
    const uint8_t v13 = *(const uint8_t *)value[13]; float *const y0 = out[0]; float *const y1 = out[1];
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
        const float v35 = AFTER(21, EVEN, mw__scalar_sub(v12, v34)); const float v36 = v13 != 0 ? v35 : v12;
        const float v37 = v13 != 0 ? v16 : v0; const float v38 = v13 != 0 ? v31 : v5; y0[i] = v36; y1[i] = v37;
        y2[i] = v38;
    }
}
FORMS(adam_fp16)

#define adamw_fp16_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; const float s10 = *x10; const float *const x11 = value[11]; \
    const float s11 = *x11; const float *const x12 = value[12]; const float *const x13 = value[13]; \
    const float s13 = *x13; const uint8_t *const x14 = value[14]; const uint8_t s14 = *x14; float *const y0 = out[0]; \
    float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_add(v15[n][l], v16[n][l]); } } \
        after(2, EVEN, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s4); } } after(3, AWAY, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_abs(v18[n][l], pq[4][0], pq[4][1]); } } \
        after(4, EXACT, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_maximum(x5[i + n * (lanes) + l], s6); } } after(5, EXACT, v20) \
        float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = quotient(v19[n][l], v20[n][l]); } } \
        after(6, EVEN, v21) float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_clip(v21[n][l], pq[7][0], pq[7][1]); } } after(7, EXACT, v22) \
        float v23[8][lanes]; EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_square(v22[n][l], pq[8][0], pq[8][1]); } } \
        after(8, EVEN, v23) float v24[8][lanes]; EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_add(v23[n][l], s7); } } \
        after(9, EVEN, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_sqrt(v24[n][l], pq[10][0], pq[10][1]); } } after(10, EVEN, v25) \
        float v26[8][lanes]; EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_add(v25[n][l], s8); } } \
        after(11, EVEN, v26) float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_sub(v23[n][l], s9); } } after(12, EVEN, v27) \
        float v28[8][lanes]; EIGHT { EACH(lanes) { v28[n][l] = quotient(v27[n][l], v26[n][l]); } } \
        after(13, EVEN, v28) float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = mw__scalar_mul(x5[i + n * (lanes) + l], v28[n][l]); } } \
        after(14, AWAY, v29) float v30[8][lanes]; \
        EIGHT { EACH(lanes) { v30[n][l] = mw__scalar_add(x5[i + n * (lanes) + l], v29[n][l]); } } \
        after(15, EVEN, v30) float v31[8][lanes]; \
        EIGHT { EACH(lanes) { v31[n][l] = mw__scalar_clip(v30[n][l], pq[16][0], pq[16][1]); } } after(16, EXACT, v31) \
        float v32[8][lanes]; EIGHT { EACH(lanes) { v32[n][l] = mw__scalar_maximum(v31[n][l], v19[n][l]); } } \
        after(17, EXACT, v32) float v33[8][lanes]; \
        EIGHT { EACH(lanes) { v33[n][l] = mw__scalar_add(v32[n][l], s10); } } after(18, EVEN, v33) \
        float v34[8][lanes]; EIGHT { EACH(lanes) { v34[n][l] = quotient(v17[n][l], v33[n][l]); } } \
        after(19, EVEN, v34) float v35[8][lanes]; \
        EIGHT { EACH(lanes) { v35[n][l] = mw__scalar_mul(v34[n][l], s11); } } after(20, AWAY, v35) \
        float v36[8][lanes]; EIGHT { EACH(lanes) { v36[n][l] = mw__scalar_mul(x12[i + n * (lanes) + l], s13); } } \
        after(21, AWAY, v36) float v37[8][lanes]; \
        EIGHT { EACH(lanes) { v37[n][l] = mw__scalar_add(v35[n][l], v36[n][l]); } } after(22, EVEN, v37) \
        float v38[8][lanes]; \
        EIGHT { EACH(lanes) { v38[n][l] = mw__scalar_sub(x12[i + n * (lanes) + l], v37[n][l]); } } \
        after(23, EVEN, v38) float v39[8][lanes]; \
        EIGHT { EACH(lanes) { v39[n][l] = chosen(MASK(s14 != 0), v38[n][l], x12[i + n * (lanes) + l]); } } \
        float v40[8][lanes]; \
        EIGHT { EACH(lanes) { v40[n][l] = chosen(MASK(s14 != 0), v17[n][l], x0[i + n * (lanes) + l]); } } \
        float v41[8][lanes]; \
        EIGHT { EACH(lanes) { v41[n][l] = chosen(MASK(s14 != 0), v32[n][l], x5[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v39[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v40[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v41[n][l]; } } \
    }
MW__INLINE void adamw_fp16_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float *const x5 = value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float v10 = *(const float *)value[10];
    const float v11 = *(const float *)value[11]; const float *const x12 = value[12];
    const float v13 = *(const float *)value[13]; const uint8_t v14 = *(const uint8_t *)value[14];
    float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v5 = x5[i]; const float v12 = x12[i];
        const float v15 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v16 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v17 = AFTER(2, EVEN, mw__scalar_add(v15, v16));
        const float v18 = AFTER(3, AWAY, mw__scalar_mul(v2, v4));
        const float v19 = AFTER(4, EXACT, mw__scalar_abs(v18, pq[4][0], pq[4][1]));
        const float v20 = AFTER(5, EXACT, mw__scalar_maximum(v5, v6));
        const float v21 = AFTER(6, EVEN, QUOTIENT(v19, v20));
        const float v22 = AFTER(7, EXACT, mw__scalar_clip(v21, pq[7][0], pq[7][1]));
        const float v23 = AFTER(8, EVEN, mw__scalar_square(v22, pq[8][0], pq[8][1]));
        const float v24 = AFTER(9, EVEN, mw__scalar_add(v23, v7));
        const float v25 = AFTER(10, EVEN, mw__scalar_sqrt(v24, pq[10][0], pq[10][1]));
        const float v26 = AFTER(11, EVEN, mw__scalar_add(v25, v8));
        const float v27 = AFTER(12, EVEN, mw__scalar_sub(v23, v9));
        const float v28 = AFTER(13, EVEN, QUOTIENT(v27, v26));
        const float v29 = AFTER(14, AWAY, mw__scalar_mul(v5, v28));
        const float v30 = AFTER(15, EVEN, mw__scalar_add(v5, v29));
        const float v31 = AFTER(16, EXACT, mw__scalar_clip(v30, pq[16][0], pq[16][1]));
        const float v32 = AFTER(17, EXACT, mw__scalar_maximum(v31, v19));
        const float v33 = AFTER(18, EVEN, mw__scalar_add(v32, v10));
        const float v34 = AFTER(19, EVEN, QUOTIENT(v17, v33));
        const float v35 = AFTER(20, AWAY, mw__scalar_mul(v34, v11));
        const float v36 = AFTER(21, AWAY, mw__scalar_mul(v12, v13));
        const float v37 = AFTER(22, EVEN, mw__scalar_add(v35, v36));
        const float v38 = AFTER(23, EVEN, mw__scalar_sub(v12, v37)); const float v39 = v14 != 0 ? v38 : v12;
        const float v40 = v14 != 0 ? v17 : v0; const float v41 = v14 != 0 ? v32 : v5; y0[i] = v39; y1[i] = v40;
        y2[i] = v41;
    }
}
FORMS(adamw_fp16)

#define rmsprop_fp16_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float s8 = *x8; const float *const x9 = value[9]; \
    const uint8_t *const x10 = value[10]; const uint8_t s10 = *x10; float *const y0 = out[0]; \
    float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_abs(v11[n][l], pq[1][0], pq[1][1]); } } after(1, EXACT, v12) \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_maximum(x2[i + n * (lanes) + l], s3); } } \
        after(2, EXACT, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = quotient(v12[n][l], v13[n][l]); } } after(3, EVEN, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_clip(v14[n][l], pq[4][0], pq[4][1]); } } \
        after(4, EXACT, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_square(v15[n][l], pq[5][0], pq[5][1]); } } after(5, EVEN, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_add(v16[n][l], s4); } } after(6, EVEN, v17) \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_sqrt(v17[n][l], pq[7][0], pq[7][1]); } } \
        after(7, EVEN, v18) float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_add(v18[n][l], s5); } } \
        after(8, EVEN, v19) float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_sub(v16[n][l], s6); } } \
        after(9, EVEN, v20) float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = quotient(v20[n][l], v19[n][l]); } } after(10, EVEN, v21) \
        float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], v21[n][l]); } } \
        after(11, AWAY, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_add(x2[i + n * (lanes) + l], v22[n][l]); } } \
        after(12, EVEN, v23) float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_clip(v23[n][l], pq[13][0], pq[13][1]); } } after(13, EXACT, v24) \
        float v25[8][lanes]; EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_maximum(v24[n][l], v12[n][l]); } } \
        after(14, EXACT, v25) float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_add(v25[n][l], s7); } } after(15, EVEN, v26) \
        float v27[8][lanes]; EIGHT { EACH(lanes) { v27[n][l] = quotient(x0[i + n * (lanes) + l], v26[n][l]); } } \
        after(16, EVEN, v27) float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = mw__scalar_mul(v27[n][l], s8); } } after(17, AWAY, v28) \
        float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = mw__scalar_sub(x9[i + n * (lanes) + l], v28[n][l]); } } \
        after(18, EVEN, v29) float v30[8][lanes]; \
        EIGHT { EACH(lanes) { v30[n][l] = chosen(MASK(s10 != 0), v29[n][l], x9[i + n * (lanes) + l]); } } \
        float v31[8][lanes]; \
        EIGHT { EACH(lanes) { v31[n][l] = chosen(MASK(s10 != 0), v25[n][l], x2[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v30[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v31[n][l]; } } \
    }
MW__INLINE void rmsprop_fp16_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float *const x9 = value[9]; const uint8_t v10 = *(const uint8_t *)value[10]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v9 = x9[i];
        const float v11 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v12 = AFTER(1, EXACT, mw__scalar_abs(v11, pq[1][0], pq[1][1]));
        const float v13 = AFTER(2, EXACT, mw__scalar_maximum(v2, v3));
        const float v14 = AFTER(3, EVEN, QUOTIENT(v12, v13));
        const float v15 = AFTER(4, EXACT, mw__scalar_clip(v14, pq[4][0], pq[4][1]));
        const float v16 = AFTER(5, EVEN, mw__scalar_square(v15, pq[5][0], pq[5][1]));
        const float v17 = AFTER(6, EVEN, mw__scalar_add(v16, v4));
        const float v18 = AFTER(7, EVEN, mw__scalar_sqrt(v17, pq[7][0], pq[7][1]));
        const float v19 = AFTER(8, EVEN, mw__scalar_add(v18, v5));
        const float v20 = AFTER(9, EVEN, mw__scalar_sub(v16, v6));
        const float v21 = AFTER(10, EVEN, QUOTIENT(v20, v19));
        const float v22 = AFTER(11, AWAY, mw__scalar_mul(v2, v21));
        const float v23 = AFTER(12, EVEN, mw__scalar_add(v2, v22));
        const float v24 = AFTER(13, EXACT, mw__scalar_clip(v23, pq[13][0], pq[13][1]));
        const float v25 = AFTER(14, EXACT, mw__scalar_maximum(v24, v12));
        const float v26 = AFTER(15, EVEN, mw__scalar_add(v25, v7));
        const float v27 = AFTER(16, EVEN, QUOTIENT(v0, v26));
        const float v28 = AFTER(17, AWAY, mw__scalar_mul(v27, v8));
        const float v29 = AFTER(18, EVEN, mw__scalar_sub(v9, v28)); const float v30 = v10 != 0 ? v29 : v9;
        const float v31 = v10 != 0 ? v25 : v2; y0[i] = v30; y1[i] = v31;
    }
}
FORMS(rmsprop_fp16)

#define rmsprop_momentum_fp16_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float s6 = *x6; const float *const x7 = value[7]; const float s7 = *x7; \
    const float *const x8 = value[8]; const float *const x9 = value[9]; const float s9 = *x9; \
    const float *const x10 = value[10]; const float s10 = *x10; const float *const x11 = value[11]; \
    const uint8_t *const x12 = value[12]; const uint8_t s12 = *x12; float *const y0 = out[0]; \
    float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v13[8][lanes]; EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_abs(v13[n][l], pq[1][0], pq[1][1]); } } after(1, EXACT, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_maximum(x2[i + n * (lanes) + l], s3); } } \
        after(2, EXACT, v15) float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = quotient(v14[n][l], v15[n][l]); } } after(3, EVEN, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_clip(v16[n][l], pq[4][0], pq[4][1]); } } \
        after(4, EXACT, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_square(v17[n][l], pq[5][0], pq[5][1]); } } after(5, EVEN, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_add(v18[n][l], s4); } } after(6, EVEN, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_sqrt(v19[n][l], pq[7][0], pq[7][1]); } } \
        after(7, EVEN, v20) float v21[8][lanes]; EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_add(v20[n][l], s5); } } \
        after(8, EVEN, v21) float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_sub(v18[n][l], s6); } } \
        after(9, EVEN, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = quotient(v22[n][l], v21[n][l]); } } after(10, EVEN, v23) \
        float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], v23[n][l]); } } \
        after(11, AWAY, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_add(x2[i + n * (lanes) + l], v24[n][l]); } } \
        after(12, EVEN, v25) float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_clip(v25[n][l], pq[13][0], pq[13][1]); } } after(13, EXACT, v26) \
        float v27[8][lanes]; EIGHT { EACH(lanes) { v27[n][l] = mw__scalar_maximum(v26[n][l], v14[n][l]); } } \
        after(14, EXACT, v27) float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = mw__scalar_add(v27[n][l], s7); } } after(15, EVEN, v28) \
        float v29[8][lanes]; EIGHT { EACH(lanes) { v29[n][l] = quotient(x0[i + n * (lanes) + l], v28[n][l]); } } \
        after(16, EVEN, v29) float v30[8][lanes]; \
        EIGHT { EACH(lanes) { v30[n][l] = mw__scalar_mul(x8[i + n * (lanes) + l], s9); } } after(17, AWAY, v30) \
        float v31[8][lanes]; EIGHT { EACH(lanes) { v31[n][l] = mw__scalar_add(v30[n][l], v29[n][l]); } } \
        after(18, EVEN, v31) float v32[8][lanes]; \
        EIGHT { EACH(lanes) { v32[n][l] = mw__scalar_mul(v31[n][l], s10); } } after(19, AWAY, v32) \
        float v33[8][lanes]; \
        EIGHT { EACH(lanes) { v33[n][l] = mw__scalar_sub(x11[i + n * (lanes) + l], v32[n][l]); } } \
        after(20, EVEN, v33) float v34[8][lanes]; \
        EIGHT { EACH(lanes) { v34[n][l] = chosen(MASK(s12 != 0), v33[n][l], x11[i + n * (lanes) + l]); } } \
        float v35[8][lanes]; \
        EIGHT { EACH(lanes) { v35[n][l] = chosen(MASK(s12 != 0), v31[n][l], x8[i + n * (lanes) + l]); } } \
        float v36[8][lanes]; \
        EIGHT { EACH(lanes) { v36[n][l] = chosen(MASK(s12 != 0), v27[n][l], x2[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v34[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v35[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v36[n][l]; } } \
    }
MW__INLINE void rmsprop_momentum_fp16_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float *const x8 = value[8];
    const float v9 = *(const float *)value[9]; const float v10 = *(const float *)value[10];
    const float *const x11 = value[11]; const uint8_t v12 = *(const uint8_t *)value[12]; float *const y0 = out[0];
    float *const y1 = out[1]; float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v8 = x8[i]; const float v11 = x11[i];
        const float v13 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v14 = AFTER(1, EXACT, mw__scalar_abs(v13, pq[1][0], pq[1][1]));
        const float v15 = AFTER(2, EXACT, mw__scalar_maximum(v2, v3));
        const float v16 = AFTER(3, EVEN, QUOTIENT(v14, v15));
        const float v17 = AFTER(4, EXACT, mw__scalar_clip(v16, pq[4][0], pq[4][1]));
        const float v18 = AFTER(5, EVEN, mw__scalar_square(v17, pq[5][0], pq[5][1]));
        const float v19 = AFTER(6, EVEN, mw__scalar_add(v18, v4));
        const float v20 = AFTER(7, EVEN, mw__scalar_sqrt(v19, pq[7][0], pq[7][1]));
        const float v21 = AFTER(8, EVEN, mw__scalar_add(v20, v5));
        const float v22 = AFTER(9, EVEN, mw__scalar_sub(v18, v6));
        const float v23 = AFTER(10, EVEN, QUOTIENT(v22, v21));
        const float v24 = AFTER(11, AWAY, mw__scalar_mul(v2, v23));
        const float v25 = AFTER(12, EVEN, mw__scalar_add(v2, v24));
        const float v26 = AFTER(13, EXACT, mw__scalar_clip(v25, pq[13][0], pq[13][1]));
        const float v27 = AFTER(14, EXACT, mw__scalar_maximum(v26, v14));
        const float v28 = AFTER(15, EVEN, mw__scalar_add(v27, v7));
        const float v29 = AFTER(16, EVEN, QUOTIENT(v0, v28));
        const float v30 = AFTER(17, AWAY, mw__scalar_mul(v8, v9));
        const float v31 = AFTER(18, EVEN, mw__scalar_add(v30, v29));
        const float v32 = AFTER(19, AWAY, mw__scalar_mul(v31, v10));
        const float v33 = AFTER(20, EVEN, mw__scalar_sub(v11, v32)); const float v34 = v12 != 0 ? v33 : v11;
        const float v35 = v12 != 0 ? v31 : v8; const float v36 = v12 != 0 ? v27 : v2; y0[i] = v34; y1[i] = v35;
        y2[i] = v36;
    }
}
FORMS(rmsprop_momentum_fp16)

#define rmsprop_centered_fp16_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; const float s6 = *x6; \
    const float *const x7 = value[7]; const float s7 = *x7; const float *const x8 = value[8]; const float s8 = *x8; \
    const float *const x9 = value[9]; const float s9 = *x9; const float *const x10 = value[10]; \
    const float s10 = *x10; const float *const x11 = value[11]; const uint8_t *const x12 = value[12]; \
    const uint8_t s12 = *x12; float *const y0 = out[0]; float *const y1 = out[1]; float *const y2 = out[2]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_sub(x0[i + n * (lanes) + l], x1[i + n * (lanes) + l]); } } \
        after(0, EVEN, v13) float v14[8][lanes]; \
        EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_clip(v13[n][l], pq[1][0], pq[1][1]); } } after(1, EXACT, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_mul(v14[n][l], s2); } } after(2, AWAY, v15) \
        float v16[8][lanes]; \
        EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_add(x1[i + n * (lanes) + l], v15[n][l]); } } after(3, EVEN, v16) \
        float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(v14[n][l], s3); } } after(4, AWAY, v17) \
        float v18[8][lanes]; EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_abs(v17[n][l], pq[5][0], pq[5][1]); } } \
        after(5, EXACT, v18) float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_maximum(x4[i + n * (lanes) + l], s5); } } after(6, EXACT, v19) \
        float v20[8][lanes]; EIGHT { EACH(lanes) { v20[n][l] = quotient(v18[n][l], v19[n][l]); } } \
        after(7, EVEN, v20) float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_clip(v20[n][l], pq[8][0], pq[8][1]); } } after(8, EXACT, v21) \
        float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_square(v21[n][l], pq[9][0], pq[9][1]); } } \
        after(9, EVEN, v22) float v23[8][lanes]; EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_add(v22[n][l], s6); } } \
        after(10, EVEN, v23) float v24[8][lanes]; \
        EIGHT { EACH(lanes) { v24[n][l] = mw__scalar_sqrt(v23[n][l], pq[11][0], pq[11][1]); } } after(11, EVEN, v24) \
        float v25[8][lanes]; EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_add(v24[n][l], s7); } } \
        after(12, EVEN, v25) float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_sub(v22[n][l], s8); } } after(13, EVEN, v26) \
        float v27[8][lanes]; EIGHT { EACH(lanes) { v27[n][l] = quotient(v26[n][l], v25[n][l]); } } \
        after(14, EVEN, v27) float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = mw__scalar_mul(x4[i + n * (lanes) + l], v27[n][l]); } } \
        after(15, AWAY, v28) float v29[8][lanes]; \
        EIGHT { EACH(lanes) { v29[n][l] = mw__scalar_add(x4[i + n * (lanes) + l], v28[n][l]); } } \
        after(16, EVEN, v29) float v30[8][lanes]; \
        EIGHT { EACH(lanes) { v30[n][l] = mw__scalar_clip(v29[n][l], pq[17][0], pq[17][1]); } } after(17, EXACT, v30) \
        float v31[8][lanes]; EIGHT { EACH(lanes) { v31[n][l] = mw__scalar_maximum(v30[n][l], v18[n][l]); } } \
        after(18, EXACT, v31) float v32[8][lanes]; \
        EIGHT { EACH(lanes) { v32[n][l] = mw__scalar_add(v31[n][l], s9); } } after(19, EVEN, v32) \
        float v33[8][lanes]; EIGHT { EACH(lanes) { v33[n][l] = quotient(x0[i + n * (lanes) + l], v32[n][l]); } } \
        after(20, EVEN, v33) float v34[8][lanes]; \
        EIGHT { EACH(lanes) { v34[n][l] = mw__scalar_mul(v33[n][l], s10); } } after(21, AWAY, v34) \
        float v35[8][lanes]; \
        EIGHT { EACH(lanes) { v35[n][l] = mw__scalar_sub(x11[i + n * (lanes) + l], v34[n][l]); } } \
        after(22, EVEN, v35) float v36[8][lanes]; \
        EIGHT { EACH(lanes) { v36[n][l] = chosen(MASK(s12 != 0), v35[n][l], x11[i + n * (lanes) + l]); } } \
        float v37[8][lanes]; \
        EIGHT { EACH(lanes) { v37[n][l] = chosen(MASK(s12 != 0), v16[n][l], x1[i + n * (lanes) + l]); } } \
        float v38[8][lanes]; \
        EIGHT { EACH(lanes) { v38[n][l] = chosen(MASK(s12 != 0), v31[n][l], x4[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v36[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v37[n][l]; } } \
        EIGHT { EACH(lanes) { y2[i + n * (lanes) + l] = v38[n][l]; } } \
    }
MW__INLINE void rmsprop_centered_fp16_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float *const x4 = value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float v7 = *(const float *)value[7]; const float v8 = *(const float *)value[8];
    const float v9 = *(const float *)value[9]; const float v10 = *(const float *)value[10];
    const float *const x11 = value[11]; const uint8_t v12 = *(const uint8_t *)value[12]; float *const y0 = out[0];
    float *const y1 = out[1]; float *const y2 = out[2]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v4 = x4[i]; const float v11 = x11[i];
        const float v13 = AFTER(0, EVEN, mw__scalar_sub(v0, v1));
        const float v14 = AFTER(1, EXACT, mw__scalar_clip(v13, pq[1][0], pq[1][1]));
        const float v15 = AFTER(2, AWAY, mw__scalar_mul(v14, v2));
        const float v16 = AFTER(3, EVEN, mw__scalar_add(v1, v15));
        const float v17 = AFTER(4, AWAY, mw__scalar_mul(v14, v3));
        const float v18 = AFTER(5, EXACT, mw__scalar_abs(v17, pq[5][0], pq[5][1]));
        const float v19 = AFTER(6, EXACT, mw__scalar_maximum(v4, v5));
        const float v20 = AFTER(7, EVEN, QUOTIENT(v18, v19));
        const float v21 = AFTER(8, EXACT, mw__scalar_clip(v20, pq[8][0], pq[8][1]));
        const float v22 = AFTER(9, EVEN, mw__scalar_square(v21, pq[9][0], pq[9][1]));
        const float v23 = AFTER(10, EVEN, mw__scalar_add(v22, v6));
        const float v24 = AFTER(11, EVEN, mw__scalar_sqrt(v23, pq[11][0], pq[11][1]));
        const float v25 = AFTER(12, EVEN, mw__scalar_add(v24, v7));
        const float v26 = AFTER(13, EVEN, mw__scalar_sub(v22, v8));
        const float v27 = AFTER(14, EVEN, QUOTIENT(v26, v25));
        const float v28 = AFTER(15, AWAY, mw__scalar_mul(v4, v27));
        const float v29 = AFTER(16, EVEN, mw__scalar_add(v4, v28));
        const float v30 = AFTER(17, EXACT, mw__scalar_clip(v29, pq[17][0], pq[17][1]));
        const float v31 = AFTER(18, EXACT, mw__scalar_maximum(v30, v18));
        const float v32 = AFTER(19, EVEN, mw__scalar_add(v31, v9));
        const float v33 = AFTER(20, EVEN, QUOTIENT(v0, v32));
        const float v34 = AFTER(21, AWAY, mw__scalar_mul(v33, v10));
        const float v35 = AFTER(22, EVEN, mw__scalar_sub(v11, v34)); const float v36 = v12 != 0 ? v35 : v11;
        const float v37 = v12 != 0 ? v16 : v1; const float v38 = v12 != 0 ? v31 : v4; y0[i] = v36; y1[i] = v37;
        y2[i] = v38;
    }
}
FORMS(rmsprop_centered_fp16)

#define adagrad_fp16_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float *const x2 = value[2]; \
    const float s2 = *x2; const float *const x3 = value[3]; const float s3 = *x3; const float *const x4 = value[4]; \
    const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; const float *const x6 = value[6]; \
    const float s6 = *x6; const float *const x7 = value[7]; const uint8_t *const x8 = value[8]; \
    const uint8_t s8 = *x8; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v9[8][lanes]; \
        EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_abs(x0[i + n * (lanes) + l], pq[0][0], pq[0][1]); } } \
        after(0, EXACT, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_maximum(x1[i + n * (lanes) + l], s2); } } after(1, EXACT, v10) \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = quotient(v9[n][l], v10[n][l]); } } after(2, EVEN, v11) \
        float v12[8][lanes]; EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_clip(v11[n][l], pq[3][0], pq[3][1]); } } \
        after(3, EXACT, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_square(v12[n][l], pq[4][0], pq[4][1]); } } after(4, EVEN, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_add(v13[n][l], s3); } } after(5, EVEN, v14) \
        float v15[8][lanes]; EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_sqrt(v14[n][l], pq[6][0], pq[6][1]); } } \
        after(6, EVEN, v15) float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_add(v15[n][l], s3); } } \
        after(7, EVEN, v16) float v17[8][lanes]; EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_sub(v13[n][l], s4); } } \
        after(8, EVEN, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = quotient(v17[n][l], v16[n][l]); } } after(9, EVEN, v18) \
        float v19[8][lanes]; \
        EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_mul(x1[i + n * (lanes) + l], v18[n][l]); } } \
        after(10, AWAY, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_add(x1[i + n * (lanes) + l], v19[n][l]); } } \
        after(11, EVEN, v20) float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = mw__scalar_clip(v20[n][l], pq[12][0], pq[12][1]); } } after(12, EXACT, v21) \
        float v22[8][lanes]; EIGHT { EACH(lanes) { v22[n][l] = mw__scalar_maximum(v21[n][l], v9[n][l]); } } \
        after(13, EXACT, v22) float v23[8][lanes]; \
        EIGHT { EACH(lanes) { v23[n][l] = mw__scalar_add(v22[n][l], s5); } } after(14, EVEN, v23) \
        float v24[8][lanes]; EIGHT { EACH(lanes) { v24[n][l] = quotient(x0[i + n * (lanes) + l], v23[n][l]); } } \
        after(15, EVEN, v24) float v25[8][lanes]; \
        EIGHT { EACH(lanes) { v25[n][l] = mw__scalar_mul(v24[n][l], s6); } } after(16, AWAY, v25) \
        float v26[8][lanes]; \
        EIGHT { EACH(lanes) { v26[n][l] = mw__scalar_sub(x7[i + n * (lanes) + l], v25[n][l]); } } \
        after(17, EVEN, v26) float v27[8][lanes]; \
        EIGHT { EACH(lanes) { v27[n][l] = chosen(MASK(s8 != 0), v26[n][l], x7[i + n * (lanes) + l]); } } \
        float v28[8][lanes]; \
        EIGHT { EACH(lanes) { v28[n][l] = chosen(MASK(s8 != 0), v22[n][l], x1[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v27[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v28[n][l]; } } \
    }
MW__INLINE void adagrad_fp16_form FORM
{
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float v2 = *(const float *)value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float v6 = *(const float *)value[6];
    const float *const x7 = value[7]; const uint8_t v8 = *(const uint8_t *)value[8]; float *const y0 = out[0];
    float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v1 = x1[i]; const float v7 = x7[i];
        const float v9 = AFTER(0, EXACT, mw__scalar_abs(v0, pq[0][0], pq[0][1]));
        const float v10 = AFTER(1, EXACT, mw__scalar_maximum(v1, v2));
        const float v11 = AFTER(2, EVEN, QUOTIENT(v9, v10));
        const float v12 = AFTER(3, EXACT, mw__scalar_clip(v11, pq[3][0], pq[3][1]));
        const float v13 = AFTER(4, EVEN, mw__scalar_square(v12, pq[4][0], pq[4][1]));
        const float v14 = AFTER(5, EVEN, mw__scalar_add(v13, v3));
        const float v15 = AFTER(6, EVEN, mw__scalar_sqrt(v14, pq[6][0], pq[6][1]));
        const float v16 = AFTER(7, EVEN, mw__scalar_add(v15, v3));
        const float v17 = AFTER(8, EVEN, mw__scalar_sub(v13, v4));
        const float v18 = AFTER(9, EVEN, QUOTIENT(v17, v16));
        const float v19 = AFTER(10, AWAY, mw__scalar_mul(v1, v18));
        const float v20 = AFTER(11, EVEN, mw__scalar_add(v1, v19));
        const float v21 = AFTER(12, EXACT, mw__scalar_clip(v20, pq[12][0], pq[12][1]));
        const float v22 = AFTER(13, EXACT, mw__scalar_maximum(v21, v9));
        const float v23 = AFTER(14, EVEN, mw__scalar_add(v22, v5));
        const float v24 = AFTER(15, EVEN, QUOTIENT(v0, v23));
        const float v25 = AFTER(16, AWAY, mw__scalar_mul(v24, v6));
        const float v26 = AFTER(17, EVEN, mw__scalar_sub(v7, v25)); const float v27 = v8 != 0 ? v26 : v7;
        const float v28 = v8 != 0 ? v22 : v1; y0[i] = v27; y1[i] = v28;
    }
}
FORMS(adagrad_fp16)

#define lion_fp16_STRIPS(lanes, after, quotient) \
    const float *const x0 = value[0]; const float *const x1 = value[1]; const float s1 = *x1; \
    const float *const x2 = value[2]; const float *const x3 = value[3]; const float s3 = *x3; \
    const float *const x4 = value[4]; const float s4 = *x4; const float *const x5 = value[5]; const float s5 = *x5; \
    const float *const x6 = value[6]; const float *const x7 = value[7]; const float s7 = *x7; \
    const uint8_t *const x8 = value[8]; const uint8_t s8 = *x8; float *const y0 = out[0]; float *const y1 = out[1]; \
    for (int64_t i = 0; i < done; i += 8 * (lanes)) { \
        float v9[8][lanes]; EIGHT { EACH(lanes) { v9[n][l] = mw__scalar_mul(x0[i + n * (lanes) + l], s1); } } \
        after(0, AWAY, v9) float v10[8][lanes]; \
        EIGHT { EACH(lanes) { v10[n][l] = mw__scalar_mul(x2[i + n * (lanes) + l], s3); } } after(1, AWAY, v10) \
        float v11[8][lanes]; EIGHT { EACH(lanes) { v11[n][l] = mw__scalar_add(v9[n][l], v10[n][l]); } } \
        after(2, EVEN, v11) float v12[8][lanes]; \
        EIGHT { EACH(lanes) { v12[n][l] = mw__scalar_sub(x2[i + n * (lanes) + l], x0[i + n * (lanes) + l]); } } \
        after(3, EVEN, v12) float v13[8][lanes]; \
        EIGHT { EACH(lanes) { v13[n][l] = mw__scalar_clip(v12[n][l], pq[4][0], pq[4][1]); } } after(4, EXACT, v13) \
        float v14[8][lanes]; EIGHT { EACH(lanes) { v14[n][l] = mw__scalar_mul(v13[n][l], s4); } } after(5, AWAY, v14) \
        float v15[8][lanes]; \
        EIGHT { EACH(lanes) { v15[n][l] = mw__scalar_add(x0[i + n * (lanes) + l], v14[n][l]); } } after(6, EVEN, v15) \
        float v16[8][lanes]; EIGHT { EACH(lanes) { v16[n][l] = mw__scalar_sign(v11[n][l], pq[7][0], pq[7][1]); } } \
        after(7, EXACT, v16) float v17[8][lanes]; \
        EIGHT { EACH(lanes) { v17[n][l] = mw__scalar_mul(v16[n][l], s5); } } after(8, AWAY, v17) float v18[8][lanes]; \
        EIGHT { EACH(lanes) { v18[n][l] = mw__scalar_mul(x6[i + n * (lanes) + l], s7); } } after(9, AWAY, v18) \
        float v19[8][lanes]; EIGHT { EACH(lanes) { v19[n][l] = mw__scalar_add(v17[n][l], v18[n][l]); } } \
        after(10, EVEN, v19) float v20[8][lanes]; \
        EIGHT { EACH(lanes) { v20[n][l] = mw__scalar_sub(x6[i + n * (lanes) + l], v19[n][l]); } } \
        after(11, EVEN, v20) float v21[8][lanes]; \
        EIGHT { EACH(lanes) { v21[n][l] = chosen(MASK(s8 != 0), v20[n][l], x6[i + n * (lanes) + l]); } } \
        float v22[8][lanes]; \
        EIGHT { EACH(lanes) { v22[n][l] = chosen(MASK(s8 != 0), v15[n][l], x0[i + n * (lanes) + l]); } } \
        EIGHT { EACH(lanes) { y0[i + n * (lanes) + l] = v21[n][l]; } } \
        EIGHT { EACH(lanes) { y1[i + n * (lanes) + l] = v22[n][l]; } } \
    }
MW__INLINE void lion_fp16_form FORM
{
    const float *const x0 = value[0]; const float v1 = *(const float *)value[1]; const float *const x2 = value[2];
    const float v3 = *(const float *)value[3]; const float v4 = *(const float *)value[4];
    const float v5 = *(const float *)value[5]; const float *const x6 = value[6];
    const float v7 = *(const float *)value[7]; const uint8_t v8 = *(const uint8_t *)value[8];
    float *const y0 = out[0]; float *const y1 = out[1]; (void)pq, (void)form;
    MW__VECTORIZE for (int64_t i = begin; i < count; i++)
    {
        const float v0 = x0[i]; const float v2 = x2[i]; const float v6 = x6[i];
        const float v9 = AFTER(0, AWAY, mw__scalar_mul(v0, v1));
        const float v10 = AFTER(1, AWAY, mw__scalar_mul(v2, v3));
        const float v11 = AFTER(2, EVEN, mw__scalar_add(v9, v10));
        const float v12 = AFTER(3, EVEN, mw__scalar_sub(v2, v0));
        const float v13 = AFTER(4, EXACT, mw__scalar_clip(v12, pq[4][0], pq[4][1]));
        const float v14 = AFTER(5, AWAY, mw__scalar_mul(v13, v4));
        const float v15 = AFTER(6, EVEN, mw__scalar_add(v0, v14));
        const float v16 = AFTER(7, EXACT, mw__scalar_sign(v11, pq[7][0], pq[7][1]));
        const float v17 = AFTER(8, AWAY, mw__scalar_mul(v16, v5));
        const float v18 = AFTER(9, AWAY, mw__scalar_mul(v6, v7));
        const float v19 = AFTER(10, EVEN, mw__scalar_add(v17, v18));
        const float v20 = AFTER(11, EVEN, mw__scalar_sub(v6, v19)); const float v21 = v8 != 0 ? v20 : v6;
        const float v22 = v8 != 0 ? v15 : v0; y0[i] = v21; y1[i] = v22;
    }
}
FORMS(lion_fp16)

const mw__precompiled mw__precompiled_half[] = {
    {"adam_fp16", "TSTSSTSSSSSSTb mul(0,1) mul(2,3) add(14,15) mul(2,4) abs(17) maximum(5,6) real_div(18,19) clip(20) square(21) add(22,7) sqrt(23) add(24,8) sub(22,9) real_div(26,25) mul(5,27) add(5,28) clip(29) maximum(30,18) add(31,10) real_div(16,32) mul(33,11) sub(12,34) select(13,35,12) select(13,16,0) select(13,31,5) store 36,37,38", {MW__BASE_AVX2_AVX512_LIST(adam_fp16), MW__BASE_AVX2_AVX512_LIST(adam_fp16_half), MW__BASE_AVX2_AVX512_LIST(adam_fp16_chip)}},
    {"adamw_fp16", "TSTSSTSSSSSSTSb mul(0,1) mul(2,3) add(15,16) mul(2,4) abs(18) maximum(5,6) real_div(19,20) clip(21) square(22) add(23,7) sqrt(24) add(25,8) sub(23,9) real_div(27,26) mul(5,28) add(5,29) clip(30) maximum(31,19) add(32,10) real_div(17,33) mul(34,11) mul(12,13) add(35,36) sub(12,37) select(14,38,12) select(14,17,0) select(14,32,5) store 39,40,41", {MW__BASE_AVX2_AVX512_LIST(adamw_fp16), MW__BASE_AVX2_AVX512_LIST(adamw_fp16_half), MW__BASE_AVX2_AVX512_LIST(adamw_fp16_chip)}},
    {"rmsprop_fp16", "TSTSSSSSSTb mul(0,1) abs(11) maximum(2,3) real_div(12,13) clip(14) square(15) add(16,4) sqrt(17) add(18,5) sub(16,6) real_div(20,19) mul(2,21) add(2,22) clip(23) maximum(24,12) add(25,7) real_div(0,26) mul(27,8) sub(9,28) select(10,29,9) select(10,25,2) store 30,31", {MW__BASE_AVX2_AVX512_LIST(rmsprop_fp16), MW__BASE_AVX2_AVX512_LIST(rmsprop_fp16_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_fp16_chip)}},
    {"rmsprop_momentum_fp16", "TSTSSSSSTSSTb mul(0,1) abs(13) maximum(2,3) real_div(14,15) clip(16) square(17) add(18,4) sqrt(19) add(20,5) sub(18,6) real_div(22,21) mul(2,23) add(2,24) clip(25) maximum(26,14) add(27,7) real_div(0,28) mul(8,9) add(30,29) mul(31,10) sub(11,32) select(12,33,11) select(12,31,8) select(12,27,2) store 34,35,36", {MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_fp16), MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_fp16_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_momentum_fp16_chip)}},
    {"rmsprop_centered_fp16", "TTSSTSSSSSSTb sub(0,1) clip(13) mul(14,2) add(1,15) mul(14,3) abs(17) maximum(4,5) real_div(18,19) clip(20) square(21) add(22,6) sqrt(23) add(24,7) sub(22,8) real_div(26,25) mul(4,27) add(4,28) clip(29) maximum(30,18) add(31,9) real_div(0,32) mul(33,10) sub(11,34) select(12,35,11) select(12,16,1) select(12,31,4) store 36,37,38", {MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_fp16), MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_fp16_half), MW__BASE_AVX2_AVX512_LIST(rmsprop_centered_fp16_chip)}},
    {"adagrad_fp16", "TTSSSSSTb abs(0) maximum(1,2) real_div(9,10) clip(11) square(12) add(13,3) sqrt(14) add(15,3) sub(13,4) real_div(17,16) mul(1,18) add(1,19) clip(20) maximum(21,9) add(22,5) real_div(0,23) mul(24,6) sub(7,25) select(8,26,7) select(8,22,1) store 27,28", {MW__BASE_AVX2_AVX512_LIST(adagrad_fp16), MW__BASE_AVX2_AVX512_LIST(adagrad_fp16_half), MW__BASE_AVX2_AVX512_LIST(adagrad_fp16_chip)}},
    {"lion_fp16", "TSTSSSTSb mul(0,1) mul(2,3) add(9,10) sub(2,0) clip(12) mul(13,4) add(0,14) sign(11) mul(16,5) mul(6,7) add(17,18) sub(6,19) select(8,20,6) select(8,15,0) store 21,22", {MW__BASE_AVX2_AVX512_LIST(lion_fp16), MW__BASE_AVX2_AVX512_LIST(lion_fp16_half), MW__BASE_AVX2_AVX512_LIST(lion_fp16_chip)}},
};

const size_t mw__precompiled_half_count = sizeof mw__precompiled_half / sizeof *mw__precompiled_half;
/* clang-format on */
