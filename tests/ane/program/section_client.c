/* The sequence of a client and the documented misuse: the tests of tests/client/test_e5rt.c, one item each. */
#include "library.h"
#include "section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its RUN asks here, its main is client_main: once to list the tests, then to run one. */
static void visit(const char *name, void (*test)(void));
static int client_main(void);

#define RUN(test) visit(#test, test)
#define main      client_main
#include "client/test_e5rt.c" // NOLINT(bugprone-suspicious-include)
#undef main

enum { TESTS_MAX = 64 };

static const char *names[TESTS_MAX];
static size_t name_count, wanted = TESTS_MAX;

static void visit(const char *name, void (*test)(void))
{
    if (wanted == TESTS_MAX) {
        if (name_count < TESTS_MAX)
            names[name_count++] = name;
        return;
    }
    if (strcmp(name, names[wanted]) != 0)
        return;
    check_begin(name);
    test();
    check_end();
}

static const char *item(size_t index)
{
    if (name_count == 0)
        client_main();
    return index < name_count ? names[index] + strlen("test_") : NULL;
}

static void run(size_t index, ane_result *out)
{
    if (item(index) == NULL)
        return;
    wanted = index;
    const int failed = check_global.failed;
    client_main();
    ane_say(out, check_global.failed == failed && check_global.passed > 0 ? "ok" : "failed", "%s", "");
}

const ane_section ane_client = {"client", item, run};
