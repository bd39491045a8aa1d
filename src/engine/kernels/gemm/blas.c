/* Finds a CBLAS by dlopen, once per process. The one mutable state of the engine's kernels: it is written once, under
 * a lock that every compile takes, and only read after. */
#include "engine/kernels/gemm/blas.h"

#include "base/text/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static const char *const candidates[] = {
#if defined(__APPLE__)
    "/System/Library/Frameworks/Accelerate.framework/Accelerate",
    "libopenblas.dylib",
#else
    "libopenblas.so.0",
    "libblis.so.4",
    "libcblas.so.3",
    "libblas.so.3",
#endif
};

static pthread_once_t find_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t choosing = PTHREAD_MUTEX_INITIALIZER;
static bool chosen;
static char wanted[1024]; /* MW_BLAS; empty = not set */
static struct {
    mw__blas_sgemm *sgemm;
    char name[256];
    bool splits, lost;
    char reason[256]; /* why the wanted one is not there */
} found;

/* POSIX promises that a data pointer of dlsym can hold a function; C11 lacks the cast, so the bytes are copied. */
static bool find_function(void *library, const char *name, void *out_function)
{
    void *const symbol = dlsym(library, name);
    memcpy(out_function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool refuse_blas(const char *reason)
{
    snprintf(found.reason, sizeof found.reason, "%s", reason != NULL ? reason : "unknown");
    return false;
}

/* What OpenBLAS takes a processor for that is younger than itself. */
static bool is_oldest(const char *core)
{
    static const char *const names[] = {"Prescott", "Core2", "Generic"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (core != NULL && strcmp(core, names[i]) == 0)
            return true;
    return false;
}

/* A BLAS of the system is bound as it is called: most of its thousands of functions never are, and to look them up
 * took a fifth of the time to a first step. One that a user names may lack something: it is refused here, not later. */
static bool load_blas(const char *path, int binding)
{
    void *const library = dlopen(path, binding | RTLD_LOCAL);
    if (library == NULL)
        return refuse_blas(dlerror());
    if (!find_function(library, "cblas_sgemm", &found.sgemm)) {
        dlclose(library);
        return refuse_blas("it lacks the function cblas_sgemm");
    }
    void (*set_threads)(int) = NULL;
    void (*set_threads_long)(long) = NULL; /* BLIS counts in dim_t */
    if (find_function(library, "openblas_set_num_threads", &set_threads))
        set_threads(1);
    else if (find_function(library, "bli_thread_set_num_threads", &set_threads_long))
        set_threads_long(1);
    char *(*core)(void) = NULL;
    if (find_function(library, "openblas_get_corename", &core))
        found.lost = is_oldest(core());
    found.splits = strstr(path, "Accelerate") != NULL;
    snprintf(found.name, sizeof found.name, "%s", path);
    return true; /* stays open: its function is in use until the process ends */
}

static void *start_nothing(void *unused) { return unused; }

/* OpenBLAS starts its workers when it is loaded and raises SIGINT if it cannot, which would end the host. */
static bool threads_can_start(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, start_nothing, NULL) != 0)
        return false;
    pthread_join(thread, NULL);
    return true;
}

/* OpenBLAS takes 32 MiB for each thread that calls it, and where the system grants none it asks again for ever. So a
 * process whose addresses are limited (ulimit -v) gets a BLAS only if it names one. */
static bool addresses_are_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

bool mw__blas_is_named(void) { return wanted[0] != '\0' && strcmp(wanted, "none") != 0; }

static void find_blas(void)
{
    strcpy(found.name, "built-in");
    const bool is_named = mw__blas_is_named();
    if (wanted[0] != '\0' && !is_named)
        return;
    if (!threads_can_start()) {
        refuse_blas("the system starts no further thread");
        return;
    }
    if (is_named) {
        load_blas(wanted, RTLD_NOW);
        return;
    }
    if (addresses_are_limited())
        return;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (load_blas(candidates[i], RTLD_LAZY))
            return;
}

mw__blas_sgemm *mw__blas_find(void)
{
    pthread_once(&find_once, find_blas);
    return found.sgemm;
}

mw_status mw__blas_choose(const char *name, mw_error *err)
{
    pthread_mutex_lock(&choosing);
    if (!chosen)
        snprintf(wanted, sizeof wanted, "%s", name);
    chosen = true;
    pthread_mutex_unlock(&choosing);
    if (!mw__blas_is_named() || mw__blas_find() != NULL)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "MW_BLAS is \"%.200s\", which cannot be used: %s; \"none\" takes the built-in products", wanted,
                    found.reason);
}

const char *mw__blas_name(void)
{
    pthread_once(&find_once, find_blas);
    return found.name;
}

bool mw__blas_splits(void)
{
    pthread_once(&find_once, find_blas);
    return found.splits;
}

bool mw__blas_is_lost(void)
{
    pthread_once(&find_once, find_blas);
    return found.lost;
}
