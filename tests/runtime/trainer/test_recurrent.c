/* Recurrent networks of some size on the engine: each way of computing them against the reference, on several threads
 * and on both devices, with weights that are constants and with weights that are fed. */
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/inspect.h>
#include <stdlib.h>

enum { STEPS = 7, BATCH = 37, INPUTS = 33, HIDDEN = 70, GATES_MAX = 4 };
enum { Y = STEPS * BATCH * 2 * HIDDEN, STATE = BATCH * 2 * HIDDEN, RESULTS = Y + 2 * STATE };

typedef enum kind { LSTM, LSTM_PEEPHOLE, LSTM_BOTH, GRU, GRU_AFTER, GRU_REVERSE, RNN, RNN_REVERSE, KINDS } kind;

/* The same numbers for a name at each time, within +-bound. */
static float *numbers(size_t count, float bound, uint32_t seed)
{
    float *data = malloc((count + 1) * sizeof *data);
    for (size_t i = 0; data != NULL && i < count; i++) {
        seed = seed * 1664525U + 1013904223U;
        data[i] = ((float)(int32_t)(seed >> 16) / 32768.0F - 1.0F) * bound;
    }
    return data;
}

typedef struct maker {
    mw_graph *graph;
    bool fed;           /* weights are inputs */
    const char *suffix; /* of their names */
} maker;

static const char *const stems[] = {"ih", "hh", "bias", "peephole", "input_bias"};

/* Weight number `at`, whose numbers depend on its name alone. */
static mw_tensor *weight(const maker *m, int at, mw_shape shape)
{
    char name[40];
    snprintf(name, sizeof name, "%s%s", stems[at], m->suffix);
    if (m->fed)
        return mw_input(m->graph, name, MW_F32, shape);
    float *data = numbers((size_t)mw_shape_count(shape), 0.15F, (uint32_t)at * 77U + (m->suffix[0] != '\0'));
    mw_tensor *constant = mw_constant(m->graph, MW_F32, shape, data);
    free(data);
    return constant;
}

static mw_recurrent_weights weights(const maker *m, int64_t gates, kind k)
{
    mw_recurrent_weights w = {.weight_ih = weight(m, 0, MW_SHAPE(gates * HIDDEN, INPUTS)),
                              .weight_hh = weight(m, 1, MW_SHAPE(gates * HIDDEN, HIDDEN)),
                              .bias = weight(m, 2, MW_SHAPE(gates * HIDDEN))};
    if (k == LSTM_PEEPHOLE)
        w.peephole = weight(m, 3, MW_SHAPE(3 * HIDDEN));
    if (k == GRU_AFTER)
        w.input_bias = weight(m, 4, MW_SHAPE(3 * HIDDEN));
    return w;
}

static mw_recurrent build(maker *m, kind k)
{
    mw_recurrent_options options = mw_recurrent_defaults();
    const int64_t width = k == LSTM_BOTH ? 2 * HIDDEN : HIDDEN;
    mw_tensor *x = mw_input(m->graph, "x", MW_F32, MW_SHAPE(STEPS, BATCH, INPUTS));
    mw_tensor *h = mw_input(m->graph, "h", MW_F32, MW_SHAPE(BATCH, width));
    const int64_t gates = k <= LSTM_BOTH ? 4 : k <= GRU_REVERSE ? 3 : 1;
    const mw_recurrent_weights w = weights(m, gates, k);
    options.direction = k == LSTM_BOTH                         ? MW_BIDIRECTIONAL
                        : k == GRU_REVERSE || k == RNN_REVERSE ? MW_REVERSE
                                                               : MW_FORWARD;
    options.reset_after = k == GRU_AFTER;
    options.clip = k == LSTM_PEEPHOLE ? 0.3 : 0.0;
    m->suffix = "_back";
    if (k == LSTM_BOTH)
        options.back = weights(m, gates, k);
    return gates == 4   ? mw_lstm(x, h, h, &w, &options)
           : gates == 3 ? mw_gru(x, h, &w, &options)
                        : mw_rnn(x, h, &w, &options);
}

static void feed(mw_program *program, mw_error *err)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        const size_t count = (size_t)mw_shape_count(port.shape);
        uint32_t seed = 5;
        float bound = 1.0F;
        for (uint32_t k = 0; k < sizeof stems / sizeof *stems; k++)
            if (strncmp(port.name, stems[k], strlen(stems[k])) == 0) {
                seed = k * 77U + (strstr(port.name, "_back") != NULL);
                bound = 0.15F;
            }
        float *data = port.is_output ? NULL : numbers(count, bound, seed);
        if (data != NULL)
            mw_program_write(program, port.name, MW_F32, data, count, err);
        free(data);
    }
}

