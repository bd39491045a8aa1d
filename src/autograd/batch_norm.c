/* Batch norm as a layer: statistics of the batch in training, running ones in evaluation. The MIL operation with given
 * statistics is in graph/ops/network/op_normalize.c. A composite with its own gradient, which is shorter than that of
 * its operations, and of which nothing is as large as x but what the pass that makes dx reads. */
#include "autograd/vjp/rules.h"
#include "base/number/float_mode.h"
#include "graph/ir/layer.h"
#include "graph/ir/op_build.h"
#include "graph/patterns/normalize.h"

static const bool channel_axis[MW_RANK_MAX] = {false, true};

typedef struct batch_norm {
    mw_tensor *x, *weight, *bias, *running_mean, *running_var;
    mw_axes axes; /* all but the channels */
    double count; /* elements per channel */
    double momentum;
    float epsilon;
    mw_tensor *mean, *r; /* of the batch */
} batch_norm;

/* ---- the gradient ---- */

/* Inputs of the record. The gradient goes to the first three; the mean and r are what the forward pass has of x. */
enum { INPUT_X, INPUT_WEIGHT, INPUT_BIAS, INPUT_MEAN, INPUT_R, INPUT_COUNT };

/* Mean of `terms` over all axes but the channels. In fp16 it is there where the sum overflows. */
static mw_tensor *mean_of(mw_tensor *terms, mw_axes axes, mw_tensor *sum, double count)
{
    const bool half = mw_tensor_dtype(terms) == MW_F16 || mw_tensor_graph(terms)->lowering == MW__LOWERING_DECOMPOSED;
    return half ? mw_reduce_mean(terms, axes, true) : mw_mul_scalar(sum, 1.0 / count);
}

static void set_vector(mw__vjp *vjp, size_t input, mw_tensor *sum)
{
    mw_tensor *vector = mw__vjp_input(vjp, input);
    sum = mw__reshape_to(sum, mw_tensor_shape(vector));
    mw__vjp_set_input(vjp, input,
                      mw_tensor_dtype(sum) == mw_tensor_dtype(vector) ? sum : mw_cast(sum, mw_tensor_dtype(vector)));
}

/* y = n w + b with n = (x - mean(x)) r, r = (var(x) + epsilon)^-1/2:
 * dw = sum of dy n, db = sum of dy, dx = w r (dy - mean(dy) - n mean(dy n)) */
static void vjp_batch_norm(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_input(vjp, INPUT_X), *r = mw__vjp_input(vjp, INPUT_R), *dy = vjp->dy[0];
    mw_tensor *n = mw_mul(mw_sub(x, mw__vjp_input(vjp, INPUT_MEAN)), r), *along = mw_mul(dy, n);
    const mw_shape shape = mw_tensor_shape(x);
    bool others[MW_RANK_MAX];
    for (int i = 0; i < shape.rank; i++)
        others[i] = i != 1;
    const mw_axes axes = mw__marked_axes(shape, others);
    const double count = (double)(mw_shape_count(shape) / shape.dim[1]);
    mw_tensor *dbias = mw_reduce_sum(dy, axes, true), *dweight = mw_reduce_sum(along, axes, true);
    set_vector(vjp, INPUT_BIAS, dbias);
    set_vector(vjp, INPUT_WEIGHT, dweight);
    if (!mw__vjp_wants_input(vjp, INPUT_X))
        return;
    mw_tensor *level = mean_of(dy, axes, dbias, count), *slope = mean_of(along, axes, dweight, count);
    mw_tensor *flat = mw_sub(dy, level), *rest = mw_sub(flat, mw_mul(n, slope));
    mw_tensor *scale = mw_mul(mw__along_axes(mw__vjp_input(vjp, INPUT_WEIGHT), x, channel_axis), r);
    mw__vjp_set_input(vjp, INPUT_X, mw_mul(rest, scale));
}

/* ---- the layer ---- */

