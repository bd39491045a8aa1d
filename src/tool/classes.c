/* Lists of classes, and how the list of a data set goes into that of a model. */
#include "tool/classes.h"

#include "base/number/number.h"
#include "base/text/printable.h"
#include "base/text/utf8.h"
#include "tool/model_text.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

static bool fail_memory(mw_error *err)
{
    err->status = MW_ERROR_MEMORY;
    mw__printable_printf(err->message, sizeof err->message, "there is no memory for the names of classes");
    return false;
}

void class_list_free(class_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (class_list){0};
}

/* ---- names that a package can hold ---- */

static char *from_latin1(const char *text)
{
    char *out = malloc(2 * strlen(text) + 1);
    if (out != NULL)
        mw__utf8_from_latin1(text, out);
    return out;
}

/* A copy in UTF-8 and on one line. */
static char *make_name(const char *name)
{
    char *copy = mw__utf8_check(name) ? strdup(name) : from_latin1(name);
    if (copy == NULL)
        return NULL;
    if (!mw__utf8_check(name))
        tool_complain("the class \"%.100s\" is no UTF-8; it is taken for Latin 1 and written as \"%.100s\"", name,
                      copy);
    if (copy[strcspn(copy, "\r\n")] == '\0')
        return copy;
    for (char *at = copy; *at != '\0'; at++)
        *at = *at == '\n' || *at == '\r' ? ' ' : *at;
    tool_complain("the class \"%.100s\" has line breaks; it is written as \"%.100s\"", name, copy);
    return copy;
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Conversion may have made one of two. */
static bool check_unique(const class_list *list, mw_error *err)
{
    char **sorted = malloc((list->count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return fail_memory(err);
    memcpy(sorted, list->names, list->count * sizeof *sorted);
    qsort(sorted, list->count, sizeof *sorted, compare_names);
    for (size_t i = 0; i + 1 < list->count; i++) {
        if (strcmp(sorted[i], sorted[i + 1]) == 0) {
            err->status = MW_ERROR_ARGUMENT;
            mw__printable_printf(
                err->message, sizeof err->message,
                "two classes are \"%.100s\" when they are written as UTF-8 on one line: rename one in the data",
                sorted[i]);
            break;
        }
    }
    free(sorted);
    return err->status == MW_OK;
}

/* ---- lists ---- */

bool class_list_of_dataset(class_list *out, const mw_dataset *dataset, const char *column, mw_error *err)
{
    const mw_classes classes = mw_dataset_classes(dataset, column);
    *out = (class_list){.names = calloc(classes.count + 1, sizeof *out->names)};
    if (out->names == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < classes.count; i++) {
        out->names[i] = make_name(classes.names[i]);
        if (out->names[i] == NULL)
            return fail_memory(err);
        out->count++;
    }
    return check_unique(out, err);
}

bool class_list_of_lines(class_list *out, const char *lines, mw_error *err)
{
    size_t count = 1;
    for (const char *at = lines; *at != '\0'; at++)
        count += *at == '\n';
    *out = (class_list){.names = calloc(count + 1, sizeof *out->names)};
    if (out->names == NULL)
        return fail_memory(err);
    for (const char *at = lines; out->count < count; at += strcspn(at, "\n") + 1) {
        out->names[out->count] = strndup(at, strcspn(at, "\n"));
        if (out->names[out->count] == NULL)
            return fail_memory(err);
        out->count++;
    }
    return true;
}

/* The labels of a classifier: they are known when it is compiled. */
static bool read_labels(class_list *out, const mw_model *model, const mw_description *d, const char *path,
                        mw_error *err)
{
    mw_classes labels = {0};
    mw_error local = {0};
    const mw_function_description *f = d->function_count > 0 ? &d->functions[d->standard] : NULL;
    if (f == NULL || f->label == NULL || f->label[0] == '\0')
        return true;
    mw_model *ready = mw_model_get_info(model).batch > 0 ? NULL : mw_model_open(path, NULL, &local);
    const bool found = mw_model_classes(ready != NULL ? ready : model, f->label, &labels, &local) == MW_OK;
    *out = (class_list){.names = found ? calloc(labels.count + 1, sizeof *out->names) : NULL};
    for (size_t i = 0; out->names != NULL && i < labels.count; i++) {
        char number[32];
        snprintf(number, sizeof number, "%lld", labels.names != NULL ? 0LL : (long long)labels.numbers[i]);
        out->names[i] = strdup(labels.names != NULL ? labels.names[i] : number);
        if (out->names[i] == NULL)
            break;
        out->count++;
    }
    mw_model_destroy(ready);
    return !found || (out->names != NULL && out->count == labels.count) || fail_memory(err);
}

/* Files of others have this key for other things. */
static void take_lines(class_list *out, const class_pairing *p, const char *lines, mw_error *err)
{
    if (!class_list_of_lines(out, lines, err) || (int64_t)out->count == p->scores)
        return;
    tool_complain(
        "%.200s says \"classes\": \"%.60s\", which are %zu lines, and gives %lld scores: they are not taken as "
        "the names of its scores",
        p->model_path, lines, out->count, (long long)p->scores);
    class_list_free(out);
}

bool class_list_of_model(class_list *out, const class_pairing *p, const mw_model *model, const char *run, mw_error *err)
{
    const mw_description *d = mw_model_get_info(model).description;
    *out = (class_list){0};
    char *lines;
    if (!tool_model_text(model, p->model_path, run, "classes", &lines, err))
        return false;
    if (lines != NULL)
        take_lines(out, p, lines, err);
    free(lines);
    const bool good = err->status == MW_OK;
    return good && out->count == 0 && d != NULL ? read_labels(out, model, d, p->model_path, err) : good;
}

char *class_list_lines(const class_list *list)
{
    size_t size = 1, used = 0;
    for (size_t i = 0; i < list->count; i++)
        size += strlen(list->names[i]) + 1;
    char *lines = list->count > 0 ? malloc(size) : NULL;
    for (size_t i = 0; lines != NULL && i < list->count; i++)
        used += (size_t)snprintf(lines + used, size - used, "%s%s", i > 0 ? "\n" : "", list->names[i]);
    return lines;
}

const char *class_list_print(char *out, size_t size, const class_list *list)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        if (used + strlen(list->names[i]) + 24 > size) {
            snprintf(out + used, size - used, " .. (%zu)", list->count);
            break;
        }
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", list->names[i]);
    }
    return out;
}

/* ---- pairing ---- */

static bool read_label(const char *name, int64_t *out) { return mw__number_read_i64(name, strlen(name), out); }

/* Whether all names are integers. */
static bool is_of_integers(const class_list *list)
{
    int64_t value;
    for (size_t i = 0; i < list->count; i++) {
        if (!read_label(list->names[i], &value))
            return false;
    }
    return list->count > 0;
}

static bool has_integer(const class_list *list)
{
    int64_t value;
    for (size_t i = 0; i < list->count; i++) {
        if (read_label(list->names[i], &value))
            return true;
    }
    return false;
}

static int64_t find_name(const class_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->names[i], name) == 0)
            return (int64_t)i;
    }
    return -1;
}

