/* mw_plot_write_svg: metrics files as charts beside and below each other. */
#include "view/plot.h"

#include "base/file/file.h"
#include "base/number/float_mode.h"
#include "base/text/error.h"
#include "view/markup.h"

#include <string.h>

enum { WIDTH = 960, MARGIN = 16, GAP = 18, AXES = 202, TITLE_HEIGHT = 40 };

mw_plot_options mw_plot_defaults(void)
{
    return (mw_plot_options){.struct_size = sizeof(mw_plot_options), .width = WIDTH};
}

/* ---- the picture ---- */

void mw__put_plot_style(mw__text *out)
{
    mw__text_puts(out, "<style>svg.mw-plot{");
    mw__text_puts(out, mw__palette_light);
    mw__text_puts(out, "}@media(prefers-color-scheme:dark){svg.mw-plot{");
    mw__text_puts(out, mw__palette_dark);
    mw__text_puts(out, "}}svg.mw-plot{font-family:system-ui,sans-serif}.mw-plot .page{fill:var(--page)}.mw-plot text{"
                       "fill:var(--ink)}.mw-plot .dim{fill:var(--dim)}.mw-plot .grid{stroke:var(--rule);stroke-width:1}"
                       ".mw-plot .bad{fill:var(--bad)}");
    for (int i = 0; i < 8; i++)
        mw__text_printf(out,
                        ".mw-plot .l%d{fill:none;stroke:var(--s%d);stroke-width:1.6;stroke-linejoin:round}"
                        ".mw-plot .d%d{fill:var(--s%d)}",
                        i, i, i, i);
    mw__text_puts(out, "</style>\n");
}

static void put_head(const mw__plot *p, double height, mw__text *out)
{
    const int width = p->options.width;
    mw__text_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mw-plot\" role=\"img\" width=\"%d\"",
                    width);
    mw__put_attribute(out, "height", height);
    mw__text_printf(out, " viewBox=\"0 0 %d ", width);
    mw__put_fixed(out, height, 1);
    mw__text_puts(out, "\">\n");
    mw__put_plot_style(out);
    mw__text_puts(out, "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
    if (p->options.title == NULL)
        return;
    mw__text_printf(out, "<text x=\"%d\" y=\"30\" font-size=\"16\" font-weight=\"bold\">", MARGIN);
    mw__put_escaped(out, p->options.title, mw__view_text_capacity(width - 2 * MARGIN, 16));
    mw__text_puts(out, "</text>\n");
}

static double row_head(const mw__plot *p, size_t first, size_t columns, double width)
{
    double head = 0.0;
    for (size_t i = first; i < p->chart_count && i < first + columns; i++) {
        const double own = mw__chart_head(p, &p->charts[i], width);
        head = own > head ? own : head;
    }
    return head;
}

void mw__put_plot(const mw__plot *p, mw__text *out)
{
    const size_t wanted = p->options.columns > 0 ? (size_t)p->options.columns : p->options.width < 640 ? 1 : 2;
    const size_t columns = wanted < p->chart_count ? wanted : p->chart_count;
    const double width = (p->options.width - 2.0 * MARGIN - GAP * (double)(columns - 1)) / (double)columns;
    double y = p->options.title != NULL ? MARGIN + TITLE_HEIGHT - 16 : MARGIN, height = y;
    for (size_t i = 0; i < p->chart_count; i += columns)
        height += row_head(p, i, columns, width) + AXES + GAP;
    put_head(p, height, out);
    for (size_t i = 0; i < p->chart_count; i += columns) {
        const double head = row_head(p, i, columns, width);
        for (size_t k = i; k < p->chart_count && k < i + columns; k++) {
            const mw__frame frame = {MARGIN + (double)(k - i) * (width + GAP), y, width, head + AXES};
            mw__put_chart(p, &p->charts[k], frame, head, out);
        }
        y += head + AXES + GAP;
    }
    mw__text_puts(out, "</svg>\n");
}

void mw__put_charts(const mw__plot *p, mw__text *out)
{
    enum { CHART_WIDTH = 480 };
    mw__put_plot_style(out);
    for (size_t i = 0; i < p->chart_count; i++) {
        const double head = mw__chart_head(p, &p->charts[i], CHART_WIDTH);
        const mw__frame frame = {0, 0, CHART_WIDTH, head + AXES};
        mw__text_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mw-plot\" role=\"img\" width=\"%d\"",
                        CHART_WIDTH);
        mw__put_attribute(out, "height", frame.height);
        mw__text_printf(out, " viewBox=\"0 0 %d ", CHART_WIDTH);
        mw__put_fixed(out, frame.height, 1);
        mw__text_puts(out, "\">\n");
        mw__put_chart(p, &p->charts[i], frame, head, out);
        mw__text_puts(out, "</svg>\n");
    }
}

/* ---- options ---- */

