/* Vocabularies of GGUF that are no byte pairs: WordPiece ("bert") and Unigram ("t5"). Keys, and what is meant where the
 * file says nothing, are those of llama.cpp. */
#include "base/text/error.h"
#include "base/text/string.h"
#include "text/read/gguf_words.h"
#include "text/unicode/unicode.h"

#include <string.h>

static const char mark[] = "\xe2\x96\x81";
enum { MARK_SIZE = sizeof mark - 1 };

/* ---- WordPiece ---- */

/* The file marks what begins a word, where BERT's own marks what does not; "[CLS]" and the like have no mark. */
static mw_status add_word_piece(mw_tokenizer *t, const char *text, size_t size, int32_t id, mw_error *err)
{
    const bool begins = size > MARK_SIZE && memcmp(text, mark, MARK_SIZE) == 0;
    const bool bracketed = size > 2 && text[0] == '[' && text[size - 1] == ']';
    if (begins || bracketed)
        return mw__read_piece(t, text + (begins ? MARK_SIZE : 0), size - (begins ? MARK_SIZE : 0), id, 0.0, err);
    char *whole = mw__arena_alloc(&t->arena, size + 2, 1, err);
    if (whole == NULL)
        return MW_ERROR_MEMORY;
    memcpy(whole, "##", 2);
    memcpy(whole + 2, text, size);
    return mw__read_piece(t, whole, size + 2, id, 0.0, err);
}

static mw_status add_special_word(mw_tokenizer *t, const char *text, size_t size, int32_t id, bool special,
                                  mw_error *err)
{
    const size_t before = size > MARK_SIZE && memcmp(text, mark, MARK_SIZE) == 0 ? MARK_SIZE : 0;
    return mw__tokenizer_add_token(
        t, (mw__added){.text = text + before, .size = size - before, .id = id, .special = special}, err);
}

/* What a file means by its keys; some say of no token that it is special but by these. */
typedef struct bert_tokens {
    int32_t first, last, unknown, padding, masked;
} bert_tokens;

static mw_status take_bert_tokens(const mw__gguf_words *w, bert_tokens *out, mw_error *err)
{
    const int32_t count = (int32_t)w->tokens.count;
    MW_TRY(mw__read_gguf_token(w, "cls_token_id", count > 101 ? 101 : -1, &out->first, err));
    MW_TRY(mw__read_gguf_token(w, "bos_token_id", out->first, &out->first, err));
    MW_TRY(mw__read_gguf_token(w, "seperator_token_id", count > 102 ? 102 : -1, &out->last, err));
    MW_TRY(mw__read_gguf_token(w, "unknown_token_id", count > 100 ? 100 : -1, &out->unknown, err));
    MW_TRY(mw__read_gguf_token(w, "padding_token_id", 0, &out->padding, err));
    MW_TRY(mw__read_gguf_token(w, "mask_token_id", count > 103 ? 103 : -1, &out->masked, err));
    if (out->unknown >= 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "the vocabulary \"bert\" has no tokenizer.ggml.unknown_token_id");
}

static bool is_named(const bert_tokens *n, int32_t id)
{
    return id == n->first || id == n->last || id == n->unknown || id == n->padding || id == n->masked;
}

static mw_status add_bert_words(mw_tokenizer *t, const mw__gguf_words *w, const bert_tokens *named, mw_error *err)
{
    for (size_t i = 0; i < w->tokens.count; i++) {
        size_t size;
        const char *text = mw__read_gguf_string(&w->tokens, i, &size);
        const uint32_t kind = mw__read_gguf_kind(w, i);
        const bool special = kind == MW__GGUF_CONTROL || kind == MW__GGUF_UNKNOWN || is_named(named, (int32_t)i);
        if (size == 0 || kind == MW__GGUF_UNUSED)
            continue;
        if (special || kind == MW__GGUF_USER)
            MW_TRY(add_special_word(t, text, size, (int32_t)i, special, err));
        else
            MW_TRY(add_word_piece(t, text, size, (int32_t)i, err));
    }
    return MW_OK;
}

