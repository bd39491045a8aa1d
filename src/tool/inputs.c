/* Inputs by name: read, set to a number, or drawn. */
#include "tool/inputs.h"

#include "tool/data_scale.h"
#include "tool/model_text.h"

#include "base/number/number.h"
#include "base/number/random.h"
#include "base/text/printable.h"

#include <millwright/data.h>
#include <stdlib.h>
#include <string.h>

static bool find_port(const mw_model *model, const char *name, mw_port *out)
{
    for (size_t i = 0; mw_model_port_at(model, i, out); i++) {
        if (!out->is_output && strcmp(out->name, name) == 0)
            return true;
    }
    return false;
}

/* Elements of one example. */
static int64_t one_of(const mw_model *model, const mw_port *port)
{
    const int64_t batch = mw_model_get_info(model).batch, count = mw_shape_count(port->shape);
    return count >= 0 && batch > 0 ? count / batch : -1;
}

static bool add_input(tool_inputs *inputs, const char *name, mw_dtype dtype, void *data, size_t count)
{
    const size_t room = inputs->count + 1;
    mw_feed *feeds = data != NULL ? realloc(inputs->feeds, room * sizeof *feeds) : NULL;
    inputs->feeds = feeds != NULL ? feeds : inputs->feeds;
    char *copy = feeds != NULL ? strdup(name) : NULL;
    if (copy == NULL) {
        free(data);
        return false;
    }
    inputs->feeds[inputs->count++] =
        (mw_feed){.name = copy, .dtype = dtype, .data = data, .count = count, .scale = 1.0f};
    return true;
}

/* ---- files ---- */

static const mw_tensor_info *choose_tensor(const mw_tensors *tensors, const char *tensor, const char *input,
                                           mw_error *err)
{
    const mw_tensor_info *found = mw_tensors_find(tensors, tensor != NULL ? tensor : input);
    if (found == NULL && tensor == NULL && mw_tensors_get_info(tensors).count == 1)
        found = mw_tensors_at(tensors, 0);
    if (found == NULL && err->status == MW_OK) {
        err->status = MW_ERROR_ARGUMENT;
        snprintf(err->message, sizeof err->message,
                 "the file has no tensor \"%.100s\"; it has %zu, the first is \"%.100s\"",
                 tensor != NULL ? tensor : input, mw_tensors_get_info(tensors).count,
                 mw_tensors_at(tensors, 0) != NULL ? mw_tensors_at(tensors, 0)->name : "");
    }
    return found;
}

static void say_shape(mw_shape shape, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "[");
    for (int i = 0; i < shape.rank && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%lld", i > 0 ? ", " : "", (long long)shape.dim[i]);
    if (used < size)
        snprintf(out + used, size - used, "]");
}

/* Axes from `first` on without those of one element. */
static mw_shape squeezed(mw_shape shape, int first)
{
    mw_shape out = {0};
    for (int i = first; i < shape.rank; i++) {
        if (shape.dim[i] != 1)
            out.dim[out.rank++] = shape.dim[i];
    }
    return out;
}

/* Elements in one row are a vector for whoever takes one; else the axes are the same. */
static bool fits_in(mw_shape given, mw_shape wanted)
{
    return given.rank < 2 || wanted.rank < 2 || mw_shape_equal(given, wanted);
}

/* How many examples a tensor holds: as many as its first axis says, or one of them without that axis; 0 for neither. */
static int64_t examples_in(const mw_tensor_info *info, const mw_port *port, int64_t batch, int64_t one)
{
    const int64_t count = mw_shape_count(info->shape), examples = one > 0 ? count / one : 0;
    const int64_t rows = port->shape.rank > 0 ? port->shape.dim[0] / batch : 1; /* of each example */
    if (examples < 1 || count % one != 0)
        return 0;
    if (info->shape.rank > 0 && info->shape.dim[0] == examples * rows &&
        fits_in(squeezed(info->shape, 1), squeezed(port->shape, 1)))
        return examples;
    return examples == 1 && fits_in(squeezed(info->shape, 0), squeezed(port->shape, rows > 1 ? 0 : 1)) ? 1 : 0;
}

