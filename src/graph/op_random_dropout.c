/* Dropout with a generator that fp16 holds exactly, so that a device without random numbers and integers can run it.
 *
 * All numbers are integers mod 31, kept in [-15, 15]. The state is 2 x 8 of them; a step multiplies it with an 8 x 8
 * matrix of full period (31^8 - 1 steps). Element (i, j) of x seen as a matrix gets two digits
 *     digit = sum over k < 4 of (a[i,k] s[k] + b[i,k]) (c[j,k] s[4+k] + d[j,k])    mod 31
 * with constants a, b, c, d drawn once by name. Different rows (and columns) have different constants, so two digits of
 * one step are independent over the draw of constants, and so are those of different steps, whose states differ. No
 * intermediate reaches 1024 in magnitude: 4 * 15 * 15 = 900 for a digit, 8 * 15 * 3 = 360 for a step. */
#include <millwright/op_compare.h>
#include <millwright/op_elementwise.h>
#include <millwright/op_matmul.h>
#include <millwright/op_random.h>
#include <millwright/op_shape.h>

#include "base/hash.h"
#include "base/random.h"
#include "graph/init.h"
#include "graph/rule.h"

#include <math.h>
#include <string.h>

enum { PRIME = 31, BOUND = 15, DIGITS = 2, WIDTH = 4, STATE = 2 * WIDTH, LEVELS = PRIME * PRIME };

/* Found by search among small entries: its order is 31^8 - 1 (2, 3, 5, 13, 37, 409, 1129 are the primes of that). */
static const signed char transition[STATE][STATE] = {
    {-3, 3, -1, -3, 1, -1, -2, 1},  {2, 1, 2, -3, 2, -2, 1, -1},     {1, -1, -1, 3, -3, 3, -1, 2},
    {2, -1, -1, 1, 2, 1, -2, -3},   {1, -2, -1, -1, -3, -2, -2, -3}, {-1, -2, -3, -1, 1, -3, -1, -1},
    {-1, -2, 1, -3, 2, -2, -1, -3}, {-2, 3, 2, -2, 1, 1, 2, -3},
};

typedef struct dropout {
    mw_graph *graph;
    mw_dtype dtype;
    mw_tensor *state;
    mw__random random; /* for the constants */
} dropout;

/* x mod 31 in [-15, 15], for integers up to 900 in magnitude. The half keeps the quotient so far from whole numbers
 * that one rounded to fp16 has the same floor. */
static mw_tensor *reduce(const dropout *d, mw_tensor *x)
{
    mw_tensor *shifted = mw_add_scalar(x, BOUND + 0.5);
    mw_tensor *quotient = mw_floor_div(shifted, mw_scalar(d->graph, d->dtype, PRIME));
    return mw_sub(x, mw_mul_scalar(quotient, PRIME));
}

static mw_tensor *constant_matrix(const dropout *d, mw_shape shape, const double *values)
{
    const size_t count = (size_t)mw_shape_count(shape), step = (size_t)mw_dtype_bits(d->dtype) / 8;
    unsigned char *data = mw__alloc(d->graph->allocator, count, step, &d->graph->error);
    for (size_t i = 0; data != NULL && i < count; i++)
        mw__element_store(data + i * step, d->dtype, values[i]);
    mw_tensor *constant = data != NULL ? mw_constant(d->graph, d->dtype, shape, data) : NULL;
    mw__free(d->graph->allocator, data);
    return constant;
}

/* [count, 4] integers of [-15, 15]. */
static mw_tensor *draw(dropout *d, int64_t count)
{
    double *values = mw__alloc(d->graph->allocator, (size_t)count, WIDTH * sizeof *values, &d->graph->error);
    for (size_t i = 0; values != NULL && i < (size_t)count * WIDTH; i++)
        values[i] = (double)mw__random_below(&d->random, PRIME) - BOUND;
    mw_tensor *constant = values != NULL ? constant_matrix(d, MW_SHAPE(count, WIDTH), values) : NULL;
    mw__free(d->graph->allocator, values);
    return constant;
}

