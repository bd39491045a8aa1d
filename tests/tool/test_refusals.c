/* What is refused is refused before anything is written, with a sentence; and what was trained is not lost. */
#include "base/file/lock.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <fcntl.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- files ---- */

static const char net[] = "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 8}";

static void write_files(void)
{
    FILE *csv = fopen("points.csv", "w");
    REQUIRE(csv != NULL);
    fputs("a,b,kind\n", csv);
    for (int i = 0; i < 24; i++)
        fprintf(csv, "%d,%d,%s\n", i % 5, i % 7, i % 2 != 0 ? "ant" : "bee");
    fclose(csv);
    folder_put("net.json", net);
    folder_put("empty.mil", "");
    folder_put("garbage.mil", "\x1b[31m{{{\xff");
    folder_put("garbage.onnx", "\x08\x01\xff\xff\xff");
    folder_put("garbage.safetensors", "\x10");
    mkdir("folder", 0777);
    CHECK_MW(0, NULL, NULL, "train", "net.json", "--data", "points.csv", "-o", "net", "-q");
}

/* ---- a run that is refused leaves the folder as it was ---- */

static char *about, *recipe;

static void begin_run(void)
{
    CHECK_MW(0, NULL, NULL, "train", "net.json", "--data", "points.csv", "--run", "run", "-q");
    about = page_read("run/about.json");
    recipe = page_read("run/recipe.json");
    REQUIRE(about != NULL && recipe != NULL);
}

static void check_untouched(const char *file, int line)
{
    check_note(folder_holds("run/about.json", about), file, line, "about.json was written");
    check_note(folder_holds("run/recipe.json", recipe), file, line, "recipe.json was written");
}
#define CHECK_UNTOUCHED() check_untouched(__FILE__, __LINE__)

static void check_refused_recipe(int code, const char *text, const char *part, const char *data, const char *out)
{
    folder_put("other.json", text);
    CHECK_MW(code, NULL, part, "train", "other.json", "--data", data, "--run", "run", "-q", "-o", out);
    CHECK_UNTOUCHED();
}

static void test_a_refused_run_overwrites_nothing(void)
{
    check_refused_recipe(2, "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 0}", "epochs", "points.csv", "m");
    check_refused_recipe(2, "{\"network\": [{\"dense\": \"classes\"}], \"epoch\": 1}", "not known", "points.csv", "m");
    check_refused_recipe(1, "{\"network\": [{\"dense\": 1}]}", "classes", "points.csv", "m");
    check_refused_recipe(1, net, "gone.csv", "gone.csv", "m");
    check_refused_recipe(1, net, "nothing was trained", "points.csv", "nowhere/m.onnx");
    check_refused_recipe(1, net, "nothing was trained", "points.csv", "nowhere/m.safetensors");
    check_refused_recipe(
        2, "{\"network\": [{\"dense\": \"classes\"}], \"optimizer\": {\"name\": \"adam\", \"beta1\": 0.5}}",
        "goes on with the optimizer", "points.csv", "m");
    check_refused_recipe(1, "{\"network\": [{\"dense\": 5}, {\"dense\": \"classes\"}], \"batch\": 8}", "checkpoint",
                         "points.csv", "m");
    check_refused_recipe(1, "{\"network\": [{\"dense\": \"classes\"}], \"batch\": 4}", "batches of 8", "points.csv",
                         "m");
    CHECK(access("m", F_OK) != 0);
}

static void test_a_run_that_another_process_has_is_left_alone(void)
{
    mw__lock lock;
    mw_error err = {0};
    REQUIRE(mw__lock_take(&lock, mw__allocator_or_default(NULL), "run/checkpoint.safetensors", NULL, &err) == MW_OK);
    CHECK_MW(1, NULL, "checkpoint.safetensors", "train", "net.json", "--data", "points.csv", "--run", "run", "-q",
             "--epochs", "2");
    CHECK_UNTOUCHED();
    mw__lock_release(&lock);
    folder_put("run/checkpoint.safetensors", "broken");
    CHECK_MW(1, NULL, "mw: ", "train", "net.json", "--data", "points.csv", "--run", "run", "-q", "--epochs", "2");
    CHECK_UNTOUCHED();
    free(about);
    free(recipe);
}

static void test_a_refused_first_run_makes_no_folder(void)
{
    CHECK_MW(1, NULL, "nothing was trained", "train", "net.json", "--data", "points.csv", "--run", "fresh", "-q", "-o",
             "nowhere/m.onnx");
    CHECK(access("fresh", F_OK) != 0);
}

/* ---- what was trained is not lost ---- */

