/* mw predict and mw evaluate: raw data of every kind to tables, and what is said of data that does not fit. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "support/sound_file.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ROWS = 60 };

#define PICTURES MW_TESTS_DIR "/data/images"

/* Classes and values follow from the columns; a word, a hole and a date among them. */
static void put_tables(void)
{
    FILE *people = fopen("people.csv", "w"), *bare = fopen("bare.csv", "w"), *prices = fopen("prices.csv", "w");
    REQUIRE(people != NULL && bare != NULL && prices != NULL);
    fputs("Id,age,town,since,kind\n", people);
    fputs("town,age,since\n", bare);
    fputs("rooms,town,price\n", prices);
    for (int i = 0; i < ROWS; i++) {
        const bool is_big = i % 3 == 0;
        fprintf(people, "%d,", i + 100);
        if (i % 10 != 7)
            fprintf(people, "%d", is_big ? 60 + i % 5 : 20 + i % 5);
        fprintf(people, ",\"%s\",2024-0%d-11,%s\n", is_big ? "Ulm, Donau" : "Bonn", i % 9 + 1,
                is_big ? "old" : "young");
        fprintf(bare, "\"%s\",%d,2024-01-02\n", is_big ? "Ulm, Donau" : "Bonn", is_big ? 61 : 21);
        fprintf(prices, "%d,%s,%d.5\n", i % 6, is_big ? "Ulm" : "Bonn", 100000 + 50000 * (i % 6));
    }
    fclose(people);
    fclose(bare);
    fclose(prices);
    folder_put("table.json", "{\"network\": [{\"dense\": 16}, \"relu\", {\"dense\": \"classes\"}], \"epochs\": 60,\n"
                             " \"batch\": 8, \"optimizer\": {\"learning_rate\": 0.02}}");
    folder_put("values.json",
               "{\"network\": [{\"dense\": 16}, \"relu\", {\"dense\": 1}], \"epochs\": 150, \"batch\": 8,\n"
               " \"loss\": \"mse\", \"optimizer\": {\"learning_rate\": 0.02}}");
    CHECK_MW(0, NULL, NULL, "train", "table.json", "--data", "people.csv", "--run", "people", "-q");
    CHECK_MW(0, NULL, NULL, "train", "values.json", "--data", "prices.csv", "--run", "prices", "-q");
}

/* Line `index` of a file, without its end. */
static char *line_of(const char *path, int index)
{
    char *text = page_read(path), *at = text;
    for (int i = 0; at != NULL && i < index; i++)
        at = strchr(at, '\n') != NULL ? strchr(at, '\n') + 1 : NULL;
    char *line = at != NULL ? strndup(at, strcspn(at, "\n")) : strdup("");
    free(text);
    return line;
}

static void check_line(const char *path, int index, const char *begin)
{
    char *line = line_of(path, index);
    check_note(strncmp(line, begin, strlen(begin)) == 0, __FILE__, __LINE__, "%s, line %d is \"%s\", not \"%s..\"",
               path, index, line, begin);
    free(line);
}

/* ---- tables ---- */

static void test_a_table_becomes_a_table_of_classes(void)
{
    CHECK_MW(0, "100  ", NULL, "predict", "people", "people.csv", "-q");
    CHECK_MW(0, ".. and 57 more", NULL, "predict", "people", "people.csv", "--rows", "3", "-q");
    CHECK_MW(0, "p.csv  60 rows", NULL, "predict", "people", "people.csv", "-o", "p.csv", "-q");
    check_line("p.csv", 0, "id,class,probability");
    check_line("p.csv", 1, "100,old,0.9");
    check_line("p.csv", 2, "101,young,0.9");
    CHECK_MW(0, NULL, NULL, "predict", "people", "people.csv", "--id", "town", "--top", "2", "--all", "-o", "p.csv",
             "-q");
    check_line("p.csv", 0, "id,class,probability,class_2,probability_2,p_old,p_young");
    check_line("p.csv", 1, "\"Ulm, Donau\",old,0.9");
    CHECK_MW(0, NULL, NULL, "predict", "people", "people.csv", "-o", "p.jsonl", "-q");
    check_line("p.jsonl", 0, "{\"id\": \"100\", \"class\": \"old\", \"probability\": 0.9");
    shell_result r = MW("predict", "people", "people.csv", "--json", "--rows", "2");
    CHECK(r.code == 0 && shell_is_json(r.out));
    CHECK_CONTAINS(r.out, "\"examples\": 60");
    shell_free(&r);
}

