/* Fine-tuning: the copy in which the chosen weights are parameters. Which there are is found out in
 * trainable_weights.c, which are chosen in trainable_choose.c; what adapters are made of is in lora.c. */
#include "graph/constants/compressed.h"
#include "graph/transform/tune/trainable_parts.h"

#include "base/memory/guard.h"
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "graph/ir/admitted.h"
#include "graph/ir/copy.h"
#include "graph/ir/rule.h"
#include "graph/transform/batch/rebatch.h"
#include "graph/transform/extents/specialize.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <millwright/function.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>
#include <stdio.h>
#include <string.h>

/* ---- shapes ---- */

static mw_status check_shapes(const mw__tuning *t, mw_error *err)
{
    if (t->shapes == NULL && t->shape_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: shapes is NULL, shape_count %zu", t->call, t->shape_count);
    for (size_t i = 0; i < t->shape_count; i++) {
        const mw_input_shape *wanted = &t->shapes[i];
        const mw_tensor *input = wanted->input != NULL ? mw_graph_find(t->source, wanted->input) : NULL;
        char a[160], b[160];
        if (input == NULL || input->role != MW__INPUT || input->type->kind != MW__TENSOR)
            return mw__fail(
                err, MW_ERROR_ARGUMENT, "%s: a shape is given for \"%.96s\", which is no input; the first is \"%.96s\"",
                t->call, wanted->input != NULL ? wanted->input : "", mw_tensor_name(mw_graph_input_at(t->source, 0)));
        if (wanted->shape.rank != input->type->shape.rank || mw_shape_count(wanted->shape) < 0)
            return mw__fail(err, MW_ERROR_SHAPE, "%s: input \"%.96s\" is %s, so that it cannot be %s", t->call,
                            wanted->input, mw__shape_print(input->type->shape, a, sizeof a),
                            mw__shape_print(wanted->shape, b, sizeof b));
    }
    return MW_OK;
}

static mw_shape shape_of_input(void *user, const mw_tensor *value)
{
    const mw__tuning *t = user;
    for (size_t i = 0; value->name != NULL && i < t->shape_count; i++)
        if (strcmp(t->shapes[i].input, value->name) == 0)
            return t->shapes[i].shape;
    return value->type->shape;
}

/* ---- the copy ---- */

/* The elements in the type that the parameter gets; one element stands for all of a splat. */
static const void *all_elements(mw_graph *to, const mw_tensor *value, mw_dtype dtype)
{
    const mw__payload *payload = mw__constant_payload(value, &to->error);
    size_t size;
    if (payload != NULL && dtype != mw_tensor_dtype(value))
        payload = mw__payload_convert(to, payload, dtype, &to->error);
    if (payload == NULL || !payload->splat)
        return payload != NULL ? payload->data : NULL;
    if (!mw__type_bytes(payload->type, &size))
        return NULL;
    unsigned char *data = mw__arena_alloc(&to->arena, size, 1, &to->error);
    for (size_t at = 0; data != NULL && at + payload->size <= size; at += payload->size)
        memcpy(data + at, payload->data, payload->size);
    return data;
}

static void make_parameter(const mw__tuning *t, mw__clone *clone, const mw_tensor *value)
{
    const mw_dtype used = mw_tensor_dtype(value), kept = t->dtype != MW_DTYPE_NONE ? t->dtype : used;
    const void *data = all_elements(clone->to, value, kept);
    if (data == NULL)
        return;
    mw_tensor *made = mw_parameter(clone->to, value->name, kept, mw_tensor_shape(value), mw_init_data(data));
    mw__clone_set(clone, value, kept == used ? made : mw_cast(made, used));
}

static void adapt_weight(const mw__tuning *t, mw__clone *clone, const mw__tune_item *item)
{
    mw__clone_set(clone, item->value, mw__lora_add_to_weight(&t->lora, &item->site, mw__clone_get(clone, item->value)));
}

static void change_weight(const mw__tuning *t, mw__clone *clone, const mw__tune_item *item)
{
    if (item->fate == MW__TUNE_TRAIN)
        make_parameter(t, clone, item->value);
    else if (mw__clone_op(clone, item->value->op, &clone->to->error) == MW_OK)
        adapt_weight(t, clone, item);
}

/* True of constants that are changed in the graph around the block in which they stand: that may be copied twice. */
static bool is_lifted(const mw__tune_item *item)
{
    return item->fate != MW__TUNE_KEEP && mw__tune_is_nested(item->value);
}

/* Parameters are copied before any rule is asked. */
static void begin_tuning(mw__tuning *t, mw__clone *clone)
{
    for (size_t i = 0; !t->begun && i < t->items.count; i++) {
        const mw__tune_item *item = &t->items.items[i];
        if (item->weight.is_parameter && item->fate == MW__TUNE_ADAPT && item->site.op == NULL)
            adapt_weight(t, clone, item);
        else if (is_lifted(item))
            change_weight(t, clone, item);
    }
    t->begun = true;
}

/* A reshape that keeps axis 0 keeps it for any batch, also if its constant names the one of the source. */
static bool follow_batch(const mw__tuning *t, mw__clone *clone, const mw__op *op)
{
    int64_t extents[MW_RANK_MAX];
    size_t rank = 0;
    if (t->shape_count == 0 || op->row == NULL || strcmp(op->kind, "reshape") != 0)
        return false;
    const mw_shape before = mw_tensor_shape(mw__arg(op, "x")), result = mw_tensor_shape(op->results[0]);
    mw_tensor *x = mw__clone_get(clone, mw__arg(op, "x"));
    const mw_shape after = mw_tensor_shape(x);
    if (!mw__arg_ints(op, "shape", extents, MW_RANK_MAX, &rank) || rank == 0 || before.rank == 0 || after.rank == 0 ||
        result.dim[0] != before.dim[0] || extents[0] != before.dim[0] || after.dim[0] == before.dim[0])
        return false;
    mw_shape wanted = {.rank = (int)rank};
    memcpy(wanted.dim, extents, rank * sizeof *extents);
    wanted.dim[0] = after.dim[0];
    mw__clone_set(clone, op->results[0], mw_reshape(x, wanted));
    return true;
}

static bool tune_rule(void *user, mw__clone *clone, const mw__op *op)
{
    mw__tuning *t = user;
    begin_tuning(t, clone);
    if (op->result_count == 0)
        return false;
    const mw__tune_item *branch = t->by_op[op->results[0]->id], *item = t->by_value[op->results[0]->id];
    if (branch != NULL) {
        mw__lora_add_branch(&t->lora, &branch->site, clone);
        return true;
    }
    if (item == NULL || (item->fate == MW__TUNE_ADAPT && item->site.op != NULL))
        return mw__tune_spread_dilated(clone, op) || follow_batch(t, clone, op) ||
               (t->shape_count > 0 && mw__fold_rule(NULL, clone, op));
    if (!is_lifted(item))
        change_weight(t, clone, item);
    return true;
}

/* What is not chosen does not train. Adapters are parameters that the source has not. */
static void freeze_others(const mw__tuning *t, const mw_graph *copy)
{
    const mw__block *body = mw__graph_main(copy)->body;
    for (size_t i = 0; i < body->input_count; i++) {
        mw_tensor *value = body->inputs[i];
        const mw_tensor *source = mw_graph_find(t->source, value->name);
        if (value->role != MW__PARAMETER || source == NULL)
            continue;
        const mw__tune_item *item = t->by_value[source->id];
        if (item == NULL || item->fate != MW__TUNE_TRAIN)
            value->role = MW__RESIDENT;
    }
}

static bool is_taken(const mw__tuning *t, const mw_tensor *state, size_t stem, const char *part)
{
    char name[MW__TUNE_NAME];
    snprintf(name, sizeof name, "%.*s%s", (int)stem, state->name, part);
    const mw_tensor *parameter = mw_graph_find(t->source, name);
    return parameter != NULL && t->by_value[parameter->id] != NULL;
}

/* The running statistics of a batch norm layer that does not train. */
static bool is_frozen(void *user, const mw_tensor *state)
{
    static const char *const parts[] = {".running_mean", ".running_var"};
    const mw__tuning *t = user;
    const size_t length = strlen(state->name);
    for (int i = 0; i < 2; i++) {
        const size_t cut = strlen(parts[i]);
        if (length > cut && length < MW__TUNE_NAME && strcmp(state->name + length - cut, parts[i]) == 0)
            return !is_taken(t, state, length - cut, ".weight") && !is_taken(t, state, length - cut, ".bias");
    }
    return false;
}

/* What shapes alone reach may still be for the old batch, as a slice of so many rows is. */
static void check_rows(void *user, mw__clone *clone)
{
    const mw__tuning *t = user;
    const bool checks = t->batch.table != NULL && clone->to->error.status == MW_OK;
    const mw_tensor *value = checks ? mw__rebatch_differs(&t->batch, clone) : NULL;
    if (value != NULL)
        mw__graph_fail(clone->to, MW_ERROR_SHAPE, "%s: %s keeps the rows of %" PRId64 " examples", t->call,
                       value->op != NULL ? value->op->kind : "an input", t->batch.from);
    if (t->rows != NULL)
        mw__rebatch_refuse_picks(t->rows, clone, t->call);
}

static mw_graph *copy_tuned(mw__tuning *t, mw_error *err)
{
    const mw__clone_options options = {.rule = tune_rule,
                                       .shape = shape_of_input,
                                       .frozen = is_frozen,
                                       .finish = check_rows,
                                       .user = t,
                                       .keep_outputs = true,
                                       .follows = t->shape_count > 0};
    mw_graph *copy = mw__clone_graph(t->source->allocator, t->source, &options, NULL, err);
    if (copy != NULL)
        freeze_others(t, copy);
    return copy;
}

static mw_status prepare_tuning(mw__tuning *t, mw_error *err)
{
    if (t->dtype != MW_DTYPE_NONE && t->dtype != MW_F32)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: dtype is %s; fp32, or MW_DTYPE_NONE for that of each weight",
                        t->call, mw_dtype_name(t->dtype));
    MW_TRY(mw__tune_collect(&t->arena, t->source, &t->items, err));
    mw__tune_sort(&t->items);
    return check_shapes(t, err);
}

