/* Coming and going: objects by the thousands, libraries that are loaded and unloaded, hosts that use threads, BLAS and
 * locales of their own. Every case is a process of its own (child.h). */
#include "support/check.h"
#include "support/child.h"
#include "tiny.h"

#include <dlfcn.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 20, MIB = 1 << 20 };

static bool is_nightly(void) { return getenv("MW_NIGHTLY") != NULL; }

/* ---- memory stays where it was ---- */

/* What the C library keeps of small blocks; elsewhere the program may be emulated, which translates it bit by bit. */
#if defined(__x86_64__)
#define ROOM (3 * MIB)
#else
#define ROOM (24 * MIB)
#endif

/* The peak after `first` rounds is that of all later ones, but for that room. */
static void check_flat(void (*round)(void *user), void *user, int first, int count)
{
    for (int i = 0; i < first; i++)
        round(user);
    const long long before = child_peak_bytes();
    for (int i = 0; i < count; i++)
        round(user);
    const long long grown = child_peak_bytes() - before;
    if (!child_is_sanitized()) /* which keep what was freed, for a while */
        check_note(grown < ROOM, __FILE__, __LINE__, "%lld KiB more after %d rounds", grown >> 10, count);
}

static void one_trainer(void *user)
{
    mw_error err = {0};
    float weights[TINY_WEIGHTS];
    tiny_train(1, weights, &err);
    CHECK_OK(err);
    (void)user;
}

static void many_trainers(void *user) { check_flat(one_trainer, user, 50, is_nightly() ? 10000 : 150); }

static void test_trainers_come_and_go_in_the_same_memory(void) { CHECK_INT(child_run(many_trainers, NULL), 0); }

typedef struct stepping {
    mw_trainer *trainer;
    tiny_batch batch;
} stepping;

static void a_hundred_steps(void *user)
{
    stepping *s = user;
    mw_error err = {0};
    for (int i = 0; i < 100; i++)
        mw_trainer_step(s->trainer, &s->batch.batch, NULL, &err);
    CHECK_OK(err);
}

static void many_steps(void *user)
{
    mw_error err = {0};
    stepping s = {.trainer = tiny_trainer(&err)};
    REQUIRE(s.trainer != NULL);
    tiny_fill(&s.batch);
    check_flat(a_hundred_steps, &s, 2, is_nightly() ? 1000 : 30);
    mw_trainer_destroy(s.trainer);
    (void)user;
}

static void test_steps_stay_in_the_same_memory(void) { CHECK_INT(child_run(many_steps, NULL), 0); }

/* On a chip the number of programs that live at a time is limited; the engine has no such limit. */
static void test_two_hundred_programs_live_at_a_time(void)
{
    enum { PROGRAMS = 200 };
    mw_program *programs[PROGRAMS];
    mw_error err = {0};
    float value = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1));
        mw_output(mw_add_scalar(x, (float)i), "y");
        programs[i] = mw_program_create(graph, NULL, &err);
        mw_graph_destroy(graph);
    }
    CHECK_OK(err);
    for (int i = 0; i < PROGRAMS && err.status == MW_OK; i++) {
        mw_program_write(programs[i], "x", MW_F32, &(float){0.5f}, 1, &err);
        mw_program_run(programs[i], &err);
        mw_program_read(programs[i], "y", MW_F32, &value, 1, &err);
        CHECK(value == (float)i + 0.5f);
    }
    CHECK_OK(err);
    for (int i = 0; i < PROGRAMS; i++)
        mw_program_destroy(programs[i]);
}

/* ---- the library comes and goes ---- */

#ifdef MW_E5RT_LIBRARY
/* libmillwright.so lies beside libmillwright_e5rt.so. */
static const char *library_path(void)
{
    static char path[4096];
    const char *const e5rt = MW_E5RT_LIBRARY, *const tail = strstr(e5rt, "_e5rt.");
    if (tail != NULL)
        snprintf(path, sizeof path, "%.*s.%s", (int)(tail - e5rt), e5rt, tail + strlen("_e5rt."));
    return path;
}

/* Object to function pointers, which C keeps apart and dlsym does not. */
#define CALL(library, type, name) (*(type **)(void *[]){dlsym((library), (name))})

typedef mw_graph *graph_create(const mw_graph_options *options);
typedef void graph_destroy(mw_graph *graph);

static void load_and_unload(void *user)
{
    void *library = dlopen(user, RTLD_NOW | RTLD_LOCAL);
    if (!check_note(library != NULL, __FILE__, __LINE__, "%s", dlerror()))
        return;
    mw_graph *graph = CALL(library, graph_create, "mw_graph_create")(NULL);
    CHECK(graph != NULL);
    CALL(library, graph_destroy, "mw_graph_destroy")(graph);
    CHECK_INT(dlclose(library), 0);
}

static void many_loads(void *user)
{
    (void)user;
    check_flat(load_and_unload, (void *)(uintptr_t)library_path(), 20, child_is_sanitized() ? 50 : 1000);
    CHECK(dlopen(library_path(), RTLD_NOW | RTLD_NOLOAD) == NULL); /* it was unloaded each time */
}

static void test_the_library_is_loaded_and_unloaded_a_thousand_times(void)
{
    if (!child_can_start(MW_EXAMPLES_BIN_DIR "/mnist_mlp"))
        SKIP("an emulator keeps the code that it translated");
    if (access(library_path(), R_OK) != 0)
        SKIP("%s is not built", library_path());
    CHECK_INT(child_run(many_loads, NULL), 0);
}
#else
static void test_the_library_is_loaded_and_unloaded_a_thousand_times(void) { SKIP("no shared library is built"); }
#endif

