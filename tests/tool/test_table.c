/* Tables as people bring them, from the raw file to a model and figures: mw train, run, finetune and report. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

static unsigned state;

/* Uniform in [0, 1), the same on every machine. */
static double draw(void)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

/* Passengers, of whom women, children and the first class live more often: cells are missing, words, and dates. */
static void write_passengers(const char *path, int rows, unsigned seed)
{
    static const char *const ports[] = {"Southampton", "Cherbourg", "\"Queenstown, Cork\"", ""};
    FILE *csv = fopen(path, "w");
    REQUIRE(csv != NULL);
    state = seed;
    fputs("PassengerId,age,class,sex,port,booked,survived\n", csv);
    for (int i = 0; i < rows; i++) {
        const int age = (int)(70 * draw()), class = 1 + (int)(3 * draw()), woman = draw() < 0.4;
        const double score = 4.0 * woman - 1.2 * (class - 2) - 0.05 * (age - 30) - 1.2;
        fprintf(csv, "%d,", i);
        if (draw() < 0.8)
            fprintf(csv, "%d", age);
        fprintf(csv, ",%d,%s,%s,1912-%02d-%02d,%s\n", class, woman ? "female" : "male", ports[(int)(4 * draw())],
                1 + (int)(12 * draw()), 1 + (int)(28 * draw()), draw() < 1 / (1 + exp(-2 * score)) ? "yes" : "no");
    }
    fclose(csv);
}

/* Prices in hundreds of thousands, with semicolons and decimal commas. */
static void write_houses(const char *path, int rows, unsigned seed)
{
    static const char *const towns[] = {"Ulm", "Bonn", "K\xc3\xb6ln"};
    FILE *csv = fopen(path, "w");
    REQUIRE(csv != NULL);
    state = seed;
    fputs("area;town;sold;price\n", csv);
    for (int i = 0; i < rows; i++) {
        const int area = 400 + (int)(2000 * draw()), town = (int)(3 * draw()), year = 2015 + (int)(9 * draw());
        if (draw() < 0.95)
            fprintf(csv, "%d,%d", area / 10, area % 10);
        fprintf(csv, ";%s;%d.%d.%d;%d\n", towns[town], 13 + (int)(15 * draw()), 1 + (int)(12 * draw()), year,
                area * 250 + town * 90000 + (year - 2015) * 12000 + (int)(10000 * draw()));
    }
    fclose(csv);
}

static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : -1;
}

/* ---- classes ---- */

static void test_a_table_with_holes_becomes_a_model_by_one_command(void)
{
    write_passengers("people.csv", 600, 1);
    shell_result r = MW("train", "people.csv", "--run", "people", "--threads", "1", "--epochs", "30");
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.out, "PassengerId               ignored   it counts the rows");
    CHECK_CONTAINS(r.out, " missing: the mean 3");
    CHECK_CONTAINS(r.out, "sex                       category  2 words, one-hot: female, male");
    CHECK_CONTAINS(r.out, "4 words, one-hot: (missing), Cherbourg, Queenstown, Cork, Southampton");
    CHECK_CONTAINS(r.out, "booked                    date ");
    CHECK_CONTAINS(r.out, "540 examples, 60 for validation, 2 classes");
    CHECK_CONTAINS(r.out, ", balanced_accuracy 0.");
    CHECK(number_behind(r.out, "accuracy ") > 0.8);
    CHECK(number_behind(r.out, "auc ") > 0.85);
    shell_free(&r);
    char *metrics = page_read("people/metrics.jsonl");
    CHECK_CONTAINS(metrics, "{\"kind\":\"scores\",\"step\":");
    CHECK_CONTAINS(metrics, "\"validation/auc\":0.");
    free(metrics);
}

