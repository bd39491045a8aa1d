/* Packages, ONNX files and folders of MIL say of themselves which classes they know and what was subtracted from their
 * inputs. RUN/about.json says the same of RUN/model. */
#include "tool/model_text.h"

#include "base/number/number.h"
#include "base/text/printable.h"
#include "base/text/string.h"
#include "tool/config.h"
#include "tool/data_scale.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4400 };

static bool is_in(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    struct stat entry;
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path && stat(path, &entry) == 0;
}

const char *tool_model_path(const char *path, char *out, size_t size)
{
    static const char *const models[] = {"model.mil", "Manifest.json", "coremldata.bin"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (is_in(path, models[i]))
            return path;
    }
    const int length = is_in(path, "model/model.mil") ? snprintf(out, size, "%s/model", path) : 0;
    return length > 0 && (size_t)length < size ? out : path;
}

bool tool_has_place(const char *path) { return !mw__string_ends(path, ".espresso.net"); }

/* ---- about.json ---- */

/* Numbers with spaces between, as a description has them. */
static char *print_numbers(config *about, const config_node *list)
{
    size_t count = 1, used = 0;
    for (const config_node *node = list->first; node != NULL; node = node->next) {
        if (node->kind != CONFIG_NUMBER)
            config_fail(about, node, "\"%s\" is a list of numbers", list->key);
        count++;
    }
    if (list->first == NULL)
        config_fail(about, list, "\"%s\" has no numbers", list->key);
    char *text = about->err->status == MW_OK ? malloc(count * (MW__NUMBER_MAX + 1)) : NULL;
    for (const config_node *node = list->first; text != NULL && node != NULL; node = node->next) {
        if (used > 0)
            text[used++] = ' ';
        used += mw__number_print_double(text + used, node->number);
    }
    if (text != NULL)
        text[used] = '\0';
    return text;
}

static char *print_node(config *about, const config_node *node)
{
    if (node->kind == CONFIG_STRING)
        return strdup(node->text);
    if (node->kind == CONFIG_ARRAY && strcmp(node->key, DATA_OFFSETS_KEY) == 0)
        return print_numbers(about, node);
    config_fail(about, node, "\"%s\" is %s", node->key,
                strcmp(node->key, DATA_OFFSETS_KEY) == 0 ? "a list of numbers" : "a text");
    return NULL;
}

/* Whether there is a file; one that cannot be looked at is found so when it is read. */
static bool may_be_there(const char *file)
{
    struct stat entry;
    return stat(file, &entry) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* That beside RUN/model, whether the folder or its text was named; or else that of `run`. */
static bool find_about(const char *path, const char *run, char *out, size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    if (is_in(path, "model.mil"))
        snprintf(out, size, "%s/../about.json", path);
    else if (strcmp(name, "model.mil") == 0)
        snprintf(out, size, "%.*s../about.json", (int)(name - path), path);
    else
        out[0] = '\0';
    if (out[0] != '\0' && may_be_there(out))
        return true;
    snprintf(out, size, "%s/about.json", run != NULL ? run : "");
    return run != NULL && may_be_there(out);
}

static bool read_about(const char *path, const char *run, const char *key, char **out, mw_error *err)
{
    config about;
    char file[PATH_BYTES + 32];
    mw_error local = {0};
    if (!find_about(path, run, file, sizeof file))
        return true;
    const config_node *node = config_open(&about, file, &local) ? config_get(about.root, key) : NULL;
    *out = node != NULL ? print_node(&about, node) : NULL;
    if (local.status == MW_OK && node != NULL && *out == NULL)
        local.status = MW_ERROR_MEMORY;
    config_close(&about);
    if (local.status == MW_OK)
        return true;
    err->status = local.status;
    mw__printable_printf(err->message, sizeof err->message,
                         "\"%s\" of the model is looked for in %.150s, as the model does not say it: %.250s", key, file,
                         local.message[0] != '\0' ? local.message : mw_status_name(local.status));
    return false;
}

/* ---- what a model says ---- */

const char *const tool_model_keys[TOOL_MODEL_KEYS] = {"classes",        DATA_OFFSETS_KEY, DATA_TABLE_KEY,
                                                      TOOL_TASK_KEY,    TOOL_TARGET_KEY,  TOOL_FIELDS_KEY,
                                                      TOOL_PICTURE_KEY, TOOL_SOUND_KEY};

/* The first of a key counts. */
static const char *find_pair(const mw_description *d, const char *key)
{
    for (size_t i = 0; d != NULL && i < d->pair_count; i++) {
        if (strcmp(d->pairs[i].key, key) == 0)
            return d->pairs[i].value;
    }
    return NULL;
}

bool tool_model_text(const mw_model *model, const char *path, const char *run, const char *key, char **out,
                     mw_error *err)
{
    char inside[PATH_BYTES];
    const mw_description *d = mw_model_get_info(model).description;
    const char *found = find_pair(d, key);
    *out = found != NULL ? strdup(found) : NULL;
    if (found != NULL && *out == NULL)
        err->status = MW_ERROR_MEMORY;
    if (found != NULL)
        return *out != NULL;
    for (size_t i = 0; i < TOOL_MODEL_KEYS; i++)
        run = find_pair(d, tool_model_keys[i]) != NULL ? NULL : run;
    return read_about(tool_model_path(path, inside, sizeof inside), run, key, out, err);
}

bool tool_describe(tool_description *out, const mw_model *model, const char *path, mw_error *err)
{
    const mw_description *d = mw_model_get_info(model).description;
    *out = (tool_description){.described = d != NULL ? *d : mw_description_defaults()};
    mw_description *made = &out->described;
    out->pairs = calloc(made->pair_count + TOOL_MODEL_KEYS, sizeof *out->pairs);
    if (out->pairs == NULL) {
        err->status = MW_ERROR_MEMORY;
        return false;
    }
    for (size_t i = 0; i < made->pair_count; i++)
        out->pairs[i] = made->pairs[i];
    for (size_t i = 0; i < TOOL_MODEL_KEYS; i++) {
        if (find_pair(d, tool_model_keys[i]) != NULL)
            continue;
        if (!tool_model_text(model, path, NULL, tool_model_keys[i], &out->texts[i], err))
            return false;
        if (out->texts[i] != NULL)
            out->pairs[made->pair_count++] = (mw_text_pair){tool_model_keys[i], out->texts[i]};
        out->is_longer = out->is_longer || out->texts[i] != NULL;
    }
    made->pairs = out->pairs;
    return true;
}

void tool_description_free(tool_description *said)
{
    for (size_t i = 0; i < TOOL_MODEL_KEYS; i++)
        free(said->texts[i]);
    free(said->pairs);
    *said = (tool_description){.pairs = NULL};
}

mw_status tool_write_model(const mw_model *model, const char *from, const char *path, mw_error *err)
{
    tool_description said;
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    options.description = &said.described;
    const bool good = tool_describe(&said, model, from, err);
    mw_model *copy = good && said.is_longer ? mw_model_create(mw_model_get_info(model).graph, &options, err) : NULL;
    if (good && err->status == MW_OK)
        mw_model_write(copy != NULL ? copy : model, path, NULL, err);
    mw_model_destroy(copy);
    tool_description_free(&said);
    return err->status;
}
