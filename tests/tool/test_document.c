/* docs/tool.md is what mw says of itself. MW_UPDATE_GOLDENS=1 writes it anew. */
#include "support/check.h"
#include "support/page.h"
#include "tool/shell.h"

#include <stdlib.h>

enum { LIMIT = 1 << 18 };

static const char head[] =
    "# mw\n"
    "\n"
    "The library from the shell, installed with it: `mw COMMAND --help`, `man mw`, completion for bash, zsh and fish.\n"
    "What `mw` does, a C program can do by the public headers.\n"
    "\n"
    "`--json` gives the answer of any command as one JSON object; an error is then a member `error` with `kind`, "
    "`status`\n"
    "and `message`, and is said on standard error, too. Progress is shown on a terminal only. On a terminal some\n"
    "words are colored, unless `NO_COLOR` is set or `TERM` is `dumb`.\n"
    "\n"
    "| exit code | |\n"
    "|---|---|\n"
    "| 0 | done |\n"
    "| 1 | an error: one sentence on standard error |\n"
    "| 2 | a wrong option or argument |\n"
    "| 3 | it was done, and the answer is no: differs, refused, not passed |\n"
    "| 130, 143 | stopped by SIGINT or SIGTERM, after saving |\n"
    "| 141 | nobody reads standard output any more; what was asked for besides is done |\n"
    "\n"
    "This file is written by its test (`tests/tool/test_document.c`).\n";

/* The words behind two blanks at the start of a line. */
static size_t next_command(const char **at, char *out, size_t size)
{
    const char *line = strstr(*at, "\n  ");
    if (line == NULL)
        return 0;
    const size_t length = strcspn(line + 3, " ");
    snprintf(out, size, "%.*s", (int)length, line + 3);
    *at = line + 3;
    return length;
}

static void test_the_document_is_what_the_tool_says(void)
{
    char path[512], name[64], *text = calloc(1, LIMIT);
    REQUIRE(text != NULL);
    shell_result all = MW("help");
    size_t used = (size_t)snprintf(text, LIMIT, "%s", head);
    const char *at = all.out;
    while (next_command(&at, name, sizeof name) > 0 && strcmp(name, "mw") != 0) {
        shell_result help = MW("help", name);
        CHECK_INT(help.code, 0);
        used += (size_t)snprintf(text + used, LIMIT - used, "\n## mw %s\n\n```\n%s```\n", name, help.out);
        shell_free(&help);
    }
    shell_free(&all);
    snprintf(path, sizeof path, "%s/../docs/tool.md", MW_TESTS_DIR);
    page_check(path, text);
    free(text);
}

int main(void)
{
    RUN(test_the_document_is_what_the_tool_says);
    return check_finish();
}
