/* The cells of the recurrent pattern, as few operations a step as there can be. */
#include "graph/patterns/recurrent_cell.h"

#include "graph/constants/compressed.h"

#include <millwright/ops/activation.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/shape.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FP16_MAX 65504.0

/* ---- weights ---- */

/* What a constant holds, compressed or not; NULL if it is none or not read, or if a gradient wants the operand. */
static const mw__payload *loaded(const mw__recurrent *r, const mw_tensor *value)
{
    const mw__payload *payload = r->keeps_operands ? NULL : mw__constant_payload(value, NULL);
    return payload != NULL && payload->data != NULL && !payload->splat ? payload : NULL;
}

/* An order of blocks of equal height: of `blocks`, the `count` that order[..] names. */
typedef struct arrangement {
    int blocks, count;
    const int *order;
} arrangement;

static bool is_whole(const arrangement *a)
{
    bool same = a->count == a->blocks;
    for (int i = 0; same && i < a->count; i++)
        same = a->order[i] == i;
    return same;
}

/* A name is for patterns (fine-tuning), which find the parts by it; it may be taken by an earlier use. */
static mw_tensor *name_part(mw_tensor *made, const char *whole, const arrangement *a)
{
    char name[MW_NAME_MAX + 1];
    int length = snprintf(name, sizeof name, "%s.gates", whole);
    for (int i = 0; i < a->count; i++, length++)
        if (length < MW_NAME_MAX)
            snprintf(name + length, sizeof name - (size_t)length, "%d", a->order[i]);
    if (made == NULL || length > MW_NAME_MAX || mw_graph_find(mw_tensor_graph(made), name) != NULL)
        return made;
    return mw_name(made, name);
}

/* The blocks of a constant so. */
static mw_tensor *arrange_constant(mw_tensor *value, const mw__payload *payload, const arrangement *a)
{
    mw_graph *graph = mw_tensor_graph(value);
    mw_shape shape = mw_tensor_shape(value);
    shape.dim[0] = shape.dim[0] / a->blocks * a->count;
    const size_t block = payload->size / (size_t)a->blocks;
    unsigned char *bytes = mw__arena_alloc(&graph->arena, (size_t)a->count * block + 1, 1, &graph->error);
    if (bytes == NULL)
        return NULL;
    for (int i = 0; i < a->count; i++)
        memcpy(bytes + (size_t)i * block, (const unsigned char *)payload->data + (size_t)a->order[i] * block, block);
    return mw_constant(graph, mw_tensor_dtype(value), shape, bytes);
}

/* The blocks of a weight, bias or peephole so; NULL of NULL. */
static mw_tensor *arrange(const mw__recurrent *r, mw_tensor *value, const arrangement *a)
{
    mw_tensor *parts[4], *chosen[4];
    if (value == NULL || is_whole(a))
        return value;
    const mw__payload *payload = loaded(r, value);
    if (payload != NULL) {
        mw_tensor *made = arrange_constant(value, payload, a);
        return r->names_parts && value->name != NULL ? name_part(made, value->name, a) : made;
    }
    if (mw_split(value, (size_t)a->blocks, 0, parts) != MW_OK)
        return NULL;
    for (int i = 0; i < a->count; i++)
        chosen[i] = parts[a->order[i]];
    return a->count == 1 ? chosen[0] : mw_concat(chosen, (size_t)a->count, 0);
}

/* The steps want r, z, n. */
static void prepare_gru(const mw__recurrent *r, const mw_recurrent_weights *weights, mw__cell_weights *out)
{
    static const int as_mil[] = {0, 2, 1}, as_torch[] = {0, 1, 2};
    const int *order = r->torch_order ? as_torch : as_mil;
    const arrangement all = {3, 3, order}, gates = {3, 2, order}, last = {3, 1, order + 2};
    out->input = arrange(r, weights->weight_ih, &all);
    out->hidden = arrange(r, weights->weight_hh, r->reset_after ? &all : &gates);
    if (r->reset_after) {
        out->hidden_bias = arrange(r, weights->bias, &all);
        out->input_bias = arrange(r, weights->input_bias, &all);
    } else {
        out->last = arrange(r, weights->weight_hh, &last);
        out->input_bias = arrange(r, mw__build_sum(weights->bias, weights->input_bias), &all);
    }
}

/* The steps want i, f, o, z of lstm. */
static void prepare_gates(const mw__recurrent *r, const mw_recurrent_weights *weights, mw__cell_weights *out)
{
    static const int from_torch[] = {0, 1, 3, 2}, same[] = {0, 1, 2, 3};
    const arrangement all = {r->gates, r->gates, r->torch_order ? from_torch : same};
    out->input = arrange(r, weights->weight_ih, &all);
    out->hidden = arrange(r, weights->weight_hh, &all);
    out->input_bias = arrange(r, weights->bias, &all);
}

static void prepare_peephole(const mw__recurrent *r, const mw_recurrent_weights *weights, mw__cell_weights *out)
{
    for (int i = 0; i < 3 && weights->peephole != NULL; i++)
        out->peephole[i] = arrange(r, weights->peephole, &(arrangement){3, 1, &(const int){i}});
}

