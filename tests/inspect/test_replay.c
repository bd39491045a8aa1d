/* A refused step is left in a folder, and is refused there for the same reason, without its trainer; on a device that
 * can hold its numbers it is a good one. */
#include "runtime/files.h"
#include "runtime/metrics/metrics_lines.h"
#include "runtime/small.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"

#include <millwright/inspect.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[512];

static mw_trainer *make(mw_device device, mw_optimizer optimizer, int accumulate, int dispatch_steps, mw_error *err)
{
    small_net net = small_create_stateful(NULL);
    mw_trainer_options options = mw_trainer_defaults(mw_mul_scalar(net.loss, 300.0), optimizer);
    options.precision.loss_scale = 1.0f;
    options.watch.replay_folder = "refused/step";
    options.accumulate = accumulate;
    options.dispatch_steps = dispatch_steps;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static mw_compile_options on(mw_device device)
{
    mw_compile_options options = mw_compile_defaults();
    options.device = device;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1;
    return options;
}

/* Class 0 is taken for sure: the loss of the others is of the size of the value. */
static void poison(mw_trainer *trainer, float value, mw_error *err)
{
    float weights[SMALL_C * SMALL_H];
    for (int i = 0; i < SMALL_C * SMALL_H; i++)
        weights[i] = i < SMALL_H ? value : -value;
    mw_trainer_write(trainer, "fc2.weight", MW_F32, weights, SMALL_C * SMALL_H, err);
}

static mw_error refuse(mw_trainer *trainer, int steps)
{
    mw_error err = {0};
    const small_data data = small_make_data();
    small_batch batch;
    small_fill_batch(&batch, &data, 8);
    for (int i = 0; i < steps && err.status == MW_OK; i++)
        mw_trainer_step(trainer, &batch.batch, NULL, &err);
    return err;
}

static void check_same_cause(const mw_error *said, const mw_replay_result *found)
{
    CHECK_STR(found->operation, said->operation);
    CHECK_STR(found->tensor, said->tensor);
    check_note(strstr(said->message, found->text) != NULL && found->text[0] != '\0', __FILE__, __LINE__,
               "\"%s\" is not in \"%s\"", found->text, said->message);
    CHECK(found->values > 20 && found->non_finite >= 1 && found->first < found->values);
}

static void test_a_replayed_step_fails_for_the_same_reason(void)
{
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int i = 0; i < 4; i++) {
        mw_error err = {0};
        mw_replay_result found;
        folder_empty(".");
        mw_trainer *t = make(devices[i % 2], i < 2 ? mw_adam(0.02f) : mw_sgd(0.1f), i == 3 ? 2 : 1, 1, &err);
        refuse(t, i == 3 ? 4 : 3); /* good ones */
        CHECK_INT(folder_count("refused"), -2);
        poison(t, i % 2 == 0 ? 3e38f : 1000.0f, &err);
        const mw_error said = refuse(t, 1);
        CHECK_INT(said.status, MW_ERROR_NUMERIC);
        const int64_t step = mw_trainer_steps(t) + 1;
        mw_trainer_destroy(t);
        const mw_compile_options options = on(devices[i % 2]);
        mw_replay_run("refused/step", &options, &found, &err);
        CHECK_OK(err);
        CHECK_INT(found.step, step);
        check_same_cause(&said, &found);
    }
}

/* Numbers that fp16 does not hold are looked for on any device. */
static void test_another_device_finds_it_too(void)
{
    mw_error err = {0};
    mw_replay_result found;
    mw_trainer *t = make(MW_DEVICE_ANE, mw_sgd(0.1f), 1, 1, &err);
    poison(t, 1000.0f, &err);
    CHECK_INT(refuse(t, 1).status, MW_ERROR_NUMERIC);
    mw_trainer_destroy(t);
    const mw_compile_options options = on(MW_DEVICE_CPU);
    mw_replay_run("refused/step", &options, &found, &err);
    CHECK_OK(err);
    CHECK(found.non_finite > 0 && found.text[0] != '\0' && found.values > 20);
}

/* What is fed would be written into the memory of a trainer that the options name. */
static void test_a_replay_touches_no_other_trainer(void)
{
    mw_error err = {0};
    mw_replay_result found;
    float before[SMALL_C * SMALL_H], after[SMALL_C * SMALL_H];
    mw_trainer *t = make(MW_DEVICE_CPU, mw_sgd(0.1f), 1, 1, &err);
    mw_trainer *other = make(MW_DEVICE_CPU, mw_sgd(0.1f), 1, 1, &err);
    poison(t, 1e30f, &err);
    CHECK_INT(refuse(t, 1).status, MW_ERROR_NUMERIC);
    mw_trainer_read(other, "fc2.weight", MW_F32, before, SMALL_C * SMALL_H, &err);
    mw_compile_options options = on(MW_DEVICE_CPU);
    options.share.trainer = other;
    mw_replay_run("refused/step", &options, &found, &err);
    mw_trainer_read(other, "fc2.weight", MW_F32, after, SMALL_C * SMALL_H, &err);
    CHECK_OK(err);
    CHECK(memcmp(before, after, sizeof after) == 0 && found.non_finite > 0);
    mw_trainer_destroy(other);
    mw_trainer_destroy(t);
}

