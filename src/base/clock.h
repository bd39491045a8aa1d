/* Time that passes, apart from the time of day: it is never set back. */
#ifndef MW__BASE_CLOCK_H
#define MW__BASE_CLOCK_H

#include <time.h>

/* Seconds since some fixed moment. */
static inline double mw__clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
