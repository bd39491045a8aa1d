/* The vocabulary of a GGUF file: pieces with scores and kinds, merges, and what is put around a text. The file does not
 * say how words end but by a name, whose rows are here. */
#include "base/number/bytes.h"
#include "base/number/number.h"
#include "base/text/error.h"
#include "text/read/read.h"
#include "text/unicode/unicode.h"

#include <millwright/tensors.h>
#include <string.h>

/* Kinds of pieces, as the file numbers them. */
enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER = 4, UNUSED = 5, BYTE = 6 };

/* The arrays of a vocabulary; of what a file lacks the count is 0. */
typedef struct gguf_words {
    mw_tensors *tensors;
    mw_tensors_array tokens, scores, kinds, merges;
} gguf_words;

/* ---- values ---- */

static const char *note_of(const gguf_words *w, const char *name)
{
    char key[96] = "tokenizer.ggml.";
    strncat(key, name, sizeof key - strlen(key) - 1);
    return mw_tensors_note_find(w->tensors, key);
}

static bool flag_of(const gguf_words *w, const char *name, bool otherwise)
{
    const char *text = note_of(w, name);
    return text != NULL ? strcmp(text, "true") == 0 : otherwise;
}

/* The number of a token by its key; -1 = the file does not say. */
static mw_status token_of(const gguf_words *w, const char *name, int32_t otherwise, int32_t *out, mw_error *err)
{
    const char *text = note_of(w, name);
    int64_t value = -1;
    *out = otherwise;
    if (text == NULL)
        return MW_OK;
    if (!mw__number_read_i64(text, strlen(text), &value) || value < 0 || value >= (int64_t)w->tokens.count)
        return mw__fail(err, MW_ERROR_FORMAT, "tokenizer.ggml.%s is %.40s, and there are %zu tokens", name, text,
                        w->tokens.count);
    *out = (int32_t)value;
    return MW_OK;
}

static const char *string_at(const mw_tensors_array *a, size_t i, size_t *out_size)
{
    const uint64_t begin = i > 0 ? a->ends[i - 1] : 0;
    *out_size = (size_t)(a->ends[i] - begin);
    return (const char *)a->data + begin;
}

static double score_at(const gguf_words *w, size_t i)
{
    float score = 0.0F;
    if (w->scores.count == 0)
        return 0.0;
    const uint32_t bits = mw__bytes_u32((const unsigned char *)w->scores.data + 4 * i);
    memcpy(&score, &bits, sizeof score);
    return (double)score;
}

static uint32_t kind_at(const gguf_words *w, size_t i)
{
    return w->kinds.count > 0 ? mw__bytes_u32((const unsigned char *)w->kinds.data + 4 * i) : NORMAL;
}

/* ---- arrays ---- */

static mw_status take_array(gguf_words *w, const char *key, const char *type, bool needed, mw_tensors_array *out,
                            mw_error *err)
{
    if (mw_tensors_note_find(w->tensors, key) == NULL && !needed)
        return MW_OK;
    MW_TRY(mw_tensors_read_array(w->tensors, key, out, err));
    const bool sound = strcmp(out->type, type) == 0 || (strcmp(type, "i32") == 0 && strcmp(out->type, "u32") == 0);
    if (!sound)
        return mw__fail(err, MW_ERROR_FORMAT, "%s is an array of %s, not of %s", key, out->type, type);
    return MW_OK;
}

static mw_status take_arrays(gguf_words *w, mw_error *err)
{
    MW_TRY(take_array(w, "tokenizer.ggml.tokens", "string", true, &w->tokens, err));
    MW_TRY(take_array(w, "tokenizer.ggml.scores", "f32", false, &w->scores, err));
    MW_TRY(take_array(w, "tokenizer.ggml.token_type", "i32", false, &w->kinds, err));
    MW_TRY(take_array(w, "tokenizer.ggml.merges", "string", false, &w->merges, err));
    if (w->tokens.count > MW__VOCABULARY_MOST || (w->scores.count > 0 && w->scores.count != w->tokens.count) ||
        (w->kinds.count > 0 && w->kinds.count != w->tokens.count))
        return mw__fail(err, MW_ERROR_FORMAT, "the vocabulary has %zu tokens, %zu scores and %zu kinds",
                        w->tokens.count, w->scores.count, w->kinds.count);
    return MW_OK;
}

