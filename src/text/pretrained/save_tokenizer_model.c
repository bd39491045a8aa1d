/* The model of tokenizer.json: pieces by number, merges, scores. */
#include "base/text/utf8.h"
#include "text/pretrained/save_tokenizer.h"
#include "text/read/read.h"

#include <stdlib.h>
#include <string.h>

/* ---- tokens ---- */

/* The text of a token as the file has it; NULL: there is none of that number, or with an error that it is no text. */
static const char *spelled(mw__saving_json *s, size_t id)
{
    const mw_tokenizer *t = s->tokenizer;
    size_t size = 0;
    const char *text = mw_tokenizer_text(t, (int32_t)id, &size);
    const bool of_model = id >= t->id_count || t->by_id[id] == NULL;
    if (text == NULL)
        return NULL;
    s->text.size = 0;
    if (t->model.byte_level && of_model)
        for (size_t i = 0; i < size; i++)
            mw__utf8_put(&s->text, mw__read_spelling((unsigned char)text[i]));
    else
        mw__text_append(&s->text, text, size);
    mw__text_puts(&s->text, "");
    if (mw__text_check(&s->text, s->err) != MW_OK)
        return NULL;
    if (strlen(s->text.data) == s->text.size && mw__utf8_check(s->text.data))
        return s->text.data;
    mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: token %zu is no text of UTF-8", id);
    return NULL;
}

/* Texts that are written: a file gives each of them one number. */
typedef struct text_set {
    mw__arena arena;
    mw__vocabulary texts;
} text_set;

/* The text of a token that has not been written; NULL as of spelled. */
static const char *spelled_once(mw__saving_json *s, size_t id, text_set *set)
{
    const char *text = spelled(s, id);
    if (text == NULL)
        return NULL;
    const size_t size = s->text.size;
    if (size > 0 && mw__vocabulary_find(&set->texts, text, size) >= 0)
        mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: token %zu is there twice", id);
    else
        mw__vocabulary_add(&set->texts, (int32_t)id, text, size, 0.0, s->err);
    return mw__failed(s->err) ? NULL : text;
}

static void put_numbers(mw__saving_json *s, text_set *set)
{
    const size_t count = mw_tokenizer_get_info(s->tokenizer).count;
    mw__json_open(&s->json, "vocab", '{');
    for (size_t id = 0; id < count && s->err->status == MW_OK; id++) {
        const char *text = spelled_once(s, id, set);
        if (text == NULL)
            continue;
        mw__json_break(&s->json);
        mw__json_add_integer(&s->json, text, (int64_t)id);
    }
    mw__json_close(&s->json, '}');
}

/* [["a", -2.5], ..]: numbers are places here. */
static void put_scores(mw__saving_json *s, text_set *set)
{
    const mw__vocabulary *v = &s->tokenizer->model.vocabulary;
    const size_t count = mw_tokenizer_get_info(s->tokenizer).count;
    mw__json_open(&s->json, "vocab", '[');
    for (size_t id = 0; id < count && s->err->status == MW_OK; id++) {
        const char *text = spelled_once(s, id, set);
        if (text == NULL) {
            mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: Unigram has no token %zu of %zu", id, count);
            break;
        }
        mw__json_break(&s->json);
        mw__json_open(&s->json, NULL, '[');
        mw__json_add_string(&s->json, NULL, text);
        mw__json_add_number(&s->json, NULL, mw__vocabulary_at(v, (int32_t)id).score);
        mw__json_close(&s->json, ']');
    }
    mw__json_close(&s->json, ']');
}

static mw_status put_vocabulary(mw__saving_json *s, void (*put)(mw__saving_json *s, text_set *set))
{
    text_set set = {.texts = {.arena = NULL}};
    mw__arena_init(&set.arena, mw__allocator_default());
    set.texts.arena = &set.arena;
    put(s, &set);
    mw__vocabulary_deinit(&set.texts);
    mw__arena_deinit(&set.arena);
    return s->err->status;
}

