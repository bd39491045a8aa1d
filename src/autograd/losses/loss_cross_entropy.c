/* Cross-entropy of logits: plain, and with class weights, label smoothing and an ignored label. A composite, as its
 * gradient softmax - p is one that differentiation of the operations would not find. */
#include "autograd/losses/loss_parts.h"
#include "autograd/vjp/log_softmax.h"
#include "base/number/float_mode.h"
#include "base/number/fp16.h"

#include <inttypes.h>
#include <math.h>

/* ---- gradients ---- */

/* dy over the number of labels, and over the mean of their weights if that is input `divisor`: what each gets of the
 * mean. It is divided last: the other way round a small weight overflows fp16. */
static mw_tensor *share_of_label(mw__vjp *vjp, mw_tensor *logits, size_t divisor)
{
    const mw_shape shape = mw_tensor_shape(logits);
    double labels = 1.0;
    for (int i = 0; i < shape.rank - 1; i++)
        labels *= (double)shape.dim[i];
    mw_tensor *dy = mw_mul_scalar(vjp->dy[0], 1.0 / labels);
    return vjp->composite->input_count > divisor ? mw_real_div(dy, mw__vjp_input(vjp, divisor)) : dy;
}

/* Inputs of the records, each with a DIVISOR only if the mean is weighted. The gradient goes to the logits, and to
 * coefficients. */
enum { LOGITS, POWERS, SUM, HOT, WEIGHTS, DIVISOR };
enum { COEFFICIENTS = HOT, DIVISOR_OF_COEFFICIENTS };

static mw__log_sum log_sum_of(mw_tensor *logits)
{
    return mw__log_sum_exp(logits, MW_AXES(mw__loss_class_axis(logits)));
}

mw_tensor *mw__loss_softmax_of(mw__vjp *vjp)
{
    mw_tensor *logits = mw__vjp_input(vjp, LOGITS);
    return mw__softmax_of_powers(logits, mw__loss_class_axis(logits), mw__vjp_input(vjp, POWERS),
                                 mw__vjp_input(vjp, SUM));
}

/* dlogits = dy w (softmax(logits) - hot) / N, for integer labels of weight w, 1 if it is no input. At the label it is
 * the sum of the others, as 1 - p of a confident prediction keeps few digits. */
static void vjp_of_labels(mw__vjp *vjp)
{
    mw_tensor *logits = mw__vjp_input(vjp, LOGITS), *hot = mw__vjp_input(vjp, HOT);
    if (!mw__vjp_wants_input(vjp, LOGITS))
        return;
    mw_tensor *dy = share_of_label(vjp, logits, DIVISOR);
    if (vjp->composite->input_count > WEIGHTS)
        dy = mw_mul(dy, mw__vjp_input(vjp, WEIGHTS));
    mw_tensor *p = mw__loss_softmax_of(vjp);
    mw_tensor *others = mw__loss_elsewhere(p, hot, true);
    mw__vjp_set_input(vjp, LOGITS, mw_mul(mw_select(hot, mw_neg(others), p), dy));
}

/* dlogits = dy (p sum v - v) / (N m), p = softmax(logits), as p (sum v - v) - v (1 - p), where neither difference
 * cancels for one-hot v; dv = -dy log softmax(logits) / (N m), for the coefficients v and the mean weight m, 1 if it is
 * no input. */
static void vjp_of_coefficients(mw__vjp *vjp)
{
    mw_tensor *logits = mw__vjp_input(vjp, LOGITS), *v = mw__vjp_input(vjp, COEFFICIENTS);
    const int axis = mw__loss_class_axis(logits);
    mw_tensor *dy = share_of_label(vjp, logits, DIVISOR_OF_COEFFICIENTS);
    if (mw__vjp_wants_input(vjp, LOGITS)) {
        mw_tensor *p = mw__loss_softmax_of(vjp);
        mw_tensor *toward = mw_mul(v, mw__odds_against(p, axis));
        mw_tensor *away = mw_mul(p, mw_sub(mw__loss_sum_classes(v, true), v));
        mw__vjp_set_input(vjp, LOGITS, mw_mul(mw_sub(away, toward), dy));
    }
    if (mw__vjp_wants_input(vjp, COEFFICIENTS)) {
        const mw__log_sum sum = log_sum_of(logits);
        mw__vjp_set_input(vjp, COEFFICIENTS, mw_mul(mw__surprise(logits, &sum), dy));
    }
}

/* ---- values ---- */

mw_tensor *mw__loss_surprise_at(const mw__log_sum *sum, mw_tensor *hot)
{
    mw_tensor *chosen = mw__loss_at_label(sum->z, hot, false);
    return mw_sub(mw_squeeze(sum->rest, MW_AXES(mw__loss_class_axis(hot))), chosen);
}

/* -sum over c of v log softmax(logits). Of halves, as the logits of fp16 may lie further apart than its largest number,
 * and infinity times v = 0 is NaN. Halving changes no bit of what is not subnormal. */
