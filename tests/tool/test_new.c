/* mw new: recipes with comments, which run as they are written; and comments in recipes. */
#include "support/check.h"
#include "support/folder.h"
#include "support/sound_file.h"
#include "tool/shell.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- data ---- */

static void write_table(const char *path, const char *target, bool words)
{
    FILE *csv = fopen(path, "w");
    REQUIRE(csv != NULL);
    fprintf(csv, "height,\"width // cm\",%s\n", target);
    for (int i = 0; i < 120; i++) {
        const double a = (i * 37 % 101) / 50.0, b = (i * 53 % 97) / 48.0;
        if (words)
            fprintf(csv, "%g,%g,%s\n", a, b, a + b > 2 ? "big" : "small");
        else
            fprintf(csv, "%g,%g,%g\n", a, b, 2 * a - b);
    }
    fclose(csv);
}

static void write_idx(void)
{
    static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 8, 0, 0, 0, 8};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 40};
    mkdir("digits", 0777);
    FILE *x = fopen("digits/train-images-idx3-ubyte", "wb"), *y = fopen("digits/train-labels-idx1-ubyte", "wb");
    REQUIRE(x != NULL && y != NULL);
    fwrite(images, 1, sizeof images, x);
    fwrite(labels, 1, sizeof labels, y);
    for (int i = 0; i < 40; i++) {
        fputc(i % 2, y);
        for (int k = 0; k < 64; k++)
            fputc((i % 2 != 0) == (k % 8 < 4) ? 200 + (i * k) % 50 : (i * k) % 40, x);
    }
    fclose(x);
    fclose(y);
}

/* ---- recipes that run ---- */

/* Writes a recipe and trains it. */
static void check_runs(const char *kind, const char *data, const char *recipe, const char *run, const char *part)
{
    char path[64];
    CHECK_MW(0, recipe, NULL, "new", kind, data);
    CHECK_MW(0, part, NULL, "train", recipe);
    snprintf(path, sizeof path, "%s/model/model.mil", run);
    CHECK(access(path, F_OK) == 0);
    snprintf(path, sizeof path, "%s/report.html", run);
    CHECK_MW(0, NULL, NULL, "report", run);
    CHECK(access(path, F_OK) == 0);
}

static void test_a_recipe_of_a_table_runs_as_it_is_written(void)
{
    write_table("sizes.csv", "kind", true);
    write_table("areas.csv", "area", false);
    check_runs("table", "sizes.csv", "sizes.json", "sizes-run", "balanced_accuracy");
    check_runs("table", "areas.csv", "areas.json", "areas-run", "r2");
}

static void test_a_recipe_of_a_sequence_runs_as_it_is_written(void)
{
    write_table("walk.csv", "speed", false);
    check_runs("sequence", "./walk.csv", "walk.json", "walk-run", NULL);
}

static void test_a_recipe_of_pictures_runs_as_it_is_written(void)
{
    write_idx();
    check_runs("image", "digits/", "digits.json", "digits-run", "accuracy");
}

static void test_a_recipe_of_sounds_runs_as_it_is_written(void)
{
    sound_put_tones("tones", 12, 0.05);
    shell_result r = MW("new", "sound", "tones");
    const bool left_out = strstr(r.errs, "built without libsndfile") != NULL;
    check_note(left_out || strstr(r.out, "36 sounds to learn from, 3 classes") != NULL, __FILE__, __LINE__, "%s %s",
               r.out, r.errs);
    shell_free(&r);
    CHECK(left_out || remove("tones.json") == 0);
    if (left_out)
        SKIP("built without libsndfile");
    check_runs("sound", "tones", "tones.json", "tones-run", "accuracy");
    CHECK_MW(0, "mw.sound: {\"rate\": 16000, \"length\": ", NULL, "info", "tones-run");
    CHECK_MW(1, NULL, "tones.json is there already", "new", "sound", "tones");
    CHECK_MW(1, NULL, NULL, "new", "sound", "digits", "-o", "other.json");
    CHECK(access("other.json", F_OK) != 0);
}

static void test_what_cannot_be_is_refused(void)
{
    CHECK_MW(2, NULL, "--target has no effect on sounds", "new", "sound", "tones", "--target", "kind");
    CHECK_MW(2, NULL, "\"imge\" is no kind of data: table, sequence, image, sound; did you mean \"image\"?", "new",
             "imge", "digits");
    CHECK_MW(1, NULL, "sizes.json is there already", "new", "table", "sizes.csv");
    CHECK_MW(1, NULL, "did you mean \"sizes.csv\"?", "new", "table", "sizse.csv");
    CHECK_MW(1, NULL, "has no field \"knd\" among its 3; did you mean \"kind\"?", "new", "table", "sizes.csv",
             "--target", "knd", "-o", "other.json");
    CHECK_MW(2, NULL, "--target has no effect on pictures", "new", "image", "digits", "--target", "kind");
    CHECK(access("other.json", F_OK) != 0);
    CHECK_MW(1, NULL, NULL, "new", "table", "sizes.csv", "-o", "gone/other.json");
}

/* ---- comments ---- */

static void test_comments_are_left_out_and_places_stay(void)
{
    folder_put("c.json",
               "// first\n{\"network\": [{\"dense\": 4}, // second \"quoted\"\n  {\"dense\": \"classes\"}],\n"
               " \"epochs\": 1, \"data\": {\"inputs\": [\"height\", \"width // cm\"]}, // third\n \"batch\": 8}");
    CHECK_MW(0, "accuracy", NULL, "train", "c.json", "--data", "sizes.csv");
    folder_put("c.json", "// first\n{ // second\n  \"epocs\": 1}");
    CHECK_MW(2, NULL, "c.json:3:12: \"epocs\" is not known here", "train", "c.json", "--data", "sizes.csv");
    folder_put("c.json", "{\"epochs\": 1 / 2}");
    CHECK_MW(1, NULL, "c.json:1:", "train", "c.json", "--data", "sizes.csv");
    folder_put("c.json", "// nothing but this");
    CHECK_MW(1, NULL, "c.json:1:", "train", "c.json", "--data", "sizes.csv");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_recipe_of_a_table_runs_as_it_is_written);
    RUN(test_a_recipe_of_a_sequence_runs_as_it_is_written);
    RUN(test_a_recipe_of_pictures_runs_as_it_is_written);
    RUN(test_a_recipe_of_sounds_runs_as_it_is_written);
    RUN(test_what_cannot_be_is_refused);
    RUN(test_comments_are_left_out_and_places_stay);
    folder_leave(folder);
    return check_finish();
}
