/* How mw behaves as a program: options, exit codes, help and man page from one table, closed pipes, full disks, hostile
 * files. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const commands[] = {
    "info",    "ops",       "tensors", "convert", "average", "run",      "bench",   "profile",
    "compare", "gradcheck", "check",   "plan",    "inspect", "doctor",   "man",     "completion",
    "train",   "finetune",  "draw",    "plot",    "report",  "replay",   "ranges",  "passes",
    "tokens",  "generate",  "embed",   "sweep",   "predict", "evaluate", "package", "new"};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void test_help_and_usage(void)
{
    CHECK_MW(2, NULL, "usage: mw COMMAND", "nothing");
    CHECK_MW(2, NULL, "no command \"nothing\"", "nothing");
    CHECK_MW(0, "usage: mw COMMAND", NULL, "help");
    CHECK_MW(0, "usage: mw info", NULL, "help", "info");
    CHECK_MW(0, mw_version(), NULL, "--version");
    CHECK_MW(2, NULL, "too few arguments", "info");
    CHECK_MW(2, NULL, "one argument too many: c", "convert", "a", "b", "c");
    CHECK_MW(2, NULL, "--wrong", "info", "--wrong", "file");
    CHECK_MW(2, NULL, "--threads x: a whole number is expected", "bench", "file", "--threads", "x");
    CHECK_MW(2, NULL, "--threads -1 is not in 0 .. 1024", "bench", "file", "--threads", "-1");
    CHECK_MW(2, NULL, "none of auto, cpu, gpu, ane", "run", "file", "--device", "tpu");
    CHECK_MW(2, NULL, "is no shape", "run", "file", "--shape", "x=1,z");
    CHECK_MW(1, NULL, "cannot open", "tensors", "--", "--json");
}

/* The man page has every option that the help of a command has. */
static void test_man_page_and_help_agree(void)
{
    shell_result man = MW("man"), zsh = MW("completion", "zsh"), fish = MW("completion", "fish"),
                 bash = MW("completion", "bash");
    int options = 0;
    for (int i = 0; i < COMMANDS; i++) {
        char troff[64], plain[64];
        shell_result help = MW(commands[i], "--help");
        CHECK_INT(help.code, 0);
        snprintf(plain, sizeof plain, ".SS \"mw %s ", commands[i]);
        CHECK_CONTAINS(man.out, plain);
        for (const char *at = help.out; (at = strstr(at, " --")) != NULL; at++) {
            const size_t length = strspn(at + 3, "abcdefghijklmnopqrstuvwxyz-");
            snprintf(plain, sizeof plain, "--%.*s", (int)length, at + 3);
            size_t used = 0;
            for (const char *c = plain; *c != '\0' && used + 3 < sizeof troff; c++)
                used += (size_t)snprintf(troff + used, sizeof troff - used, *c == '-' ? "\\-" : "%c", *c);
            CHECK_CONTAINS(man.out, troff);
            CHECK_CONTAINS(bash.out, plain);
            CHECK_CONTAINS(zsh.out, plain);
            CHECK_CONTAINS(fish.out, plain + 2);
            options++;
        }
        shell_free(&help);
    }
    CHECK(options > 100);
    shell_free(&man);
    shell_free(&zsh);
    shell_free(&fish);
    shell_free(&bash);
    CHECK_MW(2, NULL, "not for \"tcsh\"", "completion", "tcsh");
}

/* A page that other programs read without a word, if they are there. */
static void test_the_man_page_is_one(void)
{
    static const char *const sections[] = {".SH EXAMPLES", ".SH FILES", ".SH ENVIRONMENT", ".SH EXIT STATUS"};
    shell_result man = MW("man");
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        CHECK_CONTAINS(man.out, sections[i]);
    folder_put("mw.1", man.out);
    shell_free(&man);
    const bool has_man = system("command -v man groff >/dev/null 2>&1") == 0,
               has_mandoc = system("command -v mandoc >/dev/null 2>&1") == 0;
    if (has_man)
        CHECK_INT(system("man --warnings -l ./mw.1 2>said >/dev/null; [ ! -s said ]"), 0);
    if (has_mandoc)
        CHECK_INT(system("mandoc -T lint ./mw.1 >said 2>&1; [ ! -s said ]"), 0);
    if (!has_man && !has_mandoc)
        SKIP("there is neither man with groff nor mandoc");
}

/* Every example begins with a command, and its options are that command's. */
static void test_examples_of_the_man_page_can_be_typed(void)
{
    shell_result man = MW("man");
    char *at = strstr(man.out, ".SH EXAMPLES"), *end = strstr(man.out, ".SH FILES");
    int examples = 0;
    REQUIRE(at != NULL && end != NULL);
    while ((at = strstr(at, "\\fBmw ")) != NULL && at < end) {
        char line[200], name[32];
        size_t used = 0;
        for (at += strlen("\\fBmw "); *at != '\n' && used + 1 < sizeof line; at++)
            if (*at != '\\')
                line[used++] = *at;
        line[used] = '\0';
        line[used - strlen("fR")] = '\0';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " "), line);
        shell_result help = MW("help", name);
        CHECK_INT(help.code, 0);
        for (const char *option = line; (option = strstr(option, " -")) != NULL; option++) {
            char given[40];
            snprintf(given, sizeof given, "%.*s%s", (int)strcspn(option + 1, " "), option + 1,
                     option[2] == '-' ? "" : ",");
            CHECK_CONTAINS(help.out, given);
        }
        shell_free(&help);
        examples++;
    }
    CHECK(examples > 8);
    shell_free(&man);
}

