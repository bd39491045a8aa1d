/* The reference evaluator: blocks, every element of the result by where it came from. */
#include "support/oracles/oracle.h"

/* Coordinates of the result into those of x; false where the result is 0. */
typedef bool place(const mw__op *op, mw_shape in, mw_shape out, int64_t *at);

static bool move(oracle *o, const mw__op *op, place *from)
{
    const mw_shape in = oracle_shape(op, "x"), out = op->results[0]->type->shape;
    for (int64_t i = 0; i < mw_shape_count(out); i++) {
        int64_t at[MW_RANK_MAX] = {0};
        oracle_unravel(out, i, at);
        o->data[op->results[0]->id][i] = from(op, in, out, at) ? oracle_arg(o, op, "x")[oracle_ravel(in, at)] : 0.0;
    }
    return true;
}

static bool from_depth(const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)in;
    const int64_t b = oracle_int(op, "block_size");
    at[1] += (at[2] % b * b + at[3] % b) * out.dim[1];
    at[2] /= b;
    at[3] /= b;
    return true;
}

static bool from_space(const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)out;
    const int64_t b = oracle_int(op, "block_size"), position = at[1] / in.dim[1];
    at[1] %= in.dim[1];
    at[2] = at[2] * b + position / b;
    at[3] = at[3] * b + position % b;
    return true;
}

static bool from_pixels(const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)in, (void)out;
    const int64_t b = oracle_int(op, "upscale_factor");
    at[1] = at[1] * b * b + at[2] % b * b + at[3] % b;
    at[2] /= b;
    at[3] /= b;
    return true;
}

static bool from_image(const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)in, (void)out;
    const int64_t b = oracle_int(op, "downscale_factor"), position = at[1] % (b * b);
    at[1] /= b * b;
    at[2] = at[2] * b + position / b;
    at[3] = at[3] * b + position % b;
    return true;
}

static bool from_padded(const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)out;
    int64_t block[2 * MW_RANK_MAX], paddings[2 * MW_RANK_MAX];
    oracle_ints(op, "block_shape", block);
    oracle_ints(op, "paddings", paddings);
    const int64_t position = at[0] / in.dim[0];
    at[0] %= in.dim[0];
    at[2] = at[2] * block[0] + position / block[1] - paddings[0];
    at[3] = at[3] * block[1] + position % block[1] - paddings[2];
    return at[2] >= 0 && at[2] < in.dim[2] && at[3] >= 0 && at[3] < in.dim[3];
}

static bool from_batch(const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)in;
    int64_t block[2 * MW_RANK_MAX], crops[2 * MW_RANK_MAX];
    oracle_ints(op, "block_shape", block);
    oracle_ints(op, "crops", crops);
    at[2] += crops[0];
    at[3] += crops[2];
    at[0] += (at[2] % block[0] * block[1] + at[3] % block[1]) * out.dim[0];
    at[2] /= block[0];
    at[3] /= block[1];
    return true;
}

static bool depth_to_space(oracle *o, const mw__op *op) { return move(o, op, from_depth); }
static bool space_to_depth(oracle *o, const mw__op *op) { return move(o, op, from_space); }
static bool pixel_shuffle(oracle *o, const mw__op *op) { return move(o, op, from_pixels); }
static bool pixel_unshuffle(oracle *o, const mw__op *op) { return move(o, op, from_image); }
static bool space_to_batch(oracle *o, const mw__op *op) { return move(o, op, from_padded); }
static bool batch_to_space(oracle *o, const mw__op *op) { return move(o, op, from_batch); }

bool oracle_of_space(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"depth_to_space", depth_to_space}, {"space_to_depth", space_to_depth},
                                      {"pixel_shuffle", pixel_shuffle},   {"pixel_unshuffle", pixel_unshuffle},
                                      {"space_to_batch", space_to_batch}, {"batch_to_space", batch_to_space}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}
