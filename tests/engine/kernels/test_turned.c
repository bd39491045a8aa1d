/* A weight that many products of few rows read is turned once for all of them: the numbers of plain loops in double,
 * and the bytes of one step at a time, whose weight is read as it lies. The same of the operations of MIL for recurrent
 * nets beside their steps. */
#include "engine/program_case.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 11 };
static const program_numbers numbers = {.seed = 5};

/* ---- h = tanh(h w^T / 8 + x), for each of the steps ---- */

static mw_graph *chain(int64_t rows, int64_t hidden, int steps)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_input(graph, "w", MW_F32, MW_SHAPE(hidden, hidden));
    mw_tensor *h = mw_input(graph, "h", MW_F32, MW_SHAPE(rows, hidden));
    for (int step = 0; step < steps; step++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", step);
        mw_tensor *x = mw_input(graph, name, MW_F32, MW_SHAPE(rows, hidden));
        h = mw_tanh(mw_add(mw_mul_scalar(mw_matmul(h, w, MW_TRANSPOSE_Y), 0.125), x));
    }
    mw_output(h, "y");
    return graph;
}

static void feed(mw_program *program, const char *name, const float *data, int64_t count, mw_error *err)
{
    mw_program_write(program, name, MW_F32, data, (size_t)count, err);
}

/* What the chain gives, into y. */
static void run_chain(mw_program *program, int64_t rows, int64_t hidden, const float *w, const float *h,
                      float *const *x, int steps, float *y, mw_error *err)
{
    feed(program, "w", w, hidden * hidden, err);
    feed(program, "h", h, rows * hidden, err);
    for (int step = 0; step < steps; step++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", step);
        feed(program, name, x[step], rows * hidden, err);
    }
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, y, (size_t)(rows * hidden), err);
}

static void step_in_double(int64_t rows, int64_t hidden, const float *w, const float *x, double *h, double *next)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < hidden; j++) {
            double sum = 0.0;
            for (int64_t p = 0; p < hidden; p++)
                sum += h[i * hidden + p] * (double)w[j * hidden + p];
            next[i * hidden + j] = tanh(sum / 8.0 + (double)x[i * hidden + j]);
        }
    memcpy(h, next, (size_t)(rows * hidden) * sizeof *h);
}

static void check_chain(int64_t rows, int64_t hidden, int threads)
{
    const int64_t count = rows * hidden;
    mw_error err = {0};
    mw_graph *all = chain(rows, hidden, STEPS), *one = chain(rows, hidden, 1);
    mw_program *whole = engine_compile(all, MW_DEVICE_CPU, threads, &err);
    mw_program *single = engine_compile(one, MW_DEVICE_CPU, threads, &err);
    float *w = program_draw(&numbers, MW_SHAPE(hidden, hidden), 1), *h = program_draw(&numbers, MW_SHAPE(count), 2);
    float *x[STEPS], *y = program_draw(&numbers, MW_SHAPE(count), 3);
    double *exact = calloc((size_t)count, sizeof *exact), *next = calloc((size_t)count, sizeof *next), worst = 0.0;
    REQUIRE(CHECK_OK(err) && w != NULL && h != NULL && y != NULL && exact != NULL && next != NULL);
    for (int step = 0; step < STEPS; step++)
        x[step] = program_draw(&numbers, MW_SHAPE(count), 10 + (uint64_t)step);
    for (int64_t i = 0; i < count; i++)
        exact[i] = (double)h[i];
    run_chain(whole, rows, hidden, w, h, x, STEPS, y, &err);
    for (int step = 0; step < STEPS; step++) {
        run_chain(single, rows, hidden, w, h, &x[step], 1, h, &err);
        step_in_double(rows, hidden, w, x[step], exact, next);
    }
    for (int64_t i = 0; i < count; i++)
        worst = fmax(worst, fabs((double)y[i] - exact[i]));
    CHECK_OK(err);
    /* each step may multiply what the one before is off by, by the sums of |w| / 8 at most; in fact it is far less */
    check_note(worst < 1e-4, __FILE__, __LINE__, "%d x %d: off by %g", (int)rows, (int)hidden, worst);
    check_note(memcmp(y, h, (size_t)count * sizeof *y) == 0, __FILE__, __LINE__, "%d x %d, %d threads: other bytes",
               (int)rows, (int)hidden, threads);
    for (int step = 0; step < STEPS; step++)
        free(x[step]);
    free(w), free(h), free(y), free(exact), free(next);
    mw_program_destroy(whole), mw_program_destroy(single);
    mw_graph_destroy(all), mw_graph_destroy(one);
}