/* ---- public ---- */

mw_tune_options mw_tune_defaults(const char *const *patterns, size_t count)
{
    return (mw_tune_options){.struct_size = sizeof(mw_tune_options), .patterns = patterns, .pattern_count = count};
}

mw_lora_options mw_lora_defaults(const char *const *patterns, size_t count)
{
    return (mw_lora_options){.struct_size = sizeof(mw_lora_options),
                             .patterns = patterns,
                             .pattern_count = count,
                             .rank = 8,
                             .alpha = 16.0f};
}

static mw_status check_call(const char *call, const mw_graph *source, const size_t *struct_size, size_t wanted,
                            mw_error *err)
{
    if (source == NULL || struct_size == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: %s NULL", call,
                        source == NULL ? "the graph is" : "the options are");
    if (*struct_size != wanted)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the options were not made by mw_%s_defaults", call,
                        strcmp(call, "lora") == 0 ? "lora" : "tune");
    return mw_graph_check(source, err);
}

typedef struct choice {
    const char *const *patterns;
    size_t count;
    int last;
} choice;

/* The number of examples that the shapes ask for, if they differ in their first extents alone; else 0. */
static int64_t batch_asked_for(const mw__tuning *t)
{
    const mw__function *function = mw__graph_main(t->source);
    const int64_t from = function != NULL ? mw__batch_of(function) : 0;
    int64_t to = 0;
    for (size_t i = 0; i < t->shape_count; i++) {
        const mw_shape old = mw_tensor_shape(mw_graph_find(t->source, t->shapes[i].input));
        const mw_shape wanted = t->shapes[i].shape;
        if (from < 1 || old.rank < 1 || old.dim[0] % from != 0 || wanted.dim[0] % (old.dim[0] / from) != 0 ||
            memcmp(old.dim + 1, wanted.dim + 1, (size_t)(old.rank - 1) * sizeof old.dim[0]) != 0)
            return 0;
        const int64_t examples = wanted.dim[0] / (old.dim[0] / from);
        if (to != 0 && to != examples)
            return 0;
        to = examples;
    }
    return to;
}

