/* Rules of which example the elements of a result belong to. Private to batch_rule.c and batch_rule_product.c. */
#ifndef MW__GRAPH_TRANSFORM_BATCH_BATCH_RULE_H
#define MW__GRAPH_TRANSFORM_BATCH_BATCH_RULE_H

#include "graph/transform/batch/batch.h"

/* What a rule sees. */
typedef struct mw__batch_asked {
    const mw__batch_rows *table;
    const mw__op *op;
    size_t result;
    int64_t batch;
    mw_shape shape; /* of the result */
} mw__batch_asked;

/* Where the rows of the result are, as far as it follows from the operands seen so far. */
typedef struct mw__batch_place {
    bool known;
    int axis;
    int64_t inner;
} mw__batch_place;

/* False: examples are mixed. */
typedef bool mw__batch_rule_of(const mw__batch_asked *a, mw__batch_place *out);

mw__batch_rows mw__batch_rows_of(const mw__batch_asked *a, mw_tensor *value);
mw__batch_rows mw__batch_rows_of_arg(const mw__batch_asked *a, const char *arg);
int mw__batch_rank_of(const mw__batch_asked *a, const char *arg);
/* An operand has its rows along `axis` of the result; all that have rows must agree. */
bool mw__batch_put_rows(const mw__batch_asked *a, mw__batch_place *out, int axis, int64_t inner);
bool mw__batch_arg_axis(const mw__batch_asked *a, const char *name, int rank, int *out);
/* x alone has rows, and they stay where they are. */
bool mw__batch_keep_x(const mw__batch_asked *a, mw__batch_place *out);
/* True if no operand but `arg` has rows. */
bool mw__batch_is_only(const mw__batch_asked *a, const char *arg);
/* Broadcasting counts axes from the end. A row axis that is itself broadcast is one row for all. */
bool mw__batch_put_aligned(const mw__batch_asked *a, mw__batch_place *out, const mw_tensor *value, mw__batch_rows rows);
bool mw__batch_elementwise(const mw__batch_asked *a, mw__batch_place *out);

/* ---- batch_rule_product.c ---- */

mw__batch_rule_of mw__batch_matmul, mw__batch_linear, mw__batch_einsum, mw__batch_attention, mw__batch_recurrent,
    mw__batch_gather, mw__batch_gather_along_axis, mw__batch_gather_nd, mw__batch_one_hot, mw__batch_resample_at,
    mw__batch_affine, mw__batch_boxes, mw__batch_crop_resize;

#endif