static mw_status add_bert_ends(mw_tokenizer *t, const mw__gguf_words *w, const bert_tokens *n, mw_error *err)
{
    const bool begins = mw__read_gguf_flag(w, "add_bos_token", true) && n->first >= 0;
    const bool ends = mw__read_gguf_flag(w, "add_sep_token", true) && n->last >= 0;
    if (begins)
        MW_TRY(mw__read_add_part(t, (mw__template_part){.id = n->first}, err));
    if (begins || ends)
        MW_TRY(mw__read_add_part(t, (mw__template_part){.is_text = true}, err));
    return ends ? mw__read_add_part(t, (mw__template_part){.id = n->last}, err) : MW_OK;
}

mw_status mw__read_gguf_bert(mw_tokenizer *t, const mw__gguf_words *w, mw_error *err)
{
    bert_tokens named;
    const bool lower = mw__read_gguf_flag(w, "normalizer.lowercase", true);
    if (!mw__unicode_is_whole())
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "the vocabulary needs libutf8proc; the library was built without it");
    MW_TRY(take_bert_tokens(w, &named, err));
    t->model.kind = MW__MODEL_WORDPIECE;
    t->model.prefix = "##";
    t->model.longest_word = 100;
    t->model.unknown = named.unknown;
    MW_TRY(add_bert_words(t, w, &named, err));
    MW_TRY(mw__read_add_bert_steps(t, mw__read_gguf_flag(w, "normalizer.strip_accents", lower), lower, err));
    return add_bert_ends(t, w, &named, err);
}

/* ---- Unigram ---- */

/* SentencePiece's table of characters. */
static mw_status add_table(mw_tokenizer *t, mw__gguf_words *w, mw_error *err)
{
    static const char key[] = "tokenizer.ggml.precompiled_charsmap";
    mw_tensors_array bytes = {0};
    if (mw_tensors_note_find(w->tensors, key) == NULL)
        return MW_OK;
    MW_TRY(mw_tensors_read_array(w->tensors, key, &bytes, err));
    if (strcmp(bytes.type, "u8") != 0 && strcmp(bytes.type, "i8") != 0)
        return mw__fail(err, MW_ERROR_FORMAT, "%s is an array of %s, not of bytes", key, bytes.type);
    if (bytes.count == 0)
        return MW_OK;
    char *kept = mw__arena_alloc(&t->arena, bytes.count, 1, err);
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    memcpy(kept, bytes.data, bytes.count);
    const struct mw__charsmap *map = mw__normalizer_read_charsmap(&t->arena, kept, bytes.count, err);
    if (map == NULL)
        return err->status;
    return mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_CHARSMAP, .charsmap = map}, err);
}

static bool has_bytes(const mw__gguf_words *w)
{
    for (size_t i = 0; i < w->tokens.count; i++)
        if (mw__read_gguf_kind(w, i) == MW__GGUF_BYTE)
            return true;
    return false;
}

static mw_status add_t5_steps(mw_tokenizer *t, mw__gguf_words *w, mw_error *err)
{
    const bool prefix = mw__read_gguf_flag(w, "add_space_prefix", false);
    MW_TRY(add_table(t, w, err));
    if (mw__read_gguf_flag(w, "remove_extra_whitespaces", false))
        MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_COLLAPSE}, err));
    if (prefix)
        MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_PREPEND, .content = mark}, err));
    MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_REPLACE, .text = " ", .content = mark}, err));
    if (t->model.byte_fallback)
        MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_FALLBACK, .from = "", .to = ""}, err));
    MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_REPLACE, .from = mark, .to = " "}, err));
    return prefix ? mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_PREFIX, .from = "", .to = ""}, err)
                  : MW_OK;
}

mw_status mw__read_gguf_t5(mw_tokenizer *t, mw__gguf_words *w, mw_error *err)
{
    if (w->scores.count == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "the vocabulary \"t5\" has no scores");
    t->model.kind = MW__MODEL_UNIGRAM;
    t->model.fuse_unknown = true;
    t->model.byte_fallback = has_bytes(w);
    MW_TRY(mw__read_gguf_add_pieces(t, w, err));
    const int32_t usual = t->model.unknown >= 0 ? t->model.unknown : w->tokens.count > 2 ? 2 : -1;
    MW_TRY(mw__read_gguf_token(w, "unknown_token_id", usual, &t->model.unknown, err));
    MW_TRY(add_t5_steps(t, w, err));
    return mw__read_gguf_add_around(
        t, w, &(mw__gguf_ends){.first = -1, .last = w->tokens.count > 1 ? 1 : -1, .ends = true}, err);
}
