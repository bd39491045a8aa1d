/* Writing what was tuned back into the program that it came from: trained weights replace its constants, adapters are
 * merged. What is chosen and copied is decided in graph/transform/tune/trainable.c. */
#include "base/memory/checked.h"
#include "base/memory/map.h"
#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include "graph/constants/compressed.h"
#include "graph/transform/extents/interface.h"
#include "graph/transform/tune/trainable.h"
#include "graph/values/convert.h"
#include "runtime/model/model_file.h"
#include "runtime/trainer/object/trainer_object.h"

#include <math.h>
#include <millwright/model.h>
#include <string.h>

/* Where a program with its new values goes. */
typedef struct target {
    const char *path;
    const mw_write_options *options;
} target;

/* New values by the names of the source. */
typedef struct tuned {
    mw_trainer *trainer;
    mw__arena arena;
    mw__tune_items items; /* of the source */
    mw__map values;       /* name -> dense data in the dtype of the source */
    mw__map scales;       /* of a whole model: the names of the scales of adapters that are merged */
    size_t read_bytes;
} tuned;

static const mw__state_entry *find_entry(const tuned *t, const char *name)
{
    const mw__state_entry *entry = mw__state_find(&t->trainer->owner.state, name);
    return entry != NULL && entry->is_weight ? mw__trainer_exported_entry(t->trainer, entry) : NULL;
}

/* ---- merging ---- */

/* One weight with its adapter, every element in double. */
typedef struct merge {
    const mw_weight *weight;
    mw__lora_site site;
    const mw__payload *base; /* or */
    const float *start;      /* of a state */
    const float *a, *b;      /* [r, in], [out, r] */
    int64_t rank;
    double scale;
} merge;

static const float *as_floats(tuned *t, const mw__state_entry *entry, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(entry->shape);
    float *out = mw__arena_alloc(&t->arena, count, sizeof *out, err);
    if (out == NULL ||
        mw__convert(out, MW_F32, &(mw__values){.data = entry->data, .dtype = entry->dtype, .count = count}, err) !=
            MW_OK)
        return NULL;
    t->read_bytes += entry->size;
    return out;
}

static double merged_element(const merge *m, int64_t o, int64_t i)
{
    const int64_t at = m->site.layout == MW__LORA_IN_OUT ? i * m->site.out + o : o * m->site.in + i;
    double sum = 0.0;
    for (int64_t k = 0; k < m->rank; k++)
        sum += (double)m->b[o * m->rank + k] * (double)m->a[k * m->site.in + i];
    const double base = m->base != NULL ? mw__payload_float(m->base, (size_t)at) : (double)m->start[at];
    return base + m->scale * sum;
}

static void store_number(void *data, mw_dtype dtype, int64_t at, double value)
{
    if (dtype == MW_F16)
        ((uint16_t *)data)[at] = mw__fp16_from_double(value);
    else
        ((float *)data)[at] = (float)value;
}

static void merge_into(const merge *m, void *data)
{
    for (int64_t o = 0; o < m->site.out; o++) {
        for (int64_t i = 0; i < m->site.in; i++) {
            const int64_t at = m->site.layout == MW__LORA_IN_OUT ? i * m->site.out + o : o * m->site.in + i;
            store_number(data, m->weight->dtype, at, merged_element(m, o, i));
        }
    }
}

/* The scale as the program multiplies by it. */
static bool read_scale(const tuned *t, const char *weight, mw_dtype dtype, double *out)
{
    char name[MW__TUNE_NAME];
    if (!mw__lora_name(weight, MW__LORA_SCALE, name))
        return false;
    const mw_tensor *value = mw_graph_find(t->trainer->model.graph, name);
    if (value == NULL || value->payload == NULL)
        return false;
    *out = mw__payload_float(value->payload, 0);
    if (dtype == MW_F16)
        *out = (double)mw__fp16_to_float(mw__fp16_from_double(*out));
    return true;
}

