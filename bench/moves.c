/* What operations take that pass over memory and compute little: pooling, resizing, reductions, joining and moving
 * elements; forward and gradient, each a program of its own.
 *
 *     moves                          every row: name, direction, ms, GB/s
 *     moves BEGIN_OF_NAME [--threads N] [--steps N] [--device cpu|ane] [--plan]
 *
 * GB/s counts each input and each result once. */
#include "runs.h"

typedef enum kind { MAX, AVG, RESIZE, REDUCE, CONCAT, PAD, TRANSPOSE, SHUFFLE, UNSHUFFLE, SLICE } kind;

typedef struct row {
    const char *name;
    kind kind;
    mw_shape x;
    int64_t kernel[3], stride, pad; /* of windows; other kinds put what they need into `kernel` */
    const char *op;                 /* reductions: MIL's name */
} row;

#define SHAPE4(n, c, h, w)                                                                                             \
    {                                                                                                                  \
        .rank = 4, .dim = { n, c, h, w }                                                                               \
    }
#define SHAPE3(a, b, c)                                                                                                \
    {                                                                                                                  \
        .rank = 3, .dim = { a, b, c }                                                                                  \
    }
#define POOL(name, kind, n, c, h, w, k, s, p)                                                                          \
    {                                                                                                                  \
        name, kind, SHAPE4(n, c, h, w), {k, k}, s, p, NULL                                                             \
    }
/* kernel: the result's height and width, and the sampling */
#define RESIZED(name, n, c, h, w, height, width, sampling)                                                             \
    {                                                                                                                  \
        name, RESIZE, SHAPE4(n, c, h, w), {height, width, sampling}, 0, 0, NULL                                        \
    }
/* kernel: the axes, a bit each */
#define REDUCED(name, op, a, b, c, axes)                                                                               \
    {                                                                                                                  \
        name, REDUCE, SHAPE3(a, b, c), {axes}, 0, 0, "reduce_" op                                                      \
    }
/* kernel: the axes of x in the result's order */
#define TRANSPOSED(name, a, b, c, i, j, k)                                                                             \
    {                                                                                                                  \
        name, TRANSPOSE, SHAPE3(a, b, c), {i, j, k}, 0, 0, NULL                                                        \
    }

enum { NEAREST = -1 }; /* beside the samplings */

