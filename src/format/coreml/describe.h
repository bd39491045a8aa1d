/* Descriptions of Core ML's models, to and from ours. */
#ifndef MW__FORMAT_COREML_DESCRIBE_H
#define MW__FORMAT_COREML_DESCRIBE_H

#include "base/memory/alloc.h"
#include "format/coreml/schema.h"

/* Fills *out in memory of the arena; `from` may be NULL, and is not needed afterwards.
 *  errors  MW_ERROR_FORMAT for a feature without a type, a shape with a negative extent or of more than MW_RANK_MAX
 * axes, an element type or a color layout that is unknown, a default function that is none */
mw_status mw__coreml_describe(mw__arena *arena, const pb_description *from, mw_description *out, mw_error *err);

#endif
