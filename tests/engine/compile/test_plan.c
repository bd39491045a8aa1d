/* What planning and encoding make of small programs: steps, phases, memory, threads. */
#include "base/text/text.h"
#include "engine/compile/compile.h"
#include "engine/core/partition.h"
#include "engine/kernel_case.h"
#include "support/check.h"

#include <stdlib.h>

#define T "tensor<fp32, [64, 64]> "

static void test_elementwise_chain_is_one_phase_in_one_buffer(void)
{
    const char *text = RUN_TEXT(T "x",
                                T "a = relu(x = x);\n" T "b = tanh(x = a);\n" T "c = mul(x = b, y = fp32(2.0));\n" T
                                  "d = add(x = c, y = c);\n" T "e = abs(x = d);\n",
                                "e");
    for (uint64_t threads = 1; threads <= 4; threads++) {
        run_facts f;
        run_set("MW_ENGINE_FUSE", "0");
        REQUIRE(run_find_facts(text, threads, &f));
        CHECK_INT(f.steps, 5);
        CHECK_INT(f.phases, 1);
        CHECK_INT(f.memory, 64 * 64 * 4);
        CHECK_INT(f.partitions, threads);
        run_set("MW_ENGINE_FUSE", NULL);
        REQUIRE(run_find_facts(text, threads, &f));
        CHECK_INT(f.steps, 1);
        CHECK_INT(f.memory, 0);
    }
}

static void test_memory_is_used_again_after_a_barrier(void)
{
    const char *text = RUN_TEXT(T "x",
                                T "a = transpose(perm = tensor<int32, [2]>([1, 0]), x = x);\n" T
                                  "b = transpose(perm = tensor<int32, [2]>([1, 0]), x = a);\n" T
                                  "c = transpose(perm = tensor<int32, [2]>([1, 0]), x = b);\n" T
                                  "d = transpose(perm = tensor<int32, [2]>([1, 0]), x = c);\n" T
                                  "e = transpose(perm = tensor<int32, [2]>([1, 0]), x = d);\n",
                                "e");
    run_facts f;
    run_set("MW_ENGINE_FOLD", "0"); /* two transposes would be one */
    REQUIRE(run_find_facts(text, 2, &f));
    CHECK_INT(f.phases, 5);
    CHECK_INT(f.memory, 2 * 64 * 64 * 4);
    REQUIRE(run_find_facts(text, 1, &f));
    CHECK_INT(f.phases, 1);
    CHECK_INT(f.memory, 2 * 64 * 64 * 4);
    run_set("MW_ENGINE_FOLD", NULL);
}

/* Each channel of a batch norm touches its own part of every image. */
static void test_what_is_normalized_by_channels_lies_over_what_it_is_made_of(void)
{
#define IMAGES "tensor<fp32, [4, 8, 20, 30]> "
    const char *text =
        RUN_TEXT(IMAGES "x",
                 IMAGES "a = reverse(axes = tensor<int32, [1]>([1]), x = x);\n"
                        "tensor<fp32, [1, 8, 1, 1]> m = reduce_mean(axes = tensor<int32, [3]>([0, 2, 3]), "
                        "keep_dims = bool(true), x = a);\n" IMAGES "b = sub(x = a, y = m);\n" IMAGES
                        "c = reverse(axes = tensor<int32, [1]>([1]), x = b);\n",
                 "c");
#undef IMAGES
    for (uint64_t threads = 1; threads <= 2; threads++) {
        run_facts f;
        REQUIRE(run_find_facts(text, threads, &f));
        CHECK_INT(f.memory, 4 * 8 * 20 * 30 * 4);
    }
}

static void test_dead_operations_are_dropped(void)
{
    const char *text = RUN_TEXT(T "x", T "a = relu(x = x);\n" T "b = tanh(x = x);\n" T "c = abs(x = b);\n", "a");
    run_facts f;
    REQUIRE(run_find_facts(text, 2, &f));
    CHECK_INT(f.steps, 1);
    CHECK_INT(f.memory, 0);
}

