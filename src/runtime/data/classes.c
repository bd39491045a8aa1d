/* The names of classes that a data set has, and whether two data sets, or a trainer and a data set, mean the same by
 * their numbers. */
#include "runtime/data/classes.h"
#include "base/number/hash.h"
#include "base/text/text.h"

#include <string.h>

enum { LIST_BYTES = 120 };

/* ---- of one data set ---- */

void mw__class_table_destroy(struct mw__class_table *table, const mw_allocator *allocator)
{
    if (table == NULL)
        return;
    mw__arena_deinit(&table->arena);
    mw__free(allocator, table);
}

const mw__class_list *mw__dataset_find_classes(const mw_dataset *dataset, const char *column)
{
    if (column == NULL || !mw__live_has(dataset, MW__LIVE_DATASET))
        return NULL;
    for (; dataset != NULL; dataset = dataset->source_count > 0 ? dataset->sources[0] : NULL) {
        for (size_t i = 0; dataset->classes != NULL && i < dataset->column_count; i++)
            if (strcmp(dataset->columns[i].name, column) == 0)
                return &dataset->classes->lists[i];
    }
    return NULL;
}

mw_classes mw__class_list_classes(const mw__class_list *list)
{
    return list != NULL && list->count > 0 ? (mw_classes){.count = list->count, .names = list->names} : (mw_classes){0};
}

mw_classes mw_dataset_classes(const mw_dataset *dataset, const char *column)
{
    return mw__class_list_classes(mw__dataset_find_classes(dataset, column));
}

mw_status mw__dataset_keep_classes(mw_dataset *dataset, const mw__class_list *lists, mw_error *err)
{
    struct mw__class_table *classes = mw__alloc(dataset->allocator, 1, sizeof *classes, err);
    if (classes == NULL)
        return MW_ERROR_MEMORY;
    dataset->classes = classes;
    mw__arena_init(&classes->arena, dataset->allocator);
    classes->lists = mw__arena_alloc(&classes->arena, dataset->column_count, sizeof *classes->lists, err);
    if (classes->lists == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < dataset->column_count; i++) {
        const char **names = mw__arena_alloc(&classes->arena, lists[i].count, sizeof *names, err);
        if (names == NULL)
            return MW_ERROR_MEMORY;
        for (size_t k = 0; k < lists[i].count; k++)
            if ((names[k] = mw__arena_string(&classes->arena, lists[i].names[k], strlen(lists[i].names[k]), err)) ==
                NULL)
                return MW_ERROR_MEMORY;
        classes->lists[i] = (mw__class_list){names, lists[i].count};
    }
    return MW_OK;
}

/* ---- messages ---- */

static void put_list(mw__text *out, const mw__class_list *list)
{
    const size_t before = out->size;
    for (size_t i = 0; i < list->count; i++) {
        if (out->size - before > LIST_BYTES) {
            mw__text_printf(out, " .. (%zu)", list->count);
            return;
        }
        mw__text_puts(out, i > 0 ? ", " : "");
        mw__text_puts(out, list->names[i]);
    }
}

/* Two lists of one column, and whose the first is. */
typedef struct pair {
    const mw__class_list *first, *second;
    const char *whose, *cure;
    const mw_allocator *allocator;
} pair;

static mw_status fail_apart(const pair *p, const char *column, const char *who, mw_error *err)
{
    mw__text ours, theirs;
    mw__text_init(&ours, p->allocator);
    mw__text_init(&theirs, p->allocator);
    put_list(&ours, p->first);
    put_list(&theirs, p->second);
    mw__fail(err, MW_ERROR_ARGUMENT,
             "%s: the classes of column \"%s\" are %s, and those %s are %s: the same number would be another class. "
             "Open it with %s",
             who, column, theirs.failed ? "other ones" : theirs.data, p->whose, ours.failed ? "others" : ours.data,
             p->cure);
    mw__text_deinit(&ours);
    mw__text_deinit(&theirs);
    return MW_ERROR_ARGUMENT;
}

/* The second list may be shorter; where both have names they are the same. */
static bool is_prefix(const mw__class_list *first, const mw__class_list *second)
{
    if (second->count > first->count)
        return false;
    for (size_t i = 0; i < second->count; i++)
        if (strcmp(first->names[i], second->names[i]) != 0)
            return false;
    return true;
}

/* ---- two data sets ---- */

/* An empty list if the column has none. */
static mw__class_list list_of(const mw_dataset *dataset, const char *column)
{
    const mw__class_list *found = mw__dataset_find_classes(dataset, column);
    return found != NULL ? *found : (mw__class_list){0};
}

mw_status mw__dataset_check_classes(const mw_dataset *first, const mw_dataset *second, const char *who, mw_error *err)
{
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(second, i)) != NULL; i++) {
        const mw__class_list ours = list_of(first, column->name), theirs = list_of(second, column->name);
        const pair p = {&ours, &theirs, "of the first set", "the class_names of the first", first->allocator};
        if (ours.count > 0 && theirs.count > 0 && !is_prefix(&ours, &theirs))
            return fail_apart(&p, column->name, who, err);
    }
    return MW_OK;
}

/* ---- several that become one ---- */

