/* Outputs on the memory of inputs: a step behaves as if all inputs were read before any output was written. Expected
 * values are computed here in plain C; the fixtures are small enough to be exact in fp32. */
#include "engine/run.h"
#include "support/check.h"

#include <string.h>

enum { PARTITIONS_MAX = 4 };

static void fill(float *data, size_t count, float start, float step)
{
    for (size_t i = 0; i < count; i++)
        data[i] = start + step * (float)i;
}

#define SWAP                                                                                                           \
    RUN_TEXT("tensor<fp32, [300, 4]> a, tensor<fp32, [300, 4]> b",                                                     \
             "tensor<fp32, [300, 4]> p = mul(x = b, y = fp32(2.0));\n"                                                 \
             "tensor<fp32, [300, 4]> q = mul(x = a, y = fp32(0.5));\n",                                                \
             "p, q")

static void test_swap_reads_both_before_writing(void)
{
    for (uint64_t threads = 1; threads <= PARTITIONS_MAX; threads++) {
        run_program r;
        REQUIRE(run_open(&r, SWAP, E5RT_CPU, threads));
        const size_t size = 1200 * sizeof(float);
        float *a = run_bind(&r, false, "a", size), *b = run_bind(&r, false, "b", size);
        REQUIRE(a != NULL && b != NULL && run_share(&r, "p", "a") != NULL && run_share(&r, "q", "b") != NULL);
        fill(a, 1200, 1, 1);
        fill(b, 1200, -5, 3);
        REQUIRE(run_encode(&r) && run_execute(&r));
        for (int i = 0; i < 1200; i++) {
            CHECK(a[i] == 2 * (-5 + 3 * (float)i));
            CHECK(b[i] == 0.5F * (1 + (float)i));
        }
        run_close(&r);
    }
}

/* The update stands in the text before a reader of the old value. */
#define READ_AFTER                                                                                                     \
    RUN_TEXT("tensor<fp32, [64, 8]> w",                                                                                \
             "tensor<fp32, [64, 8]> w2 = add(x = w, y = fp32(1.0));\n"                                                 \
             "tensor<fp32, [8]> s = reduce_sum(axes = tensor<int32, [1]>([0]), keep_dims = bool(false), x = w);\n",    \
             "w2, s")

static void test_reader_after_the_update_sees_the_old_value(void)
{
    for (uint64_t threads = 1; threads <= PARTITIONS_MAX; threads++) {
        run_program r;
        REQUIRE(run_open(&r, READ_AFTER, E5RT_CPU, threads));
        float *w = run_bind(&r, false, "w", 512 * sizeof(float));
        float *s = run_bind(&r, true, "s", 8 * sizeof(float));
        REQUIRE(w != NULL && s != NULL && run_share(&r, "w2", "w") != NULL);
        fill(w, 512, 0, 1);
        REQUIRE(run_encode(&r));
        for (int step = 0; step < 3; step++) {
            REQUIRE(run_execute(&r));
            for (int j = 0; j < 8; j++)
                CHECK_NEAR(s[j], 64 * (j + step) + 8 * 64 * 63 / 2, 0);
            CHECK_NEAR(w[511], 512 + step, 0);
        }
        run_close(&r);
    }
}

/* What is computed from the new value must not be delayed behind, nor see, the old one: s needs w2, and t needs w. */
#define BOTH                                                                                                           \
    RUN_TEXT("tensor<fp32, [64, 8]> w",                                                                                \
             "tensor<fp32, [64, 8]> w2 = add(x = w, y = fp32(1.0));\n"                                                 \
             "tensor<fp32, [64, 8]> t = mul(x = w2, y = w);\n",                                                        \
             "w2, t")

