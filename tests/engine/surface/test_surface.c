/* The e5rt surface: the documented order of calls, and every call that must be refused. */
#include "base/file/file.h"
#include "engine/refused.h"
#include "engine/run.h"
#include "support/check.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#define ADD                                                                                                            \
    RUN_TEXT("tensor<fp32, [2, 3]> x, tensor<fp32, [2, 3]> w", "tensor<fp32, [2, 3]> y = add(x = x, y = w);\n", "y")

static bool open_bound(run_program *r)
{
    return run_open(r, ADD, E5RT_CPU, 1) && run_bind(r, false, "x", 24) != NULL &&
           run_bind(r, false, "w", 24) != NULL && run_bind(r, true, "y", 24) != NULL;
}

/* ---- the documented order ---- */

typedef e5rt_error_code call_out(void **);
typedef e5rt_error_code call_handle_text(void *, const char *);
typedef e5rt_error_code call_handle_mask(void *, uint64_t);
typedef e5rt_error_code call_handle_int(void *, int);
typedef e5rt_error_code call_out_handle(void **, void *);
typedef e5rt_error_code call_compile(void *, const char *, void *, void **);
typedef e5rt_error_code call_retain(void *, const char *, void **);
typedef e5rt_error_code call_alloc(void **, uint64_t, uint32_t);
typedef e5rt_error_code call_two(void *, void *);
typedef e5rt_error_code call_event(void **, const char *, uint32_t);
typedef e5rt_error_code call_data(void *, void **);
typedef e5rt_error_code call_one(void *);

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    check_note(found != NULL, __FILE__, __LINE__, "no symbol %s", name);
    return found;
}

/* Object to function pointers, which C keeps apart and dlsym does not. */
#define CALL(library, type, name) (*(type **)(void *[]){symbol((library), (name))})

static void *bind_port(void *e5rt, void *operation, const char *retain, const char *name, uint64_t size,
                       void **out_port, void **out_buffer)
{
    void *data = NULL;
    CHECK_INT(CALL(e5rt, call_retain, retain)(operation, name, out_port), 0);
    CHECK_INT(CALL(e5rt, call_alloc, "e5rt_buffer_object_alloc")(out_buffer, size, 0), 0);
    CHECK_INT(CALL(e5rt, call_data, "e5rt_buffer_object_get_data_ptr")(*out_buffer, &data), 0);
    CHECK_INT(CALL(e5rt, call_two, "e5rt_io_port_bind_buffer_object")(*out_port, *out_buffer), 0);
    return data;
}

static void *compile_in_documented_order(void *e5rt, const char *path)
{
    void *config = NULL, *compiler = NULL, *options = NULL, *library = NULL;
    CHECK_INT(CALL(e5rt, call_out, "e5rt_e5_compiler_config_options_create")(&config), 0);
    CHECK_INT(CALL(e5rt, call_handle_text, "e5rt_e5_compiler_config_options_set_cache_bundle_location")(config, "/tmp"),
              0);
    CHECK_INT(CALL(e5rt, call_out_handle, "e5rt_e5_compiler_create_with_config")(&compiler, config), 0);
    CHECK_INT(CALL(e5rt, call_out, "e5rt_e5_compiler_options_create")(&options), 0);
    CHECK_INT(CALL(e5rt, call_handle_mask, "e5rt_e5_compiler_options_set_compute_device_types_mask")(options, 1), 0);
    CHECK_INT(CALL(e5rt, call_handle_int, "e5rt_e5_compiler_options_set_force_recompilation")(options, 1), 0);
    CHECK_INT(CALL(e5rt, call_handle_text, "e5rt_e5_compiler_options_set_segmenter")(options, "graph"), 0);
    CHECK_INT(CALL(e5rt, call_compile, "e5rt_e5_compiler_compile")(compiler, path, options, &library), 0);
    CHECK_INT(CALL(e5rt, call_out, "e5rt_e5_compiler_options_release")(&options), 0);
    CHECK_INT(CALL(e5rt, call_out, "e5rt_e5_compiler_release")(&compiler), 0);
    CHECK_INT(CALL(e5rt, call_out, "e5rt_e5_compiler_config_options_release")(&config), 0);
    CHECK(config == NULL && compiler == NULL && options == NULL);
    return library;
}

