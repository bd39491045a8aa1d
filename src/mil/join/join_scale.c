/* Scales and shifts by constants, of channels or of all elements, into the weights of the convolution or product whose
 * result they change, or that reads what they make. A batch norm is one. Sums and quotients are taken in double
 * precision and rounded once, so that a weight moves by half a unit in its last place. */
#include "graph/ir/op_build.h"
#include "mil/join/join_parts.h"
#include "mil/legalize/rewrites.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

/* y = scale v + shift, of numbers along `axes` axes of y from `first` on. */
typedef struct affine {
    int first, axes;
    int64_t count;
    double *scale, *shift;
    const mw_tensor *of; /* v */
    const mw__joining *joining;
} affine;

static bool begin_affine(mw__joining *joining, const mw_tensor *y, int first, int axes, affine *out)
{
    mw_error ignored = {0};
    const mw_shape shape = mw_tensor_shape(y);
    if (first < 0 || axes < 1 || first + axes > shape.rank)
        return false;
    *out = (affine){
        .first = first, .axes = axes, .count = mw__shape_span(shape, first, first + axes), .of = y, .joining = joining};
    double *numbers = mw__arena_alloc(joining->arena, 2 * (size_t)out->count, sizeof *numbers, &ignored);
    if (numbers == NULL)
        return false;
    out->scale = numbers, out->shift = numbers + out->count;
    for (int64_t i = 0; i < out->count; i++)
        out->scale[i] = 1.0;
    return true;
}

/* ---- what is added, and by what is multiplied ---- */

/* True if the constant has a number for each of the affine's, or one for all, beside a tensor of that shape. */
static bool lies_along(const affine *a, mw_shape shape, const mw_tensor *constant)
{
    if (!mw__join_is_constant(a->joining, constant))
        return false;
    const mw_shape own = mw_tensor_shape(constant);
    if (own.rank > shape.rank)
        return false;
    if (mw_shape_count(own) == 1)
        return true;
    for (int i = 0; i < own.rank; i++) {
        const int axis = shape.rank - own.rank + i;
        const bool inside = axis >= a->first && axis < a->first + a->axes;
        if (own.dim[i] != (inside ? shape.dim[axis] : 1))
            return false;
    }
    return mw_shape_count(own) == a->count;
}

typedef enum step_kind { STEP_MUL, STEP_DIV, STEP_ADD, STEP_SUB, STEP_SUB_FROM } step_kind;

static void take_step(affine *a, const mw_tensor *constant, step_kind kind)
{
    for (int64_t i = 0; i < a->count; i++) {
        const double c = mw__join_constant_at(constant, i);
        switch (kind) {
        case STEP_MUL:
            a->scale[i] *= c;
            break;
        case STEP_DIV:
            a->scale[i] /= c;
            break;
        case STEP_ADD:
            a->shift[i] += a->scale[i] * c;
            break;
        case STEP_SUB:
            a->shift[i] -= a->scale[i] * c;
            break;
        case STEP_SUB_FROM:
            a->shift[i] += a->scale[i] * c;
            a->scale[i] = -a->scale[i];
            break;
        }
    }
}

static bool take_pair(affine *a, const mw__op *op, mw_shape shape)
{
    const bool adds = mw__op_is(op, "add"), subtracts = mw__op_is(op, "sub"), divides = mw__op_is(op, "real_div");
    const mw_tensor *x = mw__op_operand(op, "x"), *y = mw__op_operand(op, "y");
    const bool second = lies_along(a, shape, y);
    const mw_tensor *constant = second ? y : x, *of = second ? x : y;
    if (mw__join_is_constant(a->joining, of) || !mw__join_same_shape(of, op->results[0]) ||
        (!second && !lies_along(a, shape, constant)) || (divides && !second))
        return false;
    take_step(a, constant,
              adds        ? STEP_ADD
              : subtracts ? (second ? STEP_SUB : STEP_SUB_FROM)
              : divides   ? STEP_DIV
                          : STEP_MUL);
    a->of = of;
    return true;
}

