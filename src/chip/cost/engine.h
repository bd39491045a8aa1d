/* The segmenter that an engine is given: by mw_chip_register, and in libmillwright_e5rt by its own part. */
#ifndef MW__CHIP_COST_ENGINE_H
#define MW__CHIP_COST_ENGINE_H

#include "engine/core/segmenter.h"

/* See mw__segmenter_function. */
mw_status mw__chip_segment(const mw__segmenter_request *request, mw__segmented *out, const mw_allocator *allocator,
                           mw_error *err);

#endif
