/* Every allocation of compile, encode and execute fails once: an error each time, nothing leaks, and execute asks for
 * none. */
#include "engine/run.h"
#include "support/check.h"
#include "support/failing.h"

/* A swap (temporaries), a product, a view, constants, a reduction. */
#define PROGRAM(t)                                                                                                     \
    RUN_TEXT("tensor<" t ", [16, 16]> a, tensor<" t ", [16, 16]> b",                                                   \
             "tensor<" t ", [16, 16]> k = const()[val = tensor<" t ", [16, 16]>(0.25)];\n"                             \
             "tensor<" t ", [16, 16]> m = matmul(x = a, y = k);\n"                                                     \
             "tensor<" t ", [256]> v = reshape(shape = tensor<int32, [1]>([256]), x = m);\n"                           \
             "tensor<" t ", [1]> s = reduce_sum(axes = tensor<int32, [1]>([0]), keep_dims = bool(true), x = v);\n"     \
             "tensor<" t ", [16, 16]> p = mul(x = b, y = s);\n"                                                        \
             "tensor<" t ", [16, 16]> t = tanh(x = a);\n"                                                              \
             "tensor<" t ", [16, 16]> q = softmax(axis = int32(-1), x = t);\n",                                        \
             "p, q, s")

enum { ELEMENTS = 256 };

static bool done(e5rt_error_code code, e5rt_error_code *first)
{
    if (*first == 0)
        *first = code;
    return code == 0;
}

/* Binds `buffer`, made here unless it is given. */
static bool bind(run_program *r, bool output, const char *name, size_t size, void **buffer, e5rt_error_code *first)
{
    run_port *port = &r->ports[r->port_count++];
    if (!done(output ? e5rt_execution_stream_operation_retain_output_port(r->operation, name, &port->port)
                     : e5rt_execution_stream_operation_retain_input_port(r->operation, name, &port->port),
              first))
        return false;
    if (*buffer == NULL) {
        if (!done(e5rt_buffer_object_alloc(&port->buffer, size, 0), first))
            return false;
        *buffer = port->buffer;
    }
    return done(e5rt_io_port_bind_buffer_object(port->port, *buffer), first);
}

/* The code of the first call that failed. */
static e5rt_error_code run_all(run_program *r, bool half)
{
    const size_t element = half ? 2 : 4, size = ELEMENTS * element;
    void *a = NULL, *b = NULL, *s = NULL, *event = NULL;
    e5rt_error_code first = run_try_open(r, half ? PROGRAM("fp16") : PROGRAM("fp32"), E5RT_CPU, 2);
    if (first != 0)
        return first;
    if (bind(r, false, "a", size, &a, &first) && bind(r, false, "b", size, &b, &first) &&
        bind(r, true, "p", size, &a, &first) && bind(r, true, "q", size, &b, &first) &&
        bind(r, true, "s", element, &s, &first) && done(e5rt_async_event_create(&event, "done", 0), &first) &&
        done(e5rt_execution_stream_operation_bind_completion_event(r->operation, event), &first) &&
        done(e5rt_execution_stream_encode_operation(r->stream, r->operation), &first))
        done(e5rt_execution_stream_execute_sync(r->stream), &first);
    if (event != NULL)
        e5rt_async_event_release(&event);
    return first;
}

static void fail_each(bool and_after, bool half)
{
    long n = 0;
    for (; n < 5000; n++) {
        failing_allocator failing = {.fail_at = n, .and_after = and_after};
        const mw_allocator allocator = failing_allocator_of(&failing);
        run_program r = {0};
        CHECK_INT(e5rt_mw_set_allocator(allocator.resize, allocator.user), 0);
        const e5rt_error_code code = run_all(&r, half);
        run_close(&r);
        CHECK_INT(failing.live, 0);
        if (!failing.failed) {
            CHECK_INT(code, 0);
            break;
        }
        check_note(code == E5RT_ALLOCATION_FAILURE, __FILE__, __LINE__, "request %ld failed: code %lld, \"%s\"", n,
                   (long long)code, run_message());
    }
    CHECK(n > 20 && n < 5000);
    CHECK_INT(e5rt_mw_set_allocator(NULL, NULL), 0);
}

static void test_each_failed_allocation_is_an_error_without_leak(void)
{
    fail_each(false, false);
    fail_each(false, true);
}

static void test_all_allocations_failing_from_one_on(void)
{
    fail_each(true, false);
    fail_each(true, true);
}

static void test_execute_allocates_nothing(void)
{
    for (int team = 0; team < 2; team++) {
        failing_allocator counting = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&counting);
        run_program r = {0};
        run_set("MW_ENGINE_WAKE", team ? "0" : "1000000000");
        e5rt_mw_set_allocator(allocator.resize, allocator.user);
        REQUIRE(run_all(&r, team != 0) == 0);
        const long before = counting.requests;
        for (int i = 0; i < 1000; i++)
            CHECK_INT(e5rt_execution_stream_execute_sync(r.stream), 0);
        CHECK_INT(counting.requests - before, 0);
        run_close(&r);
        CHECK_INT(counting.live, 0);
        e5rt_mw_set_allocator(NULL, NULL);
    }
    run_set("MW_ENGINE_WAKE", NULL);
}

int main(void)
{
    RUN(test_each_failed_allocation_is_an_error_without_leak);
    RUN(test_all_allocations_failing_from_one_on);
    RUN(test_execute_allocates_nothing);
    return check_finish();
}
