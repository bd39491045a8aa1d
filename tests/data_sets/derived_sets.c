#include "data_sets/derived_sets.h"

#include "runtime/data/data.h"

#include <string.h>

enum { PIXELS = DERIVED_H * DERIVED_W };

mw_dataset *derived_base(const mw_allocator *allocator, mw_error *err)
{
    uint8_t x[DERIVED_EXAMPLES * PIXELS];
    int32_t y[DERIVED_EXAMPLES];
    for (int i = 0; i < DERIVED_EXAMPLES; i++) {
        y[i] = i;
        for (int k = 0; k < PIXELS; k++)
            x[i * PIXELS + k] = (uint8_t)(i + k);
    }
    const mw_column columns[] = {
        {.name = "x", .dtype = MW_U8, .shape = MW_SHAPE(DERIVED_H, DERIVED_W), .scale = 0.5f, .data = x},
        {.name = "y", .dtype = MW_I32, .data = y}};
    return mw__dataset_from_memory(allocator, columns, 2, DERIVED_EXAMPLES, true, err);
}

static mw_status make_one(void *user, int64_t example, size_t column, void *out, mw_error *err)
{
    (void)user, (void)err;
    const int32_t y = (int32_t)example;
    if (column == 1)
        memcpy(out, &y, sizeof y);
    else
        memset(out, (int)example * 3, PIXELS);
    return MW_OK;
}

static mw_dataset *from_function(mw_error *err)
{
    const mw_column columns[] = {{.name = "x", .dtype = MW_U8, .shape = MW_SHAPE(DERIVED_H, DERIVED_W), .scale = 0.5f},
                                 {.name = "y", .dtype = MW_I32}};
    return mw_dataset_create_callback(columns, 2, DERIVED_EXAMPLES, make_one, NULL, err);
}

static mw_status sum_up(void *user, const mw_map_example *example, mw_error *err)
{
    (void)user, (void)err;
    double sum = (double)mw_map_example_uniform(example, 3);
    for (int i = 0; i < PIXELS; i++)
        sum += ((const uint8_t *)example->in[0])[i];
    memcpy(example->out[0], &sum, sizeof sum);
    memcpy(example->out[1], &example->epoch, sizeof example->epoch);
    return MW_OK;
}

mw_dataset *derived_sums(const mw_dataset *source, uint64_t seed, mw_error *err)
{
    const mw_column columns[] = {{.name = "sum", .dtype = MW_F64}, {.name = "epoch", .dtype = MW_I64}};
    return mw_dataset_map(source, columns, 2, sum_up, NULL, seed, err);
}

static mw_dataset *subset_of(const mw_dataset *source, mw_error *err)
{
    static const int64_t chosen[] = {12, 0, 5, 5, 7, 3, 1};
    return mw_dataset_subset(source, chosen, 7, err);
}

static mw_dataset *part_of(const mw_dataset *source, mw_error *err)
{
    static const int64_t counts[] = {4, -1};
    mw_dataset *parts[2];
    mw_dataset_split(source, counts, 2, 99, parts, err);
    mw_dataset_destroy(parts[0]);
    return parts[1];
}

static mw_dataset *both(const mw_dataset *first, const mw_dataset *second, mw_error *err)
{
    if (first == NULL || second == NULL)
        return NULL;
    const mw_dataset *const sources[] = {first, second, first};
    return mw_dataset_concatenate(sources, 3, err);
}

static mw_dataset *augmented(const mw_dataset *source, mw_error *err)
{
    mw_augment_options options = mw_augment_defaults("x");
    options.pad = 1;
    options.crop_height = 3;
    options.crop_width = 5;
    options.shift = 1;
    options.flip = options.flip_vertical = 0.5f;
    options.brightness = 0.25f;
    options.contrast = 0.5f;
    options.rotate = 20.0f;
    options.color.brightness = 0.3f;
    options.erase.probability = 0.5f;
    options.seed = 5;
    return mw_dataset_augment(source, &options, err);
}

