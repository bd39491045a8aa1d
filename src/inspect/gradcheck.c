/* Gradients against differences on the device itself: two programs from one copy of the graph, y alone and its
 * gradient. It knows no rules; how rules are checked in double is the tests' concern. */
#include "base/number/float_mode.h"
#include "base/number/random.h"
#include "base/text/printable.h"
#include "graph/transform/flatten/flatten.h"
#include "inspect/gradcheck_object.h"
#include "runtime/program/feed.h"

#include <float.h>
#include <math.h>
#include <millwright/autograd.h>
#include <millwright/gradcheck.h>
#include <millwright/op_elementwise.h>
#include <stdio.h>
#include <string.h>

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

/* ---- programs ---- */

static mw_status check_options(const mw_gradcheck_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gradcheck_run: the options were not made by mw_gradcheck_defaults");
    if (o->compile.share.trainer != NULL || o->compile.share.program != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gradcheck_run: a check moves what it runs on: `%s` is not for it",
                        o->compile.share.trainer != NULL ? "compile.share.trainer" : "compile.share.program");
    if (o->y == NULL)
        return mw__fail_null(err, "mw_gradcheck_run: y is NULL");
    if (o->x == NULL || o->count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gradcheck_run: there is no x to differentiate by");
    MW_TRY(mw_graph_check(o->y->graph, err));
    if (!(o->step >= 0.0 && o->step < 1.0) || !(o->tolerance >= 0.0) || isinf(o->tolerance))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gradcheck_run: step %g or tolerance %g is out of range", o->step,
                        o->tolerance);
    for (size_t i = 0; i < o->count; i++) {
        char name[MW__TENSOR_TEXT];
        if (o->x[i] == NULL)
            return mw__fail_null(err, "mw_gradcheck_run: x %zu is NULL", i);
        if (o->x[i]->graph != o->y->graph || o->x[i]->role == MW__VALUE)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "mw_gradcheck_run: x %zu, %s, is no input or parameter of y's graph", i,
                            mw__tensor_print(o->x[i], name, sizeof name));
    }
    return MW_OK;
}

