/* PyTorch's zip archives (torch.save from 1.6 on): data.pkl says which tensors there are, data/<key> holds the storages
 * that they are views of. Dicts and lists within the saved object are walked, and names joined with dots; what is no
 * tensor in them is not read. What a foreign global would make, and tensors of other kinds, are listed as left out. */
#include "format/tensors/archive.h"
#include "format/tensors/pickle.h"

#include "base/memory/checked.h"
#include "base/text/text.h"

#include <millwright/graph.h>
#include <stdio.h>
#include <string.h>

enum { PICKLE_MAX = 64 << 20, DEPTH_MAX = 16, PIECE = 1 << 16, WHY_MAX = 240 };
/* Bytes that tensors may take for each of the pickle, and for any: an object that is met again and again makes many of
 * a few. State dicts take some 10, three dicts of the same tensors 16; a tensor costs about FIXED and its name twice.
 */
enum { BYTES_PER = 32, BYTES_ANY = 1 << 20, FIXED = 700 };

static const struct {
    const char *global; /* "torch FloatStorage" */
    mw_dtype dtype;
} types[] = {
    {"torch FloatStorage", MW_F32},  {"torch HalfStorage", MW_F16}, {"torch BFloat16Storage", MW_BF16},
    {"torch DoubleStorage", MW_F64}, {"torch LongStorage", MW_I64}, {"torch IntStorage", MW_I32},
    {"torch ShortStorage", MW_I16},  {"torch CharStorage", MW_I8},  {"torch ByteStorage", MW_U8},
    {"torch BoolStorage", MW_BOOL},
};

/* An entry data/<key>. */
typedef struct storage {
    const mw__zip_entry *entry;
    bool checked; /* its checksum is right */
} storage;

typedef struct torch_tensor {
    storage *from;
    mw__strided view;
    uint64_t offset; /* bytes in the storage */
    size_t extent;   /* bytes from the first element to the end of the last */
    bool dense;      /* in the order of its axes, without holes */
} torch_tensor;

/* ---- what the pickle says ---- */

typedef struct walk {
    mw_tensors *tensors;
    mw__map *storages; /* key -> storage */
    char *root;        /* "archive/" */
    size_t visits;     /* left: shared dicts could be met again and again */
    size_t bytes;      /* left for what tensors take */
    mw__text name;
    int depth;
    char *why; /* [WHY_MAX], of a tensor that is not read */
} walk;

static mw_status bad_tensor(const walk *w, mw_status status, const char *what, mw_error *err)
{
    snprintf(w->why, WHY_MAX, "%s", what);
    return mw__fail(err, status, "\"%.200s\": tensor \"%.150s\": %s", w->tensors->path,
                    w->name.data != NULL ? w->name.data : "", what);
}

static bool is_call(const mw__pickle_value *value, const char *callee)
{
    return value->kind == MW__PICKLE_CALL && strcmp(value->callee->text, callee) == 0;
}

static bool has_kind(const mw__pickle_value *value, mw__pickle_kind kind)
{
    return value != NULL && value->kind == kind;
}

static mw_status find_storage(walk *w, const char *key, storage **out, mw_error *err)
{
    const mw_tensors *tensors = w->tensors;
    *out = mw__map_get(w->storages, key);
    if (*out != NULL)
        return MW_OK;
    mw__text path;
    mw__text_init(&path, tensors->allocator);
    mw__text_puts(&path, w->root);
    mw__text_puts(&path, "data/");
    mw__text_puts(&path, key);
    mw_status status = mw__text_check(&path, err);
    const mw__zip_entry *entry = status == MW_OK ? mw__zip_find(mw__archive_zip(tensors), path.data) : NULL;
    mw__text_deinit(&path);
    if (status != MW_OK)
        return status;
    if (entry == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": tensor \"%.100s\": the archive has no storage \"%.60s\"",
                        tensors->path, w->name.data, key);
    *out = mw__arena_alloc(&w->tensors->arena, 1, sizeof **out, err);
    if (*out == NULL)
        return MW_ERROR_MEMORY;
    (*out)->entry = entry;
    return mw__map_set(w->storages, key, *out, err);
}

