/* mw passes: what is said of a model and of a recipe's step, what is left out, why, and what is written. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ON_M4 "--device", "ane", "--chip", "m4"

/* ---- files ---- */

/* The ANE has no sinh, M1 no sine either. */
static const char waves[] =
    "program(1.3)\n{func main<ios18>(tensor<fp32, [4, 8]> x) {"
    "tensor<fp32, [4, 8]> a = sin(x = x); tensor<fp32, [4, 8]> b = sinh(x = a); tensor<fp32, [4, 8]> y = add(x = a, y "
    "= b);} -> (y);}\n";

/* The condition and the body of its loop become steps of their own. */
static const char loop[] =
    "program(1.3)\n{func main<ios18>(tensor<fp32, [3]> x, int32 n) {int32 zero = const()[val = int32(0)];"
    "int32 one = const()[val = int32(1)]; int32 m, tensor<fp32, [3]> y = while_loop(loop_vars = (zero, x))"
    "(int32 i, tensor<fp32, [3]> v) { bool c = less(x = i, y = n); } -> (c)"
    "(int32 i, tensor<fp32, [3]> v) { tensor<fp32, [3]> s = sqrt(x = v); int32 j = add(x = i, y = one); } -> (j, s);}"
    " -> (y);}\n";

static void write_files(void)
{
    FILE *csv = fopen("points.csv", "w");
    REQUIRE(csv != NULL);
    fputs("a,b,kind\n", csv);
    for (int i = 0; i < 24; i++)
        fprintf(csv, "%d,%d,%s\n", i % 5, i % 7, i % 2 != 0 ? "ant" : "bee");
    fclose(csv);
    folder_put("net.json", "{\"network\": [{\"dense\": 8}, \"relu\", {\"dense\": \"classes\"}], \"batch\": 8}");
    folder_put("waves.mil", waves);
    folder_put("loop.mil", loop);
}

/* ---- lines ---- */

/* How often a part stands in a text. */
static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

/* A trainer's step has lowered its states already: it has no stage "form". */
static void check_stages(const char *const *words, bool training)
{
    static const char *const passes[] = {"\ntext      decompose ", "\ntext      fp16 ", "\nfunction  storage ",
                                         "\nsteps     kernels ", "\nsteps     unit_blocks "};
    shell_result r = shell_mw(words);
    CHECK_INT(r.code, 0);
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++)
        CHECK_INT(count_of(r.out, passes[i]), 1);
    CHECK_INT(count_of(r.out, "training  "), training ? 4 : 0);
    CHECK_INT(count_of(r.out, "form      states "), training ? 0 : 1);
    CHECK_INT(count_of(r.out, " ms "), training ? 26 : 24);
    CHECK_CONTAINS(r.out, training ? "\n26 passes\n" : "\n24 passes\n");
    CHECK_CONTAINS(r.out, ", unchanged\n");
    shell_free(&r);
}
#define CHECK_STAGES(training, ...) check_stages((const char *const[]){"passes", __VA_ARGS__, NULL}, training)

static void test_each_pass_has_a_line(void)
{
    CHECK_STAGES(false, "waves.mil");
    CHECK_STAGES(false, "waves.mil", ON_M4);
    CHECK_STAGES(true, "--training", "net.json", "--data", "points.csv");
    CHECK_STAGES(true, "--training", "net.json", "--data", "points.csv", ON_M4);
}

static void test_what_a_loop_repeats_has_lines_of_its_own(void)
{
    shell_result r = MW("passes", "loop.mil");
    CHECK_INT(r.code, 0);
    CHECK_INT(count_of(r.out, "function  lower "), 1);
    CHECK_INT(count_of(r.out, "steps     kernels "), 3);
    shell_free(&r);
}

static void test_a_chip_has_rewrites_that_the_cpu_has_not(void)
{
    shell_result cpu = MW("passes", "waves.mil"), m4 = MW("passes", "waves.mil", ON_M4);
    CHECK(strstr(cpu.out, " sinh ") == NULL);
    CHECK_CONTAINS(m4.out, "            sinh                              1 hits      0 refused\n");
    CHECK_CONTAINS(cpu.out, "decompose          ");
    shell_free(&cpu);
    shell_free(&m4);
    CHECK_MW(0, "            sine                              1 hits", NULL, "passes", "waves.mil", "--device", "ane",
             "--chip", "m1");
}

static void test_rules_that_only_refused_are_shown_on_request(void)
{
    shell_result few = MW("passes", "waves.mil"), all = MW("passes", "waves.mil", "--all");
    CHECK_INT(count_of(few.out, " 0 hits"), 0);
    CHECK_CONTAINS(all.out, "            conv.columns.bias                 0 hits      1 refused\n");
    shell_free(&few);
    shell_free(&all);
}

/* ---- off, why ---- */

