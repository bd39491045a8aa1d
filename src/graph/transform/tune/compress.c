/* Constants in other storage: a clone in which large ones are made by constexpr operations, in the form of the
 * program's operator set. */
#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include "graph/constants/compressed.h"
#include "graph/transform/clone/clone.h"
#include "graph/transform/tune/palette.h"

#include <math.h>
#include <millwright/ops/quantize.h>
#include <millwright/weights.h>
#include <string.h>

enum { ENTRIES_MAX = 256 };

/* A constant on its way. */
typedef struct weight {
    mw_graph *to;
    const mw_tensor *value; /* in the source */
    mw_dtype dtype;
    mw_shape shape;
    size_t count;
    float *given;         /* [count] */
    float *stored;        /* [count] what the stored form stands for */
    unsigned char *codes; /* [count] */
    size_t size_after;
} weight;

typedef struct compression {
    const mw_compress_options *options;
    mw_opset opset;
} compression;

mw_compress_options mw_compress_defaults(mw_weight_form form)
{
    return (mw_compress_options){
        .struct_size = sizeof(mw_compress_options), .form = form, .bits = 4, .least_elements = 2048};
}

/* ---- numbers ---- */

static float rounded(mw_dtype dtype, double value)
{
    return dtype == MW_F16 ? mw__fp16_to_float(mw__fp16_from_double(value)) : (float)value;
}

/* Numbers of the weight's type as a constant. */
static mw_tensor *numbers(weight *w, mw_shape shape, const float *values, size_t count)
{
    uint16_t halves[ENTRIES_MAX], *out = halves;
    if (w->dtype == MW_F32)
        return mw_constant(w->to, MW_F32, shape, values);
    if (count > ENTRIES_MAX)
        out = mw__alloc(w->to->allocator, count, sizeof *out, &w->to->error);
    if (out == NULL)
        return NULL;
    mw__fp16_from_float_n(out, values, count);
    mw_tensor *made = mw_constant(w->to, MW_F16, shape, out);
    if (out != halves)
        mw__free(w->to->allocator, out);
    return made;
}

static mw_tensor *build_constexpr(mw_graph *to, const char *operation, const char *const *names,
                                  mw_tensor *const *values, size_t count)
{
    mw_argument arguments[4];
    mw_tensor *result = NULL;
    for (size_t i = 0; i < count; i++)
        arguments[i] = (mw_argument){.name = names[i], .values = &values[i], .count = 1};
    mw_op(to, operation, arguments, count, &result, 1, NULL);
    return result;
}

/* ---- fp16 ---- */

static mw_tensor *store_halves(weight *w)
{
    static const char *const names[] = {"output_dtype", "source_val"};
    uint16_t *halves = mw__alloc(w->to->allocator, w->count, sizeof *halves, &w->to->error);
    if (halves == NULL)
        return NULL;
    mw__fp16_from_float_n(halves, w->given, w->count);
    mw__fp16_to_float_n(w->stored, halves, w->count);
    mw_tensor *source = mw_constant(w->to, MW_F16, w->shape, halves);
    mw__free(w->to->allocator, halves);
    mw_tensor *word = mw_text(w->to, "fp32");
    w->size_after = 2 * w->count;
    return build_constexpr(w->to, "constexpr_cast", names, (mw_tensor *const[]){word, source}, 2);
}

/* ---- int8 ---- */

/* The scale of one row, in the weight's type, and its codes. */
static float quantize_row(weight *w, size_t begin, size_t count)
{
    float largest = 0;
    for (size_t i = begin; i < begin + count; i++)
        largest = fabsf(w->given[i]) > largest ? fabsf(w->given[i]) : largest;
    float scale = rounded(w->dtype, (double)largest / 127.0);
    if (scale == 0)
        scale = largest == 0 ? 1.0f : w->dtype == MW_F16 ? 0x1p-24f : 0x1p-149f;
    for (size_t i = begin; i < begin + count; i++) {
        const double code = nearbyint((double)w->given[i] / (double)scale);
        const int8_t held = (int8_t)(code > 127 ? 127 : code < -127 ? -127 : code);
        memcpy(&w->codes[i], &held, 1);
        w->stored[i] = rounded(w->dtype, (double)held * (double)scale);
    }
    return scale;
}

static mw_tensor *affine(weight *w, mw_tensor *data, const float *scales, size_t rows)
{
    static const char *const names[] = {"axis", "quantized_data", "scale", "zero_point"};
    static const int8_t zero = 0;
    const mw_shape shape = rows > 1 ? MW_SHAPE((int64_t)rows) : mw_shape_scalar();
    mw_tensor *scale = numbers(w, shape, scales, rows);
    mw_tensor *axis = mw_scalar(w->to, MW_I32, 0);
    mw_tensor *offset = mw_constant(w->to, MW_I8, mw_shape_scalar(), &zero);
    return build_constexpr(w->to, "constexpr_affine_dequantize", names, (mw_tensor *const[]){axis, data, scale, offset},
                           4);
}

