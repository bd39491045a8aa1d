/* mw_chip_check: what holds of the program as it stands, and what is left of it when mw_compile has written it for the
 * chip. */
#include "base/float_mode.h"
#include "base/fp16.h"
#include "base/live.h"
#include "chip/report.h"
#include "graph/admitted.h"
#include "graph/names.h"
#include "graph/transform/specialise.h"
#include "mil/flat_form.h"
#include "mil/legal_form.h"

#include <string.h>

mw_chip_check_options mw_chip_check_defaults(void)
{
    return (mw_chip_check_options){.struct_size = sizeof(mw_chip_check_options)};
}

/* ---- a copy whose values have names ---- */

/* Values that the user left without are called as the text would, so that what becomes of them can be told. */
static mw_status name_values(mw_graph *graph, const mw__function *main, mw_error *err)
{
    mw__names names;
    mw_status status = mw__names_assign(main, &names, err);
    for (size_t i = 0; status == MW_OK && i < graph->value_count; i++) {
        mw_tensor *value = graph->values[i];
        const char *name = mw__names_get(&names, value);
        if (value->name != NULL || name == NULL || mw__map_get(&graph->names, name) != NULL)
            continue;
        value->name = mw__arena_string(&graph->arena, name, strlen(name), err);
        if (value->name == NULL)
            status = MW_ERROR_MEMORY;
        else if (value->op != NULL && value->op->block == main->body)
            status = mw__map_set(&graph->names, value->name, value, err);
    }
    mw__names_deinit(&names);
    return status;
}

enum { WEIGHTS_MAX = 1 << 26 }; /* bytes that are made up: a short text must not ask for much */

/* A weight whose file was not read is given ones, or zeros of integers: what is asked here is no number of it. Beyond
 * what is left of the bytes it holds one element for all, which no rewrite cuts in parts. */
static mw_status fill_weight(mw_graph *graph, mw_tensor *value, size_t *left, mw_error *err)
{
    size_t size = 0;
    const mw__type *type = value->type;
    const int bits = mw_dtype_bits(type->dtype);
    if (type->kind != MW__TENSOR || bits < 8 || !mw__type_bytes(type, &size) || size == 0)
        return MW_OK;
    mw__payload *filled = mw__arena_alloc(&graph->arena, 1, sizeof *filled, err);
    const bool splat = size > *left;
    const size_t element = (size_t)bits / 8, bytes = splat ? element : size;
    char *data = mw__arena_alloc(&graph->arena, bytes, 1, err);
    if (filled == NULL || data == NULL)
        return MW_ERROR_MEMORY;
    const uint16_t half = mw__fp16_from_double(1.0);
    const float single = 1.0F;
    memset(data, 0, bytes);
    for (size_t i = 0; i < bytes && (type->dtype == MW_F16 || type->dtype == MW_F32); i += element)
        memcpy(data + i, type->dtype == MW_F16 ? (const void *)&half : (const void *)&single, element);
    *left -= splat ? 0 : size;
    *filled = *value->payload;
    filled->data = data;
    filled->size = bytes;
    filled->splat = splat;
    filled->bulk = NULL;
    value->payload = filled;
    return MW_OK;
}

static mw_status fill_weights(mw_graph *graph, mw_error *err)
{
    size_t left = WEIGHTS_MAX;
    for (size_t i = 0; i < graph->value_count; i++) {
        const mw__payload *payload = graph->values[i]->payload;
        if (payload != NULL && payload->data == NULL && payload->blob_path != NULL)
            MW_TRY(fill_weight(graph, graph->values[i], &left, err));
    }
    return MW_OK;
}

static mw_graph *copy_named(const mw_graph *graph, const char *function_name, const mw_allocator *allocator,
                            mw_error *err)
{
    const mw__function *function = mw__function_choose(graph, function_name, err);
    const mw__clone_options whole = {.rule = mw__clone_as_declared, .keep_outputs = true};
    mw_graph *copy = function != NULL ? mw__clone_function(allocator, function, &whole, NULL, err) : NULL;
    if (copy == NULL ||
        (name_values(copy, mw__function_find(copy, "main"), err) == MW_OK && fill_weights(copy, err) == MW_OK))
        return copy;
    mw__graph_free(copy);
    return NULL;
}

