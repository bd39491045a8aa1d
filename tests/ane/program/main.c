/* check_ane: what an e5rt library does beside the engine (`./run check-ane`). */
#include "check.h"
#include "library.h"
#include "question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int usage(void)
{
    fputs("usage: check_ane [--library PATH] [--report FILE] [--only SECTION] [--seconds N]\n"
          "Tries the functions of e5rt, operations and training steps on Espresso, or on the library of PATH, each in\n"
          "a process of its own, beside the engine. Sections: symbols client questions operations training times. An "
          "item\n"
          "that says nothing for N seconds (60) hangs. check_ane --list prints the questions.\n",
          stderr);
    return 2;
}

static bool read_options(int argc, char **argv, ane_request *request)
{
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            return false;
        if (strcmp(argv[i], "--library") == 0)
            setenv("MW_E5RT_LIBRARY", argv[i + 1], 1);
        else if (strcmp(argv[i], "--report") == 0)
            request->report = argv[i + 1];
        else if (strcmp(argv[i], "--only") == 0)
            request->only = argv[i + 1];
        else if (strcmp(argv[i], "--seconds") == 0 && atoi(argv[i + 1]) > 0)
            request->seconds = atoi(argv[i + 1]);
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    ane_request request = {.program = argv[0], .report = "check-ane.txt", .seconds = 60};
    if (argc == 4 && strcmp(argv[1], "--child") == 0)
        return ane_child(argv[2], (size_t)strtoull(argv[3], NULL, 10));
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return question_list();
    if (!read_options(argc, argv, &request))
        return usage();
    if (library_path() == NULL) {
        fputs("Espresso is on a Mac; name another e5rt library with --library\n", stderr);
        return 1;
    }
    return ane_check(&request);
}
