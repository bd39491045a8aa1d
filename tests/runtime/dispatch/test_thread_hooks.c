/* Every thread of a training, of requests and of a loader is started and joined by the host, and its bits are those
 * without one: whatever the host refuses, in whatever state its threads are, and however it ends. */
#include "runtime/dispatch/thread_host.h"
#include "runtime/files.h"
#include "runtime/parallel/thread_masks.h"
#include "runtime/small.h"
#include "support/check.h"
#include "support/child.h"
#include "support/setting.h"

#include <dirent.h>
#include <millwright/ane_e5rt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 12, AHEAD = 2, REQUESTS = 5, THREADS = 4 };

/* What comes of the work, and must be the same with any host. */
typedef struct result {
    float losses[STEPS], weights[SMALL_H * SMALL_D];
    int requests; /* answered well */
} result;

static small_data data; /* of all loaders */

static void set(const mw_thread_hooks *hooks)
{
    mw_error err = {0};
    CHECK_INT(mw_thread_hooks_set(hooks, &err), MW_OK);
    CHECK_OK(err);
}

/* ---- the work ---- */

static mw_trainer *open_trainer(int threads, mw_provider provider, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.01f));
    options.compile.provider = provider;
    options.compile.threads = threads;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static mw_loader *open_loader_in(const mw_allocator *allocator, mw_error *err)
{
    mw_dataset *base = small_open_data(&data, SMALL_EXAMPLES, err), *ahead = mw_dataset_prefetch(base, AHEAD, err);
    mw_loader_options options = mw_loader_defaults(ahead, SMALL_N);
    options.allocator = allocator;
    mw_loader *loader = mw_loader_create(&options, err);
    mw_dataset_destroy(ahead);
    mw_dataset_destroy(base);
    return loader;
}

static mw_loader *open_loader(mw_error *err) { return open_loader_in(NULL, err); }

/* Steps [first, end) of STEPS; the loader begins again where an epoch ends. */
static void train(mw_trainer *trainer, mw_loader *loader, int first, int end, float *out_losses, mw_error *err)
{
    for (int i = first; i < end && err->status == MW_OK; i++) {
        const mw_batch *batch = mw_loader_next(loader, err);
        if (batch == NULL)
            batch = mw_loader_next(loader, err);
        mw_trainer_step(trainer, batch, &out_losses[i], err);
    }
}

/* y = x + 1, submitted and waited for. */
static int request(void)
{
    static const char *const x_name[] = {"x"}, *const y_name[] = {"y"};
    static const size_t size[] = {2};
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_add_scalar(mw_input(graph, "x", MW_F16, MW_SHAPE(1)), 1.0), "y");
    mw_graph_write(graph, scratch("step"), NULL, &err);
    mw_graph_destroy(graph);
    int answered = 0;
    setting_begin("MW_ENGINE_WAKE", "1000000000"); /* no team: of how many depends on the machine */
    ane_e5rt_program_t *program =
        ane_e5rt_program_compile(scratch("step/model.mil"), NULL, 1, x_name, size, 1, y_name, size, 1);
    setting_begin("MW_ENGINE_WAKE", "0");
    for (int i = 0; i < REQUESTS; i++)
        answered += ane_e5rt_program_execute_async(program) == 0 && ane_e5rt_program_wait_for_completion(program) == 0;
    ane_e5rt_program_release(program);
    return answered;
}

static void check_system(const thread_host *host);

/* `host`, if there is one, is asked for all threads meanwhile. */
static result work(int threads, mw_provider provider, const thread_host *host)
{
    mw_error err = {0};
    result r = {.requests = 0};
    mw_trainer *trainer = open_trainer(threads, provider, &err);
    mw_loader *loader = open_loader(&err);
    train(trainer, loader, 0, STEPS, r.losses, &err);
    r.requests = request();
    if (host != NULL)
        check_system(host);
    mw_loader_destroy(loader);
    mw_trainer_read(trainer, "fc1.weight", MW_F32, r.weights, SMALL_H * SMALL_D, &err);
    mw_trainer_destroy(trainer);
    CHECK_OK(err);
    return r;
}

