/* What is watched of a step: the numbers of its tensors, and that a step which is watched has the bits of one that is
 * not. */
#include "runtime/files.h"
#include "runtime/metrics/metrics_lines.h"
#include "runtime/parallel/ranks_net.h"
#include "runtime/small.h"
#include "runtime/state/state.h"
#include "runtime/trainer/object/trainer_access.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

/* ---- the trainers ---- */

typedef struct setting {
    const char *name;
    mw_device device;
    bool stateful, dynamic, adam;
    float clip_norm, clip_value, average;
    int accumulate, dispatch_steps, segments;
    uint64_t memory_limit;
} setting;

static const setting settings[] = {
    {.name = "fp32 sgd", .device = MW_DEVICE_CPU},
    {.name = "fp32 adam", .device = MW_DEVICE_CPU, .adam = true},
    {.name = "fp16 sgd", .device = MW_DEVICE_ANE},
    {.name = "fp16 adam", .device = MW_DEVICE_ANE, .adam = true, .dynamic = true},
    {.name = "states", .device = MW_DEVICE_CPU, .adam = true, .stateful = true, .average = 0.9f},
    {.name = "fp16 states", .device = MW_DEVICE_ANE, .adam = true, .stateful = true, .average = 0.9f},
    {.name = "clipped", .device = MW_DEVICE_CPU, .clip_norm = 0.1f, .clip_value = 0.05f},
    {.name = "fp16 clipped", .device = MW_DEVICE_ANE, .adam = true, .clip_norm = 0.1f},
    {.name = "accumulated", .device = MW_DEVICE_CPU, .accumulate = 3},
    {.name = "dispatches", .device = MW_DEVICE_CPU, .adam = true, .dispatch_steps = 3},
    {.name = "segments", .device = MW_DEVICE_CPU, .adam = true, .segments = 4},
    {.name = "fp16 segments", .device = MW_DEVICE_ANE, .segments = 3},
};
enum { SETTINGS = sizeof settings / sizeof settings[0], STEPS = 12 };

enum { NONE, ALL, VALUES };

/* Everything that can be watched, by its statistics or by its values. */
static size_t list_watches(mw_watch *out, const small_net *net, mw_watch_kind kind)
{
    size_t count = 0;
    out[count++] = mw_watch_tensor(net->logits, "logits", kind);
    out[count++] = mw_watch_tensor(net->loss, "loss", kind);
    out[count++] = mw_watch_tensor(net->accuracy, "accuracy", kind);
    out[count++] = mw_watch_parameters(MW_WATCH_GRADIENT, "*", kind);
    out[count++] = mw_watch_parameters(MW_WATCH_PARAMETER, "fc1.*", kind);
    out[count++] = mw_watch_parameters(MW_WATCH_UPDATE, "fc?.weight", kind);
    return count;
}

