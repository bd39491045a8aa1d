/* The generator behind dropout and noise, in operations that every device has and numbers that fp16 holds exactly.
 *
 * All numbers are integers mod 31, kept in [-15, 15]. The state is 8 of them for each digit; a step multiplies it with
 * an 8 x 8 matrix of full period (31^8 - 1 steps). Element (i, j) of a matrix gets
 *     digit = sum over k < 4 of (a[i,k] s[k] + b[i,k]) (c[j,k] s[4+k] + d[j,k])    mod 31
 * with constants a, b, c, d drawn once by name. Different rows (and columns) have different constants, so two digits of
 * one step are independent over the draw of constants, and so are those of different steps, whose states differ. No
 * intermediate reaches 1024 in magnitude: 4 * 15 * 15 = 900 for a digit, 8 * 15 * 3 = 360 for a step. */
#include "graph/random/generator.h"

#include "base/number/hash.h"
#include "graph/ir/layer.h"
#include "graph/ir/rule.h"
#include "graph/random/init.h"
#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/shape.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 4, STATE = MW__GENERATOR_STATE };

/* Found by search among small entries: its order is 31^8 - 1 (2, 3, 5, 13, 37, 409, 1129 are the primes of that). */
static const signed char transition[STATE][STATE] = {
    {-3, 3, -1, -3, 1, -1, -2, 1},  {2, 1, 2, -3, 2, -2, 1, -1},     {1, -1, -1, 3, -3, 3, -1, 2},
    {2, -1, -1, 1, 2, 1, -2, -3},   {1, -2, -1, -1, -3, -2, -2, -3}, {-1, -2, -3, -1, 1, -3, -1, -1},
    {-1, -2, 1, -3, 2, -2, -1, -3}, {-2, 3, 2, -2, 1, 1, 2, -3},
};

/* The half keeps the quotient so far from whole numbers that one rounded to fp16 has the same floor. */
mw_tensor *mw__generator_reduce(const mw__generator *g, mw_tensor *x)
{
    mw_tensor *shifted = mw_add_scalar(x, MW__DIGIT_MAX + 0.5);
    mw_tensor *quotient = mw_floor_div(shifted, mw_scalar(g->graph, g->dtype, MW__DIGIT_BASE));
    return mw_sub(x, mw_mul_scalar(quotient, MW__DIGIT_BASE));
}

static mw_tensor *constant_matrix(const mw__generator *g, mw_shape shape, const double *values)
{
    const size_t count = (size_t)mw_shape_count(shape), step = (size_t)mw_dtype_bits(g->dtype) / 8;
    unsigned char *data = mw__alloc(g->graph->allocator, count, step, &g->graph->error);
    for (size_t i = 0; data != NULL && i < count; i++)
        mw__element_store(data + i * step, g->dtype, values[i]);
    mw_tensor *constant = data != NULL ? mw_constant(g->graph, g->dtype, shape, data) : NULL;
    mw__free(g->graph->allocator, data);
    return constant;
}

/* [count, 4] integers of [-15, 15]. */
static mw_tensor *draw_integers(mw__generator *g, int64_t count)
{
    double *values = mw__alloc(g->graph->allocator, (size_t)count, WIDTH * sizeof *values, &g->graph->error);
    for (size_t i = 0; values != NULL && i < (size_t)count * WIDTH; i++)
        values[i] = (double)mw__random_below(&g->random, MW__DIGIT_BASE) - MW__DIGIT_MAX;
    mw_tensor *constant = values != NULL ? constant_matrix(g, MW_SHAPE(count, WIDTH), values) : NULL;
    mw__free(g->graph->allocator, values);
    return constant;
}

/* a s + b of one side: [count, 4]. */
static mw_tensor *keys(mw__generator *g, int digit, int side, int64_t count)
{
    mw_tensor *a = draw_integers(g, count);
    mw_tensor *b = draw_integers(g, count);
    mw_tensor *s = mw_slice_by_size(g->state, (const int64_t[]){digit, side * WIDTH}, (const int64_t[]){1, WIDTH});
    return mw__generator_reduce(g, mw_add(mw_mul(a, s), b));
}

mw_tensor *mw__generator_digit(mw__generator *g, int digit, int64_t rows, int64_t columns)
{
    mw_tensor *row_keys = keys(g, digit, 0, rows);
    mw_tensor *column_keys = keys(g, digit, 1, columns);
    return mw__generator_reduce(g, mw_matmul(row_keys, column_keys, MW_TRANSPOSE_Y));
}

void mw__generator_advance(mw__generator *g)
{
    double values[STATE * STATE];
    for (int i = 0; i < STATE * STATE; i++)
        values[i] = transition[i / STATE][i % STATE];
    mw_tensor *matrix = constant_matrix(g, MW_SHAPE(STATE, STATE), values);
    mw_state_assign(g->state, mw__generator_reduce(g, mw_matmul(g->state, matrix, MW_TRANSPOSE_NONE)));
}

/* ---- on the host ---- */

static int reduce(int x)
{
    const int rest = (x % MW__DIGIT_BASE + MW__DIGIT_BASE + MW__DIGIT_MAX) % MW__DIGIT_BASE;
    return rest - MW__DIGIT_MAX;
}

static void multiply_matrices(int a[STATE][STATE], int b[STATE][STATE], int out[STATE][STATE])
{
    for (int i = 0; i < STATE; i++)
        for (int j = 0; j < STATE; j++) {
            int sum = 0;
            for (int k = 0; k < STATE; k++)
                sum += a[i][k] * b[k][j];
            out[i][j] = reduce(sum);
        }
}

/* The state is a row, which each step multiplies with the matrix: so many steps are its power. */
void mw__generator_skip(double state[STATE], uint64_t steps)
{
    int power[STATE][STATE], product[STATE][STATE];
    for (int i = 0; i < STATE * STATE; i++)
        power[i / STATE][i % STATE] = transition[i / STATE][i % STATE];
    for (; steps > 0; steps /= 2) {
        double next[STATE];
        for (int j = 0; j < STATE && steps % 2 == 1; j++) {
            double sum = 0.0;
            for (int i = 0; i < STATE; i++)
                sum += state[i] * power[i][j];
            next[j] = reduce((int)sum);
        }
        if (steps % 2 == 1)
            memcpy(state, next, sizeof next);
        multiply_matrices(power, power, product);
        memcpy(power, product, sizeof power);
    }
}

bool mw__generator_begin(mw__generator *g, mw_graph *graph, mw_dtype dtype, const char *operation, const char *name,
                         int digits)
{
    char state[MW_NAME_MAX + 1];
    *g = (mw__generator){
        .graph = graph, .dtype = dtype, .random = {.seed = 0, .stream = mw__hash64(name, strlen(name), 0)}};
    const size_t use = mw__layer_application(graph);
    const int length = use <= 1 ? snprintf(state, sizeof state, "%s.generator", name)
                                : snprintf(state, sizeof state, "%s.%zu.generator", name, use);
    if (length < 0 || (size_t)length >= sizeof state)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: the name is longer than %zu bytes", operation,
                       sizeof state - sizeof ".generator");
    else
        g->state = mw_state(graph, state, dtype, MW_SHAPE(digits, STATE), mw__init_integers(MW__DIGIT_MAX));
    return g->state != NULL;
}

bool mw__is_generator(const mw_tensor *state)
{
    return state->role == MW__RESIDENT && mw__init_draws_integers(state->init);
}
