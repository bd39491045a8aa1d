/* What a chip's arithmetic does otherwise than IEEE, as switches (arithmetic.def), and the profile of each chip: the
 * set that is on there. The engine's model of the ANE computes by a profile.
 *
 * A profile is written as a name and changes, "h13,product_tiles,-wide_chains": h13 to h17 and h18g, or ieee, which has
 * none. */
#ifndef MW__RULES_ARITHMETIC_H
#define MW__RULES_ARITHMETIC_H

#include "base/visible.h"

#include <millwright/program.h>
#include <stddef.h>

typedef enum mw__switch_id {
#define MW_SWITCH(id, chips, what, measured, source) MW__SWITCH_##id,
#include "rules/arithmetic.def"
#undef MW_SWITCH
    MW__SWITCH_COUNT
} mw__switch_id;

/* A set of switches. */
typedef uint32_t mw__arithmetic;

#define MW__ARITHMETIC_IEEE ((mw__arithmetic)0)
/* Room for the text of a profile, with its end. */
#define MW__ARITHMETIC_TEXT 512

/* By name: MW__ARITHMETIC(no_nan). */
#define MW__ARITHMETIC(id) ((mw__arithmetic)1 << MW__SWITCH_##id)

/* Where nothing else is said: of the chip whose published results of training it reproduces. */
#define MW__ARITHMETIC_DEFAULT "h17"

typedef struct mw__switch_row {
    const char *name, *what, *measured, *source;
    unsigned chips; /* 1 << chip, where it is on */
} mw__switch_row;

/* MW__SWITCH_COUNT rows. */
const mw__switch_row *mw__switch_rows(void);

/* True for a chip that has a profile of its own. */
bool mw__arithmetic_has(mw_chip chip);

/* The profile of a chip; of MW_CHIP_AUTO, and where none is known, the default. */
mw__arithmetic mw__arithmetic_of(mw_chip chip);

/* The switch by which an operation of MIL is computed by M6's table; 0: none has it. */
mw__arithmetic mw__arithmetic_knots(const char *operation);

/* MW_ERROR_ARGUMENT naming the word that is neither a profile nor a switch, or for a text of MW__ARITHMETIC_TEXT bytes
 * and more. */
MW__SIBLING mw_status mw__arithmetic_parse(const char *text, mw__arithmetic *out, mw_error *err);

#endif
