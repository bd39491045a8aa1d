/* The transfer functions of digits and of blocks, which are an analysis each: for the operations of each rewrite of the
 * pass parts, whether integers in digits, and a long axis in blocks, may pass through them. Where a rewrite is left out
 * nothing passes. */
#include "mil/legalize/rewrites.h"

static const mw__split_indexing from_x = {.table = "x"};
static const mw__split_indexing from_batches = {.table = "x", .batched = true};
static const mw__split_indexing into_data = {.table = "data", .puts = true};
static const mw__split_indexing into_result = {.table = NULL};

typedef bool transfer(const mw__split *split, const mw__op *op);

typedef struct transfer_row {
    mw__rule_id rewrite;
    const mw__split_indexing *indexing; /* of operations that take indices */
    transfer *digits;                   /* integers in digits may pass through; NULL = never */
    transfer *blocks;                   /* a long axis may be in blocks; NULL = never */
} transfer_row;

/* The first that has the operation, and what is asked for, decides. */
static const transfer_row rows[] = {
    {MW__RULE_gather, &from_batches, NULL, mw__split_index_fits},
    {MW__RULE_gather_along_axis, &from_x, NULL, mw__split_index_fits},
    {MW__RULE_one_hot, &into_result, NULL, mw__split_index_fits},
    {MW__RULE_scatter, &into_data, NULL, mw__split_index_fits},
    {MW__RULE_match, NULL, mw__split_always, mw__split_result_is_long},
    {MW__RULE_comparison, NULL, mw__split_always, mw__split_result_is_long},
    {MW__RULE_offset, NULL, mw__split_makes_index, NULL},
    {MW__RULE_order, NULL, mw__split_makes_index, NULL},
    {MW__RULE_limit, NULL, mw__split_makes_index, NULL},
    {MW__RULE_extreme, NULL, mw__split_always, NULL},
    {MW__RULE_cast, NULL, mw__split_casts_integers, mw__split_result_is_long},
    {MW__RULE_reshape, NULL, mw__split_always, mw__split_reshape_fits},
    {MW__RULE_sum, NULL, NULL, mw__split_x_is_long},
    {MW__RULE_mean, NULL, NULL, mw__split_x_is_long},
    {MW__RULE_reduction, NULL, NULL, mw__split_x_is_long},
    {MW__RULE_softmax, NULL, NULL, mw__split_x_is_long},
    {MW__RULE_linear, NULL, NULL, mw__split_linear_fits},
    {MW__RULE_contraction, NULL, NULL, mw__split_matmul_fits},
    {MW__RULE_elementwise, NULL, NULL, mw__split_result_is_long},
    {MW__RULE_identity, NULL, mw__split_always, mw__split_result_is_long},
    {MW__RULE_transpose, NULL, mw__split_always, mw__split_x_is_long},
    {MW__RULE_concat, NULL, mw__split_always, mw__split_concat_fits},
    {MW__RULE_slice, NULL, mw__split_always, mw__split_slice_fits},
    {MW__RULE_tile, NULL, mw__split_always, mw__split_tile_fits},
    {MW__RULE_move, NULL, mw__split_always, NULL},
};

enum { ROWS = sizeof rows / sizeof *rows };

static bool is_for(const transfer_row *row, const mw__op *op)
{
    return mw__pass_rule_has_root(mw__pass_rule_of(row->rewrite), op);
}

const mw__split_indexing *mw__split_indexing_of(const mw__split *split, const mw__op *op)
{
    mw_error ignored = {0};
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].indexing != NULL && is_for(&rows[i], op))
            return op->row != NULL && !mw__pass_is_off(split->log, rows[i].rewrite) &&
                           mw__op_verify(op, &ignored) == MW_OK
                       ? rows[i].indexing
                       : NULL;
    return NULL;
}

bool mw__split_takes_digits(const mw__split *split, const mw__op *op)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].digits != NULL && is_for(&rows[i], op))
            return !mw__pass_is_off(split->log, rows[i].rewrite) && rows[i].digits(split, op);
    return false;
}

bool mw__split_takes_blocks(const mw__split *split, const mw__op *op)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].blocks != NULL && is_for(&rows[i], op))
            return !mw__pass_is_off(split->log, rows[i].rewrite) && rows[i].blocks(split, op);
    return false;
}
