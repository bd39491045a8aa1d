/* Which row of a pass writes which operation, and the clone in which they do. */
#include "mil/join/join.h"

#include "base/number/types.h"
#include "graph/ir/ir_make.h"
#include "mil/join/join_parts.h"
#include "mil/legalize/rewrites.h"

struct mw__join {
    mw__rewriting pass;
    mw__joining joining;
    const mw__rewrite **rows; /* by id of the first result: that writes the operation */
    bool *inside;             /* by the same: the operation is part of a group, and not the last of it */
};

/* ---- what is known before ---- */

/* One walk over a long program: who is read how often, and what the rows of the pass ask of each value. */
typedef struct noting {
    uint32_t *reads;
    mw__joining *joining;
    void (*note)(mw__joining *joining, const mw__op *op);
} noting;

static void count_operand(uint32_t *reads, const mw__operand *operand)
{
    if (operand->value != NULL)
        reads[operand->value->id]++;
    for (size_t i = 0; i < operand->member_count; i++)
        count_operand(reads, &operand->members[i]);
}

static void count_value(uint32_t *reads, const mw_tensor *value)
{
    if (value != NULL)
        reads[value->id]++;
}

/* Records look at values, and states are assigned them. */
static void count_beside(uint32_t *reads, const mw_tensor *value)
{
    const mw__composite *record = value->composite;
    count_value(reads, value->next);
    if (record == NULL)
        return;
    for (size_t k = 0; k < record->input_count; k++)
        count_value(reads, record->inputs[k]);
    count_value(reads, record->evaluation);
    count_value(reads, record->examples);
}

static void note_block(const noting *n, const mw__block *block, bool outermost);

static void note_op(const noting *n, const mw__op *op, bool outermost)
{
    for (size_t slot = 0; slot < op->slot_count; slot++)
        for (size_t k = 0; k < op->slots[slot].count; k++)
            count_operand(n->reads, &op->slots[slot].operands[k]);
    for (size_t b = 0; b < op->block_count; b++)
        note_block(n, op->blocks[b], false);
    for (size_t i = 0; i < op->result_count; i++)
        count_beside(n->reads, op->results[i]);
    if (outermost && op->row != NULL && op->result_count == 1 && op->block_count == 0)
        n->note(n->joining, op);
}

static void note_block(const noting *n, const mw__block *block, bool outermost)
{
    for (size_t i = 0; i < block->input_count; i++)
        count_beside(n->reads, block->inputs[i]);
    for (size_t i = 0; i < block->op_count; i++)
        note_op(n, block->ops[i], outermost);
    for (size_t i = 0; i < block->output_count; i++)
        n->reads[block->outputs[i]->id]++;
}

static mw_status note_function(mw__joining *joining, const mw__function *function, const mw__join_options *options,
                               mw_error *err)
{
    const size_t values = function->graph->value_count + 1;
    const noting n = {.reads = mw__arena_alloc(joining->arena, values, sizeof *n.reads, err),
                      .joining = joining,
                      .note = options->pass == MW__RULE_absorb ? mw__join_note_constant : mw__join_note_curve};
    joining->reads = n.reads;
    joining->facts = mw__arena_alloc(joining->arena, values, sizeof *joining->facts, err);
    if (joining->reads == NULL || joining->facts == NULL)
        return MW_ERROR_MEMORY;
    note_block(&n, function->body, true);
    for (size_t i = 0; i < options->root_count; i++)
        count_value(n.reads, options->roots[i]);
    return MW_OK;
}

/* ---- finding ---- */

static bool may_join(const mw__join *join, const mw__op *op)
{
    const mw_tensor *y = op->result_count == 1 ? op->results[0] : NULL;
    return y != NULL && op->row != NULL && y->payload == NULL && y->type->kind == MW__TENSOR &&
           mw_tensor_dtype(y) == MW_F32 && mw_shape_count(mw_tensor_shape(y)) > 0 && !join->inside[y->id];
}

/* From the end: a group that is part of a larger one is not asked for. */
static bool find_rows(mw__join *join, const mw__function *function)
{
    const mw__block *body = function->body;
    const mw__rewrites rows = mw__mil_rewrites(join->pass.pass, join->pass.legality->device->half_ports);
    bool any = false;
    for (size_t i = body->op_count; i-- > 0;) {
        const mw__op *op = body->ops[i];
        const mw__rewrite *row = NULL;
        join->joining.group.count = 0;
        if (may_join(join, op))
            row = mw__rewrite_find(&join->pass, &rows, op);
        if (row == NULL)
            continue;
        join->rows[op->results[0]->id] = row;
        for (size_t k = 0; k < join->joining.group.count; k++)
            join->inside[join->joining.group.ops[k]->results[0]->id] = join->joining.group.ops[k] != op;
        any = true;
    }
    return any;
}

mw_status mw__join_find(const mw__function *function, const mw__join_options *options, mw__arena *arena, mw__join **out,
                        bool *out_any, mw_error *err)
{
    const size_t values = function->graph->value_count + 1;
    mw__join *join = *out = mw__arena_alloc(arena, 1, sizeof *join, err);
    *out_any = false;
    if (join == NULL)
        return MW_ERROR_MEMORY;
    join->pass = (mw__rewriting){.pass = options->pass,
                                 .log = options->log,
                                 .legality = options->legality,
                                 .counts = mw__pass_is_watched(options->log)};
    join->pass.joining = &join->joining;
    join->joining.arena = arena;
    join->rows = mw__arena_alloc(arena, values, sizeof *join->rows, err);
    join->inside = mw__arena_alloc(arena, values, sizeof *join->inside, err);
    if (join->rows == NULL || join->inside == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(note_function(&join->joining, function, options, err));
    *out_any = find_rows(join, function);
    join->pass.counts = false;
    return MW_OK;
}

/* ---- writing ---- */

bool mw__join_write(void *user, mw__clone *clone, const mw__op *op)
{
    mw__join *join = user;
    const mw_tensor *first = op->result_count > 0 ? op->results[0] : NULL;
    if (first == NULL || (join->rows[first->id] == NULL && !join->inside[first->id]))
        return false;
    if (!join->inside[first->id])
        mw__rewrite_apply(&join->pass, join->rows[first->id], clone, op);
    return true;
}

static mw_status write_function(const mw__function *function, mw__join *join, mw_graph *to, mw__function **out,
                                mw_error *err)
{
    const mw__clone_options how = {.rule = mw__join_write, .user = join, .keep_outputs = true};
    *out = mw__function_create(to, function->name, function->opset, err);
    return *out != NULL ? mw__clone_ports(function, to, &how, NULL, err) : MW_ERROR_MEMORY;
}

mw_status mw__join_function(const mw__function *function, const mw__join_options *options, mw_graph *to,
                            mw__function **out, mw_error *err)
{
    mw__arena scratch;
    mw__join *join;
    bool any = false;
    *out = NULL;
    mw__arena_init(&scratch, to->allocator);
    mw_status status = mw__join_find(function, options, &scratch, &join, &any, err);
    if (status == MW_OK && any)
        status = write_function(function, join, to, out, err);
    mw__arena_deinit(&scratch);
    return status;
}