static mw_status find_type(const walk *w, const char *global, mw_dtype *out, mw_error *err)
{
    char what[200];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].global, global) == 0) {
            *out = types[i].dtype;
            return MW_OK;
        }
    snprintf(what, sizeof what, "its storage is of the type \"%.100s\", which is not read", global);
    return bad_tensor(w, MW_ERROR_UNSUPPORTED, what, err);
}

/* id ::= ( 'storage' , global , key , location , elements ) */
static mw_status read_storage(walk *w, const mw__pickle_value *value, torch_tensor *out, mw_tensor_info *info,
                              mw_error *err)
{
    const mw__pickle_value *id = has_kind(value, MW__PICKLE_PERSISTENT) ? value->argument : NULL;
    if (!has_kind(id, MW__PICKLE_TUPLE) || id->count != 5)
        return bad_tensor(w, MW_ERROR_FORMAT, "its storage is not written as PyTorch writes one", err);
    const mw__pickle_value *kind = mw__pickle_at(id, 0), *type = mw__pickle_at(id, 1), *key = mw__pickle_at(id, 2),
                           *elements = mw__pickle_at(id, 4);
    if (!has_kind(kind, MW__PICKLE_STRING) || strcmp(kind->text, "storage") != 0 ||
        !has_kind(type, MW__PICKLE_GLOBAL) || !has_kind(key, MW__PICKLE_STRING) ||
        !has_kind(elements, MW__PICKLE_INT) || elements->number < 0)
        return bad_tensor(w, MW_ERROR_FORMAT, "its storage is not written as PyTorch writes one", err);
    MW_TRY(find_type(w, type->text, &info->dtype, err));
    MW_TRY(find_storage(w, key->text, &out->from, err));
    info->stored = type->text + strlen("torch ");
    out->view.item = (size_t)mw_dtype_bits(info->dtype) / 8;
    size_t size;
    if (!mw__mul_size((size_t)elements->number, out->view.item, &size) || size != out->from->entry->size)
        return bad_tensor(w, MW_ERROR_FORMAT, "its storage has another size than the pickle says", err);
    if (out->from->entry->deflated)
        return bad_tensor(w, MW_ERROR_UNSUPPORTED, "its storage is compressed, which torch.save does not do", err);
    return MW_OK;
}

static mw_status read_numbers(const walk *w, const mw__pickle_value *tuple, int64_t *out, int *out_count, mw_error *err)
{
    *out_count = 0;
    if (!has_kind(tuple, MW__PICKLE_TUPLE) || tuple->count > MW_RANK_MAX)
        return bad_tensor(w, MW_ERROR_FORMAT, "its shape or strides are no tuple of at most 8 numbers", err);
    for (const mw__pickle_cell *cell = tuple->first; cell != NULL; cell = cell->next) {
        if (cell->value->kind != MW__PICKLE_INT || cell->value->number < 0)
            return bad_tensor(w, MW_ERROR_FORMAT, "an extent or stride is no number from 0", err);
        out[(*out_count)++] = cell->value->number;
    }
    return MW_OK;
}

/* The last element of the view, counted from its first; false if that overflows. */
static bool last_of(const mw__strided *view, int64_t *out)
{
    *out = 0;
    for (int i = 0; i < view->shape.rank; i++) {
        int64_t step;
        if (!mw__mul_i64(view->shape.dim[i] - 1, view->stride[i], &step) || !mw__add_i64(*out, step, out))
            return false;
    }
    return true;
}

static bool is_dense(const mw__strided *view)
{
    int64_t step = 1;
    for (int i = view->shape.rank; i-- > 0;) {
        if (view->shape.dim[i] != 1 && view->stride[i] != step)
            return false;
        step *= view->shape.dim[i];
    }
    return true;
}

