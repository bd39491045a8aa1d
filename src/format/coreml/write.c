/* Packages: the program as text with its weights, of that the messages, and the folder that holds both. */
#include "base/file/descriptor.h"
#include "base/file/fresh_folder.h"
#include "base/number/float_mode.h"
#include "base/number/hash.h"
#include "format/coreml/encode.h"
#include "format/coreml/manifest.h"
#include "format/coreml/model.h"
#include "format/formats.h"
#include "format/protobuf/wire.h"
#include "mil/io.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char model_folder[] = "Data/com.apple.CoreML";

/* What one call works with. */
typedef struct writer {
    const mw_allocator *allocator;
    const mw_write_options *options;
    const char *path;
    mw__fresh_folder package;
    char *folder; /* of the model, in the package */
    mw_error *err;
} writer;

/* ---- the program ---- */

static mw_write_options how_to_print(const writer *w)
{
    mw_write_options how = mw_write_defaults();
    how.opset = w->options->opset;
    how.bake = w->options->bake;
    how.bake_user = w->options->bake_user;
    how.replace = w->options->replace;
    how.replace_user = w->options->replace_user;
    return how;
}

static mw_graph *parse(const writer *w, const char *text, size_t size)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = w->allocator;
    return mw_graph_parse_mil(text, size, NULL, &options, w->err);
}

/* Writes text and weights to the folder of the model, and reads the text: then every value has the name, and every
 * literal the place, that the package gives it. */
static mw_graph *write_program(const writer *w, const mw_graph *graph)
{
    const mw_write_options how = how_to_print(w);
    char *text = NULL;
    size_t size = 0;
    mw_graph *written = NULL;
    if (mw__mil_write(graph, w->folder, &how, MW__WRITE_DURABLE, NULL, w->err) == MW_OK &&
        mw__coreml_load(w->allocator, w->folder, "model.mil", MW__COREML_FILE_MAX, &text, &size, w->err) == MW_OK)
        written = parse(w, text, size);
    mw__free(w->allocator, text);
    return written;
}

/* The same without files. */
static mw_graph *print_program(const writer *w, const mw_graph *graph)
{
    const mw_write_options how = how_to_print(w);
    mw__text text;
    mw__text_init(&text, w->allocator);
    mw_graph *written = NULL;
    if (mw__mil_print(graph, &how, &text, NULL, w->err) == MW_OK)
        written = parse(w, text.data, text.size);
    mw__text_deinit(&text);
    return written;
}

/* The text has inputs by their names; the package has them as the graph does. */
static void order_inputs(const mw_graph *graph, const mw_graph *written)
{
    for (size_t i = 0; i < written->function_count; i++) {
        const mw__block *to = written->functions[i]->body;
        const mw__function *from = mw__function_find(graph, written->functions[i]->name);
        size_t at = 0;
        for (size_t k = 0; from != NULL && k < from->body->input_count; k++) {
            size_t found = at;
            const char *name = from->body->inputs[k]->name;
            while (found < to->input_count &&
                   (name == NULL || to->inputs[found]->name == NULL || strcmp(to->inputs[found]->name, name) != 0))
                found++;
            if (found == to->input_count)
                continue;
            mw_tensor *input = to->inputs[found];
            memmove(&to->inputs[at + 1], &to->inputs[at], (found - at) * sizeof(mw_tensor *));
            to->inputs[at++] = input;
        }
    }
}

/* The least number of the format that has what the program has. */
static int specification_of(const mw_graph *graph)
{
    int least = graph->style == MW__STYLE_NEW ? 9 : 6;
    for (size_t i = 0; i < graph->function_count; i++) {
        const int own = mw__coreml_specification_of(graph->functions[i]->opset);
        least = own > least ? own : least;
    }
    return least;
}

static mw_status fill_model(mw__encoder *e, const mw_graph *written, const mw_description *given, pb_model *out)
{
    mw__coreml__model__init(out);
    out->version = specification_of(written);
    out->type_case = MW__COREML__MODEL__TYPE_PROGRAM;
    out->program = mw__coreml_encode(e, written);
    if (out->program == NULL)
        return e->err->status;
    out->description = mw__coreml_encode_description(e, written, given);
    return out->description != NULL ? MW_OK : e->err->status;
}

/* ---- files ---- */

