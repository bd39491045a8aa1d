/* The recurrent pattern: what an operation says, and the builder over time. The cells are in recurrent_cell.c. */
#include "graph/patterns/recurrent.h"
#include "graph/patterns/recurrent_cell.h"

#include <millwright/ops/matmul.h>
#include <millwright/ops/shape.h>

#include <math.h>
#include <string.h>

/* ---- words ---- */

typedef struct word {
    const char *name;
    int value;
} word;

/* The first of a value is the one that is written; coremltools has both of hard_sigmoid. */
static const word activations[] = {{"tanh", MW_ACTIVATION_TANH},
                                   {"sigmoid", MW_ACTIVATION_SIGMOID},
                                   {"hard_sigmoid", MW_ACTIVATION_HARD_SIGMOID},
                                   {"sigmoid_hard", MW_ACTIVATION_HARD_SIGMOID},
                                   {"relu", MW_ACTIVATION_RELU},
                                   {"linear", MW_ACTIVATION_LINEAR},
                                   {"scaled_tanh", MW_ACTIVATION_SCALED_TANH}};
static const word directions[] = {
    {"forward", MW_FORWARD}, {"reverse", MW_REVERSE}, {"bidirectional", MW_BIDIRECTIONAL}};

static const char *name_of(const word *words, size_t count, int value)
{
    for (size_t i = 0; i < count; i++)
        if (words[i].value == value)
            return words[i].name;
    return NULL;
}

