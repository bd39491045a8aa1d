/* The operands that the rows of losses.def call x, y, z, p, l and s. */
#ifndef MW_TESTS_LOSSES_H
#define MW_TESTS_LOSSES_H

#include <millwright/learn.h>

typedef struct loss_operands {
    mw_tensor *x, *y, *z, *p, *l, *s;
} loss_operands;

/* Defines `static mw_tensor *id(mw_graph *g)` for a row; `operands` makes them in a test's own sizes. */
#define LOSS_BUILDER(id, operands, expression)                                                                         \
    static mw_tensor *id(mw_graph *g)                                                                                  \
    {                                                                                                                  \
        const loss_operands all = operands(g);                                                                         \
        mw_tensor *x = all.x, *y = all.y, *z = all.z, *p = all.p, *l = all.l, *s = all.s;                              \
        (void)x, (void)y, (void)z, (void)p, (void)l, (void)s;                                                          \
        return expression;                                                                                             \
    }

#endif
