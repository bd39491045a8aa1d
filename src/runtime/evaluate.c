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
    mw_tensor *root; /* in the model: what to copy */
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
            return (example_form){.root = composite->examples, .per_example = true};
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
    view->second.port = view->program->input_count + 1;
    return mw__feeder_init(&view->feeder, view->program, graph, NULL, NULL, err);
}

static mw_status make_view(mw_trainer *t, mw__view *view, const example_form *forms, size_t count,
                           const char *const *names, mw_error *err)
{
    mw_tensor *roots[2] = {forms[0].root, count > 1 ? forms[1].root : NULL}, *copies[2] = {NULL};
    const mw__clone_options options = {.roots = roots, .root_count = count, .form = MW__CLONE_EVALUATION};
    mw_graph *graph = mw__clone_graph(t->allocator, t->model, &options, copies, err);
    if (graph == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    mw__view_value *values[2] = {&view->first, &view->second};
    for (size_t i = 0; i < count; i++) {
        mw_output(forms[i].reduce ? mean_of_rest(copies[i]) : copies[i], names[i]);
        *values[i] = (mw__view_value){.present = true, .per_example = forms[i].per_example};
    }
    const mw_status status = finish_view(t, view, graph, err);
    mw_graph_destroy(graph);
    if (status != MW_OK)
        mw__view_deinit(view);
    return status;
}

/* Names that no input of a user is likely to have; results are found by their order. */
static const char *const evaluation_names[] = {"evaluation.loss", "evaluation.metric"};
static const char *const prediction_name[] = {"evaluation.prediction"};

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
    if (t->predictor.program != NULL)
        return MW_OK;
    const example_form form = {.root = t->prediction};
    return make_view(t, &t->predictor, &form, 1, prediction_name, err);
}

/* ---- evaluation ---- */

static double port_value(const mw_program *program, size_t port, size_t i)
{
    const void *data = mw__program_data(program, port);
    if (program->ports[port].dtype == MW_F16)
        return (double)mw__fp16_to_float(((const uint16_t *)data)[i]);
    return (double)((const float *)data)[i];
}

/* Adds the values of the real examples of a batch to *sum. */
static mw_status add_value(mw_trainer *t, const mw__view_value *value, const char *what, int64_t examples, double *sum,
                           mw_error *err)
{
    if (!value->present)
        return MW_OK;
    const mw_program *program = t->evaluation.program;
    if (!value->per_example && examples < t->batch)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "evaluation: the last batch has %lld of %lld examples, and the %s is not a mean over examples "
                        "(make it one with mw_reduce_mean last, or use a multiple of the batch)",
                        (long long)examples, (long long)t->batch, what);
    for (int64_t i = 0; value->per_example && i < examples; i++)
        *sum += port_value(program, value->port, (size_t)i);
    if (!value->per_example)
        *sum += port_value(program, value->port, 0) * (double)examples;
    const size_t count = value->per_example ? (size_t)examples : 1;
    t->counters.result_bytes += count * (size_t)(mw_dtype_bits(program->ports[value->port].dtype) / 8);
    return MW_OK;
}

typedef struct sums {
    double loss, metric;
    int64_t examples;
} sums;

static mw_status evaluate_batch(mw_trainer *t, const mw_batch *batch, sums *s, mw_error *err)
{
    mw__view *view = &t->evaluation;
    MW_TRY(mw__feeder_feed(&view->feeder, batch, 0, &t->counters.feed_bytes, err));
    MW_TRY(mw__program_run(view->program, err));
    MW_TRY(add_value(t, &view->first, "loss", batch->examples, &s->loss, err));
    MW_TRY(add_value(t, &view->second, "metric", batch->examples, &s->metric, err));
    s->examples += batch->examples;
    return MW_OK;
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
    if (status != MW_OK)
        return status;
    if (out_loss != NULL)
        *out_loss = s.loss / (double)s.examples;
    if (out_metric != NULL && trainer->metric != NULL)
        *out_metric = s.metric / (double)s.examples;
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
