#include "marked_nets.h"

#include <stdio.h>

static const char *name_of(const char *stem, int index, char out[32])
{
    snprintf(out, 32, "%s%d", stem, index);
    return out;
}

static mw_tensor *dense(mw_tensor *h, const char *stem, int index)
{
    char name[32];
    return mw_dense(h, MARKED_WIDTH, name_of(stem, index, name));
}

mw_tensor *marked_inside(mw_tensor *y, mw_tensor *start, marking how)
{
    return how == MARK_INSIDE ? mw_recompute(y, &start, 1) : y;
}

/* ---- weights ---- */

static void fill_weight(float *out, int index)
{
    for (int i = 0; i < MARKED_WIDTH * MARKED_WIDTH; i++)
        out[i] = (float)((i * 7 + index * 3) % 11) / 8.0f - 0.6f;
}

static mw_tensor *parameter(mw_graph *graph, const char *stem, int index)
{
    char name[32];
    float data[MARKED_WIDTH * MARKED_WIDTH];
    fill_weight(data, index);
    return mw_parameter(graph, name_of(stem, index, name), MW_F32, MW_SHAPE(MARKED_WIDTH, MARKED_WIDTH),
                        mw_init_data(data));
}

static mw_tensor *constant(mw_graph *graph, const char *stem, int index)
{
    char name[32];
    float data[MARKED_WIDTH * MARKED_WIDTH];
    fill_weight(data, index);
    return mw_name(mw_constant(graph, MW_F32, MW_SHAPE(MARKED_WIDTH, MARKED_WIDTH), data), name_of(stem, index, name));
}

static mw_tensor *product(mw_tensor *h, mw_tensor *w) { return mw_matmul(h, w, MW_TRANSPOSE_NONE); }

/* ---- blocks ---- */

typedef struct block {
    mw_graph *graph;
    mw_tensor *w, *h, *shared;
    marking how;
    int trips;
} block;

static mw_tensor *integer(const block *b, int value) { return mw_scalar(b->graph, MW_I32, value); }

static mw_tensor *sum(mw_tensor *x) { return mw_reduce_sum(x, MW_ALL_AXES, false); }

static mw_tensor *count_trips(void *user, mw_tensor *const *v, size_t n)
{
    const block *b = user;
    (void)n;
    return mw_less(v[0], integer(b, b->trips));
}

/* The loop ends by data too. */
static mw_tensor *watch_data(void *user, mw_tensor *const *v, size_t n)
{
    const block *b = user;
    mw_tensor *bound = count_trips(user, v, n);
    return mw_logical_and(bound, mw_greater(sum(mw_square(v[1])), mw_scalar(b->graph, MW_F32, 1.5)));
}

/* `shared` is computed outside of the loop, and no leaf. */
static void turn(void *user, mw_tensor *const *v, size_t n, mw_tensor **out)
{
    const block *b = user;
    (void)n;
    out[0] = mw_add(v[0], integer(b, 1));
    out[1] = marked_inside(mw_tanh(mw_add(product(v[1], b->w), b->shared)), v[1], b->how);
}

static void turn_within(void *user, mw_tensor *const *v, size_t n, mw_tensor **out)
{
    const block *b = user;
    mw_tensor *vars[2] = {integer(b, 0), v[1]}, *results[2] = {NULL, NULL};
    (void)n;
    mw_while_loop(vars, 2, watch_data, turn, user, results);
    out[0] = mw_add(v[0], integer(b, 1));
    out[1] = marked_inside(mw_add_scalar(results[1], 0.4), v[1], b->how);
}

static void side_yes(void *user, mw_tensor **out, size_t n)
{
    const block *b = user;
    (void)n;
    out[0] = marked_inside(mw_tanh(product(b->h, b->w)), b->h, b->how);
}

static void side_no(void *user, mw_tensor **out, size_t n)
{
    const block *b = user;
    (void)n;
    out[0] = marked_inside(mw_mul(mw_sigmoid(b->h), b->shared), b->h, b->how);
}

static block begin(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    block b = {.graph = graph, .h = h, .how = how, .trips = 2};
    b.w = parameter(graph, "w", index);
    b.shared = mw_mul_scalar(mw_tanh(parameter(graph, "shared", index)), 0.5);
    b.shared = mw_reduce_mean(b.shared, MW_AXES(0), true);
    return b;
}

static mw_tensor *loop_of(mw_graph *graph, mw_tensor *h, int index, marking how, mw_loop_condition *condition,
                          mw_loop_body *body)
{
    block b = begin(graph, h, index, how);
    mw_tensor *vars[2] = {integer(&b, 0), h}, *results[2] = {NULL, NULL};
    mw_while_loop(vars, 2, condition, body, &b, results);
    return results[1];
}

