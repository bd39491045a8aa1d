/* Several ranks: what a step takes on a slow network, beside a model of it; and what the model says of other networks.
 *
 *     ranks measure [width]     two ranks as processes of one thread each, over a transport with a latency and a rate
 *     ranks spare [width]       the same where both compute on one processor, so that another is left for sending
 *     ranks states [width]      of two such ranks with Adam what one holds and sends, its states whole and in parts
 *     mpiexec -n N ranks mpi [width]    a step of ranks over the MPI and network that they have
 *     ranks predict < table     lines "name step_ms parameters": a step's time and speed on 2 to 64 ranks
 *
 * The model: gradients of B bytes go in buckets of b. Of a bucket a rank sends two times (n - 1) messages, one after
 * the other, of 2 (n - 1) / n b bytes in all, and adds n shares of b / n: bucket = 2 ((n - 1) latency + (n - 1) / n b /
 * rate) + b / adding. The first third of a step is the forward pass; over the rest gradients become ready one by one,
 * and buckets when the piece of the step ends that they are in: a step that is sent meanwhile has 8 pieces of equal
 * length. With overlap bucket k begins when it is ready and the one before is through; without, the first begins at
 * the end.
 * Two latencies more are the records of the ranks, and copying to and from the buckets and the update by itself are
 * part of what was measured. */
#if defined(__linux__)
#include <sched.h>
#endif
#include "bench.h"
#include "ranks_pair.h"
#include "support/ranks.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>
#include <sys/mman.h>
#if defined(BENCH_MPI)
#include <millwright/mpi.h>
#endif

typedef struct network {
    double latency, rate, adding; /* seconds, bytes a second, bytes a second */
} network;

static double bucket_seconds(const network *n, int ranks, double bytes)
{
    const double others = ranks - 1;
    return 2.0 * (others * n->latency + others / ranks * bytes / n->rate) + bytes / n->adding;
}

enum { PIECES = 8 };

/* When so much of the gradients is there; with no pieces when all is. */
static double ready_at(double compute, double share, int pieces)
{
    return pieces > 0 ? compute * ceil((1.0 / 3.0 + 2.0 / 3.0 * share) * pieces - 1e-9) / pieces : compute;
}

static double model(const network *n, int ranks, double compute, double bytes, double bucket, int pieces)
{
    const int buckets = bytes > bucket ? (int)(bytes / bucket + 0.5) : 1;
    const double each = bucket_seconds(n, ranks, bytes / buckets);
    double through = 0.0;
    for (int k = 1; k <= buckets; k++) {
        const double ready = ready_at(compute, (double)k / buckets, pieces);
        through = (ready > through ? ready : through) + each;
    }
    return through + 2.0 * n->latency;
}

/* ---- measuring ---- */

enum { LAYERS = 8, STEPS = 12 };

/* A network of 1024 in width takes 0.1 s for a step, as small trainings do; buckets are those of a layer. */
static int width = 1024, batch_size = 256;
/* With Adam, and its states whole or shared out: "states". */
static bool with_states, in_parts;
/* Ranks compute on the first processor and send from the second: "spare". */
static bool spares;

typedef struct run {
    int segments;
    double best;
    uint64_t sent, early, exchanged;
    uint64_t state_bytes;
    long resident_kb; /* at most */
    mw_error err;
} run;

static mw_trainer *make(mw_communicator *c, int segments, mw_error *err)
{
    mw_graph *g = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(batch_size, width)), *h = x;
    for (int i = 0; i < LAYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "fc%d", i);
        h = mw_tanh(mw_dense(h, width, name));
    }
    const mw_optimizer optimizer = with_states ? mw_adam(1e-3f) : mw_sgd(0.01f);
    mw_trainer_options o = mw_trainer_defaults(mw_mse(h, mw_mul_scalar(x, 0.5)), optimizer);
    o.ranks.communicator = c;
    o.ranks.shard_states = in_parts;
    o.ranks.bucket_bytes = (uint64_t)width * (uint64_t)width * 4;
    o.memory.segments = segments;
    o.compile.threads = 1;
    mw_trainer *t = mw_trainer_create(&o, err);
    mw_graph_destroy(g);
    return t;
}

/* getrusage counts what the parent had; this is of the process alone. */
static long most_resident(void)
{
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && kb == 0 && fgets(line, sizeof line, f) != NULL)
        sscanf(line, "VmHWM: %ld", &kb);
    if (f != NULL)
        fclose(f);
    return kb;
}

