/* Learning rates by depth and by selector: each parameter's factor, as further groups. */
#include "base/memory/guard.h"
#include "base/text/near.h"
#include "base/text/printable.h"
#include "graph/transform/tune/trainable.h"
#include "runtime/trainer/options/trainer_options.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

typedef struct rates {
    mw_trainer *trainer;
    const mw_trainer_rates *asked;
    const mw_weight *weights, *source; /* of the model, [count]; of the source, [source_count] */
    size_t count, source_count;
    bool *by_name; /* [factor_count]: the pattern is one of parameters' names; else of layers' */
    size_t *taken; /* [factor_count] parameters */
} rates;

static mw_status list_weights(mw_trainer *t, const mw_graph *graph, const mw_weight **out, size_t *out_count,
                              mw_error *err)
{
    mw_status status = mw_graph_weights(graph, NULL, 0, out_count, err);
    mw_weight *list = status == MW_OK ? mw__arena_alloc(&t->arena, *out_count + 1, sizeof *list, err) : NULL;
    if (list != NULL)
        status = mw_graph_weights(graph, list, *out_count, out_count, err);
    *out = list;
    return list != NULL || status != MW_OK ? status : MW_ERROR_MEMORY;
}

static bool is_trained(const rates *r, const mw_weight *weight)
{
    const mw_trainer *t = r->trainer;
    return weight->is_parameter && !t->optimizer.groups[mw__trainer_group_of(t, weight->name)].frozen;
}

/* Whether a parameter is the weight of the source, or an adapter of it. */
static bool is_of(const char *parameter, const char *weight)
{
    char name[MW__TUNE_NAME];
    return strcmp(parameter, weight) == 0 ||
           (mw__lora_name(weight, MW__LORA_A, name) && strcmp(parameter, name) == 0) ||
           (mw__lora_name(weight, MW__LORA_B, name) && strcmp(parameter, name) == 0);
}

static bool is_of_layer(const rates *r, const mw_weight *weight, const char *pattern)
{
    for (size_t i = 0; i < r->source_count; i++)
        if (is_of(weight->name, r->source[i].name) && mw__tune_matches_layer(pattern, &r->source[i]))
            return true;
    return false;
}

/* ---- selectors ---- */

