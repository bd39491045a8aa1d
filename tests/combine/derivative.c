/* Checks of a net alone: as it is against flattened, the gradient against differences, the Hessian against itself. */
#include "case.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLES = 96 };

/* A net with its loss, flattened or not, and what it can be differentiated by. */
typedef struct whole {
    mw_graph *graph;
    mw_tensor *loss, *x[VARIABLES];
    size_t count;
} whole;

static void add_variable(whole *w, const char *name)
{
    mw_tensor *found = mw_graph_find(w->graph, name);
    if (found != NULL && mw_tensor_dtype(found) == MW_F32 && w->count < VARIABLES)
        w->x[w->count++] = found;
}

/* Only blocks want a flattened copy. */
static bool has_blocks(const net *n)
{
    return net_has(n, NET_LOOP) || net_has(n, NET_WHILE) || net_has(n, NET_COND) || net_has(n, NET_LIST);
}

static whole make(const net *n, bool flat, mw_error *err)
{
    const net_form form = {0};
    whole w = {.graph = net_build(n, &form, err)};
    if (w.graph == NULL)
        return w;
    mw_output(net_add_loss(n, mw_graph_output_at(w.graph, 0)), "loss");
    mw_graph *built = w.graph;
    if (flat && has_blocks(n)) {
        w.graph = mw_graph_flatten(built, err);
        mw_graph_destroy(built);
    }
    w.loss = mw_graph_find(w.graph, "loss");
    mw_weight weights[VARIABLES];
    size_t count = 0;
    mw_graph_weights(w.graph, weights, VARIABLES, &count, err);
    for (size_t i = 0; i < count && i < VARIABLES; i++)
        if (weights[i].is_parameter)
            add_variable(&w, weights[i].name);
    add_variable(&w, "x");
    add_variable(&w, "t");
    return w;
}

static mw_program *compile_plain(const mw_graph *graph, mw_error *err)
{
    setting_begin("MW_ENGINE_FUSE", "0");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, err);
    setting_end("MW_ENGINE_FUSE");
    return program;
}

static void feed(const net *n, mw_program *program, mw_error *err)
{
    net_feeds f;
    net_feed(&f, n, n->examples, 9);
    for (size_t i = 0; i < f.batch.feed_count; i++)
        mw_program_write(program, f.feeds[i].name, f.feeds[i].dtype, f.feeds[i].data, f.feeds[i].count, err);
}

/* ---- as it is ---- */

static void results_of(const net *n, bool flat, float out[64], mw_error *err)
{
    whole w = make(n, flat, err);
    mw_program *program = w.graph != NULL ? compile_plain(w.graph, err) : NULL;
    feed(n, program, err);
    mw_program_run(program, err);
    mw_program_read(program, "z", MW_F32, out + 1, (size_t)(n->examples * NET_CLASSES), err);
    mw_program_read(program, "loss", MW_F32, out, 1, err);
    mw_program_destroy(program);
    mw_graph_destroy(w.graph);
}

static bool alike(const char *what, const float *a, const float *b, int count, char why[CASE_WHY])
{
    const double tolerance = option_row_of(OPTION_NATIVE)->tolerance;
    for (int i = 0; i < count; i++)
        if (!(fabs((double)a[i] - (double)b[i]) <= tolerance * (1.0 + fabs((double)a[i])))) {
            snprintf(why, CASE_WHY, "%s: value %d is %.9g as it is, %.9g flattened", what, i, (double)a[i],
                     (double)b[i]);
            return false;
        }
    return true;
}

