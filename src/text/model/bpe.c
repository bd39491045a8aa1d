/* Byte pair encoding. A word is a list of symbols; the pair of the lowest rank merges, the leftmost of equal ones
 * first, until no pair does. Short words are looked through again and again; long ones have their pairs in a heap, so
 * that a word of n symbols takes n log n. */
#include "text/model/model.h"
#include "text/unicode/unicode.h"

#include "base/number/hash.h"
#include "base/text/error.h"

#include <math.h>
#include <string.h>

typedef struct mw__symbol {
    int32_t id;            /* -1: merged into the one before it; -2: no token, put out as unknown */
    int32_t before, after; /* places of neighbors; -1 = none */
    uint32_t begin, end;
} mw__symbol;

typedef struct mw__heap_entry {
    double rank;  /* lowest first */
    int32_t left; /* place of the left symbol; entries whose symbols have changed are passed over */
    int32_t id;
    uint32_t end; /* of the right symbol when it was made */
    uint32_t middle;
} mw__heap_entry;

enum { SHORT = 24, NO_TOKEN = -2, GONE = -1 };

/* ---- pairs ---- */

typedef struct merged {
    double rank;
    int32_t id; /* -1 = none */
} merged;

static merged by_table(const mw__model *model, int32_t left, int32_t right)
{
    const merged none = {(double)INFINITY, -1};
    if (model->merge_slots == 0 || left < 0 || right < 0)
        return none;
    const uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    for (size_t at = mw__subword_slot(model, pair);; at = (at + 1) & (model->merge_slots - 1)) {
        const mw__merge *m = &model->merges[at];
        if (m->pair == pair)
            return (merged){(double)m->rank, m->id};
        if (m->pair == UINT64_MAX)
            return none;
    }
}

/* The highest score is the lowest rank. */
static merged by_score(const mw__model *model, const char *text, const mw__symbol *left, const mw__symbol *right)
{
    const int32_t id = mw__vocabulary_find(&model->vocabulary, text + left->begin, right->end - left->begin);
    if (id < 0)
        return (merged){(double)INFINITY, -1};
    return (merged){-model->vocabulary.pieces[id].score, id};
}

static merged merge_of(const mw__model *model, const char *text, const mw__symbol *left, const mw__symbol *right)
{
    return model->by_score ? by_score(model, text, left, right) : by_table(model, left->id, right->id);
}

static void join(mw__symbol *symbols, int32_t left, int32_t id)
{
    const int32_t right = symbols[left].after, next = symbols[right].after;
    symbols[left].id = id;
    symbols[left].end = symbols[right].end;
    symbols[left].after = next;
    symbols[right].id = GONE;
    if (next >= 0)
        symbols[next].before = left;
}

/* ---- short words ---- */

static void merge_short(const mw__model *model, const char *text, mw__symbol *symbols, int32_t count)
{
    merged pairs[SHORT];
    for (int32_t i = 0; i + 1 < count; i++)
        pairs[i] = merge_of(model, text, &symbols[i], &symbols[i + 1]);
    for (;;) {
        int32_t best = -1;
        double rank = (double)INFINITY;
        for (int32_t i = 0; i >= 0 && symbols[i].after >= 0; i = symbols[i].after)
            if (pairs[i].rank < rank) {
                best = i;
                rank = pairs[i].rank;
            }
        if (best < 0)
            return;
        join(symbols, best, pairs[best].id);
        const int32_t before = symbols[best].before, after = symbols[best].after;
        if (after >= 0)
            pairs[best] = merge_of(model, text, &symbols[best], &symbols[after]);
        if (before >= 0)
            pairs[before] = merge_of(model, text, &symbols[before], &symbols[best]);
    }
}

/* ---- long words ---- */

static bool merge_comes_first(const mw__heap_entry *a, const mw__heap_entry *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->left < b->left);
}

#define HEAP_ENTRY mw__heap_entry
#define HEAP_FIRST merge_comes_first
#define HEAP_SINK  sink_merge
#define HEAP_RISE  rise_merge
#include "text/model/heap.def"

