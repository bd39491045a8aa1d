/* Gradients against differences on the device itself: two programs from one copy of the graph, y alone and its
 * gradient. It knows no rules; how rules are checked in double is the tests' concern. */
#include "base/float_mode.h"
#include "base/random.h"
#include "base/shown.h"
#include "graph/transform/flatten.h"
#include "runtime/feed.h"

#include <float.h>
#include <math.h>
#include <millwright/autograd.h>
#include <millwright/gradcheck.h>
#include <millwright/op_elementwise.h>
#include <stdio.h>
#include <string.h>

enum { HALVINGS = 4 };

mw_gradcheck_options mw_gradcheck_defaults(mw_tensor *y, mw_tensor *const *x, size_t count)
{
    return (mw_gradcheck_options){.struct_size = sizeof(mw_gradcheck_options),
                                  .y = y,
                                  .x = x,
                                  .count = count,
                                  .elements = 64,
                                  .directions = 4,
                                  .compile = mw_compile_defaults()};
}

/* One variable on the host. */
typedef struct variable {
    const char *name;
    size_t count;
    float *at, *moved; /* values; the same, displaced */
    float *gradient;
    float *direction;
} variable;

typedef struct checker {
    const mw_gradcheck_options *options;
    mw__arena arena;
    mw_graph *graph;
    mw_tensor *y, **x, **dx;
    mw_program *forward, *reverse;
    variable *variables;
    float *u, *values[4]; /* of y: at -h, h, -h/2, h/2 */
    size_t y_count;
    double step, tolerance, unit, gradient_unit; /* units: the noise of y and of the gradient */
    double largest;                              /* of all gradients */
    double worst;                                /* error / allowed of the comparison in the report */
    mw__random random;
    mw_gradcheck_report report;
    mw_error *err;
} checker;

/* ---- programs ---- */

static mw_status check_options(const mw_gradcheck_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gradcheck: the options were not made by mw_gradcheck_defaults");
    if (o->compile.state_of != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gradcheck: a check moves what it runs on: state_of is not for it");
    if (o->y == NULL)
        return mw__fail_null(err, "mw_gradcheck: y is NULL");
    if (o->x == NULL || o->count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gradcheck: there is no x to differentiate by");
    MW_TRY(mw_graph_check(o->y->graph, err));
    if (!(o->step >= 0.0 && o->step < 1.0) || !(o->tolerance >= 0.0) || isinf(o->tolerance))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gradcheck: step %g or tolerance %g is out of range", o->step,
                        o->tolerance);
    for (size_t i = 0; i < o->count; i++) {
        char name[MW__TENSOR_TEXT];
        if (o->x[i] == NULL)
            return mw__fail_null(err, "mw_gradcheck: x %zu is NULL", i);
        if (o->x[i]->graph != o->y->graph || o->x[i]->role == MW__VALUE)
            return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gradcheck: x %zu, %s, is no input or parameter of y's graph", i,
                            mw__tensor_print(o->x[i], name, sizeof name));
    }
    return MW_OK;
}

static mw_status copy_graph(checker *c)
{
    const mw_gradcheck_options *o = c->options;
    mw_tensor **roots = mw__arena_alloc(&c->arena, o->count + 1, sizeof(mw_tensor *), c->err);
    mw_tensor **copies = mw__arena_alloc(&c->arena, o->count + 1, sizeof(mw_tensor *), c->err);
    c->dx = mw__arena_alloc(&c->arena, o->count, sizeof(mw_tensor *), c->err);
    if (roots == NULL || copies == NULL || c->dx == NULL)
        return MW_ERROR_MEMORY;
    roots[0] = o->y;
    memcpy(roots + 1, o->x, o->count * sizeof(mw_tensor *));
    mw__flatten flatten = {0};
    const mw__clone_options how = {.rule = mw__flatten_rule,
                                   .input = mw__flatten_input,
                                   .finish = mw__flatten_finish,
                                   .user = &flatten,
                                   .roots = roots,
                                   .root_count = o->count + 1,
                                   .form = MW__CLONE_TRAINING};
    c->graph = mw__clone_graph(c->arena.allocator, o->y->graph, &how, copies, c->err);
    c->y = copies[0];
    c->x = copies + 1;
    return c->graph != NULL ? MW_OK : mw__status_or(c->err, MW_ERROR_ARGUMENT);
}

