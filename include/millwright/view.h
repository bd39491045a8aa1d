/* All of libmillwright_view: pictures and pages of what the core has. Summaries of layers, drawings of graphs, curves
 * of metrics, reports as one HTML page.
 *
 * Programs that include this link with libmillwright_view too: find_package(millwright COMPONENTS view), or
 * pkg-config millwright_view.
 *
 * Threads: each header says what may be called at the same time. */
#ifndef MILLWRIGHT_VIEW_H
#define MILLWRIGHT_VIEW_H

#include <millwright/draw.h>
#include <millwright/millwright.h>
#include <millwright/plot.h>
#include <millwright/report.h>
#include <millwright/summary.h>

#endif
