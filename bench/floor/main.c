/* The floor: what the workloads of ../README.md cost when nothing is general.
 * Prints `workload metric value` lines. */
#include "../bench.h"
#include "block.h"
#include "images.h"
#include "single.h"
#include "tiny.h"

extern void openblas_set_num_threads(int count); /* the header that declares it is not installed everywhere */

/* Tells the compiler that the memory behind p is looked at. */
static inline void keep(const void *p) { __asm__ volatile("" ::"r"(p) : "memory"); }

/* ---- W1 and W2 ---- */

typedef struct training {
    image_net net;
    image_set set;
    int steps, *order; /* a permutation of the examples */
    double *seconds;   /* [steps] */
    double loss;       /* mean of the last tenth of the steps */
    double cpu;        /* when the first of them are over, then processor seconds of the others */
    uint64_t random;
} training;

static void shuffle(training *t)
{
    for (int i = t->set.count - 1; i > 0; i--) {
        const int j = (int)(bench_bits(&t->random) % (uint64_t)(i + 1)), other = t->order[j];
        t->order[j] = t->order[i];
        t->order[i] = other;
    }
}

static double summed_loss(const image_net *net)
{
    double sum = 0.0;
    for (int i = 0; i < net->threads; i++)
        sum += net->sums[i].loss;
    return sum;
}

static void train_member(const member *self)
{
    training *t = self->user;
    const int batches = t->set.count / BATCH, last = t->steps - (t->steps + 9) / 10;
    for (int s = 0; s < t->steps; s++) {
        team_barrier(self->of);
        if (self->id == 0 && s % batches == 0)
            shuffle(t);
        if (self->id == 0 && s == last)
            t->loss = -summed_loss(&t->net);
        if (self->id == 0 && s == bench_cold(t->steps))
            t->cpu = bench_cpu();
        team_barrier(self->of);
        const double start = self->id == 0 ? bench_now() : 0.0;
        image_net_step(&t->net, self, &t->set, t->order + s % batches * BATCH);
        if (self->id == 0)
            t->seconds[s] = bench_now() - start;
    }
}

static void run_images(const bench_options *o, bool convolutional, int usual)
{
    training t = {.steps = bench_steps(o, usual), .set = images_read(o->data), .random = 1};
    t.net = image_net_create(convolutional, o->threads);
    t.seconds = bench_alloc((size_t)t.steps, sizeof(double));
    t.order = bench_alloc((size_t)t.set.count, sizeof(int));
    for (int i = 0; i < t.set.count; i++)
        t.order[i] = i;
    team_run(o->threads, train_member, &t);
    t.loss += summed_loss(&t.net);
    bench_emit_steps(o->workload, t.seconds, t.steps, bench_cpu() - t.cpu, t.loss / BATCH / ((t.steps + 9) / 10));
}

static void run_w1(const bench_options *o) { run_images(o, false, 468); }
static void run_w2(const bench_options *o) { run_images(o, true, 60); }

/* ---- W3 ---- */

typedef struct block_training {
    block *net;
    int32_t tokens[R], following[R];
    int steps;
    double *seconds, cpu; /* as in training */
} block_training;

static void train_block(const member *self)
{
    block_training *t = self->user;
    for (int s = 0; s < t->steps; s++) {
        if (self->id == 0 && s == bench_cold(t->steps))
            t->cpu = bench_cpu();
        const double start = self->id == 0 ? bench_now() : 0.0;
        block_step(t->net, self, t->tokens, t->following);
        if (self->id == 0)
            t->seconds[s] = bench_now() - start;
    }
}

static void run_w3(const bench_options *o)
{
    block_training *t = bench_alloc(1, sizeof *t);
    uint64_t random = 1;
    for (int i = 0; i < R; i++) {
        t->tokens[i] = (int32_t)(bench_bits(&random) % V);
        t->following[i] = (int32_t)(bench_bits(&random) % V);
    }
    const int threads = o->threads < N ? o->threads : N;
    t->net = block_create(threads);
    t->steps = bench_steps(o, 30);
    t->seconds = bench_alloc((size_t)t->steps, sizeof(double));
    team_run(threads, train_block, t);
    double loss = 0.0;
    for (int i = 0; i < threads; i++)
        loss += t->net->loss[i] / R;
    bench_emit_steps(o->workload, t->seconds, t->steps, bench_cpu() - t->cpu, loss);
}

