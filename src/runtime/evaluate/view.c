/* Views: programs of evaluation and prediction, cloned from the model and bound to the parameters of the state set.
 * What is a mean over examples is computed as the means of the single examples, so that the filling of a short last
 * batch can be left out. */
#include "runtime/evaluate/view.h"
#include "base/text/log.h"
#include "base/text/printable.h"
#include "graph/transform/clone/clone.h"
#include "runtime/trainer/build/trainer_programs.h"
#include "runtime/trainer/build/trainer_state.h"

#include <millwright/millwright.h>
#include <stdio.h>

void mw__trainer_view_deinit(mw__trainer_view *view)
{
    mw__program_destroy(view->program);
    mw__arena_deinit(&view->arena);
    *view = (mw__trainer_view){0};
}

/* ---- slots ---- */

/* How many slots the terms want at most. */
static size_t count_slots(const mw__term *terms)
{
    size_t count = 0;
    for (const mw__term *term = terms; term != NULL; term = term->next) {
        count += term->kind == MW__TERM_QUOTIENT ? count_slots(term->above) + count_slots(term->below) : 1;
        for (const mw__term_factor *factor = term->factors; factor != NULL; factor = factor->next)
            count++;
    }
    return count;
}

static size_t slot_of(mw__trainer_view *view, const mw__batch_rows *table, mw__view_slot wanted)
{
    for (size_t i = 0; i < view->slot_count; i++)
        if (view->slots[i].value == wanted.value && view->slots[i].of == wanted.of &&
            view->slots[i].is_part == wanted.is_part)
            return i;
    wanted.rows = table[wanted.value->id];
    view->slots[view->slot_count] = wanted;
    return view->slot_count++;
}

static void give_slots(mw__trainer_view *view, const mw__batch_rows *table, mw__term *terms, bool is_part)
{
    for (mw__term *term = terms; term != NULL; term = term->next) {
        if (term->kind == MW__TERM_QUOTIENT) {
            give_slots(view, table, term->above, true);
            give_slots(view, table, term->below, true);
        } else {
            term->slot =
                slot_of(view, table, (mw__view_slot){.value = term->value, .of = term->of, .is_part = is_part});
        }
        for (mw__term_factor *factor = term->factors; factor != NULL; factor = factor->next)
            factor->slot = slot_of(view, table, (mw__view_slot){.value = factor->value, .of = MW__TERM_OF_ELEMENTS});
    }
}

/* True if an earlier term has the same value. */
static bool is_repeated(const mw__term *first, const mw__term *term)
{
    while (first != term && (first->kind != MW__TERM_OTHER || first->value != term->value))
        first = first->next;
    return first != term;
}

/* Said once: a short last batch is filled up with copies, and they count here. */
static void note_others(const mw_trainer *t, size_t measure, const mw__batch_rows *table)
{
    char name[96], reason[320], term[128];
    for (const mw__term *other = t->views.evaluation.measures[measure]; other != NULL; other = other->next) {
        if (other->kind != MW__TERM_OTHER || t->progress.batch == 1 ||
            is_repeated(t->views.evaluation.measures[measure], other))
            continue;
        const mw__op *op = other->value->op;
        mw__log(MW_LOG_WARNING,
                "evaluation: the %s has the term %s, which is no mean over examples: %s. Its mean over the batches is "
                "taken, where a short last batch counts by its examples but is filled up with copies of the last one",
                mw__trainer_measure_name(t, measure, name, sizeof name),
                op != NULL ? mw__op_subject(op, term, sizeof term) : mw_tensor_name(other->value),
                mw__term_reason(table, other, reason, sizeof reason));
    }
}

/* ---- programs ---- */

/* [.., rows, ..] -> [batch]: the mean of each example. */
static mw_tensor *example_means(mw_tensor *x, mw__batch_rows rows, int64_t batch)
{
    mw_shape shape = mw_tensor_shape(x);
    mw_axes axes = {0};
    int axis = 0; /* of the examples */
    if (rows.axis != 0 || shape.dim[0] != batch) {
        const int64_t before = mw__shape_span(shape, 0, rows.axis) * (shape.dim[rows.axis] / (batch * rows.inner));
        const int64_t behind = rows.inner * mw__shape_span(shape, rows.axis + 1, shape.rank);
        shape = before > 1 ? MW_SHAPE(before, batch, behind) : MW_SHAPE(batch, behind);
        axis = before > 1;
        x = mw_reshape(x, shape);
    }
    for (int i = 0; i < shape.rank; i++)
        if (i != axis)
            axes.axis[axes.count++] = i;
    return axes.count > 0 ? mw_reduce_mean(x, axes, false) : x;
}

/* Names that no input of a user is likely to have; results are found by their order. */
static void emit_slots(const mw_trainer *t, const mw__trainer_view *view, mw_tensor *const *copies)
{
    for (size_t i = 0; i < view->slot_count; i++) {
        char name[48];
        const mw__term_of of = view->slots[i].of;
        mw_tensor *copy = of == MW__TERM_OF_SQUARES      ? mw_square(copies[i])
                          : of == MW__TERM_OF_MAGNITUDES ? mw_abs(copies[i])
                                                         : copies[i];
        snprintf(name, sizeof name, view->measure_count > 0 ? "evaluation.%zu" : "evaluation.prediction", i);
        if (view->slots[i].rows.kind == MW__BATCH_ROWS && view->measure_count > 0)
            copy = example_means(copy, view->slots[i].rows, t->progress.batch);
        else if (view->measure_count > 0 && mw_shape_count(mw_tensor_shape(copy)) != 1)
            copy = mw_reduce_mean(copy, MW_ALL_AXES, false);
        mw_output(copy, name);
    }
}

