/* Reductions of rows of every short length: near what double gives, and the bits of the reference, which takes the rows
 * one after the other; with zeros of both signs and NaN. */
#include "base/number/random.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 203, LENGTH = 70, KINDS = 5 };
static const char *const names[KINDS] = {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"};

static float x[ROWS * LENGTH], y[ROWS], wanted[ROWS];

static mw_tensor *reduce(int kind, mw_tensor *in)
{
    static mw_tensor *(*const calls[KINDS])(mw_tensor *, mw_axes, bool) = {mw_reduce_sum, mw_reduce_mean, mw_reduce_max,
                                                                           mw_reduce_min, mw_reduce_prod};
    return calls[kind](in, MW_AXES(-1), false);
}

static bool compute(int kind, int64_t rows, int64_t length, int threads, float *out)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(reduce(kind, mw_input(graph, "x", MW_F32, MW_SHAPE(rows, length))), "y");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, &err);
    if (program != NULL) {
        mw_program_write(program, "x", MW_F32, x, (size_t)(rows * length), &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, out, (size_t)rows, &err);
    }
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return CHECK_OK(err);
}

static double plainly(int kind, const float *row, int64_t length)
{
    double sum = 0.0, product = 1.0, most = kind == 3 ? INFINITY : -INFINITY;
    for (int64_t i = 0; i < length; i++) {
        const double v = (double)row[i];
        sum += v, product *= v;
        most = isnan(v) || isnan(most) ? NAN : kind == 3 ? fmin(most, v) : fmax(most, v);
    }
    return kind == 0 ? sum : kind == 1 ? sum / (double)length : kind == 4 ? product : most;
}

static void check_rows(int kind, int64_t rows, int64_t length, int threads)
{
    setting_begin("MW_ENGINE_REF", "1");
    const bool plain = compute(kind, rows, length, 1, wanted);
    setting_end("MW_ENGINE_REF");
    if (!plain || !compute(kind, rows, length, threads, y))
        return;
    check_note(memcmp(y, wanted, (size_t)rows * sizeof *y) == 0, __FILE__, __LINE__, "%s of %d rows of %d: other bits",
               names[kind], (int)rows, (int)length);
    for (int64_t i = 0; i < rows; i++) {
        const double exact = plainly(kind, x + i * length, length);
        const bool near = isnan(exact) ? isnan(y[i]) : fabs((double)y[i] - exact) <= 1e-6 * (fabs(exact) + 8.0);
        if (!check_note(near, __FILE__, __LINE__, "%s of %d rows of %d: row %d is %.9g, not %.9g", names[kind],
                        (int)rows, (int)length, (int)i, (double)y[i], exact))
            return;
    }
}

static void check_lengths(bool special)
{
    static const int64_t counts[] = {1, 8, 15, 16, 17, 40, ROWS};
    mw__random random = {.seed = 21};
    for (int i = 0; i < ROWS * LENGTH; i++)
        x[i] = mw__random_uniform(&random) * 2.0f - 1.0f;
    for (int i = 0; special && i < ROWS * LENGTH; i += 3)
        x[i] = i % 5 == 0 ? -0.0f : i % 101 == 0 ? NAN : 0.0f;
    for (int64_t length = 1; length <= LENGTH; length += length < 36 ? 1 : 17)
        for (int kind = 0; kind < KINDS; kind++)
            check_rows(kind, counts[(length + kind) % 7], length, 1 + (int)(length % 2));
}

static void test_short_rows(void) { check_lengths(false); }

static void test_zeros_of_both_signs_and_nan(void) { check_lengths(true); }

static void test_narrower_vectors_reduce_alike(void)
{
    static const char *const widths[] = {"256", "0"};
    for (int i = 0; i < 2; i++) {
        setting_begin("MW_ENGINE_WIDE", widths[i]);
        check_lengths(true);
        setting_end("MW_ENGINE_WIDE");
    }
}

int main(void)
{
    RUN(test_short_rows);
    RUN(test_zeros_of_both_signs_and_nan);
    RUN(test_narrower_vectors_reduce_alike);
    return check_finish();
}
