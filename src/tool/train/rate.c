/* mw train --find-rate: a learning rate that rises from step to step, and what the loss does. */
#include "tool/train/training.h"

#include <math.h>

enum { RATE_STEPS = 120, RATE_ROWS = 16 };

#define RATE_LOW   1e-6
#define RATE_HIGH  10.0
#define RATE_BLEND 0.9 /* the share of the past in the smoothed loss */
#define RATE_ENDS  4.0 /* the search ends where the loss is that many times its least */

typedef struct rate_point {
    double rate, loss; /* smoothed */
} rate_point;

typedef struct rate_search {
    rate_point points[RATE_STEPS];
    int count;
    double sum, weight;   /* of the smoothed loss */
    int lowest, steepest; /* of the points */
} rate_search;

static double rate_at(int step) { return RATE_LOW * pow(RATE_HIGH / RATE_LOW, (double)step / (RATE_STEPS - 1)); }

/* False where the search ends. */
static bool add_point(rate_search *s, double rate, double loss)
{
    s->sum = RATE_BLEND * s->sum + (1.0 - RATE_BLEND) * loss;
    s->weight = RATE_BLEND * s->weight + (1.0 - RATE_BLEND);
    s->points[s->count] = (rate_point){rate, s->sum / s->weight};
    const double now = s->points[s->count++].loss;
    if (now < s->points[s->lowest].loss)
        s->lowest = s->count - 1;
    const double first = s->points[0].loss, least = s->points[s->lowest].loss;
    return now <= fmax(RATE_ENDS * least, first + (first - least));
}

/* Where the loss falls fastest over the logarithm of the rate, before its lowest: over windows of a tenth of the
 * search, as single steps are noise. */
static void find_steepest(rate_search *s)
{
    const int window = RATE_STEPS / 10;
    double best = 0.0;
    s->steepest = -1;
    for (int i = 0; i + window <= s->lowest; i++) {
        const double fall = s->points[i].loss - s->points[i + window].loss;
        if (fall > best) {
            best = fall;
            s->steepest = i + window / 2;
        }
    }
}

/* A loss that is no number ends the search as a large one does. */
static bool search(training *t, mw_loader *loader, rate_search *s)
{
    for (int step = 0; step < RATE_STEPS; step++) {
        float loss = 0;
        const mw_batch *batch = mw_loader_next(loader, t->err);
        if (batch == NULL && t->err->status == MW_OK) /* the next epoch */
            batch = mw_loader_next(loader, t->err);
        if (batch == NULL || mw_trainer_set_learning_rate(t->trainer, (float)rate_at(step), t->err) != MW_OK)
            return false;
        const mw_status status = mw_trainer_step(t->trainer, batch, &loss, t->err);
        const bool diverges = status == MW_ERROR_NUMERIC && s->count > 0;
        if (diverges)
            mw_error_clear(t->err);
        else if (status != MW_OK)
            return false;
        const bool ends = diverges || !add_point(s, rate_at(step), (double)loss);
        tool_progress(t->call, "steps", ends ? RATE_STEPS : step + 1, RATE_STEPS);
        if (ends)
            break;
    }
    return true;
}

/* ---- what is said ---- */

/* A bar is as long as the loss is above its least, full where it is as at the start or more. */
static int bar_of(const rate_search *s, double loss)
{
    const double least = s->points[s->lowest].loss, most = s->points[0].loss;
    return most > least ? (int)(40.0 * fmin((loss - least) / (most - least), 1.0)) : 0;
}

static void print_points(const rate_search *s)
{
    int before = -1;
    tool_print("%12s  %10s\n", "rate", "loss");
    for (int row = 0; row < RATE_ROWS; row++) {
        const int i = (s->count - 1) * row / (RATE_ROWS - 1);
        if (i != before)
            tool_print("%12.3g  %10.5g  %.*s\n", s->points[i].rate, s->points[i].loss, bar_of(s, s->points[i].loss),
                       "########################################");
        before = i;
    }
}

static void write_points(const rate_search *s, mw__json_writer *json)
{
    mw__json_open(json, "points", '[');
    for (int i = 0; i < s->count; i++) {
        mw__json_open(json, NULL, '{');
        mw__json_add_number(json, "rate", s->points[i].rate);
        mw__json_add_number(json, "loss", s->points[i].loss);
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
}

static int say_rate(const training *t, rate_search *s)
{
    find_steepest(s);
    const double lowest = s->points[s->lowest].rate;
    if (t->call->json != NULL) {
        write_points(s, t->call->json);
        mw__json_add_number(t->call->json, "lowest", lowest);
        if (s->steepest >= 0)
            mw__json_add_number(t->call->json, "learning_rate", s->points[s->steepest].rate);
    } else {
        print_points(s);
    }
    if (s->steepest < 0) {
        tool_complain("the loss falls at no rate from %g to %g: look at the data and the network", RATE_LOW,
                      s->points[s->count - 1].rate);
        return TOOL_DIFFERS;
    }
    if (t->call->json == NULL)
        tool_print("learning rate: %.2g, where the loss falls fastest; it is lowest at %.2g\n",
                   s->points[s->steepest].rate, lowest);
    return TOOL_DONE;
}

int training_find_rate(training *t, const mw_fit_options *fit)
{
    rate_search found = {.count = 0};
    mw_loader_options options = mw_loader_defaults(t->data.training, t->batch);
    options.seed = fit->data.seed;
    mw_loader *loader = mw_loader_create(&options, t->err);
    const bool good = loader != NULL && search(t, loader, &found);
    mw_loader_destroy(loader);
    return good ? say_rate(t, &found) : TOOL_FAILED;
}
