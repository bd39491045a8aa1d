/* Joins the patterns around a pooling: a convolution with the max_pool after it becomes one step that remembers what
 * the pooling took, and the gradients of both are taken by that. It pays only where nobody needs the result of the
 * convolution, so whoever does undoes it. Structure is not compared here, engine/pattern.c has done it. */
#include "engine/compile/patterns.h"
#include "engine/kernels/pattern_plans.h"

#include "engine/core/kernel.h"

#include <string.h>

typedef struct joiner {
    const mw__block *body;
    mw__pattern *patterns; /* by operation */
    bool *needed;          /* by value id */
} joiner;

static bool is_named(const mw__op *op, const char *name)
{
    return op != NULL && op->row != NULL && strcmp(op->row->name, name) == 0;
}

static bool is_gradient(const mw__pattern *pattern)
{
    return pattern->kind == MW__PATTERN_MAX_POOL_GRADIENT || pattern->kind == MW__PATTERN_RELU_MAX_POOL_GRADIENT;
}

/* ---- joining ---- */

/* max_pool of conv, perhaps by way of relu, which must be an pattern with it already. */
static mw_status join_forward(const mw__op *pool, mw__pattern *pattern, mw__arena *arena, mw_error *err)
{
    const bool relu = pattern->kind == MW__PATTERN_RELU_MAX_POOL;
    if (!is_named(pool, "max_pool") || (!relu && pattern->kind != MW__PATTERN_NONE))
        return MW_OK;
    const mw__op *conv = (relu ? pattern->x : mw__arg(pool, "x"))->op;
    if (!is_named(conv, "conv") || !mw__conv_max_pool_suits(conv, pool))
        return MW_OK;
    const mw__op **ops = mw__arena_alloc(arena, 3, sizeof *ops, err);
    if (ops == NULL)
        return MW_ERROR_MEMORY;
    ops[0] = conv, ops[1] = mw__arg(pool, "x")->op, ops[relu ? 2 : 1] = pool;
    *pattern = (mw__pattern){.kind = MW__PATTERN_CONV_MAX_POOL, .forward = pool, .conv = conv, .relu = relu};
    pattern->x = conv->results[0], pattern->ops = ops, pattern->op_count = relu ? 3 : 2;
    return MW_OK;
}

/* The pattern of the pooling that `gradient` is of, if it remembers what is asked. */
static mw__pattern *find_forward(const joiner *j, const mw__pattern *gradient)
{
    const bool relu = gradient->kind == MW__PATTERN_RELU_MAX_POOL_GRADIENT;
    for (size_t i = 0; i < j->body->op_count; i++)
        if (j->body->ops[i] == gradient->forward && j->patterns[i].kind == MW__PATTERN_CONV_MAX_POOL &&
            j->patterns[i].relu == relu)
            return &j->patterns[i];
    return NULL;
}

