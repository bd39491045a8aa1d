/* Recurrent networks: each partition takes some rows of the batch through time, a product with the hidden elements in
 * each step, and passes over the gates of its rows. States stay fp32 over time. */
#include "engine/kernels/recurrent/kernel_recurrent.h"

#include <math.h>
#include <string.h>

/* ---- what steps have in common ---- */

/* Rows of states or results, which are `width` apart, as dense ones. */
static void load_states(const mw__recurrent_block *s, const float *from, int64_t first, int64_t rows, float *to)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(to + i * s->hidden, from + (first + i) * s->width + s->column, (size_t)s->hidden * sizeof *to);
}

/* `first` counts the rows of the batch in all steps. */
static void store_states(const mw__recurrent_block *s, const float *from, int64_t first, int64_t rows, void *to)
{
    for (int64_t i = 0; i < rows; i++)
        mw__tile_store(to, s->dtype, (first + i) * s->width + s->column, s->hidden, from + i * s->hidden);
}

static int64_t step_at(const mw__recurrent_block *s, int64_t t) { return s->reverse ? s->steps - 1 - t : t; }

/* The output of the step that was taken as number t, which stands in place of its input. */
static void store_output(const mw__recurrent_block *s, const mw__kernel_call *call, int64_t t, const float *h)
{
    const int64_t rows = call->end - call->begin;
    if (s->sequence)
        store_states(s, h, (s->keeps_order ? t : step_at(s, t)) * s->batch + call->begin, rows, call->out[0]);
    else if (t == s->steps - 1)
        store_states(s, h, call->begin, rows, call->out[0]);
}

static const float *read_at(const mw__kernel_call *call, int at) { return at > 0 ? call->in[at] : NULL; }

/* ---- passes over gates ---- */

MW__INLINE void add_body(float *out, const float *x, int64_t count)
{
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] += x[i];
}
MW__BASE_AVX2_AVX512(add, (float *out, const float *x, int64_t count), (out, x, count))

MW__INLINE void mul_body(float *out, const float *x, const float *y, int64_t count)
{
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] = x[i] * y[i];
}
MW__BASE_AVX2_AVX512(mul, (float *out, const float *x, const float *y, int64_t count), (out, x, y, count))

MW__INLINE void mul_add_body(float *out, const float *x, const float *y, int64_t count)
{
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] += x[i] * y[i];
}
MW__BASE_AVX2_AVX512(mul_add, (float *out, const float *x, const float *y, int64_t count), (out, x, y, count))

MW__INLINE void keep_body(float *c, const float *gates, int64_t count)
{
    const float *f = gates + count, *z = gates + 3 * count;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) c[i] = f[i] * c[i] + gates[i] * z[i];
}
MW__BASE_AVX2_AVX512(keep, (float *c, const float *gates, int64_t count), (c, gates, count))

MW__INLINE void bound_body(float *c, float limit, int64_t count)
{
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) c[i] = c[i] > limit ? limit : c[i] < -limit ? -limit : c[i];
}
MW__BASE_AVX2_AVX512(bound, (float *c, float limit, int64_t count), (c, limit, count))

MW__INLINE void blend_body(float *h, const float *n, const float *z, int64_t count)
{
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) h[i] = (1.0F - z[i]) * n[i] + z[i] * h[i];
}
MW__BASE_AVX2_AVX512(blend, (float *h, const float *n, const float *z, int64_t count), (h, n, z, count))

mw__recurrent_passes mw__recurrent_passes_of(mw__level level)
{
    return (mw__recurrent_passes){.add = MW__DISPATCH_BEST(add, level),
                                  .mul = MW__DISPATCH_BEST(mul, level),
                                  .mul_add = MW__DISPATCH_BEST(mul_add, level),
                                  .keep = MW__DISPATCH_BEST(keep, level),
                                  .bound = MW__DISPATCH_BEST(bound, level),
                                  .blend = MW__DISPATCH_BEST(blend, level)};
}

static void activate(const mw__recurrent_activation *a, float *x, int64_t count)
{
    if (a->loop != NULL)
        a->loop(x, x, count, a->p, a->q);
}

/* ---- cells ---- */

/* Where the rows of one partition stand. */
typedef struct piece {
    int64_t count;
    float *h, *c, *sums, *work; /* [rows, H] but for sums [rows, G H] */
    void *gemm;
    const float *x, *weight; /* this step's product with x; weight_hh */
    const float *peephole, *bias;
} piece;

/* c[rows, n] = a[rows, H] times n rows of weight_hh, columns from `gate` on. */
static void multiply_gates(const mw__recurrent_block *s, const piece *r, const float *a, int64_t gate, int64_t gates)
{
    const int64_t hidden = s->hidden;
    const mw__gemm_shape product = {.m = r->count,
                                    .n = gates * hidden,
                                    .k = hidden,
                                    .lda = hidden,
                                    .ldb = s->turned ? s->gates * hidden : hidden,
                                    .ldc = s->gates * hidden,
                                    .transpose_b = !s->turned};
    mw__gemm(gates == s->gates ? &s->code : &s->part_code, &product, a,
             r->weight + gate * hidden * (s->turned ? 1 : hidden), r->sums + gate * hidden, r->gemm);
}