/* Of a map, whose examples draw numbers. */
static mw_dataset *windows_of(const mw_dataset *source, mw_error *err)
{
    mw_window_options options = mw_window_defaults(3);
    options.horizon = 2;
    options.gap = 1;
    mw_dataset *once = augmented(source, err), *out = mw_dataset_window(once, &options, err);
    mw_dataset_destroy(once);
    return out;
}

/* x and y as they are, and x changed. */
static mw_dataset *views_of(const mw_dataset *source, mw_error *err)
{
    static const char *const x[] = {"x"}, *const view[] = {"view"};
    mw_dataset *once = augmented(source, err);
    const mw_zip_part parts[] = {{.source = source}, {.source = once, .columns = x, .names = view, .count = 1}};
    mw_dataset *out = once != NULL ? mw_dataset_zip(parts, 2, err) : NULL;
    mw_dataset_destroy(once);
    return out;
}

static mw_dataset *mixed(const mw_dataset *source, mw_error *err)
{
    mw_mix_options options = mw_mix_defaults("x", "y", DERIVED_EXAMPLES);
    options.mixup = 0.4f;
    options.cutmix = 1.0f;
    options.probability = 0.75f;
    options.seed = 9;
    return mw_dataset_mix(source, &options, err);
}

static mw_dataset *normalized(const mw_dataset *source, mw_error *err)
{
    static const float mean = 3.0f, deviation = 7.0f;
    const mw_normalize_options options = mw_normalize_defaults("x", &mean, &deviation, 1);
    return mw_dataset_normalize(source, &options, err);
}

static mw_dataset *drawn(const mw_dataset *source, mw_error *err)
{
    const double weights[DERIVED_EXAMPLES] = {[2] = 1, [3] = 0.5, [7] = 4, [12] = 0.25};
    return mw_dataset_sample(source, weights, 9, 6, err);
}

/* Sets on sets; each source is given up at once. */
static mw_dataset *everything(const mw_dataset *base, mw_error *err)
{
    mw_dataset *function = from_function(err);
    mw_dataset *part = part_of(base, err);
    mw_dataset *joined = both(part, function, err);
    mw_dataset *some = subset_of(joined, err);
    mw_dataset *changed = augmented(some, err);
    mw_dataset *once = mixed(changed, err);
    mw_dataset *mapped = mw_dataset_prefetch(once, 3, err); /* inside, it counts for nothing */
    mw_dataset *outer = both(mapped, mapped, err);
    mw_dataset_destroy(function);
    mw_dataset_destroy(part);
    mw_dataset_destroy(joined);
    mw_dataset_destroy(some);
    mw_dataset_destroy(changed);
    mw_dataset_destroy(once);
    mw_dataset_destroy(mapped);
    return outer;
}

const char *derived_name(int kind)
{
    static const char *const names[DERIVED_KINDS] = {"memory", "function",  "subset",    "split",      "concatenation",
                                                     "map",    "augmented", "mixed",     "normalized", "windows",
                                                     "drawn",  "zipped",    "everything"};
    return names[kind];
}

mw_dataset *derived_make(int kind, const mw_allocator *allocator, mw_error *err)
{
    mw_dataset *base = derived_base(allocator, err), *out = NULL, *other = NULL;
    if (base == NULL)
        return NULL;
    switch (kind) {
    case 0:
        return base;
    case 1:
        out = from_function(err);
        break;
    case 2:
        out = subset_of(base, err);
        break;
    case 3:
        out = part_of(base, err);
        break;
    case 4:
        other = subset_of(base, err);
        out = other != NULL ? both(base, other, err) : NULL;
        break;
    case 5:
        out = derived_sums(base, 11, err);
        break;
    case 6:
        out = augmented(base, err);
        break;
    case 7:
        out = mixed(base, err);
        break;
    case 8:
        out = normalized(base, err);
        break;
    case 9:
        out = windows_of(base, err);
        break;
    case 10:
        out = drawn(base, err);
        break;
    case 11:
        out = views_of(base, err);
        break;
    default:
        out = everything(base, err);
        break;
    }
    mw_dataset_destroy(base);
    mw_dataset_destroy(other);
    return out;
}
