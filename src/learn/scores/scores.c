/* The object: names to rows of the table, batches that are checked as a whole before they are added. */
#include "learn/scores/scores.h"

#include "base/memory/live.h"
#include "base/text/error.h"
#include "base/text/string_builder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CLASSES = 1, LABELS = 2, VALUES = 4, TEXTS = 8, ONE_LABEL = 16 };
enum { SUMS, TOP, ORDER };
enum { COLUMNS_MAX = 1 << 20 };

typedef struct row {
    const char *name;
    int tasks;
    bool higher, usual;
    int needs;
    mw__score_function *function;
} row;

static const row rows[] = {
#define SCORE(name, tasks, higher, usual, needs, function) {name, tasks, higher, usual, needs, mw__scores_##function},
#include "learn/scores/scores.def"
#undef SCORE
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *const task_names[] = {"classes", "labels", "values", "texts"};

static bool has_task(const row *r, mw_score_task task, int64_t columns)
{
    return (r->tasks & (1 << task)) != 0 || (r->tasks == ONE_LABEL && task == MW_SCORE_LABELS && columns == 1);
}

/* ---- names ---- */

/* The number behind the stem of a name that ends in _K; 0 if there is none, or one of more than 7 digits. */
static int64_t number_of(const char *digits, size_t length)
{
    int64_t number = 0;
    if (length == 0 || length > 7)
        return 0;
    for (size_t k = 0; k < length; k++) {
        if (digits[k] < '0' || digits[k] > '9')
            return 0;
        number = number * 10 + (digits[k] - '0');
    }
    return number;
}

/* The row of a name of `length` bytes, with the number of one that ends in _K; NULL if there is none. */
static const row *find_row(const char *name, size_t length, int64_t *out_number)
{
    *out_number = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const size_t stem = strlen(rows[i].name) - (rows[i].needs == TOP ? 1 : 0); /* "top_" */
        if (length < stem || memcmp(rows[i].name, name, stem) != 0 || (rows[i].needs != TOP && length != stem))
            continue;
        if (rows[i].needs == TOP)
            *out_number = number_of(name + stem, length - stem);
        return rows[i].needs != TOP || *out_number > 0 ? &rows[i] : NULL;
    }
    return NULL;
}

/* "accuracy, top_K, ..": the names of a task. */
static void list_names(mw__string_builder *out, mw_score_task task, int64_t columns, bool usual, const char *between)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (!has_task(&rows[i], task, columns) || (usual && !rows[i].usual))
            continue;
        mw__string_builder_puts(out, out->used > 0 ? between : "");
        mw__string_builder_puts(out, rows[i].name);
    }
}

static mw_status refuse_name(const mw_scores *s, const char *name, size_t length, mw_error *err)
{
    char list[512], most[64] = "";
    mw__string_builder names = mw__string_builder_begin(list, sizeof list);
    list_names(&names, s->task, s->columns, false, ", ");
    if (s->task == MW_SCORE_CLASSES)
        snprintf(most, sizeof most, "; K is 1 to %" PRId64, s->columns);
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "scores: \"%.*s\" is no figure of %s in %" PRId64 " columns; there are %s%s",
                    length < 40 ? (int)length : 40, name, task_names[s->task], s->columns, list, most);
}

static mw_status want(mw_scores *s, char *name, size_t length, mw_error *err)
{
    int64_t number = 0;
    const row *r = find_row(name, length, &number);
    if (r == NULL || !has_task(r, s->task, s->columns) || number > s->columns)
        return refuse_name(s, name, length, err);
    name[length] = '\0';
    s->ordered = s->ordered || r->needs == ORDER;
    s->wanted[s->wanted_count++] =
        (mw__score_wanted){.name = name, .function = r->function, .number = number, .higher = r->higher};
    return MW_OK;
}

/* Splits s->names at its commas. */
static mw_status want_all(mw_scores *s, mw_error *err)
{
    char *at = s->names;
    for (bool last = false; !last;) {
        const size_t length = strcspn(at, ",");
        last = at[length] == '\0';
        MW_TRY(want(s, at, length, err));
        at += length + 1;
    }
    return MW_OK;
}

