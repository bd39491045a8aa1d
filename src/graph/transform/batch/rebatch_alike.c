/* Values that no example enters, but that have a row for each: states of zeros times a weight, say. That their rows are
 * alike follows from how they are made: constants whose rows repeat, and one row that is tiled, are taken for examples,
 * and the rules of batch_rule.c say whether each row of the value is made of one of those alone. */
#include "graph/ir/rule.h"
#include "graph/transform/batch/rebatch.h"
#include "graph/transform/clone/clone.h"

#include <millwright/ops/shape.h>
#include <string.h>

/* Which constants count as examples: those of this rank at least, along the axis of that number among the axes that
 * have as many rows and repeat. Several are tried, as a bias may have as many elements as there are examples. */
typedef struct guess {
    int least_rank, axis;
} guess;

static bool repeats_one(const mw__op *op, int axis)
{
    const mw_shape x = mw__op_is(op, "tile") ? mw_tensor_shape(mw__arg(op, "x")) : mw_shape_scalar();
    return axis < x.rank && x.dim[axis] == 1;
}

static bool rows_repeat(const mw_tensor *value, int axis)
{
    const mw_shape shape = mw_tensor_shape(value);
    const mw__payload *payload = value->payload;
    const int bits = mw_dtype_bits(mw_tensor_dtype(value));
    if (payload == NULL)
        return value->op != NULL && (mw__op_is(value->op, "fill") || repeats_one(value->op, axis));
    if (payload->splat)
        return true;
    if (payload->data == NULL || bits % 8 != 0)
        return false;
    const size_t row = (size_t)mw__shape_span(shape, axis + 1, shape.rank) * (size_t)(bits / 8);
    const unsigned char *at = payload->data;
    for (int64_t run = 0; run < mw__shape_span(shape, 0, axis); run++, at += (size_t)shape.dim[axis] * row)
        for (int64_t i = 1; i < shape.dim[axis]; i++)
            if (memcmp(at, at + (size_t)i * row, row) != 0)
                return false;
    return true;
}

static mw__batch_rows guessed(const mw_tensor *value, int64_t batch, guess g)
{
    const mw__batch_rows none = {.kind = MW__BATCH_NONE};
    if (value->type->kind != MW__TENSOR || mw_tensor_shape(value).rank < g.least_rank)
        return none;
    const mw_shape shape = mw_tensor_shape(value);
    for (int i = 0, found = 0; i < shape.rank; i++)
        if (shape.dim[i] == batch && rows_repeat(value, i) && found++ == g.axis)
            return (mw__batch_rows){.kind = MW__BATCH_ROWS, .axis = i, .inner = 1};
    return none;
}

/* Where an operand, of which nothing is known, may bring its own rows to those of the result. */
typedef enum meeting {
    MEETS_NOT,
    MEETS_ALIGNED, /* where it broadcasts to them */
    MEETS_PRODUCT, /* the same, but that the last axes are contracted or stand behind */
    MEETS_CHANNEL, /* axis 1 */
    MEETS_STATE,   /* on the axis of the batch */
    MEETS_ANY      /* nobody looks closer */
} meeting;

static meeting meeting_of(const mw__op *op)
{
    static const struct {
        mw__shape_rule *shape;
        meeting how;
    } rows[] = {{mw__shape_broadcast, MEETS_ALIGNED},  {mw__shape_compare, MEETS_ALIGNED},
                {mw__shape_select, MEETS_ALIGNED},     {mw__shape_gather_along_axis, MEETS_ALIGNED},
                {mw__shape_matmul, MEETS_PRODUCT},     {mw__shape_scaled_dot_product_attention, MEETS_PRODUCT},
                {mw__shape_prelu, MEETS_CHANNEL},      {mw__shape_softplus_parametric, MEETS_CHANNEL},
                {mw__shape_batch_norm, MEETS_CHANNEL}, {mw__shape_lstm, MEETS_STATE},
                {mw__shape_gru, MEETS_STATE},          {mw__shape_rnn, MEETS_STATE},
                {mw__shape_concat, MEETS_ANY},         {mw__shape_stack, MEETS_ANY},
                {mw__shape_einsum, MEETS_ANY},         {mw__shape_quantize, MEETS_ANY},
                {mw__shape_dequantize, MEETS_ANY},     {mw__shape_reverse_sequence, MEETS_ANY},
                {mw__shape_resample_at, MEETS_ANY},    {mw__shape_affine, MEETS_ANY},
                {mw__shape_crop_resize, MEETS_ANY},    {mw__shape_boxes, MEETS_ANY},
                {mw__shape_gather, MEETS_ANY},         {mw__shape_gather_nd, MEETS_ANY}};
    for (size_t i = 0; op->row != NULL && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].shape == op->row->shape)
            return rows[i].how;
    return MEETS_NOT;
}

static bool is_state(const char *arg) { return strcmp(arg, "x") == 0 || strncmp(arg, "initial_", 8) == 0; }

/* Whether the operand may hold something else in each row of the result's axis. */
static bool has_rows_of(const char *arg, const mw_tensor *operand, mw_shape to, int axis, meeting how)
{
    const mw_shape own = mw_tensor_shape(operand);
    const int at = axis + own.rank - to.rank, end = how == MEETS_PRODUCT ? own.rank - 2 : own.rank;
    if ((how == MEETS_STATE && !is_state(arg)) || (how == MEETS_CHANNEL && axis != 1))
        return false;
    const bool anywhere = how == MEETS_ANY || how == MEETS_STATE || how == MEETS_CHANNEL;
    for (int i = 0; i < end; i++)
        if ((anywhere || i == at) && own.dim[i] > 1 && own.dim[i] == to.dim[axis])
            return true;
    return false;
}

