/* A plan with bindings, on its way to addresses: what the files of this folder share. */
#ifndef MW__ENGINE_RUN_LAYOUT_H
#define MW__ENGINE_RUN_LAYOUT_H

#include "engine/compile/compiled.h"

/* An output that is bound to exactly the memory of an input. */
typedef struct mw__alias {
    uint32_t output, input; /* buffers */
} mw__alias;

typedef struct mw__layout {
    mw__arena *arena; /* dies with the encode call */
    mw__arena *keep;  /* lives as long as the commands: what plans are shown from, and steps (copies) */
    int partitions;
    mw__buffer *buffers; /* the plan's, then temporaries */
    size_t buffer_count;
    const mw__alias *aliases; /* sorted by output */
    size_t alias_count;
    const mw__step **steps; /* after mw__order_steps in the order of execution */
    size_t step_count;
    uint32_t *memory;   /* by buffer: buffers of one number share memory (aliases; after memory.c also in place) */
    uint32_t *phase;    /* by step */
    size_t phase_count; /* phases are separated by barriers */
    size_t *offset;     /* by buffer: LOCAL ones in the operation's memory */
    size_t size;        /* of that memory */
} mw__layout;

/* order.c: an order in which every aliased input is read before its output is written; adds temporaries and copies
 * where there is none. */
mw_status mw__order_steps(mw__layout *layout, mw_error *err);
/* phases.c: cuts the order into phases. */
mw_status mw__assign_phases(mw__layout *layout, mw_error *err);
/* memory.c: places the local buffers. */
mw_status mw__layout_place_buffers(mw__layout *layout, mw_error *err);

#endif
