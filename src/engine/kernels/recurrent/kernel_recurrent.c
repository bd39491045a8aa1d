/* Recurrent networks. One product gives what the inputs add to the gates in all steps; then the steps are taken
 * (kernel_recurrent_steps.c). The two directions are steps of their own. F16 operands are widened to fp32 by steps of
 * their own; each result is rounded once. */
#include "engine/kernels/recurrent/kernel_recurrent.h"

#include "base/memory/checked.h"
#include "base/number/integer.h"
#include "engine/kernels/gemm/kernel_matmul.h"

#include <math.h>

/* ---- the product with x ---- */

static void add_bias(float *sums, int64_t rows, int64_t count, const float *bias)
{
    for (int64_t i = 0; i < rows; i++, sums += count)
        for (int64_t j = 0; j < count; j++)
            sums[j] += bias[j];
}

/* Reads: x, weight_ih, biases. A unit is a row of one step. */
static void inputs_run(const mw__kernel_call *call)
{
    const mw__recurrent_block *s = call->block;
    const int64_t rows = call->end - call->begin, count = s->gates * s->hidden;
    const int64_t leading = s->inputs > 0 ? s->inputs : 1; /* a BLAS refuses 0 */
    float *sums = (float *)call->out[0] + call->begin * count;
    const mw__gemm_shape product = {
        .m = rows, .n = count, .k = s->inputs, .lda = leading, .ldb = leading, .ldc = count, .transpose_b = true};
    mw__gemm(&s->code, &product, (const float *)call->in[0] + call->begin * s->inputs, call->in[1], sums,
             call->scratch);
    for (int i = 0; i < s->biases; i++)
        add_bias(sums, rows, count, call->in[2 + i]);
}

/* ---- planning ---- */

static mw__recurrent_activation find_activation(mw_activation kind, mw__level level)
{
    mw__recurrent_activation a = {.kind = kind};
    if (kind == MW_ACTIVATION_SIGMOID)
        a.loop = mw__loop1_find(MW__OP_sigmoid, level);
    else if (kind == MW_ACTIVATION_RELU)
        a.loop = mw__loop1_find(MW__OP_relu, level);
    else if (kind == MW_ACTIVATION_TANH || kind == MW_ACTIVATION_SCALED_TANH)
        a.loop = mw__loop1_find(MW__OP_tanh, level);
    else if (kind == MW_ACTIVATION_HARD_SIGMOID)
        a = (mw__recurrent_activation){
            .kind = kind, .loop = mw__loop1_find(MW__OP_sigmoid_hard, level), .p = 0.2F, .q = 0.5F};
    return a;
}

/* What an operation is planned from. */
typedef struct plan {
    mw__planner *planner;
    const mw__op *op;
    mw__recurrent r;
    uint32_t x, h, c; /* buffers, fp32 */
    size_t sums;      /* bytes of the product with x */
} plan;

static void fill_block(const plan *p, int half, mw__recurrent_block *s)
{
    const mw_shape x = mw__shape_of(p->r.x);
    const mw__level level = mw__plan_level(p->planner);
    s->cell = p->r.cell;
    s->steps = x.dim[0], s->batch = x.dim[1], s->inputs = x.dim[2];
    s->hidden = mw__shape_of(p->r.half[0].weight_hh).dim[1];
    s->gates = p->r.gates;
    s->width = mw__shape_of(p->r.h).dim[1];
    s->column = half * s->hidden;
    s->reverse = mw__recurrent_is_reverse(&p->r, half);
    s->keeps_order = mw__recurrent_keeps_order(&p->r);
    s->sequence = p->r.sequence;
    s->reset_after = p->r.reset_after;
    s->clips = isfinite(p->r.clip);
    s->clip = s->clips ? (float)p->r.clip : 0.0F;
    s->gate = find_activation(p->r.gate, level);
    s->candidate = find_activation(p->r.candidate, level);
    s->output = find_activation(p->r.output, level);
    s->dtype = mw__dtype_of(p->op->results[0]);
}

/* The biases of the product with x: with reset_after the one of the hidden elements is scaled and stays apart. */
static int input_biases(const plan *p, int half, const mw_tensor *out[2])
{
    int count = 0;
    if (p->r.half[half].bias != NULL && !p->r.reset_after)
        out[count++] = p->r.half[half].bias;
    if (p->r.half[half].input_bias != NULL)
        out[count++] = p->r.half[half].input_bias;
    return count;
}

