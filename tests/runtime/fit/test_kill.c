/* A training that is killed with SIGKILL at random moments and started again each time ends with the bits of one that
 * was left alone. The trainings are processes of their own; MW_NIGHTLY=1 kills 50 of them, otherwise 5. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EPOCHS = 60 };

/* ---- the training: what a child does ---- */

static mw_trainer *make_trainer(mw_error *err)
{
    small_net net = small_create_stateful(NULL);
    /* random numbers of both kinds, of which every weight hears */
    mw_tensor *noise = mw_noise_uniform(net.graph, MW_F32, MW_SHAPE(8), 0.5f, 1.5f, "noise");
    mw_tensor *random = mw_random_uniform(net.graph, MW_F32, MW_SHAPE(8), 0.5f, 1.5f, -1);
    mw_tensor *factor = mw_reduce_mean(mw_mul(noise, random), MW_ALL_AXES, false);
    mw_trainer_options options = mw_trainer_defaults(mw_mul(net.loss, factor), mw_adamw(0.02f, 0.01f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_ANE; /* fp16: the dynamic scale has something to do */
    options.precision.dynamic = true;
    options.precision.interval = 7;
    options.average_decay = 0.9f;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static int train(const char *checkpoint, const char *result)
{
    const small_data data = small_make_data();
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
                                 {.name = "y", .dtype = MW_I32, .data = data.y}};
    mw_error err = {0};
    mw_dataset *dataset = mw_dataset_create(columns, 2, SMALL_EXAMPLES, false, &err);
    mw_trainer *trainer = make_trainer(&err);
    mw_fit_options fit = mw_fit_defaults(dataset, EPOCHS);
    fit.checkpoint.path = checkpoint;
    fit.schedule.rate = mw_schedule_cosine(0.1);
    fit.progress.quiet = true;
    mw_trainer_fit(trainer, &fit, &err);
    mw_trainer_save(trainer, result, NULL, &err);
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(dataset);
    return err.status != MW_OK;
}

/* ---- the killer ---- */

static pid_t start(const char *checkpoint, const char *result)
{
    const pid_t child = fork(); /* this process never uses the engine, so a child may */
    if (child == 0)
        _exit(train(checkpoint, result));
    return child;
}

static void wait_a_while(long nanoseconds)
{
    const struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    nanosleep(&time, NULL);
}

/* 1 = it had ended by itself, 0 = it was killed. */
static int kill_after(pid_t child, long nanoseconds)
{
    int status = 0;
    wait_a_while(nanoseconds);
    kill(child, SIGKILL);
    if (waitpid(child, &status, 0) != child)
        return -1;
    CHECK(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    return !WIFSIGNALED(status);
}

static bool finish(pid_t child)
{
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Between a tenth and all of `time`. */
static long random_part(uint64_t *state, long time)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return time / 10 + (long)(*state >> 33) % (time - time / 10 + 1);
}

static long measure_run(const char *result)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    CHECK(finish(start(scratch("calm.checkpoint"), result)));
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (long)(end.tv_sec - begin.tv_sec) * 1000000000 + (end.tv_nsec - begin.tv_nsec);
}

/* Moments up to half the time of a run: before the first checkpoint, while one is written, between two. */
static void test_a_killed_training_ends_with_the_same_bits(void)
{
    const char *nightly = getenv("MW_NIGHTLY");
    const int wanted = nightly != NULL && nightly[0] != '\0' ? 50 : 5;
    char calm[256], checkpoint[256], result[256];
    snprintf(calm, sizeof calm, "%s", scratch("calm.result"));
    snprintf(checkpoint, sizeof checkpoint, "%s", scratch("killed.checkpoint"));
    snprintf(result, sizeof result, "%s", scratch("killed.result"));
    long time = measure_run(calm);
    uint64_t state = 1;
    int killed = 0, resumed = 0;
    for (int attempt = 0; (killed < wanted || resumed == 0) && attempt < 20 * wanted; attempt++) {
        const bool there = file_exists(checkpoint);
        const int ended = kill_after(start(checkpoint, result), random_part(&state, time / 2));
        REQUIRE(ended >= 0);
        if (ended == 1) { /* finished before the signal: another training, on a machine that is quicker now */
            unlink(checkpoint);
            time = time / 2 + 1000;
        }
        killed += ended == 0;
        resumed += ended == 0 && there;
    }
    CHECK(killed >= wanted);
    CHECK(resumed > 0);
    CHECK(finish(start(checkpoint, result)));
    size_t a_size = 0, b_size = 0;
    unsigned char *a = get_file(calm, &a_size), *b = get_file(result, &b_size);
    CHECK(a != NULL && b != NULL && a_size == b_size && a_size > 1000 && memcmp(a, b, a_size) == 0);
    free(a);
    free(b);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_a_killed_training_ends_with_the_same_bits);
    return check_finish();
}
