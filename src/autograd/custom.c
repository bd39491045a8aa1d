/* Gradients of the user's own: the public form of a composite record, and the checks of what its rule gives. */
#include "autograd/vjp/vjp.h"
#include "base/number/float_mode.h"

#include "base/memory/guard.h"

#include <stdio.h>
#include <string.h>

static mw_status fail_custom(const mw__vjp *vjp, mw_status status, const char *what, size_t index)
{
    const char *name = vjp->composite->name;
    mw__fail(vjp->err, status, "custom_vjp \"%s\": the rule gave %s for input %zu", name, what, index);
    mw__error_subject(vjp->err, "custom_vjp", mw_tensor_name(vjp->y[0]));
    return status;
}

static mw_status check_answer(const mw__vjp *vjp, size_t index, const mw_tensor *dx)
{
    char has[64], wanted[64];
    const mw_tensor *x = vjp->composite->inputs[index];
    if (dx == NULL)
        return fail_custom(vjp, MW_ERROR_ARGUMENT, "nothing (zeros are made with mw_fill)", index);
    if (dx->graph != vjp->graph)
        return fail_custom(vjp, MW_ERROR_ARGUMENT, "a tensor of another graph (append to call->graph)", index);
    if (dx->type->kind == MW__TENSOR && mw_tensor_dtype(dx) == mw_tensor_dtype(x) &&
        mw_shape_equal(mw_tensor_shape(dx), mw_tensor_shape(x)))
        return MW_OK;
    const mw_status status = mw_tensor_dtype(dx) != mw_tensor_dtype(x) ? MW_ERROR_DTYPE : MW_ERROR_SHAPE;
    mw__fail(vjp->err, status, "custom_vjp \"%s\": the rule gave %s %s for input %zu \"%s\", which is %s %s",
             vjp->composite->name, mw_dtype_name(mw_tensor_dtype(dx)),
             mw__shape_print(mw_tensor_shape(dx), has, sizeof has), index, mw_tensor_name(x),
             mw_dtype_name(mw_tensor_dtype(x)), mw__shape_print(mw_tensor_shape(x), wanted, sizeof wanted));
    mw__error_subject(vjp->err, "custom_vjp", mw_tensor_name(vjp->y[0]));
    return status;
}

/* A failure of the user's rule, with the name: its own words, those of a constructor that it called, or its status. */
static void report(const mw__vjp *vjp, mw_status status, const mw_error *said)
{
    const char *name = vjp->composite->name;
    mw_error built = {0};
    mw_graph_check(vjp->graph, &built);
    const char *why = said->message[0] != '\0' ? said->message : built.message;
    status = status != MW_OK ? status : said->status != MW_OK ? said->status : built.status;
    mw__fail(vjp->err, status, "custom_vjp \"%s\": %.400s", name, why[0] != '\0' ? why : mw_status_name(status));
    mw__error_subject(vjp->err, "custom_vjp", mw_tensor_name(vjp->y[0]));
}

static mw_status ask(mw__vjp *vjp, const bool *wants, mw_tensor **out_dx)
{
    const mw__composite *record = vjp->composite;
    const mw_custom_vjp_call call = {.user = record->user,
                                     .graph = vjp->graph,
                                     .inputs = record->inputs,
                                     .wants = wants,
                                     .count = record->input_count,
                                     .y = vjp->y[0],
                                     .dy = vjp->dy[0]};
    mw_error said = {0};
    if (vjp->y[0]->asking) {
        mw__fail(vjp->err, MW_ERROR_STATE,
                 "custom_vjp \"%s\": its rule asks for a gradient that passes its own value, and would not end",
                 record->name);
        mw__error_subject(vjp->err, "custom_vjp", mw_tensor_name(vjp->y[0]));
        return vjp->err->status;
    }
    vjp->y[0]->asking = true;
    vjp->graph->exposed = true; /* the user may keep what the rule is shown */
    const mw__callback outer = mw__callback_begin("rule of a custom VJP", MW__LENT_NEVER);
    const mw_status status = record->rule(&call, out_dx, &said);
    mw__callback_end(outer);
    vjp->y[0]->asking = false;
    if (status != MW_OK || said.status != MW_OK || vjp->graph->error.status != MW_OK) {
        report(vjp, status, &said);
        return vjp->err->status;
    }
    for (size_t i = 0; i < record->input_count; i++) {
        if (wants[i])
            MW_TRY(check_answer(vjp, i, out_dx[i]));
    }
    return MW_OK;
}

static void vjp_custom(mw__vjp *vjp)
{
    const size_t count = vjp->composite->input_count;
    const mw_allocator *allocator = vjp->graph->allocator;
    bool *wants = mw__alloc(allocator, count, sizeof *wants, vjp->err);
    mw_tensor **dx = mw__alloc(allocator, count, sizeof(mw_tensor *), vjp->err);
    if (wants != NULL && dx != NULL) {
        for (size_t i = 0; i < count; i++)
            wants[i] = mw__vjp_wants_input(vjp, i);
        if (ask(vjp, wants, dx) == MW_OK) {
            for (size_t i = 0; i < count; i++)
                mw__vjp_set_input(vjp, i, dx[i]);
        }
    }
    mw__free(allocator, dx);
    mw__free(allocator, wants);
}

mw_tensor *mw_custom_vjp(const char *name, mw_tensor *y, mw_tensor *const *inputs, size_t count,
                         mw_custom_vjp_rule *rule, void *user)
{
    MW__FLOAT_SCOPE;
    if (y == NULL)
        return NULL;
    const char *shown = name != NULL && name[0] != '\0' ? name : "(no name)";
    if (name == NULL || inputs == NULL || count == 0 || rule == NULL)
        return mw__graph_fail(y->graph, MW_ERROR_ARGUMENT, "custom_vjp \"%s\": the %s missing", shown,
                              name == NULL   ? "name is"
                              : rule == NULL ? "rule is"
                                             : "inputs are");
    for (size_t i = 0; i < count; i++) {
        if (inputs[i] == NULL)
            return mw__graph_fail(y->graph, MW_ERROR_ARGUMENT, "custom_vjp \"%s\": input %zu is NULL", name, i);
        char what[32];
        snprintf(what, sizeof what, "input %zu", i);
        if (inputs[i]->graph != y->graph)
            return mw__graph_mixed(inputs[i], y->graph, "mw_custom_vjp", what);
    }
    mw__composite record = {.name = name,
                            .inputs = (mw_tensor **)inputs,
                            .input_count = count,
                            .vjp = vjp_custom,
                            .rule = rule,
                            .user = user};
    return mw__composite_attach(mw_identity(y), &record);
}
