/* Reading and running recorded cases. */
#include "recorded.h"

#include "base/number/fp16.h"
#include "base/number/number.h"
#include "base/text/error.h"
#include "graph/ir/ir.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

static mw_status read_number(const recorded *r, const char *key, double *out, mw_error *err)
{
    const char *text = mw__safetensors_metadata(&r->values, key);
    if (text == NULL || !mw__number_read(text, strlen(text), MW__NUMBER_F64, out))
        return mw__fail(err, MW_ERROR_FORMAT, "no %s", key);
    return MW_OK;
}

mw_status recorded_open(recorded *r, const char *folder, mw_error *err)
{
    char path[600];
    snprintf(r->folder, sizeof r->folder, "%s", folder);
    snprintf(path, sizeof path, "%s/values.safetensors", folder);
    MW_TRY(mw__safetensors_open(&r->values, mw__allocator_default(), path, err));
    if (read_number(r, "atol", &r->atol, err) != MW_OK || read_number(r, "rtol", &r->rtol, err) != MW_OK)
        mw__safetensors_close(&r->values);
    return err->status;
}

void recorded_close(recorded *r) { mw__safetensors_close(&r->values); }

mw_graph *recorded_graph(const recorded *r, mw_error *err)
{
    char path[600];
    snprintf(path, sizeof path, "%s/model.mil", r->folder);
    return mw_graph_open_mil(path, NULL, err);
}

/* ---- operations ---- */

static size_t count_ops(const mw__block *block, bool (*counts)(const mw__op *op))
{
    size_t count = 0;
    for (size_t i = 0; i < block->op_count; i++) {
        count += counts(block->ops[i]);
        for (size_t k = 0; k < block->ops[i]->block_count; k++)
            count += count_ops(block->ops[i]->blocks[k], counts);
    }
    return count;
}

static size_t count_all(const mw_graph *graph, bool (*counts)(const mw__op *op))
{
    size_t count = 0;
    for (size_t i = 0; i < graph->function_count; i++)
        count += count_ops(graph->functions[i]->body, counts);
    return count;
}

static bool is_unknown(const mw__op *op) { return op->row == NULL; }

/* Compressed constants are computed where a scale multiplies. */
static bool is_scaled(const mw__op *op)
{
    return strstr(op->kind, "_dequantize") != NULL || strstr(op->kind, "_shift_scale") != NULL;
}

static bool computes(const mw__op *op)
{
    const mw_tensor *result = op->result_count > 0 ? op->results[op->result_count - 1] : NULL;
    const mw_dtype dtype = mw_tensor_dtype(result);
    return result != NULL && (!mw__is_constant(result) || is_scaled(op)) && (dtype == MW_F32 || dtype == MW_F16);
}

size_t recorded_unknown(const mw_graph *graph) { return count_all(graph, is_unknown); }

/* What the device runs may be in another form than what was compiled; what was scaled there is rounded here too. */
static void describe(const mw_graph *source, const mw_program *program, results *out, mw_error *err)
{
    const char *text = mw_program_get_info(program).mil;
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    out->computing = graph != NULL ? count_all(graph, computes) : 0;
    if (graph != NULL)
        out->computing += count_all(source, is_scaled) - count_all(graph, is_scaled);
    for (size_t i = 0; graph != NULL && i < graph->value_count; i++)
        out->holds_half = out->holds_half || mw_tensor_dtype(graph->values[i]) == MW_F16;
    mw_graph_destroy(graph);
}

/* ---- numbers ---- */

static double number(const void *data, mw_dtype dtype, size_t i)
{
    switch (dtype) {
    case MW_F64:
        return ((const double *)data)[i];
    case MW_F32:
        return (double)((const float *)data)[i];
    case MW_F16:
        return (double)mw__fp16_to_float(((const uint16_t *)data)[i]);
    case MW_I64:
        return (double)((const int64_t *)data)[i];
    case MW_I32:
        return ((const int32_t *)data)[i];
    case MW_I16:
        return ((const int16_t *)data)[i];
    case MW_U16:
        return ((const uint16_t *)data)[i];
    case MW_I8:
        return ((const int8_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i]; /* U8 and BOOL */
    }
}

/* Appends the numbers of a tensor. */
static mw_status add_result(results *r, const void *data, mw_dtype dtype, size_t count, mw_error *err)
{
    double *element = r->count < RECORDED_RESULTS ? malloc((count + 1) * sizeof *element) : NULL;
    if (element == NULL)
        return mw__fail(err, MW_ERROR_MEMORY, "no room for %zu numbers of result %zu", count, r->count);
    for (size_t i = 0; i < count; i++)
        element[i] = number(data, dtype, i);
    r->element[r->count] = element;
    r->elements[r->count] = count;
    r->dtype[r->count++] = dtype;
    return MW_OK;
}

void results_free(results *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->element[i]);
    r->count = 0;
}