static void test_what_depends_on_constants_alone_is_run_once(void)
{
    const char *small =
        RUN_TEXT(T "x",
                 "tensor<fp32, [1, 64]> a = fill(shape = tensor<int32, [2]>([1, 64]), value = fp32(3.0));\n"
                 "tensor<fp32, [1, 64]> b = mul(x = a, y = fp32(2.0));\n"
                 "tensor<fp32, [1, 64]> c = reduce_sum(axes = tensor<int32, [1]>([0]), keep_dims = "
                 "bool(true), x = b);\n" T "d = add(x = x, y = c);\n",
                 "d");
    const char *large = RUN_TEXT(T "x",
                                 T "a = fill(shape = tensor<int32, [2]>([64, 64]), value = fp32(3.0));\n" T
                                   "b = transpose(perm = tensor<int32, [2]>([1, 0]), x = a);\n" T
                                   "c = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = b);\n",
                                 "c");
    const char *random = RUN_TEXT(T "x",
                                  "tensor<fp32, [4]> a = random_uniform(high = fp32(1.0), low = fp32(0.0), seed = "
                                  "int32(-1), shape = tensor<int32, [1]>([4]));\n",
                                  "a");
    run_facts f;
    REQUIRE(run_find_facts(small, 2, &f));
    CHECK_INT(f.steps, 1);
    run_set("MW_ENGINE_FOLD", "0");        /* the product would read it as it is */
    REQUIRE(run_find_facts(large, 2, &f)); /* the program must not grow by what it computes */
    CHECK_INT(f.steps, 3);
    run_set("MW_ENGINE_FOLD", NULL);
    REQUIRE(run_find_facts(random, 2, &f));
    CHECK_INT(f.steps, 2);
}

/* Thirds times thirds: their sums depend on who adds what. */
static bool run_constant_product(const char *fuse, float out[9])
{
    run_program r;
    run_set("MW_ENGINE_FUSE", fuse);
    bool good =
        run_open(&r,
                 RUN_TEXT("tensor<fp32, [3, 3]> x",
                          "tensor<fp32, [3, 3]> a = fill(shape = tensor<int32, [2]>([3, 3]), value = fp32(0));\n"
                          "tensor<fp32, [3, 3]> b = softmax(axis = int32(-1), x = a);\n"
                          "tensor<fp32, [3, 3]> c = matmul(transpose_x = bool(false), transpose_y = "
                          "bool(false), x = b, y = b);\n"
                          "tensor<fp32, [3, 3]> y = add(x = c, y = x);\n",
                          "y"),
                 E5RT_CPU, 4);
    run_set("MW_ENGINE_FUSE", NULL);
    good = good && run_bind(&r, false, "x", 36) != NULL;
    const float *y = good ? run_bind(&r, true, "y", 36) : NULL;
    good = y != NULL && run_encode(&r) && run_execute(&r);
    if (good)
        memcpy(out, y, 36);
    run_close(&r);
    return good;
}

static void test_what_is_run_beforehand_has_the_bits_of_the_threads(void)
{
    float folded[9], plain[9];
    REQUIRE(run_constant_product("1", folded) && run_constant_product("0", plain));
    CHECK(memcmp(folded, plain, sizeof plain) == 0);
}

static void test_an_output_that_is_a_view_costs_no_copy(void)
{
    const char *text = RUN_TEXT(T "x",
                                T "a = relu(x = x);\n"
                                  "tensor<fp32, [4096]> v = reshape(shape = tensor<int32, [1]>([4096]), x = a);\n",
                                "v");
    run_facts f;
    REQUIRE(run_find_facts(text, 2, &f));
    CHECK_INT(f.steps, 1);
}

static void test_independent_products_share_a_phase(void)
{
    const char *text =
        RUN_TEXT(T "x, " T "w",
                 T "h = matmul(x = x, y = w);\n" T "g = matmul(x = w, y = x);\n" T "y = matmul(x = h, y = g);\n", "y");
    run_facts f;
    REQUIRE(run_find_facts(text, 2, &f));
    CHECK_INT(f.steps, 3);
    CHECK_INT(f.phases, 2);
}

/* Each thread takes half of the columns of a weight that is wide, so that it reads, packs and (where a step of training
 * wrote it) owns half of it. What follows by rows then waits; it need not for a product by rows. */