static void test_what_is_left_out_hits_nothing(void)
{
    shell_result with = MW("passes", "--training", "net.json", "--data", "points.csv");
    shell_result without = MW("passes", "--training", "net.json", "--data", "points.csv", "--off", "all_within,fuse");
    CHECK_CONTAINS(with.out, " all_within ");
    CHECK_INT(without.code, 0);
    CHECK(strstr(without.out, " all_within ") == NULL);
    CHECK(strstr(strstr(without.out, "steps     fuse"), ", unchanged\nsteps     unit_blocks") != NULL);
    CHECK(strstr(strstr(with.out, "steps     fuse"), ", unchanged\nsteps     unit_blocks") == NULL);
    shell_free(&with);
    shell_free(&without);
}

static void test_why_says_what_became_of_an_operation(void)
{
    CHECK_MW(0, "            conv.columns.bias: y is left: y is no bias of x\n", NULL, "passes", "waves.mil", "--why",
             "y");
    CHECK_MW(0, "            sinh: b is written\n", NULL, "passes", "waves.mil", "--why", "b", ON_M4);
    CHECK_MW(0, "            sinh: b is written\n", NULL, "passes", "waves.mil", "--why", "*", ON_M4);
    CHECK_MW(1, NULL, "no rule looked at an operation with a result of that name", "passes", "waves.mil", "--why",
             "gone");
}

static void test_what_is_wrong_is_refused_before_anything_is_done(void)
{
    CHECK_MW(2, NULL, "--off: \"nothing\" is no pass and no rule; `mw passes --list` has them", "passes", "gone.mil",
             "--off", "fuse,nothing");
    CHECK_MW(2, NULL, "--off: \"fp16\" cannot be left out", "passes", "gone.mil", "--off", "fp16");
    CHECK_MW(2, NULL, "one of FILE, --training RECIPE and --list is expected", "passes");
    CHECK_MW(2, NULL, "one of FILE, --training RECIPE and --list is expected", "passes", "waves.mil", "--training",
             "net.json");
    CHECK_MW(2, NULL, "one of FILE, --training RECIPE and --list is expected", "passes", "waves.mil", "--list");
    CHECK_MW(2, NULL, "--why has no effect with --list", "passes", "--list", "--why", "x");
    CHECK_MW(2, NULL, "--shape has no effect with --training", "passes", "--training", "net.json", "--shape", "x=1");
    CHECK_MW(2, NULL, "--cache has no effect here", "passes", "waves.mil", "--cache", "kept");
    CHECK_MW(2, NULL, "is none of m1 to m6", "passes", "waves.mil", "--device", "ane", "--chip", "m9");
    CHECK_MW(1, NULL, "gone.mil", "passes", "gone.mil");
    CHECK_MW(1, NULL, "gone.json", "passes", "--training", "gone.json");
    CHECK_MW(1, NULL, "where is the data?", "passes", "--training", "net.json");
    folder_put("odd.json", "{\"network\": [{\"dense\": \"classes\"}], \"epoch\": 1}");
    CHECK_MW(2, NULL, "\"epoch\" is not known here", "passes", "--training", "odd.json", "--data", "points.csv");
}

static void test_a_recipe_is_not_trained_and_nothing_is_written(void)
{
    folder_put("run.json", "{\"network\": [{\"dense\": \"classes\"}], \"run\": \"run\", \"output\": \"net\"}");
    CHECK_MW(0, "training  updates ", NULL, "passes", "--training", "run.json", "--data", "points.csv");
    CHECK(access("run", F_OK) != 0 && access("net", F_OK) != 0);
}

/* ---- files that are written ---- */

static void check_dumped(const char *folder, const char *name, bool is_text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = page_read(path);
    check_note(text != NULL && text[0] != '\0', __FILE__, __LINE__, "%s is not there", path);
    free(text);
    if (is_text)
        CHECK_MW(0, "opset", NULL, "info", path, "-q");
}

static void test_texts_of_passes_can_be_read_again(void)
{
    CHECK_MW(0, NULL, NULL, "passes", "waves.mil", ON_M4, "--dump", "waves");
    check_dumped("waves", "00-source.mil", true);
    check_dumped("waves", "04-decompose.mil", true);
    check_dumped("waves", "06-fp16.mil", true);
    check_dumped("waves", "15-kernels.txt", false);
    CHECK_MW(0, NULL, NULL, "passes", "--training", "net.json", "--data", "points.csv", "--dump", "step");
    check_dumped("step", "01-training_form.mil", true);
    check_dumped("step", "02-gradients.mil", true);
    check_dumped("step", "04-updates.mil", true);
    check_dumped("step", "25-fuse.txt", false);
    CHECK(access("step/06-decompose.mil", F_OK) != 0); /* it changed nothing */
}

static void test_a_folder_with_something_else_in_it_is_left_alone(void)
{
    mkdir("mine", 0777);
    folder_put("mine/letter", "dear");
    CHECK_MW(2, NULL, "the folder holds something else", "passes", "waves.mil", "--dump", "mine");
    CHECK(folder_holds("mine/letter", "dear"));
    CHECK_MW(0, NULL, NULL, "passes", "waves.mil", "--dump", "waves");
    CHECK(access("waves/04-decompose.mil", F_OK) != 0); /* of the dump before */
    CHECK_MW(1, NULL, "nowhere", "passes", "waves.mil", "--dump", "nowhere/waves");
    CHECK_MW(1, NULL, "gone.mil", "passes", "gone.mil", "--dump", "fresh");
    CHECK(access("fresh", F_OK) != 0);
}