static bool is_vector(const mw_tensor *value, int64_t count)
{
    return mw__join_is_weight(value) && mw_shape_count(mw_tensor_shape(value)) == count;
}

static bool take_batch_norm(affine *a, const mw__op *op)
{
    const mw_tensor *mean = mw__op_operand(op, "mean"), *variance = mw__op_operand(op, "variance"),
                    *gamma = mw__op_operand(op, "gamma"), *beta = mw__op_operand(op, "beta"),
                    *x = mw__op_operand(op, "x");
    double epsilon = 0.0;
    if (a->first != 1 || a->axes != 1 || !is_vector(mean, a->count) || !is_vector(variance, a->count) ||
        (gamma != NULL && !is_vector(gamma, a->count)) || (beta != NULL && !is_vector(beta, a->count)) ||
        !mw__arg_float(op, "epsilon", &epsilon) || mw__join_is_constant(a->joining, x))
        return false;
    for (int64_t i = 0; i < a->count; i++) {
        const double scale =
            (gamma != NULL ? mw__join_constant_at(gamma, i) : 1.0) / sqrt(mw__join_constant_at(variance, i) + epsilon);
        const double shift =
            (beta != NULL ? mw__join_constant_at(beta, i) : 0.0) - scale * mw__join_constant_at(mean, i);
        a->shift[i] += a->scale[i] * shift;
        a->scale[i] *= scale;
    }
    a->of = x;
    return true;
}

/* One operation further back. */
static bool take_op(affine *a)
{
    const mw__op *op = mw__join_maker(a->of);
    if (op == NULL)
        return false;
    if (mw__op_is(op, "batch_norm"))
        return take_batch_norm(a, op);
    const bool pair = mw__op_is(op, "mul") || mw__op_is(op, "add") || mw__op_is(op, "sub") || mw__op_is(op, "real_div");
    return pair && take_pair(a, op, mw_tensor_shape(a->of));
}

/* The operation before those that scale and shift by constants, the first of which is `op`; `op` itself if it is none.
 */
static const mw__op *scaled_by(const mw__joining *joining, const mw__op *op)
{
    for (int i = 0; op != NULL && i < MW__JOIN_MOST; i++) {
        const mw_tensor *x = mw__op_operand(op, "x"), *y = mw__op_operand(op, "y");
        const bool pair =
            mw__op_is(op, "mul") || mw__op_is(op, "add") || mw__op_is(op, "sub") || mw__op_is(op, "real_div");
        const bool first = pair && mw__join_is_constant(joining, x);
        if (pair ? first == mw__join_is_constant(joining, y) : !mw__op_is(op, "batch_norm"))
            return op;
        op = mw__join_maker(first ? y : x);
    }
    return NULL;
}

static bool shifts(const affine *a)
{
    for (int64_t i = 0; i < a->count; i++)
        if (a->shift[i] != 0.0)
            return true;
    return false;
}

static bool scales(const affine *a)
{
    for (int64_t i = 0; i < a->count; i++)
        if (a->scale[i] != 1.0)
            return true;
    return false;
}

/* ---- products ---- */

/* weight[o][..]: how its elements belong to channels of the result and of x. */
typedef struct product {
    const mw__op *op;
    const mw_tensor *weight, *bias; /* bias: or NULL */
    int64_t groups, outputs, inputs, taps;
    bool inputs_first; /* of conv_transpose: [inputs, outputs / groups, taps] */
    bool lines;        /* of linear: channels are the last axis */
} product;

