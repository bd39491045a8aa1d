/* What the operations of a differentiated graph decide at a point: on which side of each kink or jump it lies. */
#ifndef MW__INSPECT_GRADCHECK_DECISIONS_H
#define MW__INSPECT_GRADCHECK_DECISIONS_H

#include "graph/ir/ir.h"

#include <millwright/dataset.h>
#include <millwright/program.h>

/* A gradient is made of comparisons, chosen places and steps (sign, floor, ..) wherever its function has a kink or a
 * jump, and of nothing that is constant between them otherwise. So two points lie on one smooth piece if all of these
 * agree. */
typedef struct mw__decisions {
    mw_graph *graph;
    mw_program *program; /* NULL: nothing is decided */
    size_t count;        /* outputs of the program */
    size_t *sizes;       /* elements of each */
    float *values;       /* room for the largest */
} mw__decisions;

/* Of everything in `graph`, which holds the gradient too, that depends on x; for the feeds of `batch` (or NULL). Runs
 * on the CPU: what fp16 decides otherwise lies so near that it is a rounding. Memory is of the arena; to be released
 * also after a failure. */
mw_status mw__decisions_init(mw__decisions *d, mw__arena *arena, const mw_graph *graph, mw_tensor *const *x,
                             size_t count, const mw_compile_options *compile, const mw_batch *batch, mw_error *err);
void mw__decisions_deinit(mw__decisions *d);

/* A number that is another one, but for chance, where something is decided otherwise. The program has its inputs. */
mw_status mw__decisions_read(mw__decisions *d, uint64_t *out_hash, mw_error *err);

#endif