static void test_reader_of_old_and_new_value(void)
{
    for (uint64_t threads = 1; threads <= PARTITIONS_MAX; threads++) {
        run_program r;
        REQUIRE(run_open(&r, BOTH, E5RT_CPU, threads));
        float *w = run_bind(&r, false, "w", 512 * sizeof(float));
        float *t = run_bind(&r, true, "t", 512 * sizeof(float));
        REQUIRE(w != NULL && t != NULL && run_share(&r, "w2", "w") != NULL);
        fill(w, 512, 0, 1);
        REQUIRE(run_encode(&r) && run_execute(&r));
        for (int i = 0; i < 512; i++) {
            CHECK_NEAR(w[i], i + 1, 0);
            CHECK_NEAR(t[i], (float)i * (float)(i + 1), 0);
        }
        run_close(&r);
    }
}

#define TRANSPOSED                                                                                                     \
    RUN_TEXT("tensor<fp32, [48, 48]> w",                                                                               \
             "tensor<fp32, [48, 48]> w2 = transpose(perm = tensor<int32, [2]>([1, 0]), x = w);\n", "w2")

static void test_transposed_read_is_not_done_in_place(void)
{
    for (uint64_t threads = 1; threads <= PARTITIONS_MAX; threads++) {
        run_program r;
        REQUIRE(run_open(&r, TRANSPOSED, E5RT_CPU, threads));
        float *w = run_bind(&r, false, "w", 48 * 48 * sizeof(float));
        REQUIRE(w != NULL && run_share(&r, "w2", "w") != NULL);
        fill(w, 48 * 48, 0, 1);
        REQUIRE(run_encode(&r) && run_execute(&r));
        for (int i = 0; i < 48; i++)
            for (int j = 0; j < 48; j++)
                CHECK_NEAR(w[i * 48 + j], j * 48 + i, 0);
        run_close(&r);
    }
}

/* a -> b -> c -> a: each output stands on the input of another. */
#define CHAIN                                                                                                          \
    RUN_TEXT("tensor<fp32, [200]> a, tensor<fp32, [200]> b, tensor<fp32, [200]> c",                                    \
             "tensor<fp32, [200]> p = add(x = a, y = fp32(1.0));\n"                                                    \
             "tensor<fp32, [200]> q = add(x = b, y = fp32(2.0));\n"                                                    \
             "tensor<fp32, [200]> s = add(x = c, y = fp32(3.0));\n",                                                   \
             "p, q, s")

static void test_rotation_of_three(void)
{
    for (uint64_t threads = 1; threads <= PARTITIONS_MAX; threads++) {
        run_program r;
        REQUIRE(run_open(&r, CHAIN, E5RT_CPU, threads));
        const size_t size = 200 * sizeof(float);
        float *a = run_bind(&r, false, "a", size), *b = run_bind(&r, false, "b", size);
        float *c = run_bind(&r, false, "c", size);
        REQUIRE(a != NULL && b != NULL && c != NULL && run_share(&r, "p", "b") != NULL);
        REQUIRE(run_share(&r, "q", "c") != NULL && run_share(&r, "s", "a") != NULL);
        fill(a, 200, 0, 1);
        fill(b, 200, 1000, 1);
        fill(c, 200, 2000, 1);
        REQUIRE(run_encode(&r) && run_execute(&r));
        for (int i = 0; i < 200; i++) {
            CHECK_NEAR(b[i], i + 1, 0);
            CHECK_NEAR(c[i], 1000 + i + 2, 0);
            CHECK_NEAR(a[i], 2000 + i + 3, 0);
        }
        run_close(&r);
    }
}

/* The state is read through a view, after the update. */
#define THROUGH_VIEW                                                                                                   \
    RUN_TEXT("tensor<fp32, [6, 4]> w",                                                                                 \
             "tensor<fp32, [24]> v = reshape(shape = tensor<int32, [1]>([24]), x = w);\n"                              \
             "tensor<fp32, [6, 4]> w2 = mul(x = w, y = fp32(3.0));\n"                                                  \
             "tensor<fp32, [24]> o = add(x = v, y = fp32(0.5));\n",                                                    \
             "w2, o")

