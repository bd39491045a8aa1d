#include "onnx_case.h"

#include "support/on_engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tensors ---- */

typedef struct reader {
    const unsigned char *at, *end;
} reader;

static unsigned long long varint(reader *r)
{
    unsigned long long value = 0;
    for (int shift = 0; r->at < r->end && shift < 64; shift += 7) {
        const unsigned char byte = *r->at++;
        value |= (unsigned long long)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return value;
}

static size_t type_size(int type)
{
    static const size_t sizes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8};
    return type > 0 && type < 14 ? sizes[type] : 0;
}

static void put(onnx_tensor *t, const void *bytes, size_t size)
{
    t->data = realloc(t->data, (t->count + 1) * 8);
    memcpy(t->data + t->count * t->size, bytes, size);
    t->count++;
}

/* A field of packed or single varints: dims (1), int32_data (5), int64_data (7), uint64_data (11). */
static void number(onnx_tensor *t, unsigned field, unsigned long long value)
{
    if (field == 1 && t->shape.rank < MW_RANK_MAX)
        t->shape.dim[t->shape.rank++] = (long long)value;
    else if (field == 2)
        t->type = (int)value;
    else if (field == 5 || field == 7 || field == 11)
        put(t, &value, t->size);
}

static void bytes_of(onnx_tensor *t, unsigned field, reader inner)
{
    const size_t size = (size_t)(inner.end - inner.at);
    if (field == 8)
        snprintf(t->name, sizeof t->name, "%.*s", (int)size, (const char *)inner.at);
    if (field == 9 && t->size > 0) {
        t->data = realloc(t->data, size + 8);
        memcpy(t->data, inner.at, size);
        t->count = size / t->size;
    }
    if (field == 4 || field == 10)
        for (; inner.at + t->size <= inner.end && t->size > 0; inner.at += t->size)
            put(t, inner.at, t->size);
    else if (field == 1 || field == 5 || field == 7 || field == 11)
        while (inner.at < inner.end)
            number(t, field, varint(&inner));
}

static bool decode(reader r, onnx_tensor *t)
{
    while (r.at < r.end) {
        const unsigned long long key = varint(&r);
        const unsigned field = (unsigned)(key >> 3), wire = (unsigned)(key & 7);
        t->size = type_size(t->type);
        if (wire == 0)
            number(t, field, varint(&r));
        else if (wire == 2) {
            const size_t size = (size_t)varint(&r);
            if (size > (size_t)(r.end - r.at))
                return false;
            bytes_of(t, field, (reader){r.at, r.at + size});
            r.at += size;
        } else if (wire == 5 && r.end - r.at >= 4) {
            put(t, r.at, 4);
            r.at += 4;
        } else {
            return false;
        }
    }
    t->size = type_size(t->type);
    return t->size > 0 && mw_shape_count(t->shape) == (int64_t)t->count;
}

static unsigned char *read_all(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    *out_size = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = malloc(*out_size + 1);
    const bool whole = fread(data, 1, *out_size, file) == *out_size;
    fclose(file);
    if (whole)
        return data;
    free(data);
    return NULL;
}

bool onnx_tensor_read(const char *path, onnx_tensor *out)
{
    size_t size = 0;
    *out = (onnx_tensor){.type = 0};
    unsigned char *data = read_all(path, &size);
    const bool good = data != NULL && decode((reader){data, data + size}, out);
    free(data);
    if (good && out->data == NULL)
        out->data = malloc(1);
    return good;
}

void onnx_tensor_free(onnx_tensor *tensor) { free(tensor->data); }

mw_dtype onnx_tensor_dtype(const onnx_tensor *tensor)
{
    static const mw_dtype types[] = {MW_DTYPE_NONE, MW_F32,        MW_U8,   MW_I8,  MW_U16, MW_I16, MW_I32,
                                     MW_I64,        MW_DTYPE_NONE, MW_BOOL, MW_F16, MW_F64, MW_U32, MW_U64};
    return tensor->type > 0 && tensor->type < 14 ? types[tensor->type] : MW_DTYPE_NONE;
}

static double half(unsigned bits)
{
    const double sign = bits & 0x8000 ? -1 : 1;
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = bits & 1023;
    if (exponent == 31)
        return fraction != 0 ? NAN : sign * INFINITY;
    return exponent == 0 ? sign * ldexp(fraction, -24) : sign * ldexp(1024 + fraction, exponent - 25);
}

