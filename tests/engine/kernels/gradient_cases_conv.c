/* Gradients of conv by its weight and by x. */
#include "engine/program_case.h"
#include "gradient_case.h"

static mw_tensor *forward(const gradient_case *c, mw_tensor *x, mw_tensor *weight)
{
    mw_conv_options options = program_conv(0, c->dilation, c->groups);
    for (int i = 0; i < c->x.rank - 2; i++) {
        options.stride[i] = i < 2 && c->stride[i] > 0 ? c->stride[i] : 1;
        options.pad[2 * i] = options.pad[2 * i + 1] = c->pad;
    }
    return mw_conv(x, weight, NULL, &options);
}

static const gradient_case rows[] = {
    {.what = "conv", .x = {4, {5, 3, 14, 14}}, .weight = {4, {6, 3, 3, 3}}, .pad = 1},
    {.what = "conv, whole vectors", .x = {4, {9, 1, 6, 18}}, .weight = {4, {4, 1, 3, 3}}},
    {.what = "conv, strides", .x = {4, {3, 2, 13, 27}}, .weight = {4, {5, 2, 3, 5}}, .stride = {2, 3}, .pad = 1},
    {.what = "conv, dilation and groups",
     .x = {4, {3, 4, 12, 17}},
     .weight = {4, {6, 2, 2, 3}},
     .dilation = 2,
     .groups = 2,
     .pad = 1},
    {.what = "conv, one axis", .x = {3, {4, 2, 41}}, .weight = {3, {3, 2, 4}}, .stride = {2}, .pad = 1},
    {.what = "conv, short rows", .x = {4, {3, 2, 7, 5}}, .weight = {4, {3, 2, 3, 3}}, .pad = 1},
    {.what = "conv, wide border", .x = {4, {3, 2, 4, 4}}, .weight = {4, {3, 2, 9, 9}}, .pad = 4},
    {.what = "conv, packed", .x = {4, {5, 37, 9, 8}}, .weight = {4, {19, 37, 3, 3}}, .pad = 1},
    {.what = "conv, packed, parts of lines",
     .x = {3, {2, 17, 1300}},
     .weight = {3, {5, 17, 3}},
     .stride = {2},
     .pad = 1},
    {.what = "conv, packed, parts of an image", .x = {4, {2, 10, 37, 41}}, .weight = {4, {15, 10, 2, 3}}, .pad = 1},
    {.what = "conv, packed, a large weight", .x = {4, {3, 130, 3, 3}}, .weight = {4, {120, 130, 3, 3}}, .pad = 1},
    {.what = "conv, packed, strides and dilation",
     .x = {4, {3, 9, 16, 19}},
     .weight = {4, {17, 9, 3, 2}},
     .stride = {2, 3},
     .dilation = 2,
     .pad = 2},
    {.what = "conv, packed, groups", .x = {4, {3, 20, 8, 9}}, .weight = {4, {30, 10, 3, 3}}, .groups = 2, .pad = 1},
    {.what = "conv, packed, positions left out",
     .x = {4, {4, 12, 8, 9}},
     .weight = {4, {16, 12, 1, 1}},
     .stride = {2, 2}},
    {.what = "conv, depthwise", .x = {4, {3, 5, 9, 11}}, .weight = {4, {5, 1, 3, 3}}, .groups = 5, .pad = 1},
    {.what = "conv, depthwise, strides, dilation and two outputs",
     .x = {4, {3, 4, 14, 21}},
     .weight = {4, {8, 1, 3, 4}},
     .stride = {2, 3},
     .dilation = 2,
     .groups = 4,
     .pad = 1},
    {.what = "conv, depthwise, one axis", .x = {3, {2, 3, 53}}, .weight = {3, {3, 1, 5}}, .groups = 3, .pad = 2},
    {.what = "conv, few positions", .x = {4, {3, 2, 4, 4}}, .weight = {4, {3, 2, 3, 3}}},
    {.what = "conv, one channel of a large image", .x = {4, {1, 1, 131, 150}}, .weight = {4, {2, 1, 3, 3}}, .pad = 1},
    {.what = "conv, space, lanes of columns", .x = {5, {2, 3, 4, 5, 6}}, .weight = {5, {3, 3, 2, 2, 2}}},
    {.what = "conv, space, frames", .x = {5, {2, 18, 5, 6, 4}}, .weight = {5, {9, 18, 3, 3, 3}}, .pad = 1},
    {.what = "conv, space, frames of parts of planes",
     .x = {5, {1, 33, 3, 25, 26}},
     .weight = {5, {4, 33, 3, 1, 2}},
     .pad = 1},
    {.what = "conv, space, strides and groups",
     .x = {5, {3, 20, 7, 8, 9}},
     .weight = {5, {14, 10, 3, 2, 2}},
     .stride = {2, 2},
     .groups = 2},
    {.what = "conv, lanes of columns, strides",
     .x = {5, {2, 1, 9, 10, 11}},
     .weight = {5, {20, 1, 4, 4, 4}},
     .stride = {2, 2},
     .pad = 1},
};

