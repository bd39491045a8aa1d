/* Real programs as tests read them: without their weight files, most of which were not kept. */
#ifndef TESTS_RUNTIME_PROGRAM_CORPUS_H
#define TESTS_RUNTIME_PROGRAM_CORPUS_H

#include <millwright/millwright.h>

/* The program, NULL if it cannot be read. */
mw_graph *corpus_read(const char *path);

/* Numbers for the weights that are missing: of the size that a layer starts with, vectors around 1, so that variances
 * are positive. Returns the bytes of all weights; beyond `most` no more are filled. */
size_t corpus_fill_weights(mw_graph *graph, size_t most);

/* Gives every extent of an input that is still to be chosen the number 4: those of one program belong together. */
mw_status corpus_choose_shapes(mw_program *program, mw_error *err);

/* The next number of a sequence in [-1, 1). */
float corpus_number(uint32_t *state);

#endif