/* A copy of the names that were given, or those that are usual. */
static char *copy_names(mw_score_task task, int64_t columns, const char *names, mw_error *err)
{
    char usual[512];
    mw__string_builder out = mw__string_builder_begin(usual, sizeof usual);
    list_names(&out, task, columns, true, ",");
    const char *from = names != NULL ? names : usual;
    char *copy = mw__alloc(mw__allocator_default(), strlen(from) + 1, 1, err);
    if (copy != NULL)
        memcpy(copy, from, strlen(from));
    return copy;
}

/* ---- life ---- */

static void free_scores(mw_scores *s)
{
    const mw_allocator *allocator = mw__allocator_default();
    mw__free(allocator, s->counts);
    mw__free(allocator, s->values);
    mw__free(allocator, s->entries);
    mw__free(allocator, s->wanted);
    mw__free(allocator, s->names);
    mw__free(allocator, s);
}

static mw_status check_columns(mw_score_task task, int64_t columns, mw_error *err)
{
    const int64_t least = task == MW_SCORE_CLASSES ? 2 : 1, most = task == MW_SCORE_TEXTS ? 1 : COLUMNS_MAX;
    if (columns >= least && columns <= most)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "scores: %" PRId64 " columns for %s, which have %" PRId64 " to %" PRId64,
                    columns, task_names[task], least, most);
}

/* Sums of the task, and the figures by their names. */
static mw_status prepare(mw_scores *s, const char *names, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_default();
    const bool counted = s->task == MW_SCORE_CLASSES || s->task == MW_SCORE_LABELS;
    const size_t columns = (size_t)s->columns;
    s->names = copy_names(s->task, s->columns, names, err);
    if (s->names == NULL)
        return err->status;
    size_t commas = 1;
    for (const char *at = s->names; *at != '\0'; at++)
        commas += *at == ',';
    s->wanted = mw__alloc(allocator, commas, sizeof *s->wanted, err);
    s->counts = mw__alloc(allocator, counted ? columns : 1, sizeof *s->counts, err);
    s->values = mw__alloc(allocator, s->task == MW_SCORE_VALUES ? columns : 1, sizeof *s->values, err);
    if (s->wanted == NULL || s->counts == NULL || s->values == NULL)
        return err->status;
    return want_all(s, err);
}

mw_scores *mw_scores_create(mw_score_task task, int64_t columns, const char *names, mw_error *err)
{
    mw_error local = {0};
    err = err != NULL ? err : &local;
    if (task < MW_SCORE_CLASSES || task > MW_SCORE_TEXTS)
        return mw__fail(err, MW_ERROR_ARGUMENT, "scores: %d is no task", (int)task), NULL;
    if (check_columns(task, columns, err) != MW_OK)
        return NULL;
    mw_scores *s = mw__alloc(mw__allocator_default(), 1, sizeof *s, err);
    if (s == NULL)
        return NULL;
    s->task = task;
    s->columns = columns;
    if (prepare(s, names, err) == MW_OK && mw__live_add(s, MW__LIVE_SCORES, err) == MW_OK)
        return s;
    free_scores(s);
    return NULL;
}

void mw_scores_destroy(mw_scores *scores)
{
    if (scores != NULL && mw__live_remove(scores, MW__LIVE_SCORES, __func__))
        free_scores(scores);
}

/* ---- what was found ---- */

size_t mw_scores_count(const mw_scores *scores)
{
    return mw__live_has(scores, MW__LIVE_SCORES) ? scores->wanted_count : 0;
}

mw_score mw_scores_get(const mw_scores *scores, size_t index)
{
    if (index >= mw_scores_count(scores))
        return (mw_score){.value = NAN};
    const mw__score_wanted *w = &scores->wanted[index];
    const bool none = scores->task != MW_SCORE_TEXTS && !(scores->weight > 0.0);
    const double value = none ? NAN : w->function(scores, w->number);
    return (mw_score){.name = w->name, .value = value, .higher = w->higher};
}

const char *mw_score_name(mw_score_task task, size_t index)
{
    for (size_t i = 0; i < ROWS && task >= MW_SCORE_CLASSES && task <= MW_SCORE_TEXTS; i++)
        if (has_task(&rows[i], task, 1) && index-- == 0)
            return rows[i].name;
    return NULL;
}
