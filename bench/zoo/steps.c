/* Steps of training, or runs of a program, and what is told of them. */
#include "run.h"

#include <limits.h>

enum { SMALL_STEPS = 5 };

typedef struct zoo_runs {
    double *seconds, cpu; /* of all but the first */
    float first, last;    /* losses */
    int count;
} zoo_runs;

static zoo_runs take_steps(const zoo_options *o, mw_trainer *trainer, mw_program *program, const zoo_feeds *feeds,
                           mw_error *err)
{
    zoo_runs r = {.count = bench_steps(&o->bench, SMALL_STEPS)};
    r.seconds = bench_alloc((size_t)r.count, sizeof *r.seconds);
    const mw_batch batch = {.feeds = feeds->feed, .feed_count = feeds->count, .examples = 1};
    bench_watch(&o->bench, program, err);
    for (int i = 0; i < r.count && err->status == MW_OK; i++) {
        r.cpu = i <= 1 ? bench_cpu() : r.cpu;
        const double start = bench_now();
        if (trainer != NULL)
            mw_trainer_step(trainer, &batch, &r.last, err);
        else
            mw_program_run(program, err);
        r.seconds[i] = bench_now() - start;
        r.first = i == 0 ? r.last : r.first;
    }
    r.cpu = bench_cpu() - r.cpu;
    return r;
}

static void write_text(const char *path, const mw_program *program)
{
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL)
        return;
    fputs(mw_program_get_info(program).mil, file);
    fclose(file);
}

void zoo_steps(const zoo_options *o, mw_trainer *trainer, mw_program *program, const zoo_feeds *feeds, double products,
               mw_error *err)
{
    zoo_runs r = take_steps(o, trainer, program, feeds, err);
    const char *name = o->bench.workload;
    const int first = r.count > 1 ? 1 : 0; /* faults in memory, and is reported alone */
    if (err->status == MW_OK) {
        bench_emit(name, "first_ms", 1e3 * r.seconds[0]);
        const double median = bench_median(r.seconds + first, r.count - first);
        bench_emit(name, "step_ms", 1e3 * median);
        bench_emit(name, "cpu_ms", 1e3 * r.cpu / (r.count - first));
        bench_emit(name, "peak_mb", bench_peak_mb());
        if (trainer != NULL) {
            bench_emit(name, "first_loss", (double)r.first);
            bench_emit(name, "loss", (double)r.last);
        }
        bench_show(&o->bench, program, err);
        write_text(o->mil, program);
        zoo_roof(o, program, products, median, err);
    }
    free(r.seconds);
}

/* ---- training ---- */

static mw_optimizer optimizer_of(const zoo_options *o, const zoo_net *net)
{
    if (o->bench.weights != NULL) /* the weights before less those after are the gradients */
        return mw_sgd(1.0f);
    return strcmp(net->optimizer, "adamw") == 0 ? mw_adamw(3e-4f, 0.01f) : mw_sgd_momentum(1e-2f, 0.9f, false);
}

/* Into FILE.before, or FILE. */
static void save_weights(const zoo_options *o, mw_trainer *trainer, const char *suffix, mw_error *err)
{
    char path[PATH_MAX];
    if (o->bench.weights == NULL || err->status != MW_OK)
        return;
    snprintf(path, sizeof path, "%s%s", o->bench.weights, suffix);
    mw_trainer_save_weights(trainer, path, err);
}

void zoo_train(const zoo_options *o, const zoo_net *net, mw_error *err)
{
    mw_tensor *loss;
    zoo_form form = zoo_make(o, net, &loss, err);
    zoo_emit_size(o, &form, err);
    zoo_feeds feeds = zoo_draw(&form);
    const double products = 3.0 * zoo_products(form.graph, err); /* forward, dx and dweight */
    const double start = bench_now();
    mw_trainer *trainer = bench_train(&o->bench, loss, optimizer_of(o, net), err);
    if (trainer != NULL) {
        bench_emit(net->name, "compile_ms", 1e3 * (bench_now() - start));
        save_weights(o, trainer, ".before", err);
        zoo_steps(o, trainer, mw_trainer_program(trainer), &feeds, products, err);
        save_weights(o, trainer, "", err);
    }
    mw_trainer_destroy(trainer);
    mw_graph_destroy(form.graph);
    zoo_free(&feeds);
}
