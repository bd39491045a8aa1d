/* mw_chip_placement_create: a copy of the program, its form for the chip, and the placement of that as an object. */
#include "chip/place.h"
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "chip/cost/cost.h"
#include "mil/check/form.h"

#include <string.h>

/* ---- an operation ---- */

static const char *copy(mw_chip_placement *p, const char *string, mw_error *err)
{
    return mw__arena_string(&p->arena, string, strlen(string), err);
}

static unsigned least(const mw__chip_place *place)
{
    unsigned best = place->backend;
    for (unsigned b = MW_CHIP_BACKENDS; b-- > 0;)
        if (place->us[b] >= 0.0 && place->us[b] < place->us[best])
            best = b;
    return best;
}

static const char *reason_of(mw_chip_placement *p, const mw__chip_place *place, mw_error *err)
{
    char text[160];
    size_t takers = 0;
    const unsigned best = least(place);
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++)
        takers += place->us[b] >= 0.0;
    if (takers == 1)
        return "no other backend takes it";
    if (best == place->backend)
        return "costs least here";
    mw__printable_printf(text, sizeof text, "costs %.6g us less on the %s, but the changes of backend more",
                         place->us[place->backend] - place->us[best], mw_chip_backend_name(best));
    return copy(p, text, err);
}

static mw_status add_operation(mw_chip_placement *p, mw_chip_placed *to, const mw__chip_place *from, mw_error *err)
{
    const mw__op *op = from->op;
    const char *name = op->result_count > 0 ? op->results[0]->name : NULL;
    char message[512];
    *to = (mw_chip_placed){.operation = copy(p, op->kind, err),
                           .name = copy(p, name != NULL ? name : "", err),
                           .backend = from->backend,
                           .cost = from->cost[from->backend],
                           .reason = reason_of(p, from, err),
                           .text_line = (int)op->line,
                           .text_column = (int)op->column};
    memcpy(to->us, from->us, sizeof to->us);
    if (from->refused != NULL) {
        mw__legality_describe(from->refused, &from->trip, message, sizeof message);
        to->refusal = from->refused->id;
        to->message = copy(p, message, err);
    }
    return mw__failed(err) ? err->status : MW_OK;
}

/* ---- segments ---- */

static size_t count_segments(const mw__chip_place *places, size_t count)
{
    size_t segments = count > 0;
    for (size_t i = 1; i < count; i++)
        segments += places[i].backend != places[i - 1].backend;
    return segments;
}

static void begin_segment(mw_chip_placement *p, const mw__chip_place_how *how, size_t at, unsigned backend)
{
    const size_t index = p->totals.segment_count++;
    p->segments[index] = (mw_chip_placed_segment){.backend = backend,
                                                  .first = at,
                                                  .launch_us = how->launch_us[backend],
                                                  .transfer_us = index > 0 ? how->transfer_us[backend] : 0.0};
    p->totals.us += p->segments[index].launch_us + p->segments[index].transfer_us;
}

static mw_status add_all(mw_chip_placement *p, const mw__chip_place_how *how, const mw__chip_place *places,
                         size_t count, mw_error *err)
{
    p->operations = mw__arena_alloc(&p->arena, count, sizeof *p->operations, err);
    p->segments = mw__arena_alloc(&p->arena, count_segments(places, count), sizeof *p->segments, err);
    if (p->operations == NULL || p->segments == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const unsigned b = places[i].backend;
        const double us = places[i].us[b];
        if (i == 0 || b != places[i - 1].backend)
            begin_segment(p, how, i, b);
        mw_chip_placed_segment *segment = &p->segments[p->totals.segment_count - 1];
        segment->count++;
        segment->us = mw__chip_cost_limit(segment->us + us);
        p->totals.us = mw__chip_cost_limit(p->totals.us + us);
        p->totals.operations_us[b] = mw__chip_cost_limit(p->totals.operations_us[b] + us);
        p->totals.operations[b]++;
        MW_TRY(add_operation(p, &p->operations[i], &places[i], err));
        p->operations[i].segment = p->totals.segment_count - 1;
    }
    p->totals.operation_count = count;
    p->totals.output_us = count > 0 ? how->output_us[places[count - 1].backend] : 0.0;
    p->totals.us = mw__chip_cost_limit(p->totals.us + p->totals.output_us);
    return MW_OK;
}

