/* The clone that leaves tensors only (lower.h). Which lists share a capacity is lower_capacity.c. */
#include "graph/transform/lower.h"

#include "graph/constants/compressed.h"
#include "graph/ir/classify.h"
#include "graph/ir/rule.h"
#include "graph/transform/plain.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/control.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/gather.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>
#include <string.h>

typedef struct lowering {
    const mw__lower_options *options;
    mw_graph *to;
    mw__capacities capacities;
    mw_tensor **length; /* by value id of the source: of a list whose length is not fixed, in the copy */
    const mw_tensor **states;
    mw_tensor **inputs; /* what holds each in the copy */
    size_t state_count;
    mw_error *err; /* refusals; what constructors refuse is on the copy */
} lowering;

static mw_status status_of(const lowering *l) { return mw__failed(l->err) ? l->err->status : l->to->error.status; }

/* ---- states ---- */

static bool is_state(const mw_tensor *value) { return value->type->kind == MW__STATE; }

/* A state becomes an input, which `map` holds the latest value of as the copy proceeds. */
static bool lower_input(void *user, mw__clone *clone, const mw_tensor *value)
{
    lowering *l = user;
    if (!is_state(value))
        return false;
    const mw__type *type = value->type->count == 1 ? value->type->element[0] : NULL;
    if (type == NULL || type->kind != MW__TENSOR) {
        mw__graph_fail(l->to, MW_ERROR_UNSUPPORTED, "state \"%s\" does not hold a tensor", value->name);
        return true;
    }
    mw_tensor *input = l->options->role == MW__RESIDENT
                           ? mw_state(l->to, value->name, type->dtype, type->shape, mw_init_zeros())
                           : mw_input(l->to, value->name, type->dtype, type->shape);
    for (size_t i = 0; i < l->state_count; i++)
        if (l->states[i] == value)
            l->inputs[i] = input;
    mw__clone_set(clone, value, input);
    return true;
}

static bool writes(const mw__block *block, const mw_tensor *state)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        if (op->row != NULL && mw__op_is(op, "write_state") && mw__arg(op, "input") == state)
            return true;
        for (size_t b = 0; b < op->block_count; b++)
            if (writes(op->blocks[b], state))
                return true;
    }
    return false;
}

/* ---- what a block takes and gives: values, lengths behind their lists, states ---- */

typedef struct parts {
    mw_tensor *of[3 * MW__HANDED_MAX];
    size_t count;
} parts;

static bool add_part(lowering *l, const mw__op *op, parts *p, mw_tensor *value)
{
    if (p->count == MW__HANDED_MAX) {
        mw__lower_refuse(op, MW_ERROR_UNSUPPORTED, "hands on more than 64 values, with its states and lengths", l->err);
        return false;
    }
    p->of[p->count++] = value;
    return value != NULL;
}

static bool has_length(const lowering *l, const mw_tensor *value)
{
    if (!mw__is_list(value) || l->options->keep_lists)
        return false;
    const uint32_t root = mw__capacities_root(&l->capacities, value);
    return l->capacities.dynamic[root] || l->capacities.first[root] < 0;
}

static bool add_value(lowering *l, const mw__clone *clone, const mw__op *op, parts *p, const mw_tensor *value)
{
    mw_tensor *copy = mw__clone_get(clone, value);
    if (copy == NULL && value->payload != NULL) /* a literal, or a constant that is a result as it stands */
        copy = mw__payload_emit(l->to, value->payload, value->hint, &l->to->error);
    return add_part(l, op, p, copy) && (!has_length(l, value) || add_part(l, op, p, l->length[value->id]));
}

/* The values behind which those of the states come that the operation writes. */
static bool add_states(lowering *l, const mw__clone *clone, const mw__op *op, parts *p)
{
    for (size_t i = 0; i < l->state_count; i++)
        for (size_t b = 0; b < op->block_count; b++)
            if (writes(op->blocks[b], l->states[i])) {
                if (!add_part(l, op, p, mw__clone_get(clone, l->states[i])))
                    return false;
                break;
            }
    return true;
}