/* "vectors" or "ref", as the plan names what runs the steps; "" if nothing has that choice. */
static void check_way(mw_program *program, const char *wanted, mw_error *err)
{
    mw_plan *plan = mw_plan_create(program, err);
    mw_plan_step step;
    bool found = false;
    for (size_t i = 0; mw_plan_step_at(plan, i, &step); i++)
        found = found || strstr(step.implementation, wanted) != NULL;
    CHECK(found);
    mw_plan_destroy(plan);
}

/* y, h and c one after the other; what there is not stays 0. */
static float *compute(kind k, bool fed, mw_device device, int threads, const char *way)
{
    mw_error err = {0};
    float *results = calloc(RESULTS, sizeof *results);
    maker m = {.graph = mw_graph_create(NULL, NULL), .fed = fed, .suffix = ""};
    const mw_recurrent r = build(&m, k);
    mw_output(r.y, "y");
    mw_output(r.h, "h_out");
    mw_output(r.c, "c_out");
    const size_t state = (size_t)mw_shape_count(mw_tensor_shape(r.h));
    mw_program *program = engine_compile(m.graph, device, threads, &err);
    if (way != NULL)
        check_way(program, way, &err);
    feed(program, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, results, STEPS * state, &err);
    mw_program_read(program, "h_out", MW_F32, results + Y, state, &err);
    if (r.c != NULL)
        mw_program_read(program, "c_out", MW_F32, results + Y + STATE, state, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(m.graph);
    return results;
}

static float *compute_set(kind k, const char *setting, const char *value, int threads, const char *way)
{
    setting_begin(setting, value);
    float *results = compute(k, false, MW_DEVICE_CPU, threads, way);
    setting_end(setting);
    return results;
}

/* Takes `results`. */
static void check_close(const float *reference, float *results, double tolerance, kind k, const char *what)
{
    double worst = 0.0, largest = 0.0;
    for (size_t i = 0; i < RESULTS; i++) {
        worst = fmax(worst, fabs((double)results[i] - (double)reference[i]));
        largest = fmax(largest, fabs((double)reference[i]));
    }
    check_note(worst <= tolerance && largest > 0.2, __FILE__, __LINE__, "%s of kind %d: %g off, of %g", what, (int)k,
               worst, largest);
    free(results);
}

#define SUMS 2e-6 /* products of 33 and 70 terms in another order, functions of 2 ulp; gates damp what they pass on */
#define HALF 6e-3 /* every operation of seven steps is rounded to 2^-11 of numbers below 1, and so is what is fed */

static void test_every_way_agrees_with_the_reference(void)
{
    for (kind k = LSTM; k < KINDS; k++) {
        float *reference = compute_set(k, "MW_ENGINE_REF", "1", 1, "ref");
        check_close(reference, compute(k, false, MW_DEVICE_CPU, 1, "vectors"), SUMS, k, "one thread");
        check_close(reference, compute(k, false, MW_DEVICE_CPU, 3, "vectors"), SUMS, k, "three threads");
        check_close(reference, compute_set(k, "MW_ENGINE_WIDE", "0", 2, "vectors"), SUMS, k, "narrow vectors");
        check_close(reference, compute_set(k, "MW_ENGINE_REF", "1", 3, "ref"), SUMS, k, "the reference on threads");
        free(reference);
    }
}

static void test_fed_weights_and_the_chip_agree_with_constants(void)
{
    for (kind k = LSTM; k < KINDS; k++) {
        float *reference = compute(k, false, MW_DEVICE_CPU, 1, NULL);
        check_close(reference, compute(k, true, MW_DEVICE_CPU, 2, NULL), SUMS, k, "fed weights");
        check_close(reference, compute(k, false, MW_DEVICE_ANE, 2, NULL), HALF, k, "constants on the ANE");
        check_close(reference, compute(k, true, MW_DEVICE_ANE, 2, NULL), HALF, k, "fed weights on the ANE");
        free(reference);
    }
}

int main(void)
{
    RUN(test_every_way_agrees_with_the_reference);
    RUN(test_fed_weights_and_the_chip_agree_with_constants);
    return check_finish();
}
