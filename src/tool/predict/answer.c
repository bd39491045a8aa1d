/* What a model answers, by its metadata or by what it is made of. */
#include "tool/predict/answer.h"

#include "base/file/file.h"
#include "base/text/printable.h"
#include "tool/data_scale.h"
#include "tool/model_text.h"
#include "tool/show/results.h"
#include "tool/tool.h"

#include <math.h>
#include <millwright/data.h>
#include <millwright/summary.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_BYTES_MAX = 1 << 24, WIDTH_MAX = 1 << 20 };

static const char *const tasks[] = {"classes", "labels", "values"};

const char *answer_task_name(answer_task task) { return tasks[task]; }

static bool fail_answer(mw_error *err, mw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail_answer(mw_error *err, mw_status status, const char *format, ...)
{
    va_list arguments;
    if (err->status != MW_OK)
        return false;
    err->status = status;
    va_start(arguments, format);
    mw__printable_vprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- the result ---- */

static const mw_function_description *described_function(const mw_model *model)
{
    const mw_description *d = mw_model_get_info(model).description;
    return d != NULL && d->function_count > 0 ? &d->functions[d->standard] : NULL;
}

static bool is_float(const mw_port *port) { return port->dtype == MW_F32 || port->dtype == MW_F16; }

/* "a, b": the results of a model. */
static void list_results(const mw_model *model, char *out, size_t size)
{
    mw_port port;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; mw_model_port_at(model, i, &port); i++)
        if (port.is_output && used + strlen(port.name) + 3 < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", port.name);
}

/* The one that is asked for; the probabilities of a classifier; the first of floats. */
static bool find_result(answer *a, const answer_settings *s, const mw_model *model, const char *path, mw_error *err)
{
    char names[200];
    mw_port port;
    mw_shape shape;
    const mw_function_description *f = described_function(model);
    const char *wanted = s->result != NULL                          ? s->result
                         : f != NULL && f->probabilities[0] != '\0' ? f->probabilities
                                                                    : NULL;
    for (size_t i = 0; a->result == NULL && mw_model_port_at(model, i, &port); i++)
        if (port.is_output && (wanted != NULL ? strcmp(port.name, wanted) == 0 : is_float(&port)))
            a->result = port.name;
    list_results(model, names, sizeof names);
    if (a->result == NULL)
        return fail_answer(err, MW_ERROR_ARGUMENT, "%.200s has no result%s%.60s%s; it has %s", path,
                           wanted != NULL ? " \"" : " of floats", wanted != NULL ? wanted : "",
                           wanted != NULL ? "\"" : "", names[0] != '\0' ? names : "none");
    if (mw_model_result_shape(model, a->result, 1, &shape, err) != MW_OK)
        return false;
    a->width = mw_shape_count(shape);
    return (a->width >= 1 && a->width <= WIDTH_MAX) ||
           fail_answer(err, MW_ERROR_SHAPE, "the result \"%.60s\" has %lld numbers of an example, not 1 to %d",
                       a->result, (long long)a->width, WIDTH_MAX);
}

/* ---- names ---- */

static bool read_names(answer *a, const char *path, mw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    const mw_allocator *heap = mw__allocator_or_default(NULL);
    if (mw__file_read(heap, path, NAMES_BYTES_MAX, &text, &size, err) != MW_OK)
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] != '\r')
            text[kept++] = text[i];
    while (kept > 0 && text[kept - 1] == '\n')
        kept--;
    text[kept] = '\0';
    const bool good = class_list_of_lines(&a->names, text, err);
    mw__free(heap, text);
    return good && ((int64_t)a->names.count == a->width ||
                    fail_answer(err, MW_ERROR_ARGUMENT,
                                "--classes %.200s has %zu names, and the result \"%.60s\" %lld "
                                "numbers: a name in each line, in their order",
                                path, a->names.count, a->result, (long long)a->width));
}

static bool find_names(answer *a, const answer_settings *s, const mw_model *model, const char *path, mw_error *err)
{
    const class_pairing pairing = {.scores = a->width, .model_path = path};
    return s->classes != NULL ? read_names(a, s->classes, err)
                              : class_list_of_model(&a->names, &pairing, model, NULL, err);
}

/* ---- the task ---- */

static bool take_task(answer *a, const char *said)
{
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        if (strcmp(said, tasks[i]) == 0) {
            a->task = (answer_task)i;
            return true;
        }
    }
    return false;
}

/* Several targets of a table name the numbers, if nothing else does. */
static void name_by_targets(answer *a, const mw_table_encoder *encoder)
{
    mw_encoded_target target;
    if (a->names.count > 0 || a->width < 2 || !mw_table_encoder_target_at(encoder, (size_t)a->width - 1, &target))
        return;
    a->names.names = calloc((size_t)a->width, sizeof *a->names.names);
    for (size_t i = 0; a->names.names != NULL && i < (size_t)a->width; i++) {
        mw_table_encoder_target_at(encoder, i, &target);
        if ((a->names.names[i] = strdup(target.name)) == NULL)
            return;
        a->names.count++;
    }
}

