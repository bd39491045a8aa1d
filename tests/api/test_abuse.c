/* Uses that nobody should make of the public API and somebody will: each must end in an error or work, never crash. */
#include "support/check.h"

#include <limits.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 8, D = 4, C = 3 };

static mw_trainer *make_trainer(mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    mw_tensor *logits = mw_dense(mw_tanh(mw_dense(x, 5, "fc1")), C, "fc2");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(0.01f));
    options.compile.threads = 2;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

typedef struct batch {
    float x[N * D];
    int32_t y[N];
    mw_feed feeds[2];
    mw_batch batch;
} batch;

static void make_batch(batch *b)
{
    for (int i = 0; i < N * D; i++)
        b->x[i] = (float)(i * 7 % 11) / 11.0f;
    for (int i = 0; i < N; i++)
        b->y[i] = i % C;
    b->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = b->x, .count = N * D};
    b->feeds[1] = (mw_feed){.name = "y", .dtype = MW_I32, .data = b->y, .count = N};
    b->batch = (mw_batch){.feeds = b->feeds, .feed_count = 2, .examples = N};
}

/* ---- threads and processes ---- */

typedef struct runner {
    mw_error err;
    float weights[5 * D];
} runner;

static void *train(void *user)
{
    runner *self = user;
    mw_trainer *trainer = make_trainer(&self->err);
    batch b;
    make_batch(&b);
    for (int i = 0; i < 300; i++)
        mw_trainer_step(trainer, &b.batch, NULL, &self->err);
    mw_trainer_read(trainer, "fc1.weight", MW_F32, self->weights, 5 * D, &self->err);
    mw_trainer_destroy(trainer);
    return NULL;
}

static void test_trainers_in_two_threads_do_not_disturb_each_other(void)
{
    static runner alone, both[2];
    pthread_t threads[2];
    train(&alone);
    CHECK_OK(alone.err);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, train, &both[i]) == 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        CHECK_OK(both[i].err);
        CHECK(memcmp(both[i].weights, alone.weights, sizeof alone.weights) == 0);
    }
}

/* In the child: every call is an error, and destroying is still allowed. */
static bool child_is_refused(mw_trainer *trainer, const batch *b)
{
    mw_error err = {0}, again = {0};
    mw_trainer_step(trainer, &b->batch, NULL, &err);
    mw_trainer *other = make_trainer(&again);
    mw_trainer_destroy(trainer);
    return err.status != MW_OK && strstr(err.message, "fork") != NULL && other == NULL && again.status != MW_OK;
}

static void test_a_forked_child_gets_an_error_and_no_hang(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(&err);
    batch b;
    make_batch(&b);
    mw_trainer_step(trainer, &b.batch, NULL, &err);
    CHECK_OK(err);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20); /* a hang ends as a signal */
        _exit(child_is_refused(trainer, &b) ? 0 : 1);
    }
    int status = -1;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    CHECK_INT(mw_trainer_step(trainer, &b.batch, NULL, &err), MW_OK); /* the parent goes on */
    mw_trainer_destroy(trainer);
}

static void test_trainers_come_and_go(void)
{
    mw_error err = {0};
    for (int i = 0; i < 200; i++)
        mw_trainer_destroy(make_trainer(&err));
    CHECK_OK(err);
}

/* ---- names ---- */

static void test_longest_names_work_and_longer_ones_are_refused(void)
{
    char name[MW_NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    name[MW_NAME_MAX + 1] = '\0';
    mw_error err = {0};
    float values[3] = {-1, 0, 2}, out[3];
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, name + 1, MW_F32, MW_SHAPE(3));
    mw_tensor *w = mw_parameter(graph, name + 2, MW_F32, MW_SHAPE(3), mw_init_constant(2));
    mw_output(mw_mul(x, w), name + 3);
    mw_program *program = mw_program_create(graph, NULL, &err);
    mw_program_write(program, name + 1, MW_F32, values, 3, &err);
    mw_program_run(program, &err);
    mw_program_read(program, name + 3, MW_F32, out, 3, &err);
    CHECK_OK(err);
    CHECK(err.status == MW_OK && out[0] == -2 && out[2] == 4);
    CHECK_INT(mw_program_write(program, name + 4, MW_F32, values, 3, &err), MW_ERROR_ARGUMENT); /* a long message */
    mw_program_destroy(program);
    CHECK(mw_dense(mw_expand_dims(x, MW_AXES(0)), 2, name + 1) == NULL); /* with ".weight" it is too long */
    CHECK(mw_graph_check(graph, NULL) == MW_ERROR_ARGUMENT);
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, NULL);
    CHECK(mw_input(graph, name, MW_F32, MW_SHAPE(3)) == NULL);
    err = (mw_error){0};
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "has 1001 bytes; a name has 1 to 1000");
    mw_graph_destroy(graph);
}