static mw_status check_factors(const mw_weight *weight, const mw__lora_site *site, const mw__state_entry *a,
                               const mw__state_entry *b, mw_error *err)
{
    const int64_t rank = a->shape.rank > 0 ? a->shape.dim[0] : 0;
    int64_t elements_a = 0, elements_b = 0;
    if (rank > 0 && mw__mul_i64(rank, site->in, &elements_a) && mw__mul_i64(rank, site->out, &elements_b) &&
        mw_shape_count(a->shape) == elements_a && mw_shape_count(b->shape) == elements_b)
        return MW_OK;
    return mw__fail(err, MW_ERROR_SHAPE,
                    "mw_trainer_export: the adapter of \"%.96s\" does not fit the weight of the program", weight->name);
}

/* *out_data stays NULL if the weight has no adapter. */
static mw_status merge_weight(tuned *t, const mw__tune_item *item, void **out_data, mw_error *err)
{
    char name_a[MW__TUNE_NAME], name_b[MW__TUNE_NAME];
    merge m = {.weight = &item->weight};
    *out_data = NULL;
    if (!mw__lora_name(item->weight.name, MW__LORA_A, name_a) ||
        !mw__lora_name(item->weight.name, MW__LORA_B, name_b) ||
        !read_scale(t, item->weight.name, item->weight.dtype, &m.scale) ||
        mw__lora_find_site(item->value, t->items.uses, &m.site) != NULL)
        return MW_OK;
    const mw__state_entry *a = find_entry(t, name_a), *b = find_entry(t, name_b);
    if (a == NULL || b == NULL)
        return MW_OK;
    MW_TRY(check_factors(&item->weight, &m.site, a, b, err));
    m.rank = a->shape.dim[0];
    m.base = mw__constant_payload(item->value, err); /* of a compressed weight: expanded */
    MW_TRY(err->status);
    m.a = as_floats(t, a, err);
    m.b = as_floats(t, b, err);
    if (m.base == NULL) {
        const mw__state_entry *base = find_entry(t, item->weight.name);
        m.start = base != NULL ? as_floats(t, base, err) : NULL;
    }
    *out_data = mw__arena_alloc(&t->arena, item->weight.size, 1, err);
    if (m.a == NULL || m.b == NULL || *out_data == NULL)
        return MW_ERROR_MEMORY;
    if (m.base == NULL && m.start == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_export: the trainer has no parameter \"%.96s\"",
                        item->weight.name);
    merge_into(&m, *out_data);
    return MW_OK;
}

/* ---- values ---- */

static mw_status copy_weight(tuned *t, const mw__tune_item *item, void **out_data, mw_error *err)
{
    const mw__state_entry *entry = find_entry(t, item->weight.name);
    char here[160], there[160];
    if (entry == NULL)
        return MW_OK;
    if (!mw_shape_equal(entry->shape, item->weight.shape))
        return mw__fail(err, MW_ERROR_SHAPE, "mw_trainer_export: \"%.96s\" is %s in the trainer, but %s in the program",
                        item->weight.name, mw__shape_print(entry->shape, there, sizeof there),
                        mw__shape_print(item->weight.shape, here, sizeof here));
    *out_data = mw__arena_alloc(&t->arena, item->weight.size, 1, err);
    if (*out_data == NULL)
        return MW_ERROR_MEMORY;
    t->read_bytes += entry->size;
    const mw__values values = {
        .data = entry->data, .dtype = entry->dtype, .count = (size_t)mw_shape_count(entry->shape)};
    const mw__port_rule rule = {.dtype = item->weight.dtype, .declared = item->weight.dtype, .finite = true};
    mw__refusal refusal;
    if (mw__values_enter(*out_data, &values, &rule, &refusal) == MW_OK)
        return MW_OK;
    return mw__fail(err, refusal.status, "mw_trainer_export: element %zu of \"%.96s\" %s", refusal.element,
                    item->weight.name, refusal.text);
}