bool mw__cell_prepare(const mw__recurrent *r, const mw_recurrent_weights *weights, mw__cell_weights *out)
{
    *out = (mw__cell_weights){0};
    if (r->cell == MW__CELL_GRU) {
        prepare_gru(r, weights, out);
    } else {
        prepare_gates(r, weights, out);
        prepare_peephole(r, weights, out);
    }
    return out->input != NULL && mw_graph_check(mw_tensor_graph(r->x), NULL) == MW_OK;
}

/* ---- steps ---- */

static mw_tensor *activate(mw_tensor *x, mw_activation activation)
{
    switch (activation) {
    case MW_ACTIVATION_SIGMOID:
        return mw_sigmoid(x);
    case MW_ACTIVATION_HARD_SIGMOID:
        return mw_sigmoid_hard(x, 0.2F, 0.5F);
    case MW_ACTIVATION_RELU:
        return mw_relu(x);
    case MW_ACTIVATION_LINEAR:
        return x;
    case MW_ACTIVATION_TANH:
    case MW_ACTIVATION_SCALED_TANH:
        break;
    }
    return mw_tanh(x);
}

/* Cuts the last axis into a part of so many blocks and the rest; one split, so that the sizes are constants. */
static bool cut_gates(mw_tensor *x, int blocks, int of, mw_tensor *out[2])
{
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t block = shape.rank > 0 ? shape.dim[shape.rank - 1] / of : 0;
    return mw_split_sizes(x, (const int64_t[]){blocks * block, (of - blocks) * block}, 2, 2, out) == MW_OK;
}

static mw_tensor *bounded(const mw__recurrent *r, mw_tensor *c)
{
    const bool reaches = isfinite(r->clip) && (mw_tensor_dtype(c) != MW_F16 || r->clip < FP16_MAX);
    return reaches ? mw_clip(c, -(float)r->clip, (float)r->clip) : c;
}

/* i, f and o are passed through their activation together. */
static void lstm_step(const mw__recurrent *r, mw_tensor *sums, mw_tensor **h, mw_tensor **c)
{
    mw_tensor *halves[2], *gates[3];
    if (!cut_gates(sums, 3, 4, halves) || mw_split(activate(halves[0], r->gate), 3, 2, gates) != MW_OK)
        return;
    mw_tensor *kept = mw_mul(gates[1], *c);
    mw_tensor *added = mw_mul(gates[0], activate(halves[1], r->candidate));
    *c = bounded(r, mw_add(kept, added));
    *h = mw_mul(gates[2], activate(*c, r->output));
}

/* The output's gate sees the new cell. */
static void peephole_step(const mw__recurrent *r, const mw__cell_weights *w, mw_tensor *sums, mw_tensor **h,
                          mw_tensor **c)
{
    mw_tensor *gates[4];
    if (mw_split(sums, 4, 2, gates) != MW_OK)
        return;
    mw_tensor *i = activate(mw_add(gates[0], mw_mul(*c, w->peephole[0])), r->gate);
    mw_tensor *f = activate(mw_add(gates[1], mw_mul(*c, w->peephole[1])), r->gate);
    mw_tensor *kept = mw_mul(f, *c);
    mw_tensor *added = mw_mul(i, activate(gates[3], r->candidate));
    *c = bounded(r, mw_add(kept, added));
    mw_tensor *o = activate(mw_add(gates[2], mw_mul(*c, w->peephole[2])), r->gate);
    *h = mw_mul(o, activate(*c, r->output));
}

/* (1 - z) n + z h, with one product less. */
static mw_tensor *between(mw_tensor *n, mw_tensor *z, mw_tensor *h)
{
    mw_tensor *apart = mw_sub(h, n);
    return mw_add(n, mw_mul(z, apart));
}

static void gru_step(const mw__recurrent *r, const mw__cell_weights *w, mw_tensor *sums, mw_tensor **h)
{
    mw_tensor *x[2], *hidden[2] = {NULL, NULL}, *gates[2];
    mw_tensor *product = mw_linear(*h, w->hidden, w->hidden_bias);
    if (!cut_gates(sums, 2, 3, x) || (r->reset_after ? !cut_gates(product, 2, 3, hidden) : product == NULL))
        return;
    mw_tensor *both = mw_add(x[0], r->reset_after ? hidden[0] : product);
    if (mw_split(activate(both, r->gate), 2, 2, gates) != MW_OK)
        return;
    mw_tensor *scaled = mw_mul(gates[0], r->reset_after ? hidden[1] : *h);
    mw_tensor *inner = r->reset_after ? scaled : mw_linear(scaled, w->last, NULL);
    *h = between(activate(mw_add(x[1], inner), r->output), gates[1], *h);
}

void mw__cell_step(const mw__recurrent *r, const mw__cell_weights *w, mw_tensor *sums, mw_tensor **h, mw_tensor **c)
{
    mw_tensor *hidden = *h;
    *h = NULL;
    if (r->cell == MW__CELL_GRU) {
        gru_step(r, w, sums, &hidden);
    } else {
        sums = mw_add(sums, mw_linear(hidden, w->hidden, NULL));
        if (r->cell == MW__CELL_RNN)
            hidden = activate(sums, r->output);
        else if (w->peephole[0] != NULL)
            peephole_step(r, w, sums, &hidden, c);
        else
            lstm_step(r, sums, &hidden, c);
    }
    *h = mw_graph_check(mw_tensor_graph(r->x), NULL) == MW_OK ? hidden : NULL;
}
