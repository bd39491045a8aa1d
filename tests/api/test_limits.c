/* Little memory, no threads, small stacks, no files: each ends in an error with a reason, or the training has the bits
 * that it always has. Every case is a process of its own (child.h). */
#include "support/check.h"
#include "support/child.h"
#include "tiny.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STEPS = 20 };

/* The weights of a training that nothing hinders, from a child: the parent stays without an engine. */
static float expected[TINY_WEIGHTS];

static void send_weights(void *user)
{
    mw_error err = {0};
    float weights[TINY_WEIGHTS];
    tiny_train(STEPS, weights, &err);
    CHECK_OK(err);
    CHECK(write(*(int *)user, weights, sizeof weights) == sizeof weights);
}

static bool find_expected(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    const bool good =
        child_run(send_weights, &ends[1]) == 0 && read(ends[0], expected, sizeof expected) == (ssize_t)sizeof expected;
    close(ends[0]);
    close(ends[1]);
    return good;
}

static void check_trains(void)
{
    mw_error err = {0};
    float weights[TINY_WEIGHTS] = {0};
    tiny_train(STEPS, weights, &err);
    CHECK_OK(err);
    CHECK(memcmp(weights, expected, sizeof weights) == 0);
}

static bool limit(int what, rlim_t most) { return setrlimit(what, &(struct rlimit){most, most}) == 0; }

/* ---- memory ---- */

/* Ends with 2 where the training worked. */
static void train_in_memory(void *user)
{
    mw_error err = {0};
    float weights[TINY_WEIGHTS] = {0};
    if (!CHECK(limit(RLIMIT_AS, (rlim_t)(size_t)user)))
        return;
    tiny_train(STEPS, weights, &err);
    check_note(err.status == MW_OK || err.message[0] != '\0', __FILE__, __LINE__, "an error without a reason");
    CHECK(err.status != MW_OK || memcmp(weights, expected, sizeof weights) == 0);
    if (err.status == MW_OK && check_global.failures_here == 0)
        _exit(2);
}

static size_t address_space(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void test_little_memory_is_an_error_with_a_reason(void)
{
    const size_t now = address_space();
    if (now == 0 || !child_can_limit_addresses())
        SKIP("the address space of a process cannot be limited here");
    int refused = 0, status = 0;
    for (size_t more = 0; status == 0 || more < 1 << 20; more += more < 1 << 20 ? 96 << 10 : more) {
        REQUIRE(more < (size_t)8 << 30);
        status = child_run(train_in_memory, (void *)(now + more));
        check_note(status == 0 || status >> 8 == 2, __FILE__, __LINE__, "%zu KiB more: status %d", more >> 10, status);
        refused += status == 0;
        if (status != 0 && status >> 8 != 2)
            break;
    }
    CHECK(refused > 0);
}

/* A product of a size that is given to a BLAS of the system, if one is found: OpenBLAS waits for memory for ever. */
static void multiply_in_memory(void *user)
{
    enum { N = 512 };
    mw_error err = {0};
    REQUIRE(limit(RLIMIT_AS, (rlim_t)(size_t)user));
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, N));
    mw_output(mw_matmul(x, x, MW_TRANSPOSE_NONE), "y");
    mw_program *program = mw_program_create(graph, NULL, &err);
    mw_program_run(program, &err);
    check_note(err.status == MW_OK || err.message[0] != '\0', __FILE__, __LINE__, "an error without a reason");
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_a_large_product_in_little_memory_ends(void)
{
    const size_t now = address_space();
    if (now == 0 || !child_can_limit_addresses())
        SKIP("the address space of a process cannot be limited here");
    for (size_t more = (size_t)32 << 20; more <= (size_t)512 << 20; more *= 2)
        CHECK_INT(child_run(multiply_in_memory, (void *)(now + more)), 0);
}

/* ---- threads and stacks ---- */

static void *nothing(void *user) { return user; }

static void train_without_threads(void *user)
{
    pthread_t thread;
    if (geteuid() == 0)
        CHECK(setgid(65534) == 0 && setuid(65534) == 0); /* root has as many as it likes */
    CHECK(limit(RLIMIT_NPROC, 0));
    if (pthread_create(&thread, NULL, nothing, NULL) == 0) {
        pthread_join(thread, NULL);
        _exit(2);
    }
    (void)user;
    check_trains();
}

