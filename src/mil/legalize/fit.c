/* The clone that fits a program to its chip. */
#include "mil/legalize/fit.h"

#include "mil/legalize/rewrites.h"

#include <millwright/ops/shape.h>

typedef struct fitter {
    mw__rewriting pass;
    mw__rewrites rows;
} fitter;

static bool fit_op(void *user, mw__clone *clone, const mw__op *op)
{
    fitter *self = user;
    const mw__rewrite *row = mw__rewrite_find(&self->pass, &self->rows, op);
    if (row != NULL)
        mw__rewrite_apply(&self->pass, row, clone, op);
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

mw_status mw__mil_fit(const mw_graph *from, mw_graph *to, const mw__legality *legality, mw__pass_log *log,
                      bool *out_any, mw_error *err)
{
    fitter self = {.pass = {.pass = MW__RULE_fit, .log = log, .legality = legality},
                   .rows = mw__mil_rewrites(MW__RULE_fit, legality->device->half_ports)};
    const mw__clone_options how = {.rule = fit_op, .user = &self};
    const mw__function *main = mw__graph_main(from);
    *out_any = false;
    if (mw__failed(err))
        return err->status;
    if (main == NULL || mw__legality_chip(legality)->chip == MW_CHIP_AUTO)
        return MW_OK;
    *out_any = mw__rewrite_finds_any(&self.pass, &self.rows, main->body);
    return *out_any ? mw__clone_ports(main, to, &how, add_outputs, err) : MW_OK;
}

bool mw__workaround_always(const mw__rewriting *pass, const mw__op *op)
{
    (void)pass;
    return mw_shape_count(mw_tensor_shape(op->results[0])) > 0;
}