static void test_a_table_without_its_target_is_predicted_and_not_evaluated(void)
{
    CHECK_MW(0, "1  0.9", NULL, "predict", "people", "bare.csv", "-q");
    CHECK_MW(1, NULL, "has no field \"kind\", the target: mw evaluate compares with it, and mw predict needs none",
             "evaluate", "people", "bare.csv", "-q");
}

static void test_arrays_hold_what_the_table_has(void)
{
    mw_error err = {0};
    static float p[ROWS * 2];
    static int64_t classes[ROWS];
    CHECK_MW(0, NULL, NULL, "predict", "people", "people.csv", "-o", "p.npz", "-q");
    mw_tensors *file = mw_tensors_open("p.npz", &err);
    mw_tensors_read(file, "probabilities", MW_F32, p, ROWS * 2, &err);
    mw_tensors_read(file, "classes", MW_I64, classes, ROWS, &err);
    CHECK_OK(err);
    mw_tensors_destroy(file);
    for (int i = 0; i < ROWS; i++) {
        CHECK_NEAR((double)p[2 * i] + (double)p[2 * i + 1], 1, 1e-5);
        CHECK_INT(classes[i], i % 3 == 0 ? 0 : 1);
    }
}

static void test_values_are_in_the_unit_of_the_target(void)
{
    CHECK_MW(0, NULL, NULL, "predict", "prices", "prices.csv", "-o", "v.csv", "-q");
    check_line("v.csv", 0, "id,price");
    char *line = line_of("v.csv", 4);
    const char *comma = strchr(line, ',');
    CHECK_NEAR(comma != NULL ? strtod(comma + 1, NULL) : 0, 250000.5, 20000);
    free(line);
    CHECK_MW(0, "r2", NULL, "evaluate", "prices", "prices.csv", "-q");
    CHECK_MW(0, "farthest from the truth", NULL, "evaluate", "prices", "prices.csv", "-q");
    CHECK_MW(2, NULL, "--top", "predict", "prices", "prices.csv", "--top", "2");
}

/* "mean absolute error" of a page, without the commas between its digits. */
static double error_on_page(const char *path)
{
    static const char words[] = "mean absolute error <b>";
    char *text = page_read(path), digits[32];
    const char *at = text != NULL ? strstr(text, words) : NULL;
    size_t used = 0;
    for (at = at != NULL ? at + strlen(words) : ""; *at != '\0' && *at != '<' && used + 1 < sizeof digits; at++)
        if (*at != ',')
            digits[used++] = *at;
    digits[used] = '\0';
    check_note(used > 0, __FILE__, __LINE__, "%s shows no error", path);
    free(text);
    return strtod(digits, NULL);
}