static void test_names_with_escapes_reach_no_file_name_and_no_text(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "../../x\"\\e[2J", MW_F32, MW_SHAPE(1))), "y");
    mw_program *program = mw_program_create(graph, NULL, &err);
    CHECK_OK(err);
    CHECK(strpbrk(mw_program_mil(program), "\033") == NULL && strstr(mw_program_mil(program), "../") == NULL);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* ---- sizes ---- */

/* What a graph of one input with `shape` and one relu says when it is compiled. */
static mw_status compile_input(mw_shape shape)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, shape)), "y");
    mw_program *program = mw_program_create(graph, NULL, &err);
    CHECK(program == NULL || err.status == MW_OK);
    CHECK(program != NULL || err.message[0] != '\0');
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return err.status;
}

static void test_huge_shapes_are_refused(void)
{
    const int64_t big = INT64_C(1) << 32;
    CHECK_INT(compile_input(MW_SHAPE(big, big)), MW_ERROR_SHAPE);    /* 2^64 elements: 0 if it wrapped */
    CHECK_INT(compile_input(MW_SHAPE(big, big, 3)), MW_ERROR_SHAPE); /* a small number if it wrapped */
    CHECK(compile_input(MW_SHAPE(INT64_MAX)) != MW_OK);              /* the bytes overflow */
    CHECK(compile_input(MW_SHAPE(INT64_MAX / 4, 2)) != MW_OK);
    CHECK(compile_input(MW_SHAPE(-2)) == MW_ERROR_SHAPE && compile_input(MW_SHAPE(INT64_MIN)) == MW_ERROR_SHAPE);
    CHECK_INT(compile_input(MW_SHAPE(0, 3)), MW_OK); /* empty, but right */
}

#define REFUSES(call)                                                                                                  \
    do {                                                                                                               \
        mw_graph *g = mw_graph_create(NULL, NULL);                                                                     \
        mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, 3));                                                       \
        CHECK(x != NULL && (call) == NULL);                                                                            \
        check_note(mw_graph_check(g, NULL) != MW_OK, __FILE__, __LINE__, "accepted: %s", #call);                       \
        mw_graph_destroy(g);                                                                                           \
    } while (0)

static void test_extreme_arguments_are_refused(void)
{
    const mw_slice slices[2] = {{.begin = INT64_MIN, .end = INT64_MAX, .stride = INT64_MIN}, {.begin = INT64_MAX}};
    const int64_t most[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
                  large[4] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
    const mw_shape deep = {.rank = 99}, negative = {.rank = -5};
    REFUSES(mw_slice_by_index(x, slices));
    REFUSES(mw_slice_by_size(x, most, most));
    REFUSES(mw_slice_by_size(x, large, large));
    REFUSES(mw_pad(x, most, 2, MW_PAD_CONSTANT, 0));
    REFUSES(mw_pad(x, large, INT_MAX, MW_PAD_CONSTANT, 0));
    REFUSES(mw_tile(x, MW_SHAPE(INT64_C(1) << 62, 4)));
    REFUSES(mw_tile(mw_tile(x, MW_SHAPE(INT_MAX, INT_MAX)), MW_SHAPE(INT_MAX, INT_MAX)));
    REFUSES(mw_fill(g, MW_F32, MW_SHAPE(INT_MAX, INT_MAX, INT_MAX), 0));
    REFUSES(mw_fill(g, MW_F32, negative, 0));
    REFUSES(mw_range_1d(g, MW_F32, 0, 1e18, 1));
    REFUSES(mw_range_1d(g, MW_F32, 0, (double)NAN, 1));
    REFUSES(mw_range_1d(g, MW_F32, 0, 1, 0));
    REFUSES(mw_range_1d(g, MW_I32, 0, 1e300, 1));
    REFUSES(mw_one_hot(mw_cast(x, MW_I32), INT64_MAX, 0, MW_F32, 1, 0));
    REFUSES(mw_dense(x, INT64_MAX, "d"));
    REFUSES(mw_reshape(x, MW_SHAPE(-1, -1)));
    REFUSES(mw_reshape(x, deep));
    REFUSES(mw_input(g, "y", MW_F32, deep));
    REFUSES(mw_constant(g, MW_F32, negative, &slices));
    REFUSES(mw_reduce_sum(x, ((mw_axes){.count = 99}), false));
    REFUSES(mw_transpose(x, (mw_axes){.count = -1}));
    REFUSES(mw_softmax(x, INT_MIN));
    REFUSES(mw_softmax(x, INT_MAX));
    REFUSES(mw_log_softmax(x, INT_MIN));
    REFUSES(mw_log_softmax(x, INT_MAX));
    REFUSES(mw_cast(x, (mw_dtype)99));
    REFUSES(mw_gelu(x, (mw_gelu_mode)-1));
    REFUSES(mw_input(g, "y", (mw_dtype)-3, MW_SHAPE(1)));
    REFUSES(mw_clip(x, (float)NAN, 1));
}

static void test_messages_name_operation_and_argument(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_range_1d(graph, MW_I32, 0, 1e300, 1);
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "range_1d: 1e+300 in end does not fit int32");
    mw_graph_destroy(graph);
}

