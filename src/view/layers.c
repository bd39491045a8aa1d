/* Reads a function for its layers: operands and users of each operation, and which are known without running. */
#include "view/layers.h"

#include "base/text/error.h"
#include "base/text/string.h"
#include "graph/ir/ir.h"

#include <string.h>

/* ---- walking operands ---- */

typedef struct walk {
    mw__view *view;
    uint32_t op;
    bool counts; /* or writes */
    size_t total;
} walk;

static void visit_operands(walk *w, const mw__operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const mw_tensor *value = operands[i].value;
        if (value == NULL) {
            visit_operands(w, operands[i].members, operands[i].member_count);
        } else if (w->counts || w->view->producer[value->id] != w->op) {
            if (!w->counts)
                w->view->reads[w->total] = value;
            w->total++;
        }
    }
}

static void visit_block(walk *w, const mw__block *block);

static void visit_op(walk *w, const mw__op *op)
{
    for (size_t s = 0; s < op->slot_count; s++)
        if (op->slots[s].operands != NULL)
            visit_operands(w, op->slots[s].operands, op->slots[s].count);
    for (size_t b = 0; b < op->block_count; b++)
        visit_block(w, op->blocks[b]);
}

static void visit_block(walk *w, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++)
        visit_op(w, block->ops[i]);
}

/* ---- producers ---- */

static void claim_block(mw__view *view, uint32_t op, const mw__block *block);

static void claim(mw__view *view, uint32_t index, const mw__op *op)
{
    for (size_t k = 0; k < op->result_count; k++)
        view->producer[op->results[k]->id] = index;
    for (size_t b = 0; b < op->block_count; b++)
        claim_block(view, index, op->blocks[b]);
}

static void claim_block(mw__view *view, uint32_t index, const mw__block *block)
{
    for (size_t i = 0; i < block->input_count; i++)
        view->producer[block->inputs[i]->id] = index;
    for (size_t i = 0; i < block->op_count; i++)
        claim(view, index, block->ops[i]);
}

/* ---- users ---- */

static mw_status index_uses(mw__view *view, mw_error *err)
{
    const size_t values = view->graph->value_count;
    view->first_use = mw__arena_alloc(view->arena, values + 2, sizeof *view->first_use, err);
    view->use_op = mw__arena_alloc(view->arena, view->read_count + 1, sizeof *view->use_op, err);
    if (view->first_use == NULL || view->use_op == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < view->read_count; i++)
        view->first_use[view->reads[i]->id + 2]++;
    for (size_t i = 2; i < values + 2; i++)
        view->first_use[i] += view->first_use[i - 1];
    for (uint32_t i = 0; i < view->op_count; i++)
        for (uint32_t k = 0; k < view->ops[i].read_count; k++)
            view->use_op[view->first_use[view->reads[view->ops[i].first_read + k]->id + 1]++] = i;
    return MW_OK;
}

/* ---- what is known without running ---- */

static bool is_fixed_op(const mw__view *view, const mw__view_op *o)
{
    if (o->op->block_count > 0 || o->op->row == NULL || mw__op_has(o->op, MW__TRAIT_RANDOM))
        return false;
    if (o->op->row->id == MW__OP_shape)
        return true;
    for (uint32_t k = 0; k < o->read_count; k++)
        if (!mw__view_is_fixed(view, view->reads[o->first_read + k]))
            return false;
    return true;
}

static void find_fixed(mw__view *view)
{
    for (uint32_t i = 0; i < view->op_count; i++) {
        mw__view_op *o = &view->ops[i];
        o->fixed = is_fixed_op(view, o);
        for (size_t k = 0; k < o->op->result_count; k++)
            if (o->op->results[k]->is_output && o->op->results[k]->payload == NULL)
                o->fixed = false;
    }
}

/* ---- reading ---- */

static mw_status allocate(mw__view *view, mw_error *err)
{
    const mw__block *body = view->function->body;
    view->op_count = (uint32_t)body->op_count;
    view->ops = mw__arena_alloc(view->arena, body->op_count, sizeof *view->ops, err);
    view->marks = mw__arena_alloc(view->arena, body->op_count, sizeof *view->marks, err);
    view->order = mw__arena_alloc(view->arena, body->op_count, sizeof *view->order, err);
    view->producer = mw__arena_alloc(view->arena, view->graph->value_count, sizeof *view->producer, err);
    if (view->ops == NULL || view->marks == NULL || view->order == NULL || view->producer == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < view->graph->value_count; i++)
        view->producer[i] = MW__VIEW_NONE;
    for (uint32_t i = 0; i < view->op_count; i++) {
        view->ops[i] = (mw__view_op){.op = body->ops[i], .group = i, .size = 1, .first = i, .user = MW__VIEW_NONE};
        claim(view, i, body->ops[i]);
    }
    return MW_OK;
}

static mw_status read_operands(mw__view *view, mw_error *err)
{
    walk w = {.view = view, .counts = true};
    visit_block(&w, view->function->body);
    if (w.total >= MW__VIEW_NONE)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "summary: the program has %zu operands, more than can be listed",
                        w.total);
    view->reads = mw__arena_alloc(view->arena, w.total + 1, sizeof *view->reads, err);
    if (view->reads == NULL)
        return MW_ERROR_MEMORY;
    w = (walk){.view = view};
    for (uint32_t i = 0; i < view->op_count; i++) {
        w.op = i;
        view->ops[i].first_read = (uint32_t)w.total;
        visit_op(&w, view->ops[i].op);
        view->ops[i].read_count = (uint32_t)w.total - view->ops[i].first_read;
    }
    view->read_count = w.total;
    return MW_OK;
}

