/* A thousand programs one after the other, compiled, run and released, leave nothing behind: under ASan no leak, else
 * no memory that grows with their number. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/child.h"
#include "support/on_engine.h"

#include <millwright/ane_e5rt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CYCLES = 1000, COUNT = 64 };

/* Bytes in memory now; 0 where the system does not say. */
static long resident(void)
{
    long total = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    const bool good = fscanf(file, "%ld %ld", &total, &pages) == 2;
    fclose(file);
    return good ? pages * sysconf(_SC_PAGESIZE) : 0;
}

/* What the first hundred need may stay: stacks of threads, tables, the allocator's own. */
static void check_growth(void (*cycle)(void))
{
    long before = 0;
    for (int i = 0; i < CYCLES; i++) {
        if (i == CYCLES / 10)
            before = resident();
        cycle();
    }
    const long grown = resident() - before;
    if (!child_is_sanitized())
        check_note(grown < 1 << 20, __FILE__, __LINE__, "%ld bytes more after %d cycles", grown, CYCLES);
}

static void run_dispatch(void)
{
    static const char *const x[] = {"x"}, *const y[] = {"y"};
    static const size_t size[] = {COUNT * 2};
    uint16_t values[COUNT] = {0};
    ane_e5rt_program_t *program =
        ane_e5rt_program_compile(scratch("cycles/model.mil"), NULL, 4, x, size, 1, y, size, 1);
    CHECK_INT(ane_e5rt_program_add_op(program, scratch("cycles/model.mil"), "x", COUNT * 2, "y", COUNT * 2), 1);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 1, "x"), 0);
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, "x", values, COUNT), 0);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_INT(ane_e5rt_program_get_output_fp16_op(program, 1, "y", values, COUNT), 0);
    ane_e5rt_program_release(program);
}

static void test_programs_of_the_dispatch_layer(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_tanh(mw_input(graph, "x", MW_F16, MW_SHAPE(COUNT))), "y");
    mw_graph_write(graph, scratch("cycles"), NULL, &err);
    mw_graph_destroy(graph);
    CHECK_OK(err);
    check_growth(run_dispatch);
}

static void run_graph(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_softmax(mw_dense(mw_input(graph, "x", MW_F32, MW_SHAPE(4, COUNT)), 8, "fc"), 1), "y");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    mw_program_run(program, &err);
    mw_placement placement;
    CHECK(mw_program_placement_at(program, 0, &placement));
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    CHECK_OK(err);
}

static void test_programs_of_graphs(void) { check_growth(run_graph); }

int main(void)
{
    RUN(test_programs_of_the_dispatch_layer);
    RUN(test_programs_of_graphs);
    return check_finish();
}
