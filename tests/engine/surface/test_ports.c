/* What an operation says of itself: its ports, their names, what they take, what is bound to them; and descriptions of
 * tensors that a client makes. */
#include "engine/refused.h"
#include "engine/run.h"
#include "support/check.h"

#define TEXT                                                                                                           \
    RUN_TEXT("tensor<fp32, [2, 3]> x, tensor<fp16, [4]> w",                                                            \
             "tensor<fp32, [2, 3]> y = relu(x = x);\ntensor<fp16, [4]> z = relu(x = w);\n", "y, z")

static void test_ports_are_counted_and_named_in_order(void)
{
    run_program r;
    uint64_t count = 0;
    const char *names[3] = {NULL, NULL, "untouched"}, *name = NULL;
    REQUIRE(run_open(&r, TEXT, E5RT_CPU, 1));
    CHECK_INT(e5rt_execution_stream_operation_get_num_inputs(r.operation, &count), 0);
    CHECK_INT(count, 2);
    CHECK_INT(e5rt_execution_stream_operation_get_input_names(r.operation, 2, names), 0);
    CHECK_STR(names[0], "x");
    CHECK_STR(names[1], "w");
    CHECK_INT(e5rt_execution_stream_operation_get_num_outputs(r.operation, &count), 0);
    CHECK_INT(count, 2);
    CHECK_INT(e5rt_execution_stream_operation_get_output_names(r.operation, 1, names), 0);
    CHECK_STR(names[0], "y");
    CHECK_STR(names[2], "untouched");
    CHECK_INT(e5rt_execution_stream_operation_get_num_inouts(r.operation, &count), 0);
    CHECK_INT(count, 0);
    CHECK_INT(e5rt_execution_stream_operation_get_inout_names(r.operation, 0, NULL), 0);
    CHECK_INT(e5rt_execution_stream_operation_get_opname(r.operation, &name), 0);
    CHECK_STR(name, "main");
    REFUSED(e5rt_execution_stream_operation_get_input_names(r.operation, 3, names), E5RT_OUT_OF_BOUNDS,
            "3 input ports wanted, there are 2");
    REFUSED(e5rt_execution_stream_operation_get_input_names(r.operation, 1, NULL), E5RT_INVALID_ARGUMENT, "NULL");
    REFUSED(e5rt_execution_stream_operation_get_num_inputs(r.operation, NULL), E5RT_INVALID_ARGUMENT, "NULL");
    REFUSED(e5rt_execution_stream_operation_get_num_outputs(r.stream, &count), E5RT_INVALID_ARGUMENT, "operation");
    run_close(&r);
}

static void check_desc(void *port, uint64_t rank, const uint64_t *shape, uint32_t component, uint64_t size)
{
    void *desc = NULL, *dtype = NULL;
    uint64_t value = 0, elements = 1;
    const uint64_t *extents = NULL;
    const int64_t *strides = NULL;
    uint32_t found = 0;
    CHECK_INT(e5rt_io_port_retain_tensor_desc(port, &desc), 0);
    CHECK_INT(e5rt_tensor_desc_get_shape(desc, &value, &extents), 0);
    CHECK_INT(value, rank);
    CHECK_INT(e5rt_tensor_desc_get_strides(desc, &value, &strides), 0);
    for (uint64_t i = rank; i-- > 0; elements *= shape[i]) {
        CHECK_INT(extents[i], shape[i]);
        CHECK_INT(strides[i], elements);
    }
    CHECK_INT(e5rt_tensor_desc_get_rank(desc, &value), 0);
    CHECK_INT(value, rank);
    CHECK_INT(e5rt_tensor_desc_get_num_elements(desc, &value), 0);
    CHECK_INT(value, elements);
    CHECK_INT(e5rt_tensor_desc_get_size(desc, &value), 0);
    CHECK_INT(value, size);
    CHECK_INT(e5rt_tensor_desc_retain_dtype(desc, &dtype), 0);
    CHECK_INT(e5rt_tensor_desc_release(&desc), 0);
    CHECK(desc == NULL);
    CHECK_INT(e5rt_tensor_desc_dtype_get_component_dtype(dtype, &found), 0); /* outlives the description */
    CHECK_INT(found, component);
    CHECK_INT(e5rt_tensor_desc_dtype_get_element_size(dtype, &value), 0);
    CHECK_INT(value * elements, size);
    CHECK_INT(e5rt_tensor_desc_dtype_release(&dtype), 0);
}

