/* Objects of e5rt beside programs: parts of buffers, memory of several processes, memory objects, descriptions of
 * tensors with strides and of their parts, operands, and what a function says of itself. */
#include "base/file/file.h"
#include "engine/refused.h"
#include "engine/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RELU RUN_TEXT("tensor<fp32, [4]> x", "tensor<fp32, [4]> y = relu(x = x);\n", "y")

/* ---- handles ---- */

enum { PAGE = 65536 };

/* Memory at the address that the handle has without its highest bit: programs at a fixed address, and other systems,
 * have theirs that low. NULL if something else is there. */
static void *memory_like(const void *handle)
{
    const uintptr_t address = (uintptr_t)handle & (UINTPTR_MAX >> 1);
    void *page = (void *)(address / PAGE * PAGE);
    if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == page)
        return (void *)address;
    return NULL;
}

static void test_no_address_is_taken_for_a_handle(void)
{
    void *handles[16] = {NULL};
    int tried = 0;
    for (size_t i = 0; i < 16; i++) {
        REQUIRE(e5rt_buffer_object_alloc(&handles[i], 64, 1) == 0);
        CHECK((uintptr_t)handles[i] > UINTPTR_MAX / 2);
    }
    for (size_t i = 0; i < 16 && tried == 0; i++) {
        void **place = (uintptr_t)handles[i] % sizeof(void *) == 0 ? memory_like(handles[i]) : NULL;
        if (place == NULL)
            continue;
        CHECK_INT(e5rt_buffer_object_alloc(place, 64, 1), 0);
        CHECK_INT(e5rt_buffer_object_release(place), 0);
        munmap((void *)((uintptr_t)place / PAGE * PAGE), PAGE);
        tried++;
    }
    for (size_t i = 0; i < 16; i++)
        CHECK_INT(e5rt_buffer_object_release(&handles[i]), 0);
    if (tried == 0)
        SKIP("no memory at such an address");
}

/* ---- parts of buffers ---- */

static void test_a_part_of_a_buffer_keeps_its_memory(void)
{
    void *whole = NULL, *part = NULL, *inner = NULL, *data = NULL, *there = NULL;
    uint64_t size = 0;
    uint32_t type = 9;
    CHECK_INT(e5rt_buffer_object_alloc(&whole, 256, 1), 0);
    CHECK_INT(e5rt_buffer_object_get_data_ptr(whole, &data), 0);
    CHECK_INT(e5rt_buffer_object_create_as_alias(&part, whole, 64, 128), 0);
    CHECK_INT(e5rt_buffer_object_create_as_alias(&inner, part, 64, 64), 0);
    CHECK_INT(e5rt_buffer_object_release(&part), 0);
    CHECK_INT(e5rt_buffer_object_release(&whole), 0);
    CHECK_INT(e5rt_buffer_object_get_data_ptr(inner, &there), 0);
    CHECK(there == (char *)data + 128);
    CHECK_INT(e5rt_buffer_object_get_size(inner, &size), 0);
    CHECK_INT(size, 64);
    CHECK_INT(e5rt_buffer_object_get_type(inner, &type), 0);
    CHECK_INT(type, 1);
    memset(there, 1, 64); /* read by ASan */
    CHECK_INT(e5rt_buffer_object_release(&inner), 0);
}

static void test_a_part_is_within_its_buffer(void)
{
    static const struct {
        uint64_t offset, size;
        e5rt_error_code code;
    } cases[] = {{0, 64, 0},
                 {63, 1, 0},
                 {0, 65, E5RT_OUT_OF_BOUNDS},
                 {64, 1, E5RT_OUT_OF_BOUNDS},
                 {65, 0, E5RT_OUT_OF_BOUNDS},
                 {1, UINT64_MAX, E5RT_OUT_OF_BOUNDS},
                 {UINT64_MAX, 2, E5RT_OUT_OF_BOUNDS},
                 {8, 0, E5RT_INVALID_ARGUMENT}};
    void *whole = NULL, *part = NULL;
    CHECK_INT(e5rt_buffer_object_alloc(&whole, 64, 0), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(e5rt_buffer_object_create_as_alias(&part, whole, cases[i].offset, cases[i].size), cases[i].code);
        CHECK((part != NULL) == (cases[i].code == 0));
        CHECK((e5rt_get_last_error_message()[0] == '\0') == (cases[i].code == 0));
        if (part != NULL)
            CHECK_INT(e5rt_buffer_object_release(&part), 0);
    }
    REFUSED(e5rt_buffer_object_create_as_alias(&part, NULL, 0, 8), E5RT_INVALID_ARGUMENT, "buffer is NULL");
    CHECK_INT(e5rt_buffer_object_release(&whole), 0);
}