static void test_reader_through_a_view_sees_the_old_value(void)
{
    run_program r;
    REQUIRE(run_open(&r, THROUGH_VIEW, E5RT_CPU, 2));
    float *w = run_bind(&r, false, "w", 24 * sizeof(float)), *o = run_bind(&r, true, "o", 24 * sizeof(float));
    REQUIRE(w != NULL && o != NULL && run_share(&r, "w2", "w") != NULL);
    fill(w, 24, 1, 1);
    REQUIRE(run_encode(&r) && run_execute(&r));
    for (int i = 0; i < 24; i++) {
        CHECK_NEAR(w[i], 3 * (i + 1), 0);
        CHECK_NEAR(o[i], i + 1.5, 0);
    }
    run_close(&r);
}

/* An output that is an input, and one that is a constant. */
#define PASSED                                                                                                         \
    RUN_TEXT("tensor<fp32, [5]> x",                                                                                    \
             "tensor<fp32, [3]> k = const()[val = tensor<fp32, [3]>([1.0, 2.0, 4.0])];\n"                              \
             "tensor<fp32, [1, 5]> v = expand_dims(axes = tensor<int32, [1]>([0]), x = x);\n",                         \
             "x, k, v")

static void test_output_that_is_input_constant_or_view(void)
{
    run_program r;
    REQUIRE(run_open(&r, PASSED, E5RT_CPU, 2));
    float *x = run_bind(&r, false, "x", 5 * sizeof(float)), *y = run_bind(&r, true, "x", 5 * sizeof(float));
    float *k = run_bind(&r, true, "k", 3 * sizeof(float)), *v = run_bind(&r, true, "v", 5 * sizeof(float));
    REQUIRE(x != NULL && y != NULL && k != NULL && v != NULL);
    fill(x, 5, 7, 1);
    REQUIRE(run_encode(&r) && run_execute(&r));
    CHECK(memcmp(x, y, 5 * sizeof(float)) == 0 && memcmp(x, v, 5 * sizeof(float)) == 0);
    CHECK(k[0] == 1 && k[1] == 2 && k[2] == 4);
    run_close(&r);
}

static void check_encode_refused(run_program *r, const char *part, const char *other)
{
    CHECK_INT(e5rt_execution_stream_encode_operation(r->stream, r->operation), E5RT_INVALID_ARGUMENT);
    CHECK_CONTAINS(e5rt_get_last_error_message(), part);
    CHECK_CONTAINS(e5rt_get_last_error_message(), other);
}

static void test_partial_overlap_is_refused_with_names(void)
{
    float memory[1300];
    run_program r;
    REQUIRE(run_open(&r, SWAP, E5RT_CPU, 1));
    REQUIRE(run_bind_data(&r, false, "a", memory, 1200 * sizeof(float)));
    REQUIRE(run_bind_data(&r, true, "p", memory + 16, 1200 * sizeof(float)));
    REQUIRE(run_bind(&r, false, "b", 4800) != NULL && run_bind(&r, true, "q", 4800) != NULL);
    check_encode_refused(&r, "\"p\"", "\"a\"");
    run_close(&r);
}

static void test_two_outputs_on_one_memory_are_refused(void)
{
    float memory[1300];
    run_program r;
    REQUIRE(run_open(&r, SWAP, E5RT_CPU, 1));
    REQUIRE(run_bind_data(&r, true, "p", memory, 4800) && run_bind_data(&r, true, "q", memory, 4800));
    REQUIRE(run_bind(&r, false, "b", 4800) != NULL && run_bind(&r, false, "a", 4800) != NULL);
    check_encode_refused(&r, "\"p\"", "\"q\"");
    run_close(&r);
}

static void test_same_start_with_another_size_is_refused(void)
{
    float memory[1300] = {0};
    run_program r;
    REQUIRE(run_open(&r, READ_AFTER, E5RT_CPU, 1));
    REQUIRE(run_bind_data(&r, false, "w", memory, 2048) && run_bind_data(&r, true, "s", memory, 2048));
    REQUIRE(run_bind(&r, true, "w2", 2048) != NULL);
    check_encode_refused(&r, "\"s\"", "\"w\"");
    run_close(&r);
}