static mw_status check_factor(const mw_rate_factor *factor, size_t index, mw_error *err)
{
    if (factor->pattern == NULL || factor->pattern[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: factor %zu of rates has no pattern", index + 1);
    if (!(factor->factor > 0.0f) || !isfinite(factor->factor))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: factor %zu of rates, \"%.80s\", is %g; it must be above 0 and finite (a frozen group "
                        "keeps parameters as they are)",
                        index + 1, factor->pattern, (double)factor->factor);
    return MW_OK;
}

static mw_status check_rates(const mw_trainer_rates *asked, mw_error *err)
{
    if (!(asked->decay >= 0.0f && asked->decay <= 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: rates.decay is %g; it must be in (0, 1], or 0 for none",
                        (double)asked->decay);
    if (asked->factors == NULL && asked->factor_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: rates.factors is NULL, factor_count %zu",
                        asked->factor_count);
    if (asked->source != NULL && asked->factor_count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: rates.source has no effect without rates.factors, whose patterns it is for");
    for (size_t i = 0; i < asked->factor_count; i++)
        MW_TRY(check_factor(&asked->factors[i], i, err));
    return MW_OK;
}

static void find_kinds(rates *r)
{
    for (size_t f = 0; f < r->asked->factor_count; f++)
        for (size_t i = 0; i < r->count && !r->by_name[f]; i++)
            r->by_name[f] =
                is_trained(r, &r->weights[i]) && fnmatch(r->asked->factors[f].pattern, r->weights[i].name, 0) == 0;
}

/* The first that matches; NULL if none does. */
static const mw_rate_factor *find_factor(rates *r, const mw_weight *weight)
{
    for (size_t f = 0; f < r->asked->factor_count; f++) {
        const char *pattern = r->asked->factors[f].pattern;
        if (r->by_name[f] ? fnmatch(pattern, weight->name, 0) != 0 : !is_of_layer(r, weight, pattern))
            continue;
        r->taken[f]++;
        return &r->asked->factors[f];
    }
    return NULL;
}

static mw_status refuse_untaken(const rates *r, mw_error *err)
{
    for (size_t f = 0; f < r->asked->factor_count; f++) {
        mw__near near = {.wanted = r->asked->factors[f].pattern};
        char list[400] = "none";
        size_t used = 0;
        if (r->taken[f] > 0)
            continue;
        for (size_t i = 0; i < r->count; i++)
            if (is_trained(r, &r->weights[i]))
                mw__near_add(&near, r->weights[i].name);
        for (size_t i = 0; i < r->source_count; i++)
            mw__near_add(&near, r->source[i].layer);
        for (size_t i = 0; i < near.count && used + 100 < sizeof list; i++)
            used += mw__printable_printf(list + used, sizeof list - used, "%s\"%.80s\"", used > 0 ? ", " : "",
                                         near.names[i]);
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: factor %zu of rates, \"%.64s\", gets no parameter: it matches none that is trained "
                        "and no layer of one, or an earlier factor took them; near it are %s",
                        f + 1, r->asked->factors[f].pattern, list);
    }
    return MW_OK;
}

/* ---- groups ---- */

/* The group like `base` with that factor, made if there is none. */
static size_t find_group(mw_trainer *t, size_t base, double factor)
{
    const double rate = t->optimizer.groups[base].rate_factor * factor;
    for (size_t i = t->optimizer.pattern_count; i < t->optimizer.group_count; i++)
        if (t->optimizer.groups[i].base == base && t->optimizer.groups[i].rate_factor == rate)
            return i;
    mw__trainer_group *made = &t->optimizer.groups[t->optimizer.group_count];
    *made = t->optimizer.groups[base];
    made->base = base;
    made->rate_factor = rate;
    made->pattern = base > 0 ? made->pattern : "*";
    return t->optimizer.group_count++;
}

static void report_parameter(rates *r, const mw_weight *weight)
{
    const mw_trainer *t = r->trainer;
    const mw_rate_factor *taken = find_factor(r, weight);
    const mw_rate_choice choice = {.parameter = weight->name,
                                   .depth = weight->depth,
                                   .pattern = taken != NULL ? taken->pattern : NULL,
                                   .factor = t->optimizer.groups[mw__trainer_group_of(t, weight->name)].rate_factor};
    const mw__callback outer = mw__callback_begin("report of the rates", MW__LENT_NEVER);
    r->asked->report(r->asked->report_user, &choice);
    mw__callback_end(outer);
}

static mw_status place_parameter(rates *r, const mw_weight *weight, mw_error *err)
{
    mw_trainer *t = r->trainer;
    const mw_rate_factor *taken = find_factor(r, weight);
    const double decay = r->asked->decay > 0.0f ? (double)r->asked->decay : 1.0;
    const double factor =
        pow(decay, weight->depth > 1 ? weight->depth - 1 : 0) * (taken != NULL ? (double)taken->factor : 1.0);
    if (factor != 1.0) {
        const size_t group = find_group(t, mw__trainer_group_of(t, weight->name), factor);
        MW_TRY(mw__map_set(&t->optimizer.members, weight->name, (void *)(uintptr_t)group, err));
    }
    return MW_OK;
}

static mw_status make_room(mw_trainer *t, size_t count, mw_error *err)
{
    mw__trainer_group *groups = mw__arena_alloc(&t->arena, t->optimizer.group_count + count, sizeof *groups, err);
    if (groups == NULL)
        return MW_ERROR_MEMORY;
    memcpy(groups, t->optimizer.groups, t->optimizer.group_count * sizeof *groups);
    t->optimizer.groups = groups;
    return MW_OK;
}

mw_status mw__trainer_make_rates(mw_trainer *t, const mw_trainer_rates *asked, mw_error *err)
{
    MW_TRY(check_rates(asked, err));
    if ((asked->decay == 0.0f || asked->decay == 1.0f) && asked->factor_count == 0 && asked->report == NULL)
        return MW_OK;
    rates r = {.trainer = t,
               .asked = asked,
               .by_name = mw__arena_alloc(&t->arena, asked->factor_count + 1, sizeof *r.by_name, err),
               .taken = mw__arena_alloc(&t->arena, asked->factor_count + 1, sizeof *r.taken, err)};
    if (r.by_name == NULL || r.taken == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(list_weights(t, t->model.graph, &r.weights, &r.count, err));
    if (asked->source != NULL)
        MW_TRY(list_weights(t, asked->source, &r.source, &r.source_count, err));
    MW_TRY(make_room(t, r.count, err));
    find_kinds(&r);
    for (size_t i = 0; i < r.count; i++)
        if (is_trained(&r, &r.weights[i]))
            MW_TRY(place_parameter(&r, &r.weights[i], err));
    MW_TRY(refuse_untaken(&r, err));
    for (size_t i = 0; asked->report != NULL && i < r.count; i++)
        if (is_trained(&r, &r.weights[i]))
            report_parameter(&r, &r.weights[i]);
    return MW_OK;
}
