/* Values of tables: text to numbers of the dtype asked for, words to classes. */
#include "data/table/table.h"
#include "base/number/number.h"
#include "base/number/types.h"
#include "base/text/printable.h"
#include "format/class_names.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MAX = 65536 };

/* ---- errors ---- */

mw_status mw__table_fail(const mw__table *table, const mw__table_place *place, mw_error *err, const char *format, ...)
{
    char what[400], field[140] = "";
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (place->field != NULL)
        mw__printable_printf(field, sizeof field, ", field \"%.100s\"", place->field);
    mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\", line %zu%s: %s", table->path, place->line, field, what);
    mw__error_position(err, place->line < INT_MAX ? (int)place->line : INT_MAX,
                       place->column < INT_MAX ? (int)place->column : INT_MAX);
    return MW_ERROR_FORMAT;
}

/* ---- beginning and end ---- */

const char *mw__table_field(const mw_table_column *column, size_t index)
{
    return column->field_count == 0 ? column->name : column->fields[index];
}

size_t mw__table_field_count(const mw_table_column *column)
{
    return column->field_count == 0 ? 1 : column->field_count;
}

static bool is_integer(mw_dtype dtype) { return dtype == MW_I64 || dtype == MW_I32 || dtype == MW_U8; }

static mw_status check_column(const mw_table_column *column, size_t index, mw_error *err)
{
    if (column->name == NULL || (column->fields == NULL && column->field_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: column %zu has no %s", index,
                        column->name == NULL ? "name" : "fields");
    for (size_t i = 0; i < column->field_count; i++)
        if (column->fields[i] == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "table: field %zu of column \"%.100s\" has no name", i,
                            column->name);
    if (!is_integer(column->dtype) && (column->classes || (column->dtype != MW_F32 && column->dtype != MW_F64)))
        return mw__fail(err, MW_ERROR_DTYPE, "table: column \"%.100s\" is %s; %s", column->name,
                        mw_dtype_name(column->dtype),
                        column->classes ? "classes are I64, I32 or U8" : "a column is F64, F32, I64, I32 or U8");
    if (column->classes && column->field_count > 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: column \"%.100s\" has classes of %zu fields, not of one",
                        column->name, column->field_count);
    if (!column->classes && column->class_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "table: column \"%.100s\" has names of classes, but `classes` is not "
                        "set",
                        column->name);
    return MW_OK;
}

static mw_status add_class(mw__table *table, mw__table_data *data, const char *word, size_t length, mw_error *err)
{
    MW_TRY(mw__grow(table->allocator, &data->names, &data->name_room, data->name_count + 1, sizeof *data->names, err));
    const char *name = mw__arena_string(&table->arena, word, length, err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    data->names[data->name_count++] = name;
    return mw__map_set_n(&data->numbers, word, length, (void *)(uintptr_t)data->name_count, err);
}

static mw_status take_class_names(mw__table *table, mw__table_data *data, const mw_table_column *asked, mw_error *err)
{
    if (asked->class_count > CLASSES_MAX || (asked->class_count > 0 && asked->class_names == NULL))
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: column \"%.100s\" has %zu names of classes, not 0 to %d",
                        asked->name, asked->class_names == NULL ? (size_t)0 : asked->class_count, CLASSES_MAX);
    for (size_t i = 0; i < asked->class_count; i++) {
        const char *name = asked->class_names[i];
        if (name == NULL || mw__map_get(&data->numbers, name) != NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "table: class %zu of column \"%.100s\" has %s", i, asked->name,
                            name == NULL ? "no name" : "the name of another");
        MW_TRY(add_class(table, data, name, strlen(name), err));
    }
    return MW_OK;
}

mw_status mw__table_init(mw__table *table, const char *path, const mw_table_options *options, mw_error *err)
{
    *table =
        (mw__table){.allocator = mw__allocator_or_default(options->allocator), .path = path, .asked = options->columns};
    mw__arena_init(&table->arena, table->allocator);
    if (options->columns == NULL || options->column_count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: no columns are asked for");
    table->columns = mw__alloc(table->allocator, options->column_count, sizeof *table->columns, err);
    if (table->columns == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < options->column_count; i++)
        mw__map_init(&table->columns[i].numbers, table->allocator);
    table->column_count = options->column_count;
    for (size_t i = 0; i < table->column_count; i++) {
        MW_TRY(check_column(&options->columns[i], i, err));
        MW_TRY(take_class_names(table, &table->columns[i], &options->columns[i], err));
    }
    return MW_OK;
}

void mw__table_deinit(mw__table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        mw__free(table->allocator, table->columns[i].data);
        mw__free(table->allocator, table->columns[i].names);
        mw__map_deinit(&table->columns[i].numbers);
    }
    mw__free(table->allocator, table->columns);
    mw__arena_deinit(&table->arena);
}

/* ---- values ---- */

static void *grow_column(mw__table *table, size_t column, mw_error *err)
{
    mw__table_data *data = &table->columns[column];
    const size_t size = mw__number_dtype_size(table->asked[column].dtype);
    if (mw__grow(table->allocator, &data->data, &data->room, data->count + 1, size, err) != MW_OK)
        return NULL;
    return (char *)data->data + data->count++ * size;
}

static bool fits_dtype(int64_t value, mw_dtype dtype)
{
    return dtype == MW_I64 || (dtype == MW_I32 && value >= INT32_MIN && value <= INT32_MAX) ||
           (dtype == MW_U8 && value >= 0 && value <= UINT8_MAX);
}

static void store_integer(void *out, int64_t value, mw_dtype dtype)
{
    const int32_t word = (int32_t)value;
    const uint8_t byte = (uint8_t)value;
    if (dtype == MW_I64)
        memcpy(out, &value, sizeof value);
    else if (dtype == MW_I32)
        memcpy(out, &word, sizeof word);
    else
        memcpy(out, &byte, sizeof byte);
}

/* 3 or 3.0 */
static bool read_integer(const char *text, size_t length, int64_t *out)
{
    double value;
    if (mw__number_read_i64(text, length, out))
        return true;
    if (!mw__number_read(text, length, MW__NUMBER_F64, &value) || !(fabs(value) <= 0x1p53) || value != floor(value))
        return false;
    *out = (int64_t)value;
    return true;
}

static mw_status put_integer(mw__table *table, size_t column, const char *text, size_t length,
                             const mw__table_place *place, mw_error *err)
{
    const mw_dtype dtype = table->asked[column].dtype;
    int64_t value;
    if (!read_integer(text, length, &value))
        return mw__table_fail(table, place, err, "\"%.*s\" is no integer of 64 bits", (int)(length < 60 ? length : 60),
                              text);
    if (!fits_dtype(value, dtype))
        return mw__table_fail(table, place, err, "%lld does not fit into %s", (long long)value, mw_dtype_name(dtype));
    void *out = grow_column(table, column, err);
    if (out == NULL)
        return MW_ERROR_MEMORY;
    store_integer(out, value, dtype);
    return MW_OK;
}

static mw_status put_number(mw__table *table, size_t column, const char *text, size_t length,
                            const mw__table_place *place, mw_error *err)
{
    const bool wide = table->asked[column].dtype == MW_F64;
    double value;
    if (!mw__number_read(text, length, wide ? MW__NUMBER_F64 : MW__NUMBER_F32, &value) || !isfinite(value))
        return mw__table_fail(table, place, err, "\"%.*s\" is no finite number of %s", (int)(length < 60 ? length : 60),
                              text, wide ? "F64" : "F32");
    void *out = grow_column(table, column, err);
    const float narrow = (float)value;
    if (out == NULL)
        return MW_ERROR_MEMORY;
    memcpy(out, wide ? (const void *)&value : &narrow, wide ? sizeof value : sizeof narrow);
    return MW_OK;
}

static mw_status put_class(mw__table *table, size_t column, const char *word, size_t length,
                           const mw__table_place *place, mw_error *err)
{
    mw__table_data *data = &table->columns[column];
    const mw_dtype dtype = table->asked[column].dtype;
    uintptr_t number = (uintptr_t)mw__map_get_n(&data->numbers, word, length);
    if (number == 0 && table->asked[column].class_count > 0)
        return mw__table_fail(table, place, err, "\"%.*s\" is none of the %zu classes",
                              (int)(length < 60 ? length : 60), word, data->name_count);
    if (number == 0) {
        if (data->name_count == CLASSES_MAX || !fits_dtype((int64_t)data->name_count, dtype))
            return mw__table_fail(table, place, err, "\"%.*s\" is class %zu, counted from 0: too many for %s",
                                  (int)(length < 60 ? length : 60), word, data->name_count, mw_dtype_name(dtype));
        MW_TRY(add_class(table, data, word, length, err));
        number = data->name_count;
    }
    void *out = grow_column(table, column, err);
    if (out == NULL)
        return MW_ERROR_MEMORY;
    store_integer(out, (int64_t)number - 1, dtype);
    return MW_OK;
}

mw_status mw__table_put(mw__table *table, size_t column, const char *text, size_t length, const mw__table_place *place,
                        mw_error *err)
{
    if (memchr(text, '\0', length) != NULL)
        return mw__table_fail(table, place, err, "it has a NUL");
    if (table->asked[column].classes && length > 0)
        return put_class(table, column, text, length, place, err);
    while (length > 0 && (text[0] == ' ' || text[0] == '\t'))
        text++, length--;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    if (length == 0)
        return mw__table_fail(table, place, err, "it is empty");
    if (is_integer(table->asked[column].dtype))
        return put_integer(table, column, text, length, place, err);
    return put_number(table, column, text, length, place, err);
}

mw_status mw__table_end_row(mw__table *table, const mw__table_place *place, mw_error *err)
{
    table->rows++;
    for (size_t i = 0; i < table->column_count; i++) {
        mw__table_data *data = &table->columns[i];
        const size_t here = data->count - (table->rows - 1) * data->width;
        if (data->width == 0)
            data->width = data->count;
        if (data->width == 0 || data->count != table->rows * data->width)
            return mw__table_fail(table, place, err, "column \"%.100s\" has %zu values here, and %zu in the first row",
                                  table->asked[i].name, here, data->width);
    }
    return MW_OK;
}

/* ---- classes in the order of their names ---- */

static int64_t load_integer(const void *in, mw_dtype dtype)
{
    int64_t wide;
    int32_t word;
    if (dtype == MW_U8)
        return *(const uint8_t *)in;
    if (dtype == MW_I32) {
        memcpy(&word, in, sizeof word);
        return word;
    }
    memcpy(&wide, in, sizeof wide);
    return wide;
}

/* They were numbered as they came. */
static mw_status sort_classes(mw__table *table, size_t column, mw_error *err)
{
    mw__table_data *data = &table->columns[column];
    const mw_dtype dtype = table->asked[column].dtype;
    int64_t *number = mw__arena_alloc(&table->arena, data->name_count, sizeof *number, err); /* [name_count] new */
    if (number == NULL)
        return MW_ERROR_MEMORY;
    mw__sort_class_names(data->names, data->name_count);
    for (size_t i = 0; i < data->name_count; i++)
        number[(uintptr_t)mw__map_get(&data->numbers, data->names[i]) - 1] = (int64_t)i;
    for (size_t i = 0; i < data->count; i++) {
        char *at = (char *)data->data + i * mw__number_dtype_size(dtype);
        store_integer(at, number[load_integer(at, dtype)], dtype);
    }
    return MW_OK;
}

mw_status mw__table_finish(mw__table *table, mw_error *err)
{
    if (table->rows == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has no rows", table->path);
    for (size_t i = 0; i < table->column_count; i++)
        if (table->asked[i].classes && table->asked[i].class_count == 0)
            MW_TRY(sort_classes(table, i, err));
    return MW_OK;
}
