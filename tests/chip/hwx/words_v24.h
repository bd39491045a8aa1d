/* Words of v24 made by hand, for tests of its packets: nothing of the library writes them. */
#ifndef TESTS_CHIP_HWX_WORDS_V24_H
#define TESTS_CHIP_HWX_WORDS_V24_H

#include <stddef.h>
#include <stdint.h>

/* A chain of two tasks: a 3x5 convolution of 24 to 48 channels with a relu, 40 x 7 pixels, whose sources and result
 * have addresses; then an elementwise maximum. */
extern const uint32_t words_v24[];
extern const size_t words_v24_count;

/* Where the tasks lie, and their words. */
enum { WORDS_V24_FIRST = 4, WORDS_V24_FIRST_COUNT = 54, WORDS_V24_SECOND = 60, WORDS_V24_SECOND_COUNT = 15 };

#endif
