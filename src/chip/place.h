/* Placements: what they are made of. */
#ifndef MW__CHIP_PLACE_H
#define MW__CHIP_PLACE_H

#include "base/memory/live.h"
#include "chip/cost/place.h"

/* Kinds of live objects are few: a placement is found among the reports, and called one when it is gone. */
#define MW__LIVE_CHIP_PLACEMENT MW__LIVE_CHIP_REPORT

struct mw_chip_placement {
    const mw_allocator *allocator;
    mw__arena arena; /* of everything */
    const mw__chip_row *chip;
    mw_chip_segmenter segmenter;
    mw_chip_placed *operations;
    mw_chip_placed_segment *segments;
    mw_chip_placement_totals totals;
};

#endif
