/* Frozen groups and batch norm: by default the running statistics stay and the layer normalizes by them, so that a step
 * computes what evaluation does; moving_statistics freezes parameters alone. */
#include "runtime/files.h"
#include "runtime/trainer/object/trainer_object.h"
#include "support/check.h"
#include "support/evaluated.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { N = 16, D = 4, H = 3 };

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

typedef struct data {
    float x[N * D], y[N];
    mw_feed feeds[2];
    mw_batch batch;
} data;

static void fill(data *d)
{
    for (int i = 0; i < N * D; i++)
        d->x[i] = (float)(i * 37 % 101) / 40.0f - 0.5f;
    for (int i = 0; i < N; i++)
        d->y[i] = (float)(i * 53 % 97) / 50.0f - 1.0f;
    d->feeds[0] = (mw_feed){.name = "x", .data = d->x, .dtype = MW_F32, .count = N * D};
    d->feeds[1] = (mw_feed){.name = "y", .data = d->y, .dtype = MW_F32, .count = N};
    d->batch = (mw_batch){.feeds = d->feeds, .feed_count = 2, .examples = N};
}

/* x [N, D] -> "fc1" [H] -> batch norm "bn" -> tanh -> dropout "bn.drop" (if asked for) -> "fc2" [1], mean square. */
typedef struct setup {
    mw_device device;
    const mw_parameter_group *groups;
    size_t group_count;
    float rate;
    int accumulate;
    bool drops;
} setup;

static mw_trainer *make(const setup *s, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D)), *y = mw_input(graph, "y", MW_F32, MW_SHAPE(N, 1));
    mw_tensor *h = mw_tanh(mw_batch_norm_layer(mw_dense(x, H, "fc1"), 0.25f, 1e-3f, "bn"));
    h = s->drops ? mw_dropout(h, 0.5f, "bn.drop") : h;
    mw_trainer_options options = mw_trainer_defaults(mw_mse(mw_dense(h, 1, "fc2"), y), mw_sgd(s->rate));
    options.groups = s->groups;
    options.group_count = s->group_count;
    options.accumulate = s->accumulate;
    options.precision.loss_scale = 1.0f;
    options.compile.device = s->device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static float step(mw_trainer *trainer, const data *d, int count, mw_error *err)
{
    float loss = 0;
    for (int i = 0; i < count; i++)
        mw_trainer_step(trainer, &d->batch, &loss, err);
    return loss;
}

static double evaluate(mw_trainer *trainer, const data *d, mw_error *err)
{
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(D), .data = d->x},
                                 {.name = "y", .dtype = MW_F32, .shape = MW_SHAPE(1), .data = d->y}};
    double loss = 0;
    mw_dataset *dataset = mw_dataset_create(columns, 2, N, false, err);
    evaluated(trainer, dataset, &loss, NULL, err);
    mw_dataset_destroy(dataset);
    return loss;
}

/* What moved of the layer: weight, bias, mean, variance. */
typedef struct layer {
    float part[4][H];
} layer;

static layer read_layer(mw_trainer *trainer, mw_error *err)
{
    static const char *const names[4] = {"bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"};
    layer l = {0};
    for (int i = 0; i < 4; i++)
        mw_trainer_read(trainer, names[i], MW_F32, l.part[i], H, err);
    return l;
}

static void check_moved(const layer *a, const layer *b, bool parameters, bool statistics)
{
    for (int i = 0; i < 4; i++)
        CHECK((memcmp(a->part[i], b->part[i], sizeof a->part[i]) != 0) == (i < 2 ? parameters : statistics));
}

/* Statistics that are not those of the batch, as a pretrained layer has them. */
static void set_statistics(mw_trainer *trainer, mw_error *err)
{
    const float mean[H] = {0.5f, -0.25f, 0.125f}, variance[H] = {2.0f, 0.5f, 1.5f};
    mw_trainer_write(trainer, "bn.running_mean", MW_F32, mean, H, err);
    mw_trainer_write(trainer, "bn.running_var", MW_F32, variance, H, err);
}

static void check_group(const setup *s, bool parameters, bool statistics)
{
    data d;
    mw_error err = {0};
    fill(&d);
    mw_trainer *trainer = make(s, &err);
    REQUIRE(CHECK_OK(err));
    set_statistics(trainer, &err);
    const double expected = evaluate(trainer, &d, &err);
    const layer before = read_layer(trainer, &err);
    const double first = (double)step(trainer, &d, 1, &err);
    step(trainer, &d, 5, &err);
    const layer after = read_layer(trainer, &err);
    CHECK_OK(err);
    check_moved(&before, &after, parameters, statistics);
    /* the loss of a step is that of evaluation, if the layer normalizes by its running statistics */
    const double apart = fabs(first - expected) / expected;
    CHECK((apart < (s->device == MW_DEVICE_ANE ? 2e-3 : 1e-6)) == !statistics);
    mw_trainer_destroy(trainer);
}

static void test_a_frozen_layer_is_the_one_of_evaluation(void)
{
    const mw_parameter_group frozen = mw_parameter_group_frozen("bn.*");
    for (int k = 0; k < 2; k++)
        for (int accumulate = 1; accumulate <= 3; accumulate += 2)
            check_group(&(setup){devices[k], &frozen, 1, 0.1f, accumulate, false}, false, false);
}

