/* Counts of fixed-point products as text, and the loss scale that all gradients of a step agree on. */
#include "inspect/products.h"

#include "base/text/printable.h"
#include "graph/ir/ir.h"

#include <math.h>
#include <stdio.h>

enum { COLUMNS = 120 };

/* ---- the loss scale ---- */

/* What the gradients want: down if one overflows, else up. */
static int wanted_loss_scale(const mw_ranges *ranges)
{
    int up = 0, down = 0;
    for (size_t i = 0; i < ranges->product_count; i++) {
        const mw_range_product *p = &ranges->products[i];
        up = p->is_gradient && p->scale > up ? p->scale : up;
        down = p->is_gradient && p->scale < down ? p->scale : down;
    }
    return down < 0 ? down : up;
}

/* How far up all gradients have room. */
static int room_of_gradients(const mw_ranges *ranges)
{
    int room = (int)fmin(ranges->gradient_headroom, 60.0) - 1; /* a bit is left */
    for (size_t i = 0; i < ranges->product_count; i++) {
        const mw_range_product *p = &ranges->products[i];
        room = p->is_gradient && p->peak > 0.0 && p->room < room ? p->room : room;
    }
    return room > 0 ? room : 0;
}

/* 32768 is the largest loss scale. */
static int room_of_loss_scale(const mw_ranges *ranges)
{
    const int room = room_of_gradients(ranges);
    const int largest = ranges->loss_scale > 0.0 ? 15 - ilogb(ranges->loss_scale) : 0;
    return largest < 0 ? 0 : largest < room ? largest : room;
}

int mw__range_products_loss_scale(const mw_ranges *ranges)
{
    const int wanted = wanted_loss_scale(ranges), room = room_of_loss_scale(ranges);
    return wanted < room ? wanted : room;
}

/* ---- text ---- */

static double percent(size_t part, size_t all) { return all > 0 ? 100.0 * (double)part / (double)all : 0.0; }

static void put_operands(char *out, size_t size, const mw_range_product *p)
{
    const char *first = p->operands[0], *second = p->operands[1];
    if (p->part != NULL)
        mw__printable_printf(out, size, " (%s)", p->part);
    else if (first != NULL && second != NULL)
        mw__printable_printf(out, size, " of %.20s, %.20s", first, second);
    else
        out[0] = '\0';
}

static void put_row(mw__text *text, const mw_range_product *p)
{
    char line[COLUMNS + 1], shape[MW__TENSOR_TEXT], operands[64];
    put_operands(operands, sizeof operands, p);
    mw__printable_printf(line, sizeof line,
                         "%5.1f%% %5.1f%% %5.1f%% %5.1f%% %7.1e %7.1e %6zu %6zu %4s  %.24s \"%.24s\" %s%s",
                         percent(p->vanished, p->products), percent(p->zeroed, p->nonzero),
                         percent(p->below_half, p->nonzero), percent(p->below_unit, p->nonzero), p->error, p->peak,
                         p->overflowed, p->overflowed_on_way, p->is_gradient ? "back" : "fwd", p->range->operation,
                         p->range->tensor, mw__shape_print(p->range->shape, shape, sizeof shape), operands);
    mw__text_puts(text, line);
    mw__text_puts(text, "\n");
}

static void put_sample(mw__text *text, const mw_range_product *p)
{
    if (p->results < p->all_results)
        mw__text_printf(text, "         counted: %zu of %zu results\n", p->results, p->all_results);
}

static void put_cure(mw__text *text, const mw_range_product *p)
{
    char line[COLUMNS + 1];
    const char *name = p->scaled >= 0 ? p->operands[p->scaled] : NULL;
    if (p->is_stuck)
        snprintf(line, sizeof line,
                 "         cure: none by a scale: sums reach %.2g of 32768, and 2^%d is wanted; split the sum in parts",
                 p->peak, p->wanted);
    else if (p->scale != 0 && p->scaled < 0 && p->peak == 0.0)
        snprintf(line, sizeof line, "         cure: loss scale x 2^%d", p->scale);
    else if (p->scale != 0 && p->scaled < 0)
        snprintf(line, sizeof line, "         cure: loss scale x 2^%d (up to 2^%d fits)", p->scale, p->room);
    else if (p->scale != 0)
        mw__printable_printf(line, sizeof line,
                             "         cure: \"%.40s\" x 2^%d before it, its result x 2^%d behind it",
                             name != NULL     ? name
                             : p->scaled == 0 ? "first operand"
                                              : "second operand",
                             p->scale, -p->scale);
    else
        return;
    mw__text_puts(text, line);
    mw__text_puts(text, "\n");
}

