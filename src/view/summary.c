/* mw_summary: the groups of a program as layers with their numbers. */
#include "view/summary.h"

#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/text/error.h"
#include "graph/ir/count.h"
#include "graph/ir/names.h"
#include "graph/transform/tune/trainable.h"

#include <string.h>

typedef struct making {
    mw_summary *summary;
    mw__view view;
    mw__arena scratch;
    mw__names names;
    const mw__use *const *uses;
    const mw_tensor **inputs;
    size_t input_count;
    uint32_t *member_begin; /* by layer of the view, and one more: in members */
    uint32_t *members;
    uint32_t *seen_layer; /* by value id and by layer: who was there last */
    uint32_t *seen_input;
    bool *counted; /* by value id: the weight is in the totals */
    mw_error *err;
} making;

/* ---- weights ---- */

typedef struct weighing {
    making *m;
    mw_summary_layer *layer;
    uint32_t stamp;
    mw__view_layer_weights weights;
} weighing;

static bool is_parameter(const making *m, const mw_tensor *weight)
{
    if (weight->role == MW__RESIDENT)
        return false;
    const mw_weight_role role =
        weight->role == MW__PARAMETER ? MW_WEIGHT_PARAMETER : mw__tune_find_role(weight, m->uses).role;
    if (role == MW_WEIGHT_NONE)
        return weight->name != NULL && mw__view_prefix_length(weight->name) > 0 && !mw__is_statistic(weight->name);
    return role != MW_WEIGHT_STATISTIC;
}

static int64_t add_count(int64_t a, int64_t b) { return b < 0 ? a : a > INT64_MAX - b ? INT64_MAX : a + b; }

static void weigh_tensor(void *user, const mw_tensor *weight)
{
    weighing *w = user;
    if (w->m->seen_input[weight->id] == w->stamp)
        return;
    w->m->seen_input[weight->id] = w->stamp;
    const int64_t elements = is_parameter(w->m, weight) ? mw_shape_count(mw_tensor_shape(weight)) : 0;
    const uint64_t bytes = mw__value_bytes(weight);
    mw_summary_totals *t = &w->m->summary->totals;
    mw__view_layer_weigh(&w->weights, weight);
    w->layer->parameters = add_count(w->layer->parameters, elements);
    w->layer->weight_bytes = mw__add_saturated(w->layer->weight_bytes, bytes);
    if (w->m->counted[weight->id])
        return;
    w->m->counted[weight->id] = true;
    t->parameters = add_count(t->parameters, elements);
    t->weight_bytes = mw__add_saturated(t->weight_bytes, bytes);
}

/* ---- work ---- */

/* An extent that is open counts as one: of most programs it is the batch. */
static void add_flops(mw_summary_layer *layer, const mw__op *op)
{
    const double flops = mw__op_flops_with(op, 1.0), products = flops >= 0.0 ? flops : mw__op_products_with(op, 1.0);
    layer->unknown_flops += flops < 0.0;
    if (flops >= 0.0 || products > 0.0)
        layer->flops = (layer->flops > 0.0 ? layer->flops : 0.0) + products;
}

static size_t count_ops(const mw__op *op)
{
    size_t count = op->row != NULL && op->row->id == MW__OP_const ? 0 : 1;
    for (size_t b = 0; b < op->block_count; b++)
        for (size_t i = 0; i < op->blocks[b]->op_count; i++)
            count += count_ops(op->blocks[b]->ops[i]);
    return count;
}

/* ---- what a layer gives ---- */

static bool is_read_outside(const making *m, uint32_t layer, const mw_tensor *value)
{
    const mw__view *v = &m->view;
    for (uint32_t u = v->first_use[value->id]; u < v->first_use[value->id + 1]; u++)
        if (!v->ops[v->use_op[u]].fixed && v->ops[mw__view_root(v, v->use_op[u])].layer != layer)
            return true;
    return false;
}

