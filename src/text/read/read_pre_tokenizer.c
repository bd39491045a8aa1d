/* Pre-tokenizers of tokenizer.json. */
#include "base/text/error.h"
#include "text/read/read.h"
#include "text/unicode/unicode.h"

#include <string.h>

static mw_status add_scanner(mw_tokenizer *t, mw__scanner *scanner, mw_error *err)
{
    if (!mw__unicode_is_whole())
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "the pre-tokenizer needs libutf8proc; the library was built without it");
    return mw__read_add_split(t, (mw__split_step){.kind = MW__SPLIT_SCANNER, .scanner = scanner}, err);
}

static mw_status read_byte_level(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    if (mw__tree_bool(node, "add_prefix_space", true))
        MW_TRY(mw__read_add_split(t, (mw__split_step){.kind = MW__SPLIT_PREFIX}, err));
    if (!mw__tree_bool(node, "use_regex", true))
        return MW_OK;
    return add_scanner(t, mw__scanner_of(mw__scanner_gpt2_pattern), err);
}

static mw_status read_behavior(const mw__json_node *node, mw__split_behavior *out, mw_error *err)
{
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
    const char *name = mw__tree_text(node, "behavior");
    for (size_t i = 0; name != NULL && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (mw__split_behavior)i;
            return MW_OK;
        }
    return mw__fail(err, MW_ERROR_FORMAT, "a pre-tokenizer has the behavior \"%.40s\"", name != NULL ? name : "");
}

static mw_status read_regex(mw_tokenizer *t, const char *regex, mw__split_step step, mw_error *err)
{
    mw__scanner *scanner = mw__scanner_of(regex);
    const bool whole = step.behavior == MW__SPLIT_ISOLATED || (step.behavior == MW__SPLIT_REMOVED && step.invert);
    if (scanner != NULL && whole)
        return add_scanner(t, scanner, err);
    step.kind = MW__SPLIT_REGEX;
    step.regex = mw__regex_create(regex, err);
    return step.regex != NULL ? mw__read_add_split(t, step, err) : err->status;
}

static mw_status read_split(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const mw__json_node *pattern = mw__tree_find(node, "pattern");
    const char *text = mw__tree_text(pattern, "String"), *regex = mw__tree_text(pattern, "Regex");
    mw__split_step step = {.kind = MW__SPLIT_TEXT, .invert = mw__tree_bool(node, "invert", false)};
    MW_TRY(read_behavior(node, &step.behavior, err));
    if (regex != NULL)
        return read_regex(t, regex, step, err);
    if (text == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "the pre-tokenizer Split has no pattern");
    step.content = mw__read_keep(t, text, err);
    return step.content != NULL ? mw__read_add_split(t, step, err) : MW_ERROR_MEMORY;
}

/* Older files say add_prefix_space, newer ones prepend_scheme. */
static mw__prepend prepend_of(const mw__json_node *node)
{
    const char *scheme = mw__tree_text(node, "prepend_scheme");
    if (scheme == NULL)
        return mw__tree_bool(node, "add_prefix_space", true) ? MW__PREPEND_ALWAYS : MW__PREPEND_NEVER;
    return strcmp(scheme, "always") == 0  ? MW__PREPEND_ALWAYS
           : strcmp(scheme, "first") == 0 ? MW__PREPEND_FIRST
                                          : MW__PREPEND_NEVER;
}

static mw_status read_metaspace(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const char *mark = mw__tree_text(node, "replacement");
    const char *content = mw__read_keep(t, mark != NULL ? mark : "\xe2\x96\x81", err);
    if (content == NULL)
        return MW_ERROR_MEMORY;
    return mw__read_add_split(t,
                              (mw__split_step){.kind = MW__SPLIT_METASPACE,
                                               .behavior = MW__SPLIT_MERGED_WITH_NEXT,
                                               .prepend = prepend_of(node),
                                               .cuts = mw__tree_bool(node, "split", true),
                                               .content = content},
                              err);
}

static mw_status read_whitespace(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    (void)node;
    return mw__read_add_split(
        t, (mw__split_step){.kind = MW__SPLIT_WHITESPACE, .behavior = MW__SPLIT_REMOVED, .invert = true}, err);
}

static mw_status read_whitespace_split(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    (void)node;
    return mw__read_add_split(t, (mw__split_step){.kind = MW__SPLIT_WHITESPACE_SPLIT, .behavior = MW__SPLIT_REMOVED},
                              err);
}

static mw_status read_punctuation(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    mw__split_step step = {.kind = MW__SPLIT_PUNCTUATION, .behavior = MW__SPLIT_ISOLATED};
    if (mw__tree_text(node, "behavior") != NULL)
        MW_TRY(read_behavior(node, &step.behavior, err));
    return mw__read_add_split(t, step, err);
}

static mw_status read_bert_cuts(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    MW_TRY(read_whitespace_split(t, node, err));
    return mw__read_add_split(t, (mw__split_step){.kind = MW__SPLIT_PUNCTUATION, .behavior = MW__SPLIT_ISOLATED}, err);
}

static mw_status read_digits(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const bool single = mw__tree_bool(node, "individual_digits", false);
    return mw__read_add_split(
        t, (mw__split_step){.kind = MW__SPLIT_DIGITS, .behavior = MW__SPLIT_ISOLATED, .single = single}, err);
}

mw_status mw__read_pre_tokenizer(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    static const mw__read_row rows[] = {
        {"ByteLevel", read_byte_level},
        {"Split", read_split},
        {"Metaspace", read_metaspace},
        {"Whitespace", read_whitespace},
        {"WhitespaceSplit", read_whitespace_split},
        {"Punctuation", read_punctuation},
        {"BertPreTokenizer", read_bert_cuts},
        {"Digits", read_digits},
    };
    return mw__read_by_type(rows, sizeof rows / sizeof *rows, "pre-tokenizer", "pretokenizers", t, node, err);
}