double onnx_tensor_at(const onnx_tensor *tensor, size_t index)
{
    const unsigned char *at = tensor->data + index * tensor->size;
    unsigned long long bits = 0;
    float single;
    double wide;
    memcpy(&bits, at, tensor->size);
    const int unused = 64 - 8 * (int)tensor->size;
    switch (tensor->type) {
    case 1:
        memcpy(&single, at, 4);
        return (double)single;
    case 10:
        return half((unsigned)bits);
    case 11:
        memcpy(&wide, at, 8);
        return wide;
    case 3:
    case 5:
    case 6:
    case 7:
        return (double)((long long)(bits << unused) >> unused);
    default:
        return (double)bits;
    }
}

/* ---- a run ---- */

enum { TENSORS_MAX = 16 };

typedef struct test_case {
    const char *folder;
    onnx_tensor inputs[TENSORS_MAX], outputs[TENSORS_MAX];
    size_t input_count, output_count;
    bool shaped; /* the inputs' shapes are given, as the model leaves them open */
    char *why;
    size_t why_size;
} test_case;

static bool read_tensors(test_case *c, const char *kind, onnx_tensor *out, size_t *out_count)
{
    bool good = true;
    for (*out_count = 0; *out_count < TENSORS_MAX; ++*out_count) {
        char path[512];
        snprintf(path, sizeof path, "%s/test_data_set_0/%s_%zu.pb", c->folder, kind, *out_count);
        FILE *file = fopen(path, "rb");
        if (file == NULL)
            break;
        fclose(file);
        if (!onnx_tensor_read(path, &out[*out_count])) {
            snprintf(c->why, c->why_size, "%s %zu is no tensor of numbers", kind, *out_count);
            good = false;
        }
    }
    return good;
}

/* Relative to the value, and absolute: 1e-4 and 1e-5; for float16 2e-3 and 1e-3. Integers are equal. What is recorded
 * for windows (Hann and its like) was computed with a pi of few digits: 1e-3. */
static bool near(const test_case *c, const onnx_tensor *wanted, double actual, double expected)
{
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(actual) : actual == expected;
    const bool small = wanted->type == 10, real = small || wanted->type == 1 || wanted->type == 11;
    const bool coarse = strstr(c->folder, "window") != NULL;
    const double relative = small ? 2e-3 : coarse ? 1e-3 : real ? 1e-4 : 0, absolute = small ? 1e-3 : real ? 1e-5 : 0;
    return fabs(actual - expected) <= absolute + relative * fabs(expected);
}

static bool compare(test_case *c, mw_program *program, const mw_tensor *result, size_t index, mw_error *err)
{
    const onnx_tensor *wanted = &c->outputs[index];
    double *actual = calloc(wanted->count + 1, sizeof *actual);
    bool good = mw_program_read(program, mw_tensor_name(result), MW_F64, actual, wanted->count, err) == MW_OK;
    if (!good)
        snprintf(c->why, c->why_size, "output %zu: %s", index, err->message);
    if (good && !mw_shape_equal(mw_tensor_shape(result), wanted->shape)) {
        snprintf(c->why, c->why_size, "output %zu has another shape", index);
        good = false;
    }
    for (size_t i = 0; good && i < wanted->count; i++)
        if (!near(c, wanted, actual[i], onnx_tensor_at(wanted, i))) {
            snprintf(c->why, c->why_size, "output %zu, element %zu: %.9g, not %.9g", index, i, actual[i],
                     onnx_tensor_at(wanted, i));
            good = false;
        }
    free(actual);
    return good;
}

static bool is_fed(const mw_graph *graph, const char *name)
{
    const mw_tensor *input;
    for (size_t i = 0; (input = mw_graph_input_at(graph, i)) != NULL; i++)
        if (strcmp(mw_tensor_name(input), name) == 0)
            return true;
    return false;
}

static bool feed(test_case *c, mw_program *program, const mw_graph *graph, mw_error *err)
{
    for (size_t i = 0; i < c->input_count; i++) {
        onnx_tensor *t = &c->inputs[i];
        if (t->name[0] == '\0') /* of older tests: they go by their place */
            snprintf(t->name, sizeof t->name, "%s", mw_tensor_name(mw_graph_input_at(graph, i)));
        if (!is_fed(graph, t->name) ||
            mw_program_write(program, t->name, onnx_tensor_dtype(t), t->data, t->count, err) == MW_OK)
            continue;
        snprintf(c->why, c->why_size, "input \"%s\": %s", t->name, err->message);
        return false;
    }
    return true;
}

