/* mw_trainer_fit with trainers that accumulate, skip, or put several steps into a dispatch. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = SMALL_EXAMPLES / SMALL_N };

static mw_trainer *make(int accumulate, int dispatch_steps, bool dynamic, mw_device device, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.02f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = device;
    options.accumulate = accumulate;
    options.dispatch_steps = dispatch_steps;
    options.precision.dynamic = dynamic;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

typedef struct seen {
    mw_progress last;
    int calls;
    int64_t stop_at;
} seen;

static bool watch(void *user, const mw_progress *progress)
{
    seen *s = user;
    s->last = *progress;
    s->calls += !progress->epoch_end;
    return !progress->epoch_end && s->stop_at > 0 && progress->step >= s->stop_at;
}

static mw_status fit_by(mw_schedule schedule, mw_trainer *trainer, int64_t epochs, const char *checkpoint, seen *s,
                        mw_error *err)
{
    const small_data data = small_make_data();
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
                                 {.name = "y", .dtype = MW_I32, .data = data.y}};
    mw_dataset *dataset = mw_dataset_create(columns, 2, SMALL_EXAMPLES, false, err);
    mw_fit_options options = mw_fit_defaults(dataset, epochs);
    options.schedule.rate = schedule;
    options.checkpoint.path = checkpoint;
    options.progress.quiet = true;
    options.progress.function = watch;
    options.progress.user = s;
    const mw_status status = mw_trainer_fit(trainer, &options, err);
    mw_dataset_destroy(dataset);
    return status;
}

static mw_status fit(mw_trainer *trainer, int64_t epochs, const char *checkpoint, seen *s, mw_error *err)
{
    return fit_by(mw_schedule_cosine(0.0), trainer, epochs, checkpoint, s, err);
}

/* 5 batches an epoch in dispatches of 3: one dispatch and two steps, each at its own rate of the schedule. */
static void test_fit_by_dispatches_is_fit_by_steps(void)
{
    mw_error err = {0};
    seen one = {0}, many = {0};
    mw_trainer *single = make(0, 0, false, MW_DEVICE_CPU, &err), *grouped = make(0, 3, false, MW_DEVICE_CPU, &err);
    fit(single, 4, NULL, &one, &err);
    fit(grouped, 4, NULL, &many, &err);
    CHECK_OK(err);
    const small_snapshot a = small_take(single), b = small_take(grouped);
    small_check_same(&a, &b);
    CHECK_INT(one.calls, 4 * BATCHES);
    CHECK_INT(many.calls, 4 * 3);
    CHECK(one.last.loss == many.last.loss && many.last.step == 4 * BATCHES);
    mw_trainer_destroy(grouped);
    mw_trainer_destroy(single);
}

static void test_fit_stopped_between_dispatches_goes_on(void)
{
    mw_error err = {0};
    seen calm = {0}, stopped = {.stop_at = 7}, rest = {0};
    mw_trainer *whole = make(0, 3, false, MW_DEVICE_CPU, &err), *half = make(0, 3, false, MW_DEVICE_CPU, &err);
    mw_trainer *other = make(0, 3, false, MW_DEVICE_CPU, &err);
    fit(whole, 4, NULL, &calm, &err);
    CHECK_OK(err);
    CHECK_INT(fit(half, 4, scratch("half.safetensors"), &stopped, &err), MW_ERROR_STOPPED);
    CHECK_INT(stopped.last.step, 8);
    err = (mw_error){0};
    fit(other, 4, scratch("half.safetensors"), &rest, &err);
    CHECK_OK(err);
    const small_snapshot a = small_take(whole), b = small_take(other);
    small_check_same(&a, &b);
    mw_trainer_destroy(other);
    mw_trainer_destroy(half);
    mw_trainer_destroy(whole);
}

static void test_fit_accumulates(void)
{
    mw_error err = {0};
    seen s = {0};
    mw_trainer *trainer = make(BATCHES, 0, false, MW_DEVICE_CPU, &err);
    fit(trainer, 6, NULL, &s, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_get_info(trainer).steps, 6);
    CHECK_INT(s.last.step, 6 * BATCHES);
    mw_trainer_destroy(trainer);
}

