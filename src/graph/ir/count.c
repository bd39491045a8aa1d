/* Counting what operations do. Numbers are double: a product of extents beyond 2^53 is rounded, one beyond 2^1023 is
 * the largest. */
#include "graph/ir/count.h"

#include "base/number/types.h"

#include <float.h>
#include <string.h>

static const mw__count_row rows[MW__OP_COUNT] = {
#define MW_OP(id, name, since, shape, vjp, kernel)
#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#define MW_KERNEL(id, storage, rounding, rule_, flops_) [MW__OP_##id] = {.rule = MW__COUNT_##rule_, .flops = (flops_)},
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_TRAITS
#undef MW_EXPAND
#undef MW_ARG
#undef MW_END
#undef MW_KERNEL
};

const mw__count_row *mw__op_count_row_of(mw__op_id id) { return &rows[id]; }

/* ---- elements ---- */

/* The product of the extents from axis `from` on; one that is not known counts as `open`, the product is negative if
 * that is. */
static double extents(mw_shape shape, int from, double open)
{
    double product = 1.0;
    for (int i = from; i < shape.rank; i++) {
        if (shape.dim[i] < 0 && open < 0.0)
            return -1.0;
        product *= shape.dim[i] < 0 ? open : (double)shape.dim[i];
    }
    return product <= DBL_MAX ? product : DBL_MAX;
}

static bool is_tensor(const mw_tensor *value) { return value != NULL && value->type->kind == MW__TENSOR; }

static bool is_float(const mw_tensor *value)
{
    return is_tensor(value) && mw__number_dtype_is_float(value->type->dtype);
}

static double elements(const mw_tensor *value, double open)
{
    return is_tensor(value) ? extents(value->type->shape, 0, open) : -1.0;
}

/* factor * a * b; negative if one of them is. */
static double times_counts(double factor, double a, double b)
{
    if (a < 0.0 || b < 0.0)
        return -1.0;
    const double product = factor * a * b;
    return product <= DBL_MAX ? product : DBL_MAX;
}

/* ---- products ---- */

/* How many numbers of x go into one result: its last axis, or the one before it. */
static double inner(const mw__op *op, double open)
{
    bool transposed = false;
    const mw_tensor *x = mw__arg(op, "x");
    if (!is_tensor(x) || x->type->shape.rank == 0)
        return -1.0;
    if (strcmp(op->kind, "matmul") == 0)
        mw__arg_bool(op, "transpose_x", &transposed);
    const mw_shape shape = x->type->shape;
    const int axis = shape.rank - (transposed && shape.rank > 1 ? 2 : 1);
    return shape.dim[axis] < 0 ? open : (double)shape.dim[axis];
}

static double einsum_inner(const mw__op *op, double open)
{
    const mw__operand *values = NULL;
    const size_t count = mw__arg_values(op, "values", &values);
    const mw_tensor *first = count > 0 ? values[0].value : NULL;
    if (!is_tensor(first) || first->type->shape.rank == 0)
        return -1.0;
    const int64_t last = first->type->shape.dim[first->type->shape.rank - 1];
    return last < 0 ? open : (double)last;
}

/* Numbers of a weight behind its first axis. */
static double depth(const mw__op *op, double open)
{
    const mw_tensor *weight = mw__arg(op, "weight");
    return is_tensor(weight) ? extents(weight->type->shape, 1, open) : -1.0;
}

static double product_flops(const mw__op *op, mw__count_rule rule, double open)
{
    const mw_tensor *result = op->results[0];
    if (!is_float(result))
        return 0.0;
    if (rule == MW__COUNT_WINDOWS_BACK)
        return times_counts(2.0, elements(mw__arg(op, "x"), open), depth(op, open));
    const double length = rule == MW__COUNT_WINDOWS  ? depth(op, open)
                          : rule == MW__COUNT_EINSUM ? einsum_inner(op, open)
                                                     : inner(op, open);
    return times_counts(2.0, elements(result, open), length);
}