static void put_unknown(mw__saving_json *s)
{
    const int32_t unknown = s->tokenizer->model.unknown;
    mw__json_add_string(&s->json, "unk_token", unknown >= 0 ? spelled(s, (size_t)unknown) : NULL);
}

/* ---- merges ---- */

typedef struct merge_list {
    mw__merge *items;
    size_t count, capacity;
} merge_list;

static int by_rank(const void *left, const void *right)
{
    const mw__merge *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->pair < b->pair ? -1 : a->pair > b->pair;
}

static mw_status take_merges(const mw__saving_json *s, merge_list *out)
{
    const mw__model *m = &s->tokenizer->model;
    out->items = mw__alloc(mw__allocator_default(), m->merge_count, sizeof *out->items, s->err);
    for (size_t i = 0; out->items != NULL && i < m->merge_slots; i++)
        if (m->merges[i].pair != UINT64_MAX)
            out->items[out->count++] = m->merges[i];
    return out->items != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status add_merge(const mw__saving_json *s, merge_list *out, mw__merge merge)
{
    MW_TRY(mw__grow(mw__allocator_default(), &out->items, &out->capacity, out->count + 1, sizeof *out->items, s->err));
    out->items[out->count++] = merge;
    return MW_OK;
}

/* Each two pieces that make this one. A character of it that is no piece may merge here, and not in the file. */
static mw_status split_piece(const mw__saving_json *s, merge_list *out, int32_t id, int32_t rank)
{
    const mw__vocabulary *v = &s->tokenizer->model.vocabulary;
    const mw__vocabulary_piece piece = mw__vocabulary_at(v, id);
    const char *end = piece.text + piece.size;
    for (const char *at = piece.text; at < end;) {
        const size_t length = mw__utf8_length(at, end) > 0 ? mw__utf8_length(at, end) : 1;
        if (mw__vocabulary_find(v, at, length) < 0)
            return mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: a character of token %d is no token",
                            (int)id);
        at += length;
        const int32_t left = mw__vocabulary_find(v, piece.text, (size_t)(at - piece.text));
        const int32_t right = at < end ? mw__vocabulary_find(v, at, (size_t)(end - at)) : -1;
        const uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
        if (left >= 0 && right >= 0)
            MW_TRY(add_merge(s, out, (mw__merge){.pair = pair, .rank = rank, .id = id}));
    }
    return MW_OK;
}

typedef struct scored_piece {
    double score;
    int32_t id;
} scored_piece;

static int by_score(const void *left, const void *right)
{
    const scored_piece *a = left, *b = right;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static bool is_single(mw__vocabulary_piece piece)
{
    return mw__utf8_length(piece.text, piece.text + piece.size) == piece.size;
}

/* "<0x0A>" stands for a byte, and is no text. */
static bool is_byte(mw__vocabulary_piece piece)
{
    return piece.size == 6 && memcmp(piece.text, "<0x", 3) == 0 && piece.text[5] == '>';
}

/* Scores say in which order pieces are made: the rank of a merge is the place of what it makes. Of two pieces with one
 * score the one to the left is made first, which no rank says. */
static mw_status rank_pieces(const mw__saving_json *s, merge_list *out, scored_piece *pieces)
{
    const mw__vocabulary *v = &s->tokenizer->model.vocabulary;
    size_t count = 0;
    for (size_t id = 0; id < v->count; id++)
        if (v->pieces[id].text != NULL && !is_single(v->pieces[id]) && !is_byte(v->pieces[id]))
            pieces[count++] = (scored_piece){.score = v->pieces[id].score, .id = (int32_t)id};
    qsort(pieces, count, sizeof *pieces, by_score);
    for (size_t i = 0; i < count; i++) {
        const size_t before = out->count;
        MW_TRY(split_piece(s, out, pieces[i].id, (int32_t)i));
        if (out->count > before && i > 0 && pieces[i].score == pieces[i - 1].score)
            return mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: the tokens %d and %d have one score",
                            (int)pieces[i - 1].id, (int)pieces[i].id);
    }
    return MW_OK;
}

