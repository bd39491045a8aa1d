/* Attention: shape rule and constructor of ops/attention.def. Its forms are in patterns/attention.c. */
#include <millwright/ops/attention.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"
#include "graph/patterns/attention.h"

typedef struct operands {
    mw_shape query, key, value;
} operands;

static mw_status fail_pair(const mw__infer *infer, const char *what, const char *first, const char *second)
{
    char a[240], b[240];
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s: %s and %s", what, mw__arg_print(infer->op, first, a, sizeof a),
                         mw__arg_print(infer->op, second, b, sizeof b));
}

/* One batch extent of all three, from whichever knows it. */
static mw_status meet(const mw__infer *infer, const char *other, mw_shape shape, mw_shape *batch)
{
    if (shape.rank != batch->rank + 2)
        return fail_pair(infer, "ranks differ", "query", other);
    for (int i = 0; i < batch->rank; i++) {
        if (!mw__dim_fits(shape.dim[i], batch->dim[i]))
            return fail_pair(infer, "batch extents differ (they do not broadcast)", "query", other);
        batch->dim[i] = batch->dim[i] == MW_DIM_UNKNOWN ? shape.dim[i] : batch->dim[i];
    }
    return MW_OK;
}

static mw_status check_operands(const mw__infer *infer, const operands *o, mw_shape *out_batch)
{
    char text[240];
    const int rank = o->query.rank;
    if (rank < 3)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s has rank %d, at least 3 is wanted: [B, .., L, E]",
                             mw__arg_print(infer->op, "query", text, sizeof text), rank);
    *out_batch = o->query;
    out_batch->rank -= 2;
    MW_TRY(meet(infer, "key", o->key, out_batch));
    MW_TRY(meet(infer, "value", o->value, out_batch));
    if (!mw__dim_fits(o->query.dim[rank - 1], o->key.dim[rank - 1]))
        return fail_pair(infer, "the last extents differ", "query", "key");
    if (!mw__dim_fits(o->key.dim[rank - 2], o->value.dim[rank - 2]))
        return fail_pair(infer, "one value for each key is wanted", "key", "value");
    if (o->key.dim[rank - 2] == 0 || o->key.dim[rank - 1] == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s has no elements to attend to",
                             mw__arg_print(infer->op, "key", text, sizeof text));
    return MW_OK;
}

/* The mask broadcasts to [B, .., L, S] and never the other way. */
static bool mask_fits(mw_shape mask, mw_shape scores)
{
    bool good = mask.rank <= scores.rank;
    for (int i = 1; good && i <= mask.rank; i++)
        good = mask.dim[mask.rank - i] == 1 || mw__dim_fits(mask.dim[mask.rank - i], scores.dim[scores.rank - i]);
    return good;
}

static mw_status check_mask(const mw__infer *infer, const operands *o, mw_shape scores)
{
    char mask[240], wanted[200];
    if (!mw__arg_present(infer->op, "attn_mask"))
        return MW_OK;
    const mw_dtype dtype = mw__rule_dtype(infer, "attn_mask");
    if (dtype != MW_BOOL && dtype != MW_F16 && dtype != MW_F32)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "attn_mask is %s, not bool, fp16 or fp32", mw_dtype_name(dtype));
    scores.dim[scores.rank++] = o->query.dim[o->query.rank - 2];
    scores.dim[scores.rank++] = o->key.dim[o->key.rank - 2];
    if (mask_fits(mw__rule_shape(infer, "attn_mask"), scores))
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s does not broadcast to the scores %s",
                         mw__arg_print(infer->op, "attn_mask", mask, sizeof mask),
                         mw__shape_print(scores, wanted, sizeof wanted));
}

mw_status mw__shape_scaled_dot_product_attention(mw__infer *infer)
{
    const operands o = {mw__rule_shape(infer, "query"), mw__rule_shape(infer, "key"), mw__rule_shape(infer, "value")};
    mw_shape shape;
    MW_TRY(check_operands(infer, &o, &shape));
    MW_TRY(check_mask(infer, &o, shape));
    shape.dim[shape.rank++] = o.query.dim[o.query.rank - 2];
    shape.dim[shape.rank++] = o.value.dim[o.value.rank - 1];
    return mw__rule_result(infer, mw__rule_dtype(infer, "query"), shape);
}

/* ---- constructor ---- */

/* What the operations of the composed form would let pass, since they broadcast. */
static bool check_composed(mw_tensor *query, mw_tensor *key, mw_tensor *value, const mw_tensor *mask)
{
    char q[200], k[200], v[200], m[200];
    const mw_shape a = mw_tensor_shape(query), b = mw_tensor_shape(key), c = mw_tensor_shape(value);
    bool good = a.rank >= 3 && a.rank == b.rank && a.rank == c.rank;
    for (int i = 0; good && i < a.rank - 2; i++)
        good = mw__dim_fits(a.dim[i], b.dim[i]) && mw__dim_fits(a.dim[i], c.dim[i]);
    good = good && a.dim[a.rank - 1] != 0 && b.dim[b.rank - 2] != 0;
    if (!good)
        mw__graph_fail(query->graph, MW_ERROR_SHAPE,
                       "scaled_dot_product_attention: query %s, key %s and value %s must have one rank, 3 or more, and "
                       "equal batch extents",
                       mw__shape_print(a, q, sizeof q), mw__shape_print(b, k, sizeof k),
                       mw__shape_print(c, v, sizeof v));
    const mw_shape own = mw_tensor_shape(mask);
    mw_shape scores = a;
    if (good)
        scores.dim[a.rank - 1] = b.dim[a.rank - 2];
    if (!good || mask == NULL || mask_fits(own, scores))
        return good;
    mw__graph_fail(query->graph, MW_ERROR_SHAPE,
                   "scaled_dot_product_attention: mask %s does not broadcast to the scores %s",
                   mw__shape_print(own, m, sizeof m), mw__shape_print(scores, q, sizeof q));
    return false;
}

mw_tensor *mw_scaled_dot_product_attention(mw_tensor *query, mw_tensor *key, mw_tensor *value, mw_tensor *mask)
{
    MW__FLOAT_SCOPE;
    if (query == NULL || key == NULL || value == NULL || query->graph->error.status != MW_OK)
        return NULL;
    const mw_graph *graph = query->graph;
    const mw_opset opset = graph->current->opset;
    const bool exists = mw__row_find("scaled_dot_product_attention", opset, NULL) != NULL;
    const mw__lowering lowering = exists ? graph->lowering : MW__LOWERING_DECOMPOSED;
    if (lowering == MW__LOWERING_DECOMPOSED && !check_composed(query, key, value, mask))
        return NULL;
    return mw__attention(query, key, value, mask, lowering);
}
