/* Joins the idioms around a pooling: a convolution with the max_pool after it becomes one step that remembers what the
 * pooling took, and the gradients of both are taken by that. It pays only where nobody needs the result of the
 * convolution, so whoever does undoes it. Structure is not compared here, engine/idiom.c has done it. */
#include "engine/compile/patterns.h"
#include "engine/kernels/pattern_plans.h"

#include "engine/core/kernel.h"

#include <string.h>

typedef struct joiner {
    const mw__block *body;
    mw__idiom *idioms; /* by operation */
    bool *needed;      /* by value id */
} joiner;

static bool is_named(const mw__op *op, const char *name)
{
    return op != NULL && op->row != NULL && strcmp(op->row->name, name) == 0;
}

static bool is_gradient(const mw__idiom *idiom)
{
    return idiom->kind == MW__IDIOM_MAX_POOL_GRADIENT || idiom->kind == MW__IDIOM_RELU_MAX_POOL_GRADIENT;
}

/* ---- joining ---- */

/* max_pool of conv, perhaps by way of relu, which must be an idiom with it already. */
static mw_status join_forward(const mw__op *pool, mw__idiom *idiom, mw__arena *arena, mw_error *err)
{
    const bool relu = idiom->kind == MW__IDIOM_RELU_MAX_POOL;
    if (!is_named(pool, "max_pool") || (!relu && idiom->kind != MW__IDIOM_NONE))
        return MW_OK;
    const mw__op *conv = (relu ? idiom->x : mw__arg(pool, "x"))->op;
    if (!is_named(conv, "conv") || !mw__conv_max_pool_suits(conv, pool))
        return MW_OK;
    const mw__op **ops = mw__arena_alloc(arena, 3, sizeof *ops, err);
    if (ops == NULL)
        return MW_ERROR_MEMORY;
    ops[0] = conv, ops[1] = mw__arg(pool, "x")->op, ops[relu ? 2 : 1] = pool;
    *idiom = (mw__idiom){.kind = MW__IDIOM_CONV_MAX_POOL, .forward = pool, .conv = conv, .relu = relu};
    idiom->x = conv->results[0], idiom->ops = ops, idiom->op_count = relu ? 3 : 2;
    return MW_OK;
}

/* The idiom of the pooling that `gradient` is of, if it remembers what is asked. */
static mw__idiom *find_forward(const joiner *j, const mw__idiom *gradient)
{
    const bool relu = gradient->kind == MW__IDIOM_RELU_MAX_POOL_GRADIENT;
    for (size_t i = 0; i < j->body->op_count; i++)
        if (j->body->ops[i] == gradient->forward && j->idioms[i].kind == MW__IDIOM_CONV_MAX_POOL &&
            j->idioms[i].relu == relu)
            return &j->idioms[i];
    return NULL;
}

static mw_status join_gradient(joiner *j, mw__idiom *gradient, mw__arena *arena, mw_error *err)
{
    mw__idiom *forward = is_gradient(gradient) ? find_forward(j, gradient) : NULL;
    if (forward == NULL)
        return MW_OK;
    if (forward->picks == NULL)
        forward->picks = mw__arena_alloc(arena, 1, sizeof *forward->picks, err);
    gradient->picks = forward->picks;
    return forward->picks != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* The gradient of a joined pooling whose result `value` is. */
static const mw__idiom *find_source(const joiner *j, const mw_tensor *value)
{
    for (size_t i = 0; i < j->body->op_count; i++)
        if (is_gradient(&j->idioms[i]) && j->idioms[i].picks != NULL && j->idioms[i].result == value)
            return &j->idioms[i];
    return NULL;
}

static void join_conv(const joiner *j, const mw__op *op, mw__idiom *idiom)
{
    if (idiom->kind == MW__IDIOM_CONV_DWEIGHT) {
        const mw__idiom *source = find_source(j, idiom->dy);
        if (source != NULL && mw__conv_dweight_picks_suits(idiom->forward, source->forward))
            idiom->source = source;
    } else if (idiom->kind == MW__IDIOM_NONE && is_named(op, "conv")) {
        const mw__idiom *source = find_source(j, mw__arg(op, "x"));
        if (source != NULL && mw__conv_picked_suits(op, source->forward))
            *idiom = (mw__idiom){.kind = MW__IDIOM_CONV_PICKED, .forward = op, .source = source};
    }
}

/* ---- undoing ---- */

static void need(joiner *j, const mw_tensor *value)
{
    if (value != NULL)
        j->needed[value->id] = true;
}

static void need_operands(joiner *j, const mw__op *op, const mw_tensor *except)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            if (op->slots[i].operands[k].value != except)
                need(j, op->slots[i].operands[k].value);
}