static bool has_shapes(const mw_graph *graph, const mw__tuning *t)
{
    bool same = true;
    for (size_t i = 0; i < t->shape_count; i++) {
        const mw_shape shape = mw_tensor_shape(mw_graph_find(graph, t->shapes[i].input));
        same = same && memcmp(shape.dim, t->shapes[i].shape.dim, (size_t)shape.rank * sizeof shape.dim[0]) == 0;
    }
    return same;
}

static mw_graph *tune(mw__tuning *t, choice adapt, choice train, mw_error *err);

/* An input that is not named may be the same for all examples. */
static bool names_every_input(const mw__tuning *t, const mw__function *function)
{
    const mw__block *body = function->body;
    for (size_t i = 0; i < body->input_count; i++) {
        bool named = !mw__is_fed(body->inputs[i]);
        for (size_t k = 0; k < t->shape_count && body->inputs[i]->name != NULL; k++)
            named = named || strcmp(t->shapes[k].input, body->inputs[i]->name) == 0;
        if (!named)
            return false;
    }
    return true;
}

/* The examples of the inputs whose first extent changes, whatever becomes of other extents and inputs; 0 if none does.
 */
static int64_t changed_batch(const mw__tuning *t)
{
    int64_t batch = 0;
    for (size_t i = 0; i < t->shape_count; i++) {
        const mw_shape old = mw_tensor_shape(mw_graph_find(t->source, t->shapes[i].input));
        if (old.rank > 0 && old.dim[0] > 0 && old.dim[0] != t->shapes[i].shape.dim[0])
            batch = mw__common_divisor(batch, old.dim[0]);
    }
    return batch;
}

