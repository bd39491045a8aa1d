/* Type strings of the symbol table: what a name means to the compiler.
 *     float16:t5=r1;2;0                                  a type: number 5, a range
 *     image:t11=ar1;0;1;12=s192n:ar1;0;3;13=s64c:..:5    a port: extents and strides of its axes, and its element type
 * Other than in compilers of C, the upper bound of an axis is its extent. */
#ifndef MW__HWX_STAB_H
#define MW__HWX_STAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MW__STAB_AXES = 8 };

typedef struct mw__stab_axis {
    char letter; /* n, c, h, w, .. */
    uint64_t extent, stride;
} mw__stab_axis;

typedef struct mw__stab {
    const char *name; /* within the string */
    size_t name_length;
    uint64_t number; /* of the type */
    size_t axis_count;
    mw__stab_axis axes[MW__STAB_AXES];
    uint64_t element;      /* number of the element type, of a port */
    bool is_range;         /* a type with a range: */
    int64_t of, low, high; /* r<of>;<low>;<high> */
} mw__stab;

/* False if it is no such string. At most MW__STAB_AXES axes are read. */
bool mw__stab_read(const char *text, mw__stab *out);

#endif