static void *make_operation(void *e5rt, void *library, void **out_function)
{
    void *options = NULL, *operation = NULL;
    CHECK_INT(CALL(e5rt, call_retain, "e5rt_program_library_retain_program_function")(library, "main", out_function),
              0);
    CHECK_INT(CALL(e5rt, call_out_handle,
                   "e5rt_precompiled_compute_op_create_options_create_with_program_function")(&options, *out_function),
              0);
    CHECK_INT(
        CALL(e5rt, call_handle_text, "e5rt_precompiled_compute_op_create_options_set_operation_name")(options, "main"),
        0);
    CHECK_INT(CALL(e5rt, call_handle_int,
                   "e5rt_precompiled_compute_op_create_options_set_allocate_intermediate_buffers")(options, 1),
              0);
    CHECK_INT(
        CALL(e5rt, call_out_handle,
             "e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options")(&operation, options),
        0);
    CHECK_INT(CALL(e5rt, call_out, "e5rt_precompiled_compute_op_create_options_release")(&options), 0);
    return operation;
}

static void run_documented_order(void *e5rt, const char *path)
{
    void *ports[3] = {0}, *buffers[3] = {0}, *event = NULL, *stream = NULL, *function = NULL;
    void *library = compile_in_documented_order(e5rt, path);
    REQUIRE(library != NULL);
    void *operation = make_operation(e5rt, library, &function);
    REQUIRE(operation != NULL);
    static const char *const retain_in = "e5rt_execution_stream_operation_retain_input_port";
    float *x = bind_port(e5rt, operation, retain_in, "x", 64, &ports[0], &buffers[0]);
    float *w = bind_port(e5rt, operation, retain_in, "w", 64, &ports[1], &buffers[1]);
    const float *y = bind_port(e5rt, operation, "e5rt_execution_stream_operation_retain_output_port", "y", 64,
                               &ports[2], &buffers[2]);
    REQUIRE(x != NULL && w != NULL && y != NULL);
    CHECK_INT(CALL(e5rt, call_event, "e5rt_async_event_create")(&event, "op0_complete", 0), 0);
    CHECK_INT(CALL(e5rt, call_two, "e5rt_execution_stream_operation_bind_completion_event")(operation, event), 0);
    CHECK_INT(CALL(e5rt, call_out, "e5rt_execution_stream_create")(&stream), 0);
    CHECK_INT(CALL(e5rt, call_two, "e5rt_execution_stream_encode_operation")(stream, operation), 0);
    for (int step = 1; step <= 3; step++) {
        x[5] = (float)step, w[5] = 10;
        CHECK_INT(CALL(e5rt, call_one, "e5rt_execution_stream_execute_sync")(stream), 0);
        CHECK_NEAR(y[5], 10 + step, 0);
    }
    CHECK_INT(CALL(e5rt, call_out, "e5rt_execution_stream_release")(&stream), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(CALL(e5rt, call_out, "e5rt_buffer_object_release")(&buffers[i]), 0);
        CHECK_INT(CALL(e5rt, call_out, "e5rt_io_port_release")(&ports[i]), 0);
    }
    CHECK_INT(CALL(e5rt, call_out, "e5rt_async_event_release")(&event), 0);
    CHECK_INT(CALL(e5rt, call_out, "e5rt_execution_stream_operation_release")(&operation), 0);
    CHECK_INT(CALL(e5rt, call_out, "e5rt_program_function_release")(&function), 0);
    CHECK_INT(CALL(e5rt, call_out, "e5rt_program_library_release")(&library), 0);
}

#ifndef MW_E5RT_LIBRARY
#define MW_E5RT_LIBRARY NULL /* not built */
#endif

static void test_documented_call_order_through_dlopen(void)
{
    static const char *const library = MW_E5RT_LIBRARY;
    mw_error err = {0};
    char *folder = NULL, path[512];
    if (library == NULL)
        SKIP("libmillwright_e5rt is not built");
    REQUIRE(mw__file_make_private_folder(NULL, 0, &folder, &err) == MW_OK);
    snprintf(path, sizeof path, "%s/model.mil", folder);
    REQUIRE(mw__file_write(NULL, path, ADD, strlen(ADD), false, &err) == MW_OK);
    void *e5rt = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (check_note(e5rt != NULL, __FILE__, __LINE__, "%s", library)) {
        run_documented_order(e5rt, path);
        run_documented_order(e5rt, folder); /* a folder is as good */
        CHECK(dlsym(e5rt, "mw_graph_create") == NULL);
        CHECK_INT(dlclose(e5rt), 0);
    }
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
}

