/* The questions of check_ane on the engine's model of each chip: their answers name the switches of the profile. And
 * docs/chip_reports.md, which lists them. */
#include "rules/arithmetic.h"
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"
#include "support/page.h"
#include "support/setting.h"

#include <stdlib.h>
#include <sys/wait.h>

#ifdef MW_CHECK_ANE

enum { LIMIT = 1 << 17 };

static char report[LIMIT];

static void read_file(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "rb");
    memset(out, 0, size);
    if (file == NULL)
        return;
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void run_command(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "'%s' %s > out.txt 2>&1", MW_CHECK_ANE, arguments);
    const int status = system(command); // NOLINT(cert-env33-c)
    check_note(WIFEXITED(status) && WEXITSTATUS(status) == 0, __FILE__, __LINE__, "%s: status %d", command, status);
}

static void ask(const char *library, const char *profile)
{
    char arguments[1024];
    snprintf(arguments, sizeof arguments, "--library '%s' --report report.txt --only questions", library);
    setting_begin("MW_ENGINE_PROFILE", profile);
    run_command(arguments);
    setting_end("MW_ENGINE_PROFILE");
    read_file("report.txt", report, sizeof report);
}

static size_t lines_of(const char *status)
{
    size_t count = 0;
    const size_t length = strlen(status);
    for (const char *at = report; (at = strchr(at, '\n')) != NULL;)
        count += strncmp(++at, status, length) == 0 && at[length] == ' ';
    return count;
}

