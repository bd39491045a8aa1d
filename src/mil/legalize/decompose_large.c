/* Functions of large numbers whose plain form passes the range of fp16 on its way, in forms that do not: what they give
 * would be 0 or infinite there, where the result is neither. */
#include "mil/legalize/numbers/bound.h"
#include "mil/legalize/numbers/squares.h"
#include "mil/legalize/rewrites.h"

#include <math.h>
#include <millwright/millwright.h>

#define EXP_END 11.0898 /* ln 65520, from where e^x rounds to infinity */
#define LEAST   0x1p-24 /* the smallest number of fp16 */

static mw_tensor *number_like(const mw_tensor *like, double value)
{
    return mw_scalar(mw_tensor_graph(like), mw_tensor_dtype(like), value);
}

static mw_tensor *scaled(mw_tensor *x, double factor) { return factor == 1.0 ? x : mw_mul_scalar(x, factor); }

static bool may_exceed(const mw_tensor *value, double end)
{
    return value != NULL && value->payload == NULL && mw__bound_of(value).high > end;
}

/* What autograd writes has forms of its own, and a step in which it is infinite is refused. */
static bool is_forward(const mw__op *op) { return op->stage == MW__STEP_FORWARD; }

/* ---- softplus ---- */

/* log(1 + e^-|x|), in which nothing is large: the device's own softplus is right there. */
static mw_tensor *softplus_below(mw_tensor *x) { return mw_softplus(mw_neg(mw_abs(x))); }

bool mw__large_is_softplus(const mw__rewriting *pass, const mw__op *op)
{
    (void)pass;
    return may_exceed(mw__op_operand(op, "x"), EXP_END);
}

mw_tensor *mw__large_softplus(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    return mw_add(mw_relu(x), softplus_below(x));
}

static bool has_numbers(const mw_tensor *value)
{
    return value != NULL && value->payload != NULL && value->payload->data != NULL;
}

bool mw__large_is_parametric(const mw__rewriting *pass, const mw__op *op)
{
    const mw_tensor *alpha = mw__op_operand(op, "alpha"), *beta = mw__op_operand(op, "beta"),
                    *x = mw__op_operand(op, "x");
    (void)pass;
    return has_numbers(alpha) && has_numbers(beta) && x != NULL && x->payload == NULL && mw_tensor_shape(x).rank > 1;
}

/* Numbers per channel beside x [N, C, ..]. */
static mw_tensor *channels(const mw_tensor *like, const float *numbers, mw_tensor *x)
{
    mw_shape shape = mw_tensor_shape(like);
    mw_tensor *vector = mw_constant(mw_tensor_graph(x), MW_F32, shape, numbers);
    if (mw_tensor_dtype(x) != MW_F32)
        vector = mw_cast(vector, mw_tensor_dtype(x));
    for (int i = 2; i < mw_tensor_shape(x).rank; i++)
        shape.dim[shape.rank++] = 1;
    return mw_reshape(vector, shape);
}

/* alpha softplus(b), b = beta x, as |beta| alpha relu(sign(beta) x) + alpha log(1 + e^-|b|): b itself may be infinite.
 */
mw_tensor *mw__large_parametric(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *alpha = mw__op_operand(op, "alpha"), *beta = mw__op_operand(op, "beta");
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(alpha));
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    float *numbers = mw__arena_alloc(&clone->to->arena, 4 * count, sizeof *numbers, &clone->to->error);
    if (numbers == NULL)
        return NULL;
    float *signs = numbers, *slopes = numbers + count, *rates = slopes + count, *factors = rates + count;
    for (size_t i = 0; i < count; i++) {
        const double a = mw__payload_float(alpha->payload, i), b = mw__payload_float(beta->payload, i);
        signs[i] = b < 0 ? -1.0f : 1.0f;
        slopes[i] = (float)(a * fabs(b));
        rates[i] = (float)-fabs(b);
        factors[i] = (float)a;
    }
    mw_tensor *rising = mw_relu(mw_mul(x, channels(alpha, signs, x)));
    mw_tensor *below = mw_softplus(mw_mul(mw_abs(x), channels(alpha, rates, x)));
    return mw_add(mw_mul(rising, channels(alpha, slopes, x)), mw_mul(below, channels(alpha, factors, x)));
}

