/* Constants that fp16 does not hold: by what they are replaced on devices that compute in it. */
#ifndef MW__MIL_LEGALIZE_NUMBERS_NARROW_H
#define MW__MIL_LEGALIZE_NUMBERS_NARROW_H

#include "graph/ir/uses.h"

/* The smallest normal number of fp16. */
#define MW__SAFE_DIVISOR 0x1p-14

/* One constant that was replaced. Strings and list live as long as the graph that was made. */
typedef struct mw__narrowing {
    const char *operation;  /* kind of the operation that reads it first, "" if none */
    const char *argument;   /* "alpha" */
    const char *tensor;     /* the constant's name, else the result's; "" if neither has one */
    const char *subject;    /* `clip "limited"` */
    double value, replaced; /* the first element that was replaced, and what it is now */
    size_t count;           /* of elements that were replaced; 0 = of an operation (overflow.h) */
    const char *says;       /* then: what happens from `value` on; static */
    struct mw__narrowing *next;
} mw__narrowing;

/* Where constants go, found when the first one must be replaced. */
typedef struct mw__narrow_flow {
    mw__arena *arena;
    const mw__function *function;
    const mw__use *const *uses; /* by value id */
    bool *seen;
    size_t count;
} mw__narrow_flow;

/* What stands for `number` in fp16:
 *  - a finite number beyond 65504 becomes +-65504, but +-32752 where the constant reaches an addition: a mask of
 *    -65504 plus a score of -16 would be -inf again, and a row that is masked throughout NaN.
 *    source  coremltools pull request 2669, fully masked rows in fp16
 *  - a number that would be 0 becomes +-2^-24, the nearest one that is not, as coremltools' add_fp16_cast has it; but
 *    2^-14 where it keeps a divisor from 0: the reciprocal of anything below 2^-16 is infinite, and what is below
 *    2^-14 is 0 in the multiply-accumulate of the M1.
 *    source  ane-guide, part 1, chapter 3, numerics
 *  errors  MW_ERROR_MEMORY */
mw_status mw__narrow_replace(mw__narrow_flow *flow, const mw_tensor *constant, double number, double *out,
                             mw_error *err);

#endif
