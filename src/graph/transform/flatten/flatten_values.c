/* What stands for values while a program is flattened: tensors, lists and states; those from outside of a block that is
 * computed whether it is taken or not; choosing between two. */
#include "graph/transform/flatten/flatten_parts.h"

#include "base/memory/checked.h"
#include "graph/ir/copy.h"
#include "graph/random/generator.h"
#include <millwright/ops/compare.h>
#include <millwright/ops/shape.h>
#include <stdio.h>
#include <string.h>

mw_tensor *mw__flatten_value(mw__clone *clone, const mw_tensor *value)
{
    if (value == NULL)
        return NULL;
    mw_tensor *copy = mw__clone_get(clone, value);
    if (copy != NULL || value->payload == NULL)
        return copy;
    mw_graph *to = clone->to;
    const mw__payload *payload = mw__payload_copy(to, value->payload, &to->error);
    return payload != NULL ? mw__payload_emit(to, payload, value->hint, &to->error) : NULL;
}

/* ---- values and lists ---- */

mw__flat_value mw__flatten_get(const mw__flatten *state, mw__clone *clone, const mw_tensor *source)
{
    if (source->type->kind == MW__LIST)
        return (mw__flat_value){.list = mw__flatten_list(state, source)};
    return (mw__flat_value){.value = mw__flatten_value(clone, source)};
}

void mw__flatten_put(mw__flatten *state, mw__clone *clone, const mw_tensor *source, mw__flat_value value)
{
    mw__clone_set(clone, source, value.value);
    if (value.list != NULL)
        mw__flatten_set_list(state, clone, source, value.list);
}

mw__flat_value mw__flatten_choose(mw__flatten *state, mw__clone *clone, const mw__op *op, mw_tensor *pred,
                                  mw__flat_value a, mw__flat_value b)
{
    if (a.list != NULL || b.list != NULL)
        return (mw__flat_value){.list = mw__flatten_choose_list(state, clone, op, pred, a.list, b.list)};
    if (a.value == b.value && a.value != NULL)
        return a;
    if (a.value == NULL || b.value == NULL || a.value->type->kind != MW__TENSOR ||
        !mw__type_equal(a.value->type, b.value->type)) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED,
                         "its branches give values of different types; a select needs one tensor type");
        return (mw__flat_value){0};
    }
    return (mw__flat_value){.value = mw_select(pred, a.value, b.value)};
}

/* ---- guards ---- */

mw_tensor *mw__flatten_guard(mw_tensor *pred, mw_tensor *x)
{
    const mw_dtype dtype = mw_tensor_dtype(x);
    if (x == NULL || x->payload != NULL || (dtype != MW_F32 && dtype != MW_F16))
        return x;
    return mw_select(pred, x, mw__scalar(x->graph, dtype, 1.0, "safe"));
}

mw__flat_value mw__flatten_guarded(mw__flatten *state, mw__clone *clone, const mw__op *op, mw_tensor *pred,
                                   mw__flat_value value)
{
    if (value.list != NULL)
        return (mw__flat_value){.list = mw__flatten_guard_list(state, clone, op, pred, value.list)};
    return (mw__flat_value){.value = mw__flatten_guard(pred, value.value)};
}

enum { INSIDE = 1, GUARDED = 2 };

static void mark_inside(unsigned char *marks, const mw__block *block)
{
    for (size_t i = 0; i < block->input_count; i++)
        marks[block->inputs[i]->id] = INSIDE;
    for (size_t i = 0; i < block->op_count; i++) {
        for (size_t r = 0; r < block->ops[i]->result_count; r++)
            marks[block->ops[i]->results[r]->id] = INSIDE;
        for (size_t b = 0; b < block->ops[i]->block_count; b++)
            mark_inside(marks, block->ops[i]->blocks[b]);
    }
}

typedef struct guarding {
    mw__flat_guards *guards;
    mw__flatten *state;
    mw__clone *clone;
    mw_tensor *pred;
    const mw__op *op;
} guarding;

static bool guard_value(const guarding *g, const mw_tensor *source)
{
    mw__flat_guards *guards = g->guards;
    mw_graph *to = g->clone->to;
    if (source == NULL || source->payload != NULL || guards->marks[source->id] != 0)
        return true;
    guards->marks[source->id] = GUARDED;
    const mw__flat_value before = mw__flatten_get(g->state, g->clone, source);
    if (before.value == NULL && before.list == NULL)
        return true; /* what is not there is found missing where it is used */
    const mw__flat_value after = mw__flatten_guarded(g->state, g->clone, g->op, g->pred, before);
    if (to->error.status != MW_OK)
        return false;
    if (after.value == before.value && after.list == before.list)
        return true;
    if (mw__grow(to->allocator, &guards->saved, &guards->capacity, guards->count + 1, sizeof *guards->saved,
                 &to->error) != MW_OK)
        return false;
    guards->saved[guards->count++] = (mw__flat_guard){.source = source, .before = before, .after = after};
    mw__flatten_put(g->state, g->clone, source, after);
    return true;
}