/* The view lies in its storage, and has no more elements than that: one that is expanded could have any number. */
static mw_status check_view(const walk *w, torch_tensor *t, int64_t offset, mw_error *err)
{
    const int64_t elements = (int64_t)(t->from->entry->size / t->view.item);
    const int64_t count = mw_shape_count(t->view.shape);
    int64_t last = 0, end = 0;
    if (count == 0)
        return MW_OK;
    if (count < 0 || offset < 0 || !last_of(&t->view, &last) || !mw__add_i64(offset, last, &end) || end >= elements)
        return bad_tensor(w, MW_ERROR_FORMAT, "it reaches beyond its storage", err);
    if (count > elements)
        return bad_tensor(w, MW_ERROR_UNSUPPORTED,
                          "it has more elements than its storage (an expanded view); save it with .contiguous()", err);
    t->dense = is_dense(&t->view);
    t->offset = (uint64_t)offset * t->view.item;
    t->extent = ((size_t)last + 1) * t->view.item;
    return MW_OK;
}

static mw_status charge(walk *w, mw_error *err)
{
    const size_t cost = FIXED + 2 * w->name.size;
    if (cost > w->bytes)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "\"%.200s\": its pickle makes too many tensors of few bytes; save each of them once",
                        w->tensors->path);
    w->bytes -= cost;
    return MW_OK;
}

/* The name of a tensor that is saved alone: that of the file, without folder and ending. */
static mw_status name_alone(const walk *w, const char **out, mw_error *err)
{
    const char *slash = strrchr(w->tensors->path, '/');
    const char *name = slash != NULL ? slash + 1 : w->tensors->path, *dot = strrchr(name, '.');
    *out = mw__tensors_string(w->tensors, name, dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name), err);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status name_tensor(walk *w, const char **out, mw_error *err)
{
    if (w->depth == 0)
        return name_alone(w, out, err);
    if (w->name.size > MW_NAME_MAX) /* long keys, met often, would fill the memory */
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": the name \"%.60s\" has more than %d bytes", w->tensors->path,
                        w->name.data, MW_NAME_MAX);
    *out = mw__tensors_string(w->tensors, w->name.data, w->name.size, err);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* arguments ::= ( storage , offset , shape , strides [, requires_grad , hooks [, metadata]] ) */
static mw_status add_tensor(walk *w, const mw__pickle_value *arguments, mw_error *err)
{
    mw_tensor_info info = {0};
    int strides = 0;
    torch_tensor *t = mw__arena_alloc(&w->tensors->arena, 1, sizeof *t, err);
    if (t == NULL)
        return MW_ERROR_MEMORY;
    const mw__pickle_value *offset = mw__pickle_at(arguments, 1);
    if (arguments->count < 4 || arguments->count > 7 || !has_kind(offset, MW__PICKLE_INT))
        return bad_tensor(w, MW_ERROR_FORMAT, "it is not written as PyTorch writes one", err);
    MW_TRY(read_storage(w, mw__pickle_at(arguments, 0), t, &info, err));
    MW_TRY(read_numbers(w, mw__pickle_at(arguments, 2), t->view.shape.dim, &t->view.shape.rank, err));
    MW_TRY(read_numbers(w, mw__pickle_at(arguments, 3), t->view.stride, &strides, err));
    if (strides != t->view.shape.rank)
        return bad_tensor(w, MW_ERROR_FORMAT, "it has not as many strides as extents", err);
    MW_TRY(check_view(w, t, offset->number, err));
    info.shape = t->view.shape;
    MW_TRY(name_tensor(w, &info.name, err));
    info.stored = mw__tensors_string(w->tensors, info.stored, strlen(info.stored), err);
    if (info.stored == NULL)
        return MW_ERROR_MEMORY;
    return mw__tensors_add(w->tensors, &info, t, err);
}

/* ---- walking ---- */

static mw_status leave_out(walk *w, const char *why, mw_error *err)
{
    MW_TRY(charge(w, err));
    return mw__tensors_leave_out(w->tensors, w->name.data != NULL ? w->name.data : "", why, err);
}

static mw_status visit(walk *w, const mw__pickle_value *value, mw_error *err);

/* The key as a part of a name; *out_is_part is false for one that is neither a string nor a number. */
static void append_key(walk *w, const mw__pickle_value *key, size_t index, bool *out_is_part)
{
    *out_is_part = true;
    if (w->name.size > 0)
        mw__text_puts(&w->name, ".");
    if (key == NULL)
        mw__text_printf(&w->name, "%zu", index);
    else if (key->kind == MW__PICKLE_STRING)
        mw__text_puts(&w->name, key->text);
    else if (key->kind == MW__PICKLE_INT)
        mw__text_printf(&w->name, "%lld", (long long)key->number);
    else
        *out_is_part = false;
}

