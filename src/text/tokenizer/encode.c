/* From a text to tokens. */
#include "base/memory/live.h"
#include "base/text/error.h"
#include "text/tokenizer/tokenizer.h"
#include "text/unicode/unicode.h"

#include <string.h>

/* Texts from here on are worth a cache of words. */
enum { WORTH_A_CACHE = 4096 };

typedef struct encoding {
    const mw_tokenizer *t;
    const char *text;
    size_t size;
    bool special_too;
    mw__subword_list words; /* of the part at hand, in bytes of what was made of it */
    mw__subword_list found; /* in bytes of the text */
    mw_error *err;
} encoding;

/* ---- one part of the text ---- */

/* Tokens of words stand for bytes of what was made of the text; from there to the text itself. */
static void take_words(encoding *e, const mw__aligned *made)
{
    for (size_t i = 0; i < e->words.count; i++) {
        const mw__subword w = e->words.items[i];
        size_t begin = mw__aligned_from(made, w.begin), end = mw__aligned_to(made, w.end - 1U);
        while (begin > 0 && ((unsigned char)e->text[begin] & 0xc0) == 0x80)
            begin--;
        while (end < e->size && ((unsigned char)e->text[end] & 0xc0) == 0x80)
            end++;
        mw__subword_put(&e->found, w.id, begin, end);
    }
    e->words.count = 0;
}

static mw_status encode_words(encoding *e, bool starts, mw__aligned *made)
{
    mw__cut_spans spans = {.allocator = made->allocator};
    mw_status status = mw__cut_run(e->t->splits, e->t->split_count, starts, made, &spans);
    for (size_t i = 0; i < spans.count && status == MW_OK; i++)
        status = mw__subword_run(&e->t->model, made->bytes, spans.items[i].begin, spans.items[i].end, &e->words);
    if (status == MW_OK)
        take_words(e, made);
    mw__cut_spans_deinit(&spans);
    return e->err->status;
}

static mw_status encode_slice(encoding *e, bool starts, const mw__aligned *whole, size_t begin, size_t end)
{
    if (begin == end)
        return MW_OK;
    mw__aligned slice =
        mw__aligned_of(whole->bytes + begin, end - begin, whole->first + begin, whole->allocator, e->err);
    if (whole->own != NULL) {
        slice = mw__aligned_begin(whole->allocator, end - begin, e->err);
        mw__aligned_copy(&slice, whole, begin, end - begin);
    }
    const mw_status status = encode_words(e, starts, &slice);
    mw__aligned_deinit(&slice);
    return status;
}

/* Tokens that are found in the normalized text, and what lies between them. */
static mw_status encode_normalized(encoding *e, bool starts, const mw__aligned *made)
{
    size_t at = 0;
    while (at < made->size) {
        const mw__added_match m = mw__added_find(e->t, true, made->bytes, made->size, at, e->special_too);
        MW_TRY(encode_slice(e, starts && at == 0, made, at, m.begin));
        if (m.token != NULL)
            MW_TRY(mw__subword_put(&e->found, m.token->id, mw__aligned_from(made, m.begin),
                                   mw__aligned_to(made, m.end - 1)));
        at = m.end;
    }
    return MW_OK;
}

static mw_status encode_part(encoding *e, size_t begin, size_t end)
{
    if (begin == end)
        return MW_OK;
    mw__aligned made = mw__aligned_of(e->text + begin, end - begin, begin, e->t->arena.allocator, e->err);
    mw_status status = mw__normalizer_run(e->t->normals, e->t->normal_count, &made);
    if (status == MW_OK)
        status = encode_normalized(e, begin == 0, &made);
    mw__aligned_deinit(&made);
    return status;
}

static mw_status encode_all(encoding *e)
{
    for (size_t at = 0; at < e->size;) {
        const mw__added_match m = mw__added_find(e->t, false, e->text, e->size, at, e->special_too);
        MW_TRY(encode_part(e, at, m.begin));
        if (m.token != NULL)
            MW_TRY(mw__subword_put(&e->found, m.token->id, m.begin, m.end));
        at = m.end;
    }
    return e->err->status;
}

/* ---- what is put around it ---- */