/* A weight that grows beyond fp16, which the model stores it in: that shows after the last step only. */
static void test_weights_that_the_model_cannot_hold_are_kept_in_a_file(void)
{
    mw_error err = {0};
    const uint16_t w[] = {0x3800}; /* 0.5 */
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *weight = mw_name(mw_constant(graph, MW_F16, MW_SHAPE(1, 1), w), "fc.weight");
    mw_tensor *x = mw_cast(mw_input(graph, "x", MW_F32, MW_SHAPE(1, 1)), MW_F16);
    mw_output(mw_cast(mw_matmul(x, weight, MW_TRANSPOSE_NONE), MW_F32), "out");
    mw_graph_write(graph, "half", NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    folder_put("far.csv", "a,v\n1,100\n1,100\n1,100\n1,100\n");
    folder_put("far.json", "{\"model\": \"half\", \"loss\": \"mse\", \"epochs\": 1, \"batch\": 4,\n"
                           "\"data\": {\"validation\": 0}, \"schedule\": {\"name\": \"constant\"},\n"
                           "\"optimizer\": {\"name\": \"sgd\", \"learning_rate\": 1000}}");
    CHECK_MW(1, NULL, "the trained weights are kept in far.weights.safetensors", "train", "far.json", "--data",
             "far.csv", "-o", "far", "-q");
    CHECK_MW(0, "1 tensors", NULL, "tensors", "far.weights.safetensors");
    CHECK(access("far", F_OK) != 0);
}

/* ---- names that the tool would like to have ---- */

static void write_named(const char *input, const char *hidden, const char *output, const char *layer)
{
    mw_error err = {0};
    char name[64];
    static const float w[8] = {1, -1, 0.5f, 2, -2, 1, 1, 3};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    snprintf(name, sizeof name, "%s.weight", layer);
    mw_tensor *first = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(2, 2), w), name);
    mw_tensor *second = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(2, 2), w + 4), "last.weight");
    mw_tensor *x = mw_input(graph, input, MW_F32, MW_SHAPE(1, 2));
    mw_tensor *h = mw_name(mw_relu(mw_matmul(x, first, MW_TRANSPOSE_NONE)), hidden);
    mw_output(mw_matmul(h, second, MW_TRANSPOSE_NONE), output);
    mw_graph_write(graph, "named", NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static void check_tuned(const char *name)
{
    shell_result r = MW("finetune", "--data", "points.csv", "--epochs", "1", "-q", "-o", "tuned", "named");
    check_note(r.code == 0, __FILE__, __LINE__, "\"%s\": %.200s", name, r.errs);
    shell_free(&r);
    r = MW("finetune", "--data", "points.csv", "--epochs", "1", "-q", "-o", "tuned", "--head", "named");
    check_note(r.code == 0, __FILE__, __LINE__, "\"%s\" with a head: %.200s", name, r.errs);
    shell_free(&r);
}

static void test_names_that_are_taken_are_no_obstacle(void)
{
    static const char *const names[] = {"y", "loss", "scores", "accuracy", "head", "labels", "mean_absolute_error"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_named(names[i], "h", "out", "fc");
        check_tuned(names[i]);
        write_named("x", names[i], "out", "fc");
        check_tuned(names[i]);
        write_named("x", "h", names[i], "fc");
        check_tuned(names[i]);
        write_named("x", "h", "out", names[i]);
        check_tuned(names[i]);
    }
    folder_put("on_top.json",
               "{\"model\": \"named\", \"network\": [{\"dense\": 3}, {\"dense\": \"classes\"}], \"epochs\": 1}");
    write_named("x", "h", "out", "dense1");
    CHECK_MW(0, NULL, NULL, "train", "on_top.json", "--data", "points.csv", "-q", "-o", "tuned");
}

/* ---- never without a sentence ---- */

static void check_said(const char *const *words)
{
    shell_result r = shell_mw(words);
    check_note(r.code == 1 || r.code == 2, __FILE__, __LINE__, "mw %s %s: exit code %d", words[0], words[1], r.code);
    check_note(strncmp(r.errs, "mw: ", 4) == 0 && strlen(r.errs) > 12 && strstr(r.errs, "without a reason") == NULL,
               __FILE__, __LINE__, "mw %s %s: \"%.100s\"", words[0], words[1], r.errs);
    shell_free(&r);
}

static void test_no_command_fails_without_a_sentence(void)
{
    static const char *const commands[] = {"info",    "tensors", "convert",   "average", "run",      "bench", "profile",
                                           "compare", "ranges",  "gradcheck", "check",   "plan",     "draw",  "plot",
                                           "report",  "replay",  "inspect",   "train",   "finetune", "passes"};
    static const char *const files[] = {"gone.mil", "empty.mil", "garbage.mil", "garbage.onnx", "garbage.safetensors",
                                        "folder",   "points.csv"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *c = commands[i];
        const bool two = strcmp(c, "convert") == 0;
        const bool out = strcmp(c, "average") == 0 || strcmp(c, "draw") == 0 || strcmp(c, "plot") == 0;
        const bool tune = strcmp(c, "finetune") == 0;
        for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
            const bool metrics = strcmp(c, "plot") == 0 || strcmp(c, "report") == 0;
            if (strcmp(c, "train") == 0 && strcmp(files[k], "points.csv") == 0)
                continue; /* a table is learned */
            if (metrics && k > 3 && strcmp(files[k], "folder") != 0)
                continue; /* of a line that is not finished, or a table, something is drawn */
            check_said((const char *const[]){c, files[k],
                                             two           ? "o"
                                             : out || tune ? "-o"
                                                           : NULL,
                                             "o.svg", tune ? "--data" : NULL, "points.csv", NULL});
        }
    }
    check_said((const char *const[]){"ops", "no_such*", NULL});
    check_said((const char *const[]){"completion", "tcsh", NULL});
}

