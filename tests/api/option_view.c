/* Options of what people look at. */
#include "option_world.h"

#include <millwright/inspect.h>
#include <millwright/view.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void make_draw(world *w, void *out)
{
    (void)w;
    *(mw_draw_options *)out = mw_draw_defaults();
}

bool use_draw(world *w, const void *options)
{
    char *svg = mw_graph_print_svg(w->graph, options, &w->err);
    mw_string_free(svg);
    return svg != NULL;
}

void make_plot(world *w, void *out)
{
    (void)w;
    *(mw_plot_options *)out = mw_plot_defaults();
}

bool use_plot(world *w, const void *options)
{
    char path[] = "/tmp/mw-options-XXXXXX";
    const int descriptor = mkstemp(path);
    static const char metrics[] = "step,loss\n1,2\n2,1\n";
    if (descriptor < 0 || write(descriptor, metrics, sizeof metrics - 1) < 0)
        return false;
    close(descriptor);
    char *svg = mw_plot_print_svg(path, options, &w->err);
    mw_string_free(svg);
    remove(path);
    return svg != NULL;
}

void make_report(world *w, void *out)
{
    mw_report_options *options = out;
    *options = mw_report_defaults();
    options->graph = w->graph;
}

bool use_report(world *w, const void *options)
{
    char *page = mw_report_print(options, &w->err);
    mw_string_free(page);
    return page != NULL;
}

void make_range(world *w, void *out)
{
    (void)w;
    *(mw_range_options *)out = mw_range_defaults();
}

bool use_range(world *w, const void *options)
{
    mw_ranges *ranges = mw_ranges_create(w->graph, options, &w->err);
    mw_ranges_destroy(ranges);
    return ranges != NULL;
}
