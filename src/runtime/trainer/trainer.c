/* A trainer between steps: destroying, reading and writing state, learning rate, counters, the model as MIL. */
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "graph/transform/clone/clone.h"
#include "graph/values/convert.h"
#include "runtime/data/classes.h"
#include "runtime/evaluate/view.h"
#include "runtime/trainer/build/trainer_check.h"
#include "runtime/trainer/build/trainer_programs.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/object/trainer_object.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/ranks/trainer_ranks.h"
#include "runtime/trainer/step/trainer_compare.h"

#include <math.h>
#include <millwright/mil.h>
#include <string.h>

static void pass_deinit(mw__trainer_pass *pass)
{
    mw__program_destroy(pass->shadow); /* bound to buffers of the program */
    mw__program_destroy(pass->program);
}

/* The state goes after the programs that are bound to it. */
static void destroy_owner(mw__state_owner *owner)
{
    mw_trainer *trainer = (mw_trainer *)(void *)owner;
    const mw_allocator *allocator = trainer->allocator;
    for (size_t i = 0; i < trainer->variants.count; i++) /* their state is this one's */
        mw_trainer_destroy(trainer->variants.items[i]);
    mw__trainer_view_deinit(&trainer->views.predictor);
    mw__trainer_view_deinit(&trainer->views.evaluation);
    mw__series_destroy(trainer->many.series); /* of the step's function */
    pass_deinit(&trainer->accumulation);
    if (trainer->strategy->leave != NULL)
        trainer->strategy->leave(trainer);
    pass_deinit(&trainer->step);
    mw__state_deinit(&owner->state);
    mw__graph_free(trainer->model.graph);
    mw__trainer_drop_comparison(trainer);
    mw__map_deinit(&trainer->optimizer.declared);
    mw__map_deinit(&trainer->optimizer.members);
    mw__arena_deinit(&trainer->arena);
    mw__learned_classes_destroy(trainer->fit.learned, allocator);
    mw__free(allocator, trainer->watched.tensors);
    mw__free(allocator, trainer->record.description);
    mw__free(allocator, trainer);
}

static mw_status check_lender(const mw__state_owner *owner, const char *option, mw_error *err)
{
    const mw_trainer *lender = (const mw_trainer *)(const void *)owner;
    MW_TRY(mw__trainer_check_alive(lender, err));
    if (lender->ranks == NULL)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "%s: that trainer is a rank of several, which share nothing with "
                    "others",
                    option);
}

static const mw__state_entry *lent_entry(const mw__state_owner *owner, const mw__state_entry *entry)
{
    return mw__trainer_exported_entry((const mw_trainer *)(const void *)owner, entry);
}

const mw__state_owner_kind mw__trainer_kind = {"trainer", check_lender, destroy_owner, lent_entry};

void mw_trainer_destroy(mw_trainer *trainer)
{
    if (trainer != NULL && mw__live_remove(trainer, MW__LIVE_TRAINER, __func__) &&
        mw__guard_close(&trainer->owner.guard))
        mw__state_owner_release(&trainer->owner);
}

/* ---- learning rate and counters ---- */

static mw_status set_learning_rate(mw_trainer *trainer, float learning_rate, mw_error *err)
{
    if (trainer == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_set_learning_rate: the trainer is NULL");
    if (!(learning_rate >= 0.0f) || !isfinite(learning_rate))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_set_learning_rate: the learning rate %g is not a finite number from 0 on",
                        (double)learning_rate);
    MW_TRY(mw__trainer_check_scalars(trainer, learning_rate, trainer->progress.steps + 1, err));
    MW_TRY(mw__trainer_check_rate(trainer, learning_rate, err));
    trainer->numbers.learning_rate = learning_rate;
    return MW_OK;
}

mw_status mw_trainer_set_learning_rate(mw_trainer *trainer, float learning_rate, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, set_learning_rate(trainer, learning_rate, err), err);
}

