/* The confusion matrix against a count over the predictions of the network in double, and its figures by hand. */
#include "runtime/parallel/ranks_net.h"
#include "runtime/small.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = SMALL_C * SMALL_C };

static mw_status count_classes(mw_trainer *trainer, const mw_dataset *set, const char *labels, int64_t classes,
                               int64_t *counts, mw_error *err)
{
    const mw_confusion confusion = {.labels = labels, .classes = classes, .counts = counts};
    return mw_trainer_evaluate(trainer, set, &confusion, NULL, err);
}

static void count_by_hand(const small_weights *weights, const small_data *data, int examples, int64_t *out)
{
    memset(out, 0, CELLS * sizeof *out);
    for (int i = 0; i < examples; i++) {
        double logits[SMALL_C];
        int best = 0;
        small_logits(weights, data->x + i * SMALL_D, logits);
        for (int c = 1; c < SMALL_C; c++)
            best = logits[c] > logits[best] ? c : best;
        if (data->y[i] >= 0)
            out[data->y[i] * SMALL_C + best]++;
    }
}

static void test_every_example_counts_once(void)
{
    static const int sizes[] = {SMALL_EXAMPLES, 21, 3}; /* whole batches, a short last one, only a short one */
    for (int k = 0; k < 6; k++) {
        mw_error err = {0};
        small_data data = small_make_data();
        mw_trainer *t = small_trainer(k % 2 == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE, mw_adam(0.02f), 0.0f, &err);
        small_batch batch;
        small_fill_batch(&batch, &data, 8);
        for (int step = 0; step < 5; step++)
            mw_trainer_step(t, &batch.batch, NULL, &err);
        data.y[1] = -100; /* ignored */
        const small_weights weights = small_read(t, &err);
        const small_snapshot before = small_take(t);
        int64_t counts[CELLS], right[CELLS], named[CELLS];
        mw_dataset *set = small_open_data(&data, sizes[k / 2], &err);
        count_classes(t, set, NULL, SMALL_C, counts, &err);
        count_classes(t, set, "y", SMALL_C, named, &err);
        CHECK_OK(err);
        count_by_hand(&weights, &data, sizes[k / 2], right);
        int64_t all = 0;
        for (int i = 0; i < CELLS; i++) {
            CHECK_INT(counts[i], right[i]);
            CHECK_INT(named[i], right[i]);
            all += counts[i];
        }
        CHECK_INT(all, sizes[k / 2] - 1);
        const small_snapshot after = small_take(t);
        small_check_same(&before, &after);
        mw_dataset_destroy(set);
        mw_trainer_destroy(t);
    }
}

static void test_figures_are_those_of_the_definitions(void)
{
    static const int64_t counts[] = {5, 1, 0, 0, /* true 0 */
                                     2, 3, 1, 0, /* true 1 */
                                     0, 0, 0, 0, /* never a label, predicted once */
                                     0, 0, 0, 0 /* never at all */};
    const mw_class_figures a = mw_confusion_class(counts, 4, 0), b = mw_confusion_class(counts, 4, 1),
                           c = mw_confusion_class(counts, 4, 2), d = mw_confusion_class(counts, 4, 3);
    CHECK(a.support == 6 && a.predicted == 7 && a.correct == 5);
    CHECK_NEAR(a.precision, 5.0 / 7.0, 1e-15);
    CHECK_NEAR(a.recall, 5.0 / 6.0, 1e-15);
    CHECK_NEAR(a.f1, 2.0 * (5.0 / 7.0) * (5.0 / 6.0) / (5.0 / 7.0 + 5.0 / 6.0), 1e-15);
    CHECK(b.support == 6 && b.predicted == 4 && b.precision == 0.75 && b.recall == 0.5);
    CHECK(c.support == 0 && c.predicted == 1 && c.precision == 0.0 && c.recall == 0.0 && c.f1 == 0.0);
    CHECK(d.support == 0 && d.predicted == 0 && d.precision == 0.0 && d.f1 == 0.0);
    CHECK(mw_confusion_class(counts, 4, 4).support == 0 && mw_confusion_class(counts, 4, -1).support == 0);
    const mw_confusion_figures all = mw_confusion_all(counts, 4);
    CHECK(all.labels == 12 && all.correct == 8);
    CHECK_NEAR(all.accuracy, 8.0 / 12.0, 1e-15);
    CHECK_NEAR(all.macro_recall, (5.0 / 6.0 + 0.5) / 3.0, 1e-15);
    CHECK_NEAR(all.macro_precision, (5.0 / 7.0 + 0.75) / 3.0, 1e-15);
    CHECK_NEAR(all.macro_f1, (a.f1 + b.f1) / 3.0, 1e-15);
}

