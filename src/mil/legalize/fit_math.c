/* Functions that one chip lacks, or gets wrong for some numbers, in fp16 from those that it has. */
#include "mil/legalize/fit.h"
#include "mil/legalize/rewrites.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

static mw_tensor *number_like(const mw_tensor *like, double value)
{
    return mw_scalar(mw_tensor_graph(like), mw_tensor_dtype(like), value);
}

/* ---- sine and cosine ---- */

#define PI 3.14159265358979323846

/* The nearest multiple of pi: k for sine, from where x is k pi + r; for cosine k + 1/2. What is rounded is not
 * multiplied by a number, which a chip would lose (ANEForge, issue 112): something is added first. */
static mw_tensor *multiple(mw_tensor *x, bool cosine)
{
    mw_tensor *turns = mw_mul(x, number_like(x, 1.0 / PI));
    return cosine ? mw_add(mw_floor(turns), number_like(x, 0.5))
                  : mw_sub(mw_floor(mw_add(turns, number_like(x, 1.5))), number_like(x, 1.0));
}

/* x - k pi in steps that fp16 does not round: pi = 3 + 2^-3 + 2^-6 + 2^-10 - 8.909e-6, where the products of the first
 * four with k are exact for |x| up to 1024, and their differences are. */
static mw_tensor *remainder_of(mw_tensor *x, mw_tensor *k)
{
    static const double parts[] = {3.0, 0x1p-3, 0x1p-6, 0x1p-10};
    double rest = PI;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        x = mw_sub(x, mw_mul(k, number_like(x, parts[i])));
        rest -= parts[i];
    }
    return mw_sub(x, mw_mul(mw_mul(k, number_like(x, 0x1p-10)), number_like(x, rest * 0x1p10)));
}

/* The series of sine in t = (r / 2)^2, whose coefficients fp16 holds; 2e-4 off at 2.2, to which the rounded quotient
 * leaves r. */
static mw_tensor *series(mw_tensor *r)
{
    static const double coefficients[] = {256.0 / 362880.0, -64.0 / 5040.0, 16.0 / 120.0, -4.0 / 6.0, 1.0};
    mw_tensor *half = mw_mul(r, number_like(r, 0.5)), *t = mw_mul(half, half);
    mw_tensor *sum = number_like(r, coefficients[0]);
    for (size_t i = 1; i < sizeof coefficients / sizeof *coefficients; i++)
        sum = mw_add(mw_mul(sum, t), number_like(r, coefficients[i]));
    return mw_mul(r, sum);
}

/* 1 for even whole numbers, -1 for odd ones. */
static mw_tensor *sign_of(mw_tensor *whole)
{
    mw_tensor *even = mw_floor(mw_mul(whole, number_like(whole, 0.5)));
    mw_tensor *odd = mw_sub(mw_sub(whole, even), even);
    return mw_sub(number_like(whole, 1.0), mw_mul(odd, number_like(whole, 2.0)));
}

/* sin(k pi + r) = (-1)^k sin r, cos((k + 1/2) pi + r) = -(-1)^k sin r */
mw_tensor *mw__workaround_sine(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const bool cosine = strcmp(op->kind, "cos") == 0;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    (void)pass;
    if (x == NULL)
        return NULL;
    mw_tensor *k = multiple(x, cosine), *sine = series(remainder_of(x, k));
    mw_tensor *y = mw_mul(sign_of(cosine ? mw_sub(k, number_like(x, 0.5)) : k), sine);
    return cosine ? mw_sub(number_like(x, 0.0), y) : y;
}

/* ---- beyond what a chip computes right ---- */

mw_tensor *mw__workaround_round(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    (void)pass;
    mw_tensor *near = mw_less(mw_abs(x), number_like(x, 1024.0)), *rounded = mw_round(x);
    return mw_select(near, rounded, x);
}

/* ---- products ---- */

bool mw__workaround_is_wide_square(const mw__rewriting *pass, const mw__op *op)
{
    mw__trip trip = {0};
    return mw__legality_chip(pass->legality)->chip != MW_CHIP_AUTO && mw__legality_square_is_wide(op, &trip);
}

mw_tensor *mw__workaround_square(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    (void)pass;
    return mw_mul(x, x);
}

/* The argument that is computed, beside a constant one. */
static const char *computed(const mw__op *op)
{
    const mw_tensor *x = mw__arg(op, "x");
    return x != NULL && mw__is_constant(x) ? "y" : "x";
}

bool mw__workaround_is_zero(const mw__rewriting *pass, const mw__op *op)
{
    (void)pass;
    return mw_shape_equal(mw_tensor_shape(mw__arg(op, computed(op))), mw_tensor_shape(op->results[0]));
}

mw_tensor *mw__workaround_zero(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw_tensor *x = mw__decompose_arg(clone, op, computed(op));
    (void)pass;
    return mw_sub(x, x);
}

enum { SCALE_MAX = 1 << 22 }; /* elements of a constant */

bool mw__workaround_is_scale(const mw__rewriting *pass, const mw__op *op)
{
    (void)pass;
    const int64_t count = mw_shape_count(mw_tensor_shape(op->results[0]));
    return count > 1 && count <= SCALE_MAX && mw_tensor_dtype(op->results[0]) == MW_F16;
}

/* The number in every element of a constant, which is data and no splat. */
mw_tensor *mw__workaround_scale(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const char *x = computed(op);
    const mw_tensor *scale = mw__arg(op, x[0] == 'x' ? "y" : "x");
    const mw_shape shape = mw_tensor_shape(op->results[0]);
    const size_t count = (size_t)mw_shape_count(shape);
    uint16_t *data = mw__arena_alloc(&clone->to->arena, count, sizeof *data, &clone->to->error);
    (void)pass;
    for (size_t i = 0; data != NULL && i < count; i++)
        memcpy(&data[i], scale->payload->data, sizeof *data);
    mw_tensor *copy = mw__decompose_arg(clone, op, x);
    return data != NULL ? mw_mul(copy, mw_constant(clone->to, MW_F16, shape, data)) : NULL;
}