/* A product that a BLAS with threads of its own runs is one piece. */
static void keep_whole(mw__step *step, const mw__gemm_code *code)
{
    if (code->sgemm != NULL && mw__blas_splits())
        step->grain = step->units;
}

static uint32_t plan_inputs(const plan *p, int half)
{
    const mw_tensor *biases[2];
    const mw_tensor *weight = p->r.half[half].weight_ih;
    mw__recurrent_block *s = mw__plan_block(p->planner, sizeof *s);
    const uint32_t sums = mw__plan_temporary(p->planner, p->sums);
    if (s == NULL)
        return sums;
    fill_block(p, half, s);
    const int64_t units = s->steps * s->batch, count = s->gates * s->hidden,
                  partitions = mw__plan_partitions(p->planner);
    const double additions = 2.0 * (double)units * (double)count * (double)s->inputs;
    s->biases = input_biases(p, half, biases);
    s->code = mw__plan_gemm(p->planner, (units + partitions - 1) / partitions, count, s->inputs);
    uint32_t operands[4] = {p->x, mw__plan_floats(p->planner, weight)};
    for (int i = 0; i < s->biases; i++)
        operands[2 + i] = mw__plan_floats(p->planner, biases[i]);
    mw__step *step =
        mw__plan_step(p->planner, inputs_run, p->op->row->name, units, mw__cost((double)p->sums, additions));
    step->block = s;
    step->scratch = mw__gemm_scratch(units, count, s->inputs);
    keep_whole(step, &s->code);
    mw__step_read(p->planner, step, operands[0], MW__ROWS, (size_t)s->inputs * sizeof(float), false);
    for (int i = 1; i < 2 + s->biases; i++)
        mw__step_read(p->planner, step, operands[i], MW__WHOLE, 0, false);
    mw__step_write(p->planner, step, sums, MW__ROWS, (size_t)count * sizeof(float));
    return sums;
}

/* Room in scratch for `rows` rows of the batch. */
static size_t place_scratch(mw__recurrent_block *s, int64_t rows)
{
    const size_t states = mw__size_round_up((size_t)(rows * s->hidden) * sizeof(float), 64);
    const size_t all = mw__gemm_scratch(rows, s->gates * s->hidden, s->hidden);
    const size_t one = mw__gemm_scratch(rows, s->hidden, s->hidden);
    s->c_at = states;
    s->work_at = 2 * states;
    s->sums_at = 3 * states;
    s->gemm_at = s->sums_at + mw__size_round_up((size_t)(rows * s->gates * s->hidden) * sizeof(float), 64);
    return s->gemm_at + (all > one ? all : one);
}

static mw__kernel *choose_run(mw__planner *planner)
{
    static const mw__implementation ways[] = {
        {.name = "vectors", .level = MW__LEVEL_BASE, .run = mw__recurrent_run},
        {.name = "ref", .run = mw__recurrent_ref},
    };
    return mw__plan_implementation(planner, MW__IMPLEMENTATIONS(ways), NULL)->run;
}

#define TURNED_STEPS 8 /* at least, of a weight that is turned */

/* The optional operands; *count grows by those that are there. */
static void list_operands(const plan *p, int half, mw__recurrent_block *s, uint32_t *operands, int *count)
{
    if (s->cell == MW__CELL_LSTM) {
        operands[*count] = p->c;
        s->at_c = (*count)++;
    }
    if (p->r.half[half].peephole != NULL) {
        operands[*count] = mw__plan_floats(p->planner, p->r.half[half].peephole);
        s->at_peephole = (*count)++;
    }
    if (s->reset_after && p->r.half[half].bias != NULL) {
        operands[*count] = mw__plan_floats(p->planner, p->r.half[half].bias);
        s->at_bias = (*count)++;
    }
}

/* All steps read the weight. */
static bool is_turned(const plan *p, int half, const mw__recurrent_block *s, int64_t rows)
{
    const bool whole = s->gates == 1 || s->cell == MW__CELL_LSTM || s->reset_after;
    const int64_t columns = (whole ? s->gates : 1) * s->hidden;
    return mw__dtype_of(p->r.half[half].weight_hh) == MW_F32 && s->steps >= TURNED_STEPS &&
           mw__gemm_gains_turned(&s->code, rows, columns, s->hidden) &&
           mw__gemm_gains_turned(&s->part_code, rows, columns, s->hidden);
}

