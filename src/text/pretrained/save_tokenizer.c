/* Writes tokenizer.json of a tokenizer that came in another form, and tokenizer_config.json beside it. */
#include "text/pretrained/save_tokenizer.h"
#include "base/text/utf8.h"

#include <millwright/tensors.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens beside the model ---- */

static mw_status put_added(mw__saving_json *s)
{
    const mw_tokenizer *t = s->tokenizer;
    mw__json_open(&s->json, "added_tokens", '[');
    for (size_t i = 0; i < t->added_count; i++) {
        const mw__added *a = &t->added[i];
        if (a->hidden || strlen(a->text) != a->size || !mw__utf8_check(a->text))
            return mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: \"%.60s\" is %s", a->text,
                            a->hidden ? "found in no text" : "no text of UTF-8");
        mw__json_break(&s->json);
        mw__json_open(&s->json, NULL, '{');
        mw__json_add_integer(&s->json, "id", a->id);
        mw__json_add_string(&s->json, "content", a->text);
        mw__json_add_bool(&s->json, "single_word", a->single_word);
        mw__json_add_bool(&s->json, "lstrip", a->strips_left);
        mw__json_add_bool(&s->json, "rstrip", a->strips_right);
        mw__json_add_bool(&s->json, "normalized", a->normalized);
        mw__json_add_bool(&s->json, "special", a->special);
        mw__json_close(&s->json, '}');
    }
    mw__json_close(&s->json, ']');
    return MW_OK;
}

/* ---- around a text ---- */

static void put_template_part(mw__saving_json *s, const mw__template_part *part, const char *text, int type)
{
    mw__json_open(&s->json, NULL, '{');
    mw__json_open(&s->json, part->is_text ? "Sequence" : "SpecialToken", '{');
    mw__json_add_string(&s->json, "id", part->is_text ? text : mw_tokenizer_text(s->tokenizer, part->id, NULL));
    mw__json_add_integer(&s->json, "type_id", type);
    mw__json_close(&s->json, '}');
    mw__json_close(&s->json, '}');
}

/* A pair is the template of the first text, and what stands behind its begin with the second. */
static void put_template(mw__saving_json *s, const char *key, bool pair)
{
    const mw_tokenizer *t = s->tokenizer;
    bool begun = false;
    mw__json_open(&s->json, key, '[');
    for (size_t i = 0; i < t->part_count; i++)
        put_template_part(s, &t->parts[i], "A", 0);
    for (size_t i = 0; pair && i < t->part_count; i++) {
        begun = begun || t->parts[i].is_text;
        if (begun)
            put_template_part(s, &t->parts[i], "B", 1);
    }
    mw__json_close(&s->json, ']');
}

static bool came_before(const mw_tokenizer *t, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!t->parts[i].is_text && t->parts[i].id == t->parts[at].id)
            return true;
    return false;
}

static void put_template_tokens(mw__saving_json *s)
{
    const mw_tokenizer *t = s->tokenizer;
    mw__json_open(&s->json, "special_tokens", '{');
    for (size_t i = 0; i < t->part_count; i++) {
        if (t->parts[i].is_text || came_before(t, i))
            continue;
        const char *text = mw_tokenizer_text(t, t->parts[i].id, NULL);
        mw__json_open(&s->json, text, '{');
        mw__json_add_string(&s->json, "id", text);
        mw__json_open(&s->json, "ids", '[');
        mw__json_add_integer(&s->json, NULL, t->parts[i].id);
        mw__json_close(&s->json, ']');
        mw__json_open(&s->json, "tokens", '[');
        mw__json_add_string(&s->json, NULL, text);
        mw__json_close(&s->json, ']');
        mw__json_close(&s->json, '}');
    }
    mw__json_close(&s->json, '}');
}

static mw_status put_around(mw__saving_json *s)
{
    const mw_tokenizer *t = s->tokenizer;
    if (t->trims)
        return mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: places without white space have no form");
    if (t->part_count == 0) {
        mw__json_add_null(&s->json, "post_processor");
        return MW_OK;
    }
    for (size_t i = 0; i < t->part_count; i++)
        if (!t->parts[i].is_text && ((size_t)t->parts[i].id >= t->id_count || t->by_id[t->parts[i].id] == NULL))
            return mw__fail(s->err, MW_ERROR_UNSUPPORTED, "tokenizer.json: token %d around a text is no special one",
                            (int)t->parts[i].id);
    mw__json_open(&s->json, "post_processor", '{');
    mw__json_add_string(&s->json, "type", "TemplateProcessing");
    put_template(s, "single", false);
    put_template(s, "pair", true);
    put_template_tokens(s);
    mw__json_close(&s->json, '}');
    return MW_OK;
}

