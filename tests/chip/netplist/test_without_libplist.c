/* A build without libplist says so, and what to install. */
#include "support/check.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>

static void test_netplists_are_refused_with_what_to_install(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const mw_netplist_options options = mw_netplist_defaults();
    CHECK(mw_graph_write_netplist(graph, "net.plist", &options, &err) == MW_ERROR_UNSUPPORTED);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "install libplist-dev");
    err = (mw_error){0};
    CHECK(mw_graph_open_netplist("net.plist", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "built without libplist");
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_netplists_are_refused_with_what_to_install);
    return check_finish();
}