/* Rows of other files go to the model as they are; words and fields that it does not know are none of its business. */
static void test_other_rows_are_run_with_the_same_encoder(void)
{
    folder_put("new.csv", "sex,port,class,age,booked,name\n"
                          "female,Cherbourg,1,20,1912-03-04,x\n"
                          "male,Bergen,3,,,y\n");
    shell_result r = MW("run", "people", "-i", "x=new.csv");
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.out, "scores  [2, 2]");
    CHECK_CONTAINS(r.out, "example 0: yes");
    CHECK_CONTAINS(r.out, "example 1: no");
    shell_free(&r);
    folder_put("few.csv", "sex,port\nfemale,x\n");
    CHECK_MW(1, NULL, "\"few.csv\" has no field \"age\" among its 2", "run", "people", "-i", "x=few.csv");
    folder_put("bad.csv", "sex,port,class,age,booked\nfemale,x,1,old,\n");
    CHECK_MW(1, NULL, "\"bad.csv\", line 2, field \"age\": \"old\" is no finite number", "run", "people", "-i",
             "x=bad.csv");
    CHECK_MW(0, NULL, NULL, "convert", "people", "apart");
    CHECK_MW(0, "example 1: no", NULL, "run", "apart", "-i", "x=new.csv");
}

static void test_reports_and_further_training_know_the_encoder(void)
{
    CHECK_MW(0, "the validation share, 60 examples", NULL, "report", "people", "--own-data");
    write_passengers("more.csv", 200, 2);
    CHECK_MW(0, "all examples, 200 examples", NULL, "report", "people", "--data", "more.csv");
    shell_result r =
        MW("finetune", "people", "--data", "more.csv", "-o", "more", "--epochs", "1", "--lr", "1e-6", "-q");
    CHECK_INT(r.code, 0);
    CHECK(number_behind(r.out, "accuracy ") > 0.7);
    shell_free(&r);
    CHECK_MW(0, "example 0: yes", NULL, "run", "more", "-i", "x=new.csv");
    write_passengers("people.csv", 500, 3);
    CHECK_MW(1, NULL, "\"people.csv\" has changed since it was learned", "report", "people", "--own-data");
    folder_put("raw.csv", "a,y\n1,p\n2,q\n3,p\n");
    folder_put("raw.json",
               "{\"epochs\": 1, \"network\": [{\"dense\": \"classes\"}], \"data\": {\"normalize\": false}}");
    CHECK_MW(0, NULL, NULL, "train", "raw.json", "--data", "raw.csv", "-o", "raw", "-q");
    CHECK_MW(1, NULL, "the model does not say how a table becomes its input", "run", "raw", "-i", "x=raw.csv");
}

/* ---- values ---- */

static void test_prices_are_learned_in_their_unit(void)
{
    write_houses("houses.csv", 500, 5);
    folder_put("prices.json",
               "{\"epochs\": 60, \"threads\": 1, \"data\": {\"path\": \"houses.csv\", \"validation\": 0.2}}");
    shell_result r = MW("train", "prices.json", "--run", "prices", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(number_behind(r.out, "\"r2\": ") > 0.95);
    const double distance = number_behind(r.out, "\"mean_absolute_error\": ");
    CHECK(distance > 1000 && distance < 40000);
    shell_free(&r);
    folder_put("one.csv", "town;area;sold\nBonn;120,5;14.2.2020\n"); /* 301250 + 90000 + 60000 + 5000 */
    r = MW("run", "prices", "-i", "x=one.csv");
    CHECK_INT(r.code, 0);
    CHECK_NEAR(number_behind(r.out, "scores  [1, 1]  "), 456250, 40000);
    shell_free(&r);
    r = MW("finetune", "prices", "--data", "houses.csv", "--loss", "mse", "-o", "on", "--epochs", "1", "--lr", "1e-6",
           "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(number_behind(r.out, "\"r2\": ") > 0.95);
    shell_free(&r);
    CHECK_MW(1, NULL, "the loss is cross_entropy, and the model was trained for values", "finetune", "prices", "--data",
             "houses.csv", "--loss", "cross_entropy", "-o", "no", "-q");
}