static mw_trainer *make(const setting *s, int watched, mw_error *err)
{
    small_net net = s->stateful ? small_create_stateful(NULL) : small_create(NULL);
    mw_watch watches[12];
    mw_trainer_options options = mw_trainer_defaults(net.loss, s->adam ? mw_adam(0.02f) : mw_sgd(0.1f));
    options.metric = net.accuracy;
    options.compile.device = s->device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 2;
    options.precision.dynamic = s->dynamic;
    options.clipping.norm = s->clip_norm;
    options.clipping.value = s->clip_value;
    options.average_decay = s->average;
    options.accumulate = s->accumulate;
    options.dispatch_steps = s->dispatch_steps;
    options.memory.segments = s->segments;
    options.memory.limit = s->memory_limit;
    options.watch.gradient_norms = watched != NONE;
    options.watch.values = watches;
    options.watch.count =
        watched != NONE ? list_watches(watches, &net, watched == ALL ? MW_WATCH_STATISTICS : MW_WATCH_VALUES) : 0;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static void train(mw_trainer *trainer, int first, int count, float *losses, mw_error *err)
{
    const small_data data = small_make_data();
    small_batch batches[STEPS];
    mw_batch list[STEPS];
    for (int i = 0; i < count; i++) {
        small_fill_batch(&batches[i], &data, (first + i) % 5 * SMALL_N);
        list[i] = batches[i].batch;
    }
    mw_trainer_step_many(trainer, list, (size_t)count, losses, err);
}

static bool same_state(mw_trainer *a, mw_trainer *b)
{
    const mw__state_set *left = mw__trainer_state(a), *right = mw__trainer_state(b);
    bool same = left->count == right->count && left->count > 0;
    for (size_t i = 0; same && i < left->count; i++)
        same = strcmp(left->entries[i].name, right->entries[i].name) == 0 &&
               memcmp(left->entries[i].data, right->entries[i].data, left->entries[i].size) == 0;
    return same;
}

/* ---- no bit changes ---- */

static void test_a_watched_step_has_the_same_bits(void)
{
    for (int i = 0; i < SETTINGS; i++)
        for (int watched = ALL; watched <= VALUES; watched++) {
            mw_error err = {0};
            float losses[2][STEPS];
            mw_trainer *plain = make(&settings[i], NONE, &err), *seen = make(&settings[i], watched, &err);
            train(plain, 0, STEPS, losses[0], &err);
            train(seen, 0, STEPS, losses[1], &err);
            check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", settings[i].name, err.message);
            REQUIRE(plain != NULL && seen != NULL);
            check_note(memcmp(losses[0], losses[1], sizeof losses[0]) == 0, __FILE__, __LINE__, "%s: other losses",
                       settings[i].name);
            check_note(same_state(plain, seen), __FILE__, __LINE__, "%s: other bits", settings[i].name);
            CHECK_INT(mw_trainer_get_info(plain).watch_count, 0);
            CHECK(isnan(mw_trainer_get_info(plain).gradient_norm));
            mw_trainer_destroy(plain);
            mw_trainer_destroy(seen);
        }
}

/* What is not watched is not there. */
static void test_without_watches_the_program_is_as_it_was(void)
{
    mw_error err = {0};
    mw_trainer *plain = make(&settings[0], NONE, &err), *seen = make(&settings[0], ALL, &err);
    CHECK_OK(err);
    CHECK(strstr(mw_program_get_info(mw_trainer_program(plain)).mil, "watch") == NULL);
    CHECK(strstr(mw_program_get_info(mw_trainer_program(seen)).mil, "watch") != NULL);
    mw_trainer_destroy(plain);
    mw_trainer_destroy(seen);
}

/* ---- the numbers ---- */

static size_t find(const mw_trainer *trainer, const char *name, mw_watched *out)
{
    size_t i = 0;
    while (mw_trainer_watch_at(trainer, i, out) && strcmp(out->name, name) != 0)
        i++;
    check_note(i < mw_trainer_get_info(trainer).watch_count, __FILE__, __LINE__, "\"%s\" is not watched", name);
    return i;
}

static mw_watched statistics_of(const float *x, size_t count)
{
    mw_watched s = {.min = INFINITY, .max = -INFINITY};
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double value = (double)x[i];
        s.min = fmin(s.min, value), s.max = fmax(s.max, value);
        sum += value, squares += value * value;
        s.zeros += value == 0.0;
    }
    s.mean = sum / (double)count, s.norm = sqrt(squares), s.zeros /= (double)count;
    for (size_t i = 0; i < count; i++)
        s.deviation += ((double)x[i] - s.mean) * ((double)x[i] - s.mean) / (double)count;
    s.deviation = sqrt(s.deviation);
    return s;
}

static void check_statistics(const setting *s, const mw_watched *found, const mw_watched *right)
{
    const double size = fmax(fabs(right->min), fabs(right->max));
    const double tolerance = (s->device == MW_DEVICE_ANE ? 4e-3 : 1e-5) * (size > 0.0 ? size : 1.0);
    const double pairs[][2] = {{found->min, right->min},
                               {found->max, right->max},
                               {found->mean, right->mean},
                               {found->deviation, right->deviation}};
    for (int i = 0; i < 4; i++)
        check_note(fabs(pairs[i][0] - pairs[i][1]) <= tolerance, __FILE__, __LINE__, "%s %s, number %d: %g, not %g",
                   s->name, found->name, i, pairs[i][0], pairs[i][1]);
    CHECK_NEAR(found->norm, right->norm, 4.0 * tolerance);
    CHECK_NEAR(found->zeros, right->zeros, 1e-3);
    CHECK(found->non_finite == 0.0);
}

