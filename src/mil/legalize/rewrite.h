/* What is written in another form for a device, as rows: mil/legalize/decompose.h writes operations that the device
 * refuses from others, mil/legalize/split.h values that it cannot hold in parts, then mil/legalize/legalize.h gives the
 * program the device's types, and mil/legalize/fit.h what one chip lacks. In each of these clones the first row that
 * applies to an operation writes it; an operation without one is copied.
 *
 * Three rewrites can be left out, to compare: conv_decomposed keeps a convolution as it is, which is then refused by
 * its row in rules; digits and blocks keep values whole. */
#ifndef MW__MIL_LEGALIZE_REWRITE_H
#define MW__MIL_LEGALIZE_REWRITE_H

#include "mil/legalize/fit.h"
#include "mil/legalize/legalizer.h"
#include "mil/legalize/split.h"

typedef bool mw__split_when(const mw__split *split, const mw__op *op);
typedef void mw__split_emit(mw__split *split, mw__clone *clone, const mw__op *op);
typedef bool mw__legalize_when(const mw__legalizer *legalizer, const mw__op *op);
typedef void mw__legalize_emit(mw__legalizer *legalizer, mw__clone *clone, const mw__op *op);

typedef enum mw__rewrite_switch {
    MW__REWRITE_ALWAYS,
    MW__REWRITE_CONV_DECOMPOSED,
    MW__REWRITE_BLOCKS,
    MW__REWRITE_DIGITS,
    MW__REWRITE_SWITCHES
} mw__rewrite_switch;

/* How an operation takes indices that may be in digits. */
typedef struct mw__split_indexing {
    const char *table; /* the argument that they look into; NULL = the result */
    bool puts;         /* they are positions to write; else, positions to read */
    bool batched;      /* from ios16 on it has batch_dims */
} mw__split_indexing;

typedef struct mw__rewrite {
    const char *name;
    const char *const *operations; /* up to NULL; NULL = any */
    bool elementwise;              /* in place of them: what is computed element by element */
    /* in the clone of mil/legalize/decompose.h */
    struct {
        mw__decompose_when *when;
        mw__decompose_emit *emit;
    } decompose;
    /* in the clone of mil/legalize/split.h */
    struct {
        const mw__split_indexing *indexing; /* of operations that take indices */
        mw__split_when *digits;             /* integers in digits may pass through; NULL = never */
        mw__split_when *blocks;             /* a long axis may be in blocks; NULL = never */
        mw__split_when *when;               /* the row applies, once it is known what is in parts */
        mw__split_emit *emit;
    } split;
    /* in the clone of mil/legalize/legalize.h */
    struct {
        bool half_ports; /* only for devices whose ports are fp16 */
        bool refused;    /* stands for an operation that a row of rules refuses */
        mw__rewrite_switch kept;
        mw__legalize_when *when;
        mw__legalize_emit *emit;
    } legalize;
    /* in the clone of mil/legalize/fit.h, where the row of rules holds that names this rewrite */
    struct {
        bool own; /* `when` says all: that row holds for another operation, which this one would make legal */
        mw__decompose_when *when;
        mw__decompose_emit *emit;
    } fit;
    const char *reason;
    const char *wants; /* of an operation that the device refuses, else NULL: without what the row does not apply */
} mw__rewrite;

/* The rows in order; NULL beyond the last. */
const mw__rewrite *mw__rewrite_at(size_t index);

/* The row that writes an operation of the source in that clone; NULL = it is copied. */
const mw__rewrite *mw__rewrite_decompose(const mw__legality *legality, const mw__op *op);
const mw__rewrite *mw__rewrite_legalize(const mw__legalizer *legalizer, const mw__op *op);
const mw__rewrite *mw__rewrite_split(const mw__split *split, const mw__op *op);
const mw__rewrite *mw__rewrite_fit(const mw__legality *legality, const mw__op *op);
/* By name; NULL if there is none. */
const mw__rewrite *mw__rewrite_named(const char *name);

/* The next row from *at on that stands for that operation, refused as it is, on some condition; NULL = no more. */
const mw__rewrite *mw__rewrite_wanting(const char *operation, size_t *at);

/* How an operation takes indices; NULL if it takes none, or breaks its own rule. */
const mw__split_indexing *mw__rewrite_indexing(const mw__op *op);
/* Whether integers in digits may pass through an operation, and whether it may have a long axis in blocks. */
bool mw__rewrite_takes_digits(const mw__split *split, const mw__op *op);
bool mw__rewrite_takes_blocks(const mw__split *split, const mw__op *op);

/* ---- the functions of the rows ---- */

/* legalize_half.c */
mw__legalize_when mw__half_is_constant, mw__half_is_scaled, mw__half_is_cast, mw__half_is_constexpr_cast,
    mw__half_is_range, mw__half_is_far_range;
mw__legalize_when mw__half_is_fraction, mw__half_is_mixed_fraction, mw__half_has_operands;
mw__legalize_emit mw__half_constant, mw__half_scaled, mw__half_cast, mw__half_constexpr_cast, mw__half_range,
    mw__half_refuse_range;
mw__legalize_emit mw__half_fraction, mw__half_operands;
/* legalize_extent.c */
mw__legalize_when mw__extent_is_rounded_range, mw__extent_is_factor;
mw__legalize_emit mw__extent_range, mw__extent_factor;
/* legalize_conv.c */
mw__legalize_when mw__conv_has_computed_weight;
mw__legalize_emit mw__conv_decompose;
/* legalize_recurrent.c */
mw__legalize_when mw__recurrent_is_refused;
mw__legalize_emit mw__recurrent_decompose;
/* split_index.c */
mw__split_when mw__split_takes_nothing, mw__split_takes, mw__split_index_fits, mw__split_is_match, mw__split_compares;
mw__split_when mw__split_result_is_wide;
mw__split_emit mw__split_nothing, mw__split_gather, mw__split_along_axis, mw__split_one_hot, mw__split_scatter;
mw__split_emit mw__split_match, mw__split_comparison, mw__split_extreme, mw__split_cast;
/* split_sum.c */
mw__split_when mw__split_makes_index;
mw__split_emit mw__split_digit_sum, mw__split_order, mw__split_bound;
/* split_long.c */
mw__split_when mw__split_always, mw__split_casts_integers, mw__split_x_is_long, mw__split_result_is_long;
mw__split_when mw__split_reshape_fits, mw__split_linear_fits, mw__split_matmul_fits, mw__split_concat_fits;
mw__split_when mw__split_slice_fits, mw__split_tile_fits;
mw__split_when mw__split_has_parts, mw__split_reduces_blocks, mw__split_normalizes_blocks, mw__split_contracts_blocks;
mw__split_emit mw__split_reshape, mw__split_reduction, mw__split_sum, mw__split_mean, mw__split_softmax;
mw__split_emit mw__split_linear, mw__split_contraction, mw__split_each_part;

#endif
