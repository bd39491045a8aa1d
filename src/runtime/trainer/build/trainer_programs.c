/* Making the programs of a trainer. Their operations are made in trainer_graph.c. */
#include "runtime/trainer/build/trainer_programs.h"

#include "mil/join/join.h"
#include "mil/pass_text.h"
#include "passes/invariant.h"
#include "rules/legality.h"

#include "graph/random/generator.h"
#include "graph/random/noise.h"
#include "graph/transform/clone/clone.h"
#include "runtime/trainer/build/trainer_alias.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"
#include "runtime/trainer/watch/trainer_watched.h"

#include <millwright/millwright.h>
#include <string.h>

mw_program *mw__trainer_compile(mw_trainer *t, const mw_graph *graph, mw__program_binder *bind, const char *keep_folder,
                                const mw__trainer_pass *pass, mw_error *err)
{
    mw_compile_options options = t->compile;
    options.keep_folder = keep_folder;
    mw__program_request request = {.graph = graph, .options = &options, .target = &t->target, .bind = bind, .user = t};
    if (pass != NULL)
        mw__trainer_allow_cuts(t, pass, &request);
    mw_program *program = mw__program_create(&request, err);
    if (program != NULL)
        program->held = true;
    return program;
}

/* State inputs and scalars are not fed by the batch. */
static bool is_own_input(void *user, const char *name)
{
    const mw__trainer_build *b = user;
    if (mw__state_find(&b->trainer->owner.state, name) != NULL)
        return true;
    for (size_t i = 0; b->scalars != NULL && i < mw__trainer_scalar_sets(b->trainer) * MW__OPTIMIZER_SCALARS; i++) {
        const mw_tensor *scalar = b->scalars[i / MW__OPTIMIZER_SCALARS].scalar[i % MW__OPTIMIZER_SCALARS];
        if (scalar != NULL && strcmp(scalar->name, name) == 0)
            return true;
    }
    return false;
}

static mw_status find_port(const mw_program *program, const char *name, size_t *out, mw_error *err)
{
    *out = mw__program_find(program, name);
    if (*out == program->port_count)
        return mw__fail(err, MW_ERROR_STATE, "the step program lost its port \"%s\"", name);
    return MW_OK;
}

static mw_status resolve_pass(mw__trainer_build *b, mw__trainer_pass *pass, mw_error *err)
{
    MW_TRY(find_port(pass->program, b->loss_output->name, &pass->loss_port, err));
    MW_TRY(find_port(pass->program, b->ok_output->name, &pass->ok_port, err));
    MW_TRY(mw__feeder_init(&pass->feeder, pass->program, b->graph, is_own_input, b, err));
    return mw__feeder_find_tables(&pass->feeder, pass->program, b->graph, err);
}

mw_status mw__trainer_resolve_scalars(mw__trainer_build *b, const mw_program *program, mw_error *err)
{
    mw_trainer *t = b->trainer;
    for (size_t i = b->first_scalar; i < t->optimizer.scalar_count; i++) {
        mw__trainer_scalar *scalar = &t->optimizer.scalars[i];
        const mw__optimizer_scalars *set = &b->scalars[2 * scalar->group + (scalar->declared == MW_F16)];
        size_t port = 0;
        MW_TRY(find_port(program, set->scalar[scalar->index]->name, &port, err));
        scalar->port = port;
        scalar->data = mw__program_data(program, port);
        scalar->dtype = program->ports[port].dtype;
    }
    return MW_OK;
}

/* ---- passes ---- */

/* The copy of the step, in which operations that the model spells from parts are those that they are. */
typedef struct step_copy {
    mw_trainer *trainer;
    mw__join *join;
} step_copy;

static bool copy_frozen(void *user, const mw_tensor *state)
{
    return mw__trainer_freezes(((step_copy *)user)->trainer, state);
}

static bool copy_joined(void *user, mw__clone *clone, const mw__op *op)
{
    return mw__join_write(((step_copy *)user)->join, clone, op);
}

