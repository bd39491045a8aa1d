/* The vocabulary of a GGUF file: pieces with scores and kinds, merges, and what is put around a text. The file does not
 * say how words end but by a name, whose rows are here. */
#include "base/text/error.h"
#include "text/read/gguf_words.h"
#include "text/unicode/unicode.h"

#include <string.h>

/* ---- SentencePiece ---- */

static const char mark[] = "\xe2\x96\x81";

static mw_status read_llama(mw_tokenizer *t, const mw__gguf_words *w, mw_error *err)
{
    const bool prefix = mw__read_gguf_flag(w, "add_space_prefix", true);
    if (w->scores.count == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "the vocabulary \"llama\" has no scores");
    t->model.kind = MW__MODEL_BPE;
    t->model.by_score = t->model.byte_fallback = t->model.fuse_unknown = t->model.single = true;
    MW_TRY(mw__read_gguf_add_pieces(t, w, err));
    if (prefix)
        MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_PREPEND, .content = mark}, err));
    MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_REPLACE, .text = " ", .content = mark}, err));
    MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_FALLBACK, .from = "", .to = ""}, err));
    MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_REPLACE, .from = mark, .to = " "}, err));
    if (prefix)
        MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_PREFIX, .from = "", .to = ""}, err));
    return mw__read_gguf_add_around(t, w, &(mw__gguf_ends){.first = -1, .last = -1, .begins = true}, err);
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

static mw_status find_cut(const mw__gguf_words *w, const gguf_cut **out, mw_error *err)
{
    const char *name = mw__read_gguf_note(w, "pre");
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

static mw_status add_gguf_merges(mw_tokenizer *t, const mw__gguf_words *w, mw_error *err)
{
    for (size_t i = 0; i < w->merges.count; i++) {
        size_t size;
        const char *merge = mw__read_gguf_string(&w->merges, i, &size);
        const char *space = size > 1 ? memchr(merge + 1, ' ', size - 1) : NULL;
        if (space == NULL)
            return mw__fail(err, MW_ERROR_FORMAT, "merge %zu has no space between two tokens", i);
        const size_t left = (size_t)(space - merge);
        MW_TRY(mw__read_merge(t, merge, left, space + 1, size - left - 1, (int32_t)i, err));
    }
    return MW_OK;
}

static mw_status read_gpt2(mw_tokenizer *t, const mw__gguf_words *w, mw_error *err)
{
    const gguf_cut *cut;
    if (!mw__unicode_is_whole())
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "the vocabulary needs libutf8proc; the library was built without it");
    MW_TRY(find_cut(w, &cut, err));
    t->model.kind = MW__MODEL_BPE;
    t->model.byte_level = true;
    t->model.whole_words = cut->whole;
    MW_TRY(mw__read_gguf_add_pieces(t, w, err));
    MW_TRY(add_gguf_merges(t, w, err));
    if (cut->composes)
        MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_NFC}, err));
    if (cut->digits)
        MW_TRY(mw__read_add_split(
            t, (mw__split_step){.kind = MW__SPLIT_DIGITS, .behavior = MW__SPLIT_ISOLATED, .single = true}, err));
    MW_TRY(mw__read_add_split(
        t, (mw__split_step){.kind = MW__SPLIT_SCANNER, .scanner = mw__scanner_of(mw__scanner_pattern(cut->scanner))},
        err));
    const bool begins = strcmp(cut->scanner, "cl100k") == 0;
    return mw__read_gguf_add_around(t, w, &(mw__gguf_ends){.first = -1, .last = -1, .begins = begins}, err);
}

/* ---- the file ---- */

static mw_status read_words(mw_tokenizer *t, mw__gguf_words *w, mw_error *err)
{
    const char *model = mw__read_gguf_note(w, "model");
    MW_TRY(mw__read_gguf_take_arrays(w, err));
    if (model != NULL && strcmp(model, "llama") == 0)
        return read_llama(t, w, err);
    if (model != NULL && strcmp(model, "gpt2") == 0)
        return read_gpt2(t, w, err);
    if (model != NULL && strcmp(model, "bert") == 0)
        return mw__read_gguf_bert(t, w, err);
    if (model != NULL && strcmp(model, "t5") == 0)
        return mw__read_gguf_t5(t, w, err);
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "tokenizer.ggml.model is \"%.60s\"; llama, gpt2, bert and t5 are known",
                    model != NULL ? model : "");
}

mw_tokenizer *mw__read_gguf(const char *path, mw_error *err)
{
    mw__gguf_words w = {.tensors = mw_tensors_open(path, err)};
    mw_tokenizer *t = w.tensors != NULL ? mw__tokenizer_make(err) : NULL;
    if (t != NULL)
        read_words(t, &w, err);
    mw_tensors_destroy(w.tensors);
    return t != NULL ? mw__tokenizer_finish(t, err) : NULL;
}
