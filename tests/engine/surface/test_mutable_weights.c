/* Weights of a compiled function that are exchanged when an operation is made: by file, for some files or all, shared
 * by operations; and what cannot be exchanged. */
#include "base/number/fp16.h"
#include "engine/refused.h"
#include "support/folder.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { N = 8 };

#define A_PATH "@model_path/weights/a.bin"
#define B_PATH "@model_path/weights/b.bin"

static const char *const both[] = {A_PATH, B_PATH};

/* ---- files ---- */

/* The weight file of a model with one constant of N x N, each of whose elements says place and file; its entry is at
 * 64. Small whole numbers, so that products are exact in fp16. */
static double element(int which, int i) { return (double)((i * 7 + which * 5) % 5 - 2); }

static void put(void *data, bool half, int i, double value)
{
    if (half)
        ((uint16_t *)data)[i] = mw__fp16_from_double(value);
    else
        ((float *)data)[i] = (float)value;
}

static void write_blob(const char *path, int which, bool half)
{
    mw_error err = {0};
    float values[N * N];
    const mw_dtype dtype = half ? MW_F16 : MW_F32;
    for (int i = 0; i < N * N; i++)
        put(values, half, i, element(which, i));
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_constant(graph, dtype, MW_SHAPE(N, N), values);
    mw_output(mw_add(w, mw_input(graph, "x", dtype, MW_SHAPE(N, N))), "y");
    mw_graph_write(graph, "scratch", NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    CHECK_INT(rename("scratch/weights/weight.bin", path), 0);
    folder_empty("scratch");
}

static const char text[] =
    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
    "    func main<ios18>(tensor<fp32, [1, 8]> x) {\n"
    "        tensor<fp32, [8, 8]> a = const()[name = string(\"a\"), val = tensor<fp32, [8, 8]>(BLOBFILE(path = "
    "string(\"" A_PATH "\"), offset = uint64(64)))];\n"
    "        tensor<fp32, [8, 8]> b = const()[name = string(\"b\"), val = tensor<fp32, [8, 8]>(BLOBFILE(path = "
    "string(\"" B_PATH "\"), offset = uint64(64)))];\n"
    "        bool no = const()[name = string(\"no\"), val = bool(false)];\n"
    "        tensor<fp32, [1, 8]> h = matmul(transpose_x = no, transpose_y = no, x = x, y = a)[name = string(\"h\")];\n"
    "        tensor<fp32, [1, 8]> y = matmul(transpose_x = no, transpose_y = no, x = h, y = b)[name = string(\"y\")];\n"
    "    } -> (y);\n}\n";

/* The body of a branch has one of the constants. */
static const char branch[] =
    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
    "    func main<ios18>(tensor<fp32, [1, 8]> x) {\n"
    "        bool no = const()[name = string(\"no\"), val = bool(false)];\n"
    "        bool yes = const()[name = string(\"yes\"), val = bool(true)];\n"
    "        tensor<fp32, [8, 8]> b = const()[name = string(\"b\"), val = tensor<fp32, [8, 8]>(BLOBFILE(path = "
    "string(\"" B_PATH "\"), offset = uint64(64)))];\n"
    "        tensor<fp32, [1, 8]> h = cond(pred = yes)[name = string(\"h\")]\n"
    "        () {\n"
    "        tensor<fp32, [8, 8]> a = const()[name = string(\"a\"), val = tensor<fp32, [8, 8]>(BLOBFILE(path = "
    "string(\"" A_PATH "\"), offset = uint64(64)))];\n"
    "        tensor<fp32, [1, 8]> t = matmul(transpose_x = no, transpose_y = no, x = x, y = a)[name = string(\"t\")];\n"
    "        } -> (t)\n        () {\n"
    "        tensor<fp32, [1, 8]> f = relu(x = x)[name = string(\"f\")];\n"
    "        } -> (f);\n"
    "        tensor<fp32, [1, 8]> y = matmul(transpose_x = no, transpose_y = no, x = h, y = b)[name = string(\"y\")];\n"
    "    } -> (y);\n}\n";

/* ---- programs ---- */

static e5rt_error_code compile(const char *program, uint64_t mask, const char *const *paths, uint64_t count, void **out)
{
    void *compiler = NULL, *options = NULL;
    folder_put("model.mil", program);
    CHECK_INT(e5rt_e5_compiler_create(&compiler), 0);
    CHECK_INT(e5rt_e5_compiler_options_create(&options), 0);
    CHECK_INT(e5rt_e5_compiler_options_set_compute_device_types_mask(options, mask), 0);
    CHECK_INT(e5rt_mw_e5_compiler_options_set_mutable_weight_paths(options, paths, count), 0);
    const e5rt_error_code code = e5rt_e5_compiler_compile(compiler, "model.mil", options, out);
    check_note(code == 0, __FILE__, __LINE__, "%s", e5rt_get_last_error_message());
    e5rt_e5_compiler_options_release(&options);
    e5rt_e5_compiler_release(&compiler);
    return code;
}

static void *options_of(void *library)
{
    void *function = NULL, *options = NULL;
    CHECK_INT(e5rt_program_library_retain_program_function(library, "main", &function), 0);
    CHECK_INT(e5rt_precompiled_compute_op_create_options_create_with_program_function(&options, function), 0);
    e5rt_program_function_release(&function);
    return options;
}

typedef struct bound {
    void *operation;
    float x[N], y[N]; /* or halves, in their first bytes */
    bool half;
} bound;

static void bind(const bound *b, bool output, const char *name, void *data)
{
    void *port = NULL, *buffer = NULL;
    if (output)
        CHECK_INT(e5rt_execution_stream_operation_retain_output_port(b->operation, name, &port), 0);
    else
        CHECK_INT(e5rt_execution_stream_operation_retain_input_port(b->operation, name, &port), 0);
    CHECK_INT(e5rt_buffer_object_create_from_data_pointer(&buffer, data, N * (b->half ? 2 : 4)), 0);
    CHECK_INT(e5rt_io_port_bind_buffer_object(port, buffer), 0);
    e5rt_buffer_object_release(&buffer);
    e5rt_io_port_release(&port);
}

static double x_of(int i) { return i % 3 - 1; }

static void make(bound *b, void *options)
{
    CHECK_INT(e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options(&b->operation, options),
              0);
    for (int i = 0; i < N; i++)
        put(b->x, b->half, i, x_of(i));
    bind(b, false, "x", b->x);
    bind(b, true, "y", b->y);
}

/* x A B with the weights of two files: whole numbers below 2048 throughout, which fp16 has. */
static void check_result(const bound *b, int first, int second, int line)
{
    for (int j = 0; j < N; j++) {
        double sum = 0.0;
        for (int k = 0; k < N; k++)
            for (int i = 0; i < N; i++)
                sum += x_of(i) * element(first, i * N + k) * element(second, k * N + j);
        const double y = b->half ? mw__fp16_to_float(((const uint16_t *)b->y)[j]) : b->y[j];
        check_near(y, sum, 0.0, __FILE__, line, "y");
    }
}

static void check_alone(void *options, bool half, int first, int second, int line)
{
    bound b = {.half = half};
    void *stream = NULL;
    make(&b, options);
    CHECK_INT(e5rt_execution_stream_create(&stream), 0);
    CHECK_INT(e5rt_execution_stream_encode_operation(stream, b.operation), 0);
    CHECK_INT(e5rt_execution_stream_execute_sync(stream), 0);
    check_result(&b, first, second, line);
    e5rt_execution_stream_release(&stream);
    e5rt_execution_stream_operation_release(&b.operation);
}
#define CHECK_ALONE(options, first, second) check_alone((options), false, (first), (second), __LINE__)

static e5rt_error_code exchange(void *options, const char *a, const char *b)
{
    const char *const files[] = {a != NULL ? a : b, b};
    if (a == NULL)
        return e5rt_mw_precompiled_compute_op_create_options_set_mutable_weights(options, &both[1], files, 1);
    return e5rt_mw_precompiled_compute_op_create_options_set_mutable_weights(options, both, files, b != NULL ? 2 : 1);
}

/* ---- tests ---- */

static void check_exchange(const char *program)
{
    void *library = NULL;
    REQUIRE(compile(program, E5RT_CPU, both, 2, &library) == 0);
    void *options = options_of(library);
    CHECK_ALONE(options, 0, 1);
    CHECK_INT(exchange(options, "c.bin", NULL), 0);
    CHECK_ALONE(options, 2, 1);
    CHECK_INT(exchange(options, NULL, "c.bin"), 0); /* what is not named is the program's own */
    CHECK_ALONE(options, 0, 2);
    CHECK_INT(exchange(options, "c.bin", "d.bin"), 0);
    CHECK_ALONE(options, 2, 3);
    CHECK_INT(e5rt_mw_precompiled_compute_op_create_options_set_mutable_weights(options, NULL, NULL, 0), 0);
    CHECK_ALONE(options, 0, 1);
    e5rt_precompiled_compute_op_create_options_release(&options);
    e5rt_program_library_release(&library);
}

static void test_weights_are_exchanged_without_a_compile(void) { check_exchange(text); }

static void test_a_weight_in_a_branch_is_exchanged(void) { check_exchange(branch); }

/* The model of the ANE: constants and ports of fp16. */
static void test_weights_are_exchanged_on_mask_4(void)
{
    char half[sizeof text];
    memcpy(half, text, sizeof text);
    for (char *at = half; (at = strstr(at, "fp32")) != NULL;)
        memcpy(at, "fp16", 4);
    void *library = NULL;
    write_blob("weights/a.bin", 0, true);
    write_blob("weights/b.bin", 1, true);
    REQUIRE(compile(half, E5RT_ANE, both, 2, &library) == 0);
    void *options = options_of(library);
    check_alone(options, true, 0, 1, __LINE__);
    CHECK_INT(exchange(options, "half.bin", NULL), 0);
    check_alone(options, true, 4, 1, __LINE__);
    REFUSED(exchange(options, "c.bin", NULL), E5RT_INVALID_DATA_TYPE, "c.bin");
    e5rt_precompiled_compute_op_create_options_release(&options);
    e5rt_program_library_release(&library);
    write_blob("weights/a.bin", 0, false);
    write_blob("weights/b.bin", 1, false);
}

static void test_operations_of_other_weights_run_in_one_stream(void)
{
    bound first = {0}, second = {0}, third = {0};
    void *library = NULL, *stream = NULL;
    REQUIRE(compile(text, E5RT_CPU, both, 2, &library) == 0);
    void *options = options_of(library);
    make(&first, options);
    CHECK_INT(exchange(options, "c.bin", "d.bin"), 0);
    make(&second, options);
    make(&third, options);
    e5rt_precompiled_compute_op_create_options_release(&options);
    e5rt_program_library_release(&library);
    CHECK_INT(e5rt_execution_stream_create(&stream), 0);
    CHECK_INT(e5rt_execution_stream_encode_operation(stream, second.operation), 0);
    CHECK_INT(e5rt_execution_stream_encode_operation(stream, first.operation), 0);
    CHECK_INT(e5rt_execution_stream_encode_operation(stream, third.operation), 0);
    e5rt_execution_stream_operation_release(&second.operation);
    for (int run = 0; run < 2; run++) {
        CHECK_INT(e5rt_execution_stream_execute_sync(stream), 0);
        check_result(&first, 0, 1, __LINE__);
        check_result(&second, 2, 3, __LINE__);
        check_result(&third, 2, 3, __LINE__);
    }
    e5rt_execution_stream_release(&stream);
    e5rt_execution_stream_operation_release(&first.operation);
    e5rt_execution_stream_operation_release(&third.operation);
}

/* They are no ports, and one that is not named stays a constant. */
static void test_mutable_weights_are_no_ports(void)
{
    for (uint64_t count = 1; count < 3; count++) {
        void *library = NULL, *operation = NULL, *port = NULL;
        uint64_t inputs = 0;
        const char *names[2];
        REQUIRE(compile(text, E5RT_CPU, both, count, &library) == 0);
        void *options = options_of(library);
        CHECK_INT(
            e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options(&operation, options), 0);
        CHECK_INT(e5rt_execution_stream_operation_get_num_inputs(operation, &inputs), 0);
        CHECK_INT(inputs, 1);
        CHECK_INT(e5rt_execution_stream_operation_get_input_names(operation, 2, names), E5RT_OUT_OF_BOUNDS);
        REFUSED(e5rt_execution_stream_operation_retain_input_port(operation, "a", &port), E5RT_INVALID_ARGUMENT,
                "no input port \"a\"; it has: x");
        if (count == 1)
            REFUSED(exchange(options, NULL, "c.bin"), E5RT_INVALID_ARGUMENT, "no mutable weight in \"" B_PATH "\"");
        e5rt_execution_stream_operation_release(&operation);
        e5rt_precompiled_compute_op_create_options_release(&options);
        e5rt_program_library_release(&library);
    }
}

static void test_a_bad_file_leaves_the_weights(void)
{
    void *library = NULL;
    char bytes[64 + 64 + N * N * 4];
    const char *const missing[] = {"c.bin", NULL};
    REQUIRE(compile(text, E5RT_CPU, both, 2, &library) == 0);
    void *options = options_of(library);
    CHECK_INT(exchange(options, "c.bin", "d.bin"), 0);
    FILE *whole = fopen("c.bin", "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, whole);
    fclose(whole);
    for (size_t cut = 0; cut < size; cut += 13) {
        FILE *part = fopen("cut.bin", "wb");
        fwrite(bytes, 1, cut, part);
        fclose(part);
        CHECK(exchange(options, "d.bin", "cut.bin") != 0);
    }
    REFUSED(exchange(options, "d.bin", "half.bin"), E5RT_INVALID_DATA_TYPE, "half.bin");
    REFUSED(exchange(options, "d.bin", "none.bin"), E5RT_INVALID_ARGUMENT, "none.bin");
    REFUSED(e5rt_mw_precompiled_compute_op_create_options_set_mutable_weights(options, both, missing, 2),
            E5RT_INVALID_ARGUMENT, "NULL");
    REFUSED(e5rt_mw_precompiled_compute_op_create_options_set_mutable_weights(options, NULL, both, 2),
            E5RT_INVALID_ARGUMENT, "paths is NULL");
    CHECK_ALONE(options, 2, 3);
    e5rt_precompiled_compute_op_create_options_release(&options);
    e5rt_program_library_release(&library);
}

static void check_compile(const char *program, uint64_t mask, const char *path, const char *part)
{
    void *compiler = NULL, *options = NULL, *library = NULL;
    folder_put("model.mil", program);
    CHECK_INT(e5rt_e5_compiler_create(&compiler), 0);
    CHECK_INT(e5rt_e5_compiler_options_create(&options), 0);
    CHECK_INT(e5rt_e5_compiler_options_set_compute_device_types_mask(options, mask), 0);
    CHECK_INT(e5rt_mw_e5_compiler_options_set_mutable_weight_paths(options, &path, 1), 0);
    const e5rt_error_code code = e5rt_e5_compiler_compile(compiler, "model.mil", options, &library);
    check_note(code != 0 && strstr(e5rt_get_last_error_message(), part) != NULL, __FILE__, __LINE__,
               "code %lld, message \"%s\" without \"%s\"", (long long)code, e5rt_get_last_error_message(), part);
    e5rt_program_library_release(&library);
    e5rt_e5_compiler_options_release(&options);
    e5rt_e5_compiler_release(&compiler);
}

static void test_what_has_to_be_constant_is_refused(void)
{
    static const char shape[] =
        "program(1.3)\n{\n    func main<ios18>(tensor<fp32, [8, 8]> x) {\n"
        "        tensor<fp32, [8, 8]> m = const()[name = string(\"m\"), val = tensor<fp32, [8, 8]>(BLOBFILE(path = "
        "string(\"" A_PATH "\"), offset = uint64(64)))];\n"
        "        tensor<fp32, [8, 8]> y = constexpr_cast(output_dtype = string(\"fp32\"), source_val = m)[name = "
        "string(\"y\")];\n"
        "    } -> (y);\n}\n";
    static const char literal[] =
        "program(1.3)\n{\n    func main<ios18>(tensor<fp32, [8, 8]> x) {\n"
        "        tensor<fp32, [8, 8]> y = add(x = x, y = tensor<fp32, [8, 8]>(BLOBFILE(path = string(\"" A_PATH
        "\"), offset = uint64(64))))[name = string(\"y\")];\n"
        "    } -> (y);\n}\n";
    check_compile(shape, E5RT_CPU, A_PATH, "constexpr_cast");
    check_compile(literal, E5RT_CPU, A_PATH, "only a weight that is a const statement can be");
    check_compile(text, E5RT_CPU, "@model_path/weights/c.bin", "no constant of the program is in that file");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    if (mkdir("weights", 0700) != 0)
        return 1;
    write_blob("weights/a.bin", 0, false);
    write_blob("weights/b.bin", 1, false);
    write_blob("c.bin", 2, false);
    write_blob("d.bin", 3, false);
    write_blob("half.bin", 4, true);
    RUN(test_weights_are_exchanged_without_a_compile);
    RUN(test_a_weight_in_a_branch_is_exchanged);
    RUN(test_weights_are_exchanged_on_mask_4);
    RUN(test_operations_of_other_weights_run_in_one_stream);
    RUN(test_mutable_weights_are_no_ports);
    RUN(test_a_bad_file_leaves_the_weights);
    RUN(test_what_has_to_be_constant_is_refused);
    folder_leave(folder);
    return check_finish();
}
