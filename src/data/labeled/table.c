/* Files that a CSV file lists. The table is read as any other, with names and labels as classes. */
#include "base/memory/checked.h"
#include "base/memory/map.h"
#include "data/labeled/list.h"
#include "format/class_names.h"

#include <millwright/dataset_files.h>
#include <string.h>

/* Labels of files that may have several. */
typedef struct labels {
    mw__labeled_list *list;
    mw__map numbers; /* name -> its number + 1 */
    const mw_label_table *table;
    bool given; /* the names were */
} labels;

static mw_dataset *read_table(const mw_allocator *allocator, const mw_label_table *table,
                              const char *const *class_names, size_t class_count, mw_error *err)
{
    const bool one = table->label_separator == '\0';
    const mw_table_column columns[] = {
        {.name = "name", .dtype = MW_I64, .fields = &table->name, .field_count = 1, .classes = true},
        {.name = "label",
         .dtype = MW_I64,
         .fields = &table->label,
         .field_count = 1,
         .classes = true,
         .class_names = one ? class_names : NULL,
         .class_count = one ? class_count : 0},
    };
    mw_table_options options = mw_table_defaults(columns, 2);
    options.separator = table->separator;
    options.allocator = allocator;
    return mw_dataset_open_csv(table->path, &options, err);
}

static const int64_t *numbers_of(const mw_dataset *table, size_t column)
{
    return mw_dataset_column_at(table, column)->data;
}

static mw_status take_files(mw__labeled_list *out, const mw_dataset *table, mw_error *err)
{
    const mw_classes names = mw_dataset_classes(table, "name");
    const int64_t *name = numbers_of(table, 0), *label = numbers_of(table, 1);
    out->file_count = (size_t)mw_dataset_examples(table);
    out->files = mw__alloc(out->arena.allocator, out->file_count, sizeof *out->files, err);
    if (out->files == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < out->file_count; i++) {
        out->files[i] = (mw__labeled_file){mw__arena_keep(&out->arena, names.names[name[i]], err), (size_t)label[i]};
        if (out->files[i].name == NULL)
            return MW_ERROR_MEMORY;
    }
    return MW_OK;
}

static mw_status add_class(mw__labeled_list *out, const char *name, size_t length, mw_error *err)
{
    MW_TRY(mw__grow(out->arena.allocator, &out->classes, &out->class_room, out->class_count + 1, sizeof *out->classes,
                    err));
    out->classes[out->class_count] = mw__arena_string(&out->arena, name, length, err);
    return out->classes[out->class_count++] != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status take_classes(mw__labeled_list *out, const char *const *names, size_t count, mw_error *err)
{
    for (size_t i = 0; i < count; i++)
        MW_TRY(add_class(out, names[i], strlen(names[i]), err));
    return MW_OK;
}

/* ---- several labels ---- */

/* The next label of a list, without blanks; false at its end. */
static bool next_label(const char **at, char separator, const char **out, size_t *out_length)
{
    while (**at == ' ' || **at == separator)
        ++*at;
    if (**at == '\0')
        return false;
    *out = *at;
    while (**at != '\0' && **at != separator)
        ++*at;
    *out_length = (size_t)(*at - *out);
    while (*out_length > 0 && (*out)[*out_length - 1] == ' ')
        --*out_length;
    return true;
}

static mw_status note_label(labels *l, const char *name, size_t length, mw_error *err)
{
    enum { LABELS_MAX = 65536 };
    if (mw__map_get_n(&l->numbers, name, length) != NULL)
        return MW_OK;
    if (l->given)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\": label \"%.*s\" is none of the %zu class_names",
                        l->table->path, (int)(length < 100 ? length : 100), name, l->list->class_count);
    if (l->list->class_count == LABELS_MAX)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has more than %d labels", l->table->path, LABELS_MAX);
    MW_TRY(add_class(l->list, name, length, err));
    return mw__map_set_n(&l->numbers, name, length, l, err);
}

static mw_status number_labels(labels *l, mw_error *err)
{
    for (size_t i = 0; i < l->list->class_count; i++)
        MW_TRY(mw__map_set(&l->numbers, l->list->classes[i], (void *)(uintptr_t)(i + 1), err));
    return MW_OK;
}

/* All labels that occur, sorted, unless they were given. */
static mw_status find_labels(labels *l, mw_classes lists, mw_error *err)
{
    const char *name;
    size_t length;
    MW_TRY(number_labels(l, err));
    for (size_t i = 0; i < lists.count; i++)
        for (const char *at = lists.names[i]; next_label(&at, l->table->label_separator, &name, &length);)
            MW_TRY(note_label(l, name, length, err));
    if (l->list->class_count == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has no label in any row", l->table->path);
    if (!l->given)
        mw__sort_class_names(l->list->classes, l->list->class_count);
    return number_labels(l, err);
}

static void mark_labels(const labels *l, const char *list, float *out)
{
    const char *name;
    size_t length;
    while (next_label(&list, l->table->label_separator, &name, &length))
        out[(uintptr_t)mw__map_get_n(&l->numbers, name, length) - 1] = 1.0f;
}

static mw_status make_targets(labels *l, const mw_dataset *table, mw_error *err)
{
    const mw_classes lists = mw_dataset_classes(table, "label");
    const int64_t *list = numbers_of(table, 1);
    mw__labeled_list *out = l->list;
    size_t count;
    MW_TRY(find_labels(l, lists, err));
    if (!mw__mul_size(out->file_count, out->class_count, &count))
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has too many labels for as many files", l->table->path);
    out->targets = mw__alloc(out->arena.allocator, count, sizeof *out->targets, err);
    if (out->targets == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < out->file_count; i++)
        mark_labels(l, lists.names[list[i]], out->targets + i * out->class_count);
    return MW_OK;
}

static mw_status take_table(mw__labeled_list *out, const mw_dataset *table, const mw_label_table *asked,
                            const char *const *class_names, size_t class_count, mw_error *err)
{
    const mw_classes own = mw_dataset_classes(table, "label");
    const bool given = class_count > 0;
    MW_TRY(take_files(out, table, err));
    if (given)
        MW_TRY(take_classes(out, class_names, class_count, err));
    if (asked->label_separator == '\0')
        return given ? MW_OK : take_classes(out, own.names, own.count, err);
    labels l = {.list = out, .table = asked, .given = given};
    mw__map_init(&l.numbers, out->arena.allocator);
    const mw_status status = make_targets(&l, table, err);
    mw__map_deinit(&l.numbers);
    return status;
}

mw_status mw__labeled_list_table(mw__labeled_list *out, const mw_allocator *allocator, const mw_label_table *table,
                                 const char *const *class_names, size_t class_count, mw_error *err)
{
    mw_error why = {0};
    *out = (mw__labeled_list){0};
    mw__arena_init(&out->arena, allocator);
    mw_dataset *read = read_table(allocator, table, class_names, class_count, &why);
    const mw_status status = read != NULL ? take_table(out, read, table, class_names, class_count, &why) : why.status;
    mw_dataset_destroy(read);
    return status == MW_OK ? MW_OK : mw__fail(err, status, "%s", why.message);
}
