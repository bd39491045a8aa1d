/* Partition of values that a device cannot hold: integers beyond what fp16 counts to become two digits
 * (graph/patterns/digits.h), axes beyond its limit become blocks. A clone of the program in which every operation on
 * such a value is written for its parts; the user's graph is unchanged.
 *
 * What is split together is a group: if one operation of it has no row in split_transfer.c, all of the group stays as
 * it is, and the rows of rules accept or refuse it. Constants, ranges and fills are sources: they belong to no group,
 * and each part of them is made where it is used. */
#ifndef MW__MIL_LEGALIZE_SPLIT_H
#define MW__MIL_LEGALIZE_SPLIT_H

#include "graph/patterns/digits.h"
#include "graph/transform/clone/clone.h"
#include "passes/log.h"

/* ---- for the runtime ---- */

/* True if the program, as it is, has an index that fp16 cannot hold or an axis beyond the limit, and these can be
 * split, or an index that is fed to an operation that takes it only in another form.
 *  to  a fresh graph, which receives the program; untouched if there is nothing to do */
typedef struct mw__split_options {
    int64_t axis_max;  /* a multiple of MW__DIGIT_BASE; less only where no index has two digits */
    mw__pass_log *log; /* or NULL */
} mw__split_options;
mw_status mw__mil_split(const mw_graph *from, mw_graph *to, const mw__split_options *options, bool *out_split,
                        mw_error *err);

/* ---- private to the files split*.c ---- */

/* The parts of a value in the copy: parts[block * digits + digit]. */
typedef struct mw__split_form {
    mw_tensor **parts;
    int64_t blocks;
    int digits; /* 1 or 2; 0 = the value has no form */
} mw__split_form;

typedef struct mw__split {
    const mw__function *from;
    mw_graph *to;
    int64_t axis_max;
    const mw__pass_log *log; /* what is left out; or NULL */
    size_t count;            /* of values in the source */
    uint32_t *parents;       /* [2][count]: of the groups, for indices and for long axes */
    unsigned char *marks;    /* [count]: mw__split_mark */
    mw__split_form *forms;   /* [count] */
    mw__split_form *sources; /* [3][count]: of sources: blocks, blocks of digits, digits */
    mw__split_form *hots;    /* [count]: numbers 0 and 1 of comparisons, [blocks] */
} mw__split;

typedef enum mw__split_mark {
    MW__SPLIT_LIVE = 1,      /* some result needs it */
    MW__SPLIT_SOURCE = 2,    /* made of constants only */
    MW__SPLIT_FED = 4,       /* an integer that comes from an input: fp16 on the device */
    MW__SPLIT_WIDE = 8,      /* of a group of indices: compared with numbers that fp16 cannot count to */
    MW__SPLIT_NO_INDEX = 16, /* of a group of indices: stays whole */
    MW__SPLIT_NO_LONG = 32,  /* of a group of long axes: stays whole */
    MW__SPLIT_INDEX = 64     /* an index is made of it: an integer, or a truth that chooses one */
} mw__split_mark;

/* split_transfer.c */

/* How an operation takes indices that may be in digits. */
typedef struct mw__split_indexing {
    const char *table; /* the argument that they look into; NULL = the result */
    bool puts;         /* they are positions to write; else, positions to read */
    bool batched;      /* from ios16 on it has batch_dims */
} mw__split_indexing;

/* How an operation takes indices; NULL if it takes none, or breaks its own rule. */
const mw__split_indexing *mw__split_indexing_of(const mw__split *split, const mw__op *op);
/* Whether integers in digits may pass through an operation, and whether it may have a long axis in blocks. */
bool mw__split_takes_digits(const mw__split *split, const mw__op *op);
bool mw__split_takes_blocks(const mw__split *split, const mw__op *op);
/* What they ask, in split_plan.c, split_index.c, split_long.c and split_sum.c. */
bool mw__split_always(const mw__split *split, const mw__op *op);
bool mw__split_index_fits(const mw__split *split, const mw__op *op);
bool mw__split_makes_index(const mw__split *split, const mw__op *op);
bool mw__split_casts_integers(const mw__split *split, const mw__op *op);
bool mw__split_x_is_long(const mw__split *split, const mw__op *op);
bool mw__split_result_is_long(const mw__split *split, const mw__op *op);
bool mw__split_reshape_fits(const mw__split *split, const mw__op *op);
bool mw__split_linear_fits(const mw__split *split, const mw__op *op);
bool mw__split_matmul_fits(const mw__split *split, const mw__op *op);
bool mw__split_concat_fits(const mw__split *split, const mw__op *op);
bool mw__split_slice_fits(const mw__split *split, const mw__op *op);
bool mw__split_tile_fits(const mw__split *split, const mw__op *op);

/* split_plan.c: what is split; true if anything is. */
bool mw__split_plan(mw__split *split);
bool mw__split_is_source(const mw__split *split, const mw_tensor *value);
/* The axis beyond the limit: -1 none, -2 several, or one of more blocks than are made. */
int mw__split_axis(const mw__split *split, const mw_tensor *value);
/* True if the value has blocks; of a source, that it has them where it is used with others. */
bool mw__split_is_long(const mw__split *split, const mw_tensor *value);
bool mw__split_is_wide(const mw__split *split, const mw_tensor *value);
/* True if an index operation (gather, one_hot, scatter) is written in another form. */
bool mw__split_takes(const mw__split *split, const mw__op *op);
bool mw__split_is_int(const mw_tensor *value);
/* True if the argument of an operation takes the element type, or the elements, of the result. */
bool mw__split_carries(const mw__arg_row *row);
/* range_1d of integers from 0 in steps of 1, possibly with extents of 1 around it; out_axis = where it runs. */
bool mw__split_is_count(const mw__split *split, const mw_tensor *value, int *out_axis);

/* split_part.c: the parts. Axes of one extent are partitioned alike everywhere. Begin and extent of block `index`: */
void mw__split_block(const mw__split *split, int64_t extent, int64_t index, int64_t *out_begin, int64_t *out_count);
/* Blocks of an operation: those of its long operands or results, else 1. */
int64_t mw__split_blocks_of(const mw__split *split, const mw_tensor *value);
/* Block `block` of a value (all of it if it has none), its digit if `digits` is 2. */
mw_tensor *mw__split_part(mw__split *split, mw__clone *clone, const mw_tensor *value, int64_t block, int digits,
                          int digit);
/* All digits of an index: two if it is wide, or is a source beside one that is. */
mw__digits mw__split_digits(mw__split *split, mw__clone *clone, const mw_tensor *value, int64_t block, int digits);
/* In place of a block: all of the value. */
#define MW__SPLIT_WHOLE (-1)
/* The shape of a block. */
mw_shape mw__split_extents(const mw__split *split, const mw_tensor *value, int64_t block);
void mw__split_set(mw__split *split, mw__clone *clone, const mw_tensor *value, int64_t block, int digits, int digit,
                   mw_tensor *part);
/* Copies an operation for one block and digit: operands are their parts; results receive the parts. */
void mw__split_copy_op(mw__split *split, mw__clone *clone, const mw__op *op, int64_t block, int digits, int digit);

/* split_long.c: partials [.., n_k, ..] of blocks joined along `axis` and reduced to an extent of 1 there. */
mw_tensor *mw__split_join(mw_tensor *const *partials, int64_t count, const char *reduction, int axis);

#endif