static bool check_batch_norm(mw_tensor *x, float momentum, float epsilon, const char *name)
{
    char text[200];
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t count = mw_shape_count(shape);
    mw__shape_print(shape, text, sizeof text);
    if (name == NULL || name[0] == '\0')
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "batch_norm: the name is empty");
    else if (shape.rank < 2)
        mw__graph_fail(x->graph, MW_ERROR_SHAPE,
                       "batch_norm \"%s\": x %s has rank %d, at least 2 is wanted: [N, C, ..]", name, text, shape.rank);
    else if (count < 0)
        mw__graph_fail(x->graph, MW_ERROR_SHAPE, "batch_norm \"%s\": every extent of x %s must be known", name, text);
    else if (count <= shape.dim[1])
        mw__graph_fail(x->graph, MW_ERROR_SHAPE, "batch_norm \"%s\": x %s has %s per channel, and a variance needs two",
                       name, text, count == 0 ? "no element" : "one element");
    else if (!(momentum >= 0.0f && momentum <= 1.0f))
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "batch_norm \"%s\": momentum is %g; 0 to 1 are allowed", name,
                       (double)momentum);
    else if (!mw__is_epsilon((double)epsilon))
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "batch_norm \"%s\": epsilon is %g; it must be finite and >= 0",
                       name, (double)epsilon);
    else
        return true;
    return false;
}

/* The same operations for both forms; r = (variance + epsilon)^-1/2 broadcasts against x. */
static mw_tensor *normalize(const batch_norm *b, mw_tensor *centered, mw_tensor *r)
{
    return mw__affine(mw_mul(centered, r), b->weight, b->bias, channel_axis);
}

static mw_tensor *evaluation_form(const batch_norm *b)
{
    mw_tensor *mean = mw__along_axes(b->running_mean, b->x, channel_axis);
    mw_tensor *variance = mw__along_axes(b->running_var, b->x, channel_axis);
    mw_tensor *centered = mw_sub(b->x, mean);
    return normalize(b, centered, mw_rsqrt(variance, b->epsilon));
}

/* running = (1 - momentum) * running + rate * statistic. */
static void follow_statistic(const batch_norm *b, mw_tensor *running, mw_tensor *statistic, double rate)
{
    mw_tensor *kept = mw_mul_scalar(mw__layer_state_now(running), 1.0 - b->momentum);
    mw_tensor *seen = mw_mul_scalar(mw__reshape_to(statistic, mw_tensor_shape(running)), rate);
    mw_state_assign(running, mw_add(kept, seen));
}

static mw_tensor *training_form(batch_norm *b)
{
    mw_tensor *mean = b->mean = mw_reduce_mean(b->x, b->axes, true);
    mw_tensor *centered = mw_sub(b->x, mean);
    mw_tensor *variance = mw_reduce_mean(mw_square(centered), b->axes, true);
    follow_statistic(b, b->running_mean, mean, b->momentum);
    follow_statistic(b, b->running_var, variance, b->momentum * b->count / (b->count - 1.0));
    b->r = mw_rsqrt(variance, b->epsilon);
    return normalize(b, centered, b->r);
}

mw_tensor *mw_batch_norm_layer(mw_tensor *x, float momentum, float epsilon, const char *name)
{
    MW__FLOAT_SCOPE;
    if (x == NULL || x->graph->error.status != MW_OK || !check_batch_norm(x, momentum, epsilon, name))
        return NULL;
    const mw_shape shape = mw_tensor_shape(x), channels = MW_SHAPE(shape.dim[1]);
    batch_norm b = {.x = x, .momentum = (double)momentum, .epsilon = epsilon};
    if (!mw__norm_parameters(x, "batch_norm", name, channels, &b.weight, &b.bias))
        return NULL;
    b.running_mean = mw__layer_state(x, "batch_norm", name, "running_mean", channels, mw_init_zeros());
    b.running_var = mw__layer_state(x, "batch_norm", name, "running_var", channels, mw_init_constant(1.0f));
    b.count = (double)(mw_shape_count(shape) / shape.dim[1]);
    for (int i = 0; i < shape.rank; i++) {
        if (i != 1)
            b.axes.axis[b.axes.count++] = i;
    }
    const char *outer = x->graph->scope;
    x->graph->scope = name;
    mw_tensor *evaluation = evaluation_form(&b); /* first: it is earlier than the value that it stands for */
    mw_tensor *y = training_form(&b);
    x->graph->scope = outer;
    if (evaluation == NULL)
        return NULL;
    mw_tensor *inputs[INPUT_COUNT] = {b.x, b.weight, b.bias, b.mean, b.r};
    mw__composite record = {.name = "batch_norm",
                            .inputs = inputs,
                            .input_count = INPUT_COUNT,
                            .vjp = vjp_batch_norm,
                            .evaluation = evaluation,
                            .running = {b.running_mean, b.running_var}};
    return mw__composite_attach(y, &record);
}
