/* Gradients of conv by its weight. */
#include "gradient_case.h"
#include "program_case.h"

static mw_tensor *forward(const gradient_case *c, mw_tensor *x, mw_tensor *weight)
{
    mw_conv_options options = program_conv(0, c->dilation, c->groups);
    for (int i = 0; i < c->x.rank - 2; i++) {
        options.stride[i] = c->stride[i] > 0 ? c->stride[i] : 1;
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
    {.what = "conv, few positions", .x = {4, {3, 2, 4, 4}}, .weight = {4, {3, 2, 3, 3}}, .unknown = true},
};

const gradient_family gradient_cases_conv = {
    .label = "conv.dweight", .forward = forward, .by_weight = true, .rows = rows, .count = sizeof rows / sizeof *rows};
