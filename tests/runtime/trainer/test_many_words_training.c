/* A small GPT form with the words of GPT-2 trains on the ANE's arithmetic as it does in fp32. */
#include "runtime/model/words.h"
#include "support/check.h"
#include "support/evaluated.h"

#include <stdlib.h>

enum { B = 2, T = 8, D = 16, WORDS = 50257, STEPS = 20 };

typedef struct model {
    mw_graph *graph;
    mw_tensor *loss, *accuracy, *table;
} model;

static mw_tensor *attend(mw_tensor *x)
{
    mw_tensor *part[3];
    static const char *const names[3] = {"query", "key", "value"};
    for (int i = 0; i < 3; i++)
        part[i] = mw_reshape(mw_dense(x, D, names[i]), MW_SHAPE(B, 1, T, D));
    mw_tensor *mixed = mw_scaled_dot_product_attention(part[0], part[1], part[2], NULL);
    return mw_dense(mw_reshape(mixed, MW_SHAPE(B, T, D)), D, "mix");
}

/* tied: the table that takes words in also gives them out. */
static model make_model(bool tied)
{
    model m = {.graph = mw_graph_create(NULL, NULL)};
    mw_tensor *ids = mw_input(m.graph, "ids", MW_I32, MW_SHAPE(B, T));
    mw_tensor *labels = mw_input(m.graph, "labels", MW_I32, MW_SHAPE(B, T));
    mw_tensor *x = mw_embedding(ids, WORDS, D, "word");
    m.table = mw_graph_find(m.graph, "word.weight");
    x = mw_add(x, attend(mw_layer_norm_layer(x, 1, 1e-5f, "norm1")));
    mw_tensor *wide = mw_gelu(mw_dense(mw_layer_norm_layer(x, 1, 1e-5f, "norm2"), 4 * D, "wide"), MW_GELU_TANH);
    x = mw_layer_norm_layer(mw_add(x, mw_dense(wide, D, "narrow")), 1, 1e-5f, "norm3");
    mw_tensor *logits = tied ? mw_matmul(x, mw_mul_scalar(m.table, 0.25), MW_TRANSPOSE_Y) : mw_dense(x, WORDS, "head");
    m.loss = mw_cross_entropy(logits, labels);
    m.accuracy = mw_accuracy(logits, labels);
    return m;
}

static mw_trainer *make_trainer(mw_device device, mw_chip chip, bool tied, int dispatch_steps, mw_error *err)
{
    model m = make_model(tied);
    mw_trainer_options options = mw_trainer_defaults(m.loss, mw_adam(1e-2f));
    options.metric = m.accuracy;
    options.dispatch_steps = dispatch_steps;
    options.compile = words_compile(device, chip);
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(m.graph);
    return trainer;
}

/* The words of a text in which each has its successor. */
typedef struct text {
    int32_t ids[B * T], labels[B * T];
    mw_feed feeds[2];
    mw_batch batch;
} text;

static void text_fill(text *t, int step)
{
    for (int i = 0; i < B * T; i++) {
        t->ids[i] = (int32_t)(((int64_t)i * 7919 + step % 2 * 104729) % WORDS);
        t->labels[i] = (int32_t)(((int64_t)t->ids[i] * 31 + 17) % WORDS);
    }
    t->ids[0] = t->labels[1] = WORDS - 1;
    t->feeds[0] = words_feed_ints("ids", t->ids, B * T);
    t->feeds[1] = words_feed_ints("labels", t->labels, B * T);
    t->batch = (mw_batch){.feeds = t->feeds, .feed_count = 2, .examples = B};
}

static void train(mw_trainer *trainer, float *out_losses, mw_error *err)
{
    static text texts[STEPS];
    mw_batch batches[STEPS];
    for (int s = 0; s < STEPS; s++) {
        text_fill(&texts[s], s);
        batches[s] = texts[s].batch;
    }
    mw_trainer_step_many(trainer, batches, STEPS, out_losses, err);
}

