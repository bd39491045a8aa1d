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
    int64_t d, kd;  /* 0: two spatial axes */
} shape;

#define CONV(name, n, c, h, w, o, k, s)                                                                                \
    {                                                                                                                  \
        name, n, c, h, w, o, k, k, s, (k) / 2, 1, 1, false, 0, 0                                                       \
    }
#define DEPTHWISE(name, n, c, h, w, k, s)                                                                              \
    {                                                                                                                  \
        name, n, c, h, w, c, k, k, s, (k) / 2, 1, c, false, 0, 0                                                       \
    }
#define TRANSPOSE(name, n, c, h, w, o, k, s, p)                                                                        \
    {                                                                                                                  \
        name, n, c, h, w, o, k, k, s, p, 1, 1, true, 0, 0                                                              \
    }
#define LINE(name, n, c, t, o, k, d, groups)                                                                           \
    {                                                                                                                  \
        name, n, c, 1, t, o, 1, k, 1, (k) / 2 * (d), d, groups, false, 0, 0                                            \
    }
#define SPACE(name, n, c, side, o, k, s, p, transpose)                                                                 \
    {                                                                                                                  \
        name, n, c, side, side, o, k, k, s, p, 1, 1, transpose, side, k                                                \
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
    DEPTHWISE("depthwise_96", 32, 96, 32, 32, 3, 1),
    DEPTHWISE("depthwise_144_s2", 32, 144, 16, 16, 3, 2),
    DEPTHWISE("depthwise_384", 32, 384, 8, 8, 3, 1),
    DEPTHWISE("depthwise_96_s2", 32, 96, 112, 112, 3, 2),
    CONV("unet_64", 1, 64, 128, 128, 64, 3, 1),
    CONV("unet_128", 1, 128, 64, 64, 128, 3, 1),
    CONV("unet_512", 1, 512, 16, 16, 512, 3, 1),
    CONV("unet_last", 1, 64, 128, 128, 2, 1, 1),
    TRANSPOSE("transpose_k4", 1, 64, 56, 56, 64, 4, 2, 1),
    TRANSPOSE("transpose_k2", 1, 128, 64, 64, 64, 2, 2, 0),
    TRANSPOSE("transpose_256", 1, 256, 28, 28, 128, 4, 2, 1),
    {"whisper_1", 1, 80, 1, 3000, 384, 1, 3, 1, 1, 1, 1, false, 0, 0},
    {"whisper_2", 1, 384, 1, 3000, 384, 1, 3, 2, 1, 1, 1, false, 0, 0},
    CONV("channels_3_k7_s2", 8, 3, 224, 224, 64, 7, 2),
    CONV("channels_227", 4, 227, 28, 28, 227, 3, 1),
    CONV("odd", 5, 37, 29, 31, 53, 5, 1),
    {"dilated", 4, 64, 48, 48, 64, 3, 3, 1, 2, 2, 1, false, 0, 0},
    {"groups_32", 8, 128, 28, 28, 128, 3, 3, 1, 1, 1, 32, false, 0, 0},
    {"groups_4", 8, 128, 28, 28, 256, 3, 3, 1, 1, 1, 4, false, 0, 0},
    CONV("digits_1_16", 64, 1, 28, 28, 16, 3, 1),
    CONV("digits_16_32", 64, 16, 14, 14, 32, 3, 1),
    CONV("few_4_4", 16, 4, 32, 32, 4, 3, 1),
    CONV("few_3_2", 16, 3, 32, 32, 2, 5, 1),
    SPACE("space_1_64_s2", 8, 1, 32, 64, 4, 2, 1, false),
    SPACE("space_64_128_s2", 8, 64, 16, 128, 4, 2, 1, false),
    SPACE("space_128_256_s2", 8, 128, 8, 256, 4, 2, 1, false),
    SPACE("space_back_256", 8, 256, 4, 128, 4, 2, 1, true),
    SPACE("space_back_128", 8, 128, 8, 64, 4, 2, 1, true),
    SPACE("space_back_64", 8, 64, 16, 1, 4, 2, 1, true),
    {"space_32", 2, 32, 28, 28, 32, 3, 3, 1, 1, 1, 1, false, 16, 3},
    {"space_depthwise", 2, 64, 28, 28, 64, 3, 3, 1, 1, 1, 64, false, 8, 3},
    DEPTHWISE("depthwise_half", 1, 32, 120, 160, 3, 1),
    DEPTHWISE("depthwise_large", 1, 32, 240, 320, 3, 1),
    DEPTHWISE("depthwise_large_s2", 1, 32, 240, 320, 3, 2),
    DEPTHWISE("depthwise_k7", 4, 96, 56, 56, 7, 1),
    DEPTHWISE("depthwise_k5_s2", 16, 72, 28, 28, 5, 2),
    DEPTHWISE("depthwise_576", 16, 576, 7, 7, 5, 1),
    DEPTHWISE("depthwise_960", 16, 960, 4, 4, 3, 1),
    DEPTHWISE("depthwise_audio_64", 32, 64, 25, 11, 3, 1),
    DEPTHWISE("depthwise_audio_172", 32, 172, 49, 10, 3, 1),
    DEPTHWISE("depthwise_audio_s2", 32, 172, 49, 10, 3, 2),
    {"audio_first", 32, 1, 49, 10, 64, 10, 4, 2, 1, 1, 1, false, 0, 0},
    LINE("conformer_256", 8, 256, 256, 256, 31, 1, 256),
    LINE("conformer_1000", 4, 256, 1000, 256, 31, 1, 256),
    CONV("last_3_k9", 1, 32, 128, 128, 3, 9, 1),
    CONV("classes_21", 2, 224, 64, 64, 21, 1, 1),
    CONV("pointwise_58", 16, 116, 14, 14, 58, 1, 1),
    CONV("pointwise_115", 16, 115, 25, 11, 171, 1, 1),
    LINE("tcn_64", 8, 64, 1024, 64, 3, 8, 1),
    {"atrous_256", 1, 256, 33, 33, 256, 3, 3, 1, 12, 12, 1, false, 0, 0},
    CONV("mobile3_16_64", 1, 16, 112, 112, 64, 1, 1),
    CONV("mobile3_72_24", 1, 72, 56, 56, 24, 1, 1),
    CONV("mobile3_120_40", 1, 120, 28, 28, 40, 1, 1),
    CONV("mobile3_80_480", 1, 80, 14, 14, 480, 1, 1),
    CONV("mobile3_160_960", 1, 160, 7, 7, 960, 1, 1),
    DEPTHWISE("mobile3_dw_64_s2", 1, 64, 112, 112, 3, 2),
    DEPTHWISE("mobile3_dw_72", 1, 72, 56, 56, 3, 1),
    DEPTHWISE("mobile3_dw_120", 1, 120, 28, 28, 5, 1),
    DEPTHWISE("mobile3_dw_480", 1, 480, 14, 14, 3, 1),
    DEPTHWISE("mobile3_dw_960", 1, 960, 7, 7, 5, 1),
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *const directions[] = {"forward", "dx", "dweight"};

/* Spatial axes, the first of three without extent where there are two. */
typedef struct extents {
    int64_t in[3], kernel[3], stride[3], pad[3];
    int first; /* axis that is there */
} extents;

/* No border and no stride along what is only as wide as one element. */
static extents extents_of(const shape *s)
{
    extents e = {.in = {s->d, s->h, s->w}, .kernel = {s->kd, s->kh, s->kw}, .first = s->d > 0 ? 0 : 1};
    for (int i = 0; i < 3; i++) {
        e.stride[i] = e.in[i] > 1 ? s->stride : 1;
        e.pad[i] = e.kernel[i] > 1 || i == 2 ? s->pad : 0;
    }
    return e;
}

/* Along one axis. */
static int64_t result_extent(const shape *s, const extents *e, int axis)
{
    const int64_t cover = (e->kernel[axis] - 1) * s->dilation + 1, in = e->in[axis], pad = e->pad[axis];
    return s->transpose ? e->stride[axis] * (in - 1) + cover - 2 * pad : (in + 2 * pad - cover) / e->stride[axis] + 1;
}

/* Of any direction: they have the same products. */
static double flops_of(const shape *s)
{
    const extents e = extents_of(s);
    double positions = 1.0, taps = 1.0;
    for (int i = e.first; i < 3; i++) {
        positions *= (double)(s->transpose ? e.in[i] : result_extent(s, &e, i));
        taps *= (double)e.kernel[i];
    }
    return 2.0 * (double)s->n * positions * (double)(s->c / s->groups * s->o) * taps;
}

static mw_shape shape_with(const extents *e, int64_t first, int64_t second, const int64_t axes[3])
{
    mw_shape out = {.rank = 5 - e->first, .dim = {first, second}};
    for (int i = e->first; i < 3; i++)
        out.dim[2 + i - e->first] = axes[i];
    return out;
}

static mw_conv_options options_of(const shape *s, const extents *e)
{
    mw_conv_options options = mw_conv_defaults();
    options.groups = s->groups;
    options.pad_type = MW_PAD_CUSTOM;
    for (int i = e->first; i < 3; i++) {
        const int at = i - e->first;
        options.stride[at] = e->stride[i];
        options.dilation[at] = s->dilation;
        options.pad[2 * at] = options.pad[2 * at + 1] = e->pad[i];
    }
    return options;
}

static mw_program *compile(const shape *s, int direction, const bench_options *o, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    const extents e = extents_of(s);
    const int64_t ends[2] = {s->transpose ? s->c : s->o, (s->transpose ? s->o : s->c) / s->groups};
    mw_tensor *given[] = {mw_input(graph, "x", MW_F32, shape_with(&e, s->n, s->c, e.in)),
                          mw_input(graph, "weight", MW_F32, shape_with(&e, ends[0], ends[1], e.kernel))};
    const mw_conv_options options = options_of(s, &e);
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
        printf("%s %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", s->name, (int)s->n, (int)s->c, (int)s->h, (int)s->w,
               (int)s->o, (int)s->kh, (int)s->kw, (int)s->stride, (int)s->pad, (int)s->dilation, (int)s->groups,
               s->transpose, (int)s->d, (int)s->kd);
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