/* Lets the values stand for what they are parts of. */
static void set_parts(lowering *l, mw__clone *clone, const mw__op *op, mw_tensor *const *values, size_t value_count,
                      mw_tensor *const *from)
{
    for (size_t i = 0; i < value_count; i++) {
        mw__clone_set(clone, values[i], *from++);
        if (has_length(l, values[i]))
            l->length[values[i]->id] = *from++;
    }
    for (size_t i = 0; i < l->state_count; i++)
        for (size_t b = 0; b < op->block_count; b++)
            if (writes(op->blocks[b], l->states[i])) {
                mw__clone_set(clone, l->states[i], *from++);
                break;
            }
}

static bool add_outputs(lowering *l, mw__block *block, const parts *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (mw__block_add_output(block, p->of[i], &l->to->error) != MW_OK)
            return false;
    return true;
}

static bool clone_block(lowering *l, mw__clone *clone, const mw__block *from, mw__block *into)
{
    mw__block *outer = l->to->block;
    l->to->block = into;
    const bool good = mw__clone_ops(clone, from) == MW_OK && status_of(l) == MW_OK;
    l->to->block = outer;
    return good;
}

/* Emits in `block` what makes a part of an output that needs an operation there. */
static bool give_output(lowering *l, mw__clone *clone, const mw__op *op, const mw__block *from, mw__block *into,
                        bool states)
{
    parts given = {.count = 0};
    mw__block *outer = l->to->block;
    l->to->block = into;
    bool good = true;
    for (size_t i = 0; i < from->output_count && good; i++)
        good = add_value(l, clone, op, &given, from->outputs[i]);
    l->to->block = outer;
    return good && (!states || add_states(l, clone, op, &given)) && add_outputs(l, into, &given);
}

static void set_blocks(lowering *l, mw__op *op, mw__block *const blocks[2])
{
    op->blocks = mw__arena_alloc(&l->to->arena, 2, sizeof(mw__block *), &l->to->error);
    if (op->blocks == NULL)
        return;
    memcpy(op->blocks, blocks, 2 * sizeof(mw__block *));
    op->block_count = 2;
}

/* ---- loops ---- */

static bool begin_loop_block(lowering *l, mw__op *op, const parts *initial, mw__block **out, mw_tensor **inputs)
{
    *out = mw__block_create(l->to->current, op, &l->to->error);
    for (size_t i = 0; *out != NULL && i < initial->count; i++) {
        inputs[i] = mw__value_create(l->to, initial->of[i]->type, initial->of[i]->hint, &l->to->error);
        if (inputs[i] == NULL || mw__block_add_input(*out, inputs[i], &l->to->error) != MW_OK)
            return false;
    }
    return *out != NULL;
}

static bool lower_loop_blocks(lowering *l, mw__clone *clone, const mw__op *source, mw__op *op, const parts *initial)
{
    mw_tensor *inputs[MW__HANDED_MAX];
    mw__block *blocks[2];
    for (int b = 0; b < 2; b++) {
        const mw__block *from = source->blocks[b];
        if (!begin_loop_block(l, op, initial, &blocks[b], inputs))
            return false;
        set_parts(l, clone, source, from->inputs, from->input_count, inputs);
        if (!clone_block(l, clone, from, blocks[b]) || !give_output(l, clone, source, from, blocks[b], b == 1))
            return false;
    }
    set_blocks(l, op, blocks);
    return true;
}

static void lower_loop(lowering *l, mw__clone *clone, const mw__op *op)
{
    parts initial = {.count = 0};
    const mw__operand *vars;
    const size_t count = mw__arg_values(op, "loop_vars", &vars);
    mw_tensor *results[MW__HANDED_MAX];
    for (size_t i = 0; i < l->state_count; i++)
        if (writes(op->blocks[0], l->states[i])) {
            mw__lower_refuse(op, MW_ERROR_UNSUPPORTED, "its condition writes a state", l->err);
            return;
        }
    for (size_t i = 0; i < count; i++)
        if (!add_value(l, clone, op, &initial, vars[i].value))
            return;
    if (!add_states(l, clone, op, &initial))
        return;
    mw__build build = mw__build_begin_graph("while_loop", l->to);
    mw__build_set_many(&build, "loop_vars", initial.of, initial.count);
    if (build.failed || !lower_loop_blocks(l, clone, op, build.op, &initial))
        return;
    build.op->line = op->line;
    build.op->column = op->column;
    if (mw__build_end_many(&build, results, initial.count, NULL) == MW_OK)
        set_parts(l, clone, op, op->results, op->result_count, results);
}

