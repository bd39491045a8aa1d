/* The library that is checked, and one program on it and on the engine. */
#ifndef TESTS_ANE_LIBRARY_H
#define TESTS_ANE_LIBRARY_H

#include "section.h"

#include <millwright/millwright.h>

/* The one that MW_E5RT_LIBRARY names, else Espresso's path on a Mac; NULL elsewhere. */
const char *library_path(void);

/* Options for a program on it, for the ANE; with a profile for the engine's model of it instead. */
mw_compile_options library_options(const char *profile);

/* Feeds a program; false with err set on failure. */
typedef bool library_feed(void *user, mw_program *program, mw_error *err);

/* Compiles the graph for the library and for the engine under each profile, feeds and runs all, and says which profile
 * gives the library's bits, or else which is nearest and how far off. */
void library_compare(const mw_graph *graph, library_feed *feed, void *user, ane_result *out);

#endif
