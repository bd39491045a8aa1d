/* Parameters alone, by name, without optimizer state: what other tools exchange. Floats are converted between F16 and
 * F32 when they are loaded. Whole training states are in checkpoint.c. */
#include "runtime/weights.h"

#include "base/float_mode.h"
#include "graph/ir.h"
#include "runtime/safetensors.h"
#include "runtime/trainer/trainer_access.h"
#include "runtime/values.h"

#include <string.h>

/* Those of weight files: parameters, and states that evaluation reads. Freed by the caller. */
static const char **weight_names(mw_trainer *trainer, mw_error *err)
{
    const mw__state_set *state = mw__trainer_state(trainer);
    const char **names = mw__alloc(mw__trainer_allocator(trainer), state->count, sizeof *names, err);
    for (size_t i = 0; names != NULL && i < state->count; i++)
        names[i] = state->entries[i].is_weight ? state->entries[i].name : NULL;
    return names;
}

mw_status mw__weights_write(mw_trainer *trainer, const char *path, const char *const *names,
                            const mw__safetensors_note *note, mw_error *err)
{
    const mw_allocator *allocator = mw__trainer_allocator(trainer);
    const mw__state_set *state = mw__trainer_state(trainer);
    for (size_t i = 0; i < state->count; i++) {
        const mw__state_entry *shown = mw__trainer_shown(trainer, &state->entries[i]);
        if (names[i] != NULL)
            MW_TRY(mw__state_check(shown, shown->data, "nothing was saved", err));
    }
    mw__safetensors_item *items = mw__alloc(allocator, state->count, sizeof *items, err);
    if (items == NULL)
        return MW_ERROR_MEMORY;
    size_t count = 0, bytes = 0;
    for (size_t i = 0; i < state->count; i++) {
        const mw__state_entry *entry = &state->entries[i];
        if (names[i] == NULL)
            continue;
        items[count++] =
            (mw__safetensors_item){names[i], entry->dtype, entry->shape, mw__trainer_shown(trainer, entry)->data};
        bytes += entry->size;
    }
    const mw__safetensors_note notes[] = {
        {"mw.format", "millwright-weights"}, {"format", "pt"}, note != NULL ? *note : (mw__safetensors_note){0}};
    const mw_status status = mw__safetensors_write(allocator, path, notes, note != NULL ? 3 : 2, items, count, err);
    mw__free(allocator, items);
    if (status == MW_OK)
        mw__trainer_count_state(trainer, 0, bytes);
    return status;
}

static mw_status save_weights(mw_trainer *trainer, const char *path, mw_error *err)
{
    MW_TRY(mw__trainer_check_path(trainer, path, "mw_trainer_save_weights", err));
    const char **names = weight_names(trainer, err);
    const mw_status status = names != NULL ? mw__weights_write(trainer, path, names, NULL, err) : MW_ERROR_MEMORY;
    mw__free(mw__trainer_allocator(trainer), (void *)names);
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

/* ---- loading ---- */

typedef struct loading {
    mw_trainer *trainer;
    const char *const *names; /* [state count], in the file; NULL = not wanted */
    mw__safetensors file;
    void **raw;  /* [file.count], NULL for tensors that are not read */
    void **data; /* [state count], converted; NULL for what is not wanted */
} loading;

static size_t index_in_file(const loading *load, const char *name)
{
    const mw__safetensors_tensor *found = mw__safetensors_find(&load->file, name);
    return found != NULL ? (size_t)(found - load->file.tensors) : load->file.count;
}

static mw_status check_parameter(const loading *load, const mw__state_entry *entry, const char *name, mw_error *err)
{
    const mw__safetensors_tensor *tensor = mw__safetensors_find(&load->file, name);
    if (tensor == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has no parameter \"%.96s\"", load->file.path, name);
    if (!mw_shape_equal(tensor->shape, entry->shape)) {
        char there[160], here[160];
        mw__shape_print(tensor->shape, there, sizeof there);
        mw__shape_print(entry->shape, here, sizeof here);
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.160s\": \"%.96s\" is %.80s in the file, but %.80s in the trainer",
                        load->file.path, name, there, here);
    }
    if (tensor->dtype != MW_F32 && tensor->dtype != MW_F16)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": \"%.96s\" is %s; weights are fp32 or fp16", load->file.path,
                        name, mw_dtype_name(tensor->dtype));
    return MW_OK;
}

