/* Whether two data sets mean the same by the numbers of their classes. */
#include "base/text.h"
#include "runtime/data/files.h"

#include <string.h>

enum { LIST_BYTES = 120 };

static void put_list(mw__text *out, const mw_dataset *dataset, const char *column)
{
    const size_t count = mw_dataset_class_count(dataset, column), before = out->size;
    for (size_t i = 0; i < count; i++) {
        if (out->size - before > LIST_BYTES) {
            mw__text_printf(out, " .. (%zu)", count);
            return;
        }
        mw__text_puts(out, i > 0 ? ", " : "");
        mw__text_puts(out, mw_dataset_class_name(dataset, column, i));
    }
}

static mw_status fail_apart(const mw_dataset *first, const mw_dataset *second, const char *column, const char *who,
                            mw_error *err)
{
    mw__text ours, theirs;
    mw__text_init(&ours, first->allocator);
    mw__text_init(&theirs, first->allocator);
    put_list(&ours, first, column);
    put_list(&theirs, second, column);
    mw__fail(err, MW_ERROR_ARGUMENT,
             "%s: the classes of column \"%s\" are %s, and those of the first set are %s: the same number would be "
             "another class. Open it with the class_names of the first",
             who, column, theirs.failed ? "other ones" : theirs.data, ours.failed ? "others" : ours.data);
    mw__text_deinit(&ours);
    mw__text_deinit(&theirs);
    return MW_ERROR_ARGUMENT;
}

/* The second list may be shorter; where both have names they are the same. */
static bool is_prefix(const mw_dataset *first, const mw_dataset *second, const char *column)
{
    const size_t count = mw_dataset_class_count(second, column);
    if (count > mw_dataset_class_count(first, column))
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(mw_dataset_class_name(first, column, i), mw_dataset_class_name(second, column, i)) != 0)
            return false;
    return true;
}

mw_status mw__dataset_check_classes(const mw_dataset *first, const mw_dataset *second, const char *who, mw_error *err)
{
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(second, i)) != NULL; i++) {
        const bool both =
            mw_dataset_class_count(first, column->name) > 0 && mw_dataset_class_count(second, column->name) > 0;
        if (both && !is_prefix(first, second, column->name))
            return fail_apart(first, second, column->name, who, err);
    }
    return MW_OK;
}
