#include "chip/cost/place.h"
#include "chip/cost/cost.h"
#include "chip/cost/segmenter.h"

#include <string.h>

/* ---- how ---- */

mw_chip_place_options mw_chip_place_defaults(void)
{
    return (mw_chip_place_options){.struct_size = sizeof(mw_chip_place_options),
                                   .segmenter = MW_CHIP_SHORTEST_PATH,
                                   .anchors = MW_CHIP_PLANNER,
                                   .launch_ane_us = 125.0,
                                   .launch_other_us = 0.0,
                                   .transfer_ane_us = 125.0,
                                   .transfer_other_us = 125.0,
                                   .output_ane_us = 125.0};
}

static mw_status read_penalties(mw__chip_place_how *out, const mw_chip_place_options *options, mw_error *err)
{
    static const double most = 1e15; /* 30 years */
    const double all[] = {options->launch_ane_us, options->launch_other_us, options->transfer_ane_us,
                          options->transfer_other_us, options->output_ane_us};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(all[i] >= 0.0 && all[i] <= most))
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "a launch, transfer or output of %g us: penalties are from 0 to 1e15 microseconds", all[i]);
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++) {
        out->launch_us[b] = b == MW_CHIP_ANE ? options->launch_ane_us : options->launch_other_us;
        out->transfer_us[b] = b == MW_CHIP_ANE ? options->transfer_ane_us : options->transfer_other_us;
    }
    out->output_us[MW_CHIP_ANE] = options->output_ane_us;
    return MW_OK;
}

/* A launch has the floor in it: an operation of a segment does not pay it again. */
static mw_status read_rates(mw__chip_place_how *out, const mw_chip_place_options *options, mw_error *err)
{
    const mw_chip chip = mw__legality_chip(out->legality)->chip;
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++) {
        const bool found = options->die != NULL
                               ? mw_chip_rates_of_die(options->die, b, options->anchors, &out->rates[b])
                               : mw_chip_rates_find(chip, b, options->anchors, &out->rates[b]);
        if (!found && options->die != NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "no rates of die \"%.60s\" with anchors %d", options->die,
                            (int)options->anchors);
        if (!found)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "no rates with anchors %d: MW_CHIP_FITTED, MW_CHIP_PLANNER, MW_CHIP_COARSE_ANCHORS",
                            (int)options->anchors);
        out->rates[b].floor_us = 0.0;
    }
    return MW_OK;
}

static const mw__roof_platform *platform_of(const mw__legality *legality, const char *die)
{
    const mw__chip_row *row = die != NULL ? mw__chip_named(die) : NULL;
    return mw__roof_platform_of(row != NULL ? row->chip : mw__legality_chip(legality)->chip);
}

mw_status mw__chip_place_how_make(mw__chip_place_how *out, const mw__legality *legality,
                                  const mw_chip_place_options *options, mw_error *err)
{
    *out = (mw__chip_place_how){.legality = legality,
                                .segmenter = options->segmenter,
                                .estimates = options->anchors == MW_CHIP_PLANNER,
                                .platform = platform_of(legality, options->die)};
    memcpy(out->without, options->without, sizeof out->without);
    if ((unsigned)options->segmenter > MW_CHIP_SHORTEST_PATH)
        return mw__fail(err, MW_ERROR_ARGUMENT, "unknown segmenter %d", (int)options->segmenter);
    if (out->without[MW_CHIP_CPU] && out->without[MW_CHIP_GPU] && out->without[MW_CHIP_ANE])
        return mw__fail(err, MW_ERROR_ARGUMENT, "no backend is left to place on");
    MW_TRY(read_penalties(out, options, err));
    return read_rates(out, options, err);
}

/* ---- who takes what ---- */

bool mw__chip_place_is_constant(const mw__op *op)
{
    return strcmp(op->kind, "const") == 0 || strncmp(op->kind, "constexpr_", 10) == 0;
}

static bool note_refusal(void *user, const mw__legality_row *row, const mw__trip *trip)
{
    mw__chip_place *place = user;
    if (row->verdict != MW__REFUSED)
        return true;
    place->refused = row;
    place->trip = *trip;
    return false;
}

