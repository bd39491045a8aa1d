/* Numbers and sizes at the edge: gradients that are 0, rates of 0, -0, subnormal numbers, more than 2^31 elements, and
 * a graph that goes on growing after it was compiled. */
#include "support/check.h"
#include "support/child.h"
#include "support/on_engine.h"
#include "tiny.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- trainings in which nothing moves ---- */

enum { B = 4, D = 3, C = 2, W = D * C };

static const float start[W] = {0.5f, -0.0f, 1e-5f, -2.0f, 0.0f, 3.0f};

/* loss = mean (x w)^2: its gradient is 0 for x = 0. */
static mw_trainer *make_trainer(mw_optimizer optimizer, mw_device device, float clip, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(B, D));
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(D, C), mw_init_data(start));
    mw_tensor *product = mw_matmul(x, w, MW_TRANSPOSE_NONE);
    mw_tensor *loss = mw_reduce_mean(mw_square(product), MW_ALL_AXES, false);
    mw_trainer_options options = mw_trainer_defaults(loss, optimizer);
    options.compile = engine_options(device, 1);
    options.clipping.norm = clip;
    options.clipping.value = clip;
    options.average_decay = 0.9f;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void step_with(mw_trainer *trainer, float value, mw_error *err)
{
    float x[B * D];
    for (int i = 0; i < B * D; i++)
        x[i] = value;
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = B * D};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = B};
    for (int i = 0; i < 3; i++)
        mw_trainer_step(trainer, &batch, NULL, err);
}

static bool equal(const float *a, const float *b) /* -0 may become 0: -0 - (-0) is 0 */
{
    for (int i = 0; i < W; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static void check_nothing_moves(mw_optimizer optimizer, mw_device device, float clip, float x, int line)
{
    mw_error err = {0};
    float before[W], after[W];
    mw_trainer *trainer = make_trainer(optimizer, device, clip, &err);
    mw_trainer_read(trainer, "w", MW_F32, before, W, &err);
    if (x != 0.0f)
        mw_trainer_set_learning_rate(trainer, 0.0f, &err);
    step_with(trainer, x, &err);
    mw_trainer_read(trainer, "w", MW_F32, after, W, &err);
    check_note(err.status == MW_OK, __FILE__, line, "optimizer %s: %s", mw_optimizer_name(&optimizer), err.message);
    check_note(equal(before, after), __FILE__, line, "optimizer %s, device %d: a weight moved",
               mw_optimizer_name(&optimizer), (int)device);
    CHECK(device != MW_DEVICE_CPU || memcmp(before, start, sizeof start) == 0);
    mw_trainer_destroy(trainer);
}

static void check_every_optimizer(float x)
{
    mw_optimizer optimizers[] = {mw_sgd(0.1f),       mw_sgd_momentum(0.1f, 0.9f, true),
                                 mw_adam(0.1f),      mw_rmsprop(0.1f),
                                 mw_rmsprop(0.1f),   mw_adagrad(0.1f),
                                 mw_lion(0.1f, 0.0f)};
    mw_optimizer_set(&optimizers[4], MW_OPTIMIZER_CENTERED, true);
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++)
        for (int k = 0; k < 8; k++) {
            mw_optimizer optimizer = optimizers[i];
            mw_optimizer_set(&optimizer, MW_OPTIMIZER_COMPENSATED, (k & 1) != 0);
            check_nothing_moves(optimizer, (k & 2) != 0 ? MW_DEVICE_ANE : MW_DEVICE_CPU, (k & 4) != 0 ? 1.0f : 0.0f, x,
                                __LINE__);
        }
}

/* 0 / (sqrt(0) + epsilon), and the norm 0 that clipping divides by. */
static void test_gradients_of_0_move_nothing(void) { check_every_optimizer(0.0f); }

static void test_a_rate_of_0_moves_nothing(void) { check_every_optimizer(1.5f); }

/* ---- numbers ---- */

enum { COUNT = 8 };

/* y = op(x) on the CPU in that type, which is read back as float. */
static bool compute(mw_dtype dtype, mw_tensor *(*op)(mw_tensor *), const float *x, float *out_y)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(op(mw_input(graph, "x", dtype, MW_SHAPE(1, COUNT))), "y");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 0, &err);
    mw_program_write(program, "x", MW_F32, x, COUNT, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, out_y, COUNT, &err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return CHECK_OK(err);
}

static mw_tensor *halve(mw_tensor *x) { return mw_mul_scalar(x, 0.5); }
static mw_tensor *twice(mw_tensor *x) { return mw_add(x, x); }
static mw_tensor *same(mw_tensor *x) { return mw_mul_scalar(x, 1.0); }

