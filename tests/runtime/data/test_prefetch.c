/* Batches that a thread makes ahead: errors come with their batch, and loaders may be destroyed, sought, forked and
 * used by several threads while batches are made. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"
#include "support/child.h"

#include <millwright/data.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXAMPLES = 24, BATCH = 2, BATCHES = EXAMPLES / BATCH };

/* What the function of the data set does. */
typedef struct setting {
    atomic_int made, failing; /* examples so far; the one that fails, -1 = none */
    _Atomic(mw_loader *) loader;
    atomic_bool slow, asks, destroys, by_other, blocked, hold; /* hold: it waits */
    mw_error seen;
    pthread_t caller;
} setting;

static mw_status make(void *user, int64_t example, size_t column, void *out, mw_error *err)
{
    setting *s = user;
    (void)column;
    const int32_t value = (int32_t)example;
    atomic_fetch_add(&s->made, 1);
    if (atomic_load(&s->slow))
        usleep(1000);
    while (atomic_load(&s->hold))
        usleep(200);
    if (!pthread_equal(pthread_self(), s->caller))
        atomic_store(&s->by_other, true);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    atomic_store(&s->blocked, sigismember(&mask, SIGINT) == 1);
    mw_loader *loader = atomic_load(&s->loader);
    if (loader != NULL && atomic_exchange(&s->asks, false))
        mw_loader_next(loader, &s->seen);
    if (loader != NULL && atomic_exchange(&s->destroys, false))
        mw_loader_destroy(loader);
    memcpy(out, &value, sizeof value);
    if (atomic_load(&s->failing) != value)
        return MW_OK;
    snprintf(err->message, sizeof err->message, "it is cursed");
    return MW_ERROR_FORMAT;
}

static void reset(setting *s)
{
    memset(s, 0, sizeof *s);
    atomic_store(&s->failing, -1);
    s->caller = pthread_self();
}

/* Of each loader, at most as many as batches ahead. */
static int thread_count = 1;

static mw_dataset *prefetch(const mw_dataset *base, int ahead, mw_error *err)
{
    const int threads = thread_count < ahead ? thread_count : ahead;
    return thread_count > 1 ? mw_dataset_prefetch_threads(base, ahead, threads, err)
                            : mw_dataset_prefetch(base, ahead, err);
}

static mw_loader *open_loader(setting *s, int ahead, mw_error *err)
{
    const mw_column column = {.name = "x", .dtype = MW_I32};
    mw_dataset *base = mw_dataset_create_callback(&column, 1, EXAMPLES, make, s, err);
    mw_dataset *dataset = ahead > 0 ? prefetch(base, ahead, err) : base;
    mw_loader_options options = mw_loader_defaults(dataset, BATCH);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, err);
    if (ahead > 0)
        mw_dataset_destroy(dataset);
    mw_dataset_destroy(base);
    return loader;
}

static bool is_batch(const mw_batch *batch, int number)
{
    return batch != NULL && ((const int32_t *)batch->feeds[0].data)[0] == number * BATCH &&
           batch->ids[0] == number * BATCH;
}

static void *ask_once(void *user)
{
    mw_error err = {0};
    CHECK(is_batch(mw_loader_next(user, &err), 0));
    CHECK_OK(err);
    return NULL;
}

/* ---- ahead, and not too far ---- */

static void wait_until_made(const setting *s, int count)
{
    for (int i = 0; i < 5000 && atomic_load(&s->made) < count; i++)
        usleep(1000);
}

static void test_batches_are_made_ahead_by_a_thread_without_signals(void)
{
    mw_error err = {0};
    setting s;
    reset(&s);
    mw_loader *loader = open_loader(&s, 3, &err);
    CHECK_INT(atomic_load(&s.made), 0); /* nothing before the first call */
    const mw_batch *batch = mw_loader_next(loader, &err);
    CHECK(is_batch(batch, 0));
    wait_until_made(&s, 4 * BATCH);
    usleep(20000);
    CHECK_INT(atomic_load(&s.made), 4 * BATCH); /* the one that is consumed, and three */
    CHECK(is_batch(batch, 0));                  /* it stays while others are made */
    CHECK(atomic_load(&s.by_other) && atomic_load(&s.blocked));
    mw_loader_destroy(loader);
    CHECK_OK(err);
}

