/* Options of trainers and fits, one field out of range at a time, or without another that it needs: each is refused
 * before anything is done with it, and the message names it. */
#include "support/check.h"

#include <float.h>
#include <limits.h>
#include <millwright/millwright.h>

enum { N = 4, D = 3, C = 2, EXAMPLES = 8 };

typedef struct made {
    mw_error err;
    mw_graph *graph;
    mw_tensor *loss;
    mw_dataset *data;
} made;

static void make_all(made *m)
{
    static float x[EXAMPLES * D];
    static int32_t y[EXAMPLES];
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(D), .data = x},
                                 {.name = "y", .dtype = MW_I32, .data = y}};
    *m = (made){0};
    m->graph = mw_graph_create(NULL, &m->err);
    mw_tensor *input = mw_input(m->graph, "x", MW_F32, MW_SHAPE(N, D));
    m->loss = mw_cross_entropy(mw_dense(input, C, "fc"), mw_input(m->graph, "y", MW_I32, MW_SHAPE(N)));
    m->data = mw_dataset_create(columns, 2, EXAMPLES, true, &m->err);
    CHECK_OK(m->err);
}

static void destroy_all(made *m)
{
    mw_dataset_destroy(m->data);
    mw_graph_destroy(m->graph);
}

static void check_trainer(made *m, const mw_trainer_options *options, const char *what, int line)
{
    mw_trainer *trainer = mw_trainer_create(options, &m->err);
    check_note(trainer == NULL && m->err.status != MW_OK && m->err.message[0] != '\0', __FILE__, line, "accepted: %s",
               what);
    mw_trainer_destroy(trainer);
}

static void check_fit(made *m, mw_fit_options *options, const char *what, int line)
{
    const mw_trainer_options fine = mw_trainer_defaults(m->loss, mw_sgd(0.1f));
    mw_trainer *trainer = mw_trainer_create(&fine, &m->err);
    CHECK_OK(m->err);
    options->progress.quiet = options->progress.ignore_signals = true;
    const mw_status status = mw_trainer_fit(trainer, options, &m->err);
    check_note(status != MW_OK && m->err.message[0] != '\0' && mw_trainer_get_info(trainer).steps == 0, __FILE__, line,
               "accepted: %s", what);
    mw_trainer_destroy(trainer);
}

