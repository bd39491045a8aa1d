/* Named metrics: what they are called, what is refused when a trainer is made, what a fit refuses before its first
 * step.
 */
#include "runtime/files.h"
#include "runtime/small.h"
#include "runtime/trainer/object/trainer_object.h"
#include "support/check.h"
#include "support/failing.h"

#include <stdlib.h>
#include <unistd.h>

static mw_trainer_options options_of(const small_net *net)
{
    mw_trainer_options options = mw_trainer_defaults(net->loss, mw_adam(0.02f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.seed = 3;
    return options;
}

/* ---- names ---- */

static void test_a_metric_has_the_users_name_or_its_constructors(void)
{
    for (int k = 0; k < 4; k++) {
        mw_error err = {0};
        const small_data data = small_make_data();
        small_net net = small_create(NULL);
        mw_trainer_options options = options_of(&net);
        mw_tensor *plain = mw_reduce_mean(mw_square(net.logits), MW_ALL_AXES, false);
        const mw_metric more = {"squares", plain};
        options.metric = k == 0 ? net.accuracy : k == 1 ? mw_name(net.accuracy, "hits") : k == 2 ? plain : NULL;
        options.metrics = &more;
        options.metric_count = k != 2;
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        mw_graph_destroy(net.graph);
        mw_dataset *dataset = small_open_data(&data, 19, &err);
        mw_evaluation found;
        mw_trainer_evaluate(trainer, dataset, NULL, &found, &err);
        if (CHECK_OK(err)) {
            static const char *const first[] = {"accuracy", "hits", "metric", "squares"};
            CHECK_INT(found.metric_count, k < 2 ? 2 : 1);
            CHECK_STR(found.metrics[0].name, first[k]);
            CHECK(k >= 2 || strcmp(found.metrics[1].name, "squares") == 0);
            CHECK(k >= 2 || found.metrics[0].value != found.metrics[1].value);
        }
        mw_dataset_destroy(dataset);
        mw_trainer_destroy(trainer);
    }
}

/* The caller's array and names may go once the trainer is made. */
static void test_names_are_copied(void)
{
    mw_error err = {0};
    const small_data data = small_make_data();
    small_net net = small_create(NULL);
    mw_trainer_options options = options_of(&net);
    char name[] = "hits";
    mw_metric metric = {name, net.accuracy};
    options.metrics = &metric;
    options.metric_count = 1;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(net.graph);
    memset(name, 'x', 4);
    metric = (mw_metric){0};
    mw_dataset *dataset = small_open_data(&data, 8, &err);
    mw_evaluation found = {0};
    mw_trainer_evaluate(trainer, dataset, NULL, &found, &err);
    CHECK_OK(err);
    CHECK_STR(found.metrics[0].name, "hits");
    mw_dataset_destroy(dataset);
    mw_trainer_destroy(trainer);
}

static void test_unfit_metrics_are_refused(void)
{
    small_net net = small_create(NULL), other = small_create(NULL);
    mw_tensor *wide = net.logits, *whole = mw_reduce_sum(net.y, MW_ALL_AXES, false);
    char long_name[65];
    memset(long_name, 'n', 64);
    long_name[64] = '\0';
    mw_metric many[MW_METRICS_MAX + 1];
    for (int i = 0; i <= MW_METRICS_MAX; i++)
        many[i] = (mw_metric){"m", net.accuracy};
    const struct {
        mw_metric metric[2];
        const mw_metric *metrics;
        size_t count;
        bool first;
        mw_status status;
        const char *said;
    } cases[] = {
        {.count = 1, .status = MW_ERROR_ARGUMENT, .said = "1 metrics, but their array is NULL"},
        {.metrics = many,
         .count = MW_METRICS_MAX + 1,
         .status = MW_ERROR_ARGUMENT,
         .said = "17 metrics; at most 16 are watched"},
        {.metrics = many,
         .count = MW_METRICS_MAX,
         .first = true,
         .status = MW_ERROR_ARGUMENT,
         .said = "17 metrics; at most 16 are watched"},
        {.metrics = many,
         .count = SIZE_MAX,
         .first = true,
         .status = MW_ERROR_ARGUMENT,
         .said = "at most 16 are watched"},
        {.metric = {{NULL, net.accuracy}},
         .count = 1,
         .status = MW_ERROR_ARGUMENT,
         .said = "metric 0 \"(no name)\" needs a name of 1 to 63 bytes"},
        {.metric = {{"", net.accuracy}}, .count = 1, .status = MW_ERROR_ARGUMENT, .said = "needs a name"},
        {.metric = {{"a\nb", net.accuracy}},
         .count = 1,
         .status = MW_ERROR_ARGUMENT,
         .said = "without control characters"},
        {.metric = {{"caf\xe9", net.accuracy}}, .count = 1, .status = MW_ERROR_ARGUMENT, .said = "bytes of UTF-8"},
        {.metric = {{long_name, net.accuracy}}, .count = 1, .status = MW_ERROR_ARGUMENT, .said = "needs a name"},
        {.metric = {{"a", net.accuracy}, {"b", NULL}},
         .count = 2,
         .status = MW_ERROR_ARGUMENT,
         .said = "metric 1 \"b\" is NULL"},
        {.metric = {{"a", net.accuracy}, {"a", net.loss}},
         .count = 2,
         .status = MW_ERROR_ARGUMENT,
         .said = "two metrics are called \"a\""},
        {.metric = {{"accuracy", net.loss}},
         .count = 1,
         .first = true,
         .status = MW_ERROR_ARGUMENT,
         .said = "two metrics are called \"accuracy\""},
        {.metric = {{"a", other.accuracy}},
         .count = 1,
         .status = MW_ERROR_ARGUMENT,
         .said = "metric 0 \"a\" belongs to another graph"},
        {.metric = {{"a", wide}}, .count = 1, .status = MW_ERROR_SHAPE, .said = "metric 0 \"a\" has 24 elements"},
        {.metric = {{"a", whole}}, .count = 1, .status = MW_ERROR_DTYPE, .said = "metric 0 \"a\" is int32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        mw_trainer_options options = options_of(&net);
        options.metric = cases[i].first ? net.accuracy : NULL;
        options.metrics = cases[i].metrics != NULL || cases[i].said[0] == '1' ? cases[i].metrics : cases[i].metric;
        options.metric_count = cases[i].count;
        CHECK(mw_trainer_create(&options, &err) == NULL);
        CHECK_ERROR(err, cases[i].status, cases[i].said);
    }
    mw_graph_destroy(other.graph);
    mw_graph_destroy(net.graph);
}

/* ---- fitting ---- */

static mw_trainer *make_trainer(const mw_allocator *allocator, mw_error *err)
{
    small_net net = {.graph = mw_graph_create(NULL, NULL)};
    net.x = mw_input(net.graph, "x", MW_F32, MW_SHAPE(SMALL_N, SMALL_D));
    net.y = mw_input(net.graph, "y", MW_I32, MW_SHAPE(SMALL_N));
    net.logits = mw_dense(mw_tanh(mw_dense(net.x, SMALL_H, "fc1")), SMALL_C, "fc2");
    mw_trainer_options options = options_of(&net);
    mw_cross_entropy_options ignoring = mw_cross_entropy_defaults();
    ignoring.ignore_index = -1;
    mw_tensor *weight = mw_graph_find(net.graph, "fc1.weight");
    mw_tensor *norm = mw_reduce_sum(mw_square(weight), MW_ALL_AXES, false);
    mw_tensor *loss = mw_cross_entropy_with(net.logits, net.y, &ignoring);
    const mw_metric metrics[] = {
        {"accuracy", mw_accuracy_ignoring(net.logits, net.y, -1)}, {"norm", norm}, {"root", mw_sqrt(loss)}};
    options.loss = mw_add(loss, mw_mul_scalar(norm, 0.01));
    options.metrics = metrics;
    options.metric_count = 3;
    options.compile.allocator = allocator;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static void test_fit_refuses_a_validation_set_before_the_first_step(void)
{
    const small_data good = small_make_data();
    small_data ignored = good, outside = good;
    for (int n = 0; n < SMALL_EXAMPLES; n++)
        ignored.y[n] = -1;
    outside.y[3] = 7;
    const mw_column unlabeled[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = good.x}};
    const mw_column narrow[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D - 1), .data = good.x},
                                {.name = "y", .dtype = MW_I32, .shape = {0}, .data = good.y}};
    mw_error err = {0};
    mw_dataset *training = small_open_data(&good, SMALL_EXAMPLES, &err);
    const struct {
        mw_dataset *validation;
        mw_status status;
        const char *said;
    } cases[] = {
        {mw_dataset_create(unlabeled, 1, 21, true, &err), MW_ERROR_ARGUMENT, "has no feed \"y\""},
        {mw_dataset_create(narrow, 2, 21, true, &err), MW_ERROR_SHAPE, "feed \"x\" has 32 elements, its port 40"},
        {small_open_data(&ignored, 21, &err), MW_ERROR_NUMERIC,
         "the loss has no mean: every label of the data set is ignored"},
        {small_open_data(&outside, 21, &err), MW_ERROR_ARGUMENT, "feed \"y\" element 3"},
    };
    CHECK_OK(err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_trainer *trainer = make_trainer(NULL, &err);
        REQUIRE(CHECK_OK(err));
        mw_error refused = {0};
        mw_fit_options fit = mw_fit_defaults(training, 2);
        fit.data.validation = cases[i].validation;
        fit.checkpoint.path = scratch("metrics/refused.safetensors");
        fit.progress.quiet = fit.progress.ignore_signals = true;
        const small_snapshot before = small_take(trainer);
        CHECK_INT(mw_trainer_fit(trainer, &fit, &refused), cases[i].status);
        CHECK_ERROR(refused, cases[i].status, cases[i].said);
        CHECK_CONTAINS(refused.message, "mw_trainer_fit: validation: ");
        CHECK_INT(mw_trainer_get_info(trainer).steps, 0);
        const small_snapshot after = small_take(trainer);
        small_check_same(&before, &after);
        CHECK(access(fit.checkpoint.path, F_OK) != 0);
        mw_trainer_destroy(trainer);
        mw_dataset_destroy(cases[i].validation);
    }
    mw_dataset_destroy(training);
}

typedef struct seen {
    mw_evaluation last;
    int epochs;
} seen;

static bool watch(void *user, const mw_progress *progress)
{
    seen *s = user;
    s->epochs += progress->epoch_end;
    if (progress->epoch_end)
        s->last = progress->validation;
    return false;
}

/* 21 examples in batches of 8, with a first batch in which no label counts. */
static void test_fit_validates_a_composite_loss(void)
{
    const small_data data = small_make_data();
    small_data some = data;
    for (int n = 0; n < SMALL_N; n++)
        some.y[n] = -1;
    mw_error err = {0};
    seen s = {0};
    mw_trainer *trainer = make_trainer(NULL, &err);
    mw_dataset *training = small_open_data(&data, SMALL_EXAMPLES, &err), *validation = small_open_data(&some, 21, &err);
    mw_fit_options fit = mw_fit_defaults(training, 3);
    fit.data.validation = validation;
    fit.progress.function = watch;
    fit.progress.user = &s;
    fit.progress.quiet = fit.progress.ignore_signals = true;
    mw_trainer_fit(trainer, &fit, &err);
    REQUIRE(CHECK_OK(err));
    CHECK_INT(s.epochs, 3);
    CHECK_INT(s.last.examples, 21);
    CHECK_INT(s.last.metric_count, 3);
    const small_weights weights = small_read(trainer, &err);
    double norm = 0;
    for (int i = 0; i < SMALL_H * SMALL_D; i++)
        norm += weights.value[i] * weights.value[i];
    CHECK_NEAR(s.last.loss, small_loss(&weights, &data, 8, 13) + 0.01 * norm, 2e-6);
    CHECK_STR(s.last.metrics[0].name, "accuracy");
    CHECK_NEAR(s.last.metrics[0].value, small_accuracy(&weights, &data, 8, 13), 1e-9);
    CHECK_STR(s.last.metrics[1].name, "norm");
    CHECK_NEAR(s.last.metrics[1].value, norm, 2e-6);
    CHECK_STR(s.last.metrics[2].name, "root");
    mw_dataset_destroy(validation);
    mw_dataset_destroy(training);
    mw_trainer_destroy(trainer);
}

/* ---- a lack of memory ---- */

static void test_making_and_evaluating_metrics_survive_every_failure(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_dataset *dataset = small_open_data(&data, 21, &err);
    bool done = false;
    for (long n = 0; !done && n < 20000; n++) {
        failing_allocator failing = {.fail_at = n, .and_after = n % 2 == 1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error said = {0};
        mw_evaluation found = {.loss = 7};
        mw_trainer *trainer = make_trainer(&allocator, &said);
        const bool made = trainer != NULL;
        mw_status status = made ? mw_trainer_evaluate(trainer, dataset, NULL, &found, &said) : said.status;
        done = !failing.failed;
        check_note((status == MW_OK) == done && said.status == status, __FILE__, __LINE__,
                   "request %ld: status %d, message \"%s\"", n, (int)status, said.message);
        CHECK(done || status == MW_ERROR_MEMORY);
        CHECK(!made || status == MW_OK || (found.loss == 0.0 && found.metric_count == 0));
        failing.fail_at = -1;
        failing.and_after = false;
        said = (mw_error){0};
        if (made && !done) {
            mw_trainer_evaluate(trainer, dataset, NULL, &found, &said);
            CHECK_OK(said);
            CHECK_INT(found.metric_count, 3);
        }
        mw_trainer_destroy(trainer);
        CHECK_INT(failing.live, 0);
    }
    CHECK(done);
    mw_dataset_destroy(dataset);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_a_metric_has_the_users_name_or_its_constructors);
    RUN(test_names_are_copied);
    RUN(test_unfit_metrics_are_refused);
    RUN(test_fit_refuses_a_validation_set_before_the_first_step);
    RUN(test_fit_validates_a_composite_loss);
    RUN(test_making_and_evaluating_metrics_survive_every_failure);
    return check_finish();
}