static const mw_tensor *result_of(const making *m, uint32_t layer, const char **out_output)
{
    const mw_tensor *found = NULL, *last = NULL;
    for (uint32_t i = m->member_begin[layer]; i < m->member_begin[layer + 1]; i++) {
        const mw__op *op = m->view.ops[m->members[i]].op;
        for (size_t k = op->result_count; k-- > 0;) {
            const mw_tensor *value = op->results[k];
            *out_output = value->is_output ? value->name : *out_output;
            found = value->is_output || is_read_outside(m, layer, value) ? value : found;
            last = m->view.ops[m->members[i]].spare ? last : value;
        }
    }
    return found != NULL ? found : last;
}

static const char *copy(making *m, const char *text)
{
    return mw__arena_string(&m->summary->arena, text, strlen(text), m->err);
}

static const char *name_of(const making *m, const mw_tensor *value)
{
    const char *name = value == NULL ? NULL : value->name != NULL ? value->name : mw__names_get(&m->names, value);
    return name != NULL ? name : "";
}

static const char *prefix_of(const making *m, uint32_t layer)
{
    for (uint32_t i = m->member_begin[layer]; i < m->member_begin[layer + 1]; i++)
        if (m->view.ops[m->members[i]].prefix != NULL)
            return m->view.ops[m->members[i]].prefix;
    return NULL;
}

/* ---- who reads whom ---- */

static size_t index_of_read(const making *m, const mw_tensor *value)
{
    const uint32_t maker = mw__view_maker(&m->view, value);
    if (maker != MW__VIEW_NONE)
        return m->input_count + m->view.ops[mw__view_root(&m->view, maker)].layer;
    for (size_t i = 0; i < m->input_count; i++)
        if (m->inputs[i] == value)
            return i;
    return SIZE_MAX;
}

/* Ascending: a layer has few, but a loop over all pairs of many must not take for ever. */
static void sort_reads(size_t *list, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; i++) {
            const size_t moved = list[i];
            size_t at = i;
            for (; at >= gap && moved < list[at - gap]; at -= gap)
                list[at] = list[at - gap];
            list[at] = moved;
        }
    }
}

static mw_status set_reads(making *m, uint32_t layer, mw_summary_layer *out)
{
    size_t count = 0, room = 0, *reads;
    for (uint32_t i = m->member_begin[layer]; i < m->member_begin[layer + 1]; i++)
        room += m->view.ops[m->members[i]].read_count;
    reads = mw__arena_alloc(&m->summary->arena, room + 1, sizeof *reads, m->err);
    if (reads == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t i = m->member_begin[layer]; i < m->member_begin[layer + 1]; i++) {
        const mw__view_op *o = &m->view.ops[m->members[i]];
        for (uint32_t k = 0; k < o->read_count && !o->spare; k++) {
            const size_t index = index_of_read(m, m->view.reads[o->first_read + k]);
            if (index == SIZE_MAX || index == m->input_count + layer || m->seen_layer[index] == layer + 1)
                continue;
            m->seen_layer[index] = layer + 1;
            reads[count++] = index;
        }
    }
    sort_reads(reads, count);
    out->reads = reads;
    out->read_count = count;
    return MW_OK;
}

/* ---- layers ---- */

/* The layer whose gradient this is; NULL if it is none. */
static const mw_summary_layer *forward_of(const making *m, uint32_t layer, const mw__op *main)
{
    const mw__op *forward = main->forward;
    const uint32_t maker =
        forward != NULL && forward->result_count > 0 ? mw__view_maker(&m->view, forward->results[0]) : MW__VIEW_NONE;
    const uint32_t of = maker != MW__VIEW_NONE ? m->view.ops[mw__view_root(&m->view, maker)].layer : layer;
    return of < layer ? &m->summary->layers[m->input_count + of] : NULL;
}

