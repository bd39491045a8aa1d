/* Segmenters: the names that a client may set, and the function that knows where one of them puts the operations of a
 * program. The engine has no costs of backends; whoever has gives it that function (mw_chip_register does,
 * and libmillwright_e5rt). Without one an operation is said to be where its program is computed. */
#ifndef MW__ENGINE_CORE_SEGMENTER_H
#define MW__ENGINE_CORE_SEGMENTER_H

#include "base/visible.h"
#include "graph/ir/ir.h"
#include "rules/chips.h"

typedef enum mw__segmenter {
    MW__SEGMENTER_NONE, /* none was set */
    MW__SEGMENTER_COARSE,
    MW__SEGMENTER_GRAPH,
    MW__SEGMENTER_SHORTEST_PATH
} mw__segmenter;

/* "graph", "SegmenterGraph", "shortest_path" and the like, in any case; MW__SEGMENTER_NONE of others and of NULL. */
mw__segmenter mw__segmenter_named(const char *text);

typedef struct mw__segmenter_request {
    const mw__function *function;
    const mw__chip_row *chip; /* NULL = every chip */
    uint64_t mask;            /* of the devices that it may choose */
    mw__segmenter segmenter;  /* not MW__SEGMENTER_NONE */
} mw__segmenter_request;

typedef struct mw__segmented {
    uint64_t backend; /* a bit of e5rt's mask; 0 of a constant */
    uint64_t takers;  /* all that could take it, whatever the mask */
    double seconds;   /* its cost there */
} mw__segmented;

/* Fills an element for each operation of the function's body; those of blocks are where their owner is. An error but
 * MW_ERROR_MEMORY says that there is no such placement. */
typedef mw_status mw__segmenter_function(const mw__segmenter_request *request, mw__segmented *out,
                                         const mw_allocator *allocator, mw_error *err);

/* May be called at any time by any thread; what was compiled before keeps what it has asked. NULL = none again. */
MW__SIBLING void mw__engine_give_segmenter(mw__segmenter_function *function);
/* NULL: nobody gave one. */
mw__segmenter_function *mw__engine_given_segmenter(void);

#endif
