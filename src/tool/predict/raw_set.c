/* Data sets: the MNIST family, files of tensors, and what other kinds of data have opened. */
#include "tool/predict/raw.h"

#include "base/text/string.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4200, AHEAD = 2 };

/* ---- the MNIST family ---- */

static bool is_there(const char *folder, const char *prefix)
{
    char path[PATH_BYTES];
    struct stat entry;
    snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", folder, prefix);
    if (stat(path, &entry) == 0)
        return true;
    snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte.gz", folder, prefix);
    return stat(path, &entry) == 0;
}

/* The folder and the prefix of a path: FOLDER, of which the test set counts, or FOLDER/PREFIX-images-idx3-ubyte. */
static bool find_idx(const char *path, char *folder, char *prefix, size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *end = strstr(name, "-images-idx3-ubyte");
    snprintf(folder, PATH_BYTES, "%s", path);
    snprintf(prefix, size, "%s", is_there(path, "t10k") ? "t10k" : "train");
    if (is_there(path, prefix))
        return true;
    if (end == NULL)
        return false;
    snprintf(folder, PATH_BYTES, "%.*s", slash != NULL ? (int)(slash - path) : 1, slash != NULL ? path : ".");
    snprintf(prefix, size, "%.*s", (int)(end - name), name);
    return is_there(folder[0] != '\0' ? folder : "/", prefix);
}

bool raw_set_is_idx(const raw_data *d)
{
    char folder[PATH_BYTES], prefix[256];
    return find_idx(d->request.path, folder, prefix, sizeof prefix);
}

/* Pictures of a fixed size, with the scale that the model takes. */
static bool plan_bytes(raw_data *d, mw_error *err)
{
    mw_error none = {0};
    const picture_settings *s = &d->request.settings.picture;
    if (s->fit != NULL || s->crop > 0 || s->skips_broken || s->order != NULL)
        return raw_fail(err, MW_ERROR_ARGUMENT,
                        "--fit, --crop, --order and --skip-broken have no effect on "
                        "\"%.200s\": its pictures are taken as they are",
                        d->request.path);
    if (!picture_plan_make(&d->plan, s, d->request.model, d->request.model_path, &d->input, d->elements, &none))
        d->plan = (picture_plan){.scale = s->scale != 0 ? (float)s->scale : 1.0f / 255.0f}; /* a vector */
    const mw_column *x = mw_dataset_column_at(d->set, 0);
    if (x == NULL || mw_shape_count(x->shape) == d->elements)
        return true;
    char shape[128], wanted[128];
    return raw_fail(err, MW_ERROR_SHAPE, "\"%.200s\" has pictures of %s, and the input \"%.60s\" takes %s",
                    d->request.path, tool_shape(shape, sizeof shape, x->shape), d->input.name,
                    tool_shape(wanted, sizeof wanted, d->input.shape));
}

bool raw_set_open_idx(raw_data *d, mw_error *err)
{
    char folder[PATH_BYTES], prefix[256];
    find_idx(d->request.path, folder, prefix, sizeof prefix);
    d->set = mw_dataset_open_idx(folder[0] != '\0' ? folder : "/", prefix, err);
    if (d->set == NULL || !plan_bytes(d, err))
        return false;
    d->set = picture_plan_normalize(&d->plan, d->set, err);
    d->label = d->request.with_truth ? "y" : NULL;
    return raw_set_begin(d, err);
}

/* ---- files of tensors ---- */

bool raw_set_is_tensors(const raw_data *d)
{
    (void)d;
    return true;
}

/* The tensor of an input: of its name, "x" of the first, or the only one that the file has. */
static const mw_tensor_info *find_tensor(const mw_tensors *tensors, const char *name, bool is_first)
{
    const mw_tensor_info *found = mw_tensors_find(tensors, name);
    if (found == NULL && is_first)
        found = mw_tensors_find(tensors, "x");
    return found != NULL || !is_first || mw_tensors_get_info(tensors).count != 1 ? found : mw_tensors_at(tensors, 0);
}

