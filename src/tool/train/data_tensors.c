/* Tensors as data: one for each input of a model, by name, and the labels; of one file, or of a file each. */
#include "tool/train/data_opening.h"

#include "tool/fields.h"

#include "base/number/fp16.h"
#include "base/text/printable.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The columns that are opened, and what there is. */
typedef struct tensor_list {
    opening *o;
    mw_tensors *file; /* that has all of them, or NULL: each has a file of its own */
    mw_tensor_column columns[DATA_COLUMNS_MAX];
    size_t count;
    char label[MW_NAME_MAX + 1];
} tensor_list;

size_t data_name_length(const char *text)
{
    const char *equals = strchr(text, '=');
    struct stat entry;
    const bool names = equals != NULL && equals > text && equals[1] != '\0' && stat(text, &entry) != 0;
    return names ? (size_t)(equals - text) : 0;
}

/* ---- what there is ---- */

/* FILE of NAME=FILE; NULL if the name is not given. */
static const char *find_file(const data_request *r, const char *name)
{
    for (size_t i = 0; i < r->file_count; i++)
        if (data_name_length(r->files[i]) == strlen(name) && strncmp(r->files[i], name, strlen(name)) == 0)
            return r->files[i] + strlen(name) + 1;
    return NULL;
}

static bool is_given(const tensor_list *l, const char *name)
{
    return l->file != NULL ? mw_tensors_find(l->file, name) != NULL : find_file(l->o->request, name) != NULL;
}

static size_t given_count(const tensor_list *l)
{
    return l->file != NULL ? mw_tensors_get_info(l->file).count : l->o->request->file_count;
}

/* Name `index` of what is given, in `out`. */
static const char *given_name(const tensor_list *l, size_t index, char *out, size_t size)
{
    if (l->file != NULL)
        snprintf(out, size, "%s", mw_tensors_at(l->file, index)->name);
    else
        snprintf(out, size, "%.*s", (int)data_name_length(l->o->request->files[index]), l->o->request->files[index]);
    return out;
}

/* "ids", "mask", .. */
static const char *list_given(const tensor_list *l, char *out, size_t size)
{
    char name[MW_NAME_MAX + 1];
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < given_count(l) && used + 70 < size; i++)
        used += mw__printable_printf(out + used, size - used, "%s\"%.60s\"", used > 0 ? ", " : "",
                                     given_name(l, i, name, sizeof name));
    return out;
}

static bool is_input(const tensor_list *l, const char *name)
{
    const mw_tensor *input;
    for (size_t i = 0; l->o->request->source != NULL && (input = mw_graph_input_at(l->o->request->source, i)) != NULL;
         i++)
        if (strcmp(mw_tensor_name(input), name) == 0)
            return true;
    return false;
}

/* ---- columns ---- */

static bool refuse_missing(const tensor_list *l, const char *what, const char *name)
{
    char list[300];
    return data_fail(l->o->err, "\"%.150s\" has no %s \"%.80s\"; it has %s", l->o->request->path, what, name,
                     list_given(l, list, sizeof list));
}

/* A column `name` of the tensor that is called so. Numbers of fp64 are rounded but those of "x", whose means are found
 * before. */
static bool add_column(tensor_list *l, const char *name, const char *tensor)
{
    const char *path = l->file == NULL ? find_file(l->o->request, tensor) : NULL;
    const mw_tensor_info *info = l->file != NULL ? mw_tensors_find(l->file, tensor) : NULL;
    const bool wide = info != NULL && info->dtype == MW_F64 && strcmp(name, "x") != 0 && strcmp(name, "y") != 0;
    if (l->count == DATA_COLUMNS_MAX)
        return data_fail(l->o->err, "\"%.200s\": at most %d tensors are taken", l->o->request->path, DATA_COLUMNS_MAX);
    l->columns[l->count++] = (mw_tensor_column){
        .name = name, .tensor = path == NULL ? tensor : NULL, .path = path, .dtype = wide ? MW_F32 : MW_DTYPE_NONE};
    return true;
}

/* The first input is the column "x": that tensor, or one of the input's name. */
static bool add_first(tensor_list *l)
{
    const opening *o = l->o;
    const char *said = field_text(o->c, o->settings, "data.x", NULL);
    const char *own = o->request->input != NULL ? o->request->input->name : "x";
    const char *name = said != NULL ? said : is_given(l, "x") && !is_given(l, own) ? "x" : own;
    if (!is_given(l, name) && said == NULL)
        name = "x";
    return o->err->status == MW_OK &&
           (is_given(l, name) ? add_column(l, "x", name) : refuse_missing(l, "tensor", said != NULL ? said : own));
}

