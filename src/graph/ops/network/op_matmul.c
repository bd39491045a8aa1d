/* Matrix products and the dense layer: shape rules, constructors and the expansion of ops/matmul.def. */
#include <millwright/ops/matmul.h>

#include <millwright/ops/elementwise.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <math.h>

/* ---- matmul ---- */

/* An operand as a stack of matrices: rank 1 gets an axis of extent 1, which is taken off the result again. */
typedef struct matrix {
    mw_shape batch;
    int64_t rows, columns;
    bool was_vector;
} matrix;

static mw_status read_matrix(const mw__infer *infer, const char *arg, const char *flag, bool left, matrix *out)
{
    const mw_shape shape = mw__rule_shape(infer, arg);
    bool transpose;
    MW_TRY(mw__rule_bool(infer, flag, &transpose));
    if (shape.rank == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s is a scalar; use mul", arg);
    if (shape.rank == 1 && transpose)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s has rank 1 and cannot be transposed", arg);
    *out = (matrix){.was_vector = shape.rank == 1};
    if (shape.rank == 1) {
        out->rows = left ? 1 : shape.dim[0];
        out->columns = left ? shape.dim[0] : 1;
        return MW_OK;
    }
    const int last = shape.rank - 1;
    out->rows = shape.dim[transpose ? last : last - 1];
    out->columns = shape.dim[transpose ? last - 1 : last];
    out->batch = shape;
    out->batch.rank = shape.rank - 2;
    return MW_OK;
}

static mw_status fail_pair(const mw__infer *infer, const char *what)
{
    char x[240], y[240];
    bool transpose_x = false, transpose_y = false;
    mw__arg_print(infer->op, "x", x, sizeof x);
    mw__arg_print(infer->op, "y", y, sizeof y);
    mw__arg_bool(infer->op, "transpose_x", &transpose_x);
    mw__arg_bool(infer->op, "transpose_y", &transpose_y);
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s: %s%s and %s%s", what, x, transpose_x ? " transposed" : "", y,
                         transpose_y ? " transposed" : "");
}

/* MIL, ios17: "x and y can have different dtypes when one of them is const"; the result has that of the other. */
static mw_status read_dtype(const mw__infer *infer, mw_dtype *out)
{
    const bool fixed = mw__is_constant(mw__arg(infer->op, "x"));
    const mw_dtype x = mw__rule_dtype(infer, "x"), y = mw__rule_dtype(infer, "y");
    *out = fixed ? y : x;
    if (x == y || fixed != mw__is_constant(mw__arg(infer->op, "y")))
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_DTYPE, "x is %s but y is %s; convert one with cast", mw_dtype_name(x),
                         mw_dtype_name(y));
}

mw_status mw__shape_matmul(mw__infer *infer)
{
    matrix x = {0}, y = {0};
    mw_shape shape;
    mw_dtype dtype;
    MW_TRY(read_dtype(infer, &dtype));
    MW_TRY(read_matrix(infer, "x", "transpose_x", true, &x));
    MW_TRY(read_matrix(infer, "y", "transpose_y", false, &y));
    if (!mw__dim_fits(x.columns, y.rows))
        return fail_pair(infer, "inner dimensions differ");
    if (!mw__broadcast_shapes(x.batch, y.batch, &shape))
        return fail_pair(infer, "batch dimensions do not broadcast");
    if (!x.was_vector)
        shape.dim[shape.rank++] = x.rows;
    if (!y.was_vector)
        shape.dim[shape.rank++] = y.columns;
    return mw__rule_result(infer, dtype, shape);
}

mw_tensor *mw_matmul(mw_tensor *x, mw_tensor *y, mw_transposes transposes)
{
    const mw_transposes all = MW_TRANSPOSE_X | MW_TRANSPOSE_Y;
    if (x != NULL && y != NULL && transposes > all)
        return mw__graph_fail(
            x->graph, MW_ERROR_ARGUMENT,
            "matmul: transposes is %u; it must be MW_TRANSPOSE_NONE, MW_TRANSPOSE_X, MW_TRANSPOSE_Y or "
            "both with |",
            transposes);
    mw__build build = mw__build_begin("matmul", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "y", y);
    mw__build_bool(&build, "transpose_x", (transposes & MW_TRANSPOSE_X) != 0);
    mw__build_bool(&build, "transpose_y", (transposes & MW_TRANSPOSE_Y) != 0);
    return mw__build_end(&build);
}

