/* Fine-tuning of dilated convolutions. MIL dilates weights that are constants alone; one that is trained, or made of
 * one that is, is spread with zeros, as mw_conv does. */
#include "graph/patterns/conv.h"
#include "graph/transform/tune/trainable.h"

#include <string.h>

typedef struct dilated {
    int64_t dilation[MW__CONV_AXES];
    size_t axes;
} dilated;

static mw_tensor *swap_dilated(void *user, mw__clone *clone, const mw__op *op, size_t slot, const mw__operand *operand)
{
    static const int32_t ones[MW__CONV_AXES] = {1, 1, 1};
    const dilated *d = user;
    const char *arg = op->slots[slot].name;
    if (strcmp(arg, "weight") == 0)
        return mw__conv_dilate_weight(mw__clone_get(clone, operand->value), d->dilation);
    return strcmp(arg, "dilations") == 0 ? mw_constant(clone->to, MW_I32, MW_SHAPE((int64_t)d->axes), ones) : NULL;
}

bool mw__tune_spread_dilated(mw__clone *clone, const mw__op *op)
{
    dilated d = {.axes = 0};
    bool wide = false;
    if (op->row == NULL || strcmp(op->kind, "conv") != 0 || !mw__is_constant(mw__arg(op, "weight")) ||
        !mw__arg_ints(op, "dilations", d.dilation, MW__CONV_AXES, &d.axes))
        return false;
    const mw_tensor *weight = mw__clone_get(clone, mw__arg(op, "weight"));
    for (size_t i = 0; i < d.axes; i++)
        wide = wide || d.dilation[i] > 1;
    if (!wide || weight == NULL || mw__is_constant(weight))
        return false;
    mw__clone_op_with(clone, op, swap_dilated, &d);
    return true;
}
