/* Attention. A unit is one block of rows of the query of one batch: its scores, their softmax and the product with the
 * values stay in a partition's scratch, so that no [L, S] tensor is ever stored. F16 operands are widened to fp32 by
 * steps of their own; each result is rounded once. */
#include "engine/core/kernel.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/math.h"
#include "engine/kernels/simd_reduce.h"

#include <math.h>
#include <string.h>

/* Rows of a block: keys and values are packed for each one, its scores should stay in the second cache. */
#define BLOCK_ROWS   128
#define BLOCK_SCORES 65536

typedef enum mask_kind { MASK_NONE, MASK_BOOL, MASK_FLOAT } mask_kind;

typedef struct attention_block {
    int64_t rows, keys, inner, values; /* L, S, E, V */
    int64_t block, blocks;             /* rows of a block, blocks of one batch */
    float scale;
    mask_kind mask;
    mw__nd_iter mask_iter; /* over [batches.., L, S]; one operand */
    mw_dtype dtype;
    mw__gemm_code scores_code, result_code;
    size_t gemm_at, panel_at; /* in scratch, after the scores: bytes */
    mw__loop1 *exp;
    void (*softmax)(float *row, int64_t count, mw__loop1 *exp);
} attention_block;

MW__INLINE void softmax_body(float *row, int64_t count, mw__loop1 *exp)
{
    const float most = mw__lanes_max(row, count);
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) row[i] = row[i] - most;
    exp(row, row, count, 0.0f, 0.0f);
    const float sum = mw__lanes_sum(row, count);
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) row[i] = row[i] / sum;
}
MW__BASE_AVX2_AVX512(softmax, (float *row, int64_t count, mw__loop1 *exp), (row, count, exp))

static void hide(float *scores, const uint8_t *mask, int64_t count)
{
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) scores[i] = mask[i] == 0 ? -INFINITY : scores[i];
}

static void fill(float *scores, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        scores[i] = -INFINITY;
}

/* scores [rows, S], the first of them at element `at` of [batches.., L, S] */
static void add_mask(const attention_block *s, const void *mask, int64_t at, int64_t rows, float *scores)
{
    mw__nd_position position;
    mw__nd_position_seek(&s->mask_iter, &position, at);
    const int64_t step = s->mask_iter.stride[0][s->mask_iter.rank - 1], count = rows * s->keys;
    for (int64_t done = 0; done < count;) {
        const int64_t run = mw__nd_position_run(&s->mask_iter, &position, count - done), from = position.offset[0];
        if (s->mask == MASK_BOOL && step == 1)
            hide(scores + done, (const uint8_t *)mask + from, run);
        else if (s->mask == MASK_BOOL && ((const uint8_t *)mask)[from] == 0)
            fill(scores + done, run);
        else if (s->mask == MASK_FLOAT)
            for (int64_t i = 0; i < run; i++)
                scores[done + i] += ((const float *)mask)[from + i * step];
        done += run;
        mw__nd_position_step(&s->mask_iter, &position, run);
    }
}

/* Reads: query, key, value, mask if any. Scratch: scores [block, S], a panel of F16 results, room for the
 * products.
 */
static void attention_run(const mw__kernel_call *call)
{
    const attention_block *s = call->block;
    float *scores = call->scratch, *panel = (float *)((char *)call->scratch + s->panel_at);
    void *gemm = (char *)call->scratch + s->gemm_at;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t batch = unit / s->blocks, row = unit % s->blocks * s->block;
        const int64_t rows = s->rows - row < s->block ? s->rows - row : s->block;
        const int64_t first = batch * s->rows + row;
        const float *q = (const float *)call->in[0] + first * s->inner;
        const float *k = (const float *)call->in[1] + batch * s->keys * s->inner;
        const float *v = (const float *)call->in[2] + batch * s->keys * s->values;
        const mw__gemm_shape product = {.m = rows,
                                        .n = s->keys,
                                        .k = s->inner,
                                        .lda = s->inner,
                                        .ldb = s->inner,
                                        .ldc = s->keys,
                                        .transpose_b = true};
        mw__gemm(&s->scores_code, &product, q, k, scores, gemm);
        for (int64_t i = 0; i < rows * s->keys; i++)
            scores[i] *= s->scale;
        if (s->mask != MASK_NONE)
            add_mask(s, call->in[3], first * s->keys, rows, scores);
        for (int64_t i = 0; i < rows; i++)
            s->softmax(scores + i * s->keys, s->keys, s->exp);
        const bool is_fp32 = s->dtype == MW_F32;
        float *out = is_fp32 ? (float *)call->out[0] + first * s->values : panel;
        const mw__gemm_shape mean = {
            .m = rows, .n = s->values, .k = s->keys, .lda = s->keys, .ldb = s->values, .ldc = s->values};
        mw__gemm(&s->result_code, &mean, scores, v, out, gemm);
        if (!is_fp32)
            mw__tile_store(call->out[0], s->dtype, first * s->values, rows * s->values, out);
    }
}

