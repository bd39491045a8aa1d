/* mw_graph_write_svg, mw_graph_write_dot: a graph, its layers, a picture of them, a file. */
#include "view/draw.h"

#include "base/file/file.h"
#include "base/number/float_mode.h"
#include "base/text/error.h"
#include "graph/ir/ir.h"
#include "view/markup.h"

enum { MOST = 1000, TOP = 72, WIDTH_MIN = 420 };

mw_draw_options mw_draw_defaults(void)
{
    return (mw_draw_options){.struct_size = sizeof(mw_draw_options), .most = MOST};
}

static mw_status check_draw_options(const mw_graph *graph, const mw_draw_options *options, mw_error *err)
{
    if (graph == NULL)
        return mw__fail_null(err, "draw: the graph is NULL");
    if (options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "draw: the options were not made by mw_draw_defaults");
    if (options->most < 8 || options->most > 100000)
        return mw__fail(err, MW_ERROR_ARGUMENT, "draw: most is %zu; 8 to 100000 boxes are allowed", options->most);
    return mw_graph_check(graph, err);
}

static mw_status draw_graph(mw__drawing *d, bool dot, mw__text *out)
{
    if (dot)
        return mw__draw_dot(d, out);
    MW_TRY(mw__draw_lay_out(d, TOP));
    if (d->width < WIDTH_MIN) { /* so that the title has room */
        const double shift = (WIDTH_MIN - d->width) / 2;
        for (uint32_t i = 0; i < d->box_count; i++)
            d->boxes[i].x += shift;
        for (uint32_t i = 0; i < d->arrow_count; i++)
            for (uint32_t k = 0; k < d->arrows[i].bends; k++)
                d->bends[d->arrows[i].first + k] += shift;
        d->width = WIDTH_MIN;
    }
    return mw__draw_svg(d, out);
}

mw_status mw__draw_graph(const mw_graph *graph, const mw_draw_options *options, bool dot, mw__text *out, mw_error *err)
{
    const mw_draw_options defaults = mw_draw_defaults();
    options = options != NULL ? options : &defaults;
    MW_TRY(check_draw_options(graph, options, err));
    const mw__function *function = mw__function_choose(graph, NULL, err);
    mw_summary *summary = function != NULL ? mw__summary_create(graph, !options->operations, err) : NULL;
    if (summary == NULL)
        return err->status;
    mw__drawing drawing;
    mw_status status = mw__draw_make(&drawing, summary, options, err);
    drawing.title = options->title != NULL ? options->title : function->name;
    if (status == MW_OK)
        status = draw_graph(&drawing, dot, out);
    mw__draw_deinit(&drawing);
    mw_summary_destroy(summary);
    return status == MW_OK ? mw__text_check(out, err) : status;
}

static mw_status write(const mw_graph *graph, const char *path, const mw_draw_options *options, bool dot, mw_error *err)
{
    if (path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "draw: the path is NULL");
    mw__text text;
    mw__text_init(&text, graph != NULL ? graph->allocator : NULL);
    mw_status status = mw__draw_graph(graph, options, dot, &text, err);
    if (status == MW_OK)
        status = mw__file_write(text.allocator, path, text.data, text.size, false, err);
    mw__text_deinit(&text);
    return status;
}

mw_status mw_graph_write_svg(const mw_graph *graph, const char *path, const mw_draw_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    return mw__skips(err) ? err->status : write(graph, path, options, false, err);
}

mw_status mw_graph_write_dot(const mw_graph *graph, const char *path, const mw_draw_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    return mw__skips(err) ? err->status : write(graph, path, options, true, err);
}

char *mw_graph_print_svg(const mw_graph *graph, const mw_draw_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    mw__text text;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    if (mw__draw_graph(graph, options, false, &text, err) == MW_OK)
        return mw__text_take(&text, err);
    mw__text_deinit(&text);
    return NULL;
}
