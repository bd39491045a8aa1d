/* A client of an e5rt library that knows nothing but dlopen, dlsym and the declarations: the documented sequence from
 * compile to release, with resident state and with two chained operations, and each documented misuse with the answer
 * that is documented for it. Run on the engine's own library, or on that of MW_E5RT_LIBRARY.
 * source  the reference of e5rt dispatch of ANEForge, sections 2, 3 and 5 */
#include "support/check.h"
#include "support/folder.h"

#include <dlfcn.h>
#include <e5rt/e5rt.h>
#include <stdlib.h>

#ifndef MW_E5RT_LIBRARY
#define MW_E5RT_LIBRARY NULL /* not built */
#endif

#define CALLS(X)                                                                                                       \
    X(e5_compiler_config_options_create)                                                                               \
    X(e5_compiler_config_options_release)                                                                              \
    X(e5_compiler_config_options_set_cache_bundle_location)                                                            \
    X(e5_compiler_create_with_config)                                                                                  \
    X(e5_compiler_release)                                                                                             \
    X(e5_compiler_options_create)                                                                                      \
    X(e5_compiler_options_release)                                                                                     \
    X(e5_compiler_options_set_compute_device_types_mask)                                                               \
    X(e5_compiler_options_set_force_recompilation)                                                                     \
    X(e5_compiler_options_set_segmenter)                                                                               \
    X(e5_compiler_compile)                                                                                             \
    X(program_library_retain_program_function)                                                                         \
    X(program_library_release)                                                                                         \
    X(program_function_release)                                                                                        \
    X(precompiled_compute_op_create_options_create_with_program_function)                                              \
    X(precompiled_compute_op_create_options_set_operation_name)                                                        \
    X(precompiled_compute_op_create_options_set_allocate_intermediate_buffers)                                         \
    X(precompiled_compute_op_create_options_release)                                                                   \
    X(execution_stream_operation_create_precompiled_compute_operation_with_options)                                    \
    X(execution_stream_operation_release)                                                                              \
    X(execution_stream_operation_retain_input_port)                                                                    \
    X(execution_stream_operation_retain_output_port)                                                                   \
    X(execution_stream_operation_prepare_op_for_encode)                                                                \
    X(execution_stream_operation_bind_completion_event)                                                                \
    X(execution_stream_operation_bind_dependent_events)                                                                \
    X(io_port_bind_buffer_object)                                                                                      \
    X(io_port_release)                                                                                                 \
    X(buffer_object_alloc)                                                                                             \
    X(buffer_object_get_data_ptr)                                                                                      \
    X(buffer_object_release)                                                                                           \
    X(execution_stream_create)                                                                                         \
    X(execution_stream_release)                                                                                        \
    X(execution_stream_reset)                                                                                          \
    X(execution_stream_encode_operation)                                                                               \
    X(execution_stream_execute_sync)                                                                                   \
    X(async_event_create)                                                                                              \
    X(async_event_release)                                                                                             \
    X(async_event_get_last_signaled_value)                                                                             \
    X(get_last_error_message)

static struct {
#define CALL(name) __typeof__(&e5rt_##name) name;
    CALLS(CALL)
#undef CALL
} e5;

/* z = x * s, t = s + x, fp16 [16]; all values below are small integers, so every device has the same. */
static const char program_text[] =
    "program(1.3)\n"
    "[buildInfo = dict<string, string>({{\"coremlc-component-MIL\", \"3520.4.1\"}, {\"coremlc-version\", "
    "\"3520.5.1\"}})]\n"
    "{\n"
    "    func main<ios18>(tensor<fp16, [1, 16]> x, tensor<fp16, [1, 16]> s) {\n"
    "        tensor<fp16, [1, 16]> z = mul(x = x, y = s)[name = string(\"z\")];\n"
    "        tensor<fp16, [1, 16]> t = add(x = s, y = x)[name = string(\"t\")];\n"
    "    } -> (z, t);\n"
    "}\n";

enum { PORTS = 4, COUNT = 16, BYTES = 64 };

static const char *const port_names[PORTS] = {"x", "s", "z", "t"}; /* two inputs, two outputs */

