/* A weighted sum over the result of a case, moved along a direction in the space of its float inputs: derivatives by
 * differences, evaluated by the oracle in double, so that what is tested is the rule alone. */
#ifndef TESTS_OPS_SLOPE_H
#define TESTS_OPS_SLOPE_H

#include "support/cases/op_cases.h"

typedef struct slope_problem {
    op_instance instance;
    mw_tensor *value;             /* scalar */
    mw_tensor *x[OP_CASE_INPUTS]; /* the float inputs */
    size_t from[OP_CASE_INPUTS];  /* their indices in the instance */
    double *direction[OP_CASE_INPUTS];
    size_t count;
} slope_problem;

/* False if the case is refused or has no float result or input; to be released either way. */
bool slope_init(slope_problem *p, const op_case *c);
void slope_deinit(slope_problem *p);

/* The sum of w y with fixed random weights w, so that every element counts differently. */
mw_tensor *slope_weighted_sum(mw_tensor *y, uint64_t seed);

/* Notes a failure if dx along the direction is not the difference quotient of `value`. `order` is for the message. */
void slope_check(const op_case *c, const slope_problem *p, const mw_tensor *value, mw_tensor *const *dx,
                 const char *order);

#endif
