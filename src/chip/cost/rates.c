/* The rows of rates: what was measured, and how it is scaled to dies that were not.
 *
 * Sources: ane-guide (github.com/sbryngelson/ane-guide), chapters 9, 11 and 18; ANEForge (its analytic cost model, and
 * the clocks and cores of dies in costmodel_curves.json). docs/chip_cost.md says where they disagree. */
#include "chip/cost/roofs.h"
#include "rules/chips.h"

#include <millwright/chip_cost.h>
#include <string.h>
#include <strings.h>

/* ---- the ANE ---- */

typedef struct anchor {
    const char *die;
    double gflops, gbytes, floor_us, ramp_flops, ramp_power;
    const char *source;
} anchor;

static const anchor anchors[] = {
    {"h13", 3250.0, 9.0, 220.0, 0.0, 0.0,
     "fitted to five convolutions on an M1: ane-guide, ch. 18 (floor 230 us), and ANEForge, cost model (220)"},
    {"h14", 7300.0, 48.0, 100.0, 1.8e10, 0.38, "fitted to a grid of 25 products on an M2 Pro: ANEForge, cost model"},
    {"h17s", 8900.0, 57.0, 110.0, 0.0, 0.0,
     "fitted to five convolutions on an M5: ane-guide, ch. 18, and ANEForge, cost model"},
};

/* Cores, the highest clock, and what it is worth at 0.8 of it, in MHz: the table of each die by linear interpolation.
 */
typedef struct die {
    const char *name;
    mw_chip chip; /* for which it stands; MW_CHIP_AUTO: for none */
    double cores, clock, worth;
    const char *anchor;
} die;

static const die dies[] = {
    {"h11", MW_CHIP_H11, 4, 1260, 1008.0, "h13"},     {"h13", MW_CHIP_H13, 4, 1428, 1142.4, "h13"},
    {"h13g", MW_CHIP_AUTO, 8, 1464, 1171.2, "h13"},   {"h14", MW_CHIP_H14, 4, 1938, 1157.2, "h14"},
    {"h15", MW_CHIP_H15, 4, 2064, 1204.8, "h14"},     {"h15c", MW_CHIP_AUTO, 32, 2364, 1438.5, "h14"},
    {"h16", MW_CHIP_AUTO, 4, 2160, 1336.8, "h17s"},   {"h16s", MW_CHIP_H16, 16, 2364, 1411.4, "h17s"},
    {"h17", MW_CHIP_AUTO, 4, 2172, 1324.2, "h17s"},   {"h17s", MW_CHIP_H17, 16, 2364, 1411.4, "h17s"},
    {"h17c", MW_CHIP_AUTO, 32, 2364, 1411.4, "h17s"}, {"h17d", MW_CHIP_AUTO, 64, 2364, 1411.4, "h17s"},
};

/* Chips without a table of their own take that of another: h12 that of its elder, h18 that of the family of h16. */
static mw_chip stands_for(mw_chip chip)
{
    return chip == MW_CHIP_AUTO  ? MW_CHIP_H13
           : chip == MW_CHIP_H12 ? MW_CHIP_H11
           : chip >= MW_CHIP_H18 ? MW_CHIP_H16
                                 : chip;
}

static const die *die_of_chip(mw_chip chip)
{
    const mw_chip wanted = stands_for(chip);
    for (size_t i = 0; i < sizeof dies / sizeof *dies; i++)
        if (dies[i].chip == wanted)
            return &dies[i];
    return NULL;
}

static const die *die_named(const char *name)
{
    for (size_t i = 0; i < sizeof dies / sizeof *dies; i++)
        if (strcasecmp(dies[i].name, name) == 0)
            return &dies[i];
    return NULL;
}

static const anchor *anchor_of(const die *d)
{
    for (size_t i = 0; i < sizeof anchors / sizeof *anchors; i++)
        if (strcmp(anchors[i].die, d->anchor) == 0)
            return &anchors[i];
    return &anchors[0];
}

