/* The test frame: a test is a function, a file is a CTest executable, and each prints its own count.
 *
 *     static void test_add_broadcasts(void) { REQUIRE(graph != NULL); CHECK_INT(rank, 2); }
 *     int main(void) { RUN(test_add_broadcasts); return check_finish(); }
 *
 * CHECK notes a failure and goes on; REQUIRE notes it and leaves the function. SKIP says why a test could not run. */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct check_state {
    const char *test;
    int passed, failed, skipped;
    int failures_here;
    bool skipped_here;
} check_state;

extern check_state check_global;

void check_begin(const char *test);
void check_end(void);
int check_finish(void); /* prints "N passed, N failed[, N skipped]"; 0 if none failed */
bool check_note(bool good, const char *file, int line, const char *format, ...) __attribute__((format(printf, 4, 5)));
bool check_int(long long actual, long long expected, const char *file, int line, const char *text);
bool check_near(double actual, double expected, double tolerance, const char *file, int line, const char *text);
bool check_str(const char *actual, const char *expected, const char *file, int line, const char *text);
bool check_contains(const char *actual, const char *part, const char *file, int line, const char *text);
void check_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifndef RUN /* tests that are run by another program have one of their own */
#define RUN(test)                                                                                                      \
    do {                                                                                                               \
        check_begin(#test);                                                                                            \
        test();                                                                                                        \
        check_end();                                                                                                   \
    } while (0)
#endif

#define CHECK(condition) check_note((condition), __FILE__, __LINE__, "%s", #condition)
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!CHECK(condition))                                                                                         \
            return;                                                                                                    \
    } while (0)
#define CHECK_INT(actual, expected) check_int((long long)(actual), (long long)(expected), __FILE__, __LINE__, #actual)
#define CHECK_NEAR(actual, expected, tolerance)                                                                        \
    check_near((double)(actual), (double)(expected), (double)(tolerance), __FILE__, __LINE__, #actual)
#define CHECK_STR(actual, expected)  check_str((actual), (expected), __FILE__, __LINE__, #actual)
#define CHECK_CONTAINS(actual, part) check_contains((actual), (part), __FILE__, __LINE__, #actual)
/* The error is set with that status and its message contains the part. */
#define CHECK_ERROR(err, wanted, part)                                                                                 \
    check_note((err).status == (wanted) && strstr((err).message, (part)) != NULL, __FILE__, __LINE__,                  \
               "error is %d \"%s\", not %d with \"%s\"", (int)(err).status, (err).message, (int)(wanted), (part))
#define CHECK_OK(err)                                                                                                  \
    check_note((err).status == 0, __FILE__, __LINE__, "error %d: %s", (int)(err).status, (err).message)
#define SKIP(...)                                                                                                      \
    do {                                                                                                               \
        check_skip(__VA_ARGS__);                                                                                       \
        return;                                                                                                        \
    } while (0)

#endif