float mw__trainer_loss_scale(const mw_trainer *trainer)
{
    const mw__state_entry *entry = mw__state_find(&trainer->owner.state, MW__SCALE);
    float scale = (float)trainer->numbers.loss_scale;
    if (entry != NULL)
        mw__convert(&scale, MW_F32, &(mw__values){.data = entry->data, .dtype = entry->dtype, .count = 1}, NULL);
    return scale;
}

mw_trainer_info mw_trainer_get_info(const mw_trainer *trainer)
{
    MW__FLOAT_SCOPE;
    if (!mw__live_has(trainer, MW__LIVE_TRAINER))
        return (mw_trainer_info){0};
    return (mw_trainer_info){
        .steps = trainer->progress.steps,
        .learning_rate = trainer->numbers.learning_rate,
        .loss_scale = mw__trainer_loss_scale(trainer),
        .gradient_norm = mw__trainer_gradient_norm(trainer),
        .warning_count = trainer->record.warning_count + mw_program_get_info(trainer->step.program).warning_count,
        .watch_count = trainer->watched.count,
        .counters = trainer->progress.counters,
        .parts = mw__trainer_parts(trainer),
        .recomputation = trainer->record.recomputation,
    };
}

mw_program *mw_trainer_program(const mw_trainer *trainer)
{
    return mw__live_has(trainer, MW__LIVE_TRAINER) ? trainer->step.program : NULL;
}

/* ---- for files and fit ---- */

/* The averages of a parameter are added right behind it. */
const mw__state_entry *mw__trainer_exported_entry(const mw_trainer *t, const mw__state_entry *entry)
{
    const size_t length = strlen(entry->name);
    for (const mw__state_entry *next = entry;
         t->views.uses_averages && next < t->owner.state.entries + t->owner.state.count; next++) {
        if (strncmp(next->name, entry->name, length) != 0)
            break;
        if (strcmp(next->name + length, MW__AVERAGE) == 0)
            return next;
    }
    return entry;
}

/* Of a state of which other ranks have parts, all drop theirs at the next step, if rank 0 does. */
static void drop_low(mw_trainer *t, mw__state_entry *low)
{
    if (low->is_part)
        t->ranks->shards->marks[low - t->owner.state.entries] = MW__MARK_DROPPED;
    else
        mw__state_fill(low, 0.0);
}

/* The states of a parameter are added right behind it. */
void mw__trainer_follow(mw_trainer *t, const mw__state_entry *weight)
{
    const size_t length = strlen(weight->name);
    for (mw__state_entry *next = t->owner.state.entries + (weight - t->owner.state.entries) + 1;
         next < t->owner.state.entries + t->owner.state.count && strncmp(next->name, weight->name, length) == 0;
         next++) {
        if (strcmp(next->name + length, MW__AVERAGE) == 0)
            memcpy(next->data, weight->data, weight->size);
        else if (strcmp(next->name + length, MW__LOW) == 0)
            drop_low(t, next);
    }
}

void mw__trainer_drop_low(mw_trainer *t, const mw__state_entry *weight)
{
    const size_t length = strlen(weight->name);
    for (mw__state_entry *next = t->owner.state.entries + (weight - t->owner.state.entries) + 1;
         next < t->owner.state.entries + t->owner.state.count && strncmp(next->name, weight->name, length) == 0; next++)
        if (strcmp(next->name + length, MW__LOW) == 0)
            drop_low(t, next);
}

static mw_status use_averages(mw_trainer *trainer, bool use, mw_error *err)
{
    if (trainer == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_use_averages: the trainer is NULL");
    if (use && trainer->numbers.average_decay == 0.0)
        return mw__fail(err, MW_ERROR_STATE, "the trainer keeps no moving averages: set average_decay in its options");
    for (size_t i = 0; i < trainer->variants.count; i++)
        MW_TRY(use_averages(trainer->variants.items[i], use, err));
    if (use != trainer->views.uses_averages) {
        mw__trainer_view_deinit(&trainer->views.evaluation); /* bound to the others */
        mw__trainer_view_deinit(&trainer->views.predictor);
    }
    trainer->views.uses_averages = use;
    return MW_OK;
}

mw_status mw_trainer_use_averages(mw_trainer *trainer, bool use, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, use_averages(trainer, use, err), err);
}

