/* "did you mean": of commands, options, keys and layers of recipes, values, fields and files. The sweep goes over the
 * tool's own tables: each word with a letter left out, doubled or swapped finds itself. */
#include "base/text/spelling.h"
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <stdlib.h>
#include <sys/stat.h>

static void write_files(void)
{
    FILE *csv = fopen("points.csv", "w");
    REQUIRE(csv != NULL);
    fputs("height,width,kind\n", csv);
    for (int i = 0; i < 24; i++)
        fprintf(csv, "%d,%d,%s\n", i % 5, i % 7, i % 2 != 0 ? "ant" : "bee");
    fclose(csv);
    mkdir("measured", 0777);
    folder_put("measured/first.csv", "a,b\n1,2\n");
}

/* ---- the sweep ---- */

enum { WORDS_MAX = 400, WORD_BYTES = 64 };

typedef struct word_list {
    char words[WORDS_MAX][WORD_BYTES];
    size_t count;
} word_list;

static void add_word(word_list *list, const char *word, size_t length)
{
    char one[WORD_BYTES];
    snprintf(one, sizeof one, "%.*s", (int)length, word);
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->words[i], one) == 0)
            return;
    REQUIRE(list->count < WORDS_MAX);
    snprintf(list->words[list->count++], WORD_BYTES, "%s", one);
}

/* Whether the word is among those that are meant by what was typed. */
static bool finds(const word_list *list, const char *typed, const char *word)
{
    mw__spelling spelling;
    mw__spelling_init(&spelling, typed);
    for (size_t i = 0; i < list->count; i++)
        mw__spelling_offer(&spelling, list->words[i]);
    for (size_t i = 0; i < spelling.count; i++)
        if (strcmp(spelling.names[i], word) == 0)
            return true;
    return false;
}

static bool is_word(const word_list *list, const char *typed)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->words[i], typed) == 0)
            return true;
    return false;
}

static int sweep_typed(const word_list *list, const char *typed, const char *word)
{
    if (is_word(list, typed))
        return 0;
    check_note(finds(list, typed, word), __FILE__, __LINE__, "\"%s\" does not find \"%s\"", typed, word);
    return 1;
}

static int sweep_word(const word_list *list, const char *word)
{
    char typed[WORD_BYTES + 2];
    const int length = (int)strlen(word);
    int count = 0;
    for (int i = 0; i < length && length > 1; i++) {
        snprintf(typed, sizeof typed, "%.*s%s", i, word, word + i + 1);
        count += length > 2 ? sweep_typed(list, typed, word) : 0;
        snprintf(typed, sizeof typed, "%.*s%c%s", i + 1, word, word[i], word + i + 1);
        count += sweep_typed(list, typed, word);
        snprintf(typed, sizeof typed, "%s", word);
        if (i + 1 < length && word[i] != word[i + 1]) {
            typed[i] = word[i + 1];
            typed[i + 1] = word[i];
            count += sweep_typed(list, typed, word);
        }
    }
    return count;
}

static int sweep(const word_list *list)
{
    int count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += sweep_word(list, list->words[i]);
    return count;
}

static void test_every_command_finds_itself(void)
{
    word_list list = {.count = 0};
    shell_result r = MW("help");
    for (const char *at = strstr(r.out, "\n  "); at != NULL && strncmp(at, "\n  mw ", 6) != 0;
         at = strstr(at + 1, "\n  "))
        add_word(&list, at + 3, strcspn(at + 3, " "));
    shell_free(&r);
    CHECK(list.count > 25);
    CHECK(sweep(&list) > 400);
}

/* The options of one command at a time. */
static void test_every_option_finds_itself(void)
{
    word_list list = {.count = 0};
    char command[WORD_BYTES] = "";
    int count = 0;
    shell_result r = MW("help", "options");
    for (const char *at = r.out; *at != '\0'; at += strcspn(at, "\n") + 1) {
        const size_t length = strcspn(at, "\t");
        if (strlen(command) != length || strncmp(command, at, length) != 0) {
            count += sweep(&list);
            list.count = 0;
            snprintf(command, sizeof command, "%.*s", (int)length, at);
        }
        add_word(&list, at + length + 3, strcspn(at + length + 3, "\t"));
    }
    CHECK(count + sweep(&list) > 3000);
    shell_free(&r);
}

/* The keys of one object at a time. */
static void test_every_key_of_a_recipe_finds_itself(void)
{
    char object[WORD_BYTES];
    int count = 0;
    shell_result r = MW("help", "recipe");
    for (const char *first = r.out; *first != '\0'; first += strcspn(first, "\n") + 1) {
        word_list list = {.count = 0};
        const size_t whole = strcspn(first, "\t"), dot = strcspn(first, ".");
        snprintf(object, sizeof object, "%.*s", dot < whole ? (int)dot : 0, first);
        for (const char *at = r.out; *at != '\0'; at += strcspn(at, "\n") + 1) {
            const size_t length = strcspn(at, "\t"), end = strcspn(at, ".");
            const size_t begin = end < length ? end + 1 : 0, named = begin > 0 ? end : 0;
            if (strlen(object) == named && strncmp(object, at, named) == 0)
                add_word(&list, at + begin, length - begin);
        }
        char word[WORD_BYTES];
        const size_t begin = dot < whole ? dot + 1 : 0;
        snprintf(word, sizeof word, "%.*s", (int)(whole - begin), first + begin);
        count += sweep_word(&list, word);
    }
    CHECK(count > 1500);
    shell_free(&r);
}

static void test_every_layer_finds_itself(void)
{
    word_list list = {.count = 0};
    shell_result r = MW("help", "layers");
    for (const char *at = r.out; *at != '\0'; at += strcspn(at, "\n") + 1)
        add_word(&list, at, strcspn(at, " \n"));
    shell_free(&r);
    CHECK(list.count > 25);
    CHECK(sweep(&list) > 300);
}