/* mw evaluate reads the table row by row, mw report as the training does: in the same unit. */
static void test_pages_of_values_show_them_in_their_unit(void)
{
    shell_result r = MW("evaluate", "prices", "prices.csv", "--report", "v.html", "--json");
    CHECK_INT(r.code, 0);
    const char *mae = strstr(r.out, "\"mae\": ");
    const double error = mae != NULL ? strtod(mae + strlen("\"mae\": "), NULL) : -1;
    shell_free(&r);
    CHECK_MW(0, "all examples, 60 examples", NULL, "report", "prices", "--data", "prices.csv", "-o", "w.html");
    CHECK_NEAR(error_on_page("v.html"), error, 0.001 * error);
    CHECK_NEAR(error_on_page("w.html"), error, 0.001 * error);
    char *text = page_read("w.html");
    CHECK_CONTAINS(text, ">true price</text>");
    CHECK_CONTAINS(text, ">predicted - true price</text>");
    free(text);
    CHECK_MW(0, "validation share, ", NULL, "report", "prices", "--own-data", "-o", "w.html");
    CHECK_MW(2, NULL, "--samples has no effect on values and labels", "report", "prices", "--own-data", "--samples",
             "2");
}

/* What is found in a column is not what a loss takes it for: small counts look like classes, 0 and 1 like them, too. */
static void test_own_parts_are_those_of_the_loss(void)
{
    static const struct {
        const char *target, *loss, *part;
    } rows[] = {{"\"count\"", "mse", ">true count</text>"},
                {"\"count\"", "poisson", ">true count</text>"},
                {"\"wet\"", "binary_cross_entropy", "Probability of wet"},
                {"[\"wet\", \"cold\"]", "binary_cross_entropy", "Probability of cold"},
                {"[\"wet\", \"cold\"]", NULL, "Probability of cold"},
                {"\"count\"", "cross_entropy", "examples are seen right"}};
    FILE *csv = fopen("counts.csv", "w");
    REQUIRE(csv != NULL);
    fputs("a,b,count,wet,cold\n", csv);
    for (int i = 0; i < 120; i++) {
        const int a = i * 37 % 101, b = i * 53 % 97;
        fprintf(csv, "%d,%d,%d,%d,%d\n", a, b, a % 3 + b % 2, a > 50, b > 40 + a / 10);
    }
    fclose(csv);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char recipe[300], loss[40] = "";
        if (rows[i].loss != NULL)
            snprintf(loss, sizeof loss, "\"loss\": \"%s\", ", rows[i].loss);
        snprintf(recipe, sizeof recipe,
                 "{\"epochs\": 1, %s\"data\": {\"path\": \"counts.csv\", \"inputs\": [\"a\", \"b\"], \"target\": %s}}",
                 loss, rows[i].target);
        folder_put("counts.json", recipe);
        CHECK_MW(0, NULL, NULL, "train", "counts.json", "--run", "counts", "-q");
        CHECK_MW(0, "the validation share, 12 examples", NULL, "report", "counts", "--own-data", "-o", "w.html");
        char *text = page_read("w.html");
        CHECK_CONTAINS(text, rows[i].part);
        free(text);
        CHECK(system("rm -r counts") == 0);
    }
}

static void test_pages_of_two_classes_have_curves(void)
{
    CHECK_MW(0, NULL, NULL, "evaluate", "people", "people.csv", "--report", "v.html", "-q");
    CHECK_MW(0, NULL, NULL, "report", "people", "--data", "people.csv", "-o", "w.html");
    for (int i = 0; i < 2; i++) {
        char *text = page_read(i == 0 ? "v.html" : "w.html");
        CHECK_CONTAINS(text, "Probability of young");
        CHECK_CONTAINS(text, "40 of 60 examples are true: area below the ROC curve <b>1.0000</b>");
        CHECK_CONTAINS(text, ">Calibration</text>");
        free(text);
    }
}

static void test_classes_are_measured(void)
{
    CHECK_MW(0, "accuracy            1\n", NULL, "evaluate", "people", "people.csv", "-q");
    CHECK_MW(0, "      20       0  old\n       0      40  young\n", NULL, "evaluate", "people", "people.csv", "-q");
    CHECK_MW(0, "top_1 ", NULL, "evaluate", "people", "people.csv", "--figures", "top_1,auc", "-q");
    CHECK_MW(1, NULL, "rmse", "evaluate", "people", "people.csv", "--figures", "rmse", "-q");
    shell_result r = MW("evaluate", "people", "people.csv", "--report", "e.html", "--json");
    CHECK(r.code == 0 && shell_is_json(r.out));
    CHECK_CONTAINS(r.out, "\"confusion\": [[20, 0], [0, 40]]");
    CHECK_CONTAINS(r.out, "\"report\": \"e.html\"");
    shell_free(&r);
    char *text = page_read("e.html");
    CHECK(text != NULL && strstr(text, "young") != NULL);
    free(text);
}

