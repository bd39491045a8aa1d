/* Batch norm as a layer: statistics of the batch in training, running ones in evaluation. The MIL operation with given
 * statistics is in op_normalize.c. */
#include <millwright/op_elementwise.h>
#include <millwright/op_normalize.h>
#include <millwright/op_reduce.h>
#include <millwright/op_shape.h>

#include "base/float_mode.h"
#include "graph/patterns/normalize.h"
#include "graph/rule.h"

static const bool channel_axis[MW_RANK_MAX] = {false, true};

typedef struct batch_norm {
    mw_tensor *x, *weight, *bias, *running_mean, *running_var;
    mw_axes axes; /* all but the channels */
    double count; /* elements per channel */
    double momentum;
    float epsilon;
} batch_norm;

static bool check(mw_tensor *x, float momentum, float epsilon, const char *name)
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

/* The same operations for both forms; the statistics broadcast against x. */
static mw_tensor *normalise(const batch_norm *b, mw_tensor *centered, mw_tensor *variance)
{
    mw_tensor *scale = mw_rsqrt(variance, b->epsilon);
    return mw__affine(mw_mul(centered, scale), b->weight, b->bias, channel_axis);
}

static mw_tensor *evaluation_form(const batch_norm *b)
{
    mw_tensor *mean = mw__along_axes(b->running_mean, b->x, channel_axis);
    mw_tensor *variance = mw__along_axes(b->running_var, b->x, channel_axis);
    return normalise(b, mw_sub(b->x, mean), variance);
}

/* running = (1 - momentum) * running + rate * statistic. */
static void follow(const batch_norm *b, mw_tensor *running, mw_tensor *statistic, double rate)
{
    mw_tensor *kept = mw_mul_scalar(running, 1.0 - b->momentum);
    mw_tensor *seen = mw_mul_scalar(mw__reshape_to(statistic, mw_tensor_shape(running)), rate);
    mw_state_assign(running, mw_add(kept, seen));
}

static mw_tensor *training_form(const batch_norm *b)
{
    mw_tensor *mean = mw_reduce_mean(b->x, b->axes, true);
    mw_tensor *centered = mw_sub(b->x, mean);
    mw_tensor *variance = mw_reduce_mean(mw_square(centered), b->axes, true);
    follow(b, b->running_mean, mean, b->momentum);
    follow(b, b->running_var, variance, b->momentum * b->count / (b->count - 1.0));
    return normalise(b, centered, variance);
}

mw_tensor *mw_batch_norm_layer(mw_tensor *x, float momentum, float epsilon, const char *name)
{
    MW__FLOAT_SCOPE;
    if (x == NULL || x->graph->error.status != MW_OK || !check(x, momentum, epsilon, name))
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
    mw__composite record = {.name = "batch_norm",
                            .inputs = &b.x,
                            .input_count = 1,
                            .evaluation = evaluation,
                            .running = {b.running_mean, b.running_var}};
    return mw__composite_attach(y, &record);
}
