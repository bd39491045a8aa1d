/* An independent normalizer of MIL text, for comparing what was printed with what was read: white space, order of named
 * arguments, spelling of numbers, literal style and brackets of tensor literals do not count. It shares nothing with
 * the parser under test. */
#ifndef TESTS_MIL_NORMALIZE_H
#define TESTS_MIL_NORMALIZE_H

#include <stddef.h>

/* Freed with free; NULL if the text is not even made of MIL's words. */
char *normalize(const char *text, size_t size);

#endif