static mw_status put_file(const writer *w, const char *folder, const char *name, const void *data, size_t size)
{
    char *path = mw__coreml_join(w->allocator, folder, name, w->err);
    if (path == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = mw__file_write(w->allocator, path, data, size, true, w->err);
    mw__free(w->allocator, path);
    return status;
}

static mw_status put_manifest(const writer *w, uint64_t seed)
{
    struct stat status;
    mw__text text;
    char *weights = mw__coreml_join(w->allocator, w->folder, "weights", w->err);
    if (weights == NULL)
        return MW_ERROR_MEMORY;
    mw__text_init(&text, w->allocator);
    mw__coreml_manifest_print(&text, stat(weights, &status) == 0, seed);
    mw__free(w->allocator, weights);
    mw_status done = mw__text_check(&text, w->err);
    if (done == MW_OK)
        done = put_file(w, w->package.path, "Manifest.json", text.data, text.size);
    mw__text_deinit(&text);
    return done;
}

static mw_status put_model(const writer *w, const pb_model *model)
{
    uint8_t *data = NULL;
    size_t size = 0;
    MW_TRY(mw__wire_write(w->allocator, &model->base, &data, &size, w->err));
    mw_status status = MW_OK;
    if (size > MW__COREML_FILE_MAX)
        status = mw__fail(w->err, MW_ERROR_UNSUPPORTED, "the model file would have %zu bytes, more than %zu", size,
                          MW__COREML_FILE_MAX);
    if (status == MW_OK)
        status = put_file(w, w->folder, "model.mlmodel", data, size);
    if (status == MW_OK)
        status = put_manifest(w, mw__hash64(data, size, 0));
    mw__free(w->allocator, data);
    return status;
}

/* The text was made for the messages alone. */
static mw_status remove_text(const writer *w)
{
    char *path = mw__coreml_join(w->allocator, w->folder, "model.mil", w->err);
    if (path == NULL)
        return MW_ERROR_MEMORY;
    const bool gone = unlink(path) == 0;
    mw__free(w->allocator, path);
    return gone ? MW_OK : mw__fail(w->err, MW_ERROR_FILE, "cannot remove the text of the model: %s", strerror(errno));
}

static mw_status fill_package(const writer *w, const mw_graph *graph)
{
    pb_model model;
    mw__arena arena;
    const bool puts = !w->options->check_only;
    mw_graph *written = puts ? write_program(w, graph) : print_program(w, graph);
    if (written == NULL)
        return w->err->status;
    mw__arena_init(&arena, w->allocator);
    mw__encoder encoder = {.arena = &arena, .err = w->err};
    order_inputs(graph, written);
    mw_status status = mw__coreml_check(written, w->err);
    if (status == MW_OK)
        status = fill_model(&encoder, written, w->options->description, &model);
    if (status == MW_OK && puts)
        status = put_model(w, &model);
    if (status == MW_OK && puts)
        status = remove_text(w);
    mw__arena_deinit(&arena);
    mw_graph_destroy(written);
    return status;
}

/* ---- the call ---- */

/* An empty folder is replaced by the rename of the new one. */
static bool is_empty(const char *path)
{
    const int opened = mw__descriptor_above(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *folder = opened >= 0 ? fdopendir(opened) : NULL;
    bool empty = folder != NULL;
    for (const struct dirent *entry; empty && (entry = readdir(folder)) != NULL;)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (folder != NULL)
        closedir(folder);
    else if (opened >= 0)
        close(opened);
    return empty;
}

/* A package, an empty folder or nothing is at the path. */
static mw_status check_target(const mw_allocator *allocator, const char *path, mw_error *err)
{
    static const char suffix[] = ".mlpackage";
    struct stat status;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    const size_t wanted = sizeof suffix - 1;
    if (length <= wanted || strncmp(path + length - wanted, suffix, wanted) != 0 || path[length - wanted - 1] == '/')
        return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" does not end in .mlpackage, as Core ML wants it", path);
    if (stat(path, &status) != 0)
        return MW_OK;
    char *manifest = mw__coreml_join(allocator, path, "Manifest.json", err);
    if (manifest == NULL)
        return MW_ERROR_MEMORY;
    struct stat inside;
    const bool package = S_ISDIR(status.st_mode) && (stat(manifest, &inside) == 0 || is_empty(path));
    mw__free(allocator, manifest);
    return package ? MW_OK
                   : mw__fail(err, MW_ERROR_FILE, "\"%.200s\" is there and no package; it is left as it is", path);
}

static mw_status check_parameters(const mw_graph *graph, const mw_write_options *options, mw_error *err)
{
    for (size_t i = 0; options->bake == NULL && i < graph->function_count; i++) {
        const mw__block *body = graph->functions[i]->body;
        for (size_t k = 0; k < body->input_count; k++)
            if (mw__is_resident(body->inputs[k]))
                return mw__fail(err, MW_ERROR_ARGUMENT,
                                "Core ML: parameter \"%.96s\" has no value; give options.bake, or export the "
                                "trainer (mw_trainer_export)",
                                body->inputs[k]->name);
    }
    return MW_OK;
}

static mw_status check_write_options(const mw_graph *graph, const char *path, const mw_write_options *options,
                                     mw_error *err)
{
    const mw_description *description = options->description;
    if (description != NULL && description->struct_size != sizeof *description)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the description was not made by mw_description_defaults");
    MW_TRY(check_parameters(graph, options, err));
    return check_target(graph->allocator, path, err);
}

static mw_status write_package(writer *w, const mw_graph *graph)
{
    if (w->options->check_only)
        return fill_package(w, graph);
    MW_TRY(mw__fresh_folder_begin(&w->package, w->allocator, w->path, w->err));
    w->folder = mw__coreml_join(w->allocator, w->package.path, model_folder, w->err);
    if (w->folder == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(fill_package(w, graph));
    return mw__fresh_folder_commit(&w->package, w->err);
}

mw_status mw__coreml_write(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err)
{
    MW_TRY(check_write_options(graph, path, options, err));
    writer w = {.allocator = graph->allocator, .options = options, .path = path, .err = err};
    mw_graph *wide;
    mw_status status = mw__coreml_widen_selects(graph, &wide, err);
    if (status == MW_OK)
        status = write_package(&w, wide != NULL ? wide : graph);
    mw__graph_free(wide);
    mw__free(w.allocator, w.folder);
    mw__fresh_folder_deinit(&w.package);
    return status;
}
