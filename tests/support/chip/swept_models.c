/* Models by the numbers in their names: windows, strides, groups and extents. */
#include "swept_models.h"

#include <stdio.h>
#include <string.h>

enum { CHANNELS = 64, EXTENT = 32, MOST = 1 << 20 };

/* ---- numbers ---- */

static bool read_number(const char *text, int *out)
{
    int used = 0;
    return sscanf(text, "%d%n", out, &used) == 1 && text[used] == '\0' && *out > 0 && *out <= MOST;
}

typedef struct window {
    int height, width;
    int rows, columns; /* of the result */
    const char *padding;
} window;

/* "15", "1x9", "9_valid": height first, as the kernels of MIL are. */
static bool read_window(const char *text, window *out)
{
    int used = 0;
    if (sscanf(text, "%dx%d%n", &out->height, &out->width, &used) < 2) {
        if (sscanf(text, "%d%n", &out->height, &used) < 1)
            return false;
        out->width = out->height;
    }
    const bool valid = strcmp(text + used, "_valid") == 0;
    out->padding = valid ? "valid" : "same";
    out->rows = valid ? EXTENT + 1 - out->height : EXTENT;
    out->columns = valid ? EXTENT + 1 - out->width : EXTENT;
    return (valid || text[used] == '\0') && out->height > 0 && out->width > 0 && out->height <= MOST &&
           out->width <= MOST && out->rows > 0 && out->columns > 0;
}

/* ---- models ---- */

/* What differs between convolutions. */
typedef struct convolution {
    window window;
    int stride, groups;
} convolution;

static void put_conv(const convolution *c, swept_text *out)
{
    char weight[64];
    const window *w = &c->window;
    snprintf(weight, sizeof weight, "tensor<fp16, [%d, %d, %d, %d]>", CHANNELS, CHANNELS / c->groups, w->height,
             w->width);
    snprintf(out->inputs, sizeof out->inputs, "tensor<fp16, [1, %d, %d, %d]> x", CHANNELS, EXTENT, EXTENT);
    snprintf(out->body, sizeof out->body,
             "%s w = const()[val = %s(BLOBFILE(path = string(\"@model_path/w.bin\"), offset = uint64(64)))]; "
             "tensor<fp16, [1, %d, %d, %d]> y = conv(groups = int32(%d), pad_type = string(\"%s\"), strides = "
             "tensor<int32, [2]>([%d, %d]), weight = w, x = x);",
             weight, weight, CHANNELS, w->rows, w->columns, c->groups, w->padding, c->stride, c->stride);
}

static bool make_conv(const char *text, swept_text *out)
{
    convolution c = {.stride = 1, .groups = 1};
    if (!read_window(text, &c.window))
        return false;
    put_conv(&c, out);
    return true;
}

/* A kernel as long as its stride. */
static bool make_strided(const char *text, swept_text *out)
{
    int n;
    if (!read_number(text, &n) || n > EXTENT)
        return false;
    put_conv(&(convolution){{n, n, EXTENT / n, EXTENT / n, "valid"}, .stride = n, .groups = 1}, out);
    return true;
}

static bool make_grouped(const char *text, swept_text *out)
{
    int n;
    if (!read_number(text, &n) || CHANNELS % n != 0)
        return false;
    put_conv(&(convolution){{3, 3, EXTENT, EXTENT, "same"}, .stride = 1, .groups = n}, out);
    return true;
}

static bool make_pool(const char *operation, const char *text, swept_text *out)
{
    window w;
    if (!read_window(text, &w))
        return false;
    snprintf(out->inputs, sizeof out->inputs, "tensor<fp16, [1, %d, %d, %d]> x", CHANNELS, EXTENT, EXTENT);
    snprintf(out->body, sizeof out->body,
             "tensor<fp16, [1, %d, %d, %d]> y = %s(kernel_sizes = tensor<int32, [2]>([%d, %d]), pad_type = "
             "string(\"%s\"), strides = tensor<int32, [2]>([1, 1]), x = x);",
             CHANNELS, w.rows, w.columns, operation, w.height, w.width, w.padding);
    return true;
}

static bool make_max_pool(const char *text, swept_text *out) { return make_pool("max_pool", text, out); }
static bool make_avg_pool(const char *text, swept_text *out) { return make_pool("avg_pool", text, out); }

/* Of two computed operands, which sum over so many elements. */
static bool make_matmul(const char *text, swept_text *out)
{
    int n;
    if (!read_number(text, &n))
        return false;
    snprintf(out->inputs, sizeof out->inputs, "tensor<fp16, [1, 16, %d]> x, tensor<fp16, [1, %d, 16]> z", n, n);
    snprintf(out->body, sizeof out->body,
             "tensor<fp16, [1, 16, 16]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = "
             "z);");
    return true;
}

static bool put_relu(const char *text, int axis, swept_text *out)
{
    int shape[4] = {1, 1, 1, 1};
    if (!read_number(text, &shape[axis]))
        return false;
    snprintf(out->inputs, sizeof out->inputs, "tensor<fp16, [%d, %d, %d, %d]> x", shape[0], shape[1], shape[2],
             shape[3]);
    snprintf(out->body, sizeof out->body, "tensor<fp16, [%d, %d, %d, %d]> y = relu(x = x);", shape[0], shape[1],
             shape[2], shape[3]);
    return true;
}

static bool make_relu_n(const char *text, swept_text *out) { return put_relu(text, 0, out); }
static bool make_relu_c(const char *text, swept_text *out) { return put_relu(text, 1, out); }
static bool make_relu_h(const char *text, swept_text *out) { return put_relu(text, 2, out); }
static bool make_relu_w(const char *text, swept_text *out) { return put_relu(text, 3, out); }

/* ---- names ---- */

static const struct {
    const char *start;
    bool (*make)(const char *text, swept_text *out);
} families[] = {
    {"conv_k", make_conv},        {"conv_s", make_strided},      {"conv_g", make_grouped},
    {"maxpool_k", make_max_pool}, {"max_pool_k", make_max_pool}, {"avgpool_k", make_avg_pool},
    {"matmul_k", make_matmul},    {"relu_n", make_relu_n},       {"relu_c", make_relu_c},
    {"relu_h", make_relu_h},      {"relu_w", make_relu_w},
};

bool swept_text_make(const char *name, swept_text *out)
{
    *out = (swept_text){.parts = NULL};
    const swept_model *row = swept_model_row(name);
    if (row != NULL) {
        snprintf(out->inputs, sizeof out->inputs, "%s", row->inputs);
        snprintf(out->body, sizeof out->body, "%s", row->body);
        out->parts = row->parts;
        return true;
    }
    name += strncmp(name, "sw_", 3) == 0 ? 3 : 0; /* of a sweep */
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const size_t length = strlen(families[i].start);
        if (strncmp(name, families[i].start, length) == 0 && families[i].make(name + length, out))
            return true;
    }
    return false;
}
