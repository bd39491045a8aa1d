/* The ways in which one kernel family can compute, as rows: the first that takes what is planned does, and the plain
 * one, which takes everything, stands last. A row whose files this build has not is absent. */
#ifndef MW__ENGINE_KERNELS_IMPLEMENTATION_H
#define MW__ENGINE_KERNELS_IMPLEMENTATION_H

#include "engine/core/kernel.h"

typedef struct mw__implementation {
    const char *name;
    mw__level level; /* the least that it needs; asked first, before any code of its files */
    /* Why it does not take what is planned, a static sentence; NULL: it does. `subject` has the family's type. NULL in
     * place of the function: it takes everything. */
    const char *(*declines)(const void *subject);
    mw__kernel_plan *plan; /* of families whose ways differ in their steps */
    mw__kernel *run;       /* of families whose ways differ in the kernel of one step */
    bool takes_packed;     /* of convolutions: expands a weight that stays as it is stored in parts */
    bool approximates;     /* what it gives are no sums of the products: not where those are asked for
                              (MW_ENGINE_EXACT_CONVOLUTION), on the model of the ANE, nor where fp16 is made of them */
    bool adds_freely;      /* adds products in its own order: never where sums are those of a chip */
} mw__implementation;

typedef struct mw__implementations {
    const mw__implementation *rows;
    size_t count;
} mw__implementations;

#define MW__IMPLEMENTATIONS(rows) ((mw__implementations){(rows), sizeof(rows) / sizeof *(rows)})

/* Why the row does not take the subject; NULL if it does. */
const char *mw__implementation_declines(const mw__implementation *row, const mw__config *config, const void *subject);
/* The row that takes it. */
const mw__implementation *mw__implementation_choose(mw__implementations list, const mw__config *config,
                                                    const void *subject);
/* The same, and notes for the steps that follow its name and why those before it declined. */
const mw__implementation *mw__plan_implementation(mw__planner *planner, mw__implementations list, const void *subject);

/* conv; subject: an operation whose window is one that mw__conv_window_read reads, with a result that is not empty. */
mw__implementations mw__conv_implementations(void);

#endif