/* The calling thread, and those that it starts from now on. */
static void go_to(int processor)
{
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (spares && sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("ranks spare needs two processors");
        exit(1);
    }
#else
    (void)processor;
#endif
}

static void job(mw_communicator *c, int rank, void *user)
{
    run *r = user;
    mw_error err = {0};
    go_to(0);
    mw_trainer *t = make(c, r->segments, &err);
    if (rank == 0)
        r->state_bytes = mw_trainer_get_info(t).counters.state_bytes_in;
    float *x = calloc((size_t)batch_size * (size_t)width, sizeof *x);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = (size_t)batch_size * (size_t)width};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = batch_size};
    for (int i = 0; i < batch_size * width; i++)
        x[i] = (float)((i * 7 + rank * 5) % 29) / 29.0f - 0.5f;
    for (int step = 0; step < STEPS; step++) {
        mw_communicator_barrier(c, &err);
        const uint64_t before = mw_communicator_get_info(c).bytes_sent;
        const double start = bench_now();
        mw_trainer_step(t, &batch, NULL, &err);
        const double took = bench_now() - start;
        if (r->segments != 1) /* the engine's thread is there, and stays */
            go_to(1);
        if (rank == 0 && step > 1 && (r->best == 0.0 || took < r->best))
            r->best = took;
        if (rank == 0)
            r->sent = mw_communicator_get_info(c).bytes_sent - before;
    }
    if (rank == 0) {
        r->early = mw_trainer_get_info(t).counters.early_bytes;
        r->exchanged = mw_trainer_get_info(t).counters.exchanged_bytes;
        r->resident_kb = most_resident();
        r->err = err;
    }
    free(x);
    mw_trainer_destroy(t);
}

static run measure(int segments, const pair_network *n)
{
    run *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED)
        exit(1);
    *r = (run){.segments = segments};
    if (!pair_run(n, job, r) || r->err.status != MW_OK) {
        fprintf(stderr, "the ranks failed: %s\n", r->err.message);
        exit(1);
    }
    const run found = *r;
    munmap(r, sizeof *r);
    return found;
}

/* A step of one rank, which exchanges nothing, with and without a communicator of one. */
static void measure_one(void)
{
    mw_error err = {0};
    double best[2] = {0.0, 0.0};
    float *x = calloc((size_t)batch_size * (size_t)width, sizeof *x);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = (size_t)batch_size * (size_t)width};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = batch_size};
    const mw_transport transport = ranks_alone();
    mw_communicator *one = mw_communicator_create(&transport, NULL, &err);
    mw_trainer *t[2] = {make(NULL, 1, &err), make(one, 1, &err)};
    for (int step = 0; step < 2 * STEPS; step++)
        for (int i = 0; i < 2; i++) {
            const double start = bench_now();
            mw_trainer_step(t[i], &batch, NULL, &err);
            const double took = bench_now() - start;
            best[i] = step > 1 && (best[i] == 0.0 || took < best[i]) ? took : best[i];
        }
    printf("one rank\tstep_ms\t%.3f\twith a communicator of one\t%.3f\tratio\t%.4f\n", 1e3 * best[0], 1e3 * best[1],
           best[1] / best[0]);
    mw_trainer_destroy(t[0]);
    mw_trainer_destroy(t[1]);
    mw_communicator_destroy(one);
    free(x);
}

/* What the machine does by itself: the step, and what the exchange costs where the network costs nothing. */
static void measure_network(double share, const run *alone)
{
    const double rate = share * (double)alone->sent / alone->best, bytes = (double)alone->sent;
    const pair_network slow = {.latency = 50e-6, .bytes_per_second = rate};
    const network n = {.latency = slow.latency, .rate = rate, .adding = 4e9};
    const run after = measure(1, &slow), during = measure(0, &slow);
    printf("rate %.2f\tafter_ms\t%.2f\tmodel\t%.2f\tmeanwhile_ms\t%.2f\tmodel\t%.2f\tearly\t%.2f\n", share,
           1e3 * after.best, 1e3 * model(&n, 2, alone->best, bytes, 4.0 * width * width, 0), 1e3 * during.best,
           1e3 * model(&n, 2, alone->best, bytes, 4.0 * width * width, PIECES),
           (double)during.early / (double)during.exchanged);
    fflush(stdout);
}

