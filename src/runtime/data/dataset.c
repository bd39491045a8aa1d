/* Data sets: columns of examples in memory or from a function. Sets of other sets are made in derive.c and in
 * libmillwright_data, which reads files, too; batches in batch.c. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "graph/values/values.h"
#include "runtime/data/classes.h"

#include <string.h>

static mw_status check_name(const mw_column *columns, size_t index, mw_error *err)
{
    const char *name = columns[index].name;
    if (name == NULL || name[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "data set: column %zu has no name; a port of that name takes it",
                        index);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(columns[i].name, name) == 0)
            return mw__fail(err, MW_ERROR_ARGUMENT, "data set: columns %zu and %zu are both called \"%.100s\"", i,
                            index, name);
    }
    return MW_OK;
}

/* Bytes of one example; the bytes of all of them must fit into a size, too. */
static mw_status measure_column(const mw_column *column, int64_t examples, size_t *out_bytes, mw_error *err)
{
    if (!mw__is_host_type(column->dtype))
        return mw__fail(
            err, MW_ERROR_DTYPE,
            "data set: column \"%.100s\" is %s; a column is F64, F32, F16, BOOL or an integer of 8 to 64 bits",
            column->name, mw_dtype_name(column->dtype));
    if (column->shape.rank < 0 || column->shape.rank > MW_RANK_MAX)
        return mw__fail(err, MW_ERROR_SHAPE, "data set: column \"%.100s\" has rank %d, outside 0 to %d", column->name,
                        column->shape.rank, MW_RANK_MAX);
    for (int i = 0; i < column->shape.rank; i++) {
        if (column->shape.dim[i] < 1)
            return mw__fail(err, MW_ERROR_SHAPE, "data set: extent %d of column \"%.100s\" is %lld, not positive", i,
                            column->name, (long long)column->shape.dim[i]);
    }
    const int64_t count = mw_shape_count(column->shape);
    size_t all;
    if (count < 0 || (uint64_t)count > SIZE_MAX || (uint64_t)examples > SIZE_MAX ||
        !mw__mul_size((size_t)count, (size_t)mw_dtype_bits(column->dtype) / 8, out_bytes) ||
        !mw__mul_size(*out_bytes, (size_t)examples, &all))
        return mw__fail(err, MW_ERROR_SHAPE, "data set: column \"%.100s\" has more bytes than fit into memory",
                        column->name);
    return MW_OK;
}