/* A tensor's bytes, freed by the caller. */
static void *load(const recorded *r, const mw__safetensors_tensor *tensor, mw_error *err)
{
    void *data = malloc(tensor->size + 1);
    if (data == NULL)
        mw__fail(err, MW_ERROR_MEMORY, "no room for %s", tensor->name);
    else
        mw__safetensors_read(&r->values, tensor, data, err);
    return data;
}

mw_status recorded_wanted(const recorded *r, results *out, mw_error *err)
{
    char key[32];
    for (size_t k = 0; !mw__failed(err); k++) {
        snprintf(key, sizeof key, "out.%zu", k);
        const mw__safetensors_tensor *tensor = mw__safetensors_find(&r->values, key);
        if (tensor == NULL)
            break;
        void *data = load(r, tensor, err);
        if (!mw__failed(err))
            add_result(out, data, tensor->dtype, (size_t)mw_shape_count(tensor->shape), err);
        free(data);
    }
    return err->status;
}

/* ---- rounding ---- */

/* To fp16; finite stays finite, as for constants that are saturated. */
static float round_half(float value)
{
    const float half = mw__fp16_to_float(mw__fp16_from_float(value));
    return isfinite(value) && isinf(half) ? copysignf(MW__FP16_MAX, value) : half;
}

/* The payloads lie in the graph's own memory, which nobody else reads here. */
static void round_constants(mw_graph *graph)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        const mw__payload *payload = graph->values[i]->payload;
        if (payload == NULL || payload->data == NULL || payload->type->dtype != MW_F32)
            continue;
        float *data = (float *)(uintptr_t)payload->data;
        for (size_t k = 0; k < payload->size / sizeof *data; k++)
            data[k] = round_half(data[k]);
    }
}

static void round_fed(void *data, mw_dtype dtype, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (dtype == MW_F32)
            ((float *)data)[i] = round_half(((float *)data)[i]);
        else if (dtype == MW_I32)
            ((int32_t *)data)[i] = (int32_t)round_half((float)((int32_t *)data)[i]);
}

/* ---- running ---- */

static mw_status feed(const recorded *r, mw_program *program, const char *port, rounding round, mw_error *err)
{
    char key[300];
    snprintf(key, sizeof key, "in.%s", port);
    const mw__safetensors_tensor *tensor = mw__safetensors_find(&r->values, key);
    if (tensor == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "no %s", key);
    const size_t count = (size_t)mw_shape_count(tensor->shape);
    void *data = load(r, tensor, err);
    if (!mw__failed(err) && round == ROUNDED)
        round_fed(data, tensor->dtype, count);
    if (!mw__failed(err))
        mw_program_write(program, port, tensor->dtype, data, count, err);
    free(data);
    return err->status;
}

/* Inputs whose values decide shapes are to be written first, which a refused write of another says. */
static mw_status feed_all(const recorded *r, mw_program *program, rounding round, mw_error *err)
{
    mw_port port;
    bool later = false;
    for (int pass = 0; pass < 2 && (pass == 0 || later); pass++)
        for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
            mw_error own = {0};
            if (port.is_output || port.is_parameter) /* states start at zero */
                continue;
            const mw_status status = feed(r, program, port.name, round, &own);
            if (status != MW_OK && (status != MW_ERROR_STATE || pass == 1))
                return mw__fail(err, status, "%s", own.message);
            later = later || status != MW_OK;
        }
    return MW_OK;
}

static mw_status collect(mw_program *program, results *out, mw_error *err)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++)
        if (port.is_output)
            MW_TRY(add_result(out, mw_program_view(program, port.name, err), port.dtype,
                              (size_t)mw_shape_count(port.shape), err));
    return MW_OK;
}

mw_status recorded_run(const recorded *r, mw_graph *graph, mw_device device, rounding round, results *out,
                       mw_error *err)
{
    if (round == ROUNDED)
        round_constants(graph);
    mw_program *program = engine_compile(graph, device, 1, err);
    if (program != NULL && feed_all(r, program, round, err) == MW_OK && mw_program_run(program, err) == MW_OK)
        collect(program, out, err);
    if (program != NULL && !mw__failed(err))
        describe(graph, program, out, err);
    mw_program_destroy(program);
    return err->status;
}
