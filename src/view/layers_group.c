/* Joins operations to layers: those that share the names of their weights, those that a record calls one, then what
 * belongs to a neighbor. */
#include "view/layers.h"

#include <string.h>

/* How far apart the operations of one layer may stand. */
enum { WINDOW_MAX = 4096, CONE_MAX = 512, CHAIN_MAX = 4 };

/* ---- between two operations ---- */

static bool reads_marked(const mw__view *view, uint32_t op, uint32_t mark, uint32_t from)
{
    for (uint32_t k = 0; k < view->ops[op].read_count; k++) {
        const uint32_t maker = mw__view_maker(view, view->reads[view->ops[op].first_read + k]);
        if (maker != MW__VIEW_NONE && maker >= from && view->marks[maker] == mark)
            return true;
    }
    return false;
}

/* Marks what `op` needs of [from, op). */
static void mark_needed(mw__view *view, uint32_t op, uint32_t from, uint32_t mark)
{
    view->marks[op] = mark;
    for (uint32_t i = op + 1; i-- > from;) {
        if (view->marks[i] != mark)
            continue;
        for (uint32_t k = 0; k < view->ops[i].read_count; k++) {
            const uint32_t maker = mw__view_maker(view, view->reads[view->ops[i].first_read + k]);
            if (maker != MW__VIEW_NONE && maker >= from)
                view->marks[maker] = mark;
        }
    }
}

static bool is_foreign(const mw__view *view, uint32_t op, const char *prefix)
{
    const mw__view_op *o = &view->ops[op];
    return o->prefix != prefix && (o->prefix != NULL || !mw__view_is_light(view, op) || mw__view_is_heavy(view, op));
}

/* A layer that is applied again is another line, but for the steps of a recurrent one. */
static bool is_second_use(const mw__view *view, uint32_t root, uint32_t op)
{
    return mw__view_is_heavy(view, op) && !view->ops[root].recurrent && view->ops[root].weight == view->ops[op].weight;
}

/* Joins `op` to the group of `before`, an earlier operation with the same weights, with all that stands between; not if
 * other layers do. */
static void join_over(mw__view *view, uint32_t before, uint32_t op)
{
    const uint32_t root = mw__view_root(view, before);
    const uint32_t first = view->ops[root].first, from = op - first > WINDOW_MAX ? op - WINDOW_MAX : first;
    const uint32_t needed = ++view->mark, reached = ++view->mark;
    if (op - before > WINDOW_MAX || is_second_use(view, root, op))
        return;
    mark_needed(view, op, from, needed);
    uint32_t between[CONE_MAX], count = 0;
    for (uint32_t i = from; i < op; i++) {
        const bool inside = mw__view_root(view, i) == root;
        if (view->ops[i].fixed || (!inside && (view->marks[i] != needed || !reads_marked(view, i, reached, from))))
            continue;
        if (!inside && (is_foreign(view, i, view->ops[op].prefix) || count == CONE_MAX))
            return;
        view->marks[i] = reached;
        if (!inside)
            between[count++] = i;
    }
    const mw_tensor *weight = view->ops[root].weight;
    mw__view_join(view, before, op);
    for (uint32_t i = 0; i < count; i++)
        mw__view_join(view, between[i], op);
    view->ops[mw__view_root(view, op)].weight = weight;
}

static mw_status join_by_names(mw__view *view, mw_error *err)
{
    mw__map last; /* prefix -> the operation that had it last */
    mw__map_init(&last, view->graph->allocator);
    mw_status status = MW_OK;
    for (uint32_t i = 0; i < view->op_count && status == MW_OK; i++) {
        mw__view_op *o = &view->ops[i];
        if (o->fixed || o->prefix == NULL)
            continue;
        const mw__view_op *before = mw__map_get(&last, o->prefix);
        if (before != NULL)
            join_over(view, (uint32_t)(before - view->ops), i);
        status = mw__map_set(&last, o->prefix, o, err);
    }
    mw__map_deinit(&last);
    return status;
}

/* ---- records ---- */

typedef struct cone {
    mw__view *view;
    const mw_tensor *stops[16];
    size_t stop_count;
    uint32_t ops[CONE_MAX], count, limit;
    bool outside; /* it came to an end that is no stop */
    bool foreign; /* it has a layer of its own in it */
    const char *prefix;
} cone;

static bool is_stop(const cone *c, const mw_tensor *value)
{
    for (size_t i = 0; i < c->stop_count; i++)
        if (c->stops[i] == value)
            return true;
    return false;
}

