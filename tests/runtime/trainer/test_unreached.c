/* Parameters that are to train, but that no gradient reaches: each is a warning of the trainer, and mw_trainer_fit
 * shows it. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 4, WIDTH = 3 };

static mw_tensor *weight(mw_graph *graph, const char *name)
{
    return mw_parameter(graph, name, MW_F32, MW_SHAPE(WIDTH), mw_init_constant(0.5f));
}

/* "a" and "b" are cut off, "b" in two segments, where the sum of two zeros must not pass for a gradient. */
static mw_trainer *make(bool cut, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(ROWS, WIDTH)), *a = weight(graph, "a"),
              *b = weight(graph, "b");
    mw_tensor *h = mw_mul(mw_tanh(mw_mul(x, cut ? mw_stop_gradient(a) : a)), weight(graph, "c"));
    for (int i = 0; i < 2; i++) {
        mw_tensor *start = h;
        h = mw_mul(mw_tanh(h), cut ? mw_stop_gradient(b) : b);
        h = mw_recompute(h, &start, 1);
    }
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(h, MW_ALL_AXES, false), mw_sgd(0.1f));
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    options.accumulate = 2; /* two programs, but each is said once */
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void test_each_is_a_warning_of_the_trainer(void)
{
    mw_error err = {0};
    mw_warning warning;
    mw_trainer *trainer = make(true, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_get_info(trainer).warning_count, 2);
    for (size_t i = 0; i < 2; i++) {
        REQUIRE(mw_trainer_warning_at(trainer, i, &warning));
        CHECK_STR(warning.argument, "gradient");
        CHECK_STR(warning.tensor, i == 0 ? "a" : "b");
        CHECK_INT(warning.count, WIDTH);
        CHECK_CONTAINS(warning.message, "gets no gradient and will not change");
    }
    mw_trainer_destroy(trainer);
    trainer = make(false, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_get_info(trainer).warning_count, 0);
    mw_trainer_destroy(trainer);
}

/* What mw_trainer_fit writes to standard error. */
static char *fit(mw_trainer *trainer, mw_error *err)
{
    static float x[4 * ROWS * WIDTH];
    const mw_column column = {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(WIDTH), .data = x};
    mw_dataset *data = mw_dataset_create(&column, 1, 4 * ROWS, false, err);
    const mw_fit_options options = mw_fit_defaults(data, 1);
    fflush(stderr);
    const int kept = dup(STDERR_FILENO);
    FILE *to = fopen(scratch("stderr"), "wb");
    if (to != NULL && kept >= 0) {
        dup2(fileno(to), STDERR_FILENO);
        mw_trainer_fit(trainer, &options, err);
        fflush(stderr);
        dup2(kept, STDERR_FILENO);
        close(kept);
        fclose(to);
    }
    mw_dataset_destroy(data);
    size_t size = 0;
    char *text = (char *)get_file(scratch("stderr"), &size);
    if (text != NULL)
        text[size] = '\0';
    return text;
}

static void test_fit_shows_the_first_and_how_many_there_are(void)
{
    for (int cut = 0; cut < 2; cut++) {
        mw_error err = {0};
        mw_trainer *trainer = make(cut == 1, &err);
        char *text = fit(trainer, &err);
        CHECK_OK(err);
        REQUIRE(text != NULL);
        if (cut == 1)
            CHECK_CONTAINS(text, "warning: trainer: parameter \"a\" gets no gradient and will not change (and 1 more");
        else
            CHECK(strstr(text, "warning") == NULL);
        CHECK_CONTAINS(text, "epoch 1/1");
        free(text);
        mw_trainer_destroy(trainer);
    }
}

int main(void)
{
    RUN(test_each_is_a_warning_of_the_trainer);
    RUN(test_fit_shows_the_first_and_how_many_there_are);
    return check_finish();
}