static mw_status push_pair(const mw__model *model, const char *text, mw__subword_list *out, size_t *count, int32_t left)
{
    const mw__symbol *a = &out->symbols[left];
    if (a->after < 0)
        return MW_OK;
    const mw__symbol *b = &out->symbols[a->after];
    const merged m = merge_of(model, text, a, b);
    if (m.id < 0)
        return MW_OK;
    if (*count == out->heap_capacity)
        MW_TRY(mw__grow(out->allocator, &out->heap, &out->heap_capacity, *count + 1, sizeof *out->heap, out->err));
    out->heap[*count] = (mw__heap_entry){m.rank, left, m.id, b->end, b->begin};
    rise_merge(out->heap, (*count)++);
    return MW_OK;
}

/* Both symbols are still what they were. */
static bool holds(const mw__symbol *symbols, const mw__heap_entry *e)
{
    const mw__symbol *left = &symbols[e->left];
    return left->id != GONE && left->after >= 0 && left->end == e->middle && symbols[left->after].end == e->end;
}

static mw_status merge_long(const mw__model *model, const char *text, mw__subword_list *out, int32_t symbols)
{
    size_t count = 0;
    for (int32_t i = 0; i + 1 < symbols; i++)
        MW_TRY(push_pair(model, text, out, &count, i));
    while (count > 0) {
        const mw__heap_entry e = out->heap[0];
        out->heap[0] = out->heap[--count];
        if (count > 0)
            sink_merge(out->heap, count, 0);
        if (!holds(out->symbols, &e))
            continue;
        join(out->symbols, e.left, e.id);
        MW_TRY(push_pair(model, text, out, &count, e.left));
        if (out->symbols[e.left].before >= 0)
            MW_TRY(push_pair(model, text, out, &count, out->symbols[e.left].before));
    }
    return MW_OK;
}

/* ---- symbols ---- */

/* The piece of a character, with what marks its place in the word. */
static int32_t piece_of(const mw__model *model, const char *text, size_t size, bool first, bool last)
{
    char whole[64];
    const size_t before = first ? 0 : strlen(model->prefix), after = last ? strlen(model->suffix) : 0;
    if (before + after == 0)
        return mw__vocabulary_find(&model->vocabulary, text, size);
    if (before + size + after > sizeof whole)
        return -1;
    memcpy(whole, model->prefix, before);
    memcpy(whole + before, text, size);
    memcpy(whole + before + size, model->suffix, after);
    return mw__vocabulary_find(&model->vocabulary, whole, before + size + after);
}

static mw_status add_symbol(mw__subword_list *out, int32_t place, int32_t id, size_t begin, size_t end)
{
    if ((size_t)place == out->symbol_capacity)
        MW_TRY(mw__grow(out->allocator, &out->symbols, &out->symbol_capacity, (size_t)place + 1, sizeof *out->symbols,
                        out->err));
    out->symbols[place] = (mw__symbol){id, place - 1, place + 1, (uint32_t)begin, (uint32_t)end};
    return MW_OK;
}

static mw_status byte_symbols(const mw__model *model, const char *text, size_t begin, size_t end, mw__subword_list *out,
                              int32_t *count)
{
    for (size_t at = begin; at < end; at++) {
        const int32_t id = model->byte_token[(unsigned char)text[at]];
        MW_TRY(add_symbol(out, (*count)++, id >= 0 ? id : NO_TOKEN, at, at + 1));
    }
    return MW_OK;
}

static mw_status char_symbols(const mw__model *model, const char *text, size_t begin, size_t end, mw__subword_list *out,
                              int32_t *count)
{
    for (size_t at = begin; at < end;) {
        const size_t next = at + mw__unicode_read(text + at, text + end).length;
        const int32_t id = piece_of(model, text + at, next - at, at == begin, next == end);
        MW_TRY(add_symbol(out, (*count)++, id >= 0 ? id : NO_TOKEN, at, next));
        at = next;
    }
    return MW_OK;
}

