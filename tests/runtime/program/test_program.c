/* Programs: ports, writing and reading with conversion, views, sharing, parameters, refusals. */
#include "runtime/files.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { COUNT = 3 };

/* y = x * w + b [COUNT], b a parameter of ones, w one of data, and t = s + x. */
static mw_graph *make_graph(void)
{
    const float w[COUNT] = {2.0f, -1.0f, 0.5f};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(COUNT)), *s = mw_input(graph, "s", MW_F32, MW_SHAPE(COUNT));
    mw_tensor *weight = mw_parameter(graph, "layer.weight", MW_F32, MW_SHAPE(COUNT), mw_init_data(w));
    mw_tensor *bias = mw_parameter(graph, "layer.bias", MW_F32, MW_SHAPE(COUNT), mw_init_constant(1.0f));
    mw_output(mw_add(mw_mul(x, weight), bias), "y");
    mw_output(mw_add(s, x), "t");
    return graph;
}

static mw_program *compile(mw_device device, mw_error *err)
{
    mw_graph *graph = make_graph();
    mw_compile_options options = mw_compile_defaults();
    options.device = device;
    options.provider = MW_PROVIDER_ENGINE;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph); /* a program never points into its graph */
    return program;
}

static const float x_values[COUNT] = {1.0f, 2.0f, 3.0f};

static void test_parameters_hold_their_initial_values(void)
{
    const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        float y[COUNT] = {0};
        mw_program *program = compile(devices[k], &err);
        mw_program_write(program, "x", MW_F32, x_values, COUNT, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, COUNT, &err);
        CHECK_OK(err);
        CHECK(y[0] == 3.0f && y[1] == -1.0f && y[2] == 2.5f);
        mw_program_destroy(program);
    }
}

static void test_ports_say_what_they_are(void)
{
    mw_error err = {0};
    mw_program *program = compile(MW_DEVICE_ANE, &err);
    CHECK_OK(err);
    REQUIRE(program != NULL);
    CHECK_INT(mw_program_get_info(program).port_count, 6);
    int parameters = 0, outputs = 0;
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        parameters += port.is_parameter;
        outputs += port.is_output;
        CHECK(port.is_output == (i >= 4)); /* inputs first */
        CHECK_INT(port.dtype, MW_F16);     /* the device's type */
        CHECK_INT(port.shape.rank, 1);
        CHECK_CONTAINS(mw_program_get_info(program).mil, port.mil_name);
        if (strcmp(port.name, "layer.weight") == 0)
            CHECK_STR(port.mil_name, "layer_weight");
    }
    CHECK_INT(parameters, 2);
    CHECK_INT(outputs, 2);
    CHECK(!mw_program_port_at(program, 6, &port));
    CHECK_CONTAINS(mw_program_get_info(program).where, "engine, ");
    mw_program_destroy(program);
}

static void test_data_is_converted_on_the_way(void)
{
    mw_error err = {0};
    mw_program *program = compile(MW_DEVICE_CPU, &err);
    const uint8_t bytes[COUNT] = {1, 2, 255};
    uint16_t halves[COUNT];
    float back[COUNT];
    mw_program_write(program, "x", MW_U8, bytes, COUNT, &err);
    mw_program_read(program, "x", MW_F16, halves, COUNT, &err);
    mw_program_write(program, "s", MW_F16, halves, COUNT, &err);
    mw_program_read(program, "s", MW_F32, back, COUNT, &err);
    CHECK_OK(err);
    CHECK(back[0] == 1.0f && back[1] == 2.0f && back[2] == 255.0f);
    mw_program_destroy(program);
}

static void test_a_view_is_the_memory_of_the_port(void)
{
    mw_error err = {0};
    mw_program *program = compile(MW_DEVICE_CPU, &err);
    float *x = mw_program_view(program, "x", &err);
    const float *t = mw_program_view(program, "t", &err);
    CHECK_OK(err);
    REQUIRE(x != NULL && t != NULL);
    CHECK(x[0] == 0.0f && x[COUNT - 1] == 0.0f);
    x[1] = 7.0f;
    mw_program_run(program, &err);
    CHECK(t[0] == 0.0f && t[1] == 7.0f);
    CHECK(mw_program_view(program, "none", &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "none");
    mw_program_destroy(program);
}

static void test_a_shared_port_carries_state_and_keeps_its_start(void)
{
    mw_error err = {0};
    mw_program *program = compile(MW_DEVICE_CPU, &err);
    const float start[COUNT] = {10.0f, 20.0f, 30.0f};
    float s[COUNT] = {0};
    mw_program_write(program, "s", MW_F32, start, COUNT, &err);
    mw_program_alias(program, "t", "s", &err);
    mw_program_write(program, "x", MW_F32, x_values, COUNT, &err);
    for (int i = 0; i < 4; i++)
        mw_program_run(program, &err);
    mw_program_read(program, "s", MW_F32, s, COUNT, &err);
    CHECK_OK(err);
    CHECK(s[0] == 14.0f && s[1] == 28.0f && s[2] == 42.0f);
    CHECK(mw_program_view(program, "t", &err) == mw_program_view(program, "s", &err));
    CHECK_INT(mw_program_alias(program, "y", "x", &err), MW_ERROR_STATE);
    CHECK_ERROR(err, MW_ERROR_STATE, "has run");
    mw_program_destroy(program);
}

static void test_share_refuses_what_does_not_fit(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 2)), *b = mw_input(graph, "b", MW_F32, MW_SHAPE(2));
    mw_output(mw_add(x, b), "y");
    mw_output(mw_mul(x, b), "z");
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    CHECK_OK(err);
    REQUIRE(program != NULL);
    CHECK_INT(mw_program_alias(program, "y", "b", &err), MW_ERROR_SHAPE);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "4 elements");
    err = (mw_error){0};
    CHECK_INT(mw_program_alias(program, "x", "y", &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK_INT(mw_program_alias(program, "y", "x", &err), MW_OK);
    CHECK_INT(mw_program_alias(program, "z", "x", &err), MW_ERROR_ARGUMENT); /* two outputs, one place */
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "already takes");
    mw_program_destroy(program);
}

