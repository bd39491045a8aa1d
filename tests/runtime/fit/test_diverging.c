/* A loss that runs away is said once through the log hook, and one that does not is not: the rule on sequences, and
 * trainings with a learning rate that is too high, by every kind of step. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "runtime/trainer/watch/trainer_watch.h"
#include "support/check.h"

#include "base/number/random.h"
#include <stdlib.h>

/* ---- the rule ---- */

/* The place of the first loss that is said to run away, -1 for none. */
static int64_t place_of(double (*loss)(int64_t), int64_t count)
{
    mw__divergence_detector watch = {0};
    for (int64_t i = 0; i < count; i++)
        if (mw__divergence_is_seen(&watch, loss(i)))
            return i;
    return -1;
}

/* Normal by Box and Muller, of its place alone. */
static double noise(int64_t i)
{
    mw__random random = {.seed = 5, .stream = (uint64_t)i};
    const double u = ((double)mw__random_u32(&random) + 0.5) * 0x1p-32;
    const double v = (double)mw__random_u32(&random) * 0x1p-32;
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

static double constant(int64_t i) { return 2.3 + 0.0 * (double)i; }
static double falling(int64_t i) { return 2.3 * exp(-(double)i / 100.0); }
static double near_nothing(int64_t i) { return falling(i) + 1e-6 * exp(2.0 * noise(i)); }
static double zero_and_noise(int64_t i) { return i < 50 ? 0.0 : fabs(noise(i)); }
static double linear_from_zero(int64_t i) { return (double)i; }
static double doubling_slowly_from_zero(int64_t i) { return 1e-9 * pow(2.0, (double)i / 10.0); }
static double from_nothing_to_normal(int64_t i) { return i < 30 ? 1e-9 * pow(2.0, (double)i) : 2.3; }
static double log_normal(int64_t i) { return exp(1.5 * noise(i)); }
static double cubic(int64_t i) { return fabs(pow(noise(i), 3.0)); }
static double below_zero(int64_t i) { return i < 1000 ? -(double)i : 5.0; }
static double sinking(int64_t i) { return -pow(1.5, (double)i); }
static double one_outlier(int64_t i) { return i == 500 ? 900.0 : 1.0; }
static double in_large_units(int64_t i) { return 1e9 * exp(noise(i)); }

static double doubling(int64_t i) { return 2.3 * pow(2.0, (double)i); }
static double tenfold(int64_t i) { return 2.3 * pow(10.0, (double)i); }
static double creeping(int64_t i) { return 2.3 * pow(1.2, (double)i); }
static double after_a_while(int64_t i) { return i < 300 ? falling(i) : falling(300) * pow(2.0, (double)(i - 300)); }
static double a_jump(int64_t i) { return i < 300 ? 0.02 : 50.0; }
static double in_small_units(int64_t i) { return 1e-6 * pow(3.0, (double)i); }

static void test_normal_losses_are_not_said_to_run_away(void)
{
    static const struct {
        const char *name;
        double (*loss)(int64_t);
        int64_t count;
    } cases[] = {{"constant", constant, 1000},
                 {"falling", falling, 2000},
                 {"near nothing", near_nothing, 20000},
                 {"zero, then noise", zero_and_noise, 20000},
                 {"linear from 0", linear_from_zero, 20000},
                 {"doubling slowly from 0", doubling_slowly_from_zero, 1000},
                 {"from nothing to normal", from_nothing_to_normal, 1000},
                 {"log-normal", log_normal, 100000},
                 {"cubic", cubic, 100000},
                 {"below 0", below_zero, 2000},
                 {"sinking", sinking, 100},
                 {"one outlier", one_outlier, 1000},
                 {"in large units", in_large_units, 20000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int64_t place = place_of(cases[i].loss, cases[i].count);
        check_note(place == -1, __FILE__, __LINE__, "%s: said at %lld", cases[i].name, (long long)place);
    }
}

/* And early enough: before fp32 ends. */
static void test_losses_that_run_away_are_said(void)
{
    static const struct {
        const char *name;
        double (*loss)(int64_t);
        int64_t first;
    } cases[] = {{"doubling", doubling, 10},   {"tenfold", tenfold, 10},
                 {"by a fifth", creeping, 10}, {"after a while", after_a_while, 300},
                 {"a jump", a_jump, 300},      {"in small units", in_small_units, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int64_t place = place_of(cases[i].loss, 400);
        check_note(place >= cases[i].first && cases[i].loss(place) < 1e15, __FILE__, __LINE__, "%s: said at %lld",
                   cases[i].name, (long long)place);
    }
}

static void test_what_is_not_finite_changes_nothing(void)
{
    mw__divergence_detector watch = {0};
    for (int i = 0; i < 20; i++)
        CHECK(!mw__divergence_is_seen(&watch, 1.0));
    CHECK(!mw__divergence_is_seen(&watch, (double)NAN) && !mw__divergence_is_seen(&watch, (double)INFINITY));
    CHECK_NEAR(watch.mean, 1.0, 0.0);
    CHECK(mw__divergence_is_seen(&watch, 1001.0));
}

/* ---- trainings ---- */

typedef struct heard {
    int lines;
    char last[400];
} heard;

static void hear(void *user, mw_log_level level, const char *line)
{
    heard *h = user;
    h->lines += level == MW_LOG_WARNING;
    snprintf(h->last, sizeof h->last, "%s", line);
}

/* loss = mean(w^2): a step multiplies the loss by (1 - rate / 2)^2. */
static mw_trainer *make_trainer(float rate, int accumulate, int dispatch_steps, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4));
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(4), mw_init_constant(1.5F));
    mw_tensor *y = mw_mul(w, x);
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(mw_mul(y, y), MW_ALL_AXES, false), mw_sgd(rate));
    options.accumulate = accumulate;
    options.dispatch_steps = dispatch_steps;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static mw_status train(mw_trainer *trainer, int steps, mw_error *err)
{
    static const float ones[4] = {1.0F, 1.0F, 1.0F, 1.0F};
    static const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = ones, .count = 4};
    mw_batch batches[48];
    for (int i = 0; i < steps; i++)
        batches[i] = (mw_batch){.feeds = &feed, .feed_count = 1, .examples = 4};
    return mw_trainer_step_many(trainer, batches, (size_t)steps, NULL, err);
}

