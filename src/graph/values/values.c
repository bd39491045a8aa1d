/* The one rule for values that enter: what is refused, and the message. Converting them is convert.c. */
#include "graph/values/values.h"

#include "base/number/fp16.h"
#include "base/text/printable.h"
#include "graph/values/convert.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- types ---- */

/* What an element type holds; all zero: nothing enters it. */
typedef struct type_range {
    mw_dtype dtype;
    bool source_only; /* nothing is stored in it */
    double low, high; /* of integers; of floating point the largest numbers that do not round to infinity */
    double whole;     /* every integer from -whole to whole is exact */
} type_range;

static const type_range ranges[] = {
    [MW_F64] = {MW_F64, false, -DBL_MAX, DBL_MAX, 0x1p53},
    [MW_F32] = {MW_F32, false, -0x1.fffffefffffffp127, 0x1.fffffefffffffp127, 0x1p24},
    [MW_F16] = {MW_F16, false, -0x1.ffdffffffffffp15, 0x1.ffdffffffffffp15, 2048.0},
    [MW_I64] = {MW_I64, false, -0x1p63, 0x1.fffffffffffffp62, 0x1p53}, /* the last double below 2^63 */
    [MW_U64] = {MW_U64, true, 0.0, 0x1.fffffffffffffp63, 0x1p53},
    [MW_I32] = {MW_I32, false, -2147483648.0, 2147483647.0, 2147483648.0},
    [MW_U32] = {MW_U32, true, 0.0, 4294967295.0, 4294967296.0},
    [MW_I16] = {MW_I16, false, -32768.0, 32767.0, 32768.0},
    [MW_U16] = {MW_U16, false, 0.0, 65535.0, 65536.0},
    [MW_I8] = {MW_I8, false, -128.0, 127.0, 128.0},
    [MW_U8] = {MW_U8, false, 0.0, 255.0, 256.0},
    [MW_BOOL] = {MW_BOOL, false, 0.0, 1.0, 2.0},
};

static const type_range *range_of(mw_dtype dtype)
{
    const size_t place = (size_t)dtype; /* a caller's number may be anything */
    return place < sizeof ranges / sizeof ranges[0] && ranges[place].dtype != MW_DTYPE_NONE ? &ranges[place] : NULL;
}

bool mw__is_host_type(mw_dtype dtype) { return range_of(dtype) != NULL; }

static bool is_float(mw_dtype dtype) { return dtype == MW_F16 || dtype == MW_F32 || dtype == MW_F64; }

/* ---- one way from a source to a port ---- */

typedef struct passage {
    const mw__values *values;
    const mw__port_rule *rule;
    const type_range *from, *to, *declared;
    double scale, offset;
    bool plain;   /* no scale, no offset */
    bool integer; /* the port takes integers only */
    bool whole;   /* integers that must stay what they are */
} passage;

static passage passage_of(const mw__values *values, const mw__port_rule *rule)
{
    passage p = {.values = values,
                 .rule = rule,
                 .from = range_of(values->dtype),
                 .to = range_of(rule->dtype),
                 .declared = range_of(rule->declared),
                 .scale = values->scale != 0.0f ? (double)values->scale : 1.0,
                 .offset = (double)values->offset};
    p.plain = p.scale == 1.0 && p.offset == 0.0;
    p.integer = !is_float(rule->declared) || !is_float(rule->dtype);
    p.whole = !is_float(values->dtype) && p.scale == trunc(p.scale) && p.offset == trunc(p.offset);
    return p;
}

static double value_at(const passage *p, size_t i)
{
    return mw__load_element(p->values->data, p->values->dtype, i) * p->scale + p->offset;
}

/* Whether double does not hold the 64-bit integer. The powers of two are where a conversion back would overflow. */
static bool is_rounded(const mw__values *values, size_t i)
{
    const double value = mw__load_element(values->data, values->dtype, i);
    if (values->dtype == MW_I64)
        return value >= 0x1p63 || (int64_t)value != ((const int64_t *)values->data)[i];
    if (values->dtype == MW_U64)
        return value >= 0x1p64 || (uint64_t)value != ((const uint64_t *)values->data)[i];
    return false;
}

/* Whether value_at is not exactly the integer that is meant. */
static bool exceeds_double(const passage *p, size_t i)
{
    if (p->plain)
        return is_rounded(p->values, i);
    const double product = mw__load_element(p->values->data, p->values->dtype, i) * p->scale;
    return is_rounded(p->values, i) || fabs(product) > 0x1p53 || fabs(product + p->offset) > 0x1p53;
}

