/* mw train and mw finetune: from data to a model that knows it, and what is wrong with settings. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Two classes that a line parts, and a value. */
static void write_tables(void)
{
    FILE *csv = fopen("points.csv", "w"), *lines = fopen("points.jsonl", "w");
    REQUIRE(csv != NULL && lines != NULL);
    fputs("height,\"width, cm\",kind,area\n", csv);
    for (int i = 0; i < 200; i++) {
        const double a = (i * 37 % 101) / 50.0, b = (i * 53 % 97) / 48.0 + 100;
        const char *kind = a + b > 101 ? "big" : "small";
        fprintf(csv, "%g,%g,%s,%g\n", a, b, kind, 2 * a - b / 100);
        fprintf(lines, "{\"height\": %g, \"width\": %g, \"kind\": \"%s\"}\n", a, b, kind);
    }
    fclose(csv);
    fclose(lines);
}

static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : -1;
}

static void test_a_table_becomes_a_model(void)
{
    folder_put("points.json", "{\"data\": {\"target\": \"kind\", \"inputs\": [\"height\", \"width, cm\"]},\n"
                              " \"network\": [{\"dense\": 16}, \"tanh\", {\"dense\": \"classes\"}],\n"
                              " \"optimizer\": {\"learning_rate\": 0.03}, \"epochs\": 60, \"batch\": 16}");
    shell_result r = MW("train", "points.json", "--data", "points.csv", "--out", "points", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(shell_is_json(r.out));
    CHECK(number_behind(r.out, "\"accuracy\": ") > 0.9);
    shell_free(&r);
    CHECK_MW(0, "scores", NULL, "run", "points", "-i", "x=1");
    r = MW("train", "points.json", "--data", "points.csv", "--out", "points.mlpackage", "-q");
    if (r.code == 0) { /* built with protobuf-c */
        CHECK_MW(0, "example 0: small", NULL, "run", "points.mlpackage", "-i", "x=0.1");
        CHECK_MW(0, "\"classes\": [\"small\"]", NULL, "run", "points.mlpackage", "-i", "x=0.1", "--json");
    }
    shell_free(&r);
    folder_put("lines.json", "{\"data\": {\"target\": \"kind\"},\n"
                             " \"network\": [{\"dense\": 16}, \"tanh\", {\"dense\": \"classes\"}],\n"
                             " \"optimizer\": {\"learning_rate\": 0.03}, \"epochs\": 60, \"batch\": 16}");
    CHECK_MW(0, "2 classes", NULL, "train", "lines.json", "--data", "points.jsonl", "-q");
}

static void test_values_are_learned_too(void)
{
    folder_put("area.json", "{\"loss\": \"mse\", \"network\": [{\"dense\": 16}, \"tanh\", {\"dense\": 1}],\n"
                            " \"data\": {\"inputs\": [\"height\", \"width, cm\"], \"target\": \"area\"},\n"
                            " \"optimizer\": {\"learning_rate\": 0.03}, \"epochs\": 60, \"batch\": 16}");
    shell_result r = MW("train", "area.json", "--data", "points.csv", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(number_behind(r.out, "\"mean_absolute_error\": ") < 0.2);
    CHECK(number_behind(r.out, "\"mean_absolute_error\": ") >= 0);
    shell_free(&r);
}

/* ---- optimizers, averages, rates ---- */

/* The validation loss of points.csv with more settings. */
static double loss_with(const char *more)
{
    char recipe[600];
    snprintf(recipe, sizeof recipe,
             "{\"data\": {\"target\": \"kind\", \"inputs\": [\"height\", \"width, cm\"], \"validation\": 0.2},\n"
             " \"network\": [{\"dense\": 16}, \"tanh\", {\"dense\": \"classes\"}], \"epochs\": 20, \"batch\": 16%s}",
             more);
    folder_put("more.json", recipe);
    shell_result r = MW("train", "more.json", "--data", "points.csv", "--json", "-q");
    CHECK_INT(r.code, 0);
    const double loss = number_behind(r.out, "\"loss\": ");
    shell_free(&r);
    return loss;
}

/* Counts, a quantile, rare classes, labels of which each is yes or no. */
static void write_more(void)
{
    FILE *csv = fopen("more.csv", "w");
    REQUIRE(csv != NULL);
    fputs("a,b,count,price,kind,first,second\n", csv);
    for (int i = 0; i < 200; i++) {
        const double a = (i * 37 % 101) / 50.0, b = (i * 53 % 97) / 48.0;
        fprintf(csv, "%g,%g,%d,%g,%s,%d,%d\n", a, b, (int)exp(a - b + 0.7), 1000 * (a + b) + i * 71 % 200,
                a + b > 3.2 ? "rare" : "usual", a > 1, b > 1);
    }
    fclose(csv);
}

/* The figure of a training by such a loss. */
static double figure_of(const char *loss, const char *target, const char *width, const char *figure)
{
    char recipe[600];
    snprintf(recipe, sizeof recipe,
             "{\"data\": {\"inputs\": [\"a\", \"b\"], \"target\": %s, \"validation\": 0.2}, \"loss\": %s,\n"
             " \"network\": [{\"dense\": 16}, \"tanh\", {\"dense\": %s}], \"epochs\": 60, \"batch\": 16,\n"
             " \"optimizer\": {\"learning_rate\": 0.02}}",
             target, loss, width);
    folder_put("loss.json", recipe);
    shell_result r = MW("train", "loss.json", "--data", "more.csv", "-o", "lost", "--json", "-q");
    CHECK_INT(r.code, 0);
    const double found = number_behind(r.out, figure);
    shell_free(&r);
    return found;
}

static void test_losses_of_recipes_learn_what_they_are_for(void)
{
    write_more();
    CHECK(figure_of("\"focal\", \"gamma\": 1.5", "\"kind\"", "\"classes\"", "\"accuracy\": ") > 0.9);
    CHECK(figure_of("\"quantile\", \"quantile\": 0.9", "\"price\"", "1", "\"r2\": ") > 0.9);
    CHECK(figure_of("\"poisson\"", "\"count\"", "1", "\"r2\": ") > 0.8); /* the result is a count, no logarithm */
    CHECK(figure_of("\"dice\"", "[\"first\", \"second\"]", "2", "\"f1_macro\": ") > 0.9);
    folder_put("gamma.json",
               "{\"gamma\": 2, \"data\": {\"target\": \"kind\"}, \"network\": [{\"dense\": \"classes\"}]}");
    CHECK_MW(2, NULL, "\"gamma\" has no effect here; it has one with the loss focal", "train", "gamma.json", "--data",
             "points.jsonl");
}

/* Directions are learned, whatever the lengths. */
static void test_cosine_learns_directions(void)
{
    enum { ROWS = 120, WIDTH = 4 };
    static float x[ROWS][2], y[ROWS][WIDTH];
    mw_error err = {0};
    for (int i = 0; i < ROWS; i++) {
        const double angle = i * 0.7, length = 1 + i * 37 % 101;
        x[i][0] = (float)cos(angle);
        x[i][1] = (float)sin(angle);
        for (int k = 0; k < WIDTH; k++)
            y[i][k] = (float)(length * cos(angle - k));
    }
    const mw_tensor_values values[] = {{"x", MW_F32, MW_SHAPE(ROWS, 2), x}, {"y", MW_F32, MW_SHAPE(ROWS, WIDTH), y}};
    mw_tensors_write("turned.npz", values, 2, &err);
    CHECK_OK(err);
    folder_put("turned.json", "{\"loss\": \"cosine\", \"network\": [{\"dense\": 4}], \"epochs\": 60, \"batch\": 16,\n"
                              " \"optimizer\": {\"learning_rate\": 0.02}, \"data\": {\"validation\": 0.2}}");
    shell_result r = MW("train", "turned.json", "--data", "turned.npz", "--json", "-q");
    CHECK_INT(r.code, 0);
    const double loss = number_behind(r.out, "\"loss\": ");
    check_note(loss >= 0 && loss < 0.01, __FILE__, __LINE__, "%g: %s %s", loss, r.out, r.errs);
    CHECK(strstr(r.out, "mean_absolute_error") == NULL); /* their lengths are free */
    shell_free(&r);
    CHECK_MW(1, NULL, "the loss cosine is of vectors in files of tensors", "train", "--loss", "cosine", "more.csv");
    folder_put("turned.json", "{\"loss\": \"cosine\", \"network\": [{\"dense\": 1}]}");
    CHECK_MW(1, NULL, "the loss cosine compares vectors", "train", "turned.json", "--data", "turned.npz");
}

static void test_muon_is_an_optimizer_of_recipes(void)
{
    const double loss = loss_with(", \"optimizer\": {\"name\": \"muon\", \"learning_rate\": 0.03, \"momentum\": 0.9, "
                                  "\"nesterov\": false, \"beta2\": 0.99, \"match_rms\": true}");
    CHECK(loss >= 0 && loss < 0.3);
}

/* The mean of all weights of a run is not what it ends with, and it is what is measured. */
static void test_averages_of_a_recipe_are_what_is_measured(void)
{
    static const char rate[] = ", \"optimizer\": {\"learning_rate\": 0.03}";
    char with[200];
    const double last = loss_with(rate);
    snprintf(with, sizeof with, "%s, \"average_decay\": 1", rate);
    const double mean = loss_with(with);
    snprintf(with, sizeof with, "%s, \"average_decay\": 1, \"average_from\": 1000000", rate);
    const double followed = loss_with(with);
    CHECK(fabs(mean - last) > 1e-3 * last);
    CHECK_NEAR(followed, last, 1e-4 * last);
    folder_put("from.json",
               "{\"average_from\": 3, \"data\": {\"target\": \"kind\"}, \"network\": [{\"dense\": \"classes\"}]}");
    CHECK_MW(2, NULL, "\"average_from\" has no effect here; it has one with \"average_decay\"", "train", "from.json",
             "--data", "points.jsonl");
}

static void test_a_rate_is_found_and_nothing_is_written(void)
{
    folder_put("rate.json", "{\"data\": {\"target\": \"kind\", \"inputs\": [\"height\", \"width, cm\"]},\n"
                            " \"network\": [{\"dense\": 16}, \"tanh\", {\"dense\": \"classes\"}], \"batch\": 16, "
                            "\"run\": \"rate.run\"}");
    shell_result r = MW("train", "rate.json", "--data", "points.csv", "--find-rate", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(shell_is_json(r.out));
    const double rate = number_behind(r.out, "\"learning_rate\": ");
    CHECK(rate > 1e-4 && rate < 1.0);
    shell_free(&r);
    CHECK_MW(0, "learning rate: ", NULL, "train", "rate.json", "--data", "points.csv", "--find-rate", "-q");
    CHECK(access("rate.run", F_OK) != 0);
    CHECK_MW(2, NULL, "--lr", "train", "rate.json", "--data", "points.csv", "--find-rate", "--lr", "0.1");
}

/* ---- pictures ---- */

static void write_digits(void)
{
    mw_error err = {0};
    static float x[64 * 8 * 8];
    static uint8_t y[64];
    for (int i = 0; i < 64; i++) {
        y[i] = (uint8_t)(i % 2);
        for (int k = 0; k < 64; k++)
            x[64 * i + k] = (float)((y[i] != 0 ? k / 8 : k % 8) * 30 + (i + k) % 5) / 255.0f;
    }
    const mw_tensor_values values[] = {{"x", MW_F32, MW_SHAPE(64, 1, 8, 8), x}, {"y", MW_U8, MW_SHAPE(64), y}};
    mw_tensors_write("stripes.npz", values, 2, &err);
    CHECK_OK(err);
}

static void test_every_layer_can_be_trained(void)
{
    shell_result layers = MW("help", "layers");
    folder_put(
        "all.json",
        "{\"network\": [{\"conv\": 4, \"kernel\": [3, 3], \"name\": \"first\"}, {\"batch_norm\": 0, \"momentum\": "
        "0.2},\n"
        "\"relu\", {\"residual\": [{\"conv\": 4, \"groups\": 2, \"bias\": false}, \"leaky_relu\"]},\n"
        "{\"max_pool\": 2}, {\"conv_transpose\": 4, \"stride\": 2}, {\"avg_pool\": 2}, \"silu\", \"elu\", \"gelu\",\n"
        "\"softplus\", \"relu6\", {\"repeat\": 2, \"layers\": [{\"conv\": 4}, \"tanh\"]},\n"
        "{\"reshape\": [4, 16]}, {\"transpose\": [2, 1]}, \"layer_norm\", {\"attention\": 2},\n"
        "{\"lstm\": 6, \"sequence\": true}, {\"gru\": 6}, {\"dropout\": 0.1}, \"sigmoid\", \"flatten\",\n"
        "{\"dense\": \"classes\"}],\n"
        "\"epochs\": 2, \"batch\": 8, \"data\": {\"validation\": 0.25}, \"output\": \"all\"}");
    CHECK_MW(0, "accuracy", NULL, "train", "all.json", "--data", "stripes.npz", "-q");
    char *config = page_read("all.json"), *document = page_read(MW_TESTS_DIR "/../docs/train.md");
    for (char *line = strtok(layers.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char quoted[64], row[64];
        const int length = (int)strcspn(line, " ");
        snprintf(quoted, sizeof quoted, "\"%.*s\"", length, line);
        snprintf(row, sizeof row, "| `%.*s` |", length, line);
        const bool elsewhere = strcmp(quoted, "\"embedding\"") == 0 || strcmp(quoted, "\"softmax\"") == 0 ||
                               strcmp(quoted, "\"global_avg_pool\"") == 0 || strcmp(quoted, "\"log_mel\"") == 0;
        check_note(elsewhere || strstr(config, quoted) != NULL, __FILE__, __LINE__, "%s is trained nowhere", quoted);
        CHECK_CONTAINS(document, row);
    }
    free(config);
    free(document);
    shell_free(&layers);
}

static void test_a_model_is_tuned_in_its_own_form(void)
{
    folder_put("first.json", "{\"network\": [\"global_avg_pool\", {\"dense\": 8, \"name\": \"fc1\"}, \"relu\",\n"
                             "{\"dense\": \"classes\", \"name\": \"fc2\"}, \"softmax\"], \"epochs\": 1, \"batch\": 4,\n"
                             "\"loss\": \"cross_entropy\"}");
    CHECK_MW(0, NULL, NULL, "train", "first.json", "--data", "stripes.npz", "-o", "first", "-q");
    CHECK_MW(0, "trained  fc2_weight", NULL, "finetune", "first", "--data", "stripes.npz", "-l", "fc2*", "-o", "second",
             "--epochs", "1", "-b", "16");
    CHECK_MW(0, "[1, 1, 8, 8]", NULL, "info", "second"); /* one example, as the source takes */
    CHECK_MW(3, "differs", NULL, "compare", "first", "second");
    CHECK_MW(0, NULL, NULL, "finetune", "first", "--data", "stripes.npz", "--lora", "2", "-o", "third", "--epochs", "1",
             "-q");
    CHECK_MW(0, NULL, NULL, "finetune", "first", "--data", "stripes.npz", "--head", "-o", "fourth", "--epochs", "1",
             "-q");
    CHECK_MW(2, NULL, "--data PATH, or --text PATH, and --out PATH", "finetune", "first");
    CHECK_MW(1, NULL, "matches none of 4 weights", "finetune", "first", "--data", "stripes.npz", "-l", "gone*", "-o",
             "fifth");
    CHECK(access("fifth", F_OK) != 0);
}

/* ---- stopping and going on ---- */

static void test_a_run_goes_on_where_it_stopped(void)
{
    folder_put("run.json",
               "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 3, \"batch\": 8, \"output\": \"whole\"}");
    CHECK_MW(0, NULL, NULL, "train", "run.json", "--data", "stripes.npz", "-q");
    CHECK_MW(0, NULL, NULL, "train", "run.json", "--data", "stripes.npz", "--run", "run", "-q");
    CHECK(access("run/checkpoint.safetensors", F_OK) == 0);
    CHECK_MW(0, "run/report.html", NULL, "report", "run", "--own-data");
    char *written = page_read("run/report.html");
    CHECK_CONTAINS(written, "mw train run.json --data stripes.npz --run run -q");
    CHECK_CONTAINS(written, "seen right");
    free(written);
    CHECK_MW(0, "page.html", NULL, "report", "run", "-o", "page.html", "--title", "<b>", "--own-data", "--samples",
             "0");
    CHECK_MW(1, NULL, "is no run", "report", "nowhere");
    CHECK_MW(2, NULL, "is not in 0 .. 64", "report", "run", "--samples", "65");
    CHECK_MW(0, NULL, NULL, "train", "run.json", "--data", "stripes.npz", "--run", "run", "-q", "--out", "again");
    CHECK_MW(0, "passes", NULL, "compare", "whole", "again", "--relative", "0");
}

static void test_ctrl_c_saves_and_ends_with_130(void)
{
    folder_put("long.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1000000, \"batch\": 8,\n"
                            "\"schedule\": {\"name\": \"constant\"}, \"checkpoint_steps\": 100}");
    const char *const words[] = {"train", "long.json", "--data", "stripes.npz", "--run",
                                 "long",  "--out",     "never",  NULL};
    shell_result r = shell_mw_signal(words, SIGINT, "long/checkpoint.safetensors");
    CHECK_INT(r.code, 130);
    CHECK_CONTAINS(r.errs, "mw: ");
    CHECK(access("never", F_OK) != 0);
    shell_free(&r);
    r = shell_mw_signal(words, SIGTERM, "long/checkpoint.safetensors"); /* it goes on, until the next */
    CHECK(r.code == 143 || r.code == 128 + SIGTERM);
    shell_free(&r);
    CHECK_MW(0, "step", NULL, "tensors", "long/checkpoint.safetensors");
}

static void test_a_terminal_of_any_width_shows_the_loss(void)
{
    const int widths[] = {0, 12, 31, 80, 300};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        shell_result r =
            shell_mw_terminal((const char *const[]){"train", "run.json", "--data", "stripes.npz", NULL}, widths[i]);
        CHECK_INT(r.code, 0);
        CHECK_CONTAINS(r.out, "epoch");
        if (widths[i] >= 30)
            CHECK_CONTAINS(r.out, "left");
        shell_free(&r);
    }
}

static void test_a_run_stops_early_and_leaves_its_metrics(void)
{
    folder_put("early.json",
               "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1000, \"batch\": 8,\n"
               "\"schedule\": {\"name\": \"constant\"}, \"optimizer\": {\"learning_rate\": 0.1},\n"
               "\"early_stopping\": {\"by\": \"accuracy\", \"patience\": 2}, \"plateau\": {\"patience\": 1}}");
    CHECK_MW(0, NULL, NULL, "train", "early.json", "--data", "stripes.npz", "--run", "early", "-q");
    char *lines = page_read("early/metrics.jsonl");
    CHECK_CONTAINS(lines, "\"reason\":\"early\"");
    CHECK_CONTAINS(lines, "gradient_norm/dense1.weight");
    free(lines);
    CHECK_MW(0, NULL, NULL, "plot", "early/metrics.jsonl", "-o", "early.svg", "-s", "loss");
}

/* A rate that no weight survives. */
static void test_a_refused_step_is_explained(void)
{
    folder_put("nan.json",
               "{\"loss\": \"mse\", \"network\": [{\"dense\": 8}, {\"dense\": 1}], \"epochs\": 200, \"batch\": 8,\n"
               "\"data\": {\"inputs\": [\"height\", \"width, cm\"], \"target\": \"area\"},\n"
               "\"schedule\": {\"name\": \"constant\"},\n"
               "\"optimizer\": {\"name\": \"sgd\", \"learning_rate\": 900}}");
    CHECK_MW(1, NULL, "refused", "train", "nan.json", "--data", "points.csv", "--run", "nan", "-q");
    CHECK_MW(3, "not finite or beyond", NULL, "replay", "nan/refused");
    CHECK_MW(3, "\"non_finite\": ", NULL, "replay", "nan/refused", "--json");
    CHECK_MW(0, "nan/report.html", NULL, "report", "nan");
    CHECK_MW(1, NULL, "mw: ", "replay", "nowhere");
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void write_model(mw_graph *graph, const char *path)
{
    mw_error err = {0};
    mw_model *model = mw_model_create(graph, NULL, &err);
    mw_model_write(model, path, NULL, &err);
    CHECK_OK(err);
    mw_model_destroy(model);
    mw_graph_destroy(graph);
}

/* Each of what mw_trainer_warning_at lists: layers behind a step function, a quotient that is 0 on the ANE. */
static void test_what_does_not_train_is_said_before_the_first_step(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(8, 2));
    mw_output(mw_add(mw_dense(x, 2, "smooth"), mw_floor(mw_dense(x, 2, "stepped"))), "scores");
    write_model(graph, "steps");
    graph = mw_graph_create(NULL, NULL);
    x = mw_input(graph, "x", MW_F32, MW_SHAPE(8, 2));
    mw_output(mw_dense(mw_real_div(x, mw_add_scalar(mw_square(x), 1.0)), 2, "fc"), "scores");
    write_model(graph, "shares");
    folder_put("pairs.csv",
               "a,b,kind\n1,2,ant\n2,1,bee\n1,3,ant\n3,1,bee\n2,3,ant\n3,2,bee\n1,4,ant\n4,1,bee\n5,1,bee\n1,5,ant\n");
    shell_result r = MW("finetune", "steps", "--data", "pairs.csv", "-o", "tuned_steps", "--epochs", "1");
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.errs, "parameter \"stepped_weight\" gets no gradient");
    CHECK_CONTAINS(r.errs, "parameter \"stepped_bias\" gets no gradient");
    CHECK_INT(count_of(r.errs, "gets no gradient"), 2);
    CHECK(strstr(r.errs, "gets no gradient") < strstr(r.errs, "epoch"));
    shell_free(&r);
    CHECK_MW(0, NULL, "the square of a number beyond 255.9", "finetune", "shares", "--data", "pairs.csv", "-o",
             "tuned_shares", "--epochs", "1", "-d", "ane", "-q");
}

/* ---- what is wrong ---- */

static void test_what_is_wrong_is_said_with_its_place(void)
{
    static const struct {
        const char *text, *error;
        int code; /* 2: a setting; 1: the file, or what does not fit the data */
    } rows[] = {
        {"{\"network\": [\"rellu\"]}", "bad.json:1:14: there is no layer \"rellu\"", 2},
        {"{\"network\": [\n {\"dense\": 0}]}", "bad.json:2:12: a whole number from 1 on", 2},
        {"{\"network\": [{\"dense\": \"classes\", \"keep\": 1}]}", "bad.json:1:43: \"keep\" is not known here", 2},
        {"{", "bad.json:1:2: JSON", 1},
        {"[]", "bad.json:1:1: an object is expected", 2},
        {"{\"network\": [7]}", "a layer is a text", 2},
        {"{\"network\": {}}", "a list of layers", 2},
        {"{\"network\": [{\"dropout\": 2}]}", "a probability", 2},
        {"{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1.5}", "not a whole number", 2},
        {"{\"network\": [{\"dense\": \"classes\"}], \"batch\": 1e30}", "not in 1 ..", 2},
        {"{\"network\": [{\"dense\": \"classes\"}], \"optimizer\": {\"name\": \"adm\"}}", "none of adam, adamw", 2},
        {"{\"network\": [{\"dense\": \"classes\"}], \"device\": \"tpu\"}", "device", 2},
        {"{\"network\": [{\"dense\": 1}]}", "and there are 2 classes", 1},
        {"{\"epochs\": 1}", "neither \"network\" nor \"model\"", 1},
        {"{\"network\": [{\"repeat\": 2}]}", "a list of layers", 2},
        {"{\"network\": [[[[[[[[[]]]]]]]]]}", "nested too deeply", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        folder_put("bad.json", rows[i].text);
        CHECK_MW(rows[i].code, NULL, rows[i].error, "train", "bad.json", "--data", "stripes.npz", "-q");
    }
    CHECK_MW(1, NULL, "gone.json", "train", "gone.json", "--data", "stripes.npz");
    CHECK_MW(1, NULL, "where is the data", "train", "run.json");
    CHECK_MW(1, NULL, "gone", "train", "run.json", "--data", "gone.csv");
}

/* Settings cut after any byte are refused, never a crash. */
static void test_settings_that_are_cut_are_refused(void)
{
    static const char whole[] = "{\"network\": [{\"conv\": 2}, \"relu\", {\"dense\": \"classes\"}], \"epochs\": 1}";
    char cut[sizeof whole];
    for (size_t n = 0; n + 1 < sizeof whole; n += 3) {
        memcpy(cut, whole, n);
        cut[n] = '\0';
        folder_put("cut.json", cut);
        CHECK_MW(1, NULL, "cut.json", "train", "cut.json", "--data", "stripes.npz", "-q");
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_tables);
    RUN(write_digits);
    RUN(test_a_table_becomes_a_model);
    RUN(test_values_are_learned_too);
    RUN(test_losses_of_recipes_learn_what_they_are_for);
    RUN(test_cosine_learns_directions);
    RUN(test_muon_is_an_optimizer_of_recipes);
    RUN(test_averages_of_a_recipe_are_what_is_measured);
    RUN(test_a_rate_is_found_and_nothing_is_written);
    RUN(test_every_layer_can_be_trained);
    RUN(test_a_model_is_tuned_in_its_own_form);
    RUN(test_a_run_goes_on_where_it_stopped);
    RUN(test_ctrl_c_saves_and_ends_with_130);
    RUN(test_a_terminal_of_any_width_shows_the_loss);
    RUN(test_a_run_stops_early_and_leaves_its_metrics);
    RUN(test_a_refused_step_is_explained);
    RUN(test_what_does_not_train_is_said_before_the_first_step);
    RUN(test_what_is_wrong_is_said_with_its_place);
    RUN(test_settings_that_are_cut_are_refused);
    folder_leave(folder);
    return check_finish();
}