/* On chips the parts of the model stay what they are: each is rounded. */
static mw_status recognize_step(mw__trainer_build *b, mw__clone_options *options, mw_error *err)
{
    bool any = false;
    const mw_trainer *t = b->trainer;
    step_copy *copy = options->user;
    const mw__legality legality = {.device = t->target.device};
    const mw__join_options how = {.pass = MW__RULE_recognize,
                                  .log = b->log,
                                  .legality = &legality,
                                  .roots = options->roots,
                                  .root_count = options->root_count};
    if (t->target.device->half_ports || t->target.device->is_chip)
        return MW_OK;
    MW_TRY(mw__join_find(mw__graph_main(t->model.graph), &how, &b->arena, &copy->join, &any, err));
    options->rule = any ? copy_joined : NULL;
    return MW_OK;
}

/* The training form of the loss, and the states of the model that are assigned, whether the loss needs them or not. */
mw_status mw__trainer_copy_step(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const mw__block *body = mw__graph_main(t->model.graph)->body;
    const size_t most = body->input_count + 2 + t->watched.count;
    mw_tensor **roots = mw__arena_alloc(&b->arena, most, sizeof *roots, err);
    mw_tensor **copies = mw__arena_alloc(&b->arena, most, sizeof *copies, err);
    b->states = mw__arena_alloc(&b->arena, body->input_count + 1, sizeof *b->states, err);
    if (roots == NULL || copies == NULL || b->states == NULL)
        return MW_ERROR_MEMORY;
    size_t count = 0;
    roots[count++] = t->model.loss;
    for (size_t i = 0; i < body->input_count; i++) {
        if (body->inputs[i]->next != NULL &&
            !mw__trainer_freezes(t, body->inputs[i])) /* the clone takes the assigned value along */
            roots[count++] = body->inputs[i];
    }
    b->state_count = count - 1;
    if (t->model.probe != NULL && b->kind != MW__PASS_SUM)
        roots[count++] = t->model.probe;
    for (size_t i = 0; i < t->watched.count && b->kind != MW__PASS_SUM && !b->ends_before_check; i++)
        if (t->watched.tensors[i].value != NULL)
            roots[count++] = t->watched.tensors[i].value;
    step_copy copy = {.trainer = t};
    mw__clone_options options = {
        .roots = roots, .root_count = count, .form = MW__CLONE_TRAINING, .frozen = copy_frozen, .user = &copy};
    MW_TRY(recognize_step(b, &options, err));
    b->graph = mw__clone_graph(t->allocator, t->model.graph, &options, copies, err);
    if (b->graph == NULL)
        return mw__status_or(err, MW_ERROR_ARGUMENT);
    b->graph->lowering = t->target.device->lowering;
    b->loss = copies[0];
    const size_t probes = t->model.probe != NULL && b->kind != MW__PASS_SUM;
    b->probe = probes > 0 ? copies[1 + b->state_count] : NULL;
    b->shown = copies + 1 + b->state_count + probes;
    memcpy(b->states, copies + 1, b->state_count * sizeof *copies);
    return MW_OK;
}

/* What a rule of mw_custom_vjp has drawn while the gradient was built: noise would be a state that the model has not,
 * random_* a position that no checkpoint has. */
static mw_status check_drawn(const mw__trainer_build *b, mw_error *err)
{
    const mw__block *body = mw__graph_main(b->graph)->body;
    const char *drawn = NULL;
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i]->role == MW__RESIDENT &&
            mw_graph_find(b->trainer->model.graph, body->inputs[i]->name) == NULL)
            drawn = body->inputs[i]->name;
    for (size_t i = 0; i < body->op_count; i++)
        if (mw__is_unfixed_random(body->ops[i]))
            drawn = body->ops[i]->kind;
    if (drawn == NULL)
        return MW_OK;
    return mw__fail(
        err, MW_ERROR_UNSUPPORTED,
        "trainer: \"%.96s\" was made by the rule of a custom_vjp or of an optimizer; a checkpoint could not go on with "
        "it: make the noise outside and hand it to mw_custom_vjp as an input",
        drawn);
}

typedef struct training_pass {
    mw__rule_id id;
    mw_status (*run)(mw__trainer_build *b, mw_error *err);
    mw__invariant *holds;
    const char *invariant;
} training_pass;