/* ---- what is refused ---- */

static void test_null_arguments_are_refused(void)
{
    run_program r;
    void *out = NULL, *event = NULL;
    uint64_t count;
    REQUIRE(open_bound(&r));
    REFUSED(e5rt_e5_compiler_create(NULL), E5RT_INVALID_ARGUMENT, "out pointer is NULL");
    REFUSED(e5rt_e5_compiler_create_with_config(&out, NULL), E5RT_INVALID_ARGUMENT, "config is NULL");
    REFUSED(e5rt_e5_compiler_compile(NULL, "x", NULL, &out), E5RT_INVALID_ARGUMENT, "compiler is NULL");
    REFUSED(e5rt_async_event_create(&event, NULL, 0), E5RT_INVALID_ARGUMENT,
            "Invalid Function Argument: eventName is NULL");
    REFUSED(e5rt_precompiled_compute_op_create_options_create_with_program_function(&out, NULL), E5RT_INVALID_ARGUMENT,
            "Cannot provide program function as nullptr");
    REFUSED(e5rt_program_library_retain_program_function(r.library, NULL, &out), E5RT_INVALID_ARGUMENT,
            "functionName is NULL");
    REFUSED(e5rt_execution_stream_operation_retain_input_port(r.operation, NULL, &out), E5RT_INVALID_ARGUMENT,
            "portName is NULL");
    REFUSED(e5rt_execution_stream_operation_retain_input_port(r.operation, "x", NULL), E5RT_INVALID_ARGUMENT,
            "out pointer is NULL");
    REFUSED(e5rt_program_library_get_num_functions(r.library, NULL), E5RT_INVALID_ARGUMENT, "out pointer is NULL");
    REFUSED(e5rt_program_library_get_num_functions(NULL, &count), E5RT_INVALID_ARGUMENT, "library is NULL");
    REFUSED(e5rt_io_port_bind_buffer_object(r.ports[0].port, NULL), E5RT_INVALID_ARGUMENT, "buffer is NULL");
    REFUSED(e5rt_execution_stream_release(NULL), E5RT_INVALID_ARGUMENT, "address of the handle is NULL");
    REFUSED(e5rt_buffer_object_create_from_data_pointer(&out, NULL, 4), E5RT_INVALID_ARGUMENT, "data pointer is NULL");
    REFUSED(e5rt_buffer_object_alloc(&out, 0, 0), E5RT_INVALID_ARGUMENT, "0 bytes");
    CHECK(out == NULL);
    run_close(&r);
}

static void test_wrong_released_and_foreign_handles_are_refused(void)
{
    run_program r;
    int number = 7;
    uint64_t size;
    REQUIRE(open_bound(&r));
    REFUSED(e5rt_buffer_object_get_size(r.stream, &size), E5RT_INVALID_ARGUMENT, "not a live handle");
    REFUSED(e5rt_buffer_object_get_size(&number, &size), E5RT_INVALID_ARGUMENT, "not a live handle");
    REFUSED(e5rt_buffer_object_get_size((void *)UINTPTR_MAX, &size), E5RT_INVALID_ARGUMENT, "not a live handle");
    void *buffer = NULL, *stale = NULL, *other = NULL;
    CHECK_INT(e5rt_buffer_object_alloc(&buffer, 64, 1), 0);
    stale = buffer;
    CHECK_INT(e5rt_buffer_object_release(&buffer), 0);
    CHECK(buffer == NULL);
    CHECK_INT(e5rt_buffer_object_alloc(&other, 64, 0), 0); /* takes the same cell */
    REFUSED(e5rt_buffer_object_get_size(stale, &size), E5RT_INVALID_ARGUMENT, "not a live handle");
    REFUSED(e5rt_buffer_object_release(&stale), E5RT_INVALID_ARGUMENT, "not a live handle");
    REFUSED(e5rt_buffer_object_release(&buffer), E5RT_INVALID_ARGUMENT, "the handle is NULL");
    REFUSED(e5rt_io_port_release(&other), E5RT_INVALID_ARGUMENT, "not a live handle");
    CHECK_INT(e5rt_buffer_object_release(&other), 0);
    run_close(&r);
}

