/* Macros that make names and text of their arguments, and a type with a function. */
#ifndef MW__BASE_SHARED_H
#define MW__BASE_SHARED_H

#include <millwright/traps.h>
#include <stddef.h>
#include <stdio.h>

typedef struct mw__printable {
    const char *text;
    int (*call)(int);
} mw__printable;

#define MW__NAMED(name)                                                                                                \
    {                                                                                                                  \
#name, name                                                                                                    \
    }
#define MW__TWICE(name, factor)                                                                                        \
    static int name##_twice(int x) { return 2 * name##_once(x); }                                                      \
    static int name##_##factor##_times(int x) { return factor * name##_once(x); }
#define MW__BOTH(name) name##_twice(1) + name##_3_times(1)

#endif
