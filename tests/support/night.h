/* What the nightly campaign checks more of. What is too much for one night is dealt out over several: each takes its
 * share, so that all of it is checked in turns, and MW_TEST_NIGHT repeats one. */
#ifndef MW_TESTS_SUPPORT_NIGHT_H
#define MW_TESTS_SUPPORT_NIGHT_H

#include <stdbool.h>

/* Whether MW_NIGHTLY asks for more than everyday lengths. */
bool night_has_come(void);

/* Which of `shares` is the turn of this night: MW_TEST_NIGHT, or the number of the day, modulo `shares`. */
long night_share(long shares);

#endif
