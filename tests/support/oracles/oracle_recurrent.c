/* The reference evaluator: ops/recurrent.def. One step of one row of the batch at a time, from the formulas of MIL. */
#include "support/oracles/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double activation(const char *name, double v)
{
    if (strcmp(name, "sigmoid") == 0)
        return 1.0 / (1.0 + exp(-v));
    if (strcmp(name, "hard_sigmoid") == 0)
        return fmin(fmax(0.2 * v + 0.5, 0.0), 1.0);
    if (strcmp(name, "relu") == 0)
        return fmax(v, 0.0);
    return strcmp(name, "linear") == 0 ? v : tanh(v);
}

static double through(const mw__op *op, const char *arg, double v) { return activation(mw__arg_string(op, arg), v); }

/* One direction: where its arguments are, and where it stands. */
typedef struct network {
    oracle *o;
    const mw__op *op;
    const char *suffix;
    int64_t steps, batch, inputs, hidden, width, column;
} network;

/* An argument of this direction; NULL if it is absent. */
static const double *weight(const network *n, const char *stem)
{
    char name[32] = "";
    strcat(strcat(name, stem), n->suffix);
    for (size_t i = 0; i < n->op->slot_count; i++)
        if (strcmp(n->op->slots[i].name, name) == 0 && n->op->slots[i].operands != NULL)
            return oracle_arg(n->o, n->op, name);
    return NULL;
}

static double dot(const double *a, const double *b, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static double at(const double *vector, int64_t index) { return vector != NULL ? vector[index] : 0.0; }

/* Row `row` of the weights times x, and times h. */
static double from_x(const network *n, int64_t row, const double *x)
{
    return dot(weight(n, "weight_ih") + row * n->inputs, x, n->inputs);
}

static double from_h(const network *n, int64_t row, const double *h)
{
    return dot(weight(n, "weight_hh") + row * n->hidden, h, n->hidden);
}

/* next[0..H) becomes the output, c the cell. */
static void lstm_step(const network *n, const double *x, const double *h, double *c, double *next)
{
    const double *bias = weight(n, "bias"), *p = weight(n, "peephole");
    const int64_t size = n->hidden;
    for (int64_t k = 0; k < size; k++) {
        double gate[4];
        for (int g = 0; g < 4; g++)
            gate[g] = from_x(n, g * size + k, x) + from_h(n, g * size + k, h) + at(bias, g * size + k);
        double i = through(n->op, "recurrent_activation", gate[0] + at(p, k) * c[k]);
        double f = through(n->op, "recurrent_activation", gate[1] + at(p, size + k) * c[k]);
        double cell = f * c[k] + i * through(n->op, "cell_activation", gate[3]);
        if (mw__arg_present(n->op, "clip"))
            cell = fmin(fmax(cell, -oracle_number(n->op, "clip")), oracle_number(n->op, "clip"));
        double o = through(n->op, "recurrent_activation", gate[2] + at(p, 2 * size + k) * cell);
        c[k] = cell;
        next[k] = o * through(n->op, "activation", cell);
    }
}

/* The gates r and z of all elements come first: n sees r h of all of them. `room` has 3 H elements. */
static void gru_step(const network *n, const double *x, const double *h, double *room, double *next)
{
    const double *bias = weight(n, "bias");
    const bool newer = n->op->row->since >= MW_IOS18;
    const double *input = newer ? weight(n, "input_bias") : NULL;
    const bool after = newer && oracle_flag(n->op, "reset_after", 0);
    const int64_t size = n->hidden;
    double *r = room, *z = room + size, *rh = room + 2 * size;
    for (int64_t k = 0; k < size; k++) {
        const int64_t last = 2 * size + k;
        r[k] = through(n->op, "recurrent_activation", from_x(n, k, x) + from_h(n, k, h) + at(bias, k) + at(input, k));
        z[k] = through(n->op, "recurrent_activation",
                       from_x(n, last, x) + from_h(n, last, h) + at(bias, last) + at(input, last));
        rh[k] = r[k] * h[k];
    }
    for (int64_t k = 0; k < size; k++) {
        const int64_t row = size + k;
        double inner = after ? r[k] * (from_h(n, row, h) + at(bias, row)) : from_h(n, row, rh) + at(bias, row);
        double out = through(n->op, "activation", from_x(n, row, x) + at(input, row) + inner);
        next[k] = (1.0 - z[k]) * out + z[k] * h[k];
    }
}

static void rnn_step(const network *n, const double *x, const double *h, double *next)
{
    for (int64_t k = 0; k < n->hidden; k++)
        next[k] = through(n->op, "activation", from_x(n, k, x) + from_h(n, k, h) + at(weight(n, "bias"), k));
}

static void copy(double *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i];
}

/* One row through all steps; `room` has 6 H elements. */
static void run_row(const network *n, int64_t row, bool reverse, double *room)
{
    const bool is_lstm = strcmp(n->op->kind, "lstm") == 0, is_rnn = strcmp(n->op->kind, "rnn") == 0;
    double *h = room, *c = room + n->hidden, *next = room + 2 * n->hidden, *rest = room + 3 * n->hidden;
    const int64_t state = row * n->width + n->column;
    copy(h, oracle_arg(n->o, n->op, "initial_h") + state, n->hidden);
    if (is_lstm)
        copy(c, oracle_arg(n->o, n->op, "initial_c") + state, n->hidden);
    for (int64_t t = 0; t < n->steps; t++) {
        const int64_t from = reverse ? n->steps - 1 - t : t;
        const double *x = oracle_arg(n->o, n->op, "x") + (from * n->batch + row) * n->inputs;
        if (is_lstm)
            lstm_step(n, x, h, c, next);
        else if (is_rnn)
            rnn_step(n, x, h, next);
        else
            gru_step(n, x, h, rest, next);
        copy(h, next, n->hidden);
        const int64_t place = !oracle_flag(n->op, "output_sequence", 0) ? 0 : is_rnn ? t : from;
        copy(n->o->data[n->op->results[0]->id] + place * n->batch * n->width + state, h, n->hidden);
    }
    copy(n->o->data[n->op->results[1]->id] + state, h, n->hidden);
    if (is_lstm)
        copy(n->o->data[n->op->results[2]->id] + state, c, n->hidden);
}

static bool recurrent(oracle *o, const mw__op *op)
{
    const mw_shape x = oracle_shape(op, "x"), h = oracle_shape(op, "initial_h");
    const bool both = strcmp(mw__arg_string(op, "direction"), "bidirectional") == 0;
    network n = {.o = o, .op = op, .suffix = "", .steps = x.dim[0], .batch = x.dim[1], .inputs = x.dim[2]};
    n.hidden = oracle_shape(op, "weight_hh").dim[1];
    n.width = h.dim[1];
    double *room = malloc(((size_t)n.hidden * 6 + 1) * sizeof *room);
    if (room == NULL)
        return false;
    for (int64_t row = 0; row < n.batch; row++)
        run_row(&n, row, strcmp(mw__arg_string(op, "direction"), "reverse") == 0, room);
    n.suffix = "_back";
    n.column = n.hidden;
    for (int64_t row = 0; both && row < n.batch; row++)
        run_row(&n, row, true, room);
    free(room);
    return true;
}

bool oracle_of_recurrent(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"lstm", recurrent}, {"gru", recurrent}, {"rnn", recurrent}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}
