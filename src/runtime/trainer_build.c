/* Making a trainer: options, the copy of the model, the state set, the step program. The step's operations are made in
 * trainer_graph.c. */
#include "runtime/trainer.h"

#include "base/fp16.h"
#include "base/number.h"
#include "base/text.h"
#include "graph/flatten.h"
#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

mw_trainer_options mw_trainer_defaults(mw_tensor *loss, mw_optimizer optimizer)
{
    return (mw_trainer_options){.struct_size = sizeof(mw_trainer_options),
                                .loss = loss,
                                .optimizer = optimizer,
                                .compile = mw_compile_defaults()};
}

/* ---- numbers that the device can hold ---- */

bool mw__number_is_lost(double value, mw_dtype dtype)
{
    if (value == 0.0 || !isfinite(value))
        return false;
    const double stored =
        dtype == MW_F16 ? (double)mw__fp16_to_float(mw__fp16_from_double(value)) : (double)(float)value;
    return stored == 0.0 || !isfinite(stored);
}

mw_status mw__trainer_check_scalars(const mw_trainer *trainer, float learning_rate, int64_t step, mw_error *err)
{
    for (size_t i = 0; i < trainer->scalar_count; i++) {
        const mw__trainer_scalar *scalar = &trainer->scalars[i];
        const double value =
            mw__optimizer_scalar_value(&trainer->optimizer, scalar->index, (double)learning_rate, step);
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

static mw_status check_constants(const mw_trainer *t, mw_dtype dtype, mw_error *err)
{
    mw__optimizer_constant constants[MW__OPTIMIZER_CONSTANTS];
    mw__optimizer_constants(&t->optimizer, t->loss_scale, constants);
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

/* ---- options ---- */

static mw_status check_tensor(const mw_tensor *x, const char *what, const mw_graph *graph, bool scalar, mw_error *err)
{
    if (x == NULL)
        return MW_OK;
    if (x->graph != graph)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: %s belongs to another graph than the loss", what);
    const mw_dtype dtype = mw_tensor_dtype(x);
    if (dtype != MW_F32 && dtype != MW_F16)
        return mw__fail(err, MW_ERROR_DTYPE, "trainer: %s is %s; it must be fp32 or fp16", what, mw_dtype_name(dtype));
    if (scalar && mw_shape_count(mw_tensor_shape(x)) != 1)
        return mw__fail(err, MW_ERROR_SHAPE, "trainer: %s has %lld elements; a scalar is needed (use a reduction)",
                        what, (long long)mw_shape_count(mw_tensor_shape(x)));
    return MW_OK;
}

static mw_status check_loss_scale(float scale, mw_error *err)
{
    int exponent;
    if (scale == 0.0f || (scale > 0.0f && isfinite(scale) && frexpf(scale, &exponent) == 0.5f))
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: loss_scale is %g; it must be a power of two", (double)scale);
}

static mw_status check_options(const mw_trainer_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer options were not made by mw_trainer_defaults");
    if (o->loss == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: the loss is NULL; mw_graph_check says whether a constructor failed");
    MW_TRY(mw_graph_check(o->loss->graph, err));
    MW_TRY(check_tensor(o->loss, "the loss", o->loss->graph, true, err));
    MW_TRY(check_tensor(o->metric, "the metric", o->loss->graph, true, err));
    MW_TRY(check_tensor(o->prediction, "the prediction", o->loss->graph, false, err));
    MW_TRY(check_loss_scale(o->loss_scale, err));
    return mw__optimizer_check(&o->optimizer, err);
}

/* ---- copies ---- */

static mw_status copy_model(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    mw_tensor *roots[3], *copies[3] = {NULL};
    mw_tensor **targets[3];
    size_t count = 0;
    roots[count] = o->loss;
    targets[count++] = &t->loss;
    if (o->metric != NULL) {
        roots[count] = o->metric;
        targets[count++] = &t->metric;
    }
    if (o->prediction != NULL) {
        roots[count] = o->prediction;
        targets[count++] = &t->prediction;
    }
    mw__flatten flatten = {0};
    const mw__clone_options options = {.rule = mw__flatten_rule, .user = &flatten, .roots = roots, .root_count = count};
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

static mw_status add_resident(mw__trainer_build *b, const mw_tensor *parameter, bool is_weight, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const mw_dtype dtype = mw__trainer_stored(t, parameter->type->dtype);
    MW_TRY(mw__state_add(&t->state, parameter->name, dtype, parameter->type->shape, is_weight, err));
    mw__state_entry *entry = &t->state.entries[t->state.count - 1];
    MW_TRY(mw__parameter_fill(parameter, dtype, t->compile.seed, t->allocator, entry->data, err));
    t->counters.state_bytes_in += entry->size;
    const size_t count = is_trained(b, parameter->name) ? mw__optimizer_state_count(&t->optimizer) : 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = mw__trainer_join(b, parameter->name, "#", mw__optimizer_state_name(&t->optimizer, i), err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(mw__state_add(&t->state, name, dtype, parameter->type->shape, false, err));
        t->counters.state_bytes_in += t->state.entries[t->state.count - 1].size;
    }
    return MW_OK;
}

/* What the evaluation of the model reads. */
static mw_graph *copy_evaluation(const mw_trainer *t, mw_error *err)
{
    mw_tensor *roots[3] = {t->loss};
    size_t count = 1;
    if (t->metric != NULL)
        roots[count++] = t->metric;
    if (t->prediction != NULL)
        roots[count++] = t->prediction;
    const mw__clone_options options = {.roots = roots, .root_count = count, .form = MW__CLONE_EVALUATION};
    return mw__clone_graph(t->allocator, t->model, &options, NULL, err);
}

/* Parameters that only metric or prediction need are part of the set, without optimizer state. States are weights if
 * evaluation reads them: a running mean is, the position of a random generator is not. */
static mw_status build_state(mw__trainer_build *b, mw_error *err)
{
    const mw__block *body = mw__function_find(b->trainer->model, "main")->body;
    mw_graph *evaluation = copy_evaluation(b->trainer, err);
    mw_status status = evaluation != NULL ? MW_OK : mw__status_or(err, MW_ERROR_STATE);
    for (size_t i = 0; status == MW_OK && i < body->input_count; i++) {
        const mw_tensor *value = body->inputs[i];
        if (mw__is_resident(value))
            status = add_resident(b, value,
                                  value->role == MW__PARAMETER || mw_graph_find(evaluation, value->name) != NULL, err);
    }
    mw_graph_destroy(evaluation);
    return status;
}

/* ---- the program ---- */

/* "fc1.weight" and "fc1.weight#next" are the same buffer. */
static bool bind_state(void *user, const mw_port *port, mw__buffer *out)
{
    const mw_trainer *t = user;
    const size_t length = strlen(port->name), suffix = strlen(MW__NEXT);
    for (size_t i = 0; i < t->state.count; i++) {
        const mw__state_entry *entry = &t->state.entries[i];
        const size_t size = strlen(entry->name);
        if (strncmp(entry->name, port->name, size) != 0 || entry->dtype != port->dtype)
            continue;
        if (port->is_output ? (length == size + suffix && strcmp(port->name + size, MW__NEXT) == 0) : length == size) {
            *out = (mw__buffer){.object = entry->buffer, .data = entry->data, .size = entry->size};
            return true;
        }
    }
    return false;
}

mw_program *mw__trainer_compile(mw_trainer *t, const mw_graph *graph, const char *keep_folder, mw_error *err)
{
    mw_compile_options options = t->compile;
    options.keep_folder = keep_folder;
    return mw__program_create(
        &(mw__program_request){
            .graph = graph, .options = &options, .target = &t->target, .bind = bind_state, .user = t},
        err);
}

/* State inputs and scalars are not fed by the batch. */
static bool is_own_input(void *user, const char *name)
{
    const mw__trainer_build *b = user;
    if (mw__state_find(&b->trainer->state, name) != NULL)
        return true;
    for (size_t i = 0; i < 2 * (size_t)MW__OPTIMIZER_SCALARS; i++) {
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

static mw_status resolve_ports(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    MW_TRY(find_port(t->step, b->graph->values[t->loss_port]->name, &t->loss_port, err));
    MW_TRY(find_port(t->step, b->graph->values[t->ok_port]->name, &t->ok_port, err));
    for (size_t i = 0; i < t->scalar_count; i++) {
        mw__trainer_scalar *scalar = &t->scalars[i];
        const char *name = b->scalars[scalar->declared == MW_F16].scalar[scalar->index]->name;
        size_t port = 0;
        MW_TRY(find_port(t->step, name, &port, err));
        scalar->data = mw__program_data(t->step, port);
        scalar->dtype = t->step->ports[port].dtype;
    }
    MW_TRY(mw__feeder_init(&t->feeder, t->step, b->graph, is_own_input, b, err));
    t->batch = t->feeder.count > 0 ? t->feeder.ports[0].rows : 1;
    return MW_OK;
}

/* ---- description ---- */

static mw_status describe(mw_trainer *t, mw_error *err)
{
    char number[MW__NUMBER_MAX];
    mw__text text;
    mw__text_init(&text, t->allocator);
    mw__optimizer_describe(&t->optimizer, &text);
    mw__number_print_float(number, (float)t->loss_scale);
    mw__text_printf(&text, " loss_scale=%s", number);
    t->description = text.data; /* freed with the trainer, by the same allocator */
    return mw__text_check(&text, err);
}

/* ---- create ---- */

static bool has_half(const mw_trainer *t)
{
    const mw__block *body = mw__function_find(t->model, "main")->body;
    for (size_t i = 0; i < body->input_count; i++) {
        if (mw__is_resident(body->inputs[i]) && mw__trainer_stored(t, body->inputs[i]->type->dtype) == MW_F16)
            return true;
    }
    return false;
}

static mw_status prepare(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    MW_TRY(mw__target_resolve(&o->compile, &t->target, err));
    t->compile = o->compile;
    t->learning_rate = o->optimizer.learning_rate;
    t->optimizer = o->optimizer;
    MW_TRY(copy_model(t, o, err));
    const bool half = has_half(t);
    t->loss_scale = o->loss_scale != 0.0f ? (double)o->loss_scale : half ? HALF_LOSS_SCALE : 1.0;
    mw__optimizer_set_epsilon(&t->optimizer, half, t->loss_scale);
    return check_constants(t, half ? MW_F16 : MW_F32, err);
}

/* The training form of the loss, and the states of the model that are assigned, whether the loss needs them or not. */
static mw_status copy_step(mw__trainer_build *b, mw_error *err)
{
    const mw_trainer *t = b->trainer;
    const mw__block *body = mw__function_find(t->model, "main")->body;
    mw_tensor **roots = mw__arena_alloc(&b->arena, body->input_count + 1, sizeof *roots, err);
    mw_tensor **copies = mw__arena_alloc(&b->arena, body->input_count + 1, sizeof *copies, err);
    b->states = mw__arena_alloc(&b->arena, body->input_count + 1, sizeof *b->states, err);
    if (roots == NULL || copies == NULL || b->states == NULL)
        return MW_ERROR_MEMORY;
    size_t count = 0;
    roots[count++] = t->loss;
    for (size_t i = 0; i < body->input_count; i++) {
        if (body->inputs[i]->next != NULL) /* the clone takes the assigned value along */
            roots[count++] = body->inputs[i];
    }
    const mw__clone_options options = {.roots = roots, .root_count = count, .form = MW__CLONE_TRAINING};
    b->graph = mw__clone_graph(t->allocator, t->model, &options, copies, err);
    if (b->graph == NULL)
        return mw__status_or(err, MW_ERROR_ARGUMENT);
    b->loss = copies[0];
    memcpy(b->states, copies + 1, (count - 1) * sizeof *copies);
    b->state_count = count - 1;
    return MW_OK;
}

static mw_status make_step(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    MW_TRY(copy_step(b, err));
    b->graph->form = t->target.mask == MW_DEVICE_ANE ? MW__FORM_CHIP : MW__FORM_COMPACT;
    MW_TRY(mw__trainer_build_graph(b, err));
    MW_TRY(mw__trainer_check_scalars(t, t->learning_rate, 1, err));
    MW_TRY(build_state(b, err));
    t->step = mw__trainer_compile(t, b->graph, t->compile.keep_folder, err);
    if (t->step == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    t->compile.keep_folder = NULL; /* the caller's string may go */
    MW_TRY(mw__trainer_make_twin(t, b->graph, err));
    return resolve_ports(b, err);
}

static mw_status create(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    MW_TRY(prepare(t, o, err));
    mw__trainer_build b = {.trainer = t};
    mw__arena_init(&b.arena, t->allocator);
    const mw_status status = make_step(&b, err);
    mw_graph_destroy(b.graph);
    mw__arena_deinit(&b.arena);
    return status == MW_OK ? describe(t, err) : status;
}

mw_trainer *mw_trainer_create(const mw_trainer_options *options, mw_error *err)
{
    if (mw__failed(err) || check_options(options, err) != MW_OK)
        return NULL;
    const mw_allocator *allocator = mw__allocator_or_default(options->compile.allocator);
    mw_trainer *trainer = mw__alloc(allocator, 1, sizeof *trainer, err);
    if (trainer == NULL)
        return NULL;
    trainer->allocator = allocator;
    mw__state_init(&trainer->state, allocator, &trainer->target.symbols);
    if (create(trainer, options, err) == MW_OK)
        return trainer;
    mw_trainer_destroy(trainer);
    return NULL;
}
