/* How many elements a list can have: which values are one list over time, and what bounds the indices at which it is
 * written. Nothing is copied here. */
#include "graph/transform/lower.h"

#include "graph/ir/rule.h"

#include <string.h>

enum { DEPTH_MAX = 48, STEPS_MAX = 2048 };
static const int64_t capacity_max = INT32_MAX;
static const int64_t bytes_max = (int64_t)1 << 38; /* of a list: 256 GiB */

mw_status mw__lower_refuse(const mw__op *op, mw_status status, const char *why, mw_error *err)
{
    char subject[160];
    mw__fail(err, status, "%s: %s", mw__op_subject(op, subject, sizeof subject), why);
    mw__error_subject(err, op->kind, op->result_count > 0 ? op->results[0]->name : NULL);
    if (op->line > 0)
        mw__error_position(err, (int)op->line, (int)op->column);
    return status;
}

/* ---- one list over time ---- */

uint32_t mw__capacities_root(const mw__capacities *capacities, const mw_tensor *list)
{
    uint32_t at = list->id;
    while (capacities->parent[at] != at)
        at = capacities->parent[at] = capacities->parent[capacities->parent[at]];
    return at;
}

static bool is_list(const mw_tensor *value) { return value != NULL && value->type->kind == MW__LIST; }

static void join_capacities(const mw__capacities *capacities, const mw_tensor *a, const mw_tensor *b)
{
    if (is_list(a) && is_list(b))
        capacities->parent[mw__capacities_root(capacities, a)] = mw__capacities_root(capacities, b);
}

static void join_loop(const mw__capacities *capacities, const mw__op *op)
{
    const mw__operand *vars;
    const size_t count = mw__arg_values(op, "loop_vars", &vars);
    for (size_t i = 0; i < count && i < op->result_count; i++) {
        join_capacities(capacities, op->results[i], vars[i].value);
        join_capacities(capacities, op->blocks[0]->inputs[i], vars[i].value);
        join_capacities(capacities, op->blocks[1]->inputs[i], vars[i].value);
        join_capacities(capacities, op->blocks[1]->outputs[i], vars[i].value);
    }
}

static void join_op(mw__capacities *capacities, const mw__op *op)
{
    if (mw__op_is(op, "while_loop") && op->row != NULL && op->block_count == 2)
        join_loop(capacities, op);
    for (size_t i = 0; mw__op_is(op, "cond") && op->row != NULL && i < op->result_count; i++) {
        join_capacities(capacities, op->results[i], op->blocks[0]->outputs[i]);
        join_capacities(capacities, op->results[i], op->blocks[1]->outputs[i]);
    }
    if (op->row != NULL && (mw__op_is(op, "list_write") || mw__op_is(op, "list_scatter")))
        join_capacities(capacities, op->results[0], mw__arg(op, "ls"));
}

static void note_inputs(mw__capacities *capacities, const mw__block *block)
{
    for (size_t i = 0; i < block->input_count; i++) {
        capacities->block_of[block->inputs[i]->id] = block;
        capacities->place_of[block->inputs[i]->id] = (uint32_t)i;
    }
}

typedef mw_status visit_op(mw__capacities *capacities, const mw__op *op, mw_error *err);

static mw_status visit(mw__capacities *capacities, const mw__block *block, visit_op *each, mw_error *err)
{
    for (size_t i = 0; i < block->op_count; i++) {
        MW_TRY(each(capacities, block->ops[i], err));
        for (size_t b = 0; b < block->ops[i]->block_count; b++)
            MW_TRY(visit(capacities, block->ops[i]->blocks[b], each, err));
    }
    return MW_OK;
}

static mw_status note_op(mw__capacities *capacities, const mw__op *op, mw_error *err)
{
    (void)err;
    for (size_t b = 0; b < op->block_count; b++)
        note_inputs(capacities, op->blocks[b]);
    join_op(capacities, op);
    return MW_OK;
}

mw_status mw__lower_check(const mw__block *block, mw_error *err)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        const bool own = mw__op_has(op, MW__TRAIT_LOWERED);
        if (op->block_count > 0 && !own)
            return mw__lower_refuse(op, MW_ERROR_UNSUPPORTED, "has blocks, but is neither cond nor while_loop", err);
        for (size_t b = 0; b < op->block_count; b++)
            MW_TRY(mw__lower_check(op->blocks[b], err));
        if (own)
            MW_TRY(mw__op_verify(op, err));
    }
    return MW_OK;
}