static bool read_product(const mw__op *op, product *out)
{
    *out = (product){.op = op, .groups = 1, .taps = 1};
    if (op == NULL || !(mw__op_is(op, "conv") || mw__op_is(op, "conv_transpose") || mw__op_is(op, "linear")))
        return false;
    out->weight = mw__op_operand(op, "weight"), out->bias = mw__op_operand(op, "bias");
    out->lines = mw__op_is(op, "linear"), out->inputs_first = mw__op_is(op, "conv_transpose");
    if (!mw__join_is_weight(out->weight) || out->weight->payload->splat ||
        (out->bias != NULL && !mw__join_is_weight(out->bias)) || mw_tensor_dtype(mw__op_operand(op, "x")) != MW_F32)
        return false;
    if (!out->lines)
        mw__arg_int(op, "groups", &out->groups);
    const mw_shape shape = mw_tensor_shape(out->weight);
    out->taps = mw__shape_span(shape, 2, shape.rank);
    out->inputs = shape.dim[out->inputs_first ? 0 : 1] * (out->inputs_first ? 1 : out->groups);
    out->outputs = shape.dim[out->inputs_first ? 1 : 0] * (out->inputs_first ? out->groups : 1);
    return mw_shape_count(shape) > 0;
}

/* The channels that a row of the weight joins, of `taps` elements. */
static void channels_of(const product *p, int64_t row, int64_t *out_output, int64_t *out_input)
{
    const int64_t inputs = p->inputs / p->groups, outputs = p->outputs / p->groups;
    if (p->inputs_first) {
        *out_input = row / outputs;
        *out_output = *out_input / inputs * outputs + row % outputs;
    } else {
        *out_output = row / inputs;
        *out_input = *out_output / outputs * inputs + row % inputs;
    }
}

static int channel_axis(const product *p, const mw_tensor *value)
{
    return p->lines ? mw_tensor_shape(value).rank - 1 : 1;
}

/* ---- the new weights ---- */

typedef struct absorbed {
    float *weight; /* NULL: as it is */
    float *bias;   /* [outputs] */
} absorbed;

static bool are_finite(const float *numbers, int64_t count)
{
    bool finite = true;
    for (int64_t i = 0; i < count; i++)
        finite &= isfinite(numbers[i]) != 0;
    return finite;
}

static double bias_at(const product *p, int64_t output)
{
    return p->bias != NULL ? mw__join_constant_at(p->bias, output) : 0.0;
}

static int64_t weights_of(const product *p) { return (int64_t)mw__payload_count(p->weight->payload); }

/* Each row of the weight times the scale of its input or output, and what the rows add to the bias of each output. */
static void scale_rows(const product *p, const affine *a, bool by_input, float *out, double *sums)
{
    const float *weight = p->weight->payload->data;
    for (int64_t row = 0; row < weights_of(p) / p->taps; row++) {
        int64_t output, input;
        channels_of(p, row, &output, &input);
        const double scale = a->scale[by_input ? input : output], shift = by_input ? a->shift[input] : 0.0;
        double sum = 0.0;
        for (int64_t i = row * p->taps; i < (row + 1) * p->taps; i++) {
            out[i] = (float)(scale * (double)weight[i]);
            sum += (double)weight[i];
        }
        sums[output] += shift * sum;
    }
}

/* scale (w x + bias) + shift, or w (scale x + shift) + bias. False: a number would be infinite. */
static bool absorb_affine(mw__joining *joining, const product *p, const affine *a, bool by_input, absorbed *out)
{
    mw_error ignored = {0};
    const bool changes = scales(a) || by_input;
    double *sums = mw__arena_alloc(joining->arena, (size_t)p->outputs, sizeof *sums, &ignored);
    *out = (absorbed){.bias = mw__arena_alloc(joining->arena, (size_t)p->outputs, sizeof(float), &ignored)};
    if (changes)
        out->weight = mw__arena_alloc(joining->arena, (size_t)weights_of(p), sizeof(float), &ignored);
    if (sums == NULL || out->bias == NULL || (changes && out->weight == NULL))
        return false;
    if (changes)
        scale_rows(p, a, by_input, out->weight, sums);
    for (int64_t o = 0; o < p->outputs; o++)
        out->bias[o] = (float)(by_input ? bias_at(p, o) + sums[o] : a->scale[o] * bias_at(p, o) + a->shift[o]);
    return are_finite(out->bias, p->outputs) && (!changes || are_finite(out->weight, weights_of(p)));
}

