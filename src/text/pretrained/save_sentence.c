/* What sentence-transformers has beside the weights, in a folder that is being made: copies of what modules.json names,
 * or what the keys of GGUF say. */
#include "base/text/text.h"
#include "text/json/tree.h"
#include "text/pretrained/save.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_MOST = 4400, MODULES_MOST = 1 << 20 };

static mw_status join_path(const char *folder, const char *name, char out[PATH_MOST], mw_error *err)
{
    const int length = snprintf(out, PATH_MOST, "%s/%s", folder, name);
    return length > 0 && length < PATH_MOST ? MW_OK : mw__fail(err, MW_ERROR_ARGUMENT, "save: a path is too long");
}

static bool exists(const char *path, bool folder)
{
    struct stat found;
    return stat(path, &found) == 0 && (!folder || S_ISDIR(found.st_mode));
}

/* ---- copies ---- */

static mw_status copy_one(const char *from, const char *to, const char *name, mw_error *err)
{
    char path[PATH_MOST], *data = NULL;
    size_t size = 0;
    MW_TRY(join_path(from, name, path, err));
    if (!exists(path, false))
        return MW_OK;
    MW_TRY(mw__file_read(mw__allocator_default(), path, (size_t)1 << 30, &data, &size, err));
    mw_status status = join_path(to, name, path, err);
    if (status == MW_OK)
        status = mw__file_write(mw__allocator_default(), path, data, size, true, err);
    mw__free(mw__allocator_default(), data);
    return status;
}

static mw_status make_folder(const char *path, mw_error *err)
{
    return mkdir(path, 0777) == 0 ? MW_OK
                                  : mw__fail(err, MW_ERROR_FILE, "save: the folder \"%.200s\" cannot be made", path);
}

/* A folder inside the source, by its name alone. */
static mw_status copy_module(const char *source, const char *folder, const char *name, mw_error *err)
{
    static const char *const files[] = {"config.json", "model.safetensors", "pytorch_model.bin"};
    char from[PATH_MOST], to[PATH_MOST];
    const bool plain = name != NULL && name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
    if (!plain)
        return MW_OK;
    MW_TRY(join_path(source, name, from, err));
    MW_TRY(join_path(folder, name, to, err));
    if (!exists(from, true) || exists(to, false))
        return MW_OK;
    MW_TRY(make_folder(to, err));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        MW_TRY(copy_one(from, to, files[i], err));
    return MW_OK;
}

static mw_status copy_modules(const char *source, const char *folder, mw__arena *tree, mw_error *err)
{
    char path[PATH_MOST], *text = NULL;
    size_t size = 0;
    MW_TRY(join_path(source, "modules.json", path, err));
    if (!exists(path, false))
        return MW_OK;
    MW_TRY(mw__file_read(mw__allocator_default(), path, MODULES_MOST, &text, &size, err));
    const mw__json_node *root = mw__tree_read(tree, text, size, err);
    mw__free(mw__allocator_default(), text);
    MW_TRY(err->status);
    for (const mw__json_node *m = mw__tree_is(root, MW__JSON_IS_ARRAY) ? root->first : NULL; m != NULL; m = m->next)
        MW_TRY(copy_module(source, folder, mw__tree_text(m, "path"), err));
    return MW_OK;
}

mw_status mw__saving_copy_modules(const char *source, const char *folder, mw_error *err)
{
    mw__arena tree;
    mw__arena_init(&tree, mw__allocator_default());
    const mw_status status = copy_modules(source, folder, &tree, err);
    mw__arena_deinit(&tree);
    return status;
}

/* ---- from GGUF ---- */

static mw_status put_file(const char *folder, const char *name, const char *text, mw_error *err)
{
    char path[PATH_MOST];
    MW_TRY(join_path(folder, name, path, err));
    return mw__file_write(mw__allocator_default(), path, text, strlen(text), true, err);
}

mw_status mw__saving_write_modules(const mw__pretrained *source, const char *folder, mw_error *err)
{
    static const char modules[] =
        "[{\"idx\": 0, \"name\": \"0\", \"path\": \"\", \"type\": \"sentence_transformers.models.Transformer\"},\n"
        " {\"idx\": 1, \"name\": \"1\", \"path\": \"1_Pooling\", \"type\": "
        "\"sentence_transformers.models.Pooling\"}]\n";
    char pooling[300], path[PATH_MOST];
    mw__pretrained_sentence sentence;
    MW_TRY(mw__pretrained_read_sentence(source, &sentence, err));
    const bool first = sentence.pooling == MW_POOLING_CLS;
    snprintf(pooling, sizeof pooling,
             "{\"word_embedding_dimension\": %lld, \"pooling_mode_cls_token\": %s, \"pooling_mode_mean_tokens\": %s}\n",
             (long long)source->config.width, first ? "true" : "false", first ? "false" : "true");
    MW_TRY(join_path(folder, "1_Pooling", path, err));
    MW_TRY(make_folder(path, err));
    MW_TRY(put_file(folder, "1_Pooling/config.json", pooling, err));
    return put_file(folder, "modules.json", modules, err);
}
