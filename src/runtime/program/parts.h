/* Ports that the device holds in parts: digits of integers too large for fp16, blocks of an axis too long for the chip
 * (mil/legalize/split.h). The user sees one port under one name; feeding, reading and running go through here. */
#ifndef MW__RUNTIME_PROGRAM_PARTS_H
#define MW__RUNTIME_PROGRAM_PARTS_H

#include "graph/ir/ir_types.h"
#include "runtime/dispatch/dispatch.h"
#include <millwright/program.h>

/* One port of the dispatch. */
typedef struct mw__port_part {
    const char *mil_name;
    mw_dtype dtype;
    mw_shape shape;
    const mw__part *part; /* what it holds of the whole; NULL = all */
    void *object;         /* e5rt buffer of a piece of the whole, ours */
} mw__port_part;

/* Where a port of a program is. */
typedef struct mw__port_place {
    size_t first, count; /* ports of the dispatch */
    mw__port_part *parts;
    mw__device_buffer whole; /* if there are parts: the values as the user sees them */
    bool owned;              /* the e5rt buffer of whole is ours */
    bool staged;             /* the parts have memory of their own, which is filled before a run and read after it */
} mw__port_place;

static inline bool mw__place_is_split(const mw__port_place *place) { return place->parts[0].part != NULL; }

/* The user's port that the parts add up to; its names are those of the first. */
mw_port mw__place_port(const mw__port_place *place, const mw_port *first);

/* Makes the whole and binds every part. `shared` is memory for the whole that outlives the program, or NULL.
 *  errors  MW_ERROR_UNSUPPORTED if the e5rt library cannot bind a piece of a buffer */
mw_status mw__place_bind(mw__port_place *place, const mw_port *port, mw__dispatch *dispatch,
                         const mw__device_buffer *shared, mw__arena *arena, mw_error *err);
/* Binds the parts of `place` to the pieces of another port's memory. */
mw_status mw__place_rebind(mw__port_place *place, const mw__port_place *other, mw__dispatch *dispatch, mw_error *err);
void mw__place_release(mw__port_place *place, const mw__symbols *symbols);

/* The memory of part `index` of a port, for one that is not the dispatch's own. */
typedef void *mw__port_part_data(const void *user, size_t port);

/* whole -> parts, or parts -> whole; nothing if the place is not staged.
 *  errors  MW_ERROR_ARGUMENT for an integer that two digits cannot hold */
mw_status mw__place_push(const mw__port_place *place, const mw_port *port, const void *whole, mw__port_part_data *data,
                         const void *user, mw_error *err);
void mw__place_pull(const mw__port_place *place, mw__port_part_data *data, const void *user);

#endif