/* Whether that is sure, without it: the largest number of all is far from the end. */
static bool is_safe(const product *p, const affine *a)
{
    double scale = 0.0, shift = 0.0;
    float most = 0.0f;
    const float *weight = p->weight->payload->data;
    for (int64_t i = 0; i < a->count; i++) {
        if (!isfinite(a->scale[i]) || !isfinite(a->shift[i]))
            return false;
        scale = fmax(scale, fabs(a->scale[i])), shift = fmax(shift, fabs(a->shift[i]));
    }
    for (int64_t i = 0; i < weights_of(p); i++)
        most = !(fabsf(weight[i]) <= most) ? fabsf(weight[i]) : most;
    for (int64_t o = 0; o < p->outputs; o++)
        shift = fmax(shift, fabs(bias_at(p, o)));
    return (double)most < 1e15 && scale < 1e9 && shift < 1e9;
}

/* ---- finding ---- */

/* The product whose result the operation scales or shifts, with others between them. */
static bool find_behind(const mw__rewriting *pass, const mw__op *op, product *p, affine *a)
{
    const mw__op *scaled = scaled_by(pass->joining, op);
    const mw_tensor *y = op->results[0];
    if (scaled == op || !read_product(scaled, p) || !begin_affine(pass->joining, y, channel_axis(p, y), 1, a) ||
        a->count != p->outputs)
        return false;
    while (a->of != scaled->results[0] && take_op(a))
        continue;
    const mw_tensor *x = mw__op_operand(scaled, "x");
    return a->of == scaled->results[0] && mw__join_collect(pass->joining, op, &x, 1);
}

bool mw__join_scales_product(const mw__rewriting *pass, const mw__op *op)
{
    product p;
    affine a;
    return find_behind(pass, op, &p, &a) && is_safe(&p, &a);
}

/* Zeros at the border are no results of what stands before. */
static bool has_border(const mw__op *op)
{
    mw_tensor *pad = mw__op_operand(op, "pad");
    const char *type = mw__op_is(op, "linear") ? "valid" : mw__arg_string(op, "pad_type");
    if (type == NULL || strcmp(type, "valid") == 0)
        return type == NULL;
    if (strcmp(type, "custom") != 0 || pad == NULL || pad->payload == NULL)
        return true;
    for (size_t i = 0; i < mw__payload_count(pad->payload); i++)
        if (mw__payload_int(pad->payload, i) != 0)
            return true;
    return false;
}

static bool find_before(const mw__rewriting *pass, const mw__op *op, product *p, affine *a)
{
    const mw_tensor *x = mw__op_operand(op, "x");
    const mw__op *maker = mw__join_maker(x);
    if (maker == NULL || scaled_by(pass->joining, maker) == maker || !read_product(op, p) || p->inputs_first ||
        !begin_affine(pass->joining, x, channel_axis(p, x), 1, a) || a->count != p->inputs)
        return false;
    while (take_op(a))
        continue;
    return a->of != x && !(shifts(a) && has_border(op)) && mw__join_collect(pass->joining, op, &a->of, 1);
}

bool mw__join_is_scaled_product(const mw__rewriting *pass, const mw__op *op)
{
    product p;
    affine a;
    return find_before(pass, op, &p, &a) && is_safe(&p, &a);
}

/* ---- writing ---- */

/* A copy of the product of x with other weights. */
static mw_tensor *write_product(mw__clone *clone, const product *p, const absorbed *made, const mw_tensor *x)
{
    mw_graph *to = clone->to;
    const mw__join_argument arguments[] = {
        {.name = "x", .value = mw__clone_get(clone, x)},
        {.name = "weight",
         .value = made->weight != NULL ? mw_constant(to, MW_F32, mw_tensor_shape(p->weight), made->weight)
                                       : mw__clone_operand(clone, p->weight, MW_F32)},
        {.name = "bias", .value = mw_constant(to, MW_F32, MW_SHAPE(p->outputs), made->bias)},
    };
    return mw__join_copy(clone, p->op, arguments, sizeof arguments / sizeof *arguments);
}

