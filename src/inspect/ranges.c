/* Running a graph in fp32 and measuring what is floating point in it. */
#include "inspect/ranges.h"

#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "graph/ir/ir.h"
#include "inspect/feed.h"
#include "inspect/products.h"
#include "runtime/program/lowered.h"
#include "runtime/trainer/step/trainer_compare.h"

#include <stdlib.h>

mw_range_options mw_range_defaults(void)
{
    mw_range_options options = {.struct_size = sizeof(mw_range_options), .compile = mw_compile_defaults()};
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_CPU;
    return options;
}

static mw_status check_options(const mw_range_options *o, mw_error *err)
{
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "range options were not made by mw_range_defaults");
    if (o->compile.share.trainer != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "a report of ranges writes what it runs on: compile.share.trainer is not for it");
    if (o->compile.share.program != NULL)
        MW_TRY(mw__live_check(o->compile.share.program, MW__LIVE_PROGRAM, "mw_ranges_create", err));
    if (o->compile.provider != MW_PROVIDER_ENGINE || o->compile.device != MW_DEVICE_CPU)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "ranges are measured in fp32, by MW_DEVICE_CPU of MW_PROVIDER_ENGINE: leave both as "
                        "mw_range_defaults has set them");
    return MW_OK;
}

/* ---- measuring ---- */

typedef struct ranges_request {
    const mw_graph *graph;             /* its main is measured */
    const mw_compile_options *compile; /* the engine's CPU */
    mw__compare_fill *fill;
    void *user;
    const mw_allocator *allocator; /* of the report; NULL = the C library's heap */
    const char *profile;           /* whose products are counted; NULL = none */
    mw__arithmetic arithmetic;     /* of it */
} ranges_request;

typedef struct run {
    const ranges_request *request;
    mw_ranges *ranges;
    mw_program *program;
    mw__compare_value *values; /* also those of other types, which are left out */
    size_t count;
    mw_range **items; /* of each value; NULL for those */
} run;

static bool is_measured(const mw__compare_value *value)
{
    const mw_dtype dtype = value->value->type->dtype;
    const mw__payload *payload = value->value->payload;
    return (dtype == MW_F16 || dtype == MW_F32 || dtype == MW_F64) && (value->port != NULL || payload->data != NULL);
}

static const char *operation_of(const mw__compare_value *value)
{
    if (value->op != NULL)
        return value->op->kind;
    return value->value->role == MW__PARAMETER ? "parameter" : value->value->role == MW__RESIDENT ? "state" : "input";
}

static const char *parameter_of(const mw__compare_value *value)
{
    if (value->op != NULL)
        return mw__compare_parameter(value->op);
    return value->value->role == MW__PARAMETER ? value->value->name : NULL;
}

static mw_status name_items(run *r, mw__names *names, mw_error *err)
{
    mw_ranges *ranges = r->ranges;
    mw__arena *arena = &ranges->arena;
    MW_TRY(mw__names_assign(mw__graph_main(r->request->graph), names, err));
    for (size_t i = 0; i < r->count; i++) {
        const mw__compare_value *value = &r->values[i];
        if (!is_measured(value))
            continue;
        mw_range *item = r->items[i] = &ranges->items[ranges->count++];
        *item = (mw_range){.operation = mw__arena_keep(arena, operation_of(value), err),
                           .tensor = mw__arena_keep(arena, mw__names_get(names, value->value), err),
                           .parameter = mw__arena_keep(arena, parameter_of(value), err),
                           .dtype = value->value->type->dtype,
                           .shape = value->value->type->shape};
        if (mw__failed(err))
            return err->status;
    }
    return MW_OK;
}

