/* The confusion matrix as a picture, figures of each class as a table. */
#include "view/markup.h"
#include "view/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DRAWN_MAX = 40, LEFT = 110, TOP = 96, PAIRS = 10, NAME = 14 };

static int64_t row_sum(const mw__classes *c, size_t row)
{
    int64_t sum = 0;
    for (size_t i = 0; i < c->count; i++)
        sum += c->cells[row * c->count + i];
    return sum;
}

static int64_t column_sum(const mw__classes *c, size_t column)
{
    int64_t sum = 0;
    for (size_t i = 0; i < c->count; i++)
        sum += c->cells[i * c->count + column];
    return sum;
}

/* ---- the matrix ---- */

static void put_names(const mw__classes *c, double cell, mw__text *out)
{
    for (size_t i = 0; i < c->count; i++) {
        const double middle = ((double)i + 0.5) * cell;
        mw__text_puts(out, "<text text-anchor=\"end\" font-size=\"11\"");
        mw__put_attribute(out, "x", LEFT - 8);
        mw__put_attribute(out, "y", TOP + middle + 4);
        mw__text_puts(out, ">");
        mw__put_escaped(out, c->names[i], NAME);
        mw__text_puts(out, "</text><text font-size=\"11\" transform=\"translate(");
        mw__put_fixed(out, LEFT + middle + 4, 1);
        mw__text_printf(out, " %d) rotate(-60)\">", TOP - 8);
        mw__put_escaped(out, c->names[i], NAME);
        mw__text_puts(out, "</text>\n");
    }
}

static void put_cell(const mw__classes *c, size_t row, size_t column, double cell, int64_t whole, mw__text *out)
{
    const int64_t count = c->cells[row * c->count + column];
    const double share = whole > 0 ? (double)count / (double)whole : 0.0;
    if (count == 0)
        return;
    mw__text_printf(out, "<rect class=\"%s\"", row == column ? "hit" : "miss");
    mw__put_attribute(out, "x", LEFT + (double)column * cell + 0.5);
    mw__put_attribute(out, "y", TOP + (double)row * cell + 0.5);
    mw__put_attribute(out, "width", cell - 1);
    mw__put_attribute(out, "height", cell - 1);
    mw__text_puts(out, " fill-opacity=\"");
    mw__put_fixed(out, 0.08 + 0.72 * share, 2);
    mw__text_puts(out, "\"><title>");
    mw__put_escaped(out, c->names[row], 60);
    mw__text_puts(out, " seen as ");
    mw__put_escaped(out, c->names[column], 60);
    mw__text_printf(out, ": %" PRId64 "</title></rect>", count);
    char number[32];
    const size_t digits = (size_t)snprintf(number, sizeof number, "%" PRId64, count);
    if (mw__view_text_width(digits, 10) > cell - 4)
        return;
    mw__text_puts(out, "<text text-anchor=\"middle\" font-size=\"10\"");
    mw__put_attribute(out, "x", LEFT + ((double)column + 0.5) * cell);
    mw__put_attribute(out, "y", TOP + ((double)row + 0.5) * cell + 3.5);
    mw__text_printf(out, ">%s</text>\n", number);
}

static const char matrix_text[] = "rows: label, columns: seen as";

static void put_matrix(const mw__classes *c, mw__text *out)
{
    const double cell = c->count <= 12 ? 40 : c->count <= 24 ? 26 : 16, side = cell * (double)c->count;
    const double below = mw__view_text_width(strlen(matrix_text), 11), beside = side + 80;
    const double width = LEFT + (beside > below ? beside : below), height = TOP + side + 24;
    mw__text_puts(out, "<figure><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"matrix\" role=\"img\"");
    mw__put_attribute(out, "width", width);
    mw__put_attribute(out, "height", height);
    mw__text_puts(out, " viewBox=\"0 0 ");
    mw__put_fixed(out, width, 1);
    mw__text_puts(out, " ");
    mw__put_fixed(out, height, 1);
    mw__text_puts(out, "\">\n<rect class=\"frame\"");
    mw__put_attribute(out, "x", LEFT);
    mw__put_attribute(out, "y", TOP);
    mw__put_attribute(out, "width", side);
    mw__put_attribute(out, "height", side);
    mw__text_puts(out, "/>\n");
    put_names(c, cell, out);
    for (size_t row = 0; row < c->count; row++) {
        const int64_t whole = row_sum(c, row);
        for (size_t column = 0; column < c->count; column++)
            put_cell(c, row, column, cell, whole, out);
    }
    mw__text_puts(out, "<text class=\"dim\" font-size=\"11\"");
    mw__put_attribute(out, "x", LEFT);
    mw__put_attribute(out, "y", height - 6);
    mw__text_printf(out, ">%s</text></svg></figure>\n", matrix_text);
}

