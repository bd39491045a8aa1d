/* VJPs of images sampled at places: the elements are written once more from the pixels around each place and
 * differentiated, so that second derivatives are those of that, too. */
#include "autograd/vjp/rules.h"
#include "graph/patterns/sample.h"

void mw__vjp_sample(mw__vjp *vjp)
{
    mw__sample sample;
    mw_tensor *x[2], *dx[2];
    const char *names[2];
    size_t count = 0;
    if (mw__sample_read(vjp->op, &sample, vjp->err) != MW_OK)
        return;
    const mw_shape shape = mw_tensor_shape(vjp->y[0]);
    if (mw_shape_count(shape) < 0 || sample.axis[0].in < 0 || sample.axis[1].in < 0 || sample.planes < 0) {
        mw__graph_fail(vjp->graph, MW_ERROR_UNSUPPORTED, "%s: the extents of the images must be known for a gradient",
                       vjp->op->kind);
        return;
    }
    const mw__sample_operands operands = {
        .x = mw__vjp_arg(vjp, "x"),
        .places = mw__vjp_arg(vjp, sample.places),
        .index = sample.box_numbers == 4 && sample.index != NULL ? mw__vjp_arg(vjp, sample.index) : NULL,
        .chip = vjp->graph->lowering == MW__LOWERING_DECOMPOSED};
    mw_tensor *y = mw__sample_write(&sample, &operands, shape), *dy = vjp->dy[0];
    if (mw__vjp_wants(vjp, "x"))
        names[count] = "x", x[count++] = operands.x;
    if (mw__vjp_wants(vjp, sample.places) && operands.places != operands.x)
        names[count] = sample.places, x[count++] = operands.places;
    const mw_pullback pullback = {.roots = &y, .seeds = &dy, .root_count = 1, .stops = x, .stop_count = count};
    if (y == NULL || count == 0 || mw_backward(&pullback, x, count, dx, vjp->err) != MW_OK)
        return;
    for (size_t i = 0; i < count; i++)
        mw__vjp_set(vjp, names[i], dx[i]);
}