/* a s + b of one side: [count, 4]. */
static mw_tensor *keys(dropout *d, int digit, int side, int64_t count)
{
    mw_tensor *a = draw(d, count);
    mw_tensor *b = draw(d, count);
    mw_tensor *s = mw_slice_by_size(d->state, (const int64_t[]){digit, side * WIDTH}, (const int64_t[]){1, WIDTH});
    return reduce(d, mw_add(mw_mul(a, s), b));
}

static mw_tensor *make_digit(dropout *d, int digit, int64_t rows, int64_t columns)
{
    mw_tensor *row_keys = keys(d, digit, 0, rows);
    mw_tensor *column_keys = keys(d, digit, 1, columns);
    return reduce(d, mw_matmul(row_keys, column_keys, false, true));
}

static void advance(dropout *d)
{
    double values[STATE * STATE];
    for (int i = 0; i < STATE * STATE; i++)
        values[i] = transition[i / STATE][i % STATE];
    mw_tensor *matrix = constant_matrix(d, MW_SHAPE(STATE, STATE), values);
    mw_state_assign(d->state, reduce(d, mw_matmul(d->state, matrix, false, false)));
}

/* Rows of x seen as a matrix: the split of its axes with the fewest keys. */
static int64_t count_rows(mw_shape shape)
{
    const int64_t count = mw_shape_count(shape);
    int64_t best = 1, rows = 1;
    for (int i = 0; i < shape.rank; i++) {
        rows *= shape.dim[i];
        if ((uint64_t)rows + (uint64_t)(count / rows) < (uint64_t)best + (uint64_t)(count / best))
            best = rows;
    }
    return best;
}

/* mask / (1 - p) in the shape of x. */
static mw_tensor *make_factor(dropout *d, mw_shape shape, int dropped)
{
    const int64_t rows = count_rows(shape);
    const int64_t columns = mw_shape_count(shape) / rows;
    mw_tensor *high = mw_mul_scalar(make_digit(d, 0, rows, columns), PRIME);
    mw_tensor *level = mw_add(high, make_digit(d, 1, rows, columns)); /* -480 .. 480, each equally likely */
    mw_tensor *kept = mw_greater_equal(level, mw_scalar(d->graph, d->dtype, dropped - LEVELS / 2));
    mw_tensor *scale = mw_scalar(d->graph, d->dtype, (double)LEVELS / (LEVELS - dropped));
    mw_tensor *factor = mw_select(kept, scale, mw_scalar(d->graph, d->dtype, 0.0));
    return mw_reshape(factor, shape);
}

static bool check(mw_tensor *x, float p, const char *name)
{
    char text[200];
    if (name == NULL || name[0] == '\0')
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "dropout: the name is empty");
    else if (!(p >= 0.0f && p < 1.0f))
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "dropout \"%s\": p is %g; it must be in [0, 1)", name, (double)p);
    else if (mw_shape_count(mw_tensor_shape(x)) < 0)
        mw__graph_fail(x->graph, MW_ERROR_SHAPE, "dropout \"%s\": every extent of x %s must be known", name,
                       mw__shape_print(mw_tensor_shape(x), text, sizeof text));
    else
        return true;
    return false;
}

mw_tensor *mw_dropout(mw_tensor *x, float p, const char *name)
{
    if (x == NULL || x->graph->error.status != MW_OK || !check(x, p, name))
        return NULL;
    const mw_shape shape = mw_tensor_shape(x);
    dropout d = {.graph = x->graph,
                 .dtype = mw_tensor_dtype(x),
                 .random = {.seed = 0, .stream = mw__hash64(name, strlen(name), 0)}};
    d.state = mw__layer_state(x, "dropout", name, "generator", MW_SHAPE(DIGITS, STATE), mw__init_integers(BOUND));
    const int nearest = (int)lround((double)p * LEVELS), dropped = nearest < LEVELS ? nearest : LEVELS - 1;
    mw_tensor *twin = mw_identity(x); /* first: a twin is earlier than its value */
    if (mw_shape_count(shape) == 0 || d.state == NULL)
        return twin;
    const char *outer = x->graph->scope;
    x->graph->scope = name;
    advance(&d);
    mw_tensor *y = mw_mul(x, make_factor(&d, shape, dropped));
    x->graph->scope = outer;
    if (twin == NULL)
        return NULL;
    mw__composite record = {.name = "dropout", .inputs = &x, .input_count = 1, .evaluation = twin};
    return mw__composite_attach(y, &record);
}
