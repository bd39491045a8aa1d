/* Expands fp16, int8, uint8 and 4-bit weights with scales or tables; everything else is mw__compressed_load's. */
#include "engine/core/unpack.h"
#include "engine/core/kernel.h"

#include "base/number/fp16.h"
#include "base/number/integer.h"

/* What a run of elements shares: (code - offset) scale, or table[code]. */
typedef struct shared {
    float offset, scale;
    const float *table; /* NULL = none */
} shared;

typedef void run_function(const uint8_t *codes, int64_t count, const shared *s, float *out);

MW__INLINE void bytes_body(const uint8_t *codes, int64_t count, const shared *s, float *out)
{
    const float offset = s->offset, scale = s->scale;
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++)
        out[i] = ((float)codes[i] - offset) * scale;
}

MW__INLINE void signed_bytes_body(const uint8_t *codes, int64_t count, const shared *s, float *out)
{
    const int8_t *numbers = (const int8_t *)codes;
    const float offset = s->offset, scale = s->scale;
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++)
        out[i] = ((float)numbers[i] - offset) * scale;
}

/* Two of a byte, the lower first; the count is even. */
MW__INLINE void nibbles_body(const uint8_t *codes, int64_t count, const shared *s, float *out)
{
    const float offset = s->offset, scale = s->scale;
    MW__VECTORIZE
    for (int64_t i = 0; i < count / 2; i++) {
        out[2 * i] = ((float)(codes[i] & 15) - offset) * scale;
        out[2 * i + 1] = ((float)(codes[i] >> 4) - offset) * scale;
    }
}

MW__INLINE void signed_nibbles_body(const uint8_t *codes, int64_t count, const shared *s, float *out)
{
    const float offset = s->offset, scale = s->scale;
    MW__VECTORIZE
    for (int64_t i = 0; i < count / 2; i++) {
        out[2 * i] = ((float)(((codes[i] & 15) ^ 8) - 8) - offset) * scale;
        out[2 * i + 1] = ((float)(((codes[i] >> 4) ^ 8) - 8) - offset) * scale;
    }
}

MW__INLINE void byte_table_body(const uint8_t *codes, int64_t count, const shared *s, float *out)
{
    const float *table = s->table;
    for (int64_t i = 0; i < count; i++)
        out[i] = table[codes[i]];
}

MW__INLINE void nibble_table_body(const uint8_t *codes, int64_t count, const shared *s, float *out)
{
    const float *table = s->table;
    for (int64_t i = 0; i < count / 2; i++) {
        out[2 * i] = table[codes[i] & 15];
        out[2 * i + 1] = table[codes[i] >> 4];
    }
}

#define RUN_FUNCTION(name)                                                                                             \
    MW__BASE_AVX2(name, (const uint8_t *codes, int64_t count, const shared *s, float *out), (codes, count, s, out))
RUN_FUNCTION(bytes)
RUN_FUNCTION(signed_bytes)
RUN_FUNCTION(nibbles)
RUN_FUNCTION(signed_nibbles)
RUN_FUNCTION(byte_table)
RUN_FUNCTION(nibble_table)

/* NULL if there is none for the form. */
static run_function *choose_unpack(mw__level level, const mw__compressed *c)
{
    const bool table = c->lut != NULL, plain = !table && c->scale != NULL;
    if (c->codes->splat || c->vector != 1 || (table && (c->scale != NULL || c->offset != NULL)) || (!table && !plain))
        return NULL;
    switch (c->codes->type->dtype) {
    case MW_U8:
        return table ? MW__DISPATCH(byte_table, level) : MW__DISPATCH(bytes, level);
    case MW_I8:
        return table ? NULL : MW__DISPATCH(signed_bytes, level);
    case MW_U4:
        return table ? MW__DISPATCH(nibble_table, level) : MW__DISPATCH(nibbles, level);
    case MW_I4:
        return table ? NULL : MW__DISPATCH(signed_nibbles, level);
    default:
        return NULL;
    }
}

/* The run from the element at `at` on, which is on the last axis; `limit` elements are left. */
static int64_t read_shared(const mw__compressed *c, const int64_t *at, int64_t limit, shared *out)
{
    *out = (shared){.scale = 1.0f};
    if (c->lut != NULL) {
        out->table = c->lut + mw__grid_at(&c->tables, at) * c->entries;
        return mw__grid_run(&c->tables, at, limit);
    }
    out->scale = c->scale[mw__grid_at(&c->scales, at)];
    limit = mw__grid_run(&c->scales, at, limit);
    if (c->offset == NULL)
        return limit;
    out->offset = c->offset[mw__grid_at(&c->offsets, at)];
    return mw__grid_run(&c->offsets, at, limit);
}

static void round_halves(float *numbers, int64_t count)
{
    uint16_t halves[MW__TILE];
    mw__fp16_from_float_n(halves, numbers, (size_t)count);
    mw__fp16_to_float_n(numbers, halves, (size_t)count);
}

/* Elements of one line of the last axis. */
static void unpack_line(const mw__compressed *c, run_function *run, int64_t begin, int64_t *at, int64_t count,
                        float *out)
{
    const int last = c->shape.rank - 1, bits = mw_dtype_bits(c->codes->type->dtype);
    const uint8_t *codes = c->codes->data;
    for (int64_t done = 0, step; done < count; done += step, at[last] += step) {
        shared s;
        step = mw__i64_min(read_shared(c, at, count - done, &s), MW__TILE);
        const int64_t even = bits == 4 ? step / 2 * 2 : step;
        if (bits == 4 && (begin + done) % 2 != 0) /* in the middle of a byte */
            step = 1;
        if (bits == 8 || step == even)
            run(codes + (begin + done) * bits / 8, step, &s, out + done);
        else
            mw__compressed_load(c, begin + done, step, out + done);
        if (c->dtype == MW_F16 && c->scale != NULL)
            round_halves(out + done, step);
    }
}

void mw__unpack(mw__level level, const mw__compressed *c, int64_t begin, int64_t count, float *out)
{
    if (c->lut == NULL && c->scale == NULL && !c->codes->splat && c->codes->type->dtype == MW_F16) {
        mw__fp16_to_float_n(out, (const uint16_t *)c->codes->data + begin, (size_t)count);
        return;
    }
    run_function *run = choose_unpack(level, c);
    if (run == NULL) {
        mw__compressed_load(c, begin, count, out);
        return;
    }
    const int64_t line = c->shape.dim[c->shape.rank - 1];
    for (int64_t done = 0, step; done < count; done += step) {
        int64_t at[MW_RANK_MAX], rest = begin + done;
        for (int axis = c->shape.rank; axis-- > 0; rest /= c->shape.dim[axis])
            at[axis] = rest % c->shape.dim[axis];
        step = mw__i64_min(line - (begin + done) % line, count - done);
        unpack_line(c, run, begin + done, at, step, out + done);
    }
}
