/* Making a trainer: the copy of the model, the state set, the programs. Their operations are made in trainer_graph.c.
 */
#include "runtime/trainer.h"

#include "base/float_mode.h"
#include "base/fp16.h"
#include "graph/flatten.h"
#include "graph/generator.h"
#include "graph/noise.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

/* ---- numbers that the device can hold ---- */

bool mw__number_is_lost(double value, mw_dtype dtype)
{
    if (value == 0.0 || !isfinite(value))
        return false;
    const double stored =
        dtype == MW_F16 ? (double)mw__fp16_to_float(mw__fp16_from_double(value)) : (double)(float)value;
    return stored == 0.0 || !isfinite(stored);
}

double mw__trainer_scalar_value(const mw_trainer *trainer, const mw__trainer_scalar *scalar, float learning_rate,
                                int64_t step)
{
    const mw__trainer_group *group = &trainer->groups[scalar->group];
    const bool half = mw__trainer_stored(trainer, scalar->declared) == MW_F16;
    return mw__optimizer_scalar_value(&group->optimizer, half, scalar->index, trainer->loss_scale,
                                      (double)learning_rate * group->rate_factor, step);
}

mw_status mw__trainer_check_scalars(const mw_trainer *trainer, float learning_rate, int64_t step, mw_error *err)
{
    for (size_t i = 0; i < trainer->scalar_count; i++) {
        const mw__trainer_scalar *scalar = &trainer->scalars[i];
        const double value = mw__trainer_scalar_value(trainer, scalar, learning_rate, step);
        if (mw__number_is_lost(value, scalar->dtype) || !isfinite(value))
            return mw__fail(err, MW_ERROR_NUMERIC,
                            "%s is %g at step %lld (learning rate %g), which %s cannot hold: it becomes 0 or infinite",
                            scalar->name, value, (long long)step, (double)learning_rate, mw_dtype_name(scalar->dtype));
    }
    return MW_OK;
}

/* Small gradients vanish in fp16, and their squares, which Adam needs, sooner: on MNIST Adam lost half a point without.
 * A larger scale gains nothing there and lets gradients above 65504 / scale overflow. */
#define HALF_LOSS_SCALE 256.0

static mw_status check_constants(const mw_trainer *t, const mw_optimizer *optimizer, mw_dtype dtype, mw_error *err)
{
    mw__optimizer_constant constants[MW__OPTIMIZER_CONSTANTS];
    mw__optimizer_constants(optimizer, t->loss_scale, constants);
    for (size_t i = 0; i < MW__OPTIMIZER_CONSTANTS; i++) {
        if (mw__number_is_lost(constants[i].value, dtype))
            return mw__fail(err, MW_ERROR_NUMERIC,
                            "optimizer: %s is %g, which %s cannot hold: it becomes 0 or infinite", constants[i].name,
                            constants[i].value, mw_dtype_name(dtype));
    }
    return MW_OK;
}

mw_dtype mw__trainer_stored(const mw_trainer *trainer, mw_dtype declared)
{
    return trainer->target.mask == MW_DEVICE_ANE && declared == MW_F32 ? MW_F16 : declared;
}

/* ---- copies ---- */

/* What changes in the trainer's copy: no loops and branches, and random numbers that a checkpoint can go on with. */
typedef struct model_rules {
    mw__flatten flatten;
    mw__noise_names noises;
} model_rules;

static bool apply_rules(void *user, mw__clone *clone, const mw__op *op)
{
    model_rules *rules = user;
    return mw__noise_rule(&rules->noises, clone, op) || mw__flatten_rule(&rules->flatten, clone, op);
}

static mw_status copy_model(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    mw_tensor *roots[MW_METRICS_MAX + 2], *copies[MW_METRICS_MAX + 2] = {NULL};
    mw_tensor **targets[MW_METRICS_MAX + 2];
    size_t count = 0;
    MW_TRY(mw__trainer_list_metrics(t, o, err));
    roots[count] = o->loss;
    targets[count++] = &t->loss;
    for (size_t i = 0; i < t->metric_count; i++) {
        roots[count] = t->metrics[i].value;
        targets[count++] = &t->metrics[i].value;
    }
    if (o->prediction != NULL) {
        roots[count] = o->prediction;
        targets[count++] = &t->prediction;
    }
    model_rules rules = {0};
    const mw__clone_options options = {.rule = apply_rules, .user = &rules, .roots = roots, .root_count = count};
    t->model = mw__clone_graph(t->allocator, o->loss->graph, &options, copies, err);
    if (t->model == NULL)
        return mw__status_or(err, MW_ERROR_ARGUMENT);
    for (size_t i = 0; i < count; i++)
        *targets[i] = copies[i];
    return MW_OK;
}