static double evaluate(mw_trainer *trainer, double *out_accuracy, mw_error *err)
{
    text t;
    double loss = 0.0;
    text_fill(&t, 0);
    const mw_column columns[] = {{.name = "ids", .dtype = MW_I32, .shape = MW_SHAPE(T), .data = t.ids},
                                 {.name = "labels", .dtype = MW_I32, .shape = MW_SHAPE(T), .data = t.labels}};
    mw_dataset *dataset = mw_dataset_create(columns, 2, B, false, err);
    evaluated(trainer, dataset, &loss, out_accuracy, err);
    mw_dataset_destroy(dataset);
    return loss;
}

static void check_training(mw_chip chip, bool tied)
{
    mw_error err = {0};
    float single[STEPS], half[STEPS];
    double accuracy[2];
    mw_trainer *cpu = make_trainer(MW_DEVICE_CPU, chip, tied, 1, &err);
    mw_trainer *ane = make_trainer(MW_DEVICE_ANE, chip, tied, 1, &err);
    REQUIRE(CHECK_OK(err) && cpu != NULL && ane != NULL);
    CHECK(words_longest_axis(mw_program_get_info(mw_trainer_program(ane)).mil) <= words_axis_max(chip));
    train(cpu, single, &err);
    train(ane, half, &err);
    CHECK_OK(err);
    for (int s = 0; s < STEPS; s++)
        CHECK_NEAR(half[s], single[s], 0.01 * (double)single[s]);
    CHECK(single[STEPS - 1] < 0.9f * single[0]); /* else there was nothing to compare */
    const double loss = evaluate(cpu, &accuracy[0], &err);
    CHECK_NEAR(evaluate(ane, &accuracy[1], &err), loss, 0.01 * loss);
    CHECK_NEAR(accuracy[1], accuracy[0], 0.13); /* two of sixteen words */
    CHECK_OK(err);
    mw_trainer_destroy(cpu);
    mw_trainer_destroy(ane);
}

static void test_a_tied_head_trains_as_in_fp32(void) { check_training(MW_CHIP_H13, true); }

static void test_a_head_of_its_own_trains_as_in_fp32(void) { check_training(MW_CHIP_H16, false); }

/* Each slot has its own digits until it runs. */
static void test_steps_of_one_dispatch_have_the_losses_of_single_ones(void)
{
    mw_error err = {0};
    float single[STEPS], many[STEPS];
    for (int k = 0; k < 2; k++) {
        mw_trainer *trainer = make_trainer(MW_DEVICE_ANE, MW_CHIP_AUTO, true, k == 0 ? 1 : 4, &err);
        REQUIRE(CHECK_OK(err) && trainer != NULL);
        train(trainer, k == 0 ? single : many, &err);
        CHECK_OK(err);
        mw_trainer_destroy(trainer);
    }
    CHECK_INT(memcmp(single, many, sizeof single), 0);
}

static void test_a_wrong_word_changes_nothing(void)
{
    mw_error err = {0};
    text t;
    float loss;
    mw_trainer *trainer = make_trainer(MW_DEVICE_ANE, MW_CHIP_AUTO, true, 1, &err);
    REQUIRE(CHECK_OK(err) && trainer != NULL);
    text_fill(&t, 0);
    t.labels[T + 1] = WORDS;
    CHECK_INT(mw_trainer_step(trainer, &t.batch, &loss, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "feed \"labels\" element 9, example 1");
    CHECK_INT(mw_trainer_get_info(trainer).steps, 0);
    mw_trainer_destroy(trainer);
}

int main(void)
{
    RUN(test_a_tied_head_trains_as_in_fp32);
    RUN(test_a_head_of_its_own_trains_as_in_fp32);
    RUN(test_steps_of_one_dispatch_have_the_losses_of_single_ones);
    RUN(test_a_wrong_word_changes_nothing);
    return check_finish();
}
