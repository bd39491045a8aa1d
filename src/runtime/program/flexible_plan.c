/* Plans of a flexible program: found by the shapes and values that they are for, made, entered and dropped. */
#include "runtime/program/flexible.h"
#include "runtime/program/lowered.h"

#include "base/memory/checked.h"
#include "base/text/text.h"

#include <string.h>

/* ---- what a plan is for ---- */

static bool fits_flexible_plan(const mw__flexible *f, const mw__flexible_plan *plan)
{
    for (size_t i = 0, d = 0; i < f->input_count; i++) {
        const mw__flexible_input *input = &f->inputs[i];
        if (!mw_shape_equal(plan->shapes[i], input->shape))
            return false;
        if (input->deciding && memcmp(plan->values + MW__HELD_SIZE * d++, input->held, MW__HELD_SIZE) != 0)
            return false;
    }
    return true;
}

static void drop_plan(const mw__flexible *f, mw__flexible_plan *plan)
{
    mw__program_destroy(plan->program);
    mw__free(f->allocator, plan->shapes);
    mw__free(f->allocator, plan->values);
    *plan = (mw__flexible_plan){0};
}

void mw__flexible_drop_plans(mw__flexible *f)
{
    for (size_t i = 0; i < f->plan_count; i++)
        drop_plan(f, &f->plans[i]);
    f->plan_count = 0;
    f->current = (mw__flexible_plan){0};
}

static mw_status note_purpose(const mw__flexible *f, mw__flexible_plan *plan, mw_error *err)
{
    plan->shapes = mw__alloc(f->allocator, f->input_count, sizeof *plan->shapes, err);
    plan->values = mw__alloc(f->allocator, f->deciding_count, MW__HELD_SIZE, err);
    if (plan->shapes == NULL || plan->values == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0, d = 0; i < f->input_count; i++) {
        plan->shapes[i] = f->inputs[i].shape;
        if (f->inputs[i].deciding)
            memcpy(plan->values + MW__HELD_SIZE * d++, f->inputs[i].held, MW__HELD_SIZE);
    }
    return MW_OK;
}

/* ---- buffers that all plans have ---- */

static const mw_tensor *source_of(const mw__flexible *f, const mw_port *port)
{
    const mw__block *body = f->function->body;
    mw_tensor *const *values = port->is_output ? body->outputs : body->inputs;
    const size_t count = port->is_output ? body->output_count : body->input_count;
    for (size_t i = 0; i < count; i++)
        if (values[i]->name != NULL && strcmp(values[i]->name, port->name) == 0)
            return values[i];
    return NULL;
}

static mw__flexible_buffer *find_buffer(const mw__flexible *f, const mw_port *port)
{
    for (size_t i = 0; i < f->buffer_count; i++)
        if (f->buffers[i].is_output == port->is_output && strcmp(f->buffers[i].name, port->name) == 0)
            return &f->buffers[i];
    return NULL;
}

static mw_status add_buffer(mw__flexible *f, const mw_port *port, size_t size, mw_error *err)
{
    MW_TRY(mw__grow(f->allocator, &f->buffers, &f->buffer_capacity, f->buffer_count + 1, sizeof *f->buffers, err));
    mw__flexible_buffer *made = &f->buffers[f->buffer_count];
    *made = (mw__flexible_buffer){.is_output = port->is_output};
    made->name = mw__arena_string(&f->owner->arena, port->name, strlen(port->name), err);
    if (made->name == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__dispatch_buffer_alloc(&f->target.symbols, size, &made->buffer, err));
    f->buffer_count++;
    return MW_OK;
}

/* A port whose shape never changes keeps what it holds from plan to plan. */
static bool bind_shared(void *user, const mw_port *port, mw__device_buffer *out)
{
    mw__flexible *f = user;
    const mw_tensor *source = source_of(f, port);
    const int64_t count = mw_shape_count(port->shape);
    size_t size;
    if (source == NULL || mw_shape_count(mw_tensor_shape(source)) < 0 || count < 0 || /* a state has one shape */
        !mw__mul_size((size_t)count, (size_t)mw_dtype_bits(port->dtype) / 8, &size))
        return false;
    if (find_buffer(f, port) == NULL && add_buffer(f, port, size, &f->bind_error) != MW_OK)
        return false;
    *out = find_buffer(f, port)->buffer;
    return out->size == size;
}

