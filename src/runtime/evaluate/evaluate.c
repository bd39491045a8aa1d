/* Evaluation and prediction: running the views of view.c. A value of each example counts once; sums are double, so that
 * their order and number cost nothing. */
#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include "graph/values/convert.h"
#include "runtime/data/classes.h"
#include "runtime/evaluate/view.h"
#include "runtime/trainer/ranks/trainer_ranks.h"
#include "runtime/trainer/step/trainer_step.h"

#include <millwright/millwright.h>

/* ---- evaluation ---- */

static double port_value(const mw_program *program, size_t port, size_t i)
{
    const void *data = mw__program_data(program, port);
    if (program->ports[port].dtype == MW_F16)
        return (double)mw__fp16_to_float(((const uint16_t *)data)[i]);
    return (double)((const float *)data)[i];
}

/* Elements that the mean of a value runs over, and those of the means that its own elements are. */
static double elements_behind(mw_tensor *value)
{
    mw_tensor *x = mw__evaluated(value);
    while (x->op != NULL && x->op->row != NULL && x->op->row->id == MW__OP_reduce_mean)
        x = mw__evaluated(mw__arg(x->op, "x"));
    return (double)mw_shape_count(mw_tensor_shape(x));
}

/* The factor from a mean over the elements of an example to one over those that it has in the graph of the loss, where
 * the rest would be 0. */
static double share_of(const mw__view_slot *all, const mw__view_slot *own)
{
    if (all == own || !own->is_part || own->rows.kind != MW__BATCH_ROWS)
        return 1.0;
    return elements_behind(own->value) / elements_behind(all->value);
}

/* Adds the values of a batch to one slot. What is there once for the batch counts by its examples. */
static void add_slot(mw_trainer *t, const mw__trainer_view *view, size_t index, int64_t examples)
{
    mw__view_slot *slot = &t->views.evaluation.slots[index];
    const mw_program *program = view->program;
    const bool single = slot->rows.kind != MW__BATCH_ROWS;
    const int64_t values = single ? 1 : examples;
    double sum = 0.0;
    for (int64_t i = 0; i < values; i++)
        sum += port_value(program, slot->port, (size_t)i);
    sum *= share_of(slot, &view->slots[index]);
    slot->sum += single ? sum * (double)examples : sum;
    t->progress.counters.result_bytes += (size_t)values * (size_t)(mw_dtype_bits(program->ports[slot->port].dtype) / 8);
}

/* The same values of another graph of the network are read from the same ports. */
static mw_status need_variant(const mw_trainer *t, mw_trainer *variant, mw_error *err)
{
    const mw__trainer_view *all = &t->views.evaluation, *view = &variant->views.evaluation;
    variant->views.noted = true;
    MW_TRY(mw__trainer_need_evaluation(variant, err));
    bool same = view->slot_count == all->slot_count;
    for (size_t i = 0; same && i < all->slot_count; i++)
        same = view->slots[i].port == all->slots[i].port && view->slots[i].rows.kind == all->slots[i].rows.kind;
    return same ? MW_OK
                : mw__fail(err, MW_ERROR_ARGUMENT,
                           "evaluation: the graph of a variant computes its loss otherwise than "
                           "that of the loss");
}

static mw_status evaluate_batch(mw_trainer *t, const mw_batch *batch, mw_error *err)
{
    mw_trainer *variant = mw__trainer_variant_for(t, batch);
    if (variant != t)
        MW_TRY(need_variant(t, variant, err));
    mw__trainer_view *view = &variant->views.evaluation;
    MW_TRY(mw__feeder_feed(&view->feeder, batch, 0, &t->progress.counters.feed_bytes, err));
    MW_TRY(mw__program_run(view->program, err));
    for (size_t i = 0; i < view->slot_count; i++)
        add_slot(t, view, i, batch->examples);
    return MW_OK;
}

/* The sum of the terms; false if one of them is divided by 0. */
static bool sum_terms(const mw__trainer_view *view, const mw__term *terms, double examples, double *out)
{
    *out = 0.0;
    for (const mw__term *term = terms; term != NULL; term = term->next) {
        double value, below = 1.0;
        if (term->kind != MW__TERM_QUOTIENT)
            value = view->slots[term->slot].sum / examples;
        else if (!sum_terms(view, term->above, examples, &value) || !sum_terms(view, term->below, examples, &below) ||
                 below == 0.0)
            return false;
        value *= term->number / below;
        for (const mw__term_factor *factor = term->factors; factor != NULL; factor = factor->next) {
            const double by = view->slots[factor->slot].sum / examples;
            value = factor->divides ? value / by : value * by;
        }
        *out += value;
    }
    return true;
}

