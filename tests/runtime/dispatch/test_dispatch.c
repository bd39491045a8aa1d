/* The ane_e5rt_* ABI, as its header says it: results, sizes, sharing, errors. */
#include "runtime/files.h"
#include "support/check.h"

#include "base/memory/alloc.h"
#include "base/number/fp16.h"
#include "runtime/dispatch/dispatch.h"
#include "runtime/variables.h"

#include <millwright/ane_e5rt.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { COUNT = 4 };

static const char *const inputs[] = {"x", "s"};
static const char *const outputs[] = {"y", "t"};
static const size_t sizes[] = {COUNT * 2, COUNT * 2};

/* The engine, also on a Mac, where the default is Espresso. */
static void use_default_library(void)
{
#if defined(__APPLE__) && defined(MW_E5RT_LIBRARY)
    setenv("MW_E5RT_LIBRARY", MW_E5RT_LIBRARY, 1);
#else
    unsetenv("MW_E5RT_LIBRARY");
#endif
}

/* y = x * s, t = s + x on fp16 [COUNT]; returns the path of the text. */
static const char *write_program(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(COUNT)), *s = mw_input(graph, "s", MW_F16, MW_SHAPE(COUNT));
    mw_output(mw_mul(x, s), "y");
    mw_output(mw_add(s, x), "t");
    mw_error err = {0};
    const char *folder = scratch("dispatch");
    mw_graph_write(graph, folder, NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    return scratch("dispatch/model.mil");
}

static ane_e5rt_program_t *compile(uint64_t mask)
{
    return ane_e5rt_program_compile(write_program(), scratch("cache"), mask, inputs, sizes, 2, outputs, sizes, 2);
}

static void set(ane_e5rt_program_t *program, const char *port, float first)
{
    uint16_t values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = mw__fp16_from_float(first + (float)i);
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, port, values, COUNT), 0);
}

static float get(ane_e5rt_program_t *program, const char *port, int i)
{
    uint16_t values[COUNT] = {0};
    CHECK_INT(ane_e5rt_program_get_output_fp16(program, port, values, COUNT), 0);
    return mw__fp16_to_float(values[i]);
}

static void test_a_program_computes_on_both_masks(void)
{
    for (uint64_t mask = 1; mask <= 4; mask += 3) {
        ane_e5rt_program_t *program = compile(mask);
        CHECK_STR(ane_e5rt_last_error(), "");
        REQUIRE(program != NULL);
        set(program, "x", 1.0f);
        set(program, "s", 10.0f);
        CHECK_INT(ane_e5rt_program_execute(program), 0);
        CHECK_NEAR(get(program, "y", 0), 10.0, 0);
        CHECK_NEAR(get(program, "y", 3), 4.0 * 13.0, 0);
        CHECK_NEAR(get(program, "t", 3), 17.0, 0);
        ane_e5rt_program_release(program);
    }
}

static void test_inputs_start_as_zeros_and_persist(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    set(program, "x", 5.0f);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_NEAR(get(program, "t", 0), 5.0, 0);
    set(program, "s", 2.0f);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_NEAR(get(program, "t", 0), 7.0, 0);
    ane_e5rt_program_release(program);
}

static void test_a_shared_buffer_keeps_state(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "t", 0, "s"), 0);
    void *in = NULL, *out = NULL;
    size_t in_size = 0, out_size = 0;
    CHECK_INT(ane_e5rt_program_input_buffer(program, "s", &in, &in_size), 0);
    CHECK_INT(ane_e5rt_program_output_buffer(program, "t", &out, &out_size), 0);
    CHECK(in == out && in_size == out_size && in_size == COUNT * 2);
    set(program, "s", 100.0f); /* seeded after sharing */
    set(program, "x", 1.0f);
    for (int i = 0; i < 3; i++)
        CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_NEAR(get(program, "t", 0), 103.0, 0);
    CHECK_NEAR(get(program, "t", 1), 107.0, 0);
    CHECK_NEAR(get(program, "y", 0), 102.0, 0); /* x * s read s before it was written */
    ane_e5rt_program_release(program);
}

static void test_share_after_the_first_run_is_refused(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "t", 0, "s"), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "has run");
    CHECK_INT(ane_e5rt_program_execute(program), 0); /* and the program still works */
    CHECK_STR(ane_e5rt_last_error(), "");
    ane_e5rt_program_release(program);
}

static void test_share_checks_names_sizes_and_operations(void)
{
    const size_t larger[] = {COUNT * 2, 72}; /* more than the 64 bytes that a buffer has at least */
    ane_e5rt_program_t *program =
        ane_e5rt_program_compile(write_program(), NULL, 1, inputs, larger, 2, outputs, sizes, 2);
    REQUIRE(program != NULL);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "t", 0, "s"), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "has 64 bytes of memory, input \"s\" of operation 0 needs 72");
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "nothing", 0, "s"), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "nothing");
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "s", 0, "s"), -1); /* an input is no output */
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "t", 1, "s"), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "operation 1");
    ane_e5rt_program_release(program);
}

