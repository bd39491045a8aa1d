/* tokenizer.json of what was learned. */
#include "text/train/train.h"

#include "base/file/file.h"
#include "base/text/error.h"
#include "base/text/json_write.h"
#include "base/text/utf8.h"

/* Bytes that print are themselves, the others follow from 256 on, as GPT-2 has them. */
uint32_t mw__bpe_learned_code(int byte)
{
    const bool prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    if (prints)
        return (uint32_t)byte;
    return 256 + (uint32_t)(byte <= 32 ? byte : byte <= 160 ? byte - 94 : 67);
}

static void put_spelled(mw__text *out, mw__vocabulary_piece piece)
{
    for (uint32_t i = 0; i < piece.size; i++)
        mw__utf8_put(out, mw__bpe_learned_code((unsigned char)piece.text[i]));
}

/* ---- parts ---- */

static void add_byte_level(mw__json_writer *json, const char *key, bool cuts)
{
    mw__json_open(json, key, '{');
    mw__json_add_string(json, "type", "ByteLevel");
    mw__json_add_bool(json, "add_prefix_space", false);
    mw__json_add_bool(json, "trim_offsets", true);
    mw__json_add_bool(json, "use_regex", cuts);
    mw__json_close(json, '}');
}

static void add_pre_tokenizer(mw__json_writer *json, const char *pattern)
{
    if (pattern == NULL) {
        add_byte_level(json, "pre_tokenizer", true);
        return;
    }
    mw__json_open(json, "pre_tokenizer", '{');
    mw__json_add_string(json, "type", "Sequence");
    mw__json_open(json, "pretokenizers", '[');
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "type", "Split");
    mw__json_open(json, "pattern", '{');
    mw__json_add_string(json, "Regex", pattern);
    mw__json_close(json, '}');
    mw__json_add_string(json, "behavior", "Isolated");
    mw__json_add_bool(json, "invert", false);
    mw__json_close(json, '}');
    add_byte_level(json, NULL, false);
    mw__json_close(json, ']');
    mw__json_close(json, '}');
}

static void add_special(mw__json_writer *json, const mw__bpe_learned *l)
{
    mw__json_open(json, "added_tokens", '[');
    for (size_t i = 0; i < l->special_count; i++) {
        mw__json_break(json);
        mw__json_open(json, NULL, '{');
        mw__json_add_integer(json, "id", (int64_t)i);
        mw__json_add_string(json, "content", l->special[i]);
        static const char *const off[] = {"single_word", "lstrip", "rstrip", "normalized"};
        for (size_t k = 0; k < sizeof off / sizeof *off; k++)
            mw__json_add_bool(json, off[k], false);
        mw__json_add_bool(json, "special", true);
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
}

/* ---- the model ---- */

static void add_vocabulary(mw__json_writer *json, const mw__bpe_learned *l, mw__text *spelled)
{
    mw__json_open(json, "vocab", '{');
    for (size_t i = 0; i < l->vocabulary->count; i++) {
        mw__json_break(json);
        if (i < l->special_count) {
            mw__json_add_integer(json, l->special[i], (int64_t)i);
            continue;
        }
        spelled->size = 0;
        put_spelled(spelled, l->vocabulary->pieces[i]);
        if (!spelled->failed)
            mw__json_add_integer(json, spelled->data, (int64_t)i);
    }
    mw__json_close(json, '}');
}

static void add_merges(mw__json_writer *json, const mw__bpe_learned *l, mw__text *spelled)
{
    mw__json_open(json, "merges", '[');
    for (size_t i = 0; i < l->merge_count; i++) {
        spelled->size = 0;
        put_spelled(spelled, mw__vocabulary_at(l->vocabulary, l->merges[i].left));
        mw__text_puts(spelled, " ");
        put_spelled(spelled, mw__vocabulary_at(l->vocabulary, l->merges[i].right));
        mw__json_break(json);
        if (!spelled->failed)
            mw__json_add_string(json, NULL, spelled->data);
    }
    mw__json_close(json, ']');
}

static void add_model(mw__json_writer *json, const mw__bpe_learned *l, mw__text *spelled)
{
    static const char *const none[] = {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"};
    static const char *const off[] = {"fuse_unk", "byte_fallback", "ignore_merges"};
    mw__json_open(json, "model", '{');
    mw__json_add_string(json, "type", "BPE");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        mw__json_add_null(json, none[i]);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        mw__json_add_bool(json, off[i], false);
    add_vocabulary(json, l, spelled);
    add_merges(json, l, spelled);
    mw__json_close(json, '}');
}

static void add_all(mw__json_writer *json, const mw__bpe_learned *l, mw__text *spelled)
{
    static const char *const none[] = {"truncation", "padding", "normalizer"};
    json->style = MW__JSON_EXACT;
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "version", "1.0");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        mw__json_add_null(json, none[i]);
    add_special(json, l);
    add_pre_tokenizer(json, l->pattern);
    add_byte_level(json, "post_processor", true);
    add_byte_level(json, "decoder", true);
    add_model(json, l, spelled);
    mw__json_close(json, '}');
    mw__text_puts(&json->text, "\n");
}

mw_status mw__bpe_learned_write(const mw__bpe_learned *learned, const char *path, mw_error *err)
{
    mw__json_writer json;
    mw__text spelled;
    mw__json_writer_init(&json, NULL, false);
    mw__text_init(&spelled, NULL);
    add_all(&json, learned, &spelled);
    mw_status status = mw__text_check(&spelled, err);
    if (status == MW_OK)
        status = mw__text_check(&json.text, err);
    if (status == MW_OK)
        status = mw__file_write(mw__allocator_default(), path, json.text.data, json.text.size, true, err);
    mw__text_deinit(&spelled);
    mw__json_writer_deinit(&json);
    return status;
}
