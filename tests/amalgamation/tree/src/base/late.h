/* first.c includes it where nothing is compiled, second.c needs it. */
#ifndef MW__BASE_LATE_H
#define MW__BASE_LATE_H

enum { MW__LATE = 5 };

#endif