/* ---- pieces ---- */

/* Control pieces are found in a text as special tokens; those of users before all others. */
static mw_status add_gguf_piece(mw_tokenizer *t, const gguf_words *w, size_t i, mw_error *err)
{
    size_t size;
    const char *text = string_at(&w->tokens, i, &size);
    const uint32_t kind = kind_at(w, i);
    if (kind == UNUSED || size == 0)
        return MW_OK;
    if (kind == UNKNOWN)
        t->model.unknown = (int32_t)i;
    if (kind == NORMAL || kind == BYTE)
        return mw__read_piece(t, text, size, (int32_t)i, score_at(w, i), err);
    return mw__tokenizer_add_token(
        t, (mw__added){.text = text, .size = size, .id = (int32_t)i, .special = kind != USER}, err);
}

static mw_status add_gguf_pieces(mw_tokenizer *t, const gguf_words *w, mw_error *err)
{
    for (size_t i = 0; i < w->tokens.count; i++)
        MW_TRY(add_gguf_piece(t, w, i, err));
    return MW_OK;
}

/* ---- around a text ---- */

static mw_status add_around(mw_tokenizer *t, const gguf_words *w, bool begins, bool ends, mw_error *err)
{
    int32_t first, last;
    MW_TRY(token_of(w, "bos_token_id", -1, &first, err));
    MW_TRY(token_of(w, "eos_token_id", -1, &last, err));
    begins = flag_of(w, "add_bos_token", begins) && first >= 0;
    ends = flag_of(w, "add_eos_token", ends) && last >= 0;
    if (begins)
        MW_TRY(mw__read_add_part(t, (mw__template_part){.id = first}, err));
    if (begins || ends)
        MW_TRY(mw__read_add_part(t, (mw__template_part){.is_text = true}, err));
    return ends ? mw__read_add_part(t, (mw__template_part){.id = last}, err) : MW_OK;
}

/* ---- SentencePiece ---- */

static const char mark[] = "\xe2\x96\x81";

static mw_status read_llama(mw_tokenizer *t, const gguf_words *w, mw_error *err)
{
    const bool prefix = flag_of(w, "add_space_prefix", true);
    if (w->scores.count == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "the vocabulary \"llama\" has no scores");
    t->model.kind = MW__MODEL_BPE;
    t->model.by_score = t->model.byte_fallback = t->model.fuse_unknown = t->model.single = true;
    MW_TRY(add_gguf_pieces(t, w, err));
    if (prefix)
        MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_PREPEND, .content = mark}, err));
    MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_REPLACE, .text = " ", .content = mark}, err));
    MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_FALLBACK, .from = "", .to = ""}, err));
    MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_REPLACE, .from = mark, .to = " "}, err));
    if (prefix)
        MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_PREFIX, .from = "", .to = ""}, err));
    return add_around(t, w, true, false, err);
}

/* ---- byte pairs ---- */

/* What tokenizer.ggml.pre names. */
typedef struct gguf_cut {
    const char *name, *scanner;
    bool digits;   /* one by one, before the pattern */
    bool composes; /* NFC */
    bool whole;    /* a word that is a token is taken before merges */
} gguf_cut;

static const gguf_cut cuts[] = {
    {"gpt-2", "gpt2", false, false, false},       {"phi-2", "gpt2", false, false, false},
    {"roberta-bpe", "gpt2", false, false, false}, {"mpt", "gpt2", false, false, false},
    {"olmo", "gpt2", false, false, false},        {"jais", "gpt2", false, false, false},
    {"llama-bpe", "cl100k", false, false, true},  {"llama-v3", "cl100k", false, false, true},
    {"llama3", "cl100k", false, false, true},     {"qwen2", "qwen2", false, true, false},
    {"stablelm2", "qwen2", false, false, false},  {"smollm", "gpt2", true, false, false},
    {"starcoder", "gpt2", true, false, false},    {"refact", "gpt2", true, false, false},
};