static void test_threads_that_cannot_be_made_change_no_bit(void)
{
    const int status = child_run(train_without_threads, NULL);
    if (status >> 8 == 2)
        SKIP("threads cannot be forbidden here");
    CHECK_INT(status, 0);
}

static void *train_on_this_stack(void *user)
{
    check_trains();
    return user;
}

static void train_on_a_small_stack(void *user)
{
    enum { SMALL = 64 << 10 };
    pthread_attr_t attributes;
    pthread_t thread;
    (void)user;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, SMALL) != 0 ||
        pthread_create(&thread, &attributes, train_on_this_stack, NULL) != 0)
        _exit(2);
    pthread_join(thread, NULL);
}

static void test_a_stack_of_64_kilobytes_is_enough(void)
{
    if (child_is_sanitized())
        SKIP("sanitizers take more stack");
    const int status = child_run(train_on_a_small_stack, NULL);
    if (status >> 8 == 2)
        SKIP("a stack cannot be as small here");
    CHECK_INT(status, 0);
}

/* ---- files ---- */

/* Ends with 2 where the training worked. */
static void train_with_few_files(void *user)
{
    mw_error err = {0};
    float weights[TINY_WEIGHTS];
    REQUIRE(limit(RLIMIT_NOFILE, (rlim_t) * (int *)user));
    tiny_train(STEPS, weights, &err);
    check_note(err.status == MW_OK || err.message[0] != '\0', __FILE__, __LINE__, "an error without a reason");
    CHECK(err.status == MW_OK || strstr(err.message, strerror(EMFILE)) != NULL);
    if (err.status == MW_OK && check_global.failures_here == 0)
        _exit(2);
}

static void test_no_more_open_files_is_an_error_with_a_reason(void)
{
    int refused = 0, status = 0;
    for (int most = 0; status == 0 && most < 64; most++) {
        status = child_run(train_with_few_files, &most);
        refused += status == 0;
    }
    CHECK(refused > 0);
    CHECK_INT(status, 2 << 8);
}

/* The program's text is written before it is compiled. */
static void train_without_room(void *user)
{
    mw_error err = {0};
    float weights[TINY_WEIGHTS];
    (void)user;
    REQUIRE(limit(RLIMIT_FSIZE, 100));
    CHECK(tiny_train(STEPS, weights, &err) == MW_ERROR_FILE);
    CHECK_ERROR(err, MW_ERROR_FILE, strerror(EFBIG));
}

static void test_no_room_for_temporary_files_is_an_error_with_a_reason(void)
{
    CHECK_INT(child_run(train_without_room, NULL), 0);
}

static void train_in_no_folder(void *user)
{
    mw_error err = {0};
    float weights[TINY_WEIGHTS];
    setenv("TMPDIR", user, 1);
    CHECK(tiny_train(STEPS, weights, &err) == MW_ERROR_FILE);
    CHECK_ERROR(err, MW_ERROR_FILE, "TMPDIR");
    CHECK_CONTAINS(err.message, (const char *)user);
}

static void test_a_temporary_folder_that_is_none_is_named(void)
{
    CHECK_INT(child_run(train_in_no_folder, "/no/such/folder"), 0);
    CHECK_INT(child_run(train_in_no_folder, "/dev/null"), 0);
    CHECK_INT(child_run(train_in_no_folder, "/proc"), 0); /* nobody makes a folder there */
}

static void train_in_no_environment(void *user)
{
    extern char **environ;
    static char *none[] = {NULL};
    (void)user;
    environ = none; /* no HOME, no PATH, no TMPDIR */
    check_trains();
}

static void test_no_environment_changes_no_bit(void) { CHECK_INT(child_run(train_in_no_environment, NULL), 0); }

int main(void)
{
    if (!find_expected()) {
        printf("the training that nothing hinders failed\n");
        return 1;
    }
    RUN(test_little_memory_is_an_error_with_a_reason);
    RUN(test_a_large_product_in_little_memory_ends);
    RUN(test_threads_that_cannot_be_made_change_no_bit);
    RUN(test_a_stack_of_64_kilobytes_is_enough);
    RUN(test_no_more_open_files_is_an_error_with_a_reason);
    RUN(test_no_room_for_temporary_files_is_an_error_with_a_reason);
    RUN(test_a_temporary_folder_that_is_none_is_named);
    RUN(test_no_environment_changes_no_bit);
    return check_finish();
}