/* ---- the file ---- */

static mw_status put_all(mw__saving_json *s)
{
    mw__json_open(&s->json, NULL, '{');
    mw__json_add_string(&s->json, "version", "1.0");
    mw__json_add_null(&s->json, "truncation");
    mw__json_add_null(&s->json, "padding");
    MW_TRY(put_added(s));
    MW_TRY(mw__saving_put_normalizer(s));
    MW_TRY(mw__saving_put_cuts(s));
    MW_TRY(put_around(s));
    MW_TRY(mw__saving_put_decoder(s));
    MW_TRY(mw__saving_put_model(s));
    mw__json_close(&s->json, '}');
    mw__text_puts(&s->json.text, "\n");
    return mw__text_check(&s->json.text, s->err);
}

static void begin_json(mw__saving_json *s, const mw_tokenizer *tokenizer, mw_error *err)
{
    *s = (mw__saving_json){.tokenizer = tokenizer, .err = err};
    mw__json_writer_init(&s->json, NULL, false);
    s->json.style = MW__JSON_EXACT;
    mw__text_init(&s->text, NULL);
}

static mw_status end_json(mw__saving_json *s, const char *path, mw_status status)
{
    if (status == MW_OK && path != NULL)
        status = mw__file_write(mw__allocator_default(), path, s->json.text.data, s->json.text.size, true, s->err);
    mw__text_deinit(&s->text);
    mw__json_writer_deinit(&s->json);
    return status;
}

mw_status mw__saving_tokenizer_json(const mw_tokenizer *tokenizer, const char *path, mw_error *err)
{
    mw__saving_json s;
    begin_json(&s, tokenizer, err);
    return end_json(&s, path, put_all(&s));
}

/* ---- beside it ---- */

/* The text of a token that a GGUF file numbers; NULL if it does not. */
static const char *noted_token(const mw_tensors *tensors, const mw_tokenizer *t, const char *key)
{
    const char *note = mw_tensors_note_find(tensors, key);
    const long long id = note != NULL ? strtoll(note, NULL, 10) : -1;
    return id >= 0 && id < (1 << 24) ? mw_tokenizer_text(t, (int32_t)id, NULL) : NULL;
}

mw_status mw__saving_tokenizer_config(const mw__pretrained *source, const mw_tokenizer *tokenizer, const char *path,
                                      mw_error *err)
{
    static const char *const names[][2] = {
        {"bos_token", "tokenizer.ggml.bos_token_id"},     {"eos_token", "tokenizer.ggml.eos_token_id"},
        {"unk_token", "tokenizer.ggml.unknown_token_id"}, {"sep_token", "tokenizer.ggml.seperator_token_id"},
        {"pad_token", "tokenizer.ggml.padding_token_id"}, {"cls_token", "tokenizer.ggml.cls_token_id"},
        {"mask_token", "tokenizer.ggml.mask_token_id"}};
    mw__saving_json s;
    begin_json(&s, tokenizer, err);
    s.json.style = MW__JSON_VALID;
    mw__json_open(&s.json, NULL, '{');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = noted_token(source->tensors, tokenizer, names[i][1]);
        mw__json_break(&s.json);
        if (text != NULL)
            mw__json_add_string(&s.json, names[i][0], text);
    }
    const char *chat = mw_tensors_note_find(source->tensors, "tokenizer.chat_template");
    if (chat != NULL)
        mw__json_add_string(&s.json, "chat_template", chat);
    mw__json_add_integer(&s.json, "model_max_length", source->config.positions);
    mw__json_add_string(&s.json, "tokenizer_class", "PreTrainedTokenizerFast");
    mw__json_close(&s.json, '}');
    mw__text_puts(&s.json.text, "\n");
    return end_json(&s, path, mw__text_check(&s.json.text, err));
}