static mw_status compile_view(mw_trainer *t, mw__trainer_view *view, const mw_graph *graph, mw_error *err)
{
    MW_TRY(mw_graph_check(graph, err));
    view->program = mw__trainer_compile(t, graph, mw__trainer_bind, NULL, NULL, err);
    if (view->program == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    for (size_t i = 0; i < view->slot_count; i++)
        view->slots[i].port = view->program->input_count + i;
    MW_TRY(mw__feeder_init(&view->feeder, view->program, graph, NULL, NULL, err));
    return mw__feeder_find_tables(&view->feeder, view->program, graph, err);
}

static mw_status make_program(mw_trainer *t, mw__trainer_view *view, mw_error *err)
{
    mw_tensor **roots = mw__arena_alloc(&view->arena, view->slot_count, sizeof *roots, err);
    mw_tensor **copies = mw__arena_alloc(&view->arena, view->slot_count, sizeof *copies, err);
    if (roots == NULL || copies == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < view->slot_count; i++)
        roots[i] = view->slots[i].value;
    const mw__clone_options options = {.roots = roots, .root_count = view->slot_count, .form = MW__CLONE_EVALUATION};
    mw_graph *graph = mw__clone_graph(t->allocator, t->model.graph, &options, copies, err);
    if (graph == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    emit_slots(t, view, copies);
    const mw_status status = compile_view(t, view, graph, err);
    mw__graph_free(graph);
    return status;
}

/* ---- evaluation ---- */

const char *mw__trainer_measure_name(const mw_trainer *t, size_t measure, char *buffer, size_t size)
{
    if (measure == 0)
        snprintf(buffer, size, "loss");
    else
        mw__printable_printf(buffer, size, "metric \"%s\"", t->model.metrics[measure - 1].name);
    return buffer;
}

static mw_status make_evaluation(mw_trainer *t, mw__trainer_view *view, mw_error *err)
{
    size_t count = 0;
    const mw__function *main = mw__graph_main(t->model.graph);
    const mw__batch_rows *table = mw__batch_find(&view->arena, main, t->progress.batch, err);
    view->measure_count = 1 + t->model.metric_count;
    view->measures = mw__arena_alloc(&view->arena, view->measure_count, sizeof *view->measures, err);
    if (table == NULL || view->measures == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < view->measure_count; i++) {
        mw_tensor *value = i == 0 ? t->model.loss : t->model.metrics[i - 1].tensor;
        MW_TRY(mw__terms_make(&view->arena, table, value, &view->measures[i], err));
        count += count_slots(view->measures[i]);
    }
    view->slots = mw__arena_alloc(&view->arena, count, sizeof *view->slots, err);
    if (view->slots == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < view->measure_count; i++)
        give_slots(view, table, view->measures[i], false);
    MW_TRY(make_program(t, view, err));
    for (size_t i = 0; i < view->measure_count && !t->views.noted; i++)
        note_others(t, i, table);
    t->views.noted = true;
    return MW_OK;
}

mw_status mw__trainer_need_evaluation(mw_trainer *t, mw_error *err)
{
    if (t->views.evaluation.program != NULL)
        return MW_OK;
    mw__arena_init(&t->views.evaluation.arena, t->allocator);
    const mw_status status = make_evaluation(t, &t->views.evaluation, err);
    if (status != MW_OK)
        mw__trainer_view_deinit(&t->views.evaluation);
    return status;
}

mw_status mw__trainer_evaluation(mw_trainer *trainer, mw_program **out, mw_error *err)
{
    MW_TRY(mw__trainer_need_evaluation(trainer, err));
    *out = trainer->views.evaluation.program;
    return MW_OK;
}

/* ---- prediction ---- */

static mw_status make_predictor(mw_trainer *t, mw__trainer_view *view, mw_error *err)
{
    view->slots = mw__arena_alloc(&view->arena, 1, sizeof *view->slots, err);
    if (view->slots == NULL)
        return MW_ERROR_MEMORY;
    view->slots[view->slot_count++] = (mw__view_slot){.value = t->model.prediction};
    return make_program(t, view, err);
}

mw_status mw__trainer_need_predictor(mw_trainer *t, mw_error *err)
{
    if (t->model.prediction == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the trainer has no prediction: set it in mw_trainer_options");
    if (t->views.predictor.program != NULL)
        return MW_OK;
    mw__arena_init(&t->views.predictor.arena, t->allocator);
    const mw_status status = make_predictor(t, &t->views.predictor, err);
    if (status != MW_OK)
        mw__trainer_view_deinit(&t->views.predictor);
    return status;
}

mw_status mw__trainer_predictor(mw_trainer *trainer, mw_program **out, mw_error *err)
{
    MW_TRY(mw__trainer_need_predictor(trainer, err));
    *out = trainer->views.predictor.program;
    return MW_OK;
}
