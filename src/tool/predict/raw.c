/* Raw data by its kind, and the classes of the data by those of the model. */
#include "tool/predict/raw.h"

#include "base/text/printable.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 65536 };

/* The first that fits. */
static const raw_kind kinds[] = {
    {"windows", raw_table_is_series, raw_table_open_series, raw_set_each},
    {"rows", raw_table_is_encoded, raw_table_open_encoded, raw_table_each_encoded},
    {"rows", raw_table_is_plain, raw_table_open_plain, raw_set_each},
    {"examples", raw_set_is_idx, raw_set_open_idx, raw_set_each},
    {"sounds", raw_sounds_is, raw_sounds_open, raw_set_each},
    {"pictures", raw_pictures_is, raw_pictures_open, raw_set_each},
    {"examples", raw_set_is_tensors, raw_set_open_tensors, raw_set_each},
};

bool raw_fail(mw_error *err, mw_status status, const char *format, ...)
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

bool raw_fail_memory(mw_error *err) { return raw_fail(err, MW_ERROR_MEMORY, "there is no memory"); }

/* ---- opening ---- */

/* The first input of the model, and how large an example of it is. */
static bool find_input(raw_data *d, mw_error *err)
{
    const mw_model *model = d->request.model;
    const int64_t batch = mw_model_get_info(model).batch;
    for (size_t i = 0; mw_model_port_at(model, i, &d->input); i++)
        if (!d->input.is_output)
            break;
    const int64_t count = d->input.name != NULL && !d->input.is_output ? mw_shape_count(d->input.shape) : -1;
    d->elements = count > 0 && batch > 0 ? count / batch : 0;
    return d->elements > 0 ||
           raw_fail(err, MW_ERROR_SHAPE, "%.200s has no input whose size is known; give it with --shape NAME=SHAPE",
                    d->request.model_path);
}

bool raw_open(raw_data *data, const raw_request *request, mw_error *err)
{
    *data = (raw_data){.request = *request, .examples = -1};
    if (!find_input(data, err))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && data->kind == NULL; i++)
        if (kinds[i].fits(data))
            data->kind = &kinds[i];
    return data->kind->open(data, err) && err->status == MW_OK;
}

bool raw_each(raw_data *data, int64_t most, raw_take *take, void *user, mw_error *err)
{
    data->take = take;
    data->user = user;
    data->most = most;
    return data->kind->each(data, err) && err->status == MW_OK;
}

bool raw_hand_out(raw_data *data, raw_piece *piece, mw_error *err)
{
    piece->first = data->done;
    data->done += piece->examples;
    return data->take(data->user, piece) && err->status == MW_OK;
}

void raw_close(raw_data *data)
{
    mw_loader_destroy(data->loader);
    mw_dataset_destroy(data->set);
    mw_table_encoder_destroy(data->encoder);
    data_offsets_free(&data->offsets);
    picture_list_free(&data->files);
    class_list_free(&data->classes);
    free(data->map);
    free(data->truth_classes);
    free(data->truth_values);
    free(data->swapped);
    *data = (raw_data){.examples = 0};
}

/* ---- where it is ---- */

const char *raw_name(const raw_data *data, const raw_piece *piece, int64_t index, char *out, size_t size)
{
    if (piece->ids != NULL)
        return piece->ids[index];
    const int64_t number = piece->first + index;
    if (number < (int64_t)data->files.count)
        return data->files.names[number];
    snprintf(out, size, "%" PRId64, number + data->numbering);
    return out;
}

double raw_progress(const raw_data *data)
{
    return data->examples > 0 ? (double)data->done / (double)data->examples : data->progress;
}

/* ---- what is true ---- */

bool raw_reserve_truth(raw_data *d, int64_t examples, mw_error *err)
{
    const size_t wanted =
        (size_t)(examples * (d->request.answer->task == ANSWER_CLASSES ? 1 : d->request.answer->width));
    if (wanted <= d->truth_capacity)
        return true;
    int32_t *classes = realloc(d->truth_classes, wanted * sizeof *classes);
    d->truth_classes = classes != NULL ? classes : d->truth_classes;
    float *values = realloc(d->truth_values, wanted * sizeof *values);
    d->truth_values = values != NULL ? values : d->truth_values;
    d->truth_capacity = classes != NULL && values != NULL ? wanted : d->truth_capacity;
    return (classes != NULL && values != NULL) || raw_fail_memory(err);
}

static class_pairing pair_with(const raw_data *d, const class_list *data)
{
    return (class_pairing){.model = &d->request.answer->names,
                           .data = data,
                           .scores = d->request.answer->width,
                           .model_path = d->request.model_path,
                           .data_path = d->request.path};
}

bool raw_pair_classes(raw_data *d, mw_error *err)
{
    class_pairing pairing = pair_with(d, &d->classes);
    if (d->classes.count == 0)
        return true;
    d->map = class_pair(&pairing, err);
    d->map_count = d->map != NULL ? (int64_t)d->classes.count : 0;
    return d->map != NULL;
}

/* An integer is looked for among the names of the model as the name that it is. */
static int64_t pair_integer(const raw_data *d, int64_t label, mw_error *err)
{
    char text[32], *names[] = {text};
    snprintf(text, sizeof text, "%" PRId64, label);
    const class_list one = {.names = names, .count = 1};
    class_pairing pairing = pair_with(d, &one);
    int64_t *map = class_pair(&pairing, err);
    const int64_t score = map != NULL ? map[0] : -1;
    free(map);
    return score;
}

static bool make_map(raw_data *d, mw_error *err)
{
    d->map = malloc(LABELS_MAX * sizeof *d->map);
    d->map_count = d->map != NULL ? LABELS_MAX : 0;
    for (int64_t i = 0; i < d->map_count; i++)
        d->map[i] = -1;
    return d->map != NULL || raw_fail_memory(err);
}

int64_t raw_find_class(raw_data *d, int64_t label, mw_error *err)
{
    if (d->map == NULL && !make_map(d, err))
        return -1;
    if (label < 0 || label >= d->map_count) {
        raw_fail(err, MW_ERROR_ARGUMENT,
                 "\"%.200s\": example %" PRId64 " has the label %" PRId64 "; labels are 0 to %" PRId64, d->request.path,
                 d->done + d->numbering, label, d->map_count - 1);
        return -1;
    }
    if (d->map[label] < 0)
        d->map[label] = pair_integer(d, label, err);
    return d->map[label];
}
