/* A transformer of 6, 12 and 24 layers whole and in segments: what the compiler takes for each, and a step. The
 * compiler is timed alone, on the texts that the trainer keeps.
 *
 *     segments [cpu|ane] [steps] */
#include "bench.h"
#include "models.h"

#include <e5rt/e5rt.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct setting {
    mw_device device;
    int layers, segments, steps;
} setting;

static void good(e5rt_error_code code)
{
    if (code == 0)
        return;
    fprintf(stderr, "%s\n", e5rt_get_last_error_message());
    exit(1);
}

static double compile_seconds(const char *path, mw_device device)
{
    void *compiler = NULL, *options = NULL, *library = NULL;
    good(e5rt_e5_compiler_create(&compiler));
    good(e5rt_e5_compiler_options_create(&options));
    good(e5rt_e5_compiler_options_set_compute_device_types_mask(options, device == MW_DEVICE_ANE ? 4 : 1));
    const double begin = bench_now();
    good(e5rt_e5_compiler_compile(compiler, path, options, &library));
    const double seconds = bench_now() - begin;
    good(e5rt_program_library_release(&library));
    good(e5rt_e5_compiler_options_release(&options));
    good(e5rt_e5_compiler_release(&compiler));
    return seconds;
}

/* Of the whole, or of the segments beside it. */
static double compile_kept(const setting *s, const char *folder, size_t programs)
{
    char path[96];
    double seconds = 0.0;
    snprintf(path, sizeof path, "%s/model.mil", folder);
    if (s->segments <= 1)
        return compile_seconds(path, s->device);
    for (size_t i = 0; i < programs; i++) {
        snprintf(path, sizeof path, "%s/segment_%zu/model.mil", folder, i);
        seconds += compile_seconds(path, s->device);
    }
    return seconds;
}

static mw_trainer *create(const setting *s, const char *folder, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "x", MW_I32, MW_SHAPE(BLOCK_N, BLOCK_T));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(BLOCK_N * BLOCK_T));
    mw_trainer_options options =
        mw_trainer_defaults(mw_cross_entropy(model_transformer(x, s->layers, false), y), mw_adamw(1e-3f, 0.01f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = s->device;
    options.compile.keep_folder = folder;
    options.memory.segments = s->segments;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

/* The best of some; *out_cpu receives what it took of all processors. */
static double step_seconds(mw_trainer *trainer, int steps, double *out_cpu, mw_error *err)
{
    int32_t words[BLOCK_N * BLOCK_T];
    for (int i = 0; i < BLOCK_N * BLOCK_T; i++)
        words[i] = i * 7 % BLOCK_WORDS;
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_I32, .data = words, .count = BLOCK_N * BLOCK_T, .scale = 1.0f},
                             {.name = "y", .dtype = MW_I32, .data = words, .count = BLOCK_N * BLOCK_T, .scale = 1.0f}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = BLOCK_N};
    double best = 1e9;
    *out_cpu = 1e9;
    for (int i = 0; i < steps && err->status == MW_OK; i++) {
        const double begin = bench_now();
        const clock_t used = clock();
        mw_trainer_step(trainer, &batch, NULL, err);
        const double cpu = (double)(clock() - used) / CLOCKS_PER_SEC, seconds = bench_now() - begin;
        best = seconds < best ? seconds : best;
        *out_cpu = cpu < *out_cpu ? cpu : *out_cpu;
    }
    return best;
}

static void measure(const setting *s)
{
    mw_error err = {0};
    char folder[] = "/tmp/bench-segments-XXXXXX", command[64];
    if (mkdtemp(folder) == NULL)
        exit(1);
    const double begin = bench_now();
    mw_trainer *trainer = create(s, folder, &err);
    const double created = bench_now() - begin;
    const mw_trainer_parts parts = mw_trainer_get_info(trainer).parts;
    const double compiled = err.status == MW_OK ? compile_kept(s, folder, parts.programs) : 0.0;
    double cpu = 0.0;
    const double step = s->steps > 0 ? step_seconds(trainer, s->steps, &cpu, &err) : 0.0;
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    printf("%d layers\t%zu calls\t%zu programs\tcompile_ms\t%.1f\tcreate_ms\t%.1f\tstep_ms\t%.1f\tcpu_ms\t%.1f\n",
           s->layers, parts.calls, parts.programs, 1e3 * compiled, 1e3 * created, 1e3 * step, 1e3 * cpu);
    fflush(stdout);
    mw_trainer_destroy(trainer);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0 || err.status != MW_OK)
        exit(1);
}

int main(int argc, char **argv)
{
    static const int layers[] = {6, 12, 24}, segments[] = {1, 126};
    const mw_device device = argc > 1 && strcmp(argv[1], "ane") == 0 ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    const int steps = argc > 2 ? atoi(argv[2]) : 3;
    for (size_t i = 0; i < 6; i++)
        measure(&(setting){.device = device, .layers = layers[i / 2], .segments = segments[i % 2], .steps = steps});
    return 0;
}
