/* Options and fields of recipes that are out of range, unknown or without effect: each is refused with exit code 2. The
 * sweeps are made from the tool's own tables (mw help options, mw help recipe). */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- files ---- */

/* Two classes in a table, the same as tensors, pictures of one pixel, a net, and metrics. */
static void write_files(void)
{
    mw_error err = {0};
    FILE *csv = fopen("points.csv", "w");
    REQUIRE(csv != NULL);
    fputs("a,b,kind\n", csv);
    for (int i = 0; i < 24; i++)
        fprintf(csv, "%d,%d,%s\n", i % 5, i % 7, i % 2 != 0 ? "ant" : "bee");
    fclose(csv);
    static float x[24 * 2 * 2];
    static int32_t y[24];
    for (int i = 0; i < 24; i++)
        y[i] = i % 2;
    const mw_tensor_values values[] = {{"x", MW_F32, MW_SHAPE(24, 2, 2), x}, {"y", MW_I32, MW_SHAPE(24), y}};
    mw_tensors_write("points.npz", values, 2, &err);
    CHECK_OK(err);
    folder_put("net.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 8}");
    CHECK_MW(0, NULL, NULL, "train", "net.json", "--data", "points.csv", "-o", "net", "-q");
    folder_put("m.jsonl", "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 1}\n");
}

/* ---- options ---- */

/* A row of `mw help options`: command, option, kind, range, choices, what it needs. */
enum { COMMAND, OPTION, KIND, RANGE, CHOICES, NEEDS, CELLS };

static char *next_row(char *text, char *cells[CELLS])
{
    for (int i = 0; i < CELLS; i++) {
        const size_t length = strcspn(text, "\t\n");
        cells[i] = text;
        const bool last = text[length] != '\t';
        text[length] = '\0';
        text += length + 1;
        if (last)
            break;
    }
    return text;
}

static void check_refused(const char *command, const char *option, const char *value, const char *part)
{
    CHECK_MW(2, NULL, part, command, option, value, "a", "b");
}

/* The neighbors of a range, and what is no number. */
static void check_numbers(char *cells[CELLS])
{
    char below[64], above[64], *end;
    const double low = strtod(cells[RANGE], &end), high = strtod(end + strlen(" .. "), NULL);
    const bool whole = strcmp(cells[KIND], "integer") == 0;
    snprintf(below, sizeof below, whole ? "%.0f" : "%.17g", whole ? low - 1 : low - 1e-13 - 1e-9 * low);
    snprintf(above, sizeof above, whole ? "%.0f" : "%.17g", whole ? high + 1 : high * (1 + 1e-9));
    check_refused(cells[COMMAND], cells[OPTION], below, "is n");
    if (!whole || high < 1e15)
        check_refused(cells[COMMAND], cells[OPTION], above, "is n");
    if (low > -1)
        check_refused(cells[COMMAND], cells[OPTION], "-1", "is n");
    check_refused(cells[COMMAND], cells[OPTION], "nan", cells[OPTION]);
    check_refused(cells[COMMAND], cells[OPTION], "", "number is expected");
    check_refused(cells[COMMAND], cells[OPTION], "3x", "number is expected");
    if (whole)
        check_refused(cells[COMMAND], cells[OPTION], "99999999999999999999", cells[OPTION]);
}

static void test_every_option_out_of_its_range_is_refused(void)
{
    shell_result r = MW("help", "options");
    int rows = 0, numbers = 0;
    for (char *at = r.out, *cells[CELLS] = {"", "", "", "", "", ""}; *at != '\0'; rows++) {
        at = next_row(at, cells);
        const bool is_number = strcmp(cells[KIND], "integer") == 0 || strcmp(cells[KIND], "number") == 0;
        numbers += is_number;
        if (is_number)
            check_numbers(cells);
        if (cells[CHOICES][0] != '\0')
            check_refused(cells[COMMAND], cells[OPTION], is_number ? "7" : "nonsense", "none of");
        if (strcmp(cells[KIND], "text") == 0)
            check_refused(cells[COMMAND], cells[OPTION], "", "is empty");
        char choice[64];
        snprintf(choice, sizeof choice, "%.*s", (int)strcspn(cells[CHOICES], " ,|"), cells[CHOICES]);
        if (cells[NEEDS][0] != '\0')
            check_refused(cells[COMMAND], cells[OPTION],
                          is_number           ? "4"
                          : choice[0] != '\0' ? choice
                                              : "c",
                          "has no effect without");
    }
    CHECK(rows > 100);
    CHECK(numbers > 30);
    shell_free(&r);
}