static uint32_t plan_weight(const plan *p, int half, const mw__recurrent_block *s)
{
    const mw_tensor *weight = p->r.half[half].weight_hh;
    return s->turned ? mw__plan_turned_matrix(p->planner, weight, s->gates * s->hidden, s->hidden)
                     : mw__plan_floats(p->planner, weight);
}

static void plan_steps(const plan *p, int half, uint32_t sums)
{
    mw__recurrent_block *s = mw__plan_block(p->planner, sizeof *s);
    if (s == NULL)
        return;
    fill_block(p, half, s);
    s->pass = mw__recurrent_passes_of(mw__plan_level(p->planner));
    const int64_t partitions = mw__plan_partitions(p->planner), rows = (s->batch + partitions - 1) / partitions;
    s->code = mw__plan_gemm(p->planner, rows, s->gates * s->hidden, s->hidden);
    s->part_code = s->gates == 3 && !s->reset_after ? mw__plan_gemm(p->planner, rows, s->hidden, s->hidden) : s->code;
    s->turned = is_turned(p, half, s, rows);
    uint32_t operands[6] = {sums, plan_weight(p, half, s), p->h};
    int count = 3;
    list_operands(p, half, s, operands, &count);
    const double gates = (double)s->steps * (double)s->batch * (double)s->gates * (double)s->hidden;
    mw__step *step = mw__plan_step(p->planner, choose_run(p->planner), p->op->row->name, s->batch,
                                   mw__cost(gates * 4.0, gates * (2.0 * (double)s->hidden + 30.0)));
    step->block = s;
    step->scratch = place_scratch(s, s->batch);
    keep_whole(step, &s->code);
    for (int i = 0; i < count; i++)
        mw__step_read(p->planner, step, operands[i], MW__WHOLE, 0, false);
    for (size_t i = 0; i < p->op->result_count; i++)
        mw__step_write(p->planner, step, mw__plan_buffer(p->planner, p->op->results[i]), MW__WHOLE, 0);
}

/* False if the product with x has more bytes than can be. */
static bool measure_scratch(plan *p)
{
    const mw_shape x = mw__shape_of(p->r.x);
    const int64_t hidden = mw__shape_of(p->r.half[0].weight_hh).dim[1];
    size_t size = (size_t)p->r.gates * sizeof(float);
    bool fits = mw__mul_size(size, (size_t)x.dim[0], &size) && mw__mul_size(size, (size_t)x.dim[1], &size) &&
                mw__mul_size(size, (size_t)hidden, &size);
    p->sums = size;
    return fits && size <= INT64_MAX / 64;
}

static mw_status plan_recurrent(mw__planner *planner, const mw__op *op, mw_error *err)
{
    plan p = {.planner = planner, .op = op};
    char subject[128];
    if (!mw__recurrent_read(op, &p.r))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: its direction, activations and flags must be constants",
                        mw__op_subject(op, subject, sizeof subject));
    if (!measure_scratch(&p))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: steps, batch and hidden elements are too many together",
                        mw__op_subject(op, subject, sizeof subject));
    if (mw__count_of(op->results[0]) == 0)
        return mw__plan_check(planner, err);
    p.x = mw__plan_floats(planner, p.r.x);
    p.h = mw__plan_floats(planner, p.r.h);
    p.c = p.r.c != NULL ? mw__plan_floats(planner, p.r.c) : 0;
    for (int half = 0; half < (p.r.direction == MW_BIDIRECTIONAL ? 2 : 1); half++)
        plan_steps(&p, half, plan_inputs(&p, half));
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_lstm(mw__planner *planner, const mw__op *op, mw_error *err)
{
    return plan_recurrent(planner, op, err);
}

mw_status mw__kernel_gru(mw__planner *planner, const mw__op *op, mw_error *err)
{
    return plan_recurrent(planner, op, err);
}

mw_status mw__kernel_rnn(mw__planner *planner, const mw__op *op, mw_error *err)
{
    return plan_recurrent(planner, op, err);
}
