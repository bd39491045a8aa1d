/* Which convolutions kernel_conv_depthwise.c leaves to others, and why. */
#include "engine/kernels/conv/kernel_conv_depthwise.h"
#include "engine/kernels/conv/kernel_conv_direct.h"

#define FRAMES_MOST 8388608 /* floats of the frames of a unit */
#define TAPS_LEAST  4       /* of several channels: fewer do not pay for copying */
#define FEW         4       /* output channels of a group, less than which need no panels */

/* Whether frames of some lines of a group fit, about. */
static bool frames_fit(const mw__packed_request *r, int64_t inputs)
{
    const mw__conv_window *w = &r->window;
    const int64_t *const in = r->transposed ? w->out : w->in;
    const int64_t rows = w->kernel[1] * w->dilation[1] + w->stride[1];
    const int64_t columns = in[2] + 2 * w->kernel[2] * w->dilation[2] + w->stride[2];
    return inputs <= FRAMES_MOST / w->kernel[0] / rows / columns;
}

static bool has_elements(const mw__packed_request *r)
{
    return mw__dtype_of(r->result) == MW_F32 && mw__count_of(r->result) > 0 && mw__count_of(r->x) > 0;
}

const char *mw__conv_depthwise_declines(const mw__packed_request *r)
{
    const mw_shape weight = mw__shape_of(r->weight);
    if (r->groups == 1 && mw__shape_of(r->result).dim[1] > 1)
        return "one group";
    if ((r->transposed ? weight.dim[0] / r->groups : weight.dim[1]) != 1)
        return "more than one input channel in a group";
    if (!has_elements(r))
        return "not fp32, or no elements";
    if (r->columns != NULL && !mw__conv_is_plane(&r->window))
        return "three spatial axes in the form for chips";
    return mw__depthwise_fits(&r->window) && frames_fit(r, 1) ? NULL : "a plane beyond its frames";
}

const char *mw__conv_few_declines(const mw__packed_request *r)
{
    const mw_shape weight = mw__shape_of(r->weight);
    const int64_t inputs = r->transposed ? weight.dim[0] / r->groups : weight.dim[1];
    if ((r->transposed ? weight.dim[1] : weight.dim[0] / r->groups) >= FEW)
        return "output channels for whole panels";
    if (!has_elements(r) || r->columns != NULL)
        return "not fp32, no elements, or the form for chips";
    if (r->window.taps < TAPS_LEAST && mw__conv_direct_declines(r) == NULL)
        return "few products for each element that is copied";
    return mw__depthwise_fits(&r->window) && frames_fit(r, inputs) ? NULL : "a plane beyond its frames";
}
