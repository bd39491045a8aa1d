/* Series in time, lists of any length, several targets and ids by one command: windows of values and of classes,
 * several series in one file, other files with the model, and what is refused. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned state;

/* Uniform in [0, 1), the same on every machine. */
static double draw(void)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : -1;
}

/* Hours of a load in tens of thousands that has a day, and follows the temperature of three hours before. */
static void write_load(const char *path, int hours, unsigned seed)
{
    double past[3] = {0};
    FILE *csv = fopen(path, "w");
    REQUIRE(csv != NULL);
    state = seed;
    fputs("time,temperature,load\n", csv);
    for (int i = 0; i < hours; i++) {
        const double warm = 10 + 8 * sin(i / 50.0) + 4 * draw();
        fprintf(csv, "2025-%02d-%02d %02d:00,%.2f,%.1f\n", 1 + i / 24 / 28, 1 + i / 24 % 28, i % 24, warm,
                50000 + 8000 * sin(2 * 3.14159265 * (i % 24) / 24) + 500 * past[i % 3] + 300 * draw());
        past[i % 3] = warm;
    }
    fclose(csv);
}

static void test_a_series_is_learned_by_one_command(void)
{
    write_load("load.csv", 1200, 1);
    folder_put("load.json", "{\"epochs\": 20, \"threads\": 1, \"data\": {\"path\": \"load.csv\", \"window\": "
                            "{\"length\": 24, \"horizon\": 3}}}");
    shell_result r = MW("train", "load.json", "--run", "load");
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.out, "(windows)                 window    24 rows, every 1, to predict 3\n");
    CHECK_CONTAINS(r.out, "1054 examples, 94 for validation");
    CHECK(number_behind(r.out, "r2 ") > 0.9);
    const double distance = number_behind(r.out, "mean_absolute_error ");
    CHECK(distance > 100 && distance < 1500);
    shell_free(&r);
}

/* The last window of a file needs no rows behind it: what comes next is what is asked for. */
static void test_the_model_says_what_comes_next(void)
{
    write_load("later.csv", 24, 2);
    CHECK_MW(0, "scores  [1, 3]  ", NULL, "run", "load", "-i", "x=later.csv");
    CHECK_MW(0, NULL, NULL, "convert", "load", "load.onnx");
    CHECK_MW(0, "scores  [1, 3]  ", NULL, "run", "load.onnx", "-i", "x=later.csv");
    write_load("short.csv", 23, 2);
    CHECK_MW(1, NULL, "a window of 24 rows with what it predicts takes 24, and the longest series of this part has 23",
             "run", "load", "-i", "x=short.csv");
}

/* Movements of several people, whose rows stand mixed: still, a slow wave, a fast one. */
static void write_movements(const char *path, int rows, unsigned seed)
{
    static const char *const names[] = {"still", "walk", "run"};
    FILE *csv = fopen(path, "w");
    REQUIRE(csv != NULL);
    state = seed;
    fputs("who,a,b,what\n", csv);
    for (int i = 0; i < rows; i++)
        for (int who = 0; who < 4; who++) {
            const int what = (i / 100 + who) % 3;
            const double angle = what * 0.5 * i + who;
            fprintf(csv, "p%d,%.3f,%.3f,%s\n", who, (what > 0) * sin(angle) + 0.3 * draw(),
                    (what > 0) * cos(angle) + 0.3 * draw(), names[what]);
        }
    fclose(csv);
}

static void test_windows_of_several_series_have_a_class(void)
{
    write_movements("moves.csv", 600, 3);
    folder_put("moves.json",
               "{\"epochs\": 10, \"threads\": 1, \"data\": {\"path\": \"moves.csv\", \"target\": \"what\", \"window\": "
               "{\"length\": 16, \"horizon\": 0, \"stride\": 4, \"series\": \"who\"}, \"split\": \"group\", "
               "\"split_field\": \"who\", \"validation\": 0.25}}");
    shell_result r = MW("train", "moves.json", "--run", "moves");
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.out, "who                       ignored   it names the series");
    CHECK_CONTAINS(r.out, "16 rows, every 4, to predict the target of the last, of each who");
    CHECK_CONTAINS(r.out, "441 examples, 147 for validation, 3 classes");
    CHECK(number_behind(r.out, "accuracy ") > 0.9);
    shell_free(&r);
    CHECK_MW(0, "the validation share, 147 examples", NULL, "report", "moves", "--own-data");
}