/* Each weight meets each step of each example: x is [steps, batch, inputs]. */
static double gates_flops(const mw__op *op, double open)
{
    static const char *const weights[] = {"weight_ih", "weight_hh", "weight_ih_back", "weight_hh_back"};
    const mw_tensor *x = mw__arg(op, "x");
    double sum = 0.0;
    if (!is_tensor(x) || x->type->shape.rank != 3)
        return 0.0;
    const mw_shape steps = {.rank = 2, .dim = {x->type->shape.dim[0], x->type->shape.dim[1]}};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        const bool has = strcmp(op->kind, "lstm") == 0 || i < 2;
        const mw_tensor *weight = has ? mw__arg(op, weights[i]) : NULL;
        const double part = weight != NULL ? times_counts(2.0, extents(steps, 0, open), elements(weight, open)) : 0.0;
        sum += part > 0.0 ? part : 0.0;
    }
    return sum <= DBL_MAX ? sum : DBL_MAX;
}

static double last_extent(const mw_tensor *value, int from_end, double open)
{
    const mw_shape shape = is_tensor(value) ? value->type->shape : (mw_shape){0};
    if (shape.rank < from_end)
        return 0.0;
    const int64_t extent = shape.dim[shape.rank - from_end];
    return extent >= 0 ? (double)extent : open > 0.0 ? open : 0.0;
}

/* query [.., L, E], key [.., S, E], value [.., S, V]: L * S sums of E, and as many of V numbers each. */
static double scores_flops(const mw__op *op, double open)
{
    const mw_tensor *query = mw__arg(op, "query"), *key = mw__arg(op, "key"), *value = mw__arg(op, "value");
    const double width = last_extent(query, 1, open), numbers = elements(query, open);
    if (width <= 0.0 || numbers < 0.0)
        return 0.0;
    return times_counts(2.0, numbers / width * last_extent(key, 2, open), width + last_extent(value, 1, open));
}

/* ---- all ---- */

static double folded(const mw__op *op, mw__count_rule rule, double open)
{
    const double from = elements(mw__arg(op, "x"), open), to = elements(op->results[0], open);
    if (!is_float(op->results[0]))
        return 0.0;
    if (from < 0.0 || to < 0.0)
        return -1.0;
    return rule == MW__COUNT_AVERAGES ? from : from - to;
}

double mw__op_flops_with(const mw__op *op, double open)
{
    if (op->row == NULL || op->result_count == 0)
        return -1.0;
    const mw__count_row *row = &rows[op->row->id];
    switch (row->rule) {
    case MW__COUNT_NONE:
    case MW__COUNT_MOVES:
        return 0.0;
    case MW__COUNT_EACH:
        return is_float(op->results[0]) ? times_counts(row->flops, elements(op->results[0], open), 1.0) : 0.0;
    case MW__COUNT_COMPARES:
        return is_float(mw__arg(op, "x")) ? times_counts(row->flops, elements(op->results[0], open), 1.0) : 0.0;
    case MW__COUNT_FOLDS:
    case MW__COUNT_AVERAGES:
        return folded(op, row->rule, open);
    case MW__COUNT_PRODUCT:
    case MW__COUNT_EINSUM:
    case MW__COUNT_WINDOWS:
    case MW__COUNT_WINDOWS_BACK:
        return product_flops(op, row->rule, open);
    default:
        return -1.0;
    }
}

double mw__op_flops(const mw__op *op) { return mw__op_flops_with(op, -1.0); }

static double block_products(const mw__block *block, double open)
{
    double sum = 0.0;
    for (size_t i = 0; i < block->op_count; i++)
        sum += mw__op_products_with(block->ops[i], open);
    return sum;
}