static mw_status visit_cells(walk *w, const mw__pickle_value *container, mw_error *err)
{
    const size_t length = w->name.size;
    size_t index = 0;
    if (++w->depth > DEPTH_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\": dicts and lists within each other, more than %d deep",
                        w->tensors->path, DEPTH_MAX);
    for (const mw__pickle_cell *cell = container->first; cell != NULL; cell = cell->next, index++) {
        bool is_part;
        append_key(w, cell->key, index, &is_part);
        MW_TRY(mw__text_check(&w->name, err));
        if (is_part)
            MW_TRY(visit(w, cell->value, err));
        else if (cell->value->kind == MW__PICKLE_CALL)
            MW_TRY(leave_out(w, "its key is neither a text nor a number of 64 bits", err));
        w->name.size = length;
        if (w->name.data != NULL)
            w->name.data[length] = '\0';
    }
    w->depth--;
    return MW_OK;
}

/* One that is written as no tensor can be makes the file unsound; one of a kind that is not read is left out. */
static mw_status visit_tensor(walk *w, const mw__pickle_value *arguments, mw_error *err)
{
    mw_error reason = {0};
    MW_TRY(charge(w, err));
    const mw_status status = add_tensor(w, arguments, &reason);
    if (status == MW_ERROR_UNSUPPORTED)
        return leave_out(w, w->why, err);
    return status == MW_OK ? MW_OK : mw__fail(err, status, "%s", reason.message);
}

/* What makes a tensor of another, which is its first argument. */
static bool wraps_tensor(const mw__pickle_value *call)
{
    return (is_call(call, "torch._utils _rebuild_parameter") && call->argument->count == 3) ||
           (is_call(call, "torch._utils _rebuild_parameter_with_state") && call->argument->count == 4);
}

static mw_status leave_out_call(walk *w, const mw__pickle_value *call, mw_error *err)
{
    char why[WHY_MAX];
    snprintf(why, sizeof why, "it is made by the global \"%.100s\", which is not read%s", call->callee->text,
             w->depth == 0 ? "; save the state_dict of the model, not the model" : "");
    return leave_out(w, why, err);
}

static mw_status visit_call(walk *w, const mw__pickle_value *call, mw_error *err)
{
    if (is_call(call, "torch._utils _rebuild_tensor_v2") || is_call(call, "torch._utils _rebuild_tensor"))
        return visit_tensor(w, call->argument, err);
    if (wraps_tensor(call))
        return visit(w, mw__pickle_at(call->argument, 0), err);
    return leave_out_call(w, call, err);
}

static mw_status visit(walk *w, const mw__pickle_value *value, mw_error *err)
{
    if (w->visits == 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\": dicts of its pickle are shared too often",
                        w->tensors->path);
    w->visits--;
    switch (value->kind) {
    case MW__PICKLE_DICT:
    case MW__PICKLE_LIST:
    case MW__PICKLE_TUPLE:
        return visit_cells(w, value, err);
    case MW__PICKLE_CALL:
        return visit_call(w, value, err);
    case MW__PICKLE_PERSISTENT:
        return leave_out(w, "it is a bare storage, without a shape", err);
    default: /* numbers, strings, names: no tensors */
        return MW_OK;
    }
}

/* ---- the archive ---- */

/* An archive that says another order of bytes than ours is refused. */
static mw_status check_order(const walk *w, mw_error *err)
{
    mw__text path;
    char order[8] = {0};
    mw__text_init(&path, w->tensors->allocator);
    mw__text_puts(&path, w->root);
    mw__text_puts(&path, "byteorder");
    mw_status status = mw__text_check(&path, err);
    const mw__zip *zip = mw__archive_zip(w->tensors);
    const mw__zip_entry *entry = status == MW_OK ? mw__zip_find(zip, path.data) : NULL;
    mw__text_deinit(&path);
    if (status != MW_OK || entry == NULL)
        return status;
    if (entry->size < sizeof order)
        MW_TRY(mw__zip_read(zip, entry, order, err));
    return strcmp(order, "little") == 0
               ? MW_OK
               : mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\" has elements in the byte order \"%.7s\", not little",
                          w->tensors->path, order);
}

