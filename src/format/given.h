/* Formats of models that a library beside the core reads and writes, and gives here: netplists, by libmillwright_chip.
 */
#ifndef MW__FORMAT_GIVEN_H
#define MW__FORMAT_GIVEN_H

#include "base/visible.h"

#include <millwright/mil.h>

typedef struct mw__given_netplist {
    mw_graph *(*read)(const char *path, const mw_allocator *allocator, mw_error *err);
    /* Parameters and states get the values of `bake`; NULL: they are inputs. check_only: no file is written. */
    mw_status (*write)(const mw_graph *graph, const char *path, mw_parameter_source *bake, void *user, bool check_only,
                       mw_error *err);
} mw__given_netplist;

/* May be called at any time by any thread; the table must stay as long as the process. NULL = none again. */
MW__SIBLING void mw__given_set_netplist(const mw__given_netplist *netplist);
/* NULL with err set (MW_ERROR_UNSUPPORTED) if nobody gave one; `path` is for the message. */
const mw__given_netplist *mw__given_get_netplist(const char *path, mw_error *err);

#endif
