/* What an operation does, in numbers that follow from its types alone: floating-point operations and bytes. One rule
 * for all who count: plans (engine/compile/plan/work.h), where a kernel does not know better, and costs (chip/cost).
 *
 * Counted are addition, subtraction, multiplication, division, square root, comparison, maximum and minimum as 1, a
 * multiplication with addition as 2. Products of whole matrices are counted with what stands beyond the border of a
 * window. Nothing overflows: a number that does not fit is the largest one. */
#ifndef MW__GRAPH_IR_COUNT_H
#define MW__GRAPH_IR_COUNT_H

#include "base/visible.h"
#include "graph/ir/op_table.h"

/* What is counted of an operation: a column of its MW_KERNEL line. */
typedef enum mw__count_rule {
    MW__COUNT_UNKNOWN, /* there is exp or another such function in it, or only its steps know */
    MW__COUNT_NONE,
    MW__COUNT_MOVES,        /* none: elements of its operands, as they are */
    MW__COUNT_EACH,         /* `flops` for an element of the result */
    MW__COUNT_COMPARES,     /* the same, if what is compared is floating-point */
    MW__COUNT_FOLDS,        /* 1 for each element of x that is folded into another */
    MW__COUNT_AVERAGES,     /* the same, and a division for each result */
    MW__COUNT_PRODUCT,      /* of matrices: matmul, linear */
    MW__COUNT_EINSUM,       /* of matrices too */
    MW__COUNT_WINDOWS,      /* of each window and the weight */
    MW__COUNT_WINDOWS_BACK, /* of each element of x and the weight */
    MW__COUNT_GATES,        /* a recurrent layer: its products, and functions that are not counted */
    MW__COUNT_SCORES        /* attention: likewise */
} mw__count_rule;

typedef struct mw__count_row {
    mw__count_rule rule;
    double flops;
} mw__count_row;

MW__SIBLING const mw__count_row *mw__op_count_row_of(mw__op_id id);

/* All that the operation computes; negative: it has no number, or an extent is not known. */
double mw__op_flops(const mw__op *op);
/* The same, or where there is no number what of it has one: the products of a recurrent layer and of attention, else 0.
 * Of an operation with blocks those of all of its blocks, each once. */
MW__SIBLING double mw__op_products(const mw__op *op);
/* Both with `open` in the place of each extent that is not known. */
MW__SIBLING double mw__op_flops_with(const mw__op *op, double open);
MW__SIBLING double mw__op_products_with(const mw__op *op, double open);

/* Bytes of a value as it is declared; of one that is expanded when the program is loaded (constexpr_*), those that are
 * stored. 0 where an extent or the type has no size. */
MW__SIBLING uint64_t mw__value_bytes(const mw_tensor *value);

typedef struct mw__traffic {
    uint64_t values;  /* operands that are computed, each once */
    uint64_t weights; /* operands that are constant, without numbers alone (axes, a factor) and what says how */
    uint64_t results;
} mw__traffic;

/* Each byte once, whatever caches make of it. What takes a part of its operand reads no more than it writes. */
MW__SIBLING mw__traffic mw__op_traffic(const mw__op *op);

/* Of one operand what it adds to the two: 0 where it is no data, or the same value as one before it. */
MW__SIBLING uint64_t mw__operand_bytes(const mw__op *op, size_t slot, size_t operand);

/* a + b, and the largest number where that does not fit. */
static inline uint64_t mw__add_saturated(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

#endif