static void test_prices_are_learned_by_their_logarithm(void)
{
    folder_put("log.json",
               "{\"loss\": \"huber\", \"epochs\": 60, \"threads\": 1, \"network\": [{\"dense\": 32}, \"relu\", "
               "{\"dense\": 1}], \"scores\": \"mae,mape\", \"optimizer\": {\"learning_rate\": 0.01},\n"
               " \"data\": {\"path\": \"houses.csv\", \"target_scale\": \"logarithm\"}}");
    shell_result r = MW("train", "log.json", "--run", "log", "--json", "-q");
    CHECK_INT(r.code, 0);
    const double relative = number_behind(r.out, "\"mape\": ");
    CHECK(relative > 0 && relative < 0.15);
    shell_free(&r);
    r = MW("run", "log", "-i", "x=one.csv");
    CHECK_NEAR(number_behind(r.out, "scores  [1, 1]  "), 456250, 80000);
    shell_free(&r);
    folder_put("wer.json", "{\"scores\": \"mae,wer\", \"data\": {\"path\": \"houses.csv\"}}");
    CHECK_MW(2, NULL, "wer.json:1:12: scores: ", "train", "wer.json", "-q");
}

/* Two targets of other sizes, in a file of tensors: the graph scales each by its own deviation. */
static void test_targets_of_tensors_are_scaled_too(void)
{
    enum { EXAMPLES = 300 };
    static float x[EXAMPLES * 2], y[EXAMPLES * 2];
    mw_error err = {0};
    state = 4;
    for (int i = 0; i < EXAMPLES; i++) {
        x[2 * i] = (float)draw();
        x[2 * i + 1] = (float)draw();
        y[2 * i] = 300000 + 40000 * x[2 * i] - 10000 * x[2 * i + 1];
        y[2 * i + 1] = 0.5f + 0.001f * x[2 * i + 1];
    }
    const mw_tensor_values values[] = {{"x", MW_F32, MW_SHAPE(EXAMPLES, 2), x},
                                       {"y", MW_F32, MW_SHAPE(EXAMPLES, 2), y}};
    mw_tensors_write("two.npz", values, 2, &err);
    CHECK_OK(err);
    folder_put("two.json", "{\"loss\": \"mse\", \"epochs\": 150, \"threads\": 1, \"network\": [{\"dense\": 2}], "
                           "\"optimizer\": {\"learning_rate\": 0.1}}");
    shell_result r = MW("train", "two.json", "--data", "two.npz", "--run", "two", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(number_behind(r.out, "\"r2\": ") > 0.99);
    shell_free(&r);
    mw_tensors_write("point.npy", &(mw_tensor_values){"x", MW_F32, MW_SHAPE(1, 2), (const float[]){0.5f, 0.5f}}, 1,
                     &err);
    CHECK_OK(err);
    r = MW("run", "two", "-i", "x=point.npy");
    CHECK_NEAR(number_behind(r.out, "scores  [1, 2]  "), 315000, 1500);
    const char *second = strstr(r.out, "scores  [1, 2]  ");
    CHECK(second != NULL && fabs(strtod(strchr(second + 16, ' '), NULL) - 0.5005) < 1e-3);
    shell_free(&r);
    folder_put("two.json",
               "{\"loss\": \"mse\", \"data\": {\"target_scale\": \"logarithm\"}, \"network\": [{\"dense\": 2}]}");
    CHECK_MW(2, NULL, "a logarithm is taken of the target of a table alone", "train", "two.json", "--data", "two.npz",
             "-q");
}

/* Numbers that the device has not are said before the training, and the model is written all the same. */
static void test_prices_beyond_fp16_are_said_on_the_ane(void)
{
    CHECK_MW(0, NULL, "and fp16 ends at 65504", "train", "prices.json", "--device", "ane", "--epochs", "2", "-o", "far",
             "-q");
    CHECK_MW(0, "scores", NULL, "run", "far", "-i", "x=one.csv");
}

static void test_a_run_does_not_go_on_with_another_table(void)
{
    write_houses("houses.csv", 400, 6);
    CHECK_MW(1, NULL, "was fitted on other rows or fields than houses.csv has", "train", "prices.json", "--run",
             "prices", "-q", "--epochs", "70");
    write_houses("houses.csv", 500, 5);
    CHECK_MW(0, NULL, NULL, "train", "prices.json", "--run", "prices", "-q", "--epochs", "61");
}

/* A new layer behind a model gives values in the unit, too. */
static void test_layers_behind_a_model_of_values_are_in_its_unit(void)
{
    folder_put("behind.json",
               "{\"model\": \"prices\", \"loss\": \"mse\", \"network\": [{\"dense\": 1}], \"epochs\": 1, "
               "\"data\": {\"path\": \"houses.csv\"}}");
    shell_result r = MW("train", "behind.json", "-o", "behind", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(number_behind(r.out, "\"mean_absolute_error\": ") > 1000);
    shell_free(&r);
}

/* ---- settings ---- */

static void test_fields_are_read_as_the_recipe_says(void)
{
    folder_put(
        "said.json",
        "{\"epochs\": 1, \"threads\": 1, \"data\": {\"path\": \"more.csv\", \"split\": \"stratified\", \"fields\": "
        "{\"PassengerId\": \"number\", \"age\": {\"missing\": \"median\"}, \"class\": {\"kind\": \"category\", "
        "\"width\": 2}, \"port\": \"ignored\", \"booked\": {\"kind\": \"text\", \"width\": 8}}}}");
    shell_result r = MW("train", "said.json");
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.out, "PassengerId               number    mean ");
    CHECK_CONTAINS(r.out, "missing: the median ");
    CHECK_CONTAINS(r.out, "class                     category  3 words, 2 learned numbers each: 1, 2, 3");
    CHECK_CONTAINS(r.out, "port                      ignored   as said");
    CHECK_CONTAINS(r.out, "booked                    text      words hashed into 8 columns");
    shell_free(&r);
}

static void test_settings_of_tables_are_refused_with_their_place(void)
{
    static const struct {
        const char *data, *error;
    } rows[] = {
        {"\"fields\": {\"age\": \"numbers\"}", "\"numbers\" is no kind of a field"},
        {"\"fields\": {\"age\": 1}", "a field has a kind"},
        {"\"fields\": {\"age\": {\"width\": 3}}", "\"width\" is not known here"},
        {"\"fields\": {\"sex\": {\"kind\": \"category\", \"missing\": \"mean\"}}", "\"missing\" is not known here"},
        {"\"split\": \"group\"", "needs \"split_field\""},
        {"\"split_field\": \"sex\"", "\"split_field\" has no effect here"},
        {"\"decimal\": \"x\"", "\"decimal\" is \"x\", not one of"},
        {"\"encoding\": \"ascii\"", "\"encoding\" is \"ascii\", none of found, utf-8"},
    };
    char config[400];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(config, sizeof config,
                 "{\"data\": {\"path\": \"more.csv\", %s}, \"network\": [{\"dense\": \"classes\"}]}", rows[i].data);
        folder_put("place.json", config);
        shell_result r = MW("train", "place.json", "-q");
        check_note(r.code != 0 && strstr(r.errs, rows[i].error) != NULL, __FILE__, __LINE__, "%s: code %d, %s",
                   rows[i].data, r.code, r.errs);
        shell_free(&r);
    }
    CHECK_MW(1, NULL, "\"more.csv\" has no field \"gone\" among its 7", "train",
             (folder_put("gone.json", "{\"data\": {\"path\": \"more.csv\", \"fields\": {\"gone\": \"number\"}}}"),
              "gone.json"),
             "-q");
    CHECK_MW(2, NULL, "--data", "train", "more.csv", "--data", "people.csv");
}

