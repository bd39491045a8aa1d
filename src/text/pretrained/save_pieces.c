/* WordPiece and Unigram as GGUF has them: "bert" and "t5". What readers suppose and no key says is checked. */
#include "text/pretrained/save_vocabulary.h"

#include <string.h>

static const char mark[] = "\xe2\x96\x81";
enum { MARK_SIZE = sizeof mark - 1 };

/* ---- WordPiece ---- */

/* What BERT's normalizer does; `strips`, `lower`: accents and case. False if this is another one. */
static bool is_bert_normalizer(const mw_tokenizer *t, bool *strips, bool *lower)
{
    const mw__normal_step *step = t->normals, *end = step + t->normal_count;
    if (end - step < 2 || step[0].kind != MW__NORMAL_CLEAN || step[1].kind != MW__NORMAL_CJK)
        return false;
    step += 2;
    *strips = end - step >= 2 && step[0].kind == MW__NORMAL_NFD && step[1].kind == MW__NORMAL_STRIP_ACCENTS;
    step += *strips ? 2 : 0;
    *lower = step < end && step->kind == MW__NORMAL_LOWERCASE;
    return step + *lower == end;
}

static bool is_bert_cut(const mw_tokenizer *t)
{
    const mw__split_step *s = t->splits;
    return (t->split_count == 1 && s[0].kind == MW__SPLIT_BERT) ||
           (t->split_count == 2 && s[0].kind == MW__SPLIT_WHITESPACE_SPLIT && s[1].kind == MW__SPLIT_PUNCTUATION);
}

/* One token, the text, one token. */
static bool has_bert_ends(const mw_tokenizer *t)
{
    return t->part_count == 3 && !t->parts[0].is_text && t->parts[1].is_text && !t->parts[2].is_text;
}

/* `text` lives as long as the keys, and so does what is returned. */
static const char *mark_word(mw__saving_words *w, const char *text, size_t size)
{
    if (size > 2 && text[0] == '[' && text[size - 1] == ']')
        return text;
    if (size > 2 && memcmp(text, "##", 2) == 0)
        return text + 2;
    char *out = mw__arena_alloc(&w->keys->arena, MARK_SIZE + size + 1, 1, w->keys->err);
    if (out != NULL) {
        memcpy(out, mark, MARK_SIZE);
        memcpy(out + MARK_SIZE, text, size);
    }
    return out;
}

static void add_word_keys(mw__saving_words *w, bool strips, bool lower)
{
    const mw_tokenizer *t = w->tokenizer;
    const struct {
        const char *key;
        int32_t id;
    } ids[] = {{"tokenizer.ggml.bos_token_id", t->parts[0].id},
               {"tokenizer.ggml.cls_token_id", t->parts[0].id},
               {"tokenizer.ggml.seperator_token_id", t->parts[2].id}, /* as it is spelled there */
               {"tokenizer.ggml.unknown_token_id", t->model.unknown},
               {"tokenizer.ggml.padding_token_id", mw_tokenizer_id(t, "[PAD]")},
               {"tokenizer.ggml.mask_token_id", mw_tokenizer_id(t, "[MASK]")}};
    mw__saving_add_text(w->keys, "tokenizer.ggml.model", "bert");
    mw__saving_add_text(w->keys, "tokenizer.ggml.pre", "default");
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (ids[i].id >= 0)
            mw__saving_add_u32(w->keys, ids[i].key, ids[i].id);
    mw__saving_add_bool(w->keys, "tokenizer.ggml.add_bos_token", true);
    mw__saving_add_bool(w->keys, "tokenizer.ggml.add_sep_token", true);
    if (!lower)
        mw__saving_add_bool(w->keys, "tokenizer.ggml.normalizer.lowercase", false);
    if (strips != lower)
        mw__saving_add_bool(w->keys, "tokenizer.ggml.normalizer.strip_accents", strips);
}

mw_status mw__saving_word_pieces(mw__saving_words *w)
{
    const mw_tokenizer *t = w->tokenizer;
    bool strips = false, lower = false;
    if (!is_bert_normalizer(t, &strips, &lower) || !is_bert_cut(t) || strcmp(t->model.prefix, "##") != 0)
        return mw__fail(w->keys->err, MW_ERROR_UNSUPPORTED,
                        "GGUF has WordPiece with BERT's normalizer and cuts and the prefix ## alone");
    if (!has_bert_ends(t) || t->model.longest_word != 100)
        return mw__fail(w->keys->err, MW_ERROR_UNSUPPORTED,
                        "GGUF has WordPiece with one token before a text and one behind it, and words of 100 "
                        "characters; this tokenizer has %zu",
                        t->model.longest_word);
    for (size_t i = 0; i < w->count && w->keys->err->status == MW_OK; i++)
        if (w->kinds[i] != MW__GGUF_UNUSED)
            w->tokens[i] = mark_word(w, w->tokens[i], strlen(w->tokens[i]));
    MW_TRY(w->keys->err->status);
    w->kinds[t->model.unknown] = MW__GGUF_UNKNOWN;
    add_word_keys(w, strips, lower);
    return w->keys->err->status;
}

