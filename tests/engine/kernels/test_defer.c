/* Large gradients that are products wait for the flag of the step: their factors tell whether they are within limits,
 * and where that is no proof the product does. Bits are those of MW_ENGINE_FUSE=0, and the flag is that of sums in
 * double. */
#include "engine/kernels/gemm/blas.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 8, ROWS = 640, COLUMNS = 512 }; /* 1.3 MB, and 37 KB of factors */
#define LIMIT 0x1p50

static bool has_kernel(const mw_plan *plan, const char *kernel)
{
    mw_plan_step step;
    for (size_t i = 0; mw_plan_step_at(plan, i, &step); i++)
        if (strcmp(step.kernel, kernel) == 0)
            return true;
    return false;
}

/* w' = w - dw where all of dw = x^T dy is within the limit, else w. */
static mw_program *make(int threads, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_neg(mw_input(graph, "x", MW_F32, MW_SHAPE(TERMS, ROWS)));
    mw_tensor *dy = mw_neg(mw_input(graph, "dy", MW_F32, MW_SHAPE(TERMS, COLUMNS)));
    mw_tensor *w = mw_input(graph, "w", MW_F32, MW_SHAPE(ROWS, COLUMNS));
    mw_tensor *dw = mw_matmul(x, dy, MW_TRANSPOSE_X), *one = mw_scalar(graph, MW_F32, 1.0);
    mw_tensor *within = mw_less_equal(mw_abs(dw), mw_scalar(graph, MW_F32, LIMIT));
    mw_tensor *good = mw_reduce_min(mw_select(within, one, mw_scalar(graph, MW_F32, 0.0)), MW_ALL_AXES, false);
    mw_tensor *ok = mw_greater(good, mw_scalar(graph, MW_F32, 0.5));
    mw_output(mw_select(ok, mw_sub(w, dw), w), "next");
    mw_output(good, "good");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, err);
    mw_graph_destroy(graph);
    return program;
}

typedef struct numbers {
    float x[TERMS * ROWS], dy[TERMS * COLUMNS], w[ROWS * COLUMNS], next[ROWS * COLUMNS], plain[ROWS * COLUMNS];
} numbers;

static void draw(numbers *n)
{
    for (size_t i = 0; i < TERMS * ROWS; i++)
        n->x[i] = (float)(i * 7919 % 1013) / 1013.0f - 0.5f;
    for (size_t i = 0; i < TERMS * COLUMNS; i++)
        n->dy[i] = (float)(i * 104729 % 1009) / 1009.0f - 0.5f;
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        n->w[i] = (float)(i % 251);
}

static float run(mw_program *program, const numbers *n, float *next, mw_error *err)
{
    float good = -1.0f;
    mw_program_write(program, "x", MW_F32, n->x, TERMS * ROWS, err);
    mw_program_write(program, "dy", MW_F32, n->dy, TERMS * COLUMNS, err);
    mw_program_write(program, "w", MW_F32, n->w, ROWS * COLUMNS, err);
    mw_program_run(program, err);
    mw_program_read(program, "next", MW_F32, next, ROWS * COLUMNS, err);
    mw_program_read(program, "good", MW_F32, &good, 1, err);
    return good;
}

/* Far from the limit, so that rounding decides nothing. */
static bool is_within(const numbers *n)
{
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < TERMS; k++)
                sum += (double)n->x[k * ROWS + i] * (double)n->dy[k * COLUMNS + j];
            if (!(fabs(sum) <= LIMIT))
                return false;
        }
    return true;
}

typedef struct subject {
    mw_program *deferred, *plain;
    numbers *n;
} subject;

static void compare(const subject *s, bool wanted, const char *what)
{
    mw_error err = {0};
    const float good = run(s->deferred, s->n, s->n->next, &err), plain = run(s->plain, s->n, s->n->plain, &err);
    REQUIRE(err.status == MW_OK);
    CHECK(is_within(s->n) == wanted);
    check_note(good == (wanted ? 1.0f : 0.0f) && good == plain, __FILE__, __LINE__, "%s: %g and %g", what, (double)good,
               (double)plain);
    check_note(memcmp(s->n->next, s->n->plain, sizeof s->n->next) == 0, __FILE__, __LINE__, "%s: other bits", what);
}

static void compare_all(const subject *s)
{
    numbers *n = s->n;
    draw(n);
    compare(s, true, "factors prove it");
    n->x[5] = 0x1p40f; /* of the first term */
    for (size_t j = 0; j < COLUMNS; j++)
        n->dy[j] = 0.0f;
    n->dy[3 * COLUMNS + 7] = 0x1p40f;
    compare(s, true, "factors prove nothing, and the product is within");
    n->x[3 * ROWS + ROWS - 1] = 0x1p12f; /* the last row of the product */
    compare(s, false, "one element is beyond");
    draw(n);
    n->x[TERMS * ROWS - 1] = NAN;
    compare(s, false, "a NaN");
    draw(n);
    n->dy[0] = INFINITY;
    compare(s, false, "an infinity");
}

static void test_deferred_products_give_the_bits_and_the_flag_of_plain_ones(void)
{
    for (int threads = 1; threads <= 2; threads++) {
        mw_error err = {0};
        subject s = {.deferred = make(threads, &err), .n = malloc(sizeof *s.n)};
        setting_begin("MW_ENGINE_FUSE", "0");
        s.plain = make(threads, &err);
        setting_end("MW_ENGINE_FUSE");
        REQUIRE(err.status == MW_OK);
        REQUIRE(s.n != NULL);
        mw_plan *plan = mw_plan_create(s.deferred, &err);
        CHECK(has_kernel(plan, "all_within.factors"));
        mw_plan_destroy(plan);
        compare_all(&s);
        free(s.n);
        mw_program_destroy(s.deferred);
        mw_program_destroy(s.plain);
    }
}

/* ---- memory ---- */

enum { LAYERS = 40, WIDTH = 512, EXAMPLES = 16 };

static double intermediate_bytes(mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(EXAMPLES, WIDTH));
    for (int i = 0; i < LAYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "fc%d", i);
        x = mw_relu(mw_dense(x, WIDTH, name));
    }
    mw_tensor *loss = mw_reduce_mean(mw_mul(x, x), MW_ALL_AXES, false);
    mw_trainer *trainer = engine_trainer(loss, mw_adam(1e-3f), MW_DEVICE_CPU, 1, err);
    mw_graph_destroy(graph);
    mw_plan *plan = trainer != NULL ? mw_plan_create(mw_trainer_program(trainer), err) : NULL;
    const double bytes = plan != NULL ? (double)mw_plan_get_totals(plan).intermediate_bytes : 0.0;
    mw_plan_destroy(plan);
    mw_trainer_destroy(trainer);
    return bytes;
}

/* All gradients were in memory at once, a MB each. Those of some updates are still: fusion groups that are open. */
static void test_gradients_of_a_training_step_are_not_all_in_memory(void)
{
    mw_error err = {0};
    const double bytes = intermediate_bytes(&err);
    REQUIRE(err.status == MW_OK);
    CHECK(bytes > 0.0 && bytes < 0.5 * LAYERS * WIDTH * WIDTH * sizeof(float));
}

/* Without AVX-512 a BLAS would be taken, which has no kernels of ours and adds in an order of its own. */
int main(void)
{
    mw__blas_choose("none", NULL);
    RUN(test_deferred_products_give_the_bits_and_the_flag_of_plain_ones);
    RUN(test_gradients_of_a_training_step_are_not_all_in_memory);
    return check_finish();
}
