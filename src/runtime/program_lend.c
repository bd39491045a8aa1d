/* One set of weights for several programs: options.weights_of. */
#include "graph/ir.h"
#include "runtime/program_object.h"

#include <string.h>

mw_status mw__program_check_lender(const mw_program *lender, const mw__target *target, mw_error *err)
{
    if (lender == NULL)
        return MW_OK;
    MW_TRY(mw__live_check(lender, MW__LIVE_PROGRAM, "weights_of", err));
    if (lender->flexible != NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "weights_of: the shapes of that program are chosen, and plans come and go; give its inputs "
                        "fixed ones");
    if (lender->held)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "weights_of: that program belongs to a trainer, which lends its "
                        "weights to no other; save and load them");
    if (mw__dispatch_symbols(lender->dispatch)->buffer_object_alloc != target->symbols.buffer_object_alloc)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "weights_of: that program runs on another e5rt library, whose memory is not this one's");
    return MW_OK;
}

/* The lender's port for a weight of both; input_count if there is none. */
static size_t find_lent(const mw_program *lender, const mw_port *port)
{
    const size_t at = mw__program_find(lender, port->name);
    if (at >= lender->input_count || mw__program_weight_find(lender, port->name) == NULL)
        return lender->input_count;
    const mw_port *theirs = &lender->ports[at];
    return theirs->dtype == port->dtype && mw_shape_equal(theirs->shape, port->shape) ? at : lender->input_count;
}

bool mw__borrow(void *user, const mw_port *port, mw__device_buffer *out)
{
    const mw__borrowing *borrowing = user;
    const mw_tensor *source = port->is_output ? NULL : mw_graph_find(borrowing->graph, port->name);
    const size_t at = find_lent(borrowing->lender, port);
    return source != NULL && mw__is_weight(source) && at < borrowing->lender->input_count &&
           mw__program_buffer(borrowing->lender, at, out);
}

bool mw__program_is_borrowed(const mw_program *program, size_t port)
{
    const mw_program *lender = program->lender;
    const size_t at = lender != NULL ? find_lent(lender, &program->ports[port]) : 0;
    return lender != NULL && at < lender->input_count &&
           mw__program_data(lender, at) == mw__program_data(program, port);
}

mw_status mw__program_borrow(mw_program *program, mw_program *lender, mw_error *err)
{
    atomic_fetch_add(&lender->users, 1);
    program->lender = lender;
    for (size_t i = 0; i < program->input_count; i++)
        if (mw__program_is_borrowed(program, i))
            return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "weights_of: that program has no weight of the same name, type and shape as one of this graph");
}