static void test_an_option_without_effect_is_refused(void)
{
    CHECK_MW(2, NULL, "--absolute has no effect on two models", "compare", "net", "net", "--absolute", "1");
    CHECK_MW(2, NULL, "--outputs has no effect on two models", "compare", "net", "net", "--outputs");
    CHECK_MW(2, NULL, "--profile h13 has no effect without --device ane", "run", "net", "--profile", "h13");
    CHECK_MW(2, NULL, "--profile h13 has no effect", "compare", "net", "--device", "cpu", "--profile", "h13");
    CHECK_MW(2, NULL, "is no profile", "bench", "net", "--device", "ane", "--profile", "h99");
    CHECK_MW(2, NULL, "is no profile", "ranges", "net", "--profile", "h99");
    CHECK_MW(2, NULL, "--inputs has no effect with --training", "ranges", "--training", "net.json", "--inputs", "x");
    CHECK_MW(2, NULL, "--device is the CPU", "ranges", "net", "--device", "ane");
    CHECK_MW(2, NULL, "--threads has no effect with --chip", "plan", "net", "--chip", "m1", "--threads", "1");
    CHECK_MW(2, NULL, "--svg has no effect with --time", "plan", "net", "--chip", "m1", "--time", "--svg", "plan.svg");
    CHECK_MW(2, NULL, "--extent has no effect on a model that is no ONNX", "info", "net", "--extent", "n=1");
    CHECK_MW(2, NULL, "--verify has no effect on files of tensors", "convert", "points.npz", "p.npy", "--verify");
    CHECK_MW(2, NULL, "--weights has no effect on a file of tensors", "info", "points.npz", "--weights");
    CHECK_MW(2, NULL, "--title has no effect on an ONNX file", "draw", "net", "-o", "n.onnx", "--title", "x");
    CHECK_MW(2, NULL, "no effect with --loss mse", "finetune", "net", "--data", "points.csv", "-o", "n", "--head",
             "--loss", "mse");
    CHECK_MW(2, NULL, "\"x\" is given twice", "run", "net", "--input", "x=1", "--input", "x=2");
    CHECK_MW(2, NULL, "\"x\" is given twice", "run", "net", "--shape", "x=1,2", "--shape", "x=1,2");
    CHECK_MW(1, NULL, "no tensor of points.npz matches \"z*\"", "tensors", "points.npz", "--match", "z*");
    CHECK_MW(2, NULL, "--batch has no effect here", "replay", "nowhere", "-b", "2");
    CHECK(access("n.onnx", F_OK) != 0 && access("p.npy", F_OK) != 0);
}

/* In the words of the tool, with what there is. */
static void check_name(const char *command, const char *model, const char *option, const char *value, const char *part)
{
    const bool predicts =
        strcmp(command, "predict") == 0 || strcmp(command, "evaluate") == 0 || strcmp(command, "package") == 0;
    const bool writes = predicts || strcmp(command, "convert") == 0, draws = strcmp(command, "draw") == 0;
    char word[64];
    snprintf(word, sizeof word, "%s ", option);
    if (writes)
        CHECK_MW(2, NULL, part, command, model, "other", option, value);
    else if (draws)
        CHECK_MW(2, NULL, part, command, model, option, value, "-o", "other");
    else
        CHECK_MW(2, NULL, part, command, model, option, value);
    shell_result r = MW(command, model, writes ? "other" : "--quiet", option, value, "-q");
    CHECK(draws || strstr(r.errs, word) != NULL);
    CHECK(strstr(r.errs, "options.") == NULL && strstr(r.errs, "mw_") == NULL);
    shell_free(&r);
}

static void check_names(const char *command, bool has_onnx)
{
    check_name(command, "net", "--shape", "gone=1,2", "\"gone\"");
    check_name(command, "net", "--function", "gone", "\"gone\"; the program has main");
    check_name(command, "net", "--extent", "gone=1", "no other format names dimensions");
    if (has_onnx) {
        check_name(command, "net.onnx", "--shape", "gone=1",
                   "\"gone\", for which a shape is given; the first is \"x\"");
        check_name(command, "net.onnx", "--extent", "gone=1", "is called \"gone\"; ");
        check_name(command, "net.onnx", "--function", "gone", "\"gone\"; the program has main");
    }
}

static void test_names_that_a_model_has_not_are_refused_by_every_command(void)
{
    char *cells[CELLS] = {"", "", "", "", "", ""};
    int commands = 0;
    shell_result r = MW("convert", "net", "net.onnx"), all = MW("help", "options");
    const bool has_onnx = r.code == 0; /* built with protobuf-c */
    for (char *at = all.out; *at != '\0';) {
        at = next_row(at, cells);
        if (strcmp(cells[OPTION], "--shape") != 0)
            continue;
        check_names(cells[COMMAND], has_onnx);
        commands++;
    }
    CHECK_INT(commands, 15);
    CHECK(access("other", F_OK) != 0);
    if (has_onnx) {
        CHECK_MW(2, NULL, "is no extent", "convert", "net.onnx", "other", "--extent", "n=-1");
        /* what was written has the extent already */
        CHECK_MW(0, NULL, NULL, "train", "net.json", "--data", "points.csv", "-o", "any.onnx", "-q");
        CHECK_MW(0, "passes", NULL, "convert", "any.onnx", "four", "--extent", "batch=4", "--verify");
        CHECK_MW(2, NULL, "\"gone\"; there are \"batch\"", "info", "any.onnx", "--extent", "gone=4");
    }
    shell_free(&all);
    shell_free(&r);
}

