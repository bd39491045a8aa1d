/* The steps of a tokenizer as tokenizer.json names them: its normalizer, its cuts, and how tokens become text again. */
#include "text/pretrained/save_tokenizer.h"

#include <string.h>

static void open_part(mw__saving_json *s, const char *key, const char *type)
{
    mw__json_open(&s->json, key, '{');
    mw__json_add_string(&s->json, "type", type);
}

static void close_part(mw__saving_json *s) { mw__json_close(&s->json, '}'); }

static void put_simple(mw__saving_json *s, const char *type)
{
    open_part(s, NULL, type);
    close_part(s);
}

/* A list of parts; one is as good in it as several. */
static void open_list(mw__saving_json *s, const char *key, const char *name)
{
    open_part(s, key, "Sequence");
    mw__json_open(&s->json, name, '[');
}

static void close_list(mw__saving_json *s)
{
    mw__json_close(&s->json, ']');
    close_part(s);
}

/* ---- the normalizer ---- */

static void put_replace(mw__saving_json *s, const char *kind, const char *pattern, const char *content)
{
    open_part(s, NULL, "Replace");
    mw__json_open(&s->json, "pattern", '{');
    mw__json_add_string(&s->json, kind, pattern);
    mw__json_close(&s->json, '}');
    mw__json_add_string(&s->json, "content", content);
    close_part(s);
}

/* In base 64. */
static void put_table(mw__saving_json *s, const struct mw__charsmap *map)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size;
    const unsigned char *data = (const unsigned char *)mw__normalizer_charsmap_data(map, &size);
    s->text.size = 0;
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t bits = (uint32_t)data[i] << 16 | (i + 1 < size ? (uint32_t)data[i + 1] << 8 : 0) |
                              (i + 2 < size ? data[i + 2] : 0);
        char four[4];
        for (size_t k = 0; k < 4; k++)
            four[k] = i + k > size ? '=' : digits[bits >> (18 - 6 * k) & 63];
        mw__text_append(&s->text, four, 4);
    }
    open_part(s, NULL, "Precompiled");
    mw__json_add_string(&s->json, "precompiled_charsmap", s->text.failed ? "" : s->text.data);
    close_part(s);
}

/* BERT's steps from `at` on, as one; how many they are. */
static size_t put_bert(mw__saving_json *s, size_t at)
{
    const mw_tokenizer *t = s->tokenizer;
    const mw__normal_step *steps = t->normals + at;
    const size_t left = t->normal_count - at;
    if (left < 2 || steps[1].kind != MW__NORMAL_CJK)
        return 0;
    const bool strips = left >= 4 && steps[2].kind == MW__NORMAL_NFD && steps[3].kind == MW__NORMAL_STRIP_ACCENTS;
    const size_t next = strips ? 4 : 2;
    const bool lower = left > next && steps[next].kind == MW__NORMAL_LOWERCASE;
    open_part(s, NULL, "BertNormalizer");
    mw__json_add_bool(&s->json, "clean_text", true);
    mw__json_add_bool(&s->json, "handle_chinese_chars", true);
    mw__json_add_bool(&s->json, "strip_accents", strips);
    mw__json_add_bool(&s->json, "lowercase", lower);
    close_part(s);
    return next + lower;
}

/* Of two spaces at an end one is left by the first. */
static void put_collapse(mw__saving_json *s)
{
    put_replace(s, "Regex", " {2,}", " ");
    put_replace(s, "Regex", "\\A | \\z", "");
}

