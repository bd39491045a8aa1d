/* The reference evaluator: ops/attention.def. One result at a time. */
#include "support/oracles/oracle.h"

#include <math.h>

/* Score of row r and key s of one batch, with its mask. */
static double score(oracle *o, const mw__op *op, int64_t batch, int64_t r, int64_t s)
{
    mw_shape query = oracle_shape(op, "query"), scores = query;
    int64_t rows = query.dim[query.rank - 2], inner = query.dim[query.rank - 1];
    int64_t keys = oracle_shape(op, "key").dim[query.rank - 2];
    const double *q = oracle_arg(o, op, "query") + (batch * rows + r) * inner;
    const double *k = oracle_arg(o, op, "key") + (batch * keys + s) * inner;
    double sum = 0.0;
    for (int64_t e = 0; e < inner; e++)
        sum += q[e] * k[e];
    sum /= inner > 0 ? sqrt((double)inner) : 1.0;
    if (!mw__arg_present(op, "attn_mask"))
        return sum;
    scores.dim[scores.rank - 1] = keys;
    int64_t at = oracle_broadcast(scores, oracle_shape(op, "attn_mask"), (batch * rows + r) * keys + s);
    double mask = oracle_arg(o, op, "attn_mask")[at];
    if (mw__arg(op, "attn_mask")->type->dtype == MW_BOOL)
        return mask != 0.0 ? sum : -INFINITY;
    return sum + mask;
}

static bool attention(oracle *o, const mw__op *op)
{
    mw_shape query = oracle_shape(op, "query"), values = oracle_shape(op, "value");
    int64_t rows = query.dim[query.rank - 2], keys = values.dim[query.rank - 2], width = values.dim[query.rank - 1];
    double *y = o->data[op->results[0]->id];
    for (int64_t i = 0; width > 0 && i < oracle_count(op->results[0]) / width; i++) {
        int64_t batch = i / rows;
        const double *v = oracle_arg(o, op, "value") + batch * keys * width;
        double largest = -INFINITY, total = 0.0;
        for (int64_t s = 0; s < keys; s++)
            largest = fmax(largest, score(o, op, batch, i % rows, s));
        for (int64_t c = 0; c < width; c++)
            y[i * width + c] = 0.0;
        for (int64_t s = 0; s < keys; s++) {
            double weight = exp(score(o, op, batch, i % rows, s) - largest);
            total += weight;
            for (int64_t c = 0; c < width; c++)
                y[i * width + c] += weight * v[s * width + c];
        }
        for (int64_t c = 0; c < width; c++)
            y[i * width + c] /= total;
    }
    return true;
}

bool oracle_of_attention(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"scaled_dot_product_attention", attention}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}