/* Statistics are those of the values, which another trainer shows. */
static void test_statistics_are_those_of_the_values(void)
{
    for (int i = 0; i < SETTINGS; i++) {
        mw_error err = {0};
        mw_trainer *a = make(&settings[i], ALL, &err), *b = make(&settings[i], VALUES, &err);
        train(a, 0, 6, NULL, &err);
        train(b, 0, 6, NULL, &err);
        const size_t count = mw_trainer_get_info(a).watch_count;
        CHECK(count >= 3 + 4 + 4 + 2 + 2 && mw_trainer_get_info(b).watch_count == count);
        double squares = 0.0;
        for (size_t k = 0; k < count; k++) {
            mw_watched found, other;
            float values[SMALL_H * SMALL_D];
            CHECK(mw_trainer_watch_at(a, k, &found) && mw_trainer_watch_at(b, k, &other));
            CHECK_STR(found.name, other.name);
            CHECK_INT(found.step, settings[i].accumulate > 1 ? 2 : 6);
            CHECK_INT(found.elements, other.elements);
            if (found.kind == MW_WATCH_NORM) {
                squares += found.norm * found.norm;
                continue;
            }
            mw_trainer_watch_values(b, k, MW_F32, values, (size_t)other.elements, &err);
            const mw_watched right = statistics_of(values, (size_t)other.elements);
            check_statistics(&settings[i], &found, &right);
            if (found.of == MW_WATCH_GRADIENT && !settings[i].stateful)
                CHECK(found.norm > 0.0);
        }
        CHECK_NEAR(mw_trainer_get_info(a).gradient_norm, sqrt(squares), 1e-12);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", settings[i].name, err.message);
        mw_trainer_destroy(a);
        mw_trainer_destroy(b);
    }
}

static void read_values(mw_trainer *t, const char *name, float *out, size_t count, mw_error *err)
{
    mw_watched found;
    mw_trainer_watch_values(t, find(t, name, &found), MW_F32, out, count, err);
}

/* Tensors against the network in double, updates against the parameters, gradients against plain SGD. */
static void test_values_are_those_of_the_step(void)
{
    mw_error err = {0};
    mw_trainer *t = make(&settings[0], VALUES, &err);
    const small_data data = small_make_data();
    train(t, 0, 3, NULL, &err);
    const small_weights before = small_read(t, &err);
    train(t, 3, 1, NULL, &err);
    const small_weights after = small_read(t, &err);
    float logits[SMALL_N * SMALL_C], loss, accuracy;
    read_values(t, "logits", logits, SMALL_N * SMALL_C, &err);
    read_values(t, "loss", &loss, 1, &err);
    read_values(t, "accuracy", &accuracy, 1, &err);
    for (int n = 0; n < SMALL_N; n++) {
        double right[SMALL_C];
        small_logits(&before, data.x + (3 * SMALL_N + n) * SMALL_D, right);
        for (int c = 0; c < SMALL_C; c++)
            CHECK_NEAR(logits[n * SMALL_C + c], right[c], 1e-5);
    }
    CHECK_NEAR(loss, small_loss(&before, &data, 3 * SMALL_N, SMALL_N), 1e-5);
    CHECK_NEAR(accuracy, small_accuracy(&before, &data, 3 * SMALL_N, SMALL_N), 1e-6);
    for (int k = 0; k < 4; k++) {
        char name[64];
        float values[SMALL_H * SMALL_D];
        const double *p = before.value + small_offset(k), *q = after.value + small_offset(k);
        snprintf(name, sizeof name, "gradient/%s", small_name(k));
        read_values(t, name, values, (size_t)small_count(k), &err);
        for (int i = 0; i < small_count(k); i++)
            CHECK_NEAR(values[i], (p[i] - q[i]) / 0.1, 1e-5);
        snprintf(name, sizeof name, "%s/%s", k < 2 ? "parameter" : "update", small_name(k));
        if (k == 3)
            continue; /* its bias is not watched so */
        read_values(t, name, values, (size_t)small_count(k), &err);
        for (int i = 0; i < small_count(k); i++)
            CHECK((double)values[i] == (k < 2 ? p[i] : (double)((float)q[i] - (float)p[i])));
    }
    CHECK_OK(err);
    mw_trainer_destroy(t);
}