/* ---- planning ---- */

static size_t aligned(size_t size) { return (size + 63) / 64 * 64; }

/* As many as the caches allow, but blocks enough for all partitions. */
static int64_t block_rows(const mw__planner *planner, const mw__op *op, const attention_block *s)
{
    const int64_t batches = mw__count_of(op->results[0]) / (s->rows * s->values);
    int64_t rows = s->rows < BLOCK_ROWS ? s->rows : BLOCK_ROWS;
    while (rows > 8 && (rows * s->keys > BLOCK_SCORES ||
                        batches * ((s->rows + rows - 1) / rows) % mw__plan_partitions(planner) != 0))
        rows = (rows + 1) / 2;
    return rows;
}

static void fill_block(mw__planner *planner, attention_block *s, const mw__op *op)
{
    const mw_tensor *mask = mw__arg(op, "attn_mask");
    const mw_shape query = mw__shape_of(mw__arg(op, "query")), value = mw__shape_of(mw__arg(op, "value"));
    const int last = query.rank - 1;
    const mw__level level = mw__plan_level(planner);
    s->rows = query.dim[last - 1], s->keys = value.dim[last - 1];
    s->inner = query.dim[last], s->values = value.dim[last];
    s->block = block_rows(planner, op, s);
    s->blocks = (s->rows + s->block - 1) / s->block;
    s->scale = 1.0f / sqrtf((float)s->inner);
    s->dtype = mw__dtype_of(op->results[0]);
    s->exp = mw__loop1_find(MW__OP_exp, level);
    s->softmax = MW__DISPATCH_BEST(softmax, level);
    const int64_t rows = s->block;
    s->scores_code = mw__plan_gemm(planner, rows, s->keys, s->inner);
    s->result_code = mw__plan_gemm(planner, rows, s->values, s->keys);
    s->panel_at = aligned((size_t)(rows * s->keys) * sizeof(float));
    s->gemm_at = s->panel_at + (s->dtype == MW_F32 ? 0 : aligned((size_t)(rows * s->values) * sizeof(float)));
    if (mask == NULL)
        return;
    mw_shape scores = query;
    scores.dim[last] = s->keys;
    s->mask = mw__dtype_of(mask) == MW_BOOL ? MASK_BOOL : MASK_FLOAT;
    s->mask_iter = mw__nd_iter_broadcast(scores, (mw_shape[]){mw__shape_of(mask)}, 1);
}

static size_t scratch_of(const attention_block *s)
{
    const size_t scores = mw__gemm_scratch(s->block, s->keys, s->inner);
    const size_t result = mw__gemm_scratch(s->block, s->values, s->keys);
    return s->gemm_at + (scores > result ? scores : result);
}

mw_status mw__kernel_scaled_dot_product_attention(mw__planner *planner, const mw__op *op, mw_error *err)
{
    static const char *const names[] = {"query", "key", "value", "attn_mask"};
    const mw_tensor *result = op->results[0];
    attention_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    fill_block(planner, s, op);
    uint32_t buffers[4] = {0};
    const size_t count = s->mask == MASK_NONE ? 3 : 4;
    for (size_t i = 0; i < count; i++) {
        const mw_tensor *operand = mw__arg(op, names[i]);
        buffers[i] =
            mw__dtype_of(operand) == MW_BOOL ? mw__plan_buffer(planner, operand) : mw__plan_floats(planner, operand);
    }
    const int64_t batches = mw__count_of(result) / (s->rows * s->values);
    const double scores = (double)batches * (double)s->rows * (double)s->keys;
    mw__step *step = mw__plan_step(planner, attention_run, op->row->name, batches * s->blocks,
                                   mw__cost(scores * 4, scores * (2.0 * (double)(s->inner + s->values) + 30)));
    step->block = s;
    step->scratch = scratch_of(s);
    if (mw__blas_splits() && (s->scores_code.sgemm != NULL || s->result_code.sgemm != NULL))
        step->grain = batches * s->blocks;
    for (size_t i = 0; i < count; i++)
        mw__step_read(planner, step, buffers[i], MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
