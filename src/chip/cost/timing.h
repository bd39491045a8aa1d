/* What was measured of each chip's ANE, as ranges: rates, what a call costs, clocks, and what idling costs. */
#ifndef MW__CHIP_COST_TIMING_H
#define MW__CHIP_COST_TIMING_H

#include <millwright/chip_plan.h>

typedef struct mw__timing_range {
    double low, high;
    mw_chip_time_basis basis;
    const char *source;
} mw__timing_range;

typedef struct mw__timing {
    mw_chip chip;
    size_t engines;               /* ANEs on the die */
    mw__timing_range tflops;      /* of one, in fp16 */
    mw__timing_range weights;     /* 10^9 bytes a second from memory, all ANEs together */
    mw__timing_range activations; /* the same of one ANE, both directions together */
    mw__timing_range call_us;     /* a call beside its task, if that is short */
    mw__timing_range clock_mhz;   /* the lowest that it is left at, and the highest */
} mw__timing;

/* NULL for a chip of which nothing was measured. */
const mw__timing *mw__timing_of(mw_chip chip);

/* What was measured on M6 alone, and stands for the others. */
typedef struct mw__timing_shared {
    double full_channels;                             /* from where on output channels fill the engine */
    double planar_us, planar_elements_us;             /* of a planar task, and elements in a microsecond */
    double planar_two_us, planar_two_max;             /* the same of two inputs, up to so many elements */
    double planar_two_elements_us;                    /* beyond that */
    double planar_late;                               /* its own clock rises late: so many times slower until then */
    double short_task_us, long_task_us, long_host_us; /* the host's part grows by so much between the two */
    double pause_us;                                  /* between calls from where on the clock falls to its lowest */
    double idle_low_us, idle_high_us;                 /* what the first call after idling costs more */
    double off_after_us, off_us;                      /* idle until power is off, and what the next call costs more */
    double ramp_low_us, ramp_high_us;                 /* until the clock is up, of calls back to back */
    double idle_ramp_low_us, idle_ramp_high_us;       /* the same after idling */
} mw__timing_shared;

extern const mw__timing_shared mw__timing_m6;

#endif