/* The gradient that makes the sum of `dbias` too. */
static void need_maker(joiner *j, const mw_tensor *dbias)
{
    for (size_t i = 0; i < j->body->op_count; i++)
        if (j->idioms[i].dbias == dbias)
            need(j, j->idioms[i].result);
}

/* dy, or what it is the gradient of and by. */
static void need_dy(joiner *j, const mw__idiom *idiom, const mw_tensor *dy)
{
    if (idiom->source == NULL) {
        need(j, dy);
        return;
    }
    need(j, idiom->source->dy);
    need(j, idiom->source->forward->results[0]);
}

/* What the steps of an operation read. */
static void need_sources(joiner *j, const mw__op *op, const mw__idiom *idiom)
{
    switch (idiom->kind) {
    case MW__IDIOM_CONV_MAX_POOL:
        need_operands(j, idiom->conv, NULL);
        return;
    case MW__IDIOM_CONV_PICKED:
        need_operands(j, op, mw__arg(op, "x"));
        need_dy(j, idiom, NULL);
        return;
    case MW__IDIOM_CONV_DWEIGHT:
        need(j, idiom->x);
        need_dy(j, idiom, idiom->dy);
        return;
    case MW__IDIOM_MADE:
        need_maker(j, op->results[0]);
        return;
    case MW__IDIOM_NONE:
        need_operands(j, op, NULL);
        return;
    default:
        need(j, idiom->dy);
        need(j, idiom->picks == NULL ? idiom->x : NULL);
        need(j, idiom->picks == NULL ? idiom->y : idiom->forward->results[0]);
    }
}

static void find_needed(joiner *j, size_t values)
{
    memset(j->needed, 0, values * sizeof *j->needed);
    for (size_t i = 0; i < j->body->output_count; i++)
        need(j, j->body->outputs[i]);
    for (size_t i = j->body->op_count; i-- > 0;) {
        const mw__op *op = j->body->ops[i];
        bool live = false;
        for (size_t k = 0; k < op->result_count; k++)
            live = live || j->needed[op->results[k]->id];
        if (live)
            need_sources(j, op, &j->idioms[i]);
    }
}

/* Takes a pooling apart from its convolution, and all that was joined with it. */
static void undo(joiner *j, mw__idiom *forward)
{
    for (size_t i = 0; i < j->body->op_count; i++) {
        mw__idiom *idiom = &j->idioms[i];
        if (idiom->source != NULL && idiom->source->picks == forward->picks) {
            idiom->source = NULL;
            idiom->kind = idiom->kind == MW__IDIOM_CONV_PICKED ? MW__IDIOM_NONE : idiom->kind;
        }
    }
    for (size_t i = 0; i < j->body->op_count && forward->picks != NULL; i++)
        if (is_gradient(&j->idioms[i]) && j->idioms[i].picks == forward->picks)
            j->idioms[i].picks = NULL;
    const mw__op *pool = forward->forward;
    const mw__idiom apart = {
        .kind = MW__IDIOM_RELU_MAX_POOL, .forward = pool, .x = forward->x, .ops = forward->ops + 1, .op_count = 2};
    *forward = forward->relu ? apart : (mw__idiom){0};
}

/* One that is joined in vain; NULL if there is none. */
static mw__idiom *find_vain(joiner *j, size_t values)
{
    find_needed(j, values);
    for (size_t i = 0; i < j->body->op_count; i++)
        if (j->idioms[i].kind == MW__IDIOM_CONV_MAX_POOL && j->needed[j->idioms[i].x->id])
            return &j->idioms[i];
    return NULL;
}

mw_status mw__idioms_join(const mw__function *function, mw__idiom *idioms, mw__arena *arena, mw_error *err)
{
    joiner j = {.body = function->body, .idioms = idioms};
    const size_t values = function->graph->value_count;
    size_t joined = 0;
    for (size_t i = 0; i < j.body->op_count; i++) {
        MW_TRY(join_forward(j.body->ops[i], &idioms[i], arena, err));
        joined += idioms[i].kind == MW__IDIOM_CONV_MAX_POOL;
    }
    if (joined == 0)
        return MW_OK;
    for (size_t i = 0; i < j.body->op_count; i++)
        MW_TRY(join_gradient(&j, &idioms[i], arena, err));
    for (size_t i = 0; i < j.body->op_count; i++)
        join_conv(&j, j.body->ops[i], &idioms[i]);
    j.needed = mw__alloc(arena->allocator, values, sizeof *j.needed, err);
    if (j.needed == NULL)
        return MW_ERROR_MEMORY;
    for (mw__idiom *vain; (vain = find_vain(&j, values)) != NULL;)
        undo(&j, vain);
    mw__free(arena->allocator, j.needed);
    return MW_OK;
}
