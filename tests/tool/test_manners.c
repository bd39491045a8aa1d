/* How mw behaves as a program: options, exit codes, help and man page from one table, closed pipes, full disks, hostile
 * files. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const commands[] = {
    "info",    "ops",       "tensors", "convert", "average", "run",      "bench",  "profile",
    "compare", "gradcheck", "check",   "plan",    "inspect", "doctor",   "man",    "completion",
    "train",   "finetune",  "draw",    "plot",    "report",  "replay",   "ranges", "passes",
    "tokens",  "generate",  "embed",   "sweep",   "predict", "evaluate", "package"};
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
    RUN(test_completion_of_bash_is_bash);
    RUN(test_a_closed_pipe_is_no_error_and_loses_no_work);
    RUN(test_a_full_disk_is_an_error);
    RUN(test_no_terminal_is_needed_and_any_width_will_do);
    RUN(test_hostile_files_are_refused_with_a_sentence);
    RUN(test_an_error_is_in_the_json_too);
    folder_leave(folder);
    return check_finish();
}