/* Nothing that is not finite is written. */
static mw_status keep_values(tuned *t, const mw__tune_item *item, void *data, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(item->weight.shape);
    const size_t bad = mw__find_not_finite(data, item->weight.dtype, count);
    if (bad < count)
        return mw__fail(err, MW_ERROR_NUMERIC, "mw_trainer_export: element %zu of \"%.96s\" is not finite as %s", bad,
                        item->weight.name, mw_dtype_name(item->weight.dtype));
    return mw__map_set(&t->values, item->weight.name, data, err);
}

static mw_status add_weight(tuned *t, const mw__tune_item *item, mw_error *err)
{
    void *data = NULL;
    MW_TRY(merge_weight(t, item, &data, err));
    if (data == NULL)
        MW_TRY(copy_weight(t, item, &data, err));
    return data != NULL ? keep_values(t, item, data, err) : MW_OK;
}

static mw__tune_item item_of(const mw_tensor *input)
{
    return (mw__tune_item){
        .value = input, .weight = {.name = input->name, .dtype = mw_tensor_dtype(input), .shape = input->type->shape}};
}

/* A running mean that follows the data while a program is trained. */
static mw_status add_state(tuned *t, const mw_tensor *value, mw_error *err)
{
    mw__tune_item item = item_of(value);
    void *data = NULL;
    if (value->role != MW__RESIDENT || !mw__type_bytes(value->type, &item.weight.size))
        return MW_OK;
    MW_TRY(copy_weight(t, &item, &data, err));
    return data != NULL ? mw__map_set(&t->values, value->name, data, err) : MW_OK;
}

/* ---- what was trained must have a place ---- */

/* True for a factor of an adapter whose weight got new values. */
static bool is_merged(const tuned *t, const char *parameter)
{
    char name[MW__TUNE_NAME];
    for (size_t i = 0; i < t->items.count; i++) {
        const char *weight = t->items.items[i].weight.name;
        if (mw__map_get(&t->values, weight) == NULL)
            continue;
        if ((mw__lora_name(weight, MW__LORA_A, name) && strcmp(name, parameter) == 0) ||
            (mw__lora_name(weight, MW__LORA_B, name) && strcmp(name, parameter) == 0))
            return true;
    }
    return false;
}

static mw_status check_complete(const tuned *t, mw_error *err)
{
    const mw__block *body = mw__graph_main(t->trainer->model.graph)->body;
    for (size_t i = 0; i < body->input_count; i++) {
        const mw_tensor *value = body->inputs[i];
        if (value->role != MW__PARAMETER || mw__map_get(&t->values, value->name) != NULL || is_merged(t, value->name))
            continue;
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_trainer_export: \"%.96s\" was trained, but the program has no weight for it (another program? a "
            "new layer? With NULL for the program the whole model of the trainer is written)",
            value->name);
    }
    return MW_OK;
}

/* ---- writing ---- */

static const void *tuned_values(void *user, const char *name)
{
    const tuned *t = user;
    return mw__map_get(&t->values, name);
}

static mw_status collect(tuned *t, const mw_graph *source, mw_error *err)
{
    MW_TRY(mw__tune_collect(&t->arena, source, &t->items, err));
    for (size_t i = 0; i < t->items.count; i++)
        MW_TRY(add_weight(t, &t->items.items[i], err));
    const mw__block *body = mw__graph_main(source)->body;
    for (size_t i = 0; i < body->input_count; i++)
        MW_TRY(add_state(t, body->inputs[i], err));
    return check_complete(t, err);
}

/* ---- a whole model ----
 * Without a source the trainer's own prediction is written: with layers that were put on top of a program, and without
 * the branches of adapters, which go into the weights beside which they stand. */

static mw_status merge_item(tuned *t, const mw__tune_item *item, mw_error *err)
{
    char scale[MW__TUNE_NAME];
    void *data = NULL;
    MW_TRY(merge_weight(t, item, &data, err));
    if (data == NULL || !mw__lora_name(item->weight.name, MW__LORA_SCALE, scale))
        return MW_OK;
    MW_TRY(keep_values(t, item, data, err));
    return mw__map_set(&t->scales, scale, data, err);
}

