/* Plans of a model: the program for some shapes and some examples in a run, compiled when it is first wanted, kept
 * while a predictor has it. */
#include "runtime/model/model_object.h"

#include "graph/transform/batch/rebatch.h"

#include <millwright/function.h>
#include <string.h>

/* ---- the graph of a plan ---- */

/* The model's graph for the shapes; NULL in *out if that is the graph itself. */
static mw_status choose_shapes(const mw_model *model, const mw_shape *shapes, mw_graph **out, mw_error *err)
{
    *out = NULL;
    if (!model->open) {
        for (size_t i = 0; i < model->input_count; i++) {
            const mw_shape own = mw_tensor_shape(mw_graph_find(model->graph, model->inputs[i]));
            char a[200], b[200];
            if (!mw_shape_equal(own, shapes[i]))
                return mw__fail(err, MW_ERROR_SHAPE, "input \"%.96s\" cannot be %s; it admits %s", model->inputs[i],
                                mw__shape_print(shapes[i], a, sizeof a), mw__shape_print(own, b, sizeof b));
        }
        return MW_OK;
    }
    mw_input_shape *named = mw__alloc(model->allocator, model->input_count, sizeof *named, err);
    if (named == NULL)
        return MW_ERROR_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < model->input_count; i++)
        if (mw_shape_count(shapes[i]) >= 0)
            named[count++] = (mw_input_shape){model->inputs[i], shapes[i]};
    *out = mw_graph_specialize(model->graph, named, count, err);
    mw__free(model->allocator, named);
    return *out != NULL ? MW_OK : mw__status_or(err, MW_ERROR_SHAPE);
}

/* *graph for runs of plan->wanted examples; *own is freed when it is replaced. */
static mw_status choose_batch(mw__model_plan *plan, const mw_graph **graph, mw_graph **own, mw_error *err)
{
    const int64_t batch = mw__batch_of(mw__graph_main(*graph));
    plan->examples = batch > 0 ? batch : 1;
    if (plan->wanted == 0 || plan->wanted == plan->examples)
        return MW_OK;
    mw_graph *changed = mw_graph_rebatch(*graph, plan->wanted, err);
    if (changed == NULL)
        return mw__status_or(err, MW_ERROR_UNSUPPORTED);
    mw_graph_destroy(*own);
    *graph = *own = changed;
    plan->examples = plan->wanted;
    return MW_OK;
}

/* ---- results ---- */

static void note_result(mw__model_plan *plan, size_t index, const mw_tensor *value, mw__batch_rows rows)
{
    const size_t port = plan->program->input_count + index;
    const size_t elements = mw__program_elements(plan->program, port);
    mw__model_result *result = &plan->results[index];
    *result = (mw__model_result){
        .name = plan->program->ports[port].name, .port = port, .kind = rows.kind, .blocks = 1, .block = elements};
    if (rows.kind != MW__BATCH_ROWS)
        return;
    const mw_shape shape = mw_tensor_shape(value);
    result->axis = rows.axis;
    result->block = (size_t)(rows.inner * mw__shape_span(shape, rows.axis + 1, shape.rank));
    result->blocks = result->block > 0 ? elements / (result->block * (size_t)plan->examples) : 0;
}