static void test_buffer_types(void)
{
    void *buffer = NULL;
    uint32_t type = 9;
    uint64_t size = 0;
    REFUSED(e5rt_buffer_object_alloc(&buffer, 64, 3), E5RT_INVALID_TYPE, "Invalid BufferType");
    CHECK_INT(e5rt_buffer_object_alloc(&buffer, 65, 2), 0);
    CHECK_INT(e5rt_buffer_object_get_type(buffer, &type), 0);
    CHECK_INT(e5rt_buffer_object_get_size(buffer, &size), 0);
    CHECK_INT(type, 2);
    CHECK_INT(size, 65);
    CHECK_INT(e5rt_buffer_object_release(&buffer), 0);
    REFUSED(e5rt_buffer_object_alloc(&buffer, UINT64_MAX, 0), E5RT_INVALID_ARGUMENT, "cannot have");
    CHECK(buffer == NULL);
}

static void test_unknown_names_list_what_exists(void)
{
    run_program r;
    void *out = NULL;
    REQUIRE(open_bound(&r));
    REFUSED(e5rt_execution_stream_operation_retain_input_port(r.operation, "z", &out), E5RT_INVALID_ARGUMENT,
            "no input port \"z\"; it has: x, w");
    REFUSED(e5rt_execution_stream_operation_retain_output_port(r.operation, "x", &out), E5RT_INVALID_ARGUMENT,
            "it has: y");
    REFUSED(e5rt_program_library_retain_program_function(r.library, "predict", &out), E5RT_INVALID_ARGUMENT,
            "no function \"predict\"; the library has: main");
    run_close(&r);
}

static void test_bind_after_encode_is_refused(void)
{
    run_program r;
    void *event = NULL;
    REQUIRE(open_bound(&r));
    REQUIRE(run_encode(&r));
    CHECK_INT(e5rt_async_event_create(&event, "done", 3), 0);
    REFUSED(e5rt_io_port_bind_buffer_object(r.ports[0].port, r.ports[1].buffer), E5RT_INVALID_OPERATION,
            "port \"x\" of operation \"main\" cannot be bound");
    REFUSED(e5rt_execution_stream_operation_bind_completion_event(r.operation, event), E5RT_INVALID_OPERATION,
            "events are frozen");
    REFUSED(e5rt_execution_stream_encode_operation(r.stream, r.operation), E5RT_INVALID_OPERATION, "already encoded");
    e5rt_async_event_release(&event);
    run_close(&r);
}

static void test_encode_again_needs_reset_then_prepare(void)
{
    run_program r;
    REQUIRE(open_bound(&r));
    REFUSED(e5rt_execution_stream_operation_prepare_op_for_encode(r.operation), E5RT_INVALID_OPERATION,
            "Op has not been encoded and hence cannot be reset to 'ReadyForEncode'");
    REFUSED(e5rt_execution_stream_reset(r.stream), E5RT_INVALID_OPERATION, "fresh");
    REFUSED(e5rt_execution_stream_execute_sync(r.stream), E5RT_INVALID_OPERATION, "no operation is encoded");
    REQUIRE(run_encode(&r) && run_execute(&r));
    REFUSED(e5rt_execution_stream_operation_prepare_op_for_encode(r.operation), E5RT_INVALID_OPERATION,
            "reset the stream first");
    CHECK_INT(e5rt_execution_stream_reset(r.stream), 0);
    REFUSED(e5rt_execution_stream_encode_operation(r.stream, r.operation), E5RT_INVALID_OPERATION, "prepare");
    CHECK_INT(e5rt_execution_stream_operation_prepare_op_for_encode(r.operation), 0);
    float *x = r.ports[0].data;
    float *w = r.ports[1].data;
    x[0] = 1, w[0] = 100;
    CHECK_INT(e5rt_io_port_bind_buffer_object(r.ports[0].port, r.ports[1].buffer), 0);
    REQUIRE(run_encode(&r) && run_execute(&r));
    CHECK_NEAR(*(const float *)r.ports[2].data, 200, 0);
    run_close(&r);
}

