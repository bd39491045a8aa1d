/* Cases of comparison and choice. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

/* clang-format off */
BINARY(equal)
BINARY(not_equal)
BINARY(less)
BINARY(less_equal)
BINARY(greater)
BINARY(greater_equal)
BINARY(logical_and)
BINARY(logical_or)
BINARY(logical_xor)
UNARY(logical_not)
BUILD(select, mw_select(in[2], in[0], in[1]))
/* clang-format on */

/* clang-format off */
static const op_case rows[] = {
    EXACT("equal", "int32", b_equal, I(2, 0, 3, 5, 7), I(1, 0, 3, 7)),
    EXACT("not_equal", "int32", b_not_equal, I(2, 0, 3, 5, 7), I(1, 0, 3, 7)),
    EXACT("less", "", b_less, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 7)),
    EXACT("less_equal", "int32", b_less_equal, I(2, 0, 3, 5, 7), I(2, 0, 3, 5, 7)),
    EXACT("greater", "", b_greater, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 1)),
    EXACT("greater_equal", "int32", b_greater_equal, I(2, 0, 3, 5, 7), I(2, 0, 3, 5, 7)),
    EXACT("equal", "", b_equal, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 7)),
    EXACT("less", "int32, left broadcast", b_less, I(1, 0, 3, 7), I(2, 0, 3, 5, 7)),
    EXACT("logical_and", "", b_logical_and, B(2, 5, 7), B(2, 5, 7)),
    EXACT("logical_and", "left broadcast", b_logical_and, B(1, 7), B(2, 5, 7)),
    EXACT("logical_or", "row", b_logical_or, B(2, 33, 70), B(1, 70)),
    EXACT("logical_or", "outer", b_logical_or, B(2, 6, 1), B(2, 1, 5)),
    EXACT("logical_xor", "column", b_logical_xor, B(2, 5, 7), B(2, 5, 1)),
    EXACT("logical_xor", "scalar", b_logical_xor, B(2, 5, 7), B(0, 0)),
    EXACT("logical_not", "", b_logical_not, B(2, 5, 7)),
    EXACT("select", "", b_select, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 7), B(2, 5, 7)),
    EXACT("select", "broadcast", b_select, F(2, -2, 2, 5, 7), F(0, -2, 2, 0), B(2, 5, 1)),
};
/* clang-format on */

OP_CASES(compare, rows)