typedef struct client {
    void *config, *compiler, *options, *library, *function, *op_options, *operation, *stream, *event;
    void *ports[PORTS], *buffers[PORTS];
    uint16_t *data[PORTS];
} client;

#define DO(call) check_note((int32_t)(call) == 0, __FILE__, __LINE__, "%s: %s", #call, e5.get_last_error_message())
#define NOT(call, part)                                                                                                \
    check_note((int32_t)(call) != 0 && strstr(e5.get_last_error_message(), (part)) != NULL, __FILE__, __LINE__,        \
               "%s is not refused with \"%s\" but says \"%s\"", #call, (part), e5.get_last_error_message())

static bool load(void)
{
    const char *path = getenv("MW_E5RT_LIBRARY") != NULL ? getenv("MW_E5RT_LIBRARY") : MW_E5RT_LIBRARY;
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    bool good = library != NULL;
#define CALL(name)                                                                                                     \
    if (library != NULL) {                                                                                             \
        void *address = dlsym(library, "e5rt_" #name);                                                                 \
        good = check_note(address != NULL, __FILE__, __LINE__, "no e5rt_%s", #name) && good;                           \
        memcpy(&e5.name, &address, sizeof address);                                                                    \
    }
    CALLS(CALL)
#undef CALL
    return good;
}

/* ---- the sequence, step by step ---- */

static void compile(client *c)
{
    folder_put("model.mil", program_text);
    DO(e5.e5_compiler_config_options_create(&c->config));
    DO(e5.e5_compiler_config_options_set_cache_bundle_location(c->config, "cache"));
    DO(e5.e5_compiler_create_with_config(&c->compiler, c->config));
    DO(e5.e5_compiler_options_create(&c->options));
    DO(e5.e5_compiler_options_set_compute_device_types_mask(c->options, 4));
    DO(e5.e5_compiler_options_set_force_recompilation(c->options, 1));
    DO(e5.e5_compiler_options_set_segmenter(c->options, "graph"));
    DO(e5.e5_compiler_compile(c->compiler, "model.mil", c->options, &c->library));
}

static void make_operation(client *c)
{
    DO(e5.program_library_retain_program_function(c->library, "main", &c->function));
    DO(e5.precompiled_compute_op_create_options_create_with_program_function(&c->op_options, c->function));
    DO(e5.precompiled_compute_op_create_options_set_operation_name(c->op_options, "main"));
    DO(e5.precompiled_compute_op_create_options_set_allocate_intermediate_buffers(c->op_options, 1));
    DO(e5.execution_stream_operation_create_precompiled_compute_operation_with_options(&c->operation, c->op_options));
    DO(e5.e5_compiler_options_release(&c->options)); /* not needed beyond here */
    DO(e5.e5_compiler_release(&c->compiler));
    DO(e5.e5_compiler_config_options_release(&c->config));
}

static void bind_ports(client *c)
{
    for (int i = 0; i < PORTS; i++) {
        void *memory = NULL;
        DO(i < 2 ? e5.execution_stream_operation_retain_input_port(c->operation, port_names[i], &c->ports[i])
                 : e5.execution_stream_operation_retain_output_port(c->operation, port_names[i], &c->ports[i]));
        DO(e5.buffer_object_alloc(&c->buffers[i], BYTES, 0));
        DO(e5.buffer_object_get_data_ptr(c->buffers[i], &memory));
        c->data[i] = memory;
        if (memory != NULL)
            memset(memory, 0, BYTES);
        DO(e5.io_port_bind_buffer_object(c->ports[i], c->buffers[i]));
    }
}

static bool open_client(client *c)
{
    *c = (client){0};
    compile(c);
    make_operation(c);
    bind_ports(c);
    DO(e5.async_event_create(&c->event, "op0_complete", 0));
    DO(e5.execution_stream_operation_bind_completion_event(c->operation, c->event));
    DO(e5.execution_stream_create(&c->stream));
    return c->stream != NULL && c->data[PORTS - 1] != NULL;
}

static void encode_and_run(client *c)
{
    DO(e5.execution_stream_encode_operation(c->stream, c->operation));
    DO(e5.execution_stream_execute_sync(c->stream));
}

static void close_client(client *c)
{
    DO(e5.execution_stream_release(&c->stream));
    for (int i = 0; i < PORTS; i++) {
        DO(e5.buffer_object_release(&c->buffers[i]));
        DO(e5.io_port_release(&c->ports[i]));
    }
    DO(e5.async_event_release(&c->event));
    DO(e5.execution_stream_operation_release(&c->operation));
    DO(e5.precompiled_compute_op_create_options_release(&c->op_options));
    DO(e5.program_function_release(&c->function));
    DO(e5.program_library_release(&c->library));
    CHECK(c->library == NULL && c->operation == NULL && c->stream == NULL);
}

/* fp16 of the integers 0 to 2047 needs no rounding. */
static uint16_t half(int n)
{
    int exponent = 0;
    for (int m = n; m > 1; m >>= 1)
        exponent++;
    return n == 0 ? 0 : (uint16_t)((exponent + 15) << 10 | ((n << (10 - exponent)) & 0x3ff));
}

static void fill(uint16_t *data, int first)
{
    for (int i = 0; i < COUNT; i++)
        data[i] = half(first + i);
}

static void check_all(const uint16_t *data, int first, int step)
{
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(data[i], half(first + step * i));
}

/* libmillwright_e5rt has a segmenter with costs, and no client has to ask for it. */
static void test_the_engine_places_by_costs(void)
{
    __typeof__(&e5rt_program_library_get_segmentation_analytics) get = NULL;
    void *library = MW_E5RT_LIBRARY != NULL ? dlopen(MW_E5RT_LIBRARY, RTLD_NOW | RTLD_LOCAL) : NULL, *out = NULL;
    void *address = library != NULL ? dlsym(library, "e5rt_program_library_get_segmentation_analytics") : NULL;
    if (getenv("MW_E5RT_LIBRARY") != NULL || address == NULL)
        return; /* another engine has costs of its own */
    memcpy(&get, &address, sizeof get);
    client c = {0};
    compile(&c);
    DO(get(c.library, &out));
    const e5rt_mw_analytics *analytics = out;
    REQUIRE(analytics != NULL && analytics->placement_count == 2);
    CHECK_STR(analytics->placements[0].backend_support, "ane mps_graph bnns");
    DO(e5.program_library_release(&c.library));
    DO(e5.e5_compiler_options_release(&c.options));
    DO(e5.e5_compiler_release(&c.compiler));
    DO(e5.e5_compiler_config_options_release(&c.config));
}

static void test_the_sequence_computes(void)
{
    client c;
    REQUIRE(open_client(&c));
    fill(c.data[0], 1);
    for (int i = 0; i < COUNT; i++)
        c.data[1][i] = half(3);
    encode_and_run(&c);
    check_all(c.data[2], 3, 3);
    check_all(c.data[3], 4, 1);
    fill(c.data[0], 10); /* from then on there is nothing to do but run */
    DO(e5.execution_stream_execute_sync(c.stream));
    check_all(c.data[2], 30, 3);
    close_client(&c);
}

static void test_state_stays_resident(void)
{
    client c;
    REQUIRE(open_client(&c));
    DO(e5.io_port_bind_buffer_object(c.ports[3], c.buffers[1])); /* t onto s */
    fill(c.data[1], 100);
    for (int i = 0; i < COUNT; i++)
        c.data[0][i] = half(2);
    encode_and_run(&c);
    for (int step = 1; step < 50; step++)
        DO(e5.execution_stream_execute_sync(c.stream));
    check_all(c.data[1], 200, 1);
    check_all(c.data[2], 2 * 198, 2); /* the last step read s before it wrote it */
    close_client(&c);
}

static void test_a_stream_runs_its_operations_in_order(void)
{
    client a, b;
    REQUIRE(open_client(&a));
    REQUIRE(open_client(&b));
    DO(e5.io_port_bind_buffer_object(b.ports[0], a.buffers[3])); /* t of the one is x of the other */
    DO(e5.execution_stream_operation_bind_dependent_events(b.operation, &a.event, 1));
    fill(a.data[0], 1);
    fill(a.data[1], 5);
    DO(e5.execution_stream_encode_operation(a.stream, a.operation));
    DO(e5.execution_stream_encode_operation(a.stream, b.operation));
    DO(e5.execution_stream_execute_sync(a.stream));
    check_all(b.data[3], 6, 2);
    close_client(&a);
    close_client(&b);
}

/* Reset first, then prepare: the stream holds the operation. */
static void test_an_operation_is_encoded_again(void)
{
    client c;
    REQUIRE(open_client(&c));
    fill(c.data[0], 1);
    encode_and_run(&c);
    DO(e5.execution_stream_reset(c.stream));
    DO(e5.execution_stream_operation_prepare_op_for_encode(c.operation));
    DO(e5.io_port_bind_buffer_object(c.ports[3], c.buffers[1]));
    encode_and_run(&c);
    DO(e5.execution_stream_execute_sync(c.stream));
    check_all(c.data[1], 2, 2);
    close_client(&c);
}

/* ---- misuse ---- */

static void test_a_function_that_is_null_is_refused(void)
{
    void *out = NULL;
    NOT(e5.precompiled_compute_op_create_options_create_with_program_function(&out, NULL),
        "Cannot provide program function as nullptr");
    CHECK(out == NULL);
}

/* Arguments in the other order: a handle stands where the out pointer belongs. */
static void test_arguments_in_the_other_order_are_refused(void)
{
    client c;
    void *out = NULL;
    REQUIRE(open_client(&c));
    NOT(e5.precompiled_compute_op_create_options_create_with_program_function(c.function, &out), "take it first");
    NOT(e5.e5_compiler_create_with_config(c.op_options, &out), "");
    NOT(e5.program_library_retain_program_function((void *)&out, "main", c.library), "");
    NOT(e5.execution_stream_operation_retain_input_port((void *)&out, "x", c.operation), "");
    NOT(e5.buffer_object_get_data_ptr((void *)&out, c.buffers[0]), "");
    NOT(e5.execution_stream_release(c.stream), "release takes its address");
    CHECK(out == NULL);
    encode_and_run(&c); /* and all is well */
    close_client(&c);
}

static void test_an_event_needs_a_name(void)
{
    void *out = NULL;
    NOT(e5.async_event_create(&out, NULL, 0), "eventName is NULL");
    CHECK(out == NULL);
}

static void test_there_are_three_types_of_buffers(void)
{
    for (uint32_t type = 0; type < 3; type++) {
        void *buffer = NULL;
        DO(e5.buffer_object_alloc(&buffer, 64, type));
        DO(e5.buffer_object_release(&buffer));
    }
    void *buffer = NULL;
    NOT(e5.buffer_object_alloc(&buffer, 64, 3), "Invalid BufferType");
    NOT(e5.buffer_object_alloc(&buffer, 64, UINT32_MAX), "Invalid BufferType");
    CHECK(buffer == NULL);
}

static void test_what_was_never_encoded_is_not_prepared(void)
{
    client c;
    REQUIRE(open_client(&c));
    NOT(e5.execution_stream_operation_prepare_op_for_encode(c.operation),
        "Op has not been encoded and hence cannot be reset to 'ReadyForEncode'");
    NOT(e5.execution_stream_reset(c.stream), "");
    NOT(e5.execution_stream_execute_sync(c.stream), "");
    encode_and_run(&c); /* and all is well */
    close_client(&c);
}

static void test_encoding_freezes_bindings(void)
{
    client c;
    REQUIRE(open_client(&c));
    encode_and_run(&c);
    NOT(e5.io_port_bind_buffer_object(c.ports[3], c.buffers[1]), "encode");
    NOT(e5.execution_stream_operation_bind_completion_event(c.operation, c.event), "encoded");
    NOT(e5.execution_stream_operation_bind_dependent_events(c.operation, &c.event, 1), "encoded");
    NOT(e5.execution_stream_encode_operation(c.stream, c.operation), "encoded");
    NOT(e5.execution_stream_operation_prepare_op_for_encode(c.operation), "reset the stream first");
    DO(e5.execution_stream_execute_sync(c.stream));
    close_client(&c);
}

static void test_synchronous_runs_signal_no_event(void)
{
    client c;
    uint64_t value = 7;
    REQUIRE(open_client(&c));
    encode_and_run(&c);
    DO(e5.async_event_get_last_signaled_value(c.event, &value));
    CHECK_INT((int64_t)value, 0);
    close_client(&c);
}

static void test_what_is_not_there_is_refused(void)
{
    client c;
    void *out = NULL;
    REQUIRE(open_client(&c));
    NOT(e5.program_library_retain_program_function(c.library, "other", &out), "other");
    NOT(e5.execution_stream_operation_retain_input_port(c.operation, "z", &out), "z");
    NOT(e5.execution_stream_operation_retain_output_port(c.operation, "x", &out), "x");
    CHECK(out == NULL);
    close_client(&c);
}

/* The memory must hold what the port needs, and every port needs some. */
static void test_an_operation_without_its_buffers_is_not_encoded(void)
{
    client c = {0};
    compile(&c);
    make_operation(&c);
    DO(e5.execution_stream_create(&c.stream));
    NOT(e5.execution_stream_encode_operation(c.stream, c.operation), "x");
    bind_ports(&c);
    void *small = NULL;
    DO(e5.buffer_object_alloc(&small, 2, 0));
    DO(e5.io_port_bind_buffer_object(c.ports[0], small));
    NOT(e5.execution_stream_encode_operation(c.stream, c.operation), "x");
    DO(e5.io_port_bind_buffer_object(c.ports[0], c.buffers[0]));
    DO(e5.buffer_object_release(&small));
    DO(e5.async_event_create(&c.event, "late", 0));
    encode_and_run(&c);
    close_client(&c);
}

/* A handle that is released is no handle: not for the calls behind it, nor a second time. */
static void test_released_handles_are_refused(void)
{
    client c;
    REQUIRE(open_client(&c));
    void *stream = c.stream, *again = c.stream;
    DO(e5.execution_stream_release(&stream));
    NOT(e5.execution_stream_execute_sync(c.stream), "");
    NOT(e5.execution_stream_release(&again), "");
    NOT(e5.execution_stream_encode_operation(c.stream, c.operation), "");
    NOT(e5.execution_stream_encode_operation(c.operation, c.operation), ""); /* a handle of another kind */
    DO(e5.execution_stream_create(&c.stream));
    encode_and_run(&c);
    close_client(&c);
}

static void test_texts_that_do_not_compile_are_refused(void)
{
    client c = {0};
    void *out = NULL;
    compile(&c);
    folder_put("bad.mil", "program(1.3) { func main<ios18>(tensor<fp16, [2]> x) { } -> (y); }");
    NOT(e5.e5_compiler_compile(c.compiler, "bad.mil", c.options, &out), "line 1");
    NOT(e5.e5_compiler_compile(c.compiler, "none.mil", c.options, &out), "none.mil");
    NOT(e5.e5_compiler_compile(c.compiler, NULL, c.options, &out), "");
    CHECK(out == NULL);
    make_operation(&c);
    DO(e5.execution_stream_operation_release(&c.operation));
    DO(e5.precompiled_compute_op_create_options_release(&c.op_options));
    DO(e5.program_function_release(&c.function));
    DO(e5.program_library_release(&c.library));
}

int main(void)
{
    char folder[512];
    if (MW_E5RT_LIBRARY == NULL && getenv("MW_E5RT_LIBRARY") == NULL) {
        puts("skipped: built without the engine's own library");
        return 0;
    }
    if (!load() || !folder_enter(folder))
        return 1;
    RUN(test_the_engine_places_by_costs);
    RUN(test_the_sequence_computes);
    RUN(test_state_stays_resident);
    RUN(test_a_stream_runs_its_operations_in_order);
    RUN(test_an_operation_is_encoded_again);
    RUN(test_a_function_that_is_null_is_refused);
    RUN(test_arguments_in_the_other_order_are_refused);
    RUN(test_an_event_needs_a_name);
    RUN(test_there_are_three_types_of_buffers);
    RUN(test_what_was_never_encoded_is_not_prepared);
    RUN(test_encoding_freezes_bindings);
    RUN(test_synchronous_runs_signal_no_event);
    RUN(test_what_is_not_there_is_refused);
    RUN(test_an_operation_without_its_buffers_is_not_encoded);
    RUN(test_released_handles_are_refused);
    RUN(test_texts_that_do_not_compile_are_refused);
    folder_leave(folder);
    return check_finish();
}
