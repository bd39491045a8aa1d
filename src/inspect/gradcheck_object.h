/* Inside a gradient check: two programs from one copy of the graph, y alone and its gradient, and the variables. */
#ifndef MW__INSPECT_GRADCHECK_OBJECT_H
#define MW__INSPECT_GRADCHECK_OBJECT_H

#include "base/number/random.h"
#include "inspect/gradcheck_decisions.h"

#include <math.h>
#include <millwright/gradcheck.h>
#include <stdio.h>

/* One variable on the host. */
typedef struct mw__gradcheck_variable {
    const char *name;
    size_t count;
    float *at, *moved;       /* values; the same, displaced */
    float *gradient, *there; /* at x; elsewhere */
    float *direction;
} mw__gradcheck_variable;

typedef struct mw__checker {
    const mw_gradcheck_options *options;
    mw__arena arena;
    mw_graph *graph;
    mw_tensor *y, **x, **dx;
    mw_program *forward, *reverse;
    mw__decisions decisions; /* made when a comparison asks for them */
    bool has_decisions;
    uint64_t decided; /* at x */
    mw__gradcheck_variable *variables;
    float *u, *values[4];   /* of y: at -h, h, -h/2, h/2 */
    unsigned char *touched; /* of y: elements that moved in this comparison */
    size_t y_count;
    double step, tolerance, unit, gradient_unit; /* units: the noise of y and of the gradient */
    double largest;                              /* of all gradients */
    double worst;                                /* error / allowed of the comparison in the report */
    mw__random random;
    mw_gradcheck_report report;
    mw_error *err;
} mw__checker;

/* What is compared: an element of a variable, the direction of all of its elements (MW__CHECK_ALONG), or (NULL) that of
 * all variables. */
typedef struct mw__gradcheck_place {
    mw__gradcheck_variable *of;
    size_t index;
} mw__gradcheck_place;

#define MW__CHECK_ALONG SIZE_MAX

static inline bool mw__gradcheck_is_element(const mw__gradcheck_place *p)
{
    return p->of != NULL && p->index != MW__CHECK_ALONG;
}

/* By how much an element moves along its direction for a step h. */
double mw__gradcheck_displacement(const mw__gradcheck_variable *v, size_t i, double h);

/* What differences say of a derivative. */
typedef struct mw__gradcheck_slope {
    double value, noise;
    bool settled; /* two step sizes agree */
} mw__gradcheck_slope;

/* x + h in the ports of a program; the variables' own values again. */
mw_status mw__gradcheck_write_moved(mw__checker *c, mw_program *program, const mw__gradcheck_place *p, double h);
mw_status mw__gradcheck_restore(mw__checker *c, mw_program *program);

/* y at x + h, into `out`. */
mw_status mw__gradcheck_evaluate(mw__checker *c, const mw__gradcheck_place *p, double h, float *out);

/* Makes `decisions`, once. */
mw_status mw__gradcheck_prepare_decisions(mw__checker *c);

/* The derivative at a place, by steps that may cross kinks. */
mw_status mw__gradcheck_differentiate(mw__checker *c, const mw__gradcheck_place *p, mw__gradcheck_slope *out);

/* The same by the largest steps that cross none; not settled if there are none. As it was, if the graph has no kinks.
 */
mw_status mw__gradcheck_differentiate_between(mw__checker *c, const mw__gradcheck_place *p, mw__gradcheck_slope *out);

/* The means of the derivative along a direction over those parts of a path through x that cross no kink: by differences
 * in *out, by the gradient there in *out_analytic. Not settled if there are none. */
mw_status mw__gradcheck_follow(mw__checker *c, const mw__gradcheck_place *p, mw__gradcheck_slope *out,
                               double *out_analytic);

/* What a gradient is called in its program. */
const char *mw__gradcheck_gradient_name(size_t index, char *buffer, size_t size);

#endif
