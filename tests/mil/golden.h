/* Programs before and after a rewrite: tests/data/mil/<name>_before.mil and <name>_after.mil. */
#ifndef TESTS_MIL_GOLDEN_H
#define TESTS_MIL_GOLDEN_H

/* The text, freed by the caller; `when` is "before" or "after". A failure is noted, and an empty text. */
char *golden_read(const char *prefix, const char *name, const char *when);

/* Notes a failure if `got` is not <prefix>_<name>_after.mil, which MW_UPDATE_GOLDENS=1 writes anew. */
void golden_check(const char *prefix, const char *name, const char *got);

#endif
