/* An encoder as JSON. */
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/number/number.h"
#include "base/text/json_write.h"
#include "data/encoder/members.h"

#include <stddef.h>

#define FIELD(key, kind, member, ...)                                                                                  \
    {                                                                                                                  \
        key, kind, offsetof(mw__encoder_field, member), __VA_ARGS__                                                    \
    }
#define TARGET(key, kind, member, ...)                                                                                 \
    {                                                                                                                  \
        key, kind, offsetof(mw__encoder_target, member), __VA_ARGS__                                                   \
    }

#define WINDOW(key, kind, member)                                                                                      \
    {                                                                                                                  \
        key, kind, offsetof(mw__encoder_window, member), NULL                                                          \
    }

static const char *const kinds[] = {"found",   "number", "category", "id",      "date",
                                    "boolean", "text",   "sequence", "ignored", NULL};
static const char *const rules[] = {"mean", "median", "constant", NULL};
static const char *const target_kinds[] = {"found", "class", "value", "labels", NULL};
static const char *const scales[] = {"standard", "logarithm", "none", NULL};

const mw__encoder_member mw__encoder_field_members[] = {
    FIELD("name", MW__MEMBER_TEXT, name, NULL),
    FIELD("kind", MW__MEMBER_CHOICE, kind, kinds),
    FIELD("reason", MW__MEMBER_TEXT, reason, NULL),
    FIELD("missing", MW__MEMBER_WHOLE, missing, NULL),
    FIELD("rule", MW__MEMBER_CHOICE, rule, rules),
    FIELD("fill", MW__MEMBER_NUMBER, fill, NULL),
    FIELD("marked", MW__MEMBER_BOOL, has_indicator, NULL),
    FIELD("offset", MW__MEMBER_NUMBER, offset, NULL),
    FIELD("mean", MW__MEMBER_NUMBER, value.mean, NULL),
    FIELD("deviation", MW__MEMBER_NUMBER, value.deviation, NULL),
    FIELD("age_mean", MW__MEMBER_NUMBER, age.mean, NULL),
    FIELD("age_deviation", MW__MEMBER_NUMBER, age.deviation, NULL),
    FIELD("newest", MW__MEMBER_NUMBER, newest, NULL),
    FIELD("times", MW__MEMBER_BOOL, has_time, NULL),
    FIELD("day_first", MW__MEMBER_BOOL, day_first, NULL),
    FIELD("width", MW__MEMBER_WHOLE, width, NULL),
    FIELD("length", MW__MEMBER_WHOLE, length, NULL),
    FIELD("values", MW__MEMBER_BOOL, has_values, NULL),
    FIELD("words", MW__MEMBER_WORDS, words, NULL),
    {NULL, MW__MEMBER_TEXT, 0, NULL},
};

const mw__encoder_member mw__encoder_target_members[] = {
    TARGET("name", MW__MEMBER_TEXT, name, NULL),
    TARGET("kind", MW__MEMBER_CHOICE, kind, target_kinds),
    TARGET("scale", MW__MEMBER_CHOICE, scale, scales),
    TARGET("mean", MW__MEMBER_NUMBER, value.mean, NULL),
    TARGET("deviation", MW__MEMBER_NUMBER, value.deviation, NULL),
    TARGET("classes", MW__MEMBER_WORDS, classes, NULL),
    {NULL, MW__MEMBER_TEXT, 0, NULL},
};

const mw__encoder_member mw__encoder_window_members[] = {
    WINDOW("length", MW__MEMBER_WHOLE, length),   WINDOW("stride", MW__MEMBER_WHOLE, stride),
    WINDOW("horizon", MW__MEMBER_WHOLE, horizon), WINDOW("gap", MW__MEMBER_WHOLE, gap),
    WINDOW("series", MW__MEMBER_TEXT, series),    {NULL, MW__MEMBER_TEXT, 0, NULL},
};

const char *mw__encoder_kind_name(mw_field_kind kind)
{
    return kind >= MW_FIELD_FOUND && kind <= MW_FIELD_IGNORED ? kinds[kind] : "?";
}

/* ---- writing ---- */

static void put_number(mw__json_writer *json, const char *key, double value)
{
    char digits[MW__NUMBER_MAX];
    mw__json_add_key(json, key);
    mw__text_append(&json->text, digits, mw__number_print_double(digits, value));
}

static void put_words(mw__json_writer *json, const char *key, const mw__encoder_words *words)
{
    if (words->count == 0)
        return;
    mw__json_open(json, key, '[');
    for (size_t i = 0; i < words->count; i++)
        mw__json_add_string(json, NULL, words->names[i]);
    mw__json_close(json, ']');
}

/* Zeros, false and empty texts are left out: reading begins with them. */
static void put_member(mw__json_writer *json, const mw__encoder_member *m, const void *object)
{
    const char *at = (const char *)object + m->offset;
    const bool is_text = m->kind == MW__MEMBER_TEXT;
    const char *text = is_text ? *(const char *const *)(const void *)at : "";
    if (is_text && text[0] != '\0')
        mw__json_add_string(json, m->key, text);
    else if (m->kind == MW__MEMBER_CHOICE)
        mw__json_add_string(json, m->key, m->choices[*(const int *)(const void *)at]);
    else if (m->kind == MW__MEMBER_NUMBER && *(const double *)(const void *)at != 0)
        put_number(json, m->key, *(const double *)(const void *)at);
    else if (m->kind == MW__MEMBER_WHOLE && *(const int64_t *)(const void *)at != 0)
        mw__json_add_integer(json, m->key, *(const int64_t *)(const void *)at);
    else if (m->kind == MW__MEMBER_BOOL && *(const bool *)(const void *)at)
        mw__json_add_bool(json, m->key, true);
    else if (m->kind == MW__MEMBER_WORDS)
        put_words(json, m->key, (const void *)at);
}

static void put_object(mw__json_writer *json, const char *key, const mw__encoder_member *members, const void *object)
{
    mw__json_open(json, key, '{');
    for (; members->key != NULL; members++)
        put_member(json, members, object);
    mw__json_close(json, '}');
}

char *mw_table_encoder_write(const mw_table_encoder *encoder, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw__json_writer json;
    if (mw__skips(err) || mw__live_check(encoder, MW__LIVE_TABLE_ENCODER, __func__, err) != MW_OK)
        return NULL;
    mw__json_writer_init(&json, mw__allocator_default(), true);
    json.style = MW__JSON_VALID;
    mw__json_open(&json, NULL, '{');
    mw__json_add_integer(&json, "version", MW__ENCODER_VERSION);
    put_object(&json, "target", mw__encoder_target_members, &encoder->targets[0]);
    if (encoder->target_count > 1)
        mw__json_open(&json, "more_targets", '[');
    for (size_t i = 1; i < encoder->target_count; i++)
        put_object(&json, NULL, mw__encoder_target_members, &encoder->targets[i]);
    if (encoder->target_count > 1)
        mw__json_close(&json, ']');
    if (encoder->window.length > 0)
        put_object(&json, "window", mw__encoder_window_members, &encoder->window);
    mw__json_open(&json, "fields", '[');
    for (size_t i = 0; i < encoder->field_count; i++)
        put_object(&json, NULL, mw__encoder_field_members, &encoder->fields[i]);
    mw__json_close(&json, ']');
    mw__json_close(&json, '}');
    return mw__text_take(&json.text, err);
}