static mw_status make_items(run *r, mw__arena *scratch, mw_error *err)
{
    mw__names names = {0};
    r->ranges->items = mw__arena_alloc(&r->ranges->arena, r->count, sizeof *r->ranges->items, err);
    r->ranges->order = mw__arena_alloc(&r->ranges->arena, r->count, sizeof *r->ranges->order, err);
    r->items = mw__arena_alloc(scratch, r->count, sizeof *r->items, err);
    if (r->ranges->items == NULL || r->ranges->order == NULL || r->items == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = name_items(r, &names, err);
    mw__names_deinit(&names);
    return status;
}

static mw_status measure_port(const run *r, size_t i, mw_error *err)
{
    size_t count = 0;
    double *data = mw__compare_read(r->program, r->values[i].port, &count, err);
    if (data == NULL)
        return mw__status_or(err, MW_ERROR_MEMORY);
    mw__range_measure(data, count, r->items[i]);
    mw__free(r->program->allocator, data);
    return MW_OK;
}

/* Inputs before the run, which may write over them, and all else behind it. */
static mw_status measure_values(const run *r, bool inputs, mw_error *err)
{
    for (size_t i = 0; i < r->count; i++) {
        const mw__compare_value *value = &r->values[i];
        if (r->items[i] == NULL || (value->op == NULL) != inputs)
            continue;
        if (value->port == NULL)
            mw__range_measure_constant(value->value->payload, r->items[i]);
        else
            MW_TRY(measure_port(r, i, err));
    }
    return MW_OK;
}

static int compare_items(const void *a, const void *b)
{
    return mw__range_order(*(const mw_range *const *)a, *(const mw_range *const *)b);
}

static void sort_items(mw_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++)
        ranges->order[i] = &ranges->items[i];
    if (ranges->count > 1)
        qsort(ranges->order, ranges->count, sizeof *ranges->order, compare_items);
}

static mw_status measure_run(const run *r, mw_error *err)
{
    MW_TRY(measure_values(r, true, err));
    MW_TRY(mw_program_run(r->program, err));
    return measure_values(r, false, err);
}

static mw_status measure_with_products(const run *r, mw_error *err)
{
    const mw__range_product_source source = {.graph = r->request->graph,
                                             .program = r->program,
                                             .values = r->values,
                                             .items = r->items,
                                             .count = r->count,
                                             .arithmetic = r->request->arithmetic};
    mw__range_products *products = mw__range_products_begin(&source, r->ranges->allocator, err);
    mw_status status = products != NULL ? measure_run(r, err) : mw__status_or(err, MW_ERROR_MEMORY);
    if (status == MW_OK)
        status = mw__range_products_count(products, r->ranges, err);
    mw__range_products_end(products);
    return status;
}

