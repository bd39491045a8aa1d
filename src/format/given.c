#include "format/given.h"
#include "base/text/error.h"

#include <stdatomic.h>

static _Atomic(const mw__given_netplist *) given;

void mw__given_set_netplist(const mw__given_netplist *netplist)
{
    atomic_store_explicit(&given, netplist, memory_order_release);
}

const mw__given_netplist *mw__given_get_netplist(const char *path, mw_error *err)
{
    const mw__given_netplist *netplist = atomic_load_explicit(&given, memory_order_acquire);
    if (netplist == NULL)
        mw__fail(err, MW_ERROR_UNSUPPORTED,
                 "\"%.200s\" is a netplist, which libmillwright_chip reads and writes: call its "
                 "mw_chip_register() first (<millwright/chip_all.h>)",
                 path);
    return netplist;
}
