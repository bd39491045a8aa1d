/* A sweep of every function, layer and loss over inputs of the size 2^k, k = -24 .. 15: what the model of the ANE makes
 * of them against a formula in fp64 that is written here and nowhere else.
 *
 *     for (size_t i = 0; large_case_at(i) != NULL; i++)
 *         large_sweep(large_case_at(i), "h17", false, &found);
 *
 * x is [N, C, H, W] = [2, 4, 3, 4] in every case. */
#ifndef TESTS_RULES_LARGE_INPUTS_H
#define TESTS_RULES_LARGE_INPUTS_H

#include <millwright/millwright.h>

enum { LARGE_N = 2, LARGE_C = 4, LARGE_PLACES = 12, LARGE_ROW = LARGE_C * LARGE_PLACES, LARGE_X = LARGE_N * LARGE_ROW };
enum { LARGE_FIRST = -24, LARGE_LAST = 15, LARGE_SIZES = LARGE_LAST - LARGE_FIRST + 1 };

/* |y - formula| may be relative * |formula| + absolute; where it is more, the case says what makes it so. */
typedef struct large_bound {
    double relative, absolute;
} large_bound;

typedef struct large_case {
    const char *name;
    mw_tensor *(*make)(mw_tensor *x);
    double (*function)(double x);                /* of each element, or */
    void (*formula)(const double *x, double *y); /* of all of them */
    large_bound bound;                           /* where functions are rounded alone: h17 */
    large_bound table;                           /* where they are lines between knots: h13, h16, h18g; 0 = as bound */
    const char *because;
    double lowest;     /* x is at least that: |x| where it is above 0 */
    bool positive;     /* x = |x| */
    bool no_slope;     /* its gradient is not looked at */
    double step;       /* the formula is smooth on the scale of |x|, but at least this one; 0 = on that of 1 */
    large_bound slope; /* of the gradient, relative to the largest of the tensor; 0 = 2^-6 and 2^-18 */
} large_case;

/* The n-th, in whichever file it is; NULL past the last. */
const large_case *large_case_at(size_t index);

typedef struct large_group {
    const large_case *cases;
    size_t count;
} large_group;
extern const large_group large_functions, large_layers, large_losses;

/* What was found at one size. */
typedef struct large_found {
    bool wrong, warned;
    double x, got, wanted; /* the first element that is wrong */
} large_found;

/* Fills found[k - LARGE_FIRST] of each size; false if the program cannot be compiled, which is noted. */
bool large_sweep(const large_case *c, const char *profile, bool slope, large_found found[LARGE_SIZES]);

/* What is not right there, and why. */
typedef struct large_known {
    const char *name;
    bool slope;
    int from, to; /* of k; both ends are wrong on some profile */
    const char *profiles, *gives, *why;
} large_known;

/* NULL past the last. */
const large_known *large_known_at(size_t index);
bool large_known_covers(const large_known *known, const large_case *c, const char *profile, bool slope, int k);

#endif