static mw_status walk_pickle(mw_tensors *tensors, const mw__pickle_value *value, const char *pickle, size_t size,
                             mw_error *err)
{
    mw__map storages;
    mw__map_init(&storages, tensors->allocator);
    char why[WHY_MAX] = "";
    walk w = {
        .tensors = tensors, .why = why, .storages = &storages, .visits = size, .bytes = BYTES_PER * size + BYTES_ANY};
    mw__text_init(&w.name, tensors->allocator);
    w.root = mw__tensors_string(tensors, pickle, strlen(pickle) - strlen("data.pkl"), err);
    mw_status status = w.root != NULL ? check_order(&w, err) : MW_ERROR_MEMORY;
    if (status == MW_OK)
        status = visit(&w, value, err);
    mw__text_deinit(&w.name);
    mw__map_deinit(&storages);
    return status;
}

static mw_status parse(mw_tensors *tensors, const mw__zip_entry *pickle, unsigned char *text, mw_error *err)
{
    mw__arena arena;
    const mw__pickle_value *value = NULL;
    mw__arena_init(&arena, tensors->allocator);
    mw_status status = mw__zip_read(mw__archive_zip(tensors), pickle, text, err);
    if (status == MW_OK)
        status = mw__pickle_read(&arena, tensors->path, text, (size_t)pickle->size, &value, err);
    if (status == MW_OK)
        status = walk_pickle(tensors, value, pickle->name, (size_t)pickle->size, err);
    mw__arena_deinit(&arena);
    return status;
}

mw_status mw__torch_open(mw_tensors *tensors, const mw__zip_entry *pickle, mw_error *err)
{
    if (pickle->size > PICKLE_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\": its data.pkl has %llu bytes, more than %d",
                        tensors->path, (unsigned long long)pickle->size, PICKLE_MAX);
    if (pickle->deflated) /* it would make much more of a file than its bytes */
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "\"%.200s\": its data.pkl is compressed, which torch.save does not do", tensors->path);
    unsigned char *text = mw__alloc(tensors->allocator, (size_t)pickle->size, 1, err);
    if (text == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = parse(tensors, pickle, text, err);
    mw__free(tensors->allocator, text);
    return status;
}

/* ---- reading ---- */

/* Once for each storage, in pieces: views of it are read without the rest of it. */
static mw_status check_sum(const mw__zip *zip, storage *from, mw_error *err)
{
    mw__zip_stream stream;
    unsigned char piece[PIECE];
    if (from->checked)
        return MW_OK;
    MW_TRY(mw__zip_stream_begin(&stream, zip, from->entry, err));
    mw_status status = MW_OK;
    for (uint64_t left = from->entry->size; left > 0 && status == MW_OK;) {
        const size_t size = left < sizeof piece ? (size_t)left : sizeof piece;
        status = mw__zip_stream_read(&stream, piece, size, err);
        left -= size;
    }
    mw__zip_stream_end(&stream);
    from->checked = status == MW_OK;
    return status;
}

static mw_status read_bytes(const mw__zip *zip, const torch_tensor *t, void *out, mw_error *err)
{
    return mw__file_read_at(&zip->file, t->from->entry->offset + t->offset, out, t->extent, zip->path, err);
}

static mw_status read_torch(mw_tensors *tensors, const mw__tensors_item *item, void *out, mw_error *err)
{
    const torch_tensor *t = item->own;
    const mw__zip *zip = mw__archive_zip(tensors);
    if (item->info.size == 0)
        return MW_OK;
    MW_TRY(check_sum(zip, t->from, err));
    if (t->dense)
        return read_bytes(zip, t, out, err);
    void *raw = mw__alloc(tensors->allocator, t->extent, 1, err);
    if (raw == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = read_bytes(zip, t, raw, err);
    if (status == MW_OK)
        mw__strided_copy(out, raw, &t->view);
    mw__free(tensors->allocator, raw);
    return status;
}

const mw__tensors_format mw__tensors_torch = {
    .name = "PyTorch", .open = mw__archive_open, .read = read_torch, .close = mw__archive_close};