static const row rows[] = {
    {"avg_global_25x11", AVG, SHAPE4(16, 64, 25, 11), {25, 11}, 1, 0, NULL},
    {"avg_global_7", AVG, SHAPE4(16, 512, 7, 7), {7, 7}, 1, 0, NULL},
    POOL("avg_2_s2_56", AVG, 8, 128, 56, 56, 2, 2, 0),
    POOL("avg_2_s2_14", AVG, 8, 512, 14, 14, 2, 2, 0),
    POOL("avg_3_s1_p1", AVG, 8, 64, 35, 35, 3, 1, 1),
    POOL("avg_3_s2_p1", AVG, 8, 64, 56, 56, 3, 2, 1),
    POOL("avg_5_s3", AVG, 8, 64, 35, 35, 5, 3, 0),
    {"avg_1d_4", AVG, SHAPE3(16, 128, 2048), {4}, 4, 0, NULL},
    {"avg_3d_2", AVG, {.rank = 5, .dim = {4, 32, 16, 32, 32}}, {2, 2, 2}, 2, 0, NULL},
    POOL("max_3_s2_p1_112", MAX, 8, 64, 112, 112, 3, 2, 1),
    POOL("max_3_s2_p1_64", MAX, 8, 64, 64, 64, 3, 2, 1),
    POOL("max_2_s2_56", MAX, 8, 128, 56, 56, 2, 2, 0),
    POOL("max_3_s1_p1", MAX, 8, 64, 28, 28, 3, 1, 1),
    POOL("max_5_s1_p2", MAX, 8, 64, 20, 20, 5, 1, 2),
    {"max_1d_3_s2", MAX, SHAPE3(16, 128, 2048), {3}, 2, 1, NULL},
    {"max_3d_2", MAX, {.rank = 5, .dim = {4, 32, 16, 32, 32}}, {2, 2, 2}, 2, 0, NULL},
    RESIZED("bilinear_2x", 4, 64, 64, 64, 128, 128, MW_SAMPLING_UNALIGN_CORNERS),
    RESIZED("bilinear_2x_align", 4, 64, 64, 64, 128, 128, MW_SAMPLING_STRICT_ALIGN_CORNERS),
    RESIZED("bilinear_8x", 4, 21, 32, 32, 256, 256, MW_SAMPLING_UNALIGN_CORNERS),
    RESIZED("bilinear_odd", 4, 64, 31, 47, 75, 101, MW_SAMPLING_UNALIGN_CORNERS),
    RESIZED("bilinear_down", 4, 64, 128, 128, 64, 64, MW_SAMPLING_UNALIGN_CORNERS),
    RESIZED("nearest_2x", 4, 64, 64, 64, 128, 128, NEAREST),
    RESIZED("nearest_odd", 4, 64, 31, 47, 75, 101, NEAREST),
    REDUCED("sum_last_768", "sum", 8, 512, 768, 4),
    REDUCED("sum_middle_512", "sum", 8, 512, 768, 2),
    REDUCED("sum_first_8", "sum", 8, 512, 768, 1),
    REDUCED("sum_first_4096", "sum", 4096, 1, 768, 1),
    REDUCED("sum_channels", "sum", 16, 64, 3136, 5),
    REDUCED("sum_middle_thin", "sum", 512, 512, 7, 2),
    REDUCED("sum_last_short", "sum", 512, 512, 7, 4),
    REDUCED("sum_all", "sum", 8, 512, 768, 7),
    REDUCED("max_last_768", "max", 8, 512, 768, 4),
    REDUCED("max_middle_512", "max", 8, 512, 768, 2),
    REDUCED("max_first_8", "max", 8, 512, 768, 1),
    REDUCED("max_first_4096", "max", 4096, 1, 768, 1),
    REDUCED("max_channels", "max", 16, 64, 3136, 5),
    REDUCED("max_middle_thin", "max", 512, 512, 7, 2),
    REDUCED("max_last_short", "max", 512, 512, 7, 4),
    REDUCED("max_last_1d", "max", 32, 1024, 128, 4),
    REDUCED("max_all", "max", 8, 512, 768, 7),
    REDUCED("min_middle_512", "min", 8, 512, 768, 2),
    REDUCED("prod_last_768", "prod", 8, 512, 768, 4),
    REDUCED("prod_middle_512", "prod", 8, 512, 768, 2),
    REDUCED("sum_square_last", "sum_square", 8, 512, 768, 4),
    REDUCED("sum_square_middle", "sum_square", 8, 512, 768, 2),
    REDUCED("sum_square_channels", "sum_square", 16, 64, 3136, 5),
    REDUCED("l1_last", "l1_norm", 8, 512, 768, 4),
    REDUCED("l1_middle", "l1_norm", 8, 512, 768, 2),
    REDUCED("l2_last", "l2_norm", 8, 512, 768, 4),
    REDUCED("log_sum_exp_last", "log_sum_exp", 8, 512, 768, 4),
    REDUCED("log_sum_exp_middle", "log_sum_exp", 8, 512, 768, 2),
    {"concat_channels", CONCAT, SHAPE4(8, 128, 28, 28), {1, 2}, 0, 0, NULL},
    {"concat_last", CONCAT, SHAPE3(8, 512, 384), {2, 2}, 0, 0, NULL},
    {"concat_last_thin", CONCAT, SHAPE3(64, 4096, 3), {2, 2}, 0, 0, NULL},
    {"concat_first", CONCAT, SHAPE3(4, 512, 768), {0, 2}, 0, 0, NULL},
    {"pad_1_56", PAD, SHAPE4(8, 64, 56, 56), {1}, 0, 0, NULL},
    {"pad_3_224", PAD, SHAPE4(8, 3, 224, 224), {3}, 0, 0, NULL},
    {"slice_half", SLICE, SHAPE4(8, 128, 56, 56), {1}, 0, 0, NULL},
    {"slice_stride_2", SLICE, SHAPE4(8, 128, 56, 56), {2}, 0, 0, NULL},
    TRANSPOSED("mixer_196x512", 32, 196, 512, 0, 2, 1),
    TRANSPOSED("mixer_512x196", 32, 512, 196, 0, 2, 1),
    TRANSPOSED("heads_12x64", 1024, 12, 64, 1, 0, 2),
    TRANSPOSED("heads_short", 4096, 12, 8, 1, 0, 2),
    TRANSPOSED("matrix_1024", 1, 1024, 1024, 0, 2, 1),
    TRANSPOSED("matrix_odd", 3, 777, 1013, 0, 2, 1),
    TRANSPOSED("rgb_last", 8, 3, 50176, 0, 2, 1),
    TRANSPOSED("rgb_first", 8, 50176, 3, 0, 2, 1),
    TRANSPOSED("reverse_axes", 64, 96, 128, 2, 1, 0),
    {"pixel_shuffle_2", SHUFFLE, SHAPE4(4, 256, 64, 64), {2}, 0, 0, NULL},
    {"pixel_shuffle_3", SHUFFLE, SHAPE4(1, 288, 64, 64), {3}, 0, 0, NULL},
    {"pixel_unshuffle_2", UNSHUFFLE, SHAPE4(4, 64, 128, 128), {2}, 0, 0, NULL},
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char *const directions[] = {"forward", "backward"};

static mw_tensor *pooled(const row *r, mw_tensor *x)
{
    mw_shape kernel = {.rank = r->x.rank - 2};
    for (int i = 0; i < kernel.rank; i++)
        kernel.dim[i] = r->kernel[i];
    mw_pool_options options = mw_pool_defaults(kernel);
    options.pad_type = MW_PAD_CUSTOM;
    for (int i = 0; i < kernel.rank; i++) {
        options.stride[i] = r->stride;
        options.pad[2 * i] = options.pad[2 * i + 1] = r->pad;
    }
    return r->kind == MAX ? mw_max_pool(x, &options) : mw_avg_pool(x, &options);
}

static mw_tensor *resized(const row *r, mw_tensor *x)
{
    return r->kernel[2] == NEAREST ? mw_resize_nearest_neighbor(x, r->kernel[0], r->kernel[1])
                                   : mw_resize_bilinear(x, r->kernel[0], r->kernel[1], (mw_sampling_mode)r->kernel[2]);
}

static mw_tensor *reduced(const row *r, mw_tensor *x, mw_error *err)
{
    mw_graph *graph = mw_tensor_graph(x);
    int32_t axes[3];
    int64_t count = 0;
    for (int32_t axis = 0; axis < 3; axis++)
        if ((r->kernel[0] >> axis & 1) != 0)
            axes[count++] = axis;
    mw_tensor *where = mw_constant(graph, MW_I32, MW_SHAPE(count), axes), *result = NULL;
    const mw_argument arguments[] = {{"x", &x, 1}, {"axes", &where, 1}};
    mw_op(graph, r->op, arguments, 2, &result, 1, err);
    return result;
}

static mw_tensor *cut(const row *r, mw_tensor *x)
{
    mw_slice slices[MW_RANK_MAX];
    for (int i = 0; i < r->x.rank; i++)
        slices[i] = (mw_slice){.end = r->x.dim[i], .stride = 1};
    if (r->kernel[0] == 1)
        slices[1].end = r->x.dim[1] / 2;
    else
        slices[2].stride = slices[3].stride = r->kernel[0];
    return mw_slice_by_index(x, slices);
}

static mw_tensor *moved(const row *r, mw_tensor *x, mw_tensor *other)
{
    const int64_t p = r->kernel[0], pad[] = {p, p, p, p};
    mw_tensor *const both[] = {x, other};
    switch (r->kind) {
    case CONCAT:
        return mw_concat(both, 2, (int)r->kernel[0]);
    case PAD:
        return mw_pad(x, pad, 2, MW_PAD_CONSTANT, 0.0f);
    case TRANSPOSE:
        return mw_transpose(x, MW_AXES((int)r->kernel[0], (int)r->kernel[1], (int)r->kernel[2]));
    case SHUFFLE:
        return mw_pixel_shuffle(x, r->kernel[0]);
    case UNSHUFFLE:
        return mw_pixel_unshuffle(x, r->kernel[0]);
    default:
        return cut(r, x);
    }
}

static mw_tensor *result_of(const row *r, mw_tensor *x, mw_tensor *other, mw_error *err)
{
    switch (r->kind) {
    case MAX:
    case AVG:
        return pooled(r, x);
    case RESIZE:
        return resized(r, x);
    case REDUCE:
        return reduced(r, x, err);
    default:
        return moved(r, x, other);
    }
}

/* Where a gradient depends on the result, that is computed first, as in training. */
static mw_program *compile(const row *r, int direction, const bench_options *o, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x[2] = {mw_input(graph, "x", MW_F32, r->x), NULL}, *gradients[2] = {NULL, NULL};
    if (r->kind == CONCAT)
        x[1] = mw_input(graph, "other", MW_F32, r->x);
    mw_tensor *y = result_of(r, x[0], x[1], err);
    if (direction > 0) {
        mw_tensor *dy = mw_input(graph, "dy", MW_F32, mw_tensor_shape(y));
        mw_vjp(&y, &dy, 1, x, r->kind == CONCAT ? 2 : 1, gradients, err);
    }
    mw_output(direction > 0 ? gradients[0] : y, "result");
    if (gradients[1] != NULL)
        mw_output(gradients[1], "result_other");
    mw_compile_options compile = mw_compile_defaults();
    compile.threads = o->threads;
    compile.device = o->fp16 ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    mw_program *program = mw_program_create(graph, &compile, err);
    mw_graph_destroy(graph);
    return program;
}

/* Whether its gradient depends on x. */
static bool reads_x(const row *r) { return r->kind == MAX || (r->op != NULL && strcmp(r->op, "reduce_sum") != 0); }

/* Returns the bytes of all ports that are read or written, which are fp32 but on the ANE. */
static double feed(const row *r, int direction, mw_program *program, mw_error *err)
{
    uint64_t state = 1;
    double bytes = 0.0;
    mw_port port;
    for (size_t i = 0; i < mw_program_get_info(program).port_count; i++) {
        if (!mw_program_port_at(program, i, &port))
            continue;
        const size_t count = (size_t)mw_shape_count(port.shape);
        if (direction == 0 || port.is_output || strcmp(port.name, "dy") == 0 || reads_x(r))
            bytes += (double)count * (port.dtype == MW_F16 ? 2.0 : 4.0);
        if (port.is_output)
            continue;
        float *data = bench_alloc(count, sizeof *data);
        for (size_t k = 0; k < count; k++)
            data[k] = bench_uniform(&state) - 0.5f;
        mw_program_write(program, port.name, MW_F32, data, count, err);
        free(data);
    }
    return bytes;
}

static void measure(const row *r, int direction, const bench_options *o, mw_error *err)
{
    mw_program *program = compile(r, direction, o, err);
    if (program == NULL)
        return;
    const double bytes = feed(r, direction, program, err);
    const double time = bench_run_seconds(o, program, bench_steps(o, 1 + (int)(2e7 / bytes)), err);
    printf("%s\t%s\t%.4f\t%.1f\n", r->name, directions[direction], 1e3 * time, 1e-9 * bytes / time);
    fflush(stdout);
    mw_program_destroy(program);
}

int main(int argc, char **argv)
{
    char *all[] = {argv[0], "all"};
    const bench_options o = argc > 1 ? bench_parse(argc, argv) : bench_parse(2, all);
    mw_error err = {0};
    bool known = false;
    for (const row *r = rows; r < rows + ROWS; r++) {
        if (strcmp(o.workload, "all") != 0 && strncmp(o.workload, r->name, strlen(o.workload)) != 0)
            continue;
        known = true;
        for (int direction = 0; direction < 2; direction++)
            measure(r, direction, &o, &err);
    }
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    if (!known)
        bench_usage(argv[0]);
    return err.status != MW_OK;
}