/* ---- branches ---- */

static void lower_cond(lowering *l, mw__clone *clone, const mw__op *op)
{
    parts before = {.count = 0};
    mw_tensor *results[MW__HANDED_MAX];
    mw__block *blocks[2] = {NULL, NULL};
    mw__build build = mw__build_begin_graph("cond", l->to);
    parts pred = {.count = 0};
    if (!add_states(l, clone, op, &before) || !add_value(l, clone, op, &pred, mw__arg(op, "pred")))
        return;
    mw__build_set(&build, "pred", pred.of[0]);
    for (int b = 0; b < 2 && !build.failed; b++) {
        blocks[b] = mw__block_create(l->to->current, build.op, &l->to->error);
        if (blocks[b] == NULL || !clone_block(l, clone, op->blocks[b], blocks[b]) ||
            !give_output(l, clone, op, op->blocks[b], blocks[b], true))
            return;
        set_parts(l, clone, op, NULL, 0, before.of);
    }
    if (build.failed || blocks[1]->output_count == 0)
        return;
    set_blocks(l, build.op, blocks);
    build.op->line = op->line;
    build.op->column = op->column;
    if (mw__build_end_many(&build, results, blocks[1]->output_count, NULL) == MW_OK)
        set_parts(l, clone, op, op->results, op->result_count, results);
}

/* ---- lists ---- */

static int64_t capacity_of(const lowering *l, const mw_tensor *list)
{
    return l->capacities.capacity[mw__capacities_root(&l->capacities, list)];
}

static mw_tensor *argument(lowering *l, mw__clone *clone, const mw__op *op, const char *arg)
{
    parts one = {.count = 0};
    const mw_tensor *value = mw__arg(op, arg);
    if (value == NULL || mw__is_list(value))
        return mw__clone_get(clone, value);
    return add_value(l, clone, op, &one, value) ? one.of[0] : NULL;
}

static mw_tensor *scalar_of(mw_tensor *value) { return mw_reshape(value, mw_shape_scalar()); }

static void lower_make(lowering *l, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *list = op->results[0];
    const uint32_t root = mw__capacities_root(&l->capacities, list);
    mw_shape shape = {.rank = 1, .dim = {l->capacities.capacity[root]}};
    for (int d = 0; d < l->capacities.element[root].rank && shape.rank < MW_RANK_MAX; d++)
        shape.dim[shape.rank++] = l->capacities.element[root].dim[d];
    int64_t length;
    mw__clone_set(clone, list, mw_fill(l->to, l->capacities.dtype[root], shape, 0.0));
    if (!has_length(l, list))
        return;
    if (mw__arg_int(op, "init_length", &length))
        l->length[list->id] = mw_scalar(l->to, MW_I32, (double)length);
    else
        l->length[list->id] = scalar_of(argument(l, clone, op, "init_length"));
}

/* Constant indices beyond the capacity are a mistake that can be named. */
static bool check_constant(lowering *l, const mw__op *op, const char *arg, const mw_tensor *list)
{
    const mw__payload *payload = mw__arg_payload(op, arg);
    for (size_t i = 0; payload != NULL && payload->data != NULL && i < mw__payload_count(payload); i++)
        if (mw__payload_int(payload, i) >= capacity_of(l, list)) {
            char why[100] = "a constant index is outside of the list";
            mw__lower_refuse(op, MW_ERROR_ARGUMENT, why, l->err);
            return false;
        }
    return true;
}

/* A vector of indices; up to ios16 negative ones would count from the end. */
static mw_tensor *indices_of(lowering *l, mw__clone *clone, const mw__op *op, const char *arg, const mw_tensor *list)
{
    mw_tensor *indices = check_constant(l, op, arg, list) ? argument(l, clone, op, arg) : NULL;
    if (indices == NULL)
        return NULL;
    if (mw_tensor_shape(indices).rank != 1)
        indices = mw_reshape(indices, MW_SHAPE(1));
    if (l->to->current->opset >= MW_IOS17 || indices == NULL || mw__is_constant(indices))
        return indices;
    mw_tensor *zero = mw__scalar(l->to, MW_I32, 0, "zero");
    return mw_select(mw_less(indices, zero), mw__scalar(l->to, MW_I32, (double)capacity_of(l, list), "outside"),
                     indices);
}

