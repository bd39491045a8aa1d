/* The ane_e5rt_* ABI: runs that are submitted, what their events count, and blocks. */
#include "runtime/files.h"
#include "support/check.h"

#include "base/number/fp16.h"

#include <e5rt/e5rt.h>
#include <millwright/ane_e5rt.h>
#include <millwright/millwright.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { COUNT = 64 };

static const char *const x_name[] = {"x"}, *const y_name[] = {"y"};
static const size_t size[] = {COUNT * 2};

/* y = x + 1 */
static const char *write_step(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_add_scalar(mw_input(graph, "x", MW_F16, MW_SHAPE(COUNT)), 1.0), "y");
    mw_graph_write(graph, scratch("step"), NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    return scratch("step/model.mil");
}

static ane_e5rt_program_t *compile(uint64_t mask)
{
    return ane_e5rt_program_compile(write_step(), NULL, mask, x_name, size, 1, y_name, size, 1);
}

static float first(ane_e5rt_program_t *program, size_t operation)
{
    uint16_t value = 0;
    CHECK_INT(ane_e5rt_program_get_output_fp16_op(program, operation, "y", &value, 1), 0);
    return mw__fp16_to_float(value);
}

static void test_a_submitted_run_computes(void)
{
    for (uint64_t mask = 1; mask <= 4; mask += 3) {
        ane_e5rt_program_t *program = compile(mask);
        REQUIRE(program != NULL);
        CHECK_INT(ane_e5rt_program_execute_async(program), 0);
        CHECK_INT(ane_e5rt_program_wait_for_completion(program), 0);
        CHECK_NEAR(first(program, 0), 1.0, 0);
        CHECK_INT(ane_e5rt_program_execute(program), 0); /* and a synchronous one after it */
        ane_e5rt_program_release(program);
    }
}

static void test_waiting_needs_a_submission(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    CHECK_INT(ane_e5rt_program_wait_for_completion(program), -2);
    CHECK_CONTAINS(ane_e5rt_last_error(), "nothing was submitted");
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_INT(ane_e5rt_program_wait_for_completion(program), -2);
    CHECK_INT(ane_e5rt_program_execute_async(program), 0);
    CHECK_INT(ane_e5rt_program_wait_for_completion(program), 0);
    CHECK_INT(ane_e5rt_program_wait_for_completion(program), -2);
    ane_e5rt_program_release(program);
}

static void test_events_count_submitted_runs_only(void)
{
    ane_e5rt_program_t *program = compile(4);
    uint64_t before = 9, after = 9, value = 9;
    REQUIRE(program != NULL);
    CHECK_INT(ane_e5rt_program_add_op(program, write_step(), "x", COUNT * 2, "y", COUNT * 2), 1);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 1, "x"), 0);
    CHECK_INT(ane_e5rt_program_chain_ops(program, 0, 1, "a"), 0);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    for (uint64_t run = 1; run <= 3; run++) {
        CHECK_INT(ane_e5rt_program_execute_async(program), 0);
        CHECK_INT(ane_e5rt_program_wait_for_completion(program), 0);
        CHECK_INT(ane_e5rt_program_get_final_event_signaled(program, &before, &after), 0);
        CHECK(before == run - 1 && after == run);
        CHECK_INT(ane_e5rt_program_get_chain_event_last_signaled(program, 0, &value), 0);
        CHECK_INT((int64_t)value, (int64_t)run);
    }
    CHECK_INT(ane_e5rt_program_get_final_event_signaled(program, NULL, NULL), 0);
    CHECK_NEAR(first(program, 1), 2.0, 0);
    ane_e5rt_program_release(program);
}

/* A resident state advances once for each, in order. */
static void test_many_submissions_are_waited_for_at_once(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 0, "x"), 0);
    for (int i = 0; i < 300; i++) /* more than may be in flight */
        CHECK_INT(ane_e5rt_program_execute_async(program), 0);
    CHECK_INT(ane_e5rt_program_wait_for_completion(program), 0);
    CHECK_NEAR(first(program, 0), 300.0, 0);
    ane_e5rt_program_release(program);
}

static void test_release_waits_for_what_is_in_flight(void)
{
    for (int i = 0; i < 50; i++) {
        ane_e5rt_program_t *program = compile(1);
        REQUIRE(program != NULL);
        for (int k = 0; k < 5; k++)
            CHECK_INT(ane_e5rt_program_execute_async(program), 0);
        ane_e5rt_program_release(program);
    }
}

