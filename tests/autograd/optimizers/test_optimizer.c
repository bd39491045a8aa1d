/* Every optimizer, step by step: against what PyTorch recorded (data/torch/optimizer_cases.py), against its paper in
 * double, with and without loss scale, and the numbers that are refused. Two-term weights in fp16: test_compensated.c.
 */
#include "autograd/optimizers/optimizer_rows.h"
#include "base/number/number.h"
#include "base/text/error.h"
#include "format/tensors/safetensors.h"
#include "optimizer_problem.h"
#include "runtime/trainer/object/trainer_access.h"
#include "support/check.h"
#include "support/failing.h"

#define STEPS 10

/* ---- PyTorch ---- */

static mw_optimizer other_adam(void)
{
    mw_optimizer optimizer = problem_with_decay(mw_adam(0.01f), 0.1f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_BETA1, 0.8f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_EPSILON, 1e-3f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_BETA2, 0.99f);
    return optimizer;
}

static void check_path(const char *name, mw_optimizer optimizer, const float *wanted, double tolerance)
{
    mw_error err = {0};
    mw_trainer *trainer = problem_trainer(MW_DEVICE_CPU, optimizer, 0.0f, &err);
    double off = 0.0;
    for (int step = 0; step < STEPS && trainer != NULL; step++) {
        float gradient[PROBLEM_COUNT];
        double got[PROBLEM_COUNT];
        problem_gradient(step, gradient);
        problem_step(trainer, gradient, &err);
        problem_read_sum(trainer, got);
        for (int i = 0; i < PROBLEM_COUNT; i++)
            off = fmax(off, fabs(got[i] - (double)wanted[step * PROBLEM_COUNT + i]));
    }
    CHECK_OK(err);
    check_note(trainer != NULL && off <= tolerance, __FILE__, __LINE__, "%s%s: off by %.3g from PyTorch", name,
               mw_optimizer_get(&optimizer, MW_OPTIMIZER_COMPENSATED) != 0.0 ? ", compensated" : "", off);
    mw_trainer_destroy(trainer);
}

static void check_variant(const mw__safetensors *file, const char *name, mw_optimizer optimizer)
{
    mw_error err = {0};
    double tolerance = 0.0;
    float wanted[STEPS * PROBLEM_COUNT];
    const char *text = mw__safetensors_metadata(file, "tolerance");
    const mw__safetensors_tensor *tensor = mw__safetensors_find(file, name);
    REQUIRE(tensor != NULL && tensor->size == sizeof wanted && text != NULL);
    REQUIRE(mw__number_read(text, strlen(text), MW__NUMBER_F64, &tolerance));
    mw__safetensors_read(file, tensor, wanted, &err);
    CHECK_OK(err);
    check_path(name, optimizer, wanted, tolerance);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_COMPENSATED, true);
    check_path(name, optimizer, wanted, tolerance);
}