/* The new cell and output of one row, from its gates. */
static void lstm_row(const mw__recurrent_block *s, const piece *r, int64_t row)
{
    const int64_t n = s->hidden;
    float *g = r->sums + row * 4 * n, *c = r->c + row * n, *h = r->h + row * n;
    const bool looks = r->peephole != NULL;
    if (looks) {
        s->pass.mul_add(g, r->peephole, c, n);
        s->pass.mul_add(g + n, r->peephole + n, c, n);
    }
    activate(&s->gate, g, looks ? 2 * n : 3 * n);
    activate(&s->candidate, g + 3 * n, n);
    s->pass.keep(c, g, n);
    if (s->clips)
        s->pass.bound(c, s->clip, n);
    if (looks) {
        s->pass.mul_add(g + 2 * n, r->peephole + 2 * n, c, n);
        activate(&s->gate, g + 2 * n, n);
    }
    memcpy(h, c, (size_t)n * sizeof *h);
    activate(&s->output, h, n);
    s->pass.mul(h, h, g + 2 * n, n);
}

static void lstm_step(const mw__recurrent_block *s, const piece *r)
{
    multiply_gates(s, r, r->h, 0, 4);
    s->pass.add(r->sums, r->x, r->count * 4 * s->hidden);
    for (int64_t row = 0; row < r->count; row++)
        lstm_row(s, r, row);
}

static void rnn_step(const mw__recurrent_block *s, const piece *r)
{
    const int64_t count = r->count * s->hidden;
    multiply_gates(s, r, r->h, 0, 1);
    s->pass.add(r->sums, r->x, count);
    activate(&s->output, r->sums, count);
    memcpy(r->h, r->sums, (size_t)count * sizeof(float));
}

/* Gates r, n, z of one row; n is left to the caller. */
static void open_gates(const mw__recurrent_block *s, float *g, const float *x)
{
    const int64_t n = s->hidden;
    s->pass.add(g, x, n);
    s->pass.add(g + 2 * n, x + 2 * n, n);
    activate(&s->gate, g, n);
    activate(&s->gate, g + 2 * n, n);
}

static void reset_after_step(const mw__recurrent_block *s, const piece *r)
{
    const int64_t n = s->hidden;
    multiply_gates(s, r, r->h, 0, 3);
    for (int64_t row = 0; row < r->count; row++) {
        float *g = r->sums + row * 3 * n;
        if (r->bias != NULL)
            s->pass.add(g, r->bias, 3 * n);
        open_gates(s, g, r->x + row * 3 * n);
        s->pass.mul(g + n, g + n, g, n);
        s->pass.add(g + n, r->x + row * 3 * n + n, n);
        activate(&s->output, g + n, n);
        s->pass.blend(r->h + row * n, g + n, g + 2 * n, n);
    }
}

static void gru_step(const mw__recurrent_block *s, const piece *r)
{
    const int64_t n = s->hidden;
    multiply_gates(s, r, r->h, 0, 1);
    multiply_gates(s, r, r->h, 2, 1);
    for (int64_t row = 0; row < r->count; row++) {
        float *g = r->sums + row * 3 * n;
        open_gates(s, g, r->x + row * 3 * n);
        s->pass.mul(r->work + row * n, g, r->h + row * n, n);
    }
    multiply_gates(s, r, r->work, 1, 1);
    for (int64_t row = 0; row < r->count; row++) {
        float *g = r->sums + row * 3 * n;
        s->pass.add(g + n, r->x + row * 3 * n + n, n);
        activate(&s->output, g + n, n);
        s->pass.blend(r->h + row * n, g + n, g + 2 * n, n);
    }
}

/* ---- steps ---- */

static piece piece_of(const mw__recurrent_block *s, const mw__kernel_call *call)
{
    char *scratch = call->scratch;
    return (piece){.count = call->end - call->begin,
                   .h = (float *)scratch,
                   .c = (float *)(scratch + s->c_at),
                   .sums = (float *)(scratch + s->sums_at),
                   .work = (float *)(scratch + s->work_at),
                   .gemm = scratch + s->gemm_at,
                   .weight = call->in[1],
                   .peephole = read_at(call, s->at_peephole),
                   .bias = read_at(call, s->at_bias)};
}

/* The first states, and what is stored of the last. */
static void begin_rows(const mw__recurrent_block *s, const mw__kernel_call *call, const piece *r)
{
    load_states(s, call->in[2], call->begin, r->count, r->h);
    if (s->at_c > 0)
        load_states(s, read_at(call, s->at_c), call->begin, r->count, r->c);
}

static void end_rows(const mw__recurrent_block *s, const mw__kernel_call *call, const piece *r)
{
    store_states(s, r->h, call->begin, r->count, call->out[1]);
    if (s->at_c > 0)
        store_states(s, r->c, call->begin, r->count, call->out[2]);
}