/* All values over the examples so far. */
static mw_status take_values(const mw_trainer *t, int64_t examples, mw_evaluation *out, mw_error *err)
{
    const mw__trainer_view *view = &t->views.evaluation;
    char name[96];
    *out = (mw_evaluation){.examples = examples, .metric_count = t->model.metric_count};
    for (size_t i = 0; i < view->measure_count; i++) {
        double value;
        if (!sum_terms(view, view->measures[i], (double)examples, &value))
            return mw__fail(err, MW_ERROR_NUMERIC,
                            "evaluation: the %s has no mean: every label of the data set is ignored or has weight 0",
                            mw__trainer_measure_name(t, i, name, sizeof name));
        if (i == 0)
            out->loss = value;
        else
            out->metrics[i - 1] = (mw_measure){.name = t->model.metrics[i - 1].name, .value = value};
    }
    return MW_OK;
}

/* ---- several ranks ---- */

/* Each has evaluated its share: sums and examples are added in the order of the ranks. */
static mw_status sum_over_ranks(mw_trainer *t, int64_t *examples, mw_error *err)
{
    mw_communicator *c = t->ranks->communicator;
    mw__trainer_view *view = &t->views.evaluation;
    const size_t count = view->slot_count + 1;
    double *sums = mw__alloc(t->allocator, count, sizeof *sums, err);
    if (sums == NULL)
        return MW_ERROR_MEMORY;
    sums[0] = (double)*examples;
    for (size_t i = 1; i < count; i++)
        sums[i] = view->slots[i - 1].sum;
    const mw_status status = mw__ranks_allreduce(c, sums, count, MW_F64, err);
    *examples = (int64_t)sums[0];
    for (size_t i = 1; i < count; i++)
        view->slots[i - 1].sum = sums[i];
    mw__free(t->allocator, sums);
    return status;
}

/* Evaluates the batches of an epoch; if `first` is set no more of them than are needed for every value to exist. */
static mw_status run_epoch(mw_trainer *t, mw_loader *loader, bool first, mw_evaluation *out, mw_error *err)
{
    const int64_t batches = mw_loader_batches(loader);
    int64_t examples = 0;
    for (size_t i = 0; i < t->views.evaluation.slot_count; i++)
        t->views.evaluation.slots[i].sum = 0.0;
    for (int64_t i = 0; i < batches; i++) {
        const mw_batch *batch = mw_loader_next(loader, err);
        if (batch == NULL)
            return err->status != MW_OK ? err->status : mw__fail(err, MW_ERROR_STATE, "the data set ended early");
        MW_TRY(evaluate_batch(t, batch, err));
        examples += batch->examples;
        if (first && take_values(t, examples, out, NULL) == MW_OK)
            return MW_OK;
    }
    if (t->ranks != NULL && !first)
        MW_TRY(sum_over_ranks(t, &examples, err));
    return take_values(t, examples, out, err);
}

static mw_status evaluate(mw_trainer *t, const mw_dataset *dataset, bool first, mw_evaluation *out, mw_error *err)
{
    MW_TRY(mw__trainer_check_alive(t, err));
    if (!first)
        MW_TRY(mw__trainer_synchronize(t, err));
    MW_TRY(mw__trainer_need_evaluation(t, err));
    mw_loader_options options = mw_loader_defaults(dataset, t->progress.batch);
    options.shuffle = false;
    options.drop_last = false;
    options.allocator = t->allocator;
    if (!first)
        mw__trainer_share_batches(t, &options);
    mw_loader *loader = mw_loader_create(&options, err);
    if (loader == NULL)
        return err->status;
    const mw_status status = run_epoch(t, loader, first, out, err);
    mw_loader_destroy(loader);
    return t->ranks != NULL && !first ? mw__communicator_end(t->ranks->communicator, status, err) : status;
}