/* Memory comes in pieces of 64 bytes; what is beyond a port, but in its memory, may be shared. */
static void test_a_share_takes_ports_that_the_memory_covers(void)
{
    const size_t larger[] = {COUNT * 2, 64};
    ane_e5rt_program_t *program =
        ane_e5rt_program_compile(write_program(), NULL, 1, inputs, larger, 2, outputs, sizes, 2);
    REQUIRE(program != NULL);
    CHECK_INT(ane_e5rt_program_share_buffer(program, 0, "t", 0, "s"), 0);
    void *in = NULL, *out = NULL;
    size_t in_size = 0, out_size = 0;
    CHECK_INT(ane_e5rt_program_input_buffer(program, "s", &in, &in_size), 0);
    CHECK_INT(ane_e5rt_program_output_buffer(program, "t", &out, &out_size), 0);
    CHECK(in == out && in_size == 64 && out_size == COUNT * 2);
    uint16_t values[33] = {0};
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, "s", values, 32), 0);
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, "s", values, 33), -1);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    ane_e5rt_program_release(program);
}

/* Asked for too much, an output gives what it has; an input takes nothing. */
static void test_long_reads_end_with_the_port(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    uint16_t values[COUNT + 1] = {0};
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, "x", values, COUNT + 1), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "\"x\" of 8 bytes");
    set(program, "x", 1.0f);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    values[COUNT] = 77;
    CHECK_INT(ane_e5rt_program_get_output_fp16(program, "t", values, COUNT + 1), 0);
    CHECK_NEAR(mw__fp16_to_float(values[COUNT - 1]), COUNT, 0);
    CHECK_INT(values[COUNT], 77);
    CHECK_INT(ane_e5rt_program_get_output_fp16(program, "t", values, SIZE_MAX), 0);
    CHECK_INT(values[COUNT], 77);
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, "x", values, SIZE_MAX), -1); /* the product wraps */
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, "x", values, COUNT - 1), 0);
    CHECK_INT(ane_e5rt_program_get_output_fp16(program, "y", values, 0), 0);
    ane_e5rt_program_release(program);
}

static void test_unknown_ports_and_null_are_refused(void)
{
    ane_e5rt_program_t *program = compile(1);
    REQUIRE(program != NULL);
    uint16_t value = 0;
    void *data;
    size_t size;
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, "y", &value, 1), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "no input port \"y\"");
    CHECK_INT(ane_e5rt_program_get_output_fp16(program, "x", &value, 1), -1);
    CHECK_CONTAINS(ane_e5rt_last_error(), "no output port \"x\"");
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, NULL, &value, 1), -1);
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, "x", NULL, 1), -1);
    CHECK_INT(ane_e5rt_program_set_input_fp16(NULL, "x", &value, 1), -1);
    CHECK_INT(ane_e5rt_program_execute(NULL), -1);
    CHECK_INT(ane_e5rt_program_input_buffer(program, "y", &data, &size), -1);
    CHECK(data == NULL && size == 0);
    CHECK_INT(ane_e5rt_program_output_buffer(program, "y", NULL, &size), -1);
    ane_e5rt_program_release(program);
    ane_e5rt_program_release(NULL);
}

static void test_compile_refuses_what_does_not_exist(void)
{
    const char *path = write_program();
    CHECK(ane_e5rt_program_compile(scratch("none.mil"), NULL, 1, inputs, sizes, 2, outputs, sizes, 2) == NULL);
    CHECK(ane_e5rt_last_error()[0] != '\0');
    CHECK(ane_e5rt_program_compile(NULL, NULL, 1, inputs, sizes, 2, outputs, sizes, 2) == NULL);
    CHECK(ane_e5rt_program_compile(path, NULL, 0, inputs, sizes, 2, outputs, sizes, 2) == NULL);
    CHECK_CONTAINS(ane_e5rt_last_error(), "device_mask");
    CHECK(ane_e5rt_program_compile(path, NULL, 1, outputs, sizes, 2, outputs, sizes, 2) == NULL);
    CHECK_CONTAINS(ane_e5rt_last_error(), "y"); /* an output given as an input */
    CHECK(ane_e5rt_program_compile(path, NULL, 1, NULL, sizes, 2, outputs, sizes, 2) == NULL);
}

