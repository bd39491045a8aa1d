/* The ways in which one operation can be computed, as rows: the first that takes it does, and the plain reference,
 * which takes everything, stands last. A row whose files this build has not is absent. */
#ifndef MW__ENGINE_KERNELS_IMPLEMENTATION_H
#define MW__ENGINE_KERNELS_IMPLEMENTATION_H

#include "engine/core/kernel.h"

typedef struct mw__implementation {
    const char *name;
    mw__level level;                           /* the least that it needs; asked first, before any code of its files */
    const char *(*declines)(const mw__op *op); /* a static sentence why not; NULL: it takes the operation */
    mw__kernel_plan *plan;
} mw__implementation;

typedef struct mw__implementations {
    const mw__implementation *rows;
    size_t count;
} mw__implementations;

/* Why the row does not take the operation; NULL if it does. */
const char *mw__implementation_declines(const mw__implementation *row, const mw__config *config, const mw__op *op);
/* The row that takes it. */
const mw__implementation *mw__implementation_choose(mw__implementations list, const mw__config *config,
                                                    const mw__op *op);

/* conv, whose window is one that mw__conv_window_read reads, and with a result that is not empty. */
mw__implementations mw__conv_implementations(void);

#endif