static bool run(test_case *c, const mw_graph *graph)
{
    mw_error err = {0};
    const bool legal = mw_graph_verify(graph, &err) == MW_OK; /* what was made is MIL */
    mw_program *program = legal ? engine_compile(graph, MW_DEVICE_CPU, 1, &err) : NULL;
    bool good = program != NULL && feed(c, program, graph, &err);
    if (good && mw_program_run(program, &err) != MW_OK)
        good = false;
    if (!good && c->why[0] == '\0')
        snprintf(c->why, c->why_size, "%s", err.message);
    for (size_t i = 0; good && i < c->output_count; i++) {
        const mw_tensor *result = mw_graph_output_at(graph, i);
        good = result != NULL && compare(c, program, result, i, &err);
    }
    mw_program_destroy(program);
    return good;
}

FILE *onnx_case_texts;

static void write_text(const char *path, const mw_graph *graph)
{
    mw_error err = {0};
    char *text = onnx_case_texts != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    if (text != NULL)
        fprintf(onnx_case_texts, "%s\n%s\n", path, text);
    mw_string_free(text);
}

static mw_graph *read_model(test_case *c, bool bound, mw_error *err)
{
    char path[512];
    mw_onnx_constant constants[TENSORS_MAX];
    mw_input_shape shapes[TENSORS_MAX];
    mw_onnx_options options = mw_onnx_defaults();
    options.constants = constants;
    options.shapes = shapes;
    options.shape_count = c->shaped ? c->input_count : 0;
    for (size_t i = 0; i < c->input_count; i++)
        shapes[i] = (mw_input_shape){c->inputs[i].name, c->inputs[i].shape};
    for (size_t i = bound ? 0 : c->input_count; i < c->input_count; i++) {
        const onnx_tensor *t = &c->inputs[i];
        const bool real = t->type == 1 || t->type == 10 || t->type == 11;
        if (!real || t->count <= 4) /* what decides shapes, scales or values of a border */
            constants[options.constant_count++] = (mw_onnx_constant){t->name, t->data, t->count * t->size};
    }
    snprintf(path, sizeof path, "%s/model.onnx", c->folder);
    mw_graph *graph = mw_graph_open_onnx(path, &options, err);
    if (graph == NULL)
        snprintf(c->why, c->why_size, "%s", err->message);
    else
        write_text(path, graph);
    return graph;
}

static onnx_outcome run_once(test_case *c, bool bound)
{
    mw_error err = {0};
    c->why[0] = '\0';
    mw_graph *graph = read_model(c, bound, &err);
    if (graph == NULL)
        return err.status == MW_ERROR_UNSUPPORTED ? ONNX_REFUSED : ONNX_FAILED;
    const bool good = run(c, graph);
    mw_graph_destroy(graph);
    return good ? bound ? ONNX_BOUND : ONNX_PASSED : ONNX_FAILED;
}

onnx_outcome onnx_case_run(const char *folder, char *why, size_t size)
{
    test_case c = {.folder = folder, .why = why, .why_size = size};
    why[0] = '\0';
    const bool in = read_tensors(&c, "input", c.inputs, &c.input_count);
    const bool out = read_tensors(&c, "output", c.outputs, &c.output_count);
    onnx_outcome outcome = run_once(&c, false);
    if (outcome == ONNX_FAILED && strstr(why, "say its extent") != NULL) {
        c.shaped = true;
        outcome = run_once(&c, false);
    }
    if (outcome == ONNX_REFUSED && strstr(why, "must be known") != NULL)
        outcome = run_once(&c, true);
    if (outcome != ONNX_REFUSED && (!in || !out)) {
        snprintf(why, size, "its data are no tensors, but the model was read");
        outcome = ONNX_FAILED;
    }
    for (size_t i = 0; i < c.input_count; i++)
        onnx_tensor_free(&c.inputs[i]);
    for (size_t i = 0; i < c.output_count; i++)
        onnx_tensor_free(&c.outputs[i]);
    return outcome;
}
