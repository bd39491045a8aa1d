/* The MIL text of a question, and what it is fed with. */
#include "question.h"

#include "base/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 64, TAPS = 9 };

static size_t length_of(const question_item *item)
{
    const question *q = item->question;
    if (q->length > 0)
        return q->length;
    if (item->kind == QUESTION_PRODUCT || item->kind == QUESTION_CONV)
        return CHANNELS;
    return item->kind == QUESTION_WINDOW ? (size_t)CHANNELS * TAPS : q->count;
}

/* The numbers at their places, `fill` elsewhere. */
static float *spread_numbers(const question *q, const float *numbers, size_t length, float fill)
{
    const size_t step = q->spread > 0 ? q->spread : 1;
    float *out = malloc((length + 1) * sizeof *out);
    for (size_t i = 0; out != NULL && i < length; i++)
        out[i] = i % step == 0 && i / step < q->count ? numbers[i / step] : fill;
    return out;
}

/* ---- text ---- */

static void put_header(mw__text *t, const char *signature)
{
    mw__text_printf(t,
                    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-component-MIL\", \"3520.4.1\"}, "
                    "{\"coremlc-version\", \"3520.5.1\"}})]\n{\nfunc main<ios18>(%s) {\n",
                    signature);
}

static void put_end(mw__text *t, const char *also)
{
    mw__text_printf(t, "\n} -> (y%s%s);\n}\n", also != NULL ? ", " : "", also != NULL ? also : "");
}

static void put_number(mw__text *t, float value)
{
    char digits[48];
    snprintf(digits, sizeof digits, "%a", (double)value);
    mw__text_puts(t, digits);
}

/* "tensor<fp16, SHAPE> w = const()[.., val = ..]": the values in brackets as the shape nests them. */
static void put_constant(mw__text *t, const char *type, const char *shape, const size_t *extent, size_t rank,
                         const float *values)
{
    size_t count = 1, at[4] = {0};
    mw__text_printf(t, "tensor<%s, %s> w = const()[name = string(\"w\"), val = tensor<%s, %s>(", type, shape, type,
                    shape);
    for (size_t i = 0; i < rank; i++) {
        count *= extent[i];
        mw__text_puts(t, "[");
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(type, "int8") == 0)
            mw__text_printf(t, "%d", INT8_MAX);
        else
            put_number(t, values != NULL ? values[i] : 1.0f);
        size_t closed = 0;
        while (closed < rank && ++at[rank - 1 - closed] == extent[rank - 1 - closed])
            at[rank - 1 - closed++] = 0;
        for (size_t k = 0; k < closed; k++)
            mw__text_puts(t, "]");
        mw__text_puts(t, i + 1 < count ? ", " : "");
        for (size_t k = 0; k < closed && i + 1 < count; k++)
            mw__text_puts(t, "[");
    }
    mw__text_puts(t, ")];\n");
}

static void put_conv(mw__text *t, const question_item *item, const float *w, size_t length)
{
    const bool window = item->kind == QUESTION_WINDOW;
    const size_t side = window ? 3 : 1, channels = length / (side * side), extent[] = {1, channels, side, side};
    char shape[64], signature[96];
    snprintf(shape, sizeof shape, "[1, %zu, %zu, %zu]", channels, side, side);
    snprintf(signature, sizeof signature, "tensor<fp16, %s> x", shape);
    put_header(t, signature);
    put_constant(t, "fp16", shape, extent, 4, w);
    mw__text_puts(t, "tensor<fp16, [1, 1, 1, 1]> y = conv(");
    if (item->question->bias != 0.0f) {
        mw__text_puts(t, "bias = tensor<fp16, [1]>([");
        put_number(t, item->question->bias);
        mw__text_puts(t, "]), ");
    }
    mw__text_puts(t,
                  "dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), "
                  "pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x)[name = "
                  "string(\"y\")];");
}

static void put_linear(mw__text *t, const float *w, size_t length)
{
    char shape[64], signature[96];
    snprintf(shape, sizeof shape, "[1, %zu]", length);
    snprintf(signature, sizeof signature, "tensor<fp16, %s> x", shape);
    put_header(t, signature);
    put_constant(t, "fp16", shape, (const size_t[]){1, length}, 2, w);
    mw__text_puts(t, "tensor<fp16, [1, 1]> y = linear(weight = w, x = x)[name = string(\"y\")];");
}