/* Random weights of y, away from 0 so that every element counts; 1 for a scalar. */
static mw_status draw_weights(checker *c)
{
    c->y_count = (size_t)mw_shape_count(mw_tensor_shape(c->y));
    c->u = mw__arena_alloc(&c->arena, c->y_count, sizeof *c->u, c->err);
    for (size_t i = 0; i < 4; i++)
        c->values[i] = mw__arena_alloc(&c->arena, c->y_count, sizeof *c->u, c->err);
    if (mw__failed(c->err))
        return c->err->status;
    for (size_t i = 0; i < c->y_count; i++) {
        const uint32_t bits = mw__random_u32(&c->random);
        const float size = 0.5F + (float)(bits >> 1 & 15) / 16.0F; /* exact in fp16 too */
        c->u[i] = c->y_count == 1 ? 1.0F : (bits & 1) != 0 ? size : -size;
    }
    return MW_OK;
}

static const char *gradient_name(size_t index, char *buffer, size_t size)
{
    snprintf(buffer, size, "gradcheck.%zu", index);
    return buffer;
}

static mw_status compile_both(checker *c)
{
    char name[48];
    const mw_dtype dtype = mw_tensor_dtype(c->y);
    mw_output(c->y, "gradcheck.y");
    c->forward = mw_compile(c->graph, &c->options->compile, c->err);
    if (c->forward == NULL)
        return mw__status_or(c->err, MW_ERROR_DEVICE);
    mw_tensor *u = mw_constant(c->graph, MW_F32, mw_tensor_shape(c->y), c->u);
    u = dtype == MW_F32 ? u : mw_cast(u, dtype);
    MW_TRY(mw_vjp(&c->y, &u, 1, c->x, c->options->count, c->dx, c->err));
    for (size_t i = 0; i < c->options->count; i++)
        mw_output(c->dx[i], gradient_name(i, name, sizeof name));
    c->reverse = mw_compile(c->graph, &c->options->compile, c->err);
    return c->reverse != NULL ? MW_OK : mw__status_or(c->err, MW_ERROR_DEVICE);
}

static mw_status feed(checker *c, mw_program *program)
{
    static const mw_batch nothing = {.feeds = NULL};
    mw__feeder feeder;
    uint64_t bytes = 0;
    MW_TRY(mw__feeder_init(&feeder, program, c->graph, NULL, NULL, c->err));
    return mw__feeder_feed(&feeder, c->options->batch != NULL ? c->options->batch : &nothing, 0, &bytes, c->err);
}

static void choose_units(checker *c)
{
    mw_port port;
    bool half = false;
    for (size_t i = 0; mw_program_port_at(c->forward, i, &port); i++)
        half = half || port.dtype == MW_F16;
    const mw_gradcheck_options *o = c->options;
    c->unit = half ? 0x1p-11 : 0x1p-24;
    c->gradient_unit = half ? 0x1p-5 : 0x1p-16;
    c->step = o->step > 0.0 ? o->step : half ? 0x1p-3 : 0x1p-6;
    c->tolerance = o->tolerance > 0.0 ? o->tolerance : half ? 5e-2 : 1e-3;
}

/* ---- values ---- */

static mw_status read_variable(checker *c, size_t index)
{
    char name[48];
    variable *v = &c->variables[index];
    v->name = mw_tensor_name(c->x[index]);
    v->count = (size_t)mw_shape_count(mw_tensor_shape(c->x[index]));
    float **parts[4] = {&v->at, &v->moved, &v->gradient, &v->direction};
    for (size_t k = 0; k < 4; k++) {
        *parts[k] = mw__arena_alloc(&c->arena, v->count, sizeof(float), c->err);
        if (*parts[k] == NULL)
            return MW_ERROR_MEMORY;
    }
    MW_TRY(mw_program_read(c->forward, v->name, MW_F32, v->at, v->count, c->err));
    memcpy(v->moved, v->at, v->count * sizeof(float));
    MW_TRY(mw_program_read(c->reverse, gradient_name(index, name, sizeof name), MW_F32, v->gradient, v->count, c->err));
    for (size_t i = 0; i < v->count; i++)
        c->largest = fmax(c->largest, fabs((double)v->gradient[i]));
    return MW_OK;
}

