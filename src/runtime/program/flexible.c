/* The program that the user has of a function with open extents: its ports, its shapes, and which plan answers a call.
 */
#include "runtime/program/flexible.h"

#include "base/number/float_mode.h"
#include "graph/ir/admitted.h"
#include "graph/ir/classify.h"
#include "graph/transform/clone/clone.h"

#include <string.h>

/* ---- making and freeing ---- */

/* What the values of a port are: of a state, what it holds. */
static const mw__type *type_of(const mw_tensor *value)
{
    return value->type->kind == MW__STATE && value->type->count == 1 ? value->type->element[0] : value->type;
}

static mw_shape shape_of(const mw_tensor *value)
{
    const mw__type *type = type_of(value);
    if (mw__classify_of(value) != NULL)
        return mw__classify_shape(value);
    return type->kind == MW__TENSOR ? type->shape : mw_shape_scalar();
}

static mw_dtype dtype_of(const mw_tensor *value)
{
    return mw__classify_of(value) != NULL ? mw__classify_dtype(value) : type_of(value)->dtype;
}

/* A port as the text declares it, until there is a plan. */
static mw_status describe_port(mw__flexible *f, const mw_tensor *value, bool is_output, mw_error *err)
{
    mw_program *owner = f->owner;
    const char *name = value->name != NULL ? value->name : value->hint;
    const char *copy = mw__arena_string(&owner->arena, name, strlen(name), err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    mw_port *port = &owner->ports[owner->port_count++];
    *port = (mw_port){.name = copy,
                      .mil_name = copy,
                      .dtype = dtype_of(value),
                      .shape = shape_of(value),
                      .is_output = is_output,
                      .is_parameter = mw__is_resident(value) || value->type->kind == MW__STATE};
    if (mw__map_get(&owner->port_names, copy) != NULL)
        return MW_OK;
    return mw__map_set(&owner->port_names, copy, port, err);
}

static mw_status describe_ports(mw__flexible *f, mw_error *err)
{
    const mw__block *body = f->function->body;
    mw_program *owner = f->owner;
    owner->ports = mw__arena_alloc(&owner->arena, body->input_count + body->output_count, sizeof *owner->ports, err);
    if (owner->ports == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->input_count; i++)
        MW_TRY(describe_port(f, body->inputs[i], false, err));
    owner->input_count = owner->port_count;
    for (size_t i = 0; i < body->output_count; i++)
        MW_TRY(describe_port(f, body->outputs[i], true, err));
    owner->where = mw__target_describe(&f->target, NULL, &owner->arena, err);
    return owner->where != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* The default shapes, where there are any. */
static mw_status settle_inputs(mw__flexible *f, mw_error *err)
{
    const mw__block *body = f->function->body;
    f->inputs = mw__alloc(f->allocator, body->input_count, sizeof *f->inputs, err);
    if (f->inputs == NULL)
        return MW_ERROR_MEMORY;
    f->input_count = body->input_count;
    for (size_t i = 0; i < body->input_count; i++) {
        mw__flexible_input *input = &f->inputs[i];
        mw_admitted_shapes admitted;
        input->value = body->inputs[i];
        input->shape = shape_of(input->value);
        input->open = mw_shape_count(input->shape) < 0;
        if (!mw__is_fed(input->value))
            continue;
        MW_TRY(mw__admitted_read(f->function, input->value, &admitted, err));
        if (admitted.has_standard)
            input->shape = admitted.standard;
        f->owner->ports[i].shape = input->shape;
    }
    return MW_OK;
}

static const mw__flexible_input *find_open(const mw__flexible *f)
{
    for (size_t i = 0; i < f->input_count; i++)
        if (f->inputs[i].open && mw_shape_count(f->inputs[i].shape) < 0)
            return &f->inputs[i];
    return NULL;
}

/* What can be compiled now. */
static mw_status prepare_plans(mw__flexible *f, mw_error *err)
{
    const mw__flexible_plan *plan;
    if (find_open(f) != NULL)
        return MW_OK;
    MW_TRY(mw__flexible_find(f, &plan, err));
    return plan != NULL ? mw__flexible_enter(f, plan, err) : MW_OK;
}

/* Default shapes that no plan can have are none: the program has no shape until one is chosen. */
static mw_status prepare_default(mw__flexible *f, mw_error *err)
{
    mw_error why = {0};
    bool open = false;
    const mw_status status = prepare_plans(f, &why);
    for (size_t i = 0; i < f->input_count; i++)
        open = open || f->inputs[i].open;
    if (status != MW_OK && err != NULL && !(open && f->unsuitable))
        *err = why;
    if (status == MW_OK || !open || !f->unsuitable)
        return status;
    for (size_t i = 0; i < f->input_count; i++)
        if (f->inputs[i].open)
            f->owner->ports[i].shape = f->inputs[i].shape = shape_of(f->inputs[i].value);
    f->why_open = mw__arena_string(&f->owner->arena, why.message, strlen(why.message), err);
    return f->why_open != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status create_flexible(mw__flexible *f, const mw__function *function, const mw_compile_options *options,
                                 mw_error *err)
{
    const mw__clone_options whole = {.rule = mw__clone_as_declared, .keep_outputs = true};
    mw_program *owner = f->owner;
    f->options = *options;
    f->plan_max = options->max_plans > 0 ? (size_t)options->max_plans : MW__PLANS_DEFAULT;
    if (options->keep_folder != NULL) {
        f->options.keep_folder =
            mw__arena_string(&owner->arena, options->keep_folder, strlen(options->keep_folder), err);
        if (f->options.keep_folder == NULL)
            return MW_ERROR_MEMORY;
    }
    f->source = mw__clone_function(f->allocator, function, &whole, NULL, err);
    if (f->source == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    f->function = mw__graph_main(f->source);
    if (f->function->body->output_count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the graph has no output: declare results with mw_output");
    const mw_tensor *deciding[MW__DECIDING_MAX];
    size_t count;
    MW_TRY(mw__program_take_classes(owner, f->function, err));
    MW_TRY(describe_ports(f, err));
    MW_TRY(settle_inputs(f, err));
    MW_TRY(mw__find_constant_inputs(f->function, deciding, &count, err));
    MW_TRY(mw__flexible_decide(f, deciding, count, err));
    return prepare_default(f, err);
}

mw_program *mw__flexible_create(const mw__function *function, const mw_compile_options *options,
                                const mw__target *target, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    mw_program *owner = mw__program_make(allocator, err);
    mw__flexible *f = owner != NULL ? mw__alloc(allocator, 1, sizeof *f, err) : NULL;
    if (f == NULL) {
        mw__program_destroy(owner);
        return NULL;
    }
    *f = (mw__flexible){.allocator = allocator, .owner = owner, .target = *target};
    owner->flexible = f;
    if (create_flexible(f, function, options, err) == MW_OK)
        return owner;
    mw__program_destroy(owner);
    return NULL;
}

void mw__flexible_destroy(mw__flexible *f)
{
    if (f == NULL)
        return;
    mw__flexible_drop_plans(f);
    for (size_t i = 0; i < f->buffer_count; i++)
        mw__dispatch_buffer_release(&f->target.symbols, &f->buffers[i].buffer);
    for (size_t i = 0; i < f->input_count; i++)
        mw__free(f->allocator, f->inputs[i].held);
    mw__free(f->allocator, f->buffers);
    mw__free(f->allocator, f->shares);
    mw__free(f->allocator, f->inputs);
    mw__free(f->allocator, f->plans);
    mw__graph_free(f->source);
    mw__free(f->allocator, f);
}

/* ---- which plan answers ---- */

mw__flexible_input *mw__flexible_held(const mw__flexible *f, const char *port)
{
    for (size_t i = 0; i < f->input_count; i++)
        if (f->inputs[i].deciding && strcmp(f->inputs[i].value->name, port) == 0)
            return &f->inputs[i];
    return NULL;
}

void mw__flexible_note_written(mw__flexible_input *input)
{
    const size_t used = (size_t)mw_shape_count(input->shape) * (size_t)mw_dtype_bits(input->value->type->dtype) / 8;
    memset((char *)input->held + used, 0, MW__HELD_SIZE - used);
    input->written = true;
}

static mw_status fail_open(const mw__flexible *f, mw_error *err)
{
    char text[200];
    const mw__flexible_input *open = find_open(f);
    if (open != NULL)
        return mw__fail(err, MW_ERROR_STATE, "input \"%s\" is %s: choose its shape with mw_program_set_shapes%s%s%s",
                        mw_tensor_name(open->value), mw__shape_print(open->shape, text, sizeof text),
                        f->why_open != NULL ? " (its default does not suit the program: " : "",
                        f->why_open != NULL ? f->why_open : "", f->why_open != NULL ? ")" : "");
    for (size_t i = 0; i < f->input_count; i++)
        if (f->inputs[i].deciding && !f->inputs[i].written)
            return mw__fail(err, MW_ERROR_STATE, "input \"%s\" decides the shapes of results: write it first",
                            mw_tensor_name(f->inputs[i].value));
    return MW_OK;
}

static mw_status take_plan(mw__flexible *f, mw_error *err)
{
    MW__FLOAT_SCOPE; /* constants may be evaluated */
    const mw__flexible_plan *plan = NULL;
    if (find_open(f) == NULL)
        MW_TRY(mw__flexible_find(f, &plan, err));
    return plan != NULL ? mw__flexible_enter(f, plan, err) : fail_open(f, err);
}

mw_status mw__flexible_resolve(mw__flexible *f, mw_program **out, mw_error *err)
{
    *out = NULL;
    if (f->current.program == NULL || f->moved)
        MW_TRY(take_plan(f, err));
    *out = f->current.program;
    return MW_OK;
}

mw_status mw__flexible_run(mw__flexible *f, mw_error *err)
{
    if (f->current.program == NULL || f->moved || f->deciding_count > 0)
        MW_TRY(take_plan(f, err));
    MW_TRY(mw__program_run(f->current.program, err));
    f->ran = true;
    return MW_OK;
}

static mw_status check_sizes(const mw_program *program, const char *output, const char *input, mw_error *err)
{
    const size_t from = mw__program_find(program, output), to = mw__program_find(program, input);
    char a[200], b[200];
    if (from == program->port_count || to == program->port_count ||
        mw__program_elements(program, from) == mw__program_elements(program, to))
        return MW_OK;
    return mw__fail(err, MW_ERROR_SHAPE, "output \"%s\" is %s where input \"%s\" is %s: they cannot be shared", output,
                    mw__shape_print(program->ports[from].shape, a, sizeof a), input,
                    mw__shape_print(program->ports[to].shape, b, sizeof b));
}

mw_status mw__flexible_share_ports(mw__flexible *f, const char *output, const char *input, mw_error *err)
{
    if (f->ran)
        return mw__fail(err, MW_ERROR_STATE,
                        "output \"%s\" cannot be shared: the program has run, which freezes bindings", output);
    MW_TRY(mw__grow(f->allocator, &f->shares, &f->share_capacity, f->share_count + 1, sizeof *f->shares, err));
    mw__flexible_share *share = &f->shares[f->share_count];
    share->output = mw__arena_string(&f->owner->arena, output, strlen(output), err);
    share->input = mw__arena_string(&f->owner->arena, input, strlen(input), err);
    if (share->output == NULL || share->input == NULL)
        return MW_ERROR_MEMORY;
    if (mw__flexible_held(f, input) != NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "input \"%s\" decides the shapes of results: it cannot be shared",
                        input);
    for (size_t i = 0; i < f->plan_count; i++)
        MW_TRY(check_sizes(f->plans[i].program, output, input, err)); /* so that all plans share, or none */
    for (size_t i = 0; i < f->plan_count; i++)
        MW_TRY(mw_program_alias(f->plans[i].program, output, input, err));
    f->share_count++;
    return MW_OK;
}

/* ---- shapes ---- */

static mw_status choose_shapes(mw__flexible *f, const mw_input_shape *shapes, size_t count, mw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        mw_tensor *value;
        MW_TRY(mw__fed_input(f->function, "mw_program_set_shapes", shapes[i].input, &value, err));
        MW_TRY(mw__admitted_check(f->function, value, shapes[i].shape, err));
        for (size_t k = 0; k < i; k++)
            if (strcmp(shapes[k].input, shapes[i].input) == 0)
                return mw__fail(err, MW_ERROR_ARGUMENT, "mw_program_set_shapes: input \"%s\" is named twice",
                                value->name);
        for (size_t k = 0; k < f->input_count; k++)
            if (f->inputs[k].value == value)
                f->inputs[k].shape = shapes[i].shape;
    }
    return MW_OK;
}

static mw_status check_together(const mw__flexible *f, mw_error *err)
{
    mw_shape *shapes = mw__alloc(f->allocator, f->input_count, sizeof *shapes, err);
    if (shapes == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < f->input_count; i++)
        shapes[i] = f->inputs[i].shape;
    const mw_status status = find_open(f) == NULL ? mw__admitted_check_together(f->function, shapes, err) : MW_OK;
    mw__free(f->allocator, shapes);
    return status;
}

/* An output has no shape before there is a plan for it. */
static void show_shapes(mw__flexible *f)
{
    mw_program *owner = f->owner;
    for (size_t i = 0; i < f->input_count; i++)
        owner->ports[i].shape = f->inputs[i].shape;
    for (size_t i = owner->input_count; i < owner->port_count && f->moved; i++)
        owner->ports[i].shape = shape_of(f->function->body->outputs[i - owner->input_count]);
}

/* The choice is taken back, or stands; an input that decides and has another shape now is to be written again. */
static void end_choice(mw__flexible *f, const mw_shape *before, bool stands)
{
    for (size_t i = 0; i < f->input_count; i++) {
        mw__flexible_input *input = &f->inputs[i];
        if (!stands)
            input->shape = before[i];
        else if (!mw_shape_equal(input->shape, before[i]))
            input->written = false;
    }
}

/* Inputs that are used together have shapes that fit together, and nobody can say which do. */
static mw_status explain(const mw__flexible *f, size_t count, const mw_error *why, mw_error *err)
{
    size_t open = 0;
    for (size_t i = 0; i < f->input_count; i++)
        open += f->inputs[i].open;
    const bool alone = why->status == MW_ERROR_SHAPE && count < open;
    mw__fail(err, why->status, "%s%s", why->message, alone ? " (shapes that belong together are set in one call)" : "");
    mw__error_subject(err, why->operation, why->tensor);
    return why->status;
}

static mw_status set_shapes(mw__flexible *f, const mw_input_shape *shapes, size_t count, mw_error *err)
{
    mw_shape *before = mw__alloc(f->allocator, f->input_count, sizeof *before, err);
    if (before == NULL)
        return MW_ERROR_MEMORY;
    const bool moved = f->moved;
    for (size_t i = 0; i < f->input_count; i++)
        before[i] = f->inputs[i].shape;
    mw_error why = {0};
    mw_status status = choose_shapes(f, shapes, count, &why);
    if (status == MW_OK)
        status = check_together(f, &why);
    f->moved = true;
    if (status == MW_OK)
        status = prepare_plans(f, &why);
    end_choice(f, before, status == MW_OK);
    f->moved = status == MW_OK ? f->moved : moved;
    mw__free(f->allocator, before);
    show_shapes(f);
    return status == MW_OK ? MW_OK : explain(f, count, &why, err);
}

/* A program of one shape has it. */
static mw_status check_fixed(const mw_program *program, const mw_input_shape *shapes, size_t count, mw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const size_t port = shapes[i].input != NULL ? mw__program_find(program, shapes[i].input) : program->port_count;
        char a[200], b[200];
        if (port >= program->input_count)
            return mw__fail(err, MW_ERROR_ARGUMENT, "mw_program_set_shapes: \"%.96s\" is no input of the program",
                            shapes[i].input != NULL ? shapes[i].input : "");
        if (!mw_shape_equal(program->ports[port].shape, shapes[i].shape))
            return mw__fail(err, MW_ERROR_SHAPE, "input \"%.96s\" cannot be %s; it admits %s", shapes[i].input,
                            mw__shape_print(shapes[i].shape, a, sizeof a),
                            mw__shape_print(program->ports[port].shape, b, sizeof b));
    }
    return MW_OK;
}

mw_status mw_program_set_shapes(mw_program *program, const mw_input_shape *shapes, size_t count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    if (program == NULL || (shapes == NULL && count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_program_set_shapes: %s NULL",
                        program == NULL ? "the program is" : "shapes is");
    mw__entry entry;
    MW_TRY(mw__program_enter(&entry, program, __func__, err));
    const mw_status status = program->flexible != NULL ? set_shapes(program->flexible, shapes, count, err)
                                                       : check_fixed(program, shapes, count, err);
    return mw__program_leave(&entry, status, err);
}