/* base + branch * scale, of an adapter that is merged, is base. */
static bool drop_branch(void *user, mw__clone *clone, const mw__op *op)
{
    const tuned *t = user;
    const mw_tensor *sum = strcmp(op->kind, "add") == 0 ? mw__arg(op, "y") : NULL;
    if (sum == NULL || sum->op == NULL || strcmp(sum->op->kind, "mul") != 0)
        return false;
    const mw_tensor *scale = mw__arg(sum->op, "y");
    if (scale->op != NULL && strcmp(scale->op->kind, "cast") == 0)
        scale = mw__arg(scale->op, "x");
    const char *name = mw_tensor_name(scale);
    if (name == NULL || mw__map_get(&t->scales, name) == NULL)
        return false;
    mw__clone_set(clone, op->results[0], mw__clone_get(clone, mw__arg(op, "x")));
    return true;
}

/* The prediction, first without the branches, then without what only they needed. */
static mw_graph *whole_graph(tuned *t, mw_error *err)
{
    mw_trainer *trainer = t->trainer;
    mw_tensor *root, *prediction;
    const mw__clone_options drop = {.rule = drop_branch,
                                    .user = t,
                                    .roots = &trainer->model.prediction,
                                    .root_count = 1,
                                    .form = MW__CLONE_DEPLOYMENT};
    mw_graph *dropped = mw__clone_graph(trainer->allocator, trainer->model.graph, &drop, &root, err);
    if (dropped == NULL)
        return NULL;
    const mw__clone_options needed = {.roots = &root, .root_count = 1, .form = MW__CLONE_DEPLOYMENT};
    mw_graph *graph = mw__clone_graph(trainer->allocator, dropped, &needed, &prediction, err);
    mw__graph_free(dropped);
    if (graph == NULL)
        return NULL;
    const char *name = mw_tensor_name(prediction);
    mw_output(prediction, prediction->role == MW__VALUE && name[0] != '\0' ? name : "prediction");
    if (mw_graph_check(graph, err) == MW_OK)
        return graph;
    mw__graph_free(graph);
    return NULL;
}

/* Weights are constants, or, where the source had parameters, states. */
static mw_status merge_all(tuned *t, mw_error *err)
{
    MW_TRY(mw__tune_collect(&t->arena, t->trainer->model.graph, &t->items, err));
    for (size_t i = 0; i < t->items.count; i++)
        MW_TRY(merge_item(t, &t->items.items[i], err));
    const mw__block *body = mw__graph_main(t->trainer->model.graph)->body;
    for (size_t i = 0; i < body->input_count; i++) {
        mw__tune_item item = item_of(body->inputs[i]);
        if (body->inputs[i]->role == MW__RESIDENT && mw__type_bytes(body->inputs[i]->type, &item.weight.size))
            MW_TRY(merge_item(t, &item, err));
    }
    return MW_OK;
}

/* The values of what the graph has as inputs, but for weights that are merged. */
static mw_status add_inputs(tuned *t, const mw_graph *graph, mw_error *err)
{
    const mw__block *body = mw__graph_main(graph)->body;
    for (size_t i = 0; i < body->input_count; i++) {
        const mw_tensor *value = body->inputs[i];
        mw__tune_item item = item_of(value);
        void *data = NULL;
        if (mw__map_get(&t->values, value->name) != NULL || !mw__type_bytes(value->type, &item.weight.size))
            continue;
        MW_TRY(copy_weight(t, &item, &data, err));
        if (data != NULL)
            MW_TRY(keep_values(t, &item, data, err));
    }
    return MW_OK;
}

static mw_status write_values(tuned *t, const mw_graph *graph, const target *to, mw_error *err)
{
    mw_write_options options = *to->options;
    options.bake = options.replace = tuned_values;
    options.bake_user = options.replace_user = t;
    MW_TRY(mw__model_file_write(graph, to->path, &options, err));
    if (!options.check_only)
        mw__trainer_count_state(t->trainer, 0, t->read_bytes);
    return MW_OK;
}