static void test_the_thread_does_not_run_into_the_next_epoch(void)
{
    mw_error err = {0};
    setting s;
    reset(&s);
    mw_loader *loader = open_loader(&s, 5, &err);
    for (int i = 0; i < BATCHES; i++)
        CHECK(is_batch(mw_loader_next(loader, &err), i));
    CHECK(mw_loader_next(loader, &err) == NULL);
    usleep(20000);
    CHECK_INT(atomic_load(&s.made), EXAMPLES);
    CHECK(is_batch(mw_loader_next(loader, &err), 0));
    mw_loader_destroy(loader);
    CHECK_OK(err);
}

/* ---- errors ---- */

static void test_an_error_comes_with_its_batch_and_is_tried_again(void)
{
    for (int ahead = 0; ahead <= 4; ahead++) {
        mw_error err = {0};
        setting s;
        reset(&s);
        atomic_store(&s.failing, 3 * BATCH + 1);
        mw_loader *loader = open_loader(&s, ahead, &err);
        for (int i = 0; i < 3; i++)
            CHECK(is_batch(mw_loader_next(loader, &err), i));
        for (int i = 0; i < 2; i++) {
            CHECK(mw_loader_next(loader, &err) == NULL);
            CHECK_ERROR(err, MW_ERROR_FORMAT, "example 7 of column \"x\": it is cursed");
            CHECK_INT(mw_loader_tell(loader).batch, 3);
            mw_error_clear(&err);
        }
        atomic_store(&s.failing, -1);
        for (int i = 3; i < BATCHES; i++)
            CHECK(is_batch(mw_loader_next(loader, &err), i));
        CHECK(mw_loader_next(loader, &err) == NULL);
        CHECK_OK(err);
        mw_loader_destroy(loader);
    }
}

/* An error of a batch that nobody asks for is nobody's. */
static void test_an_error_that_was_sought_away_is_forgotten(void)
{
    mw_error err = {0};
    setting s;
    reset(&s);
    atomic_store(&s.failing, BATCH);
    mw_loader *loader = open_loader(&s, 2, &err);
    CHECK(is_batch(mw_loader_next(loader, &err), 0));
    mw_loader_seek(loader, (mw_loader_position){.epoch = 4, .batch = 2}, &err);
    CHECK(is_batch(mw_loader_next(loader, &err), 2));
    mw_loader_destroy(loader);
    CHECK_OK(err);
}

/* ---- any order of calls ---- */

static void test_random_calls_serve_what_a_plain_loader_serves(void)
{
    mw_error err = {0};
    setting s, plain;
    reset(&s), reset(&plain);
    mw_loader *loader = open_loader(&s, 3, &err), *other = open_loader(&plain, 0, &err);
    unsigned state = 12345;
    for (int i = 0; i < 3000; i++) {
        state = state * 1664525u + 1013904223u;
        if (state >> 28 == 0) {
            const mw_loader_position to = {.epoch = state >> 8 & 3, .batch = (state >> 12) % (BATCHES + 1)};
            mw_loader_seek(loader, to, &err);
            mw_loader_seek(other, to, &err);
        }
        const mw_batch *a = mw_loader_next(loader, &err), *b = mw_loader_next(other, &err);
        REQUIRE((a == NULL) == (b == NULL));
        if (a != NULL)
            REQUIRE(memcmp(a->feeds[0].data, b->feeds[0].data, BATCH * sizeof(int32_t)) == 0 && a->ids[0] == b->ids[0]);
        REQUIRE(mw_loader_tell(loader).batch == mw_loader_tell(other).batch);
    }
    mw_loader_destroy(loader);
    mw_loader_destroy(other);
    CHECK_OK(err);
}

