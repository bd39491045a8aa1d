/* A report in a line: how often each rule holds, by verdict. */
#ifndef TESTS_SUPPORT_CHIP_SUMMARY_H
#define TESTS_SUPPORT_CHIP_SUMMARY_H

#include <millwright/inspect.h>
#include <millwright/millwright.h>

enum { SUMMARY_MAX = 2000 };

/* "refused extent 3; warned slice_clamp 1; noted fp16 2 rewritten, .." or "passes" into `out`. */
void summary_of(const mw_chip_report *report, char *out);
/* The lines of h13 to h17, chips with the same one together: "h13 h14: ..". */
void summary_of_chips(const mw_graph *graph, char *out, size_t size);

#endif
