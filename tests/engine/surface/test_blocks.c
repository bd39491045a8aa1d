/* Blocks as completions: laid out by hand, and by the compiler where it has blocks. */
#include "engine/run/async_case.h"

#include <stdint.h>

#if defined(__BLOCKS__) && !defined(__APPLE__)
/* What a run-time library of blocks has; the engine needs none. */
void *_NSConcreteStackBlock[32], *_NSConcreteGlobalBlock[32];
#endif

typedef struct descriptor {
    unsigned long reserved, size;
    void (*copy)(void *to, const void *from);
    void (*dispose)(const void *block);
} descriptor;

typedef struct block {
    void *isa;
    int flags, reserved;
    void (*invoke)(void *block, uint64_t stream, uint64_t request, int status);
    const descriptor *about;
    async_count *count; /* what is captured */
    atomic_int *copies;
    uint64_t *seen; /* [2] */
} block;

static void invoke(void *self, uint64_t stream, uint64_t request, int status)
{
    const block *b = self;
    b->seen[0] = stream;
    b->seen[1] = request;
    async_done(b->count, status);
}

static void copy(void *to, const void *from)
{
    (void)to;
    atomic_fetch_add(((const block *)from)->copies, 1);
}

static void dispose(const void *self) { atomic_fetch_sub(((const block *)self)->copies, 1); }

static bool open_encoded(async_case *c, void *dependent)
{
    if (!async_open(c, E5RT_CPU, true))
        return false;
    if (dependent != NULL)
        GOOD(e5rt_execution_stream_operation_bind_dependent_events(c->run.operation, &dependent, 1));
    return run_encode(&c->run);
}

/* On macOS the block is the system's to copy, and of a class. */
#if defined(__APPLE__)
extern void *_NSConcreteStackBlock[32];
static void *const stack_class = _NSConcreteStackBlock;
#else
static void *const stack_class = NULL;
#endif

static void test_a_block_is_copied_called_and_released(void)
{
    static const descriptor about = {.size = sizeof(block), .copy = copy, .dispose = dispose};
    async_case c;
    async_count count = {0};
    atomic_int copies = 0;
    uint64_t seen[2] = {0}, stream = 0, request = 0;
    void *go = async_event("go");
    REQUIRE(open_encoded(&c, go));
    block b = {.isa = stack_class,
               .flags = 1 << 25,
               .invoke = invoke,
               .about = &about,
               .count = &count,
               .copies = &copies,
               .seen = seen};
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    GOOD(e5rt_execution_stream_submit_async(c.run.stream, &b));
    CHECK_INT(copies, 1);
    memset(&b, 0xff, sizeof b); /* the caller's frame is gone */
    GOOD(e5rt_execution_stream_get_internal_async_compute_request_id_for_last_submit(c.run.stream, &request));
    GOOD(e5rt_execution_stream_get_stream_id(c.run.stream, &stream));
    GOOD(e5rt_async_event_signal(go, 1));
    GOOD(e5rt_execution_stream_release(&c.run.stream));
    CHECK_INT(count.calls, 1);
    CHECK_INT(count.last_status, 0);
    CHECK_INT(copies, 0);
    CHECK(seen[0] == stream && seen[1] == request);
    GOOD(e5rt_async_event_release(&go));
    async_close(&c);
}

static void test_a_block_without_helpers_and_one_that_is_refused(void)
{
    static const descriptor about = {.size = sizeof(block)}, small = {.size = 8},
                            huge = {.size = (unsigned long)1 << 40};
    async_case c;
    async_count count = {0};
    uint64_t seen[2];
    REQUIRE(open_encoded(&c, NULL));
    block b = {.isa = stack_class, .invoke = invoke, .about = &about, .count = &count, .seen = seen};
    GOOD(e5rt_execution_stream_submit_async_with_timeout(c.run.stream, &b, UINT64_MAX));
    CHECK(async_wait_calls(&count, 1));
    b.about = &small;
    REFUSED(e5rt_execution_stream_submit_async(c.run.stream, &b), E5RT_INVALID_ARGUMENT, "is no block");
    b.about = &huge;
    REFUSED(e5rt_execution_stream_submit_async(c.run.stream, &b), E5RT_INVALID_ARGUMENT, "says 1099511627776 bytes");
    b.about = NULL;
    REFUSED(e5rt_execution_stream_submit_async(c.run.stream, &b), E5RT_INVALID_ARGUMENT, "is no block");
    b.about = &about, b.invoke = NULL;
    REFUSED(e5rt_execution_stream_submit_async(c.run.stream, &b), E5RT_INVALID_ARGUMENT, "is no block");
    CHECK(async_wait_stream(c.run.stream));
    async_close(&c);
}

static void test_a_block_of_a_refused_submission_is_released(void)
{
    static const descriptor about = {.size = sizeof(block), .copy = copy, .dispose = dispose};
    async_case c;
    atomic_int copies = 0;
    REQUIRE(async_open(&c, E5RT_CPU, true));
    block b = {.isa = stack_class, .flags = 1 << 25, .invoke = invoke, .about = &about, .copies = &copies};
    REFUSED(e5rt_execution_stream_submit_async(c.run.stream, &b), E5RT_INVALID_OPERATION, "no operation is encoded");
    CHECK_INT(copies, 0);
    async_close(&c);
}

static void test_blocks_of_the_compiler(void)
{
#if defined(__BLOCKS__)
    async_case c;
    async_count counted = {0}, *count = &counted;
    void *go = async_event("go");
    REQUIRE(open_encoded(&c, go));
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    for (int i = 0; i < 100; i++)
        GOOD(e5rt_execution_stream_submit_async(c.run.stream, ^{
          atomic_fetch_add(&count->last_status, i);
          atomic_fetch_add(&count->calls, 1);
        }));
    GOOD(e5rt_execution_stream_submit_async(c.run.stream, ^(uint64_t stream, uint64_t request, int status) {
      (void)stream, (void)request;
      atomic_fetch_add(&count->calls, 1 + status);
    }));
    GOOD(e5rt_async_event_signal(go, 1));
    CHECK(async_wait_calls(count, 101));
    CHECK_INT(counted.last_status, 99 * 100 / 2);
    GOOD(e5rt_async_event_release(&go));
    async_close(&c);
#else
    SKIP("the compiler has no blocks");
#endif
}

int main(void)
{
    RUN(test_a_block_is_copied_called_and_released);
    RUN(test_a_block_without_helpers_and_one_that_is_refused);
    RUN(test_a_block_of_a_refused_submission_is_released);
    RUN(test_blocks_of_the_compiler);
    return check_finish();
}
