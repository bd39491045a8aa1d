/* The training step of each example, for M1 to M5: docs/chip_training.md, which MW_UPDATE_GOLDENS=1 writes anew. */
#include "support/check.h"
#include "support/chip/summary.h"
#include "support/chip/training_programs.h"
#include "support/folder.h"
#include "support/page.h"

#include <millwright/inspect.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PAGE_MAX = 1 << 15 };

static const char head[] =
    "# Training steps on each chip\n"
    "\n"
    "This page applies the rules of [chip_legality.md](chip_legality.md) to the training programs of `examples/`\n"
    "as `mw_program_create` writes them. For `hvp`, the program computes the product with the Hessian. A step\n"
    "passes if no rule refuses it. A warned operation runs, but not as it should, or sources disagree on whether\n"
    "it runs. Each number counts how often a rule holds. This file is written by its test\n"
    "(`tests/rules/test_training_programs.c`), which also compiles each step for each chip.\n"
    "\n"
    "| example | chip | passes | findings |\n"
    "|---|---|---|---|\n";

static size_t put_example(const training_example *e, char *out, size_t size)
{
    static char line[SUMMARY_MAX];
    size_t used = 0;
    training_run(e);
    if (!check_note(training_last.graph != NULL, __FILE__, __LINE__, "%s: no program", e->name))
        return 0;
    for (int i = 0; i < 5; i++) {
        mw_error err = {0};
        mw_chip_report *report = mw_chip_report_create(training_last.graph, (mw_chip)(MW_CHIP_H13 + i), NULL, &err);
        CHECK_OK(err);
        summary_of(report, line);
        const bool passes = mw_chip_report_get_info(report).passes;
        check_note(passes == training_last.compiles[i], __FILE__, __LINE__,
                   "%s on h%d: the check says %d, compiling %s", e->name, MW_CHIP_H13 + i, passes,
                   training_last.why[i]);
        used += (size_t)snprintf(out + used, size - used, "| %s | %s | %s | %s |\n", i == 0 ? e->name : "",
                                 mw_chip_name((mw_chip)(MW_CHIP_H13 + i)), passes ? "yes" : "no", line);
        mw_chip_report_destroy(report);
    }
    return used;
}

static void test_the_table_of_training_steps_is_that_of_the_examples(void)
{
    struct stat found;
    static char text[PAGE_MAX];
    if (stat(MW_DATA_DIR "/mnist", &found) != 0 || stat("/usr/share/common-licenses", &found) != 0)
        SKIP("no MNIST or no licenses");
    char work[512];
    REQUIRE(folder_enter(work));
    size_t used = (size_t)snprintf(text, sizeof text, "%s", head);
    for (size_t i = 0; i < training_example_count; i++)
        used += put_example(&training_examples[i], text + used, sizeof text - used);
    mw_graph_destroy(training_last.graph);
    folder_leave(work);
    char path[512];
    snprintf(path, sizeof path, "%s/../docs/chip_training.md", MW_TESTS_DIR);
    page_check(path, text);
}

int main(void)
{
    RUN(test_the_table_of_training_steps_is_that_of_the_examples);
    return check_finish();
}
