/* Figures against scikit-learn's (scores_cases.py), in one batch and in several, and what is refused. */
#include "support/check.h"

#include "base/number/number.h"
#include "format/tensors/safetensors.h"
#include <math.h>
#include <millwright/learn.h>
#include <stdlib.h>

/* ---- recorded cases ---- */

typedef struct score_case {
    const mw__safetensors *file;
    long index;
    mw_score_task task;
    int64_t columns;
    size_t examples;
    float *p, *w;
    void *t;
    char names[1024];
    double wanted[64];
    size_t count;
} score_case;

static void *load(const score_case *c, const char *what, mw_error *err)
{
    char key[32];
    snprintf(key, sizeof key, "%ld.%s", c->index, what);
    const mw__safetensors_tensor *tensor = mw__safetensors_find(c->file, key);
    void *data = tensor != NULL ? calloc(1, tensor->size + 1) : NULL;
    if (data != NULL)
        mw__safetensors_read(c->file, tensor, data, err);
    return data;
}

/* "classes 3 accuracy=0.5 .." */
static void read_note(score_case *c, const char *note)
{
    static const char *const tasks[] = {"classes", "labels", "values"};
    char copy[4096], *at = copy;
    snprintf(copy, sizeof copy, "%s", note);
    const char *task = strtok_r(copy, " ", &at), *columns = strtok_r(NULL, " ", &at);
    for (int i = 0; i < 3; i++)
        if (strcmp(task, tasks[i]) == 0)
            c->task = (mw_score_task)i;
    c->columns = atoi(columns);
    for (char *pair; (pair = strtok_r(NULL, " ", &at)) != NULL;) {
        char *value = strchr(pair, '=');
        *value++ = '\0';
        strcat(c->names, c->count > 0 ? "," : "");
        strcat(c->names, pair);
        c->wanted[c->count] = NAN;
        if (strcmp(value, "nan") != 0)
            CHECK(mw__number_read(value, strlen(value), MW__NUMBER_F64, &c->wanted[c->count]));
        c->count++;
    }
}

/* The names of all that was compared, each between commas. */
static char compared[2048] = ",";

static void note_compared(const char *name)
{
    char part[64];
    snprintf(part, sizeof part, ",%s,", name);
    if (strstr(compared, part) == NULL)
        strcat(compared, part + 1);
}

/* In steps of `step` examples. */
static void check_in_steps(const score_case *c, size_t step)
{
    mw_error err = {0};
    mw_scores *scores = mw_scores_create(c->task, c->columns, c->names, &err);
    for (size_t at = 0; at < c->examples; at += step) {
        const size_t columns = (size_t)c->columns, wide = c->task == MW_SCORE_CLASSES ? 1 : columns;
        mw_score_batch batch = {.examples = c->examples - at < step ? c->examples - at : step};
        batch.predictions = c->p + at * columns;
        batch.weights = c->w != NULL ? c->w + at : NULL;
        batch.labels = c->task != MW_SCORE_VALUES ? (int32_t *)c->t + at * wide : NULL;
        batch.targets = c->task == MW_SCORE_VALUES ? (float *)c->t + at * wide : NULL;
        mw_scores_add(scores, &batch, &err);
    }
    CHECK_OK(err);
    CHECK_INT(mw_scores_count(scores), c->count);
    for (size_t i = 0; i < c->count; i++) {
        const mw_score got = mw_scores_get(scores, i);
        const double off = fabs(got.value - c->wanted[i]);
        note_compared(got.name);
        check_note(isnan(c->wanted[i]) ? isnan(got.value) : off <= 1e-12 * fmax(1.0, fabs(c->wanted[i])), __FILE__,
                   __LINE__, "case %ld in steps of %zu: %s is %.17g, scikit-learn's %.17g", c->index, step, got.name,
                   got.value, c->wanted[i]);
    }
    mw_scores_destroy(scores);
}

/* The file of an argument, of other cases (scores_cases.py); NULL = those that are recorded. */
static const char *cases;

static void test_figures_agree_with_scikit_learn(void)
{
    char path[512], key[32];
    mw__safetensors file;
    mw_error err = {0};
    const char *note;
    long index = 0;
    snprintf(path, sizeof path, "%s", cases != NULL ? cases : MW_TESTS_DIR "/learn/scores.safetensors");
    REQUIRE(mw__safetensors_open(&file, mw__allocator_default(), path, &err) == MW_OK);
    while (snprintf(key, sizeof key, "case.%ld", index) > 0 && (note = mw__safetensors_metadata(&file, key)) != NULL) {
        score_case c = {.file = &file, .index = index++};
        read_note(&c, note);
        c.p = load(&c, "p", &err);
        c.t = load(&c, "t", &err);
        c.w = load(&c, "w", &err);
        snprintf(key, sizeof key, "%ld.p", c.index);
        c.examples = (size_t)(mw_shape_count(mw__safetensors_find(&file, key)->shape) / c.columns);
        check_in_steps(&c, c.examples);
        check_in_steps(&c, 3);
        free(c.p);
        free(c.t);
        free(c.w);
    }
    CHECK_OK(err);
    CHECK_INT(index, 78);
    mw__safetensors_close(&file);
}

