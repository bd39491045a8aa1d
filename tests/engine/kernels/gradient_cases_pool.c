/* Gradients of max_pool and of avg_pool by their input. */
#include "gradient_case.h"

static mw_pool_options options_of(const gradient_case *c)
{
    mw_pool_options options = mw_pool_defaults(c->weight);
    options.pad_type = MW_PAD_CUSTOM;
    for (int i = 0; i < c->weight.rank; i++) {
        options.stride[i] = c->stride[i] > 0 ? c->stride[i] : 1;
        options.pad[2 * i] = options.pad[2 * i + 1] = c->pad;
    }
    return options;
}

static mw_tensor *forward(const gradient_case *c, mw_tensor *x, mw_tensor *weight)
{
    const mw_pool_options options = options_of(c);
    (void)weight;
    return mw_max_pool(c->relu ? mw_relu(x) : x, &options);
}

static mw_tensor *average(const gradient_case *c, mw_tensor *x, mw_tensor *weight)
{
    mw_pool_options options = options_of(c);
    (void)weight;
    options.exclude_padding = c->dilation > 1;
    return mw_avg_pool(x, &options);
}

static const gradient_case rows[] = {
    {.what = "pool, two", .x = {4, {2, 3, 14, 22}}, .weight = {2, {2, 2}}, .stride = {2, 2}},
    {.what = "pool, two, a rest", .x = {4, {3, 2, 7, 9}}, .weight = {2, {2, 2}}, .stride = {2, 2}},
    {.what = "pool, two, narrow", .x = {4, {3, 2, 6, 5}}, .weight = {2, {2, 2}}, .stride = {2, 2}},
    {.what = "pool, gaps", .x = {4, {1, 2, 11, 13}}, .weight = {2, {2, 3}}, .stride = {3, 4}},
    {.what = "pool, overlaps", .x = {4, {2, 2, 11, 13}}, .weight = {2, {3, 3}}, .stride = {2, 2}, .overlaps = true},
    {.what = "pool, one axis", .x = {3, {2, 3, 19}}, .weight = {1, {3}}, .stride = {2}, .overlaps = true},
    {.what = "pool, stride 1", .x = {4, {2, 2, 5, 9}}, .weight = {2, {2, 2}}, .overlaps = true},
    {.what = "pool, many planes", .x = {4, {3, 7, 11, 13}}, .weight = {2, {3, 3}}, .stride = {2, 2}, .overlaps = true},
    {.what = "pool, many planes, gaps", .x = {4, {2, 9, 11, 13}}, .weight = {2, {2, 3}}, .stride = {3, 4}},
    {.what = "pool, many planes, stride 1, padded",
     .x = {4, {2, 9, 6, 9}},
     .weight = {2, {3, 2}},
     .pad = 1,
     .overlaps = true},
    {.what = "pool, many planes, padded, of relu",
     .x = {4, {2, 9, 8, 8}},
     .weight = {2, {3, 3}},
     .stride = {2, 2},
     .pad = 1,
     .relu = true,
     .overlaps = true},
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

/* A dilation stands for padding that does not count. */
static const gradient_case averages[] = {
    {.what = "average, two", .x = {4, {2, 9, 14, 22}}, .weight = {2, {2, 2}}, .stride = {2, 2}},
    {.what = "average, a rest", .x = {4, {3, 2, 7, 9}}, .weight = {2, {2, 2}}, .stride = {2, 2}},
    {.what = "average, gaps", .x = {4, {1, 2, 11, 13}}, .weight = {2, {2, 3}}, .stride = {3, 4}},
    {.what = "average, overlaps", .x = {4, {2, 5, 11, 13}}, .weight = {2, {3, 3}}, .stride = {2, 1}},
    {.what = "average, padded", .x = {4, {2, 5, 8, 8}}, .weight = {2, {3, 3}}, .stride = {2, 2}, .pad = 1},
    {.what = "average, padding that does not count",
     .x = {4, {2, 5, 8, 9}},
     .weight = {2, {5, 3}},
     .stride = {3, 2},
     .pad = 2,
     .dilation = 2},
    {.what = "average, one axis", .x = {3, {2, 17, 40}}, .weight = {1, {5}}, .stride = {3}, .pad = 2},
    {.what = "average, stride 1", .x = {4, {2, 2, 5, 9}}, .weight = {2, {2, 2}}, .unknown = true},
};

const gradient_family gradient_cases_average = {
    .label = "avg_pool.gradient", .forward = average, .rows = averages, .count = sizeof averages / sizeof *averages};

const gradient_family gradient_cases_pool = {
    .label = "max_pool.gradient", .forward = forward, .rows = rows, .count = sizeof rows / sizeof *rows};
