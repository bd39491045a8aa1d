/* Sounds by one command: learned, described in the model, read by others alike; what is refused. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "support/sound_file.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

static char left_out;

/* A build without libsndfile says so. */
static bool is_left_out(void)
{
    if (left_out == 0) {
        sound_put_tones("few", 4, 0.01);
        shell_result r = MW("train", "--epochs", "1", "-q", "few");
        left_out = strstr(r.errs, "built without libsndfile") != NULL ? 'y' : 'n';
        shell_free(&r);
    }
    return left_out == 'y';
}

#define NEEDS_LIBRARY                                                                                                  \
    if (is_left_out())                                                                                                 \
    SKIP("built without libsndfile")

static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : -1;
}

/* From the raw folder to a model and figures, by one command without a recipe. */
static void test_a_folder_of_tones_is_learned_by_one_command(void)
{
    NEEDS_LIBRARY;
    sound_put_tones("tones", 24, 0.05);
    shell_result r = MW("train", "--epochs", "60", "--run", "run", "--json", "-q", "tones");
    CHECK_INT(r.code, 0);
    CHECK(shell_is_json(r.out));
    const double accuracy = number_behind(r.out, "\"accuracy\": ");
    check_note(accuracy > 0.99, __FILE__, __LINE__, "accuracy %g; %s %s", accuracy, r.out, r.errs);
    CHECK_CONTAINS(r.out, "\"sound\": {\"rate\": 16000, \"length\": ");
    shell_free(&r);
    CHECK_MW(0, "mw.sound: {\"rate\": 16000", NULL, "info", "run");
    CHECK_MW(0, NULL, NULL, "report", "run", "--own-data", "-o", "report.html");
    CHECK(access("report.html", R_OK) == 0);
}

/* Whoever learns on reads other sounds as the model says, of any rate and length. */
static void test_a_model_says_how_its_sounds_are_read(void)
{
    NEEDS_LIBRARY;
    folder_put("form.json",
               "{\"network\": [\"log_mel\", \"flatten\", {\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 4,"
               " \"data\": {\"rate\": 8000, \"seconds\": 0.25, \"place\": \"middle\", \"channels\": 1}}");
    CHECK_MW(0, NULL, NULL, "train", "--data", "few", "--out", "formed", "-q", "form.json");
    CHECK_MW(0, "mw.sound: {\"rate\": 8000, \"length\": 2000, \"channels\": 1, \"place\": \"middle\"}", NULL, "info",
             "formed");
    sound_put_tones("more", 5, 0.02);
    CHECK_MW(0, "sounds at 8000 samples a second, 0.25 s of each from its middle", NULL, "finetune", "--data", "more",
             "--epochs", "1", "--out", "tuned", "formed");
    CHECK_MW(0, "\"length\": 2000", NULL, "info", "tuned");
    CHECK_MW(0, NULL, NULL, "convert", "formed", "formed.onnx");
    CHECK_MW(0, "\"place\": \"middle\"", NULL, "info", "formed.onnx");
}

/* The same bits with examples that are kept, and that are read again by two threads. */
static void test_changed_sounds_are_the_same_when_they_are_read_again(void)
{
    NEEDS_LIBRARY;
    static const char *const memory[] = {"1024", "0"};
    char recipe[600];
    char *losses[2];
    for (int i = 0; i < 2; i++) {
        snprintf(
            recipe, sizeof recipe,
            "{\"network\": [{\"log_mel\": true, \"mels\": 20, \"low\": 60, \"high\": 3500, \"scale\": \"slaney\"},"
            " {\"conv\": 4}, \"relu\", \"global_avg_pool\", {\"dense\": \"classes\"}], \"epochs\": 2, \"batch\": 4,"
            " \"threads\": 1, \"data\": {\"memory\": %s, \"augment\": {\"gain\": 6, \"move\": 0.05,"
            " \"noise\": 0.01, \"seed\": 5}}}",
            memory[i]);
        folder_put("again.json", recipe);
        shell_result r = MW("train", "--data", "few", "--json", "-q", "again.json");
        CHECK_INT(r.code, 0);
        const char *at = strstr(r.out, "\"validation\"");
        losses[i] = at != NULL ? strdup(at) : NULL;
        check_note(at != NULL, __FILE__, __LINE__, "%s %s", r.out, r.errs);
        shell_free(&r);
    }
    CHECK(losses[0] != NULL && losses[1] != NULL && strcmp(losses[0], losses[1]) == 0);
    free(losses[0]);
    free(losses[1]);
}

static void test_sounds_of_a_table_have_several_labels(void)
{
    NEEDS_LIBRARY;
    folder_put("list.csv", "file,tags\nlow/000.wav,a|b\nhigh/001.wav,b\nmiddle/002.wav,a\nlow/003.flac,|\n");
    folder_put("table.json",
               "{\"network\": [\"log_mel\", \"flatten\", {\"dense\": \"classes\"}], \"loss\": \"binary_cross_entropy\","
               " \"epochs\": 1, \"data\": {\"table\": \"list.csv\", \"name\": \"file\", \"label\": \"tags\","
               " \"label_separator\": \"|\", \"validation\": 0}}");
    CHECK_MW(0, "4 examples", NULL, "train", "--data", "few", "table.json");
}

