/* mw train --folds: each example validates once, in a fold with an encoder of its own; the table has the mean and the
 * deviation of the figures; what cannot be folds is said. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 150 };

static void write_files(void)
{
    static float x[N * 3];
    static int64_t y[N];
    mw_error err = {0};
    FILE *csv = fopen("points.csv", "w");
    REQUIRE(csv != NULL);
    fputs("a,b,shop,day,kind,price\n", csv);
    for (int i = 0; i < N; i++) {
        const double a = (i * 37 % 101) / 50.0, b = (i * 53 % 97) / 48.0;
        fprintf(csv, "%.3g,%.3g,s%d,%d,%s,%.5g\n", a, b, i % 11, i * 7 % N, a + b > 2 ? "big" : "small",
                1000 * (a + 2 * b));
        x[3 * i] = (float)a, x[3 * i + 1] = (float)b, x[3 * i + 2] = 1;
        y[i] = a + b > 2;
    }
    fclose(csv);
    const mw_tensor_values values[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(N, 3), .data = x},
                                       {.name = "y", .dtype = MW_I64, .shape = MW_SHAPE(N), .data = y}};
    mw_tensors_write("points.npz", values, 2, &err);
    CHECK_OK(err);
    folder_put("kind.json",
               "{\"data\": {\"target\": \"kind\", \"inputs\": [\"a\", \"b\"]}, \"network\": [{\"dense\": 8}, "
               "\"tanh\", {\"dense\": \"classes\"}],\n"
               " \"optimizer\": {\"learning_rate\": 0.05}, \"epochs\": 15, \"batch\": 16}");
    folder_put("price.json",
               "{\"data\": {\"target\": \"price\", \"inputs\": [\"a\", \"b\"], \"split\": \"time\", "
               "\"split_field\": \"day\"},\n \"network\": [{\"dense\": 8}, \"tanh\", {\"dense\": 1}], \"epochs\": 15, "
               "\"batch\": 8, \"run\": \"priced\"}");
    folder_put("shops.json",
               "{\"data\": {\"target\": \"price\", \"inputs\": [\"a\", \"b\"], \"split\": \"group\", "
               "\"split_field\": \"shop\"},\n \"network\": [{\"dense\": 1}], \"epochs\": 1, \"batch\": 16}");
    folder_put("net.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 15, \"batch\": 16,\n"
                           " \"optimizer\": {\"learning_rate\": 0.05}}");
}

static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : NAN;
}

/* Mean and deviation of the values that are printed beside them. */
static void check_figure(const char *text, const char *name, int folds, double least_mean)
{
    char key[64];
    double sum = 0, squares = 0, values[16];
    snprintf(key, sizeof key, "{\"name\": \"%s\", ", name);
    const char *at = strstr(text, key), *list = at != NULL ? strstr(at, "\"values\": [") : NULL;
    REQUIRE(list != NULL);
    list += strlen("\"values\": [");
    for (int i = 0; i < folds; i++) {
        char *end;
        values[i] = strtod(list, &end);
        list = end + 1;
        sum += values[i];
    }
    for (int i = 0; i < folds; i++)
        squares += (values[i] - sum / folds) * (values[i] - sum / folds);
    CHECK_NEAR(number_behind(at, "\"mean\": "), sum / folds, 1e-12 * fabs(sum));
    CHECK_NEAR(number_behind(at, "\"deviation\": "), sqrt(squares / (folds - 1)), 1e-9 * fabs(sum));
    CHECK(sum / folds >= least_mean);
}

static void test_classes_have_a_table_of_figures(void)
{
    shell_result r = MW("train", "kind.json", "--data", "points.csv", "--folds", "5", "--run", "kinds", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(shell_is_json(r.out));
    CHECK_INT((int)number_behind(r.out, "\"examples\": "), N);
    CHECK_INT((int)number_behind(r.out, "\"folds\": "), 5);
    check_figure(r.out, "accuracy", 5, 0.9);
    check_figure(r.out, "auc", 5, 0.95);
    check_figure(r.out, "loss", 5, 0);
    shell_free(&r);
    CHECK(access("kinds/fold-1/metrics.jsonl", R_OK) == 0 && access("kinds/fold-5/model", R_OK) == 0);
    CHECK(access("kinds/fold-6", R_OK) != 0);
    CHECK_MW(0, "accuracy", NULL, "train", "kind.json", "--data", "points.csv", "--folds", "3", "-j", "1");
}

/* The folders of the folds are below that of the settings; the first is learned from the earliest sixth. */
static void test_time_and_groups_are_kept(void)
{
    shell_result r = MW("train", "price.json", "--data", "points.csv", "--folds", "5", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK_INT((int)number_behind(r.out, "\"examples\": "), N - N / 6);
    check_figure(r.out, "mae", 5, 0);
    shell_free(&r);
    CHECK(access("priced/fold-5/metrics.jsonl", R_OK) == 0 && access("priced/metrics.jsonl", R_OK) != 0);
    CHECK_MW(0, "11 folds, 150 examples validate", NULL, "train", "shops.json", "--data", "points.csv", "--folds",
             "11");
}

static void test_tensors_are_dealt_out_too(void)
{
    shell_result r = MW("train", "net.json", "--data", "points.npz", "--folds", "4", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK_INT((int)number_behind(r.out, "\"examples\": "), N);
    check_figure(r.out, "accuracy", 4, 0.9);
    shell_free(&r);
}

static void test_what_cannot_be_folds_is_said(void)
{
    CHECK_MW(1, NULL, "fold 1 of 12: \"points.csv\": 11 groups cannot be 12 folds", "train", "shops.json", "--data",
             "points.csv", "--folds", "12");
    CHECK_MW(1, NULL, "2 of 2 folds failed", "train", "kind.json", "--data", "gone.csv", "--folds", "2");
    CHECK_MW(1, NULL, "150 examples cannot be 200 folds", "train", "net.json", "--data", "points.npz", "--folds",
             "200");
    CHECK_MW(2, NULL, "--out has no effect with --folds", "train", "kind.json", "--data", "points.csv", "--folds", "2",
             "-o", "x");
    CHECK_MW(2, NULL, "--jobs has no effect without --folds", "train", "kind.json", "--data", "points.csv", "-j", "2");
    CHECK_MW(2, NULL, "--folds 1 is not in 2 .. 1000", "train", "kind.json", "--data", "points.csv", "--folds", "1");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_files);
    RUN(test_classes_have_a_table_of_figures);
    RUN(test_time_and_groups_are_kept);
    RUN(test_tensors_are_dealt_out_too);
    RUN(test_what_cannot_be_folds_is_said);
    folder_leave(folder);
    return check_finish();
}
