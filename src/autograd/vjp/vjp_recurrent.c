/* VJPs of recurrent networks: the steps are written out once more and differentiated, so that second derivatives are
 * those of the steps too. The operation keeps none of its gates. */
#include "autograd/vjp/rules.h"
#include "graph/patterns/recurrent.h"

static const char *const operands[] = {"x",         "initial_h",    "initial_c",  "weight_ih",      "weight_hh",
                                       "bias",      "peephole",     "input_bias", "weight_ih_back", "weight_hh_back",
                                       "bias_back", "peephole_back"};
enum { OPERANDS = sizeof operands / sizeof *operands, RESULTS = 3 };

/* The operands that want a cotangent, each once: one that is given twice has one cotangent of both uses. */
static size_t list_wanted(const mw__vjp *vjp, mw_tensor *x[OPERANDS], const char *names[OPERANDS])
{
    size_t count = 0;
    for (size_t i = 0; i < OPERANDS; i++) {
        if (!mw__vjp_wants(vjp, operands[i]))
            continue;
        mw_tensor *value = mw__vjp_arg(vjp, operands[i]);
        bool listed = false;
        for (size_t k = 0; k < count; k++)
            listed = listed || x[k] == value;
        if (listed)
            continue;
        names[count] = operands[i];
        x[count++] = value;
    }
    return count;
}

static void recurrent(mw__vjp *vjp)
{
    mw__recurrent r;
    mw_tensor *steps[RESULTS], *roots[RESULTS], *seeds[RESULTS], *x[OPERANDS], *dx[OPERANDS];
    const char *names[OPERANDS];
    size_t root_count = 0;
    if (!mw__recurrent_read(vjp->op, &r) || mw_tensor_shape(r.x).dim[0] < 0 || mw_tensor_shape(vjp->y[0]).dim[2] < 0) {
        mw__graph_fail(vjp->graph, MW_ERROR_UNSUPPORTED,
                       "the number of steps and the hidden elements must be known for a gradient");
        return;
    }
    r.keeps_operands = true;
    mw__recurrent_write(&r, steps);
    for (size_t i = 0; i < vjp->result_count; i++) {
        if (vjp->dy[i] == NULL || steps[i] == NULL)
            continue;
        roots[root_count] = steps[i];
        seeds[root_count++] = vjp->dy[i];
    }
    const size_t count = list_wanted(vjp, x, names);
    const mw_pullback pullback = {
        .roots = roots, .seeds = seeds, .root_count = root_count, .stops = x, .stop_count = count};
    if (root_count == 0 || count == 0 || mw_backward(&pullback, x, count, dx, vjp->err) != MW_OK)
        return;
    for (size_t i = 0; i < count; i++)
        mw__vjp_set(vjp, names[i], dx[i]);
}

void mw__vjp_lstm(mw__vjp *vjp) { recurrent(vjp); }

void mw__vjp_gru(mw__vjp *vjp) { recurrent(vjp); }

void mw__vjp_rnn(mw__vjp *vjp) { recurrent(vjp); }
