/* Programs of several functions. */
#include "runtime/program/program_segments.h"

#include "graph/ir/ir.h"
#include "mil/io.h"

#include <stdio.h>
#include <string.h>

/* ---- cutting ---- */

/* By program port: the e5rt buffer that it is bound to from outside, or NULL. */
static void list_buffers(const mw_program *program, const mw__program_request *request, void **out)
{
    for (size_t i = 0; request->bind != NULL && i < program->port_count; i++) {
        mw__device_buffer buffer;
        out[i] = request->bind(request->user, &program->ports[i], &buffer) ? buffer.object : NULL;
    }
}

/* By output of the graph, which is counted in parts: the input on whose buffer it is. */
static void find_old(const mw_program *program, void *const *buffers, size_t inputs, size_t *old)
{
    for (size_t o = program->input_count; o < program->port_count; o++) {
        size_t i = 0;
        while (i < program->input_count && (buffers[i] == NULL || buffers[i] != buffers[o]))
            i++;
        const mw__port_place *to = &program->places[o];
        for (size_t k = 0; k < to->count; k++)
            old[to->first + k - inputs] =
                i < program->input_count && k < program->places[i].count ? program->places[i].first + k : SIZE_MAX;
    }
}

static mw_status list_old(const mw_program *program, const mw__program_request *request, const mw__block *body,
                          mw__arena *arena, const size_t **out, mw_error *err)
{
    void **buffers = mw__arena_alloc(arena, program->port_count, sizeof *buffers, err);
    size_t *old = mw__arena_alloc(arena, body->output_count, sizeof *old, err);
    if (buffers == NULL || old == NULL)
        return MW_ERROR_MEMORY;
    list_buffers(program, request, buffers);
    find_old(program, buffers, body->input_count, old);
    *out = old;
    return MW_OK;
}

/* Before any of them is compiled. */
static mw_status check_count(const mw__segmentation *cut, const mw__program_request *request, mw_error *err)
{
    const size_t count = request->held + cut->call_count * request->held_times;
    if (cut->call_count < 2 || request->held_max == 0 || count <= request->held_max)
        return MW_OK;
    return mw__fail(
        err, MW_ERROR_UNSUPPORTED,
        "trainer: in segments it has %zu operations (%zu of them %zu times), and a process holds %zu; ask for "
        "a smaller memory.segments, MW_SEGMENTS_AUTO, or fewer dispatch_steps",
        count, cut->call_count, request->held_times, request->held_max);
}

mw_status mw__program_cut(mw_program *program, const mw__program_request *request, const mw_graph *legal, mw_error *err)
{
    if (request->calls_max <= 1)
        return MW_OK;
    const mw__function *function = mw__graph_main(legal);
    mw__program_segments *made = mw__arena_alloc(&program->arena, 1, sizeof *made, err);
    mw__arena scratch;
    mw__arena_init(&scratch, program->allocator);
    mw__segment_options options = {.calls_max = request->calls_max,
                                   .automatic = request->cut_automatically,
                                   .half_ports = request->target->device->half_ports};
    mw_status status =
        made == NULL ? MW_ERROR_MEMORY : list_old(program, request, function->body, &scratch, &options.old, err);
    if (status == MW_OK)
        status = mw__segment_make(function, &options, &made->cut, err);
    if (status == MW_OK)
        status = check_count(&made->cut, request, err);
    mw__arena_deinit(&scratch);
    if (made != NULL)
        program->segments = made;
    if (status == MW_OK && made->cut.call_count < 2)
        mw__program_release_segments(program);
    return status;
}

/* ---- compiling ---- */

/* Of the folder that the user wants to keep. */
static mw_status keep_folder(const mw_program *program, const char *whole, size_t index, char **out, mw_error *err)
{
    char name[32];
    snprintf(name, sizeof name, "segment_%zu", index);
    *out = mw__path_join(program->allocator, whole, name, err);
    return *out != NULL ? mw__file_make_folders(*out, err) : MW_ERROR_MEMORY;
}