static void enter_cone(cone *c, const mw_tensor *value)
{
    mw__view *view = c->view;
    if (mw__view_is_fixed(view, value) || is_stop(c, value))
        return;
    const uint32_t maker = mw__view_maker(view, value);
    if (maker == MW__VIEW_NONE) {
        c->outside = true;
    } else if (view->marks[maker] != view->mark) {
        view->marks[maker] = view->mark;
        c->foreign = c->foreign || is_foreign(view, maker, c->prefix);
        if (c->count == c->limit)
            c->outside = true;
        else
            c->ops[c->count++] = maker;
    }
}

/* All that `value` is made of behind the stops. */
static void walk_cone(cone *c, const mw_tensor *value)
{
    c->view->mark++;
    c->count = 0;
    c->outside = c->foreign = false;
    enter_cone(c, value);
    for (uint32_t i = 0; i < c->count && !c->outside; i++) {
        const mw__view_op *o = &c->view->ops[c->ops[i]];
        for (uint32_t k = 0; k < o->read_count; k++)
            enter_cone(c, c->view->reads[o->first_read + k]);
    }
}

/* An input of a record that is computed from another one is inside. */
static bool is_inner(cone *c, const mw__composite *record, size_t input)
{
    c->stop_count = 0;
    for (size_t i = 0; i < record->input_count && c->stop_count < 16; i++)
        if (record->inputs[i] != record->inputs[input])
            c->stops[c->stop_count++] = record->inputs[i];
    c->limit = 64;
    walk_cone(c, record->inputs[input]);
    return !c->outside && !c->foreign;
}

static const char *prefix_of_record(const mw__view *view, const mw_tensor *value)
{
    const uint32_t maker = mw__view_maker(view, value);
    return maker != MW__VIEW_NONE ? view->ops[maker].prefix : NULL;
}

static void join_record(mw__view *view, uint32_t op, const mw_tensor *value)
{
    static const char *const passed[] = {"recompute"};
    const mw__composite *record = value->composite;
    cone c = {.view = view, .prefix = prefix_of_record(view, value)};
    const mw_tensor *stops[16];
    size_t count = 0;
    if (strcmp(record->name, passed[0]) == 0 || record->input_count > 16)
        return;
    for (size_t i = 0; i < record->input_count; i++)
        if (!is_inner(&c, record, i))
            stops[count++] = record->inputs[i];
    memcpy(c.stops, stops, count * sizeof *stops);
    c.stop_count = count;
    c.limit = CONE_MAX;
    walk_cone(&c, value);
    if (c.outside || c.foreign)
        return;
    for (uint32_t i = 0; i < c.count; i++)
        mw__view_join(view, c.ops[i], op);
    mw__view_label(view, op, record->name);
}

/* A record that does not say what it is made of: what nothing else uses, up to the curve of a layer before it. */
static void join_open_record(mw__view *view, uint32_t op, const char *name)
{
    for (uint32_t i = op; i-- > 0 && op - i < CHAIN_MAX * 16;) {
        if (view->ops[i].fixed || view->ops[i].prefix != NULL || !mw__view_is_light(view, i) ||
            MW__VIEW_IS_ONE_OF(view, i, "relu", "sigmoid", "tanh", "softmax", "gelu", "silu", "elu", "softplus") ||
            mw__view_users(view, i) != mw__view_root(view, op))
            continue;
        mw__view_join(view, i, op);
    }
    mw__view_label(view, op, name);
}

/* What only the form for evaluation needs does not run when the model is trained: it belongs to the layer, `op`. */
static void join_evaluation(mw__view *view, const mw_tensor *value, uint32_t op)
{
    const uint32_t maker = mw__view_maker(view, value), mark = ++view->mark;
    if (maker == MW__VIEW_NONE || maker >= op || value->is_output ||
        view->first_use[value->id] != view->first_use[value->id + 1])
        return;
    view->marks[maker] = mark;
    for (uint32_t i = maker + 1; i-- > 0 && maker - i < CONE_MAX;) {
        uint32_t user;
        if (view->ops[i].fixed ||
            (view->marks[i] != mark && !(mw__view_has_one_user(view, i, &user) && view->marks[user] == mark)))
            continue;
        view->marks[i] = mark;
        view->ops[i].spare = true;
        mw__view_join(view, i, op);
    }
}

static void join_records(mw__view *view)
{
    for (uint32_t i = 0; i < view->op_count; i++) {
        const mw__op *op = view->ops[i].op;
        for (size_t k = 0; k < op->result_count && !view->ops[i].fixed; k++) {
            const mw__composite *record = op->results[k]->composite;
            if (record == NULL || op->forward != NULL)
                continue;
            if (record->input_count > 0)
                join_record(view, i, op->results[k]);
            else if (record->examples != NULL)
                join_open_record(view, i, record->name);
            if (record->evaluation != NULL)
                join_evaluation(view, record->evaluation, i);
        }
    }
}

