/* That an option which changes values changes them as it says: held to runs without it. */
#include "case.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONLY(o) (1ULL << OPTION_##o)

static bool near(const char *what, const outcome *a, const outcome *b, const char *name, double tolerance,
                 char why[CASE_WHY])
{
    size_t count = 0, other = 0;
    const float *x = outcome_find(a, name, &count), *y = outcome_find(b, name, &other);
    double largest = 0.01;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)x[i]));
    for (size_t i = 0; i < count && count == other; i++)
        if (!(fabs((double)x[i] - (double)y[i]) <= tolerance * largest)) {
            snprintf(why, CASE_WHY, "%s: %s[%zu] is %.9g, %.9g wanted", what, name, i, (double)x[i], (double)y[i]);
            return false;
        }
    if (count == 0 || count != other)
        snprintf(why, CASE_WHY, "%s: %s has %zu elements, %zu wanted", what, name, count, other);
    return count > 0 && count == other;
}

/* ---- accumulate: the mean of the gradients of the batches ---- */

/* After one step of SGD a parameter is p - rate g, so the mean over steps from one p has the mean gradient. */
static void add_steps(mw_trainer *trainer, const net *n, outcome *at, int first, mw_error *err)
{
    double sums[CASE_VALUES / 4];
    float read[2048];
    memset(sums, 0, sizeof sums);
    for (int b = 0; b < 2; b++) {
        net_feeds f;
        net_feed(&f, n, n->examples, first + b);
        for (int i = 0; i < at->count; i++)
            mw_trainer_write(trainer, at->sections[i].name, MW_F32, &at->values[at->sections[i].first],
                             (size_t)at->sections[i].count, err);
        mw_trainer_step(trainer, &f.batch, NULL, err);
        for (int i = 0; i < at->count; i++) {
            mw_trainer_read(trainer, at->sections[i].name, MW_F32, read, (size_t)at->sections[i].count, err);
            for (int k = 0; k < at->sections[i].count; k++)
                sums[at->sections[i].first + k] += 0.5 * (double)read[k];
        }
    }
    for (int i = 0; i < at->used; i++)
        at->values[i] = (float)sums[i];
}

/* The parameters by their own names, dots and all. */
static void read_parameters(const mw_graph *graph, mw_trainer *trainer, outcome *out, mw_error *err)
{
    mw_weight weights[CASE_SECTIONS];
    size_t count = 0;
    mw_graph_weights(graph, weights, CASE_SECTIONS, &count, err);
    for (size_t i = 0; i < count; i++) {
        const size_t elements = (size_t)mw_shape_count(weights[i].shape);
        if (!weights[i].is_parameter)
            continue;
        mw_trainer_read(trainer, weights[i].name, MW_F32, outcome_add(out, weights[i].name, elements), elements, err);
        snprintf(out->sections[out->count - 1].name, sizeof out->sections[0].name, "%s", weights[i].name);
    }
}

static bool accumulates(const net *n, const outcome *plain, char why[CASE_WHY])
{
    mw_error err = {0};
    const net_form form = {0};
    outcome *at = calloc(1, sizeof *at);
    mw_graph *graph = net_build(n, &form, &err);
    mw_tensor *loss = net_add_loss(n, mw_graph_output_at(graph, 0));
    mw_trainer *trainer = engine_trainer(loss, net_optimizer_of(n), MW_DEVICE_CPU, 1, &err);
    read_parameters(graph, trainer, at, &err);
    for (int first = 0; first < CASE_BATCHES; first += 2)
        add_steps(trainer, n, at, first, &err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    bool good = err.status == MW_OK;
    if (!good)
        snprintf(why, CASE_WHY, "accumulate: %s", err.message);
    for (int i = 0; good && i < at->count; i++) {
        char *name = at->sections[i].name;
        for (char *c = name; *c != '\0'; c++)
            *c = *c == '.' ? '_' : *c;
        good = near("accumulate", plain, at, name, 1e-4, why);
    }
    free(at);
    return good;
}

/* ---- the others ---- */

static bool starts_alike(const char *what, const net *n, const outcome *plain, double tolerance, char why[CASE_WHY])
{
    outcome *own = calloc(1, sizeof *own);
    run_case(n, 0, true, own);
    const bool started = own->err.status == MW_OK || own->err.status == MW_ERROR_NUMERIC; /* and then diverged */
    const bool good = started && near(what, plain, own, "start", tolerance, why);
    if (!started)
        snprintf(why, CASE_WHY, "%s: %s", what, own->err.message);
    free(own);
    return good;
}

/* A run of the plain form leaves "first .." of each weight for this. */
static bool freezes(const net *n, const outcome *plain, char why[CASE_WHY])
{
    const char *prefix = net_has(n, NET_BATCH_NORM) ? "bn" : "dense";
    bool moved = false;
    for (int i = 0; i < plain->count; i++) {
        const struct outcome_section *s = &plain->sections[i];
        char first[64];
        size_t count = 0;
        if (strncmp(s->name, "first ", 6) == 0)
            continue;
        snprintf(first, sizeof first, "first %.50s", s->name);
        const float *before = outcome_find(plain, first, &count);
        if (before == NULL)
            continue;
        const bool same = memcmp(before, &plain->values[s->first], count * sizeof *before) == 0;
        moved = moved || !same;
        if (strncmp(s->name, prefix, strlen(prefix)) == 0 && !same) {
            snprintf(why, CASE_WHY, "frozen: %s moved", s->name);
            return false;
        }
    }
    if (!moved)
        snprintf(why, CASE_WHY, "frozen: nothing moved");
    return moved;
}

/* Conditions that are near their bound go another way in fp16. */
static bool is_smooth(const net *n)
{
    return !net_has(n, NET_WHILE) && !net_has(n, NET_COND) && !net_has(n, NET_NOISE);
}

bool check_meaning(const net *n, option_set set, const outcome *plain, char why[CASE_WHY])
{
    if (set == ONLY(ACCUMULATE) && n->optimizer == NET_SGD && !accumulates(n, plain, why))
        return false;
    if (set == ONLY(LORA) && !starts_alike("lora", n, plain, 1e-5, why))
        return false;
    if (set == ONLY(ANE) && is_smooth(n) && !starts_alike("ane", n, plain, 0.05, why))
        return false;
    return !option_in(set, OPTION_FROZEN) || freezes(n, plain, why);
}
