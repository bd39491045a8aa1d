/* Named tensors from files into weights: which tensor is for which slot is settled first, then everything is read and
 * converted, then everything is put in its place. */
#include "base/memory/map.h"
#include "base/text/printable.h"
#include "base/text/string.h"
#include "graph/ir/ir.h"
#include "graph/transform/tune/trainable.h"
#include "runtime/weights/weights.h"

#include <string.h>

typedef struct loading {
    const mw__weight_slots *slots;
    const mw_weights_options *options; /* NULL: every slot by its own name, F16 and F32 only */
    mw_tensors *file;
    mw__arena arena;
    mw__map exact;                 /* name in the model -> item */
    mw__map loose;                 /* the same without dots -> item, or the loading itself if several have it */
    const mw__tensors_item **from; /* [slots->count], NULL = keeps its values */
    bool *used;                    /* [file->count] */
} loading;

static bool is_factor(const char *name)
{
    return mw__string_ends(name, MW__LORA_A) || mw__string_ends(name, MW__LORA_B);
}

static bool wants(const loading *load, const mw__weight_slot *slot)
{
    const bool left_out = load->options != NULL && load->options->base && is_factor(slot->name);
    return slot->in_file != NULL && !left_out;
}

/* ---- names ---- */

/* Without the dots that a text does not have, and without "_to_fp16". False if it is too long to be one of ours. */
static bool loosen(const char *name, char out[MW__TUNE_NAME])
{
    if (!mw__tune_torch_name(name, out))
        return false;
    for (char *at = out; *at != '\0'; at++)
        if (*at == '.')
            *at = '_';
    return true;
}

/* *out stays NULL for a tensor that is not wanted. */
static mw_status rename_tensor(loading *load, const char *name, const char **out, mw_error *err)
{
    const mw_weights_options *o = load->options;
    mw__text text;
    mw__text_init(&text, load->slots->allocator);
    const mw_weights_prefix *fits = NULL;
    for (size_t i = 0; i < o->prefix_count && fits == NULL; i++)
        if (strncmp(name, o->prefixes[i].from, strlen(o->prefixes[i].from)) == 0)
            fits = &o->prefixes[i];
    mw__text_puts(&text, fits != NULL ? fits->to : "");
    mw__text_puts(&text, name + (fits != NULL ? strlen(fits->from) : 0));
    mw_status status = mw__text_check(&text, err);
    const char *made = text.data != NULL ? text.data : "";
    if (status == MW_OK && o->name != NULL) {
        const mw__callback outer = mw__callback_begin("function of names", MW__LENT_NEVER);
        made = o->name(o->name_user, made);
        mw__callback_end(outer);
    }
    *out = status == MW_OK && made != NULL ? mw__arena_string(&load->arena, made, strlen(made), err) : NULL;
    if (status == MW_OK && made != NULL && *out == NULL)
        status = MW_ERROR_MEMORY;
    mw__text_deinit(&text);
    return status;
}

static mw_status add_loose(loading *load, const char *name, const mw__tensors_item *item, mw_error *err)
{
    char loose[MW__TUNE_NAME];
    if (!loosen(name, loose))
        return MW_OK;
    const bool several = mw__map_get(&load->loose, loose) != NULL;
    return mw__map_set(&load->loose, loose, several ? (void *)load : (void *)item, err);
}

static mw_status name_tensors(loading *load, mw_error *err)
{
    for (size_t i = 0; i < load->file->count; i++) {
        const mw__tensors_item *item = &load->file->items[i];
        const char *name = NULL;
        MW_TRY(rename_tensor(load, item->info.name, &name, err));
        if (name == NULL)
            continue;
        const mw__tensors_item *other = mw__map_get(&load->exact, name);
        if (other != NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.120s\": \"%.96s\" and \"%.96s\" both stand for \"%.96s\"",
                            load->file->path, other->info.name, item->info.name, name);
        MW_TRY(mw__map_set(&load->exact, name, (void *)item, err));
        MW_TRY(add_loose(load, name, item, err));
    }
    return MW_OK;
}

/* By its name; failing that by one that differs in dots only, of a tensor that no other slot has. */
static const mw__tensors_item *find_loosely(const loading *load, const mw__weight_slot *slot)
{
    char loose[MW__TUNE_NAME];
    const mw__tensors_item *item = loosen(slot->in_file, loose) ? mw__map_get(&load->loose, loose) : NULL;
    return item != NULL && (const void *)item != load && !load->used[item - load->file->items] ? item : NULL;
}

/* ---- which goes where ---- */

static mw_status wrong_shape(const loading *load, const mw__weight_slot *slot, const mw_tensor_info *tensor,
                             mw_error *err)
{
    char there[160], here[160];
    mw__shape_print(tensor->shape, there, sizeof there);
    mw__shape_print(slot->shape, here, sizeof here);
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.160s\": \"%.96s\" is %.80s in the file, but %.80s in %s",
                    load->file->path, tensor->name, there, here, load->slots->owner);
}