/* The list of the first source that has one; those of the others have the same numbers. */
static mw_status join_lists(const mw_dataset *const *sources, size_t count, const char *column, mw__class_list *out,
                            bool *is_later, const char *who, mw_error *err)
{
    *out = list_of(sources[0], column);
    for (size_t i = 1; i < count; i++) {
        const mw__class_list theirs = list_of(sources[i], column);
        const pair p = {out, &theirs, "of the first set", "the class_names of the first", sources[0]->allocator};
        if (theirs.count == 0)
            continue;
        if (out->count > 0 && !is_prefix(out, &theirs))
            return fail_apart(&p, column, who, err);
        *is_later = *is_later || out->count == 0;
        *out = out->count == 0 ? theirs : *out;
    }
    return MW_OK;
}

mw_status mw__dataset_join_classes(mw_dataset *dataset, const char *who, mw_error *err)
{
    bool is_later = false; /* else what is found at the first source is right */
    mw_status status = MW_OK;
    mw__class_list *lists = mw__alloc(dataset->allocator, dataset->column_count, sizeof *lists, err);
    if (lists == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; status == MW_OK && i < dataset->column_count; i++)
        status = join_lists((const mw_dataset *const *)dataset->sources, dataset->source_count,
                            dataset->columns[i].name, &lists[i], &is_later, who, err);
    if (status == MW_OK && is_later)
        status = mw__dataset_keep_classes(dataset, lists, err);
    mw__free(dataset->allocator, lists);
    return status;
}

uint64_t mw__dataset_hash_classes(const mw_dataset *dataset)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < dataset->column_count; i++) {
        const mw__class_list list = list_of(dataset, dataset->columns[i].name);
        if (list.count > 0)
            hash = mw__hash64(dataset->columns[i].name, strlen(dataset->columns[i].name) + 1, hash + list.count);
        for (size_t k = 0; k < list.count; k++)
            hash = mw__hash64(list.names[k], strlen(list.names[k]) + 1, hash);
    }
    return hash;
}

/* ---- what was learned ---- */

struct mw__learned_classes {
    mw__arena arena;
    const char **columns;
    mw__class_list *lists;
    size_t count;
};

static mw_status copy_list(mw__arena *arena, const mw__class_list *from, mw__class_list *to, mw_error *err)
{
    const char **names = mw__arena_alloc(arena, from->count, sizeof *names, err);
    for (size_t i = 0; names != NULL && i < from->count; i++)
        if ((names[i] = mw__arena_string(arena, from->names[i], strlen(from->names[i]), err)) == NULL)
            return MW_ERROR_MEMORY;
    *to = (mw__class_list){names, from->count};
    return names != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status copy_lists(mw__learned_classes *learned, const mw_dataset *dataset, mw_error *err)
{
    mw__arena *arena = &learned->arena;
    learned->columns = mw__arena_alloc(arena, dataset->column_count, sizeof *learned->columns, err);
    learned->lists = mw__arena_alloc(arena, dataset->column_count, sizeof *learned->lists, err);
    if (learned->columns == NULL || learned->lists == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < dataset->column_count; i++) {
        const char *name = dataset->columns[i].name;
        const mw__class_list list = list_of(dataset, name);
        if (list.count == 0)
            continue;
        learned->columns[learned->count] = mw__arena_string(arena, name, strlen(name), err);
        MW_TRY(copy_list(arena, &list, &learned->lists[learned->count], err));
        if (learned->columns[learned->count++] == NULL)
            return MW_ERROR_MEMORY;
    }
    return MW_OK;
}

mw__learned_classes *mw__learned_classes_of(const mw_allocator *allocator, const mw_dataset *dataset, mw_error *err)
{
    mw__learned_classes *made = mw__alloc(allocator, 1, sizeof *made, err);
    if (made == NULL)
        return NULL;
    *made = (mw__learned_classes){0};
    mw__arena_init(&made->arena, allocator);
    if (copy_lists(made, dataset, err) == MW_OK)
        return made;
    mw__learned_classes_destroy(made, allocator);
    return NULL;
}

void mw__learned_classes_destroy(mw__learned_classes *learned, const mw_allocator *allocator)
{
    if (learned == NULL)
        return;
    mw__arena_deinit(&learned->arena);
    mw__free(allocator, learned);
}

const mw__class_list *mw__learned_classes_find(const mw__learned_classes *learned, const char *column)
{
    for (size_t i = 0; learned != NULL && column != NULL && i < learned->count; i++)
        if (strcmp(learned->columns[i], column) == 0)
            return &learned->lists[i];
    return NULL;
}

mw_status mw__learned_classes_check(const mw__learned_classes *learned, const mw_dataset *dataset, const char *who,
                                    mw_error *err)
{
    for (size_t i = 0; i < dataset->column_count; i++) {
        const char *column = dataset->columns[i].name;
        const mw__class_list *ours = mw__learned_classes_find(learned, column), theirs = list_of(dataset, column);
        const pair p = {ours, &theirs, "that the trainer learned", "these as class_names", dataset->allocator};
        if (ours != NULL && theirs.count > 0 && !is_prefix(ours, &theirs))
            return fail_apart(&p, column, who, err);
    }
    return MW_OK;
}
