/* The trainings of a cross-validation, and the table of their figures. */
#include "tool/runs/folds.h"

#include "tool/runs/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURES_MAX = 32, NAME_BYTES = 48, SAID_BYTES = 400 };

/* What one fold came to. */
typedef struct fold_result {
    bool done;
    int count;
    int64_t examples; /* that it was measured on */
    char names[FIGURES_MAX][NAME_BYTES];
    double values[FIGURES_MAX];
    char said[SAID_BYTES]; /* why it failed */
} fold_result;

_Static_assert(sizeof(fold_result) <= 4096, "it goes through a pipe at once");

typedef struct fold_list {
    const char *path;
    recipe_overrides over;
    int count;
    fold_result *results; /* [count] */
} fold_list;

/* ---- one fold ---- */

static bool has_figure(const fold_result *r, const char *name)
{
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->names[i], name) == 0)
            return true;
    return false;
}

static void add_figure(fold_result *r, const char *name, double value)
{
    if (r->count == FIGURES_MAX || has_figure(r, name))
        return;
    snprintf(r->names[r->count], NAME_BYTES, "%.40s", name);
    r->values[r->count++] = value;
}

/* The fold is the validation set; a test set is the same for all, and comes behind. */
static void note_measured(void *user, const char *set, const mw_evaluation *found, const mw_scores *scores)
{
    fold_result *r = user;
    if (r->done || strcmp(set, "validation") != 0)
        return;
    r->done = true;
    r->examples = found->examples;
    add_figure(r, "loss", found->loss);
    for (size_t i = 0; i < mw_scores_count(scores); i++)
        add_figure(r, mw_scores_get(scores, i).name, mw_scores_get(scores, i).value);
    for (size_t i = 0; i < found->metric_count; i++)
        if (!(has_figure(r, "mae") && strcmp(found->metrics[i].name, "mean_absolute_error") == 0))
            add_figure(r, found->metrics[i].name, found->metrics[i].value);
}

/* In a process of its own. */
static int train_fold(void *user, int index, void *result, const tool_call *call)
{
    const fold_list *list = user;
    fold_result *r = result;
    mw_error err = {0};
    mw__json_writer json;
    recipe_overrides over = list->over;
    over.folds = list->count;
    over.fold = index;
    over.threads = over.threads >= 0 ? over.threads : 1;
    over.measured = note_measured;
    over.measured_user = r;
    over.wants_scores = true;
    mw__json_writer_init(&json, NULL, true);
    const tool_call own = {.json = &json, .quiet = true, .err = &err, .command = call->command};
    const int code = recipe_train(list->path, &over, &own);
    mw__json_writer_deinit(&json);
    if (code != TOOL_DONE || !r->done) {
        r->done = false;
        snprintf(r->said, sizeof r->said, "%.390s", err.message[0] != '\0' ? err.message : "nothing was measured");
    }
    return code;
}

static void note_death(void *result, bool by_signal, int number)
{
    fold_result *r = result;
    r->done = false;
    snprintf(r->said, sizeof r->said, "the process ended %s %d", by_signal ? "by signal" : "with code", number);
}

/* ---- all of them ---- */

/* Over the folds that are done and have it. */
static int find_mean(const fold_list *list, int figure, double *out_mean, double *out_deviation)
{
    double sum = 0.0, squares = 0.0;
    int count = 0;
    for (int i = 0; i < list->count; i++)
        if (list->results[i].done && isfinite(list->results[i].values[figure])) {
            sum += list->results[i].values[figure];
            count++;
        }
    *out_mean = count > 0 ? sum / count : NAN;
    for (int i = 0; i < list->count; i++)
        if (list->results[i].done && isfinite(list->results[i].values[figure]))
            squares += pow(list->results[i].values[figure] - *out_mean, 2);
    *out_deviation = count > 1 ? sqrt(squares / (count - 1)) : 0.0;
    return count;
}

static void say_figure(const fold_list *list, const char *name, int figure, const tool_call *call)
{
    enum { SHOWN_MAX = 10 };
    double mean, deviation;
    find_mean(list, figure, &mean, &deviation);
    if (call->json == NULL) {
        tool_print("%-20s %11.5g  +- %-10.4g", name, mean, deviation);
        for (int i = 0; i < list->count && list->count <= SHOWN_MAX; i++)
            if (list->results[i].done)
                tool_print(" %10.5g", list->results[i].values[figure]);
        tool_puts("\n");
        return;
    }
    mw__json_open(call->json, NULL, '{');
    mw__json_add_string(call->json, "name", name);
    mw__json_add_number(call->json, "mean", mean);
    mw__json_add_number(call->json, "deviation", deviation);
    mw__json_open(call->json, "values", '[');
    for (int i = 0; i < list->count; i++)
        if (list->results[i].done)
            mw__json_add_number(call->json, NULL, list->results[i].values[figure]);
    mw__json_close(call->json, ']');
    mw__json_close(call->json, '}');
}

static const fold_result *first_done(const fold_list *list)
{
    for (int i = 0; i < list->count; i++)
        if (list->results[i].done)
            return &list->results[i];
    return NULL;
}

static int count_failed(const fold_list *list)
{
    int failed = 0;
    for (int i = 0; i < list->count; i++)
        failed += !list->results[i].done;
    return failed;
}

/* The first of those that failed; others fail for the same reason, mostly. */
static void say_failure(const fold_list *list, const tool_call *call)
{
    for (int i = 0; i < list->count; i++)
        if (!list->results[i].done) {
            tool_complain("fold %d of %d: %s", i + 1, list->count, list->results[i].said);
            if (call->err->status == MW_OK)
                call->err->status = MW_ERROR_STATE;
            snprintf(call->err->message, sizeof call->err->message, "%d of %d folds failed", count_failed(list),
                     list->count);
            return;
        }
}

static int say_all(const fold_list *list, const tool_call *call)
{
    const fold_result *first = first_done(list);
    const int failed = count_failed(list);
    int64_t examples = 0;
    for (int i = 0; i < list->count; i++)
        examples += list->results[i].done ? list->results[i].examples : 0;
    if (call->json != NULL) {
        mw__json_add_integer(call->json, "folds", list->count);
        mw__json_add_integer(call->json, "failed", failed);
        mw__json_add_integer(call->json, "examples", examples);
        mw__json_open(call->json, "figures", '[');
    } else if (first != NULL) {
        tool_print("%d folds, %lld examples validate\n%-20s %11s     %s\n", list->count - failed, (long long)examples,
                   "", "mean", "deviation");
    }
    for (int i = 0; first != NULL && i < first->count; i++)
        say_figure(list, first->names[i], i, call);
    if (call->json != NULL)
        mw__json_close(call->json, ']');
    say_failure(list, call);
    return failed == 0 ? TOOL_DONE : TOOL_FAILED;
}

int folds_train(const char *path, const recipe_overrides *overrides, int folds, int at_once, const tool_call *call)
{
    fold_list list = {.path = path, .over = *overrides, .count = folds};
    list.results = calloc((size_t)folds, sizeof *list.results);
    const job_list jobs = {.count = folds,
                           .at_once = at_once < folds ? at_once : folds,
                           .results = list.results,
                           .result_size = sizeof *list.results,
                           .work = train_fold,
                           .died = note_death,
                           .user = &list,
                           .what = "folds"};
    const int code = list.results != NULL && jobs_run(&jobs, call) ? say_all(&list, call) : TOOL_FAILED;
    free(list.results);
    return code;
}
