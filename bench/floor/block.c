/* A training step of the block of block.h. Members split the examples forward
 * and backward, rows of the weights in the update. */
#include "block.h"
#include "../bench.h"
#include "head.h"
#include "matrix.h"

#include <math.h>

/* ---- creation ---- */

static float *floats(int count) { return bench_alloc((size_t)count, sizeof(float)); }

static dense dense_create(int inputs, int outputs, uint64_t *random)
{
    const float bound = 1.0f / sqrtf((float)inputs);
    return (dense){parameter_create(inputs * outputs, bound, random), parameter_create(outputs, bound, random)};
}

static norm norm_create(int threads)
{
    uint64_t unused = 0;
    norm layer = {.scale = parameter_create(D, 0.0f, &unused),
                  .shift = parameter_create(D, 0.0f, &unused),
                  .normal = floats(R * D),
                  .inverse = floats(R),
                  .y = floats(R * D)};
    for (int c = 0; c < D; c++)
        layer.scale.w[c] = 1.0f;
    for (int i = 0; i < threads; i++)
        layer.partial[i] = floats(2 * D);
    return layer;
}

block *block_create(int threads)
{
    uint64_t random = 1;
    block *net = bench_alloc(1, sizeof *net);
    *net = (block){
        .token = parameter_create(V * D, sqrtf(3.0f), &random),
        .position = parameter_create(T * D, sqrtf(3.0f), &random),
        .qkv = dense_create(D, 3 * D, &random),
        .projection = dense_create(D, D, &random),
        .fc1 = dense_create(D, F, &random),
        .fc2 = dense_create(F, D, &random),
        .head = parameter_create(D * V, 1.0f / sqrtf(D), &random),
        .heads = floats(R * 3 * D),
        .dheads = floats(R * 3 * D),
        .weights = floats(N * H * T * T),
        .mixed = floats(R * D),
        .dmixed = floats(R * D),
        .dnorm = floats(R * D),
        .wide = floats(R * F),
        .slope = floats(R * F),
        .dwide = floats(R * F),
        .dlogits = floats(R * V),
    };
    for (int i = 0; i < 3; i++)
        net->norms[i] = norm_create(threads), net->x[i] = floats(R * D), net->dx[i] = floats(R * D);
    for (int i = 0; i < threads; i++)
        net->dscores[i] = floats(T * T);
    return net;
}

/* ---- forward, rows [from, to) ---- */

/* y = x w + b (+ residual): the bias and the residual are put into y before the
 * product adds to it. */
static void dense_forward(const dense *layer, matrix x, const float *residual, matrix y)
{
    for (int r = 0; r < y.rows; r++) {
        for (int c = 0; c < y.columns; c += LANES) {
            const int at = r * y.pitch + c;
            const vec bias = load(layer->b.w + c);
            store(y.at + at, residual != NULL ? bias + load(residual + at) : bias);
        }
    }
    multiply(x, matrix_of(layer->w.w, x.columns, y.columns), 1.0f, 1.0f, y);
}

static void embed(block *net, const int32_t *tokens, int from, int to)
{
    for (int r = from; r < to; r++) {
        const float *token = net->token.w + tokens[r] * D, *position = net->position.w + r % T * D;
        for (int c = 0; c < D; c += LANES)
            store(net->x[0] + r * D + c, load(token + c) + load(position + c));
    }
}

static void activate(block *net, int from, int to)
{
    for (int i = from * F; i < to * F; i += LANES) {
        vec y, slope;
        gelu(load(net->wide + i), &y, &slope);
        store(net->wide + i, y);
        store(net->slope + i, slope);
    }
}

/* Turns scores [V] into their gradient; returns the loss of the row. */
static double classify(float *z, int word)
{
    vec largest = load(z), sum = splat(0.0f);
    const float own = z[word];
    for (int c = LANES; c < V; c += LANES)
        largest = choose(load(z + c) > largest, load(z + c), largest);
    float top = largest[0];
    for (int i = 1; i < LANES; i++)
        top = largest[i] > top ? largest[i] : top;
    for (int c = 0; c < V; c += LANES) {
        const vec e = exponential(load(z + c) - top);
        store(z + c, e);
        sum += e;
    }
    const float total = add_lanes(sum);
    for (int c = 0; c < V; c += LANES)
        store(z + c, load(z + c) * splat(1.0f / (total * R)));
    z[word] -= 1.0f / R;
    return (double)(logf(total) - (own - top));
}

