/* Maps: examples that a function changes whenever they are served, and the numbers that it draws. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/number/random.h"
#include "data/data.h"
#include "runtime/data/data.h"

/* ---- the numbers of an example ---- */

uint64_t mw__data_seed(uint64_t key, uint64_t low, uint64_t high)
{
    const uint32_t counter[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};
    const uint32_t halves[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    uint32_t words[4];
    mw__philox(words, counter, halves);
    return (uint64_t)words[1] << 32 | words[0];
}

float mw_map_example_uniform(const mw_map_example *example, uint64_t index)
{
    mw__random random = {.seed = example != NULL ? example->seed : 0, .position = index};
    return mw__random_uniform(&random);
}

/* ---- making ---- */

enum { ALIGNMENT = 64 };

bool mw__data_places_size(const mw_dataset *source, size_t *out_bytes)
{
    size_t bytes, size;
    if (!mw__mul_size(source->column_count, sizeof(void *), &bytes) || !mw__round_up_size(bytes, ALIGNMENT, &bytes))
        return false;
    for (size_t i = 0; i < source->column_count; i++) {
        if (!mw__round_up_size(source->example_bytes[i], ALIGNMENT, &size) || !mw__add_size(bytes, size, &bytes))
            return false;
    }
    *out_bytes = bytes;
    return true;
}

char *mw__data_put_places(const mw_dataset *source, char *scratch)
{
    void **places = (void **)(void *)scratch;
    char *at = scratch + (source->column_count * sizeof(void *) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    for (size_t i = 0; i < source->column_count; i++) {
        places[i] = at;
        at += (source->example_bytes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return at;
}

bool mw__data_scratch_bytes(const mw_dataset *source, size_t *out_bytes)
{
    size_t bytes;
    return mw__data_places_size(source, &bytes) && mw__add_size(bytes, source->scratch_bytes, out_bytes);
}

static mw_status call_map(const mw__data_map *map, const mw_map_example *example, mw_error *err)
{
    mw_error reason = {0};
    const mw__callback outer = mw__callback_begin("function of a map", MW__LENT_NEVER);
    const mw_status status = map->function(map->user, example, &reason);
    mw__callback_end(outer);
    if (status == MW_OK)
        return MW_OK;
    return mw__fail(err, status, "data set: example %lld in epoch %lld: %s", (long long)example->example,
                    (long long)example->epoch, reason.message[0] != '\0' ? reason.message : "the map failed");
}

static mw_status make_mapped(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                             mw_error *err)
{
    const mw_dataset *source = dataset->sources[0];
    const mw__data_map *map = dataset->state;
    void **in = (void **)(void *)scratch;
    MW_TRY(mw__dataset_make(source, at, in, mw__data_put_places(source, scratch), err));
    const mw_map_example example = {.epoch = at.epoch,
                                    .example = at.example,
                                    .seed = mw__data_seed(map->key, (uint64_t)at.example, (uint64_t)at.epoch),
                                    .in = (const void *const *)in,
                                    .out = out};
    return call_map(map, &example, err);
}

static mw_status check_map(const mw_dataset *source, const mw_column *columns, size_t column_count,
                           mw_map_function *function, mw_error *err)
{
    if (source == NULL || function == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_map: no %s", source == NULL ? "source" : "function");
    if (columns == NULL && column_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_map: %zu columns, but none are given", column_count);
    return mw__dataset_check(source, "mw_dataset_map", err);
}

mw_dataset *mw__data_map_make(const mw_dataset *source, const mw_column *columns, size_t column_count,
                              mw__data_map *map, uint64_t seed, mw_error *err)
{
    const bool same = column_count == 0;
    mw_dataset *dataset = mw__dataset_derive(&source, 1, same ? source->columns : columns,
                                             same ? source->column_count : column_count, source->examples, 0, err);
    if (dataset == NULL)
        return NULL;
    if (!mw__data_scratch_bytes(source, &dataset->scratch_bytes)) {
        mw__fail(err, MW_ERROR_SHAPE, "mw_dataset_map: an example of the source has more bytes than fit into memory");
        mw_dataset_destroy(dataset);
        return NULL;
    }
    map->key = mw__data_seed(seed, (uint64_t)dataset->map_count, UINT64_MAX);
    dataset->make = make_mapped;
    dataset->state = map;
    dataset->map_count++;
    return dataset;
}

mw_dataset *mw_dataset_map(const mw_dataset *source, const mw_column *columns, size_t column_count,
                           mw_map_function *function, void *user, uint64_t seed, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_map(source, columns, column_count, function, err) != MW_OK)
        return NULL;
    mw__data_map *map = mw__alloc(source->allocator, 1, sizeof *map, err);
    if (map == NULL)
        return NULL;
    *map = (mw__data_map){.function = function, .user = user};
    mw_dataset *dataset = mw__data_map_make(source, columns, column_count, map, seed, err);
    if (dataset == NULL)
        mw__free(source->allocator, map);
    return dataset;
}
