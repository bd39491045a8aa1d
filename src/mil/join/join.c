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

/* ---- readers ---- */

static void count_operand(uint32_t *reads, const mw__operand *operand)
{
    if (operand->value != NULL)
        reads[operand->value->id]++;
    for (size_t i = 0; i < operand->member_count; i++)
        count_operand(reads, &operand->members[i]);
}

static void count_block(uint32_t *reads, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t slot = 0; slot < op->slot_count; slot++)
            for (size_t k = 0; k < op->slots[slot].count; k++)
                count_operand(reads, &op->slots[slot].operands[k]);
        for (size_t b = 0; b < op->block_count; b++)
            count_block(reads, op->blocks[b]);
    }
    for (size_t i = 0; i < block->output_count; i++)
        reads[block->outputs[i]->id]++;
}

/* Records look at values, and states are assigned them. */
static void count_beside(uint32_t *reads, const mw_graph *graph)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        const mw_tensor *value = graph->values[i];
        if (value->next != NULL)
            reads[value->next->id]++;
        const mw__composite *record = value->composite;
        for (size_t k = 0; record != NULL && k < record->input_count; k++)
            if (record->inputs[k] != NULL)
                reads[record->inputs[k]->id]++;
        if (record != NULL && record->evaluation != NULL)
            reads[record->evaluation->id]++;
        if (record != NULL && record->examples != NULL)
            reads[record->examples->id]++;
    }
}

static uint32_t *count_reads(const mw__function *function, const mw__join_options *options, mw__arena *arena,
                             mw_error *err)
{
    uint32_t *reads = mw__arena_alloc(arena, function->graph->value_count + 1, sizeof *reads, err);
    if (reads == NULL)
        return NULL;
    count_block(reads, function->body);
    count_beside(reads, function->graph);
    for (size_t i = 0; i < options->root_count; i++)
        if (options->roots[i] != NULL)
            reads[options->roots[i]->id]++;
    return reads;
}

/* ---- finding ---- */

/* What the rows of the pass ask for. */
static void note_facts(mw__joining *joining, mw__rule_id pass, const mw__block *block)
{
    void (*note)(mw__joining *, const mw__op *) =
        pass == MW__RULE_absorb ? mw__join_note_constant : mw__join_note_curve;
    for (size_t i = 0; i < block->op_count; i++)
        if (block->ops[i]->row != NULL && block->ops[i]->result_count == 1 && block->ops[i]->block_count == 0)
            note(joining, block->ops[i]);
}

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
    join->joining.reads = count_reads(function, options, arena, err);
    join->joining.facts = mw__arena_alloc(arena, values, sizeof(mw__join_fact), err);
    if (join->rows == NULL || join->inside == NULL || join->joining.reads == NULL || join->joining.facts == NULL)
        return MW_ERROR_MEMORY;
    note_facts(&join->joining, options->pass, function->body);
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