double mw__op_products_with(const mw__op *op, double open)
{
    const mw__count_rule rule = op->row != NULL ? rows[op->row->id].rule : MW__COUNT_UNKNOWN;
    double flops = mw__op_flops_with(op, open);
    if (rule == MW__COUNT_GATES)
        flops = gates_flops(op, open);
    if (rule == MW__COUNT_SCORES)
        flops = scores_flops(op, open);
    double sum = flops > 0.0 ? flops : 0.0;
    for (size_t b = 0; b < op->block_count; b++)
        sum += block_products(op->blocks[b], open);
    return sum <= DBL_MAX ? sum : DBL_MAX;
}

double mw__op_products(const mw__op *op) { return mw__op_products_with(op, -1.0); }

/* ---- bytes ---- */

static uint64_t declared_bytes(const mw_tensor *value)
{
    const int bits = is_tensor(value) ? mw_dtype_bits(value->type->dtype) : 0;
    const double bytes = bits > 0 ? times_counts((double)bits / 8.0, elements(value, -1.0), 1.0) : 0.0;
    size_t exact;
    if (mw__type_bytes(value->type, &exact))
        return exact;
    return bytes > 0.0 ? UINT64_MAX : 0; /* known extents, and too many */
}

uint64_t mw__value_bytes(const mw_tensor *value)
{
    const mw__op *op = value->op;
    if (op == NULL || value->payload != NULL || !mw__is_constant(value))
        return declared_bytes(value);
    uint64_t sum = 0;
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; i < op->slots[s].count; i++)
            if (op->slots[s].operands[i].value != NULL)
                sum = mw__add_saturated(sum, declared_bytes(op->slots[s].operands[i].value));
    return sum;
}

/* A constant that says how to compute is none of the data: a single number, axes, positions. */
static bool is_data(const mw__op *op, size_t slot, const mw_tensor *value)
{
    if (!is_tensor(value) || value->type->dtype == MW_STRING)
        return false;
    if (!mw__is_constant(value))
        return true;
    const mw__arg_row *arg = op->row != NULL && slot < op->row->arg_count ? &op->row->args[slot] : NULL;
    const bool says_how = arg != NULL && !is_float(value) && !mw__arg_type_is_t(arg->type) &&
                          !mw__arg_type_is_u(arg->type) && strcmp(arg->name, "weight") != 0;
    return !says_how && value->type->shape.rank > 0;
}

/* Operands of one argument that are compared: those of a list without end must not be compared each with each. */
enum { COMPARED = 64 };

/* True if an operand before that one is the same value. */
static bool is_met(const mw__op *op, size_t slot, size_t operand)
{
    const mw_tensor *value = op->slots[slot].operands[operand].value;
    for (size_t s = 0; s <= slot; s++)
        for (size_t i = 0; i < (s < slot ? op->slots[s].count : operand) && i < COMPARED; i++)
            if (op->slots[s].operands[i].value == value)
                return true;
    return false;
}

uint64_t mw__operand_bytes(const mw__op *op, size_t slot, size_t operand)
{
    const mw_tensor *value = op->slots[slot].operands[operand].value;
    return value == NULL || !is_data(op, slot, value) || is_met(op, slot, operand) ? 0 : mw__value_bytes(value);
}

static void add_operand(const mw__op *op, size_t slot, size_t operand, mw__traffic *out)
{
    const mw_tensor *value = op->slots[slot].operands[operand].value;
    if (value == NULL)
        return;
    uint64_t *sum = mw__is_constant(value) ? &out->weights : &out->values;
    *sum = mw__add_saturated(*sum, mw__operand_bytes(op, slot, operand));
}

mw__traffic mw__op_traffic(const mw__op *op)
{
    mw__traffic out = {0};
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; i < op->slots[s].count; i++)
            add_operand(op, s, i, &out);
    for (size_t i = 0; i < op->result_count; i++)
        out.results = mw__add_saturated(out.results, declared_bytes(op->results[i]));
    const bool moves = op->row != NULL && rows[op->row->id].rule == MW__COUNT_MOVES;
    if (moves && out.values > out.results)
        out.values = out.results;
    return out;
}