static mw_tensor *store_bytes(weight *w, mw_opset opset)
{
    const size_t rows = w->shape.rank > 1 ? (size_t)w->shape.dim[0] : 1;
    float *scales = mw__alloc(w->to->allocator, rows, sizeof *scales, &w->to->error);
    if (scales == NULL)
        return NULL;
    for (size_t i = 0; i < rows; i++)
        scales[i] = quantize_row(w, i * (w->count / rows), w->count / rows);
    w->size_after = w->count + rows * (w->dtype == MW_F16 ? 2 : 4);
    mw_shape shape = {.rank = w->shape.rank};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = i == 0 ? (int64_t)rows : 1;
    mw_tensor *data = mw_constant(w->to, MW_I8, w->shape, w->codes), *result = NULL;
    if (opset < MW_IOS18) {
        result = affine(w, data, scales, rows);
    } else {
        mw_tensor *scale = numbers(w, shape, scales, rows);
        result = mw_constexpr_blockwise_shift_scale(data, scale, NULL);
    }
    mw__free(w->to->allocator, scales);
    return result;
}

/* ---- palettes ---- */

/* Codes of `bits` bits side by side, lowest bit first, in their own place; returns the bytes. */
static size_t pack_codes(unsigned char *codes, size_t count, int bits)
{
    size_t at = 0, size = 0;
    unsigned held = 0;
    for (size_t i = 0; i < count; i++) {
        held |= (unsigned)codes[i] << at;
        for (at += (size_t)bits; at >= 8; at -= 8, held >>= 8)
            codes[size++] = (unsigned char)held; /* never ahead of what is read */
    }
    if (at > 0)
        codes[size++] = (unsigned char)held;
    return size;
}

static mw_tensor *packed_lut(weight *w, const float *table, size_t entries, size_t size)
{
    static const char *const names[] = {"indices", "lut", "shape"};
    uint32_t extents[MW_RANK_MAX];
    for (int i = 0; i < w->shape.rank; i++)
        extents[i] = (uint32_t)w->shape.dim[i];
    mw_tensor *indices = mw_constant(w->to, MW_U8, MW_SHAPE((int64_t)size), w->codes);
    mw_tensor *lut = numbers(w, MW_SHAPE((int64_t)entries), table, entries);
    mw_tensor *shape = mw_constant(w->to, MW_U32, MW_SHAPE(w->shape.rank), extents);
    return build_constexpr(w->to, "constexpr_lut_to_dense", names, (mw_tensor *const[]){indices, lut, shape}, 3);
}

static mw_tensor *store_palette(weight *w, mw_opset opset, int bits)
{
    static const mw_dtype types[] = {[1] = MW_U1, [2] = MW_U2, [4] = MW_U4, [6] = MW_U6, [8] = MW_U8};
    float table[ENTRIES_MAX];
    const size_t entries = (size_t)1 << bits;
    if (mw__palette_make(w->to->allocator, w->given, w->count, table, entries, w->codes, &w->to->error) != MW_OK)
        return NULL;
    for (size_t i = 0; i < entries; i++)
        table[i] = rounded(w->dtype, (double)table[i]);
    for (size_t i = 0; i < w->count; i++)
        w->stored[i] = table[w->codes[i]];
    const size_t size = pack_codes(w->codes, w->count, bits);
    w->size_after = size + entries * (w->dtype == MW_F16 ? 2 : 4);
    if (opset < MW_IOS18)
        return packed_lut(w, table, entries, size);
    mw_shape shape = {.rank = w->shape.rank + 2};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = i == w->shape.rank ? (int64_t)entries : 1;
    mw_tensor *indices = mw_constant(w->to, types[bits], w->shape, w->codes);
    mw_tensor *lut = numbers(w, shape, table, entries);
    return mw_constexpr_lut_to_dense(indices, lut, 0);
}

/* ---- which, and what became of them ---- */

/* A constant that is asked about; what is small, or no weight's type, is not. */
static bool is_candidate(const compression *c, const mw__op *op)
{
    if (strcmp(op->kind, "const") != 0 || op->block->owner != NULL || op->result_count != 1)
        return false;
    const mw__payload *payload = op->results[0]->payload;
    const mw__type *type = op->results[0]->type;
    const int64_t count = type->kind == MW__TENSOR ? mw_shape_count(type->shape) : 0;
    return (type->dtype == MW_F16 || type->dtype == MW_F32) && count > 0 && count >= c->options->least_elements &&
           type->shape.rank > 0 && payload != NULL && !payload->splat;
}

static const char *why_not(const compression *c, const weight *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (!isfinite(w->given[i]))
            return "an element is not finite";
        if (c->options->form == MW_WEIGHTS_F16 && fabsf(w->given[i]) >= 65520.0f)
            return "fp16 does not hold an element";
    }
    if (c->options->form == MW_WEIGHTS_F16 && w->dtype == MW_F16)
        return "it is fp16";
    if (c->options->form == MW_WEIGHTS_PALETTE && w->shape.rank > 6)
        return "a palette has at most 6 axes";
    return NULL;
}

