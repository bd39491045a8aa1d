/* How hidden states become one vector: modules.json of sentence-transformers and what it names, or the keys of GGUF. */
#include "base/text/string.h"
#include "text/json/tree.h"
#include "text/pretrained/pretrained.h"

#include <millwright/tensors.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What is being read: files of a folder, as trees in one arena. */
typedef struct form_reading {
    const char *folder;
    mw__arena tree;
    mw_error *err;
} form_reading;

enum { PATH_MOST = 4400, MOST_BYTES = 1 << 20 };

/* A file of the folder; NULL if there is none, or with an error set. */
static const mw__json_node *read_file(form_reading *r, const char *name)
{
    char path[PATH_MOST], *text = NULL;
    size_t size = 0;
    struct stat found;
    const int length = snprintf(path, sizeof path, "%s/%s", r->folder, name);
    if (length < 0 || (size_t)length >= sizeof path || stat(path, &found) != 0)
        return NULL;
    if (mw__file_read(mw__allocator_default(), path, MOST_BYTES, &text, &size, r->err) != MW_OK)
        return NULL;
    const mw__json_node *root = mw__tree_read(&r->tree, text, size, r->err);
    mw__free(mw__allocator_default(), text);
    return root;
}

/* ---- pooling ---- */

static const struct {
    const char *key, *name; /* in older files and in newer ones */
    mw_pooling pooling;     /* MW_POOLING_OF_FOLDER: not built */
} kinds[] = {
    {"pooling_mode_mean_tokens", "mean", MW_POOLING_MEAN},
    {"pooling_mode_cls_token", "cls", MW_POOLING_CLS},
    {"pooling_mode_max_tokens", "max", MW_POOLING_OF_FOLDER},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", MW_POOLING_OF_FOLDER},
    {"pooling_mode_weightedmean_tokens", "weightedmean", MW_POOLING_OF_FOLDER},
    {"pooling_mode_lasttoken", "lasttoken", MW_POOLING_OF_FOLDER},
};

static mw_status take_pooling(const form_reading *r, const mw__json_node *root, mw__pretrained_sentence *out)
{
    const char *name = mw__tree_text(root, "pooling_mode");
    size_t count = 0, found = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool on = name != NULL ? strcmp(name, kinds[i].name) == 0 : mw__tree_bool(root, kinds[i].key, false);
        found = on ? i : found;
        count += on;
    }
    out->pooling = kinds[found].pooling;
    if (count == 1 && out->pooling != MW_POOLING_OF_FOLDER)
        return MW_OK;
    return mw__fail(r->err, MW_ERROR_UNSUPPORTED,
                    "\"%.200s\": the pooling is %s%.40s; the mean of all tokens, or the first one (cls) is known",
                    r->folder, count > 1 ? "several vectors behind each other, the last by " : "",
                    name != NULL ? name
                    : count == 0 ? "of no known kind"
                                 : kinds[found].name);
}

/* ---- modules ---- */

static mw_status take_module(form_reading *r, const mw__json_node *module, mw__pretrained_sentence *out)
{
    const char *type = mw__tree_text(module, "type"), *path = mw__tree_text(module, "path");
    const char *dot = type != NULL ? strrchr(type, '.') : NULL;
    const char *kind = dot != NULL ? dot + 1 : type != NULL ? type : "";
    char name[300];
    if (strcmp(kind, "Transformer") == 0 && (path == NULL || path[0] == '\0'))
        return MW_OK;
    out->unit = out->unit || strcmp(kind, "Normalize") == 0;
    if (strcmp(kind, "Normalize") == 0)
        return MW_OK;
    if (strcmp(kind, "Pooling") != 0 || path == NULL || strchr(path, '/') != NULL || path[0] == '.' ||
        strlen(path) > 200)
        return mw__fail(r->err, MW_ERROR_UNSUPPORTED,
                        "modules.json: \"%.60s\" in \"%.60s\"; known are Transformer in the folder itself, Pooling in "
                        "a folder of it, and Normalize",
                        kind, path != NULL ? path : "");
    snprintf(name, sizeof name, "%s/config.json", path);
    const mw__json_node *root = read_file(r, name);
    if (root == NULL)
        return mw__failed(r->err) ? r->err->status
                                  : mw__fail(r->err, MW_ERROR_FILE, "\"%.200s\" has no %s", r->folder, name);
    return take_pooling(r, root, out);
}

static mw_status take_modules(form_reading *r, mw__pretrained_sentence *out)
{
    const mw__json_node *root = read_file(r, "modules.json");
    MW_TRY(r->err->status);
    if (root == NULL)
        return MW_OK;
    if (!mw__tree_is(root, MW__JSON_IS_ARRAY))
        return mw__fail(r->err, MW_ERROR_FORMAT, "modules.json is no list of modules");
    for (const mw__json_node *module = root->first; module != NULL; module = module->next)
        MW_TRY(take_module(r, module, out));
    return MW_OK;
}

/* The most tokens of a text. */
static mw_status take_length(form_reading *r, mw__pretrained_sentence *out)
{
    const mw__json_node *root = read_file(r, "sentence_bert_config.json");
    MW_TRY(r->err->status);
    const double most = mw__tree_number(root, "max_seq_length", 0.0);
    if (!(most >= 0.0 && most <= 1e9) || most != (double)(int64_t)most)
        return mw__fail(r->err, MW_ERROR_FORMAT, "sentence_bert_config.json: max_seq_length is %g", most);
    out->most = (int64_t)most;
    return MW_OK;
}

static mw_status read_folder(form_reading *r, mw__pretrained_sentence *out)
{
    MW_TRY(take_modules(r, out));
    return take_length(r, out);
}

/* ---- GGUF ---- */

static mw_status read_keys(const mw__pretrained *p, mw__pretrained_sentence *out, mw_error *err)
{
    const char *type = mw_tensors_note_find(p->tensors, "bert.pooling_type");
    out->pooling = type != NULL && strcmp(type, "2") == 0 ? MW_POOLING_CLS : MW_POOLING_MEAN;
    if (type == NULL || strcmp(type, "0") == 0 || strcmp(type, "1") == 0 || strcmp(type, "2") == 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "bert.pooling_type is %.20s; 1 (mean) and 2 (cls) are known", type);
}

mw_status mw__pretrained_read_sentence(const mw__pretrained *files, mw__pretrained_sentence *out, mw_error *err)
{
    *out = (mw__pretrained_sentence){.pooling = MW_POOLING_MEAN};
    if (files->form == &mw__pretrained_gguf)
        return read_keys(files, out, err);
    form_reading r = {.folder = files->path, .err = err};
    mw__arena_init(&r.tree, mw__allocator_default());
    const mw_status status = read_folder(&r, out);
    mw__arena_deinit(&r.tree);
    return status;
}
