/* What the programs of this folder share: the command line, a clock, medians, random numbers and the line of output
 * `workload<TAB>metric<TAB>value`. Not part of the library. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__APPLE__)
#include <sys/resource.h>
#endif

typedef struct bench_options {
    const char *workload;
    const char *data; /* folder of the MNIST files */
    int threads;
    int steps; /* 0 = as many as the workload has by itself */
    bool fp16;
    bool plan;           /* print what the program does, with times */
    bool tiny;           /* W7 to W14: a few layers of small widths, to try them out */
    const char *weights; /* NULL, or the file for weights: of W7 to W12 after steps of gradient descent, FILE.before for
                          * those before; of W13 it is read */
    const char *trace;   /* NULL, or the file for a trace of the last steps */
} bench_options;

static inline void bench_usage(const char *program)
{
    fprintf(stderr,
            "usage: %s WORKLOAD [options]\n"
            "  WORKLOAD     W1 to W14, W10layer, dispatch, scaling, cache\n"
            "  --threads N  (1)\n"
            "  --steps N    of training, or runs\n"
            "  --data DIR   folder of the MNIST files (data/mnist)\n"
            "  --device D   cpu or ane; off a Mac, ane is the fp16 model of it\n"
            "  --plan       print the steps of the program with their times (Millwright only)\n"
            "  --tiny       W7 to W14 with small networks, to try them out (not the floor)\n"
            "  --weights F  W7 to W12, W14: take steps of gradient descent and write weights to F.before and F; W13: "
            "read F\n"
            "  --trace FILE write a trace of the last steps for Perfetto (Millwright only)\n",
            program);
    exit(2);
}

/* Whether `value` is a count from 1 on; it is put into *out. */
static inline bool bench_count(const char *value, int *out)
{
    char *end = NULL;
    const long count = strtol(value, &end, 10);
    *out = (int)count;
    return end != value && *end == '\0' && count > 0 && count < 1000000000;
}

/* Exits with 2 on what it does not know. */
static inline bench_options bench_parse(int argc, char **argv)
{
    bench_options o = {.data = "data/mnist", .threads = 1};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool known = false;
        if (name[0] != '-') {
            o.workload = name;
            continue;
        }
        if (strcmp(name, "--plan") == 0) {
            o.plan = true;
            continue;
        }
        if (strcmp(name, "--tiny") == 0) {
            o.tiny = true;
            continue;
        }
        if (value != NULL && strcmp(name, "--threads") == 0)
            known = bench_count(value, &o.threads);
        else if (value != NULL && strcmp(name, "--steps") == 0)
            known = bench_count(value, &o.steps);
        else if (value != NULL && strcmp(name, "--data") == 0)
            o.data = value, known = true;
        else if (value != NULL && strcmp(name, "--trace") == 0)
            o.trace = value, known = true;
        else if (value != NULL && strcmp(name, "--weights") == 0)
            o.weights = value, known = true;
        else if (value != NULL && strcmp(name, "--device") == 0)
            o.fp16 = strcmp(value, "ane") == 0, known = o.fp16 || strcmp(value, "cpu") == 0;
        if (!known)
            bench_usage(argv[0]);
        i++;
    }
    if (o.workload == NULL)
        bench_usage(argv[0]);
    return o;
}

static inline int bench_steps(const bench_options *o, int usual) { return o->steps > 0 ? o->steps : usual; }

/* Seconds on a clock that never goes back. */
static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor seconds of all threads so far. */
static inline double bench_cpu(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Seconds since whoever started the process put the time (CLOCK_REALTIME in ns) into BENCH_T0; -1 without it. */
static inline double bench_since_launch(void)
{
    const char *start = getenv("BENCH_T0");
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return start == NULL ? -1.0 : 1e-9 * (double)((int64_t)t.tv_sec * 1000000000 + t.tv_nsec - atoll(start));
}

/* Largest resident set so far, in MB; -1 if the system does not tell. Linux's getrusage counts what the parent held
 * when it started this process, its VmHWM does not. */
static inline double bench_peak_mb(void)
{
#if defined(__APPLE__)
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1e6;
#else
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;
    while (file != NULL && kib < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    }
    if (file != NULL)
        fclose(file);
    return kib < 0 ? -1.0 : (double)kib * 1024.0 / 1e6;
#endif
}

static inline int bench_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts `values`. */
static inline double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, bench_order);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* How many of `count` values at the start are left out, because caches are cold. */
static inline int bench_cold(int count) { return count / 10; }

/* The median without the cold ones. Sorts them. */
static inline double bench_warm_median(double *values, int count)
{
    return bench_median(values + bench_cold(count), count - bench_cold(count));
}

static inline void bench_emit(const char *workload, const char *metric, double value)
{
    printf("%s\t%s\t%.6g\n", workload, metric, value);
    fflush(stdout);
}

/* What is reported of `steps` training steps: seconds [steps], the processor time of all but the cold ones, a loss. */
static inline void bench_emit_steps(const char *workload, double *seconds, int steps, double cpu, double loss)
{
    bench_emit(workload, "step_ms", 1e3 * bench_warm_median(seconds, steps));
    bench_emit(workload, "cpu_ms", 1e3 * cpu / (steps - bench_cold(steps)));
    bench_emit(workload, "loss", loss);
    bench_emit(workload, "peak_mb", bench_peak_mb());
}

/* Zero-filled memory for `count` elements of `size` bytes; ends the program if there is none. */
static inline void *bench_alloc(size_t count, size_t size)
{
    const size_t bytes = (count * size + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes > 0 ? bytes : 64);
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memset(memory, 0, bytes);
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static inline uint64_t bench_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Uniform in [0, 1). */
static inline float bench_uniform(uint64_t *state) { return (float)(bench_bits(state) >> 40) * (1.0f / 16777216.0f); }

#endif