static mw_status compile_in(const mw_program *program, size_t index, const char *folder,
                            const mw__dispatch_options *options, mw_error *err)
{
    mw__program_segments *s = program->segments;
    const mw_write_options plain = mw_write_defaults();
    const mw__write_mode mode = options->owned ? MW__WRITE_PRIVATE : MW__WRITE_PLAIN;
    MW_TRY(mw__mil_write(s->cut.segments[index].graph, folder, &plain, mode, NULL, err));
    char *path = mw__path_join(program->allocator, folder, "model.mil", err);
    if (path == NULL)
        return MW_ERROR_MEMORY;
    mw__dispatch_options own = *options;
    own.mil_path = path;
    if (!own.reuse && own.cache_folder != NULL) /* a bundle beside the text */
        own.cache_folder = folder;
    own.name = NULL;
    own.port_count = 0;
    s->functions[index].compiled = mw__dispatch_create(&own, err);
    mw__free(program->allocator, path);
    return s->functions[index].compiled != NULL ? MW_OK : mw__status_or(err, MW_ERROR_DEVICE);
}

static mw_status compile_one(const mw_program *program, size_t index, const mw__program_request *request,
                             const mw__dispatch_options *options, mw_error *err)
{
    mw__program_segments *s = program->segments;
    mw__segment *segment = &s->cut.segments[index];
    mw__program_folder *folder = &s->folders[index];
    char *kept = NULL;
    mw_status status = options->owned ? mw__program_folder_make(folder, program->allocator, segment->graph, err)
                                      : keep_folder(program, request->options->keep_folder, index, &kept, err);
    if (status == MW_OK)
        status = compile_in(program, index, options->owned ? folder->top.path : kept, options, err);
    mw__free(program->allocator, kept);
    if (request->target->symbols.provider != MW_PROVIDER_ESPRESSO)
        mw__program_folder_remove(folder, program->allocator);
    mw__graph_free(segment->graph);
    segment->graph = NULL;
    return status;
}

static void describe_segments(mw__program_segments *s, bool watched)
{
    const mw__segmentation *cut = &s->cut;
    for (size_t i = 0; i < cut->segment_count; i++) {
        const mw__segment *segment = &cut->segments[i];
        s->functions[i] = (mw__chain_function){
            .ports = segment->ports, .input_count = segment->input_count, .output_count = segment->output_count};
    }
    for (size_t i = 0; i < cut->call_count; i++)
        s->calls[i] = (mw__chain_call){.function = cut->calls[i].segment, .places = cut->calls[i].places};
    s->chain = (mw__chain){.functions = s->functions,
                           .function_count = cut->segment_count,
                           .calls = s->calls,
                           .call_count = cut->call_count,
                           .between = cut->between,
                           .contents = cut->contents,
                           .between_count = cut->between_count,
                           .watched = watched};
}

mw_status mw__program_compile_segments(mw_program *program, const mw__program_request *request,
                                       const mw__dispatch_options *options, mw_error *err)
{
    mw__program_segments *s = program->segments;
    mw__arena *arena = &program->arena;
    s->functions = mw__arena_alloc(arena, s->cut.segment_count, sizeof *s->functions, err);
    s->folders = mw__arena_alloc(arena, s->cut.segment_count, sizeof *s->folders, err);
    s->calls = mw__arena_alloc(arena, s->cut.call_count, sizeof *s->calls, err);
    if (s->functions == NULL || s->folders == NULL || s->calls == NULL)
        return MW_ERROR_MEMORY;
    describe_segments(s, request->watched);
    mw_status status = MW_OK;
    for (size_t i = 0; status == MW_OK && i < s->cut.segment_count; i++)
        status = compile_one(program, i, request, options, err);
    if (status == MW_OK) {
        program->dispatch = mw__dispatch_create_chain(options, &s->chain, err);
        return program->dispatch != NULL ? MW_OK : MW_ERROR_MEMORY;
    }
    for (size_t i = 0; i < s->cut.segment_count; i++)
        mw__dispatch_destroy(s->functions[i].compiled);
    return status;
}

void mw__program_release_segments(mw_program *program)
{
    mw__program_segments *s = program->segments;
    if (s == NULL)
        return;
    for (size_t i = 0; s->folders != NULL && i < s->cut.segment_count; i++)
        mw__program_folder_remove(&s->folders[i], program->allocator);
    mw__segmentation_deinit(&s->cut);
    program->segments = NULL;
}