static mw_status join_gradient(joiner *j, mw__pattern *gradient, mw__arena *arena, mw_error *err)
{
    mw__pattern *forward = is_gradient(gradient) ? find_forward(j, gradient) : NULL;
    if (forward == NULL)
        return MW_OK;
    if (forward->argmax == NULL)
        forward->argmax = mw__arena_alloc(arena, 1, sizeof *forward->argmax, err);
    gradient->argmax = forward->argmax;
    return forward->argmax != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* The gradient of a joined pooling whose result `value` is. */
static const mw__pattern *find_source(const joiner *j, const mw_tensor *value)
{
    for (size_t i = 0; i < j->body->op_count; i++)
        if (is_gradient(&j->patterns[i]) && j->patterns[i].argmax != NULL && j->patterns[i].result == value)
            return &j->patterns[i];
    return NULL;
}

static void join_conv(const joiner *j, const mw__op *op, mw__pattern *pattern)
{
    if (pattern->kind == MW__PATTERN_CONV_DWEIGHT) {
        const mw__pattern *source = find_source(j, pattern->dy);
        if (source != NULL && mw__conv_dweight_argmax_suits(pattern->forward, source->forward))
            pattern->source = source;
    } else if (pattern->kind == MW__PATTERN_NONE && is_named(op, "conv")) {
        const mw__pattern *source = find_source(j, mw__arg(op, "x"));
        if (source != NULL && mw__conv_by_argmax_suits(op, source->forward))
            *pattern = (mw__pattern){.kind = MW__PATTERN_CONV_BY_ARGMAX, .forward = op, .source = source};
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
        if (j->patterns[i].dbias == dbias)
            need(j, j->patterns[i].result);
}

/* dy, or what it is the gradient of and by. */
static void need_dy(joiner *j, const mw__pattern *pattern, const mw_tensor *dy)
{
    if (pattern->source == NULL) {
        need(j, dy);
        return;
    }
    need(j, pattern->source->dy);
    need(j, pattern->source->forward->results[0]);
}

/* What the steps of an operation read. */
static void need_sources(joiner *j, const mw__op *op, const mw__pattern *pattern)
{
    switch (pattern->kind) {
    case MW__PATTERN_CONV_MAX_POOL:
        need_operands(j, pattern->conv, NULL);
        return;
    case MW__PATTERN_CONV_BY_ARGMAX:
        need_operands(j, op, mw__arg(op, "x"));
        need_dy(j, pattern, NULL);
        return;
    case MW__PATTERN_CONV_DWEIGHT:
        need(j, pattern->x);
        need_dy(j, pattern, pattern->dy);
        return;
    case MW__PATTERN_MADE:
        need_maker(j, op->results[0]);
        return;
    case MW__PATTERN_NONE:
        need_operands(j, op, NULL);
        return;
    default:
        need(j, pattern->dy);
        need(j, pattern->argmax == NULL ? pattern->x : NULL);
        need(j, pattern->argmax == NULL ? pattern->y : pattern->forward->results[0]);
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
            need_sources(j, op, &j->patterns[i]);
    }
}

/* Takes a pooling apart from its convolution, and all that was joined with it. */
static void undo(joiner *j, mw__pattern *forward)
{
    for (size_t i = 0; i < j->body->op_count; i++) {
        mw__pattern *pattern = &j->patterns[i];
        if (pattern->source != NULL && pattern->source->argmax == forward->argmax) {
            pattern->source = NULL;
            pattern->kind = pattern->kind == MW__PATTERN_CONV_BY_ARGMAX ? MW__PATTERN_NONE : pattern->kind;
        }
    }
    for (size_t i = 0; i < j->body->op_count && forward->argmax != NULL; i++)
        if (is_gradient(&j->patterns[i]) && j->patterns[i].argmax == forward->argmax)
            j->patterns[i].argmax = NULL;
    const mw__op *pool = forward->forward;
    const mw__pattern apart = {
        .kind = MW__PATTERN_RELU_MAX_POOL, .forward = pool, .x = forward->x, .ops = forward->ops + 1, .op_count = 2};
    *forward = forward->relu ? apart : (mw__pattern){0};
}

/* One that is joined in vain; NULL if there is none. */
static mw__pattern *find_vain(joiner *j, size_t values)
{
    find_needed(j, values);
    for (size_t i = 0; i < j->body->op_count; i++)
        if (j->patterns[i].kind == MW__PATTERN_CONV_MAX_POOL && j->needed[j->patterns[i].x->id])
            return &j->patterns[i];
    return NULL;
}

mw_status mw__patterns_join(const mw__function *function, mw__pattern *patterns, mw__arena *arena, mw_error *err)
{
    joiner j = {.body = function->body, .patterns = patterns};
    const size_t values = function->graph->value_count;
    size_t joined = 0;
    for (size_t i = 0; i < j.body->op_count; i++) {
        MW_TRY(join_forward(j.body->ops[i], &patterns[i], arena, err));
        joined += patterns[i].kind == MW__PATTERN_CONV_MAX_POOL;
    }
    if (joined == 0)
        return MW_OK;
    for (size_t i = 0; i < j.body->op_count; i++)
        MW_TRY(join_gradient(&j, &patterns[i], arena, err));
    for (size_t i = 0; i < j.body->op_count; i++)
        join_conv(&j, j.body->ops[i], &patterns[i]);
    j.needed = mw__alloc(arena->allocator, values, sizeof *j.needed, err);
    if (j.needed == NULL)
        return MW_ERROR_MEMORY;
    for (mw__pattern *vain; (vain = find_vain(&j, values)) != NULL;)
        undo(&j, vain);
    mw__free(arena->allocator, j.needed);
    return MW_OK;
}