static int find_word(const word *words, size_t count, const char *name)
{
    for (size_t i = 0; name != NULL && i < count; i++)
        if (strcmp(words[i].name, name) == 0)
            return words[i].value;
    return 0;
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

const char *mw__activation_name(mw_activation activation)
{
    return name_of(activations, COUNT(activations), (int)activation);
}

mw_activation mw__activation_find(const char *name)
{
    return (mw_activation)find_word(activations, COUNT(activations), name);
}

const char *mw__direction_name(mw_direction direction)
{
    return name_of(directions, COUNT(directions), (int)direction);
}

mw_direction mw__direction_find(const char *name)
{
    return (mw_direction)find_word(directions, COUNT(directions), name);
}

/* ---- reading ---- */

static void read_lstm(const mw__op *op, mw__recurrent *r)
{
    r->gates = 4;
    r->c = mw__arg(op, "initial_c");
    r->half[0].peephole = mw__arg(op, "peephole");
    r->half[1] = (mw_recurrent_weights){.weight_ih = mw__arg(op, "weight_ih_back"),
                                        .weight_hh = mw__arg(op, "weight_hh_back"),
                                        .bias = mw__arg(op, "bias_back"),
                                        .peephole = mw__arg(op, "peephole_back")};
    r->gate = mw__activation_find(mw__arg_string(op, "recurrent_activation"));
    r->candidate = mw__activation_find(mw__arg_string(op, "cell_activation"));
    r->output = mw__activation_find(mw__arg_string(op, "activation"));
}

static void read_gru(const mw__op *op, mw__recurrent *r)
{
    r->gates = 3;
    r->gate = mw__activation_find(mw__arg_string(op, "recurrent_activation"));
    r->output = mw__activation_find(mw__arg_string(op, "activation"));
    r->candidate = MW_ACTIVATION_LINEAR;
    if (op->row->since < MW_IOS18)
        return;
    r->half[0].input_bias = mw__arg(op, "input_bias");
    mw__arg_bool(op, "reset_after", &r->reset_after);
}

bool mw__recurrent_read(const mw__op *op, mw__recurrent *out)
{
    mw__recurrent r = {.clip = (double)INFINITY, .x = mw__arg(op, "x"), .h = mw__arg(op, "initial_h")};
    r.half[0].weight_ih = mw__arg(op, "weight_ih");
    r.half[0].weight_hh = mw__arg(op, "weight_hh");
    r.half[0].bias = mw__arg(op, "bias");
    r.direction = mw__direction_find(mw__arg_string(op, "direction"));
    if (strcmp(op->kind, "lstm") == 0) {
        r.cell = MW__CELL_LSTM;
        read_lstm(op, &r);
    } else if (strcmp(op->kind, "gru") == 0) {
        r.cell = MW__CELL_GRU;
        read_gru(op, &r);
    } else {
        r.cell = MW__CELL_RNN;
        r.gates = 1;
        r.output = mw__activation_find(mw__arg_string(op, "activation"));
        r.gate = r.candidate = MW_ACTIVATION_LINEAR;
    }
    *out = r;
    if (r.cell == MW__CELL_LSTM && mw__arg_present(op, "clip") && !mw__arg_float(op, "clip", &out->clip))
        return false;
    return mw__arg_bool(op, "output_sequence", &out->sequence) && r.direction != 0 && r.gate != 0 && r.candidate != 0 &&
           r.output != 0;
}

/* ---- writing ---- */

/* Part `index` of the `count` along the last axis, as [1, B, H]. */
static mw_tensor *state_part(mw_tensor *state, int count, int index)
{
    mw_tensor *parts[2] = {state, NULL};
    if (count > 1 && mw_split(state, (size_t)count, 1, parts) != MW_OK)
        return NULL;
    return mw_expand_dims(parts[index], MW_AXES(0));
}

/* What goes into each step, cut out of a product over all of them, and behind that room for their outputs. */
static mw_tensor **cut_steps(mw_tensor *sums, size_t count)
{
    if (sums == NULL)
        return NULL;
    mw_graph *graph = mw_tensor_graph(sums);
    mw_tensor **parts = mw__arena_alloc(&graph->arena, 2 * count, sizeof(mw_tensor *), &graph->error);
    if (parts == NULL)
        return NULL;
    parts[0] = sums;
    return count == 1 || mw_split(sums, count, 0, parts) == MW_OK ? parts : NULL;
}

/* A text of a few bytes must not become operations without end. The graph holds those of all networks. */
static bool can_be_written(const mw__recurrent *r, size_t count)
{
    static const char *const names[] = {[MW__CELL_LSTM] = "lstm", [MW__CELL_GRU] = "gru", [MW__CELL_RNN] = "rnn"};
    mw_graph *graph = mw_tensor_graph(r->x);
    if (count <= MW__RECURRENT_STEPS && graph->block->op_count <= MW__RECURRENT_OPS)
        return true;
    mw__graph_fail(graph, MW_ERROR_UNSUPPORTED,
                   "%s: %zu steps beside %zu operations; written out one by one there may be %d steps, and %d "
                   "operations before them",
                   names[r->cell], count, graph->block->op_count, MW__RECURRENT_STEPS, MW__RECURRENT_OPS);
    return false;
}

void mw__recurrent_write_half(const mw__recurrent *r, int half, mw_tensor *h, mw_tensor *c, mw_tensor *out[3])
{
    const bool reverse = mw__recurrent_is_reverse(r, half);
    const size_t count = (size_t)mw_tensor_shape(r->x).dim[0];
    mw__cell_weights weights;
    out[0] = out[1] = out[2] = NULL;
    if (!can_be_written(r, count) || !mw__cell_prepare(r, &r->half[half], &weights))
        return;
    mw_tensor **steps = cut_steps(mw_linear(r->x, weights.input, weights.input_bias), count);
    for (size_t t = 0; steps != NULL && h != NULL && t < count; t++) {
        const size_t at = reverse ? count - 1 - t : t;
        mw__cell_step(r, &weights, steps[at], &h, &c);
        steps[count + (mw__recurrent_keeps_order(r) ? t : at)] = h;
    }
    if (steps == NULL || h == NULL)
        return;
    out[0] = r->sequence && count > 1 ? mw_concat(steps + count, count, 0) : h;
    out[1] = h;
    out[2] = c;
}

static void write_part(const mw__recurrent *r, int half, mw_tensor *out[3])
{
    const int halves = r->direction == MW_BIDIRECTIONAL ? 2 : 1;
    mw_tensor *h = state_part(r->h, halves, half);
    mw_tensor *c = r->c != NULL ? state_part(r->c, halves, half) : NULL;
    mw__recurrent_write_half(r, half, h, c, out);
}

static void drop_step_axis(mw_tensor *out[3])
{
    for (int i = 1; i < 3; i++)
        out[i] = out[i] != NULL ? mw_squeeze(out[i], MW_AXES(0)) : NULL;
}

void mw__recurrent_write(const mw__recurrent *r, mw_tensor *out[3])
{
    mw_tensor *back[3];
    write_part(r, 0, out);
    if (r->direction == MW_BIDIRECTIONAL) {
        write_part(r, 1, back);
        for (int i = 0; i < 3; i++)
            out[i] = out[i] != NULL && back[i] != NULL ? mw_concat((mw_tensor *[]){out[i], back[i]}, 2, 2) : NULL;
    }
    drop_step_axis(out);
}
