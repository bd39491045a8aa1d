/* Data sets of tables (data/table), with the names of their classes. */
#include "data/table/table.h"
#include "base/number/float_mode.h"
#include "runtime/data/classes.h"

#include <string.h>

mw_table_options mw_table_defaults(const mw_table_column *columns, size_t column_count)
{
    return (mw_table_options){
        .struct_size = sizeof(mw_table_options), .columns = columns, .column_count = column_count, .separator = ','};
}

/* ---- classes ---- */

static mw_status keep_classes(mw_dataset *dataset, const mw__table *table, mw_error *err)
{
    mw__class_list *lists = mw__alloc(table->allocator, table->column_count, sizeof *lists, err);
    if (lists == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < table->column_count; i++)
        lists[i] = (mw__class_list){table->columns[i].names, table->columns[i].name_count};
    const mw_status status = mw__dataset_keep_classes(dataset, lists, err);
    mw__free(table->allocator, lists);
    return status;
}

/* ---- the set ---- */

static mw_dataset *take_columns(mw__table *table, mw_column *columns, mw_error *err)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const mw_table_column *asked = &table->asked[i];
        columns[i] = (mw_column){.name = asked->name,
                                 .dtype = asked->dtype,
                                 .scale = asked->scale,
                                 .offset = asked->offset,
                                 .data = table->columns[i].data};
        if (table->columns[i].is_array)
            columns[i].shape = MW_SHAPE((int64_t)table->columns[i].width);
    }
    mw_dataset *dataset =
        mw__dataset_from_memory(table->allocator, columns, table->column_count, (int64_t)table->rows, false, err);
    if (dataset == NULL)
        return NULL;
    for (size_t i = 0; i < table->column_count; i++) {
        dataset->owned[i] = table->columns[i].data;
        table->columns[i].data = NULL;
    }
    if (keep_classes(dataset, table, err) != MW_OK) {
        mw_dataset_destroy(dataset);
        return NULL;
    }
    return dataset;
}

static mw_dataset *make_dataset(mw__table *table, mw_error *err)
{
    mw_column *columns = mw__alloc(table->allocator, table->column_count, sizeof *columns, err);
    if (columns == NULL)
        return NULL;
    mw_dataset *dataset = take_columns(table, columns, err);
    mw__free(table->allocator, columns);
    return dataset;
}

static mw_dataset *open_table(const char *path, const mw_table_options *options, bool is_csv, mw_error *err)
{
    mw_error own = {0};
    mw_error *reason = err != NULL ? err : &own;
    mw__table table;
    if (path == NULL || options == NULL || options->struct_size != sizeof *options) {
        mw__fail(reason, MW_ERROR_ARGUMENT, "mw_dataset_open_%s: %s", is_csv ? "csv" : "jsonl",
                 path == NULL ? "no path" : "options must come from mw_table_defaults");
        return NULL;
    }
    mw_status status = mw__table_init(&table, path, options, reason);
    if (status == MW_OK)
        status = is_csv ? mw__table_read_csv(&table, options, reason) : mw__table_read_jsonl(&table, reason);
    if (status == MW_OK)
        status = mw__table_finish(&table, reason);
    mw_dataset *dataset = status == MW_OK ? make_dataset(&table, reason) : NULL;
    mw__table_deinit(&table);
    return dataset;
}

mw_dataset *mw_dataset_open_csv(const char *path, const mw_table_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    return mw__skips(err) ? NULL : open_table(path, options, true, err);
}

mw_dataset *mw_dataset_open_jsonl(const char *path, const mw_table_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    return mw__skips(err) ? NULL : open_table(path, options, false, err);
}
