/* The ane_e5rt_* ABI with several operations in one program: adding, sharing, chaining, and what each refuses. */
#include "runtime/files.h"
#include "support/check.h"

#include "base/number/fp16.h"

#include <millwright/ane_e5rt.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COUNT = 8 };

static const char *const x_name[] = {"x"}, *const y_name[] = {"y"};
static const size_t size[] = {COUNT * 2};

/* y = x + 1 (or 2 x) on fp16 [count]; returns the path of the text. */
static const char *write_step(const char *name, int count, bool doubles)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(count));
    mw_output(doubles ? mw_mul_scalar(x, 2.0) : mw_add_scalar(x, 1.0), "y");
    mw_error err = {0};
    mw_graph_write(graph, scratch(name), NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    char path[64];
    snprintf(path, sizeof path, "%s/model.mil", name);
    return scratch(path);
}

static ane_e5rt_program_t *compile(uint64_t mask)
{
    return ane_e5rt_program_compile(write_step("first", COUNT, false), scratch("cache"), mask, x_name, size, 1, y_name,
                                    size, 1);
}

static int add(ane_e5rt_program_t *program, bool doubles)
{
    return ane_e5rt_program_add_op(program, write_step(doubles ? "double" : "more", COUNT, doubles), "x", COUNT * 2,
                                   "y", COUNT * 2);
}

static void set(ane_e5rt_program_t *program, size_t operation, float first)
{
    uint16_t values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = mw__fp16_from_float(first + (float)i);
    CHECK_INT(ane_e5rt_program_set_input_fp16_op(program, operation, "x", values, COUNT), 0);
}

static float get(ane_e5rt_program_t *program, size_t operation, int i)
{
    uint16_t values[COUNT] = {0};
    CHECK_INT(ane_e5rt_program_get_output_fp16_op(program, operation, "y", values, COUNT), 0);
    return mw__fp16_to_float(values[i]);
}

static void test_operations_of_several_texts_run_in_order(void)
{
    for (uint64_t mask = 1; mask <= 4; mask += 3) {
        ane_e5rt_program_t *program = compile(mask);
        REQUIRE(program != NULL);
        CHECK_INT(ane_e5rt_program_get_op_count(program), 1);
        CHECK_INT(add(program, true), 1);
        CHECK_INT(add(program, false), 2);
        CHECK_INT(ane_e5rt_program_get_op_count(program), 3);
        CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 1, "x"), 0);
        CHECK_INT(ane_e5rt_program_share_buffer(program, 1, "y", 2, "x"), 0);
        set(program, 0, 3.0f);
        CHECK_INT(ane_e5rt_program_execute_multi(program), 0);
        CHECK_NEAR(get(program, 0, 0), 4.0, 0);
        CHECK_NEAR(get(program, 1, 0), 8.0, 0);
        CHECK_NEAR(get(program, 2, 7), 2.0 * 11.0 + 1.0, 0);
        ane_e5rt_program_release(program);
    }
}

static void test_operations_have_buffers_of_their_own(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    CHECK_INT(add(program, true), 1);
    set(program, 0, 1.0f);
    set(program, 1, 50.0f);
    CHECK_INT(ane_e5rt_program_execute(program), 0); /* it runs all of them, too */
    CHECK_NEAR(get(program, 0, 0), 2.0, 0);
    CHECK_NEAR(get(program, 1, 0), 100.0, 0);
    ane_e5rt_program_release(program);
}

static void test_many_steps_of_a_resident_state(void)
{
    enum { STEPS = 64 };
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    for (int i = 1; i < STEPS; i++) {
        CHECK_INT(add(program, false), i);
        CHECK_INT(ane_e5rt_program_share_buffer(program, (size_t)i - 1, "y", (size_t)i, "x"), 0);
    }
    set(program, 0, 0.0f);
    CHECK_INT(ane_e5rt_program_execute_multi(program), 0);
    CHECK_NEAR(get(program, STEPS - 1, 0), STEPS, 0);
    CHECK_NEAR(get(program, STEPS - 1, 3), STEPS + 3, 0);
    ane_e5rt_program_release(program);
}

static void test_add_op_opens_a_program_that_has_run(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    set(program, 0, 1.0f);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 0, "x"), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "has run");
    CHECK_INT(ane_e5rt_program_chain_ops(program, 0, 0, "e"), -1);
    CHECK_INT(add(program, true), 1);
    CHECK_NEAR(get(program, 0, 0), 2.0, 0); /* what was computed is still there */
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 1, "x"), 0);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 0, "x"), 0); /* also of the one that has run */
    set(program, 0, 10.0f);
    for (int i = 0; i < 3; i++)
        CHECK_INT(ane_e5rt_program_execute_multi(program), 0);
    CHECK_NEAR(get(program, 0, 0), 13.0, 0);
    CHECK_NEAR(get(program, 1, 0), 26.0, 0);
    CHECK_INT(ane_e5rt_program_chain_ops(program, 0, 1, "e"), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "has run");
    ane_e5rt_program_release(program);
}

