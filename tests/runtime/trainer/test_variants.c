/* Trainers whose batches have several lengths: one set of weights and optimizer states, whichever program a batch
 * takes. A padded batch that is cut gives what it gives uncut; runs that stop anywhere give the same bits. */
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 4, LONG = 16, WIDE = 3, CLASSES = 5, EXAMPLES = 44 };
static const int64_t limits[] = {4, 8, LONG};
static int64_t lengths[EXAMPLES];
static float x[EXAMPLES][LONG][WIDE];
static int32_t y[EXAMPLES][LONG];

static void fill(void)
{
    for (int i = 0; i < EXAMPLES; i++) {
        lengths[i] = 1 + (i * 5 + i * i) % LONG;
        for (int k = 0; k < LONG; k++) {
            y[i][k] = k < lengths[i] ? (i + k * k) % CLASSES : -1;
            for (int w = 0; w < WIDE; w++)
                x[i][k][w] = (float)((i * 7 + k * 3 + w * 5 + y[i][k]) % 11) / 5.0F - 1.0F;
        }
    }
}

/* ---- networks ---- */

static mw_tensor *make_loss(int64_t rows, float dropout, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_cross_entropy_options o = mw_cross_entropy_defaults();
    o.ignore_index = -1;
    mw_tensor *h = mw_tanh(mw_dense(mw_input(graph, "x", MW_F32, MW_SHAPE(BATCH, rows, WIDE)), 6, "a"));
    if (dropout > 0.0F)
        h = mw_dropout(h, dropout, "drop");
    return mw_cross_entropy_with(mw_dense(h, CLASSES, "b"), mw_input(graph, "y", MW_I32, MW_SHAPE(BATCH, rows)), &o);
}

typedef struct setting {
    mw_device device;
    int accumulate;
    float average;
    float dropout;
    bool dynamic, norms;
    size_t variants; /* of `limits`, from the first */
    int64_t rows;    /* of the loss */
} setting;

static const setting plain = {.device = MW_DEVICE_CPU, .variants = 2, .rows = LONG};

static mw_trainer *make_trainer(const setting *s, mw_error *err)
{
    mw_tensor *losses[3] = {make_loss(s->rows, s->dropout, err)};
    mw_trainer_options o = mw_trainer_defaults(losses[0], mw_adam(0.05F));
    for (size_t i = 0; i < s->variants; i++)
        losses[1 + i] = make_loss(limits[i], s->dropout, err);
    o.variants = losses + 1;
    o.variant_count = s->variants;
    o.accumulate = s->accumulate;
    o.average_decay = s->average;
    o.precision.dynamic = s->dynamic;
    o.watch.gradient_norms = s->norms;
    o.compile = engine_options(s->device, 1);
    o.compile.seed = 3;
    mw_trainer *trainer = mw_trainer_create(&o, err);
    for (size_t i = 0; i <= s->variants; i++)
        mw_graph_destroy(mw_tensor_graph(losses[i]));
    return trainer;
}

static mw_dataset *make_set(bool buckets, mw_error *err)
{
    mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(LONG, WIDE), .data = x},
                           {.name = "y", .dtype = MW_I32, .shape = MW_SHAPE(LONG), .data = y}};
    mw_dataset *set = mw_dataset_create(columns, 2, EXAMPLES, false, err);
    if (!buckets)
        return set;
    mw_dataset *cut = mw_dataset_bucket(set, lengths, limits, 3, err);
    mw_dataset_destroy(set);
    return cut;
}

/* ---- steps ---- */

/* A batch of some examples, cut to so many rows. */
static float step_on(mw_trainer *trainer, int64_t rows, int seed, mw_error *err)
{
    float values[BATCH * LONG * WIDE], loss = 0.0F;
    int32_t labels[BATCH * LONG];
    for (int b = 0; b < BATCH; b++)
        for (int k = 0; k < rows; k++) {
            const int id = (seed * BATCH + b) % EXAMPLES;
            labels[b * rows + k] = k < 3 ? y[id][k] : -1; /* what is behind three rows is padding for all */
            memcpy(values + (b * rows + k) * WIDE, x[id][k], sizeof x[id][k]);
        }
    const mw_feed feeds[] = {
        {.name = "x", .dtype = MW_F32, .data = values, .count = (size_t)(BATCH * rows * WIDE)},
        {.name = "y", .dtype = MW_I32, .data = labels, .count = (size_t)(BATCH * rows)},
    };
    mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = 2}, &loss, err);
    return loss;
}