/* One memory bound to two inputs and an output. */
static void test_two_inputs_and_an_output_on_one_memory(void)
{
    const char *text = RUN_TEXT("tensor<fp32, [40]> a, tensor<fp32, [40]> b",
                                "tensor<fp32, [40]> p = mul(x = a, y = fp32(2.0));\n"
                                "tensor<fp32, [40]> q = add(x = b, y = fp32(1.0));\n",
                                "p, q");
    run_program r;
    float memory[40];
    fill(memory, 40, 0, 1);
    REQUIRE(run_open(&r, text, E5RT_CPU, 2));
    REQUIRE(run_bind_data(&r, false, "a", memory, 160) && run_bind_data(&r, false, "b", memory, 160));
    REQUIRE(run_bind_data(&r, true, "p", memory, 160));
    const float *q = run_bind(&r, true, "q", 160);
    REQUIRE(q != NULL && run_encode(&r) && run_execute(&r));
    for (int i = 0; i < 40; i++) {
        CHECK_NEAR(memory[i], 2 * i, 0);
        CHECK_NEAR(q[i], i + 1, 0);
    }
    run_close(&r);
}

/* A cache of 5 x 6 x 4 whose rows from `at` on, every second, backwards in the last axis, are replaced run by run; all
 * else stays. */
#define UPDATE_IN_PLACE                                                                                                \
    RUN_TEXT(                                                                                                          \
        "tensor<fp32, [5, 6, 4]> w, tensor<fp32, [5, 2, 3]> u, tensor<int32, [3]> at",                                 \
        "tensor<fp32, [5, 6, 4]> w2 = slice_update(begin = at, end = tensor<int32, [3]>([5, 6, 0]), begin_mask = "     \
        "tensor<bool, [3]>([true, false, false]), end_mask = tensor<bool, [3]>([true, false, false]), stride = "       \
        "tensor<int32, [3]>([1, 2, -1]), update = u, x = w);\n",                                                       \
        "w2")

static void test_a_part_is_replaced_in_place(void)
{
    for (uint64_t threads = 1; threads <= PARTITIONS_MAX; threads++) {
        run_program r;
        REQUIRE(run_open(&r, UPDATE_IN_PLACE, E5RT_CPU, threads));
        float *w = run_bind(&r, false, "w", 120 * sizeof(float)), *u = run_bind(&r, false, "u", 30 * sizeof(float));
        int32_t *at = run_bind(&r, false, "at", 3 * sizeof(int32_t));
        REQUIRE(w != NULL && u != NULL && at != NULL && run_share(&r, "w2", "w") != NULL && run_encode(&r));
        float expected[120];
        fill(w, 120, 0, 1);
        fill(expected, 120, 0, 1);
        for (int step = 0; step < 3; step++) {
            const int32_t from[] = {0, step, 3};
            memcpy(at, from, sizeof from);
            fill(u, 30, 1000.0f * (float)(step + 1), 1);
            for (int i = 0; i < 30; i++)
                expected[i / 6 * 24 + (step + i / 3 % 2 * 2) * 4 + 3 - i % 3] = u[i];
            REQUIRE(run_execute(&r));
            CHECK(memcmp(w, expected, sizeof expected) == 0);
        }
        run_close(&r);
    }
}

int main(void)
{
    run_set("MW_ENGINE_WAKE", "0"); /* small programs would stay on one thread; these are about the team */
    RUN(test_a_part_is_replaced_in_place);
    RUN(test_swap_reads_both_before_writing);
    RUN(test_reader_after_the_update_sees_the_old_value);
    RUN(test_reader_of_old_and_new_value);
    RUN(test_transposed_read_is_not_done_in_place);
    RUN(test_rotation_of_three);
    RUN(test_reader_through_a_view_sees_the_old_value);
    RUN(test_output_that_is_input_constant_or_view);
    RUN(test_partial_overlap_is_refused_with_names);
    RUN(test_two_outputs_on_one_memory_are_refused);
    RUN(test_same_start_with_another_size_is_refused);
    RUN(test_two_inputs_and_an_output_on_one_memory);
    return check_finish();
}