/* ---- making ---- */

static mw_status place_form(mw_chip_placement *p, const mw_graph *form, const mw__chip_place_how *how, mw_error *err)
{
    mw__arena scratch;
    mw__chip_place *places = NULL;
    size_t count = 0;
    mw__arena_init(&scratch, p->allocator);
    mw_status status = mw__chip_place_function(mw__graph_main(form), how, &scratch, &places, &count, err);
    if (status == MW_OK)
        status = add_all(p, how, places, count, err);
    mw__arena_deinit(&scratch);
    return status;
}

static mw_status place_source(mw_chip_placement *p, const mw_graph *source, const mw__chip_place_how *how,
                              bool as_it_is, mw_error *err)
{
    mw__chip_form form;
    mw_error why = {0};
    if (as_it_is)
        return place_form(p, source, how, err);
    mw_status status = mw__chip_form_make(&form, source, how->legality, p->allocator, &why);
    if (status == MW_ERROR_MEMORY)
        mw__fail(err, status, "%s", why.message);
    else if (status == MW_OK)
        status = place_form(p, form.legal.graph, how, err);
    else if ((p->totals.form = copy(p, why.message, err)) != NULL)
        status = place_form(p, source, how, err);
    mw__chip_form_deinit(&form);
    return mw__failed(err) ? err->status : status;
}

static mw_status place(mw_chip_placement *p, const mw_graph *graph, const mw_chip_place_options *options, mw_error *err)
{
    const mw__legality legality = {
        .device = mw__device_find(MW_DEVICE_ANE), .chip = p->chip, .judge = MW__JUDGE_COREML};
    mw__chip_place_how how;
    MW_TRY(mw__chip_place_how_make(&how, &legality, options, err));
    p->segmenter = how.segmenter;
    mw_graph *source = mw__chip_copy_named(graph, options->function, p->allocator, err);
    if (source == NULL)
        return err->status;
    const mw_status status = place_source(p, source, &how, options->as_it_is, err);
    mw__graph_free(source);
    return status;
}

static mw_chip_placement *make_placement(mw_chip chip, const mw_chip_place_options *options, mw_error *err)
{
    const mw__chip_row *row;
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    if (options->struct_size != sizeof *options) {
        mw__fail(err, MW_ERROR_ARGUMENT, "chip place options were not made by mw_chip_place_defaults");
        return NULL;
    }
    if (mw__chip_find_known(chip, &row, err) != MW_OK)
        return NULL;
    mw_chip_placement *p = mw__live_make(allocator, sizeof *p, MW__LIVE_CHIP_PLACEMENT, err);
    if (p == NULL)
        return NULL;
    p->allocator = allocator;
    p->chip = row;
    mw__arena_init(&p->arena, allocator);
    return p;
}

mw_chip_placement *mw_chip_placement_create(const mw_graph *graph, mw_chip chip, const mw_chip_place_options *options,
                                            mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (!mw__graph_given(graph, "mw_chip_placement_create", err))
        return NULL;
    const mw_chip_place_options defaults = mw_chip_place_defaults();
    options = options != NULL ? options : &defaults;
    if (mw_graph_check(graph, err) != MW_OK)
        return NULL;
    mw_chip_placement *p = make_placement(chip, options, err);
    if (p == NULL)
        return NULL;
    mw__graph_hold(graph);
    if (mw__graph_drop(graph, __func__, place(p, graph, options, err), err) == MW_OK)
        return p;
    mw_chip_placement_destroy(p);
    return NULL;
}