/* ---- the form that mw_compile would write ---- */

typedef struct forms {
    const mw_allocator *allocator;
    const mw__legality *legality;
    mw__flat_form flat;
    mw_graph *specialised;
    mw__legal_form legal;
} forms;

static void forms_deinit(forms *f)
{
    mw__legal_form_deinit(&f->legal);
    mw__graph_free(f->specialised);
    mw__flat_form_deinit(&f->flat);
}

static mw_status read_shape(const mw__function *main, const mw_tensor *input, mw__given *given, mw_error *err)
{
    mw_admitted_shapes admitted;
    given->shape = mw_tensor_shape(input);
    if (!mw__is_fed(input))
        return MW_OK;
    MW_TRY(mw__admitted_read(main, input, &admitted, err));
    given->shape = admitted.has_standard ? admitted.standard : given->shape;
    return mw_shape_count(given->shape) >= 0
               ? MW_OK
               : mw__fail(err, MW_ERROR_SHAPE, "input \"%s\" has `?` extents and no default shape", input->name);
}

/* The program for its default shapes. */
static mw_status specialise(forms *f, const mw__function *main, mw_error *err)
{
    const mw__block *body = main->body;
    mw__given *given = mw__alloc(f->allocator, body->input_count, sizeof *given, err);
    mw_status status = given != NULL ? MW_OK : MW_ERROR_MEMORY;
    for (size_t i = 0; status == MW_OK && i < body->input_count; i++)
        status = read_shape(main, body->inputs[i], &given[i], err);
    if (status == MW_OK)
        f->specialised = mw__specialise(f->allocator, main, given, true, err);
    mw__free(f->allocator, given);
    return status != MW_OK ? status : f->specialised != NULL ? MW_OK : err->status;
}

static mw_status make_forms(forms *f, const mw_graph *source, mw_error *err)
{
    const mw__legal_options how = {
        .device = f->legality->device, .chip = f->legality->chip, .unchecked = true, .allocator = f->allocator};
    const mw__function *main = mw__function_find(source, "main");
    if (mw__wants_specialising(main)) {
        MW_TRY(specialise(f, main, err));
        source = f->specialised;
    }
    MW_TRY(mw__flat_form_make(source, f->legality->device, &f->flat, err));
    return mw__legal_form_make(f->flat.graph != NULL ? f->flat.graph : source, &how, &f->legal, err);
}

/* ---- what is left of it ---- */