/* ---- W4 ---- */

static void run_w4(const bench_options *o)
{
    tiny_net net;
    uint64_t random = 1;
    float *const numbers = (float *)&net;
    for (size_t i = 0; i < sizeof net / sizeof(float); i++)
        numbers[i] = bench_uniform(&random) - 0.5f;
    const int steps = bench_steps(o, 1000000);
    const double start = bench_now();
    for (int i = 0; i < steps; i++) {
        tiny_step(&net);
        keep(&net);
    }
    bench_emit(o->workload, "steps_per_s", steps / (bench_now() - start));
}

/* ---- W5 ---- */

static void infer_single(const bench_options *o, int runs)
{
    image_net net = image_net_create(false, 1);
    uint64_t random = 1;
    float *turned = bench_alloc((size_t)(PIXELS * net.hidden), sizeof(float)), x[PIXELS], scores[HEAD];
    for (int i = 0; i < PIXELS; i++) {
        x[i] = bench_uniform(&random);
        for (int h = 0; h < net.hidden; h++)
            turned[h * PIXELS + i] = net.w1.w[i * net.hidden + h];
    }
    double *seconds = bench_alloc((size_t)runs, sizeof(double));
    for (int i = 0; i < runs; i++) {
        const double start = bench_now();
        single_infer(&net, turned, x, scores);
        keep(scores);
        seconds[i] = bench_now() - start;
    }
    bench_emit(o->workload, "mlp_b1_us", 1e6 * bench_warm_median(seconds, runs));
}

static void infer_images(const bench_options *o, int runs)
{
    image_net net = image_net_create(true, 1);
    uint64_t random = 1;
    for (int i = 0; i < 64 * IMAGE; i++)
        net.conv.images[i] = bench_uniform(&random);
    double *seconds = bench_alloc((size_t)runs, sizeof(double));
    for (int i = 0; i < runs; i++) {
        const double start = bench_now();
        image_net_infer(&net, 64);
        seconds[i] = bench_now() - start;
    }
    bench_emit(o->workload, "cnn_b64_ms", 1e3 * bench_warm_median(seconds, runs));
}

static void run_w5(const bench_options *o)
{
    infer_single(o, bench_steps(o, 4000));
    infer_images(o, bench_steps(o, 200));
}

/* ---- W6 ---- */

static void first_step(const member *self)
{
    training *t = self->user;
    image_net_step(&t->net, self, &t->set, t->order);
}

static void run_w6(const bench_options *o)
{
    training t = {.net = image_net_create(false, o->threads), .random = 1};
    t.set = (image_set){.count = BATCH, .pixels = bench_alloc(BATCH * PIXELS, 1), .labels = bench_alloc(BATCH, 1)};
    t.order = bench_alloc(BATCH, sizeof(int));
    for (int i = 0; i < BATCH; i++)
        t.order[i] = i;
    for (int i = 0; i < BATCH * PIXELS; i++)
        t.set.pixels[i] = (uint8_t)bench_bits(&t.random);
    team_run(o->threads, first_step, &t);
    bench_emit(o->workload, "first_step_ms", 1e3 * bench_since_launch());
    bench_emit(o->workload, "peak_mb", bench_peak_mb());
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const bench_options *o);
    } workloads[] = {{"W1", run_w1}, {"W2", run_w2}, {"W3", run_w3}, {"W4", run_w4}, {"W5", run_w5}, {"W6", run_w6}};
    bench_options o = bench_parse(argc, argv);
    if (o.threads > TEAM_MAX)
        o.threads = TEAM_MAX;
    openblas_set_num_threads(1); /* the team splits the work */
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (strcmp(workloads[i].name, o.workload) == 0 && !o.fp16) {
            workloads[i].run(&o);
            return 0;
        }
    }
    fprintf(stderr, "the floor has no %s%s\n", o.workload, o.fp16 ? " in fp16" : "");
    return 3;
}
