/* Placing the operations of a function: who takes what, at what cost, and where the segmenter puts it. */
#ifndef MW__CHIP_COST_PLACE_H
#define MW__CHIP_COST_PLACE_H

#include "chip/cost/roofs.h"
#include "rules/legality.h"

#include <millwright/chip_place.h>

typedef struct mw__chip_place_how {
    const mw__legality *legality; /* of the chip */
    mw_chip_segmenter segmenter;
    bool without[MW_CHIP_BACKENDS];
    mw_chip_rates rates[MW_CHIP_BACKENDS];
    bool estimates; /* by the planner's own count of flops and bytes, and its leaves */
    const mw__roof_platform *platform;
    double launch_us[MW_CHIP_BACKENDS], transfer_us[MW_CHIP_BACKENDS], output_us[MW_CHIP_BACKENDS];
} mw__chip_place_how;

typedef struct mw__chip_place {
    const mw__op *op;
    mw_chip_cost cost[MW_CHIP_BACKENDS];
    double us[MW_CHIP_BACKENDS]; /* negative: it does not run there */
    unsigned backend;
    const mw__legality_row *refused; /* by the first of the chip's rules that holds; NULL = by none */
    mw__trip trip;
} mw__chip_place;

/* The rates, penalties and backends that options say.
 *  errors  MW_ERROR_ARGUMENT for a die, segmenter or anchors that there are not, or penalties below 0 */
mw_status mw__chip_place_how_make(mw__chip_place_how *out, const mw__legality *legality,
                                  const mw_chip_place_options *options, mw_error *err);

/* Operations of the body but constants, in their order, in `arena`.
 *  errors  MW_ERROR_MEMORY; MW_ERROR_UNSUPPORTED for an operation that no backend takes */
mw_status mw__chip_place_function(const mw__function *function, const mw__chip_place_how *how, mw__arena *arena,
                                  mw__chip_place **out, size_t *out_count, mw_error *err);

/* True for what is no work when a program runs: constants, and what is expanded when it is loaded. */
bool mw__chip_place_is_constant(const mw__op *op);

#endif
