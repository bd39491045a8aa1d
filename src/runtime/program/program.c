/* Programs: from a graph to a bound dispatch. program_compile.c says what of a graph is compiled; ports.c has the
 * ports. */
#include "base/file/file.h"
#include "base/memory/checked.h"
#include "base/text/log.h"
#include "graph/ir/uses.h"
#include "mil/io.h"
#include "mil/legalize/legal_form.h"
#include "runtime/program/flexible.h"
#include "runtime/program/program_folder.h"
#include "runtime/program/program_object.h"
#include "runtime/program/program_segments.h"

#include <string.h>

#define TEXT_LIMIT ((size_t)1 << 31)

/* What exists while a program is compiled. */
typedef struct compilation {
    const mw__program_request *request;
    mw_program *program;
    mw__pass_log own_log, *log;
    mw__legal_form form;
    const mw_graph *legal; /* the graph as the device accepts it */
    mw__arena scratch;
    const mw__use *const *uses;        /* of the user's graph */
    mw__names names;                   /* of its values */
    const char *folder;                /* where text and weights are */
    mw__program_folder private_folder; /* the same, if it is ours to remove */
    char *path;                        /* folder/model.mil */
} compilation;

/* ---- folder ---- */

static mw_status prepare_folder(compilation *c, mw_error *err)
{
    const mw_allocator *allocator = c->program->allocator;
    c->folder = c->request->options->keep_folder;
    if (c->folder != NULL) {
        MW_TRY(mw__file_make_folders(c->folder, err));
    } else {
        MW_TRY(mw__program_folder_make(&c->private_folder, allocator, c->legal, err));
        c->folder = c->private_folder.top.path;
    }
    c->path = mw__path_join(allocator, c->folder, "model.mil", err);
    return c->path != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- text ---- */

static mw_status legalize(compilation *c, mw_error *err)
{
    const mw__target *target = c->request->target;
    const mw__legal_options how = {.device = target->device,
                                   .chip = target->chip,
                                   .arithmetic = target->arithmetic,
                                   .log = c->log,
                                   .strict = c->request->options->strict,
                                   .allocator = c->program->allocator};
    MW_TRY(mw__legal_form_make(c->request->graph, &how, &c->form, err));
    c->legal = c->form.graph;
    return MW_OK;
}

static mw_status write_text(compilation *c, mw_error *err)
{
    const mw_write_options options = mw_write_defaults();
    size_t size;
    const mw__write_mode mode = c->private_folder.top.path != NULL ? MW__WRITE_PRIVATE : MW__WRITE_PLAIN;
    MW_TRY(mw__mil_write(c->legal, c->folder, &options, mode, &c->names, err));
    return mw__file_read(c->program->allocator, c->path, TEXT_LIMIT, &c->program->mil, &size, err);
}

/* ---- ports ---- */

/* One port of the dispatch, as the legal graph has it. */
static mw_status describe_port(compilation *c, const mw_tensor *value, bool is_output, mw_port *port,
                               mw__port_part *part, mw_error *err)
{
    mw__arena *arena = &c->program->arena;
    const char *mil_name = mw__names_get(&c->names, value);
    const char *name = value->part != NULL ? value->part->whole : value->name != NULL ? value->name : mil_name;
    *port = (mw_port){.dtype = value->type->dtype,
                      .shape = value->type->shape,
                      .is_output = is_output,
                      .is_parameter = mw__is_resident(value)};
    port->name = mw__arena_string(arena, name, strlen(name), err);
    port->mil_name = mw__arena_string(arena, mil_name, strlen(mil_name), err);
    *part = (mw__port_part){.mil_name = port->mil_name, .dtype = port->dtype, .shape = port->shape};
    if (value->part != NULL) {
        mw__part *copy = mw__arena_alloc(arena, 1, sizeof *copy, err);
        if (copy == NULL)
            return MW_ERROR_MEMORY;
        *copy = *value->part;
        copy->whole = port->name;
        part->part = copy;
    }
    return port->name != NULL && port->mil_name != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* What was an integer in the user's graph takes integers on every device. */
static mw__port_rule rule_of(const compilation *c, const mw_tensor *value, const mw_port *port)
{
    const mw_tensor *source = port->is_output ? NULL : mw_graph_find(c->request->graph, port->name);
    return (mw__port_rule){.dtype = port->dtype,
                           .declared = source != NULL ? source->type->dtype : port->dtype,
                           .whole = source != NULL && c->uses != NULL && mw__becomes_integer(c->uses, source),
                           .index_limit = value->index_limit,
                           .index_ignored = value->index_ignored,
                           .index_use = value->index_use};
}

/* True if the value is a further part of what the last port is made of. */
static bool continues(const mw_program *program, const mw_tensor *value, bool is_output)
{
    if (program->port_count == 0 || value->part == NULL)
        return false;
    const mw_port *last = &program->ports[program->port_count - 1];
    return last->is_output == is_output && mw__place_is_split(&program->places[program->port_count - 1]) &&
           strcmp(last->name, value->part->whole) == 0;
}

static mw_status add_ports(compilation *c, mw_tensor *const *values, size_t count, bool is_output, size_t first,
                           mw__port_part *parts, mw_error *err)
{
    mw_program *program = c->program;
    for (size_t i = 0; i < count; i++) {
        mw_port port;
        MW_TRY(describe_port(c, values[i], is_output, &port, &parts[first + i], err));
        if (continues(program, values[i], is_output)) {
            program->places[program->port_count - 1].count++;
            continue;
        }
        mw__port_place *place = &program->places[program->port_count];
        *place = (mw__port_place){.first = first + i, .count = 1, .parts = &parts[first + i]};
        program->ports[program->port_count] = mw__place_port(place, &port);
        program->rules[program->port_count] = rule_of(c, values[i], &program->ports[program->port_count]);
        program->port_count++;
    }
    return MW_OK;
}

/* Of two ports with one name the first is found: the input. */
static mw_status note_names(mw_program *program, mw_error *err)
{
    for (size_t i = 0; i < program->port_count; i++)
        if (mw__map_get(&program->port_names, program->ports[i].name) == NULL)
            MW_TRY(mw__map_set(&program->port_names, program->ports[i].name, &program->ports[i], err));
    return MW_OK;
}

static mw_status describe_ports(compilation *c, const mw__block *body, mw_error *err)
{
    mw_program *program = c->program;
    const size_t count = body->input_count + body->output_count;
    program->ports = mw__arena_alloc(&program->arena, count, sizeof *program->ports, err);
    program->rules = mw__arena_alloc(&program->arena, count, sizeof *program->rules, err);
    program->places = mw__arena_alloc(&program->arena, count, sizeof *program->places, err);
    mw__port_part *parts = mw__arena_alloc(&program->arena, count, sizeof *parts, err);
    if (program->ports == NULL || program->rules == NULL || program->places == NULL || parts == NULL)
        return MW_ERROR_MEMORY;
    const mw__function *source = mw__graph_main(c->request->graph);
    if (mw__uses_cast_to_integers(source->body) && (c->uses = mw__uses_make(&c->scratch, source, err)) == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(add_ports(c, body->inputs, body->input_count, false, 0, parts, err));
    program->input_count = program->port_count;
    MW_TRY(add_ports(c, body->outputs, body->output_count, true, body->input_count, parts, err));
    return note_names(program, err);
}

static mw_status bind_port(compilation *c, size_t index, const mw__type *type, mw_error *err)
{
    size_t size;
    mw_program *program = c->program;
    const mw_port *port = &program->ports[index];
    mw__port_place *place = &program->places[index];
    if (type->kind != MW__TENSOR || !mw__type_bytes(type, &size) || mw_dtype_bits(port->dtype) % 8 != 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "port \"%s\" has no fixed size: give its `?` extents a number",
                        port->name);
    const mw__program_request *request = c->request;
    mw__device_buffer shared;
    const bool is_shared = request->bind != NULL && request->bind(request->user, port, &shared);
    if (mw__place_is_split(place)) {
        const mw_status status =
            mw__place_bind(place, port, program->dispatch, is_shared ? &shared : NULL, &program->arena, err);
        program->staged = program->staged || place->staged;
        return status;
    }
    if (is_shared && shared.size != size)
        return mw__fail(err, MW_ERROR_STATE, "port \"%s\" has %zu bytes, its state buffer %zu", port->name, size,
                        shared.size);
    return mw__dispatch_add_port(program->dispatch, port->mil_name, port->is_output, size, is_shared ? &shared : NULL,
                                 err);
}

static mw_status bind_ports(compilation *c, const mw__block *body, mw_error *err)
{
    mw_program *program = c->program;
    for (size_t i = 0; i < program->port_count; i++) {
        const size_t at = program->places[i].first;
        const mw_tensor *value = at < body->input_count ? body->inputs[at] : body->outputs[at - body->input_count];
        MW_TRY(bind_port(c, i, value->type, err));
    }
    return mw__dispatch_finish(program->dispatch, err);
}

/* ---- compile ---- */

/* Espresso leaves its bundle beside the text, the engine nothing. */
static const char *bundle_folder(const compilation *c)
{
    return mw__symbols_are_engine(&c->request->target->symbols) ? NULL : c->folder;
}

static mw_status compile_dispatch(compilation *c, mw_error *err)
{
    mw_program *program = c->program;
    const mw__target *target = c->request->target;
    const bool asked = target->cache_folder[0] != '\0';
    const mw__dispatch_options options = {.allocator = program->allocator,
                                          .symbols = &target->symbols,
                                          .mil_path = c->path,
                                          .cache_folder = asked ? target->cache_folder : bundle_folder(c),
                                          .reuse = asked && !mw__pass_is_watched(c->log),
                                          .owned = c->private_folder.top.path != NULL,
                                          .mask = target->device->mask,
                                          .threads = target->threads,
                                          .profile = target->profile,
                                          .off = c->request->options->passes.off,
                                          .log = c->log,
                                          .flush_subnormals = target->flush_subnormals,
                                          .exact_convolution = target->exact_convolution,
                                          .name = "main",
                                          .port_count = program->port_count}; /* or more, in parts */
    MW_TRY(mw__program_cut(program, c->request, c->legal, err));
    if (program->segments != NULL)
        MW_TRY(mw__program_compile_segments(program, c->request, &options, err));
    else
        program->dispatch = mw__dispatch_create(&options, err);
    if (program->dispatch == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    program->device = target->device;
    program->chip = target->chip;
    program->provider = mw__provider_name(&target->symbols);
    program->where = mw__target_describe(target, program->dispatch, &program->arena, err);
    return program->where != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status compile_program(compilation *c, mw_error *err)
{
    MW_TRY(legalize(c, err));
    const mw__function *function = mw__graph_main(c->legal);
    if (function == NULL || function->body->output_count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the graph has no output: declare results with mw_output");
    MW_TRY(prepare_folder(c, err));
    MW_TRY(write_text(c, err));
    MW_TRY(describe_ports(c, function->body, err));
    MW_TRY(compile_dispatch(c, err));
    MW_TRY(bind_ports(c, function->body, err));
    return mw__program_take_warnings(c->program, c->form.narrowed, err);
}

/* Espresso may open files of its bundle later, so its folder stays as long as the program. */
static void compilation_deinit(compilation *c, bool good)
{
    const mw_allocator *allocator = c->program->allocator;
    if (good && c->request->target->symbols.provider == MW_PROVIDER_ESPRESSO)
        c->program->folder = c->private_folder;
    else
        mw__program_folder_remove(&c->private_folder, allocator);
    mw__free(allocator, c->path);
    mw__names_deinit(&c->names);
    mw__arena_deinit(&c->scratch);
    mw__legal_form_deinit(&c->form);
    mw__pass_log_deinit(&c->own_log);
}

mw_program *mw__program_make(const mw_allocator *allocator, mw_error *err)
{
    mw_program *program = mw__live_make(allocator, sizeof *program, MW__LIVE_PROGRAM, err);
    if (program == NULL)
        return NULL;
    program->allocator = allocator;
    atomic_init(&program->users, 1);
    mw__arena_init(&program->arena, allocator);
    mw__map_init(&program->port_names, allocator);
    return program;
}

mw_program *mw__program_create(const mw__program_request *request, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(request->options->allocator);
    mw_program *program = mw__program_make(allocator, err);
    if (program == NULL)
        return NULL;
    compilation c = {.request = request, .program = program};
    mw__program_log_init(&c.own_log, request->options, request->target);
    c.log = request->log != NULL ? request->log : &c.own_log;
    mw__arena_init(&c.scratch, allocator);
    mw__arena_init(&c.names.arena, allocator); /* so that deinit is right before the names are assigned */
    const bool good = compile_program(&c, err) == MW_OK;
    compilation_deinit(&c, good);
    if (good)
        return program;
    mw_program_destroy(program);
    return NULL;
}

/* The buffers of places go after what is bound to them. */
static void destroy_dispatch(mw_program *program)
{
    if (program->dispatch == NULL)
        return;
    const mw__symbols symbols = *mw__dispatch_symbols(program->dispatch);
    mw__dispatch_destroy(program->dispatch);
    for (size_t i = 0; program->places != NULL && i < program->port_count; i++)
        mw__place_release(&program->places[i], &symbols);
}

/* Its memory may be that of others (options.share.program): then it goes with the last of them. */
static void free_program(mw_program *program)
{
    if (atomic_fetch_sub(&program->users, 1) > 1)
        return;
    const mw_allocator *allocator = program->allocator;
    mw_program *lender = program->lender;
    mw__state_owner *state_lender = program->state_lender;
    mw__flexible_destroy(program->flexible);
    destroy_dispatch(program);
    mw__program_release_segments(program);
    mw__program_folder_remove(&program->folder, allocator);
    mw__free(allocator, program->mil);
    mw__placements_free(atomic_load(&program->placements));
    mw__map_deinit(&program->port_names);
    mw__arena_deinit(&program->arena);
    mw__free(allocator, program);
    if (lender != NULL)
        free_program(lender);
    if (state_lender != NULL)
        mw__state_owner_release(state_lender);
}

void mw__program_destroy(mw_program *program)
{
    if (program != NULL && mw__live_remove(program, MW__LIVE_PROGRAM, "mw_program_destroy") &&
        mw__guard_close(&program->guard))
        free_program(program);
}

void mw_program_destroy(mw_program *program)
{
    if (mw__live_has(program, MW__LIVE_PROGRAM) && program->held)
        mw__log(MW_LOG_ERROR, "mw_program_destroy: the program belongs to a trainer, which destroys it");
    else
        mw__program_destroy(program);
}

/* ---- one call at a time ---- */

mw_status mw__program_enter(mw__entry *out, mw_program *program, const char *call, mw_error *err)
{
    *out = (mw__entry){0};
    if (program == NULL)
        return MW_OK; /* the call has its own message for it */
    MW_TRY(mw__live_check(program, MW__LIVE_PROGRAM, call, err));
    MW_TRY(mw__guard_enter(out, &program->guard, "program", call, MW__LENT_IN_PROGRESS, err));
    out->object = program;
    if (program->state_lender == NULL || program->guard.depth > 1)
        return MW_OK;
    const mw_status status = mw__family_enter(program->state_lender, &program->in_family, call, err);
    if (status == MW_OK)
        return MW_OK;
    if (mw__guard_leave(out))
        free_program(program);
    *out = (mw__entry){0};
    return status;
}

mw_status mw__program_leave(const mw__entry *entry, mw_status status, mw_error *err)
{
    mw_program *program = entry->object;
    if (program != NULL && program->guard.depth == 1)
        mw__family_leave(&program->in_family);
    if (!mw__guard_leave(entry))
        return status;
    free_program(entry->object);
    mw_error_clear(err);
    return mw__fail(err, MW_ERROR_STATE, "%s: the program was destroyed meanwhile, by a callback or another thread",
                    entry->call);
}