/* By the table that it learned, or by the names that its numbers have. */
static bool guess_task(answer *a, const mw_model *model, const char *path, mw_error *err)
{
    char *table;
    if (!tool_model_text(model, path, NULL, DATA_TABLE_KEY, &table, err))
        return false;
    a->task = a->names.count > 1 ? ANSWER_CLASSES : ANSWER_VALUES;
    mw_error why = {0};
    mw_table_encoder *encoder = table != NULL ? mw_table_encoder_read(table, &why) : NULL;
    if (why.status != MW_OK)
        fail_answer(err, why.status, "%.200s: \"%s\": %.250s", path, DATA_TABLE_KEY, why.message);
    if (encoder != NULL) {
        const mw_encoded_target target = mw_table_encoder_target(encoder);
        a->task = target.kind == MW_TARGET_CLASS    ? ANSWER_CLASSES
                  : target.kind == MW_TARGET_LABELS ? ANSWER_LABELS
                                                    : ANSWER_VALUES;
        a->target = a->target == NULL ? strdup(target.name) : a->target;
        name_by_targets(a, encoder);
    }
    mw_table_encoder_destroy(encoder);
    free(table);
    return err->status == MW_OK;
}

static bool find_task(answer *a, const answer_settings *s, const mw_model *model, const char *path, mw_error *err)
{
    char *said;
    if (!tool_model_text(model, path, NULL, TOOL_TARGET_KEY, &a->target, err) ||
        !tool_model_text(model, path, NULL, TOOL_TASK_KEY, &said, err) || !guess_task(a, model, path, err))
        return false;
    if (said != NULL && !take_task(a, said))
        tool_complain("%.200s says \"%s\": \"%.40s\", which is none of classes, labels, values", path, TOOL_TASK_KEY,
                      said);
    free(said);
    if (s->task != NULL)
        take_task(a, s->task);
    return (a->task != ANSWER_CLASSES || a->width > 1) ||
           fail_answer(err, MW_ERROR_ARGUMENT,
                       "the result \"%.60s\" has one number of an example, which names no class of several; --task "
                       "labels takes it for yes or no, --task values as it is",
                       a->result);
}

/* ---- whether numbers are probabilities ---- */

static bool ends_in(const mw_model *model, const char *first, const char *second)
{
    mw_error err = {0};
    mw_summary *summary = mw_summary_create(mw_model_get_info(model).graph, &err);
    const size_t count = mw_summary_count(summary);
    const char *kind = count > 0 ? mw_summary_at(summary, count - 1)->kind : "";
    const bool found = strcmp(kind, first) == 0 || strcmp(kind, second) == 0;
    mw_summary_destroy(summary);
    return found;
}

static void find_form(answer *a, const answer_settings *s, const mw_model *model)
{
    const mw_function_description *f = described_function(model);
    const bool is_classifier = f != NULL && strcmp(f->probabilities, a->result) == 0;
    if (s->scores != NULL)
        a->is_probabilities = strcmp(s->scores, "probabilities") == 0;
    else
        a->is_probabilities = is_classifier || ends_in(model, "softmax", "sigmoid");
    a->has_form = s->scores != NULL || a->is_probabilities;
}

bool answer_find(answer *out, const answer_settings *settings, const mw_model *model, const char *path, mw_error *err)
{
    *out = (answer){.task = ANSWER_VALUES};
    if (!find_result(out, settings, model, path, err) || !find_names(out, settings, model, path, err) ||
        !find_task(out, settings, model, path, err))
        return false;
    if (settings->scores != NULL && out->task == ANSWER_VALUES)
        return fail_answer(err, MW_ERROR_ARGUMENT, "--scores has no effect on values: they stay as they are");
    find_form(out, settings, model);
    return true;
}

void answer_free(answer *a)
{
    class_list_free(&a->names);
    free(a->target);
    *a = (answer){.task = ANSWER_VALUES};
}

const char *answer_name(const answer *a, int64_t index, char *out, size_t size)
{
    const char *stem = a->target != NULL && a->target[0] != '\0' ? a->target : a->result;
    if ((size_t)index < a->names.count)
        return a->names.names[index];
    if (a->task == ANSWER_CLASSES || (a->task == ANSWER_LABELS && a->width > 1))
        snprintf(out, size, "%lld", (long long)index);
    else if (a->width == 1)
        snprintf(out, size, "%.200s", stem);
    else
        snprintf(out, size, "%.200s_%lld", stem, (long long)index);
    return out;
}

/* ---- probabilities ---- */

/* All within 0 to 1, and of classes with a sum of 1. */
static bool look_like_probabilities(const answer *a, const float *scores, int64_t examples)
{
    for (int64_t i = 0; i < examples; i++) {
        double sum = 0;
        for (int64_t k = 0; k < a->width; k++) {
            const float p = scores[i * a->width + k];
            if (!(p >= 0 && p <= 1))
                return false;
            sum += (double)p;
        }
        if (a->task == ANSWER_CLASSES && fabs(sum - 1) > 1e-2)
            return false;
    }
    return true;
}

void answer_finish(answer *a, float *scores, int64_t examples)
{
    if (a->task == ANSWER_VALUES || examples == 0)
        return;
    if (!a->has_form)
        a->is_probabilities = look_like_probabilities(a, scores, examples);
    a->has_form = true;
    for (int64_t i = 0; !a->is_probabilities && i < examples; i++) {
        float *row = scores + i * a->width;
        if (a->task == ANSWER_CLASSES)
            tool_soften(row, a->width);
        else
            for (int64_t k = 0; k < a->width; k++)
                row[k] = (float)(1 / (1 + exp(-(double)row[k])));
    }
}