static int find_switch(const char *name)
{
    for (int i = 0; i < MW__SWITCH_COUNT; i++)
        if (strcmp(mw__switch_rows()[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- answers ---- */

/* "-> product_ceiling on, product_drops off; ..": what a line says of switches, beside the profile. */
static size_t check_line(const char *line, const char *profile, mw__arithmetic set)
{
    size_t count = 0;
    char name[64], state[8];
    int read = 0;
    const char *end = line + strcspn(line, "\n"), *at = strstr(line, " -> ");
    for (at = at != NULL && at < end ? at + 4 : end; at < end; at += read) {
        if (sscanf(at, "%63[a-z_0-9] %7[a-z]%n", name, state, &read) != 2)
            break;
        const int id = find_switch(name);
        if (CHECK(id >= 0))
            check_note((strcmp(state, "on") == 0) == (set >> id & 1), __FILE__, __LINE__, "%s: %.*s", profile,
                       (int)(end - line), line);
        count++;
        read += (int)strspn(at + read, ",") + (int)strspn(at + read + strspn(at + read, ","), " ");
    }
    return count;
}

static void check_answers(const char *profile)
{
    mw__arithmetic set;
    mw_error err = {0};
    size_t said = 0;
    char nearest[64];
    REQUIRE(mw__arithmetic_parse(profile, &set, &err) == MW_OK);
    ask(MW_E5RT_LIBRARY, profile);
    for (const char *at = report; (at = strstr(at, "\nsettled ")) != NULL;)
        said += check_line(++at, profile, set);
    CHECK(said > 50);
    check_note(lines_of("new") + lines_of("failed") + lines_of("crashed") + lines_of("hung") == 0, __FILE__, __LINE__,
               "%s: %s", profile, report);
    CHECK(strstr(report, "both: on by") == NULL && strstr(report, "no answer") == NULL);
    snprintf(nearest, sizeof nearest, "nearest profile      %s\n", profile);
    CHECK(profile[0] != 'h' || strstr(report, nearest) != NULL);
    CHECK_CONTAINS(report, profile[0] == 'h' ? profile : "ieee: the engine's model");
}

static void test_answers_name_the_switches_of_the_profile(void)
{
    static const char *const profiles[] = {"h13", "h14", "h15", "h16", "h17", "h18g", "ieee"};
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        check_answers(profiles[i]);
}

/* A chip that differs in one switch from the nearest profile is told by that one. */
static void test_every_switch_is_settled_by_a_question(void)
{
    mw__arithmetic set;
    mw_error err = {0};
    for (int i = 0; i < MW__SWITCH_COUNT; i++) {
        const char *name = mw__switch_rows()[i].name, *base = strcmp(name, "product_drops") == 0 ? "h16" : "h17";
        char profile[96], line[64];
        mw__arithmetic_parse(base, &set, &err);
        const bool on = (set >> i & 1) == 0;
        snprintf(profile, sizeof profile, "%s,%s%s", base, on ? "" : "-", name);
        ask(MW_E5RT_LIBRARY, profile);
        snprintf(line, sizeof line, "\n%-20s %s, by ", name, on ? "on" : "off");
        check_note(strstr(report, line) != NULL, __FILE__, __LINE__, "%s: no line \"%s\"", profile, line + 1);
    }
}

static void test_limits_are_taken_or_refused(void)
{
    ask(MW_E5RT_LIBRARY, "h17");
    CHECK(lines_of("taken") + lines_of("refused") == 19);
    CHECK_CONTAINS(report, "taken    questions / conv_1x15: conv of 1x15, same; as M4 and M6 take it\n");
    CHECK_CONTAINS(report, "refused  questions / conv_17x17: conv of 17x17, same; as M4 and M6 refuse it: ");
    CHECK_CONTAINS(report, "questions / max_pool_9x9");
    CHECK_CONTAINS(report, "questions / matmul_40000");
}

static void test_a_library_that_lacks_functions_answers_nothing(void)
{
    ask(MW_FAKE_LACKING, "h17");
    CHECK(lines_of("refused") > 100);
    CHECK_INT(lines_of("settled") + lines_of("told") + lines_of("new") + lines_of("taken"), 0);
    CHECK(strstr(report, "What the answers settle") == NULL);
}

/* ---- the document ---- */

static const char head[] =
    "# Reports from a Mac\n"
    "\n"
    "No chip was at hand when this library was made: what it says of the ANE's arithmetic and limits is what others\n"
    "measured, and for most chips a part of that is missing. `./run check-ane` on a Mac asks for the rest and writes "
    "one\n"
    "file, `check-ane.txt`. This page says what stands in it and how to send it. It is written by its test\n"
    "(`tests/ane/test_questions.c`) from the tables of `tests/ane/program/questions_*.c`. No report of a chip was "
    "received\n"
    "so far.\n"
    "\n"
    "## Making one\n"
    "\n"
    "```\n"
    "./run check-ane                      # everything, some minutes\n"
    "./run check-ane --only questions     # the table below alone\n"
    "```\n"
    "\n"
    "Each item runs in a process that may crash or hang; the next item goes on. Nothing is installed, no file outside "
    "the\n"
    "build folder and a temporary folder is written, and nothing is sent.\n"
    "\n"
    "## What is in it\n"
    "\n"
    "- the library's path, the system's name and release, the processor's name and the Mac's model, the version of "
    "macOS, and\n"
    "  the version of this library. No serial number and no file of yours; a message may name the temporary folder. "
    "Read it\n"
    "  before you send it.\n"
    "- a line for each item: status, section, item, detail.\n"
    "- what the answers settle: each switch of `src/rules/arithmetic.def` ([chip.md](chip.md)) as on, off, *both* with "
    "the\n"
    "  questions that disagree, or without an answer; and the profile of a chip that is nearest, with the switches in "
    "which\n"
    "  the answers contradict it.\n"
    "- how many items ended with which status.\n"
    "\n"
    "| status of a question | meaning |\n"
    "|---|---|\n"
    "| settled | the answer is among those below, and says how switches stand |\n"
    "| told | a number that no switch stands for: a table, an order |\n"
    "| new | no answer below is this one. These lines are worth most |\n"
    "| taken, refused | whether the chip's compiler takes the program, with its message |\n"
    "| failed, crashed, hung | the item could not be asked |\n"
    "\n"
    "A line `questions / tie by matmul: 2048 + 1: 2050 (0x6802) -> product_fixed_point on` is: the sum by matmul is "
    "2050, the\n"
    "fp16 number 0x6802, as where products are added in fixed point. Products are asked by a 1x1 conv, by matmul and "
    "by linear;\n"
    "where these differ the summary says *both*.\n"
    "\n"
    "## Sending it\n"
    "\n"
    "Open an issue with the chip's name in its title (\"check-ane: M5, macOS 26.1\") and paste the file, or attach it "
    "where it\n"
    "is too long. `--only questions` is short enough to paste. Two runs that differ are two reports: send both. What a "
    "report\n"
    "settles becomes a row of `arithmetic.def`, `facts.def` or of the limits, with the issue as its source.\n"
    "\n"
    "## Without a Mac\n"
    "\n"
    "The same questions run on the engine's model, whose answers are those of the profile and say nothing of a chip:\n"
    "\n"
    "```\n"
    "MW_ENGINE_PROFILE=h16 ./run check-ane --only questions --library build/release/libmillwright_e5rt.so\n"
    "```\n"
    "\n"
    "The test does so for h13 to h17, h18g and ieee, holds every answer to the switches of the profile, and turns each "
    "switch\n"
    "to see that a question notices.\n"
    "\n"
    "## The questions\n";

static void test_the_document_lists_the_questions(void)
{
    page p = page_make(LIMIT);
    run_command("--list");
    read_file("out.txt", report, sizeof report);
    page_put(&p, "%s%s", head, report);
    REQUIRE(p.text != NULL);
    page_check(MW_TESTS_DIR "/../docs/chip_reports.md", p.text);
    page_free(&p);
}

int main(void)
{
    char folder[512];
    if (!child_can_start(MW_CHECK_ANE)) {
        puts("skipped: an emulator starts no other program");
        return check_finish();
    }
    if (!folder_enter(folder))
        return 1;
    RUN(test_answers_name_the_switches_of_the_profile);
    RUN(test_every_switch_is_settled_by_a_question);
    RUN(test_limits_are_taken_or_refused);
    RUN(test_a_library_that_lacks_functions_answers_nothing);
    RUN(test_the_document_lists_the_questions);
    folder_leave(folder);
    return check_finish();
}

#else

int main(void)
{
    puts("skipped: built without the engine's own library");
    return check_finish();
}

#endif
