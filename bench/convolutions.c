/* What convolutions and their gradients take, one operation at a time: forward, dx and dweight, each a program of its
 * own whose weight is an input, as that of a training step is.
 *
 *     convolutions                          every shape: name, direction, ms, GFLOP/s
 *     convolutions NAME [--threads N] [--steps N] [--device cpu|ane] [--plan]
 *     convolutions list                     the shapes, for convolutions.py */
#include "runs.h"

typedef struct shape {
    const char *name;
    int64_t n, c, h, w, o, kh, kw, stride, pad, dilation, groups;
    bool transpose; /* c is of x, o of y */
} shape;

#define CONV(name, n, c, h, w, o, k, s)                                                                                \
    {                                                                                                                  \
        name, n, c, h, w, o, k, k, s, (k) / 2, 1, 1, false                                                             \
    }
#define DEPTHWISE(name, n, c, h, w, s)                                                                                 \
    {                                                                                                                  \
        name, n, c, h, w, c, 3, 3, s, 1, 1, c, false                                                                   \
    }
#define TRANSPOSE(name, n, c, h, w, o, k, s, p)                                                                        \
    {                                                                                                                  \
        name, n, c, h, w, o, k, k, s, p, 1, 1, true                                                                    \
    }

static const shape shapes[] = {
    CONV("resnet_stem", 32, 3, 32, 32, 64, 3, 1),
    CONV("resnet_64", 32, 64, 32, 32, 64, 3, 1),
    CONV("resnet_64_128_s2", 32, 64, 32, 32, 128, 3, 2),
    CONV("resnet_down_128", 32, 64, 32, 32, 128, 1, 2),
    CONV("resnet_128", 32, 128, 16, 16, 128, 3, 1),
    CONV("resnet_128_256_s2", 32, 128, 16, 16, 256, 3, 2),
    CONV("resnet_256", 32, 256, 8, 8, 256, 3, 1),
    CONV("resnet_256_512_s2", 32, 256, 8, 8, 512, 3, 2),
    CONV("resnet_down_512", 32, 256, 8, 8, 512, 1, 2),
    CONV("resnet_512", 32, 512, 4, 4, 512, 3, 1),
    CONV("resnet_512_b1", 1, 512, 4, 4, 512, 3, 1),
    CONV("resnet_256_b1", 1, 256, 8, 8, 256, 3, 1),
    CONV("mobile_expand_16", 32, 16, 32, 32, 96, 1, 1),
    CONV("mobile_project_96", 32, 96, 16, 16, 24, 1, 1),
    CONV("mobile_expand_64", 32, 64, 8, 8, 384, 1, 1),
    CONV("mobile_project_384", 32, 384, 8, 8, 64, 1, 1),
    CONV("mobile_last", 32, 320, 4, 4, 1280, 1, 1),
    DEPTHWISE("depthwise_96", 32, 96, 32, 32, 1),
    DEPTHWISE("depthwise_144_s2", 32, 144, 16, 16, 2),
    DEPTHWISE("depthwise_384", 32, 384, 8, 8, 1),
    DEPTHWISE("depthwise_96_s2", 32, 96, 112, 112, 2),
    CONV("unet_64", 1, 64, 128, 128, 64, 3, 1),
    CONV("unet_128", 1, 128, 64, 64, 128, 3, 1),
    CONV("unet_512", 1, 512, 16, 16, 512, 3, 1),
    CONV("unet_last", 1, 64, 128, 128, 2, 1, 1),
    TRANSPOSE("transpose_k4", 1, 64, 56, 56, 64, 4, 2, 1),
    TRANSPOSE("transpose_k2", 1, 128, 64, 64, 64, 2, 2, 0),
    TRANSPOSE("transpose_256", 1, 256, 28, 28, 128, 4, 2, 1),
    {"whisper_1", 1, 80, 1, 3000, 384, 1, 3, 1, 1, 1, 1, false},
    {"whisper_2", 1, 384, 1, 3000, 384, 1, 3, 2, 1, 1, 1, false},
    CONV("channels_3_k7_s2", 8, 3, 224, 224, 64, 7, 2),
    CONV("channels_227", 4, 227, 28, 28, 227, 3, 1),
    CONV("odd", 5, 37, 29, 31, 53, 5, 1),
    {"dilated", 4, 64, 48, 48, 64, 3, 3, 1, 2, 2, 1, false},
    {"groups_32", 8, 128, 28, 28, 128, 3, 3, 1, 1, 1, 32, false},
    {"groups_4", 8, 128, 28, 28, 256, 3, 3, 1, 1, 1, 4, false},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *const directions[] = {"forward", "dx", "dweight"};

/* Along one axis. */
static int64_t result_extent(const shape *s, int64_t in, int64_t kernel, int64_t pad)
{
    const int64_t cover = (kernel - 1) * s->dilation + 1;
    return s->transpose ? s->stride * (in - 1) + cover - 2 * pad : (in + 2 * pad - cover) / s->stride + 1;
}

/* Of any direction: they have the same products. */
static double flops_of(const shape *s)
{
    const int64_t pad = s->kh > 1 ? s->pad : 0;
    const double out = (double)result_extent(s, s->h, s->kh, pad) * (double)result_extent(s, s->w, s->kw, s->pad);
    const double positions = s->transpose ? (double)(s->h * s->w) : out;
    return 2.0 * (double)s->n * positions * (double)(s->c / s->groups * s->o * s->kh * s->kw);
}

static mw_program *compile(const shape *s, int direction, const bench_options *o, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    const mw_shape kernel =
        s->transpose ? MW_SHAPE(s->c, s->o / s->groups, s->kh, s->kw) : MW_SHAPE(s->o, s->c / s->groups, s->kh, s->kw);
    mw_tensor *given[] = {mw_input(graph, "x", MW_F32, MW_SHAPE(s->n, s->c, s->h, s->w)),
                          mw_input(graph, "weight", MW_F32, kernel)};
    mw_conv_options options = mw_conv_defaults();
    options.stride[0] = s->h > 1 ? s->stride : 1, options.stride[1] = s->stride;
    options.dilation[0] = options.dilation[1] = s->dilation;
    options.groups = s->groups;
    options.pad_type = MW_PAD_CUSTOM;
    options.pad[0] = options.pad[1] = s->kh > 1 ? s->pad : 0, options.pad[2] = options.pad[3] = s->pad;
    mw_tensor *y = (s->transpose ? mw_conv_transpose : mw_conv)(given[0], given[1], NULL, &options), *gradient = NULL;
    if (direction > 0) {
        mw_tensor *dy = mw_input(graph, "dy", MW_F32, mw_tensor_shape(y));
        mw_vjp(&y, &dy, 1, &given[direction - 1], 1, &gradient, err);
    }
    mw_output(direction > 0 ? gradient : y, "result");
    mw_compile_options compile = mw_compile_defaults();
    compile.threads = o->threads;
    compile.device = o->fp16 ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    mw_program *program = mw_program_create(graph, &compile, err);
    mw_graph_destroy(graph);
    return program;
}

static void feed(mw_program *program, mw_error *err)
{
    uint64_t state = 1;
    mw_port port;
    for (size_t i = 0; i < mw_program_get_info(program).port_count; i++) {
        if (!mw_program_port_at(program, i, &port) || port.is_output)
            continue;
        const size_t count = (size_t)mw_shape_count(port.shape);
        float *data = bench_alloc(count, sizeof *data);
        for (size_t k = 0; k < count; k++)
            data[k] = bench_uniform(&state) - 0.5f;
        mw_program_write(program, port.name, MW_F32, data, count, err);
        free(data);
    }
}

static void measure(const shape *s, int direction, const bench_options *o, mw_error *err)
{
    mw_program *program = compile(s, direction, o, err);
    if (program == NULL)
        return;
    feed(program, err);
    const double flops = flops_of(s);
    const int runs = bench_steps(o, flops > 3e8 ? 2 : (int)(6e8 / (flops + 1e6)));
    const double time = bench_run_seconds(o, program, runs, err);
    printf("%s\t%s\t%.4f\t%.1f\n", s->name, directions[direction], 1e3 * time, 1e-9 * flops / time);
    fflush(stdout);
    mw_program_destroy(program);
}

static void list(void)
{
    for (const shape *s = shapes; s < shapes + SHAPES; s++)
        printf("%s %d %d %d %d %d %d %d %d %d %d %d %d\n", s->name, (int)s->n, (int)s->c, (int)s->h, (int)s->w,
               (int)s->o, (int)s->kh, (int)s->kw, (int)s->stride, (int)s->pad, (int)s->dilation, (int)s->groups,
               s->transpose);
}

int main(int argc, char **argv)
{
    char *all[] = {argv[0], "all"};
    const bench_options o = argc > 1 ? bench_parse(argc, argv) : bench_parse(2, all);
    mw_error err = {0};
    bool known = strcmp(o.workload, "list") == 0;
    if (known)
        list();
    for (const shape *s = shapes; s < shapes + SHAPES; s++) {
        if (strcmp(o.workload, "all") != 0 && strcmp(o.workload, s->name) != 0)
            continue;
        known = true;
        for (int direction = 0; direction < 3; direction++)
            measure(s, direction, &o, &err);
    }
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    if (!known)
        bench_usage(argv[0]);
    return err.status != MW_OK;
}
