/* How much memory a loaded model takes: a generated one of about 150 MB of weights, in fp16 or compressed, read,
 * compiled, and run, with the resident set after each step and the largest so far.
 *
 *     memory [fp16|int8|int4|lut4] [keep]      keep: the graph lives on beside its program */
#include <millwright/millwright.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 2048, LAYERS = 14, WORDS = 4096, CHANNELS = 512, SIDE = 8, TOKENS = 16, RUNS = 5 };

static mw_graph *graph;
static unsigned state = 1;

static void fill(void *data, size_t size, bool halves)
{
    for (size_t i = 0; i < size / 2; i++) {
        state = state * 1664525u + 1013904223u;
        ((unsigned short *)data)[i] =
            (unsigned short)(halves ? (state >> 31) << 15 | 0x2000 | (state >> 16 & 0xfff) : state >> 16);
    }
}

static mw_tensor *stored(mw_dtype dtype, mw_shape shape)
{
    const size_t size = (size_t)mw_shape_count(shape) * (size_t)mw_dtype_bits(dtype) / 8;
    void *data = malloc(size + 2);
    fill(data, size, dtype == MW_F16);
    mw_tensor *tensor = mw_constant(graph, dtype, shape, data);
    free(data);
    return tensor;
}

/* Of that shape; scales of one axis each. */
static mw_tensor *weight(const char *form, mw_shape shape)
{
    mw_shape parts = shape, lut = shape;
    for (int i = 1; i < shape.rank; i++)
        parts.dim[i] = 1;
    for (int i = 0; i < shape.rank; i++)
        lut.dim[i] = 1;
    lut.rank = shape.rank + 2;
    lut.dim[shape.rank] = 16, lut.dim[shape.rank + 1] = 1;
    if (strcmp(form, "int8") == 0)
        return mw_constexpr_blockwise_shift_scale(stored(MW_I8, shape), stored(MW_F16, parts), NULL);
    if (strcmp(form, "int4") == 0)
        return mw_constexpr_blockwise_shift_scale(stored(MW_I4, shape), stored(MW_F16, parts), NULL);
    if (strcmp(form, "lut4") == 0)
        return mw_constexpr_lut_to_dense(stored(MW_U4, shape), stored(MW_F16, lut), 0);
    return stored(MW_F16, shape);
}

/* gather, linears, convolutions. */
static void generate(const char *form, const char *folder)
{
    mw_error err = {0};
    graph = mw_graph_create(NULL, &err);
    mw_tensor *words = mw_input(graph, "words", MW_I32, MW_SHAPE(TOKENS));
    mw_tensor *h = mw_gather(weight(form, MW_SHAPE(WORDS, WIDTH)), words, 0);
    for (int i = 0; i < LAYERS; i++)
        h = mw_tanh(mw_linear(h, weight(form, MW_SHAPE(WIDTH, WIDTH)), NULL));
    h = mw_reshape(h, MW_SHAPE(1, CHANNELS, SIDE, SIDE));
    for (int i = 0; i < 3; i++)
        h = mw_tanh(mw_conv(h, weight(form, MW_SHAPE(CHANNELS, CHANNELS, 3, 3)), NULL, NULL));
    mw_output(mw_cast(h, MW_F32), "y");
    if (mw_graph_write(graph, folder, NULL, &err) != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    mw_graph_destroy(graph);
}

/* A line of /proc/self/status, in MB. */
static double status(const char *key)
{
    char line[256];
    double kilobytes = 0.0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            kilobytes = atof(line + strlen(key) + 1);
    if (file != NULL)
        fclose(file);
    return kilobytes * 1024.0 / 1e6;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void report(const char *stage, double file)
{
    printf("%-8s %8.1f MB resident, %8.1f MB at most, %.2f times the file\n", stage, status("VmRSS:"), status("VmHWM:"),
           status("VmHWM:") / file);
}

static int measure(const char *path, double file, bool keep)
{
    mw_error err = {0};
    report("start", file);
    mw_graph *read = mw_graph_open_mil(path, NULL, &err);
    report("read", file);
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = MW_DEVICE_CPU;
    mw_program *program = mw_program_create(read, &options, &err);
    report("compile", file);
    if (!keep)
        mw_graph_destroy(read);
    const int32_t words[TOKENS] = {1, 5, 9, WORDS - 1};
    mw_program_write(program, "words", MW_I32, words, TOKENS, &err);
    mw_program_run(program, &err);
    const double begin = now();
    for (int i = 0; i < RUNS; i++)
        mw_program_run(program, &err);
    report("run", file);
    printf("%-8s %8.2f ms of the processor\n", "a run", (now() - begin) * 1e3 / RUNS);
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    mw_program_destroy(program);
    return err.status != MW_OK;
}

int main(int count, char **arguments)
{
    const char *form = count > 1 ? arguments[1] : "fp16";
    char folder[] = "/tmp/millwright-memory-XXXXXX", path[64], weights[64];
    struct stat what = {0};
    int result = 1;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/model.mil", folder);
    snprintf(weights, sizeof weights, "%s/weights/weight.bin", folder);
    fflush(stdout);
    const pid_t maker = fork(); /* so that what it takes does not count */
    if (maker == 0) {
        generate(form, folder);
        _exit(0);
    }
    waitpid(maker, NULL, 0);
    if (stat(weights, &what) == 0) {
        printf("%s: %.1f MB of weights\n", form, (double)what.st_size / 1e6);
        result = measure(path, (double)what.st_size / 1e6, count > 2);
    }
    unlink(path);
    unlink(weights);
    weights[strlen(weights) - sizeof "/weight.bin" + 1] = '\0';
    rmdir(weights);
    rmdir(folder);
    return result;
}
