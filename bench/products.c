/* Matrix products of the sizes that networks have, each beside OpenBLAS held to one thread: GFLOP/s of both by
 * processor time, and their ratio, the median over rounds in which both run in turn.
 *
 *     products [--rounds N] [--device cpu|ane] [NAME]      rounds: 7; NAME: only the shapes whose name has it */
#include "bench.h"

#include <dlfcn.h>
#include <millwright/millwright.h>

/* C [m, n] = A B of inner extent k, `batch` times; transposes: of A (T.), of B (.T). */
typedef struct product {
    const char *name;
    int batch, m, n, k;
    mw_transposes transposes;
} product;

#define NN MW_TRANSPOSE_NONE
#define TN MW_TRANSPOSE_X
#define NT MW_TRANSPOSE_Y
#define TT (MW_TRANSPOSE_X | MW_TRANSPOSE_Y)

static const product products[] = {
    /* GPT-2 124M: 256 tokens forward, gradients of inputs and of weights; 4096 tokens */
    {"gpt2 fc", 1, 256, 3072, 768, NN},
    {"gpt2 fc, linear", 1, 256, 3072, 768, NT},
    {"gpt2 proj", 1, 256, 768, 3072, NN},
    {"gpt2 qkv", 1, 256, 2304, 768, NT},
    {"gpt2 dx", 1, 256, 768, 3072, NT},
    {"gpt2 dw", 1, 768, 3072, 256, TN},
    {"gpt2 dw, turned", 1, 3072, 768, 256, TN},
    {"gpt2 head", 1, 256, 50257, 768, NT},
    {"gpt2 head dx", 1, 256, 768, 50257, NN},
    {"gpt2 head dw", 1, 50257, 768, 256, TN},
    {"gpt2 1024 rows", 1, 1024, 3072, 768, NN},
    {"gpt2 4096 rows", 1, 4096, 3072, 768, NN},
    {"gpt2 4096 dx", 1, 4096, 768, 3072, NT},
    {"gpt2 4096 dw", 1, 3072, 768, 4096, TN},
    /* a block of W3, gradients of weights */
    {"block dw", 1, 256, 1024, 1024, TN},
    {"block dw, turned", 1, 1024, 256, 1024, TN},
    {"block dw, square", 1, 256, 256, 1024, TN},
    /* attention: T x T scores of 64 wide heads, and back */
    {"attention scores", 48, 64, 64, 64, NT},
    {"attention values", 48, 64, 64, 64, NN},
    {"attention scores, 256", 12, 256, 256, 64, NT},
    {"attention values, 256", 12, 256, 64, 256, NN},
    {"attention dk, 256", 12, 256, 64, 256, TN},
    /* convolutions of a ResNet by columns: channels x positions x (channels times 9) */
    {"resnet 64", 1, 64, 1024, 576, NN},
    {"resnet 128", 1, 128, 256, 1152, NN},
    {"resnet 256", 1, 256, 64, 2304, NN},
    {"resnet 512", 1, 512, 16, 4608, NN},
    {"resnet dw", 1, 128, 1152, 256, NT},
    {"resnet 1x1", 1, 256, 3136, 64, NN},
    {"resnet dx", 1, 576, 1024, 64, TN},
    /* networks of dense layers */
    {"mlp fc1", 1, 128, 256, 784, NT},
    {"mlp fc1 dw", 1, 256, 784, 128, TN},
    {"mlp fc2", 1, 128, 10, 256, NT},
    {"mlp fc2 dx", 1, 128, 256, 10, NN},
    {"mlp fc2 dw", 1, 10, 256, 128, TN},
    {"mlp 64", 1, 128, 64, 64, NN},
    {"mlp 64, turned", 1, 64, 64, 128, TT},
    /* an LSTM's step, skinny ones */
    {"lstm gates", 1, 32, 1024, 256, NT},
    {"1 token", 1, 1, 3072, 768, NT},
    {"4 tokens", 1, 4, 3072, 768, NT},
    {"8 tokens, untransposed", 1, 8, 3072, 768, NN},
    {"16 tokens", 1, 16, 768, 3072, NT},
    {"narrow", 1, 4096, 16, 256, NN},
    {"rank 8", 1, 1024, 768, 8, NN},
    {"into rank 8", 1, 1024, 8, 768, NN},
    /* squares */
    {"square 64", 1, 64, 64, 64, NN},
    {"square 128", 1, 128, 128, 128, NN},
    {"square 256", 1, 256, 256, 256, NN},
    {"square 512", 1, 512, 512, 512, NN},
    {"square 512", 1, 512, 512, 512, TT},
    {"square 1000", 1, 1000, 1000, 1000, TN},
    {"square 1024", 1, 1024, 1024, 1024, NN},
    {"square 1024", 1, 1024, 1024, 1024, TT},
    {"square 2048", 1, 2048, 2048, 2048, NN},
    {"square 2048", 1, 2048, 2048, 2048, NT},
};

