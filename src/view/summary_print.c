/* A summary as a table for people. */
#include "view/summary.h"

#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/text/error.h"
#include "base/text/printable.h"
#include "base/text/utf8.h"

#include <inttypes.h>
#include <string.h>

/* ---- numbers ---- */

void mw__put_shape(mw__text *out, mw_shape shape)
{
    mw__text_puts(out, "[");
    for (int i = 0; i < shape.rank; i++) {
        mw__text_puts(out, i > 0 ? ", " : "");
        if (shape.dim[i] == MW_DIM_UNKNOWN)
            mw__text_puts(out, "?");
        else
            mw__text_printf(out, "%" PRId64, shape.dim[i]);
    }
    mw__text_puts(out, "]");
}

void mw__put_digits(mw__text *out, uint64_t number)
{
    char digits[32], text[48];
    const int length = (int)mw__printable_printf(digits, sizeof digits, "%" PRIu64, number);
    int at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    mw__text_append(out, text, (size_t)at);
}

static void put_scaled(mw__text *out, double number, const char *const *units, size_t count)
{
    char text[64];
    size_t unit = 0;
    for (; number >= 999.5 && unit + 1 < count; number /= 1000.0)
        unit++;
    if (number >= 1e6)
        mw__printable_printf(text, sizeof text, "%.3g%s", number, units[unit]);
    else if (unit == 0 || number >= 99.95)
        mw__printable_printf(text, sizeof text, "%.0f%s", number, units[unit]);
    else
        mw__printable_printf(text, sizeof text, number >= 9.995 ? "%.1f%s" : "%.2f%s", number, units[unit]);
    mw__text_puts(out, text);
}

void mw__put_count(mw__text *out, double count)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
    put_scaled(out, count, units, sizeof units / sizeof *units);
}