static mw_tensor *counted(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    return loop_of(graph, h, index, how, count_trips, turn);
}

static mw_tensor *open(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    return loop_of(graph, h, index, how, watch_data, turn);
}

static mw_tensor *nested(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    return loop_of(graph, h, index, how, count_trips, turn_within);
}

static mw_tensor *branches(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    block b = begin(graph, h, index, how);
    mw_tensor *out = NULL;
    mw_tensor *level = mw_scalar(graph, MW_F32, index == 0 ? 0.013 : -9.0);
    mw_cond(mw_greater(sum(h), level), side_yes, side_no, &b, &out, 1);
    return out;
}

/* A list of both variables of a recurrence, written in a loop and read behind it. */
static void turn_list(void *user, mw_tensor *const *v, size_t n, mw_tensor **out)
{
    const block *b = user;
    mw_tensor *next = marked_inside(mw_tanh(product(v[1], b->w)), v[1], b->how);
    (void)n;
    out[0] = mw_add(v[0], integer(b, 1));
    out[1] = next;
    out[2] = mw_list_write(v[2], v[0], next);
}

static mw_tensor *list(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    block b = begin(graph, h, index, how);
    mw_tensor *made = mw_make_list(graph, MW_F32, MW_SHAPE(MARKED_ROWS, MARKED_WIDTH), 3, false);
    mw_tensor *vars[3] = {integer(&b, 0), h, made}, *results[3] = {NULL, NULL, NULL};
    b.trips = 3;
    mw_while_loop(vars, 3, count_trips, turn_list, &b, results);
    return mw_sub(mw_list_read(results[2], integer(&b, 0)), mw_list_read(results[2], integer(&b, 2)));
}

/* ---- forms for evaluation ---- */

static mw_tensor *batch_norm(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    char name[32];
    (void)graph, (void)how;
    return mw_batch_norm_layer(dense(h, "fc", index), 0.1f, 1e-3f, name_of("bn", index, name));
}

static mw_tensor *dropout(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    char name[32];
    (void)graph, (void)how;
    return mw_dropout(mw_tanh(dense(h, "fc", index)), 0.4f, name_of("drop", index, name));
}

static mw_tensor *noise(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    char name[32];
    (void)how;
    const mw_shape shape = MW_SHAPE(MARKED_ROWS, MARKED_WIDTH);
    mw_tensor *drawn = mw_noise_normal(graph, MW_F32, shape, 0.0f, 0.1f, name_of("noise", index, name));
    return mw_tanh(mw_add(dense(h, "fc", index), drawn));
}

static mw_tensor *drawn(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    (void)how;
    const mw_shape shape = MW_SHAPE(MARKED_ROWS, MARKED_WIDTH);
    return mw_tanh(mw_mul(dense(h, "fc", index), mw_random_uniform(graph, MW_F32, shape, 0.5f, 1.5f, -1)));
}

static mw_tensor *everything(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    h = batch_norm(graph, h, index, how);
    h = counted(graph, h, index, how);
    return dropout(graph, h, index + 10, how);
}

/* ---- weights that train in a copy only ---- */

static mw_tensor *constants(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    (void)how;
    return mw_tanh(product(mw_tanh(product(h, constant(graph, "w", index))), constant(graph, "v", index)));
}

static mw_tensor *constants_in_loop(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    block b = {.graph = graph, .h = h, .how = how, .trips = 2};
    b.w = constant(graph, "w", index);
    b.shared = mw_reduce_mean(product(h, constant(graph, "v", index)), MW_AXES(0), true);
    mw_tensor *vars[2] = {integer(&b, 0), h}, *results[2] = {NULL, NULL};
    mw_while_loop(vars, 2, watch_data, turn, &b, results);
    return results[1];
}

static mw_tensor *parameters(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    (void)how;
    return mw_tanh(product(mw_tanh(product(h, parameter(graph, "w", index))), parameter(graph, "v", index)));
}

static mw_tensor *normed(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    char name[32];
    (void)how;
    h = mw_rms_norm_layer(product(h, parameter(graph, "w", index)), 1, 1e-5f, name_of("rms", index, name));
    return mw_log_softmax(product(h, parameter(graph, "v", index)), 1);
}

/* ---- gradients of their own ---- */

static mw_status double_gradient(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_mul_scalar(call->dy, 2.0);
    return MW_OK;
}

static mw_tensor *custom(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    (void)graph, (void)how;
    h = dense(h, "fc", index);
    return mw_custom_vjp("double", mw_tanh(h), &h, 1, double_gradient, NULL);
}

