/* A trainer's weights and adapters as files: without optimizer state, by the names that other tools know. Whole
 * training states are in checkpoint.c. */
#include "base/file/file.h"
#include "base/number/float_mode.h"
#include "base/number/number.h"
#include "runtime/trainer/object/trainer_object.h"
#include "runtime/weights/adapter.h"

/* A slot for each entry of the state set, none of them part of the file yet. Freed by the caller. */
static mw_status make_slots(const mw_trainer *t, mw__weight_slots *out, mw_error *err)
{
    *out = (mw__weight_slots){.allocator = t->allocator, .owner = "the trainer", .count = t->owner.state.count};
    out->slot = mw__alloc(t->allocator, t->owner.state.count, sizeof *out->slot, err);
    for (size_t i = 0; out->slot != NULL && i < out->count; i++) {
        const mw__state_entry *entry = &t->owner.state.entries[i];
        out->slot[i] = (mw__weight_slot){.name = entry->name,
                                         .dtype = entry->dtype,
                                         .shape = entry->shape,
                                         .data = entry->data,
                                         .size = entry->size};
    }
    return out->slot != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* Weight files have parameters, and states that evaluation reads. */
static mw_status weight_slots(const mw_trainer *t, mw__weight_slots *out, mw_error *err)
{
    MW_TRY(make_slots(t, out, err));
    for (size_t i = 0; i < out->count; i++)
        out->slot[i].in_file = t->owner.state.entries[i].is_weight ? out->slot[i].name : NULL;
    return MW_OK;
}

/* Files of adapters have every parameter; frozen ones are states. */
static mw_status adapter_slots(const mw_trainer *t, mw__weight_slots *out, mw__adapter_numbers *numbers, mw_error *err)
{
    MW_TRY(make_slots(t, out, err));
    for (size_t i = 0; i < out->count; i++) {
        mw__weight_slot *slot = &out->slot[i];
        const mw_tensor *value = mw_graph_find(t->model.graph, slot->name);
        if (value == NULL || value->role != MW__PARAMETER)
            continue;
        slot->in_file = slot->name;
        MW_TRY(mw__adapter_scale(t->model.graph, slot->name, slot->shape, numbers, err));
    }
    return MW_OK;
}

static mw_status write_slots(mw_trainer *t, mw__weight_slots *slots, const char *path, const mw__safetensors_note *note,
                             mw_error *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < slots->count; i++) {
        const mw__state_entry *shown = mw__trainer_exported_entry(t, &t->owner.state.entries[i]);
        if (slots->slot[i].in_file == NULL)
            continue;
        MW_TRY(mw__state_check(shown, shown->data, "nothing was saved", err));
        slots->slot[i].data = shown->data;
        bytes += slots->slot[i].size;
    }
    MW_TRY(mw__weights_write(slots, path, note, err));
    mw__trainer_count_state(t, 0, bytes);
    return MW_OK;
}

/* The device's copies follow what was read. */
static void follow_slots(mw_trainer *t, const mw__weight_slots *slots)
{
    size_t bytes = 0;
    for (size_t i = 0; i < slots->count; i++) {
        if (!slots->slot[i].taken)
            continue;
        mw__trainer_follow(t, &t->owner.state.entries[i]);
        bytes += slots->slot[i].size;
    }
    mw__trainer_count_state(t, bytes, 0);
}

static mw_status read_slots(mw_trainer *t, const mw__weight_slots *slots, const char *path, bool of_folder,
                            mw_error *err)
{
    MW_TRY(mw__weights_read(slots, path, of_folder, err));
    follow_slots(t, slots);
    return MW_OK;
}

/* ---- weights ---- */

static mw_status save_weights(mw_trainer *t, const char *path, mw_error *err)
{
    mw__weight_slots slots;
    MW_TRY(mw__trainer_check_path(t, path, "mw_trainer_save_weights", err));
    mw_status status = weight_slots(t, &slots, err);
    if (status == MW_OK)
        status = write_slots(t, &slots, path, NULL, err);
    mw__free(t->allocator, slots.slot);
    return status;
}

mw_status mw_trainer_save_weights(mw_trainer *trainer, const char *path, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, save_weights(trainer, path, err), err);
}

/* ---- adapters ---- */

typedef mw_status adapter_action(mw_trainer *t, mw__adapters *a, const char *folder, mw_error *err);

static mw_status write_adapters(mw_trainer *t, mw__adapters *a, const char *folder, mw_error *err)
{
    char alpha[MW__NUMBER_MAX];
    mw__number_print_float(alpha, (float)a->numbers.alpha);
    MW_TRY(mw__file_make_folders(folder, err));
    MW_TRY(write_slots(t, &a->slots, a->tensors_path, &(mw__safetensors_note){MW__ADAPTER_NOTE, alpha}, err));
    return mw__adapters_write_config(a, err);
}

static mw_status read_adapters(mw_trainer *t, mw__adapters *a, const char *folder, mw_error *err)
{
    (void)folder;
    MW_TRY(mw__adapters_check(a, err));
    return read_slots(t, &a->slots, a->tensors_path, true, err);
}

static mw_status with_adapters(mw_trainer *t, const char *folder, const char *call, adapter_action *act, mw_error *err)
{
    mw__weight_slots slots;
    mw__adapter_numbers numbers = {0};
    MW_TRY(mw__trainer_check_path(t, folder, call, err));
    mw_status status = adapter_slots(t, &slots, &numbers, err);
    if (status == MW_OK) {
        mw__adapters a;
        status = mw__adapters_init(&a, &slots, numbers, folder, err);
        if (status == MW_OK)
            status = act(t, &a, folder, err);
        mw__adapters_deinit(&a);
    }
    mw__free(t->allocator, slots.slot);
    return status;
}

mw_status mw_trainer_save_lora(mw_trainer *trainer, const char *folder, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, with_adapters(trainer, folder, __func__, write_adapters, err), err);
}

/* ---- loading ---- */

static mw_status load_tensors(mw_trainer *t, const char *path, const mw_weights_options *options, mw_error *err)
{
    mw__weight_slots slots;
    mw_status status = weight_slots(t, &slots, err);
    if (status == MW_OK)
        status = mw__weights_load(&slots, path, options, err);
    if (status == MW_OK)
        follow_slots(t, &slots);
    mw__free(t->allocator, slots.slot);
    return status;
}

static mw_status load_weights(mw_trainer *t, const char *path, const mw_weights_options *options, mw_error *err)
{
    const char *call = "mw_trainer_load_weights";
    MW_TRY(mw__trainer_check_path(t, path, call, err));
    if (!mw__is_adapter_folder(path))
        return load_tensors(t, path, options, err);
    MW_TRY(mw__adapters_check_options(options, path, err));
    return with_adapters(t, path, call, read_adapters, err);
}

mw_status mw_trainer_load_weights(mw_trainer *trainer, const char *path, const mw_weights_options *options,
                                  mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, load_weights(trainer, path, options, err), err);
}
