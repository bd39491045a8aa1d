/* Random numbers: shape rules and constructors of ops/random.def. Dropout is op_random_dropout.c,
 * numbers from a state of the trainer op_random_noise.c. */
#include <millwright/ops/random.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- shape rules ---- */

static mw_status check_seed(const mw__infer *infer)
{
    int64_t seed = -1;
    MW_TRY(mw__rule_int(infer, "seed", &seed));
    if (seed < -1 || seed > INT32_MAX)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "seed %" PRId64 " must be 0 or more, or -1 for none", seed);
    return MW_OK;
}

/* A tensor of the shape in argument `shape`, in the type of argument `parameter`. */
static mw_status drawn(mw__infer *infer, const char *parameter)
{
    mw_shape shape = {.rank = 0};
    size_t rank;
    bool known;
    MW_TRY(check_seed(infer));
    MW_TRY(mw__rule_ints(infer, "shape", shape.dim, MW_RANK_MAX, &rank, &known));
    shape.rank = (int)rank;
    for (int i = 0; i < shape.rank; i++) {
        if (!known)
            shape.dim[i] = MW_DIM_UNKNOWN;
        else if (shape.dim[i] < 1)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "shape[%d] is %" PRId64 "; 1 or more is wanted", i,
                                 shape.dim[i]);
    }
    const bool given = mw__arg_present(infer->op, parameter);
    return mw__rule_result(infer, given ? mw__rule_dtype(infer, parameter) : MW_F32, shape);
}

/* A constant; one that is not loaded passes as `otherwise`. */
static double number_arg(const mw__infer *infer, const char *arg, double otherwise)
{
    double value;
    return mw__arg_float(infer->op, arg, &value) ? value : otherwise;
}

mw_status mw__shape_random_normal(mw__infer *infer)
{
    const double mean = number_arg(infer, "mean", 0.0), stddev = number_arg(infer, "stddev", 1.0);
    if (!isfinite(mean))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "mean is %g; it must be finite", mean);
    if (!(stddev >= 0.0) || !isfinite(stddev))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "stddev is %g; it must be finite and >= 0", stddev);
    return drawn(infer, "mean");
}

mw_status mw__shape_random_uniform(mw__infer *infer)
{
    const double low = number_arg(infer, "low", 0.0), high = number_arg(infer, "high", HUGE_VAL);
    const bool loaded = mw__arg_float(infer->op, "high", &(double){0});
    if (!(low <= high) || !isfinite(low) || (loaded && !isfinite(high)))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                             "[%g, %g) is empty or not finite: low must be below high, or equal to it", low, high);
    return drawn(infer, "low");
}

mw_status mw__shape_random_bernoulli(mw__infer *infer)
{
    const double prob = number_arg(infer, "prob", 0.5);
    if (!(prob >= 0.0 && prob <= 1.0))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "prob is %g; it must be in [0, 1]", prob);
    return drawn(infer, "prob");
}

mw_status mw__shape_random_categorical(mw__infer *infer)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    int64_t size = 1;
    char x[240];
    const char *mode = mw__arg_string(infer->op, "mode");
    MW_TRY(check_seed(infer));
    MW_TRY(mw__rule_int(infer, "size", &size));
    mw__arg_print(infer->op, "x", x, sizeof x);
    if (mode != NULL && strcmp(mode, "logits") != 0 && strcmp(mode, "probs") != 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "mode \"%.40s\" is none of logits, probs", mode);
    if (size < 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "size is %" PRId64 "; 1 or more is wanted", size);
    if (shape.rank < 1)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must have rank 1 or more: its last axis holds the classes", x);
    if (shape.dim[shape.rank - 1] == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s has no class to draw", x);
    shape.dim[shape.rank - 1] = size;
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

/* ---- constructors ---- */

mw_tensor *mw_random_normal(mw_graph *graph, mw_dtype dtype, mw_shape shape, float mean, float stddev, int32_t seed)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin_graph("random_normal", graph);
    mw__build_scalar(&build, "mean", dtype, (double)mean);
    mw__build_int(&build, "seed", seed);
    mw__build_shape(&build, "shape", shape);
    mw__build_scalar(&build, "stddev", dtype, (double)stddev);
    return mw__build_end(&build);
}

mw_tensor *mw_random_uniform(mw_graph *graph, mw_dtype dtype, mw_shape shape, float low, float high, int32_t seed)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin_graph("random_uniform", graph);
    mw__build_scalar(&build, "high", dtype, (double)high);
    mw__build_scalar(&build, "low", dtype, (double)low);
    mw__build_int(&build, "seed", seed);
    mw__build_shape(&build, "shape", shape);
    return mw__build_end(&build);
}

mw_tensor *mw_random_bernoulli(mw_graph *graph, mw_dtype dtype, mw_shape shape, float prob, int32_t seed)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin_graph("random_bernoulli", graph);
    mw__build_scalar(&build, "prob", dtype, (double)prob);
    mw__build_int(&build, "seed", seed);
    mw__build_shape(&build, "shape", shape);
    return mw__build_end(&build);
}

mw_tensor *mw_random_categorical(mw_tensor *x, mw_categorical_mode mode, int64_t size, int32_t seed)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("random_categorical", x);
    mw__build_string(&build, "mode",
                     mode == MW_CATEGORICAL_LOGITS  ? "logits"
                     : mode == MW_CATEGORICAL_PROBS ? "probs"
                                                    : "no mw_categorical_mode");
    mw__build_int(&build, "seed", seed);
    mw__build_int(&build, "size", size);
    mw__build_set(&build, "x", x);
    return mw__build_end(&build);
}
