/* An encoder from its JSON, which may be anybody's: every number is checked before an encoder is made of it.
 *
 *     text    ::= {"version": 1, "target": {members}, "more_targets": [{members}, ..], "window": {members},
 *                  "fields": [{members}, ..]}
 *     member  ::= as mw__encoder_field_members, mw__encoder_target_members and mw__encoder_window_members have it */
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/number/number.h"
#include "base/text/json.h"
#include "data/encoder/members.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct reading {
    mw_table_encoder *encoder; /* NULL: fields are counted */
    size_t fields, targets;    /* targets: but the first */
    bool in_target, in_targets, in_window, in_fields, has_version;
    const mw__encoder_member *member; /* whose value comes next */
} reading;

static mw_status refuse_item(const mw__json_item *item, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "table encoder, byte %zu: %s", item->offset, what);
}

/* ---- members ---- */

static const mw__encoder_member *find_member(const mw__encoder_member *members, const char *key)
{
    while (members->key != NULL && strcmp(members->key, key) != 0)
        members++;
    return members->key != NULL ? members : NULL;
}

static const mw__encoder_member *members_of(const reading *r)
{
    return r->in_target || r->in_targets ? mw__encoder_target_members
           : r->in_window                ? mw__encoder_window_members
                                         : mw__encoder_field_members;
}

static void *value_of(const reading *r)
{
    char *object = r->in_target    ? (char *)&r->encoder->targets[0]
                   : r->in_targets ? (char *)&r->encoder->targets[r->targets]
                   : r->in_window  ? (char *)&r->encoder->window
                                   : (char *)&r->encoder->fields[r->fields - 1];
    return object + r->member->offset;
}

static mw_status take_text(const reading *r, const mw__json_item *item, mw_error *err)
{
    const mw__encoder_member *m = r->member;
    if (memchr(item->text, '\0', item->length) != NULL)
        return refuse_item(item, "a NUL in a text", err);
    if (m->kind == MW__MEMBER_TEXT) {
        const char *copy = mw__arena_string(&r->encoder->arena, item->text, item->length, err);
        memcpy(value_of(r), &copy, sizeof copy);
        return copy != NULL ? MW_OK : MW_ERROR_MEMORY;
    }
    if (m->kind == MW__MEMBER_WORDS) {
        mw__encoder_words *words = value_of(r);
        if (words->count == MW__ENCODER_WORDS_MAX || mw__encoder_find_word(words, item->text, item->length) >= 0)
            return refuse_item(item, "a word that comes twice, or too many words", err);
        return mw__encoder_add_word(words, &r->encoder->arena, item->text, item->length, err);
    }
    for (int i = 0; m->kind == MW__MEMBER_CHOICE && m->choices[i] != NULL; i++) {
        if (strcmp(m->choices[i], item->text) == 0) {
            memcpy(value_of(r), &i, sizeof i);
            return MW_OK;
        }
    }
    return refuse_item(item, "a text that is none of those that stand here", err);
}

static mw_status take_number(const reading *r, const mw__json_item *item, mw_error *err)
{
    double number = (double)item->number;
    if (item->event == MW__JSON_REAL && !mw__number_read(item->text, item->length, MW__NUMBER_F64, &number))
        return refuse_item(item, "no number", err);
    if (r->member->kind == MW__MEMBER_NUMBER && fabs(number) <= 1e300) {
        memcpy(value_of(r), &number, sizeof number);
        return MW_OK;
    }
    const int64_t whole = (int64_t)(number <= 0x1p53 && number >= 0 ? number : -1);
    if (r->member->kind != MW__MEMBER_WHOLE || whole < 0 || (double)whole != number)
        return refuse_item(item, "a number that is none of those that stand here", err);
    memcpy(value_of(r), &whole, sizeof whole);
    return MW_OK;
}

static mw_status take_value(reading *r, const mw__json_item *item, mw_error *err)
{
    const bool truth = item->event == MW__JSON_TRUE;
    switch (item->event) {
    case MW__JSON_STRING:
        return take_text(r, item, err);
    case MW__JSON_NUMBER:
    case MW__JSON_REAL:
        return take_number(r, item, err);
    case MW__JSON_TRUE:
    case MW__JSON_FALSE:
        if (r->member->kind != MW__MEMBER_BOOL)
            break;
        memcpy(value_of(r), &truth, sizeof truth);
        return MW_OK;
    case MW__JSON_BEGIN_ARRAY:
    case MW__JSON_END_ARRAY:
        if (r->member->kind == MW__MEMBER_WORDS)
            return MW_OK;
        break;
    default:
        break;
    }
    return refuse_item(item, "a value of another type", err);
}

