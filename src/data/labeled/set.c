/* Opening and serving; what a file holds is the business of its kind. */
#include "data/labeled/set.h"

#include "base/memory/checked.h"
#include "base/thread/share.h"
#include "data/data.h"
#include "runtime/data/classes.h"

#include <stdalign.h>
#include <string.h>

/* The state of a set of which files are read again, in one block with its options and strings. */
typedef struct stored_set {
    const mw__labeled_kind *kind;
    const void *options;
    uint64_t key; /* of the seeds of the examples */
    size_t kept;
    const char *folder;  /* or NULL */
    const char *names[]; /* [files] below the folder, or paths */
} stored_set;

/* ---- what is refused ---- */

static mw_status check_table(const mw__labeled_request *r, mw_error *err)
{
    const mw_label_table *t = r->table;
    if (t->name == NULL || t->label == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: a table wants the names of its fields: name and label", r->call);
    if (t->path == NULL && t->label_separator != '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "%s: label_separator is of a table, and there is none: a folder says one class", r->call);
    if (t->label_separator != '\0' &&
        (strchr(" ;|,", t->label_separator) == NULL || t->label_separator == t->separator))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "%s: label_separator 0x%02x; it is one of ' ', ';', '|', ',' and not the separator of the "
                        "fields",
                        r->call, (unsigned char)t->label_separator);
    return MW_OK;
}

static mw_status check_broken(const mw__labeled_request *r, mw_error *err)
{
    if (r->broken > MW_BROKEN_LATE)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: broken %d is none of mw_broken", r->call, (int)r->broken);
    if (r->broken == MW_BROKEN_LATE && r->on_broken != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "%s: on_broken is told when a set is opened, and MW_BROKEN_LATE does not look then", r->call);
    return MW_OK;
}

static mw_status check_paths(const mw__labeled_request *r, mw_error *err)
{
    if (r->folder != NULL)
        return MW_OK;
    if (r->paths == NULL || r->path_count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: there is no path", r->call);
    for (size_t i = 0; i < r->path_count; i++)
        if (r->paths[i] == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "%s: path %zu of %zu is NULL", r->call, i, r->path_count);
    if (r->table->path != NULL || r->class_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "%s: files that are named have no labels; leave `table` and `class_names` out", r->call);
    return MW_OK;
}

mw_status mw__labeled_check(const mw__labeled_request *r, mw_error *err)
{
    if (r->class_count > 0 && r->class_names == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: class_names is NULL, class_count %zu", r->call, r->class_count);
    if (r->bytes_max < 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: at most %lld bytes; not negative", r->call,
                        (long long)r->bytes_max);
    if (r->threads < 0 || r->threads > 64)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: %d threads, not 0 to 64 (0 = one for each processor)", r->call,
                        r->threads);
    MW_TRY(check_table(r, err));
    MW_TRY(check_paths(r, err));
    return check_broken(r, err);
}

/* ---- classes ---- */

/* The classes that are there get the numbers that they have in the list that was given. */
static mw_status take_class_names(mw__labeled_set *set, mw_error *err)
{
    mw__labeled_list *list = &set->list;
    const mw__labeled_request *r = &set->request;
    size_t *numbers = mw__arena_alloc(&list->arena, list->class_count, sizeof *numbers, err); /* [class_count] */
    if (numbers == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < list->class_count; i++) {
        numbers[i] = 0;
        while (numbers[i] < r->class_count && strcmp(r->class_names[numbers[i]], list->classes[i]) != 0)
            numbers[i]++;
        if (numbers[i] == r->class_count)
            return mw__fail(err, MW_ERROR_FORMAT,
                            "\"%.300s/%.100s\" is a class that is none of the %zu class_names; the first is \"%.100s\"",
                            r->folder, list->classes[i], r->class_count, r->class_names[0]);
    }
    for (size_t i = 0; i < list->file_count; i++)
        list->files[i].label = numbers[list->files[i].label];
    return MW_OK;
}

static mw_status list_paths(mw__labeled_list *list, const mw__labeled_request *r, mw_error *err)
{
    mw__arena_init(&list->arena, r->allocator);
    list->files = mw__alloc(r->allocator, r->path_count, sizeof *list->files, err);
    if (list->files == NULL)
        return MW_ERROR_MEMORY;
    for (; list->file_count < r->path_count; list->file_count++)
        list->files[list->file_count] = (mw__labeled_file){.name = r->paths[list->file_count]};
    return MW_OK;
}

mw_status mw__labeled_set_init(mw__labeled_set *set, const mw__labeled_request *request, mw_error *err)
{
    const mw__labeled_request *r = request;
    *set = (mw__labeled_set){.request = *request};
    if (r->paths != NULL)
        return list_paths(&set->list, r, err);
    if (r->table->path != NULL)
        return mw__labeled_list_table(&set->list, r->allocator, r->table, r->class_names, r->class_count, err);
    MW_TRY(mw__labeled_list_folder(&set->list, r->allocator, r->kind, r->folder, err));
    return r->class_count > 0 ? take_class_names(set, err) : MW_OK;
}

void mw__labeled_set_deinit(mw__labeled_set *set)
{
    mw__labeled_list_deinit(&set->list);
    mw__free(set->request.allocator, set->examples);
    mw__free(set->request.allocator, set->labels);
    mw__free(set->request.allocator, set->statuses);
}

/* ---- reading ---- */

bool mw__labeled_is_broken(mw_status status) { return status == MW_ERROR_FORMAT || status == MW_ERROR_FILE; }

/* What is drawn is another one in each epoch. */
static size_t count_kept(const mw__labeled_set *set)
{
    const size_t room = (size_t)set->request.bytes_max / set->bytes, files = set->list.file_count;
    if (set->request.is_drawn || set->request.broken == MW_BROKEN_LATE)
        return 0;
    return room < files ? room : files;
}

/* To where it stays, or to see whether it can be. */
static mw_status read_file(const mw__labeled_set *set, size_t index, mw_error *err)
{
    const mw__labeled_request *r = &set->request;
    const char *name = set->list.files[index].name;
    if (index < set->kept)
        return r->kind->load(set->options, r->folder, name, 0, set->examples + index * set->bytes, err);
    void *passing = mw__alloc(r->allocator, set->bytes, 1, err);
    if (passing == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = r->kind->load(set->options, r->folder, name, 0, passing, err);
    mw__free(r->allocator, passing);
    return status;
}

static void read_part(void *user, size_t part)
{
    const mw__labeled_set *set = user;
    set->statuses[part] = read_file(set, part, NULL);
}

static mw_status allocate_set(mw__labeled_set *set, mw_error *err)
{
    const mw_allocator *allocator = set->request.allocator;
    const size_t files = set->list.file_count;
    set->kept = count_kept(set);
    set->examples = mw__alloc(allocator, set->kept, set->bytes, err);
    set->labels = mw__alloc(allocator, files, sizeof *set->labels, err);
    set->statuses = mw__alloc(allocator, files, sizeof *set->statuses, err);
    return set->examples != NULL && set->labels != NULL && set->statuses != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static void tell_broken(const mw__labeled_set *set, size_t index, const mw_error *why)
{
    const mw__labeled_request *r = &set->request;
    if (r->on_broken == NULL)
        return;
    const mw__callback outer = mw__callback_begin("function that is told of broken files", MW__LENT_NEVER);
    r->on_broken(r->user, set->list.files[index].name, why->message);
    mw__callback_end(outer);
}

/* Tells of all that are broken; the first is the error of a set that refuses them. */
static mw_status judge(mw__labeled_set *set, size_t *out_broken, mw_error *err)
{
    mw_error first = {0};
    *out_broken = 0;
    for (size_t i = 0; i < set->list.file_count; i++) {
        mw_error why = {0};
        if (set->statuses[i] == MW_OK)
            continue;
        set->statuses[i] = read_file(set, i, &why); /* again, to hear why */
        if (set->statuses[i] == MW_OK)
            continue;
        if (!mw__labeled_is_broken(set->statuses[i]))
            return mw__fail(err, why.status, "%s", why.message);
        tell_broken(set, i, &why);
        if ((*out_broken)++ == 0)
            first = why;
    }
    if (*out_broken == 0 || set->request.broken == MW_BROKEN_SKIP)
        return MW_OK;
    if (*out_broken == 1)
        return mw__fail(err, first.status, "%s", first.message);
    return mw__fail(err, first.status, "%.400s; %zu more of %zu are broken", first.message, *out_broken - 1,
                    set->list.file_count);
}

/* What follows a broken file takes its place. */
static mw_status leave_out(mw__labeled_set *set, mw_error *err)
{
    mw__labeled_list *list = &set->list;
    const size_t labels = list->class_count;
    size_t good = 0, kept = 0;
    for (size_t i = 0; i < list->file_count; i++) {
        if (set->statuses[i] != MW_OK)
            continue;
        list->files[good] = list->files[i];
        if (list->targets != NULL)
            memmove(list->targets + good * labels, list->targets + i * labels, labels * sizeof *list->targets);
        if (i < set->kept)
            memmove(set->examples + kept++ * set->bytes, set->examples + i * set->bytes, set->bytes);
        good++;
    }
    set->kept = kept;
    if (good == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\": none of its %zu %s can be read",
                        set->request.folder != NULL ? set->request.folder : list->files[0].name, list->file_count,
                        set->request.kind->noun);
    list->file_count = good;
    return MW_OK;
}

static mw_status read_all(mw__labeled_set *set, mw_error *err)
{
    size_t broken = 0;
    MW_TRY(allocate_set(set, err));
    if (set->request.broken != MW_BROKEN_LATE) {
        mw__share(set->request.threads, set->list.file_count, read_part, set);
        MW_TRY(judge(set, &broken, err));
    }
    if (broken > 0)
        MW_TRY(leave_out(set, err));
    for (size_t i = 0; i < set->list.file_count; i++)
        set->labels[i] = (int64_t)set->list.files[i].label;
    return MW_OK;
}

/* ---- serving ---- */

static mw_status make_example(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                              mw_error *err)
{
    const stored_set *s = dataset->state;
    const size_t bytes = dataset->example_bytes[0], index = (size_t)at.example;
    (void)scratch;
    if (dataset->column_count > 1)
        memcpy(out[1], (const char *)dataset->owned[1] + index * dataset->example_bytes[1], dataset->example_bytes[1]);
    if (index < s->kept) {
        memcpy(out[0], (const char *)dataset->owned[0] + index * bytes, bytes);
        return MW_OK;
    }
    const uint64_t seed = mw__data_seed(s->key, (uint64_t)at.example, (uint64_t)at.epoch);
    return s->kind->load(s->options, s->folder, s->names[index], seed, out[0], err);
}

static char *put_string(char **at, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

static stored_set *store_names(const mw__labeled_set *set, mw_error *err)
{
    enum { ALIGNMENT = alignof(max_align_t) };
    const size_t files = set->list.file_count, fixed = sizeof(stored_set) + files * sizeof(char *);
    const size_t options = (fixed + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t size = options + set->options_size + (set->request.folder != NULL ? strlen(set->request.folder) + 1 : 0);
    for (size_t i = 0; i < files; i++)
        size += strlen(set->list.files[i].name) + 1;
    stored_set *s = mw__alloc(set->request.allocator, size, 1, err);
    if (s == NULL)
        return NULL;
    char *at = (char *)s + options + set->options_size;
    s->options = memcpy((char *)s + options, set->options, set->options_size);
    s->kind = set->request.kind;
    s->key = mw__data_seed(set->request.seed, UINT64_MAX, UINT64_MAX);
    s->kept = set->kept;
    s->folder = set->request.folder != NULL ? put_string(&at, set->request.folder) : NULL;
    for (size_t i = 0; i < files; i++)
        s->names[i] = put_string(&at, set->list.files[i].name);
    return s;
}

/* ---- the data set ---- */

static mw_status keep_classes(const mw__labeled_set *set, mw_dataset *dataset, mw_error *err)
{
    const mw__labeled_request *r = &set->request;
    const bool given = r->class_count > 0;
    const mw__class_list lists[2] = {
        {0}, {given ? r->class_names : set->list.classes, given ? r->class_count : set->list.class_count}};
    return mw__dataset_keep_classes(dataset, lists, err);
}

static void give_labels(mw__labeled_set *set, mw_dataset *dataset)
{
    dataset->owned[1] = set->list.targets != NULL ? (void *)set->list.targets : set->labels;
    if (set->list.targets != NULL)
        set->list.targets = NULL;
    else
        set->labels = NULL;
}

/* The data set has the memory of what is kept, and makes the rest. */
static mw_status fill_dataset(mw__labeled_set *set, mw_dataset *dataset, mw_error *err)
{
    dataset->owned[0] = set->examples;
    set->examples = NULL;
    if (dataset->column_count > 1)
        give_labels(set, dataset);
    if (set->kept == set->list.file_count) {
        for (size_t i = 0; i < dataset->column_count; i++)
            dataset->columns[i].data = dataset->owned[i];
    } else {
        dataset->state = store_names(set, err);
        dataset->make = make_example;
        if (dataset->state == NULL)
            return MW_ERROR_MEMORY;
    }
    return set->request.paths == NULL ? keep_classes(set, dataset, err) : MW_OK;
}

mw_dataset *mw__labeled_set_open(mw__labeled_set *set, const mw_column *x, const void *options, size_t options_size,
                                 mw_error *err)
{
    const bool several = set->list.targets != NULL;
    set->options = options;
    set->options_size = options_size;
    set->bytes = (size_t)mw_shape_count(x->shape) * (size_t)mw_dtype_bits(x->dtype) / 8;
    if (read_all(set, err) != MW_OK)
        return NULL;
    const mw_column columns[] = {*x,
                                 {.name = "y",
                                  .dtype = several ? MW_F32 : MW_I64,
                                  .shape = several ? MW_SHAPE((int64_t)set->list.class_count) : (mw_shape){0}}};
    const size_t count = set->request.paths == NULL ? 2 : 1;
    mw_dataset *dataset =
        mw__dataset_create(set->request.allocator, columns, count, (int64_t)set->list.file_count, err);
    if (dataset != NULL && fill_dataset(set, dataset, err) != MW_OK) {
        mw_dataset_destroy(dataset);
        return NULL;
    }
    return dataset;
}
