/* Which slot an operation wants. */
#include "rules/slots.h"

bool mw__slot_is_vector(const mw_tensor *value)
{
    const mw_shape shape = mw_tensor_shape(value);
    int longer = 0;
    for (int i = 0; i < shape.rank; i++)
        longer += shape.dim[i] != 1;
    return value->payload != NULL && longer <= 1;
}

/* The operand that is computed, where the other is a gain or an offset; NULL where it is no such pair. */
static const mw_tensor *live_operand(const mw__op *op)
{
    const mw_tensor *x = mw__arg(op, "x"), *y = mw__arg(op, "y");
    if (x == NULL || y == NULL || (x->payload == NULL) == (y->payload == NULL))
        return NULL;
    return mw__slot_is_vector(x->payload != NULL ? x : y) ? (x->payload != NULL ? y : x) : NULL;
}

/* Of an operation with a gain or an offset. */
static mw__slot_kind slot_of_pair(const mw__op *op, mw__slot_kind wanted, const mw_tensor **out_live)
{
    *out_live = live_operand(op);
    const bool divides = op->row->id == MW__OP_real_div && *out_live != mw__arg(op, "x");
    return *out_live != NULL && !divides ? wanted : MW__SLOT_NONE;
}

mw__slot_kind mw__slot_behind(const mw__op *op, const mw_tensor **out_live)
{
    *out_live = NULL;
    switch (op->row->id) {
    case MW__OP_mul:
    case MW__OP_real_div:
        return slot_of_pair(op, MW__SLOT_GAIN, out_live);
    case MW__OP_add:
    case MW__OP_sub:
        return slot_of_pair(op, MW__SLOT_OFFSET, out_live);
    case MW__OP_transpose:
    case MW__OP_reshape:
    case MW__OP_expand_dims:
    case MW__OP_squeeze:
        *out_live = mw__arg(op, "x");
        return MW__SLOT_LAYOUT;
    default:
        if (!mw__op_has(op, MW__TRAIT_UNARY))
            return MW__SLOT_NONE;
        *out_live = mw__arg(op, "x");
        return MW__SLOT_BEFORE;
    }
}

mw__slot_kind mw__slot_taken(mw__slot_kind wanted, mw__slot_kind before)
{
    return wanted == MW__SLOT_BEFORE && before >= MW__SLOT_BEFORE ? MW__SLOT_AFTER : wanted;
}
