/* The arrays and keys of a vocabulary in GGUF. */
#include "text/read/gguf_words.h"

#include "base/number/bytes.h"
#include "base/number/number.h"
#include "base/text/error.h"

#include <string.h>

/* ---- values ---- */

const char *mw__read_gguf_note(const mw__gguf_words *w, const char *name)
{
    char key[96] = "tokenizer.ggml.";
    strncat(key, name, sizeof key - strlen(key) - 1);
    return mw_tensors_note_find(w->tensors, key);
}

bool mw__read_gguf_flag(const mw__gguf_words *w, const char *name, bool otherwise)
{
    const char *text = mw__read_gguf_note(w, name);
    return text != NULL ? strcmp(text, "true") == 0 : otherwise;
}

/* The number of a token by its key; -1 = the file does not say. */
mw_status mw__read_gguf_token(const mw__gguf_words *w, const char *name, int32_t otherwise, int32_t *out, mw_error *err)
{
    const char *text = mw__read_gguf_note(w, name);
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

const char *mw__read_gguf_string(const mw_tensors_array *a, size_t i, size_t *out_size)
{
    const uint64_t begin = i > 0 ? a->ends[i - 1] : 0;
    *out_size = (size_t)(a->ends[i] - begin);
    return (const char *)a->data + begin;
}

double mw__read_gguf_score(const mw__gguf_words *w, size_t i)
{
    float score = 0.0F;
    if (w->scores.count == 0)
        return 0.0;
    const uint32_t bits = mw__bytes_u32((const unsigned char *)w->scores.data + 4 * i);
    memcpy(&score, &bits, sizeof score);
    return (double)score;
}

uint32_t mw__read_gguf_kind(const mw__gguf_words *w, size_t i)
{
    return w->kinds.count > 0 ? mw__bytes_u32((const unsigned char *)w->kinds.data + 4 * i) : MW__GGUF_NORMAL;
}

/* ---- arrays ---- */

mw_status mw__read_gguf_array(mw__gguf_words *w, const char *key, const char *type, bool needed, mw_tensors_array *out,
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

mw_status mw__read_gguf_take_arrays(mw__gguf_words *w, mw_error *err)
{
    MW_TRY(mw__read_gguf_array(w, "tokenizer.ggml.tokens", "string", true, &w->tokens, err));
    MW_TRY(mw__read_gguf_array(w, "tokenizer.ggml.scores", "f32", false, &w->scores, err));
    MW_TRY(mw__read_gguf_array(w, "tokenizer.ggml.token_type", "i32", false, &w->kinds, err));
    MW_TRY(mw__read_gguf_array(w, "tokenizer.ggml.merges", "string", false, &w->merges, err));
    if (w->tokens.count > MW__VOCABULARY_MOST || (w->scores.count > 0 && w->scores.count != w->tokens.count) ||
        (w->kinds.count > 0 && w->kinds.count != w->tokens.count))
        return mw__fail(err, MW_ERROR_FORMAT, "the vocabulary has %zu tokens, %zu scores and %zu kinds",
                        w->tokens.count, w->scores.count, w->kinds.count);
    return MW_OK;
}

/* ---- pieces ---- */

/* Control pieces are found in a text as special tokens; those of users before all others. */
static mw_status add_piece(mw_tokenizer *t, const mw__gguf_words *w, size_t i, mw_error *err)
{
    size_t size;
    const char *text = mw__read_gguf_string(&w->tokens, i, &size);
    const uint32_t kind = mw__read_gguf_kind(w, i);
    if (kind == MW__GGUF_UNUSED || size == 0)
        return MW_OK;
    if (kind == MW__GGUF_UNKNOWN)
        t->model.unknown = (int32_t)i;
    if (kind == MW__GGUF_NORMAL || kind == MW__GGUF_BYTE)
        return mw__read_piece(t, text, size, (int32_t)i, mw__read_gguf_score(w, i), err);
    return mw__tokenizer_add_token(
        t, (mw__added){.text = text, .size = size, .id = (int32_t)i, .special = kind != MW__GGUF_USER}, err);
}

mw_status mw__read_gguf_add_pieces(mw_tokenizer *t, const mw__gguf_words *w, mw_error *err)
{
    for (size_t i = 0; i < w->tokens.count; i++)
        MW_TRY(add_piece(t, w, i, err));
    return MW_OK;
}

/* ---- around a text ---- */

mw_status mw__read_gguf_add_around(mw_tokenizer *t, const mw__gguf_words *w, const mw__gguf_ends *usual, mw_error *err)
{
    int32_t first, last;
    MW_TRY(mw__read_gguf_token(w, "bos_token_id", usual->first, &first, err));
    MW_TRY(mw__read_gguf_token(w, "eos_token_id", usual->last, &last, err));
    const bool begins = mw__read_gguf_flag(w, "add_bos_token", usual->begins) && first >= 0;
    const bool ends = mw__read_gguf_flag(w, "add_eos_token", usual->ends) && last >= 0;
    if (begins)
        MW_TRY(mw__read_add_part(t, (mw__template_part){.id = first}, err));
    if (begins || ends)
        MW_TRY(mw__read_add_part(t, (mw__template_part){.is_text = true}, err));
    return ends ? mw__read_add_part(t, (mw__template_part){.id = last}, err) : MW_OK;
}