const gradient_family gradient_cases_conv = {.label = "conv.dweight",
                                             .forward = forward,
                                             .weighted = true,
                                             .by_weight = true,
                                             .rows = rows,
                                             .count = sizeof rows / sizeof *rows};

static const gradient_case dx_rows[] = {
    {.what = "conv, by x, bands of rows", .x = {4, {2, 9, 50, 37}}, .weight = {4, {48, 9, 3, 3}}, .pad = 1},
    {.what = "conv, by x", .x = {4, {5, 9, 14, 13}}, .weight = {4, {10, 9, 3, 3}}, .pad = 1},
    {.what = "conv, by x, strides", .x = {4, {3, 8, 13, 27}}, .weight = {4, {33, 8, 3, 5}}, .stride = {2, 3}, .pad = 1},
    {.what = "conv, by x, positions left out",
     .x = {4, {2, 33, 8, 9}},
     .weight = {4, {16, 33, 1, 1}},
     .stride = {2, 2}},
    {.what = "conv, by x, a stride beyond the kernel",
     .x = {4, {2, 5, 11, 12}},
     .weight = {4, {4, 5, 2, 1}},
     .stride = {3, 2}},
    {.what = "conv, by x, groups",
     .x = {4, {3, 16, 12, 17}},
     .weight = {4, {6, 8, 3, 3}},
     .stride = {2, 2},
     .groups = 2,
     .pad = 1},
    {.what = "conv, by x, one axis", .x = {3, {4, 12, 41}}, .weight = {3, {3, 12, 4}}, .stride = {2}, .pad = 1},
    {.what = "conv, by x, few channels",
     .x = {4, {3, 2, 7, 5}},
     .weight = {4, {3, 2, 3, 3}},
     .stride = {2, 2},
     .pad = 1,
     .unknown = true},
    {.what = "conv, by x, few channels of groups",
     .x = {4, {3, 20, 9, 8}},
     .weight = {4, {20, 5, 3, 3}},
     .groups = 4,
     .pad = 1},
};

/* What frames hold: at least 16 channels of a group of x, few enough of dy. */
static const gradient_case wide_dx_rows[] = {
    {.what = "conv, by x, frames", .x = {4, {3, 32, 11, 13}}, .weight = {4, {17, 32, 3, 3}}, .pad = 1},
    {.what = "conv, by x, frames, another kernel", .x = {4, {2, 35, 9, 10}}, .weight = {4, {9, 35, 2, 5}}, .pad = 1},
    {.what = "conv, by x, frames, bands of rows", .x = {4, {2, 32, 50, 67}}, .weight = {4, {48, 32, 3, 3}}, .pad = 1},
    {.what = "conv, by x, frames, bands of rows and a wide border",
     .x = {4, {1, 16, 90, 35}},
     .weight = {4, {43, 16, 7, 3}},
     .pad = 2},
    {.what = "conv, by x, frames, one axis", .x = {3, {2, 48, 29}}, .weight = {3, {5, 48, 4}}},
    {.what = "conv, by x, frames, dilation and groups",
     .x = {4, {2, 64, 12, 9}},
     .weight = {4, {20, 32, 3, 2}},
     .dilation = 2,
     .groups = 2,
     .pad = 1},
};

static const gradient_case depthwise_rows[] = {
    {.what = "depthwise, by x", .x = {4, {2, 5, 9, 12}}, .weight = {4, {5, 1, 3, 3}}, .groups = 5, .pad = 1},
    {.what = "depthwise, by x, strides and dilation",
     .x = {4, {3, 4, 16, 21}},
     .weight = {4, {4, 1, 3, 2}},
     .stride = {2, 3},
     .dilation = 2,
     .groups = 4,
     .pad = 1},
    {.what = "depthwise, by x, a stride beyond the kernel",
     .x = {4, {2, 3, 11, 12}},
     .weight = {4, {3, 1, 2, 1}},
     .stride = {3, 2},
     .groups = 3},
};

const gradient_family gradient_cases_depthwise_dx = {.label = "conv_transpose.depthwise",
                                                     .forward = forward,
                                                     .weighted = true,
                                                     .rows = depthwise_rows,
                                                     .count = sizeof depthwise_rows / sizeof *depthwise_rows};

const gradient_family gradient_cases_conv_dx = {.label = "conv_transpose.packed",
                                                .narrow = "conv_transpose.direct",
                                                .forward = forward,
                                                .weighted = true,
                                                .rows = dx_rows,
                                                .count = sizeof dx_rows / sizeof *dx_rows};

const gradient_family gradient_cases_wide_dx = {.label = "conv_transpose.avx512",
                                                .forward = forward,
                                                .weighted = true,
                                                .rows = wide_dx_rows,
                                                .count = sizeof wide_dx_rows / sizeof *wide_dx_rows};