/* All inputs are of the same examples. */
static bool count_examples(tool_inputs *inputs, const mw_tensor_info *info, const mw_port *port, int64_t batch,
                           int64_t one, mw_error *err)
{
    char has[96], wants[96];
    const int64_t examples = examples_in(info, port, batch, one);
    if (one == 0 || (examples > 0 && (inputs->examples == 0 || inputs->examples == examples))) {
        inputs->examples = one == 0 ? inputs->examples : examples;
        return true;
    }
    say_shape(info->shape, has, sizeof has);
    say_shape(port->shape, wants, sizeof wants);
    if (err->status == MW_OK)
        err->status = MW_ERROR_SHAPE;
    if (examples > 0)
        snprintf(err->message, sizeof err->message,
                 "it has %lld examples for the input \"%.60s\", and another input has %lld", (long long)examples,
                 port->name, (long long)inputs->examples);
    else
        snprintf(err->message, sizeof err->message,
                 "the tensor \"%.60s\" of shape %s is no batch for the input \"%.60s\", which takes %s: the first axis "
                 "counts the examples",
                 info->name, has, port->name, wants);
    return false;
}

static bool take_tensor(tool_inputs *inputs, mw_tensors *tensors, const mw_tensor_info *info, const mw_port *port,
                        int64_t batch, int64_t one, mw_error *err)
{
    if (!count_examples(inputs, info, port, batch, one, err))
        return false;
    const size_t count = (size_t)mw_shape_count(info->shape);
    const bool whole = port->dtype == MW_I32 || port->dtype == MW_BOOL;
    const mw_dtype dtype = whole ? MW_I64 : inputs->is_wide ? MW_F64 : MW_F32;
    void *data = malloc(count * sizeof(double) + 1);
    if (data == NULL || mw_tensors_read(tensors, info->name, dtype, data, count, err) != MW_OK) {
        free(data);
        return false;
    }
    return add_input(inputs, port->name, dtype, data, count);
}

static bool read_file(tool_inputs *inputs, const char *file, const mw_port *port, const mw_model *model, mw_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", file);
    char *colon = strrchr(path, ':');
    if (colon != NULL)
        *colon = '\0';
    mw_tensors *tensors = mw_tensors_open(path, err);
    const mw_tensor_info *info = choose_tensor(tensors, colon != NULL ? colon + 1 : NULL, port->name, err);
    const bool good =
        tensors != NULL && info != NULL &&
        take_tensor(inputs, tensors, info, port, mw_model_get_info(model).batch, one_of(model, port), err);
    mw_tensors_destroy(tensors);
    return good;
}

/* ---- tables ---- */

static bool fail_table(mw_error *err, const char *file, const char *what)
{
    if (err->status == MW_OK) {
        err->status = MW_ERROR_ARGUMENT;
        mw__printable_printf(err->message, sizeof err->message, "\"%.200s\": %s", file, what);
    }
    return false;
}

/* Column x of all examples in their order, [examples, count]; NULL with err set. */
static float *copy_examples(const mw_dataset *set, int64_t count, mw_error *err)
{
    const int64_t examples = mw_dataset_examples(set);
    mw_loader_options options = mw_loader_defaults(set, 1);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, err);
    float *data = loader != NULL ? malloc((size_t)(examples * count) * sizeof *data) : NULL;
    const mw_batch *batch = NULL;
    for (int64_t i = 0; data != NULL && i < examples && (batch = mw_loader_next(loader, err)) != NULL; i++)
        memcpy(data + i * count, batch->feeds[0].data, (size_t)count * sizeof *data);
    mw_loader_destroy(loader);
    if (err->status == MW_OK)
        return data;
    free(data);
    return NULL;
}