static bool guard_operands(const guarding *g, const mw__operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operands[i].value != NULL ? !guard_value(g, operands[i].value)
                                      : !guard_operands(g, operands[i].members, operands[i].member_count))
            return false;
    return true;
}

static bool guard_block(guarding *g, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        g->op = op;
        for (size_t s = 0; s < op->slot_count; s++)
            if (op->slots[s].operands != NULL && !guard_operands(g, op->slots[s].operands, op->slots[s].count))
                return false;
        for (size_t b = 0; b < op->block_count; b++)
            if (!guard_block(g, op->blocks[b]))
                return false;
    }
    for (size_t i = 0; i < block->output_count && block->owner != NULL; i++) {
        g->op = block->owner;
        if (!guard_value(g, block->outputs[i]))
            return false;
    }
    return true;
}

static bool is_assigned_inside(const mw__flat_guards *guards, const mw_tensor *state)
{
    return state->next != NULL && guards->marks[state->next->id] == INSIDE && !mw__is_generator(state);
}

static bool save_assigned(mw__flat_guards *guards, const mw__clone *clone)
{
    const mw__block *body = clone->from->body;
    guards->assigned = mw__alloc(clone->to->allocator, body->input_count + 1, sizeof(mw_tensor *), &clone->to->error);
    for (size_t i = 0; guards->assigned != NULL && i < body->input_count; i++)
        if (is_assigned_inside(guards, body->inputs[i]))
            guards->assigned[i] = mw__clone_get(clone, body->inputs[i]->next);
    return guards->assigned != NULL;
}

/* After the guards, so that a state is itself again. */
static void choose_assigned(const mw__flat_guards *guards, mw__clone *clone)
{
    const mw__block *body = clone->from->body;
    for (size_t i = 0; guards->assigned != NULL && i < body->input_count; i++) {
        const mw_tensor *state = body->inputs[i];
        mw_tensor *next = is_assigned_inside(guards, state) ? mw__clone_get(clone, state->next) : NULL;
        mw_tensor *before = guards->assigned[i] != NULL ? guards->assigned[i] : mw__clone_get(clone, state);
        if (next != NULL && next != before && before != NULL)
            mw__clone_set(clone, state->next, mw_select(guards->pred, next, before));
    }
}

bool mw__flatten_begin_guards(mw__flat_guards *guards, mw__flatten *state, mw__clone *clone, const mw__block *block,
                              mw_tensor *pred)
{
    guarding g = {.guards = guards, .state = state, .clone = clone, .pred = pred};
    guards->marks = mw__alloc(clone->to->allocator, clone->from->graph->value_count, 1, &clone->to->error);
    if (guards->marks == NULL || pred == NULL)
        return false;
    guards->pred = pred;
    mark_inside(guards->marks, block);
    return save_assigned(guards, clone) && guard_block(&g, block);
}

/* A state that was written meanwhile stays written. */
void mw__flatten_end_guards(mw__flat_guards *guards, mw__flatten *state, mw__clone *clone)
{
    for (size_t i = 0; i < guards->count; i++) {
        const mw__flat_guard *guard = &guards->saved[i];
        const mw__flat_value now = mw__flatten_get(state, clone, guard->source);
        if (now.value == guard->after.value && now.list == guard->after.list)
            mw__flatten_put(state, clone, guard->source, guard->before);
    }
    choose_assigned(guards, clone);
    mw__free(clone->to->allocator, guards->assigned);
    mw__free(clone->to->allocator, guards->saved);
    mw__free(clone->to->allocator, guards->marks);
    *guards = (mw__flat_guards){0};
}

/* ---- states ---- */

static bool is_state(const mw_tensor *value) { return value != NULL && value->type->kind == MW__STATE; }

static bool add_state(mw__flat_states *out, mw__clone *clone, const mw__op *op, const mw_tensor *state)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->of[i] == state)
            return true;
    if (out->count == MW__FLAT_STATES) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "writes more than 64 states");
        return false;
    }
    out->of[out->count++] = state;
    return true;
}

bool mw__flatten_find_states(mw__flat_states *out, const mw__flatten *state, mw__clone *clone, const mw__op *op)
{
    if (!state->values)
        return true;
    const mw_tensor *written = op->row != NULL && op->row->id == MW__OP_write_state ? mw__arg(op, "input") : NULL;
    if (is_state(written) && !add_state(out, clone, op, written))
        return false;
    for (size_t b = 0; b < op->block_count; b++)
        for (size_t i = 0; i < op->blocks[b]->op_count; i++)
            if (!mw__flatten_find_states(out, state, clone, op->blocks[b]->ops[i]))
                return false;
    return true;
}

