/* Tables of activations as the neural engines read them: 33 knots, lines outside of them, limits beyond which the
 * result is fixed, the distance of the knots, and a mode that says what of the argument the knots are over.
 *
 * source  files of tinygrad (sigmoid); joshuaswarren/mil-hwx-compiler, tables of the other functions. What a mode does
 *         is read off the knots of the functions that have it: single bits are not known. */
#ifndef MW__CHIP_TASK_TABLE_H
#define MW__CHIP_TASK_TABLE_H

#include "base/text/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
    MW__TABLE_KNOTS = 33,
    MW__TABLE_NUMBERS = 43, /* what is meant of it; the rest is 0 */
    MW__TABLE_BYTES = 128,
    MW__TABLE_STEP = 41, /* the place of the distance, of the mode */
    MW__TABLE_MODE = 42
};

typedef struct mw__chip_table_mode mw__chip_table_mode;

typedef struct mw__chip_table {
    float low, high;       /* beyond these the result is fixed */
    float at_low, at_high; /* to these */
    float knots[MW__TABLE_KNOTS];
    float slope[2], above[2]; /* lines below the first knot and above the last: slope * x + above */
    float step;               /* from knot to knot */
    const mw__chip_table_mode *mode;
} mw__chip_table;

/* Reads a table of at least MW__TABLE_NUMBERS fp16 numbers.
 * errors  MW_ERROR_FORMAT for fewer; MW_ERROR_UNSUPPORTED for a mode or a distance that nobody has explained */
mw_status mw__chip_table_read(const uint8_t *data, size_t size, mw__chip_table *out, mw_error *err);

float mw__chip_table_at(const mw__chip_table *table, float x);

/* The table of sigmoid as Apple's compilers write it: [MW__TABLE_NUMBERS]. */
const uint16_t *mw__chip_table_sigmoid(void);

/* Modes that are known, `index` from 0 on; NULL behind the last. For documents and tests. */
const char *mw__chip_table_mode_name(size_t index, unsigned *out_mode);

#endif
