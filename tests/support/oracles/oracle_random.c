/* The reference evaluator: random numbers, by the formulas of the documentation. Fixed seeds only. */
#include "support/oracles/oracle.h"

#include <math.h>
#include <string.h>

/* Philox 4x32-10 as the paper defines it: ten rounds of (L, R) -> (hi, lo) products, the key bumped between rounds. */
static void philox(uint32_t seed, uint64_t index, double out[2])
{
    uint64_t x[4] = {index & 0xFFFFFFFFu, index >> 32, 0, 0}, key[2] = {seed, 0};
    for (int round = 0; round < 10; round++) {
        if (round > 0) {
            key[0] = (key[0] + 0x9E3779B9u) % 4294967296u;
            key[1] = (key[1] + 0xBB67AE85u) % 4294967296u;
        }
        const uint64_t m0 = x[0] * 0xD2511F53u, m1 = x[2] * 0xCD9E8D57u;
        const uint64_t next[4] = {(m1 / 4294967296u) ^ x[1] ^ key[0], m1 % 4294967296u,
                                  (m0 / 4294967296u) ^ x[3] ^ key[1], m0 % 4294967296u};
        memcpy(x, next, sizeof x);
    }
    out[0] = (double)x[0];
    out[1] = (double)x[1];
}

static bool elements(oracle *o, const mw__op *op)
{
    double *out = o->data[op->results[0]->id];
    for (int64_t i = 0; i < oracle_count(op->results[0]); i++) {
        double w[2];
        philox((uint32_t)oracle_int(op, "seed"), (uint64_t)i, w);
        if (strcmp(op->kind, "random_normal") == 0)
            out[i] = oracle_number(op, "mean") + oracle_number(op, "stddev") * sqrt(-2 * log(ldexp(w[0] + 1, -32))) *
                                                     cos(2 * acos(-1.0) * ldexp(w[1], -32));
        else if (strcmp(op->kind, "random_bernoulli") == 0)
            out[i] = ldexp(w[0], -32) < oracle_number(op, "prob");
        else
            out[i] = oracle_number(op, "low") +
                     (oracle_number(op, "high") - oracle_number(op, "low")) * ldexp(floor(w[0] / 256), -24);
    }
    return true;
}

static bool categorical(oracle *o, const mw__op *op)
{
    const mw_shape shape = oracle_shape(op, "x");
    const int64_t classes = shape.dim[shape.rank - 1], size = oracle_int(op, "size");
    const bool logits = strcmp(mw__arg_string(op, "mode"), "logits") == 0;
    double *out = o->data[op->results[0]->id];
    for (int64_t i = 0; i < oracle_count(op->results[0]); i++) {
        const double *x = oracle_arg(o, op, "x") + i / size * classes;
        double w[2], total = 0, sum = 0;
        philox((uint32_t)oracle_int(op, "seed"), (uint64_t)i, w);
        for (int64_t c = 0; c < classes; c++)
            total += logits ? exp(x[c]) : fmax(x[c], 0);
        while (out[i] < (double)classes - 1) {
            const double p = x[(int64_t)out[i]];
            sum += logits ? exp(p) : fmax(p, 0);
            if (sum > ldexp(w[0], -32) * total)
                break;
            out[i]++;
        }
    }
    return true;
}

bool oracle_of_random(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"random_normal", elements},
                                      {"random_uniform", elements},
                                      {"random_bernoulli", elements},
                                      {"random_categorical", categorical}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}
