/* Files of tensors made of others: in another format or type, and the mean of several. */
#include "base/memory/alloc.h"
#include "base/number/float_mode.h"
#include "base/text/error.h"
#include "format/tensors/tensors.h"

#include <millwright/tensors_derived.h>
#include <string.h>

/* What is averaged: the tensors of the first file, with their sums, or their own values where there is no mean. */
typedef struct averaging {
    const mw_allocator *allocator;
    mw_tensors *first;
    mw_tensor_values *values;
    size_t count;
} averaging;

static bool has_mean(mw_dtype dtype)
{
    return dtype == MW_F16 || dtype == MW_F32 || dtype == MW_F64 || dtype == MW_BF16;
}

static size_t count_of(const mw_tensor_values *v) { return (size_t)mw_shape_count(v->shape); }
static size_t bytes_of(const mw_tensor_values *v) { return count_of(v) * ((size_t)mw_dtype_bits(v->dtype) / 8); }

/* Reads a tensor of a file in the type of its place; freed by the caller. */
static void *read_values(const averaging *a, mw_tensors *tensors, const mw_tensor_values *place, mw_error *err)
{
    void *data = mw__alloc(a->allocator, bytes_of(place) + 1, 1, err);
    if (data != NULL && mw_tensors_read(tensors, place->name, place->dtype, data, count_of(place), err) == MW_OK)
        return data;
    mw__free(a->allocator, data);
    return NULL;
}

static mw_status begin_averaging(averaging *a, mw_error *err)
{
    const mw_tensors_note *left = mw_tensors_left_out_at(a->first, 0);
    if (left != NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "mw_tensors_average: \"%.96s\" is not read: %.200s", left->key,
                        left->value);
    a->count = mw_tensors_get_info(a->first).count;
    a->values = mw__alloc(a->allocator, a->count + 1, sizeof *a->values, err);
    if (a->values == NULL)
        return MW_ERROR_MEMORY;
    memset(a->values, 0, (a->count + 1) * sizeof *a->values);
    for (size_t i = 0; i < a->count; i++) {
        const mw_tensor_info *info = mw_tensors_at(a->first, i);
        a->values[i] = (mw_tensor_values){info->name, has_mean(info->dtype) ? MW_F64 : info->dtype, info->shape, NULL};
        a->values[i].data = read_values(a, a->first, &a->values[i], err);
        if (a->values[i].data == NULL)
            return err->status;
    }
    return MW_OK;
}

static mw_status add_tensor(const averaging *a, mw_tensors *tensors, const mw_tensor_values *place, const char *path,
                            mw_error *err)
{
    void *data = read_values(a, tensors, place, err);
    if (data == NULL)
        return err->status;
    const bool mean = place->dtype == MW_F64;
    const bool equal = mean || memcmp(data, place->data, bytes_of(place)) == 0;
    double *sums = (void *)(uintptr_t)place->data;
    for (size_t i = 0; mean && i < count_of(place); i++)
        sums[i] += ((const double *)data)[i];
    mw__free(a->allocator, data);
    return equal ? MW_OK
                 : mw__fail(err, MW_ERROR_ARGUMENT,
                            "mw_tensors_average: \"%.96s\" has no mean, and \"%.200s\" has others", place->name, path);
}

static mw_status add_file(const averaging *a, const char *path, mw_error *err)
{
    mw_status status = MW_OK;
    mw_tensors *tensors = mw_tensors_open(path, err);
    if (tensors == NULL)
        return err->status;
    for (size_t i = 0; status == MW_OK && i < a->count; i++)
        status = add_tensor(a, tensors, &a->values[i], path, err);
    mw_tensors_destroy(tensors);
    return status;
}

/* Sums become means of fp32, in the same memory: element i is read before what lies there is written. */
static void finish_means(averaging *a, size_t files)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->values[i].dtype != MW_F64)
            continue;
        char *data = (void *)(uintptr_t)a->values[i].data;
        for (size_t k = 0; k < count_of(&a->values[i]); k++) {
            double sum;
            memcpy(&sum, data + k * sizeof sum, sizeof sum);
            const float mean = (float)(sum / (double)files);
            memcpy(data + k * sizeof mean, &mean, sizeof mean);
        }
        a->values[i].dtype = MW_F32;
    }
}

static mw_status average(averaging *a, const char *const *paths, size_t count, const char *path, mw_error *err)
{
    a->first = mw_tensors_open(paths[0], err);
    if (a->first == NULL)
        return err->status;
    MW_TRY(begin_averaging(a, err));
    for (size_t i = 1; i < count; i++)
        MW_TRY(add_file(a, paths[i], err));
    finish_means(a, count);
    return mw_tensors_write(path, a->values, a->count, err);
}

mw_status mw_tensors_convert(mw_tensors *tensors, const char *path, mw_dtype dtype, mw_error *err)
{
    return mw__skips(err) ? err->status : mw__tensors_convert(tensors, path, dtype, err);
}

mw_status mw_tensors_average(const char *const *paths, size_t count, const char *path, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    if (paths == NULL || count == 0 || path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_average: a path is NULL, or there is no file");
    averaging a = {.allocator = mw__allocator_or_default(NULL)};
    for (size_t i = 0; i < count; i++)
        if (paths[i] == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_average: path %zu is NULL", i);
    const mw_status status = average(&a, paths, count, path, err);
    for (size_t i = 0; a.values != NULL && i < a.count; i++)
        mw__free(a.allocator, (void *)(uintptr_t)a.values[i].data);
    mw__free(a.allocator, a.values);
    mw_tensors_destroy(a.first);
    return status;
}