/* ---- hosts ---- */

typedef void host_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                        int);
typedef void host_parallel(void (*job)(void *), void *user, unsigned threads, unsigned flags);

/* A host that uses OpenMP and OpenBLAS itself, before, while and after it trains. */
typedef struct host {
    host_parallel *parallel;
    host_sgemm *sgemm;
    int members;
} host;

static void member(void *user) { __atomic_fetch_add(&((host *)user)->members, 1, __ATOMIC_SEQ_CST); }

static void host_works(host *h)
{
    enum { N = 64 };
    static float a[N * N], c[N * N];
    for (int i = 0; i < N * N; i++)
        a[i] = 1;
    h->members = 0;
    h->parallel(member, h, 2, 0);
    CHECK_INT(h->members, 2);
    h->sgemm(101, 111, 111, N, N, N, 1, a, N, a, N, 0, c, N); /* row-major, plain */
    CHECK(c[0] == N && c[N * N - 1] == N);
}

static void find_host(host *out)
{
    void *omp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
    void *blas = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
    *out = (host){0};
    if (omp == NULL || blas == NULL)
        return;
    out->parallel = CALL(omp, host_parallel, "GOMP_parallel");
    out->sgemm = CALL(blas, host_sgemm, "cblas_sgemm");
}

static void train_in_a_parallel_host(void *user)
{
    host h;
    mw_error err = {0};
    float alone[TINY_WEIGHTS], beside[TINY_WEIGHTS];
    (void)user;
    tiny_train(STEPS, alone, &err);
    find_host(&h);
    if (h.parallel == NULL || h.sgemm == NULL)
        _exit(2);
    host_works(&h);
    tiny_train(STEPS, beside, &err);
    host_works(&h);
    CHECK_OK(err);
    CHECK(memcmp(alone, beside, sizeof alone) == 0);
}

static void test_a_host_with_openmp_and_openblas_changes_no_bit(void)
{
    if (child_is_sanitized())
        SKIP("ThreadSanitizer does not see how OpenMP's threads wait for each other");
    const int status = child_run(train_in_a_parallel_host, NULL);
    if (status >> 8 == 2)
        SKIP("no libgomp.so.1 or libopenblas.so.0 here");
    CHECK_INT(status, 0);
}

static const char *use_decimal_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            return names[i];
    return NULL;
}

static void train_in_german(void *user)
{
    mw_error err = {0};
    float english[TINY_WEIGHTS], german[TINY_WEIGHTS];
    char text[16];
    (void)user;
    tiny_train(STEPS, english, &err);
    if (use_decimal_comma() == NULL)
        _exit(2);
    snprintf(text, sizeof text, "%.1f", 0.5);
    CHECK_STR(text, "0,5");
    tiny_train(STEPS, german, &err);
    CHECK_OK(err);
    CHECK(memcmp(english, german, sizeof english) == 0);
}

static void test_a_decimal_comma_changes_no_bit(void)
{
    const int status = child_run(train_in_german, NULL);
    if (status >> 8 == 2)
        SKIP("no locale with a decimal comma on this machine");
    CHECK_INT(status, 0);
}

#if defined(__GLIBC__)
/* log 0, exp 1000 and the root of -1, each of which raises what the host has made a trap. */
static void compute_with_traps(void *user)
{
    const int traps = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;
    mw_error err = {0};
    float alone[TINY_WEIGHTS], trapped[TINY_WEIGHTS], y[3] = {0};
    (void)user;
    tiny_train(STEPS, alone, &err);
    if (feenableexcept(traps) == -1 || fegetexcept() != traps)
        _exit(2);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1));
    mw_tensor *least = mw_log(x, 0.0f), *most = mw_exp(mw_add_scalar(x, 1000)), *none = mw_sqrt(mw_add_scalar(x, -1));
    mw_output(mw_concat((mw_tensor *[]){least, most, none}, 3, 0), "y");
    mw_program *program = mw_program_create(graph, NULL, &err);
    mw_program_write(program, "x", MW_F32, &(float){0}, 1, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, 3, &err);
    tiny_train(STEPS, trapped, &err);
    CHECK_OK(err);
    CHECK_INT(fegetexcept(), traps);
    fedisableexcept(traps);
    CHECK(y[0] == -INFINITY && y[1] == INFINITY && isnan(y[2]));
    CHECK(memcmp(alone, trapped, sizeof alone) == 0);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_traps_of_the_host_are_not_met(void)
{
    const int status = child_run(compute_with_traps, NULL);
    if (status >> 8 == 2)
        SKIP("this processor has no traps");
    CHECK_INT(status, 0);
}
#else
static void test_traps_of_the_host_are_not_met(void) { SKIP("the C library cannot set traps"); }
#endif

int main(void)
{
    RUN(test_trainers_come_and_go_in_the_same_memory);
    RUN(test_steps_stay_in_the_same_memory);
    RUN(test_the_library_is_loaded_and_unloaded_a_thousand_times);
    RUN(test_a_host_with_openmp_and_openblas_changes_no_bit);
    RUN(test_a_decimal_comma_changes_no_bit);
    RUN(test_traps_of_the_host_are_not_met);
    RUN(test_two_hundred_programs_live_at_a_time); /* last: it uses the engine here */
    return check_finish();
}
