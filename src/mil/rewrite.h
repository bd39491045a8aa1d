/* Operations that a device refuses in one form and takes in another: what the clone of legalize.c writes instead. A row
 * can be switched off by its name in the environment: MW_MIL_KEEP=conv_chip,.. keeps the operation, which is then
 * refused by its row in legality.c. So can the forms of split.h: digits, blocks. */
#ifndef MW__MIL_REWRITE_H
#define MW__MIL_REWRITE_H

#include "graph/clone.h"
#include "graph/device_traits.h"

typedef struct mw__rewrite {
    const char *name;
    const char *operation;                                  /* root of the pattern */
    uint64_t devices;                                       /* in e5rt's mask */
    bool (*guard)(const mw__op *op);                        /* of the source graph */
    mw_tensor *(*emit)(mw__clone *clone, const mw__op *op); /* the result in the copy; NULL leaves an error there */
    const char *reason;
} mw__rewrite;

/* MW_ERROR_ARGUMENT if MW_MIL_KEEP has a name that is no rewrite's. */
mw_status mw__rewrite_check(mw_error *err);

/* True if the rewrite of that name is switched off. */
bool mw__rewrite_is_kept(const char *name);

/* The row for an operation of the source on that device; NULL = none, or switched off. */
const mw__rewrite *mw__rewrite_find(const mw__device_traits *device, const mw__op *op);

#endif