static void test_a_buffer_smaller_than_its_port_is_refused(void)
{
    /* Buffers have 64 bytes at least, so the port must need more. */
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F16, MW_SHAPE(100))), "y");
    mw_error err = {0};
    mw_graph_write(graph, scratch("small"), NULL, &err);
    mw_graph_destroy(graph);
    CHECK_OK(err);
    const size_t size[] = {64};
    ane_e5rt_program_t *program =
        ane_e5rt_program_compile(scratch("small/model.mil"), NULL, 1, inputs, size, 1, outputs, size, 1);
    CHECK(program == NULL || ane_e5rt_program_execute(program) == -1);
    CHECK(ane_e5rt_last_error()[0] != '\0');
    ane_e5rt_program_release(program);
}

static void test_compile_check_tells_good_from_bad(void)
{
    const char bad[] = "program(1.0) { this is not MIL }";
    put_file(scratch("bad.mil"), bad, sizeof bad - 1);
    CHECK_INT(ane_e5rt_compile_check(write_program(), NULL, 1, NULL), 0);
    CHECK(ane_e5rt_compile_check(scratch("bad.mil"), NULL, 1, NULL) != 0);
    CHECK(ane_e5rt_last_error()[0] != '\0');
    CHECK_INT(ane_e5rt_compile_check(NULL, NULL, 1, NULL), -1);
}

/* The engine as a library of its own, found through the environment, gives the same results. */
static void test_another_e5rt_library_can_be_loaded(void)
{
#if defined(MW_E5RT_LIBRARY)
    setenv("MW_E5RT_LIBRARY", MW_E5RT_LIBRARY, 1);
    ane_e5rt_program_t *program = compile(1);
    CHECK_STR(ane_e5rt_last_error(), "");
    use_default_library();
    REQUIRE(program != NULL);
    set(program, "x", 1.0f);
    set(program, "s", 10.0f);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_NEAR(get(program, "y", 3), 4.0 * 13.0, 0);
    ane_e5rt_program_release(program);
#else
    SKIP("built without the engine's own library");
#endif
}

static void test_a_library_without_the_symbols_is_named(void)
{
    setenv("MW_E5RT_LIBRARY", "/no/such/library.so", 1);
    CHECK(compile(1) == NULL);
    CHECK_CONTAINS(ane_e5rt_last_error(), "/no/such/library.so");
#if defined(__linux__)
    setenv("MW_E5RT_LIBRARY", "libc.so.6", 1);
    CHECK(compile(1) == NULL);
    CHECK_CONTAINS(ane_e5rt_last_error(), "lacks the function e5rt_");
#endif
    use_default_library();
}

/* ---- the profile switch ---- */

static int switched_on;

static e5rt_error_code note_profiling(void *options, e5rt_bool value)
{
    switched_on += value != 0;
    return e5rt_e5_compiler_options_set_enable_profiling(options, value);
}

static void check_switch(const char *value, int expected)
{
    mw_error err = {0};
    mw__symbols symbols;
    int32_t code = 0;
    if (value != NULL)
        setenv("ANEFORGE_PROFILE", value, 1);
    else
        unsetenv("ANEFORGE_PROFILE");
    mw__symbols_load(&symbols, MW_PROVIDER_ENGINE, &err);
    symbols.e5_compiler_options_set_enable_profiling = note_profiling;
    mw__dispatch_options options = {.allocator = mw__allocator_default(),
                                    .symbols = &symbols,
                                    .mil_path = write_program(),
                                    .profiling = mw__variable_profiling(),
                                    .mask = 4,
                                    .name = "main"};
    switched_on = 0;
    CHECK_INT(mw__dispatch_check(&options, &code, &err), MW_OK);
    CHECK_INT(switched_on, expected);
    symbols.e5_compiler_options_set_enable_profiling = NULL; /* a library that has it not compiles all the same */
    options.mil_path = write_program();
    CHECK_INT(mw__dispatch_check(&options, &code, &err), MW_OK);
    CHECK_OK(err);
}

static void test_the_profile_switch_reaches_the_compiler(void)
{
    check_switch(NULL, 0);
    check_switch("", 0);
    check_switch("0", 0);
    check_switch("1", 1);
    unsetenv("ANEFORGE_PROFILE");
}

int main(void)
{
    use_default_library();
    RUN(test_a_program_computes_on_both_masks);
    RUN(test_inputs_start_as_zeros_and_persist);
    RUN(test_a_shared_buffer_keeps_state);
    RUN(test_share_after_the_first_run_is_refused);
    RUN(test_share_checks_names_sizes_and_operations);
    RUN(test_a_share_takes_ports_that_the_memory_covers);
    RUN(test_long_reads_end_with_the_port);
    RUN(test_unknown_ports_and_null_are_refused);
    RUN(test_compile_refuses_what_does_not_exist);
    RUN(test_a_buffer_smaller_than_its_port_is_refused);
    RUN(test_compile_check_tells_good_from_bad);
    RUN(test_another_e5rt_library_can_be_loaded);
    RUN(test_a_library_without_the_symbols_is_named);
    RUN(test_the_profile_switch_reaches_the_compiler);
    return check_finish();
}