/* ---- linear ---- */

mw_status mw__shape_linear(mw__infer *infer)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    const mw_shape weight = mw__rule_shape(infer, "weight");
    char x[240], w[240];
    mw__arg_print(infer->op, "x", x, sizeof x);
    mw__arg_print(infer->op, "weight", w, sizeof w);
    if (shape.rank == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "x is a scalar");
    if (weight.rank != 2)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "weight must be [outputs, inputs], not %s", w);
    if (!mw__dim_fits(shape.dim[shape.rank - 1], weight.dim[1]))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "inner dimensions differ: %s and %s", x, w);
    shape.dim[shape.rank - 1] = weight.dim[0];
    if (mw__arg_present(infer->op, "bias")) {
        const mw_shape bias = mw__rule_shape(infer, "bias");
        if (bias.rank != 1 || !mw__dim_fits(bias.dim[0], weight.dim[0])) {
            char b[240];
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s does not fit %s: one element per output is wanted",
                                 mw__arg_print(infer->op, "bias", b, sizeof b), w);
        }
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw__expand_linear(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    (void)out_more;
    mw_tensor *x = mw__argument_find(arguments, count, "x");
    mw_tensor *weight = mw__argument_find(arguments, count, "weight");
    mw_tensor *bias = mw__argument_find(arguments, count, "bias");
    if (x == NULL || weight == NULL)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "linear: argument %s is missing", x == NULL ? "x" : "weight");
    mw_tensor *product = mw_matmul(x, weight, MW_TRANSPOSE_Y);
    return bias != NULL ? mw_add(product, bias) : product;
}

mw_tensor *mw_linear(mw_tensor *x, mw_tensor *weight, mw_tensor *bias)
{
    if (x == NULL || weight == NULL)
        return NULL;
    if (!mw__is_constant(weight) || (bias != NULL && !mw__is_constant(bias))) {
        const mw_argument arguments[] = {
            {.name = "x", .values = &x, .count = 1},
            {.name = "weight", .values = &weight, .count = 1},
            {.name = "bias", .values = &bias, .count = 1},
        };
        return mw__expand_linear(x->graph, arguments, bias != NULL ? 3 : 2, NULL);
    }
    mw__build build = mw__build_begin("linear", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "weight", weight);
    if (bias != NULL)
        mw__build_set(&build, "bias", bias);
    return mw__build_end(&build);
}

/* ---- the dense layer ---- */

mw_tensor *mw_dense(mw_tensor *x, int64_t units, const char *name)
{
    MW__FLOAT_SCOPE;
    if (x == NULL || x->graph->error.status != MW_OK)
        return NULL;
    mw_graph *graph = x->graph;
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t inputs = shape.rank > 0 ? shape.dim[shape.rank - 1] : 0;
    char text[200];
    if (name == NULL || name[0] == '\0')
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "dense: the name is empty");
    if (units < 1)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "dense \"%s\": units %" PRId64 " must be positive", name,
                              units);
    if (inputs < 1)
        return mw__graph_fail(graph, MW_ERROR_SHAPE, "dense \"%s\": the last extent of x %s must be known and positive",
                              name, mw__shape_print(shape, text, sizeof text));
    const float bound = (float)(1.0 / sqrt((double)inputs));
    const char *outer = graph->scope;
    graph->scope = name;
    mw_tensor *weight =
        mw__layer_parameter(x, "dense", name, "weight", MW_SHAPE(units, inputs), mw_init_kaiming_uniform());
    mw_tensor *bias = mw__layer_parameter(x, "dense", name, "bias", MW_SHAPE(units), mw_init_uniform(-bound, bound));
    mw_tensor *y = weight != NULL && bias != NULL ? mw_linear(x, weight, bias) : NULL;
    graph->scope = outer;
    return y;
}