typedef struct product_totals {
    size_t overflowing, on_way, vanishing, near, sampled, stuck;
} product_totals;

static product_totals count_rows(const mw_ranges *ranges)
{
    product_totals t = {0};
    for (size_t i = 0; i < ranges->product_count; i++) {
        const mw_range_product *p = &ranges->products[i];
        t.overflowing += p->overflowed > 0;
        t.on_way += p->overflowed_on_way > 0;
        t.vanishing += p->scale > 0 || (p->is_stuck && p->overflowed == 0);
        t.near += p->overflowed == 0 && p->peak >= 0.5;
        t.sampled += p->results < p->all_results;
        t.stuck += p->is_stuck;
    }
    return t;
}

static void put_summary(mw__text *text, const mw_ranges *ranges, const product_totals *t)
{
    mw__text_printf(text, "products in fixed point (%.60s): %zu operations, ", ranges->profile, ranges->product_count);
    mw__text_printf(text, "%zu overflow (%zu on the way), ", t->overflowing, t->on_way);
    mw__text_printf(text, "%zu near 32768, %zu below the grid\n", t->near, t->vanishing);
    if (t->sampled > 0)
        mw__text_printf(text,
                        "sampled: of %zu large operations only some results were counted, the same ones each time\n",
                        t->sampled);
}

static void put_loss_scale(mw__text *text, const mw_ranges *ranges)
{
    const int scale = mw__range_products_loss_scale(ranges), wanted = wanted_loss_scale(ranges);
    if (scale != 0) {
        mw__text_printf(text, "gradients: a loss scale of %g, not %g, ", ldexp(ranges->loss_scale, scale),
                        ranges->loss_scale);
        mw__text_printf(text, scale > 0 ? "x 2^%d, fits all of them\n" : "x 2^%d, keeps sums finite\n", scale);
    }
    if (wanted <= scale)
        return;
    mw__text_printf(text, "gradients: 2^%d is wanted, 2^%d fits all of them", wanted, room_of_gradients(ranges));
    mw__text_puts(text, room_of_gradients(ranges) >= wanted
                            ? ", but 32768 is the largest scale: multiply the loss by the rest\n"
                            : ": normalize layers, so that gradients are of one size\n");
}

static void put_hints(mw__text *text, const mw_ranges *ranges, const product_totals *t)
{
    if (t->vanishing > 0)
        mw__text_puts(text, "below the grid: products below 2^-17 are 0; what they add up to is lost (column error)\n");
    if (t->overflowing > 0)
        mw__text_puts(text, "overflow: a partial sum of 32768 in the order of channels makes the result infinite\n");
    put_loss_scale(text, ranges);
    if (t->vanishing + t->overflowing == 0)
        mw__text_puts(text, "all products fit\n");
}

void mw__range_products_print(mw__text *text, const mw_ranges *ranges)
{
    mw__text_puts(text, "\n");
    if (!ranges->fixed_point) {
        mw__text_printf(text,
                        "the profile %.80s adds products without fixed point: none of them vanishes on a grid\n\n",
                        ranges->profile);
        return;
    }
    const product_totals t = count_rows(ranges);
    put_summary(text, ranges, &t);
    put_hints(text, ranges, &t);
    if (ranges->product_count > 0)
        mw__text_puts(text, "vanish   zero <2^-17 <2^-16   error    peak    inf on way pass  operation\n");
    for (size_t i = 0; i < ranges->product_count; i++) {
        put_row(text, ranges->product_order[i]);
        put_sample(text, ranges->product_order[i]);
        put_cure(text, ranges->product_order[i]);
    }
    mw__text_puts(text, "\n");
}