static void test_loaders_are_destroyed_while_batches_are_made(void)
{
    mw_error err = {0};
    for (int i = 0; i < 60; i++) {
        setting s;
        reset(&s);
        atomic_store(&s.slow, i % 2 == 0);
        mw_loader *loader = open_loader(&s, 1 + i % 4, &err);
        for (int k = 0; k < i % 5; k++)
            mw_loader_next(loader, &err);
        if (i % 3 == 0)
            mw_loader_seek(loader, (mw_loader_position){.batch = 1}, &err);
        mw_loader_destroy(loader);
        const int made = atomic_load(&s.made);
        usleep(i < 4 ? 5000 : 0);
        CHECK_INT(atomic_load(&s.made), made); /* nothing is made once it is gone */
    }
    CHECK_OK(err);
}

/* ---- calls from the function of the data set ---- */

static void test_the_function_may_not_ask_its_own_loader(void)
{
    mw_error err = {0};
    setting s;
    reset(&s);
    mw_loader *loader = open_loader(&s, 2, &err);
    CHECK(is_batch(mw_loader_next(loader, &err), 0));
    wait_until_made(&s, 3 * BATCH);
    atomic_store(&s.loader, loader);
    atomic_store(&s.asks, true);
    for (int i = 1; i < BATCHES; i++)
        CHECK(is_batch(mw_loader_next(loader, &err), i));
    CHECK_INT(s.seen.status, MW_ERROR_STATE);
    mw_loader_destroy(loader);
    CHECK_OK(err);
}

/* What it holds goes when the function returns: at once, or with the call that waits for the batch. */
static void test_the_function_may_destroy_its_own_loader(void)
{
    static setting settings[2]; /* a thread that ends by itself is not waited for */
    for (int waiting = 0; waiting < 2; waiting++) {
        mw_error err = {0};
        setting *s = &settings[waiting];
        reset(s);
        mw_loader *loader = open_loader(s, 1, &err);
        CHECK(is_batch(mw_loader_next(loader, &err), 0));
        wait_until_made(s, 2 * BATCH);
        atomic_store(&s->hold, true);
        CHECK(is_batch(mw_loader_next(loader, &err), 1)); /* the thread goes on, with batch 2 */
        atomic_store(&s->loader, loader);
        atomic_store(&s->destroys, true);
        atomic_store(&s->slow, waiting != 0);
        atomic_store(&s->hold, false);
        if (waiting != 0)
            CHECK(mw_loader_next(loader, &err) == NULL); /* inside when it happens, or after */
        for (int i = 0; i < 5000 && atomic_load(&s->destroys); i++)
            usleep(1000);
        CHECK(!atomic_load(&s->destroys));
        usleep(30000);
        mw_error after = {0};
        CHECK(mw_loader_next(loader, &after) == NULL);
        CHECK_INT(after.status, MW_ERROR_STATE);
        CHECK_INT(err.status, waiting == 0 ? MW_OK : MW_ERROR_STATE);
    }
}

/* ---- processes and threads ---- */

static void test_a_child_of_fork_gets_an_error_and_makes_a_new_loader(void)
{
    if (child_is_sanitized())
        SKIP("sanitizers do not carry threads into a child");
    mw_error err = {0};
    setting s;
    reset(&s);
    mw_loader *loader = open_loader(&s, 2, &err);
    CHECK(is_batch(mw_loader_next(loader, &err), 0));
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20); /* a hang ends as a signal */
        const bool refused = mw_loader_next(loader, &err) == NULL && err.status == MW_ERROR_STATE;
        mw_error_clear(&err);
        mw_loader_seek(loader, (mw_loader_position){0}, &err);
        mw_loader_destroy(loader);
        mw_loader *mine = open_loader(&s, 2, &err);
        const bool served = is_batch(mw_loader_next(mine, &err), 0);
        mw_loader_destroy(mine);
        _exit(refused && served && err.status == MW_OK ? 0 : 1);
    }
    int status = -1;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    for (int i = 1; i < BATCHES; i++)
        CHECK(is_batch(mw_loader_next(loader, &err), i));
    mw_loader_destroy(loader);
    CHECK_OK(err);
}

/* In a child: no room for the stack of a thread. */
static void serve_without_thread(void *unused)
{
    (void)unused;
    mw_error err = {0};
    setting s;
    reset(&s);
    mw_loader *loader = open_loader(&s, 2, &err);
    const struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    for (int i = 0; i < BATCHES; i++)
        CHECK(is_batch(mw_loader_next(loader, &err), i));
    CHECK(mw_loader_next(loader, &err) == NULL);
    CHECK(!atomic_load(&s.by_other));
    mw_loader_destroy(loader);
    CHECK_OK(err);
}