void mw__recurrent_run(const mw__kernel_call *call)
{
    const mw__recurrent_block *s = call->block;
    piece r = piece_of(s, call);
    begin_rows(s, call, &r);
    for (int64_t t = 0; t < s->steps; t++) {
        r.x = (const float *)call->in[0] + (step_at(s, t) * s->batch + call->begin) * s->gates * s->hidden;
        if (s->cell == MW__CELL_LSTM)
            lstm_step(s, &r);
        else if (s->cell == MW__CELL_RNN)
            rnn_step(s, &r);
        else if (s->reset_after)
            reset_after_step(s, &r);
        else
            gru_step(s, &r);
        store_output(s, call, t, r.h);
    }
    end_rows(s, call, &r);
}

/* ---- the reference ---- */

static float ref_activate(mw_activation kind, float x)
{
    switch (kind) {
    case MW_ACTIVATION_SIGMOID:
        return 1.0F / (1.0F + expf(-x));
    case MW_ACTIVATION_HARD_SIGMOID:
        x = 0.2F * x + 0.5F;
        return x < 0.0F ? 0.0F : x > 1.0F ? 1.0F : x;
    case MW_ACTIVATION_RELU:
        return x < 0.0F ? 0.0F : x;
    case MW_ACTIVATION_LINEAR:
        return x;
    default:
        return tanhf(x);
    }
}

static float ref_dot(const float *a, const float *b, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return (float)sum;
}

static void ref_lstm(const mw__recurrent_block *s, const piece *r)
{
    const int64_t n = s->hidden;
    for (int64_t j = 0; j < 4 * n; j++)
        r->sums[j] = r->x[j] + ref_dot(r->weight + j * n, r->h, n);
    for (int64_t j = 0; j < n; j++) {
        const float *p = r->peephole, c = r->c[j];
        const float i = ref_activate(s->gate.kind, r->sums[j] + (p != NULL ? p[j] * c : 0.0F));
        const float f = ref_activate(s->gate.kind, r->sums[n + j] + (p != NULL ? p[n + j] * c : 0.0F));
        float next = f * c + i * ref_activate(s->candidate.kind, r->sums[3 * n + j]);
        if (s->clips)
            next = next > s->clip ? s->clip : next < -s->clip ? -s->clip : next;
        const float o = ref_activate(s->gate.kind, r->sums[2 * n + j] + (p != NULL ? p[2 * n + j] * next : 0.0F));
        r->c[j] = next;
        r->h[j] = o * ref_activate(s->output.kind, next);
    }
}

static void ref_gru(const mw__recurrent_block *s, const piece *r)
{
    const int64_t n = s->hidden;
    for (int64_t j = 0; j < 3 * n; j++)
        r->sums[j] = ref_dot(r->weight + j * n, r->h, n) + (r->bias != NULL ? r->bias[j] : 0.0F);
    for (int64_t j = 0; j < n; j++) {
        r->sums[j] = ref_activate(s->gate.kind, r->sums[j] + r->x[j]);
        r->sums[2 * n + j] = ref_activate(s->gate.kind, r->sums[2 * n + j] + r->x[2 * n + j]);
        r->work[j] = r->sums[j] * r->h[j];
    }
    for (int64_t j = n; j < 2 * n; j++) {
        const float inner = s->reset_after ? r->sums[j - n] * r->sums[j] : ref_dot(r->weight + j * n, r->work, n);
        r->sums[j] = ref_activate(s->output.kind, r->x[j] + inner);
    }
    for (int64_t j = 0; j < n; j++)
        r->h[j] = (1.0F - r->sums[2 * n + j]) * r->sums[n + j] + r->sums[2 * n + j] * r->h[j];
}

static void ref_rnn(const mw__recurrent_block *s, const piece *r)
{
    const int64_t n = s->hidden;
    for (int64_t j = 0; j < n; j++)
        r->sums[j] = ref_activate(s->output.kind, r->x[j] + ref_dot(r->weight + j * n, r->h, n));
    memcpy(r->h, r->sums, (size_t)n * sizeof(float));
}

void mw__recurrent_ref(const mw__kernel_call *call)
{
    const mw__recurrent_block *s = call->block;
    for (int64_t row = call->begin; row < call->end; row++) {
        mw__kernel_call one = *call;
        one.begin = row;
        one.end = row + 1;
        piece r = piece_of(s, &one);
        begin_rows(s, &one, &r);
        for (int64_t t = 0; t < s->steps; t++) {
            r.x = (const float *)call->in[0] + (step_at(s, t) * s->batch + row) * s->gates * s->hidden;
            if (s->cell == MW__CELL_LSTM)
                ref_lstm(s, &r);
            else if (s->cell == MW__CELL_GRU)
                ref_gru(s, &r);
            else
                ref_rnn(s, &r);
            store_output(s, &one, t, r.h);
        }
        end_rows(s, &one, &r);
    }
}
