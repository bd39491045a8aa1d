/* Weights from a file into a graph: a copy in which constants are others, and parameters and states start with other
 * values. Which tensor is for which weight is decided in weights_read.c. */
#include "base/number/float_mode.h"
#include "graph/constants/shared_payload.h"
#include "graph/transform/tune/trainable.h"
#include "runtime/weights/weights.h"

typedef struct filling {
    const mw_graph *source;
    const mw_weights_options *options;
    mw_tensors *file;
    mw__arena arena;
    mw__weight_slots slots;
    const mw__tensors_item **from;     /* [slots.count] */
    const mw__tensors_item **by_value; /* by id in the source; NULL = stays */
} filling;

/* ---- which weights there are ---- */

static void add_slot(filling *f, const mw_tensor *value)
{
    f->slots.slot[f->slots.count++] = (mw__weight_slot){.name = value->name,
                                                        .in_file = value->name,
                                                        .optional = value->role == MW__RESIDENT,
                                                        .dtype = mw_tensor_dtype(value),
                                                        .shape = mw_tensor_shape(value)};
}

static bool is_state(const mw_tensor *value)
{
    return value->role == MW__RESIDENT && value->name != NULL && value->init != NULL && value->type->kind == MW__TENSOR;
}

/* The values of the slots, in their order. */
static mw_status add_slots(filling *f, const mw_tensor ***out_values, mw_error *err)
{
    mw__tune_items items;
    MW_TRY(mw__tune_collect(&f->arena, f->source, &items, err));
    const mw__block *body = mw__graph_main(f->source)->body;
    const size_t most = items.count + body->input_count;
    f->slots = (mw__weight_slots){.allocator = f->source->allocator, .owner = "the graph"};
    f->slots.slot = mw__arena_alloc(&f->arena, most, sizeof *f->slots.slot, err);
    f->from = mw__arena_alloc(&f->arena, most, sizeof *f->from, err);
    *out_values = mw__arena_alloc(&f->arena, most, sizeof **out_values, err);
    if (f->slots.slot == NULL || f->from == NULL || *out_values == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < items.count; i++) {
        if (items.items[i].weight.role == MW_WEIGHT_NONE)
            continue;
        (*out_values)[f->slots.count] = items.items[i].value;
        add_slot(f, items.items[i].value);
    }
    for (size_t i = 0; i < body->input_count; i++) {
        if (!is_state(body->inputs[i]))
            continue;
        (*out_values)[f->slots.count] = body->inputs[i];
        add_slot(f, body->inputs[i]);
    }
    return MW_OK;
}

static mw_status match(filling *f, mw_error *err)
{
    const mw_tensor **values;
    MW_TRY(add_slots(f, &values, err));
    MW_TRY(mw__weights_match(&f->slots, f->file, f->options, f->from, err));
    f->by_value = mw__arena_alloc(&f->arena, f->source->value_count, sizeof *f->by_value, err);
    for (size_t i = 0; f->by_value != NULL && i < f->slots.count; i++)
        f->by_value[values[i]->id] = f->from[i];
    return f->by_value != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- the copy ---- */

static bool stays_compressed(const filling *f, const mw__tensors_item *item)
{
    return f->options->compressed && mw__tensors_has_blocks(f->file, item);
}

static void put_constant(const filling *f, mw__clone *clone, const mw_tensor *value, const mw__tensors_item *item)
{
    mw_graph *to = clone->to;
    const mw_dtype dtype = mw_tensor_dtype(value);
    mw_tensor *made = stays_compressed(f, item) ? mw__tensors_compressed(f->file, item, dtype, to, &to->error)
                                                : mw__tensors_dense(f->file, item, dtype, true, to, &to->error);
    mw__clone_set(clone, value, mw__tune_is_nested(value) ? made : mw_name(made, value->name));
}

/* Of a parameter or state. */
static void put_start(const filling *f, mw__clone *clone, const mw_tensor *value, const mw__tensors_item *item)
{
    mw_graph *to = clone->to;
    mw_tensor *copy = mw__clone_input_copy(clone, value);
    void *data = NULL;
    if (copy == NULL ||
        mw__payload_blank(to, mw_tensor_dtype(value), mw_tensor_shape(value), &data, &to->error) == NULL)
        return;
    mw__init *init = mw__arena_alloc(&to->arena, 1, sizeof *init, &to->error);
    if (init == NULL || mw__tensors_read(f->file, item, mw_tensor_dtype(value), data, true, &to->error) != MW_OK)
        return;
    const mw_init start = mw_init_data(data);
    *init = mw__init_of(&start);
    copy->init = init;
}

static bool fill_input(void *user, mw__clone *clone, const mw_tensor *value)
{
    const filling *f = user;
    const mw__tensors_item *item = f->by_value[value->id];
    if (item == NULL)
        return false;
    if (value->role == MW__PARAMETER && stays_compressed(f, item))
        put_constant(f, clone, value, item);
    else
        put_start(f, clone, value, item);
    return true;
}

static bool fill_constant(void *user, mw__clone *clone, const mw__op *op)
{
    const filling *f = user;
    const mw__tensors_item *item = op->result_count == 1 ? f->by_value[op->results[0]->id] : NULL;
    if (item == NULL)
        return mw__clone_as_declared(NULL, clone, op);
    put_constant(f, clone, op->results[0], item);
    return true;
}

/* ---- the call ---- */

static mw_graph *fill_weights(filling *f, const char *path, mw_error *err)
{
    mw_graph *made = NULL;
    f->file = mw__tensors_open(f->source->allocator, path, err);
    if (f->file != NULL && match(f, err) == MW_OK) {
        const mw__clone_options how = {.rule = fill_constant, .input = fill_input, .user = f, .keep_outputs = true};
        made = mw__clone_graph(f->source->allocator, f->source, &how, NULL, err);
    }
    mw_tensors_destroy(f->file);
    return mw__graph_publish(made, err);
}

static mw_graph *load_weights(const mw_graph *source, const char *path, const mw_weights_options *options,
                              mw_error *err)
{
    const mw_weights_options none = mw_weights_defaults();
    filling f = {.source = source, .options = options != NULL ? options : &none};
    if (mw_graph_check(source, err) != MW_OK || mw__weights_check_load_options(f.options, true, err) != MW_OK)
        return NULL;
    mw__arena_init(&f.arena, source->allocator);
    mw__graph_hold(source); /* callbacks may destroy it */
    mw_graph *made = fill_weights(&f, path, err);
    mw__arena_deinit(&f.arena);
    if (mw__graph_drop(source, "mw_graph_load_weights", MW_OK, err) == MW_OK)
        return made;
    mw__graph_free(made);
    return NULL;
}

mw_graph *mw_graph_load_weights(const mw_graph *source, const char *path, const mw_weights_options *options,
                                mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    return mw__skips(err) ? NULL : load_weights(source, path, options, err);
}