static mw_status put_symbols(const mw__model *model, const char *text, mw__subword_list *out, int32_t count)
{
    for (int32_t i = 0; i >= 0 && count > 0; i = out->symbols[i].after) {
        const mw__symbol s = out->symbols[i];
        if (s.id == NO_TOKEN)
            MW_TRY(mw__subword_put_unknown(model, text, s.begin, s.end, out));
        else
            MW_TRY(mw__subword_put(out, s.id, s.begin, s.end));
    }
    return MW_OK;
}

static mw_status merge_word(const mw__model *model, const char *text, size_t begin, size_t end, mw__subword_list *out)
{
    int32_t count = 0;
    if (model->byte_level)
        MW_TRY(byte_symbols(model, text, begin, end, out, &count));
    else
        MW_TRY(char_symbols(model, text, begin, end, out, &count));
    if (count > 0)
        out->symbols[count - 1].after = -1;
    if (count > 1 && count <= SHORT)
        merge_short(model, text, out->symbols, count);
    else if (count > 1)
        MW_TRY(merge_long(model, text, out, count));
    return put_symbols(model, text, out, count);
}

/* ---- words that were seen before ---- */

enum { CACHE_WORDS = 4096, CACHE_BYTES = 20, CACHE_TOKENS = 6 };

typedef struct cached_word {
    uint8_t size, count;
    char text[CACHE_BYTES];
    uint8_t ends[CACHE_TOKENS]; /* of tokens, from the begin of the word */
    uint8_t begins[CACHE_TOKENS];
    int32_t ids[CACHE_TOKENS];
} cached_word;

typedef struct mw__word_cache {
    cached_word words[CACHE_WORDS];
} mw__word_cache;

static bool take_cached(const cached_word *w, const char *text, size_t begin, size_t end, mw__subword_list *out)
{
    if (w->size != end - begin || memcmp(w->text, text + begin, w->size) != 0)
        return false;
    for (int i = 0; i < w->count; i++)
        if (mw__subword_put(out, w->ids[i], begin + w->begins[i], begin + w->ends[i]) != MW_OK)
            return true; /* the failure is in out->err */
    return true;
}

static void keep_cached(cached_word *w, const char *text, size_t begin, size_t end, const mw__subword_list *out,
                        size_t first)
{
    const size_t count = out->count - first;
    if (count > CACHE_TOKENS || (first > 0 && out->items[first - 1].end > begin))
        return;
    w->size = (uint8_t)(end - begin);
    w->count = (uint8_t)count;
    memcpy(w->text, text + begin, end - begin);
    for (size_t i = 0; i < count; i++) {
        w->ids[i] = out->items[first + i].id;
        w->begins[i] = (uint8_t)(out->items[first + i].begin - begin);
        w->ends[i] = (uint8_t)(out->items[first + i].end - begin);
    }
}

mw_status mw__subword_bpe(const mw__model *model, const char *text, size_t begin, size_t end, mw__subword_list *out)
{
    const int32_t whole = model->whole_words ? mw__vocabulary_find(&model->vocabulary, text + begin, end - begin) : -1;
    if (whole >= 0)
        return mw__subword_put(out, whole, begin, end);
    if (end - begin > CACHE_BYTES || out->cache == NULL || model->fuse_unknown)
        return merge_word(model, text, begin, end, out);
    cached_word *w = &out->cache->words[mw__hash64(text + begin, end - begin, 1) % CACHE_WORDS];
    if (take_cached(w, text, begin, end, out))
        return out->err->status;
    const size_t first = out->count;
    MW_TRY(merge_word(model, text, begin, end, out));
    keep_cached(w, text, begin, end, out, first);
    return MW_OK;
}

mw_status mw__subword_bpe_cache(mw__subword_list *list)
{
    list->cache = mw__alloc(list->allocator, 1, sizeof *list->cache, list->err);
    return list->cache != NULL ? MW_OK : MW_ERROR_MEMORY;
}