/* "07" and "7" are one integer. */
static int64_t find_integer(const class_list *list, int64_t wanted)
{
    int64_t value;
    for (size_t i = 0; i < list->count; i++) {
        if (read_label(list->names[i], &value) && value == wanted)
            return (int64_t)i;
    }
    return -1;
}

static bool fail_pair(const class_pairing *p, const char *missing, mw_error *err)
{
    char model[160], data[160];
    class_list_print(model, sizeof model, p->model);
    class_list_print(data, sizeof data, p->data);
    err->status = MW_ERROR_ARGUMENT;
    mw__printable_printf(
        err->message, sizeof err->message,
        "%.100s has the class \"%.60s\", which %.100s has not: the model knows %s; the data has %s. Leave these "
        "examples out, or train a new last layer (mw finetune --head)",
        p->data_path, missing, p->model_path, model[0] != '\0' ? model : "numbers alone",
        data[0] != '\0' ? data : "integers");
    return false;
}

/* The model names nothing: an integer is the score of that number. */
static bool pair_integer(const class_pairing *p, int64_t value, int64_t *out, mw_error *err)
{
    if (value >= 0 && value < p->scores) {
        *out = value;
        return true;
    }
    err->status = MW_ERROR_ARGUMENT;
    mw__printable_printf(
        err->message, sizeof err->message,
        "%.200s has the label %lld, and %.200s gives %lld scores without names: an integer label is the number of "
        "its score, 0 to %lld. Renumber the labels, or train a new last layer (mw finetune --head)",
        p->data_path, (long long)value, p->model_path, (long long)p->scores, (long long)p->scores - 1);
    return false;
}

static bool pair_name(const class_pairing *p, const char *name, bool integers, int64_t *out, mw_error *err)
{
    int64_t value;
    *out = find_name(p->model, name);
    if (*out >= 0)
        return true;
    if (integers && read_label(name, &value)) {
        if (!has_integer(p->model))
            return pair_integer(p, value, out, err);
        *out = find_integer(p->model, value);
    }
    return *out >= 0 || fail_pair(p, name, err);
}

static bool pair_names(class_pairing *p, int64_t *map, mw_error *err)
{
    const bool integers = is_of_integers(p->data);
    p->by_position = p->model->count == 0 && !integers;
    if (p->by_position && (int64_t)p->data->count != p->scores) {
        char data[200];
        class_list_print(data, sizeof data, p->data);
        err->status = MW_ERROR_ARGUMENT;
        mw__printable_printf(
            err->message, sizeof err->message,
            "%.200s gives %lld scores and does not name them, so that the %zu classes of %.200s have no place: %s. "
            "Use integer labels, or train a new last layer (mw finetune --head)",
            p->model_path, (long long)p->scores, p->data->count, p->data_path, data);
        return false;
    }
    for (size_t i = 0; i < p->data->count; i++) {
        map[i] = (int64_t)i;
        if (!p->by_position && !pair_name(p, p->data->names[i], integers, &map[i], err))
            return false;
    }
    return true;
}

static bool pair_labels(const class_pairing *p, int64_t *map, mw_error *err)
{
    const bool named = has_integer(p->model);
    for (int64_t label = 0; label < p->label_count; label++) {
        char text[32];
        map[label] = -1;
        if (!p->has_label[label])
            continue;
        snprintf(text, sizeof text, "%lld", (long long)label);
        if (named)
            map[label] = find_integer(p->model, label);
        if (named ? map[label] < 0 && !fail_pair(p, text, err) : !pair_integer(p, label, &map[label], err))
            return false;
    }
    return true;
}

int64_t *class_pair(class_pairing *p, mw_error *err)
{
    const bool named = p->data->count > 0;
    int64_t *map = calloc(named ? p->data->count : (size_t)p->label_count + 1, sizeof *map);
    if (map == NULL)
        fail_memory(err);
    if (map != NULL && (named ? pair_names(p, map, err) : pair_labels(p, map, err)))
        return map;
    free(map);
    return NULL;
}
