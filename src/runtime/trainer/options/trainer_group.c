/* Parameter groups: which parameters are frozen, which have a learning rate or weight decay of their own. */
#include "base/number/float_mode.h"
#include "base/text/name.h"
#include "base/text/printable.h"
#include "graph/random/generator.h"
#include "runtime/trainer/options/trainer_options.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* What an mw_parameter_group holds. */
typedef struct parameter_group {
    const char *pattern;
    float number[2]; /* the rate factor, the weight decay */
    bool is_set[2], frozen, moving_statistics, adamw;
    bool was_refused; /* a call of mw_parameter_group_set: the first one was this */
    int refused;
    double refused_value;
} parameter_group;

_Static_assert(sizeof(parameter_group) <= sizeof(mw_parameter_group), "it holds one");

static const struct {
    const char *name;
    mw_optimizer_number like; /* whose range it has */
} numbers[] = {[MW_GROUP_RATE_FACTOR] = {"rate_factor", MW_OPTIMIZER_LEARNING_RATE},
               [MW_GROUP_WEIGHT_DECAY] = {"weight_decay", MW_OPTIMIZER_WEIGHT_DECAY},
               [MW_GROUP_FROZEN] = {"frozen", MW_OPTIMIZER_NESTEROV},
               [MW_GROUP_MOVING_STATISTICS] = {"moving_statistics", MW_OPTIMIZER_NESTEROV},
               [MW_GROUP_ADAMW] = {"adamw", MW_OPTIMIZER_NESTEROV}};

static bool is_number(int number) { return number >= 0 && number < (int)(sizeof numbers / sizeof *numbers); }

/* ---- the value of the user ---- */

static parameter_group group_of(const mw_parameter_group *hidden)
{
    parameter_group g;
    memcpy(&g, hidden, sizeof g);
    return g;
}

static mw_parameter_group hide(const parameter_group *g)
{
    mw_parameter_group hidden = {{0}};
    memcpy(&hidden, g, sizeof *g);
    return hidden;
}

mw_parameter_group mw_parameter_group_defaults(const char *pattern)
{
    return hide(&(parameter_group){.pattern = pattern, .number = {[MW_GROUP_RATE_FACTOR] = 1.0f}});
}

mw_parameter_group mw_parameter_group_frozen(const char *pattern)
{
    return hide(&(parameter_group){.pattern = pattern, .number = {[MW_GROUP_RATE_FACTOR] = 1.0f}, .frozen = true});
}

static void set_number(parameter_group *g, mw_parameter_group_number number, double value)
{
    if (number == MW_GROUP_FROZEN) {
        g->frozen = value != 0.0;
    } else if (number == MW_GROUP_MOVING_STATISTICS) {
        g->moving_statistics = value != 0.0;
    } else if (number == MW_GROUP_ADAMW) {
        g->adamw = value != 0.0;
    } else {
        g->number[number] = (float)value;
        g->is_set[number] = true;
    }
}

bool mw_parameter_group_set(mw_parameter_group *hidden, mw_parameter_group_number number, double value)
{
    MW__FLOAT_SCOPE;
    if (hidden == NULL)
        return false;
    parameter_group g = group_of(hidden);
    const bool good = is_number((int)number) && mw__optimizer_takes(numbers[number].like, value);
    if (good) {
        set_number(&g, number, value);
    } else if (!g.was_refused) {
        g.was_refused = true;
        g.refused = (int)number;
        g.refused_value = value;
    }
    *hidden = hide(&g);
    return good;
}

/* ---- checks ---- */

static mw_status check_set(const parameter_group *g, size_t index, mw_error *err)
{
    if (!g->was_refused)
        return MW_OK;
    if (!is_number(g->refused))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: group %zu \"%.80s\": mw_parameter_group_set got number %d, which is none; there are "
                        "rate_factor, weight_decay, frozen, moving_statistics and adamw",
                        index, g->pattern, g->refused);
    return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: group %zu \"%.80s\": %s was set to %g; it must be %s%s", index,
                    g->pattern, numbers[g->refused].name, g->refused_value,
                    mw__optimizer_range_rule(numbers[g->refused].like),
                    g->refused == MW_GROUP_RATE_FACTOR ? " (frozen keeps parameters as they are)" : "");
}

/* What would have no effect. */
static mw_status check_together(const parameter_group *g, size_t index, mw_error *err)
{
    for (int i = 0; g->frozen && i < 2; i++)
        if (g->is_set[i])
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "trainer: group %zu \"%.80s\" is frozen: its %s has no effect; leave it out", index,
                            g->pattern, numbers[i].name);
    if (g->frozen && g->adamw)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: group %zu \"%.80s\" is frozen: adamw has no effect; leave it out", index, g->pattern);
    if (g->moving_statistics && !g->frozen)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: group %zu \"%.80s\": moving_statistics is for a frozen group; statistics of others "
                        "move anyway",
                        index, g->pattern);
    return MW_OK;
}