/* ---- the text ---- */

static mw_status take_top_key(reading *r, const mw__json_item *item, mw_error *err)
{
    r->in_target = strcmp(item->text, "target") == 0;
    r->in_targets = strcmp(item->text, "more_targets") == 0;
    r->in_window = strcmp(item->text, "window") == 0;
    r->in_fields = strcmp(item->text, "fields") == 0;
    r->has_version = r->has_version || strcmp(item->text, "version") == 0;
    return r->in_target || r->in_targets || r->in_window || r->in_fields || strcmp(item->text, "version") == 0
               ? MW_OK
               : refuse_item(item, "a key that an encoder has not", err);
}

static mw_status take_top_value(const reading *r, const mw__json_item *item, mw_error *err)
{
    if (r->in_target || r->in_window)
        return item->event == MW__JSON_BEGIN_OBJECT || item->event == MW__JSON_END_OBJECT
                   ? MW_OK
                   : refuse_item(item, "the target, or the window, is no object", err);
    if (r->in_fields || r->in_targets)
        return item->event == MW__JSON_BEGIN_ARRAY || item->event == MW__JSON_END_ARRAY
                   ? MW_OK
                   : refuse_item(item, "the fields, or more targets, are no list", err);
    return item->event == MW__JSON_NUMBER && item->number == MW__ENCODER_VERSION
               ? MW_OK
               : refuse_item(item, "a version that this library does not read", err);
}

static mw_status take_field_begin(reading *r, const mw__json_item *item, mw_error *err)
{
    if (item->event != MW__JSON_BEGIN_OBJECT && item->event != MW__JSON_END_OBJECT)
        return refuse_item(item, "a field that is no object", err);
    const bool begins = item->event == MW__JSON_BEGIN_OBJECT;
    r->fields += r->in_fields && begins;
    r->targets += r->in_targets && begins;
    r->member = NULL;
    if (r->targets >= MW__ENCODER_TARGETS_MAX)
        return refuse_item(item, "more than 4096 targets", err);
    return r->fields <= MW__RECORDS_CELLS_MAX ? MW_OK : refuse_item(item, "more than 65536 fields", err);
}

static mw_status take_item(void *user, const mw__json_item *item, mw_error *err)
{
    reading *r = user;
    const bool is_list = r->in_fields || r->in_targets;
    const int inside = is_list ? 3 : 2; /* where members stand */
    if (item->depth == 0)
        return item->event == MW__JSON_BEGIN_OBJECT || item->event == MW__JSON_END_OBJECT
                   ? MW_OK
                   : refuse_item(item, "it is no object", err);
    if (item->depth == 1)
        return item->event == MW__JSON_KEY ? take_top_key(r, item, err) : take_top_value(r, item, err);
    if (is_list && item->depth == 2)
        return take_field_begin(r, item, err);
    if (r->encoder == NULL || (!is_list && !r->in_target && !r->in_window))
        return MW_OK;
    if (item->event == MW__JSON_KEY) {
        r->member = item->depth == inside ? find_member(members_of(r), item->text) : NULL;
        return r->member != NULL ? MW_OK : refuse_item(item, "a key that a field has not", err);
    }
    const bool in_list = r->member != NULL && r->member->kind == MW__MEMBER_WORDS && item->depth == inside + 1;
    if (r->member == NULL || (item->depth != inside && !in_list) || (in_list && item->event != MW__JSON_STRING) ||
        (!in_list && r->member->kind == MW__MEMBER_WORDS && item->event == MW__JSON_STRING))
        return refuse_item(item, "a value that stands nowhere", err);
    return take_value(r, item, err);
}

/* ---- what was read ---- */

static bool is_scale(const mw__encoder_scale *s)
{
    return fabs(s->mean) <= (double)FLT_MAX && s->deviation >= 0 && s->deviation <= (double)FLT_MAX;
}