/* The form of after the training, as it is and as a trainer has it. */
static bool check_evaluation(const net *n, mw_error *err, char why[CASE_WHY])
{
    const net_form form = {0};
    const int count = n->examples * NET_CLASSES;
    float native[64] = {0}, flat[64] = {0};
    net_feeds f;
    net_feed(&f, n, n->examples, 9);
    mw_graph *built = net_build(n, &form, err), *after = built != NULL ? mw_graph_evaluation(built, err) : NULL;
    mw_program *program = after != NULL ? compile_plain(after, err) : NULL;
    mw_program_write(program, "x", MW_F32, f.x, f.feeds[0].count, err);
    if (net_has(n, NET_EMBED))
        mw_program_write(program, "tokens", MW_I32, f.tokens, f.feeds[2].count, err);
    mw_program_run(program, err);
    mw_program_read(program, "z", MW_F32, native, (size_t)count, err);
    mw_program_destroy(program);
    mw_graph_destroy(after);
    if (built != NULL) {
        mw_tensor *z = mw_graph_output_at(built, 0);
        mw_trainer_options o = mw_trainer_defaults(net_add_loss(n, z), mw_sgd(0.1F));
        o.compile = engine_options(MW_DEVICE_CPU, 1);
        o.prediction = z;
        mw_trainer *trainer = mw_trainer_create(&o, err);
        mw_trainer_predict(trainer, &f.batch, MW_F32, flat, (size_t)count, err);
        mw_trainer_destroy(trainer);
    }
    mw_graph_destroy(built);
    return err->status != MW_OK || alike("evaluation", native, flat, count, why);
}

bool check_native(const net *n, mw_error *err, char why[CASE_WHY])
{
    float native[64] = {0}, flat[64] = {0};
    results_of(n, false, native, err);
    results_of(n, true, flat, err);
    if (err->status == MW_OK && !alike("loss and result", native, flat, 1 + n->examples * NET_CLASSES, why))
        return false;
    return net_has(n, NET_NOISE) || check_evaluation(n, err, why);
}

/* ---- the gradient ---- */

static size_t elements(const mw_tensor *x) { return (size_t)mw_shape_count(mw_tensor_shape(x)); }

/* Sum over all variables of the output `prefix`i times directions of a stream. */
static double along(mw_program *program, const whole *w, const char *prefix, uint64_t stream, double *size,
                    mw_error *err)
{
    static _Thread_local float values[2048], direction[2048];
    double sum = 0.0;
    for (size_t i = 0; i < w->count; i++) {
        char name[16];
        const size_t count = elements(w->x[i]);
        snprintf(name, sizeof name, "%s%zu", prefix, i);
        mw_program_read(program, name, MW_F32, values, count, err);
        net_numbers(direction, (int)count, stream + i);
        for (size_t k = 0; k < count; k++) {
            sum += (double)values[k] * (double)direction[k];
            *size += fabs((double)values[k] * (double)direction[k]);
        }
    }
    return sum;
}

static double gradient_along(const net *n, double *size, mw_error *err)
{
    mw_tensor *dx[VARIABLES];
    char name[16];
    whole w = make(n, true, err);
    if (w.graph == NULL || mw_grad(w.loss, w.x, w.count, dx, err) != MW_OK) {
        mw_graph_destroy(w.graph);
        return 0.0;
    }
    for (size_t i = 0; i < w.count; i++) {
        snprintf(name, sizeof name, "g%zu", i);
        mw_output(dx[i], name);
    }
    mw_program *program = compile_plain(w.graph, err);
    feed(n, program, err);
    mw_program_run(program, err);
    const double sum = along(program, &w, "g", 5000, size, err);
    mw_program_destroy(program);
    mw_graph_destroy(w.graph);
    return sum;
}

/* The loss at x + t v, by the program as it is. */
typedef struct line {
    mw_program *program;
    float *at[VARIABLES];
    whole w;
} line;

static double loss_at(const line *l, double t, mw_error *err)
{
    static _Thread_local float moved[2048], direction[2048];
    float loss = 0.0F;
    for (size_t i = 0; i < l->w.count; i++) {
        const size_t count = elements(l->w.x[i]);
        net_numbers(direction, (int)count, 5000 + i);
        for (size_t k = 0; k < count; k++)
            moved[k] = (float)((double)l->at[i][k] + t * (double)direction[k]);
        mw_program_write(l->program, mw_tensor_name(l->w.x[i]), MW_F32, moved, count, err);
    }
    mw_program_run(l->program, err);
    mw_program_read(l->program, "loss", MW_F32, &loss, 1, err);
    return (double)loss;
}