/* What a schedule is asked: each step at its first and last batch. */
typedef struct asked {
    int64_t first, last, steps;
    int calls;
} asked;

static double note_step(void *user, int64_t step, int64_t steps)
{
    asked *a = user;
    a->first = a->calls == 0 ? step : a->first;
    a->last = step;
    a->steps = steps;
    a->calls++;
    return 1.0;
}

static void test_a_schedule_counts_updates(void)
{
    mw_error err = {0};
    seen s = {0};
    asked a = {0};
    mw_trainer *trainer = make(BATCHES, 0, false, MW_DEVICE_CPU, &err);
    fit_by(mw_schedule_custom(note_step, &a), trainer, 6, NULL, &s, &err);
    CHECK_OK(err);
    CHECK(a.first == 0 && a.last == 5 && a.steps == 6 && a.calls == 6 * BATCHES);
    mw_schedule warm = mw_schedule_linear(0.0);
    warm.warmup_steps = 7;
    CHECK_INT(fit_by(warm, trainer, 6, NULL, &s, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT,
                "a warm-up of 7 steps in a training of 6; it must fit in (its steps are updates");
    mw_trainer_destroy(trainer);
}

/* Half of the way is half of the updates. */
static void test_fit_stopped_inside_of_an_update_goes_on_at_its_rate(void)
{
    mw_error err = {0};
    seen calm = {0}, stopped = {.stop_at = 8}, rest = {0};
    mw_trainer *whole = make(BATCHES, 0, false, MW_DEVICE_CPU, &err);
    mw_trainer *half = make(BATCHES, 0, false, MW_DEVICE_CPU, &err);
    mw_trainer *other = make(BATCHES, 0, false, MW_DEVICE_CPU, &err);
    fit(whole, 4, NULL, &calm, &err);
    CHECK_OK(err);
    CHECK_INT(fit(half, 4, scratch("inside.safetensors"), &stopped, &err), MW_ERROR_STOPPED);
    err = (mw_error){0};
    fit(other, 4, scratch("inside.safetensors"), &rest, &err);
    CHECK_OK(err);
    const small_snapshot a = small_take(whole), b = small_take(other);
    small_check_same(&a, &b);
    mw_trainer_destroy(other);
    mw_trainer_destroy(half);
    mw_trainer_destroy(whole);
}

static void test_fit_refuses_what_does_not_divide(void)
{
    mw_error err = {0};
    seen s = {0};
    mw_trainer *trainer = make(2, 0, false, MW_DEVICE_CPU, &err);
    CHECK_OK(err);
    CHECK_INT(fit(trainer, 6, NULL, &s, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "an epoch has 5 batches, which is no multiple of the 2");
    CHECK_INT(mw_trainer_get_info(trainer).steps, 0);
    mw_trainer_destroy(trainer);
}

/* The scale starts where gradients of fp16 overflow; mw_trainer_fit goes on, and its loss stays a number. */
static void test_fit_skips_and_goes_on(void)
{
    mw_error err = {0};
    seen s = {0};
    small_net net = small_create(NULL);
    net.loss = mw_mul_scalar(net.loss, 64.0);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.02f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_ANE;
    options.precision.dynamic = true;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(net.graph);
    fit(trainer, 4, NULL, &s, &err);
    CHECK_OK(err);
    const int64_t skipped = mw_trainer_get_info(trainer).counters.refused_steps;
    CHECK(skipped > 0 && isfinite(s.last.loss) && s.last.loss > 0);
    CHECK_INT(mw_trainer_get_info(trainer).steps, 4 * BATCHES - skipped);
    mw_trainer_destroy(trainer);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_fit_by_dispatches_is_fit_by_steps);
    RUN(test_fit_stopped_between_dispatches_goes_on);
    RUN(test_fit_accumulates);
    RUN(test_a_schedule_counts_updates);
    RUN(test_fit_stopped_inside_of_an_update_goes_on_at_its_rate);
    RUN(test_fit_refuses_what_does_not_divide);
    RUN(test_fit_skips_and_goes_on);
    return check_finish();
}
