/* Names near one that there is not, for messages. */
#ifndef MW__BASE_TEXT_NEAR_H
#define MW__BASE_TEXT_NEAR_H

#include <stddef.h>

enum { MW__NEAR_NAMES = 4 };

/* The nearest of what was added, the nearest first. Begin with {.wanted = name}. */
typedef struct mw__near {
    const char *wanted; /* a name, or a pattern of fnmatch(3) */
    size_t count;
    const char *names[MW__NEAR_NAMES]; /* as they were added */
    size_t distances[MW__NEAR_NAMES];
} mw__near;

/* Takes a name that is nearer than another; an empty one, and one that is there, is none. */
void mw__near_add(mw__near *near, const char *name);

/* How many characters are to be changed, put in or left out until the name matches; `*` and `?` match as in fnmatch(3),
 * upper and lower case are alike. Of each the first 96 bytes count. */
size_t mw__near_distance(const char *wanted, const char *name);

#endif