/* The examples of a table, as the encoder makes them. */
static bool take_examples(tool_inputs *inputs, const char *file, const mw_table_encoder *encoder, const mw_port *port,
                          const mw_model *model, mw_error *err)
{
    mw_dataset *set = mw_table_encoder_open_inputs(encoder, file, NULL, err);
    const int64_t examples = mw_dataset_examples(set);
    const int64_t width = set != NULL ? mw_shape_count(mw_dataset_column_at(set, 0)->shape) : 0;
    bool good = set != NULL;
    if (good && width != one_of(model, port))
        good = fail_table(err, file, "what the model says of tables does not fit this input");
    if (good && inputs->examples != 0 && inputs->examples != examples)
        good = fail_table(err, file, "it has not as many examples as another input");
    const size_t count = good ? (size_t)(examples * width) : 0;
    float *data = good ? copy_examples(set, width, err) : NULL;
    mw_dataset_destroy(set);
    inputs->examples = good ? examples : inputs->examples;
    return good && (add_input(inputs, port->name, MW_F32, data, count) || fail_table(err, file, "there is no memory"));
}

/* Rows of a table, if the model says how they become numbers. */
static bool read_table(tool_inputs *inputs, const char *file, const mw_port *port, const mw_model *model,
                       const tool_call *call)
{
    char *text;
    if (!tool_model_text(model, call->arguments[0], NULL, DATA_TABLE_KEY, &text, call->err))
        return false;
    if (text == NULL)
        return fail_table(call->err, file,
                          "the model does not say how a table becomes its input; give it as a file of tensors");
    mw_table_encoder *encoder = mw_table_encoder_read(text, call->err);
    const bool good = encoder != NULL && take_examples(inputs, file, encoder, port, model, call->err);
    mw_table_encoder_destroy(encoder);
    free(text);
    return good;
}

/* ---- numbers ---- */

static bool fill_wide(tool_inputs *inputs, double number, const mw_port *port, int64_t count)
{
    double *data = count >= 0 ? malloc(((size_t)count + 1) * sizeof *data) : NULL;
    for (int64_t i = 0; data != NULL && i < count; i++)
        data[i] = number;
    return add_input(inputs, port->name, MW_F64, data, (size_t)count);
}

static bool fill_input(tool_inputs *inputs, double number, const mw_port *port, int64_t count)
{
    if (inputs->is_wide)
        return fill_wide(inputs, number, port, count);
    float *data = count >= 0 ? malloc(((size_t)count + 1) * sizeof *data) : NULL;
    for (int64_t i = 0; data != NULL && i < count; i++)
        data[i] = (float)number;
    return add_input(inputs, port->name, MW_F32, data, (size_t)count);
}

static bool has(const tool_inputs *inputs, const char *name)
{
    for (size_t i = 0; i < inputs->count; i++) {
        if (strcmp(inputs->feeds[i].name, name) == 0)
            return true;
    }
    return false;
}

/* ---- what a training subtracted ---- */

/* From the first input, as mw train did: whoever runs the model gives what the table has. */
static bool subtract_offsets(tool_inputs *inputs, const mw_model *model, const char *text)
{
    mw_port port = {.name = ""};
    size_t count = 0, first = 0;
    double *offsets = data_offsets_parse(text, &count);
    while (mw_model_port_at(model, first, &port) && port.is_output)
        first++;
    bool good = offsets != NULL && count > 0;
    for (size_t i = 0; good && i < inputs->count; i++) {
        double *data = (double *)(uintptr_t)inputs->feeds[i].data;
        const bool is_first = strcmp(inputs->feeds[i].name, port.name) == 0 && inputs->feeds[i].dtype == MW_F64;
        good = !is_first || inputs->feeds[i].count % count == 0;
        for (size_t k = 0; good && is_first && k < inputs->feeds[i].count; k++)
            data[k] -= offsets[k % count];
    }
    free(offsets);
    if (!good)
        tool_complain("\"%s\" of the model are not numbers of its first input: \"%.60s\"", DATA_OFFSETS_KEY, text);
    return good;
}

static bool read_given(tool_inputs *inputs, const char **given, const mw_model *model, const tool_call *call)
{
    char name[256];
    const char *rest;
    mw_port port;
    for (const char **at = given; at != NULL && *at != NULL; at++) {
        double number;
        if (!tool_parse_pair("input", *at, name, sizeof name, &rest))
            return false;
        if (!find_port(model, name, &port)) {
            tool_complain("--input %.100s: the model has no input \"%.100s\"", *at, name);
            return false;
        }
        if (has(inputs, name)) {
            tool_complain("--input: \"%.100s\" is given twice", name);
            return false;
        }
        const bool is_number = mw__number_read(rest, strlen(rest), MW__NUMBER_F64, &number);
        if (!(is_number             ? fill_input(inputs, number, &port, mw_shape_count(port.shape))
              : tool_is_table(rest) ? read_table(inputs, rest, &port, model, call)
                                    : read_file(inputs, rest, &port, model, call->err)))
            return false;
    }
    return true;
}

