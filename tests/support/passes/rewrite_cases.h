/* A case of every row of passes/rewrites.def, in the order of the rows: a program that the row writes in another form,
 * what is written, what its inputs hold where it is run, and how near the results must be.
 *
 *     for (size_t i = 0; rewrite_case_at(i) != NULL; i++)
 *         .. rewrite_case_text(rewrite_case_at(i), 20000, text, sizeof text); */
#ifndef TESTS_SUPPORT_PASSES_REWRITE_CASES_H
#define TESTS_SUPPORT_PASSES_REWRITE_CASES_H

#include <millwright/millwright.h>

enum { REWRITE_DRAWS = 4, REWRITE_TEXT = 4096 };

/* What an input holds: multiples of `step` from `low` to `high`, or these. */
typedef struct rewrite_draw {
    const char *input;
    double low, high, step;
    const float *values; /* as many as the input has */
} rewrite_draw;

typedef struct rewrite_case {
    const char *row;
    const char *opset;         /* NULL = ios18 */
    const char *inputs, *body; /* of the function; the result is y. '@' stands for the extent of a long axis */
    const char *operation;     /* that is counted in what is written */
    int times;
    const char *error;                 /* or what the message contains */
    mw_chip chip;                      /* that is named; its axes are as they are */
    rewrite_draw draws[REWRITE_DRAWS]; /* of other inputs: multiples of 1/4 from -2 to 2 */
    double bound;        /* of the results by those of the source in fp32, in units of fp16 (2^-10) of the largest of
                          * them; 0 = they are the source's, rounded to fp16 */
    const char *because; /* the bound is not 0 */
    double wide_bound;   /* the same of the form in fp32, of the rows of decompose, recognize and absorb: in units of
                          * fp32 (2^-23) */
} rewrite_case;

/* NULL past the last. */
const rewrite_case *rewrite_case_at(size_t index);
/* The program, with that extent of a long axis; false if `size` is not enough. */
bool rewrite_case_text(const rewrite_case *c, int64_t extent, char *out, size_t size);
/* What the input of that name holds. */
rewrite_draw rewrite_case_draw(const rewrite_case *c, const char *input);

#endif