/* Bandwidth goes with the cores, the floor with the clock, the peak with both. */
static mw_chip_rates scale(const die *to)
{
    const anchor *a = anchor_of(to);
    const die *from = die_named(a->die);
    const double cores = to->cores / from->cores, peak = cores * to->worth / from->worth;
    return (mw_chip_rates){.gflops = a->gflops * peak,
                           .gbytes = a->gbytes * cores,
                           .floor_us = a->floor_us * from->clock / to->clock,
                           .ramp_flops = a->ramp_flops * peak,
                           .ramp_power = a->ramp_power,
                           .die = to->name,
                           .anchor = a->die,
                           .measured = to == from,
                           .source = a->source};
}

/* ---- the others ---- */

static const mw_chip_rates m5[] = {
    [MW_CHIP_CPU] = {.gflops = 1898.0,
                     .gbytes = 130.4,
                     .floor_us = 26.0,
                     .die = "",
                     .anchor = "M5",
                     .source = "ane-guide, ch. 9: roofs of an M5; ch. 11: its least product takes 26 us"},
    [MW_CHIP_GPU] = {.gflops = 30862.0,
                     .gbytes = 229.7,
                     .floor_us = 182.0,
                     .die = "",
                     .anchor = "M5",
                     .source = "ane-guide, ch. 9: roofs of an M5; ch. 11: 64 x 256 x 256 at 46 GFLOP/s, on an M1"},
};

static const mw_chip_rates coarse[] = {
    [MW_CHIP_CPU] = {.gflops = 20.0, .gbytes = 10.0, .die = "", .anchor = ""},
    [MW_CHIP_GPU] = {.gflops = 120.0, .gbytes = 40.0, .die = "", .anchor = ""},
    [MW_CHIP_ANE] = {.gflops = 800.0, .gbytes = 50.0, .die = "", .anchor = ""},
};

static bool find_rates(const die *d, mw_chip chip, mw_chip_backend backend, mw_chip_anchors which, mw_chip_rates *out)
{
    *out = (mw_chip_rates){0};
    if (d == NULL || (unsigned)backend >= MW_CHIP_BACKENDS)
        return false;
    if (which == MW_CHIP_PLANNER && backend != MW_CHIP_GPU) {
        *out = mw__roof_rates(mw__roof_platform_of(chip), backend == MW_CHIP_ANE ? MW__ROOF_ANE : MW__ROOF_BNNS);
        return true;
    }
    if (which == MW_CHIP_COARSE_ANCHORS || which == MW_CHIP_PLANNER) {
        *out = coarse[backend];
        out->source = "ane-guide, ch. 18: anchors read from the planner's cost functions";
        return true;
    }
    if (which != MW_CHIP_FITTED)
        return false;
    *out = backend == MW_CHIP_ANE ? scale(d) : m5[backend];
    if (backend != MW_CHIP_ANE)
        out->measured = chip == MW_CHIP_H17;
    return true;
}

bool mw_chip_rates_find(mw_chip chip, mw_chip_backend backend, mw_chip_anchors which, mw_chip_rates *out)
{
    const die *d = mw__chip_find(chip) != NULL ? die_of_chip(chip) : NULL;
    if (out == NULL || !find_rates(d, chip, backend, which, out))
        return false;
    if (stands_for(chip) != chip)
        out->measured = false;
    return true;
}

bool mw_chip_rates_of_die(const char *name, mw_chip_backend backend, mw_chip_anchors which, mw_chip_rates *out)
{
    const mw__chip_row *row = name != NULL ? mw__chip_named(name) : NULL;
    const die *own = row != NULL ? die_named(name) : NULL;
    if (row != NULL && own == NULL)
        return mw_chip_rates_find(row->chip, backend, which, out) && (out->measured = false, true);
    return out != NULL && find_rates(own, row != NULL ? row->chip : MW_CHIP_AUTO, backend, which, out);
}

const char *mw_chip_backend_name(mw_chip_backend backend)
{
    static const char *const names[] = {"cpu", "gpu", "ane"};
    return (unsigned)backend < MW_CHIP_BACKENDS ? names[backend] : NULL;
}