typedef void sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                   int lda, const float *b, int ldb, float beta, float *c, int ldc);

typedef struct blas {
    sgemm *multiply; /* NULL: none is there */
    const char *core;
} blas;

static void *symbol(void *library, const char *name) { return library != NULL ? dlsym(library, name) : NULL; }

static blas load_blas(void)
{
    blas b = {.core = "OpenBLAS is not there"};
    void *const library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
    void *const found[] = {symbol(library, "cblas_sgemm"), symbol(library, "openblas_set_num_threads"),
                           symbol(library, "openblas_get_corename")};
    void (*hold)(int) = NULL;
    char *(*core)(void) = NULL;
    memcpy(&b.multiply, &found[0], sizeof found[0]);
    memcpy(&hold, &found[1], sizeof found[1]);
    memcpy(&core, &found[2], sizeof found[2]);
    if (hold != NULL)
        hold(1);
    if (core != NULL)
        b.core = core();
    return b;
}

/* ---- one product ---- */

typedef struct pair {
    const product *p;
    mw_program *program;
    const blas *blas;
    float *a, *b, *c;
    size_t count_a, count_b, count_c;
    mw_error *err;
} pair;

static void run_ours(pair *t) { mw_program_run(t->program, t->err); }

static void run_blas(pair *t)
{
    const product *p = t->p;
    const bool ta = (p->transposes & MW_TRANSPOSE_X) != 0, tb = (p->transposes & MW_TRANSPOSE_Y) != 0;
    const size_t a = t->count_a / (size_t)p->batch, b = t->count_b / (size_t)p->batch,
                 c = t->count_c / (size_t)p->batch;
    for (size_t i = 0; i < (size_t)p->batch; i++)
        t->blas->multiply(101, ta ? 112 : 111, tb ? 112 : 111, p->m, p->n, p->k, 1.0f, t->a + i * a, ta ? p->m : p->k,
                          t->b + i * b, tb ? p->k : p->n, 0.0f, t->c + i * c, p->n);
}

/* Processor seconds of a run. */
static double seconds(void (*run)(pair *), pair *t, int runs)
{
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < runs && t->err->status == MW_OK; i++)
        run(t);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    return ((double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec)) / runs;
}