static mw_tensor *surprise_by(const mw__log_sum *sum, mw_tensor *logits, mw_tensor *v)
{
    mw_tensor *most = mw_mul_scalar(sum->most, 0.5), *rest = mw_mul_scalar(sum->rest, 0.5);
    mw_tensor *below = mw_sub(most, mw_mul_scalar(logits, 0.5));
    return mw_mul_scalar(mw__loss_sum_classes(mw_mul(v, mw_add(rest, below)), false), 2.0);
}

/* The loss of the values [N, ..]; `weights` [N, ..] or NULL. The divisor of a weighted mean becomes the last input. */
static mw_tensor *attach(mw_tensor *values, mw_tensor *weights, mw__composite *composite)
{
    composite->examples = mw__loss_examples(values);
    mw_tensor *loss = mw_reduce_mean(composite->examples, MW_ALL_AXES, false);
    if (weights != NULL) {
        composite->weights = mw__loss_examples(weights);
        mw_tensor *divisor = mw__loss_divisor(composite->weights);
        composite->inputs[composite->input_count++] = divisor;
        loss = mw_real_div(loss, divisor);
    }
    loss = mw__composite_attach(loss, composite);
    return loss != NULL ? loss : mw__loss_of_failed_graph(composite->inputs[0], NULL);
}

/* Of integer labels, with their weights [N, ..] or NULL. */
static mw_tensor *of_labels(mw_tensor *logits, mw_tensor *hot, mw_tensor *weights)
{
    const mw__log_sum sum = log_sum_of(logits);
    mw_tensor *inputs[DIVISOR + 1] = {logits, sum.powers, sum.sum, hot};
    mw__composite composite = {.name = "cross_entropy", .inputs = inputs, .input_count = WEIGHTS, .vjp = vjp_of_labels};
    mw_tensor *values = mw__loss_surprise_at(&sum, hot);
    if (weights != NULL) {
        values = mw_mul(values, weights);
        inputs[composite.input_count++] = mw_expand_dims(weights, MW_AXES(mw__loss_class_axis(logits)));
    }
    return attach(values, weights, &composite);
}

/* Of the coefficients v, with the weights of the labels [N, ..] or NULL. */
static mw_tensor *of_coefficients(mw_tensor *logits, mw_tensor *v, mw_tensor *weights)
{
    const mw__log_sum sum = log_sum_of(logits);
    mw_tensor *inputs[DIVISOR_OF_COEFFICIENTS + 1] = {logits, sum.powers, sum.sum, v};
    mw__composite composite = {
        .name = "cross_entropy", .inputs = inputs, .input_count = DIVISOR_OF_COEFFICIENTS, .vjp = vjp_of_coefficients};
    return attach(surprise_by(&sum, logits, v), weights, &composite);
}

mw_tensor *mw_cross_entropy(mw_tensor *logits, mw_tensor *labels)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_labels("cross_entropy", logits, labels, true))
        return mw__loss_of_failed_graph(logits, labels);
    mw_tensor *hot = mw__loss_hot(logits, labels, NULL);
    return hot != NULL ? of_labels(logits, hot, NULL) : of_coefficients(logits, labels, NULL);
}

/* ---- options ---- */

mw_cross_entropy_options mw_cross_entropy_defaults(void)
{
    return (mw_cross_entropy_options){.struct_size = sizeof(mw_cross_entropy_options),
                                      .ignore_index = MW_IGNORE_NOTHING};
}

static bool refuse_weights(mw_graph *graph, const mw_cross_entropy_options *options, int64_t classes)
{
    double sum = 0.0;
    if ((int64_t)options->class_count != classes) {
        mw__graph_fail(graph, MW_ERROR_SHAPE, "cross_entropy: %zu class weights for %" PRId64 " classes",
                       options->class_count, classes);
        return true;
    }
    for (size_t i = 0; i < options->class_count; i++) {
        const double weight = (double)options->class_weights[i];
        if (!(weight >= 0.0) || isinf(weight)) {
            mw__graph_fail(graph, MW_ERROR_ARGUMENT,
                           "cross_entropy: the weight of class %zu is %g; weights are finite and 0 or more", i, weight);
            return true;
        }
        sum += weight;
    }
    if (sum == 0.0)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "cross_entropy: every class weight is 0, so that no label counts");
    return sum == 0.0;
}

static bool check_options(mw_tensor *logits, mw_tensor *labels, const mw_cross_entropy_options *options)
{
    mw_graph *graph = mw_tensor_graph(logits);
    const mw_shape shape = mw_tensor_shape(logits);
    if (options == NULL || options->struct_size != sizeof *options)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "cross_entropy: options must come from mw_cross_entropy_defaults");
    else if (!(options->label_smoothing >= 0.0f && options->label_smoothing <= 1.0f))
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "cross_entropy: label smoothing %g is not in 0 .. 1",
                       (double)options->label_smoothing);
    else if ((options->class_weights == NULL) != (options->class_count == 0))
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "cross_entropy: %zu class weights, but their array is %sNULL",
                       options->class_count, options->class_weights == NULL ? "" : "not ");
    else if (options->ignore_index != MW_IGNORE_NOTHING && mw_tensor_dtype(labels) != MW_I32)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT,
                       "cross_entropy: probabilities have no label %d to ignore; make their rows 0 instead",
                       (int)options->ignore_index);
    else
        return options->class_weights == NULL || !refuse_weights(graph, options, shape.dim[shape.rank - 1]);
    return false;
}