/* ---- exponentials that are added ---- */

static const mw__op *made_by(const mw_tensor *value, const char *kind)
{
    const mw__op *op = value != NULL && value->payload == NULL ? value->op : NULL;
    return op != NULL && op->row != NULL && mw__op_is(op, kind) ? op : NULL;
}

/* The z of e^z that may be infinite; NULL if it is none. */
static const mw_tensor *exponent_of(const mw_tensor *value)
{
    const mw__op *op = made_by(value, "exp");
    const mw_tensor *z = op != NULL ? mw__op_operand(op, "x") : NULL;
    return may_exceed(z, EXP_END) ? z : NULL;
}

static bool is_number(const mw_tensor *value, double number)
{
    const mw__bound bound = value != NULL && value->payload != NULL ? mw__bound_of(value) : (mw__bound){0, -1};
    return bound.low == number && bound.high == number;
}

/* z of log(1 + e^z). */
static const mw_tensor *log1p_of(const mw__op *op)
{
    double epsilon = 0.0;
    const mw_tensor *x = mw__op_operand(op, "x");
    mw__arg_float(op, "epsilon", &epsilon);
    if (epsilon == 1.0)
        return exponent_of(x);
    const mw__op *sum = epsilon < LEAST / 2 ? made_by(x, "add") : NULL;
    if (sum == NULL)
        return NULL;
    const mw_tensor *a = mw__op_operand(sum, "x"), *b = mw__op_operand(sum, "y");
    return is_number(b, 1.0) ? exponent_of(a) : is_number(a, 1.0) ? exponent_of(b) : NULL;
}

bool mw__large_is_log1p(const mw__rewriting *pass, const mw__op *op)
{
    const mw_tensor *z = is_forward(op) ? log1p_of(op) : NULL;
    (void)pass;
    return z != NULL && mw_shape_equal(mw_tensor_shape(z), mw_tensor_shape(op->results[0]));
}

mw_tensor *mw__large_log1p(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *z = mw__clone_get(clone, log1p_of(op));
    return mw_add(mw_relu(z), softplus_below(z));
}

/* The sum of e^z, and z. */
static const mw__op *exponential_sum(const mw_tensor *value, const mw_tensor **out_z)
{
    const mw__op *sum = made_by(value, "reduce_sum");
    *out_z = sum != NULL ? exponent_of(mw__op_operand(sum, "x")) : NULL;
    return *out_z != NULL && mw_shape_count(mw_tensor_shape(*out_z)) > 0 ? sum : NULL;
}

static mw_axes axes_of(const mw__op *sum)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    mw_axes all = {0};
    mw__arg_ints(sum, "axes", axes, MW_RANK_MAX, &count); /* none: every axis */
    for (size_t i = 0; i < count; i++)
        all.axis[all.count++] = (int)axes[i];
    return all;
}

/* e^z / sum e^z, of which both are one operation. */
bool mw__large_is_share(const mw__rewriting *pass, const mw__op *op)
{
    const mw_tensor *z;
    bool keep = false;
    const mw__op *sum = is_forward(op) ? exponential_sum(mw__op_operand(op, "y"), &z) : NULL;
    (void)pass;
    return sum != NULL && mw__op_operand(sum, "x") == mw__op_operand(op, "x") &&
           mw__arg_bool(sum, "keep_dims", &keep) && keep;
}

mw_tensor *mw__large_share(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *from;
    const mw__op *sum = exponential_sum(mw__op_operand(op, "y"), &from);
    const mw_axes axes = axes_of(sum);
    (void)pass;
    mw_tensor *z = mw__clone_get(clone, from);
    mw_tensor *e = mw_exp(mw_sub(z, mw_reduce_max(z, axes, true)));
    return mw_real_div(e, mw_reduce_sum(e, axes, true));
}

