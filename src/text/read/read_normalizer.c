/* Normalizers of tokenizer.json. */
#include "base/text/error.h"
#include "text/read/read.h"
#include "text/unicode/unicode.h"

#include <string.h>

static mw_status needs_unicode(const char *what, mw_error *err)
{
    if (mw__unicode_is_whole())
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s needs libutf8proc; the library was built without it", what);
}

static mw_status add_kind(mw_tokenizer *t, mw__normal_kind kind, mw_error *err)
{
    MW_TRY(needs_unicode("the normalizer", err));
    return mw__read_add_normal(t, (mw__normal_step){.kind = kind}, err);
}

static mw_status read_form(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const char *type = mw__tree_text(node, "type");
    const bool compatible = strlen(type) == 4, composes = type[strlen(type) - 1] == 'C';
    return add_kind(t,
                    compatible ? composes ? MW__NORMAL_NFKC : MW__NORMAL_NFKD
                    : composes ? MW__NORMAL_NFC
                               : MW__NORMAL_NFD,
                    err);
}

static mw_status read_lowercase(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    (void)node;
    return add_kind(t, MW__NORMAL_LOWERCASE, err);
}

static mw_status read_strip_accents(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    (void)node;
    return add_kind(t, MW__NORMAL_STRIP_ACCENTS, err);
}

static mw_status read_nmt(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    (void)node;
    return add_kind(t, MW__NORMAL_NMT, err);
}

static mw_status read_strip(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    return mw__read_add_normal(t,
                               (mw__normal_step){.kind = MW__NORMAL_STRIP,
                                                 .left = mw__tree_bool(node, "strip_left", true),
                                                 .right = mw__tree_bool(node, "strip_right", true)},
                               err);
}

static mw_status read_prepend(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const char *content = mw__read_keep(t, mw__tree_text(node, "prepend"), err);
    return content == NULL
               ? MW_ERROR_MEMORY
               : mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_PREPEND, .content = content}, err);
}

static mw_status read_replace(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const mw__json_node *pattern = mw__tree_find(node, "pattern");
    const char *text = mw__tree_text(pattern, "String"), *regex = mw__tree_text(pattern, "Regex");
    mw__normal_step step = {.kind = regex != NULL ? MW__NORMAL_REPLACE_REGEX : MW__NORMAL_REPLACE};
    if (text == NULL && regex == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "the normalizer Replace has no pattern");
    step.text = mw__read_keep(t, text != NULL ? text : regex, err);
    step.content = mw__read_keep(t, mw__tree_text(node, "content"), err);
    if (step.text == NULL || step.content == NULL)
        return MW_ERROR_MEMORY;
    step.regex = regex != NULL ? mw__regex_create(regex, err) : NULL;
    if (regex != NULL && step.regex == NULL)
        return err->status;
    return mw__read_add_normal(t, step, err);
}

/* Accents go with the case unless it is said otherwise. */
static mw_status read_bert(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const bool lower = mw__tree_bool(node, "lowercase", true);
    const bool strips = mw__tree_bool(node, "strip_accents", lower);
    if (mw__tree_bool(node, "clean_text", true))
        MW_TRY(add_kind(t, MW__NORMAL_CLEAN, err));
    if (mw__tree_bool(node, "handle_chinese_chars", true))
        MW_TRY(add_kind(t, MW__NORMAL_CJK, err));
    if (strips) {
        MW_TRY(add_kind(t, MW__NORMAL_NFD, err));
        MW_TRY(add_kind(t, MW__NORMAL_STRIP_ACCENTS, err));
    }
    return lower ? add_kind(t, MW__NORMAL_LOWERCASE, err) : MW_OK;
}

/* ---- the table of a SentencePiece model, in base 64 ---- */

static int sextet(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

static size_t read_base64(const char *text, size_t size, char *out)
{
    size_t count = 0;
    uint32_t bits = 0;
    int held = 0;
    for (size_t i = 0; i < size && text[i] != '='; i++) {
        const int value = sextet(text[i]);
        if (value < 0)
            return 0;
        bits = bits << 6 | (uint32_t)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[count++] = (char)(bits >> held);
        }
    }
    return count;
}

static mw_status read_precompiled(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const mw__json_node *map = mw__tree_find(node, "precompiled_charsmap");
    if (!mw__tree_is(map, MW__JSON_IS_TEXT) || map->length == 0)
        return MW_OK;
    char *data = mw__arena_alloc(&t->arena, map->length, 1, err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    const size_t size = read_base64(map->text, map->length, data);
    const struct mw__charsmap *charsmap = mw__normalizer_read_charsmap(&t->arena, data, size, err);
    if (charsmap == NULL)
        return err->status;
    return mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_CHARSMAP, .charsmap = charsmap}, err);
}

/* The bytes are bytes here anyway; the model has been told already. */
static mw_status read_bytes(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    (void)t, (void)node, (void)err;
    return MW_OK;
}

mw_status mw__read_normalizer(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    static const mw__read_row rows[] = {
        {"NFC", read_form},
        {"NFD", read_form},
        {"NFKC", read_form},
        {"NFKD", read_form},
        {"Nmt", read_nmt},
        {"Lowercase", read_lowercase},
        {"Strip", read_strip},
        {"Replace", read_replace},
        {"StripAccents", read_strip_accents},
        {"Prepend", read_prepend},
        {"ByteLevel", read_bytes},
        {"BertNormalizer", read_bert},
        {"Precompiled", read_precompiled},
    };
    return mw__read_by_type(rows, sizeof rows / sizeof *rows, "normalizer", "normalizers", t, node, err);
}