mw_status mw__view_make(mw__view *view, mw__arena *arena, const mw_graph *graph, bool grouped, mw_error *err)
{
    *view = (mw__view){.arena = arena, .graph = graph};
    view->function = mw__function_choose(graph, NULL, err);
    if (view->function == NULL)
        return err != NULL ? err->status : MW_ERROR_ARGUMENT;
    if (graph->value_count >= MW__VIEW_NONE - 2 || view->function->body->op_count >= MW__VIEW_NONE)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "summary: the program has %zu values, more than can be listed",
                        graph->value_count);
    MW_TRY(allocate(view, err));
    MW_TRY(read_operands(view, err));
    MW_TRY(index_uses(view, err));
    find_fixed(view);
    MW_TRY(mw__view_find_prefixes(view, err));
    if (grouped)
        MW_TRY(mw__view_group(view, err));
    return mw__view_order(view, err);
}

/* ---- asking ---- */

uint32_t mw__view_root(const mw__view *view, uint32_t op)
{
    while (view->ops[op].group != op)
        op = view->ops[op].group;
    return op;
}

bool mw__view_is_fixed(const mw__view *view, const mw_tensor *value)
{
    if (value->payload != NULL || mw__is_resident(value))
        return true;
    const uint32_t maker = view->producer[value->id];
    return maker != MW__VIEW_NONE && view->ops[maker].fixed;
}

uint32_t mw__view_maker(const mw__view *view, const mw_tensor *value)
{
    const uint32_t maker = value->payload != NULL ? MW__VIEW_NONE : view->producer[value->id];
    return maker != MW__VIEW_NONE && !view->ops[maker].fixed ? maker : MW__VIEW_NONE;
}

bool mw__view_is(const mw__view *view, uint32_t op, const char *kind)
{
    return op != MW__VIEW_NONE && strcmp(view->ops[op].op->kind, kind) == 0;
}

bool mw__view_has(const mw__view *view, uint32_t op, unsigned traits)
{
    return op != MW__VIEW_NONE && mw__op_has(view->ops[op].op, traits);
}

bool mw__view_is_one_of(const mw__view *view, uint32_t op, const char *const *kinds)
{
    for (; *kinds != NULL; kinds++)
        if (mw__view_is(view, op, *kinds))
            return true;
    return false;
}

bool mw__view_has_one_user(const mw__view *view, uint32_t op, uint32_t *out_user)
{
    uint32_t user = MW__VIEW_NONE;
    const mw__op *o = view->ops[op].op;
    for (size_t k = 0; k < o->result_count; k++) {
        const mw_tensor *value = o->results[k];
        if (value->is_output)
            return false;
        for (uint32_t u = view->first_use[value->id]; u < view->first_use[value->id + 1]; u++) {
            if (user != MW__VIEW_NONE && user != view->use_op[u])
                return false;
            user = view->use_op[u];
        }
    }
    if (out_user != NULL)
        *out_user = user;
    return user != MW__VIEW_NONE;
}

uint32_t mw__view_users(const mw__view *view, uint32_t op)
{
    uint32_t root = MW__VIEW_NONE;
    const mw__op *o = view->ops[op].op;
    for (size_t k = 0; k < o->result_count; k++) {
        const uint32_t id = o->results[k]->id;
        for (uint32_t u = view->first_use[id]; u < view->first_use[id + 1]; u++) {
            if (view->ops[view->use_op[u]].op->forward != NULL) /* gradients read along */
                continue;
            const uint32_t own = mw__view_root(view, view->use_op[u]);
            if (o->results[k]->is_output || (root != MW__VIEW_NONE && own != root))
                return MW__VIEW_NONE;
            root = own;
        }
    }
    return root;
}

const mw_tensor *mw__view_only_operand(const mw__view *view, uint32_t op)
{
    const mw_tensor *found = NULL;
    for (uint32_t k = 0; k < view->ops[op].read_count; k++) {
        const mw_tensor *value = view->reads[view->ops[op].first_read + k];
        if (mw__view_is_fixed(view, value) || value == found)
            continue;
        if (found != NULL)
            return NULL;
        found = value;
    }
    return found;
}

bool mw__view_is_light(const mw__view *view, uint32_t op)
{
    return view->ops[op].op->block_count == 0 &&
           (mw__view_has(view, op, MW__TRAIT_ELEMENTWISE) || mw__view_has(view, op, MW__TRAIT_MOVES) ||
            mw__view_has(view, op, MW__TRAIT_LIGHT));
}

bool mw__view_is_heavy(const mw__view *view, uint32_t op)
{
    return mw__view_has(view, op, MW__TRAIT_PRODUCTS) || (view->ops[op].weighted && mw__view_is(view, op, "gather"));
}

/* ---- joining ---- */

void mw__view_join(mw__view *view, uint32_t a, uint32_t b)
{
    const uint32_t x = mw__view_root(view, a), y = mw__view_root(view, b);
    if (x == y)
        return;
    const bool first = view->ops[x].size >= view->ops[y].size; /* the larger leads: chains stay short */
    const uint32_t root = first ? x : y, other = first ? y : x;
    view->ops[other].group = root;
    view->ops[root].size += view->ops[other].size;
    if (view->ops[other].first < view->ops[root].first)
        view->ops[root].first = view->ops[other].first;
    view->ops[root].recurrent = view->ops[root].recurrent || view->ops[other].recurrent;
    if (view->ops[root].label == NULL)
        view->ops[root].label = view->ops[other].label;
}

void mw__view_label(mw__view *view, uint32_t op, const char *label)
{
    view->ops[mw__view_root(view, op)].label = label;
}
