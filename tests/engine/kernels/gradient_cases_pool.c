/* Gradients of max_pool by its input. */
#include "gradient_case.h"

static mw_tensor *forward(const gradient_case *c, mw_tensor *x, mw_tensor *weight)
{
    mw_pool_options options = mw_pool_defaults(c->weight);
    (void)weight;
    options.pad_type = MW_PAD_CUSTOM;
    for (int i = 0; i < c->weight.rank; i++) {
        options.stride[i] = c->stride[i] > 0 ? c->stride[i] : 1;
        options.pad[2 * i] = options.pad[2 * i + 1] = c->pad;
    }
    return mw_max_pool(c->relu ? mw_relu(x) : x, &options);
}

static const gradient_case rows[] = {
    {.what = "pool, two", .x = {4, {2, 3, 14, 22}}, .weight = {2, {2, 2}}, .stride = {2, 2}},
    {.what = "pool, two, a rest", .x = {4, {3, 2, 7, 9}}, .weight = {2, {2, 2}}, .stride = {2, 2}},
    {.what = "pool, two, narrow", .x = {4, {3, 2, 6, 5}}, .weight = {2, {2, 2}}, .stride = {2, 2}},
    {.what = "pool, gaps", .x = {4, {1, 2, 11, 13}}, .weight = {2, {2, 3}}, .stride = {3, 4}},
    {.what = "pool, overlaps", .x = {4, {2, 2, 11, 13}}, .weight = {2, {3, 3}}, .stride = {2, 2}, .overlaps = true},
    {.what = "pool, one axis", .x = {3, {2, 3, 19}}, .weight = {1, {3}}, .stride = {2}, .overlaps = true},
    {.what = "pool, stride 1", .x = {4, {2, 2, 5, 9}}, .weight = {2, {2, 2}}, .overlaps = true},
    {.what = "pool, padded",
     .x = {4, {2, 2, 8, 8}},
     .weight = {2, {3, 3}},
     .stride = {2, 2},
     .pad = 1,
     .overlaps = true},
    {.what = "pool, padded, nothing overlaps",
     .x = {4, {2, 3, 9, 10}},
     .weight = {2, {2, 3}},
     .stride = {2, 3},
     .pad = 1,
     .overlaps = true},
    {.what = "pool, padded, one axis",
     .x = {3, {2, 3, 20}},
     .weight = {1, {5}},
     .stride = {2},
     .pad = 2,
     .overlaps = true},
    {.what = "pool, padded, wide windows",
     .x = {4, {2, 2, 5, 6}},
     .weight = {2, {7, 5}},
     .stride = {2, 1},
     .pad = 3,
     .overlaps = true},
    {.what = "pool, two, of relu", .x = {4, {2, 3, 14, 26}}, .weight = {2, {2, 2}}, .stride = {2, 2}, .relu = true},
    {.what = "pool, two, a rest, of relu",
     .x = {4, {3, 2, 7, 9}},
     .weight = {2, {2, 2}},
     .stride = {2, 2},
     .relu = true},
    {.what = "pool, overlaps, of relu",
     .x = {4, {2, 2, 11, 13}},
     .weight = {2, {3, 3}},
     .stride = {2, 2},
     .relu = true,
     .overlaps = true},
    {.what = "pool, padded, of relu",
     .x = {4, {2, 2, 8, 8}},
     .weight = {2, {3, 3}},
     .stride = {2, 2},
     .pad = 1,
     .relu = true,
     .overlaps = true},
};

const gradient_family gradient_cases_pool = {
    .label = "max_pool.gradient", .forward = forward, .rows = rows, .count = sizeof rows / sizeof *rows};
