/* Counting and printing for check.h. */
#include "support/check.h"

#include <stdarg.h>

check_state check_global;

void check_begin(const char *test)
{
    check_global.test = test;
    check_global.failures_here = 0;
    check_global.skipped_here = false;
}

void check_end(void)
{
    if (check_global.failures_here > 0)
        check_global.failed++;
    else if (check_global.skipped_here)
        check_global.skipped++;
    else
        check_global.passed++;
    if (!check_global.skipped_here || check_global.failures_here > 0)
        printf("%s %s\n", check_global.failures_here > 0 ? "FAILED" : "ok    ", check_global.test);
    fflush(stdout);
}

int check_finish(void)
{
    printf("%d passed, %d failed", check_global.passed, check_global.failed);
    if (check_global.skipped > 0)
        printf(", %d skipped", check_global.skipped);
    printf("\n");
    return check_global.failed > 0;
}

bool check_note(bool good, const char *file, int line, const char *format, ...)
{
    if (good)
        return true;
    check_global.failures_here++;
    if (check_global.failures_here > 20)
        return false; /* the first twenty tell enough */
    va_list arguments;
    va_start(arguments, format);
    printf("%s:%d: %s: ", file, line, check_global.test);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    return false;
}

bool check_int(long long actual, long long expected, const char *file, int line, const char *text)
{
    return check_note(actual == expected, file, line, "%s is %lld, not %lld", text, actual, expected);
}

bool check_near(double actual, double expected, double tolerance, const char *file, int line, const char *text)
{
    return check_note(fabs(actual - expected) <= tolerance, file, line, "%s is %.9g, not %.9g within %.3g", text,
                      actual, expected, tolerance);
}

bool check_str(const char *actual, const char *expected, const char *file, int line, const char *text)
{
    return check_note(strcmp(actual, expected) == 0, file, line, "%s is \"%s\", not \"%s\"", text, actual, expected);
}

bool check_contains(const char *actual, const char *part, const char *file, int line, const char *text)
{
    return check_note(strstr(actual, part) != NULL, file, line, "%s is \"%s\", without \"%s\"", text, actual, part);
}

void check_skip(const char *format, ...)
{
    check_global.skipped_here = true;
    va_list arguments;
    va_start(arguments, format);
    printf("skipped %s: ", check_global.test);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}