/* ---- recipes ---- */

/* What must stand beside a field for it to have an effect; all others stand alone. */
static const char *context_of(const char *path)
{
    static const struct {
        const char *path, *beside;
    } rows[] = {{"optimizer.momentum", "\"name\": \"sgd\", "}, {"schedule.period", "\"name\": \"step\", "},
                {"schedule.gamma", "\"name\": \"step\", "},    {"schedule.end", "\"name\": \"linear\", "},
                {"window.stride", "\"length\": 2, "},          {"window.horizon", "\"length\": 2, "},
                {"window.series", "\"length\": 2, "},          {"window.gap", "\"length\": 2, \"horizon\": 1, "}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].path, path) == 0)
            return rows[i].beside;
    }
    return "";
}

static bool needs_run(const char *path)
{
    return strcmp(path, "metrics_steps") == 0 || strcmp(path, "checkpoint_steps") == 0 || strcmp(path, "keep") == 0 ||
           strcmp(path, "best") == 0;
}

/* {"augment": {"pad": V}} stands in "data", {"color": {"hue": V}} in that; "channels" is for pictures, which this has
 * not. */
static void check_field(const char *path, const char *value, const char *part)
{
    char inner[200], settings[400];
    const char *dot = strchr(path, '.'), *key = dot != NULL ? dot + 1 : path;
    const int length = dot != NULL ? (int)(dot - path) : 0;
    snprintf(inner, sizeof inner, "%s\"%s\": %s", context_of(path), key, value);
    const bool in_augment = strncmp(path, "color.", 6) == 0 || strncmp(path, "erase.", 6) == 0;
    const bool in_window = strncmp(path, "window.", 7) == 0;
    const bool in_data = strncmp(path, "augment.", 8) == 0 || in_augment || in_window;
    if (in_augment)
        snprintf(settings, sizeof settings, "\"data\": {\"augment\": {\"%.*s\": {%s}}}", length, path, inner);
    else if (dot != NULL)
        snprintf(settings, sizeof settings, "%s\"%.*s\": {%s}%s", in_data ? "\"data\": {" : "", length, path, inner,
                 in_data ? "}" : "");
    else
        snprintf(settings, sizeof settings, "%s%s", needs_run(path) ? "\"run\": \"R\", " : "", inner);
    char recipe[600];
    snprintf(recipe, sizeof recipe, "{\"network\": [{\"dense\": \"classes\"}], %s}", settings);
    folder_put("field.json", recipe);
    CHECK_MW(2, NULL, part, "train", "field.json", "--data", in_data && !in_window ? "points.npz" : "points.csv", "-q");
    CHECK(access("R", F_OK) != 0);
}

static void check_field_row(char *cells[CELLS])
{
    char below[64], above[64], *end, *path = cells[0], *kind = cells[1];
    if (strcmp(path, "network") == 0) /* it stands in every recipe here */
        return;
    const char *dot = strchr(path, '.'), *key = dot != NULL ? dot + 1 : path;
    if (strcmp(kind, "integer") == 0 || strcmp(kind, "number") == 0) {
        const double low = strtod(cells[2], &end), high = strtod(end + strlen(" .. "), NULL);
        const bool whole = strcmp(kind, "integer") == 0;
        snprintf(below, sizeof below, "%.17g", whole ? low - 1 : low - 1e-13 - 1e-9 * low);
        snprintf(above, sizeof above, "%.17g", whole ? high + 1 : high * (1 + 1e-9));
        check_field(path, below, key);
        check_field(path, above, key);
        check_field(path, "\"x\"", key);
        if (whole && strcmp(path, "data.channels") != 0)
            check_field(path, "1.5", key);
    } else if (strcmp(kind, "choice") == 0) {
        check_field(path, "\"nonsense\"", "none of");
    } else {
        check_field(path, "7", key);
    }
}

static void test_every_field_of_a_recipe_out_of_its_range_is_refused(void)
{
    shell_result r = MW("help", "recipe");
    int rows = 0;
    for (char *at = r.out, *cells[CELLS] = {"", "", "", "", "", ""}; *at != '\0'; rows++) {
        at = next_row(at, cells);
        check_field_row(cells);
    }
    CHECK(rows > 50);
    shell_free(&r);
}