bool tool_inputs_read(tool_inputs *inputs, const char **given, const mw_model *model, const tool_call *call)
{
    char *offsets;
    if (!tool_model_text(model, call->arguments[0], NULL, DATA_OFFSETS_KEY, &offsets, call->err))
        return false;
    inputs->is_wide = offsets != NULL;
    const bool good =
        read_given(inputs, given, model, call) && (offsets == NULL || subtract_offsets(inputs, model, offsets));
    free(offsets);
    return good;
}

/* ---- drawn ---- */

/* 0 and 1 are indices of anything. */
static float *draw_values(const mw_port *port, int64_t count, mw__random *random)
{
    const bool whole = port->dtype == MW_BOOL || port->dtype == MW_I32;
    float *data = count >= 0 ? malloc(((size_t)count + 1) * sizeof *data) : NULL;
    for (int64_t i = 0; data != NULL && i < count; i++) {
        const uint32_t bits = mw__random_u32(random);
        data[i] = whole ? (float)(bits & 1) : (float)((double)(bits % 1024) / 256.0 - 2.0);
    }
    return data;
}

static bool draw_input(tool_inputs *inputs, const mw_port *port, int64_t count, mw__random *random)
{
    return add_input(inputs, port->name, MW_F32, draw_values(port, count, random), (size_t)count);
}

mw_status tool_draw_ports(mw_program *program, uint64_t seed, mw_error *err)
{
    mw_port port;
    mw__random random = {.seed = seed};
    for (size_t i = 0; err->status == MW_OK && mw_program_port_at(program, i, &port); i++) {
        if (port.is_output || port.is_parameter)
            continue;
        const int64_t count = mw_shape_count(port.shape);
        float *values = draw_values(&port, count, &random);
        if (values != NULL)
            mw_program_write(program, port.name, MW_F32, values, (size_t)count, err);
        free(values);
    }
    return err->status;
}

static bool complain_open(const char *name, mw_error *err)
{
    err->status = MW_ERROR_SHAPE;
    snprintf(err->message, sizeof err->message, "the input \"%.100s\" has open extents: give them, --shape %.100s=..",
             name, name);
    return false;
}

bool tool_inputs_draw(tool_inputs *inputs, const mw_model *model, int64_t examples, uint64_t seed, mw_error *err)
{
    mw_port port;
    mw__random random = {.seed = seed};
    for (size_t i = 0; mw_model_port_at(model, i, &port); i++) {
        if (port.is_output || has(inputs, port.name))
            continue;
        const int64_t one = one_of(model, &port);
        if (one < 0 || !draw_input(inputs, &port, one * examples, &random))
            return complain_open(port.name, err);
    }
    inputs->examples = examples;
    return true;
}

bool tool_inputs_draw_graph(tool_inputs *inputs, const mw_graph *graph, uint64_t seed, mw_error *err)
{
    const mw_tensor *input;
    mw__random random = {.seed = seed};
    for (size_t i = 0; (input = mw_graph_input_at(graph, i)) != NULL; i++) {
        const mw_port port = {.name = mw_tensor_name(input), .dtype = mw_tensor_dtype(input)};
        const int64_t count = mw_shape_count(mw_tensor_shape(input));
        if (count < 0 || !draw_input(inputs, &port, count, &random))
            return complain_open(port.name, err);
    }
    inputs->examples = 1;
    return true;
}

void tool_inputs_free(tool_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        free((void *)(uintptr_t)inputs->feeds[i].data);
        free((void *)(uintptr_t)inputs->feeds[i].name);
    }
    free(inputs->feeds);
    inputs->feeds = NULL;
    inputs->count = 0;
}

mw_batch tool_inputs_batch(const tool_inputs *inputs)
{
    return (mw_batch){.feeds = inputs->feeds, .feed_count = inputs->count, .examples = inputs->examples};
}