static bool fail_tensor(const raw_data *d, const mw_tensors *tensors, const char *name, const char *what, mw_error *err)
{
    char names[240];
    size_t used = 0;
    const mw_tensor_info *info;
    names[0] = '\0';
    for (size_t i = 0; (info = mw_tensors_at(tensors, i)) != NULL && used + strlen(info->name) + 3 < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", info->name);
    return raw_fail(err, MW_ERROR_FORMAT, "\"%.200s\" has no tensor \"%.60s\"%s; it has %s", d->request.path, name,
                    what, names[0] != '\0' ? names : "none with a short name");
}

/* A column for each input, and one of what is true. */
static bool choose_tensors(raw_data *d, const mw_tensors *tensors, mw_tensor_column *columns, size_t *count,
                           mw_error *err)
{
    mw_port port;
    const bool integers = d->input.dtype == MW_I32;
    for (size_t i = 0; mw_model_port_at(d->request.model, i, &port); i++) {
        if (port.is_output)
            continue;
        const mw_tensor_info *info = find_tensor(tensors, port.name, *count == 0);
        if (info == NULL)
            return fail_tensor(d, tensors, port.name, ", an input of the model", err);
        if (*count + 2 > RAW_FEEDS_MAX)
            return raw_fail(err, MW_ERROR_UNSUPPORTED, "%.200s has more than %d inputs", d->request.model_path,
                            RAW_FEEDS_MAX - 2);
        columns[(*count)++] = (mw_tensor_column){
            .name = port.name, .tensor = info->name, .dtype = integers ? MW_I64 : MW_DTYPE_NONE, .scale = 1};
    }
    d->label = d->request.settings.target != NULL ? d->request.settings.target : "y";
    const mw_tensor_info *truth = mw_tensors_find(tensors, d->label);
    if (d->request.with_truth && truth == NULL)
        return fail_tensor(d, tensors, d->label,
                           " of what is true; --target names it. mw evaluate compares with it, "
                           "and mw predict needs none",
                           err);
    if (!d->request.with_truth || truth == NULL)
        d->label = NULL;
    else
        columns[(*count)++] = (mw_tensor_column){.name = d->label, .tensor = truth->name, .scale = 1};
    return true;
}

static bool is_unused(raw_data *d, mw_error *err)
{
    const raw_settings *s = &d->request.settings;
    const char *option = s->id != NULL ? "--id" : s->inputs != NULL ? "--inputs" : NULL;
    return option == NULL || raw_fail(err, MW_ERROR_ARGUMENT, "%s has no effect on \"%.200s\", which is no table",
                                      option, d->request.path);
}

bool raw_set_open_tensors(raw_data *d, mw_error *err)
{
    mw_tensor_column columns[RAW_FEEDS_MAX];
    size_t count = 0;
    mw_tensors *tensors = is_unused(d, err) ? mw_tensors_open(d->request.path, err) : NULL;
    if (tensors != NULL && choose_tensors(d, tensors, columns, &count, err))
        d->set = mw_dataset_open_tensors(d->request.path, columns, count, err);
    mw_tensors_destroy(tensors);
    return d->set != NULL && raw_set_begin(d, err);
}

/* ---- serving ---- */

static const mw_column *find_column(const mw_dataset *set, const char *name)
{
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(set, i)) != NULL; i++)
        if (strcmp(column->name, name) == 0)
            return column;
    return NULL;
}

/* The truth of an example is a class, or as many numbers as the answer has. */
static bool check_truth(const raw_data *d, mw_error *err)
{
    const answer *a = d->request.answer;
    const mw_column *y = d->label != NULL ? find_column(d->set, d->label) : NULL;
    const int64_t wanted = a->task == ANSWER_CLASSES ? 1 : a->width;
    if (d->label == NULL)
        return true;
    if (y == NULL)
        return raw_fail(err, MW_ERROR_FORMAT,
                        "\"%.200s\" has no \"%.60s\": mw evaluate compares with it, and mw "
                        "predict needs none",
                        d->request.path, d->label);
    return mw_shape_count(y->shape) == wanted ||
           raw_fail(err, MW_ERROR_SHAPE,
                    "\"%.200s\": \"%.60s\" has %lld numbers of an example, and the model's answer "
                    "is %s of %lld: it takes %lld",
                    d->request.path, d->label, (long long)mw_shape_count(y->shape), answer_task_name(a->task),
                    (long long)a->width, (long long)wanted);
}

bool raw_set_begin(raw_data *d, mw_error *err)
{
    const mw_column *x = mw_dataset_column_at(d->set, 0);
    char shape[128], wanted[128];
    if (x == NULL || d->set == NULL)
        return false;
    if (mw_shape_count(x->shape) != d->elements)
        return raw_fail(err, MW_ERROR_SHAPE,
                        "\"%.200s\" has %s of an example, which are %lld numbers, and the input \"%.60s\" takes %s, of "
                        "which each example has %lld",
                        d->request.path, tool_shape(shape, sizeof shape, x->shape), (long long)mw_shape_count(x->shape),
                        d->input.name, tool_shape(wanted, sizeof wanted, d->input.shape), (long long)d->elements);
    d->examples = mw_dataset_examples(d->set);
    if (d->label != NULL && d->request.answer->task == ANSWER_CLASSES && d->classes.count == 0 &&
        (!class_list_of_dataset(&d->classes, d->set, d->label, err) || !raw_pair_classes(d, err)))
        return false;
    return check_truth(d, err);
}

