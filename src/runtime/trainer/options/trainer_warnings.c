/* Warnings that a trainer keeps: numbers that were replaced, parameters that do not train. They are logged, too. */
#include "base/memory/live.h"
#include "base/number/number.h"
#include "base/text/log.h"
#include "base/text/text.h"
#include "mil/legalize/numbers/narrow.h"
#include "runtime/program/warnings.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"

#include <string.h>

/* The constant in the program is in the loss scale. */
mw_status mw__trainer_keep_epsilon(mw_trainer *trainer, mw__optimizer *optimizer, mw_error *err)
{
    const double value = (double)optimizer->epsilon * trainer->numbers.loss_scale;
    if (!mw__trainer_number_is_lost(value, MW_F16) || value > 1.0)
        return MW_OK;
    optimizer->epsilon = (float)(MW__SAFE_DIVISOR / trainer->numbers.loss_scale);
    mw_warning *warning = &trainer->record.warnings[trainer->record.warning_count++];
    *warning = (mw_warning){.operation = "", .argument = "epsilon", .tensor = "", .value = value, .count = 1};
    warning->replaced_by = MW__SAFE_DIVISOR;
    MW_TRY(mw__warning_write(warning, "optimizer (in the loss scale)", NULL, &trainer->arena, err));
    mw__log(MW_LOG_WARNING, "%s", warning->message);
    return MW_OK;
}

/* ---- parameters without a gradient ---- */

static mw_status write_unreached(mw_trainer *t, const mw_tensor *parameter, mw_warning *out, mw_error *err)
{
    const char *name = mw_tensor_name(parameter);
    const bool decays = t->optimizer.groups[mw__trainer_group_of(t, name)].optimizer.weight_decay != 0.0f;
    mw__text text;
    mw__text_init(&text, t->arena.allocator);
    mw__text_printf(&text, "trainer: parameter \"%s\" gets no gradient and will %s", name,
                    decays ? "only decay" : "not change");
    *out = (mw_warning){.operation = "", .argument = MW__UNREACHED};
    out->count = (size_t)mw_shape_count(mw_tensor_shape(parameter));
    out->tensor = mw__arena_string(&t->arena, name, strlen(name), err);
    out->message = mw__text_check(&text, err) == MW_OK ? mw__arena_string(&t->arena, text.data, text.size, err) : NULL;
    mw__text_deinit(&text);
    return out->tensor != NULL && out->message != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__trainer_keep_unreached(mw_trainer *t, mw_tensor *const *parameters, size_t count, mw_error *err)
{
    mw_warning *all = mw__arena_alloc(&t->arena, t->record.warning_count + count, sizeof *all, err);
    if (all == NULL)
        return MW_ERROR_MEMORY;
    memcpy(all, t->record.warnings, t->record.warning_count * sizeof *all);
    t->record.warnings = all;
    for (size_t i = 0; i < count; i++) {
        MW_TRY(write_unreached(t, parameters[i], &all[t->record.warning_count], err));
        mw__log(MW_LOG_WARNING, "%s", all[t->record.warning_count++].message);
    }
    return MW_OK;
}

/* ---- reading them ---- */

bool mw_trainer_warning_at(const mw_trainer *trainer, size_t index, mw_warning *out_warning)
{
    if (!mw__live_has(trainer, MW__LIVE_TRAINER) || out_warning == NULL)
        return false;
    if (index >= trainer->record.warning_count)
        return mw_program_warning_at(trainer->step.program, index - trainer->record.warning_count, out_warning);
    *out_warning = trainer->record.warnings[index];
    return true;
}