static void test_every_variant_follows_pytorch(void)
{
    char path[512];
    mw__safetensors file;
    mw_error err = {0};
    const struct {
        const char *name;
        mw_optimizer optimizer;
    } rows[] = {{"sgd", mw_sgd(0.05f)},
                {"sgd_decay", problem_with_decay(mw_sgd(0.05f), 0.1f)},
                {"momentum_decay", problem_with_decay(mw_sgd_momentum(0.05f, 0.8f, false), 0.1f)},
                {"nesterov", mw_sgd_momentum(0.05f, 0.8f, true)},
                {"adam", mw_adam(0.01f)},
                {"adam_decay", other_adam()},
                {"adamw", mw_adamw(0.01f, 0.1f)},
                {"rmsprop", mw_rmsprop(0.01f)},
                {"rmsprop_momentum", problem_rmsprop(0.9f, 1e-3f, false, 0.8f)},
                {"rmsprop_centered", problem_rmsprop(0.9f, 0.0f, true, 0.0f)},
                {"rmsprop_all", problem_with_decay(problem_rmsprop(0.99f, 0.0f, true, 0.8f), 0.1f)},
                {"adagrad", mw_adagrad(0.05f)},
                {"adagrad_all", problem_other_adagrad()}};
    snprintf(path, sizeof path, "%s/data/torch/optimizer.safetensors", MW_TESTS_DIR);
    REQUIRE(mw__safetensors_open(&file, mw__allocator_default(), path, &err) == MW_OK);
    CHECK_INT(file.count, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_variant(&file, rows[i].name, rows[i].optimizer);
    mw__safetensors_close(&file);
}

/* ---- the papers ---- */

static double largest_error(mw_optimizer optimizer, mw_device device, float loss_scale, int steps)
{
    mw_error err = {0};
    reference element[PROBLEM_COUNT] = {{0}};
    double value[PROBLEM_COUNT], off = 0.0;
    mw_trainer *trainer = problem_trainer(device, optimizer, loss_scale, &err);
    CHECK_OK(err);
    if (trainer == NULL)
        return INFINITY;
    problem_read(trainer, "w", value);
    for (int i = 0; i < PROBLEM_COUNT; i++)
        element[i].p = value[i];
    for (int t = 1; t <= steps; t++) {
        float gradient[PROBLEM_COUNT];
        problem_gradient(t - 1, gradient);
        problem_step(trainer, gradient, &err);
        for (int i = 0; i < PROBLEM_COUNT; i++)
            reference_step(&optimizer, &element[i], (double)gradient[i], t);
    }
    CHECK_OK(err);
    problem_read_sum(trainer, value);
    for (int i = 0; i < PROBLEM_COUNT; i++)
        off = fmax(off, fabs(value[i] - element[i].p));
    mw_trainer_destroy(trainer);
    return off;
}

/* fp32: ten roundings of a number below 1. Two-term weights drop half of them. */
static void test_every_kind_follows_its_paper_in_fp32(void)
{
    mw_optimizer kinds[PROBLEM_KINDS];
    const size_t count = problem_all_kinds(kinds);
    for (size_t i = 0; i < 2 * count; i++) {
        mw_optimizer optimizer = kinds[i / 2];
        mw_optimizer_set(&optimizer, MW_OPTIMIZER_COMPENSATED, i % 2 == 1);
        const double off = largest_error(optimizer, MW_DEVICE_CPU, 0.0f, STEPS);
        check_note(off <= 1e-6, __FILE__, __LINE__, "%s, row %zu, compensated %g: off by %.3g",
                   mw_optimizer_name(&optimizer), i / 2, mw_optimizer_get(&optimizer, MW_OPTIMIZER_COMPENSATED), off);
    }
}

/* fp16: each step rounds p, below 1 by 2^-12 at most; the change of a step, at most 0.1, has some ten roundings of
 * 2^-11. Two-term weights have these alone. */
static void test_every_kind_follows_its_paper_in_fp16(void)
{
    mw_optimizer kinds[PROBLEM_KINDS];
    const size_t count = problem_all_kinds(kinds);
    for (size_t i = 0; i < 2 * count; i++) {
        mw_optimizer optimizer = kinds[i / 2];
        mw_optimizer_set(&optimizer, MW_OPTIMIZER_COMPENSATED, i % 2 == 1);
        const double off = largest_error(optimizer, MW_DEVICE_ANE, 0.0f, STEPS);
        const double tolerance =
            STEPS * (mw_optimizer_get(&optimizer, MW_OPTIMIZER_COMPENSATED) != 0.0 ? 0.0 : 0x1p-12) +
            STEPS * 0.01 * 10 * 0x1p-11;
        check_note(off <= tolerance, __FILE__, __LINE__, "%s, row %zu, compensated %g: off by %.3g, not %.3g",
                   mw_optimizer_name(&optimizer), i / 2, mw_optimizer_get(&optimizer, MW_OPTIMIZER_COMPENSATED), off,
                   tolerance);
    }
}

/* ---- the loss scale ---- */

static void weights_of(mw_optimizer optimizer, float loss_scale, double *out)
{
    mw_error err = {0};
    mw_trainer *trainer = problem_trainer(MW_DEVICE_CPU, optimizer, loss_scale, &err);
    for (int step = 0; step < STEPS && trainer != NULL; step++) {
        float gradient[PROBLEM_COUNT];
        problem_gradient(step, gradient);
        problem_step(trainer, gradient, &err);
    }
    CHECK_OK(err);
    problem_read_sum(trainer, out);
    mw_trainer_destroy(trainer);
}

/* A power of two takes part in no rounding, so that no bit may differ. */
static void test_the_loss_scale_cancels_in_every_kind(void)
{
    mw_optimizer kinds[PROBLEM_KINDS];
    const size_t count = problem_all_kinds(kinds);
    for (size_t i = 0; i < 2 * count; i++) {
        mw_optimizer optimizer = kinds[i / 2];
        double plain[PROBLEM_COUNT], scaled[PROBLEM_COUNT];
        mw_optimizer_set(&optimizer, MW_OPTIMIZER_COMPENSATED, i % 2 == 1);
        weights_of(optimizer, 1.0f, plain);
        weights_of(optimizer, 1024.0f, scaled);
        check_note(memcmp(plain, scaled, sizeof plain) == 0, __FILE__, __LINE__,
                   "%s, row %zu, compensated %g: the loss scale changes weights", mw_optimizer_name(&optimizer), i / 2,
                   mw_optimizer_get(&optimizer, MW_OPTIMIZER_COMPENSATED));
    }
}

/* ---- states ---- */

static void check_states(mw_optimizer optimizer, bool half, const char *wanted)
{
    char names[128] = "";
    const mw__optimizer own = mw__optimizer_of(&optimizer);
    for (size_t i = 0; i < mw__optimizer_state_count(&own, half); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", mw__optimizer_state_name(&own, half, i));
    CHECK_STR(names, wanted);
}

static void test_states_have_names(void)
{
    check_states(mw_sgd(0.1f), false, "");
    check_states(mw_sgd_momentum(0.1f, 0.9f, false), false, "momentum ");
    check_states(mw_adam(0.1f), false, "m v ");
    check_states(mw_adam(0.1f), true, "m root ");
    check_states(mw_rmsprop(0.1f), false, "root ");
    check_states(problem_rmsprop(0.9f, 0.0f, true, 0.9f), false, "momentum mean root ");
    check_states(mw_adagrad(0.1f), false, "root ");
    check_states(mw_lion(0.1f, 0.0f), false, "m ");
    mw_optimizer two_terms = mw_adam(0.1f);
    mw_optimizer_set(&two_terms, MW_OPTIMIZER_COMPENSATED, true);
    check_states(two_terms, false, "m root root_low low ");
    check_states(two_terms, true, "m root root_low low ");
    two_terms = mw_sgd(0.1f);
    mw_optimizer_set(&two_terms, MW_OPTIMIZER_COMPENSATED, true);
    check_states(two_terms, false, "low ");
}

static void test_adagrad_starts_at_its_initial_accumulator(void)
{
    const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_optimizer optimizer = mw_adagrad(0.1f);
        mw_optimizer_set(&optimizer, MW_OPTIMIZER_INITIAL_ACCUMULATOR, 0.25f);
        mw_trainer *trainer = problem_trainer(devices[k], optimizer, 0.0f, &err);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        double root[PROBLEM_COUNT];
        problem_read(trainer, "w#root", root);
        for (int i = 0; i < PROBLEM_COUNT; i++)
            CHECK_NEAR(root[i], k == 0 ? 0.5 : 0.5 * 256.0, 0.0); /* in the scale of the gradients */
        mw_trainer_destroy(trainer);
    }
}

/* A gradient that never changes has no variance; PyTorch's difference of squares may then be below 0 and its root NaN.
 */
static void test_centered_rmsprop_survives_a_constant_gradient(void)
{
    const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_optimizer optimizer = problem_rmsprop(0.5f, 1e-3f, true, 0.0f);
        mw_optimizer_set(&optimizer, MW_OPTIMIZER_LEARNING_RATE, 1e-4f);
        mw_trainer *trainer = problem_trainer(devices[k], optimizer, 0.0f, &err);
        REQUIRE(trainer != NULL);
        float gradient[PROBLEM_COUNT];
        double value[PROBLEM_COUNT];
        for (int i = 0; i < PROBLEM_COUNT; i++)
            gradient[i] = 0.3f;
        for (int t = 0; t < 200; t++)
            problem_step(trainer, gradient, &err);
        problem_read(trainer, "w", value);
        for (int i = 0; i < PROBLEM_COUNT; i++)
            CHECK(isfinite(value[i]));
        CHECK_OK(err);
        mw_trainer_destroy(trainer);
    }
}

