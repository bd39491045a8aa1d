/* Convolutions that are no operations of the text: a gradient by x, and one whose kernel the text spreads with zeros.
 * Which of the kernels takes them; they add in one order (kernel_conv_packed.h). */
#include "engine/kernels/conv/kernel_conv_direct.h"
#include "engine/kernels/conv/kernel_conv_packed.h"
#include "engine/kernels/implementation.h"
#include "engine/kernels/pattern_plans.h"
#include "engine/kernels/winograd_rows.h"
#if MW_HAVE_AVX512
#include "engine/kernels/conv/kernel_conv_avx512.h"
#endif

#define OUTPUTS_FEW 8 /* channels of a group of dx: panels would be gathered for few products */

static mw__packed_request request_of_dx(const mw__conv_dx_match *match)
{
    return (mw__packed_request){.x = match->dy,
                                .weight = match->weight,
                                .result = match->dx,
                                .window = mw__conv_window_of(&match->conv),
                                .groups = match->conv.groups,
                                .transposed = true};
}

static bool suits(const mw__packed_request *request)
{
    return mw__conv_depthwise_declines(request) == NULL || mw__conv_few_declines(request) == NULL ||
           mw__conv_packed_declines(request) == NULL;
}

bool mw__conv_dx_suits(const mw__conv_dx_match *match)
{
    const mw__packed_request request = request_of_dx(match);
    return suits(&request);
}

static const char *few_decline(const void *subject)
{
    const mw__packed_request *r = subject;
    const mw_shape weight = mw__shape_of(r->weight);
    const int64_t outputs = r->transposed ? weight.dim[1] : weight.dim[0] / r->groups;
    return outputs < OUTPUTS_FEW ? mw__conv_direct_declines(r) : "channels for whole panels";
}

static const char *depthwise_declines(const void *request) { return mw__conv_depthwise_declines(request); }
static const char *narrow_declines(const void *request) { return mw__conv_few_declines(request); }
static const char *winograd_declines(const void *request) { return mw__winograd_declines(request); }
static const char *lines_decline(const void *request) { return mw__winograd_lines_declines(request); }
#if MW_HAVE_AVX512
static const char *frames_decline(const void *request) { return mw__conv_request_avx512_declines(request); }
static const char *packed_declines(const void *request) { return mw__conv_packed_declines(request); }
#endif
static const char *direct_declines(const void *request) { return mw__conv_direct_declines(request); }

typedef mw_status request_plan(mw__planner *planner, const mw__packed_request *request, mw_error *err);

static mw_status plan_request(mw__planner *planner, const mw__packed_request *request, mw_error *err)
{
    static const mw__implementation rows[] = {
        {.name = "depthwise", .level = MW__LEVEL_BASE, .declines = depthwise_declines},
        {.name = "few", .level = MW__LEVEL_AVX2, .declines = narrow_declines},
        {.name = "winograd", .level = MW__LEVEL_BASE, .declines = winograd_declines, .approximates = true},
        {.name = "winograd.lines", .level = MW__LEVEL_BASE, .declines = lines_decline, .approximates = true},
        {.name = "direct.few", .level = MW__LEVEL_BASE, .declines = few_decline},
#if MW_HAVE_AVX512
        {.name = "avx512", .level = MW__LEVEL_AVX512, .declines = frames_decline},
        {.name = "packed.avx512", .level = MW__LEVEL_AVX512, .declines = packed_declines},
#endif
        {.name = "direct", .level = MW__LEVEL_BASE, .declines = direct_declines},
        {.name = "few.narrow", .level = MW__LEVEL_BASE, .declines = narrow_declines},
        {.name = "packed"},
    };
    static request_plan *const plans[] = {
        mw__plan_conv_depthwise,
        mw__plan_conv_depthwise,
        mw__plan_winograd_conv,
        mw__plan_winograd_lines,
        mw__plan_conv_direct,
#if MW_HAVE_AVX512
        mw__plan_conv_request_avx512,
        mw__plan_conv_packed,
#endif
        mw__plan_conv_direct,
        mw__plan_conv_depthwise,
        mw__plan_conv_packed,
    };
    return plans[mw__plan_implementation(planner, MW__IMPLEMENTATIONS(rows), request) - rows](planner, request, err);
}

mw_status mw__plan_conv_dx(mw__planner *planner, const mw__conv_dx_match *match, mw_error *err)
{
    const mw__packed_request request = request_of_dx(match);
    return plan_request(planner, &request, err);
}

/* ---- with a kernel that is dilated ---- */

static mw__packed_request request_of_dilated(const mw__conv_dilated_match *match)
{
    return (mw__packed_request){.x = match->x,
                                .weight = match->weight,
                                .bias = match->bias,
                                .result = match->y,
                                .window = mw__conv_window_of(&match->conv),
                                .groups = match->conv.groups};
}

bool mw__conv_dilated_suits(const mw__conv_dilated_match *match)
{
    const mw__packed_request request = request_of_dilated(match);
    return suits(&request);
}

mw_status mw__plan_conv_dilated(mw__planner *planner, const mw__conv_dilated_match *match, mw_error *err)
{
    const mw__packed_request request = request_of_dilated(match);
    return plan_request(planner, &request, err);
}