static const training_pass passes[] = {
#define MW_PASS_TRAINING(id, need, function, invariant, sentence)                                                      \
    {MW__RULE_##id, function, mw__holds_##invariant, #invariant},
#include "passes/pipeline.def"
};

static mw_status run_pass(mw__trainer_build *b, mw__pass_log *log, const training_pass *pass, mw_error *err)
{
    mw__pass_run run;
    const mw_trainer *t = b->trainer;
    const mw_graph *before = b->graph != NULL ? b->graph : t->model.graph;
    const size_t values = before->value_count;
    mw__mil_begin_pass(&run, log, pass->id, before);
    MW_TRY(pass->run(b, err));
    const bool changed = b->graph != before || b->graph->value_count != values;
    const mw__pass_promise promise = {pass->holds, pass->invariant, t->target.device};
    return mw__mil_end_pass(&run, b->graph, changed, &promise, err);
}

static mw_status run_passes(mw__trainer_build *b, mw_error *err)
{
    mw__pass_log log;
    mw_status status = MW_OK;
    mw__program_log_init(&log, &b->trainer->compile, &b->trainer->target);
    b->log = &log;
    for (size_t i = 0; i < sizeof passes / sizeof *passes && status == MW_OK; i++)
        status = run_pass(b, &log, &passes[i], err);
    b->log = NULL;
    mw__pass_log_deinit(&log);
    return status;
}

mw_status mw__trainer_build_pass(mw__trainer_build *b, mw_error *err)
{
    const mw_trainer *t = b->trainer;
    mw__arena_init(&b->arena, t->allocator);
    b->scalars = mw__arena_alloc(&b->arena, mw__trainer_scalar_sets(t), sizeof *b->scalars, err);
    if (b->scalars == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(run_passes(b, err));
    return check_drawn(b, err);
}

static mw_status compile_pass(mw__trainer_build *b, mw__trainer_pass *pass, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const char *folder = b->kind == MW__PASS_SUM ? NULL : t->compile.keep_folder;
    pass->program = mw__trainer_compile(t, b->graph, mw__trainer_bind, folder, pass, err);
    if (pass->program == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    MW_TRY(mw__trainer_make_shadow(t, pass, b->graph, err));
    return resolve_pass(b, pass, err);
}

static mw_status make_step(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const mw__trainer_strategy *strategy = t->strategy;
    b->kind = strategy->sums_gradients ? MW__PASS_EXCHANGE : MW__PASS_UPDATE;
    MW_TRY(mw__trainer_build_pass(b, err));
    MW_TRY(mw__trainer_check_scalars(t, t->numbers.learning_rate, 1, err));
    if (strategy->plan != NULL)
        MW_TRY(strategy->plan(b, err));
    MW_TRY(mw__trainer_build_state(b, err));
    if (strategy->resolve != NULL)
        MW_TRY(strategy->resolve(b, err));
    MW_TRY(compile_pass(b, &t->step, err));
    t->compile.keep_folder = NULL; /* the caller's string may go */
    t->progress.batch = t->step.feeder.count > 0 ? t->step.feeder.ports[0].rows : 1;
    return strategy->finish != NULL ? strategy->finish(b, err) : mw__trainer_resolve_scalars(b, t->step.program, err);
}

static mw_status make_accumulation(mw__trainer_build *b, mw_error *err)
{
    MW_TRY(mw__trainer_build_pass(b, err));
    return compile_pass(b, &b->trainer->accumulation, err);
}

static mw_status make_pass(mw_trainer *t, bool accumulates, mw_error *err)
{
    mw__trainer_build b = {.trainer = t, .kind = accumulates ? MW__PASS_SUM : MW__PASS_UPDATE};
    const mw_status status = accumulates ? make_accumulation(&b, err) : make_step(&b, err);
    mw__graph_free(b.graph);
    mw__arena_deinit(&b.arena);
    return status;
}

mw_status mw__trainer_make_step(mw_trainer *t, mw_error *err) { return make_pass(t, false, err); }

mw_status mw__trainer_make_accumulation(mw_trainer *t, mw_error *err) { return make_pass(t, true, err); }
