/* What conv and conv_transpose ask of the packed and depthwise kernels: the rows that both operations have. */
#include "engine/kernels/conv/kernel_conv_packed.h"
#include "engine/kernels/winograd_rows.h"

#include <string.h>

#define UNKNOWN "unknown extents"

bool mw__conv_request_read(const mw__op *op, mw__packed_request *out)
{
    mw_error ignored = {0};
    *out = (mw__packed_request){.x = mw__arg(op, "x"),
                                .weight = mw__arg(op, "weight"),
                                .bias = mw__arg(op, "bias"),
                                .result = op->results[0],
                                .transposed = strcmp(op->kind, "conv_transpose") == 0};
    return mw__conv_window_read(op, &out->window, &out->groups, &ignored) == MW_OK;
}

const char *mw__conv_row_packed_declines(const void *op)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__conv_packed_declines(&request) : UNKNOWN;
}

mw_status mw__plan_conv_row_packed(mw__planner *planner, const mw__op *op, mw_error *err)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__plan_conv_packed(planner, &request, err)
                                               : mw__plan_check(planner, err);
}

const char *mw__conv_row_depthwise_declines(const void *op)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__conv_depthwise_declines(&request) : UNKNOWN;
}

const char *mw__conv_row_few_declines(const void *op)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__conv_few_declines(&request) : UNKNOWN;
}

const char *mw__conv_row_few_narrow_declines(const void *op)
{
    mw__packed_request request;
    if (mw__conv_request_read(op, &request) && mw__conv_is_plane(&request.window))
        return "narrow vectors: columns of a plane are faster";
    return mw__conv_row_few_declines(op);
}

mw_status mw__plan_conv_row_depthwise(mw__planner *planner, const mw__op *op, mw_error *err)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__plan_conv_depthwise(planner, &request, err)
                                               : mw__plan_check(planner, err);
}

const char *mw__conv_row_winograd_declines(const void *op)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__winograd_declines(&request) : UNKNOWN;
}

mw_status mw__plan_conv_row_winograd(mw__planner *planner, const mw__op *op, mw_error *err)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__plan_winograd_conv(planner, &request, err)
                                               : mw__plan_check(planner, err);
}

const char *mw__conv_row_lines_declines(const void *op)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__winograd_lines_declines(&request) : UNKNOWN;
}

mw_status mw__plan_conv_row_lines(mw__planner *planner, const mw__op *op, mw_error *err)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__plan_winograd_lines(planner, &request, err)
                                               : mw__plan_check(planner, err);
}