static void read_weights(mw_trainer *trainer, float out[48], mw_error *err)
{
    mw_trainer_read(trainer, "a.weight", MW_F32, out, 18, err);
    mw_trainer_read(trainer, "b.weight", MW_F32, out + 18, 30, err);
}

static double apart(const float *a, const float *b)
{
    double most = 0.0;
    for (int i = 0; i < 48; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

/* Steps of 4, 16, 8, .. rows in one trainer, of 16 in the other: the rest is padding. */
static void check_cut(setting s, double tolerance)
{
    static const int64_t rows[] = {4, 16, 8, 8, 4, 16, 4, 4};
    mw_error err = {0};
    float cut[48], whole[48];
    mw_trainer *some = make_trainer(&s, &err);
    s.variants = 0;
    mw_trainer *one = make_trainer(&s, &err);
    for (int i = 0; i < 8 && CHECK_OK(err); i++) {
        const float a = step_on(some, rows[i], i, &err), b = step_on(one, LONG, i, &err);
        check_note(fabs((double)(a - b)) < tolerance, __FILE__, __LINE__, "step %d: %g and %g", i, (double)a,
                   (double)b);
        if (s.norms && mw_trainer_get_info(one).steps > 0) /* else there is none yet */
            CHECK_NEAR(mw_trainer_get_info(some).gradient_norm, mw_trainer_get_info(one).gradient_norm, tolerance);
        mw_trainer_set_learning_rate(some, 0.05F / (float)(i + 1), &err);
        mw_trainer_set_learning_rate(one, 0.05F / (float)(i + 1), &err);
    }
    if (s.average > 0.0F) {
        mw_trainer_use_averages(some, true, &err);
        mw_trainer_use_averages(one, true, &err);
    }
    read_weights(some, cut, &err);
    read_weights(one, whole, &err);
    check_note(apart(cut, whole) < tolerance, __FILE__, __LINE__, "weights are apart by %g", apart(cut, whole));
    CHECK_INT(mw_trainer_get_info(some).steps, mw_trainer_get_info(one).steps);
    CHECK_INT(mw_trainer_get_info(some).counters.steps, mw_trainer_get_info(one).counters.steps);
    CHECK_OK(err);
    mw_trainer_destroy(some);
    mw_trainer_destroy(one);
}

static void test_a_batch_that_is_cut_gives_what_it_gives_uncut(void)
{
    setting s = plain;
    check_cut(s, 1e-5);
    s.norms = true;
    check_cut(s, 1e-5);
    s.accumulate = 2;
    check_cut(s, 1e-5);
    s.average = 0.5F;
    check_cut(s, 1e-5);
    s = plain;
    s.device = MW_DEVICE_ANE;
    s.dynamic = true;
    check_cut(s, 2e-2);
}

/* A variant is the program that a trainer of that length alone would have. */
static void test_a_variant_has_the_bits_of_a_trainer_of_its_length(void)
{
    mw_error err = {0};
    float a[48], b[48];
    setting alone = plain;
    alone.variants = 0;
    alone.rows = 8;
    mw_trainer *some = make_trainer(&plain, &err), *one = make_trainer(&alone, &err);
    for (int i = 0; i < 6; i++)
        CHECK(step_on(some, 8, i, &err) == step_on(one, 8, i, &err));
    read_weights(some, a, &err);
    read_weights(one, b, &err);
    CHECK(memcmp(a, b, sizeof a) == 0);
    step_on(some, 5, 0, &err);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "has 60 elements, its port 192");
    mw_trainer_destroy(some);
    mw_trainer_destroy(one);
}

/* ---- evaluation ---- */

static void test_evaluation_is_that_of_whole_batches(void)
{
    mw_error err = {0};
    mw_evaluation cut, whole;
    setting s = plain;
    s.average = 0.5F;
    mw_trainer *some = make_trainer(&s, &err);
    s.variants = 0;
    mw_trainer *one = make_trainer(&s, &err);
    mw_dataset *buckets = make_set(true, &err), *all = make_set(false, &err);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            step_on(some, LONG, k, &err);
            step_on(one, LONG, k, &err);
        }
        mw_trainer_use_averages(some, i % 2 == 1, &err);
        mw_trainer_use_averages(one, i % 2 == 1, &err);
        mw_trainer_evaluate(some, buckets, NULL, &cut, &err);
        mw_trainer_evaluate(one, all, NULL, &whole, &err);
        CHECK_INT(cut.examples, EXAMPLES);
        CHECK_NEAR(cut.loss, whole.loss, 1e-6);
    }
    CHECK_OK(err);
    mw_dataset_destroy(buckets);
    mw_dataset_destroy(all);
    mw_trainer_destroy(some);
    mw_trainer_destroy(one);
}

