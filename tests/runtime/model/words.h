/* Vocabularies of which an ANE can neither count the words nor hold the axis: sizes, chips, and what all tests ask of
 * the programs that are made of them. */
#ifndef TESTS_RUNTIME_MODEL_WORDS_H
#define TESTS_RUNTIME_MODEL_WORDS_H

#include <millwright/millwright.h>

/* Beyond what fp16 counts to; beyond an axis of the older chips; GPT-2's; beyond an axis of every chip. */
enum { WORDS_SIZES = 4 };
extern const int64_t words_sizes[WORDS_SIZES];

enum { WORDS_CHIPS = 2 };
extern const mw_chip words_chips[WORDS_CHIPS];
int64_t words_axis_max(mw_chip chip);

mw_compile_options words_compile(mw_device device, mw_chip chip);

/* The largest extent of a tensor in a program's text. */
int64_t words_longest_axis(const char *mil);

/* Numbers where a digit turns over, and the last; fills out[count] with some of them below `words`. */
void words_choose(int64_t words, int32_t *out, int count, int seed);

/* A number in [-1, 1) with few bits, exact in fp16. */
float words_value(int64_t index);

/* The nearest number that fp16 has. */
double words_half(double value);

mw_feed words_feed_ints(const char *name, const int32_t *data, size_t count);
mw_feed words_feed_floats(const char *name, const float *data, size_t count);

#endif