/* ---- loops ---- */

/* What a layer makes and reads again by way of an operation that is no part of it: then that is. */
static void join_loop(mw__view *view, uint32_t op)
{
    const mw_tensor *x = mw__view_only_operand(view, op);
    const uint32_t maker = x != NULL ? mw__view_maker(view, x) : MW__VIEW_NONE;
    uint32_t path[CHAIN_MAX], count = 0, at = op;
    if (maker == MW__VIEW_NONE)
        return;
    const uint32_t root = mw__view_root(view, maker);
    while (at != MW__VIEW_NONE && mw__view_root(view, at) != root) {
        if (count == CHAIN_MAX || !mw__view_is_light(view, at) || is_foreign(view, at, view->ops[at].prefix))
            return;
        path[count++] = at;
        if (!mw__view_has_one_user(view, at, &at))
            return;
    }
    for (uint32_t i = 0; i < count; i++)
        mw__view_join(view, path[i], root);
}

static void join_loops(mw__view *view)
{
    for (uint32_t i = 0; i < view->op_count; i++)
        if (!view->ops[i].fixed && view->ops[i].op->forward == NULL && view->ops[mw__view_root(view, i)].size == 1)
            join_loop(view, i);
}

/* ---- the last step of a recurrent layer ---- */

/* The one group in which all ways back from `op` end, with what is on them in c->ops; NONE if there are several. */
static uint32_t source_of(cone *c, uint32_t op)
{
    const mw__view *view = c->view;
    uint32_t source = MW__VIEW_NONE;
    c->ops[0] = op;
    c->count = 1;
    for (uint32_t i = 0; i < c->count; i++) {
        const mw__view_op *o = &view->ops[c->ops[i]];
        for (uint32_t k = 0; k < o->read_count; k++) {
            const mw_tensor *value = view->reads[o->first_read + k];
            const uint32_t maker = mw__view_maker(view, value);
            if (mw__view_is_fixed(view, value))
                continue;
            if (maker == MW__VIEW_NONE || c->count == c->limit)
                return MW__VIEW_NONE;
            const uint32_t root = mw__view_root(view, maker);
            if (view->ops[root].recurrent && (source == MW__VIEW_NONE || source == root))
                source = root;
            else if (view->ops[root].recurrent || is_foreign(view, maker, NULL) || !mw__view_is_light(view, maker))
                return MW__VIEW_NONE;
            else
                c->ops[c->count++] = maker;
        }
    }
    return source;
}

/* What comes behind the last use of its weights, up to the outputs of all steps side by side. */
static void join_last_steps(mw__view *view)
{
    cone c = {.view = view, .limit = 64};
    for (uint32_t i = 0; i < view->op_count; i++) {
        const mw__view_op *o = &view->ops[i];
        if (o->fixed || o->op->forward != NULL || o->prefix != NULL || mw__view_only_operand(view, i) != NULL ||
            !mw__view_is_light(view, i) || view->ops[mw__view_root(view, i)].recurrent)
            continue;
        const uint32_t source = source_of(&c, i);
        for (uint32_t k = 0; source != MW__VIEW_NONE && k < c.count; k++)
            mw__view_join(view, source, c.ops[k]);
    }
}

/* ---- gradients ---- */

/* What mw_grad added for the operations of one layer is one. */
static mw_status join_gradients(mw__view *view, mw_error *err)
{
    uint32_t *last = mw__arena_alloc(view->arena, view->op_count, sizeof *last, err); /* by root of the layer */
    if (last == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t i = 0; i < view->op_count; i++) {
        const mw__op *forward = view->ops[i].op->forward;
        if (view->ops[i].fixed || forward == NULL || forward->result_count == 0)
            continue;
        const uint32_t of = mw__view_maker(view, forward->results[0]);
        if (of == MW__VIEW_NONE || of >= i)
            continue;
        const uint32_t root = mw__view_root(view, of);
        if (last[root] > 0)
            mw__view_join(view, last[root], i);
        last[root] = i;
    }
    return MW_OK;
}

mw_status mw__view_group(mw__view *view, mw_error *err)
{
    MW_TRY(join_by_names(view, err));
    join_records(view);
    join_loops(view);
    join_last_steps(view);
    mw__view_find_patterns(view);
    mw__view_join_neighbors(view);
    return join_gradients(view, err);
}
