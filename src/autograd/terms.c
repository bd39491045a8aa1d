/* Taking a scalar apart into means over examples, backwards through what is linear: sums and means over axes, sums,
 * products with what depends on no example, views, casts, and the wrappers of autograd. */
#include "autograd/terms.h"

#include "base/text/error.h"
#include "base/text/printable.h"
#include "graph/ir/ir.h"

#include <stdio.h>

/* Sums that share operands can be exponentially long when they are written out. */
enum { VISITS = 20000, DEPTH = 64 };

typedef struct splitting {
    mw__arena *arena;
    const mw__batch_rows *table;
    mw__term **end; /* where the next term goes */
    size_t visits;
    bool strict; /* neither quotients nor others, as in the parts of a quotient */
    mw_error *err;
} splitting;

/* number * factors * sum of the elements of x. */
typedef struct part {
    mw_tensor *x;
    double number;
    mw__term_factor *factors;
} part;

static bool split_part(splitting *s, part p, int depth);

static double count_of(const mw_tensor *x) { return (double)mw_shape_count(mw_tensor_shape(x)); }

static bool is_float(const mw_tensor *x)
{
    const mw_dtype dtype = mw_tensor_dtype(x);
    return dtype == MW_F32 || dtype == MW_F16;
}

static mw__batch_kind kind_of(const splitting *s, mw_tensor *x) { return s->table[mw__evaluated(x)->id].kind; }

/* True if x multiplies as one number: 1 element, or a constant that has the same everywhere. */
static bool is_number(const splitting *s, mw_tensor *x)
{
    if (kind_of(s, x) != MW__BATCH_NONE || !is_float(x))
        return false;
    return count_of(x) == 1.0 || (x->payload != NULL && x->payload->splat);
}

static mw__term *add_term(splitting *s, mw__term_kind kind, const part *p)
{
    mw__term *term = mw__arena_alloc(s->arena, 1, sizeof *term, s->err);
    if (term == NULL)
        return NULL;
    *term = (mw__term){.kind = kind, .number = p->number, .factors = p->factors, .value = p->x};
    *s->end = term;
    s->end = &term->next;
    return term;
}

/* The term of values that are there for each example, or for none. */
static bool add_mean(splitting *s, part p)
{
    p.number *= count_of(p.x);
    return is_float(p.x) && count_of(p.x) > 0.0 &&
           add_term(s, kind_of(s, p.x) == MW__BATCH_ROWS ? MW__TERM_EXAMPLES : MW__TERM_FIXED, &p) != NULL;
}

/* The sum of squares or magnitudes over examples is a sum like any other, but of no value that is there. */
static bool add_mapped(splitting *s, part p)
{
    const mw__op *op = p.x->op;
    if (op == NULL || op->row == NULL ||
        (op->row->id != MW__OP_reduce_sum_square && op->row->id != MW__OP_reduce_l1_norm))
        return false;
    p.x = mw__evaluated(mw__arg(op, "x"));
    if (kind_of(s, p.x) != MW__BATCH_ROWS || !is_float(p.x) || count_of(p.x) == 0.0)
        return false;
    p.number *= count_of(p.x);
    mw__term *term = add_term(s, MW__TERM_EXAMPLES, &p);
    if (term == NULL)
        return false;
    term->of = op->row->id == MW__OP_reduce_sum_square ? MW__TERM_OF_SQUARES : MW__TERM_OF_MAGNITUDES;
    return true;
}

/* ---- quotients ---- */

static bool is_zero(const mw_tensor *x)
{
    return x->payload != NULL && x->payload->data != NULL && count_of(x) == 1.0 &&
           mw__payload_float(x->payload, 0) == 0.0;
}

/* The divisor without its guard against 0, select(x > 0, x, k) as loss.c writes it: over a whole set a divisor of 0 is
 * an error. The record of a weighted mean is lost in text, and this is what it becomes. */
static mw_tensor *unguarded(const splitting *s, mw_tensor *x)
{
    const mw__op *op = mw__evaluated(x)->op;
    if (op == NULL || op->row == NULL || op->row->id != MW__OP_select || !is_number(s, mw__arg(op, "b")))
        return x;
    const mw__op *test = mw__arg(op, "cond")->op;
    const bool greater = test != NULL && test->row != NULL && test->row->id == MW__OP_greater;
    mw_tensor *chosen = mw__arg(op, "a");
    return greater && mw__arg(test, "x") == chosen && is_zero(mw__arg(test, "y")) ? chosen : x;
}