static void line_init(line *l, const net *n, mw_error *err)
{
    *l = (line){.w = make(n, false, err)};
    if (l->w.graph == NULL)
        return;
    l->program = compile_plain(l->w.graph, err);
    feed(n, l->program, err);
    for (size_t i = 0; i < l->w.count; i++) {
        l->at[i] = calloc(elements(l->w.x[i]) + 1, sizeof *l->at[i]);
        mw_program_read(l->program, mw_tensor_name(l->w.x[i]), MW_F32, l->at[i], elements(l->w.x[i]), err);
    }
}

static void line_deinit(line *l)
{
    for (size_t i = 0; i < l->w.count; i++)
        free(l->at[i]);
    mw_program_destroy(l->program);
    mw_graph_destroy(l->w.graph);
}

static double slope(const line *l, double t, mw_error *err)
{
    return (8.0 * (loss_at(l, t, err) - loss_at(l, -t, err)) - (loss_at(l, 2.0 * t, err) - loss_at(l, -2.0 * t, err))) /
           (12.0 * t);
}

/* Differences of three sizes that do not agree, or of both sides, stand at a kink or at a condition that changes: no
 * statement. */
bool check_gradient(const net *n, mw_error *err, char why[CASE_WHY])
{
    double size = 0.0;
    line l;
    const double analytic = gradient_along(n, &size, err);
    line_init(&l, n, err);
    const double numeric[3] = {slope(&l, 4e-3, err), slope(&l, 2e-3, err), slope(&l, 1e-3, err)};
    const double bend = (loss_at(&l, 2e-3, err) - 2.0 * loss_at(&l, 0.0, err) + loss_at(&l, -2e-3, err)) / 2e-3;
    line_deinit(&l);
    const double allowed = option_row_of(OPTION_GRADIENT)->tolerance * (0.05 + fabs(analytic) + 0.05 * size);
    const bool settled = fabs(bend) < allowed && fabs(numeric[0] - numeric[1]) < allowed / 2 &&
                         fabs(numeric[1] - numeric[2]) < allowed / 2;
    if (err->status != MW_OK || !settled || fabs(analytic - numeric[1]) <= allowed)
        return true;
    snprintf(why, CASE_WHY, "the gradient along a direction is %.6g, by differences %.6g", analytic, numeric[1]);
    return false;
}

/* ---- second order ---- */

static void direct(const whole *w, uint64_t stream, mw_tensor **out)
{
    static _Thread_local float values[2048];
    for (size_t i = 0; i < w->count; i++) {
        net_numbers(values, (int)elements(w->x[i]), stream + i);
        out[i] = mw_constant(w->graph, MW_F32, mw_tensor_shape(w->x[i]), values);
    }
}

static mw_program *compile_second(const net *n, whole *w, mw_error *err)
{
    mw_tensor *u[VARIABLES], *v[VARIABLES], *hu[VARIABLES], *hv[VARIABLES];
    *w = make(n, true, err);
    if (w->graph == NULL)
        return NULL;
    direct(w, 6000, u);
    direct(w, 7000, v);
    mw_hvp(w->loss, w->x, u, w->count, hu, err);
    mw_hvp(w->loss, w->x, v, w->count, hv, err);
    for (size_t i = 0; i < w->count && err->status == MW_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "u%zu", i);
        mw_output(hu[i], name);
        snprintf(name, sizeof name, "v%zu", i);
        mw_output(hv[i], name);
    }
    return compile_plain(w->graph, err);
}

/* u H v is v H u. */
bool check_second(const net *n, mw_error *err, char why[CASE_WHY])
{
    whole w;
    double size = 0.0;
    mw_program *program = compile_second(n, &w, err);
    if (program != NULL)
        feed(n, program, err);
    mw_program_run(program, err);
    const double uhv = along(program, &w, "v", 6000, &size, err), vhu = along(program, &w, "u", 7000, &size, err);
    mw_program_destroy(program);
    mw_graph_destroy(w.graph);
    if (err->status != MW_OK || fabs(uhv - vhu) <= option_row_of(OPTION_SECOND)->tolerance * (0.01 + size))
        return true;
    snprintf(why, CASE_WHY, "u H v is %.9g, v H u is %.9g", uhv, vhu);
    return false;
}
