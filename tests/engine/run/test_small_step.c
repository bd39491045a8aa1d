/* A tiny training step is all dispatch, so its instructions are counted where valgrind is installed. The test runs
 * itself under callgrind, which counts what mw_program_run executes. */
#include "support/build_kind.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Counted when this was written: 7,700 with AVX2; 44,000 before small plans were cared for. */
enum { RUNS = 100, INSTRUCTIONS_MAX = 16000 };

#define COUNTS (BUILD_IS_PLAIN != 0)

static mw_trainer *make_trainer(mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 16)), *y = mw_input(graph, "y", MW_F32, MW_SHAPE(4, 1));
    mw_tensor *prediction = mw_dense(mw_relu(mw_dense(x, 16, "a")), 1, "b");
    mw_trainer *trainer = engine_trainer(mw_mse(prediction, y), mw_sgd(0.01f), MW_DEVICE_CPU, 1, err);
    mw_graph_destroy(graph);
    return trainer;
}

static int run_steps(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(&err);
    for (int i = 0; trainer != NULL && i < RUNS; i++)
        mw_program_run(mw_trainer_program(trainer), &err);
    mw_trainer_destroy(trainer);
    return err.status == MW_OK ? 0 : 1;
}

/* The total of callgrind's output; 0 if there is none. */
static double count_instructions(const char *path)
{
    char line[512];
    double total = 0;
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "summary: ", 9) == 0)
            total = strtod(line + 9, NULL);
    if (file != NULL)
        fclose(file);
    return total;
}

static void test_a_tiny_step_takes_few_instructions(void)
{
    char self[1024], command[2048], out[] = "/tmp/millwright-count-XXXXXX";
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!COUNTS || length < 0)
        SKIP("counted in optimized builds, on Linux");
    self[length] = '\0';
    snprintf(command, sizeof command, "valgrind -q \"%s\" nothing >/dev/null 2>&1", self);
    if (system(command) != 0)
        SKIP("no valgrind here that can run this program");
    const int file = mkstemp(out);
    REQUIRE(file >= 0);
    close(file);
    snprintf(command, sizeof command,
             "valgrind -q --tool=callgrind --toggle-collect=mw_program_run --callgrind-out-file=%s \"%s\" steps", out,
             self);
    CHECK_INT(system(command), 0);
    const double each = count_instructions(out) / RUNS;
    remove(out);
    check_note(each > 0 && each < INSTRUCTIONS_MAX, __FILE__, __LINE__, "a step takes %g instructions", each);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "steps") == 0)
        return run_steps();
    if (argc > 1 && strcmp(argv[1], "nothing") == 0)
        return 0;
    RUN(test_a_tiny_step_takes_few_instructions);
    return check_finish();
}