static mw_status note_results(mw__model_plan *plan, const mw_graph *graph, mw_error *err)
{
    mw__arena arena;
    mw_program *program = plan->program;
    const mw__function *main = mw__graph_main(graph);
    plan->result_count = mw_program_get_info(program).port_count - program->input_count;
    plan->results = mw__arena_alloc(&program->arena, plan->result_count, sizeof *plan->results, err);
    mw__arena_init(&arena, program->allocator);
    const mw__batch_rows *table = plan->results != NULL ? mw__batch_find(&arena, main, plan->examples, err) : NULL;
    for (size_t i = 0; table != NULL && i < plan->result_count; i++)
        note_result(plan, i, main->body->outputs[i], table[main->body->outputs[i]->id]);
    mw__arena_deinit(&arena);
    return table != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- feeds ---- */

/* What the description says of an input that may be left out. */
static void note_optional(const mw_model *model, mw__feeder *feeder)
{
    for (size_t i = 0; model->function != NULL && i < feeder->count; i++) {
        const mw_feature *feature = mw_description_find(model->function, feeder->ports[i].name);
        feeder->ports[i].optional = feature != NULL && feature->optional && feature->has_value;
        feeder->ports[i].standard = feature != NULL ? feature->value : 0.0;
    }
}

/* ---- making ---- */

static mw_status compile_model_plan(mw_model *model, mw__model_plan *plan, const mw_graph *graph, mw_error *err)
{
    mw_compile_options how = model->compile;
    how.allocator = model->allocator;
    if (model->first != NULL && model->first->program->weight_count > 0)
        how.share.program = model->first->program;
    plan->program = mw_program_create(graph, &how, err);
    if (plan->program == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    if (plan->program->flexible != NULL)
        return mw__fail(
            err, MW_ERROR_UNSUPPORTED,
            "values of inputs decide the shapes of this program; run it with mw_program_create and mw_program_run");
    MW_TRY(mw__program_push_staged(plan->program, err)); /* parameters, once for all runs */
    MW_TRY(mw__feeder_init(&plan->feeder, plan->program, graph, NULL, NULL, err));
    MW_TRY(mw__feeder_find_tables(&plan->feeder, plan->program, graph, err));
    note_optional(model, &plan->feeder);
    return note_results(plan, graph, err);
}

static mw_status make_model_plan(mw_model *model, mw__model_plan *plan, mw_error *err)
{
    mw_graph *own;
    MW_TRY(choose_shapes(model, plan->shapes, &own, err));
    const mw_graph *graph = own != NULL ? own : model->graph;
    mw_status status = choose_batch(plan, &graph, &own, err);
    if (status == MW_OK)
        status = compile_model_plan(model, plan, graph, err);
    mw_graph_destroy(own);
    return status;
}

static void free_plan(const mw_model *model, mw__model_plan *plan)
{
    mw_program_destroy(plan->program);
    mw__free(model->allocator, plan->shapes);
    mw__free(model->allocator, plan);
}

static mw_status add_model_plan(mw_model *model, const mw_shape *shapes, int64_t wanted, mw__model_plan **out,
                                mw_error *err)
{
    mw__model_plan *plan = mw__alloc(model->allocator, 1, sizeof *plan, err);
    if (plan == NULL)
        return MW_ERROR_MEMORY;
    *plan = (mw__model_plan){.wanted = wanted, .next = model->plans};
    plan->shapes = mw__alloc(model->allocator, model->input_count, sizeof *plan->shapes, err);
    mw_status status = plan->shapes != NULL ? MW_OK : MW_ERROR_MEMORY;
    if (status == MW_OK && model->input_count > 0)
        memcpy(plan->shapes, shapes, model->input_count * sizeof *shapes);
    if (status == MW_OK)
        status = make_model_plan(model, plan, err);
    if (status != MW_OK) {
        free_plan(model, plan);
        return status;
    }
    model->plans = *out = plan;
    return MW_OK;
}

/* ---- finding ---- */

static bool fits_model_plan(const mw_model *model, const mw__model_plan *plan, const mw_shape *shapes, int64_t wanted)
{
    bool same = plan->wanted == wanted;
    for (size_t i = 0; i < model->input_count; i++)
        same = same && mw_shape_equal(plan->shapes[i], shapes[i]);
    return same;
}

/* Compiling is done under the lock, so that two predictors that want one plan make it once. */
mw_status mw__model_plan_take(mw_model *model, const mw_shape *shapes, int64_t wanted, mw__model_plan **out,
                              mw_error *err)
{
    pthread_mutex_lock(&model->mutex);
    mw_status status = MW_OK;
    mw__model_plan *plan = model->plans;
    while (plan != NULL && !fits_model_plan(model, plan, shapes, wanted))
        plan = plan->next;
    if (plan == NULL)
        status = add_model_plan(model, shapes, wanted, &plan, err);
    if (status == MW_OK) {
        plan->users++;
        *out = plan;
    }
    pthread_mutex_unlock(&model->mutex);
    return status;
}

void mw__model_plan_drop(mw_model *model, mw__model_plan *plan)
{
    pthread_mutex_lock(&model->mutex);
    const bool last = --plan->users == 0;
    for (mw__model_plan **at = &model->plans; last && *at != NULL; at = &(*at)->next)
        if (*at == plan) {
            *at = plan->next;
            break;
        }
    pthread_mutex_unlock(&model->mutex);
    if (last)
        free_plan(model, plan);
}
