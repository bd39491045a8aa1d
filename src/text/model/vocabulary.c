/* Pieces by number and by text: an array, and a table with open addresses. */
#include "text/model/vocabulary.h"

#include "base/number/hash.h"
#include "base/text/error.h"

#include <math.h>
#include <string.h>

static size_t slot_of(const mw__vocabulary *v, const char *text, size_t size)
{
    size_t at = mw__hash64(text, size, 0) & (v->slot_count - 1);
    while (v->slots[at] >= 0) {
        const mw__vocabulary_piece *p = &v->pieces[v->slots[at]];
        if (p->size == size && memcmp(p->text, text, size) == 0)
            break;
        at = (at + 1) & (v->slot_count - 1);
    }
    return at;
}

static mw_status make_slots(mw__vocabulary *v, size_t wanted, mw_error *err)
{
    size_t count = v->slot_count > 0 ? v->slot_count : 1024;
    while (count < 2 * wanted)
        count *= 2;
    if (count == v->slot_count)
        return MW_OK;
    int32_t *slots = mw__resize(v->arena->allocator, v->slots, count, sizeof *slots, err);
    if (slots == NULL)
        return MW_ERROR_MEMORY;
    v->slots = slots;
    v->slot_count = count;
    memset(slots, 0xff, count * sizeof *slots);
    for (size_t i = 0; i < v->count; i++)
        if (v->pieces[i].text != NULL) {
            const size_t at = slot_of(v, v->pieces[i].text, v->pieces[i].size);
            slots[at] = slots[at] < 0 ? (int32_t)i : slots[at];
        }
    return MW_OK;
}

static mw_status make_room(mw__vocabulary *v, int32_t id, mw_error *err)
{
    if (id < 0 || id >= MW__VOCABULARY_MOST)
        return mw__fail(err, MW_ERROR_FORMAT, "a token has the number %d; numbers are from 0 to %d", (int)id,
                        MW__VOCABULARY_MOST - 1);
    const size_t wanted = (size_t)id + 1, before = v->count;
    if (wanted > v->capacity)
        MW_TRY(mw__grow(v->arena->allocator, &v->pieces, &v->capacity, wanted, sizeof *v->pieces, err));
    if (wanted > before) {
        memset(v->pieces + before, 0, (wanted - before) * sizeof *v->pieces);
        v->count = wanted;
    }
    return make_slots(v, v->count, err);
}

mw_status mw__vocabulary_add(mw__vocabulary *v, int32_t id, const char *text, size_t size, double score, mw_error *err)
{
    MW_TRY(make_room(v, id, err));
    const char *kept = mw__arena_string(v->arena, text, size, err); /* `text` may have no end */
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    if (v->pieces[id].text != NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "two tokens have the number %d: \"%.60s\" and \"%.60s\"", (int)id,
                        v->pieces[id].text, kept);
    if (!isfinite(score))
        return mw__fail(err, MW_ERROR_FORMAT, "the token %d, \"%.60s\", has the score %g", (int)id, kept, score);
    v->pieces[id] = (mw__vocabulary_piece){kept, (uint32_t)size, score};
    v->longest = size > v->longest ? size : v->longest;
    const size_t at = slot_of(v, text, size);
    v->slots[at] = v->slots[at] < 0 ? id : v->slots[at];
    return MW_OK;
}

void mw__vocabulary_deinit(mw__vocabulary *v)
{
    if (v->arena == NULL)
        return;
    mw__free(v->arena->allocator, v->pieces);
    mw__free(v->arena->allocator, v->slots);
    *v = (mw__vocabulary){.arena = v->arena};
}

int32_t mw__vocabulary_find(const mw__vocabulary *v, const char *text, size_t size)
{
    return v->slot_count > 0 && size <= v->longest ? v->slots[slot_of(v, text, size)] : -1;
}

mw__vocabulary_piece mw__vocabulary_at(const mw__vocabulary *v, int32_t id)
{
    return id >= 0 && (size_t)id < v->count ? v->pieces[id] : (mw__vocabulary_piece){0};
}
