/* Every real program of the shared corpus has a report for M1 to M5: tests/rules/golden/<program>.txt, which
 * MW_UPDATE_GOLDENS=1 writes anew. Texts alone are read, without weights. */
#include "support/check.h"
#include "support/chip/summary.h"
#include "support/page.h"

#include <stdlib.h>
#include <string.h>

enum { REPORT_MAX = 6 * SUMMARY_MAX };

static void check_program(const char *folder)
{
    char path[1600];
    static char report[REPORT_MAX];
    mw_error err = {0};
    snprintf(path, sizeof path, "%s/mil/%s/model.mil", MW_SHARED_DATA, folder);
    char *text = page_read(path);
    mw_graph *graph = text != NULL ? mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err) : NULL;
    check_note(graph != NULL, __FILE__, __LINE__, "%s: %s", folder, err.message);
    if (graph != NULL)
        summary_of_chips(graph, report, sizeof report);
    mw_graph_destroy(graph);
    free(text);
    snprintf(path, sizeof path, "%s/rules/golden/%s.txt", MW_TESTS_DIR, folder);
    page_check(path, report);
}

static void test_every_program_has_its_report(void)
{
    char line[1024];
    int count = 0;
    FILE *file = fopen(MW_SHARED_DATA "/mil/INDEX.tsv", "r");
    if (file == NULL)
        SKIP("no shared programs");
    for (bool header = true; fgets(line, sizeof line, file) != NULL; header = false) {
        line[strcspn(line, "\t")] = '\0';
        if (!header)
            check_program(line);
        count += !header;
    }
    fclose(file);
    CHECK(count >= 44);
}

int main(void)
{
    RUN(test_every_program_has_its_report);
    return check_finish();
}
