/* Crops in constant boxes, and other samples where no chip engine makes them, as products, which a chip has. */
#include "graph/patterns/sample.h"
#include "mil/legalize/decompose.h"
#include "mil/legalize/rewrites.h"

enum { WEIGHTS_MAX = 1 << 22 }; /* along an axis, of all boxes */

static mw_tensor *index_of(const mw__op *op, const mw__sample *sample)
{
    return sample->index != NULL && sample->box_numbers == 4 ? mw__arg(op, sample->index) : NULL;
}

static bool fits_sample(const mw__sample *s)
{
    if (s->planes < 1 || s->images < 1 || s->planes > WEIGHTS_MAX)
        return false;
    for (int i = 0; i < 2; i++) /* the extents are those of tensors and fit 31 bits */
        if (s->axis[i].in < 1 || s->planes * s->axis[i].out > WEIGHTS_MAX / s->axis[i].in)
            return false;
    return true;
}

/* Of a chip that is named and has no texture engine. */
bool mw__decompose_is_sampling(const mw__rewriting *pass, const mw__op *op)
{
    mw__sample s;
    mw_error err = {0};
    return mw__legality_names_rewrite(pass->legality, op, MW__RULE_sampling) &&
           mw_shape_count(mw_tensor_shape(op->results[0])) > 0 && mw__sample_read(op, &s, &err) == MW_OK &&
           fits_sample(&s);
}

bool mw__decompose_is_crop(const mw__rewriting *pass, const mw__op *op)
{
    mw__sample s;
    mw_error err = {0};
    if (!mw__decompose_always(pass, op) || mw_shape_count(mw_tensor_shape(op->results[0])) == 0 ||
        mw__sample_read(op, &s, &err) != MW_OK || !fits_sample(&s))
        return false;
    return mw__sample_is_constant(&s, mw__arg(op, s.places), index_of(op, &s));
}

mw_tensor *mw__decompose_crop(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw__sample s;
    if (mw__sample_read(op, &s, &clone->to->error) != MW_OK)
        return NULL;
    const mw__sample_operands operands = {.x = mw__decompose_arg(clone, op, "x"),
                                          .places = s.kind == MW__SAMPLE_BOXES
                                                        ? mw__arg(op, s.places) /* only read, as constants */
                                                        : mw__decompose_arg(clone, op, s.places),
                                          .index = index_of(op, &s),
                                          .chip = true};
    return mw__sample_write(&s, &operands, mw_tensor_shape(op->results[0]));
}