static mw_status fill_residents(mw__flexible *f, const mw_program *program, mw_error *err)
{
    for (size_t i = 0; i < program->input_count; i++) {
        const mw_port *port = &program->ports[i];
        mw__flexible_buffer *buffer = port->is_parameter ? find_buffer(f, port) : NULL;
        const mw_tensor *source = mw_graph_find(f->source, port->name);
        if (buffer == NULL || buffer->filled || source == NULL)
            continue;
        MW_TRY(mw__parameter_fill(source, port->dtype, &f->options, f->allocator, buffer->buffer.data, err));
        buffer->filled = true;
    }
    return MW_OK;
}

/* ---- making ---- */

mw_status mw__flexible_decide(mw__flexible *f, const mw_tensor *const *deciding, size_t count, mw_error *err)
{
    for (size_t i = 0; i < f->input_count; i++)
        for (size_t k = 0; k < count; k++) {
            mw__flexible_input *input = &f->inputs[i];
            if (input->deciding || input->value->name == NULL || strcmp(input->value->name, deciding[k]->name) != 0)
                continue;
            input->held = mw__alloc(f->allocator, 1, MW__HELD_SIZE, err);
            if (input->held == NULL)
                return MW_ERROR_MEMORY;
            input->deciding = true;
            f->deciding_count++;
        }
    if (count > 0)
        mw__flexible_drop_plans(f); /* none of them says what these inputs hold */
    return MW_OK;
}

/* The function for what is chosen, or NULL in *out and more inputs that decide. */
static mw_status specialize(mw__flexible *f, mw_graph **out, mw_error *err)
{
    const mw_tensor *deciding[MW__DECIDING_MAX];
    size_t count = 0;
    mw__given *given = mw__alloc(f->allocator, f->input_count, sizeof *given, err);
    *out = NULL;
    if (given == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < f->input_count; i++)
        given[i] = (mw__given){.shape = f->inputs[i].shape, .value = f->inputs[i].deciding ? f->inputs[i].held : NULL};
    mw_graph *graph = mw__specialize(f->allocator, f->function, given, true, err);
    mw__free(f->allocator, given);
    mw_status status = graph != NULL ? MW_OK : mw__status_or(err, MW_ERROR_STATE);
    if (status == MW_OK)
        status = mw__find_deciding(mw__graph_main(graph), deciding, &count, err);
    if (status == MW_OK)
        status = mw__flexible_decide(f, deciding, count, err);
    if (status == MW_OK && count == 0)
        *out = graph;
    else
        mw__graph_free(graph);
    return status;
}

/* A folder of its own for each plan, so that the texts of all can be read. */
static mw_status name_folder(const mw__flexible *f, mw_compile_options *options, mw__text *path, mw_error *err)
{
    if (f->options.keep_folder == NULL || f->options.keep_folder[0] == '\0') /* which is refused as it is */
        return MW_OK;
    mw__text_printf(path, "%s/plan-%zu", f->options.keep_folder, f->made + 1);
    options->keep_folder = path->data;
    return mw__text_check(path, err);
}