static void test_a_wide_weight_is_split_by_columns(void)
{
    const char *text = "tensor<fp32, [%d, %d]> h = matmul(transpose_x = bool(false), transpose_y = bool(true), x = x, "
                       "y = w);\ntensor<fp32, [%d, %d]> y = relu(x = h);\n";
    static const struct {
        int m, n, k;
        size_t phases;
    } products[] = {{.m = 16, .n = 128, .k = 400, .phases = 2},
                    {.m = 128, .n = 128, .k = 400, .phases = 1},
                    {.m = 16, .n = 96, .k = 400, .phases = 1},
                    {.m = 16, .n = 128, .k = 200, .phases = 1}};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const int m = products[i].m, n = products[i].n, k = products[i].k;
        char parameters[128], body[512], whole[1024];
        snprintf(parameters, sizeof parameters, "tensor<fp32, [%d, %d]> x, tensor<fp32, [%d, %d]> w", m, k, n, k);
        snprintf(body, sizeof body, text, m, n, m, n);
        run_facts f;
        REQUIRE(run_find_facts(kernel_text(whole, sizeof whole, parameters, body, "y"), 2, &f));
        CHECK_INT(f.steps, 2);
        CHECK_INT(f.phases, products[i].phases);
    }
}

#define AVX2 "tensor<fp32, [512, 512]> "
#define AXES "tensor<int32, [2]>"

/* The rows of b need not wait for the sum of all rows; if they are many, the barrier does not count but their memory.
 */
static void test_a_step_goes_back_to_a_phase_that_allows_it(void)
{
    const char *small =
        RUN_TEXT(T "x",
                 T "a = exp(x = x);\n"
                   "tensor<fp32, [1, 1]> s = reduce_sum(axes = " AXES "([0, 1]), keep_dims = bool(true), x = a);\n" T
                   "b = softmax(axis = int32(1), x = a);\n" T "c = transpose(perm = " AXES "([1, 0]), x = b);\n",
                 "s, c");
    const char *large = RUN_TEXT(
        T "x",
        AVX2 "a = tile(reps = " AXES "([8, 8]), x = x);\n"
             "tensor<fp32, [1, 1]> s = reduce_sum(axes = " AXES "([0, 1]), keep_dims = bool(true), x = a);\n" AVX2
             "b = softmax(axis = int32(1), x = a);\n" AVX2 "c = transpose(perm = " AXES "([1, 0]), x = b);\n"
             "tensor<fp32, [1, 512]> t = reduce_sum(axes = tensor<int32, [1]>([0]), keep_dims = bool(true), "
             "x = c);\n",
        "s, t");
    run_facts f;
    REQUIRE(run_find_facts(small, 2, &f));
    CHECK_INT(f.steps, 4);
    CHECK_INT(f.phases, 2);
    REQUIRE(run_find_facts(large, 2, &f));
    CHECK_INT(f.phases, 4);
}

static void test_threads_cover_the_units_once_at_multiples_of_the_grain(void)
{
    for (int64_t units = 0; units < 70; units += 3)
        for (int64_t grain = 1; grain < 20; grain += 6)
            for (int threads = 1; threads <= 64; threads += 7) {
                const mw__step step = {.units = units, .grain = grain};
                CHECK_INT(mw__partition_begin(&step, 0, threads), 0);
                CHECK_INT(mw__partition_begin(&step, threads, threads), units);
                for (int thread = 0; thread < threads; thread++) {
                    const int64_t begin = mw__partition_begin(&step, thread, threads);
                    CHECK(begin <= mw__partition_begin(&step, thread + 1, threads));
                    CHECK(begin % grain == 0 || begin == units);
                }
            }
    const mw__step one = {.units = 1, .grain = 1};
    CHECK_INT(mw__partition_begin(&one, 1, 4), 1); /* the first thread has it */
}