static bool holds(const type_range *type, double value)
{
    if (!(value >= type->low && value <= type->high))
        return false;
    if (!is_float(type->dtype) || fabs(value) <= type->whole)
        return true;
    const double stored =
        type->dtype == MW_F16 ? (double)mw__fp16_to_float(mw__fp16_from_double(value)) : (double)(float)value;
    return type->dtype == MW_F64 || stored == value;
}

/* ---- the rule for one value ---- */

typedef enum verdict { FINE, NOT_FINITE, TOO_LARGE, NO_INTEGER, NOT_HELD, OUTSIDE } verdict;

static verdict classify_integer(const passage *p, size_t i)
{
    const mw__port_rule *rule = p->rule;
    const double value = value_at(p, i);
    if (!(fabs(value) <= DBL_MAX) || value != trunc(value))
        return NO_INTEGER;
    if (!holds(p->declared, value) || !holds(p->to, value) || exceeds_double(p, i))
        return NOT_HELD;
    if (rule->index_limit <= 0 || (value >= 0 && value < (double)rule->index_limit))
        return FINE;
    const bool ignored = rule->index_use == MW__INDEX_IGNORES && value == (double)rule->index_ignored;
    return ignored ? FINE : OUTSIDE;
}

static verdict classify_number(const passage *p, size_t i)
{
    const double value = value_at(p, i);
    if (!(fabs(mw__load_element(p->values->data, p->values->dtype, i)) <= DBL_MAX))
        return p->rule->finite ? NOT_FINITE : FINE;
    if (p->whole || (p->rule->whole && value == trunc(value)))
        return holds(p->to, value) && !exceeds_double(p, i) ? FINE : NOT_HELD;
    return value >= p->to->low && value <= p->to->high ? FINE : TOO_LARGE;
}

static verdict classify(const passage *p, size_t i)
{
    return p->integer ? classify_integer(p, i) : classify_number(p, i);
}

/* ---- all values ---- */

/* Whether the extremes of a source of integers, and so everything between them, may enter. */
static bool extremes_fit(const passage *p)
{
    const double first = p->from->low * p->scale + p->offset, last = p->from->high * p->scale + p->offset;
    const double low = fmin(first, last), high = fmax(first, last);
    if (p->integer && (!p->whole || low < p->declared->low || high > p->declared->high))
        return false;
    if (p->whole && fmax(-low, high) > p->to->whole)
        return false;
    return low >= p->to->low && high <= p->to->high;
}

/* Whether every value may enter by the types alone. */
static bool surely_fine(const passage *p)
{
    if (p->integer && p->rule->index_limit > 0)
        return false;
    if (!is_float(p->from->dtype))
        return extremes_fit(p) || (p->plain && p->from == p->to && p->from == p->declared);
    return p->plain && !p->integer && !p->rule->finite && p->from->high <= p->to->high;
}

enum { BLOCK = 1024 };

/* The begin of the first block from `begin` on in which a float is not smaller than the limit; vectorizes. */
static size_t skip_small(const float *data, size_t begin, size_t count, float limit)
{
    for (; begin < count; begin += BLOCK) {
        const size_t end = count - begin < BLOCK ? count : begin + BLOCK;
        int bad = 0;
        for (size_t i = begin; i < end; i++)
            bad |= !(fabsf(data[i]) < limit);
        if (bad)
            break;
    }
    return begin;
}

/* Index of the first value that is refused, `count` if none is. */
static size_t find_refused(const passage *p, verdict *out)
{
    const size_t count = p->values->count;
    const bool floats = p->plain && !p->integer && !p->rule->whole && p->values->dtype == MW_F32;
    const float limit = p->rule->dtype == MW_F16 ? 65520.0f : INFINITY;
    if (surely_fine(p))
        return count;
    if (p->plain && !p->integer && p->values->dtype == MW_F16 &&
        mw__find_not_finite(p->values->data, MW_F16, count) == count)
        return count;
    for (size_t i = 0; i < count; i++) {
        if (floats && i % BLOCK == 0)
            i = skip_small(p->values->data, i, count, limit);
        if (i >= count)
            break;
        *out = classify(p, i);
        if (*out != FINE)
            return i;
    }
    return count;
}

/* ---- messages ---- */