static mw_status set_texts(making *m, uint32_t layer, mw_summary_layer *out, const weighing *w)
{
    const char *prefix = prefix_of(m, layer), *output = "";
    const mw_tensor *result = result_of(m, layer, &output);
    const mw__op *main = mw__view_layer_main(&m->view, m->members + m->member_begin[layer],
                                             m->member_begin[layer + 1] - m->member_begin[layer]);
    mw__text detail;
    mw__text_init(&detail, m->summary->allocator);
    out->kind = copy(m, mw__view_layer_kind_name(&m->view, m->view.order[layer], main, &w->weights));
    const mw_summary_layer *forward = forward_of(m, layer, main);
    if (forward != NULL)
        mw__text_printf(&detail, "of %s", forward->kind);
    else if (out->kind != NULL)
        mw__view_layer_detail(&detail, out->kind, main, &w->weights);
    out->name = copy(m, forward != NULL ? forward->name : prefix != NULL ? prefix : name_of(m, result));
    out->detail = copy(m, detail.size > 0 && !detail.failed ? detail.data : "");
    out->output = copy(m, output != NULL ? output : "");
    const bool failed = detail.failed;
    mw__text_deinit(&detail);
    out->dtype = mw_tensor_dtype(result);
    out->shape = mw_tensor_shape(result);
    if (failed)
        return mw__fail(m->err, MW_ERROR_MEMORY, "summary: out of memory");
    return out->kind == NULL || out->name == NULL || out->detail == NULL || out->output == NULL ? MW_ERROR_MEMORY
                                                                                                : MW_OK;
}

static mw_status make_layer(making *m, uint32_t layer, mw_summary_layer *out)
{
    weighing w = {.m = m, .layer = out, .stamp = layer + 1, .weights = {.directions = 1}};
    out->flops = -1.0;
    for (uint32_t i = m->member_begin[layer]; i < m->member_begin[layer + 1]; i++) {
        const mw__view_op *o = &m->view.ops[m->members[i]];
        out->operation_count += count_ops(o->op);
        mw__view_visit_weights(&m->view, m->members[i], weigh_tensor, &w);
        if (!o->spare)
            add_flops(out, o->op);
    }
    MW_TRY(set_texts(m, layer, out, &w));
    return set_reads(m, layer, out);
}

