/* One set of weights for several programs: options.share.program; and those of a trainer: options.share.trainer. */
#include "graph/ir/ir.h"
#include "runtime/program/program_object.h"

#include <string.h>

mw_status mw__program_check_lender(const mw_program *lender, const mw__target *target, mw_error *err)
{
    if (lender == NULL)
        return MW_OK;
    MW_TRY(mw__live_check(lender, MW__LIVE_PROGRAM, "share.program", err));
    if (lender->flexible != NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "share.program: the shapes of that program are chosen, and plans come and go; give its inputs "
                        "fixed ones");
    if (lender->held)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "share.program: that program belongs to a trainer, which lends its "
                        "weights to no other; save and load them");
    if (mw__dispatch_symbols(lender->dispatch)->buffer_object_alloc != target->symbols.buffer_object_alloc)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "share.program: that program runs on another e5rt library, whose memory is not this one's");
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

/* An entry, or its average: which it was when the program was made, the lender may not say any more. */
static bool is_of_state(const mw__state_set *state, const void *data)
{
    for (size_t i = 0; i < state->count; i++)
        if (state->entries[i].data == data)
            return true;
    return false;
}

bool mw__program_is_borrowed(const mw_program *program, size_t port)
{
    if (program->state_lender != NULL)
        return is_of_state(&program->state_lender->state, mw__program_data(program, port));
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
                    "share.program: that program has no weight of the same name, type and shape as one of this graph");
}

/* ---- the state of a trainer ---- */

static mw_status check_entry(const mw__state_entry *entry, const mw_tensor *weight, const mw__target *target,
                             mw_error *err)
{
    char ours[64], theirs[64];
    const mw_dtype declared = mw_tensor_dtype(weight);
    const mw_dtype dtype = target->device->half_ports && declared == MW_F32 ? MW_F16 : declared;
    const mw_shape shape = mw_tensor_shape(weight);
    if (entry->dtype == dtype && mw_shape_equal(entry->shape, shape))
        return MW_OK;
    return mw__fail(err, entry->dtype != dtype ? MW_ERROR_DTYPE : MW_ERROR_SHAPE,
                    "share.trainer: \"%.96s\" is %s %s, and %s %s in the trainer", entry->name, mw_dtype_name(dtype),
                    mw__shape_print(shape, ours, sizeof ours), mw_dtype_name(entry->dtype),
                    mw__shape_print(entry->shape, theirs, sizeof theirs));
}

mw_status mw__program_check_state(const mw_graph *graph, const mw__state_owner *lender, const mw__target *target,
                                  mw_error *err)
{
    const mw__function *function = mw__graph_main(graph);
    size_t common = 0;
    MW_TRY(mw__state_owner_check_lender(lender, &target->symbols, "share.trainer", err));
    for (size_t i = 0; function != NULL && i < function->body->input_count; i++) {
        const mw_tensor *weight = function->body->inputs[i];
        const mw__state_entry *entry = mw__is_resident(weight) ? mw__state_find(&lender->state, weight->name) : NULL;
        if (entry == NULL)
            continue;
        MW_TRY(check_entry(entry, weight, target, err));
        common++;
    }
    return common > 0
               ? MW_OK
               : mw__fail(err, MW_ERROR_ARGUMENT,
                          "share.trainer: that trainer has no parameter or state of the name of one of this graph");
}

bool mw__borrow_state(void *user, const mw_port *port, mw__device_buffer *out)
{
    const mw__state_borrowing *borrowing = user;
    const mw_tensor *source = port->is_output ? NULL : mw_graph_find(borrowing->graph, port->name);
    const mw__state_entry *entry =
        source != NULL && mw__is_resident(source) ? mw__state_find(&borrowing->lender->state, port->name) : NULL;
    if (entry == NULL || entry->dtype != port->dtype)
        return false;
    entry = borrowing->lender->kind->lent_entry(borrowing->lender, entry);
    *out = (mw__device_buffer){.object = entry->buffer, .data = entry->data, .size = entry->size};
    return true;
}

void mw__program_borrow_state(mw_program *program, mw__state_owner *lender)
{
    mw__state_owner_lend(lender);
    program->state_lender = lender;
}
