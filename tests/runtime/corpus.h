/* Real programs as tests read them: without their weight files, most of which were not kept. */
#ifndef TESTS_RUNTIME_CORPUS_H
#define TESTS_RUNTIME_CORPUS_H

#include <millwright/millwright.h>

/* The program, NULL if it cannot be read. */
mw_graph *corpus_read(const char *path);

/* Numbers for the weights that are missing: of the size that a layer starts with, vectors around 1, so that variances
 * are positive. Returns the bytes of all weights; beyond `most` no more are filled. */
size_t corpus_fill_weights(mw_graph *graph, size_t most);

/* The next number of a sequence in [-1, 1). */
float corpus_number(uint32_t *state);

#endif