static size_t skip_chars_on(const char *text, size_t at, size_t end, size_t count)
{
    for (; count > 0 && at < end; count--)
        do
            at++;
        while (at < end && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

static size_t skip_chars_back(const char *text, size_t at, size_t begin, size_t count)
{
    for (; count > 0 && at > begin; count--)
        do
            at--;
        while (at > begin && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

/* An added token has what it took beside it. */
static void trim_added(const char *text, size_t *begin, size_t *end)
{
    while (*begin < *end) {
        const mw__char c = mw__unicode_read(text + *begin, text + *end);
        if ((c.class & MW__CHAR_SPACE) == 0)
            break;
        *begin += c.length;
    }
    while (*end > *begin) {
        const size_t before = skip_chars_back(text, *end, *begin, 1);
        if ((mw__unicode_read(text + before, text + *end).class & MW__CHAR_SPACE) == 0)
            break;
        *end = before;
    }
}

/* White space at the ends of a token is no part of what it stands for; one space in front of the text is what the
 * tokenizer put there itself. */
static void trim(const mw_tokenizer *t, const char *text, int32_t id, size_t *begin, size_t *end)
{
    const mw__added *added = (size_t)id < t->id_count ? t->by_id[id] : NULL;
    if (added != NULL) {
        trim_added(text, begin, end);
        return;
    }
    const mw__vocabulary_piece p = mw__vocabulary_at(&t->model.vocabulary, id);
    size_t before = 0, after = 0;
    while (before < p.size && p.text[before] == ' ')
        before++;
    while (after < p.size && p.text[p.size - 1 - after] == ' ')
        after++;
    if (before == 1 && t->trims_prefix && *begin == 0)
        before = 0;
    *begin = skip_chars_on(text, *begin, *end, before);
    *end = skip_chars_back(text, *end, *begin, after);
}

static void put_token(const encoding *e, mw_tokens *out, const mw__subword *token)
{
    size_t begin = token->begin, end = token->end;
    if (e->t->trims)
        trim(e->t, e->text, token->id, &begin, &end);
    out->ids[out->count] = token->id;
    out->begin[out->count] = begin;
    out->end[out->count++] = end;
}

static void put_parts(const encoding *e, bool no_special, mw_tokens *out)
{
    const mw_tokenizer *t = e->t;
    const mw__subword_list *found = &e->found;
    static const mw__template_part text_alone = {.is_text = true};
    const bool alone = no_special || t->part_count == 0;
    const mw__template_part *parts = alone ? &text_alone : t->parts;
    for (size_t i = 0; i < (alone ? 1 : t->part_count); i++) {
        if (!parts[i].is_text)
            out->ids[out->count++] = parts[i].id;
        for (size_t k = 0; parts[i].is_text && k < found->count; k++)
            put_token(e, out, &found->items[k]);
    }
}

static mw_status make_tokens(const encoding *e, bool no_special, mw_tokens *out, mw_error *err)
{
    const mw_tokenizer *t = e->t;
    const size_t most = e->found.count * (t->part_count > 0 ? t->part_count : 1) + t->part_count;
    out->ids = mw__alloc(NULL, most, sizeof *out->ids, err);
    out->begin = mw__alloc(NULL, most, sizeof *out->begin, err);
    out->end = mw__alloc(NULL, most, sizeof *out->end, err);
    if (out->ids == NULL || out->begin == NULL || out->end == NULL) {
        mw_tokens_destroy(out);
        return MW_ERROR_MEMORY;
    }
    put_parts(e, no_special, out);
    return MW_OK;
}

/* ---- the interface ---- */

void mw_tokens_destroy(mw_tokens *tokens)
{
    if (tokens == NULL)
        return;
    mw__free(NULL, tokens->ids);
    mw__free(NULL, tokens->begin);
    mw__free(NULL, tokens->end);
    *tokens = (mw_tokens){0};
}

mw_encode_options mw_encode_defaults(void) { return (mw_encode_options){.struct_size = sizeof(mw_encode_options)}; }

static mw_status check_encode(const mw_tokenizer *t, const char *text, size_t size, const mw_encode_options *o,
                              const mw_tokens *out, mw_error *err)
{
    MW_TRY(mw__live_check(t, MW__LIVE_TOKENIZER, "mw_tokenizer_encode", err));
    if ((text == NULL && size > 0) || out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "encode: no %s", out == NULL ? "list" : "text");
    if (size >= UINT32_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "encode: a text of %zu bytes; at most 4294967294 at a time", size);
    if (o != NULL && o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "encode: options are made with mw_encode_defaults");
    return MW_OK;
}

mw_status mw_tokenizer_encode(const mw_tokenizer *tokenizer, const char *text, size_t size,
                              const mw_encode_options *options, mw_tokens *out, mw_error *err)
{
    if (mw__skips(err))
        return err->status;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    MW_TRY(check_encode(tokenizer, text, size, options, out, err));
    const mw_encode_options o = options != NULL ? *options : mw_encode_defaults();
    const mw_allocator *allocator = tokenizer->arena.allocator;
    encoding e = {.t = tokenizer,
                  .text = size > 0 ? text : "",
                  .size = size,
                  .special_too = !o.special_as_text,
                  .words = {.allocator = allocator, .err = err},
                  .found = {.allocator = allocator, .err = err},
                  .err = err};
    *out = (mw_tokens){0};
    mw_status status = size >= WORTH_A_CACHE ? mw__subword_bpe_cache(&e.words) : MW_OK;
    status = status == MW_OK ? encode_all(&e) : status;
    if (status == MW_OK)
        status = make_tokens(&e, o.no_special, out, err);
    mw__subword_list_deinit(&e.words);
    mw__subword_list_deinit(&e.found);
    return status;
}
