/* How the numbers of one tensor lie in the range of fp16. */
#include "graph/ir/ir.h"
#include "inspect/ranges.h"

#include <math.h>

/* Of fp16: the largest number, the smallest normal one, and the largest that is rounded to 0 (a tie goes to 0, which is
 * even). */
static const double largest = 65504.0, normal = 0x1p-14, vanishing = 0x1p-25;

static void begin_range(mw_range *out)
{
    out->count = out->not_finite = out->overflowed = out->subnormal = out->lost = 0;
    out->smallest = (double)INFINITY;
    out->largest = -(double)INFINITY;
    out->max_absolute = 0.0;
    out->min_absolute = (double)INFINITY;
}

static void add_number(mw_range *out, double x, size_t times)
{
    const double size = fabs(x);
    out->count += times;
    if (!isfinite(x)) {
        out->not_finite += times;
        return;
    }
    out->smallest = fmin(out->smallest, x);
    out->largest = fmax(out->largest, x);
    out->max_absolute = fmax(out->max_absolute, size);
    if (size == 0.0)
        return;
    out->min_absolute = fmin(out->min_absolute, size);
    out->overflowed += size > largest ? times : 0;
    out->subnormal += size < normal ? times : 0;
    out->lost += size <= vanishing ? times : 0;
}

static void end(mw_range *out)
{
    if (out->smallest > out->largest)
        out->smallest = out->largest = 0.0;
    if (isinf(out->min_absolute))
        out->min_absolute = 0.0;
    out->headroom = out->max_absolute > 0.0 ? log2(largest / out->max_absolute) : (double)INFINITY;
}

void mw__range_measure(const double *x, size_t count, mw_range *out)
{
    begin_range(out);
    for (size_t i = 0; i < count; i++)
        add_number(out, x[i], 1);
    end(out);
}

void mw__range_measure_constant(const mw__payload *payload, mw_range *out)
{
    const size_t count = mw__payload_count(payload);
    begin_range(out);
    if (payload->splat && count > 0)
        add_number(out, mw__payload_float(payload, 0), count);
    for (size_t i = 0; !payload->splat && i < count; i++)
        add_number(out, mw__payload_float(payload, i), 1);
    end(out);
}

static int more(size_t a, size_t b) { return (a < b) - (a > b); }

int mw__range_order(const mw_range *a, const mw_range *b)
{
    const int beyond = more(a->overflowed + a->not_finite, b->overflowed + b->not_finite);
    const int lost = beyond != 0 ? beyond : more(a->lost, b->lost);
    if (lost != 0)
        return lost;
    return a->headroom != b->headroom ? (a->headroom > b->headroom) - (a->headroom < b->headroom) : (a > b) - (a < b);
}