static void test_chains_of_few_rows(void)
{
    for (int threads = 1; threads <= 2; threads++) {
        for (int64_t rows = 1; rows <= 16; rows++)
            check_chain(rows, 72, threads);
        check_chain(3, 300, threads); /* deeper than a block of the product */
        check_chain(5, 64, threads);
    }
}

/* ---- operations of recurrent nets: weights that are constants beside weights that are fed ---- */

typedef enum kind { LSTM, GRU, GRU_AFTER, RNN } kind;
static const int gates_of[] = {4, 3, 3, 1};

/* In [-1/8, 1/8), so that a rounding does not grow from step to step; to be freed. */
static float *draw_weight(int64_t rows, int64_t columns, uint64_t stream)
{
    float *data = program_draw(&numbers, MW_SHAPE(rows, columns), stream);
    for (int64_t i = 0; data != NULL && i < rows * columns; i++)
        data[i] *= 0.125f;
    return data;
}

/* A weight of the direction: a constant, or an input of the same numbers. */
static mw_tensor *weight(mw_graph *graph, const char *name, bool fed, int64_t rows, int64_t columns, uint64_t stream)
{
    if (fed)
        return mw_input(graph, name, MW_F32, MW_SHAPE(rows, columns));
    float *data = draw_weight(rows, columns, stream);
    mw_tensor *constant = mw_constant(graph, MW_F32, MW_SHAPE(rows, columns), data);
    free(data);
    return constant;
}

static void feed_weight(mw_program *program, const char *name, int64_t rows, int64_t columns, uint64_t stream,
                        mw_error *err)
{
    float *data = draw_weight(rows, columns, stream);
    feed(program, name, data, rows * columns, err);
    free(data);
}

enum { INPUTS = 3 };

static mw_graph *recurrent(kind k, int64_t batch, int64_t hidden, bool fed)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(STEPS, batch, INPUTS));
    const mw_recurrent_weights weights = {.weight_ih = weight(graph, "ih", fed, gates_of[k] * hidden, INPUTS, 31),
                                          .weight_hh = weight(graph, "hh", fed, gates_of[k] * hidden, hidden, 32)};
    mw_recurrent_options options = mw_recurrent_defaults();
    options.reset_after = k == GRU_AFTER;
    const mw_recurrent r = k == LSTM  ? mw_lstm(x, NULL, NULL, &weights, &options)
                           : k == RNN ? mw_rnn(x, NULL, &weights, &options)
                                      : mw_gru(x, NULL, &weights, &options);
    mw_output(r.y, "y");
    return graph;
}

static void run_recurrent(kind k, int64_t batch, int64_t hidden, bool fed, int threads, float *y, mw_error *err)
{
    mw_graph *graph = recurrent(k, batch, hidden, fed);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, err);
    if (err->status == MW_OK) {
        program_feed(program, "x", &numbers, 30, err);
        if (fed) {
            feed_weight(program, "ih", gates_of[k] * hidden, INPUTS, 31, err);
            feed_weight(program, "hh", gates_of[k] * hidden, hidden, 32, err);
        }
        mw_program_run(program, err);
        mw_program_read(program, "y", MW_F32, y, (size_t)(STEPS * batch * hidden), err);
    }
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_recurrent_operations_of_few_rows(void)
{
    enum { HIDDEN = 80, BATCH_MOST = 15 };
    static float whole[STEPS * BATCH_MOST * HIDDEN], steps[STEPS * BATCH_MOST * HIDDEN];
    for (int k = LSTM; k <= RNN; k++)
        for (int64_t batch = 1; batch <= BATCH_MOST; batch += 7)
            for (int threads = 1; threads <= 2; threads++) {
                mw_error err = {0};
                double worst = 0.0;
                run_recurrent((kind)k, batch, HIDDEN, false, threads, whole, &err);
                run_recurrent((kind)k, batch, HIDDEN, true, threads, steps, &err);
                CHECK_OK(err);
                for (int64_t i = 0; i < STEPS * batch * HIDDEN; i++)
                    worst = fmax(worst, fabs((double)whole[i] - (double)steps[i]));
                check_note(worst < 1e-6, __FILE__, __LINE__, "cell %d, batch %d: off by %g", k, (int)batch, worst);
            }
}

int main(void)
{
    RUN(test_chains_of_few_rows);
    RUN(test_recurrent_operations_of_few_rows);
    return check_finish();
}
