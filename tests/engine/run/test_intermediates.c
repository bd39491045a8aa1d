/* The memory of the intermediates, which the operations of one stream share: it is as much as the largest needs, it
 * moves when a larger one comes, and what each computes stays the same. */
#include "engine/run.h"
#include "support/check.h"
#include "support/metered.h"

#include <stdlib.h>
#include <string.h>

/* Two products with what is between them: intermediates of N x N, and memory for the products themselves. */
#define CHAIN(N)                                                                                                       \
    RUN_TEXT("tensor<fp32, [" N ", " N "]> x",                                                                         \
             "tensor<fp32, [" N ", " N "]> a = matmul(x = x, y = x, transpose_x = bool(false), transpose_y = "         \
             "bool(true));\n"                                                                                          \
             "tensor<fp32, [" N ", " N "]> b = softmax(x = a, axis = int32(-1));\n"                                    \
             "tensor<fp32, [" N ", " N "]> c = matmul(x = b, y = a, transpose_x = bool(false), transpose_y = "         \
             "bool(false));\n"                                                                                         \
             "tensor<fp32, [" N ", " N "]> y = softmax(x = c, axis = int32(0));\n",                                    \
             "y")

/* A loop: its blocks have memory of their own, but read and write that of the operation. */
static const char loop[] = RUN_TEXT(
    "tensor<int32, []> limit, tensor<fp32, [16]> x",
    "int32 zero = const()[name = string(\"zero\"), val = int32(0)];\n"
    "int32 one = const()[name = string(\"one\"), val = int32(1)];\n"
    "tensor<fp32, [16]> start = tanh(x = x)[name = string(\"start\")];\n"
    "int32 i, tensor<fp32, [16]> last = while_loop(loop_vars = (zero, start))[name = string(\"loop\")]"
    " (int32 k, tensor<fp32, [16]> h) { bool more = less(x = k, y = limit)[name = string(\"more\")]; } -> (more)"
    " (int32 k, tensor<fp32, [16]> h) { int32 next = add(x = k, y = one)[name = string(\"next\")];"
    "   tensor<fp32, [16]> g = cos(x = h)[name = string(\"g\")]; } -> (next, g);\n"
    "tensor<fp32, [16]> y = softmax(x = last, axis = int32(0))[name = string(\"y\")];\n",
    "y");

typedef struct part {
    const char *text;
    size_t size; /* bytes of x and y */
    run_program shared, alone;
    float *x, *y, *wanted;
} part;

static bool open_one(run_program *r, const part *p, uint64_t threads, float **x, float **y)
{
    if (!run_open(r, p->text, E5RT_CPU, threads))
        return false;
    if (p->text == loop)
        *(int32_t *)run_bind(r, false, "limit", 4) = 3;
    *x = run_bind(r, false, "x", p->size);
    *y = run_bind(r, true, "y", p->size);
    for (size_t i = 0; *x != NULL && i < p->size / 4; i++)
        (*x)[i] = (float)(i % 7) * 0.25f - 0.5f;
    return *x != NULL && *y != NULL;
}

static bool prepare(part *p, uint64_t threads)
{
    return open_one(&p->alone, p, threads, &p->x, &p->wanted) && run_encode(&p->alone) && run_execute(&p->alone) &&
           open_one(&p->shared, p, threads, &p->x, &p->y);
}

/* All in the stream of the first. */
static void check_stream(part *parts, size_t count, uint64_t threads)
{
    for (size_t i = 0; i < count; i++)
        REQUIRE(prepare(&parts[i], threads));
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(e5rt_execution_stream_encode_operation(parts[0].shared.stream, parts[i].shared.operation), 0);
        REQUIRE(run_execute(&parts[0].shared)); /* also between: the room moves after runs */
    }
    REQUIRE(run_execute(&parts[0].shared));
    for (size_t i = 0; i < count; i++) {
        CHECK(memcmp(parts[i].y, parts[i].wanted, parts[i].size) == 0);
        CHECK(run_check_plan(&parts[i].shared));
    }
    for (size_t i = count; i-- > 0;) {
        run_close(&parts[i].shared);
        run_close(&parts[i].alone);
    }
}

static void test_operations_that_share_memory_compute_what_they_do_alone(void)
{
    for (uint64_t threads = 1; threads <= 2; threads++) {
        part growing[] = {{.text = CHAIN("8"), .size = 8 * 8 * 4},      {.text = loop, .size = 16 * 4},
                          {.text = CHAIN("40"), .size = 40 * 40 * 4},   {.text = CHAIN("96"), .size = 96 * 96 * 4},
                          {.text = CHAIN("24"), .size = 24 * 24 * 4},   {.text = loop, .size = 16 * 4},
                          {.text = CHAIN("128"), .size = 128 * 128 * 4}};
        check_stream(growing, sizeof growing / sizeof *growing, threads);
    }
}

/* ---- how much ---- */

enum { SIDE = 128, BYTES = SIDE * SIDE * 4 };

/* What `count` operations on the same buffers add to the engine's memory when they are encoded. */
static size_t encoded_bytes(size_t count, const metered_bytes *c)
{
    run_program r[8];
    size_t before = 0;
    for (size_t i = 0; i < count; i++) {
        if (!CHECK(run_open(&r[i], CHAIN("128"), E5RT_CPU, 1)))
            return 0;
        run_bind(&r[i], false, "x", BYTES);
        run_bind(&r[i], true, "y", BYTES);
    }
    before = c->now;
    for (size_t i = 0; i < count; i++)
        CHECK_INT(e5rt_execution_stream_encode_operation(r[0].stream, r[i].operation), 0);
    const size_t after = c->now;
    for (size_t i = count; i-- > 0;)
        run_close(&r[i]);
    return after - before;
}

static void test_eight_operations_need_the_intermediates_of_one(void)
{
    metered_bytes c = {0};
    const mw_allocator allocator = metered_allocator(&c);
    e5rt_mw_set_allocator(allocator.resize, allocator.user);
    const size_t one = encoded_bytes(1, &c), eight = encoded_bytes(8, &c);
    e5rt_mw_set_allocator(NULL, NULL);
    CHECK_INT(c.now, 0);
    CHECK(one >= BYTES);    /* else nothing is measured */
    CHECK(eight < 2 * one); /* the rest is what each notes */
}

int main(void)
{
    RUN(test_operations_that_share_memory_compute_what_they_do_alone);
    RUN(test_eight_operations_need_the_intermediates_of_one);
    return check_finish();
}