static mw_status make_input(making *m, const mw_tensor *input, mw_summary_layer *out)
{
    *out = (mw_summary_layer){.name = copy(m, name_of(m, input)),
                              .kind = "input",
                              .detail = "",
                              .output = "",
                              .dtype = mw_tensor_dtype(input),
                              .shape = mw_tensor_shape(input)};
    return out->name != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- memory ---- */

static bool keeps_memory(const mw__view *view, uint32_t op)
{
    return mw__view_has(view, op, MW__TRAIT_MOVES | MW__TRAIT_VIEW);
}

/* When each value is used for the last time; one of a reshape counts for what was reshaped. */
static void find_last_uses(making *m, uint32_t *last)
{
    const mw__view *v = &m->view;
    for (uint32_t i = v->op_count; i-- > 0;) {
        const mw__op *op = v->ops[i].op;
        for (uint32_t k = 0; k < v->ops[i].read_count; k++) {
            const mw_tensor *value = v->reads[v->ops[i].first_read + k];
            uint32_t until = i + 1;
            if (keeps_memory(v, i) && last[op->results[0]->id] > until)
                until = last[op->results[0]->id];
            last[value->id] = last[value->id] > until ? last[value->id] : until;
        }
        for (size_t k = 0; k < op->result_count; k++)
            if (op->results[k]->is_output)
                last[op->results[k]->id] = v->op_count + 1;
    }
}

static uint64_t bytes_of(making *m, const mw_tensor *value)
{
    mw_summary_totals *t = &m->summary->totals;
    if (value->type->kind != MW__TENSOR || mw_shape_count(value->type->shape) >= 0)
        return mw__value_bytes(value);
    mw_shape shape = value->type->shape;
    for (int i = 0; i < shape.rank; i++) {
        t->open = t->open || shape.dim[i] < 0;
        shape.dim[i] = shape.dim[i] < 0 ? 1 : shape.dim[i];
    }
    const int64_t count = mw_shape_count(shape);
    const uint64_t bits = (uint64_t)mw_dtype_bits(value->type->dtype);
    return count < 0 || (bits > 0 && (uint64_t)count > UINT64_MAX / bits) ? UINT64_MAX
                                                                          : ((uint64_t)count * bits + 7) / 8;
}

static void note_value(making *m, const mw_tensor *value, uint64_t *alive)
{
    mw_summary_totals *t = &m->summary->totals;
    const uint64_t bytes = bytes_of(m, value);
    t->largest_bytes = bytes > t->largest_bytes ? bytes : t->largest_bytes;
    *alive = mw__add_saturated(*alive, bytes);
    t->activation_bytes = *alive > t->activation_bytes ? *alive : t->activation_bytes;
}

/* `value` needs no memory any more behind operation until - 1. */
static void end_value(making *m, uint64_t *ends, uint32_t until, const mw_tensor *value)
{
    ends[until] = mw__add_saturated(ends[until], bytes_of(m, value));
}

static mw_status measure_memory(making *m)
{
    const mw__view *v = &m->view;
    uint32_t *last = mw__arena_alloc(&m->scratch, m->view.graph->value_count, sizeof *last, m->err);
    uint64_t *ends = mw__arena_alloc(&m->scratch, (size_t)v->op_count + 2, sizeof *ends, m->err); /* bytes given back */
    uint64_t alive = 0;
    if (last == NULL || ends == NULL)
        return MW_ERROR_MEMORY;
    find_last_uses(m, last);
    for (size_t i = 0; i < m->input_count; i++) {
        note_value(m, m->inputs[i], &alive);
        end_value(m, ends, last[m->inputs[i]->id], m->inputs[i]);
    }
    for (uint32_t i = 0; i < v->op_count; i++) {
        const mw__op *op = v->ops[i].op;
        for (size_t k = 0; k < op->result_count && !v->ops[i].fixed && !v->ops[i].spare && !keeps_memory(v, i); k++) {
            const uint32_t until = last[op->results[k]->id];
            note_value(m, op->results[k], &alive);
            end_value(m, ends, until > i ? until : i + 1, op->results[k]);
        }
        alive = alive == UINT64_MAX || ends[i + 1] > alive ? alive : alive - ends[i + 1];
    }
    return MW_OK;
}

/* ---- all ---- */

static mw_status list_inputs(making *m)
{
    const mw__block *body = m->view.function->body;
    m->inputs = mw__arena_alloc(&m->scratch, body->input_count, sizeof *m->inputs, m->err);
    if (m->inputs == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->input_count; i++)
        if (!mw__is_resident(body->inputs[i]))
            m->inputs[m->input_count++] = body->inputs[i];
    return MW_OK;
}

static uint32_t layer_of(const mw__view *view, uint32_t op)
{
    const uint32_t user = view->ops[op].fixed ? view->ops[op].user : op;
    return user == MW__VIEW_NONE ? MW__VIEW_NONE : view->ops[mw__view_root(view, user)].layer;
}

/* The operations of each layer, in the order of the text; fixed ones stand behind. */
static mw_status list_members(making *m)
{
    mw__view *v = &m->view;
    m->member_begin = mw__arena_alloc(&m->scratch, (size_t)v->layer_count + 2, sizeof *m->member_begin, m->err);
    m->members = mw__arena_alloc(&m->scratch, (size_t)v->op_count + 1, sizeof *m->members, m->err);
    if (m->member_begin == NULL || m->members == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t i = 0; i < v->op_count; i++)
        if (!v->ops[i].fixed)
            m->member_begin[layer_of(v, i) + 2]++;
    for (uint32_t i = 2; i < v->layer_count + 2; i++)
        m->member_begin[i] += m->member_begin[i - 1];
    for (uint32_t i = 0; i < v->op_count; i++)
        if (!v->ops[i].fixed)
            m->members[m->member_begin[layer_of(v, i) + 1]++] = i;
    return MW_OK;
}

static void add_totals(making *m)
{
    mw_summary *s = m->summary;
    mw_summary_totals *t = &s->totals;
    for (uint32_t i = 0; i < m->view.op_count; i++) {
        const uint32_t layer = layer_of(&m->view, i);
        if (m->view.ops[i].fixed && layer != MW__VIEW_NONE && !mw__op_is_const(m->view.ops[i].op))
            s->layers[m->input_count + layer].operation_count++;
        t->operations += count_ops(m->view.ops[i].op);
    }
    for (size_t i = 0; i < s->count; i++) {
        t->flops += s->layers[i].flops > 0.0 ? s->layers[i].flops : 0.0;
        t->unknown_flops += s->layers[i].unknown_flops;
    }
    t->layers = m->view.layer_count;
    t->inputs = m->input_count;
    t->outputs = m->view.function->body->output_count;
}

static mw_status make_layers(making *m)
{
    mw_summary *s = m->summary;
    s->count = m->input_count + m->view.layer_count;
    s->layers = mw__arena_alloc(&s->arena, s->count, sizeof *s->layers, m->err);
    m->seen_layer = mw__arena_alloc(&m->scratch, s->count, sizeof *m->seen_layer, m->err);
    m->seen_input = mw__arena_alloc(&m->scratch, m->view.graph->value_count, sizeof *m->seen_input, m->err);
    m->counted = mw__arena_alloc(&m->scratch, m->view.graph->value_count, sizeof *m->counted, m->err);
    if (s->layers == NULL || m->seen_layer == NULL || m->seen_input == NULL || m->counted == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < m->input_count; i++)
        MW_TRY(make_input(m, m->inputs[i], &s->layers[i]));
    for (uint32_t i = 0; i < m->view.layer_count; i++)
        MW_TRY(make_layer(m, i, &s->layers[m->input_count + i]));
    add_totals(m);
    return measure_memory(m);
}

static mw_status make_summary(making *m, const mw_graph *graph, bool grouped)
{
    MW_TRY(mw__view_make(&m->view, &m->scratch, graph, grouped, m->err));
    m->uses = mw__uses_make(&m->scratch, m->view.function, m->err);
    if (m->uses == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__names_assign(m->view.function, &m->names, m->err));
    MW_TRY(list_inputs(m));
    MW_TRY(list_members(m));
    return make_layers(m);
}

static void free_summary(mw_summary *summary)
{
    mw__arena_deinit(&summary->arena);
    mw__free(summary->allocator, summary);
}

mw_summary *mw__summary_create(const mw_graph *graph, bool grouped, mw_error *err)
{
    mw_error own = {0};
    making m = {.err = err != NULL ? err : &own};
    if (graph == NULL) {
        mw__fail_null(m.err, "summary: the graph is NULL");
        return NULL;
    }
    if (mw_graph_check(graph, m.err) != MW_OK)
        return NULL;
    m.summary = mw__alloc(graph->allocator, 1, sizeof *m.summary, m.err);
    if (m.summary == NULL)
        return NULL;
    m.summary->allocator = graph->allocator;
    mw__arena_init(&m.summary->arena, graph->allocator);
    mw__arena_init(&m.scratch, graph->allocator);
    const mw_status status = make_summary(&m, graph, grouped);
    mw__names_deinit(&m.names);
    mw__arena_deinit(&m.scratch);
    if (status == MW_OK && mw__live_add(m.summary, MW__LIVE_SUMMARY, m.err) == MW_OK)
        return m.summary;
    free_summary(m.summary);
    return NULL;
}

mw_summary *mw_summary_create(const mw_graph *graph, mw_error *err)
{
    MW__FLOAT_SCOPE;
    return mw__skips(err) ? NULL : mw__summary_create(graph, true, err);
}

void mw_summary_destroy(mw_summary *summary)
{
    if (summary != NULL && mw__live_remove(summary, MW__LIVE_SUMMARY, __func__))
        free_summary(summary);
}

static bool is_live(const mw_summary *summary) { return mw__live_has(summary, MW__LIVE_SUMMARY); }

size_t mw_summary_count(const mw_summary *summary) { return is_live(summary) ? summary->count : 0; }

const mw_summary_layer *mw_summary_at(const mw_summary *summary, size_t index)
{
    return is_live(summary) && index < summary->count ? &summary->layers[index] : NULL;
}

mw_summary_totals mw_summary_get_totals(const mw_summary *summary)
{
    return is_live(summary) ? summary->totals : (mw_summary_totals){0};
}
