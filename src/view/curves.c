/* Records of a metrics file become points of curves and facts. */
#include "view/curves.h"

#include "base/file/file.h"
#include "base/text/error.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define FILE_MAX ((size_t)512 << 20)

/* ---- what is kept ---- */

static const char *keep_text(mw__curves *c, const char *text, size_t length, mw_error *err)
{
    return mw__arena_string(&c->arena, text, length, err);
}

static mw_status add_curve(mw__curves *c, const char *name, size_t length, mw__curve **out, mw_error *err)
{
    if (c->count == MW__CURVES_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "metrics: more than %d names", MW__CURVES_MAX);
    MW_TRY(mw__grow(c->allocator, &c->curves, &c->capacity, c->count + 1, sizeof *c->curves, err));
    const char *kept = keep_text(c, name, length, err);
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__map_set_n(&c->names, name, length, (void *)(uintptr_t)(c->count + 1), err));
    c->curves[c->count] = (mw__curve){.name = kept};
    *out = &c->curves[c->count++];
    return MW_OK;
}

static mw__curve *find_curve(const mw__curves *c, const char *name, size_t length)
{
    const uintptr_t place = (uintptr_t)mw__map_get_n(&c->names, name, length);
    return place > 0 ? &c->curves[place - 1] : NULL;
}

static mw_status add_point(mw__curves *c, const char *name, size_t length, mw__point point, mw_error *err)
{
    mw__curve *curve = find_curve(c, name, length);
    if (curve == NULL)
        MW_TRY(add_curve(c, name, length, &curve, err));
    if (curve->count == curve->capacity) { /* small at first: a file may have many names with one point each */
        const size_t capacity = curve->capacity > 0 ? 2 * curve->capacity : 2;
        mw__point *points = mw__resize(c->allocator, curve->points, capacity, sizeof *points, err);
        if (points == NULL)
            return MW_ERROR_MEMORY;
        curve->points = points;
        curve->capacity = capacity;
    }
    curve->points[curve->count++] = point;
    return MW_OK;
}

static mw_status add_fact(mw__curves *c, const char *kind, const mw__curve_field *field, mw_error *err)
{
    MW_TRY(mw__grow(c->allocator, &c->facts, &c->fact_capacity, c->fact_count + 1, sizeof *c->facts, err));
    const char *key = keep_text(c, field->name, field->name_length, err);
    const char *text = keep_text(c, field->text, field->text_length, err);
    if (key == NULL || text == NULL)
        return MW_ERROR_MEMORY;
    c->facts[c->fact_count++] = (mw__fact){.kind = kind, .record = c->records, .key = key, .text = text};
    return MW_OK;
}

/* ---- records ---- */

static bool is_called(const mw__curve_field *field, const char *name)
{
    return field->name_length == strlen(name) && memcmp(field->name, name, field->name_length) == 0;
}

/* The kind of a record, one of ours; "step" where it says none; NULL: to be skipped. */
static const char *kind_of(const mw__curve_field *fields, size_t count)
{
    static const char *const kinds[] = {"step", "epoch", "log", "run", "resume", "end"};
    for (size_t i = 0; i < count; i++) {
        if (!is_called(&fields[i], "kind") || fields[i].text == NULL)
            continue;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (fields[i].text_length == strlen(kinds[k]) &&
                memcmp(fields[i].text, kinds[k], fields[i].text_length) == 0)
                return kinds[k];
        return NULL;
    }
    return "step";
}

static double step_of(const mw__curves *c, const mw__curve_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_called(&fields[i], "step") && fields[i].is_number && isfinite(fields[i].number))
            return fields[i].number;
    return (double)c->records;
}

static mw_status add_number(mw__curves *c, const char *kind, const mw__curve_field *field, double step, mw_error *err)
{
    char name[1100];
    const size_t before = strcmp(kind, "epoch") == 0 ? strlen("epoch/") : 0;
    if (before == 0)
        return add_point(c, field->name, field->name_length, (mw__point){step, field->number}, err);
    if (field->name_length > sizeof name - before)
        return MW_OK; /* no name of ours is as long */
    memcpy(name, "epoch/", before);
    memcpy(name + before, field->name, field->name_length);
    return add_point(c, name, before + field->name_length, (mw__point){step, field->number}, err);
}

mw_status mw__curves_add(mw__curves *c, const mw__curve_field *fields, size_t count, mw_error *err)
{
    const char *kind = kind_of(fields, count);
    const double step = step_of(c, fields, count);
    const bool points =
        kind != NULL && (strcmp(kind, "step") == 0 || strcmp(kind, "epoch") == 0 || strcmp(kind, "log") == 0);
    for (size_t i = 0; kind != NULL && i < count; i++) {
        if (is_called(&fields[i], "kind"))
            continue;
        if (points && fields[i].is_number && !is_called(&fields[i], "step"))
            MW_TRY(add_number(c, kind, &fields[i], step, err));
        else if (!points && fields[i].text != NULL)
            MW_TRY(add_fact(c, kind, &fields[i], err));
    }
    c->records++;
    return MW_OK;
}

/* ---- files ---- */

mw_status mw__curves_fail(const char *path, int line, size_t column, const char *what, mw_error *err)
{
    mw__fail(err, MW_ERROR_FORMAT, "metrics \"%.200s\", line %d: %s", path, line, what);
    mw__error_position(err, line, column < INT_MAX ? (int)column : INT_MAX);
    return MW_ERROR_FORMAT;
}

static mw_status read_text(mw__curves *c, const char *text, size_t size, const char *path, mw_error *err)
{
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0')
        at++;
    if (at == size)
        return mw__curves_fail(path, 1, 1, "the file has no records", err);
    return text[at] == '{' ? mw__curves_read_lines(c, text, size, path, err)
                           : mw__curves_read_csv(c, text, size, path, err);
}

mw_status mw__curves_read(mw__curves *c, const mw_allocator *allocator, const char *path, mw_error *err)
{
    *c = (mw__curves){.allocator = allocator};
    mw__arena_init(&c->arena, allocator);
    mw__map_init(&c->names, allocator);
    char *text = NULL;
    size_t size = 0;
    MW_TRY(mw__file_read(allocator, path, FILE_MAX, &text, &size, err));
    const mw_status status = read_text(c, text, size, path, err);
    mw__free(allocator, text);
    return status;
}

void mw__curves_deinit(mw__curves *c)
{
    for (size_t i = 0; i < c->count; i++)
        mw__free(c->allocator, c->curves[i].points);
    mw__free(c->allocator, c->curves);
    mw__free(c->allocator, c->facts);
    mw__map_deinit(&c->names);
    mw__arena_deinit(&c->arena);
    *c = (mw__curves){0};
}

/* ---- asking ---- */

const mw__curve *mw__curves_find(const mw__curves *c, const char *name) { return find_curve(c, name, strlen(name)); }

const char *mw__curves_fact(const mw__curves *c, const char *kind, const char *key)
{
    for (size_t i = c->fact_count; i-- > 0;)
        if (strcmp(c->facts[i].kind, kind) == 0 && strcmp(c->facts[i].key, key) == 0)
            return c->facts[i].text;
    return NULL;
}
