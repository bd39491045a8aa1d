/* ONNX's own tests (Debian's libonnx-testdata) against the list onnx_nodes.txt: which pass, which are out of scope and
 * for which of the reasons that docs/onnx.md fixes. Nothing may fail. `test_format_onnx_nodes --list` prints the list
 * as it is now, `--texts FILE` writes what each model becomes. */
#include "onnx_case.h"
#include "support/check.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const reasons[] = {"string", "sequence", "optional", "bfloat16", "training",
                                      "random", "signal",   "extent",   "opset"};

static bool is_reason(const char *word)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reasons[i], word) == 0)
            return true;
    return false;
}

static const char *outcome_name(onnx_outcome outcome)
{
    static const char *const names[] = {"passed", "bound", "open", "failed"};
    return names[outcome];
}

typedef struct tally {
    int passed, open, outside, failed;
} tally;

/* One line of the list: "node/test_abs passed". */
static void check_line(const char *name, const char *recorded, bool list, tally *sum)
{
    char folder[512], why[600];
    snprintf(folder, sizeof folder, ONNX_CASES "/%s", name);
    const onnx_outcome outcome = onnx_case_run(folder, why, sizeof why);
    const bool outside = is_reason(recorded) && outcome == ONNX_REFUSED;
    if (list)
        printf("%s %s%s%s\n", name, outside ? recorded : outcome_name(outcome), why[0] != '\0' ? " # " : "", why);
    sum->passed += outcome == ONNX_PASSED || outcome == ONNX_BOUND;
    sum->failed += outcome == ONNX_FAILED;
    sum->outside += outside;
    sum->open += outcome == ONNX_REFUSED && !outside;
    if (!list)
        check_note(outside || strcmp(outcome_name(outcome), recorded) == 0, __FILE__, __LINE__,
                   "%s is %s, not %s as recorded: %s", name, outcome_name(outcome), recorded, why);
}

static void go_through(bool list, tally *sum)
{
    char line[256], name[160], recorded[32];
    FILE *file = fopen(MW_TESTS_DIR "/format/onnx_nodes.txt", "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL)
        if (line[0] != '#' && sscanf(line, "%159s %31s", name, recorded) == 2)
            check_line(name, recorded, list, sum);
    fclose(file);
}

static void test_every_node_test_is_as_recorded(void)
{
    tally sum = {0};
    if (access(ONNX_CASES "/node", R_OK) != 0)
        SKIP("libonnx-testdata is not installed");
    go_through(false, &sum);
    printf("  %d passed, %d not yet, %d out of scope, %d failed\n", sum.passed, sum.open, sum.outside, sum.failed);
    CHECK_INT(sum.failed, 0);
    CHECK(sum.passed >= 0.85 * (sum.passed + sum.open + sum.failed));
}

int main(int count, char **arguments)
{
    tally sum = {0};
    if (count > 2 && strcmp(arguments[1], "--texts") == 0) /* a file for what the models become */
        onnx_case_texts = fopen(arguments[2], "w");
    if (count > 1 && strcmp(arguments[1], "--list") == 0) {
        go_through(true, &sum);
        fprintf(stderr, "%d passed, %d not yet, %d out of scope, %d failed\n", sum.passed, sum.open, sum.outside,
                sum.failed);
        return 0;
    }
    RUN(test_every_node_test_is_as_recorded);
    if (onnx_case_texts != NULL && fclose(onnx_case_texts) != 0)
        return 1;
    return check_finish();
}