static char *copy_string(const mw_allocator *allocator, const char *text, mw_error *err)
{
    const size_t size = strlen(text) + 1;
    char *copy = mw__alloc(allocator, size, 1, err);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

static mw_status fill_dataset(mw_dataset *dataset, const mw_column *columns, size_t column_count, mw_error *err)
{
    const mw_allocator *allocator = dataset->allocator;
    dataset->columns = mw__alloc(allocator, column_count, sizeof *dataset->columns, err);
    dataset->example_bytes = mw__alloc(allocator, column_count, sizeof *dataset->example_bytes, err);
    dataset->owned = mw__alloc(allocator, column_count, sizeof *dataset->owned, err);
    if (dataset->columns == NULL || dataset->example_bytes == NULL || dataset->owned == NULL)
        return MW_ERROR_MEMORY;
    dataset->column_count = column_count;
    for (size_t i = 0; i < column_count; i++) {
        MW_TRY(check_name(columns, i, err));
        MW_TRY(measure_column(&columns[i], dataset->examples, &dataset->example_bytes[i], err));
        char *name = copy_string(allocator, columns[i].name, err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        dataset->columns[i] = columns[i];
        dataset->columns[i].name = name;
        dataset->columns[i].data = NULL;
        if (columns[i].scale == 0.0f)
            dataset->columns[i].scale = 1.0f;
    }
    return MW_OK;
}

mw_dataset *mw__dataset_create(const mw_allocator *allocator, const mw_column *columns, size_t column_count,
                               int64_t examples, mw_error *err)
{
    if (mw__failed(err))
        return NULL;
    if (columns == NULL || column_count == 0 || examples < 1) {
        mw__fail(err, MW_ERROR_ARGUMENT, "data set: %zu columns of %lld examples; it needs at least one of both",
                 columns == NULL ? (size_t)0 : column_count, (long long)examples);
        return NULL;
    }
    allocator = mw__allocator_or_default(allocator);
    mw_dataset *dataset = mw__live_make(allocator, sizeof *dataset, MW__LIVE_DATASET, err);
    if (dataset == NULL)
        return NULL;
    atomic_init(&dataset->references, 1);
    dataset->allocator = allocator;
    dataset->examples = examples;
    if (fill_dataset(dataset, columns, column_count, err) != MW_OK) {
        mw_dataset_destroy(dataset);
        return NULL;
    }
    return dataset;
}

static mw_status take_data(mw_dataset *dataset, size_t index, const void *data, bool copy, mw_error *err)
{
    if (data == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "data set: column \"%.100s\" has no data",
                        dataset->columns[index].name);
    dataset->columns[index].data = data;
    if (!copy)
        return MW_OK;
    const size_t size = dataset->example_bytes[index] * (size_t)dataset->examples; /* checked by measure */
    void *owned = mw__alloc(dataset->allocator, size, 1, err);
    if (owned == NULL)
        return MW_ERROR_MEMORY;
    memcpy(owned, data, size);
    dataset->owned[index] = owned;
    dataset->columns[index].data = owned;
    return MW_OK;
}

mw_dataset *mw__dataset_from_memory(const mw_allocator *allocator, const mw_column *columns, size_t column_count,
                                    int64_t examples, bool copy, mw_error *err)
{
    mw_dataset *dataset = mw__dataset_create(allocator, columns, column_count, examples, err);
    for (size_t i = 0; dataset != NULL && i < column_count; i++) {
        if (take_data(dataset, i, columns[i].data, copy, err) != MW_OK) {
            mw_dataset_destroy(dataset);
            return NULL;
        }
    }
    return dataset;
}

mw_dataset *mw_dataset_create(const mw_column *columns, size_t column_count, int64_t examples, bool copy, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    return mw__dataset_from_memory(NULL, columns, column_count, examples, copy, err);
}

/* The user's function may fail with or without saying why. */
static mw_status call_function(const mw_dataset *dataset, int64_t example, size_t column, void *out, mw_error *err)
{
    mw_error reason = {0};
    const mw__callback outer = mw__callback_begin("function of the data set", MW__LENT_NEVER);
    const mw_status status = dataset->function(dataset->user, example, column, out, &reason);
    mw__callback_end(outer);
    if (status == MW_OK)
        return MW_OK;
    return mw__fail(err, status, "data set: example %lld of column \"%.100s\": %s", (long long)example,
                    dataset->columns[column].name,
                    reason.message[0] != '\0' ? reason.message : "the function that makes it failed");
}

static mw_status make_by_function(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                                  mw_error *err)
{
    (void)scratch;
    for (size_t i = 0; i < dataset->column_count; i++)
        MW_TRY(call_function(dataset, at.example, i, out[i], err));
    return MW_OK;
}

mw_status mw__dataset_make(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                           mw_error *err)
{
    if (dataset->make != NULL)
        return dataset->make(dataset, at, out, scratch, err);
    for (size_t i = 0; i < dataset->column_count; i++) {
        const size_t bytes = dataset->example_bytes[i];
        memcpy(out[i], (const char *)dataset->columns[i].data + (size_t)at.example * bytes, bytes);
    }
    return MW_OK;
}

mw_dataset *mw_dataset_create_callback(const mw_column *columns, size_t column_count, int64_t examples,
                                       mw_dataset_function *function, void *user, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    if (function == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "data set: no function that makes the examples");
        return NULL;
    }
    mw_dataset *dataset = mw__dataset_create(NULL, columns, column_count, examples, err);
    if (dataset == NULL)
        return NULL;
    dataset->make = make_by_function;
    dataset->function = function;
    dataset->user = user;
    return dataset;
}

mw_dataset *mw__dataset_retain(const mw_dataset *dataset)
{
    mw_dataset *own = (mw_dataset *)dataset; /* constant but for this */
    atomic_fetch_add_explicit(&own->references, 1, memory_order_relaxed);
    return own;
}

void mw__dataset_release(mw_dataset *dataset)
{
    if (atomic_fetch_sub_explicit(&dataset->references, 1, memory_order_acq_rel) > 1)
        return;
    const mw_allocator *allocator = dataset->allocator;
    for (size_t i = 0; i < dataset->column_count; i++) {
        mw__free(allocator, (void *)dataset->columns[i].name);
        mw__free(allocator, dataset->owned[i]);
    }
    for (size_t i = 0; i < dataset->source_count; i++)
        mw__dataset_release(dataset->sources[i]);
    mw__free(allocator, dataset->columns);
    mw__free(allocator, dataset->example_bytes);
    mw__free(allocator, dataset->owned);
    mw__free(allocator, dataset->sources);
    mw__free(allocator, dataset->index);
    mw__free(allocator, dataset->state);
    mw__class_table_destroy(dataset->classes, allocator);
    mw__free(allocator, dataset);
}

void mw_dataset_destroy(mw_dataset *dataset)
{
    if (dataset != NULL && mw__live_remove(dataset, MW__LIVE_DATASET, __func__))
        mw__dataset_release(dataset);
}

mw_status mw__dataset_check(const mw_dataset *dataset, const char *what, mw_error *err)
{
    if (dataset == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the data set is NULL", what);
    return mw__live_check(dataset, MW__LIVE_DATASET, what, err);
}

static bool is_live(const mw_dataset *dataset) { return mw__live_has(dataset, MW__LIVE_DATASET); }

int64_t mw_dataset_examples(const mw_dataset *dataset) { return is_live(dataset) ? dataset->examples : 0; }

const mw_column *mw_dataset_column_at(const mw_dataset *dataset, size_t index)
{
    return is_live(dataset) && index < dataset->column_count ? &dataset->columns[index] : NULL;
}
