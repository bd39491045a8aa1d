/* Pictures of any size, of folders or by their paths. */
#include "tool/predict/raw.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool raw_pictures_is(const raw_data *d)
{
    struct stat entry;
    const bool is_folder = stat(d->request.path, &entry) == 0 && S_ISDIR(entry.st_mode);
    return is_folder || picture_is_file(d->request.path);
}

/* ---- opening ---- */

static void say_guess(const raw_data *d)
{
    const picture_plan *p = &d->plan;
    if (!p->is_said && !d->request.call->quiet)
        tool_complain(
            "%.200s does not say how pictures become its input: the middle of each is brought to %lld x %lld, "
            "bytes are divided by 255; --fit, --scale, --mean and --deviation say something else",
            d->request.model_path, (long long)p->options.height, (long long)p->options.width);
}

/* Those that cannot be read lose their place in the list; the first few are told of. */
void raw_files_leave_out(void *user, const char *name, const char *reason)
{
    enum { SAID_MAX = 20 };
    raw_data *d = user;
    const size_t before = d->files.count;
    picture_list_drop(&d->files, name);
    d->left_out += (int64_t)(before - d->files.count);
    if (d->left_out <= SAID_MAX)
        tool_complain("%s; it is left out", reason);
    if (d->left_out == SAID_MAX + 1)
        tool_complain("and maybe more like these");
}

bool raw_files_check_settings(const raw_data *d, mw_error *err)
{
    const raw_settings *s = &d->request.settings;
    const char *option = s->id != NULL       ? "--id"
                         : s->inputs != NULL ? "--inputs"
                         : s->target != NULL ? "--target"
                                             : NULL;
    return option == NULL || raw_fail(err, MW_ERROR_ARGUMENT,
                                      "%s has no effect on pictures and sounds: their paths name them, "
                                      "and folders say what they show",
                                      option);
}

bool raw_files_check_labels(const raw_data *d, mw_error *err)
{
    const answer *a = d->request.answer;
    if (!d->request.with_truth)
        return true;
    if (a->task != ANSWER_CLASSES)
        return raw_fail(err, MW_ERROR_UNSUPPORTED,
                        "\"%.200s\": folders say classes, and the model answers "
                        "%s",
                        d->request.path, answer_task_name(a->task));
    return d->files.labels != NULL || raw_fail(err, MW_ERROR_FORMAT,
                                               "\"%.200s\" has no folder for each class, so that nothing says what its "
                                               "files show: mw evaluate compares with it, and mw predict needs none",
                                               d->request.path);
}

/* The list gets shorter while a set is opened. */
char **raw_files_copy_paths(const raw_data *d)
{
    char **paths = malloc((d->files.count + 1) * sizeof *paths);
    for (size_t i = 0; paths != NULL && i < d->files.count; i++)
        paths[i] = strdup(d->files.paths[i]);
    return paths;
}

void raw_files_free_paths(char **paths, size_t count)
{
    for (size_t i = 0; paths != NULL && i < count; i++)
        free(paths[i]);
    free(paths);
}

static mw_dataset *open_files(raw_data *d, mw_error *err)
{
    mw_image_options options = d->plan.options;
    if (options.broken == MW_BROKEN_SKIP) {
        options.on_broken = raw_files_leave_out;
        options.user = d;
    }
    const size_t count = d->files.count;
    char **paths = raw_files_copy_paths(d);
    mw_dataset *set = paths != NULL ? mw_dataset_open_image_files((const char *const *)paths, count, &options, err)
                                    : (raw_fail_memory(err), NULL);
    raw_files_free_paths(paths, count);
    return set;
}

bool raw_files_begin(raw_data *d, mw_error *err)
{
    if (!raw_set_begin(d, err) || !d->request.with_truth)
        return err->status == MW_OK;
    class_list_free(&d->classes);
    d->classes = d->files.classes;
    d->files.classes = (class_list){0};
    return raw_pair_classes(d, err);
}

bool raw_pictures_open(raw_data *d, mw_error *err)
{
    const raw_request *r = &d->request;
    if (!raw_files_check_settings(d, err) || !picture_list_open(&d->files, r->path, &picture_list_pictures, err) ||
        !picture_plan_make(&d->plan, &r->settings.picture, r->model, r->model_path, &d->input, d->elements, err) ||
        !raw_files_check_labels(d, err))
        return false;
    say_guess(d);
    d->set = picture_plan_normalize(&d->plan, open_files(d, err), err);
    return d->set != NULL && raw_files_begin(d, err);
}

/* ---- serving ---- */

/* Red and blue change places. */
static bool swap_channels(raw_data *d, raw_piece *out, mw_error *err)
{
    mw_feed *feed = &out->feeds[0];
    const size_t size = (size_t)mw_dtype_bits(feed->dtype) / 8, bytes = feed->count * size;
    const bool first = d->plan.options.channels_first;
    const size_t plane = (size_t)(d->elements / 3) * size, unit = first ? plane : size;
    if (bytes > d->swapped_capacity) {
        uint8_t *wider = realloc(d->swapped, bytes);
        if (wider == NULL)
            return raw_fail_memory(err);
        d->swapped = wider;
        d->swapped_capacity = bytes;
    }
    for (size_t at = 0; at + 3 * unit <= bytes; at += 3 * unit)
        for (size_t c = 0; c < 3; c++)
            memcpy(d->swapped + at + c * unit, (const uint8_t *)feed->data + at + (2 - c) * unit, unit);
    feed->data = d->swapped;
    return true;
}

bool raw_pictures_finish(raw_data *d, raw_piece *piece, mw_error *err)
{
    if (d->plan.blue_first && !swap_channels(d, piece, err))
        return false;
    if (!d->request.with_truth)
        return true;
    if (!raw_reserve_truth(d, piece->examples, err))
        return false;
    for (int64_t i = 0; i < piece->examples; i++)
        d->truth_classes[i] = (int32_t)raw_find_class(d, d->files.labels[d->done + i], err);
    piece->classes = d->truth_classes;
    return err->status == MW_OK;
}