/* A prediction for each of several places of an example. */
static void test_examples_with_several_labels(void)
{
    enum { B = 2, T = 3, C = 2, EXAMPLES = 3 };
    static const float x[EXAMPLES * T * C] = {1, 0, 0, 1, 2, 2, 0, 5, 5, 0, 1, 1, (float)NAN, 0, 0, (float)NAN, 3, 4};
    static const int32_t y[EXAMPLES * T] = {0, 1, 0, 1, 1, -1, 0, 1, 1};
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *in = mw_input(g, "x", MW_F32, MW_SHAPE(B, T, C));
    mw_tensor *scale = mw_parameter(g, "scale", MW_F32, MW_SHAPE(1), mw_init_constant(1.0f));
    mw_tensor *out = mw_mul(in, scale);
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(out, MW_ALL_AXES, false), mw_sgd(0.1f));
    options.prediction = out;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *t = mw_trainer_create(&options, &err);
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(T, C), .data = x},
                                 {.name = "y", .dtype = MW_I32, .shape = MW_SHAPE(T), .data = y}};
    mw_dataset *set = mw_dataset_create(columns, 2, 2, false, &err); /* without the NaN, which is refused */
    int64_t counts[C * C];
    count_classes(t, set, NULL, C, counts, &err);
    CHECK_OK(err);
    CHECK(counts[0] == 2 && counts[1] == 0 && counts[2] == 1 && counts[3] == 2); /* equal ones: the first */
    mw_dataset_destroy(set);
    mw_trainer_destroy(t);
    mw_graph_destroy(g);
}

/* As a file of MNIST gives them: pixels are integers too, with a scale. */
static void test_pixels_are_no_labels(void)
{
    mw_error err = {0};
    static uint8_t pixels[SMALL_N * SMALL_D];
    static const uint8_t classes[SMALL_N] = {0};
    int64_t counts[CELLS];
    mw_trainer *t = small_trainer(MW_DEVICE_CPU, mw_adam(0.02f), 0.0f, &err);
    mw_column columns[] = {
        {.name = "x", .dtype = MW_U8, .shape = MW_SHAPE(SMALL_D), .scale = 1.0f / 255.0f, .data = pixels},
        {.name = "y", .dtype = MW_U8, .data = classes}};
    mw_dataset *set = mw_dataset_create(columns, 2, SMALL_N, false, &err);
    count_classes(t, set, NULL, SMALL_C, counts, &err);
    CHECK_OK(err);
    mw_dataset_destroy(set);
    columns[0].scale = 0.0f; /* now both could be */
    set = mw_dataset_create(columns, 2, SMALL_N, false, &err);
    CHECK_INT(count_classes(t, set, NULL, SMALL_C, counts, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "it has \"x\", \"y\"");
    mw_dataset_destroy(set);
    mw_trainer_destroy(t);
}

static void test_what_does_not_fit_is_refused(void)
{
    mw_error err = {0};
    small_data data = small_make_data();
    int64_t counts[16];
    mw_trainer *t = small_trainer(MW_DEVICE_CPU, mw_adam(0.02f), 0.0f, &err);
    mw_dataset *set = small_open_data(&data, SMALL_EXAMPLES, &err);
    CHECK_OK(err);
    CHECK_INT(count_classes(t, set, "labels", SMALL_C, counts, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "\"labels\"");
    err = (mw_error){0};
    CHECK_INT(count_classes(t, set, NULL, 4, counts, &err), MW_ERROR_SHAPE);
    err = (mw_error){0};
    CHECK_INT(count_classes(t, set, "x", SMALL_C, counts, &err), MW_ERROR_SHAPE);
    err = (mw_error){0};
    CHECK_INT(count_classes(t, set, NULL, 0, counts, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK_INT(count_classes(t, set, NULL, SMALL_C, NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_INT(count_classes(t, set, NULL, 0, counts, NULL), MW_ERROR_ARGUMENT); /* without an error */
    mw_dataset_destroy(set);
    data.y[30] = SMALL_C;
    err = (mw_error){0};
    set = small_open_data(&data, SMALL_EXAMPLES, &err);
    CHECK_INT(count_classes(t, set, NULL, SMALL_C, counts, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "example 30 is 3");
    mw_dataset_destroy(set);
    mw_trainer_destroy(t);
}

/* ---- several ranks ---- */

typedef struct counted {
    mw_error err;
    int64_t counts[NET_OUT * NET_OUT];
} counted;

static void count_rank(mw_communicator *c, int rank, void *user)
{
    counted *out = (counted *)user + rank;
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(NET_BATCH, NET_IN));
    mw_tensor *y = mw_input(g, "y", MW_I32, MW_SHAPE(NET_BATCH));
    mw_tensor *logits = mw_dense(x, NET_OUT, "fc");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(0.01f));
    options.prediction = logits;
    options.ranks.communicator = c;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    mw_trainer *t = mw_trainer_create(&options, &out->err);
    mw_dataset *set = net_data(7 * NET_BATCH + 2, 4);
    count_classes(t, set, NULL, NET_OUT, out->counts, &out->err);
    mw_dataset_destroy(set);
    mw_trainer_destroy(t);
    mw_graph_destroy(g);
}

static void test_ranks_count_together(void)
{
    counted *all = calloc(RANKS_MAX, sizeof *all), *alone = calloc(1, sizeof *alone);
    ranks_run(&(ranks_network){.size = 3}, count_rank, all);
    count_rank(NULL, 0, alone);
    CHECK_OK(alone->err);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(all[i].err);
        CHECK(memcmp(all[i].counts, alone->counts, sizeof alone->counts) == 0);
    }
    CHECK_INT(mw_confusion_all(alone->counts, NET_OUT).labels, 7 * NET_BATCH + 2);
    free(all);
    free(alone);
}

int main(void)
{
    RUN(test_every_example_counts_once);
    RUN(test_figures_are_those_of_the_definitions);
    RUN(test_examples_with_several_labels);
    RUN(test_pixels_are_no_labels);
    RUN(test_what_does_not_fit_is_refused);
    RUN(test_ranks_count_together);
    return check_finish();
}