/* ---- rare classes ---- */

static void write_rare(void)
{
    FILE *csv = fopen("rare.csv", "w");
    REQUIRE(csv != NULL);
    state = 9;
    fputs("a,b,kind\n", csv);
    for (int i = 0; i < 800; i++) {
        const double a = draw(), b = draw();
        fprintf(csv, "%.4f,%.4f,%s\n", a, b, a + 0.35 * draw() > 1.2 ? "rare" : "usual");
    }
    fclose(csv);
}

static double balanced_with(const char *weights)
{
    char config[300];
    snprintf(config, sizeof config,
             "{\"epochs\": 20, \"threads\": 1, \"network\": [{\"dense\": \"classes\"}], %s\"optimizer\": "
             "{\"learning_rate\": 0.02}, \"data\": {\"path\": \"rare.csv\", \"split\": \"stratified\", \"validation\": "
             "0.3}}",
             weights);
    folder_put("rare.json", config);
    shell_result r = MW("train", "rare.json", "--json", "-q");
    CHECK_INT(r.code, 0);
    const double found = number_behind(r.out, "\"balanced_accuracy\": ");
    shell_free(&r);
    return found;
}

static void test_rare_classes_weigh_more_when_it_is_said(void)
{
    write_rare();
    const double plain = balanced_with(""), balanced = balanced_with("\"class_weights\": \"balanced\", ");
    check_note(balanced > plain + 0.05 && balanced > 0.85, __FILE__, __LINE__, "balanced accuracy %g, and %g without",
               balanced, plain);
    CHECK(balanced_with("\"class_weights\": {\"rare\": 10}, ") > plain + 0.05);
    CHECK(balanced_with("\"sampling\": \"balanced\", \"sampling_seed\": 2, ") > plain + 0.05);
    CHECK(balanced_with("\"sampling\": {\"rare\": 10}, ") > plain + 0.05);
    folder_put("rare.json", "{\"sampling\": {\"rare\": 0, \"usual\": 0}, \"data\": {\"path\": \"rare.csv\"}}");
    CHECK_MW(2, NULL, "\"sampling\" leaves no example to learn from", "train", "rare.json", "-q");
    folder_put("rare.json", "{\"sampling_seed\": 1, \"data\": {\"path\": \"rare.csv\"}}");
    CHECK_MW(2, NULL, "\"sampling_seed\" has no effect here", "train", "rare.json", "-q");
    folder_put("rare.json", "{\"class_weights\": {\"never\": 2}, \"data\": {\"path\": \"rare.csv\"}}");
    CHECK_MW(2, NULL, "\"never\" is no class of the data: rare, usual", "train", "rare.json", "-q");
    folder_put("rare.json", "{\"class_weights\": \"some\", \"data\": {\"path\": \"rare.csv\"}}");
    CHECK_MW(2, NULL, "\"class_weights\" is \"some\", none of balanced", "train", "rare.json", "-q");
    folder_put("rare.json",
               "{\"class_weights\": \"balanced\", \"loss\": \"mse\", \"data\": {\"path\": \"houses.csv\"}}");
    CHECK_MW(2, NULL, "\"class_weights\" has no effect here", "train", "rare.json", "-q");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_table_with_holes_becomes_a_model_by_one_command);
    RUN(test_other_rows_are_run_with_the_same_encoder);
    RUN(test_reports_and_further_training_know_the_encoder);
    RUN(test_prices_are_learned_in_their_unit);
    RUN(test_prices_are_learned_by_their_logarithm);
    RUN(test_targets_of_tensors_are_scaled_too);
    RUN(test_prices_beyond_fp16_are_said_on_the_ane);
    RUN(test_a_run_does_not_go_on_with_another_table);
    RUN(test_layers_behind_a_model_of_values_are_in_its_unit);
    RUN(test_fields_are_read_as_the_recipe_says);
    RUN(test_settings_of_tables_are_refused_with_their_place);
    RUN(test_rare_classes_weigh_more_when_it_is_said);
    folder_leave(folder);
    return check_finish();
}
