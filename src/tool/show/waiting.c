/* A line on a terminal while something takes more than a second. */
#include "tool/tool.h"

#include "base/clock.h"
#include "base/text/printable.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    FIRST_MS = 1000,
    NEXT_MS = 250,
    TABLE_READS = 4 /* kinds of fields, what fills and scales them, and both parts */
};

/* The one thing that is waited for. A thread writes its line. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool running, ends, shown;
    char what[120]; /* "reading net.onnx" */
    const char *unit;
    double began;
    double all, first; /* what there is to do, and a count when it began; 0 = it is not known */
    double passes;     /* so far */
    bool reads;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- how far ---- */

/* Bytes that this process has read; 0 where the system does not say. */
static double bytes_read(void)
{
    unsigned long long bytes = 0;
    FILE *file = fopen("/proc/self/io", "r");
    if (file != NULL && fscanf(file, "rchar: %llu", &bytes) != 1)
        bytes = 0;
    if (file != NULL)
        fclose(file);
    return (double)bytes;
}

static double find_done(void) { return waiting.reads ? bytes_read() - waiting.first : waiting.passes; }

static void put_rate(double done, double seconds)
{
    char rate[32];
    if (waiting.reads)
        fprintf(stderr, ", %s/s", tool_bytes(rate, sizeof rate, done / seconds));
    else
        fprintf(stderr, ", %.0f of %.0f passes", done, waiting.all);
}

static void write_line(void)
{
    const double seconds = mw__clock_seconds() - waiting.began, done = find_done();
    const double share = waiting.all > 0 ? done / waiting.all : 0;
    fprintf(stderr, "\r\x1b[K%s", waiting.what);
    if (share > 0.01 && share < 1) { /* below, or what is mapped and not read: nothing is known */
        fprintf(stderr, " %.0f %%", 100 * share);
        put_rate(done, seconds);
        fprintf(stderr, ", about %.0f s left", seconds / share * (1 - share));
    } else {
        fprintf(stderr, ", %.0f s", seconds);
    }
    fflush(stderr);
    waiting.shown = true;
}

/* ---- the thread ---- */

static struct timespec time_in(long ms)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += ms % 1000 * 1000000;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static void *write_lines(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&waiting.lock);
    struct timespec next = time_in(FIRST_MS);
    while (!waiting.ends) {
        if (pthread_cond_timedwait(&waiting.changed, &waiting.lock, &next) != ETIMEDOUT)
            continue;
        write_line();
        next = time_in(NEXT_MS);
    }
    pthread_mutex_unlock(&waiting.lock);
    return NULL;
}

void tool_waiting_end(void)
{
    if (!waiting.running)
        return;
    pthread_mutex_lock(&waiting.lock);
    waiting.ends = true;
    pthread_cond_signal(&waiting.changed);
    pthread_mutex_unlock(&waiting.lock);
    pthread_join(waiting.thread, NULL);
    if (waiting.shown)
        fputs("\r\x1b[K", stderr);
    waiting.running = waiting.ends = waiting.shown = false;
}

static bool begin(const tool_call *call)
{
    tool_waiting_end();
    if (call->quiet || !tool_is_live(stderr))
        return false;
    waiting.began = mw__clock_seconds();
    waiting.passes = waiting.all = 0;
    return true;
}

static void start_thread(void) { waiting.running = pthread_create(&waiting.thread, NULL, write_lines, NULL) == 0; }

/* ---- what is waited for ---- */

void tool_waiting_read(const tool_call *call, const char *path)
{
    struct stat entry;
    if (!begin(call))
        return;
    const char *slash = strrchr(path, '/');
    mw__printable_printf(waiting.what, sizeof waiting.what, "reading %.60s",
                         slash != NULL && slash[1] != '\0' ? slash + 1 : path);
    waiting.reads = true;
    waiting.all = stat(path, &entry) == 0 && S_ISREG(entry.st_mode) ? (double)entry.st_size : 0;
    waiting.all *= tool_is_table(path) ? TABLE_READS : 1;
    waiting.first = waiting.all > 0 ? bytes_read() : 0;
    start_thread();
}

static void count_pass(void *user, const mw_pass *pass)
{
    (void)user, (void)pass;
    pthread_mutex_lock(&waiting.lock);
    if (waiting.reads) { /* the model is read: from here on it is compiled */
        snprintf(waiting.what, sizeof waiting.what, "compiling");
        waiting.reads = false;
        waiting.began = mw__clock_seconds();
        waiting.all = tool_pass_count();
    }
    waiting.passes++;
    pthread_mutex_unlock(&waiting.lock);
}

void tool_waiting_compile(const tool_call *call, mw_compile_options *options)
{
    if (options->passes.report != NULL || options->cache_folder != NULL) /* a report goes past the cache */
        return;
    if (call->quiet || !tool_is_live(stderr))
        return;
    options->passes.report = count_pass;
    if (waiting.running)
        return;
    if (!begin(call))
        return;
    snprintf(waiting.what, sizeof waiting.what, "compiling");
    waiting.reads = false;
    waiting.all = tool_pass_count();
    start_thread();
}
