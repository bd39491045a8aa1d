/* What an operation costs on the Apple Neural Engine, the GPU and the CPU of a chip, and which of the three a planner
 * would choose: by numbers that others have published, without a Mac. An estimate orders programs; it is no time
 * (docs/chip_cost.md says how far it is from what was measured).
 *
 *     mw_chip_rates rates;
 *     mw_chip_rates_find(MW_CHIP_H13, MW_CHIP_ANE, MW_CHIP_FITTED, &rates);
 *     mw_chip_cost cost = mw_chip_cost_of(&rates, 2.0 * 784 * 256 * 256 * 9, 1982464);
 *     printf("%.0f us, %s\n", cost.us, mw_chip_bound_name(cost.bound));
 *
 * In libmillwright_chip (<millwright/chip_all.h>).
 *
 * Threads: rates and costs are plain data, and all functions of them may be called at any time. */
#ifndef MILLWRIGHT_CHIP_COST_H
#define MILLWRIGHT_CHIP_COST_H

#include <millwright/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rates ---- */

typedef enum mw_chip_backend {
    MW_CHIP_CPU = 0, /* "bnns" */
    MW_CHIP_GPU = 1, /* "mps_graph" */
    MW_CHIP_ANE = 2  /* "ane" */
} mw_chip_backend;
#define MW_CHIP_BACKENDS 3

/** Whose numbers. */
typedef enum mw_chip_anchors {
    MW_CHIP_FITTED = 0,  /* fitted to measured times of a chip, and scaled to others by cores and clock */
    MW_CHIP_PLANNER = 1, /* the roofs by which Core ML's planner estimates operations, by platform; the GPU, which the
                          * published estimates lack, has its coarse ones. source  M6 study, report 5.2 */
    MW_CHIP_COARSE_ANCHORS = 2 /* the planner's coarse ones, the same for every chip. source  ane-guide, ch. 18 */
} mw_chip_anchors;

/** What a backend does in a second. */
typedef struct mw_chip_rates {
    double gflops;      /* 10^9 floating-point operations a second, at most */
    double gbytes;      /* 10^9 bytes a second */
    double floor_us;    /* of a dispatch, whatever is in it */
    double ramp_flops;  /* an operation with fewer flops reaches only (flops / ramp_flops)^ramp_power of gflops;
                         * 0 = all reach it */
    double ramp_power;  /* from 0 to 1 */
    const char *die;    /* "h17s": the name that Apple's compiler has for it; "" if the rates are not of one die */
    const char *anchor; /* the die or chip that was measured; "" = none was */
    bool measured;      /* true: on this die; false: scaled from the anchor, or from a model */
    const char *source;
} mw_chip_rates;

/** True if the rates of a backend are known. For a chip that comes as several dies, the rates are those of the die
 *  in docs/chip_cost.md. MW_CHIP_AUTO has the rates of the oldest chip that runs MIL, MW_CHIP_H13.
 *  return  false, and *out all 0, for a chip, a backend or anchors that do not exist */
MW_API bool mw_chip_rates_find(mw_chip chip, mw_chip_backend backend, mw_chip_anchors anchors, mw_chip_rates *out);
/** True if the rates of a die are known. The name, "h17c" for example, may be in upper or lower case. A die of a
 *  known chip without its own numbers has those of its chip. */
MW_API bool mw_chip_rates_of_die(const char *die, mw_chip_backend backend, mw_chip_anchors anchors, mw_chip_rates *out);

/** "cpu", "gpu", "ane"; NULL for another number. */
MW_API const char *mw_chip_backend_name(mw_chip_backend backend);

/* ---- cost ---- */

/** Which of the three is the largest. */
typedef enum mw_chip_bound {
    MW_CHIP_BOUND_FLOOR = 0, /* as it is too small to matter */
    MW_CHIP_BOUND_COMPUTE = 1,
    MW_CHIP_BOUND_BANDWIDTH = 2
} mw_chip_bound;

/** Of something that is dispatched alone: us = max(compute_us, bandwidth_us, floor_us). */
typedef struct mw_chip_cost {
    double us;
    mw_chip_bound bound;
    double compute_us, bandwidth_us, floor_us;
    double flops;
    uint64_t bytes;
} mw_chip_cost;

/** The cost of so many floating-point operations (negative or NaN: 0) on so many bytes of operands and results. Nothing
 *  overflows: what does not fit is the largest number. All 0 for NULL. */
MW_API mw_chip_cost mw_chip_cost_of(const mw_chip_rates *rates, double flops, uint64_t bytes);
/** One program of operations with those costs: the floor once, and the larger of compute and bandwidth of each. */
MW_API double mw_chip_program_us(const mw_chip_rates *rates, const mw_chip_cost *costs, size_t count);

/** "floor", "compute", "bandwidth"; NULL for another number. */
MW_API const char *mw_chip_bound_name(mw_chip_bound bound);

#ifdef __cplusplus
}
#endif

#endif
