/* Cases of normalisation. To cover a row: one builder if none fits, one line in the table. */
#include "support/op_case_rows.h"

/* clang-format off */
BUILD(softmax, mw_softmax(in[0], -1))
BUILD(softmax_first, mw_softmax(in[0], 0))
/* clang-format on */

/* clang-format off */
static const op_case rows[] = {
    LOOSE("softmax", "", b_softmax, 16, 0, LIBM, F(2, -4, 4, 5, 17)),
    LOOSE("softmax", "first axis", b_softmax_first, 16, 0, LIBM, F(3, -4, 4, 5, 3, 2)),
};
/* clang-format on */

OP_CASES(normalize, rows)