static void test_without_a_thread_batches_are_made_in_the_call(void)
{
    if (!child_can_limit_addresses())
        SKIP("addresses cannot be limited here");
    child_check(serve_without_thread, NULL);
}

typedef struct reader {
    const mw_dataset *dataset;
    uint64_t sum;
} reader;

static void *read_all(void *user)
{
    reader *r = user;
    mw_error err = {0};
    mw_loader_options options = mw_loader_defaults(r->dataset, 3);
    mw_loader *loader = mw_loader_create(&options, &err);
    while (err.status == MW_OK && mw_loader_tell(loader).epoch < 20) {
        const mw_batch *batch = mw_loader_next(loader, &err);
        for (int i = 0; batch != NULL && i < 3 * 4; i++)
            r->sum = r->sum * 31 + ((const uint8_t *)batch->feeds[0].data)[i];
    }
    mw_loader_destroy(loader);
    return err.status == MW_OK ? r : NULL;
}

static void test_loaders_of_several_threads_share_one_set(void)
{
    enum { THREADS = 4 };
    static const uint8_t data[EXAMPLES * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    mw_error err = {0};
    const mw_column column = {.name = "x", .dtype = MW_U8, .shape = MW_SHAPE(2, 2), .data = data};
    mw_dataset *base = mw_dataset_create(&column, 1, EXAMPLES, false, &err);
    mw_augment_options options = mw_augment_defaults("x");
    options.flip = 0.5f, options.brightness = 0.5f;
    mw_dataset *augmented = mw_dataset_augment(base, &options, &err);
    mw_dataset *dataset = prefetch(augmented, 2, &err);
    pthread_t threads[THREADS];
    reader readers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        readers[i] = (reader){.dataset = dataset};
        REQUIRE(pthread_create(&threads[i], NULL, read_all, &readers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        CHECK(result != NULL && readers[i].sum == readers[0].sum && readers[i].sum != 0);
    }
    mw_dataset_destroy(dataset);
    mw_dataset_destroy(augmented);
    mw_dataset_destroy(base);
    CHECK_OK(err);
}

/* ---- training ---- */

/* Noise that each example draws anew in each epoch. */
static mw_status add_noise(void *user, const mw_map_example *example, mw_error *err)
{
    (void)user, (void)err;
    float x[SMALL_D];
    memcpy(x, example->in[0], sizeof x);
    for (uint64_t i = 0; i < SMALL_D; i++)
        x[i] += mw_map_example_uniform(example, i) - 0.5f;
    memcpy(example->out[0], x, sizeof x);
    memcpy(example->out[1], example->in[1], sizeof(int32_t));
    return MW_OK;
}

static bool stop_at(void *user, const mw_progress *progress) { return progress->step >= *(const int64_t *)user; }

/* Trains four epochs, in two runs if `first` is positive, and takes what there is at the end. */
static small_snapshot train(const mw_dataset *dataset, int64_t first, const char *checkpoint)
{
    int64_t stops[] = {first > 0 ? first : 1000, 1000};
    small_snapshot end = {.size = 0};
    for (int run = first > 0 ? 0 : 1; run < 2; run++) {
        mw_error err = {0};
        mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_adam(0.01f), 1.0f, &err);
        mw_fit_options fit = mw_fit_defaults(dataset, 4);
        fit.progress.quiet = fit.progress.ignore_signals = true;
        fit.checkpoint.path = checkpoint;
        fit.progress.function = stop_at;
        fit.progress.user = &stops[run];
        mw_trainer_fit(trainer, &fit, &err);
        CHECK_INT(err.status, run == 0 ? MW_ERROR_STOPPED : MW_OK);
        end = small_take(trainer);
        mw_trainer_destroy(trainer);
    }
    remove(checkpoint);
    return end;
}

static void test_a_run_that_goes_on_has_the_same_augmentation(void)
{
    mw_error err = {0};
    const small_data data = small_make_data();
    mw_dataset *base = small_open_data(&data, SMALL_EXAMPLES, &err);
    mw_dataset *noisy = mw_dataset_map(base, NULL, 0, add_noise, NULL, 3, &err);
    mw_dataset *ahead = prefetch(noisy, 2, &err);
    CHECK_OK(err);
    const char *checkpoint = scratch("noisy");
    const small_snapshot plain = train(base, 0, checkpoint), whole = train(noisy, 0, checkpoint);
    CHECK(plain.size != whole.size || memcmp(plain.bytes, whole.bytes, whole.size) != 0);
    const mw_dataset *const sets[] = {noisy, ahead};
    for (int i = 0; i < 2; i++) {
        for (int64_t first = 1; first < 20; first += 6) {
            const small_snapshot resumed = train(sets[i], first, checkpoint);
            small_check_same(&whole, &resumed);
        }
        const small_snapshot at_once = train(sets[i], 0, checkpoint);
        small_check_same(&whole, &at_once);
    }
    mw_dataset_destroy(ahead);
    mw_dataset_destroy(noisy);
    mw_dataset_destroy(base);
}

/* Batches are served in their order, whichever thread is ready first. */
static void test_several_threads_make_batches_at_the_same_time(void)
{
    mw_error err = {0};
    setting s;
    reset(&s);
    atomic_store(&s.hold, true);
    const mw_column column = {.name = "x", .dtype = MW_I32};
    mw_dataset *base = mw_dataset_create_callback(&column, 1, EXAMPLES, make, &s, &err);
    mw_dataset *ahead = mw_dataset_prefetch_threads(base, 4, 3, &err);
    mw_loader_options options = mw_loader_defaults(ahead, BATCH);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    mw_dataset_destroy(base);
    mw_dataset_destroy(ahead);
    pthread_t asking;
    REQUIRE(pthread_create(&asking, NULL, ask_once, loader) == 0);
    wait_until_made(&s, 3);
    CHECK_INT(atomic_load(&s.made), 3); /* three threads, each in the first example of its batch */
    atomic_store(&s.hold, false);
    pthread_join(asking, NULL);
    for (int i = 1; i < BATCHES; i++)
        CHECK(is_batch(mw_loader_next(loader, &err), i));
    mw_loader_destroy(loader);
    CHECK_OK(err);
}

static void test_threads_out_of_range_are_refused(void)
{
    static const float x[4];
    const mw_column column = {.name = "x", .dtype = MW_F32, .data = x};
    mw_error err = {0};
    mw_dataset *base = mw_dataset_create(&column, 1, 4, false, &err);
    CHECK(mw_dataset_prefetch_threads(base, 2, 3, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_dataset_prefetch_threads: 3 threads");
    mw_error_clear(&err);
    CHECK(mw_dataset_prefetch_threads(base, 2, 0, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "0 threads");
    mw_error_clear(&err);
    CHECK(mw_dataset_prefetch_threads(base, 65, 2, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "65 batches ahead");
    mw_dataset_destroy(base);
}

int main(void)
{
    RUN(test_without_a_thread_batches_are_made_in_the_call); /* first: the child has no threads */
    for (thread_count = 1; thread_count < 4; thread_count += 2) {
        RUN(test_batches_are_made_ahead_by_a_thread_without_signals);
        RUN(test_the_thread_does_not_run_into_the_next_epoch);
        RUN(test_an_error_comes_with_its_batch_and_is_tried_again);
        RUN(test_an_error_that_was_sought_away_is_forgotten);
        RUN(test_random_calls_serve_what_a_plain_loader_serves);
        RUN(test_loaders_are_destroyed_while_batches_are_made);
        RUN(test_the_function_may_not_ask_its_own_loader);
        RUN(test_the_function_may_destroy_its_own_loader);
        RUN(test_a_child_of_fork_gets_an_error_and_makes_a_new_loader);
        RUN(test_loaders_of_several_threads_share_one_set);
        RUN(test_a_run_that_goes_on_has_the_same_augmentation);
    }
    RUN(test_several_threads_make_batches_at_the_same_time);
    RUN(test_threads_out_of_range_are_refused);
    return check_finish();
}