static bool same_training(const result *a, const result *b)
{
    return memcmp(a->losses, b->losses, sizeof a->losses) == 0 &&
           memcmp(a->weights, b->weights, sizeof a->weights) == 0;
}

/* By threads; without hooks. */
static result expected[THREADS + 1];

/* ---- what the system says ---- */

/* -1 where they cannot be counted, or a sanitizer has threads of its own. */
static int count_tasks(void)
{
    DIR *folder = child_is_sanitized() ? NULL : opendir("/proc/self/task");
    int count = 0;
    if (folder == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static int tasks_before;

/* A thread that was joined is seen for a moment longer. */
static void check_tasks(int more)
{
    for (int i = 0; i < 2000 && tasks_before > 0 && count_tasks() != tasks_before + more; i++)
        usleep(1000);
    CHECK_INT(count_tasks(), tasks_before > 0 ? tasks_before + more : -1);
}

/* Those of a pool exist anyway. */
static void check_system(const thread_host *host)
{
    if (host->pool_size == 0)
        check_tasks(host_live(host));
}

/* ---- all threads ---- */

/* Of `threads` members the caller is one; each is started once, the loader's is joined with it. */
static void check_names(thread_host *host, int threads)
{
    char name[32];
    for (int i = 1; i <= THREADS; i++) {
        snprintf(name, sizeof name, "mw team %d", i);
        CHECK_INT(host_named(host, name), i < threads);
    }
    CHECK_INT(host_named(host, "mw queue"), 1);
    CHECK_INT(host_named(host, "mw prefetch"), 1);
    CHECK_INT(atomic_load(&host->started), threads - 1 + 2);
}

static void test_every_thread_is_the_hosts(void)
{
    for (int threads = 1; threads <= THREADS; threads++) {
        thread_host host;
        host_init(&host);
        const mw_thread_hooks hooks = host_hooks(&host);
        set(&hooks);
        const result got = work(threads, MW_PROVIDER_ENGINE, &host);
        CHECK(same_training(&got, &expected[threads]));
        CHECK_INT(got.requests, REQUESTS);
        check_names(&host, threads);
        CHECK_INT(host_live(&host), threads - 1 + 1); /* the loader is gone */
        set(NULL);
        CHECK_INT(host_live(&host), 0);
        CHECK_INT(atomic_load(&host.ran), atomic_load(&host.started));
        check_tasks(0);
    }
}

static void test_a_host_that_refuses_changes_no_bit(void)
{
    for (int threads = 1; threads <= THREADS; threads++)
        for (int every = 1; every <= 3; every++) {
            thread_host host;
            host_init(&host);
            host.refuse_every = every;
            const mw_thread_hooks hooks = host_hooks(&host);
            set(&hooks);
            const result got = work(threads, MW_PROVIDER_ENGINE, &host);
            CHECK(same_training(&got, &expected[threads]));
            CHECK(atomic_load(&host.asked) > 0);
            if (every == 1) {
                CHECK_INT(got.requests, 0);
                CHECK_CONTAINS(ane_e5rt_last_error(), "no thread");
            }
            set(NULL);
            CHECK_INT(host_live(&host), 0);
        }
}

/* ---- changing them ---- */

/* The system's threads run a trainer that the host's have run; runs leave out the team for a while if it was late. */
static void step_until_there_are(mw_trainer *trainer, int tasks, mw_error *err)
{
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    const bool counted = tasks_before > 0;
    for (int i = 0; i < (counted ? 2000 : 100) && !(counted && count_tasks() == tasks_before + tasks); i++) {
        mw_trainer_step(trainer, &batch.batch, NULL, err);
        usleep(1000);
    }
    check_tasks(tasks);
}

static void test_null_is_the_system_again(void)
{
    mw_error err = {0};
    thread_host host;
    host_init(&host);
    const mw_thread_hooks hooks = host_hooks(&host);
    set(&hooks);
    mw_trainer *trainer = open_trainer(3, MW_PROVIDER_ENGINE, &err);
    step_until_there_are(trainer, 2, &err);
    CHECK_INT(host_live(&host), 2);
    set(NULL);
    CHECK_INT(host_live(&host), 0);
    step_until_there_are(trainer, 2, &err);
    CHECK_INT(request(), REQUESTS);
    check_tasks(3);
    CHECK_INT(atomic_load(&host.asked), 2);
    set(&hooks); /* the system's are joined too */
    check_tasks(0);
    set(NULL);
    mw_trainer_destroy(trainer);
    CHECK_OK(err);
}

/* No run asks a host again that refused; another one is asked. */
static void test_a_program_that_was_refused_threads_asks_the_next_host(void)
{
    mw_error err = {0};
    thread_host host;
    host_init(&host);
    host.refuse_every = 1;
    const mw_thread_hooks hooks = host_hooks(&host);
    set(&hooks);
    mw_trainer *trainer = open_trainer(3, MW_PROVIDER_ENGINE, &err);
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    for (int i = 0; i < 100000 && atomic_load(&host.asked) == 0; i++) /* a run may leave out a team that was late */
        mw_trainer_step(trainer, &batch.batch, NULL, &err);
    const int asked = atomic_load(&host.asked); /* once for each program */
    for (int i = 0; i < STEPS; i++)
        mw_trainer_step(trainer, &batch.batch, NULL, &err);
    CHECK(asked > 0);
    CHECK_INT(atomic_load(&host.asked), asked);
    set(NULL);
    step_until_there_are(trainer, 2, &err);
    mw_trainer_destroy(trainer);
    CHECK_OK(err);
}

static void test_hooks_change_while_objects_live(void)
{
    mw_error err = {0};
    thread_host a, b;
    result got = {.requests = 0};
    host_init(&a);
    host_init(&b);
    const mw_thread_hooks of_a = host_hooks(&a), of_b = host_hooks(&b);
    set(&of_a);
    mw_trainer *trainer = open_trainer(2, MW_PROVIDER_ENGINE, &err);
    mw_loader *loader = open_loader(&err);
    train(trainer, loader, 0, STEPS / 2, got.losses, &err);
    set(&of_a); /* the same: nothing happens */
    CHECK_INT(host_live(&a), 2);
    set(&of_b);
    CHECK_INT(host_live(&a), 1); /* the loader's goes on */
    train(trainer, loader, STEPS / 2, STEPS, got.losses, &err);
    CHECK_INT(request(), REQUESTS);
    mw_loader_destroy(loader);
    CHECK_INT(host_live(&a), 0);
    CHECK_INT(atomic_load(&a.started), 2);
    CHECK_INT(host_named(&b, "mw queue"), 1);
    mw_trainer_read(trainer, "fc1.weight", MW_F32, got.weights, SMALL_H * SMALL_D, &err);
    mw_trainer_destroy(trainer);
    set(NULL);
    CHECK_INT(host_live(&b), 0);
    CHECK(same_training(&got, &expected[2]));
    CHECK_OK(err);
}

static void test_a_missing_function_is_refused(void)
{
    thread_host host;
    host_init(&host);
    const mw_thread_hooks good = host_hooks(&host);
    mw_thread_hooks bad = good;
    bad.start = NULL;
    mw_error err = {0};
    set(&good);
    CHECK_INT(mw_thread_hooks_set(&bad, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "`start`");
    CHECK_INT(mw_thread_hooks_set(NULL, &err), MW_ERROR_ARGUMENT); /* the error is set: nothing is done */
    bad = good;
    bad.join = NULL;
    err = (mw_error){0};
    CHECK_INT(mw_thread_hooks_set(&bad, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "`join`");
    bad = (mw_thread_hooks){0};
    CHECK_INT(mw_thread_hooks_set(&bad, NULL), MW_ERROR_ARGUMENT);
    CHECK_INT(request(), REQUESTS); /* those from before hold */
    CHECK_INT(host_named(&host, "mw queue"), 1);
    set(NULL);
    CHECK_INT(host_live(&host), 0);
}

static void test_a_hook_cannot_set_hooks(void)
{
    thread_host host;
    host_init(&host);
    host.sets = true;
    const mw_thread_hooks hooks = host_hooks(&host);
    set(&hooks);
    CHECK_INT(request(), REQUESTS);
    CHECK_INT(host.set_from, MW_ERROR_STATE);
    CHECK_INT(host_live(&host), 1);
    set(NULL);
    CHECK_INT(host_live(&host), 0);
}

/* ---- threads that have another life ---- */

static void *work_here(void *out)
{
    *(result *)out = work(2, MW_PROVIDER_ENGINE, NULL);
    return NULL;
}

/* What the queue's thread may not. */
static void *set_here(void *hooks)
{
    set(hooks);
    set(NULL);
    return NULL;
}

/* An allocator that begins anew when all is freed: what is made the same way again has the same addresses. */
typedef struct same_place {
    _Alignas(64) unsigned char bytes[1 << 16];
    size_t used;
    int live;
} same_place;

static void *resize_in_place(void *user, void *pointer, size_t size)
{
    same_place *p = user;
    if (size == 0) {
        p->live -= pointer != NULL;
        p->used = p->live == 0 ? 0 : p->used;
        return NULL;
    }
    const size_t room = (size + 63) / 64 * 64;
    if (pointer != NULL || p->used + room > sizeof p->bytes)
        return NULL; /* loaders resize nothing */
    p->used += room;
    p->live++;
    return p->bytes + p->used - room;
}

/* What a loader's thread may not with its own loader. */
static void *load_here(void *loader)
{
    mw_error err = {0};
    mw_loader_next(loader, &err); /* NULL at the end of an epoch */
    CHECK_OK(err);
    return NULL;
}

/* The mode that the functions of a data set find. */
static mw_status look_at_mode(void *user, int64_t example, size_t column, void *out, mw_error *err)
{
    atomic_int *wrong = user;
    (void)example;
    (void)column;
    (void)err;
    memset(out, 0, 4);
    atomic_fetch_add(wrong, host_is_plain() ? 0 : 1);
    return MW_OK;
}

static void check_mode_of_loader(void)
{
    mw_error err = {0};
    atomic_int wrong = 0;
    const mw_column column = {.name = "x", .dtype = MW_I32};
    mw_dataset *base = mw_dataset_create_callback(&column, 1, 8, look_at_mode, &wrong, &err);
    mw_dataset *ahead = mw_dataset_prefetch(base, 1, &err);
    const mw_loader_options options = mw_loader_defaults(ahead, 2);
    mw_loader *loader = mw_loader_create(&options, &err);
    for (int i = 0; i < 4; i++)
        CHECK(mw_loader_next(loader, &err) != NULL);
    mw_loader_destroy(loader);
    mw_dataset_destroy(ahead);
    mw_dataset_destroy(base);
    CHECK_INT(atomic_load(&wrong), 0);
    CHECK_OK(err);
}

static void check_pool(size_t stack)
{
    thread_host host;
    host_init(&host);
    REQUIRE(host_open_pool(&host, stack));
    const mw_thread_hooks hooks = host_pool_hooks(&host);
    for (int round = 0; round < 3; round++) {
        set(&hooks);
        const result got = work(THREADS, MW_PROVIDER_ENGINE, &host);
        CHECK(same_training(&got, &expected[THREADS]));
        CHECK_INT(got.requests, REQUESTS);
        CHECK_INT(host_live(&host), THREADS - 1 + 1);
        check_mode_of_loader();
        set(NULL);
        CHECK_INT(host_live(&host), 0);
    }
    check_note(host_close_pool(&host), __FILE__, __LINE__, "a thread is otherwise than before (stack %zu)", stack);
}

/* 64 KiB, or what the system wants at least: on aarch64 it is 128. */
static size_t small_stack(void)
{
    const long least = sysconf(_SC_THREAD_STACK_MIN), small = 64L << 10;
    return (size_t)(least > small ? least : small);
}

static void test_threads_of_a_pool_compute_alike_and_are_left_as_they_were(void)
{
    check_pool(0);
    if (!child_is_sanitized())
        check_pool(small_stack());
}

/* A thread that was the queue's or a loader's is no longer taken for it. */
static void test_threads_of_a_pool_may_use_the_library(void)
{
    thread_host host;
    host_init(&host);
    REQUIRE(host_open_pool(&host, 0));
    mw_thread_hooks hooks = host_pool_hooks(&host);
    mw_error err = {0};
    result got;
    set(&hooks);
    work(THREADS, MW_PROVIDER_ENGINE, &host);
    same_place place = {.live = 0};
    const mw_allocator allocator = {.resize = resize_in_place, .user = &place};
    mw_loader *loader = open_loader_in(&allocator, &err);
    mw_loader_next(loader, &err);
    mw_loader_destroy(loader);
    loader = open_loader_in(&allocator, &err);
    set(NULL);
    for (int i = 0; i < 2; i++)
        host_on_each(&host, load_here, loader);
    mw_loader_destroy(loader);
    for (int i = 0; i < 2; i++) {
        got.requests = 0;
        host_on_each(&host, work_here, &got);
        CHECK(same_training(&got, &expected[2]));
        CHECK_INT(got.requests, REQUESTS);
    }
    thread_host other; /* of new threads, as all of the pool are busy in turn */
    host_init(&other);
    hooks = host_hooks(&other);
    host_on_each(&host, set_here, &hooks);
    CHECK(host_close_pool(&host));
    CHECK_INT(host_live(&other), 0);
    CHECK_OK(err);
}

/* ---- signals ---- */

/* A thread sets its mask when it begins, which may be later than it is made. */
static void check_masks(int wanted)
{
    for (int i = 0; i < 5000 && masks_count() != wanted; i++)
        usleep(1000);
    CHECK_INT(masks_count(), wanted);
}

static void test_signals_are_for_the_threads_of_the_program(void)
{
    if (tasks_before != 1)
        SKIP("the threads of the library alone cannot be found here");
    mw_error err = {0};
    for (int hooked = 0; hooked < 2; hooked++) {
        thread_host host;
        host_init(&host);
        const mw_thread_hooks hooks = host_hooks(&host);
        set(&hooks); /* what other tests left is joined */
        set(hooked ? &hooks : NULL);
        mw_trainer *trainer = open_trainer(3, MW_PROVIDER_ENGINE, &err);
        step_until_there_are(trainer, 2, &err);
        mw_loader *loader = open_loader(&err);
        CHECK(mw_loader_next(loader, &err) != NULL);
        CHECK_INT(request(), REQUESTS);
        check_tasks(4);
        check_masks(4);
        mw_loader_destroy(loader);
        mw_trainer_destroy(trainer);
        CHECK_INT(host_live(&host), hooked ? 3 : 0);
        set(NULL);
    }
    CHECK_OK(err);
}

/* ---- ends ---- */

typedef struct destroyer {
    _Atomic(mw_loader *) loader;
    atomic_int made;  /* examples */
    atomic_bool hold; /* the function waits */
} destroyer;

static mw_status destroy_own_loader(void *user, int64_t example, size_t column, void *out, mw_error *err)
{
    destroyer *d = user;
    (void)example;
    (void)column;
    (void)err;
    memset(out, 0, 4);
    atomic_fetch_add(&d->made, 1);
    while (atomic_load(&d->hold))
        usleep(200);
    mw_loader *loader = atomic_exchange(&d->loader, NULL);
    if (loader != NULL)
        mw_loader_destroy(loader);
    return MW_OK;
}

static void test_a_loader_that_its_own_thread_destroys_is_joined_later(void)
{
    mw_error err = {0};
    thread_host host;
    destroyer d = {.loader = NULL};
    host_init(&host);
    const mw_thread_hooks hooks = host_hooks(&host);
    set(&hooks);
    const mw_column column = {.name = "x", .dtype = MW_I32};
    mw_dataset *base = mw_dataset_create_callback(&column, 1, 1000, destroy_own_loader, &d, &err);
    mw_dataset *ahead = mw_dataset_prefetch(base, 1, &err);
    const mw_loader_options options = mw_loader_defaults(ahead, 2);
    mw_loader *loader = mw_loader_create(&options, &err);
    CHECK(mw_loader_next(loader, &err) != NULL);
    for (int i = 0; i < 5000 && atomic_load(&d.made) < 4; i++)
        usleep(1000);
    atomic_store(&d.hold, true);
    CHECK(mw_loader_next(loader, &err) != NULL); /* room for one more batch, which the thread begins */
    atomic_store(&d.loader, loader);
    atomic_store(&d.hold, false);
    for (int i = 0; i < 5000 && atomic_load(&host.ran) < 1; i++)
        usleep(1000);
    CHECK_INT(atomic_load(&host.ran), 1);
    CHECK_INT(host_live(&host), 1);
    CHECK_INT(request(), REQUESTS); /* starts a thread */
    CHECK_INT(atomic_load(&host.joined), 1);
    set(NULL);
    CHECK_INT(host_live(&host), 0);
    mw_dataset_destroy(ahead);
    mw_dataset_destroy(base);
    CHECK_OK(err);
}

/* ---- other processes ---- */

/* In memory that its parent sees. */
static thread_host *shared_host(void)
{
    thread_host *host = mmap(NULL, sizeof *host, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
    if (host == MAP_FAILED)
        return NULL;
    host_init(host);
    return host;
}

/* The child ends by exit, as programs do. */
static int run_to_exit(void (*job)(void *user), void *user)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        check_global.failures_here = 0;
        job(user);
        exit(check_global.failures_here == 0 ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static void work_and_leave(void *user)
{
    thread_host *host = user;
    const mw_thread_hooks hooks = host_hooks(host);
    data = small_make_data();
    set(&hooks);
    work(3, MW_PROVIDER_ENGINE, NULL);
    CHECK_INT(host_live(host), 3);
}

/* Runs first: its child is the first to use the engine. */
static void test_the_end_of_the_process_joins_all(void)
{
    if (child_is_sanitized())
        SKIP("sanitizers do not end a child so");
    thread_host *host = shared_host();
    REQUIRE(host != NULL);
    CHECK_INT(run_to_exit(work_and_leave, host), 0);
    CHECK_INT(atomic_load(&host->started), 4);
    CHECK_INT(host_live(host), 0);
    CHECK_INT(atomic_load(&host->ran), 4);
    munmap(host, sizeof *host);
}

static thread_host forking;

static void train_in_child(void *user)
{
    const result *without = user;
    data = small_make_data();
    const result got = work(2, MW_PROVIDER_ENGINE, NULL);
    CHECK(same_training(&got, without));
    CHECK_INT(atomic_load(&forking.started), 3);
    set(NULL);
    CHECK_INT(host_live(&forking), 0);
}

static void find_in_child(void *user)
{
    data = small_make_data();
    *(result *)user = work(2, MW_PROVIDER_ENGINE, NULL);
}

/* To set hooks is no use of the engine, so that a child may use it. */
static void test_hooks_that_are_set_before_a_fork_hold_in_the_child(void)
{
    if (child_is_sanitized())
        SKIP("sanitizers do not end a child so");
    result *without = mmap(NULL, sizeof *without, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
    REQUIRE(without != MAP_FAILED);
    CHECK_INT(run_to_exit(find_in_child, without), 0);
    host_init(&forking);
    const mw_thread_hooks hooks = host_hooks(&forking);
    set(&hooks);
    CHECK_INT(run_to_exit(train_in_child, without), 0);
    CHECK_INT(atomic_load(&forking.asked), 0);
    set(NULL);
    munmap(without, sizeof *without);
}

static mw_loader *of_parent;

static void load_in_child(void *user)
{
    thread_host *host = user;
    mw_error err = {0};
    const int joined = atomic_load(&host->joined), started = atomic_load(&host->started);
    mw_loader_destroy(of_parent);
    mw_loader *loader = open_loader(&err);
    CHECK(mw_loader_next(loader, &err) != NULL);
    CHECK_INT(atomic_load(&host->started), started + 1);
    mw_loader_destroy(loader);
    set(NULL);
    CHECK_INT(atomic_load(&host->joined), joined + 1); /* that of this process alone */
    CHECK_OK(err);
}

static void test_a_child_joins_no_thread_of_its_parent(void)
{
    if (child_is_sanitized())
        SKIP("sanitizers do not carry threads into a child");
    mw_error err = {0};
    thread_host host;
    host_init(&host);
    const mw_thread_hooks hooks = host_hooks(&host);
    set(&hooks);
    mw_trainer *trainer = open_trainer(2, MW_PROVIDER_ENGINE, &err);
    of_parent = open_loader(&err);
    float losses[STEPS];
    train(trainer, of_parent, 0, 2, losses, &err);
    CHECK_INT(request(), REQUESTS);
    CHECK_INT(run_to_exit(load_in_child, &host), 0);
    CHECK_INT(host_live(&host), 3); /* nothing has happened here */
    CHECK(mw_loader_next(of_parent, &err) != NULL);
    mw_loader_destroy(of_parent);
    mw_trainer_destroy(trainer);
    set(NULL);
    CHECK_INT(host_live(&host), 0);
    CHECK_OK(err);
}

/* ---- an engine that is a library of its own ---- */

static void test_an_engine_in_a_library_of_its_own_asks_the_host(void)
{
#if defined(MW_E5RT_LIBRARY)
    thread_host before, after;
    host_init(&before);
    host_init(&after);
    const mw_thread_hooks of_before = host_hooks(&before), of_after = host_hooks(&after);
    setting_begin("MW_E5RT_LIBRARY", MW_E5RT_LIBRARY);
    set(&of_before); /* it is loaded later */
    const result first = work(3, MW_PROVIDER_AUTO, &before);
    CHECK(same_training(&first, &expected[3]));
    check_names(&before, 3);
    set(&of_after); /* and told of each change */
    CHECK_INT(host_live(&before), 0);
    const result second = work(3, MW_PROVIDER_AUTO, &after);
    CHECK(same_training(&second, &expected[3]));
    check_names(&after, 3);
    set(NULL);
    CHECK_INT(host_live(&after), 0);
    check_tasks(0);
    setting_end("MW_E5RT_LIBRARY");
#else
    SKIP("no such library was built");
#endif
}

int main(void)
{
    setenv("MW_ENGINE_WAKE", "0", 1); /* the work is small */
    setenv("MW_BLAS", "none", 1);     /* it has threads of its own */
    unsetenv("MW_E5RT_LIBRARY");
    ane_e5rt_set_quiet(1);
    tasks_before = count_tasks();
    data = small_make_data();
    RUN(test_the_end_of_the_process_joins_all);
    RUN(test_hooks_that_are_set_before_a_fork_hold_in_the_child);
    for (int threads = 1; threads <= THREADS; threads++)
        expected[threads] = work(threads, MW_PROVIDER_ENGINE, NULL);
    set(NULL);
    RUN(test_every_thread_is_the_hosts);
    RUN(test_a_host_that_refuses_changes_no_bit);
    RUN(test_null_is_the_system_again);
    RUN(test_a_program_that_was_refused_threads_asks_the_next_host);
    RUN(test_hooks_change_while_objects_live);
    RUN(test_a_missing_function_is_refused);
    RUN(test_a_hook_cannot_set_hooks);
    RUN(test_threads_of_a_pool_compute_alike_and_are_left_as_they_were);
    RUN(test_threads_of_a_pool_may_use_the_library);
    RUN(test_signals_are_for_the_threads_of_the_program);
    RUN(test_a_loader_that_its_own_thread_destroys_is_joined_later);
    RUN(test_a_child_joins_no_thread_of_its_parent);
    RUN(test_an_engine_in_a_library_of_its_own_asks_the_host);
    return check_finish();
}
