/* All of libmillwright_chip: what is known of the ANE's compiler and its files, beside the core. Costs, placements and
 * plans of programs; .hwx files, read, run and written; netplists; dispatch descriptors.
 *
 * Programs that include this link with libmillwright_chip too: find_package(millwright COMPONENTS chip), or
 * pkg-config millwright_chip. Whether a chip takes a program (mw_chip_report_create, <millwright/chip.h>)
 * libmillwright_inspect says.
 *
 * Threads: each header says what may be called at the same time. */
#ifndef MILLWRIGHT_CHIP_ALL_H
#define MILLWRIGHT_CHIP_ALL_H

#include <millwright/chip_cost.h>
#include <millwright/chip_place.h>
#include <millwright/chip_plan.h>
#include <millwright/chip_run.h>
#include <millwright/compile.h>
#include <millwright/e5.h>
#include <millwright/hwx.h>
#include <millwright/millwright.h>
#include <millwright/netplist.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Gives the core what it asks this library for: models in netplists (.espresso.net) wherever a file of a model is read
 *  or written, and a segmenter with costs for the analytics of compiled programs. Without it the core refuses a
 *  netplist, naming this function, and says of an operation only where its program is computed.
 *  May be called at any time, from any thread, as often as one likes. It holds until the process ends, so a library
 *  that was opened by dlopen must stay open. Core and library are of one release: on Linux the loader refuses
 *  another one. */
MW_API void mw_chip_register(void);

#ifdef __cplusplus
}
#endif

#endif