static mw_status make_merges(const mw__saving_json *s, merge_list *out)
{
    const size_t count = s->tokenizer->model.vocabulary.count;
    scored_piece *pieces = mw__alloc(mw__allocator_default(), count, sizeof *pieces, s->err);
    const mw_status status = pieces != NULL ? rank_pieces(s, out, pieces) : MW_ERROR_MEMORY;
    mw__free(mw__allocator_default(), pieces);
    return status;
}

/* ["a", "b"]: pieces may have spaces in them. */
static mw_status put_merge(mw__saving_json *s, const mw__merge *merge)
{
    const size_t halves[] = {(size_t)(merge->pair >> 32), (size_t)(merge->pair & UINT32_MAX)};
    mw__json_break(&s->json);
    mw__json_open(&s->json, NULL, '[');
    for (size_t i = 0; i < 2; i++) {
        const char *text = spelled(s, halves[i]);
        if (text != NULL)
            mw__json_add_string(&s->json, NULL, text);
    }
    mw__json_close(&s->json, ']');
    return s->err->status;
}

static mw_status put_merges(mw__saving_json *s)
{
    merge_list list = {0};
    mw_status status = s->tokenizer->model.by_score ? make_merges(s, &list) : take_merges(s, &list);
    if (status == MW_OK && list.count > 0)
        qsort(list.items, list.count, sizeof *list.items, by_rank);
    mw__json_open(&s->json, "merges", '[');
    for (size_t i = 0; i < list.count && status == MW_OK; i++)
        status = put_merge(s, &list.items[i]);
    mw__json_close(&s->json, ']');
    mw__free(mw__allocator_default(), list.items);
    return status;
}

/* ---- models ---- */

static mw_status put_byte_pairs(mw__saving_json *s)
{
    const mw__model *m = &s->tokenizer->model;
    mw__json_add_string(&s->json, "type", "BPE");
    mw__json_add_null(&s->json, "dropout");
    put_unknown(s);
    mw__json_add_string(&s->json, "continuing_subword_prefix", m->prefix != NULL && m->prefix[0] ? m->prefix : NULL);
    mw__json_add_string(&s->json, "end_of_word_suffix", m->suffix != NULL && m->suffix[0] ? m->suffix : NULL);
    mw__json_add_bool(&s->json, "fuse_unk", m->fuse_unknown);
    mw__json_add_bool(&s->json, "byte_fallback", m->byte_fallback);
    mw__json_add_bool(&s->json, "ignore_merges", m->whole_words);
    MW_TRY(put_vocabulary(s, put_numbers));
    return put_merges(s);
}

static mw_status put_word_pieces(mw__saving_json *s)
{
    const mw__model *m = &s->tokenizer->model;
    mw__json_add_string(&s->json, "type", "WordPiece");
    put_unknown(s);
    mw__json_add_string(&s->json, "continuing_subword_prefix", m->prefix);
    mw__json_add_integer(&s->json, "max_input_chars_per_word", (int64_t)m->longest_word);
    return put_vocabulary(s, put_numbers);
}

static mw_status put_scored(mw__saving_json *s)
{
    const mw__model *m = &s->tokenizer->model;
    mw__json_add_string(&s->json, "type", "Unigram");
    if (m->unknown >= 0)
        mw__json_add_integer(&s->json, "unk_id", m->unknown);
    else
        mw__json_add_null(&s->json, "unk_id");
    mw__json_add_bool(&s->json, "byte_fallback", m->byte_fallback);
    return put_vocabulary(s, put_scores);
}

mw_status mw__saving_put_model(mw__saving_json *s)
{
    const mw__model_kind kind = s->tokenizer->model.kind;
    mw__json_open(&s->json, "model", '{');
    const mw_status status = kind == MW__MODEL_WORDPIECE ? put_word_pieces(s)
                             : kind == MW__MODEL_UNIGRAM ? put_scored(s)
                                                         : put_byte_pairs(s);
    mw__json_close(&s->json, '}');
    return status;
}
