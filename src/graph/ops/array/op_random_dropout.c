/* Dropout: a mask from two digits of the generator for each element, seen as an element of a matrix. */
#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/random.h>
#include <millwright/ops/shape.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"
#include "graph/random/generator.h"

#include <math.h>

enum { DIGITS = 2, LEVELS = MW__DIGIT_BASE * MW__DIGIT_BASE };

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
static mw_tensor *make_factor(mw__generator *d, mw_shape shape, int dropped)
{
    const int64_t rows = count_rows(shape);
    const int64_t columns = mw_shape_count(shape) / rows;
    mw_tensor *high = mw_mul_scalar(mw__generator_digit(d, 0, rows, columns), MW__DIGIT_BASE);
    mw_tensor *level = mw_add(high, mw__generator_digit(d, 1, rows, columns)); /* -480 .. 480, each equally likely */
    mw_tensor *kept = mw_greater_equal(level, mw_scalar(d->graph, d->dtype, dropped - LEVELS / 2));
    mw_tensor *scale = mw_scalar(d->graph, d->dtype, (double)LEVELS / (LEVELS - dropped));
    mw_tensor *factor = mw_select(kept, scale, mw_scalar(d->graph, d->dtype, 0.0));
    return mw__reshape_to(factor, shape);
}

static bool check_dropout(mw_tensor *x, float p, const char *name)
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
    MW__FLOAT_SCOPE;
    if (x == NULL || x->graph->error.status != MW_OK || !check_dropout(x, p, name))
        return NULL;
    const mw_shape shape = mw_tensor_shape(x);
    mw__generator d;
    const bool made = mw__generator_begin(&d, x->graph, mw_tensor_dtype(x), "dropout", name, DIGITS);
    const int nearest = (int)lround((double)p * LEVELS), dropped = nearest < LEVELS ? nearest : LEVELS - 1;
    mw_tensor *evaluation = mw_identity(x); /* first: it is earlier than the value that it stands for */
    if (mw_shape_count(shape) == 0 || !made)
        return evaluation;
    const char *outer = x->graph->scope;
    x->graph->scope = name;
    mw__generator_advance(&d);
    mw_tensor *y = mw_mul(x, make_factor(&d, shape, dropped));
    x->graph->scope = outer;
    if (evaluation == NULL)
        return NULL;
    mw__composite record = {.name = "dropout", .inputs = &x, .input_count = 1, .evaluation = evaluation};
    return mw__composite_attach(y, &record);
}