/* ---- what an integer is at most ---- */

typedef struct bounds {
    const mw__capacities *capacities;
    int depth, steps;
} bounds;

static bool upper(bounds *b, const mw_tensor *value, int64_t *out);

static bool upper_arg(bounds *b, const mw__op *op, const char *arg, int64_t *out)
{
    return upper(b, mw__arg(op, arg), out);
}

static bool constant_of(const mw_tensor *value, int64_t *out_low, int64_t *out_high)
{
    const mw__payload *payload = value->payload;
    if (payload == NULL || payload->type->kind != MW__TENSOR || payload->data == NULL)
        return false;
    const size_t count = payload->splat ? 1 : mw__payload_count(payload);
    *out_low = INT64_MAX;
    *out_high = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        const int64_t element = mw__payload_int(payload, i);
        *out_low = element < *out_low ? element : *out_low;
        *out_high = element > *out_high ? element : *out_high;
    }
    return count > 0 && *out_low >= -capacity_max &&
           *out_high <= capacity_max; /* so that products of two do not overflow */
}

/* What only changes the form. */
static const mw_tensor *source_of(const mw_tensor *value)
{
    for (int depth = 0; depth < DEPTH_MAX && value != NULL && value->op != NULL && value->op->row != NULL; depth++) {
        const bool same = mw__op_has(value->op, MW__TRAIT_MOVES | MW__TRAIT_VIEW) || mw__op_is(value->op, "cast");
        if (!same || mw__arg(value->op, "x") == NULL)
            break;
        value = mw__arg(value->op, "x");
    }
    return value;
}

/* The bound that a condition sets to a loop variable while it is true. */
static bool bound_by(bounds *b, const mw_tensor *condition, const mw_tensor *variable, int64_t *out)
{
    const mw__op *op = condition != NULL ? source_of(condition)->op : NULL;
    if (op == NULL || op->row == NULL || ++b->steps > STEPS_MAX || b->depth >= DEPTH_MAX)
        return false;
    bool found = false;
    b->depth++;
    if (mw__op_is(op, "logical_and")) {
        int64_t other = 0;
        found = bound_by(b, mw__arg(op, "x"), variable, out);
        if (bound_by(b, mw__arg(op, "y"), variable, &other)) {
            *out = found && *out < other ? *out : other;
            found = true;
        }
    } else if (mw__op_is(op, "less") || mw__op_is(op, "less_equal") || mw__op_is(op, "greater") ||
               mw__op_is(op, "greater_equal")) {
        const bool turned = op->kind[0] == 'g', equal = strstr(op->kind, "equal") != NULL;
        const mw_tensor *small = mw__arg(op, turned ? "y" : "x"), *large = mw__arg(op, turned ? "x" : "y");
        found = source_of(small) == variable && upper(b, large, out);
        *out -= found && !equal;
    }
    b->depth--;
    return found;
}

/* next = variable - (something that is not negative) */
static bool goes_down(const mw_tensor *next, const mw_tensor *variable)
{
    const mw__op *op = source_of(next)->op;
    int64_t low, high;
    if (op == NULL || op->row == NULL || (!mw__op_is(op, "sub") && !mw__op_is(op, "add")) ||
        source_of(mw__arg(op, "x")) != variable || mw__arg(op, "y") == NULL ||
        !constant_of(mw__arg(op, "y"), &low, &high))
        return false;
    return mw__op_is(op, "sub") ? low >= 0 : high <= 0;
}

/* An input of a block of a loop. */
static bool upper_variable(bounds *b, const mw_tensor *variable, int64_t *out)
{
    const mw__block *block = b->capacities->block_of[variable->id];
    const mw__op *loop = block != NULL ? block->owner : NULL;
    if (loop == NULL || loop->row == NULL || !mw__op_is(loop, "while_loop"))
        return false;
    const uint32_t place = b->capacities->place_of[variable->id];
    const mw__block *condition = loop->blocks[0], *body = loop->blocks[1];
    const mw_tensor *next = source_of(body->outputs[place]), *within = body->inputs[place];
    const mw__operand *vars;
    mw__arg_values(loop, "loop_vars", &vars);
    if (next == within || goes_down(next, within))
        return upper(b, vars[place].value, out);
    return block == body && bound_by(b, condition->outputs[0], condition->inputs[place], out);
}

