/* The rows of timing.h. Sources: the M6 study (github.com/751K/Apple-Neural-Engine-Microarchitecture-Study-M6, MIT,
 * report 6, 7, 9, 10 and 12; notes/scheduling.md), which measured M6 and in part M4; the ane-guide and ANEForge, which
 * measured M1 and M5. */
#include "chip/cost/timing.h"

#define MEASURED(low_, high_, source_)                                                                                 \
    {                                                                                                                  \
        (low_), (high_), MW_CHIP_TIME_MEASURED, (source_)                                                              \
    }
#define COMPILER(low_, high_, source_)                                                                                 \
    {                                                                                                                  \
        (low_), (high_), MW_CHIP_TIME_COMPILER, (source_)                                                              \
    }
#define BORROWED(low_, high_, source_)                                                                                 \
    {                                                                                                                  \
        (low_), (high_), MW_CHIP_TIME_BORROWED, (source_)                                                              \
    }

static const mw__timing rows[] = {
    {.chip = MW_CHIP_H13,
     .engines = 1,
     .tflops = MEASURED(2.7, 4.6, "ANEForge, roofline table: the largest products of three Macs"),
     .weights = MEASURED(51.0, 51.0, "ane-guide, by the M6 study, report 9"),
     .activations = MEASURED(24.0, 24.0, "ane-guide, by the M6 study, report 9"),
     .call_us = MEASURED(190.0, 230.0, "ane-guide, ch. 9 and 18; ANEForge, cost model"),
     .clock_mhz = COMPILER(396.0, 1428.0, "M6 study, compiler frequencies of H13")},
    {.chip = MW_CHIP_H16,
     .engines = 1,
     .tflops =
         MEASURED(2.9, 17.0, "M6 study, notes: 384 layers of 64 channels in 2.0 ms; maderix, part 4: 16.4 with calls"),
     .weights = MEASURED(67.0, 67.0, "M6 study, report 9"),
     .activations = BORROWED(24.0, 36.0, "M1 and M5 (ane-guide) to M6 (M6 study)"),
     .call_us = BORROWED(110.0, 160.0, "M5 (ANEForge, cost model) to M6 (M6 study, report 6)"),
     .clock_mhz = COMPILER(504.0, 2364.0, "M6 study, compiler frequencies of H16g")},
    {.chip = MW_CHIP_H17,
     .engines = 1,
     .tflops = MEASURED(8.7, 10.0, "ANEForge, roofline table"),
     .weights = MEASURED(145.0, 145.0, "ane-guide, by the M6 study, report 9"),
     .activations = MEASURED(24.0, 24.0, "ane-guide, by the M6 study, report 9"),
     .call_us = MEASURED(70.0, 110.0, "ANEForge, its two cost models"),
     .clock_mhz = COMPILER(744.0, 2364.0, "M6 study, compiler frequencies of H17s")},
    {.chip = MW_CHIP_H18G,
     .engines = 2,
     .tflops = MEASURED(13.1, 21.1,
                        "M6 study, report 7: chains of 1x1 convolutions 13.1 to 19.0, peak 20.6, 21.1 by the clock"),
     .weights = MEASURED(150.0, 159.0, "M6 study, report 9"),
     .activations = MEASURED(34.0, 36.0, "M6 study, report 9"),
     .call_us = MEASURED(160.0, 160.0, "M6 study, report 6: 30 us, and 130 of the host"),
     .clock_mhz = MEASURED(852.0, 2580.0, "M6 study, report 11 and 12")},
};

const mw__timing *mw__timing_of(mw_chip chip)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].chip == chip)
            return &rows[i];
    return NULL;
}

const mw__timing_shared mw__timing_m6 = {.full_channels = 96.0,
                                         .planar_us = 0.35,
                                         .planar_elements_us = 61e3,
                                         .planar_two_us = 5.2,
                                         .planar_two_max = 48.0 * 48.0 * 256.0,
                                         .planar_two_elements_us = 64.0 * 64.0 * 256.0 / 18.5,
                                         .planar_late = 2.63,
                                         .short_task_us = 350.0,
                                         .long_task_us = 660.0,
                                         .long_host_us = 325.0 - 130.0,
                                         .pause_us = 400.0,
                                         .idle_low_us = 4000.0,
                                         .idle_high_us = 5000.0,
                                         .off_after_us = 5.68e6,
                                         .off_us = 50000.0,
                                         .ramp_low_us = 55000.0,
                                         .ramp_high_us = 202000.0,
                                         .idle_ramp_low_us = 250000.0,
                                         .idle_ramp_high_us = 360000.0};
