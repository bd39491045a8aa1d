/* Models by options. */
#include "tool/source.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

enum { GIVEN_MAX = 64, NAME_BYTES = 256, TEXT_MAX = 1 << 28 };

static struct {
    const char **shapes, **extents;
    char *function, *device, *profile, *cache;
    int threads;
    long long batch, seed;
} given;

const struct poptOption tool_reading_options[] = {
    {"shape", '\0', POPT_ARG_ARGV, &given.shapes, 0, "shape of an input with open extents, as x=1,3,224,224",
     "NAME=SHAPE"},
    {"extent", '\0', POPT_ARG_ARGV, &given.extents, 0, "what a named dimension of ONNX is", "NAME=N"},
    {"function", '\0', POPT_ARG_STRING, &given.function, 0, "which function of a program with several", "NAME"},
    POPT_TABLEEND,
};

const struct poptOption tool_running_options[] = {
    {"device", 'd', POPT_ARG_STRING, &given.device, 0, "auto, cpu, gpu or ane (off a Mac: the model of its arithmetic)",
     "DEVICE"},
    {"profile", '\0', POPT_ARG_STRING, &given.profile, 0, "arithmetic of that model: h13 to h17, ieee", "NAME"},
    {"threads", 't', POPT_ARG_INT, &given.threads, 0, "0 = one for each processor", "N"},
    {"batch", 'b', POPT_ARG_LONGLONG, &given.batch, 0, "examples of one run", "N"},
    {"seed", '\0', POPT_ARG_LONGLONG, &given.seed, 0, "of everything that is drawn", "N"},
    {"cache", '\0', POPT_ARG_STRING, &given.cache, 0, "folder where what is compiled is kept", "FOLDER"},
    POPT_TABLEEND,
};

long long tool_batch(void) { return given.batch; }
unsigned long long tool_seed(void) { return (unsigned long long)given.seed; }

/* ---- lists ---- */

static mw_input_shape shapes[GIVEN_MAX];
static mw_onnx_extent extents[GIVEN_MAX];
static char shape_names[GIVEN_MAX][NAME_BYTES], extent_names[GIVEN_MAX][NAME_BYTES];

static bool read_shapes(size_t *count)
{
    const char *rest;
    *count = 0;
    for (const char **at = given.shapes; at != NULL && *at != NULL; at++, ++*count) {
        if (*count == GIVEN_MAX || !tool_parse_pair("shape", *at, shape_names[*count], NAME_BYTES, &rest) ||
            !tool_parse_shape(rest, &shapes[*count].shape))
            return false;
        shapes[*count].input = shape_names[*count];
    }
    return true;
}

static bool read_extents(size_t *count)
{
    const char *rest;
    *count = 0;
    for (const char **at = given.extents; at != NULL && *at != NULL; at++, ++*count) {
        char *end = NULL;
        if (*count == GIVEN_MAX || !tool_parse_pair("extent", *at, extent_names[*count], NAME_BYTES, &rest))
            return false;
        extents[*count] = (mw_onnx_extent){extent_names[*count], strtoll(rest, &end, 10)};
        if (*rest == '\0' || *end != '\0' || extents[*count].extent < 0) {
            tool_complain("--extent %.100s: \"%.40s\" is no number", *at, rest);
            return false;
        }
    }
    return true;
}

const mw_input_shape *tool_input_shapes(size_t *out_count)
{
    read_shapes(out_count);
    return shapes;
}

/* ---- options ---- */

bool tool_compile_options(mw_compile_options *out)
{
    *out = mw_compile_defaults();
    if (!tool_in_range("threads", given.threads, 0, 1024) || !tool_in_range("seed", given.seed, 0, INT64_MAX) ||
        !tool_in_range("batch", given.batch, 0, INT32_MAX))
        return false;
    out->threads = given.threads;
    out->seed = (uint64_t)given.seed;
    out->profile = given.profile;
    out->cache_folder = given.cache;
    out->function = given.function;
    return given.device == NULL || tool_parse_device(given.device, &out->device);
}

/* A text whose weight files are not there is enough to look at. */
static mw_model *open_text_alone(const char *path, const mw_model_options *options, const tool_call *call)
{
    char *text = NULL, inside[4200];
    size_t size = 0;
    mw_error err = {0};
    const mw_allocator *heap = mw__allocator_or_default(NULL);
    snprintf(inside, sizeof inside, "%s/model.mil", path);
    if (mw__file_read(heap, path, TEXT_MAX, &text, &size, &err) != MW_OK) {
        mw_error_clear(&err);
        mw__file_read(heap, inside, TEXT_MAX, &text, &size, &err);
    }
    mw_graph *graph = text != NULL ? mw_graph_parse_mil(text, size, NULL, NULL, &err) : NULL;
    mw_model *model = graph != NULL ? mw_model_create(graph, options, &err) : NULL;
    if (model != NULL && !call->quiet)
        tool_complain("the weights are not there, only the text is: %s", call->err->message);
    if (model != NULL)
        mw_error_clear(call->err);
    mw_graph_destroy(graph);
    mw__free(heap, text);
    return model;
}

mw_model *tool_open_model(const char *path, bool compiled, const tool_call *call, bool *out_usage)
{
    mw_compile_options compile;
    mw_model_options options = mw_model_defaults();
    mw_onnx_options onnx = mw_onnx_defaults();
    *out_usage =
        !tool_compile_options(&compile) || !read_shapes(&options.shape_count) || !read_extents(&onnx.extent_count);
    if (*out_usage)
        return NULL;
    onnx.extents = extents;
    options.compile = &compile;
    options.shapes = shapes;
    options.onnx = &onnx;
    options.batch = given.batch;
    options.read_only = !compiled;
    mw_model *model = mw_model_load(path, &options, call->err);
    return model == NULL && !compiled && call->err->status == MW_ERROR_FILE ? open_text_alone(path, &options, call)
                                                                            : model;
}

/* Whether every input of the graph has a shape. */
static bool is_open(const mw_graph *graph)
{
    const mw_tensor *input;
    for (size_t i = 0; (input = mw_graph_input_at(graph, i)) != NULL; i++) {
        if (mw_shape_count(mw_tensor_shape(input)) < 0)
            return true;
    }
    return false;
}

mw_graph *tool_model_graph(const mw_model *model, const tool_call *call)
{
    size_t count;
    const mw_graph *graph = mw_model_graph(model);
    if (graph == NULL)
        return NULL;
    const mw_input_shape *wanted = tool_input_shapes(&count);
    mw_graph *copy = is_open(graph) || count > 0 ? mw_graph_specialise(graph, wanted, count, call->err)
                                                 : mw_graph_function(graph, NULL, call->err);
    if (copy == NULL || given.batch == 0)
        return copy;
    mw_graph *batched = mw_graph_rebatch(copy, given.batch, call->err);
    mw_graph_destroy(copy);
    return batched;
}

mw_graph *tool_open_graph(const tool_call *call, int *out_code)
{
    bool usage;
    mw_model *model = tool_open_model(call->arguments[0], false, call, &usage);
    mw_graph *graph = model != NULL ? tool_model_graph(model, call) : NULL;
    mw_model_destroy(model);
    *out_code = usage ? TOOL_USAGE : TOOL_FAILED;
    return graph;
}