static bool add_quotient(splitting *s, const part *p, mw_tensor *above, mw_tensor *below)
{
    splitting inner = *s;
    mw__term quotient = {0};
    if (s->strict)
        return false;
    inner.strict = true;
    inner.end = &quotient.above;
    bool good = split_part(&inner, (part){.x = above, .number = 1.0}, DEPTH / 2);
    inner.end = &quotient.below;
    good = good && split_part(&inner, (part){.x = unguarded(s, below), .number = 1.0}, DEPTH / 2);
    s->visits = inner.visits;
    mw__term *term = good ? add_term(s, MW__TERM_QUOTIENT, p) : NULL;
    if (term == NULL)
        return false;
    term->above = quotient.above;
    term->below = quotient.below;
    return true;
}

/* A record of weighted examples: sum(examples) / sum(weights). */
static bool add_weighted(splitting *s, const part *p)
{
    const mw__composite *record = p->x->composite;
    return kind_of(s, record->examples) != MW__BATCH_MIXED && kind_of(s, record->weights) != MW__BATCH_MIXED &&
           count_of(record->examples) == count_of(record->weights) &&
           add_quotient(s, p, record->examples, record->weights);
}

/* ---- one step back ---- */

/* p->x = k * x, or x / k. */
static bool scale(splitting *s, part *p, mw_tensor *x, mw_tensor *k, bool divides)
{
    const double copies = count_of(p->x) / count_of(x);
    p->x = x;
    p->number *= copies;
    if (k->payload != NULL && k->payload->data != NULL) {
        const double number = mw__payload_float(k->payload, 0);
        p->number = divides ? p->number / number : p->number * number;
        return true;
    }
    mw__term_factor *factor = mw__arena_alloc(s->arena, 1, sizeof *factor, s->err);
    if (factor == NULL)
        return false;
    *factor = (mw__term_factor){.value = mw__evaluated(k), .divides = divides, .next = p->factors};
    p->factors = factor;
    return true;
}

static bool step_product(splitting *s, part *p)
{
    const mw__op *op = p->x->op;
    const bool divides = op->row->id == MW__OP_real_div;
    mw_tensor *x = mw__arg(op, "x"), *y = mw__arg(op, "y");
    if (is_number(s, y))
        return scale(s, p, x, y, divides);
    return !divides && is_number(s, x) && scale(s, p, y, x, false);
}

static bool is_sum(const mw_tensor *x)
{
    return x->op != NULL && x->op->row != NULL && (x->op->row->id == MW__OP_add || x->op->row->id == MW__OP_sub);
}

/* One operand is taken apart at once, the other is what remains: of a chain of sums, its rest. */
static bool step_sum(splitting *s, part *p, int depth)
{
    const double sign = p->x->op->row->id == MW__OP_sub ? -1.0 : 1.0, count = count_of(p->x);
    mw_tensor *x = mw__arg(p->x->op, "x"), *y = mw__arg(p->x->op, "y");
    const double number_x = p->number * count / count_of(x), number_y = sign * p->number * count / count_of(y);
    const part first = {.x = x, .number = number_x, .factors = p->factors};
    const part second = {.x = y, .number = number_y, .factors = p->factors};
    const bool chain = is_sum(y) && !is_sum(x);
    *p = chain ? second : first;
    return split_part(s, chain ? first : second, depth + 1);
}

static bool step_join(splitting *s, part *p, int depth)
{
    const mw__operand *values;
    const part whole = *p;
    const size_t count = mw__arg_values(p->x->op, "values", &values);
    for (size_t i = 0; i < count; i++) {
        p->x = values[i].value;
        if (i + 1 < count &&
            !split_part(s, (part){.x = p->x, .number = whole.number, .factors = whole.factors}, depth + 1))
            return false;
    }
    return count > 0;
}

static bool step_to_x(part *p)
{
    p->x = mw__arg(p->x->op, "x");
    return is_float(p->x);
}

static bool step_reduce(part *p)
{
    const double count = count_of(p->x);
    const bool mean = p->x->op->row->id == MW__OP_reduce_mean;
    if (!step_to_x(p) || count_of(p->x) == 0.0)
        return false;
    p->number *= mean ? count / count_of(p->x) : 1.0;
    return true;
}