/* ---- coefficients ---- */

static bool ignores(const mw_cross_entropy_options *options) { return options->ignore_index != MW_IGNORE_NOTHING; }

/* What a coefficient is made of, besides a factor. */
typedef enum parts {
    WEIGHT = 1,  /* of the class */
    COUNTED = 2, /* 0 for the ignored class */
} parts;

/* A constant for each class: [C], or a scalar if all have the same. */
static mw_tensor *by_class(mw_tensor *logits, const mw_cross_entropy_options *options, double factor, int which)
{
    mw_graph *graph = mw_tensor_graph(logits);
    const mw_dtype dtype = mw_tensor_dtype(logits);
    const int64_t classes = mw_tensor_shape(logits).dim[mw__loss_class_axis(logits)];
    const bool weighs = (which & WEIGHT) != 0 && options->class_weights != NULL;
    const bool skips = (which & COUNTED) != 0 && options->ignore_index >= 0 && options->ignore_index < classes;
    if (!weighs && !skips)
        return mw__vjp_scalar_like(logits, factor);
    float *values = mw__arena_alloc(&graph->arena, (size_t)classes, sizeof *values, &graph->error);
    uint16_t *halves = mw__arena_alloc(&graph->arena, (size_t)classes, sizeof *halves, &graph->error);
    if (values == NULL || halves == NULL)
        return NULL;
    for (int64_t c = 0; c < classes; c++) {
        const bool counts = !skips || c != options->ignore_index;
        values[c] = counts ? (float)(factor * (weighs ? (double)options->class_weights[c] : 1.0)) : 0.0f;
    }
    mw__fp16_from_float_n(halves, values, (size_t)classes);
    return mw_constant(graph, dtype, MW_SHAPE(classes), dtype == MW_F16 ? (const void *)halves : values);
}

/* The number of labels, 0 or 1, at each position: [N, .., 1]. */
static mw_tensor *counts(mw_tensor *logits, mw_tensor *hot, const mw_cross_entropy_options *options, bool keep_dims)
{
    mw_tensor *counted = mw__where(hot, by_class(logits, options, 1.0, COUNTED));
    return mw__loss_sum_classes(counted, keep_dims);
}

/* What the surprise of each class is multiplied by: the smoothed target times the weight of the class, 0 where the
 * label is ignored. */
static mw_tensor *coefficients(mw_tensor *logits, mw_tensor *labels, mw_tensor *hot,
                               const mw_cross_entropy_options *options)
{
    const double smoothing = (double)options->label_smoothing;
    const double everywhere = smoothing / (double)mw_tensor_shape(logits).dim[mw__loss_class_axis(logits)];
    if (hot == NULL) {
        mw_tensor *p = labels;
        if (smoothing != 0.0)
            p = mw_add_scalar(mw_mul_scalar(labels, 1.0 - smoothing), everywhere);
        return options->class_weights != NULL ? mw_mul(p, by_class(logits, options, 1.0, WEIGHT)) : p;
    }
    mw_tensor *on = by_class(logits, options, 1.0 - smoothing + everywhere, WEIGHT);
    mw_tensor *v = mw_select(hot, on, by_class(logits, options, everywhere, WEIGHT));
    return ignores(options) ? mw_mul(v, counts(logits, hot, options, true)) : v;
}

/* The weights of the labels, which the mean is divided by; NULL if all are 1. */
static mw_tensor *label_weights(mw_tensor *logits, mw_tensor *hot, const mw_cross_entropy_options *options)
{
    if (hot == NULL || (!ignores(options) && options->class_weights == NULL))
        return NULL;
    if (options->class_weights == NULL)
        return counts(logits, hot, options, false);
    mw_tensor *weights = mw__where(hot, by_class(logits, options, 1.0, WEIGHT | COUNTED));
    return mw__loss_sum_classes(weights, false);
}

mw_tensor *mw_cross_entropy_with(mw_tensor *logits, mw_tensor *labels, const mw_cross_entropy_options *options)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_labels("cross_entropy", logits, labels, true) || !check_options(logits, labels, options))
        return mw__loss_of_failed_graph(logits, labels);
    if (options->label_smoothing == 0.0f && options->class_weights == NULL && !ignores(options))
        return mw_cross_entropy(logits, labels);
    const int64_t ignored = options->ignore_index;
    mw_tensor *hot = mw__loss_hot(logits, labels, ignores(options) ? &ignored : NULL);
    mw_tensor *weights = label_weights(logits, hot, options);
    if (hot != NULL && options->label_smoothing == 0.0f)
        return of_labels(logits, hot, weights);
    return of_coefficients(logits, coefficients(logits, labels, hot, options), weights);
}