/* ---- Unigram ---- */

/* A normalizer of SentencePiece, in its own steps or in those of tokenizer.json. */
typedef struct marked_form {
    const struct mw__charsmap *map;
    bool collapses, prepends, replaces;
} marked_form;

/* The table, one space for several, the mark in front, marks for spaces: in this order, each at most once. */
static bool take_steps(const mw_tokenizer *t, marked_form *out)
{
    int before = -1;
    for (size_t i = 0; i < t->normal_count; i++) {
        const mw__normal_step *s = &t->normals[i];
        const bool marks = s->content != NULL && strcmp(s->content, mark) == 0;
        const bool replaces = s->kind == MW__NORMAL_REPLACE && marks && strcmp(s->text, " ") == 0;
        const int place = s->kind == MW__NORMAL_CHARSMAP           ? 0
                          : s->kind == MW__NORMAL_COLLAPSE         ? 1
                          : s->kind == MW__NORMAL_PREPEND && marks ? 2
                          : replaces                               ? 3
                                                                   : -1;
        if (place <= before)
            return false;
        before = place;
        out->map = place == 0 ? s->charsmap : out->map;
        out->collapses = out->collapses || place == 1;
        out->prepends = out->prepends || place == 2;
        out->replaces = out->replaces || place == 3;
    }
    return true;
}

/* All white space, of which readers of GGUF cut at spaces alone, becomes one by the table. */
static bool makes_spaces(const struct mw__charsmap *map)
{
    static const char *const spaces[] = {"\t",           "\n",           "\v",           "\f",           "\r",
                                         "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
                                         "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
                                         "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
                                         "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
    const mw__normal_step step = {.kind = MW__NORMAL_CHARSMAP, .charsmap = map};
    bool all = true;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        mw_error err = {0};
        mw__aligned text = mw__aligned_of(spaces[i], strlen(spaces[i]), 0, mw__allocator_default(), &err);
        const bool made = mw__normalizer_run(&step, 1, &text) == MW_OK;
        all = all && made && (text.size == 0 || (text.size == 1 && text.bytes[0] == ' '));
        mw__aligned_deinit(&text);
    }
    return all;
}

/* Words between spaces, each with the mark in front, are what SentencePiece makes if no piece reaches over a space. */
static bool cuts_at_marks(const mw_tokenizer *t)
{
    const mw__split_step *last = &t->splits[t->split_count - 1];
    const mw__vocabulary *v = &t->model.vocabulary;
    if (t->split_count != 2 || t->splits[0].kind != MW__SPLIT_WHITESPACE_SPLIT || last->kind != MW__SPLIT_METASPACE ||
        last->prepend != MW__PREPEND_ALWAYS || strcmp(last->content, mark) != 0)
        return false;
    for (size_t i = 0; i < v->count; i++)
        if (v->pieces[i].size > MARK_SIZE &&
            memmem(v->pieces[i].text + 1, v->pieces[i].size - 1, mark, MARK_SIZE) != NULL)
            return false;
    return true;
}

static bool is_marked(const mw_tokenizer *t, marked_form *out)
{
    *out = (marked_form){0};
    if (!take_steps(t, out))
        return false;
    if (t->split_count == 0)
        return out->replaces && (out->prepends || !out->collapses);
    const bool bare = !out->collapses && !out->prepends && !out->replaces && out->map != NULL;
    out->collapses = out->prepends = true;
    return bare && cuts_at_marks(t) && makes_spaces(out->map);
}

mw_status mw__saving_scored_pieces(mw__saving_words *w)
{
    const mw_tokenizer *t = w->tokenizer;
    marked_form form;
    if (t->model.byte_fallback || t->model.unknown < 0 || !is_marked(t, &form))
        return mw__fail(w->keys->err, MW_ERROR_UNSUPPORTED,
                        "GGUF has Unigram with SentencePiece's normalizer alone, with an unknown token, and without "
                        "bytes");
    w->kinds[t->model.unknown] = MW__GGUF_UNKNOWN;
    mw__saving_add_text(w->keys, "tokenizer.ggml.model", "t5");
    mw__saving_add_text(w->keys, "tokenizer.ggml.pre", "default");
    mw__saving_add_array(w->keys, "tokenizer.ggml.scores", "f32", w->count, w->scores);
    mw__saving_add_bool(w->keys, "tokenizer.ggml.add_space_prefix", form.prepends);
    mw__saving_add_bool(w->keys, "tokenizer.ggml.remove_extra_whitespaces", form.collapses);
    mw__saving_add_u32(w->keys, "tokenizer.ggml.unknown_token_id", t->model.unknown);
    if (form.map == NULL)
        return w->keys->err->status;
    size_t size;
    const char *data = mw__normalizer_charsmap_data(form.map, &size);
    char *kept = mw__arena_alloc(&w->keys->arena, size, 1, w->keys->err); /* the keys outlive the tokenizer */
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    memcpy(kept, data, size);
    mw__saving_add_array(w->keys, "tokenizer.ggml.precompiled_charsmap", "u8", size, kept);
    return w->keys->err->status;
}