/* Rows of whole functions are asked of one that is the operation alone. */
static bool is_taken(const mw__legality *legality, const mw__op *op, mw__chip_place *place)
{
    mw__op *alone = (mw__op *)op;
    mw__block body = {.ops = &alone, .op_count = 1};
    const mw__function function = {.name = "main", .body = &body};
    if (!mw__legality_ask_op(legality, op, note_refusal, place) ||
        !mw__legality_ask_function(legality, &function, note_refusal, place))
        return false;
    for (size_t b = 0; b < op->block_count; b++)
        for (size_t i = 0; i < op->blocks[b]->op_count; i++)
            if (!is_taken(legality, op->blocks[b]->ops[i], place))
                return false;
    return true;
}

static mw_status fail_refused(const mw__chip_place *place, mw_error *err)
{
    char subject[128], rule[300] = "there is no rule";
    if (place->refused != NULL)
        mw__legality_describe(place->refused, &place->trip, rule, sizeof rule);
    return mw__fail(
        err, MW_ERROR_UNSUPPORTED, "%s: the ANE does not take it, and no other backend is left: %s (rule %s)",
        mw__op_subject(place->op, subject, sizeof subject), rule, place->refused != NULL ? place->refused->id : "");
}

static mw_chip_cost cost_on(const mw__chip_place_how *how, unsigned b, const mw__op *op)
{
    if (!how->estimates)
        return mw__chip_op_cost(&how->rates[b], op);
    if (b == MW_CHIP_GPU)
        return mw__roof_cost(&how->rates[b], op);
    return mw__roof_estimate(how->platform, b == MW_CHIP_ANE ? MW__ROOF_ANE : MW__ROOF_BNNS, op);
}

static mw_status weigh_place(const mw__chip_place_how *how, const mw__op *op, mw__chip_place *place, mw_error *err)
{
    bool any = false;
    place->op = op;
    const bool taken = is_taken(how->legality, op, place);
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++) {
        const bool runs = !how->without[b] && (b != MW_CHIP_ANE || taken);
        place->cost[b] = cost_on(how, b, op);
        place->us[b] = runs ? place->cost[b].us : -1.0;
        any = any || runs;
    }
    return any ? MW_OK : fail_refused(place, err);
}

/* ---- the segmenter ---- */

static mw_status choose_places(const mw__chip_place_how *how, mw__chip_place *places, size_t count, mw__arena *arena,
                               mw_error *err)
{
    double(*us)[MW_CHIP_BACKENDS] = mw__arena_alloc(arena, count, sizeof *us, err);
    unsigned *placed = mw__arena_alloc(arena, count, sizeof *placed, err);
    if (us == NULL || placed == NULL)
        return MW_ERROR_MEMORY;
    mw__segmenting s = {.us = (const double(*)[MW_CHIP_BACKENDS])us, .count = count};
    memcpy(s.launch_us, how->launch_us, sizeof s.launch_us);
    memcpy(s.transfer_us, how->transfer_us, sizeof s.transfer_us);
    memcpy(s.output_us, how->output_us, sizeof s.output_us);
    for (size_t i = 0; i < count; i++)
        memcpy(us[i], places[i].us, sizeof us[i]);
    MW_TRY(mw__chip_segment_cheapest(&s, how->segmenter, placed, arena->allocator, err));
    for (size_t i = 0; i < count; i++)
        places[i].backend = placed[i];
    return MW_OK;
}

mw_status mw__chip_place_function(const mw__function *function, const mw__chip_place_how *how, mw__arena *arena,
                                  mw__chip_place **out, size_t *out_count, mw_error *err)
{
    const mw__block *body = function->body;
    mw__chip_place *places = mw__arena_alloc(arena, body->op_count, sizeof *places, err);
    size_t count = 0;
    if (places == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->op_count; i++)
        if (!mw__chip_place_is_constant(body->ops[i]))
            MW_TRY(weigh_place(how, body->ops[i], &places[count++], err));
    *out = places;
    *out_count = count;
    return choose_places(how, places, count, arena, err);
}
