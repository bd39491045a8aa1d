/* What a hit in the compile cache is worth: the training step of a transformer of 12 layers (W3's block), compiled
 * without a cache, with one that is empty, once more in the same process, and in others. Each part runs in a process of
 * its own, as compiling is slower the first time; this one uses no engine, since a child could not then. */
#include "models.h"
#include "workloads.h"

#include <millwright/ane_e5rt.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAYERS = 12, PROCESSES = 5, TIMES = 9 };

typedef struct place {
    const bench_options *options;
    char top[64], model[96], cache[96];
} place;

typedef void job(const place *p);

static void run_in_child(job *what, const place *p, mw_error *err)
{
    int status = -1;
    if (err->status != MW_OK)
        return;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        what(p);
        fflush(stdout);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        err->status = MW_ERROR_STATE;
        snprintf(err->message, sizeof err->message, "a process of the workload cache failed");
    }
}

static void write_model(const place *p)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, &err);
    const bool fp16 = p->options->fp16;
    const int layers = p->options->steps == 1 ? 1 : LAYERS;
    mw_tensor *x = mw_input(graph, "x", MW_I32, MW_SHAPE(BLOCK_N, BLOCK_T));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(BLOCK_N * BLOCK_T));
    mw_tensor *loss = mw_cross_entropy(model_transformer(x, layers, fp16), y);
    mw_trainer_options options = mw_trainer_defaults(loss, mw_adam(1e-3f));
    options.compile = bench_compiling(p->options);
    options.compile.keep_folder = p->model;
    mw_trainer_destroy(mw_trainer_create(&options, &err));
    mw_graph_destroy(graph);
    if (err.status != MW_OK) {
        fprintf(stderr, "%s\n", err.message);
        _exit(1);
    }
}

/* Milliseconds. */
static double compile(const place *p, const char *cache)
{
    char path[128];
    snprintf(path, sizeof path, "%s/model.mil", p->model);
    const double start = bench_now();
    if (ane_e5rt_compile_check(path, cache, p->options->fp16 ? 4 : 1, NULL) != 0)
        _exit(1);
    return 1e3 * (bench_now() - start);
}

static double best_of(const place *p, const char *cache)
{
    double best = 1e9;
    for (int i = 0; i < TIMES; i++) {
        const double ms = compile(p, cache);
        best = ms < best ? ms : best;
    }
    return best;
}

static void without(const place *p) { bench_emit("cache", "no_cache_ms", best_of(p, NULL)); }

static void without_at_first(const place *p) { bench_emit("cache", "new_process_no_cache_ms", compile(p, NULL)); }

static void filling(const place *p)
{
    bench_emit("cache", "empty_cache_ms", compile(p, p->cache));
    bench_emit("cache", "hit_ms", best_of(p, p->cache));
}

static void elsewhere(const place *p) { bench_emit("cache", "new_process_hit_ms", compile(p, p->cache)); }

void bench_cache(const bench_options *o, mw_error *err)
{
    char command[80];
    place p = {.options = o, .top = "/tmp/bench-cache-XXXXXX"};
    if (mkdtemp(p.top) == NULL) {
        err->status = MW_ERROR_FILE;
        snprintf(err->message, sizeof err->message, "no folder in /tmp");
        return;
    }
    snprintf(p.model, sizeof p.model, "%s/model", p.top);
    snprintf(p.cache, sizeof p.cache, "%s/cache", p.top);
    run_in_child(write_model, &p, err);
    run_in_child(without, &p, err);
    run_in_child(filling, &p, err);
    for (int i = 0; i < (o->steps == 1 ? 1 : PROCESSES); i++) {
        run_in_child(without_at_first, &p, err);
        run_in_child(elsewhere, &p, err);
    }
    snprintf(command, sizeof command, "rm -r %s", p.top);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", p.top);
}
