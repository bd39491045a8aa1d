/* mw_graph_write: the four formats behind one call. With check_only nothing is written, and every reason why it could
 * not be is found that does not depend on the values of weights. */
#include "runtime/model/model_file.h"

#include "base/number/float_mode.h"
#include "base/text/string.h"
#include "base/text/text.h"
#include "format/formats.h"
#include "format/given.h"
#include "graph/transform/clone/clone.h"
#include "mil/io.h"
#include "runtime/model/model_object.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- constants with other values, for a format whose writer does not ask for them ---- */

static bool put_value(void *user, mw__clone *clone, const mw__op *op)
{
    const mw_write_options *o = user;
    mw_tensor *value = op->result_count == 1 ? op->results[0] : NULL;
    if (value == NULL || value->name == NULL || !mw__is_constant(value) || op->block->owner != NULL ||
        (mw_tensor_dtype(value) != MW_F16 && mw_tensor_dtype(value) != MW_F32))
        return false;
    const void *data = o->replace(o->replace_user, value->name);
    if (data == NULL)
        return false;
    mw_tensor *made = mw_constant(clone->to, mw_tensor_dtype(value), mw_tensor_shape(value), data);
    mw__clone_set(clone, value, mw_name(made, value->name));
    return true;
}

static mw_graph *with_values(const mw_graph *graph, const mw_write_options *o, mw_error *err)
{
    const mw__clone_options options = {.rule = put_value, .user = (void *)o, .keep_outputs = true};
    mw_graph *copy = mw__clone_graph(graph->allocator, graph, &options, NULL, err);
    if (copy == NULL || mw_graph_check(copy, err) == MW_OK)
        return mw__graph_publish(copy, err);
    mw__graph_free(copy);
    return NULL;
}

/* ---- formats ---- */

static mw_status write_netplist(const mw_graph *graph, const char *path, const mw_write_options *o, mw_error *err)
{
    const mw__given_netplist *given = mw__given_get_netplist(path, err);
    if (given == NULL)
        return mw__status_or(err, MW_ERROR_UNSUPPORTED);
    mw_graph *own = o->replace != NULL ? with_values(graph, o, err) : NULL;
    if (o->replace != NULL && own == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    const mw_status status = given->write(own != NULL ? own : graph, path, o->bake, o->bake_user, o->check_only, err);
    mw_graph_destroy(own);
    return status;
}

static mw_status write_mil(const mw_graph *graph, const char *path, const mw_write_options *o, mw_error *err)
{
    if (!o->check_only)
        return mw__mil_write(graph, path, o, MW__WRITE_DURABLE, NULL, err);
    mw__text text;
    mw__text_init(&text, graph->allocator);
    const mw_status status = mw__mil_print(graph, o, &text, NULL, err);
    mw__text_deinit(&text);
    return status;
}

typedef mw_status format_writer(const mw_graph *graph, const char *path, const mw_write_options *options,
                                mw_error *err);

typedef struct format {
    const char *ending;
    unsigned use; /* mil/write_use.h */
    bool folder;  /* else a file */
    format_writer *write;
} format;

static const format formats[] = {
    {".mlpackage", MW__USE_PACKAGE, true, mw__coreml_write},
    {".onnx", MW__USE_ONNX, false, mw__onnx_write},
    {".espresso.net", MW__USE_NETPLIST, false, write_netplist},
    {"", MW__USE_MIL, true, write_mil}, /* what has no other ending */
};

/* ---- endings and options ---- */

/* The length of a path without slashes behind it, which a folder may have. */
static size_t length_of(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    return end;
}

/* In capitals, too. */
static bool has_ending(const char *path, const char *ending)
{
    const size_t length = strlen(ending), end = length_of(path);
    return end >= length && strncasecmp(path + end - length, ending, length) == 0;
}

static const format *format_of(const char *path)
{
    const format *found = formats;
    while (!has_ending(path, found->ending))
        found++;
    return found;
}

unsigned mw__model_file_use(const char *path) { return format_of(path)->use; }

/* Endings of files that are no folder of MIL, and that nothing here writes as a model. */
static const char *const others[] = {".mlmodel", ".mlmodelc", ".mil",  ".pb",    ".tflite",      ".h5",
                                     ".keras",   ".pt",       ".pth",  ".gguf",  ".safetensors", ".npz",
                                     ".npy",     ".zip",      ".json", ".plist", ".txt"};

static mw_status check_ending(const char *path, const char *call, mw_error *err)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (has_ending(path, others[i]))
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "%s: \"%.160s\": models are not written as %s, but as .mlpackage, .onnx, .espresso.net or "
                            "a folder of MIL",
                            call, path, others[i]);
    if (!format_of(path)->folder && path[strlen(path) - 1] == '/')
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: \"%.160s\" ends in a slash, as a folder does; %s is a file", call,
                        path, format_of(path)->ending);
    return MW_OK;
}

mw_status mw__model_file_check(const char *path, const mw_write_options *options, unsigned call_use, const char *call,
                               mw_error *err)
{
    MW_TRY(check_ending(path, call, err));
    return mw__write_use_check(options, mw__model_file_use(path) | call_use, call, path, err);
}

/* ---- the place ---- */

/* The folder of a file or package, which must be there; of a folder of MIL, which is made, the nearest that is there.
 * `path` is cut. */
static const char *find_folder(char *path, bool is_made)
{
    while (!is_made || (access(path, F_OK) != 0 && errno == ENOENT)) {
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return ".";
        is_made = is_made && slash > path;
        slash[slash == path] = '\0';
        if (!is_made)
            break;
    }
    return path;
}

static mw_status check_folder(const char *path, const char *folder, mw_error *err)
{
    struct stat status;
    if (stat(folder, &status) != 0 || (S_ISDIR(status.st_mode) && access(folder, W_OK | X_OK) != 0))
        return mw__fail(err, MW_ERROR_FILE, "\"%.200s\" cannot be written: the folder \"%.200s\": %s", path, folder,
                        strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return mw__fail(err, MW_ERROR_FILE, "\"%.200s\" cannot be written: \"%.200s\" is no folder", path, folder);
    return MW_OK;
}

static mw_status check_no_folder(const char *path, mw_error *err)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FILE, "\"%.200s\" cannot be written: it is a folder", path);
}

static mw_status check_place(const mw_graph *graph, const char *path, mw_error *err)
{
    const format *as = format_of(path);
    mw__text cut;
    mw__text_init(&cut, graph->allocator);
    mw__text_append(&cut, path, length_of(path));
    mw_status status = mw__text_check(&cut, err);
    if (status == MW_OK && !as->folder)
        status = check_no_folder(path, err);
    if (status == MW_OK)
        status = check_folder(path, find_folder(cut.data, as->use == MW__USE_MIL), err);
    mw__text_deinit(&cut);
    return status;
}

mw_status mw__model_file_write(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    MW_TRY(mw_graph_check(graph, err));
    if (options->check_only)
        MW_TRY(check_place(graph, path, err));
    mw__graph_hold(graph);
    const mw_status status = format_of(path)->write(graph, path, options, err);
    return mw__graph_drop(graph, "mw_graph_write", status, err);
}

mw_status mw_graph_write(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    const mw_write_options defaults = mw_write_defaults();
    options = options != NULL ? options : &defaults;
    if (mw__skips(err))
        return err->status;
    if (graph == NULL || path == NULL || path[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_write: %s",
                        graph == NULL ? "the graph is NULL" : "there is no path");
    MW_TRY(mw__model_file_check(path, options, MW__USE_GRAPH, __func__, err));
    return mw__model_file_write(graph, path, options, err);
}