static mw_status find_batch(mw__tuning *t, mw_error *err)
{
    const mw__function *function = mw__graph_main(t->source);
    const int64_t changed = function != NULL ? changed_batch(t) : 0;
    t->rows = changed > 0 ? mw__batch_find_trained(&t->arena, function, changed, err) : NULL;
    if (changed > 0 && t->rows == NULL)
        return MW_ERROR_MEMORY;
    t->batch.to = t->shape_count > 0 ? batch_asked_for(t) : 0;
    if (t->batch.to == 0 || !names_every_input(t, function))
        return MW_OK;
    t->batch.from = mw__batch_of(function);
    t->batch.table = mw__batch_find_trained(&t->arena, function, t->batch.from, err);
    return t->batch.table != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* What shapes alone do not reach, as states that start at zeros for each example, another batch may. NULL without an
 * error if it does not. */
static mw_graph *tune_rebatched(const mw__tuning *t, choice adapt, choice train)
{
    mw_error ignored = {0};
    mw_graph *source = t->batch.to > 0 ? mw__rebatch_trained(t->source, t->batch.to, &ignored) : NULL;
    mw__tuning again = {
        .source = source, .call = t->call, .skip_fixed = t->skip_fixed, .dtype = t->dtype, .lora = t->lora};
    mw_graph *copy = source != NULL && has_shapes(source, t) ? tune(&again, adapt, train, &ignored) : NULL;
    mw_graph_destroy(source);
    return copy;
}

static mw_graph *copy_or_rebatch(mw__tuning *t, choice adapt, choice train, mw_error *err)
{
    mw_error own = {0};
    mw_graph *copy = copy_tuned(t, &own);
    if (copy != NULL)
        return mw__graph_publish(copy, err);
    copy = tune_rebatched(t, adapt, train);
    if (copy == NULL && err != NULL)
        *err = own;
    return copy;
}

static mw_status choose(const mw__tuning *t, choice wanted, mw__tune_fate fate, mw_error *err)
{
    MW_TRY(mw__tune_choose(t, wanted.patterns, wanted.count, fate, err));
    return wanted.last != 0 ? mw__tune_choose_last(t, wanted.last, fate, err) : MW_OK;
}

static mw_graph *tune(mw__tuning *t, choice adapt, choice train, mw_error *err)
{
    mw__graph_hold(t->source);
    mw__arena_init(&t->arena, t->source->allocator);
    mw_status status = prepare_tuning(t, err);
    if (status == MW_OK)
        status = choose(t, adapt, MW__TUNE_ADAPT, err);
    if (status == MW_OK)
        status = choose(t, train, MW__TUNE_TRAIN, err);
    if (status == MW_OK)
        status = mw__tune_index(t, err);
    if (status == MW_OK)
        status = find_batch(t, err);
    if (status == MW_OK)
        mw__tune_report(t);
    mw_graph *copy = status == MW_OK ? copy_or_rebatch(t, adapt, train, err) : NULL;
    mw__arena_deinit(&t->arena);
    if (mw__graph_drop(t->source, t->call, MW_OK, err) == MW_OK)
        return copy;
    mw__graph_free(copy);
    return NULL;
}

mw_graph *mw_graph_trainable(const mw_graph *source, const mw_tune_options *o, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    static const char call[] = "trainable";
    if (check_call(call, source, o != NULL ? &o->struct_size : NULL, sizeof *o, err) != MW_OK)
        return NULL;
    mw__tuning t = {.source = source,
                    .call = call,
                    .shapes = o->shapes,
                    .shape_count = o->shape_count,
                    .skip_fixed = o->skip_fixed,
                    .report = o->report,
                    .report_user = o->report_user,
                    .dtype = o->dtype};
    return tune(&t, (choice){0}, (choice){o->patterns, o->pattern_count, o->last}, err);
}

static mw_status check_lora(const mw_lora_options *o, mw_error *err)
{
    if (o->rank < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "lora: rank %d is below 1", o->rank);
    if (!(o->alpha > 0.0f) || !(o->alpha <= 1e30f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "lora: alpha %g is not a positive finite number", (double)o->alpha);
    if (o->pattern_count == 0 && o->last == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "lora: there are no patterns for weights with an adapter");
    return MW_OK;
}

mw_graph *mw_graph_lora(const mw_graph *source, const mw_lora_options *o, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    static const char call[] = "lora";
    if (check_call(call, source, o != NULL ? &o->struct_size : NULL, sizeof *o, err) != MW_OK ||
        check_lora(o, err) != MW_OK)
        return NULL;
    mw__tuning t = {.source = source,
                    .call = call,
                    .shapes = o->shapes,
                    .shape_count = o->shape_count,
                    .skip_fixed = o->skip_fixed,
                    .report = o->report,
                    .report_user = o->report_user,
                    .dtype = o->dtype,
                    .lora = {.rank = o->rank, .scale = o->alpha / (float)o->rank, .dtype = o->dtype}};
    return tune(&t, (choice){o->patterns, o->pattern_count, o->last}, (choice){o->full_patterns, o->full_count, 0},
                err);
}