static void test_a_refused_operation_leaves_the_program(void)
{
    const char bad[] = "program(1.0) { this is not MIL }";
    put_file(scratch("bad.mil"), bad, sizeof bad - 1);
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    set(program, 0, 1.0f);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_INT(ane_e5rt_program_add_op(program, scratch("bad.mil"), "x", 16, "y", 16), -1);
    CHECK_INT(ane_e5rt_program_add_op(program, scratch("none.mil"), "x", 16, "y", 16), -1);
    CHECK_INT(ane_e5rt_program_add_op(program, NULL, "x", 16, "y", 16), -1);
    CHECK_INT(ane_e5rt_program_add_op(program, write_step("first", COUNT, false), NULL, 16, "y", 16), -1);
    CHECK_INT(ane_e5rt_program_add_op(program, write_step("first", COUNT, false), "x", 16, "z", 16), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "\"z\"");
    CHECK_INT(ane_e5rt_program_add_op(program, write_step("first", COUNT, false), "x", SIZE_MAX, "y", 16), -1);
    CHECK_INT(ane_e5rt_program_get_op_count(program), 1);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 0, "x"), -1); /* still frozen */
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_NEAR(get(program, 0, 0), 2.0, 0);
    ane_e5rt_program_release(program);
}

static void test_indices_are_checked(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    CHECK_INT(add(program, true), 1);
    uint16_t value = 0;
    uint64_t signaled = 9;
    CHECK_INT(ane_e5rt_program_set_input_fp16_op(program, 2, "x", &value, 1), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "operation 2 does not exist: the program has 2");
    CHECK_INT(ane_e5rt_program_get_output_fp16_op(program, SIZE_MAX, "y", &value, 1), -1);
    CHECK_INT(ane_e5rt_program_set_input_fp16_op(program, 1, "z", &value, 1), -1);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 2, "x"), -1);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 2, "y", 0, "x"), -1);
    CHECK_INT(ane_e5rt_program_chain_ops(program, 0, 2, "e"), -1);
    CHECK_INT(ane_e5rt_program_chain_ops(program, 1, 0, "e"), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "does not run before it");
    CHECK_INT(ane_e5rt_program_chain_ops(program, 1, 1, "e"), -1);
    CHECK_INT(ane_e5rt_program_get_chain_event_last_signaled(program, 2, &signaled), -1);
    CHECK_INT((int)signaled, 0);
    CHECK_INT(ane_e5rt_program_get_chain_event_last_signaled(program, 0, NULL), -1);
    ane_e5rt_program_release(program);
}

/* Only asynchronous runs signal events. */
static void test_chains_are_taken_and_execute_signals_nothing(void)
{
    ane_e5rt_program_t *program = compile(4);
    REQUIRE(program != NULL);
    CHECK_INT(add(program, true), 1);
    CHECK_INT(add(program, true), 2);
    CHECK_INT(ane_e5rt_program_chain_ops(program, 0, 2, "a"), 0);
    CHECK_INT(ane_e5rt_program_chain_ops(program, 1, 2, NULL), 0);
    CHECK_INT(ane_e5rt_program_chain_ops(program, 0, 2, "a"), 0); /* once more changes nothing */
    CHECK_INT(ane_e5rt_program_execute_multi(program), 0);
    for (size_t i = 0; i < 3; i++) {
        uint64_t signaled = 9;
        CHECK_INT(ane_e5rt_program_get_chain_event_last_signaled(program, i, &signaled), 0);
        CHECK_INT((int)signaled, 0);
    }
    ane_e5rt_program_release(program);
}

static void test_a_share_that_the_memory_does_not_cover_is_refused(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    CHECK_INT(ane_e5rt_program_add_op(program, write_step("wide", 100, false), "x", 200, "y", 200), 1);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 1, "x"), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "needs 200");
    CHECK_INT(ane_e5rt_program_share_buffer(program, 1, "y", 0, "x"), 0); /* the other way there is room */
    CHECK_INT(ane_e5rt_program_execute_multi(program), 0);
    CHECK_INT(ane_e5rt_program_execute_multi(program), 0);
    CHECK_NEAR(get(program, 0, 0), 2.0, 0); /* what the other wrote in the run before */
    ane_e5rt_program_release(program);
}