static mw_status prepare(checker *c)
{
    MW_TRY(copy_graph(c));
    MW_TRY(draw_weights(c));
    MW_TRY(compile_both(c));
    MW_TRY(feed(c, c->forward));
    MW_TRY(feed(c, c->reverse));
    MW_TRY(mw_run(c->reverse, c->err));
    choose_units(c);
    c->variables = mw__arena_alloc(&c->arena, c->options->count, sizeof *c->variables, c->err);
    if (c->variables == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < c->options->count; i++)
        MW_TRY(read_variable(c, i));
    return MW_OK;
}

/* ---- differences ---- */

/* What is compared: an element of a variable, or (variable == NULL) a direction. */
typedef struct place {
    variable *of;
    size_t index;
} place;

static double displacement(const variable *v, size_t i, double h) { return h * fmax(fabs((double)v->at[i]), 0.25); }

static void move(variable *v, size_t i, double by) { v->moved[i] = (float)((double)v->at[i] + by); }

/* y at x + sign h, into `out`. */
static mw_status evaluate(checker *c, const place *p, double h, float *out)
{
    for (size_t k = 0; k < c->options->count; k++) {
        variable *v = &c->variables[k];
        if (p->of != NULL && p->of != v)
            continue;
        for (size_t i = 0; p->of == NULL && i < v->count; i++)
            move(v, i, (double)v->direction[i] * displacement(v, i, h));
        if (p->of != NULL)
            move(v, p->index, displacement(v, p->index, h));
        MW_TRY(mw_program_write(c->forward, v->name, MW_F32, v->moved, v->count, c->err));
    }
    MW_TRY(mw_run(c->forward, c->err));
    return mw_program_read(c->forward, "gradcheck.y", MW_F32, out, c->y_count, c->err);
}

/* The variables' own values again. */
static mw_status restore(checker *c)
{
    for (size_t k = 0; k < c->options->count; k++) {
        variable *v = &c->variables[k];
        memcpy(v->moved, v->at, v->count * sizeof(float));
        MW_TRY(mw_program_write(c->forward, v->name, MW_F32, v->at, v->count, c->err));
    }
    return MW_OK;
}

/* By how much an element really moves from -h to h, as fp32 holds it. */
static double distance(const place *p, double h)
{
    const double by = displacement(p->of, p->index, h), at = (double)p->of->at[p->index];
    return (double)(float)(at + by) - (double)(float)(at - by);
}

/* (y(h) - y(-h)) / distance, and the noise of that: roundings of those elements of y that moved. */
static double quotient(const checker *c, const float *below, const float *above, double distance, double *out_noise)
{
    double sum = 0.0, size = 0.0;
    for (size_t i = 0; i < c->y_count; i++) {
        const double u = (double)c->u[i], a = (double)above[i], b = (double)below[i];
        sum += u * (a - b);
        size += a != b ? fabs(u) * (fabs(a) + fabs(b)) : 0.0;
    }
    *out_noise = 16.0 * c->unit * size / distance;
    return sum / distance;
}

/* The derivative at a place. *out_settled: two step sizes agree. */
static mw_status differentiate(checker *c, const place *p, double *out_slope, double *out_noise, bool *out_settled)
{
    double h = c->step;
    *out_settled = false;
    for (int i = 0; i <= HALVINGS && !*out_settled; i++, h *= 0.5) {
        double slope[2], noise[2];
        for (int k = 0; k < 2; k++) {
            const double step = k == 0 ? h : 0.5 * h;
            MW_TRY(evaluate(c, p, -step, c->values[2 * k]));
            MW_TRY(evaluate(c, p, step, c->values[2 * k + 1]));
            const double along = p->of != NULL ? distance(p, step) : 2.0 * step;
            slope[k] = quotient(c, c->values[2 * k], c->values[2 * k + 1], along, &noise[k]);
        }
        const double gap = fabs(slope[1] - slope[0]);
        *out_settled = gap <= 4.0 * c->tolerance * fabs(slope[1]) + noise[1];
        *out_slope = (4.0 * slope[1] - slope[0]) / 3.0;
        *out_noise = 2.0 * noise[1];
    }
    return restore(c);
}

/* ---- comparing ---- */