static mw_status check_group(const parameter_group *group, size_t index, mw_error *err)
{
    if (group->pattern == NULL || group->pattern[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: group %zu has no pattern (mw_parameter_group_defaults makes a group)", index);
    const char *fault = mw__name_fault(group->pattern); /* a checkpoint describes the groups */
    if (fault != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: the pattern of group %zu %s", index, fault);
    MW_TRY(check_set(group, index, err));
    return check_together(group, index, err);
}

static mw_status copy_group(mw_trainer *t, const parameter_group *source, mw__trainer_group *out, mw_error *err)
{
    *out = (mw__trainer_group){.optimizer = t->optimizer.groups[0].optimizer,
                               .pattern = mw__arena_string(&t->arena, source->pattern, strlen(source->pattern), err),
                               .frozen = source->frozen,
                               .moving_statistics = source->moving_statistics,
                               .rate_factor = (double)source->number[MW_GROUP_RATE_FACTOR]};
    if (source->is_set[MW_GROUP_WEIGHT_DECAY])
        out->optimizer.weight_decay = source->number[MW_GROUP_WEIGHT_DECAY];
    if (source->adamw && out->optimizer.kind != MW__MUON)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: group \"%.80s\": adamw is for groups of mw_muon; this optimizer is %s",
                        source->pattern, mw__optimizer_kind_name(out->optimizer.kind));
    if (source->adamw)
        mw__optimizer_set_adamw(&out->optimizer);
    if (!source->frozen)
        MW_TRY(mw__optimizer_check(&out->optimizer, err));
    return out->pattern != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* One made for a rate, else the first whose pattern matches; group 0 is that of all others. */
size_t mw__trainer_group_of(const mw_trainer *t, const char *parameter)
{
    const size_t made = (size_t)(uintptr_t)mw__map_get(&t->optimizer.members, parameter);
    if (made > 0)
        return made;
    for (size_t i = 1; i < t->optimizer.pattern_count; i++)
        if (fnmatch(t->optimizer.groups[i].pattern, parameter, 0) == 0)
            return i;
    return 0;
}

bool mw__trainer_freezes(void *trainer, const mw_tensor *state)
{
    const mw_trainer *t = trainer;
    const mw__trainer_group *group = &t->optimizer.groups[mw__trainer_group_of(t, state->name)];
    return group->frozen && !group->moving_statistics && !mw__is_generator(state);
}

/* "fc1.weight", "fc1.bias", ... */
static const char *list_parameters(const mw_trainer *t, char *out, size_t size)
{
    const mw__block *body = mw__graph_main(t->model.graph)->body;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < body->input_count && used + 80 < size; i++) {
        if (body->inputs[i]->role == MW__PARAMETER)
            used += mw__printable_printf(out + used, size - used, "%s\"%.64s\"", used > 0 ? ", " : "",
                                         body->inputs[i]->name);
    }
    return out;
}

static bool is_frozen_by(const mw_trainer *t, size_t group, const mw_tensor *value)
{
    return value->role == MW__RESIDENT && mw__trainer_group_of(t, value->name) == group &&
           mw__trainer_freezes((void *)(uintptr_t)t, value);
}

static mw_status check_matches(const mw_trainer *t, mw_error *err)
{
    char list[512];
    const mw__block *body = mw__graph_main(t->model.graph)->body;
    size_t trained = 0, parameters = 0;
    for (size_t group = 0; group < t->optimizer.group_count; group++) {
        size_t members = 0, states = 0;
        for (size_t i = 0; i < body->input_count; i++)
            members +=
                body->inputs[i]->role == MW__PARAMETER && mw__trainer_group_of(t, body->inputs[i]->name) == group;
        for (size_t i = 0; t->optimizer.groups[group].frozen && i < body->input_count; i++)
            states += is_frozen_by(t, group, body->inputs[i]);
        parameters += members;
        trained += t->optimizer.groups[group].frozen ? 0 : members;
        if (group > 0 && members + states == 0)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "trainer: group %zu \"%.80s\" gets no parameter: the pattern matches none, or an earlier "
                            "group took them; the parameters are %s",
                            group, t->optimizer.groups[group].pattern, list_parameters(t, list, sizeof list));
    }
    if (parameters > 0 && trained == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: every parameter is frozen: %s",
                        list_parameters(t, list, sizeof list));
    return MW_OK;
}

mw_status mw__trainer_make_groups(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    if (o->groups == NULL && o->group_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: groups is NULL, group_count %zu", o->group_count);
    t->optimizer.groups = mw__arena_alloc(&t->arena, o->group_count + 1, sizeof *t->optimizer.groups, err);
    if (t->optimizer.groups == NULL)
        return MW_ERROR_MEMORY;
    t->optimizer.groups[0] = (mw__trainer_group){.optimizer = mw__optimizer_of(&o->optimizer), .rate_factor = 1.0};
    MW_TRY(mw__optimizer_keep(&t->optimizer.groups[0].optimizer, &t->arena, err));
    t->optimizer.group_count = t->optimizer.pattern_count = o->group_count + 1;
    for (size_t i = 0; i < o->group_count; i++) {
        const parameter_group g = group_of(&o->groups[i]);
        MW_TRY(check_group(&g, i + 1, err));
        MW_TRY(copy_group(t, &g, &t->optimizer.groups[i + 1], err));
    }
    MW_TRY(check_matches(t, err));
    return mw__trainer_make_rates(t, &o->rates, err);
}
