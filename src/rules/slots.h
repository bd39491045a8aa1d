/* What a layer of the hardware absorbs behind its operation: the slots of its epilogue, and which of them an operation
 * wants. The engine asks which values are not rounded (wide_chains), chip/plan what becomes of a graph.
 *
 * Source: ane-guide (github.com/sbryngelson/ane-guide), ch. 22: listing 22.3 has the slots in their order, and the
 * guard "Must have 2 inputs when convert EW to GOC" asks for one operand that is computed and one that is constant. */
#ifndef MW__RULES_SLOTS_H
#define MW__RULES_SLOTS_H

#include "base/visible.h"
#include "graph/ir/ir.h"

/* In order: what follows goes into a later slot than what is there. Gain and offset are one unit of the hardware. */
typedef enum mw__slot_kind {
    MW__SLOT_OPERATION,
    MW__SLOT_TEXTURE,   /* a remap of positions */
    MW__SLOT_BROADCAST, /* repetition along axes of one element */
    MW__SLOT_BEFORE,    /* an activation before the gain */
    MW__SLOT_GAIN,
    MW__SLOT_OFFSET,
    MW__SLOT_AFTER,  /* an activation after it */
    MW__SLOT_LAYOUT, /* transpose, reshape */
    MW__SLOT_QUANT,  /* to fewer bits */
    MW__SLOT_NONE    /* is not absorbed */
} mw__slot_kind;

/* One number, or one for each element of one axis; constant. */
bool mw__slot_is_vector(const mw_tensor *value);

/* The slot that the operation wants, and the operand that it continues; MW__SLOT_NONE and NULL where it wants none.
 * Of those that the engine leaves unrounded: activation, gain, offset, layout. */
MW__SIBLING mw__slot_kind mw__slot_behind(const mw__op *op, const mw_tensor **out_live);

/* Where it stands if the layer is filled up to `before`: an activation takes the second of its slots if the first is
 * behind. It fits if that is beyond `before`. */
MW__SIBLING mw__slot_kind mw__slot_taken(mw__slot_kind wanted, mw__slot_kind before);

#endif