static mw_status compile_flexible_plan(mw__flexible *f, const mw_graph *graph, mw_program **out, mw_error *err)
{
    mw_compile_options options = f->options;
    mw__text path;
    mw__text_init(&path, f->allocator);
    mw_error_clear(&f->bind_error);
    mw_status status = name_folder(f, &options, &path, err);
    const mw__program_request request = {
        .graph = graph, .options = &options, .target = &f->target, .bind = bind_shared, .user = f};
    *out = status == MW_OK ? mw__lowered_create(&request, err) : NULL;
    mw__text_deinit(&path);
    if (*out == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    f->made++;
    status = f->bind_error.status == MW_OK ? fill_residents(f, *out, err)
                                           : mw__fail(err, f->bind_error.status, "%s", f->bind_error.message);
    for (size_t i = 0; i < f->share_count && status == MW_OK; i++)
        status = mw_program_alias(*out, f->shares[i].output, f->shares[i].input, err);
    if (status != MW_OK)
        mw__program_destroy(*out);
    return status;
}

static mw_status make_flexible_plan(mw__flexible *f, const mw__flexible_plan **out, mw_error *err)
{
    mw_graph *graph;
    mw__flexible_plan plan = {0};
    *out = NULL;
    const mw_status fit = specialize(f, &graph, err);
    f->unsuitable = fit == MW_ERROR_SHAPE || fit == MW_ERROR_ARGUMENT;
    MW_TRY(fit);
    if (graph == NULL)
        return MW_OK;
    mw_status status = mw__grow(f->allocator, &f->plans, &f->plan_capacity, f->plan_count + 1, sizeof *f->plans, err);
    if (status == MW_OK)
        status = note_purpose(f, &plan, err);
    if (status == MW_OK)
        status = compile_flexible_plan(f, graph, &plan.program, err);
    mw__graph_free(graph);
    if (status != MW_OK) {
        plan.program = NULL;
        drop_plan(f, &plan);
        return status;
    }
    f->plans[f->plan_count] = plan;
    *out = &f->plans[f->plan_count++];
    return MW_OK;
}

static bool all_written(const mw__flexible *f)
{
    for (size_t i = 0; i < f->input_count; i++)
        if (f->inputs[i].deciding && !f->inputs[i].written)
            return false;
    return true;
}

mw_status mw__flexible_find(mw__flexible *f, const mw__flexible_plan **out, mw_error *err)
{
    *out = NULL;
    while (*out == NULL && all_written(f)) { /* each round but the last finds one more input that decides */
        for (size_t i = 0; i < f->plan_count && *out == NULL; i++)
            if (fits_flexible_plan(f, &f->plans[i]))
                *out = &f->plans[i];
        if (*out == NULL)
            MW_TRY(make_flexible_plan(f, out, err));
    }
    return MW_OK;
}

/* ---- entering ---- */

/* An input that keeps its shape keeps its values; any other starts at zeros. */
static void carry_inputs(const mw__flexible *f, const mw__flexible_plan *to)
{
    const mw__flexible_plan *from = &f->current;
    for (size_t i = 0; i < f->input_count; i++) {
        const mw__flexible_input *input = &f->inputs[i];
        const size_t into =
            input->value->name != NULL ? mw__program_find(to->program, input->value->name) : to->program->port_count;
        if (!input->open || input->deciding || into == to->program->port_count)
            continue;
        const size_t size =
            mw__program_elements(to->program, into) * (size_t)mw_dtype_bits(to->program->ports[into].dtype) / 8;
        void *data = mw__program_data(to->program, into);
        const bool keeps = from->program != NULL && mw_shape_equal(from->shapes[i], to->shapes[i]);
        const size_t old = keeps ? mw__program_find(from->program, input->value->name) : 0;
        if (keeps && old < from->program->port_count)
            memcpy(data, mw__program_data(from->program, old), size);
        else
            memset(data, 0, size);
    }
}

static mw_status copy_name(mw__flexible *f, const char **name, const char *now, mw_error *err)
{
    if (strcmp(*name, now) == 0)
        return MW_OK;
    const char *copy = mw__arena_string(&f->owner->arena, now, strlen(now), err);
    *name = copy != NULL ? copy : *name;
    return copy != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* The user's ports are those of the plan. */
static mw_status update_ports(mw__flexible *f, const mw_program *plan, mw_error *err)
{
    for (size_t i = 0; i < f->owner->port_count; i++) {
        mw_port *port = &f->owner->ports[i];
        for (size_t k = 0; k < plan->port_count; k++) {
            const mw_port *now = &plan->ports[k];
            if (now->is_output != port->is_output || strcmp(now->name, port->name) != 0)
                continue;
            MW_TRY(copy_name(f, &port->mil_name, now->mil_name, err));
            port->dtype = now->dtype;
            port->shape = now->shape;
        }
    }
    return MW_OK;
}

static void drop_oldest(mw__flexible *f)
{
    size_t oldest = 0;
    for (size_t i = 1; i < f->plan_count; i++)
        if (f->plans[i].used < f->plans[oldest].used)
            oldest = i;
    drop_plan(f, &f->plans[oldest]);
    f->plans[oldest] = f->plans[--f->plan_count];
}

mw_status mw__flexible_enter(mw__flexible *f, const mw__flexible_plan *plan, mw_error *err)
{
    if (plan->program != f->current.program) {
        MW_TRY(update_ports(f, plan->program, err));
        carry_inputs(f, plan);
    }
    for (size_t i = 0; i < f->plan_count; i++)
        if (f->plans[i].program == plan->program)
            f->plans[i].used = ++f->clock;
    f->current = *plan;
    f->moved = false;
    if (f->plan_count > f->plan_max)
        drop_oldest(f);
    return MW_OK;
}