static void test_a_port_says_what_it_takes(void)
{
    run_program r;
    void *port = NULL;
    unsigned char answer = 7;
    REQUIRE(run_open(&r, TEXT, E5RT_CPU, 1));
    CHECK_INT(e5rt_execution_stream_operation_retain_input_port(r.operation, "x", &port), 0);
    CHECK_INT(e5rt_io_port_is_tensor(port, &answer), 0);
    CHECK_INT(answer, 1);
    CHECK_INT(e5rt_io_port_is_surface(port, &answer), 0);
    CHECK_INT(answer, 0);
    check_desc(port, 2, (uint64_t[]){2, 3}, E5RT_MW_FLOAT32, 24);
    REFUSED(e5rt_io_port_is_tensor(port, NULL), E5RT_INVALID_ARGUMENT, "NULL");
    CHECK_INT(e5rt_io_port_release(&port), 0);
    CHECK_INT(e5rt_execution_stream_operation_retain_output_port(r.operation, "z", &port), 0);
    check_desc(port, 1, (uint64_t[]){4}, E5RT_MW_FLOAT16, 8);
    CHECK_INT(e5rt_io_port_release(&port), 0);
    REFUSED(e5rt_execution_stream_operation_retain_inout_port(r.operation, "x", &port), E5RT_INVALID_ARGUMENT,
            "no inout port");
    run_close(&r);
}

/* A handle of its own, which keeps the memory. */
static void test_what_is_bound_is_given_back(void)
{
    run_program r;
    void *port = NULL, *bound = NULL, *buffer = NULL, *data = NULL, *same = NULL;
    REQUIRE(run_open(&r, TEXT, E5RT_CPU, 1));
    CHECK_INT(e5rt_execution_stream_operation_retain_input_port(r.operation, "x", &port), 0);
    REFUSED(e5rt_io_port_retain_buffer_object(port, &bound), E5RT_INVALID_OPERATION, "nothing is bound to port \"x\"");
    CHECK_INT(e5rt_buffer_object_alloc(&buffer, 24, 0), 0);
    CHECK_INT(e5rt_io_port_bind_buffer_object(port, buffer), 0);
    CHECK_INT(e5rt_buffer_object_get_data_ptr(buffer, &data), 0);
    CHECK_INT(e5rt_buffer_object_release(&buffer), 0);
    CHECK_INT(e5rt_io_port_retain_buffer_object(port, &bound), 0);
    CHECK_INT(e5rt_buffer_object_get_data_ptr(bound, &same), 0);
    CHECK(data == same);
    CHECK_INT(e5rt_io_port_release(&port), 0);
    run_close(&r);
    memset(same, 1, 24);
    CHECK_INT(e5rt_buffer_object_release(&bound), 0);
}

/* A program that counts how often it ran, in a state. */
static const char counter[] = "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
                              "func main<ios18>(state<tensor<fp32, [2]>> s, tensor<fp32, [2]> x) {\n"
                              "tensor<fp32, [2]> a = read_state(input = s)[name = string(\"a\")];\n"
                              "tensor<fp32, [2]> b = add(x = a, y = x)[name = string(\"b\")];\n"
                              "write_state(data = b, input = s)[name = string(\"w\")];\n"
                              "tensor<fp32, [2]> y = mul(x = b, y = x)[name = string(\"y\")];\n} -> (y);\n}\n";