bool mw__flatten_input(void *user, mw__clone *clone, const mw_tensor *value)
{
    mw__flatten *state = user;
    mw_graph *to = clone->to;
    if (!is_state(value))
        return false;
    const mw__type *type = value->type->count == 1 ? value->type->element[0] : NULL;
    state->values = true;
    if (type == NULL || type->kind != MW__TENSOR)
        mw__graph_fail(to, MW_ERROR_UNSUPPORTED, "state \"%s\" does not hold a tensor", value->name);
    else
        mw__clone_set(clone, value, mw_state(to, value->name, type->dtype, type->shape, mw_init_zeros()));
    return true;
}

static bool uses_state(const mw__op *op)
{
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; op->slots[s].operands != NULL && i < op->slots[s].count; i++)
            if (is_state(op->slots[s].operands[i].value))
                return true;
    return false;
}

bool mw__flatten_state_op(mw__flatten *state, mw__clone *clone, const mw__op *op)
{
    if (!state->values || !uses_state(op))
        return false;
    if (op->row == NULL || (op->row->id != MW__OP_read_state && op->row->id != MW__OP_write_state)) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "takes a state, but is neither read_state nor write_state");
        return true;
    }
    if (mw__op_verify(op, &clone->to->error) != MW_OK)
        return true;
    const mw_tensor *source = mw__arg(op, "input");
    if (op->row->id == MW__OP_read_state) {
        mw__clone_set(clone, op->results[0], mw_identity(mw__clone_get(clone, source)));
        return true;
    }
    mw__clone_set(clone, source, mw__flatten_value(clone, mw__arg(op, "data")));
    return true;
}

void mw__flatten_finish(void *user, mw__clone *clone)
{
    const mw__flatten *state = user;
    const mw__block *body = clone->from->body;
    for (size_t i = 0; i < body->input_count && state->values; i++) {
        const mw_tensor *source = body->inputs[i];
        mw_tensor *last = is_state(source) ? mw__clone_get(clone, source) : NULL;
        mw_tensor *input = last != NULL ? mw_graph_find(clone->to, source->name) : NULL;
        if (input != NULL && input != last && input->role == MW__RESIDENT)
            input->next = last;
    }
}

/* ---- states that stay states ---- */

static mw_tensor *read_start(mw_graph *to, mw_tensor *state)
{
    char name[MW_NAME_MAX + 8];
    mw__build build = mw__build_begin_graph("read_state", to);
    mw__build_set(&build, "input", state);
    mw_tensor *start = mw_identity(mw__build_end(&build)); /* which mw_grad may take for a variable */
    snprintf(name, sizeof name, "%s_start", state->name != NULL ? state->name : "");
    if (start != NULL && state->name != NULL && strlen(name) <= MW_NAME_MAX && mw_graph_find(to, name) == NULL)
        mw_name(start, name);
    return start;
}

bool mw__flatten_keep_state(void *user, mw__clone *clone, const mw_tensor *value)
{
    mw__flatten *state = user;
    mw_graph *to = clone->to;
    if (!is_state(value))
        return false;
    state->values = true;
    mw_tensor *copy = mw__clone_input_copy(clone, value);
    if (copy != NULL)
        mw__clone_set(clone, value, read_start(to, copy));
    return true;
}

/* True for what read_start made of the state. */
static bool is_start(const mw_tensor *value, const mw_tensor *state)
{
    const mw__op *same = value->op, *read = NULL;
    if (same != NULL && same->row != NULL && same->row->id == MW__OP_identity)
        read = mw__arg(same, "x")->op;
    return read != NULL && read->row != NULL && read->row->id == MW__OP_read_state && mw__arg(read, "input") == state;
}

static void write_last(mw__clone *clone, mw_tensor *state, mw_tensor *last)
{
    if (is_start(last, state))
        return;
    mw__build build = mw__build_begin_graph("write_state", clone->to);
    mw__build_set(&build, "input", state);
    mw__build_set(&build, "data", last);
    mw__build_end_many(&build, NULL, 0, NULL);
}

void mw__flatten_finish_kept(void *user, mw__clone *clone)
{
    const mw__flatten *state = user;
    const mw__block *body = clone->from->body, *into = clone->to->current->body;
    for (size_t i = 0, k = 0; i < body->input_count && state->values; i++) {
        if (!is_state(body->inputs[i]))
            continue;
        while (k < into->input_count && !is_state(into->inputs[k]))
            k++;
        mw_tensor *last = mw__clone_get(clone, body->inputs[i]);
        if (k < into->input_count && last != NULL && clone->to->error.status == MW_OK)
            write_last(clone, into->inputs[k], last);
        k++;
    }
}