static void test_settings_of_windows_are_refused_with_their_place(void)
{
    static const struct {
        const char *data, *error;
    } rows[] = {
        {"\"window\": {\"horizon\": 2}", "a window needs a \"length\""},
        {"\"window\": 24", "\"window\" is an object, { .. }"},
        {"\"window\": {\"length\": 24, \"size\": 2}", "\"size\" is not known here"},
        {"\"window\": {\"length\": 24, \"horizon\": 0, \"gap\": 1}", "\"gap\" has no effect here; it has one with"},
        {"\"window\": {\"length\": 24}, \"split\": \"random\"", "are not dealt out one by one: \"last\""},
        {"\"window\": {\"length\": 24}, \"split_seed\": 3", "\"split_seed\" has no effect here"},
        {"\"window\": {\"length\": 24, \"series\": \"shop\"}", "has no field \"shop\" among its 3"},
        {"\"window\": {\"length\": 2400}", "shorter windows, or another share for validation"},
    };
    char config[400];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(config, sizeof config, "{\"data\": {\"path\": \"load.csv\", %s}}", rows[i].data);
        folder_put("place.json", config);
        shell_result r = MW("train", "place.json", "-q");
        check_note(r.code != 0 && strstr(r.errs, rows[i].error) != NULL, __FILE__, __LINE__, "%s: code %d, %s",
                   rows[i].data, r.code, r.errs);
        shell_free(&r);
    }
}

/* ---- lists of any length ---- */

/* Up to 12 words of 40; the last of 1, 2 and 3 among them says the class. */
static void write_lists(const char *path, int rows, unsigned seed)
{
    FILE *lines = fopen(path, "w");
    REQUIRE(lines != NULL);
    state = seed;
    for (int i = 0; i < rows; i++) {
        const int length = 1 + (int)(12 * draw()), place = (int)(length * draw());
        int last = 0;
        fputs("{\"words\": [", lines);
        for (int k = 0; k < length; k++) {
            const int word = k == place ? 1 + (int)(3 * draw()) : 1 + (int)(40 * draw());
            last = word <= 3 ? word : last;
            fprintf(lines, "%s%d", k > 0 ? ", " : "", word);
        }
        fprintf(lines, "], \"kind\": \"k%d\"}\n", last);
    }
    fclose(lines);
}

static void test_lists_of_any_length_are_learned_by_one_command(void)
{
    write_lists("lists.jsonl", 1200, 4);
    shell_result r = MW("train", "lists.jsonl", "--run", "lists", "--threads", "1", "--epochs", "15");
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.out, "words                     sequence  up to 12 words of 40, 32 learned numbers each");
    CHECK(number_behind(r.out, "accuracy ") > 0.95);
    shell_free(&r);
    folder_put("short.jsonl", "{\"words\": [2]}\n{\"words\": [9, 1, 5000, 7]}\n");
    r = MW("run", "lists", "-i", "x=short.jsonl");
    CHECK_CONTAINS(r.out, "example 0: k2");
    CHECK_CONTAINS(r.out, "example 1: k1");
    shell_free(&r);
    CHECK_MW(0, NULL, NULL, "convert", "lists", "lists.onnx");
    CHECK_MW(0, "example 1: k1", NULL, "run", "lists.onnx", "-i", "x=short.jsonl");
}

/* A network of the recipe takes what the fields became, lists among them. */
static void test_a_network_behind_lists_is_one_of_rows(void)
{
    folder_put("lists.json", "{\"epochs\": 1, \"threads\": 1, \"network\": [{\"dense\": 8}, \"relu\", {\"dense\": "
                             "\"classes\"}], \"data\": {\"path\": \"lists.jsonl\", \"fields\": {\"words\": {\"kind\": "
                             "\"sequence\", \"width\": 8, \"length\": 4, \"elements\": \"words\"}}}}");
    CHECK_MW(0, "up to 4 words of 40, 8 learned numbers each", NULL, "train", "lists.json");
}

/* ---- several targets ---- */

