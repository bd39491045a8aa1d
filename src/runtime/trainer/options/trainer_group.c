/* Parameter groups: which parameters are frozen, which have a learning rate or weight decay of their own. */
#include "base/text/name.h"
#include "base/text/printable.h"
#include "graph/random/generator.h"
#include "runtime/trainer/options/trainer_options.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static mw_status check_group(const mw_parameter_group *group, size_t index, mw_error *err)
{
    if (group->pattern == NULL || group->pattern[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: group %zu has no pattern", index);
    const char *fault = mw__name_fault(group->pattern); /* a checkpoint describes the groups */
    if (fault != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: the pattern of group %zu %s", index, fault);
    if (group->frozen)
        return MW_OK;
    if (!(group->rate_factor > 0.0f) || !isfinite(group->rate_factor))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: group %zu \"%.80s\" has rate_factor %g; it must be positive and finite (frozen "
                        "keeps parameters as they are; mw_parameter_group_defaults makes a group)",
                        index, group->pattern, (double)group->rate_factor);
    if (isnan(group->weight_decay) || isinf(group->weight_decay))
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: group %zu \"%.80s\" has weight_decay %g; it must be finite",
                        index, group->pattern, (double)group->weight_decay);
    return MW_OK;
}

static mw_status copy_group(mw_trainer *t, const mw_parameter_group *source, mw__trainer_group *out, mw_error *err)
{
    *out = (mw__trainer_group){.optimizer = t->optimizer.groups[0].optimizer,
                               .pattern = mw__arena_string(&t->arena, source->pattern, strlen(source->pattern), err),
                               .frozen = source->frozen,
                               .moving_statistics = source->moving_statistics,
                               .rate_factor = (double)source->rate_factor};
    if (source->weight_decay >= 0.0f)
        out->optimizer.weight_decay = source->weight_decay;
    if (!source->frozen)
        MW_TRY(mw__optimizer_check(&out->optimizer, err));
    return out->pattern != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* The first pattern that matches; group 0 is that of all others. */
size_t mw__trainer_group_of(const mw_trainer *t, const char *parameter)
{
    for (size_t i = 1; i < t->optimizer.group_count; i++)
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
    t->optimizer.groups[0] = (mw__trainer_group){.optimizer = o->optimizer, .rate_factor = 1.0};
    MW_TRY(mw__optimizer_keep(&t->optimizer.groups[0].optimizer, &t->arena, err));
    t->optimizer.group_count = o->group_count + 1;
    for (size_t i = 0; i < o->group_count; i++) {
        MW_TRY(check_group(&o->groups[i], i + 1, err));
        MW_TRY(copy_group(t, &o->groups[i], &t->optimizer.groups[i + 1], err));
    }
    return check_matches(t, err);
}
