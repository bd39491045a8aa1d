/* Compile: reads the text, has it parsed, verified and checked for the device, and plans every function. */
#include "engine/compile/compile.h"
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "engine/compile/passes.h"
#include "engine/compile/source/mutable_weights.h"
#include "engine/compile/storage/fp16_storage.h"
#include "engine/compile/storage/stored_weights.h"
#include "engine/kernels/gemm/blas.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/kernel_table.h"
#include "graph/ir/count.h"
#include "mil/io.h"
#include "mil/join/join.h"
#include "mil/legalize/legalize.h"
#include "passes/invariant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void destroy_library(mw__object *object)
{
    mw__library *library = (mw__library *)object;
    if (library->forget != NULL)
        library->forget(library);
    mw__graph_free(library->stored);
    for (size_t i = 0; library->lowered != NULL && i < library->graph->function_count; i++)
        mw__graph_free(library->lowered[i]);
    for (size_t i = 0; library->joined != NULL && i < library->graph->function_count; i++)
        mw__graph_free(library->joined[i]);
    mw__graph_free(library->graph);
    mw__free(&object->allocator, library->bundle);
    mw__arena_deinit(&library->arena);
}

/* ---- options ---- */

/* What a mask of several takes is documented for Espresso: the CPU goes before the GPU, the ANE before both, and the
 * CPU, if it is in the mask, takes what the ANE refuses. A single one is never replaced. */
static mw_status choose_device(uint64_t mask, const mw__device_traits **out, const mw__device_traits **out_next,
                               mw_error *err)
{
    *out_next = NULL;
    if (mask == 0 || mask > 7)
        return mw__fail(err, MW_ERROR_ARGUMENT, "compute device mask is %llu: 1 CPU, 2 GPU, 4 ANE or a sum of them",
                        (unsigned long long)mask);
    if (mask == MW_DEVICE_GPU)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "the engine has no GPU: use mask 1 (CPU) or 4 (ANE model)");
    const bool ane = (mask & MW_DEVICE_ANE) != 0, cpu = (mask & MW_DEVICE_CPU) != 0;
    *out = mw__device_find(ane ? MW_DEVICE_ANE : MW_DEVICE_CPU);
    *out_next = ane && cpu ? mw__device_find(MW_DEVICE_CPU) : NULL;
    return MW_OK;
}

static int clamp_threads(uint64_t threads) { return threads > MW__THREADS_MAX ? MW__THREADS_MAX : (int)threads; }

int mw__compile_threads(const mw__compile_options *options)
{
    const uint64_t set = options->config->threads;
    if (set > 0 || options->threads > 0)
        return clamp_threads(set > 0 ? set : options->threads);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return clamp_threads(processors > 0 ? (uint64_t)processors : 1);
}

/* ---- reading ---- */

static bool is_entry_point(const mw__compile_options *options, const char *name)
{
    for (size_t i = 0; i < options->entry_point_count; i++)
        if (strcmp(options->entry_points[i], name) == 0)
            return true;
    return options->entry_point_count == 0;
}

/* Leaves only those functions that are asked for, in the order of the text. */
mw_status mw__keep_entry_points(mw_graph *graph, const mw__compile_options *options, mw_error *err)
{
    for (size_t i = 0; i < options->entry_point_count; i++)
        if (mw__function_choose(graph, options->entry_points[i], err) == NULL)
            return err->status;
    size_t kept = 0;
    for (size_t i = 0; i < graph->function_count; i++)
        if (is_entry_point(options, graph->functions[i]->name))
            graph->functions[kept++] = graph->functions[i];
    graph->function_count = kept;
    return MW_OK;
}

static mw_status read_graph(mw__library *library, const mw__source *source, const mw__compile_options *chosen,
                            mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = &library->object.allocator;
    library->graph = mw_graph_parse_mil(source->text, source->size, NULL, &options, err);
    if (library->graph == NULL)
        return err->status;
    MW_TRY(mw__keep_entry_points(library->graph, chosen, err));
    MW_TRY(mw__mil_load_blobs(library->graph, source->folder, chosen->owned, err));
    library->stored = mw__graph_make(&options, err);
    return library->stored != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- planning ---- */

static bool is_product(const mw__op *op)
{
    return op->row != NULL && mw__op_count_row_of(op->row->id)->rule == MW__COUNT_PRODUCT;
}

static bool has_product(const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        if (is_product(block->ops[i]))
            return true;
        for (size_t b = 0; b < block->ops[i]->block_count; b++)
            if (has_product(block->ops[i]->blocks[b]))
                return true;
    }
    return false;
}

