/* A picture in Graphviz' language, which lays it out itself. */
#include "view/draw.h"

#include "base/text/error.h"
#include "base/text/printable.h"

/* Inside of quotes: a backslash would begin an escape of labels (\N is the name of the node). */
static void put_quoted(mw__text *out, const char *string, size_t longest)
{
    char shown[512];
    mw__printable(shown, longest + 1 < sizeof shown ? longest + 1 : sizeof shown, string);
    for (const char *c = shown; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            mw__text_puts(out, "\\");
        mw__text_append(out, c, 1);
    }
}

static void put_box(const mw__drawing *d, uint32_t index, mw__text *line, mw__text *out)
{
    const mw__draw_box *box = &d->boxes[index];
    const char *shape = box->kind == MW__BOX_LAYER ? "box" : "ellipse";
    const char *style = box->kind == MW__BOX_HIDDEN ? "dashed" : "solid";
    mw__text_printf(out, "  n%u [shape=%s, style=%s, label=\"", index, shape, style);
    for (int i = 0; i < MW__BOX_LINES; i++) {
        line->size = 0;
        mw__text_puts(line, "");
        mw__draw_box_line(box, i, line);
        mw__text_puts(out, i > 0 && line->size > 0 ? "\\n" : "");
        if (line->size > 0)
            put_quoted(out, line->data, MW__BOX_TEXT);
    }
    mw__text_puts(out, "\"];\n");
}

mw_status mw__draw_dot(const mw__drawing *d, mw__text *out)
{
    mw__text line;
    mw__text_init(&line, d->summary->allocator);
    mw__text_puts(out, "digraph \"");
    put_quoted(out, d->title, MW__BOX_TEXT);
    mw__text_puts(out, "\" {\n  label=\"");
    put_quoted(out, d->title, MW__BOX_TEXT);
    mw__text_puts(out, "\"; labelloc=t; rankdir=TB; node [fontname=\"sans-serif\", fontsize=11];\n");
    for (uint32_t i = 0; i < d->fold_count; i++) {
        const mw__fold *fold = &d->folds[i];
        mw__text_printf(out, "  subgraph cluster_%u { label=\"%u times\"; style=rounded;", i, fold->times);
        for (uint32_t k = 0; k < fold->count; k++)
            mw__text_printf(out, " n%u;", fold->first + k);
        mw__text_puts(out, " }\n");
    }
    for (uint32_t i = 0; i < d->box_count; i++)
        put_box(d, i, &line, out);
    for (uint32_t i = 0; i < d->arrow_count; i++)
        mw__text_printf(out, "  n%u -> n%u;\n", d->arrows[i].from, d->arrows[i].to);
    mw__text_puts(out, "}\n");
    const mw_status status = mw__text_check(&line, d->err);
    mw__text_deinit(&line);
    return status;
}
