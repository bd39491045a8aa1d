/* Models by options. */
#include "tool/source.h"

#include "base/file/file.h"
#include "base/number/number.h"
#include "base/text/string.h"
#include "tool/data_scale.h"
#include "tool/model_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { GIVEN_MAX = 64, NAME_BYTES = 256, TEXT_MAX = 1 << 28 };

static struct {
    const char **shapes, **extents;
    const char *function, *device, *profile, *cache;
    long long threads, batch, seed;
    bool exact_convolution;
} given;

const tool_option tool_reading_options[] = {
    {"shape", '\0', TOOL_LIST, &given.shapes, "shape of an input with open extents, as x=1,3,224,224",
     .argument = "NAME=SHAPE"},
    {"extent", '\0', TOOL_LIST, &given.extents, "what a named dimension of ONNX is", .argument = "NAME=N"},
    {"function", '\0', TOOL_TEXT, &given.function, "which function of a program with several", .argument = "NAME"},
    TOOL_OPTIONS_END,
};

const tool_option tool_running_options[] = {
    {"device", 'd', TOOL_TEXT, &given.device, "auto, cpu, gpu or ane (off a Mac: the model of its arithmetic)",
     .argument = "DEVICE", .choices = "auto, cpu, gpu, ane"},
    {"profile", '\0', TOOL_TEXT, &given.profile, "arithmetic of that model: h13 to h17, h18g, ieee",
     .argument = "NAME"},
    {"threads", 't', TOOL_INTEGER, &given.threads, "0 = one for each processor", .argument = "N", .high = 1024},
    {"exact-convolution", '\0', TOOL_FLAG, &given.exact_convolution, "convolutions add all products: no Winograd",
     .argument = NULL},
    {"batch", 'b', TOOL_INTEGER, &given.batch, "examples of one run", .argument = "N", .low = 1, .high = INT32_MAX},
    {"cache", '\0', TOOL_TEXT, &given.cache, "folder where what is compiled is kept", .argument = "FOLDER"},
    TOOL_OPTIONS_END,
};

const tool_option tool_drawing_options[] = {
    {"seed", '\0', TOOL_INTEGER, &given.seed, "of everything that is drawn", .argument = "N", .high = 9e18},
    TOOL_OPTIONS_END,
};

const char *tool_device(void) { return given.device; }
long long tool_batch(void) { return given.batch; }
unsigned long long tool_seed(void) { return (unsigned long long)given.seed; }

/* ---- lists ---- */

static mw_input_shape shapes[GIVEN_MAX];
static mw_onnx_extent extents[GIVEN_MAX];
static char shape_names[GIVEN_MAX][NAME_BYTES], extent_names[GIVEN_MAX][NAME_BYTES];

static bool complain_full(const char *option)
{
    tool_complain("--%s is given more than %d times", option, GIVEN_MAX);
    return false;
}

static bool complain_twice(const char *option, const char *name)
{
    tool_complain("--%s: \"%.100s\" is given twice", option, name);
    return false;
}

static bool read_shapes(size_t *count)
{
    const char *rest;
    *count = 0;
    for (const char **at = given.shapes; at != NULL && *at != NULL; at++, ++*count) {
        if (*count == GIVEN_MAX)
            return complain_full("shape");
        if (!tool_parse_pair("shape", *at, shape_names[*count], NAME_BYTES, &rest) ||
            !tool_parse_shape(rest, &shapes[*count].shape))
            return false;
        shapes[*count].input = shape_names[*count];
        for (size_t i = 0; i < *count; i++) {
            if (strcmp(shape_names[i], shape_names[*count]) == 0)
                return complain_twice("shape", shape_names[i]);
        }
    }
    return true;
}

static bool read_extents(size_t *count)
{
    const char *rest;
    int64_t extent;
    *count = 0;
    for (const char **at = given.extents; at != NULL && *at != NULL; at++, ++*count) {
        if (*count == GIVEN_MAX)
            return complain_full("extent");
        if (!tool_parse_pair("extent", *at, extent_names[*count], NAME_BYTES, &rest))
            return false;
        if (!mw__number_read_i64(rest, strlen(rest), &extent) || extent < 0) {
            tool_complain("--extent %.100s: \"%.40s\" is no extent, a whole number from 0 on", *at, rest);
            return false;
        }
        extents[*count] = (mw_onnx_extent){extent_names[*count], extent};
        for (size_t i = 0; i < *count; i++) {
            if (strcmp(extent_names[i], extent_names[*count]) == 0)
                return complain_twice("extent", extent_names[i]);
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

/* A program of one operation shows whether the library knows the profile. */
static bool is_profile(mw_compile_options options)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(1))), "y");
    options.device = MW_DEVICE_ANE;
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    if (err.status == MW_ERROR_ARGUMENT)
        tool_complain("--profile: %s", err.message);
    return err.status != MW_ERROR_ARGUMENT;
}

bool tool_check_device(void)
{
    if (given.profile == NULL || (given.device != NULL && strcmp(given.device, "ane") == 0))
        return true;
    tool_complain("--profile %.60s has no effect without --device ane, whose arithmetic it is", given.profile);
    return false;
}