static mw_status check_tensor(const loading *load, const mw__weight_slot *slot, const mw__tensors_item *item,
                              mw_error *err)
{
    const char *path = load->file->path;
    if (item == NULL)
        return slot->optional
                   ? MW_OK
                   : mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has no parameter \"%.96s\"", path, slot->in_file);
    if (!mw_shape_equal(item->info.shape, slot->shape))
        return wrong_shape(load, slot, &item->info, err);
    if (item->info.dtype != MW_F32 && item->info.dtype != MW_F16)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": \"%.96s\" is %s; weights are fp32 or fp16", path,
                        slot->in_file, mw_dtype_name(item->info.dtype));
    return MW_OK;
}

static mw_status match_strictly(loading *load, mw_error *err)
{
    for (size_t i = 0; i < load->slots->count; i++) {
        const mw__weight_slot *slot = &load->slots->slot[i];
        if (!wants(load, slot))
            continue;
        load->from[i] = mw__tensors_item_find(load->file, slot->in_file);
        MW_TRY(check_tensor(load, slot, load->from[i], err));
    }
    return MW_OK;
}

static void tell(const loading *load, const mw_weights_choice *choice)
{
    if (load->options->report == NULL)
        return;
    const mw__callback outer = mw__callback_begin("report of the loading", MW__LENT_NEVER);
    load->options->report(load->options->report_user, choice);
    mw__callback_end(outer);
}

/* What has no tensor, for a message: how many, and the first three. */
typedef struct missing {
    size_t count;
    const char *first[3];
} missing;

/* Exact names come first: of two names that differ in dots only each keeps its own. */
static void find_all(loading *load, bool exact)
{
    for (size_t i = 0; i < load->slots->count; i++) {
        const mw__weight_slot *slot = &load->slots->slot[i];
        if (!wants(load, slot) || load->from[i] != NULL)
            continue;
        load->from[i] = exact ? mw__map_get(&load->exact, slot->in_file) : find_loosely(load, slot);
        if (load->from[i] != NULL)
            load->used[load->from[i] - load->file->items] = true;
    }
}

static void review_slot(const loading *load, size_t i, missing *lacking)
{
    const mw__weight_slot *slot = &load->slots->slot[i];
    const mw__tensors_item *item = load->from[i];
    mw_weights_choice choice = {.outcome = MW_WEIGHTS_MISSING, .parameter = slot->name, .shape = slot->shape};
    if (item != NULL) {
        choice.outcome = mw_shape_equal(item->info.shape, slot->shape) ? MW_WEIGHTS_TAKEN : MW_WEIGHTS_SHAPE;
        choice.tensor = item->info.name;
        choice.there = item->info.shape;
    } else if (!slot->optional || load->options->base) {
        if (lacking->count < 3)
            lacking->first[lacking->count] = slot->name;
        lacking->count++;
    }
    tell(load, &choice);
}

static void tell_unused(const loading *load)
{
    for (size_t i = 0; i < load->file->count; i++) {
        const mw_tensor_info *info = &load->file->items[i].info;
        if (!load->used[i])
            tell(load,
                 &(mw_weights_choice){
                     .outcome = MW_WEIGHTS_UNUSED, .tensor = info->name, .shape = info->shape, .there = info->shape});
    }
}

static mw_status check_missing(const loading *load, const missing *lacking, mw_error *err)
{
    if (lacking->count == 0 || load->options->partial)
        return MW_OK;
    char names[320];
    size_t at = 0;
    for (size_t i = 0; i < lacking->count && i < 3; i++)
        at += mw__printable_printf(names + at, sizeof names - at, "%s\"%.96s\"", i > 0 ? ", " : "", lacking->first[i]);
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.120s\" has no tensor for %zu of %s's weights: %.310s%s; with `partial` they keep their values",
                    load->file->path, lacking->count, load->slots->owner, names, lacking->count > 3 ? ", .." : "");
}

/* Those of another shape keep their values, or are an error. */
static mw_status check_shapes(loading *load, size_t *out_taken, mw_error *err)
{
    *out_taken = 0;
    for (size_t i = 0; i < load->slots->count; i++) {
        const mw__weight_slot *slot = &load->slots->slot[i];
        if (load->from[i] == NULL)
            continue;
        if (mw_shape_equal(load->from[i]->info.shape, slot->shape))
            ++*out_taken;
        else if (load->options->new_heads)
            load->from[i] = NULL;
        else
            return wrong_shape(load, slot, &load->from[i]->info, err);
    }
    return MW_OK;
}

static mw_status match_by_options(loading *load, mw_error *err)
{
    missing lacking = {0};
    size_t taken;
    MW_TRY(name_tensors(load, err));
    find_all(load, true);
    find_all(load, false);
    for (size_t i = 0; i < load->slots->count; i++)
        if (wants(load, &load->slots->slot[i]))
            review_slot(load, i, &lacking);
    tell_unused(load);
    MW_TRY(check_missing(load, &lacking, err));
    MW_TRY(check_shapes(load, &taken, err));
    if (taken == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\": none of its %zu tensors is for a weight of %s",
                        load->file->path, load->file->count, load->slots->owner);
    return MW_OK;
}

