/* A gradient followed along a path through x: what y gains over a part is the integral of the gradient there. With many
 * kinks near x no step from x is short enough; but between two kinks on the way there is room. */
#include "inspect/gradcheck_object.h"

/* Parts of a path, and how often it is cut to an eighth until some of them cross no kink. */
enum { PARTS = 12, CUTS = 5 };

/* Where the gradient is read in a part of length 1, before and after its middle: Gauss's two points, whose error is of
 * the fourth order. */
static const double gauss = 0.28867513459481287;

typedef struct path {
    double h;           /* from -h to h */
    bool smooth[PARTS]; /* the part crosses no kink */
    int count;          /* of those parts */
    double gain, noise; /* of y over them */
    double slope;       /* by the gradient: the mean over them */
} path;

static double end_of(const path *q, double part) { return q->h * (2.0 * part / PARTS - 1.0); }

static mw_status decide(mw__checker *c, const mw__gradcheck_place *p, double t, uint64_t *out)
{
    uint64_t decided = 0;
    if (c->decisions.program != NULL) {
        MW_TRY(mw__gradcheck_write_moved(c, c->decisions.program, p, t));
        MW_TRY(mw__decisions_read(&c->decisions, &decided, c->err));
    }
    *out = decided;
    return MW_OK;
}

/* Those at whose ends and middle all is decided alike. */
static mw_status find_parts(mw__checker *c, const mw__gradcheck_place *p, path *q)
{
    uint64_t before = 0, middle = 0, after = 0;
    MW_TRY(decide(c, p, end_of(q, 0.0), &before));
    for (int k = 0; k < PARTS; k++, before = after) {
        MW_TRY(decide(c, p, end_of(q, k + 1.0), &after));
        if (before != after)
            continue;
        MW_TRY(decide(c, p, end_of(q, k + 0.5), &middle));
        q->smooth[k] = before == middle;
        q->count += q->smooth[k] ? 1 : 0;
    }
    return MW_OK;
}

/* u y at x + t. */
static mw_status weigh_y(mw__checker *c, const mw__gradcheck_place *p, double t, double *out, double *out_size)
{
    double size = 0.0;
    MW_TRY(mw__gradcheck_evaluate(c, p, t, c->values[0]));
    *out = 0.0;
    for (size_t i = 0; i < c->y_count; i++) {
        const double own = (double)c->u[i] * (double)c->values[0][i];
        *out += own;
        size += c->touched[i] != 0 ? fabs(own) : 0.0;
    }
    *out_size = size > 0.0 ? size : fabs(*out);
    return MW_OK;
}

/* Over each run of smooth parts. */
static mw_status measure_gain(mw__checker *c, const mw__gradcheck_place *p, path *q)
{
    for (int first = 0, end; first < PARTS; first = end + 1) {
        double below = 0.0, above = 0.0, size[2] = {0.0, 0.0};
        for (end = first; end < PARTS && q->smooth[end]; end++) {
        }
        if (end == first)
            continue;
        MW_TRY(weigh_y(c, p, end_of(q, first), &below, &size[0]));
        MW_TRY(weigh_y(c, p, end_of(q, end), &above, &size[1]));
        q->gain += above - below;
        q->noise += 16.0 * c->unit * (size[0] + size[1]);
    }
    return MW_OK;
}

/* The derivative along the direction by the gradient at x + t. */
static mw_status read_gradient(mw__checker *c, const mw__gradcheck_place *p, double t, double *out)
{
    char name[48];
    *out = 0.0;
    MW_TRY(mw__gradcheck_write_moved(c, c->reverse, p, t));
    MW_TRY(mw_program_run(c->reverse, c->err));
    for (size_t k = 0; k < c->options->count; k++) {
        const mw__gradcheck_variable *v = &c->variables[k];
        if (p->of != NULL && p->of != v)
            continue;
        MW_TRY(mw_program_read(c->reverse, mw__gradcheck_gradient_name(k, name, sizeof name), MW_F32, v->there,
                               v->count, c->err));
        for (size_t i = 0; i < v->count; i++)
            *out += (double)v->there[i] * (double)v->direction[i] * mw__gradcheck_displacement(v, i, 1.0);
    }
    return MW_OK;
}

static mw_status read_slopes(mw__checker *c, const mw__gradcheck_place *p, path *q)
{
    for (int k = 0; k < PARTS; k++) {
        double before = 0.0, after = 0.0;
        if (!q->smooth[k])
            continue;
        MW_TRY(read_gradient(c, p, end_of(q, k + 0.5 - gauss), &before));
        MW_TRY(read_gradient(c, p, end_of(q, k + 0.5 + gauss), &after));
        q->slope += (before + after) / (2.0 * q->count);
    }
    return MW_OK;
}

mw_status mw__gradcheck_follow(mw__checker *c, const mw__gradcheck_place *p, mw__gradcheck_slope *out,
                               double *out_analytic)
{
    path q = {.count = 0};
    *out = (mw__gradcheck_slope){.settled = false};
    MW_TRY(mw__gradcheck_prepare_decisions(c));
    for (int i = 0; i < CUTS && q.count == 0; i++) {
        q = (path){.h = ldexp(fmin(8.0 * c->step, 0.25), -3 * i)};
        MW_TRY(find_parts(c, p, &q));
    }
    if (q.count > 0) {
        const double length = 2.0 * q.h / PARTS * q.count;
        MW_TRY(measure_gain(c, p, &q));
        MW_TRY(read_slopes(c, p, &q));
        *out = (mw__gradcheck_slope){.value = q.gain / length, .noise = q.noise / length, .settled = true};
        *out_analytic = q.slope;
    }
    if (c->decisions.program != NULL)
        MW_TRY(mw__gradcheck_restore(c, c->decisions.program));
    MW_TRY(mw__gradcheck_restore(c, c->reverse));
    return mw__gradcheck_restore(c, c->forward);
}