/* ---- state ---- */

static mw_status find_state(mw_trainer *trainer, const char *name, const void *data, size_t count,
                            mw__state_entry **out, mw_error *err)
{
    if (trainer == NULL || name == NULL || data == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_read or mw_trainer_write: the %s is NULL",
                        trainer == NULL ? "trainer"
                        : name == NULL  ? "name of the parameter"
                                        : "memory for the parameter");
    *out = mw__state_find(&trainer->owner.state, name);
    if (*out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the trainer has no parameter \"%s\"", name);
    if ((*out)->is_part)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "each rank has a part of \"%s\" (ranks.shard_states): save a checkpoint to have all of it",
                        name);
    const int64_t expected = mw_shape_count((*out)->shape);
    if ((int64_t)count != expected)
        return mw__fail(err, MW_ERROR_SHAPE, "parameter \"%s\" has %lld elements, not %zu", name, (long long)expected,
                        count);
    return MW_OK;
}

/* How messages call a parameter or state. */
static const char *print_name(const char *parameter, char *buffer, size_t size)
{
    mw__printable_printf(buffer, size, "parameter \"%.200s\"", parameter);
    return buffer;
}

static mw_status read_state(mw_trainer *trainer, const char *parameter, mw_dtype dtype, void *out_data, size_t count,
                            mw_error *err)
{
    char name[256];
    mw__state_entry *entry = NULL;
    MW_TRY(find_state(trainer, parameter, out_data, count, &entry, err));
    mw__trainer_count_state(trainer, 0, entry->size);
    const mw__values values = {.data = entry->data, .dtype = entry->dtype, .count = count};
    return mw__convert_of(print_name(parameter, name, sizeof name), out_data, dtype, &values, err);
}

mw_status mw_trainer_read(mw_trainer *trainer, const char *parameter, mw_dtype dtype, void *out_data, size_t count,
                          mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, read_state(trainer, parameter, dtype, out_data, count, err), err);
}

/* What is not a number is found when the values enter. */
static mw_status check_limits(const mw__state_entry *entry, const mw__values *values, mw_error *err)
{
    for (size_t i = 0; mw__is_host_type(values->dtype) && i < values->count; i++) {
        const double value = mw__load_element(values->data, values->dtype, i);
        if (value < entry->least || value > entry->most)
            return mw__fail(err, MW_ERROR_NUMERIC, "\"%s\": element %zu is %g; it can only be %g to %g", entry->name, i,
                            value, entry->least, entry->most);
    }
    return MW_OK;
}

static mw_status write_state(mw_trainer *trainer, const char *parameter, mw_dtype dtype, const void *data, size_t count,
                             mw_error *err)
{
    char name[256];
    mw__state_entry *entry = NULL;
    MW_TRY(find_state(trainer, parameter, data, count, &entry, err));
    const mw__values values = {.data = data, .dtype = dtype, .count = count};
    MW_TRY(check_limits(entry, &values, err));
    const mw__port_rule rule = {.dtype = entry->dtype, .declared = entry->dtype, .finite = true};
    mw__refusal refusal;
    if (mw__values_enter(entry->data, &values, &rule, &refusal) != MW_OK)
        return mw__convert_refused(&refusal, count, print_name(parameter, name, sizeof name), err);
    mw__trainer_count_state(trainer, entry->size, 0);
    mw__trainer_follow(trainer, entry);
    return MW_OK;
}

mw_status mw_trainer_write(mw_trainer *trainer, const char *parameter, mw_dtype dtype, const void *data, size_t count,
                           mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, write_state(trainer, parameter, dtype, data, count, err), err);
}
