/* Evaluation and prediction: programs cloned from the model, bound to the parameters of the state set. Each mean over
 * examples is computed as the values of the single examples, so that the filling of a short last batch is left out. */
#include "runtime/trainer.h"

#include "base/fp16.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

void mw__view_deinit(mw__view *view)
{
    mw_program_destroy(view->program);
    *view = (mw__view){0};
}

/* ---- the per-example form ---- */

/* How a scalar of the model becomes [batch]. */
typedef struct example_form {
    mw_tensor *root;    /* in the model: what to copy */
    mw_tensor *weights; /* of the examples; NULL = a plain mean */
    bool per_example;
    bool reduce; /* the mean over axes 1.. of the copy is still to be emitted */
} example_form;

/* True if `op` is a mean over axis 0 (at least) of a tensor whose first extent is the batch. */
static bool is_batch_mean(const mw__op *op, int64_t batch, mw_tensor **out_x)
{
    if (op == NULL || op->kind == NULL || strcmp(op->kind, "reduce_mean") != 0)
        return false;
    mw_tensor *x = mw__arg(op, "x");
    if (x == NULL || x->type->shape.rank < 1 || x->type->shape.dim[0] != batch)
        return false;
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    *out_x = x;
    if (!mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count) || count == 0)
        return true;
    return count == (size_t)x->type->shape.rank; /* the result is a scalar, so the other axes have extent 1 or are in */
}

static example_form find_form(mw_tensor *scalar, int64_t batch)
{
    const mw__composite *composite = scalar->composite;
    if (composite != NULL && composite->examples != NULL) {
        const mw_shape shape = composite->examples->type->shape;
        if (shape.rank == 1 && shape.dim[0] == batch)
            return (example_form){.root = composite->examples, .weights = composite->weights, .per_example = true};
    }
    mw_tensor *x;
    if (is_batch_mean(scalar->op, batch, &x))
        return (example_form){.root = x, .per_example = true, .reduce = x->type->shape.rank > 1};
    return (example_form){.root = scalar};
}

/* The mean over every axis but the first. */
static mw_tensor *mean_of_rest(mw_tensor *x)
{
    mw_axes axes = {.count = mw_tensor_shape(x).rank - 1};
    for (int i = 0; i < axes.count; i++)
        axes.axis[i] = i + 1;
    return mw_reduce_mean(x, axes, false);
}

/* ---- making views ---- */