static void test_a_state_is_an_inout_port(void)
{
    run_program r;
    uint64_t count = 0;
    void *port = NULL, *buffer = NULL, *data = NULL;
    const char *name = NULL;
    REQUIRE(run_open(&r, counter, E5RT_CPU, 1));
    CHECK_INT(e5rt_execution_stream_operation_get_num_inouts(r.operation, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(e5rt_execution_stream_operation_get_inout_names(r.operation, 1, &name), 0);
    CHECK_STR(name, "s");
    CHECK_INT(e5rt_execution_stream_operation_retain_inout_port(r.operation, "s", &port), 0);
    check_desc(port, 1, (uint64_t[]){2}, E5RT_MW_FLOAT32, 8);
    CHECK_INT(e5rt_buffer_object_alloc(&buffer, 8, 0), 0);
    CHECK_INT(e5rt_buffer_object_get_data_ptr(buffer, &data), 0);
    CHECK_INT(e5rt_io_port_bind_buffer_object(port, buffer), 0);
    float *x = run_bind(&r, false, "x", 8), *state = data;
    REQUIRE(x != NULL && run_bind(&r, true, "y", 8) != NULL && run_encode(&r));
    x[0] = 1.0F, x[1] = 2.0F;
    CHECK(run_execute(&r) && run_execute(&r));
    CHECK_NEAR(state[0], 2, 0);
    CHECK_NEAR(state[1], 4, 0);
    CHECK_INT(e5rt_io_port_release(&port), 0);
    CHECK_INT(e5rt_buffer_object_release(&buffer), 0);
    run_close(&r);
}

static void test_descriptions_are_made_and_refused(void)
{
    void *dtype = NULL, *other = NULL, *desc = NULL, *buffer = NULL, *data = NULL;
    uint64_t value = 0;
    unsigned char equal = 7;
    REFUSED(e5rt_tensor_desc_dtype_create(&dtype, 77, 1), E5RT_INVALID_DATA_TYPE, "component 77");
    REFUSED(e5rt_tensor_desc_dtype_create(&dtype, E5RT_MW_FLOAT16, 2), E5RT_INVALID_DATA_TYPE, "packs of 2");
    REFUSED(e5rt_tensor_desc_dtype_create(NULL, E5RT_MW_FLOAT16, 1), E5RT_INVALID_ARGUMENT, "NULL");
    CHECK_INT(e5rt_tensor_desc_dtype_create(&dtype, E5RT_MW_FLOAT16, 1), 0);
    CHECK_INT(e5rt_tensor_desc_dtype_create(&other, E5RT_MW_INT32, 1), 0);
    CHECK_INT(e5rt_tensor_desc_dtype_are_equal(dtype, dtype, &equal), 0);
    CHECK_INT(equal, 1);
    CHECK_INT(e5rt_tensor_desc_dtype_are_equal(dtype, other, &equal), 0);
    CHECK_INT(equal, 0);
    REFUSED(e5rt_tensor_desc_create(&desc, (uint64_t[]){1}, 99, dtype), E5RT_INVALID_ARGUMENT, "rank 99");
    REFUSED(e5rt_tensor_desc_create(&desc, NULL, 1, dtype), E5RT_INVALID_ARGUMENT, "rank 1");
    REFUSED(e5rt_tensor_desc_create(&desc, (uint64_t[]){UINT64_MAX, 2}, 2, dtype), E5RT_INVALID_ARGUMENT, "not fit");
    REFUSED(e5rt_tensor_desc_create(&desc, (uint64_t[]){1}, 1, NULL), E5RT_INVALID_ARGUMENT, "dtype");
    CHECK_INT(e5rt_tensor_desc_create(&desc, (uint64_t[]){3, 5}, 2, dtype), 0);
    CHECK_INT(e5rt_tensor_desc_dtype_release(&dtype), 0);
    CHECK_INT(e5rt_tensor_desc_alloc_buffer_object(desc, 0, 256, &buffer), 0);
    CHECK_INT(e5rt_buffer_object_get_size(buffer, &value), 0);
    CHECK_INT(value, 30);
    CHECK_INT(e5rt_buffer_object_get_data_ptr(buffer, &data), 0);
    CHECK_INT((uintptr_t)data % 256, 0);
    CHECK_INT(e5rt_buffer_object_release(&buffer), 0);
    REFUSED(e5rt_tensor_desc_alloc_buffer_object(desc, 3, 64, &buffer), E5RT_INVALID_TYPE, "BufferType 3");
    REFUSED(e5rt_tensor_desc_alloc_buffer_object(desc, 0, 48, &buffer), E5RT_INVALID_ARGUMENT, "alignment 48");
    REFUSED(e5rt_tensor_desc_get_shape(desc, NULL, NULL), E5RT_INVALID_ARGUMENT, "NULL");
    CHECK_INT(e5rt_tensor_desc_release(&desc), 0);
    REFUSED(e5rt_tensor_desc_get_rank(desc, &value), E5RT_INVALID_ARGUMENT, "tensor description");
    CHECK_INT(e5rt_tensor_desc_dtype_release(&other), 0);
}

int main(void)
{
    RUN(test_ports_are_counted_and_named_in_order);
    RUN(test_a_port_says_what_it_takes);
    RUN(test_what_is_bound_is_given_back);
    RUN(test_a_state_is_an_inout_port);
    RUN(test_descriptions_are_made_and_refused);
    return check_finish();
}