static void report(const compression *c, const weight *w, const char *reason)
{
    double largest = 0, error = 0, whole = 0;
    const size_t before = w->count * (w->dtype == MW_F16 ? 2 : 4);
    for (size_t i = 0; reason == NULL && i < w->count; i++) {
        const double difference = (double)w->stored[i] - (double)w->given[i];
        largest = fabs(difference) > largest ? fabs(difference) : largest;
        error += difference * difference;
        whole += (double)w->given[i] * (double)w->given[i];
    }
    const mw_compress_choice said = {.name = mw_tensor_name(w->value),
                                     .shape = w->shape,
                                     .dtype = w->dtype,
                                     .size_before = before,
                                     .size_after = reason == NULL ? w->size_after : before,
                                     .largest_error = largest,
                                     .relative_error = whole > 0 ? sqrt(error / whole) : 0,
                                     .reason = reason};
    if (c->options->report != NULL)
        c->options->report(c->options->report_user, &said);
}

static mw_tensor *store_weight(const compression *c, weight *w)
{
    switch (c->options->form) {
    case MW_WEIGHTS_F16:
        return store_halves(w);
    case MW_WEIGHTS_I8:
        return store_bytes(w, c->opset);
    default:
        return store_palette(w, c->opset, c->options->bits);
    }
}

static void load_weight(weight *w)
{
    const void *data = w->value->payload->data;
    if (w->dtype == MW_F16)
        mw__fp16_to_float_n(w->given, data, w->count);
    else
        memcpy(w->given, data, w->count * sizeof *w->given);
}

/* True if the constant was replaced, or the graph has an error. */
static bool compress(const compression *c, mw__clone *clone, weight *w)
{
    load_weight(w);
    const char *reason = why_not(c, w);
    mw_tensor *made = reason == NULL ? store_weight(c, w) : NULL;
    if (reason == NULL && made == NULL)
        return true;
    report(c, w, reason);
    if (reason != NULL)
        return false;
    if (w->value->name != NULL)
        mw_name(made, w->value->name);
    mw__clone_set(clone, w->value, made);
    return true;
}

static bool rule(void *user, mw__clone *clone, const mw__op *op)
{
    const compression *c = user;
    const mw_allocator *allocator = clone->to->allocator;
    if (!is_candidate(c, op))
        return mw__clone_as_declared(NULL, clone, op);
    const mw_tensor *value = op->results[0];
    if (value->payload->data == NULL) {
        mw__clone_refuse(clone, op, MW_ERROR_STATE, "its weights were not read");
        return true;
    }
    weight w = {.to = clone->to, .value = value, .dtype = value->type->dtype, .shape = value->type->shape};
    w.count = (size_t)mw_shape_count(w.shape);
    w.given = mw__alloc(allocator, w.count, sizeof *w.given, &clone->to->error);
    w.stored = mw__alloc(allocator, w.count, sizeof *w.stored, &clone->to->error);
    w.codes = mw__alloc(allocator, w.count, 1, &clone->to->error);
    const bool ready = w.given != NULL && w.stored != NULL && w.codes != NULL;
    const bool done = !ready || compress(c, clone, &w);
    mw__free(allocator, w.given);
    mw__free(allocator, w.stored);
    mw__free(allocator, w.codes);
    return done || mw__clone_as_declared(NULL, clone, op);
}

/* ---- the call ---- */

static mw_status check_compress_options(const mw_graph *graph, const mw_compress_options *options, mw_error *err)
{
    if (graph == NULL || options == NULL || options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_compress: %s",
                        graph == NULL ? "the graph is NULL" : "the options were not made by mw_compress_defaults");
    if (options->form < MW_WEIGHTS_F16 || options->form > MW_WEIGHTS_PALETTE)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_compress: %d is no form of weights", (int)options->form);
    if (options->least_elements < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_compress: least_elements is below 1");
    const int bits = options->bits;
    if (options->form == MW_WEIGHTS_PALETTE && bits != 1 && bits != 2 && bits != 4 && bits != 6 && bits != 8)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_compress: a palette has 1, 2, 4, 6 or 8 bits, not %d", bits);
    return mw_graph_check(graph, err);
}

mw_graph *mw_graph_compress(const mw_graph *graph, const mw_compress_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err) || check_compress_options(graph, options, err) != MW_OK)
        return NULL;
    const mw__function *function = mw__function_choose(graph, NULL, err);
    if (function == NULL)
        return NULL;
    if (function->opset < MW_IOS16) {
        mw__fail(err, MW_ERROR_UNSUPPORTED,
                 "mw_graph_compress: compressed constants came with ios16, and the program is of ios15; write it with "
                 "another operator set first");
        return NULL;
    }
    compression c = {.options = options, .opset = function->opset};
    const mw__clone_options how = {.rule = rule, .user = &c, .keep_outputs = true};
    mw__graph_hold(graph);
    mw_graph *made = mw__clone_function(graph->allocator, function, &how, NULL, err);
    if (mw__graph_drop(graph, __func__, made != NULL ? MW_OK : err->status, err) != MW_OK) {
        if (made != NULL)
            mw__graph_free(made);
        return NULL;
    }
    return mw__graph_publish(made, err);
}