static mw_status check_plot_options(const char *metrics, const mw_plot_options *o, mw_error *err)
{
    if (metrics == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "plot: the metrics file is NULL");
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "plot: the options were not made by mw_plot_defaults");
    if (o->other_count >= MW__RUNS_MAX || (o->others == NULL && o->other_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "plot: %zu other runs; up to %d are allowed", o->other_count,
                        MW__RUNS_MAX - 1);
    if (!(o->smoothing >= 0.0 && o->smoothing < 1.0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "plot: smoothing is %g; 0 <= s < 1 is allowed", o->smoothing);
    if (o->columns < 0 || o->columns > 6 || o->width < 320 || o->width > 4000)
        return mw__fail(err, MW_ERROR_ARGUMENT, "plot: %d columns and %d pixels; 0 to 6 and 320 to 4000 are allowed",
                        o->columns, o->width);
    for (size_t i = 0; o->series != NULL && i < o->series_count; i++)
        if (o->series[i] == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "plot: pattern %zu is NULL", i);
    for (size_t i = 0; i < o->other_count; i++)
        if (o->others[i] == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "plot: other run %zu is NULL", i);
    for (size_t i = 0; o->run_names != NULL && i <= o->other_count; i++)
        if (o->run_names[i] == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "plot: the name of run %zu is NULL", i);
    return MW_OK;
}

/* ---- names of runs ---- */

/* Bytes at the begin, up to a slash, that all paths have in common. */
static size_t common_begin(const char *const *paths, size_t count)
{
    size_t begin = 0;
    for (size_t at = 0; paths[0][at] != '\0'; at++) {
        for (size_t i = 1; i < count; i++)
            if (paths[i][at] != paths[0][at])
                return begin;
        begin = paths[0][at] == '/' ? at + 1 : begin;
    }
    return begin;
}

/* And at the end, from a slash on. */
static size_t common_end(const char *const *paths, size_t count, size_t begin)
{
    const size_t first = strlen(paths[0]);
    size_t end = 0;
    for (size_t at = 1; at <= first; at++) {
        for (size_t i = 0; i < count; i++) {
            const size_t length = strlen(paths[i]);
            if (at + begin >= length || paths[i][length - at] != paths[0][first - at])
                return end;
        }
        end = paths[0][first - at] == '/' ? at : end;
    }
    return end;
}

static mw_status name_runs(mw__plot *p, const char *const *paths)
{
    const size_t begin = common_begin(paths, p->run_count), end = common_end(paths, p->run_count, begin);
    for (size_t i = 0; i < p->run_count; i++) {
        const size_t length = strlen(paths[i]);
        const bool whole = begin + end >= length;
        p->names[i] = p->options.run_names != NULL ? p->options.run_names[i]
                                                   : mw__arena_string(p->arena, paths[i] + (whole ? 0 : begin),
                                                                      whole ? length : length - begin - end, p->err);
        if (p->names[i] == NULL)
            return MW_ERROR_MEMORY;
    }
    return MW_OK;
}

/* ---- all ---- */

static mw_status make_plot(mw__plot *p, mw__curves *runs, const char *const *paths, mw__text *out)
{
    for (size_t i = 0; i < p->run_count; i++) {
        p->runs[i] = &runs[i];
        MW_TRY(mw__curves_read(&runs[i], p->options.allocator, paths[i], p->err));
    }
    MW_TRY(name_runs(p, paths));
    MW_TRY(mw__plot_choose(p));
    mw__put_plot(p, out);
    return mw__text_check(out, p->err);
}

static mw_status plot(const char *metrics, const mw_plot_options *options, mw__text *out, mw_error *err)
{
    const char *paths[MW__RUNS_MAX] = {metrics};
    mw__curves runs[MW__RUNS_MAX] = {{0}};
    mw__arena arena;
    MW_TRY(check_plot_options(metrics, options, err));
    mw__arena_init(&arena, options->allocator);
    mw__plot p = {.arena = &arena, .options = *options, .run_count = options->other_count + 1, .err = err};
    for (size_t i = 0; i < options->other_count; i++)
        paths[i + 1] = options->others[i];
    const mw_status status = make_plot(&p, runs, paths, out);
    for (size_t i = 0; i < p.run_count; i++)
        if (p.runs[i] != NULL)
            mw__curves_deinit(&runs[i]);
    mw__arena_deinit(&arena);
    return status;
}

mw_status mw_plot_write_svg(const char *metrics, const char *path, const mw_plot_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    const mw_plot_options defaults = mw_plot_defaults();
    err = err != NULL ? err : &own;
    options = options != NULL ? options : &defaults;
    if (mw__skips(err))
        return err->status;
    if (path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "plot: the path is NULL");
    mw__text text;
    mw__text_init(&text, options->struct_size == sizeof *options ? options->allocator : NULL);
    mw_status status = plot(metrics, options, &text, err);
    if (status == MW_OK)
        status = mw__file_write(text.allocator, path, text.data, text.size, false, err);
    mw__text_deinit(&text);
    return status;
}

char *mw_plot_print_svg(const char *metrics, const mw_plot_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    const mw_plot_options defaults = mw_plot_defaults();
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    mw__text text;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    if (plot(metrics, options != NULL ? options : &defaults, &text, err) == MW_OK)
        return mw__text_take(&text, err);
    mw__text_deinit(&text);
    return NULL;
}