static mw_status read_files_tensors(loading *load, const mw__state_set *state, mw_error *err)
{
    const mw_allocator *allocator = load->file.allocator;
    load->raw = mw__alloc(allocator, load->file.count, sizeof *load->raw, err);
    load->data = mw__alloc(allocator, state->count, sizeof *load->data, err);
    if (load->raw == NULL || load->data == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < state->count; i++) {
        if (load->names[i] == NULL)
            continue;
        MW_TRY(check_parameter(load, &state->entries[i], load->names[i], err));
        const size_t at = index_in_file(load, load->names[i]);
        load->raw[at] = mw__alloc(allocator, load->file.tensors[at].size, 1, err);
        if (load->raw[at] == NULL)
            return MW_ERROR_MEMORY;
    }
    return mw__safetensors_read_all(&load->file, load->raw, err);
}

static mw_status convert(loading *load, const mw__state_set *state, size_t index, mw_error *err)
{
    const mw__state_entry *entry = &state->entries[index];
    const size_t at = index_in_file(load, load->names[index]);
    const size_t count = (size_t)mw_shape_count(entry->shape);
    load->data[index] = mw__alloc(load->file.allocator, entry->size, 1, err);
    if (load->data[index] == NULL)
        return MW_ERROR_MEMORY;
    const mw__values values = {.data = load->raw[at], .dtype = load->file.tensors[at].dtype, .count = count};
    const mw__port_rule rule = {.dtype = entry->dtype, .declared = entry->dtype, .finite = true};
    mw__refusal refusal;
    if (mw__values_enter(load->data[index], &values, &rule, &refusal) != MW_OK)
        return mw__fail(err, refusal.status, "\"%.200s\": element %zu of \"%.96s\" %s", load->file.path,
                        refusal.element, load->names[index], refusal.text);
    return MW_OK;
}

static mw_status run(loading *load, mw_error *err)
{
    const mw__state_set *state = mw__trainer_state(load->trainer);
    /* One flipped bit must not turn the check off: our files have the mark of a checksum twice. */
    if (mw__safetensors_metadata(&load->file, "mw.format") != NULL && !load->file.has_checksum)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" is damaged: its checksum is missing", load->file.path);
    MW_TRY(read_files_tensors(load, state, err));
    for (size_t i = 0; i < state->count; i++) {
        if (load->names[i] != NULL)
            MW_TRY(convert(load, state, i, err));
    }
    size_t bytes = 0;
    for (size_t i = 0; i < state->count; i++) {
        if (load->names[i] == NULL)
            continue;
        memcpy(state->entries[i].data, load->data[i], state->entries[i].size);
        mw__trainer_follow(load->trainer, &state->entries[i]);
        bytes += state->entries[i].size;
    }
    mw__trainer_count_state(load->trainer, bytes, 0);
    return MW_OK;
}

mw_status mw__weights_read(mw_trainer *trainer, const char *path, bool of_folder, const char *const *names,
                           mw_error *err)
{
    const mw_allocator *allocator = mw__trainer_allocator(trainer);
    loading load = {.trainer = trainer, .names = names};
    MW_TRY((of_folder ? mw__safetensors_open_in_folder : mw__safetensors_open)(&load.file, allocator, path, err));
    const mw_status status = run(&load, err);
    for (size_t i = 0; load.raw != NULL && i < load.file.count; i++)
        mw__free(allocator, load.raw[i]);
    for (size_t i = 0; load.data != NULL && i < mw__trainer_state(trainer)->count; i++)
        mw__free(allocator, load.data[i]);
    mw__free(allocator, load.raw);
    mw__free(allocator, load.data);
    mw__safetensors_close(&load.file);
    return status;
}

static mw_status load_weights(mw_trainer *trainer, const char *path, mw_error *err)
{
    MW_TRY(mw__trainer_check_path(trainer, path, "mw_trainer_load_weights", err));
    const char **names = weight_names(trainer, err);
    const mw_status status = names != NULL ? mw__weights_read(trainer, path, false, names, err) : MW_ERROR_MEMORY;
    mw__free(mw__trainer_allocator(trainer), (void *)names);
    return status;
}

mw_status mw_trainer_load_weights(mw_trainer *trainer, const char *path, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, load_weights(trainer, path, err), err);
}