/* Input and output are parts of one buffer, one beside the other, and then partly the same. */
static void test_parts_are_bound_like_buffers(void)
{
    run_program r;
    void *whole = NULL, *parts[2] = {NULL}, *ports[2] = {NULL}, *data = NULL, *port = NULL, *overlap = NULL;
    REQUIRE(run_open(&r, RELU, E5RT_CPU, 1));
    CHECK_INT(e5rt_buffer_object_alloc(&whole, 32, 0), 0);
    CHECK_INT(e5rt_buffer_object_get_data_ptr(whole, &data), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(e5rt_buffer_object_create_as_alias(&parts[i], whole, 16 * (uint64_t)i, 16), 0);
    CHECK_INT(e5rt_execution_stream_operation_retain_input_port(r.operation, "x", &ports[0]), 0);
    CHECK_INT(e5rt_execution_stream_operation_retain_output_port(r.operation, "y", &ports[1]), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(e5rt_io_port_bind_buffer_object(ports[i], parts[i]), 0);
        CHECK_INT(e5rt_buffer_object_release(&parts[i]), 0);
        CHECK_INT(e5rt_io_port_release(&ports[i]), 0);
    }
    float *values = data;
    values[0] = -1, values[3] = 5, values[4] = 9;
    REQUIRE(run_encode(&r) && run_execute(&r));
    CHECK_NEAR(values[4], 0, 0);
    CHECK_NEAR(values[7], 5, 0);
    run_close(&r);
    REQUIRE(run_open(&r, RELU, E5RT_CPU, 1));
    CHECK_INT(e5rt_buffer_object_create_as_alias(&overlap, whole, 8, 16), 0);
    CHECK_INT(e5rt_execution_stream_operation_retain_input_port(r.operation, "x", &port), 0);
    CHECK_INT(e5rt_io_port_bind_buffer_object(port, whole), 0);
    CHECK_INT(e5rt_io_port_release(&port), 0);
    CHECK_INT(e5rt_execution_stream_operation_retain_output_port(r.operation, "y", &port), 0);
    CHECK_INT(e5rt_io_port_bind_buffer_object(port, overlap), 0);
    CHECK_INT(e5rt_io_port_release(&port), 0);
    REFUSED(e5rt_execution_stream_encode_operation(r.stream, r.operation), E5RT_INVALID_ARGUMENT, "overlap");
    run_close(&r);
    CHECK_INT(e5rt_buffer_object_release(&overlap), 0);
    CHECK_INT(e5rt_buffer_object_release(&whole), 0);
}

/* ---- memory of several processes ---- */

/* Memory that another process may map, of 4096 bytes; -1 if there is none. */
static int make_shared(void)
{
#if defined(__linux__)
    const int fd = memfd_create("tensor", MFD_CLOEXEC);
#else
    char name[64];
    snprintf(name, sizeof name, "/millwright-%ld", (long)getpid());
    const int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    shm_unlink(name);
#endif
    if (fd >= 0)
        CHECK_INT(ftruncate(fd, 4096), 0);
    return fd;
}

/* Adds 1 to the numbers, as another process. */
static void answer(int fd)
{
    float *values = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (values == MAP_FAILED)
        _exit(1);
    for (int i = 0; i < 4; i++)
        values[i] += 1;
    _exit(0);
}

static void test_another_process_feeds_a_program(void)
{
    run_program r;
    void *buffer = NULL, *port = NULL, *data = NULL;
    int status = 1, own = -1;
    int fd = make_shared();
    REQUIRE(fd >= 0 && run_open(&r, RELU, E5RT_CPU, 1));
    CHECK_INT(e5rt_mw_buffer_object_create_from_shared_memory(&buffer, fd, 16), 0);
    CHECK_INT(close(fd), 0);
    CHECK_INT(e5rt_mw_buffer_object_get_shared_memory(buffer, &own), 0);
    CHECK_INT(e5rt_buffer_object_get_data_ptr(buffer, &data), 0);
    CHECK_INT(e5rt_execution_stream_operation_retain_input_port(r.operation, "x", &port), 0);
    CHECK_INT(e5rt_io_port_bind_buffer_object(port, buffer), 0);
    CHECK_INT(e5rt_io_port_release(&port), 0);
    const float *y = run_bind(&r, true, "y", 16);
    REQUIRE(y != NULL && run_encode(&r));
    ((float *)data)[2] = 41;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        answer(own);
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    CHECK_INT(e5rt_buffer_object_release(&buffer), 0); /* bound, and so still mapped */
    REQUIRE(run_execute(&r));
    CHECK_NEAR(y[2], 42, 0);
    CHECK_NEAR(y[3], 1, 0);
    run_close(&r);
    CHECK(fcntl(own, F_GETFD) < 0); /* closed with the buffer */
}

static void test_memory_that_cannot_be_shared_is_refused(void)
{
    void *buffer = NULL;
    int own = -1;
    const int fd = make_shared();
    char *folder = NULL;
    mw_error err = {0};
    REQUIRE(fd >= 0 && mw__file_make_private_folder(NULL, 0, &folder, &err) == MW_OK);
    const int directory = open(folder, O_RDONLY | O_CLOEXEC);
    REFUSED(e5rt_mw_buffer_object_create_from_shared_memory(&buffer, -1, 16), E5RT_INVALID_ARGUMENT, "no open file");
    REFUSED(e5rt_mw_buffer_object_create_from_shared_memory(&buffer, fd, 1 << 20), E5RT_INVALID_ARGUMENT, "too short");
    REFUSED(e5rt_mw_buffer_object_create_from_shared_memory(&buffer, fd, UINT64_MAX), E5RT_INVALID_ARGUMENT, "short");
    REFUSED(e5rt_mw_buffer_object_create_from_shared_memory(&buffer, fd, 0), E5RT_INVALID_ARGUMENT, "0 bytes");
    REFUSED(e5rt_mw_buffer_object_create_from_shared_memory(&buffer, directory, 1), E5RT_INVALID_ARGUMENT, "");
    REFUSED(e5rt_mw_buffer_object_create_from_shared_memory(NULL, fd, 16), E5RT_INVALID_ARGUMENT, "out pointer");
    CHECK(buffer == NULL);
    CHECK_INT(e5rt_buffer_object_alloc(&buffer, 16, 0), 0);
    REFUSED(e5rt_mw_buffer_object_get_shared_memory(buffer, &own), E5RT_INVALID_OPERATION, "shared memory");
    CHECK_INT(e5rt_buffer_object_release(&buffer), 0);
    CHECK_INT(own, -1);
    close(fd);
    close(directory);
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
}

/* ---- memory objects ---- */

static void test_a_memory_object_is_bound_like_a_buffer(void)
{
    run_program r;
    void *memory = NULL, *part = NULL, *port = NULL, *data = NULL, *same = NULL, *bound = NULL, *buffer = NULL;
    uint64_t size = 0;
    REQUIRE(run_open(&r, RELU, E5RT_CPU, 1));
    CHECK_INT(e5rt_memory_object_create(&memory, 64, 0), 0);
    CHECK_INT(e5rt_memory_object_create_as_alias(&part, memory, 32, 16), 0);
    CHECK_INT(e5rt_memory_object_get_size(part, &size), 0);
    CHECK_INT(size, 16);
    CHECK_INT(e5rt_memory_object_get_data_ptr(part, &data), 0);
    CHECK_INT(e5rt_execution_stream_operation_retain_input_port(r.operation, "x", &port), 0);
    CHECK_INT(e5rt_io_port_bind_memory_object(port, part), 0);
    CHECK_INT(e5rt_io_port_retain_memory_object(port, &bound), 0);
    CHECK_INT(e5rt_memory_object_get_data_ptr(bound, &same), 0);
    CHECK(same == data);
    CHECK_INT(e5rt_io_port_retain_buffer_object(port, &buffer), 0);
    REFUSED(e5rt_io_port_bind_buffer_object(port, part), E5RT_INVALID_ARGUMENT, "buffer is not a live handle");
    REFUSED(e5rt_io_port_bind_memory_object(port, buffer), E5RT_INVALID_ARGUMENT, "memory is not a live handle");
    REFUSED(e5rt_memory_object_create(&memory, 64, 3), E5RT_INVALID_TYPE, "Invalid BufferType");
    CHECK(memory == NULL);
    CHECK_INT(e5rt_memory_object_release(&part), 0);
    CHECK_INT(e5rt_memory_object_release(&bound), 0);
    CHECK_INT(e5rt_buffer_object_release(&buffer), 0);
    CHECK_INT(e5rt_io_port_release(&port), 0);
    run_close(&r);
}

static void test_a_released_handle_is_cleared(void)
{
    void *memory = NULL;
    CHECK_INT(e5rt_memory_object_create(&memory, 8, 2), 0);
    void *stale = memory;
    CHECK_INT(e5rt_memory_object_release(&memory), 0);
    CHECK(memory == NULL);
    REFUSED(e5rt_memory_object_release(&memory), E5RT_INVALID_ARGUMENT, "NULL");
    REFUSED(e5rt_memory_object_release(&stale), E5RT_INVALID_ARGUMENT, "not a live handle");
}

/* ---- descriptions of tensors ---- */

static void *make_dtype(uint32_t component)
{
    void *dtype = NULL;
    CHECK_INT(e5rt_tensor_desc_dtype_create(&dtype, component, 1), 0);
    return dtype;
}

/* Rows of 3 elements that are 64 bytes apart. */
static void *make_padded(void)
{
    void *desc = NULL, *dtype = make_dtype(E5RT_MW_FLOAT16);
    CHECK_INT(e5rt_tensor_desc_create_with_strides(&desc, (uint64_t[]){4, 3}, (int64_t[]){32, 1}, 2, dtype), 0);
    CHECK_INT(e5rt_tensor_desc_dtype_release(&dtype), 0);
    return desc;
}

static void check_offset(void *desc, uint64_t row, uint64_t column, uint64_t wanted)
{
    uint64_t offset = 0;
    CHECK_INT(e5rt_tensor_desc_get_byte_offset(desc, (uint64_t[]){row, column}, 2, &offset), 0);
    CHECK_INT(offset, wanted);
}

static void test_a_description_has_strides(void)
{
    void *desc = make_padded();
    uint64_t value = 0;
    int64_t stride = 0;
    e5rt_bool known = 0;
    CHECK_INT(e5rt_tensor_desc_get_num_elements(desc, &value), 0);
    CHECK_INT(value, 12);
    CHECK_INT(e5rt_tensor_desc_get_size(desc, &value), 0);
    CHECK_INT(value, 2 * (3 * 32 + 3));
    CHECK_INT(e5rt_tensor_desc_get_dimension_length(desc, 1, &value), 0);
    CHECK_INT(value, 3);
    CHECK_INT(e5rt_tensor_desc_get_dimension_stride(desc, 0, &stride), 0);
    CHECK_INT(stride, 32);
    CHECK_INT(e5rt_tensor_desc_has_known_shape(desc, &known), 0);
    CHECK_INT(known, 1);
    check_offset(desc, 3, 2, 2 * (3 * 32 + 2));
    REFUSED(e5rt_tensor_desc_get_byte_offset(desc, (uint64_t[]){4, 0}, 2, &value), E5RT_OUT_OF_BOUNDS, "index 4 of 4");
    REFUSED(e5rt_tensor_desc_get_byte_offset(desc, (uint64_t[]){0}, 1, &value), E5RT_INVALID_ARGUMENT, "rank 2");
    REFUSED(e5rt_tensor_desc_get_byte_offset(desc, NULL, 2, &value), E5RT_INVALID_ARGUMENT, "rank 2");
    REFUSED(e5rt_tensor_desc_get_dimension_length(desc, 2, &value), E5RT_OUT_OF_BOUNDS, "dimension 2 of 2");
    REFUSED(e5rt_tensor_desc_get_dimension_stride(desc, UINT64_MAX, &stride), E5RT_OUT_OF_BOUNDS, "dimension");
    CHECK_INT(e5rt_tensor_desc_release(&desc), 0);
}

static void test_a_part_of_a_tensor_lies_in_its_memory(void)
{
    void *desc = make_padded(), *rows = NULL, *part = NULL, *buffer = NULL;
    uint64_t value = 0;
    CHECK_INT(e5rt_tensor_desc_create_slice(desc, 0, (uint64_t[]){1, 3}, &rows), 0);
    CHECK_INT(e5rt_tensor_desc_create_slice(rows, 1, (uint64_t[]){2, 3}, &part), 0);
    CHECK_INT(e5rt_tensor_desc_release(&rows), 0);
    CHECK_INT(e5rt_tensor_desc_get_num_elements(part, &value), 0);
    CHECK_INT(value, 2);
    check_offset(part, 0, 0, 2 * (32 + 2));
    check_offset(part, 1, 0, 2 * (64 + 2));
    CHECK_INT(e5rt_tensor_desc_get_size(part, &value), 0);
    CHECK_INT(value, 2 * (64 + 3));
    CHECK_INT(e5rt_tensor_desc_alloc_buffer_object(part, 0, 64, &buffer), 0);
    CHECK_INT(e5rt_buffer_object_get_size(buffer, &value), 0);
    CHECK_INT(value, 2 * (64 + 3));
    CHECK_INT(e5rt_buffer_object_release(&buffer), 0);
    CHECK_INT(e5rt_tensor_desc_create_memory_object(part, 0, 64, &buffer), 0);
    CHECK_INT(e5rt_memory_object_release(&buffer), 0);
    REFUSED(e5rt_tensor_desc_create_slice(desc, 0, (uint64_t[]){1, 5}, &rows), E5RT_OUT_OF_BOUNDS, "index 4 of 4");
    REFUSED(e5rt_tensor_desc_create_slice(desc, 0, (uint64_t[]){2, 2}, &rows), E5RT_OUT_OF_BOUNDS, "slice");
    REFUSED(e5rt_tensor_desc_create_slice(desc, 0, (uint64_t[]){UINT64_MAX, 1}, &rows), E5RT_OUT_OF_BOUNDS, "slice");
    REFUSED(e5rt_tensor_desc_create_slice(desc, 2, (uint64_t[]){0, 1}, &rows), E5RT_OUT_OF_BOUNDS, "dimension 2 of 2");
    REFUSED(e5rt_tensor_desc_create_slice(desc, 0, NULL, &rows), E5RT_INVALID_ARGUMENT, "range is NULL");
    CHECK_INT(e5rt_tensor_desc_release(&part), 0);
    CHECK_INT(e5rt_tensor_desc_release(&desc), 0);
}

static void test_strides_that_fit_in_no_memory_are_refused(void)
{
    void *desc = NULL, *dtype = make_dtype(E5RT_MW_FLOAT32);
    uint64_t value = 1;
    const uint64_t huge = (uint64_t)1 << 62;
    REFUSED(e5rt_tensor_desc_create_with_strides(&desc, (uint64_t[]){2}, (int64_t[]){-1}, 1, dtype),
            E5RT_INVALID_ARGUMENT, "stride -1 of axis 0");
    REFUSED(e5rt_tensor_desc_create_with_strides(&desc, (uint64_t[]){3}, (int64_t[]){INT64_MAX}, 1, dtype),
            E5RT_INVALID_ARGUMENT, "does not fit");
    REFUSED(e5rt_tensor_desc_create_with_strides(&desc, (uint64_t[]){huge, 4}, (int64_t[]){0, 0}, 2, dtype),
            E5RT_INVALID_ARGUMENT, "does not fit");
    REFUSED(e5rt_tensor_desc_create_with_strides(&desc, (uint64_t[]){2}, NULL, 1, dtype), E5RT_INVALID_ARGUMENT,
            "strides is NULL");
    REFUSED(e5rt_tensor_desc_create_with_strides(&desc, NULL, (int64_t[]){1}, 1, dtype), E5RT_INVALID_ARGUMENT, "rank");
    CHECK(desc == NULL);
    CHECK_INT(e5rt_tensor_desc_create_with_strides(&desc, (uint64_t[]){0, 5}, (int64_t[]){9, 1}, 2, dtype), 0);
    CHECK_INT(e5rt_tensor_desc_get_size(desc, &value), 0);
    CHECK_INT(value, 0);
    CHECK_INT(e5rt_tensor_desc_release(&desc), 0);
    CHECK_INT(e5rt_tensor_desc_dtype_release(&dtype), 0);
}

static void test_element_types_say_what_they_are(void)
{
    void *dtype = make_dtype(E5RT_MW_INT16);
    uint64_t size = 0;
    uint32_t pack = 0;
    unsigned char count = 0, valid = 9;
    CHECK_INT(e5rt_tensor_desc_dtype_get_component_size(dtype, &size), 0);
    CHECK_INT(e5rt_tensor_desc_dtype_get_component_pack(dtype, &pack), 0);
    CHECK_INT(e5rt_tensor_desc_dtype_get_num_components(dtype, &count), 0);
    CHECK(size == 2 && pack == 1 && count == 1);
    CHECK_INT(e5rt_tensor_desc_dtype_release(&dtype), 0);
    for (uint32_t component = 0; component < 300; component++)
        for (pack = 0; pack < 3; pack++) {
            CHECK_INT(e5rt_tensor_desc_dtype_validate_spec(component, pack, &valid), 0);
            CHECK_INT(e5rt_tensor_desc_dtype_create(&dtype, component, pack) == 0, valid);
            if (dtype != NULL)
                CHECK_INT(e5rt_tensor_desc_dtype_release(&dtype), 0);
        }
    REFUSED(e5rt_tensor_desc_dtype_validate_spec(3, 1, NULL), E5RT_INVALID_ARGUMENT, "NULL");
}

static void test_an_operand_is_a_tensor(void)
{
    void *desc = make_padded(), *operand = NULL, *same = NULL;
    uint64_t size = 0;
    e5rt_bool answer = 9;
    CHECK_INT(e5rt_operand_desc_retain_from_tensor_desc(&operand, desc), 0);
    CHECK_INT(e5rt_tensor_desc_release(&desc), 0);
    CHECK_INT(e5rt_operand_desc_is_tensor_desc(operand, &answer), 0);
    CHECK_INT(answer, 1);
    CHECK_INT(e5rt_operand_desc_is_surface_desc(operand, &answer), 0);
    CHECK_INT(answer, 0);
    REFUSED(e5rt_tensor_desc_get_size(operand, &size), E5RT_INVALID_ARGUMENT, "tensor description");
    CHECK_INT(e5rt_tensor_desc_create_from_operand_desc(&same, operand), 0);
    CHECK_INT(e5rt_operand_desc_release(&operand), 0);
    CHECK_INT(e5rt_tensor_desc_get_size(same, &size), 0);
    CHECK_INT(size, 198);
    CHECK_INT(e5rt_tensor_desc_release(&same), 0);
}

/* ---- ports and functions ---- */

static void test_a_port_says_what_may_be_bound(void)
{
    run_program r;
    void *port = NULL;
    e5rt_bool answer = 9;
    uint64_t count = 0;
    const uint32_t *types = NULL;
    REQUIRE(run_open(&r, RELU, E5RT_CPU, 1));
    CHECK_INT(e5rt_execution_stream_operation_retain_input_port(r.operation, "x", &port), 0);
    CHECK_INT(e5rt_io_port_is_dynamic(port, &answer), 0);
    CHECK_INT(answer, 0);
    CHECK_INT(e5rt_io_port_has_known_shape(port, &answer), 0);
    CHECK_INT(answer, 1);
    CHECK_INT(e5rt_io_port_get_supported_buffer_types(port, &count, &types), 0);
    CHECK_INT(e5rt_io_port_release(&port), 0);
    run_close(&r);
    for (uint64_t i = 0; i < count; i++) {
        CHECK_INT(e5rt_buffer_object_alloc(&port, 8, types[i]), 0);
        CHECK_INT(e5rt_buffer_object_release(&port), 0);
    }
    CHECK_INT(count, 3);
}

static const char counter[] = "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
                              "func main<ios18>(state<tensor<fp32, [2]>> s, tensor<fp16, [3]> x) {\n"
                              "tensor<fp32, [2]> a = read_state(input = s)[name = string(\"a\")];\n"
                              "tensor<fp32, [2]> b = add(x = a, y = a)[name = string(\"b\")];\n"
                              "write_state(data = b, input = s)[name = string(\"w\")];\n"
                              "tensor<fp16, [3]> y = relu(x = x)[name = string(\"y\")];\n} -> (y);\n}\n";

static uint64_t size_of(void *desc)
{
    uint64_t size = 0;
    CHECK_INT(e5rt_tensor_desc_get_size(desc, &size), 0);
    CHECK_INT(e5rt_tensor_desc_release(&desc), 0);
    return size;
}

static void test_a_function_says_what_it_takes_and_gives(void)
{
    run_program r;
    uint64_t count = 0;
    const char *names[3] = {NULL};
    void *desc = NULL;
    REQUIRE(run_open(&r, counter, E5RT_CPU, 1));
    CHECK_INT(e5rt_program_function_get_num_extern_inputs(r.function, &count), 0);
    CHECK_INT(count, 2);
    CHECK_INT(e5rt_program_function_get_extern_input_names(r.function, 2, names), 0);
    CHECK(strcmp(names[0], "s") == 0 && strcmp(names[1], "x") == 0);
    CHECK_INT(e5rt_program_function_get_num_extern_outputs(r.function, &count), 0);
    CHECK_INT(count, 2);
    CHECK_INT(e5rt_program_function_get_extern_output_names(r.function, 1, names), 0);
    CHECK_STR(names[0], "y");
    CHECK_INT(e5rt_program_function_get_num_extern_inouts(r.function, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(e5rt_program_function_get_extern_inout_names(r.function, 1, names), 0);
    CHECK_STR(names[0], "s");
    REFUSED(e5rt_program_function_get_extern_inout_names(r.function, 2, names), E5RT_OUT_OF_BOUNDS, "inout ports");
    REFUSED(e5rt_program_function_get_extern_input_names(r.function, 1, NULL), E5RT_INVALID_ARGUMENT, "NULL");
    CHECK_INT(e5rt_program_function_retain_input_tensor_desc(r.function, "x", &desc), 0);
    CHECK_INT(size_of(desc), 6);
    CHECK_INT(e5rt_program_function_retain_output_tensor_desc(r.function, "y", &desc), 0);
    CHECK_INT(size_of(desc), 6);
    CHECK_INT(e5rt_program_function_retain_inout_tensor_desc(r.function, "s", &desc), 0);
    CHECK_INT(size_of(desc), 8);
    REFUSED(e5rt_program_function_retain_inout_tensor_desc(r.function, "x", &desc), E5RT_INVALID_ARGUMENT,
            "function \"main\" has no inout port \"x\"; it has: s");
    REFUSED(e5rt_program_function_load_for_execution(r.function), E5RT_INVALID_OPERATION, "make an operation from it");
    run_close(&r);
}

int main(void)
{
    RUN(test_no_address_is_taken_for_a_handle);
    RUN(test_a_part_of_a_buffer_keeps_its_memory);
    RUN(test_a_part_is_within_its_buffer);
    RUN(test_parts_are_bound_like_buffers);
    RUN(test_another_process_feeds_a_program);
    RUN(test_memory_that_cannot_be_shared_is_refused);
    RUN(test_a_memory_object_is_bound_like_a_buffer);
    RUN(test_a_released_handle_is_cleared);
    RUN(test_a_description_has_strides);
    RUN(test_a_part_of_a_tensor_lies_in_its_memory);
    RUN(test_strides_that_fit_in_no_memory_are_refused);
    RUN(test_element_types_say_what_they_are);
    RUN(test_an_operand_is_a_tensor);
    RUN(test_a_port_says_what_may_be_bound);
    RUN(test_a_function_says_what_it_takes_and_gives);
    return check_finish();
}
