#include "engine/compile/source/mutable_weights.h"
#include "graph/ir/ir.h"
#include "mil/io.h"

#include <string.h>

typedef struct opening {
    const char *const *paths;
    bool *found; /* by path */
    size_t path_count;
    mw__function *function;
    mw__arena *arena;
    mw__open_weights *weights;
    mw_error *err;
} opening;

/* path_count if the client did not name it. */
static size_t path_of(const opening *o, const mw__payload *payload)
{
    size_t i = o->path_count;
    if (payload != NULL && payload->blob_path != NULL)
        for (i = 0; i < o->path_count && strcmp(o->paths[i], payload->blob_path) != 0;)
            i++;
    return i;
}

static mw_status refuse_inline(const opening *o, const mw__op *op, const mw__slot *slot, size_t path)
{
    mw__fail(o->err, MW_ERROR_UNSUPPORTED,
             "%s: its %s is in \"%.100s\", which is to be mutable; only a weight that is a const statement can be",
             op->kind, slot->name, o->paths[path]);
    mw__error_position(o->err, (int)op->line, (int)op->column);
    return o->err->status;
}

static mw_status check_operands(const opening *o, const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            const size_t path = value != NULL && value->op == NULL ? path_of(o, value->payload) : o->path_count;
            if (path < o->path_count)
                return refuse_inline(o, op, &op->slots[i], path);
        }
    return MW_OK;
}

/* The constant is an input from here on. */
static mw_status open_constant(opening *o, mw_tensor *value)
{
    mw__open_weights *weights = o->weights;
    if (mw_dtype_bits(value->type->dtype) % 8 != 0)
        return mw__fail(o->err, MW_ERROR_UNSUPPORTED, "constant \"%.96s\" of %s cannot be mutable", value->name,
                        mw_dtype_name(value->type->dtype));
    MW_TRY(mw__block_add_input(o->function->body, value, o->err));
    weights->payload[weights->count++] = value->payload;
    value->payload = NULL;
    value->op = NULL;
    value->role = MW__INPUT;
    return MW_OK;
}

static size_t count_constants(const mw__block *block)
{
    size_t count = block->op_count;
    for (size_t i = 0; i < block->op_count; i++)
        for (size_t b = 0; b < block->ops[i]->block_count; b++)
            count += count_constants(block->ops[i]->blocks[b]);
    return count;
}

static mw_status open_block(opening *o, mw__block *block)
{
    size_t kept = 0;
    for (size_t i = 0; i < block->op_count; i++) {
        mw__op *op = block->ops[i];
        const size_t path = mw__op_is_const(op) ? path_of(o, op->results[0]->payload) : o->path_count;
        if (path < o->path_count) {
            MW_TRY(open_constant(o, op->results[0]));
            o->found[path] = true;
            continue;
        }
        MW_TRY(check_operands(o, op));
        for (size_t b = 0; b < op->block_count; b++)
            MW_TRY(open_block(o, op->blocks[b]));
        block->ops[kept++] = op;
    }
    block->op_count = kept;
    return MW_OK;
}

static mw_status open_function(opening *o)
{
    o->weights->payload =
        mw__arena_alloc(o->arena, count_constants(o->function->body), sizeof *o->weights->payload, o->err);
    return o->weights->payload != NULL ? open_block(o, o->function->body) : MW_ERROR_MEMORY;
}

/* What was right with constants need not be with inputs: the shape of a reshape, say. */
static mw_status check_again(const mw_graph *graph, mw_error *err)
{
    mw_error own = {0};
    if (mw_graph_verify(graph, &own) == MW_OK)
        return MW_OK;
    mw__fail(err, MW_ERROR_UNSUPPORTED, "a mutable weight stands where only a constant can: %s", own.message);
    if (own.text_line > 0)
        mw__error_position(err, own.text_line, own.text_column);
    return err->status;
}

mw_status mw__open_mutable_weights(mw_graph *graph, const char *const *paths, size_t path_count, mw__arena *arena,
                                   mw__open_weights **out, mw_error *err)
{
    opening o = {.paths = paths, .path_count = path_count, .arena = arena, .err = err};
    *out = mw__arena_alloc(arena, graph->function_count, sizeof **out, err);
    o.found = mw__arena_alloc(arena, path_count, sizeof *o.found, err);
    if (*out == NULL || o.found == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; path_count > 0 && i < graph->function_count; i++) {
        o.function = graph->functions[i];
        o.weights = &(*out)[i];
        MW_TRY(open_function(&o));
    }
    for (size_t i = 0; i < path_count; i++)
        if (!o.found[i])
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "mutable weight path \"%.100s\": no constant of the program is in that file", paths[i]);
    return path_count > 0 ? check_again(graph, err) : MW_OK;
}