static bool larger_of(bounds *b, const mw_tensor *x, const mw_tensor *y, int64_t *out)
{
    int64_t other = 0;
    if (!upper(b, x, out) || !upper(b, y, &other))
        return false;
    *out = other > *out ? other : *out;
    return true;
}

static bool upper_result(bounds *b, const mw_tensor *value, int64_t *out)
{
    const mw__op *op = value->op;
    if (mw__op_is(op, "cond"))
        return larger_of(b, op->blocks[0]->outputs[value->result], op->blocks[1]->outputs[value->result], out);
    const mw__operand *vars;
    if (!mw__op_is(op, "while_loop") || mw__arg_values(op, "loop_vars", &vars) <= value->result)
        return false;
    if (source_of(op->blocks[1]->outputs[value->result]) == op->blocks[1]->inputs[value->result])
        return upper(b, vars[value->result].value, out);
    return larger_of(b, vars[value->result].value, op->blocks[1]->outputs[value->result], out);
}

static bool upper_arithmetic(bounds *b, const mw__op *op, int64_t *out)
{
    int64_t y = 0, low = 0, high = 0;
    const bool constant = mw__arg(op, "y") != NULL && constant_of(mw__arg(op, "y"), &low, &high);
    if (mw__op_is(op, "minimum")) {
        const bool x = upper_arg(b, op, "x", out), other = upper_arg(b, op, "y", &y);
        *out = x && (!other || *out < y) ? *out : y;
        return x || other;
    }
    if (mw__op_is(op, "maximum"))
        return larger_of(b, mw__arg(op, "x"), mw__arg(op, "y"), out);
    if (mw__op_is(op, "mod") && constant && low > 0) {
        *out = high - 1;
        return true;
    }
    if (!upper_arg(b, op, "x", out))
        return false;
    if (mw__op_is(op, "add") && upper_arg(b, op, "y", &y)) {
        *out += y;
        return true;
    }
    if (!constant || low < (mw__op_is(op, "floor_div")))
        return false;
    if (mw__op_is(op, "sub"))
        *out -= low;
    else if (mw__op_is(op, "mul"))
        *out = *out > 0 ? *out * high : 0;
    else if (mw__op_is(op, "floor_div"))
        *out = *out > 0 ? *out / low : 0;
    else
        return false;
    return true;
}