/* To the rules of batch_rule.c an operand without examples is harmless; here its rows may differ. */
static bool meets_other_rows(const mw__batch_rows *table, const mw__op *op, const mw_tensor *result)
{
    const mw__batch_rows rows = table[result->id];
    const meeting how = rows.kind == MW__BATCH_ROWS ? meeting_of(op) : MEETS_NOT;
    for (size_t s = 0; how != MEETS_NOT && s < op->slot_count; s++)
        for (size_t k = 0; op->slots[s].operands != NULL && k < op->slots[s].count; k++) {
            mw_tensor *operand = op->slots[s].operands[k].value;
            if (operand != NULL && operand->type->kind == MW__TENSOR &&
                table[mw__evaluated(operand)->id].kind == MW__BATCH_NONE &&
                has_rows_of(op->slots[s].name, operand, mw_tensor_shape(result), rows.axis, how))
                return true;
        }
    return false;
}

static mw__batch_rows judge_as_is(const mw__batch_walk *walk, const mw__op *op, size_t index)
{
    mw__batch_rows *rows = &walk->table[op->results[index]->id];
    *rows = mw__batch_rule(walk->table, op, index, walk->batch);
    const bool known = rows->kind == MW__BATCH_ROWS && !meets_other_rows(walk->table, op, op->results[index]);
    return known ? *rows : (mw__batch_rows){.kind = MW__BATCH_NONE};
}

enum { OPERANDS_MOST = 4 };

/* The operands whose rows are alike, but for those of very many. */
static size_t find_alike(const mw__batch_walk *walk, const mw__op *op, uint32_t ids[OPERANDS_MOST])
{
    size_t count = 0;
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t k = 0; op->slots[s].operands != NULL && k < op->slots[s].count && count < OPERANDS_MOST; k++) {
            mw_tensor *value = op->slots[s].operands[k].value;
            if (value != NULL && walk->table[mw__evaluated(value)->id].kind == MW__BATCH_ROWS)
                ids[count++] = mw__evaluated(value)->id;
        }
    return count;
}

/* What a result is, from what its operands are. That rows are alike may be left out of account: weights of zeros have
 * such rows, too, and of those a product makes no examples. */
static mw__batch_rows judge_rows(const mw__batch_walk *walk, const mw__op *op, size_t index)
{
    const mw_tensor *result = op->results[index];
    uint32_t ids[OPERANDS_MOST];
    mw__batch_rows kept[OPERANDS_MOST];
    if (result->payload != NULL)
        return walk->table[result->id];
    mw__batch_rows rows = guessed(result, walk->batch, *(const guess *)walk->user);
    if (rows.kind == MW__BATCH_ROWS || mw__op_is(op, "fill"))
        return rows;
    rows = judge_as_is(walk, op, index);
    const size_t count = rows.kind == MW__BATCH_NONE ? find_alike(walk, op, ids) : 0;
    for (size_t i = 0; i < count; i++)
        kept[i] = walk->table[ids[i]];
    for (size_t only = 0; only < count && count > 1 && rows.kind == MW__BATCH_NONE; only++) {
        for (size_t i = 0; i < count; i++)
            walk->table[ids[i]] = ids[i] == ids[only] ? kept[i] : (mw__batch_rows){.kind = MW__BATCH_NONE};
        rows = judge_as_is(walk, op, index);
    }
    for (size_t i = 0; i < count; i++)
        walk->table[ids[i]] = kept[i];
    return rows;
}

/* What all values are if constants are taken so. */
static const mw__batch_rows *find_table(const mw__rebatch *r, const mw__function *function, guess g, mw_error *err)
{
    const mw_graph *graph = function->graph;
    mw__batch_walk walk = {.table = mw__arena_alloc(r->arena, graph->value_count, sizeof *walk.table, err),
                           .batch = r->from,
                           .judge = judge_rows,
                           .strict = true,
                           .user = &g};
    if (walk.table == NULL)
        return NULL;
    for (size_t i = 0; i < graph->value_count; i++)
        if (graph->values[i]->payload != NULL)
            walk.table[i] = guessed(graph->values[i], r->from, g);
    mw__batch_walk_function(&walk, function);
    return walk.table;
}

static const guess guesses[MW__REBATCH_GUESSES] = {{2, 0}, {2, 1}, {1, 0}, {2, 2}};

/* A table serves all values that are asked for. */
static bool is_alike(const mw__rebatch *r, mw__clone *clone, const mw_tensor *value, int axis)
{
    bool found = false;
    if (mw_tensor_shape(value).dim[axis] != r->from)
        return false;
    for (size_t i = 0; !found && i < MW__REBATCH_GUESSES; i++) {
        if (r->alike[i] == NULL)
            r->alike[i] = find_table(r, clone->from, guesses[i], &clone->to->error);
        if (r->alike[i] == NULL)
            return false;
        const mw__batch_rows rows = r->alike[i][value->id];
        found = rows.kind == MW__BATCH_ROWS && rows.axis == axis && rows.inner == 1;
    }
    return found;
}

mw_tensor *mw__rebatch_alike(const mw__rebatch *r, mw__clone *clone, const mw_tensor *value, int axis, bool repeats)
{
    mw_tensor *copy = mw__clone_get(clone, value);
    int64_t begin[MW_RANK_MAX] = {0};
    if (copy == NULL || !is_alike(r, clone, value, axis))
        return NULL;
    mw_shape shape = mw_tensor_shape(copy), reps = {.rank = shape.rank};
    shape.dim[axis] = 1;
    for (int i = 0; i < shape.rank; i++)
        reps.dim[i] = i == axis ? r->to : 1;
    mw_tensor *one = mw_slice_by_size(copy, begin, shape.dim);
    return repeats && r->to > 1 ? mw_tile(one, reps) : one;
}