static void forward(block *net, int id, const int32_t *tokens, const int32_t *following, int from, int to)
{
    const matrix x1 = rows_of(matrix_of(net->x[1], R, D), from, to), x2 = rows_of(matrix_of(net->x[2], R, D), from, to);
    const matrix wide = rows_of(matrix_of(net->wide, R, F), from, to);
    const matrix logits = rows_of(matrix_of(net->dlogits, R, V), from, to);
    embed(net, tokens, from, to);
    norm_forward(&net->norms[0], net->x[0], from, to);
    dense_forward(&net->qkv, rows_of(matrix_of(net->norms[0].y, R, D), from, to), NULL,
                  rows_of(matrix_of(net->heads, R, 3 * D), from, to));
    attention_forward(net, from / T, to / T);
    dense_forward(&net->projection, rows_of(matrix_of(net->mixed, R, D), from, to), net->x[0] + from * D, x1);
    norm_forward(&net->norms[1], net->x[1], from, to);
    dense_forward(&net->fc1, rows_of(matrix_of(net->norms[1].y, R, D), from, to), NULL, wide);
    activate(net, from, to);
    dense_forward(&net->fc2, wide, x1.at, x2);
    norm_forward(&net->norms[2], net->x[2], from, to);
    multiply(rows_of(matrix_of(net->norms[2].y, R, D), from, to), matrix_of(net->head.w, D, V), 1.0f, 0.0f, logits);
    net->loss[id] = 0.0;
    for (int r = from; r < to; r++)
        net->loss[id] += classify(net->dlogits + r * V, following[r]);
}

/* ---- backward, rows [from, to): gradients of what was computed ---- */

/* Gradient of layer `i`'s input from that of its y in dnorm, on top of what
 * comes past the branch. */
static void norm_and_branch(block *net, int id, int i, const float *past, int from, int to)
{
    const size_t bytes = (size_t)((to - from) * D) * sizeof(float);
    if (past != NULL)
        memcpy(net->dx[i] + from * D, past + from * D, bytes);
    else
        memset(net->dx[i] + from * D, 0, bytes);
    norm_backward(&net->norms[i], id, net->dnorm, net->dx[i], from, to);
}

static void backward(block *net, int id, int from, int to)
{
    const matrix dnorm = rows_of(matrix_of(net->dnorm, R, D), from, to);
    const matrix dwide = rows_of(matrix_of(net->dwide, R, F), from, to);
    multiply(rows_of(matrix_of(net->dlogits, R, V), from, to), turn(matrix_of(net->head.w, D, V)), 1.0f, 0.0f, dnorm);
    norm_and_branch(net, id, 2, NULL, from, to);
    multiply(rows_of(matrix_of(net->dx[2], R, D), from, to), turn(matrix_of(net->fc2.w.w, F, D)), 1.0f, 0.0f, dwide);
    for (int i = from * F; i < to * F; i += LANES)
        store(net->dwide + i, load(net->dwide + i) * load(net->slope + i));
    multiply(dwide, turn(matrix_of(net->fc1.w.w, D, F)), 1.0f, 0.0f, dnorm);
    norm_and_branch(net, id, 1, net->dx[2], from, to);
    multiply(rows_of(matrix_of(net->dx[1], R, D), from, to), turn(matrix_of(net->projection.w.w, D, D)), 1.0f, 0.0f,
             rows_of(matrix_of(net->dmixed, R, D), from, to));
    attention_backward(net, id, from / T, to / T);
    multiply(rows_of(matrix_of(net->dheads, R, 3 * D), from, to), turn(matrix_of(net->qkv.w.w, D, 3 * D)), 1.0f, 0.0f,
             dnorm);
    norm_and_branch(net, id, 0, net->dx[1], from, to);
}