static bool begin_loader(raw_data *d, mw_error *err)
{
    const bool unpacks = d->files.count > 0;
    mw_dataset *ahead = mw_dataset_prefetch_threads(d->set, unpacks ? 2 * AHEAD : AHEAD, unpacks ? AHEAD : 1, err);
    mw_loader_options options = mw_loader_defaults(ahead, d->most);
    options.shuffle = options.drop_last = false;
    d->loader = ahead != NULL ? mw_loader_create(&options, err) : NULL;
    mw_dataset_destroy(ahead);
    return d->loader != NULL;
}

double raw_number_at(const mw_feed *feed, size_t i)
{
    const double scale = feed->scale != 0.0f ? (double)feed->scale : 1;
    double value = NAN;
    switch (feed->dtype) {
    case MW_U8:
    case MW_BOOL:
        value = ((const uint8_t *)feed->data)[i];
        break;
    case MW_I8:
        value = ((const int8_t *)feed->data)[i];
        break;
    case MW_I16:
        value = ((const int16_t *)feed->data)[i];
        break;
    case MW_U16:
        value = ((const uint16_t *)feed->data)[i];
        break;
    case MW_I32:
        value = ((const int32_t *)feed->data)[i];
        break;
    case MW_I64:
        value = (double)((const int64_t *)feed->data)[i];
        break;
    case MW_F32:
        value = (double)((const float *)feed->data)[i];
        break;
    case MW_F64:
        value = ((const double *)feed->data)[i];
        break;
    default:
        break;
    }
    return value * scale + (double)feed->offset;
}

static bool take_class(raw_data *d, const mw_feed *feed, int64_t i, mw_error *err)
{
    const double label = raw_number_at(feed, (size_t)i);
    if (label != floor(label) || fabs(label) > 1e9)
        return raw_fail(err, MW_ERROR_FORMAT,
                        "\"%.200s\": example %lld has the label %g, which is no number of a class", d->request.path,
                        (long long)(d->done + i + d->numbering), label);
    d->truth_classes[i] = (int32_t)raw_find_class(d, (int64_t)label, err);
    return err->status == MW_OK;
}

double raw_in_unit(const mw_table_encoder *encoder, int64_t place, double value)
{
    mw_encoded_target target;
    size_t targets = 0;
    while (mw_table_encoder_target_at(encoder, targets, &target))
        targets++;
    if (targets == 0)
        return value;
    mw_table_encoder_target_at(encoder, (size_t)place % targets, &target);
    value = target.mean + target.deviation * value;
    return target.logarithm ? exp(value) : value;
}

static bool take_truth(raw_data *d, const mw_feed *feed, raw_piece *out, mw_error *err)
{
    const answer *a = d->request.answer;
    const int64_t count = out->examples * (a->task == ANSWER_CLASSES ? 1 : a->width);
    if (!raw_reserve_truth(d, out->examples, err))
        return false;
    for (int64_t i = 0; i < count; i++) {
        if (a->task != ANSWER_CLASSES)
            d->truth_values[i] =
                (float)raw_in_unit(d->is_scaled ? d->encoder : NULL, i, raw_number_at(feed, (size_t)i));
        else if (!take_class(d, feed, i, err))
            return false;
    }
    out->classes = a->task == ANSWER_CLASSES ? d->truth_classes : NULL;
    out->values = a->task == ANSWER_CLASSES ? NULL : d->truth_values;
    return true;
}

/* The feed of an input: "x" is the first. Bytes of pictures are scaled as the model takes them. */
static mw_feed name_feed(const raw_data *d, const mw_feed *feed, int64_t batch, int64_t examples)
{
    mw_feed out = *feed;
    out.name = strcmp(feed->name, "x") == 0 ? d->input.name : feed->name;
    out.count = feed->count / (size_t)batch * (size_t)examples;
    if (feed->dtype == MW_U8 && d->plan.scale > 0 && !d->plan.normalizes)
        out.scale = d->plan.scale;
    return out;
}

static bool take_batch(raw_data *d, const mw_batch *batch, raw_piece *out, mw_error *err)
{
    for (size_t i = 0; i < batch->feed_count; i++) {
        const mw_feed *feed = &batch->feeds[i];
        if (d->label != NULL && strcmp(feed->name, d->label) == 0) {
            if (!take_truth(d, feed, out, err))
                return false;
        } else if (out->feed_count < RAW_FEEDS_MAX) {
            out->feeds[out->feed_count++] = name_feed(d, feed, d->most, batch->examples);
        }
    }
    return d->files.count == 0 || raw_pictures_finish(d, out, err);
}

bool raw_set_each(raw_data *d, mw_error *err)
{
    const mw_batch *batch;
    if (!begin_loader(d, err))
        return false;
    while ((batch = mw_loader_next(d->loader, err)) != NULL) {
        raw_piece piece = {.examples = batch->examples};
        if (!take_batch(d, batch, &piece, err) || !raw_hand_out(d, &piece, err))
            return false;
    }
    return err->status == MW_OK;
}
