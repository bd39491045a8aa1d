/* Pieces by their likelihood: the cut of a word whose scores add up to most, found from its begin to its end. */
#include "base/text/error.h"
#include "text/model/model.h"
#include "text/model/trie.h"
#include "text/unicode/unicode.h"

#include <math.h>
#include <string.h>

/* Bytes of a fallback are in no text: "<0x0A>" is six characters. */
static bool is_byte(const mw__model *model, int32_t id)
{
    for (int i = 0; i < 256 && model->byte_fallback; i++)
        if (model->byte_token[i] == id)
            return true;
    return false;
}

mw_status mw__subword_make_trie(mw__model *model, mw_error *err)
{
    const mw__vocabulary *v = &model->vocabulary;
    size_t bytes = 0;
    model->lowest = (double)INFINITY;
    for (size_t i = 0; i < v->count; i++) {
        bytes += v->pieces[i].size;
        if (v->pieces[i].text != NULL)
            model->lowest = fmin(model->lowest, v->pieces[i].score);
    }
    model->trie = mw__trie_create(v->arena->allocator, bytes, err);
    if (model->trie == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < v->count; i++)
        if (v->pieces[i].text != NULL && !(model->single && is_byte(model, (int32_t)i)))
            mw__trie_add(model->trie, v->pieces[i].text, v->pieces[i].size, (int32_t)i);
    return MW_OK;
}

/* ---- the best cut ---- */

/* By byte of the word, and one more: the best cut that ends there. */
typedef struct ending {
    double score;
    int32_t begin; /* of its last piece; -1 = none ends here */
    int32_t id;
} ending;

/* SentencePiece keeps sums as floats, and compares them before they are rounded, but for those of what is unknown. */
static double as_kept(const mw__model *model, double sum) { return model->single ? (double)(float)sum : sum; }

static void reach(const mw__model *model, ending *to, double score, size_t begin, int32_t id)
{
    if (to->begin < 0 || score > to->score)
        *to = (ending){as_kept(model, score), (int32_t)begin, id};
}

/* From one character on: every piece that begins there, and the character alone if none is that. */
static void go_on(const mw__model *model, const char *word, size_t size, size_t at, size_t char_size, ending *endings)
{
    uint32_t prefix = 0;
    bool alone = false;
    for (size_t i = at; i < size; i++) {
        const mw__trie_slot *slot = mw__trie_step(model->trie, prefix, (unsigned char)word[i]);
        if (slot == NULL)
            break;
        prefix = slot->to;
        if (slot->id < 0)
            continue;
        reach(model, &endings[i + 1], endings[at].score + model->vocabulary.pieces[slot->id].score, at, slot->id);
        alone = alone || i + 1 - at == char_size;
    }
    if (!alone)
        reach(model, &endings[at + char_size], as_kept(model, as_kept(model, model->lowest - 10.0) + endings[at].score),
              at, -1);
}

/* From the last piece to the first, and then turned around. */
static void put_back(size_t begin, size_t size, const ending *endings, mw__subword_list *out)
{
    const size_t first = out->count;
    for (size_t at = size; at > 0; at = (size_t)endings[at].begin)
        mw__subword_put(out, endings[at].id, begin + (size_t)endings[at].begin, begin + at);
    const size_t count = out->count - first;
    for (size_t i = 0; i < count / 2; i++) {
        const mw__subword moved = out->items[first + i];
        out->items[first + i] = out->items[first + count - 1 - i];
        out->items[first + count - 1 - i] = moved;
    }
}

/* Puts what is unknown in the place of the tokens -1, neighbors as one. */
static mw_status settle_unknown(const mw__model *model, const char *text, size_t first, mw__subword_list *out)
{
    const size_t count = out->count - first;
    size_t unknown = 0;
    for (size_t i = first; i < out->count; i++)
        unknown += out->items[i].id < 0;
    if (unknown == 0 || out->err->status != MW_OK)
        return out->err->status;
    mw__subword *cut = mw__alloc(out->allocator, count, sizeof *cut, out->err);
    if (cut == NULL)
        return MW_ERROR_MEMORY;
    memcpy(cut, out->items + first, count * sizeof *cut);
    out->count = first;
    for (size_t i = 0; i < count; i++) {
        size_t last = i;
        while (cut[i].id < 0 && last + 1 < count && cut[last + 1].id < 0)
            last++;
        if (cut[i].id < 0)
            mw__subword_put_unknown(model, text, cut[i].begin, cut[last].end, out);
        else
            mw__subword_put(out, cut[i].id, cut[i].begin, cut[i].end);
        i = last;
    }
    mw__free(out->allocator, cut);
    return out->err->status;
}

mw_status mw__subword_unigram(const mw__model *model, const char *text, size_t begin, size_t end, mw__subword_list *out)
{
    const size_t size = end - begin, first = out->count;
    if ((size + 1) * sizeof(ending) > out->best_capacity * sizeof *out->best)
        MW_TRY(mw__grow(out->allocator, &out->best, &out->best_capacity,
                        (size + 1) * sizeof(ending) / sizeof *out->best + 1, sizeof *out->best, out->err));
    ending *endings = (ending *)(void *)out->best;
    endings[0] = (ending){0.0, 0, -1};
    for (size_t i = 1; i <= size; i++)
        endings[i] = (ending){0.0, -1, -1};
    for (size_t at = 0; at < size;) {
        const size_t char_size = mw__unicode_read(text + begin + at, text + end).length;
        go_on(model, text + begin, size, at, char_size, endings);
        at += char_size;
    }
    put_back(begin, size, endings, out);
    return settle_unknown(model, text, first, out);
}
