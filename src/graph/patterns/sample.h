/* The elements of images at places, from operations that can be differentiated: the value that an operation of
 * ops/sample.def has, for its gradient and for chips, which have no such operation. The native form gathers the four
 * pixels around a place. The decomposed lowering has nothing to index with: there an element is a product of the image
 * with a weight for each pixel, max(0, 1 - distance) along rows and columns.
 *
 *     mw__sample sample;
 *     MW_TRY(mw__sample_read(op, &sample, err));
 *     mw_tensor *y = mw__sample_write(&sample, &operands, shape of the result);
 *
 * Places are found in fp32 here; those in constant boxes, for a chip, in double. */
#ifndef MW__GRAPH_PATTERNS_SAMPLE_H
#define MW__GRAPH_PATTERNS_SAMPLE_H

#include "graph/geometry/sampling.h"
#include "graph/ir/ir.h"

typedef struct mw__sample_operands {
    mw_tensor *x, *places, *index; /* index: of box_indices, or NULL */
    bool chip;                     /* the decomposed lowering */
} mw__sample_operands;

/* True if the boxes are constants, and, if boxes name their images, these are constants and exist. The decomposed
 * lowering is then exact except for rounding, and needs neither indices nor comparisons. */
bool mw__sample_is_constant(const mw__sample *sample, const mw_tensor *places, const mw_tensor *index);

/* `shape` is known and has elements. A NULL operand yields NULL. */
mw_tensor *mw__sample_write(const mw__sample *sample, const mw__sample_operands *operands, mw_shape shape);

#endif
