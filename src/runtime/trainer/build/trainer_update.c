/* The update as operations: the optimizer on each parameter, its moving average, the outputs that are aliased to their
 * inputs. */
#include "runtime/trainer/build/trainer_build.h"
#include "runtime/trainer/build/trainer_check.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"
#include "runtime/trainer/watch/trainer_watched.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

/* ---- state ---- */

static mw_status resident(mw__trainer_build *b, const mw_tensor *like, const char *suffix, mw_shape shape,
                          mw_tensor **out, mw_error *err)
{
    const char *name = mw__trainer_join(b, mw_tensor_name(like), suffix, "", err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    *out = b->again ? mw_graph_find(b->graph, name) : mw_input(b->graph, name, mw_tensor_dtype(like), shape);
    return mw_graph_check(b->graph, err);
}

mw_status mw__trainer_resident(mw__trainer_build *b, const mw_tensor *like, const char *suffix, mw_tensor **out,
                               mw_error *err)
{
    return resident(b, like, suffix, mw_tensor_shape(like), out, err);
}

mw_status mw__trainer_states_of(mw_trainer *t, const mw_tensor *parameter, const mw__optimizer_states **out,
                                mw_error *err)
{
    const char *name = mw_tensor_name(parameter);
    *out = mw__map_get(&t->optimizer.declared, name);
    if (*out != NULL)
        return MW_OK;
    const mw_update_parameter of = {.name = name,
                                    .dtype = mw_tensor_dtype(parameter),
                                    .shape = mw_tensor_shape(parameter),
                                    .half = mw__trainer_stored(t, mw_tensor_dtype(parameter)) == MW_F16};
    mw__optimizer_states *made = mw__arena_alloc(&t->arena, 1, sizeof *made, err);
    if (made == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__optimizer_states_of(&t->optimizer.groups[mw__trainer_group_of(t, name)].optimizer, &of,
                                   t->numbers.loss_scale, mw__trainer_limits(t, parameter)->gradient > 0.0, &t->arena,
                                   made, err));
    *out = made;
    return mw__map_set(&t->optimizer.declared, name, made, err);
}

mw_status mw__trainer_next_always(mw__trainer_build *b, mw_tensor *old, mw_tensor *new, mw_error *err)
{
    const char *name = mw__trainer_join(b, mw_tensor_name(old), MW__NEXT, "", err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    mw_output(new, name);
    return mw_graph_check(b->graph, err);
}

mw_status mw__trainer_next(mw__trainer_build *b, mw_tensor *old, mw_tensor *new, mw_error *err)
{
    return mw__trainer_next_always(b, old, mw_select(b->ok, new, old), err);
}

static mw_status next_parameter(mw__trainer_build *b, size_t index, const mw__trainer_change *change, mw_error *err)
{
    mw_tensor *next = mw_select(b->ok, change->new, change->old);
    MW_TRY(mw__trainer_next_always(b, change->old, next, err));
    return mw__trainer_show_update(b, index, change->old, next, err);
}

/* ---- scalars of the step ---- */

/* "optimizer.learning_rate", with ".2" for the second group and ".fp16" for its fp16 parameters */
static const char *scalar_port(mw__trainer_build *b, const mw__trainer_scalar *scalar, mw_error *err)
{
    char end[40] = "";
    if (scalar->group > 0)
        snprintf(end, sizeof end, ".%zu", scalar->group);
    if (scalar->declared == MW_F16)
        strcat(end, ".fp16");
    return mw__trainer_join(b, "optimizer.", scalar->name, end, err);
}

/* The scalars for parameters of one group and type; made when the first such parameter comes. */
static mw_status need_scalars(mw__trainer_build *b, size_t group, mw_dtype dtype, mw__optimizer_scalars **out,
                              mw_error *err)
{
    mw_trainer *t = b->trainer;
    mw__optimizer_scalars *set = &b->scalars[2 * group + (dtype == MW_F16)];
    *out = set;
    if (set->loss_scale != 0.0)
        return MW_OK;
    set->loss_scale = t->numbers.loss_scale;
    set->half = mw__trainer_stored(t, dtype) == MW_F16;
    for (size_t i = 0; i < mw__optimizer_scalar_count(&t->optimizer.groups[group].optimizer, set->half); i++) {
        mw__trainer_scalar *scalar = &t->optimizer.scalars[t->optimizer.scalar_count++];
        *scalar =
            (mw__trainer_scalar){.name = mw__optimizer_scalar_name(&t->optimizer.groups[group].optimizer, set->half, i),
                                 .index = i,
                                 .declared = dtype,
                                 .dtype = mw__trainer_stored(t, dtype),
                                 .group = group};
        const char *name = scalar_port(b, scalar, err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        set->scalar[i] = mw_input(b->graph, name, dtype, mw_shape_scalar());
    }
    return mw_graph_check(b->graph, err);
}

/* ---- update ---- */

static void change_value(mw__trainer_changes *changes, mw_tensor *old, mw_tensor *new)
{
    changes->items[changes->count++] = (mw__trainer_change){old, new};
}

/* The rate of averages, in the type of a parameter; NULL if it is constant. */
static mw_status need_average_rate(mw__trainer_build *b, mw_dtype dtype, mw_tensor **out, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const size_t group = t->optimizer.group_count;
    mw__optimizer_scalars *set = &b->scalars[2 * group + (dtype == MW_F16)];
    *out = set->scalar[0];
    if (t->numbers.average_from == 0 || *out != NULL)
        return MW_OK;
    t->optimizer.scalars[t->optimizer.scalar_count++] = (mw__trainer_scalar){
        .name = "average_rate", .declared = dtype, .dtype = mw__trainer_stored(t, dtype), .group = group};
    *out = set->scalar[0] =
        mw_input(b->graph, dtype == MW_F16 ? "average_rate.fp16" : "average_rate", dtype, mw_shape_scalar());
    return mw_graph_check(b->graph, err);
}

/* average + (1 - decay) (p' - average): the difference keeps its bits in fp16, where decay times the average would lose
 * them. */
mw_status mw__trainer_average(mw__trainer_build *b, mw_tensor *average, mw_tensor *new_p, mw_tensor **out,
                              mw_error *err)
{
    mw_tensor *rate = NULL;
    MW_TRY(need_average_rate(b, mw_tensor_dtype(average), &rate, err));
    mw_tensor *apart = mw_sub(new_p, average);
    *out = mw_add(average,
                  rate != NULL ? mw_mul(apart, rate) : mw_mul_scalar(apart, 1.0 - b->trainer->numbers.average_decay));
    return mw_graph_check(b->graph, err);
}

/* Of parts, it is computed when all parts are there. */
static mw_status change_average(mw__trainer_build *b, mw_tensor *p, mw_tensor *new_p, mw__trainer_changes *out,
                                mw_error *err)
{
    if (b->trainer->numbers.average_decay == 0.0 || b->kind == MW__PASS_PARTS_UPDATE)
        return MW_OK;
    mw_tensor *old = NULL, *new = NULL;
    MW_TRY(mw__trainer_resident(b, p, MW__AVERAGE, &old, err));
    MW_TRY(mw__trainer_average(b, old, new_p, &new, err));
    change_value(out, old, new);
    return MW_OK;
}

static mw_status change_parameter(mw__trainer_build *b, size_t index, size_t group, mw__trainer_changes *out,
                                  mw_error *err)
{
    const mw__optimizer *optimizer = &b->trainer->optimizer.groups[group].optimizer;
    mw_tensor *p = b->parameters[index], *new_p = NULL;
    mw_tensor *state[MW__OPTIMIZER_STATES] = {NULL}, *new_state[MW__OPTIMIZER_STATES] = {NULL};
    mw__optimizer_scalars *scalars;
    MW_TRY(need_scalars(b, group, mw_tensor_dtype(p), &scalars, err));
    const mw__optimizer_states *states;
    MW_TRY(mw__trainer_states_of(b->trainer, p, &states, err));
    for (size_t i = 0; i < states->count; i++) {
        const char *suffix = mw__trainer_join(b, "#", states->items[i].name, "", err);
        if (suffix == NULL)
            return MW_ERROR_MEMORY;
        const bool in_parts = mw__trainer_pass_has_parts(b->kind); /* then a state has the shape of its parameter */
        const mw_shape shape = in_parts ? mw_tensor_shape(p) : states->items[i].shape;
        MW_TRY(resident(b, p, suffix, shape, &state[i], err));
    }
    const mw__optimizer_request request = {.optimizer = optimizer,
                                           .scalars = scalars,
                                           .graph = b->graph,
                                           .p = p,
                                           .gradient = b->gradients[index],
                                           .probe = b->probes != NULL ? b->probes[index] : NULL,
                                           .state = state,
                                           .state_count = states->count,
                                           .states = states};
    MW_TRY(mw__optimizer_apply(&request, &new_p, new_state, err));
    change_value(out, p, new_p);
    for (size_t i = 0; i < states->count; i++)
        change_value(out, state[i], new_state[i]);
    return change_average(b, p, new_p, out, err);
}

mw_status mw__trainer_changes_of(mw__trainer_build *b, size_t index, mw__trainer_changes *out, mw_error *err)
{
    *out = (mw__trainer_changes){.count = 0};
    if (b->kind != MW__PASS_SUM)
        return change_parameter(b, index, mw__trainer_group_of(b->trainer, mw_tensor_name(b->parameters[index])), out,
                                err);
    change_value(out, b->sums[index], b->gradients[index]);
    return MW_OK;
}

mw_status mw__trainer_build_update(mw__trainer_build *b, size_t index, mw_error *err)
{
    mw_tensor *sum = b->sums != NULL ? b->sums[index] : NULL;
    mw__trainer_changes changes = {.count = 0};
    if (b->updates != NULL)
        changes = b->updates[index];
    if (changes.count == 0) {
        b->again = b->kind != MW__PASS_PARTS_UPDATE &&
                   mw__trainer_limits(b->trainer, b->parameters[index])->gradient == 0.0; /* by the flag */
        MW_TRY(mw__trainer_changes_of(b, index, &changes, err));
    }
    MW_TRY(next_parameter(b, index, &changes.items[0], err));
    for (size_t i = 1; i < changes.count; i++)
        MW_TRY(mw__trainer_next(b, changes.items[i].old, changes.items[i].new, err));
    if (sum == NULL || b->kind == MW__PASS_SUM)
        return MW_OK;
    return mw__trainer_next(b, sum, mw_fill(b->graph, mw_tensor_dtype(sum), mw_tensor_shape(sum), 0.0), err);
}
