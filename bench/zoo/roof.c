/* What the machine allows: a step takes at least its operations at the rate of one large product, and its bytes at the
 * rate of a copy. The sum over the steps of a program is the roof; its share of the time says how much is left, and
 * which of the two is longer in most of it says what bounds the network. Bytes count once for each step, so that a step
 * whose operands are in a cache may be faster than its roof. */
#include "run.h"

#include <millwright/inspect.h>
#include <millwright/view.h>

#include <pthread.h>

enum { COPY_BYTES = 1 << 27, COPY_ROUNDS = 5, THREADS_MOST = 64 };

/* ---- operations ---- */

static bool is_product(const char *kind)
{
    static const char *const kinds[] = {"conv",      "conv_transpose", "linear", "matmul", "einsum",
                                        "attention", "lstm",           "gru",    "rnn"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

double zoo_products(const mw_graph *graph, mw_error *err)
{
    mw_summary *summary = err->status == MW_OK ? mw_summary_create(graph, err) : NULL;
    double sum = 0.0; /* without what is counted on zeros */
    for (size_t i = 0; i < mw_summary_count(summary); i++) {
        const mw_summary_layer *layer = mw_summary_at(summary, i);
        sum += is_product(layer->kind) && layer->flops > 0.0 ? layer->flops : 0.0;
    }
    mw_summary_destroy(summary);
    return sum > zoo_spread ? sum - zoo_spread : sum;
}

/* ---- memory ---- */

typedef struct copy_part {
    char *to, *from;
    size_t size;
} copy_part;

static void *copy_bytes(void *user)
{
    const copy_part *part = user;
    return memcpy(part->to, part->from, part->size);
}

static double copy_seconds(char *to, char *from, size_t size, int threads)
{
    pthread_t started[THREADS_MOST];
    copy_part parts[THREADS_MOST];
    const double start = bench_now();
    for (int i = 0; i < threads; i++) {
        const size_t at = size / (size_t)threads * (size_t)i;
        parts[i] = (copy_part){to + at, from + at, size / (size_t)threads};
        if (pthread_create(&started[i], NULL, copy_bytes, &parts[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
    return bench_now() - start;
}

/* Bytes a second that a copy reads and writes, the best of several. */
static double copy_rate(const zoo_options *o)
{
    const size_t size = o->bench.tiny ? 1 << 20 : COPY_BYTES;
    char *to = bench_alloc(size, 1), *from = bench_alloc(size, 1);
    double best = 1e9;
    for (int i = 0; i < COPY_ROUNDS; i++) {
        const double seconds = copy_seconds(to, from, size, o->bench.threads < 64 ? o->bench.threads : 64);
        best = seconds < best ? seconds : best;
    }
    free(to);
    free(from);
    return 2.0 * (double)size / best;
}

/* ---- the roof ---- */

void zoo_roof(const zoo_options *o, mw_program *program, double products, double seconds, mw_error *err)
{
    const char *name = o->bench.workload;
    mw_plan *plan = mw_plan_create(program, err);
    if (plan == NULL)
        return;
    const double rate = bench_product_rate(&o->bench, err), copy = copy_rate(o);
    double roof = 0.0, memory = 0.0;
    mw_plan_step step;
    for (size_t i = 0; mw_plan_step_at(plan, i, &step); i++) {
        const double by_work = step.flops > 0.0 ? step.flops / rate : 0.0;
        const double by_bytes = (double)(step.bytes_read + step.bytes_written) / copy;
        roof += by_work > by_bytes ? by_work : by_bytes;
        memory += by_work > by_bytes ? 0.0 : by_bytes;
    }
    const mw_plan_totals totals = mw_plan_get_totals(plan);
    bench_emit(name, "gflop", 1e-9 * products);
    bench_emit(name, "gflops", 1e-9 * products / seconds);
    bench_emit(name, "of_product", products / seconds / rate);
    bench_emit(name, "gbyte", 1e-9 * (double)(totals.bytes_read + totals.bytes_written));
    bench_emit(name, "copy_gb_s", 1e-9 * copy);
    bench_emit(name, "of_roof", roof / seconds);
    bench_emit(name, "roof_memory", roof > 0.0 ? memory / roof : 0.0);
    mw_plan_destroy(plan);
}