static void test_before_the_first_step_there_is_nothing(void)
{
    mw_error err = {0};
    float value;
    mw_watched found;
    mw_trainer *t = make(&settings[0], VALUES, &err);
    const size_t loss = find(t, "loss", &found);
    CHECK(found.step == 0 && found.elements == 1 && isnan(mw_trainer_get_info(t).gradient_norm));
    CHECK_INT(mw_trainer_watch_values(t, loss, MW_F32, &value, 1, &err), MW_ERROR_STATE);
    err = (mw_error){0};
    train(t, 0, 1, NULL, &err);
    CHECK_INT(mw_trainer_watch_values(t, loss, MW_F32, &value, 2, &err), MW_ERROR_SHAPE);
    err = (mw_error){0};
    CHECK_INT(mw_trainer_watch_values(t, 999, MW_F32, &value, 1, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    find(t, "gradient_norm/fc1.weight", &found);
    CHECK(found.kind == MW_WATCH_NORM && found.of == MW_WATCH_GRADIENT && found.min == 0.0);
    CHECK_STR(found.parameter, "fc1.weight");
    CHECK(!mw_trainer_watch_at(t, mw_trainer_get_info(t).watch_count, &found));
    mw_trainer_destroy(t);
}

/* A step that a dynamic scale skips shows what overflowed, and that nothing was updated. */
static void test_a_skipped_step_shows_why(void)
{
    mw_error err = {0};
    const setting dynamic = {.device = MW_DEVICE_CPU, .dynamic = true};
    mw_trainer *t = make(&dynamic, ALL, &err);
    float weights[SMALL_C * SMALL_H], biases[SMALL_H];
    for (int i = 0; i < SMALL_C * SMALL_H; i++)
        weights[i] = 3e38f;
    for (int i = 0; i < SMALL_H; i++)
        biases[i] = 100.0f; /* of which tanh is 1: each logit is the sum of its weights */
    mw_trainer_write(t, "fc2.weight", MW_F32, weights, SMALL_C * SMALL_H, &err);
    mw_trainer_write(t, "fc1.bias", MW_F32, biases, SMALL_H, &err);
    train(t, 0, 1, NULL, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_get_info(t).counters.refused_steps, 1);
    mw_watched found;
    find(t, "logits", &found);
    CHECK(found.non_finite == 1.0 && found.max == INFINITY && found.step == 1);
    find(t, "update/fc1.weight", &found);
    CHECK(found.min == 0.0 && found.max == 0.0 && found.zeros == 1.0);
    mw_trainer_destroy(t);
}

/* ---- several ranks ---- */

typedef struct seen {
    mw_error err;
    double norm, own_norm, loss;
    float weights[NET_WEIGHTS];
} seen;

static mw_trainer *make_net(mw_communicator *c, int accumulate, bool watched, mw_error *err)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(NET_BATCH, NET_IN));
    mw_tensor *y = mw_input(g, "y", MW_I32, MW_SHAPE(NET_BATCH));
    mw_tensor *logits = mw_dense(mw_tanh(mw_dense(x, NET_HIDDEN, "fc1")), NET_OUT, "fc2");
    mw_tensor *loss = mw_cross_entropy(logits, y);
    const mw_watch watches[] = {mw_watch_tensor(loss, "loss", MW_WATCH_STATISTICS),
                                mw_watch_parameters(MW_WATCH_GRADIENT, "fc2.weight", MW_WATCH_STATISTICS)};
    mw_trainer_options options = mw_trainer_defaults(loss, mw_adam(0.01f));
    options.ranks.communicator = c;
    options.accumulate = accumulate;
    options.watch.gradient_norms = watched;
    options.watch.values = watches;
    options.watch.count = watched ? 2 : 0;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.threads = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(g);
    return trainer;
}

