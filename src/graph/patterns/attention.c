/* The two forms of attention. The decomposed one is for graphs of older opsets, for chips, and for gradients. */
#include "graph/patterns/attention.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/normalize.h>

#include <math.h>

double mw__attention_scale(const mw_tensor *query)
{
    const mw_shape shape = mw_tensor_shape(query);
    const int64_t extent = shape.rank > 0 ? shape.dim[shape.rank - 1] : 1;
    return extent > 0 ? 1.0 / sqrt((double)extent) : 1.0;
}

/* The query is scaled, not the scores: it is smaller, and fp16 scores stay in range. */
mw_tensor *mw__attention_weights(mw_tensor *query, mw_tensor *key, mw_tensor *mask)
{
    mw_tensor *scaled = mw_mul_scalar(query, mw__attention_scale(query));
    mw_tensor *scores = mw_matmul(scaled, key, MW_TRANSPOSE_Y);
    if (mask != NULL && mw_tensor_dtype(mask) == MW_BOOL) {
        mw_tensor *never = mw_scalar(mw_tensor_graph(query), mw_tensor_dtype(query), -INFINITY);
        scores = mw_select(mask, scores, never);
    } else if (mask != NULL) {
        const mw_dtype dtype = mw_tensor_dtype(query);
        scores = mw_add(scores, mw_tensor_dtype(mask) == dtype ? mask : mw_cast(mask, dtype));
    }
    return mw_softmax(scores, -1);
}

static mw_tensor *compact(mw_tensor *query, mw_tensor *key, mw_tensor *value, mw_tensor *mask)
{
    mw__build build = mw__build_begin("scaled_dot_product_attention", query);
    mw__build_set(&build, "query", query);
    mw__build_set(&build, "key", key);
    mw__build_set(&build, "value", value);
    if (mask != NULL)
        mw__build_set(&build, "attn_mask", mask);
    return mw__build_end(&build);
}

mw_tensor *mw__attention(mw_tensor *query, mw_tensor *key, mw_tensor *value, mw_tensor *mask, mw__lowering lowering)
{
    if (lowering == MW__LOWERING_NATIVE)
        return compact(query, key, value, mask);
    return mw_matmul(mw__attention_weights(query, key, mask), value, MW_TRANSPOSE_NONE);
}