/* Also one that the memory behind the port, of 64 bytes at least, would take. */
static void test_a_size_below_the_port_is_refused_at_once(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    const char *step = write_step("wide", 100, false);
    CHECK_INT(ane_e5rt_program_add_op(program, step, "x", 16, "y", 200), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "input port \"x\" has 200 bytes, its size is given as 16");
    CHECK_INT(ane_e5rt_program_add_op(program, step, "x", 200, "y", 198), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "output port \"y\" has 200 bytes, its size is given as 198");
    CHECK_INT(ane_e5rt_program_get_op_count(program), 1);
    CHECK_INT(ane_e5rt_program_add_op(program, step, "x", 200, "y", 256), 1);
    CHECK_INT(ane_e5rt_program_execute_multi(program), 0);
    ane_e5rt_program_release(program);
    static const size_t small[] = {COUNT * 2 - 2};
    for (uint64_t mask = 1; mask <= 4; mask += 3) {
        const char *path = write_step("first", COUNT, false);
        CHECK(ane_e5rt_program_compile(path, NULL, mask, x_name, small, 1, y_name, size, 1) == NULL);
        CHECK_CONTAINS(ane_e5rt_last_error(), "input port \"x\" has ");
        CHECK(ane_e5rt_program_compile(path, NULL, mask, x_name, size, 1, y_name, small, 1) == NULL);
        CHECK_CONTAINS(ane_e5rt_last_error(), "output port \"y\" has ");
    }
}

#if defined(__linux__)
static void test_ports_lie_in_shared_memory(void)
{
    uint16_t *memory[2] = {NULL, NULL};
    int fds[2];
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    for (int i = 0; i < 2; i++) {
        fds[i] = memfd_create("port", 0);
        REQUIRE(fds[i] >= 0 && ftruncate(fds[i], COUNT * 2) == 0);
        memory[i] = mmap(NULL, COUNT * 2, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
        REQUIRE(memory[i] != MAP_FAILED);
    }
    CHECK_INT(ane_e5rt_program_bind_input_memory(program, 0, "x", fds[0]), 0);
    CHECK_INT(ane_e5rt_program_bind_output_memory(program, 0, "y", fds[1]), 0);
    CHECK_INT(ane_e5rt_program_bind_output_memory(program, 0, "x", fds[1]), -1);
    CHECK_INT(ane_e5rt_program_bind_output_memory(program, 1, "y", fds[1]), -1);
    CHECK_INT(ane_e5rt_program_bind_output_memory(program, 0, "y", -1), -1);
    close(fds[0]);
    memory[0][0] = mw__fp16_from_float(41.0f);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_NEAR(mw__fp16_to_float(memory[1][0]), 42.0, 0);
    CHECK_INT(ane_e5rt_program_bind_output_memory(program, 0, "y", fds[1]), -1); /* frozen */
    CHECK_INT(ane_e5rt_program_add_op(program, write_step("wide", 100, false), "x", 200, "y", 200), 1);
    CHECK_INT(ane_e5rt_program_bind_input_memory(program, 1, "x", fds[1]), -1); /* 16 bytes are too few */
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 1, "x"), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "has 16 bytes of memory");
    ane_e5rt_program_release(program);
    for (int i = 0; i < 2; i++)
        munmap(memory[i], COUNT * 2);
    close(fds[1]);
}
#endif

static void test_every_operation_has_a_cache_folder(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    CHECK_INT(add(program, true), 1);
    CHECK(file_exists(scratch("cache/op1")));
    ane_e5rt_program_release(program);
    program = ane_e5rt_program_compile(write_step("first", COUNT, false), NULL, 1, x_name, size, 1, y_name, size, 1);
    REQUIRE(program != NULL);
    CHECK_INT(add(program, true), 1); /* none is given, none is made */
    ane_e5rt_program_release(program);
}

int main(void)
{
#if defined(__APPLE__) && defined(MW_E5RT_LIBRARY)
    setenv("MW_E5RT_LIBRARY", MW_E5RT_LIBRARY, 1);
#else
    unsetenv("MW_E5RT_LIBRARY");
#endif
    RUN(test_operations_of_several_texts_run_in_order);
    RUN(test_operations_have_buffers_of_their_own);
    RUN(test_many_steps_of_a_resident_state);
    RUN(test_add_op_opens_a_program_that_has_run);
    RUN(test_a_refused_operation_leaves_the_program);
    RUN(test_indices_are_checked);
    RUN(test_chains_are_taken_and_execute_signals_nothing);
    RUN(test_a_share_that_the_memory_does_not_cover_is_refused);
    RUN(test_a_size_below_the_port_is_refused_at_once);
#if defined(__linux__)
    RUN(test_ports_lie_in_shared_memory);
#endif
    RUN(test_every_operation_has_a_cache_folder);
    return check_finish();
}
