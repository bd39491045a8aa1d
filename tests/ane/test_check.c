/* check_ane against the engine's own library, and against libraries that crash, hang and lack functions: each of that
 * is a line of the report, and what comes behind it is tried all the same. */
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"

#include <stdlib.h>
#include <sys/wait.h>

#ifdef MW_CHECK_ANE

static char report[1 << 20];

static int exit_status(const char *command)
{
    const int status = system(command); // NOLINT(cert-env33-c)
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void run_check(const char *library, const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "'%s' --library '%s' --report report.txt %s > out.txt 2>&1", MW_CHECK_ANE,
             library, arguments);
    const int status = exit_status(command);
    check_note(status == 0, __FILE__, __LINE__, "%s: status %d", command, status);
    FILE *file = fopen("report.txt", "rb");
    memset(report, 0, sizeof report);
    if (file != NULL) {
        report[fread(report, 1, sizeof report - 1, file)] = '\0';
        fclose(file);
    }
}

/* Lines that begin with the status. */
static size_t lines_of(const char *status)
{
    size_t count = 0;
    const size_t length = strlen(status);
    for (const char *at = report; (at = strchr(at, '\n')) != NULL;)
        count += strncmp(++at, status, length) == 0 && at[length] == ' ';
    return count;
}

static void test_the_engines_library_is_as_it_says(void)
{
    run_check(MW_E5RT_LIBRARY, "--only symbols");
    CHECK(lines_of("ok") > 200);
    CHECK_INT(lines_of("absent") + lines_of("failed") + lines_of("crashed") + lines_of("hung"), 0);
    run_check(MW_E5RT_LIBRARY, "--only client");
    CHECK(lines_of("ok") > 10);
    CHECK_INT(lines_of("failed") + lines_of("crashed") + lines_of("hung"), 0);
    run_check(MW_E5RT_LIBRARY, "--only times");
    CHECK(lines_of("ok") == 3 && strstr(report, " ms, run ") != NULL);
}

/* What it computes is the model of h17; what it refuses, it refuses with a reason. */
static void test_the_engines_library_equals_the_engine(void)
{
    run_check(MW_E5RT_LIBRARY, "--only operations");
    CHECK(lines_of("equal") > 200);
    CHECK_INT(lines_of("near") + lines_of("differs") + lines_of("failed") + lines_of("crashed") + lines_of("hung"), 0);
    for (const char *at = report; (at = strstr(at, "\nequal ")) != NULL; at++)
        check_note(strstr(at + 1, "to h17") != NULL && strstr(at + 1, "to h17") < strchr(at + 1, '\n'), __FILE__,
                   __LINE__, "%.100s", at + 1);
    run_check(MW_E5RT_LIBRARY, "--only training");
    CHECK(lines_of("equal") + lines_of("absent") == 9);
}

static void test_a_crash_and_a_hang_are_results(void)
{
    run_check(MW_E5RT_LIBRARY, "--only client");
    const size_t all = lines_of("ok");
    run_check(MW_FAKE_BAD, "--only client --seconds 2");
    CHECK_CONTAINS(report, "crashed  client / an_event_needs_a_name: ");
    CHECK_CONTAINS(report, "hung     client / there_are_three_types_of_buffers: nothing for 2 seconds");
    CHECK_INT(lines_of("crashed"), 1);
    CHECK_INT(lines_of("hung"), 1);
    CHECK_INT(lines_of("ok"), all - 2);
}

static void test_a_function_that_is_missing_is_named(void)
{
    run_check(MW_FAKE_LACKING, "--only symbols");
    CHECK_INT(lines_of("ok"), 1);
    CHECK_CONTAINS(report, "absent   symbols / e5rt_e5_compiler_create: confidence A");
    run_check(MW_FAKE_LACKING, "--only client");
    CHECK_CONTAINS(report, "failed   client / (all): ");
    CHECK_CONTAINS(report, "no e5rt_e5_compiler_config_options_create");
    run_check(MW_FAKE_LACKING, "--only times");
    CHECK_CONTAINS(report, "refused  times / ");
    CHECK_CONTAINS(report, "e5rt_e5_compiler");
    run_check("./none.so", "--only symbols");
    CHECK(lines_of("failed") > 200);
}

static void test_wrong_arguments_are_answered(void)
{
    CHECK_INT(exit_status("'" MW_CHECK_ANE "' --no > out.txt 2>&1"), 2);
    CHECK_INT(exit_status("'" MW_CHECK_ANE "' --seconds 0 > out.txt 2>&1"), 2);
    CHECK_INT(exit_status("'" MW_CHECK_ANE "' --library x --report /none/x > out.txt 2>&1"), 1);
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
    RUN(test_the_engines_library_is_as_it_says);
    RUN(test_the_engines_library_equals_the_engine);
    RUN(test_a_crash_and_a_hang_are_results);
    RUN(test_a_function_that_is_missing_is_named);
    RUN(test_wrong_arguments_are_answered);
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