/* ---- runs ---- */

typedef struct run {
    int64_t stop;
} run;

static bool stop_run(void *user, const mw_progress *p) { return !p->epoch_end && p->step == ((const run *)user)->stop; }

static mw_status fit_once(const setting *s, run *r, float out[48], mw_error *err)
{
    mw_trainer *trainer = make_trainer(s, err);
    mw_dataset *set = make_set(true, err), *ahead = mw_dataset_prefetch(set, 2, err);
    mw_fit_options fit = mw_fit_defaults(r->stop % 2 == 0 ? set : ahead, 2);
    fit.data.validation = set;
    fit.data.seed = 4;
    fit.checkpoint.path = "run.safetensors";
    fit.schedule.rate = mw_schedule_cosine(0.1);
    fit.progress.quiet = fit.progress.no_warnings = true;
    fit.progress.function = stop_run;
    fit.progress.user = r;
    const mw_status status = err->status == MW_OK ? mw_trainer_fit(trainer, &fit, err) : err->status;
    mw_error own = {0};
    read_weights(trainer, out, &own);
    CHECK_OK(own);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(ahead);
    mw_dataset_destroy(set);
    return status;
}

/* 11 batches an epoch; dropout draws from one generator, whichever program runs. */
static void test_a_run_that_stops_anywhere_gives_the_same_bits(void)
{
    static const setting settings[] = {{.device = MW_DEVICE_CPU, .variants = 2, .rows = LONG, .dropout = 0.3F},
                                       {.device = MW_DEVICE_CPU, .variants = 2, .rows = LONG, .accumulate = 11},
                                       {.device = MW_DEVICE_ANE, .variants = 2, .rows = LONG, .dynamic = true}};
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        float whole[48], parts[48];
        mw_error err = {0};
        run r = {0};
        unlink("run.safetensors");
        fit_once(&settings[k], &r, whole, &err);
        CHECK_OK(err);
        for (int64_t stop = 1; stop < 22; stop += 3) {
            unlink("run.safetensors");
            r.stop = stop;
            CHECK_INT(fit_once(&settings[k], &r, parts, &err), MW_ERROR_STOPPED);
            mw_error_clear(&err);
            r.stop = 0;
            fit_once(&settings[k], &r, parts, &err);
            CHECK_OK(err);
            check_note(memcmp(whole, parts, sizeof whole) == 0, __FILE__, __LINE__, "setting %zu, stopped at %lld", k,
                       (long long)stop);
        }
    }
    folder_leave(folder);
}

/* ---- refusals ---- */