static void run_rank(mw_communicator *c, int rank, seen *out, int accumulate, bool watched)
{
    net_examples examples;
    mw_watched found;
    const int ranks = c != NULL ? mw_communicator_get_info(c).size : 1;
    mw_trainer *t = make_net(c, accumulate, watched, &out->err);
    for (int step = 0; step < 4 * accumulate; step++)
        mw_trainer_step(t, net_batch(&examples, step * ranks + rank), NULL, &out->err);
    out->norm = mw_trainer_get_info(t).gradient_norm;
    for (size_t i = 0; mw_trainer_watch_at(t, i, &found); i++) {
        out->loss = strcmp(found.name, "loss") == 0 ? found.mean : out->loss;
        out->own_norm = strcmp(found.name, "gradient/fc2.weight") == 0 ? found.norm : out->own_norm;
    }
    net_read(t, out->weights, &out->err);
    mw_trainer_destroy(t);
}

static void watch_rank(mw_communicator *c, int rank, void *user) { run_rank(c, rank, (seen *)user + rank, 1, true); }

static void watch_on_rank_1(mw_communicator *c, int rank, void *user)
{
    run_rank(c, rank, (seen *)user + rank, 1, rank == 1);
}

static void test_ranks_show_the_mean_gradient(void)
{
    seen *together = calloc(RANKS_MAX, sizeof *together), alone = {.loss = 0.0};
    ranks_run(&(ranks_network){.size = 3}, watch_rank, together);
    run_rank(NULL, 0, &alone, 3, true);
    CHECK_OK(alone.err);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(together[i].err);
        CHECK(together[i].norm == alone.norm && alone.norm > 0.0);
        CHECK(together[i].own_norm == alone.own_norm && alone.own_norm > 0.0);
        CHECK(memcmp(together[i].weights, alone.weights, sizeof alone.weights) == 0);
    }
    CHECK(together[0].loss != together[1].loss); /* of its own batch */
    memset(together, 0, RANKS_MAX * sizeof *together);
    ranks_run(&(ranks_network){.size = 3}, watch_on_rank_1, together);
    for (int i = 0; i < 3; i++)
        CHECK_ERROR(together[i].err, MW_ERROR_ARGUMENT, "rank 1 has another model");
    free(together);
}

/* ---- what is refused ---- */

static void check_refused(const small_net *net, mw_watch watch, mw_status status, const char *why)
{
    mw_error err = {0};
    const mw_watch watches[] = {mw_watch_tensor(net->logits, "logits", MW_WATCH_STATISTICS), watch};
    mw_trainer_options options = mw_trainer_defaults(net->loss, mw_sgd(0.1f));
    options.watch.gradient_norms = true;
    options.watch.values = watches;
    options.watch.count = 2;
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, status, why);
}