/* ---- state ---- */

static bool is_trained(const mw__trainer_build *b, const char *name)
{
    for (size_t i = 0; i < b->count; i++) {
        if (strcmp(mw_tensor_name(b->parameters[i]), name) == 0)
            return true;
    }
    return false;
}

/* A state of a parameter, starting at 0. */
static mw_status add_state(mw__trainer_build *b, const mw_tensor *parameter, const char *suffix, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const char *name = mw__trainer_join(b, parameter->name, suffix, "", err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    const mw_dtype dtype = mw__trainer_stored(t, parameter->type->dtype);
    MW_TRY(mw__state_add(&t->state, name, dtype, parameter->type->shape, false, err));
    t->counters.state_bytes_in += t->state.entries[t->state.count - 1].size;
    return MW_OK;
}

/* A moving average starts where the parameter does. */
static mw_status add_average(mw__trainer_build *b, const mw_tensor *parameter, mw_error *err)
{
    MW_TRY(add_state(b, parameter, MW__AVERAGE, err));
    mw__state_entry *entries = b->trainer->state.entries;
    const mw__state_entry *average = &entries[b->trainer->state.count - 1];
    memcpy(average->data, mw__state_find(&b->trainer->state, parameter->name)->data, average->size);
    return MW_OK;
}

static mw_status add_states_of(mw__trainer_build *b, const mw_tensor *parameter, mw_error *err)
{
    const mw_trainer *t = b->trainer;
    const mw_optimizer *optimizer = &t->groups[mw__trainer_group_of(t, parameter->name)].optimizer;
    const bool half = mw__trainer_stored(t, parameter->type->dtype) == MW_F16;
    for (size_t i = 0; i < mw__optimizer_state_count(optimizer, half); i++) {
        const char *suffix = mw__trainer_join(b, "#", mw__optimizer_state_name(optimizer, half, i), "", err);
        if (suffix == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(add_state(b, parameter, suffix, err));
        mw__state_entry *entry = &t->state.entries[t->state.count - 1];
        mw__optimizer_state_range(optimizer, half, i, t->loss_scale, mw__trainer_limits(t, parameter)->gradient > 0.0,
                                  &entry->least, &entry->most);
        const double initial = mw__optimizer_state_initial(optimizer, half, i, t->loss_scale);
        if (initial != 0.0)
            mw__state_fill(entry, initial);
    }
    if (t->accumulate > 1)
        MW_TRY(add_state(b, parameter, MW__SUM, err));
    return t->average_decay != 0.0 ? add_average(b, parameter, err) : MW_OK;
}

static mw_status add_resident(mw__trainer_build *b, const mw_tensor *parameter, bool is_weight, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const mw_dtype dtype = mw__trainer_stored(t, parameter->type->dtype);
    MW_TRY(mw__state_add(&t->state, parameter->name, dtype, parameter->type->shape, is_weight, err));
    mw__state_entry *entry = &t->state.entries[t->state.count - 1];
    MW_TRY(mw__parameter_fill(parameter, dtype, t->compile.seed, t->allocator, entry->data, err));
    t->counters.state_bytes_in += entry->size;
    return is_trained(b, parameter->name) ? add_states_of(b, parameter, err) : MW_OK;
}

static mw_status add_number(mw__trainer_build *b, const mw_tensor *input, double value, double least, double most,
                            mw_error *err)
{
    mw_trainer *t = b->trainer;
    const mw_dtype dtype = mw__trainer_stored(t, mw_tensor_dtype(input));
    MW_TRY(mw__state_add(&t->state, mw_tensor_name(input), dtype, mw_shape_scalar(), false, err));
    mw__state_entry *entry = &t->state.entries[t->state.count - 1];
    t->counters.state_bytes_in += entry->size;
    entry->least = least, entry->most = most;
    mw__state_fill(entry, value);
    return MW_OK;
}

static mw_status add_scale(mw__trainer_build *b, mw_error *err)
{
    if (b->scale == NULL)
        return MW_OK;
    MW_TRY(add_number(b, b->scale, b->trainer->first_scale, 1.0, MW__LOSS_SCALE_MAX, err));
    return add_number(b, b->good_steps, 0.0, 0.0, (double)b->trainer->scale_interval, err);
}

/* What the evaluation of the model reads. */
static mw_graph *copy_evaluation(const mw_trainer *t, mw_error *err)
{
    mw_tensor *roots[MW_METRICS_MAX + 2] = {t->loss};
    size_t count = 1;
    for (size_t i = 0; i < t->metric_count; i++)
        roots[count++] = t->metrics[i].value;
    if (t->prediction != NULL)
        roots[count++] = t->prediction;
    const mw__clone_options options = {.roots = roots, .root_count = count, .form = MW__CLONE_EVALUATION};
    return mw__clone_graph(t->allocator, t->model, &options, NULL, err);
}

/* States are weights if evaluation reads them: a running mean is, the position of a random generator never. */
static bool is_weight(const mw_graph *evaluation, const mw_tensor *value)
{
    if (value->role == MW__PARAMETER)
        return true;
    return !mw__is_generator(value) && mw_graph_find(evaluation, value->name) != NULL;
}

/* Parameters that only metrics or prediction need are part of the set, without optimizer state. */
static mw_status build_state(mw__trainer_build *b, mw_error *err)
{
    const mw__block *body = mw__function_find(b->trainer->model, "main")->body;
    mw_graph *evaluation = copy_evaluation(b->trainer, err);
    mw_status status = evaluation != NULL ? MW_OK : mw__status_or(err, MW_ERROR_STATE);
    for (size_t i = 0; status == MW_OK && i < body->input_count; i++) {
        const mw_tensor *value = body->inputs[i];
        if (mw__is_resident(value))
            status = add_resident(b, value, is_weight(evaluation, value), err);
    }
    mw__graph_free(evaluation);
    return status == MW_OK ? add_scale(b, err) : status;
}

/* ---- the program ---- */

/* "fc1.weight" and "fc1.weight#next" are the same buffer. */
bool mw__trainer_bind(void *user, const mw_port *port, mw__buffer *out)
{
    const mw_trainer *t = user;
    const size_t length = strlen(port->name), suffix = port->is_output ? strlen(MW__NEXT) : 0;
    if (length < suffix || (suffix > 0 && strcmp(port->name + length - suffix, MW__NEXT) != 0))
        return false;
    const mw__state_entry *entry = mw__state_find_n(&t->state, port->name, length - suffix);
    if (entry == NULL || entry->dtype != port->dtype)
        return false;
    entry = mw__trainer_shown(t, entry);
    *out = (mw__buffer){.object = entry->buffer, .data = entry->data, .size = entry->size};
    return true;
}

mw_program *mw__trainer_compile(mw_trainer *t, const mw_graph *graph, const char *keep_folder, mw_error *err)
{
    mw_compile_options options = t->compile;
    options.keep_folder = keep_folder;
    return mw__program_create(
        &(mw__program_request){
            .graph = graph, .options = &options, .target = &t->target, .bind = mw__trainer_bind, .user = t},
        err);
}

/* State inputs and scalars are not fed by the batch. */
static bool is_own_input(void *user, const char *name)
{
    const mw__trainer_build *b = user;
    if (mw__state_find(&b->trainer->state, name) != NULL)
        return true;
    for (size_t i = 0; b->scalars != NULL && i < 2 * b->trainer->group_count * MW__OPTIMIZER_SCALARS; i++) {
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
    return mw__feeder_init(&pass->feeder, pass->program, b->graph, is_own_input, b, err);
}

static mw_status resolve_scalars(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    for (size_t i = 0; i < t->scalar_count; i++) {
        mw__trainer_scalar *scalar = &t->scalars[i];
        const mw__optimizer_scalars *set = &b->scalars[2 * scalar->group + (scalar->declared == MW_F16)];
        size_t port = 0;
        MW_TRY(find_port(t->step.program, set->scalar[scalar->index]->name, &port, err));
        scalar->port = port;
        scalar->data = mw__program_data(t->step.program, port);
        scalar->dtype = t->step.program->ports[port].dtype;
    }
    return MW_OK;
}

/* ---- create ---- */

static bool is_half(const mw_trainer *t, const mw_tensor *value)
{
    return value->type->kind == MW__TENSOR && mw__trainer_stored(t, value->type->dtype) == MW_F16;
}

/* True if anything is computed in fp16, whatever the parameters are stored in. */
static bool computes_half(const mw_trainer *t)
{
    const mw__block *body = mw__function_find(t->model, "main")->body;
    for (size_t i = 0; i < body->op_count; i++) {
        for (size_t k = 0; k < body->ops[i]->result_count; k++)
            if (is_half(t, body->ops[i]->results[k]))
                return true;
    }
    return false;
}

static bool has_half(const mw_trainer *t)
{
    const mw__block *body = mw__function_find(t->model, "main")->body;
    for (size_t i = 0; i < body->input_count; i++) {
        if (mw__is_resident(body->inputs[i]) && is_half(t, body->inputs[i]))
            return true;
    }
    return false;
}

/* Numbers that depend on the types of the model's parameters. */
static mw_status settle_scale(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    const bool half = has_half(t);
    const double usual = half || computes_half(t) ? HALF_LOSS_SCALE : 1.0;
    t->loss_scale = o->loss_scale != 0.0f && !o->dynamic_loss_scale ? (double)o->loss_scale : usual;
    if (o->dynamic_loss_scale) {
        t->first_scale = o->loss_scale != 0.0f ? (double)o->loss_scale : MW__LOSS_SCALE_MAX;
        t->scale_interval = o->loss_scale_interval != 0 ? o->loss_scale_interval : MW__LOSS_SCALE_INTERVAL;
    }
    t->warnings = mw__arena_alloc(&t->arena, t->group_count, sizeof *t->warnings, err);
    if (t->warnings == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < t->group_count; i++) {
        mw__optimizer_set_epsilon(&t->groups[i].optimizer, half, t->loss_scale);
        if (half && !t->compile.strict && !t->groups[i].frozen)
            MW_TRY(mw__trainer_keep_epsilon(t, &t->groups[i].optimizer, err));
        if (!t->groups[i].frozen)
            MW_TRY(check_constants(t, &t->groups[i].optimizer, half ? MW_F16 : MW_F32, err));
    }
    mw__trainer_set_limits(t);
    return MW_OK;
}

static mw_status prepare(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    MW_TRY(mw__target_resolve(&o->compile, &t->target, err));
    t->compile = o->compile;
    t->learning_rate = o->optimizer.learning_rate;
    t->clip_value = (double)o->clip_value;
    t->clip_norm = (double)o->clip_norm;
    t->average_decay = (double)o->average_decay;
    t->accumulate = o->accumulate > 1 ? o->accumulate : 1;
    MW_TRY(copy_model(t, o, err));
    MW_TRY(mw__trainer_make_groups(t, o, err));
    MW_TRY(settle_scale(t, o, err));
    t->scalars = mw__arena_alloc(&t->arena, 2 * t->group_count * MW__OPTIMIZER_SCALARS, sizeof *t->scalars, err);
    return t->scalars != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* The training form of the loss, and the states of the model that are assigned, whether the loss needs them or not. */
static mw_status copy_step(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const mw__block *body = mw__function_find(t->model, "main")->body;
    mw_tensor **roots = mw__arena_alloc(&b->arena, body->input_count + 1, sizeof *roots, err);
    mw_tensor **copies = mw__arena_alloc(&b->arena, body->input_count + 1, sizeof *copies, err);
    b->states = mw__arena_alloc(&b->arena, body->input_count + 1, sizeof *b->states, err);
    if (roots == NULL || copies == NULL || b->states == NULL)
        return MW_ERROR_MEMORY;
    size_t count = 0;
    roots[count++] = t->loss;
    for (size_t i = 0; i < body->input_count; i++) {
        if (body->inputs[i]->next != NULL &&
            !mw__trainer_freezes(t, body->inputs[i])) /* the clone takes the assigned value along */
            roots[count++] = body->inputs[i];
    }
    const mw__clone_options options = {
        .roots = roots, .root_count = count, .form = MW__CLONE_TRAINING, .frozen = mw__trainer_freezes, .user = t};
    b->graph = mw__clone_graph(t->allocator, t->model, &options, copies, err);
    if (b->graph == NULL)
        return mw__status_or(err, MW_ERROR_ARGUMENT);
    b->loss = copies[0];
    memcpy(b->states, copies + 1, (count - 1) * sizeof *copies);
    b->state_count = count - 1;
    return MW_OK;
}

/* What a rule of mw_custom_vjp has drawn while the gradient was built: noise would be a state that the model has not,
 * random_* a position that no checkpoint has. */
static mw_status check_drawn(const mw__trainer_build *b, mw_error *err)
{
    const mw__block *body = mw__function_find(b->graph, "main")->body;
    const char *drawn = NULL;
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i]->role == MW__RESIDENT && mw_graph_find(b->trainer->model, body->inputs[i]->name) == NULL)
            drawn = body->inputs[i]->name;
    for (size_t i = 0; i < body->op_count; i++)
        if (mw__is_unfixed_random(body->ops[i]))
            drawn = body->ops[i]->kind;
    if (drawn == NULL)
        return MW_OK;
    return mw__fail(
        err, MW_ERROR_UNSUPPORTED,
        "trainer: \"%.96s\" was made by the rule of a custom_vjp; a checkpoint could not go on with it: make "
        "the noise outside and hand it to mw_custom_vjp as an input",
        drawn);
}

mw_status mw__trainer_build_pass(mw__trainer_build *b, mw_error *err)
{
    const mw_trainer *t = b->trainer;
    mw__arena_init(&b->arena, t->allocator);
    b->scalars = mw__arena_alloc(&b->arena, 2 * t->group_count, sizeof *b->scalars, err);
    if (b->scalars == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(copy_step(b, err));
    b->graph->form = t->target.mask == MW_DEVICE_ANE ? MW__FORM_CHIP : MW__FORM_COMPACT;
    MW_TRY(mw__trainer_build_graph(b, err));
    return check_drawn(b, err);
}

static mw_status compile_pass(mw__trainer_build *b, mw__trainer_pass *pass, mw_error *err)
{
    mw_trainer *t = b->trainer;
    pass->program = mw__trainer_compile(t, b->graph, b->gathers ? NULL : t->compile.keep_folder, err);
    if (pass->program == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    MW_TRY(mw__trainer_make_twin(t, pass, b->graph, err));
    return resolve_pass(b, pass, err);
}

static mw_status make_step(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    MW_TRY(mw__trainer_build_pass(b, err));
    MW_TRY(mw__trainer_check_scalars(t, t->learning_rate, 1, err));
    MW_TRY(build_state(b, err));
    MW_TRY(compile_pass(b, &t->step, err));
    t->compile.keep_folder = NULL; /* the caller's string may go */
    t->batch = t->step.feeder.count > 0 ? t->step.feeder.ports[0].rows : 1;
    return resolve_scalars(b, err);
}

static mw_status make_gather(mw__trainer_build *b, mw_error *err)
{
    MW_TRY(mw__trainer_build_pass(b, err));
    return compile_pass(b, &b->trainer->gather, err);
}

static mw_status make_pass(mw_trainer *t, bool gathers, mw_error *err)
{
    mw__trainer_build b = {.trainer = t, .gathers = gathers};
    const mw_status status = gathers ? make_gather(&b, err) : make_step(&b, err);
    mw__graph_free(b.graph);
    mw__arena_deinit(&b.arena);
    return status;
}

static mw_status create(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    MW_TRY(prepare(t, o, err));
    MW_TRY(make_pass(t, false, err));
    if (t->accumulate > 1)
        MW_TRY(make_pass(t, true, err));
    if (o->dispatch_steps > 1)
        MW_TRY(mw__trainer_make_slots(t, (size_t)o->dispatch_steps, err));
    return mw__trainer_describe(t, err);
}

mw_trainer *mw_trainer_create(const mw_trainer_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || mw__trainer_check_options(options, err) != MW_OK)
        return NULL;
    const mw_allocator *allocator = mw__allocator_or_default(options->compile.allocator);
    mw_trainer *trainer = mw__alloc(allocator, 1, sizeof *trainer, err);
    if (trainer == NULL)
        return NULL;
    if (mw__live_add(trainer, MW__LIVE_TRAINER, err) != MW_OK) {
        mw__free(allocator, trainer);
        return NULL;
    }
    trainer->allocator = allocator;
    mw__arena_init(&trainer->arena, allocator);
    mw__state_init(&trainer->state, allocator, &trainer->target.symbols);
    const mw_graph *graph = options->loss->graph;
    mw__graph_hold(graph);
    if (mw__graph_drop(graph, "mw_trainer_create", create(trainer, options, err), err) == MW_OK)
        return trainer;
    mw_trainer_destroy(trainer);
    return NULL;
}
