/* The curve of a group of element-wise operations: what it computes of numbers all over the range, in double precision,
 * beside what known functions do. So it does not matter how a model spells one: in which order, with which constants on
 * which side, as a power or a product, divided or multiplied. What differs from a function by more than constants that
 * are rounded to fp32 is none. */
#include "mil/join/join_parts.h"

#include <math.h>
#include <string.h>

/* ---- functions of one number ---- */

static double sigmoid_at(double x) { return 1.0 / (1.0 + exp(-x)); }
static double softplus_at(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }
static double clip_at(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
static double silu_at(double x) { return x * sigmoid_at(x); }
static double gelu_at(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752440); }
static double gelu_tanh_at(double x)
{
    return 0.5 * x * (1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}
static double gelu_sigmoid_at(double x) { return x * sigmoid_at(1.702 * x); }
static double hard_sigmoid_at(double x) { return clip_at(x / 6.0 + 0.5, 0.0, 1.0); }
static double hard_swish_at(double x) { return x * hard_sigmoid_at(x); }
static double mish_at(double x) { return x * tanh(softplus_at(x)); }

/* `least`: with fewer operations it is spelled as the engine has it. */
static const struct curve_row {
    double (*at)(double x);
    size_t least;
} curve_rows[MW__CURVES] = {
    [MW__CURVE_SIGMOID] = {sigmoid_at, 2},
    [MW__CURVE_SILU] = {silu_at, 2},
    [MW__CURVE_GELU] = {gelu_at, 2},
    [MW__CURVE_GELU_TANH] = {gelu_tanh_at, 2},
    [MW__CURVE_GELU_SIGMOID] = {gelu_sigmoid_at, 2},
    [MW__CURVE_SOFTPLUS] = {softplus_at, 2},
    [MW__CURVE_HARD_SIGMOID] = {hard_sigmoid_at, 2},
    [MW__CURVE_HARD_SWISH] = {hard_swish_at, 3},
    [MW__CURVE_MISH] = {mish_at, 4},
};

/* Where curves are compared, first where all of them differ; the range in which a piece of one might end is dense. */
static const double samples[] = {0.7, -0.7, 2.1,  -2.1,  3.3,  -3.3,  0.013, -0.013, 1.2, -1.2, 1.6, -1.6,
                                 2.6, -2.6, 2.95, -2.95, 4.2,  -4.2,  5.1,   -5.1,   5.9, -5.9, 6.4, -6.4,
                                 7.7, -7.7, 9.3,  -9.3,  12.5, -12.5, 17.,   -17.,   23., -23., 37., -37.,
                                 61., -61., 300., -300., 5e3,  -5e3,  7e4,   -7e4,   3e7, -3e7};

enum { SAMPLES = sizeof samples / sizeof *samples };

/* ---- operations ---- */

typedef double evaluator(const mw__op *op, double x, double y);

static double number_of(const mw__op *op, const char *name)
{
    double number = NAN;
    mw__arg_float(op, name, &number);
    return number;
}

#define EVALUATES(name, expression)                                                                                    \
    static double name(const mw__op *op, double x, double y)                                                           \
    {                                                                                                                  \
        (void)op, (void)x, (void)y;                                                                                    \
        return expression;                                                                                             \
    }
EVALUATES(eval_add, x + y)
EVALUATES(eval_sub, x - y)
EVALUATES(eval_mul, x *y)
EVALUATES(eval_div, x / y)
EVALUATES(eval_pow, pow(x, y))
EVALUATES(eval_maximum, x > y ? x : y)
EVALUATES(eval_minimum, x < y ? x : y)
EVALUATES(eval_exp, exp(x))
EVALUATES(eval_exp2, exp2(x))
EVALUATES(eval_log, log(x + number_of(op, "epsilon")))
EVALUATES(eval_sqrt, sqrt(x))
EVALUATES(eval_rsqrt, 1.0 / sqrt(x + number_of(op, "epsilon")))
EVALUATES(eval_inverse, 1.0 / (x + number_of(op, "epsilon")))
EVALUATES(eval_square, x *x)
EVALUATES(eval_tanh, tanh(x))
EVALUATES(eval_erf, erf(x))
EVALUATES(eval_abs, fabs(x))
EVALUATES(eval_identity, x)
EVALUATES(eval_sigmoid, sigmoid_at(x))
EVALUATES(eval_silu, silu_at(x))
EVALUATES(eval_softplus, softplus_at(x))
EVALUATES(eval_relu, x > 0 ? x : 0)
EVALUATES(eval_relu6, clip_at(x, 0.0, 6.0))
EVALUATES(eval_clip, clip_at(x, number_of(op, "alpha"), number_of(op, "beta")))
EVALUATES(eval_hard, clip_at(x *number_of(op, "alpha") + number_of(op, "beta"), 0.0, 1.0))
EVALUATES(eval_linear, x *number_of(op, "alpha") + number_of(op, "beta"))
EVALUATES(eval_scaled_tanh, number_of(op, "alpha") * tanh(x * number_of(op, "beta")))

/* `tells`: a function that is more than sums and products; a group has one. */
static const struct operation_row {
    const char *kind;
    evaluator *evaluate;
    bool pair, tells;
} operation_rows[] = {
    {"add", eval_add, true, false},
    {"mul", eval_mul, true, false},
    {"sub", eval_sub, true, false},
    {"real_div", eval_div, true, false},
    {"pow", eval_pow, true, false},
    {"square", eval_square, false, false},
    {"sqrt", eval_sqrt, false, false},
    {"rsqrt", eval_rsqrt, false, false},
    {"abs", eval_abs, false, false},
    {"identity", eval_identity, false, false},
    {"inverse", eval_inverse, false, false},
    {"linear_activation", eval_linear, false, false},
    {"maximum", eval_maximum, true, true},
    {"minimum", eval_minimum, true, true},
    {"exp", eval_exp, false, true},
    {"exp2", eval_exp2, false, true},
    {"log", eval_log, false, true},
    {"tanh", eval_tanh, false, true},
    {"erf", eval_erf, false, true},
    {"sigmoid", eval_sigmoid, false, true},
    {"silu", eval_silu, false, true},
    {"softplus", eval_softplus, false, true},
    {"relu", eval_relu, false, true},
    {"relu6", eval_relu6, false, true},
    {"clip", eval_clip, false, true},
    {"sigmoid_hard", eval_hard, false, true},
    {"scaled_tanh", eval_scaled_tanh, false, true},
};

static const struct operation_row *find_operation(mw__joining *joining, const mw__op *op)
{
    int8_t *known = &joining->operation[op->row->id];
    for (size_t i = 0; *known == 0 && i < sizeof operation_rows / sizeof *operation_rows; i++)
        if (mw__op_is(op, operation_rows[i].kind))
            *known = (int8_t)(i + 1);
    *known = *known == 0 ? -1 : *known;
    return *known > 0 ? &operation_rows[*known - 1] : NULL;
}

/* ---- the neighborhood ---- */

/* The root and element-wise operations of its shape before it, nearest first. */
typedef struct neighborhood {
    mw__joining *joining;
    const mw__op *ops[MW__JOIN_MOST];
    size_t count;
    bool tells;
} neighborhood;

static bool is_near(const neighborhood *n, const mw__op *op)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->ops[i] == op)
            return true;
    return false;
}

