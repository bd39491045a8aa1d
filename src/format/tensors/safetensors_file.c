/* A safetensors file as a file of tensors. Our own files have a checksum, which is compared before the first tensor is
 * read. */
#include "format/tensors/safetensors.h"
#include "format/tensors/tensors.h"

typedef struct safetensors_file {
    mw__safetensors file;
    bool checked;
} safetensors_file;

static mw_status add_all(mw_tensors *tensors, const mw__safetensors *file, mw_error *err)
{
    for (size_t i = 0; i < file->count; i++) {
        const mw__safetensors_tensor *tensor = &file->tensors[i];
        if (tensor->foreign != NULL) {
            MW_TRY(mw__tensors_leave_out_type(tensors, tensor->name, tensor->foreign, err));
            continue;
        }
        const mw_tensor_info info = {.name = tensor->name,
                                     .dtype = tensor->dtype,
                                     .shape = tensor->shape,
                                     .stored = mw__safetensors_dtype_name(tensor->dtype)};
        MW_TRY(mw__tensors_add(tensors, &info, tensor, err));
    }
    for (size_t i = 0; i < file->note_count; i++) {
        const char *key = file->note_keys[i];
        MW_TRY(mw__tensors_note(tensors, key, mw__safetensors_metadata(file, key), err));
    }
    return MW_OK;
}

static mw_status open_safetensors(mw_tensors *tensors, mw__file file, mw_error *err)
{
    safetensors_file *state = mw__arena_alloc(&tensors->arena, 1, sizeof *state, err);
    if (state == NULL) {
        mw__file_close(&file);
        return MW_ERROR_MEMORY;
    }
    MW_TRY(mw__safetensors_adopt(&state->file, tensors->allocator, file, tensors->path, err));
    tensors->state = state;
    return add_all(tensors, &state->file, err);
}

/* One flipped bit must not turn the check off: our files have the mark of a checksum twice. */
static mw_status check_checksum(safetensors_file *state, mw_error *err)
{
    if (state->checked)
        return MW_OK;
    if (mw__safetensors_metadata(&state->file, "mw.format") != NULL && !state->file.has_checksum)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" is damaged: its checksum is missing", state->file.path);
    MW_TRY(mw__safetensors_check(&state->file, err));
    state->checked = true;
    return MW_OK;
}

static mw_status read_safetensors(mw_tensors *tensors, const mw__tensors_item *item, void *out, mw_error *err)
{
    safetensors_file *state = tensors->state;
    MW_TRY(check_checksum(state, err));
    return mw__safetensors_read(&state->file, item->own, out, err);
}

static void close_safetensors(mw_tensors *tensors)
{
    mw__safetensors_close(&((safetensors_file *)tensors->state)->file);
}

const mw__tensors_format mw__tensors_safetensors = {
    .name = "safetensors", .open = open_safetensors, .read = read_safetensors, .close = close_safetensors};
