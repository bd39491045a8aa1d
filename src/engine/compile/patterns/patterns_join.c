/* The patterns around a pooling: a convolution with the max_pool after it becomes one step that keeps what the pooling
 * took, and the gradients of both are taken by that. It pays only where nothing needs the result of the convolution, so
 * whatever does undoes it. Structure is not compared here: the patterns below have done it. */
#include "engine/compile/patterns/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/pattern_plans.h"

#include <string.h>

/* ---- the pooling ---- */

/* A convolution for chips with its bias, whose result `y` is; NULL if there is none. */
static const mw__conv_columns_match *find_columns(const mw__finder *f, const mw_tensor *y)
{
    for (size_t i = 0; i < f->body->op_count; i++)
        if (f->body->ops[i] == y->op)
            return mw__pattern_is(f->patterns[i], MW__RULE_conv_columns_bias) ? f->patterns[i]->match : NULL;
    return NULL;
}

/* What a pooling takes of sums that are not rounded is not what it takes of rounded ones: the form for chips rounds. */
static const char *refuse_pool(const mw__finder *f, const mw__conv_max_pool_match *match)
{
    if (match->conv == NULL && match->columns == NULL)
        return "it pools no conv";
    if (match->conv != NULL && f->rounding->wanted != NULL)
        return "results are rounded to fp16";
    if (match->conv != NULL && mw__conv_approximates(match->conv, f->config))
        return "Winograd's way takes the convolution";
    if (match->relu && mw__pattern_is_rounded(f, mw__arg(match->pool, "x")))
        return "that of relu is rounded";
    return mw__conv_max_pool_suits(match, f->config, f->partitions)
               ? NULL
               : "the kernel has no such convolution or windows on this processor";
}

static mw_status add_conv(mw__finder *f, mw__pattern *pattern, const mw__conv_max_pool_match *match, mw_error *err)
{
    const mw__pattern *columns = NULL;
    for (size_t i = 0; match->columns != NULL && i < f->body->op_count; i++)
        if (f->body->ops[i] == match->y->op)
            columns = f->patterns[i];
    for (size_t i = 0; columns != NULL && i < columns->op_count; i++)
        MW_TRY(mw__pattern_add_op(f, pattern, columns->ops[i], err));
    return match->conv != NULL ? mw__pattern_add_op(f, pattern, match->conv, err) : MW_OK;
}

static mw_status match_conv_pool(mw__finder *f, size_t at, mw__conv_max_pool_match match, mw_error *err)
{
    match.conv = mw__pattern_is_named(match.y->op, "conv") ? match.y->op : NULL;
    match.columns = match.conv == NULL ? find_columns(f, match.y) : NULL;
    const char *refused = refuse_pool(f, &match);
    if (refused != NULL)
        return mw__pattern_decline(f, refused);
    mw__conv_max_pool_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, at, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = match;
    pattern->reads[0] = match.conv != NULL ? mw__arg(match.conv, "x") : match.columns->x;
    pattern->reads[1] = match.conv != NULL ? mw__arg(match.conv, "weight") : NULL;
    pattern->reads[2] = match.conv != NULL ? mw__arg(match.conv, "bias") : NULL;
    pattern->ops = NULL, pattern->op_count = 0;
    MW_TRY(add_conv(f, pattern, &match, err));
    if (match.relu)
        MW_TRY(mw__pattern_add_op(f, pattern, mw__arg(match.pool, "x")->op, err));
    return mw__pattern_add_op(f, pattern, match.pool, err);
}

mw_status mw__match_conv_max_pool(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *pool = f->body->ops[at];
    return match_conv_pool(f, at, (mw__conv_max_pool_match){.y = mw__arg(pool, "x"), .pool = pool}, err);
}

mw_status mw__match_conv_relu_max_pool(mw__finder *f, size_t at, mw_error *err)
{
    const mw__relu_max_pool_match *below = f->patterns[at]->match;
    const mw__conv_max_pool_match match = {.y = below->x, .pool = below->pool, .relu = true};
    return match_conv_pool(f, at, match, err);
}

static bool is_joined(const mw__pattern *pattern)
{
    return mw__pattern_is(pattern, MW__RULE_conv_max_pool) || mw__pattern_is(pattern, MW__RULE_conv_relu_max_pool);
}

/* ---- its gradient ---- */

static const mw__pattern *find_pooling(const mw__finder *f, const mw__max_pool_gradient_match *gradient)
{
    for (size_t i = 0; i < f->body->op_count; i++) {
        const mw__pattern *pattern = f->patterns[i];
        if (f->body->ops[i] == gradient->pool && is_joined(pattern))
            return ((const mw__conv_max_pool_match *)pattern->match)->relu == gradient->relu ? pattern : NULL;
    }
    return NULL;
}