/* File, line, field, rule and cure. */
static void test_tables_that_do_not_fit_are_refused(void)
{
    folder_put("short.csv", "age,town\n1,Bonn\n");
    folder_put("words.csv", "age,town,since\n1,Bonn,2024-01-01\nmany,Bonn,2024-01-01\n");
    folder_put("ragged.csv", "age,town,since\n1,Bonn,2024-01-01\n1,Bonn\n");
    folder_put("stranger.csv", "age,town,since,kind\n1,Bonn,2024-01-01,ancient\n");
    folder_put("empty.csv", "age,town,since\n");
    CHECK_MW(1, NULL, "\"short.csv\" has no field \"since\"", "predict", "people", "short.csv");
    CHECK_MW(1, NULL, "\"words.csv\", line 3, field \"age\": \"many\"", "predict", "people", "words.csv");
    CHECK_MW(1, NULL, "\"ragged.csv\", line 3: it has 2 fields", "predict", "people", "ragged.csv");
    CHECK_MW(0, "1  ", NULL, "predict", "people", "stranger.csv", "-q");
    CHECK_MW(1, NULL, "field \"kind\": \"ancient\" is none of the 2 classes", "evaluate", "people", "stranger.csv");
    CHECK_MW(1, NULL, "\"empty.csv\" has no rows", "predict", "people", "empty.csv");
    CHECK_MW(1, NULL, "no field \"gone\" to name its rows by; it has Id, age, town, since, kind", "predict", "people",
             "people.csv", "--id", "gone");
    CHECK_MW(1, NULL, "--inputs and --target have no effect", "predict", "people", "people.csv", "--inputs", "age");
    CHECK_MW(1, NULL, "gone.csv", "predict", "people", "gone.csv");
    CHECK_MW(2, NULL, "predictions are written as .csv, .jsonl or .npz", "predict", "people", "people.csv", "-o",
             "p.txt");
    CHECK_MW(1, NULL, "the folder \"no\"", "predict", "people", "people.csv", "-o", "no/p.csv");
    CHECK_MW(2, NULL, "--rows", "predict", "people", "people.csv", "-o", "p.csv", "--rows", "2");
}

/* A refused row leaves the file as it was. */
static void test_a_file_appears_whole_or_not_at_all(void)
{
    folder_put("kept.csv", "as it was\n");
    CHECK_MW(1, NULL, "line 3", "predict", "people", "words.csv", "-o", "kept.csv");
    CHECK(folder_holds("kept.csv", "as it was\n"));
}

/* ---- models of others ---- */

