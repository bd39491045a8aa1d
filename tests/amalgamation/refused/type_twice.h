/* shared.h has another type of this name. */
#ifndef MW__BASE_TYPE_TWICE_H
#define MW__BASE_TYPE_TWICE_H

typedef struct mw__printable {
    int number;
} mw__printable;

#endif