static void test_several_labels_and_values_are_learned_by_one_command(void)
{
    FILE *csv = fopen("several.csv", "w");
    REQUIRE(csv != NULL);
    state = 8;
    fputs("a,b,warm,wet,far,near\n", csv);
    for (int i = 0; i < 800; i++) {
        const double a = 2 * draw() - 1, b = 2 * draw() - 1;
        fprintf(csv, "%.3f,%.3f,%s,%d,%.1f,%.4f\n", a, b, a + b > 0 ? "yes" : "no", a > b, 30000 + 4000 * a,
                0.5 + 0.01 * b);
    }
    fclose(csv);
    folder_put("labels.json", "{\"epochs\": 20, \"threads\": 1, \"data\": {\"path\": \"several.csv\", \"target\": "
                              "[\"warm\", \"wet\"], \"inputs\": [\"a\", \"b\"]}}");
    shell_result r = MW("train", "labels.json", "--run", "labels", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(number_behind(r.out, "\"f1_macro\": ") > 0.9);
    shell_free(&r);
    CHECK_MW(0, "scores  [800, 2]  ", NULL, "run", "labels", "-i", "x=several.csv");
    folder_put("values.json", "{\"epochs\": 20, \"threads\": 1, \"data\": {\"path\": \"several.csv\", \"target\": "
                              "[\"far\", \"near\"], \"inputs\": [\"a\", \"b\"]}}");
    r = MW("train", "values.json", "--run", "values", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(number_behind(r.out, "\"r2\": ") > 0.9); /* the mean of both */
    shell_free(&r);
    r = MW("finetune", "values", "--data", "several.csv", "--loss", "mse", "-o", "again", "--epochs", "1", "--lr",
           "1e-6", "--json", "-q");
    CHECK(number_behind(r.out, "\"r2\": ") > 0.9);
    shell_free(&r);
    /* a page has charts of each */
    CHECK_MW(0, "all examples, 800 examples", NULL, "report", "values", "--data", "several.csv", "-o", "page.html");
    char *written = page_read("page.html");
    CHECK_CONTAINS(written, ">true far</text>");
    CHECK_CONTAINS(written, ">true near</text>");
    free(written);
    CHECK_MW(0, NULL, NULL, "report", "labels", "--own-data", "-o", "page.html");
    written = page_read("page.html");
    CHECK_CONTAINS(written, "Probability of warm");
    CHECK_CONTAINS(written, "Probability of wet");
    free(written);
    folder_put("classes.json", "{\"loss\": \"cross_entropy\", \"data\": {\"path\": \"several.csv\", \"target\": "
                               "[\"warm\", \"wet\"]}}");
    CHECK_MW(2, NULL, "several targets are values or labels", "train", "classes.json", "-q");
    folder_put("classes.json", "{\"data\": {\"path\": \"several.csv\", \"target\": [\"warm\", 1]}}");
    CHECK_MW(2, NULL, "\"target\" is the name of a field, or a list of such", "train", "classes.json", "-q");
}

/* ---- ids ---- */

/* What 40 people think of 35 films: how much of each there is, and whether both are of the same kind. */
static void test_who_likes_what_is_learned_by_one_command(void)
{
    FILE *csv = fopen("stars.csv", "w");
    REQUIRE(csv != NULL);
    state = 12;
    fputs("user_id,film_id,stars\n", csv);
    for (int i = 0; i < 3000; i++) {
        const int who = (int)(40 * draw()), what = (int)(35 * draw());
        fprintf(csv, "%d,%d,%.2f\n", 7000 + 13 * who, 100 + what,
                3 + 0.5 * sin(who) + 0.5 * sin(2 * what) + (who % 2 == what % 2 ? 1 : -1) + 0.2 * draw());
    }
    fclose(csv);
    shell_result r = MW("train", "stars.csv", "--run", "stars", "--threads", "1", "--epochs", "25");
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.out, "user_id                   id        40 words, 16 learned numbers each");
    CHECK_CONTAINS(r.out, "film_id                   id        35 words, 16 learned numbers each");
    check_note(number_behind(r.out, "r2 ") > 0.9, __FILE__, __LINE__, "%s", r.out);
    shell_free(&r);
    folder_put("pair.csv", "film_id,user_id\n100,7000\n101,7000\n");
    CHECK_MW(0, "scores  [2, 1]  ", NULL, "run", "stars", "-i", "x=pair.csv");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_series_is_learned_by_one_command);
    RUN(test_the_model_says_what_comes_next);
    RUN(test_windows_of_several_series_have_a_class);
    RUN(test_settings_of_windows_are_refused_with_their_place);
    RUN(test_lists_of_any_length_are_learned_by_one_command);
    RUN(test_a_network_behind_lists_is_one_of_rows);
    RUN(test_several_labels_and_values_are_learned_by_one_command);
    RUN(test_who_likes_what_is_learned_by_one_command);
    folder_leave(folder);
    return check_finish();
}
