/* Looks back from what divides to what may have become infinite: MIL divides by infinity and gets 0. */
#include "mil/legalize/numbers/overflow.h"

#include "graph/ir/ir.h"
#include "mil/legalize/numbers/bound.h"
#include "mil/legalize/numbers/squares.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS_MAX = 200 }; /* operations that are looked at behind a divisor */

#define EXP_END 11.0898 /* ln 65520, from where fp16 rounds to infinity */

/* ---- what may become infinite ---- */

static bool is_unbounded(const mw_tensor *value, double low, double high)
{
    const mw__bound bound = mw__bound_of(value);
    return bound.low < low || bound.high > high;
}

/* x^2 of a number that nothing bounds. */
static bool is_square(const mw__op *op)
{
    const mw_tensor *x = mw__squares_is_square(op) ? mw__op_operand(op, "x") : NULL;
    return x != NULL && is_unbounded(x, -MW__SQUARE_END, MW__SQUARE_END);
}

static bool is_sum_square(const mw__op *op)
{
    return mw__op_is(op, "reduce_sum_square") && is_unbounded(mw__op_operand(op, "x"), -MW__SQUARE_END, MW__SQUARE_END);
}

/* e^x, of which the sum is what divides. */
static bool is_exponential(const mw__op *op)
{
    const mw_tensor *x = mw__op_is(op, "exp") ? mw__op_operand(op, "x") : NULL;
    return x != NULL && is_unbounded(x, -(double)INFINITY, EXP_END);
}

/* ---- from where it comes ---- */

/* The arguments through which an infinite element makes the result infinite. */
static size_t passing(const mw__op *op, const mw_tensor *out[2])
{
    static const char *const one[] = {"reduce_mean", "reduce_sum", "reduce_max", "sqrt", "avg_pool"};
    static const char *const two[] = {"add", "sub", "mul", "maximum"};
    bool first = mw__op_has(op, MW__TRAIT_MOVES) || mw__squares_is_power(op, 0.5), second = false;
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        first = first || mw__op_is(op, one[i]);
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        second = second || mw__op_is(op, two[i]);
    size_t count = 0;
    if (first || second)
        out[count++] = mw__op_operand(op, "x");
    if (second && !mw__op_is(op, "sub"))
        out[count++] = mw__op_operand(op, "y");
    return count;
}

typedef bool source_test(const mw__op *op);

/* The operation that may have made an element of `value` infinite; NULL if none is found among *steps. */
static const mw__op *search(const mw_tensor *value, source_test *test, int *steps)
{
    const mw_tensor *from[2];
    const mw__op *op = value->op;
    if (value->payload != NULL || op == NULL || op->row == NULL || op->result_count != 1 || --*steps < 0)
        return NULL;
    if (test(op))
        return op;
    const size_t count = passing(op, from);
    const mw__op *found = NULL;
    for (size_t i = 0; i < count && found == NULL; i++)
        found = from[i] != NULL ? search(from[i], test, steps) : NULL;
    return found;
}

static const mw__op *find_source(const mw_tensor *value, source_test *test)
{
    int steps = STEPS_MAX;
    return value != NULL ? search(value, test, &steps) : NULL;
}

/* The one operand that is computed, of what the chip does together with the operation before it, unrounded in between:
 * a scale, an offset, a root (wide_chains of rules/arithmetic.def). */
static const mw_tensor *joined_operand(const mw__op *op)
{
    if (mw__op_is(op, "sqrt") || mw__op_is(op, "rsqrt") || mw__op_is(op, "pow"))
        return mw__op_operand(op, "x");
    if (!mw__op_is(op, "add") && !mw__op_is(op, "mul") && !mw__op_is(op, "sub"))
        return NULL;
    const mw_tensor *x = mw__op_operand(op, "x"), *y = mw__op_operand(op, "y");
    return mw__is_constant(y) ? x : mw__is_constant(x) ? y : NULL;
}

/* Whether the root of `sum` that divides is taken before the sum is rounded. */
static bool is_joined(const mw__op *divides, const mw_tensor *divisor, const mw__op *sum)
{
    const mw_tensor *value = mw__op_is(divides, "rsqrt") ? mw__op_operand(divides, "x") : divisor;
    while (value != NULL && value->op != NULL && value->op != sum)
        value = joined_operand(value->op);
    return value != NULL && value->op == sum;
}

/* The value whose reciprocal is in the result. */
static const mw_tensor *divisor_of(const mw__op *op)
{
    if (mw__op_is(op, "rsqrt") || mw__op_is(op, "inverse") || mw__squares_is_power(op, -0.5) ||
        mw__squares_is_power(op, -1.0))
        return mw__op_operand(op, "x");
    return mw__op_is(op, "real_div") ? mw__op_operand(op, "y") : NULL;
}

/* ---- the list ---- */

typedef struct overflows {
    mw_graph *graph;
    mw__arithmetic arithmetic;
    mw__narrowing **end;
    bool *listed; /* by id of the result */
    mw_error *err;
} overflows;

static const char *keep_text(overflows *o, const char *text)
{
    return mw__arena_string(&o->graph->arena, text, strlen(text), o->err);
}

