/* The clone that fits a program to its chip. */
#include "mil/legalize/fit.h"

#include "mil/legalize/rewrite.h"

#include <millwright/ops/shape.h>

static bool fit_op(void *user, mw__clone *clone, const mw__op *op)
{
    const mw__legality *legality = user;
    const mw__rewrite *row = mw__rewrite_fit(legality, op);
    if (row != NULL)
        mw__clone_set(clone, op->results[0], row->fit.emit(legality, clone, op));
    return row != NULL;
}

/* A result that became a constant gets an identity form, as in legalize.c. */
static mw_status add_outputs(void *user, const mw__clone *clone, mw_error *err)
{
    const mw__block *body = clone->from->body;
    mw_graph *to = clone->to;
    (void)user;
    for (size_t i = 0; i < body->output_count; i++) {
        mw_tensor *copy = mw__clone_get(clone, body->outputs[i]);
        if (copy != NULL && (copy->op == NULL || copy->payload != NULL || copy->is_output))
            copy = mw_identity(copy);
        MW_TRY(mw_graph_check(to, err));
        if (copy == NULL)
            return mw__fail(err, MW_ERROR_STATE, "output %zu was not copied", i);
        copy->part = mw__part_copy(to, body->outputs[i]->part);
        MW_TRY(mw__block_add_output(to->current->body, copy, err));
    }
    return mw_graph_check(to, err);
}

mw_status mw__mil_fit(const mw_graph *from, mw_graph *to, const mw__legality *legality, bool *out_any, mw_error *err)
{
    mw__legality own = *legality;
    const mw__clone_options how = {.rule = fit_op, .user = &own};
    const mw__function *main = mw__graph_main(from);
    *out_any = false;
    if (mw__failed(err))
        return err->status;
    for (size_t i = 0; main != NULL && i < main->body->op_count && !*out_any; i++)
        *out_any = mw__rewrite_fit(legality, main->body->ops[i]) != NULL;
    return *out_any ? mw__clone_ports(main, to, &how, add_outputs, err) : MW_OK;
}

bool mw__workaround_always(const mw__legality *legality, const mw__op *op)
{
    (void)legality;
    return mw_shape_count(mw_tensor_shape(op->results[0])) > 0;
}
