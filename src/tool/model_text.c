/* Packages, ONNX files and folders of MIL say of themselves which classes they know and what was subtracted from their
 * inputs. RUN/about.json says the same of RUN/model. */
#include "tool/model_text.h"

#include "base/number.h"
#include "tool/config.h"
#include "tool/tool.h"

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

bool tool_has_place(const char *path) { return !tool_ends_in(path, ".espresso.net"); }

/* Numbers with spaces between, as a description has them. */
static char *print_numbers(const config_node *list)
{
    size_t count = 1, used = 0;
    for (const config_node *node = list->first; node != NULL; node = node->next)
        count++;
    char *text = malloc(count * (MW__NUMBER_MAX + 1));
    for (const config_node *node = list->first; text != NULL && node != NULL; node = node->next) {
        if (used > 0)
            text[used++] = ' ';
        used += mw__number_print_double(text + used, node->number);
    }
    if (text != NULL)
        text[used] = '\0';
    return text;
}

static char *read_about(const char *path, const char *key)
{
    config about;
    char file[PATH_BYTES + 16];
    mw_error local = {0};
    if (!is_in(path, "model.mil") || !is_in(path, "../about.json"))
        return NULL;
    snprintf(file, sizeof file, "%s/../about.json", path);
    const config_node *node = config_open(&about, file, &local) ? config_get(about.root, key) : NULL;
    char *text = node == NULL                  ? NULL
                 : node->kind == CONFIG_STRING ? strdup(node->text)
                 : node->kind == CONFIG_ARRAY  ? print_numbers(node)
                                               : NULL;
    config_close(&about);
    return text;
}

char *tool_model_text(const mw_model *model, const char *path, const char *key)
{
    char found[PATH_BYTES];
    const mw_description *d = mw_model_description(model);
    for (size_t i = 0; d != NULL && i < d->pair_count; i++) {
        if (strcmp(d->pairs[i].key, key) == 0)
            return strdup(d->pairs[i].value);
    }
    return read_about(tool_model_path(path, found, sizeof found), key);
}