static mw_status list_overflow(overflows *o, const mw__op *op, double from, const char *says)
{
    char subject[160];
    const mw_tensor *result = op->results[0];
    if (o->listed[result->id])
        return MW_OK;
    o->listed[result->id] = true;
    mw__narrowing *note = mw__arena_alloc(&o->graph->arena, 1, sizeof *note, o->err);
    if (note == NULL)
        return MW_ERROR_MEMORY;
    *note = (mw__narrowing){.argument = "x", .value = from, .says = says};
    note->operation = keep_text(o, op->kind);
    note->tensor = keep_text(o, result->name != NULL ? result->name : "");
    note->subject = keep_text(o, mw__op_subject(op, subject, sizeof subject));
    if (note->operation == NULL || note->tensor == NULL || note->subject == NULL)
        return MW_ERROR_MEMORY;
    *o->end = note;
    o->end = &note->next;
    return MW_OK;
}

static mw_status check_divisor(overflows *o, const mw__op *op)
{
    const mw_tensor *divisor = divisor_of(op);
    const mw__op *square = find_source(divisor, is_square);
    if (square == NULL) {
        square = find_source(divisor, is_sum_square);
        const bool joined = (o->arithmetic & MW__ARITHMETIC(wide_chains)) != 0;
        square = square != NULL && joined && is_joined(op, divisor, square) ? NULL : square;
    }
    if (square != NULL)
        MW_TRY(
            list_overflow(o, square, MW__SQUARE_END,
                          "the square of a number beyond 255.9 is infinite in fp16, and what is divided by it or its "
                          "root is 0; multiply x by a constant below 1 before, or take layer_norm, l2_norm or "
                          "reduce_l2_norm, which add in fp32"));
    const mw__op *sum = mw__op_is(op, "real_div") ? find_source(divisor, is_exponential) : NULL;
    if (sum != NULL && find_source(mw__op_operand(op, "x"), is_exponential) == sum)
        return list_overflow(o, sum, EXP_END,
                             "e^x is infinite in fp16 from x = 11.09 on, and its share of a sum 0; take softmax, or "
                             "subtract the maximum first");
    return MW_OK;
}

/* True if one operation reads the result: only then is it not rounded before that one. */
static bool has_one_reader(const overflows *o, const mw__op *op)
{
    size_t readers = 0;
    const mw__block *body = mw__graph_main(o->graph)->body;
    for (size_t i = 0; i < body->op_count; i++)
        for (size_t slot = 0; slot < body->ops[i]->slot_count; slot++)
            for (size_t k = 0; k < body->ops[i]->slots[slot].count; k++)
                readers += body->ops[i]->slots[slot].operands[k].value == op->results[0];
    return readers == 1;
}

/* The logarithm of a sum of exponentials, where that of infinity is 0. */
static mw_status check_logarithm(overflows *o, const mw__op *op)
{
    const bool takes = mw__op_is(op, "log") || mw__op_is(op, "reduce_log_sum");
    if (!takes || (o->arithmetic & MW__ARITHMETIC(log_of_infinity)) == 0)
        return MW_OK;
    const mw__op *source = find_source(mw__op_operand(op, "x"), is_exponential);
    const bool joined = (o->arithmetic & MW__ARITHMETIC(wide_chains)) != 0;
    return source == NULL || (joined && is_joined(op, mw__op_operand(op, "x"), source) && has_one_reader(o, source))
               ? MW_OK
               : list_overflow(o, source, EXP_END,
                               "e^x is infinite in fp16 from x = 11.09 on, and the ANE's logarithm of that "
                               "0; take softplus or reduce_log_sum_exp, or subtract the maximum first");
}

static mw_status check_op(overflows *o, const mw__op *op)
{
    if (op->row == NULL || op->stage != MW__STEP_FORWARD || op->result_count != 1)
        return MW_OK;
    if (mw__op_is(op, "softplus") && (o->arithmetic & MW__ARITHMETIC(softplus_overflow)) != 0 &&
        is_unbounded(mw__op_operand(op, "x"), -(double)INFINITY, EXP_END))
        return list_overflow(o, op, EXP_END,
                             "from x = 11.09 on, where e^x passes 65504, the ANE makes it 0; write relu(x) + "
                             "softplus(-|x|), as the rewrite `softplus` does");
    MW_TRY(check_logarithm(o, op));
    return check_divisor(o, op);
}

mw_status mw__mil_list_overflows(mw_graph *graph, mw__arithmetic arithmetic, mw__narrowing **end, mw_error *err)
{
    const mw__function *main = mw__graph_main(graph);
    overflows o = {.graph = graph, .arithmetic = arithmetic, .end = end, .err = err};
    while (*o.end != NULL)
        o.end = &(*o.end)->next;
    o.listed = mw__alloc(graph->allocator, graph->value_count, sizeof *o.listed, err);
    mw_status status = o.listed != NULL ? MW_OK : MW_ERROR_MEMORY;
    for (size_t i = 0; main != NULL && i < main->body->op_count && status == MW_OK; i++)
        status = check_op(&o, main->body->ops[i]);
    mw__free(graph->allocator, o.listed);
    return status;
}
