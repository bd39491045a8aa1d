/* All of libmillwright_inspect: what looks into a program rather than training or running it, beside the core. One
 * program on two devices, the ranges of its values, gradients against differences, ONNX files against their schema,
 * refused steps once more, plans and profiles, whether a chip takes it.
 *
 * Programs that include this link with libmillwright_inspect too: find_package(millwright COMPONENTS inspect), or
 * pkg-config millwright_inspect.
 *
 * Threads: each header says what may be called at the same time. */
#ifndef MILLWRIGHT_INSPECT_H
#define MILLWRIGHT_INSPECT_H

#include <millwright/chip.h>
#include <millwright/compare.h>
#include <millwright/gradcheck.h>
#include <millwright/millwright.h>
#include <millwright/onnx_check.h>
#include <millwright/plan.h>
#include <millwright/ranges.h>
#include <millwright/replay.h>

#endif