/* The steps of a row, and no other. */
static bool is_cut(const mw_tokenizer *t, const gguf_cut *cut)
{
    const mw__split_step *last = t->split_count > 0 ? &t->splits[t->split_count - 1] : NULL;
    const bool digits = t->split_count == 2 && t->splits[0].kind == MW__SPLIT_DIGITS && t->splits[0].single;
    const bool composes = t->normal_count == 1 && t->normals[0].kind == MW__NORMAL_NFC;
    return last != NULL && last->kind == MW__SPLIT_SCANNER &&
           last->scanner == mw__scanner_of(mw__scanner_pattern(cut->scanner)) && digits == cut->digits &&
           t->split_count == (cut->digits ? 2 : 1) && composes == cut->composes &&
           t->normal_count == (cut->composes ? 1 : 0) && t->model.whole_words == cut->whole;
}

const char *mw__read_gguf_cut(const mw_tokenizer *t)
{
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        if (is_cut(t, &cuts[i]))
            return cuts[i].name;
    return NULL;
}

static mw_status find_cut(const gguf_words *w, const gguf_cut **out, mw_error *err)
{
    const char *name = note_of(w, "pre");
    for (size_t i = 0; name != NULL && i < sizeof cuts / sizeof *cuts; i++) {
        *out = &cuts[i];
        if (strcmp(cuts[i].name, name) == 0)
            return MW_OK;
    }
    return mw__fail(
        err, MW_ERROR_UNSUPPORTED,
        "tokenizer.ggml.pre is \"%.60s\", which is not known: how words end is not in the file. Convert the "
        "folder again, or put its tokenizer.json beside the weights",
        name != NULL ? name : "");
}

static mw_status add_gguf_merges(mw_tokenizer *t, const gguf_words *w, mw_error *err)
{
    for (size_t i = 0; i < w->merges.count; i++) {
        size_t size;
        const char *merge = string_at(&w->merges, i, &size);
        const char *space = size > 1 ? memchr(merge + 1, ' ', size - 1) : NULL;
        if (space == NULL)
            return mw__fail(err, MW_ERROR_FORMAT, "merge %zu has no space between two tokens", i);
        const size_t left = (size_t)(space - merge);
        MW_TRY(mw__read_merge(t, merge, left, space + 1, size - left - 1, (int32_t)i, err));
    }
    return MW_OK;
}

static mw_status read_gpt2(mw_tokenizer *t, const gguf_words *w, mw_error *err)
{
    const gguf_cut *cut;
    if (!mw__unicode_is_whole())
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "the vocabulary needs libutf8proc; the library was built without it");
    MW_TRY(find_cut(w, &cut, err));
    t->model.kind = MW__MODEL_BPE;
    t->model.byte_level = true;
    t->model.whole_words = cut->whole;
    MW_TRY(add_gguf_pieces(t, w, err));
    MW_TRY(add_gguf_merges(t, w, err));
    if (cut->composes)
        MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_NFC}, err));
    if (cut->digits)
        MW_TRY(mw__read_add_split(
            t, (mw__split_step){.kind = MW__SPLIT_DIGITS, .behavior = MW__SPLIT_ISOLATED, .single = true}, err));
    MW_TRY(mw__read_add_split(
        t, (mw__split_step){.kind = MW__SPLIT_SCANNER, .scanner = mw__scanner_of(mw__scanner_pattern(cut->scanner))},
        err));
    return add_around(t, w, strcmp(cut->scanner, "cl100k") == 0, false, err);
}

/* ---- the file ---- */

static mw_status read_words(mw_tokenizer *t, gguf_words *w, mw_error *err)
{
    const char *model = note_of(w, "model");
    MW_TRY(take_arrays(w, err));
    if (model != NULL && strcmp(model, "llama") == 0)
        return read_llama(t, w, err);
    if (model != NULL && strcmp(model, "gpt2") == 0)
        return read_gpt2(t, w, err);
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "tokenizer.ggml.model is \"%.60s\"; llama and gpt2 are known",
                    model != NULL ? model : "");
}

mw_tokenizer *mw__read_gguf(const char *path, mw_error *err)
{
    gguf_words w = {.tensors = mw_tensors_open(path, err)};
    mw_tokenizer *t = w.tensors != NULL ? mw__tokenizer_make(err) : NULL;
    if (t != NULL)
        read_words(t, &w, err);
    mw_tensors_destroy(w.tensors);
    return t != NULL ? mw__tokenizer_finish(t, err) : NULL;
}