static void test_outputs_that_cannot_be_written_are_said(void)
{
    check_said((const char *const[]){"convert", "net", "nowhere/net.onnx", NULL});
    check_said((const char *const[]){"run", "net", "-o", "nowhere/o.npz", NULL});
    check_said((const char *const[]){"draw", "net", "-o", "nowhere/o.svg", NULL});
    check_said((const char *const[]){"profile", "net", "--trace", "nowhere/o.json", NULL});
    check_said((const char *const[]){"compare", "net", "--save-inputs", "nowhere/o.safetensors", NULL});
    check_said((const char *const[]){"plan", "net", "--chip", "m1", "--svg", "nowhere/o.svg", NULL});
    check_said((const char *const[]){"passes", "net", "--dump", "nowhere/passes", NULL});
    check_said((const char *const[]){"train", "net.json", "--data", "points.csv", "--run", "nowhere/run", NULL});
}

/* ---- what a shell and a terminal make of it ---- */

static void test_the_command_in_about_json_is_what_was_typed(void)
{
    char line[4096] = "";
    CHECK_INT(rename("points.csv", "it's; echo $HOME `id`\t.csv"), 0);
    CHECK_MW(0, NULL, NULL, "train", "net.json", "--data", "it's; echo $HOME `id`\t.csv", "--run", "typed", "-q");
    CHECK_INT(rename("it's; echo $HOME `id`\t.csv", "points.csv"), 0);
    shell_result r = MW("report", "typed", "-q");
    CHECK_INT(r.code, 0);
    shell_free(&r);
    folder_put("read.sh",
               "mw() { for word; do printf '<%s>' \"$word\"; done; }\n"
               "eval \"$(sed 's/.*\"command\": \"//; s/\", \"data\".*//; s/\\\\\\\\/\\\\/g' typed/about.json)\"\n");
    FILE *shell = popen("bash read.sh", "r");
    REQUIRE(shell != NULL && fgets(line, sizeof line, shell) != NULL);
    pclose(shell);
    CHECK_STR(line, "<train><net.json><--data><it's; echo $HOME `id`\t.csv><--run><typed><-q>");
}

static void test_json_shows_no_character_that_reorders_text(void)
{
    mw_error err = {0};
    const float x[] = {1};
    mw_tensors_write("hidden.safetensors",
                     &(mw_tensor_values){"a\xe2\x80\xae"
                                         "b",
                                         MW_F32, MW_SHAPE(1), x},
                     1, &err);
    CHECK_OK(err);
    shell_result r = MW("tensors", "hidden.safetensors", "--json");
    CHECK_CONTAINS(r.out, "a\\u202eb");
    CHECK(strstr(r.out, "\xe2\x80\xae") == NULL);
    CHECK(shell_is_json(r.out));
    shell_free(&r);
}

/* Progress goes to standard error, and to no file that got its number. */
static void test_closed_standard_descriptors_keep_files_clean(void)
{
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 3; i++)
            close(i);
        execl(MW_TOOL, MW_TOOL, "train", "net.json", "--data", "points.csv", "--run", "closed", (char *)NULL);
        _exit(127);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    char *lines = page_read("closed/metrics.jsonl");
    REQUIRE(lines != NULL);
    CHECK(strstr(lines, "epoch 1") == NULL);
    CHECK_CONTAINS(lines, "\"kind\":\"end\"");
    free(lines);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_files);
    RUN(begin_run);
    RUN(test_a_refused_run_overwrites_nothing);
    RUN(test_a_run_that_another_process_has_is_left_alone);
    RUN(test_a_refused_first_run_makes_no_folder);
    RUN(test_weights_that_the_model_cannot_hold_are_kept_in_a_file);
    RUN(test_names_that_are_taken_are_no_obstacle);
    RUN(test_no_command_fails_without_a_sentence);
    RUN(test_outputs_that_cannot_be_written_are_said);
    RUN(test_the_command_in_about_json_is_what_was_typed);
    RUN(test_json_shows_no_character_that_reorders_text);
    RUN(test_closed_standard_descriptors_keep_files_clean);
    folder_leave(folder);
    return check_finish();
}