/* An integer in full, anything else as printf has it. */
static void print_value(const passage *p, size_t i, char *out, size_t size)
{
    if (p->plain && p->values->dtype == MW_I64)
        snprintf(out, size, "%" PRId64, ((const int64_t *)p->values->data)[i]);
    else if (p->plain && p->values->dtype == MW_U64)
        snprintf(out, size, "%" PRIu64, ((const uint64_t *)p->values->data)[i]);
    else if (value_at(p, i) == trunc(value_at(p, i)) && fabs(value_at(p, i)) <= 0x1p53)
        mw__printable_printf(out, size, "%.0f", value_at(p, i));
    else
        mw__printable_printf(out, size, "%g", value_at(p, i));
}

static void say_not_held(const passage *p, const char *value, mw__refusal *refusal)
{
    const type_range *type = holds(p->declared, value_at(p, refusal->element)) ? p->to : p->declared;
    if (!is_float(type->dtype))
        mw__printable_printf(refusal->text, sizeof refusal->text, "is %s, which %s cannot hold (%.0f to %.0f)", value,
                             mw_dtype_name(type->dtype), type->low, type->high);
    else
        mw__printable_printf(refusal->text, sizeof refusal->text,
                             "is %s, which %s does not have (it has all integers up to %.0f)%s", value,
                             mw_dtype_name(type->dtype), type->whole,
                             p->integer ? "; another device may" : "; scale it, or give it as fp32 to have it rounded");
}

static void describe_refusal(const passage *p, verdict why, mw__refusal *refusal)
{
    char value[40], ignored[48] = "";
    char *text = refusal->text;
    const size_t size = sizeof refusal->text;
    print_value(p, refusal->element, value, sizeof value);
    refusal->status = why == NOT_FINITE || why == TOO_LARGE ? MW_ERROR_NUMERIC : MW_ERROR_ARGUMENT;
    if (why == NOT_FINITE)
        snprintf(text, size, "is not finite (%s)", value);
    else if (why == TOO_LARGE)
        mw__printable_printf(text, size, "is %s, too large for %s (up to %g); scale it", value,
                             mw_dtype_name(p->to->dtype),
                             p->to->dtype == MW_F16 ? (double)MW__FP16_MAX : (double)FLT_MAX);
    else if (why == NO_INTEGER)
        snprintf(text, size, "is %s, no integer, and %s takes no other", value, mw_dtype_name(p->declared->dtype));
    else if (why == NOT_HELD)
        say_not_held(p, value, refusal);
    else {
        if (p->rule->index_use == MW__INDEX_IGNORES)
            snprintf(ignored, sizeof ignored, ", nor the ignored %" PRId64, p->rule->index_ignored);
        snprintf(text, size, "is %s, not in 0 .. %" PRId64 "%s", value, p->rule->index_limit - 1, ignored);
    }
}

/* ---- for the rest of the room ---- */

mw_status mw__values_check(const mw__values *values, const mw__port_rule *rule, mw__refusal *refusal)
{
    const passage p = passage_of(values, rule);
    *refusal = (mw__refusal){.element = values->count};
    if (p.from == NULL || p.to == NULL || p.declared == NULL || p.to->source_only) {
        snprintf(refusal->text, sizeof refusal->text, "no conversion from %s to %s", mw_dtype_name(values->dtype),
                 mw_dtype_name(rule->dtype));
        return refusal->status = MW_ERROR_DTYPE;
    }
    verdict why = FINE;
    refusal->element = find_refused(&p, &why);
    if (refusal->element < values->count)
        describe_refusal(&p, why, refusal);
    return refusal->status;
}

/* What most batches are: fp32 that goes into fp32 as it is. Found out without a look at the rest of the rule, which a
 * step of a tiny network would feel. */
static bool enters_as_it_is(const mw__values *values, const mw__port_rule *rule)
{
    const bool singles = values->dtype == MW_F32 && rule->dtype == MW_F32 && rule->declared == MW_F32 && !rule->whole;
    return singles && (values->scale == 0.0f || values->scale == 1.0f) && values->offset == 0.0f &&
           mw__find_not_finite(values->data, MW_F32, values->count) == values->count;
}

mw_status mw__values_enter(void *out, const mw__values *values, const mw__port_rule *rule, mw__refusal *refusal)
{
    if (!enters_as_it_is(values, rule))
        MW_TRY(mw__values_check(values, rule, refusal));
    mw__convert_checked(out, rule->dtype, values);
    return MW_OK;
}
