/* The merges of a vocabulary. Words are lists of symbols, each word once; a merge visits the places where its pair was
 * found and nothing else, so that all of them together take time in proportion to what changes. */
#include "text/train/train.h"

#include "base/text/error.h"

#include <string.h>

enum { GONE = -1 };

typedef struct symbol {
    int32_t id;            /* GONE: merged into the one before it */
    int32_t before, after; /* places of neighbors; -1 = none */
    uint32_t word;
} symbol;

typedef struct merging {
    mw__learning *l;
    const mw__bpe_word_counts *words;
    symbol *symbols;
    mw__pair_table pairs;
    mw_error *err;
} merging;

static mw__pair pair_of(int32_t left, int32_t right) { return (mw__pair)(uint32_t)left << 32 | (uint32_t)right; }

/* ---- words as symbols ---- */

static mw_status count_symbols(const mw__bpe_word_counts *words, size_t *out, mw_error *err)
{
    *out = 0;
    for (size_t i = 0; i < words->count; i++)
        *out += words->items[i].size;
    if (*out > INT32_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "a vocabulary: different words of %zu bytes; below 2^31 are known",
                        *out);
    return MW_OK;
}

static mw_status make_symbols(merging *m)
{
    const mw__bpe_word_counts *words = m->words;
    size_t count = 0;
    MW_TRY(count_symbols(words, &count, m->err));
    m->symbols = mw__alloc(m->l->allocator, count > 0 ? count : 1, sizeof *m->symbols, m->err);
    if (m->symbols == NULL)
        return MW_ERROR_MEMORY;
    int32_t at = 0;
    for (size_t i = 0; i < words->count; i++)
        for (uint32_t k = 0; k < words->items[i].size; k++, at++) {
            const bool first = k == 0, last = k + 1 == words->items[i].size;
            m->symbols[at] = (symbol){.id = m->l->byte_token[(unsigned char)words->items[i].text[k]],
                                      .before = first ? -1 : at - 1,
                                      .after = last ? -1 : at + 1,
                                      .word = (uint32_t)i};
        }
    for (int32_t i = 0; i < at; i++)
        if (m->symbols[i].after >= 0)
            MW_TRY(mw__pairs_found(&m->pairs, pair_of(m->symbols[i].id, m->symbols[i + 1].id),
                                   words->items[m->symbols[i].word].count, i, m->err));
    return mw__pairs_queue(&m->pairs, m->err);
}

/* ---- one merge ---- */

/* The number of what two tokens make, which may be a token already. */
static mw_status token_of(merging *m, int32_t left, int32_t right, int32_t *out)
{
    mw__vocabulary *v = m->l->vocabulary;
    const mw__vocabulary_piece a = mw__vocabulary_at(v, left), b = mw__vocabulary_at(v, right);
    const size_t size = (size_t)a.size + b.size;
    char small[256], *both = size <= sizeof small ? small : mw__alloc(m->l->allocator, size, 1, m->err);
    if (both == NULL)
        return MW_ERROR_MEMORY;
    memcpy(both, a.text, a.size);
    memcpy(both + a.size, b.text, b.size);
    *out = mw__vocabulary_find(v, both, size);
    if (*out < 0) {
        *out = (int32_t)v->count;
        mw__vocabulary_add(v, *out, both, size, 0.0, m->err);
    }
    if (both != small)
        mw__free(m->l->allocator, both);
    return m->err->status;
}

/* The pair at a place, if it still stands there. */
static mw_status merge_at(merging *m, mw__pair pair, int32_t made, int32_t place)
{
    symbol *const left = &m->symbols[place];
    const int32_t a = (int32_t)(pair >> 32), b = (int32_t)(uint32_t)pair;
    if (left->id != a || left->after < 0 || m->symbols[left->after].id != b)
        return MW_OK;
    symbol *const right = &m->symbols[left->after];
    const int64_t times = m->words->items[left->word].count;
    if (left->before >= 0) {
        const int32_t before = m->symbols[left->before].id;
        MW_TRY(mw__pairs_count(&m->pairs, pair_of(before, a), -times, m->err));
        MW_TRY(mw__pairs_found(&m->pairs, pair_of(before, made), times, left->before, m->err));
    }
    if (right->after >= 0) {
        const int32_t after = m->symbols[right->after].id;
        MW_TRY(mw__pairs_count(&m->pairs, pair_of(b, after), -times, m->err));
        MW_TRY(mw__pairs_found(&m->pairs, pair_of(made, after), times, place, m->err));
        m->symbols[right->after].before = place;
    }
    left->id = made;
    left->after = right->after;
    right->id = GONE;
    return MW_OK;
}

static mw_status merge_pair(merging *m, const mw__pair_entry *next)
{
    mw__learning *l = m->l;
    const int32_t left = (int32_t)(next->pair >> 32), right = (int32_t)(uint32_t)next->pair;
    int32_t made = 0;
    MW_TRY(token_of(m, left, right, &made));
    if (l->merge_count == l->merge_capacity)
        MW_TRY(mw__grow(l->allocator, &l->merges, &l->merge_capacity, l->merge_count + 1, sizeof *l->merges, m->err));
    l->merges[l->merge_count++] = (mw__bpe_learned_merge){left, right};
    for (size_t i = 0; i < next->places.count; i++)
        MW_TRY(merge_at(m, next->pair, made, next->places.items[i]));
    return mw__pairs_queue(&m->pairs, m->err);
}

mw_status mw__learn_merges(mw__learning *l, const mw__bpe_word_counts *words, mw_error *err)
{
    merging m = {.l = l, .words = words, .pairs = {.allocator = l->allocator}, .err = err};
    mw_status status = make_symbols(&m);
    mw__pair_entry next;
    while (status == MW_OK && l->vocabulary->count < l->most && mw__pairs_next(&m.pairs, l->least, &next)) {
        status = merge_pair(&m, &next);
        mw__free(l->allocator, next.places.items);
    }
    mw__pairs_deinit(&m.pairs);
    mw__free(l->allocator, m.symbols);
    return status;
}