static const char *plain_normal(mw__normal_kind kind)
{
    static const struct {
        mw__normal_kind kind;
        const char *type;
    } rows[] = {{MW__NORMAL_NFC, "NFC"},
                {MW__NORMAL_NFD, "NFD"},
                {MW__NORMAL_NFKC, "NFKC"},
                {MW__NORMAL_NFKD, "NFKD"},
                {MW__NORMAL_NMT, "Nmt"},
                {MW__NORMAL_STRIP_ACCENTS, "StripAccents"},
                {MW__NORMAL_LOWERCASE, "Lowercase"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind)
            return rows[i].type;
    return NULL;
}

/* Steps from `at` on; how many they are, 0 = there is no form for them. */
static size_t put_normal(mw__saving_json *s, size_t at)
{
    const mw__normal_step *step = &s->tokenizer->normals[at];
    const char *plain = plain_normal(step->kind);
    if (step->kind == MW__NORMAL_CLEAN)
        return put_bert(s, at);
    if (plain != NULL)
        put_simple(s, plain);
    else if (step->kind == MW__NORMAL_CHARSMAP)
        put_table(s, step->charsmap);
    else if (step->kind == MW__NORMAL_COLLAPSE)
        put_collapse(s);
    else if (step->kind == MW__NORMAL_REPLACE)
        put_replace(s, "String", step->text, step->content);
    else if (step->kind == MW__NORMAL_PREPEND) {
        open_part(s, NULL, "Prepend");
        mw__json_add_string(&s->json, "prepend", step->content);
        close_part(s);
    } else
        return 0;
    return 1;
}

mw_status mw__saving_put_normalizer(mw__saving_json *s)
{
    const size_t count = s->tokenizer->normal_count;
    if (count == 0) {
        mw__json_add_null(&s->json, "normalizer");
        return MW_OK;
    }
    open_list(s, "normalizer", "normalizers");
    for (size_t at = 0, some; at < count; at += some) {
        some = put_normal(s, at);
        if (some == 0)
            return mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: step %zu of the normalizer has no form", at);
    }
    close_list(s);
    return MW_OK;
}

/* ---- cuts ---- */

static void put_byte_level(mw__saving_json *s, const char *key, bool cuts)
{
    open_part(s, key, "ByteLevel");
    mw__json_add_bool(&s->json, "add_prefix_space", false);
    mw__json_add_bool(&s->json, "trim_offsets", false);
    mw__json_add_bool(&s->json, "use_regex", cuts);
    close_part(s);
}

/* The pattern of a scanner; NULL for one without a name. */
static const char *pattern_of(const mw__split_step *step)
{
    static const char *const names[] = {"gpt2", "cl100k", "qwen2", "o200k"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mw__scanner_of(mw__scanner_pattern(names[i])) == step->scanner)
            return mw__scanner_pattern(names[i]);
    return NULL;
}

static bool put_scanner(mw__saving_json *s, const mw__split_step *step)
{
    const char *pattern = pattern_of(step);
    if (pattern == NULL || !s->tokenizer->model.byte_level)
        return false;
    if (strcmp(pattern, mw__scanner_gpt2_pattern) == 0) {
        put_byte_level(s, NULL, true);
        return true;
    }
    open_part(s, NULL, "Split");
    mw__json_open(&s->json, "pattern", '{');
    mw__json_add_string(&s->json, "Regex", pattern);
    mw__json_close(&s->json, '}');
    mw__json_add_string(&s->json, "behavior", "Isolated");
    mw__json_add_bool(&s->json, "invert", false);
    close_part(s);
    put_byte_level(s, NULL, false);
    return true;
}

static void put_marks(mw__saving_json *s, const mw__split_step *step)
{
    static const char *const schemes[] = {
        [MW__PREPEND_NEVER] = "never", [MW__PREPEND_FIRST] = "first", [MW__PREPEND_ALWAYS] = "always"};
    open_part(s, NULL, "Metaspace");
    mw__json_add_string(&s->json, "replacement", step->content);
    mw__json_add_string(&s->json, "prepend_scheme", schemes[step->prepend]);
    mw__json_add_bool(&s->json, "split", step->cuts);
    close_part(s);
}

static bool put_punctuation(mw__saving_json *s, const mw__split_step *step)
{
    open_part(s, NULL, "Punctuation");
    mw__json_add_string(&s->json, "behavior", "Isolated");
    close_part(s);
    return step->behavior == MW__SPLIT_ISOLATED;
}

static bool put_cut(mw__saving_json *s, const mw__split_step *step)
{
    if (step->kind == MW__SPLIT_SCANNER)
        return put_scanner(s, step);
    if (step->kind == MW__SPLIT_PUNCTUATION)
        return put_punctuation(s, step);
    if (step->kind == MW__SPLIT_METASPACE)
        put_marks(s, step);
    else if (step->kind == MW__SPLIT_WHITESPACE_SPLIT || step->kind == MW__SPLIT_BERT)
        put_simple(s, step->kind == MW__SPLIT_BERT ? "BertPreTokenizer" : "WhitespaceSplit");
    else if (step->kind == MW__SPLIT_DIGITS) {
        open_part(s, NULL, "Digits");
        mw__json_add_bool(&s->json, "individual_digits", step->single);
        close_part(s);
    } else
        return false;
    return true;
}

mw_status mw__saving_put_cuts(mw__saving_json *s)
{
    const mw_tokenizer *t = s->tokenizer;
    if (t->split_count == 0 && !t->model.byte_level) {
        mw__json_add_null(&s->json, "pre_tokenizer");
        return MW_OK;
    }
    bool known = t->split_count > 0;
    open_list(s, "pre_tokenizer", "pretokenizers");
    for (size_t i = 0; i < t->split_count; i++)
        known = known && put_cut(s, &t->splits[i]);
    close_list(s);
    return known ? MW_OK
                 : mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: how this tokenizer cuts words has no form");
}

/* ---- decoding ---- */

static bool has_decode(const mw_tokenizer *t, mw__decode_kind kind)
{
    for (size_t i = 0; i < t->decode_count; i++)
        if (t->decodes[i].kind == kind)
            return true;
    return false;
}

/* Marks are spaces again, bytes are put together, and the first space goes. */
static mw_status put_mark_decoder(mw__saving_json *s)
{
    const mw_tokenizer *t = s->tokenizer;
    open_list(s, "decoder", "decoders");
    for (size_t i = 0; i < t->decode_count; i++)
        if (t->decodes[i].kind == MW__DECODE_REPLACE)
            put_replace(s, "String", t->decodes[i].from, t->decodes[i].to);
        else if (t->decodes[i].kind != MW__DECODE_FALLBACK && t->decodes[i].kind != MW__DECODE_PREFIX)
            return mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: step %zu of decoding has no form", i);
    if (has_decode(t, MW__DECODE_FALLBACK))
        put_simple(s, "ByteFallback");
    put_simple(s, "Fuse");
    if (has_decode(t, MW__DECODE_PREFIX)) {
        open_part(s, NULL, "Strip");
        mw__json_add_string(&s->json, "content", " ");
        mw__json_add_integer(&s->json, "start", 1);
        mw__json_add_integer(&s->json, "stop", 0);
        close_part(s);
    }
    close_list(s);
    return MW_OK;
}

mw_status mw__saving_put_decoder(mw__saving_json *s)
{
    const mw_tokenizer *t = s->tokenizer;
    if (t->model.byte_level) {
        put_byte_level(s, "decoder", true);
        return MW_OK;
    }
    if (!has_decode(t, MW__DECODE_WORDPIECE))
        return put_mark_decoder(s);
    open_part(s, "decoder", "WordPiece");
    mw__json_add_string(&s->json, "prefix", t->decodes[0].from);
    mw__json_add_bool(&s->json, "cleanup", has_decode(t, MW__DECODE_CLEANUP));
    close_part(s);
    return MW_OK;
}
