/* What the kinds of models share. */
#include "text/model/model.h"

#include "base/text/error.h"

#include <stdio.h>
#include <string.h>

mw_status mw__subword_put(mw__subword_list *list, int32_t id, size_t begin, size_t end)
{
    if (list->count == list->capacity)
        MW_TRY(
            mw__grow(list->allocator, &list->items, &list->capacity, list->count + 1, sizeof *list->items, list->err));
    list->items[list->count++] = (mw__subword){id, (uint32_t)begin, (uint32_t)end};
    return MW_OK;
}

void mw__subword_list_deinit(mw__subword_list *list)
{
    mw__free(list->allocator, list->items);
    mw__free(list->allocator, list->symbols);
    mw__free(list->allocator, list->heap);
    mw__free(list->allocator, list->best);
    mw__free(list->allocator, list->cache);
    *list = (mw__subword_list){.allocator = list->allocator, .err = list->err};
}

mw_status mw__subword_run(const mw__model *model, const char *text, size_t begin, size_t end, mw__subword_list *out)
{
    switch (model->kind) {
    case MW__MODEL_UNIGRAM:
        return mw__subword_unigram(model, text, begin, end, out);
    case MW__MODEL_WORDPIECE:
        return mw__subword_wordpiece(model, text, begin, end, out);
    default:
        return mw__subword_bpe(model, text, begin, end, out);
    }
}

/* Bytes that have a token each. */
static bool have_all_bytes(const mw__model *model, const char *text, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (model->byte_token[(unsigned char)text[i]] < 0)
            return false;
    return true;
}

static mw_status put_bytes(const mw__model *model, const char *text, size_t begin, size_t end, mw__subword_list *out)
{
    for (size_t i = begin; i < end; i++)
        MW_TRY(mw__subword_put(out, model->byte_token[(unsigned char)text[i]], begin, end));
    return MW_OK;
}

mw_status mw__subword_put_unknown(const mw__model *model, const char *text, size_t begin, size_t end,
                                  mw__subword_list *out)
{
    if (model->byte_fallback && have_all_bytes(model, text, begin, end))
        return put_bytes(model, text, begin, end, out);
    if (model->unknown < 0)
        return MW_OK;
    mw__subword *last = out->count > 0 ? &out->items[out->count - 1] : NULL;
    if (model->fuse_unknown && last != NULL && last->id == model->unknown && last->end == begin) {
        last->end = (uint32_t)end;
        return MW_OK;
    }
    return mw__subword_put(out, model->unknown, begin, end);
}

/* ---- making one ---- */

static mw__merge *slot_for(const mw__model *model, uint64_t pair)
{
    size_t at = mw__subword_slot(model, pair);
    while (model->merges[at].pair != UINT64_MAX && model->merges[at].pair != pair)
        at = (at + 1) & (model->merge_slots - 1);
    return &model->merges[at];
}

static mw_status more_merges(mw__model *model, mw_error *err)
{
    if (2 * (model->merge_count + 1) <= model->merge_slots)
        return MW_OK;
    mw__merge *old = model->merges;
    const size_t count = model->merge_slots, slots = count > 0 ? 2 * count : 1024;
    mw__merge *merges = mw__alloc(model->vocabulary.arena->allocator, slots, sizeof *merges, err);
    if (merges == NULL)
        return MW_ERROR_MEMORY;
    memset(merges, 0xff, slots * sizeof *merges);
    model->merges = merges;
    model->merge_slots = slots;
    for (size_t i = 0; i < count; i++)
        if (old[i].pair != UINT64_MAX)
            *slot_for(model, old[i].pair) = old[i];
    mw__free(model->vocabulary.arena->allocator, old);
    return MW_OK;
}

mw_status mw__subword_add_merge(mw__model *model, int32_t left, int32_t right, int32_t rank, int32_t id, mw_error *err)
{
    const uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    MW_TRY(more_merges(model, err));
    mw__merge *slot = slot_for(model, pair);
    if (slot->pair == UINT64_MAX) {
        *slot = (mw__merge){pair, rank, id};
        model->merge_count++;
    }
    return MW_OK;
}

/* Bytes of a byte-level model are its pieces of one byte; those of a fallback are "<0x0A>". */
static void find_bytes(mw__model *model)
{
    for (int i = 0; i < 256; i++) {
        char name[8];
        const char byte = (char)i;
        const int size = snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        model->byte_token[i] = model->byte_level ? mw__vocabulary_find(&model->vocabulary, &byte, 1)
                                                 : mw__vocabulary_find(&model->vocabulary, name, (size_t)size);
    }
}

mw_status mw__subword_finish(mw__model *model, mw_error *err)
{
    find_bytes(model);
    model->prefix = model->prefix != NULL ? model->prefix : "";
    model->suffix = model->suffix != NULL ? model->suffix : "";
    return model->kind == MW__MODEL_UNIGRAM ? mw__subword_make_trie(model, err) : MW_OK;
}

void mw__subword_deinit(mw__model *model)
{
    if (model->vocabulary.arena == NULL)
        return;
    mw__free(model->vocabulary.arena->allocator, model->merges);
    mw__free(model->vocabulary.arena->allocator, model->trie);
    mw__vocabulary_deinit(&model->vocabulary);
}