static void test_a_rate_that_is_too_high_is_said_once(void)
{
    static const struct {
        float rate; /* a step multiplies the loss by 4 */
        int accumulate, dispatch_steps, said;
    } cases[] = {{.rate = 6.0F, .said = 1},
                 {.rate = 6.0F, .dispatch_steps = 4, .said = 1},
                 {.rate = 6.0F, .accumulate = 2, .said = 1},
                 {.rate = 1.0F},
                 {.rate = 1.0F, .dispatch_steps = 4},
                 {.rate = 1.0F, .accumulate = 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        heard h = {0};
        mw_error err = {0};
        mw_trainer *trainer = make_trainer(cases[i].rate, cases[i].accumulate, cases[i].dispatch_steps, &err);
        REQUIRE(CHECK_OK(err));
        mw_log_set(hear, &h);
        CHECK_INT(train(trainer, 48, &err), MW_OK);
        mw_log_set(NULL, NULL);
        CHECK_INT(h.lines, cases[i].said);
        if (cases[i].said) {
            CHECK_CONTAINS(h.last, "step 1");
            CHECK_CONTAINS(h.last, "more than 1000 times its running mean of ");
            CHECK_CONTAINS(h.last, "smaller learning rate than 6");
        }
        mw_trainer_destroy(trainer);
    }
}

static void test_a_resumed_training_is_watched_anew(void)
{
    heard h = {0};
    mw_error err = {0};
    const char *path = scratch("diverging.safetensors");
    mw_trainer *trainer = make_trainer(1.0F, 0, 0, &err);
    REQUIRE(CHECK_OK(err));
    CHECK_INT(mw_trainer_save(trainer, path, NULL, &err), MW_OK);
    mw_log_set(hear, &h);
    for (int run = 1; run <= 2; run++) {
        CHECK_INT(mw_trainer_load(trainer, path, NULL, &err), MW_OK);
        mw_trainer_set_learning_rate(trainer, 6.0F, &err);
        CHECK_INT(train(trainer, 40, &err), MW_OK);
        CHECK_INT(h.lines, run);
    }
    mw_log_set(NULL, NULL);
    mw_trainer_destroy(trainer);
}

static void test_the_small_nets_learn_in_silence(void)
{
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    const small_data data = small_make_data();
    for (int k = 0; k < 2; k++) {
        heard h = {0};
        mw_error err = {0};
        mw_log_set(hear, &h);
        mw_trainer *trainer = small_trainer(devices[k], mw_adam(1e-2F), 0.0F, &err);
        small_batch batch;
        small_fill_batch(&batch, &data, 0);
        for (int step = 0; step < 300 && trainer != NULL; step++)
            mw_trainer_step(trainer, &batch.batch, NULL, &err);
        mw_log_set(NULL, NULL);
        CHECK_OK(err);
        CHECK_INT(h.lines, 0);
        mw_trainer_destroy(trainer);
    }
}

int main(void)
{
    RUN(test_normal_losses_are_not_said_to_run_away);
    RUN(test_losses_that_run_away_are_said);
    RUN(test_what_is_not_finite_changes_nothing);
    RUN(test_a_rate_that_is_too_high_is_said_once);
    RUN(test_a_resumed_training_is_watched_anew);
    RUN(test_the_small_nets_learn_in_silence);
    return check_finish();
}