static bool add_others(tensor_list *l)
{
    const mw_tensor *input;
    for (size_t i = 1; l->o->request->source != NULL && (input = mw_graph_input_at(l->o->request->source, i)) != NULL;
         i++) {
        const char *name = mw_tensor_name(input);
        if (!is_given(l, name))
            return refuse_missing(l, "tensor for the input", name);
        if (!add_column(l, name, name))
            return false;
    }
    return true;
}

/* "y", or the only one that is no input. */
static bool add_labels(tensor_list *l)
{
    const opening *o = l->o;
    const char *said = field_text(o->c, o->settings, "data.y", NULL);
    char name[MW_NAME_MAX + 1];
    size_t others = 0;
    if (said != NULL || is_given(l, "y"))
        return is_given(l, said != NULL ? said : "y") ? add_column(l, "y", said != NULL ? said : "y")
                                                      : refuse_missing(l, "tensor", said);
    for (size_t i = 0; i < given_count(l); i++) {
        given_name(l, i, name, sizeof name);
        if (!is_input(l, name) && strcmp(name, l->columns[0].tensor != NULL ? l->columns[0].tensor : "") != 0 &&
            others++ == 0)
            snprintf(l->label, sizeof l->label, "%s", name);
    }
    return others == 1 ? add_column(l, "y", l->label) : refuse_missing(l, "tensor of labels", "y");
}

/* ---- numbers that are none ---- */

/* Elements of a file lie where it has them. */
static double element_of(const mw_column *c, int64_t at)
{
    const char *const data = c->data;
    float narrow;
    double wide;
    uint16_t half;
    switch (c->dtype) {
    case MW_F32:
        memcpy(&narrow, data + at * 4, sizeof narrow);
        return narrow;
    case MW_F64:
        memcpy(&wide, data + at * 8, sizeof wide);
        return wide;
    case MW_F16:
        memcpy(&half, data + at * 2, sizeof half);
        return mw__fp16_to_float(half);
    default:
        return 0;
    }
}

/* A table has a way to fill its holes; tensors have none, and a step would refuse its batch. */
static bool check_finite(opening *o, const mw_dataset *set, const char *path)
{
    const mw_column *c;
    for (size_t i = 0; (c = mw_dataset_column_at(set, i)) != NULL; i++) {
        const int64_t width = mw_shape_count(c->shape), count = c->data != NULL ? width * mw_dataset_examples(set) : 0;
        int64_t bad = 0, first = 0;
        for (int64_t at = 0; at < count; at++)
            if (!isfinite(element_of(c, at)) && bad++ == 0)
                first = at;
        if (bad > 0)
            return data_fail(o->err,
                             "\"%.200s\": %lld of the %lld elements of \"%.60s\" are not finite, first element %lld of "
                             "example %lld; fill them, or give the table as CSV, whose holes are filled",
                             path, (long long)bad, (long long)count, c->name, (long long)(first % width),
                             (long long)(first / width));
    }
    return true;
}

/* ---- the whole ---- */

/* A name that nothing asks for is a mistake in typing. */
static bool check_files(const tensor_list *l)
{
    const data_request *r = l->o->request;
    for (size_t i = 0; i < r->file_count; i++) {
        const char *file = r->files[i] + data_name_length(r->files[i]) + 1;
        bool used = false;
        for (size_t k = 0; k < l->count; k++)
            used = used || l->columns[k].path == file;
        if (!used)
            return data_fail(l->o->err, "--data %.150s: the model has no input of that name, and the labels are \"%s\"",
                             r->files[i], "y");
    }
    return true;
}

mw_dataset *data_open_tensors(opening *o, const char *path)
{
    const bool own_files = o->request->file_count > 0 && path == o->request->path;
    tensor_list l = {.o = o, .file = own_files ? NULL : mw_tensors_open(path, o->err)};
    const bool good = o->err->status == MW_OK && add_first(&l) && add_others(&l) && add_labels(&l) && check_files(&l);
    mw_dataset *opened =
        good ? mw_dataset_open_tensors(l.file != NULL ? path : NULL, l.columns, l.count, o->err) : NULL;
    mw_tensors_destroy(l.file);
    if (opened == NULL || check_finite(o, opened, path))
        return opened;
    mw_dataset_destroy(opened);
    return NULL;
}
