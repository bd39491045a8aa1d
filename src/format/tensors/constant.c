/* A tensor of a file as a constant of a graph: dense, or for quantized blocks as constexpr_blockwise_shift_scale. */
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "format/tensors/tensors.h"
#include "graph/constants/shared_payload.h"
#include "graph/ir/ir.h"

#include <millwright/ops/quantize.h>

mw_tensor *mw__tensors_dense(mw_tensors *tensors, const mw__tensors_item *item, mw_dtype dtype, bool finite,
                             mw_graph *graph, mw_error *err)
{
    void *data;
    const mw__payload *payload = mw__payload_blank(graph, dtype, item->info.shape, &data, err);
    if (payload == NULL || mw__tensors_read(tensors, item, dtype, data, finite, err) != MW_OK)
        return NULL;
    return mw__payload_emit(graph, payload, "const", err);
}

/* ---- blocks ---- */

bool mw__tensors_has_blocks(const mw_tensors *tensors, const mw__tensors_item *item)
{
    return tensors->format->form != NULL && tensors->format->form(item) != NULL && item->info.size > 0;
}

static mw_status check_form(const mw_tensors *tensors, const mw_tensor_info *info, mw_dtype dtype,
                            const mw_graph *graph, mw_error *err)
{
    if (dtype != MW_F32 && dtype != MW_F16)
        return mw__fail(err, MW_ERROR_DTYPE, "\"%.200s\": \"%.150s\" (%s) becomes a constant of fp32 or fp16, not %s",
                        tensors->path, info->name, info->stored, mw_dtype_name(dtype));
    if (graph->current->opset < MW_IOS18)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "\"%.200s\": \"%.150s\" (%s) stays compressed from ios18 on, and the program is of ios%d",
                        tensors->path, info->name, info->stored, (int)graph->current->opset);
    return MW_OK;
}

mw_tensor *mw__tensors_compressed(mw_tensors *tensors, const mw__tensors_item *item, mw_dtype dtype, mw_graph *graph,
                                  mw_error *err)
{
    const mw__tensors_form *form = tensors->format->form(item);
    mw__tensors_stored out = {.dtype = dtype};
    mw_shape parts = item->info.shape;
    void *offset = NULL;
    if (check_form(tensors, &item->info, dtype, graph, err) != MW_OK)
        return NULL;
    parts.dim[parts.rank - 1] /= form->part;
    const mw__payload *codes = mw__payload_blank(graph, form->code, item->info.shape, &out.codes, err);
    const mw__payload *scales = codes != NULL ? mw__payload_blank(graph, dtype, parts, &out.scale, err) : NULL;
    const mw__payload *offsets = NULL;
    if (scales != NULL && form->shifted)
        offsets = mw__payload_blank(graph, MW_F32, parts, &offset, err);
    out.offset = offset;
    if (scales == NULL || (form->shifted && offsets == NULL) ||
        tensors->format->read_stored(tensors, item, &out, err) != MW_OK)
        return NULL;
    mw_tensor *data = mw__payload_emit(graph, codes, "data", err);
    mw_tensor *scale = data != NULL ? mw__payload_emit(graph, scales, "scale", err) : NULL;
    mw_tensor *shift = scale != NULL && form->shifted ? mw__payload_emit(graph, offsets, "offset", err) : NULL;
    return mw_constexpr_blockwise_shift_scale(data, scale, shift);
}

/* ---- public ---- */

static mw_tensor *constant_of(mw_tensors *tensors, const char *name, mw_dtype dtype, mw_graph *graph, mw_error *err)
{
    const mw__tensors_item *item = name != NULL ? mw__tensors_item_find(tensors, name) : NULL;
    if (item != NULL)
        return mw__tensors_has_blocks(tensors, item) ? mw__tensors_compressed(tensors, item, dtype, graph, err)
                                                     : mw__tensors_dense(tensors, item, dtype, false, graph, err);
    mw__tensors_missing(tensors, name != NULL ? name : "", err);
    return NULL;
}

static mw_tensor *guarded(mw_tensors *tensors, const char *name, mw_dtype dtype, mw_graph *graph, mw_error *err)
{
    mw__entry entry;
    if (mw__live_check(tensors, MW__LIVE_TENSORS, "mw_tensors_constant", err) != MW_OK ||
        mw__guard_enter(&entry, &tensors->guard, "tensor file", "mw_tensors_constant", MW__LENT_NEVER, err) != MW_OK)
        return NULL;
    mw_tensor *made = constant_of(tensors, name, dtype, graph, err);
    if (mw__guard_leave(&entry))
        mw__tensors_free(tensors);
    return made;
}

mw_tensor *mw_tensors_constant(mw_tensors *tensors, const char *name, mw_dtype dtype, mw_graph *graph, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || mw_graph_check(graph, err) != MW_OK)
        return NULL;
    mw_tensor *made = guarded(tensors, name, dtype, graph, &graph->error);
    mw_graph_check(graph, err);
    return made;
}