static bool is_told(const mw__joining *joining, const mw__op *op, const char *operand)
{
    const mw_tensor *value = mw__op_operand(op, operand);
    return value != NULL && joining->facts[value->id].tells && mw__join_same_shape(value, op->results[0]);
}

void mw__join_note_curve(mw__joining *joining, const mw__op *op)
{
    const struct operation_row *row = find_operation(joining, op);
    if (row != NULL)
        joining->facts[op->results[0]->id].tells = row->tells || is_told(joining, op, "x") || is_told(joining, op, "y");
}

static void add_near(neighborhood *n, const mw__op *op)
{
    const struct operation_row *row = op != NULL ? find_operation(n->joining, op) : NULL;
    if (row == NULL || n->count == MW__JOIN_MOST || is_near(n, op) ||
        (n->count > 0 && !mw__join_same_shape(op->results[0], n->ops[0]->results[0])))
        return;
    n->tells = n->tells || row->tells;
    n->ops[n->count++] = op;
}

static void look_around(neighborhood *n, mw__joining *joining, const mw__op *root)
{
    *n = (neighborhood){.joining = joining};
    add_near(n, root);
    for (size_t i = 0; i < n->count; i++) {
        add_near(n, mw__join_maker(mw__op_operand(n->ops[i], "x")));
        add_near(n, mw__join_maker(mw__op_operand(n->ops[i], "y")));
    }
}

/* ---- evaluating ---- */

/* A group as a function of x: the operands of each operation are results of earlier ones, x, or numbers. */
typedef struct curve_code {
    struct {
        const mw__op *op;
        evaluator *evaluate;
        int from[2]; /* an earlier operation; -1: x; -2: the number */
        double number[2];
    } at[MW__JOIN_MOST];
    size_t count;
} curve_code;

static bool write_operand(curve_code *code, const mw__join_group *group, const mw_tensor *x, const mw_tensor *value,
                          int which)
{
    const size_t at = code->count;
    code->at[at].from[which] = -2;
    if (value == x)
        code->at[at].from[which] = -1;
    else if (value->payload != NULL)
        return mw__join_number(value, &code->at[at].number[which]);
    for (size_t i = 0; i < at; i++)
        if (group->ops[i]->results[0] == value)
            code->at[at].from[which] = (int)i;
    return value == x || value->payload != NULL || code->at[at].from[which] >= 0;
}

static bool write_code(curve_code *code, mw__joining *joining, const mw_tensor *x)
{
    const mw__join_group *group = &joining->group;
    for (code->count = 0; code->count < group->count; code->count++) {
        const mw__op *op = group->ops[code->count];
        const struct operation_row *row = find_operation(joining, op);
        if (row == NULL || !mw__join_same_shape(op->results[0], x))
            return false;
        code->at[code->count].op = op;
        code->at[code->count].evaluate = row->evaluate;
        code->at[code->count].from[1] = -1;
        if (!write_operand(code, group, x, mw__op_operand(op, "x"), 0) ||
            (row->pair && !write_operand(code, group, x, mw__op_operand(op, "y"), 1)))
            return false;
    }
    return true;
}