void mw__put_bytes(mw__text *out, uint64_t bytes)
{
    static const char *const units[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
    put_scaled(out, (double)bytes, units, sizeof units / sizeof *units);
}

void mw__put_flops(mw__text *out, double flops, size_t unknown)
{
    if (flops < 0.0 || (flops == 0.0 && unknown > 0)) {
        mw__text_puts(out, "-");
        return;
    }
    mw__put_count(out, flops);
    mw__text_puts(out, unknown > 0 ? "+" : "");
}

/* ---- the table ---- */

enum { COLUMNS = 9, NAME_MAX_SHOWN = 44, DETAIL_MAX_SHOWN = 48, READS_SHOWN = 4 };

static const char *const heads[COLUMNS] = {"#",          "name",  "kind", "detail", "result",
                                           "parameters", "bytes", "flop", "from"};

static bool is_number(int column) { return column == 0 || (column >= 5 && column <= 7); }

static void put_from(mw__text *out, const mw_summary_layer *layer, size_t index)
{
    if (layer->read_count == 1 && layer->reads[0] + 1 == index)
        return;
    for (size_t i = 0; i < layer->read_count && i < READS_SHOWN; i++)
        mw__text_printf(out, "%s%zu", i > 0 ? " " : "", layer->reads[i]);
    if (layer->read_count > READS_SHOWN)
        mw__text_printf(out, " and %zu", layer->read_count - READS_SHOWN);
}

static void put_cell(mw__text *out, const mw_summary *s, size_t index, int column)
{
    const mw_summary_layer *l = &s->layers[index];
    if (column == 0)
        mw__text_printf(out, "%zu", index);
    else if (column == 1)
        mw__text_show(out, l->name, NAME_MAX_SHOWN);
    else if (column == 2)
        mw__text_show(out, l->kind, NAME_MAX_SHOWN);
    else if (column == 3)
        mw__text_show(out, l->detail, DETAIL_MAX_SHOWN);
    else if (column == 4 && l->dtype != MW_DTYPE_NONE) {
        mw__text_printf(out, "%s ", mw_dtype_name(l->dtype));
        mw__put_shape(out, l->shape);
    } else if (column == 5 && l->parameters > 0)
        mw__put_digits(out, (uint64_t)l->parameters);
    else if (column == 6 && l->weight_bytes > 0)
        mw__put_bytes(out, l->weight_bytes);
    else if (column == 7 && l->operation_count > 0)
        mw__put_flops(out, l->flops, l->unknown_flops);
    else if (column == 8)
        put_from(out, l, index);
}

/* Letters, not bytes: names are UTF-8. */
static size_t letters(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += !mw__utf8_continues(text[i]);
    return count;
}

static void put_spaces(mw__text *out, size_t count)
{
    static const char spaces[] = "                                                                ";
    for (; count > 0;) {
        const size_t part = count < sizeof spaces - 1 ? count : sizeof spaces - 1;
        mw__text_append(out, spaces, part);
        count -= part;
    }
}

/* A cell, filled up to the width of its column; what is last has no spaces behind it. */
static void put_padded(mw__text *out, const mw__text *cell, int column, size_t width)
{
    const size_t own = letters(cell->data, cell->size), spaces = width > own ? width - own : 0;
    if (is_number(column))
        put_spaces(out, spaces);
    if (cell->size > 0)
        mw__text_append(out, cell->data, cell->size);
    if (!is_number(column))
        put_spaces(out, spaces);
    mw__text_puts(out, "  ");
}

static void end_line(mw__text *out)
{
    while (out->size > 0 && !out->failed && out->data[out->size - 1] == ' ')
        out->data[--out->size] = '\0';
    mw__text_puts(out, "\n");
}

static void measure_columns(const mw_summary *s, mw__text *cell, size_t widths[COLUMNS])
{
    for (int c = 0; c < COLUMNS; c++) {
        widths[c] = strlen(heads[c]);
        for (size_t i = 0; i < s->count; i++) {
            cell->size = 0;
            put_cell(cell, s, i, c);
            const size_t own = letters(cell->data, cell->size);
            widths[c] = own > widths[c] ? own : widths[c];
        }
    }
}

static void put_totals(mw__text *out, const mw_summary_totals *t)
{
    mw__text_printf(out, "\n%zu layer%s of %zu operation%s, ", t->layers, t->layers == 1 ? "" : "s", t->operations,
                    t->operations == 1 ? "" : "s");
    mw__put_digits(out, (uint64_t)t->parameters);
    mw__text_puts(out, " parameters, weights of ");
    mw__put_bytes(out, t->weight_bytes);
    mw__text_puts(out, "\n");
    mw__put_flops(out, t->flops, t->unknown_flops);
    mw__text_puts(out, " flop a run");
    if (t->unknown_flops > 0)
        mw__text_printf(out, " (%zu operation%s with no number)", t->unknown_flops, t->unknown_flops == 1 ? "" : "s");
    mw__text_puts(out, ", largest value ");
    mw__put_bytes(out, t->largest_bytes);
    if (t->activation_bytes > 0) {
        mw__text_puts(out, ", values at once at most ");
        mw__put_bytes(out, t->activation_bytes);
    }
    mw__text_puts(out, t->open ? "; ? counts as 1\n" : "\n");
}

static void print(const mw_summary *s, mw__text *out, mw__text *cell)
{
    size_t widths[COLUMNS];
    measure_columns(s, cell, widths);
    for (int c = 0; c < COLUMNS; c++) {
        cell->size = 0;
        mw__text_puts(cell, heads[c]);
        put_padded(out, cell, c, widths[c]);
    }
    end_line(out);
    for (size_t i = 0; i < s->count; i++) {
        for (int c = 0; c < COLUMNS; c++) {
            cell->size = 0;
            put_cell(cell, s, i, c);
            put_padded(out, cell, c, widths[c]);
        }
        end_line(out);
    }
    put_totals(out, &s->totals);
}

char *mw_summary_print(const mw_summary *summary, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    if (summary == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_summary_print: the summary is NULL");
        return NULL;
    }
    if (mw__live_check(summary, MW__LIVE_SUMMARY, __func__, err) != MW_OK)
        return NULL;
    mw__text out, cell;
    mw__text_init(&out, mw__allocator_default()); /* mw_string_free knows no other */
    mw__text_init(&cell, mw__allocator_default());
    print(summary, &out, &cell);
    const bool failed = cell.failed;
    mw__text_deinit(&cell);
    if (!failed && mw__text_check(&out, err) == MW_OK)
        return out.data;
    mw__text_deinit(&out);
    if (failed)
        mw__fail(err, MW_ERROR_MEMORY, "mw_summary_print: out of memory");
    return NULL;
}
