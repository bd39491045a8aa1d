/* The vocabulary as GGUF has it: tokens as files spell them, their kinds, scores or merges, and what is put around a
 * text. A tokenizer that has no form there is refused. */
#include "text/pretrained/save_vocabulary.h"
#include "text/json/tree.h"
#include "text/read/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ---- */

/* UTF-8 of a code below 2048. */
static size_t put_code(uint32_t code, char *out)
{
    if (code < 128) {
        out[0] = (char)code;
        return 1;
    }
    out[0] = (char)(0xc0 | code >> 6);
    out[1] = (char)(0x80 | (code & 63));
    return 2;
}

/* Bytes as the characters that spell them. */
static const char *spell(mw__saving_words *w, const char *text, size_t size)
{
    char *out = mw__arena_alloc(&w->keys->arena, 2 * size + 1, 1, w->keys->err);
    char *at = out;
    for (size_t i = 0; out != NULL && i < size; i++)
        at += put_code(mw__read_spelling((unsigned char)text[i]), at);
    return out;
}

static bool is_byte_token(const char *text, size_t size)
{
    return size == 6 && memcmp(text, "<0x", 3) == 0 && text[5] == '>';
}

static const char *unused_name(mw__saving_words *w, size_t id)
{
    char name[40];
    snprintf(name, sizeof name, "[PAD%zu]", id);
    return mw__arena_keep(&w->keys->arena, name, w->keys->err);
}

static void put_piece(mw__saving_words *w, size_t id)
{
    const mw__vocabulary_piece piece = mw__vocabulary_at(&w->tokenizer->model.vocabulary, (int32_t)id);
    const bool bytes = w->tokenizer->model.byte_level;
    w->kinds[id] = piece.text == NULL                                ? MW__GGUF_UNUSED
                   : !bytes && is_byte_token(piece.text, piece.size) ? MW__GGUF_BYTE
                                                                     : MW__GGUF_NORMAL;
    w->scores[id] = (float)piece.score;
    w->tokens[id] = piece.text == NULL ? unused_name(w, id)
                    : bytes            ? spell(w, piece.text, piece.size)
                                       : mw__arena_string(&w->keys->arena, piece.text, piece.size, w->keys->err);
}

static mw_status put_tokens(mw__saving_words *w)
{
    const mw_tokenizer *t = w->tokenizer;
    for (size_t id = 0; id < w->count; id++)
        put_piece(w, id);
    for (size_t i = 0; i < t->added_count; i++) {
        const mw__added *added = &t->added[i];
        w->tokens[added->id] = mw__arena_string(&w->keys->arena, added->text, added->size, w->keys->err);
        w->kinds[added->id] = added->id == t->model.unknown ? MW__GGUF_UNKNOWN
                              : added->special              ? MW__GGUF_CONTROL
                                                            : MW__GGUF_USER;
        w->scores[added->id] = 0.0F;
    }
    return w->keys->err->status;
}

static mw_status begin_words(mw__saving_words *w, int64_t words)
{
    mw__arena *arena = &w->keys->arena;
    const size_t own = mw_tokenizer_get_info(w->tokenizer).count;
    w->count = (size_t)words;
    if (own > w->count)
        return mw__fail(w->keys->err, MW_ERROR_FORMAT, "the tokenizer has %zu tokens, and the network %zu words", own,
                        w->count);
    w->tokens = mw__arena_alloc(arena, w->count, sizeof *w->tokens, w->keys->err);
    w->kinds = mw__arena_alloc(arena, w->count, sizeof *w->kinds, w->keys->err);
    w->scores = mw__arena_alloc(arena, w->count, sizeof *w->scores, w->keys->err);
    return w->tokens != NULL && w->kinds != NULL && w->scores != NULL ? put_tokens(w) : MW_ERROR_MEMORY;
}

/* ---- merges ---- */