static void note(checker *c, const place *p, double analytic, double numeric, double noise)
{
    mw_gradcheck_report *r = &c->report;
    const double gap = fabs(analytic - numeric), error = isnan(gap) ? (double)INFINITY : gap;
    const double allowed = c->tolerance * fmax(fabs(analytic), fabs(numeric)) + noise;
    const double badness = error / fmax(allowed, DBL_MIN);
    r->passed = r->passed && error <= allowed;
    if (r->checked++ > 0 && badness <= c->worst)
        return;
    c->worst = badness;
    mw__shown_printf(r->tensor, sizeof r->tensor, "%s", p->of != NULL ? p->of->name : "");
    r->index = p->of != NULL ? (int64_t)p->index : -1;
    r->analytic = analytic;
    r->numeric = numeric;
    r->error = error;
    r->allowed = allowed;
}

static mw_status compare(checker *c, const place *p, double analytic, double gradient_noise)
{
    double numeric, noise;
    bool settled;
    MW_TRY(differentiate(c, p, &numeric, &noise, &settled));
    if (settled || !isfinite(analytic))
        note(c, p, analytic, numeric, noise + gradient_noise);
    else
        c->report.skipped++;
    return MW_OK;
}

/* All elements of a small variable, else some drawn ones. */
static mw_status compare_elements(checker *c, variable *v)
{
    const size_t most = c->options->elements, count = v->count < most ? v->count : most;
    for (size_t i = 0; i < count; i++) {
        const size_t index = v->count <= most ? i : (size_t)mw__random_below(&c->random, v->count);
        MW_TRY(compare(c, &(const place){v, index}, (double)v->gradient[index], c->gradient_unit * c->largest));
    }
    return MW_OK;
}

/* d (u y) / dt for x + t max(|x|, 1/4) direction. */
static mw_status compare_direction(checker *c)
{
    double analytic = 0.0, squares = 0.0;
    for (size_t k = 0; k < c->options->count; k++) {
        variable *v = &c->variables[k];
        for (size_t i = 0; i < v->count; i++) {
            v->direction[i] = 2.0F * mw__random_uniform(&c->random) - 1.0F;
            const double term = (double)v->gradient[i] * (double)v->direction[i] * displacement(v, i, 1.0);
            analytic += term;
            squares += term * term;
        }
    }
    /* the roundings of displaced elements, and of gradients, add up like a random walk */
    return compare(c, &(const place){NULL, 0}, analytic, (c->tolerance + c->gradient_unit) * sqrt(squares));
}

static mw_status compare_all(checker *c)
{
    for (size_t i = 0; i < c->options->count; i++)
        MW_TRY(compare_elements(c, &c->variables[i]));
    for (size_t i = 0; i < c->options->directions; i++)
        MW_TRY(compare_direction(c));
    const mw_gradcheck_report *r = &c->report;
    if (r->checked == 0)
        return mw__fail(
            c->err, MW_ERROR_NUMERIC,
            "mw_gradcheck: nothing could be compared: %zu differences do not settle (kinks, or a step too large)",
            r->skipped);
    if (r->passed)
        return MW_OK;
    char where[160] = "a random direction";
    if (r->index >= 0)
        mw__shown_printf(where, sizeof where, "\"%s\" element %lld", r->tensor, (long long)r->index);
    return mw__fail(c->err, MW_ERROR_NUMERIC,
                    "mw_gradcheck: %s: gradient %.7g, by differences %.7g; %.3g apart, %.3g allowed", where,
                    r->analytic, r->numeric, r->error, r->allowed);
}

mw_status mw_gradcheck(const mw_gradcheck_options *options, mw_gradcheck_report *out_report, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error local = {0};
    err = err != NULL ? err : &local;
    if (out_report != NULL)
        *out_report = (mw_gradcheck_report){.index = -1};
    if (mw__skips(err))
        return err->status;
    MW_TRY(check_options(options, err));
    checker c = {
        .options = options, .random = {.seed = options->seed}, .report = {.passed = true, .index = -1}, .err = err};
    mw__arena_init(&c.arena, mw__allocator_or_default(options->compile.allocator));
    mw_status status = prepare(&c);
    if (status == MW_OK)
        status = compare_all(&c);
    c.report.passed = status == MW_OK;
    if (out_report != NULL)
        *out_report = c.report;
    mw_program_destroy(c.reverse);
    mw_program_destroy(c.forward);
    mw__graph_free(c.graph);
    mw__arena_deinit(&c.arena);
    return status;
}