/* x I in fp32, so that each element passes a product. */
static mw_tensor *times_identity(mw_tensor *x)
{
    float eye[COUNT * COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        eye[i * COUNT + i] = 1;
    mw_tensor *identity = mw_constant(mw_tensor_graph(x), MW_F32, MW_SHAPE(COUNT, COUNT), eye);
    return mw_matmul(x, mw_cast(identity, mw_tensor_dtype(x)), MW_TRANSPOSE_NONE);
}

/* Halves and doubles of these are exact, so double says what must come out: nothing is flushed to 0. */
static void check_subnormals(mw_dtype dtype, const float x[COUNT])
{
    float y[COUNT];
    REQUIRE(compute(dtype, halve, x, y));
    for (int i = 0; i < COUNT; i++)
        CHECK(y[i] == (float)((double)x[i] / 2) && (y[i] != 0 || x[i] == 0));
    REQUIRE(compute(dtype, twice, x, y));
    for (int i = 0; i < COUNT; i++)
        CHECK(y[i] == (float)((double)x[i] * 2));
    REQUIRE(compute(dtype, times_identity, x, y));
    for (int i = 0; i < COUNT; i++)
        CHECK(y[i] == x[i]);
    REQUIRE(compute(dtype, mw_relu, x, y));
    for (int i = 0; i < COUNT; i++)
        CHECK(y[i] == (x[i] > 0 ? x[i] : 0));
}

static void test_subnormal_numbers_are_kept(void)
{
    static const float singles[COUNT] = {0x1p-148f, -0x1p-148f, 0x1p-140f,   0x1.8p-130f,
                                         0x1p-126f, -0x1p-127f, 0x1.5p-135f, 0.0f};
    static const float halves[COUNT] = {0x1p-23f, -0x1p-23f, 0x1p-20f,   0x1.8p-18f,
                                        0x1p-14f, -0x1p-15f, 0x1.5p-17f, 0.0f};
    check_subnormals(MW_F32, singles);
    check_subnormals(MW_F16, halves);
}

static void check_signs(mw_dtype dtype, mw_tensor *(*op)(mw_tensor *), const int wanted[COUNT], int line)
{
    static const float zeros[COUNT] = {-0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f};
    float y[COUNT];
    REQUIRE(compute(dtype, op, zeros, y));
    for (int i = 0; i < COUNT; i++)
        check_note(y[i] == 0 && (signbit(y[i]) != 0) == wanted[i], __FILE__, line, "element %d: %g", i, (double)y[i]);
}

/* IEEE 754: 5.5.1 (sign operations), 6.3 (the sign of a product, of a sum of equal zeros and of a root). */
static void test_the_sign_of_zero_is_kept(void)
{
    static const int kept[COUNT] = {1, 0, 1, 0, 1, 0, 1, 0}, turned[COUNT] = {0, 1, 0, 1, 0, 1, 0, 1},
                     none[COUNT] = {0};
    const mw_dtype dtypes[] = {MW_F32, MW_F16};
    for (int i = 0; i < 2; i++) {
        check_signs(dtypes[i], same, kept, __LINE__);
        check_signs(dtypes[i], twice, kept, __LINE__);
        check_signs(dtypes[i], mw_sqrt, kept, __LINE__);
        check_signs(dtypes[i], mw_neg, turned, __LINE__);
        check_signs(dtypes[i], mw_abs, none, __LINE__);
        check_signs(dtypes[i], mw_square, none, __LINE__);
    }
}

/* ---- sizes ---- */

enum { ROWS = 32769, COLUMNS = 65536 }; /* each fits an int, their product does not */
static const int64_t huge = (int64_t)ROWS * COLUMNS;

/* max of relu(x), and the gradient of its sum: 3 where x > 0. */
static mw_program *compile_huge(mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(ROWS, COLUMNS)), *y = mw_relu(x), *dx = NULL;
    mw_tensor *sum = mw_reduce_sum(mw_mul_scalar(y, 3), MW_ALL_AXES, false);
    mw_output(mw_reduce_max(y, MW_ALL_AXES, false), "max");
    mw_grad(sum, &x, 1, &dx, err);
    mw_output(dx, "dx");
    mw_program *program = mw_program_create(graph, NULL, err);
    mw_graph_destroy(graph);
    return program;
}

static void refuse_huge(void *user)
{
    mw_error err = {0};
    (void)user;
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)1 << 30, (rlim_t)1 << 30}) == 0);
    CHECK(compile_huge(&err) == NULL);
    CHECK_ERROR(err, MW_ERROR_MEMORY, "out of memory: 429"); /* x takes 4,295,098,368 bytes, and up to 2 MB beside */
}

static void test_2_to_the_31_elements_that_do_not_fit_are_refused(void)
{
    if (!child_can_limit_addresses())
        SKIP("the address space of a process cannot be limited here");
    CHECK_INT(child_run(refuse_huge, NULL), 0);
}