static void refuse(const mw_trainer_options *o, mw_status status, const char *part)
{
    mw_error err = {0};
    CHECK(mw_trainer_create(o, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void destroy_graph_of(const mw_tensor *of) { mw_graph_destroy(mw_tensor_graph(of)); }

static mw_tensor *other_loss(const char *second, int64_t batch, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *h = mw_tanh(mw_dense(mw_input(graph, "x", MW_F32, MW_SHAPE(batch, 4, WIDE)), 6, "a"));
    mw_tensor *logits = mw_dense(h, CLASSES, second);
    return mw_cross_entropy(logits, mw_input(graph, "y", MW_I32, MW_SHAPE(batch, 4)));
}

static void test_what_does_not_go_with_variants_is_refused(void)
{
    mw_error err = {0};
    mw_tensor *loss = make_loss(LONG, 0.0F, &err), *same = make_loss(4, 0.0F, &err);
    mw_tensor *named = other_loss("c", BATCH, &err), *wide = other_loss("b", BATCH + 1, &err);
    mw_trainer_options base = mw_trainer_defaults(loss, mw_adam(0.1F)), o;
    base.compile = engine_options(MW_DEVICE_CPU, 1);
    base.variants = &same;
    base.variant_count = 1;
    o = base, o.variants = NULL, refuse(&o, MW_ERROR_ARGUMENT, "no list");
    o = base, o.variant_count = MW_VARIANTS_MAX + 1, refuse(&o, MW_ERROR_ARGUMENT, "at most 32");
    o = base, o.variants = &loss, refuse(&o, MW_ERROR_ARGUMENT, "variant 0 is of the graph of the loss");
    o = base, o.variants = (mw_tensor *[]){NULL}, refuse(&o, MW_ERROR_ARGUMENT, "variant 0 is NULL");
    o = base, o.variants = &named, refuse(&o, MW_ERROR_ARGUMENT, "has \"c.");
    o = base, o.variants = &wide, refuse(&o, MW_ERROR_SHAPE, "variant 0 has a batch of 5");
    o = base, o.dispatch_steps = 2, refuse(&o, MW_ERROR_ARGUMENT, "dispatch_steps 2");
    o = base, o.memory.segments = 2, refuse(&o, MW_ERROR_ARGUMENT, "memory.segments 2");
    o = base, o.memory.limit = 1 << 20, refuse(&o, MW_ERROR_ARGUMENT, "each whole");
    o = base, o.metric = loss, refuse(&o, MW_ERROR_ARGUMENT, "variants, and metrics");
    CHECK_OK(err);
    destroy_graph_of(loss);
    destroy_graph_of(same);
    destroy_graph_of(named);
    destroy_graph_of(wide);
}

/* The graphs are there; the trainer, its variants, a step of each and an evaluation are what fails. */
static void try_all(const mw_allocator *allocator, mw_tensor *const losses[3], mw_error *err)
{
    mw_trainer_options o = mw_trainer_defaults(losses[2], mw_adam(0.05F));
    o.variants = losses;
    o.variant_count = 2;
    o.compile = engine_options(MW_DEVICE_CPU, 1);
    o.compile.allocator = allocator;
    mw_trainer *trainer = mw_trainer_create(&o, err);
    for (int i = 0; i < 3 && trainer != NULL && err->status == MW_OK; i++)
        step_on(trainer, limits[i], i, err);
    mw_trainer_destroy(trainer);
}

static void test_every_failing_allocation_is_survived(void)
{
    mw_error own = {0};
    mw_tensor *losses[3];
    const long step = getenv("MW_NIGHTLY") != NULL ? 3 : 97;
    for (int i = 0; i < 3; i++)
        losses[i] = make_loss(limits[i], 0.0F, &own);
    for (long n = 0;; n += step) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        try_all(&allocator, losses, &err);
        CHECK_INT(failing.live, 0);
        check_note(err.status == (failing.failed ? MW_ERROR_MEMORY : MW_OK), __FILE__, __LINE__,
                   "allocation %ld fails: status %d, \"%s\"", n, (int)err.status, err.message);
        if (!failing.failed) {
            CHECK(n > 500);
            break;
        }
    }
    CHECK_OK(own);
    for (int i = 0; i < 3; i++)
        destroy_graph_of(losses[i]);
}

int main(void)
{
    fill();
    RUN(test_a_batch_that_is_cut_gives_what_it_gives_uncut);
    RUN(test_a_variant_has_the_bits_of_a_trainer_of_its_length);
    RUN(test_evaluation_is_that_of_whole_batches);
    RUN(test_a_run_that_stops_anywhere_gives_the_same_bits);
    RUN(test_what_does_not_go_with_variants_is_refused);
    RUN(test_every_failing_allocation_is_survived);
    return check_finish();
}