static void test_fit_says_where_the_step_is(void)
{
    mw_error err = {0};
    const small_data data = small_make_data();
    mw_dataset *set = small_open_data(&data, SMALL_EXAMPLES, &err);
    mw_trainer *t = make(MW_DEVICE_CPU, mw_sgd(0.1f), 1, 3, &err);
    poison(t, 3e38f, &err);
    CHECK_OK(err);
    mw_fit_options fit = mw_fit_defaults(set, 2);
    fit.progress.quiet = fit.progress.ignore_signals = true;
    fit.metrics.path = "replayed.jsonl";
    CHECK_INT(mw_trainer_fit(t, &fit, &err), MW_ERROR_NUMERIC);
    lines all = lines_read("replayed.jsonl");
    CHECK(line_says(all.text[all.count - 1], "replay", "refused/step"));
    lines_free(&all);
    mw_trainer_destroy(t);
    mw_dataset_destroy(set);
    mw_replay_result found;
    const mw_error said = err;
    err = (mw_error){0};
    mw_replay_run("refused/step", NULL, &found, &err);
    CHECK_OK(err);
    check_same_cause(&said, &found);
}

/* Sentences of a folder that came from elsewhere: nothing in them steers a terminal. */
static void test_the_sentence_of_a_folder_is_escaped(void)
{
    mw_error err = {0};
    mw_replay_result found;
    mw_trainer *trainer = make(MW_DEVICE_ANE, mw_adam(0.01f), 1, 1, &err);
    poison(trainer, 200.0f, &err);
    REQUIRE(refuse(trainer, 1).status != MW_OK);
    mw_trainer_destroy(trainer);
    char *text = page_read("refused/step/operations.txt");
    REQUIRE(text != NULL);
    for (char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        if (at > text && at[-1] != '1') /* the line of the format stays */
            at[-1] = '\x1b';
    }
    folder_put("refused/step/operations.txt", text);
    free(text);
    mw_compile_options options = on(MW_DEVICE_ANE);
    mw_replay_run("refused/step", &options, &found, &err);
    CHECK_OK(err);
    CHECK(found.non_finite > 0);
    CHECK(strchr(found.text, '\x1b') == NULL);
    CHECK_CONTAINS(found.text, "\\x1b");
}

static void test_a_folder_that_cannot_be_written_changes_no_message(void)
{
    mw_error err = {0};
    folder_empty(".");
    folder_put("refused", "a file");
    mw_trainer *t = make(MW_DEVICE_CPU, mw_sgd(0.1f), 1, 1, &err);
    poison(t, 3e38f, &err);
    const mw_error said = refuse(t, 1);
    CHECK_ERROR(said, MW_ERROR_NUMERIC, "the first result that is not finite");
    CHECK(folder_holds("refused", "a file"));
    mw_trainer_destroy(t);
}

static void check_no_replay(mw_status status, const char *why)
{
    mw_error err = {0};
    mw_replay_result found = {.values = 7};
    CHECK_INT(mw_replay_run("refused/step", NULL, &found, &err), status);
    CHECK_ERROR(err, status, why);
    CHECK(found.values == 0 && found.text[0] == '\0');
}

static void test_other_folders_are_refused(void)
{
    mw_error err = {0};
    folder_empty(".");
    check_no_replay(MW_ERROR_FILE, "operations.txt");
    mw_trainer *t = make(MW_DEVICE_CPU, mw_sgd(0.1f), 1, 1, &err);
    poison(t, 3e38f, &err);
    refuse(t, 1);
    mw_trainer_destroy(t);
    folder_put("refused/step/operations.txt", "millwright replay 1\n");
    check_no_replay(MW_ERROR_FORMAT, "too few lines");
    folder_put("refused/step/operations.txt", "mine\n");
    check_no_replay(MW_ERROR_FORMAT, "does not begin as one");
    folder_put("refused/step/operations.txt", "millwright replay 1\n");
    folder_put("refused/step/inputs.safetensors", "mine");
    check_no_replay(MW_ERROR_FORMAT, "inputs.safetensors");
    CHECK(unlink("refused/step/inputs.safetensors") == 0);
    check_no_replay(MW_ERROR_FILE, "inputs.safetensors");
}

int main(void)
{
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_replayed_step_fails_for_the_same_reason);
    RUN(test_another_device_finds_it_too);
    RUN(test_a_replay_touches_no_other_trainer);
    RUN(test_fit_says_where_the_step_is);
    RUN(test_the_sentence_of_a_folder_is_escaped);
    RUN(test_a_folder_that_cannot_be_written_changes_no_message);
    RUN(test_other_folders_are_refused);
    folder_leave(folder);
    return check_finish();
}