static mw_status finish_view(mw_trainer *t, mw__view *view, const mw_graph *graph, mw_error *err)
{
    MW_TRY(mw_graph_check(graph, err));
    view->program = mw__trainer_compile(t, graph, NULL, err);
    if (view->program == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    view->first.port = view->program->input_count;
    view->second.port = view->first.port + (view->first.weighted ? 2 : 1);
    return mw__feeder_init(&view->feeder, view->program, graph, NULL, NULL, err);
}

/* Names that no input of a user is likely to have; results are found by their order. */
typedef struct view_names {
    const char *value, *weights;
} view_names;

static const view_names evaluation_names[] = {{"evaluation.loss", "evaluation.loss.weights"},
                                              {"evaluation.metric", "evaluation.metric.weights"}};
static const view_names prediction_name[] = {{"evaluation.prediction", NULL}};

static mw_status make_view(mw_trainer *t, mw__view *view, const example_form *forms, size_t count,
                           const view_names *names, mw_error *err)
{
    mw_tensor *roots[4] = {NULL}, *copies[4] = {NULL};
    size_t root_count = 0, next = 0;
    for (size_t i = 0; i < count; i++) {
        roots[root_count++] = forms[i].root;
        if (forms[i].weights != NULL)
            roots[root_count++] = forms[i].weights;
    }
    const mw__clone_options options = {.roots = roots, .root_count = root_count, .form = MW__CLONE_EVALUATION};
    mw_graph *graph = mw__clone_graph(t->allocator, t->model, &options, copies, err);
    if (graph == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    mw__view_value *values[2] = {&view->first, &view->second};
    for (size_t i = 0; i < count; i++) {
        mw_tensor *copy = copies[next++];
        const bool weighted = forms[i].weights != NULL;
        mw_output(forms[i].reduce ? mean_of_rest(copy) : copy, names[i].value);
        if (weighted)
            mw_output(copies[next++], names[i].weights);
        *values[i] = (mw__view_value){.present = true, .per_example = forms[i].per_example, .weighted = weighted};
    }
    const mw_status status = finish_view(t, view, graph, err);
    mw_graph_destroy(graph);
    if (status != MW_OK)
        mw__view_deinit(view);
    return status;
}

static mw_status need_evaluation(mw_trainer *t, mw_error *err)
{
    if (t->evaluation.program != NULL)
        return MW_OK;
    example_form forms[2] = {find_form(t->loss, t->batch)};
    if (t->metric != NULL)
        forms[1] = find_form(t->metric, t->batch);
    return make_view(t, &t->evaluation, forms, t->metric != NULL ? 2 : 1, evaluation_names, err);
}

static mw_status need_predictor(mw_trainer *t, mw_error *err)
{
    if (t->prediction == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the trainer has no prediction: set it in mw_trainer_options");
    if (t->predictor.program != NULL)
        return MW_OK;
    const example_form form = {.root = t->prediction};
    return make_view(t, &t->predictor, &form, 1, prediction_name, err);
}

mw_status mw__trainer_evaluation(mw_trainer *trainer, mw_program **out, mw_error *err)
{
    MW_TRY(need_evaluation(trainer, err));
    *out = trainer->evaluation.program;
    return MW_OK;
}

mw_status mw__trainer_predictor(mw_trainer *trainer, mw_program **out, mw_error *err)
{
    MW_TRY(need_predictor(trainer, err));
    *out = trainer->predictor.program;
    return MW_OK;
}

/* ---- evaluation ---- */

static double port_value(const mw_program *program, size_t port, size_t i)
{
    const void *data = mw__program_data(program, port);
    if (program->ports[port].dtype == MW_F16)
        return (double)mw__fp16_to_float(((const uint16_t *)data)[i]);
    return (double)((const float *)data)[i];
}

/* A mean over the data set: sum / weight. */
typedef struct running_mean {
    double sum, weight;
} running_mean;

/* Adds up a port of the real examples of a batch. */
static double sum_port(mw_trainer *t, size_t port, int64_t examples)
{
    const mw_program *program = t->evaluation.program;
    double sum = 0.0;
    for (int64_t i = 0; i < examples; i++)
        sum += port_value(program, port, (size_t)i);
    t->counters.result_bytes += (size_t)examples * (size_t)(mw_dtype_bits(program->ports[port].dtype) / 8);
    return sum;
}

/* Adds what a batch says of one value to its mean. */
static mw_status add_value(mw_trainer *t, const mw__view_value *value, const char *what, int64_t examples,
                           running_mean *mean, mw_error *err)
{
    if (!value->present)
        return MW_OK;
    if (!value->per_example && examples < t->batch)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "evaluation: the last batch has %lld of %lld examples, and the %s is not a mean over examples "
                        "(make it one with mw_reduce_mean last, or use a multiple of the batch)",
                        (long long)examples, (long long)t->batch, what);
    if (value->per_example)
        mean->sum += sum_port(t, value->port, examples);
    else
        mean->sum += sum_port(t, value->port, 1) * (double)examples;
    mean->weight += value->weighted ? sum_port(t, value->port + 1, examples) : (double)examples;
    return MW_OK;
}

static mw_status finish_mean(const running_mean *mean, const char *what, double *out, mw_error *err)
{
    if (mean->weight == 0.0)
        return mw__fail(err, MW_ERROR_NUMERIC,
                        "evaluation: the %s has no mean: every label of the data set is ignored or has weight 0", what);
    if (out != NULL)
        *out = mean->sum / mean->weight;
    return MW_OK;
}

typedef struct sums {
    running_mean loss, metric;
} sums;

static mw_status evaluate_batch(mw_trainer *t, const mw_batch *batch, sums *s, mw_error *err)
{
    mw__view *view = &t->evaluation;
    MW_TRY(mw__feeder_feed(&view->feeder, batch, 0, &t->counters.feed_bytes, err));
    MW_TRY(mw__program_run(view->program, err));
    MW_TRY(add_value(t, &view->first, "loss", batch->examples, &s->loss, err));
    return add_value(t, &view->second, "metric", batch->examples, &s->metric, err);
}

static mw_status evaluate_all(mw_trainer *t, mw_loader *loader, sums *s, mw_error *err)
{
    mw_error local = {0}; /* the end of an epoch and an error are told apart by it, also when err is NULL */
    const int64_t batches = mw_loader_batches(loader);
    for (int64_t i = 0; i < batches; i++) {
        const mw_batch *batch = mw_loader_next(loader, &local);
        const mw_status status = batch == NULL ? local.status : evaluate_batch(t, batch, s, &local);
        if (status == MW_OK && batch != NULL)
            continue;
        if (err != NULL && local.status != MW_OK)
            *err = local;
        return status != MW_OK ? status : mw__fail(err, MW_ERROR_STATE, "the data set ended early");
    }
    return MW_OK;
}

mw_status mw_trainer_evaluate(mw_trainer *trainer, const mw_dataset *dataset, double *out_loss, double *out_metric,
                              mw_error *err)
{
    if (out_loss != NULL)
        *out_loss = 0.0;
    if (out_metric != NULL)
        *out_metric = 0.0;
    if (mw__failed(err))
        return err->status;
    if (trainer == NULL || dataset == NULL || mw_dataset_examples(dataset) == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_evaluate: the %s",
                        trainer == NULL   ? "trainer is NULL"
                        : dataset == NULL ? "data set is NULL"
                                          : "data set has no examples");
    MW_TRY(mw__trainer_check_alive(trainer, err));
    MW_TRY(need_evaluation(trainer, err));
    mw_loader_options options = mw_loader_defaults(dataset, trainer->batch);
    options.shuffle = false;
    options.drop_last = false;
    options.allocator = trainer->allocator;
    mw_error local = {0};
    mw_loader *loader = mw_loader_create(&options, &local);
    if (loader == NULL) {
        if (err != NULL)
            *err = local;
        return local.status;
    }
    sums s = {0};
    const mw_status status = evaluate_all(trainer, loader, &s, err);
    mw_loader_destroy(loader);
    MW_TRY(status);
    double loss = 0.0;
    MW_TRY(finish_mean(&s.loss, "loss", &loss, err));
    if (trainer->metric != NULL)
        MW_TRY(finish_mean(&s.metric, "metric", out_metric, err));
    if (out_loss != NULL)
        *out_loss = loss;
    return MW_OK;
}

/* ---- prediction ---- */

mw_status mw_trainer_predict(mw_trainer *trainer, const mw_batch *batch, float *out_data, size_t count, mw_error *err)
{
    if (mw__failed(err))
        return err->status;
    if (trainer == NULL || batch == NULL || out_data == NULL || (batch->feeds == NULL && batch->feed_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_predict: the %s is NULL",
                        trainer == NULL    ? "trainer"
                        : out_data == NULL ? "memory for the prediction"
                                           : "batch");
    if (trainer->prediction == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the trainer has no prediction: set it in mw_trainer_options");
    const int64_t expected = mw_shape_count(mw_tensor_shape(trainer->prediction));
    if ((int64_t)count != expected)
        return mw__fail(err, MW_ERROR_SHAPE, "the prediction has %lld elements, not %zu", (long long)expected, count);
    MW_TRY(mw__trainer_check_alive(trainer, err));
    MW_TRY(need_predictor(trainer, err));
    mw__view *view = &trainer->predictor;
    MW_TRY(mw__feeder_feed(&view->feeder, batch, 0, &trainer->counters.feed_bytes, err));
    MW_TRY(mw__program_run(view->program, err));
    trainer->counters.result_bytes += count * (size_t)(mw_dtype_bits(view->program->ports[view->first.port].dtype) / 8);
    for (size_t i = 0; i < count; i++)
        out_data[i] = (float)port_value(view->program, view->first.port, i);
    return MW_OK;
}