static mw_program *compile(const product *p, mw_device device, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    const bool ta = (p->transposes & MW_TRANSPOSE_X) != 0, tb = (p->transposes & MW_TRANSPOSE_Y) != 0;
    const mw_shape a = MW_SHAPE(p->batch, ta ? p->k : p->m, ta ? p->m : p->k);
    const mw_shape b = MW_SHAPE(p->batch, tb ? p->n : p->k, tb ? p->k : p->n);
    const mw_dtype dtype = device == MW_DEVICE_ANE ? MW_F16 : MW_F32;
    mw_output(mw_matmul(mw_input(graph, "a", dtype, a), mw_input(graph, "b", dtype, b), p->transposes), "c");
    mw_compile_options options = mw_compile_defaults();
    options.device = device;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

static float *uniform(size_t count)
{
    uint64_t state = count;
    float *data = bench_alloc(count, sizeof *data);
    for (size_t i = 0; i < count; i++)
        data[i] = 2.0f * bench_uniform(&state) - 1.0f;
    return data;
}

/* Turns of at least 10 ms, or one product. */
static void measure(pair *t, int rounds)
{
    const product *p = t->p;
    const double flops = 2.0 * p->batch * p->m * (double)p->n * p->k;
    double *ours = bench_alloc((size_t)rounds, sizeof *ours), *theirs = bench_alloc((size_t)rounds, sizeof *theirs);
    double *ratio = bench_alloc((size_t)rounds, sizeof *ratio);
    seconds(run_ours, t, 1);
    const double once = seconds(run_ours, t, 1);
    const int runs = once > 0.01 ? 1 : (int)(0.01 / (once + 1e-7)) + 1;
    if (t->blas->multiply != NULL)
        seconds(run_blas, t, 1);
    for (int i = 0; i < rounds; i++) {
        ours[i] = seconds(run_ours, t, runs);
        theirs[i] = t->blas->multiply != NULL ? seconds(run_blas, t, runs) : 0.0;
        ratio[i] = theirs[i] / ours[i];
    }
    printf("%-24s %3d x %5d x %5d x %5d %c%c  %7.1f %8.1f  %6.2f\n", p->name, p->batch, p->m, p->n, p->k,
           p->transposes & MW_TRANSPOSE_X ? 'T' : '.', p->transposes & MW_TRANSPOSE_Y ? 'T' : '.',
           1e-9 * flops / bench_median(ours, rounds), 1e-9 * flops / bench_median(theirs, rounds),
           bench_median(ratio, rounds));
    fflush(stdout);
    free(ours);
    free(theirs);
    free(ratio);
}

static void run_product(const product *p, const blas *peer, mw_device device, int rounds, mw_error *err)
{
    const size_t batch = (size_t)p->batch, m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    pair t = {.p = p, .blas = peer, .count_a = batch * m * k, .count_b = batch * k * n, .count_c = batch * m * n};
    t.err = err;
    t.a = uniform(t.count_a);
    t.b = uniform(t.count_b);
    t.c = bench_alloc(t.count_c, sizeof *t.c);
    t.program = compile(p, device, err);
    mw_program_write(t.program, "a", MW_F32, t.a, t.count_a, err);
    mw_program_write(t.program, "b", MW_F32, t.b, t.count_b, err);
    if (err->status == MW_OK)
        measure(&t, rounds);
    mw_program_destroy(t.program);
    free(t.a);
    free(t.b);
    free(t.c);
}

static void usage(void)
{
    fprintf(stderr, "usage: products [--rounds N] [--device cpu|ane] [NAME]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    int rounds = 7;
    mw_device device = MW_DEVICE_CPU;
    const char *name = "";
    for (int i = 1; i < argc; i++) {
        const bool has_value = i + 1 < argc;
        if (has_value && strcmp(argv[i], "--rounds") == 0 && bench_count(argv[i + 1], &rounds))
            i++;
        else if (has_value && strcmp(argv[i], "--device") == 0)
            device = strcmp(argv[++i], "ane") == 0 ? MW_DEVICE_ANE : MW_DEVICE_CPU;
        else if (argv[i][0] != '-')
            name = argv[i];
        else
            usage();
    }
    const blas peer = load_blas();
    mw_error err = {0};
    printf("GFLOP/s of one thread; OpenBLAS: %s\n", peer.core);
    printf("%-24s %3s   %5s   %5s   %5s %s  %7s %8s  %6s\n", "product", "", "m", "n", "k", "AB", "ours", "OpenBLAS",
           "ratio");
    for (size_t i = 0; i < sizeof products / sizeof *products && err.status == MW_OK; i++)
        if (strstr(products[i].name, name) != NULL)
            run_product(&products[i], &peer, device, rounds, &err);
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    return err.status == MW_OK ? 0 : 1;
}