/* ---- the most frequent confusions ---- */

static bool is_larger(const mw__classes *c, size_t a, size_t b)
{
    return c->cells[a] != c->cells[b] ? c->cells[a] > c->cells[b] : a < b;
}

static size_t find_pairs(const mw__classes *c, size_t pairs[PAIRS])
{
    size_t count = 0;
    for (size_t i = 0; i < c->count * c->count; i++) {
        if (c->cells[i] == 0 || i / c->count == i % c->count)
            continue;
        if (count == PAIRS && !is_larger(c, i, pairs[PAIRS - 1]))
            continue;
        size_t at = count < PAIRS ? count++ : PAIRS - 1;
        for (; at > 0 && is_larger(c, i, pairs[at - 1]); at--)
            pairs[at] = pairs[at - 1];
        pairs[at] = i;
    }
    return count;
}

static void put_pairs(const mw__classes *c, mw__text *out)
{
    size_t pairs[PAIRS];
    const size_t count = find_pairs(c, pairs);
    if (count == 0)
        return;
    mw__text_puts(out, "<h3>Most frequent confusions</h3><table><thead><tr><th>label</th><th>seen as</th><th "
                       "class=\"n\">examples</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        mw__text_puts(out, "<tr><td>");
        mw__put_escaped(out, c->names[pairs[i] / c->count], 80);
        mw__text_puts(out, "</td><td>");
        mw__put_escaped(out, c->names[pairs[i] % c->count], 80);
        mw__text_printf(out, "</td><td class=\"n\">%" PRId64 "</td></tr>\n", c->cells[pairs[i]]);
    }
    mw__text_puts(out, "</tbody></table>\n");
}

/* ---- figures ---- */

static void put_share(mw__text *out, double part, double whole)
{
    mw__text_puts(out, "<td class=\"n\">");
    if (whole > 0.0) {
        mw__put_exact(out, 100.0 * part / whole, 1);
        mw__text_puts(out, " %");
    } else {
        mw__text_puts(out, "-");
    }
    mw__text_puts(out, "</td>");
}

static void put_figures(const mw__classes *c, mw__text *out)
{
    mw__text_puts(out, "<table><thead><tr><th>class</th><th class=\"n\">examples</th><th class=\"n\">precision</th><th "
                       "class=\"n\">recall</th><th class=\"n\">F1</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < c->count; i++) {
        const double hits = (double)c->cells[i * c->count + i], labels = (double)row_sum(c, i),
                     seen = (double)column_sum(c, i);
        mw__text_puts(out, "<tr><td>");
        mw__put_escaped(out, c->names[i], 80);
        mw__text_printf(out, "</td><td class=\"n\">%.0f</td>", labels);
        put_share(out, hits, seen);
        put_share(out, hits, labels);
        put_share(out, 2.0 * hits, labels + seen);
        mw__text_puts(out, "</tr>\n");
    }
    mw__text_puts(out, "</tbody></table>\n");
}

void mw__page_classes(const mw__report *r)
{
    const mw__classes *c = &r->classes;
    int64_t hits = 0, all = 0;
    if (c->count == 0)
        return;
    for (size_t i = 0; i < c->count; i++) {
        hits += c->cells[i * c->count + i];
        all += row_sum(c, i);
    }
    mw__section(r->out, "Classes");
    mw__text_printf(r->out, "<p>%" PRId64 " of %" PRId64 " examples are seen right: <b>", hits, all);
    mw__put_exact(r->out, all > 0 ? 100.0 * (double)hits / (double)all : 0.0, 2);
    mw__text_puts(r->out, " %</b>.</p>\n<div class=\"side\">");
    if (c->count <= DRAWN_MAX)
        put_matrix(c, r->out);
    mw__text_puts(r->out, "<div>");
    put_figures(c, r->out);
    put_pairs(c, r->out);
    mw__text_puts(r->out, "</div></div>\n");
    mw__section_end(r->out);
}