/* Runs behind it. The rates of texts are counted by hand below. */
static void test_every_figure_was_compared(void)
{
    for (int task = MW_SCORE_CLASSES; task <= MW_SCORE_VALUES; task++)
        for (size_t i = 0; mw_score_name((mw_score_task)task, i) != NULL; i++) {
            const char *name = mw_score_name((mw_score_task)task, i);
            char part[64];
            snprintf(part, sizeof part, ",%s,", strcmp(name, "top_K") == 0 ? "top_1" : name);
            check_note(strstr(compared, part) != NULL, __FILE__, __LINE__, "no case has %s", name);
        }
}

/* ---- no examples, labels that do not count ---- */

static void test_without_examples_nothing_is_defined(void)
{
    static const struct {
        mw_score_task task;
        int64_t columns;
    } rows[] = {
        {MW_SCORE_CLASSES, 3}, {MW_SCORE_LABELS, 1}, {MW_SCORE_LABELS, 2}, {MW_SCORE_VALUES, 1}, {MW_SCORE_TEXTS, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_error err = {0};
        mw_scores *scores = mw_scores_create(rows[i].task, rows[i].columns, NULL, &err);
        CHECK_OK(err);
        CHECK(mw_scores_count(scores) > 0);
        for (size_t k = 0; k < mw_scores_count(scores); k++)
            CHECK(isnan(mw_scores_get(scores, k).value) && mw_scores_get(scores, k).name != NULL);
        CHECK(mw_scores_get(scores, mw_scores_count(scores)).name == NULL);
        mw_scores_destroy(scores);
    }
}

static void test_labels_below_0_do_not_count(void)
{
    const float p[] = {0.75f, 0.25f, 0.25f, 0.75f, 1.0f, 0.0f};
    const int32_t labels[] = {0, -100, 1};
    mw_error err = {0};
    mw_scores *scores = mw_scores_create(MW_SCORE_CLASSES, 2, "accuracy,auc,top_1", &err);
    mw_scores_add(scores, &(mw_score_batch){.examples = 3, .predictions = p, .labels = labels}, &err);
    CHECK_OK(err);
    CHECK(mw_scores_get(scores, 0).value == 0.5 && mw_scores_get(scores, 1).value == 0.0);
    CHECK(mw_scores_get(scores, 2).value == 0.5);
    mw_scores_destroy(scores);
}

/* ---- texts ---- */

static void check_text(const char *reference, const char *text, double wer, double cer)
{
    mw_error err = {0};
    mw_scores *scores = mw_scores_create(MW_SCORE_TEXTS, 1, NULL, &err);
    mw_scores_add_text(scores, reference, text, &err);
    CHECK_OK(err);
    check_note(mw_scores_get(scores, 0).value == wer && mw_scores_get(scores, 1).value == cer, __FILE__, __LINE__,
               "\"%s\", \"%s\": wer %g, cer %g", reference, text, mw_scores_get(scores, 0).value,
               mw_scores_get(scores, 1).value);
    mw_scores_destroy(scores);
}

static void test_error_rates_of_texts(void)
{
    check_text("kitten", "sitting", 1.0, 3.0 / 6.0);
    check_text("the cat sat", "the cat sat", 0.0, 0.0);
    check_text("the cat sat", "the cat", 1.0 / 3.0, 4.0 / 11.0);
    check_text("a b c d", "x b  c\td e", 2.0 / 4.0, 5.0 / 7.0);
    check_text("\xc3\xa9t\xc3\xa9", "ete", 1.0, 2.0 / 3.0); /* characters, not bytes */
    check_text("\xff\xfe", "\xff", 1.0, 0.5);               /* bytes that are none count by themselves */
    check_text("", "a", INFINITY, INFINITY);
}

/* ---- refusals ---- */

static void check_create(mw_score_task task, int64_t columns, const char *names, const char *says)
{
    mw_error err = {0};
    mw_scores *scores = mw_scores_create(task, columns, names, &err);
    CHECK(scores == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, says);
}

static void test_names_and_columns_that_are_none_are_refused(void)
{
    check_create(MW_SCORE_CLASSES, 1, NULL, "1 columns for classes, which have 2 to 1048576");
    check_create(MW_SCORE_VALUES, 0, NULL, "0 columns for values, which have 1 to");
    check_create(MW_SCORE_TEXTS, 2, NULL, "2 columns for texts");
    check_create((mw_score_task)7, 1, NULL, "7 is no task");
    check_create(MW_SCORE_VALUES, 1, "mae,auc",
                 "\"auc\" is no figure of values in 1 columns; there are mae, mse, rmse");
    check_create(MW_SCORE_CLASSES, 3, "", "\"\" is no figure");
    check_create(MW_SCORE_CLASSES, 3, "accuracy,", "\"\" is no figure");
    check_create(MW_SCORE_CLASSES, 3, "f1", "\"f1\" is no figure of classes");
    check_create(MW_SCORE_LABELS, 2, "f1", "\"f1\" is no figure of labels in 2 columns");
    check_create(MW_SCORE_CLASSES, 3, "top_4", "K is 1 to 3");
    check_create(MW_SCORE_CLASSES, 3, "top_0", "\"top_0\"");
    check_create(MW_SCORE_CLASSES, 3, "top_", "\"top_\"");
    check_create(MW_SCORE_CLASSES, 3, "top_99999999999999999999", "\"top_9999");
}

/* A refused batch adds nothing, even if its first examples are right. */
static void check_refused(mw_score_task task, mw_score_batch wrong, const char *says)
{
    const float p[] = {0.25f, 0.75f}, t[] = {1.0f, 2.0f};
    const int32_t labels[] = {1, 0};
    mw_error err = {0};
    mw_scores *scores = mw_scores_create(task, 2, NULL, &err);
    const mw_score_batch right = {.examples = 1, .predictions = p, .labels = labels, .targets = t};
    double before[16];
    mw_scores_add(scores, &right, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < mw_scores_count(scores); i++)
        before[i] = mw_scores_get(scores, i).value;
    mw_scores_add(scores, &wrong, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, says);
    for (size_t i = 0; i < mw_scores_count(scores); i++) {
        const double now = mw_scores_get(scores, i).value;
        CHECK(memcmp(&now, &before[i], sizeof now) == 0);
    }
    mw_scores_destroy(scores);
}

static void test_batches_with_a_wrong_number_are_refused_as_a_whole(void)
{
    const float p[] = {0.5f, 0.5f, 0.25f, 0.75f}, high[] = {0.5f, 0.5f, 0.25f, 1.5f};
    const float nan[] = {0.5f, 0.5f, (float)NAN, 0.5f}, heavy[] = {1.0f, -1.0f};
    const int32_t labels[] = {0, 1, 1, 0}, many[] = {0, 2, 1, 1};
    const mw_score_task c = MW_SCORE_CLASSES, l = MW_SCORE_LABELS, v = MW_SCORE_VALUES;
    check_refused(c, (mw_score_batch){.examples = 2, .predictions = high, .labels = labels},
                  "prediction 1.5 of example 1 must be a probability, in [0, 1]");
    check_refused(l, (mw_score_batch){.examples = 2, .predictions = nan, .labels = labels}, "of example 1 must be");
    check_refused(v, (mw_score_batch){.examples = 2, .predictions = nan, .targets = p}, "of example 1 must be finite");
    check_refused(v, (mw_score_batch){.examples = 2, .predictions = p, .targets = nan}, "target nan of example 1");
    check_refused(c, (mw_score_batch){.examples = 2, .predictions = p, .labels = many},
                  "label 2 of example 1 must be below the number of classes");
    check_refused(l, (mw_score_batch){.examples = 2, .predictions = p, .labels = many},
                  "label 2 of example 0 must be 0 or 1");
    check_refused(c, (mw_score_batch){.examples = 2, .predictions = p, .labels = labels, .weights = heavy},
                  "weight -1 of example 1 must be finite and 0 or more");
    check_refused(c, (mw_score_batch){.examples = 1, .predictions = p}, "labels are NULL");
    check_refused(v, (mw_score_batch){.examples = 1, .predictions = p}, "targets are NULL");
    check_refused(v, (mw_score_batch){.examples = 1, .targets = p}, "predictions are NULL");
}

static void test_texts_and_numbers_do_not_mix(void)
{
    mw_error err = {0};
    const float p[] = {0.5f, 0.5f};
    mw_scores *texts = mw_scores_create(MW_SCORE_TEXTS, 1, NULL, &err);
    mw_scores *values = mw_scores_create(MW_SCORE_VALUES, 1, NULL, &err);
    mw_scores_add(texts, &(mw_score_batch){.examples = 1, .predictions = p, .targets = p}, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_scores_add_text");
    mw_error_clear(&err);
    mw_scores_add_text(values, "a", "b", &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "MW_SCORE_TEXTS alone");
    mw_error_clear(&err);
    mw_scores_add_text(texts, "a", NULL, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the text is NULL");
    mw_scores_destroy(texts);
    mw_scores_destroy(values);
}

int main(int count, char **words)
{
    cases = count > 1 ? words[1] : NULL;
    RUN(test_figures_agree_with_scikit_learn);
    RUN(test_every_figure_was_compared);
    RUN(test_without_examples_nothing_is_defined);
    RUN(test_labels_below_0_do_not_count);
    RUN(test_error_rates_of_texts);
    RUN(test_names_and_columns_that_are_none_are_refused);
    RUN(test_batches_with_a_wrong_number_are_refused_as_a_whole);
    RUN(test_texts_and_numbers_do_not_mix);
    return check_finish();
}