static void test_threads_of_the_environment_go_before_the_option(void)
{
    mw_error err = {0};
    run_facts f;
    const char *text = RUN_TEXT(T "x", T "a = relu(x = x);\n", "a");
    setenv("MW_ENGINE_THREADS", "3", 1);
    CHECK(run_find_facts(text, 1, &f) && f.partitions == 3);
    setenv("MW_ENGINE_THREADS", "none", 1);
    CHECK(run_library(text, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "MW_ENGINE_THREADS");
    setenv("MW_ENGINE_THREADS", "1000", 1);
    CHECK(run_find_facts(text, 1, &f) && f.partitions == MW__THREADS_MAX);
    unsetenv("MW_ENGINE_THREADS");
    CHECK(run_find_facts(text, 0, &f) && f.partitions >= 1);
}

static void test_an_empty_tensor_runs_nothing(void)
{
    const char *text = RUN_TEXT("tensor<fp32, [0, 4]> x", "tensor<fp32, [0, 4]> a = relu(x = x);\n", "a");
    mw_error err = {0};
    mw__library *library = run_library(text, 2, &err);
    if (library == NULL)
        SKIP("empty tensors are refused: %s", err.message);
    run_facts f;
    CHECK(run_find_facts(text, 2, &f));
    mw__object_release(library);
}

/* What encoding a chain of `steps` elementwise steps takes; what else runs here does not count. With `back`, as many
 * steps follow that take the results from the last to the first, as a gradient does. */
static run_facts encode_chain(int steps, bool back)
{
    mw_error err = {0};
    run_facts facts = {0};
    mw__text text;
    mw__text_init(&text, NULL);
    mw__text_puts(&text, "program(1.3)\n{\n    func main<ios18>(" T "v0) {\n");
    for (int i = 0; i < steps; i++)
        mw__text_printf(&text, T "v%d = tanh(x = v%d);\n", i + 1, i);
    for (int i = steps; back && i > 0; i--)
        mw__text_printf(&text, T "v%d = mul(x = v%d, y = v%d);\n", 2 * steps - i + 1, 2 * steps - i, i);
    mw__text_printf(&text, "    } -> (v%d);\n}\n", back ? 2 * steps : steps);
    if (CHECK_INT(mw__text_check(&text, &err), MW_OK))
        run_find_facts(text.data, back ? 1 : 2, &facts);
    mw__text_deinit(&text);
    return facts;
}

/* Eight times the steps took 64 times as long when a phase was walked from its start for every step. */
static void test_encoding_takes_time_in_proportion_to_the_steps(void)
{
    const double few = encode_chain(2500, false).seconds, many = encode_chain(20000, false).seconds;
    check_note(many < 24 * few + 0.02, __FILE__, __LINE__, "2500 steps took %g s, 20000 took %g s", few, many);
}

/* So did the search for a place when results live long, 22 s for 100,000 steps; none of them may be lost sight of. */
static void test_so_it_does_when_results_live_long(void)
{
    run_set("MW_ENGINE_FUSE", "0");
    const run_facts few = encode_chain(2500, true), many = encode_chain(20000, true);
    run_set("MW_ENGINE_FUSE", NULL);
    check_note(many.seconds < 24 * few.seconds + 0.02, __FILE__, __LINE__, "5000 steps took %g s, 40000 took %g s",
               few.seconds, many.seconds);
    CHECK_INT(few.memory, (size_t)2500 * 64 * 64 * 4);
    CHECK_INT(many.memory, (size_t)20000 * 64 * 64 * 4);
}

/* A gradient may wait for hundreds of steps for the one that adds to it. */
static void test_a_result_is_replaced_in_place_however_long_it_lived(void)
{
    mw_error err = {0};
    run_facts facts = {0};
    mw__text text;
    mw__text_init(&text, NULL);
    mw__text_puts(&text, "program(1.3)\n{\n    func main<ios18>(" T "x) {\n" T
                         "v0 = transpose(perm = tensor<int32, [2]>([1, 0]), x = x);\n");
    for (int i = 0; i < 400; i++)
        mw__text_printf(&text, T "v%d = tanh(x = v%d);\n", i + 1, i);
    mw__text_puts(&text, T "late = relu(x = v0);\n" T "y = add(x = late, y = v400);\n    } -> (y);\n}\n");
    run_set("MW_ENGINE_FUSE", "0");
    if (CHECK_INT(mw__text_check(&text, &err), MW_OK) && CHECK(run_find_facts(text.data, 1, &facts)))
        CHECK_INT(facts.memory, 2 * 64 * 64 * 4);
    run_set("MW_ENGINE_FUSE", NULL);
    mw__text_deinit(&text);
}

/* A chain of row by row operations whose values have two readers each, so that none is replaced in place: every
 * partition keeps to its rows, and what ended makes room inside the phase. */
static void test_memory_is_used_again_inside_a_phase(void)
{
    enum { LAYERS = 24 };
    mw_error err = {0};
    mw__text text;
    mw__text_init(&text, NULL);
    mw__text_puts(&text, "program(1.3)\n{\n    func main<ios18>(" T "x) {\n" T "v0 = tanh(x = x);\n");
    for (int i = 0; i < LAYERS; i++)
        mw__text_printf(&text, T "s%d = softmax(axis = int32(-1), x = v%d);\n" T "v%d = add(x = s%d, y = v%d);\n", i, i,
                        i + 1, i, i);
    mw__text_printf(&text, T "y = tanh(x = v%d);\n    } -> (y);\n}\n", LAYERS);
    run_set("MW_ENGINE_FUSE", "0");
    for (uint64_t threads = 1; threads <= 4; threads++) {
        run_facts facts = {0};
        if (CHECK_INT(mw__text_check(&text, &err), MW_OK) && CHECK(run_find_facts(text.data, threads, &facts))) {
            CHECK_INT(facts.phases, 1);
            CHECK_INT(facts.memory, 2 * 64 * 64 * 4);
        }
    }
    run_set("MW_ENGINE_FUSE", NULL);
    mw__text_deinit(&text);
}

/* As the gradients of biases are: what is summed is not kept until the last of these sums. */
static void test_a_sum_does_not_wait_for_others(void)
{
    enum { SUMS = 8 };
    mw_error err = {0};
    run_facts facts = {0};
    mw__text text;
    mw__text_init(&text, NULL);
    mw__text_puts(&text, "program(1.3)\n{\n    func main<ios18>(");
    for (int i = 0; i < SUMS; i++)
        mw__text_printf(&text, "%s" T "x%d", i > 0 ? ", " : "", i);
    mw__text_puts(&text, ") {\n");
    for (int i = 0; i < SUMS; i++)
        mw__text_printf(&text,
                        T "t%d = transpose(perm = tensor<int32, [2]>([1, 0]), x = x%d);\n"
                          "tensor<fp32, [1, 64]> s%d = reduce_sum(axes = tensor<int32, [1]>([0]), keep_dims = "
                          "bool(true), x = t%d);\n",
                        i, i, i, i);
    mw__text_puts(&text, "    } -> (");
    for (int i = 0; i < SUMS; i++)
        mw__text_printf(&text, "%ss%d", i > 0 ? ", " : "", i);
    mw__text_puts(&text, ");\n}\n");
    if (CHECK_INT(mw__text_check(&text, &err), MW_OK) && CHECK(run_find_facts(text.data, 1, &facts)))
        CHECK_INT(facts.memory, 64 * 64 * 4);
    mw__text_deinit(&text);
}

int main(void)
{
    RUN(test_elementwise_chain_is_one_phase_in_one_buffer);
    RUN(test_memory_is_used_again_after_a_barrier);
    RUN(test_what_is_normalized_by_channels_lies_over_what_it_is_made_of);
    RUN(test_dead_operations_are_dropped);
    RUN(test_what_depends_on_constants_alone_is_run_once);
    RUN(test_what_is_run_beforehand_has_the_bits_of_the_threads);
    RUN(test_an_output_that_is_a_view_costs_no_copy);
    RUN(test_independent_products_share_a_phase);
    RUN(test_a_wide_weight_is_split_by_columns);
    RUN(test_a_step_goes_back_to_a_phase_that_allows_it);
    RUN(test_threads_cover_the_units_once_at_multiples_of_the_grain);
    RUN(test_threads_of_the_environment_go_before_the_option);
    RUN(test_an_empty_tensor_runs_nothing);
    RUN(test_encoding_takes_time_in_proportion_to_the_steps);
    RUN(test_so_it_does_when_results_live_long);
    RUN(test_a_result_is_replaced_in_place_however_long_it_lived);
    RUN(test_memory_is_used_again_inside_a_phase);
    RUN(test_a_sum_does_not_wait_for_others);
    return check_finish();
}