/* A copy for that many examples that the format takes; NULL if there is none. */
static mw_graph *graph_for(tuned *t, const mw_graph *graph, const target *to, mw__examples examples, mw_error *why)
{
    mw_graph *own = mw__for_examples(graph, examples, why);
    if (own == NULL || examples == MW__EXAMPLES_ONE)
        return own;
    mw_write_options checks = *to->options;
    checks.check_only = true;
    const target check = {.path = to->path, .options = &checks};
    if (write_values(t, own, &check, why) != MW_ERROR_UNSUPPORTED)
        return own; /* what else is wrong is found when it is written */
    mw_graph_destroy(own);
    return NULL;
}

/* The batch of the training is nobody else's: an ONNX file takes any, the other formats one example. What cannot be
 * brought there, as a result that is a mean over the batch, stays as it is. */
static mw_status write_interface(tuned *t, const mw_graph *graph, const target *to, mw_error *err)
{
    mw_error why = {0};
    mw_graph *own = NULL;
    if (to->options->keep_batch)
        return write_values(t, graph, to, err);
    if (mw__model_file_use(to->path) == MW__USE_ONNX)
        own = graph_for(t, graph, to, MW__EXAMPLES_ANY, &why);
    if (own == NULL && why.status != MW_ERROR_MEMORY) {
        mw_error_clear(&why);
        own = graph_for(t, graph, to, MW__EXAMPLES_ONE, &why);
    }
    if (own == NULL && why.status == MW_ERROR_MEMORY)
        return mw__fail(err, MW_ERROR_MEMORY, "%s", why.message);
    const mw_status status = write_values(t, own != NULL ? own : graph, to, err);
    mw_graph_destroy(own);
    return status;
}

static mw_status write_whole(tuned *t, const target *to, mw_error *err)
{
    if (t->trainer->model.prediction == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the trainer has no prediction: set it in mw_trainer_options");
    MW_TRY(merge_all(t, err));
    mw_graph *graph = whole_graph(t, err);
    if (graph == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    mw_status status = add_inputs(t, graph, err);
    if (status == MW_OK)
        status = write_interface(t, graph, to, err);
    mw__graph_free(graph);
    return status;
}

static mw_status write_into_source(tuned *t, const mw_graph *source, const target *to, mw_error *err)
{
    MW_TRY(mw_graph_check(source, err));
    MW_TRY(collect(t, source, err));
    return write_values(t, source, to, err);
}

static mw_status check_call(const mw_trainer *trainer, const mw_graph *source, const target *to, mw_error *err)
{
    const char *call = "mw_trainer_export";
    MW_TRY(mw__trainer_check_path(trainer, to->path, call, err));
    MW_TRY(mw__model_file_check(to->path, to->options, MW__USE_TRAINER, call, err));
    if (source != NULL && to->options->keep_batch)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: with a source the batch is the source's; leave `keep_batch` out",
                        call);
    return MW_OK;
}

static mw_status write_tuned(mw_trainer *trainer, const mw_graph *source, const target *to, mw_error *err)
{
    MW_TRY(check_call(trainer, source, to, err));
    MW_TRY(mw__trainer_check_alive(trainer, err));
    tuned t = {.trainer = trainer};
    mw__arena_init(&t.arena, trainer->allocator);
    mw__map_init(&t.values, trainer->allocator);
    mw__map_init(&t.scales, trainer->allocator);
    const mw_status status = source != NULL ? write_into_source(&t, source, to, err) : write_whole(&t, to, err);
    mw__map_deinit(&t.values);
    mw__map_deinit(&t.scales);
    mw__arena_deinit(&t.arena);
    return status;
}

mw_status mw_trainer_export(mw_trainer *trainer, const mw_graph *source, const char *path,
                            const mw_write_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    const mw_write_options defaults = mw_write_defaults();
    const target to = {.path = path, .options = options != NULL ? options : &defaults};
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, write_tuned(trainer, source, &to, err), err);
}