static int by_rank(const void *left, const void *right)
{
    const mw__merge *a = left, *b = right;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Merges by their rank, in the arena; NULL with an error set. */
static mw__merge *sorted_merges(mw__saving_words *w)
{
    const mw__model *m = &w->tokenizer->model;
    mw__merge *list = mw__arena_alloc(&w->keys->arena, m->merge_count + 1, sizeof *list, w->keys->err);
    size_t count = 0;
    for (size_t i = 0; list != NULL && i < m->merge_slots; i++)
        if (m->merges[i].pair != UINT64_MAX)
            list[count++] = m->merges[i];
    if (list != NULL)
        qsort(list, count, sizeof *list, by_rank);
    return list;
}

static const char *merge_text(mw__saving_words *w, const mw__merge *merge)
{
    const char *left = w->tokens[merge->pair >> 32], *right = w->tokens[merge->pair & UINT32_MAX];
    const size_t size = strlen(left) + strlen(right) + 2;
    char *out = mw__arena_alloc(&w->keys->arena, size, 1, w->keys->err);
    if (out != NULL)
        snprintf(out, size, "%s %s", left, right);
    return out;
}

static mw_status add_byte_pairs(mw__saving_words *w)
{
    const size_t count = w->tokenizer->model.merge_count;
    const char *cut = mw__read_gguf_cut(w->tokenizer);
    if (cut == NULL)
        return mw__fail(w->keys->err, MW_ERROR_UNSUPPORTED,
                        "GGUF has no name for how this tokenizer cuts words (tokenizer.ggml.pre)");
    const mw__merge *merges = sorted_merges(w);
    const char **texts = mw__arena_alloc(&w->keys->arena, count + 1, sizeof *texts, w->keys->err);
    for (size_t i = 0; merges != NULL && texts != NULL && i < count; i++)
        texts[i] = merge_text(w, &merges[i]);
    MW_TRY(w->keys->err->status);
    mw__saving_add_text(w->keys, "tokenizer.ggml.model", "gpt2");
    mw__saving_add_text(w->keys, "tokenizer.ggml.pre", cut);
    mw__saving_add_array(w->keys, "tokenizer.ggml.merges", "string", count, texts);
    return MW_OK;
}

/* ---- SentencePiece ---- */

/* What a model of characters does with spaces: the mark in front of a text or not; -1 = neither of these. */
static int puts_mark(const mw_tokenizer *t)
{
    static const char mark[] = "\xe2\x96\x81";
    bool replaces = false, prepends = false;
    for (size_t i = 0; i < t->normal_count; i++) {
        const mw__normal_step *step = &t->normals[i];
        const bool same = step->content != NULL && strcmp(step->content, mark) == 0;
        replaces = replaces || (step->kind == MW__NORMAL_REPLACE && same && strcmp(step->text, " ") == 0);
        prepends = prepends || (step->kind == MW__NORMAL_PREPEND && same);
        if (step->kind != MW__NORMAL_REPLACE && step->kind != MW__NORMAL_PREPEND)
            return -1;
    }
    for (size_t i = 0; i < t->split_count; i++) {
        const mw__split_step *step = &t->splits[i];
        const bool spaces = step->kind == MW__SPLIT_TEXT && strcmp(step->content, " ") == 0 && replaces;
        const bool marks = step->kind == MW__SPLIT_METASPACE && !step->cuts && strcmp(step->content, mark) == 0;
        if (!spaces && !marks)
            return -1;
        replaces = replaces || marks;
        prepends = prepends || (marks && step->prepend != MW__PREPEND_NEVER);
    }
    return replaces ? prepends : -1;
}

static bool has_merge(const mw__model *m, int32_t left, int32_t right)
{
    const uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    if (m->merge_slots == 0)
        return false;
    for (size_t slot = mw__subword_slot(m, pair); m->merges[slot].pair != UINT64_MAX;
         slot = (slot + 1) & (m->merge_slots - 1))
        if (m->merges[slot].pair == pair)
            return true;
    return false;
}

/* Every two pieces that make this one merge: only then do scores say what merges do. */
static bool has_all_merges(const mw__model *m, int32_t id)
{
    const mw__vocabulary_piece piece = mw__vocabulary_at(&m->vocabulary, id);
    for (size_t cut = 1; cut < piece.size; cut++) {
        const int32_t left = mw__vocabulary_find(&m->vocabulary, piece.text, cut);
        const int32_t right = mw__vocabulary_find(&m->vocabulary, piece.text + cut, piece.size - cut);
        if (left >= 0 && right >= 0 && !has_merge(m, left, right))
            return false;
    }
    return true;
}

/* Merges by rank become scores: the piece that is made first has the highest. False if a piece's merges do not stand
 * together, or one of them is missing. */
static bool score_merges(mw__saving_words *w, const mw__merge *merges, size_t count)
{
    const mw__model *m = &w->tokenizer->model;
    for (size_t i = 0; i < count; i++) {
        const int32_t id = merges[i].id;
        if (i > 0 && merges[i - 1].id == id)
            continue;
        if (w->scores[id] != 0.0F || !has_all_merges(m, id))
            return false;
        w->scores[id] = -(float)(i + 1);
    }
    return true;
}

static mw_status take_scores(mw__saving_words *w)
{
    const mw__model *m = &w->tokenizer->model;
    if (m->by_score)
        return MW_OK;
    const mw__merge *merges = m->byte_fallback ? sorted_merges(w) : NULL;
    MW_TRY(w->keys->err->status);
    if (merges != NULL && score_merges(w, merges, m->merge_count))
        return MW_OK;
    return mw__fail(w->keys->err, MW_ERROR_UNSUPPORTED,
                    "GGUF has scores, no merges, for pieces of characters, and those of this tokenizer are in an order "
                    "that scores cannot say");
}

static mw_status add_pieces(mw__saving_words *w)
{
    const int prepends = puts_mark(w->tokenizer);
    if (prepends < 0)
        return mw__fail(w->keys->err, MW_ERROR_UNSUPPORTED, "GGUF has no place for the normalizer of this tokenizer");
    MW_TRY(take_scores(w));
    mw__saving_add_text(w->keys, "tokenizer.ggml.model", "llama");
    mw__saving_add_text(w->keys, "tokenizer.ggml.pre", "default");
    mw__saving_add_array(w->keys, "tokenizer.ggml.scores", "f32", w->count, w->scores);
    mw__saving_add_bool(w->keys, "tokenizer.ggml.add_space_prefix", prepends);
    if (w->tokenizer->model.unknown >= 0)
        mw__saving_add_u32(w->keys, "tokenizer.ggml.unknown_token_id", w->tokenizer->model.unknown);
    return MW_OK;
}

/* ---- what the source says ---- */

/* A file of the source's folder as JSON; NULL if there is none. */
static const mw__json_node *read_beside(mw__saving_words *w, const char *source, const char *name)
{
    char path[4200], *text = NULL;
    size_t size = 0;
    mw_error own = {0};
    snprintf(path, sizeof path, "%s/%s", source, name);
    if (mw__file_read(mw__allocator_default(), path, 1 << 24, &text, &size, &own) != MW_OK)
        return NULL;
    const mw__json_node *root = mw__tree_read(&w->keys->arena, text, size, &own);
    mw__free(mw__allocator_default(), text);
    return root;
}

/* A number, or the first of a list of numbers; -1 = none. */
static int64_t token_of(const mw__saving_words *w, const mw__json_node *root, const char *key)
{
    const mw__json_node *node = mw__tree_find(root, key);
    if (mw__tree_is(node, MW__JSON_IS_ARRAY))
        node = node->first;
    const bool sound = mw__tree_is(node, MW__JSON_IS_NUMBER) && node->number >= 0.0 && node->number < (double)w->count;
    return sound ? (int64_t)node->number : -1;
}

/* Tokens at the ends of a text, by the tokenizer; else by the configuration. */
static void add_ends(mw__saving_words *w, const mw__json_node *config, int64_t of_file)
{
    const mw_tokenizer *t = w->tokenizer;
    const bool begins = t->part_count > 0 && !t->parts[0].is_text;
    const bool ends = t->part_count > 0 && !t->parts[t->part_count - 1].is_text;
    const int64_t first = begins ? t->parts[0].id : token_of(w, config, "bos_token_id");
    int64_t last = ends ? t->parts[t->part_count - 1].id : token_of(w, config, "eos_token_id");
    last = last < 0 ? of_file : last;
    if (first >= 0)
        mw__saving_add_u32(w->keys, "tokenizer.ggml.bos_token_id", first);
    if (last >= 0)
        mw__saving_add_u32(w->keys, "tokenizer.ggml.eos_token_id", last);
    mw__saving_add_bool(w->keys, "tokenizer.ggml.add_bos_token", begins);
    mw__saving_add_bool(w->keys, "tokenizer.ggml.add_eos_token", ends);
}

/* A source that is a GGUF file has said it before. */
static void copy_notes(mw__saving_words *w, const char *source, int64_t *out_last)
{
    mw_error own = {0};
    mw_tensors *tensors = mw_tensors_open(source, &own);
    const char *last = mw_tensors_note_find(tensors, "tokenizer.ggml.eos_token_id");
    const char *template = mw_tensors_note_find(tensors, "tokenizer.chat_template");
    *out_last = last != NULL && strtoll(last, NULL, 10) < (int64_t)w->count ? strtoll(last, NULL, 10) : -1;
    if (template != NULL)
        mw__saving_add_text(w->keys, "tokenizer.chat_template", template);
    mw_tensors_destroy(tensors);
}

static void add_from_source(mw__saving_words *w, const char *source)
{
    int64_t last = mw_tokenizer_id(w->tokenizer, "</s>");
    last = last < 0 ? mw_tokenizer_id(w->tokenizer, "<|endoftext|>") : last;
    const size_t size = strlen(source);
    if (size > 5 && strcmp(source + size - 5, ".gguf") == 0)
        copy_notes(w, source, &last);
    if (w->tokenizer->model.kind != MW__MODEL_WORDPIECE) /* it has said its own */
        add_ends(w, read_beside(w, source, "config.json"), last);
    const char *template = mw__tree_text(read_beside(w, source, "tokenizer_config.json"), "chat_template");
    if (template != NULL)
        mw__saving_add_text(w->keys, "tokenizer.chat_template", template);
}

mw_status mw__saving_add_vocabulary(mw__saving_keys *k, const char *source, const mw_tokenizer *tokenizer,
                                    int64_t words)
{
    mw__saving_words w = {.keys = k, .tokenizer = tokenizer};
    const mw__model *m = &tokenizer->model;
    MW_TRY(begin_words(&w, words));
    MW_TRY(m->kind == MW__MODEL_WORDPIECE ? mw__saving_word_pieces(&w)
           : m->kind == MW__MODEL_UNIGRAM ? mw__saving_scored_pieces(&w)
           : m->byte_level                ? add_byte_pairs(&w)
                                          : add_pieces(&w));
    mw__saving_add_array(k, "tokenizer.ggml.tokens", "string", w.count, w.tokens);
    mw__saving_add_array(k, "tokenizer.ggml.token_type", "i32", w.count, w.kinds);
    add_from_source(&w, source);
    return k->err->status;
}