#define TRAINER(...)                                                                                                   \
    do {                                                                                                               \
        made m;                                                                                                        \
        make_all(&m);                                                                                                  \
        mw_trainer_options options = mw_trainer_defaults(m.loss, mw_sgd(0.1f));                                        \
        __VA_ARGS__;                                                                                                   \
        check_trainer(&m, &options, #__VA_ARGS__, __LINE__);                                                           \
        destroy_all(&m);                                                                                               \
    } while (0)

#define NUMBER(maker, name, value)                                                                                     \
    TRAINER(options.optimizer = maker, mw_optimizer_set(&options.optimizer, MW_OPTIMIZER_##name, value))

#define GROUP(number, value)                                                                                           \
    TRAINER(mw_parameter_group group = mw_parameter_group_defaults("*");                                               \
            mw_parameter_group_set(&group, number, value); options.groups = &group; options.group_count = 1)

#define FIT(...)                                                                                                       \
    do {                                                                                                               \
        made m;                                                                                                        \
        make_all(&m);                                                                                                  \
        mw_fit_options options = mw_fit_defaults(m.data, 1);                                                           \
        __VA_ARGS__;                                                                                                   \
        check_fit(&m, &options, #__VA_ARGS__, __LINE__);                                                               \
        destroy_all(&m);                                                                                               \
    } while (0)

static void test_trainers_refuse_options_out_of_range(void)
{
    static const float bad[] = {-1.0f, (float)NAN, INFINITY, -INFINITY};
    static const float units[] = {1.0f, -0.1f, 2.0f, (float)NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        TRAINER(options.precision.loss_scale = bad[i]);
        TRAINER(options.clipping.norm = bad[i]);
        TRAINER(options.clipping.value = bad[i]);
        TRAINER(options.average_decay = bad[i]);
        TRAINER(options.rates.decay = bad[i]);
        NUMBER(mw_adam(0.1f), LEARNING_RATE, bad[i]);
        NUMBER(mw_adam(0.1f), WEIGHT_DECAY, bad[i]);
        NUMBER(mw_adam(0.1f), EPSILON, bad[i]);
        NUMBER(mw_adagrad(0.1f), LR_DECAY, bad[i]);
        NUMBER(mw_adagrad(0.1f), INITIAL_ACCUMULATOR, bad[i]);
        GROUP(MW_GROUP_RATE_FACTOR, bad[i]);
        GROUP(MW_GROUP_WEIGHT_DECAY, bad[i]);
        GROUP(MW_GROUP_FROZEN, bad[i]);
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        NUMBER(mw_adam(0.1f), BETA1, units[i]);
        NUMBER(mw_lion(0.1f, 0.0f), BETA2, units[i]);
        NUMBER(mw_sgd(0.1f), MOMENTUM, units[i]);
        NUMBER(mw_rmsprop(0.1f), ALPHA, units[i]);
    }
    TRAINER(options.optimizer = (mw_optimizer){{0}});
    TRAINER(options.optimizer = (mw_optimizer){{99}});
    TRAINER(options.optimizer = (mw_optimizer){{UINT32_MAX}});
    NUMBER(mw_sgd(0.1f), LEARNING_RATE, 0);
    NUMBER(mw_sgd(0.1f), BETA1, 0.5);
    NUMBER(mw_adam(0.1f), DECOUPLED, 0.5);
    TRAINER(options.accumulate = -1);
    TRAINER(options.accumulate = INT_MAX);
    TRAINER(options.dispatch_steps = -1);
    TRAINER(options.dispatch_steps = INT_MAX);
    TRAINER(options.precision.loss_scale = 3.0f);
    TRAINER(options.precision.dynamic = true, options.precision.loss_scale = 65536.0f);
    TRAINER(options.precision.interval = -1);
    TRAINER(options.precision.interval = 2001);
    TRAINER(options.memory.segments = -2);
    TRAINER(options.memory.segments = 4097);
    TRAINER(options.memory.segments = 2, options.memory.limit = 1 << 20);
    TRAINER(options.memory.limit = 1);
    TRAINER(options.ranks.verify_steps = -2);
    TRAINER(options.ranks.local_steps = -1);
    TRAINER(options.ranks.local_steps = 10001);
    TRAINER(options.ranks.local_steps = 2, options.ranks.shard_states = true);
    TRAINER(options.ranks.local_steps = 2, options.ranks.outer_learning_rate = 11.0f);
    TRAINER(options.ranks.outer_momentum = 0.5f);
    TRAINER(options.ranks.wire = (mw_wire)3);
    TRAINER(options.ranks.bucket_bytes = 1023);
    TRAINER(options.watch.count = 1);
    TRAINER(options.watch.replay_folder = "");
    TRAINER(options.metric_count = SIZE_MAX);
    TRAINER(options.group_count = SIZE_MAX);
    TRAINER(options.compile.threads = -5);
    TRAINER(options.compile.struct_size = 0);
}

static void test_fitting_refuses_options_out_of_range(void)
{
    FIT(options.epochs = 0);
    FIT(options.epochs = -1);
    FIT(options.epochs = INT64_MAX);
    FIT(options.data.training = NULL);
    FIT(options.checkpoint.path = "");
    FIT(options.schedule.rate.kind = (mw_schedule_kind)77);
    FIT(options.schedule.rate.warmup_steps = -1);
    FIT(options.schedule.rate = mw_schedule_cosine((double)NAN));
    FIT(options.schedule.rate = mw_schedule_custom(NULL, NULL));
    FIT(options.schedule.plateau_patience = -1);
    FIT(options.schedule.plateau_patience = 1, options.schedule.plateau_factor = 0.5);
    FIT(options.data.validation_share = 1.0);
    FIT(options.data.validation_share = (double)NAN);
    FIT(options.data.validation_share = 0.5, options.data.validation = options.data.training);
    FIT(options.checkpoint.steps = 1);
    FIT(options.checkpoint.seconds = 1.0);
    FIT(options.checkpoint.seconds = -1.0);
    FIT(options.checkpoint.keep_last = 1);
    FIT(options.stopping.patience = -1);
    FIT(options.stopping.patience = 1);
    FIT(options.stopping.restore_best = true);
    FIT(options.stopping.best_by = "loss");
    FIT(options.metrics.path = "no format");
    FIT(options.metrics.more_count = 1);
}

int main(void)
{
    RUN(test_trainers_refuse_options_out_of_range);
    RUN(test_fitting_refuses_options_out_of_range);
    return check_finish();
}