/* What takes some elements of x. */
static bool is_move(const mw__op *op)
{
    static const char *const kinds[] = {"identity", "cast",      "reshape",        "squeeze",       "expand_dims",
                                        "gather",   "split",     "slice_by_index", "slice_by_size", "tile",
                                        "reverse",  "transpose", "reduce_max",     "reduce_min",    "gather_nd"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (mw__op_is(op, kinds[i]))
            return true;
    return false;
}

static bool largest_extent(const mw_tensor *x, int64_t *out)
{
    const mw_shape shape = mw_tensor_shape(x);
    *out = 0;
    for (int d = 0; d < shape.rank; d++) {
        if (shape.dim[d] == MW_DIM_UNKNOWN)
            return false;
        *out = shape.dim[d] > *out ? shape.dim[d] : *out;
    }
    return true;
}

static bool upper_op(bounds *b, const mw_tensor *value, int64_t *out)
{
    static const char *const binary[] = {"add", "sub", "mul", "floor_div", "mod", "minimum", "maximum"};
    const mw__op *op = value->op;
    int64_t end = 0;
    if (op->block_count > 0)
        return upper_result(b, value, out);
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (mw__op_is(op, binary[i]))
            return upper_arithmetic(b, op, out);
    if (mw__op_is(op, "select"))
        return larger_of(b, mw__arg(op, "a"), mw__arg(op, "b"), out);
    if (mw__op_is(op, "shape"))
        return largest_extent(mw__arg(op, "x"), out);
    if (mw__op_is(op, "range_1d")) {
        if (!upper_arg(b, op, "start", out) || !upper_arg(b, op, "end", &end))
            return false;
        *out = end - 1 > *out ? end - 1 : *out;
        return true;
    }
    return is_move(op) && mw__arg(op, "x") != NULL && upper_arg(b, op, "x", out);
}

static bool upper(bounds *b, const mw_tensor *value, int64_t *out)
{
    int64_t low;
    if (value == NULL || mw_tensor_dtype(value) == MW_DTYPE_NONE || ++b->steps > STEPS_MAX || b->depth >= DEPTH_MAX)
        return false;
    if (value->payload != NULL)
        return constant_of(value, &low, out);
    b->depth++;
    const bool known = value->op == NULL        ? upper_variable(b, value, out)
                       : value->op->row != NULL ? upper_op(b, value, out)
                                                : false;
    b->depth--;
    return known && *out <= capacity_max && *out >= -capacity_max; /* so that sums of two do not overflow */
}

/* ---- capacities ---- */

static void learn_element(const mw__capacities *capacities, uint32_t root, mw_dtype dtype, mw_shape shape)
{
    mw_shape *known = &capacities->element[root];
    if (capacities->dtype[root] == MW_DTYPE_NONE) {
        capacities->dtype[root] = dtype;
        *known = shape;
    }
    for (int d = 0; d < known->rank && shape.rank == known->rank; d++)
        if (known->dim[d] == MW_DIM_UNKNOWN)
            known->dim[d] = shape.dim[d];
}

static void learn_type(const mw__capacities *capacities, const mw_tensor *list)
{
    const mw__type *element = list->type->count == 1 ? list->type->element[0] : NULL;
    if (element != NULL && element->kind == MW__TENSOR)
        learn_element(capacities, mw__capacities_root(capacities, list), element->dtype, element->shape);
}

static mw_status learn_made(const mw__capacities *capacities, const mw__op *op, mw_error *err)
{
    const uint32_t root = mw__capacities_root(capacities, op->results[0]);
    bounds b = {.capacities = capacities};
    int64_t length = 0, constant = -1;
    bool dynamic = true;
    mw__arg_bool(op, "dynamic_length", &dynamic);
    if (mw__arg_int(op, "init_length", &length))
        constant = length;
    else if (!upper_arg(&b, op, "init_length", &length))
        return mw__lower_refuse(op, MW_ERROR_UNSUPPORTED, "its init_length has no bound that is known when compiled",
                                err);
    capacities->dynamic[root] = capacities->dynamic[root] || dynamic;
    if (capacities->first[root] == INT64_MIN)
        capacities->first[root] = constant;
    else if (capacities->first[root] != constant)
        capacities->first[root] = -1;
    capacities->capacity[root] = length > capacities->capacity[root] ? length : capacities->capacity[root];
    return MW_OK;
}

/* A list that is not dynamic leaves out what is written outside of it. */
static void learn_written(const mw__capacities *capacities, const mw__op *op, const char *indices)
{
    const uint32_t root = mw__capacities_root(capacities, op->results[0]);
    bounds b = {.capacities = capacities};
    int64_t last = 0;
    if (!capacities->dynamic[root])
        return;
    if (!upper_arg(&b, op, indices, &last))
        capacities->unbounded[root] = op;
    else if (last + 1 > capacities->capacity[root])
        capacities->capacity[root] = last + 1;
}

static mw_status learn_elements(mw__capacities *capacities, const mw__op *op, mw_error *err)
{
    (void)err;
    for (size_t i = 0; i < op->result_count; i++)
        if (is_list(op->results[i]))
            learn_type(capacities, op->results[i]);
    const bool puts = op->row != NULL && (mw__op_is(op, "list_write") || mw__op_is(op, "list_scatter"));
    const mw_tensor *value = puts ? mw__arg(op, "value") : NULL;
    if (value == NULL)
        return MW_OK;
    mw_shape shape = mw_tensor_shape(value);
    if (mw__op_is(op, "list_scatter") && shape.rank > 0) {
        memmove(shape.dim, shape.dim + 1, (size_t)(shape.rank - 1) * sizeof *shape.dim);
        shape.rank--;
    }
    learn_element(capacities, mw__capacities_root(capacities, op->results[0]), mw_tensor_dtype(value), shape);
    return MW_OK;
}

static mw_status learn_lists(mw__capacities *capacities, const mw__op *op, mw_error *err)
{
    MW_TRY(learn_elements(capacities, op, err));
    return op->row != NULL && mw__op_is(op, "make_list") ? learn_made(capacities, op, err) : MW_OK;
}

/* After it is known which lists are dynamic. */
static mw_status learn_writes(mw__capacities *capacities, const mw__op *op, mw_error *err)
{
    (void)err;
    if (op->row != NULL && mw__op_is(op, "list_write"))
        learn_written(capacities, op, "index");
    if (op->row != NULL && mw__op_is(op, "list_scatter"))
        learn_written(capacities, op, "indices");
    return MW_OK;
}

static mw_status check_made(mw__capacities *capacities, const mw__op *op, mw_error *err)
{
    static const char growing[] = "writes into a list of dynamic length at an index that has no bound when compiled; "
                                  "make the list with an init_length that holds all, and dynamic_length = false";
    if (op->row == NULL || !mw__op_is(op, "make_list"))
        return MW_OK;
    const uint32_t root = mw__capacities_root(capacities, op->results[0]);
    if (capacities->unbounded[root] != NULL)
        return mw__lower_refuse(capacities->unbounded[root], MW_ERROR_UNSUPPORTED, growing, err);
    const mw_shape element = capacities->element[root];
    if (mw_shape_count(element) < 0)
        return mw__lower_refuse(op, MW_ERROR_UNSUPPORTED, "the shape of its elements is not known when compiled", err);
    if (capacities->dtype[root] != MW_F32 && capacities->dtype[root] != MW_F16 && capacities->dtype[root] != MW_I32)
        return mw__lower_refuse(op, MW_ERROR_UNSUPPORTED, "only lists of fp16, fp32 and int32 can be run", err);
    const int64_t count = mw_shape_count(element),
                  capacity = capacities->capacity[root] > 0 ? capacities->capacity[root] : 1;
    if (count > bytes_max / 4 / capacity) /* of 4 bytes at most */
        return mw__lower_refuse(op, MW_ERROR_UNSUPPORTED, "its list would take more than 256 GiB", err);
    return MW_OK;
}

static mw_status join_lists(mw__capacities *capacities, const mw__function *from, mw__arena *arena, mw_error *err)
{
    const size_t count = from->graph->value_count;
    *capacities = (mw__capacities){.arena = arena,
                                   .count = count,
                                   .parent = mw__arena_alloc(arena, count, sizeof *capacities->parent, err),
                                   .capacity = mw__arena_alloc(arena, count, sizeof *capacities->capacity, err),
                                   .first = mw__arena_alloc(arena, count, sizeof *capacities->first, err),
                                   .dynamic = mw__arena_alloc(arena, count, sizeof *capacities->dynamic, err),
                                   .element = mw__arena_alloc(arena, count, sizeof *capacities->element, err),
                                   .dtype = mw__arena_alloc(arena, count, sizeof *capacities->dtype, err),
                                   .unbounded = mw__arena_alloc(arena, count, sizeof *capacities->unbounded, err),
                                   .block_of = mw__arena_alloc(arena, count, sizeof *capacities->block_of, err),
                                   .place_of = mw__arena_alloc(arena, count, sizeof *capacities->place_of, err)};
    if (capacities->parent == NULL || capacities->capacity == NULL || capacities->first == NULL ||
        capacities->dynamic == NULL || capacities->element == NULL || capacities->dtype == NULL ||
        capacities->unbounded == NULL || capacities->block_of == NULL || capacities->place_of == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        capacities->parent[i] = i;
        capacities->first[i] = INT64_MIN;
    }
    return visit(capacities, from->body, note_op, err);
}

mw_status mw__capacities_find_elements(mw__capacities *capacities, const mw__function *from, mw__arena *arena,
                                       mw_error *err)
{
    MW_TRY(join_lists(capacities, from, arena, err));
    return visit(capacities, from->body, learn_elements, err);
}

mw_status mw__capacities_find(mw__capacities *capacities, const mw__function *from, mw__arena *arena, mw_error *err)
{
    MW_TRY(join_lists(capacities, from, arena, err));
    MW_TRY(visit(capacities, from->body, learn_lists, err));
    MW_TRY(visit(capacities, from->body, learn_writes, err));
    return visit(capacities, from->body, check_made, err);
}