/* ---- failing memory ---- */

static mw_status build_update(const mw__optimizer *optimizer, const mw_allocator *allocator, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    mw_graph *graph = mw_graph_create(&options, NULL);
    if (graph == NULL)
        return mw__fail(err, MW_ERROR_MEMORY, "no graph");
    const mw_shape shape = MW_SHAPE(3);
    mw_tensor *p = mw_parameter(graph, "p", MW_F32, shape, mw_init_zeros()), *g = mw_input(graph, "g", MW_F32, shape);
    mw_tensor *state[MW__OPTIMIZER_STATES], *next[MW__OPTIMIZER_STATES], *new_p;
    mw__optimizer_scalars scalars = {.loss_scale = 2.0};
    const size_t count = mw__optimizer_state_count(optimizer, false);
    for (size_t i = 0; i < count; i++)
        state[i] = mw_input(graph, mw__optimizer_state_name(optimizer, false, i), MW_F32, shape);
    for (size_t i = 0; i < mw__optimizer_scalar_count(optimizer, false); i++)
        scalars.scalar[i] = mw_input(graph, mw__optimizer_scalar_name(optimizer, false, i), MW_F32, mw_shape_scalar());
    const mw__optimizer_request request = {.optimizer = optimizer,
                                           .scalars = &scalars,
                                           .graph = graph,
                                           .p = p,
                                           .gradient = g,
                                           .state = state,
                                           .state_count = count};
    const mw_status status = mw__optimizer_apply(&request, &new_p, next, err);
    for (size_t i = 0; i < count && status == MW_OK; i++)
        CHECK(next[i] != NULL);
    CHECK(status != MW_OK || new_p != NULL);
    mw_graph_destroy(graph);
    return status;
}