static void test_wrong_ports_and_counts_are_named(void)
{
    mw_error err = {0};
    mw_program *program = compile(MW_DEVICE_CPU, &err);
    float values[COUNT + 1] = {0};
    CHECK_INT(mw_program_write(program, "input", MW_F32, values, COUNT, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "layer.weight"); /* lists the ports */
    err = (mw_error){0};
    CHECK_INT(mw_program_write(program, "x", MW_F32, values, COUNT + 1, &err), MW_ERROR_SHAPE);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "3 elements, not 4");
    CHECK_INT(mw_program_write(program, "x", MW_F32, values, COUNT, &err), MW_ERROR_SHAPE); /* set errors stay */
    err = (mw_error){0};
    CHECK_INT(mw_program_write(program, "y", MW_F32, values, COUNT, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK_INT(mw_program_write(program, "x", MW_BF16, values, COUNT, &err), MW_ERROR_DTYPE);
    err = (mw_error){0};
    CHECK_INT(mw_program_read(program, "y", MW_F32, NULL, COUNT, &err), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_program_write(program, "x", MW_F32, values, COUNT + 1, NULL), MW_ERROR_SHAPE);
    mw_program_destroy(program);
    mw_program_destroy(NULL);
}

static void test_compile_refuses_bad_graphs_and_options(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    CHECK(mw_program_create(graph, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_output");
    err = (mw_error){0};
    CHECK(mw_program_create(NULL, NULL, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    mw_compile_options zeroed = {0};
    CHECK(mw_program_create(graph, &zeroed, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_compile_defaults");
    err = (mw_error){0};
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = MW_DEVICE_GPU;
    CHECK(mw_program_create(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "GPU");
    err = (mw_error){0};
    options = mw_compile_defaults();
    options.threads = -1;
    CHECK(mw_program_create(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "threads");
    err = (mw_error){0};
    mw_output(mw_matmul(x, x, MW_TRANSPOSE_NONE), "y"); /* does not fit: the graph's own error */
    CHECK(mw_program_create(graph, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "matmul");
    mw_graph_destroy(graph);
}

static void test_parameters_that_the_device_cannot_hold_are_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(2), mw_init_constant(1e6f));
    mw_output(mw_add(w, mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = MW_DEVICE_ANE;
    CHECK(mw_program_create(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "\"w\"");
    mw_graph_destroy(graph);
}

static void test_the_folder_is_kept_when_asked_for(void)
{
    mw_error err = {0};
    mw_graph *graph = make_graph();
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.keep_folder = scratch("kept");
    mw_program *program = mw_program_create(graph, &options, &err);
    CHECK_OK(err);
    REQUIRE(program != NULL);
    size_t size = 0;
    char *text = (char *)get_file(scratch("kept/model.mil"), &size);
    CHECK(text != NULL && size == strlen(mw_program_get_info(program).mil) &&
          memcmp(text, mw_program_get_info(program).mil, size) == 0);
    free(text);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_the_seed_decides_the_parameters(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_dense(mw_input(graph, "x", MW_F32, MW_SHAPE(1, 4)), 2, "d"), "y");
    float w[3][8];
    const uint64_t seeds[] = {1, 1, 2};
    for (int i = 0; i < 3; i++) {
        mw_compile_options options = mw_compile_defaults();
        options.provider = MW_PROVIDER_ENGINE;
        options.seed = seeds[i];
        mw_program *program = mw_program_create(graph, &options, &err);
        mw_program_read(program, "d.weight", MW_F32, w[i], 8, &err);
        mw_program_destroy(program);
    }
    CHECK_OK(err);
    CHECK(memcmp(w[0], w[1], sizeof w[0]) == 0);
    CHECK(memcmp(w[0], w[2], sizeof w[0]) != 0);
    for (int i = 0; i < 8; i++)
        CHECK(fabsf(w[0][i]) <= 0.5f); /* 1 / sqrt(4) */
    mw_graph_destroy(graph);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_parameters_hold_their_initial_values);
    RUN(test_ports_say_what_they_are);
    RUN(test_data_is_converted_on_the_way);
    RUN(test_a_view_is_the_memory_of_the_port);
    RUN(test_a_shared_port_carries_state_and_keeps_its_start);
    RUN(test_share_refuses_what_does_not_fit);
    RUN(test_wrong_ports_and_counts_are_named);
    RUN(test_compile_refuses_bad_graphs_and_options);
    RUN(test_parameters_that_the_device_cannot_hold_are_refused);
    RUN(test_the_folder_is_kept_when_asked_for);
    RUN(test_the_seed_decides_the_parameters);
    return check_finish();
}