static void test_statistics_move_where_that_is_asked_for(void)
{
    mw_parameter_group frozen = mw_parameter_group_frozen("bn.*");
    mw_parameter_group_set(&frozen, MW_GROUP_MOVING_STATISTICS, true);
    for (int k = 0; k < 2; k++)
        check_group(&(setup){devices[k], &frozen, 1, 0.1f, 1, false}, false, true);
}

static void test_statistics_alone_can_be_frozen(void)
{
    const mw_parameter_group frozen = mw_parameter_group_frozen("*.running_*");
    for (int k = 0; k < 2; k++)
        check_group(&(setup){devices[k], &frozen, 1, 0.1f, 1, false}, true, false);
}

static void test_statistics_of_other_layers_move(void)
{
    const mw_parameter_group frozen = mw_parameter_group_frozen("fc1.*");
    for (int k = 0; k < 2; k++)
        check_group(&(setup){devices[k], &frozen, 1, 0.1f, 1, false}, true, true);
}

/* The first pattern that matches counts, for states as for parameters. */
static void test_the_first_group_decides(void)
{
    mw_parameter_group groups[] = {mw_parameter_group_defaults("bn.*"), mw_parameter_group_frozen("*n*")};
    mw_error err = {0};
    CHECK(make(&(setup){MW_DEVICE_CPU, groups, 2, 0.1f, 1, false}, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "group 2 \"*n*\" gets no parameter");
    groups[1] = mw_parameter_group_frozen("fc?.*");
    check_group(&(setup){MW_DEVICE_CPU, groups, 2, 0.1f, 1, false}, true, true);
}

/* A generator of random numbers is no part of what a layer has learned: its masks differ from step to step. */
static void test_dropout_goes_on_in_a_frozen_layer(void)
{
    const mw_parameter_group frozen = mw_parameter_group_frozen("bn.*");
    data d;
    mw_error err = {0};
    fill(&d);
    mw_trainer *trainer = make(&(setup){MW_DEVICE_CPU, &frozen, 1, 0.1f, 1, true}, &err);
    mw_trainer_set_learning_rate(trainer, 0.0f, &err);
    const float first = step(trainer, &d, 1, &err), second = step(trainer, &d, 1, &err);
    CHECK_OK(err);
    CHECK(first != second);
    mw_trainer_destroy(trainer);
}

/* The change of a weight below the layer by a step of gradient descent, against differences of the evaluated loss. */
static void test_gradients_go_through_a_frozen_layer(void)
{
    const mw_parameter_group frozen = mw_parameter_group_frozen("bn.*");
    data d;
    mw_error err = {0};
    fill(&d);
    mw_trainer *trainer = make(&(setup){MW_DEVICE_CPU, &frozen, 1, 1.0f, 1, false}, &err);
    set_statistics(trainer, &err);
    float before[H * D], after[H * D], moved[H * D];
    mw_trainer_read(trainer, "fc1.weight", MW_F32, before, H * D, &err);
    double expected[H * D];
    for (int i = 0; i < H * D; i++) {
        const float h = 0.01f;
        double losses[2];
        for (int side = 0; side < 2; side++) {
            memcpy(moved, before, sizeof moved);
            moved[i] += side == 0 ? -h : h;
            mw_trainer_write(trainer, "fc1.weight", MW_F32, moved, H * D, &err);
            losses[side] = evaluate(trainer, &d, &err);
        }
        expected[i] = (losses[1] - losses[0]) / (2.0 * (double)h);
    }
    mw_trainer_write(trainer, "fc1.weight", MW_F32, before, H * D, &err);
    step(trainer, &d, 1, &err);
    mw_trainer_read(trainer, "fc1.weight", MW_F32, after, H * D, &err);
    CHECK_OK(err);
    for (int i = 0; i < H * D; i++) /* fp32 losses near 1: differences are right to some 1e-5, the curve to h^2 */
        CHECK_NEAR((double)before[i] - (double)after[i], expected[i], 1e-4);
    mw_trainer_destroy(trainer);
}

/* A checkpoint of the other choice would go on with other numbers. */
static void test_checkpoints_tell_the_choice(void)
{
    mw_parameter_group frozen = mw_parameter_group_frozen("bn.*");
    mw_error err = {0};
    mw_trainer *one = make(&(setup){MW_DEVICE_CPU, &frozen, 1, 0.1f, 1, false}, &err);
    mw_parameter_group_set(&frozen, MW_GROUP_MOVING_STATISTICS, true);
    mw_trainer *other = make(&(setup){MW_DEVICE_CPU, &frozen, 1, 0.1f, 1, false}, &err);
    mw_trainer_save(one, scratch("frozen.safetensors"), NULL, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_load(other, scratch("frozen.safetensors"), NULL, &err), MW_ERROR_FORMAT);
    err = (mw_error){0};
    CHECK_INT(mw_trainer_load(one, scratch("frozen.safetensors"), NULL, &err), MW_OK);
    mw_trainer_destroy(one);
    mw_trainer_destroy(other);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_a_frozen_layer_is_the_one_of_evaluation);
    RUN(test_statistics_move_where_that_is_asked_for);
    RUN(test_statistics_alone_can_be_frozen);
    RUN(test_statistics_of_other_layers_move);
    RUN(test_the_first_group_decides);
    RUN(test_dropout_goes_on_in_a_frozen_layer);
    RUN(test_gradients_go_through_a_frozen_layer);
    RUN(test_checkpoints_tell_the_choice);
    return check_finish();
}
