/* Options of what people look at. */
#include "option_world.h"

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
