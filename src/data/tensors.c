/* Data sets of tensors (format/tensors): the first axis counts the examples. */
#include "format/tensors/tensors.h"
#include "base/number/float_mode.h"
#include "data/data.h"
#include "graph/ir/ir.h"
#include "runtime/data/data.h"

#include <string.h>

typedef struct opening {
    const mw_allocator *allocator;
    mw_tensors *file;   /* of the call */
    mw_column *columns; /* [count]; names are the caller's or the file's */
    void **data;        /* [count], until the set has them */
    size_t count;
    int64_t examples; /* -1 = not known yet */
} opening;

/* ---- one column ---- */

/* By its name; the only tensor of a file goes by any. */
static const mw__tensors_item *find_item(const mw_tensors *file, const mw_tensor_column *asked, mw_error *err)
{
    const char *name = asked->tensor != NULL ? asked->tensor : asked->name;
    const mw__tensors_item *item = mw__tensors_item_find(file, name);
    if (item == NULL && asked->tensor == NULL && file->count == 1)
        item = &file->items[0];
    mw_error why = {0};
    if (item == NULL && mw__tensors_missing(file, name, &why) == MW_ERROR_UNSUPPORTED)
        mw__fail(err, why.status, "%s", why.message);
    else if (item == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" has no tensor \"%.150s\" for a column", file->path, name);
    return item;
}

static mw_status check_examples(opening *o, const mw_tensors *file, const mw_tensor_info *info, mw_error *err)
{
    char text[160];
    const mw_shape shape = info->shape;
    if (shape.rank == 0 || shape.dim[0] < 1)
        return mw__fail(err, MW_ERROR_SHAPE, "\"%.200s\": \"%.150s\" is %s, and holds no examples on a first axis",
                        file->path, info->name, mw__shape_print(shape, text, sizeof text));
    if (o->examples >= 0 && o->examples != shape.dim[0])
        return mw__fail(err, MW_ERROR_SHAPE, "\"%.200s\": \"%.150s\" has %lld examples, the columns before it %lld",
                        file->path, info->name, (long long)shape.dim[0], (long long)o->examples);
    o->examples = shape.dim[0];
    return MW_OK;
}

static mw_shape without_first(mw_shape shape)
{
    memmove(shape.dim, shape.dim + 1, (size_t)(shape.rank - 1) * sizeof *shape.dim);
    shape.dim[--shape.rank] = 0;
    return shape;
}

static mw_status read_column(opening *o, mw_tensors *file, const mw_tensor_column *asked, size_t i, mw_error *err)
{
    const mw__tensors_item *item = find_item(file, asked, err);
    if (item == NULL)
        return err->status;
    MW_TRY(check_examples(o, file, &item->info, err));
    const mw_dtype stored = item->info.dtype == MW_BF16 ? MW_F32 : item->info.dtype;
    const mw_dtype dtype = asked->dtype != MW_DTYPE_NONE ? asked->dtype : stored;
    const size_t bits = (size_t)mw_dtype_bits(dtype), count = (size_t)mw_shape_count(item->info.shape);
    o->data[i] = mw__alloc(o->allocator, count, bits < 8 ? 1 : bits / 8, err);
    if (o->data[i] == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__tensors_read(file, item, dtype, o->data[i], false, err));
    o->columns[i] = (mw_column){.name = asked->name,
                                .dtype = dtype,
                                .shape = without_first(item->info.shape),
                                .scale = asked->scale,
                                .offset = asked->offset,
                                .data = o->data[i]};
    return MW_OK;
}

/* From its own file, or that of the call. */
static mw_status add_column(opening *o, const mw_tensor_column *asked, size_t i, mw_error *err)
{
    if (asked->name == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_tensors: column %zu has no name", i);
    if (asked->path == NULL && o->file == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_tensors: no path for column \"%.150s\"", asked->name);
    if (asked->path == NULL)
        return read_column(o, o->file, asked, i, err);
    mw_tensors *file = mw__tensors_open(o->allocator, asked->path, err);
    const mw_status status = file != NULL ? read_column(o, file, asked, i, err) : err->status;
    mw_tensors_destroy(file);
    return status;
}

/* ---- the set ---- */

static mw_dataset *make_dataset(opening *o, mw_error *err)
{
    mw_dataset *dataset = mw__dataset_from_memory(o->allocator, o->columns, o->count, o->examples, false, err);
    for (size_t i = 0; dataset != NULL && i < o->count; i++) {
        dataset->owned[i] = o->data[i];
        o->data[i] = NULL;
    }
    return dataset;
}

static mw_dataset *read_columns(opening *o, const mw_tensor_column *asked, mw_error *err)
{
    o->columns = mw__alloc(o->allocator, o->count, sizeof *o->columns, err);
    o->data = mw__alloc(o->allocator, o->count, sizeof *o->data, err);
    mw_status status = o->columns != NULL && o->data != NULL ? MW_OK : MW_ERROR_MEMORY;
    for (size_t i = 0; i < o->count && status == MW_OK; i++) {
        const mw_tensor_column whole = {.name = asked == NULL ? o->file->items[i].info.name : NULL};
        status = add_column(o, asked != NULL ? &asked[i] : &whole, i, err);
    }
    mw_dataset *dataset = status == MW_OK ? make_dataset(o, err) : NULL;
    for (size_t i = 0; o->data != NULL && i < o->count; i++)
        mw__free(o->allocator, o->data[i]);
    mw__free(o->allocator, o->data);
    mw__free(o->allocator, o->columns);
    return dataset;
}

mw_dataset *mw__data_open_tensors(const mw_allocator *allocator, const char *path, const mw_tensor_column *columns,
                                  size_t column_count, mw_error *err)
{
    opening o = {.allocator = mw__allocator_or_default(allocator), .count = column_count, .examples = -1};
    if ((columns == NULL) != (column_count == 0) || (path == NULL && column_count == 0)) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_tensors: %s",
                 path == NULL ? "no path" : "columns and their number do not go together");
        return NULL;
    }
    if (path != NULL && (o.file = mw__tensors_open(o.allocator, path, err)) == NULL)
        return NULL;
    o.count = columns != NULL ? column_count : o.file->count;
    mw_dataset *dataset = NULL;
    if (o.count > 0)
        dataset = read_columns(&o, columns, err);
    else
        mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has no tensor", path);
    mw_tensors_destroy(o.file);
    return dataset;
}

mw_dataset *mw_dataset_open_tensors(const char *path, const mw_tensor_column *columns, size_t column_count,
                                    mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    return mw__skips(err) ? NULL : mw__data_open_tensors(NULL, path, columns, column_count, err);
}
