/* Compiling a case, feeding it every size, comparing. */
#include "base/number/fp16.h"
#include "graph/ir/ir.h"
#include "large_inputs.h"
#include "support/check.h"

#include <stdlib.h>

enum { PATTERNS = 2 };

const large_case *large_case_at(size_t index)
{
    const large_group *const groups[] = {&large_functions, &large_layers, &large_losses};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        if (index < groups[g]->count)
            return &groups[g]->cases[index];
        index -= groups[g]->count;
    }
    return NULL;
}

/* ---- numbers ---- */

/* Of the size 2^k, with signs and mantissas by turns; by the second pattern one in seven, among ones. */
static double element(const large_case *c, int k, int pattern, int i)
{
    static const double mantissas[] = {1.0, 1.45, 1.2, 1.999, 1.0625};
    const double sign = i * 7 % 11 < 5 ? -1.0 : 1.0, mantissa = mantissas[i % 5];
    const double size = ldexp(mantissa, pattern == 1 && i % 7 != 3 ? -1 : k);
    const double x = c->positive ? size : sign * size;
    return (double)mw__fp16_to_float(mw__fp16_from_double(fabs(x) < c->lowest ? copysign(c->lowest, x) : x));
}

static void evaluate(const large_case *c, const double *x, double *y)
{
    for (int i = 0; c->function != NULL && i < LARGE_X; i++)
        y[i] = c->function(x[i]);
    if (c->formula != NULL)
        c->formula(x, y);
}

static double weight_of(int i)
{
    static const double weights[] = {1.0, -0.5, 0.75, 1.25, -1.0, 0.5, -1.5};
    return weights[i % 7];
}

/* Of the weighted sum of the results, by differences of each, as of their sum the large ones would leave nothing of the
 * small. */
static void slopes(const large_case *c, const double *x, size_t count, double *dx)
{
    double moved[LARGE_X];
    memcpy(moved, x, sizeof moved);
    for (int i = 0; i < LARGE_X; i++) {
        double above[LARGE_X] = {0}, below[LARGE_X] = {0};
        const double step = 1e-4 * (c->step > 0 ? fmax(fabs(x[i]), c->step) : 1.0);
        moved[i] = x[i] + step;
        evaluate(c, moved, above);
        moved[i] = x[i] - step;
        evaluate(c, moved, below);
        moved[i] = x[i];
        dx[i] = 0;
        for (size_t k = 0; k < count; k++)
            if (above[k] != below[k] || isinf(above[k])) /* NaN where it is beyond fp64 */
                dx[i] += weight_of((int)k) * (above[k] - below[k]) / (2 * step);
    }
}

/* ---- programs ---- */

typedef struct sweep {
    const large_case *c;
    mw_graph *graph;
    mw_program *program;
    size_t results; /* of y */
    bool slope, table;
} sweep;

/* The gradient as a trainer writes it for the ANE. */
static mw_tensor *gradient(mw_tensor *x, mw_tensor *y, mw_error *err)
{
    float weights[LARGE_X];
    mw_tensor *dx = NULL;
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(y));
    for (size_t i = 0; i < count; i++)
        weights[i] = (float)weight_of((int)i);
    mw_tensor_graph(x)->lowering = MW__LOWERING_DECOMPOSED;
    mw_tensor_graph(x)->stage = MW__STEP_BACKWARD;
    mw_tensor *u = mw_constant(mw_tensor_graph(x), MW_F32, mw_tensor_shape(y), weights);
    mw_vjp(&y, &u, 1, &x, 1, &dx, err);
    return dx;
}