mw_tensor *mw__join_scale_product(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    product p;
    affine a;
    absorbed made;
    if (!find_behind(pass, op, &p, &a) || !absorb_affine(pass->joining, &p, &a, false, &made))
        return mw__graph_fail(clone->to, MW_ERROR_MEMORY, "no memory for the weights of a scaled product");
    return write_product(clone, &p, &made, mw__op_operand(p.op, "x"));
}

mw_tensor *mw__join_product_of_scaled(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    product p;
    affine a;
    absorbed made;
    if (!find_before(pass, op, &p, &a) || !absorb_affine(pass->joining, &p, &a, true, &made))
        return mw__graph_fail(clone->to, MW_ERROR_MEMORY, "no memory for the weights of a scaled product");
    return write_product(clone, &p, &made, a.of);
}

/* ---- layer norm ---- */

/* The axes that it normalizes, which are the last ones; false if they are not. */
static bool last_axes(const mw__op *op, int *out_first)
{
    bool marks[MW_RANK_MAX];
    const int rank = mw_tensor_shape(op->results[0]).rank;
    mw__join_axes(op, rank, marks);
    for (*out_first = rank; *out_first > 0 && marks[*out_first - 1];)
        --*out_first;
    for (int i = 0; i < *out_first; i++)
        if (marks[i])
            return false;
    return *out_first < rank;
}

static bool find_norm_weights(const mw__rewriting *pass, const mw__op *op, const mw__op **out_norm, affine *a)
{
    int first;
    const mw_tensor *y = op->results[0];
    const mw__op *norm = *out_norm = scaled_by(pass->joining, op);
    if (norm == NULL || norm == op || !mw__op_is(norm, "layer_norm") || !last_axes(norm, &first) ||
        !begin_affine(pass->joining, y, first, mw_tensor_shape(y).rank - first, a))
        return false;
    while (a->of != norm->results[0] && take_op(a))
        continue;
    const mw_tensor *gamma = mw__op_operand(norm, "gamma"), *beta = mw__op_operand(norm, "beta"),
                    *x = mw__op_operand(norm, "x");
    return a->of == norm->results[0] && (gamma == NULL || is_vector(gamma, a->count)) &&
           (beta == NULL || is_vector(beta, a->count)) && mw_tensor_dtype(x) == MW_F32 &&
           mw__join_collect(pass->joining, op, &x, 1);
}

bool mw__join_scales_norm(const mw__rewriting *pass, const mw__op *op)
{
    const mw__op *norm;
    affine a;
    return find_norm_weights(pass, op, &norm, &a);
}

mw_tensor *mw__join_scale_norm(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const mw__op *norm = NULL;
    affine a;
    mw_error *err = &clone->to->error;
    float *numbers = find_norm_weights(pass, op, &norm, &a)
                         ? mw__arena_alloc(pass->joining->arena, 2 * (size_t)a.count, sizeof *numbers, err)
                         : NULL;
    if (numbers == NULL)
        return mw__graph_fail(clone->to, MW_ERROR_MEMORY, "no memory for the weights of a layer_norm");
    const mw_tensor *gamma = mw__op_operand(norm, "gamma"), *beta = mw__op_operand(norm, "beta");
    for (int64_t i = 0; i < a.count; i++) {
        numbers[i] = (float)(a.scale[i] * (gamma != NULL ? mw__join_constant_at(gamma, i) : 1.0));
        numbers[a.count + i] = (float)(a.scale[i] * (beta != NULL ? mw__join_constant_at(beta, i) : 0.0) + a.shift[i]);
    }
    mw_shape shape = mw_tensor_shape(op->results[0]);
    memmove(shape.dim, shape.dim + a.first, (size_t)a.axes * sizeof *shape.dim);
    shape.rank = a.axes;
    const mw__join_argument arguments[] = {
        {.name = "gamma", .value = mw_constant(clone->to, MW_F32, shape, numbers)},
        {.name = "beta", .value = mw_constant(clone->to, MW_F32, shape, numbers + a.count)},
    };
    return mw__join_copy(clone, norm, arguments, 2);
}