static void lower_read(lowering *l, mw__clone *clone, const mw__op *op)
{
    const bool one = mw__op_is(op, "list_read");
    const mw_tensor *list = mw__arg(op, "ls");
    mw_tensor *all = mw__clone_get(clone, list);
    mw_tensor *rows = mw_gather(all, indices_of(l, clone, op, one ? "index" : "indices", list), 0);
    mw__clone_set(clone, op->results[0], one ? mw_squeeze(rows, MW_AXES(0)) : rows);
}

/* The length after a write: one more than the last index, if that is more. */
static void grow(lowering *l, const mw__op *op, const mw_tensor *list, mw_tensor *indices)
{
    const mw_tensor *result = op->results[0];
    if (!has_length(l, list))
        return;
    l->length[result->id] = l->length[list->id];
    if (!l->capacities.dynamic[mw__capacities_root(&l->capacities, list)] ||
        mw_shape_count(mw_tensor_shape(indices)) == 0)
        return;
    mw_tensor *last = mw_reduce_max(indices, MW_ALL_AXES, false);
    mw_tensor *wanted = mw_add(last, mw__scalar(l->to, MW_I32, 1, "one"));
    l->length[result->id] = mw_maximum(l->length[list->id], wanted);
}

static void lower_write(lowering *l, mw__clone *clone, const mw__op *op)
{
    const bool one = mw__op_is(op, "list_write");
    const mw_tensor *list = mw__arg(op, "ls");
    mw_tensor *indices = indices_of(l, clone, op, one ? "index" : "indices", list);
    mw_tensor *value = argument(l, clone, op, "value");
    if (indices == NULL || value == NULL)
        return;
    if (one)
        value = mw_expand_dims(value, MW_AXES(0));
    mw__clone_set(clone, op->results[0], mw_scatter(mw__clone_get(clone, list), indices, value, 0, MW_SCATTER_UPDATE));
    grow(l, op, list, indices);
}

static void lower_length(lowering *l, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *list = mw__arg(op, "ls");
    mw__clone_set(clone, op->results[0],
                  has_length(l, list) ? mw_identity(l->length[list->id])
                                      : mw_scalar(l->to, MW_I32, (double)capacity_of(l, list)));
}

/* ---- the rule ---- */

static void lower_state(lowering *l, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *state = mw__arg(op, "input");
    if (mw__op_is(op, "write_state"))
        mw__clone_set(clone, state, argument(l, clone, op, "data"));
    else
        mw__clone_set(clone, op->results[0], mw_identity(mw__clone_get(clone, state))); /* with a name of its own */
}

typedef void lower_op(lowering *l, mw__clone *clone, const mw__op *op);

static const struct {
    const char *kind;
    lower_op *lower;
    bool is_list;
} rows[] = {{"cond", lower_cond, false},         {"while_loop", lower_loop, false}, {"read_state", lower_state, false},
            {"write_state", lower_state, false}, {"make_list", lower_make, true},   {"list_read", lower_read, true},
            {"list_gather", lower_read, true},   {"list_write", lower_write, true}, {"list_scatter", lower_write, true},
            {"list_length", lower_length, true}};

static bool lower(void *user, mw__clone *clone, const mw__op *op)
{
    lowering *l = user;
    if (mw__failed(l->err) || mw__clone_plain_op(clone, op))
        return true;
    if (mw__op_is_constexpr(op) && op->results[0]->payload != NULL) { /* it was computed beforehand */
        mw_tensor *value = op->results[0];
        mw__clone_set(clone, value, mw__payload_emit(l->to, value->payload, value->hint, &l->to->error));
        return true;
    }
    for (size_t i = 0; op->row != NULL && i < sizeof rows / sizeof *rows; i++) {
        if (!mw__op_is(op, rows[i].kind) || (rows[i].is_list && l->options->keep_lists))
            continue;
        rows[i].lower(l, clone, op);
        if (mw__failed(l->err)) /* ends the clone */
            l->to->error = *l->err;
        return true;
    }
    return false;
}

