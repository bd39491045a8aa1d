/* mw sweep: trainings of one recipe with different numbers, and what is wrong with what is asked for. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static void write_files(void)
{
    FILE *csv = fopen("points.csv", "w");
    REQUIRE(csv != NULL);
    fputs("a,b,kind\n", csv);
    for (int i = 0; i < 120; i++) {
        const double a = (i * 37 % 101) / 50.0, b = (i * 53 % 97) / 48.0;
        fprintf(csv, "%g,%g,%s\n", a, b, a + b > 2 ? "big" : "small");
    }
    fclose(csv);
    folder_put("points.json", "{\"data\": {\"path\": \"points.csv\", \"target\": \"kind\", \"validation\": 0.25},\n"
                              " \"network\": [{\"dense\": 8}, \"tanh\", {\"dense\": \"classes\"}],\n"
                              " \"epochs\": 4, \"batch\": 16, \"run\": \"never\", \"checkpoint\": "
                              "\"never.safetensors\", \"output\": \"never.onnx\"}");
    folder_put("blind.json", "{\"data\": {\"path\": \"points.csv\", \"target\": \"kind\", \"validation\": 0},\n"
                             " \"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 16}");
}

static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : -1;
}

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

static void test_every_value_is_trained_and_the_best_is_named(void)
{
    shell_result r = MW("sweep", "points.json", "--over", "lr=1e-4..1e-1", "--runs", "4", "--seeds", "2", "--run",
                        "sweep", "--picture", "sweep.svg", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(shell_is_json(r.out));
    CHECK_INT(count_of(r.out, "\"loss_deviation\": "), 4);
    CHECK_CONTAINS(r.out, "\"set\": \"validation\"");
    CHECK_CONTAINS(r.out, "\"failed\": 0");
    CHECK(number_behind(r.out, "\"best\": ") > 5e-3); /* 1e-4 learns nothing in four epochs */
    shell_free(&r);
    CHECK(access("sweep/lr=0.0001-1/weights.safetensors", F_OK) == 0);
    CHECK(access("sweep/lr=0.1-2/metrics.jsonl", F_OK) == 0);
    CHECK(access("sweep.svg", F_OK) == 0);
    CHECK(access("never", F_OK) != 0 && access("never.onnx", F_OK) != 0 && access("never.safetensors", F_OK) != 0);
}

/* One training alone, by mw train, has the loss that the sweep says. */
static void test_a_training_of_a_sweep_is_that_of_mw_train(void)
{
    shell_result r = MW("sweep", "points.json", "--over", "batch=8..32", "--runs", "2", "--seed", "5", "--run",
                        "batches", "--json", "-q");
    shell_result alone = MW("train", "points.json", "--batch", "8", "--seed", "5", "--threads", "1", "--run", "alone",
                            "--out", "alone.safetensors", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK_INT(alone.code, 0);
    CHECK(number_behind(r.out, "\"loss\": ") == number_behind(alone.out, "\"loss\": "));
    shell_free(&alone);
    shell_free(&r);
    CHECK_MW(0, "best", NULL, "sweep", "points.json", "--over", "batch=8..32", "--runs", "2", "--seed", "5", "--run",
             "batches", "-q"); /* goes on: nothing is left to train */
}

static void test_what_is_asked_for_wrongly_is_refused(void)
{
    CHECK_MW(2, NULL, "--run FOLDER is needed", "sweep", "points.json", "--over", "lr=1e-4..1e-2");
    CHECK_MW(2, NULL, "must be lr, batch or epochs, as in lr=1e-4..1e-2", "sweep", "points.json", "--run", "x");
    CHECK_MW(2, NULL, "must be lr, batch or epochs", "sweep", "points.json", "--run", "x", "--over", "rate=1..2");
    CHECK_MW(2, NULL, "must be lr, batch or epochs", "sweep", "points.json", "--run", "x", "--over", "lr=1e-4");
    CHECK_MW(2, NULL, "must be lr, batch or epochs", "sweep", "points.json", "--run", "x", "--over", "lr=a..b");
    CHECK_MW(2, NULL, "it must rise within", "sweep", "points.json", "--run", "x", "--over", "lr=1e-2..1e-4");
    CHECK_MW(2, NULL, "it must rise within", "sweep", "points.json", "--run", "x", "--over", "batch=0..4");
    CHECK_MW(2, NULL, "fewer than 10 different values", "sweep", "points.json", "--run", "x", "--over", "batch=1..4");
    CHECK_MW(2, NULL, "at most 1000 are made", "sweep", "points.json", "--run", "x", "--over", "lr=1e-4..1e-2",
             "--runs", "100", "--seeds", "20");
    CHECK_MW(2, NULL, "--epochs has no effect", "sweep", "points.json", "--run", "x", "--over", "epochs=1..40",
             "--runs", "4", "--epochs", "3");
    CHECK_MW(1, NULL, "there is no validation set and no test set", "sweep", "blind.json", "--run", "y", "--over",
             "lr=1e-4..1e-2", "--runs", "2", "-q");
    CHECK_MW(1, NULL, "no.json", "sweep", "no.json", "--run", "z", "--over", "lr=1e-4..1e-2", "--runs", "2", "-q");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    write_files();
    RUN(test_every_value_is_trained_and_the_best_is_named);
    RUN(test_a_training_of_a_sweep_is_that_of_mw_train);
    RUN(test_what_is_asked_for_wrongly_is_refused);
    folder_leave(folder);
    return check_finish();
}
