/* JSON Lines: an object for each record. What is nested is skipped, but for `non_finite`, which says what a null is. */
#include "base/number/number.h"
#include "base/text/error.h"
#include "base/text/json.h"
#include "base/text/string.h"
#include "base/text/text.h"
#include "view/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct record {
    mw__curves *curves;
    mw__text bytes; /* names and texts of the fields, each with a NUL */
    struct field {
        size_t name, name_length, text, text_length;
        bool is_number, has_text;
        double number;
    } * fields;
    size_t count, capacity;
    mw__curve_field *shown; /* the same with addresses, once the bytes stand still */
    size_t shown_capacity;
    char nested[16]; /* the key of the object that is open, if it is non_finite */
    size_t key, key_length;
    bool is_object;
} record;

/* ---- events ---- */

static size_t put_name(record *r, const char *text, size_t length)
{
    const size_t at = r->bytes.size;
    mw__text_append(&r->bytes, text, length);
    mw__text_append(&r->bytes, "", 1);
    return at;
}

static mw_status add_number(record *r, const mw__json_item *item, bool is_number, double number, mw_error *err)
{
    char digits[24];
    MW_TRY(mw__grow(r->curves->allocator, &r->fields, &r->capacity, r->count + 1, sizeof *r->fields, err));
    struct field *f = &r->fields[r->count++];
    *f = (struct field){.name = r->key, .name_length = r->key_length, .is_number = is_number, .number = number};
    f->has_text = item->event != MW__JSON_NULL;
    if (item->event == MW__JSON_NUMBER) {
        size_t length = 0;
        for (uint64_t left = item->number; length == 0 || left > 0; left /= 10)
            digits[sizeof digits - ++length] = (char)('0' + left % 10);
        f->text = put_name(r, digits + sizeof digits - length, length);
        f->text_length = length;
    } else if (item->text != NULL) {
        f->text = put_name(r, item->text, item->length);
        f->text_length = item->length;
    } else if (f->has_text) {
        const char *word = item->event == MW__JSON_TRUE ? "true" : "false";
        f->text = put_name(r, word, strlen(word));
        f->text_length = strlen(word);
    }
    return MW_OK;
}

/* "nan", "inf" or "-inf" for a key of this record. */
static void set_non_finite(record *r, const mw__json_item *item)
{
    const char *name = r->bytes.data + r->key;
    const double number = strcmp(item->text, "inf") == 0    ? (double)INFINITY
                          : strcmp(item->text, "-inf") == 0 ? -(double)INFINITY
                                                            : (double)NAN;
    for (size_t i = 0; i < r->count; i++)
        if (r->fields[i].name_length == r->key_length && r->fields[i].is_number && isnan(r->fields[i].number) &&
            memcmp(r->bytes.data + r->fields[i].name, name, r->key_length) == 0)
            r->fields[i].number = number;
}

static mw_status take_value(record *r, const mw__json_item *item, mw_error *err)
{
    double number = item->event == MW__JSON_NUMBER ? (double)item->number : (double)NAN;
    if (item->event == MW__JSON_REAL && !mw__number_read(item->text, item->length, MW__NUMBER_F64, &number))
        number = (double)NAN;
    const bool is_number =
        item->event == MW__JSON_NUMBER || item->event == MW__JSON_REAL || item->event == MW__JSON_NULL;
    return add_number(r, item, is_number, number, err);
}

static mw_status handle(void *user, const mw__json_item *item, mw_error *err)
{
    record *r = user;
    if (item->event == MW__JSON_KEY && item->depth <= 2) {
        r->key_length = item->length;
        r->key = put_name(r, item->text, item->length);
    } else if (item->event == MW__JSON_BEGIN_OBJECT && item->depth == 0) {
        r->is_object = true;
    } else if (item->event == MW__JSON_BEGIN_OBJECT && item->depth == 1) {
        const bool known = !r->bytes.failed && strcmp(r->bytes.data + r->key, "non_finite") == 0;
        memcpy(r->nested, known ? "non_finite" : "", known ? sizeof "non_finite" : 1);
    } else if (item->event == MW__JSON_STRING && item->depth == 2 && r->nested[0] != '\0' && !r->bytes.failed) {
        set_non_finite(r, item);
    } else if (item->depth == 1 && item->event != MW__JSON_KEY && item->event != MW__JSON_BEGIN_OBJECT &&
               item->event != MW__JSON_END_OBJECT && item->event != MW__JSON_BEGIN_ARRAY &&
               item->event != MW__JSON_END_ARRAY) {
        MW_TRY(take_value(r, item, err));
    }
    return mw__text_check(&r->bytes, err);
}

/* ---- records ---- */

static mw_status commit(record *r, mw_error *err)
{
    MW_TRY(mw__grow(r->curves->allocator, &r->shown, &r->shown_capacity, r->count, sizeof *r->shown, err));
    for (size_t i = 0; i < r->count; i++) {
        const struct field *f = &r->fields[i];
        r->shown[i] = (mw__curve_field){.name = r->bytes.data + f->name,
                                        .name_length = f->name_length,
                                        .text = f->has_text ? r->bytes.data + f->text : NULL,
                                        .text_length = f->text_length,
                                        .is_number = f->is_number,
                                        .number = f->number};
    }
    return mw__curves_add(r->curves, r->shown, r->count, err);
}

/* `last`: without an end. If it is not whole it is left out. */
static mw_status read_line(record *r, const char *line, size_t length, int number, bool last, const char *path,
                           mw_error *err)
{
    mw_error own = {0};
    r->count = 0;
    r->bytes.size = 0;
    r->is_object = false;
    if (mw__json_read_all(r->curves->allocator, line, length, handle, r, &own) == MW_OK) {
        if (!r->is_object)
            return mw__curves_fail(path, number, 1, "a record is an object of JSON", err);
        return commit(r, err);
    }
    if (own.status == MW_ERROR_FORMAT && last)
        return MW_OK;
    if (own.status == MW_ERROR_FORMAT)
        return mw__curves_fail(path, number, own.text_column > 0 ? (size_t)own.text_column : 1, own.message, err);
    return mw__fail(err, own.status, "%s", own.message);
}

mw_status mw__curves_read_lines(mw__curves *curves, const char *text, size_t size, const char *path, mw_error *err)
{
    record r = {.curves = curves};
    mw_status status = MW_OK;
    int number = 0;
    mw__text_init(&r.bytes, curves->allocator);
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && status == MW_OK) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        number += number < 2000000000;
        if (!mw__string_is_blank(text + at, length))
            status = read_line(&r, text + at, length, number, end == NULL, path, err);
        at += length + 1;
    }
    mw__text_deinit(&r.bytes);
    mw__free(curves->allocator, r.fields);
    mw__free(curves->allocator, r.shown);
    return status;
}
