/* Tokens that are found in a text before the model sees it. */
#include "base/text/error.h"
#include "text/model/trie.h"
#include "text/tokenizer/tokenizer.h"
#include "text/unicode/unicode.h"

/* ---- the sets ---- */

static bool is_of(const mw__added *added, bool normal) { return added->normalized == normal && !added->hidden; }

static mw_status prepare_set(mw_tokenizer *t, bool normal, mw__trie **out, mw_error *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < t->added_count; i++)
        bytes += is_of(&t->added[i], normal) ? t->added[i].find_size : 0;
    if (bytes == 0)
        return MW_OK;
    *out = mw__trie_create(t->arena.allocator, bytes, err);
    if (*out == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < t->added_count; i++)
        if (is_of(&t->added[i], normal))
            mw__trie_add(*out, t->added[i].find, t->added[i].find_size, (int32_t)i);
    return MW_OK;
}

static mw_status prepare_ids(mw_tokenizer *t, mw_error *err)
{
    for (size_t i = 0; i < t->added_count; i++)
        if ((size_t)t->added[i].id >= t->id_count)
            t->id_count = (size_t)t->added[i].id + 1;
    t->by_id = mw__arena_alloc(&t->arena, t->id_count, sizeof *t->by_id, err);
    if (t->by_id == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < t->added_count; i++)
        t->by_id[t->added[i].id] = &t->added[i];
    return MW_OK;
}

/* The normalizer makes of a text that is looked for what it makes of the text that it is looked for in. */
static mw_status normalize_texts(mw_tokenizer *t, mw_error *err)
{
    for (size_t i = 0; i < t->added_count && t->normal_count > 0; i++) {
        mw__added *a = &t->added[i];
        if (!a->normalized)
            continue;
        mw__aligned text = mw__aligned_of(a->text, a->size, 0, t->arena.allocator, err);
        if (mw__normalizer_run(t->normals, t->normal_count, &text) == MW_OK && text.size > 0) {
            a->find = mw__arena_string(&t->arena, text.bytes, text.size, err);
            a->find_size = text.size;
        }
        mw__aligned_deinit(&text);
        MW_TRY(err->status);
    }
    return MW_OK;
}

mw_status mw__added_prepare(mw_tokenizer *t, mw_error *err)
{
    for (size_t i = 0; i < t->added_count; i++) {
        t->added[i].find = t->added[i].text;
        t->added[i].find_size = t->added[i].size;
    }
    MW_TRY(prepare_ids(t, err));
    MW_TRY(normalize_texts(t, err));
    MW_TRY(prepare_set(t, false, &t->raw, err));
    return prepare_set(t, true, &t->normal, err);
}

void mw__added_deinit(mw_tokenizer *t)
{
    mw__free(t->arena.allocator, t->raw);
    mw__free(t->arena.allocator, t->normal);
}

/* ---- looking ---- */

static bool is_word_at(const char *at, const char *end)
{
    const mw__char c = mw__unicode_read(at, end);
    return (c.class & (MW__CHAR_LETTER | MW__CHAR_NUMBER | MW__CHAR_MARK)) != 0 || c.code == '_';
}

static size_t char_begin(const char *text, size_t at)
{
    do
        at--;
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

static bool stands_alone(const char *text, size_t size, size_t begin, size_t end)
{
    const bool before = begin > 0 && is_word_at(text + char_begin(text, begin), text + begin);
    return !before && !(end < size && is_word_at(text + end, text + size));
}

static size_t skip_spaces_back(const char *text, size_t at, size_t least)
{
    while (at > least) {
        const size_t before = char_begin(text, at);
        if (before < least || (mw__unicode_read(text + before, text + at).class & MW__CHAR_SPACE) == 0)
            break;
        at = before;
    }
    return at;
}

static size_t skip_spaces_on(const char *text, size_t size, size_t at)
{
    while (at < size) {
        const mw__char c = mw__unicode_read(text + at, text + size);
        if ((c.class & MW__CHAR_SPACE) == 0)
            break;
        at += c.length;
    }
    return at;
}

/* The longest token that begins at a place. */
static const mw__added *longest_at(const mw_tokenizer *t, const mw__trie *trie, const char *text, size_t size,
                                   size_t at, bool special_too)
{
    const mw__added *found = NULL;
    uint32_t prefix = 0;
    for (size_t i = at; i < size; i++) {
        const mw__trie_slot *slot = mw__trie_step(trie, prefix, (unsigned char)text[i]);
        if (slot == NULL)
            break;
        prefix = slot->to;
        if (slot->id >= 0 && (special_too || !t->added[slot->id].special))
            found = &t->added[slot->id];
    }
    return found;
}

mw__added_match mw__added_find(const mw_tokenizer *t, bool normal, const char *text, size_t size, size_t at,
                               bool special_too)
{
    const mw__trie *trie = normal ? t->normal : t->raw;
    for (size_t i = at; trie != NULL && i < size; i++) {
        const mw__added *token = longest_at(t, trie, text, size, i, special_too);
        if (token == NULL)
            continue;
        const size_t end = i + token->find_size;
        if (!token->single_word || stands_alone(text, size, i, end))
            return (mw__added_match){token, token->strips_left ? skip_spaces_back(text, i, at) : i,
                                     token->strips_right ? skip_spaces_on(text, size, end) : end};
        i = end - 1; /* as the engine that made these files: what was found is passed over */
    }
    return (mw__added_match){NULL, size, size};
}