static void test_encode_names_unbound_and_small_buffers(void)
{
    run_program r;
    float memory[8];
    REQUIRE(run_open(&r, ADD, E5RT_CPU, 1));
    REQUIRE(run_bind(&r, false, "x", 24) != NULL);
    REFUSED(e5rt_execution_stream_encode_operation(r.stream, r.operation), E5RT_INVALID_OPERATION,
            "input port \"w\" is not bound");
    REQUIRE(run_bind(&r, false, "w", 20) != NULL && run_bind(&r, true, "y", 24) != NULL);
    REFUSED(e5rt_execution_stream_encode_operation(r.stream, r.operation), E5RT_INVALID_ARGUMENT,
            "input port \"w\" needs 24 bytes, its buffer has 20");
    REQUIRE(run_bind_data(&r, false, "w", (char *)memory + 1, 24));
    REFUSED(e5rt_execution_stream_encode_operation(r.stream, r.operation), E5RT_INVALID_ARGUMENT, "not aligned");
    REQUIRE(run_bind_data(&r, false, "w", memory, 24) && run_encode(&r));
    run_close(&r);
}

static void test_events_keep_their_value_under_execute_sync(void)
{
    run_program r;
    void *event = NULL;
    uint64_t value = 9;
    REQUIRE(open_bound(&r));
    CHECK_INT(e5rt_async_event_create(&event, "done", 3), 0);
    CHECK_INT(e5rt_execution_stream_operation_bind_completion_event(r.operation, event), 0);
    CHECK_INT(e5rt_execution_stream_operation_bind_dependent_events(r.operation, &event, 1), 0);
    REQUIRE(run_encode(&r) && run_execute(&r));
    CHECK_INT(e5rt_async_event_get_last_signaled_value(event, &value), 0);
    CHECK_INT(value, 3);
    REFUSED(e5rt_async_event_get_last_signaled_value(r.stream, &value), E5RT_INVALID_ARGUMENT, "event");
    e5rt_async_event_release(&event);
    run_close(&r);
}

static void check_compile_refused(const char *text, uint64_t mask, e5rt_error_code wanted, const char *part, int line)
{
    void *library = NULL;
    const e5rt_error_code code = run_compile(text, mask, 1, &library);
    check_note(code == wanted && library == NULL, __FILE__, line, "compile gave %lld, not %lld: %s", (long long)code,
               (long long)wanted, code != 0 ? run_message() : "");
    check_note(code != 0 && strstr(run_message(), part) != NULL, __FILE__, line, "message \"%s\" without \"%s\"",
               code != 0 ? run_message() : "", part);
}

static void test_compile_says_what_it_cannot_do(void)
{
    check_compile_refused(ADD, E5RT_GPU, E5RT_INVALID_OPERATION, "the engine has no GPU", __LINE__);
    check_compile_refused(ADD, 0, E5RT_INVALID_ARGUMENT, "mask is 0", __LINE__);
    check_compile_refused("program(1.3)\n{", E5RT_CPU, E5RT_INVALID_OPERATION, "line 2", __LINE__);
    check_compile_refused(RUN_TEXT("tensor<fp32, [2]> x", "tensor<fp32, [2]> y = frobnicate(x = x);\n", "y"), E5RT_CPU,
                          E5RT_INVALID_OPERATION, "frobnicate", __LINE__);
    check_compile_refused(RUN_TEXT("tensor<fp32, [2]> x", "tensor<fp32, [2]> y = frobnicate(x = x);\n", "y"), E5RT_CPU,
                          E5RT_INVALID_OPERATION, "line 5", __LINE__);
    check_compile_refused(RUN_TEXT("tensor<fp32, [?]> x", "tensor<fp32, [?]> y = relu(x = x);\n", "y"), E5RT_CPU,
                          E5RT_INVALID_OPERATION, "no fixed size", __LINE__);
    check_compile_refused(RUN_TEXT("tensor<fp32, [2]> x", "tensor<fp32, [2]> y = relu(x = x);\n", "y, y"), E5RT_CPU,
                          E5RT_INVALID_OPERATION, "twice", __LINE__);
    void *compiler = NULL, *options = NULL, *library = NULL;
    CHECK_INT(e5rt_e5_compiler_create(&compiler), 0);
    CHECK_INT(e5rt_e5_compiler_options_create(&options), 0);
    REFUSED(e5rt_e5_compiler_compile(compiler, "/nowhere/model.mil", options, &library), E5RT_INVALID_ARGUMENT,
            "/nowhere/model.mil");
    REFUSED(e5rt_e5_compiler_compile(compiler, NULL, options, &library), E5RT_INVALID_ARGUMENT, "path is NULL");
    REFUSED(e5rt_mw_e5_compiler_options_set_threads(options, 65), E5RT_INVALID_ARGUMENT, "65 threads");
    e5rt_e5_compiler_options_release(&options);
    e5rt_e5_compiler_release(&compiler);
}