/* y = x of three numbers, with no word about them. */
static void put_stranger(const char *path)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_output(mw_mul_scalar(mw_input(graph, "in", MW_F32, MW_SHAPE(4, 3)), 1.0f), "out");
    mw_graph_write(graph, path, NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static void test_a_model_that_says_nothing_is_told(void)
{
    put_stranger("stranger");
    folder_put("numbers.csv", "c,a,b,kind\n1,2,3,x\n9,5,4,y\n");
    folder_put("names.txt", "x\ny\nz\n");
    CHECK_MW(0, "1  out_0 1  out_1 2  out_2 3\n", NULL, "predict", "stranger", "numbers.csv", "-q");
    CHECK_MW(0, "1  out_0 2  out_1 3  out_2 1\n", NULL, "predict", "stranger", "numbers.csv", "--inputs", "a,b,c",
             "-q");
    CHECK_MW(0, "1  0.6652 z  0.2447 y\n", NULL, "predict", "stranger", "numbers.csv", "--classes", "names.txt",
             "--top", "2", "-q");
    CHECK_MW(0, "1  0.6652 2\n", NULL, "predict", "stranger", "numbers.csv", "--task", "classes", "-q");
    CHECK_MW(0, "accuracy            0\n", NULL, "evaluate", "stranger", "numbers.csv", "--classes", "names.txt", "-q");
    CHECK_MW(1, NULL, "name the fields with --inputs", "predict", "stranger", "people.csv");
    CHECK_MW(1, NULL, "no field \"q\" among its 4, which --inputs names", "predict", "stranger", "numbers.csv",
             "--inputs", "a,q,c");
    CHECK_MW(1, NULL, "has no result \"gone\"; it has out", "predict", "stranger", "numbers.csv", "--result", "gone");
    folder_put("two.txt", "x\ny\n");
    CHECK_MW(1, NULL, "has 2 names, and the result \"out\" 3 numbers", "predict", "stranger", "numbers.csv",
             "--classes", "two.txt");
    CHECK_MW(1, NULL, "takes [32, 3], which is no picture", "predict", "stranger", PICTURES);
}

static void test_tensors_are_predicted(void)
{
    mw_error err = {0};
    const float x[] = {1, 2, 3, 9, 5, 4}, wide[] = {1, 2, 3, 4};
    const int64_t y[] = {2, 0}, far[] = {1, 7};
    const mw_tensor_values values[] = {
        {"x", MW_F32, MW_SHAPE(2, 3), x}, {"y", MW_I64, MW_SHAPE(2), y}, {"far", MW_I64, MW_SHAPE(2), far}};
    const mw_tensor_values other[] = {{"x", MW_F32, MW_SHAPE(1, 4), wide}};
    mw_tensors_write("x.npz", values, 3, &err);
    mw_tensors_write("wide.npz", other, 1, &err);
    CHECK_OK(err);
    CHECK_MW(0, "0  out_0 1  out_1 2  out_2 3\n1  out_0 9", NULL, "predict", "stranger", "x.npz", "-q");
    CHECK_MW(0, "accuracy            1\n", NULL, "evaluate", "stranger", "x.npz", "--task", "classes", "-q");
    CHECK_MW(1, NULL, "has no tensor \"t\" of what is true; --target names it", "evaluate", "stranger", "x.npz",
             "--target", "t", "--task", "classes");
    CHECK_MW(1, NULL, "which are 4 numbers, and the input \"in\" takes", "predict", "stranger", "wide.npz");
    CHECK_MW(1, NULL, "--id has no effect", "predict", "stranger", "x.npz", "--id", "x");
    CHECK_MW(0, "rmse                0\n", NULL, "evaluate", "stranger", "x.npz", "--target", "x", "-q");
    CHECK_MW(1, NULL, "has the label 7, and stranger gives 3 scores", "evaluate", "stranger", "x.npz", "--task",
             "classes", "--target", "far");
}

/* ---- pictures ---- */

static bool train_pictures(void)
{
    folder_put("pictures.json", "{\"network\": [{\"conv\": 4}, \"relu\", {\"dense\": \"classes\"}], \"epochs\": 1,\n"
                                " \"batch\": 4, \"data\": {\"size\": 8}}");
    shell_result r = MW("train", "pictures.json", "--data", PICTURES, "--run", "pictures", "-q");
    const bool good = r.code == 0;
    check_note(good || strstr(r.errs, "built without") != NULL, __FILE__, __LINE__, "%s", r.errs);
    shell_free(&r);
    return good;
}

static void test_pictures_are_predicted(void)
{
    if (!train_pictures())
        SKIP("built without libpng or libjpeg");
    CHECK_MW(0, "10 pictures", NULL, "evaluate", "pictures", PICTURES, "-q");
    CHECK_MW(0, "p.csv  10 pictures", NULL, "predict", "pictures", PICTURES, "-o", "p.csv", "-q");
    check_line("p.csv", 1, "jpeg/");
    CHECK_MW(0, ".png  0.", NULL, "predict", "pictures", PICTURES "/png", "-q");
    CHECK_MW(1, NULL, "no folder for each class", "evaluate", "pictures", PICTURES "/png");
    CHECK_MW(1, NULL, "--crop has no effect with --fit pad", "predict", "pictures", PICTURES, "--fit", "pad", "--crop",
             "0.5");
}

/* A picture that cannot be read is named, and left out if that is asked for. */
static void test_broken_pictures_are_named(void)
{
    shell_result r = MW("predict", "pictures", PICTURES, "-q");
    const bool is_left_out = r.code != 0;
    shell_free(&r);
    if (is_left_out)
        SKIP("built without libpng or libjpeg");
    mkdir("broken", 0777);
    folder_put("broken/a.png", "\x89PNG\r\n");
    CHECK_MW(1, NULL, "broken/a.png", "predict", "pictures", "broken", "-q");
    CHECK_MW(1, NULL, "none of its 1 pictures can be read", "predict", "pictures", "broken", "--skip-broken", "-q");
    mkdir("nothing", 0777);
    folder_put("nothing/a.txt", "x");
    CHECK_MW(1, NULL, "has no picture that ends in .png, .jpg, .jpeg or .webp, and no folder with some", "predict",
             "pictures", "nothing", "-q");
}

/* ---- sounds ---- */

static void test_sounds_are_predicted(void)
{
    sound_put_tones("tones", 6, 0.05);
    shell_result r = MW("train", "--epochs", "40", "--run", "heard", "-q", "tones");
    const bool is_left_out = strstr(r.errs, "built without libsndfile") != NULL;
    check_note(r.code == 0 || is_left_out, __FILE__, __LINE__, "%s", r.errs);
    shell_free(&r);
    if (is_left_out)
        SKIP("built without libsndfile");
    CHECK_MW(0, " sounds", NULL, "evaluate", "heard", "tones", "-q");
    CHECK_MW(0, "accuracy            1\n", NULL, "evaluate", "heard", "tones", "-q");
    CHECK_MW(0, "s.csv  ", NULL, "predict", "heard", "tones", "-o", "s.csv", "-q");
    check_line("s.csv", 0, "id,class,probability");
    CHECK_MW(1, NULL, "have no effect on sounds", "predict", "heard", "tones", "--scale", "2");
    mkdir("hushed", 0777);
    folder_put("hushed/a.wav", "RIFF");
    CHECK_MW(1, NULL, "hushed/a.wav", "predict", "heard", "hushed", "-q");
    CHECK_MW(1, NULL, "does not say how sounds become its input (\"mw.sound\")", "predict", "stranger", "hushed/a.wav");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    put_tables();
    RUN(test_a_table_becomes_a_table_of_classes);
    RUN(test_a_table_without_its_target_is_predicted_and_not_evaluated);
    RUN(test_arrays_hold_what_the_table_has);
    RUN(test_values_are_in_the_unit_of_the_target);
    RUN(test_pages_of_values_show_them_in_their_unit);
    RUN(test_own_parts_are_those_of_the_loss);
    RUN(test_pages_of_two_classes_have_curves);
    RUN(test_classes_are_measured);
    RUN(test_tables_that_do_not_fit_are_refused);
    RUN(test_a_file_appears_whole_or_not_at_all);
    RUN(test_a_model_that_says_nothing_is_told);
    RUN(test_tensors_are_predicted);
    RUN(test_pictures_are_predicted);
    RUN(test_broken_pictures_are_named);
    RUN(test_sounds_are_predicted);
    folder_leave(folder);
    return check_finish();
}
