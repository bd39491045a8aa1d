/* What the core asks this library for. */
#include "chip/cost/engine.h"
#include "format/given.h"

#include <millwright/chip_all.h>

static mw_graph *read_netplist(const char *path, const mw_allocator *allocator, mw_error *err)
{
    mw_netplist_options options = mw_netplist_defaults();
    options.allocator = allocator;
    return mw_graph_open_netplist(path, &options, err);
}

static mw_status write_netplist(const mw_graph *graph, const char *path, mw_parameter_source *bake, void *user,
                                bool check_only, mw_error *err)
{
    mw_netplist_options options = mw_netplist_defaults();
    options.bake = bake;
    options.bake_user = user;
    options.check_only = check_only;
    return mw_graph_write_netplist(graph, path, &options, err);
}

void mw_chip_register(void)
{
    static const mw__given_netplist netplist = {read_netplist, write_netplist};
    mw__engine_give_segmenter(mw__chip_segment);
    mw__given_set_netplist(&netplist);
}