static bool same(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

/* The finding of that rule at that place. */
static mw__finding *find(const mw__findings *findings, const mw_chip_finding *wanted)
{
    for (mw__finding *f = findings->first; f != NULL; f = f->next)
        if (!f->matched && f->public.rule == wanted->rule && same(f->public.operation, wanted->operation) &&
            (wanted->operation == NULL && wanted->tensor == NULL ? true : same(f->public.tensor, wanted->tensor)))
            return f;
    return NULL;
}

static void note_rewritten(mw__findings *before, const mw__findings *after)
{
    for (mw__finding *f = before->first; f != NULL; f = f->next) {
        mw__finding *left = find(after, &f->public);
        if (left != NULL) {
            left->matched = true;
            continue;
        }
        f->public.verdict = MW_CHIP_NOTED;
        f->public.rewritten = true;
    }
}

/* The program cannot be written in another form, and why. */
static mw_status add_failure(mw__findings *findings, mw__arena *arena, const mw_error *why, mw_error *err)
{
    static const mw__legality_row row = {.id = "no_form",
                                         .stage = MW__STAGE_VALIDATOR,
                                         .verdict = MW__REFUSED,
                                         .rule = "",
                                         .source = "mw_compile, which refuses it before the chip's compiler sees it"};
    mw__finding *finding = mw__findings_add(findings, arena, &row, why->message, err);
    if (finding == NULL)
        return MW_ERROR_MEMORY;
    finding->public.operation = mw__finding_string(arena, why->operation[0] != '\0' ? why->operation : NULL, err);
    finding->public.tensor = mw__finding_string(arena, why->tensor[0] != '\0' ? why->tensor : NULL, err);
    finding->public.text_line = why->text_line;
    finding->public.text_column = why->text_column;
    return mw__failed(err) ? err->status : MW_OK;
}

/* Rewrites `before` in place, and lists in `after` what the form adds. */
static mw_status check_form(const mw_graph *source, const mw__legality *legality, const mw_allocator *allocator,
                            mw__arena *arena, mw__findings *before, mw__findings *after, mw_error *err)
{
    forms f = {.allocator = allocator, .legality = legality};
    mw_error why = {0};
    mw_status status = make_forms(&f, source, &why);
    if (status == MW_OK) {
        status = mw__chip_walk(after, arena, legality, mw__function_find(f.legal.graph, "main"), err);
        if (status == MW_OK)
            note_rewritten(before, after);
    } else if (status == MW_ERROR_MEMORY) {
        mw__fail(err, MW_ERROR_MEMORY, "%s", why.message);
    } else {
        status = add_failure(after, arena, &why, err);
    }
    forms_deinit(&f);
    return status;
}

/* ---- the report ---- */

static mw_status gather(mw_chip_report *report, const mw__findings *before, const mw__findings *after, mw_error *err)
{
    report->findings = mw__arena_alloc(&report->arena, before->count + after->count, sizeof *report->findings, err);
    if (report->findings == NULL)
        return MW_ERROR_MEMORY;
    for (const mw__finding *f = before->first; f != NULL; f = f->next)
        report->findings[report->count++] = &f->public;
    for (const mw__finding *f = after->first; f != NULL; f = f->next)
        if (!f->matched)
            report->findings[report->count++] = &f->public;
    return MW_OK;
}

static mw_status check(mw_chip_report *report, const mw_graph *graph, const mw_chip_check_options *options,
                       mw_error *err)
{
    const mw__legality legality = {.device = mw__device_find(MW_DEVICE_ANE), .chip = report->chip};
    mw__findings before = {0}, after = {0};
    mw_graph *source = copy_named(graph, options->function, report->allocator, err);
    if (source == NULL)
        return err->status;
    mw_status status = mw__chip_walk(&before, &report->arena, &legality, mw__function_find(source, "main"), err);
    if (status == MW_OK && !options->as_it_is)
        status = check_form(source, &legality, report->allocator, &report->arena, &before, &after, err);
    mw__graph_free(source);
    return status == MW_OK ? gather(report, &before, &after, err) : status;
}

static mw_chip_report *make_report(mw_chip chip, const mw_chip_check_options *options, mw_error *err)
{
    const mw__chip_row *row = mw__chip_find(chip);
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    if (options->struct_size != sizeof *options) {
        mw__fail(err, MW_ERROR_ARGUMENT, "chip check options were not made by mw_chip_check_defaults");
        return NULL;
    }
    if (row == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "unknown chip %d", (int)chip);
        return NULL;
    }
    mw_chip_report *report = mw__alloc(allocator, 1, sizeof *report, err);
    if (report == NULL)
        return NULL;
    if (mw__live_add(report, MW__LIVE_CHIP_REPORT, err) != MW_OK) {
        mw__free(allocator, report);
        return NULL;
    }
    report->allocator = allocator;
    report->chip = row;
    mw__arena_init(&report->arena, allocator);
    return report;
}

mw_chip_report *mw_chip_check(const mw_graph *graph, mw_chip chip, const mw_chip_check_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (graph == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_chip_check: the graph is NULL");
        return NULL;
    }
    const mw_chip_check_options defaults = mw_chip_check_defaults();
    options = options != NULL ? options : &defaults;
    if (mw_graph_check(graph, err) != MW_OK)
        return NULL;
    mw_chip_report *report = make_report(chip, options, err);
    if (report == NULL)
        return NULL;
    mw__graph_hold(graph);
    if (mw__graph_drop(graph, __func__, check(report, graph, options, err), err) == MW_OK)
        return report;
    mw_chip_report_destroy(report);
    return NULL;
}
