/* Reports of ranges as objects and as text. */
#include "base/memory/live.h"
#include "base/text/printable.h"
#include "base/text/text.h"
#include "graph/ir/ir.h"
#include "inspect/products.h"
#include "inspect/ranges.h"

#include <math.h>
#include <stdio.h>

enum { COLUMNS = 120 };

void mw_ranges_destroy(mw_ranges *ranges)
{
    if (ranges == NULL || !mw__live_remove(ranges, MW__LIVE_RANGES, __func__))
        return;
    const mw_allocator *allocator = ranges->allocator;
    mw__arena_deinit(&ranges->arena);
    mw__free(allocator, ranges);
}

mw_ranges_info mw_ranges_get_info(const mw_ranges *ranges)
{
    const mw_range *worst = mw_ranges_worst_at(ranges, 0);
    if (!mw__live_has(ranges, MW__LIVE_RANGES))
        return (mw_ranges_info){0};
    const mw_range_product *product = mw_ranges_product_at(ranges, 0);
    const bool fits = worst == NULL || worst->overflowed + worst->not_finite == 0;
    return (mw_ranges_info){.fits = fits && (product == NULL || product->overflowed == 0),
                            .count = ranges->count,
                            .profile = ranges->profile,
                            .fixed_point = ranges->fixed_point,
                            .product_count = ranges->product_count,
                            .loss_scale = mw__range_products_loss_scale(ranges)};
}

const mw_range *mw_ranges_at(const mw_ranges *ranges, size_t index)
{
    return mw__live_has(ranges, MW__LIVE_RANGES) && index < ranges->count ? &ranges->items[index] : NULL;
}

const mw_range *mw_ranges_worst_at(const mw_ranges *ranges, size_t place)
{
    return mw__live_has(ranges, MW__LIVE_RANGES) && place < ranges->count ? ranges->order[place] : NULL;
}

const mw_range_product *mw_ranges_product_at(const mw_ranges *ranges, size_t place)
{
    return mw__live_has(ranges, MW__LIVE_RANGES) && place < ranges->product_count ? ranges->product_order[place] : NULL;
}

/* ---- text ---- */

/* How many values there are of each kind. */
typedef struct totals {
    size_t beyond, not_finite, lost, subnormal;
} totals;

static totals count_all(const mw_ranges *ranges)
{
    totals t = {0};
    for (size_t i = 0; i < ranges->count; i++) {
        const mw_range *item = &ranges->items[i];
        t.beyond += item->overflowed > 0;
        t.not_finite += item->not_finite > 0;
        t.lost += item->lost > 0;
        t.subnormal += item->subnormal > item->lost;
    }
    return t;
}

/* In at most 7 columns. */
static const char *short_count(char *out, size_t size, size_t count)
{
    if (count <= 9999999)
        snprintf(out, size, "%zu", count);
    else
        mw__printable_printf(out, size, "%.1e", (double)count);
    return out;
}

static void put_item(mw__text *text, const mw_range *item)
{
    char line[COLUMNS + 1], shape[MW__TENSOR_TEXT], bits[16] = "-", counts[4][16];
    if (!isinf(item->headroom))
        mw__printable_printf(bits, sizeof bits, "%.1f", item->headroom);
    short_count(counts[0], sizeof counts[0], item->overflowed);
    short_count(counts[1], sizeof counts[1], item->not_finite);
    short_count(counts[2], sizeof counts[2], item->lost);
    short_count(counts[3], sizeof counts[3], item->subnormal);
    const char *parameter = item->parameter != NULL && item->parameter != item->tensor ? item->parameter : "";
    mw__printable_printf(line, sizeof line, "%6s %9.3g %9.3g %9.3g %7s %7s %7s %7s  %.24s \"%s\" %s%s%s", bits,
                         item->smallest, item->largest, item->min_absolute, counts[0], counts[1], counts[2], counts[3],
                         item->operation, item->tensor, mw__shape_print(item->shape, shape, sizeof shape),
                         parameter[0] != '\0' ? " of " : "", parameter);
    mw__text_puts(text, line);
    mw__text_puts(text, "\n");
}

static void put_summary(mw__text *text, const mw_ranges *ranges, const totals *t)
{
    mw__text_printf(text, "%zu values: ", ranges->count);
    mw__text_printf(text, "%zu beyond its range, %zu not finite, %zu with elements lost, ", t->beyond, t->not_finite,
                    t->lost);
    mw__text_printf(text, "%zu with subnormal ones\n", t->subnormal);
}

static void put_hints(mw__text *text, const totals *t)
{
    if (t->not_finite > 0)
        mw__text_puts(text,
                      "not finite: NaN or infinite in fp32, too; the first in the order of the graph is to blame\n");
    if (t->beyond > 0)
        mw__text_puts(text, "beyond: infinite in fp16; scale what is fed or computed down, or a gradient by a smaller "
                            "loss scale\n");
    if (t->lost > 0)
        mw__text_puts(text,
                      "lost: 0 in fp16; for gradients a larger or dynamic loss scale, for others a scale of their "
                      "own\n");
    mw__text_puts(text, t->beyond + t->not_finite == 0 ? "all values fit; mw check says what a chip refuses\n"
                                                       : "not all values fit; mw check says what a chip refuses\n");
}

static void put_all(mw__text *text, const mw_ranges *ranges)
{
    const totals t = count_all(ranges);
    put_summary(text, ranges, &t);
    put_hints(text, &t);
    if (ranges->profile != NULL)
        mw__range_products_print(text, ranges);
    if (ranges->count > 0)
        mw__text_puts(text, "  bits  smallest   largest   min |x|  beyond not fin    lost subnorm  value\n");
    for (size_t i = 0; i < ranges->count; i++)
        put_item(text, ranges->order[i]);
}

char *mw_ranges_print(const mw_ranges *ranges, mw_error *err)
{
    mw__text text;
    if (mw__skips(err))
        return NULL;
    if (ranges == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%s: the report is NULL", __func__);
        return NULL;
    }
    if (mw__live_check(ranges, MW__LIVE_RANGES, __func__, err) != MW_OK)
        return NULL;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    put_all(&text, ranges);
    return mw__text_take(&text, err);
}
