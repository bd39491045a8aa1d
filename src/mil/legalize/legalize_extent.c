/* Constants that extents follow from, on devices whose numbers are fp16: 37 / 19 in fp16 makes 36 rows of 19, and a
 * step of 0.1 an eleventh element. */
#include "base/number/fp16.h"
#include "graph/constants/compressed.h"
#include "mil/legalize/rewrites.h"

#include <string.h>

/* Of a list longer than that no device has the axis. */
enum { RANGE_MAX = 1 << 22 };

static bool is_exact(double number) { return (double)mw__fp16_to_float(mw__fp16_from_double(number)) == number; }

/* ---- ranges ---- */

bool mw__extent_is_rounded_range(const mw__rewriting *pass, const mw__op *op)
{
    double start, end, step;
    const int64_t count = mw_shape_count(mw_tensor_shape(op->results[0]));
    (void)pass;
    return mw_tensor_dtype(op->results[0]) == MW_F32 && count >= 0 && count <= RANGE_MAX &&
           mw__arg_float(op, "start", &start) && mw__arg_float(op, "end", &end) && mw__arg_float(op, "step", &step) &&
           !(is_exact(start) && is_exact(end) && is_exact(step));
}

/* Each number as fp32 has it, rounded once more. */
mw_tensor *mw__extent_range(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__legalizer *legalizer = pass->legalizer;
    mw_graph *to = legalizer->to;
    const mw_tensor *result = op->results[0];
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(result));
    double start = 0.0, step = 1.0;
    mw__arg_float(op, "start", &start);
    mw__arg_float(op, "step", &step);
    float *data = mw__arena_alloc(&to->arena, count, sizeof *data, &to->error);
    for (size_t i = 0; data != NULL && i < count; i++)
        data[i] = (float)(start + (double)i * step);
    const mw__payload numbers = {.type = result->type, .data = (const void *)data, .size = count * sizeof *data};
    if (data != NULL)
        mw__clone_set(clone, result, mw__half_of_payload(legalizer, result, &numbers));
    return NULL;
}

/* ---- factors ---- */

bool mw__extent_is_rounded_factor(const mw__op *op, size_t slot)
{
    double number;
    const mw_tensor *value = mw__arg(op, op->row->args[slot].name);
    return op->row->args[slot].type == MW__FACTOR && mw_tensor_dtype(value) == MW_F32 && value->payload != NULL &&
           mw__arg_float(op, op->row->args[slot].name, &number) && !is_exact(number);
}

bool mw__extent_is_factor(const mw__rewriting *pass, const mw__op *op)
{
    bool any = false;
    (void)pass;
    for (size_t i = 0; op->row != NULL && i < op->slot_count; i++)
        any = any || mw__extent_is_rounded_factor(op, i);
    return any;
}

static mw_tensor *exact_operand(void *user, mw__clone *clone, const mw__op *op, size_t slot, const mw__operand *operand)
{
    mw__legalizer *legalizer = user;
    mw__value_facts *facts = &legalizer->facts[operand->value->id];
    if (mw__extent_is_rounded_factor(op, slot)) {
        if (facts->exact == NULL && (operand->inlined || !facts->factor_only))
            facts->exact = mw__half_literal(clone->to, operand->value);
        return facts->exact;
    }
    return operand->inlined && mw_tensor_dtype(operand->value) == MW_F32
               ? mw__half_of_payload(legalizer, operand->value, operand->value->payload)
               : NULL;
}

mw_tensor *mw__extent_factor(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__legalizer *legalizer = pass->legalizer;
    mw__clone_op_with(clone, op, exact_operand, legalizer);
    return NULL;
}