static double run_code(const curve_code *code, double x)
{
    double results[MW__JOIN_MOST];
    for (size_t i = 0; i < code->count; i++) {
        double operands[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            const int from = code->at[i].from[k];
            operands[k] = from >= 0 ? results[from] : from == -1 ? x : code->at[i].number[k];
        }
        results[i] = code->at[i].evaluate(code->at[i].op, operands[0], operands[1]);
    }
    return results[code->count - 1];
}

/* As constants that are rounded to fp32 move them. */
static bool is_like(double made, double known, double x) { return fabs(made - known) <= 5e-7 * (0.5 + fabs(x)); }

/* Where the model's own form overflows it says nothing. */
static bool is_curve(const curve_code *code, double (*at)(double x))
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const double made = run_code(code, samples[i]);
        const bool silent = fabs(samples[i]) > 20.0 && !isfinite(made);
        if (!silent && !is_like(made, at(samples[i]), samples[i])) /* false for NaN */
            return false;
    }
    return true;
}

/* On both sides of a number. */
static bool is_like_beyond(const curve_code *code, double (*at)(double x), double number)
{
    if (!(fabs(number) > 4.0) || fabs(number) > 1e30)
        return true;
    for (int side = -1; side <= 1; side += 2) {
        const double x = 1.5 * side * number, made = run_code(code, x);
        if (isfinite(made) && !is_like(made, at(x), x))
            return false;
    }
    return true;
}

/* A piece may end where a constant says, which the samples need not reach. */
static bool has_no_far_piece(const curve_code *code, double (*at)(double x))
{
    for (size_t i = 0; i < code->count; i++) {
        const mw__op *op = code->at[i].op;
        for (int k = 0; k < 2; k++)
            if (code->at[i].from[k] == -2 && !is_like_beyond(code, at, code->at[i].number[k]))
                return false;
        if (mw__op_is(op, "clip") &&
            !(is_like_beyond(code, at, number_of(op, "alpha")) && is_like_beyond(code, at, number_of(op, "beta"))))
            return false;
    }
    return true;
}

static mw__curve_name find_curve(const curve_code *code)
{
    const double made = run_code(code, samples[0]);
    for (int i = MW__CURVE_NONE + 1; i < MW__CURVES; i++)
        if (code->count >= curve_rows[i].least && is_like(made, curve_rows[i].at(samples[0]), samples[0]) &&
            is_curve(code, curve_rows[i].at) && has_no_far_piece(code, curve_rows[i].at))
            return (mw__curve_name)i;
    return MW__CURVE_NONE;
}

/* The group from x to the root, whatever else reads of it is asked afterwards. */
static mw__curve_name curve_from(mw__joining *joining, const mw__op *root, const mw_tensor *x)
{
    curve_code code;
    if (!mw__join_same_shape(x, root->results[0]) || mw_tensor_dtype(x) != MW_F32 ||
        !mw__join_collect(joining, root, &x, 1) || joining->group.count < 2 || !write_code(&code, joining, x))
        return MW__CURVE_NONE;
    return find_curve(&code);
}

/* Each value near the root may be where a curve begins, the operands of the nearest operations first. */
static mw__join_curve search_curve(mw__joining *joining, const mw__op *root)
{
    neighborhood near;
    look_around(&near, joining, root);
    for (size_t i = 0; near.tells && i < near.count; i++)
        for (int k = 0; k < 2; k++) {
            const mw_tensor *x = mw__op_operand(near.ops[i], k == 0 ? "x" : "y");
            const mw__curve_name curve = x != NULL && x->payload == NULL && x->type->kind == MW__TENSOR
                                             ? curve_from(joining, root, x)
                                             : MW__CURVE_NONE;
            if (curve != MW__CURVE_NONE)
                return (mw__join_curve){.curve = curve, .x = x};
        }
    return (mw__join_curve){.curve = MW__CURVE_NONE};
}

bool mw__join_number_of(mw__joining *joining, const mw__op *op, double *out)
{
    const struct operation_row *row = find_operation(joining, op);
    double operands[2] = {0, 0};
    if (row == NULL || mw_shape_count(mw_tensor_shape(op->results[0])) != 1)
        return false;
    for (int i = 0; i < (row->pair ? 2 : 1); i++)
        if (!mw__join_number(mw__op_operand(op, i == 0 ? "x" : "y"), &operands[i]))
            return false;
    *out = row->evaluate(op, operands[0], operands[1]);
    return isnormal((float)*out) != 0; /* how smaller ones are taken is the program's affair */
}

mw__join_curve mw__join_curve_of(const mw__rewriting *pass, const mw__op *op)
{
    mw__joining *joining = pass->joining;
    if (!joining->facts[op->results[0]->id].tells)
        return (mw__join_curve){.curve = MW__CURVE_NONE};
    if (joining->asked != op) {
        joining->curve = search_curve(joining, op);
        joining->asked = op;
    }
    return joining->curve;
}
