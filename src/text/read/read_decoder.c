/* Decoders and post-processors of tokenizer.json. */
#include "base/text/error.h"
#include "text/read/read.h"

#include <string.h>

static mw_status add_kept(mw_tokenizer *t, mw__decode_step step, mw_error *err)
{
    step.from = mw__read_keep(t, step.from, err);
    step.to = mw__read_keep(t, step.to, err);
    return step.from != NULL && step.to != NULL ? mw__read_add_decode(t, step, err) : MW_ERROR_MEMORY;
}

/* ---- decoders ---- */

static mw_status nothing_to_do(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    (void)t, (void)node, (void)err;
    return MW_OK;
}

static mw_status read_replaced(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const char *from = mw__tree_text(mw__tree_find(node, "pattern"), "String");
    if (from == NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "the decoder Replace has no text that it replaces");
    return add_kept(
        t, (mw__decode_step){.kind = MW__DECODE_REPLACE, .from = from, .to = mw__tree_text(node, "content")}, err);
}

static mw_status read_fallback(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    (void)node;
    return add_kept(t, (mw__decode_step){.kind = MW__DECODE_FALLBACK}, err);
}

static mw_status read_stripped(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const double start = mw__tree_number(node, "start", 0.0);
    if (mw__tree_number(node, "stop", 0.0) != 0.0 || !(start >= 0.0 && start < 1e6))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "the decoder Strip takes from the end of the text, too");
    return add_kept(
        t, (mw__decode_step){.kind = MW__DECODE_STRIP, .from = mw__tree_text(node, "content"), .count = (size_t)start},
        err);
}

static mw_status read_word_pieces(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const char *prefix = mw__tree_text(node, "prefix");
    MW_TRY(add_kept(t, (mw__decode_step){.kind = MW__DECODE_WORDPIECE, .from = prefix != NULL ? prefix : "##"}, err));
    if (!mw__tree_bool(node, "cleanup", true))
        return MW_OK;
    return add_kept(t, (mw__decode_step){.kind = MW__DECODE_CLEANUP}, err);
}

static mw_status read_spaces(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const char *mark = mw__tree_text(node, "replacement"), *scheme = mw__tree_text(node, "prepend_scheme");
    const bool never = scheme != NULL ? strcmp(scheme, "never") == 0 : !mw__tree_bool(node, "add_prefix_space", true);
    MW_TRY(add_kept(
        t, (mw__decode_step){.kind = MW__DECODE_REPLACE, .from = mark != NULL ? mark : "\xe2\x96\x81", .to = " "},
        err));
    return never ? MW_OK : add_kept(t, (mw__decode_step){.kind = MW__DECODE_PREFIX}, err);
}

static mw_status read_suffix(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const char *suffix = mw__tree_text(node, "suffix");
    return add_kept(t, (mw__decode_step){.kind = MW__DECODE_SUFFIX, .from = suffix != NULL ? suffix : "</w>"}, err);
}

mw_status mw__read_decoder(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    static const mw__read_row rows[] = {
        {"ByteLevel", nothing_to_do}, {"Fuse", nothing_to_do},         {"Replace", read_replaced},
        {"Strip", read_stripped},     {"ByteFallback", read_fallback}, {"WordPiece", read_word_pieces},
        {"Metaspace", read_spaces},   {"BPEDecoder", read_suffix},
    };
    return mw__read_by_type(rows, sizeof rows / sizeof *rows, "decoder", "decoders", t, node, err);
}

/* ---- post-processors ---- */

static mw_status add_text(mw_tokenizer *t, mw_error *err)
{
    return mw__read_add_part(t, (mw__template_part){.is_text = true, .id = -1}, err);
}

static mw_status add_numbers(mw_tokenizer *t, const mw__json_node *specials, const char *name, mw_error *err)
{
    const mw__json_node *special = mw__tree_find(specials, name), *ids = mw__tree_find(special, "ids");
    if (!mw__tree_is(ids, MW__JSON_IS_ARRAY))
        return mw__fail(err, MW_ERROR_FORMAT, "the post-processor puts \"%.60s\" around a text, which has no number",
                        name != NULL ? name : "");
    for (const mw__json_node *id = ids->first; id != NULL; id = id->next)
        MW_TRY(mw__read_add_part(t, (mw__template_part){.id = (int32_t)id->number}, err));
    return MW_OK;
}

static mw_status read_template(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const mw__json_node *single = mw__tree_find(node, "single"), *specials = mw__tree_find(node, "special_tokens");
    if (!mw__tree_is(single, MW__JSON_IS_ARRAY))
        return mw__fail(err, MW_ERROR_FORMAT, "the post-processor TemplateProcessing has no \"single\"");
    for (const mw__json_node *part = single->first; part != NULL; part = part->next) {
        const mw__json_node *special = mw__tree_find(part, "SpecialToken");
        if (special == NULL)
            MW_TRY(add_text(t, err));
        else
            MW_TRY(add_numbers(t, specials, mw__tree_text(special, "id"), err));
    }
    return MW_OK;
}

/* ["</s>", 2] */
static mw_status add_pair(mw_tokenizer *t, const mw__json_node *node, const char *key, mw_error *err)
{
    const mw__json_node *pair = mw__tree_find(node, key);
    if (!mw__tree_is(pair, MW__JSON_IS_ARRAY) || pair->count != 2 || pair->last->kind != MW__JSON_IS_NUMBER)
        return mw__fail(err, MW_ERROR_FORMAT, "the post-processor has no \"%s\" of a text and a number", key);
    return mw__read_add_part(t, (mw__template_part){.id = (int32_t)pair->last->number}, err);
}

static mw_status read_around(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    MW_TRY(add_pair(t, node, "cls", err));
    MW_TRY(add_text(t, err));
    return add_pair(t, node, "sep", err);
}

static mw_status read_trim(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    (void)err;
    t->trims = mw__tree_bool(node, "trim_offsets", true);
    t->trims_prefix = mw__tree_bool(node, "add_prefix_space", true);
    return MW_OK;
}

static mw_status read_roberta(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    MW_TRY(read_trim(t, node, err));
    return read_around(t, node, err);
}

mw_status mw__read_post_processor(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    static const mw__read_row rows[] = {
        {"TemplateProcessing", read_template},
        {"ByteLevel", read_trim},
        {"RobertaProcessing", read_roberta},
        {"BertProcessing", read_around},
    };
    return mw__read_by_type(rows, sizeof rows / sizeof *rows, "post-processor", "processors", t, node, err);
}
