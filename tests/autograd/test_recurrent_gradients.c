/* Gradients of recurrent operations with constant weights, by their rule, against those of the steps that are written
 * out where the same weights are fed: of the constants themselves, and of tensors that are given in several places. */
#include "support/check.h"
#include "support/on_engine.h"

enum { STEPS = 3, BATCH = 2, INPUTS = 2, HIDDEN = 3, GATES_MAX = 4, VALUES = 4 };
enum { LARGEST = GATES_MAX * HIDDEN * HIDDEN };

typedef enum kind { GRU, GRU_AFTER, LSTM_TWICE, KINDS } kind;

static float number(int i) { return (float)(i * 37 % 29 - 14) / 20.0F; }

/* x, the state, and weights of which gradients are asked. */
typedef struct network {
    mw_tensor *in[VALUES];
    mw_tensor *loss;
} network;

static mw_tensor *value(mw_graph *g, bool fed, const char *name, mw_shape shape)
{
    float numbers[LARGEST];
    for (int i = 0; i < LARGEST; i++)
        numbers[i] = number(i + (int)name[0]);
    return fed ? mw_input(g, name, MW_F32, shape) : mw_constant(g, MW_F32, shape, numbers);
}

static network build(mw_graph *g, kind k, bool fed)
{
    const int64_t gates = k == LSTM_TWICE ? 4 : 3, width = k == LSTM_TWICE ? 2 * HIDDEN : HIDDEN;
    network n = {.in = {value(g, true, "x", MW_SHAPE(STEPS, BATCH, INPUTS)),
                        value(g, true, "s", MW_SHAPE(BATCH, width)),
                        value(g, fed, "w", MW_SHAPE(gates * HIDDEN, INPUTS)),
                        value(g, fed, "u", MW_SHAPE(gates * HIDDEN, HIDDEN))}};
    mw_recurrent_options options = mw_recurrent_defaults();
    const mw_recurrent_weights weights = {.weight_ih = n.in[2], .weight_hh = n.in[3]};
    options.reset_after = k == GRU_AFTER;
    if (k == LSTM_TWICE) {
        options.direction = MW_BIDIRECTIONAL;
        options.back = weights;
    }
    const mw_recurrent r = k == LSTM_TWICE ? mw_lstm(n.in[0], n.in[1], n.in[1], &weights, &options)
                                           : mw_gru(n.in[0], n.in[1], &weights, &options);
    mw_tensor *sum = mw_reduce_sum(mw_square(r.y), MW_AXES(0, 1, 2), false);
    n.loss = mw_add(sum, mw_reduce_sum(mw_tanh(r.h), MW_AXES(0, 1), false));
    return n;
}

static void compute(kind k, bool fed, float out[VALUES][LARGEST])
{
    static const char *const ports[VALUES] = {"dx", "ds", "dw", "du"};
    mw_error err = {0};
    mw_port port;
    mw_tensor *dx[VALUES];
    mw_graph *g = mw_graph_create(NULL);
    const network n = build(g, k, fed);
    mw_grad(n.loss, n.in, VALUES, dx, &err);
    for (int i = 0; i < VALUES && err.status == MW_OK; i++)
        mw_output(dx[i], ports[i]);
    mw_program *program = engine_compile(g, MW_DEVICE_CPU, 1, &err);
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        float numbers[LARGEST];
        for (int j = 0; j < LARGEST; j++)
            numbers[j] = number(j + (int)port.name[0]);
        if (!port.is_output)
            mw_program_write(program, port.name, MW_F32, numbers, (size_t)mw_shape_count(port.shape), &err);
    }
    mw_run(program, &err);
    for (int i = 0; i < VALUES; i++)
        mw_program_read(program, ports[i], MW_F32, out[i], (size_t)mw_shape_count(mw_tensor_shape(n.in[i])), &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(g);
}

static void test_the_rule_gives_the_gradients_of_the_steps(void)
{
    for (kind k = GRU; k < KINDS; k++) {
        float rule[VALUES][LARGEST] = {{0}}, steps[VALUES][LARGEST] = {{0}};
        compute(k, false, rule);
        compute(k, true, steps);
        for (int i = 0; i < VALUES; i++) {
            double largest = 0.0;
            for (int j = 0; j < LARGEST; j++) {
                CHECK_NEAR(rule[i][j], steps[i][j], 1e-5); /* sums in another order, of numbers of some units */
                largest = fmax(largest, fabs((double)steps[i][j]));
            }
            CHECK(largest > 0.1);
        }
    }
}

int main(void)
{
    RUN(test_the_rule_gives_the_gradients_of_the_steps);
    return check_finish();
}