/* ---- update: the member's share of every parameter ---- */

/* dw = x^T dy and Adam, for the member's rows. */
static void update_weight(parameter *w, const member *self, matrix x, matrix dy, int t)
{
    const int from = team_start(self->of, self->id, x.columns, 16),
              to = team_start(self->of, self->id + 1, x.columns, 16);
    const matrix dw = matrix_of(w->g, x.columns, dy.columns);
    multiply(turn(columns_of(x, from, to)), dy, 1.0f, 0.0f, rows_of(dw, from, to));
    parameter_adam(w, from * dy.columns, to * dy.columns, t);
}

static void update_dense(dense *layer, const member *self, matrix x, matrix dy, int t)
{
    const int from = team_start(self->of, self->id, dy.columns, 16),
              to = team_start(self->of, self->id + 1, dy.columns, 16);
    update_weight(&layer->w, self, x, dy, t);
    column_sums(dy.at, dy.columns, R, layer->b.g, from, to);
    parameter_adam(&layer->b, from, to, t);
}

static void update_norm(norm *layer, int threads, int t)
{
    for (int c = 0; c < D; c++) {
        layer->scale.g[c] = layer->shift.g[c] = 0.0f;
        for (int i = 0; i < threads; i++) {
            layer->scale.g[c] += layer->partial[i][c];
            layer->shift.g[c] += layer->partial[i][D + c];
        }
    }
    parameter_adam(&layer->scale, 0, D, t);
    parameter_adam(&layer->shift, 0, D, t);
}

/* Columns [from, to) of the gradients of both tables, then Adam on the member's
 * part of the tables. */
static void update_tables(block *net, const member *self, const int32_t *tokens, int t)
{
    const int from = team_start(self->of, self->id, D, 16), to = team_start(self->of, self->id + 1, D, 16);
    for (int i = 0; i < V + T; i++) {
        float *row = i < V ? net->token.g + i * D : net->position.g + (i - V) * D;
        memset(row + from, 0, (size_t)(to - from) * sizeof(float));
    }
    for (int r = 0; r < R; r++) {
        float *token = net->token.g + tokens[r] * D, *position = net->position.g + r % T * D;
        for (int c = from; c < to; c += LANES) {
            const vec d = load(net->dx[0] + r * D + c);
            store(token + c, load(token + c) + d);
            store(position + c, load(position + c) + d);
        }
    }
    for (int i = 0; i < V; i++)
        parameter_adam(&net->token, i * D + from, i * D + to, t);
    for (int i = 0; i < T; i++)
        parameter_adam(&net->position, i * D + from, i * D + to, t);
}

static void update(block *net, const member *self, const int32_t *tokens, int t)
{
    const matrix dx1 = matrix_of(net->dx[1], R, D), dx2 = matrix_of(net->dx[2], R, D);
    update_weight(&net->head, self, matrix_of(net->norms[2].y, R, D), matrix_of(net->dlogits, R, V), t);
    update_dense(&net->fc2, self, matrix_of(net->wide, R, F), dx2, t);
    update_dense(&net->fc1, self, matrix_of(net->norms[1].y, R, D), matrix_of(net->dwide, R, F), t);
    update_dense(&net->projection, self, matrix_of(net->mixed, R, D), dx1, t);
    update_dense(&net->qkv, self, matrix_of(net->norms[0].y, R, D), matrix_of(net->dheads, R, 3 * D), t);
    update_tables(net, self, tokens, t);
    for (int i = 0; self->id == 0 && i < 3; i++)
        update_norm(&net->norms[i], self->of->size, t);
}

void block_step(block *net, const member *self, const int32_t *tokens, const int32_t *following)
{
    const int from = T * team_start(self->of, self->id, N, 1), to = T * team_start(self->of, self->id + 1, N, 1);
    const int t = net->steps + 1;
    forward(net, self->id, tokens, following, from, to);
    backward(net, self->id, from, to);
    team_barrier(self->of); /* the weights are read up to here, the gradients are
                               whole from here */
    update(net, self, tokens, t);
    if (self->id == 0)
        net->steps = t;
    team_barrier(self->of);
}