static void put_matmul(mw__text *t, size_t length)
{
    char signature[128];
    snprintf(signature, sizeof signature, "tensor<fp16, [1, %zu]> x, tensor<fp16, [%zu, 1]> w", length, length);
    put_header(t, signature);
    mw__text_puts(t, "bool no = const()[name = string(\"no\"), val = bool(false)];\ntensor<fp16, [1, 1]> y = matmul("
                     "transpose_x = no, transpose_y = no, x = x, y = w)[name = string(\"y\")];");
}

static void put_sum(mw__text *t, const char *operation, size_t length)
{
    char signature[64];
    snprintf(signature, sizeof signature, "tensor<fp16, [1, %zu]> x", length);
    put_header(t, signature);
    mw__text_printf(t,
                    "tensor<int32, [1]> axes = const()[name = string(\"axes\"), val = tensor<int32, [1]>([1])];\nbool "
                    "keep = const()[name = string(\"keep\"), val = bool(true)];\ntensor<fp16, [1, 1]> y = %s(axes = "
                    "axes, keep_dims = keep, x = x)[name = string(\"y\")];",
                    operation);
}

static void put_function(mw__text *t, const question_item *item, size_t length)
{
    char signature[96];
    snprintf(signature, sizeof signature,
             item->kind == QUESTION_PAIR ? "tensor<fp16, [%zu]> x, tensor<fp16, [%zu]> w" : "tensor<fp16, [%zu]> x",
             length, length);
    put_header(t, signature);
    mw__text_printf(t, "tensor<fp16, [%zu]> y = %s[name = string(\"y\")];", length, item->question->text);
}

/* Statements, with "%W[4, 4, 3, 1]" as a constant w of ones, "%Q[..]" as one of the int8 127. */
static void put_statements(mw__text *t, const question *q)
{
    const char *text = q->text;
    size_t extent[4] = {0};
    put_header(t, q->signature);
    if (text[0] == '%') {
        const size_t size = strcspn(text, "\n");
        char shape[64];
        snprintf(shape, sizeof shape, "%.*s", (int)size - 2, text + 2);
        sscanf(shape, "[%zu, %zu, %zu, %zu]", &extent[0], &extent[1], &extent[2], &extent[3]); // NOLINT(cert-err34-c)
        put_constant(t, text[1] == 'Q' ? "int8" : "fp16", shape, extent, 4, NULL);
        text += size + 1;
    }
    mw__text_puts(t, text);
}

static void put_program(mw__text *t, const question_item *item, const float *w, size_t length)
{
    switch (item->kind) {
    case QUESTION_PRODUCT:
        if (strcmp(item->by, "conv") == 0)
            put_conv(t, item, w, length);
        else if (strcmp(item->by, "linear") == 0)
            put_linear(t, w, length);
        else
            put_matmul(t, length);
        break;
    case QUESTION_CONV:
    case QUESTION_WINDOW:
        put_conv(t, item, w, length);
        break;
    case QUESTION_SUM:
        put_sum(t, item->question->text, length);
        break;
    case QUESTION_EACH:
    case QUESTION_PAIR:
        put_function(t, item, length);
        break;
    default:
        put_statements(t, item->question);
        break;
    }
    put_end(t, item->question->also);
}

bool question_program_make(const question_item *item, question_program *out)
{
    const question *q = item->question;
    const size_t length = length_of(item);
    const bool feeds_w = item->kind == QUESTION_PAIR || (item->by != NULL && strcmp(item->by, "matmul") == 0);
    mw__text t;
    *out = (question_program){.x_count = length, .w_count = feeds_w ? length : 0};
    out->x = spread_numbers(q, q->x, length, q->fill);
    out->w = q->w != NULL ? spread_numbers(q, q->w, length, 1.0f) : malloc((length + 1) * sizeof *out->w);
    for (size_t i = 0; q->w == NULL && out->w != NULL && i < length; i++)
        out->w[i] = 1.0f;
    mw__text_init(&t, NULL);
    put_program(&t, item, out->w, length);
    mw_error err = {0};
    out->text = mw__text_take(&t, &err);
    return out->x != NULL && out->w != NULL && out->text != NULL;
}

void question_program_free(question_program *program)
{
    mw__free(mw__allocator_default(), program->text);
    free(program->x);
    free(program->w);
    *program = (question_program){0};
}