static void test_watches_are_checked(void)
{
    small_net net = small_create(NULL), other = small_create(NULL);
    mw_tensor *apart = mw_dense(net.logits, 2, "apart"), *nameless = mw_relu(net.logits);
    check_refused(&net, mw_watch_parameters((mw_watch_of)9, "*", MW_WATCH_NORM), MW_ERROR_ARGUMENT, "of 9");
    check_refused(&net, mw_watch_tensor(net.loss, "loss", (mw_watch_kind)9), MW_ERROR_ARGUMENT, "kind 9");
    check_refused(&net, (mw_watch){{0}}, MW_ERROR_ARGUMENT, "watch 1 is NULL");
    check_refused(&net, mw_watch_tensor(NULL, "x", MW_WATCH_NORM), MW_ERROR_ARGUMENT, "watch 1 is NULL");
    check_refused(&net, mw_watch_parameters(MW_WATCH_TENSOR, "*", MW_WATCH_NORM), MW_ERROR_ARGUMENT, "watch 1 is NULL");
    check_refused(&net, mw_watch_tensor(other.loss, "x", MW_WATCH_STATISTICS), MW_ERROR_ARGUMENT, "another graph");
    check_refused(&net, mw_watch_tensor(net.y, "y", MW_WATCH_STATISTICS), MW_ERROR_DTYPE, "int32");
    check_refused(&net, mw_watch_tensor(nameless, NULL, MW_WATCH_STATISTICS), MW_ERROR_ARGUMENT, "is empty");
    check_refused(&net, mw_watch_tensor(net.loss, "a\nb", MW_WATCH_STATISTICS), MW_ERROR_ARGUMENT, "control");
    check_refused(&net, mw_watch_tensor(net.loss, "logits", MW_WATCH_STATISTICS), MW_ERROR_ARGUMENT, "twice");
    check_refused(&net, mw_watch_tensor(apart, "apart", MW_WATCH_STATISTICS), MW_ERROR_ARGUMENT, "apart.weight");
    check_refused(&net, mw_watch_parameters(MW_WATCH_UPDATE, NULL, MW_WATCH_STATISTICS), MW_ERROR_ARGUMENT,
                  "no pattern");
    check_refused(&net, mw_watch_parameters(MW_WATCH_UPDATE, "fc9*", MW_WATCH_STATISTICS), MW_ERROR_ARGUMENT,
                  "\"fc9*\"");
    check_refused(&net, mw_watch_parameters(MW_WATCH_GRADIENT, "fc1.*", MW_WATCH_NORM), MW_ERROR_ARGUMENT, "twice");
    mw_error err = {0};
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_sgd(0.1f));
    options.ranks.shard_states = options.watch.gradient_norms = true;
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "shard_states");
    err = (mw_error){0};
    options.ranks.shard_states = options.watch.gradient_norms = false;
    options.watch.count = 1;
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    mw_graph_destroy(net.graph);
    mw_graph_destroy(other.graph);
}

/* ---- mw_trainer_fit ---- */

static void test_fit_writes_what_is_watched(void)
{
    mw_error err = {0};
    const small_data data = small_make_data();
    mw_dataset *set = small_open_data(&data, SMALL_EXAMPLES, &err);
    for (int watched = ALL; watched <= VALUES; watched++) {
        mw_trainer *t = make(&settings[1], watched, &err);
        mw_fit_options fit = mw_fit_defaults(set, 2);
        fit.progress.quiet = fit.progress.ignore_signals = true;
        fit.metrics.path = scratch("watched.jsonl");
        mw_trainer_fit(t, &fit, &err);
        CHECK_OK(err);
        lines all = lines_read(fit.metrics.path);
        const char *last = lines_at(&all, "step", lines_count(&all, "step") - 1);
        mw_watched found;
        find(t, "gradient_norm/fc2.bias", &found);
        CHECK(line_number(last, "gradient_norm/fc2.bias") == found.norm && found.norm > 0.0);
        CHECK(line_number(last, "gradient_norm") == mw_trainer_get_info(t).gradient_norm);
        if (watched == ALL) {
            find(t, "gradient/fc1.weight", &found);
            CHECK(line_number(last, "watch/gradient/fc1.weight/deviation") == found.deviation);
            CHECK(line_number(last, "watch/logits/non_finite") == 0.0);
            CHECK(line_number(last, "watch/accuracy/mean") >= 0.0);
        } else {
            CHECK(line_number(last, "watch/accuracy") >= 0.0 && line_number(last, "watch/accuracy") <= 1.0);
            CHECK(line_number(last, "watch/loss") == line_number(last, "loss")); /* a line for each step */
            CHECK(!line_has(last, "watch/logits"));
        }
        lines_free(&all);
        mw_trainer_destroy(t);
    }
    mw_dataset_destroy(set);
}

int main(void)
{
    RUN(test_a_watched_step_has_the_same_bits);
    RUN(test_without_watches_the_program_is_as_it_was);
    RUN(test_statistics_are_those_of_the_values);
    RUN(test_values_are_those_of_the_step);
    RUN(test_before_the_first_step_there_is_nothing);
    RUN(test_a_skipped_step_shows_why);
    RUN(test_ranks_show_the_mean_gradient);
    RUN(test_watches_are_checked);
    RUN(test_fit_writes_what_is_watched);
    return check_finish();
}
