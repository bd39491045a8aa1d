/* Named tensors to safetensors files: what other tools exchange. Reading is in weights_read.c, whole training states
 * are in checkpoint.c. */
#include "runtime/weights/weights.h"

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