/* Where the pooling is to put the buffer of what it takes, which it is asked for from now on. */
static uint32_t *want_argmax(mw__finder *f, const mw__pattern *pooling, mw_error *err)
{
    mw__conv_max_pool_match *match = (mw__conv_max_pool_match *)(uintptr_t)pooling->match;
    if (match->argmax == NULL)
        match->argmax = mw__arena_alloc(f->arena, 1, sizeof *match->argmax, err);
    return match->argmax;
}

mw_status mw__match_unpool(mw__finder *f, size_t at, mw_error *err)
{
    const mw__max_pool_gradient_match *gradient = f->patterns[at]->match;
    const mw__pattern *pooling = find_pooling(f, gradient);
    if (pooling == NULL)
        return mw__pattern_decline(f, "its pooling is not joined with a convolution");
    mw__unpool_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    const uint32_t *argmax = want_argmax(f, pooling, err);
    mw__pattern *pattern = match != NULL && argmax != NULL ? mw__pattern_put(f, at, match, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *match = (mw__unpool_match){
        .pool = gradient->pool, .dy = gradient->dy, .dx = gradient->dx, .relu = gradient->relu, .argmax = argmax};
    pattern->with = pooling;
    pattern->reads[0] = match->dy, pattern->reads[1] = match->pool->results[0];
    return MW_OK;
}

/* ---- what takes the gradient ---- */

/* The pattern of an unpooling whose result `value` is. */
static const mw__pattern *find_source(const mw__finder *f, const mw_tensor *value)
{
    for (size_t i = 0; i < f->body->op_count; i++)
        if ((mw__pattern_is(f->patterns[i], MW__RULE_max_pool_unpool) ||
             mw__pattern_is(f->patterns[i], MW__RULE_relu_max_pool_unpool)) &&
            ((const mw__unpool_match *)f->patterns[i]->match)->dx == value)
            return f->patterns[i];
    return NULL;
}

/* What it reads in place of the gradient. */
static void read_source(mw__pattern *pattern, const mw__pattern *source)
{
    pattern->with = source->with;
    pattern->reads[2] = source->reads[0], pattern->reads[3] = source->reads[1];
}

mw_status mw__match_conv_dweight_argmax(mw__finder *f, size_t at, mw_error *err)
{
    const mw__conv_dweight_match *dweight = f->patterns[at]->match;
    const mw__pattern *source = find_source(f, dweight->dy);
    const mw__unpool_match *unpool = source != NULL ? source->match : NULL;
    if (unpool == NULL)
        return mw__pattern_decline(f, "dy is no gradient of a joined pooling");
    if (!mw__conv_dweight_argmax_suits(dweight->conv, unpool->pool))
        return mw__pattern_decline(f, "the kernel has no such convolution");
    mw__conv_dweight_argmax_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    mw__pattern *pattern = match != NULL ? mw__pattern_put(f, at, match, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *match = (mw__conv_dweight_argmax_match){.dweight = *dweight, .source = unpool};
    pattern->reads[0] = dweight->x;
    read_source(pattern, source);
    return MW_OK;
}

/* In the form for chips; in place of the dense kernel, or where that takes none. */
mw_status mw__match_conv_columns_argmax(mw__finder *f, size_t at, mw_error *err)
{
    mw__conv_columns_dweight_match columns;
    const mw__pattern *each = mw__pattern_columns_dweight(f, f->body->ops[at], &columns);
    const mw__pattern *source = each != NULL ? find_source(f, columns.dweight.dy) : NULL;
    const mw__unpool_match *unpool = source != NULL ? source->match : NULL;
    if (unpool == NULL || mw__pattern_is_rounded(f, unpool->dx))
        return mw__pattern_decline(f, "it is no gradient by the weight before a joined pooling");
    if (!mw__conv_columns_argmax_suits(&columns, unpool->pool, f->config, f->partitions))
        return mw__pattern_decline(f, "its kernel has few channels, or another order of sums");
    mw__conv_columns_argmax_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    mw__pattern *pattern = match != NULL ? mw__pattern_put_columns_dweight(f, at, each, match, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *match = (mw__conv_columns_argmax_match){.columns = columns, .source = unpool};
    pattern->reads[0] = columns.dweight.x, pattern->reads[1] = NULL;
    read_source(pattern, source);
    return MW_OK;
}

mw_status mw__match_conv_by_argmax(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *conv = f->body->ops[at];
    const mw__pattern *source = find_source(f, mw__arg(conv, "x"));
    const mw__unpool_match *unpool = source != NULL ? source->match : NULL;
    if (unpool == NULL)
        return mw__pattern_decline(f, "x is no gradient of a joined pooling");
    if (mw__conv_approximates(conv, f->config) || !mw__conv_by_argmax_suits(conv, unpool->pool))
        return mw__pattern_decline(f, "the kernel has no such convolution");
    mw__conv_by_argmax_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    mw__pattern *pattern = match != NULL ? mw__pattern_put(f, at, match, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *match = (mw__conv_by_argmax_match){.conv = conv, .source = unpool};
    pattern->reads[0] = mw__arg(conv, "weight");
    read_source(pattern, source);
    return MW_OK;
}

mw_status mw__match_conv_columns_by_argmax(mw__finder *f, size_t at, mw_error *err)
{
    const mw__conv_columns_match *columns = f->patterns[at]->match;
    const mw__pattern *source = find_source(f, columns->transpose->dy);
    const mw__unpool_match *unpool = source != NULL ? source->match : NULL;
    if (unpool == NULL || mw__pattern_is_rounded(f, unpool->dx))
        return mw__pattern_decline(f, "dy is no gradient of a joined pooling");
    if (!mw__conv_columns_by_argmax_suits(columns, unpool->pool, f->config, f->partitions))
        return mw__pattern_decline(f, "the kernel has no such convolution, or another order of sums");
    mw__conv_by_argmax_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    mw__pattern *pattern = match != NULL ? mw__pattern_put(f, at, match, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *match = (mw__conv_by_argmax_match){.columns = columns, .source = unpool};
    pattern->reads[0] = columns->transpose->weight, pattern->reads[1] = NULL;
    read_source(pattern, source);
    return MW_OK;
}

/* ---- undoing ---- */

static void need(bool *needed, const mw_tensor *value)
{
    if (value != NULL)
        needed[value->id] = true;
}

/* What the steps of an operation read. */
static void need_reads(bool *needed, const mw__op *op, const mw__pattern *pattern)
{
    if (pattern != NULL && pattern->row != NULL && (pattern->row->how & MW__PATTERN_AS_WRITTEN) != 0)
        pattern = NULL;
    for (size_t i = 0; pattern != NULL && i < MW__PATTERN_READS; i++)
        need(needed, pattern->reads[i]);
    for (size_t i = 0; pattern == NULL && i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            need(needed, op->slots[i].operands[k].value);
}

static void find_needed(const mw__finder *f, bool *needed)
{
    memset(needed, 0, f->function->graph->value_count * sizeof *needed);
    for (size_t i = 0; i < f->body->output_count; i++)
        need(needed, f->body->outputs[i]);
    for (size_t i = f->body->op_count; i-- > 0;) {
        const mw__op *op = f->body->ops[i];
        bool live = false;
        for (size_t k = 0; k < op->result_count; k++)
            live = live || needed[op->results[k]->id];
        if (live)
            need_reads(needed, op, f->patterns[i]);
    }
}

static void restore(mw__finder *f, size_t at)
{
    mw__pattern_take_back(f, at, "the result of the convolution is needed elsewhere");
}

/* Takes a pooling apart from its convolution, and all that was joined with it. */
static void undo(mw__finder *f, size_t at)
{
    const mw__pattern *pooling = f->patterns[at];
    for (size_t i = 0; i < f->body->op_count; i++)
        if (f->patterns[i] != NULL && f->patterns[i]->with == pooling)
            restore(f, i);
    restore(f, at);
}

/* A pooling that is joined in vain; op_count if there is none. */
static size_t find_vain(const mw__finder *f, bool *needed)
{
    find_needed(f, needed);
    size_t i = 0;
    while (i < f->body->op_count &&
           !(is_joined(f->patterns[i]) && needed[((const mw__conv_max_pool_match *)f->patterns[i]->match)->y->id]))
        i++;
    return i;
}

mw_status mw__patterns_undo(mw__finder *f, mw_error *err)
{
    size_t joined = 0;
    for (size_t i = 0; i < f->body->op_count; i++)
        joined += is_joined(f->patterns[i]);
    if (joined == 0)
        return MW_OK;
    bool *needed = mw__alloc(f->arena->allocator, f->function->graph->value_count, sizeof *needed, err);
    if (needed == NULL)
        return MW_ERROR_MEMORY;
    for (size_t vain; (vain = find_vain(f, needed)) < f->body->op_count;)
        undo(f, vain);
    mw__free(f->arena->allocator, needed);
    return MW_OK;
}