bool mw__large_is_log_sum(const mw__rewriting *pass, const mw__op *op)
{
    const mw_tensor *z;
    double epsilon = 0.0;
    (void)pass;
    if (!is_forward(op))
        return false;
    if (mw__op_is(op, "reduce_log_sum"))
        return exponent_of(mw__op_operand(op, "x")) != NULL;
    mw__arg_float(op, "epsilon", &epsilon);
    return epsilon < LEAST / 2 && exponential_sum(mw__op_operand(op, "x"), &z) != NULL;
}

mw_tensor *mw__large_log_sum(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *from = NULL;
    bool keep = false;
    const mw__op *sum = mw__op_is(op, "log") ? exponential_sum(mw__op_operand(op, "x"), &from) : op;
    (void)pass;
    mw__arg_bool(sum, "keep_dims", &keep);
    from = sum == op ? exponent_of(mw__op_operand(op, "x")) : from;
    return mw_reduce_log_sum_exp(mw__clone_get(clone, from), axes_of(sum), keep);
}

/* ---- roots of sums of squares ---- */

/* A power of two near count^(1/4), by which the largest element is scaled above 1: the mean of squares is between
 * count^-1/2 and count^1/2, so that neither a single element nor all of them leave the range of fp16. */
static double headroom(const mw__root *root) { return exp2(floor(log2((double)root->count) / 4)); }

/* x / unit, with unit the largest |x| over the axes, but at least what `rest` and fp16 let show. */
typedef struct scaled_root {
    mw_tensor *x, *unit, *root; /* the root of gain mean((x / unit)^2) + rest / unit^2, or its reciprocal */
} scaled_root;

/* A difference may be infinite where its operands are not, as of an element and the mean of all: then the half of each
 * is taken. That rounds what is below 2^-14, which does not show beside such a `rest`. */
static bool takes_halves(const mw__root *root)
{
    return root->rest / root->gain >= 0x1p-17 && made_by(root->x, "sub") != NULL;
}

static mw_tensor *half_difference(mw__clone *clone, const mw__op *op)
{
    mw_tensor *x = mw__decompose_arg(clone, op, "x"), *y = mw__decompose_arg(clone, op, "y");
    return mw_sub(mw_mul_scalar(x, 0.5), mw_mul_scalar(y, 0.5));
}

static scaled_root scale_root(mw__clone *clone, const mw__root *root)
{
    const double share = takes_halves(root) ? 0.5 : 1.0;
    const double above = headroom(root), rest = share * sqrt(root->rest / root->gain);
    mw_tensor *x = share != 1.0 ? half_difference(clone, root->x->op) : mw__clone_get(clone, root->x);
    mw_tensor *largest = scaled(mw_reduce_max(mw_abs(x), root->axes, true), 1.0 / above);
    scaled_root s = {.unit = mw_maximum(largest, number_like(x, fmax(rest / above, LEAST)))};
    s.x = mw_real_div(x, s.unit);
    mw_tensor *mean = mw_reduce_mean(mw_square(s.x), root->axes, true);
    if (rest > 0)
        mean = mw_add(mean, mw_square(mw_real_div(number_like(x, rest), s.unit)));
    s.root = root->is_reciprocal ? mw_rsqrt(mean, 0.0f) : mw_sqrt(mean);
    return s;
}

/* By what the root of the scaled ones is multiplied to be that of x over the unit: the gain, and the halves. */
static double root_factor(const mw__root *root)
{
    const double factor = sqrt(root->gain) / (takes_halves(root) ? 0.5 : 1.0);
    return root->is_reciprocal ? 1.0 / factor : factor;
}

static size_t readers_of(const mw__op *by, const mw_tensor *value)
{
    size_t count = 0;
    for (size_t slot = 0; slot < by->slot_count; slot++)
        for (size_t k = 0; k < by->slots[slot].count; k++)
            count += by->slots[slot].operands[k].value == value;
    return count;
}

