/* Random numbers that are the same in every run, as constants: a chip draws none. */
#include "base/number/fp16.h"
#include "base/number/random.h"
#include "mil/legalize/decompose.h"
#include "mil/legalize/rewrites.h"
#include "mil/legalize/split.h"

#include <math.h>
#include <millwright/millwright.h>

enum { DRAWN_MAX = 1 << 22 }; /* numbers of a constant */

/* a and b: of random_normal mean and stddev, of random_uniform low and high, of random_bernoulli prob and nothing. */
typedef struct distribution {
    mw__random_draw *draw;
    double a, b;
    double below; /* every number is; random_uniform */
    int64_t seed;
    bool single; /* has one number, which is `only` */
    double only;
} distribution;

static bool read_distribution(const mw__op *op, distribution *d)
{
    *d = (distribution){.below = HUGE_VAL, .seed = -1};
    bool good = mw__arg_int(op, "seed", &d->seed);
    if (mw__op_is(op, "random_normal")) {
        good = good && mw__arg_float(op, "mean", &d->a) && mw__arg_float(op, "stddev", &d->b);
        d->draw = mw__random_draw_normal;
        d->single = d->b == 0.0;
        d->only = d->a;
    } else if (mw__op_is(op, "random_uniform")) {
        good = good && mw__arg_float(op, "low", &d->a) && mw__arg_float(op, "high", &d->b);
        d->draw = mw__random_draw_uniform;
        d->single = d->a == d->b;
        d->only = d->a;
        d->below = d->b;
    } else {
        good = good && mw__arg_float(op, "prob", &d->a);
        d->draw = mw__random_draw_bernoulli;
        d->single = d->a == 0.0 || d->a == 1.0;
        d->only = d->a;
    }
    return good;
}

bool mw__decompose_is_drawn(const mw__rewriting *pass, const mw__op *op)
{
    distribution d;
    const mw_tensor *result = op->results[0];
    const bool is_float = mw_tensor_dtype(result) == MW_F32 || mw_tensor_dtype(result) == MW_F16;
    return mw__decompose_always(pass, op) && is_float && read_distribution(op, &d) &&
           (d.single || (d.seed >= 0 && mw_shape_count(mw_tensor_shape(result)) <= DRAWN_MAX));
}

/* The next fp16 number towards minus infinity. */
static uint16_t next_below(uint16_t half)
{
    return half == 0 ? 0x8001u : (uint16_t)((half & 0x8000u) != 0 ? half + 1u : half - 1u);
}

/* Element i, as the CPU draws it, in fp16. */
static uint16_t drawn(const distribution *d, int64_t i)
{
    uint32_t words[4];
    const uint32_t key[2] = {(uint32_t)d->seed, 0}, counter[4] = {(uint32_t)i, (uint32_t)((uint64_t)i >> 32), 0, 0};
    mw__philox(words, counter, key);
    const uint16_t half = mw__fp16_from_double(d->draw(words, d->a, d->b));
    return (double)mw__fp16_to_float(half) >= d->below ? next_below(half) : half;
}

mw_tensor *mw__decompose_drawn(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    distribution d;
    mw_graph *to = clone->to;
    const mw_tensor *result = op->results[0];
    const mw_shape shape = mw_tensor_shape(result);
    (void)pass;
    if (!read_distribution(op, &d))
        return NULL;
    if (d.single)
        return mw_fill(to, mw_tensor_dtype(result), shape, d.only);
    uint16_t *data = mw__arena_alloc(&to->arena, (size_t)mw_shape_count(shape), sizeof *data, &to->error);
    for (int64_t i = 0; data != NULL && i < mw_shape_count(shape); i++)
        data[i] = drawn(&d, i);
    mw_tensor *numbers = data != NULL ? mw_constant(to, MW_F16, shape, data) : NULL;
    if (mw_tensor_dtype(result) == MW_F32)
        numbers = mw_cast(numbers, MW_F32);
    return result->is_output ? mw_identity(numbers) : numbers; /* a constant does not keep the name of an output */
}
