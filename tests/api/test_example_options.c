/* The examples' command line: numbers and names that are none are refused with the rule that they break. */
#include "support/check.h"
#include "support/child.h"

#include <stdlib.h>

/* What `program arguments` returns, with what it writes to standard error. */
static int run_example(const char *arguments, char *out, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command, "%s/%s 2>&1 >/dev/null </dev/null", MW_EXAMPLES_BIN_DIR, arguments);
    FILE *pipe = popen(command, "r");
    const size_t length = pipe != NULL ? fread(out, 1, size - 1, pipe) : 0;
    out[length] = '\0';
    const int status = pipe != NULL ? pclose(pipe) : -1;
    return status >= 0 ? status >> 8 : -1;
}

static void test_examples_refuse_numbers_that_are_none(void)
{
    static const char *const bad[] = {"--seed 12345678901234567890123",
                                      "--seed 18446744073709551616",
                                      "--seed -1",
                                      "--seed ''",
                                      "--seed ' 1'",
                                      "--seed +1",
                                      "--seed 1x",
                                      "--seed 0x10",
                                      "--seed",
                                      "--epochs 0",
                                      "--epochs -3",
                                      "--epochs 99999999999999999999",
                                      "--epochs 2.5",
                                      "--batch 0",
                                      "--batch 3000000000",
                                      "--lr nan",
                                      "--lr inf",
                                      "--lr -1",
                                      "--lr 0",
                                      "--lr 1e99",
                                      "--lr 0x1",
                                      "--lr ''",
                                      "--lr 1e",
                                      "--checkpoint ''",
                                      "--data ''",
                                      "--device gpu",
                                      "--schedule often",
                                      "--unknown 1",
                                      "--an-option-that-is-longer-than-any 1",
                                      "stray",
                                      "--",
                                      "-x"};
    char said[4096];
    if (!child_can_start(MW_EXAMPLES_BIN_DIR "/mnist_mlp"))
        SKIP("an emulator runs this test, and no other program");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "mnist_mlp --epochs 1 --data no/such/folder %s", bad[i]);
        check_note(run_example(arguments, said, sizeof said) == 2, __FILE__, __LINE__, "accepted: %s", bad[i]);
        check_note(strstr(said, "cannot use ") != NULL, __FILE__, __LINE__, "%s: %s", bad[i], said);
    }
    CHECK_INT(run_example("mnist_mlp --seed 12345678901234567890123", said, sizeof said), 2);
    CHECK_CONTAINS(said, "a whole number from 0 to 18446744073709551615 is wanted");
    CHECK_INT(run_example("mnist_mlp --data no/such/folder --seed 18446744073709551615", said, sizeof said), 1);
    CHECK_INT(run_example("mnist_mlp --help", said, sizeof said), 0);
}

int main(void)
{
    RUN(test_examples_refuse_numbers_that_are_none);
    return check_finish();
}
