/* The step as a graph: gradients, the flag that gates every state write, the optimizer's update, the outputs. */
#include "runtime/trainer.h"

#include "autograd/vjp.h"
#include "base/fp16.h"
#include "base/log.h"
#include "base/text.h"
#include <float.h>
#include <millwright/millwright.h>
#include <string.h>

/* ---- the step graph ---- */

static mw_status collect_parameters(mw__trainer_build *b, mw_error *err)
{
    const mw__block *body = mw__function_find(b->graph, "main")->body;
    b->parameters = mw__arena_alloc(&b->arena, body->input_count, sizeof *b->parameters, err);
    b->gradients = mw__arena_alloc(&b->arena, body->input_count, sizeof *b->gradients, err);
    if (b->parameters == NULL || b->gradients == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->input_count; i++) {
        if (body->inputs[i]->role == MW__PARAMETER)
            b->parameters[b->count++] = body->inputs[i];
    }
    if (b->count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: the loss depends on no parameter; make some with "
                        "mw_parameter or mw_dense");
    return MW_OK;
}

/* Where all elements of x are finite: abs(x) <= limit is false for NaN too. */
static mw_tensor *is_finite(const mw__trainer_build *b, mw_tensor *x)
{
    const mw_dtype dtype = mw_tensor_dtype(x);
    const double limit = mw__trainer_stored(b->trainer, dtype) == MW_F16 ? (double)MW__FP16_MAX : (double)FLT_MAX;
    mw_tensor *size = mw_abs(x);
    return mw_less_equal(size, mw_scalar(b->graph, dtype, limit));
}

/* 1 where the condition holds, 0 elsewhere, in the type of the loss. */
static mw_tensor *as_number(const mw__trainer_build *b, mw_tensor *condition)
{
    const mw_dtype dtype = mw_tensor_dtype(b->loss);
    mw_tensor *one = mw_scalar(b->graph, dtype, 1.0);
    return mw_select(condition, one, mw_scalar(b->graph, dtype, 0.0));
}

static mw_tensor *and_finite(const mw__trainer_build *b, mw_tensor *product, mw_tensor *x)
{
    mw_tensor *good = as_number(b, is_finite(b, x));
    return mw_mul(product, mw_reduce_min(good, MW_ALL_AXES, false));
}

/* With a loss scale a gradient may overflow while the loss does not, so then every gradient counts. The next values of
 * states always do: a running variance can overflow where the loss, normalised by it, is finite. */
static void build_ok(mw__trainer_build *b)
{
    const bool scaled = b->trainer->loss_scale != 1.0;
    b->ok = is_finite(b, b->loss);
    if (!scaled && b->state_count == 0)
        return;
    mw_tensor *product = as_number(b, b->ok);
    for (size_t i = 0; scaled && i < b->count; i++)
        product = and_finite(b, product, b->gradients[i]);
    for (size_t i = 0; i < b->state_count; i++)
        product = and_finite(b, product, b->states[i]->next);
    b->ok = mw_greater(product, mw_scalar(b->graph, mw_tensor_dtype(b->loss), 0.5));
}

/* Training that changes nothing would look like training. */
static mw_status check_gradients(const mw__trainer_build *b, mw_error *err)
{
    size_t reached = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (!mw__gradient_is_zero(b->gradients[i]))
            reached++;
        else
            mw__log(MW_LOG_WARNING, "trainer: parameter \"%s\" gets no gradient and will not change",
                    mw_tensor_name(b->parameters[i]));
    }
    if (reached > 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "trainer: no parameter gets a gradient: every path from the loss is cut (by mw_stop_gradient, a "
                    "comparison, a cast to integers, sign or floor_div)");
}

static mw_status build_gradients(mw__trainer_build *b, mw_error *err)
{
    if (b->trainer->loss_scale == 1.0)
        return mw_grad(b->loss, b->parameters, b->count, b->gradients, err);
    mw_tensor *seed = mw_scalar(b->graph, mw_tensor_dtype(b->loss), b->trainer->loss_scale);
    return mw_backward(&b->loss, &seed, 1, NULL, 0, b->parameters, b->count, b->gradients, err);
}

const char *mw__trainer_join(mw__trainer_build *b, const char *a, const char *middle, const char *end, mw_error *err)
{
    mw__text text;
    mw__text_init(&text, b->arena.allocator);
    mw__text_printf(&text, "%s%s%s", a, middle, end);
    const char *copy =
        mw__text_check(&text, err) == MW_OK ? mw__arena_string(&b->arena, text.data, text.size, err) : NULL;
    mw__text_deinit(&text);
    return copy;
}

