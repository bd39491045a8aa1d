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
    "No chip was available when this library was made. Its model of the ANE's arithmetic and limits uses the\n"
    "measurements of others. For most chips a part of them is missing. `./run check-ane` on a Mac measures\n"
    "the rest and writes one file, `check-ane.txt`. This page describes that file and how to send it. The\n"
    "page is written by its test (`tests/ane/test_questions.c`) from the tables of\n"
    "`tests/ane/program/questions_*.c`. So far the project has received no report of a chip.\n"
    "\n"
    "## Making one\n"
    "\n"
    "```\n"
    "./run check-ane                      # everything, some minutes\n"
    "./run check-ane --only questions     # the table below alone\n"
    "```\n"
    "\n"
    "Each item runs in its own process. If an item crashes or hangs, the next item still runs. The command\n"
    "installs nothing, sends nothing, and writes only inside the build folder and a temporary folder.\n"
    "\n"
    "## What is in it\n"
    "\n"
    "- The library's path, the system's name and release, the processor's name and the Mac's model, the\n"
    "  version of macOS, and the version of this library. It contains no serial number and no file of yours.\n"
    "  A message may name the temporary folder. Read the file before you send it.\n"
    "- A line for each item: status, section, item, detail.\n"
    "- The state of each switch of `src/rules/arithmetic.def` ([chip.md](chip.md)): on, off, *both* with the\n"
    "  questions that disagree, or no answer.\n"
    "- The nearest profile of a chip, with the switches in which the answers contradict it.\n"
    "- The number of items with each status.\n"
    "\n"
    "| status of a question | meaning |\n"
    "|---|---|\n"
    "| settled | the answer is one of those below, and sets switches on or off |\n"
    "| told | a number that no switch covers: a table, an order |\n"
    "| new | the answer is not among those below. These lines are worth most |\n"
    "| taken, refused | whether the chip's compiler accepts the program, with its message |\n"
    "| failed, crashed, hung | the item gave no answer |\n"
    "\n"
    "For example, a line `questions / tie by matmul: 2048 + 1: 2050 (0x6802) -> product_fixed_point on` has\n"
    "this meaning: the sum by matmul is 2050, the fp16 number 0x6802. This is the result where products are\n"
    "added in fixed point. Each question about products runs as a 1x1 conv, as a matmul and as a linear. If\n"
    "they differ, the summary shows *both*.\n"
    "\n"
    "## Sending it\n"
    "\n"
    "Open an issue with the chip's name in its title (\"check-ane: M5, macOS 26.1\"). Paste the file, or attach\n"
    "it if it is too long. The output of `--only questions` is short enough to paste. If two runs differ,\n"
    "they are two reports: send both. A result that a report settles becomes a row of `arithmetic.def`,\n"
    "`facts.def` or of the limits, with the issue as its source.\n"
    "\n"
    "## Without a Mac\n"
    "\n"
    "The same questions run on the engine's model. Its answers come from the profile, and do not describe a\n"
    "chip:\n"
    "\n"
    "```\n"
    "MW_ENGINE_PROFILE=h16 ./run check-ane --only questions --library build/release/libmillwright_e5rt.so\n"
    "```\n"
    "\n"
    "The test does this for h13 to h17, h18g and ieee. It checks every answer against the switches of the\n"
    "profile. It also flips each switch to check that a question notices.\n"
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