static void sweep_begin(sweep *s, const char *profile, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_ANE;
    options.provider = MW_PROVIDER_ENGINE;
    options.profile = profile;
    options.threads = 1;
    s->graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(s->graph, "x", MW_F32, MW_SHAPE(LARGE_N, LARGE_C, 3, 4)), *y = s->c->make(x);
    s->results = y != NULL ? (size_t)mw_shape_count(mw_tensor_shape(y)) : 0;
    if (mw_graph_check(s->graph, err) == MW_OK)
        mw_output(s->slope ? gradient(x, y, err) : y, "y");
    s->program = err->status == MW_OK ? mw_program_create(s->graph, &options, err) : NULL;
}

static void sweep_end(sweep *s)
{
    mw_program_destroy(s->program);
    mw_graph_destroy(s->graph);
}

static void run_program(const sweep *s, const double *x, float *y, mw_error *err)
{
    float fed[LARGE_X];
    for (int i = 0; i < LARGE_X; i++)
        fed[i] = (float)x[i];
    mw_program_write(s->program, "x", MW_F32, fed, LARGE_X, err);
    mw_program_run(s->program, err);
    mw_program_read(s->program, "y", MW_F32, y, s->slope ? LARGE_X : s->results, err);
}

/* ---- comparing ---- */

static large_bound bound_of(const sweep *s)
{
    const large_case *c = s->c;
    if (s->slope)
        return c->slope.relative > 0 ? c->slope : (large_bound){0x1p-6, 0x1p-18};
    return s->table && (c->table.relative > 0 || c->table.absolute > 0) ? c->table : c->bound;
}

/* What rounds to infinity must be that, or as near as products of 32768 and more are (they are infinite on the chip);
 * all else lies within the bound, and half a unit of fp16. */
static bool is_right(double got, double wanted, large_bound bound, double scale)
{
    if (fabs(wanted) >= 65520.0)
        return fabs(got) >= 65000.0 && (got > 0) == (wanted > 0);
    const double allowed = (bound.relative + 0x1p-11) * scale + bound.absolute + 0x1p-24;
    return fabs(got - wanted) <= allowed ||
           (fabs(wanted) + allowed >= 65520.0 && isinf(got) && (got > 0) == (wanted > 0));
}

static void compare(const sweep *s, const double *x, const float *got, large_found *found)
{
    double wanted[LARGE_X] = {0}, largest = 0;
    const size_t count = s->slope ? LARGE_X : s->results;
    if (s->slope)
        slopes(s->c, x, s->results, wanted);
    else
        evaluate(s->c, x, wanted);
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(wanted[i]));
    for (size_t i = 0; i < count && !found->wrong; i++)
        if (wanted[i] == wanted[i] &&
            !is_right((double)got[i], wanted[i], bound_of(s), s->slope ? largest : fabs(wanted[i])))
            *found = (large_found){.wrong = true, .x = x[i], .got = (double)got[i], .wanted = wanted[i]};
}

static bool has_warning(const mw_program *program)
{
    mw_warning warning;
    bool any = false;
    for (size_t i = 0; mw_program_warning_at(program, i, &warning); i++)
        any = any || warning.count == 0;
    return any;
}

bool large_sweep(const large_case *c, const char *profile, bool slope, large_found found[LARGE_SIZES])
{
    mw_error err = {0};
    sweep s = {.c = c, .slope = slope, .table = strcmp(profile, "h17") != 0};
    memset(found, 0, LARGE_SIZES * sizeof *found);
    sweep_begin(&s, profile, &err);
    for (int k = LARGE_FIRST; s.program != NULL && k <= LARGE_LAST; k++) {
        large_found *here = &found[k - LARGE_FIRST];
        for (int pattern = 0; pattern < PATTERNS && !here->wrong; pattern++) {
            double x[LARGE_X];
            float y[LARGE_X];
            for (int i = 0; i < LARGE_X; i++)
                x[i] = element(c, k, pattern, i);
            run_program(&s, x, y, &err);
            compare(&s, x, y, here);
        }
        here->warned = has_warning(s.program);
    }
    sweep_end(&s);
    return check_note(err.status == MW_OK, __FILE__, __LINE__, "%s on %s: %s", c->name, profile, err.message);
}