/* True if more than the root is made of the sum, as of the variance of a batch norm in training, which its running one
 * follows: where that is infinite it is seen, and a trainer refuses the step. */
static bool is_kept(const mw__op *sum)
{
    const mw_tensor *value = sum->results[0];
    size_t count = value->is_output;
    for (size_t i = 0; i < sum->block->op_count; i++)
        count += is_forward(sum->block->ops[i]) ? readers_of(sum->block->ops[i], value) : 0;
    return count > 1;
}

static bool is_large(const mw__root *root)
{
    const mw__bound bound = mw__bound_of(root->x);
    return (bound.low < -MW__SQUARE_END || bound.high > MW__SQUARE_END) && !is_kept(root->sum);
}

bool mw__large_is_root(const mw__rewriting *pass, const mw__op *op)
{
    mw__root root;
    (void)pass;
    return is_forward(op) && mw__squares_find_root(op, &root) && is_large(&root);
}

mw_tensor *mw__large_root(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__root root;
    (void)pass;
    mw__squares_find_root(op, &root);
    const scaled_root s = scale_root(clone, &root);
    mw_tensor *scaled_one = scaled(s.root, root_factor(&root));
    mw_tensor *y = root.is_reciprocal ? mw_real_div(scaled_one, s.unit) : mw_mul(scaled_one, s.unit);
    return mw__reshape_to(y, mw_tensor_shape(op->results[0]));
}

/* x times the reciprocal of such a root of its own, or over the root. */
static const mw__op *norm_of(const mw__op *op, mw__root *out)
{
    const mw_tensor *x = mw__op_operand(op, "x"), *y = mw__op_operand(op, "y");
    const bool divides = mw__op_is(op, "real_div");
    for (int i = 0; i < (divides ? 1 : 2); i++) {
        const mw_tensor *by = i == 0 ? y : x, *of = i == 0 ? x : y;
        const mw__op *made = by != NULL && by->payload == NULL ? by->op : NULL;
        if (made != NULL && mw__squares_find_root(made, out) && out->x == of && out->is_reciprocal != divides &&
            mw_shape_equal(mw_tensor_shape(by), out->kept))
            return made;
    }
    return NULL;
}

bool mw__large_is_norm(const mw__rewriting *pass, const mw__op *op)
{
    mw__root root;
    (void)pass;
    return is_forward(op) && norm_of(op, &root) != NULL && is_large(&root);
}

/* The parts that the row of the root wrote of it; false if it was left out. */
static bool find_parts(const mw_tensor *copy, bool is_reciprocal, scaled_root *out)
{
    const mw__op *op = made_by(copy, is_reciprocal ? "real_div" : "mul");
    const mw_tensor *value = op != NULL ? mw__op_operand(op, "x") : NULL;
    *out = (scaled_root){.unit = op != NULL ? (mw_tensor *)mw__op_operand(op, "y") : NULL};
    while (value != NULL && value->op != NULL && !mw__op_is(value->op, "square")) {
        if (made_by(value, is_reciprocal ? "rsqrt" : "sqrt") != NULL)
            out->root = (mw_tensor *)value;
        value = mw__op_operand(value->op, "x");
    }
    out->x = value != NULL && value->op != NULL ? (mw_tensor *)mw__op_operand(value->op, "x") : NULL;
    const mw__op *quotient = made_by(out->x, "real_div");
    return out->root != NULL && quotient != NULL && mw__op_operand(quotient, "y") == out->unit;
}

mw_tensor *mw__large_norm(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__root root;
    scaled_root s;
    (void)pass;
    const mw__op *made = norm_of(op, &root);
    if (!find_parts(mw__clone_get(clone, made->results[0]), root.is_reciprocal, &s))
        s = scale_root(clone, &root);
    const double factor = sqrt(root.gain); /* the unit is gone, and whether it was halved */
    return root.is_reciprocal ? mw_mul(s.x, scaled(s.root, 1.0 / factor)) : mw_real_div(s.x, scaled(s.root, factor));
}
