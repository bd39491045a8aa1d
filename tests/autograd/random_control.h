/* Random programs of loops, branches, lists and segments that are computed again, nested up to three levels, on three
 * vectors and a weight. */
#ifndef TESTS_AUTOGRAD_RANDOM_CONTROL_H
#define TESTS_AUTOGRAD_RANDOM_CONTROL_H

#include <millwright/millwright.h>

enum { CONTROL_WIDTH = 2 };

/* Inputs "x" and "w" [CONTROL_WIDTH], output "y" [CONTROL_WIDTH]. The same seed gives the same program; `recompute`
 * leaves out the segments if false, and nothing else. */
mw_graph *random_control(unsigned seed, bool recompute);

#endif