static void test_updates_survive_failing_allocations(void)
{
    mw_optimizer kinds[PROBLEM_KINDS];
    const size_t count = problem_all_kinds(kinds);
    for (size_t i = 0; i < 2 * count; i++) {
        bool done = false;
        mw_optimizer_set(&kinds[i / 2], MW_OPTIMIZER_COMPENSATED, i % 2 == 1);
        for (long n = 0; !done && n < 10000; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            const mw__optimizer own = mw__optimizer_of(&kinds[i / 2]);
            const mw_status status = build_update(&own, &allocator, &err);
            done = !failing.failed;
            CHECK(done ? status == MW_OK : status == MW_ERROR_MEMORY && err.status == status);
            CHECK_INT(failing.live, 0);
        }
        CHECK(done);
    }
}

/* ---- what is refused ---- */

static void refuse(mw_optimizer optimizer, const char *part)
{
    mw_error err = {0};
    const mw__optimizer own = mw__optimizer_of(&optimizer);
    CHECK_INT(mw__optimizer_check(&own, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, part);
}

#define REFUSE(maker, number, bad, part)                                                                               \
    do {                                                                                                               \
        mw_optimizer changed = maker;                                                                                  \
        CHECK(!mw_optimizer_set(&changed, MW_OPTIMIZER_##number, bad));                                                \
        refuse(changed, part);                                                                                         \
    } while (0)

static void test_bad_numbers_are_refused_by_name(void)
{
    refuse(mw_sgd(NAN), "optimizer sgd: learning_rate is nan; it must be positive and finite");
    refuse(mw_lion(0.0f, 0.0f), "learning_rate is 0; it must be positive and finite");
    refuse(mw_rmsprop(-1.0f), "learning_rate is -1; it must be positive and finite");
    refuse(mw_adagrad(INFINITY), "learning_rate is inf; it must be positive and finite");
    refuse(mw_lion(1.0f, -0.5f), "optimizer lion: weight_decay is -0.5; it must be 0 or more, and finite");
    refuse(mw_sgd_momentum(0.1f, 1.0f, false), "momentum is 1; it must be in [0, 1)");
    refuse(mw_sgd_momentum(0.1f, 0.0f, true), "nesterov needs a momentum above 0");
    REFUSE(mw_rmsprop(0.1f), MOMENTUM, -0.1, "optimizer rmsprop: momentum was set to -0.1; it must be in [0, 1)");
    REFUSE(mw_adam(0.1f), BETA1, 1, "beta1 was set to 1; it must be in [0, 1)");
    REFUSE(mw_adam(0.1f), BETA2, 1 - 1e-9, "beta2 was set to 1; it must be in [0, 1), in single precision");
    REFUSE(mw_lion(0.1f, 0.0f), BETA2, -0.5, "beta2 was set to -0.5; it must be in [0, 1)");
    REFUSE(mw_rmsprop(0.1f), ALPHA, 1, "alpha was set to 1; it must be in [0, 1)");
    REFUSE(mw_rmsprop(0.1f), ALPHA, NAN, "alpha was set to nan; it must be in [0, 1)");
    REFUSE(mw_adagrad(0.1f), EPSILON, -1e-8, "epsilon was set to -1e-08; it must be 0 or more, and finite");
    REFUSE(mw_adagrad(0.1f), EPSILON, 1e-50, "epsilon was set to 1e-50; it must be 0 or more, and finite, in single");
    REFUSE(mw_adagrad(0.1f), LR_DECAY, -1, "lr_decay was set to -1; it must be 0 or more, and finite");
    REFUSE(mw_adagrad(0.1f), INITIAL_ACCUMULATOR, INFINITY, "initial_accumulator was set to inf; it must be 0 or more");
    REFUSE(mw_adagrad(0.1f), INITIAL_ACCUMULATOR, 1e39, "initial_accumulator was set to 1e+39; it must be 0 or more");
    REFUSE(mw_sgd(0.1f), LEARNING_RATE, 1e-60,
           "learning_rate was set to 1e-60; it must be positive and finite, in single");
    REFUSE(mw_sgd(0.1f), COMPENSATED, 0.5, "compensated was set to 0.5; it must be 0 or 1");
    REFUSE(mw_rmsprop(0.1f), NESTEROV, true,
           "optimizer rmsprop: nesterov was set to 1, but it has none; it has "
           "learning_rate, alpha, centered, momentum, epsilon, weight_decay, "
           "decoupled, compensated");
    REFUSE(mw_adam(0.1f), CENTERED, true, "centered was set to 1, but it has none; it has learning_rate, beta1, beta2");
    REFUSE(mw_sgd(0.1f), BETA1, 0, "beta1 was set to 0, but it has none");
    mw_optimizer none = {{0}};
    CHECK(!mw_optimizer_set(&none, MW_OPTIMIZER_LEARNING_RATE, 0.1));
    refuse(none, "kind 0 is none; make one with mw_sgd");
    refuse((mw_optimizer){{99}}, "kind 99 is none");
}

static void test_numbers_that_are_none_are_refused(void)
{
    for (int number = -2; number < 40; number++) {
        mw_optimizer optimizer = mw_adam(0.1f);
        char part[80];
        if (number >= 0 && number <= (int)MW_OPTIMIZER_MATCH_RMS)
            continue;
        CHECK(!mw_optimizer_set(&optimizer, (mw_optimizer_number)number, 0.5));
        CHECK(mw_optimizer_get(&optimizer, (mw_optimizer_number)number) == 0.0);
        snprintf(part, sizeof part, "optimizer adam: mw_optimizer_set got number %d, which is none", number);
        refuse(optimizer, part);
    }
}

/* A good number behind it does not take it back, and the number itself stays as it was. */
static void test_the_first_refused_number_is_remembered(void)
{
    mw_optimizer optimizer = mw_adam(0.1f);
    CHECK(!mw_optimizer_set(&optimizer, MW_OPTIMIZER_BETA1, 7));
    CHECK(mw_optimizer_get(&optimizer, MW_OPTIMIZER_BETA1) == (double)0.9f);
    CHECK(!mw_optimizer_set(&optimizer, MW_OPTIMIZER_BETA2, 8));
    CHECK(mw_optimizer_set(&optimizer, MW_OPTIMIZER_BETA1, 0.5));
    CHECK(mw_optimizer_get(&optimizer, MW_OPTIMIZER_BETA1) == 0.5);
    const mw_optimizer copy = optimizer;
    refuse(copy, "beta1 was set to 7");
}

/* Each number of each kind: its name, its default, its ends, what lies beyond them, and that the others stay. */
static void check_number(mw_optimizer optimizer, const mw_optimizer_number_info *info)
{
    mw_error err = {0};
    const mw_optimizer was = optimizer;
    CHECK(mw_optimizer_get(&optimizer, info->number) == info->value);
    CHECK(info->least < info->most && info->value >= info->least && info->value <= info->most);
    for (int i = 0; i < 2; i++) {
        const double end = i == 0 ? info->least : info->most;
        CHECK(mw_optimizer_set(&optimizer, info->number, end) && mw_optimizer_get(&optimizer, info->number) == end);
    }
    mw_optimizer_number_info other, before;
    for (size_t i = 0; mw_optimizer_number_at(&optimizer, i, &other) && mw_optimizer_number_at(&was, i, &before); i++)
        CHECK(other.value == (other.number == info->number ? info->most : before.value));
    CHECK(mw_optimizer_set(&optimizer, info->number, info->value));
    const mw__optimizer own = mw__optimizer_of(&optimizer);
    CHECK_INT(mw__optimizer_check(&own, &err), MW_OK);
    mw_optimizer below = optimizer, above = optimizer;
    CHECK(!mw_optimizer_set(&below, info->number, info->least - 1e-3));
    CHECK(!mw_optimizer_set(&above, info->number, info->most * 1.001 + 1e-3));
    refuse(below, info->name);
    refuse(above, info->name);
}

static void test_every_optimizer_lists_its_numbers(void)
{
    static const struct {
        const char *name, *numbers;
    } wanted[] = {
        {"sgd", "learning_rate momentum nesterov weight_decay decoupled compensated "},
        {"adam", "learning_rate beta1 beta2 epsilon weight_decay decoupled compensated "},
        {"rmsprop", "learning_rate alpha centered momentum epsilon weight_decay decoupled compensated "},
        {"adagrad", "learning_rate lr_decay initial_accumulator epsilon weight_decay decoupled compensated "},
        {"lion", "learning_rate beta1 beta2 weight_decay decoupled compensated "},
        {"muon", "learning_rate beta1 beta2 momentum nesterov epsilon weight_decay decoupled compensated match_rms "},
        {"custom", "learning_rate weight_decay "},
        {"?", ""}};
    const mw_optimizer optimizers[] = {
        mw_sgd(1), mw_adam(1), mw_rmsprop(1), mw_adagrad(1), mw_lion(1, 0), mw_muon(1, 0), mw_optimizer_custom(1, NULL),
        {{0}}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char list[240] = "";
        mw_optimizer_number_info info;
        CHECK_STR(mw_optimizer_name(&optimizers[i]), wanted[i].name);
        for (size_t k = 0; mw_optimizer_number_at(&optimizers[i], k, &info); k++) {
            strcat(strcat(list, info.name), " ");
            if (i < 6)
                check_number(optimizers[i], &info);
        }
        CHECK_STR(list, wanted[i].numbers);
    }
}

static void refuse_in_fp16(mw_optimizer optimizer, const char *part)
{
    mw_error err = {0};
    mw_trainer *trainer = problem_trainer(MW_DEVICE_ANE, optimizer, 0.0f, &err);
    CHECK(trainer == NULL);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, part);
    mw_trainer_destroy(trainer);
}

static void test_numbers_that_fp16_loses_are_refused_by_name(void)
{
    mw_optimizer optimizer = mw_rmsprop(0.1f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_ALPHA, 1e-9f);
    refuse_in_fp16(optimizer, "alpha is 1e-09, which fp16 cannot hold");
    optimizer = mw_adagrad(0.1f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_INITIAL_ACCUMULATOR, 1e6f); /* its root times the loss scale of 256 */
    refuse_in_fp16(optimizer, "initial_accumulator is 256000, which fp16 cannot hold");
    refuse_in_fp16(mw_rmsprop(1e-9f), "learning_rate is 1e-09");
    optimizer = mw_lion(300.0f, 0.0f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_COMPENSATED, true); /* 300 in the unit of the low term */
    refuse_in_fp16(optimizer, "learning_rate is 76800");
}

int main(void)
{
    RUN(test_every_variant_follows_pytorch);
    RUN(test_every_kind_follows_its_paper_in_fp32);
    RUN(test_every_kind_follows_its_paper_in_fp16);
    RUN(test_the_loss_scale_cancels_in_every_kind);
    RUN(test_states_have_names);
    RUN(test_adagrad_starts_at_its_initial_accumulator);
    RUN(test_centered_rmsprop_survives_a_constant_gradient);
    RUN(test_updates_survive_failing_allocations);
    RUN(test_bad_numbers_are_refused_by_name);
    RUN(test_numbers_that_are_none_are_refused);
    RUN(test_the_first_refused_number_is_remembered);
    RUN(test_every_optimizer_lists_its_numbers);
    RUN(test_numbers_that_fp16_loses_are_refused_by_name);
    return check_finish();
}
