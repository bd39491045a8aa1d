/* The worker team, and that results do not depend on who runs the threads. */
#include "engine/run.h"
#include "engine/run/team.h"
#include "support/check.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = 6, ROUNDS = 50 };

typedef struct counts {
    atomic_int calls[MEMBERS];
    atomic_int arrived[ROUNDS];
    atomic_bool late; /* somebody passed a barrier before all had come */
    atomic_bool nested;
} counts;

static void count_job(void *user, int member, int members)
{
    counts *c = user;
    atomic_fetch_add(&c->calls[member], 1);
    for (int round = 0; round < ROUNDS; round++) {
        atomic_fetch_add(&c->arrived[round], 1);
        mw__team_barrier(members);
        if (atomic_load(&c->arrived[round]) != members)
            atomic_store(&c->late, true);
    }
}

static void test_every_member_runs_once_and_barriers_hold(void)
{
    mw__team_reserve(MEMBERS);
    for (int members = 2; members <= MEMBERS; members++)
        for (int again = 0; again < 20; again++) {
            counts c = {0};
            REQUIRE(mw__team_run(count_job, &c, members));
            for (int m = 0; m < MEMBERS; m++)
                CHECK_INT(c.calls[m], m < members);
            CHECK(!c.late);
        }
}

/* The first test: nothing here has used the team before. */
static void test_a_child_of_an_early_fork_has_a_team(void)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        counts c = {0};
        alarm(20); /* a hang ends as a signal */
        mw__team_reserve(2);
        _exit(mw__team_run(count_job, &c, 2) && c.calls[1] == 1 ? 0 : 1);
    }
    int status = -1;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
}

static void nested_job(void *user, int member, int members)
{
    counts *c = user, inner = {0};
    (void)members;
    if (member == 0)
        c->nested = mw__team_run(count_job, &inner, 2);
}

static void test_a_busy_team_is_not_given_twice(void)
{
    counts c = {.nested = true};
    mw__team_reserve(2);
    REQUIRE(mw__team_run(nested_job, &c, 2));
    CHECK(!c.nested);
}

static void test_one_member_is_left_to_the_caller(void)
{
    counts c = {0};
    CHECK(!mw__team_run(count_job, &c, 1));
    CHECK_INT(c.calls[0], 0);
}

static void slow_job(void *user, int member, int members)
{
    (void)user, (void)members;
    if (member > 0)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* A pause doubles with each late run, up to 64 ms: a slow machine may miss the first ones. */
static void test_a_late_team_is_left_alone_for_a_while(void)
{
    bool late = false;
    mw__team_reserve(2);
    for (int i = 0; i < 10 && !late; i++) {
        REQUIRE(mw__team_run(slow_job, NULL, 2));
        late = mw__team_late();
    }
    CHECK(late);
    for (int i = 0; i < 1000 && mw__team_late(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(!mw__team_late());
}

/* ---- programs ---- */

#define STEP                                                                                                           \
    RUN_TEXT("tensor<fp32, [64, 32]> x, tensor<fp32, [32, 32]> w",                                                     \
             "tensor<fp32, [64, 32]> h = matmul(x = x, y = w);\n"                                                      \
             "tensor<fp32, [64, 32]> t = tanh(x = h);\n"                                                               \
             "tensor<fp32, [32, 32]> d = matmul(transpose_x = bool(true), transpose_y = bool(false), x = x, y = t);\n" \
             "tensor<fp32, [32, 32]> e = mul(x = d, y = fp32(0.001));\n"                                               \
             "tensor<fp32, [32, 32]> w2 = sub(x = w, y = e);\n",                                                       \
             "w2")

enum { X = 64 * 32, W = 32 * 32 };

static bool run_steps(uint64_t threads, int salt, int steps, float *out_w)
{
    run_program r;
    if (!run_open(&r, STEP, E5RT_CPU, threads))
        return false;
    float *x = run_bind(&r, false, "x", X * sizeof(float)), *w = run_bind(&r, false, "w", W * sizeof(float));
    bool good = x != NULL && w != NULL && run_share(&r, "w2", "w") != NULL;
    for (int i = 0; good && i < X; i++)
        x[i] = (float)((i * 7 + salt) % 23 - 11) / 16;
    for (int i = 0; good && i < W; i++)
        w[i] = (float)((i * 5 + salt) % 19 - 9) / 32;
    good = good && run_encode(&r);
    for (int s = 0; good && s < steps; s++)
        good = run_execute(&r);
    if (good)
        memcpy(out_w, w, W * sizeof(float));
    run_close(&r);
    return good;
}

static void test_team_and_caller_alone_give_equal_bytes(void)
{
    static float alone[W], team[W];
    for (uint64_t threads = 1; threads <= 7; threads++) {
        run_set("MW_ENGINE_WAKE", "1000000000");
        REQUIRE(run_steps(threads, 1, 20, alone));
        run_set("MW_ENGINE_WAKE", "0");
        REQUIRE(run_steps(threads, 1, 20, team));
        CHECK(memcmp(alone, team, sizeof team) == 0);
        run_set("MW_ENGINE_WAKE", "16000"); /* brief: with the team or without, as it sleeps or not */
        REQUIRE(run_steps(threads, 1, 20, team));
        CHECK(memcmp(alone, team, sizeof team) == 0);
    }
}

typedef struct worker {
    pthread_t thread;
    int salt;
    bool good;
    float w[W];
} worker;

static void *run_worker(void *user)
{
    worker *self = user;
    self->good = true;
    for (int again = 0; self->good && again < 5; again++)
        self->good = run_steps(2, self->salt, 50, self->w);
    return NULL;
}

static void test_threads_run_programs_at_once(void)
{
    static worker workers[3];
    static float expected[W];
    run_set("MW_ENGINE_WAKE", "0");
    for (int i = 0; i < 3; i++) {
        workers[i].salt = i;
        REQUIRE(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) == 0);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < 3; i++) {
        REQUIRE(workers[i].good && run_steps(2, i, 50, expected));
        CHECK(memcmp(expected, workers[i].w, sizeof expected) == 0);
    }
}

/* ---- rounding ---- */

static void test_execute_rounds_to_nearest_and_restores(void)
{
    static float expected[W], upward[W];
    run_set("MW_ENGINE_WAKE", "0");
    for (uint64_t threads = 1; threads <= 2; threads++) {
        REQUIRE(run_steps(threads, 3, 3, expected));
        fesetround(FE_UPWARD);
        const bool good = run_steps(threads, 3, 3, upward);
        const int after = fegetround();
        fesetround(FE_TONEAREST);
        REQUIRE(good);
        CHECK_INT(after, FE_UPWARD);
        CHECK(memcmp(expected, upward, sizeof expected) == 0);
    }
}

int main(void)
{
    RUN(test_a_child_of_an_early_fork_has_a_team);
    RUN(test_every_member_runs_once_and_barriers_hold);
    RUN(test_a_busy_team_is_not_given_twice);
    RUN(test_one_member_is_left_to_the_caller);
    RUN(test_a_late_team_is_left_alone_for_a_while);
    RUN(test_team_and_caller_alone_give_equal_bytes);
    RUN(test_threads_run_programs_at_once);
    RUN(test_execute_rounds_to_nearest_and_restores);
    return check_finish();
}
