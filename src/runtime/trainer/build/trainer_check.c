/* The flag that gates every state write: whether the loss, all gradients and all that would be written are finite.
 *
 *     ok = product of reduce_min(select(abs(x) <= limit, 1, 0)) > 0.5
 *
 * which is right under IEEE, and where NaN becomes infinite and inf - inf 0. Gradients are compared with a limit below
 * which the update is proved to be finite (autograd/optimizers/optimizer_bounds.c). Where there is none, the update
 * itself is looked at before it is written: a small one waits for the flag, a large one is computed again behind it, as
 * it would take as much memory as the parameters and their states. */
#include "runtime/trainer/build/trainer_check.h"

#include "autograd/vjp/vjp.h"
#include "base/number/fp16.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"

#include <float.h>
#include <math.h>
#include <millwright/millwright.h>

mw_tensor *mw__trainer_number(const mw__trainer_build *b, double value)
{
    return mw__scalar(b->graph, mw_tensor_dtype(b->loss), value, "number");
}

/* ---- what is looked at ---- */

typedef struct checks {
    mw__trainer_build *b;
    mw_tensor **good;     /* rank 0, in the type of the loss: 1 or 0 */
    size_t *first, *next; /* lists by parameter, from 1: what is about it; 0 ends them. List 0 is about none */
    size_t count, parameter;
} checks;

/* abs(x) <= limit is false for NaN too. */
mw_tensor *mw__trainer_within(mw__trainer_build *b, mw_tensor *x, double limit)
{
    mw_tensor *size = mw_abs(x);
    mw_tensor *within = mw_less_equal(size, mw__scalar(b->graph, mw_tensor_dtype(x), limit, "limit"));
    mw_tensor *one = mw__trainer_number(b, 1.0);
    mw_tensor *good = mw_select(within, one, mw__trainer_number(b, 0.0));
    return mw_tensor_shape(x).rank == 0 ? good : mw_reduce_min(good, MW_ALL_AXES, false);
}

static void check_within(checks *c, mw_tensor *x, double limit)
{
    c->next[c->count] = c->first[c->parameter];
    c->first[c->parameter] = c->count;
    c->good[c->count++] = mw__trainer_within(c->b, x, limit);
}

bool mw__trainer_is_checked(const mw_tensor *x)
{
    return x->type->kind == MW__TENSOR && (x->type->dtype == MW_F32 || x->type->dtype == MW_F16) &&
           mw_shape_count(x->type->shape) > 0;
}

static void check_finite(checks *c, mw_tensor *x)
{
    if (x != NULL && mw__trainer_is_checked(x)) /* NULL: a constructor failed, and the graph has the error */
        check_within(c, x, mw__trainer_largest(c->b->trainer, x));
}

static void check_gradient(checks *c, size_t index)
{
    const mw__trainer_build *b = c->b;
    const double limit = mw__trainer_limits(b->trainer, b->parameters[index])->gradient;
    mw_tensor *gradient = b->raw[index];
    if (mw__gradient_is_zero(gradient) || !mw__trainer_is_checked(gradient))
        return;
    if (limit > 0.0)
        check_within(c, gradient, limit);
    else
        check_finite(c, gradient);
}

/* What would be written, unless limits prove it to be finite. */
static mw_status check_update(checks *c, size_t index, mw_error *err)
{
    mw__trainer_build *b = c->b;
    const mw__optimizer_limits *limits = mw__trainer_limits(b->trainer, b->parameters[index]);
    if (b->kind == MW__PASS_SUM ||
        b->kind == MW__PASS_EXCHANGE) /* the sum is the gradient that has been looked at; the update is not here */
        return MW_OK;
    if (limits->gradient > 0.0) {
        if (isfinite(limits->parameter))
            check_within(c, b->parameters[index], limits->parameter);
        return mw_graph_check(b->graph, err);
    }
    mw__trainer_changes changes;
    MW_TRY(mw__trainer_changes_of(b, index, &changes, err));
    for (size_t i = 0; i < changes.count; i++)
        check_finite(c, changes.items[i].new);
    if (b->updates != NULL)
        b->updates[index] = changes;
    return mw_graph_check(b->graph, err);
}

static mw_status check_all(checks *c, mw_error *err)
{
    mw__trainer_build *b = c->b;
    check_finite(c, b->loss);
    for (size_t i = 0; i < b->count && b->norm == NULL; i++) {
        c->parameter = i + 1;
        check_gradient(c, i);
    }
    c->parameter = 0;
    if (b->norm != NULL) /* it stands for all gradients */
        check_finite(c, b->norm);
    for (size_t i = 0; i < b->state_count; i++)
        check_finite(c, b->states[i]->next);
    for (size_t i = 0; i < b->count; i++) {
        c->parameter = i + 1;
        MW_TRY(check_update(c, i, err));
    }
    return mw_graph_check(b->graph, err);
}

/* ---- the flag ---- */

/* In the order in which the numbers are known, so that where a step is cut each layer goes on with the product so far:
 * gradients come from the last parameter to the first; what waits for their norm is computed from the first on. */
static mw_tensor *multiply_checks(const checks *c)
{
    const size_t count = c->b->count;
    mw_tensor *product = c->good[0]; /* of the loss, which is about no parameter */
    for (size_t k = 0; k <= count; k++)
        for (size_t i = c->first[k == 0 || c->b->norm != NULL ? k : count + 1 - k]; i != 0; i = c->next[i])
            product = mw_mul(product, c->good[i]);
    return product;
}

#define WAITING_MAX (1 << 22) /* parameters */

static mw_status keep_small_updates(mw__trainer_build *b, mw_error *err)
{
    int64_t count = 0;
    for (size_t i = 0; i < b->count; i++)
        if (mw__trainer_limits(b->trainer, b->parameters[i])->gradient == 0.0)
            count += mw_shape_count(mw_tensor_shape(b->parameters[i]));
    if (count > WAITING_MAX)
        return MW_OK;
    b->updates = mw__arena_alloc(&b->arena, b->count, sizeof *b->updates, err);
    return b->updates != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__trainer_build_gate(mw__trainer_build *b, mw_error *err)
{
    const size_t most = 2 + b->state_count + b->count * (1 + MW__TRAINER_CHANGES);
    checks c = {.b = b,
                .good = mw__arena_alloc(&b->arena, most, sizeof(mw_tensor *), err),
                .next = mw__arena_alloc(&b->arena, most, sizeof *c.next, err),
                .first = mw__arena_alloc(&b->arena, b->count + 1, sizeof *c.first, err)};
    if (c.good == NULL || c.next == NULL || c.first == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(keep_small_updates(b, err));
    MW_TRY(check_all(&c, err));
    b->ok_number = multiply_checks(&c);
    if (b->agreed != NULL)
        b->ok_number = mw_mul(b->ok_number, b->agreed);
    b->ok = mw_greater(b->ok_number, mw__trainer_number(b, 0.5));
    return mw_graph_check(b->graph, err);
}
