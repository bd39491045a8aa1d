/* The rows of versions.def: which descriptor a file's subtype has, and what of it is known. */
#ifndef MW__CHIP_TASK_VERSIONS_H
#define MW__CHIP_TASK_VERSIONS_H

#include <millwright/hwx.h>

enum { MW__VERSION_H13 = 7 };

/* Which registers packets.def explains in a version. */
typedef enum mw__version_rows {
    MW__VERSION_NONE,
    MW__VERSION_UNITS, /* the unit that a word belongs to */
    MW__VERSION_CONV,  /* and the word of the kernel */
    MW__VERSION_ALL
} mw__version_rows;

typedef struct mw__version_row {
    mw_hwx_version public;
    uint32_t header; /* words; 0: no packets are read */
    mw__version_rows rows;
} mw__version_row;

/* Row by index, in the order of subtypes; NULL behind the last. */
const mw__version_row *mw__version_at(size_t index);
/* NULL for a subtype, a version that no source names. A version of several subtypes: the first. */
const mw__version_row *mw__version_of_subtype(uint32_t subtype);
const mw__version_row *mw__version_named(uint32_t version);

#endif