/* Each class has its share, or whole groups of a table are kept out. */
static void test_files_are_split_by_class_and_by_group(void)
{
    NEEDS_LIBRARY;
    static const struct {
        const char *data, *out, *said;
        int code;
    } rows[] = {
        {"\"split\": \"stratified\", \"validation\": 0.25", "9 examples, 3 for validation", NULL, 0},
        {"\"split\": \"stratified\", \"validation\": 0.25, \"split_seed\": 4", "9 examples, 3 for validation", NULL, 0},
        {"\"split\": \"group\", \"split_field\": \"who\", \"table\": \"groups.csv\", \"validation\": 0.3",
         "4 examples, 2 for validation", NULL, 0},
        {"\"split\": \"group\", \"validation\": 0.3", NULL,
         "wants a \"table\" that lists files, and its \"split_field\"", 2},
        {"\"split\": \"time\"", NULL, "\"time\" and \"last\" are of tables", 2},
        {"\"split\": \"stratified\", \"validation\": 0", NULL, "\"split\" has no effect here", 2},
        {"\"split\": \"group\", \"split_field\": \"who\", \"table\": \"lost.csv\", \"broken\": \"skip\"", NULL,
         "1 files of \"lost.csv\" were left out", 2},
    };
    static const char good[] = "name,label,who\nlow/000.wav,l,a\nlow/001.wav,l,a\nhigh/000.wav,h,b\n"
                               "high/001.wav,h,b\nlow/002.wav,l,c\nhigh/002.wav,h,c\n";
    char text[400];
    folder_put("groups.csv", good);
    snprintf(text, sizeof text, "%shigh/gone.wav,h,c\n", good);
    folder_put("lost.csv", text);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text,
                 "{\"network\": [\"log_mel\", \"flatten\", {\"dense\": \"classes\"}], \"epochs\": 1, \"data\": {%s}}",
                 rows[i].data);
        folder_put("split.json", text);
        CHECK_MW(rows[i].code, rows[i].out, rows[i].said, "train", "--data", "few", "split.json");
    }
}

/* A broken one is named; it is refused, left out, or met late. */
static void test_broken_sounds_of_a_recipe(void)
{
    NEEDS_LIBRARY;
    static const struct {
        const char *data, *said;
        int code;
    } rows[] = {
        {"", "text.wav\" is neither WAV nor FLAC", 1},
        {", \"data\": {\"broken\": \"skip\"}", "text.wav\" is neither WAV nor FLAC; it is left out", 0},
        {", \"data\": {\"broken\": \"late\", \"seconds\": 0.3}", "text.wav\" is neither WAV nor FLAC", 1},
    };
    char recipe[300];
    sound_put_tones("bad", 3, 0.01);
    folder_put("bad/low/text.wav", "no sound");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(recipe, sizeof recipe,
                 "{\"network\": [\"log_mel\", \"flatten\", {\"dense\": \"classes\"}], \"epochs\": 1%s}", rows[i].data);
        folder_put("bad.json", recipe);
        CHECK_MW(rows[i].code, NULL, rows[i].said, "train", "--data", "bad", "-q", "bad.json");
    }
}

static void test_settings_that_do_not_fit_sounds_are_refused(void)
{
    NEEDS_LIBRARY;
    static const struct {
        const char *layers, *data, *said;
        int code;
    } rows[] = {
        {"\"log_mel\"", "\"rate\": 999", "\"rate\"", 2},
        {"\"log_mel\"", "\"seconds\": 0", "\"seconds\"", 2},
        {"\"log_mel\"", "\"seconds\": 0.001", "x has 16 samples, and a frame 400", 2},
        {"\"log_mel\"", "\"place\": \"end\"", "none of begin, middle", 2},
        {"\"log_mel\"", "\"channels\": 2", "", 0},
        {"\"log_mel\"", "\"size\": 64", "has no effect here; it has one for folders of pictures", 2},
        {"\"log_mel\"", "\"augment\": {\"flip\": 0.5}", "has no effect here; it has one for pictures", 2},
        {"\"log_mel\"", "\"augment\": {\"move\": 3}", "shift 48000 of sounds of", 1},
        {"\"log_mel\"", "\"augment\": {\"gain\": 99}", "\"gain\"", 2},
        {"\"log_mel\"", "\"normalize\": true", "\"normalize\"", 2},
        {"{\"log_mel\": 3}", "\"rate\": 16000", "takes no value", 2},
        {"{\"log_mel\": true, \"mels\": 400}", "\"rate\": 16000", "fewer mels, or a longer fft", 2},
        {"{\"log_mel\": true, \"scale\": \"bark\"}", "\"rate\": 16000", "\"scale\"", 2},
        {"{\"log_mel\": true, \"hops\": 3}", "\"rate\": 16000", "\"hops\"", 2},
    };
    char recipe[300];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(recipe, sizeof recipe,
                 "{\"network\": [%s, \"flatten\", {\"dense\": \"classes\"}], \"epochs\": 1, \"data\": {%s}}",
                 rows[i].layers, rows[i].data);
        folder_put("settings.json", recipe);
        CHECK_MW(rows[i].code, NULL, rows[i].said, "train", "--data", "few", "-q", "settings.json");
    }
    folder_put("table.csv", "a,b\n1,x\n2,y\n3,x\n4,y\n");
    folder_put("mel.json", "{\"network\": [\"log_mel\", {\"dense\": \"classes\"}], \"epochs\": 1}");
    CHECK_MW(2, NULL, "the data is no sound: say how many samples a second has, \"rate\"", "train", "--data",
             "table.csv", "-q", "mel.json");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_folder_of_tones_is_learned_by_one_command);
    RUN(test_a_model_says_how_its_sounds_are_read);
    RUN(test_changed_sounds_are_the_same_when_they_are_read_again);
    RUN(test_sounds_of_a_table_have_several_labels);
    RUN(test_files_are_split_by_class_and_by_group);
    RUN(test_broken_sounds_of_a_recipe);
    RUN(test_settings_that_do_not_fit_sounds_are_refused);
    folder_leave(folder);
    return check_finish();
}
