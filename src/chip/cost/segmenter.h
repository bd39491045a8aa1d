/* Which backend each operation of a list goes to, by costs alone: no graph, no names. */
#ifndef MW__CHIP_COST_SEGMENTER_H
#define MW__CHIP_COST_SEGMENTER_H

#include "base/memory/alloc.h"

#include <millwright/chip_place.h>

/* `us[i][b]`: operation i on backend b; negative: it does not run there. Each runs somewhere. */
typedef struct mw__segmenting {
    const double (*us)[MW_CHIP_BACKENDS];
    size_t count;
    double launch_us[MW_CHIP_BACKENDS];   /* of a segment */
    double transfer_us[MW_CHIP_BACKENDS]; /* to a segment from one of another backend */
    double output_us[MW_CHIP_BACKENDS];   /* of the last operation's backend */
} mw__segmenting;

/* What operation i costs more on b behind one on `before`; MW_CHIP_BACKENDS: it is the first. */
double mw__chip_segment_entry_us(const mw__segmenting *s, unsigned before, unsigned b);

/* Writes count backends; MW_ERROR_MEMORY alone. Of ways that cost the same: one that stays where it is, else
 * the ANE, the GPU, the CPU; the shortest path, which is found from its end, ends on the first of these. */
mw_status mw__chip_segment_cheapest(const mw__segmenting *s, mw_chip_segmenter segmenter, unsigned *out,
                                    const mw_allocator *allocator, mw_error *err);

/* The cost of a placement: operations, launches, transfers, and the output of the last one. */
double mw__chip_segment_total_us(const mw__segmenting *s, const unsigned *placed);

#endif
