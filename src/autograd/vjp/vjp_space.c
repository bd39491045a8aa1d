/* VJPs of ops/space.def: each operation moves every element once, so that its adjoint is its inverse. */
#include "autograd/vjp/rules.h"

static int64_t block_of(const mw__vjp *vjp, const char *arg)
{
    int64_t block = 1;
    mw__arg_int(vjp->op, arg, &block);
    return block;
}

void mw__vjp_depth_to_space(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", mw_space_to_depth(vjp->dy[0], block_of(vjp, "block_size")));
}

void mw__vjp_space_to_depth(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", mw_depth_to_space(vjp->dy[0], block_of(vjp, "block_size")));
}

void mw__vjp_pixel_shuffle(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", mw_pixel_unshuffle(vjp->dy[0], block_of(vjp, "upscale_factor")));
}

void mw__vjp_pixel_unshuffle(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", mw_pixel_shuffle(vjp->dy[0], block_of(vjp, "downscale_factor")));
}

/* What is padded in one direction is cropped in the other. */
void mw__vjp_space_to_batch(mw__vjp *vjp)
{
    int64_t block[2] = {1, 1}, border[4] = {0};
    size_t count;
    mw__arg_ints(vjp->op, "block_shape", block, 2, &count);
    mw__arg_ints(vjp->op, "paddings", border, 4, &count);
    mw__vjp_set(vjp, "x", mw_batch_to_space(vjp->dy[0], block, border));
}

void mw__vjp_batch_to_space(mw__vjp *vjp)
{
    int64_t block[2] = {1, 1}, border[4] = {0};
    size_t count;
    mw__arg_ints(vjp->op, "block_shape", block, 2, &count);
    mw__arg_ints(vjp->op, "crops", border, 4, &count);
    mw__vjp_set(vjp, "x", mw_space_to_batch(vjp->dy[0], block, border));
}