/* MIL's shapes are int32 where they are arguments. */
static void test_an_extent_beyond_int32_has_no_gradient(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE((int64_t)INT32_MAX + 1)), *dx = NULL;
    CHECK(mw_grad(mw_reduce_sum(x, MW_ALL_AXES, false), &x, 1, &dx, &err) != MW_OK && dx == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "2147483648 in shape does not fit int32");
    mw_graph_destroy(graph);
}

static bool has_memory(double gibibytes)
{
#if defined(_SC_AVPHYS_PAGES)
    return (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) > gibibytes * 0x1p30;
#else
    return gibibytes < 0;
#endif
}

static void test_2_to_the_31_elements_compute(void)
{
    enum { PLUS_5 = 0x4500, PLUS_1 = 0x3c00, MINUS_1 = 0xbc00, PLUS_3 = 0x4200 };
    mw_error err = {0};
    float max = 0;
    if (getenv("MW_NIGHTLY") == NULL || !has_memory(18))
        SKIP("takes 18 GiB and minutes: MW_NIGHTLY=1");
    mw_program *program = compile_huge(&err);
    uint16_t *x = mw_program_view(program, "x", &err);
    const uint16_t *dx = mw_program_view(program, "dx", &err);
    REQUIRE(CHECK_OK(err));
    x[huge - 1] = PLUS_5;
    x[huge - 2] = MINUS_1;
    x[0] = PLUS_1;
    mw_program_run(program, &err);
    mw_program_read(program, "max", MW_F32, &max, 1, &err);
    CHECK_OK(err);
    CHECK(max == 5);
    CHECK(dx[0] == PLUS_3 && dx[huge - 1] == PLUS_3 && dx[huge - 2] == 0 && dx[1] == 0 && dx[huge / 2] == 0);
    mw_program_destroy(program);
}

/* ---- a graph after it was compiled ---- */

static float run(mw_program *program, const char *port, mw_error *err)
{
    float y = 0;
    mw_program_write(program, "x", MW_F32, &(float){3}, 1, err);
    mw_program_run(program, err);
    mw_program_read(program, port, MW_F32, &y, 1, err);
    return y;
}

static void test_a_graph_grows_on_after_it_was_compiled(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1)), *y = mw_square(x);
    mw_output(y, "y");
    mw_program *first = mw_program_create(graph, NULL, &err);
    mw_output(mw_add_scalar(y, 1), "z");
    mw_program *second = mw_program_create(graph, NULL, &err);
    mw_graph_destroy(graph);
    CHECK(run(first, "y", &err) == 9);
    CHECK(run(second, "z", &err) == 10 && run(second, "y", &err) == 9);
    CHECK_OK(err);
    CHECK_INT(mw_program_get_info(first).port_count, 2); /* x and y: the first is what the graph was then */
    CHECK_INT(mw_program_get_info(second).port_count, 3);
    mw_program_destroy(first);
    mw_program_destroy(second);
}

/* ---- feeds ---- */

static void test_feeds_of_one_name_or_none_are_refused(void)
{
    mw_error err = {0};
    mw_trainer *trainer = tiny_trainer(&err);
    tiny_batch tiny;
    tiny_fill(&tiny);
    mw_feed feeds[3] = {tiny.feeds[0], tiny.feeds[1], tiny.feeds[1]};
    feeds[2].name = "unknown";
    const mw_batch batch = {.feeds = feeds, .feed_count = 3, .examples = TINY_N};
    CHECK_INT(mw_trainer_step(trainer, &batch, NULL, &err), MW_OK); /* what no input wants is ignored */
    feeds[2] = feeds[0];
    CHECK_INT(mw_trainer_step(trainer, &batch, NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "feeds 0 and 2 are both called \"x\"");
    mw_error_clear(&err);
    feeds[2].name = NULL;
    CHECK_INT(mw_trainer_step(trainer, &batch, NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "feed 2 has no name");
    CHECK_INT(mw_trainer_get_info(trainer).steps, 1);
    mw_trainer_destroy(trainer);
}

int main(void)
{
    RUN(test_2_to_the_31_elements_that_do_not_fit_are_refused);
    RUN(test_an_extent_beyond_int32_has_no_gradient);
    RUN(test_gradients_of_0_move_nothing);
    RUN(test_a_rate_of_0_moves_nothing);
    RUN(test_subnormal_numbers_are_kept);
    RUN(test_the_sign_of_zero_is_kept);
    RUN(test_2_to_the_31_elements_compute);
    RUN(test_a_graph_grows_on_after_it_was_compiled);
    RUN(test_feeds_of_one_name_or_none_are_refused);
    return check_finish();
}