/* The BLAS is loaded, and named, only by a function that multiplies matrices. */
static mw_status summarize(mw__library *library, const mw__device_traits *device, const mw__plan_request *request,
                           mw__program *program, mw_error *err)
{
    char text[256 + MW__ARITHMETIC_TEXT], profile[MW__ARITHMETIC_TEXT + 8] = "";
    if (device->half_ports)
        snprintf(profile, sizeof profile, " (%s)", request->config->profile_text);
    const size_t length = mw__printable_printf(text, sizeof text, "%s%s, %d thread%s, %s", device->engine, profile,
                                               request->partitions, request->partitions == 1 ? "" : "s",
                                               has_product(request->function->body) ? mw__gemm_name(request->config)
                                                                                    : "no matrix products");
    program->summary = mw__arena_string(&library->arena, text, length, err);
    return program->summary != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* The configuration with the arithmetic of the device. */
static const mw__config *configure(mw__library *library, const mw__device_traits *device,
                                   const mw__compile_options *options, mw_error *err)
{
    mw__config *config = mw__arena_alloc(&library->arena, 1, sizeof *config, err);
    if (config == NULL)
        return NULL;
    *config = *options->config;
    if (!config->profile_given && options->chip != NULL && mw__arithmetic_has(options->chip->chip)) {
        config->profile = mw__arithmetic_of(options->chip->chip);
        snprintf(config->profile_text, sizeof config->profile_text, "%s", options->chip->name);
    }
    config->arithmetic = device->half_ports ? config->profile : MW__ARITHMETIC_IEEE;
    config->exact = config->exact || device->half_ports;
    config->flush = config->flush && !device->half_ports; /* there the profile says what becomes of them */
    if (mw__config_sums(config) == MW__SUMS_FOURS)
        config->level = MW__LEVEL_REF; /* no other code takes sums so */
    return config;
}

/* ---- a function, pass by pass ---- */

enum { JOIN_ROUNDS = 6 };

/* What exists while a function is compiled. */
typedef struct planning {
    mw__library *library;
    const mw__device_traits *device;
    const mw__config *config;
    const mw__function *source; /* as it was read */
    mw__function *function;
    mw__lowered lowered;
    mw__plan_request request;
    size_t index;
} planning;

/* Without lists and states, if it has any; with an output for each state that it writes. */
static mw_status lower(planning *p, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = &p->library->object.allocator;
    options.opset = p->source->opset;
    if (!mw__wants_lowering(p->source, false))
        return MW_OK;
    mw_graph *to = p->library->lowered[p->index] = mw__graph_make(&options, err);
    if (to == NULL)
        return MW_ERROR_MEMORY;
    p->function = mw__function_create(to, p->source->name, p->source->opset, err);
    if (p->function == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__lower(p->source, to, &(mw__lower_options){.role = MW__INPUT}, &p->lowered, err));
    for (size_t i = 0; i < p->lowered.state_count; i++)
        MW_TRY(mw__block_add_output(p->function->body, p->lowered.states[i].last, err));
    return MW_OK;
}

/* By the rows of the pass, until none applies: what was joined may be part of more. Only what the processor computes as
 * it likes, and not the reference. */
static mw_status join_by(planning *p, mw__rule_id pass, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = &p->library->object.allocator;
    options.opset = p->source->opset;
    const mw__legality legality = {.device = p->device, .chip = p->library->chip};
    const mw__join_options how = {.pass = pass, .log = p->request.log, .legality = &legality};
    if (!p->config->fold || p->config->reference || p->device->half_ports || p->device->is_chip)
        return MW_OK;
    for (int round = 0; round < JOIN_ROUNDS; round++) {
        mw__function *made = NULL;
        mw_graph *to = mw__graph_make(&options, err);
        if (to == NULL)
            return MW_ERROR_MEMORY;
        const mw_status status = mw__join_function(p->function, &how, to, &made, err);
        mw_graph *left = status == MW_OK && made != NULL ? p->library->joined[p->index] : to;
        if (left != to)
            p->library->joined[p->index] = to;
        mw__graph_free(left);
        if (status != MW_OK || made == NULL)
            return status;
        p->function = made;
    }
    return MW_OK;
}

static mw_status recognize(planning *p, mw_error *err) { return join_by(p, MW__RULE_recognize, err); }
static mw_status absorb(planning *p, mw_error *err) { return join_by(p, MW__RULE_absorb, err); }

static mw_status prepare_weights(planning *p, mw_error *err)
{
    return mw__prepare_weights(p->function, &p->library->arena, p->config, err);
}

static mw_status unmix(planning *p, mw_error *err) { return mw__function_unmix(p->function, err); }

/* The reference rounds after each operation as it is written, where IEEE is all there is to it. */
static mw_status store(planning *p, mw_error *err)
{
    p->request.function = p->function;
    if (p->config->level == MW__LEVEL_REF && p->config->arithmetic == MW__ARITHMETIC_IEEE)
        return MW_OK;
    return mw__store_as_fp32(p->function, p->config->arithmetic, p->library->stored, &p->library->arena,
                             &p->request.function, &p->request.rounding, err);
}

typedef struct function_pass {
    mw__rule_id id;
    mw_status (*run)(planning *p, mw_error *err);
    mw__invariant *holds;
    const char *invariant;
} function_pass;

static const function_pass passes[] = {
#define MW_PASS_FUNCTION(id, need, function, invariant, sentence)                                                      \
    {MW__RULE_##id, function, mw__holds_##invariant, #invariant},
#include "passes/pipeline.def"
};

/* What is compiled next. */
static const mw__function *function_of(const planning *p)
{
    return p->request.function != NULL ? p->request.function : p->function;
}

static mw_status run_passes(planning *p, mw_error *err)
{
    mw__pass_log *log = p->request.log;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        mw__pass_run run;
        const mw__function *before = function_of(p);
        const size_t ops = before->body->op_count, values = before->graph->value_count;
        mw__pass_begin(&run, log, passes[i].id, p->source->name,
                       mw__pass_is_watched(log) ? mw__pass_count_function(before) : 0);
        if (!mw__pass_is_off(log, passes[i].id))
            MW_TRY(passes[i].run(p, err));
        const mw__function *after = function_of(p);
        const bool changed = after != before || ops != after->body->op_count || values != after->graph->value_count;
        if (mw__pass_is_watched(log))
            mw__pass_end(&run,
                         &(mw__pass_result){.after = mw__pass_count_function(after),
                                            .changed = changed,
                                            .broken = passes[i].holds(after, p->device) ? NULL : passes[i].invariant});
    }
    return MW_OK;
}

static mw_status describe_program(planning *p, mw__program *program, mw_error *err)
{
    mw__library *library = p->library;
    program->name = p->function->name;
    program->weights = library->open[p->index];
    program->flush = p->config->flush;
    program->loaded = p->device->half_ports ? p->config->loaded : MW__LOADED_NONE;
    program->unsound_streams = p->device->half_ports && p->config->unsound_streams;
    program->live = mw__arena_alloc(&library->arena, 1, sizeof *program->live, err);
    return program->live != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status plan_one(planning *p, mw_error *err)
{
    mw__program *program = &p->library->programs[p->index];
    MW_TRY(run_passes(p, err));
    MW_TRY(describe_program(p, program, err));
    MW_TRY(mw__plan_function(&p->request, program, err));
    return summarize(p->library, p->device, &p->request, program, err);
}

static mw_status plan_all(mw__library *library, const mw__compile_options *options, mw__pass_log *log, mw_error *err)
{
    const mw_graph *graph = library->graph;
    const mw__config *config = configure(library, library->device, options, err);
    if (config == NULL)
        return MW_ERROR_MEMORY;
    library->programs = mw__arena_alloc(&library->arena, graph->function_count, sizeof *library->programs, err);
    library->lowered = mw__arena_alloc(&library->arena, graph->function_count, sizeof(mw_graph *), err);
    library->joined = mw__arena_alloc(&library->arena, graph->function_count, sizeof(mw_graph *), err);
    if (library->programs == NULL || library->lowered == NULL || library->joined == NULL)
        return MW_ERROR_MEMORY;
    library->count = graph->function_count;
    for (size_t i = 0; i < graph->function_count; i++) {
        planning p = {.library = library, .device = library->device, .config = config, .index = i};
        p.source = p.function = graph->functions[i];
        p.request = (mw__plan_request){.arena = &library->arena,
                                       .config = config,
                                       .partitions = mw__compile_threads(options),
                                       .lowered = &p.lowered,
                                       .log = log,
                                       .name = p.source->name};
        MW_TRY(plan_one(&p, err));
    }
    return MW_OK;
}

static mw_status check_legal(mw__library *library, const mw__device_traits *next, mw_error *err)
{
    mw_error refused = {0};
    mw__legality legality = {.device = library->device, .chip = library->chip};
    if (next == NULL)
        return mw__mil_check_legal_for(library->graph, &legality, err);
    if (mw__mil_check_legal_for(library->graph, &legality, &refused) == MW_OK)
        return MW_OK;
    library->refusal = mw__arena_string(&library->arena, refused.message, strlen(refused.message), err);
    if (library->refusal == NULL)
        return MW_ERROR_MEMORY;
    library->device = legality.device = next;
    return mw__mil_check_legal_for(library->graph, &legality, err);
}

static mw_status compile_source(mw__library *library, const mw__source *source, const mw__compile_options *options,
                                mw_error *err)
{
    const mw__device_traits *next;
    MW_TRY(choose_device(options->mask, &library->device, &next, err));
    library->chip = options->chip;
    library->mask = options->mask;
    library->segmenter = options->segmenter;
    MW_TRY(mw__blas_choose(options->config->blas, err));
    MW_TRY(read_graph(library, source, options, err));
    MW_TRY(mw_graph_verify(library->graph, err));
    MW_TRY(mw__mil_check_constants(library->graph, err));
    MW_TRY(check_legal(library, next, err));
    MW_TRY(mw__open_mutable_weights(library->graph, options->mutable_paths, options->mutable_path_count,
                                    &library->arena, &library->open, err));
    mw__pass_log log;
    mw__pass_log_init(&log, &library->object.allocator);
    log.off = options->config->off;
    log.report = options->report.call;
    log.user = options->report.user;
    log.why = options->report.why;
    log.texts = options->report.texts;
    const mw_status status = plan_all(library, options, &log, err);
    mw__pass_log_deinit(&log);
    return status;
}

mw__library *mw__library_compile_source(const mw__source *source, const mw__compile_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw__library *library = mw__object_create(sizeof *library, destroy_library, err);
    if (library == NULL)
        return NULL;
    mw__arena_init(&library->arena, &library->object.allocator);
    if (compile_source(library, source, options, err) == MW_OK)
        return library;
    mw__object_release(library);
    return NULL;
}

mw__library *mw__library_compile(const char *path, const mw__compile_options *options, mw_error *err)
{
    mw__source source;
    if (mw__source_read(&source, mw__engine_allocator(), path, err) != MW_OK)
        return NULL;
    mw__library *library = mw__library_compile_source(&source, options, err);
    mw__source_deinit(&source);
    return library;
}

const mw__program *mw__library_find(const mw__library *library, const char *name, mw_error *err)
{
    for (size_t i = 0; i < library->count; i++)
        if (strcmp(library->programs[i].name, name) == 0)
            return &library->programs[i];
    char names[256] = "";
    for (size_t i = 0, used = 0; i < library->count && used < sizeof names - 1; i++)
        used += mw__printable_printf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                     library->programs[i].name);
    mw__fail(err, MW_ERROR_ARGUMENT, "there is no function \"%s\"; the library has: %s", name, names);
    return NULL;
}