/* Each variable of the library's table has a line. */
static void test_the_man_page_has_the_variables_of_the_library(void)
{
    char path[512], line[2000], name[64];
    int names = 0;
    snprintf(path, sizeof path, "%s/../docs/environment.md", MW_TESTS_DIR);
    FILE *page = fopen(path, "r");
    REQUIRE(page != NULL);
    shell_result man = MW("man");
    while (fgets(line, sizeof line, page) != NULL && strcmp(line, "## Tests\n") != 0) {
        if (sscanf(line, "| `%63[A-Z0-9_]`", name) != 1 || strstr(line, "ane_e5rt") != NULL ||
            strcmp(name, "MILLWRIGHT_LIBRARY") == 0)
            continue;
        CHECK_CONTAINS(man.out, name);
        names++;
    }
    CHECK(names > 15);
    fclose(page);
    shell_free(&man);
}

static void test_topics_of_help_have_a_line_each(void)
{
    CHECK_MW(0, "mw help losses", NULL, "help");
    CHECK_MW(0, "\nhuber ", NULL, "help", "losses");
    CHECK_MW(0, "calibration_error", NULL, "help", "metrics");
    CHECK_MW(0, "sgd        learning_rate (0.01), momentum (0)", NULL, "help", "optimizers");
    CHECK_MW(0, "\ncategory ", NULL, "help", "columns");
    CHECK_MW(0, "dense ", NULL, "help", "layers");
    shell_result losses = MW("help", "losses");
    for (const char *at = losses.out; *at != '\0'; at += strcspn(at, "\n") + 1) /* nor a loss */
        CHECK(strcspn(at, " ") < strcspn(at, "\n"));
    shell_free(&losses);
    shell_result r = MW("help", "metrics");
    for (const char *at = r.out; *at != '\0'; at += strcspn(at, "\n") + 1) /* none without a text */
        CHECK(*at == '\n' || at[strcspn(at, "\n") - 1] == ':' || strcspn(at, " ") < strcspn(at, "\n"));
    shell_free(&r);
}

/* On a terminal, and not elsewhere; not with NO_COLOR. */
static void test_color_is_for_terminals(void)
{
    static const struct {
        const char *terminal, *none;
        bool colored;
    } rows[] = {{"xterm", NULL, true}, {"xterm", "", true}, {"xterm", "1", false}};
    const char *const words[] = {"doctor", "--help", NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("TERM", rows[i].terminal, 1);
        if (rows[i].none != NULL)
            setenv("NO_COLOR", rows[i].none, 1);
        else
            unsetenv("NO_COLOR");
        shell_result r = shell_mw_terminal(words, 80);
        CHECK(r.code == 0 && (strstr(r.out, "\x1b[") != NULL) == rows[i].colored);
        shell_free(&r);
        r = shell_mw(words);
        CHECK(strstr(r.out, "\x1b") == NULL);
        shell_free(&r);
    }
    unsetenv("NO_COLOR");
    unsetenv("TERM");
}

/* Advice of what is not in this folder would lead nowhere. */
static void test_doctor_advises_what_is_there(void)
{
    shell_result r = MW("doctor");
    CHECK_CONTAINS(r.out, "data/mnist is not there\n");
    CHECK((strstr(r.out, "apt-get") == NULL) || access("/usr/bin/apt-get", R_OK) == 0);
    shell_free(&r);
}

static void test_completion_of_bash_is_bash(void)
{
    shell_result r = MW("completion", "bash");
    folder_put("mw.bash", r.out);
    shell_free(&r);
    if (access("/bin/bash", X_OK) != 0)
        SKIP("there is no bash");
    const char *line = "bash -c 'source ./mw.bash; COMP_WORDS=(mw con); COMP_CWORD=1; _mw; "
                       "[ \"${COMPREPLY[*]}\" = convert ]; a=$?; COMP_WORDS=(mw bench --sec); COMP_CWORD=2; _mw; "
                       "[ $a = 0 ] && [ \"${COMPREPLY[*]}\" = --seconds ]'";
    CHECK_INT(system(line), 0);
    line =
        "bash -c 'source ./mw.bash; is() { _mw; [ \"${COMPREPLY[*]}\" = \"$1\" ] || { echo \"${COMPREPLY[*]}\"; exit "
        "1; "
        "}; }; COMP_WORDS=(mw train --loss h); COMP_CWORD=3; is huber; COMP_WORDS=(mw run m --device= a); "
        "COMP_WORDS=(mw run m --device = a); COMP_CWORD=5; is \"auto ane\"; COMP_WORDS=(mw run m -d g); COMP_CWORD=4; "
        "is gpu; COMP_WORDS=(mw new i); COMP_CWORD=2; is image; COMP_WORDS=(mw completion z); is zsh; "
        "COMP_WORDS=(mw help optim); is \"optimizers\"; COMP_WORDS=(mw train --epochs 1); COMP_CWORD=3; is \"\"; "
        "COMP_WORDS=(mw train --data mw.ba); is mw.bash'";
    CHECK_INT(system(line), 0);
}