/* ---- reading ---- */

/* data[i]: converted, for a slot that has a tensor. */
static mw_status read_all(const mw__weight_slots *slots, mw_tensors *file, const mw__tensors_item *const *from,
                          void **data, mw_error *err)
{
    for (size_t i = 0; i < slots->count; i++) {
        const mw__weight_slot *slot = &slots->slot[i];
        if (from[i] == NULL)
            continue;
        data[i] = mw__alloc(slots->allocator, slot->size, 1, err);
        if (data[i] == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(mw__tensors_read(file, from[i], slot->dtype, data[i], true, err));
    }
    return MW_OK;
}

static void put_all(const mw__weight_slots *slots, void *const *data)
{
    for (size_t i = 0; i < slots->count; i++) {
        mw__weight_slot *slot = &slots->slot[i];
        slot->taken = data[i] != NULL;
        if (slot->taken)
            memcpy(slot->data, data[i], slot->size);
    }
}

/* ---- a file ---- */

static mw_status run_loading(loading *load, mw_error *err)
{
    load->used = mw__arena_alloc(&load->arena, load->file->count, sizeof *load->used, err);
    if (load->used == NULL)
        return MW_ERROR_MEMORY;
    return load->options != NULL ? match_by_options(load, err) : match_strictly(load, err);
}

mw_status mw__weights_match(const mw__weight_slots *slots, mw_tensors *file, const mw_weights_options *options,
                            const mw__tensors_item **out_from, mw_error *err)
{
    loading load = {.slots = slots, .options = options, .file = file, .from = out_from};
    mw__arena_init(&load.arena, slots->allocator);
    mw__map_init(&load.exact, slots->allocator);
    mw__map_init(&load.loose, slots->allocator);
    const mw_status status = run_loading(&load, err);
    mw__map_deinit(&load.exact);
    mw__map_deinit(&load.loose);
    mw__arena_deinit(&load.arena);
    return status;
}

static mw_status load_file(const mw__weight_slots *slots, mw_tensors *file, const mw_weights_options *options,
                           mw_error *err)
{
    const mw_allocator *allocator = slots->allocator;
    const mw__tensors_item **from = mw__alloc(allocator, slots->count, sizeof *from, err);
    void **data = mw__alloc(allocator, slots->count, sizeof *data, err);
    mw_status status =
        from != NULL && data != NULL ? mw__weights_match(slots, file, options, from, err) : MW_ERROR_MEMORY;
    if (status == MW_OK)
        status = read_all(slots, file, from, data, err);
    if (status == MW_OK)
        put_all(slots, data);
    for (size_t i = 0; data != NULL && i < slots->count; i++)
        mw__free(allocator, data[i]);
    mw__free(allocator, data);
    mw__free(allocator, from);
    mw_tensors_destroy(file);
    return status;
}

mw_status mw__weights_read(const mw__weight_slots *slots, const char *path, bool of_folder, mw_error *err)
{
    mw_error own = {0};
    mw_error *const reason = err != NULL ? err : &own;
    mw_tensors *file = (of_folder ? mw__tensors_open_in_folder : mw__tensors_open)(slots->allocator, path, reason);
    return file != NULL ? load_file(slots, file, NULL, reason) : reason->status;
}

/* ---- options ---- */

mw_status mw__weights_check_load_options(const mw_weights_options *options, bool compressed, mw_error *err)
{
    if (options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_weights_options: not filled with mw_weights_defaults");
    if (options->compressed && !compressed)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_weights_options: parameters are dense; `compressed` is for mw_graph_load_weights");
    if (options->prefixes == NULL && options->prefix_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_weights_options: prefixes is NULL, but prefix_count %zu",
                        options->prefix_count);
    for (size_t i = 0; i < options->prefix_count; i++)
        if (options->prefixes[i].from == NULL || options->prefixes[i].to == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "mw_weights_options: prefix %zu is NULL", i);
    return MW_OK;
}

mw_weights_options mw_weights_defaults(void) { return (mw_weights_options){.struct_size = sizeof(mw_weights_options)}; }

mw_status mw__weights_load(const mw__weight_slots *slots, const char *path, const mw_weights_options *options,
                           mw_error *err)
{
    const mw_weights_options none = mw_weights_defaults();
    mw_error own = {0};
    mw_error *const reason = err != NULL ? err : &own;
    options = options != NULL ? options : &none;
    MW_TRY(mw__weights_check_load_options(options, false, reason));
    mw_tensors *file = mw__tensors_open(slots->allocator, path, reason);
    return file != NULL ? load_file(slots, file, options, reason) : reason->status;
}