bool tool_compile_options(mw_compile_options *out)
{
    *out = mw_compile_defaults();
    out->threads = (int)given.threads;
    out->seed = (uint64_t)given.seed;
    out->profile = given.profile;
    out->exact_convolution = given.exact_convolution;
    out->cache_folder = given.cache;
    out->function = given.function;
    if (given.device != NULL && !tool_parse_device(given.device, &out->device))
        return false;
    return given.profile == NULL || is_profile(*out);
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

/* Whether the error is of a name that an option gives and the model has not: --shape gone=1,2. The message says so
 * then. */
static bool is_unknown_name(mw_error *err, const char *option, const char *name)
{
    char quoted[128], why[sizeof err->message];
    snprintf(quoted, sizeof quoted, "\"%.96s\"", name);
    if (err->status != MW_ERROR_ARGUMENT || strstr(err->message, quoted) == NULL)
        return false;
    snprintf(why, sizeof why, "%s", err->message);
    snprintf(err->message, sizeof err->message, "--%s %.96s: %.380s", option, name, why);
    return true;
}

static bool has_unknown_name(mw_error *err, size_t shape_count, size_t extent_count)
{
    if (given.function != NULL && is_unknown_name(err, "function", given.function))
        return true;
    for (size_t i = 0; i < shape_count; i++) {
        if (is_unknown_name(err, "shape", shape_names[i]))
            return true;
    }
    for (size_t i = 0; i < extent_count; i++) {
        if (is_unknown_name(err, "extent", extent_names[i]))
            return true;
    }
    return false;
}

static bool is_onnx(const char *path)
{
    struct stat entry;
    return mw__string_ends(path, ".onnx") && (stat(path, &entry) != 0 || !S_ISDIR(entry.st_mode));
}

static bool as_written;

void tool_source_as_written(void) { as_written = true; }

/* That was read by put_shapes. */
static mw_model *lent;

/* What is only looked at, or written, is so in the shapes that are asked for. The model that was read stays for its
 * description. */
static mw_model *put_shapes(mw_model *read, const mw_model_options *with, const tool_call *call)
{
    mw_model_options options = *with;
    mw_graph *graph = mw_graph_specialize(mw_model_get_info(read).graph, with->shapes, with->shape_count, call->err);
    options.description = mw_model_get_info(read).description;
    mw_model *made = graph != NULL ? mw_model_create(graph, &options, call->err) : NULL;
    mw_graph_destroy(graph);
    lent = read;
    return made;
}

void tool_source_free(void)
{
    mw_model_destroy(lent);
    lent = NULL;
}

mw_model *tool_open_model(const char *path, bool compiled, const tool_call *call, bool *out_usage)
{
    char run[4400];
    mw_compile_options compile;
    mw_model_options options = mw_model_defaults();
    mw_onnx_options onnx = mw_onnx_defaults();
    path = tool_model_path(path, run, sizeof run);
    *out_usage = !tool_compile_options(&compile) ||
                 (!as_written && (!read_shapes(&options.shape_count) || !read_extents(&onnx.extent_count)));
    compile.function = as_written ? NULL : compile.function;
    if (!*out_usage && !as_written && !is_onnx(path))
        *out_usage = TOOL_REFUSE("on a model that is no ONNX file: no other format names dimensions", "extent");
    if (*out_usage)
        return NULL;
    onnx.extents = extents;
    onnx.strict = true;
    onnx.shapes = shapes;
    onnx.shape_count = options.shape_count;
    options.compile = &compile;
    options.shapes = shapes;
    options.onnx = &onnx;
    options.batch = given.batch;
    options.read_only = !compiled;
    tool_waiting_read(call, path);
    if (compiled)
        tool_waiting_compile(call, &compile);
    mw_model *model = mw_model_open(path, &options, call->err);
    tool_waiting_end();
    if (model != NULL && !compiled && options.shape_count > 0)
        model = put_shapes(model, &options, call);
    else if (model == NULL && !compiled && call->err->status == MW_ERROR_FILE)
        model = open_text_alone(path, &options, call);
    *out_usage = model == NULL && has_unknown_name(call->err, options.shape_count, onnx.extent_count);
    return model;
}

mw_model *tool_open_model_batched(const char *path, long long batch, const tool_call *call, bool *out_usage)
{
    const long long asked = given.batch;
    given.batch = asked > 0 ? asked : batch;
    mw_model *model = tool_open_model(path, true, call, out_usage);
    given.batch = asked;
    if (model != NULL || asked > 0 || *out_usage || call->err->status != MW_ERROR_UNSUPPORTED)
        return model;
    mw_error_clear(call->err);
    return tool_open_model(path, true, call, out_usage);
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
    const mw_graph *graph = mw_model_get_info(model).graph;
    if (graph == NULL)
        return NULL;
    const mw_input_shape *wanted = tool_input_shapes(&count);
    mw_graph *copy = is_open(graph) || count > 0 ? mw_graph_specialize(graph, wanted, count, call->err)
                                                 : mw_graph_function(graph, NULL, call->err);
    if (copy == NULL || given.batch == 0)
        return copy;
    mw_graph *batched = mw_graph_rebatch(copy, given.batch, call->err);
    mw_graph_destroy(copy);
    return batched;
}

/* --inputs of mw ranges and mw compare goes to the program itself. */
static bool say_fed_as_is(const mw_model *model, const tool_call *call)
{
    char *offsets = NULL;
    if (tool_given("inputs") &&
        !tool_model_text(model, call->arguments[0], NULL, DATA_OFFSETS_KEY, &offsets, call->err))
        return false;
    if (offsets != NULL)
        tool_complain(
            "--inputs is fed as it is: what mw run subtracts from the inputs of %.200s is to be subtracted in "
            "that file (%s: %.100s)",
            call->arguments[0], DATA_OFFSETS_KEY, offsets);
    free(offsets);
    return true;
}

mw_graph *tool_open_graph(const tool_call *call, int *out_code)
{
    bool usage;
    mw_model *model = tool_open_model(call->arguments[0], false, call, &usage);
    mw_graph *graph = model != NULL && say_fed_as_is(model, call) ? tool_model_graph(model, call) : NULL;
    mw_model_destroy(model);
    *out_code = usage ? TOOL_USAGE : TOOL_FAILED;
    return graph;
}
