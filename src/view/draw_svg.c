/* A laid out picture as SVG. */
#include "base/text/error.h"
#include "view/draw.h"
#include "view/markup.h"

#include <string.h>

enum { LINE_HEIGHT = 15, FRAME = 12, FRAME_TOP = 24 };

/* ---- colors ---- */

/* What kinds of layers have in common: the number of a color. */
static int color_of(const char *kind)
{
    static const struct {
        const char *part;
        int color;
    } rows[] = {{"conv", 0},      {"linear", 0},  {"matmul", 0},    {"einsum", 0},  {"norm", 3},  {"relu", 1},
                {"gelu", 1},      {"silu", 1},    {"sigmoid", 1},   {"tanh", 1},    {"swish", 1}, {"mish", 1},
                {"elu", 1},       {"softmax", 1}, {"embedding", 2}, {"lstm", 6},    {"gru", 6},   {"rnn", 6},
                {"attention", 6}, {"while", 6},   {"cond", 6},      {"entropy", 5}, {"loss", 5},  {"mse", 5},
                {"gradient", 4},  {"dropout", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(kind, rows[i].part) != NULL)
            return rows[i].color;
    return 7;
}

/* ---- head ---- */

static void put_style(mw__text *out)
{
    mw__text_puts(out, "<style>svg.mw-graph{");
    mw__text_puts(out, mw__palette_light);
    mw__text_puts(out, "}@media(prefers-color-scheme:dark){svg.mw-graph{");
    mw__text_puts(out, mw__palette_dark);
    mw__text_puts(out,
                  "}}svg.mw-graph{font-family:system-ui,sans-serif}.mw-graph .page{fill:var(--page)}.mw-graph text{"
                  "fill:var(--ink)}.mw-graph .dim{fill:var(--dim)}.mw-graph .arrow{fill:none;stroke:var(--line);"
                  "stroke-width:1.3}.mw-graph .tip{fill:var(--line)}.mw-graph .box{stroke-width:1}.mw-graph "
                  ".port{fill:var(--page);stroke:var(--line)}.mw-graph .from{fill:var(--page);stroke:var(--line);"
                  "stroke-dasharray:3 3}.mw-graph .fold{fill:var(--band);stroke:var(--rule)}");
    for (int i = 0; i < 8; i++)
        mw__text_printf(out, ".mw-graph .k%d{fill:var(--c%d);stroke:var(--s%d)}", i, i, i);
    mw__text_puts(out, "</style>\n");
}

static void put_text(mw__text *out, double x, double y, const char *attributes, const char *text, size_t longest)
{
    mw__text_puts(out, "<text");
    mw__put_attribute(out, "x", x);
    mw__put_attribute(out, "y", y);
    mw__text_printf(out, " %s>", attributes);
    mw__put_escaped(out, text, longest);
    mw__text_puts(out, "</text>\n");
}

static void put_totals(const mw__drawing *d, mw__text *out)
{
    const mw_summary_totals *t = &d->summary->totals;
    mw__text_puts(out, "<text x=\"24\" y=\"48\" class=\"dim\" font-size=\"11\">");
    mw__text_printf(out, "%zu layer%s, ", t->layers, t->layers == 1 ? "" : "s");
    mw__put_count(out, (double)t->parameters);
    mw__text_puts(out, " parameters, ");
    mw__put_bytes(out, t->weight_bytes);
    mw__text_puts(out, ", ");
    mw__put_flops(out, t->flops, t->unknown_flops);
    mw__text_puts(out, " flop</text>\n");
}

static void put_head(const mw__drawing *d, mw__text *out)
{
    mw__text_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mw-graph\" role=\"img\"");
    mw__put_attribute(out, "width", d->width);
    mw__put_attribute(out, "height", d->height);
    mw__text_puts(out, " viewBox=\"0 0 ");
    mw__put_fixed(out, d->width, 1);
    mw__text_puts(out, " ");
    mw__put_fixed(out, d->height, 1);
    mw__text_puts(out, "\">\n");
    put_style(out);
    mw__text_puts(out, "<defs><marker id=\"mw-tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
                       "markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" d=\"M0 0 8 4 0 8z\"/></marker></defs>\n"
                       "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
    put_text(out, 24, 30, "font-size=\"16\" font-weight=\"bold\"", d->title, mw__view_text_capacity(d->width - 48, 16));
    put_totals(d, out);
}

/* ---- repeated blocks ---- */

typedef struct frame {
    double left, top, right, bottom;
} frame;

static frame frame_of(const mw__drawing *d, const mw__fold *fold)
{
    const mw__draw_box *first = &d->boxes[fold->first];
    frame f = {first->x, first->y, first->x + first->width, first->y + first->height};
    for (uint32_t i = fold->first; i < fold->first + fold->count; i++) {
        const mw__draw_box *box = &d->boxes[i];
        f.left = box->x < f.left ? box->x : f.left;
        f.top = box->y < f.top ? box->y : f.top;
        f.right = box->x + box->width > f.right ? box->x + box->width : f.right;
        f.bottom = box->y + box->height > f.bottom ? box->y + box->height : f.bottom;
    }
    for (uint32_t i = 0; i < d->arrow_count; i++) { /* and the arrows between them */
        const mw__arrow *arrow = &d->arrows[i];
        if (d->boxes[arrow->to].fold != first->fold || d->boxes[arrow->from].rank + 1 < first->rank)
            continue;
        for (uint32_t k = 0; k < arrow->bends; k++) {
            f.left = d->bends[arrow->first + k] < f.left ? d->bends[arrow->first + k] : f.left;
            f.right = d->bends[arrow->first + k] > f.right ? d->bends[arrow->first + k] : f.right;
        }
    }
    return (frame){f.left - FRAME, f.top - FRAME_TOP, f.right + FRAME, f.bottom + FRAME};
}

/* Whether nothing but its own boxes is in the frame of a block; else no frame is drawn, and boxes say it. */
static bool stands_alone(const mw__drawing *d, uint32_t fold)
{
    const frame f = frame_of(d, &d->folds[fold]);
    for (uint32_t i = 0; i < d->box_count; i++) {
        const mw__draw_box *box = &d->boxes[i];
        if (box->fold != fold && box->x < f.right && box->x + box->width > f.left && box->y < f.bottom &&
            box->y + box->height > f.top)
            return false;
    }
    return true;
}

static void put_fold(const mw__drawing *d, uint32_t fold, mw__text *out)
{
    const frame f = frame_of(d, &d->folds[fold]);
    if (!stands_alone(d, fold))
        return;
    mw__text_puts(out, "<rect class=\"fold\" rx=\"8\"");
    mw__put_attribute(out, "x", f.left);
    mw__put_attribute(out, "y", f.top);
    mw__put_attribute(out, "width", f.right - f.left);
    mw__put_attribute(out, "height", f.bottom - f.top);
    mw__text_puts(out, "/>\n<text");
    mw__put_attribute(out, "x", f.left + 10);
    mw__put_attribute(out, "y", f.top + 16);
    mw__text_printf(out, " font-size=\"12\" font-weight=\"bold\">%u times</text>\n", d->folds[fold].times);
}

/* ---- arrows ---- */

static void put_point(mw__text *out, const char *before, double x, double y)
{
    mw__text_puts(out, before);
    mw__put_fixed(out, x, 1);
    mw__text_puts(out, " ");
    mw__put_fixed(out, y, 1);
}

static void put_curve(mw__text *out, double x0, double y0, double x1, double y1)
{
    const double middle = (y0 + y1) / 2;
    if (x0 - x1 < 0.5 && x1 - x0 < 0.5) {
        put_point(out, "L", x1, y1);
        return;
    }
    put_point(out, "C", x0, middle);
    put_point(out, " ", x1, middle);
    put_point(out, " ", x1, y1);
}

static void put_arrow(const mw__drawing *d, const mw__arrow *arrow, const double *row_top, const double *row_bottom,
                      mw__text *out)
{
    const mw__draw_box *from = &d->boxes[arrow->from], *to = &d->boxes[arrow->to];
    double x = from->x + from->width / 2, y = from->y + from->height;
    mw__text_puts(out, "<path class=\"arrow\" marker-end=\"url(#mw-tip)\" d=\"");
    put_point(out, "M", x, y);
    for (uint32_t i = 0; i < arrow->bends; i++) {
        const uint32_t rank = from->rank + 1 + i;
        const double next = d->bends[arrow->first + i];
        put_curve(out, x, y, next, row_top[rank]);
        put_point(out, "L", next, row_bottom[rank]);
        x = next;
        y = row_bottom[rank];
    }
    put_curve(out, x, y, to->x + to->width / 2, to->y - 1);
    mw__text_puts(out, "\"/>\n");
}

static void put_arrows(const mw__drawing *d, const double *row_top, const double *row_bottom, mw__text *out)
{
    for (uint32_t i = 0; i < d->arrow_count; i++)
        put_arrow(d, &d->arrows[i], row_top, row_bottom, out);
}

/* ---- boxes ---- */

static void put_class(const mw__draw_box *box, mw__text *out)
{
    if (box->kind == MW__BOX_LAYER)
        mw__text_printf(out, " class=\"box k%d\" rx=\"5\"", color_of(box->layer->kind));
    else if (box->kind == MW__BOX_FROM)
        mw__text_puts(out, " class=\"from\" rx=\"10\"");
    else
        mw__text_puts(out, box->kind == MW__BOX_HIDDEN ? " class=\"from\" rx=\"5\"" : " class=\"port\" rx=\"12\"");
}

/* What a box shows when it is pointed at: all of it, uncut. */
static void put_title(const mw__draw_box *box, mw__text *line, mw__text *out)
{
    mw__text_puts(out, "<title>");
    for (int i = 0; i < MW__BOX_LINES; i++) {
        line->size = 0;
        mw__text_puts(line, "");
        mw__draw_box_line(box, i, line);
        mw__text_puts(out, i > 0 && line->size > 0 ? "\n" : "");
        if (line->size > 0)
            mw__put_escaped(out, line->data, 400);
    }
    if (box->kind == MW__BOX_LAYER && box->layer->flops >= 0.0) {
        mw__text_puts(out, "\n");
        mw__put_flops(out, box->layer->flops, box->layer->unknown_flops);
        mw__text_puts(out, " flop");
    }
    mw__text_puts(out, "</title>");
}

static void put_box(const mw__drawing *d, const mw__draw_box *box, mw__text *line, mw__text *out)
{
    static const char *const looks[] = {"text-anchor=\"middle\" font-size=\"12\" font-weight=\"bold\"",
                                        "text-anchor=\"middle\" font-size=\"11\"",
                                        "text-anchor=\"middle\" class=\"dim\" font-size=\"11\""};
    double y = box->y + 16;
    (void)d;
    mw__text_puts(out, "<g>");
    put_title(box, line, out);
    mw__text_puts(out, "<rect");
    mw__put_attribute(out, "x", box->x);
    mw__put_attribute(out, "y", box->y);
    mw__put_attribute(out, "width", box->width);
    mw__put_attribute(out, "height", box->height);
    put_class(box, out);
    mw__text_puts(out, "/>\n");
    for (int i = 0; i < MW__BOX_LINES; i++) {
        line->size = 0;
        mw__text_puts(line, "");
        mw__draw_box_line(box, i, line);
        if (line->size == 0)
            continue;
        const int look = box->kind == MW__BOX_LAYER ? i : i == 0 ? 1 : 2;
        put_text(out, box->x + box->width / 2, y, looks[look], line->data, MW__BOX_TEXT);
        y += LINE_HEIGHT;
    }
    mw__text_puts(out, "</g>\n");
}

/* ---- all ---- */

static void measure_rows(const mw__drawing *d, double *top, double *bottom)
{
    for (uint32_t i = 0; i < d->rank_count; i++)
        top[i] = bottom[i] = -1.0;
    for (uint32_t i = 0; i < d->box_count; i++) {
        const mw__draw_box *box = &d->boxes[i];
        if (top[box->rank] < 0.0 || box->y < top[box->rank])
            top[box->rank] = box->y;
        if (box->y + box->height > bottom[box->rank])
            bottom[box->rank] = box->y + box->height;
    }
}

static mw_status measure_drawing(mw__drawing *d, double **out_top, double **out_bottom)
{
    *out_top = mw__arena_alloc(&d->arena, (size_t)d->rank_count + 1, sizeof **out_top, d->err);
    *out_bottom = mw__arena_alloc(&d->arena, (size_t)d->rank_count + 1, sizeof **out_bottom, d->err);
    if (*out_top == NULL || *out_bottom == NULL)
        return MW_ERROR_MEMORY;
    measure_rows(d, *out_top, *out_bottom);
    return MW_OK;
}

mw_status mw__draw_svg(mw__drawing *d, mw__text *out)
{
    double *row_top, *row_bottom;
    mw__text line;
    MW_TRY(measure_drawing(d, &row_top, &row_bottom));
    mw__text_init(&line, d->summary->allocator);
    put_head(d, out);
    for (uint32_t i = 0; i < d->fold_count; i++)
        put_fold(d, i, out);
    put_arrows(d, row_top, row_bottom, out);
    for (uint32_t i = 0; i < d->box_count; i++)
        put_box(d, &d->boxes[i], &line, out);
    mw__text_puts(out, "</svg>\n");
    const mw_status status = mw__text_check(&line, d->err);
    mw__text_deinit(&line);
    return status;
}