static void test_a_field_without_effect_is_refused(void)
{
    static const struct {
        const char *fields, *error;
    } rows[] = {
        {"\"optimizer\": {\"momentum\": 0.9}", "\"momentum\" has no effect here; it has one of sgd, rmsprop and muon"},
        {"\"optimizer\": {\"name\": \"sgd\", \"beta1\": 0.9}", "\"beta1\" has no effect"},
        {"\"optimizer\": {\"name\": \"sgd\", \"nesterov\": true}", "\"nesterov\" has no effect"},
        {"\"schedule\": {\"name\": \"cosine\", \"period\": 3}", "\"period\" has no effect"},
        {"\"schedule\": {\"end\": 0.5}", "\"end\" has no effect"},
        {"\"keep\": 3", "\"keep\" has no effect"},
        {"\"gradient_norms\": true", "\"gradient_norms\" has no effect"},
        {"\"data\": {\"x\": \"x\"}", "\"x\" has no effect"},
        {"\"data\": {\"channels\": 1}", "\"channels\" has no effect"},
        {"\"data\": {\"augment\": {\"pad\": 1}}", "\"augment\" has no effect"},
        {"\"optimizer\": {\"rate\": 0.9}", "\"rate\" is not known here"},
        {"\"learning_rate\": 1", "\"learning_rate\" is not known here"},
        {"\"data\": {\"validation\": 0}, \"early_stopping\": {}", "there is none"},
        {"\"data\": {\"validation\": 0}, \"best\": \"loss\", \"run\": \"R\"", "there is none"},
        {"\"best\": \"loss\", \"run\": \"R\", \"early_stopping\": {\"by\": \"accuracy\"}", "compares epochs by one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char recipe[300];
        snprintf(recipe, sizeof recipe, "{\"network\": [{\"dense\": \"classes\"}], %s}", rows[i].fields);
        folder_put("field.json", recipe);
        CHECK_MW(2, NULL, rows[i].error, "train", "field.json", "--data", "points.csv", "-q");
    }
    CHECK(access("R", F_OK) != 0);
}

static void test_values_of_layers_that_are_ignored_are_refused(void)
{
    static const char *const layers[] = {"{\"relu\": 5}",
                                         "{\"softmax\": -1}",
                                         "{\"batch_norm\": 4}",
                                         "{\"reshape\": [1, 1, 1, 1, 1, 1, 1, 2]}",
                                         "{\"reshape\": [2, 2]}, {\"lstm\": 2, \"dropout\": 0.5}",
                                         "{\"relu\": true, \"alpha\": 1}"};
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        char recipe[300];
        snprintf(recipe, sizeof recipe, "{\"network\": [{\"dense\": 4}, %s, {\"dense\": \"classes\"}]}", layers[i]);
        folder_put("layer.json", recipe);
        CHECK_MW(2, NULL, "layer.json:1:", "train", "layer.json", "--data", "points.csv", "-q");
    }
}

/* ---- a run that goes on ---- */

static void test_a_run_that_goes_on_says_which_settings_it_does_not_take(void)
{
    folder_put("begin.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 8,\n"
                             "\"optimizer\": {\"learning_rate\": 0.5}}");
    CHECK_MW(0, NULL, NULL, "train", "begin.json", "--data", "points.csv", "--run", "begun", "-q");
    CHECK_MW(0, NULL, "goes on with the learning rate 0.5 of begun/checkpoint.safetensors; 0.25 of --lr is not taken",
             "train", "begin.json", "--data", "points.csv", "--run", "begun", "-q", "--lr", "0.25", "--epochs", "2");
    static const char *const numbers[] = {"\"weight_decay\": 0.125", "\"beta1\": 0.5", "\"beta2\": 0.5"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char recipe[200];
        snprintf(recipe, sizeof recipe,
                 "{\"network\": [{\"dense\": \"classes\"}], \"batch\": 8, \"optimizer\": {\"learning_rate\": 0.5, %s}}",
                 numbers[i]);
        folder_put("other.json", recipe);
        CHECK_MW(2, NULL, "a run goes on with the optimizer that it began with", "train", "other.json", "--data",
                 "points.csv", "--run", "begun", "-q");
        CHECK(!folder_holds("begun/recipe.json", recipe));
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_files);
    RUN(test_every_option_out_of_its_range_is_refused);
    RUN(test_an_option_without_effect_is_refused);
    RUN(test_names_that_a_model_has_not_are_refused_by_every_command);
    RUN(test_every_field_of_a_recipe_out_of_its_range_is_refused);
    RUN(test_a_field_without_effect_is_refused);
    RUN(test_values_of_layers_that_are_ignored_are_refused);
    RUN(test_a_run_that_goes_on_says_which_settings_it_does_not_take);
    folder_leave(folder);
    return check_finish();
}
