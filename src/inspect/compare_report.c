/* Comparisons as objects, as text, and their inputs as a file. */
#include "base/memory/live.h"
#include "base/number/number.h"
#include "base/text/printable.h"
#include "base/text/text.h"
#include "format/tensors/safetensors.h"
#include "graph/ir/ir.h"
#include "runtime/compare/compare.h"
#include "runtime/trainer/step/trainer_compare.h"

#include <math.h>

void mw_comparison_destroy(mw_comparison *c) { mw__comparison_destroy(c, __func__); }

const mw_comparison *mw_trainer_comparison(const mw_trainer *trainer) { return mw__trainer_comparison(trainer); }

static double part_of_tolerance(const mw_difference *d)
{
    if (d->beyond > 0 && d->not_finite > 0)
        return INFINITY;
    return d->tolerance > 0.0 ? d->max_absolute / d->tolerance : d->max_absolute > 0.0 ? INFINITY : 0.0;
}

/* The largest part of a tolerance, of equal ones the first. */
static const mw_compared *find_largest(const mw_comparison *c, bool accumulated)
{
    const mw_compared *largest = NULL;
    double most = -1.0;
    for (size_t i = 0; i < c->count; i++) {
        const mw_difference *d = accumulated ? &c->items[i].accumulated : &c->items[i].local;
        const double part = d->compared ? part_of_tolerance(d) : -1.0;
        if (part > most) {
            largest = &c->items[i];
            most = part;
        }
    }
    return largest;
}

mw_comparison_info mw_comparison_get_info(const mw_comparison *c)
{
    if (!mw__live_has(c, MW__LIVE_COMPARISON))
        return (mw_comparison_info){0};
    return (mw_comparison_info){.passes = mw__comparison_first(c, c->accumulated_only) == NULL,
                                .count = c->count,
                                .first_local = mw__comparison_first(c, false),
                                .first_accumulated = mw__comparison_first(c, true),
                                .largest_local = find_largest(c, false),
                                .largest_accumulated = find_largest(c, true),
                                .where = {c->where[0], c->where[1]},
                                .changed = {c->changed[0], c->changed[1]}};
}

const mw_compared *mw_comparison_at(const mw_comparison *c, size_t index)
{
    return mw__live_has(c, MW__LIVE_COMPARISON) && index < c->count ? &c->items[index] : NULL;
}

/* ---- text ---- */

static void put_number(mw__text *text, double value)
{
    char number[32];
    mw__number_print_float(number, (float)value);
    mw__text_puts(text, number);
}

static void put_difference(mw__text *text, const char *name, const mw_difference *d)
{
    if (!d->compared)
        return;
    mw__text_printf(text, "; %s ", name);
    put_number(text, d->max_absolute);
    mw__text_puts(text, " (relative ");
    put_number(text, d->max_relative);
    mw__text_puts(text, ", mean ");
    put_number(text, d->mean_absolute);
    mw__text_puts(text, ")");
    if (d->beyond == 0 && d->overflowed > 0)
        mw__text_printf(text, ", %zu beyond the range of fp16, which comes to nothing", d->overflowed);
    if (d->beyond == 0)
        return;
    mw__text_printf(text, ", %zu of %zu beyond ", d->beyond, d->count);
    put_number(text, d->tolerance);
    if (d->not_finite > 0)
        mw__text_printf(text, ", %zu not finite", d->not_finite);
    mw__text_printf(text, ", worst [%zu]: ", d->worst);
    put_number(text, d->a);
    mw__text_puts(text, " and ");
    put_number(text, d->b);
}

static void put_name(mw__text *text, const mw_compared *item)
{
    mw__text_show(text, item->operation, MW__PRINTABLE_NAME);
    mw__text_puts(text, " \"");
    mw__text_show(text, item->tensor, MW__PRINTABLE_NAME);
    mw__text_puts(text, "\"");
}

static void put_item(mw__text *text, const mw_compared *item)
{
    char shape[MW__TENSOR_TEXT];
    mw__text_puts(text, item->local.beyond > 0 ? "! " : item->accumulated.beyond > 0 ? "~ " : "  ");
    put_name(text, item);
    mw__text_printf(text, " %s %s", mw_dtype_name(item->dtype), mw__shape_print(item->shape, shape, sizeof shape));
    put_difference(text, "local", &item->local);
    put_difference(text, "accumulated", &item->accumulated);
    if (item->skipped != NULL) {
        mw__text_puts(text, "; not alone: ");
        mw__text_show(text, item->skipped, 200);
    }
    mw__text_puts(text, "\n");
}

static void put_first(mw__text *text, const mw_comparison *c, bool accumulated)
{
    const mw_compared *first = mw__comparison_first(c, accumulated);
    mw__text_puts(text, accumulated ? "first beyond the tolerance in the whole program: "
                                    : "first beyond the tolerance on equal inputs: ");
    if (first != NULL)
        put_name(text, first);
    else
        mw__text_puts(text, "none");
    mw__text_puts(text, "\n");
}

static void put_all(mw__text *text, const mw_comparison *c)
{
    for (int side = 0; side < 2; side++) {
        mw__text_puts(text, side == 0 ? "reference: " : "device:    ");
        mw__text_show(text, c->where[side], 200);
        mw__text_printf(text, "; %zu outputs change when inner values are outputs, too\n", c->changed[side]);
    }
    if (!c->accumulated_only)
        put_first(text, c, false);
    put_first(text, c, true);
    for (size_t i = 0; i < c->count; i++)
        put_item(text, &c->items[i]);
}

char *mw_comparison_print(const mw_comparison *c, mw_error *err)
{
    mw__text text;
    if (mw__skips(err))
        return NULL;
    if (c == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%s: the comparison is NULL", __func__);
        return NULL;
    }
    if (mw__live_check(c, MW__LIVE_COMPARISON, __func__, err) != MW_OK)
        return NULL;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    put_all(&text, c);
    return mw__text_take(&text, err);
}

mw_status mw_comparison_save_batch(const mw_comparison *c, const char *path, mw_error *err)
{
    if (mw__skips(err))
        return err->status;
    if (c == NULL || path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the %s is NULL", __func__, c == NULL ? "comparison" : "path");
    MW_TRY(mw__live_check(c, MW__LIVE_COMPARISON, __func__, err));
    mw__safetensors_item *items = mw__alloc(c->allocator, c->input_count, sizeof *items, err);
    if (items == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < c->input_count; i++) {
        const mw__compared_input *input = &c->inputs[i];
        items[i] = (mw__safetensors_item){input->name, input->dtype, input->shape, input->data};
    }
    const mw_status status = mw__safetensors_write(c->allocator, path, NULL, 0, items, c->input_count, err);
    mw__free(c->allocator, items);
    return status;
}
