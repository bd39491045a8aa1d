/* Netplists in a build that cannot decode property lists. */
#include "base/text/error.h"

#include <millwright/netplist.h>

mw_netplist_options mw_netplist_defaults(void)
{
    return (mw_netplist_options){.struct_size = sizeof(mw_netplist_options), .chip = MW_CHIP_AUTO};
}

mw_status mw_graph_write_netplist(const mw_graph *graph, const char *path, const mw_netplist_options *options,
                                  mw_error *err)
{
    (void)graph;
    (void)options;
    if (mw__skips(err))
        return err->status;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "cannot write \"%.200s\": built without libplist (install libplist-dev, build again)",
                    path != NULL ? path : "");
}

mw_graph *mw_graph_open_netplist(const char *path, const mw_netplist_options *options, mw_error *err)
{
    (void)options;
    if (!mw__skips(err))
        mw__fail(err, MW_ERROR_UNSUPPORTED,
                 "cannot read \"%.200s\": built without libplist (install libplist-dev, build again)",
                 path != NULL ? path : "");
    return NULL;
}
