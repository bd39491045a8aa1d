/* A data set of every kind that is made of others, over a small one in memory. */
#ifndef TESTS_DATA_SETS_DERIVED_SETS_H
#define TESTS_DATA_SETS_DERIVED_SETS_H

#include <millwright/data.h>
#include <millwright/millwright.h>

/* x [H, W] U8 and y I32: x of example i is i, i + 1, .. and y is i. */
enum { DERIVED_EXAMPLES = 13, DERIVED_H = 4, DERIVED_W = 5 };
mw_dataset *derived_base(const mw_allocator *allocator, mw_error *err);

/* The kinds: in memory, of a function, subset, part of a split, concatenation, map, augmented, mixed, normalized,
 * windows, drawn by weights, two views side by side, all of them together. */
enum { DERIVED_KINDS = 13 };
const char *derived_name(int kind);
mw_dataset *derived_make(int kind, const mw_allocator *allocator, mw_error *err);

/* A map of x and y to "sum" (F64, all of x, and a number that the example draws) and "epoch" (I64). */
mw_dataset *derived_sums(const mw_dataset *source, uint64_t seed, mw_error *err);

#endif