static mw_status check_field(const mw__encoder_field *f, mw_error *err)
{
    const bool has_numbers = f->kind == MW_FIELD_NUMBER || f->kind == MW_FIELD_BOOLEAN || f->kind == MW_FIELD_DATE;
    const char *wrong = f->name == NULL || f->name[0] == '\0' ? "has no name"
                        : f->kind == MW_FIELD_FOUND           ? "has no kind"
                        : !is_scale(&f->value) || !is_scale(&f->age) || fabs(f->offset) > (double)FLT_MAX ||
                                fabs(f->fill) > (double)FLT_MAX
                            ? "has numbers that fp32 has not"
                        : f->width > MW__ENCODER_WIDTH_MAX || (f->kind == MW_FIELD_TEXT && f->width == 0)
                            ? "has no width of 1 to 1024"
                        : (f->kind == MW_FIELD_SEQUENCE) != (f->length > 0) || f->length > MW__ENCODER_LENGTH_MAX ||
                                (f->kind == MW_FIELD_SEQUENCE && f->width == 0)
                            ? "is a sequence of no length of 1 to 4096, or has one"
                        : f->words.count > 0 && !mw__encoder_keeps_words(f) ? "has words and is no category"
                        : f->has_indicator && !has_numbers                  ? "marks what is missing and is no number"
                                                                            : NULL;
    return wrong == NULL ? MW_OK
                         : mw__fail(err, MW_ERROR_FORMAT, "table encoder: field \"%.100s\" %s",
                                    f->name != NULL ? f->name : "", wrong);
}

static mw_status check_target(const mw_table_encoder *e, const mw__encoder_target *t, mw_error *err)
{
    const bool is_good = t->name != NULL && t->name[0] != '\0' && is_scale(&t->value) && t->kind != MW_TARGET_FOUND &&
                         (t->kind == MW_TARGET_CLASS) == (t->classes.count > 0) && t->kind == e->targets[0].kind &&
                         t->scale == e->targets[0].scale && (t->kind != MW_TARGET_CLASS || e->target_count == 1);
    return is_good ? MW_OK
                   : mw__fail(err, MW_ERROR_FORMAT,
                              "table encoder: no target with a name, and classes or a scale, as the others have it");
}

static bool is_target(const mw_table_encoder *e, const char *name)
{
    for (size_t i = 0; i < e->target_count; i++)
        if (strcmp(e->targets[i].name, name) == 0)
            return true;
    return false;
}

static mw_status check_encoder(const mw_table_encoder *e, mw_error *err)
{
    mw__map names;
    mw_status status = MW_OK;
    const mw__encoder_target *t = &e->targets[0];
    for (size_t i = 0; i < e->target_count; i++)
        MW_TRY(check_target(e, &e->targets[i], err));
    const char *fault = e->window.length != 0 ? mw__encoder_window_fault(&e->window, t->kind == MW_TARGET_CLASS) : "";
    if (fault[0] != '\0')
        return mw__fail(err, MW_ERROR_FORMAT, "table encoder: windows have %s", fault);
    const bool keeps_target = mw__encoder_target_is_input(&e->window);
    mw__map_init(&names, e->allocator);
    for (size_t i = 0; i < e->field_count && status == MW_OK; i++) {
        status = check_field(&e->fields[i], err);
        if (status == MW_OK &&
            (mw__map_get(&names, e->fields[i].name) != NULL || (!keeps_target && is_target(e, e->fields[i].name))))
            status = mw__fail(err, MW_ERROR_FORMAT, "table encoder: two fields \"%.100s\"", e->fields[i].name);
        if (status == MW_OK)
            status = mw__map_set(&names, e->fields[i].name, &names, err);
    }
    mw__map_deinit(&names);
    return status;
}

static mw_status read_all(const char *text, reading *r, mw_error *err)
{
    MW_TRY(mw__json_read_all(mw__allocator_default(), text, strlen(text), take_item, r, err));
    if (r->has_version && r->fields > 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "table encoder: no %s", r->has_version ? "fields" : "version");
}

static mw_status fill_encoder(mw_table_encoder *e, const char *text, mw_error *err)
{
    reading r = {.encoder = e};
    MW_TRY(read_all(text, &r, err));
    MW_TRY(check_encoder(e, err));
    MW_TRY(mw__encoder_place_columns(e, err));
    if (e->columns == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "table encoder: all fields are ignored");
    return mw__live_add(e, MW__LIVE_TABLE_ENCODER, err);
}

mw_table_encoder *mw_table_encoder_read(const char *text, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    mw_error *reason = err != NULL ? err : &own;
    reading counted = {0};
    if (mw__skips(err))
        return NULL;
    if (text == NULL) {
        mw__fail(reason, MW_ERROR_ARGUMENT, "mw_table_encoder_read: no text");
        return NULL;
    }
    if (read_all(text, &counted, reason) != MW_OK)
        return NULL;
    mw_table_encoder *e = mw__encoder_make(mw__allocator_default(), counted.fields, 1 + counted.targets, reason);
    if (e == NULL || fill_encoder(e, text, reason) == MW_OK)
        return e;
    mw__encoder_free(e);
    return NULL;
}
