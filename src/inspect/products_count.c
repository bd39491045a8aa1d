/* Sums in fixed point beside exact ones, and the scale that a count calls for. */
#include "inspect/products.h"

#include "rules/fixed_point.h"

#include <math.h>

/* When a scale is proposed. Small products vanish in every network: a cure begins where results suffer, or where most
 * products go. */
static const double much_vanished = 0.5, much_zeroed = 0.01, much_error = 0.01, left_over = 0.01;
static const double unit = 0x1p-16, ceiling = 0x1p31; /* 32768 in units */

/* ---- one result ---- */

/* An exact sum in units of 2^-16: whole units, and the rest in multiples of 2^-32 of one. Both parts are exact while
 * the sum stays below 2^37. */
typedef struct exact_sum {
    double whole, rest;
} exact_sum;

static void add_exactly(exact_sum *sum, double number)
{
    const double units = number / unit, whole = trunc(units);
    sum->whole += whole;
    sum->rest += units - whole;
}

/* The power of 2 by which a product that vanished would have to be larger. */
static int missing_bits(float x, float y, bool drops)
{
    const int below = -17 - ilogb((double)x * (double)y);
    const int dropped = drops ? -16 - ilogb((double)mw__q16_power(x)) - ilogb((double)mw__q16_power(y)) : 0;
    const int bits = below > dropped ? below : dropped;
    return bits < 1 ? 1 : bits < MW__COUNT_BITS ? bits : MW__COUNT_BITS - 1;
}

static double add_product(mw__range_product_count *c, float x, float y)
{
    const double units = mw__q16_product(x, y, c->drops);
    c->out->products++;
    if (units == 0.0) {
        c->out->vanished++;
        c->out->dropped += mw__q16_units((double)x * (double)y) != 0.0;
        c->missing[missing_bits(x, y, c->drops)]++;
    }
    return units;
}

static void add_result(mw__range_product_count *c, double exact, double fixed, double peak)
{
    mw_range_product *out = c->out;
    const double size = fabs(exact);
    out->results++;
    out->peak = fmax(out->peak, peak / ceiling);
    out->nonzero += size > 0.0;
    out->zeroed += size > 0.0 && fixed == 0.0;
    out->below_half += size > 0.0 && size < unit / 2.0;
    out->below_unit += size > 0.0 && size < unit;
    if (peak >= ceiling) {
        out->overflowed++;
        out->overflowed_on_way += fabs(fixed) < ceiling;
        return;
    }
    c->error += (fixed * unit - exact) * (fixed * unit - exact);
    c->size += exact * exact;
}

void mw__range_product_add(mw__range_product_count *c, const float *x, const float *y, int64_t pairs, float start)
{
    exact_sum exact = {0};
    add_exactly(&exact, (double)start);
    double fixed = mw__q16_units((double)start), peak = fabs(fixed); /* goes on beyond the ceiling */
    for (int64_t k = 0; k < pairs; k++) {
        const float a = mw__q16_operand(x[k]), b = mw__q16_operand(y[k]);
        if (a == 0.0f || b == 0.0f)
            continue;
        add_exactly(&exact, (double)a * (double)b);
        fixed += add_product(c, a, b);
        peak = fmax(peak, fabs(fixed));
    }
    add_result(c, (exact.whole + exact.rest) * unit, fixed, peak);
}

/* ---- the cure ---- */

static double share_of(size_t part, size_t all) { return all > 0 ? (double)part / (double)all : 0.0; }

static int wanted_scale(const mw__range_product_count *c)
{
    size_t left = c->out->vanished;
    int bits = 0;
    while (bits < MW__COUNT_BITS - 1 && share_of(left, c->out->products) > left_over)
        left -= c->missing[++bits];
    return bits;
}

/* Bits until an operand is beyond fp16. */
static int room_of_operand(double largest) { return largest > 0.0 ? 15 - ilogb(largest) : MW__COUNT_BITS; }

/* An operand beyond fp16 was counted as 65536, so the sums are larger by what is missing. */
static int room_of_sums(double peak, const double largest[2])
{
    int room = peak > 0.0 ? -ilogb(peak) - 2 : 0;
    for (int i = 0; i < 2 && peak > 0.0; i++)
        room += room_of_operand(largest[i]) < 0 ? room_of_operand(largest[i]) : 0;
    return room;
}

/* How far up; 0: not at all. The loss scale moves many values, of which the report of values knows the headroom. */
static int scale_up(const mw_range_product *out, const double largest[2])
{
    const int operand_room = out->scaled >= 0 ? room_of_operand(largest[out->scaled]) : MW__COUNT_BITS;
    const int room = out->peak == 0.0 || operand_room < out->room ? operand_room : out->room;
    const int bits = out->wanted < room ? out->wanted : room;
    return bits > 0 ? bits : 0;
}

void mw__range_product_finish(mw__range_product_count *c, const double largest[2])
{
    mw_range_product *out = c->out;
    out->error = c->size > 0.0 ? sqrt(c->error / c->size) : 0.0;
    const bool over = out->overflowed > 0;
    const bool under = share_of(out->vanished, out->products) > much_vanished ||
                       share_of(out->zeroed, out->nonzero) > much_zeroed || out->error > much_error;
    out->room = room_of_sums(out->peak, largest);
    out->wanted = wanted_scale(c);
    if (under && out->wanted == 0)
        out->wanted = 1; /* sums that cancel to less than a unit */
    /* the smaller operand has more room above it, the larger one below it */
    out->scaled = out->is_gradient ? -1 : (largest[0] <= largest[1]) == over ? 1 : 0;
    if (over && !under)
        out->scale = out->room;
    else if (!over && under)
        out->scale = scale_up(out, largest);
    out->is_stuck = (over || under) && out->scale == 0;
}

/* ---- order ---- */

static int more(double a, double b) { return (a < b) - (a > b); }

int mw__range_product_order(const mw_range_product *a, const mw_range_product *b)
{
    const double differences[][2] = {
        {(double)a->overflowed, (double)b->overflowed},
        {share_of(a->zeroed, a->nonzero), share_of(b->zeroed, b->nonzero)},
        {share_of(a->vanished, a->products), share_of(b->vanished, b->products)},
        {a->peak, b->peak},
    };
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        if (differences[i][0] != differences[i][1])
            return more(differences[i][0], differences[i][1]);
    return (a > b) - (a < b);
}
