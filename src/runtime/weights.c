/* Named tensors to and from safetensors files: what other tools exchange. Floats are converted between F16 and F32 when
 * they are loaded. Whole training states are in checkpoint.c. */
#include "runtime/weights.h"

#include "graph/ir.h"
#include "graph/values.h"

#include <string.h>

mw_status mw__weights_write(const mw__weight_slots *slots, const char *path, const mw__safetensors_note *note,
                            mw_error *err)
{
    mw__safetensors_item *items = mw__alloc(slots->allocator, slots->count, sizeof *items, err);
    if (items == NULL)
        return MW_ERROR_MEMORY;
    size_t count = 0;
    for (const mw__weight_slot *slot = slots->slot; slot < slots->slot + slots->count; slot++)
        if (slot->in_file != NULL)
            items[count++] = (mw__safetensors_item){slot->in_file, slot->dtype, slot->shape, slot->data};
    const mw__safetensors_note notes[] = {
        {"mw.format", "millwright-weights"}, {"format", "pt"}, note != NULL ? *note : (mw__safetensors_note){0}};
    const mw_status status =
        mw__safetensors_write(slots->allocator, path, notes, note != NULL ? 3 : 2, items, count, err);
    mw__free(slots->allocator, items);
    return status;
}

/* ---- loading ---- */

typedef struct loading {
    const mw__weight_slots *slots;
    mw__safetensors file;
    void **raw;  /* [file.count], NULL for tensors that are not read */
    void **data; /* [slots->count], converted; NULL for what is not wanted */
} loading;

static const mw__safetensors_tensor *find_tensor(const loading *load, const mw__weight_slot *slot)
{
    return slot->in_file != NULL ? mw__safetensors_find(&load->file, slot->in_file) : NULL;
}

static mw_status check_tensor(const loading *load, const mw__weight_slot *slot, mw_error *err)
{
    const char *path = load->file.path;
    const mw__safetensors_tensor *tensor = find_tensor(load, slot);
    if (tensor == NULL)
        return slot->optional
                   ? MW_OK
                   : mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has no parameter \"%.96s\"", path, slot->in_file);
    if (!mw_shape_equal(tensor->shape, slot->shape)) {
        char there[160], here[160];
        mw__shape_print(tensor->shape, there, sizeof there);
        mw__shape_print(slot->shape, here, sizeof here);
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.160s\": \"%.96s\" is %.80s in the file, but %.80s in %s", path,
                        slot->in_file, there, here, load->slots->owner);
    }
    if (tensor->dtype != MW_F32 && tensor->dtype != MW_F16)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": \"%.96s\" is %s; weights are fp32 or fp16", path,
                        slot->in_file, mw_dtype_name(tensor->dtype));
    return MW_OK;
}

static mw_status read_tensors(loading *load, mw_error *err)
{
    const mw__weight_slots *slots = load->slots;
    load->raw = mw__alloc(slots->allocator, load->file.count, sizeof *load->raw, err);
    load->data = mw__alloc(slots->allocator, slots->count, sizeof *load->data, err);
    if (load->raw == NULL || load->data == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < slots->count; i++) {
        const mw__safetensors_tensor *tensor = find_tensor(load, &slots->slot[i]);
        if (slots->slot[i].in_file != NULL)
            MW_TRY(check_tensor(load, &slots->slot[i], err));
        void **raw = tensor != NULL ? &load->raw[tensor - load->file.tensors] : NULL;
        if (raw == NULL || *raw != NULL)
            continue;
        *raw = mw__alloc(slots->allocator, tensor->size, 1, err);
        if (*raw == NULL)
            return MW_ERROR_MEMORY;
    }
    return mw__safetensors_read_all(&load->file, load->raw, err);
}

static mw_status convert(loading *load, size_t index, mw_error *err)
{
    const mw__weight_slot *slot = &load->slots->slot[index];
    const mw__safetensors_tensor *tensor = find_tensor(load, slot);
    if (tensor == NULL)
        return MW_OK;
    load->data[index] = mw__alloc(load->slots->allocator, slot->size, 1, err);
    if (load->data[index] == NULL)
        return MW_ERROR_MEMORY;
    const mw__values values = {.data = load->raw[tensor - load->file.tensors],
                               .dtype = tensor->dtype,
                               .count = (size_t)mw_shape_count(slot->shape)};
    const mw__port_rule rule = {.dtype = slot->dtype, .declared = slot->dtype, .finite = true};
    mw__refusal refusal;
    if (mw__values_enter(load->data[index], &values, &rule, &refusal) == MW_OK)
        return MW_OK;
    return mw__fail(err, refusal.status, "\"%.200s\": element %zu of \"%.96s\" %s", load->file.path, refusal.element,
                    slot->in_file, refusal.text);
}

static mw_status run(loading *load, mw_error *err)
{
    const mw__weight_slots *slots = load->slots;
    /* One flipped bit must not turn the check off: our files have the mark of a checksum twice. */
    if (mw__safetensors_metadata(&load->file, "mw.format") != NULL && !load->file.has_checksum)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" is damaged: its checksum is missing", load->file.path);
    MW_TRY(read_tensors(load, err));
    for (size_t i = 0; i < slots->count; i++)
        MW_TRY(convert(load, i, err));
    for (size_t i = 0; i < slots->count; i++)
        if (load->data[i] != NULL)
            memcpy(slots->slot[i].data, load->data[i], slots->slot[i].size);
    return MW_OK;
}

mw_status mw__weights_read(const mw__weight_slots *slots, const char *path, bool of_folder, mw_error *err)
{
    const mw_allocator *allocator = slots->allocator;
    loading load = {.slots = slots};
    MW_TRY((of_folder ? mw__safetensors_open_in_folder : mw__safetensors_open)(&load.file, allocator, path, err));
    const mw_status status = run(&load, err);
    for (size_t i = 0; load.raw != NULL && i < load.file.count; i++)
        mw__free(allocator, load.raw[i]);
    for (size_t i = 0; load.data != NULL && i < slots->count; i++)
        mw__free(allocator, load.data[i]);
    mw__free(allocator, load.raw);
    mw__free(allocator, load.data);
    mw__safetensors_close(&load.file);
    return status;
}
