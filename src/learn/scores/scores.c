/* The object: names to rows of the table, batches that are checked as a whole before they are added. */
#include "learn/scores/scores.h"

#include "base/memory/live.h"
#include "base/text/error.h"

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

/* The row of a name of `length` bytes, with the number of one that ends in _K; NULL if there is none. */
static const row *find_row(const char *name, size_t length, int64_t *out_number)
{
    *out_number = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const size_t own = strlen(rows[i].name);
        if (rows[i].needs != TOP && own == length && memcmp(rows[i].name, name, length) == 0)
            return &rows[i];
        const size_t stem = own - 1; /* "top_" */
        if (rows[i].needs != TOP || length <= stem || length > stem + 7 || memcmp(rows[i].name, name, stem) != 0)
            continue;
        for (size_t k = stem; k < length; k++) {
            if (name[k] < '0' || name[k] > '9')
                return NULL;
            *out_number = *out_number * 10 + (name[k] - '0');
        }
        return *out_number > 0 ? &rows[i] : NULL;
    }
    return NULL;
}

static mw_status refuse_name(const mw_scores *s, const char *name, size_t length, mw_error *err)
{
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (has_task(&rows[i], s->task, s->columns))
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", rows[i].name);
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "scores: \"%.*s\" is no figure of %s in %" PRId64 " columns; there are %s (K at most %" PRId64 ")",
                    length < 40 ? (int)length : 40, name, task_names[s->task], s->columns, list, s->columns);
}

static mw_status want(mw_scores *s, char *name, size_t length, mw_error *err)
{
    int64_t number = 0;
    const row *r = find_row(name, length, &number);
    if (r == NULL || !has_task(r, s->task, s->columns) || number > s->columns)
        return refuse_name(s, name, length, err);
    name[length] = '\0';
    s->ordered = s->ordered || r->needs == ORDER;
    s->wanted[s->wanted_count++] = (mw__score_wanted){
        .name = name, .function = r->function, .number = number, .higher = r->higher, .of_top = r->needs == TOP};
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

/* A copy of the names that were given, or those that are usual, in the room of all. */
static char *copy_names(mw_score_task task, int64_t columns, const char *names, mw_error *err)
{
    size_t room = names != NULL ? strlen(names) + 1 : 1;
    for (size_t i = 0; names == NULL && i < ROWS; i++)
        room += strlen(rows[i].name) + 1;
    char *copy = mw__alloc(mw__allocator_default(), room, 1, err);
    if (copy != NULL && names != NULL)
        memcpy(copy, names, room);
    for (size_t i = 0; copy != NULL && names == NULL && i < ROWS; i++) {
        if (!rows[i].usual || !has_task(&rows[i], task, columns))
            continue;
        if (copy[0] != '\0')
            strcat(copy, ",");
        strcat(copy, rows[i].name);
    }
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
    const double value = none ? NAN : w->of_top ? w->hits / scores->weight : w->function(scores);
    return (mw_score){.name = w->name, .value = value, .higher = w->higher};
}

const char *mw_score_name(mw_score_task task, size_t index)
{
    for (size_t i = 0; i < ROWS && task >= MW_SCORE_CLASSES && task <= MW_SCORE_TEXTS; i++)
        if (has_task(&rows[i], task, 1) && index-- == 0)
            return rows[i].name;
    return NULL;
}