/* From a mixed value to what it is a linear function of; false if it is none. */
static bool step(splitting *s, part *p, int depth)
{
    if (p->x->op == NULL || p->x->op->row == NULL)
        return false;
    switch (p->x->op->row->id) {
    case MW__OP_identity:
    case MW__OP_cast:
    case MW__OP_reshape:
    case MW__OP_reshape_like:
    case MW__OP_flatten2d:
    case MW__OP_squeeze:
    case MW__OP_expand_dims:
    case MW__OP_transpose:
        return step_to_x(p);
    case MW__OP_reduce_sum:
    case MW__OP_reduce_mean:
        return step_reduce(p);
    case MW__OP_mul:
    case MW__OP_real_div:
        return step_product(s, p);
    case MW__OP_add:
    case MW__OP_sub:
        return step_sum(s, p, depth);
    case MW__OP_concat:
    case MW__OP_stack:
        return step_join(s, p, depth);
    default:
        return false;
    }
}

/* A quotient of two scalars, neither of which is one number for all batches. */
static bool is_quotient(const mw_tensor *x)
{
    return x->op != NULL && x->op->row != NULL && x->op->row->id == MW__OP_real_div &&
           count_of(mw__arg(x->op, "x")) == 1.0 && count_of(mw__arg(x->op, "y")) == 1.0;
}

/* ---- the walk ---- */

/* Where the walk returns to when it is stuck: the last scalar, and the terms that were there before. */
typedef struct resort {
    part p;
    mw__term **end;
} resort;

static bool resign(splitting *s, const resort *last, const mw__op *reason)
{
    if (s->strict || last->end == NULL || !is_float(last->p.x) || s->err->status != MW_OK)
        return false;
    *last->end = NULL;
    s->end = last->end;
    mw__term *term = add_term(s, MW__TERM_OTHER, &last->p);
    if (term != NULL)
        term->reason = reason;
    return term != NULL;
}

static bool split_part(splitting *s, part p, int depth)
{
    resort last = {0};
    for (;;) {
        p.x = mw__evaluated(p.x);
        if (kind_of(s, p.x) != MW__BATCH_MIXED)
            return add_mean(s, p);
        if (count_of(p.x) == 1.0)
            last = (resort){.p = p, .end = s->end};
        const mw__op *op = p.x->op;
        const mw__composite *record = p.x->composite;
        if ((record != NULL && record->weights != NULL && add_weighted(s, &p)) || add_mapped(s, p))
            return true;
        const mw_tensor *before = p.x;
        if (s->visits++ < VISITS && depth < DEPTH && step(s, &p, depth))
            continue;
        if (p.x == before && is_quotient(p.x) && add_quotient(s, &p, mw__arg(op, "x"), mw__arg(op, "y")))
            return true;
        return resign(s, &last, op);
    }
}

mw_status mw__terms_make(mw__arena *arena, const mw__batch_rows *table, mw_tensor *scalar, mw__term **out,
                         mw_error *err)
{
    mw_error local = {0}; /* a lack of memory is no lack of linearity, also when err is NULL */
    splitting s = {.arena = arena, .table = table, .end = out, .err = &local};
    *out = NULL;
    if (split_part(&s, (part){.x = scalar, .number = 1.0}, 0))
        return MW_OK;
    if (local.status == MW_OK)
        return mw__fail(err, MW_ERROR_DTYPE, "a loss or metric must be a scalar of fp16 or fp32");
    if (err != NULL)
        *err = local;
    return local.status;
}

const char *mw__term_reason(const mw__batch_rows *table, const mw__term *term, char *buffer, size_t size)
{
    char subject[128], mixer[128];
    const mw__op *first = table[term->value->id].mixer;
    if (first == NULL || term->reason == NULL)
        mw__printable_printf(buffer, size, "it depends on an input whose first extent is no multiple of the batch");
    else if (first == term->reason)
        mw__printable_printf(buffer, size, "%s brings examples together", mw__op_subject(first, mixer, sizeof mixer));
    else
        mw__printable_printf(buffer, size, "%s works on what %s made of several examples",
                             mw__op_subject(term->reason, subject, sizeof subject),
                             mw__op_subject(first, mixer, sizeof mixer));
    return buffer;
}
