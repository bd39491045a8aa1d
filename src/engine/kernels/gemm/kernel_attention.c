/* Attention. A unit is one block of rows of the query of one batch: its scores, their softmax and the product with the
 * values stay in a partition's scratch, so that no [L, S] tensor is ever stored. Keys at either end that a boolean mask
 * hides from all rows of a block are not read, nor are their values: of a cache that is filled token by token that is
 * most, and of a text that only looks back a half. Keys and values of fp16 that nothing else reads are widened in
 * scratch, what is shown of them; other F16 operands are widened by steps of their own. Each result is rounded once. */
#include "engine/core/kernel.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/math/math_chip.h"
#include "engine/kernels/math/round.h"
#include "engine/kernels/reduce/simd_reduce.h"

#include "base/number/fp16.h"
#include "base/number/integer.h"

#include <math.h>
#include <string.h>

/* Rows of a block: keys and values are packed for each one, its scores should stay in the second cache. */
#define BLOCK_ROWS   128
#define BLOCK_SCORES 65536
/* Keys and values that are widened in scratch, at most: they are read again for each block of rows. */
#define WIDENED_MOST 262144

typedef enum mask_kind { MASK_NONE, MASK_BOOL, MASK_FLOAT } mask_kind;

typedef struct attention_block {
    int64_t rows, keys, inner, values; /* L, S, E, V */
    int64_t block, blocks;             /* rows of a block, blocks of one batch */
    float scale;
    mask_kind mask;
    bool shows;            /* a boolean mask whose rows lie one behind the other: some keys may be hidden from all */
    int64_t mask_row;      /* from one row of it to the next; 0: one for all those of a batch */
    mw__nd_iter mask_iter; /* over [batches.., L, S]; one operand */
    mw_dtype dtype;
    mw__gemm_code scores_code, result_code;
    size_t gemm_at, panel_at;    /* in scratch, after the scores: bytes */
    bool half_keys, half_values; /* as they are stored: fp16 */
    size_t keys_at, values_at;   /* in scratch, where they are widened */
    mw__loop1 *fed;              /* of what is widened; or NULL */
    mw__loop1 *exp;
    void (*softmax)(float *row, int64_t count, mw__loop1 *exp);
    mw__loop1 *round_scores, *round_weights; /* to fp16, as products of a chip give and take it; or NULL */
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

static void fill_scores(float *scores, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        scores[i] = -INFINITY;
}

/* `count` scores, the first of them at element `at` of [batches.., L, S]. */
static void add_mask(const attention_block *s, const void *mask, int64_t at, int64_t count, float *scores)
{
    mw__nd_position position;
    mw__nd_position_seek(&s->mask_iter, &position, at);
    const int64_t step = s->mask_iter.stride[0][s->mask_iter.rank - 1];
    for (int64_t done = 0; done < count;) {
        const int64_t run = mw__nd_position_run(&s->mask_iter, &position, count - done), from = position.offset[0];
        if (s->mask == MASK_BOOL && step == 1)
            hide(scores + done, (const uint8_t *)mask + from, run);
        else if (s->mask == MASK_BOOL && ((const uint8_t *)mask)[from] == 0)
            fill_scores(scores + done, run);
        else if (s->mask == MASK_FLOAT)
            for (int64_t i = 0; i < run; i++)
                scores[done + i] += ((const float *)mask)[from + i * step];
        done += run;
        mw__nd_position_step(&s->mask_iter, &position, run);
    }
}

typedef struct range {
    int64_t begin, end;
} range;

#define MANY 64 /* elements of a mask that are looked at together */

static bool hides_many(const uint8_t *mask)
{
    uint64_t words[MANY / sizeof(uint64_t)], any = 0;
    memcpy(words, mask, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        any |= words[i];
    return any == 0;
}

/* The keys from the first to the last that a row of the mask shows; none if it hides all. */
static range shown_by(const uint8_t *mask, range among)
{
    while (among.end - among.begin >= MANY && hides_many(mask + among.end - MANY))
        among.end -= MANY;
    while (among.end > among.begin && mask[among.end - 1] == 0)
        among.end--;
    while (among.end - among.begin >= MANY && hides_many(mask + among.begin))
        among.begin += MANY;
    while (among.begin < among.end && mask[among.begin] == 0)
        among.begin++;
    return among;
}

/* The same of the keys that a row before it hides: what both hide is compared at once. */
static range shown_beyond(const uint8_t *mask, const uint8_t *hidden, range among)
{
    const int64_t count = among.end - among.begin;
    if (memcmp(mask + among.begin, hidden + among.begin, (size_t)count) == 0)
        return (range){among.begin, among.begin};
    return shown_by(mask, among);
}

/* Those that some row shows; all if a row shows none, whose result is then NaN. The last row comes first, as it shows
 * the most where tokens look back; of the others only what all before them hide at the ends is looked at. */
static range shown_keys(const attention_block *s, const uint8_t *mask, int64_t at, int64_t rows)
{
    mw__nd_position position;
    mw__nd_position_seek(&s->mask_iter, &position, at);
    mask += position.offset[0];
    const range all = {0, s->keys};
    const uint8_t *const last = mask + (rows - 1) * s->mask_row;
    range shown = shown_by(last, all);
    for (int64_t i = rows - 2; i >= 0 && s->mask_row > 0; i--) {
        const uint8_t *row = mask + i * s->mask_row;
        const range before = shown_beyond(row, last, (range){0, shown.begin}),
                    after = shown_beyond(row, last, (range){shown.end, s->keys});
        const bool inside = memchr(row + shown.begin, 1, (size_t)(shown.end - shown.begin)) != NULL;
        if (!inside && before.begin == before.end && after.begin == after.end)
            return all;
        shown.begin = before.begin < before.end ? before.begin : shown.begin;
        shown.end = after.begin < after.end ? after.end : shown.end;
    }
    return shown.begin < shown.end ? shown : all;
}

/* Rows [keys.begin, keys.end) of x, which are `width` wide, to the same places of `out`. */
static void widen_rows(const attention_block *s, const void *x, int64_t width, range keys, float *out)
{
    const int64_t end = keys.end * width;
    for (int64_t at = keys.begin * width, count; at < end; at += count) { /* in the first cache until it is fed */
        count = end - at < MW__TILE ? end - at : MW__TILE;
        mw__fp16_to_float_n(out + at, (const uint16_t *)x + at, (size_t)count);
        if (s->fed != NULL)
            s->fed(out + at, out + at, count, 0, 0);
    }
}

/* Where the operands of a block of rows stand. */
typedef struct rows_of {
    const float *q, *k, *v; /* [rows, E], [keys, E], [keys, V] */
    const void *mask;
    int64_t at, rows; /* the first score in [batches.., L, S] */
    range keys;
} rows_of;

/* scores [rows, keys]: the softmax of what the keys that take part give. */
static void weigh_keys(const attention_block *s, const rows_of *t, float *scores, void *gemm)
{
    const int64_t keys = t->keys.end - t->keys.begin, count = t->rows * keys;
    const mw__gemm_shape product = {
        .m = t->rows, .n = keys, .k = s->inner, .lda = s->inner, .ldb = s->inner, .ldc = keys, .transpose_b = true};
    mw__gemm(&s->scores_code, &product, t->q, t->k + t->keys.begin * s->inner, scores, gemm);
    if (s->round_scores != NULL)
        s->round_scores(scores, scores, count, 0, 0);
    for (int64_t i = 0; i < count; i++)
        scores[i] *= s->scale;
    if (s->mask != MASK_NONE && keys == s->keys)
        add_mask(s, t->mask, t->at, count, scores);
    for (int64_t i = 0; i < t->rows; i++) {
        if (s->mask != MASK_NONE && keys < s->keys)
            add_mask(s, t->mask, t->at + i * s->keys + t->keys.begin, keys, scores + i * keys);
        s->softmax(scores + i * keys, keys, s->exp);
    }
    if (s->round_weights != NULL)
        s->round_weights(scores, scores, count, 0, 0);
}

enum { QUERY, KEY, VALUE, MASK }; /* what is read */

/* Keys or values of a batch, of which the block needs `keys`. */
static const float *find_rows(const attention_block *s, const mw__kernel_call *call, int which, int64_t batch,
                              range keys)
{
    const int64_t width = which == KEY ? s->inner : s->values, first = batch * s->keys * width;
    if (!(which == KEY ? s->half_keys : s->half_values))
        return (const float *)call->in[which] + first;
    float *widened = (float *)((char *)call->scratch + (which == KEY ? s->keys_at : s->values_at));
    widen_rows(s, (const uint16_t *)call->in[which] + first, width, keys, widened);
    return widened;
}

/* Reads: query, key, value, mask if any. Scratch: scores [block, S], a panel of F16 results, widened keys and values,
 * room for the products. */
static void attention_run(const mw__kernel_call *call)
{
    const attention_block *s = call->block;
    float *scores = call->scratch, *panel = (float *)((char *)call->scratch + s->panel_at);
    void *gemm = (char *)call->scratch + s->gemm_at;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t batch = unit / s->blocks, row = unit % s->blocks * s->block, first = batch * s->rows + row;
        rows_of t = {.q = (const float *)call->in[QUERY] + first * s->inner,
                     .mask = s->mask != MASK_NONE ? call->in[MASK] : NULL,
                     .at = first * s->keys,
                     .rows = s->rows - row < s->block ? s->rows - row : s->block,
                     .keys = {0, s->keys}};
        if (s->shows)
            t.keys = shown_keys(s, t.mask, t.at, t.rows);
        t.k = find_rows(s, call, KEY, batch, t.keys);
        t.v = find_rows(s, call, VALUE, batch, t.keys);
        weigh_keys(s, &t, scores, gemm);
        const int64_t keys = t.keys.end - t.keys.begin;
        const bool is_fp32 = s->dtype == MW_F32;
        float *out = is_fp32 ? (float *)call->out[0] + first * s->values : panel;
        const mw__gemm_shape mean = {
            .m = t.rows, .n = s->values, .k = keys, .lda = keys, .ldb = s->values, .ldc = s->values};
        mw__gemm(&s->result_code, &mean, scores, t.v + t.keys.begin * s->values, out, gemm);
        if (!is_fp32)
            mw__tile_store(call->out[0], s->dtype, first * s->values, t.rows * s->values, out);
    }
}

/* ---- planning ---- */

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

/* Whether keys or values are of fp16 that nothing else needs as fp32. */
static bool widens_here(const mw__planner *planner, const attention_block *s, const mw_tensor *value)
{
    const int64_t width = s->inner > s->values ? s->inner : s->values;
    return mw__plan_config(planner)->fuse && mw__plan_level(planner) != MW__LEVEL_REF && s->blocks == 1 &&
           mw__before_widening(value) != NULL && mw__plan_reads(planner, value) == 1 && s->keys * width <= WIDENED_MOST;
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
    if (mw__config_sums(mw__plan_config(planner)) == MW__SUMS_FIXED) {
        s->round_scores = mw__round_loop(level, MW__ROUND_HALF | MW__ROUND_AWAY);
        s->round_weights = mw__round_loop(level, MW__ROUND_HALF);
    }
    const int64_t rows = s->block;
    s->half_keys = widens_here(planner, s, mw__arg(op, "key"));
    s->half_values = widens_here(planner, s, mw__arg(op, "value"));
    s->fed = mw__plan_fed(planner, MW_F16);
    s->scores_code = mw__plan_gemm(planner, rows, s->keys, s->inner);
    s->result_code = mw__plan_gemm(planner, rows, s->values, s->keys);
    s->panel_at = mw__size_round_up((size_t)(rows * s->keys) * sizeof(float), 64);
    s->keys_at =
        s->panel_at + (s->dtype == MW_F32 ? 0 : mw__size_round_up((size_t)(rows * s->values) * sizeof(float), 64));
    s->values_at =
        s->keys_at + (s->half_keys ? mw__size_round_up((size_t)(s->keys * s->inner) * sizeof(float), 64) : 0);
    s->gemm_at =
        s->values_at + (s->half_values ? mw__size_round_up((size_t)(s->keys * s->values) * sizeof(float), 64) : 0);
    if (mask == NULL)
        return;
    mw_shape scores = query;
    scores.dim[last] = s->keys;
    s->mask = mw__dtype_of(mask) == MW_BOOL ? MASK_BOOL : MASK_FLOAT;
    s->mask_iter = mw__nd_iter_broadcast(scores, (mw_shape[]){mw__shape_of(mask)}, 1);
    const mw_shape shape = mw__shape_of(mask);
    const bool one = shape.rank == 1 || (shape.rank > 1 && shape.dim[shape.rank - 2] == 1);
    s->shows = s->mask == MASK_BOOL && shape.rank > 0 && shape.dim[shape.rank - 1] == s->keys;
    s->mask_row = one ? 0 : s->keys;
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
        const bool half = (i == KEY && s->half_keys) || (i == VALUE && s->half_values);
        if (half || mw__dtype_of(operand) == MW_BOOL)
            buffers[i] = mw__plan_buffer(planner, half ? mw__before_widening(operand) : operand);
        else
            buffers[i] = mw__plan_floats(planner, operand);
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