/* ---- the list ---- */

static const char *const names[] = {
#define MW_PASS(stage, id, ...) #id,
#define MW_ANALYSIS(id, ...)    #id,
#include "passes/pipeline.def"
#define MW_REWRITE(id, ...) #id,
#include "passes/rewrites.def"
#define MW_PATTERN(id, name, ...) name,
#include "passes/patterns.def"
};

static void test_the_list_has_every_row(void)
{
    char name[80];
    shell_result r = MW("passes", "--list");
    CHECK_INT(r.code, 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(name, sizeof name, " %s ", names[i]);
        CHECK_CONTAINS(r.out, name);
    }
    CHECK_INT(count_of(r.out, "\n"), sizeof names / sizeof names[0]);
    CHECK_CONTAINS(r.out, "text      fp16           required  floating point is fp16");
    CHECK_CONTAINS(r.out, "  integers beyond what fp16 counts to are two digits");
    CHECK(strstr(r.out, "\ntext      fit") < strstr(r.out, "  rewrite   sine "));
    CHECK(strstr(r.out, "\nsteps     patterns") < strstr(r.out, "  pattern   lookup "));
    shell_free(&r);
}

static void check_json(const char *const *words)
{
    shell_result r = shell_mw(words);
    CHECK_INT(r.code, 0);
    CHECK(shell_is_json(r.out));
    shell_free(&r);
}
#define CHECK_JSON(...) check_json((const char *const[]){"passes", "--json", __VA_ARGS__, NULL})

static void test_every_answer_is_there_as_json(void)
{
    CHECK_JSON("waves.mil", "--why", "*");
    CHECK_JSON("--training", "net.json", "--data", "points.csv", ON_M4);
    CHECK_JSON("--list");
    CHECK_MW(0, "{\"rule\": \"sinh\", \"operation\": \"b\", \"written\": true, \"refused\": null}", NULL, "passes",
             "waves.mil", "--why", "b", "--json", ON_M4);
    CHECK_MW(0, "\"stage\": \"training\", \"kind\": \"pass\", \"name\": \"gradients\"", NULL, "passes", "--list",
             "--json");
}

/* ---- the document ---- */

enum { PAGE_MAX = 1 << 14, NAMES_WIDTH = 24 };

/* Of a line of a pass all but its time; lines of rules as they are; not their number. */
static void put_line(page *p, const char *line, size_t length)
{
    const char *time_end = strstr(line, " ms ");
    if (strncmp(line, " ", 1) == 0)
        page_put(p, "    %.*s\n", (int)length, line);
    else if (time_end != NULL && time_end < line + length)
        page_put(p, "    %.*s%.*s\n", NAMES_WIDTH, line, (int)(line + length - time_end - 3), time_end + 3);
}

/* docs/passes.md has what is said now. A processor and its number of threads change neither names nor counts of it. */
static void check_recorded(const char *section, const char *const *words)
{
    char path[512];
    page p = page_make(PAGE_MAX);
    REQUIRE(p.text != NULL);
    shell_result r = shell_mw(words);
    CHECK_INT(r.code, 0);
    for (const char *line = r.out; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        put_line(&p, line, length);
        line += length + (line[length] == '\n');
    }
    snprintf(path, sizeof path, "%s/../docs/passes.md", MW_TESTS_DIR);
    page_check_section(path, section, p.text);
    shell_free(&r);
    page_free(&p);
}

static void test_the_document_has_what_is_said_of_a_training_step(void)
{
    static const char recipe[] = MW_TESTS_DIR "/../examples/recipes/moons.json";
    static const char data[] = MW_TESTS_DIR "/../examples/recipes/moons.csv";
    check_recorded("cpu", (const char *const[]){"passes", "--training", recipe, "--data", data, "-t", "1", NULL});
    check_recorded("m4", (const char *const[]){"passes", "--training", recipe, "--data", data, "-t", "1", ON_M4, NULL});
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_files);
    RUN(test_each_pass_has_a_line);
    RUN(test_what_a_loop_repeats_has_lines_of_its_own);
    RUN(test_a_chip_has_rewrites_that_the_cpu_has_not);
    RUN(test_rules_that_only_refused_are_shown_on_request);
    RUN(test_what_is_left_out_hits_nothing);
    RUN(test_why_says_what_became_of_an_operation);
    RUN(test_what_is_wrong_is_refused_before_anything_is_done);
    RUN(test_a_recipe_is_not_trained_and_nothing_is_written);
    RUN(test_texts_of_passes_can_be_read_again);
    RUN(test_a_folder_with_something_else_in_it_is_left_alone);
    RUN(test_the_list_has_every_row);
    RUN(test_every_answer_is_there_as_json);
    RUN(test_the_document_has_what_is_said_of_a_training_step);
    folder_leave(folder);
    return check_finish();
}