/* Texts that other programs wrote: the library itself writes casts. */
static void test_types_that_differ_run_as_text(void)
{
    run_program r;
    REQUIRE(
        run_open(&r,
                 RUN_TEXT("tensor<fp32, [1, 2]> x",
                          "tensor<fp32, [1, 2]> y = linear(bias = tensor<fp16, [2]>([10, 20]), weight = tensor<fp16, "
                          "[2, 2]>([[1, 2], [3, 4]]), x = x);\n",
                          "y"),
                 E5RT_CPU, 1));
    float *x = run_bind(&r, false, "x", 8);
    const float *y = run_bind(&r, true, "y", 8);
    REQUIRE(x != NULL && y != NULL);
    x[0] = 5.0f, x[1] = -1.0f;
    CHECK(run_encode(&r) && run_execute(&r));
    CHECK_NEAR(y[0], 5.0 - 2.0 + 10.0, 0);
    CHECK_NEAR(y[1], 15.0 - 4.0 + 20.0, 0);
    run_close(&r);
}

static void test_a_computed_weight_of_linear_is_refused_as_text(void)
{
    void *library = NULL;
    CHECK(run_compile(RUN_TEXT("tensor<fp32, [2, 2]> w, tensor<fp32, [1, 2]> x",
                               "tensor<fp32, [1, 2]> y = linear(weight = w, x = x);\n", "y"),
                      E5RT_CPU, 1, &library) != E5RT_OK);
    CHECK_CONTAINS(run_message(), "weight must be a constant");
}

static void test_summary_names_device_and_threads(void)
{
    run_program r;
    const char *summary = NULL, *name = NULL;
    REQUIRE(run_open(&r, ADD, E5RT_CPU, 2));
    CHECK_INT(e5rt_mw_program_function_get_summary(r.function, &summary), 0);
    CHECK_CONTAINS(summary, "CPU");
    CHECK_CONTAINS(summary, "2 threads");
    CHECK_INT(e5rt_program_function_get_name(r.function, &name), 0);
    CHECK_STR(name, "main");
    uint64_t count = 0;
    const char *names[2] = {0};
    CHECK_INT(e5rt_program_library_get_num_functions(r.library, &count), 0);
    CHECK_INT(count, 1);
    REFUSED(e5rt_program_library_get_function_names(r.library, 2, names), E5RT_OUT_OF_BOUNDS, "1 functions");
    CHECK_INT(e5rt_program_library_get_function_names(r.library, 1, names), 0);
    CHECK_STR(names[0], "main");
    run_close(&r);
}

#define HALF                                                                                                           \
    RUN_TEXT("tensor<fp16, [2, 3]> x, tensor<fp16, [2, 3]> w", "tensor<fp16, [2, 3]> y = add(x = x, y = w);\n", "y")

static void test_mask_prefers_the_ane_model_then_the_cpu(void)
{
    for (uint64_t mask = 1; mask <= 7; mask++) {
        run_program r;
        const char *summary = NULL;
        if (mask == E5RT_GPU)
            continue;
        REQUIRE(run_open(&r, HALF, mask, 1));
        CHECK_INT(e5rt_mw_program_function_get_summary(r.function, &summary), 0);
        CHECK_CONTAINS(summary, mask >= E5RT_ANE ? "ANE model" : "CPU");
        run_close(&r);
    }
}

static void test_each_function_of_a_text_can_be_run(void)
{
    static const char *const text =
        "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
        "func a<ios18>(tensor<fp32, [2]> x) { tensor<fp32, [2]> y = relu(x = x); } -> (y);\n"
        "func main<ios18>(tensor<fp32, [3]> z) { tensor<fp32, [3]> u = abs(x = z); } -> (u);\n}\n";
    run_program r;
    uint64_t count = 0;
    void *function = NULL;
    REQUIRE(run_open(&r, text, E5RT_CPU, 1));
    CHECK_INT(e5rt_program_library_get_num_functions(r.library, &count), 0);
    CHECK_INT(count, 2);
    CHECK_INT(e5rt_program_library_retain_program_function(r.library, "a", &function), 0);
    CHECK_INT(e5rt_program_function_release(&function), 0);
    float *z = run_bind(&r, false, "z", 12);
    const float *u = run_bind(&r, true, "u", 12);
    REQUIRE(z != NULL && u != NULL && run_encode(&r));
    z[2] = -3;
    REQUIRE(run_execute(&r));
    CHECK_NEAR(u[2], 3, 0);
    run_close(&r);
}