/* ---- what is said ---- */

static void test_what_the_command_line_meant_is_said_without_the_usage(void)
{
    static const struct {
        const char *words[5], *said;
    } rows[] = {
        {{"trian", "points.csv"}, "mw: there is no command \"trian\"; did you mean mw train?\n"},
        {{"help", "optimizrs"}, "mw: there is no help of \"optimizrs\"; did you mean mw help optimizers?\n"},
        {{"train", "--epoch", "3", "points.csv"}, "mw: --epoch: unknown option; did you mean --epochs?\n"},
        {{"run", "net", "--devise=cpu"}, "mw: --devise=cpu: unknown option; did you mean --device?\n"},
        {{"run", "net", "--device", "gpuu"},
         "mw: --device gpuu is none of auto, cpu, gpu, ane; did you mean \"gpu\"?\n"},
        {{"train", "--loss", "hubert", "points.csv"},
         "mw: --loss hubert is none of cross_entropy, mse, l1, huber, binary_cross_entropy, focal, dice, quantile, "
         "poisson, cosine; "
         "did you mean \"huber\"?\n"},
        {{"completion", "bahs"},
         "mw: completion is for bash, zsh and fish, not for \"bahs\"; did you mean \"bash\"?\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        shell_result r = shell_mw(rows[i].words);
        CHECK_INT(r.code, 2);
        CHECK_STR(r.errs, rows[i].said);
        shell_free(&r);
    }
}

static void test_what_a_recipe_meant_is_said_with_its_place(void)
{
    static const struct {
        const char *recipe, *said;
    } rows[] = {
        {"{\"netwrok\": []}", "r.json:1:13: \"netwrok\" is not known here; did you mean \"network\"?"},
        {"{\"network\": [\"rellu\"]}", "r.json:1:14: there is no layer \"rellu\"; did you mean \"relu\"?"},
        {"{\"network\": [{\"Conv2d\": 8}]}", "there is no layer \"Conv2d\"; here it is \"conv\""},
        {"{\"network\": [{\"linear\": 8}]}", "there is no layer \"linear\"; here it is \"dense\""},
        {"{\"network\": [{\"dense\": 8, \"keep_axis\": true}]}",
         "\"keep_axis\" is not known here; did you mean \"keep_axes\"?"},
        {"{\"network\": [{\"dense\": 8, \"nmae\": \"a\"}]}", "\"nmae\" is not known here; did you mean \"name\"?"},
        {"{\"optimizer\": {\"learning_rte\": 1}}",
         "\"learning_rte\" is not known here; did you mean \"learning_rate\"?"},
        {"{\"learning_rate\": 1}", "\"learning_rate\" is not known here; \"optimizer\" has such a key"},
        {"{\"optimizer\": {\"epochs\": 1}}", "\"epochs\" is not known here; it stands beside \"network\""},
        {"{\"optimizer\": {\"name\": \"adma\"}}", "none of adam, adamw, sgd, rmsprop, adagrad, lion, muon; did you "
                                                  "mean \"adam\"?"},
        {"{\"data\": {\"augment\": {\"color\": {\"hus\": 0.1}}}}", "\"hus\" is not known here; did you mean \"hue\"?"},
        {"{\"data\": {\"target\": \"kidn\"}}", "has no field \"kidn\" among its 3; did you mean \"kind\"?"},
        {"{\"data\": {\"fields\": {\"heigth\": \"number\"}}}",
         "has no field \"heigth\" among its 3; did you mean \"height\"?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        folder_put("r.json", rows[i].recipe);
        shell_result r = MW("train", "r.json", "--data", "points.csv");
        CHECK(r.code == 1 || r.code == 2);
        CHECK_CONTAINS(r.errs, rows[i].said);
        shell_free(&r);
    }
}

static void test_a_key_that_is_not_known_is_said_before_data_is_missed(void)
{
    folder_put("r.json", "{\"dta\": {\"path\": \"points.csv\"}}");
    CHECK_MW(2, NULL, "\"dta\" is not known here; did you mean \"data\"?", "train", "r.json");
}

static void test_a_file_that_is_not_there_names_its_neighbor(void)
{
    CHECK_MW(1, NULL, "\"points.cvs\": No such file or directory; did you mean \"points.csv\"?", "train", "points.cvs");
    CHECK_MW(1, NULL, "did you mean measured/first.csv?", "train", "measured/frist.csv");
    CHECK_MW(1, NULL, "did you mean \"measured\"?", "train", "mesured/first.csv");
    folder_put("r.json", "{\"network\": [{\"dense\": \"classes\"}], \"data\": {\"path\": \"pionts.csv\"}}");
    CHECK_MW(1, NULL, "; did you mean \"points.csv\"?", "train", "r.json");
    CHECK_MW(1, NULL, "; did you mean \"points.csv\"?", "train", "--data", "poitns.csv", "r.json");
    shell_result r = MW("info", "nothing/like/it.mil");
    CHECK(strstr(r.errs, "did you mean") == NULL);
    shell_free(&r);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    write_files();
    RUN(test_every_command_finds_itself);
    RUN(test_every_option_finds_itself);
    RUN(test_every_key_of_a_recipe_finds_itself);
    RUN(test_every_layer_finds_itself);
    RUN(test_what_the_command_line_meant_is_said_without_the_usage);
    RUN(test_what_a_recipe_meant_is_said_with_its_place);
    RUN(test_a_key_that_is_not_known_is_said_before_data_is_missed);
    RUN(test_a_file_that_is_not_there_names_its_neighbor);
    folder_leave(folder);
    return check_finish();
}