/* The engine is first used in children; rates are multiples of what would carry the gradients in the time of a step. */
static void measure_all(void)
{
    static const double share[] = {4.0, 2.0, 1.0, 0.5};
    const run alone = measure(1, &(pair_network){.latency = 0.0}), cut = measure(0, &(pair_network){.latency = 0.0});
    printf("two ranks\tparameters\t%d\tsent_bytes\t%llu\tbound_bytes\t%d\tstep_ms\t%.2f\tin pieces\t%.2f\n",
           LAYERS * width * (width + 1), (unsigned long long)alone.sent, LAYERS * width * (width + 1) * 4,
           1e3 * alone.best, 1e3 * cut.best);
    for (size_t i = 0; i < sizeof share / sizeof *share; i++)
        measure_network(share[i], &alone);
    measure_one();
}

static void measure_states(void)
{
    with_states = true;
    for (int parts = 0; parts < 2; parts++) {
        in_parts = parts == 1;
        const run r = measure(1, &(pair_network){.latency = 0.0});
        printf("states %s\tstate_bytes\t%llu\tresident_kb\t%ld\tsent_bytes\t%llu\tstep_ms\t%.2f\n",
               in_parts ? "in parts" : "whole", (unsigned long long)r.state_bytes, r.resident_kb,
               (unsigned long long)r.sent, 1e3 * r.best);
        fflush(stdout);
    }
    with_states = in_parts = false;
}

#if defined(BENCH_MPI)
/* Sent after the step, and meanwhile. */
static int measure_mpi(int argc, char **argv)
{
    mw_error err = {0};
    mw_communicator *c = mw_mpi_start(&argc, &argv, &err);
    const int rank = mw_communicator_get_info(c).rank;
    run after = {.segments = 1}, during = {.segments = 0};
    if (err.status == MW_OK)
        job(c, rank, &after);
    if (err.status == MW_OK)
        job(c, rank, &during);
    if (rank == 0)
        printf("%d ranks\tsent_bytes\t%llu\tafter_ms\t%.2f\tmeanwhile_ms\t%.2f\tearly\t%.2f\n",
               mw_communicator_get_info(c).size, (unsigned long long)after.sent, 1e3 * after.best, 1e3 * during.best,
               (double)during.early / (double)during.exchanged);
    if (err.status != MW_OK || after.err.status != MW_OK || during.err.status != MW_OK)
        fprintf(stderr, "rank %d: %s%s%s\n", rank, err.message, after.err.message, during.err.message);
    mw_communicator_finish(c, &err);
    return err.status != MW_OK;
}
#else
static int measure_mpi(int argc, char **argv)
{
    (void)argc, (void)argv;
    fprintf(stderr, "ranks was built without MPI\n");
    return 2;
}
#endif

/* ---- predicting ---- */

static void predict(const char *name, double step_ms, double parameters)
{
    static const int ranks[] = {2, 4, 8, 16, 32, 64};
    static const struct {
        const char *name;
        network n;
    } networks[] = {
        {"1 Gbit/s", {50e-6, 1.18e8, 4e9}}, {"10 Gbit/s", {20e-6, 1.18e9, 4e9}}, {"40 Gbit/s", {10e-6, 4.4e9, 4e9}}};
    for (size_t k = 0; k < sizeof networks / sizeof *networks; k++) {
        printf("%s\t%s", name, networks[k].name);
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
            const double step = model(&networks[k].n, ranks[i], step_ms / 1e3, 4.0 * parameters, 4194304.0, 1 << 20);
            printf("\t%d ranks\t%.3g ms\t%.3g times", ranks[i], 1e3 * step, ranks[i] * step_ms / 1e3 / step);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    char name[64];
    double step_ms, parameters;
    if (argc > 2 && strcmp(argv[1], "predict") != 0 && atoi(argv[2]) >= 16 && atoi(argv[2]) <= 1024) {
        width = atoi(argv[2]);
        batch_size = width / 4;
    }
    if (argc > 1 && strcmp(argv[1], "measure") == 0)
        measure_all();
    else if (argc > 1 && strcmp(argv[1], "spare") == 0)
        spares = true, measure_all();
    else if (argc > 1 && strcmp(argv[1], "mpi") == 0)
        return measure_mpi(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "states") == 0)
        measure_states();
    else if (argc > 1 && strcmp(argv[1], "predict") == 0)
        while (scanf("%63s %lf %lf", name, &step_ms, &parameters) == 3)
            predict(name, step_ms, parameters);
    else
        fprintf(stderr, "usage: ranks measure [width] | ranks spare [width] | ranks states [width] | mpiexec -n N "
                        "ranks mpi [width] | ranks "
                        "predict < table\n");
    return argc > 1 ? 0 : 2;
}
