/* Sounds of any rate and length, of folders or by their paths, as the model says that they were read. */
#include "tool/predict/raw.h"

#include "tool/model_text.h"
#include "tool/train/sounds.h"

#include <stdlib.h>
#include <sys/stat.h>

bool raw_sounds_is(const raw_data *d)
{
    struct stat entry;
    char *text = NULL;
    mw_error none = {0};
    if (picture_is_sound(d->request.path))
        return true;
    if (stat(d->request.path, &entry) != 0 || !S_ISDIR(entry.st_mode))
        return false;
    tool_model_text(d->request.model, d->request.model_path, NULL, TOOL_SOUND_KEY, &text, &none);
    const bool says_so = text != NULL;
    free(text);
    return says_so;
}

static bool read_options(const raw_data *d, mw_sound_options *out, mw_error *err)
{
    char *text;
    const raw_request *r = &d->request;
    if (!tool_model_text(r->model, r->model_path, NULL, TOOL_SOUND_KEY, &text, err))
        return false;
    const bool good = text != NULL && sounds_parse(text, out) && out->length * out->channels == d->elements;
    if (text == NULL)
        raw_fail(err, MW_ERROR_UNSUPPORTED,
                 "%.200s does not say how sounds become its input (\"%s\"); give their samples as a file of tensors",
                 r->model_path, TOOL_SOUND_KEY);
    else if (!good)
        raw_fail(err, MW_ERROR_FORMAT, "%.200s: \"%s\" is \"%.100s\", and the input \"%.60s\" takes %lld samples",
                 r->model_path, TOOL_SOUND_KEY, text, d->input.name, (long long)d->elements);
    free(text);
    return good;
}

static bool check_options(const raw_data *d, mw_error *err)
{
    const picture_settings *s = &d->request.settings.picture;
    const bool some =
        s->fit != NULL || s->crop > 0 || s->scale != 0 || s->mean != NULL || s->deviation != NULL || s->order != NULL;
    return !some || raw_fail(err, MW_ERROR_ARGUMENT,
                             "--fit, --crop, --scale, --mean, --deviation and --order have no effect on sounds");
}

bool raw_sounds_open(raw_data *d, mw_error *err)
{
    mw_sound_options options;
    const raw_request *r = &d->request;
    if (!raw_files_check_settings(d, err) || !check_options(d, err) ||
        !picture_list_open(&d->files, r->path, &picture_list_sounds, err) || !raw_files_check_labels(d, err) ||
        !read_options(d, &options, err))
        return false;
    options.bytes_max = 0;
    options.broken = r->settings.picture.skips_broken ? MW_BROKEN_SKIP : MW_BROKEN_LATE;
    options.on_broken = r->settings.picture.skips_broken ? raw_files_leave_out : NULL;
    options.user = d;
    const size_t count = d->files.count;
    char **paths = raw_files_copy_paths(d);
    d->set = paths != NULL ? mw_dataset_open_sound_files((const char *const *)paths, count, &options, err)
                           : (raw_fail_memory(err), NULL);
    raw_files_free_paths(paths, count);
    return d->set != NULL && raw_files_begin(d, err);
}