/* ---- the graph's error ---- */

/* Labels that are made after the mistake are NULL too, so that the loss leads to no graph. */
static void test_the_first_mistake_is_not_lost_when_all_that_follows_is_null(void)
{
    for (int call = 0; call < 5; call++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D));
        mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(D + 1, C), mw_init_zeros()), *out = NULL;
        mw_tensor *h = mw_matmul(x, w, MW_TRANSPOSE_NONE);
        mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
        mw_tensor *loss = mw_cross_entropy(mw_relu(h), y);
        mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(0.1f));
        mw_gradcheck_options check = mw_gradcheck_defaults(loss, &x, 1);
        CHECK(h == NULL && y == NULL && loss == NULL);
        if (call == 0)
            CHECK(mw_trainer_create(&options, &err) == NULL);
        else if (call == 1)
            mw_grad(loss, &w, 1, &out, &err);
        else if (call == 2)
            mw_gradcheck_run(&check, NULL, &err);
        else if (call == 3)
            mw_hvp(loss, &w, &w, 1, &out, &err);
        else
            mw_jvp(&h, 1, &w, &w, 1, &out, &err);
        CHECK_ERROR(err, MW_ERROR_SHAPE, "matmul #1: inner dimensions differ: x [8, 4] and y \"w\" [5, 3]");
        mw_graph_destroy(graph);
        err = (mw_error){0};
        CHECK(mw_trainer_create(&options, &err) == NULL); /* the graph is gone, and its error with it */
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the loss is NULL");
    }
}

static void test_the_first_mistake_reaches_the_one_who_creates_the_trainer(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(D + 1, C), mw_init_zeros());
    mw_tensor *logits = mw_softmax(mw_matmul(x, w, MW_TRANSPOSE_NONE), -1);
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_sgd(0.1f));
    options.metric = mw_accuracy(logits, y);
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "matmul #1: inner dimensions differ: x [8, 4] and y \"w\" [5, 3]");
    mw_graph_destroy(graph);
}

static void count_warnings(void *user, mw_log_level level, const char *line)
{
    int *count = user;
    *count += level == MW_LOG_WARNING && strstr(line, "parameter \"a\" gets no gradient") != NULL;
}

static void test_a_parameter_without_a_gradient_is_warned_about(void)
{
    mw_error err = {0};
    int warnings = 0;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *a = mw_parameter(graph, "a", MW_F32, MW_SHAPE(3), mw_init_constant(1.0f));
    mw_tensor *b = mw_parameter(graph, "b", MW_F32, MW_SHAPE(3), mw_init_constant(1.0f));
    mw_tensor *product = mw_mul(mw_stop_gradient(a), b);
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(product, MW_ALL_AXES, false), mw_sgd(0.1f));
    mw_log_set(count_warnings, &warnings);
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_log_set(NULL, NULL);
    CHECK_OK(err);
    CHECK_INT(warnings, 1);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void test_a_loss_whose_paths_are_cut_is_refused(void)
{
    for (int k = 0; k < 3; k++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *h = mw_dense(mw_input(graph, "x", MW_F32, MW_SHAPE(N, D)), 2, "fc");
        mw_tensor *cut = k == 0   ? mw_cast(mw_cast(h, MW_I32), MW_F32)
                         : k == 1 ? mw_stop_gradient(h)
                                  : mw_cast(mw_greater(h, mw_neg(h)), MW_F32);
        mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(cut, MW_ALL_AXES, false), mw_sgd(0.1f));
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        CHECK(trainer == NULL);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no parameter gets a gradient");
        mw_trainer_destroy(trainer);
        mw_graph_destroy(graph);
    }
}

int main(void)
{
    RUN(test_trainers_in_two_threads_do_not_disturb_each_other);
    RUN(test_a_forked_child_gets_an_error_and_no_hang);
    RUN(test_trainers_come_and_go);
    RUN(test_longest_names_work_and_longer_ones_are_refused);
    RUN(test_names_with_escapes_reach_no_file_name_and_no_text);
    RUN(test_huge_shapes_are_refused);
    RUN(test_extreme_arguments_are_refused);
    RUN(test_messages_name_operation_and_argument);
    RUN(test_the_first_mistake_is_not_lost_when_all_that_follows_is_null);
    RUN(test_the_first_mistake_reaches_the_one_who_creates_the_trainer);
    RUN(test_a_parameter_without_a_gradient_is_warned_about);
    RUN(test_a_loss_whose_paths_are_cut_is_refused);
    return check_finish();
}
