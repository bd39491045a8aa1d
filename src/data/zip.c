/* Columns of several sets side by side: pairs, and two views of one example. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "data/data.h"
#include "runtime/data/classes.h"
#include "runtime/data/data.h"

#include <string.h>

/* Where each column comes from: [column_count], source by source. */
typedef struct zip_origin {
    size_t source, column;
} zip_origin;

/* The columns that were chosen, while a set is made. */
typedef struct zip_columns {
    mw_column *columns;      /* [count] */
    zip_origin *origins;     /* [count] */
    mw__class_list *classes; /* [count] */
    size_t count;
} zip_columns;

/* Each source makes its example in the scratch memory, from which its columns are taken. */
static mw_status make_zipped(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                             mw_error *err)
{
    const zip_origin *origins = dataset->state;
    size_t column = 0;
    for (size_t i = 0; i < dataset->source_count; i++) {
        const mw_dataset *source = dataset->sources[i];
        void *const *places = (void *const *)(void *)scratch;
        char *rest = mw__data_put_places(source, scratch);
        MW_TRY(mw__dataset_make(source, at, places, rest, err));
        for (; column < dataset->column_count && origins[column].source == i; column++)
            memcpy(out[column], places[origins[column].column], dataset->example_bytes[column]);
    }
    return MW_OK;
}

/* ---- what is refused ---- */

static mw_status check_parts(const mw_zip_part *parts, size_t count, mw_error *err)
{
    if (parts == NULL || count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_zip: no parts");
    for (size_t i = 0; i < count; i++) {
        MW_TRY(mw__dataset_check(parts[i].source, "mw_dataset_zip", err));
        if ((parts[i].columns == NULL) != (parts[i].count == 0) || (parts[i].columns == NULL && parts[i].names != NULL))
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "mw_dataset_zip: part %zu lists %zu columns and has %s; without columns all are taken, "
                            "under their names",
                            i, parts[i].count, parts[i].columns != NULL ? "a list" : "no list");
        if (parts[i].source->examples != parts[0].source->examples)
            return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_zip: part %zu has %lld examples, part 0 %lld", i,
                            (long long)parts[i].source->examples, (long long)parts[0].source->examples);
    }
    return MW_OK;
}

/* ---- columns ---- */

static size_t columns_of(const mw_zip_part *part)
{
    return part->columns != NULL ? part->count : part->source->column_count;
}

static mw_status find_column(const mw_zip_part *part, size_t index, size_t number, size_t *out, mw_error *err)
{
    *out = number;
    if (part->columns == NULL)
        return MW_OK;
    for (*out = 0; *out < part->source->column_count; ++*out)
        if (part->columns[number] != NULL && strcmp(part->source->columns[*out].name, part->columns[number]) == 0)
            return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_zip: part %zu has no column \"%.100s\"", index,
                    part->columns[number] != NULL ? part->columns[number] : "");
}

static mw_status take_column(zip_columns *z, const mw_zip_part *part, size_t index, size_t number, mw_error *err)
{
    size_t found;
    MW_TRY(find_column(part, index, number, &found, err));
    mw_column column = part->source->columns[found];
    const mw_classes classes = mw_dataset_classes(part->source, column.name);
    if (part->names != NULL && part->names[number] != NULL)
        column.name = part->names[number];
    for (size_t k = 0; k < z->count; k++)
        if (strcmp(z->columns[k].name, column.name) == 0)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "mw_dataset_zip: two columns are called \"%.100s\", one of them in part %zu: give names",
                            column.name, index);
    z->columns[z->count] = column;
    z->origins[z->count] = (zip_origin){index, found};
    z->classes[z->count++] = (mw__class_list){classes.names, classes.count};
    return MW_OK;
}

static mw_status take_columns(zip_columns *z, const mw_zip_part *parts, size_t count, mw_error *err)
{
    const mw_allocator *allocator = parts[0].source->allocator;
    size_t all = 0;
    for (size_t i = 0; i < count; i++)
        if (!mw__add_size(all, columns_of(&parts[i]), &all))
            return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_zip: more columns than can be counted");
    z->columns = mw__alloc(allocator, all, sizeof *z->columns, err);
    z->origins = mw__alloc(allocator, all, sizeof *z->origins, err);
    z->classes = mw__alloc(allocator, all, sizeof *z->classes, err);
    if (z->columns == NULL || z->origins == NULL || z->classes == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < columns_of(&parts[i]); k++)
            MW_TRY(take_column(z, &parts[i], i, k, err));
    return MW_OK;
}

/* ---- the set ---- */

static mw_status set_scratch(mw_dataset *dataset, mw_error *err)
{
    dataset->scratch_bytes = 0;
    for (size_t i = 0; i < dataset->source_count; i++) {
        size_t bytes;
        if (!mw__data_scratch_bytes(dataset->sources[i], &bytes))
            return mw__fail(err, MW_ERROR_SHAPE, "mw_dataset_zip: an example is larger than memory");
        dataset->scratch_bytes = bytes > dataset->scratch_bytes ? bytes : dataset->scratch_bytes;
    }
    return MW_OK;
}

static mw_dataset *make_set(zip_columns *z, const mw_dataset *const *sources, size_t count, mw_error *err)
{
    mw_dataset *dataset = mw__dataset_derive(sources, count, z->columns, z->count, sources[0]->examples, 0, err);
    if (dataset == NULL)
        return NULL;
    dataset->make = make_zipped;
    if (set_scratch(dataset, err) != MW_OK || mw__dataset_keep_classes(dataset, z->classes, err) != MW_OK) {
        mw_dataset_destroy(dataset);
        return NULL;
    }
    dataset->state = z->origins;
    z->origins = NULL;
    return dataset;
}

mw_dataset *mw_dataset_zip(const mw_zip_part *parts, size_t part_count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    zip_columns z = {.count = 0};
    if (mw__skips(err) || check_parts(parts, part_count, err) != MW_OK)
        return NULL;
    const mw_allocator *allocator = parts[0].source->allocator;
    const mw_dataset **sources = mw__alloc(allocator, part_count, sizeof *sources, err);
    for (size_t i = 0; sources != NULL && i < part_count; i++)
        sources[i] = parts[i].source;
    mw_dataset *dataset = sources != NULL && take_columns(&z, parts, part_count, err) == MW_OK
                              ? make_set(&z, sources, part_count, err)
                              : NULL;
    mw__free(allocator, sources);
    mw__free(allocator, z.columns);
    mw__free(allocator, z.origins);
    mw__free(allocator, z.classes);
    return dataset;
}