/* ---- the whole ---- */

static bool block_wants(const mw__block *block, bool keep_lists)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        const bool lowered = mw__op_has(op, MW__TRAIT_LOWERED);
        const bool always =
            lowered && (mw__is_plain_op(op) || mw__op_is(op, "write_state") || mw__op_is(op, "read_state"));
        if (always || (lowered && !keep_lists))
            return true;
        for (size_t b = 0; b < op->block_count; b++)
            if (block_wants(op->blocks[b], keep_lists))
                return true;
    }
    return false;
}

bool mw__wants_lowering(const mw__function *function, bool keep_lists)
{
    for (size_t i = 0; i < function->body->input_count; i++)
        if (is_state(function->body->inputs[i]))
            return true;
    return block_wants(function->body, keep_lists);
}

static mw_status check_ports(const mw__function *from, mw_error *err)
{
    const mw__block *body = from->body;
    for (size_t i = 0; i < body->input_count + body->output_count; i++) {
        const bool input = i < body->input_count;
        const mw_tensor *value = input ? body->inputs[i] : body->outputs[i - body->input_count];
        const mw__type_kind kind = value->type->kind;
        if (kind != MW__TENSOR && !(input && kind == MW__STATE) && mw__classify_of(value) == NULL)
            return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s \"%s\" is no tensor: lists stay inside of a program",
                            input ? "input" : "output", value->name != NULL ? value->name : value->hint);
    }
    return MW_OK;
}

static mw_status list_states(lowering *l, const mw__function *from, mw__arena *arena)
{
    const mw__block *body = from->body;
    l->states = mw__arena_alloc(arena, body->input_count, sizeof *l->states, l->err);
    l->inputs = mw__arena_alloc(arena, body->input_count, sizeof *l->inputs, l->err);
    if (l->states == NULL || l->inputs == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->input_count; i++)
        if (is_state(body->inputs[i]))
            l->states[l->state_count++] = body->inputs[i];
    return MW_OK;
}

static mw_status report_states(const lowering *l, const mw__clone *clone, mw__lowered *out)
{
    out->states = mw__arena_alloc(&l->to->arena, l->state_count, sizeof *out->states, l->err);
    for (size_t i = 0; out->states != NULL && i < l->state_count; i++) {
        mw_tensor *last = mw__clone_get(clone, l->states[i]);
        if (last != l->inputs[i])
            out->states[out->state_count++] = (mw__lowered_state){.input = l->inputs[i], .last = last};
    }
    return out->states != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status run_lowering(lowering *l, const mw__function *from, mw__arena *arena, mw__lowered *out)
{
    const mw__clone_options how = {.rule = lower, .input = lower_input, .user = l, .keep_outputs = true};
    MW_TRY(check_ports(from, l->err));
    MW_TRY(list_states(l, from, arena));
    MW_TRY(mw__lower_check(from->body, l->err));
    if (!l->options->keep_lists)
        MW_TRY(mw__capacities_find(&l->capacities, from, arena, l->err));
    l->length = mw__arena_alloc(arena, from->graph->value_count, sizeof *l->length, l->err);
    if (l->length == NULL)
        return MW_ERROR_MEMORY;
    mw__clone clone = {0};
    mw_status status = mw__clone_run(&clone, from, l->to, &how, l->err);
    if (status == MW_OK)
        status = report_states(l, &clone, out);
    mw__clone_deinit(&clone);
    return status;
}

mw_status mw__lower(const mw__function *from, mw_graph *to, const mw__lower_options *options, mw__lowered *out,
                    mw_error *err)
{
    mw_error own = {0};
    lowering l = {.options = options, .to = to, .err = &own};
    *out = (mw__lowered){0};
    if (mw__failed(err))
        return err->status;
    mw__arena arena;
    mw__arena_init(&arena, to->allocator);
    const mw_status status = run_lowering(&l, from, &arena, out);
    mw__arena_deinit(&arena);
    if (status != MW_OK && err != NULL)
        *err = own.status != MW_OK ? own : to->error;
    return status;
}
