/* The four formats behind one call. With check_only nothing is written, and every reason why it could not be is found
 * that does not depend on the values of weights. */
#include "runtime/model/model_file.h"

#include "base/text/string.h"
#include "base/text/text.h"
#include "format/given.h"
#include "graph/transform/clone/clone.h"
#include "mil/io.h"
#include "runtime/model/model_object.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

mw__model_file_kind mw__model_file_kind_of(const char *path)
{
    return mw__string_ends(path, ".mlpackage")      ? MW__FILE_PACKAGE
           : mw__string_ends(path, ".onnx")         ? MW__FILE_ONNX
           : mw__string_ends(path, ".espresso.net") ? MW__FILE_NETPLIST
                                                    : MW__FILE_MIL;
}

/* ---- constants with other values, for a format whose writer does not ask for them ---- */

static bool put_value(void *user, mw__clone *clone, const mw__op *op)
{
    const mw__model_file *file = user;
    mw_tensor *value = op->result_count == 1 ? op->results[0] : NULL;
    if (value == NULL || value->name == NULL || !mw__is_constant(value) || op->block->owner != NULL ||
        (mw_tensor_dtype(value) != MW_F16 && mw_tensor_dtype(value) != MW_F32))
        return false;
    const void *data = file->replace(file->user, value->name);
    if (data == NULL)
        return false;
    mw_tensor *made = mw_constant(clone->to, mw_tensor_dtype(value), mw_tensor_shape(value), data);
    mw__clone_set(clone, value, mw_name(made, value->name));
    return true;
}

static mw_graph *with_values(const mw_graph *graph, const mw__model_file *file, mw_error *err)
{
    const mw__clone_options options = {.rule = put_value, .user = (void *)file, .keep_outputs = true};
    mw_graph *copy = mw__clone_graph(graph->allocator, graph, &options, NULL, err);
    if (copy == NULL || mw_graph_check(copy, err) == MW_OK)
        return mw__graph_publish(copy, err);
    mw__graph_free(copy);
    return NULL;
}

/* ---- formats ---- */

static mw_status write_package(const mw_graph *graph, const mw__model_file *file, mw_error *err)
{
    mw_coreml_write_options options = file->coreml != NULL ? *file->coreml : mw_coreml_write_defaults();
    options.description = file->description != NULL ? file->description : options.description;
    options.bake = file->bake;
    options.replace = file->replace;
    options.bake_user = options.replace_user = file->user;
    options.check_only = options.check_only || file->check_only;
    return mw_graph_write_coreml(graph, file->path, &options, err);
}

static mw_status write_onnx(const mw_graph *graph, const mw__model_file *file, mw_error *err)
{
    mw_onnx_write_options options = file->onnx != NULL ? *file->onnx : mw_onnx_write_defaults();
    options.description = file->description != NULL ? file->description : options.description;
    options.bake = file->bake;
    options.replace = file->replace;
    options.bake_user = options.replace_user = file->user;
    options.check_only = options.check_only || file->check_only;
    return mw_graph_write_onnx(graph, file->path, &options, err);
}

static mw_status write_netplist(const mw_graph *graph, const mw__model_file *file, mw_error *err)
{
    const mw__given_netplist *given = mw__given_get_netplist(file->path, err);
    if (given == NULL)
        return mw__status_or(err, MW_ERROR_UNSUPPORTED);
    mw_graph *own = file->replace != NULL ? with_values(graph, file, err) : NULL;
    if (file->replace != NULL && own == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    const mw_status status =
        given->write(own != NULL ? own : graph, file->path, file->bake, file->user, file->check_only, err);
    mw_graph_destroy(own);
    return status;
}

static mw_status write_mil(const mw_graph *graph, const mw__model_file *file, mw_error *err)
{
    mw_mil_write_options options = mw_mil_write_defaults();
    options.description = file->description;
    options.bake = file->bake;
    options.replace = file->replace;
    options.bake_user = options.replace_user = file->user;
    if (!file->check_only)
        return mw_graph_write_mil(graph, file->path, &options, err);
    mw__text text;
    mw__text_init(&text, graph->allocator);
    const mw_status status = mw__mil_print(graph, &options, &text, NULL, err);
    mw__text_deinit(&text);
    return status;
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

static mw_status check_place(const mw_graph *graph, const mw__model_file *file, mw_error *err)
{
    mw__text path;
    mw__text_init(&path, graph->allocator);
    mw__text_puts(&path, file->path);
    mw_status status = mw__text_check(&path, err);
    if (status == MW_OK && file->kind != MW__FILE_MIL && file->kind != MW__FILE_PACKAGE)
        status = check_no_folder(file->path, err);
    if (status == MW_OK)
        status = check_folder(file->path, find_folder(path.data, file->kind == MW__FILE_MIL), err);
    mw__text_deinit(&path);
    return status;
}

mw_status mw__model_file_write(const mw_graph *graph, const mw__model_file *file, mw_error *err)
{
    if (file->check_only)
        MW_TRY(check_place(graph, file, err));
    return (file->kind == MW__FILE_PACKAGE    ? write_package
            : file->kind == MW__FILE_ONNX     ? write_onnx
            : file->kind == MW__FILE_NETPLIST ? write_netplist
                                              : write_mil)(graph, file, err);
}