static void test_more_handles_than_one_chunk(void)
{
    enum { COUNT = 3000 };
    static void *events[COUNT];
    uint64_t value = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        REQUIRE(e5rt_async_event_create(&events[i], "many", i) == 0);
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK(e5rt_async_event_get_last_signaled_value(events[i], &value) == 0 && value == i);
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK_INT(e5rt_async_event_release(&events[i]), 0);
}

/* What a released object still holds goes on working: the operation keeps its function, buffers and library. */
static void test_releases_in_any_order(void)
{
    run_program r;
    REQUIRE(open_bound(&r));
    REQUIRE(run_encode(&r));
    CHECK_INT(e5rt_program_library_release(&r.library), 0);
    CHECK_INT(e5rt_program_function_release(&r.function), 0);
    CHECK_INT(e5rt_execution_stream_operation_release(&r.operation), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(e5rt_io_port_release(&r.ports[i].port), 0);
    float *x = r.ports[0].data;
    x[1] = 5;
    REQUIRE(run_execute(&r));
    CHECK_NEAR(((const float *)r.ports[2].data)[1], 5, 0);
    run_close(&r);
}

static void test_several_operations_run_in_order(void)
{
    run_program first, second;
    REQUIRE(open_bound(&first));
    REQUIRE(run_open(&second, ADD, E5RT_CPU, 1));
    REQUIRE(run_bind_data(&second, false, "x", first.ports[2].data, 24)); /* y of the first */
    REQUIRE(run_bind_data(&second, false, "w", first.ports[2].data, 24));
    const float *y = run_bind(&second, true, "y", 24);
    CHECK_INT(e5rt_execution_stream_encode_operation(first.stream, first.operation), 0);
    CHECK_INT(e5rt_execution_stream_encode_operation(first.stream, second.operation), 0);
    ((float *)first.ports[0].data)[2] = 3;
    ((float *)first.ports[1].data)[2] = 4;
    REQUIRE(y != NULL && run_execute(&first));
    CHECK_NEAR(y[2], 14, 0);
    run_close(&first);
    run_close(&second);
}

static void test_child_of_fork_gets_an_error(void)
{
    run_program r;
    REQUIRE(open_bound(&r) && run_encode(&r) && run_execute(&r));
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        void *out = NULL;
        alarm(20); /* a hang ends as a signal */
        const bool good = e5rt_execution_stream_execute_sync(r.stream) == E5RT_INVALID_OPERATION &&
                          strstr(e5rt_get_last_error_message(), "fork") != NULL &&
                          e5rt_e5_compiler_create(&out) == E5RT_INVALID_OPERATION && out == NULL &&
                          e5rt_execution_stream_release(&r.stream) == E5RT_INVALID_OPERATION;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    REQUIRE(run_execute(&r)); /* the parent goes on */
    run_close(&r);
}

int main(void)
{
    RUN(test_documented_call_order_through_dlopen);
    RUN(test_null_arguments_are_refused);
    RUN(test_wrong_released_and_foreign_handles_are_refused);
    RUN(test_buffer_types);
    RUN(test_unknown_names_list_what_exists);
    RUN(test_bind_after_encode_is_refused);
    RUN(test_encode_again_needs_reset_then_prepare);
    RUN(test_encode_names_unbound_and_small_buffers);
    RUN(test_events_keep_their_value_under_execute_sync);
    RUN(test_compile_says_what_it_cannot_do);
    RUN(test_types_that_differ_run_as_text);
    RUN(test_a_computed_weight_of_linear_is_refused_as_text);
    RUN(test_summary_names_device_and_threads);
    RUN(test_mask_prefers_the_ane_model_then_the_cpu);
    RUN(test_each_function_of_a_text_can_be_run);
    RUN(test_more_handles_than_one_chunk);
    RUN(test_releases_in_any_order);
    RUN(test_several_operations_run_in_order);
    RUN(test_child_of_fork_gets_an_error);
    return check_finish();
}