/* The end of an epoch and an error are distinguished by the error, also when the caller wants none. */
static mw_status evaluate_with(mw_trainer *t, const mw_dataset *dataset, bool first, mw_evaluation *out, mw_error *err)
{
    mw_error local = {0};
    mw_evaluation found;
    const mw_status status = evaluate(t, dataset, first, &found, &local);
    if (status != MW_OK && err != NULL)
        *err = local;
    if (status == MW_OK)
        *out = found;
    return status;
}

static mw_status check_evaluation(const mw_trainer *trainer, const mw_dataset *dataset, mw_error *err)
{
    const char *call = "mw_trainer_evaluate";
    if (trainer == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the trainer is NULL", call);
    MW_TRY(mw__dataset_check(dataset, call, err));
    if (mw_dataset_examples(dataset) == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the data set has no examples", call);
    return mw__learned_classes_check(trainer->fit.learned, dataset, call, err);
}

/* Loss and metrics if they are wanted, the counts of classes if there is room for them: first, as what is wrong with
 * that room is found before anything runs. */
static mw_status evaluate_all(mw_trainer *trainer, const mw_dataset *dataset, const mw_confusion *confusion,
                              mw_evaluation *out, mw_error *err)
{
    MW_TRY(check_evaluation(trainer, dataset, err));
    if (confusion != NULL)
        MW_TRY(mw__trainer_count_classes(trainer, dataset, confusion, err));
    return out != NULL ? evaluate_with(trainer, dataset, false, out, err) : MW_OK;
}

mw_status mw_trainer_evaluate(mw_trainer *trainer, const mw_dataset *dataset, const mw_confusion *confusion,
                              mw_evaluation *out, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_evaluation unwanted = {0};
    if (out == NULL && confusion == NULL)
        out = &unwanted;
    if (out != NULL)
        *out = (mw_evaluation){0};
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    const mw_status status = mw__trainer_leave(&entry, evaluate_all(trainer, dataset, confusion, out, err), err);
    if (status != MW_OK && out != NULL)
        *out = (mw_evaluation){0};
    return status;
}

mw_status mw__trainer_check_dataset(mw_trainer *trainer, const mw_dataset *dataset, mw_error *err)
{
    if (mw_dataset_examples(dataset) == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the data set has no examples");
    mw_evaluation unwanted;
    return evaluate_with(trainer, dataset, true, &unwanted, err);
}

/* ---- prediction ---- */

static mw_status predict(mw_trainer *trainer, const mw_batch *batch, mw_dtype dtype, void *out_data, size_t count,
                         mw_error *err)
{
    if (trainer == NULL || batch == NULL || out_data == NULL || (batch->feeds == NULL && batch->feed_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_predict: the %s is NULL",
                        trainer == NULL    ? "trainer"
                        : out_data == NULL ? "memory for the prediction"
                                           : "batch");
    if (trainer->model.prediction == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the trainer has no prediction: set it in mw_trainer_options");
    const int64_t expected = mw_shape_count(mw_tensor_shape(trainer->model.prediction));
    if ((int64_t)count != expected)
        return mw__fail(err, MW_ERROR_SHAPE, "the prediction has %lld elements, not %zu", (long long)expected, count);
    MW_TRY(mw__trainer_check_alive(trainer, err));
    MW_TRY(mw__trainer_need_predictor(trainer, err));
    mw__trainer_view *view = &trainer->views.predictor;
    const size_t port = view->slots[0].port;
    MW_TRY(mw__feeder_feed(&view->feeder, batch, 0, &trainer->progress.counters.feed_bytes, err));
    MW_TRY(mw__program_run(view->program, err));
    const mw_dtype held = view->program->ports[port].dtype;
    trainer->progress.counters.result_bytes += count * (size_t)(mw_dtype_bits(held) / 8);
    const mw__values values = {.data = mw__program_data(view->program, port), .dtype = held, .count = count};
    return mw__convert_of("the prediction", out_data, dtype, &values, err);
}

mw_status mw_trainer_predict(mw_trainer *trainer, const mw_batch *batch, mw_dtype dtype, void *out_data, size_t count,
                             mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, predict(trainer, batch, dtype, out_data, count, err), err);
}

/* ---- classes ---- */

mw_classes mw_trainer_classes(const mw_trainer *trainer, const char *column)
{
    const bool lives = mw__live_has(trainer, MW__LIVE_TRAINER);
    return mw__class_list_classes(lives ? mw__learned_classes_find(trainer->fit.learned, column) : NULL);
}