static mw_status run_program(run *r, const mw_graph *shown, mw_error *err)
{
    const ranges_request *request = r->request;
    const mw_compile_options options = mw__compare_side(request->compile);
    mw__target target;
    MW_TRY(mw__target_resolve(&options, &target, err));
    r->program = mw__program_compile_graph(shown, &options, &target, err);
    if (r->program == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    MW_TRY(request->fill(request->user, r->program, NULL, err));
    return r->ranges->fixed_point ? measure_with_products(r, err) : measure_run(r, err);
}

/* Lists, and the states of programs that were read, keep their type, so that what reads them must, too. */
static mw_graph *show(run *r, const mw__function *function, mw__arena *scratch, mw_error *err)
{
    static const mw__compare_form wide = {.rule = mw__ranges_widen, .dtype = mw__ranges_wide}, same = {NULL, NULL};
    mw_graph *shown = mw__compare_show(function, &wide, scratch, &r->values, &r->count, err);
    if (shown != NULL || err->status == MW_ERROR_MEMORY)
        return shown;
    mw_error_clear(err);
    return mw__compare_show(function, &same, scratch, &r->values, &r->count, err);
}

static mw_status keep_profile(const run *r, mw_error *err)
{
    const char *profile = r->request->profile;
    r->ranges->profile = mw__arena_keep(&r->ranges->arena, profile, err);
    r->ranges->fixed_point = profile != NULL && (r->request->arithmetic & MW__ARITHMETIC(product_fixed_point)) != 0;
    return profile != NULL && r->ranges->profile == NULL ? MW_ERROR_MEMORY : MW_OK;
}

static mw_status run_all(run *r, mw__arena *scratch, mw_error *err)
{
    const mw_graph *graph = r->request->graph;
    MW_TRY(mw__compare_check(graph, err));
    MW_TRY(keep_profile(r, err));
    mw_graph *shown = show(r, mw__graph_main(graph), scratch, err);
    mw_status status = shown != NULL ? make_items(r, scratch, err) : mw__status_or(err, MW_ERROR_MEMORY);
    if (status == MW_OK)
        status = run_program(r, shown, err);
    sort_items(r->ranges);
    mw_program_destroy(r->program);
    mw__graph_free(shown);
    return status;
}

static mw_ranges *make_ranges(const mw_allocator *given, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(given);
    mw_ranges *ranges = mw__live_make(allocator, sizeof *ranges, MW__LIVE_RANGES, err);
    if (ranges == NULL)
        return NULL;
    ranges->allocator = allocator;
    mw__arena_init(&ranges->arena, allocator);
    return ranges;
}

static mw_ranges *measure_graph(const ranges_request *request, mw_error *err)
{
    mw__arena scratch;
    run r = {.request = request, .ranges = make_ranges(request->allocator, err)};
    if (r.ranges == NULL)
        return NULL;
    mw__arena_init(&scratch, r.ranges->allocator);
    const mw_status status = run_all(&r, &scratch, err);
    mw__arena_deinit(&scratch);
    if (status == MW_OK)
        return r.ranges;
    mw_ranges_destroy(r.ranges);
    return NULL;
}

/* ---- of a user's graph ---- */

static mw_ranges *of_function(const mw_graph *graph, const mw_range_options *o, mw_error *err)
{
    mw__arithmetic arithmetic = MW__ARITHMETIC_IEEE;
    if (o->compile.profile != NULL && mw__arithmetic_parse(o->compile.profile, &arithmetic, err) != MW_OK)
        return NULL;
    mw_compare_options feeds = mw_compare_defaults();
    feeds.reference = o->compile;
    feeds.batch = o->batch;
    feeds.batch_path = o->batch_path;
    feeds.seed = o->seed;
    mw_graph *copy = mw__inspect_function(graph, o->compile.function, err);
    mw__inspect_source source = {.options = &feeds, .graph = copy};
    const ranges_request request = {.graph = copy,
                                    .compile = &o->compile,
                                    .fill = mw__inspect_feed,
                                    .user = &source,
                                    .allocator = o->allocator,
                                    .profile = o->compile.profile,
                                    .arithmetic = arithmetic};
    mw_ranges *ranges = copy != NULL ? measure_graph(&request, err) : NULL;
    mw__graph_free(copy);
    return ranges;
}

mw_ranges *mw_ranges_create(const mw_graph *graph, const mw_range_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    const mw_range_options defaults = mw_range_defaults();
    options = options != NULL ? options : &defaults;
    if (!mw__graph_given(graph, "mw_ranges_create", err))
        return NULL;
    if (check_options(options, err) != MW_OK || mw_graph_check(graph, err) != MW_OK)
        return NULL;
    mw__graph_hold(graph);
    mw_ranges *ranges = of_function(graph, options, err);
    mw_status status = ranges != NULL ? MW_OK : mw__status_or(err, MW_ERROR_STATE);
    status = mw__graph_drop(graph, __func__, status, err);
    if (status == MW_OK)
        return ranges;
    mw_ranges_destroy(ranges);
    return NULL;
}

/* ---- of a trainer's next step ---- */

/* A mw__trainer_look. */
static mw_status measure_step(void *user, const mw__trainer_next_step *step, mw_error *err)
{
    mw_ranges **out = user;
    mw_compile_options compile = mw_range_defaults().compile;
    compile.threads = step->threads;
    const ranges_request request = {.graph = step->graph,
                                    .compile = &compile,
                                    .fill = step->fill,
                                    .user = step->user,
                                    .allocator = step->allocator,
                                    .profile = step->profile,
                                    .arithmetic = step->arithmetic};
    *out = measure_graph(&request, err);
    return *out != NULL ? MW_OK : mw__status_or(err, MW_ERROR_DEVICE);
}

mw_ranges *mw_ranges_create_trainer(mw_trainer *trainer, const mw_batch *batch, mw_error *err)
{
    mw_ranges *ranges = NULL;
    if (mw__trainer_look_at_step(trainer, batch, __func__, measure_step, &ranges, err) == MW_OK) {
        ranges->loss_scale = (double)mw_trainer_get_info(trainer).loss_scale;
        return ranges;
    }
    mw_ranges_destroy(ranges);
    return NULL;
}