static mw_tensor *quantized(mw_graph *graph, mw_tensor *h, int index, marking how)
{
    (void)how;
    return mw_fake_quantize(mw_tanh(dense(h, "fc", index)), mw_scalar(graph, MW_F32, 1.0 / 16), NULL, 0, MW_I8);
}

const marked_net marked_nets[] = {{"loop", counted, TUNE_NONE, false},
                                  {"loop that data ends", open, TUNE_NONE, false},
                                  {"loop in a loop", nested, TUNE_NONE, false},
                                  {"branch", branches, TUNE_NONE, false},
                                  {"list", list, TUNE_NONE, false},
                                  {"batch norm", batch_norm, TUNE_NONE, false},
                                  {"dropout", dropout, TUNE_NONE, false},
                                  {"noise", noise, TUNE_NONE, true},
                                  {"random_uniform", drawn, TUNE_NONE, true},
                                  {"batch norm, loop and dropout", everything, TUNE_NONE, false},
                                  {"rms norm and log softmax", normed, TUNE_NONE, false},
                                  {"custom VJP", custom, TUNE_NONE, false},
                                  {"fake quantization", quantized, TUNE_NONE, false},
                                  {"trainable constants", constants, TUNE_CONSTANTS, false},
                                  {"trainable constants in a loop", constants_in_loop, TUNE_CONSTANTS, false},
                                  {"adapters of parameters", parameters, TUNE_LORA, false},
                                  {"adapters of constants", constants, TUNE_LORA_CONSTANTS, false},
                                  {"adapters of constants in a loop", constants_in_loop, TUNE_LORA_CONSTANTS, false},
                                  {"adapters in a loop", counted, TUNE_LORA, false},
                                  {"adapters, batch norm and dropout", everything, TUNE_LORA, false},
                                  {NULL, NULL, TUNE_NONE, false}};

/* ---- the graph ---- */

static mw_tensor *write_parts(const marked_net *net, mw_graph *graph, mw_tensor *h, marking how)
{
    mw_tensor *first = h;
    const bool parts = how == MARK_PARTS || how == MARK_LEAVES || how == MARK_INSIDE;
    for (int i = 0; i < 2; i++) {
        mw_tensor *start = h;
        h = net->part(graph, h, i, how);
        if (parts)
            h = mw_recompute(h, &start, how == MARK_LEAVES ? 0 : 1);
    }
    return how == MARK_WHOLE ? mw_recompute(h, &first, 1) : h;
}

static mw_graph *tune(const marked_net *net, const mw_graph *graph, mw_error *err)
{
    static const char *const constants_of[] = {"w*", "v[0-9]"}, *const adapted[] = {"w*"};
    if (net->tuned == TUNE_CONSTANTS) {
        const mw_tune_options options = mw_tune_defaults(constants_of, 2);
        return mw_graph_trainable(graph, &options, err);
    }
    mw_lora_options options = mw_lora_defaults(adapted, 1);
    options.rank = 2;
    return mw_graph_lora(graph, &options, err);
}

marked_graph marked_build(const marked_net *net, marking how, mw_error *err)
{
    marked_graph made = {.graph = mw_graph_create(NULL, NULL)};
    mw_tensor *x = mw_input(made.graph, "x", MW_F32, MW_SHAPE(MARKED_ROWS, MARKED_WIDTH));
    mw_tensor *h = write_parts(net, made.graph, mw_tanh(dense(x, "in", 0)), how);
    mw_output(mw_dense(h, MARKED_OUT, "out"), "z");
    if (net->tuned != TUNE_NONE) {
        made.source = made.graph;
        made.graph = tune(net, made.source, err);
    }
    made.z = mw_graph_find(made.graph, "z");
    if (made.z != NULL)
        made.loss = mw_mse(made.z, mw_input(made.graph, "t", MW_F32, MW_SHAPE(MARKED_ROWS, MARKED_OUT)));
    return made;
}

void marked_destroy(marked_graph *graph)
{
    mw_graph_destroy(graph->graph);
    mw_graph_destroy(graph->source);
}

void marked_fill(marked_batch *out, int step)
{
    *out = (marked_batch){0};
    for (int i = 0; i < MARKED_ROWS * MARKED_WIDTH; i++)
        out->x[i] = (float)((i * 13 + step * 5) % 17) / 6.0f - 1.3f;
    for (int i = 0; i < MARKED_ROWS * MARKED_OUT; i++)
        out->t[i] = (float)((i * 5 + step) % 7) / 7.0f;
    out->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = out->x, .count = MARKED_ROWS * MARKED_WIDTH};
    out->feeds[1] = (mw_feed){.name = "t", .dtype = MW_F32, .data = out->t, .count = MARKED_ROWS * MARKED_OUT};
    out->batch = (mw_batch){.feeds = out->feeds, .feed_count = 2, .examples = MARKED_ROWS};
}