static mw_status copy_graph(mw__checker *c)
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
static mw_status draw_weights(mw__checker *c)
{
    c->y_count = (size_t)mw_shape_count(mw_tensor_shape(c->y));
    c->u = mw__arena_alloc(&c->arena, c->y_count, sizeof *c->u, c->err);
    c->touched = mw__arena_alloc(&c->arena, c->y_count, 1, c->err);
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

const char *mw__gradcheck_gradient_name(size_t index, char *buffer, size_t size)
{
    snprintf(buffer, size, "gradcheck.%zu", index);
    return buffer;
}

static mw_status compile_both(mw__checker *c)
{
    char name[48];
    const mw_dtype dtype = mw_tensor_dtype(c->y);
    mw_output(c->y, "gradcheck.y");
    c->forward = mw_program_create(c->graph, &c->options->compile, c->err);
    if (c->forward == NULL)
        return mw__status_or(c->err, MW_ERROR_DEVICE);
    mw_tensor *u = mw_constant(c->graph, MW_F32, mw_tensor_shape(c->y), c->u);
    u = dtype == MW_F32 ? u : mw_cast(u, dtype);
    MW_TRY(mw_vjp(&c->y, &u, 1, c->x, c->options->count, c->dx, c->err));
    for (size_t i = 0; i < c->options->count; i++)
        mw_output(c->dx[i], mw__gradcheck_gradient_name(i, name, sizeof name));
    c->reverse = mw_program_create(c->graph, &c->options->compile, c->err);
    return c->reverse != NULL ? MW_OK : mw__status_or(c->err, MW_ERROR_DEVICE);
}

static mw_status feed(mw__checker *c, mw_program *program)
{
    static const mw_batch nothing = {.feeds = NULL};
    mw__feeder feeder;
    uint64_t bytes = 0;
    MW_TRY(mw__feeder_init(&feeder, program, c->graph, NULL, NULL, c->err));
    return mw__feeder_feed(&feeder, c->options->batch != NULL ? c->options->batch : &nothing, 0, &bytes, c->err);
}

static void choose_units(mw__checker *c)
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

static mw_status read_variable(mw__checker *c, size_t index)
{
    char name[48];
    mw__gradcheck_variable *v = &c->variables[index];
    v->name = mw_tensor_name(c->x[index]);
    v->count = (size_t)mw_shape_count(mw_tensor_shape(c->x[index]));
    float **parts[5] = {&v->at, &v->moved, &v->gradient, &v->there, &v->direction};
    for (size_t k = 0; k < 5; k++) {
        *parts[k] = mw__arena_alloc(&c->arena, v->count, sizeof(float), c->err);
        if (*parts[k] == NULL)
            return MW_ERROR_MEMORY;
    }
    MW_TRY(mw_program_read(c->forward, v->name, MW_F32, v->at, v->count, c->err));
    memcpy(v->moved, v->at, v->count * sizeof(float));
    MW_TRY(mw_program_read(c->reverse, mw__gradcheck_gradient_name(index, name, sizeof name), MW_F32, v->gradient,
                           v->count, c->err));
    for (size_t i = 0; i < v->count; i++)
        c->largest = fmax(c->largest, fabs((double)v->gradient[i]));
    return MW_OK;
}

static mw_status prepare_checker(mw__checker *c)
{
    MW_TRY(copy_graph(c));
    MW_TRY(draw_weights(c));
    MW_TRY(compile_both(c));
    MW_TRY(feed(c, c->forward));
    MW_TRY(feed(c, c->reverse));
    MW_TRY(mw_program_run(c->reverse, c->err));
    choose_units(c);
    c->variables = mw__arena_alloc(&c->arena, c->options->count, sizeof *c->variables, c->err);
    if (c->variables == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < c->options->count; i++)
        MW_TRY(read_variable(c, i));
    return MW_OK;
}

/* ---- comparing ---- */

static void note_place(mw__checker *c, const mw__gradcheck_place *p, double analytic, double numeric, double allowed)
{
    mw_gradcheck_report *r = &c->report;
    const double gap = fabs(analytic - numeric), error = isnan(gap) ? (double)INFINITY : gap;
    const double badness = error / fmax(allowed, DBL_MIN);
    r->passed = r->passed && error <= allowed;
    if (r->checked++ > 0 && badness <= c->worst)
        return;
    c->worst = badness;
    mw__printable_printf(r->tensor, sizeof r->tensor, "%s", p->of != NULL ? p->of->name : "");
    r->index = mw__gradcheck_is_element(p) ? (int64_t)p->index : -1;
    r->analytic = analytic;
    r->numeric = numeric;
    r->error = error;
    r->allowed = allowed;
}

static double allowed_error(const mw__checker *c, double analytic, const mw__gradcheck_slope *numeric,
                            double gradient_noise)
{
    return c->tolerance * fmax(fabs(analytic), fabs(numeric->value)) + numeric->noise + gradient_noise;
}

/* A comparison that roundings decide says nothing. */
static bool tells(double share, double analytic, const mw__gradcheck_slope *numeric)
{
    return numeric->noise <= share * fmax(fabs(analytic), fabs(numeric->value));
}

/* Kinks are looked for where the two do not agree; elsewhere the step crosses none, or none that matters. */
static mw_status compare_slopes(mw__checker *c, const mw__gradcheck_place *p, double analytic, double gradient_noise)
{
    mw__gradcheck_slope numeric;
    MW_TRY(mw__gradcheck_differentiate(c, p, &numeric));
    bool counts = numeric.settled || !isfinite(analytic);
    const bool agrees =
        numeric.settled && fabs(analytic - numeric.value) <= allowed_error(c, analytic, &numeric, gradient_noise);
    if (isfinite(analytic) && mw__gradcheck_is_element(p) && !agrees) {
        MW_TRY(mw__gradcheck_differentiate_between(c, p, &numeric));
        counts = numeric.settled && (c->decisions.program == NULL || tells(0.25, analytic, &numeric));
    } else if (isfinite(analytic) && !mw__gradcheck_is_element(p) && !(agrees && tells(0.1, analytic, &numeric))) {
        MW_TRY(mw__gradcheck_follow(c, p, &numeric, &analytic));
        counts = numeric.settled;
    }
    if (counts)
        note_place(c, p, analytic, numeric.value, allowed_error(c, analytic, &numeric, gradient_noise));
    else
        c->report.skipped++;
    return MW_OK;
}

/* All elements of a small variable, else some drawn ones. */
static mw_status compare_elements(mw__checker *c, mw__gradcheck_variable *v)
{
    const size_t most = c->options->elements, count = v->count < most ? v->count : most;
    for (size_t i = 0; i < count; i++) {
        const size_t index = v->count <= most ? i : (size_t)mw__random_below(&c->random, v->count);
        MW_TRY(compare_slopes(c, &(const mw__gradcheck_place){v, index}, (double)v->gradient[index],
                              c->gradient_unit * c->largest));
    }
    return MW_OK;
}

/* All elements of a variable at once, each by the sign of its gradient: a factor that is wrong shows here where single
 * elements are lost in the roundings of y. */
static mw_status compare_along(mw__checker *c, mw__gradcheck_variable *v)
{
    double analytic = 0.0, squares = 0.0, way = 0.0, way_squares = 0.0;
    for (size_t i = 0; i < v->count; i++) {
        const double gradient = (double)v->gradient[i], scale = mw__gradcheck_displacement(v, i, 1.0);
        v->direction[i] = gradient < 0.0 ? -1.0F : 1.0F;
        analytic += fabs(gradient) * scale;
        squares += gradient * gradient * scale * scale;
        way += scale;
        way_squares += scale * scale;
    }
    /* a gradient that is nothing but roundings adds up in full, and these are a sixteenth of what is allowed for one */
    const double roundings = c->gradient_unit * c->largest * fmax(sqrt(way_squares), way / 16.0);
    return compare_slopes(c, &(const mw__gradcheck_place){v, MW__CHECK_ALONG}, analytic,
                          c->tolerance * sqrt(squares) + roundings);
}

/* d (u y) / dt for x + t max(|x|, 1/4) direction. */
static mw_status compare_direction(mw__checker *c)
{
    double analytic = 0.0, squares = 0.0;
    for (size_t k = 0; k < c->options->count; k++) {
        mw__gradcheck_variable *v = &c->variables[k];
        for (size_t i = 0; i < v->count; i++) {
            v->direction[i] = 2.0F * mw__random_uniform(&c->random) - 1.0F;
            const double term =
                (double)v->gradient[i] * (double)v->direction[i] * mw__gradcheck_displacement(v, i, 1.0);
            analytic += term;
            squares += term * term;
        }
    }
    /* the roundings of displaced elements, and of gradients, add up like a random walk */
    return compare_slopes(c, &(const mw__gradcheck_place){NULL, 0}, analytic,
                          (c->tolerance + c->gradient_unit) * sqrt(squares));
}

static mw_status compare_all(mw__checker *c)
{
    for (size_t i = 0; i < c->options->count; i++)
        MW_TRY(compare_elements(c, &c->variables[i]));
    for (size_t i = 0; i < c->options->count && c->options->directions > 0; i++)
        MW_TRY(compare_along(c, &c->variables[i]));
    for (size_t i = 0; i < c->options->directions; i++)
        MW_TRY(compare_direction(c));
    const mw_gradcheck_report *r = &c->report;
    if (r->checked == 0)
        return mw__fail(
            c->err, MW_ERROR_NUMERIC,
            "mw_gradcheck_run: nothing could be compared: %zu differences do not settle (kinks, or a step too large)",
            r->skipped);
    if (r->passed)
        return MW_OK;
    char where[160] = "a random direction";
    if (r->index >= 0)
        mw__printable_printf(where, sizeof where, "\"%s\" element %lld", r->tensor, (long long)r->index);
    else if (r->tensor[0] != '\0')
        mw__printable_printf(where, sizeof where, "\"%s\" along its gradient", r->tensor);
    return mw__fail(c->err, MW_ERROR_NUMERIC,
                    "mw_gradcheck_run: %s: gradient %.7g, by differences %.7g; %.3g apart, %.3g allowed", where,
                    r->analytic, r->numeric, r->error, r->allowed);
}

mw_status mw_gradcheck_run(const mw_gradcheck_options *options, mw_gradcheck_report *out_report, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error local = {0};
    err = err != NULL ? err : &local;
    if (out_report != NULL)
        *out_report = (mw_gradcheck_report){.index = -1};
    if (mw__skips(err))
        return err->status;
    MW_TRY(check_options(options, err));
    mw__checker c = {
        .options = options, .random = {.seed = options->seed}, .report = {.passed = true, .index = -1}, .err = err};
    mw__arena_init(&c.arena, mw__allocator_or_default(options->compile.allocator));
    mw_status status = prepare_checker(&c);
    if (status == MW_OK)
        status = compare_all(&c);
    c.report.passed = status == MW_OK;
    if (out_report != NULL)
        *out_report = c.report;
    mw__decisions_deinit(&c.decisions);
    mw_program_destroy(c.reverse);
    mw_program_destroy(c.forward);
    mw__graph_free(c.graph);
    mw__arena_deinit(&c.arena);
    return status;
}