static void test_completion_of_zsh_is_zsh(void)
{
    shell_result r = MW("completion", "zsh");
    folder_put("_mw", r.out);
    CHECK_CONTAINS(r.out, ":NAME:(cross_entropy mse l1 huber");
    CHECK_CONTAINS(r.out, "'2:word:(table sequence image");
    shell_free(&r);
    if (system("command -v zsh >/dev/null 2>&1") != 0)
        SKIP("there is no zsh");
    CHECK_INT(system("zsh -n ./_mw"), 0);
}

/* ---- output that nobody takes ---- */

static void test_a_closed_pipe_is_no_error_and_loses_no_work(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3))), "y");
    mw_graph_write(graph, "relu", NULL, &err);
    mw_graph_destroy(graph);
    shell_result r = shell_mw_unread((const char *const[]){"run", "relu", "--out", "y.npz", NULL});
    CHECK_INT(r.code, 141);
    CHECK_STR(r.errs, "");
    CHECK(access("y.npz", F_OK) == 0);
    shell_free(&r);
    r = shell_mw_unread((const char *const[]){"ops", NULL});
    CHECK_INT(r.code, 141);
    shell_free(&r);
}

static void test_a_full_disk_is_an_error(void)
{
    if (access("/dev/full", W_OK) != 0)
        SKIP("there is no /dev/full");
    char line[1200];
    snprintf(line, sizeof line, "%s ops >/dev/full 2>errors", MW_TOOL);
    CHECK_INT(system(line) >> 8, 1);
    CHECK(access("errors", F_OK) == 0);
    snprintf(line, sizeof line, "grep -q 'standard output: No space left' errors");
    CHECK_INT(system(line), 0);
}

static void test_no_terminal_is_needed_and_any_width_will_do(void)
{
    for (int columns = 0; columns <= 200; columns += 40) {
        shell_result r = shell_mw_terminal((const char *const[]){"info", "relu", NULL}, columns);
        CHECK_INT(r.code, 0);
        CHECK_CONTAINS(r.out, "output");
        shell_free(&r);
    }
}

/* ---- hostile files ---- */

static void test_hostile_files_are_refused_with_a_sentence(void)
{
    static const char *const readers[] = {"info",      "tensors", "run",  "bench",   "profile", "compare",
                                          "gradcheck", "check",   "plan", "inspect", "ranges"};
    static const char *const contents[] = {
        "", "{", "program(1.0)", "\x89PNG\r\n", "\x1f\x8b\x08", "PK\x03\x04", "\xff\xfe\x1b[2J"};
    static const char *const names[] = {"bad.mil", "bad.onnx",         "bad.safetensors", "bad.npz",
                                        "bad.hwx", "bad.espresso.net", "bad\x1b[31m.mil"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        for (size_t c = 0; c < sizeof contents / sizeof contents[0]; c++) {
            folder_put(names[n], contents[c]);
            for (size_t k = 0; k < sizeof readers / sizeof readers[0]; k++) {
                shell_result r = MW(readers[k], names[n]);
                check_note(r.code == 1 && strncmp(r.errs, "mw: ", 4) == 0 && strchr(r.errs, '\x1b') == NULL, __FILE__,
                           __LINE__, "mw %s %s with content %zu: code %d, \"%.100s\"", readers[k], names[n], c, r.code,
                           r.errs);
                shell_free(&r);
            }
        }
    }
}

static void test_an_error_is_in_the_json_too(void)
{
    shell_result r = MW("info", "gone.mil", "--json");
    CHECK_INT(r.code, 1);
    CHECK(shell_is_json(r.out));
    CHECK_CONTAINS(r.out, "\"error\": {\"kind\": \"file error\"");
    CHECK_CONTAINS(r.errs, "gone.mil");
    shell_free(&r);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_help_and_usage);
    RUN(test_man_page_and_help_agree);
    RUN(test_the_man_page_is_one);
    RUN(test_examples_of_the_man_page_can_be_typed);
    RUN(test_the_man_page_has_the_variables_of_the_library);
    RUN(test_topics_of_help_have_a_line_each);
    RUN(test_color_is_for_terminals);
    RUN(test_doctor_advises_what_is_there);
    RUN(test_completion_of_bash_is_bash);
    RUN(test_completion_of_zsh_is_zsh);
    RUN(test_a_closed_pipe_is_no_error_and_loses_no_work);
    RUN(test_a_full_disk_is_an_error);
    RUN(test_no_terminal_is_needed_and_any_width_will_do);
    RUN(test_hostile_files_are_refused_with_a_sentence);
    RUN(test_an_error_is_in_the_json_too);
    folder_leave(folder);
    return check_finish();
}