static void test_operations_are_added_after_the_wait(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    CHECK_INT(ane_e5rt_program_execute_async(program), 0);
    CHECK_INT(ane_e5rt_program_wait_for_completion(program), 0);
    CHECK_INT(ane_e5rt_program_add_op(program, write_step(), "x", COUNT * 2, "y", COUNT * 2), 1);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "y", 1, "x"), 0);
    CHECK_INT(ane_e5rt_program_execute_async(program), 0);
    CHECK_INT(ane_e5rt_program_wait_for_completion(program), 0);
    CHECK_NEAR(first(program, 1), 2.0, 0);
    ane_e5rt_program_release(program);
}

/* ---- blocks ---- */

static atomic_int calls, last_rc;

static void note(void *ctx, int rc)
{
    atomic_store(&last_rc, rc);
    atomic_fetch_add((atomic_int *)ctx, 1);
}

#define DO(call) CHECK_INT((int32_t)(call), 0)

/* What any client of e5rt may do with such a block: submit, and free its own at once. */
static void test_a_block_is_called_when_the_submission_has_ended(void)
{
    void *config = NULL, *compiler = NULL, *options = NULL, *library = NULL, *function = NULL, *made = NULL,
         *operation = NULL, *stream = NULL, *ports[2] = {NULL}, *buffer = NULL;
    DO(e5rt_e5_compiler_config_options_create(&config));
    DO(e5rt_e5_compiler_create_with_config(&compiler, config));
    DO(e5rt_e5_compiler_options_create(&options));
    DO(e5rt_e5_compiler_compile(compiler, write_step(), options, &library));
    DO(e5rt_program_library_retain_program_function(library, "main", &function));
    DO(e5rt_precompiled_compute_op_create_options_create_with_program_function(&made, function));
    DO(e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options(&operation, made));
    DO(e5rt_buffer_object_alloc(&buffer, COUNT * 2, 0));
    DO(e5rt_execution_stream_operation_retain_input_port(operation, "x", &ports[0]));
    DO(e5rt_execution_stream_operation_retain_output_port(operation, "y", &ports[1]));
    DO(e5rt_io_port_bind_buffer_object(ports[0], buffer));
    DO(e5rt_io_port_bind_buffer_object(ports[1], buffer));
    DO(e5rt_execution_stream_create(&stream));
    DO(e5rt_execution_stream_encode_operation(stream, operation));
    for (int i = 0; i < 10; i++) {
        void *block = ane_e5rt_make_completion_block(note, &calls);
        REQUIRE(block != NULL);
        DO(e5rt_execution_stream_submit_async(stream, block));
        ane_e5rt_free_completion_block(block);
    }
    DO(e5rt_execution_stream_release(&stream)); /* waits */
    CHECK_INT(atomic_load(&calls), 10);
    CHECK_INT(atomic_load(&last_rc), 0);
    e5rt_io_port_release(&ports[0]);
    e5rt_io_port_release(&ports[1]);
    e5rt_buffer_object_release(&buffer);
    e5rt_execution_stream_operation_release(&operation);
    e5rt_precompiled_compute_op_create_options_release(&made);
    e5rt_program_function_release(&function);
    e5rt_program_library_release(&library);
    e5rt_e5_compiler_options_release(&options);
    e5rt_e5_compiler_release(&compiler);
    e5rt_e5_compiler_config_options_release(&config);
    CHECK(ane_e5rt_make_completion_block(NULL, NULL) == NULL);
    CHECK_CONTAINS(ane_e5rt_last_error(), "callback is NULL");
}

int main(void)
{
#if defined(__APPLE__) && defined(MW_E5RT_LIBRARY)
    setenv("MW_E5RT_LIBRARY", MW_E5RT_LIBRARY, 1);
#else
    unsetenv("MW_E5RT_LIBRARY");
#endif
    RUN(test_a_submitted_run_computes);
    RUN(test_waiting_needs_a_submission);
    RUN(test_events_count_submitted_runs_only);
    RUN(test_many_submissions_are_waited_for_at_once);
    RUN(test_release_waits_for_what_is_in_flight);
    RUN(test_operations_are_added_after_the_wait);
    RUN(test_a_block_is_called_when_the_submission_has_ended);
    return check_finish();
}
