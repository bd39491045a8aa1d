/* Averages of parameters, against the same in double: the mean of updates (SWA), moving averages that begin as means,
 * and everything that reads them: predictions, files, programs that share the trainer's weights, checkpoints. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"

#include <string.h>

enum { STEPS = 12 };

typedef struct average_setting {
    float decay;
    int from;
    mw_device device;
    int dispatch; /* steps of one; 0 = 1 */
    int segments;
} average_setting;

static mw_trainer *make_trainer(const average_setting *s, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.02f));
    options.prediction = net.logits;
    options.average_decay = s->decay;
    options.average_from = s->from;
    options.dispatch_steps = s->dispatch;
    options.memory.segments = s->segments;
    options.compile.device = s->device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.seed = 3;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static void take_step(mw_trainer *trainer, int index, mw_error *err)
{
    const small_data data = small_make_data();
    small_batch b;
    small_fill_batch(&b, &data, index % 5 * SMALL_N);
    mw_trainer_step(trainer, &b.batch, NULL, err);
}

/* A program that gives out what it shares with the trainer. */
static mw_program *make_reader(mw_trainer *trainer, mw_device device, mw_error *err)
{
    static const mw_shape shapes[] = {{2, {SMALL_H, SMALL_D}}, {1, {SMALL_H}}, {2, {SMALL_C, SMALL_H}}, {1, {SMALL_C}}};
    mw_graph *graph = mw_graph_create(NULL, err);
    for (int i = 0; i < 4; i++) {
        char name[24];
        snprintf(name, sizeof name, "copy%d", i);
        mw_output(mw_identity(mw_parameter(graph, small_name(i), MW_F32, shapes[i], mw_init_constant(7))), name);
    }
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = device;
    options.share.trainer = trainer;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

static small_weights read_shared(mw_trainer *trainer, mw_device device, mw_error *err)
{
    small_weights out = {{0}};
    mw_program *program = make_reader(trainer, device, err);
    float values[SMALL_PARAMETERS];
    mw_program_run(program, err);
    for (int i = 0; i < 4; i++) {
        char name[24];
        snprintf(name, sizeof name, "copy%d", i);
        mw_program_read(program, name, MW_F32, values, (size_t)small_count(i), err);
        for (int k = 0; k < small_count(i); k++)
            out.value[small_offset(i) + k] = (double)values[k];
    }
    mw_program_destroy(program);
    return out;
}

/* The rate of update `step`, from 1: written from the header. */
static double rate_of(const average_setting *s, int step)
{
    const int from = s->from == 0 && s->decay == 1.0f ? 1 : s->from, n = step - from + 1;
    if (from == 0)
        return 1.0 - (double)s->decay;
    return n <= 1 ? 1.0 : fmax(1.0 - (double)s->decay, 1.0 / n);
}

static double distance(const small_weights *a, const small_weights *b)
{
    double off = 0.0;
    for (int k = 0; k < SMALL_PARAMETERS; k++)
        off = fmax(off, fabs(a->value[k] - b->value[k]));
    return off;
}

/* ---- values ---- */

static void check_averages(const average_setting *s)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(s, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    small_weights average = small_read(trainer, &err);
    for (int step = 1; step <= STEPS; step++) {
        take_step(trainer, step, &err);
        const small_weights now = small_read(trainer, &err);
        for (int k = 0; k < SMALL_PARAMETERS; k++)
            average.value[k] += rate_of(s, step) * (now.value[k] - average.value[k]);
    }
    const small_weights last = small_read(trainer, &err);
    small_weights shared = read_shared(trainer, s->device, &err);
    CHECK(distance(&shared, &last) == 0.0);
    mw_trainer_use_averages(trainer, true, &err);
    shared = read_shared(trainer, s->device, &err);
    CHECK_OK(err);
    /* fp32: a rounding for each step; fp16: three of a number below 1 */
    const double off = distance(&shared, &average), allowed = s->device == MW_DEVICE_CPU ? 1e-6 : STEPS * 0x1p-11;
    check_note(off <= allowed, __FILE__, __LINE__, "decay %g from %d: off by %.3g", (double)s->decay, s->from, off);
    CHECK(distance(&average, &last) > 1e-3);
    mw_trainer_destroy(trainer);
}

static void test_averages_are_means_of_updates_or_move(void)
{
    static const average_setting settings[] = {{.decay = 1.0f},
                                               {.decay = 1.0f, .from = 1},
                                               {.decay = 1.0f, .from = 5},
                                               {.decay = 0.75f, .from = 1},
                                               {.decay = 0.75f, .from = 7},
                                               {.decay = 0.75f},
                                               {.decay = 0.5f, .from = 3, .segments = 2}};
    for (size_t i = 0; i < 2 * (sizeof settings / sizeof *settings); i++) {
        average_setting s = settings[i / 2];
        s.device = i % 2 == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE;
        check_averages(&s);
    }
}

/* Before they count, averages are the parameters: to the last bit but for a rounding of the difference. */
static void test_averages_follow_at_once_until_they_count(void)
{
    mw_error err = {0};
    const average_setting s = {.decay = 0.9f, .from = 100, .device = MW_DEVICE_CPU};
    mw_trainer *trainer = make_trainer(&s, &err);
    REQUIRE(trainer != NULL);
    for (int step = 1; step <= STEPS; step++)
        take_step(trainer, step, &err);
    const small_weights last = small_read(trainer, &err);
    mw_trainer_use_averages(trainer, true, &err);
    const small_weights average = read_shared(trainer, MW_DEVICE_CPU, &err);
    CHECK_OK(err);
    CHECK(distance(&average, &last) <= 1e-7);
    mw_trainer_destroy(trainer);
}

/* ---- who reads them ---- */

static void test_predictions_and_files_are_those_of_the_averages(void)
{
    mw_error err = {0};
    const small_data data = small_make_data();
    const average_setting s = {.decay = 1.0f, .from = 3, .device = MW_DEVICE_CPU};
    mw_trainer *trainer = make_trainer(&s, &err);
    REQUIRE(trainer != NULL);
    for (int step = 1; step <= STEPS; step++)
        take_step(trainer, step, &err);
    mw_trainer_use_averages(trainer, true, &err);
    const small_weights average = read_shared(trainer, MW_DEVICE_CPU, &err);
    float got[SMALL_N * SMALL_C];
    double wanted[SMALL_C];
    small_batch b;
    small_fill_batch(&b, &data, 0);
    mw_trainer_predict(trainer, &b.batch, MW_F32, got, SMALL_N * SMALL_C, &err);
    small_logits(&average, data.x, wanted);
    for (int c = 0; c < SMALL_C; c++)
        CHECK_NEAR(got[c], wanted[c], 2e-6);
    mw_trainer_save_weights(trainer, scratch("average.safetensors"), &err);
    mw_trainer *other = make_trainer(&s, &err);
    mw_trainer_load_weights(other, scratch("average.safetensors"), NULL, &err);
    const small_weights loaded = small_read(other, &err);
    CHECK(distance(&loaded, &average) == 0.0);
    CHECK_OK(err);
    mw_trainer_destroy(other);
    mw_trainer_destroy(trainer);
}

/* ---- forms of a step ---- */

static void test_a_dispatch_of_several_steps_has_the_bits_of_single_ones(void)
{
    mw_error err = {0};
    const small_data data = small_make_data();
    average_setting s = {.decay = 0.8f, .from = 3, .device = MW_DEVICE_CPU};
    mw_trainer *single = make_trainer(&s, &err);
    s.dispatch = 4;
    mw_trainer *many = make_trainer(&s, &err);
    REQUIRE(single != NULL && many != NULL);
    small_batch batches[STEPS];
    mw_batch fed[STEPS];
    for (int i = 0; i < STEPS; i++) {
        small_fill_batch(&batches[i], &data, (i + 1) % 5 * SMALL_N);
        fed[i] = batches[i].batch;
        take_step(single, i + 1, &err);
    }
    mw_trainer_step_many(many, fed, STEPS, NULL, &err);
    CHECK_OK(err);
    const small_snapshot a = small_take(single), b = small_take(many);
    small_check_same(&a, &b);
    mw_trainer_destroy(single);
    mw_trainer_destroy(many);
}

static void test_a_checkpoint_goes_on_with_the_same_average(void)
{
    mw_error err = {0};
    average_setting s = {.decay = 1.0f, .from = 3, .device = MW_DEVICE_CPU};
    mw_trainer *straight = make_trainer(&s, &err), *resumed = make_trainer(&s, &err);
    REQUIRE(straight != NULL && resumed != NULL);
    for (int step = 1; step <= STEPS; step++) {
        take_step(straight, step, &err);
        if (step == 6)
            mw_trainer_save(straight, scratch("run.safetensors"), NULL, &err);
    }
    mw_trainer_load(resumed, scratch("run.safetensors"), NULL, &err);
    for (int step = 7; step <= STEPS; step++)
        take_step(resumed, step, &err);
    CHECK_OK(err);
    const small_snapshot a = small_take(straight), b = small_take(resumed);
    small_check_same(&a, &b);
    s.from = 4;
    mw_trainer *other = make_trainer(&s, &err);
    CHECK(mw_trainer_load(other, scratch("run.safetensors"), NULL, &err) != MW_OK);
    CHECK_CONTAINS(err.message, "average_from=3");
    mw_trainer_destroy(other);
    mw_trainer_destroy(straight);
    mw_trainer_destroy(resumed);
}

int main(void)
{
    RUN(test_averages_are_means_of_updates_or_move);
    RUN(test_averages_follow_at_once_until_they_count);
    RUN(test_predictions_and_files_are_those_of_the_averages);
    RUN(test_a_dispatch_of_several_steps_has_the_bits_of_single_ones);
    RUN(test_a_checkpoint_goes_on_with_the_same_average);
    return check_finish();
}