static const char *scalar_port(mw__trainer_build *b, const mw__trainer_scalar *scalar, mw_dtype declared, mw_error *err)
{
    return mw__trainer_join(b, "optimizer.", scalar->name, declared == MW_F16 ? ".fp16" : "", err);
}

/* The scalars for parameters of one type; made when the first such parameter comes. */
static mw_status need_scalars(mw__trainer_build *b, mw_dtype dtype, mw__optimizer_scalars **out, mw_error *err)
{
    mw_trainer *t = b->trainer;
    mw__optimizer_scalars *set = &b->scalars[dtype == MW_F16];
    *out = set;
    if (set->loss_scale != 0.0)
        return MW_OK;
    set->loss_scale = t->loss_scale;
    for (size_t i = 0; i < mw__optimizer_scalar_count(&t->optimizer); i++) {
        mw__trainer_scalar *scalar = &t->scalars[t->scalar_count++];
        *scalar = (mw__trainer_scalar){.name = mw__optimizer_scalar_name(&t->optimizer, i),
                                       .index = i,
                                       .declared = dtype,
                                       .dtype = mw__trainer_stored(t, dtype)};
        const char *name = scalar_port(b, scalar, dtype, err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        set->scalar[i] = mw_input(b->graph, name, dtype, mw_shape_scalar());
    }
    return mw_graph_check(b->graph, err);
}

/* state' = select(ok, new, old), as an output that is aliased to the input of the old value. */
static mw_status emit_next(mw__trainer_build *b, mw_tensor *old, mw_tensor *new, mw_error *err)
{
    const char *name = mw__trainer_join(b, mw_tensor_name(old), MW__NEXT, "", err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    mw_output(mw_select(b->ok, new, old), name);
    return mw_graph_check(b->graph, err);
}

static mw_status build_update(mw__trainer_build *b, size_t index, mw_error *err)
{
    const mw_optimizer *optimizer = &b->trainer->optimizer;
    mw_tensor *p = b->parameters[index], *new_p = NULL;
    mw_tensor *state[MW__OPTIMIZER_STATES] = {NULL}, *new_state[MW__OPTIMIZER_STATES] = {NULL};
    const size_t count = mw__optimizer_state_count(optimizer);
    mw__optimizer_scalars *scalars;
    MW_TRY(need_scalars(b, mw_tensor_dtype(p), &scalars, err));
    for (size_t i = 0; i < count; i++) {
        const char *name = mw__trainer_join(b, mw_tensor_name(p), "#", mw__optimizer_state_name(optimizer, i), err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        state[i] = mw_input(b->graph, name, mw_tensor_dtype(p), mw_tensor_shape(p));
    }
    MW_TRY(mw__optimizer_apply(optimizer, b->graph, scalars, p, b->gradients[index], state, count, &new_p, new_state,
                               err));
    MW_TRY(emit_next(b, p, new_p, err));
    for (size_t i = 0; i < count; i++)
        MW_TRY(emit_next(b, state[i], new_state[i], err));
    return MW_OK;
}

/* A name for an output that the user's names do not have. */
static const char *free_name(const mw_graph *graph, const mw_tensor *value, const char *name, const char *other)
{
    const mw_tensor *holder = mw_graph_find(graph, name);
    return holder == NULL || holder == value ? name : other;
}

mw_status mw__trainer_build_graph(mw__trainer_build *b, mw_error *err)
{
    MW_TRY(collect_parameters(b, err));
    if (mw_tensor_shape(b->loss).rank > 0)
        b->loss = mw_squeeze(b->loss, MW_ALL_AXES);
    MW_TRY(mw_graph_check(b->graph, err));
    MW_TRY(build_gradients(b, err));
    MW_TRY(check_gradients(b, err));
    build_ok(b);
    mw_tensor *loss = mw_output(b->loss, free_name(b->graph, b->loss, "loss", "step.loss"));
    mw_tensor *ok = mw_output(as_number(b, b->ok), free_name(b->graph, NULL, "ok", "step.ok"));
    MW_TRY(mw_graph_check(b->graph, err));
    b->trainer->loss_port = loss->id; /* value ids for now: resolve_ports turns them into ports */
    b->trainer->ok_port = ok->id;
    for (size_t i = 0; i < b->count; i++)
        MW_TRY(build_update(b, i, err));
    for (size_t i = 0; i < b->state_count; i++)
        MW_TRY(emit_next(b, b->states[i], b->states[i]->next, err));
    return MW_OK;
}
